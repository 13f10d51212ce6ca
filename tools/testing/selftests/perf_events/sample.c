// SPDX-License-Identifier: GPL-2.0
/*
 * sample.c - every field of a sample against a fact known from elsewhere.
 *
 * The source is mostly the page fault with period 1: it happens at an
 * instruction, an address and a moment of our choosing. Sources have
 * programs of their own; chains, registers and stacks: sample_stack.c.
 */
#include "lib/fault_sample.h"
#include <pthread.h>

static void one_sample_per_event(void)
{
	struct perf_event_attr attr = faults(PERF_SAMPLE_IP);
	struct pt_ring r;
	int fd;

	fd = record_faults(&attr, &r, pt_fresh_pages(500), 500);
	pt_eq(pt_count_records(&r, PERF_RECORD_SAMPLE), 500);
	pt_eq(pt_head(&r), 500 * 16);
	pt_eq(pt_count(fd), 500);
}

/* Of a hit that several want a sample of each has one, and who does not count it has none. */
static void several_of_one_hit(void)
{
	struct perf_event_attr attr = faults(PERF_SAMPLE_TID);
	struct pt_ring r[4];
	int i;

	pt_pin(0);
	for (i = 0; i < 4; i++) {
		attr.exclude_user = i == 2;
		pt_map(&r[i], pt_open(&attr, i == 3 ? -1 : 0, i & 1 ? 0 : -1, -1, 0), 8);
	}
	pt_settle();
	for (i = 0; i < 4; i++)
		pt_enable(r[i].fd);
	pt_fault(10);
	for (i = 0; i < 4; i++)
		pt_disable(r[i].fd);
	for (i = 0; i < 3; i++) {
		pt_eq(pt_count(r[i].fd), i == 2 ? 0 : 10);
		pt_eq(pt_count_records(&r[i], PERF_RECORD_SAMPLE), i == 2 ? 0 : 10);
	}
	/* That of the CPU: others may have run there. */
	pt_check(pt_count(r[3].fd) >= 10, "%llu faults", (unsigned long long)pt_count(r[3].fd));
	pt_eq(pt_count_records(&r[3], PERF_RECORD_SAMPLE), pt_count(r[3].fd));
}

static void every_nth(void)
{
	struct perf_event_attr attr = faults(PERF_SAMPLE_ADDR);
	u8 *p = pt_fresh_pages(500);
	struct pt_ring r;
	int i;

	attr.sample_period = 7;
	record_faults(&attr, &r, p, 500);
	for (i = 7; i <= 500; i += 7) {
		next_sample(&r, &attr, &s, &rec);
		pt_eq(s.addr, pt_addr(p) + (u64)(i - 1) * (u64)pt_page_size());
	}
	pt_check(!pt_next(&r, &rec), "a sample too many");
}

static void no_fields(void)
{
	struct perf_event_attr attr = faults(0);
	struct pt_ring r;

	record_faults(&attr, &r, pt_fresh_pages(3), 3);
	pt_need(pt_next(&r, &rec), "no record");
	pt_eq(rec.h.size, 8);
	pt_eq(pt_head(&r), 3 * 8);
}

static void ip_addr_and_mode(void)
{
	struct perf_event_attr attr = faults(PERF_SAMPLE_IP | PERF_SAMPLE_ADDR);
	u8 *p = pt_fresh_pages(10);
	struct pt_ring r;
	int i;

	record_faults(&attr, &r, p, 10);
	for (i = 0; i < 10; i++) {
		next_sample(&r, &attr, &s, &rec);
		pt_eq(rec.h.misc & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_USER);
		pt_eq(s.ip, pt_addr(pt_store_insn));
		pt_eq(s.addr, pt_addr(p) + (u64)i * (u64)pt_page_size());
	}
}

/* The kernel copies into pages that are not there yet. */
static void kernel_mode(void)
{
	struct perf_event_attr attr = faults(PERF_SAMPLE_IP | PERF_SAMPLE_ADDR);
	size_t page = (size_t)pt_page_size();
	u8 *p = pt_fresh_pages(4);
	struct pt_ring r;
	int fd, zero, i;

	attr.exclude_user = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, fd, 8);
	zero = open("/dev/zero", O_RDONLY);
	pt_need(zero >= 0, "/dev/zero: %s", strerror(errno));
	pt_enable(fd);
	pt_eq(read(zero, p, 4 * page), 4 * page);
	pt_disable(fd);
	for (i = 0; i < 4; i++) {
		next_sample(&r, &attr, &s, &rec);
		pt_eq(rec.h.misc & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_KERNEL);
		pt_check(s.ip >> 63, "kernel IP %#llx", (unsigned long long)s.ip);
		pt_eq(s.addr & ~(u64)(page - 1), pt_addr(p) + (u64)i * page);
	}
	pt_check(!pt_next(&r, &rec), "a sample too many");
}

static void excluded_kernel(void)
{
	struct perf_event_attr attr = faults(PERF_SAMPLE_IP);
	u8 *p = pt_fresh_pages(4);
	struct pt_ring r;
	int fd, zero;

	attr.exclude_kernel = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, fd, 8);
	zero = open("/dev/zero", O_RDONLY);
	pt_enable(fd);
	pt_eq(read(zero, p, 4 * (size_t)pt_page_size()), 4 * pt_page_size());
	pt_disable(fd);
	pt_eq(pt_count_records(&r, PERF_RECORD_SAMPLE), 0);
}

struct thread {
	u8 *pages;
	struct perf_event_attr *attr;
	struct pt_ring *ring;
	u32 tid;
};

static void *faulting_thread(void *arg)
{
	struct thread *t = arg;

	t->tid = (u32)pt_tid();
	record_faults(t->attr, t->ring, t->pages, 5);
	return NULL;
}

static void tid_of_a_thread(void)
{
	struct perf_event_attr attr = faults(PERF_SAMPLE_TID);
	struct pt_ring r;
	struct thread t = { pt_fresh_pages(5), &attr, &r, 0 };
	pthread_t thread;
	int i;

	pt_need(!pthread_create(&thread, NULL, faulting_thread, &t), "pthread_create");
	pthread_join(thread, NULL);
	pt_check(t.tid != (u32)getpid(), "the thread is no thread");
	for (i = 0; i < 5; i++) {
		next_sample(&r, &attr, &s, &rec);
		pt_eq(s.pid, getpid());
		pt_eq(s.tid, t.tid);
	}
}

/* Numbers are those of the opener's pid namespace. */
static void pid_namespace(void)
{
	struct perf_event_attr attr = faults(PERF_SAMPLE_TID);
	int go[2], own[2], fd, n = 0;
	struct pt_ring r;
	pid_t pid;

	pt_gate_make(go);
	pt_gate_make(own);
	if (unshare(CLONE_NEWPID))
		pt_skip("no pid namespaces: %s", strerror(errno));
	pt_in_child(pid) {
		pt_settle();
		pt_eq(getpid(), 1);
		record_faults(&attr, &r, pt_fresh_pages(5), 5);
		while (pt_next(&r, &rec)) {
			pt_parse_sample(&attr, &rec, &s);
			pt_eq(s.pid, 1);
			pt_eq(s.tid, 1);
			n++;
		}
		pt_eq(n, 5);
		/* Not under two events at once: this is about one's own view. */
		pt_gate_open(own);
		pt_gate_wait(go);
		pt_fault(5);
	}
	pt_gate_wait(own);
	fd = pt_open(&attr, pid, -1, -1, 0);
	pt_map(&r, fd, 64);
	pt_enable(fd);
	pt_gate_open(go);
	pt_reap(pid);
	while (pt_next(&r, &rec)) {
		pt_parse_sample(&attr, &rec, &s);
		/* The number of somebody dying may be gone already. */
		if (s.pid == (u32)-1 || !s.pid)
			continue;
		pt_eq(s.pid, pid);
		pt_eq(s.tid, pid);
		n++;
	}
	pt_check(n >= 5, "%d samples", n);
}

/* Who is in none of the opener's pid namespaces has no numbers there. */
static void outside_the_pid_namespace(void)
{
	struct perf_event_attr attr = faults(PERF_SAMPLE_TID | PERF_SAMPLE_ADDR);
	int opened[2], done[2], fd, n = 0;
	u8 *p = pt_fresh_pages(5);
	struct pt_ring r;
	pid_t pid;

	pt_pin(0);
	pt_gate_make(opened);
	pt_gate_make(done);
	if (unshare(CLONE_NEWPID))
		pt_skip("no pid namespaces: %s", strerror(errno));
	pt_in_child(pid) {
		fd = pt_open(&attr, -1, 0, -1, 0);
		pt_map(&r, fd, 64);
		pt_enable(fd);
		pt_gate_open(opened);
		pt_gate_wait(done);
		pt_disable(fd);
		while (pt_next_of(&r, &rec, PERF_RECORD_SAMPLE)) {
			pt_parse_sample(&attr, &rec, &s);
			if (s.addr - pt_addr(p) >= 5 * (u64)pt_page_size())
				continue;
			pt_eq(s.pid, 0);
			pt_eq(s.tid, 0);
			n++;
		}
		pt_eq(n, 5);
	}
	pt_gate_wait(opened);
	pt_touch(p, 5);
	pt_gate_open(done);
	pt_reap(pid);
}

static void times_by_clock(void)
{
	static const clockid_t clocks[] = {
		CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME, CLOCK_BOOTTIME, CLOCK_TAI,
	};
	unsigned int i;

	for (i = 0; i < PT_ARRAY_SIZE(clocks); i++) {
		struct perf_event_attr attr = faults(PERF_SAMPLE_TIME);
		u8 *p = pt_fresh_pages(20);
		struct pt_ring r;
		u64 before, after;
		int fd, j;

		attr.use_clockid = 1;
		attr.clockid = clocks[i];
		before = pt_clock(clocks[i]);
		fd = record_faults(&attr, &r, p, 20);
		after = pt_clock(clocks[i]);
		for (j = 0; j < 20; j++) {
			next_sample(&r, &attr, &s, &rec);
			pt_check(s.time >= before && s.time <= after,
				 "clock %d: %llu is not between %llu and %llu", clocks[i],
				 (unsigned long long)s.time, (unsigned long long)before,
				 (unsigned long long)after);
			before = s.time;
		}
		close(fd);
	}
}

static void default_time_is_monotonic(void)
{
	struct perf_event_attr attr = faults(PERF_SAMPLE_TIME);
	u64 last = 0, first = 0, before, after;
	u8 *p = pt_fresh_pages(2);
	struct pt_ring r;
	int fd, i;

	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, fd, 8);
	pt_enable(fd);
	before = pt_clock(CLOCK_MONOTONIC);
	pt_touch(p, 1);
	pt_burn(20000000);
	pt_touch(p + pt_page_size(), 1);
	after = pt_clock(CLOCK_MONOTONIC);
	pt_disable(fd);
	for (i = 0; pt_next_of(&r, &rec, PERF_RECORD_SAMPLE); i++) {
		pt_parse_sample(&attr, &rec, &s);
		if (!i)
			first = s.time;
		pt_check(s.time >= last, "time went back");
		last = s.time;
	}
	pt_need(i >= 2, "%d samples", i);
	pt_check(last - first >= 20000000, "only %llu ns between the samples",
		 (unsigned long long)(last - first));
	/* Nanoseconds, though of another clock: a tenth of tolerance. */
	pt_check(last - first <= (after - before) / 10 * 11 + 1000000, "%llu ns of %llu",
		 (unsigned long long)(last - first), (unsigned long long)(after - before));
}

static void ids(void)
{
	struct perf_event_attr attr = faults(PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
					     PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP);
	struct pt_ring r;
	u64 first;
	int fd, i;

	fd = record_faults(&attr, &r, pt_fresh_pages(5), 5);
	for (i = 0; i < 5; i++) {
		next_sample(&r, &attr, &s, &rec);
		pt_eq(s.id, pt_id(fd));
		pt_eq(s.stream_id, pt_id(fd));
		/* IDENTIFIER is where a reader finds it before it knows the attr. */
		memcpy(&first, rec.body, 8);
		pt_eq(first, pt_id(fd));
	}
}

static void cpu_number(void)
{
	int cpu, j;

	for (cpu = 0; cpu < pt_online_cpus(); cpu++) {
		struct perf_event_attr attr = faults(PERF_SAMPLE_CPU);
		struct pt_ring r;

		pt_pin(cpu);
		record_faults(&attr, &r, pt_fresh_pages(5), 5);
		for (j = 0; j < 5; j++) {
			next_sample(&r, &attr, &s, &rec);
			pt_eq(s.cpu, cpu);
			pt_eq(s.cpu_res, 0);
		}
	}
}

static void period_field(void)
{
	struct perf_event_attr attr = faults(PERF_SAMPLE_PERIOD);
	struct pt_ring r;
	int i;

	record_faults(&attr, &r, pt_fresh_pages(5), 5);
	for (i = 0; i < 5; i++) {
		next_sample(&r, &attr, &s, &rec);
		pt_eq(s.period, 1);
	}
}

static void read_field_all_formats(void)
{
	u64 f;
	int i;

	for (f = 0; f < PERF_FORMAT_MAX; f++) {
		struct perf_event_attr attr = faults(PERF_SAMPLE_READ);
		u64 last_enabled = 0;
		struct pt_ring r;
		int fd;

		attr.read_format = f;
		fd = record_faults(&attr, &r, pt_fresh_pages(5), 5);
		for (i = 1; i <= 5; i++) {
			next_sample(&r, &attr, &s, &rec);
			pt_eq(s.read.nr, 1);
			pt_eq(s.read.v[0].value, i);
			if (f & PERF_FORMAT_ID)
				pt_eq(s.read.v[0].id, pt_id(fd));
			pt_eq(s.read.v[0].lost, 0);
			pt_check(s.read.enabled >= last_enabled, "enabled went back");
			last_enabled = s.read.enabled;
			if ((f & 3) == 3)
				pt_eq(s.read.running, s.read.enabled);
		}
		close(fd);
	}
}

static void read_field_of_a_group(void)
{
	struct perf_event_attr attr = faults(PERF_SAMPLE_READ);
	struct perf_event_attr sib = pt_attr(PT_SW(PAGE_FAULTS_MIN));
	struct perf_event_attr dummy = pt_attr(PT_SW(DUMMY));
	u8 *p = pt_fresh_pages(6);
	int fd, a, b, i;
	struct pt_ring r;

	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	fd = pt_open(&attr, 0, -1, -1, 0);
	a = pt_open(&sib, 0, -1, fd, 0);
	b = pt_open(&dummy, 0, -1, fd, 0);
	pt_map(&r, fd, 8);
	pt_enable(fd);
	pt_touch(p, 6);
	pt_disable(fd);
	for (i = 1; i <= 6; i++) {
		next_sample(&r, &attr, &s, &rec);
		pt_eq(s.read.nr, 3);
		pt_eq(s.read.v[0].value, i);
		pt_eq(s.read.v[0].id, pt_id(fd));
		pt_eq(s.read.v[1].id, pt_id(a));
		/* The same fault, counted before or after the leader's sample. */
		pt_check(s.read.v[1].value == (u64)i || s.read.v[1].value == (u64)i - 1,
			 "sibling %llu with leader %d", (unsigned long long)s.read.v[1].value, i);
		pt_eq(s.read.v[2].value, 0);
		pt_eq(s.read.v[2].id, pt_id(b));
	}
}

static void raw_of_a_software_event(void)
{
	struct perf_event_attr attr = faults(PERF_SAMPLE_RAW);
	struct pt_ring r;
	u32 v;

	record_faults(&attr, &r, pt_fresh_pages(1), 1);
	next_sample(&r, &attr, &s, &rec);
	/* Nothing to say: four bytes of zero, so that the rest is aligned. */
	pt_eq(s.raw_size, 4);
	memcpy(&v, s.raw, 4);
	pt_eq(v, 0);
}

static u64 physical(const void *at)
{
	u64 entry = 0;
	int fd = open("/proc/self/pagemap", O_RDONLY);
	off_t off = (off_t)(pt_addr(at) / (u64)pt_page_size() * 8);

	if (fd < 0)
		return 0;
	if (pread(fd, &entry, 8, off) != 8)
		entry = 0;
	close(fd);
	return (entry & ((1ull << 55) - 1)) * (u64)pt_page_size();
}

static void physical_address_and_page_sizes(void)
{
	struct perf_event_attr attr = faults(PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR |
					     PERF_SAMPLE_DATA_PAGE_SIZE |
					     PERF_SAMPLE_CODE_PAGE_SIZE);
	u8 *p = pt_fresh_pages(4);
	struct pt_ring r;
	int i;

	/* Counted when the page is in place. */
	attr.config = PERF_COUNT_SW_PAGE_FAULTS_MIN;
	record_faults(&attr, &r, p, 4);
	for (i = 0; i < 4; i++) {
		u8 *at = p + i * pt_page_size();

		next_sample(&r, &attr, &s, &rec);
		pt_eq(s.addr, pt_addr(at));
		pt_eq(s.data_page, pt_page_size());
		pt_eq(s.code_page, pt_page_size());
		pt_check(s.phys_addr, "no physical address");
		if (physical(at))
			pt_eq(s.phys_addr, physical(at));
	}
}

/* Pages that were looked up are not held: a file whose pages somebody holds cannot be sealed. */
static void physical_address_holds_no_page(void)
{
	struct perf_event_attr attr = faults(PERF_SAMPLE_PHYS_ADDR);
	const size_t size = 4 * (size_t)pt_page_size();
	int mem = memfd_create("pages", MFD_ALLOW_SEALING), i;
	struct pt_ring r;
	u8 *p;

	pt_need(mem >= 0 && !ftruncate(mem, (off_t)size), "memfd: %s", strerror(errno));
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, mem, 0);
	pt_need(p != MAP_FAILED, "mmap: %s", strerror(errno));
	attr.config = PERF_COUNT_SW_PAGE_FAULTS_MIN;
	record_faults(&attr, &r, p, 4);
	for (i = 0; i < 4; i++) {
		next_sample(&r, &attr, &s, &rec);
		pt_check(s.phys_addr, "no physical address");
	}
	munmap(p, size);
	pt_check(!fcntl(mem, F_ADD_SEALS, F_SEAL_WRITE), "F_SEAL_WRITE: %s", strerror(errno));
	close(mem);
}

static void fields_no_software_event_has(void)
{
	struct perf_event_attr attr = faults(PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC |
					     PERF_SAMPLE_TRANSACTION);
	struct pt_ring r;

	record_faults(&attr, &r, pt_fresh_pages(1), 1);
	next_sample(&r, &attr, &s, &rec);
	pt_eq(s.weight, 0);
	pt_eq(s.data_src, PERF_MEM_S(OP, NA) | PERF_MEM_S(LVL, NA) | PERF_MEM_S(SNOOP, NA) |
	      PERF_MEM_S(LOCK, NA) | PERF_MEM_S(TLB, NA) | PERF_MEM_S(LVLNUM, NA));
	pt_eq(s.transaction, 0);
}

/* Each bit alone, each pair, and all of them: the size fits the decoder. */
static void all_combinations_of_two(void)
{
	static const u64 bits[] = {
		PERF_SAMPLE_IP, PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_SAMPLE_ADDR,
		PERF_SAMPLE_READ, PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_ID, PERF_SAMPLE_CPU,
		PERF_SAMPLE_PERIOD, PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_RAW,
		PERF_SAMPLE_REGS_USER, PERF_SAMPLE_STACK_USER, PERF_SAMPLE_WEIGHT,
		PERF_SAMPLE_DATA_SRC, PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_TRANSACTION,
		PERF_SAMPLE_REGS_INTR, PERF_SAMPLE_PHYS_ADDR, PERF_SAMPLE_DATA_PAGE_SIZE,
		PERF_SAMPLE_CODE_PAGE_SIZE,
	};
	u64 all = 0;
	unsigned int i, j;

	for (i = 0; i < PT_ARRAY_SIZE(bits); i++)
		all |= bits[i];
	for (i = 0; i < PT_ARRAY_SIZE(bits); i++) {
		for (j = i; j <= PT_ARRAY_SIZE(bits); j++) {
			struct perf_event_attr attr;
			u8 *p = pt_fresh_pages(1);
			struct pt_ring r;
			int fd;

			attr = faults(j < PT_ARRAY_SIZE(bits) ? bits[i] | bits[j] : all & ~bits[i]);
			attr.sample_regs_user = 1ull << REG_PC;
			attr.sample_regs_intr = (1ull << REG_PC) | (1ull << REG_SP);
			attr.sample_stack_user = 64;
			attr.read_format = PERF_FORMAT_ID;
			fd = pt_open(&attr, 0, -1, -1, 0);
			pt_map(&r, fd, 1);
			pt_enable(fd);
			pt_touch(p, 1);
			pt_disable(fd);
			next_sample(&r, &attr, &s, &rec);
			if (attr.sample_type & PERF_SAMPLE_IP)
				pt_eq(s.ip, pt_addr(pt_store_insn));
			if (attr.sample_type & PERF_SAMPLE_TID)
				pt_eq(s.tid, pt_tid());
			if (attr.sample_type & PERF_SAMPLE_ADDR)
				pt_eq(s.addr, pt_addr(p));
			if (attr.sample_type & PERF_SAMPLE_ID)
				pt_eq(s.id, pt_id(fd));
			if (attr.sample_type & PERF_SAMPLE_READ)
				pt_eq(s.read.v[0].value, 1);
			if (attr.sample_type & PERF_SAMPLE_REGS_USER)
				pt_eq(s.user_regs[REG_PC], pt_addr(pt_store_insn));
			pt_check(!pt_next(&r, &rec), "a record too many");
			pt_unmap(&r);
			close(fd);
			munmap(p, (size_t)pt_page_size());
		}
	}
}

static const struct pt_case cases[] = {
	{ "one_sample_per_event", one_sample_per_event },
	{ "several_of_one_hit", several_of_one_hit },
	{ "every_nth", every_nth },
	{ "no_fields", no_fields },
	{ "ip_addr_and_mode", ip_addr_and_mode },
	{ "kernel_mode", kernel_mode },
	{ "excluded_kernel", excluded_kernel },
	{ "tid_of_a_thread", tid_of_a_thread },
	{ "pid_namespace", pid_namespace },
	{ "outside_the_pid_namespace", outside_the_pid_namespace },
	{ "times_by_clock", times_by_clock },
	{ "default_time_is_monotonic", default_time_is_monotonic },
	{ "ids", ids },
	{ "cpu_number", cpu_number },
	{ "period_field", period_field },
	{ "read_field_all_formats", read_field_all_formats },
	{ "read_field_of_a_group", read_field_of_a_group },
	{ "raw_of_a_software_event", raw_of_a_software_event },
	{ "physical_address_and_page_sizes", physical_address_and_page_sizes },
	{ "physical_address_holds_no_page", physical_address_holds_no_page },
	{ "fields_no_software_event_has", fields_no_software_event_has },
	{ "all_combinations_of_two", all_combinations_of_two },
};

PT_MAIN(cases)
