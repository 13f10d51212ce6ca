// SPDX-License-Identifier: GPL-2.0
/*
 * session.c - one descriptor for events of many tasks: who is attached when, what each target and
 * all of them have counted, to the last one. What ends an attachment: session_life.c; CPUs and
 * cgroups: session_cpu.c; buffers: session_sample.c; refusals: session_refused.c.
 *
 * needs: smp hw
 */
#include "lib/counter.h"
#include "lib/session.h"
#include <sys/prctl.h>

#define TIMES	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

/* ---- attach, detach ---- */

static void one_after_the_other(const struct session_source *s)
{
	struct worker a, b;
	int fd;

	worker_start(&a, 0);
	worker_start(&b, 0);
	fd = session_of_tasks(s->attr());
	pt_eq(session_targets(fd), 0);
	pt_eq(pt_count(fd), 0);
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	worker_do(&a, s->work, 30);
	worker_do(&b, s->work, 100);
	pt_eq(pt_count(fd), 30);
	pt_eq(session_count_of_task(fd, a.pid), 30);
	pt_eq(session_count_left(fd), 0);

	pt_eq(session_detach_task(fd, a.pid), 0);
	worker_do(&a, s->work, 100);
	pt_eq(pt_count(fd), 30);
	pt_eq(session_count_of_task(fd, a.pid), -1);
	pt_eq(session_count_left(fd), 30);

	pt_eq(session_attach_task(fd, b.pid, 0), 0);
	worker_do(&b, s->work, 40);
	worker_do(&a, s->work, 100);
	pt_eq(pt_count(fd), 70);
	pt_eq(session_count_of_task(fd, b.pid), 40);
	pt_eq(session_count_left(fd), 30);
	pt_eq(session_targets(fd), 1);
	session_adds_up(fd);

	/* It comes back, and begins anew. */
	pt_eq(session_detach_task(fd, b.pid), 0);
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	worker_do(&a, s->work, 2);
	pt_eq(session_count_of_task(fd, a.pid), 2);
	pt_eq(session_count_left(fd), 70);
	pt_eq(pt_count(fd), 72);
	session_adds_up(fd);
	close(fd);
	worker_do(&a, s->work, 1);
	worker_end(&a);
	worker_end(&b);
}

static void in_turn(void)
{
	session_with_each(one_after_the_other);
}

static void two_targets(const struct session_source *s)
{
	struct worker a, b;
	int fd;

	worker_start(&a, 0);
	worker_start(&b, 0);
	fd = session_of_tasks(s->attr());
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	pt_eq(session_attach_task(fd, b.pid, 0), 0);
	pt_eq(session_targets(fd), 2);
	worker_do(&a, s->work, 30);
	worker_do(&b, s->work, 40);
	worker_do(&a, s->work, 3);
	pt_eq(session_count_of_task(fd, a.pid), 33);
	pt_eq(session_count_of_task(fd, b.pid), 40);
	pt_eq(session_count_left(fd), 0);
	pt_eq(pt_count(fd), 73);
	session_adds_up(fd);
	/* One leaves, the other one does not notice. */
	pt_eq(session_detach_task(fd, a.pid), 0);
	worker_do(&b, s->work, 4);
	pt_eq(session_count_of_task(fd, b.pid), 44);
	pt_eq(session_count_left(fd), 33);
	pt_eq(pt_count(fd), 77);
	session_adds_up(fd);
	close(fd);
	worker_end(&a);
	worker_end(&b);
}

static void both(void)
{
	session_with_each(two_targets);
}

/* The caller itself, by its number and by none. */
static void the_caller(void)
{
	struct worker w;
	int fd;

	ext_need();
	load(NULL);
	worker_start(&w, 0);
	fd = session_of_tasks(hits());
	pt_eq(session_attach_task(fd, 0, 0), 0);
	hit(5);
	worker_do(&w, hit, 100);
	pt_eq(session_count_of_task(fd, pt_tid()), 5);
	pt_eq(session_attach_task(fd, pt_tid(), 0), -EEXIST);
	pt_eq(session_detach_task(fd, 0), 0);
	hit(5);
	pt_eq(pt_count(fd), 5);
	pt_eq(session_attach_task(fd, pt_tid(), 0), 0);
	hit(2);
	pt_eq(pt_count(fd), 7);
	worker_end(&w);
}

/* ALL takes off whatever there is. */
static void detach_all(void)
{
	struct worker w[5];
	int fd, i;

	ext_need();
	load(NULL);
	for (i = 0; i < 5; i++)
		worker_start(&w[i], -1);
	fd = session_of_tasks(hits());
	pt_eq(session_detach(fd, PERF_EXT_TARGET_ALL, 0), 0);
	for (i = 0; i < 5; i++) {
		pt_eq(session_attach_task(fd, w[i].pid, 0), 0);
		worker_do(&w[i], hit, (u64)i + 1);
	}
	pt_eq(session_targets(fd), 5);
	pt_eq(session_detach(fd, PERF_EXT_TARGET_ALL, 0), 0);
	pt_eq(session_targets(fd), 0);
	pt_eq(session_count_left(fd), 15);
	pt_eq(pt_count(fd), 15);
	pt_eq(pt_module_get(MODULE, "nr_added"), 0);
	for (i = 0; i < 5; i++) {
		worker_do(&w[i], hit, 1);
		pt_eq(session_detach_task(fd, w[i].pid), -ENOENT);
		worker_end(&w[i]);
	}
	pt_eq(pt_count(fd), 15);
}

/* A group: its members in order, by target and in sum. */
static void group(void)
{
	const u64 format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	struct perf_event_attr attr[3];
	struct perf_event_attr dummy = pt_attr(PT_SW(DUMMY));
	const struct session_entry *e;
	u64 ids[3] = {};
	struct perf_ext_create create = {
		.attrs = pt_addr(attr), .ids = pt_addr(ids), .nr = 3, .stride = sizeof(attr[0]),
	};
	struct worker a, b;
	struct pt_read r;
	int fd, i;

	ext_need();
	two_that_hit(&a, &b);
	attr[0] = hits();
	attr[1] = faults();
	attr[2] = pt_attr(PT_SW(DUMMY));
	for (i = 0; i < 3; i++)
		attr[i].read_format = format;
	fd = (int)pt_ioctl(pt_open(&dummy, 0, -1, -1, 0), PERF_EXT_IOC_CREATE, pt_addr(&create));
	pt_need(fd >= 0, "CREATE: %s", strerror(-fd));
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	pt_eq(session_attach_task(fd, b.pid, 0), 0);
	worker_do(&a, hit, 11);
	worker_do(&a, session_fault, 5);
	worker_do(&b, hit, 7);
	pt_eq(session_detach_task(fd, b.pid), 0);
	pt_read(fd, format, 3, &r);
	pt_eq(r.v[0].value, 18);
	pt_eq(r.v[1].value, 5);
	pt_eq(r.v[2].value, 0);
	pt_eq(ids[0], pt_id(fd));
	for (i = 0; i < 3; i++)
		pt_eq(r.v[i].id, ids[i]);
	e = session_task(fd, a.pid);
	pt_need(e, "no entry");
	pt_eq(e->nr, 3);
	pt_eq(e->value[0], 11);
	pt_eq(e->value[1], 5);
	e = session_left(fd);
	pt_need(e, "no entry");
	pt_eq(e->nr, 3);
	pt_eq(e->value[0], 7);
	pt_eq(e->value[1], 0);
	session_adds_up(fd);
	worker_end(&a);
	worker_end(&b);
}

/* As many members as there can be, all of which are read at once. */
static void most_members(void)
{
	struct perf_event_attr attr[SESSION_MEMBERS];
	const struct session_entry *e;
	struct perf_ext_info info = {};
	struct worker a, b;
	unsigned int i;
	int fd;

	ext_need();
	worker_start(&a, 0);
	worker_start(&b, 0);
	for (i = 0; i < SESSION_MEMBERS; i++)
		attr[i] = faults();
	fd = session_make(attr, SESSION_MEMBERS, 0);
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_INFO, pt_addr(&info)), 0);
	pt_eq(info.most_members, SESSION_MEMBERS);
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	pt_eq(session_attach_task(fd, b.pid, 0), 0);
	worker_do(&a, session_fault, 3);
	worker_do(&b, session_fault, 4);
	e = session_task(fd, a.pid);
	pt_need(e && e->nr == SESSION_MEMBERS, "no such entry");
	for (i = 0; i < SESSION_MEMBERS; i++)
		pt_eq(e->value[i], 3);
	pt_eq(session_detach_task(fd, b.pid), 0);
	e = session_left(fd);
	for (i = 0; i < SESSION_MEMBERS; i++)
		pt_eq(e->value[i], 4);
	session_adds_up(fd);
	pt_eq(pt_count(fd), 7);
	worker_end(&a);
	worker_end(&b);
}

static u32 state_of_sums(int fd)
{
	struct session_entry sums;

	session_read(fd, 0, &sums);
	return sums.state;
}

/* ENABLE and DISABLE are for all targets, and for those that come; states say so. */
static void enable(const struct session_source *s)
{
	struct perf_event_attr attr = s->attr();
	struct worker a, b;
	int fd;

	worker_start(&a, 0);
	worker_start(&b, 0);
	attr.disabled = 1;
	fd = session_of_tasks(attr);
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	worker_do(&a, s->work, 9);
	pt_eq(session_count_of_task(fd, a.pid), 0);
	pt_eq(session_task(fd, a.pid)->state, PERF_EXT_VALUES_OFF);
	pt_eq(state_of_sums(fd), PERF_EXT_VALUES_OFF);
	pt_enable(fd);
	worker_do(&a, s->work, 5);
	pt_eq(session_count_of_task(fd, a.pid), 5);
	pt_check(session_task(fd, a.pid)->state != PERF_EXT_VALUES_OFF, "off");
	pt_eq(state_of_sums(fd), PERF_EXT_VALUES_ENABLED);
	pt_eq(session_attach_task(fd, b.pid, 0), 0);
	worker_do(&b, s->work, 6);
	pt_eq(pt_count(fd), 11);
	pt_disable(fd);
	worker_do(&a, s->work, 9);
	worker_do(&b, s->work, 9);
	pt_eq(pt_count(fd), 11);
	pt_eq(session_task(fd, a.pid)->state, PERF_EXT_VALUES_OFF);
	pt_eq(session_task(fd, b.pid)->state, PERF_EXT_VALUES_OFF);
	pt_eq(session_detach_task(fd, b.pid), 0);
	pt_eq(session_attach_task(fd, b.pid, 0), 0);
	worker_do(&b, s->work, 9);
	pt_eq(pt_count(fd), 11);
	pt_enable(fd);
	worker_do(&a, s->work, 1);
	worker_do(&b, s->work, 2);
	pt_eq(session_count_of_task(fd, a.pid), 6);
	pt_eq(session_count_of_task(fd, b.pid), 2);
	pt_eq(pt_count(fd), 14);
	close(fd);
	worker_end(&a);
	worker_end(&b);
}

static void enable_disable(void)
{
	session_with_each(enable);
}

/* RESET is for all: targets, and what those have counted that have left. */
static void reset(void)
{
	struct worker a, b;
	int fd;

	ext_need();
	load(NULL);
	worker_start(&a, 0);
	worker_start(&b, 0);
	fd = session_of_tasks(hits());
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	pt_eq(session_attach_task(fd, b.pid, 0), 0);
	worker_do(&a, hit, 10);
	worker_do(&b, hit, 20);
	pt_eq(session_detach_task(fd, b.pid), 0);
	pt_eq(pt_count(fd), 30);
	pt_reset(fd);
	pt_eq(session_count_of_task(fd, a.pid), 0);
	pt_eq(session_count_left(fd), 0);
	pt_eq(pt_count(fd), 0);
	worker_do(&a, hit, 1);
	worker_do(&b, hit, 1);
	pt_eq(session_count_of_task(fd, a.pid), 1);
	pt_eq(pt_count(fd), 1);
	worker_end(&a);
	worker_end(&b);
}

/* prctl() is for the events that a task has opened on whomever; a session is none of them. */
static void not_by_prctl(void)
{
	struct worker w;
	int fd;

	ext_need();
	load(NULL);
	worker_start(&w, 0);
	fd = session_of_tasks(hits());
	pt_eq(session_attach_task(fd, 0, 0), 0);
	pt_eq(session_attach_task(fd, w.pid, 0), 0);
	pt_need(!prctl(PR_TASK_PERF_EVENTS_DISABLE), "prctl: %s", strerror(errno));
	hit(3);
	worker_do(&w, hit, 4);
	pt_eq(pt_count(fd), 7);
	pt_disable(fd);
	pt_need(!prctl(PR_TASK_PERF_EVENTS_ENABLE), "prctl: %s", strerror(errno));
	hit(3);
	worker_do(&w, hit, 4);
	pt_eq(pt_count(fd), 7);
	worker_end(&w);
}

/* The times of targets add up as their counts do, and stand still when they have left. */
static void times(void)
{
	struct perf_event_attr attr;
	const struct session_entry *e;
	struct pt_read r, again;
	struct worker a, b;
	u64 of_a;
	int fd;

	ext_need();
	load(NULL);
	worker_start(&a, 0);
	worker_start(&b, 0);
	attr = hits();
	attr.read_format = TIMES;
	fd = session_of_tasks(attr);
	pt_read(fd, TIMES, 1, &r);
	pt_eq(r.enabled, 0);
	pt_eq(r.running, 0);
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	worker_do(&a, pt_burn, 20000000);
	pt_eq(session_detach_task(fd, a.pid), 0);
	pt_read(fd, TIMES, 1, &r);
	pt_check(r.running >= 19000000, "running for %llu ns", (unsigned long long)r.running);
	pt_check(r.enabled >= r.running, "running longer than enabled");
	e = session_left(fd);
	pt_need(e, "nobody has left");
	pt_eq(e->enabled, r.enabled);
	pt_eq(e->running, r.running);
	of_a = r.running;
	pt_burn(1000000);
	pt_read(fd, TIMES, 1, &again);
	pt_eq(again.enabled, r.enabled);
	pt_eq(again.running, r.running);
	pt_eq(session_attach_task(fd, b.pid, 0), 0);
	worker_do(&b, pt_burn, 20000000);
	e = session_task(fd, b.pid);
	pt_need(e, "no entry");
	pt_check(e->running >= 19000000, "running for %llu ns", (unsigned long long)e->running);
	pt_check(e->enabled >= e->running, "running longer than enabled");
	pt_eq(session_detach_task(fd, b.pid), 0);
	pt_read(fd, TIMES, 1, &r);
	pt_check(r.running >= of_a + 19000000, "running for %llu ns",
		 (unsigned long long)r.running);
	worker_end(&a);
	worker_end(&b);
}

static void fdinfo(void)
{
	struct perf_event_attr attr;
	char path[64], text[4096];
	struct worker w;
	int fd;

	ext_need();
	load(NULL);
	worker_start(&w, 0);
	attr = hits();
	fd = session_of_tasks(attr);
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	pt_need(pt_slurp(path, text, sizeof(text)), "%s", path);
	pt_check(strstr(text, "\ntargets:\t0"), "%s", text);
	pt_check(!strstr(text, "\nsets:"), "one set: %s", text);
	pt_check(!strstr(text, "\ntask:"), "it has a task: %s", text);
	pt_check(strstr(text, "\ncpu:\t-1"), "%s", text);
	session_add(fd, 1, &attr, 1);
	pt_need(pt_slurp(path, text, sizeof(text)), "%s", path);
	pt_check(strstr(text, "\nsets:\t2\ntargets:\t0"), "%s", text);
	pt_eq(session_attach_task(fd, 0, 0), 0);
	pt_eq(session_attach_task(fd, w.pid, 0), 0);
	pt_need(pt_slurp(path, text, sizeof(text)), "%s", path);
	pt_check(strstr(text, "\ntargets:\t2"), "%s", text);
	fd = pt_open(&attr, 0, -1, -1, 0);
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	pt_need(pt_slurp(path, text, sizeof(text)), "%s", path);
	pt_check(!strstr(text, "targets:"), "%s", text);
	worker_end(&w);
}

/* ---- one task after the other, as one long run ---- */

/* How many periods of ten are over, of two times 25 events. */
static u64 periods_of(const struct session_source *s, u32 flags)
{
	struct perf_event_attr attr = s->attr();
	struct worker a, b;
	struct pt_ring ring;
	u64 n;
	int fd;

	worker_start(&a, 0);
	worker_start(&b, 0);
	attr.sample_period = 10;
	fd = session_of_tasks(attr);
	pt_map(&ring, fd, 8);
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	worker_do(&a, s->work, 25);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 2);
	pt_eq(session_detach_task(fd, a.pid), 0);
	pt_eq(session_attach_task(fd, b.pid, flags), 0);
	worker_do(&b, s->work, 5);
	n = pt_count_records(&ring, PERF_RECORD_SAMPLE);
	pt_eq(n, flags == PERF_EXT_TARGET_RESUME);
	worker_do(&b, s->work, 20);
	n += pt_count_records(&ring, PERF_RECORD_SAMPLE);
	pt_eq(pt_count(fd), 50);
	pt_unmap(&ring);
	close(fd);
	worker_end(&a);
	worker_end(&b);
	return n;
}

static void goes_on(const struct session_source *s)
{
	pt_eq(periods_of(s, 0), 2);
	pt_eq(periods_of(s, PERF_EXT_TARGET_RESUME), 3);
}

/* The first target has nobody to go on for, whatever the session before this one has left. */
static void first_begins_anew(const struct session_source *s)
{
	struct perf_event_attr attr = s->attr();
	struct pt_ring ring;
	struct worker w;
	int fd, i;

	attr.sample_period = 10;
	for (i = 0; i < 5; i++) {
		periods_of(s, 0);
		fd = session_of_tasks(attr);
		pt_map(&ring, fd, 8);
		worker_start(&w, 0);
		pt_eq(session_attach_task(fd, w.pid, PERF_EXT_TARGET_RESUME), 0);
		worker_do(&w, s->work, 9);
		pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 0);
		worker_do(&w, s->work, 1);
		pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 1);
		pt_unmap(&ring);
		close(fd);
		worker_end(&w);
	}
}

static void resume(void)
{
	session_with_each(goes_on);
}

static void resume_of_nobody(void)
{
	session_with_each(first_begins_anew);
}

/* A period of another rule is not gone on with, though both rules have the same short one. */
static void resume_by_another_rule(void)
{
	struct perf_ext_periods p = { .short_period = 10, .initial_period = 10, .seed = 1 };
	struct perf_event_attr attr = faults();
	struct worker a, b;
	struct pt_ring ring;
	int fd;

	ext_need();
	worker_start(&a, 0);
	worker_start(&b, 0);
	attr.sample_period = 10;
	fd = session_of_tasks(attr);
	pt_map(&ring, fd, 8);
	pt_eq(ext_periods(fd, &p), 0);
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	worker_do(&a, session_fault, 25);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 2);
	pt_eq(session_detach_task(fd, a.pid), 0);
	p.long_period = 20;
	p.long_every = 2;
	pt_eq(ext_periods(fd, &p), 0);
	pt_eq(session_attach_task(fd, b.pid, PERF_EXT_TARGET_RESUME), 0);
	worker_do(&b, session_fault, 9);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 0);
	worker_do(&b, session_fault, 1);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 1);
	worker_end(&a);
	worker_end(&b);
}

/* ---- counters of CPUs, to the last instruction ---- */

static int spinning;		/* the session's descriptor, in workers, too */

static void spin(u64 turns)
{
	counter_spin(spinning, turns);
}

static void instructions(void)
{
	struct worker a, b;

	ext_need();
	spinning = session_of_tasks(counter_event(0));
	worker_start(&a, 0);
	worker_start(&b, 0);
	pt_eq(session_attach_task(spinning, a.pid, 0), 0);
	worker_do(&a, spin, 300000);
	pt_eq(session_detach_task(spinning, a.pid), 0);
	pt_eq(session_attach_task(spinning, b.pid, 0), 0);
	worker_do(&b, spin, 400000);
	pt_eq(pt_count(spinning), counter_spin_cost(300000) + counter_spin_cost(400000));
	pt_eq(session_count_of_task(spinning, b.pid), counter_spin_cost(400000));
	pt_eq(session_count_left(spinning), counter_spin_cost(300000));
	/* Both at once; who waits for orders does not count. */
	pt_eq(session_attach_task(spinning, a.pid, 0), 0);
	worker_do(&a, spin, 100000);
	pt_eq(session_count_of_task(spinning, a.pid), counter_spin_cost(100000));
	pt_eq(session_count_of_task(spinning, b.pid), counter_spin_cost(400000));
	session_adds_up(spinning);
	worker_end(&a);
	worker_end(&b);
}

/* Two tasks, a sample every 10,007: how many in the second, and the count at its first one. */
static void samples_of_two(u32 flags, u64 second, u64 first_count)
{
	struct perf_event_attr attr = counter_event(0);
	static struct pt_record rec;
	static struct pt_sample s;
	struct worker a, b;
	struct pt_ring ring;
	u64 n = 0, sum = 0;

	attr.sample_period = 10007;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_READ | PERF_SAMPLE_PERIOD;
	spinning = session_of_tasks(attr);
	pt_map(&ring, spinning, 16);
	worker_start(&a, 0);
	worker_start(&b, 0);
	pt_eq(session_attach_task(spinning, a.pid, 0), 0);
	worker_do(&a, spin, 300000);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 59);
	pt_eq(session_detach_task(spinning, a.pid), 0);
	pt_eq(session_attach_task(spinning, b.pid, flags), 0);
	worker_do(&b, spin, 400000);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		pt_eq(s.tid, b.pid);
		pt_eq(s.period, 10007);
		pt_eq(s.read.v[0].value, first_count + 10007 * n);
		sum += s.period;
		n++;
	}
	pt_eq(n, second);
	pt_unmap(&ring);
	close(spinning);
	worker_end(&a);
	worker_end(&b);
}

static void samples_go_on(void)
{
	ext_need();
	samples_of_two(0, 79, 10007);
	samples_of_two(PERF_EXT_TARGET_RESUME, 80, 60 * 10007 - counter_spin_cost(300000));
}

/* Each sample is at the end of the next period of the rule, and says how long it was. */
static u64 follow(struct pt_ring *ring, const struct perf_event_attr *attr, struct ext_model *m,
		  u64 before)
{
	static struct pt_record rec;
	static struct pt_sample s;
	u64 n;

	for (n = 0; pt_next_of(ring, &rec, PERF_RECORD_SAMPLE); n++) {
		pt_parse_sample(attr, &rec, &s);
		pt_eq(s.period, ext_model_next(m));
		pt_eq(s.read.v[0].value, m->sum - before);
	}
	pt_consume(ring);
	return n;
}

/* Periods that vary: the one that DETACH cuts off, too, is told by its own length. */
static void varying_go_on(void)
{
	struct perf_ext_periods p = { .short_period = 10000, .long_period = 30000, .long_every = 2,
				      .mask = 0x3ff, .seed = 1 };
	struct perf_event_attr attr;
	struct worker a, b;
	struct ext_model m;
	struct pt_ring ring;

	ext_need();
	attr = counter_event(10000);
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_READ | PERF_SAMPLE_PERIOD;
	spinning = session_of_tasks(attr);
	pt_map(&ring, spinning, 16);
	pt_eq(ext_periods(spinning, &p), 0);
	worker_start(&a, 0);
	worker_start(&b, 0);
	pt_eq(session_attach_task(spinning, a.pid, 0), 0);
	worker_do(&a, spin, 300000);
	p.seed = ext_seed_of_copy(1, 1);
	ext_model_start(&m, &p);
	pt_check(follow(&ring, &attr, &m, 0) > 25, "few samples");
	pt_eq(session_detach_task(spinning, a.pid), 0);
	pt_eq(session_attach_task(spinning, b.pid, PERF_EXT_TARGET_RESUME), 0);
	worker_do(&b, spin, 400000);
	pt_check(follow(&ring, &attr, &m, counter_spin_cost(300000)) > 35, "few samples");
	worker_end(&a);
	worker_end(&b);
}

static const struct pt_case cases[] = {
	{ "in_turn", in_turn },
	{ "both", both },
	{ "the_caller", the_caller },
	{ "detach_all", detach_all },
	{ "group", group },
	{ "most_members", most_members },
	{ "enable_disable", enable_disable },
	{ "reset", reset },
	{ "not_by_prctl", not_by_prctl },
	{ "times", times },
	{ "fdinfo", fdinfo },
	{ "resume", resume },
	{ "resume_of_nobody", resume_of_nobody },
	{ "resume_by_another_rule", resume_by_another_rule },
	{ "instructions", instructions },
	{ "samples_go_on", samples_go_on },
	{ "varying_go_on", varying_go_on },
};

PT_MAIN(cases)
