// SPDX-License-Identifier: GPL-2.0
/* The PMU of x86 CPUs: see x86.h */
#include "x86.h"
#include <signal.h>

#if defined(__x86_64__)
static void cpuid(u32 leaf, u32 r[4])
{
	__asm__ volatile("cpuid" : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3])
			 : "a"(leaf), "c"(0));
}

u64 x86_rdpmc(u32 index)
{
	u32 lo, hi;

	__asm__ volatile("rdpmc" : "=a"(lo), "=d"(hi) : "c"(index) : "memory");
	return lo | (u64)hi << 32;
}

/*
 * rdi: fd, rsi: turns. 16 is ioctl, 0x2400 and 0x2401 are ENABLE and DISABLE. Nothing but what the
 * header says comes between the two.
 */
__asm__(".pushsection .text.x86_measured, \"ax\", @progbits\n"
	".balign 64\n"
	".globl x86_measured_spin, x86_spin_loop\n"
	".type x86_measured_spin, @function\n"
	"x86_measured_spin:\n"
	"	mov %rdi, %r8\n"
	"	mov %rsi, %r9\n"
	"	mov $16, %eax\n"
	"	mov $0x2400, %esi\n"
	"	xor %edx, %edx\n"
	"	syscall\n"
	"x86_spin_loop:\n"
	"	dec %r9\n"
	"	jnz x86_spin_loop\n"
	"	mov $16, %eax\n"
	"	mov %r8, %rdi\n"
	"	mov $0x2401, %esi\n"
	"	syscall\n"
	"	ret\n"
	".size x86_measured_spin, . - x86_measured_spin\n"

	".balign 64\n"
	".globl x86_call_loop, x86_cl_start, x86_cl_call1, x86_cl_back1, x86_cl_jump\n"
	".globl x86_cl_f, x86_cl_call2, x86_cl_back2, x86_cl_ret1, x86_cl_g, x86_cl_ret2\n"
	".type x86_call_loop, @function\n"
	"x86_call_loop:\n"
	"x86_cl_start:\n"
	"	nop\n"
	"x86_cl_call1:\n"
	"	call x86_cl_f\n"
	"x86_cl_back1:\n"
	"	dec %rdi\n"
	"x86_cl_jump:\n"
	"	jnz x86_cl_start\n"
	"	ret\n"
	"x86_cl_f:\n"
	"	nop\n"
	"x86_cl_call2:\n"
	"	call x86_cl_g\n"
	"x86_cl_back2:\n"
	"	nop\n"
	"x86_cl_ret1:\n"
	"	ret\n"
	"x86_cl_g:\n"
	"	nop\n"
	"x86_cl_ret2:\n"
	"	ret\n"
	".size x86_call_loop, . - x86_call_loop\n"
	".popsection\n");
#else
static void cpuid(u32 leaf, u32 r[4])
{
	(void)leaf;
	memset(r, 0, 4 * sizeof(*r));
}

u64 x86_rdpmc(u32 index)
{
	return index;
}

void x86_measured_spin(int fd, u64 turns)
{
	pt_enable(fd);
	pt_spin(turns);
	pt_disable(fd);
}

void x86_call_loop(u64 turns)
{
	pt_spin(turns);
}

const char x86_spin_loop[1];
const char x86_cl_start[1], x86_cl_call1[1], x86_cl_back1[1], x86_cl_jump[1], x86_cl_f[1];
const char x86_cl_call2[1], x86_cl_back2[1], x86_cl_ret1[1], x86_cl_g[1], x86_cl_ret2[1];
#endif

u64 x86_spin_ip(u64 turns, u64 n)
{
	/* dec has 3 bytes, jnz 2, the two instructions that follow 5 and 3 */
	static const u8 tail[] = { 5, 10, 13, 18 };

	if (n < 2 * turns)
		return pt_addr(x86_spin_loop) + (n & 1 ? 3 : 0);
	return pt_addr(x86_spin_loop) + tail[(n - 2 * turns) & 3];
}

struct x86_branch x86_call_loop_branch(int i)
{
	const struct x86_branch all[X86_CALL_LOOP_BRANCHES] = {
		{ pt_addr(x86_cl_call1), pt_addr(x86_cl_f) },
		{ pt_addr(x86_cl_call2), pt_addr(x86_cl_g) },
		{ pt_addr(x86_cl_ret2), pt_addr(x86_cl_back2) },
		{ pt_addr(x86_cl_ret1), pt_addr(x86_cl_back1) },
		{ pt_addr(x86_cl_jump), pt_addr(x86_cl_start) },
	};

	return all[i % X86_CALL_LOOP_BRANCHES];
}

static int msr_fd(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = open("/dev/cpu/0/msr", O_RDWR | O_CLOEXEC);
	return fd;
}

u64 x86_rdmsr(u32 number)
{
	u64 v = 0;

	pt_need(pread(msr_fd(), &v, sizeof(v), number) == sizeof(v), "register %x: %s", number,
		strerror(errno));
	return v;
}

void x86_wrmsr(u32 number, u64 value)
{
	pt_write_file("/sys/module/msr/parameters/allow_writes", "on");
	pt_need(pwrite(msr_fd(), &value, sizeof(value), number) == sizeof(value), "register %x: %s",
		number, strerror(errno));
}

u64 x86_interrupts(void)
{
	return x86_rdmsr(X86_TRAFFIC_PMIS);
}

void x86_need_pmu(void)
{
#if defined(__x86_64__)
	static bool limits_off;
	u64 magic = 0;

	pt_pin(0);
	if (msr_fd() < 0 ||
	    pread(msr_fd(), &magic, sizeof(magic), X86_TRAFFIC_MAGIC) != sizeof(magic) ||
	    magic != 0x504d5531)
		pt_skip("not the emulated PMU of x86");
	/* The rate cannot be set any more while the other is 0. */
	if (!limits_off) {
		pt_sysctl_set("perf_event_max_sample_rate", 10000000);
		pt_sysctl_set("perf_cpu_time_max_percent", 0);
		limits_off = true;
	}
#else
	pt_skip("about the PMU of x86");
#endif
}

void x86_need_exact(void)
{
	x86_need_pmu();
	if (!pt_time_is_exact())
		pt_skip("this machine does not count instructions exactly");
}

u64 x86_need_late(void)
{
	u64 delay;

	x86_need_exact();
	delay = x86_rdmsr(X86_PMI_DELAY);
	if (!delay)
		pt_skip("interrupts of this PMU come at once");
	return delay;
}

bool x86_is_intel(void)
{
	u32 r[4];

	cpuid(0, r);
	return r[1] == 0x756e6547;	/* "Genu" */
}

static u32 intel_version(u32 r[4])
{
	cpuid(10, r);
	return r[0] & 0xff;
}

int x86_general(void)
{
	u32 r[4];

	if (x86_is_intel()) {
		intel_version(r);
		return r[0] >> 8 & 0xff;
	}
	cpuid(0x80000000, r);
	if (r[0] >= 0x80000022) {
		cpuid(0x80000022, r);
		if (r[0] & 1)
			return r[1] & 0xf;
	}
	cpuid(0x80000001, r);
	return r[2] >> 23 & 1 ? 6 : 4;
}

int x86_fixed(void)
{
	u32 r[4];

	if (!x86_is_intel() || intel_version(r) < 2)
		return 0;
	return r[3] & 0x1f;
}

bool x86_has_global(void)
{
	u32 r[4];

	if (x86_is_intel())
		return intel_version(r) >= 2;
	cpuid(0x80000000, r);
	if (r[0] < 0x80000022)
		return false;
	cpuid(0x80000022, r);
	return r[0] & 1;
}

static u64 read_of_cpu(int fd, u32 number)
{
	u64 v = 0;

	pt_need(pread(fd, &v, sizeof(v), number) == sizeof(v), "register %x: %s", number,
		strerror(errno));
	return v;
}

int x86_counters_on(int cpu)
{
	int fd, i, n = 0;
	char path[32];

	snprintf(path, sizeof(path), "/dev/cpu/%d/msr", cpu);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	pt_need(fd >= 0, "%s: %s", path, strerror(errno));
	for (i = 0; i < x86_general(); i++) {
		u32 number = x86_is_intel() ? X86_PERFEVTSEL0 + (u32)i :
					      X86_AMD_SELECT0 + 2 * (u32)i;

		n += read_of_cpu(fd, number) >> 22 & 1;
	}
	if (x86_fixed()) {
		u64 ctrl = read_of_cpu(fd, X86_FIXED_CTR_CTRL);

		for (i = 0; i < x86_fixed(); i++)
			n += !!(ctrl >> 4 * i & 3);
	}
	close(fd);
	return n;
}

struct perf_event_attr x86_hw(u64 config)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_HARDWARE, config);

	attr.exclude_kernel = 1;
	attr.disabled = 1;
	return attr;
}

/* Intel: instructions retired in fewer than 16 at a time, each cycle. AMD: cycles not halted. */
struct perf_event_attr x86_conditional_branches(void)
{
	struct perf_event_attr attr = x86_hw(0);
	u32 r[4];

	attr.type = PERF_TYPE_RAW;
	attr.config = 0xd1;
	if (x86_is_intel())
		attr.config = intel_version(r) >= 5 ? 0x11c4 : 0x1c4;
	return attr;
}

struct perf_event_attr x86_general_cycles(void)
{
	struct perf_event_attr attr = x86_hw(0);

	attr.type = PERF_TYPE_RAW;
	attr.config = x86_is_intel() ? 0x108000c0 : 0x76;
	return attr;
}

u64 x86_user_count(struct perf_event_mmap_page *page)
{
	u64 count, pmc;
	u32 seq, index;

	do {
		seq = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE);
		index = page->index;
		pt_need(page->cap_user_rdpmc && index, "index %u, capability %d", index,
			(int)page->cap_user_rdpmc);
		count = (u64)page->offset;
		pmc = x86_rdpmc(index - 1) << (64 - page->pmc_width);
		count += (u64)((s64)pmc >> (64 - page->pmc_width));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&page->lock, __ATOMIC_RELAXED) != seq);
	return count;
}

#define REFUSED	99

static void refused(int sig)
{
	(void)sig;
	_exit(REFUSED);
}

bool x86_rdpmc_refused(u32 index, void (*with)(void))
{
	int status;
	pid_t pid;

	pt_in_child(pid) {
		signal(SIGSEGV, refused);
		if (with)
			with();
		x86_rdpmc(index);
	}
	status = pt_wait(pid);
	pt_check(WIFEXITED(status) && (!WEXITSTATUS(status) || WEXITSTATUS(status) == REFUSED),
		 "the child ended with %x", (unsigned int)status);
	return status;
}
