// SPDX-License-Identifier: GPL-2.0
/*
 * sample_stack.c - what a sample tells of the interrupted code: call chain, registers,
 * user stack. The source is a page fault of an instruction that is known.
 */
#include "lib/fault_sample.h"

static PT_NOINLINE void call_chain(u8 *p)
{
	pt_chain_outer(p);
	__asm__ volatile("");
}

static void callchain_of_user_code(void)
{
	struct perf_event_attr attr = faults(PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN);
	u8 *p = pt_fresh_pages(2);
	struct pt_ring r;
	int fd;

	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, fd, 8);
	pt_enable(fd);
	call_chain(p);
	pt_disable(fd);
	next_sample(&r, &attr, &s, &rec);
	pt_eq(s.ip, pt_addr(pt_chain_insn));
	pt_need(s.nr_ips >= 4, "%llu entries", (unsigned long long)s.nr_ips);
	pt_eq(s.ips[0], (u64)PERF_CONTEXT_USER);
	pt_eq(s.ips[1], pt_addr(pt_chain_insn));
	pt_eq(s.ips[2], pt_addr(pt_chain_return));
	pt_check(s.ips[3] - pt_addr((void *)call_chain) - 1 < 63,
		 "%#llx is not in call_chain", (unsigned long long)s.ips[3]);
}

static void callchain_limits(void)
{
	struct perf_event_attr attr = faults(PERF_SAMPLE_CALLCHAIN);
	int max;

	for (max = 1; max <= 3; max++) {
		u8 *p = pt_fresh_pages(2);
		struct pt_ring r;
		int fd;

		attr.sample_max_stack = (u16)max;
		fd = pt_open(&attr, 0, -1, -1, 0);
		pt_map(&r, fd, 8);
		pt_enable(fd);
		call_chain(p);
		pt_disable(fd);
		next_sample(&r, &attr, &s, &rec);
		/* The limit is about addresses, the marker comes extra. */
		pt_eq(s.nr_ips, 1 + max);
		pt_eq(s.ips[1], pt_addr(pt_chain_insn));
		close(fd);
	}
}

static void callchain_exclusions(void)
{
	struct perf_event_attr attr = faults(PERF_SAMPLE_CALLCHAIN);
	u8 *p = pt_fresh_pages(2);
	struct pt_ring r;
	int fd;

	attr.exclude_callchain_user = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, fd, 8);
	pt_enable(fd);
	call_chain(p);
	pt_disable(fd);
	next_sample(&r, &attr, &s, &rec);
	/* A fault of user space has nothing but user addresses. */
	pt_eq(s.nr_ips, 0);
	close(fd);
	attr.exclude_callchain_user = 0;
	attr.exclude_callchain_kernel = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, fd, 8);
	pt_enable(fd);
	call_chain(p + pt_page_size());
	pt_disable(fd);
	next_sample(&r, &attr, &s, &rec);
	pt_eq(s.ips[0], (u64)PERF_CONTEXT_USER);
	pt_eq(s.ips[1], pt_addr(pt_chain_insn));
}

/* How a fault inside a system call looks: kernel part, then user part. */
static void callchain_through_the_kernel(void)
{
	struct perf_event_attr attr = faults(PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN);
	bool kernel, user;

	for (kernel = false;; kernel = true) {
		for (user = false;; user = true) {
			u8 *p = pt_fresh_pages(1);
			u64 i, nk = 0, nu = 0, section = 0;
			struct pt_ring r;
			int fd, zero;

			attr.exclude_callchain_kernel = !kernel;
			attr.exclude_callchain_user = !user;
			fd = pt_open(&attr, 0, -1, -1, 0);
			pt_map(&r, fd, 8);
			zero = open("/dev/zero", O_RDONLY);
			pt_enable(fd);
			pt_eq(read(zero, p, 8), 8);
			pt_disable(fd);
			next_sample(&r, &attr, &s, &rec);
			for (i = 0; i < s.nr_ips; i++) {
				if (s.ips[i] >= PERF_CONTEXT_MAX) {
					section = s.ips[i];
					continue;
				}
				nk += section == (u64)PERF_CONTEXT_KERNEL && s.ips[i] >> 63;
				nu += section == (u64)PERF_CONTEXT_USER && !(s.ips[i] >> 63);
				pt_check(section, "address without a marker");
			}
			pt_check(kernel ? nk >= 2 : !nk, "%llu kernel addresses with kernel=%d",
				 (unsigned long long)nk, kernel);
			pt_check(user ? nu >= 1 : !nu, "%llu user addresses with user=%d",
				 (unsigned long long)nu, user);
			if (kernel)
				pt_eq(s.ips[1], s.ip);
			close(fd);
			close(zero);
			if (user)
				break;
		}
		if (kernel)
			break;
	}
}

static void user_registers(void)
{
	struct perf_event_attr attr = faults(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR);
	u8 *p = pt_fresh_pages(1);
	struct pt_ring r;
	int fd, i;

	attr.sample_regs_user = (1ull << REG_SP) | (1ull << REG_PC) | (1ull << REG_ARG0) |
				(1ull << REG_FP);
	attr.sample_regs_intr = attr.sample_regs_user;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, fd, 8);
	pt_enable(fd);
	pt_chain_outer(p);
	pt_disable(fd);
	next_sample(&r, &attr, &s, &rec);
	pt_eq(s.user_abi, PERF_SAMPLE_REGS_ABI_64);
	pt_eq(s.user_regs[REG_PC], pt_addr(pt_chain_insn));
	pt_eq(s.user_regs[REG_ARG0], pt_addr(p));
	/* In the inner function the frame pointer is the stack pointer. */
	pt_eq(s.user_regs[REG_SP], s.user_regs[REG_FP]);
	pt_check(s.user_regs[REG_SP] < pt_addr(&fd) && s.user_regs[REG_SP] > pt_addr(&fd) - 4096,
		 "stack pointer %#llx", (unsigned long long)s.user_regs[REG_SP]);
	/* The fault interrupted user space: the same registers. */
	pt_eq(s.intr_abi, PERF_SAMPLE_REGS_ABI_64);
	for (i = 0; i < 64; i++)
		pt_eq(s.intr_regs[i], s.user_regs[i]);
}

static void registers_inside_the_kernel(void)
{
	struct perf_event_attr attr = faults(PERF_SAMPLE_IP | PERF_SAMPLE_REGS_USER |
					     PERF_SAMPLE_REGS_INTR);
	u8 *p = pt_fresh_pages(1);
	struct pt_ring r;
	int fd, zero;

	attr.sample_regs_user = (1ull << REG_SP) | (1ull << REG_PC);
	attr.sample_regs_intr = 1ull << REG_PC;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, fd, 8);
	zero = open("/dev/zero", O_RDONLY);
	pt_enable(fd);
	pt_eq(read(zero, p, 8), 8);
	pt_disable(fd);
	next_sample(&r, &attr, &s, &rec);
	pt_eq(s.intr_regs[REG_PC], s.ip);
	pt_check(s.ip >> 63, "IP %#llx is not the kernel's", (unsigned long long)s.ip);
	/* USER are those of the system call. */
	pt_check(!(s.user_regs[REG_PC] >> 63) && s.user_regs[REG_PC], "user PC %#llx",
		 (unsigned long long)s.user_regs[REG_PC]);
	pt_check(!(s.user_regs[REG_SP] >> 63) && s.user_regs[REG_SP], "user SP %#llx",
		 (unsigned long long)s.user_regs[REG_SP]);
}

static void user_stack(void)
{
	struct perf_event_attr attr = faults(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
	u8 *p = pt_fresh_pages(1);
	struct pt_ring r;
	u64 word[2];
	int fd;

	attr.sample_regs_user = 1ull << REG_SP;
	attr.sample_stack_user = 512;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, fd, 8);
	pt_enable(fd);
	pt_chain_outer(p);
	pt_disable(fd);
	next_sample(&r, &attr, &s, &rec);
	pt_eq(s.stack_size, 512);
	pt_eq(s.stack_dyn_size, 512);
	/* On top: the saved frame pointer, the return address into outer. */
	memcpy(word, s.stack, sizeof(word));
	pt_eq(word[0], s.user_regs[REG_SP] + 16);
	pt_eq(word[1], pt_addr(pt_chain_return));
	/* What lies above belongs to this very function and did not change. */
	pt_check(!memcmp(s.stack + 64, (u8 *)(uintptr_t)s.user_regs[REG_SP] + 64, 64),
		 "the dump differs from the stack");
}

/* More than there is, and more than a record can hold. */
static void user_stack_too_large(void)
{
	struct perf_event_attr attr = faults(PERF_SAMPLE_STACK_USER | PERF_SAMPLE_TID);
	u8 *p = pt_fresh_pages(1);
	struct pt_ring r;
	int fd;

	attr.sample_stack_user = 65528;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, fd, 64);
	pt_enable(fd);
	pt_touch(p, 1);
	pt_disable(fd);
	next_sample(&r, &attr, &s, &rec);
	pt_check(s.stack_size > 32768 && s.stack_size < 65536, "stack of %llu bytes",
		 (unsigned long long)s.stack_size);
	pt_check(s.stack_dyn_size <= s.stack_size, "dynamic size %llu",
		 (unsigned long long)s.stack_dyn_size);
	pt_eq(s.tid, pt_tid());
}

/* A store with the stack pointer there, where nothing of the stack is used. */
static PT_NOINLINE void store_with_stack_at(u8 *p, u64 sp)
{
#if defined(__aarch64__)
	__asm__ volatile("mov x9, sp\n\t"
			 "mov sp, %[sp]\n\t"
			 "strb wzr, [%[p]]\n\t"
			 "mov sp, x9"
			 : : [p] "r" (p), [sp] "r" (sp) : "x9", "memory");
#elif defined(__x86_64__)
	__asm__ volatile("mov %%rsp, %%r11\n\t"
			 "mov %[sp], %%rsp\n\t"
			 "movb $0, (%[p])\n\t"
			 "mov %%r11, %%rsp"
			 : : [p] "r" (p), [sp] "r" (sp) : "r11", "memory");
#endif
}

/* Without a stack there is nothing to dump, nor is what is the kernel's. */
static void no_user_stack(void)
{
	static const u64 at[] = { 0, (u64)-4096 };
	struct perf_event_attr attr = faults(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
	u8 *p = pt_fresh_pages(2);
	struct pt_ring r;
	static u8 byte;
	int fd, i;

	attr.sample_regs_user = 1ull << REG_SP;
	attr.sample_stack_user = 512;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, fd, 8);
	byte = 1;
	store_with_stack_at(&byte, 0);	/* the code is there from now on */
	for (i = 0; i < 2; i++) {
		pt_enable(fd);
		store_with_stack_at(p + i * pt_page_size(), at[i]);
		pt_disable(fd);
		next_sample(&r, &attr, &s, &rec);
		pt_eq(s.user_regs[REG_SP], at[i]);
		pt_eq(s.stack_size, 0);
	}
}

static const struct pt_case cases[] = {
	{ "callchain_of_user_code", callchain_of_user_code },
	{ "callchain_limits", callchain_limits },
	{ "callchain_exclusions", callchain_exclusions },
	{ "callchain_through_the_kernel", callchain_through_the_kernel },
	{ "user_registers", user_registers },
	{ "registers_inside_the_kernel", registers_inside_the_kernel },
	{ "user_stack", user_stack },
	{ "user_stack_too_large", user_stack_too_large },
	{ "no_user_stack", no_user_stack },
};

PT_MAIN(cases)
