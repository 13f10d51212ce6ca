// SPDX-License-Identifier: GPL-2.0
/*
 * fdinfo.c - what /proc/<pid>/fdinfo/<fd> tells of an event; Linux 6.12 tells nothing.
 */
#include "lib/missing_page.h"
#include <pthread.h>
#include <signal.h>

static const char *text(int fd, const char *key)
{
	const char *value = pt_fdinfo(fd, key);

	pt_need(value, "no key %s", key);
	return value;
}

static u64 number(int fd, const char *key)
{
	return strtoull(text(fd, key), NULL, 0);
}

#define text_is(fd, key, want)							\
	pt_check(!strcmp(text(fd, key), want), "%s is '%s', not '%s'", key, text(fd, key), want)

static void need_fdinfo(void)
{
	if (pt_is_stock())
		pt_skip("Linux 6.12 tells nothing of events in fdinfo");
}

static void identity(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	int leader, sibling, cpu;

	need_fdinfo();
	leader = pt_open(&attr, 0, -1, -1, 0);
	attr.disabled = 1;
	sibling = pt_open(&attr, 0, -1, leader, 0);
	cpu = pt_open(&attr, -1, 0, -1, 0);

	text_is(leader, "pmu", "software");
	text_is(leader, "type", "1");
	text_is(leader, "config", "0x2");
	text_is(leader, "cpu", "-1");
	pt_eq(number(leader, "task"), (u64)pt_tid());
	pt_eq(number(leader, "id"), pt_id(leader));
	pt_eq(number(sibling, "id"), pt_id(sibling));
	pt_eq(number(sibling, "group"), pt_id(leader));
	pt_eq(number(leader, "group"), pt_id(leader));
	text_is(cpu, "cpu", "0");
	pt_check(!pt_fdinfo(cpu, "task"), "an event of a CPU has a task");
	pt_check(!pt_fdinfo(leader, "buffer"), "a buffer where nothing is mapped");
}

/* Of what counts on the reader's CPU it tells the count of now. */
static void count_goes_on(void)
{
	struct perf_event_attr attr;
	u64 before;
	int fd;

	need_fdinfo();
	pt_load_module("test_count", NULL);
	attr = pt_attr((u32)pt_pmu_type("test_count"), 1);	/* nanoseconds */
	pt_first_on_cpu(0);
	fd = pt_open(&attr, 0, -1, -1, 0);
	before = number(fd, "count");
	pt_burn(1000000);
	pt_check(number(fd, "count") >= before + 1000000, "%llu after %llu",
		 (unsigned long long)number(fd, "count"), (unsigned long long)before);
}

static void states(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	pid_t pid;
	int fd, go[2];

	need_fdinfo();
	attr.disabled = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	text_is(fd, "state", "off");
	text_is(fd, "time_enabled", "0");
	text_is(fd, "share", "0.00%");
	pt_enable(fd);
	text_is(fd, "state", "active");
	pt_disable(fd);
	text_is(fd, "state", "off");
	/* nothing took its turn away */
	text_is(fd, "share", "100.00%");
	pt_eq(number(fd, "time_enabled"), number(fd, "time_running"));
	close(fd);

	pt_gate_make(go);
	pt_in_child(pid)
		pt_gate_wait(go);
	fd = pt_open(&attr, pid, -1, -1, 0);
	pt_gate_open(go);
	pt_reap(pid);
	text_is(fd, "state", "exit");
	close(fd);
}

static void counts(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	struct pt_read r;
	pid_t pid;
	int fd;

	need_fdinfo();
	attr.disabled = 1;
	attr.inherit = 1;
	attr.inherit_stat = 1;	/* each task keeps its own */
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = pt_open(&attr, 0, -1, -1, 0);
	text_is(fd, "copies", "0");
	pt_in_child(pid)
		pause();
	text_is(fd, "copies", "1");
	pt_kill(pid);
	text_is(fd, "copies", "0");

	pt_settle();
	pt_enable(fd);
	pt_fault(7);
	pt_disable(fd);
	pt_read(fd, attr.read_format, 1, &r);
	pt_eq(number(fd, "count"), r.v[0].value);
	pt_eq(number(fd, "time_enabled"), r.enabled);
	pt_eq(number(fd, "time_running"), r.running);
	text_is(fd, "throttled", "0");
	close(fd);
}

/* A copy that is throttled counts for the event, which is not. */
static void throttled_copy(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(CPU_CLOCK));
	int fd, go[2], done[2];
	pid_t pid;

	need_fdinfo();
	pt_sysctl_set("perf_event_max_sample_rate", 100);
	attr.disabled = 1;
	attr.inherit = 1;
	attr.inherit_stat = 1;	/* each task keeps its own */
	attr.sample_period = 1000000;	/* four in a tick are too many, and the event has none */
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_gate_make(go);
	pt_gate_make(done);
	pt_in_child(pid) {
		pt_gate_wait(go);
		pt_burn(200000000);
		pt_gate_open(done);
		pause();
	}
	pt_settle();
	pt_enable(fd);
	pt_gate_open(go);
	pt_gate_wait(done);
	pt_disable(fd);
	text_is(fd, "copies", "1");
	pt_check(number(fd, "throttled"), "never throttled");
	pt_kill(pid);
	if (pt_time_is_exact())
		text_is(fd, "throttled", "0");
	close(fd);
}

static void buffer(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	int fd = pt_open(&attr, 0, -1, -1, 0), other = pt_open(&attr, 0, -1, -1, 0);
	struct pt_ring ring;

	need_fdinfo();
	pt_map(&ring, fd, 4);
	pt_eq(number(fd, "buffer"), 4 * (u64)pt_page_size());
	pt_eq(number(fd, "buffer_of"), pt_id(fd));
	/* the page in front is paid for, too */
	pt_eq(number(fd, "mlock_user") + number(fd, "mlock_mm"), 5);

	pt_check(!pt_fdinfo(other, "buffer"), "a buffer before it has one");
	pt_eq(pt_ioctl(other, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)fd), 0);
	pt_eq(number(other, "buffer"), 4 * (u64)pt_page_size());
	pt_eq(number(other, "buffer_of"), pt_id(fd));
	pt_unmap(&ring);
	pt_check(!pt_fdinfo(fd, "buffer") && !pt_fdinfo(other, "buffer"),
		 "a buffer nobody has mapped");
}

static void lost_and_wakeups(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	struct pt_ring ring;
	struct pt_read r;
	int fd;

	need_fdinfo();
	attr.disabled = 1;
	attr.sample_period = 1;
	attr.wakeup_events = 1;
	attr.read_format = PERF_FORMAT_LOST;
	/* with stacks of 1 KiB, three samples fill a page of 4 KiB */
	attr.sample_type = PERF_SAMPLE_STACK_USER;
	attr.sample_stack_user = 1024;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 1);
	pt_settle();
	pt_eq(number(fd, "lost"), 0);
	pt_eq(number(fd, "wakeups"), 0);
	pt_enable(fd);
	pt_fault(200);
	pt_disable(fd);
	pt_read(fd, attr.read_format, 1, &r);
	pt_check(r.v[0].lost > 0, "nothing was lost");
	pt_eq(number(fd, "lost"), r.v[0].lost);
	/* nobody waited, so nobody was woken */
	pt_eq(number(fd, "wakeups"), 0);
	pt_unmap(&ring);
	close(fd);
}

/* With a signal owner each wakeup counts: one for each sample. */
static void wakeups(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	struct pt_ring ring;
	int fd;

	need_fdinfo();
	attr.disabled = 1;
	attr.sample_period = 1;
	attr.wakeup_events = 1;
	attr.sample_type = PERF_SAMPLE_TID;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 4);
	signal(SIGIO, SIG_IGN);
	pt_need(!fcntl(fd, F_SETOWN, getpid()), "F_SETOWN: %s", strerror(errno));
	pt_need(!fcntl(fd, F_SETFL, O_ASYNC), "F_SETFL: %s", strerror(errno));
	pt_settle();
	pt_enable(fd);
	pt_fault(9);
	pt_disable(fd);
	pt_eq(pt_count(fd), 9);
	pt_eq(number(fd, "wakeups"), 9);
	pt_unmap(&ring);
	close(fd);
}

/* The keys of Linux 7.2. */
static void keys_of_the_attr(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(CONTEXT_SWITCHES));
	int fd;

	need_fdinfo();
	/* software events look at none of these */
	attr.config1 = 0x11;
	attr.config2 = ~0ull;
	attr.config3 = 1ull << 63;
	attr.config4 = 4;
	fd = pt_open(&attr, 0, -1, -1, 0);
	text_is(fd, "pmu_type", "1");
	text_is(fd, "perf_event_attr.type", "1");
	text_is(fd, "perf_event_attr.config", "0x3");
	text_is(fd, "perf_event_attr.config1", "0x11");
	text_is(fd, "perf_event_attr.config2", "0xffffffffffffffff");
	text_is(fd, "perf_event_attr.config3", "0x8000000000000000");
	text_is(fd, "perf_event_attr.config4", "0x4");
	close(fd);
}

struct stuck {
	int fd;
	unsigned long request;		/* 0: read() */
	void *page;
	long result;
};

static void *get_stuck(void *arg)
{
	struct stuck *s = arg;

	if (s->request)
		s->result = pt_ioctl(s->fd, s->request, (unsigned long)s->page);
	else
		s->result = read(s->fd, s->page, 64);
	return NULL;
}

/* Another process, as it would be if it looked at all of /proc. */
static void look_from_elsewhere(int fd)
{
	char path[64], text[4096];
	pid_t owner = getpid(), pid;

	pt_in_child(pid) {
		snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", owner, fd);
		_exit(!pt_slurp(path, text, sizeof(text)) || !strstr(text, "\ncount:\t"));
	}
	pt_reap(pid);
}

/* A call that waits for user memory keeps nobody from looking, and works when it is answered. */
static void look_while_stuck(int fd, unsigned long request, long want)
{
	struct missing_page m = missing_page();
	struct stuck s = { .fd = fd, .request = request, .page = m.page };
	pthread_t thread;

	pt_need(!pthread_create(&thread, NULL, get_stuck, &s), "thread");
	missing_page_wait(&m);
	look_from_elsewhere(fd);
	/* Nor from controlling the event. */
	pt_enable(fd);

	missing_page_fill(&m, NULL);
	pt_need(!pthread_join(thread, NULL), "join");
	pt_eq(s.result, want);
	missing_page_end(&m);
}

static void unanswered_argument(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	int fd;

	need_fdinfo();
	attr.inherit = 1;
	attr.sample_period = 1000;
	fd = pt_open(&attr, 0, -1, -1, 0);
	look_while_stuck(fd, PERF_EVENT_IOC_PERIOD, -EINVAL);	/* a period of 0 */
	look_while_stuck(fd, PERF_EVENT_IOC_ID, 0);
	look_while_stuck(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, -EINVAL);
	close(fd);

	attr = pt_attr(PERF_TYPE_TRACEPOINT, pt_tracepoint_id("sched", "sched_switch"));
	attr.inherit = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	look_while_stuck(fd, PERF_EVENT_IOC_SET_FILTER, -EINVAL);	/* an empty one */
	close(fd);
}

static void unanswered_read(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	int fd;

	need_fdinfo();
	attr.inherit = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	look_while_stuck(fd, 0, 8);
	close(fd);
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	fd = pt_open(&attr, 0, -1, -1, 0);
	look_while_stuck(fd, 0, 24);
	close(fd);
}

static const struct pt_case cases[] = {
	{ "keys_of_the_attr", keys_of_the_attr },
	{ "unanswered_argument", unanswered_argument },
	{ "unanswered_read", unanswered_read },
	{ "identity", identity },
	{ "count_goes_on", count_goes_on },
	{ "states", states },
	{ "counts", counts },
	{ "throttled_copy", throttled_copy },
	{ "buffer", buffer },
	{ "lost", lost_and_wakeups },
	{ "wakeups", wakeups },
};

PT_MAIN(cases)
