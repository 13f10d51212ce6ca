// SPDX-License-Identifier: GPL-2.0
/*
 * members.c - tasks with the same inherited events have them in common: there are copies for as
 * many as can run at once, whoever runs. Sums are those of tasks that have their own, and whatever
 * is about one task stays with that task.
 *
 * The tasks of these cases run on one CPU, SCHED_FIFO, so that each hand-over is a switch from one
 * to the other; on a slow machine the scheduler lets others in from time to time.
 */
#include "lib/members.h"
#include <poll.h>
#include <sys/resource.h>

#define TIMES	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

/* An event that is not inherited keeps a task's events from being had in common. */
static void keep_apart(int unused)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));

	(void)unused;
	pt_open(&attr, 0, -1, -1, 0);
}

/* 3 * turns faults of the two */
static void fight(struct puppet *one, struct puppet *other, int turns)
{
	send(other, SERVE, turns);
	pt_eq(order(one, PLAY, turns), 0);
	pt_eq(answer(other), 0);
}

/* ------------------------------------------------------------ does it happen */

#define CPUS_MAX	8

/* Children enough that they cannot all run at once with their parent. */
static int start_too_many(struct puppet *p)
{
	int nr = possible_cpus() + 1, i;

	if (nr > CPUS_MAX + 1)
		pt_skip("more than %d CPUs", CPUS_MAX);
	for (i = 0; i < nr; i++)
		start(&p[i]);
	return nr;
}

static void stop_many(struct puppet *p, int nr)
{
	while (nr--)
		stop(&p[nr]);
}

/* None before the first fork; then for each, until all CPUs have one. */
static void as_many_as_run(void)
{
	struct puppet p[CPUS_MAX + 1], again;
	struct perf_event_attr attr = faults();
	int fd, nr;

	pt_first_on_cpu(0);
	fd = pt_open(&attr, 0, -1, -1, 0);
	copies_are(fd, 0);
	start(&p[0]);
	copies_are(fd, in_common(2));
	stop(&p[0]);
	nr = start_too_many(p);
	copies_are(fd, in_common(nr + 1));
	counts_right(fd, p, nr);
	stop_many(p, nr);
	/* They stay as long as the parent is a member. */
	copies_are(fd, in_common(nr + 1));
	start(&again);
	copies_are(fd, in_common(nr + 1));
	counts_right(fd, &again, 1);
	stop(&again);
}

/* A sibling joins a group in the task that has the group's event itself, at any time. */
static void siblings(void)
{
	struct perf_event_attr attr = faults();
	struct puppet p, later;
	int fd;

	pt_first_on_cpu(0);
	fd = pt_open(&attr, 0, -1, -1, 0);
	start(&p);
	if (pt_is_stock()) {
		/* The two have swapped their events, and now they differ. */
		pt_eq(order(&p, JOIN, fd), 0);
		pt_eq(join(fd), EINVAL);
		pt_eq(order(&p, JOIN, fd), 0);
		stop(&p);
		return;
	}
	pt_eq(order(&p, JOIN, fd), EINVAL);
	pt_eq(join(fd), 0);
	pt_eq(order(&p, JOIN, fd), EINVAL);
	counts_right(fd, &p, 1);
	/* Both have left: the child has copies, and its parent begins anew. */
	copies_are(fd, 1);
	start(&later);
	copies_are(fd, 1 + in_common(2));
	pt_eq(join(fd), 0);
	pt_eq(order(&later, JOIN, fd), EINVAL);
	counts_right(fd, &later, 1);
	copies_are(fd, 2);
	stop(&later);
	stop(&p);
	copies_are(fd, 0);
	pt_eq(join(fd), 0);
}

/* Its attr is like this, or then() is called: each task has its own copy. */
static void not_in_common(struct perf_event_attr *attr, void (*then)(int fd))
{
	struct puppet p[CPUS_MAX + 1];
	int fd, nr;

	fd = pt_open(attr, 0, 0, -1, 0);
	if (then)
		then(fd);
	nr = start_too_many(p);
	copies_are(fd, nr);
	counts_right(fd, p, nr);
	stop_many(p, nr);
	copies_are(fd, 0);
	close(fd);
}

static void map_it(int fd)
{
	struct pt_ring r;

	pt_map(&r, fd, 0);
}

static void by_its_attr(void)
{
	struct perf_event_attr attr;

	pt_first_on_cpu(0);
	attr = faults();
	attr.inherit_stat = 1;
	not_in_common(&attr, NULL);
	attr = faults();
	attr.remove_on_exec = 1;
	not_in_common(&attr, NULL);
	attr = faults();
	attr.enable_on_exec = 1;
	not_in_common(&attr, NULL);
	attr = faults();
	attr.pinned = 1;
	not_in_common(&attr, NULL);
	attr = faults();
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_STREAM_ID;
	not_in_common(&attr, NULL);
	attr = inherited(PT_SW(BPF_OUTPUT));
	if (!pt_probe(&attr)) {
		int fd = pt_open(&attr, 0, -1, -1, 0);
		struct puppet p[CPUS_MAX + 1];
		int nr = start_too_many(p);

		copies_are(fd, nr);
		stop_many(p, nr);
	}
}

/* A program may read the counter of an event that it has mapped. */
static void by_a_map(void)
{
	struct perf_event_attr attr = faults();

	pt_first_on_cpu(0);
	not_in_common(&attr, map_it);
}

/* Whoever has such an event, all of its events are its own. */
static void by_another_event(void)
{
	struct perf_event_attr attr = faults();

	pt_first_on_cpu(0);
	not_in_common(&attr, keep_apart);
}

/* ------------------------------------------------------------ sums */

static void sum_of_both(struct perf_event_attr *attr)
{
	struct puppet p;
	u64 want = 0;
	int fd, i;

	attr->disabled = 1;
	fd = pt_open(attr, 0, -1, -1, 0);
	start(&p);
	pt_settle();
	pt_enable(fd);
	pt_reset(fd);
	for (i = 1; i < 50; i++) {
		take_faults(i % 3);
		order(&p, FAULT, i % 5);
		want += (u64)(i % 3 + i % 5);
		if (i % 7 == 0)
			pt_eq(pt_count(fd), want);
	}
	pt_disable(fd);
	take_faults(3);
	order(&p, FAULT, 3);
	pt_eq(pt_count(fd), want);
	pt_enable(fd);
	take_faults(1);
	order(&p, FAULT, 1);
	pt_eq(pt_count(fd), want + 2);
	/* The child goes, the parent goes on. */
	stop(&p);
	pt_eq(pt_count(fd), want + 2);
	take_faults(1);
	pt_eq(pt_count(fd), want + 3);
	pt_disable(fd);
	take_faults(1);
	pt_enable(fd);
	take_faults(1);
	pt_eq(pt_count(fd), want + 4);
	/* And hands it down. */
	pt_disable(fd);
	start(&p);
	pt_settle();
	pt_enable(fd);
	order(&p, FAULT, 4);
	take_faults(1);
	pt_eq(pt_count(fd), want + 9);
	stop(&p);
	pt_eq(pt_count(fd), want + 9);
	close(fd);
}

static void sums(void)
{
	struct perf_event_attr attr = faults();

	pt_first_on_cpu(0);
	sum_of_both(&attr);
	attr = faults();
	attr.sample_period = 3;
	sum_of_both(&attr);
}

static void sums_of_a_group(void)
{
	struct perf_event_attr attr = faults();
	struct puppet p;
	struct pt_read r;
	int lead, i;

	pt_first_on_cpu(0);
	attr.disabled = 1;
	attr.read_format = PERF_FORMAT_GROUP | TIMES;
	lead = pt_open(&attr, 0, -1, -1, 0);
	attr.disabled = 0;
	pt_open(&attr, 0, -1, lead, 0);
	attr.config = PERF_COUNT_SW_ALIGNMENT_FAULTS;
	pt_open(&attr, 0, -1, lead, 0);
	start(&p);
	pt_settle();
	pt_enable(lead);
	pt_ioctl(lead, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
	for (i = 1; i < 20; i++) {
		take_faults(1);
		order(&p, FAULT, 2);
		pt_read(lead, attr.read_format, 3, &r);
		pt_eq(r.v[0].value, 3 * i);
		pt_eq(r.v[1].value, 3 * i);
		pt_eq(r.v[2].value, 0);
		pt_eq(r.enabled, r.running);
	}
	stop(&p);
	pt_read(lead, attr.read_format, 3, &r);
	pt_eq(r.v[0].value, 3 * 19);
	pt_eq(r.v[1].value, 3 * 19);
}

static u64 cost_of_turns(struct perf_event_attr *attr, bool apart)
{
	struct perf_event_attr member = faults();
	struct puppet p, other;
	struct pt_read r;
	int fd, sibling, i;

	fd = pt_open_hw(attr, -1);
	sibling = pt_open(&member, 0, -1, fd, 0);
	if (apart)
		keep_apart(-1);
	start(&p);
	start(&other);
	copies_are(fd, apart ? 2 : in_common(3));
	pt_eq(order(&p, SPIN, 1), 0);
	pt_eq(order(&other, SPIN, 1), 0);
	pt_settle();
	pt_ioctl(fd, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
	pt_enable(fd);
	for (i = 0; i < 20; i++) {
		pt_spin(1000);
		order(&p, SPIN, 2000);
		order(&other, SPIN, 3000);
		order(&other, FAULT, 3);
	}
	pt_disable(fd);
	pt_read(fd, attr->read_format, 2, &r);
	pt_eq(r.v[1].value, 60);
	pt_eq(r.enabled, r.running);
	stop(&p);
	stop(&other);
	close(sibling);
	close(fd);
	return r.v[0].value;
}

/* Instructions of user space are the same ones, to the last. */
static void sums_of_hardware(void)
{
	struct perf_event_attr attr = inherited(PT_HW(INSTRUCTIONS));
	u64 common, apart;

	pt_first_on_cpu(0);
	if (!pt_time_is_exact())
		pt_skip("instructions are exact with -icount only");
	attr.disabled = 1;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.read_format = PERF_FORMAT_GROUP | TIMES;
	common = cost_of_turns(&attr, false);
	apart = cost_of_turns(&attr, true);
	pt_check(common > 2 * 20 * 6000, "%llu instructions", (unsigned long long)common);
	pt_eq(common, apart);
}

static void times(void)
{
	struct perf_event_attr attr = inherited(PT_SW(TASK_CLOCK));
	struct puppet p;
	struct pt_read r;
	int fd, i;

	pt_first_on_cpu(0);
	attr.read_format = TIMES;
	fd = pt_open(&attr, 0, -1, -1, 0);
	start(&p);
	for (i = 0; i < 20; i++) {
		order(&p, SPIN, 1000);
		pt_read(fd, attr.read_format, 1, &r);
		pt_eq(r.enabled, r.running);
	}
	stop(&p);
	pt_read(fd, attr.read_format, 1, &r);
	pt_eq(r.enabled, r.running);
	pt_check(r.v[0].value, "no time");
	if (!pt_is_stock())
		pt_eq(r.v[0].value, r.running);
}

/* ------------------------------------------------------------ switches between them */

/* Of a task that sleeps, as the kernel has counted them. */
static u64 switches_of(pid_t pid)
{
	static const char *const keys[] = { "\nvoluntary_ctxt_switches:",
					    "nonvoluntary_ctxt_switches:" };
	char path[64], text[4096], *at;
	u64 sum = 0;
	int i;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	pt_need(pt_slurp(path, text, sizeof(text)), "no %s", path);
	for (i = 0; i < 2; i++) {
		at = strstr(text, keys[i]);
		pt_need(at, "%s does not tell", path);
		sum += strtoull(at + strlen(keys[i]), NULL, 10);
	}
	return sum;
}

static u64 own_switches(void)
{
	struct rusage u;

	pt_need(!getrusage(RUSAGE_SELF, &u), "getrusage: %s", strerror(errno));
	return (u64)u.ru_nvcsw + (u64)u.ru_nivcsw;
}

/* An event, or one whose records are counted by type. */
struct watched {
	int fd;
	struct pt_ring *ring;
	unsigned int nr[PERF_RECORD_MAX];
};

static u64 watched_count(struct watched *w)
{
	static struct pt_record rec;

	if (!w->ring)
		return pt_count(w->fd);
	while (pt_next(w->ring, &rec)) {
		pt_need(rec.h.type < PERF_RECORD_MAX, "a record of type %u", rec.h.type);
		w->nr[rec.h.type]++;
	}
	pt_consume(w->ring);
	return w->nr[PERF_RECORD_SWITCH];
}

/*
 * What is counted more than switches that the tasks have had, or less: of the case, and of two that
 * sleep. A switch in between two looks is not there.
 */
static s64 ahead(struct watched *w, struct puppet *p, u64 each)
{
	u64 others = switches_of(p[0].pid) + switches_of(p[1].pid), own, count;

	do {
		own = own_switches();
		count = watched_count(w);
	} while (own_switches() != own);
	return (s64)(count - each * (own + others));
}

/* Whoever comes in between, as the scheduler has it even for SCHED_FIFO: each switch is counted. */
static void watch_a_fight(struct watched *w, bool apart, u64 each)
{
	struct puppet p[2];
	s64 before;
	int i;

	if (apart)
		keep_apart(-1);
	make_duel();
	for (i = 0; i < 2; i++)
		start(&p[i]);
	pt_settle();
	copies_are(w->fd, apart ? 2 : in_common(3));
	before = ahead(w, p, each);
	fight(&p[0], &p[1], 50);
	pt_eq(ahead(w, p, each), before);
	for (i = 0; i < 2; i++)
		stop(&p[i]);
	watched_count(w);
}

static void switches(void)
{
	struct perf_event_attr attr = inherited(PT_SW(CONTEXT_SWITCHES));
	struct watched w = { };
	int i;

	pt_first_on_cpu(0);
	for (i = 0; i < 2; i++) {
		w.fd = pt_open(&attr, 0, -1, -1, 0);
		watch_a_fight(&w, i == 1, 1);
		pt_check(pt_count(w.fd) >= 100, "%llu switches",
			 (unsigned long long)pt_count(w.fd));
		close(w.fd);
	}
}

/* One record for each thing that happens, however many contexts there are. */
static void records(void)
{
	struct perf_event_attr attr = inherited(PT_SW(DUMMY));
	struct pt_ring ring;
	int i;

	pt_first_on_cpu(0);
	attr.context_switch = 1;
	attr.task = 1;
	attr.sample_id_all = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	attr.sample_period = 1;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;	/* so that there are some */
	for (i = 0; i < 2; i++) {
		struct watched w = { .ring = &ring };

		w.fd = pt_open(&attr, 0, 0, -1, 0);
		pt_map(&ring, w.fd, 64);
		watch_a_fight(&w, i == 1, 2);
		pt_eq(w.nr[PERF_RECORD_FORK], 2);
		pt_eq(w.nr[PERF_RECORD_EXIT], 2);
		pt_eq(w.nr[PERF_RECORD_LOST], 0);
		pt_unmap(&ring);
		close(w.fd);
	}
}

/* ------------------------------------------------------------ whose is it */

/* Samples name the task that was hit; the buffer stays open as long as one of them is left. */
static void samples_name_their_task(void)
{
	struct perf_event_attr attr = faults();
	unsigned int parent = 0, child = 0;
	static struct pt_record rec;
	struct pt_sample s;
	struct pollfd pfd;
	struct puppet p;
	struct pt_ring r;
	int fd, i;

	pt_first_on_cpu(0);
	attr.disabled = 1;
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_TID;
	fd = pt_open(&attr, 0, 0, -1, 0);
	pt_map(&r, fd, 16);
	start(&p);
	pt_settle();
	pt_enable(fd);
	for (i = 0; i < 20; i++) {
		take_faults(1);
		order(&p, FAULT, 2);
	}
	pt_disable(fd);
	copies_are(fd, 1);
	while (pt_next_of(&r, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		if (s.pid == (u32)getpid())
			parent++;
		else if (s.pid == (u32)p.pid)
			child++;
	}
	pt_eq(parent + child, pt_count(fd));
	pt_eq(parent, 20);
	pt_check(child >= 40, "%u samples of the child", child);
	stop(&p);
	pfd = (struct pollfd){ .fd = fd, .events = POLLIN };
	poll(&pfd, 1, 0);
	pt_eq(pfd.revents & POLLHUP, 0);
}

/* An event for one task counts that task, whatever it had in common with others before. */
static void opened_for_one(void)
{
	struct perf_event_attr attr = faults();
	struct perf_event_attr own = pt_attr(PT_SW(PAGE_FAULTS_MIN));
	struct puppet p[2];
	int all, fd, i;

	pt_first_on_cpu(0);
	attr.disabled = 1;
	all = pt_open(&attr, 0, -1, -1, 0);
	make_duel();
	for (i = 0; i < 2; i++)
		start(&p[i]);
	pt_settle();
	pt_enable(all);
	pt_reset(all);
	fight(&p[0], &p[1], 9);
	pt_eq(pt_count(all), 27);
	fd = pt_open(&own, p[0].pid, -1, -1, 0);
	fight(&p[0], &p[1], 10);
	pt_eq(pt_count(fd), 10);
	pt_eq(pt_count(all), 57);
	fight(&p[1], &p[0], 10);
	pt_eq(pt_count(fd), 30);
	close(fd);
	fd = pt_open(&own, p[1].pid, -1, -1, 0);
	fight(&p[0], &p[1], 10);
	pt_eq(pt_count(fd), 20);
	pt_eq(pt_count(all), 117);
	/* The child of one is like that one without its own event. */
	order(&p[1], FORK, 2);
	close(fd);
	counts_right(all, p, 2);
	stop(&p[0]);
	counts_right(all, &p[1], 1);
	stop(&p[1]);
}

static void one_becomes_another_program(void)
{
	struct perf_event_attr attr = faults();
	struct puppet p[2];
	int all, i;

	pt_first_on_cpu(0);
	all = pt_open(&attr, 0, -1, -1, 0);
	make_duel();
	for (i = 0; i < 2; i++)
		start(&p[i]);
	pt_settle();
	for (i = 0; i < 3; i++) {
		fight(&p[0], &p[1], 3);
		pt_eq(order(&p[i & 1], EXEC, 0), 0);
		order(&p[i & 1], NOTHING, 0);
		fight(&p[1], &p[0], 3);
		counts_right(all, p, 2);
	}
	stop(&p[0]);
	counts_right(all, &p[1], 1);
	stop(&p[1]);
}

static bool is_one_of_us(u32 pid, const struct puppet *p)
{
	return pid == (u32)getpid() || pid == (u32)p[0].pid || pid == (u32)p[1].pid;
}

/*
 * Somebody hears of each switch, and all the same nothing goes out between two of them: the PMU
 * gets the event when one of them comes after somebody else.
 */
static void switches_are_told(void)
{
	struct perf_event_attr attr, told = pt_attr(PT_SW(DUMMY));
	unsigned int among_us = 0, after_others = 0;
	static struct pt_record rec;
	struct pt_ring ring;
	struct puppet p[2];
	struct pt_sample s;
	long long before, after;
	u32 prev;
	u64 own;
	int fd, i;

	if (pt_is_stock())
		pt_skip("Linux 6.12 has a context for each task");
	pt_load_module("test_count", NULL);
	pt_first_on_cpu(0);
	attr = inherited((u32)pt_pmu_type("test_count"), 0);
	fd = pt_open(&attr, 0, -1, -1, 0);
	make_duel();
	for (i = 0; i < 2; i++)
		start(&p[i]);
	copies_are(fd, in_common(3));
	told.context_switch = 1;
	told.sample_id_all = 1;
	told.sample_type = PERF_SAMPLE_TID;
	pt_map(&ring, pt_open(&told, -1, 0, -1, 0), 64);
	pt_settle();
	/* No switch in between two looks. */
	do {
		own = own_switches();
		before = pt_module_get("test_count", "adds");
		pt_drain(&ring);
	} while (own_switches() != own);
	fight(&p[0], &p[1], 50);
	do {
		own = own_switches();
		after = pt_module_get("test_count", "adds");
		while (pt_next(&ring, &rec)) {
			if (rec.h.type != PERF_RECORD_SWITCH_CPU_WIDE ||
			    rec.h.misc & PERF_RECORD_MISC_SWITCH_OUT)
				continue;
			memcpy(&prev, rec.body, sizeof(prev));
			pt_parse_trailer(&told, &rec, &s, NULL);
			if (!is_one_of_us(s.pid, p))
				continue;
			if (is_one_of_us(prev, p))
				among_us++;
			else
				after_others++;
		}
		pt_consume(&ring);
	} while (own_switches() != own);
	pt_check(among_us >= 100, "%u switches among them", among_us);
	pt_eq(after - before, after_others);
	for (i = 0; i < 2; i++)
		stop(&p[i]);
}

static const struct pt_case cases[] = {
	{ "as_many_as_run", as_many_as_run },
	{ "siblings", siblings },
	{ "by_its_attr", by_its_attr },
	{ "by_a_map", by_a_map },
	{ "by_another_event", by_another_event },
	{ "sums", sums },
	{ "sums_of_a_group", sums_of_a_group },
	{ "sums_of_hardware", sums_of_hardware },
	{ "times", times },
	{ "switches", switches },
	{ "records", records },
	{ "switches_are_told", switches_are_told },
	{ "samples_name_their_task", samples_name_their_task },
	{ "opened_for_one", opened_for_one },
	{ "one_becomes_another_program", one_becomes_another_program },
};

int main(int argc, char **argv)
{
	pt_reexec_hook = after_exec;
	return pt_run(argc, argv, cases, PT_ARRAY_SIZE(cases));
}
