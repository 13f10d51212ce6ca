// SPDX-License-Identifier: GPL-2.0
/*
 * ext_refused.c - why a call of the extensions was refused: the errno and the whole sentence in
 * last_error, one after the other. That nothing has changed then is in the programs of each call;
 * what sessions refuse: session_refused.c; samples that hardware makes by itself:
 * counter_refused.c.
 */
#include "lib/aux.h"
#include "lib/format.h"
#include "lib/hold.h"
#include "lib/session.h"
#include "lib/sets.h"
#include <sys/resource.h>

#define PERIOD	10

#define says(ret, sentence)	ext_says(ret, sentence)

static struct perf_event_attr sampled(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.sample_period = PERIOD;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_READ;
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	return attr;
}

static int open_one(struct perf_event_attr attr)
{
	return pt_open(&attr, 0, -1, -1, 0);
}

/* What the call says about an event that is opened for it. */
static void of_one_at(int line, struct perf_event_attr attr, long (*call)(int fd),
		      const char *sentence)
{
	int fd = open_one(attr);

	ext_says_at(line, call(fd), sentence);
	close(fd);
}

#define of_one(attr, call, sentence)	of_one_at(__LINE__, attr, call, sentence)

/* Counts only; with a frequency; inherited; whose samples tell the period. */
static struct perf_event_attr counts(void)
{
	return pt_attr(PT_SW(PAGE_FAULTS));
}

static struct perf_event_attr frequent(void)
{
	struct perf_event_attr attr = sampled();

	attr.freq = 1;
	attr.sample_freq = 100;
	return attr;
}

static struct perf_event_attr inherited(void)
{
	struct perf_event_attr attr = sampled();

	attr.inherit = 1;
	return attr;
}

static struct perf_event_attr with_period(void)
{
	struct perf_event_attr attr = sampled();

	attr.sample_type |= PERF_SAMPLE_PERIOD;
	return attr;
}

#define NO_MEMBER	"-22 set, member: there is none in this session"

/* ---- PERIODS ---- */

#define UNFIT		"-22 PERIODS: too short, too long, or not for this PMU"
#define UNKNOWN_SEED	"-22 PERIODS: mask above 2^31 - 1, or seed not below it"
#define PERIODS_PAD	"-22 PERIODS: flags, pad: not 0"

static long get_periods(int fd, struct perf_ext_periods p)
{
	return pt_ioctl(fd, PERF_EXT_IOC_GET_PERIODS, pt_addr(&p));
}

static long nines(int fd)
{
	struct perf_ext_periods p = { .short_period = 9 };

	return ext_periods(fd, &p);
}

static void say_periods(void)
{
	static const struct {
		struct perf_ext_periods p;
		const char *sentence;
	} bad[] = {
		{ { .short_period = 9 }, "" },
		{ { .short_period = 9, .mask = INT32_MAX }, "" },
		{ { .short_period = 1 }, UNFIT },
		{ { .short_period = 9, .long_period = 1 }, UNFIT },
		{ { .short_period = 9, .initial_period = 1 }, UNFIT },
		{ { .short_period = INT64_MAX, .mask = 1 }, UNFIT },
		{ { .short_period = 9, .mask = 1u << 31 }, UNKNOWN_SEED },
		{ { .short_period = 9, .seed = INT32_MAX }, UNKNOWN_SEED },
		{ { .short_period = 9, .flags = 1 }, PERIODS_PAD },
		{ { .short_period = 9, .pad = 1 }, PERIODS_PAD },
		{ { .short_period = 9, .set = 1 }, NO_MEMBER },
		{ { .short_period = 9, .member = 1 }, NO_MEMBER },
	};
	unsigned int i;
	int fd;

	ext_need();
	fd = open_one(sampled());
	for (i = 0; i < PT_ARRAY_SIZE(bad); i++) {
		struct perf_ext_periods p = bad[i].p;

		says(ext_periods(fd, &p), bad[i].sentence);
		/* Only what was done is answered, such as the seed. */
		if (*bad[i].sentence)
			pt_check(!memcmp(&p, &bad[i].p, sizeof(p)), "line %u has an answer", i);
	}
	says(get_periods(fd, (struct perf_ext_periods){ .flags = 1 }), PERIODS_PAD);
	says(get_periods(fd, (struct perf_ext_periods){ .member = 1 }), NO_MEMBER);
	of_one(counts(), nines, "-22 PERIODS: the event does not sample");
	of_one(frequent(), nines, "-22 PERIODS: a frequency chooses its periods itself");
	of_one(with_period(), nines,
	       "-95 PERIODS: the PMU cannot vary the period of this event");
}

/* ---- MASKS ---- */

static long masks_of(int fd, struct perf_ext_masks m)
{
	return pt_ioctl(fd, PERF_EXT_IOC_MASKS, pt_addr(&m));
}

static long masks_leader(int fd)
{
	return masks_of(fd, (struct perf_ext_masks){ .record = 1 });
}

static struct perf_event_attr without_group(void)
{
	struct perf_event_attr attr = sampled();

	attr.read_format = PERF_FORMAT_ID;
	return attr;
}

static void say_masks(void)
{
	static const struct {
		struct perf_ext_masks m;
		const char *sentence;
	} bad[] = {
		{ { .record = 1, .reset = 1 }, "" },
		{ { .record = 2 }, "-22 MASKS: a bit beyond the last member" },
		{ { .reset = 1ull << 63 }, "-22 MASKS: a bit beyond the last member" },
		{ { .record = 1, .flags = 1 }, "-22 MASKS: flags: not 0" },
		{ { .record = 1, .set = 1 }, NO_MEMBER },
		{ { .record = 1, .member = 1 }, NO_MEMBER },
	};
	struct perf_event_attr member = counts();
	int fd, second = -1;
	unsigned int i;

	ext_need();
	fd = open_one(sampled());
	for (i = 0; i < PT_ARRAY_SIZE(bad); i++)
		says(masks_of(fd, bad[i].m), bad[i].sentence);
	of_one(counts(), masks_leader, "-22 MASKS: the event does not sample");
	of_one(without_group(), masks_leader,
	       "-22 MASKS: need PERF_SAMPLE_READ, PERF_FORMAT_GROUP and PERF_FORMAT_ID");
	/* All 64 bits are given, and one of them to a member that has left. */
	for (i = 1; i < 65; i++) {
		int sibling = pt_open(&member, 0, -1, fd, 0);

		second = i == 1 ? sibling : second;
	}
	says(masks_of(fd, (struct perf_ext_masks){ .record = ~0ull }), "");
	close(second);
	says(masks_of(fd, (struct perf_ext_masks){ .record = 1ull << 63 }),
	     "-28 MASKS: members that left have the bits");
}

/* ---- NOTIFY, RESTART ---- */

#define NOTIFY_FLAGS	"-22 NOTIFY: unknown flags, or pad not 0"
#define BLOCK_OF_TASK	"-22 NOTIFY: BLOCK is for events of one task, without inherit and sigtrap"

static long notify_each(int fd)
{
	return notify(fd, 1, 0);
}

static long restart_all(int fd)
{
	return restart(fd);
}

static long restart_flags(int fd)
{
	struct perf_ext_restart r = { .flags = 1 };

	return pt_ioctl(fd, PERF_EXT_IOC_RESTART, pt_addr(&r));
}

/* Of a task that is there, and of one that has exited. */
static void held_by_others(void)
{
	struct perf_event_attr attr = sampled(), family = inherited();
	pid_t pid, other;
	int fd;

	pt_in_child(pid)
		pause();
	fd = pt_open(&attr, pid, -1, -1, 0);
	says(notify(fd, 1, HOLD), "");
	pt_in_child(other) {
		pt_become_nobody();
		says(notify(fd, 1, HOLD), "-13 NOTIFY: BLOCK needs the right to trace the task");
	}
	pt_reap(other);
	says(notify(pt_open(&family, pid, -1, -1, 0), 1, HOLD), BLOCK_OF_TASK);
	pt_kill(pid);
	says(notify(fd, 1, HOLD), "-3 NOTIFY: the task has exited");
}

static void say_notification(void)
{
	static const struct {
		struct perf_ext_notify n;
		const char *sentence;
	} bad[] = {
		{ { .every = 1 }, "" },
		{ { .every = 1, .flags = 4 }, NOTIFY_FLAGS },
		{ { .every = 1, .pad = 1 }, NOTIFY_FLAGS },
		{ { .every = 1, .flags = PERF_EXT_NOTIFY_BLOCK },
		  "-22 NOTIFY: BLOCK without STOP" },
		{ { .every = 1, .flags = HOLD }, "-35 NOTIFY: who is held could not say RESTART" },
		{ { .every = 1, .set = 1 }, NO_MEMBER },
		{ { .every = 1, .member = 1 }, NO_MEMBER },
	};
	struct perf_event_attr attr = sampled();
	unsigned int i;
	int fd;

	ext_need();
	fd = open_one(attr);
	for (i = 0; i < PT_ARRAY_SIZE(bad); i++) {
		struct perf_ext_notify n = bad[i].n;

		says(pt_ioctl(fd, PERF_EXT_IOC_NOTIFY, pt_addr(&n)), bad[i].sentence);
	}
	/* That its periods cannot vary is nothing to a notification. */
	of_one(with_period(), notify_each, "");
	of_one(counts(), notify_each, "-22 NOTIFY: the event does not sample");
	says(notify(pt_open(&attr, -1, 0, -1, 0), 1, HOLD), BLOCK_OF_TASK);
	says(notify(pt_open(&attr, 2, -1, -1, 0), 1, HOLD),	/* kthreadd */
	     "-95 NOTIFY: kernel threads are not held");
	held_by_others();
	says(restart_flags(fd), "-22 RESTART: flags: not 0");
	says(restart_thread(fd, 1), "-3 RESTART: no such thread waits");
	of_one(counts(), restart_all, "-22 NOTIFY: the event does not sample");
}

/* ---- sets ---- */

#define JOIN_PAD	"-22 SET_JOIN: flags, pad: not 0"
#define JOIN_NOT_FOR	"-22 SET_JOIN: not for events that are pinned, inherited or of a cgroup"
#define IN_NO_SET	"-22 SET: the event is in no set"
#define NOT_ONE_BY_ONE	"-22 SET_TRIGGER: the event does not sample, or not one by one"

static long new_ring(int fd)
{
	return set_join(fd, -1, 0);
}

static long trigger(int fd)
{
	return set_trigger(fd, 1);
}

static long join_as(int fd, struct perf_ext_set s)
{
	return pt_ioctl(fd, PERF_EXT_IOC_SET_JOIN, pt_addr(&s));
}

static long select_padded(int fd)
{
	struct perf_ext_set_select s = { .pad = { 0, 1 } };

	return pt_ioctl(fd, PERF_EXT_IOC_SET_SELECT, pt_addr(&s));
}

static long sets_info(int fd, u32 stride)
{
	struct perf_ext_sets s = { .nr = 1, .stride = stride };

	return pt_ioctl(fd, PERF_EXT_IOC_SET_INFO, pt_addr(&s));
}

static struct perf_event_attr pinned(void)
{
	struct perf_event_attr attr = sampled();

	attr.pinned = 1;
	return attr;
}

static void of_another_task(int ring)
{
	struct perf_event_attr attr = sampled();
	pid_t pid;
	int fd;

	pt_in_child(pid)
		pause();
	fd = pt_open(&attr, pid, -1, -1, 0);
	says(set_join(fd, ring, 6), "-22 SET_JOIN: ring is of another task or CPU");
	pt_kill(pid);
	says(set_join(fd, -1, 6), "-3 SET_JOIN: the task has exited, or the CPU is offline");
}

static void say_sets(void)
{
	struct perf_event_attr attr = sampled();
	int first, other, member, tube[2], i;

	ext_need();
	pt_need(!pipe(tube), "pipe");
	first = open_one(attr);
	other = open_one(attr);
	member = pt_open(&attr, 0, -1, first, 0);
	says(join_as(first, (struct perf_ext_set){ .ring = -1, .flags = 1 }), JOIN_PAD);
	says(join_as(first, (struct perf_ext_set){ .ring = -1, .pad = { 1 } }), JOIN_PAD);
	says(set_join(first, 999, 0), "-9 SET_JOIN: ring: not open");
	says(set_join(first, tube[0], 0), "-22 SET_JOIN: ring is not an event");
	says(set_join(first, other, 0), "-22 SET_JOIN: ring is not a set");
	says(set_join(member, -1, 0), "-22 SET_JOIN: the event does not lead its group");
	of_one(pinned(), new_ring, JOIN_NOT_FOR);
	of_one(inherited(), new_ring, JOIN_NOT_FOR);
	says(set_join(first, -1, 5), "");
	says(set_join(first, -1, 6), "-16 SET_JOIN: it is a set already");
	says(set_join(other, first, 5), "-16 SET_JOIN: another set of the ring has this number");
	of_another_task(first);
	says(pt_ioctl(other, PERF_EXT_IOC_SET_LEAVE, 0), IN_NO_SET);
	says(set_select(other, 0), IN_NO_SET);
	says(sets_info(other, sizeof(struct perf_ext_set_info)), IN_NO_SET);
	says(sets_info(first, 8), "-22 SET_INFO: stride is not the size of a struct");
	says(select_padded(first), "-22 SET_SELECT: pad: not 0");
	says(set_select(first, 6), "-22 SET_SELECT: no set of the ring has this number");
	of_one(counts(), trigger, NOT_ONE_BY_ONE);
	of_one(inherited(), trigger, "-22 SET_TRIGGER: inherited events are in no set");
	for (i = 1; i < SETS_MOST; i++)
		says(set_join(open_one(attr), first, 100 + i), "");
	says(set_join(other, first, 6), "-28 SET_JOIN: the ring has as many sets as it can have");
}

/* A PMU that cannot share its counters in time, PERF_PMU_CAP_EXCLUSIVE. */
static void say_sets_of_a_pmu(void)
{
	struct perf_event_attr attr;
	int first, pmu;

	ext_need();
	load("caps=0x10");
	attr = hits();
	pmu = open_one(attr);
	says(set_join(pmu, -1, 0), "-95 SET_JOIN: the PMU of a member is not for sets");
	close(pmu);
	first = open_one(sampled());
	says(set_join(first, -1, 0), "");
	says(pt_try_open(&attr, 0, -1, first, 0),
	     "-95 group_fd: a set, and the PMU is not for sets");
}

/* ---- FORMAT ---- */

#define NO_FORMAT	"-22 FORMAT: arg, flags, share: without a format"

static const struct perf_ext_hist_arg by_pid = { .key = { PERF_EXT_KEY_PID }, .buckets = 64 };

static struct perf_ext_format hist_ask(const struct perf_ext_hist_arg *arg)
{
	struct perf_ext_format ask = {
		.arg = pt_addr(arg), .arg_size = sizeof(*arg), .share = -1,
	};

	memcpy(ask.uuid, hist_uuid, sizeof(ask.uuid));
	return ask;
}

static long to_hist(int fd)
{
	struct perf_ext_format ask = hist_ask(&by_pid);

	return format_ask(fd, &ask);
}

static void hist_key(int fd, u8 key, u32 buckets, const char *sentence)
{
	const struct perf_ext_hist_arg arg = { .key = { key }, .buckets = buckets };
	struct perf_ext_format ask = hist_ask(&arg);

	says(format_ask(fd, &ask), sentence);
}

static void say_format(void)
{
	static const u8 pfm_uuid[16] = PERF_EXT_FORMAT_PFM;
	const struct perf_ext_pfm_arg huge = { .bytes = 1ull << 63 };
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	struct perf_ext_format ask;
	struct pt_area a;
	int fd, tube[2];

	ext_need();
	pt_need(!pipe(tube), "pipe");
	fd = open_one(sampled());
#define HIST(change, sentence)				\
	do {						\
		ask = hist_ask(&by_pid);		\
		change;					\
		says(format_ask(fd, &ask), sentence);	\
	} while (0)
	HIST(ask.uuid[0] ^= 1, "-2 FORMAT: no format has this UUID");
	HIST(ask.flags = 2, "-22 FORMAT: unknown flags");
	HIST(ask.member = 1, NO_MEMBER);
	HIST(memset(ask.uuid, 0, 16), NO_FORMAT);
	says(format_none(fd), "-22 FORMAT: the event has none");
	hist_key(fd, 100, 64, "-22 FORMAT: arg: refused by the format");
	hist_key(fd, PERF_EXT_KEY_PERIOD_LOG2 + 1, 64, "-22 FORMAT: arg: refused by the format");
	hist_key(fd, PERF_EXT_KEY_PID, 24, "-22 FORMAT: arg: refused by the format");
	hist_key(fd, PERF_EXT_KEY_CPU, 64,
		 "-22 FORMAT: attr.sample_type has not what the format needs");
	HIST((memcpy(ask.uuid, pfm_uuid, 16), ask.arg = pt_addr(&huge),
	      ask.arg_size = sizeof(huge)), "-22 FORMAT: arg: refused by the format");
	HIST(ask.share = 999, "-9 FORMAT: share: not open");
	HIST(ask.share = tube[0], "-22 FORMAT: share is not of an area");
	of_one(counts(), to_hist, "-22 FORMAT: the event does not sample");

	format_hist(&a, fd, &by_pid);
	says(to_hist(fd), "-16 FORMAT: the event has one already");
	fd = open_one(sampled());
	says(format_share(&a, fd, pfm_uuid), "-22 FORMAT: share is of another format");
	HIST(ask.share = a.fd,
	     "-22 FORMAT: arg, flags: of no use with share");
	pt_sysctl_set("perf_event_mlock_kb", 0);
	pt_need(!setrlimit(RLIMIT_MEMLOCK, &all), "setrlimit: %s", strerror(errno));
	pt_become_nobody();
	says(to_hist(fd), "-1 FORMAT: above perf_event_mlock_kb");
	/* The smallest table that can be, and the largest. */
	hist_key(fd, PERF_EXT_KEY_PID, 8, "-1 FORMAT: above perf_event_mlock_kb");
	hist_key(fd, PERF_EXT_KEY_PID, 4, "-22 FORMAT: arg: refused by the format");
	hist_key(fd, PERF_EXT_KEY_PID, 1 << 24, "-1 FORMAT: above perf_event_mlock_kb");
	hist_key(fd, PERF_EXT_KEY_PID, 1 << 25, "-22 FORMAT: arg: refused by the format");
}

/* ---- PMUs ---- */

static void loads_periods_itself(struct perf_event_attr attr)
{
	const u64 none = PERF_EXT_PERIODS | PERF_EXT_NOTIFY | PERF_EXT_BLOCK | PERF_EXT_FORMATS;
	struct perf_ext_info info = {};
	int fd = open_one(attr);

	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_INFO, pt_addr(&info)), 0);
	pt_eq(info.least_period, 0);
	pt_eq(info.here & (none | PERF_EXT_MASKS), PERF_EXT_MASKS);
	says(nines(fd), "-95 PERIODS: the PMU cannot vary the period of this event");
	says(notify_each(fd), "-95 NOTIFY: the PMU does not stop at each overflow of this event");
	says(restart(fd), "-95 NOTIFY: the PMU does not stop at each overflow of this event");
	says(trigger(fd), NOT_ONE_BY_ONE);
	says(to_hist(fd), "-95 FORMAT: the PMU writes samples of this event by itself");
	says(masks_leader(fd), "");
}

/* It may load its periods itself, for all that the kernel knows: pmu->least_period is NULL. */
static void periods_that_cannot_vary(void)
{
	struct perf_event_attr attr = sampled();

	ext_need();
	load("varies=0");
	attr.type = hits().type;
	attr.config = hits().config;
	loads_periods_itself(attr);
}

/* To the core they are software, but they do not overflow. */
static void tracers(void)
{
	struct perf_event_attr attr = sampled(), aux;

	ext_need();
	aux_load(NULL);
	aux = aux_attr();
	attr.type = aux.type;
	attr.config = aux.config;
	loads_periods_itself(attr);
}

static void say_gone(void)
{
	static const unsigned int numbers[] = {
		PERF_EXT_IOC_INFO, PERF_EXT_IOC_PERIODS, PERF_EXT_IOC_GET_PERIODS,
		PERF_EXT_IOC_MASKS, PERF_EXT_IOC_NOTIFY, PERF_EXT_IOC_RESTART,
		PERF_EXT_IOC_SET_JOIN, PERF_EXT_IOC_SET_LEAVE, PERF_EXT_IOC_SET_TRIGGER,
		PERF_EXT_IOC_SET_INFO, PERF_EXT_IOC_SET_SELECT, PERF_EXT_IOC_FORMAT,
		PERF_EXT_IOC_CREATE, PERF_EXT_IOC_ATTACH, PERF_EXT_IOC_DETACH, PERF_EXT_IOC_READ,
	};
	static char zero[256];
	struct perf_event_attr attr;
	unsigned int i;
	int fd;

	ext_need();
	load(NULL);
	attr = hits();
	attr.sample_period = PERIOD;
	fd = open_one(attr);
	pt_eq(pt_module_set(MODULE, "registered", 0), 0);
	for (i = 0; i < PT_ARRAY_SIZE(numbers); i++)
		says(pt_ioctl(fd, numbers[i], pt_addr(zero)), "-19 ioctl: the PMU has gone");
}

#define PERIODS_GONE	"-19 PERIODS: the PMU has gone"
#define FORMAT_GONE	"-19 FORMAT: the PMU has gone"

/* The session is there, but not the PMU of its second member: nothing can be asked of that one. */
static void say_gone_member(void)
{
	struct perf_ext_periods p = { .short_period = 9, .member = 1 };
	struct perf_ext_notify n = { .every = 1, .member = 1 };
	struct perf_ext_format hist = hist_ask(&by_pid), none = { .share = -1, .member = 1 };
	struct perf_event_attr attr[2] = { counts(), sampled() };
	int fd;

	ext_need();
	load(NULL);
	attr[1].type = hits().type;
	attr[1].config = hits().config;
	fd = session_make(attr, 2, 0);
	says(ext_periods(fd, &p), "");
	pt_eq(pt_module_set(MODULE, "registered", 0), 0);
	says(ext_periods(fd, &p), PERIODS_GONE);
	p.short_period = 0;
	says(ext_periods(fd, &p), PERIODS_GONE);
	says(get_periods(fd, p), PERIODS_GONE);
	says(masks_of(fd, (struct perf_ext_masks){ .record = 1, .member = 1 }),
	     "-19 MASKS: the PMU has gone");
	says(pt_ioctl(fd, PERF_EXT_IOC_NOTIFY, pt_addr(&n)), "-19 NOTIFY: the PMU has gone");
	says(session_trigger(fd, 0, 1, 1), "-19 SET: the PMU has gone");
	hist.member = 1;
	says(format_ask(fd, &hist), FORMAT_GONE);
	says(format_ask(fd, &none), FORMAT_GONE);
}

static const struct pt_case cases[] = {
	{ "periods", say_periods },
	{ "masks", say_masks },
	{ "notification", say_notification },
	{ "sets", say_sets },
	{ "sets_of_a_pmu", say_sets_of_a_pmu },
	{ "format", say_format },
	{ "periods_that_cannot_vary", periods_that_cannot_vary },
	{ "tracers", tracers },
	{ "gone", say_gone },
	{ "gone_member", say_gone_member },
};

PT_MAIN(cases)
