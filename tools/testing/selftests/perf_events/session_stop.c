// SPDX-License-Identifier: GPL-2.0
/*
 * session_stop.c - groups of a session stop and go on as a whole, whoever stops them meanwhile: all
 * members have counted the same, always. RESTART against the next stop, ENABLE, RESTART and RESET
 * against DETACH, forks against DETACH. See session_ext.c, session_race.c.
 *
 * needs: smp
 */
#include "lib/hold.h"
#include "lib/rival.h"
#include "lib/session.h"

#define TURNS	pt_turns(50)
#define HITS	100		/* thrice */
#define MEMBERS	4		/* as many as there are counters */

static struct perf_event_attr stopping(u64 period)
{
	struct perf_event_attr attr = hits();

	attr.sample_period = period;
	return attr;
}

/* Now and then it leaves the CPU: see let_others_run(). */
static void hit_some(void)
{
	hit(1);
	hit(1);
	hit(1);
	let_others_run();
}

static void one_by_one(u64 n)
{
	while (n--)
		hit_some();
}

static struct worker w;

static void start(void)
{
	ext_need();
	load(NULL);
	pt_sysctl_set("perf_event_max_sample_rate", 10000000);
	pt_sysctl_set("perf_cpu_time_max_percent", 0);
	worker_start(&w, pt_online_cpus() > 2 ? 2 : 0);
}

/* All members of all entries; of how many events, in sum. */
static u64 all_alike(int fd, unsigned int members)
{
	static struct session_entry e[SESSION_ENTRIES];
	unsigned int i, k, nr = session_read(fd, PERF_EXT_READ_TARGETS, e);
	u64 sum = 0;

	for (i = 0; i < nr; i++) {
		pt_eq(e[i].nr, members);
		for (k = 1; k < members; k++)
			pt_eq(e[i].value[k], e[i].value[0]);
		sum += e[i].value[0];
	}
	return sum;
}

/* ---- RESTART ---- */

static long stop_at(int fd, u16 set, u16 member, u32 every)
{
	struct perf_ext_notify n = {
		.every = every, .flags = PERF_EXT_NOTIFY_STOP, .set = set, .member = member,
	};

	return pt_ioctl(fd, PERF_EXT_IOC_NOTIFY, pt_addr(&n));
}

static void say_restart(struct rival *r)
{
	pt_eq(restart(r->fd), 0);
}

/* It is hit while RESTART is said again and again; then it stands, or goes on, as a whole. */
static void restart_turns(int fd, unsigned int members)
{
	u64 count, last = 0;
	unsigned int i;
	struct rival r;

	for (i = 0; i < TURNS && !pt_failures(); i++) {
		rival_start(&r, say_restart, fd, 0);
		worker_do(&w, one_by_one, HITS);
		rival_turns(&r);
		rival_stop(&r);
		count = all_alike(fd, members);
		pt_check(count > last, "nothing is counted any more");
		last = count;
	}
	pt_msg("%llu of %u hits", (unsigned long long)last, 3 * i * HITS);
}

/* A sibling stops the group: RESTART of the leader does not undo that in part. */
static void restart_and_hits(void)
{
	struct perf_event_attr attr[3];
	int fd;

	start();
	attr[0] = hits();
	attr[1] = hits();
	attr[2] = stopping(2);
	fd = session_make(attr, 3, 0);
	pt_eq(stop_at(fd, 0, 2, 1), 0);
	pt_eq(session_attach_task(fd, w.pid, 0), 0);
	restart_turns(fd, 3);
	worker_end(&w);
}

static void hit_apart(u64 n)
{
	while (n--)
		hit(1);
}

/* Who was stopped by another one goes on with what was left of its period. */
static void restart_within_periods(void)
{
	static const u64 stops[] = { 10, 20, 25, 30, 40, 50 };
	struct perf_event_attr attr[3];
	unsigned int i;
	int fd;

	start();
	attr[0] = hits();
	attr[1] = stopping(10);
	attr[2] = stopping(25);
	fd = session_make(attr, 3, 0);
	for (i = 1; i < 3; i++)
		pt_eq(stop_at(fd, 0, (u16)i, 1), 0);
	pt_eq(session_attach_task(fd, w.pid, 0), 0);
	for (i = 0; i < PT_ARRAY_SIZE(stops); i++) {
		worker_do(&w, hit_apart, 60);
		pt_eq(all_alike(fd, 3), stops[i]);
		pt_eq(restart(fd), 0);
	}
	worker_end(&w);
}

/* Each of them stops the group, at overflows of its own. */
static void restart_and_several(void)
{
	struct perf_event_attr attr[3];
	int fd, i;

	start();
	for (i = 0; i < 3; i++)
		attr[i] = stopping((u64)i + 2);
	fd = session_make(attr, 3, 0);
	for (i = 0; i < 3; i++)
		pt_eq(stop_at(fd, 0, (u16)i, 1), 0);
	pt_eq(session_attach_task(fd, w.pid, 0), 0);
	restart_turns(fd, 3);
	worker_end(&w);
}

static void say_notify(struct rival *r)
{
	pt_eq(stop_at(r->fd, 0, 2, 1 + (u32)(r->turns & 1)), 0);
	pt_eq(restart(r->fd), 0);
}

/* NOTIFY changes what stops it, and RESTART comes from two sides. */
static void restart_and_notify(void)
{
	struct perf_event_attr attr[3];
	u64 count, last = 0;
	unsigned int i, k;
	struct rival r;
	int fd;

	start();
	attr[0] = hits();
	attr[1] = hits();
	attr[2] = stopping(2);
	fd = session_make(attr, 3, 0);
	pt_eq(stop_at(fd, 0, 2, 1), 0);
	pt_eq(session_attach_task(fd, w.pid, 0), 0);
	for (i = 0; i < TURNS && !pt_failures(); i++) {
		rival_start(&r, say_notify, fd, 0);
		worker_tell(&w, one_by_one, HITS);
		for (k = 0; k < 10; k++) {
			pt_eq(restart(fd), 0);
			let_others_run();
		}
		worker_wait(&w);
		rival_turns(&r);
		rival_stop(&r);
		count = all_alike(fd, 3);
		pt_check(count > last, "nothing is counted any more");
		last = count;
	}
	worker_end(&w);
}

/* A member whose PMU has gone stops nothing any more, and RESTART is not for it. */
static void restart_of_who_has_gone(void)
{
	struct perf_event_attr attr[2] = { faults() };
	int fd;

	start();
	need_revoking();
	attr[1] = stopping(2);
	fd = session_make(attr, 2, 0);
	pt_eq(stop_at(fd, 0, 1, 1), 0);
	pt_eq(restart(fd), 0);
	pt_eq(pt_module_set(MODULE, "registered", 0), 0);
	pt_eq(restart(fd), -EINVAL);	/* the others do not sample */
	close(fd);
	worker_end(&w);
}

/* ---- DETACH ---- */

/* A target leaves while it forks, before its copy is copied: what it forks is none. */
static void detach_during_a_fork(void)
{
	int go[2], forked[2], end[2], fd;
	struct perf_event_attr attr;
	pid_t pid, inner;

	ext_need();
	load(NULL);
	pt_gate_make(go);
	pt_gate_make(forked);
	pt_gate_make(end);
	pt_in_child(pid) {
		pt_gate_wait(go);
		pt_in_child(inner)
			pt_gate_wait(end);
		pt_gate_open(forked);
		pt_reap(inner);
	}
	attr = hits();
	attr.inherit = 1;
	pt_open(&attr, pid, -1, -1, 0);
	fd = session_of_tasks(faults());
	pt_eq(session_attach_task(fd, pid, PERF_EXT_TARGET_INHERIT), 0);
	/* The fork waits with its first copy. */
	pt_eq(pt_module_set(MODULE, "hold_init", 1), 0);
	pt_gate_open(go);
	while (pt_module_get(MODULE, "hold_init") != 2)
		pt_switch_out();
	pt_eq(session_detach_task(fd, pid), 0);
	pt_eq(pt_module_set(MODULE, "hold_init", 0), 0);
	pt_gate_wait(forked);
	pt_eq(session_targets(fd), 0);
	pt_gate_open(end);
	pt_reap(pid);
}

static int make_many(void)
{
	struct perf_event_attr attr[MEMBERS];
	int i;

	for (i = 0; i < MEMBERS; i++)
		attr[i] = i ? hits() : stopping(1000000);
	return session_make(attr, MEMBERS, 0);
}

static void say_enable(struct rival *r)
{
	pt_eq(pt_ioctl(r->fd, PERF_EVENT_IOC_ENABLE, 0), 0);
}

/* In shared memory. */
static struct {
	u64 hits;
	bool stop;
	bool reset;		/* once, by reset_when_told() */
} *shared;

static void share(void)
{
	shared = mmap(NULL, (size_t)pt_page_size(), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	pt_need(shared != MAP_FAILED, "mmap: %s", strerror(errno));
}

static bool stopped(void)
{
	return __atomic_load_n(&shared->stop, __ATOMIC_ACQUIRE);
}

static u64 hits_so_far(void)
{
	return __atomic_load_n(&shared->hits, __ATOMIC_ACQUIRE);
}

static void hit_until_stopped(u64 arg)
{
	(void)arg;
	while (!stopped()) {
		hit(1);
		__atomic_fetch_add(&shared->hits, 1, __ATOMIC_RELEASE);
		pass_turn();
	}
}

static void wait_for_hits(u64 nr)
{
	u64 since = hits_so_far();

	while (hits_so_far() < since + nr)
		pass_turn();
}

/* The target is hit all the time while it is attached and taken off. */
static void detach_turns(int fd, void (*fn)(struct rival *r))
{
	u64 count = 0;
	struct rival r;
	unsigned int i;

	worker_tell(&w, hit_until_stopped, 0);
	rival_start(&r, fn, fd, 0);
	for (i = 0; i < 4 * TURNS && !pt_failures(); i++) {
		pt_eq(session_attach_task(fd, w.pid, 0), 0);
		wait_for_hits(2 + i % 3);
		pt_eq(session_detach_task(fd, w.pid), 0);
		count = all_alike(fd, MEMBERS);
	}
	rival_turns(&r);
	rival_stop(&r);
	__atomic_store_n(&shared->stop, true, __ATOMIC_RELEASE);
	worker_wait(&w);
	pt_check(count >= i, "%llu hits in %u turns", (unsigned long long)count, i);
	pt_eq(all_alike(fd, MEMBERS), count);
	pt_msg("%llu hits, %llu turns of the rival", (unsigned long long)count,
	       (unsigned long long)r.turns);
}

static void detach_and_enable(void)
{
	int fd;

	share();
	start();
	fd = make_many();
	detach_turns(fd, say_enable);
	worker_end(&w);
}

static void detach_and_restart(void)
{
	int fd;

	share();
	start();
	fd = make_many();
	pt_eq(stop_at(fd, 0, 0, 1), 0);
	detach_turns(fd, say_restart);
	worker_end(&w);
}

/* On the CPU, where each step of DETACH and RESET has to ask for the target. */
static void run_until_stopped(u64 arg)
{
	(void)arg;
	__atomic_store_n(&shared->hits, 1, __ATOMIC_RELEASE);
	while (!stopped())
		pass_turn();
}

static bool reset_is_told(void)
{
	return __atomic_load_n(&shared->reset, __ATOMIC_ACQUIRE);
}

static void reset_when_told(struct rival *r)
{
	while (!reset_is_told()) {
		if (__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE))
			return;
		pass_turn();
	}
	pt_reset(r->fd);
	__atomic_store_n(&shared->reset, false, __ATOMIC_RELEASE);
}

/* The target has five hits, and leaves; RESET comes before that, in its middle or after it. */
static void detach_when_reset(int fd)
{
	pt_eq(session_attach_task(fd, w.pid, 0), 0);
	worker_do(&w, hit, 5);
	pt_eq(session_set_of_task(fd, w.pid, 0), 5);
	__atomic_store_n(&shared->stop, false, __ATOMIC_RELEASE);
	__atomic_store_n(&shared->hits, 0, __ATOMIC_RELEASE);
	worker_tell(&w, run_until_stopped, 0);
	while (!hits_so_far())
		pass_turn();
	__atomic_store_n(&shared->reset, true, __ATOMIC_RELEASE);
	pt_eq(session_detach_task(fd, w.pid), 0);
	while (reset_is_told())
		let_others_run();
	__atomic_store_n(&shared->stop, true, __ATOMIC_RELEASE);
	worker_wait(&w);
}

/* What two sets have counted is forgotten, wherever it is; what another session has is not. */
static void detach_and_reset(void)
{
	struct perf_event_attr attr[3];
	struct rival r;
	unsigned int i;
	int fd, other;

	if (pt_online_cpus() < 3)
		pt_skip("needs three CPUs");
	share();
	start();
	for (i = 0; i < 3; i++)
		attr[i] = stopping(1000000);
	fd = session_make(attr, 3, 0);
	session_add(fd, 1, attr, 3);
	other = session_of_tasks(hits());
	pt_eq(session_attach_task(other, w.pid, 0), 0);
	rival_start(&r, reset_when_told, fd, 0);
	for (i = 1; i <= TURNS && !pt_failures(); i++) {
		detach_when_reset(fd);
		pt_eq(session_set_left(fd, 0), 0);
		pt_eq(pt_count(other), 5 * i);
	}
	rival_stop(&r);
	worker_end(&w);
}

/* ---- forks ---- */

static void fork_until_stopped(u64 arg)
{
	(void)arg;
	while (!stopped()) {
		pid_t pid;

		pt_in_child(pid)
			hit(1);
		pt_reap(pid);
		__atomic_fetch_add(&shared->hits, 1, __ATOMIC_RELEASE);
	}
}

/*
 * A target forks while it is taken off: the child is a target that counts, or none. One that was
 * copied from what had been stopped already would never count.
 */
static void detach_and_fork(void)
{
	static struct session_entry e[SESSION_ENTRIES];
	unsigned int i, k, nr, left = 0;
	int fd;

	share();
	start();
	fd = make_many();
	worker_tell(&w, fork_until_stopped, 0);
	for (i = 0; i < 10 * TURNS && !pt_failures(); i++) {
		pt_eq(session_attach_task(fd, w.pid, PERF_EXT_TARGET_INHERIT), 0);
		if (i & 1)
			wait_for_hits(1);
		else
			let_others_run();
		pt_eq(session_detach_task(fd, w.pid), 0);
		nr = session_read(fd, PERF_EXT_READ_TARGETS, e) - 1;
		for (k = 0; k < nr; k++) {
			pt_check(e[k].state != PERF_EXT_VALUES_OFF, "turn %u: a target is off", i);
			left++;
		}
	}
	__atomic_store_n(&shared->stop, true, __ATOMIC_RELEASE);
	worker_wait(&w);
	pt_msg("%u children were targets when their parent was none", left);
	pt_eq(session_targets(fd), 0);
	all_alike(fd, MEMBERS);
	worker_end(&w);
}

/* As many sets as there can be, none of which is on: the first one has the turn. */
static void all_sets_off(void)
{
	struct perf_event_attr attr = faults();
	int fd, i;

	ext_need();
	worker_start(&w, 0);
	attr.disabled = 1;
	fd = session_of_tasks(attr);
	for (i = 1; i < 64; i++)
		session_add(fd, (u16)i, &attr, 1);
	pt_eq(session_attach_task(fd, w.pid, 0), 0);
	worker_do(&w, session_fault, 3);
	pt_eq(session_set_of_task(fd, w.pid, 0), 0);
	pt_enable(fd);
	worker_do(&w, session_fault, 5);
	pt_eq(session_set_of_task(fd, w.pid, 0), 5);
	for (i = 1; i < 64; i++)
		pt_eq(session_set_of_task(fd, w.pid, (u16)i), 0);
	worker_end(&w);
}

static const struct pt_case cases[] = {
	{ "restart_and_hits", restart_and_hits },
	{ "restart_within_periods", restart_within_periods },
	{ "restart_and_several", restart_and_several },
	{ "restart_and_notify", restart_and_notify },
	{ "restart_of_who_has_gone", restart_of_who_has_gone },
	{ "detach_and_enable", detach_and_enable },
	{ "detach_and_restart", detach_and_restart },
	{ "detach_and_reset", detach_and_reset },
	{ "detach_and_fork", detach_and_fork },
	{ "detach_during_a_fork", detach_during_a_fork },
	{ "all_sets_off", all_sets_off },
};

PT_MAIN(cases)
