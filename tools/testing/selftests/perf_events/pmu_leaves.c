// SPDX-License-Identifier: GPL-2.0
/*
 * pmu_leaves.c - what becomes of events whose PMU leaves, with the test PMU.
 *
 * needs: smp hw
 */
#include "lib/ext.h"
#include "lib/missing_page.h"
#include "lib/session.h"
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>

/* ---- events whose PMU leaves ---- */

static void extensions_are_refused(int fd)
{
	static const unsigned long calls[] = {
		PERF_EXT_IOC_INFO, PERF_EXT_IOC_PERIODS, PERF_EXT_IOC_GET_PERIODS,
		PERF_EXT_IOC_MASKS, PERF_EXT_IOC_NOTIFY, PERF_EXT_IOC_RESTART,
		PERF_EXT_IOC_SET_INFO, PERF_EXT_IOC_SET_LEAVE,
	};
	unsigned int i;

	if (!pt_path_exists("/sys/bus/event_source/extensions"))
		return;
	for (i = 0; i < PT_ARRAY_SIZE(calls); i++) {
		u8 none[256] = {};

		pt_check(pt_ioctl(fd, calls[i], pt_addr(none)) == -ENODEV, "%lx: %s", calls[i],
			 strerror(errno));
	}
}

static void is_revoked(int fd, u64 count)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct perf_event_attr attr = faults();

	pt_eq(pt_count(fd), count);
	pt_eq(poll(&p, 1, 0), 1);
	pt_eq(p.revents, POLLERR);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), -ENODEV);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_RESET, 0), -ENODEV);
	extensions_are_refused(fd);
	pt_eq(pt_try_open(&attr, 0, -1, fd, 0), -ENODEV);
	pt_check(!pt_try_map(fd, 1, PROT_READ | PROT_WRITE) && errno == ENODEV, "mmap works");
}

static void live_events(void)
{
	struct perf_event_attr attr, sw = faults();
	int task, cpu, task_on_cpu, off, mapped;
	struct pt_ring r;

	load(NULL);
	need_revoking();
	attr = hits();
	task = pt_open(&attr, 0, -1, -1, 0);
	cpu = pt_open(&attr, -1, 0, -1, 0);
	task_on_cpu = pt_open(&attr, 0, 0, -1, 0);
	attr.disabled = 1;
	off = pt_open(&attr, 0, -1, -1, 0);
	attr.disabled = 0;
	pt_eq(pt_module_set(MODULE, "kernel_cpu", 0), 0);
	hit(3);
	close(task_on_cpu);
	attr.sample_period = 2;
	mapped = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, mapped, 8);
	hit(4);

	pt_eq(pt_module_set(MODULE, "registered", 0), 0);
	none_left();
	is_revoked(task, 7);
	is_revoked(cpu, 7);
	is_revoked(off, 0);
	is_revoked(mapped, 4);
	pt_eq(pt_module_get(MODULE, "kernel_count"), 7);
	pt_eq(pt_count_records(&r, PERF_RECORD_SAMPLE), 2);
	pt_unmap(&r);
	pt_eq(pt_module_set(MODULE, "kernel_cpu", -1), 0);

	/* The module stays until the last of them is closed. */
	close(task);
	close(cpu);
	close(off);
	pt_eq(pt_unload_module(MODULE), -EAGAIN);
	close(mapped);
	sw.disabled = 0;
	close(pt_open(&sw, 0, -1, -1, 0));
	pt_eq(pt_unload_module(MODULE), 0);
}

/* Who asks to be told of changes only is told of it, though the event has no buffer. */
static void told_of_the_change(void)
{
	struct epoll_event what = { .events = EPOLLIN | EPOLLET }, seen;
	struct perf_event_attr attr;
	int fd, changes;

	load(NULL);
	need_revoking();
	attr = hits();
	fd = pt_open(&attr, 0, -1, -1, 0);
	changes = epoll_create1(EPOLL_CLOEXEC);
	pt_need(changes >= 0, "epoll: %s", strerror(errno));
	pt_eq(epoll_ctl(changes, EPOLL_CTL_ADD, fd, &what), 0);
	pt_eq(epoll_wait(changes, &seen, 1, 0), 1);
	pt_eq(seen.events, EPOLLHUP);
	pt_eq(epoll_wait(changes, &seen, 1, 0), 0);
	pt_eq(pt_module_set(MODULE, "registered", 0), 0);
	pt_eq(epoll_wait(changes, &seen, 1, 0), 1);
	pt_eq(seen.events, EPOLLERR);
}

/* Other members of its groups go on, as leaders if they have to. */
static void groups(void)
{
	struct perf_event_attr attr, sw = faults(), clock = pt_attr(PT_SW(CPU_CLOCK));
	int lead, member, hw_lead, sw_member, clock_lead, ticks;
	u64 before;

	load(NULL);
	need_revoking();
	attr = hits();
	lead = pt_open(&sw, 0, -1, -1, 0);
	member = pt_open(&attr, 0, -1, lead, 0);
	hw_lead = pt_open(&attr, 0, -1, -1, 0);
	sw_member = pt_open(&sw, 0, -1, hw_lead, 0);
	/* A clock that samples has to be scheduled, by whomever. */
	clock.sample_period = 1000000;
	clock_lead = pt_open(&clock, 0, -1, -1, 0);
	pt_open(&attr, 0, -1, clock_lead, 0);
	ticks = pt_open(&clock, 0, -1, clock_lead, 0);
	hit(5);
	pt_eq(pt_module_get(MODULE, "largest"), 2);

	pt_eq(pt_module_set(MODULE, "registered", 0), 0);
	none_left();
	is_revoked(member, 5);
	is_revoked(hw_lead, 5);
	pt_reset(lead);
	pt_reset(sw_member);
	pt_fault(20);
	pt_check(pt_count(lead) >= 20, "the leader stopped");
	pt_check(pt_count(sw_member) >= 20, "the sibling of a leader that is gone stopped");
	before = pt_count(ticks);
	pt_burn(20000000);
	pt_check(pt_count(ticks) > before, "the clock stands still");
	pt_switch_out();
	pt_burn(20000000);
	pt_check(pt_count(clock_lead) > before, "the leading clock stands still");
	close(pt_open(&sw, 0, -1, lead, 0));
	close(pt_open(&sw, 0, -1, sw_member, 0));
}

/* Read as a group, a member whose PMU has left is one of its own, whoever led it. */
static void group_of_its_own(void)
{
	const u64 format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	struct perf_event_attr attr, sw = faults();
	int lead, member, i;
	struct pt_read r;
	u64 id;

	load(NULL);
	need_revoking();
	attr = hits();
	attr.read_format = format;
	sw.read_format = format;
	lead = pt_open(&sw, 0, -1, -1, 0);
	member = pt_open(&attr, 0, -1, lead, 0);
	id = pt_id(member);
	hit(5);
	pt_eq(pt_module_set(MODULE, "registered", 0), 0);
	for (i = 0; i < 2; i++) {
		pt_read(member, format, 1, &r);
		pt_eq(r.nr, 1);
		pt_eq(r.v[0].value, 5);
		pt_eq(r.v[0].id, id);
		if (!i)
			close(lead);
	}
}

/* A group that had hardware once does not remember it. */
static void group_after_hardware(void)
{
	struct perf_event_attr attr, sw = faults();
	int lead, member, i;

	load(NULL);
	need_revoking();
	attr = hits();
	lead = pt_open(&sw, 0, -1, -1, 0);
	for (i = 0; i < 3; i++) {
		member = pt_open(&attr, 0, -1, lead, 0);
		hit(2);
		pt_eq(pt_count(member), 2);
		close(member);
		pt_eq(pt_module_set(MODULE, "registered", 0), 0);
		pt_switch_out();
		pt_reset(lead);
		pt_fault(20);
		pt_check(pt_count(lead) >= 20, "the leader stopped");
		close(pt_open(&sw, 0, -1, lead, 0));
		pt_eq(pt_module_set(MODULE, "registered", 1), 0);
	}
}

static void wait_for_end(void *arg)
{
	int *fds = arg;

	hit(10);
	pt_eq(write(fds[3], "x", 1), 1);
	pt_gate_wait(fds);
	pt_fault(20);
}

static void inherited(void)
{
	struct perf_event_attr attr, sw = faults();
	int fds[4], fd, soft;
	pid_t child;
	u64 before;
	char c;

	load(NULL);
	need_revoking();
	pt_need(!pipe(fds) && !pipe(fds + 2), "pipe: %s", strerror(errno));
	attr = hits();
	attr.inherit = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	sw.inherit = 1;
	soft = pt_open(&sw, 0, -1, fd, 0);
	hit(1);
	child = pt_fork(wait_for_end, fds);
	pt_eq(read(fds[2], &c, 1), 1);
	/* What was opened, and what the two tasks have in common. */
	pt_eq(pt_module_get(MODULE, "nr_events"), 1 + strtol(pt_fdinfo(fd, "copies"), NULL, 10));
	pt_eq(pt_module_set(MODULE, "registered", 0), 0);
	none_left();
	is_revoked(fd, 11);
	before = pt_count(soft);
	pt_gate_open(fds);
	pt_reap(child);
	is_revoked(fd, 11);
	pt_check(pt_count(soft) >= before + 20, "the child's software event is gone");
	/* Forking goes on, too. */
	pt_reap(pt_fork((void (*)(void *))pt_switch_out, NULL));
}

/* A task that has used a PMU, and is switched in and out, when it is gone and when it is back. */
static void task_outlives(void)
{
	struct perf_event_attr attr, sw = faults();
	int fd, i;

	load(NULL);
	need_revoking();
	pt_open(&sw, 0, -1, -1, 0);
	for (i = 0; i < 5; i++) {
		attr = hits();
		fd = pt_open(&attr, 0, i & 1 ? 0 : -1, -1, 0);
		pt_switch_out();
		hit(3);
		pt_eq(pt_count(fd), 3);
		if (i > 2)
			close(fd);
		pt_eq(pt_module_set(MODULE, "registered", 0), 0);
		pt_switch_out();
		close(pt_open(&sw, 0, i & 1 ? 0 : -1, -1, 0));
		pt_eq(pt_module_set(MODULE, "registered", 1), 0);
	}
}

static bool stop;
static long opened, forked;	/* with the PMU there */

static void *opens(void *arg)
{
	struct perf_event_attr attr = *(struct perf_event_attr *)arg;

	if (pt_online_cpus() > 1)
		pt_pin(1);
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		int fd = pt_try_open(&attr, 0, -1, -1, 0);
		int sibling = -1;
		u64 v;

		pt_check(fd >= 0 || fd == -ENOENT || fd == -ENODEV, "open: %s", strerror(-fd));
		if (fd < 0)
			continue;
		sibling = pt_try_open(&attr, 0, -1, fd, 0);
		pt_check(sibling >= 0 || sibling == -ENOENT || sibling == -ENODEV, "sibling: %s",
			 strerror(-sibling));
		pt_eq(read(fd, &v, sizeof(v)), sizeof(v));
		if (sibling >= 0)
			close(sibling);
		close(fd);
		__atomic_fetch_add(&opened, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void *forks(void *arg)
{
	struct perf_event_attr attr = *(struct perf_event_attr *)arg;

	attr.inherit = 1;
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		int fd = pt_try_open(&attr, 0, -1, -1, 0);
		pid_t pid;

		pt_in_child(pid)
			_exit(0);
		pt_reap(pid);
		/* One that fails when the copies have been made: there is no room for the pidfd. */
		pt_eq(syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, 0, 1, 0, 0), -1);
		pt_eq(errno, EFAULT);
		if (fd < 0)
			continue;
		close(fd);
		__atomic_fetch_add(&forked, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static bool advanced(long *count, long since)
{
	return __atomic_load_n(count, __ATOMIC_RELAXED) != since;
}

/* The PMU comes and goes while others open, inherit, read and close. */
static void races(void)
{
	struct perf_event_attr attr;
	pthread_t opener, forker;
	unsigned int i;

	load(NULL);
	need_revoking();
	attr = hits();
	pt_need(!pthread_create(&opener, NULL, opens, &attr), "no thread");
	pt_need(!pthread_create(&forker, NULL, forks, &attr), "no thread");
	for (i = 0; i < pt_turns(100); i++) {
		long opens_before, forks_before;

		pt_eq(pt_module_set(MODULE, "registered", 0), 0);
		none_left();
		opens_before = __atomic_load_n(&opened, __ATOMIC_RELAXED);
		forks_before = __atomic_load_n(&forked, __ATOMIC_RELAXED);
		pt_eq(pt_module_set(MODULE, "registered", 1), 0);
		pt_burn(1000000);
		/* Each has its turn, whomever the scheduler prefers. */
		while (!advanced(&opened, opens_before) || !advanced(&forked, forks_before))
			sched_yield();
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	pthread_join(opener, NULL);
	pthread_join(forker, NULL);
	none_left();
}

static void *closes(void *fd)
{
	close(*(int *)fd);
	return NULL;
}

/* It is gone only when what others are closing has been destroyed. */
static void while_one_is_closed(void)
{
	struct perf_event_attr attr;
	pthread_t t;
	int fd;

	load(NULL);
	need_revoking();
	attr = hits();
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(pt_module_set(MODULE, "slow", 500), 0);
	pt_need(!pthread_create(&t, NULL, closes, &fd), "no thread");
	while (!pt_module_get(MODULE, "destroying"))
		sched_yield();
	pt_eq(pt_module_set(MODULE, "registered", 0), 0);
	none_left();
	pthread_join(t, NULL);
	pt_eq(pt_module_set(MODULE, "slow", 0), 0);
	pt_eq(pt_module_set(MODULE, "registered", 1), 0);
}

/* While one is being made none has ended yet: whoever comes late is to be found with the others. */
static void while_one_is_made(void)
{
	struct perf_event_attr attr;
	struct pt_peer leaver;
	pid_t opener;
	int fd;

	load(NULL);
	need_revoking();
	attr = hits();
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(pt_module_set(MODULE, "hold_init", 1), 0);
	pt_in_child(opener)
		pt_try_open(&attr, 0, -1, -1, 0);
	while (pt_module_get(MODULE, "hold_init") != 2)
		pt_switch_out();
	pt_in_child(leaver.pid)
		pt_eq(pt_module_set(MODULE, "registered", 0), 0);
	pt_peer_asleep(&leaver);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	pt_kill(opener);
	pt_reap(leaver.pid);
	is_revoked(fd, 0);
	close(fd);
	pt_eq(pt_module_set(MODULE, "registered", 1), 0);
}

static void *leaves(void *arg)
{
	(void)arg;
	pt_eq(pt_module_set(MODULE, "registered", 0), 0);
	return NULL;
}

/* Until it has left the event can be mapped, and then no more: there is no half a mapping. */
static void mapped_while_it_leaves(void)
{
	struct perf_event_attr attr;
	struct perf_event_mmap_page *page;
	pthread_t t;
	int fd;

	load(NULL);
	need_revoking();
	attr = hits();
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_need(!pthread_create(&t, NULL, leaves, NULL), "no thread");
	while ((page = pt_try_map(fd, 1, PROT_READ | PROT_WRITE))) {
		pt_eq(page->data_offset, pt_page_size());
		munmap(page, 2 * (size_t)pt_page_size());
	}
	pt_eq(errno, ENODEV);
	pthread_join(t, NULL);
	none_left();
	close(fd);
	pt_eq(pt_module_set(MODULE, "registered", 1), 0);
}

struct late {
	int fd;
	unsigned long number;
	u8 *page;
	long ret;
};

static char late_why[64];	/* what last_error says to the one who has asked, if there is one */

static void *asks_late(void *arg)
{
	struct late *late = arg;

	late->ret = pt_ioctl(late->fd, late->number, pt_addr(late->page));
	pt_slurp("/sys/bus/event_source/last_error", late_why, sizeof(late_why));
	return NULL;
}

/* An ioctl that waits for its argument while the PMU leaves: what it returns. */
static long comes_late_to(int fd, unsigned long number, const void *page)
{
	struct missing_page m = missing_page();
	struct late late = { .fd = fd, .number = number, .page = m.page };
	pthread_t t;

	pt_need(!pthread_create(&t, NULL, asks_late, &late), "no thread");
	missing_page_wait(&m);
	pt_eq(pt_module_set(MODULE, "registered", 0), 0);
	none_left();
	missing_page_fill(&m, page);
	pthread_join(t, NULL);
	close(fd);
	missing_page_end(&m);
	pt_eq(pt_module_set(MODULE, "registered", 1), 0);
	return late.ret;
}

static long comes_late(unsigned long number, const void *page)
{
	struct perf_event_attr attr = hits();

	attr.sample_period = 2;
	return comes_late_to(pt_open(&attr, 0, -1, -1, 0), number, page);
}

/* A call that waits for its argument while the PMU leaves comes too late. */
static void argument_comes_late(void)
{
	load(NULL);
	need_revoking();
	pt_eq(comes_late(PERF_EVENT_IOC_PERIOD, pt_fresh_pages(1)), -ENODEV);
}

/* So does a list of filters, be it empty: there is no driver that could be asked about it. */
static void filters_come_late(void)
{
	load("filters=1");
	need_revoking();
	pt_eq(comes_late(PERF_EVENT_IOC_SET_FILTER, pt_fresh_pages(1)), -ENODEV);
}

/* So do those of the extensions, each with what it would do something with. */
static void struct_comes_late(void)
{
	static const unsigned long calls[] = {
		PERF_EXT_IOC_INFO, PERF_EXT_IOC_PERIODS, PERF_EXT_IOC_GET_PERIODS,
		PERF_EXT_IOC_MASKS, PERF_EXT_IOC_NOTIFY, PERF_EXT_IOC_RESTART,
		PERF_EXT_IOC_SET_TRIGGER, PERF_EXT_IOC_SET_INFO, PERF_EXT_IOC_SET_SELECT,
	};
	const struct perf_ext_set ring = { .ring = -1 };
	const struct perf_ext_format none = { .share = -1 };
	u8 *page = pt_fresh_pages(1);
	unsigned int i;

	ext_need();
	load(NULL);
	need_revoking();
	for (i = 0; i < PT_ARRAY_SIZE(calls); i++) {
		long ret = comes_late(calls[i], page);

		pt_check(ret == -ENODEV, "%lx: %ld", calls[i], ret);
	}
	pt_eq(comes_late_to(session_of_tasks(hits()), PERF_EXT_IOC_READ, page), -ENODEV);
	memcpy(page, &ring, sizeof(ring));
	pt_eq(comes_late(PERF_EXT_IOC_SET_JOIN, page), -ENODEV);
	memcpy(page, &none, sizeof(none));
	pt_eq(comes_late(PERF_EXT_IOC_FORMAT, page), -ENODEV);
}

/* ATTACH comes too late for its session, and says so. */
static void attach_comes_late(void)
{
	const struct perf_ext_target current = { .kind = PERF_EXT_TARGET_TID };
	u8 *page = pt_fresh_pages(1);
	int fd;

	ext_need();
	load(NULL);
	need_revoking();
	memcpy(page, &current, sizeof(current));
	fd = session_of_tasks(hits());
	pt_eq(comes_late_to(fd, PERF_EXT_IOC_ATTACH, page), -ENODEV);
	pt_check(!strcmp(late_why, "-19 ATTACH: the PMU has gone"), "it says \"%s\"", late_why);
}

/* The registry has the PMU yet, but nobody gets a hold of its module any more. */
static void module_is_going(void)
{
	struct perf_event_attr attr;
	char state[16] = "";
	pid_t pid;

	load(NULL);
	attr = hits();
	pt_eq(pt_module_set(MODULE, "slow", 1000), 0);
	pt_in_child(pid)
		pt_eq(pt_unload_module(MODULE), 0);
	do {
		sched_yield();
		pt_need(pt_slurp("/sys/module/" MODULE "/initstate", state, sizeof(state)),
			"it is gone");
	} while (strcmp(state, "going"));
	pt_eq(pt_try_open(&attr, 0, -1, -1, 0), -ENODEV);
	pt_reap(pid);
}

/* What the driver had for a task is given back before the PMU has gone, and once. */
static void memory_of_a_task(void)
{
	struct perf_event_attr attr;
	int fd[2], i;

	load("task_data=1");
	need_revoking();
	attr = hits();
	for (i = 0; i < 2; i++)
		fd[i] = pt_open(&attr, 0, i - 1, -1, 0);
	hit(3);
	pt_eq(pt_module_set(MODULE, "registered", 0), 0);	/* and it destroys its cache */
	for (i = 0; i < 2; i++) {
		is_revoked(fd[i], 3);
		close(fd[i]);
	}
	pt_eq(pt_module_set(MODULE, "registered", 1), 0);
}

static const struct pt_case cases[] = {
	{ "live_events", live_events },
	{ "told_of_the_change", told_of_the_change },
	{ "while_one_is_closed", while_one_is_closed },
	{ "while_one_is_made", while_one_is_made },
	{ "mapped_while_it_leaves", mapped_while_it_leaves },
	{ "argument_comes_late", argument_comes_late },
	{ "filters_come_late", filters_come_late },
	{ "struct_comes_late", struct_comes_late },
	{ "attach_comes_late", attach_comes_late },
	{ "groups", groups },
	{ "group_of_its_own", group_of_its_own },
	{ "group_after_hardware", group_after_hardware },
	{ "inherited", inherited },
	{ "task_outlives", task_outlives },
	{ "memory_of_a_task", memory_of_a_task },
	{ "module_is_going", module_is_going },
	{ "races", races },
};

PT_MAIN(cases)
