// SPDX-License-Identifier: GPL-2.0
/*
 * x86_pebs.c - precise samples of Intel CPUs: every record is of the instruction that ended the
 * period, with the registers of that moment, however many records pile up before anybody looks.
 *
 * Exact on the emulated PMU of tools/testing/qemu-x86-pmu only; elsewhere most cases are skipped.
 * Positions are counted in instructions of pt_spin()'s loop, two per turn: its counter is RDI.
 *
 * needs: hw adaptive-pebs old-pebs
 */
#include "lib/hold.h"
#include "lib/x86.h"
#include "lib/x86_code.h"

#define INSTRUCTIONS	0xc0
#define LOAD_LATENCY	0x1cd
#define ALL_STORES	0x82d0

/* Bits of sample_regs_intr */
#define REG_DI		5
#define REG_XMM7	(32 + 2 * 7)

#define TURNS		500000

static struct pt_record rec;
static struct pt_sample s;
static struct pt_ring ring;

/* Records of format 1 have the address of the next instruction alone. */
static int most_precise(void)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_RAW, INSTRUCTIONS);

	attr.sample_period = 1000;
	attr.exclude_kernel = 1;
	attr.precise_ip = 2;
	return pt_probe(&attr) ? 1 : 2;
}

static struct perf_event_attr precise(u64 config, u64 period)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_RAW, config);

	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_INTR;
	attr.sample_regs_intr = 1 << REG_DI;
	attr.precise_ip = most_precise();
	attr.exclude_kernel = 1;
	attr.disabled = 1;
	return attr;
}

static void need_pebs(void)
{
	struct perf_event_attr attr = precise(INSTRUCTIONS, 1000);
	char name[64] = "";

	pt_slurp("/sys/bus/event_source/devices/cpu/caps/pmu_name", name, sizeof(name));
	if (!*name || pt_probe(&attr))
		pt_skip("no PEBS");
	if (!pt_time_is_exact())
		pt_skip("this machine does not count instructions exactly");
	pt_sysctl_set("perf_event_max_sample_rate", 10000000);
	pt_sysctl_set("perf_cpu_time_max_percent", 0);
}

/* Nobody comes in between. */
static void need_pebs_alone(void)
{
	need_pebs();
	pt_first_on_cpu(0);
}

static u64 nmis(void)
{
	static char text[65536];
	char *at;
	u64 sum = 0;

	pt_need(pt_slurp("/proc/interrupts", text, sizeof(text)), "no /proc/interrupts");
	at = strstr(text, "NMI:");
	pt_need(at, "no NMI in /proc/interrupts");
	for (at += 4; *at == ' ';) {
		char *end;
		u64 n = strtoull(at, &end, 10);

		if (end == at)
			break;
		sum += n;
		at = end;
	}
	return sum;
}

/* How many instructions of the loop had been done, if the sample is in it; else 0. */
static u64 position(int precise_ip)
{
	u64 left = s.intr_regs[REG_DI], dec = pt_addr(pt_spin_start), jnz = dec + 3;

	if (!pt_in_spin(s.ip))
		return 0;
	if (precise_ip > 1)
		return s.ip == dec ? 2 * (TURNS - left) - 1 : s.ip == jnz ? 2 * (TURNS - left) : 0;
	/* the address is the next instruction's */
	return s.ip == jnz ? 2 * (TURNS - left) - 1 : s.ip == dec ? 2 * (TURNS - left) : 0;
}

/*
 * The shortest period of this CPU. What is left of one when the task comes back is made as long;
 * Nehalem to Haswell (errata) are given longer ones.
 */
static u64 shortest_period(void)
{
	static const char * const names[] = { "nehalem", "westmere", "haswell" };
	char name[64] = "";
	unsigned int i;

	pt_slurp("/sys/bus/event_source/devices/cpu/caps/pmu_name", name, sizeof(name));
	for (i = 0; i < PT_ARRAY_SIZE(names); i++) {
		if (!strncmp(name, names[i], strlen(names[i])))
			return 32;
	}
	return 2;
}

/*
 * All samples in the ring: one after each period, in time. Returns their number, and by how much
 * the periods were longer, all together.
 */
static unsigned int check_positions(struct perf_event_attr *attr, u64 *longer)
{
	u64 before = 0, at, time = 0;
	unsigned int n = 0;

	*longer = 0;
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(attr, &rec, &s);
		n++;
		pt_eq(!!(rec.h.misc & PERF_RECORD_MISC_EXACT_IP), attr->precise_ip > 1);
		pt_check(s.time > time, "sample %u is not after the one before", n);
		time = s.time;
		at = position(attr->precise_ip);
		if (before && at) {
			pt_check(at - before >= attr->sample_period, "%llu instructions",
				 (unsigned long long)(at - before));
			*longer += at - before - attr->sample_period;
		}
		before = at;
		if (pt_failures() > 10)
			pt_end_case();
	}
	return n;
}

/* Periods are exact but for those in which others run, which may lengthen them. */
static void spin_under(struct perf_event_attr *attr, u64 *interrupts)
{
	int fd = pt_open(attr, 0, -1, -1, 0);
	u64 count, longer;
	s64 switches;
	unsigned int n;

	pt_map(&ring, fd, 512);
	*interrupts = nmis();
	switches = pt_switches();
	pt_enable(fd);
	pt_spin(TURNS);
	pt_disable(fd);
	switches = pt_switches() - switches;
	*interrupts = nmis() - *interrupts;
	count = pt_count(fd);
	pt_check(count > 2 * TURNS, "counted %llu", (unsigned long long)count);
	n = check_positions(attr, &longer);
	pt_check(longer <= (u64)switches * (shortest_period() - 1), "%llu longer, %lld switches",
		 (unsigned long long)longer, (long long)switches);
	pt_eq(n, (count - longer) / attr->sample_period);
	pt_unmap(&ring);
	close(fd);
}

static unsigned int format(void)
{
	return x86_rdmsr(0x345) >> 8 & 0xf;	/* IA32_PERF_CAPABILITIES */
}

static void every_period(void)
{
	static const u64 periods[] = { 997, 1000, 10007, 65536, 250001 };
	struct perf_event_attr attr;
	unsigned int i;
	u64 n;

	need_pebs();
	for (i = 0; i < PT_ARRAY_SIZE(periods); i++) {
		attr = precise(INSTRUCTIONS, periods[i]);
		spin_under(&attr, &n);
		attr.precise_ip = 1;
		spin_under(&attr, &n);
	}
}

/* The buffer has 64 kB, a record at most some 200 bytes.  Below format 3 they have no time. */
static void records_pile_up(void)
{
	struct perf_event_attr attr = precise(INSTRUCTIONS, 997);
	u64 n;

	need_pebs_alone();
	spin_under(&attr, &n);
	if (format() < 3)
		pt_eq(n, 2 * TURNS / 997);
	else
		pt_check(n >= 1 && n <= 2 * TURNS / 997 / 100, "%llu interrupts",
			 (unsigned long long)n);
}

/* What models say of the most precise instructions is not what their tables say. */
static void most_precise_of_all(void)
{
	struct perf_event_attr attr = precise(INSTRUCTIONS, 10007);
	u64 n;
	int fd;

	need_pebs_alone();
	if (pt_read_number("/sys/bus/event_source/devices/cpu/caps/max_precise", 0) < 3)
		pt_skip("nothing is more precise than others");
	attr.precise_ip = 3;
	spin_under(&attr, &n);
	if (format() < 4 || !pt_path_exists(X86_PMU "events/slots"))
		return;
	/* On these one counter alone is. */
	fd = pt_open(&attr, 0, -1, -1, 0);
	attr.disabled = 0;
	pt_eq(pt_try_open(&attr, 0, -1, fd, 0), -EINVAL);
}

/* What must be taken from the PMU in time comes with an interrupt each. */
static void one_by_one(void)
{
	struct perf_event_attr attr = precise(INSTRUCTIONS, 9973);
	u64 n;

	need_pebs_alone();
	/* from format 6 on counts are in records */
	attr.sample_type |= format() < 6 ? PERF_SAMPLE_READ : PERF_SAMPLE_CALLCHAIN;
	spin_under(&attr, &n);
	pt_check(n >= 2 * TURNS / 9973, "%llu interrupts", (unsigned long long)n);
}

/* Also when another one, which could not wait, has gone. */
static void pile_up_again(void)
{
	struct perf_event_attr attr = precise(INSTRUCTIONS, 997);
	struct perf_event_attr other = precise(INSTRUCTIONS, 1000003);
	u64 n;
	int fd;

	need_pebs_alone();
	if (format() < 3)
		pt_skip("records that have no time do not wait");
	other.sample_type |= format() < 6 ? PERF_SAMPLE_READ : PERF_SAMPLE_CALLCHAIN;
	other.disabled = 0;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 512);
	pt_enable(fd);
	close(pt_open(&other, 0, -1, -1, 0));
	n = nmis();
	pt_spin(TURNS);
	n = nmis() - n;
	pt_disable(fd);
	pt_check(n <= 2 * TURNS / 997 / 100, "%llu interrupts", (unsigned long long)n);
	pt_check(pt_count_records(&ring, PERF_RECORD_SAMPLE) >= 2 * TURNS / 997, "lost ones");
	pt_unmap(&ring);
	close(fd);
}

static struct perf_event_attr plain(void)
{
	struct perf_event_attr attr = pt_attr(PERF_TYPE_RAW, INSTRUCTIONS);

	attr.read_format = PERF_FORMAT_GROUP;
	attr.exclude_kernel = 1;
	return attr;
}

/* A precise event, mapped, on, and in its group one that nobody reloads. */
static int open_beside_plain(struct perf_event_attr *attr)
{
	struct perf_event_attr other = plain();
	int fd;

	attr->read_format = PERF_FORMAT_GROUP;
	fd = pt_open(attr, 0, -1, -1, 0);
	pt_open(&other, 0, -1, fd, 0);
	pt_map(&ring, fd, 512);
	pt_enable(fd);
	return fd;
}

/* Both have counted the same: how much. */
static u64 counts_as_plain(int fd)
{
	struct pt_read r;

	pt_read(fd, PERF_FORMAT_GROUP, 2, &r);
	pt_eq(r.v[0].value, r.v[1].value);
	return r.v[0].value;
}

static void close_beside_plain(int fd, u64 period)
{
	u64 count;

	pt_disable(fd);
	count = counts_as_plain(fd);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), count / period);
	pt_unmap(&ring);
	close(fd);
}

/* A counter that the CPU reloads counts like one that nobody touches. */
static void counts(u64 period)
{
	struct perf_event_attr attr = precise(INSTRUCTIONS, period);
	int fd = open_beside_plain(&attr), i;

	for (i = 0; i < 200; i++) {
		pt_spin((u64)i * 37 + 1);
		counts_as_plain(fd);
	}
	close_beside_plain(fd, period);
}

static void counts_while_reloaded(void)
{
	need_pebs_alone();
	counts(1009);
	counts(100003);
	counts(10000000);
}

/* Nehalem is told to load all counters again when an event comes, those with records as well. */
static void counts_while_others_come(void)
{
	struct perf_event_attr attr = precise(INSTRUCTIONS, 10007), other = plain();
	int fd, newcomer, i;

	need_pebs_alone();
	if (pt_is_stock() && shortest_period() > 2)
		pt_skip("Linux 6.12 counts a record's period once more, or 2^48, on Nehalem");
	attr.sample_type = PERF_SAMPLE_IP;	/* so records wait */
	fd = open_beside_plain(&attr);
	for (i = 0; i < 100; i++) {
		pt_spin(6000 + i * 37);
		newcomer = pt_open(&other, 0, -1, -1, 0);
		pt_spin(100);
		counts_as_plain(fd);
		close(newcomer);
	}
	close_beside_plain(fd, 10007);
}

/* Samples and lost ones, as the ring tells of them. */
static void expect_samples(struct pt_ring *r, u64 samples, u64 lost)
{
	u64 n = 0, told;

	while (pt_next(r, &rec)) {
		if (rec.h.type == PERF_RECORD_SAMPLE) {
			n++;
		} else if (rec.h.type == PERF_RECORD_LOST_SAMPLES) {
			memcpy(&told, rec.body, sizeof(told));
			lost -= told;
		}
	}
	pt_eq(n, samples);
	pt_eq(lost, 0);
}

/*
 * Two counters that are reloaded, and read while only one of them has records. A record below
 * format 3 cannot be of both: each third one of the first has overflowed with the second, and is
 * lost.
 */
static void two_at_once(void)
{
	struct perf_event_attr a = precise(INSTRUCTIONS, 1000), b = precise(INSTRUCTIONS, 1500);
	struct pt_ring other;
	int fa, fb, i;
	u64 ca, cb, both;

	need_pebs_alone();
	if (pt_is_stock())
		pt_skip("Linux 6.12 tells an old count of an event while only another has records");
	fa = pt_open(&a, 0, -1, -1, 0);
	b.disabled = 0;
	fb = pt_open(&b, 0, -1, fa, 0);
	pt_map(&ring, fa, 512);
	pt_map(&other, fb, 512);
	pt_enable(fa);
	for (i = 0; i < 100; i++) {
		pt_spin((u64)i * 11 + 1);
		ca = pt_count(fa);
		cb = pt_count(fb);
		pt_check(cb > ca && cb - ca < 200, "%llu, then %llu", (unsigned long long)ca,
			 (unsigned long long)cb);
	}
	pt_disable(fa);
	ca = pt_count(fa);
	pt_eq(pt_count(fb), ca);
	both = format() < 3 ? ca / 3000 : 0;
	expect_samples(&ring, ca / 1000 - both, both);
	expect_samples(&other, ca / 1500 - both, both);
	pt_unmap(&ring);
	pt_unmap(&other);
	close(fb);
	close(fa);
}

/* PERF_EVENT_IOC_PERIOD: the records after it are a new period apart. */
static void new_period(void)
{
	struct perf_event_attr attr = precise(INSTRUCTIONS, 1000);
	u64 longer;
	int fd;

	need_pebs_alone();
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 512);
	pt_enable(fd);
	pt_spin(TURNS);
	pt_disable(fd);
	pt_drain(&ring);
	attr.sample_period = 3001;
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PERIOD, (unsigned long)&attr.sample_period), 0);
	pt_enable(fd);
	pt_spin(TURNS);
	pt_disable(fd);
	pt_check(check_positions(&attr, &longer) >= 2 * TURNS / 3001, "samples are missing");
	pt_eq(longer, 0);
	pt_unmap(&ring);
	close(fd);
}

/* ---- memory ---- */

static u64 variable[8];

/* Panther Cove says of loads that they hit what comes before the first level. */
#define LVLNUM_L0	7

static bool has_l0(void)
{
	char name[64] = "";

	pt_slurp("/sys/bus/event_source/devices/cpu/caps/pmu_name", name, sizeof(name));
	return !strncmp(name, "panthercove", 11);
}

/* Samples of the loop's load or store: the instruction, its address, a first-level hit. */
static void memory(u64 config, const char *insn, u64 *at, u64 op)
{
	struct perf_event_attr attr = precise(config, 1009);
	const bool l0 = config == LOAD_LATENCY && has_l0();
	unsigned int n = 0;
	int fd;

	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC |
			   PERF_SAMPLE_WEIGHT | PERF_SAMPLE_PHYS_ADDR;
	attr.config1 = config == LOAD_LATENCY ? 3 : 0;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 512);
	pt_enable(fd);
	pebs_memory(200000, variable);
	pt_disable(fd);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		union perf_mem_data_src source;

		pt_parse_sample(&attr, &rec, &s);
		if (s.ip != pt_addr(insn))
			continue;
		n++;
		pt_eq(s.addr, pt_addr(at));
		source.val = s.data_src;
		pt_eq(source.mem_op, op);
		pt_eq(source.mem_lvl, PERF_MEM_LVL_HIT | (l0 ? 0 : PERF_MEM_LVL_L1));
		if (config == LOAD_LATENCY) {
			pt_eq(source.mem_lvl_num, l0 ? LVLNUM_L0 : PERF_MEM_LVLNUM_L1);
			pt_eq(source.mem_dtlb, PERF_MEM_TLB_HIT | PERF_MEM_TLB_L1 |
			      PERF_MEM_TLB_L2);
			pt_eq(s.weight, 10);
		}
		/* within its page */
		pt_eq(s.phys_addr % 4096, pt_addr(at) % 4096);
	}
	pt_check(n > 50, "%u samples", n);
	pt_unmap(&ring);
	close(fd);
}

static void stores(void)
{
	need_pebs();
	if (format() < 2)
		pt_skip("no event of stores");
	memory(ALL_STORES, pebs_store, &variable[1], PERF_MEM_OP_STORE);
}

static void loads(void)
{
	struct perf_event_attr attr = precise(LOAD_LATENCY, 1009);

	need_pebs();
	if (format() < 2)
		pt_skip("another event of load latencies");
	attr.config1 = 3;
	attr.sample_type = PERF_SAMPLE_DATA_SRC;
	if (pt_probe(&attr) == -ENODATA && pt_path_exists(X86_PMU "events/mem-loads-aux"))
		pt_skip("this CPU wants another event next to that of load latencies");
	memory(LOAD_LATENCY, pebs_load, &variable[0], PERF_MEM_OP_LOAD);
}

/* ---- registers that only newer records have ---- */

static void vector_registers(void)
{
	struct perf_event_attr attr = precise(INSTRUCTIONS, 1009);
	const u64 value = 0x0123456789abcdef;
	unsigned int n = 0;
	int fd;

	need_pebs();
	attr.sample_regs_intr = 3ull << REG_XMM7;
	if (pt_probe(&attr) == -EOPNOTSUPP || pt_probe(&attr) == -EINVAL)
		pt_skip("records without vector registers");
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 512);
	pt_enable(fd);
	pebs_xmm(TURNS, value);
	pt_disable(fd);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		if (!pt_in_spin(s.ip))
			continue;
		n++;
		pt_eq(s.intr_regs[REG_XMM7], value);
		pt_eq(s.intr_regs[REG_XMM7 + 1], 0);
	}
	pt_check(n >= 2 * TURNS / 1009 - 1, "%u samples", n);
	pt_unmap(&ring);
	close(fd);
}

/* ---- tasks ---- */

static int go[2];

/* Each in its own code: a spin loop, or the loop above. */
static void spinner(void *memory_loop)
{
	struct perf_event_attr attr = pt_attr(PT_SW(CONTEXT_SWITCHES));
	int fd = pt_open(&attr, 0, -1, -1, 0);

	pt_pin(0);
	pt_gate_wait(go);
	while (pt_count(fd) < 30) {
		if (memory_loop)
			pebs_memory(20000, variable);
		else
			pt_spin(20000);
	}
}

/* A record does not say whose it is: what has piled up is taken when the task goes. */
static void whose_they_are(void)
{
	struct perf_event_attr attr = precise(INSTRUCTIONS, 10007);
	unsigned int n = 0, m = 0;
	pid_t a, b;
	int fd;

	need_pebs();
	pt_pin(0);
	pt_gate_make(go);
	a = pt_fork(spinner, NULL);
	b = pt_fork(spinner, &variable);
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	fd = pt_open(&attr, -1, 0, -1, 0);
	pt_map(&ring, fd, 512);
	pt_enable(fd);
	pt_gate_open(go);
	pt_gate_open(go);
	pt_reap(a);
	pt_reap(b);
	pt_disable(fd);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		if (pt_in_spin(s.ip)) {
			n++;
			pt_eq(s.pid, a);
		}
		if (s.ip >= pt_addr(pebs_load) && s.ip <= pt_addr(pebs_store)) {
			m++;
			pt_eq(s.pid, b);
		}
		if (pt_failures() > 10)
			pt_end_case();
	}
	pt_check(n > 100 && m > 100, "%u and %u samples", n, m);
	pt_unmap(&ring);
	close(fd);
}

/* ---- with branch records ---- */

static void branches_before(void)
{
	struct perf_event_attr attr = precise(INSTRUCTIONS, 10007);
	unsigned int n = 0;
	u64 i;
	int fd;

	need_pebs();
	attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER;
	if (pt_probe(&attr))
		pt_skip("no branch records");
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 512);
	pt_enable(fd);
	pt_spin(TURNS);
	pt_disable(fd);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		if (position(2) < 1000)
			continue;
		n++;
		pt_need(s.nr_branches > 0, "no branch");
		for (i = 0; i < s.nr_branches; i++) {
			pt_eq(s.branches[i].from, pt_addr(pt_spin_start) + 3);
			pt_eq(s.branches[i].to, pt_addr(pt_spin_start));
		}
		if (pt_failures() > 10)
			pt_end_case();
	}
	pt_check(n >= 2 * TURNS / 10007 - 1, "%u samples", n);
	pt_unmap(&ring);
	close(fd);
}

/* ---- notification ---- */

/* A counter that reloads itself does not stop; one whose records are taken one by one does. */
static void notification(void)
{
	struct perf_event_attr attr = precise(INSTRUCTIONS, 100003);
	int fd, i;

	ext_need();
	need_pebs_alone();
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(notify(fd, 1, 0), -EOPNOTSUPP);
	pt_eq(notify(fd, 1, PERF_EXT_NOTIFY_STOP), -EOPNOTSUPP);
	pt_eq(notify(fd, 1, HOLD), -EOPNOTSUPP);
	pt_eq(restart(fd), -EOPNOTSUPP);
	close(fd);
	attr.wakeup_events = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 64);
	pt_eq(notify(fd, 1, PERF_EXT_NOTIFY_STOP), 0);
	for (i = 1; i <= 3; i++) {
		pt_eq(restart(fd), 0);
		pt_spin(TURNS);
		pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 1);
		pt_eq(pt_count(fd), 100003 * i);
		pt_check(told(fd), "not told");
	}
}

static const struct pt_case cases[] = {
	{ "notification", notification },
	{ "every_period", every_period },
	{ "records_pile_up", records_pile_up },
	{ "most_precise_of_all", most_precise_of_all },
	{ "one_by_one", one_by_one },
	{ "pile_up_again", pile_up_again },
	{ "counts_while_reloaded", counts_while_reloaded },
	{ "counts_while_others_come", counts_while_others_come },
	{ "two_at_once", two_at_once },
	{ "new_period", new_period },
	{ "loads", loads },
	{ "stores", stores },
	{ "vector_registers", vector_registers },
	{ "whose_they_are", whose_they_are },
	{ "branches_before", branches_before },
};

PT_MAIN(cases)
