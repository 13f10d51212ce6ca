// SPDX-License-Identifier: GPL-2.0
/*
 * Rows about sources: samples of page faults, BPF output, tracepoints, cgroup
 * events and the hardware counter.
 *
 * BPF programs are written out as instructions, so that no compiler and no
 * library for them is needed. Rows whose PMU, tracepoint, program or cgroup
 * cannot be had print n/a.
 */
#include "bench.h"
#include "bench-bpf.h"

/* ---- samples ---- */

static const u64 sample_types[] = {
	PERF_SAMPLE_IP,
	PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
	PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
	PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
	PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN,
};

static bool sample_faults(unsigned int which)
{
	struct perf_event_attr a;

	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	a.sample_period = 1;
	a.sample_type = sample_types[which];
	a.wakeup_watermark = BUFFER_BYTES;
	attr_bits(&a, BIT_WATERMARK);
	if (event_add(&a, 0, -1) < 0)
		return false;
	buffer_map();
	return buffer_written_by(run_fault);
}

static bool sample_full(unsigned int unused)
{
	u64 head;

	if (!sample_faults(unused))
		return false;
	do {
		head = buffer_head();
		run_fault(512);
	} while (buffer_head() != head);
	return true;
}

const struct row sample_rows[] = {
	{ "sample: IP", sample_faults, run_fault, buffer_drain, buffer_unmap, 0, 1024, 0, NULL },
	{ "sample: IP|TID|TIME", sample_faults, run_fault, buffer_drain, buffer_unmap, 1, 1024, 0,
	  NULL },
	{ "sample: IP|TID|TIME|ADDR|ID|CPU|PERIOD", sample_faults, run_fault, buffer_drain,
	  buffer_unmap, 2, 1024, 0, NULL },
	{ "sample: IP|TID|TIME|CALLCHAIN", sample_faults, run_fault, buffer_drain, buffer_unmap, 3,
	  1024, 0, NULL },
	{ "sample: drop, ring full", sample_full, run_fault, NULL, buffer_unmap, 0, 1024, 0, NULL },
	{ }
};

/* ---- BPF ---- */

static int prog = -1, map = -1;

int bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

int bpf_load(const struct bpf_insn *insns, unsigned int n)
{
	static char log[16384];
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.insns = (uintptr_t)insns,
		.insn_cnt = n,
		.license = (uintptr_t)"GPL",
		.log_buf = (uintptr_t)log,
		.log_size = sizeof(log),
		.log_level = 1,
	};

	return bpf(BPF_PROG_LOAD, &attr);
}

static void run_bpf(unsigned int n)
{
	while (n--) {
		union bpf_attr attr = { .test.prog_fd = prog };

		if (bpf(BPF_PROG_TEST_RUN, &attr) < 0)
			die("BPF_PROG_TEST_RUN");
	}
}

static bool bpf_output(unsigned int size)
{
	union bpf_attr create = {
		.map_type = BPF_MAP_TYPE_PERF_EVENT_ARRAY,
		.key_size = 4,
		.value_size = 4,
		.max_entries = 1,
	};
	union bpf_attr update = { 0 };
	struct perf_event_attr a;
	struct bpf_insn insns[64];
	unsigned int n = 0, i;
	u32 key = 0;
	int fd;

	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT);
	a.sample_period = 1;
	a.sample_type = PERF_SAMPLE_RAW;
	a.wakeup_watermark = BUFFER_BYTES;
	attr_bits(&a, BIT_WATERMARK);
	fd = event_add(&a, -1, 0);
	if (fd < 0)
		return false;
	buffer_map();
	map = bpf(BPF_MAP_CREATE, &create);
	update.map_fd = map;
	update.key = (uintptr_t)&key;
	update.value = (uintptr_t)&fd;
	if (map < 0 || bpf(BPF_MAP_UPDATE_ELEM, &update) < 0)
		return false;
	/* r6 = ctx; fill the stack; perf_event_output(ctx, map, CURRENT_CPU, fp - size, size) */
	insns[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_X, 6, 1, 0, 0);
	for (i = 8; i <= size; i += 8)
		insns[n++] = INSN(BPF_ST | BPF_MEM | BPF_DW, 10, 0, -(int)i, 0);
	insns[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_X, 1, 6, 0, 0);
	insns[n++] = INSN(BPF_LD | BPF_DW | BPF_IMM, 2, BPF_PSEUDO_MAP_FD, 0, map);
	insns[n++] = INSN(0, 0, 0, 0, 0);
	insns[n++] = INSN(BPF_ALU | BPF_MOV | BPF_K, 3, 0, 0, -1);
	insns[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_X, 4, 10, 0, 0);
	insns[n++] = INSN(BPF_ALU64 | BPF_ADD | BPF_K, 4, 0, 0, -(int)size);
	insns[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_K, 5, 0, 0, size);
	insns[n++] = INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_perf_event_output);
	insns[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0);
	insns[n++] = INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	prog = bpf_load(insns, n);
	return prog >= 0 && buffer_written_by(run_bpf);
}

static bool bpf_empty(unsigned int unused)
{
	struct bpf_insn insns[] = {
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};

	(void)unused;
	prog = bpf_load(insns, 2);
	return prog >= 0;
}

static void bpf_done(void)
{
	if (prog >= 0)
		close(prog);
	if (map >= 0) {
		close(map);
		buffer_unmap();
	}
	prog = -1;
	map = -1;
}

/* ---- tracepoints ---- */

static bool tracepoint(unsigned int sampled)
{
	static const char id_path[] = "/sys/kernel/tracing/events/syscalls/sys_enter_getppid/id";
	struct perf_event_attr a;
	char text[32] = "";
	int fd = open(id_path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		return false;
	close(fd);
	attr_init(&a, PERF_TYPE_TRACEPOINT, strtoull(text, NULL, 10));
	if (sampled) {
		a.sample_period = 1;
		a.sample_type = PERF_SAMPLE_RAW | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
		a.wakeup_watermark = BUFFER_BYTES;
		attr_bits(&a, BIT_WATERMARK);
	}
	if (event_add(&a, 0, -1) < 0)
		return false;
	if (!sampled)
		return true;
	buffer_map();
	return buffer_written_by(run_getppid);
}

const struct row trace_rows[] = {
	{ "bpf: test_run perf_event_output 8B", bpf_output, run_bpf, buffer_drain, bpf_done, 8,
	  1000,
	  0, NULL },
	{ "bpf: test_run perf_event_output 64B", bpf_output, run_bpf, buffer_drain, bpf_done, 64,
	  1000, 0, NULL },
	{ "bpf: test_run perf_event_output 256B", bpf_output, run_bpf, buffer_drain, bpf_done, 256,
	  1000, 0, NULL },
	{ "bpf: test_run empty", bpf_empty, run_bpf, NULL, bpf_done, 0, 1000, 0, NULL },
	{ "tracepoint: getppid counted", tracepoint, run_getppid, NULL, NULL, 0, 2000, 0, NULL },
	{ "tracepoint: getppid sampled RAW", tracepoint, run_getppid, buffer_drain, buffer_unmap, 1,
	  2000, 0, NULL },
	{ }
};

/* ---- cgroups ---- */

#define CGROUPS "/sys/fs/cgroup"

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = write(fd, text, strlen(text));
	close(fd);
	return n < 0 ? -1 : 0;
}

static bool cgroups(unsigned int n)
{
	struct perf_event_attr a;
	char path[96], text[32];
	unsigned int i;

	partner_start();
	if (write_text(CGROUPS "/cgroup.subtree_control", "+cpu") < 0)
		return false;
	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	for (i = 0; i < n || !i; i++) {
		int dir, fd;

		snprintf(path, sizeof(path), CGROUPS "/bench%u", i);
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			return false;
		if (!n)
			break;
		dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (dir < 0)
			return false;
		fd = attr_open(&a, dir, 0, -1, PERF_FLAG_PID_CGROUP);
		close(dir);
		if (fd < 0)
			return false;
		/* Moved under the row's events, to be closed with them. */
		if (event_add(&a, -1, 0) < 0 || dup2(fd, first_event() + (int)i) < 0)
			return false;
		close(fd);
	}
	snprintf(text, sizeof(text), "%d", partner_pid());
	return !write_text(CGROUPS "/bench0/cgroup.procs", text);
}

static void cgroups_done(void)
{
	char path[96];
	unsigned int i;

	partner_stop();
	close_events();
	for (i = 0; i < 64; i++) {
		snprintf(path, sizeof(path), CGROUPS "/bench%u", i);
		rmdir(path);
	}
}

const struct row cgroup_rows[] = {
	{ "cgroup: cross-cgroup pingpong, 0 cgroup events", cgroups, run_pingpong, NULL,
	  cgroups_done, 0, 300, 0, NULL },
	{ "cgroup: cross-cgroup pingpong, 1 cgroup events", cgroups, run_pingpong, NULL,
	  cgroups_done, 1, 300, 0, NULL },
	{ "cgroup: cross-cgroup pingpong, 16 cgroup events", cgroups, run_pingpong, NULL,
	  cgroups_done, 16, 300, 0, NULL },
	{ "cgroup: cross-cgroup pingpong, 64 cgroup events", cgroups, run_pingpong, NULL,
	  cgroups_done, 64, 300, 0, NULL },
	{ }
};

/* ---- hardware ---- */

static bool cycles(u64 bits, unsigned int n, pid_t pid, int cpu)
{
	struct perf_event_attr a;

	attr_init(&a, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	attr_bits(&a, bits);
	while (n--)
		if (event_add(&a, pid, cpu) < 0)
			return false;
	return true;
}

static bool hw_task(unsigned int n)
{
	return cycles(0, n, 0, -1);
}

static void run_hw_read(unsigned int n)
{
	u64 value[4];

	while (n--)
		if (read(first_event(), value, sizeof(value)) < 8)
			die("read");
}

static void run_hw_off_on(unsigned int n)
{
	while (n--) {
		ioctl(first_event(), PERF_EVENT_IOC_DISABLE, 0);
		ioctl(first_event(), PERF_EVENT_IOC_ENABLE, 0);
	}
}

static void run_hw_open(unsigned int n)
{
	struct perf_event_attr a;

	attr_init(&a, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	while (n--) {
		int fd = attr_open(&a, 0, -1, -1, 0);

		if (fd < 0)
			die("perf_event_open");
		close(fd);
	}
}

/* Another event stays open; a PMU that refuses the event makes the row n/a. */
static bool hw_hold(unsigned int unused)
{
	(void)unused;
	if (!hw_task(1))
		return false;
	close_events();
	return software(PERF_COUNT_SW_DUMMY, 0, 1);
}

static bool hw_switch(unsigned int n)
{
	partner_start();
	return hw_task(n);
}

static bool hw_switch_cpu(unsigned int n)
{
	partner_start();
	return cycles(0, n, -1, 0);
}

static bool hw_switch_inherited(unsigned int n)
{
	bool ok = cycles(BIT_INHERIT, n, 0, -1);

	partner_start();
	return ok;
}

static bool hw_inherit(unsigned int n)
{
	return cycles(BIT_INHERIT, n, 0, -1);
}

static bool hw_sampling(unsigned int unused)
{
	struct perf_event_attr a;

	(void)unused;
	attr_init(&a, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	a.sample_period = 100003;
	a.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	a.wakeup_watermark = BUFFER_BYTES;
	attr_bits(&a, BIT_DISABLED | BIT_EXCLUDE_KERNEL | BIT_WATERMARK);
	if (event_add(&a, 0, -1) < 0)
		return false;
	buffer_map();
	return true;
}

static void spin(unsigned int n)
{
	volatile unsigned int turns = n;

	while (turns)
		turns--;
}

static double hw_sample(unsigned int n)
{
	double without = time_of(spin, n) * n, with;
	u64 head = buffer_head(), records;

	ioctl(first_event(), PERF_EVENT_IOC_ENABLE, 0);
	with = time_of(spin, n) * n;
	ioctl(first_event(), PERF_EVENT_IOC_DISABLE, 0);
	/* Header, IP, TID, TIME. */
	records = (buffer_head() - head) / 32;
	buffer_drain();
	return records ? (with - without) / records : 0;
}

static void unmap_if_open(void)
{
	if (first_event() > 0)
		buffer_unmap();
}

const struct row hardware_rows[] = {
	{ "hw read: cycles", hw_task, run_hw_read, .arg = 1, .n = 2000 },
	{ "hw ioctl: DISABLE+ENABLE", hw_task, run_hw_off_on, .arg = 1, .n = 1000 },
	{ "hw open+close: task", hw_hold, run_hw_open, .n = 3000 },
	{ "hw switch: pingpong, 1 task events", hw_switch, run_pingpong, NULL, partner_stop, 1, 500,
	  0, NULL },
	{ "hw switch: pingpong, 4 task events", hw_switch, run_pingpong, NULL, partner_stop, 4, 500,
	  0, NULL },
	{ "hw switch: pingpong, 12 task events", hw_switch, run_pingpong, NULL, partner_stop, 12,
	  500,
	  0, NULL },
	{ "hw switch: pingpong, 1 cpu event", hw_switch_cpu, run_pingpong, NULL, partner_stop, 1,
	  500,
	  0, NULL },
	{ "hw inherit: fork+exit, 1 event", hw_inherit, .arg = 1, .measure = least_fork,
	  .n = 10 },
	{ "hw inherit: fork+exit, files shared, 1 event", hw_inherit, .arg = 1,
	  .measure = least_fork_sharing, .n = 10 },
	{ "hw inherit: fork+exit, files shared, 8 events", hw_inherit, .arg = 8,
	  .measure = least_fork_sharing, .n = 10 },
	{ "hw switch: pingpong, inherited x2", hw_switch_inherited, run_pingpong, NULL,
	  partner_stop,
	  2, 500, 0, NULL },
	{ "hw sample: PMI+record, per sample", hw_sampling, NULL, NULL, unmap_if_open, 0, 2000000,
	  0,
	  hw_sample },
	{ }
};
