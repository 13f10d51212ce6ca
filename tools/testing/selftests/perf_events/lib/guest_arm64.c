// SPDX-License-Identifier: GPL-2.0
/* A guest of arm64: a few instructions at EL1, without translation of addresses.  See guest.h. */
#if defined(__aarch64__)
#include "guest.h"
#include "arm64.h"

#define MEMORY	0x10000		/* in the guest; its stack is none */
#define SIZE	0x10000

#define CORE(member)	(KVM_REG_ARM64 | KVM_REG_SIZE_U64 | KVM_REG_ARM_CORE |		\
			 KVM_REG_ARM_CORE_REG(member))

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

struct guest guest_make(void)
{
	struct kvm_device_attr pmu = {
		.group = KVM_ARM_VCPU_PMU_V3_CTRL, .attr = KVM_ARM_VCPU_PMU_V3_INIT,
	};
	struct guest g = guest_bare(MEMORY, SIZE);
	struct kvm_vcpu_init init;

	a64_need_exact();
	pt_pin(0);
	pt_eq(ioctl(g.vm, KVM_ARM_PREFERRED_TARGET, &init), 0);
	init.features[0] |= 1 << KVM_ARM_VCPU_PMU_V3;
	pt_eq(ioctl(g.vcpu, KVM_ARM_VCPU_INIT, &init), 0);
	pt_eq(ioctl(g.vcpu, KVM_SET_DEVICE_ATTR, &pmu), 0);
	memcpy(g.memory, code, sizeof(code));
	__builtin___clear_cache((char *)g.memory, (char *)g.memory + SIZE);
	return g;
}

static void load(struct guest *g, unsigned int begin, u64 turns)
{
	set(g, CORE(regs.pc), MEMORY + 4 * begin);
	set(g, CORE(regs.regs[0]), turns);
	set(g, CORE(regs.regs[5]), 0x80000000);
}

void guest_load_spin(struct guest *g, u32 turns)
{
	load(g, SPIN, turns);
}

/* EL0t, interrupts masked; its addresses are not translated either. */
bool guest_in_user_mode(struct guest *g)
{
	set(g, CORE(regs.pstate), 0x3c0);
	return true;
}

/* subs and b.ne; the store exits instead of being executed. */
u64 guest_spin_cost(u32 turns)
{
	return 2 * (u64)turns;
}

/* The emulator looks in a guest when it next has something else to do, such as the host's tick. */
bool guest_samples_are_exact(void)
{
	return false;
}

bool guest_spin_is_at(u64 ip, u64 n)
{
	(void)n;
	return ip >= MEMORY && ip <= MEMORY + 8;
}

/* The store that has exited is over with the next entry, which is left at once. */
void guest_finish(struct guest *g)
{
	pt_eq(g->run->exit_reason, KVM_EXIT_MMIO);
	g->run->immediate_exit = 1;
	pt_eq(ioctl(g->vcpu, KVM_RUN, 0), -1);
	g->run->immediate_exit = 0;
}

u64 guest_counts(struct guest *g, u32 turns)
{
	u64 count = 0;
	struct kvm_one_reg reg = { .id = CORE(regs.regs[4]), .addr = pt_addr(&count) };

	load(g, COUNT, turns);
	guest_run(g);
	pt_eq(ioctl(g->vcpu, KVM_GET_ONE_REG, &reg), 0);
	return count;
}
#endif
