// SPDX-License-Identifier: GPL-2.0
/*
 * bpf_cgroup.c - events of cgroups in BPF maps: a program writes to their
 * buffers while its CPU is in the cgroup, and is refused otherwise.
 */
#include "lib/bpf.h"
#include "lib/cgroup.h"

enum { RESULT };	/* word[]: what the helper returned */

static struct pt_words w;

/* A program that writes the word 4711 to the event of this CPU. */
static int writer(int map)
{
	static struct pt_code code;

	pt_b_begin(&code);
	pt_b_set(&code, 3, 4711);
	pt_b_store(&code, 10, -8, 3);
	pt_b_output(&code, map);
	pt_b_put(&code, &w, RESULT, 0);
	pt_b_return(&code, 0);
	return pt_load(BPF_PROG_TYPE_RAW_TRACEPOINT, &code);
}

static s64 write_once(int prog)
{
	w.word[RESULT] = 1;
	pt_run_prog(prog);
	return (s64)w.word[RESULT];
}

static void inside_only(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(BPF_OUTPUT));
	static struct pt_record rec;
	struct pt_sample s;
	struct pt_ring ring;
	const char *a, *b;
	int map, fd, prog;
	u64 v;

	pt_words_make(&w);
	pt_pin(0);
	a = cg_make("");
	b = cg_make("/b");
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_RAW;
	fd = cg_open(&attr, a, 0, -1);
	pt_map(&ring, fd, 4);
	map = pt_bpf_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4, 1, 0);
	pt_eq(pt_bpf_put(map, 0, &fd), 0);
	prog = writer(map);

	pt_eq(write_once(prog), -EOPNOTSUPP);
	cg_enter(b);
	pt_eq(write_once(prog), 0);
	cg_enter(a);
	pt_eq(write_once(prog), 0);
	pt_disable(fd);
	pt_eq(write_once(prog), -EOPNOTSUPP);
	pt_enable(fd);
	pt_eq(write_once(prog), 0);
	cg_leave();
	pt_eq(write_once(prog), -EOPNOTSUPP);
	while (pt_next(&ring, &rec)) {
		pt_eq(rec.h.type, PERF_RECORD_SAMPLE);
		pt_parse_sample(&attr, &rec, &s);
		memcpy(&v, s.raw, sizeof(v));
		pt_eq(v, 4711);
		pt_eq(pt_count(fd), 0);
		w.word[RESULT + 1]++;
	}
	pt_eq(w.word[RESULT + 1], 3);
	cg_remove_all();
}

/* The map holds the event when its file is closed, and the event holds the cgroup. */
static void outlives_the_fd(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(BPF_OUTPUT));
	int map, fd, prog, i;
	struct pt_ring ring;
	const char *a;

	pt_words_make(&w);
	pt_pin(0);
	a = cg_make("");
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_RAW;
	map = pt_bpf_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4, 1, BPF_F_PRESERVE_ELEMS);
	for (i = 0; i < 3; i++) {
		fd = cg_open(&attr, a, 0, -1);
		pt_map(&ring, fd, 4);
		pt_eq(pt_bpf_put(map, 0, &fd), 0);
		close(fd);
		prog = writer(map);
		cg_enter(a);
		pt_eq(write_once(prog), 0);
		cg_leave();
		pt_eq(write_once(prog), -EOPNOTSUPP);
		pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 1);
		pt_unmap(&ring);
		close(prog);
	}
	cg_remove_all();
	pt_eq(pt_bpf_del(map, 0), 0);
	cg_wait_until_gone();
}

static const struct pt_case cases[] = {
	{ "inside_only", inside_only },
	{ "outlives_the_fd", outlives_the_fd },
};

PT_MAIN(cases)
