// SPDX-License-Identifier: GPL-2.0
/*
 * userpage.c - the first page of a mapping: what a task may know of its own
 * event without a system call. Sequence count, index and offset; for its times
 * see userpage_time.c.
 *
 * needs: hw skid
 */
#include "lib/ext.h"
#include "lib/userpage.h"

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

static const struct pt_case cases[] = {
	{ "software_event", software_event },
	{ "software_event_stops", software_event_stops },
	{ "software_group_stops", software_group_stops },
	{ "sequence_moves", sequence_moves },
	{ "foreign_page", foreign_page },
	{ "foreign_page_once_mapped", foreign_page_once_mapped },
	{ "index_only_for_oneself", index_only_for_oneself },
	{ "hardware_event", hardware_event },
	{ "even_after_overflows", even_after_overflows },
	{ "counter_read_by_user_space", counter_read_by_user_space },
	{ "counter_of_an_own_task", counter_of_an_own_task },
};

PT_MAIN(cases)
