// SPDX-License-Identifier: GPL-2.0
/*
 * deferred_fork.c - a fork is sampled, and its user call chain is walked on the way back: that is
 * the parent's chain, and the child's samples ask for chains of their own. What becomes of the
 * memory of a chain, and what cannot wait for the way back. See deferred.c.
 */
#include "lib/kmem.h"

static struct pt_record rec;
static struct pt_sample s;

struct chain {
	u64 cookie, nr, ips[];
};

static struct perf_event_attr deferring(u32 type, u64 config)
{
	struct perf_event_attr attr = pt_attr(type, config);

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN;
	attr.defer_callchain = 1;
	return attr;
}

/* The next sample with this address, or with any: the cookie in place of its user part. */
static u64 cookie_at(struct pt_ring *ring, const struct perf_event_attr *attr, u64 ip)
{
	do {
		pt_need(pt_next_of(ring, &rec, PERF_RECORD_SAMPLE), "no sample");
		pt_parse_sample(attr, &rec, &s);
	} while (ip && s.ip != ip);
	pt_need(s.nr_ips >= 2 && s.ips[s.nr_ips - 2] == (u64)PERF_CONTEXT_USER_DEFERRED,
		"no cookie");
	return s.ips[s.nr_ips - 1];
}

static void child_asks_anew(void)
{
	const struct chain *chain = (const struct chain *)rec.body;
	struct perf_event_attr attr = deferring(PT_SW(PAGE_FAULTS)), clones;
	struct pt_ring ring, parents;
	u64 cookie;
	pid_t pid;
	int fd;

	if (pt_is_stock())
		pt_skip("Linux 6.12 walks user stacks at once");
	pt_pin(0);
	attr.inherit = 1;
	attr.disabled = 1;
	attr.defer_output = 1;
	fd = pt_open(&attr, 0, 0, -1, 0);
	pt_map(&ring, fd, 16);
	clones = deferring(PERF_TYPE_TRACEPOINT, pt_tracepoint_id("syscalls", "sys_enter_clone"));
	pt_map(&parents, pt_open(&clones, 0, -1, -1, 0), 8);
	pt_in_child(pid) {
		u8 *p;

		pt_settle();	/* the stack, too: the walk is not to fault */
		p = pt_fresh_pages(1);
		pt_enable(fd);
		pt_touch(p, 1);
		pt_disable(fd);
	}
	pt_reap(pid);
	/* Others of the family may have faults of their own before. */
	cookie = cookie_at(&ring, &attr, pt_addr(pt_store_insn));
	pt_eq(s.tid, pid);
	pt_need(pt_next_of(&ring, &rec, PERF_RECORD_CALLCHAIN_DEFERRED), "no chain");
	pt_eq(chain->cookie, cookie);
	pt_eq(chain->ips[0], pt_addr(pt_store_insn));
	pt_check(cookie_at(&parents, &clones, 0) != cookie, "the parent's cookie");
	pt_eq(s.tid, getpid());
}

/* A chain is walked into memory that is told by its size; it is freed. */
static void chain_is_freed(void)
{
	const unsigned int most = 93, size = 16 + 8 * most;
	struct perf_event_attr calls;
	struct kmem_watch memory;
	struct pt_ring ring;
	char filter[64];

	if (pt_is_stock())
		pt_skip("Linux 6.12 walks user stacks at once");
	pt_sysctl_set("perf_event_max_stack", most);
	calls = deferring(PERF_TYPE_TRACEPOINT, pt_tracepoint_id("syscalls", "sys_enter_getppid"));
	calls.defer_output = 1;
	pt_map(&ring, pt_open(&calls, 0, -1, -1, 0), 8);
	snprintf(filter, sizeof(filter), "bytes_req == %u", size);
	kmem_watch(&memory, filter);
	syscall(SYS_getppid);
	kmem_is_freed(&memory);
	pt_need(pt_next_of(&ring, &rec, PERF_RECORD_CALLCHAIN_DEFERRED), "no chain");
}

static PT_NOINLINE void probed(void)
{
	__asm__ volatile("nop" ::: "memory");
}

/*
 * The instruction that a uprobe is at is executed before the task goes back: what is hit in the
 * probe's handler is walked at once. The handler calls the function before it takes a sample.
 */
static void in_a_uprobe(void)
{
	int type = pt_pmu_type("kprobe"), fd;
	struct perf_event_attr attr = deferring((u32)type, 0), uprobe;
	struct pt_ring ring;
	u64 i;

	if (pt_is_stock())
		pt_skip("Linux 6.12 walks user stacks at once");
	if (type < 0)
		pt_skip("no kprobe PMU");
	uprobe = pt_uprobe((void *)probed, false);
	pt_open(&uprobe, 0, -1, -1, 0);
	probed();
	attr.kprobe_func = pt_addr("perf_swevent_get_recursion_context");
	attr.disabled = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 8);
	pt_enable(fd);
	probed();
	pt_disable(fd);
	pt_need(pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE), "no sample");
	pt_parse_sample(&attr, &rec, &s);
	for (i = 0; i < s.nr_ips && s.ips[i] != (u64)PERF_CONTEXT_USER; i++)
		;
	pt_need(i + 1 < s.nr_ips, "no user chain");
	pt_eq(s.ips[i + 1], pt_addr(probed));
}

static const struct pt_case cases[] = {
	{ "child_asks_anew", child_asks_anew },
	{ "chain_is_freed", chain_is_freed },
	{ "in_a_uprobe", in_a_uprobe },
};

PT_MAIN(cases)
