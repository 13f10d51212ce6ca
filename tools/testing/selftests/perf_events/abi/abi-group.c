// SPDX-License-Identifier: GPL-2.0
/*
 * Sections about group_fd: which events may be in one group, which may send
 * their records to which buffer (PERF_EVENT_IOC_SET_OUTPUT), and what becomes
 * of a group whose leader is closed.
 */
#include "abi.h"

struct variant {
	const char *name;
	const char *source;
	u64 bits;
	int clock;		/* -1: the default one */
	int place;		/* 0 task, 1 CPU 0, 2 task on CPU 0, 3 CPU 1 */
	u64 read_format;
	u64 period;
};

static const struct variant variants[] = {
	{ "sw", "sw-page-faults", 0, -1, 0, 0, 0 },
	{ "sw-disabled", "sw-page-faults", 1, -1, 0, 0, 0 },
	{ "clock", "sw-task-clock", 0, -1, 0, 0, 0 },
	{ "cpu-clock", "sw-cpu-clock", 0, -1, 0, 0, 0 },
	{ "dummy", "sw-dummy", 0, -1, 0, 0, 0 },
	{ "tp", "tp-getppid", 0, -1, 0, 0, 0 },
	{ "bp", "bp-w8", 0, -1, 0, 0, 0 },
	{ "hw", "hw-cycles", 0, -1, 0, 0, 0 },
	{ "hw2", "hw-instructions", 0, -1, 0, 0, 0 },
	{ "hw-sampling", "hw-cycles", 0, -1, 0, 0, 100000 },
	{ "sw-cpu0", "sw-page-faults", 0, -1, 1, 0, 0 },
	{ "sw-task-cpu0", "sw-page-faults", 0, -1, 2, 0, 0 },
	{ "sw-cpu1", "sw-page-faults", 0, -1, 3, 0, 0 },
	{ "hw-cpu0", "hw-cycles", 0, -1, 1, 0, 0 },
	{ "hw-task-cpu0", "hw-cycles", 0, -1, 2, 0, 0 },
	{ "sw-inherit", "sw-page-faults", 2, -1, 0, 0, 0 },
	{ "sw-inherit-group", "sw-page-faults", 2, -1, 0, PERF_FORMAT_GROUP, 0 },
	{ "sw-group", "sw-page-faults", 0, -1, 0, PERF_FORMAT_GROUP, 0 },
	{ "sw-pinned", "sw-page-faults", 4, -1, 0, 0, 0 },
	{ "sw-exclusive", "sw-page-faults", 8, -1, 0, 0, 0 },
	{ "hw-pinned", "hw-cycles", 4, -1, 0, 0, 0 },
	{ "hw-exclusive", "hw-cycles", 8, -1, 0, 0, 0 },
	{ "sw-monotonic", "sw-page-faults", 1ull << 25, 1, 0, 0, 0 },
	{ "sw-raw-clock", "sw-page-faults", 1ull << 25, 4, 0, 0, 0 },
	{ "sw-enable-on-exec", "sw-page-faults", 1ull << 12, -1, 0, 0, 0 },
	{ "sw-inherit-thread", "sw-page-faults", 2 | 1ull << 35, -1, 0, 0, 0 },
	{ "sw-backward", "sw-page-faults", 1ull << 27, -1, 0, 0, 1 },
	{ "hw-nouser", "hw-cycles", 1ull << 4, -1, 0, 0, 0 },
};

static int variant_open(const struct variant *v, int group, unsigned long flags)
{
	static const pid_t pids[] = { 0, -1, 0, -1 };
	static const int cpus[] = { -1, 0, 0, 1 };
	const struct source *s = source_find(v->source);
	struct perf_event_attr a;

	if (s->absent)
		return -ENOENT;
	source_attr(s, &a);
	attr_set_bits(&a, v->bits);
	a.read_format = v->read_format;
	a.sample_period = v->period;
	if (v->clock >= 0)
		a.clockid = v->clock;
	return pe_open(&a, pids[v->place], cpus[v->place], group, flags);
}

static void group_matrix(void)
{
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(variants); i++) {
		struct tally *t;
		int leader = variant_open(&variants[i], -1, 0);

		if (leader < 0) {
			say(variants[i].name, "no leader: %s", res(leader));
			continue;
		}
		t = tally_new();
		for (j = 0; j < ARRAY_SIZE(variants); j++) {
			int fd = variant_open(&variants[j], leader, 0);

			tally_add(t, res(fd), "%s", variants[j].name);
			if (fd >= 0)
				close(fd);
		}
		tally_say(t, "%s,sibling", variants[i].name);
		close(leader);
	}
}

static void group_flags(void)
{
	static const unsigned long flags[] = { 1, 2, 3 };
	unsigned int i, j, f;

	for (f = 0; f < ARRAY_SIZE(flags); f++)
		for (i = 0; i < ARRAY_SIZE(variants); i++) {
			struct tally *t;
			int leader = variant_open(&variants[i], -1, 0);

			if (leader < 0)
				continue;
			t = tally_new();
			for (j = 0; j < ARRAY_SIZE(variants); j++) {
				int fd = variant_open(&variants[j], leader, flags[f]);

				tally_add(t, res(fd), "%s", variants[j].name);
				if (fd >= 0)
					close(fd);
			}
			tally_say(t, "flags=%lx,%s,other", flags[f], variants[i].name);
			close(leader);
		}
}

static void group_other_task(void)
{
	struct perf_event_attr a;
	int p[2], own, other, fd;
	pid_t pid;
	char c;

	if (pipe(p) < 0)
		die("pipe");
	pid = fork_quiet();
	if (!pid) {
		close(p[1]);
		_exit(read(p[0], &c, 1) != 0);
	}
	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	own = pe_open(&a, 0, -1, -1, 0);
	other = pe_open(&a, pid, -1, -1, 0);
	say("own-leader-other-task", "%s", res(try_open_at(&a, pid, -1, own, 0)));
	say("other-leader-own-task", "%s", res(try_open_at(&a, 0, -1, other, 0)));
	say("other-leader-other-task", "%s", res(try_open_at(&a, pid, -1, other, 0)));
	fd = pe_open(&a, pid, -1, other, 0);
	say("output-across-tasks", "%s", res(neg(ioctl(own, PERF_EVENT_IOC_SET_OUTPUT, other))));
	close(p[1]);
	close(p[0]);
	wait_child(pid);
	say("after-exit-open", "%s", res(try_open_at(&a, pid, -1, -1, 0)));
	say("after-exit-group", "%s", res(try_open_at(&a, 0, -1, other, 0)));
	close(fd);
	close(other);
	close(own);
}

static void group_shape(void)
{
	int leader = sw_open(PERF_COUNT_SW_DUMMY, 0, -1), sibling, i, n, fd;
	int fds[200];

	sibling = sw_open(PERF_COUNT_SW_DUMMY, 0, leader);
	fd = sw_open(PERF_COUNT_SW_DUMMY, 0, sibling);
	say("sibling-as-leader", "%s", res(fd));
	close(leader);
	fd = sw_open(PERF_COUNT_SW_DUMMY, 0, sibling);
	say("orphan-as-leader", "%s", res(fd));
	if (fd >= 0)
		close(fd);
	close(sibling);
	for (n = 0; n < (int)ARRAY_SIZE(fds); n++) {
		fds[n] = sw_open(PERF_COUNT_SW_DUMMY, 0, n ? fds[0] : -1);
		if (fds[n] < 0)
			break;
	}
	say("members", "%d then %s", n, n < (int)ARRAY_SIZE(fds) ? res(fds[n]) : "more");
	for (i = 0; i < n; i++)
		close(fds[i]);
	/* Long records of a group: how many members until a read no longer fits. */
	for (n = 0; n < (int)ARRAY_SIZE(fds) * 20; n++) {
		struct perf_event_attr a;

		attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
		a.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST;
		fd = pe_open(&a, 0, -1, n ? leader : -1, 0);
		if (!n)
			leader = fd;
		if (fd < 0)
			break;
	}
	say("members-with-group-read", "%d then %s", n, res(fd));
	for (i = n - 1; i >= 0; i--)
		close(leader + i);
}

static void group_hw_fit(void)
{
	const struct source *s = source_find("hw-cycles");
	static const char *const kinds[] = { "plain", "pinned", "exclusive" };
	unsigned int k;
	int fds[64], n, fd;

	for (k = 0; k < ARRAY_SIZE(kinds); k++) {
		struct perf_event_attr a;

		source_attr(s, &a);
		for (n = 0; n < (int)ARRAY_SIZE(fds); n++) {
			attr_set_bits(&a, n || !k ? 0 : 2ull << k);
			fds[n] = pe_open(&a, 0, -1, n ? fds[0] : -1, 0);
			if (fds[n] < 0)
				break;
		}
		fd = n < (int)ARRAY_SIZE(fds) ? fds[n] : 0;
		say(kinds[k], "%d then %s", n, res(fd));
		while (n--)
			close(fds[n]);
	}
}

/* ---- PERF_EVENT_IOC_SET_OUTPUT ---- */

static const char *const output_states[] = { "plain", "mapped" };

/* A fresh event for each try: attaching one again waits for a grace period. */
static long output_try(const struct variant *from, bool from_mapped, const struct variant *to,
		       bool to_mapped)
{
	int fd = variant_open(from, -1, 0), out = variant_open(to, -1, 0);
	struct ring a = { 0 }, b = { 0 };
	long ret = 1;

	if (fd >= 0 && out >= 0) {
		if (from_mapped)
			ring_map(&a, fd, 1, PROT_READ | PROT_WRITE);
		if (to_mapped)
			ring_map(&b, out, 1, PROT_READ | PROT_WRITE);
		ret = neg(ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, out));
		ring_unmap(&a);
		ring_unmap(&b);
	}
	if (fd >= 0)
		close(fd);
	if (out >= 0)
		close(out);
	return ret;
}

static void group_output(void)
{
	unsigned int i, j, from, to;

	for (from = 0; from < 2; from++)
		for (to = 0; to < 2; to++)
			for (i = 0; i < ARRAY_SIZE(variants); i++) {
				struct tally *t = tally_new();

				for (j = 0; j < ARRAY_SIZE(variants); j++) {
					long ret = output_try(&variants[i], from, &variants[j], to);

					if (ret != 1)
						tally_add(t, res(ret), "%s", variants[j].name);
				}
				tally_say(t, "%s-%s,to-%s", output_states[from], variants[i].name,
					  output_states[to]);
			}
}

/* Faults with only these counted, none of them of the reading itself. */
static void faults_with(int one, int two, int three)
{
	ioctl(one, PERF_EVENT_IOC_ENABLE, 0);
	ioctl(two, PERF_EVENT_IOC_ENABLE, 0);
	ioctl(three, PERF_EVENT_IOC_ENABLE, 0);
	make_faults(3);
	ioctl(one, PERF_EVENT_IOC_DISABLE, 0);
	ioctl(two, PERF_EVENT_IOC_DISABLE, 0);
	ioctl(three, PERF_EVENT_IOC_DISABLE, 0);
}

static void group_output_life(void)
{
	struct perf_event_attr a;
	struct ring r, second;
	int one, two, three, null;

	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	a.sample_period = 1;
	a.sample_type = PERF_SAMPLE_TID;
	attr_set_bits(&a, 1);
	one = must_open(&a);
	two = must_open(&a);
	three = must_open(&a);
	null = open("/dev/null", O_RDONLY);
	say("self", "%s", res(neg(ioctl(one, PERF_EVENT_IOC_SET_OUTPUT, one))));
	say("bad-fd", "%s", res(neg(ioctl(one, PERF_EVENT_IOC_SET_OUTPUT, 1000))));
	say("not-perf", "%s", res(neg(ioctl(one, PERF_EVENT_IOC_SET_OUTPUT, null))));
	say("minus-2", "%s", res(neg(ioctl(one, PERF_EVENT_IOC_SET_OUTPUT, -2l))));
	say("minus-1-as-u32", "%s", res(neg(ioctl(one, PERF_EVENT_IOC_SET_OUTPUT, 0xfffffffful))));
	say("none", "%s", res(neg(ioctl(one, PERF_EVENT_IOC_SET_OUTPUT, -1l))));
	ring_map(&r, one, 8, PROT_READ | PROT_WRITE);
	say("to-mapped", "%s", res(neg(ioctl(two, PERF_EVENT_IOC_SET_OUTPUT, one))));
	say("again", "%s", res(neg(ioctl(two, PERF_EVENT_IOC_SET_OUTPUT, one))));
	say("chain", "%s", res(neg(ioctl(three, PERF_EVENT_IOC_SET_OUTPUT, two))));
	say("self-mapped", "%s", res(neg(ioctl(one, PERF_EVENT_IOC_SET_OUTPUT, one))));
	say("mapped-to-none", "%s", res(neg(ioctl(one, PERF_EVENT_IOC_SET_OUTPUT, -1l))));
	faults_with(one, two, three);
	ring_take(&r);
	say("records-of-all", "%s", ring_story(&r));
	ioctl(two, PERF_EVENT_IOC_SET_OUTPUT, -1l);
	faults_with(one, two, three);
	ring_take(&r);
	say("records-without-second", "%s", ring_story(&r));
	say("map-target-of-none", "%s", res(ring_map(&second, two, 8, PROT_READ | PROT_WRITE)));
	faults_with(one, two, three);
	ring_take(&second);
	say("records-second", "%s", ring_story(&second));
	ring_unmap(&second);
	/* The mapping keeps the closed one alive, and the third writes to it too. */
	ioctl(one, PERF_EVENT_IOC_ENABLE, 0);
	close(one);
	faults_with(-1, two, three);
	ring_take(&r);
	say("records-owner-closed", "%s", ring_story(&r));
	ring_unmap(&r);
	close(two);
	close(three);
	close(null);
}

const struct section group_sections[] = {
	{ "group-matrix", group_matrix },
	{ "group-flags", group_flags },
	{ "group-other-task", group_other_task },
	{ "group-shape", group_shape },
	{ "group-hw-fit", group_hw_fit },
	{ "group-output", group_output },
	{ "group-output-life", group_output_life },
	{ }
};
