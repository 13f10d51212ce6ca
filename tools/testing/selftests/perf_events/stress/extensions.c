// SPDX-License-Identifier: GPL-2.0
/* Periods, masks, stops, sets and formats, asked of whatever event comes along. */
#include "stress.h"
#include "../../../../../include/uapi/linux/perf_event_ext.h"

static bool file_has(const char *path, const char *word)
{
	char text[512];

	return pt_slurp(path, text, sizeof(text)) && strstr(text, word);
}

bool have_extensions(void)
{
	static int have = -1;

	if (have < 0)
		have = pt_path_exists("/sys/bus/event_source/extensions");
	return have;
}

bool have_formats(void)
{
	static int have = -1;

	if (have < 0)
		have = file_has("/sys/bus/event_source/formats", " hist ");
	return have;
}

static void periods(struct worker *w, struct slot *s)
{
	struct perf_ext_periods p = {
		.short_period = below(w, 4) ? 2 + below(w, 200000) : 0,
		.long_period = below(w, 2) ? 2 + below(w, 400000) : 0,
		.long_every = below(w, 5), .mask = 0xffffu >> below(w, 16),
	};

	if (below(w, 4))
		note(EXT_PERIODS, ioctl(s->fd, PERF_EXT_IOC_PERIODS, &p));
	else
		ioctl(s->fd, PERF_EXT_IOC_GET_PERIODS, &p);
}

static void masks(struct worker *w, struct slot *s)
{
	struct perf_ext_masks m = { .record = below(w, 8), .reset = below(w, 8) };

	note(EXT_MASKS, ioctl(s->fd, PERF_EXT_IOC_MASKS, &m));
}

/* Nobody is held: two workers that hold each other would wait for ever. */
static void notify(struct worker *w, struct slot *s)
{
	struct perf_ext_notify n = {
		.every = below(w, 10), .flags = below(w, 2) ? PERF_EXT_NOTIFY_STOP : 0,
	};
	struct perf_ext_restart r = {};

	if (below(w, 2))
		note(EXT_NOTIFY, ioctl(s->fd, PERF_EXT_IOC_NOTIFY, &n));
	else
		note(EXT_RESTART, ioctl(s->fd, PERF_EXT_IOC_RESTART, &r));
}

static void join(struct worker *w, struct slot *s, struct slot *other)
{
	struct perf_ext_set set = {
		.ring = other && other->in_ring ? other->fd : -1, .number = (u16)below(w, 4),
	};

	if (!note(SET_JOIN, ioctl(s->fd, PERF_EXT_IOC_SET_JOIN, &set)))
		s->in_ring = true;
}

static void sets(struct worker *w, struct slot *s, struct slot *other)
{
	struct perf_ext_trigger trigger = { .threshold = below(w, 4) };
	struct perf_ext_set_select select = { .number = (u16)below(w, 4) };
	struct perf_ext_set_info info[64];
	struct perf_ext_sets all = {
		.infos = pt_addr(info), .nr = 1 + below(w, 64), .stride = sizeof(info[0]),
	};

	if (!s->in_ring && below(w, 4)) {
		join(w, s, other);
		return;
	}
	switch (below(w, 4)) {
	case 0:
		note(SET_LEAVE, ioctl(s->fd, PERF_EXT_IOC_SET_LEAVE, 0));
		s->in_ring = false;
		break;
	case 1:
		note(SET_SELECT, ioctl(s->fd, PERF_EXT_IOC_SET_SELECT, &select));
		break;
	case 2:
		note(SET_INFO, ioctl(s->fd, PERF_EXT_IOC_SET_INFO, &all));
		break;
	default:
		note(SET_TRIGGER, ioctl(s->fd, PERF_EXT_IOC_SET_TRIGGER, &trigger));
	}
}

void close_area(struct slot *s)
{
	if (s->area)
		close(s->area);
	s->area = 0;
}

/* A table of processes or addresses, small enough to be full soon. */
static void make_area(struct worker *w, struct slot *s)
{
	const struct perf_ext_hist_arg hist = {
		.key = { below(w, 2) ? PERF_EXT_KEY_IP : PERF_EXT_KEY_TID },
		.buckets = 8u << below(w, 6),
	};
	const struct perf_ext_pfm_arg pfm = {
		.bytes = 4096u << below(w, 4), .flags = below(w, 3) ? 0 : PERF_EXT_PFM_STOP,
	};
	struct perf_ext_format f = {
		.uuid = PERF_EXT_FORMAT_HIST, .arg = pt_addr(&hist), .arg_size = sizeof(hist),
		.flags = PERF_EXT_FORMAT_CLOEXEC, .share = -1,
	};

	if (below(w, 2))
		f = (struct perf_ext_format){
			.uuid = PERF_EXT_FORMAT_PFM, .arg = pt_addr(&pfm), .arg_size = sizeof(pfm),
			.flags = PERF_EXT_FORMAT_CLOEXEC, .share = -1,
		};
	s->area = (int)note(FORMAT_MAKE, ioctl(s->fd, PERF_EXT_IOC_FORMAT, &f));
	if (s->area < 0)
		s->area = 0;
}

/* Who has an area shares it with another event, flips it, or looks at it. */
static void use_area(struct worker *w, struct slot *s, struct slot *other)
{
	struct perf_ext_format share = {
		.uuid = PERF_EXT_FORMAT_HIST, .share = s->area,
	};
	struct perf_ext_format none = { .share = -1 };
	void *map;

	switch (below(w, 6)) {
	case 0:
		if (other)
			ioctl(other->fd, PERF_EXT_IOC_FORMAT, &share);
		break;
	case 1:
		note(FORMAT_LEAVE, ioctl(s->fd, PERF_EXT_IOC_FORMAT, &none));
		break;
	case 2:
		close_area(s);
		break;
	case 3:
		map = mmap(NULL, (size_t)pt_page_size(), PROT_READ, MAP_SHARED, s->area, 0);
		if (map == MAP_FAILED)
			break;
		if (rnd(w) & 1)
			close_area(s);
		munmap(map, (size_t)pt_page_size());
		break;
	default:
		note(FORMAT_FLIP, ioctl(s->area, PERF_EXT_AREA_IOC_FLIP, 0));
	}
}

/* One random step. */
void act_on_extensions(struct worker *w, struct slot *s, struct slot *other)
{
	if (s->in_ring && below(w, 2)) {
		sets(w, s, other);
		return;
	}
	switch (below(w, 6)) {
	case 0:
		periods(w, s);
		break;
	case 1:
		masks(w, s);
		break;
	case 2:
		notify(w, s);
		break;
	case 3:
		sets(w, s, other);
		break;
	default:
		if (s->area)
			use_area(w, s, other);
		else
			make_area(w, s);
	}
}
