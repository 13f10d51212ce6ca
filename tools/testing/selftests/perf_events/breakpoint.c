// SPDX-License-Identifier: GPL-2.0
/*
 * breakpoint.c - hardware breakpoints as events: execution and data, exact
 * counts, samples, the limited number of them, and who is watched.
 */
#include "lib/ptest.h"
#include <linux/hw_breakpoint.h>
#include <pthread.h>

static struct pt_record rec;
static struct pt_sample s;
static struct pt_ring ring;
static volatile u64 __attribute__((aligned(64))) target[8];

static struct perf_event_attr watch(u32 type, const volatile void *at, u64 len)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_BREAKPOINT, 0);

	attr.bp_type = type;
	attr.bp_addr = (u64)(uintptr_t)at;
	attr.bp_len = len;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.disabled = 1;
	return attr;
}

static struct perf_event_attr watch_code(void)
{
	return watch(HW_BREAKPOINT_X, (void *)pt_chain_outer, sizeof(long));
}

static int open_or_skip(struct perf_event_attr *attr)
{
	int fd = pt_try_open(attr, 0, -1, -1, 0);

	if (fd == -ENOENT || fd == -ENODEV || fd == -EOPNOTSUPP)
		pt_skip("no hardware breakpoints: %s", strerror(-fd));
	pt_need(fd >= 0, "open: %s", strerror(-fd));
	return fd;
}

static void execution(void)
{
	struct perf_event_attr attr = watch_code();
	static u8 byte[2];
	int fd, i;

	fd = open_or_skip(&attr);
	pt_chain_outer(byte);
	pt_eq(pt_count(fd), 0);
	pt_enable(fd);
	for (i = 0; i < 50; i++)
		pt_chain_outer(byte);
	pt_disable(fd);
	pt_chain_outer(byte);
	pt_eq(pt_count(fd), 50);
}

static void execution_samples(void)
{
	struct perf_event_attr attr = watch_code();
	static u8 byte[2];
	unsigned int n = 0;
	int fd, i;

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_ADDR;
	fd = open_or_skip(&attr);
	pt_map(&ring, fd, 8);
	pt_enable(fd);
	for (i = 0; i < 20; i++)
		pt_chain_outer(byte);
	pt_disable(fd);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		pt_eq(s.ip, pt_addr((void *)pt_chain_outer));
		pt_eq(s.addr, pt_addr((void *)pt_chain_outer));
		pt_eq(s.tid, pt_tid());
		n++;
	}
	pt_eq(n, 20);
	pt_eq(pt_count(fd), 20);
}

static void writes_only(void)
{
	struct perf_event_attr attr = watch(HW_BREAKPOINT_W, &target[0], 8);
	int fd, i;
	u64 sum = 0;

	fd = open_or_skip(&attr);
	pt_enable(fd);
	for (i = 0; i < 30; i++) {
		target[0] = (u64)i;
		sum += target[0];
		target[1] = sum;
	}
	pt_disable(fd);
	target[0] = 1;
	pt_eq(pt_count(fd), 30);
}

static void reads_and_writes(void)
{
	struct perf_event_attr attr = watch(HW_BREAKPOINT_RW, &target[0], 8);
	int fd, i;
	u64 sum = 0;

	fd = open_or_skip(&attr);
	pt_enable(fd);
	for (i = 0; i < 30; i++) {
		target[0] = (u64)i;
		sum += target[0];
		sum += target[1];
	}
	pt_disable(fd);
	pt_check(sum >= 435, "sum %llu", (unsigned long long)sum);
	pt_eq(pt_count(fd), 60);
}

static void lengths(void)
{
	static const u64 len[] = { 1, 2, 4, 8 };
	unsigned int i;

	for (i = 0; i < PT_ARRAY_SIZE(len); i++) {
		struct perf_event_attr attr = watch(HW_BREAKPOINT_W, &target[2], len[i]);
		volatile u8 *p = (volatile u8 *)&target[2];
		unsigned int j;
		int fd;

		fd = open_or_skip(&attr);
		pt_enable(fd);
		for (j = 0; j < 16; j++)
			p[j] = (u8)j;
		pt_disable(fd);
		/* As many bytes as it is long. */
		pt_check(pt_count(fd) == len[i], "length %llu: %llu hits",
			 (unsigned long long)len[i], (unsigned long long)pt_count(fd));
		close(fd);
	}
}

static void data_samples(void)
{
	struct perf_event_attr attr = watch(HW_BREAKPOINT_W, &target[0], 8);
	unsigned int n = 0;
	u8 *at = (u8 *)(uintptr_t)&target[0];
	int fd, i;

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR;
	fd = open_or_skip(&attr);
	pt_map(&ring, fd, 8);
	pt_enable(fd);
	for (i = 0; i < 10; i++)
		pt_chain_outer(at);
	pt_disable(fd);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		pt_eq(s.addr, pt_addr(at));
		/* The store, or the instruction behind it. */
		pt_check(s.ip >= pt_addr(pt_chain_insn) && s.ip <= pt_addr(pt_chain_insn) + 4,
			 "IP %#llx, store at %#llx", (unsigned long long)s.ip,
			 (unsigned long long)pt_addr(pt_chain_insn));
		n++;
	}
	pt_eq(n, 10);
}

static void every_nth(void)
{
	struct perf_event_attr attr = watch(HW_BREAKPOINT_W, &target[0], 8);
	int fd, i;

	attr.sample_period = 4;
	attr.sample_type = PERF_SAMPLE_IP;
	fd = open_or_skip(&attr);
	pt_map(&ring, fd, 8);
	pt_enable(fd);
	for (i = 0; i < 30; i++)
		target[0] = (u64)i;
	pt_disable(fd);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 7);
	pt_eq(pt_count(fd), 30);
}

static void only_so_many(void)
{
	struct perf_event_attr attr = watch(HW_BREAKPOINT_W, &target[0], 8);
	int fd[32], n, ret = 0;

	for (n = 0; n < 32; n++) {
		attr.bp_addr = (u64)(uintptr_t)&target[n % 8];
		ret = n ? pt_try_open(&attr, 0, -1, -1, 0) : open_or_skip(&attr);
		if (ret < 0)
			break;
		fd[n] = ret;
	}
	pt_eq(ret, -ENOSPC);
	pt_check(n >= 1 && n <= 16, "%d breakpoints", n);
	/* One back, one more. */
	close(fd[0]);
	fd[0] = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(pt_try_open(&attr, 0, -1, -1, 0), -ENOSPC);
	while (n--)
		close(fd[n]);
	/* All of them again. */
	close(pt_open(&attr, 0, -1, -1, 0));
}

static void *writer(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 10; i++)
		target[0] = (u64)i;
	return NULL;
}

static void own_thread_only(void)
{
	struct perf_event_attr attr = watch(HW_BREAKPOINT_W, &target[0], 8);
	pthread_t t;
	int fd;

	fd = open_or_skip(&attr);
	pt_enable(fd);
	writer(NULL);
	pt_need(!pthread_create(&t, NULL, writer, NULL), "thread");
	pthread_join(t, NULL);
	pt_eq(pt_count(fd), 10);
}

static void inherited(void)
{
	struct perf_event_attr attr = watch(HW_BREAKPOINT_W, &target[0], 8);
	pthread_t t;
	pid_t pid;
	int fd;

	attr.inherit = 1;
	fd = open_or_skip(&attr);
	pt_enable(fd);
	pt_need(!pthread_create(&t, NULL, writer, NULL), "thread");
	pthread_join(t, NULL);
	pt_in_child(pid)
		writer(NULL);
	pt_reap(pid);
	writer(NULL);
	pt_eq(pt_count(fd), 30);
}

static void across_switches(void)
{
	struct perf_event_attr attr = watch(HW_BREAKPOINT_W, &target[0], 8);
	struct pt_peer peer;
	int fd, i;

	pt_pin(0);
	pt_peer_start(&peer);
	fd = open_or_skip(&attr);
	pt_enable(fd);
	for (i = 0; i < 20; i++) {
		target[0] = (u64)i;
		pt_peer_turn(&peer);
		target[0] = (u64)i;
	}
	pt_disable(fd);
	pt_eq(pt_count(fd), 40);
	pt_peer_stop(&peer);
}

/* Debug registers record none, whatever the PMU of the CPU does. */
static void no_branches(void)
{
	struct perf_event_attr attr = watch(HW_BREAKPOINT_W, &target[0], 8);

	attr.sample_period = 1;
	close(open_or_skip(&attr));
	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER;
	pt_eq(pt_try_open(&attr, 0, -1, -1, 0), -EOPNOTSUPP);
}

static const struct pt_case cases[] = {
	{ "execution", execution },
	{ "execution_samples", execution_samples },
	{ "writes_only", writes_only },
	{ "reads_and_writes", reads_and_writes },
	{ "lengths", lengths },
	{ "data_samples", data_samples },
	{ "every_nth", every_nth },
	{ "only_so_many", only_so_many },
	{ "own_thread_only", own_thread_only },
	{ "inherited", inherited },
	{ "across_switches", across_switches },
	{ "no_branches", no_branches },
};

PT_MAIN(cases)
