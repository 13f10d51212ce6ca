/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registers of PMUs of arm64 that Linux 6.12 has no names for.
 *
 * Those of a newer <asm/sysreg.h> or <linux/perf/arm_pmuv3.h> are the same and win.  Sections are
 * those of the Arm Architecture Reference Manual (DDI 0487).
 */
#ifndef _ARM64_PERF_PMUV3_REGS_H
#define _ARM64_PERF_PMUV3_REGS_H

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
#define ARMV8_PMU_USERENR_UEN		(1 << 4)
#endif

#endif /* _ARM64_PERF_PMUV3_REGS_H */
