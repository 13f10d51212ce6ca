// SPDX-License-Identifier: GPL-2.0
/* Sessions, which are made, attached, read and taken off by whoever comes. */
#include "stress.h"
#include "../../../../../include/uapi/linux/perf_event_ext.h"

#define NR_MEMBERS	3

bool have_sessions(void)
{
	static int have = -1;
	char text[256];

	if (have < 0)
		have = pt_slurp("/sys/bus/event_source/extensions", text, sizeof(text)) &&
		       strstr(text, "sessions");
	return have;
}

/* What targets get of it takes turns, as long as the overflows of some member end them. */
static void add_set(struct worker *w, int fd, struct perf_event_attr *attr, unsigned int nr)
{
	struct perf_ext_create add = {
		.attrs = pt_addr(attr), .nr = nr, .stride = sizeof(attr[0]),
		.flags = PERF_EXT_CREATE_ADD, .set = (u16)(1 + below(w, 3)),
	};
	struct perf_ext_trigger trigger = { .threshold = 1 + below(w, 3) };

	if (note(SESSION_MAKE, ioctl(fd, PERF_EXT_IOC_CREATE, &add)))
		return;
	ioctl(fd, PERF_EXT_IOC_SET_TRIGGER, &trigger);
	trigger.set = add.set;
	trigger.member = (u16)below(w, nr);
	ioctl(fd, PERF_EXT_IOC_SET_TRIGGER, &trigger);
}

void make_session(struct worker *w)
{
	struct perf_event_attr attr[NR_MEMBERS], dummy = pt_attr(PT_SW(DUMMY));
	struct perf_ext_create create = {
		.attrs = pt_addr(attr), .nr = 1 + below(w, NR_MEMBERS), .stride = sizeof(attr[0]),
		.flags = PERF_EXT_CREATE_CLOEXEC,
	};
	struct slot *s = free_slot(w);
	unsigned int i;
	int fd;

	if (below(w, 2))
		create.flags |= PERF_EXT_CREATE_CPUS;
	for (i = 0; i < create.nr; i++) {
		attr[i] = choose(w);
		attr[i].inherit = 0;
		attr[i].pinned = 0;
		attr[i].exclusive = 0;
		if (attr[i].type == PERF_TYPE_TRACEPOINT) {
			int type = pt_pmu_type("test_count");

			attr[i].type = type < 0 ? PERF_TYPE_SOFTWARE : (u32)type;
			attr[i].config = 0;
		}
	}
	fd = pt_try_open(&dummy, 0, -1, -1, 0);
	if (fd < 0)
		return;
	s->fd = (int)note(SESSION_MAKE, ioctl(fd, PERF_EXT_IOC_CREATE, &create));
	close(fd);
	if (s->fd < 0) {
		s->fd = 0;
		return;
	}
	s->session = true;
	s->of_cpus = create.flags & PERF_EXT_CREATE_CPUS;
	for (i = below(w, 3); i; i--)
		add_set(w, s->fd, attr, create.nr);
}

static int pidfd_of_somebody(struct worker *w)
{
	return (int)syscall(SYS_pidfd_open, somebody(w), 0);
}

/* A target of the kind that the session has; some are no good. Return: what to close, or -1. */
static int choose_target(struct worker *w, struct slot *s, struct perf_ext_target *t)
{
	int fd = -1;

	*t = (struct perf_ext_target){ .flags = 0 };
	if (s->of_cpus) {
		switch (below(w, 3)) {
		case 0:
			t->kind = PERF_EXT_TARGET_CPU;
			t->number = below(w, 4);
			t->flags = below(w, 2) ? PERF_EXT_TARGET_RESUME : 0;
			break;
		case 1:
			t->kind = PERF_EXT_TARGET_ALL;
			t->flags = below(w, 2) ? PERF_EXT_TARGET_RETURN : 0;
			break;
		default:
			t->kind = PERF_EXT_TARGET_CGROUP;
			t->flags = below(w, 2) ? PERF_EXT_TARGET_RETURN : 0;
			fd = some_cgroup(w);
			t->number = fd;
		}
		return fd;
	}
	t->flags = (u32)(rnd(w) >> 20) & (PERF_EXT_TARGET_INHERIT | PERF_EXT_TARGET_RESUME);
	if (!below(w, 3)) {
		t->kind = PERF_EXT_TARGET_PIDFD;
		fd = pidfd_of_somebody(w);
		t->number = fd;
	} else {
		t->number = below(w, 3) ? somebody(w) : 0;
	}
	return fd;
}

static void read_session(struct worker *w, struct slot *s)
{
	static u64 buf[2048];
	struct perf_ext_read r = {
		.buf = pt_addr(buf), .size = sizeof(buf) >> below(w, 8), .flags = below(w, 3),
	};

	note(SESSION_READ, ioctl(s->fd, PERF_EXT_IOC_READ, &r));
}

/* One random step. */
void act_on_session(struct worker *w, struct slot *s)
{
	struct perf_ext_target t;
	int fd;

	if (!below(w, 4)) {
		read_session(w, s);
		return;
	}
	if (!below(w, 8)) {
		struct perf_ext_set_select select = { .number = (u16)below(w, 4) };

		ioctl(s->fd, PERF_EXT_IOC_SET_SELECT, &select);
		return;
	}
	fd = choose_target(w, s, &t);
	if (below(w, 3)) {
		note(SESSION_ATTACH, ioctl(s->fd, PERF_EXT_IOC_ATTACH, &t));
	} else {
		t.flags = 0;
		if (!below(w, 3))
			t = (struct perf_ext_target){ .kind = PERF_EXT_TARGET_ALL };
		note(SESSION_DETACH, ioctl(s->fd, PERF_EXT_IOC_DETACH, &t));
	}
	if (fd >= 0)
		close(fd);
}
