// SPDX-License-Identifier: GPL-2.0
/*
 * What an event asks of the branch records of FEAT_BRBE, and what its samples show of them.
 *
 * Functions of their arguments; no register is touched.  @wanted is attr.branch_sample_type, in
 * which the core has put the levels; @hyp: the kernel runs at EL2 (VHE).
 *
 * The events that are on a CPU together share the buffer, and what is recorded is what any of them
 * wants.  Each is shown what it would see if it were alone: branches of its types, and of a branch
 * that leaves its levels only the end that is inside, as the hardware records it.
 */
#include <linux/bitfield.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/limits.h>

#include "pmuv3_brbe.h"
#include "pmuv3_regs.h"

#define WANT(name)	PERF_SAMPLE_BRANCH_##name
#define TYPE(name)	BIT_ULL(BRBINF_TYPE_##name)

#define CALLS		(TYPE(DIRECT_LINK) | TYPE(INDIRECT_LINK))
#define PLAIN		(CALLS | TYPE(DIRECT) | TYPE(INDIRECT) | TYPE(RET) | TYPE(COND))
#define FAULTS		(TYPE(ALIGN_FAULT) | TYPE(INSN_FAULT) | TYPE(DATA_FAULT))
#define EXCEPTIONS	(FAULTS | TYPE(CALL) | TYPE(TRAP) | TYPE(SERROR) | TYPE(IRQ) |	\
			 TYPE(FIQ) | TYPE(INSN_DEBUG) | TYPE(DATA_DEBUG))
#define DEBUG_STATE	(TYPE(DEBUG_HALT) | TYPE(DEBUG_EXIT))

#define KINDS		(WANT(ANY) | WANT(ANY_CALL) | WANT(ANY_RETURN) | WANT(IND_CALL) |	\
			 WANT(COND) | WANT(IND_JUMP) | WANT(CALL))
#define REFUSED		(WANT(ABORT_TX) | WANT(IN_TX) | WANT(NO_TX) | WANT(CALL_STACK) |	\
			 WANT(COUNTERS))

/* Bits that appear here for the first time belong to one of the two. */
static_assert((KINDS | REFUSED | WANT(PLM_ALL) | WANT(NO_FLAGS) | WANT(NO_CYCLES) |
	       WANT(TYPE_SAVE) | WANT(HW_INDEX) | WANT(PRIV_SAVE)) == WANT(MAX) - 1);

/**
 * brbe_usable_records() - how many records there are
 * @brbidr: BRBIDR0_EL1
 *
 * Return: 0 if the buffer has a format that is not known here.
 */
unsigned int brbe_usable_records(u64 brbidr)
{
	unsigned int records = FIELD_GET(BRBIDR0_NUMREC, brbidr);

	if (FIELD_GET(BRBIDR0_FORMAT, brbidr) != BRBIDR0_FORMAT_0 ||
	    FIELD_GET(BRBIDR0_CC, brbidr) != BRBIDR0_CC_20_BITS)
		return 0;
	return records == 8 || records == 16 || records == 32 || records == 64 ? records : 0;
}

/* Bits of BRBINF.TYPE.  Exceptions are the kernel's, also where they begin in user space. */
static u64 types_of(u64 wanted)
{
	bool kernel = wanted & WANT(KERNEL);
	u64 types = 0;

	if (wanted & WANT(ANY))
		types |= PLAIN | (kernel ? TYPE(ERET) | EXCEPTIONS | DEBUG_STATE : 0);
	if (wanted & WANT(ANY_CALL))
		types |= CALLS | (kernel ? EXCEPTIONS : 0);
	if (wanted & WANT(ANY_RETURN))
		types |= TYPE(RET) | (kernel ? TYPE(ERET) : 0);
	if (wanted & WANT(IND_CALL))
		types |= TYPE(INDIRECT_LINK);
	if (wanted & WANT(COND))
		types |= TYPE(COND);
	if (wanted & WANT(IND_JUMP))
		types |= TYPE(INDIRECT);
	if (wanted & WANT(CALL))
		types |= TYPE(DIRECT_LINK);
	return types;
}

/* BRBFCR selects plain branches by type, BRBCR the two kinds of others. */
static void select_types(u64 types, struct brbe_filter *filter)
{
	filter->fcr = (types & TYPE(DIRECT) ? BRBFCR_DIRECT : 0) |
		      (types & TYPE(INDIRECT) ? BRBFCR_INDIRECT : 0) |
		      (types & TYPE(DIRECT_LINK) ? BRBFCR_DIRCALL : 0) |
		      (types & TYPE(INDIRECT_LINK) ? BRBFCR_INDCALL : 0) |
		      (types & TYPE(RET) ? BRBFCR_RTN : 0) |
		      (types & TYPE(COND) ? BRBFCR_CONDDIR : 0);
	filter->cr |= (types & TYPE(ERET) ? BRBCR_ERTN : 0) |
		      (types & EXCEPTIONS ? BRBCR_EXCEPTION : 0);
}

/* The hypervisor of a kernel at EL1 is not recorded; under VHE it is the kernel. */
static bool wants_kernel(u64 wanted, bool hyp)
{
	return wanted & WANT(KERNEL) || (hyp && wanted & WANT(HV));
}

/**
 * brbe_filter() - what the registers have to hold for an event
 * @attr: the event's, with PERF_SAMPLE_BRANCH_STACK
 * @hyp: the kernel runs at EL2
 * @filter: the result
 *
 * Return: 0, or -EOPNOTSUPP for what is not recorded: transactions, call stacks, counters; nothing
 * in particular; guests.
 */
int brbe_filter(const struct perf_event_attr *attr, bool hyp, struct brbe_filter *filter)
{
	u64 wanted = attr->branch_sample_type;

	if (wanted & REFUSED || !(wanted & KINDS))
		return -EOPNOTSUPP;
	if (attr->exclude_host || (attr->exclude_user && attr->exclude_kernel))
		return -EOPNOTSUPP;

	filter->cr = BRBCR_FZP | BRBCR_TS_VIRTUAL |
		     (wanted & WANT(USER) ? BRBCR_E0BRE : 0) |
		     (wants_kernel(wanted, hyp) ? BRBCR_EXBRE : 0) |
		     (wanted & WANT(NO_CYCLES) ? 0 : BRBCR_CC) |
		     (wanted & WANT(NO_FLAGS) ? 0 : BRBCR_MPRED);
	select_types(types_of(wanted), filter);
	return 0;
}

static const struct {
	u8	type, new_type;
} perf_types[] = {
	[BRBINF_TYPE_DIRECT]		= { PERF_BR_UNCOND },
	[BRBINF_TYPE_INDIRECT]		= { PERF_BR_IND },
	[BRBINF_TYPE_DIRECT_LINK]	= { PERF_BR_CALL },
	[BRBINF_TYPE_INDIRECT_LINK]	= { PERF_BR_IND_CALL },
	[BRBINF_TYPE_RET]		= { PERF_BR_RET },
	[BRBINF_TYPE_ERET]		= { PERF_BR_ERET },
	[BRBINF_TYPE_COND]		= { PERF_BR_COND },
	[BRBINF_TYPE_DEBUG_HALT]	= { PERF_BR_EXTEND_ABI, PERF_BR_ARM64_DEBUG_HALT },
	[BRBINF_TYPE_CALL]		= { PERF_BR_SYSCALL },
	[BRBINF_TYPE_TRAP]		= { PERF_BR_IRQ },
	[BRBINF_TYPE_SERROR]		= { PERF_BR_SERROR },
	[BRBINF_TYPE_INSN_DEBUG]	= { PERF_BR_EXTEND_ABI, PERF_BR_ARM64_DEBUG_INST },
	[BRBINF_TYPE_DATA_DEBUG]	= { PERF_BR_EXTEND_ABI, PERF_BR_ARM64_DEBUG_DATA },
	[BRBINF_TYPE_ALIGN_FAULT]	= { PERF_BR_EXTEND_ABI, PERF_BR_NEW_FAULT_ALGN },
	[BRBINF_TYPE_INSN_FAULT]	= { PERF_BR_EXTEND_ABI, PERF_BR_NEW_FAULT_INST },
	[BRBINF_TYPE_DATA_FAULT]	= { PERF_BR_EXTEND_ABI, PERF_BR_NEW_FAULT_DATA },
	[BRBINF_TYPE_IRQ]		= { PERF_BR_IRQ },
	[BRBINF_TYPE_FIQ]		= { PERF_BR_EXTEND_ABI, PERF_BR_ARM64_FIQ },
	[BRBINF_TYPE_DEBUG_EXIT]	= { PERF_BR_EXTEND_ABI, PERF_BR_ARM64_DEBUG_EXIT },
};

/*
 * A floating-point number: without an exponent the mantissa, else with a ninth bit that is set,
 * shifted by one less than the exponent.  From 9 on the result has more than 16 bits.
 */
static u16 cycles_of(u64 info)
{
	unsigned int exponent = FIELD_GET(BRBINF_CC_EXPONENT, info);
	unsigned int mantissa = FIELD_GET(BRBINF_CC_MANTISSA, info);

	if (info & BRBINF_CC_UNKNOWN)
		return 0;
	if (!exponent)
		return mantissa;
	return exponent < 9 ? (BIT(8) | mantissa) << (exponent - 1) : U16_MAX;
}

static unsigned int level_of(u64 info, bool hyp)
{
	switch (FIELD_GET(BRBINF_EL, info)) {
	case 0:
		return PERF_BR_PRIV_USER;
	case 1:
		return PERF_BR_PRIV_KERNEL;
	case 2:
		return hyp ? PERF_BR_PRIV_KERNEL : PERF_BR_PRIV_HV;
	default:
		return PERF_BR_PRIV_UNKNOWN;
	}
}

/*
 * The record has the level of the target.  Plain branches stay at a level, exception returns come
 * from the kernel; where exceptions come from is told by the half of the address space.
 */
static bool from_kernel(const struct brbe_record *record, u64 type, bool has_target)
{
	if (type & PLAIN && has_target)
		return FIELD_GET(BRBINF_EL, record->info);
	return type & TYPE(ERET) || record->source & BIT_ULL(55);
}

/**
 * brbe_show() - what a sample shows of a record
 * @record: it
 * @wanted: attr.branch_sample_type of the event
 * @hyp: the kernel runs at EL2
 * @entry: the result
 *
 * An end outside of the event's levels has address 0.  Flags come with a source, the level with a
 * target.  Transactions do not exist: Arm has given up FEAT_TME.
 *
 * Return: false if it shows nothing.
 */
bool brbe_show(const struct brbe_record *record, u64 wanted, bool hyp,
	       struct perf_branch_entry *entry)
{
	unsigned int nr = FIELD_GET(BRBINF_TYPE, record->info);
	unsigned int valid = FIELD_GET(BRBINF_VALID, record->info);
	bool user = wanted & WANT(USER), kernel = wants_kernel(wanted, hyp);
	bool source = valid & BRBINF_VALID_SOURCE, target = valid & BRBINF_VALID_TARGET;
	u64 type = BIT_ULL(nr);

	if (!(type & types_of(wanted)))
		return false;
	source = source && (from_kernel(record, type, target) ? kernel : user);
	target = target && (FIELD_GET(BRBINF_EL, record->info) ? kernel : user);
	if (!source && !target)
		return false;

	*entry = (struct perf_branch_entry) {
		.type		= perf_types[nr].type,
		.new_type	= perf_types[nr].new_type,
	};
	if (source)
		entry->from = record->source;
	if (source && !(wanted & WANT(NO_FLAGS))) {
		entry->mispred = !!(record->info & BRBINF_MPRED);
		entry->predicted = !entry->mispred;
	}
	if (target) {
		entry->to = record->target;
		entry->priv = level_of(record->info, hyp);
	}
	if (!(wanted & WANT(NO_CYCLES)))
		entry->cycles = cycles_of(record->info);
	return true;
}
