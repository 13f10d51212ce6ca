// SPDX-License-Identifier: GPL-2.0
/*
 * branch.c - branch stacks, and the other fields of a sample that only a driver can fill in.
 *
 * The driver is the test PMU test_sample, which puts known values into samples; see pmu/.
 *
 * needs: hw
 */
#include "lib/cgroup.h"
#include <sys/stat.h>

#define MODULE	"test_sample"

/* PERF_MEM_NA of <linux/perf_event.h> */
#define MEM_NA	(PERF_MEM_S(OP, NA) | PERF_MEM_S(LVL, NA) | PERF_MEM_S(SNOOP, NA) |	\
		 PERF_MEM_S(LOCK, NA) | PERF_MEM_S(TLB, NA) | PERF_MEM_S(LVLNUM, NA))

static void load(const char *params, u64 provide)
{
	pt_load_module(MODULE, params);
	pt_need(!pt_module_set(MODULE, "provide", (long long)provide), "provide");
}

static void fire(unsigned int n)
{
	pt_need(!pt_module_set(MODULE, "fire", n), "fire");
}

static struct perf_event_attr sampler(u64 sample_type)
{
	struct perf_event_attr attr = pt_attr((u32)pt_pmu_type(MODULE), 0);

	attr.sample_period = 1;
	attr.sample_type = sample_type;
	if (sample_type & PERF_SAMPLE_BRANCH_STACK)
		attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	return attr;
}

/* Opens the event on the calling task, fires once and decodes the only sample. */
static struct pt_record sampled;

static void sample_once(struct perf_event_attr *attr, struct pt_sample *s)
{
	int fd = pt_open(attr, 0, -1, -1, 0);
	struct pt_ring ring;

	pt_map(&ring, fd, 16);
	fire(1);
	pt_disable(fd);
	pt_need(pt_next(&ring, &sampled), "no sample");
	pt_parse_sample(attr, &sampled, s);
	pt_check(!pt_next(&ring, &(struct pt_record){}), "more than one record");
	pt_unmap(&ring);
	close(fd);
}

static void check_branches(const struct pt_sample *s, u64 nr)
{
	u64 i;

	pt_eq(s->nr_branches, nr);
	for (i = 0; i < s->nr_branches; i++) {
		pt_eq(s->branches[i].from, 0x1000 + i);
		pt_eq(s->branches[i].to, 0x2000 + i);
		pt_eq(s->branches[i].predicted, 1);
		pt_eq(s->branches[i].mispred, 0);
		pt_eq(s->branches[i].cycles, i);
	}
}

static void not_supported(void)
{
	static const u64 software[] = { PERF_COUNT_SW_CPU_CLOCK, PERF_COUNT_SW_PAGE_FAULTS,
		PERF_COUNT_SW_TASK_CLOCK };
	struct perf_event_attr attr;
	unsigned int i;

	for (i = 0; i < PT_ARRAY_SIZE(software); i++) {
		attr = pt_attr(PERF_TYPE_SOFTWARE, software[i]);
		attr.sample_period = 100000;
		attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
		attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
		pt_eq(pt_probe(&attr), -EOPNOTSUPP);
	}
	load(NULL, 0);
	attr = sampler(PERF_SAMPLE_BRANCH_STACK);
	pt_eq(pt_probe(&attr), -EOPNOTSUPP);
	pt_need(!pt_module_set(MODULE, "branch", 4), "branch");
	pt_eq(pt_probe(&attr), 0);
}

static void stack(void)
{
	struct perf_event_attr attr;
	struct pt_sample s;

	load("branch=3", PERF_SAMPLE_BRANCH_STACK);
	attr = sampler(PERF_SAMPLE_TID | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_WEIGHT);
	sample_once(&attr, &s);
	check_branches(&s, 3);
	pt_eq(s.tid, pt_tid());
	pt_eq(s.weight, 0);

	attr.branch_sample_type |= PERF_SAMPLE_BRANCH_HW_INDEX;
	sample_once(&attr, &s);
	check_branches(&s, 3);
	pt_eq(s.hw_idx, 5);
}

/* Fields that come behind the stack in a sample stay where they belong. */
static void stack_and_cgroup(void)
{
	struct perf_event_attr attr;
	struct pt_sample s;
	const char *dir;
	struct stat st;

	dir = cg_make("");
	pt_need(!stat(dir, &st), "stat %s: %s", dir, strerror(errno));
	load("branch=3", PERF_SAMPLE_BRANCH_STACK);
	attr = sampler(PERF_SAMPLE_TID | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_CGROUP |
		       PERF_SAMPLE_CODE_PAGE_SIZE | PERF_SAMPLE_RAW);
	cg_enter(dir);
	sample_once(&attr, &s);
	cg_leave();
	check_branches(&s, 3);
	pt_eq(s.tid, pt_tid());
	pt_eq(s.cgroup, st.st_ino);
	/* Outside it is the root's. */
	attr.sample_type |= PERF_SAMPLE_IDENTIFIER;
	sample_once(&attr, &s);
	check_branches(&s, 3);
	pt_need(!stat(cg_mounted, &st), "stat %s: %s", cg_mounted, strerror(errno));
	pt_eq(s.cgroup, st.st_ino);
	cg_remove_all();
}

static void branch_counters(void)
{
	struct perf_event_attr attr;
	struct pt_sample s;
	int i;

	load("branch=3 counters=1", PERF_SAMPLE_BRANCH_STACK);
	attr = sampler(PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_DATA_SRC);
	attr.branch_sample_type |= PERF_SAMPLE_BRANCH_COUNTERS;
	sample_once(&attr, &s);
	check_branches(&s, 3);
	for (i = 0; i < 3; i++)
		pt_eq(s.branch_counters[i], 0x300 + i);
	pt_eq(s.data_src, MEM_NA);

	/* Who did not ask gets none, from the same hardware. */
	attr.branch_sample_type &= ~(u64)PERF_SAMPLE_BRANCH_COUNTERS;
	sample_once(&attr, &s);
	check_branches(&s, 3);
}

/* A driver may have none for this sample: then there is the number alone, which is 0. */
static void none_this_time(void)
{
	struct perf_event_attr attr;
	struct pt_sample s;

	load("branch=3", 0);
	attr = sampler(PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_TRANSACTION);
	attr.branch_sample_type |= PERF_SAMPLE_BRANCH_HW_INDEX;
	sample_once(&attr, &s);
	pt_eq(s.nr_branches, 0);
	pt_eq(s.transaction, 0);
	pt_eq(sampled.h.size, sizeof(sampled.h) + 2 * sizeof(u64));
}

static void privilege(void)
{
	struct perf_event_attr attr;

	load("branch=3", PERF_SAMPLE_BRANCH_STACK);
	pt_sysctl_set("perf_event_paranoid", 2);
	attr = sampler(PERF_SAMPLE_BRANCH_STACK);
	pt_become_nobody();
	/* the kernel is counted, hence its branches are wanted */
	pt_eq(pt_probe(&attr), -EACCES);
	attr.exclude_kernel = 1;
	pt_eq(pt_probe(&attr), -EACCES);		/* the hypervisor's, still */
	attr.exclude_hv = 1;
	pt_eq(pt_probe(&attr), 0);
	attr.branch_sample_type |= PERF_SAMPLE_BRANCH_USER;
	pt_eq(pt_probe(&attr), 0);
	attr.branch_sample_type |= PERF_SAMPLE_BRANCH_KERNEL;
	pt_eq(pt_probe(&attr), -EACCES);
}

static void inherited(void)
{
	struct perf_event_attr attr;
	struct pt_record rec;
	struct pt_sample s;
	struct pt_ring ring;
	pid_t pid;
	int fd;

	load("branch=2 task_data=1", PERF_SAMPLE_BRANCH_STACK);
	pt_pin(0);
	attr = sampler(PERF_SAMPLE_TID | PERF_SAMPLE_BRANCH_STACK);
	attr.inherit = 1;
	fd = pt_open(&attr, 0, 0, -1, 0);
	/* One that fails when it had the memory already: there is no buffer to write to. */
	pt_eq(pt_try_open(&attr, 0, 0, fd, PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP), -EINVAL);
	pt_map(&ring, fd, 4);
	pt_in_child(pid)
		fire(1);
	pt_reap(pid);
	pt_need(pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE), "no sample of the child");
	pt_parse_sample(&attr, &rec, &s);
	pt_eq(s.tid, pid);
	check_branches(&s, 2);
	pt_eq(pt_count(fd), 1);
	/* each of the tasks had the driver's memory; unloading checks that it is given back */
	pt_eq(pt_module_get(MODULE, "no_data"), 0);
	pt_unmap(&ring);
	close(fd);
}

#define VALUES	(PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION |	\
		 PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE)

static void values_of_the_driver(void)
{
	struct perf_event_attr attr;
	struct pt_sample s;

	load(NULL, VALUES | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT);
	attr = sampler(VALUES | PERF_SAMPLE_WEIGHT);
	sample_once(&attr, &s);
	pt_eq(s.addr, 0xadd0);
	pt_eq(s.weight, 0x0004000300000002ull);
	pt_eq(s.data_src, PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVLNUM, L2));
	pt_eq(s.transaction, PERF_TXN_ELISION | 7ull << PERF_TXN_ABORT_SHIFT);
	pt_eq(s.phys_addr, 0xf00d);
	pt_eq(s.data_page, 0x200000);
	pt_eq(s.code_page, 0x10000);

	attr.sample_type = PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_TRANSACTION;
	sample_once(&attr, &s);
	pt_eq(s.weight, 0x0004000300000002ull);
	pt_eq(s.transaction, PERF_TXN_ELISION | 7ull << PERF_TXN_ABORT_SHIFT);
}

static void values_nobody_knows(void)
{
	struct perf_event_attr attr;
	struct pt_sample s;

	load(NULL, 0);
	attr = sampler((VALUES & ~(u64)PERF_SAMPLE_CODE_PAGE_SIZE) | PERF_SAMPLE_WEIGHT);
	sample_once(&attr, &s);
	pt_eq(s.addr, 0);
	pt_eq(s.weight, 0);
	pt_eq(s.data_src, MEM_NA);
	pt_eq(s.transaction, 0);
	pt_eq(s.phys_addr, 0);
	pt_eq(s.data_page, 0);

	/* the core finds out the size of the page of an address that it knows */
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CODE_PAGE_SIZE;
	sample_once(&attr, &s);
	pt_eq(s.code_page, pt_page_size());
}

/* The size of a record is 16 bits: what just fits, and what does not. */
static void longest_stack(void)
{
	const u64 fits = (65535 - 2 * sizeof(u64)) / sizeof(struct perf_branch_entry);
	struct perf_event_attr attr;
	struct pt_sample s;
	struct pt_ring ring;
	u64 value[2];
	int fd;

	load("branch=1", PERF_SAMPLE_BRANCH_STACK);
	pt_need(!pt_module_set(MODULE, "branch", (long long)fits), "branch");
	attr = sampler(PERF_SAMPLE_BRANCH_STACK);
	attr.sample_max_stack = 0xffff;
	attr.read_format = PERF_FORMAT_LOST;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 64);
	fire(1);
	pt_need(pt_next(&ring, &sampled), "no sample");
	pt_parse_sample(&attr, &sampled, &s);
	pt_eq(s.nr_branches, fits);
	pt_eq(s.branches[fits - 1].from, 0x1000 + fits - 1);
	pt_eq(sampled.h.size, 16 + fits * sizeof(struct perf_branch_entry));
	if (pt_is_stock())
		pt_skip("Linux 6.12 cuts the size field of longer samples");

	pt_need(!pt_module_set(MODULE, "branch", (long long)fits + 1), "branch");
	fire(1);
	pt_disable(fd);
	pt_check(!pt_next(&ring, &sampled), "a sample that is too long was written");
	pt_eq(read(fd, value, sizeof(value)), sizeof(value));
	pt_eq(value[0], 2);
	pt_eq(value[1], 1);
	pt_unmap(&ring);
	close(fd);
}

/* sample_max_stack is for branches, too: the newest are shown. */
static void not_more_than_asked_for(void)
{
	struct perf_event_attr attr;
	struct pt_sample s;
	int i;

	load("branch=5 counters=1", PERF_SAMPLE_BRANCH_STACK);
	if (pt_is_stock())
		pt_skip("Linux 6.12 has that limit for call chains only");
	attr = sampler(PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_DATA_SRC);
	attr.branch_sample_type |= PERF_SAMPLE_BRANCH_COUNTERS | PERF_SAMPLE_BRANCH_HW_INDEX;
	attr.sample_max_stack = 2;
	sample_once(&attr, &s);
	check_branches(&s, 2);
	pt_eq(s.hw_idx, 5);
	for (i = 0; i < 2; i++)
		pt_eq(s.branch_counters[i], 0x300 + i);
	pt_eq(s.data_src, MEM_NA);
	attr.sample_max_stack = 5;
	sample_once(&attr, &s);
	check_branches(&s, 5);
	/* Who does not say gets what the sysctl allows. */
	pt_need(!pt_module_set(MODULE, "branch", 200), "branch");
	attr.sample_max_stack = 0;
	sample_once(&attr, &s);
	check_branches(&s, (u64)pt_sysctl_get("perf_event_max_stack"));
}

/* A program takes a snapshot between the sample's size and its words: that stays the size. */
static void stack_changes_meanwhile(void)
{
	static const int then[] = { 1, 6, 3 };
	struct perf_event_attr attr;
	struct pt_sample s;
	unsigned int i;

	if (pt_is_stock())
		pt_skip("Linux 6.12 looks at the length of the stack twice");
	load("branch=3 counters=1", PERF_SAMPLE_BRANCH_STACK);
	attr = sampler(PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_DATA_SRC);
	attr.branch_sample_type |= PERF_SAMPLE_BRANCH_COUNTERS;
	for (i = 0; i < PT_ARRAY_SIZE(then); i++) {
		pt_need(!pt_module_set(MODULE, "later", then[i]), "later");
		sample_once(&attr, &s);
		check_branches(&s, 3);
		pt_eq(s.data_src, MEM_NA);
	}
}

#define PLACES	(PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR |		\
		 PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE)

static void check_cpumode(u16 want)
{
	pt_eq(sampled.h.misc & PERF_RECORD_MISC_CPUMODE_MASK, want);
}

/*
 * The interrupt of an event that leaves out the kernel comes when the CPU is in there already. The
 * sample is there and tells nothing of it; what is of user space stays.
 */
static void skid_into_the_kernel(void)
{
	static const u64 provided[] = { 0, PLACES & ~(u64)PERF_SAMPLE_IP };
	struct perf_event_attr attr;
	struct pt_sample s;
	unsigned int i;

	load("skid=1", 0);
	attr = sampler(PLACES | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_WEIGHT |
		       PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_REGS_USER);
	attr.sample_regs_intr = 0xff;
	attr.sample_regs_user = 0xff;
	sample_once(&attr, &s);
	check_cpumode(PERF_RECORD_MISC_KERNEL);
	pt_check((s64)s.ip < 0, "ip %llx", (unsigned long long)s.ip);
	pt_check(s.intr_abi, "no registers");
	pt_eq(s.ips[0], (u64)PERF_CONTEXT_KERNEL);
	if (pt_is_stock())
		pt_skip("Linux 6.12 shows the kernel");

	attr.exclude_kernel = 1;
	for (i = 0; i < PT_ARRAY_SIZE(provided); i++) {
		pt_need(!pt_module_set(MODULE, "provide", (long long)provided[i]), "provide");
		attr.sample_type |= PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_INTR;
		sample_once(&attr, &s);
		check_cpumode(PERF_RECORD_MISC_KERNEL);
		pt_eq(s.ip, 0);
		pt_eq(s.addr, 0);
		pt_eq(s.phys_addr, 0);
		pt_eq(s.data_page, 0);
		pt_eq(s.code_page, 0);
		pt_eq(s.intr_abi, 0);
		pt_eq(s.tid, pt_tid());
		pt_check(s.user_abi, "no registers of user space");
		pt_check(s.nr_ips > 1, "%llu entries", (unsigned long long)s.nr_ips);
		pt_eq(s.ips[0], (u64)PERF_CONTEXT_USER);
	}

	/* The short way, and one where user space was interrupted. */
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_TID;
	sample_once(&attr, &s);
	pt_eq(s.ip, 0);
	pt_eq(s.addr, 0);
	pt_eq(s.tid, pt_tid());
	pt_need(!pt_module_set(MODULE, "skid", 0), "skid");
	sample_once(&attr, &s);
	check_cpumode(PERF_RECORD_MISC_USER);
	pt_check((s64)s.ip > 0, "ip %llx", (unsigned long long)s.ip);
	pt_eq(s.addr, 0xadd0);
}

static const struct pt_case cases[] = {
	{ "branch stacks where there are none", not_supported },
	{ "branch stack", stack },
	{ "branch stack and cgroup", stack_and_cgroup },
	{ "counters of branches", branch_counters },
	{ "no branches this time", none_this_time },
	{ "branches of the kernel", privilege },
	{ "inherited, with memory of the driver", inherited },
	{ "values of the driver", values_of_the_driver },
	{ "values nobody knows", values_nobody_knows },
	{ "the longest branch stack", longest_stack },
	{ "not more branches than asked for", not_more_than_asked_for },
	{ "the stack changes meanwhile", stack_changes_meanwhile },
	{ "skid into the kernel", skid_into_the_kernel },
};

PT_MAIN(cases)
