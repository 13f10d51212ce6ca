// SPDX-License-Identifier: GPL-2.0
/* What is done to events themselves. */
#include "stress.h"
#include <sys/prctl.h>

static u64 tracepoint;

static void choose_source(struct worker *w, struct perf_event_attr *attr)
{
	static const u8 software[] = {
		PERF_COUNT_SW_CPU_CLOCK, PERF_COUNT_SW_TASK_CLOCK, PERF_COUNT_SW_PAGE_FAULTS,
		PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_COUNT_SW_CPU_MIGRATIONS, PERF_COUNT_SW_DUMMY,
		PERF_COUNT_SW_PAGE_FAULTS_MIN, PERF_COUNT_SW_CGROUP_SWITCHES,
	};

	int type;

	if (!tracepoint) {
		char path[128];

		snprintf(path, sizeof(path), "%s/events/sched/sched_switch/id", pt_tracefs());
		tracepoint = pt_read_number(path, 0);
	}
	switch (below(w, 8)) {
	case 0:
		attr->type = PERF_TYPE_HARDWARE;
		attr->config = below(w, 2);
		break;
	case 1:
		attr->type = PERF_TYPE_TRACEPOINT;
		attr->config = tracepoint;
		break;
	case 2:
		/* Resources and own cost, where there are any. */
		type = pt_pmu_type(below(w, 3) ? "virtual" : "perf_cost");
		attr->type = type < 0 ? PERF_TYPE_HARDWARE : (u32)type;
		attr->config = below(w, 12);
		break;
	default:
		attr->type = PERF_TYPE_SOFTWARE;
		attr->config = software[below(w, PT_ARRAY_SIZE(software))];
	}
}

struct perf_event_attr choose(struct worker *w)
{
	struct perf_event_attr attr = pt_attr(0, 0);
	u64 r = rnd(w);

	choose_source(w, &attr);
	attr.disabled = r & 1;
	attr.inherit = !(r & 6);
	attr.pinned = !(r & 0x38);
	attr.exclusive = !(r & 0x1c0);
	attr.enable_on_exec = !(r & 0xe00);
	attr.remove_on_exec = !attr.enable_on_exec && !(r & 0x7000);
	if (!(r & 0x18000)) {
		attr.comm = 1;
		attr.task = 1;
		attr.mmap = 1;
		attr.mmap2 = 1;
	}
	attr.context_switch = !(r & 0xe0000);
	attr.sample_id_all = !(r & 0x100000);
	attr.read_format = (r >> 21) & 0x1f;
	if (attr.inherit)
		attr.read_format &= ~PERF_FORMAT_GROUP;
	if (r & (1 << 26)) {
		attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				   ((r >> 27) & 1 ? PERF_SAMPLE_CALLCHAIN : 0) |
				   ((r >> 28) & 1 ? PERF_SAMPLE_READ : 0) |
				   ((r >> 29) & 1 ? PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD : 0);
		/* Half of those that may have masks, if they sample. */
		if (attr.sample_type & PERF_SAMPLE_READ && !attr.inherit && (r >> 30) & 1)
			attr.read_format |= PERF_FORMAT_GROUP | PERF_FORMAT_ID;
		attr.sample_period = 1 + below(w, 3) * 50;
		if (attr.type == PERF_TYPE_HARDWARE || attr.config <= PERF_COUNT_SW_TASK_CLOCK)
			attr.sample_period = 100000 + below(w, 1000000);
		if (!below(w, 4)) {
			attr.freq = 1;
			attr.sample_freq = 100 + below(w, 2000);
		}
		attr.write_backward = !below(w, 6);
		attr.defer_callchain = !pt_is_stock() && below(w, 2);
	}
	attr.defer_output = !pt_is_stock() && !below(w, 4);
	return attr;
}

struct slot *free_slot(struct worker *w)
{
	unsigned int i;

	for (i = 0; i < NR_FDS; i++)
		if (!w->slot[i].fd)
			return &w->slot[i];
	return NULL;
}

static struct slot *some_slot(struct worker *w)
{
	struct slot *s = &w->slot[below(w, NR_FDS)];

	return s->fd ? s : NULL;
}

static void unmap(struct slot *s)
{
	if (!s->map)
		return;
	note(UNMAP, munmap(s->map, s->length));
	s->map = NULL;
}

static void close_slot(struct worker *w, struct slot *s)
{
	int fd = s->fd;

	/* Both orders: the mapping keeps the event, or the descriptor does. */
	if (rnd(w) & 1)
		unmap(s);
	note(CLOSE, close(fd));
	close_area(s);
	unmap(s);
	s->fd = 0;
	s->session = false;
	s->in_ring = false;
}

static void open_one(struct worker *w)
{
	struct perf_event_attr attr = choose(w);
	struct slot *s = free_slot(w), *leader;
	int fd, cgroup, type, cpu;

	if (!s) {
		close_slot(w, &w->slot[below(w, NR_FDS)]);
		return;
	}
	if (!below(w, 6) && have_sessions()) {
		make_session(w);
		return;
	}
	switch (below(w, 7)) {
	case 0:
		cpu = below(w, 4);
		fd = note(OPEN_CPU, pt_try_open(&attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC));
		break;
	case 1:
		cgroup = some_cgroup(w);
		if (cgroup < 0)
			return;
		attr.inherit = 0;
		fd = note(OPEN_CGROUP, pt_try_open(&attr, cgroup, below(w, 4), -1,
						   PERF_FLAG_PID_CGROUP));
		close(cgroup);
		break;
	case 2:
		leader = some_slot(w);
		if (!leader)
			return;
		attr.pinned = 0;
		attr.exclusive = 0;
		fd = note(OPEN_SIBLING, pt_try_open(&attr, 0, -1, leader->fd,
						    below(w, 3) ? 0 : PERF_FLAG_FD_OUTPUT));
		break;
	case 3:
		type = pt_pmu_type("test_count");
		if (type < 0)
			return;
		attr.type = type;
		attr.config = below(w, 4);
		fd = note(OPEN_TEST_PMU, pt_try_open(&attr, below(w, 2) ? somebody(w) : 0, -1, -1,
						     0));
		break;
	default:
		cpu = below(w, 3) ? -1 : (int)below(w, 4);
		fd = note(OPEN_TASK, pt_try_open(&attr, below(w, 2) ? somebody(w) : 0, cpu, -1, 0));
	}
	if (fd >= 0)
		s->fd = fd;
}

static void map_one(struct worker *w, struct slot *s)
{
	size_t page = pt_page_size(), length = page * (1 + (below(w, 5) ? 1 << below(w, 4) : 0));
	bool writable = rnd(w) & 1;
	void *map;

	if (s->map)
		return;
	map = mmap(NULL, length, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED, s->fd, 0);
	note(MAP, map == MAP_FAILED ? -1 : 0);
	if (map == MAP_FAILED)
		return;
	s->map = map;
	s->length = length;
	s->writable = writable;
}

static void control(struct worker *w, struct slot *s)
{
	unsigned long group = rnd(w) & 1 ? PERF_IOC_FLAG_GROUP : 0;
	u64 period = 1 + below(w, 100000);
	struct slot *other;

	switch (below(w, 8)) {
	case 0:
		note(ENABLE, ioctl(s->fd, PERF_EVENT_IOC_ENABLE, group));
		break;
	case 1:
		note(DISABLE, ioctl(s->fd, PERF_EVENT_IOC_DISABLE, group));
		break;
	case 2:
		note(RESET, ioctl(s->fd, PERF_EVENT_IOC_RESET, group));
		break;
	case 3:
		note(PERIOD, ioctl(s->fd, PERF_EVENT_IOC_PERIOD, &period));
		break;
	case 4:
		note(REFRESH, ioctl(s->fd, PERF_EVENT_IOC_REFRESH, 1 + below(w, 5)));
		break;
	case 5:
		other = some_slot(w);
		note(SET_OUTPUT, ioctl(s->fd, PERF_EVENT_IOC_SET_OUTPUT,
				       other && below(w, 3) ? other->fd : -1));
		break;
	case 6:
		note(PAUSE, ioctl(s->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, rnd(w) & 1));
		break;
	default:
		note(PRCTL, prctl(rnd(w) & 1 ? PR_TASK_PERF_EVENTS_ENABLE :
					       PR_TASK_PERF_EVENTS_DISABLE));
	}
}

static void consume(struct slot *s)
{
	struct perf_event_mmap_page *page = s->map;

	if (page && s->writable && s->length > (size_t)pt_page_size())
		__atomic_store_n(&page->data_tail, __atomic_load_n(&page->data_head,
								   __ATOMIC_ACQUIRE),
				 __ATOMIC_RELEASE);
}

/* One random step. */
void act_on_events(struct worker *w)
{
	struct slot *s = some_slot(w);
	u64 values[256];

	if (!s || !below(w, 4)) {
		open_one(w);
		return;
	}
	if (s->session && below(w, 3)) {
		act_on_session(w, s);
		return;
	}
	if (have_extensions() && !below(w, 4)) {
		act_on_extensions(w, s, some_slot(w));
		return;
	}
	switch (below(w, 8)) {
	case 0:
		close_slot(w, s);
		break;
	case 1:
		map_one(w, s);
		break;
	case 2:
		unmap(s);
		break;
	case 3:
		note(READ, read(s->fd, values, sizeof(values)));
		break;
	case 4:
		pt_fault(1 + below(w, 8));
		break;
	default:
		control(w, s);
	}
	if (s->fd && s->map && !below(w, 3) && !(rnd(w) & 1))
		consume(s);
}

void drop_events(struct worker *w)
{
	unsigned int i;

	for (i = 0; i < NR_FDS; i++)
		if (w->slot[i].fd)
			close_slot(w, &w->slot[i]);
}

void role_events(struct worker *w)
{
	while (!over())
		act_on_events(w);
	drop_events(w);
}
