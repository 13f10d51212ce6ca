// SPDX-License-Identifier: GPL-2.0
/*
 * modes.c - software events that count the hits of user space, those of the
 * kernel, both, or none: exactly that, alone and in groups, inherited, while
 * tasks take turns, enabled and disabled in between.
 */
#include "lib/ptest.h"
#include <sys/prctl.h>

enum mix { ALL, USER, KERNEL, NONE, NR_MIXES };

static const struct mode {
	bool exclude_user, exclude_kernel;
} modes[NR_MIXES] = {
	[USER]		= { .exclude_kernel = true },
	[KERNEL]	= { .exclude_user = true },
	[NONE]		= { .exclude_user = true, .exclude_kernel = true },
};

static int zero = -1;

/* First touches of fresh pages: @user from user space, @kernel by read(). */
static void faults(unsigned int user, unsigned int kernel)
{
	size_t size = (user + kernel) * pt_page_size();
	u8 *p = pt_fresh_pages(user + kernel);

	if (zero < 0)
		zero = open("/dev/zero", O_RDONLY);
	pt_need(zero >= 0, "/dev/zero: %s", strerror(errno));
	pt_touch(p, user);
	if (kernel)
		pt_eq(read(zero, p + user * pt_page_size(), kernel * (size_t)pt_page_size()),
		      kernel * pt_page_size());
	munmap(p, size);
}

static struct perf_event_attr faults_of(enum mix mix)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.exclude_user = modes[mix].exclude_user;
	attr.exclude_kernel = modes[mix].exclude_kernel;
	return attr;
}

static u64 expected(enum mix mix, u64 user, u64 kernel)
{
	return (modes[mix].exclude_user ? 0 : user) + (modes[mix].exclude_kernel ? 0 : kernel);
}

static void each_mix(void)
{
	struct perf_event_attr attr;
	int fd[NR_MIXES], m;

	faults(1, 1);
	for (m = 0; m < NR_MIXES; m++) {
		attr = faults_of(m);
		attr.disabled = 1;
		fd[m] = pt_open(&attr, 0, -1, -1, 0);
	}
	faults(3, 4);
	for (m = 0; m < NR_MIXES; m++) {
		pt_eq(pt_count(fd[m]), 0);
		pt_enable(fd[m]);
	}
	faults(11, 7);
	for (m = 0; m < NR_MIXES; m++) {
		pt_eq(pt_count(fd[m]), expected(m, 11, 7));
		pt_disable(fd[m]);
	}
	faults(5, 6);
	for (m = 0; m < NR_MIXES; m++) {
		pt_eq(pt_count(fd[m]), expected(m, 11, 7));
		pt_enable(fd[m]);
	}
	faults(0, 2);
	faults(3, 0);
	for (m = 0; m < NR_MIXES; m++) {
		pt_eq(pt_count(fd[m]), expected(m, 14, 9));
		pt_ioctl(fd[m], PERF_EVENT_IOC_RESET, 0);
	}
	faults(2, 1);
	pt_need(!prctl(PR_TASK_PERF_EVENTS_DISABLE), "prctl");
	faults(4, 8);
	for (m = 0; m < NR_MIXES; m++)
		pt_eq(pt_count(fd[m]), expected(m, 2, 1));
}

/* Each mix leads, the others follow; they begin and end together. */
static void groups_of_all_mixes(void)
{
	struct perf_event_attr attr;
	int lead, other, m, fd;
	struct pt_read r;

	faults(1, 1);
	for (lead = 0; lead < NR_MIXES; lead++) {
		attr = faults_of(lead);
		attr.disabled = 1;
		attr.read_format = PERF_FORMAT_GROUP;
		fd = pt_open(&attr, 0, -1, -1, 0);
		for (m = 0; m < NR_MIXES; m++) {
			attr = faults_of(m);
			attr.read_format = PERF_FORMAT_GROUP;
			other = pt_open(&attr, 0, -1, fd, 0);
			pt_check(other >= 0, "sibling");
		}
		faults(2, 2);
		pt_enable(fd);
		faults(9, 5);
		pt_disable(fd);
		faults(1, 3);
		pt_enable(fd);
		faults(4, 0);
		pt_disable(fd);
		pt_read(fd, PERF_FORMAT_GROUP, 1 + NR_MIXES, &r);
		pt_eq(r.v[0].value, expected(lead, 13, 5));
		for (m = 0; m < NR_MIXES; m++)
			pt_eq(r.v[1 + m].value, expected(m, 13, 5));
	}
}

/* The counts in a sample are those after the hit. */
static void counts_in_samples(void)
{
	struct perf_event_attr attr = faults_of(ALL);
	struct pt_record rec;
	struct pt_sample s;
	struct pt_ring ring;
	int fd, m;
	u64 n;

	faults(1, 1);
	attr.disabled = 1;
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_READ;
	attr.read_format = PERF_FORMAT_GROUP;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 8);
	for (m = 0; m < NR_MIXES; m++) {
		struct perf_event_attr member = faults_of(m);

		member.read_format = PERF_FORMAT_GROUP;
		pt_open(&member, 0, -1, fd, 0);
	}
	pt_enable(fd);
	faults(6, 4);
	pt_disable(fd);
	for (n = 1; pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE); n++) {
		u64 user = n < 6 ? n : 6;

		pt_parse_sample(&attr, &rec, &s);
		pt_eq(s.read.v[0].value, n);
		for (m = 0; m < NR_MIXES; m++)
			pt_eq(s.read.v[1 + m].value, expected(m, user, n - user));
	}
	pt_eq(n, 11);
}

#define ROUNDS	20

static int ask[2], reply[2];

static void partner(void *unused)
{
	char c;

	(void)unused;
	while (read(ask[0], &c, 1) == 1) {
		faults(3, 2);
		if (write(reply[1], &c, 1) != 1)
			_exit(1);
	}
}

static void rounds(int n)
{
	char c = 0;

	while (n--) {
		faults(5, 1);
		pt_need(write(ask[1], &c, 1) == 1 && read(reply[0], &c, 1) == 1, "pipes");
	}
}

/* Two tasks that swap their contexts at each turn; the sum is of both. */
static void inherited_over_switches(void)
{
	struct perf_event_attr attr;
	u64 before[NR_MIXES];
	int fd[NR_MIXES], m;
	pid_t pid;

	pt_pin(0);
	pt_need(!pipe(ask) && !pipe(reply), "pipe: %s", strerror(errno));
	faults(1, 1);
	for (m = 0; m < NR_MIXES; m++) {
		attr = faults_of(m);
		attr.inherit = 1;
		fd[m] = pt_open(&attr, 0, -1, -1, 0);
	}
	pid = pt_fork(partner, NULL);
	/* Each task has its own pages then, those of the stack below a pt_count() among them. */
	rounds(3);
	pt_count(fd[ALL]);
	for (m = 0; m < NR_MIXES; m++)
		before[m] = pt_count(fd[m]);
	rounds(ROUNDS);
	for (m = 0; m < NR_MIXES; m++) {
		pt_eq(pt_count(fd[m]) - before[m], expected(m, 8 * ROUNDS, 3 * ROUNDS));
		pt_disable(fd[m]);
	}
	rounds(2);
	for (m = 0; m < NR_MIXES; m++) {
		pt_eq(pt_count(fd[m]) - before[m], expected(m, 8 * ROUNDS, 3 * ROUNDS));
		pt_enable(fd[m]);
	}
	rounds(ROUNDS);
	for (m = 0; m < NR_MIXES; m++)
		pt_eq(pt_count(fd[m]) - before[m], expected(m, 16 * ROUNDS, 6 * ROUNDS));
	pt_kill(pid);
	/* What the child has counted stays; it has died without taking more. */
	pt_eq(pt_count(fd[NONE]), 0);
	pt_eq(pt_count(fd[USER]) + pt_count(fd[KERNEL]), pt_count(fd[ALL]));
}

/* On a CPU, where everybody is counted: the parts are the whole. */
static void parts_of_a_cpu(void)
{
	struct perf_event_attr attr = faults_of(ALL);
	struct pt_read r;
	int fd, m;

	pt_pin(0);
	faults(1, 1);
	attr.read_format = PERF_FORMAT_GROUP;
	attr.disabled = 1;
	fd = pt_open(&attr, -1, 0, -1, 0);
	for (m = USER; m < NR_MIXES; m++) {
		attr = faults_of(m);
		attr.read_format = PERF_FORMAT_GROUP;
		pt_open(&attr, -1, 0, fd, 0);
	}
	pt_enable(fd);
	faults(20, 10);
	pt_disable(fd);
	pt_read(fd, PERF_FORMAT_GROUP, NR_MIXES, &r);
	pt_check(r.v[USER].value >= 20 && r.v[KERNEL].value >= 10, "%llu and %llu faults",
		 (unsigned long long)r.v[USER].value, (unsigned long long)r.v[KERNEL].value);
	pt_eq(r.v[USER].value + r.v[KERNEL].value, r.v[ALL].value);
	pt_eq(r.v[NONE].value, 0);
}

/* A switch is an event of the kernel. */
static void switches_are_the_kernels(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(CONTEXT_SWITCHES));
	int fd[NR_MIXES], i, m;

	for (m = 0; m < NR_MIXES; m++) {
		attr.exclude_user = modes[m].exclude_user;
		attr.exclude_kernel = modes[m].exclude_kernel;
		attr.disabled = 1;
		fd[m] = pt_open(&attr, 0, -1, -1, 0);
	}
	for (m = 0; m < NR_MIXES; m++)
		pt_enable(fd[m]);
	for (i = 0; i < 10; i++)
		pt_switch_out();
	for (m = NR_MIXES; m--; )
		pt_disable(fd[m]);
	pt_eq(pt_count(fd[USER]), 0);
	pt_eq(pt_count(fd[NONE]), 0);
	pt_check(pt_count(fd[KERNEL]) >= 10, "%llu switches",
		 (unsigned long long)pt_count(fd[KERNEL]));
	pt_check(pt_count(fd[ALL]) >= pt_count(fd[KERNEL]), "more of the kernel than in all");
}

static const struct pt_case cases[] = {
	{ "each_mix", each_mix },
	{ "groups_of_all_mixes", groups_of_all_mixes },
	{ "counts_in_samples", counts_in_samples },
	{ "inherited_over_switches", inherited_over_switches },
	{ "parts_of_a_cpu", parts_of_a_cpu },
	{ "switches_are_the_kernels", switches_are_the_kernels },
};

PT_MAIN(cases)
