// SPDX-License-Identifier: GPL-2.0
/*
 * callchain.c - call chains entry by entry: markers and limits, the sysctls
 * that size the buffers, return addresses that a probe has taken away.
 */
#include "lib/ptest.h"
#include <pthread.h>

#define RETURN_TO	0x123450	/* an address that is in no program */

static struct pt_record rec;
static struct pt_sample s;
static struct pt_ring ring;

static const u64 in_kernel = (u64)PERF_CONTEXT_KERNEL, in_user = (u64)PERF_CONTEXT_USER;

static struct perf_event_attr faults(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
	attr.disabled = 1;
	return attr;
}

/* Both call pt_chain_outer() from the same place. */
static PT_NOINLINE void call_chain(u8 *p)
{
	pt_chain_outer(p);
	__asm__ volatile("");
}

static void sample_of_user(struct perf_event_attr *attr)
{
	u8 *p = pt_fresh_pages(1);
	int fd = pt_open(attr, 0, -1, -1, 0);

	pt_map(&ring, fd, 8);
	pt_enable(fd);
	call_chain(p);
	pt_disable(fd);
	pt_need(pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE), "no sample");
	pt_parse_sample(attr, &rec, &s);
	pt_unmap(&ring);
	close(fd);
}

/* A fault in read(): kernel part first, then user part. */
static void sample_of_kernel(struct perf_event_attr *attr)
{
	u8 *p = pt_fresh_pages(1);
	int fd = pt_open(attr, 0, -1, -1, 0), zero = open("/dev/zero", O_RDONLY);

	pt_map(&ring, fd, 8);
	pt_enable(fd);
	pt_eq(read(zero, p, 8), 8);
	pt_disable(fd);
	pt_need(pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE), "no sample");
	pt_parse_sample(attr, &rec, &s);
	pt_unmap(&ring);
	close(fd);
	close(zero);
}

static unsigned int entries(u64 section)
{
	unsigned int n = 0;
	u64 i, now = 0;

	for (i = 0; i < s.nr_ips; i++) {
		if (s.ips[i] >= PERF_CONTEXT_MAX)
			now = s.ips[i];
		else
			n += now == section;
	}
	return n;
}

/* The limit is one for both parts; a part without room keeps its marker. */
static void limit_is_shared(void)
{
	struct perf_event_attr attr = faults();
	unsigned int kernel;

	attr.sample_max_stack = 1;
	sample_of_kernel(&attr);
	pt_eq(s.nr_ips, 3);
	pt_eq(s.ips[0], in_kernel);
	pt_eq(s.ips[1], s.ip);
	pt_eq(s.ips[2], in_user);

	attr.sample_max_stack = 0;
	sample_of_kernel(&attr);
	kernel = entries(in_kernel);
	pt_need(kernel >= 2, "%u kernel addresses", kernel);
	attr.sample_max_stack = (u16)(kernel + 1);
	sample_of_kernel(&attr);
	pt_eq(entries(in_kernel), kernel);
	pt_eq(entries(in_user), 1);
	pt_eq(s.nr_ips, kernel + 3);
	attr.sample_max_stack = (u16)kernel;
	sample_of_kernel(&attr);
	pt_eq(entries(in_kernel), kernel);
	pt_eq(entries(in_user), 0);
	pt_eq(s.nr_ips, kernel + 2);
}

static void few_markers(void)
{
	struct perf_event_attr attr = faults();
	unsigned int kernel;

	pt_sysctl_set("perf_event_max_contexts_per_stack", 1);
	sample_of_kernel(&attr);
	kernel = entries(in_kernel);
	pt_check(kernel >= 2, "%u kernel addresses", kernel);
	/* No room for the second marker: nothing comes after it. */
	pt_eq(s.nr_ips, kernel + 1);
	sample_of_user(&attr);
	pt_eq(s.ips[0], in_user);
	pt_eq(s.ips[1], pt_addr(pt_chain_insn));

	pt_sysctl_set("perf_event_max_contexts_per_stack", 0);
	sample_of_kernel(&attr);
	pt_eq(s.nr_ips, 0);
	sample_of_user(&attr);
	pt_eq(s.nr_ips, 0);
}

static int set(const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	return pt_write_file(path, text);
}

/* Both sysctls rest while any event has call chains, and for no longer. */
static void sysctls_while_in_use(void)
{
	static const char *const names[] = {
		"perf_event_max_stack", "perf_event_max_contexts_per_stack",
	};
	struct perf_event_attr attr = faults();
	unsigned int i;
	int a, b;

	for (i = 0; i < PT_ARRAY_SIZE(names); i++) {
		long long was = pt_sysctl_get(names[i]);

		pt_sysctl_set(names[i], 20);
		a = pt_open(&attr, 0, -1, -1, 0);
		b = pt_open(&attr, 0, -1, -1, 0);
		pt_eq(set(names[i], "20\n"), -EBUSY);
		close(a);
		pt_eq(set(names[i], "30\n"), -EBUSY);
		/* What is no value at all is told first. */
		pt_eq(set(names[i], "-1\n"), -EINVAL);
		pt_eq(set(names[i], "655361\n"), -EINVAL);
		pt_eq(pt_sysctl_get(names[i]), 20);
		close(b);
		pt_eq(set(names[i], "30\n"), 0);
		pt_eq(pt_sysctl_get(names[i]), 30);
		pt_sysctl_set(names[i], was);
	}
	attr.sample_type = PERF_SAMPLE_IP;
	a = pt_open(&attr, 0, -1, -1, 0);
	pt_sysctl_set("perf_event_max_stack", 127);
	close(a);
}

/* An attr that does not say how deep means the sysctl; it may say less, not more. */
static void depth_from_sysctl(void)
{
	struct perf_event_attr attr = faults();

	pt_sysctl_set("perf_event_max_stack", 2);
	sample_of_user(&attr);
	pt_eq(s.nr_ips, 3);
	pt_eq(s.ips[2], pt_addr(pt_chain_return));
	attr.sample_max_stack = 3;
	pt_eq(pt_probe(&attr), -EOVERFLOW);
	attr.sample_max_stack = 1;
	sample_of_user(&attr);
	pt_eq(s.nr_ips, 2);
	/* A refused event leaves nothing behind. */
	pt_sysctl_set("perf_event_max_stack", 0);
	attr.sample_max_stack = 0;
	sample_of_user(&attr);
	pt_eq(s.nr_ips, 1);
	pt_eq(s.ips[0], in_user);
}

/* More than the buffers can hold is refused, not crashed on. */
static void huge_depth(void)
{
	struct perf_event_attr attr = faults();
	int ret;

	pt_sysctl_set("perf_event_max_stack", 100000);
	attr.sample_max_stack = 65535;
	ret = pt_probe(&attr);
	pt_check(!ret || ret == -ENOMEM, "open: %s", strerror(-ret));
	pt_sysctl_set("perf_event_max_stack", 127);
	attr.sample_max_stack = 127;
	pt_eq(pt_probe(&attr), 0);
}

/*
 * While probes wait for functions to return, the stack says that these go
 * back to a trampoline. The chain says where they really go.
 */
static void true_return_addresses(void)
{
	struct perf_event_attr attr = faults(), uretprobe;
	static u8 byte[2];
	u64 want[4];
	int probe;

	sample_of_user(&attr);
	pt_need(s.nr_ips >= 4, "%llu entries", (unsigned long long)s.nr_ips);
	memcpy(want, s.ips, sizeof(want));
	pt_check(want[3] - pt_addr((void *)call_chain) - 1 < 63, "%#llx is not in call_chain",
		 (unsigned long long)want[3]);

	uretprobe = pt_uprobe((void *)pt_chain_outer, true);
	probe = pt_open(&uretprobe, 0, -1, -1, 0);
	/* The page in which the probed instruction runs comes with the first hit: a fault, too. */
	call_chain(byte);
	sample_of_user(&attr);
	pt_eq(pt_count(probe), 2);
	pt_need(s.nr_ips >= 4, "%llu entries", (unsigned long long)s.nr_ips);
	pt_eq(s.ips[0], in_user);
	pt_eq(s.ips[1], pt_addr(pt_chain_insn));
	pt_eq(s.ips[2], pt_addr(pt_chain_return));
	pt_eq(s.ips[3], want[3]);
}

/* A frame that says that it is its own caller ends the walk, also where that may take faults. */
static void own_caller(void)
{
	static u64 stack[2] __attribute__((aligned(16)));
	struct perf_event_attr attr = faults();
	u64 chain[4];		/* cookie, length, addresses */
	u8 *p;
	int fd;

	if (pt_is_stock())
		pt_skip("Linux 6.12 walks user stacks at once");
	attr.defer_callchain = 1;
	attr.defer_output = 1;
	stack[0] = pt_addr(stack);
	stack[1] = RETURN_TO;
	pt_settle();
	p = pt_fresh_pages(1);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 8);
	pt_enable(fd);
	pt_store_on(p, stack, stack);
	pt_disable(fd);
	pt_need(pt_next_of(&ring, &rec, PERF_RECORD_CALLCHAIN_DEFERRED), "no chain");
	memcpy(chain, rec.body, sizeof(chain));
	pt_eq(chain[1], 2);
	pt_eq(chain[2], pt_addr(pt_store_on_insn));
	pt_eq(chain[3], RETURN_TO);
}

struct churn {
	bool cpu;
	int opened;
};

static void *churn(void *arg)
{
	struct perf_event_attr attr = faults();
	struct churn *c = arg;
	unsigned int i;

	attr.disabled = 0;
	for (i = 0; i < pt_turns(200); i++) {
		int fd = pt_try_open(&attr, c->cpu ? -1 : 0, c->cpu ? 0 : -1, -1, 0);

		if (fd < 0)
			continue;
		c->opened++;
		pt_fault(1);
		close(fd);
	}
	return NULL;
}

/* The first and the last user of the buffers come and go beside samples. */
static void buffers_come_and_go(void)
{
	struct churn c[4] = { { .cpu = true } };
	unsigned int i;
	pthread_t t[4];

	for (i = 0; i < PT_ARRAY_SIZE(t); i++)
		pt_need(!pthread_create(&t[i], NULL, churn, &c[i]), "thread");
	for (i = 0; i < PT_ARRAY_SIZE(t); i++) {
		pthread_join(t[i], NULL);
		pt_eq(c[i].opened, pt_turns(200));
	}
	/* None is left. */
	pt_eq(set("perf_event_max_stack", "127\n"), 0);
}

static const struct pt_case cases[] = {
	{ "limit_is_shared", limit_is_shared },
	{ "few_markers", few_markers },
	{ "sysctls_while_in_use", sysctls_while_in_use },
	{ "depth_from_sysctl", depth_from_sysctl },
	{ "huge_depth", huge_depth },
	{ "true_return_addresses", true_return_addresses },
	{ "own_caller", own_caller },
	{ "buffers_come_and_go", buffers_come_and_go },
};

PT_MAIN(cases)
