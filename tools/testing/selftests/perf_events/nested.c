// SPDX-License-Identifier: GPL-2.0
/*
 * nested.c - writers that interrupt each other: a page fault is writing its
 * sample when a timer or a counter overflows and writes one of its own into
 * the same buffer.
 *
 * Every record must come out whole, and for each event what was seen plus
 * what was lost must be what happened.
 *
 * needs: hw pmu-irq skid
 */
#include "lib/ptest.h"

#define MAX_EVENTS	4

static struct {
	struct perf_event_attr attr;
	int fd;
	u64 id, seen;
} ev[MAX_EVENTS];
static int nr_events;

static struct pt_record rec;
static struct pt_sample s;
static struct pt_ring ring;
static u64 told;

static int add_event(struct perf_event_attr attr, int cpu)
{
	int fd, first = nr_events ? ev[0].fd : -1;
	unsigned long flags = PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP;

	pt_need(nr_events < MAX_EVENTS, "too many events");
	attr.sample_type |= PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	attr.read_format = PERF_FORMAT_LOST;
	attr.disabled = 1;
	attr.sample_id_all = 1;
	fd = pt_open(&attr, cpu < 0 ? 0 : -1, cpu, first, first < 0 ? 0 : flags);
	ev[nr_events].attr = attr;
	ev[nr_events].fd = fd;
	ev[nr_events].id = pt_id(fd);
	return nr_events++;
}

static void take_records(void)
{
	int i;

	while (pt_next(&ring, &rec)) {
		u64 id;

		if (rec.h.type == PERF_RECORD_LOST) {
			struct pt_rec_lost l;

			memcpy(&l, rec.body, sizeof(l));
			told += l.lost;
			continue;
		}
		pt_need(rec.h.type == PERF_RECORD_SAMPLE || rec.h.type == PERF_RECORD_THROTTLE ||
			rec.h.type == PERF_RECORD_UNTHROTTLE, "record of type %u", rec.h.type);
		if (rec.h.type != PERF_RECORD_SAMPLE)
			continue;
		memcpy(&id, rec.body, 8);
		for (i = 0; i < nr_events && ev[i].id != id; i++)
			;
		pt_need(i < nr_events, "a sample with id %llu", (unsigned long long)id);
		pt_parse_sample(&ev[i].attr, &rec, &s);
		pt_eq(s.pid, getpid());
		ev[i].seen++;
	}
	pt_consume(&ring);
}

static void all_on(void)
{
	int i;

	for (i = 0; i < nr_events; i++)
		pt_enable(ev[i].fd);
}

static u64 lost_of(int i)
{
	struct pt_read r;

	pt_read(ev[i].fd, PERF_FORMAT_LOST, 1, &r);
	return r.v[0].lost;
}

static void all_off(void)
{
	u64 lost = 0;
	int i;

	for (i = 0; i < nr_events; i++)
		pt_disable(ev[i].fd);
	take_records();
	for (i = 0; i < nr_events; i++)
		lost += lost_of(i);
	/* What was lost last has not been told yet. */
	pt_check(told <= lost, "told of %llu, lost %llu", (unsigned long long)told,
		 (unsigned long long)lost);
}

static struct perf_event_attr faults(u32 stack)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_STACK_USER | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_ADDR;
	attr.sample_stack_user = stack;
	return attr;
}

static struct perf_event_attr timer(u64 period)
{
	struct perf_event_attr attr = pt_attr(PT_SW(TASK_CLOCK));

	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
	return attr;
}

static struct perf_event_attr cycles(u64 period)
{
	struct perf_event_attr attr = pt_attr(PT_HW(CPU_CYCLES));

	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD;
	return attr;
}

static void work(unsigned int rounds, bool drain)
{
	u8 *p = pt_fresh_pages(16);
	unsigned int i;

	for (i = 0; i < rounds; i++) {
		pt_touch(p, 16);
		pt_need(!madvise(p, 16 * (size_t)pt_page_size(), MADV_DONTNEED), "madvise");
		if (drain)
			take_records();
	}
	munmap(p, 16 * (size_t)pt_page_size());
}

static void timer_in_page_fault(void)
{
	int f, t;

	pt_pin(0);
	f = add_event(faults(2048), -1);
	pt_map(&ring, ev[f].fd, 64);
	t = add_event(timer(10000), -1);
	all_on();
	work(60, true);
	all_off();
	pt_eq(ev[f].seen + lost_of(f), pt_count(ev[f].fd));
	pt_eq(lost_of(f), 0);
	pt_check(ev[t].seen > 0, "the timer never fired");
}

static void overflowing_buffer(void)
{
	int f, t;
	u64 lost;

	pt_pin(0);
	f = add_event(faults(1024), -1);
	pt_map(&ring, ev[f].fd, 2);
	t = add_event(timer(10000), -1);
	all_on();
	work(40, false);
	take_records();
	work(40, false);
	take_records();
	pt_disable(ev[t].fd);
	/* One more, which tells what was lost before. */
	work(1, true);
	all_off();
	lost = lost_of(f) + lost_of(t);
	pt_check(lost > 0, "nothing was lost");
	pt_eq(ev[f].seen + lost_of(f), pt_count(ev[f].fd));
	pt_check(told > 0, "nobody told");
}

static void counter_in_page_fault(void)
{
	struct perf_event_attr probe = cycles(0);
	u64 due, got;
	int f, c;

	close(pt_open_hw(&probe, -1));
	if (!pt_time_is_exact())
		pt_skip("this machine does not count instructions exactly");
	pt_pin(0);
	f = add_event(faults(512), -1);
	pt_map(&ring, ev[f].fd, 64);
	c = add_event(cycles(30011), -1);
	all_on();
	work(60, true);
	all_off();
	pt_eq(ev[f].seen, pt_count(ev[f].fd));
	due = pt_count(ev[c].fd) / 30011;
	got = ev[c].seen + lost_of(c);
	/* DISABLE may come between the last overflow and its interrupt. */
	pt_check(got == due || got + 1 == due, "%llu of %llu overflows", (unsigned long long)got,
		 (unsigned long long)due);
	pt_check(ev[c].seen > 20, "%llu overflows", (unsigned long long)ev[c].seen);
}

static void all_of_them(void)
{
	struct perf_event_attr probe = cycles(0), tp;
	int f, t, i;

	pt_pin(0);
	f = add_event(faults(1024), -1);
	pt_map(&ring, ev[f].fd, 64);
	t = add_event(timer(20000), -1);
	if (pt_probe(&probe) == 0)
		add_event(cycles(100003), -1);
	tp = pt_attr(PERF_TYPE_TRACEPOINT, pt_tracepoint_id("syscalls", "sys_enter_madvise"));
	tp.sample_period = 1;
	tp.sample_type = PERF_SAMPLE_RAW;
	i = add_event(tp, -1);
	all_on();
	work(50, true);
	all_off();
	pt_eq(ev[f].seen + lost_of(f), pt_count(ev[f].fd));
	pt_check(ev[t].seen > 0, "the timer never fired");
	/* one for each round, and the one that keeps huge pages away */
	pt_eq(ev[i].seen, 51);
}

/* Interrupts of a task are hit as before when one of them has disabled an event of it. */
static void interrupts_after_the_limit(void)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_TRACEPOINT,
					      pt_tracepoint_id("timer", "hrtimer_expire_entry"));
	struct perf_event_attr limited = pt_attr(PT_SW(PAGE_FAULTS));
	int fd, other, i;
	u64 before;

	pt_pin(0);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_burn(20000000);
	if (!pt_count(fd))
		pt_skip("the tick is no timer of high resolution here");
	limited.sample_period = 1;
	limited.disabled = 1;
	other = pt_open(&limited, 0, -1, -1, 0);
	pt_eq(pt_ioctl(other, PERF_EVENT_IOC_REFRESH, 1), 0);
	pt_fault(10);
	pt_eq(pt_count(other), 1);
	before = pt_count(fd);
	/* A timer may be late. */
	for (i = 0; i < 50 && pt_count(fd) == before; i++)
		pt_burn(20000000);
	pt_check(pt_count(fd) > before, "none in a second");
}

static const struct pt_case cases[] = {
	{ "timer_in_page_fault", timer_in_page_fault },
	{ "overflowing_buffer", overflowing_buffer },
	{ "counter_in_page_fault", counter_in_page_fault },
	{ "all_of_them", all_of_them },
	{ "interrupts_after_the_limit", interrupts_after_the_limit },
};

PT_MAIN(cases)
