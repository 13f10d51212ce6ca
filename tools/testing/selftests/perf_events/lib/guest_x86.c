// SPDX-License-Identifier: GPL-2.0
/* A guest of x86: a few instructions in real mode.  See guest.h. */
#if defined(__x86_64__)
#include "guest.h"
#include "x86.h"

#define CODE	0x1000ull	/* in the guest, as is RESULT */
#define RESULT	0x3000
#define SIZE	0x4000

struct guest guest_make(void)
{
	struct { struct kvm_cpuid2 head; struct kvm_cpuid_entry2 entries[256]; } *cpuid;
	struct guest g = guest_bare(0, SIZE);

	x86_need_exact();
	pt_pin(0);
	/* Without the host's CPUID the guest has no PMU. */
	cpuid = calloc(1, sizeof(*cpuid));
	pt_need(cpuid, "no memory");
	cpuid->head.nent = PT_ARRAY_SIZE(cpuid->entries);
	pt_eq(ioctl(g.kvm, KVM_GET_SUPPORTED_CPUID, cpuid), 0);
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

/* mov $turns, %ecx; 1: dec %ecx; jnz 1b; hlt */
void guest_load_spin(struct guest *g, u32 turns)
{
	u8 code[] = { 0x66, 0xb9, 0, 0, 0, 0, 0x66, 0x49, 0x75, 0xfc, 0xf4 };

	memcpy(code + 2, &turns, 4);
	load(g, code, sizeof(code));
}

/* All but hlt, which exits. */
u64 guest_spin_cost(u32 turns)
{
	return 2 * (u64)turns + 1;
}

bool guest_samples_are_exact(void)
{
	return true;
}

bool guest_spin_is_at(u64 ip, u64 n)
{
	return ip == CODE + 6 + ((n - 1) & 1 ? 2 : 0);
}

bool guest_in_user_mode(struct guest *g)
{
	(void)g;
	return false;
}

void guest_finish(struct guest *g)
{
	pt_eq(g->run->exit_reason, KVM_EXIT_HLT);
}

/*
 * The guest counts itself: select, a loop, stop, and the counter to RESULT. From the WRMSR that
 * starts to the one that stops are mov, the loop and xor.
 */
u64 guest_counts(struct guest *g, u32 turns)
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
	guest_run(g);
	memcpy(&count, g->memory + RESULT, sizeof(count));
	return count;
}
#endif
