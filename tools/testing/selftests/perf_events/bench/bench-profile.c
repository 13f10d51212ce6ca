// SPDX-License-Identifier: GPL-2.0
/*
 * Three ways to a flat profile: how many page faults, and events, come from which address of which
 * process. Records that a reader sums up; a BPF program that does so in a hash map of each CPU, as
 * tools do that have no use for the samples themselves; the format "hist" of the extensions. A row
 * is a page fault with all of that; or, of reading 4,096 keys, one of them. The keys are there
 * already, and nothing is lost.
 */
#include "bench.h"
#include "bench-bpf.h"
#include "../../../../../include/uapi/linux/perf_event_ext.h"

#define FAULTS	1024
#define KEYS	4096
#define SLOTS	(2 * KEYS)

struct sum {
	u64 samples, events;
};

struct key {
	u64 ip, pid;
};

static int fd = -1, map = -1, prog = -1, area_fd = -1;
static struct perf_ext_area *area;
static size_t area_bytes;

static bool open_faults(u64 sample_type)
{
	struct perf_event_attr a;

	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	a.sample_period = 1;
	a.sample_type = sample_type;
	a.wakeup_watermark = BUFFER_BYTES;
	attr_bits(&a, BIT_WATERMARK);
	fd = event_add(&a, 0, -1);
	return fd >= 0;
}

/* ---- records ---- */

static struct {
	struct key key;
	struct sum sum;
} table[SLOTS];

static void add(u64 ip, u64 pid, u64 events)
{
	u64 at = (ip ^ pid << 32) * 0x61c8864680b583ebull >> 51;

	for (;; at = (at + 1) % SLOTS) {
		if (!table[at].sum.samples)
			table[at].key = (struct key){ ip, pid };
		else if (table[at].key.ip != ip || table[at].key.pid != pid)
			continue;
		table[at].sum.samples++;
		table[at].sum.events += events;
		return;
	}
}

static bool with_records(unsigned int unused)
{
	(void)unused;
	if (!open_faults(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD))
		return false;
	buffer_map();
	return buffer_written_by(run_fault);
}

/* Header, ip, pid and tid, period: 32 bytes, so none goes round the end. */
static void read_record(const struct perf_event_header *h)
{
	const u64 *w = (const u64 *)(h + 1);

	if (h->type == PERF_RECORD_SAMPLE)
		add(w[0], (u32)w[1], w[2]);
}

static void run_records(unsigned int n)
{
	run_fault(n);
	buffer_read(read_record);
}

/* ---- BPF ---- */

static bool make_map(void)
{
	union bpf_attr create = {
		.map_type = BPF_MAP_TYPE_PERCPU_HASH, .key_size = sizeof(struct key),
		.value_size = sizeof(struct sum), .max_entries = SLOTS,
	};

	map = bpf(BPF_MAP_CREATE, &create);
	return map >= 0;
}

/* The key is at fp - 16, a new value at fp - 32. */
static int load_program(void)
{
	const struct bpf_insn insns[] = {
		COPY(6, 1),
		LOAD(1, 6, IP_AT),
		STORE(10, -16, 1),
		CALL(BPF_FUNC_get_current_pid_tgid),
		INSN(BPF_ALU64 | BPF_RSH | BPF_K, 0, 0, 0, 32),
		STORE(10, -8, 0),
		LOAD(7, 6, PERIOD_AT),
		MAP(1, map),
		COPY(2, 10),
		ADD(2, -16),
		CALL(BPF_FUNC_map_lookup_elem),
		INSN(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 8, 0),
		LOAD(1, 0, 0),
		ADD(1, 1),
		STORE(0, 0, 1),
		LOAD(1, 0, 8),
		INSN(BPF_ALU64 | BPF_ADD | BPF_X, 1, 7, 0, 0),
		STORE(0, 8, 1),
		SET(0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
		INSN(BPF_ST | BPF_MEM | BPF_DW, 10, 0, -32, 1),
		STORE(10, -24, 7),
		MAP(1, map),
		COPY(2, 10),
		ADD(2, -16),
		COPY(3, 10),
		ADD(3, -32),
		SET(4, BPF_NOEXIST),
		CALL(BPF_FUNC_map_update_elem),
		SET(0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_PERF_EVENT,
		.insns = (uintptr_t)insns,
		.insn_cnt = ARRAY_SIZE(insns),
		.license = (uintptr_t)"GPL",
	};

	return bpf(BPF_PROG_LOAD, &attr);
}

/* So many keys in the map, of the process 1. */
static bool fill_map(unsigned int keys)
{
	static struct sum value[1024];		/* of each CPU */
	struct key key = { .pid = 1 };
	union bpf_attr attr = {
		.map_fd = map, .key = (uintptr_t)&key, .value = (uintptr_t)value,
	};

	for (key.ip = 1; key.ip <= keys; key.ip++)
		if (bpf(BPF_MAP_UPDATE_ELEM, &attr) < 0)
			return false;
	return true;
}

static bool map_has(u64 samples)
{
	static struct key keys[SLOTS];
	static struct sum value[SLOTS];		/* one CPU */
	u64 next = 0, sum = 0;
	union bpf_attr attr = {
		.batch = {
			.out_batch = (uintptr_t)&next, .keys = (uintptr_t)keys,
			.values = (uintptr_t)value, .count = SLOTS, .map_fd = map,
		},
	};
	unsigned int i;

	/* To the end: ENOENT */
	if (bpf(BPF_MAP_LOOKUP_BATCH, &attr) < 0 && errno != ENOENT)
		return false;
	for (i = 0; i < attr.batch.count; i++)
		sum += value[i].samples;
	return sum >= samples;
}

bool profile_with_program(unsigned int unused)
{
	(void)unused;
	/* It needs nothing of the sample. */
	if (!open_faults(0) || !make_map())
		return false;
	prog = load_program();
	if (prog < 0 || ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog) < 0)
		return false;
	run_fault(1);
	return map_has(1);
}

static bool with_map(unsigned int keys)
{
	return make_map() && fill_map(keys);
}

static void read_map(unsigned int keys)
{
	(void)keys;
	if (!map_has(0))
		die("BPF_MAP_LOOKUP_BATCH");
}

/* ---- hist ---- */

static const struct perf_ext_hist *half(void)
{
	return (const void *)((const char *)area + area->half[area->active]);
}

static u64 samples_in_area(void)
{
	const struct perf_ext_hist *h = half();
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < SLOTS; i++)
		if (h->bucket[i].tag > 1)
			sum += h->bucket[i].samples;
	return sum;
}

static bool give_to_hist(unsigned int key, unsigned int shift)
{
	const struct perf_ext_hist_arg arg = {
		.key = { key, PERF_EXT_KEY_PID }, .shift = { shift }, .buckets = SLOTS,
	};
	struct perf_ext_format ask = {
		.uuid = PERF_EXT_FORMAT_HIST, .arg = (uintptr_t)&arg, .arg_size = sizeof(arg),
		.share = -1,
	};

	area_fd = ioctl(fd, PERF_EXT_IOC_FORMAT, &ask);
	if (area_fd < 0)
		return false;
	area_bytes = ask.size;
	area = mmap(NULL, area_bytes, PROT_READ, MAP_SHARED, area_fd, 0);
	if (area == MAP_FAILED)
		die("mmap of an area");
	return true;
}

bool profile_with_hist(unsigned int unused)
{
	(void)unused;
	if (!open_faults(PERF_SAMPLE_IP | PERF_SAMPLE_TID) || !give_to_hist(PERF_EXT_KEY_IP, 0))
		return false;
	run_fault(1);
	return samples_in_area() > 0;
}

/* A key for each page of a mapping. */
static bool with_table(unsigned int keys)
{
	char *pages = mmap(NULL, keys * page_size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int i;

	if (pages == MAP_FAILED || !open_faults(PERF_SAMPLE_ADDR | PERF_SAMPLE_TID) ||
	    !give_to_hist(PERF_EXT_KEY_ADDR, 12))
		return false;
	madvise(pages, keys * page_size, MADV_NOHUGEPAGE);
	for (i = 0; i < keys; i++)
		pages[i * page_size] = 1;
	close_events();
	munmap(pages, keys * page_size);
	if (area->lost)
		fprintf(stderr, "bench: the table has lost %u keys\n", (unsigned int)area->lost);
	return samples_in_area() >= keys;
}

static void read_table(unsigned int keys)
{
	if (samples_in_area() < keys)
		die("the table has lost keys");
}

void profile_done(void)
{
	if (area)
		munmap(area, area_bytes);
	if (area_fd >= 0)
		close(area_fd);
	if (prog >= 0)
		close(prog);
	if (map >= 0)
		close(map);
	area = NULL;
	fd = -1;
	area_fd = -1;
	prog = -1;
	map = -1;
}

#define FAULT(name, setup, run, again, cleanup) \
	{ "profile: " name, setup, run, again, cleanup, 0, FAULTS, 0, NULL }
#define READ(name, setup, run) \
	{ "profile: " name, setup, run, NULL, profile_done, KEYS, KEYS, 0, NULL }

const struct row profile_rows[] = {
	FAULT("no event", NULL, run_fault, NULL, NULL),
	FAULT("records and a reader", with_records, run_records, NULL, buffer_unmap),
	FAULT("BPF, hash map of each CPU", profile_with_program, run_fault, NULL, profile_done),
	FAULT("format hist", profile_with_hist, run_fault, NULL, profile_done),
	READ("read a key of 4,096, BPF in one call", with_map, read_map),
	READ("read a key of 4,096, hist", with_table, read_table),
	{ }
};
