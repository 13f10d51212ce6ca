// SPDX-License-Identifier: GPL-2.0
/*
 * Sections about BPF: which program may be attached to which event and when,
 * which events can be in a map, and what the ioctls answer to nonsense.
 *
 * The programs do nothing but return: here only the answers of the system
 * calls count. What runs when is the business of the tests bpf*.c.
 */
#include "abi.h"
#include "sweep.h"
#include <linux/bpf.h>

static long bpf(int cmd, union bpf_attr *attr)
{
	return neg(syscall(SYS_bpf, cmd, attr, sizeof(*attr)));
}

static const struct {
	const char *name;
	u32 type, flags;
	int ctx_off;			/* of a word of the context that it reads, or -1 */
} kinds[] = {
	{ "perf-event", BPF_PROG_TYPE_PERF_EVENT, 0, -1 },
	{ "kprobe", BPF_PROG_TYPE_KPROBE, 0, -1 },
	{ "kprobe-sleepable", BPF_PROG_TYPE_KPROBE, BPF_F_SLEEPABLE, -1 },
	{ "tracepoint", BPF_PROG_TYPE_TRACEPOINT, 0, -1 },
	{ "tracepoint-reads-8", BPF_PROG_TYPE_TRACEPOINT, 0, 8 },
	{ "tracepoint-reads-512", BPF_PROG_TYPE_TRACEPOINT, 0, 512 },
	{ "raw-tracepoint", BPF_PROG_TYPE_RAW_TRACEPOINT, 0, -1 },
	{ "socket-filter", BPF_PROG_TYPE_SOCKET_FILTER, 0, -1 },
};

static int load(unsigned int kind)
{
	struct bpf_insn insns[3] = { };
	unsigned int n = 0;
	union bpf_attr attr = { 0 };

	if (kinds[kind].ctx_off >= 0)
		insns[n++] = (struct bpf_insn) { .code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = 2,
			.src_reg = 1, .off = (short)kinds[kind].ctx_off };
	insns[n++] = (struct bpf_insn) { .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 1 };
	insns[n++] = (struct bpf_insn) { .code = BPF_JMP | BPF_EXIT };
	attr.prog_type = kinds[kind].type;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = n;
	attr.license = (uintptr_t)"GPL";
	attr.prog_flags = kinds[kind].flags;
	return bpf(BPF_PROG_LOAD, &attr);
}

int bpf_program(void)
{
	return load(0);
}

static long make_link(int prog, int event)
{
	union bpf_attr attr = { 0 };

	attr.link_create.prog_fd = prog;
	attr.link_create.target_fd = event;
	attr.link_create.attach_type = BPF_PERF_EVENT;
	return bpf(BPF_LINK_CREATE, &attr);
}

static const char *const event_sources[] = {
	"sw-page-faults", "sw-task-clock", "sw-dummy", "sw-bpf-output", "tp-getppid", "tp-switch",
	"bp-w8", "hw-cycles", "pmu-kprobe", "pmu-uprobe",
};

/* A disabled event of ours; bits are more of the attr's. */
static int open_source(const char *name, u64 period, u64 bits)
{
	const struct source *s = source_find(name);
	struct perf_event_attr a;

	if (s->absent)
		return -ENOENT;
	source_attr(s, &a);
	a.sample_period = period;
	attr_set_bits(&a, 1 | bits);
	return pe_open(&a, 0, -1, -1, 0);
}

static void set_bpf(void)
{
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(event_sources); i++) {
		struct tally *once, *twice, *link;

		if (source_find(event_sources[i])->absent)
			continue;
		once = tally_new();
		twice = tally_new();
		link = tally_new();
		for (k = 0; k < ARRAY_SIZE(kinds); k++) {
			int prog = load(k), fd = open_source(event_sources[i], 1000000, 0), l;

			if (fd < 0 || prog < 0) {
				tally_add(once, "none", "%s", kinds[k].name);
				close(prog);
				continue;
			}
			l = make_link(prog, fd);
			tally_add(link, res(l), "%s", kinds[k].name);
			if (l >= 0)
				close(l);
			tally_add(once, res(neg(ioctl(fd, PERF_EVENT_IOC_SET_BPF, (long)prog))),
				  "%s", kinds[k].name);
			tally_add(twice, res(neg(ioctl(fd, PERF_EVENT_IOC_SET_BPF, (long)prog))),
				  "%s", kinds[k].name);
			close(fd);
			close(prog);
		}
		tally_say(link, "%s,link,program", event_sources[i]);
		tally_say(once, "%s,ioctl,program", event_sources[i]);
		tally_say(twice, "%s,again,program", event_sources[i]);
	}
}

static void bpf_ioctl(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(event_sources); i++) {
		u64 query[16] = { 2 };
		int fd = open_source(event_sources[i], 0, 0);
		const char *name = event_sources[i];

		if (fd < 0)
			continue;
		say(name, "bad-fd %s", res(neg(ioctl(fd, PERF_EVENT_IOC_SET_BPF, -1l))));
		say(name, "not-bpf %s", res(neg(ioctl(fd, PERF_EVENT_IOC_SET_BPF, 0))));
		say(name, "itself %s", res(neg(ioctl(fd, PERF_EVENT_IOC_SET_BPF, (long)fd))));
		say(name, "query %s", res(neg(ioctl(fd, PERF_EVENT_IOC_QUERY_BPF, query))));
		say(name, "query-null %s", res(neg(ioctl(fd, PERF_EVENT_IOC_QUERY_BPF, 0))));
		query[0] = 65;
		say(name, "query-65 %s", res(neg(ioctl(fd, PERF_EVENT_IOC_QUERY_BPF, query))));
		close(fd);
	}
}

/* Which events a map takes, by the bits of their attr. */
static void bpf_map(void)
{
	static const struct {
		const char *name;
		u64 bits;
	} with[] = {
		{ "plain", 0 }, { "inherit", 1 << 1 }, { "pinned", 1 << 2 },
		{ "inherit-pinned", 1 << 1 | 1 << 2 },
	};
	union bpf_attr create = {
		.map_type = BPF_MAP_TYPE_PERF_EVENT_ARRAY,
		.key_size = 4,
		.value_size = 4,
		.max_entries = 1,
	};
	int map = bpf(BPF_MAP_CREATE, &create);
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(event_sources); i++) {
		struct tally *t;

		if (source_find(event_sources[i])->absent)
			continue;
		t = tally_new();
		for (k = 0; k < ARRAY_SIZE(with); k++) {
			int fd = open_source(event_sources[i], 0, with[k].bits);
			union bpf_attr put = { 0 };
			u32 key = 0;

			put.map_fd = map;
			put.key = (uintptr_t)&key;
			put.value = (uintptr_t)&fd;
			tally_add(t, res(bpf(BPF_MAP_UPDATE_ELEM, &put)), "%s", with[k].name);
			if (fd >= 0)
				close(fd);
		}
		tally_say(t, "%s,event", event_sources[i]);
	}
	close(map);
}

static void bpf_output_bits(void)
{
	/* without freq, and without what bpf-output-record-bits asks for */
	sweep_bits(((1ull << NR_ATTR_BITS) - 1) & ~record_bits & ~(1ull << 10), true);
}

const struct section bpf_sections[] = {
	{ "bpf-set", set_bpf },
	{ "bpf-ioctl", bpf_ioctl },
	{ "bpf-map", bpf_map },
	{ "bpf-output-bits", bpf_output_bits },
	{ }
};
