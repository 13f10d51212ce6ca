// SPDX-License-Identifier: GPL-2.0
/*
 * open.c - what perf_event_open() accepts and how it refuses.
 *
 * The attr's size negotiation, reserved bits, ranges of single members,
 * combinations of pid, cpu and group_fd, flags, and the properties of the
 * file descriptor. Counting itself is the business of other programs.
 *
 * needs: hw
 */
#include "lib/ptest.h"
#include <sys/auxv.h>
#include <sys/resource.h>

static struct perf_event_attr dummy(void)
{
	return pt_attr(PT_SW(DUMMY));
}

/* Put an attr of any claimed size right in front of an unmapped page. */
static int open_sized(u32 size, size_t bytes, u8 tail, u32 *size_after)
{
	size_t page = (size_t)pt_page_size();
	struct perf_event_attr attr = dummy();
	u8 *area, *at;
	int fd;

	area = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pt_need(area != MAP_FAILED, "mmap: %s", strerror(errno));
	pt_need(!mprotect(area + 2 * page, page, PROT_NONE), "mprotect: %s", strerror(errno));
	at = area + 2 * page - bytes;
	attr.size = size;
	memcpy(at, &attr, bytes < sizeof(attr) ? bytes : sizeof(attr));
	if (tail)
		at[bytes - 1] = tail;
	fd = (int)syscall(SYS_perf_event_open, at, 0, -1, -1, 0);
	if (fd < 0)
		fd = -errno;
	else
		close(fd);
	memcpy(size_after, at + offsetof(struct perf_event_attr, size), 4);
	munmap(area, 3 * page);
	return fd < 0 ? fd : 0;
}

static void size_versions(void)
{
	static const u32 ver[] = { 64, 72, 80, 96, 104, 112, 120, 128, 136 };
	unsigned int i;
	u32 after;

	for (i = 0; i < PT_ARRAY_SIZE(ver); i++) {
		pt_check(!open_sized(ver[i], ver[i], 0, &after), "VER%u refused", i);
		pt_eq(after, ver[i]);
	}
	/* 0 means VER0; the kernel must not look beyond its 64 bytes. */
	pt_eq(open_sized(0, 64, 0, &after), 0);
	/* Sizes between two versions are none of the kernel's business. */
	pt_eq(open_sized(65, 65, 0, &after), 0);
	pt_eq(open_sized(100, 100, 0, &after), 0);
}

static void size_write_back(void)
{
	u32 page = (u32)pt_page_size();
	u32 ours, after;

	/* The kernel's own size: VER8 without config4, VER9 with it. */
	pt_eq(open_sized(63, 64, 0, &ours), -E2BIG);
	pt_check(ours == 136 || ours == 144, "the kernel says its attr has %u bytes", ours);
	pt_eq(open_sized(8, 8, 0, &after), -E2BIG);
	pt_eq(after, ours);
	pt_eq(open_sized(page + 1, 64, 0, &after), -E2BIG);
	pt_eq(after, ours);
	pt_eq(open_sized(0xffffffffu, 64, 0, &after), -E2BIG);
	pt_eq(after, ours);
	/* A newer and bigger attr is fine as long as what we do not know is zero. */
	pt_eq(open_sized(ours + 8, ours + 8, 0, &after), 0);
	pt_eq(after, ours + 8);
	pt_eq(open_sized(page, page, 0, &after), 0);
	pt_eq(open_sized(ours + 8, ours + 8, 1, &after), -E2BIG);
	pt_eq(after, ours);
	pt_eq(open_sized(page, page, 0x80, &after), -E2BIG);
	pt_eq(after, ours);
	/* Bytes claimed but not there. */
	pt_eq(open_sized(136, 64, 0, &after), -EFAULT);
}

static void bad_pointer(void)
{
	pt_eq(syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0), -1);
	pt_eq(errno, EFAULT);
	pt_eq(syscall(SYS_perf_event_open, (void *)-64l, 0, -1, -1, 0), -1);
	pt_eq(errno, EFAULT);
}

static void unknown_flags(void)
{
	struct perf_event_attr attr = dummy();
	int bit;

	for (bit = 4; bit < 64; bit++)
		pt_eq(pt_try_open(&attr, 0, -1, -1, 1ul << bit), -EINVAL);
}

static u64 *flag_word(struct perf_event_attr *attr)
{
	return (u64 *)((u8 *)attr + offsetof(struct perf_event_attr, read_format) + 8);
}

static void reserved_bits(void)
{
	struct perf_event_attr attr;
	int bit;

	/* The last bit of the flags that means something: sigtrap, 37; here defer_output, 39. */
	for (bit = pt_is_stock() ? 38 : 40; bit < 64; bit++) {
		attr = dummy();
		*flag_word(&attr) = 1ull << bit;
		pt_check(pt_probe(&attr) == -EINVAL, "flag bit %d gave %d", bit, pt_probe(&attr));
	}
	for (bit = 0; bit < 16; bit++) {
		attr = dummy();
		attr.__reserved_2 = (u16)(1u << bit);
		pt_eq(pt_probe(&attr), -EINVAL);
	}
	for (bit = 3; bit < 32; bit++) {
		attr = dummy();
		attr.aux_action = 1u << bit;
		pt_eq(pt_probe(&attr), -EINVAL);
	}
	for (bit = 25; bit < 64; bit++) {
		attr = dummy();
		attr.sample_type = 1ull << bit;
		pt_eq(pt_probe(&attr), -EINVAL);
	}
	for (bit = 5; bit < 64; bit++) {
		attr = dummy();
		attr.read_format = 1ull << bit;
		pt_eq(pt_probe(&attr), -EINVAL);
	}
}

static void software_config(void)
{
	static const u64 high[] = {
		PERF_COUNT_SW_MAX, PERF_COUNT_SW_MAX + 1, 0x7fffffff, 0x80000000, 0xffffffff,
		0x100000000ull, 0x100000002ull, 0x8000000000000000ull, 0x8000000000000002ull,
		0xffffffff80000000ull, 0xffffffffffffffffull, 0xfffffffffffffff0ull,
	};
	struct perf_event_attr attr;
	unsigned int i;

	for (i = 0; i < PT_ARRAY_SIZE(high); i++) {
		attr = pt_attr(PERF_TYPE_SOFTWARE, high[i]);
		pt_check(pt_probe(&attr) == -ENOENT, "config %#llx gave %d",
			 (unsigned long long)high[i], pt_probe(&attr));
	}
	/* 10, bpf-output, is the business of programs that have BPF */
	for (i = 0; i < PERF_COUNT_SW_BPF_OUTPUT; i++) {
		attr = pt_attr(PERF_TYPE_SOFTWARE, i);
		pt_check(!pt_probe(&attr), "software event %u gave %d", i, pt_probe(&attr));
	}
}

static void unknown_type(void)
{
	static const u32 type[] = { 1000, 0x7fffffff, 0x80000000, 0xffffffff };
	struct perf_event_attr attr;
	unsigned int i;

	for (i = 0; i < PT_ARRAY_SIZE(type); i++) {
		attr = pt_attr(type[i], 0);
		pt_eq(pt_probe(&attr), -ENOENT);
	}
	/* The upper half of a generic hardware event names a PMU. */
	attr = pt_attr(PERF_TYPE_HARDWARE, (u64)PERF_TYPE_SOFTWARE << 32);
	pt_eq(pt_probe(&attr), -ENOENT);
	attr = pt_attr(PERF_TYPE_HW_CACHE, (u64)PERF_TYPE_SOFTWARE << 32);
	pt_eq(pt_probe(&attr), -ENOENT);
}

static void pid_and_cpu(void)
{
	struct perf_event_attr attr = dummy();

	close(pt_open(&attr, 0, -1, -1, 0));
	close(pt_open(&attr, 0, 0, -1, 0));
	close(pt_open(&attr, -1, 0, -1, 0));
	close(pt_open(&attr, getpid(), -1, -1, 0));
	pt_eq(pt_try_open(&attr, -1, -1, -1, 0), -EINVAL);
	pt_eq(pt_try_open(&attr, 0, -2, -1, 0), -EINVAL);
	pt_eq(pt_try_open(&attr, 0, 1 << 20, -1, 0), -EINVAL);
	pt_eq(pt_try_open(&attr, -1, 1 << 20, -1, 0), -EINVAL);
	pt_eq(pt_try_open(&attr, -1, -2147483647, -1, 0), -EINVAL);
	pt_eq(pt_try_open(&attr, -2, -1, -1, 0), -ESRCH);
	pt_eq(pt_try_open(&attr, 0x3fffffff, -1, -1, 0), -ESRCH);
}

static void zombie(void)
{
	struct perf_event_attr attr = dummy();
	siginfo_t info;
	pid_t pid;

	pt_in_child(pid)
		_exit(0);
	/* Dead, but still ours to reap. */
	pt_need(!waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), "waitid: %s",
		strerror(errno));
	pt_eq(pt_try_open(&attr, pid, -1, -1, 0), -ESRCH);
	pt_reap(pid);
	pt_eq(pt_try_open(&attr, pid, -1, -1, 0), -ESRCH);
}

static void group_fd(void)
{
	struct perf_event_attr attr = dummy();
	int p[2], leader;

	pt_need(!pipe(p), "pipe: %s", strerror(errno));
	pt_eq(pt_try_open(&attr, 0, -1, p[0], 0), -EBADF);
	pt_eq(pt_try_open(&attr, 0, -1, 1000, 0), -EBADF);
	pt_eq(pt_try_open(&attr, 0, -1, -2, 0), -EBADF);
	pt_eq(pt_try_open(&attr, 0, -1, 1000, PERF_FLAG_FD_NO_GROUP), -EBADF);
	leader = pt_open(&attr, 0, -1, -1, 0);
	close(pt_open(&attr, 0, -1, leader, 0));
	close(leader);
	pt_eq(pt_try_open(&attr, 0, -1, leader, 0), -EBADF);
}

static void file_descriptor(void)
{
	struct perf_event_attr attr = dummy();
	char path[64], link[64];
	ssize_t n;
	int fd;

	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
	pt_eq(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDWR);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, link, sizeof(link) - 1);
	pt_need(n > 0, "readlink %s: %s", path, strerror(errno));
	link[n] = 0;
	pt_check(!strcmp(link, "anon_inode:[perf_event]"), "link is %s", link);
	pt_eq(write(fd, "x", 1), -1);
	pt_eq(errno, EINVAL);
	pt_eq(lseek(fd, 0, SEEK_SET), -1);
	close(fd);
	fd = pt_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	pt_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

static void no_more_fds(void)
{
	struct rlimit limit = { 16, 16 };
	struct perf_event_attr attr = dummy();
	int fd = 0, n = 0;

	pt_need(!setrlimit(RLIMIT_NOFILE, &limit), "setrlimit: %s", strerror(errno));
	while (n < 32) {
		fd = pt_try_open(&attr, 0, -1, -1, 0);
		if (fd < 0)
			break;
		n++;
	}
	pt_eq(fd, -EMFILE);
	pt_check(n > 0 && n < 16, "opened %d", n);
}

static void period_and_frequency(void)
{
	long long max = pt_sysctl_get("perf_event_max_sample_rate");
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.sample_period = 1ull << 63;
	pt_eq(pt_probe(&attr), -EINVAL);
	attr.sample_period = ~0ull;
	pt_eq(pt_probe(&attr), -EINVAL);
	attr.sample_period = (1ull << 63) - 1;
	pt_eq(pt_probe(&attr), 0);
	attr.freq = 1;
	attr.sample_freq = (u64)max;
	pt_eq(pt_probe(&attr), 0);
	attr.sample_freq = (u64)max + 1;
	pt_eq(pt_probe(&attr), -EINVAL);
	attr.sample_freq = 1ull << 63;
	pt_eq(pt_probe(&attr), -EINVAL);
}

static void register_masks(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	/* A bit that is no register; 0 asks for nothing. */
#ifdef __x86_64__
	u64 bad = 1ull << 30;
#elif defined(__aarch64__)
	u64 bad = 1ull << 33;	/* behind the last one, pc */
#else
	u64 bad = 1ull << 63;
#endif

	attr.sample_type = PERF_SAMPLE_REGS_USER;
	attr.sample_regs_user = 1;
	pt_eq(pt_probe(&attr), 0);
	attr.sample_regs_user = bad;
	pt_eq(pt_probe(&attr), -EINVAL);
	attr.sample_regs_user = 0;
	pt_eq(pt_probe(&attr), -EINVAL);
	attr.sample_type = PERF_SAMPLE_REGS_INTR;
	attr.sample_regs_intr = 1;
	pt_eq(pt_probe(&attr), 0);
	attr.sample_regs_intr = bad;
	pt_eq(pt_probe(&attr), -EINVAL);
#ifdef __x86_64__
	/* XMM registers, which no software event can deliver. */
	attr.sample_regs_intr = 1ull << 32;
	pt_eq(pt_probe(&attr), -EOPNOTSUPP);
#elif defined(__aarch64__)
	/* The length of vectors is there with SVE; no software event can deliver it. */
	attr.sample_regs_intr = 1ull << 46;
	pt_eq(pt_probe(&attr), getauxval(AT_HWCAP) & HWCAP_SVE ? -EOPNOTSUPP : -EINVAL);
#endif
}

static void stack_user_size(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.sample_type = PERF_SAMPLE_STACK_USER;
	attr.sample_stack_user = 8192;
	pt_eq(pt_probe(&attr), 0);
	attr.sample_stack_user = 65528;
	pt_eq(pt_probe(&attr), 0);
	attr.sample_stack_user = 65535;
	pt_eq(pt_probe(&attr), -EINVAL);
	attr.sample_stack_user = 65536;
	pt_eq(pt_probe(&attr), -EINVAL);
	attr.sample_stack_user = 4;
	pt_eq(pt_probe(&attr), -EINVAL);
	attr.sample_stack_user = 0;
	pt_eq(pt_probe(&attr), 0);
}

static void max_stack(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	long long max = pt_sysctl_get("perf_event_max_stack");

	attr.sample_type = PERF_SAMPLE_CALLCHAIN;
	attr.sample_max_stack = (u16)max;
	pt_eq(pt_probe(&attr), 0);
	attr.sample_max_stack = (u16)(max + 1);
	pt_eq(pt_probe(&attr), -EOVERFLOW);
	attr.sample_max_stack = 0xffff;
	pt_eq(pt_probe(&attr), -EOVERFLOW);
	/* Nobody looks at it without a callchain. */
	attr.sample_type = 0;
	pt_eq(pt_probe(&attr), 0);
}

static void aux_without_leader(void)
{
	struct perf_event_attr attr = dummy();

	attr.aux_sample_size = 4096;
	attr.sample_type = PERF_SAMPLE_AUX;
	pt_check(pt_probe(&attr) == -EINVAL, "aux_sample_size gave %d", pt_probe(&attr));
	attr = dummy();
	attr.aux_output = 1;
	pt_check(pt_probe(&attr) == -EOPNOTSUPP, "aux_output gave %d", pt_probe(&attr));
}

static void branch_stack_on_software(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	pt_eq(pt_probe(&attr), -EINVAL);
	attr.branch_sample_type = 1ull << 40;
	pt_eq(pt_probe(&attr), -EINVAL);
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	pt_eq(pt_probe(&attr), -EOPNOTSUPP);
}

static void contradictions(void)
{
	struct perf_event_attr attr;

	attr = dummy();
	attr.inherit_thread = 1;
	pt_eq(pt_probe(&attr), -EINVAL);
	attr.inherit = 1;
	pt_eq(pt_probe(&attr), 0);
	attr = dummy();
	attr.remove_on_exec = 1;
	attr.enable_on_exec = 1;
	pt_eq(pt_probe(&attr), -EINVAL);
	attr = dummy();
	attr.sigtrap = 1;
	pt_eq(pt_probe(&attr), -EINVAL);
	attr = dummy();
	attr.sample_type = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT;
	pt_eq(pt_probe(&attr), -EINVAL);
	/* Samples of children need the thread's id to tell them apart. */
	attr = dummy();
	attr.inherit = 1;
	attr.sample_type = PERF_SAMPLE_READ;
	pt_eq(pt_probe(&attr), -EINVAL);
	attr.sample_type |= PERF_SAMPLE_TID;
	pt_eq(pt_probe(&attr), 0);
}

/* Each flag alone on a dummy event, in the order of the bits. */
static void every_flag_alone(void)
{
	static const struct {
		int bit, want;
	} odd[] = {
		{ 35, -EINVAL },	/* inherit_thread without inherit */
		{ 37, -EINVAL },	/* sigtrap without remove_on_exec */
	};
	int bit;

	for (bit = 0; bit < 38; bit++) {
		struct perf_event_attr attr = dummy();
		int want = 0, got;
		unsigned int i;

		for (i = 0; i < PT_ARRAY_SIZE(odd); i++)
			want = odd[i].bit == bit ? odd[i].want : want;
		*flag_word(&attr) = 1ull << bit;
		got = pt_probe(&attr);
		/* Bits of features a kernel may lack: no opinion on success. */
		if ((bit >= 28 && bit <= 34) || bit == 36)
			pt_check(!got || got == -EINVAL || got == -EOPNOTSUPP, "bit %d gave %d",
				 bit, got);
		else
			pt_check(got == want, "bit %d gave %d", bit, got);
	}
}

static void clock_ids(void)
{
	static const clockid_t good[] = {
		CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME, CLOCK_BOOTTIME, CLOCK_TAI,
	};
	static const clockid_t bad[] = {
		CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID, CLOCK_REALTIME_COARSE, 100, -1,
	};
	struct perf_event_attr attr = dummy();
	unsigned int i;

	attr.use_clockid = 1;
	for (i = 0; i < PT_ARRAY_SIZE(good); i++) {
		attr.clockid = good[i];
		pt_check(!pt_probe(&attr), "clock %d gave %d", good[i], pt_probe(&attr));
	}
	for (i = 0; i < PT_ARRAY_SIZE(bad); i++) {
		attr.clockid = bad[i];
		pt_check(pt_probe(&attr) == -EINVAL, "clock %d gave %d", bad[i], pt_probe(&attr));
	}
	attr.use_clockid = 0;
	pt_eq(pt_probe(&attr), 0);
}

static void tracepoint_ids(void)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_TRACEPOINT, 0);

	pt_tracefs();
	pt_eq(pt_probe(&attr), -EINVAL);
	attr.config = 0x7fffffff;
	pt_eq(pt_probe(&attr), -EINVAL);
	attr.config = ~0ull;
	pt_eq(pt_probe(&attr), -EINVAL);
	attr.config = pt_tracepoint_id("sched", "sched_switch");
	pt_eq(pt_probe(&attr), 0);
}

static void breakpoint_types(void)
{
	static u64 target;
	struct perf_event_attr attr = pt_attr(PERF_TYPE_BREAKPOINT, 0);
	int ret;

	attr.bp_addr = pt_addr(&target);
	attr.bp_len = 8;
	attr.bp_type = 2;
	ret = pt_probe(&attr);
	if (ret == -ENOENT)
		pt_skip("kernel without hardware breakpoints");
	pt_eq(ret, 0);
	attr.bp_type = 0;
	pt_check(pt_probe(&attr) < 0, "bp_type 0 accepted");
	attr.bp_type = 0x10;
	pt_check(pt_probe(&attr) < 0, "bp_type 0x10 accepted");
	attr.bp_type = 2;
	attr.bp_len = 0;
	pt_check(pt_probe(&attr) < 0, "bp_len 0 accepted");
	attr.bp_len = 1ull << 40;
	pt_check(pt_probe(&attr) < 0, "bp_len 2^40 accepted");
}

static void many_opens(void)
{
	struct perf_event_attr attr = dummy();
	u64 last = 0;
	int i;

	/* Every event ever opened has an id of its own. */
	for (i = 0; i < 300; i++) {
		int fd = pt_open(&attr, 0, -1, -1, 0);
		u64 id = pt_id(fd);

		pt_check(id > last, "id %llu after %llu", (unsigned long long)id,
			 (unsigned long long)last);
		last = id;
		close(fd);
	}
}

/* Signals for another task need the right to send them, which root has. */
static void signals_for_another_task(void)
{
	struct perf_event_attr attr = dummy();
	pid_t pid;

	attr.sigtrap = 1;
	attr.remove_on_exec = 1;
	pt_in_child(pid)
		pause();
	pt_open(&attr, pid, -1, -1, 0);
	pt_kill(pid);
}

/* 0 is a descriptor like others. */
static void descriptor_0(void)
{
	struct perf_event_attr attr = dummy();

	close(0);
	pt_eq(pt_try_open(&attr, 0, -1, -1, 0), 0);
	pt_eq(pt_count(0), 0);
	pt_eq(close(0), 0);
}

/* What fails when it has its descriptor gives it back: the next one to be had is the same. */
static void descriptor_is_given_back(void)
{
	struct perf_event_attr attr = dummy();
	int next = dup(1);

	close(next);
	pt_eq(pt_try_open(&attr, -2, -1, -1, 0), -ESRCH);
	pt_eq(dup(1), next);
}

static const struct pt_case cases[] = {
	{ "size_versions", size_versions },
	{ "size_write_back", size_write_back },
	{ "bad_pointer", bad_pointer },
	{ "unknown_flags", unknown_flags },
	{ "reserved_bits", reserved_bits },
	{ "software_config", software_config },
	{ "unknown_type", unknown_type },
	{ "pid_and_cpu", pid_and_cpu },
	{ "zombie", zombie },
	{ "group_fd", group_fd },
	{ "file_descriptor", file_descriptor },
	{ "no_more_fds", no_more_fds },
	{ "period_and_frequency", period_and_frequency },
	{ "register_masks", register_masks },
	{ "stack_user_size", stack_user_size },
	{ "aux_without_leader", aux_without_leader },
	{ "max_stack", max_stack },
	{ "branch_stack_on_software", branch_stack_on_software },
	{ "contradictions", contradictions },
	{ "signals_for_another_task", signals_for_another_task },
	{ "every_flag_alone", every_flag_alone },
	{ "clock_ids", clock_ids },
	{ "tracepoint_ids", tracepoint_ids },
	{ "breakpoint_types", breakpoint_types },
	{ "many_opens", many_opens },
	{ "descriptor_0", descriptor_0 },
	{ "descriptor_is_given_back", descriptor_is_given_back },
};

PT_MAIN(cases)
