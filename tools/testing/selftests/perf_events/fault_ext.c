// SPDX-License-Identifier: GPL-2.0
/*
 * fault_ext.c - as fault.c: memory runs out in each call of the extensions that needs some, and in
 * what follows from them: copies by fork and ATTACH, periods that vary from the beginning.
 */
#include "lib/format.h"
#include "lib/hold.h"
#include "lib/inject.h"
#include "lib/session.h"
#include "lib/sets.h"

#define PERIOD	10

/* A leader, of the test PMU: its number is looked up before anything fails. */
static struct perf_event_attr sampled;

static void start(void)
{
	ext_need();
	need_injection();
	load(NULL);
	sampled = hits();
	sampled.sample_period = PERIOD;
	sampled.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_READ;
	sampled.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	sampled.disabled = 1;
}

static void nothing_left(void)
{
	pt_eq(pt_module_get(MODULE, "nr_events"), 0);
	pt_eq(pt_module_get(MODULE, "nr_added"), 0);
	while (format_areas("pfm"))
		sched_yield();
}

/* Calls about an event or a session; 0, a descriptor, or -errno. */
static long periods(int fd)
{
	struct perf_ext_periods p = { .short_period = 9, .mask = 3 };

	return ext_periods(fd, &p);
}

static long masks(int fd)
{
	struct perf_ext_masks m = { .record = 3, .reset = 2 };

	return pt_ioctl(fd, PERF_EXT_IOC_MASKS, pt_addr(&m));
}

static long stops(int fd)
{
	return notify(fd, 2, PERF_EXT_NOTIFY_STOP);
}

static long trigger(int fd)
{
	return set_trigger(fd, 2);
}

static long new_ring(int fd)
{
	return set_join(fd, -1, 0);
}

static long sets_info(int fd)
{
	static struct perf_ext_set_info infos[SETS_MOST];
	struct perf_ext_sets s = {
		.infos = pt_addr(infos), .nr = SETS_MOST, .stride = sizeof(infos[0]),
	};

	return pt_ioctl(fd, PERF_EXT_IOC_SET_INFO, pt_addr(&s));
}

static long to_pfm(int fd)
{
	const struct perf_ext_pfm_arg arg = { .bytes = 4096 };
	struct perf_ext_format ask = {
		.uuid = PERF_EXT_FORMAT_PFM, .arg = pt_addr(&arg), .arg_size = sizeof(arg),
		.share = -1,
	};

	return format_ask(fd, &ask);
}

static long set_rules(int fd)
{
	long ret = periods(fd) ?: masks(fd) ?: stops(fd);

	pt_need(!ret, "rules: %s", strerror((int)-ret));
	return ret;
}

/* What is there before, and what then is to find no memory. */
static const struct call {
	const char *name;
	long (*before)(int fd);
	long (*call)(int fd);
	u32 flags;		/* of CREATE */
} *now;

/* The call is the only thing in which memory may run out: *@left allocations before it does. */
static int ask(int fd, int *left)
{
	long ret;

	if (now->before)
		pt_eq(now->before(fd), 0);
	go_on(*left);
	ret = now->call(fd);
	*left = rest();
	if (ret > 0)
		close((int)ret);
	return ret < 0 ? (int)ret : 0;
}

/* ---- events ---- */

static int try_call(void)
{
	struct perf_event_attr attr = sampled, member = faults();
	int left = rest(), fd, sibling, err;

	fd = pt_open(&attr, 0, -1, -1, 0);
	sibling = pt_open(&member, 0, -1, fd, 0);
	err = ask(fd, &left);
	close(sibling);
	close(fd);
	go_on(left);
	return err;
}

static void each_call(const struct call *calls, unsigned int nr, int (*try)(void))
{
	unsigned int i;

	for (i = 0; i < nr && !pt_failures(); i++) {
		now = &calls[i];
		pt_msg("%s:", now->name);
		all_turns(try, nothing_left);
	}
}

static void calls(void)
{
	static const struct call all[] = {
		{ .name = "PERIODS",		.call = periods },
		{ .name = "MASKS",		.call = masks },
		{ .name = "NOTIFY",		.call = stops },
		{ .name = "SET_JOIN",		.call = new_ring },
		{ .name = "SET_TRIGGER",	.call = trigger },
		{ .name = "SET_INFO",		.call = sets_info,	.before = new_ring },
		{ .name = "FORMAT, pfm",	.call = to_pfm },
	};

	start();
	each_call(all, PT_ARRAY_SIZE(all), try_call);
}

/* If it opens, its periods vary. */
static int try_open(void)
{
	struct perf_event_attr attr = sampled;
	struct perf_ext_periods p = {};
	int fd, left;

	attr.sample_period = 1000;
	fd = pt_try_open(&attr, 0, -1, -1, 0);
	if (fd < 0)
		return fd;
	left = rest();
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_GET_PERIODS, pt_addr(&p)), 0);
	pt_eq(p.mask, 63);
	close(fd);
	go_on(left);
	return 0;
}

/* Periods that vary by themselves. */
static void jitter(void)
{
	start();
	pt_sysctl_set("perf_ext_jitter_percent", 10);
	all_turns(try_open, nothing_left);
}

static void opened_only(void)
{
	pt_eq(pt_module_get(MODULE, "nr_events"), 1);
}

/* Copies that have periods, masks and a notification of their own. */
static void copies(void)
{
	struct perf_event_attr attr, member = faults(), own = pt_attr(PT_SW(DUMMY));
	int fd;

	start();
	pt_open(&own, 0, -1, -1, 0);	/* not inherited: the child has copies of its own */
	attr = sampled;
	attr.inherit = 1;
	member.inherit = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_open(&member, 0, -1, fd, 0);
	set_rules(fd);
	all_turns(try_fork, opened_only);
}

/* ---- sessions ---- */

static long attach_self(int fd)
{
	return session_attach_task(fd, 0, 0);
}

/* If it says so, all of them are targets. */
static long attach_cpus(int fd)
{
	long ret = session_attach(fd, PERF_EXT_TARGET_ALL, 0, PERF_EXT_TARGET_RETURN);
	int left = rest();

	if (!ret)
		pt_eq(session_targets(fd), pt_online_cpus());
	go_on(left);
	return ret;
}

static long add(int fd)
{
	struct perf_event_attr attr = sampled;

	return session_try_add(fd, 7, &attr, 1);
}

static long add_and_trigger(int fd)
{
	return add(fd) ?: session_trigger(fd, 7, 0, 1);
}

/* Each member has a place where DETACH notes what is left of its period. */
static long add_and_leave(int fd)
{
	return add(fd) ?: attach_self(fd) ?: session_detach_task(fd, 0);
}

static long by_target(int fd)
{
	static u64 buf[1024];
	struct perf_ext_read r = {
		.buf = pt_addr(buf), .size = sizeof(buf), .flags = PERF_EXT_READ_TARGETS,
	};

	return pt_ioctl(fd, PERF_EXT_IOC_READ, pt_addr(&r));
}

static int try_session_call(void)
{
	struct perf_event_attr attr[2] = { sampled, faults() };
	int left = rest(), fd, err;

	fd = session_make(attr, 2, now->flags);
	err = ask(fd, &left);
	close(fd);
	go_on(left);
	return err;
}

static void session_calls(void)
{
	const u32 cpus = PERF_EXT_CREATE_CPUS;
	const struct call all[] = {
		{ .name = "PERIODS of a target",	.before = attach_self, .call = periods },
		{ .name = "MASKS of a target",		.before = attach_self, .call = masks },
		{ .name = "NOTIFY of a target",		.before = attach_self, .call = stops },
		{ .name = "SET_TRIGGER of a target",	.before = attach_self, .call = trigger },
		{ .name = "FORMAT of a target",		.before = attach_self, .call = to_pfm },
		{ .name = "READ",			.before = attach_self, .call = by_target },
		{ .name = "ADD",			.call = add },
		{ .name = "ADD to DETACH",		.call = add_and_leave },
		{ .name = "SET_INFO",			.before = add, .call = sets_info },
		{ .name = "ATTACH with rules",		.before = set_rules, .call = attach_self },
		{ .name = "ATTACH of sets",		.before = add_and_trigger,
							.call = attach_self },
		{ .name = "ATTACH with rules, CPUs",	.before = set_rules, .call = attach_cpus,
							.flags = cpus },
		{ .name = "ATTACH of sets, CPUs",	.before = add_and_trigger,
							.call = attach_cpus, .flags = cpus },
	};

	start();
	each_call(all, PT_ARRAY_SIZE(all), try_session_call);
}

static const struct pt_case cases[] = {
	{ "calls", calls },
	{ "jitter", jitter },
	{ "copies", copies },
	{ "session_calls", session_calls },
};

PT_MAIN(cases)
