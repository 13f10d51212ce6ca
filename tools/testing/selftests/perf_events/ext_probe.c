// SPDX-License-Identifier: GPL-2.0
/*
 * ext_probe.c - how a program finds out what there is beyond Linux 6.12: every number of an ioctl
 * from 0x80 on, structs that are shorter or longer than the kernel's, the text in sysfs, and INFO,
 * which must say of each kind of event just what the calls say. And a kernel without the extensions
 * (Linux 6.12, or CONFIG_PERF_EVENTS_EXT=n), which must know nothing of them.
 */
#include "lib/ext.h"
#include <linux/hw_breakpoint.h>

#define EXTENSIONS	"/sys/bus/event_source/extensions"
#define MORE		8	/* bytes by which a struct differs from the kernel's */

/* A call of this number with a struct of another size. */
#define RESIZED(number, bytes)	_IOC(_IOC_DIR(number), _IOC_TYPE(number), _IOC_NR(number), bytes)

/* A struct of the largest, and the excess behind it. */
union any {
	struct perf_ext_info		info;
	struct perf_ext_set		set;
	struct perf_ext_masks		masks;
	struct perf_ext_notify		notify;
	struct perf_ext_periods		periods;
	struct perf_ext_format		format;
	u8				bytes[256];
};

/*
 * All of them, and what they answer when the first event of a ring, with all that MASKS needs, is
 * asked with a struct of zeroes: of its size, and MORE bytes shorter. A struct without bytes is a
 * number that nobody knows.
 */
static const struct call {
	unsigned long	number;
	int		whole, shorter;
} calls[] = {
	{ PERF_EXT_IOC_INFO,		0,	0 },
	{ PERF_EXT_IOC_PERIODS,		0,	0 },
	{ PERF_EXT_IOC_GET_PERIODS,	0,	0 },
	{ PERF_EXT_IOC_MASKS,		0,	0 },
	{ PERF_EXT_IOC_NOTIFY,		0,	0 },
	{ PERF_EXT_IOC_RESTART,		0,	-ENOTTY },
	{ PERF_EXT_IOC_SET_TRIGGER,	0,	-ENOTTY },
	{ PERF_EXT_IOC_SET_INFO,	0,	0 },
	{ PERF_EXT_IOC_SET_SELECT,	0,	-ENOTTY },
	/* a set already; descriptor 0, and no UUID; no events; no session */
	{ PERF_EXT_IOC_SET_JOIN,	-EINVAL, -EINVAL },
	{ PERF_EXT_IOC_FORMAT,		-EINVAL, -EINVAL },
	{ PERF_EXT_IOC_CREATE,		-EINVAL, -EINVAL },
	{ PERF_EXT_IOC_ATTACH,		-EINVAL, -EINVAL },
	{ PERF_EXT_IOC_DETACH,		-EINVAL, -EINVAL },
	{ PERF_EXT_IOC_READ,		-EINVAL, -EINVAL },
};

static struct perf_event_attr sampling(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.sample_period = 1000;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_READ;
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	attr.disabled = 1;
	return attr;
}

static int open_sampling(void)
{
	struct perf_event_attr attr = sampling();

	return pt_open(&attr, 0, -1, -1, 0);
}

static bool is_known(int nr)
{
	unsigned int i;

	for (i = 0; i < PT_ARRAY_SIZE(calls); i++)
		if (_IOC_NR(calls[i].number) == (unsigned int)nr)
			return true;
	return (unsigned int)nr == _IOC_NR(PERF_EXT_IOC_SET_LEAVE);
}

/* All that a number may carry. */
static void unknown_is(int fd, int nr)
{
	static union any any;

	pt_eq(pt_ioctl(fd, _IO('$', nr), 0), -ENOTTY);
	pt_eq(pt_ioctl(fd, _IO('$', nr), pt_addr(&any)), -ENOTTY);
	pt_eq(pt_ioctl(fd, _IOW('$', nr, u64), pt_addr(&any)), -ENOTTY);
	pt_eq(pt_ioctl(fd, _IOWR('$', nr, union any), pt_addr(&any)), -ENOTTY);
	pt_eq(pt_ioctl(fd, _IOWR('$', nr, union any), 0), -ENOTTY);
}

/* ---- without the extensions ---- */

/* Linux 6.12 comes by here, and so does the kernel of scripts/config/noext.config. */
static void kernel_without(void)
{
	static const char *const files[] = {
		EXTENSIONS, "/sys/bus/event_source/formats",
		"/sys/bus/event_source/devices/virtual", "/sys/bus/event_source/devices/perf_cost",
		"/proc/sys/kernel/perf_ext_jitter_percent", "/proc/sys/kernel/perf_ext_own_tasks",
		"/proc/sys/kernel/perf_ext_buffer_kb", "/proc/sys/kernel/perf_ext_memcg",
		"/proc/sys/kernel/perf_ext_task_gid", "/proc/sys/kernel/perf_ext_cpu_gid",
		"/proc/sys/kernel/perf_ext_samples_per_tick",
	};
	static union any any;
	unsigned int i;
	int fd, nr;

	if (pt_path_exists(EXTENSIONS))
		pt_skip("the kernel has the extensions");
	for (i = 0; i < PT_ARRAY_SIZE(files); i++)
		pt_check(!pt_path_exists(files[i]), "%s exists", files[i]);
	fd = open_sampling();
	for (nr = 0x80; nr < 0x100; nr++)
		unknown_is(fd, nr);
	for (i = 0; i < PT_ARRAY_SIZE(calls); i++)
		pt_eq(pt_ioctl(fd, calls[i].number, pt_addr(&any)), -ENOTTY);
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_SET_LEAVE, 0), -ENOTTY);
}

/* ---- numbers ---- */

static void numbers(void)
{
	unsigned int unknown = 0, i;
	int fd, nr;

	ext_need();
	fd = open_sampling();
	for (i = 0; i < PT_ARRAY_SIZE(calls); i++) {
		pt_eq(pt_ioctl(fd, calls[i].number, 0), -EFAULT);
		/* Without a struct it is another number. */
		pt_eq(pt_ioctl(fd, _IO('$', _IOC_NR(calls[i].number)), 0), -ENOTTY);
	}
	/* It is in no set; and it takes no struct. */
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_SET_LEAVE, 0), -EINVAL);
	pt_eq(pt_ioctl(fd, _IOW('$', _IOC_NR(PERF_EXT_IOC_SET_LEAVE), u64), 0), -ENOTTY);
	for (nr = 0x80; nr < 0x100; nr++) {
		if (is_known(nr))
			continue;
		unknown_is(fd, nr);
		unknown++;
	}
	pt_eq(unknown, 112);
}

/* What the number says of the direction is not looked at: the size alone tells a call. */
static void directions(void)
{
	static union any any;
	int fd, dir;

	ext_need();
	fd = open_sampling();
	for (dir = 0; dir < 4; dir++)
		pt_eq(pt_ioctl(fd, _IOC((unsigned int)dir, '$', 0x80, sizeof(any.info)),
			       pt_addr(&any)), 0);
}

/* ---- sizes ---- */

/* A leader that is the only set of its ring, and to be left alone by what is asked of it. */
static int open_set(void)
{
	struct perf_ext_set join = { .ring = -1 };
	int fd = open_sampling();

	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_SET_JOIN, pt_addr(&join)), 0);
	return fd;
}

static void sizes(void)
{
	unsigned int i, size;
	union any any;
	int fd;

	ext_need();
	fd = open_set();
	for (i = 0; i < PT_ARRAY_SIZE(calls); i++) {
		const struct call *c = &calls[i];

		size = _IOC_SIZE(c->number);
		memset(&any, 0, sizeof(any));
		pt_eq(pt_ioctl(fd, c->number, pt_addr(&any)), c->whole);
		memset(&any, 0, sizeof(any));
		pt_eq(pt_ioctl(fd, RESIZED(c->number, size + MORE), pt_addr(&any)), c->whole);
		memset(&any, 0, sizeof(any));
		any.bytes[size + MORE - 1] = 1;
		pt_eq(pt_ioctl(fd, RESIZED(c->number, size + MORE), pt_addr(&any)), -E2BIG);
		memset(&any, 0, sizeof(any));
		pt_eq(pt_ioctl(fd, RESIZED(c->number, size - MORE), pt_addr(&any)), c->shorter);
	}
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_SET_LEAVE, 0), 0);
}

/* Both know the same, the answer ends where the shorter struct does. */
static void answers(void)
{
	const unsigned int size = sizeof(struct perf_ext_info);
	union any any;
	unsigned int i;
	int fd;

	ext_need();
	fd = open_set();
	memset(&any, 0xff, sizeof(any));
	pt_eq(pt_ioctl(fd, RESIZED(PERF_EXT_IOC_INFO, size - MORE), pt_addr(&any)), 0);
	pt_eq(any.info.least_period, 2);
	pt_eq(any.info.most_sets, UINT32_MAX);
	pt_eq(any.info.most_members, UINT32_MAX);
	memset(&any, 0, sizeof(any));
	pt_eq(pt_ioctl(fd, RESIZED(PERF_EXT_IOC_INFO, size + MORE), pt_addr(&any)), 0);
	pt_check(any.info.most_sets && any.info.most_members, "%u sets, %u members",
		 any.info.most_sets, any.info.most_members);
	for (i = size; i < sizeof(any); i++)
		pt_eq(any.bytes[i], 0);
}

/* What a struct lacks is 0, and so not asked for. */
static void completed(void)
{
	const unsigned int to_mask = offsetof(struct perf_ext_periods, seed) - sizeof(u64);
	struct perf_ext_periods p = { .short_period = 500, .long_every = 3, .mask = 7 };
	int fd;

	ext_need();
	fd = open_sampling();
	pt_eq(pt_ioctl(fd, RESIZED(PERF_EXT_IOC_PERIODS, to_mask), pt_addr(&p)), 0);
	memset(&p, 0xff, sizeof(p));
	p.flags = 0;
	p.set = 0;
	p.member = 0;
	p.pad = 0;
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_GET_PERIODS, pt_addr(&p)), 0);
	pt_eq(p.short_period, 500);
	pt_eq(p.long_period, 500);
	pt_eq(p.initial_period, 500);
	pt_eq(p.long_every, 0);
	pt_eq(p.mask, 0);
}

/* ---- what there is ---- */

static void names(void)
{
	static const char *const name[] = {
		"periods", "masks", "notify", "block", "sets", "formats", "sessions", "read",
	};
	char text[256], want[256] = "";
	struct perf_ext_info info = {};
	unsigned int bit;

	ext_need();
	pt_eq(pt_ioctl(open_sampling(), PERF_EXT_IOC_INFO, pt_addr(&info)), 0);
	pt_eq(info.features >> PT_ARRAY_SIZE(name), 0);
	for (bit = 0; bit < PT_ARRAY_SIZE(name); bit++) {
		if (!(info.features >> bit & 1))
			continue;
		if (*want)
			strcat(want, " ");
		strcat(want, name[bit]);
	}
	pt_need(pt_slurp(EXTENSIONS, text, sizeof(text)), "no text");
	pt_check(!strcmp(text, want), "it says %s, INFO %s", text, want);
}

/* A session gets a second set. */
static bool can_add(int fd)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	struct perf_ext_create create = {
		.attrs = pt_addr(&attr), .nr = 1, .stride = sizeof(attr),
		.flags = PERF_EXT_CREATE_ADD, .set = 1,
	};

	return !pt_ioctl(fd, PERF_EXT_IOC_CREATE, pt_addr(&create));
}

/* Each call is made, with the least that it can be asked. */
static u64 can_have(int fd, const struct perf_ext_info *info)
{
	struct perf_ext_periods periods = { .short_period = info->least_period ?: 1000 };
	struct perf_ext_notify notify = { .every = 1 };
	struct perf_ext_notify block = {
		.every = 1, .flags = PERF_EXT_NOTIFY_STOP | PERF_EXT_NOTIFY_BLOCK,
	};
	struct perf_ext_format format = { .uuid = { 1 }, .share = -1 };
	struct perf_ext_masks masks = { .record = 1 };
	struct perf_ext_set set = { .ring = -1 };
	struct perf_ext_read read = {};
	u64 can = 0;

	can |= pt_ioctl(fd, PERF_EXT_IOC_PERIODS, pt_addr(&periods)) ? 0 : PERF_EXT_PERIODS;
	can |= pt_ioctl(fd, PERF_EXT_IOC_MASKS, pt_addr(&masks)) ? 0 : PERF_EXT_MASKS;
	can |= pt_ioctl(fd, PERF_EXT_IOC_NOTIFY, pt_addr(&notify)) ? 0 : PERF_EXT_NOTIFY;
	can |= pt_ioctl(fd, PERF_EXT_IOC_NOTIFY, pt_addr(&block)) ? 0 : PERF_EXT_BLOCK;
	can |= pt_ioctl(fd, PERF_EXT_IOC_SET_JOIN, pt_addr(&set)) && !can_add(fd) ? 0 :
	       PERF_EXT_SETS;
	/* Nobody has this UUID, but the event is looked at before. */
	can |= pt_ioctl(fd, PERF_EXT_IOC_FORMAT, pt_addr(&format)) != -ENOENT ? 0 :
	       PERF_EXT_FORMATS;
	can |= pt_ioctl(fd, PERF_EXT_IOC_READ, pt_addr(&read)) != -ENOSPC ? 0 :
	       PERF_EXT_SESSIONS | PERF_EXT_READ;
	return can;
}

static void says_what_it_can(const char *what, int fd)
{
	struct perf_ext_info info = {};
	u64 can;

	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_INFO, pt_addr(&info)), 0);
	can = can_have(fd, &info);
	pt_check(info.here == can, "%s: INFO says %#llx, the calls %#llx", what,
		 (unsigned long long)info.here, (unsigned long long)can);
	pt_check(!info.least_period == !(info.here & PERF_EXT_PERIODS), "%s: periods from %llu",
		 what, (unsigned long long)info.least_period);
	pt_check(!info.most_sets == !(info.here & PERF_EXT_SETS), "%s: %u sets", what,
		 info.most_sets);
}

/* One field after the other of a sampling event of a child, and of this task. */
static void kinds_of_software(pid_t pid)
{
	static const struct {
		const char	*what;
		u64		config;
		u64		period;
		const char	*bits;		/* inherited, pinned, by frequency, exclusive */
	} kinds[] = {
		{ "samples", PERF_COUNT_SW_PAGE_FAULTS, 1000, "" },
		{ "counts", PERF_COUNT_SW_PAGE_FAULTS, 0, "" },
		{ "clock", PERF_COUNT_SW_CPU_CLOCK, 1000000, "" },
		{ "clock that counts", PERF_COUNT_SW_TASK_CLOCK, 0, "" },
		{ "dummy", PERF_COUNT_SW_DUMMY, 0, "" },
		{ "inherited", PERF_COUNT_SW_PAGE_FAULTS, 1000, "i" },
		{ "pinned", PERF_COUNT_SW_PAGE_FAULTS, 1000, "p" },
		{ "by frequency", PERF_COUNT_SW_PAGE_FAULTS, 1000, "f" },
		{ "clock by frequency", PERF_COUNT_SW_CPU_CLOCK, 1000, "f" },
		{ "exclusive", PERF_COUNT_SW_PAGE_FAULTS, 1000, "e" },
	};
	unsigned int i;
	int fd;

	for (i = 0; i < PT_ARRAY_SIZE(kinds); i++) {
		struct perf_event_attr attr = sampling();

		attr.config = kinds[i].config;
		attr.sample_period = kinds[i].period;
		attr.pinned = *kinds[i].bits == 'p';
		attr.freq = *kinds[i].bits == 'f';
		attr.exclusive = *kinds[i].bits == 'e';
		attr.inherit = *kinds[i].bits == 'i';
		/* Inherited events have no values in their samples. */
		if (attr.inherit) {
			attr.sample_type = PERF_SAMPLE_IP;
			attr.read_format = 0;
		}
		fd = pt_open(&attr, pid, -1, -1, 0);
		says_what_it_can(kinds[i].what, fd);
		close(fd);
	}
}

static void of_software(void)
{
	int gate[2];
	pid_t pid;

	ext_need();
	pt_gate_make(gate);
	pt_in_child(pid)
		pt_gate_wait(gate);
	kinds_of_software(pid);
	/* No thread of its own process is held. */
	kinds_of_software(0);
	pt_gate_open(gate);
	pt_reap(pid);
}

/* Siblings, events of a CPU, breakpoints, hardware, a session. */
static void of_others(void)
{
	struct perf_event_attr attr = sampling(), bp;
	struct perf_ext_create create = {};
	int leader;

	ext_need();
	leader = pt_open(&attr, 0, -1, -1, 0);
	attr.disabled = 0;
	says_what_it_can("sibling", pt_open(&attr, 0, -1, leader, 0));
	attr.disabled = 1;
	says_what_it_can("of a CPU", pt_open(&attr, -1, 0, -1, 0));
	says_what_it_can("of a task on a CPU", pt_open(&attr, 0, 0, -1, 0));

	bp = pt_attr(PERF_TYPE_BREAKPOINT, 0);
	bp.sample_period = 1;
	bp.bp_type = HW_BREAKPOINT_W;
	bp.bp_addr = pt_addr(&attr);
	bp.bp_len = HW_BREAKPOINT_LEN_4;
	bp.exclude_kernel = 1;
	bp.disabled = 1;
	if (!pt_probe(&bp))
		says_what_it_can("breakpoint", pt_open(&bp, 0, -1, -1, 0));

	attr.type = PERF_TYPE_HARDWARE;
	attr.config = PERF_COUNT_HW_CPU_CYCLES;
	attr.sample_period = 1000003;
	if (!pt_probe(&attr))
		says_what_it_can("cycles", pt_open(&attr, 0, -1, -1, 0));
	attr.sample_period = 0;
	if (!pt_probe(&attr))
		says_what_it_can("cycles that count", pt_open(&attr, 0, -1, -1, 0));

	attr = pt_attr(PT_SW(PAGE_FAULTS));
	create.attrs = pt_addr(&attr);
	create.nr = 1;
	says_what_it_can("session", (int)pt_ioctl(leader, PERF_EXT_IOC_CREATE, pt_addr(&create)));
}

static const struct pt_case cases[] = {
	{ "kernel_without", kernel_without },
	{ "numbers", numbers },
	{ "directions", directions },
	{ "sizes", sizes },
	{ "answers", answers },
	{ "completed", completed },
	{ "names", names },
	{ "of_software", of_software },
	{ "of_others", of_others },
};

PT_MAIN(cases)
