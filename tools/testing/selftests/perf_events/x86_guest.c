// SPDX-License-Identifier: GPL-2.0
/*
 * x86_guest.c - guests of KVM: what host and guest execute is counted together or apart, samples of
 * a guest say where it was, and a guest's own counter counts it alone.
 *
 * The guest is a few instructions in real mode.
 *
 * needs: kvm
 */
#if defined(__x86_64__)
#include <linux/kvm.h>
#endif

#include "lib/x86.h"

#if defined(__x86_64__)

#define CODE	0x1000		/* in the guest, as is RESULT */
#define RESULT	0x3000
#define MEMORY	0x4000

struct guest {
	int vcpu;
	u8 *memory;
	struct kvm_run *run;
};

static struct guest make_guest(void)
{
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC), vm, size;
	struct { struct kvm_cpuid2 head; struct kvm_cpuid_entry2 entries[256]; } *cpuid;
	struct kvm_userspace_memory_region region = { .memory_size = MEMORY };
	struct guest g;

	if (kvm < 0)
		pt_skip("no KVM: %s", strerror(errno));
	x86_need_exact();
	vm = ioctl(kvm, KVM_CREATE_VM, 0);
	pt_need(vm >= 0, "CREATE_VM: %s", strerror(errno));
	g.memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	region.userspace_addr = pt_addr(g.memory);
	pt_eq(ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region), 0);
	g.vcpu = ioctl(vm, KVM_CREATE_VCPU, 0);
	pt_need(g.vcpu >= 0, "CREATE_VCPU: %s", strerror(errno));
	size = ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0);
	g.run = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, g.vcpu, 0);
	pt_need(g.run != MAP_FAILED, "mmap: %s", strerror(errno));

	/* Without the host's CPUID the guest has no PMU. */
	cpuid = calloc(1, sizeof(*cpuid));
	cpuid->head.nent = PT_ARRAY_SIZE(cpuid->entries);
	pt_eq(ioctl(kvm, KVM_GET_SUPPORTED_CPUID, cpuid), 0);
	pt_eq(ioctl(g.vcpu, KVM_SET_CPUID2, cpuid), 0);
	free(cpuid);
	return g;
}

/* The guest starts at CODE, with this code there, and ends with HLT. */
static void load(struct guest *g, const void *code, size_t size)
{
	struct kvm_regs regs = { .rip = CODE, .rflags = 2 };
	struct kvm_sregs sregs;

	memcpy(g->memory + CODE, code, size);
	pt_eq(ioctl(g->vcpu, KVM_GET_SREGS, &sregs), 0);
	sregs.cs.base = 0;
	sregs.cs.selector = 0;
	pt_eq(ioctl(g->vcpu, KVM_SET_SREGS, &sregs), 0);
	pt_eq(ioctl(g->vcpu, KVM_SET_REGS, &regs), 0);
}

static void run(struct guest *g)
{
	pt_eq(ioctl(g->vcpu, KVM_RUN, 0), 0);
	pt_eq(g->run->exit_reason, KVM_EXIT_HLT);
}

/* mov $turns, %ecx; 1: dec %ecx; jnz 1b; hlt. Counted are all but the last, which exits. */
static void load_spin(struct guest *g, u32 turns)
{
	u8 code[] = { 0x66, 0xb9, 0, 0, 0, 0, 0x66, 0x49, 0x75, 0xfc, 0xf4 };

	memcpy(code + 2, &turns, 4);
	load(g, code, sizeof(code));
}

#define GUEST_SPIN_COST(turns)	(2 * (u64)(turns) + 1)

static u64 guest_spin_ip(u64 n)
{
	return CODE + 6 + ((n - 1) & 1 ? 2 : 0);
}

static struct perf_event_attr instructions(bool host, bool guest)
{
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_INSTRUCTIONS);

	attr.exclude_kernel = 0;
	attr.exclude_host = !host;
	attr.exclude_guest = !guest;
	return attr;
}

/* The guest's instructions, and nothing of what the host does for it. */
static void guest_alone(void)
{
	static const u32 turns[] = { 1, 10, 1000, 100000, 1000000 };
	struct guest g = make_guest();
	struct perf_event_attr attr = instructions(false, true);
	int fd = pt_open_hw(&attr, -1);
	unsigned int i;

	for (i = 0; i < PT_ARRAY_SIZE(turns); i++) {
		load_spin(&g, turns[i]);
		pt_reset(fd);
		pt_enable(fd);
		run(&g);
		pt_disable(fd);
		pt_eq(pt_count(fd), GUEST_SPIN_COST(turns[i]));
	}
}

/* All counters start and stop at once: what one of two has, the other has not, and a third all. */
static void host_and_guest_add_up(void)
{
	struct guest g = make_guest();
	struct perf_event_attr attr = instructions(true, true);
	int both, host, guest;

	if (!x86_has_global())
		pt_skip("counters of this PMU start one by one");
	both = pt_open_hw(&attr, -1);
	attr = instructions(true, false);
	attr.disabled = 0;
	host = pt_open_hw(&attr, both);
	attr = instructions(false, true);
	attr.disabled = 0;
	guest = pt_open_hw(&attr, both);
	load_spin(&g, 50000);
	pt_enable(both);
	run(&g);
	pt_disable(both);
	pt_eq(pt_count(guest), GUEST_SPIN_COST(50000));
	pt_check(pt_count(host) > 1000, "%llu of the host", (unsigned long long)pt_count(host));
	pt_eq(pt_count(both), pt_count(host) + pt_count(guest));
}

/* An event that excludes guests has the same with a long one as with a short one. */
static void host_alone(void)
{
	struct guest g = make_guest();
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_INSTRUCTIONS);
	u64 first = 0;
	u32 turns;
	int fd;

	attr.exclude_guest = 1;
	fd = pt_open_hw(&attr, -1);
	for (turns = 10; turns <= 1000000; turns *= 10) {
		load_spin(&g, turns);
		pt_reset(fd);
		pt_enable(fd);
		pt_eq(ioctl(g.vcpu, KVM_RUN, 0), 0);
		pt_disable(fd);
		if (first)
			pt_eq(pt_count(fd), first);
		first = pt_count(fd);
	}
	pt_check(first > 0 && first < 200, "%llu instructions", (unsigned long long)first);
}

/* Of the guest, each right after the instruction that overflowed. */
static void samples_of_the_guest(void)
{
	const u64 period = 1009, turns = 100000;
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
	load_spin(&g, turns);
	pt_enable(fd);
	run(&g);
	pt_disable(fd);
	while (pt_next_of(&r, &rec, PERF_RECORD_SAMPLE) && !pt_failures()) {
		pt_parse_sample(&attr, &rec, &s);
		pt_eq(rec.h.misc & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_GUEST_KERNEL);
		pt_eq(s.ip, guest_spin_ip(++n * period));
		pt_eq(s.tid, pt_tid());
	}
	pt_eq(n, GUEST_SPIN_COST(turns) / period);
}

/*
 * The guest counts itself: select, a loop, stop, and the counter to RESULT. From the WRMSR that
 * starts to the one that stops are mov, the loop and xor.
 */
static u64 guest_counts(struct guest *g, u32 turns)
{
	u8 code[] = {
		0x66, 0xb9, 0x00, 0x02, 0x01, 0xc0,	/* mov $0xc0010200, %ecx */
		0x66, 0xb8, 0xc0, 0x00, 0x43, 0x00,	/* mov $0x4300c0, %eax */
		0x66, 0x31, 0xd2,			/* xor %edx, %edx */
		0x0f, 0x30,				/* wrmsr */
		0x66, 0xbb, 0, 0, 0, 0,			/* mov $turns, %ebx */
		0x66, 0x4b, 0x75, 0xfc,			/* 1: dec %ebx; jnz 1b */
		0x66, 0x31, 0xc0,			/* xor %eax, %eax */
		0x0f, 0x30,				/* wrmsr */
		0x66, 0xb9, 0x01, 0x02, 0x01, 0xc0,	/* mov $0xc0010201, %ecx */
		0x0f, 0x32,				/* rdmsr */
		0x66, 0xa3, 0x00, 0x30,			/* mov %eax, RESULT */
		0x66, 0x31, 0xc0, 0x66, 0x31, 0xd2,	/* xor %eax, %eax; xor %edx, %edx */
		0x0f, 0x30,				/* wrmsr */
		0xf4,					/* hlt */
	};
	u32 count;

	memcpy(code + 19, &turns, 4);
	load(g, code, sizeof(code));
	run(g);
	memcpy(&count, g->memory + RESULT, sizeof(count));
	return count;
}

static void guest_counts_itself(void)
{
	static const u32 turns[] = { 1, 10, 1000, 100000 };
	struct guest g = make_guest();
	struct perf_event_attr attr = instructions(true, true);
	u64 one = guest_counts(&g, 1);
	unsigned int i;

	pt_check(one >= 4 && one <= 6, "%llu instructions", (unsigned long long)one);
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
	pt_skip("about x86");
}

#define guest_alone		other
#define host_and_guest_add_up	other
#define host_alone		other
#define samples_of_the_guest	other
#define guest_counts_itself	other
#endif

static const struct pt_case cases[] = {
	{ "guest_alone", guest_alone },
	{ "host_and_guest_add_up", host_and_guest_add_up },
	{ "host_alone", host_alone },
	{ "samples_of_the_guest", samples_of_the_guest },
	{ "guest_counts_itself", guest_counts_itself },
};

PT_MAIN(cases)
