// SPDX-License-Identifier: GPL-2.0
/*
 * sideband.c - the records about tasks, names and switches: their content to
 * the last byte, their trailer, and who receives them. See sideband_mmap.c, too.
 *
 * Cases about children use an inherited event bound to CPU 0, because only that
 * may have a buffer.
 */
#include "lib/sideband.h"
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>

static void comm(void)
{
	static const char * const names[] = { "a", "1234567", "12345678", "fifteen letters" };
	struct perf_event_attr attr = carrier();
	unsigned int i;
	int fd;

	attr.comm = 1;
	fd = start(&attr);
	for (i = 0; i < PT_ARRAY_SIZE(names); i++) {
		struct pt_rec_comm c;
		size_t len = strlen(names[i]) + 1, j;

		pt_need(!prctl(PR_SET_NAME, names[i]), "PR_SET_NAME");
		expect(PERF_RECORD_COMM);
		memcpy(&c, rec.body, sizeof(c));
		pt_eq(c.pid, getpid());
		pt_eq(c.tid, pt_tid());
		pt_eq(rec.h.misc, 0);
		pt_eq(rec.h.size, 8 + 8 + ((len + 7) & ~7ul));
		pt_check(!strcmp((char *)rec.body + 8, names[i]), "name %s", rec.body + 8);
		for (j = len; j < rec.h.size - 16u; j++)
			pt_eq(rec.body[8 + j], 0);
	}
	expect_nothing();
	close(fd);
}

/* Who waits is told when a watermark is passed, not of each record. */
static void wakes_at_the_watermark(void)
{
	struct perf_event_attr attr = carrier();
	struct pollfd p = { .events = POLLIN };
	const u32 size = 24;	/* header, numbers, a name of one letter */
	int i;

	attr.comm = 1;
	attr.watermark = 1;
	attr.wakeup_watermark = 3 * size;
	p.fd = start(&attr);
	for (i = 1; i <= 12; i++) {
		pt_need(!prctl(PR_SET_NAME, "a"), "PR_SET_NAME");
		pt_check(poll(&p, 1, 0) == (i > 1 && i % 3 == 1), "%s after %d records",
			 p.revents ? "woken" : "not woken", i);
	}
	pt_eq(pt_head(&ring), 12 * size);
}

static void trailers_of_all_id_fields(void)
{
	static const u64 bit[] = {
		PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID,
		PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER,
	};
	unsigned int mask, i;

	for (mask = 0; mask < 64; mask++) {
		struct perf_event_attr attr = carrier();
		u64 before, after;
		int fd;

		for (i = 0; i < 6; i++)
			attr.sample_type |= mask & (1u << i) ? bit[i] : 0;
		/* Fields that no trailer has must not make it longer. */
		attr.sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD | PERF_SAMPLE_ADDR;
		attr.sample_id_all = 1;
		attr.comm = 1;
		fd = start(&attr);
		before = pt_clock(CLOCK_MONOTONIC);
		pt_need(!prctl(PR_SET_NAME, "trailer"), "PR_SET_NAME");
		after = pt_clock(CLOCK_MONOTONIC);
		expect(PERF_RECORD_COMM);
		check_trailer(&attr, fd, (u32)getpid(), (u32)pt_tid(), 16);
		if (attr.sample_type & PERF_SAMPLE_TIME)
			pt_check(id.time >= before && id.time <= after, "time %llu",
				 (unsigned long long)id.time);
		expect_nothing();
		pt_unmap(&ring);
		close(fd);
	}
}

static void check_task(u32 type, u32 pid, u32 ppid, u32 tid, u32 ptid, u64 before, u64 after)
{
	struct pt_rec_task t;

	expect(type);
	memcpy(&t, rec.body, sizeof(t));
	pt_eq(rec.h.misc, 0);
	pt_eq(t.pid, pid);
	pt_eq(t.ppid, ppid);
	pt_eq(t.tid, tid);
	pt_eq(t.ptid, ptid);
	pt_check(t.time >= before && t.time <= after, "time %llu is not in %llu..%llu",
		 (unsigned long long)t.time, (unsigned long long)before, (unsigned long long)after);
}

static void fork_and_exit(void)
{
	struct perf_event_attr attr = carrier();
	u32 me = (u32)getpid();
	u64 before, after;
	pid_t pid;
	int fd;

	attr.task = 1;
	attr.inherit = 1;
	attr.sample_id_all = 1;
	attr.sample_type = ID_FIELDS;
	fd = start(&attr);
	before = pt_clock(CLOCK_MONOTONIC);
	pt_in_child(pid)
		_exit(0);
	pt_reap(pid);
	after = pt_clock(CLOCK_MONOTONIC);
	check_task(PERF_RECORD_FORK, (u32)pid, me, (u32)pid, me, before, after);
	/* Reported by the parent, in its context. */
	check_trailer(&attr, fd, me, me, sizeof(struct pt_rec_task));
	check_task(PERF_RECORD_EXIT, (u32)pid, me, (u32)pid, me, before, after);
	check_trailer(&attr, fd, (u32)pid, (u32)pid, sizeof(struct pt_rec_task));
	expect_nothing();
}

static void *nothing(void *arg)
{
	*(u32 *)arg = (u32)pt_tid();
	return NULL;
}

static void thread_fork_and_exit(void)
{
	struct perf_event_attr attr = carrier();
	u32 me = (u32)getpid(), tid = 0;
	u64 before;
	pthread_t t;

	attr.task = 1;
	attr.inherit = 1;
	start(&attr);
	before = pt_clock(CLOCK_MONOTONIC);
	pt_need(!pthread_create(&t, NULL, nothing, &tid), "pthread_create");
	pthread_join(t, NULL);
	check_task(PERF_RECORD_FORK, me, me, tid, me, before, pt_clock(CLOCK_MONOTONIC));
	/* A thread's record of exit names the process that is the parent of ours. */
	while (!pt_next(&ring, &rec))
		sched_yield();
	pt_eq(rec.h.type, PERF_RECORD_EXIT);
	{
		struct pt_rec_task x;

		memcpy(&x, rec.body, sizeof(x));
		pt_eq(x.pid, me);
		pt_eq(x.tid, tid);
		pt_eq(x.ppid, getppid());
		pt_eq(x.ptid, getppid());
	}
}

/* Without inherit the fork is still told, what the child does is not. */
static void fork_without_inherit(void)
{
	struct perf_event_attr attr = carrier();
	u32 me = (u32)getpid();
	u64 before;
	pid_t pid;

	attr.task = 1;
	attr.comm = 1;
	start(&attr);
	before = pt_clock(CLOCK_MONOTONIC);
	pt_in_child(pid)
		prctl(PR_SET_NAME, "child");
	pt_reap(pid);
	check_task(PERF_RECORD_FORK, (u32)pid, me, (u32)pid, me, before,
		   pt_clock(CLOCK_MONOTONIC));
	expect_nothing();
}

static const char *child_arg;

static void exec_records(bool comm_exec)
{
	struct perf_event_attr attr = carrier();
	bool comm_seen = false, code_seen = false, exit_seen = false;
	const char *name = strrchr(own_path(), '/') + 1;
	pid_t pid;

	attr.comm = 1;
	attr.comm_exec = comm_exec;
	attr.mmap = 1;
	attr.task = 1;
	attr.inherit = 1;
	start(&attr);
	pt_in_child(pid) {
		execl("/proc/self/exe", "program", child_arg, NULL);
		_exit(99);
	}
	pt_reap(pid);
	while (pt_next(&ring, &rec)) {
		struct pt_rec_mmap m;

		memcpy(&m, rec.body, sizeof(m));
		if (rec.h.type == PERF_RECORD_COMM) {
			pt_check(!comm_seen, "two COMM records");
			comm_seen = true;
			pt_eq(m.pid, pid);
			pt_check(rec.h.misc & PERF_RECORD_MISC_COMM_EXEC, "misc %#x", rec.h.misc);
			pt_check(!strncmp((char *)rec.body + 8, name, 15) ||
				 !strcmp((char *)rec.body + 8, "exe"), "comm %s", rec.body + 8);
		} else if (rec.h.type == PERF_RECORD_MMAP) {
			pt_check(comm_seen, "code mapped before the new name");
			pt_eq(m.pid, pid);
			code_seen |= !strcmp((char *)rec.body + sizeof(m), own_path());
		} else if (rec.h.type == PERF_RECORD_EXIT) {
			exit_seen = true;
		}
	}
	pt_check(comm_seen, "no COMM of the exec");
	pt_check(code_seen, "no MMAP of the new program");
	pt_check(exit_seen, "no EXIT");
}

static void exec_comm_and_mmap(void)
{
	exec_records(true);
}

/* comm_exec only promises the bit, the bit is always there. */
static void exec_without_comm_exec(void)
{
	exec_records(false);
}

static void switches(void)
{
	struct perf_event_attr attr = carrier();
	struct pt_peer peer;
	unsigned int out = 0, in = 0, preempt = 0;
	bool inside = true;
	u64 last = 0;
	int fd, i;

	attr.context_switch = 1;
	attr.sample_id_all = 1;
	attr.sample_type = ID_FIELDS;
	pt_pin(0);
	pt_peer_start(&peer);
	fd = start(&attr);
	for (i = 0; i < 50; i++)
		pt_peer_turn(&peer);
	pt_disable(fd);
	while (pt_next(&ring, &rec)) {
		pt_eq(rec.h.type, PERF_RECORD_SWITCH);
		check_trailer(&attr, fd, (u32)getpid(), (u32)pt_tid(), 0);
		pt_check(id.time >= last, "time went back");
		last = id.time;
		if (rec.h.misc & PERF_RECORD_MISC_SWITCH_OUT) {
			pt_check(inside, "out twice");
			inside = false;
			out++;
			preempt += !!(rec.h.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
		} else {
			pt_eq(rec.h.misc, 0);
			pt_check(!inside, "in twice");
			inside = true;
			in++;
		}
	}
	pt_check(out >= 50, "%u switches", out);
	pt_eq(in, out);
	pt_check(preempt <= out, "preempt");
	pt_peer_stop(&peer);
}

/* Out of its own will is not preempted; spinning next to somebody is. */
static void preempted_or_not(void)
{
	struct perf_event_attr attr = carrier();
	unsigned int preempted = 0, asleep = 0;
	pid_t pid;
	int fd;

	attr.context_switch = 1;
	pt_pin(0);
	fd = start(&attr);
	pt_switch_out();
	pt_disable(fd);
	while (pt_next(&ring, &rec))
		asleep += rec.h.misc == PERF_RECORD_MISC_SWITCH_OUT;
	pt_check(asleep > 0, "slept and was not seen to");
	pt_in_child(pid) {
		for (;;)
			pt_spin(1000);
	}
	pt_enable(fd);
	pt_burn(30000000);
	pt_disable(fd);
	while (pt_next(&ring, &rec))
		preempted += rec.h.misc == (PERF_RECORD_MISC_SWITCH_OUT |
					    PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
	pt_check(preempted > 0, "two spinners and no preemption");
}

static void switches_cpu_wide(void)
{
	struct perf_event_attr attr = carrier();
	unsigned int to_peer = 0, from_peer = 0;
	u32 next[2], who[2], me = (u32)getpid();
	struct pt_peer peer;
	int fd, i;

	attr.context_switch = 1;
	attr.sample_id_all = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CPU;
	attr.disabled = 1;
	pt_pin(0);
	pt_peer_start(&peer);
	fd = pt_open(&attr, -1, 0, -1, 0);
	pt_map(&ring, fd, 64);
	pt_enable(fd);
	for (i = 0; i < 50; i++)
		pt_peer_turn(&peer);
	pt_disable(fd);
	while (pt_next(&ring, &rec)) {
		pt_eq(rec.h.type, PERF_RECORD_SWITCH_CPU_WIDE);
		pt_eq(rec.h.size, 8 + 8 + 16);
		memcpy(next, rec.body, 8);
		memcpy(who, rec.body + 8, 8);
		if (rec.h.misc & PERF_RECORD_MISC_SWITCH_OUT)
			to_peer += who[0] == me && next[0] == (u32)peer.pid;
		else
			from_peer += who[0] == me && next[0] == (u32)peer.pid;
		pt_check(next[0] != who[0] || next[1] != who[1], "switch to oneself");
	}
	/* The idle task may come between now and then, not always. */
	pt_check(to_peer >= 25, "%u switches to the peer", to_peer);
	pt_check(from_peer >= 25, "%u switches from the peer", from_peer);
	pt_peer_stop(&peer);
}

/* Nobody but the event of a CPU has them followed: who asked before has gone long ago. */
static void switches_for_a_cpu_alone(void)
{
	struct timespec while_asleep = { .tv_sec = 3 };
	struct perf_event_attr attr = carrier();

	/* Nothing is waited for: what nobody needs any more is off after one second, or two. */
	pt_eq(nanosleep(&while_asleep, NULL), 0);
	attr.context_switch = 1;
	pt_pin(0);
	pt_map(&ring, pt_open(&attr, -1, 0, -1, 0), 64);
	pt_switch_out();
	pt_disable(ring.fd);
	expect(PERF_RECORD_SWITCH_CPU_WIDE);
}

static void uninterested(void)
{
	struct perf_event_attr attr = carrier();
	struct perf_event_attr other;
	struct pt_ring none, off;
	pid_t pid;
	int fd;

	/* Everything but what happens. */
	attr.context_switch = 0;
	attr.disabled = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&none, fd, 4);
	pt_enable(fd);
	/* Interested, but off. */
	other = attr;
	other.comm = 1;
	other.mmap = 1;
	other.mmap_data = 1;
	other.task = 1;
	other.context_switch = 1;
	fd = pt_open(&other, 0, -1, -1, 0);
	pt_map(&off, fd, 4);
	/* Interested in somebody else. */
	other.disabled = 0;
	fd = pt_open(&other, getppid(), -1, -1, 0);
	pt_map(&ring, fd, 4);
	prctl(PR_SET_NAME, "new name");
	map_self((size_t)pt_page_size(), PROT_READ | PROT_EXEC, 0);
	pt_in_child(pid)
		_exit(0);
	pt_reap(pid);
	pt_switch_out();
	pt_eq(pt_head(&none), 0);
	pt_eq(pt_head(&off), 0);
	while (pt_next(&ring, &rec))
		pt_eq(rec.h.type, PERF_RECORD_SWITCH);
}

/* One that waits for its leader to be enabled hears what happens all the same. */
static void leader_is_off(void)
{
	struct perf_event_attr lead = carrier(), attr = carrier();
	int fd;

	pt_pin(0);
	lead.disabled = 1;
	attr.comm = 1;
	fd = pt_open(&lead, 0, -1, -1, 0);
	fd = pt_open(&attr, 0, -1, fd, 0);
	pt_map(&ring, fd, 4);
	pt_need(!prctl(PR_SET_NAME, "new name"), "PR_SET_NAME");
	expect(PERF_RECORD_COMM);
	expect_nothing();
	pt_disable(fd);
	pt_need(!prctl(PR_SET_NAME, "newer name"), "PR_SET_NAME");
	expect_nothing();
}

/* An event of the CPU hears what every task on it does. */
static void cpu_wide_hears_everybody(void)
{
	struct perf_event_attr attr = carrier();
	unsigned int comm = 0, forks = 0, exits = 0, code = 0;
	pid_t pid;
	int fd;

	attr.comm = 1;
	attr.task = 1;
	attr.mmap = 1;
	attr.disabled = 1;
	pt_pin(0);
	fd = pt_open(&attr, -1, 0, -1, 0);
	pt_map(&ring, fd, 64);
	pt_enable(fd);
	pt_in_child(pid) {
		prctl(PR_SET_NAME, "somebody");
		map_self((size_t)pt_page_size(), PROT_READ | PROT_EXEC, 0);
	}
	pt_reap(pid);
	pt_disable(fd);
	while (pt_next(&ring, &rec)) {
		u32 who;

		memcpy(&who, rec.body, 4);
		if (who != (u32)pid)
			continue;
		comm += rec.h.type == PERF_RECORD_COMM;
		forks += rec.h.type == PERF_RECORD_FORK;
		exits += rec.h.type == PERF_RECORD_EXIT;
		code += rec.h.type == PERF_RECORD_MMAP;
	}
	pt_eq(comm, 1);
	pt_eq(forks, 1);
	pt_eq(exits, 1);
	pt_eq(code, 1);
	if (pt_online_cpus() > 1) {
		/* Not of the neighbours. */
		pt_pin(1);
		pt_enable(fd);
		prctl(PR_SET_NAME, "elsewhere");
		pt_disable(fd);
		while (pt_next(&ring, &rec))
			pt_check(rec.h.type != PERF_RECORD_COMM ||
				 strcmp((char *)rec.body + 8, "elsewhere"), "heard CPU 1");
	}
}

/* A sampling event may carry sideband itself; both come in order. */
static void samples_and_sideband_in_order(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	u8 *p = pt_fresh_pages(10);
	int i;

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_TID;
	attr.comm = 1;
	start(&attr);
	for (i = 0; i < 10; i++) {
		char name[16];

		snprintf(name, sizeof(name), "turn %d", i);
		prctl(PR_SET_NAME, name);
		pt_touch(p + i * pt_page_size(), 1);
	}
	for (i = 0; i < 10; i++) {
		char name[16];

		snprintf(name, sizeof(name), "turn %d", i);
		expect(PERF_RECORD_COMM);
		pt_check(!strcmp((char *)rec.body + 8, name), "%s", rec.body + 8);
		expect(PERF_RECORD_SAMPLE);
	}
	expect_nothing();
}

/* Two events, one buffer: each record is written once per interested event. */
static void one_record_per_event(void)
{
	struct perf_event_attr attr = carrier();
	unsigned int a = 0, b = 0;
	int first, second;

	attr.comm = 1;
	attr.sample_id_all = 1;
	attr.sample_type = PERF_SAMPLE_IDENTIFIER;
	first = start(&attr);
	second = pt_open(&attr, 0, -1, first, PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP);
	pt_enable(second);
	prctl(PR_SET_NAME, "twice");
	while (pt_next(&ring, &rec)) {
		pt_eq(rec.h.type, PERF_RECORD_COMM);
		pt_parse_trailer(&attr, &rec, &id, NULL);
		a += id.identifier == pt_id(first);
		b += id.identifier == pt_id(second);
	}
	pt_eq(a, 1);
	pt_eq(b, 1);
}

static int exec_child(int argc, char **argv)
{
	return argc == 2 && !strcmp(argv[1], "--exec-child") ? 0 : -1;
}

static const struct pt_case cases[] = {
	{ "comm", comm },
	{ "wakes_at_the_watermark", wakes_at_the_watermark },
	{ "trailers_of_all_id_fields", trailers_of_all_id_fields },
	{ "fork_and_exit", fork_and_exit },
	{ "thread_fork_and_exit", thread_fork_and_exit },
	{ "fork_without_inherit", fork_without_inherit },
	{ "exec_comm_and_mmap", exec_comm_and_mmap },
	{ "exec_without_comm_exec", exec_without_comm_exec },
	{ "switches", switches },
	{ "preempted_or_not", preempted_or_not },
	{ "switches_cpu_wide", switches_cpu_wide },
	{ "switches_for_a_cpu_alone", switches_for_a_cpu_alone },
	{ "uninterested", uninterested },
	{ "leader_is_off", leader_is_off },
	{ "cpu_wide_hears_everybody", cpu_wide_hears_everybody },
	{ "samples_and_sideband_in_order", samples_and_sideband_in_order },
	{ "one_record_per_event", one_record_per_event },
};

int main(int argc, char **argv)
{
	child_arg = "--exec-child";
	pt_reexec_hook = exec_child;
	return pt_run(argc, argv, cases, PT_ARRAY_SIZE(cases));
}
