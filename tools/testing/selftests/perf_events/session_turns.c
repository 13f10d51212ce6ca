// SPDX-License-Identifier: GPL-2.0
/*
 * session_turns.c - which set of a session has the first turn, where its target is at work, and
 * that the last one ends there; its time; a turn whose end is asked for meanwhile. See
 * session_sets.c.
 *
 * needs: smp
 */
#include "lib/cpus.h"
#include "lib/session.h"
#include "lib/sets.h"

static volatile u64 *attached;		/* shared */

/* It does not leave its CPU. */
static void hit_when_attached(u64 n)
{
	attached[1] = 1;
	while (!attached[0])
		;
	hit(n);
}

/*
 * The first set has software events and is disabled, so the turn is that of the counters.  The
 * target is on CPU 1.
 */
static int start(struct worker *a)
{
	struct perf_event_attr attr[2];
	int fd;

	ext_need();
	need_cpus(2);
	load(NULL);
	attached = mmap(NULL, (size_t)pt_page_size(), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pt_need(attached != MAP_FAILED, "mmap: %s", strerror(errno));
	worker_start(a, 1);
	worker_do(a, hit, 1);
	attr[0] = faults();
	attr[0].disabled = 1;
	attr[1] = hits();
	fd = session_of_tasks(attr[0]);
	session_add(fd, 1, &attr[1], 1);
	return fd;
}

/* They are to count on the target's CPU at once. */
static void begins_there(void)
{
	struct worker a;
	int fd;

	fd = start(&a);
	hit(50);
	worker_tell(&a, hit_when_attached, 7);
	while (!attached[1])
		;
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	attached[0] = 1;
	worker_wait(&a);
	pt_eq(session_set_of_task(fd, a.pid, 0), 0);
	pt_eq(session_set_of_task(fd, a.pid, 1), 7);
	hit(100);
	pt_eq(session_set_of_task(fd, a.pid, 1), 7);
	worker_end(&a);
	close(fd);
	none_left();
}

/* A trigger that is set while ATTACH makes the copies is the target's, too. */
static void trigger_set_meanwhile(void)
{
	struct perf_event_attr attr = faults();
	struct worker a;
	pid_t pid;
	int fd;

	ext_need();
	load(NULL);
	worker_start(&a, 0);
	worker_do(&a, hit, 1);
	attr.sample_period = 10;
	fd = session_of_tasks(attr);
	attr = hits();
	session_add(fd, 1, &attr, 1);
	/* The copy of set 0 is there, and that of set 1 is not. */
	pt_eq(pt_module_set(MODULE, "hold_init", 1), 0);
	pt_in_child(pid)
		pt_eq(session_attach_task(fd, a.pid, 0), 0);
	while (pt_module_get(MODULE, "hold_init") != 2)
		pt_switch_out();
	pt_eq(session_trigger(fd, 0, 0, 2), 0);
	pt_eq(pt_module_set(MODULE, "hold_init", 0), 0);
	pt_reap(pid);
	worker_do(&a, session_fault, 30);
	pt_eq(session_set_of_task(fd, a.pid, 0), 20);
	worker_do(&a, hit, 3);
	pt_eq(session_set_of_task(fd, a.pid, 1), 3);
	worker_end(&a);
}

/* How long the turn was in which a target has left is told from then on, too. */
static void time_of_the_last_turn(void)
{
	static struct perf_ext_set_info before[SETS_MOST], after[SETS_MOST];
	struct perf_event_attr attr = faults();
	struct worker a;
	int fd;

	ext_need();
	worker_start(&a, 0);
	fd = session_of_tasks(attr);
	session_add(fd, 1, &attr, 1);
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	worker_do(&a, session_fault, 10);
	worker_asleep(&a);
	pt_eq(set_infos(fd, before), 2);
	pt_eq(session_detach_task(fd, a.pid), 0);
	pt_eq(set_infos(fd, after), 2);
	set_was(&after[0], 1, 0, 0);
	set_was(&after[1], 0, 0, 0);
	pt_eq(after[0].active_time, before[0].active_time);
	worker_end(&a);
}

static void hit_until_detached(u64 n)
{
	hit(n);
	attached[1] = 1;
	while (attached[0])
		;
}

/* It is taken off by another CPU while it is at work: the counters stop on its own. */
static void ends_there(void)
{
	struct worker a;
	int fd;

	fd = start(&a);
	hit(50);
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	attached[0] = 1;
	worker_tell(&a, hit_until_detached, 7);
	while (!attached[1])
		;
	pt_eq(session_detach_task(fd, a.pid), 0);
	pt_eq(pt_module_get(MODULE, "nr_added"), 0);
	attached[0] = 0;
	worker_wait(&a);
	pt_eq(session_set_left(fd, 0), 0);
	pt_eq(session_set_left(fd, 1), 7);
	worker_end(&a);
	close(fd);
	none_left();
}

static const struct pt_case cases[] = {
	{ "begins_there", begins_there },
	{ "trigger_set_meanwhile", trigger_set_meanwhile },
	{ "time_of_the_last_turn", time_of_the_last_turn },
	{ "ends_there", ends_there },
};

PT_MAIN(cases)
