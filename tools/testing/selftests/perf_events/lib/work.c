// SPDX-License-Identifier: GPL-2.0
/*
 * work.c - things to do whose cost is known beforehand: a loop with a known
 * number of instructions, a known number of page faults, a known number of
 * context switches. Cases compare what the kernel counted with them.
 */
#include "ptest.h"
#include <sys/resource.h>

/*
 * The loop is written in assembly in a section of its own, so that its
 * bounds are symbols and no compiler option changes its length.
 */
#if defined(__x86_64__)
__asm__(".pushsection .text.pt_spin, \"ax\", @progbits\n"
	".balign 64\n"
	".globl pt_spin\n"
	".type pt_spin, @function\n"
	".globl pt_spin_start\n"
	".globl pt_spin_end\n"
	"pt_spin:\n"
	"pt_spin_start:\n"
	"1:	dec %rdi\n"
	"	jnz 1b\n"
	"	ret\n"
	"pt_spin_end:\n"
	".size pt_spin, . - pt_spin\n"
	".popsection\n");
#elif defined(__aarch64__)
__asm__(".pushsection .text.pt_spin, \"ax\", @progbits\n"
	".balign 64\n"
	".globl pt_spin\n"
	".type pt_spin, @function\n"
	".globl pt_spin_start\n"
	".globl pt_spin_end\n"
	"pt_spin:\n"
	"pt_spin_start:\n"
	"1:	subs x0, x0, #1\n"
	"	b.ne 1b\n"
	"	ret\n"
	"pt_spin_end:\n"
	".size pt_spin, . - pt_spin\n"
	".popsection\n");
#else
#error "no loop for this architecture"
#endif

/*
 * Stores at an address known to the instruction. pt_store_pages() touches a
 * row of pages; pt_chain_outer() does one store two frames deep, with frame
 * pointers as the ABI wants them, whatever the compiler makes of its own;
 * pt_store_on() does one with a stack and a caller's frame of your choice.
 */
#if defined(__x86_64__)
__asm__(".pushsection .text.pt_store, \"ax\", @progbits\n"
	".globl pt_store_pages, pt_store_insn\n"
	".type pt_store_pages, @function\n"
	"pt_store_pages:\n"
	"pt_store_insn:\n"
	"	movb $1, (%rdi)\n"
	"	add %rdx, %rdi\n"
	"	dec %rsi\n"
	"	jnz pt_store_insn\n"
	"	ret\n"
	".globl pt_chain_outer, pt_chain_return, pt_chain_insn\n"
	".type pt_chain_outer, @function\n"
	"pt_chain_outer:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	call pt_chain_inner\n"
	"pt_chain_return:\n"
	"	pop %rbp\n"
	"	ret\n"
	".type pt_chain_inner, @function\n"
	"pt_chain_inner:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"pt_chain_insn:\n"
	"	movb $1, (%rdi)\n"
	"	pop %rbp\n"
	"	ret\n"
	".globl pt_store_on, pt_store_on_insn\n"
	"pt_store_on:\n"
	"	push %rbx\n"
	"	push %rbp\n"
	"	mov %rsp, %rbx\n"
	"	mov %rsi, %rbp\n"
	"	mov %rdx, %rsp\n"
	"pt_store_on_insn:\n"
	"	movb $1, (%rdi)\n"
	"	mov %rbx, %rsp\n"
	"	pop %rbp\n"
	"	pop %rbx\n"
	"	ret\n"
	".popsection\n");
#else
__asm__(".pushsection .text.pt_store, \"ax\", @progbits\n"
	".globl pt_store_pages, pt_store_insn\n"
	".type pt_store_pages, @function\n"
	"pt_store_pages:\n"
	"pt_store_insn:\n"
	"	strb wzr, [x0]\n"
	"	add x0, x0, x2\n"
	"	subs x1, x1, #1\n"
	"	b.ne pt_store_insn\n"
	"	ret\n"
	".globl pt_chain_outer, pt_chain_return, pt_chain_insn\n"
	".type pt_chain_outer, @function\n"
	"pt_chain_outer:\n"
	"	stp x29, x30, [sp, #-16]!\n"
	"	mov x29, sp\n"
	"	bl pt_chain_inner\n"
	"pt_chain_return:\n"
	"	ldp x29, x30, [sp], #16\n"
	"	ret\n"
	".type pt_chain_inner, @function\n"
	"pt_chain_inner:\n"
	"	stp x29, x30, [sp, #-16]!\n"
	"	mov x29, sp\n"
	"pt_chain_insn:\n"
	"	strb wzr, [x0]\n"
	"	ldp x29, x30, [sp], #16\n"
	"	ret\n"
	".globl pt_store_on, pt_store_on_insn\n"
	"pt_store_on:\n"
	"	stp x29, x30, [sp, #-32]!\n"
	"	str x19, [sp, #16]\n"
	"	mov x19, sp\n"
	"	mov x29, x1\n"
	"	mov sp, x2\n"
	"pt_store_on_insn:\n"
	"	strb wzr, [x0]\n"
	"	mov sp, x19\n"
	"	ldr x19, [sp, #16]\n"
	"	ldp x29, x30, [sp], #32\n"
	"	ret\n"
	".popsection\n");
#endif

void pt_store_pages(u8 *base, u64 nr, u64 step);

void pt_touch(u8 *base, unsigned int nr)
{
	if (nr)
		pt_store_pages(base, nr, (u64)pt_page_size());
}

static PT_NOINLINE void touch_stack(void)
{
	volatile u8 room[128 * 1024];
	size_t i;

	for (i = 0; i < sizeof(room); i += 1024)
		room[i] = 1;
}

void pt_settle(void)
{
	touch_stack();
	pt_need(!mlockall(MCL_CURRENT), "mlockall: %s", strerror(errno));
	pt_need(!munlockall(), "munlockall: %s", strerror(errno));
}

bool pt_time_is_exact(void)
{
	int i, exact = 0;

	for (i = 0; i < 5; i++) {
		u64 t = pt_clock(CLOCK_MONOTONIC_RAW);

		pt_spin(500000);
		t = pt_clock(CLOCK_MONOTONIC_RAW) - t;
		if (t < 1000000)
			return false;
		/* Two instructions a turn, unless an interrupt came in between. */
		exact += t < 1001000;
	}
	return exact >= 2;
}

u8 *pt_fresh_pages(unsigned int nr)
{
	size_t len = (size_t)nr * (size_t)pt_page_size();
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	pt_need(p != MAP_FAILED, "mmap of %u pages: %s", nr, strerror(errno));
	/* EINVAL: a kernel without huge pages, which is what we want. */
	pt_need(!madvise(p, len, MADV_NOHUGEPAGE) || errno == EINVAL, "MADV_NOHUGEPAGE: %s",
		strerror(errno));
	return p;
}

void pt_fault(unsigned int nr)
{
	u8 *p = pt_fresh_pages(nr);

	pt_touch(p, nr);
	munmap(p, (size_t)nr * (size_t)pt_page_size());
}

void pt_burn(u64 ns)
{
	u64 end = pt_clock(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (pt_clock(CLOCK_THREAD_CPUTIME_ID) < end)
		pt_spin(1000);
}

static long voluntary_switches(void)
{
	struct rusage u;

	pt_need(!getrusage(RUSAGE_THREAD, &u), "getrusage: %s", strerror(errno));
	return u.ru_nvcsw;
}

void pt_switch_out(void)
{
	struct timespec ts = { 0, 1000000 };
	long before = voluntary_switches();

	/* A timer may be over before we are asleep. */
	while (voluntary_switches() == before) {
		clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
		ts.tv_nsec *= 2;
		pt_need(ts.tv_nsec < 1000000000, "sleeping did not switch");
	}
}

void pt_peer_start(struct pt_peer *p)
{
	int ab[2], ba[2];
	char c;

	pt_need(!pipe(ab) && !pipe(ba), "pipe: %s", strerror(errno));
	pt_in_child(p->pid) {
		close(ab[1]);
		close(ba[0]);
		while (read(ab[0], &c, 1) == 1) {
			if (write(ba[1], &c, 1) != 1)
				_exit(1);
		}
	}
	close(ab[0]);
	close(ba[1]);
	p->to = ab[1];
	p->from = ba[0];
	/* The first turn takes the child's start-up out of the measurement. */
	pt_peer_turn(p);
}

void pt_peer_turn(struct pt_peer *p)
{
	char c = 'x';

	pt_need(write(p->to, &c, 1) == 1 && read(p->from, &c, 1) == 1, "pipe broke: %s",
		strerror(errno));
}

void pt_peer_asleep(struct pt_peer *p)
{
	char path[64], line[16];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/syscall", p->pid);
	fd = open(path, O_RDONLY);
	pt_need(fd >= 0, "%s: %s", path, strerror(errno));
	do {
		pt_switch_out();
		n = pread(fd, line, sizeof(line), 0);
		pt_need(n > 0, "%s: %s", path, strerror(errno));
	} while (line[0] == 'r');	/* "running", until it is switched out */
	close(fd);
}

void pt_peer_stop(struct pt_peer *p)
{
	close(p->to);
	pt_reap(p->pid);
	close(p->from);
}
