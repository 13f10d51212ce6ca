/* SPDX-License-Identifier: GPL-2.0 */
/*
 * guest.h - guests of KVM: a CPU and some memory, a loop whose instructions are known to the last
 * one, and a guest that counts itself.
 */
#ifndef PTEST_GUEST_H
#define PTEST_GUEST_H

#include "ptest.h"
#include <linux/kvm.h>

struct guest {
	int kvm, vm, vcpu;
	u8 *memory;
	struct kvm_run *run;
};

/* A machine with so many bytes of memory from @address on; the case is skipped without KVM. */
struct guest guest_bare(u64 address, size_t size);

/* ---- of the architecture (guest_x86.c, guest_arm64.c) ---- */

/* On CPU 0, with a PMU, on an emulator whose counts are exact. */
struct guest guest_make(void);
/* The next entry begins a loop of so many turns. */
void guest_load_spin(struct guest *g, u32 turns);
/* From now on it runs in user mode; false where no such guest is made. */
bool guest_in_user_mode(struct guest *g);
/* What a guest counts of that, its exit not included. */
u64 guest_spin_cost(u32 turns);
/* Is an overflow looked for after each instruction?  Otherwise some samples are missing. */
bool guest_samples_are_exact(void);
/* Is this where the n-th instruction of the loop has been executed? */
bool guest_spin_is_at(u64 ip, u64 n);
/* After an entry that was left as the code's end wants it. */
void guest_finish(struct guest *g);
/* Has the guest count the instructions of a loop itself. */
u64 guest_counts(struct guest *g, u32 turns);

static inline void guest_run(struct guest *g)
{
	int ret;

	/* Without an interrupt controller KVM tells of each change of the PMU's line. */
	do {
		ret = ioctl(g->vcpu, KVM_RUN, 0);
	} while (ret && g->run->exit_reason == KVM_EXIT_INTR);
	pt_eq(ret, 0);
	guest_finish(g);
}

#endif /* PTEST_GUEST_H */
