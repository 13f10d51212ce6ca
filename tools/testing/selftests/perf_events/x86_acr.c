// SPDX-License-Identifier: GPL-2.0
/*
 * x86_acr.c - counters that begin anew when another one of their group overflows (Intel's auto
 * counter reload): a period ends only where the event is frequent enough among others.
 *
 * Exact on the emulated PMU "srf6", whose general counters 0 to 5 can be reloaded, 2 to 7 can cause
 * it, and fixed counters 0 and 1 can do both. What must come of a program is found by walking
 * through its instructions, one by one.
 *
 * needs: acr
 */
#include "lib/x86.h"
#include "lib/x86_acr.h"

#define CFG_C_GENERAL	0x1903
#define RELOADED	0x3full
#define CAUSES		0xfcull

static struct pt_record rec;
static struct pt_sample s;

/* ---- a program whose instructions are known, and what comes of it ---- */

/* Instruction @i of a turn: its address, and is it a branch? The last two have 3 and 6 bytes. */
static u64 address(u64 i, bool *branch)
{
	u64 dense = pt_addr(acr_dense), sparse = pt_addr(acr_sparse);

	*branch = (i < 2 * DENSE && i % 2) || i == TURN - 1;
	if (i < 2 * DENSE)
		return dense + (i % 2 ? 3 : 0);
	if (i == 2 * DENSE)
		return dense + 5;
	return sparse + (i - 2 * DENSE - 1) + (i == TURN - 1 ? 2 : 0);
}

/* Two counters: of instructions, which interrupts, and of branches, which reloads itself. */
struct model {
	u64 period[2], at[2];
	u64 mask[2];		/* bit 0: instructions, bit 1: branches */
	u64 hits;
};

static bool step(struct model *m, bool branch)
{
	u64 over;

	m->at[0]++;
	m->at[1] += branch;
	over = (m->at[0] == m->period[0]) | (branch && m->at[1] == m->period[1]) << 1;
	if (m->mask[0] & over || over & 1)
		m->at[0] = 0;
	if (m->mask[1] & over)
		m->at[1] = 0;
	m->hits += over & 1;
	return over & 1;
}

/* Walk through the program with the samples in @ring; precise ones are at the instruction. */
static void compare(struct model *m, struct pt_ring *ring, struct perf_event_attr *attr, u64 turns)
{
	u64 turn, i, at, next, n = 0;
	bool branch, unused;

	for (turn = 0; turn < turns; turn++) {
		for (i = 0; i < TURN; i++) {
			at = address(i, &branch);
			if (!step(m, branch))
				continue;
			next = turn == turns - 1 && i == TURN - 1 ? pt_addr(acr_end) :
			       i % 2 && i < 2 * DENSE - 1 ? pt_addr(acr_dense) :
			       address((i + 1) % TURN, &unused);
			pt_need(pt_next_of(ring, &rec, PERF_RECORD_SAMPLE), "%llu samples",
				(unsigned long long)n);
			pt_parse_sample(attr, &rec, &s);
			pt_eq(s.ip - pt_addr(acr_dense),
			      (attr->precise_ip ? at : next) - pt_addr(acr_dense));
			n++;
			if (pt_failures() > 10)
				pt_end_case();
		}
	}
	/* mov, mov, mov, syscall */
	for (i = 0; i < 4; i++)
		step(m, false);
}

static void walk(u64 insns, u64 mask, u64 every, u64 branch_mask, int precise_ip)
{
	struct perf_event_attr a = instructions(insns, mask), b = branches(every, branch_mask);
	struct model m = { { insns, every }, {}, { mask, branch_mask }, 0 };
	struct pt_ring ring;
	int fds[2];
	u64 pmis;

	a.precise_ip = precise_ip;
	fds[0] = pt_open(&a, 0, -1, -1, 0);
	fds[1] = pt_open(&b, 0, -1, fds[0], 0);
	pt_map(&ring, fds[0], 64);
	pmis = x86_interrupts();
	acr_work(fds[0], 500);
	pmis = x86_interrupts() - pmis;
	compare(&m, &ring, &a, 500);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 0);
	pt_eq(pmis, m.hits);
	/* what the counters saw since the last time that somebody looked, or reloaded them */
	pt_eq(pt_count(fds[0]), m.hits * insns + m.at[0]);
	pt_eq(pt_count(fds[1]), m.at[1]);
	pt_unmap(&ring);
	close(fds[1]);
	close(fds[0]);
}

/* ---- cases ---- */

/* Each tenth branch reloads: 250 instructions pass without that among the others only. */
static void only_where_branches_are_rare(void)
{
	need_acr();
	walk(250, 1 << 1, 10, 1 << 0 | 1 << 1, 0);
	walk(299, 1 << 1, 7, 1 << 0 | 1 << 1, 0);
	walk(250, 1 << 1, 13, 1 << 1, 0);
}

static void precise(void)
{
	need_acr();
	walk(250, 1 << 1, 10, 1 << 0 | 1 << 1, 2);
	walk(97, 1 << 1, 3, 1 << 0 | 1 << 1, 2);
}

/* One turn of a loop is two instructions, one of them the branch. */
static void spin(u64 insns, u64 every, u64 turns, u64 *samples, u64 *count, u64 *pmis)
{
	struct perf_event_attr a = instructions(insns, 1 << 1);
	struct perf_event_attr b = branches(every, 1 << 0 | 1 << 1);
	struct pt_ring ring;
	int fds[2];

	fds[0] = pt_open(&a, 0, -1, -1, 0);
	fds[1] = pt_open(&b, 0, -1, fds[0], 0);
	pt_map(&ring, fds[0], 64);
	*pmis = x86_interrupts();
	x86_measured_spin(fds[0], turns);
	*pmis = x86_interrupts() - *pmis;
	*samples = pt_count_records(&ring, PERF_RECORD_SAMPLE);
	*count = pt_count(fds[0]);
	pt_unmap(&ring);
	close(fds[1]);
	close(fds[0]);
}

/* Branches are too many: they reload before a period ends, and nothing interrupts. */
static void never(void)
{
	u64 samples, count, pmis;

	need_acr();
	spin(2001, 1000, 100000, &samples, &count, &pmis);
	pt_eq(samples, 0);
	pt_eq(pmis, 0);
	/* reloaded by the last branch */
	pt_eq(count, X86_SPIN_COST(0));
}

/* And too few: each period ends, as if nobody reloaded. */
static void always(void)
{
	u64 samples, count, pmis;

	need_acr();
	spin(1997, 1000, 100000, &samples, &count, &pmis);
	pt_eq(samples, X86_SPIN_COST(100000) / 1997);
	pt_eq(pmis, samples);
	pt_eq(count, X86_SPIN_COST(100000));
}

/* Every second period ends with the branch that reloads: there is a sample all the same. */
static void at_once(void)
{
	u64 samples, count, pmis;

	need_acr();
	spin(1999, 1000, 100000, &samples, &count, &pmis);
	pt_eq(samples, X86_SPIN_COST(100000) / 1999);
	pt_eq(pmis, samples);
	/* nobody saw what was counted when it was reloaded: half of the periods */
	pt_eq(count, X86_SPIN_COST(100000) - samples / 2 * 1999);
}

static void all_are_clear(void)
{
	int i;

	for (i = 0; i < 6; i++)
		pt_eq(causes_of(i), 0);
	pt_eq(causes_of(REGISTERS), 0);
	pt_eq(causes_of(REGISTERS + 1), 0);
}

/*
 * Cycles on general counters, each reloaded by the first: it is on one that can do both. Nobody
 * is left for the seventh.
 */
static void counters(void)
{
	struct perf_event_attr attr = x86_general_cycles();
	int fds[6], i, n = 0;

	need_acr();
	attr = member(attr, SILENT, 1 << 0);
	for (i = 0; i < 6; i++) {
		fds[i] = pt_open(&attr, 0, -1, i ? fds[0] : -1, 0);
		attr.disabled = 0;
	}
	pt_eq(pt_try_open(&attr, 0, -1, fds[0], 0), -EINVAL);
	pt_enable(fds[0]);
	for (i = 0; i < 6; i++) {
		u64 causes = causes_of(i);

		n += !!causes;
		pt_check(!causes || !(causes & (causes - 1)), "counter %d: %llx", i,
			 (unsigned long long)causes);
		pt_check(causes && (causes & RELOADED & CAUSES) == causes, "counter %d: %llx", i,
			 (unsigned long long)causes);
		pt_eq(x86_rdmsr(CFG_C_GENERAL + STEP * (u32)i), (u32)-SILENT);
	}
	pt_eq(n, 6);
	pt_disable(fds[0]);
	for (i = 5; i >= 0; i--)
		close(fds[i]);
}

/* The next owner of a counter is not reloaded. */
static void nothing_stays_behind(void)
{
	struct perf_event_attr plain = instructions(1000, 0);
	u64 samples, count, pmis;
	struct pt_ring ring;
	int fd;

	need_acr();
	spin(2001, 1000, 1000, &samples, &count, &pmis);
	/* nor are there other kernels' counters, of one that this boots */
	all_are_clear();
	fd = pt_open(&plain, 0, -1, -1, 0);
	pt_map(&ring, fd, 64);
	x86_measured_spin(fd, 100000);
	pt_eq(pt_count(fd), X86_SPIN_COST(100000));
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), X86_SPIN_COST(100000) / 1000);
	pt_enable(fd);
	all_are_clear();
}

/* Bits of the mask stand for the members that were opened, also while one of them is off. */
static void a_member_is_off(void)
{
	struct perf_event_attr a = instructions(2001, 1 << 2), off = x86_general_cycles();
	struct perf_event_attr b = branches(1000, 1 << 2);
	struct pt_ring ring;
	int fds[3];

	need_acr();
	off.disabled = 1;
	fds[0] = pt_open(&a, 0, -1, -1, 0);
	fds[1] = pt_open(&off, 0, -1, fds[0], 0);
	fds[2] = pt_open(&b, 0, -1, fds[0], 0);
	pt_map(&ring, fds[0], 64);
	x86_measured_spin(fds[0], 100000);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 0);

	/* without the one that reloads it is an ordinary event; what is left of its period stays */
	pt_disable(fds[2]);
	x86_measured_spin(fds[0], 100000);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE),
	      (X86_SPIN_COST(0) + X86_SPIN_COST(100000)) / 2001);
}

/*
 * Numbers stay those of the open: with B closed, C is number 2 all the same, for others (@mask of
 * A) and for itself. The group runs meanwhile.
 */
static void close_b(u64 a_mask, u64 c_mask, u64 *a_samples, u64 *c_samples)
{
	struct perf_event_attr a = instructions(2500, a_mask), b = x86_general_cycles();
	struct perf_event_attr c = branches(1000, c_mask);
	struct pt_ring rings[2];
	int fds[3], other;

	b.disabled = 0;
	fds[0] = pt_open(&a, 0, -1, -1, 0);
	fds[1] = pt_open(&b, 0, -1, fds[0], 0);
	fds[2] = pt_open(&c, 0, -1, fds[0], 0);
	pt_map(&rings[0], fds[0], 64);
	pt_map(&rings[1], fds[2], 64);
	pt_enable(fds[0]);
	close(fds[1]);
	/* the PMU goes off and on without the group */
	other = pt_open(&b, 0, -1, -1, 0);
	pt_spin(100000);
	pt_disable(fds[0]);
	close(other);
	*a_samples = pt_count_records(&rings[0], PERF_RECORD_SAMPLE);
	*c_samples = pt_count_records(&rings[1], PERF_RECORD_SAMPLE);
	pt_unmap(&rings[1]);
	pt_unmap(&rings[0]);
	close(fds[2]);
	close(fds[0]);
}

static void a_member_is_closed(void)
{
	u64 a, c;

	need_acr();
	close_b(1 << 2, 1 << 2, &a, &c);
	pt_eq(a, 0);
	pt_eq(c, 0);
	/* nobody is number 1 any more */
	close_b(1 << 1, 1 << 1, &a, &c);
	pt_check(a >= 80 && a <= 81, "%llu samples", (unsigned long long)a);
	pt_eq(c, 100);
}

/* A new member has the number after the last one's. */
static void a_member_joins_later(void)
{
	struct perf_event_attr a = instructions(2500, 1 << 3), b = x86_general_cycles();
	struct perf_event_attr c = branches(1000, 1 << 3);
	struct pt_ring ring;
	int fds[4];

	need_acr();
	b.disabled = 0;
	fds[0] = pt_open(&a, 0, -1, -1, 0);
	fds[1] = pt_open(&b, 0, -1, fds[0], 0);
	fds[2] = pt_open(&b, 0, -1, fds[0], 0);
	close(fds[1]);
	fds[3] = pt_open(&c, 0, -1, fds[0], 0);
	pt_map(&ring, fds[0], 64);
	x86_measured_spin(fds[0], 100000);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 0);
	/* that of one that left when it was the last is free again */
	close(fds[3]);
	fds[3] = pt_open(&c, 0, -1, fds[0], 0);
	x86_measured_spin(fds[0], 100000);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 0);
}

/* What was reloaded by a leader that is closed counts and samples like others, and leads nobody. */
static void without_its_leader(void)
{
	struct perf_event_attr a = instructions(0, 0), b = branches(1000, 1 << 0);
	struct pt_ring ring;
	int fds[2];

	need_acr();
	b.disabled = 1;
	fds[0] = pt_open(&a, 0, -1, -1, 0);
	fds[1] = pt_open(&b, 0, -1, fds[0], 0);
	close(fds[0]);
	pt_map(&ring, fds[1], 64);
	pt_eq(pt_try_open(&a, 0, -1, fds[1], 0), -EINVAL);
	x86_measured_spin(fds[1], 100000);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 100);
	pt_eq(pt_count(fds[1]), 100000);
	pt_unmap(&ring);
	close(fds[1]);
}

/* The same numbers in the copies that a child has. */
static void a_child(void)
{
	struct perf_event_attr a = instructions(0, 1 << 2), b = x86_general_cycles();
	struct perf_event_attr c = branches(1000, 1 << 2);
	int fds[3];
	u64 count;
	pid_t pid;

	need_acr();
	b.disabled = 0;
	a.inherit = 1;
	b.inherit = 1;
	c.inherit = 1;
	fds[0] = pt_open(&a, 0, -1, -1, 0);
	fds[1] = pt_open(&b, 0, -1, fds[0], 0);
	fds[2] = pt_open(&c, 0, -1, fds[0], 0);
	close(fds[1]);
	pt_enable(fds[0]);
	pt_in_child(pid) {
		pt_spin(1000000);
	}
	pt_reap(pid);
	pt_disable(fds[0]);
	count = pt_count(fds[0]);
	pt_check(count < 1000000, "%llu instructions", (unsigned long long)count);
	close(fds[2]);
}

/* One without a period of its own counts what came since it was reloaded. */
static void one_that_counts(void)
{
	struct perf_event_attr a = branches(1000, 0), b = instructions(0, 1 << 0);
	struct pt_ring ring;
	int fds[2];

	need_acr();
	a.disabled = 1;
	b.disabled = 0;
	b.sample_type = 0;
	fds[0] = pt_open(&a, 0, -1, -1, 0);
	fds[1] = pt_open(&b, 0, -1, fds[0], 0);
	pt_map(&ring, fds[0], 64);
	x86_measured_spin(fds[0], 100000);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 100);
	pt_eq(pt_count(fds[0]), 100000);
	pt_eq(pt_count(fds[1]), X86_SPIN_COST(0));
	/* now with a look before */
	x86_measured_spin(fds[0], 990);
	pt_eq(pt_count(fds[1]), X86_SPIN_COST(0) + X86_SPIN_COST(990));
}

/* Instructions have a fixed counter: its interrupt is switched at another place. */
static void silent_on_a_fixed_counter(void)
{
	struct perf_event_attr a = branches(1000, 1 << 1);
	struct perf_event_attr b = instructions(1500, 1 << 1);
	struct pt_ring rings[2];
	int fds[2];
	u64 pmis;

	need_acr();
	a.disabled = 1;
	b.disabled = 0;
	fds[0] = pt_open(&a, 0, -1, -1, 0);
	fds[1] = pt_open(&b, 0, -1, fds[0], 0);
	pt_map(&rings[0], fds[0], 64);
	pt_map(&rings[1], fds[1], 64);
	pmis = x86_interrupts();
	x86_measured_spin(fds[0], 100000);
	pt_eq(x86_interrupts() - pmis, 0);
	pt_eq(pt_count_records(&rings[0], PERF_RECORD_SAMPLE), 0);
	pt_eq(pt_count_records(&rings[1], PERF_RECORD_SAMPLE), 0);
	pt_enable(fds[0]);
	pt_eq(causes_of(REGISTERS), 1ull << 32);
}

/* The shortest period is two, also after a reload. */
static void period_of_one(void)
{
	struct perf_event_attr a = branches(1, 1 << 1), b = instructions(SILENT, 0);
	int fds[2], i, n = 0;

	need_acr();
	a.disabled = 1;
	b.disabled = 0;
	fds[0] = pt_open(&a, 0, -1, -1, 0);
	fds[1] = pt_open(&b, 0, -1, fds[0], 0);
	pt_enable(fds[0]);
	for (i = 0; i < 6; i++) {
		if (!causes_of(i))
			continue;
		n++;
		pt_eq(x86_rdmsr(CFG_C_GENERAL + STEP * (u32)i), (u32)-2);
	}
	pt_disable(fds[0]);
	pt_eq(n, 1);
}

/* What is read without the kernel would go back with the counter. */
static void read_by_the_kernel(void)
{
	struct perf_event_attr a = instructions(1000, 0), b = branches(1000, 1 << 0);
	struct pt_ring ring;
	int fds[2];

	need_acr();
	fds[0] = pt_open(&a, 0, -1, -1, 0);
	fds[1] = pt_open(&b, 0, -1, fds[0], 0);
	pt_enable(fds[0]);
	pt_map(&ring, fds[0], 1);
	pt_check(ring.page->cap_user_rdpmc && ring.page->index, "index %u", ring.page->index);
	pt_unmap(&ring);
	pt_map(&ring, fds[1], 1);
	pt_check(!ring.page->cap_user_rdpmc && !ring.page->index, "index %u", ring.page->index);
}

/*
 * The thousandth branch ends a period of both, and reloads the first. What of them is served first
 * is throttled, and has the other stop along, which has its sample all the same.
 */
static void throttled_at_once(void)
{
	struct perf_event_attr a = instructions(2000, 1 << 1), b = branches(1000, 0);
	struct pt_ring rings[2];
	int fds[2];

	need_acr();
	pt_sysctl_set("perf_cpu_time_max_percent", 25);
	pt_sysctl_set("perf_event_max_sample_rate", 100);
	pt_sysctl_set("perf_cpu_time_max_percent", 0);
	fds[0] = pt_open(&a, 0, -1, -1, 0);
	fds[1] = pt_open(&b, 0, -1, fds[0], 0);
	pt_map(&rings[0], fds[0], 8);
	pt_map(&rings[1], fds[1], 8);
	x86_measured_spin(fds[0], 1100);
	pt_eq(pt_count_records(&rings[1], PERF_RECORD_SAMPLE), 1);
	pt_eq(pt_count_records(&rings[0], PERF_RECORD_SAMPLE), 1);
}

/* The period that is set later is the one that is reloaded. */
static void another_period(void)
{
	struct perf_event_attr a = instructions(2001, 1 << 1);
	struct perf_event_attr b = branches(1000, 1 << 0 | 1 << 1);
	u64 period = 1ull << 32;
	struct pt_ring ring;
	int fds[2];

	need_acr();
	fds[0] = pt_open(&a, 0, -1, -1, 0);
	fds[1] = pt_open(&b, 0, -1, fds[0], 0);
	pt_map(&ring, fds[0], 64);
	pt_eq(pt_ioctl(fds[0], PERF_EVENT_IOC_PERIOD, (unsigned long)&period), -EINVAL);
	period = 500;
	pt_eq(pt_ioctl(fds[0], PERF_EVENT_IOC_PERIOD, (unsigned long)&period), 0);
	x86_measured_spin(fds[0], 100000);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), X86_SPIN_COST(100000) / 500);
}

/*
 * A look in between keeps what was counted until then. What came between it and the next reload is
 * lost.
 */
static void looks_in_between(void)
{
	struct perf_event_attr a = instructions(2101, 1 << 1);
	struct perf_event_attr b = branches(1000, 1 << 0 | 1 << 1);
	int fds[2];
	u64 seen;

	need_acr();
	fds[0] = pt_open(&a, 0, -1, -1, 0);
	fds[1] = pt_open(&b, 0, -1, fds[0], 0);
	x86_measured_spin(fds[0], 990);
	seen = X86_SPIN_COST(990);
	pt_eq(pt_count(fds[0]), seen);
	pt_eq(pt_count(fds[1]), 990);
	/* ten turns later comes the thousandth branch */
	x86_measured_spin(fds[0], 100);
	seen += X86_SPIN_COST(90);
	pt_eq(pt_count(fds[0]), seen);
	pt_eq(pt_count(fds[1]), 990 + 90);
	x86_measured_spin(fds[0], 100);
	pt_eq(pt_count(fds[0]), seen + X86_SPIN_COST(100));
}

static const struct pt_case cases[] = {
	{ "only_where_branches_are_rare", only_where_branches_are_rare },
	{ "precise", precise },
	{ "never", never },
	{ "always", always },
	{ "at_once", at_once },
	{ "counters", counters },
	{ "nothing_stays_behind", nothing_stays_behind },
	{ "a_member_is_off", a_member_is_off },
	{ "a_member_is_closed", a_member_is_closed },
	{ "without_its_leader", without_its_leader },
	{ "a_member_joins_later", a_member_joins_later },
	{ "a_child", a_child },
	{ "one_that_counts", one_that_counts },
	{ "silent_on_a_fixed_counter", silent_on_a_fixed_counter },
	{ "read_by_the_kernel", read_by_the_kernel },
	{ "throttled_at_once", throttled_at_once },
	{ "another_period", another_period },
	{ "period_of_one", period_of_one },
	{ "looks_in_between", looks_in_between },
};

PT_MAIN(cases)
