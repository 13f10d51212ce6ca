// SPDX-License-Identifier: GPL-2.0
/*
 * cgroup_records.c - what is told of cgroups themselves: the record of a new
 * one, and how often a CPU goes from one to another.
 *
 * The tasks that hand over to each other are on CPU 0, SCHED_FIFO: where time
 * is exact, each switch is from one of them to the other. Elsewhere kernel
 * threads may come in between; the event's own records of all switches say so.
 */
#include "lib/cgroup.h"
#include "lib/kmem.h"
#include <sys/stat.h>

#define TURNS	50

static struct pt_record rec;
static struct pt_ring ring;
static struct pt_sample id;

/* ---- PERF_RECORD_CGROUP ---- */

static struct perf_event_attr carrier(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));

	attr.cgroup = 1;
	return attr;
}

/* What open_by_handle_at() takes for the directory; it has the kernel's 64-bit id. */
static u64 handle_of(const char *dir)
{
	union {
		struct file_handle head;
		struct {
			u32 bytes, type;
			u64 id;
		};
	} handle = { .bytes = sizeof(handle.id) };
	int mount;

	pt_need(!name_to_handle_at(AT_FDCWD, dir, &handle.head, &mount, 0), "handle of %s: %s",
		dir, strerror(errno));
	pt_eq(handle.bytes, sizeof(handle.id));
	return handle.id;
}

/* The next record is about dir, to the last byte; extra bytes of trailer. */
static void check_record(const char *dir, size_t extra)
{
	const char *path = dir + strlen(cg_mounted);
	size_t size = sizeof(u64) + ((strlen(path) + 8) & ~7ul), i;
	struct stat st;
	u64 told;

	pt_need(pt_next(&ring, &rec), "no record of %s", dir);
	pt_need(!stat(dir, &st), "stat %s: %s", dir, strerror(errno));
	pt_eq(rec.h.type, PERF_RECORD_CGROUP);
	pt_eq(rec.h.misc, 0);
	pt_eq(rec.h.size, sizeof(rec.h) + size + extra);
	memcpy(&told, rec.body, sizeof(told));
	pt_eq(told, st.st_ino);
	pt_eq(told, handle_of(dir));
	pt_check(!strcmp((char *)rec.body + sizeof(told), path), "path %s instead of %s",
		 rec.body + sizeof(told), path);
	for (i = sizeof(told) + strlen(path); i < size; i++)
		pt_eq(rec.body[i], 0);
}

static void expect_nothing(void)
{
	pt_check(!pt_next(&ring, &rec), "unexpected record of type %u", rec.h.type);
}

/* The first of a case also makes the hierarchy known to the controller. */
static const char *start(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	const char *a = cg_make("");

	pt_pin(0);
	pt_map(&ring, pt_open(attr, pid, cpu, -1, 0), 8);
	return a;
}

/* Names of all lengths modulo 8, one below the other. */
static void id_and_path(void)
{
	struct perf_event_attr attr = carrier();
	char name[64] = "";
	int i;

	start(&attr, 0, -1);
	for (i = 0; i < 9; i++) {
		strcat(name, i % 2 ? "/ab" : "/c");
		check_record(cg_make(name), 0);
		expect_nothing();
	}
	cg_remove_all();
	/* Their end is not told. */
	expect_nothing();
}

static void trailer(void)
{
	struct perf_event_attr attr = carrier();
	const char *dir;

	attr.sample_id_all = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	start(&attr, 0, -1);
	dir = cg_make("/with a tail");
	check_record(dir, 24);
	pt_parse_trailer(&attr, &rec, &id, NULL);
	pt_eq(id.pid, getpid());
	pt_eq(id.tid, pt_tid());
	pt_eq(id.cpu, 0);
	pt_eq(id.identifier, pt_id(ring.fd));
	cg_remove_all();
}

/* From the hierarchy's root, whatever root the task believes in. */
static void path_in_a_namespace(void)
{
	struct perf_event_attr attr = carrier();
	const char *a = start(&attr, 0, -1), *b;

	cg_enter(a);
	pt_need(!unshare(CLONE_NEWCGROUP), "unshare: %s", strerror(errno));
	b = cg_make("/below");
	check_record(b, 0);
	cg_remove_all();
}

static void make_one(void *arg)
{
	pt_need(!mkdir(arg, 0755), "mkdir: %s", strerror(errno));
}

/* Told on the CPU and in the task where it happens, to those who asked. */
static void who_is_told(void)
{
	struct perf_event_attr attr = carrier(), deaf = carrier();
	const char *a = cg_make("");
	struct pt_ring of_task, of_cpu, of_other_cpu, of_deaf;
	char dir[128];

	/* Without it stock forgets events of CPUs. */
	attr.ksymbol = 1;
	pt_pin(0);
	snprintf(dir, sizeof(dir), "%s/child", a);
	deaf.cgroup = 0;
	deaf.comm = 1;
	pt_map(&of_task, pt_open(&attr, 0, -1, -1, 0), 4);
	pt_map(&of_cpu, pt_open(&attr, -1, 0, -1, 0), 4);
	pt_map(&of_deaf, pt_open(&deaf, -1, 0, -1, 0), 4);
	if (pt_online_cpus() > 1)
		pt_map(&of_other_cpu, pt_open(&attr, -1, 1, -1, 0), 4);
	pt_reap(pt_fork(make_one, dir));
	pt_eq(pt_head(&of_task), 0);
	ring = of_cpu;
	check_record(dir, 0);
	expect_nothing();
	pt_eq(pt_count_records(&of_deaf, PERF_RECORD_CGROUP), 0);
	if (pt_online_cpus() > 1)
		pt_eq(pt_head(&of_other_cpu), 0);
	/* Off. */
	pt_disable(of_cpu.fd);
	cg_make("/unseen");
	pt_eq(pt_head(&of_cpu), ring.tail);
	pt_check(pt_head(&of_task) > 0, "the task was not told");
	rmdir(dir);
	cg_remove_all();
}

/* Of a CPU's event that asks for nothing else. */
static void nothing_else_asked_for(void)
{
	struct perf_event_attr attr = carrier();

	if (pt_is_stock())
		pt_skip("this kernel forgets events of CPUs that ask for cgroups alone");
	start(&attr, -1, 0);
	check_record(cg_make("/b"), 0);
	expect_nothing();
	cg_remove_all();
}

/* The memory of the path is freed. */
static void path_is_freed(void)
{
	struct perf_event_attr attr = carrier();
	struct kmem_watch memory;
	char filter[128];
	u64 from, to;

	from = pt_kernel_range("pe_sideband_cgroup", &to);
	if (!from)
		pt_skip("the kernel has no function pe_sideband_cgroup");
	start(&attr, 0, -1);
	snprintf(filter, sizeof(filter), "call_site >= %#llx && call_site < %#llx",
		 (unsigned long long)from, (unsigned long long)to);
	kmem_watch(&memory, filter);
	cg_make("/b");
	kmem_is_freed(&memory);
	cg_remove_all();
}

/* ---- PERF_COUNT_SW_CGROUP_SWITCHES ---- */

struct pair {
	const char *mine, *other;
	struct pt_peer peer;
};

/* The caller goes into one cgroup, its peer into another. */
static void pair_up(struct pair *p)
{
	int err;

	pt_first_on_cpu(0);
	pt_peer_start(&p->peer);
	err = cg_enter_path(p->other, p->peer.pid);
	pt_need(!err, "%s: %s", p->other, strerror(-err));
	cg_enter(p->mine);
	pt_peer_turn(&p->peer);
}

static void hand_over(struct pair *p, unsigned int turns)
{
	while (turns--)
		pt_peer_turn(&p->peer);
}

static void part(struct pair *p)
{
	cg_leave();
	pt_peer_stop(&p->peer);
	cg_remove_all();
}

/* Counts, and records all switches meanwhile. */
static struct perf_event_attr switches(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(CGROUP_SWITCHES));

	attr.disabled = 1;
	attr.context_switch = 1;
	attr.sample_id_all = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CPU;
	return attr;
}

/* Whoever is neither of the two is in the root. */
static const char *cgroup_of(const struct pair *p, u32 tid)
{
	if (tid == (u32)pt_tid())
		return p->mine;
	return tid == (u32)p->peer.pid ? p->other : cg_mounted;
}

/*
 * The switches from one cgroup to another among those recorded. One that is
 * sampled was so just before its record, in the task that leaves.
 */
static u64 crossings(const struct pair *p, const struct perf_event_attr *attr, struct pt_ring *r)
{
	bool sampled = false, crossing;
	u64 n = 0;
	u32 next;

	while (pt_next(r, &rec)) {
		if (rec.h.type == PERF_RECORD_SAMPLE) {
			pt_parse_sample(attr, &rec, &id);
			pt_check(!sampled, "two samples of one switch");
			pt_eq(id.cpu, 0);
			sampled = true;
			next = id.tid;
			continue;
		}
		pt_need(rec.h.type == PERF_RECORD_SWITCH_CPU_WIDE, "record of type %u",
			rec.h.type);
		if (!(rec.h.misc & PERF_RECORD_MISC_SWITCH_OUT))
			continue;
		pt_parse_trailer(attr, &rec, &id, NULL);
		if (sampled)
			pt_eq(next, id.tid);
		memcpy(&next, rec.body + 4, 4);
		crossing = cgroup_of(p, id.tid) != cgroup_of(p, next);
		if (attr->sample_period)
			pt_eq(sampled, crossing);
		sampled = false;
		n += crossing;
	}
	pt_consume(r);
	return n;
}

/* Nothing disturbs the two where time is exact. */
static void expect_crossings(u64 got, u64 recorded, u64 undisturbed)
{
	pt_eq(got, recorded);
	pt_check(got >= undisturbed, "%llu of %llu", (unsigned long long)got,
		 (unsigned long long)undisturbed);
	if (pt_time_is_exact())
		pt_eq(got, undisturbed);
}

/* Two switches per turn, one out of each of the two, between cgroups side by side. */
static void two_cgroups(void)
{
	struct perf_event_attr attr = switches();
	struct pair p = { .mine = NULL };
	u64 told = 0;
	int fd, i;

	cg_make("");
	p.mine = cg_make("/a");
	p.other = cg_make("/b");
	pair_up(&p);
	fd = pt_open(&attr, -1, 0, -1, 0);
	pt_map(&ring, fd, 64);
	for (i = 1; i <= 3; i++) {
		pt_enable(fd);
		hand_over(&p, TURNS);
		pt_disable(fd);
		told += crossings(&p, &attr, &ring);
		expect_crossings(pt_count(fd), told, 2u * TURNS * (u64)i);
		hand_over(&p, 3);
	}
	part(&p);
}

static void one_cgroup(void)
{
	struct perf_event_attr attr = switches();
	struct pair p;
	int fd;

	p.mine = cg_make("");
	p.other = p.mine;
	pair_up(&p);
	fd = pt_open(&attr, -1, 0, -1, 0);
	pt_map(&ring, fd, 64);
	pt_enable(fd);
	hand_over(&p, TURNS);
	pt_disable(fd);
	expect_crossings(pt_count(fd), crossings(&p, &attr, &ring), 0);
	part(&p);
}

/* Events of the tasks count when they leave. */
static void of_tasks(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(CGROUP_SWITCHES));
	struct pair p;
	int me, peer;

	if (!pt_time_is_exact())
		pt_skip("others may come in between");
	attr.disabled = 1;
	p.mine = cg_make("");
	p.other = cg_make("/b");
	pair_up(&p);
	me = pt_open(&attr, 0, -1, -1, 0);
	peer = pt_open(&attr, p.peer.pid, -1, -1, 0);
	pt_enable(me);
	pt_enable(peer);
	hand_over(&p, TURNS);
	pt_disable(peer);
	pt_disable(me);
	pt_eq(pt_count(me), TURNS);
	pt_eq(pt_count(peer), TURNS);
	part(&p);
}

/* Of a cgroup and of one below it: a switch counts for all that the one who leaves is in. */
static void one_above_the_other(void)
{
	struct perf_event_attr attr = switches();
	struct pair p = { .mine = cg_make("") };
	struct pt_ring of_above, of_below;

	p.other = cg_make("/b");
	pair_up(&p);
	pt_map(&of_above, cg_open(&attr, p.mine, 0, -1), 64);
	pt_map(&of_below, cg_open(&attr, p.other, 0, -1), 64);
	pt_enable(of_above.fd);
	pt_enable(of_below.fd);
	hand_over(&p, TURNS);
	pt_disable(of_below.fd);
	pt_disable(of_above.fd);
	expect_crossings(pt_count(of_above.fd), crossings(&p, &attr, &of_above), 2 * TURNS);
	expect_crossings(pt_count(of_below.fd), crossings(&p, &attr, &of_below), TURNS);
	part(&p);
}

static void samples(void)
{
	struct perf_event_attr attr = switches();
	struct pair p = { .mine = cg_make("") };
	int fd;

	p.other = cg_make("/b");
	pair_up(&p);
	attr.sample_period = 1;
	fd = pt_open(&attr, -1, 0, -1, 0);
	pt_map(&ring, fd, 64);
	pt_enable(fd);
	hand_over(&p, TURNS);
	pt_disable(fd);
	expect_crossings(pt_count(fd), crossings(&p, &attr, &ring), 2 * TURNS);
	part(&p);
}

static const struct pt_case cases[] = {
	{ "id_and_path", id_and_path },
	{ "trailer", trailer },
	{ "path_in_a_namespace", path_in_a_namespace },
	{ "who_is_told", who_is_told },
	{ "nothing_else_asked_for", nothing_else_asked_for },
	{ "path_is_freed", path_is_freed },
	{ "two_cgroups", two_cgroups },
	{ "one_cgroup", one_cgroup },
	{ "of_tasks", of_tasks },
	{ "one_above_the_other", one_above_the_other },
	{ "samples", samples },
};

PT_MAIN(cases)
