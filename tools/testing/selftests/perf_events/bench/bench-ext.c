// SPDX-License-Identifier: GPL-2.0
/*
 * Rows about what an event is told beyond its attr: periods, masks, notification, formats, turns
 * of sets. Beside each is what an event without that costs on the same kernel, or what a program
 * has to do for the same by other means. Sessions are in bench-session.c; switches, threads that
 * are held, and memory in bench-ext-task.c.
 */
#include "bench-ext.h"
#include "bench-bpf.h"

#define NEVER	0x7fffffff

static bool told(unsigned long call, void *what)
{
	return !ioctl(first_event(), call, what);
}

static bool periods(u64 period, u32 mask)
{
	struct perf_ext_periods ask = { .short_period = period, .mask = mask, .seed = 1 };

	return told(PERF_EXT_IOC_PERIODS, &ask);
}

static bool notify(u32 every, u32 flags)
{
	struct perf_ext_notify ask = { .every = every, .flags = flags };

	return told(PERF_EXT_IOC_NOTIFY, &ask);
}

/* ---- a counter: what a sample adds to a loop in user space ---- */

#define TURNS		2000000
#define PERIOD		10240	/* the mean of the random ones, too */
#define RANDOM_BASE	8192
#define RANDOM_MASK	4095

void spin(unsigned int n)
{
	volatile unsigned int turns = n;

	while (turns)
		turns--;
}

static double per_sample(unsigned int n)
{
	double without = time_of(spin, n) * n, with;
	u64 samples;

	ioctl(first_event(), PERF_EVENT_IOC_ENABLE, 0);
	with = time_of(spin, n) * n;
	ioctl(first_event(), PERF_EVENT_IOC_DISABLE, 0);
	samples = buffer_count();
	return samples ? (with - without) / samples : 0;
}

/* A group of so many counters, the leader samples and shows them all. */
static bool counter(unsigned int members)
{
	struct perf_event_attr a;
	int leader;

	attr_sampling(&a, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, PERIOD,
		      BIT_DISABLED | BIT_EXCLUDE_KERNEL);
	if (members > 1) {
		a.sample_type |= PERF_SAMPLE_READ;
		a.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	}
	leader = event_add(&a, 0, -1);
	if (leader < 0)
		return false;
	attr_init(&a, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	attr_bits(&a, BIT_EXCLUDE_KERNEL);
	while (--members)
		if (event_join(&a, 0, -1, leader) < 0)
			return false;
	buffer_map();
	return true;
}

static bool counter_random(unsigned int members)
{
	return counter(members) && periods(RANDOM_BASE, RANDOM_MASK);
}

static bool counter_notify(unsigned int members)
{
	return counter(members) && notify(NEVER, 0);
}

static bool counter_cost(unsigned int members)
{
	return counter(members) && cost_counted("events/pmi_time");
}

static bool counter_masks(unsigned int record)
{
	struct perf_ext_masks ask = { .record = record };

	return counter(4) && told(PERF_EXT_IOC_MASKS, &ask);
}

static bool counter_masks_reset(unsigned int record)
{
	struct perf_ext_masks ask = { .record = record, .reset = record };

	return counter(4) && told(PERF_EXT_IOC_MASKS, &ask);
}

#define COUNTER(what, how, setup, arg) \
	ROW(what, how, setup, NULL, NULL, buffer_unmap, arg, TURNS, 0, per_sample)

/* ---- page faults: a fault with all that its samples cost ---- */

static bool fault(u64 period, u64 bits)
{
	struct perf_event_attr a;

	attr_sampling(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, period, bits);
	if (event_add(&a, 0, -1) < 0)
		return false;
	buffer_map();
	return true;
}

static bool fault_sampled(unsigned int period)
{
	return fault(period, 0);
}

static bool fault_periods(unsigned int period)
{
	return fault(period, 0) && periods(period, 0);
}

/* Of two lengths: so much, and 2 more. */
static bool fault_random(unsigned int period)
{
	return fault(period, 0) && periods(period, 2);
}

static bool fault_notify(unsigned int period)
{
	return fault(period, 0) && notify(NEVER, 0);
}

#define FAULT(what, how, setup, arg) \
	ROW(what, how, setup, run_fault, buffer_drain, buffer_unmap, arg, FAULTS, 0, NULL)

/* ---- a sample for each fourth fault: what it adds to its four faults ---- */

static double per_fourth(unsigned int n)
{
	double all = time_of(run_fault, n) * n;
	u64 samples = buffer_count();

	return samples ? all / samples : 0;
}

#define FOURTH(what, how, setup, arg) \
	ROW(what, how, setup, run_fault, buffer_drain, buffer_unmap, arg, 4 * FAULTS, 0, per_fourth)

/* ---- format pfm, and a BPF program that does what it does ---- */

#define AREA_BYTES	(1u << 17)

static int area = -1, map = -1, prog = -1;
static u64 *reader_page, *writer_page;

static bool with_pfm(unsigned int unused)
{
	const struct perf_ext_pfm_arg arg = { .bytes = AREA_BYTES };
	struct perf_ext_format ask = {
		.uuid = PERF_EXT_FORMAT_PFM, .arg = (uintptr_t)&arg, .arg_size = sizeof(arg),
		.share = -1,
	};
	struct perf_event_attr a;

	(void)unused;
	attr_sampling(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1, 0);
	if (event_add(&a, 0, -1) < 0)
		return false;
	area = ioctl(first_event(), PERF_EXT_IOC_FORMAT, &ask);
	return area >= 0;
}

static void flip(void)
{
	if (ioctl(area, PERF_EXT_AREA_IOC_FLIP) < 0)
		die("FLIP");
}

static void area_done(void)
{
	close(area);
	area = -1;
}

/* Address, time, period, pid and tid: 32 bytes at fp - 32, with nobody woken. */
static int load_writer(void)
{
	const struct bpf_insn insns[] = {
		COPY(6, 1),
		LOAD(1, 6, IP_AT),
		STORE(10, -32, 1),
		CALL(BPF_FUNC_ktime_get_ns),
		STORE(10, -24, 0),
		LOAD(1, 6, PERIOD_AT),
		STORE(10, -16, 1),
		CALL(BPF_FUNC_get_current_pid_tgid),
		STORE(10, -8, 0),
		MAP(1, map),
		COPY(2, 10),
		ADD(2, -32),
		SET(3, 32),
		SET(4, BPF_RB_NO_WAKEUP),
		CALL(BPF_FUNC_ringbuf_output),
		SET(0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_PERF_EVENT,
		.insns = (uintptr_t)insns,
		.insn_cnt = ARRAY_SIZE(insns),
		.license = (uintptr_t)"GPL",
	};

	return bpf(BPF_PROG_LOAD, &attr);
}

static bool with_ringbuf(unsigned int unused)
{
	union bpf_attr create = { .map_type = BPF_MAP_TYPE_RINGBUF, .max_entries = AREA_BYTES };
	struct perf_event_attr a;

	(void)unused;
	attr_sampling(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1, 0);
	/* The program needs nothing of the sample. */
	a.sample_type = 0;
	map = bpf(BPF_MAP_CREATE, &create);
	if (map < 0 || event_add(&a, 0, -1) < 0)
		return false;
	reader_page = mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
	writer_page = mmap(NULL, page_size, PROT_READ, MAP_SHARED, map, page_size);
	if (reader_page == MAP_FAILED || writer_page == MAP_FAILED)
		die("mmap of a ring buffer");
	prog = load_writer();
	if (prog < 0 || ioctl(first_event(), PERF_EVENT_IOC_SET_BPF, prog) < 0)
		return false;
	run_fault(1);
	return *(volatile u64 *)writer_page > 0;
}

static void ringbuf_drain(void)
{
	__atomic_store_n(reader_page, __atomic_load_n(writer_page, __ATOMIC_ACQUIRE),
			 __ATOMIC_RELEASE);
}

static void ringbuf_done(void)
{
	if (reader_page)
		munmap(reader_page, page_size);
	if (writer_page)
		munmap(writer_page, page_size);
	close(prog);
	close(map);
	reader_page = NULL;
	writer_page = NULL;
	prog = -1;
	map = -1;
}

/* ---- a fault that stops its event, which then goes on ---- */

static bool stop_by_refresh(unsigned int unused)
{
	(void)unused;
	return fault(1, BIT_DISABLED) && told(PERF_EVENT_IOC_REFRESH, (void *)1);
}

static bool stop_by_notify(unsigned int unused)
{
	(void)unused;
	return fault(1, 0) && notify(1, PERF_EXT_NOTIFY_STOP);
}

static void run_refresh(unsigned int n)
{
	while (n--) {
		run_fault(1);
		if (!told(PERF_EVENT_IOC_REFRESH, (void *)1))
			die("REFRESH");
	}
}

static void run_restart(unsigned int n)
{
	struct perf_ext_restart all = { 0 };

	while (n--) {
		run_fault(1);
		if (!told(PERF_EXT_IOC_RESTART, &all))
			die("RESTART");
	}
}

/* All of them are in the buffer: each fault has found the event on. */
static double each_stops(void (*run)(unsigned int n), unsigned int n)
{
	double mean = time_of(run, n);

	if (buffer_count() != n)
		die("not each fault is a sample");
	return mean;
}

static double each_refresh(unsigned int n)
{
	return each_stops(run_refresh, n);
}

static double each_restart(unsigned int n)
{
	return each_stops(run_restart, n);
}

#define STOP(how, setup, measure) \
	ROW("fault that stops its event, and on", how, setup, NULL, buffer_drain, buffer_unmap, 0, \
	    FAULTS, 0, measure)

/* ---- turns of two sets ---- */

static int leaders[2];

/* Two groups of the same members: of a fault that samples, if asked for, and so many counters. */
static bool two_groups(bool faults, unsigned int counters, u64 bits)
{
	struct perf_event_attr a;
	unsigned int i, j;

	for (i = 0; i < 2; i++) {
		leaders[i] = -1;
		if (faults) {
			attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
			a.sample_period = 1;
			attr_bits(&a, i ? bits : 0);
			leaders[i] = event_add(&a, 0, -1);
		}
		attr_init(&a, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
		for (j = 0; j < counters; j++) {
			int fd;

			attr_bits(&a, BIT_EXCLUDE_KERNEL | (leaders[i] < 0 && i ? bits : 0));
			fd = event_join(&a, 0, -1, leaders[i]);
			if (fd < 0)
				return false;
			if (leaders[i] < 0)
				leaders[i] = fd;
		}
		if (leaders[i] < 0)
			return false;
	}
	return true;
}

static bool two_sets(bool faults, unsigned int counters)
{
	struct perf_ext_set join = { .ring = -1 };
	struct perf_ext_trigger trigger = { .threshold = 1 };
	unsigned int i;

	if (!two_groups(faults, counters, 0))
		return false;
	for (i = 0; i < 2; i++) {
		join.number = i;
		if (ioctl(leaders[i], PERF_EXT_IOC_SET_JOIN, &join) < 0 ||
		    (faults && ioctl(leaders[i], PERF_EXT_IOC_SET_TRIGGER, &trigger) < 0))
			return false;
		join.ring = leaders[0];
	}
	return true;
}

/* By overflow: as many turns as faults. */
static bool turn_at_fault(unsigned int counters)
{
	struct perf_ext_set_info info[2] = { };
	struct perf_ext_sets ask = {
		.infos = (uintptr_t)info, .nr = 2, .stride = sizeof(info[0]),
	};

	if (!two_sets(true, counters))
		return false;
	run_fault(10);
	return !ioctl(leaders[0], PERF_EXT_IOC_SET_INFO, &ask) &&
	       info[0].by_overflow + info[1].by_overflow == 10;
}

static bool no_turn_at_fault(unsigned int counters)
{
	return two_groups(true, counters, BIT_DISABLED);
}

static bool groups_by_hand(unsigned int counters)
{
	return two_groups(false, counters, BIT_DISABLED);
}

static bool sets_by_hand(unsigned int counters)
{
	return two_sets(false, counters);
}

/* The first group is on when it begins; n is even. */
static void run_off_on(unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (ioctl(leaders[i % 2], PERF_EVENT_IOC_DISABLE, 0) < 0 ||
		    ioctl(leaders[1 - i % 2], PERF_EVENT_IOC_ENABLE, 0) < 0)
			die("DISABLE, ENABLE");
}

static void run_select(unsigned int n)
{
	struct perf_ext_set_select ask = { };
	unsigned int i;

	for (i = 0; i < n; i++) {
		ask.number = 1 - i % 2;
		if (ioctl(leaders[0], PERF_EXT_IOC_SET_SELECT, &ask) < 0)
			die("SELECT");
	}
}

/* ---- open and close ---- */

static void open_close(unsigned int n, bool with_periods)
{
	struct perf_ext_periods ask = { .short_period = 4, .seed = 1 };
	struct perf_event_attr a;

	attr_sampling(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 4, 0);
	while (n--) {
		int fd = attr_open(&a, 0, -1, -1, 0);

		if (fd < 0 || (with_periods && ioctl(fd, PERF_EXT_IOC_PERIODS, &ask) < 0))
			die("open");
		close(fd);
	}
}

static void open_plain(unsigned int n)
{
	open_close(n, false);
}

static void open_periods(unsigned int n)
{
	open_close(n, true);
}

/* One of the CPU stays, so that no key is turned on and off by patching the kernel. */
static bool hold(unsigned int unused)
{
	struct perf_event_attr a;

	(void)unused;
	attr_sampling(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 4, 0);
	return event_add(&a, -1, 0) >= 0;
}

static bool hold_periods(unsigned int unused)
{
	return hold(unused) && periods(4, 0);
}

#define ONE		"sample of a counter"
#define FOUR		"sample of a counter with READ of a group of 4"
#define EACH		"fault, each sampled"
#define BY_FOUR		"four faults, one sampled"
#define BY_HAND		"turn by hand, two groups of 4 counters"
#define AT_FAULT	"fault that overflows, two groups of one event"
#define AT_FAULT_4	"fault that overflows, two groups with 3 counters"
#define OPEN		"open+close"

const struct row ext_rows[] = {
	COUNTER(ONE, "plain event", counter, 1),
	COUNTER(ONE, "NOTIFY, never due", counter_notify, 1),
	COUNTER(ONE, "random periods", counter_random, 1),
	COUNTER(ONE, "perf_cost counted beside it", counter_cost, 1),
	COUNTER(FOUR, "plain event", counter, 4),
	COUNTER(FOUR, "MASKS, record 4", counter_masks, 0xf),
	COUNTER(FOUR, "MASKS, record 1", counter_masks, 0x1),
	COUNTER(FOUR, "MASKS, record and reset 4", counter_masks_reset, 0xf),
	FAULT(EACH, "plain event", fault_sampled, 1),
	FAULT(EACH, "NOTIFY, never due", fault_notify, 1),
	ROW(EACH, "format pfm", with_pfm, run_fault, flip, area_done, 0, FAULTS, 0, NULL),
	ROW(EACH, "BPF, ring buffer", with_ringbuf, run_fault, ringbuf_drain, ringbuf_done, 0,
	    FAULTS, 0, NULL),
	ROW(EACH, "format hist", profile_with_hist, run_fault, NULL, profile_done, 0, FAULTS, 0,
	    NULL),
	ROW(EACH, "BPF, hash map of each CPU", profile_with_program, run_fault, NULL, profile_done,
	    0, FAULTS, 0, NULL),
	FOURTH(BY_FOUR, "plain event", fault_sampled, 4),
	FOURTH(BY_FOUR, "PERIODS, all of them 4", fault_periods, 4),
	FOURTH(BY_FOUR, "random periods, 3 or 5", fault_random, 3),
	STOP("REFRESH", stop_by_refresh, each_refresh),
	STOP("NOTIFY with STOP, RESTART", stop_by_notify, each_restart),
	ROW(BY_HAND, "DISABLE, ENABLE", groups_by_hand, run_off_on, NULL, NULL, 4, 1000, 0, NULL),
	ROW(BY_HAND, "sets, SELECT", sets_by_hand, run_select, NULL, NULL, 4, 1000, 0, NULL),
	ROW(AT_FAULT, "no sets", no_turn_at_fault, run_fault, NULL, NULL, 0, FAULTS, 0, NULL),
	ROW(AT_FAULT, "sets, a turn each", turn_at_fault, run_fault, NULL, NULL, 0, FAULTS, 0,
	    NULL),
	ROW(AT_FAULT_4, "no sets", no_turn_at_fault, run_fault, NULL, NULL, 3, FAULTS, 0, NULL),
	ROW(AT_FAULT_4, "sets, a turn each", turn_at_fault, run_fault, NULL, NULL, 3, FAULTS, 0,
	    NULL),
	ROW(OPEN, "plain event", hold, open_plain, NULL, NULL, 0, 3000, 0, NULL),
	ROW(OPEN, "PERIODS between", hold_periods, open_periods, NULL, NULL, 0, 3000, 0, NULL),
	{ }
};
