// SPDX-License-Identifier: GPL-2.0
/*
 * PMUs that make AUX data on command.
 *
 *   test_aux, test_aux_b	tracers. They write nothing unless a parameter of the module is
 *				written; then they do it on the CPU of the writer.
 *   test_aux_src		events that may write to the area of test_aux (attr.aux_output)
 *
 * The byte at position pos, counted since aux_head was 0, is pos % 251.
 *
 * Commands:
 *	put=N		trace N bytes; what does not fit is dropped, and flagged TRUNCATED
 *	interrupt=1	tell what was traced, and go on, as after the interrupt of a tracer
 *	emit=N		both
 *	skip=N		leave a gap
 *	hwid=N		the source event on this CPU is called N in the data
 *	drop=1		tell what was traced, and do not go on: the event stays started without a
 *			handle, and in need of the area, until it is stopped
 * "context" tells how they run: 0 in the task with interrupts off, 1 in an irq_work, 2 in a timer.
 * "flags" goes with the next record. Counters: starts, stops, pauses, resumes, failed (begin),
 * snapshots, setups, frees, early (frees of an area in need), confused (area of the other PMU);
 * result of the last skip; runs and first_run, of pages, in the last area, and unheld, those of its
 * pages that have not one reference each; held, handles. lacks: bytes that a snapshot has less.
 *
 * registered=0 takes test_aux away, and spoils its memory; 1 brings it back, at the same address.
 * nr_events, mapped: of test_aux, made and not destroyed, and mappings that it was told of and
 * not of their end; revokes: it may be taken away while it has events.
 *
 * When loading: caps (PERF_PMU_CAP_*), started (tell perf_event_itrace_started()), no_match,
 * auto_bytes (emit so many bytes every auto_ns from a timer while an event is on).
 */
#include <linux/cpu.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

#define PATTERN		251

static unsigned long caps, auto_bytes, auto_ns = 20000;
static bool started, no_match;
static unsigned int context;
static unsigned long flags, lacks;
module_param(caps, ulong, 0400);
module_param(auto_bytes, ulong, 0600);
module_param(auto_ns, ulong, 0400);
module_param(started, bool, 0400);
module_param(no_match, bool, 0600);
module_param(context, uint, 0600);
module_param(flags, ulong, 0600);
module_param(lacks, ulong, 0600);

static int result, runs, first_run, unheld;
static atomic_t starts, stops, pauses, resumes, failed, snapshots, setups, frees, confused, held;
static atomic_t early;
static atomic_t nr_events, mapped;
module_param(result, int, 0400);
module_param(runs, int, 0400);
module_param(first_run, int, 0400);
module_param(unheld, int, 0400);

static int get_atomic(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%d\n", atomic_read((atomic_t *)kp->arg));
}

static const struct kernel_param_ops counter_ops = { .get = get_atomic };

#define COUNTER(name)	module_param_cb(name, &counter_ops, &name, 0400)
COUNTER(starts);
COUNTER(stops);
COUNTER(pauses);
COUNTER(resumes);
COUNTER(failed);
COUNTER(snapshots);
COUNTER(setups);
COUNTER(frees);
COUNTER(early);
COUNTER(confused);
COUNTER(held);
COUNTER(nr_events);
COUNTER(mapped);

struct area {
	struct pmu	*pmu;
	void		**pages;
	unsigned long	size;
	bool		overwrite;
	atomic_t	users;
};

struct tracer {
	struct perf_output_handle	handle;
	struct perf_event		*event;
	struct perf_event		*source;
	struct area			*needed;	/* until it is stopped */
	unsigned long			pos;
	unsigned long			done;	/* bytes since begin */
	struct hrtimer			timer;
};

static DEFINE_PER_CPU(struct tracer, tracers);

/* What drivers call, but modules cannot. */
static long (*copy_aux)(struct perf_output_handle *aux_handle, struct perf_output_handle *handle,
			unsigned long from, unsigned long to);
static void (*itrace_started)(struct perf_event *event);

static void *find(const char *name)
{
	struct kprobe kp = { .symbol_name = name };
	void *addr = NULL;

	if (!register_kprobe(&kp)) {
		addr = kp.addr;
		unregister_kprobe(&kp);
	}
	return addr;
}

/* --------------------------------------------------------------- the tracer */

static void begin(struct tracer *t, struct perf_event *event)
{
	struct area *a = perf_aux_output_begin(&t->handle, event);

	if (a && a->pmu != event->pmu) {
		atomic_inc(&confused);
		perf_aux_output_end(&t->handle, 0);
		a = NULL;
	}
	if (!a) {
		atomic_inc(&failed);
		event->hw.state |= PERF_HES_STOPPED;
		return;
	}
	atomic_inc(&held);
	if (!t->needed) {
		t->needed = a;
		atomic_inc(&a->users);
	}
	t->pos = t->handle.head;
	t->done = 0;
	event->hw.state = 0;
}

static void end(struct tracer *t)
{
	struct area *a = perf_get_aux(&t->handle);

	if (!a)
		return;
	if (a->overwrite) {
		t->handle.head = t->pos;
		t->done = min(t->done, a->size);
	}
	perf_aux_output_flag(&t->handle, xchg(&flags, 0));
	atomic_dec(&held);
	perf_aux_output_end(&t->handle, t->done);
}

static void put(struct tracer *t, unsigned long n)
{
	struct area *a = perf_get_aux(&t->handle);

	if (!a || t->event->hw.aux_paused)
		return;
	for (; n; n--, t->pos++, t->done++) {
		unsigned long at = t->pos & (a->size - 1);

		if (!a->overwrite && t->done == t->handle.size) {
			perf_aux_output_flag(&t->handle, PERF_AUX_FLAG_TRUNCATED);
			return;
		}
		((u8 *)a->pages[at >> PAGE_SHIFT])[offset_in_page(at)] = t->pos % PATTERN;
	}
}

static void interrupt(struct tracer *t)
{
	struct perf_event *event = t->event;

	if (!perf_get_aux(&t->handle))
		return;
	end(t);
	if (!(t->handle.aux_flags & PERF_AUX_FLAG_TRUNCATED))
		begin(t, event);
	else
		event->hw.state |= PERF_HES_STOPPED;
}

static enum hrtimer_restart auto_emit(struct hrtimer *timer)
{
	struct tracer *t = this_cpu_ptr(&tracers);

	if (!t->event)
		return HRTIMER_NORESTART;
	put(t, auto_bytes);
	interrupt(t);
	hrtimer_forward_now(timer, ns_to_ktime(auto_ns));
	return HRTIMER_RESTART;
}

static void tracer_start(struct perf_event *event, int mode)
{
	struct tracer *t = this_cpu_ptr(&tracers);

	if (mode & PERF_EF_RESUME) {
		atomic_inc(&resumes);
		return;
	}
	atomic_inc(&starts);
	if (perf_get_aux(&t->handle)) {
		event->hw.state = 0;
		return;
	}
	if (started)
		itrace_started(event);
	begin(t, event);
}

static void tracer_stop(struct perf_event *event, int mode)
{
	struct tracer *t = this_cpu_ptr(&tracers);

	if (mode & PERF_EF_PAUSE) {
		atomic_inc(&pauses);
		return;
	}
	atomic_inc(&stops);
	event->hw.state |= PERF_HES_STOPPED;
	if (!(mode & PERF_EF_UPDATE))
		return;
	end(t);
	if (t->needed)
		atomic_dec(&t->needed->users);
	t->needed = NULL;
}

static int tracer_add(struct perf_event *event, int mode)
{
	struct tracer *t = this_cpu_ptr(&tracers);

	if (t->event)
		return -EBUSY;
	event->hw.state = PERF_HES_STOPPED;
	if (mode & PERF_EF_START) {
		tracer_start(event, 0);
		if (event->hw.state & PERF_HES_STOPPED)
			return -EINVAL;
	}
	t->event = event;
	if (auto_bytes)
		hrtimer_start(&t->timer, ns_to_ktime(auto_ns), HRTIMER_MODE_REL_PINNED_HARD);
	return 0;
}

static void tracer_del(struct perf_event *event, int mode)
{
	struct tracer *t = this_cpu_ptr(&tracers);

	tracer_stop(event, PERF_EF_UPDATE);
	t->event = NULL;
	hrtimer_try_to_cancel(&t->timer);
}

static void read_nothing(struct perf_event *event)
{
}

static void *setup_aux(struct perf_event *event, void **pages, int nr_pages, bool overwrite)
{
	struct area *a = kzalloc(sizeof(*a), GFP_KERNEL);
	int i;

	if (!a)
		return NULL;
	a->pmu = event->pmu;
	a->pages = pages;
	a->size = (unsigned long)nr_pages << PAGE_SHIFT;
	a->overwrite = overwrite;
	for (runs = i = 0; i < nr_pages; runs++) {
		struct page *page = virt_to_page(pages[i]);
		int run = PagePrivate(page) ? 1 << page_private(page) : 1;

		if (!runs)
			first_run = run;
		i += run;
	}
	for (unheld = i = 0; i < nr_pages; i++)
		unheld += page_count(virt_to_page(pages[i])) != 1;
	atomic_inc(&setups);
	return a;
}

static void free_aux(void *aux)
{
	struct area *a = aux;

	atomic_inc(&frees);
	if (atomic_read(&a->users)) {
		/* As long as there is somebody. */
		atomic_inc(&early);
		return;
	}
	kfree(a);
}

static long snapshot_aux(struct perf_event *event, struct perf_output_handle *handle,
			 unsigned long size)
{
	struct tracer *t = this_cpu_ptr(&tracers);

	if (WARN_ON_ONCE(!perf_get_aux(&t->handle)))
		return 0;
	atomic_inc(&snapshots);
	return copy_aux(&t->handle, handle, t->pos - size, t->pos - lacks);
}

static struct pmu test_aux, test_aux_b, test_aux_src;

/* As drivers do that look at which CPUs there are. */
static void destroy_tracer(struct perf_event *event)
{
	cpus_read_lock();
	WARN_ON(event->pmu != &test_aux);
	atomic_dec(&nr_events);
	cpus_read_unlock();
}

static int init_tracer(struct perf_event *event)
{
	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	if (event->pmu == &test_aux) {
		atomic_inc(&nr_events);
		event->destroy = destroy_tracer;
	}
	return 0;
}

static void tell_mapped(struct perf_event *event, struct mm_struct *mm)
{
	if (event->pmu == &test_aux)
		atomic_inc(&mapped);
}

static void tell_unmapped(struct perf_event *event, struct mm_struct *mm)
{
	if (event->pmu == &test_aux)
		atomic_dec(&mapped);
}

static const struct pmu tracer_pmu = {
	.module		= THIS_MODULE,
	.task_ctx_nr	= perf_sw_context,
	.event_init	= init_tracer,
	.event_mapped	= tell_mapped,
	.event_unmapped	= tell_unmapped,
	.add		= tracer_add,
	.del		= tracer_del,
	.start		= tracer_start,
	.stop		= tracer_stop,
	.read		= read_nothing,
	.setup_aux	= setup_aux,
	.free_aux	= free_aux,
};

/* --------------------------------------------------------------- the source */

static int source_add(struct perf_event *event, int mode)
{
	this_cpu_write(tracers.source, event);
	return 0;
}

static void source_del(struct perf_event *event, int mode)
{
	this_cpu_write(tracers.source, NULL);
}

static void source_switch(struct perf_event *event, int mode)
{
}

static int source_match(struct perf_event *event)
{
	return !no_match && event->pmu == &test_aux;
}

static struct pmu test_aux_src = {
	.module			= THIS_MODULE,
	.capabilities		= PERF_PMU_CAP_AUX_OUTPUT,
	.task_ctx_nr		= perf_hw_context,
	.event_init		= init_tracer,
	.add			= source_add,
	.del			= source_del,
	.start			= source_switch,
	.stop			= source_switch,
	.read			= read_nothing,
	.aux_output_match	= source_match,
};

/* ----------------------------------------------------------------- commands */

enum { PUT, INTERRUPT, EMIT, SKIP, HWID, DROP };

struct command {
	int			what;
	unsigned long		arg;
	struct irq_work		work;
	struct hrtimer		timer;
	struct completion	done;
};

static void run(struct command *c)
{
	struct tracer *t = this_cpu_ptr(&tracers);

	switch (c->what) {
	case PUT:
		put(t, c->arg);
		break;
	case EMIT:
		put(t, c->arg);
		fallthrough;
	case INTERRUPT:
		interrupt(t);
		break;
	case SKIP:
		if (!perf_get_aux(&t->handle))
			break;
		result = perf_aux_output_skip(&t->handle, c->arg);
		if (!result)
			t->pos = t->handle.head;
		break;
	case HWID:
		if (t->source)
			perf_report_aux_output_id(t->source, c->arg);
		break;
	case DROP:
		end(t);
		break;
	}
	complete(&c->done);
}

static void run_in_irq_work(struct irq_work *work)
{
	run(container_of(work, struct command, work));
}

static enum hrtimer_restart run_in_timer(struct hrtimer *timer)
{
	run(container_of(timer, struct command, timer));
	return HRTIMER_NORESTART;
}

static int set_command(const char *val, const struct kernel_param *kp)
{
	struct command c = { .what = (long)kp->arg };
	int err = kstrtoul(val, 0, &c.arg);
	unsigned long irqs;

	if (err)
		return err;
	init_completion(&c.done);
	switch (context) {
	case 1:
		c.work = IRQ_WORK_INIT_HARD(run_in_irq_work);
		irq_work_queue(&c.work);
		irq_work_sync(&c.work);
		break;
	case 2:
		hrtimer_init_on_stack(&c.timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
		c.timer.function = run_in_timer;
		/* Sleeping would take events of the task away. */
		preempt_disable();
		hrtimer_start(&c.timer, ns_to_ktime(1000), HRTIMER_MODE_REL_PINNED_HARD);
		while (!completion_done(&c.done))
			cpu_relax();
		preempt_enable();
		hrtimer_cancel(&c.timer);
		destroy_hrtimer_on_stack(&c.timer);
		break;
	default:
		local_irq_save(irqs);
		run(&c);
		local_irq_restore(irqs);
	}
	return 0;
}

static const struct kernel_param_ops command_ops = { .set = set_command };

module_param_cb(put, &command_ops, (void *)PUT, 0200);
module_param_cb(interrupt, &command_ops, (void *)INTERRUPT, 0200);
module_param_cb(emit, &command_ops, (void *)EMIT, 0200);
module_param_cb(skip, &command_ops, (void *)SKIP, 0200);
module_param_cb(hwid, &command_ops, (void *)HWID, 0200);
module_param_cb(drop, &command_ops, (void *)DROP, 0200);

/* ------------------------------------------------------------------ module */

static bool registered;

static int enter(void)
{
	int err;

	test_aux = tracer_pmu;
	test_aux.capabilities = caps;
	test_aux.snapshot_aux = snapshot_aux;
	err = perf_pmu_register(&test_aux, "test_aux", -1);
	registered = !err;
	return err;
}

static void leave(void)
{
	if (!registered)
		return;
	perf_pmu_unregister(&test_aux);
	registered = false;
	/* Whoever still looks at the PMU shall notice. */
	memset(&test_aux, 0x6b, sizeof(test_aux));
}

static int set_registered(const char *val, const struct kernel_param *kp)
{
	bool on;
	int err = kstrtobool(val, &on);

	if (err || on == registered)
		return err;
	if (on)
		return enter();
	leave();
	return 0;
}

static const struct kernel_param_ops registered_ops = { .set = set_registered };

module_param_cb(registered, &registered_ops, NULL, 0200);

static int get_revokes(char *buf, const struct kernel_param *kp)
{
#ifdef PERF_EVENT_STATE_REVOKED
	return sysfs_emit(buf, "1\n");
#else
	return sysfs_emit(buf, "0\n");
#endif
}

static const struct kernel_param_ops revokes_ops = { .get = get_revokes };

module_param_cb(revokes, &revokes_ops, NULL, 0400);

static int __init test_aux_init(void)
{
	int cpu, err;

	copy_aux = find("perf_output_copy_aux");
	itrace_started = find("perf_event_itrace_started");
	if (!copy_aux || !itrace_started)
		return -ENOENT;
	for_each_possible_cpu(cpu) {
		struct hrtimer *timer = &per_cpu(tracers, cpu).timer;

		hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
		timer->function = auto_emit;
	}

	test_aux_b = tracer_pmu;
	err = enter();
	if (err)
		return err;
	err = perf_pmu_register(&test_aux_b, "test_aux_b", -1);
	if (err)
		goto undo;
	err = perf_pmu_register(&test_aux_src, "test_aux_src", -1);
	if (!err)
		return 0;
	perf_pmu_unregister(&test_aux_b);
undo:
	leave();
	return err;
}

static void __exit test_aux_exit(void)
{
	int cpu;

	perf_pmu_unregister(&test_aux_src);
	perf_pmu_unregister(&test_aux_b);
	leave();
	WARN_ON(atomic_read(&nr_events));
	for_each_possible_cpu(cpu)
		hrtimer_cancel(&per_cpu(tracers, cpu).timer);
}

module_init(test_aux_init);
module_exit(test_aux_exit);
MODULE_DESCRIPTION("PMUs with AUX areas, for tests");
MODULE_LICENSE("GPL");
