// SPDX-License-Identifier: GPL-2.0
/*
 * The registers of the branch record buffer (FEAT_BRBE) of this CPU.
 *
 * Irqs off.  Records can be read while recording is paused, and there is an ISB between pausing and
 * the first read, and between choosing a bank and reading it (D18.4 of the Arm ARM).
 *
 * Under VHE what is called BRBCR_EL1 here is BRBCR_EL2, and rules EL2 and the host's EL0.
 * BRBCR_EL1 proper, BRBCR_EL12, rules EL1 and EL0 of guests: those stay off.  It has the freeze on
 * overflow, as all counters belong to EL1 (MDCR_EL2.HPMN), and CC and MPRED have to be in both.
 */
#include <linux/bitfield.h>

#include <asm/barrier.h>
#include <asm/cpufeature.h>
#include <asm/sysreg.h>

#include "pmuv3_brbe.h"
#include "pmuv3_regs.h"

/**
 * brbe_identify() - does this CPU have branch records that we can use?
 *
 * Return: BRBIDR0_EL1, or 0
 */
u64 brbe_identify(void)
{
	u64 dfr0 = read_sysreg(id_aa64dfr0_el1), brbidr;
	unsigned int version = cpuid_feature_extract_unsigned_field(dfr0,
								    ID_AA64DFR0_EL1_BRBE_SHIFT);

	/* 1: FEAT_BRBE, 2: FEAT_BRBEv1p1; what comes later may have other records */
	if (version != 1 && version != 2)
		return 0;
	brbidr = read_sysreg_s(SYS_BRBIDR0_EL1);
	return brbe_usable_records(brbidr) ? brbidr : 0;
}

/**
 * brbe_invalidate() - drop all records
 */
void brbe_invalidate(void)
{
	isb();		/* branches before this are recorded, and dropped */
	asm volatile(__msr_s(OP_BRB_IALL, "xzr"));
	isb();
}

/**
 * brbe_record() - record from now on
 * @filter: what
 * @hyp: the kernel runs at EL2
 *
 * Recording was paused.  Where to record has to be in place before the pause ends.
 */
void brbe_record(const struct brbe_filter *filter, bool hyp)
{
	if (hyp)
		write_sysreg_s(filter->cr & ~(BRBCR_E0BRE | BRBCR_EXBRE), SYS_BRBCR_EL12);
	write_sysreg_s(filter->cr, SYS_BRBCR_EL1);
	isb();
	write_sysreg_s(filter->fcr, SYS_BRBFCR_EL1);
}

/**
 * brbe_pause() - record no more
 *
 * Takes effect at the next ISB.
 */
void brbe_pause(void)
{
	write_sysreg_s(BRBFCR_PAUSED, SYS_BRBFCR_EL1);
	write_sysreg_s(0, SYS_BRBCR_EL1);
}

static void choose_bank(unsigned int bank)
{
	write_sysreg_s(BRBFCR_PAUSED | FIELD_PREP(BRBFCR_BANK, bank), SYS_BRBFCR_EL1);
	isb();
}

/* The number of a register is part of the instruction; @n is in parentheses. */
#define CASE(n)								\
	case n:								\
		record->info = read_sysreg_s(SYS_BRBINF_EL1(n));	\
		record->source = read_sysreg_s(SYS_BRBSRC_EL1(n));	\
		record->target = read_sysreg_s(SYS_BRBTGT_EL1(n));	\
		break;

#define CASES(n)							\
	CASE(((n) + 0)) CASE(((n) + 1)) CASE(((n) + 2)) CASE(((n) + 3))	\
	CASE(((n) + 4)) CASE(((n) + 5)) CASE(((n) + 6)) CASE(((n) + 7))

static void read_record(unsigned int nr, struct brbe_record *record)
{
	switch (nr) {
	CASES(0)
	CASES(8)
	CASES(16)
	CASES(24)
	}
}

/**
 * brbe_read() - read the records, the youngest first
 * @record: room for all
 * @records: how many the CPU has
 *
 * Recording is paused.
 *
 * Return: the number of valid ones, which come before the others.
 */
unsigned int brbe_read(struct brbe_record *record, unsigned int records)
{
	unsigned int i;

	for (i = 0; i < records; i++) {
		if (i % BRBE_BANK_RECORDS == 0)
			choose_bank(i / BRBE_BANK_RECORDS);
		read_record(i % BRBE_BANK_RECORDS, &record[i]);
		if (FIELD_GET(BRBINF_VALID, record[i].info) == BRBINF_VALID_NONE)
			break;
	}
	return i;
}
