// SPDX-License-Identifier: GPL-2.0
/*
 * The sources: every kind of thing an event can count, by name, and the names
 * of the attr's bits and of the sample bits.
 *
 * sources_init() looks up what is dynamic (PMU types in sysfs, ids in tracefs)
 * before the first section runs; after that nothing changes.
 */
#include "abi.h"
#include <ctype.h>

volatile u64 watched[4];

const char *const bit_name[64] = {
	"disabled", "inherit", "pinned", "exclusive", "exclude_user", "exclude_kernel",
	"exclude_hv", "exclude_idle", "mmap", "comm", "freq", "inherit_stat",
	"enable_on_exec", "task", "watermark", "precise1", "precise2", "mmap_data",
	"sample_id_all", "exclude_host", "exclude_guest", "exclude_callchain_kernel",
	"exclude_callchain_user", "mmap2", "comm_exec", "use_clockid", "context_switch",
	"write_backward", "namespaces", "ksymbol", "bpf_event", "aux_output", "cgroup",
	"text_poke", "build_id", "inherit_thread", "remove_on_exec", "sigtrap",
};

/* namespaces ksymbol bpf_event aux_output cgroup text_poke build_id remove_on_exec sigtrap */
const u64 record_bits = 0x7full << 28 | 3ull << 36;

const char *const sample_name[NR_SAMPLE_BITS] = {
	"IP", "TID", "TIME", "ADDR", "READ", "CALLCHAIN", "ID", "CPU", "PERIOD", "STREAM_ID",
	"RAW", "BRANCH_STACK", "REGS_USER", "STACK_USER", "WEIGHT", "DATA_SRC", "IDENTIFIER",
	"TRANSACTION", "REGS_INTR", "PHYS_ADDR", "AUX", "CGROUP", "DATA_PAGE_SIZE",
	"CODE_PAGE_SIZE", "WEIGHT_STRUCT",
};

const u64 driver_samples = PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC |
			  PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_AUX |
			  PERF_SAMPLE_CGROUP | PERF_SAMPLE_DATA_PAGE_SIZE |
			  PERF_SAMPLE_CODE_PAGE_SIZE | PERF_SAMPLE_WEIGHT_STRUCT;

#define SW(n, c)	{ .name = n, .type = PERF_TYPE_SOFTWARE, .config = c }
#define HW(n, c)	{ .name = n, .type = PERF_TYPE_HARDWARE, .config = c }
#define HC(n, c)	{ .name = n, .type = PERF_TYPE_HW_CACHE, .config = c }
#define RAW(n, c)	{ .name = n, .type = PERF_TYPE_RAW, .config = c }
#define BP(n, t, len)	{ .name = n, .type = PERF_TYPE_BREAKPOINT, .bp_type = t, .config2 = len }

/* The first ones, up to "hw-cycles", are the ones the pair sweeps use. */
struct source sources[] = {
	SW("sw-cpu-clock", 0), SW("sw-task-clock", 1), SW("sw-page-faults", 2),
	SW("sw-context-switches", 3), SW("sw-cpu-migrations", 4), SW("sw-minor-faults", 5),
	SW("sw-major-faults", 6), SW("sw-alignment-faults", 7), SW("sw-emulation-faults", 8),
	SW("sw-dummy", 9), SW("sw-cgroup-switches", 11), SW("sw-12", 12),
	SW("sw-max", ~0ull),
	{ .name = "tp-getppid", .type = PERF_TYPE_TRACEPOINT },
	{ .name = "tp-switch", .type = PERF_TYPE_TRACEPOINT },
	{ .name = "tp-none", .type = PERF_TYPE_TRACEPOINT, .config = 0xffffff },
	{ .name = "tp-high", .type = PERF_TYPE_TRACEPOINT, .config = 1ull << 40 },
	BP("bp-w8", HW_BREAKPOINT_W, 8), BP("bp-w1", HW_BREAKPOINT_W, 1),
	BP("bp-rw4", HW_BREAKPOINT_RW, 4), BP("bp-r2", HW_BREAKPOINT_R, 2),
	BP("bp-w3", HW_BREAKPOINT_W, 3), BP("bp-w0", HW_BREAKPOINT_W, 0),
	BP("bp-empty", 0, 8), BP("bp-rwx", 7, 8), BP("bp-8", 8, 8),
	BP("bp-x8", HW_BREAKPOINT_X, sizeof(long)), BP("bp-x4", HW_BREAKPOINT_X, 4),
	BP("bp-x1", HW_BREAKPOINT_X, 1),
	HW("hw-cycles", 0), HW("hw-instructions", 1), HW("hw-cache-references", 2),
	HW("hw-cache-misses", 3), HW("hw-branches", 4), HW("hw-branch-misses", 5),
	HW("hw-bus-cycles", 6), HW("hw-stalled-frontend", 7), HW("hw-stalled-backend", 8),
	HW("hw-ref-cycles", 9), HW("hw-10", 10), HW("hw-ext-sw", 1ull << 32),
	HW("hw-ext-none", 0x7fffull << 32), HW("hw-max", ~0ull),
	HC("hc-l1d-read", 0), HC("hc-l1d-read-miss", 0x10000), HC("hc-l1i-prefetch", 0x201),
	HC("hc-ll-write", 0x102), HC("hc-dtlb-read-miss", 0x10003), HC("hc-node", 6),
	HC("hc-bad-cache", 7), HC("hc-bad-op", 0x300), HC("hc-bad-result", 0x20000),
	HC("hc-high", 0x1000000),
	RAW("raw-0", 0), RAW("raw-11", 0x11), RAW("raw-ffff", 0xffff), RAW("raw-max", ~0ull),
	{ .name = "pmu-core", .config = 0x11 },
	{ .name = "pmu-msr", .config = 0 },
	{ .name = "pmu-kprobe", .slow = true },
	{ .name = "pmu-uprobe", .slow = true },
	{ .name = "type-100", .type = 100 },
	{ .name = "type-4095", .type = 4095 },
	{ .name = "type-high", .type = 0x7fffffff },
	{ .name = "type-max", .type = 0xffffffff },
	{ .name = "sw-bpf-output", .type = PERF_TYPE_SOFTWARE, .config = 10, .apart = true },
};

const unsigned int nr_sources = ARRAY_SIZE(sources);

int file_read(const char *path, char *buf, size_t len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	buf[0] = 0;
	if (fd < 0)
		return -errno;
	n = neg(read(fd, buf, len - 1));
	close(fd);
	if (n < 0)
		return n;
	buf[n] = 0;
	while (n && isspace((unsigned char)buf[n - 1]))
		buf[--n] = 0;
	return n;
}

long long file_number(const char *path)
{
	char buf[64];

	if (file_read(path, buf, sizeof(buf)) <= 0)
		return -1;
	return strtoll(buf, NULL, 0);
}

int file_write(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = neg(write(fd, value, strlen(value)));
	close(fd);
	return n < 0 ? (int)n : 0;
}

const struct source *source_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < nr_sources; i++)
		if (!strcmp(sources[i].name, name))
			return &sources[i];
	errno = ENOENT;
	die(name);
}

void source_attr(const struct source *s, struct perf_event_attr *a)
{
	attr_init(a, s->type, s->config);
	a->config1 = s->config1;
	a->config2 = s->config2;
	a->bp_type = s->bp_type;
}

static struct source *find(const char *name)
{
	return (struct source *)source_find(name);
}

static void dynamic_type(const char *name, const char *const *pmus)
{
	struct source *s = find(name);
	char path[128];

	s->absent = true;
	for (; *pmus; pmus++) {
		long long type;

		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", *pmus);
		type = file_number(path);
		if (type >= 0) {
			s->type = type;
			s->absent = false;
			return;
		}
	}
}

static void tracepoint(const char *name, const char *event)
{
	struct source *s = find(name);
	char path[128];
	long long id;

	snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s/id", event);
	id = file_number(path);
	s->absent = id < 0;
	s->config = id;
}

void sources_init(void)
{
	static const char *const core[] = {
		"cpu", "armv8_pmuv3_0", "armv8_pmuv3", "armv8_cortex_a57", NULL
	};
	static const char *const msr[] = { "msr", NULL };
	static const char *const kprobe[] = { "kprobe", NULL };
	static const char *const uprobe[] = { "uprobe", NULL };
	unsigned int i;

	dynamic_type("pmu-core", core);
	dynamic_type("pmu-msr", msr);
	dynamic_type("pmu-kprobe", kprobe);
	dynamic_type("pmu-uprobe", uprobe);
	tracepoint("tp-getppid", "syscalls/sys_enter_getppid");
	tracepoint("tp-switch", "sched/sched_switch");
	for (i = 0; i < nr_sources; i++) {
		struct source *s = &sources[i];

		if (s->type != PERF_TYPE_BREAKPOINT || s->absent)
			continue;
		/* bp_addr and bp_len are config1 and config2. */
		if (s->bp_type == HW_BREAKPOINT_X)
			s->config1 = (u64)(uintptr_t)getppid_times;
		else
			s->config1 = (u64)(uintptr_t)watched;
	}
	find("pmu-kprobe")->config1 = (u64)(uintptr_t)"do_exit";
	find("pmu-uprobe")->config1 = (u64)(uintptr_t)"/proc/self/exe";
}
