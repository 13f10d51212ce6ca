// SPDX-License-Identifier: GPL-2.0
/*
 * masks.c - members of a group that samples show and reset: which, when, and what each value is.
 * The counters of CPUs: counter_periods.c.
 */
#include "lib/bpf.h"
#include "lib/ext.h"

#define PERIOD	10

static struct pt_record rec;
static struct pt_sample s;
static struct pt_ring ring;

static struct perf_event_attr faults(u64 config, u64 period)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_SOFTWARE, config);

	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_READ;
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	return attr;
}

/*
 * What the cases are about: the leader samples all page faults, the others count.  A minor fault is
 * counted as a fault first: at the leader's sample it is yet to come.
 */
enum { ALL, MINOR, MAJOR, MEMBERS };

static const u64 config[MEMBERS] = {
	PERF_COUNT_SW_PAGE_FAULTS, PERF_COUNT_SW_PAGE_FAULTS_MIN, PERF_COUNT_SW_PAGE_FAULTS_MAJ,
};

static struct perf_event_attr attr;
static int fd[MEMBERS];
static u64 id[MEMBERS];

static void start(void)
{
	int i;

	ext_need();
	for (i = 0; i < MEMBERS; i++) {
		struct perf_event_attr one = faults(config[i], i ? 0 : PERIOD);

		one.disabled = !i;
		if (!i)
			attr = one;
		fd[i] = pt_open(&one, 0, -1, i ? fd[0] : -1, 0);
		id[i] = pt_id(fd[i]);
	}
	pt_map(&ring, fd[0], 16);
	pt_settle();
}

static long masks(int event, u64 record, u64 reset)
{
	struct perf_ext_masks m = { .record = record, .reset = reset };

	return pt_ioctl(event, PERF_EXT_IOC_MASKS, pt_addr(&m));
}

static void work(unsigned int nr)
{
	pt_enable(fd[0]);
	pt_fault(nr);
	pt_disable(fd[0]);
}

static bool next(void)
{
	if (!pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE))
		return false;
	pt_parse_sample(&attr, &rec, &s);
	return true;
}

/* The next sample shows one member. */
static void expect(int member, u64 value)
{
	pt_need(next(), "no sample");
	pt_eq(s.read.nr, 1);
	pt_eq(s.read.v[0].id, id[member]);
	pt_eq(s.read.v[0].value, value);
	pt_eq(rec.h.size, 8 + 8 + 8 + 16);	/* header, TID, nr, value and id */
}

static u64 count_of(int event)
{
	struct pt_read got;

	pt_read(event, attr.read_format, MEMBERS, &got);
	return got.v[0].value;
}

static void deltas(void)
{
	u64 sum = 0;
	int i;

	start();
	pt_eq(masks(fd[0], 2, 2), 0);
	work(105);
	for (i = 0; i < 10; i++) {
		expect(MINOR, i ? PERIOD : PERIOD - 1);
		sum += s.read.v[0].value;
	}
	pt_check(!next(), "one sample too many");
	pt_eq(sum, 99);
	pt_eq(count_of(fd[0]), 105);	/* the counts are what they always were */
}

static void members_in_order(void)
{
	start();
	pt_eq(masks(fd[0], 5, 1), 0);
	work(20);
	while (next()) {
		pt_eq(s.read.nr, 2);
		pt_eq(s.read.v[0].id, id[ALL]);
		pt_eq(s.read.v[0].value, PERIOD);
		pt_eq(s.read.v[1].id, id[MAJOR]);
		pt_eq(s.read.v[1].value, 0);
	}
	pt_eq(count_of(fd[0]), 20);
}

/* Without RESET a value grows from one sample to the next; what resets need not be shown. */
static void record_and_reset_apart(void)
{
	start();
	pt_eq(masks(fd[0], 0, 1), 0);
	work(30);
	while (next()) {
		pt_eq(s.read.nr, 0);
		pt_eq(rec.h.size, 8 + 8 + 8);
	}
	pt_eq(masks(fd[0], 1, 0), 0);
	work(30);
	expect(ALL, 10);
	expect(ALL, 20);
	expect(ALL, 30);
	pt_eq(masks(fd[0], 0, 0), 0);
	work(10);
	pt_need(next(), "no sample");
	pt_eq(s.read.nr, MEMBERS);
	pt_eq(s.read.v[ALL].value, 70);
	pt_eq(s.read.v[MINOR].value, 69);
}

/* A member that samples of two events reset counts from the later of them. */
static void two_owners(void)
{
	struct perf_event_attr other = faults(PERF_COUNT_SW_PAGE_FAULTS_MIN, 7);
	struct pt_ring theirs;
	u64 last = 0, k;
	int fe;

	start();
	fe = pt_open(&other, 0, -1, fd[0], 0);
	pt_map(&theirs, fe, 16);
	pt_eq(masks(fd[0], 1, 1), 0);
	pt_eq(masks(fe, 1, 1), 0);
	work(200);
	for (k = 1; k <= 200; k++) {
		if (k % PERIOD == 0) {
			expect(ALL, k - last);
			last = k;
		}
		if (k % 7)
			continue;
		pt_need(pt_next_of(&theirs, &rec, PERF_RECORD_SAMPLE), "no sample");
		pt_parse_sample(&other, &rec, &s);
		pt_eq(s.read.nr, 1);
		pt_eq(s.read.v[0].value, k - last);
		last = k;
	}
	pt_check(!next(), "one sample too many");
}

/* A sample that finds no room resets nothing: the next one has its events, too. */
static void lost_samples(void)
{
	u64 sum = 0, n = 0;

	start();
	pt_unmap(&ring);
	pt_map(&ring, fd[0], 1);
	pt_eq(masks(fd[0], 1, 1), 0);
	work(3000);
	while (next()) {
		pt_eq(s.read.v[0].value, PERIOD);
		sum += s.read.v[0].value;
		n++;
	}
	pt_eq(n, pt_page_size() / 40 - (pt_page_size() % 40 == 0));
	pt_consume(&ring);
	work(10);
	pt_need(next(), "no sample");
	pt_eq(sum + s.read.v[0].value, 3010);
}

/* Nor does one that a program does not want. */
static void refused_samples(void)
{
	static struct pt_code code;
	struct pt_words w;
	int i;

	start();
	pt_words_make(&w);
	pt_b_begin(&code);
	pt_b_count(&code, &w, 0);
	pt_b_return_nth(&code, 2);
	pt_eq(pt_ioctl(fd[0], PERF_EVENT_IOC_SET_BPF,
		       (unsigned long)pt_load(BPF_PROG_TYPE_PERF_EVENT, &code)), 0);
	pt_eq(masks(fd[0], 1, 1), 0);
	work(100);
	for (i = 0; i < 5; i++)
		expect(ALL, 2 * PERIOD);
	pt_check(!next(), "one sample too many");
}

/* IOC_RESET: counts and differences begin anew. */
static void reset_by_ioctl(void)
{
	start();
	pt_eq(masks(fd[0], 1, 1), 0);
	work(25);
	expect(ALL, 10);
	expect(ALL, 10);
	pt_reset(fd[0]);
	work(15);
	expect(ALL, 5);
	expect(ALL, 10);
	pt_eq(count_of(fd[0]), 15);
}

/* The count is what it was when the member was shown last: that is as many anew, and not none. */
static void reset_of_a_member(void)
{
	start();
	pt_eq(masks(fd[0], 2, 2), 0);
	work(PERIOD);
	expect(MINOR, PERIOD - 1);
	pt_reset(fd[MINOR]);
	work(PERIOD);
	expect(MINOR, PERIOD - 1);
}

/* Who is closed has no entry any more; bits stay with the others, whose places have changed. */
static void members_leave(void)
{
	start();
	pt_eq(masks(fd[0], 6, 6), 0);
	work(10);
	pt_need(next(), "no sample");
	pt_eq(s.read.nr, 2);
	close(fd[MINOR]);
	work(10);
	expect(MAJOR, 0);
	pt_eq(masks(fd[0], 4, 0), -EINVAL);
	pt_eq(masks(fd[0], 2, 0), 0);
	work(10);
	expect(MAJOR, 0);
}

/* A bit that meant somebody who has left is not the next one's. */
static void bits_are_not_given_again(void)
{
	struct perf_event_attr more = faults(PERF_COUNT_SW_PAGE_FAULTS_MIN, 1000000);
	int fe;

	start();
	pt_eq(masks(fd[0], 6, 0), 0);
	close(fd[MINOR]);
	fe = pt_open(&more, 0, -1, fd[0], 0);
	pt_eq(masks(fe, 4, 4), 0);	/* names itself */
	work(10);
	expect(MAJOR, 0);
}

static void fault_in_child(void *arg)
{
	(void)arg;
	pt_settle();
	pt_fault(200);
}

static int to_child[2], from_child[2];

static void fault_when_told(void *arg)
{
	pt_settle();
	pt_gate_open(from_child);
	pt_gate_wait(to_child);
	fault_in_child(arg);
}

static unsigned int samples_of(pid_t pid, bool first)
{
	unsigned int n = 0;

	while (next()) {
		if ((pid_t)s.tid != pid)
			continue;
		pt_eq(s.read.nr, 1);
		/* The masks may have come at any time of the first period. */
		if (n++ || first)
			pt_eq(s.read.v[0].value, PERIOD);
	}
	return n;
}

/* Those made after the call have the masks, and those that run already; each its own counts. */
static void copies(void)
{
	struct perf_event_attr count = faults(PERF_COUNT_SW_PAGE_FAULTS, 0);
	pid_t pid, runs;

	ext_need();
	attr = faults(PERF_COUNT_SW_PAGE_FAULTS, PERIOD);
	attr.inherit = 1;
	count.inherit = 1;
	pt_pin(0);
	fd[0] = pt_open(&attr, 0, 0, -1, 0);	/* of one CPU, to be mapped */
	fd[1] = pt_open(&count, 0, 0, fd[0], 0);
	pt_map(&ring, fd[0], 64);
	pt_gate_make(to_child);
	pt_gate_make(from_child);
	runs = pt_fork(fault_when_told, NULL);
	pt_gate_wait(from_child);
	pt_drain(&ring);
	pt_eq(masks(fd[0], 1, 1), 0);
	pt_gate_open(to_child);
	pt_reap(runs);
	pt_check(samples_of(runs, false) >= 20, "too few samples");
	pid = pt_fork(fault_in_child, NULL);
	pt_reap(pid);
	pt_check(samples_of(pid, true) >= 20, "too few samples");
}

static void refused(void)
{
	struct perf_ext_masks m = { .record = 1 };
	struct perf_ext_info info = {};
	struct perf_event_attr other;
	int fe;

	start();
	pt_eq(pt_ioctl(fd[0], PERF_EXT_IOC_INFO, pt_addr(&info)), 0);
	pt_eq(info.features & info.here & PERF_EXT_MASKS, PERF_EXT_MASKS);
	pt_eq(masks(fd[0], 7, 7), 0);
	pt_eq(masks(fd[0], 8, 0), -EINVAL);
	pt_eq(masks(fd[0], 0, 1ull << 63), -EINVAL);
	pt_eq(masks(fd[1], 1, 1), -EINVAL);	/* samples nothing */
	pt_eq(pt_ioctl(fd[1], PERF_EXT_IOC_INFO, pt_addr(&info)), 0);
	pt_eq(info.here & PERF_EXT_MASKS, 0);
	m.flags = 1;
	pt_eq(pt_ioctl(fd[0], PERF_EXT_IOC_MASKS, pt_addr(&m)), -EINVAL);
	m = (struct perf_ext_masks){ .record = 1, .set = 1 };
	pt_eq(pt_ioctl(fd[0], PERF_EXT_IOC_MASKS, pt_addr(&m)), -EINVAL);
	m = (struct perf_ext_masks){ .record = 1, .member = 1 };
	pt_eq(pt_ioctl(fd[0], PERF_EXT_IOC_MASKS, pt_addr(&m)), -EINVAL);
	other = faults(PERF_COUNT_SW_PAGE_FAULTS, PERIOD);
	other.read_format = PERF_FORMAT_GROUP;
	fe = pt_open(&other, 0, -1, -1, 0);
	pt_eq(masks(fe, 1, 1), -EINVAL);
	other.read_format = PERF_FORMAT_ID;
	fe = pt_open(&other, 0, -1, -1, 0);
	pt_eq(masks(fe, 1, 1), -EINVAL);
	other = faults(PERF_COUNT_SW_PAGE_FAULTS, PERIOD);
	other.sample_type = PERF_SAMPLE_TID;
	fe = pt_open(&other, 0, -1, -1, 0);
	pt_eq(masks(fe, 1, 1), -EINVAL);
}

/*
 * Of a group of 65 the first 64 can be named. When one of these has left there are 64 again, but no
 * bit for the one that had none, until the masks that have it are off.
 */
static void most_members(void)
{
	struct perf_event_attr one = faults(PERF_COUNT_SW_PAGE_FAULTS, PERIOD);
	int group[65], i;

	ext_need();
	attr = one;
	for (i = 0; i < 65; i++) {
		one.sample_period = i ? 0 : PERIOD;
		one.disabled = !i;
		group[i] = pt_open(&one, 0, -1, i ? group[0] : -1, 0);
	}
	pt_map(&ring, group[0], 16);
	pt_settle();
	pt_eq(masks(group[0], ~0ull, 0), 0);
	pt_enable(group[0]);
	pt_fault(PERIOD);
	pt_need(next(), "no sample");
	pt_eq(s.read.nr, 64);
	for (i = 0; i < 64; i++)
		pt_eq(s.read.v[i].id, pt_id(group[i]));
	close(group[1]);
	pt_eq(masks(group[0], 1ull << 63, 0), -ENOSPC);
	pt_fault(PERIOD);		/* what they were */
	pt_need(next(), "no sample");
	pt_eq(s.read.nr, 63);
	pt_eq(masks(group[0], 0, 0), 0);
	pt_eq(masks(group[0], 1ull << 63, 0), 0);
	pt_fault(PERIOD);
	pt_need(next(), "no sample");
	pt_eq(s.read.nr, 1);
	pt_eq(s.read.v[0].id, pt_id(group[64]));
}

static void fdinfo(void)
{
	char path[64], text[2048];

	start();
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd[0]);
	pt_need(pt_slurp(path, text, sizeof(text)), "%s", path);
	pt_check(!strstr(text, "masks:"), "masks without masks");
	pt_eq(masks(fd[0], 4, 2), 0);
	pt_need(pt_slurp(path, text, sizeof(text)), "%s", path);
	pt_check(strstr(text, "\nmasks:\t0x4 0x2"), "%s", text);
}

static const struct pt_case cases[] = {
	{ "deltas", deltas },
	{ "members_in_order", members_in_order },
	{ "record_and_reset_apart", record_and_reset_apart },
	{ "two_owners", two_owners },
	{ "lost_samples", lost_samples },
	{ "refused_samples", refused_samples },
	{ "reset_by_ioctl", reset_by_ioctl },
	{ "reset_of_a_member", reset_of_a_member },
	{ "members_leave", members_leave },
	{ "bits_are_not_given_again", bits_are_not_given_again },
	{ "copies", copies },
	{ "refused", refused },
	{ "most_members", most_members },
	{ "fdinfo", fdinfo },
};

PT_MAIN(cases)
