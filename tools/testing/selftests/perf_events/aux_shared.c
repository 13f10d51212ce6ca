// SPDX-License-Identifier: GPL-2.0
/*
 * aux_shared.c - AUX areas that others than their tracer write to or map: events whose
 * output goes to another one's buffer, and children that inherit the tracer.
 *
 * needs: smp
 */
#include "lib/aux.h"
#include <signal.h>

/* -------------------------------------------------------------- shared buffers */

/* An event that is no tracer can map the area of its buffer, if there is one. */
static void shared_with_others(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	struct aux x, y;
	int fd;

	aux_open(&x, 2, RW);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)x.fd), 0);
	y = x;
	pt_eq(aux_try_map(&y, fd, RW), 0);
	pt_enable(x.fd);
	aux_set("emit", 100);
	aux_check_bytes(&y, 0, 100);
	aux_unmap(&x);
	pt_unmap(&x.ring);
	close(x.fd);
	/* The tracer is gone, what it wrote is still there. */
	aux_check_bytes(&y, 0, 100);
	pt_eq(aux_counter("frees"), 0);
	aux_unmap(&y);
	aux_check_all_freed();
}

/* It has the buffer as long as it maps the area, though that is mapped by the tracer as well. */
static void unmapped_by_another(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	struct aux x, y;
	int fd;

	aux_open(&x, 2, RW);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)x.fd), 0);
	y = x;
	pt_eq(aux_try_map(&y, fd, RW), 0);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0), 0);
	aux_unmap(&y);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0), -EINVAL);	/* of no buffer */
	pt_enable(x.fd);
	aux_set("emit", 100);
	aux_check_bytes(&x, 0, 100);
}

/* A tracer whose output goes to the area of another one of its PMU. */
static void redirected(void)
{
	struct perf_event_attr attr = aux_attr();
	static struct pt_record rec;
	u64 *body = (u64 *)rec.body;
	struct aux x;
	int fd;

	aux_open(&x, 2, RW);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)x.fd), 0);
	pt_enable(fd);
	aux_set("put", 100);
	/* It is redirected in the middle: the old reader is told what there was. */
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, -1), 0);
	pt_eq(aux_counter("held"), 0);
	pt_need(pt_next(&x.ring, &rec), "no record");
	pt_eq(rec.h.type, PERF_RECORD_AUX);
	pt_eq(body[0], 0);
	pt_eq(body[1], 100);
	aux_set("emit", 100);
	pt_check(!pt_next(&x.ring, &rec), "it still writes there");
	pt_disable(fd);
	/* And back, with an area of its own. */
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)x.fd), 0);
	pt_enable(fd);
	aux_set("emit", 50);
	pt_need(pt_next(&x.ring, &rec), "no record");
	pt_eq(body[0], 100);
	pt_eq(body[1], 50);
	close(fd);
	pt_eq(aux_counter("held"), 0);
}

/* Two tracers of different kinds do not share an area, nor a buffer. */
static void other_kind(void)
{
	struct perf_event_attr attr = aux_attr();
	struct perf_event_attr dummy = pt_attr(PT_SW(DUMMY));
	struct aux x = { 0 };
	int a, b;

	attr.type = (u32)pt_pmu_type("test_aux_b");
	aux_open(&x, 2, RW);
	b = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(pt_ioctl(b, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)x.fd), -EINVAL);
	aux_unmap(&x);
	pt_unmap(&x.ring);
	close(x.fd);

	/* Both to the buffer of a third event: only one of them made the area. */
	x.fd = pt_open(&dummy, 0, -1, -1, 0);
	pt_map(&x.ring, x.fd, AUX_DATA_PAGES);
	attr.type = (u32)pt_pmu_type("test_aux");
	a = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(pt_ioctl(a, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)x.fd), 0);
	pt_eq(pt_ioctl(b, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)x.fd), 0);
	close(x.fd);
	x.fd = a;
	aux_map(&x, 2, RW);
	pt_enable(b);
	pt_disable(b);
	if (pt_is_stock())
		pt_skip("Linux 6.12 gives a tracer the area of another PMU");
	pt_eq(aux_counter("confused"), 0);
	pt_check(aux_counter("failed") > 0, "it began");
	pt_enable(a);
	aux_set("emit", 100);
	aux_check_bytes(&x, 0, 100);
}

/* Inherited events of one CPU write to the area of the event that was opened. */
static void inherited(void)
{
	struct perf_event_attr attr = aux_attr();
	static struct pt_record rec;
	u64 *body = (u64 *)rec.body;
	struct pt_sample s;
	struct aux x;
	size_t size;
	pid_t pid;

	attr.inherit = 1;
	attr.disabled = 0;
	attr.sample_id_all = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_ID;
	memset(&x, 0, sizeof(x));
	pt_pin(0);
	x.fd = pt_open(&attr, 0, 0, -1, 0);
	pt_map(&x.ring, x.fd, AUX_DATA_PAGES);
	aux_map(&x, 2, RW);
	pt_disable(x.fd);
	pt_enable(x.fd);
	pt_in_child(pid) {
		aux_set("emit", 100);
		aux_set("put", 10);
	}
	pt_reap(pid);
	/* What the parent itself traced is nothing. */
	pt_need(pt_next(&x.ring, &rec), "no record of the child");
	pt_eq(rec.h.type, PERF_RECORD_AUX);
	pt_eq(body[0], 0);
	pt_eq(body[1], 100);
	pt_parse_trailer(&attr, &rec, &s, &size);
	pt_eq(s.pid, pid);
	pt_eq(s.id, pt_id(x.fd));
	pt_need(pt_next(&x.ring, &rec), "no second record of the child");
	pt_eq(body[0], 100);
	pt_eq(body[1], 10);
	aux_check_bytes(&x, 0, 110);
}

/* An area has one writer at a time: tasks have no tracer in common. */
static void of_each_task(void)
{
	struct perf_event_attr attr = aux_attr();
	const char *copies;
	int go[2], fd, i;
	pid_t pid[2];

	if (pt_is_stock())
		pt_skip("Linux 6.12 does not tell of copies");
	attr.inherit = 1;
	fd = pt_open(&attr, 0, 0, -1, 0);
	pt_gate_make(go);
	for (i = 0; i < 2; i++) {
		pt_in_child(pid[i])
			pt_gate_wait(go);
	}
	copies = pt_fdinfo(fd, "copies");
	pt_need(copies, "fdinfo does not tell of copies");
	pt_eq(atoi(copies), 2);
	for (i = 0; i < 2; i++)
		pt_gate_open(go);
	for (i = 0; i < 2; i++)
		pt_reap(pid[i]);
}

/* A child is writing on another CPU when the area goes. */
static void unmap_under_a_child(void)
{
	struct perf_event_attr attr = aux_attr();
	int ready[2];
	struct aux x;
	pid_t pid;

	if (pt_online_cpus() < 2)
		pt_skip("one CPU only");
	attr.inherit = 1;
	attr.disabled = 0;
	memset(&x, 0, sizeof(x));
	x.fd = pt_open(&attr, 0, 0, -1, 0);
	pt_map(&x.ring, x.fd, AUX_DATA_PAGES);
	aux_map(&x, 2, RW);
	pt_gate_make(ready);
	pt_pin(1);
	pt_in_child(pid) {
		pt_pin(0);
		pt_gate_open(ready);
		for (;;)
			pt_spin(1000);
	}
	pt_gate_wait(ready);
	while (aux_counter("held") != 1)
		sched_yield();
	aux_unmap(&x);
	aux_check_all_freed();
	pt_kill(pid);
	aux_check_all_freed();
}

static const struct pt_case cases[] = {
	{ "shared_with_others", shared_with_others },
	{ "unmapped_by_another", unmapped_by_another },
	{ "redirected", redirected },
	{ "other_kind", other_kind },
	{ "inherited", inherited },
	{ "of_each_task", of_each_task },
	{ "unmap_under_a_child", unmap_under_a_child },
};

PT_MAIN(cases)
