// SPDX-License-Identifier: GPL-2.0
/*
 * session_ext.c - what else is asked of a session: masks, notification and formats, which all
 * targets have that there are and that come; a hundred targets that fork while it is closed; and
 * counters of CPUs, to the last instruction. See session.c.
 *
 * needs: smp hw hw-smp
 */
#include "lib/cpus.h"
#include "lib/format.h"
#include "lib/hold.h"
#include "lib/counter.h"
#include "lib/session.h"
#include "lib/sets.h"
#include <sys/resource.h>

static struct pt_record rec;
static struct pt_sample s;
static struct pt_ring ring;

/* Hits, one sample for ten of them, which show the group. */
static struct perf_event_attr grouped(u64 period)
{
	struct perf_event_attr attr = hits();

	attr.sample_period = period;
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	if (period)
		attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_READ;
	attr.watermark = 1;		/* wakes nobody */
	attr.wakeup_watermark = 1 << 20;
	return attr;
}

static u64 ids[2];

/* A leader that samples and a sibling. */
static int pair(struct perf_event_attr *attr)
{
	struct perf_event_attr attrs[2] = { *attr, grouped(0) }, dummy = pt_attr(PT_SW(DUMMY));
	struct perf_ext_create create = {
		.attrs = pt_addr(attrs), .ids = pt_addr(ids), .nr = 2, .stride = sizeof(attrs[0]),
	};
	int fd;

	fd = (int)pt_ioctl(pt_open(&dummy, 0, -1, -1, 0), PERF_EXT_IOC_CREATE, pt_addr(&create));
	pt_need(fd >= 0, "CREATE: %s", strerror(-fd));
	return fd;
}

static void one_by_one(u64 n)
{
	while (n--)
		hit(1);
}

/* In a child of the worker, whose tid it tells. */
static int tell_tid[2];

static void child_hits(u64 n)
{
	pid_t pid;

	pt_in_child(pid) {
		pid_t tid = pt_tid();

		one_by_one(n);
		pt_need(write(tell_tid[1], &tid, sizeof(tid)) == sizeof(tid), "pipe: %s",
			strerror(errno));
	}
	pt_reap(pid);
}

static pid_t child_of(struct worker *w, u64 n)
{
	pid_t tid;

	worker_do(w, child_hits, n);
	pt_need(read(tell_tid[0], &tid, sizeof(tid)) == sizeof(tid), "pipe: %s", strerror(errno));
	return tid;
}

static struct worker a, b, c;

static void start(void)
{
	ext_need();
	load(NULL);
	pt_need(!pipe(tell_tid), "pipe: %s", strerror(errno));
	pt_sysctl_set("perf_event_max_sample_rate", 10000000);
	pt_sysctl_set("perf_cpu_time_max_percent", 0);
	worker_start(&a, 0);
	worker_start(&b, 0);
	worker_start(&c, 0);
}

static void finish(void)
{
	worker_end(&a);
	worker_end(&b);
	worker_end(&c);
}

/* ---- masks ---- */

static long masks(int fd, u64 record, u64 reset)
{
	struct perf_ext_masks m = { .record = record, .reset = reset };

	return pt_ioctl(fd, PERF_EXT_IOC_MASKS, pt_addr(&m));
}

/* The next sample is of this thread; what it shows of leader and sibling, -1: nothing. */
static void shows(const struct perf_event_attr *attr, pid_t tid, s64 leader, s64 sibling)
{
	s64 want[2] = { leader, sibling };
	unsigned int i, n = 0;

	pt_need(pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE), "no sample");
	pt_parse_sample(attr, &rec, &s);
	pt_eq(s.tid, tid);
	pt_eq(s.read.nr, (leader >= 0) + (sibling >= 0));
	for (i = 0; i < 2; i++) {
		if (want[i] < 0)
			continue;
		pt_eq(s.read.v[n].id, ids[i]);
		pt_eq(s.read.v[n++].value, want[i]);
	}
}

static void with_masks(void)
{
	struct perf_event_attr attr;
	pid_t child;
	int fd, i;

	start();
	attr = grouped(10);
	fd = pair(&attr);
	pt_map(&ring, fd, 8);
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	worker_do(&a, one_by_one, 10);
	shows(&attr, a.pid, 10, 10);
	/* Of the target that there is: nothing has reset its sibling yet. */
	pt_eq(masks(fd, 2, 2), 0);
	worker_do(&a, one_by_one, 20);
	shows(&attr, a.pid, -1, 20);
	shows(&attr, a.pid, -1, 10);
	/* Of targets that come, each for itself; of what they fork. */
	pt_eq(session_attach_task(fd, b.pid, 0), 0);
	pt_eq(session_attach_task(fd, c.pid, PERF_EXT_TARGET_INHERIT), 0);
	worker_do(&b, one_by_one, 15);
	worker_do(&a, one_by_one, 10);
	worker_do(&b, one_by_one, 5);
	shows(&attr, b.pid, -1, 10);
	shows(&attr, a.pid, -1, 10);
	shows(&attr, b.pid, -1, 10);
	child = child_of(&c, 25);
	shows(&attr, child, -1, 10);
	shows(&attr, child, -1, 10);
	/* One that comes again begins anew. */
	pt_eq(session_detach_task(fd, a.pid), 0);
	worker_do(&a, one_by_one, 7);
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	worker_do(&a, one_by_one, 10);
	shows(&attr, a.pid, -1, 10);
	/* Other masks, and none, are for all of them. */
	pt_eq(masks(fd, 3, 1), 0);
	worker_do(&a, one_by_one, 10);
	worker_do(&b, one_by_one, 10);
	shows(&attr, a.pid, 20, 10);
	shows(&attr, b.pid, 30, 10);
	worker_do(&a, one_by_one, 10);
	shows(&attr, a.pid, 10, 20);
	pt_eq(masks(fd, 0, 0), 0);
	for (i = 0; i < 2; i++)
		worker_do(i ? &b : &a, one_by_one, 10);
	shows(&attr, a.pid, 40, 40);
	shows(&attr, b.pid, 40, 40);
	pt_check(!pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE), "one more sample");
	/* What is read has never been reset. */
	pt_eq(pt_count(fd), 2);
	session_adds_up(fd);
	pt_eq(session_task(fd, a.pid)->value[1], 40);
	pt_eq(session_left(fd)->value[1], 30 + 10 + 25);
	/* RESET is for the targets' counts, too. */
	pt_reset(fd);
	pt_eq(session_task(fd, a.pid)->value[1], 0);
	pt_eq(session_task(fd, b.pid)->value[1], 0);
	worker_do(&a, one_by_one, 10);
	pt_eq(session_task(fd, a.pid)->value[1], 10);
	session_adds_up(fd);
	finish();
}

/* ---- notification ---- */

static void with_notification(void)
{
	struct perf_event_attr attr;
	int fd;

	start();
	attr = grouped(10);
	fd = pair(&attr);
	pt_map(&ring, fd, 8);
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	pt_eq(notify(fd, 3, 0), 0);
	pt_eq(session_attach_task(fd, b.pid, 0), 0);
	/* Each counts its own overflows. */
	worker_do(&a, one_by_one, 29);
	worker_do(&b, one_by_one, 29);
	pt_check(!told(fd), "told too early");
	worker_do(&b, one_by_one, 1);
	pt_check(told(fd), "not told of the second target's");
	worker_do(&a, one_by_one, 1);
	pt_check(told(fd), "not told of the first target's");
	pt_eq(session_attach_task(fd, c.pid, PERF_EXT_TARGET_INHERIT), 0);
	child_of(&c, 29);
	worker_do(&c, one_by_one, 29);
	pt_check(!told(fd), "told too early");
	child_of(&c, 30);
	pt_check(told(fd), "not told of a child's");
	worker_do(&c, one_by_one, 1);
	pt_check(told(fd), "not told of the third target's");
	pt_eq(notify(fd, 0, 0), 0);
	worker_do(&a, one_by_one, 100);
	pt_check(!told(fd), "told without a notification");
	finish();
}

static u32 state_of(int fd, const struct worker *w)
{
	const struct session_entry *e = session_task(fd, w->pid);

	pt_need(e, "no target");
	return e->state;
}

/* Each target stops by itself; RESTART is for all. */
static void stops(void)
{
	struct perf_event_attr attr;
	int fd;

	start();
	attr = grouped(10);
	fd = pair(&attr);
	pt_map(&ring, fd, 8);
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	pt_eq(session_attach_task(fd, b.pid, 0), 0);
	pt_eq(notify(fd, 1, PERF_EXT_NOTIFY_STOP), 0);
	worker_do(&a, one_by_one, 100);
	pt_check(told(fd), "not told");
	pt_eq(state_of(fd, &a), PERF_EXT_VALUES_OFF);
	pt_eq(state_of(fd, &b), PERF_EXT_VALUES_ENABLED);
	worker_do(&b, one_by_one, 7);
	pt_eq(session_task(fd, a.pid)->value[1], 10);
	pt_eq(session_task(fd, b.pid)->value[1], 7);
	/* One that comes is not one of those that have stopped. */
	pt_eq(session_attach_task(fd, c.pid, 0), 0);
	worker_do(&c, one_by_one, 100);
	pt_eq(session_task(fd, c.pid)->value[0], 10);
	pt_eq(session_task(fd, c.pid)->value[1], 10);
	/* Who goes on does so with a whole period; who has not stopped, with what was left. */
	pt_eq(restart(fd), 0);
	worker_do(&a, one_by_one, 100);
	worker_do(&b, one_by_one, 100);
	worker_do(&c, one_by_one, 3);
	pt_eq(session_task(fd, a.pid)->value[1], 20);
	pt_eq(session_task(fd, b.pid)->value[1], 10);
	pt_eq(session_task(fd, c.pid)->value[1], 13);
	/* RESTART enables what is not. */
	pt_disable(fd);
	worker_do(&c, one_by_one, 3);
	pt_eq(session_task(fd, c.pid)->value[1], 13);
	pt_eq(restart(fd), 0);
	worker_do(&c, one_by_one, 100);
	worker_do(&b, one_by_one, 100);
	pt_eq(session_task(fd, b.pid)->value[1], 20);
	pt_eq(session_task(fd, c.pid)->value[1], 23);
	session_adds_up(fd);
	/* So are those that come. */
	pt_eq(session_detach_task(fd, b.pid), 0);
	pt_eq(session_attach_task(fd, b.pid, 0), 0);
	worker_do(&b, one_by_one, 100);
	pt_eq(session_task(fd, b.pid)->value[1], 10);
	finish();
}

/* ---- formats ---- */

static const struct perf_ext_hist_arg by_thread = {
	.key = { PERF_EXT_KEY_TID }, .buckets = 64,
};

static void has(const struct perf_ext_hist *h, pid_t tid, u64 samples)
{
	struct perf_ext_hist_bucket k = hist_of(h, by_thread.buckets, (u64)tid);

	pt_eq(k.samples, samples);
	pt_eq(k.events, samples * 10);
}

static void with_format(void)
{
	const struct perf_ext_hist *h;
	struct perf_event_attr attr;
	struct pt_area area;
	pid_t child;
	int fd, fe;

	start();
	attr = grouped(10);
	fd = pair(&attr);
	pt_map(&ring, fd, 8);
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	worker_do(&a, one_by_one, 10);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 1);
	format_hist(&area, fd, &by_thread);
	pt_eq(session_attach_task(fd, b.pid, 0), 0);
	pt_eq(session_attach_task(fd, c.pid, PERF_EXT_TARGET_INHERIT), 0);
	worker_do(&a, one_by_one, 30);
	worker_do(&b, one_by_one, 50);
	child = child_of(&c, 25);
	h = format_flip(&area);
	has(h, a.pid, 3);
	has(h, b.pid, 5);
	has(h, child, 2);
	pt_eq(hist_keys(h, by_thread.buckets), 3);
	pt_eq(area.head->samples, 10);
	/* Another session fills the same table. */
	fe = pair(&attr);
	pt_eq(format_share(&area, fe, hist_uuid), 0);
	pt_eq(session_attach_task(fe, b.pid, 0), 0);
	worker_do(&b, one_by_one, 10);
	h = format_flip(&area);
	has(h, b.pid, 2);
	close(fe);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 0);
	/* Records again, of all. */
	pt_eq(format_none(fd), 0);
	worker_do(&a, one_by_one, 10);
	worker_do(&b, one_by_one, 10);
	child_of(&c, 10);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 3);
	pt_eq(hist_keys(format_flip(&area), by_thread.buckets), 0);
	/* The table outlives its session. */
	pt_eq(format_share(&area, fd, hist_uuid), 0);
	worker_do(&a, one_by_one, 10);
	pt_check(!format_told(&area, POLLHUP), "POLLHUP while it may be written");
	pt_unmap(&ring);
	close(fd);
	none_left();
	worker_do(&a, one_by_one, 10);
	pt_check(format_told(&area, POLLHUP), "POLLHUP missing");
	has(format_flip(&area), a.pid, 1);
	format_close(&area);
	finish();
}

/* ---- what is refused ---- */

static u64 here(int fd)
{
	struct perf_ext_info info = {};

	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_INFO, pt_addr(&info)), 0);
	return info.here;
}

static void refused(void)
{
	const u64 all = PERF_EXT_SESSIONS | PERF_EXT_READ | PERF_EXT_SETS;
	const u64 sampling = PERF_EXT_PERIODS | PERF_EXT_NOTIFY | PERF_EXT_FORMATS;
	struct perf_ext_format f = { .share = -1, .arg = pt_addr(&by_thread),
				     .arg_size = sizeof(by_thread) };
	struct perf_ext_masks m = { .record = 1, .member = 1 };
	struct perf_ext_notify n = { .every = 1, .member = 1 };
	struct perf_event_attr attr;
	struct pt_area area;
	int fd;

	start();
	memcpy(f.uuid, hist_uuid, sizeof(f.uuid));
	/* The leader is the only member that is asked. */
	attr = grouped(10);
	fd = pair(&attr);
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	pt_eq(here(fd), all | sampling | PERF_EXT_MASKS);
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_MASKS, pt_addr(&m)), -EINVAL);
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_NOTIFY, pt_addr(&n)), -EINVAL);
	f.member = 1;
	pt_eq(format_ask(fd, &f), -EINVAL);
	f.member = 0;
	f.set = 1;
	pt_eq(format_ask(fd, &f), -EINVAL);
	f.set = 0;
	/* Members that there are not. */
	pt_eq(masks(fd, 4, 0), -EINVAL);
	pt_eq(masks(fd, 1, 1ull << 63), -EINVAL);
	/* A session holds nobody, before and after it has one target. */
	pt_eq(notify(fd, 1, HOLD), -EINVAL);
	pt_eq(notify(fd, 1, PERF_EXT_NOTIFY_BLOCK), -EINVAL);
	pt_eq(restart_thread(fd, a.pid), -ESRCH);
	format_hist(&area, fd, &by_thread);
	pt_eq(format_ask(fd, &f), -EBUSY);
	format_close(&area);
	close(fd);
	/* Samples without the group. */
	attr.sample_type = PERF_SAMPLE_TID;
	fd = pair(&attr);
	pt_eq(here(fd), all | sampling);
	pt_eq(masks(fd, 2, 2), -EINVAL);
	close(fd);
	/* No samples. */
	attr = grouped(0);
	fd = pair(&attr);
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	pt_eq(here(fd), all);
	pt_eq(masks(fd, 2, 2), -EINVAL);
	pt_eq(notify(fd, 1, 0), -EINVAL);
	pt_eq(restart(fd), -EINVAL);
	pt_eq(format_ask(fd, &f), -EINVAL);
	worker_do(&a, one_by_one, 5);
	pt_eq(session_task(fd, a.pid)->value[1], 5);
	finish();
}

/* ---- many targets ---- */

#define MANY	100

/* In shared memory: children that have come and gone, and that there shall be no more. */
static struct {
	u64 forked;
	bool stop;
} *shared;

static u64 forked(void)
{
	return __atomic_load_n(&shared->forked, __ATOMIC_ACQUIRE);
}

/*
 * Each has a pause after each child: an emulator that runs one CPU at a time stays with it until it
 * is idle, and what has exited is freed only after all CPUs have run.
 */
static void fork_and_hit(u64 arg)
{
	const struct timespec pause = { 0, 20000000 };

	(void)arg;
	while (!__atomic_load_n(&shared->stop, __ATOMIC_ACQUIRE)) {
		pid_t pid;

		pt_in_child(pid)
			hit(1);
		pt_reap(pid);
		__atomic_fetch_add(&shared->forked, 1, __ATOMIC_RELEASE);
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	}
}

static void wait_for_forks(u64 nr)
{
	while (forked() < nr)
		pt_switch_out();
}

/* Closed while all of them fork: nothing is left of it, and another session has counted all. */
static void closed_while_many_fork(void)
{
	static struct worker w[MANY];
	const unsigned int many = pt_turns(MANY);
	struct rlimit limit = { 4096, 4096 };
	u64 count, before;
	unsigned int i;
	int fd, other;

	ext_need();
	load(NULL);
	pt_need(!setrlimit(RLIMIT_NOFILE, &limit), "RLIMIT_NOFILE: %s", strerror(errno));
	shared = mmap(NULL, (size_t)pt_page_size(), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	pt_need(shared != MAP_FAILED, "mmap: %s", strerror(errno));
	/* They have no part in the descriptors. */
	for (i = 0; i < many; i++)
		worker_start(&w[i], (int)i % pt_online_cpus());
	fd = session_of_tasks(hits());
	other = session_of_tasks(hits());
	for (i = 0; i < many; i++) {
		pt_eq(session_attach_task(fd, w[i].pid, PERF_EXT_TARGET_INHERIT), 0);
		pt_eq(session_attach_task(other, w[i].pid, PERF_EXT_TARGET_INHERIT), 0);
	}
	pt_eq(pt_module_get(MODULE, "nr_events"), 2 * many + 2);
	for (i = 0; i < many; i++)
		worker_tell(&w[i], fork_and_hit, 0);
	wait_for_forks(many);
	before = forked();
	count = pt_count(fd);
	/* Each worker may have a child that is not reaped, or not told of, yet. */
	pt_check(count >= before && count <= forked() + many, "%llu of %llu",
		 (unsigned long long)count, (unsigned long long)before);
	close(fd);
	wait_for_forks(forked() + many);
	__atomic_store_n(&shared->stop, true, __ATOMIC_RELEASE);
	for (i = 0; i < many; i++)
		worker_wait(&w[i]);
	pt_eq(pt_count(other), forked());
	pt_eq(pt_module_get(MODULE, "nr_events"), many + 1);
	pt_eq(pt_module_get(MODULE, "nr_added"), 0);
	for (i = 0; i < many; i++)
		worker_end(&w[i]);
	pt_eq(pt_count(other), forked());
	pt_eq(pt_module_get(MODULE, "nr_events"), 1);
	close(other);
	none_left();
}

/* ---- CPUs ---- */

#define TURNS	500000

/* The counters of all CPUs by one descriptor; the loop runs on one of them after the other. */
static void counters_of_cpus(void)
{
	struct perf_event_attr attr;
	int fd, cpu, nr = pt_online_cpus();

	ext_need();
	attr = counter_event(0);
	fd = session_of_cpus(attr);
	pt_eq(session_attach(fd, PERF_EXT_TARGET_ALL, 0, 0), 0);
	for (cpu = 0; cpu < nr; cpu++) {
		pt_pin(cpu);
		counter_spin(fd, (u64)(cpu + 1) * TURNS);
	}
	pt_pin(0);
	for (cpu = 0; cpu < nr; cpu++)
		pt_eq(session_count_of_cpu(fd, cpu), counter_spin_cost((u64)(cpu + 1) * TURNS));
	session_adds_up(fd);
	pt_eq(session_targets(fd), nr);
	pt_eq(session_detach(fd, PERF_EXT_TARGET_ALL, 0), 0);
	pt_eq(session_count_left(fd), pt_count(fd));
}

/* And their samples: where each of them has to be. */
static void samples_of_cpus(void)
{
	struct perf_event_attr attr;
	int fd, cpu, nr = pt_online_cpus();

	ext_need();
	attr = counter_event(10007);
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CPU | PERF_SAMPLE_READ |
			   PERF_SAMPLE_PERIOD;
	fd = session_of_cpus(attr);
	pt_map(&ring, fd, 64);
	pt_eq(session_attach(fd, PERF_EXT_TARGET_ALL, 0, 0), 0);
	for (cpu = 0; cpu < nr; cpu++) {
		u64 n = 0;

		pt_pin(cpu);
		counter_spin(fd, TURNS);
		while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
			pt_parse_sample(&attr, &rec, &s);
			n += 10007;
			pt_eq(s.cpu, cpu);
			pt_eq(s.tid, pt_tid());
			pt_eq(s.period, 10007);
			pt_eq(s.read.v[0].value, n);
			pt_eq(s.ip, counter_spin_ip(TURNS, n));
			if (pt_failures() > 5)
				pt_end_case();
		}
		pt_consume(&ring);
		pt_eq(n, counter_spin_cost(TURNS) / 10007 * 10007);
	}
	pt_eq(pt_count(fd), (u64)nr * counter_spin_cost(TURNS));
}

/* How many turns ended by time is told of targets that have left, too. */
static void timeouts_of_who_has_left(void)
{
	struct perf_event_attr attr[2] = { pt_attr(PT_SW(PAGE_FAULTS)), pt_attr(PT_SW(CPU_CLOCK)) };
	static struct perf_ext_set_info there[SETS_MOST], left[SETS_MOST];
	int fd, i;

	ext_need();
	worker_start(&a, 0);
	attr[1].sample_period = 1000000;
	fd = session_make(attr, 2, 0);
	session_add(fd, 1, attr, 2);
	for (i = 0; i < 2; i++)
		pt_eq(session_trigger(fd, (u16)i, 1, 1), 0);
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	do {
		worker_do(&a, pt_burn, 10000000);
		worker_asleep(&a);
		pt_eq(set_infos(fd, there), 2);
	} while (!there[0].by_timeout || !there[1].by_timeout);
	pt_eq(session_detach_task(fd, a.pid), 0);
	pt_eq(set_infos(fd, left), 2);
	for (i = 0; i < 2; i++)
		pt_eq(left[i].by_timeout, there[i].by_timeout);
	worker_end(&a);
}

/* Tasks are in no cgroup that is a target: of each set there is one entry for all of them. */
static void sets_by_cgroup(void)
{
	static const u64 want[4] = { 3 + 4, 20, 0, 0 };	/* two sets, and what has left of them */
	static struct session_entry e[SESSION_ENTRIES];
	struct perf_event_attr attr;
	unsigned int i;
	int fd;

	start();
	attr = hits();
	fd = session_of_tasks(attr);
	session_add(fd, 1, &attr, 1);
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	pt_eq(session_attach_task(fd, b.pid, 0), 0);
	worker_do(&a, hit, 3);
	worker_do(&b, hit, 4);
	pt_eq(set_select(fd, 1), 0);
	worker_do(&a, hit, 20);
	pt_eq(session_read(fd, PERF_EXT_READ_CGROUPS, e), 4);
	for (i = 0; i < 4; i++) {
		pt_eq(e[i].set, i & 1);
		pt_eq(e[i].value[0], want[i]);
	}
	finish();
}

/* What is asked while ATTACH makes the copies is the target's, too. */
static void asked_meanwhile(void)
{
	struct perf_ext_periods p = { .short_period = 10 };
	struct perf_event_attr attr[2];
	struct worker w;
	pid_t pid;
	int fd;

	ext_need();
	load(NULL);
	worker_start(&w, 0);
	attr[0] = faults();
	attr[0].sample_period = 1000;
	attr[1] = hits();
	fd = session_make(attr, 2, 0);
	pt_map(&ring, fd, 8);
	/* That of the first member is there, and that of the second one is not. */
	pt_eq(pt_module_set(MODULE, "hold_init", 1), 0);
	pt_in_child(pid)
		pt_eq(session_attach_task(fd, w.pid, 0), 0);
	while (pt_module_get(MODULE, "hold_init") != 2)
		pt_switch_out();
	pt_eq(ext_periods(fd, &p), 0);
	pt_eq(pt_module_set(MODULE, "hold_init", 0), 0);
	pt_reap(pid);
	worker_do(&w, session_fault, 35);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 3);
	worker_end(&w);
}

static const struct pt_case cases[] = {
	{ "with_masks", with_masks },
	{ "with_notification", with_notification },
	{ "stops", stops },
	{ "with_format", with_format },
	{ "refused", refused },
	{ "closed_while_many_fork", closed_while_many_fork },
	{ "counters_of_cpus", counters_of_cpus },
	{ "samples_of_cpus", samples_of_cpus },
	{ "timeouts_of_who_has_left", timeouts_of_who_has_left },
	{ "sets_by_cgroup", sets_by_cgroup },
	{ "asked_meanwhile", asked_meanwhile },
};

PT_MAIN(cases)
