// SPDX-License-Identifier: GPL-2.0
/*
 * NMIs that come too late: whose they are, when the handler finds nothing.
 *
 * The handler of one NMI also handles counters that overflow while it runs, or while the CPU
 * handles an NMI of another source.  Their own NMI is sent all the same, and if it reaches the
 * local APIC late the NMI layer does not see it as back to back.  Then it would be reported as
 * unknown.  So for a tenth of a second after an overflow was handled on a CPU, NMIs that find
 * nothing are claimed.
 *
 * Owns claim_until, of each CPU, which only its NMIs use once the CPU has started.
 */
#include <linux/jiffies.h>
#include <linux/percpu.h>

#include <asm/nmi.h>

#include "cpu.h"

static DEFINE_PER_CPU(unsigned long, claim_until);
static unsigned long claim_span __ro_after_init;

/* What the NMI layer shall hear when @handled overflows were found. */
int amd_pe_claim(int handled)
{
	if (likely(handled)) {
		__this_cpu_write(claim_until, jiffies + claim_span);
		return handled;
	}
	return time_after(jiffies, __this_cpu_read(claim_until)) ? NMI_DONE : NMI_HANDLED;
}

/* x86_pmu.handle_irq of CPUs without an overflow status. */
int amd_pe_nmi(struct pt_regs *regs)
{
	return amd_pe_claim(x86_pmu_handle_irq(regs));
}

/* A CPU starts: nothing has overflowed yet.  Jiffies begin below zero, on 32 bits. */
void amd_pe_claim_cpu_init(void)
{
	__this_cpu_write(claim_until, jiffies - 1);
}

void __init amd_pe_claim_init(void)
{
	claim_span = msecs_to_jiffies(100);
}
