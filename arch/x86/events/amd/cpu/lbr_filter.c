// SPDX-License-Identifier: GPL-2.0
/*
 * Branch records of LbrExtV2: what may be asked for, what a record's bits mean, which are kept.
 *
 * Without registers and state.  Hardware filters by ring and kind, where a branch ends; it records
 * what is not suppressed.  Software looks at the instruction of every record once more: hardware
 * puts system calls, interrupts and far returns into one kind, and two events may ask for
 * different ones.
 *
 * amd_pe_want_branch() reads the text at the branch, also that of user space, and works in the
 * NMI.
 */
#include <linux/bits.h>
#include <linux/build_bug.h>

#include "cpu.h"

/* LBR_SELECT; a set bit suppresses. */
#define RING0		BIT(0)
#define RINGS_ABOVE	BIT(1)
#define COND		BIT(2)
#define DIRECT_CALL	BIT(3)
#define INDIRECT_CALL	BIT(4)
#define NEAR_RETURN	BIT(5)
#define INDIRECT_JUMP	BIT(6)
#define DIRECT_JUMP	BIT(7)
#define FAR		BIT(8)
#define ANY_KIND	(AMD_PE_ALL_BRANCHES & ~(RING0 | RINGS_ABOVE))

static const struct kind {
	u64	asked;		/* of branch_sample_type */
	u16	record;
	u32	want;
} kinds[] = {
	{ PERF_SAMPLE_BRANCH_USER,	 RINGS_ABOVE, X86_BR_USER },
	{ PERF_SAMPLE_BRANCH_KERNEL,	 RING0, X86_BR_KERNEL },
	{ PERF_SAMPLE_BRANCH_ANY,	 ANY_KIND, X86_BR_ANY },
	{ PERF_SAMPLE_BRANCH_ANY_CALL,	 DIRECT_CALL | INDIRECT_CALL | FAR, X86_BR_ANY_CALL },
	{ PERF_SAMPLE_BRANCH_ANY_RETURN, NEAR_RETURN | FAR,
	  X86_BR_RET | X86_BR_IRET | X86_BR_SYSRET },
	{ PERF_SAMPLE_BRANCH_IND_CALL,	 INDIRECT_CALL, X86_BR_IND_CALL },
	{ PERF_SAMPLE_BRANCH_COND,	 COND, X86_BR_JCC },
	{ PERF_SAMPLE_BRANCH_IND_JUMP,	 INDIRECT_JUMP, X86_BR_IND_JMP },
	{ PERF_SAMPLE_BRANCH_CALL,	 DIRECT_CALL, X86_BR_CALL | X86_BR_ZERO_CALL },
	{ PERF_SAMPLE_BRANCH_TYPE_SAVE,	 0, X86_BR_TYPE_SAVE },
};

#define UNSUPPORTED							\
	(PERF_SAMPLE_BRANCH_ABORT_TX | PERF_SAMPLE_BRANCH_IN_TX |	\
	 PERF_SAMPLE_BRANCH_NO_TX | PERF_SAMPLE_BRANCH_CALL_STACK |	\
	 PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES)

/* Filters for attr.branch_sample_type @asked; -EOPNOTSUPP for what the hardware does not know. */
int amd_pe_branch_filter(u64 asked, struct amd_pe_branch_filter *filter)
{
	int i;

	if (asked & UNSUPPORTED)
		return -EOPNOTSUPP;
	filter->suppress = AMD_PE_ALL_BRANCHES;
	filter->want = 0;
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!(asked & kinds[i].asked))
			continue;
		filter->suppress &= ~kinds[i].record;
		filter->want |= kinds[i].want;
	}
	return 0;
}

#define TO_REFUSED	BIT_ULL(61)	/* written by mistake: erratum 1452 */
#define TO_OUTCOME	62		/* bits 62 and 63: speculative, executed */
#define FROM_MISPREDICT	BIT_ULL(63)

/* Is there a branch in the record of which this is the target register? */
bool amd_pe_is_recorded(u64 to)
{
	return to >> TO_OUTCOME && !(to & TO_REFUSED);
}

static u64 canonical(u64 address, unsigned int va_bits)
{
	unsigned int unused = 64 - va_bits;

	return (s64)(address << unused) >> unused;
}

/* Make an entry of the two registers of a record that has one. */
void amd_pe_decode_branch(u64 from, u64 to, unsigned int va_bits, struct perf_branch_entry *br)
{
	/* The hardware's two bits are numbered as the ABI's values. */
	static_assert(PERF_BR_SPEC_WRONG_PATH == 1 && PERF_BR_NON_SPEC_CORRECT_PATH == 2 &&
		      PERF_BR_SPEC_CORRECT_PATH == 3);

	*br = (struct perf_branch_entry) {
		.from		= canonical(from, va_bits),
		.to		= canonical(to, va_bits),
		.mispred	= !!(from & FROM_MISPREDICT),
		.predicted	= !(from & FROM_MISPREDICT),
		.spec		= to >> TO_OUTCOME,
	};
}

/* Did an instruction branch here, rather than an interrupt or exception arrive? */
static bool is_instruction(int type)
{
	type &= ~X86_BR_PLM;
	return type != X86_BR_NONE && type != X86_BR_IRQ;
}

/*
 * Shall the entry be kept?  If so it is completed: the type, where @want says so, and the address
 * of the branch, where the record has that of an instruction before it with which it was fused.
 * Where an interrupt arrived there may be a branch further on too, which is not meant.
 */
bool amd_pe_want_branch(struct perf_branch_entry *br, u64 want)
{
	bool all = (want & (X86_BR_ALL | X86_BR_TYPE_SAVE)) == X86_BR_ALL;
	int ahead, type = branch_type_fused(br->from, br->to, 0, &ahead);

	/* A kernel exception has no type.  It is wanted if all are, and the text is readable. */
	if (type == X86_BR_NONE)
		return all && ahead;
	if (is_instruction(type))
		br->from += ahead;
	if ((type & ~want) || (!(want & X86_BR_KERNEL) && kernel_ip(br->from)))
		return false;
	if (want & X86_BR_TYPE_SAVE)
		br->type = common_branch_type(type);
	return true;
}
