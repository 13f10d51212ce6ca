// SPDX-License-Identifier: GPL-2.0
/*
 * Code that does not run in a flat segment: a sample's address is that of the
 * instruction in memory, not the offset in its segment.
 */
#include "lib/ptest.h"

#ifdef __x86_64__
#include <asm/ldt.h>

#define LDT_CODE	0x07		/* entry 0, of the LDT, for user space */
#define OFFSET		0x40		/* of the first instruction */
#define STORE		7		/* bytes of a store */
#define STORES		3

struct far_pointer {
	u32	offset;
	u16	selector;
};

/*
 * Into the segment at OFFSET and back again: @back is where its code has the address to return to.
 * Code of 32 bits needs a segment of data, and leaves no more of the stack pointer than 32 bits.
 */
static PT_NOINLINE void run_segment(u8 *back)
{
	static const struct far_pointer far = { OFFSET, LDT_CODE };
	static u64 stack;

	__asm__ volatile("movl $1f, (%[back])\n"
			 "mov %%rsp, %[stack]\n"
			 "mov $0x2b, %%eax\n"
			 "mov %%eax, %%ds\n"
			 "ljmp *%[far]\n"
			 "1: mov %[stack], %%rsp\n"
			 "xor %%eax, %%eax\n"
			 "mov %%eax, %%ds\n"
			 : [stack] "+m" (stack)
			 : [back] "r" (back), [far] "m" (far)
			 : "rax", "rbx", "rcx", "rdx", "rbp", "r8", "r9", "r10", "r11", "r12",
			   "r13", "r14", "r15", "cc", "memory");
}

static u8 *low_pages(unsigned int nr)
{
	void *p = mmap(NULL, nr * (size_t)pt_page_size(), PROT_READ | PROT_WRITE | PROT_EXEC,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	pt_need(p != MAP_FAILED, "mmap: %s", strerror(errno));
	madvise(p, nr * (size_t)pt_page_size(), MADV_NOHUGEPAGE);
	return p;
}

static u32 low(const void *p)
{
	pt_need(pt_addr(p) <= 0xffffffff, "%p is too high", p);
	return (u32)pt_addr(p);
}

/*
 * movb $1, ADDRESS for a byte of each page of @to, then a far jump to 64-bit code.  Return: where
 * the jump has its address.
 */
static u8 *write_code(u8 *at, u8 *to)
{
	u32 address;
	int i;

	for (i = 0; i < STORES; i++, at += STORE) {
		address = low(to + i * pt_page_size());
		at[0] = 0xc6;
		at[1] = 0x05;
		memcpy(at + 2, &address, sizeof(address));
		at[6] = 1;
	}
	at[0] = 0xea;
	at[5] = 0x33;
	at[6] = 0;
	return at + 1;
}

static void need_segment(u8 *base)
{
	struct user_desc desc = {
		.base_addr	= low(base),
		.limit		= 0xfffff,
		.limit_in_pages	= 1,
		.seg_32bit	= 1,
		.contents	= MODIFY_LDT_CONTENTS_CODE,
	};

	if (syscall(SYS_modify_ldt, 0x11, &desc, sizeof(desc)) < 0)
		pt_skip("modify_ldt: %s", strerror(errno));
}

static void code_of_the_ldt(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	u8 *code = low_pages(1), *to, *back;
	static struct pt_record rec;
	static struct pt_sample s;
	struct pt_ring ring;
	int fd, n = 0;

	need_segment(code);
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 1);
	pt_settle();
	to = low_pages(STORES);		/* pages that are not there yet */
	back = write_code(code + OFFSET, to);
	pt_drain(&ring);
	run_segment(back);
	pt_disable(fd);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		if (s.addr < pt_addr(to) || s.addr >= pt_addr(to + STORES * pt_page_size()))
			continue;	/* a fault of this program itself */
		pt_eq(s.addr, pt_addr(to + n * pt_page_size()));
		pt_eq(s.ip, pt_addr(code) + OFFSET + (u64)n * STORE);
		n++;
	}
	pt_eq(n, STORES);
}
#else
static void code_of_the_ldt(void)
{
	pt_skip("no segments");
}
#endif

static const struct pt_case cases[] = {
	{ "code_of_the_ldt", code_of_the_ldt },
};

PT_MAIN(cases)
