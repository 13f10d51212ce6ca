// SPDX-License-Identifier: GPL-2.0
/*
 * arm64_guest.c - guests of KVM on arm64: what host and guest execute is counted together or apart,
 * samples of a guest say so, and a guest's own counter counts it alone.
 *
 * The guest is a few instructions at EL1, without translation of addresses.
 *
 * needs: kvm
 */
#if defined(__aarch64__)
#include <linux/kvm.h>
#endif

#include "lib/arm64.h"

#if defined(__aarch64__)
#define MEMORY	0x10000		/* in the guest; its stack is none */
#define SIZE	0x10000

#define CORE(member)	(KVM_REG_ARM64 | KVM_REG_SIZE_U64 | KVM_REG_ARM_CORE |		\
			 KVM_REG_ARM_CORE_REG(member))

struct guest {
	int vcpu;
	u8 *memory;
	struct kvm_run *run;
};

/*
 * x0: turns, x5: an address that is no memory, which ends a run. From COUNT on the guest's own
 * counter 0 counts instructions first; x4 has what it had when it was read.
 */
static const u32 code[] = {
	0xf1000400,	/* 1: subs x0, x0, #1 */
	0x54ffffe1,	/* b.ne 1b */
	0xf90000a0,	/* str x0, [x5] */
#define SPIN	0
#define COUNT	3
	0xd2800102,	/* mov x2, #8 */
	0xd51bec02,	/* msr pmevtyper0_el0, x2 */
	0xd51be81f,	/* msr pmevcntr0_el0, xzr */
	0xd2800022,	/* mov x2, #1 */
	0xd51b9c22,	/* msr pmcntenset_el0, x2 */
	0xd53b9c03,	/* mrs x3, pmcr_el0 */
	0xb2400063,	/* orr x3, x3, #1 */
	0xd51b9c03,	/* msr pmcr_el0, x3 */
	0xd5033fdf,	/* isb */
	0xf1000400,	/* 1: subs x0, x0, #1 */
	0x54ffffe1,	/* b.ne 1b */
	0xd5033fdf,	/* isb */
	0xd53be804,	/* mrs x4, pmevcntr0_el0 */
	0xd51b9c42,	/* msr pmcntenclr_el0, x2 */
	0xf90000a0,	/* str x0, [x5] */
};

static void set(struct guest *g, u64 id, u64 value)
{
	struct kvm_one_reg reg = { .id = id, .addr = pt_addr(&value) };

	pt_eq(ioctl(g->vcpu, KVM_SET_ONE_REG, &reg), 0);
}

static struct guest make_guest(void)
{
	struct kvm_userspace_memory_region region = {
		.guest_phys_addr = MEMORY, .memory_size = SIZE,
	};
	struct kvm_device_attr pmu = {
		.group = KVM_ARM_VCPU_PMU_V3_CTRL, .attr = KVM_ARM_VCPU_PMU_V3_INIT,
	};
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC), vm, size;
	struct kvm_vcpu_init init;
	struct guest g;

	if (kvm < 0)
		pt_skip("no KVM: %s", strerror(errno));
	a64_need_exact();
	pt_pin(0);
	vm = ioctl(kvm, KVM_CREATE_VM, 0);
	pt_need(vm >= 0, "CREATE_VM: %s", strerror(errno));
	g.memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	region.userspace_addr = pt_addr(g.memory);
	pt_eq(ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region), 0);
	g.vcpu = ioctl(vm, KVM_CREATE_VCPU, 0);
	pt_need(g.vcpu >= 0, "CREATE_VCPU: %s", strerror(errno));
	pt_eq(ioctl(vm, KVM_ARM_PREFERRED_TARGET, &init), 0);
	init.features[0] |= 1 << KVM_ARM_VCPU_PMU_V3;
	pt_eq(ioctl(g.vcpu, KVM_ARM_VCPU_INIT, &init), 0);
	pt_eq(ioctl(g.vcpu, KVM_SET_DEVICE_ATTR, &pmu), 0);
	size = ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0);
	g.run = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, g.vcpu, 0);
	pt_need(g.run != MAP_FAILED, "mmap: %s", strerror(errno));
	memcpy(g.memory, code, sizeof(code));
	__builtin___clear_cache((char *)g.memory, (char *)g.memory + SIZE);
	return g;
}

/* The guest's next run starts there. */
static void load(struct guest *g, unsigned int begin, u64 turns)
{
	set(g, CORE(regs.pc), MEMORY + 4 * begin);
	set(g, CORE(regs.regs[0]), turns);
	set(g, CORE(regs.regs[5]), 0x80000000);
}

/* Without an interrupt controller KVM tells of each change of the PMU's and timer's lines. */
static void enter(struct guest *g)
{
	int ret;

	do {
		ret = ioctl(g->vcpu, KVM_RUN, 0);
	} while (ret && g->run->exit_reason == KVM_EXIT_INTR);
	pt_eq(ret, 0);
}

static void run(struct guest *g)
{
	enter(g);
	pt_eq(g->run->exit_reason, KVM_EXIT_MMIO);
	/* the store that has exited is over with the next entry, which is left at once */
	g->run->immediate_exit = 1;
	pt_eq(ioctl(g->vcpu, KVM_RUN, 0), -1);
	g->run->immediate_exit = 0;
}

/* subs and b.ne; the store exits instead of being executed. */
#define GUEST_SPIN_COST(turns)	(2 * (u64)(turns))

static struct perf_event_attr instructions(bool host, bool guest)
{
	struct perf_event_attr attr = a64_raw(A64_INSTRUCTIONS);

	attr.exclude_kernel = 0;
	attr.exclude_hv = 1;
	attr.exclude_host = !host;
	attr.exclude_guest = !guest;
	return attr;
}

static void guest_alone(void)
{
	static const u32 turns[] = { 1, 10, 1000, 100000, 1000000 };
	struct guest g = make_guest();
	struct perf_event_attr attr = instructions(false, true);
	int fd = pt_open_hw(&attr, -1);
	unsigned int i;

	for (i = 0; i < PT_ARRAY_SIZE(turns); i++) {
		load(&g, SPIN, turns[i]);
		pt_reset(fd);
		pt_enable(fd);
		run(&g);
		pt_disable(fd);
		pt_eq(pt_count(fd), GUEST_SPIN_COST(turns[i]));
	}
}

/* User space of the host has the same with a long guest as with a short one. */
static void host_alone(void)
{
	struct guest g = make_guest();
	struct perf_event_attr attr = a64_raw(A64_INSTRUCTIONS);
	u64 first = 0;
	u32 turns;
	int fd;

	attr.exclude_guest = 1;
	attr.exclude_hv = 1;
	fd = pt_open_hw(&attr, -1);
	for (turns = 10; turns <= 1000000; turns *= 10) {
		load(&g, SPIN, turns);
		pt_reset(fd);
		pt_enable(fd);
		pt_eq(ioctl(g.vcpu, KVM_RUN, 0), 0);
		pt_disable(fd);
		if (first)
			pt_eq(pt_count(fd), first);
		first = pt_count(fd);
		g.run->immediate_exit = 1;
		pt_eq(ioctl(g.vcpu, KVM_RUN, 0), -1);
		g.run->immediate_exit = 0;
	}
	pt_check(first > 0 && first < 200, "%llu instructions", (unsigned long long)first);
}

/*
 * The emulator looks for an overflow in a guest when it next has something else to do, such as a
 * tick of the host: there are fewer samples than periods.
 */
static void samples_of_the_guest(void)
{
	const u64 period = 100003, turns = 10000000;
	struct guest g = make_guest();
	struct perf_event_attr attr = instructions(false, true);
	struct pt_record rec;
	struct pt_sample s;
	struct pt_ring r;
	u64 n = 0;
	int fd;

	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	fd = pt_open_hw(&attr, -1);
	pt_map(&r, fd, 32);
	load(&g, SPIN, turns);
	pt_enable(fd);
	run(&g);
	pt_disable(fd);
	while (pt_next_of(&r, &rec, PERF_RECORD_SAMPLE) && !pt_failures()) {
		pt_parse_sample(&attr, &rec, &s);
		n++;
		pt_eq(rec.h.misc & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_GUEST_KERNEL);
		pt_check(s.ip >= MEMORY && s.ip <= MEMORY + 8, "%llx", (unsigned long long)s.ip);
		pt_eq(s.tid, pt_tid());
	}
	pt_check(n >= 3 && n <= GUEST_SPIN_COST(turns) / period, "%llu samples",
		 (unsigned long long)n);
	pt_eq(pt_count(fd), GUEST_SPIN_COST(turns));
}

static u64 guest_counts(struct guest *g, u32 turns)
{
	u64 count = 0;
	struct kvm_one_reg reg = { .id = CORE(regs.regs[4]), .addr = pt_addr(&count) };

	load(g, COUNT, turns);
	run(g);
	pt_eq(ioctl(g->vcpu, KVM_GET_ONE_REG, &reg), 0);
	return count;
}

static void guest_counts_itself(void)
{
	static const u32 turns[] = { 1, 10, 1000, 100000 };
	struct guest g = make_guest();
	struct perf_event_attr attr = instructions(true, true);
	unsigned int i;
	u64 one;

	/* PMCR.E stays set from the first run on, and the next ones begin with PMCNTENSET. */
	guest_counts(&g, 1);
	one = guest_counts(&g, 1);
	pt_check(one >= 7 && one <= 9, "%llu instructions", (unsigned long long)one);
	for (i = 0; i < PT_ARRAY_SIZE(turns); i++)
		pt_eq(guest_counts(&g, turns[i]), one + 2 * (turns[i] - 1));
	/* and while the host counts both */
	attr.disabled = 0;
	pt_open_hw(&attr, -1);
	for (i = 0; i < PT_ARRAY_SIZE(turns); i++)
		pt_eq(guest_counts(&g, turns[i]), one + 2 * (turns[i] - 1));
}
#else
static void other(void)
{
	pt_skip("about arm64");
}

#define guest_alone		other
#define host_alone		other
#define samples_of_the_guest	other
#define guest_counts_itself	other
#endif

static const struct pt_case cases[] = {
	{ "guest_alone", guest_alone },
	{ "host_alone", host_alone },
	{ "samples_of_the_guest", samples_of_the_guest },
	{ "guest_counts_itself", guest_counts_itself },
};

PT_MAIN(cases)
