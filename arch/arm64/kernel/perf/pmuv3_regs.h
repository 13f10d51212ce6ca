/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registers of PMUs of arm64 that Linux 6.12 has no names for.
 *
 * Those of a newer <asm/sysreg.h> or <linux/perf/arm_pmuv3.h> are the same and win.  Sections are
 * those of the Arm Architecture Reference Manual (DDI 0487).
 */
#ifndef _ARM64_PERF_PMUV3_REGS_H
#define _ARM64_PERF_PMUV3_REGS_H

#include <linux/bits.h>

#include <asm/sysreg.h>

/*
 * PMUACR_EL1, of FEAT_PMUv3p9 (D24.5): the bits are numbered as in PMCNTENSET_EL0.  With
 * PMUSERENR_EL0.UEN a counter whose bit is 0 is zero to EL0, and ER and CR make the others
 * read-only; without UEN the register has no effect.
 */
#ifndef SYS_PMUACR_EL1
#define SYS_PMUACR_EL1			sys_reg(3, 0, 9, 14, 4)
#endif

#ifndef ARMV8_PMU_USERENR_UEN
#define ARMV8_PMU_USERENR_UEN		BIT(4)
#endif

/* BRBIDR0_EL1 (D24.2): formats of the buffer and of the count of cycles, number of records */
#define BRBIDR0_NUMREC			GENMASK_ULL(7, 0)
#define BRBIDR0_FORMAT			GENMASK_ULL(11, 8)
#define BRBIDR0_CC			GENMASK_ULL(15, 12)
#define BRBIDR0_FORMAT_0		0
#define BRBIDR0_CC_20_BITS		5

/* BRBCR_EL1, _EL2, _EL12: where branches are recorded, and what a record has */
#define BRBCR_E0BRE			BIT_ULL(0)
#define BRBCR_EXBRE			BIT_ULL(1)	/* EL1 or EL2, the register's */
#define BRBCR_CC			BIT_ULL(3)
#define BRBCR_MPRED			BIT_ULL(4)
#define BRBCR_TS_VIRTUAL		BIT_ULL(5)	/* 0 is reserved; nobody reads BRBTS */
#define BRBCR_FZP			BIT_ULL(8)	/* an overflow sets BRBFCR.PAUSED */
#define BRBCR_ERTN			BIT_ULL(22)
#define BRBCR_EXCEPTION			BIT_ULL(23)

/* BRBFCR_EL1: which branches; the bank of 32 records that the registers show */
#define BRBFCR_PAUSED			BIT_ULL(7)
#define BRBFCR_DIRECT			BIT_ULL(17)
#define BRBFCR_INDIRECT			BIT_ULL(18)
#define BRBFCR_RTN			BIT_ULL(19)
#define BRBFCR_INDCALL			BIT_ULL(20)
#define BRBFCR_DIRCALL			BIT_ULL(21)
#define BRBFCR_CONDDIR			BIT_ULL(22)
#define BRBFCR_BANK			GENMASK_ULL(29, 28)

/* BRBINF<n>_EL1 */
#define BRBINF_VALID			GENMASK_ULL(1, 0)
#define BRBINF_VALID_NONE		0
#define BRBINF_VALID_TARGET		1
#define BRBINF_VALID_SOURCE		2
#define BRBINF_VALID_FULL		3
#define BRBINF_MPRED			BIT_ULL(5)	/* of a source */
#define BRBINF_EL			GENMASK_ULL(7, 6)	/* of a target */
#define BRBINF_TYPE			GENMASK_ULL(13, 8)
#define BRBINF_CC_MANTISSA		GENMASK_ULL(39, 32)
#define BRBINF_CC_EXPONENT		GENMASK_ULL(45, 40)
#define BRBINF_CC_UNKNOWN		BIT_ULL(46)

/* BRBINF.TYPE; exceptions, and debug state, have bit 5 */
#define BRBINF_TYPE_DIRECT		0x00
#define BRBINF_TYPE_INDIRECT		0x01
#define BRBINF_TYPE_DIRECT_LINK		0x02
#define BRBINF_TYPE_INDIRECT_LINK	0x03
#define BRBINF_TYPE_RET			0x05
#define BRBINF_TYPE_ERET		0x07
#define BRBINF_TYPE_COND		0x08
#define BRBINF_TYPE_DEBUG_HALT		0x21
#define BRBINF_TYPE_CALL		0x22
#define BRBINF_TYPE_TRAP		0x23
#define BRBINF_TYPE_SERROR		0x24
#define BRBINF_TYPE_INSN_DEBUG		0x26
#define BRBINF_TYPE_DATA_DEBUG		0x27
#define BRBINF_TYPE_ALIGN_FAULT		0x2a
#define BRBINF_TYPE_INSN_FAULT		0x2b
#define BRBINF_TYPE_DATA_FAULT		0x2c
#define BRBINF_TYPE_IRQ			0x2e
#define BRBINF_TYPE_FIQ			0x2f
#define BRBINF_TYPE_DEBUG_EXIT		0x39

#endif /* _ARM64_PERF_PMUV3_REGS_H */
