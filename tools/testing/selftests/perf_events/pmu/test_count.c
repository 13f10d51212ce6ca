// SPDX-License-Identifier: GPL-2.0
/*
 * test_count - a PMU of a few counters per CPU that count what the test tells them.
 *
 * Event 0 counts hits: writing N to the parameter "hit" adds N to the source of the CPU on which
 * the writer runs, and lets sampling events there overflow at once.  So every count and every
 * sample is exact.  While the PMU is off nothing hits.  Event 1 counts nanoseconds and does not
 * sample.
 *
 * Parameters that are set when the module is loaded say what kind of PMU it is (counters, caps,
 * scope, task, software, filters, varies, extra, switches, task_data); the others act when they are
 * written:
 *
 *	registered	0 or 1: leave or enter the registry
 *	hit		see above
 *	lost		tell each event on this CPU that as many samples of it were lost
 *	migrate		SRC * 1000 + DST: perf_pmu_migrate_context()
 *	kernel_cpu	a kernel counter of event 0 on this CPU, -1 ends it
 *	kernel_count	what that counted
 *	kernel_period	it samples, each time so many; while it is there: perf_event_period()
 *	kernel_refresh	perf_event_refresh()
 *	kernel_told	how often its handler was called
 *	kernel_aux	the next one says aux_output
 *	hold_init	1: the next event_init() makes it 2, and waits for 0; registered must not be
 *			written meanwhile
 *	nr_events	events initialised and not destroyed
 *	largest		members of the largest group that an event was made for
 *	slow		how many ms it takes to destroy an event, and before the module leaves the
 *			registry
 *	destroying	one is being destroyed, or was
 *	nr_added	events on counters now, on all CPUs
 *	adds		how often one was put on a counter
 *	moved_while_on	how often one came or went while the PMU was not off
 *	idle_reads	how often one was read that was on no counter
 *	nr_switches	calls of sched_task() since the last reading, with switches=1
 *	nr_in, nr_out	those of a task that came, or went; wrong_task: it was not current
 *	no_data		with switches=1 and task_data=1, which is memory for each task: how often
 *			there was none for the task of a switch, or in its context when an event
 *			came
 *	wrong_data	how often it was that of another task
 *	revokes		a PMU may be unregistered while it has events
 *
 * Only the driver API of the kernel is used, of which some functions are not exported to modules.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#define MAX_COUNTERS	8

static int counters = 4;
module_param(counters, int, 0444);
static int caps;
module_param(caps, int, 0444);
static int scope;
module_param(scope, int, 0444);
static int task = 1;
module_param(task, int, 0444);
static bool software;
module_param(software, bool, 0444);
static int filters;
module_param(filters, int, 0444);
static bool varies = true;	/* each period may be another one */
module_param(varies, bool, 0444);
static bool extra = true;
module_param(extra, bool, 0444);
static bool switches;
module_param(switches, bool, 0444);
static bool task_data;
module_param(task_data, bool, 0444);
static int fail_init;
module_param(fail_init, int, 0644);
static int fail_cpu = -1;	/* that is for events of this CPU alone */
module_param(fail_cpu, int, 0644);
static int hold_init;
static int slow;
module_param(slow, int, 0644);
static int largest;
module_param(largest, int, 0444);
static int destroying;
module_param(destroying, int, 0444);

struct count_cpu {
	u64			hits;
	bool			off;
	struct perf_event	*slot[MAX_COUNTERS];
};

static DEFINE_PER_CPU(struct count_cpu, count_cpu);
static atomic_t nr_events = ATOMIC_INIT(0);
static atomic_t nr_added = ATOMIC_INIT(0);
static atomic_t adds = ATOMIC_INIT(0);
static atomic_t nr_switches = ATOMIC_INIT(0);
static int nr_in, nr_out, wrong_task;	/* of one CPU at a time */
module_param(nr_in, int, 0644);
module_param(nr_out, int, 0644);
module_param(wrong_task, int, 0444);
static int no_data, wrong_data;		/* of one CPU as well */
module_param(no_data, int, 0444);
module_param(wrong_data, int, 0444);
static struct pmu count_pmu;
static bool is_registered;
static struct perf_event *kernel_event;

enum { EVENT_HITS, EVENT_TIME, NR_EVENTS };

/* perf_event_overflow(), perf_log_lost_samples(), perf_sched_cb_inc(), perf_sched_cb_dec() */
static int (*report)(struct perf_event *event, struct perf_sample_data *data,
		     struct pt_regs *regs);
static void (*tell_lost)(struct perf_event *event, u64 lost);
static void (*cb_inc)(struct pmu *pmu);
static void (*cb_dec)(struct pmu *pmu);

static int find_functions(void)
{
	struct kprobe probe = { .symbol_name = "kallsyms_lookup_name" };
	unsigned long (*find)(const char *name);
	int ret = register_kprobe(&probe);

	if (ret)
		return ret;
	find = (void *)probe.addr;
	unregister_kprobe(&probe);
	report = (void *)find("perf_event_overflow");
	tell_lost = (void *)find("perf_log_lost_samples");
	cb_inc = (void *)find("perf_sched_cb_inc");
	cb_dec = (void *)find("perf_sched_cb_dec");
	return report && tell_lost && cb_inc && cb_dec ? 0 : -ENOENT;
}

static u64 source(const struct perf_event *event)
{
	return event->attr.config == EVENT_TIME ? local_clock() : this_cpu_read(count_cpu.hits);
}

static int idle_reads;
module_param(idle_reads, int, 0444);

static void count_read(struct perf_event *event)
{
	struct hw_perf_event *hw = &event->hw;
	u64 now = source(event);
	u64 delta;

	if (hw->idx < 0)
		WRITE_ONCE(idle_reads, idle_reads + 1);	/* one reader at a time */
	if (hw->state & PERF_HES_STOPPED)
		return;
	delta = now - local64_xchg(&hw->prev_count, now);
	local64_add(delta, &event->count);
	local64_sub(delta, &hw->period_left);
}

static void count_start(struct perf_event *event, int flags)
{
	WARN_ON(event->hw.idx < 0);
	local64_set(&event->hw.prev_count, source(event));
	event->hw.state = 0;
	perf_event_update_userpage(event);
}

static void count_stop(struct perf_event *event, int flags)
{
	WARN_ON(event->hw.idx < 0);
	count_read(event);
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	perf_event_update_userpage(event);
}

/* Drivers may put what came and went into force when the PMU goes on again. */
static int moved_while_on;
module_param(moved_while_on, int, 0444);

static void count_off(struct pmu *pmu)
{
	this_cpu_write(count_cpu.off, true);
}

static void count_on(struct pmu *pmu)
{
	this_cpu_write(count_cpu.off, false);
}

static int count_add(struct perf_event *event, int flags)
{
	struct count_cpu *cpu = this_cpu_ptr(&count_cpu);
	int i;

	moved_while_on += !cpu->off;
	for (i = 0; i < counters && cpu->slot[i]; i++)
		;
	if (i == counters)
		return -EAGAIN;
	cpu->slot[i] = event;
	event->hw.idx = i;
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	atomic_inc(&nr_added);
	atomic_inc(&adds);
	if (task_data && event->ctx->task && !event->pmu_ctx->task_ctx_data)
		no_data++;
	if (switches)
		cb_inc(event->pmu);
	if (flags & PERF_EF_START)
		count_start(event, PERF_EF_RELOAD);
	return 0;
}

static void count_del(struct perf_event *event, int flags)
{
	struct count_cpu *cpu = this_cpu_ptr(&count_cpu);

	moved_while_on += !cpu->off;
	count_stop(event, PERF_EF_UPDATE);
	WARN_ON(cpu->slot[event->hw.idx] != event);
	cpu->slot[event->hw.idx] = NULL;
	event->hw.idx = -1;
	atomic_dec(&nr_added);
	if (switches)
		cb_dec(event->pmu);
}

/* A task's memory has its number, from the first switch on. */
static void look_at_data(pid_t *data, const struct task_struct *of)
{
	if (!data) {
		no_data++;
		return;
	}
	if (!*data)
		*data = of->pid;
	if (*data != of->pid)
		wrong_data++;
}

static void count_sched_task(struct perf_event_pmu_context *part, struct task_struct *of, bool in)
{
	WARN_ON(!part || part->pmu != &count_pmu);
	atomic_inc(&nr_switches);
	if (in)
		nr_in++;
	else
		nr_out++;
	if (of != current)
		wrong_task++;
	if (task_data && !(of->flags & (PF_KTHREAD | PF_EXITING)))
		look_at_data(part->task_ctx_data, of);
}

static void count_destroy(struct perf_event *event)
{
	int ms = READ_ONCE(slow);	/* whoever sees "destroying" may change it */

	WRITE_ONCE(destroying, 1);
	if (ms)
		msleep(ms);
	/* As drivers do that look at which CPUs there are. */
	cpus_read_lock();
	/* Whatever the order in which things end, the PMU is there. */
	WARN_ON(event->pmu != &count_pmu);
	atomic_dec(&nr_events);
	cpus_read_unlock();
}

static bool for_us(const struct perf_event *event)
{
	return event->attr.type == count_pmu.type ||
	       (event->attr.type == PERF_TYPE_HARDWARE && caps & PERF_PMU_CAP_EXTENDED_HW_TYPE);
}

/* As drivers of hardware do that look whether a group fits: it is to stay as it is meanwhile. */
static void note_group(struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;
	int nr = 1;

	if (event != leader) {
		nr++;
		for_each_sibling_event(sibling, leader)
			nr++;
	}
	largest = max(largest, nr);
}

static int count_init(struct perf_event *event)
{
	if (!for_us(event))
		return -ENOENT;
	/* Who is killed does not wait. */
	if (cmpxchg(&hold_init, 1, 2) == 1 &&
	    wait_var_event_killable(&hold_init, !READ_ONCE(hold_init)))
		return -EINTR;
	if (fail_init && (fail_cpu < 0 || event->cpu == fail_cpu))
		return -fail_init;
	if (event->attr.config >= NR_EVENTS)
		return -EINVAL;
	if (event->attr.config == EVENT_TIME && is_sampling_event(event))
		return -EINVAL;
	if (event->cpu < 0 && !task)
		return -EINVAL;
	if (!software)
		note_group(event);
	event->hw.idx = -1;
	if (switches)
		event->attach_state |= PERF_ATTACH_SCHED_CB;
	if (task_data)
		event->attach_state |= PERF_ATTACH_TASK_DATA;
	event->destroy = count_destroy;
	atomic_inc(&nr_events);
	return 0;
}

/* The next period has begun when the sample of the one before is taken. */
static void overflow(struct perf_event *event)
{
	struct perf_sample_data data;
	struct pt_regs regs = { };

	perf_fetch_caller_regs(&regs);
	while (!event->hw.state && local64_read(&event->hw.period_left) <= 0) {
		perf_sample_data_init(&data, 0, event->hw.last_period);
		data.addr = 0xbad;	/* nobody says that it is there */
		event->hw.last_period = event->hw.sample_period;
		local64_add(event->hw.last_period, &event->hw.period_left);
		if (report(event, &data, &regs))
			count_stop(event, 0);
	}
}

#ifdef CONFIG_PERF_EVENTS_EXT
static u64 count_least_period(struct perf_event *event)
{
	return 1;
}
#endif

static void hit_here(u64 n)
{
	struct count_cpu *cpu;
	unsigned long flags;
	int i;

	local_irq_save(flags);
	cpu = this_cpu_ptr(&count_cpu);
	if (cpu->off)
		n = 0;
	cpu->hits += n;
	for (i = 0; i < counters; i++) {
		struct perf_event *event = cpu->slot[i];

		if (!event || event->hw.state)
			continue;
		count_read(event);
		if (is_sampling_event(event))
			overflow(event);
	}
	local_irq_restore(flags);
}

/* ---- sysfs ---- */

PMU_FORMAT_ATTR(what, "config:0-3");

static struct attribute *format_attrs[] = {
	&format_attr_what.attr,
	NULL
};

static const struct attribute_group format_group = {
	.name = "format",
	.attrs = format_attrs,
};

static const struct attribute_group *attr_groups[] = {
	&format_group,
	NULL
};

PMU_EVENT_ATTR_STRING(hits, attr_hits, "what=0");
PMU_EVENT_ATTR_STRING(time, attr_time, "what=1");

static struct attribute *event_attrs[] = {
	&attr_hits.attr.attr,
	&attr_time.attr.attr,
	NULL
};

static umode_t event_visible(struct kobject *kobj, struct attribute *attr, int i)
{
	return extra || attr == &attr_hits.attr.attr ? attr->mode : 0;
}

static const struct attribute_group event_group = {
	.name = "events",
	.attrs = event_attrs,
	.is_visible = event_visible,
};

static const struct attribute_group *attr_update[] = {
	&event_group,
	NULL
};

/* ---- what acts when it is written; all under the module's parameter lock ---- */

static int enter(void)
{
	int ret;

	memset(&count_pmu, 0, sizeof(count_pmu));
	count_pmu = (struct pmu) {
		.module		= THIS_MODULE,
		.capabilities	= caps,
		.scope		= scope,
		.task_ctx_nr	= software ? perf_sw_context :
				  task ? perf_hw_context : perf_invalid_context,
		.nr_addr_filters = filters,
		.attr_groups	= attr_groups,
		.attr_update	= attr_update,
		.pmu_enable	= count_on,
		.pmu_disable	= count_off,
		.event_init	= count_init,
		.add		= count_add,
		.del		= count_del,
		.start		= count_start,
		.stop		= count_stop,
		.read		= count_read,
		.sched_task	= switches ? count_sched_task : NULL,
#ifdef CONFIG_PERF_EVENTS_EXT
		.least_period	= varies ? count_least_period : NULL,
#endif
	};
	if (task_data) {
		count_pmu.task_ctx_cache = kmem_cache_create("test_count", sizeof(pid_t), 0,
							     SLAB_NO_MERGE, NULL);
		if (!count_pmu.task_ctx_cache)
			return -ENOMEM;
	}
	ret = perf_pmu_register(&count_pmu, "test_count", -1);
	is_registered = !ret;
	if (ret)
		kmem_cache_destroy(count_pmu.task_ctx_cache);
	return ret;
}

static void leave(void)
{
	if (!is_registered)
		return;
	perf_pmu_unregister(&count_pmu);
	is_registered = false;
	/* Memory of tasks may be given back after a grace period; then none may be left. */
	rcu_barrier();
	kmem_cache_destroy(count_pmu.task_ctx_cache);
	/* Whoever still looks at the PMU shall notice. */
	memset(&count_pmu, 0x6b, sizeof(count_pmu));
}

static int registered_set(const char *text, const struct kernel_param *kp)
{
	bool on;
	int ret = kstrtobool(text, &on);

	if (ret || on == is_registered)
		return ret;
	if (on)
		return enter();
	leave();
	return 0;
}

static int registered_get(char *text, const struct kernel_param *kp)
{
	return sysfs_emit(text, "%d\n", is_registered);
}

static int hit_set(const char *text, const struct kernel_param *kp)
{
	u64 n;
	int ret = kstrtou64(text, 0, &n);

	if (!ret)
		hit_here(n);
	return ret;
}

/* As a driver whose hardware dropped samples of events that count here. */
static int lost_set(const char *text, const struct kernel_param *kp)
{
	unsigned long flags;
	int i, ret;
	u64 n;

	ret = kstrtou64(text, 0, &n);
	if (ret)
		return ret;
	local_irq_save(flags);
	for (i = 0; i < counters; i++) {
		struct perf_event *event = this_cpu_ptr(&count_cpu)->slot[i];

		if (event && !event->hw.state)
			tell_lost(event, n);
	}
	local_irq_restore(flags);
	return 0;
}

static int migrate_set(const char *text, const struct kernel_param *kp)
{
	unsigned int cpus;
	int ret = kstrtouint(text, 0, &cpus);

	if (!ret)
		perf_pmu_migrate_context(&count_pmu, cpus / 1000, cpus % 1000);
	return ret;
}

static void release_kernel_event(void)
{
	if (kernel_event)
		perf_event_release_kernel(kernel_event);
	kernel_event = NULL;
}

static int kernel_period;
static int kernel_told;
module_param(kernel_told, int, 0444);
static bool kernel_aux;
module_param(kernel_aux, bool, 0644);

static void kernel_handler(struct perf_event *event, struct perf_sample_data *data,
			   struct pt_regs *regs)
{
	kernel_told++;
}

static int kernel_cpu_set(const char *text, const struct kernel_param *kp)
{
	struct perf_event_attr attr = {
		.type		= count_pmu.type,
		.size		= sizeof(attr),
		.sample_period	= kernel_period,
		.aux_output	= kernel_aux,
	};
	int cpu, ret = kstrtoint(text, 0, &cpu);
	struct perf_event *event;

	if (ret)
		return ret;
	release_kernel_event();
	if (cpu < 0)
		return 0;
	event = perf_event_create_kernel_counter(&attr, cpu, NULL,
						 kernel_period ? kernel_handler : NULL, NULL);
	if (IS_ERR(event))
		return PTR_ERR(event);
	kernel_event = event;
	return 0;
}

static int kernel_count_get(char *text, const struct kernel_param *kp)
{
	u64 enabled, running;

	return sysfs_emit(text, "%llu\n", !kernel_event ? 0 :
			  perf_event_read_value(kernel_event, &enabled, &running));
}

static int kernel_period_set(const char *text, const struct kernel_param *kp)
{
	int ret = kstrtoint(text, 0, &kernel_period);

	return ret || !kernel_event ? ret : perf_event_period(kernel_event, kernel_period);
}

static int kernel_refresh_set(const char *text, const struct kernel_param *kp)
{
	int times, ret = kstrtoint(text, 0, &times);

	return ret ? ret : perf_event_refresh(kernel_event, times);
}

static int hold_init_set(const char *text, const struct kernel_param *kp)
{
	int next, ret = kstrtoint(text, 0, &next);

	if (ret)
		return ret;
	smp_store_mb(hold_init, next);	/* then the look for a waiter */
	wake_up_var(&hold_init);
	return 0;
}

static int hold_init_get(char *text, const struct kernel_param *kp)
{
	return sysfs_emit(text, "%d\n", READ_ONCE(hold_init));
}

static int nr_events_get(char *text, const struct kernel_param *kp)
{
	return sysfs_emit(text, "%d\n", atomic_read(&nr_events));
}

static int nr_added_get(char *text, const struct kernel_param *kp)
{
	return sysfs_emit(text, "%d\n", atomic_read(&nr_added));
}

static int nr_switches_get(char *text, const struct kernel_param *kp)
{
	return sysfs_emit(text, "%d\n", atomic_xchg(&nr_switches, 0));
}

static int revokes_get(char *text, const struct kernel_param *kp)
{
#ifdef PERF_EVENT_STATE_REVOKED
	return sysfs_emit(text, "1\n");
#else
	return sysfs_emit(text, "0\n");
#endif
}

#define ACTION(name, setter, getter, mode)				\
	static const struct kernel_param_ops name##_ops = {		\
		.set = setter,						\
		.get = getter,						\
	};								\
	module_param_cb(name, &name##_ops, NULL, mode)

ACTION(registered, registered_set, registered_get, 0644);
ACTION(hit, hit_set, NULL, 0200);
ACTION(lost, lost_set, NULL, 0200);
ACTION(migrate, migrate_set, NULL, 0200);
ACTION(kernel_cpu, kernel_cpu_set, NULL, 0200);
ACTION(kernel_count, NULL, kernel_count_get, 0444);
ACTION(kernel_period, kernel_period_set, NULL, 0200);
ACTION(kernel_refresh, kernel_refresh_set, NULL, 0200);
ACTION(hold_init, hold_init_set, hold_init_get, 0644);
ACTION(nr_events, NULL, nr_events_get, 0444);
ACTION(nr_added, NULL, nr_added_get, 0444);

static int adds_get(char *text, const struct kernel_param *kp)
{
	return sysfs_emit(text, "%d\n", atomic_read(&adds));
}

ACTION(adds, NULL, adds_get, 0444);
ACTION(nr_switches, NULL, nr_switches_get, 0444);
ACTION(revokes, NULL, revokes_get, 0444);

static int __init count_module_init(void)
{
	int ret;

	if (counters < 1 || counters > MAX_COUNTERS)
		return -EINVAL;
	ret = find_functions();
	return ret ?: enter();
}

static void __exit count_module_exit(void)
{
	release_kernel_event();
	if (slow)
		msleep(slow);
	leave();
	WARN_ON(atomic_read(&nr_events));
	WARN_ON(atomic_read(&nr_added));
	WARN_ON(moved_while_on);
}

module_init(count_module_init);
module_exit(count_module_exit);
MODULE_DESCRIPTION("a PMU that counts what a test tells it");
MODULE_LICENSE("GPL");
