// SPDX-License-Identifier: GPL-2.0
/*
 * userpage.c - the first page of a mapping: what a task may know of its own
 * event without a system call. Sequence count, offset, times, and the
 * conversion of the machine's clock into perf time.
 *
 * needs: hw skid
 */
#include "lib/cgroup.h"
#include "lib/ext.h"

static struct perf_event_mmap_page snapshot;
static u64 snapshot_cycles;

static u64 clock_counter(void)
{
	u64 v;

#if defined(__x86_64__)
	u32 lo, hi;

	__asm__ volatile("lfence; rdtsc" : "=a"(lo), "=d"(hi) : : "memory");
	v = (u64)hi << 32 | lo;
#else
	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(v) : : "memory");
#endif
	return v;
}

/* Read the page the way its description says. */
static void take(const struct pt_ring *r)
{
	u32 seq;
	int tries = 0;

	do {
		pt_need(tries++ < 1000, "the sequence count never rests");
		seq = __atomic_load_n(&r->page->lock, __ATOMIC_ACQUIRE);
		memcpy(&snapshot, r->page, offsetof(struct perf_event_mmap_page, __reserved));
		snapshot_cycles = clock_counter();
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (seq & 1 || __atomic_load_n(&r->page->lock, __ATOMIC_RELAXED) != seq);
}

static u64 scale(u64 cyc)
{
	u64 quot = cyc >> snapshot.time_shift;
	u64 rem = cyc & ((1ull << snapshot.time_shift) - 1);

	return quot * snapshot.time_mult + ((rem * snapshot.time_mult) >> snapshot.time_shift);
}

/* When the snapshot was taken */
static u64 counter_then(void)
{
	u64 cyc = snapshot_cycles;

	if (snapshot.cap_user_time_short)
		cyc = snapshot.time_cycles + ((cyc - snapshot.time_cycles) & snapshot.time_mask);
	return cyc;
}

static int open_and_map(struct perf_event_attr *attr, struct pt_ring *r)
{
	int fd = pt_open(attr, 0, -1, -1, 0);

	pt_map(r, fd, 0);
	return fd;
}

static void software_event(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	struct pt_ring r;
	int fd;

	attr.disabled = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_enable(fd);
	pt_touch(pt_fresh_pages(5), 5);
	pt_disable(fd);
	pt_map(&r, fd, 0);
	take(&r);
	/* No counter to read directly: the offset is all there is. */
	pt_eq(snapshot.index, 0);
	pt_eq(snapshot.offset, 5);
	pt_eq(snapshot.cap_user_rdpmc, 0);
	pt_eq(snapshot.cap_bit0, 0);
	pt_eq(snapshot.cap_bit0_is_deprecated, 1);
	pt_check(snapshot.time_enabled > 0, "enabled 0");
	pt_eq(snapshot.time_running, snapshot.time_enabled);
	pt_reset(fd);
	take(&r);
	pt_eq(snapshot.offset, 0);
}

/* What it has counted is in the page when it stops. */
static void software_event_stops(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	u8 *p = pt_fresh_pages(3);
	struct pt_ring r;
	int fd;

	if (pt_is_stock())
		pt_skip("Linux 6.12 leaves the page as it was when the event began to count");
	attr.disabled = 1;
	fd = open_and_map(&attr, &r);
	take(&r);
	pt_eq(snapshot.offset, 0);
	pt_enable(fd);
	pt_touch(p, 3);
	pt_disable(fd);
	take(&r);
	pt_eq(snapshot.offset, 3);
}

/* And in that of a member that stops with its leader. */
static void software_group_stops(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	u8 *p = pt_fresh_pages(3);
	struct pt_ring r;
	int lead;

	if (pt_is_stock())
		pt_skip("Linux 6.12 leaves the page as it was when the event began to count");
	attr.disabled = 1;
	lead = pt_open(&attr, 0, -1, -1, 0);
	attr.disabled = 0;
	pt_map(&r, pt_open(&attr, 0, -1, lead, 0), 0);
	take(&r);
	pt_eq(snapshot.offset, 0);
	pt_enable(lead);
	pt_touch(p, 3);
	pt_disable(lead);
	take(&r);
	pt_eq(snapshot.offset, 3);
}

static void sequence_moves(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	struct pt_ring r;
	u32 before;
	int fd;

	fd = open_and_map(&attr, &r);
	take(&r);
	before = snapshot.lock;
	pt_eq(before & 1, 0);
	pt_reset(fd);
	take(&r);
	pt_check(snapshot.lock > before, "RESET did not pass the sequence count");
	pt_eq(snapshot.lock & 1, 0);
}

/*
 * Commands to an event beside the one whose page it is. That page is written when the task comes
 * back to a CPU, so it must not have been away. Return: page->lock before; snapshot has it after.
 */
static u32 lock_beside(struct pt_ring *r, int fd)
{
	u32 before;
	s64 nr;

	do {
		nr = pt_switches();
		take(r);
		before = snapshot.lock;
		pt_enable(fd);
		pt_reset(fd);
		pt_disable(fd);
		take(r);
	} while (pt_switches() != nr);
	return before;
}

/* Software events that write to the buffer of another event leave its page alone. */
static void foreign_page(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	struct pt_ring r;
	int owner, fd;
	u32 before;

	if (pt_is_stock())
		pt_skip("Linux 6.12 writes the page of the other event");
	owner = open_and_map(&attr, &r);
	attr.disabled = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, owner);
	before = lock_beside(&r, fd);
	pt_eq(snapshot.lock, before);
	pt_reset(owner);
	take(&r);
	pt_check(snapshot.lock > before, "RESET did not write its own page");
}

/* The same for an event that had a page once: it is not its own any more. */
static void foreign_page_once_mapped(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	struct pt_ring r, old;
	int owner, fd;
	u32 before;

	if (pt_is_stock())
		pt_skip("Linux 6.12 writes the page of the other event");
	owner = open_and_map(&attr, &r);
	attr.disabled = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&old, fd, 0);
	pt_unmap(&old);
	pt_ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, owner);
	before = lock_beside(&r, fd);
	pt_eq(snapshot.lock, before);
}

static void times_agree_with_read(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	u64 f = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	struct pt_read a, b;
	struct pt_ring r;
	int fd;

	attr.read_format = f;
	fd = open_and_map(&attr, &r);
	pt_burn(2000000);
	pt_read(fd, f, 1, &a);
	/* RESET publishes the page anew. */
	pt_reset(fd);
	take(&r);
	pt_read(fd, f, 1, &b);
	pt_check(snapshot.time_enabled >= a.enabled && snapshot.time_enabled <= b.enabled,
		 "page %llu, read %llu to %llu", (unsigned long long)snapshot.time_enabled,
		 (unsigned long long)a.enabled, (unsigned long long)b.enabled);
}

/* The time as computed lies between two reads, whose format has nothing but that time. */
static void compare_time(const struct pt_ring *r, int fd)
{
	struct pt_read a, b;
	u64 now, slack = 2000;

	pt_read(fd, PERF_FORMAT_TOTAL_TIME_ENABLED, 1, &a);
	take(r);
	now = snapshot.time_enabled + snapshot.time_offset + scale(counter_then());
	pt_read(fd, PERF_FORMAT_TOTAL_TIME_ENABLED, 1, &b);
	pt_check(now + slack >= a.enabled && now <= b.enabled + slack,
		 "computed %llu, read %llu to %llu", (unsigned long long)now,
		 (unsigned long long)a.enabled, (unsigned long long)b.enabled);
}

static void user_time(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	struct pt_ring r;
	int fd, i;

	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	fd = open_and_map(&attr, &r);
	take(&r);
	if (!snapshot.cap_user_time)
		pt_skip("the clock of this machine cannot be read by user space");
	for (i = 0; i < 20; i++) {
		compare_time(&r, fd);
		pt_spin(10000);
	}
	/* What passes while it is off does not count; the page knows when it is on again. */
	pt_disable(fd);
	pt_spin(100000);
	pt_enable(fd);
	compare_time(&r, fd);
}

/* While the task is away no time passes, also for events that do not find a counter after it. */
static void time_while_starved(int cpu)
{
	struct perf_event_attr attr = pt_attr(PT_HW(INSTRUCTIONS));
	struct pt_ring r[24];
	int fd[24], i;

	attr.exclude_kernel = 1;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	close(pt_open_hw(&attr, -1));
	for (i = 0; i < 24; i++) {
		fd[i] = pt_open(&attr, 0, cpu, -1, 0);
		pt_map(&r[i], fd[i], 0);
	}
	take(&r[0]);
	if (!snapshot.cap_user_time)
		pt_skip("the clock of this machine cannot be read by user space");
	usleep(20000);
	for (i = 0; i < 24; i++)
		compare_time(&r[i], fd[i]);
}

static void user_time_while_starved(void)
{
	time_while_starved(-1);
}

/* The same of a task on the CPU where it runs. */
static void user_time_while_starved_here(void)
{
	pt_pin(0);
	time_while_starved(0);
}

/* Nor before an event is enabled that has to wait from then on. */
static void user_time_of_who_waits_at_once(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(INSTRUCTIONS));
	struct pt_ring r[24];
	int fd[24], i;

	pt_first_on_cpu(0);	/* a switch would write the page */
	attr.exclude_kernel = 1;
	attr.disabled = 1;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	for (i = 0; i < 24; i++) {
		fd[i] = pt_open_hw(&attr, -1);
		pt_map(&r[i], fd[i], 0);
	}
	take(&r[0]);
	if (!snapshot.cap_user_time)
		pt_skip("the clock of this machine cannot be read by user space");
	pt_burn(1000000);
	for (i = 0; i < 24; i++) {
		pt_enable(fd[i]);
		compare_time(&r[i], fd[i]);
	}
}

/* Nor does it for an event that was throttled before, and has to wait for the tick after it. */
static void user_time_while_throttled(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(CPU_CYCLES));
	struct pt_ring r;
	int fd, i;

	ext_need();
	pt_pin(0);
	pt_sysctl_set("perf_event_max_sample_rate", 10000000);
	pt_sysctl_set("perf_cpu_time_max_percent", 0);
	/* A switch does not let it go on: the CPU has had all samples of the tick. */
	pt_sysctl_set("perf_ext_samples_per_tick", 2);
	attr.exclude_kernel = 1;
	attr.sample_period = 10007;
	attr.sample_type = PERF_SAMPLE_IP;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	fd = pt_open_hw(&attr, -1);
	pt_map(&r, fd, 8);
	take(&r);
	if (!snapshot.cap_user_time)
		pt_skip("the clock of this machine cannot be read by user space");
	for (i = 0; i < 20; i++) {
		while (!pt_count_records(&r, PERF_RECORD_THROTTLE))
			pt_spin(5000);
		pt_switch_out();
		compare_time(&r, fd);
	}
}

/* time_zero: from the machine's clock to the time in samples */
static void time_zero(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	u64 before, after, slack = 2000;
	static struct pt_record rec;
	u8 *p = pt_fresh_pages(20);
	struct pt_sample s;
	struct pt_ring r;
	int fd, i;

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_TIME;
	attr.disabled = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, fd, 4);
	take(&r);
	if (!snapshot.cap_user_time_zero)
		pt_skip("the clock of this machine cannot be read by user space");
	pt_enable(fd);
	for (i = 0; i < 20; i++) {
		take(&r);
		before = snapshot.time_zero + scale(counter_then());
		pt_touch(p + i * pt_page_size(), 1);
		take(&r);
		after = snapshot.time_zero + scale(counter_then());
		pt_need(pt_next(&r, &rec), "no sample");
		pt_parse_sample(&attr, &rec, &s);
		pt_check(s.time + slack >= before && s.time <= after + slack,
			 "sample at %llu, computed %llu to %llu", (unsigned long long)s.time,
			 (unsigned long long)before, (unsigned long long)after);
	}
}

/* A clock that may wrap is told from where the kernel has read it, at some time since the boot. */
static void clock_that_may_wrap(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	struct pt_ring r;
	s64 then;

	open_and_map(&attr, &r);
	take(&r);
	if (!snapshot.cap_user_time_short)
		pt_skip("the clock has 64 bits, or cannot be read by user space");
	then = (s64)(snapshot.time_zero + scale(snapshot.time_cycles));
	pt_check(then >= 0, "its time then is %lld", (long long)then);
	pt_check(snapshot.time_cycles <= snapshot_cycles, "%llu cycles then, %llu now",
		 (unsigned long long)snapshot.time_cycles, (unsigned long long)snapshot_cycles);
}

/* No index for somebody who is not the one counted: what it read would be garbage. */
static void index_only_for_oneself(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(INSTRUCTIONS));
	struct pt_ring r;
	pid_t pid;
	int fd;

	attr.exclude_kernel = 1;
	close(pt_open_hw(&attr, -1));
	pt_in_child(pid) {
		for (;;)
			pt_spin(1000);
	}
	fd = pt_open(&attr, pid, -1, -1, 0);
	pt_map(&r, fd, 0);
	usleep(5000);
	take(&r);
	pt_eq(snapshot.index, 0);
}

static void hardware_event(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(INSTRUCTIONS));
	struct pt_ring r;
	u64 n;
	int fd;

	attr.exclude_kernel = 1;
	attr.disabled = 1;
	fd = pt_open_hw(&attr, -1);
	pt_enable(fd);
	pt_spin(1000);
	pt_disable(fd);
	n = pt_count(fd);
	pt_map(&r, fd, 0);
	take(&r);
	/* Stopped: nothing to add to the offset. */
	pt_eq(snapshot.index, 0);
	pt_eq(snapshot.offset, n);
	pt_eq(snapshot.time_running, snapshot.time_enabled);
}

/* The counter behind an index, read without the kernel. */
static u64 read_counter(u32 index)
{
#if defined(__x86_64__)
	u32 lo, hi;

	__asm__ volatile("rdpmc" : "=a"(lo), "=d"(hi) : "c"(index - 1) : "memory");
	return (u64)hi << 32 | lo;
#else
	u64 v[5];

	__asm__ volatile("mrs %0, pmevcntr0_el0" : "=r"(v[0]) : : "memory");
	__asm__ volatile("mrs %0, pmevcntr1_el0" : "=r"(v[1]) : : "memory");
	__asm__ volatile("mrs %0, pmevcntr2_el0" : "=r"(v[2]) : : "memory");
	__asm__ volatile("mrs %0, pmevcntr3_el0" : "=r"(v[3]) : : "memory");
	__asm__ volatile("mrs %0, pmccntr_el0" : "=r"(v[4]) : : "memory");
	if (index == 32)
		return v[4];
	pt_need(index >= 1 && index <= 4, "index %u", index);
	return v[index - 1];
#endif
}

static u64 count_in_user_space(const struct pt_ring *r)
{
	struct perf_event_mmap_page *p = r->page;
	u64 count, pmc = 0;
	u32 seq, index;

	do {
		seq = __atomic_load_n(&p->lock, __ATOMIC_ACQUIRE);
		index = p->index;
		count = (u64)p->offset;
		pt_need(p->cap_user_rdpmc && index, "index %u, capability %d", index,
			(int)p->cap_user_rdpmc);
		pmc = read_counter(index);
		pmc <<= 64 - p->pmc_width;
		pmc = (u64)((s64)pmc >> (64 - p->pmc_width));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&p->lock, __ATOMIC_RELAXED) != seq);
	return count + pmc;
}

/* What the architecture wants before it lets user space read; false: it does not. */
static bool ask_for_user_access(struct perf_event_attr *attr, bool wide)
{
#if defined(__x86_64__)
	(void)attr;
	return !wide && pt_read_number("/sys/bus/event_source/devices/cpu/rdpmc", 0) > 0;
#else
	if (!pt_path_exists("/proc/sys/kernel/perf_user_access"))
		return false;
	pt_sysctl_set("perf_user_access", 1);
	/* bit 1 asks for access by user space, bit 0 for 64 bits */
	attr->config1 = 2 | wide;
	return true;
#endif
}

static void counter_read_by_user_space(void)
{
	static const u64 config[] = { PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS };
	unsigned int i, j, done = 0;

	for (i = 0; i < 4; i++) {
		struct perf_event_attr attr = pt_attr(PERF_TYPE_HARDWARE, config[i & 1]);
		struct pt_ring r;
		int fd;

		attr.exclude_kernel = 1;
		if (!ask_for_user_access(&attr, i >> 1))
			continue;
		fd = pt_open_hw(&attr, -1);
		pt_map(&r, fd, 0);
		for (j = 0; j < 20; j++) {
			u64 before = pt_count(fd), now = count_in_user_space(&r);
			u64 after = pt_count(fd);

			pt_check(now >= before && now <= after, "%llu is not in %llu..%llu",
				 (unsigned long long)now, (unsigned long long)before,
				 (unsigned long long)after);
			if (j % 5 == 4)
				pt_switch_out();
			pt_spin(1000);
		}
		/* Disabled, the index is withdrawn. */
		pt_disable(fd);
		pt_eq(r.page->index, 0);
		pt_eq(r.page->offset, pt_count(fd));
		pt_unmap(&r);
		close(fd);
		done++;
	}
	if (!done)
		pt_skip("no counters for user space");
}

static int reads_by_user_space(int fd)
{
	struct pt_ring r;
	int can;

	pt_map(&r, fd, 0);
	can = r.page->cap_user_rdpmc;
	pt_unmap(&r);
	close(fd);
	return can;
}

/* With the right to read one counter a task could read those of others. */
static void counter_of_an_own_task(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(INSTRUCTIONS));

	ext_need();
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	if (!ask_for_user_access(&attr, false))
		pt_skip("no counters for user space");
	pt_eq(reads_by_user_space(pt_open_hw(&attr, -1)), 1);
	pt_eq(reads_by_user_space(ext_open_own_task(&attr)), 0);
}

/* The same for clocks that sample, which are put on their CPU as a counter is. */
static void user_time_of_clocks(void)
{
	static const u64 config[] = { PERF_COUNT_SW_CPU_CLOCK, PERF_COUNT_SW_TASK_CLOCK };
	unsigned int i;

	for (i = 0; i < PT_ARRAY_SIZE(config); i++) {
		struct perf_event_attr attr = pt_attr(PERF_TYPE_SOFTWARE, config[i]);
		struct pt_ring r;
		int fd;

		attr.sample_period = 10000000000ull;	/* none comes */
		attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
		fd = open_and_map(&attr, &r);
		take(&r);
		if (!snapshot.cap_user_time)
			pt_skip("the clock of this machine cannot be read by user space");
		usleep(20000);
		compare_time(&r, fd);
		pt_unmap(&r);
		close(fd);
	}
}

/* A cgroup is away while its task sleeps, and the page says when it came back. */
static void user_time_of_a_cgroup(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	struct pt_ring r;
	const char *a;
	int fd;

	if (pt_is_stock())
		pt_skip("Linux 6.12 does not keep the page of such an event up to date");
	a = cg_make("");
	pt_pin(0);
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	fd = cg_open(&attr, a, 0, -1);
	pt_map(&r, fd, 0);
	take(&r);
	cg_enter(a);
	usleep(20000);
	if (snapshot.cap_user_time)
		compare_time(&r, fd);
	cg_remove_all();
	if (!snapshot.cap_user_time)
		pt_skip("the clock of this machine cannot be read by user space");
}

/*
 * An overflow after which nothing but the counter is different writes the page, too. Whoever looks
 * at it afterwards finds it at rest.
 */
static void even_after_overflows(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(CPU_CYCLES));
	unsigned int i, samples = 0;
	struct pt_ring r;

	attr.exclude_kernel = 1;
	attr.sample_period = 100003;
	pt_map(&r, pt_open_hw(&attr, -1), 1);
	for (i = 0; i < 20; i++) {
		pt_spin(50000);
		pt_eq(r.page->lock & 1, 0);
		samples += pt_count_records(&r, PERF_RECORD_SAMPLE);
	}
	pt_check(samples >= 2, "%u overflows", samples);
}

/*
 * Without an index the reader takes the time running as it is, and where that is not the time
 * enabled, each overflow brings it up to date. @first: the event is older than those that it has
 * to wait for, as old as its context.
 */
static void wait_and_run(bool first)
{
	const u64 f = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	struct perf_event_attr attr = pt_attr(PT_HW(CPU_CYCLES));
	struct perf_event_attr other = pt_attr(PT_HW(INSTRUCTIONS));
	struct pt_read before;
	struct pt_ring r;
	int others[24], fd = -1, i;

	attr.exclude_kernel = 1;
	attr.sample_period = 100003;
	attr.read_format = f;
	if (first)
		fd = pt_open_hw(&attr, -1);
	other.exclude_kernel = 1;
	for (i = 0; i < 24; i++)
		others[i] = pt_open_hw(&other, -1);
	if (!first)
		fd = pt_open_hw(&attr, -1);
	pt_map(&r, fd, 1);
	pt_spin(5000000);
	for (i = 0; i < 24; i++)
		close(others[i]);
	pt_switch_out();
	pt_read(fd, f, 1, &before);
	pt_check(before.running < before.enabled, "it has not waited");
	for (i = 0; i < 10; i++) {
		pt_drain(&r);
		pt_read(fd, f, 1, &before);
		pt_spin(1000000);
		take(&r);
		if (snapshot.index)
			pt_skip("user space reads the counter, and lets the time go on itself");
		pt_check(snapshot.time_running >= before.running, "page %llu, %llu before",
			 (unsigned long long)snapshot.time_running,
			 (unsigned long long)before.running);
		pt_check(pt_count_records(&r, PERF_RECORD_SAMPLE), "no overflow");
	}
}

static void running_after_having_waited(void)
{
	wait_and_run(false);
}

static void running_of_the_first(void)
{
	wait_and_run(true);
}

static const struct pt_case cases[] = {
	{ "software_event", software_event },
	{ "software_event_stops", software_event_stops },
	{ "software_group_stops", software_group_stops },
	{ "sequence_moves", sequence_moves },
	{ "foreign_page", foreign_page },
	{ "foreign_page_once_mapped", foreign_page_once_mapped },
	{ "times_agree_with_read", times_agree_with_read },
	{ "user_time", user_time },
	{ "user_time_while_starved", user_time_while_starved },
	{ "user_time_while_starved_here", user_time_while_starved_here },
	{ "user_time_of_who_waits_at_once", user_time_of_who_waits_at_once },
	{ "user_time_while_throttled", user_time_while_throttled },
	{ "user_time_of_clocks", user_time_of_clocks },
	{ "user_time_of_a_cgroup", user_time_of_a_cgroup },
	{ "time_zero", time_zero },
	{ "clock_that_may_wrap", clock_that_may_wrap },
	{ "index_only_for_oneself", index_only_for_oneself },
	{ "hardware_event", hardware_event },
	{ "even_after_overflows", even_after_overflows },
	{ "running_after_having_waited", running_after_having_waited },
	{ "running_of_the_first", running_of_the_first },
	{ "counter_read_by_user_space", counter_read_by_user_space },
	{ "counter_of_an_own_task", counter_of_an_own_task },
};

PT_MAIN(cases)
