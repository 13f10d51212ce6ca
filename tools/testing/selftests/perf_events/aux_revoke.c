// SPDX-License-Identifier: GPL-2.0
/*
 * aux_revoke.c - a tracer's PMU leaves while AUX areas are mapped: what was
 * traced can be read, mappings stay until they are unmapped, the driver hears
 * of each thing once, and nobody else gets to write to the areas.
 */
#include "lib/aux.h"
#include <poll.h>

/* Stock must not be asked to unregister a PMU that has events. */
static void need_revoking(void)
{
	aux_attr();
	if (pt_is_stock())
		pt_skip("Linux 6.12's PMUs may not leave their events behind");
	pt_need(aux_counter("revokes"), "test_aux does not know that it may");
}

static void unregister(void)
{
	aux_set("registered", 0);
	pt_eq(aux_counter("nr_events"), 0);
	pt_eq(aux_counter("held"), 0);
}

static void is_revoked(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	pt_eq(poll(&p, 1, 0), 1);
	pt_check(p.revents & POLLERR, "revents %#x", p.revents);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), -ENODEV);
	pt_eq(pt_count(fd), 0);
}

/* One record of what was traced, from @pos on. */
static void check_record(struct aux *x, u64 pos, u64 len)
{
	static struct pt_record rec;
	u64 *body = (u64 *)rec.body;

	pt_need(pt_next_of(&x->ring, &rec, PERF_RECORD_AUX), "no AUX record");
	pt_eq(body[0], pos);
	pt_eq(body[1], len);
	aux_check_bytes(x, pos, len);
}

/* In the middle of a trace. The order in which the rest is given back: area, buffer, file. */
static void while_writing(void)
{
	struct aux x;

	need_revoking();
	aux_open(&x, 4, RW);
	pt_enable(x.fd);
	aux_set("put", 5000);
	pt_eq(aux_counter("held"), 1);
	unregister();
	check_record(&x, 0, 5000);
	is_revoked(x.fd);
	aux_set("emit", 100);
	pt_eq(aux_head(&x), 5000);
	pt_eq(aux_counter("frees"), 0);
	aux_unmap(&x);
	pt_eq(aux_counter("frees"), 1);
	/* No second area. */
	aux_place(&x.ring, x.offset, x.size);
	pt_eq(aux_try_map(&x, x.fd, RW), -ENODEV);
	pt_unmap(&x.ring);
	pt_eq(pt_unload_module("test_aux"), -EAGAIN);
	close(x.fd);
	pt_eq(pt_unload_module("test_aux"), 0);
}

/* The other order: the file first. */
static void file_goes_first(void)
{
	struct aux x;

	need_revoking();
	aux_open(&x, 2, PROT_READ);
	pt_enable(x.fd);
	aux_set("emit", 300);
	unregister();
	close(x.fd);
	pt_unmap(&x.ring);
	aux_check_bytes(&x, 0, 300);
	pt_eq(pt_unload_module("test_aux"), -EAGAIN);
	pt_eq(aux_counter("frees"), 0);
	aux_unmap(&x);
	pt_eq(aux_counter("frees"), 1);
	pt_eq(pt_unload_module("test_aux"), 0);
}

/* It is told of mappings as long as it is there, of none that end later, and not of new ones. */
static void mappings_it_hears_of(void)
{
	struct aux x, y;

	need_revoking();
	aux_open(&x, 2, RW);
	y = x;
	pt_eq(aux_counter("mapped"), 2);
	pt_eq(aux_try_map(&y, x.fd, RW), 0);
	pt_eq(aux_counter("mapped"), 3);
	aux_unmap(&y);
	pt_eq(aux_counter("mapped"), 2);
	unregister();
	aux_unmap(&x);
	pt_unmap(&x.ring);
	pt_eq(aux_counter("mapped"), 2);
}

/* An area that outlives its PMU is not for the next one, though that is at the same address. */
static void next_of_the_same_address(void)
{
	struct perf_event_attr attr, dummy = pt_attr(PT_SW(DUMMY));
	struct aux x;
	u64 head;
	int fd, buffer;

	need_revoking();
	attr = aux_attr();
	memset(&x, 0, sizeof(x));
	buffer = pt_open(&dummy, 0, -1, -1, 0);
	pt_map(&x.ring, buffer, AUX_DATA_PAGES);
	x.fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(pt_ioctl(x.fd, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)buffer), 0);
	aux_map(&x, 2, RW);
	pt_enable(x.fd);
	aux_set("emit", 100);
	head = aux_head(&x);
	pt_eq(head, 100);
	unregister();

	aux_set("registered", 1);
	attr = aux_attr();
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)buffer), 0);
	pt_enable(fd);
	aux_set("emit", 100);
	pt_eq(aux_head(&x), head);
	pt_eq(aux_counter("held"), 0);
	/* Each time that this task comes in again it is tried anew. */
	pt_check(aux_counter("failed") >= 1, "it has begun");
	/* Once it is unmapped, the next one can have an area there. */
	aux_unmap(&x);
	close(x.fd);
	x.fd = fd;
	aux_map(&x, 2, RW);
	pt_disable(fd);
	pt_enable(fd);
	aux_set("emit", 50);
	pt_eq(aux_head(&x), head + 50);
	aux_check_bytes(&x, head, 50);
}

/* Members of its group lose what they had of it. */
static void group_of_tracers(void)
{
	struct perf_event_attr sw = pt_attr(PT_SW(PAGE_FAULTS));
	int source, faults;
	struct aux x;

	need_revoking();
	aux_open(&x, 2, RW);
	source = aux_open_source(&x);
	faults = pt_open(&sw, 0, -1, x.fd, 0);
	pt_enable(x.fd);
	aux_set("emit", 100);
	unregister();
	is_revoked(x.fd);
	aux_set("hwid", 7);
	pt_reset(faults);
	pt_fault(5);
	pt_eq(pt_count(faults), 5);
	check_record(&x, 0, 100);
	close(source);
	aux_unmap(&x);
}

struct child {
	int ready[2], go[2];
};

static void trace_in_child(void *arg)
{
	struct child *c = arg;

	aux_set("put", 70);
	pt_gate_open(c->ready);
	pt_gate_wait(c->go);
}

/* An inherited tracer: its PMU leaves, then its task exits, then its parent is closed. */
static void inherited(void)
{
	struct perf_event_attr attr;
	struct child c;
	struct aux x;
	pid_t pid;

	need_revoking();
	attr = aux_attr();
	attr.inherit = 1;
	attr.disabled = 0;
	memset(&x, 0, sizeof(x));
	pt_gate_make(c.ready);
	pt_gate_make(c.go);
	x.fd = pt_open(&attr, 0, 0, -1, 0);
	pt_map(&x.ring, x.fd, AUX_DATA_PAGES);
	aux_map(&x, 2, RW);
	pid = pt_fork(trace_in_child, &c);
	pt_gate_wait(c.ready);
	pt_eq(aux_counter("nr_events"), 2);
	unregister();
	check_record(&x, 0, 70);
	pt_gate_open(c.go);
	pt_reap(pid);
	is_revoked(x.fd);
	aux_unmap(&x);
	pt_eq(aux_counter("frees"), 1);
}

static const struct pt_case cases[] = {
	{ "while_writing", while_writing },
	{ "file_goes_first", file_goes_first },
	{ "mappings_it_hears_of", mappings_it_hears_of },
	{ "next_of_the_same_address", next_of_the_same_address },
	{ "group_of_tracers", group_of_tracers },
	{ "inherited", inherited },
};

PT_MAIN(cases)
