// SPDX-License-Identifier: GPL-2.0
/* hold.c - see hold.h */
#include <poll.h>

#include "hold.h"

bool told(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	pt_need(poll(&p, 1, 0) >= 0, "poll: %s", strerror(errno));
	return p.revents & POLLIN;
}

void wait_told(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	pt_need(poll(&p, 1, 10000) == 1, "not told");
	pt_need(p.revents == POLLIN, "poll: %#x", (unsigned int)p.revents);
}

/* ---- a child ---- */

void held_fork(struct held *h, void (*fn)(struct held *h))
{
	*h = (struct held){ };
	h->shared = mmap(NULL, (size_t)pt_page_size(), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pt_need(h->shared != MAP_FAILED, "mmap: %s", strerror(errno));
	*h->shared = (struct held_shared){ };
	pt_gate_make(h->ready);
	pt_gate_make(h->go);
	pt_in_child(h->pid) {
		pt_settle();
		h->shared->done = 0;
		fn(h);
	}
	pt_gate_wait(h->ready);
	h->tid = h->shared->tid ? h->shared->tid : h->pid;
}

void held_watch(struct held *h, struct perf_event_attr *attr)
{
	h->fd = pt_open(attr, h->tid, -1, -1, 0);
	h->shared->fd = h->fd;
	pt_map(&h->ring, h->fd, 16);
	pt_eq(notify(h->fd, 1, HOLD), 0);
}

void held_ready(struct held *h)
{
	pt_gate_open(h->ready);
	pt_gate_wait(h->go);
}

void held_go(struct held *h)
{
	pt_gate_open(h->go);
}

void held_faults(struct held *h)
{
	u8 *base = pt_fresh_pages(HELD_FAULTS);
	u64 i;

	h->shared->address = pt_addr(base);
	held_ready(h);
	for (i = 0; i < HELD_FAULTS; i++) {
		pt_touch(base + i * (u64)pt_page_size(), 1);
		h->shared->done = i + 1;
	}
}

struct perf_event_attr held_attr(u64 period)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_READ;
	attr.disabled = 1;
	attr.watermark = 1;		/* wakes nobody */
	attr.wakeup_watermark = 1 << 20;
	return attr;
}

void held_start(struct held *h, struct perf_event_attr *attr)
{
	ext_need();
	held_fork(h, held_faults);
	held_watch(h, attr);
	pt_enable(h->fd);
	held_go(h);
}

void held_close(struct held *h)
{
	pt_unmap(&h->ring);
	close(h->fd);
	h->fd = 0;
}

/* ---- what can be seen of it ---- */

char held_state(const struct held *h)
{
	char path[64], text[512], *at;

	snprintf(path, sizeof(path), "/proc/%d/stat", h->tid);
	pt_need(pt_slurp(path, text, sizeof(text)), "%s: %s", path, strerror(errno));
	at = strrchr(text, ')');
	pt_need(at && at[1] == ' ', "%s: %s", path, text);
	return at[2];
}

bool held_waiting(const struct held *h)
{
	char path[64], text[2048];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", h->fd);
	pt_need(pt_slurp(path, text, sizeof(text)), "%s: %s", path, strerror(errno));
	return strstr(text, "\nwaiting:\t1");
}

void held_wait(struct held *h)
{
	wait_told(h->fd);
	/* RESTART may have passed it on its way: it is then in D for a moment, and looks again. */
	while (!held_waiting(h) || held_state(h) == 'R')
		pt_switch_out();
	pt_need(held_state(h) == 'D', "its state is %c", held_state(h));
}

u64 held_ip(const struct held *h)
{
	unsigned long long sp, ip;
	char path[64], text[256];

	snprintf(path, sizeof(path), "/proc/%d/syscall", h->tid);
	pt_need(pt_slurp(path, text, sizeof(text)), "%s: %s", path, strerror(errno));
	pt_need(sscanf(text, "-1 0x%llx 0x%llx", &sp, &ip) == 2, "%s: %s", path, text);
	return ip;
}
