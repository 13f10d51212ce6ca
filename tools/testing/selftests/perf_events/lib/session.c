// SPDX-License-Identifier: GPL-2.0
/* session.c - see session.h */
#include "session.h"

int session_ask(int fd, struct perf_event_attr *attrs, unsigned int nr, u32 flags)
{
	struct perf_ext_create create = {
		.attrs = pt_addr(attrs), .nr = nr, .stride = sizeof(*attrs), .flags = flags,
	};

	return (int)pt_ioctl(fd, PERF_EXT_IOC_CREATE, pt_addr(&create));
}

int session_try_make(struct perf_event_attr *attrs, unsigned int nr, u32 flags)
{
	struct perf_event_attr dummy = pt_attr(PT_SW(DUMMY));
	int fd, ret;

	dummy.exclude_kernel = 1;
	fd = pt_open(&dummy, 0, -1, -1, 0);
	ret = session_ask(fd, attrs, nr, flags);
	close(fd);
	return ret;
}

int session_make(struct perf_event_attr *attrs, unsigned int nr, u32 flags)
{
	int fd = session_try_make(attrs, nr, flags);

	pt_need(fd >= 0, "CREATE: %s", strerror(-fd));
	return fd;
}

long session_try_add(int fd, u16 set, struct perf_event_attr *attrs, unsigned int nr)
{
	struct perf_ext_create create = {
		.attrs = pt_addr(attrs), .nr = nr, .stride = sizeof(*attrs),
		.flags = PERF_EXT_CREATE_ADD, .set = set,
	};

	return pt_ioctl(fd, PERF_EXT_IOC_CREATE, pt_addr(&create));
}

void session_add(int fd, u16 set, struct perf_event_attr *attrs, unsigned int nr)
{
	long ret = session_try_add(fd, set, attrs, nr);

	pt_need(!ret, "ADD: %s", strerror((int)-ret));
}

long session_trigger(int fd, u16 set, u16 member, u32 n)
{
	struct perf_ext_trigger t = { .threshold = n, .set = set, .member = member };

	return pt_ioctl(fd, PERF_EXT_IOC_SET_TRIGGER, pt_addr(&t));
}

int session_of_tasks(struct perf_event_attr attr)
{
	return session_make(&attr, 1, 0);
}

int session_of_cpus(struct perf_event_attr attr)
{
	return session_make(&attr, 1, PERF_EXT_CREATE_CPUS);
}

static long call(int fd, unsigned long request, u32 kind, s64 number, u32 flags)
{
	struct perf_ext_target target = { .kind = kind, .flags = flags, .number = number };

	return pt_ioctl(fd, request, pt_addr(&target));
}

long session_attach(int fd, u32 kind, s64 number, u32 flags)
{
	return call(fd, PERF_EXT_IOC_ATTACH, kind, number, flags);
}

long session_detach(int fd, u32 kind, s64 number)
{
	return call(fd, PERF_EXT_IOC_DETACH, kind, number, 0);
}

/* ---- values by target ---- */

static void decode(const struct perf_ext_values *from, struct session_entry *to)
{
	pt_need(from->nr <= SESSION_MEMBERS, "%u members", from->nr);
	pt_need(from->size == sizeof(*from) + from->nr * sizeof(u64), "an entry of %u bytes",
		from->size);
	pt_eq(from->pad, 0);
	*to = (struct session_entry){
		.set = from->set, .tid = from->tid, .cpu = from->cpu, .state = from->state,
		.nr = from->nr, .cgroup = from->cgroup, .lost = from->lost,
		.enabled = from->enabled, .running = from->running,
	};
	memcpy(to->value, from->value, from->nr * sizeof(u64));
}

unsigned int session_read(int fd, u32 flags, struct session_entry *entries)
{
	u64 buf[SESSION_ENTRIES * 16];
	struct perf_ext_read r = { .buf = pt_addr(buf), .size = sizeof(buf), .flags = flags };
	const struct perf_ext_values *from = (void *)buf;
	long ret = pt_ioctl(fd, PERF_EXT_IOC_READ, pt_addr(&r));
	unsigned int i;

	pt_need(!ret, "READ: %s", strerror((int)-ret));
	pt_need(r.nr <= SESSION_ENTRIES, "%u entries", r.nr);
	for (i = 0; i < r.nr; i++) {
		decode(from, &entries[i]);
		from = (const void *)from + from->size;
	}
	pt_eq((const u8 *)from - (const u8 *)buf, r.size);
	if (flags) {
		pt_need(r.nr && entries[r.nr - 1].state == PERF_EXT_VALUES_GONE,
			"the last entry is not of those that have left");
	} else {
		pt_need(r.nr, "no sums");
		for (i = 0; i < r.nr; i++)
			pt_check(i ? entries[i].set > entries[i - 1].set : !entries[i].set,
				 "sum %u is of set %u", i, entries[i].set);
	}
	return r.nr;
}

/*
 * Of the thread. Only the pointer is in its static memory: with all of this there errno, which is
 * beside it in every program, would have a page of its own, and a fault when it is first written.
 */
static __thread struct session_entry *entries;

static unsigned int read_entries(int fd, u32 flags)
{
	if (!entries)
		entries = calloc(SESSION_ENTRIES, sizeof(*entries));
	pt_need(entries, "no memory");
	return session_read(fd, flags, entries);
}

static bool has_left(const struct session_entry *e)
{
	return e->state == PERF_EXT_VALUES_GONE;
}

static const struct session_entry *find(int fd, int tid, int cpu, u16 set)
{
	const struct session_entry *found = NULL;
	unsigned int i, nr = read_entries(fd, PERF_EXT_READ_TARGETS);

	for (i = 0; i < nr; i++) {
		const struct session_entry *e = &entries[i];

		pt_check(e->state <= PERF_EXT_VALUES_GONE, "entry %u of %u has state %u", i, nr,
			 e->state);
		if (e->tid != tid || e->cpu != cpu || e->set != set || e->cgroup || has_left(e))
			continue;
		pt_check(!found, "task %d, CPU %d, set %u: two entries", tid, cpu, set);
		found = e;
	}
	return found;
}

const struct session_entry *session_task_set(int fd, pid_t tid, u16 set)
{
	return find(fd, tid, -1, set);
}

const struct session_entry *session_cpu_set(int fd, int cpu, u16 set)
{
	return find(fd, -1, cpu, set);
}

const struct session_entry *session_task(int fd, pid_t tid)
{
	return find(fd, tid, -1, 0);
}

const struct session_entry *session_cpu(int fd, int cpu)
{
	return find(fd, -1, cpu, 0);
}

const struct session_entry *session_left_set(int fd, u16 set)
{
	unsigned int i, nr = read_entries(fd, PERF_EXT_READ_TARGETS);

	for (i = 0; i < nr; i++) {
		const struct session_entry *e = &entries[i];

		if (!has_left(e) || e->set != set)
			continue;
		pt_eq(e->tid, -1);
		pt_eq(e->cpu, -1);
		return e;
	}
	return NULL;
}

const struct session_entry *session_left(int fd)
{
	return session_left_set(fd, 0);
}

unsigned int session_targets(int fd)
{
	unsigned int i, nr = read_entries(fd, PERF_EXT_READ_TARGETS), targets = 0;

	for (i = 0; i < nr; i++)
		targets += !entries[i].set && !has_left(&entries[i]);
	return targets;
}

static s64 count_of(const struct session_entry *e)
{
	return e ? (s64)e->value[0] : -1;
}

s64 session_count_of_task(int fd, pid_t tid)
{
	return count_of(session_task(fd, tid));
}

s64 session_count_of_cpu(int fd, int cpu)
{
	return count_of(session_cpu(fd, cpu));
}

s64 session_count_left(int fd)
{
	return count_of(session_left(fd));
}

s64 session_set_of_task(int fd, pid_t tid, u16 set)
{
	return count_of(session_task_set(fd, tid, set));
}

s64 session_set_of_cpu(int fd, int cpu, u16 set)
{
	return count_of(session_cpu_set(fd, cpu, set));
}

s64 session_set_left(int fd, u16 set)
{
	return count_of(session_left_set(fd, set));
}

u64 session_set_sum(int fd, u16 set)
{
	unsigned int i, nr = read_entries(fd, 0);

	for (i = 0; i < nr; i++)
		if (entries[i].set == set)
			return entries[i].value[0];
	pt_need(false, "no set %u", set);
	return 0;
}

/* Of one set; its entry among the sums is number @nth. */
static void set_adds_up(int fd, u16 set, unsigned int nth)
{
	unsigned int i, k, nr = read_entries(fd, PERF_EXT_READ_TARGETS);
	u64 sum[SESSION_MEMBERS] = {};

	for (i = 0; i < nr; i++)
		for (k = 0; entries[i].set == set && k < entries[i].nr; k++)
			sum[k] += entries[i].value[k];
	read_entries(fd, 0);
	for (k = 0; k < entries[nth].nr; k++)
		pt_eq(entries[nth].value[k], sum[k]);
	pt_eq(entries[nth].tid, -1);
	pt_eq(entries[nth].cpu, -1);
	if (!nth && entries[0].nr == 1)
		pt_eq(pt_count(fd), sum[0]);
}

void session_adds_up(int fd)
{
	unsigned int i, nr = read_entries(fd, 0);
	u16 set[SESSION_ENTRIES];

	for (i = 0; i < nr; i++)
		set[i] = entries[i].set;
	for (i = 0; i < nr; i++)
		set_adds_up(fd, set[i], i);
}

u64 session_lost(int fd)
{
	read_entries(fd, 0);
	return entries[0].lost;
}

/* ---- workers ---- */

struct order {
	void (*fn)(u64 arg);	/* NULL: end */
	u64 arg;
};

static void obey(int orders, int done)
{
	struct order o;

	while (read(orders, &o, sizeof(o)) == sizeof(o) && o.fn) {
		o.fn(o.arg);
		if (write(done, "", 1) != 1)
			_exit(1);
	}
}

void worker_start(struct worker *w, int cpu)
{
	int orders[2], done[2];

	pt_need(!pipe(orders) && !pipe(done), "pipe: %s", strerror(errno));
	pt_in_child(w->pid) {
		close(orders[1]);
		close(done[0]);
		if (cpu >= 0)
			pt_pin(cpu);
		pt_settle();
		if (write(done[1], "", 1) != 1)
			_exit(1);
		obey(orders[0], done[1]);
	}
	close(orders[0]);
	close(done[1]);
	w->orders = orders[1];
	w->done = done[0];
	worker_wait(w);
}

void worker_tell(struct worker *w, void (*fn)(u64 arg), u64 arg)
{
	struct order o = { fn, arg };

	pt_need(write(w->orders, &o, sizeof(o)) == sizeof(o), "worker: %s", strerror(errno));
}

void worker_wait(struct worker *w)
{
	char c;

	pt_need(read(w->done, &c, 1) == 1, "the worker has died");
}

void worker_do(struct worker *w, void (*fn)(u64 arg), u64 arg)
{
	worker_tell(w, fn, arg);
	worker_wait(w);
}

void worker_asleep(struct worker *w)
{
	struct pt_peer peer = { .pid = w->pid };

	pt_peer_asleep(&peer);
}

void worker_end(struct worker *w)
{
	worker_tell(w, NULL, 0);
	pt_reap(w->pid);
	close(w->orders);
	close(w->done);
}

/* ---- what is counted ---- */

void session_fault(u64 n)
{
	pt_fault((unsigned int)n);
}

void session_with_each(void (*fn)(const struct session_source *s))
{
	static const struct session_source software = { faults, session_fault };
	static const struct session_source scheduled = { hits, hit };

	ext_need();
	fn(&software);
	load(NULL);
	fn(&scheduled);
}
