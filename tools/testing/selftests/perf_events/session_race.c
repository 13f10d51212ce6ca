// SPDX-License-Identifier: GPL-2.0
/*
 * session_race.c - targets are attached and taken off while they exit, fork and execute, while CPUs
 * and PMUs go, while others do the same. Each call answers as if it had been alone, no event is
 * counted twice or forgotten, and nothing is left behind. See session.c.
 *
 * needs: smp
 */
#include "lib/cpus.h"
#include "lib/rival.h"
#include "lib/session.h"
#include "lib/sets.h"

#define ROUNDS	pt_turns(100)

static void one_of(long ret, int this, int that, int line)
{
	pt_check(!ret || ret == -this || ret == -that, "line %d: %s", line, strerror((int)-ret));
}

#define ONE_OF(ret, this, that)	one_of(ret, this, that, __LINE__)

/* A session works: it counts what a task does, once. */
static void still_works(int fd)
{
	u64 before = pt_count(fd);
	struct worker w;

	pt_eq(session_targets(fd), 0);
	worker_start(&w, 0);
	pt_eq(session_attach_task(fd, w.pid, 0), 0);
	worker_do(&w, hit, 5);
	pt_eq(session_count_of_task(fd, w.pid), 5);
	pt_eq(session_detach_task(fd, w.pid), 0);
	worker_end(&w);
	pt_eq(pt_count(fd), before + 5);
	pt_eq(pt_module_get(MODULE, "nr_added"), 0);
}

/* ---- exit ---- */

static int gate[2];

static void attach_and_exit(void)
{
	unsigned int i, attached = 0;
	u64 n = 0;
	int fd;

	ext_need();
	load(NULL);
	pt_gate_make(gate);
	fd = session_of_tasks(hits());
	for (i = 0; i < ROUNDS; i++) {
		pid_t pid;
		long ret;

		pt_in_child(pid) {
			if (pt_online_cpus() > 1)
				pt_pin(1);
			pt_gate_wait(gate);
			hit(1);
		}
		pt_gate_open(gate);
		if (i & 1)
			pt_burn(1000 * i);
		ret = session_attach_task(fd, pid, i & 2 ? PERF_EXT_TARGET_INHERIT : 0);
		ONE_OF(ret, ESRCH, ESRCH);
		attached += !ret;
		if (i & 4)
			session_detach_task(fd, pid);
		pt_reap(pid);
		pt_eq(session_targets(fd), 0);
		pt_check(pt_count(fd) <= n + 1, "counted twice");
		n = pt_count(fd);
		pt_eq(session_attach_task(fd, pid, 0), -ESRCH);
	}
	pt_msg("%u of %u attached", attached, ROUNDS);
	still_works(fd);
}

static void take_all_off(struct rival *r)
{
	pt_eq(session_detach(r->fd, PERF_EXT_TARGET_ALL, 0), 0);
}

/* Taken off by somebody else while it exits. */
static void detach_and_exit(void)
{
	struct rival r;
	unsigned int i;
	int fd;

	ext_need();
	load(NULL);
	fd = session_of_tasks(hits());
	rival_start(&r, take_all_off, fd, 0);
	for (i = 0; i < ROUNDS; i++) {
		struct worker w;

		worker_start(&w, -1);
		pt_eq(session_attach_task(fd, w.pid, i & 1 ? PERF_EXT_TARGET_INHERIT : 0), 0);
		worker_do(&w, hit, 1);
		worker_end(&w);
	}
	rival_stop(&r);
	pt_check(pt_count(fd) <= ROUNDS, "counted twice");
	still_works(fd);
}

/* ---- fork ---- */

static u64 *forked;		/* hits of children so far, in shared memory */

static void share(void)
{
	forked = mmap(NULL, (size_t)pt_page_size(), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	pt_need(forked != MAP_FAILED, "mmap: %s", strerror(errno));
}

/* So many children, one after the other, each of which hits once. */
static void fork_children(u64 n)
{
	while (n--) {
		pid_t pid;

		pt_in_child(pid)
			hit(1);
		pt_reap(pid);
		__atomic_store_n(forked, *forked + 1, __ATOMIC_RELEASE);
	}
}

/* What is counted is neither less than what was over before, nor more than what has begun since. */
static void read_forks(struct rival *r)
{
	u64 before = __atomic_load_n(forked, __ATOMIC_ACQUIRE), count, after;
	struct session_entry e;

	session_read(r->fd, 0, &e);
	count = e.value[0];
	after = __atomic_load_n(forked, __ATOMIC_ACQUIRE) + 1;
	pt_check(count >= before && count <= after, "%llu, between %llu and %llu",
		 (unsigned long long)count, (unsigned long long)before, (unsigned long long)after);
}

static void read_forks_by_target(struct rival *r)
{
	static struct session_entry e[SESSION_ENTRIES];	/* of the one rival */
	u64 before = __atomic_load_n(forked, __ATOMIC_ACQUIRE), count = 0, after;
	unsigned int i, nr;

	nr = session_read(r->fd, PERF_EXT_READ_TARGETS, e);
	for (i = 0; i < nr; i++)
		count += e[i].value[0];
	after = __atomic_load_n(forked, __ATOMIC_ACQUIRE) + 1;
	pt_check(count >= before && count <= after, "%llu, between %llu and %llu",
		 (unsigned long long)count, (unsigned long long)before, (unsigned long long)after);
}

/* Children come, count and go while they are summed up: each of them is in the sum, once. */
static void read_and_forks(void)
{
	struct worker w;
	struct rival r;
	int fd;

	ext_need();
	load(NULL);
	share();
	worker_start(&w, -1);
	fd = session_of_tasks(hits());
	pt_eq(session_attach_task(fd, w.pid, PERF_EXT_TARGET_INHERIT), 0);
	rival_start(&r, read_forks, fd, 0);
	worker_do(&w, fork_children, ROUNDS);
	rival_turns(&r);
	rival_stop(&r);
	rival_start(&r, read_forks_by_target, fd, 0);
	worker_do(&w, fork_children, ROUNDS);
	rival_turns(&r);
	rival_stop(&r);
	pt_eq(pt_count(fd), 2 * ROUNDS);
	worker_end(&w);
	still_works(fd);
}

static void attach_and_detach(struct rival *r)
{
	static struct session_entry e[SESSION_ENTRIES];		/* of the one rival */
	unsigned int i, nr;

	pt_eq(session_attach_task(r->fd, r->target, PERF_EXT_TARGET_INHERIT), 0);
	nr = session_read(r->fd, PERF_EXT_READ_TARGETS, e);
	for (i = 0; i < nr; i++)
		pt_eq(e[i].nr, 2);
	pt_eq(session_detach(r->fd, PERF_EXT_TARGET_ALL, 0), 0);
	/* No copy of a fork that was under way comes later. */
	pt_eq(session_targets(r->fd), 0);
}

/*
 * Attached and taken off, with all that it has forked, while it forks: a child has both events or
 * none.
 */
static void attach_and_fork(void)
{
	struct perf_event_attr attr[2];
	struct session_entry e;
	struct worker w;
	struct rival r;
	u64 count;
	int fd;

	ext_need();
	load(NULL);
	share();
	worker_start(&w, -1);
	attr[0] = hits();
	attr[1] = hits();
	fd = session_make(attr, 2, 0);
	rival_start(&r, attach_and_detach, fd, w.pid);
	worker_do(&w, fork_children, ROUNDS);
	rival_turns(&r);
	rival_stop(&r);
	count = pt_count(fd);
	pt_check(count <= ROUNDS, "%llu of %u children", (unsigned long long)count, ROUNDS);
	session_read(fd, 0, &e);
	pt_eq(e.value[0], count);
	pt_eq(e.value[1], count);
	worker_do(&w, fork_children, 3);
	pt_eq(pt_count(fd), count);
	worker_end(&w);
	still_works(fd);
}

/* ---- two who attach ---- */

static u64 won[2];

static void attach_it(struct rival *r)
{
	long ret = session_attach_task(r->fd, r->target, 0);

	ONE_OF(ret, EEXIST, EEXIST);
	if (ret)
		return;
	won[1]++;
	pt_eq(session_detach_task(r->fd, r->target), 0);
}

/* The same target at the same time: one is the first, and it alone can take it off. */
static void two_attach(void)
{
	struct worker w;
	struct rival r;
	unsigned int i;
	int fd;

	ext_need();
	load(NULL);
	worker_start(&w, 0);
	fd = session_of_tasks(hits());
	rival_start(&r, attach_it, fd, w.pid);
	for (i = 0; i < 10 * ROUNDS && !pt_failures(); i++) {
		long ret = session_attach_task(fd, w.pid, 0);

		ONE_OF(ret, EEXIST, EEXIST);
		pt_eq(pt_module_get(MODULE, "nr_events") <= 2, 1);
		if (ret)
			continue;
		won[0]++;
		pt_eq(session_detach_task(fd, w.pid), 0);
	}
	rival_turns(&r);
	rival_stop(&r);
	pt_check(won[0] && won[1], "one has never attached it");
	worker_end(&w);
	still_works(fd);
}

/* ---- turns ---- */

static void attach_and_select(struct rival *r)
{
	static struct perf_ext_set_info info[SETS_MOST];	/* of the one rival */
	static struct session_entry e[SESSION_ENTRIES];

	pt_eq(session_attach_task(r->fd, r->target, 0), 0);
	pt_eq(set_select(r->fd, 1), 0);
	pt_eq(session_read(r->fd, PERF_EXT_READ_TARGETS, e), 4);
	pt_eq(set_infos(r->fd, info), 2);
	pt_eq(set_select(r->fd, 0), 0);
	pt_eq(session_detach_task(r->fd, r->target), 0);
}

/* Turns end all the time while the ring comes and goes; each event is in one set at most. */
static void turns(void)
{
	struct perf_ext_set_info info[SETS_MOST];
	struct perf_event_attr attr[2];
	struct session_entry e[2];
	u64 before, done = 0;
	struct worker w;
	struct rival r;
	int fd;

	ext_need();
	load(NULL);
	worker_start(&w, 0);
	attr[0] = hits();
	attr[1] = faults();
	attr[1].sample_period = 3;
	fd = session_make(attr, 2, 0);
	attr[1].sample_period = 2;
	session_add(fd, 1, attr, 2);
	pt_eq(session_trigger(fd, 0, 1, 1), 0);
	pt_eq(session_trigger(fd, 1, 1, 1), 0);
	rival_start(&r, attach_and_select, fd, w.pid);
	while (__atomic_load_n(&r.turns, __ATOMIC_ACQUIRE) < ROUNDS && !pt_failures()) {
		worker_do(&w, session_fault, 50);
		done += 50;
		if (done % 200 == 0)
			let_others_run();
	}
	rival_stop(&r);
	pt_eq(session_read(fd, 0, e), 2);
	pt_eq(set_infos(fd, info), 2);
	pt_check(e[0].value[1] + e[1].value[1] <= done, "counted twice");
	pt_check(info[0].by_overflow * 3 <= e[0].value[1], "a turn without its events");
	pt_check(info[1].by_overflow * 2 <= e[1].value[1], "a turn without its events");
	/* And it works: three and two, and three again. */
	before = e[0].value[1];
	pt_eq(session_attach_task(fd, w.pid, 0), 0);
	worker_do(&w, session_fault, 8);
	pt_eq(session_detach_task(fd, w.pid), 0);
	session_read(fd, 0, e);
	pt_eq(e[0].value[1], before + 6);
	worker_end(&w);
	close(fd);
	none_left();
}

/* ---- ENABLE, DISABLE, RESET ---- */

static void toggle(struct rival *r)
{
	pt_eq(pt_ioctl(r->fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	pt_eq(pt_ioctl(r->fd, PERF_EVENT_IOC_ENABLE, 0), 0);
}

/* Whoever comes while the session is switched is as the others are in the end. */
static void attach_and_enable(void)
{
	struct worker w[4];
	struct rival r;
	unsigned int i, k;
	int fd;

	ext_need();
	load(NULL);
	for (i = 0; i < 4; i++)
		worker_start(&w[i], 0);
	fd = session_of_tasks(hits());
	for (i = 0; i < ROUNDS && !pt_failures(); i++) {
		u64 before = pt_count(fd);
		bool on = i & 1;

		rival_start(&r, toggle, fd, 0);
		for (k = 0; k < 4; k++)
			pt_eq(session_attach_task(fd, w[k].pid, 0), 0);
		rival_turns(&r);
		rival_stop(&r);
		if (!on)
			pt_disable(fd);
		for (k = 0; k < 4; k++)
			worker_do(&w[k], hit, 1);
		pt_eq(pt_count(fd), before + (on ? 4 : 0));
		for (k = 0; k < 4; k++)
			pt_eq(session_detach_task(fd, w[k].pid), 0);
	}
	pt_enable(fd);
	for (i = 0; i < 4; i++)
		worker_end(&w[i]);
	still_works(fd);
}

/* ---- CPUs ---- */

static void off_and_on(struct rival *r)
{
	(void)r;
	pt_eq(set_online(2, 0), 0);
	pt_eq(set_online(2, 1), 0);
}

/* All CPUs are attached, read and taken off while one of them goes and comes. */
static void attach_and_hotplug(void)
{
	struct rival r;
	unsigned int i;
	u64 before;
	int fd;

	ext_need();
	need_cpus(4);
	load(NULL);
	fd = session_of_cpus(hits());
	rival_start(&r, off_and_on, fd, 0);
	for (i = 0; i < ROUNDS && !pt_failures(); i++) {
		unsigned int n;

		before = pt_count(fd);
		pt_eq(session_attach(fd, PERF_EXT_TARGET_ALL, 0,
				     i & 1 ? PERF_EXT_TARGET_RETURN : 0), 0);
		n = session_targets(fd);
		pt_check(n == 3 || n == 4, "%u CPUs", n);
		hit_on(0, 1);
		hit_on(3, 2);
		pt_eq(pt_count(fd), before + 3);
		pt_eq(session_detach(fd, PERF_EXT_TARGET_ALL, 0), 0);
		pt_eq(session_targets(fd), 0);
	}
	rival_turns(&r);
	/* And one that stays attached. */
	pt_eq(session_attach(fd, PERF_EXT_TARGET_ALL, 0, PERF_EXT_TARGET_RETURN), 0);
	before = pt_count(fd);
	for (i = 0; i < 10 && !pt_failures(); i++) {
		hit_on(0, 1);
		hit_on(3, 2);
		rival_turns(&r);
		pt_eq(pt_count(fd), before + 3 * ((u64)i + 1));
	}
	rival_stop(&r);
	pt_eq(session_targets(fd), 4);
	hit_on(2, 5);
	pt_eq(session_count_of_cpu(fd, 2), 5);
	pt_eq(session_detach(fd, PERF_EXT_TARGET_ALL, 0), 0);
	still_works(session_of_tasks(hits()));
}

/* Closed at whatever moment a CPU returns at. */
static void close_and_hotplug(void)
{
	unsigned int i;
	struct rival r;
	int fd;

	ext_need();
	need_cpus(4);
	load(NULL);
	rival_start(&r, off_and_on, -1, 0);
	for (i = 0; i < ROUNDS && !pt_failures(); i++) {
		fd = session_of_cpus(hits());
		pt_eq(session_attach(fd, PERF_EXT_TARGET_ALL, 0, PERF_EXT_TARGET_RETURN), 0);
		if (i & 1)
			rival_turns(&r);
		hit_on(0, 1);
		pt_eq(pt_count(fd), 1);
		close(fd);
		none_left();
	}
	rival_stop(&r);
}

/* ---- the PMU ---- */

static u64 attempts;		/* to make and attach one that are over */

/*
 * Away for as long as it takes, and there until two attempts have ended: the second one has begun
 * with the PMU there.
 */
static void leave_and_return(struct rival *r)
{
	u64 since;

	pt_eq(pt_module_set(MODULE, "registered", 0), 0);
	none_left();
	pt_eq(pt_module_set(MODULE, "registered", 1), 0);
	since = __atomic_load_n(&attempts, __ATOMIC_ACQUIRE);
	while (__atomic_load_n(&attempts, __ATOMIC_ACQUIRE) < since + 2 &&
	       !__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE))
		let_others_run();
}

/* Return: it was attached. */
static bool make_and_attach(struct worker *w, bool detach)
{
	struct perf_event_attr attr[2] = { faults(), hits() };
	int fd = session_try_make(attr, 2, 0);
	long ret;

	if (fd < 0) {
		/* ENODEV: it has left meanwhile; ENOENT: there is none of that number */
		ONE_OF(fd, ENODEV, ENOENT);
		let_others_run();
		return false;
	}
	ret = session_attach_task(fd, w->pid, PERF_EXT_TARGET_INHERIT);
	ONE_OF(ret, ENODEV, ENOENT);
	if (!ret)
		pt_eq(session_targets(fd), 1);
	worker_do(w, session_fault, 1);
	if (!ret && detach)
		pt_eq(session_detach_task(fd, w->pid), 0);
	close(fd);
	return !ret;
}

/* A session is made and attached while its PMU goes and comes: what has left does not return. */
static void attach_and_unregister(void)
{
	unsigned int attached = 0;
	struct worker w;
	struct rival r;

	ext_need();
	load(NULL);
	need_revoking();
	worker_start(&w, 0);
	rival_start(&r, leave_and_return, -1, 0);
	/* At least one of each time that the PMU is there. */
	while ((attached < ROUNDS || __atomic_load_n(&r.turns, __ATOMIC_ACQUIRE) < ROUNDS / 5) &&
	       !pt_failures()) {
		attached += make_and_attach(&w, attached & 1);
		__atomic_store_n(&attempts, attempts + 1, __ATOMIC_RELEASE);
		if (attempts % 4 == 0)
			let_others_run();
	}
	rival_stop(&r);
	none_left();
	worker_end(&w);
	still_works(session_of_tasks(hits()));
}

/*
 * Nobody hits: each member has what it had, in its place, on its targets or with what has left.
 * The first and the last one count the same.
 */
static void read_in_place(struct rival *r)
{
	static struct session_entry e[SESSION_ENTRIES];		/* of the one rival */
	u64 want = (u64)r->target, sum = 0, words[8];
	unsigned int i, nr;

	pt_need(read(r->fd, words, sizeof(words)) >= 24, "read: %s", strerror(errno));
	pt_eq(words[words[0]], words[1]);
	pt_check(words[1] >= 80, "%llu of 80 faults", (unsigned long long)words[1]);
	pt_eq(session_read(r->fd, 0, e), 1);
	pt_eq(e[0].nr, 3);
	pt_eq(e[0].value[1], want);
	nr = session_read(r->fd, PERF_EXT_READ_TARGETS, e);
	for (i = 0; i < nr; i++)
		sum += e[i].value[1];
	pt_eq(sum, want);
}

/* The PMU of the member in the middle goes, target by target. */
static void read_and_unregister(void)
{
	struct perf_event_attr attr[3];
	struct worker w[8];
	unsigned int i, k;
	struct rival r;
	int fd;

	ext_need();
	load("slow=1");
	need_revoking();
	for (k = 0; k < 8; k++)
		worker_start(&w[k], (int)k % pt_online_cpus());
	for (i = 0; i < ROUNDS / 5 + 1 && !pt_failures(); i++) {
		attr[0] = faults();
		attr[0].read_format = PERF_FORMAT_GROUP;
		attr[1] = hits();
		attr[2] = faults();
		fd = session_make(attr, 3, 0);
		for (k = 0; k < 8; k++) {
			pt_eq(session_attach_task(fd, w[k].pid, 0), 0);
			worker_do(&w[k], hit, k);
			worker_do(&w[k], session_fault, 10);
		}
		rival_start(&r, read_in_place, fd, 0 + 1 + 2 + 3 + 4 + 5 + 6 + 7);
		rival_turns(&r);
		pt_eq(pt_module_set(MODULE, "registered", 0), 0);
		rival_turns(&r);
		rival_stop(&r);
		session_adds_up(fd);
		close(fd);
		none_left();
		pt_eq(pt_module_set(MODULE, "registered", 1), 0);
	}
	for (k = 0; k < 8; k++)
		worker_end(&w[k]);
}

/* ---- exec ---- */

static int after_exec(int argc, char **argv)
{
	if (argc != 2 || strcmp(argv[1], "--exec"))
		return -1;
	return pt_module_set(MODULE, "hit", 1) ? 1 : 0;
}

/* The task becomes another program while it is attached, and taken off once it has. */
static void attach_and_exec(void)
{
	struct perf_event_attr attr;
	unsigned int i;
	u64 n = 0;
	int fd;

	ext_need();
	load(NULL);
	pt_gate_make(gate);
	attr = hits();
	attr.disabled = 1;
	attr.enable_on_exec = 1;
	fd = session_of_tasks(attr);
	for (i = 0; i < ROUNDS; i++) {
		pid_t pid;
		long ret;

		pt_in_child(pid) {
			if (pt_online_cpus() > 1)
				pt_pin(1);
			pt_gate_wait(gate);
			execl("/proc/self/exe", "session_race", "--exec", NULL);
			_exit(99);
		}
		pt_gate_open(gate);
		if (i & 1)
			pt_burn(1000 * i);
		ret = session_attach_task(fd, pid, 0);
		ONE_OF(ret, ESRCH, ESRCH);
		pt_reap(pid);
		pt_check(pt_count(fd) <= n + 1, "counted twice");
		n = pt_count(fd);
	}
	pt_enable(fd);
	still_works(fd);
}

/* ---- close ---- */

static void make_attach_close(struct rival *r)
{
	int fd = session_of_tasks(hits());

	pt_eq(session_attach_task(fd, r->target, PERF_EXT_TARGET_INHERIT), 0);
	close(fd);
}

/* Sessions come and go on a task that forks, and has another one that stays. */
static void close_and_fork(void)
{
	struct worker w;
	struct rival r;
	int fd;

	ext_need();
	load(NULL);
	share();
	worker_start(&w, -1);
	fd = session_of_tasks(hits());
	pt_eq(session_attach_task(fd, w.pid, PERF_EXT_TARGET_INHERIT), 0);
	rival_start(&r, make_attach_close, -1, w.pid);
	worker_do(&w, fork_children, ROUNDS);
	rival_turns(&r);
	rival_stop(&r);
	pt_eq(pt_count(fd), ROUNDS);
	pt_eq(pt_module_get(MODULE, "nr_events"), 2);
	worker_end(&w);
	still_works(fd);
}

static const struct pt_case cases[] = {
	{ "attach_and_exit", attach_and_exit },
	{ "detach_and_exit", detach_and_exit },
	{ "read_and_forks", read_and_forks },
	{ "attach_and_fork", attach_and_fork },
	{ "two_attach", two_attach },
	{ "turns", turns },
	{ "attach_and_enable", attach_and_enable },
	{ "attach_and_hotplug", attach_and_hotplug },
	{ "close_and_hotplug", close_and_hotplug },
	{ "attach_and_unregister", attach_and_unregister },
	{ "read_and_unregister", read_and_unregister },
	{ "attach_and_exec", attach_and_exec },
	{ "close_and_fork", close_and_fork },
};

int main(int argc, char **argv)
{
	pt_reexec_hook = after_exec;
	return pt_run(argc, argv, cases, PT_ARRAY_SIZE(cases));
}
