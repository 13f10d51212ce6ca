// SPDX-License-Identifier: GPL-2.0
/*
 * x86_bts.c - branch traces of Intel CPUs (BTS): "branches" with a period of 1, a sample for each
 * branch of user space; and the tracer intel_bts, whose AUX area has the CPU's own records. Every
 * branch of a known piece of code is there, once, in order, and no other.
 *
 * The CPU counts a branch to the ring where it ends. So the way back from the kernel is traced with
 * user space's: the event leaves it out, and the area has it.
 *
 * intel_bts is not there with page table isolation.
 *
 * needs: bts
 */
#include "lib/x86.h"
#include "lib/x86_code.h"
#include "lib/x86_loop.h"

#define TURN	9			/* branches of a turn of lbr_run() */
#define LOOP	5			/* and of loopa() */
/* The buffer of the event: 64 KiB, interrupt when a sixteenth is left. */
#define RECORDS	(65536 / 24)
#define ENOUGH	(RECORDS - RECORDS / 16)

struct branch {
	u64 from, to;
};

static struct pt_record rec;
static struct pt_sample s;

static void need_trace(void)
{
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_BRANCH_INSTRUCTIONS);

	x86_need_exact();
	attr.sample_period = 1;
	if (!x86_is_intel() || pt_probe(&attr) == -EOPNOTSUPP)
		pt_skip("no branch traces");
}

static struct perf_event_attr tracer(void)
{
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_BRANCH_INSTRUCTIONS);

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR;
	return attr;
}

/* Branch i of lbr_run(). */
static struct branch turn_branch(u64 i, u64 turns)
{
	static const struct {
		const char *from, *to;
	} turn[TURN] = {
		{ lbr_turn, lbr_f }, { lbr_f, lbr_g }, { lbr_g_ret, lbr_g_back },
		{ lbr_g_back, lbr_j }, { lbr_ijmp, lbr_k }, { lbr_icall, lbr_h },
		{ lbr_h_ret, lbr_h_back }, { lbr_h_back, lbr_f_back }, { lbr_jnz, lbr_turn },
	};
	struct branch b = { pt_addr(turn[i % TURN].from), pt_addr(turn[i % TURN].to) };

	if (i == turns * TURN - 1)
		b.from = pt_addr(lbr_ret);
	return b;
}

/* What lbr_measured() does in between: to lbr_run(), and its branches. */
#define MEASURED(turns)	(1 + TURN * (turns))

static struct branch measured_branch(u64 i, u64 turns)
{
	struct branch b;

	if (!i)
		return (struct branch){ pt_addr(lbr_measured_call), pt_addr(lbr_turn) };
	b = turn_branch(i - 1, turns);
	if (i == MEASURED(turns) - 1)
		b.to = pt_addr(lbr_measured_back);
	return b;
}

static void check_branch(u64 i, struct branch got, struct branch want)
{
	if (got.from == want.from && got.to == want.to)
		return;
	pt_check(false, "branch %llu: %llx to %llx, not %llx to %llx", (unsigned long long)i,
		 (unsigned long long)got.from, (unsigned long long)got.to,
		 (unsigned long long)want.from, (unsigned long long)want.to);
	if (pt_failures() > 10)
		pt_end_case();
}

/* ---- the event ---- */

static bool next_branch(struct pt_ring *r, const struct perf_event_attr *attr, struct branch *b)
{
	if (!pt_next(r, &rec))
		return false;
	pt_eq(rec.h.type, PERF_RECORD_SAMPLE);
	pt_parse_sample(attr, &rec, &s);
	*b = (struct branch){ s.ip, s.addr };
	return true;
}

static void check_measured(struct pt_ring *r, const struct perf_event_attr *attr, u64 turns)
{
	struct branch b;
	u64 i;

	for (i = 0; next_branch(r, attr, &b); i++)
		check_branch(i, b, measured_branch(i, turns));
	pt_eq(i, MEASURED(turns));
}

/* Behind the last record of a new buffer nothing has been written. */
static void check_end(struct pt_ring *r)
{
	u64 at = pt_head(r) % r->size;
	unsigned int i;

	for (i = 0; i < 64; i++)
		pt_eq(r->data[(at + i) % r->size], 0);
}

static void all_branches(void)
{
	static const u64 turns[] = { 1, 2, 7, 250 };
	struct perf_event_attr attr;
	struct pt_ring r;
	u64 interrupts;
	unsigned int i;
	int fd;

	need_trace();
	attr = tracer();
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, fd, 32);
	interrupts = x86_interrupts();
	for (i = 0; i < PT_ARRAY_SIZE(turns); i++) {
		lbr_measured(fd, turns[i]);
		check_measured(&r, &attr, turns[i]);
		check_end(&r);
		pt_consume(&r);
	}
	/* The buffer was emptied when the event was stopped. */
	pt_eq(x86_interrupts() - interrupts, 0);
	/* It is no counter. */
	pt_eq(pt_count(fd), 0);
}

/* The CPU interrupts when its buffer is nearly full; nothing is lost over that. */
static void many_branches(void)
{
	const u64 turns = 20000, least = MEASURED(turns);
	struct perf_event_attr attr;
	struct pt_ring r;
	u64 n;
	int fd;

	need_trace();
	attr = tracer();
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, fd, 2048);
	n = x86_interrupts();
	lbr_measured(fd, turns);
	n = x86_interrupts() - n;
	check_measured(&r, &attr, turns);
	/* Each interrupt is traced, too: the way back from it. */
	pt_check(n >= least / ENOUGH && n <= (least + 1000) / ENOUGH, "%llu interrupts",
		 (unsigned long long)n);
}

/* All samples of a batch have what is asked for. */
static void what_samples_tell(void)
{
	struct perf_event_attr attr;
	u64 before, i;
	struct pt_ring r;
	struct branch b;
	int fd;

	need_trace();
	attr = tracer();
	attr.sample_type |= PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			    PERF_SAMPLE_PERIOD | PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, fd, 128);
	before = 0;
	lbr_measured(fd, 10);
	for (i = 0; next_branch(&r, &attr, &b); i++) {
		check_branch(i, b, measured_branch(i, 10));
		pt_eq(s.pid, getpid());
		pt_eq(s.tid, pt_tid());
		pt_eq(s.cpu, 0);
		pt_eq(s.period, 1);
		pt_eq(s.id, pt_id(fd));
		pt_eq(s.identifier, s.id);
		pt_check(s.time && s.time >= before, "a time of %llu after %llu",
			 (unsigned long long)s.time, (unsigned long long)before);
		before = s.time;
	}
	pt_eq(i, MEASURED(10));
}

/* Counters go on beside it, and their interrupts are theirs. */
static void beside_a_counter(void)
{
	const u64 turns = 3000, period = 1009;
	struct perf_event_attr attr, other = x86_hw(PERF_COUNT_HW_INSTRUCTIONS);
	struct pt_ring r, samples;
	int fd, instructions;

	need_trace();
	attr = tracer();
	other.disabled = 0;
	other.sample_period = period;
	other.sample_type = PERF_SAMPLE_IP;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&r, fd, 512);
	instructions = pt_open(&other, 0, -1, fd, 0);
	pt_map(&samples, instructions, 32);
	lbr_measured(fd, turns);
	check_measured(&r, &attr, turns);
	pt_eq(pt_count(instructions), LBR_COST(turns));
	pt_eq(pt_count_records(&samples, PERF_RECORD_SAMPLE), LBR_COST(turns) / period);
}

/* Of the branches from a piece of code: are they those of so many calls?  Others are dropped. */
struct code {
	const char *start, *end;
	u64 turns, each;
	u64 found;
};

static void check_code(struct code *c, struct branch b)
{
	u64 i = c->found, call = c->turns * c->each;
	struct branch want;

	if (b.from < pt_addr(c->start) || b.from >= pt_addr(c->end))
		return;
	c->found++;
	if (c->each == TURN) {
		want = turn_branch(i % call, c->turns);
	} else {
		const struct branch turn[LOOP] = {
			{ pt_addr(loopa_call), pt_addr(loopa_ret) },
			{ pt_addr(loopa_ret), pt_addr(loopa_jmp) },
			{ pt_addr(loopa_jmp), pt_addr(loopa_lea) },
			{ pt_addr(loopa_ind), pt_addr(loopa_dec) },
			{ pt_addr(loopa_jnz), pt_addr(loopa_call) },
		};

		want = turn[i % LOOP];
		if (i % call == call - 1)
			want.from = pt_addr(loopa_jnz) + 2;
	}
	/* Where it returns to is the compiler's. */
	if (i % call == call - 1)
		want.to = b.to;
	check_branch(i, b, want);
}

#define SHIFTS	20

static struct code first_task(void)
{
	return (struct code){ lbr_turn, lbr_end, 30, TURN, 0 };
}

static struct code second_task(void)
{
	return (struct code){ loopa_call, loopa_end, 40, LOOP, 0 };
}

static void take_turns(bool first, int mine[2], int theirs[2])
{
	int i;

	for (i = 0; i < SHIFTS; i++) {
		if (first)
			lbr_run(30);
		else
			pt_gate_wait(mine);
		if (!first)
			loopa(40);
		pt_gate_open(theirs);
		if (first)
			pt_gate_wait(mine);
	}
}

static void check_codes(struct pt_ring *r, const struct perf_event_attr *attr, u64 first,
			u64 second)
{
	struct code a = first_task(), b = second_task();
	struct branch at;

	while (next_branch(r, attr, &at)) {
		check_code(&a, at);
		check_code(&b, at);
	}
	pt_eq(a.found, first);
	pt_eq(b.found, second);
}

/* Two tasks by turns on one CPU, each with its own event, and one event of the CPU. */
static void tasks_and_cpus(void)
{
	const u64 first = SHIFTS * 30 * TURN, second = SHIFTS * 40 * LOOP;
	struct perf_event_attr attr;
	int to[2], back[2], fd;
	struct pt_ring r;
	bool of_cpu;
	pid_t pid;

	need_trace();
	attr = tracer();
	for (of_cpu = false;; of_cpu = true) {
		pt_gate_make(to);
		pt_gate_make(back);
		pt_in_child(pid) {
			if (!of_cpu) {
				fd = pt_open(&attr, 0, -1, -1, 0);
				pt_map(&r, fd, 256);
				pt_enable(fd);
			}
			take_turns(false, to, back);
			if (!of_cpu) {
				pt_disable(fd);
				check_codes(&r, &attr, 0, second);
			}
		}
		fd = pt_open(&attr, of_cpu ? -1 : 0, of_cpu ? 0 : -1, -1, 0);
		pt_map(&r, fd, 512);
		pt_enable(fd);
		take_turns(true, back, to);
		pt_disable(fd);
		pt_reap(pid);
		check_codes(&r, &attr, first, of_cpu ? second : 0);
		pt_unmap(&r);
		close(fd);
		if (of_cpu)
			break;
	}
}

static void refused(void)
{
	struct perf_event_attr attr;
	int fd;

	need_trace();
	attr = tracer();
	attr.exclude_kernel = 0;
	pt_eq(pt_probe(&attr), -EOPNOTSUPP);
	attr = tracer();
	attr.precise_ip = 1;
	pt_eq(pt_probe(&attr), -EOPNOTSUPP);
	/* There is one trace. */
	attr = tracer();
	fd = pt_open(&attr, 0, -1, -1, 0);
	attr.disabled = 0;
	pt_eq(pt_try_open(&attr, 0, -1, fd, 0), -EINVAL);
	close(fd);
	/* Others are counters, and stay such. */
	attr = tracer();
	attr.sample_period = 1000;
	fd = pt_open(&attr, 0, -1, -1, 0);
	attr.sample_period = 1;
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PERIOD, (unsigned long)&attr.sample_period), -EINVAL);
	close(fd);
}

/* ---- the tracer ---- */

struct record {
	u64 from, to, flags;
};

struct area {
	int fd;
	struct pt_ring ring;
	const u8 *bytes;
	u64 size;
	u64 data;		/* bytes that records told of */
	u64 flags, end;		/* of the last record that did */
};

static struct perf_event_attr area_tracer(void)
{
	struct perf_event_attr attr;

	need_trace();
	if (pt_pmu_type("intel_bts") < 0)
		pt_skip("no intel_bts, as with page table isolation");
	attr = pt_attr((u32)pt_pmu_type("intel_bts"), 0);
	attr.exclude_kernel = 1;
	attr.disabled = 1;
	return attr;
}

static void open_area(struct area *a, struct perf_event_attr *attr, int pages, int prot)
{
	memset(a, 0, sizeof(*a));
	a->fd = pt_open(attr, 0, -1, -1, 0);
	pt_map(&a->ring, a->fd, 8);
	a->size = (u64)pages * (u64)pt_page_size();
	a->ring.page->aux_offset = a->ring.length;
	a->ring.page->aux_size = a->size;
	a->bytes = mmap(NULL, a->size, prot, MAP_SHARED, a->fd, (off_t)a->ring.length);
	pt_need(a->bytes != MAP_FAILED, "no area: %s", strerror(errno));
}

static void close_area(struct area *a)
{
	munmap((void *)(uintptr_t)a->bytes, a->size);
	pt_unmap(&a->ring);
	close(a->fd);
}

/* The next record about data in the area. */
static bool next_data(struct area *a, u64 *offset, u64 *size)
{
	const u64 *body = (const u64 *)rec.body;

	while (pt_next(&a->ring, &rec)) {
		if (rec.h.type == PERF_RECORD_ITRACE_START) {
			pt_eq(((const u32 *)rec.body)[0], getpid());
			pt_eq(((const u32 *)rec.body)[1], pt_tid());
			continue;
		}
		pt_eq(rec.h.type, PERF_RECORD_AUX);
		*offset = body[0];
		*size = body[1];
		a->flags = body[2];
		if (!*size)
			continue;
		a->data += *size;
		a->end = *offset + *size;
		return true;
	}
	return false;
}

/* A record at this place; false: it is a way back from the kernel. */
static bool user_record(const struct area *a, u64 at, struct branch *b)
{
	struct record r;

	memcpy(&r, a->bytes + at % a->size, sizeof(r));
	pt_eq(r.flags, 16);		/* predicted, as all on the emulator */
	pt_eq(r.to >> 63, 0);
	*b = (struct branch){ r.from, r.to };
	return !(r.from >> 63);
}

/* What was told since the last time: the branches from number i on. Returns the next one's. */
static u64 check_area(struct area *a, u64 i, u64 turns)
{
	u64 offset, size, at;
	struct branch b;

	while (next_data(a, &offset, &size)) {
		pt_eq(size % sizeof(struct record), 0);
		pt_eq(offset % a->size % 24, 0);
		for (at = 0; at < size; at += sizeof(struct record)) {
			if (!user_record(a, offset + at, &b))
				continue;
			check_branch(i, b, measured_branch(i, turns));
			i++;
		}
	}
	return i;
}

static void consume(struct area *a)
{
	pt_consume(&a->ring);
	__atomic_store_n(&a->ring.page->aux_tail,
			 __atomic_load_n(&a->ring.page->aux_head, __ATOMIC_ACQUIRE),
			 __ATOMIC_RELEASE);
}

#define RW	(PROT_READ | PROT_WRITE)

static void area_all(void)
{
	struct perf_event_attr attr = area_tracer();
	u64 interrupts;
	struct area a;

	open_area(&a, &attr, 64, RW);
	interrupts = x86_interrupts();
	lbr_measured(a.fd, 100);
	pt_eq(check_area(&a, 0, 100), MEASURED(100));
	/* At least the way back from the call that enabled it. */
	pt_check(a.data > 24 * MEASURED(100), "%llu bytes", (unsigned long long)a.data);
	pt_eq(x86_interrupts() - interrupts, 0);
	close_area(&a);
}

/* A reader that keeps up sees everything, round and round. */
static void area_wraps(void)
{
	struct perf_event_attr attr = area_tracer();
	struct area a;
	int i;

	open_area(&a, &attr, 16, RW);
	for (i = 0; i < 12; i++) {
		lbr_measured(a.fd, 100);
		pt_eq(check_area(&a, 0, 100), MEASURED(100));
		pt_eq(a.flags, 0);
		consume(&a);
		if (pt_failures())
			pt_end_case();
	}
	pt_check(a.data > 3 * a.size, "%llu bytes", (unsigned long long)a.data);
	close_area(&a);
}

/* What fits is there, and the reader is told that the rest is not. */
static void area_full(void)
{
	struct perf_event_attr attr = area_tracer();
	struct area a;
	u64 n;

	open_area(&a, &attr, 16, RW);
	lbr_measured(a.fd, 2000);
	n = check_area(&a, 0, 2000);
	/* The driver leaves out the end of a chunk when the next one has more room. */
	pt_eq(a.end, a.size - a.size % 24);
	pt_eq(a.flags & PERF_AUX_FLAG_TRUNCATED, PERF_AUX_FLAG_TRUNCATED);
	pt_check(n <= a.data / 24 && n + 100 > a.data / 24, "%llu branches", (unsigned long long)n);
	/* And goes on when there is room. */
	consume(&a);
	a.data = 0;
	lbr_measured(a.fd, 50);
	pt_eq(check_area(&a, 0, 50), MEASURED(50));
	close_area(&a);
}

/* An area that the reader cannot write keeps the newest, without any interrupt. */
static void area_overwritten(void)
{
	struct perf_event_attr attr = area_tracer();
	const u64 turns = 20000;
	u64 interrupts, head, at, i = MEASURED(turns), n, ring;
	struct branch b;
	struct area a;

	open_area(&a, &attr, 16, PROT_READ);
	interrupts = x86_interrupts();
	lbr_measured(a.fd, turns);
	pt_eq(x86_interrupts() - interrupts, 0);
	pt_check(next_data(&a, &at, &n), "no record");
	pt_eq(a.flags, PERF_AUX_FLAG_OVERWRITE);
	head = __atomic_load_n(&a.ring.page->aux_head, __ATOMIC_ACQUIRE);
	ring = a.size - a.size % 24;
	pt_need(head % 24 == 0 && head < ring, "a head of %llu", (unsigned long long)head);
	for (n = 0, at = head; n < ring / 24; n++) {
		at = (at ? at : ring) - 24;
		if (!user_record(&a, at, &b))
			continue;
		i--;
		check_branch(i, b, measured_branch(i, turns));
	}
	pt_check(MEASURED(turns) - i > ring / 24 - 100, "%llu branches",
		 (unsigned long long)(MEASURED(turns) - i));
	close_area(&a);
}

static void check_area_codes(struct area *a, u64 first, u64 second)
{
	struct code x = first_task(), y = second_task();
	u64 offset, size, at;
	struct branch b;

	while (next_data(a, &offset, &size)) {
		for (at = 0; at < size; at += sizeof(struct record)) {
			if (!user_record(a, offset + at, &b))
				continue;
			check_code(&x, b);
			check_code(&y, b);
		}
	}
	pt_eq(x.found, first);
	pt_eq(y.found, second);
}

static void area_of_a_task(void)
{
	const u64 first = SHIFTS * 30 * TURN, second = SHIFTS * 40 * LOOP;
	struct perf_event_attr attr = area_tracer();
	int to[2], back[2];
	struct area a;
	pid_t pid;

	pt_gate_make(to);
	pt_gate_make(back);
	pt_in_child(pid) {
		open_area(&a, &attr, 128, RW);
		pt_enable(a.fd);
		take_turns(false, to, back);
		pt_disable(a.fd);
		check_area_codes(&a, 0, second);
	}
	open_area(&a, &attr, 128, RW);
	pt_enable(a.fd);
	take_turns(true, back, to);
	pt_disable(a.fd);
	pt_reap(pid);
	check_area_codes(&a, first, 0);
	close_area(&a);
}

/* With the user left out, nothing ends in user space. */
static void area_of_the_kernel(void)
{
	struct perf_event_attr attr = area_tracer();
	u64 offset, size, at, n = 0;
	struct record r;
	struct area a;

	attr.exclude_kernel = 0;
	attr.exclude_user = 1;
	open_area(&a, &attr, 64, RW);
	lbr_measured(a.fd, 100);
	while (next_data(&a, &offset, &size)) {
		for (at = 0; at < size; at += sizeof(r), n++) {
			memcpy(&r, a.bytes + (offset + at) % a.size, sizeof(r));
			pt_eq(r.to >> 63, 1);
			pt_check(r.from >> 63 || r.from < pt_addr(lbr_turn) ||
				 r.from >= pt_addr(lbr_end), "a branch of the loop");
		}
		if (pt_failures() > 10)
			pt_end_case();
	}
	pt_check(n > 10, "%llu branches", (unsigned long long)n);
	close_area(&a);
}

/* ---- who keeps whom out ---- */

static struct perf_event_attr branch_records(void)
{
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_INSTRUCTIONS);

	attr.sample_period = 10007;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER;
	return attr;
}

/* The event goes with branch records, the tracer with neither. */
static void exclusive(void)
{
	struct perf_event_attr area = area_tracer(), event = tracer(), lbr = branch_records();
	int fd;

	pt_eq(pt_probe(&area), 0);
	fd = pt_open(&event, 0, -1, -1, 0);
	pt_eq(pt_probe(&area), -EBUSY);
	pt_eq(pt_probe(&lbr), 0);
	pt_eq(pt_probe(&event), 0);
	close(fd);
	fd = pt_open(&lbr, 0, -1, -1, 0);
	pt_eq(pt_probe(&area), -EBUSY);
	pt_eq(pt_probe(&event), 0);
	close(fd);
	fd = pt_open(&area, 0, -1, -1, 0);
	pt_eq(pt_probe(&event), -EBUSY);
	pt_eq(pt_probe(&lbr), -EBUSY);
	/* nor with another of its kind */
	pt_eq(pt_probe(&area), -EBUSY);
	close(fd);
	pt_eq(pt_probe(&event), 0);
	pt_eq(pt_probe(&lbr), 0);
}

static const struct pt_case cases[] = {
	{ "all_branches", all_branches },
	{ "many_branches", many_branches },
	{ "what_samples_tell", what_samples_tell },
	{ "beside_a_counter", beside_a_counter },
	{ "tasks_and_cpus", tasks_and_cpus },
	{ "refused", refused },
	{ "area_all", area_all },
	{ "area_wraps", area_wraps },
	{ "area_full", area_full },
	{ "area_overwritten", area_overwritten },
	{ "area_of_a_task", area_of_a_task },
	{ "area_of_the_kernel", area_of_the_kernel },
	{ "exclusive", exclusive },
};

PT_MAIN(cases)
