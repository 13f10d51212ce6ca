// SPDX-License-Identifier: GPL-2.0
/*
 * Registers in samples: PERF_SAMPLE_REGS_USER and PERF_SAMPLE_REGS_INTR.
 *
 * perf_event_open() asks whether a mask of registers can be sampled, in task context; samples ask
 * for the values one by one, in any context, pseudo-NMI included.  No locks.
 *
 * The numbers of the ABI from X0 to PC are the order of struct user_pt_regs.  A 32-bit task has two
 * kinds of readers that a sample cannot tell apart:
 *
 *	========  ==============================  ==========================================
 *	number    32-bit reader takes it for      the value
 *	========  ==============================  ==========================================
 *	0 to 14   r0 to r12, sp, lr               the same numbers of the AArch64 view
 *	15        pc                              pc (the AArch64 view has a register of
 *	                                          Hyp mode here, which is of no use)
 *	LR        (not asked for)                 r14, for a 64-bit reader that unwinds
 *	SP        (not asked for)                 r13, likewise
 *	PC        (not asked for)                 pc
 *	========  ==============================  ==========================================
 */
#include <linux/compat.h>
#include <linux/perf_event.h>
#include <linux/sched/task_stack.h>

#include <asm/fpsimd.h>

#define ARM32_SP	13
#define ARM32_LR	14
#define ARM32_PC	15

static_assert(offsetof(struct user_pt_regs, regs[PERF_REG_ARM64_LR]) == 8 * PERF_REG_ARM64_LR);
static_assert(offsetof(struct user_pt_regs, sp) == 8 * PERF_REG_ARM64_SP);
static_assert(offsetof(struct user_pt_regs, pc) == 8 * PERF_REG_ARM64_PC);

/* Which word of a 32-bit task's registers answers for number @idx. */
static unsigned int translate(unsigned int idx)
{
	switch (idx) {
	case ARM32_PC:
		return PERF_REG_ARM64_PC;
	case PERF_REG_ARM64_LR:
		return ARM32_LR;
	case PERF_REG_ARM64_SP:
		return ARM32_SP;
	default:
		return idx;
	}
}

/* The length of current's SVE vectors, in units of 64 bits. */
static u64 vector_granule(void)
{
	return task_get_sve_vl(current) / sizeof(u64);
}

/**
 * perf_reg_value() - one register of a sample
 * @regs: registers of an interruption or of the way into the kernel
 * @idx: a bit of a mask that perf_reg_validate() has passed
 *
 * Return: its value; 0, with a warning, for a register that cannot be sampled here
 */
u64 perf_reg_value(struct pt_regs *regs, int idx)
{
	const u64 *word = (const u64 *)&regs->user_regs;

	if (idx == PERF_REG_ARM64_VG && system_supports_sve())
		return vector_granule();
	if (WARN_ON_ONCE((unsigned int)idx >= PERF_REG_ARM64_MAX))
		return 0;
	return word[compat_user_mode(regs) ? translate(idx) : idx];
}

/**
 * perf_reg_validate() - can these registers be sampled?
 * @mask: sample_regs_user or sample_regs_intr of an attr
 *
 * Return: 0; -EINVAL for an empty mask, numbers without a register, and the vector granule on a
 * machine without SVE
 */
int perf_reg_validate(u64 mask)
{
	u64 known = GENMASK_ULL(PERF_REG_ARM64_MAX - 1, 0);

	if (system_supports_sve())
		known |= BIT_ULL(PERF_REG_ARM64_VG);
	return mask && !(mask & ~known) ? 0 : -EINVAL;
}

/**
 * perf_reg_abi() - how to read the registers of a task
 * @task: any task
 *
 * Return: PERF_SAMPLE_REGS_ABI_32 or PERF_SAMPLE_REGS_ABI_64
 */
u64 perf_reg_abi(struct task_struct *task)
{
	return is_compat_thread(task_thread_info(task)) ? PERF_SAMPLE_REGS_ABI_32 :
							  PERF_SAMPLE_REGS_ABI_64;
}

/**
 * perf_get_regs_user() - the user registers of current, for a sample inside the kernel
 * @regs_user: to be filled
 * @regs: registers of the sample, not needed: those of user space are all on the kernel stack
 */
void perf_get_regs_user(struct perf_regs *regs_user, struct pt_regs *regs)
{
	regs_user->abi = perf_reg_abi(current);
	regs_user->regs = task_pt_regs(current);
}
