// SPDX-License-Identifier: GPL-2.0
/*
 * bpf_output.c - events in BPF_MAP_TYPE_PERF_EVENT_ARRAY: records written by
 * bpf_perf_event_output(), counts read by bpf_perf_event_read*(), which
 * events can be in the map and how long they stay there.
 *
 * The programs are raw tracepoint programs that BPF_PROG_TEST_RUN runs here,
 * once, in process context.
 *
 * needs: smp
 */
#include "lib/bpf.h"
#include <poll.h>

enum {
	RESULT,			/* word[]: what the helper returned */
	VALUE,			/* three of them */
};

#define RAW_TP	BPF_PROG_TYPE_RAW_TRACEPOINT

static struct pt_words w;
static struct pt_code code;
static struct pt_record rec;
static struct pt_sample s;
static struct pt_ring ring;

static int make_array(u32 entries, u32 flags)
{
	return pt_bpf_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4, entries, flags);
}

static void start(void)
{
	pt_words_make(&w);
	pt_pin(0);
}

static struct perf_event_attr output(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(BPF_OUTPUT));

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_RAW;
	return attr;
}

/* Writes size bytes, which come from the map data, value size at least that. */
static int writer(int map, int data, u64 flags, u32 size)
{
	pt_b_begin(&code);
	pt_b(&code, BPF_LD | BPF_IMM | BPF_DW, 4, BPF_PSEUDO_MAP_VALUE, 0, data);
	pt_b(&code, 0, 0, 0, 0, 0);
	pt_b_mov(&code, 1, 6);
	pt_b_map(&code, 2, map);
	/* 64 bits of flags */
	pt_b(&code, BPF_LD | BPF_IMM | BPF_DW, 3, 0, 0, (int32_t)flags);
	pt_b(&code, 0, 0, 0, 0, (int32_t)(flags >> 32));
	pt_b_set(&code, 5, (int32_t)size);
	pt_b_call(&code, BPF_FUNC_perf_event_output);
	pt_b_put(&code, &w, RESULT, 0);
	pt_b_return(&code, 0);
	return pt_load(RAW_TP, &code);
}

static s64 write_to(int map, u64 flags, u32 size)
{
	int prog = writer(map, w.fd, flags, size);

	w.word[RESULT] = 4711;
	pt_run_prog(prog);
	close(prog);
	return (s64)w.word[RESULT];
}

/* A CPU's event with a buffer, in slot 0 of a map. */
static int make_sink(struct perf_event_attr *attr, int map)
{
	int fd = pt_open(attr, -1, 0, -1, 0);

	pt_map(&ring, fd, 8);
	pt_eq(pt_bpf_put(map, 0, &fd), 0);
	return fd;
}

static void sizes(void)
{
	static const u32 lengths[] = { 0, 1, 3, 4, 5, 8, 12, 13, 64, 255, 1000, 4000 };
	struct perf_event_attr attr = output();
	unsigned int i, k;
	u8 *bytes;
	int map;

	start();
	map = make_array(1, 0);
	make_sink(&attr, map);
	bytes = (u8 *)(uintptr_t)&w.word[VALUE];
	for (i = 0; i < PT_ARRAY_SIZE(lengths); i++) {
		u32 n = lengths[i];

		for (k = 8; k < 4096; k++)
			((u8 *)(uintptr_t)w.word)[k] = (u8)(k * 7 + i);
		pt_eq(write_to(map, BPF_F_CURRENT_CPU, n), 0);
		pt_need(pt_next(&ring, &rec), "no record of %u bytes", n);
		pt_parse_sample(&attr, &rec, &s);
		/* The size word and the data take whole words. */
		pt_eq(s.raw_size, (n + 4 + 7) / 8 * 8 - 4);
		if (n > 8)
			pt_check(!memcmp(s.raw + 8, bytes, n - 8), "other bytes than written");
		pt_consume(&ring);
	}
	pt_check(!pt_next(&ring, &rec), "a record too many");
}

static void large_records(void)
{
	/* The largest record is 65528 bytes: header, size word, data in whole words. */
	static const u32 lengths[] = { 8192, 32760, 65000, 65528 - 8 - 4 };
	struct perf_event_attr attr = output();
	int map, data, fd, prog;
	unsigned int i, k;
	u8 *bytes;
	u32 zero = 0;

	start();
	map = make_array(1, 0);
	data = pt_bpf_map(BPF_MAP_TYPE_ARRAY, 4, 65536, 1, 0);
	bytes = malloc(65536);
	for (k = 0; k < 65536; k++)
		bytes[k] = (u8)(k * 5 + k / 256);
	pt_eq(pt_bpf_put(data, zero, bytes), 0);
	fd = pt_open(&attr, -1, 0, -1, 0);
	pt_map(&ring, fd, 64);
	pt_eq(pt_bpf_put(map, 0, &fd), 0);
	for (i = 0; i < PT_ARRAY_SIZE(lengths); i++) {
		prog = writer(map, data, BPF_F_CURRENT_CPU, lengths[i]);
		pt_run_prog(prog);
		pt_eq(w.word[RESULT], 0);
		pt_need(pt_next(&ring, &rec), "no record of %u bytes", lengths[i]);
		pt_parse_sample(&attr, &rec, &s);
		pt_check(s.raw_size >= lengths[i], "%u bytes", s.raw_size);
		pt_check(!memcmp(s.raw, bytes, lengths[i]), "other bytes than written");
		pt_consume(&ring);
		close(prog);
	}
	free(bytes);
}

/* The period of the event does not matter: each call is a record. */
static void every_call_is_a_record(void)
{
	struct perf_event_attr attr = output();
	int map, i, k;

	start();
	for (i = 0; i < 3; i++) {
		attr = output();
		attr.sample_period = i == 0 ? 1 : i == 1 ? 1000 : 0;
		attr.sample_type |= PERF_SAMPLE_PERIOD | PERF_SAMPLE_TID | PERF_SAMPLE_CPU |
				    PERF_SAMPLE_ADDR;
		map = make_array(1, 0);
		make_sink(&attr, map);
		for (k = 0; k < 5; k++)
			pt_eq(write_to(map, 0, 16), 0);
		for (k = 0; k < 5; k++) {
			pt_need(pt_next(&ring, &rec), "no record");
			pt_parse_sample(&attr, &rec, &s);
			pt_eq(s.tid, pt_tid());
			pt_eq(s.cpu, 0);
			pt_eq(s.period, 0);
			pt_eq(s.addr, 0);
		}
		pt_check(!pt_next(&ring, &rec), "a record too many");
		pt_unmap(&ring);
		close(map);
	}
}

static void counts_nothing(void)
{
	struct perf_event_attr attr = output();
	int map, fd;

	start();
	map = make_array(1, 0);
	fd = make_sink(&attr, map);
	pt_eq(write_to(map, 0, 16), 0);
	pt_eq(pt_count(fd), 0);
}

static void output_refused(void)
{
	struct perf_event_attr attr = output(), other = pt_attr(PT_SW(DUMMY));
	int map, fd, unmapped, off, dummy;

	start();
	map = make_array(6, 0);
	fd = make_sink(&attr, map);
	unmapped = pt_open(&attr, -1, 0, -1, 0);
	pt_eq(pt_bpf_put(map, 1, &unmapped), 0);
	attr.disabled = 1;
	off = pt_open(&attr, -1, 0, -1, 0);
	pt_eq(pt_bpf_put(map, 2, &off), 0);
	dummy = pt_open(&other, -1, 0, -1, 0);
	pt_eq(pt_bpf_put(map, 3, &dummy), 0);
	pt_eq(write_to(map, 0, 8), 0);
	pt_eq(write_to(map, 1, 8), -ENOSPC);	/* no buffer */
	pt_eq(write_to(map, 2, 8), -EOPNOTSUPP);
	pt_eq(write_to(map, 3, 8), -EINVAL);
	pt_eq(write_to(map, 4, 8), -ENOENT);
	pt_eq(write_to(map, 6, 8), -E2BIG);
	pt_eq(write_to(map, 1ull << 32, 8), -EINVAL);
	/* Into a buffer that was closed to it. */
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1), 0);
	pt_eq(write_to(map, 0, 8), -ENOSPC);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0), 0);
	pt_eq(write_to(map, 0, 8), 0);
	/* Off and on. */
	pt_disable(fd);
	pt_eq(write_to(map, 0, 8), -EOPNOTSUPP);
	pt_enable(fd);
	pt_eq(write_to(map, 0, 8), 0);
	pt_eq(pt_bpf_del(map, 0), 0);
	pt_eq(write_to(map, 0, 8), -ENOENT);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 3);
}

static void full_buffer(void)
{
	struct perf_event_attr attr = output();
	struct pt_rec_lost lost;
	unsigned int room, i;
	int map, fd, prog;

	start();
	map = make_array(1, 0);
	fd = pt_open(&attr, -1, 0, -1, 0);
	pt_map(&ring, fd, 1);
	pt_eq(pt_bpf_put(map, 0, &fd), 0);
	prog = writer(map, w.fd, BPF_F_CURRENT_CPU, 100);	/* a record of 112 bytes */
	/* The last byte of the buffer is never taken. */
	room = ((unsigned int)pt_page_size() - 1) / 112;
	for (i = 0; i < room; i++) {
		pt_run_prog(prog);
		pt_eq(w.word[RESULT], 0);
	}
	for (i = 0; i < 3; i++) {
		pt_run_prog(prog);
		pt_eq(w.word[RESULT], -ENOSPC);
	}
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), room);
	pt_consume(&ring);
	pt_run_prog(prog);
	pt_need(pt_next(&ring, &rec), "no record");
	pt_eq(rec.h.type, PERF_RECORD_LOST);
	memcpy(&lost, rec.body, sizeof(lost));
	pt_eq(lost.id, pt_id(fd));
	pt_eq(lost.lost, 3);
	pt_need(pt_next(&ring, &rec), "no record");
	pt_eq(rec.h.type, PERF_RECORD_SAMPLE);
}

static short poll_now(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	pt_check(poll(&p, 1, 0) >= 0, "poll: %s", strerror(errno));
	return p.revents;
}

static void wakeups(void)
{
	struct perf_event_attr attr = output();
	int map, fd, i;

	start();
	map = make_array(1, 0);
	attr.wakeup_events = 3;
	fd = make_sink(&attr, map);
	for (i = 1; i <= 9; i++) {
		pt_eq(write_to(map, 0, 8), 0);
		pt_eq(poll_now(fd), i % 3 ? 0 : POLLIN);
	}
}

static void overwritten(void)
{
	struct perf_event_attr attr = output();
	int map, fd, i;

	start();
	map = make_array(1, 0);
	attr.write_backward = 1;
	fd = pt_open(&attr, -1, 0, -1, 0);
	pt_map_ro(&ring, fd, 1);
	pt_eq(pt_bpf_put(map, 0, &fd), 0);
	for (i = 0; i < 100; i++)
		pt_eq(write_to(map, 0, 100), 0);
	pt_eq(-pt_head(&ring), 112 * 100);
}

/* ---- events of tasks ---- */

static void write_elsewhere(void *arg)
{
	pt_eq(write_to(*(int *)arg, 0, 8), -EOPNOTSUPP);
}

static void to_a_task(void)
{
	struct perf_event_attr attr = output();
	int map, fd, here, there, i;

	start();
	map = make_array(3, 0);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 8);
	pt_eq(pt_bpf_put(map, 0, &fd), 0);
	here = pt_open(&attr, 0, 0, -1, 0);
	pt_eq(pt_ioctl(here, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)-1), 0);
	pt_eq(pt_bpf_put(map, 1, &here), 0);
	for (i = 0; i < 5; i++) {
		pt_eq(write_to(map, 0, 8), 0);
		/* Of this task, on this CPU; it has no buffer. */
		pt_eq(write_to(map, 1, 8), -ENOSPC);
		pt_switch_out();
	}
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 5);
	/* Another task is not the event's. */
	pt_reap(pt_fork(write_elsewhere, &map));
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 0);
	pt_disable(fd);
	pt_eq(write_to(map, 0, 8), -EOPNOTSUPP);
	pt_enable(fd);
	pt_eq(write_to(map, 0, 8), 0);
	if (pt_online_cpus() < 2)
		return;
	there = pt_open(&attr, 0, 1, -1, 0);
	pt_eq(pt_bpf_put(map, 2, &there), 0);
	pt_eq(write_to(map, 2, 8), -EOPNOTSUPP);
	pt_pin(1);
	pt_eq(write_to(map, 1, 8), -EOPNOTSUPP);
	pt_eq(write_to(map, 2, 8), -ENOSPC);
	pt_eq(write_to(map, 0, 8), 0);
}

/* As a member of a group: with software, with what is scheduled, and as its leader. */
static void to_a_group(void)
{
	struct perf_event_attr attr = output(), member = pt_attr(PT_SW(PAGE_FAULTS));
	struct perf_event_attr clock = pt_attr(PT_SW(TASK_CLOCK));
	int map, fd, lead, last;

	start();
	map = make_array(3, 0);
	lead = pt_open(&member, 0, -1, -1, 0);
	fd = pt_open(&attr, 0, -1, lead, 0);
	pt_map(&ring, fd, 8);
	pt_eq(pt_bpf_put(map, 0, &fd), 0);
	pt_eq(write_to(map, 0, 8), 0);
	clock.sample_period = 1000000000;
	pt_open(&clock, 0, -1, lead, 0);
	pt_eq(write_to(map, 0, 8), 0);
	pt_disable(lead);
	pt_eq(write_to(map, 0, 8), -EOPNOTSUPP);
	pt_enable(lead);
	pt_eq(write_to(map, 0, 8), 0);
	close(lead);
	pt_eq(write_to(map, 0, 8), 0);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 4);
	last = pt_open(&member, 0, -1, fd, 0);
	pt_reset(last);
	pt_settle();
	pt_reset(last);
	pt_fault(7);
	pt_eq(pt_count(last), 7);
	pt_eq(write_to(map, 0, 8), 0);
}

static void to_another_cpu(void)
{
	struct perf_event_attr attr = output();
	int map, fd;

	start();
	if (pt_online_cpus() < 2)
		pt_skip("one CPU only");
	map = make_array(2, 0);
	fd = pt_open(&attr, -1, 1, -1, 0);
	pt_map(&ring, fd, 8);
	pt_eq(pt_bpf_put(map, 1, &fd), 0);
	pt_eq(write_to(map, 1, 8), -EOPNOTSUPP);
	pt_eq(write_to(map, BPF_F_CURRENT_CPU, 8), -ENOENT);
	pt_pin(1);
	pt_eq(write_to(map, 1, 8), 0);
	pt_eq(write_to(map, BPF_F_CURRENT_CPU, 8), 0);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 2);
}

/* ---- counts ---- */

/* bpf_perf_event_read_value(): the result; the value goes to word[VALUE] and behind. */
static s64 read_from(int map, u64 flags, u32 size)
{
	int prog;

	pt_b_begin(&code);
	pt_b_map(&code, 1, map);
	pt_b(&code, BPF_LD | BPF_IMM | BPF_DW, 2, 0, 0, (int32_t)flags);
	pt_b(&code, 0, 0, 0, 0, (int32_t)(flags >> 32));
	pt_b_word(&code, 3, &w, VALUE);
	pt_b_set(&code, 4, (int32_t)size);
	pt_b_call(&code, BPF_FUNC_perf_event_read_value);
	pt_b_put(&code, &w, RESULT, 0);
	pt_b_return(&code, 0);
	prog = pt_load(RAW_TP, &code);
	for (int i = RESULT; i <= VALUE + 2; i++)
		w.word[i] = 4711;
	pt_run_prog(prog);
	close(prog);
	return (s64)w.word[RESULT];
}

static s64 read_old(int map, u64 flags)
{
	int prog;

	pt_b_begin(&code);
	pt_b_map(&code, 1, map);
	pt_b(&code, BPF_LD | BPF_IMM | BPF_DW, 2, 0, 0, (int32_t)flags);
	pt_b(&code, 0, 0, 0, 0, (int32_t)(flags >> 32));
	pt_b_call(&code, BPF_FUNC_perf_event_read);
	pt_b_put(&code, &w, RESULT, 0);
	pt_b_return(&code, 0);
	prog = pt_load(RAW_TP, &code);
	pt_run_prog(prog);
	close(prog);
	return (s64)w.word[RESULT];
}

static void reads(void)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_TRACEPOINT,
					      pt_tracepoint_id("syscalls", "sys_enter_getppid"));
	int map, fd, i;

	start();
	map = make_array(2, 0);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(pt_bpf_put(map, 0, &fd), 0);
	for (i = 0; i < 33; i++)
		syscall(SYS_getppid);
	pt_eq(read_from(map, 0, 24), 0);
	pt_eq(w.word[VALUE], 33);
	pt_check(w.word[VALUE + 1] && w.word[VALUE + 1] == w.word[VALUE + 2],
		 "enabled %llu running %llu", (unsigned long long)w.word[VALUE + 1],
		 (unsigned long long)w.word[VALUE + 2]);
	pt_eq(read_from(map, BPF_F_CURRENT_CPU, 24), 0);
	pt_eq(w.word[VALUE], 33);
	pt_eq(read_old(map, 0), 33);
	/* A disabled event keeps its count and its times. */
	pt_disable(fd);
	syscall(SYS_getppid);
	pt_eq(read_from(map, 0, 24), 0);
	pt_eq(w.word[VALUE], 33);
	pt_eq(pt_count(fd), 33);
}

static void reads_software(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	struct perf_event_attr clock = pt_attr(PT_SW(TASK_CLOCK));
	int map, fd;
	u64 t;

	start();
	map = make_array(2, 0);
	pt_settle();
	attr.disabled = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(pt_bpf_put(map, 0, &fd), 0);
	pt_enable(fd);
	pt_fault(12);
	pt_disable(fd);
	pt_eq(read_from(map, 0, 24), 0);
	pt_eq(w.word[VALUE], 12);
	fd = pt_open(&clock, 0, -1, -1, 0);
	pt_eq(pt_bpf_put(map, 1, &fd), 0);
	t = pt_count(fd);
	pt_eq(read_from(map, 1, 24), 0);
	pt_check(w.word[VALUE] >= t && w.word[VALUE] <= pt_count(fd), "clock is not in order");
	pt_check(w.word[VALUE + 2] >= w.word[VALUE], "ran for less than it counted");
}

static void reads_hardware(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(CPU_CYCLES));
	u64 before, after;
	int map, fd;

	start();
	map = make_array(2, 0);
	fd = pt_open_hw(&attr, -1);
	pt_eq(pt_bpf_put(map, 0, &fd), 0);
	before = pt_count(fd);
	pt_spin(10000);
	pt_eq(read_from(map, 0, 24), 0);
	after = pt_count(fd);
	pt_check(w.word[VALUE] > before && w.word[VALUE] < after, "%llu not in %llu..%llu",
		 (unsigned long long)w.word[VALUE], (unsigned long long)before,
		 (unsigned long long)after);
}

/* Who asks for a count goes on with interrupts as it had them: on, at the end of the call. */
static void reads_leave_interrupts_on(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY)), leave;
	int map, fd, at, n = 0;

	start();
	leave = pt_attr(PERF_TYPE_TRACEPOINT, pt_tracepoint_id("syscalls", "sys_exit_bpf"));
	at = pt_field_offset("syscalls", "sys_exit_bpf", "common_flags");
	map = make_array(1, 0);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(pt_bpf_put(map, 0, &fd), 0);
	leave.sample_period = 1;
	leave.sample_type = PERF_SAMPLE_RAW;
	pt_map(&ring, pt_open(&leave, 0, -1, -1, 0), 8);
	pt_eq(read_from(map, 0, 24), 0);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&leave, &rec, &s);
		pt_need((u32)at < s.raw_size, "flags at %d of %u bytes", at, s.raw_size);
		pt_eq(s.raw[at] & 1, 0);	/* TRACE_FLAG_IRQS_OFF */
		n++;
	}
	pt_eq(n, 2);		/* the program was loaded, and has run */
}

static void read_elsewhere(void *arg)
{
	pt_eq(read_from(*(int *)arg, 0, 24), -EINVAL);
}

static void read_refused(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	int map, fd, i;

	start();
	map = make_array(4, 0);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(pt_bpf_put(map, 0, &fd), 0);
	pt_eq(read_from(map, 0, 24), 0);
	pt_eq(read_from(map, 0, 16), -EINVAL);
	for (i = 0; i < 2; i++)		/* what is refused leaves zeroes */
		pt_eq(w.word[VALUE + i], 0);
	pt_eq(w.word[VALUE + 2], 4711);
	pt_eq(read_from(map, 1, 24), -ENOENT);
	pt_eq(w.word[VALUE], 0);
	pt_eq(read_from(map, 4, 24), -E2BIG);
	pt_eq(read_from(map, 1ull << 32, 24), -EINVAL);
	pt_eq(read_old(map, 1), -ENOENT);
	/* The event of another task. */
	pt_reap(pt_fork(read_elsewhere, &map));
	if (pt_online_cpus() < 2)
		return;
	fd = pt_open(&attr, -1, 1, -1, 0);
	pt_eq(pt_bpf_put(map, 1, &fd), 0);
	pt_eq(read_from(map, 1, 24), -EINVAL);
	pt_pin(1);
	pt_eq(read_from(map, 1, 24), 0);
	/* A pinned one that is not on this CPU, though the task is. */
	attr.pinned = 1;
	fd = pt_open(&attr, 0, 0, -1, 0);
	pt_eq(pt_bpf_put(map, 2, &fd), 0);
	pt_eq(read_from(map, 2, 24), -EBUSY);
	pt_pin(0);
	pt_eq(read_from(map, 2, 24), 0);
	pt_disable(fd);
	pt_eq(read_from(map, 2, 24), -EBUSY);
	pt_eq(w.word[VALUE], 0);
}

/* ---- the map ---- */

static void what_can_be_in_it(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	int map, fd, null = open("/dev/null", O_RDONLY), minus = -1, value;

	start();
	map = make_array(1, 0);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(pt_bpf_put(map, 0, &fd), 0);
	pt_eq(pt_bpf_get(map, 0, &value), -524);	/* ENOTSUPP, no errno of ours */
	pt_eq(pt_bpf_put(map, 1, &fd), -E2BIG);
	pt_eq(pt_bpf_put(map, 0, &null), -EBADF);
	pt_eq(pt_bpf_put(map, 0, &minus), -EBADF);
	pt_eq(pt_bpf_put(map, 0, &map), -EBADF);
	/* The counts of children cannot be had from a program. */
	attr.inherit = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(pt_bpf_put(map, 0, &fd), -EOPNOTSUPP);
	pt_eq(pt_bpf_del(map, 0), 0);
	pt_eq(pt_bpf_del(map, 0), -ENOENT);
}

/* The map keeps the event, whose buffer stays in use. */
static void map_keeps_the_event(void)
{
	struct perf_event_attr attr = output();
	int map, fd;

	start();
	map = make_array(1, 0);
	fd = make_sink(&attr, map);
	close(fd);
	pt_eq(write_to(map, 0, 8), 0);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 1);
	pt_unmap(&ring);
	pt_eq(write_to(map, 0, 8), -ENOSPC);
}

/* Elements go with the file they came by, unless the map was told to keep them. */
static void elements_of_a_closed_file(void)
{
	struct perf_event_attr attr = output();
	int keep;

	start();
	for (keep = 0; keep < 2; keep++) {
		int map = make_array(1, keep ? BPF_F_PRESERVE_ELEMS : 0);
		int prog = writer(map, w.fd, BPF_F_CURRENT_CPU, 8);

		make_sink(&attr, map);
		pt_run_prog(prog);
		pt_eq(w.word[RESULT], 0);
		close(map);
		pt_run_prog(prog);
		pt_eq(w.word[RESULT], keep ? 0 : -ENOENT);
		pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), keep ? 2 : 1);
		close(prog);
		pt_unmap(&ring);
	}
}

static const struct pt_case cases[] = {
	{ "sizes", sizes },
	{ "large_records", large_records },
	{ "every_call_is_a_record", every_call_is_a_record },
	{ "counts_nothing", counts_nothing },
	{ "output_refused", output_refused },
	{ "full_buffer", full_buffer },
	{ "wakeups", wakeups },
	{ "overwritten", overwritten },
	{ "to_a_task", to_a_task },
	{ "to_a_group", to_a_group },
	{ "to_another_cpu", to_another_cpu },
	{ "reads", reads },
	{ "reads_software", reads_software },
	{ "reads_hardware", reads_hardware },
	{ "reads_leave_interrupts_on", reads_leave_interrupts_on },
	{ "read_refused", read_refused },
	{ "what_can_be_in_it", what_can_be_in_it },
	{ "map_keeps_the_event", map_keeps_the_event },
	{ "elements_of_a_closed_file", elements_of_a_closed_file },
};

PT_MAIN(cases)
