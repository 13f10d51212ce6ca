// SPDX-License-Identifier: GPL-2.0
/*
 * format_module.c - formats of modules: what they may answer, one sample at a time, how they come
 * and go, and the example of formats.rst. What they are for: format.c.
 *
 * needs: smp
 */
#include "lib/format.h"
#include "lib/session.h"
#include "pmu/test_nway.h"

#define PERIOD	10

static int gate[2];

static int start_test(struct pt_area *a, struct perf_event_attr *attr,
		      const struct test_format_arg *arg)
{
	int fd;

	ext_need();
	pt_load_module("test_format", NULL);
	fd = format_start(attr);
	format_test(a, fd, arg);
	return fd;
}

static void half_is(const struct pt_area *a, u64 samples, u64 events)
{
	const struct test_format_half *h = format_half(a, a->head->active);

	pt_eq(h->samples, samples);
	pt_eq(h->events, events);
}

static void verdict_lost(void)
{
	const struct test_format_arg arg = { .lose_every = 4 };
	struct perf_event_attr attr = format_faults(PERIOD);
	struct pt_area a;
	int fd = start_test(&a, &attr, &arg);

	pt_enable(fd);
	pt_fault(1000);
	half_is(&a, 75, 750);
	pt_eq(a.head->samples, 100);
	pt_eq(a.head->lost, 25);
	pt_eq(a.head->nested, 0);
	format_end("test_format", fd, &a);
}

static void verdict_notify(void)
{
	const struct test_format_arg arg = { .notify_every = 3 };
	struct perf_event_attr attr = format_faults(PERIOD);
	struct pt_area a;
	int fd = start_test(&a, &attr, &arg), i;

	pt_enable(fd);
	for (i = 0; i < 3; i++) {
		pt_fault(29);
		pt_check(!format_told(&a, POLLIN), "POLLIN too early");
		pt_fault(1);
		pt_check(format_told(&a, POLLIN), "POLLIN missing");
		pt_check(!format_told(&a, POLLIN), "POLLIN twice");
	}
	half_is(&a, 9, 90);
	format_end("test_format", fd, &a);
}

/* Who sleeps is woken. */
static void wakes_a_sleeper(void)
{
	const struct test_format_arg arg = { .notify_every = 3 };
	struct perf_event_attr attr = format_faults(PERIOD);
	struct pt_peer parent = { .pid = getpid() };
	struct pollfd p = { .events = POLLIN };
	struct pt_area a;
	int fd, end[2];
	pid_t pid;

	ext_need();
	pt_load_module("test_format", NULL);
	pt_gate_make(gate);
	pt_gate_make(end);
	pt_in_child(pid) {
		pt_gate_wait(gate);
		pt_peer_asleep(&parent);
		pt_fault(3 * PERIOD);
		pt_gate_wait(end);
	}
	fd = pt_open(&attr, pid, -1, -1, 0);
	format_test(&a, fd, &arg);
	pt_enable(fd);
	p.fd = a.fd;
	pt_gate_open(gate);
	/* Not for a time: poll() looks once more at its end. */
	pt_eq(poll(&p, 1, -1), 1);
	pt_eq(p.revents, POLLIN);
	pt_gate_open(end);
	pt_reap(pid);
	format_end("test_format", fd, &a);
}

/* The group stops with the sample; RESTART goes on. */
static void verdict_stop(void)
{
	const struct test_format_arg arg = { .stop_every = 3 };
	struct perf_event_attr attr = format_faults(PERIOD), member = format_faults(0);
	struct perf_ext_restart r = {};
	struct pt_area a;
	int fd = start_test(&a, &attr, &arg), sibling;

	member.disabled = 0;
	sibling = pt_open(&member, 0, -1, fd, 0);
	pt_enable(fd);
	pt_fault(100);
	pt_eq(pt_count(fd), 30);
	pt_eq(pt_count(sibling), 30);
	half_is(&a, 3, 30);
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_RESTART, pt_addr(&r)), 0);
	pt_fault(100);
	pt_eq(pt_count(fd), 60);
	pt_eq(pt_count(sibling), 60);
	half_is(&a, 6, 60);
	close(sibling);
	format_end("test_format", fd, &a);
}

/* NOTIFY speaks to who polls the area, too. */
static void with_notify(void)
{
	const struct test_format_arg arg = {};
	struct perf_ext_notify n = { .every = 2, .flags = PERF_EXT_NOTIFY_STOP };
	struct perf_event_attr attr = format_faults(PERIOD);
	struct pt_area a;
	int fd = start_test(&a, &attr, &arg);

	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_NOTIFY, pt_addr(&n)), 0);
	pt_enable(fd);
	pt_fault(100);
	pt_eq(pt_count(fd), 20);
	pt_check(format_told(&a, POLLIN), "POLLIN missing");
	half_is(&a, 2, 20);
	format_end("test_format", fd, &a);
}

/* A child on CPU 1, whose next fault is behind the gate. */
static pid_t start_elsewhere(void)
{
	int there[2];
	pid_t pid;

	pt_eq(pt_module_set("test_format", "settle", 1), 0);
	pt_gate_make(gate);
	pt_gate_make(there);
	pt_in_child(pid) {
		pt_pin(1);
		pt_settle();
		pt_gate_open(there);
		pt_gate_wait(gate);
		pt_fault(1);
	}
	pt_gate_wait(there);
	return pid;
}

/*
 * A format that does not nest gets one sample at a time: what comes while another CPU's is taken is
 * counted, and dropped.
 */
static void nested(void)
{
	const struct test_format_arg arg = { .hold = 1 };
	struct perf_event_attr attr = format_faults(1);
	struct pt_area a;
	pid_t pid;
	u64 held;
	int fd, fc;

	if (pt_online_cpus() < 2)
		pt_skip("needs two CPUs");
	fd = start_test(&a, &attr, &arg);
	pid = start_elsewhere();
	fc = pt_open(&attr, pid, -1, -1, 0);
	pt_eq(format_share(&a, fc, test_uuid), 0);
	pt_pin(0);
	pt_enable(fc);
	pt_gate_open(gate);
	while (!pt_module_get("test_format", "holding"))
		;
	pt_settle();		/* what it shared with the child since the fork */
	pt_enable(fd);
	pt_fault(20);
	pt_disable(fd);
	pt_eq(pt_module_set("test_format", "go", 1), 0);
	pt_reap(pid);
	held = pt_count(fc);
	pt_eq(pt_count(fd), 20);
	half_is(&a, held, held);
	pt_eq(a.head->nested, 20);
	pt_eq(a.head->lost, 20);
	pt_eq(a.head->samples, held + 20);
	close(fc);
	format_end("test_format", fd, &a);
}

/* Who takes an event off its area, or flips that, waits for the sample that is being taken. */
static void after_the_sample(bool flip)
{
	const struct test_format_arg arg = { .hold = 1 };
	struct perf_event_attr attr = format_faults(1);
	struct pt_peer caller;
	struct pt_area a;
	pid_t pid;
	int fd;

	pt_eq(pt_module_set("test_format", "go", 0), 0);
	pid = start_elsewhere();
	fd = pt_open(&attr, pid, -1, -1, 0);
	format_test(&a, fd, &arg);
	pt_pin(0);
	pt_enable(fd);
	pt_gate_open(gate);
	while (!pt_module_get("test_format", "holding"))
		;
	pt_in_child(caller.pid) {
		if (flip)
			format_flip(&a);
		else
			pt_eq(format_none(fd), 0);
		pt_eq(pt_module_get("test_format", "holding"), 0);
	}
	/* In the call or, if that did not wait, at its end. */
	pt_peer_asleep(&caller);
	pt_eq(pt_module_set("test_format", "go", 1), 0);
	pt_reap(caller.pid);
	pt_reap(pid);
	format_end("test_format", fd, &a);
}

static void leaves_after_the_sample(void)
{
	ext_need();
	if (pt_online_cpus() < 2)
		pt_skip("needs two CPUs");
	pt_load_module("test_format", NULL);
	after_the_sample(false);
	after_the_sample(true);
}

/* ---- RESTART and REFRESH amid the sample that stops a group ---- */

static int there[2];

/* A child on CPU 1 whose faults are a period, and nearly another one. */
static pid_t start_two_parts(void)
{
	pid_t pid;

	ext_need();
	if (pt_online_cpus() < 3)
		pt_skip("needs three CPUs");
	pt_load_module("test_format", NULL);
	pt_eq(pt_module_set("test_format", "settle", 1), 0);
	pt_gate_make(gate);
	pt_gate_make(there);
	pt_in_child(pid) {
		pt_pin(1);
		pt_settle();
		pt_gate_open(there);
		pt_gate_wait(gate);
		pt_fault(PERIOD);
		pt_gate_open(there);
		pt_gate_wait(gate);
		pt_fault(PERIOD - 1);
		pt_gate_open(there);
		pt_gate_wait(gate);
	}
	pt_gate_wait(there);
	pt_pin(0);
	return pid;
}

/* The sample of the first part is being taken, with interrupts off. */
static void hold_the_sample(void)
{
	pt_gate_open(gate);
	while (!pt_module_get("test_format", "holding"))
		;
}

static void do_both_parts(void)
{
	pt_gate_wait(there);
	pt_gate_open(gate);
	pt_gate_wait(there);
}

/*
 * While the sample is taken, with interrupts off, CPU 2 sends RESTART to where the group is: it
 * finds a group that is to stop, and has not yet. In the end the child has done both parts.
 */
static void restart_behind_the_sample(int fd)
{
	int calls = pt_open_cross_calls("pe_call_arrives", 2);
	struct perf_ext_restart r = {};
	pid_t caller;

	hold_the_sample();
	pt_in_child(caller) {
		pt_pin(2);
		pt_eq(pt_ioctl(fd, PERF_EXT_IOC_RESTART, pt_addr(&r)), 0);
	}
	while (!pt_count(calls) && pt_module_get("test_format", "holding"))
		;
	pt_eq(pt_module_set("test_format", "go", 1), 0);
	pt_reap(caller);
	close(calls);
	do_both_parts();
}

static void restart_of_a_sibling(void)
{
	const struct test_format_arg arg = { .stop_every = 1, .hold = 1 };
	struct perf_event_attr lead = format_faults(0), attr = format_faults(PERIOD);
	pid_t pid = start_two_parts();
	struct pt_area a;
	int leader, fd;

	leader = pt_open(&lead, pid, -1, -1, 0);
	attr.disabled = 0;
	fd = pt_open(&attr, pid, -1, leader, 0);
	format_test(&a, fd, &arg);
	pt_enable(leader);
	restart_behind_the_sample(fd);
	pt_eq(pt_count(leader), 2 * PERIOD - 1);
	pt_eq(pt_count(fd), 2 * PERIOD - 1);
	pt_gate_open(gate);
	pt_reap(pid);
	close(leader);
	format_end("test_format", fd, &a);
}

static void restart_of_a_session(void)
{
	const struct test_format_arg arg = { .stop_every = 1, .hold = 1 };
	struct perf_event_attr attr[] = { format_faults(0), format_faults(PERIOD) };
	struct perf_ext_format ask = {
		.uuid = TEST_FORMAT, .arg = pt_addr(&arg), .arg_size = sizeof(arg), .share = -1,
		.member = 1,
	};
	pid_t pid = start_two_parts();
	const struct session_entry *e;
	int fd, area, i;

	for (i = 0; i < 2; i++)
		attr[i].disabled = 0;
	fd = session_make(attr, 2, 0);
	area = (int)format_ask(fd, &ask);
	pt_need(area >= 0, "FORMAT: %s", strerror(-area));
	pt_eq(session_attach_task(fd, pid, 0), 0);
	restart_behind_the_sample(fd);
	e = session_task(fd, pid);
	pt_need(e, "it is no target");
	for (i = 0; i < 2; i++)
		pt_eq(e->value[i], 2 * PERIOD - 1);
	pt_gate_open(gate);
	pt_reap(pid);
	close(area);
	close(fd);
	format_wait("test_format");
}

/* More samples are asked for while the last one is taken: the event goes on. */
static void refresh_in_the_last_sample(void)
{
	const struct test_format_arg arg = { .hold = 1 };
	struct perf_event_attr attr = format_faults(PERIOD);
	pid_t pid = start_two_parts();
	struct pt_area a;
	int fd;

	fd = pt_open(&attr, pid, -1, -1, 0);
	format_test(&a, fd, &arg);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_REFRESH, 1), 0);
	hold_the_sample();
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_REFRESH, 1), 0);
	pt_eq(pt_module_set("test_format", "go", 1), 0);
	do_both_parts();
	pt_eq(pt_count(fd), 2 * PERIOD - 1);
	pt_gate_open(gate);
	pt_reap(pid);
	format_end("test_format", fd, &a);
}

/* Formats come and go with their modules, which areas hold. */
static void module_goes(void)
{
	const struct test_format_arg arg = {};
	struct perf_ext_format ask = { .share = -1, .uuid = TEST_FORMAT };
	struct perf_event_attr attr = format_faults(PERIOD);
	struct pt_area a;
	char text[512];
	int fd = start_test(&a, &attr, &arg);

	pt_need(pt_slurp("/sys/bus/event_source/formats", text, sizeof(text)), "no formats");
	pt_check(strstr(text, "74657374-2d66-6f72-6d61-740000000001 test 1"), "formats: %s", text);
	pt_eq(pt_unload_module("test_format"), -EAGAIN);
	format_close(&a);
	pt_eq(pt_unload_module("test_format"), -EAGAIN);	/* the event */
	pt_eq(format_none(fd), 0);
	format_wait("test_format");
	pt_eq(pt_module_set("test_format", "registered", 0), 0);
	pt_eq(format_ask(fd, &ask), -ENOENT);
	pt_eq(pt_module_set("test_format", "registered", 1), 0);
	pt_eq(format_ask(fd, &ask), -EINVAL);			/* no arg */
	format_test(&a, fd, &arg);
	pt_enable(fd);
	pt_fault(100);
	half_is(&a, 10, 100);
	format_end("test_format", fd, &a);
}

/* ---- the example of formats.rst ---- */

static const struct nway_part *part_of(const struct nway_half *h, const struct nway_arg *arg, int i)
{
	size_t size = sizeof(struct nway_part) + arg->samples * sizeof(struct nway_sample);

	return (const void *)((const u8 *)(h + 1) + (size_t)i * size);
}

/* The reader hears of each part that is full; the last ones are there, and the others were. */
static void nway(void)
{
	const struct nway_arg arg = { .parts = 4, .samples = 5 };
	const u8 uuid[16] = NWAY_UUID;
	struct perf_event_attr attr = format_faults(1);
	const struct nway_half *h;
	struct pt_area a;
	u8 *pages;
	int fd, i, k;

	ext_need();
	pt_load_module("test_nway", NULL);
	fd = format_start(&attr);
	format_open(&a, fd, uuid, &arg, sizeof(arg));
	pages = pt_fresh_pages(100);
	pt_enable(fd);
	for (i = 0; i < 100; i++) {
		pages[i * pt_page_size()] = 1;
		pt_eq(!format_told(&a, POLLIN), i % 5 != 4);
	}
	pt_disable(fd);
	h = format_flip(&a);
	pt_eq(h->full, 20);
	pt_eq(h->next, 0);
	for (i = 0; i < 4; i++) {
		const struct nway_part *part = part_of(h, &arg, i);

		pt_eq(part->number, 17 + i);
		for (k = 0; k < 5; k++) {
			pt_eq(part->sample[k].addr,
			      pt_addr(pages) + ((16 + i) * 5 + k) * pt_page_size());
			pt_eq(part->sample[k].pid, getpid());
			pt_eq(part->sample[k].period, 1);
		}
	}
	pt_eq(a.head->samples, 100);
	pt_eq(a.head->lost, 0);
	format_end("test_nway", fd, &a);
}

static const struct pt_case cases[] = {
	{ "verdict_lost", verdict_lost },
	{ "verdict_notify", verdict_notify },
	{ "wakes_a_sleeper", wakes_a_sleeper },
	{ "verdict_stop", verdict_stop },
	{ "with_notify", with_notify },
	{ "nested", nested },
	{ "leaves_after_the_sample", leaves_after_the_sample },
	{ "restart_of_a_sibling", restart_of_a_sibling },
	{ "restart_of_a_session", restart_of_a_session },
	{ "refresh_in_the_last_sample", refresh_in_the_last_sample },
	{ "module_goes", module_goes },
	{ "nway", nway },
};

PT_MAIN(cases)
