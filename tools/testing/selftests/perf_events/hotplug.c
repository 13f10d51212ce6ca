// SPDX-License-Identifier: GPL-2.0
/*
 * hotplug.c - CPUs go offline and come back: what becomes of events that are
 * bound to one, and of PMUs whose one CPU stands for several. Needs two CPUs
 * (scripts/kselftest --smp 4) and the test PMU for what concerns drivers.
 *
 * needs: smp
 */
#include "lib/cgroup.h"
#include "lib/cpus.h"
#include <pthread.h>
#include <sys/mman.h>

#define TIMES	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)
#define MODULE	"test_count"

static struct perf_event_attr faults(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.read_format = TIMES;
	return attr;
}

static struct perf_event_attr hits(void)
{
	return pt_attr((u32)pt_pmu_type(MODULE), 0);
}

/* It stops for good; the count stays readable, and the times stand still. */
static void event_leaves_with_its_cpu(void)
{
	struct perf_event_attr attr = faults();
	struct pt_read r, again;
	int fd;

	need_cpus(2);
	fd = pt_open(&attr, -1, 1, -1, 0);
	fault_on(1, 10);
	pt_eq(set_online(1, 0), 0);
	pt_read(fd, TIMES, 1, &r);
	pt_check(r.v[0].value >= 10, "%llu faults", (unsigned long long)r.v[0].value);
	pt_spin(1000000);
	pt_read(fd, TIMES, 1, &again);
	pt_eq(again.enabled, r.enabled);
	pt_eq(again.running, r.running);

	pt_eq(set_online(1, 1), 0);
	fault_on(1, 10);
	pt_read(fd, TIMES, 1, &again);
	pt_eq(again.v[0].value, r.v[0].value);
	pt_eq(again.running, r.running);
	pt_enable(fd);
	fault_on(1, 10);
	pt_eq(pt_count(fd), r.v[0].value);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_RESET, 0), 0);
	pt_eq(pt_count(fd), 0);
	pt_disable(fd);

	/* A new one counts. */
	fd = pt_open(&attr, -1, 1, -1, 0);
	fault_on(1, 10);
	pt_check(pt_count(fd) >= 10, "a new event does not count");
}

static void group_falls_apart(void)
{
	struct perf_event_attr attr = faults();
	u64 v[8];
	int fd, sibling;

	need_cpus(2);
	attr.read_format = PERF_FORMAT_GROUP;
	fd = pt_open(&attr, -1, 1, -1, 0);
	sibling = pt_open(&attr, -1, 1, fd, 0);
	pt_eq(read(fd, v, sizeof(v)), 24);
	pt_eq(v[0], 2);
	pt_eq(set_online(1, 0), 0);
	pt_eq(read(fd, v, sizeof(v)), 16);
	pt_eq(v[0], 1);
	pt_eq(read(sibling, v, sizeof(v)), 16);
	pt_eq(pt_try_open(&attr, -1, 1, fd, 0), -ENODEV);
	pt_eq(set_online(1, 1), 0);
	pt_eq(read(fd, v, sizeof(v)), 16);
	/* It leads nobody any more. The stock kernel takes siblings, which never count. */
	if (pt_attr_size() > 136)
		pt_eq(pt_try_open(&attr, -1, 1, fd, 0), -ENODEV);
	close(fd);
	pt_eq(read(sibling, v, sizeof(v)), 16);
}

static void open_while_offline(void)
{
	struct perf_event_attr attr = faults();
	int fd;

	need_cpus(2);
	pt_eq(set_online(1, 0), 0);
	pt_eq(pt_try_open(&attr, -1, 1, -1, 0), -ENODEV);
	/* Events of a task wait for the CPU. */
	fd = pt_open(&attr, 0, 1, -1, 0);
	pt_eq(pt_count(fd), 0);
	pt_eq(set_online(1, 1), 0);
	fault_on(0, 10);
	pt_eq(pt_count(fd), 0);
	fault_on(1, 10);
	pt_check(pt_count(fd) >= 10, "does not count on its CPU");
	pt_eq(set_online(1, 0), 0);
	pt_eq(set_online(1, 1), 0);
	pt_reset(fd);
	fault_on(1, 10);
	pt_check(pt_count(fd) >= 10, "does not count after its CPU came back");
}

/* A sampling event that disables itself while its CPU goes is just off. */
static void refresh_then_offline(void)
{
	struct perf_event_attr attr = faults();
	struct pt_ring r;
	int fd;

	need_cpus(2);
	attr.sample_period = 1;
	attr.disabled = 1;
	fd = pt_open(&attr, -1, 1, -1, 0);
	pt_map(&r, fd, 8);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_REFRESH, 3), 0);
	fault_on(1, 10);
	pt_eq(set_online(1, 0), 0);
	pt_eq(pt_count_records(&r, PERF_RECORD_SAMPLE), 3);
	pt_eq(set_online(1, 1), 0);
	fault_on(1, 10);
	pt_eq(pt_count_records(&r, PERF_RECORD_SAMPLE), 0);
}

static void kernel_counter(void)
{
	need_cpus(2);
	pt_load_module(MODULE, NULL);
	pt_eq(pt_module_set(MODULE, "kernel_cpu", 1), 0);
	hit_on(1, 5);
	pt_eq(pt_module_get(MODULE, "kernel_count"), 5);
	pt_eq(set_online(1, 0), 0);
	pt_eq(pt_module_get(MODULE, "kernel_count"), 5);
	pt_eq(pt_module_get(MODULE, "nr_added"), 0);
	pt_eq(set_online(1, 1), 0);
	hit_on(1, 5);
	pt_eq(pt_module_get(MODULE, "kernel_count"), 5);
	pt_eq(pt_module_set(MODULE, "kernel_cpu", -1), 0);
	pt_eq(pt_module_get(MODULE, "nr_events"), 0);
}

/* One that finds its CPU away leaves nothing. */
static void kernel_counter_while_offline(void)
{
	need_cpus(2);
	pt_load_module(MODULE, NULL);
	pt_eq(set_online(1, 0), 0);
	pt_eq(pt_module_set(MODULE, "kernel_cpu", 1), -ENODEV);
	pt_eq(pt_module_get(MODULE, "nr_events"), 0);
	pt_eq(set_online(1, 1), 0);
}

/* All events of the PMU move, with their groups and their counts */
static void migrate(void)
{
	struct perf_event_attr attr, sw = faults();
	int fd, sibling, other, task;

	need_cpus(2);
	pt_load_module(MODULE, NULL);
	attr = hits();
	fd = pt_open(&attr, -1, 0, -1, 0);
	sw.read_format = 0;
	sibling = pt_open(&sw, -1, 0, fd, 0);
	other = pt_open(&sw, -1, 0, -1, 0);
	task = pt_open(&attr, 0, -1, -1, 0);
	hit_on(0, 100);
	pt_eq(pt_count(fd), 100);
	pt_eq(pt_count(task), 100);
	pt_eq(pt_module_set(MODULE, "migrate", 1), 0);	/* 0 -> 1 */

	pt_eq(pt_count(fd), 100);
	hit_on(0, 1000);
	pt_eq(pt_count(fd), 100);
	hit_on(1, 10);
	pt_eq(pt_count(fd), 110);
	pt_eq(pt_count(task), 1110);

	/* The sibling went along, the event that has nothing to do with it stayed. */
	pt_reset(sibling);
	pt_reset(other);
	fault_on(1, 20);
	pt_check(pt_count(sibling) >= 20, "the sibling is not on CPU 1");
	pt_reset(sibling);
	pt_reset(other);
	fault_on(0, 20);
	pt_check(pt_count(other) >= 20, "an event of another PMU is not on CPU 0");

	/* They are all of CPU 1 now: as a new sibling, and when it goes. */
	pt_eq(pt_try_open(&attr, -1, 0, fd, 0), -EINVAL);
	close(pt_open(&attr, -1, 1, fd, 0));
	pt_eq(pt_module_set(MODULE, "migrate", 1000), 0);	/* 1 -> 0 */
	hit_on(1, 10);
	hit_on(0, 1);
	pt_eq(pt_count(fd), 111);
	pt_eq(set_online(1, 0), 0);
	hit_on(0, 1);
	pt_eq(pt_count(fd), 112);
	pt_eq(set_online(1, 1), 0);
}

/* Those that are disabled or in error move, too, as they are */
static void migrate_states(void)
{
	struct perf_event_attr attr;
	int off, pinned, loser;
	u64 v;

	need_cpus(2);
	pt_load_module(MODULE, "counters=1");
	attr = hits();
	attr.pinned = 1;
	pinned = pt_open(&attr, -1, 0, -1, 0);
	loser = pt_open(&attr, -1, 0, -1, 0);
	pt_eq(read(loser, &v, sizeof(v)), 0);
	attr.pinned = 0;
	attr.disabled = 1;
	off = pt_open(&attr, -1, 0, -1, 0);
	if (!pt_module_get(MODULE, "revokes"))
		pt_skip("stock enables what is disabled");
	pt_eq(pt_module_set(MODULE, "migrate", 1), 0);
	hit_on(1, 10);
	pt_eq(pt_count(pinned), 10);
	pt_eq(pt_count(off), 0);
	pt_eq(read(loser, &v, sizeof(v)), 0);
	close(pinned);
	pt_enable(off);
	hit_on(0, 5);
	hit_on(1, 7);
	pt_eq(pt_count(off), 7);
	close(off);
	pt_enable(loser);
	hit_on(0, 5);
	hit_on(1, 7);
	pt_eq(pt_count(loser), 7);
}

/* Members of the root's cgroup, in which whoever takes the CPU down is, come in no more. */
static void group_of_a_cgroup(void)
{
	struct perf_event_attr attr;
	long long adds;
	int lead;

	need_cpus(2);
	if (pt_is_stock())
		pt_skip("Linux 6.12 may schedule siblings on the way");
	cg_make("");
	pt_load_module(MODULE, NULL);
	attr = hits();
	lead = cg_open(&attr, cg_mounted, 1, -1);
	cg_open(&attr, cg_mounted, 1, lead);
	adds = pt_module_get(MODULE, "adds");
	pt_eq(set_online(1, 0), 0);
	pt_eq(pt_module_get(MODULE, "adds"), adds);
	pt_eq(pt_module_get(MODULE, "nr_added"), 0);
	pt_eq(set_online(1, 1), 0);
	/* Nor do those of the CPU itself; and nobody asks a CPU that is away. */
	lead = pt_open(&attr, -1, 1, -1, 0);
	pt_open(&attr, -1, 1, lead, 0);
	hit_on(1, 5);
	adds = pt_module_get(MODULE, "adds");
	pt_eq(set_online(1, 0), 0);
	pt_eq(pt_module_get(MODULE, "adds"), adds);
	pt_eq(pt_module_get(MODULE, "nr_added"), 0);
	pt_disable(lead);
	pt_eq(pt_count(lead), 5);
	pt_eq(set_online(1, 1), 0);
	cg_remove_all();
}

static void mux_survives(void)
{
	struct perf_event_attr attr;
	struct pt_read r[3];
	int fd[3], i;

	need_cpus(2);
	pt_load_module(MODULE, "counters=1");
	attr = pt_attr((u32)pt_pmu_type(MODULE), 1);
	attr.read_format = TIMES;
	for (i = 0; i < 3; i++)
		fd[i] = pt_open(&attr, 0, 1, -1, 0);
	pt_pin(1);
	pt_burn(50000000);
	pt_pin(0);
	pt_eq(set_online(1, 0), 0);
	pt_eq(set_online(1, 1), 0);
	for (i = 0; i < 3; i++)
		pt_read(fd[i], TIMES, 1, &r[i]);
	pt_pin(1);
	pt_burn(100000000);
	pt_pin(0);
	for (i = 0; i < 3; i++) {
		struct pt_read now;

		pt_read(fd[i], TIMES, 1, &now);
		pt_check(now.running > r[i].running, "event %d does not get its turn", i);
	}
}

static char *read_mask(char *buf, size_t size)
{
	pt_need(pt_slurp("/sys/bus/event_source/devices/" MODULE "/cpumask", buf, size),
		"no cpumask");
	return buf;
}

enum { CORE = 1, SYSTEM = 5 };

static void load_scoped(int scope)
{
	char params[32];

	snprintf(params, sizeof(params), "scope=%d task=0", scope);
	pt_load_module(MODULE, params);
}

static void mask_is(const char *want)
{
	char mask[64];

	read_mask(mask, sizeof(mask));
	pt_check(!strcmp(mask, want), "cpumask is %s, not %s", mask, want);
}

/* Every core has a CPU that stands for it, as long as it has any. */
static void scope_core(void)
{
	struct perf_event_attr attr;

	need_cpus(4);
	if (pt_read_number("/sys/devices/system/cpu/cpu3/topology/core_cpus", -1) != 8)
		pt_skip("cores of several CPUs");
	load_scoped(CORE);
	attr = hits();
	mask_is("0-3");
	pt_eq(set_online(3, 0), 0);
	mask_is("0-2");
	pt_eq(pt_try_open(&attr, -1, 3, -1, 0), -ENODEV);
	pt_eq(set_online(3, 1), 0);
	mask_is("0-3");
	close(pt_open(&attr, -1, 3, -1, 0));
}

/* One CPU stands for all until it goes; then another one, which takes the events along. */
static void scope_system(void)
{
	struct perf_event_attr attr;
	int fd, plain;

	need_cpus(4);
	load_scoped(SYSTEM);
	attr = hits();
	mask_is("0");
	/*
	 * Any CPU will do, but only that of the mask is looked after. Of such a PMU each CPU may
	 * read the counters, so it is read where the reader is; the test PMU has some for each.
	 */
	plain = pt_open(&attr, -1, 2, -1, 0);
	hit_on(2, 1);
	pt_pin(2);
	pt_eq(pt_count(plain), 1);
	pt_pin(0);
	pt_eq(set_online(2, 0), 0);
	pt_eq(set_online(2, 1), 0);
	hit_on(2, 1);
	pt_eq(pt_count(plain), 1);

	fd = pt_open(&attr, -1, 0, -1, 0);
	hit_on(0, 3);
	pt_pin(1);
	if (set_online(0, 0))
		pt_skip("CPU 0 does not go offline");
	mask_is("1");
	pt_pin(1);
	pt_eq(pt_module_set(MODULE, "hit", 5), 0);
	pt_eq(set_online(0, 1), 0);
	hit_on(0, 100);
	pt_pin(1);
	pt_eq(pt_count(fd), 8);
	mask_is("1");
	pt_pin(0);
	pt_eq(set_online(1, 0), 0);
	mask_is("0");
	hit_on(0, 7);
	pt_eq(pt_count(fd), 15);
	pt_eq(set_online(1, 1), 0);
	mask_is("0");
}

/* Its CPU goes while a task of the cgroup runs there, and with it the event; others go on. */
static void cgroup_of_a_cpu(void)
{
	int fd, other, again;
	const char *a;
	u64 count;

	need_cpus(2);
	a = cg_make("");
	fd = cg_faults(a, 1);
	other = cg_faults(a, 0);
	cg_enter(a);
	fault_on(1, 10);
	pt_check(pt_count(fd) >= 10, "%llu faults", (unsigned long long)pt_count(fd));
	pt_pin(1);
	pt_need(!set_online(1, 0), "CPU 1 stays");	/* and we are on another one */
	count = pt_count(fd);
	pt_reset(other);
	fault_on(0, 10);
	pt_check(pt_count(other) >= 10, "the event of CPU 0 stands still");
	pt_eq(set_online(1, 1), 0);
	fault_on(1, 10);
	pt_eq(pt_count(fd), count);

	again = cg_faults(a, 1);
	fault_on(1, 10);
	pt_check(pt_count(again) >= 10, "a new event does not count");
	cg_leave();
	count = pt_count(again);
	fault_on(1, 10);
	pt_eq(pt_count(again), count);
	pt_eq(pt_count(other) > 0, 1);
	/* It is closed, and the cgroup removed, while the CPU is away. */
	pt_eq(set_online(1, 0), 0);
	close(again);
	close(fd);
	close(other);
	cg_remove_all();
	pt_eq(set_online(1, 1), 0);
	fault_on(1, 10);
}

/* ---- a buffer whose writers come from several CPUs ---- */

#define TALES	16	/* READ records of each exit */
#define EXITS	150	/* of each of the two crowds */
#define TIDS	65536

static struct pt_record rec;

/* Who has exited: how many records there are of it, and the event of the last one. */
static struct teller {
	u64 last;
	unsigned int nr;
} tellers[TIDS];

struct crowd {
	int cpu;
	int *arrived;	/* of both, in shared memory */
};

/* Children that exit at once, one after the other, together with those of the other crowd. */
static void exit_often(void *arg)
{
	struct crowd *crowd = arg;
	int i;

	pt_pin(crowd->cpu);
	__atomic_add_fetch(crowd->arrived, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(crowd->arrived, __ATOMIC_ACQUIRE) < 2)
		;
	for (i = 0; i < EXITS; i++) {
		pid_t pid;

		pt_in_child(pid)
			_exit(0);
		pt_wait(pid);
	}
}

static pid_t exit_on(int cpu)
{
	pid_t pid;

	pt_in_child(pid)
		pt_pin(cpu);
	pt_reap(pid);
	return pid;
}

static void take_read(void)
{
	u64 v[3];	/* pid and tid, value, id */
	u32 ids[2];

	pt_need(rec.h.size == sizeof(rec.h) + sizeof(v), "size %u", rec.h.size);
	memcpy(v, rec.body, sizeof(v));
	memcpy(ids, rec.body, sizeof(ids));
	pt_need(ids[0] == ids[1] && ids[1] < TIDS, "pid %u, tid %u", ids[0], ids[1]);
	pt_eq(v[1], 0);
	pt_check(v[2] > tellers[ids[1]].last, "event %llu of task %u after %llu",
		 (unsigned long long)v[2], ids[1], (unsigned long long)tellers[ids[1]].last);
	tellers[ids[1]].last = v[2];
	tellers[ids[1]].nr++;
}

/* Return: how many READ records there are, and were. */
static u64 take_reads(struct pt_ring *ring)
{
	struct pt_rec_lost lost;
	u64 nr = 0;

	while (pt_next(ring, &rec) && !pt_failures()) {
		if (rec.h.type == PERF_RECORD_LOST) {
			memcpy(&lost, rec.body, sizeof(lost));
			nr += lost.lost;
			continue;
		}
		pt_need(rec.h.type == PERF_RECORD_READ, "a record of type %u", rec.h.type);
		take_read();
		nr++;
	}
	pt_consume(ring);
	return nr;
}

/* Tasks exit on two CPUs while that of the buffer, to which they tell their counts, is offline. */
static void exits_of_an_offline_cpu(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	struct crowd crowd[2] = { { 2, NULL }, { 3, NULL } };
	int fd[TALES], i, *arrived;
	struct pt_ring ring;
	pid_t pid[2], last;

	need_cpus(4);
	arrived = mmap(NULL, sizeof(*arrived), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	pt_need(arrived != MAP_FAILED, "mmap: %s", strerror(errno));
	attr.inherit = 1;
	attr.inherit_stat = 1;
	attr.read_format = PERF_FORMAT_ID;
	for (i = 0; i < TALES; i++) {
		fd[i] = pt_open(&attr, 0, 1, -1, 0);
		if (i)
			pt_eq(pt_ioctl(fd[i], PERF_EVENT_IOC_SET_OUTPUT, fd[0]), 0);
		else
			pt_map(&ring, fd[0], 128);	/* room for all */
	}
	pt_eq(set_online(1, 0), 0);
	for (i = 0; i < 2; i++) {
		crowd[i].arrived = arrived;
		pid[i] = pt_fork(exit_often, &crowd[i]);
	}
	for (i = 0; i < 2; i++)
		pt_reap(pid[i]);
	/* Nobody is in its way, and what was lost before is told first. */
	last = exit_on(2);
	pt_eq(take_reads(&ring), (2 * (EXITS + 1) + 1) * TALES);
	pt_eq(tellers[last].nr, TALES);
	/* The CPU is back, and the records come from there. */
	pt_eq(set_online(1, 1), 0);
	last = exit_on(3);
	pt_eq(take_reads(&ring), TALES);
	pt_eq(tellers[last].nr, TALES);
}

struct caller {
	pthread_t thread;
	bool stop;
	u64 calls;
};

/* Calls on CPU 0 until it is told to stop. */
static void *call_on_0(void *arg)
{
	struct caller *c = arg;

	pt_pin(0);
	while (!__atomic_load_n(&c->stop, __ATOMIC_ACQUIRE)) {
		syscall(SYS_getppid);
		__atomic_store_n(&c->calls, c->calls + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* Two events and their buffer: that of the calls stays on CPU 0, the other one moves. */
struct shared {
	struct perf_event_attr attr;	/* what both sample */
	struct pt_ring ring;
	u64 calls_id, moves_id;
	u64 calls_seen, moves_seen;
	u32 cpu;			/* where the one is that moves */
};

static void take_samples(struct shared *shared)
{
	static struct pt_sample s;

	while (pt_next(&shared->ring, &rec) && !pt_failures()) {
		if (rec.h.type == PERF_RECORD_LOST)
			continue;
		pt_need(rec.h.type == PERF_RECORD_SAMPLE, "a record of type %u", rec.h.type);
		pt_parse_sample(&shared->attr, &rec, &s);
		pt_eq(s.period, 1);
		if (s.identifier == shared->moves_id) {
			shared->moves_seen++;
			pt_eq(s.cpu, shared->cpu);
		} else {
			shared->calls_seen++;
			pt_eq(s.identifier, shared->calls_id);
			pt_eq(s.cpu, 0);
		}
	}
	pt_consume(&shared->ring);
}

static void seen_or_lost(int fd, u64 count, u64 seen)
{
	struct pt_read v;

	pt_read(fd, PERF_FORMAT_LOST, 1, &v);
	pt_eq(v.v[0].value, count);
	pt_eq(seen + v.v[0].lost, count);
	pt_check(seen, "none of %llu came", (unsigned long long)count);
}

static int open_shared(struct shared *shared, u32 type, u64 config)
{
	struct perf_event_attr attr = shared->attr;

	attr.type = type;
	attr.config = config;
	return pt_open(&attr, -1, 0, -1, 0);
}

#define MOVES	40
#define HITS	50	/* after each */

/* An event moves away from another one that writes to the same buffer, and goes on */
static void migrate_from_a_shared_buffer(void)
{
	static struct shared shared;
	struct caller caller = { };
	int calls, moves, i;

	need_cpus(2);
	pt_load_module(MODULE, NULL);
	pt_sysctl_set("perf_event_max_sample_rate", 10000000);
	pt_sysctl_set("perf_cpu_time_max_percent", 0);
	shared.attr.size = sizeof(shared.attr);
	shared.attr.sample_period = 1;
	shared.attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	shared.attr.read_format = PERF_FORMAT_LOST;
	calls = open_shared(&shared, PERF_TYPE_TRACEPOINT,
			    pt_tracepoint_id("syscalls", "sys_enter_getppid"));
	moves = open_shared(&shared, (u32)pt_pmu_type(MODULE), 0);
	pt_map(&shared.ring, calls, 256);
	pt_eq(pt_ioctl(moves, PERF_EVENT_IOC_SET_OUTPUT, calls), 0);
	shared.calls_id = pt_id(calls);
	shared.moves_id = pt_id(moves);
	pt_need(!pthread_create(&caller.thread, NULL, call_on_0, &caller), "thread");
	for (i = 0; i < MOVES && !pt_failures(); i++) {
		pt_eq(pt_module_set(MODULE, "migrate", shared.cpu ? 1000 : 1), 0);
		shared.cpu = !shared.cpu;
		hit_on((int)shared.cpu, HITS);
		hit_on(!shared.cpu, HITS);	/* nobody there counts them */
		take_samples(&shared);
	}
	__atomic_store_n(&caller.stop, true, __ATOMIC_RELEASE);
	pthread_join(caller.thread, NULL);
	take_samples(&shared);
	seen_or_lost(moves, MOVES * HITS, shared.moves_seen);
	seen_or_lost(calls, caller.calls, shared.calls_seen);
}

static const struct pt_case cases[] = {
	{ "event_leaves_with_its_cpu", event_leaves_with_its_cpu },
	{ "group_falls_apart", group_falls_apart },
	{ "open_while_offline", open_while_offline },
	{ "refresh_then_offline", refresh_then_offline },
	{ "kernel_counter", kernel_counter },
	{ "kernel_counter_while_offline", kernel_counter_while_offline },
	{ "cgroup_of_a_cpu", cgroup_of_a_cpu },
	{ "migrate", migrate },
	{ "migrate_states", migrate_states },
	{ "migrate_from_a_shared_buffer", migrate_from_a_shared_buffer },
	{ "exits_of_an_offline_cpu", exits_of_an_offline_cpu },
	{ "group_of_a_cgroup", group_of_a_cgroup },
	{ "mux_survives", mux_survives },
	{ "scope_core", scope_core },
	{ "scope_system", scope_system },
};

PT_MAIN(cases)
