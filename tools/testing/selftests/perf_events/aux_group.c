// SPDX-License-Identifier: GPL-2.0
/*
 * aux_group.c - events that act on the AUX area of their group's leader
 * (aux_output, aux_sample_size, aux_pause, aux_resume): which of them can be
 * opened, and what becomes of them when one side goes.
 */
#include "lib/aux.h"

#define CAP_PAUSE	"caps=0x200"

/* What one bit of the attr, or two, is answered in the group of a leader. */
struct try {
	u32 type;	/* 0: page faults */
	bool output, pause, resume, start_paused;
	u32 sample_size;
};

static int try(const struct try *t, int leader, unsigned long flags)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	int fd;

	if (t->type)
		attr = pt_attr(t->type, 0);
	attr.disabled = 1;
	attr.sample_period = 1000000;
	attr.aux_output = t->output;
	attr.aux_pause = t->pause;
	attr.aux_resume = t->resume;
	attr.aux_start_paused = t->start_paused;
	attr.aux_sample_size = t->sample_size;
	fd = pt_try_open(&attr, 0, -1, leader, flags);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

#define check(want, leader, ...)						\
	do {									\
		struct try t_ = { __VA_ARGS__ };				\
		pt_eq(try(&t_, leader, 0), want);				\
	} while (0)

static int open_type(const char *pmu)
{
	struct perf_event_attr attr = pt_attr((u32)pt_pmu_type(pmu), 0);

	attr.disabled = 1;
	return pt_open(&attr, 0, -1, -1, 0);
}

static int open_dummy(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));

	attr.disabled = 1;
	return pt_open(&attr, 0, -1, -1, 0);
}

static void output_errors(void)
{
	int a, b, dummy;
	u32 src;

	aux_load(CAP_PAUSE);
	a = open_type("test_aux");
	b = open_type("test_aux_b");
	dummy = open_dummy();
	src = (u32)pt_pmu_type("test_aux_src");

	/* Not for events of this PMU, whatever the leader is. */
	check(-EOPNOTSUPP, -1, .output = true);
	check(-EOPNOTSUPP, a, .output = true);
	check(0, a, .type = src, .output = true);
	/* No leader, and leaders that are no tracer, or not the right one. */
	check(-EINVAL, -1, .type = src, .output = true);
	check(-EINVAL, dummy, .type = src, .output = true);
	check(-EINVAL, b, .type = src, .output = true);
	aux_set("no_match", 1);
	check(-EINVAL, a, .type = src, .output = true);
	aux_set("no_match", 0);
	/* One thing at a time. */
	check(-EOPNOTSUPP, a, .type = src, .output = true, .pause = true);
	check(-EOPNOTSUPP, a, .type = src, .output = true, .resume = true);
	check(-EINVAL, a, .type = src, .output = true, .sample_size = 8);
}

static void pause_errors(void)
{
	struct try t = { .pause = true };
	int a, b, dummy;

	aux_load(CAP_PAUSE);
	a = open_type("test_aux");
	b = open_type("test_aux_b");
	dummy = open_dummy();

	check(0, a, .pause = true);
	check(0, a, .resume = true);
	check(0, a, .pause = true, .sample_size = 8);
	check(-EINVAL, a, .pause = true, .resume = true);
	check(-EINVAL, -1, .pause = true, .resume = true);
	check(-EINVAL, -1, .pause = true);
	check(-EINVAL, -1, .type = (u32)pt_pmu_type("test_aux"), .resume = true);
	check(-EINVAL, dummy, .pause = true);
	check(-EINVAL, b, .pause = true);
	check(-EINVAL, b, .resume = true);
	/* In the same call, but not in the group. */
	pt_eq(try(&t, a, PERF_FLAG_FD_NO_GROUP), -EINVAL);

	check(0, -1, .type = (u32)pt_pmu_type("test_aux"), .start_paused = true);
	check(-EOPNOTSUPP, -1, .type = (u32)pt_pmu_type("test_aux_b"), .start_paused = true);
	check(-EOPNOTSUPP, a, .start_paused = true);
	check(-EOPNOTSUPP, a, .type = (u32)pt_pmu_type("test_aux_src"), .start_paused = true);
}

static void sample_errors(void)
{
	int a, b, dummy;

	aux_load(NULL);
	a = open_type("test_aux");
	b = open_type("test_aux_b");
	dummy = open_dummy();

	check(0, a, .sample_size = 1);
	check(0, a, .sample_size = ~0u);
	check(-EINVAL, -1, .sample_size = 8);
	check(-EINVAL, dummy, .sample_size = 8);
	/* This one makes no snapshots, and nobody of them pauses. */
	check(-EINVAL, b, .sample_size = 8);
	check(-EINVAL, a, .pause = true);
}

static void reserved_bits(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	int bit;

	for (bit = 3; bit < 32; bit++) {
		attr.aux_action = 1u << bit;
		pt_eq(pt_probe(&attr), -EINVAL);
	}
}

/* ------------------------------------------------------------- one side goes */

static int open_faults(int leader, u32 sample_size)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_TID | (sample_size ? PERF_SAMPLE_AUX : 0);
	attr.aux_sample_size = sample_size;
	return pt_open(&attr, 0, -1, leader, 0);
}

static void close_tracer(struct aux *x)
{
	aux_unmap(x);
	pt_unmap(&x->ring);
	close(x->fd);
}

static u64 next_sample_size(struct pt_ring *r)
{
	static struct pt_record rec;

	pt_need(pt_next_of(r, &rec, PERF_RECORD_SAMPLE), "no sample");
	return ((u64 *)rec.body)[1];
}

/* Who needs the tracer ends in an error, which read() tells; enabled, it does without. */
static void leader_closes(void)
{
	struct pt_ring ring;
	struct aux x;
	int fd, plain;
	u64 v;

	aux_open(&x, 1, PROT_READ);
	fd = open_faults(x.fd, 64);
	plain = open_faults(x.fd, 0);
	pt_map(&ring, fd, 4);
	pt_settle();
	pt_enable(x.fd);
	pt_fault(3);
	pt_eq(pt_count(fd), 3);
	pt_eq(next_sample_size(&ring), 64);
	close_tracer(&x);
	pt_eq(pt_module_get("test_aux", "frees"), 1);
	pt_drain(&ring);

	pt_fault(2);
	pt_eq(read(fd, &v, sizeof(v)), 0);
	pt_eq(pt_count(plain), 5);
	pt_drain(&ring);
	pt_enable(fd);
	pt_fault(1);
	pt_eq(pt_count(fd), 4);
	pt_eq(next_sample_size(&ring), 0);
}

static void source_loses_tracer(void)
{
	struct aux x;
	int src;
	u64 v;

	aux_open(&x, 1, PROT_READ);
	src = aux_open_source(&x);
	pt_enable(x.fd);
	pt_eq(pt_count(src), 0);
	close_tracer(&x);
	pt_eq(read(src, &v, sizeof(v)), 0);
}

static void sibling_closes(void)
{
	struct aux x;
	int fd;

	aux_open(&x, 1, PROT_READ | PROT_WRITE);
	fd = open_faults(x.fd, 64);
	pt_enable(x.fd);
	aux_set("emit", 8);
	close(fd);
	aux_set("emit", 8);
	pt_eq(aux_head(&x), 16);
	pt_eq(pt_count_records(&x.ring, PERF_RECORD_AUX), 2);
	close_tracer(&x);
	pt_eq(pt_module_get("test_aux", "frees"), 1);
}

/* The tracer is off because there is no room; its samplers are off with it. */
static void tracer_without_room(void)
{
	struct pt_ring ring;
	struct aux x;
	int fd;

	aux_open(&x, 1, PROT_READ | PROT_WRITE);
	fd = open_faults(x.fd, 64);
	pt_map(&ring, fd, 4);
	aux_consume(&x, 1);	/* behind which there is no room */
	pt_settle();
	pt_enable(x.fd);
	pt_fault(3);
	pt_eq(pt_count(fd), 0);
	aux_consume(&x, 0);
	pt_disable(x.fd);
	pt_enable(x.fd);
	pt_fault(3);
	pt_eq(pt_count(fd), 3);
}

/*
 * The tracer is on, but its driver has closed its handle; and then it has no buffer any more: there
 * is nothing to sample, nor to pause.
 */
static void tracer_without_handle(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	struct pt_ring ring;
	long long snapshots;
	struct aux x;
	int fd;

	if (pt_is_stock())
		pt_skip("Linux 6.12 asks a driver for samples that has no handle");
	aux_load(CAP_PAUSE);
	aux_open(&x, 1, RW);
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_AUX;
	attr.aux_sample_size = 64;
	attr.aux_pause = 1;
	fd = pt_open(&attr, 0, -1, x.fd, 0);
	pt_map(&ring, fd, 4);
	pt_settle();
	pt_enable(x.fd);
	pt_fault(1);
	pt_eq(next_sample_size(&ring), 64);
	aux_set("drop", 1);
	snapshots = aux_counter("snapshots");
	pt_drain(&ring);
	pt_fault(1);
	pt_eq(next_sample_size(&ring), 0);
	pt_eq(aux_counter("snapshots"), snapshots);
	aux_unmap(&x);
	pt_unmap(&x.ring);
	pt_drain(&ring);
	pt_fault(1);
	pt_eq(next_sample_size(&ring), 0);
	close(fd);
}

/* Copies of the group in a child act on the area of the copied leader. */
static void inherited(void)
{
	struct perf_event_attr attr = aux_attr();
	struct perf_event_attr fault = pt_attr(PT_SW(PAGE_FAULTS));
	static struct pt_record rec;
	struct pt_ring ring;
	struct aux x;
	pid_t pid;
	int fd;

	attr.inherit = 1;
	memset(&x, 0, sizeof(x));
	x.fd = pt_open(&attr, 0, 0, -1, 0);
	pt_map(&x.ring, x.fd, AUX_DATA_PAGES);
	aux_map(&x, 1, PROT_READ);
	fault.inherit = 1;
	fault.sample_period = 1;
	fault.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_AUX;
	fault.aux_sample_size = 64;
	fd = pt_open(&fault, 0, 0, x.fd, 0);
	pt_map(&ring, fd, 64);
	pt_in_child(pid) {
		pt_settle();
		pt_enable(x.fd);
		aux_set("put", 5000);
		pt_fault(1);
		pt_disable(x.fd);
	}
	pt_reap(pid);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		u32 *ids = (u32 *)rec.body;

		if (ids[0] != (u32)pid)
			continue;
		pt_eq(((u64 *)rec.body)[1], 64);
		if (rec.body[16] == (5000 - 64) % AUX_PATTERN)
			return;
	}
	pt_check(false, "no sample of the child with its trace");
}

/* What does without its tracer is inherited like any other. */
static void inherited_without_tracer(void)
{
	struct perf_event_attr attr = aux_attr(), fault = pt_attr(PT_SW(PAGE_FAULTS));
	int tracer, fd;
	u64 before;
	pid_t pid;

	pt_pin(0);
	attr.inherit = 1;
	tracer = pt_open(&attr, 0, 0, -1, 0);
	fault.inherit = 1;
	fault.sample_period = 1;
	fault.aux_sample_size = 64;
	fd = pt_open(&fault, 0, 0, tracer, 0);
	close(tracer);
	pt_enable(fd);
	before = pt_count(fd);
	pt_in_child(pid)
		pt_fault(100);
	pt_reap(pid);
	pt_check(pt_count(fd) - before >= 100, "%llu faults of the child",
		 (unsigned long long)(pt_count(fd) - before));
}

static const struct pt_case cases[] = {
	{ "output_errors", output_errors },
	{ "pause_errors", pause_errors },
	{ "sample_errors", sample_errors },
	{ "reserved_bits", reserved_bits },
	{ "leader_closes", leader_closes },
	{ "source_loses_tracer", source_loses_tracer },
	{ "sibling_closes", sibling_closes },
	{ "tracer_without_room", tracer_without_room },
	{ "tracer_without_handle", tracer_without_handle },
	{ "inherited", inherited },
	{ "inherited_without_tracer", inherited_without_tracer },
};

PT_MAIN(cases)
