// SPDX-License-Identifier: GPL-2.0
/*
 * test_sample: a PMU whose samples contain what a test asks for, and which takes address filters.
 *
 * An event counts how often "fire" was written on its CPU while it was there, and each time takes a
 * sample at the registers the writer has in user space. Parameters, all in sysfs:
 *
 *	fire		write n: n samples of each event that counts on this CPU
 *	provide		PERF_SAMPLE_* bits the driver fills in itself
 *	branch		branch stacks are accepted; their number of entries
 *	counters	with branch: a word of counters for each entry
 *	later		with branch: if not 0, that many are in the stack by the time the sample is
 *			written, as after a snapshot of a BPF program
 *	skid		samples are taken where the driver itself is, in the kernel
 *	filters		at load: how many address filters there are
 *	refuse		errno with which the driver refuses a list of filters, 0: none
 *	syncs		how often filters were handed over
 *	ranges		the last of them: pid, then "action offset size start size" for each
 *	task_data	at load: events want memory for each task, but for those with config1
 *	no_data		how often it was missing when an event came
 *	vain_data	how often it was there for one that does not want it
 *
 * Only functions and members that every driver may use, so it builds for the stock kernel, too.
 */
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <asm/processor.h>

#define MAX_EVENTS	8	/* on one CPU */
#define MAX_BRANCHES	4000

struct here {
	struct perf_event		*event[MAX_EVENTS];
	struct perf_branch_stack	*stack;
	u64				*counters;
};

static DEFINE_PER_CPU(struct here, here);
static DEFINE_RAW_SPINLOCK(note_lock);
static char ranges[1024];

static unsigned long provide;
module_param(provide, ulong, 0644);
static unsigned int branch;
module_param(branch, uint, 0644);
static bool counters;
module_param(counters, bool, 0644);
static unsigned int later;
module_param(later, uint, 0644);
static bool skid;
module_param(skid, bool, 0644);
static unsigned int filters;
module_param(filters, uint, 0444);
static int refuse;
module_param(refuse, int, 0644);
static unsigned int syncs;
module_param(syncs, uint, 0644);
module_param_string(ranges, ranges, sizeof(ranges), 0444);
static bool task_data;
module_param(task_data, bool, 0444);
static unsigned int no_data;
module_param(no_data, uint, 0444);
static unsigned int vain_data;
module_param(vain_data, uint, 0444);

/* ------------------------------------------------------------------ samples */

static struct perf_branch_stack *make_branches(struct here *h, unsigned int nr)
{
	unsigned int i;

	h->stack->nr = nr;
	h->stack->hw_idx = 5;
	for (i = 0; i < nr; i++) {
		struct perf_branch_entry *entry = &h->stack->entries[i];

		memset(entry, 0, sizeof(*entry));
		entry->from = 0x1000 + i;
		entry->to = 0x2000 + i;
		entry->predicted = 1;
		entry->cycles = i & 0xff;
		h->counters[i] = 0x300 + i;
	}
	return h->stack;
}

static void take_sample(struct perf_event *event, struct here *h, struct pt_regs *regs)
{
	unsigned long fill = provide & event->attr.sample_type;
	struct perf_sample_data data;
	perf_overflow_handler_t handler = READ_ONCE(event->overflow_handler);

	perf_sample_data_init(&data, 0, 1);
	if (fill & PERF_SAMPLE_ADDR)
		data.addr = 0xadd0;
	if (fill & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		data.weight.full = 0x0004000300000002ull;
	if (fill & PERF_SAMPLE_DATA_SRC)
		data.data_src.val = PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVLNUM, L2);
	if (fill & PERF_SAMPLE_TRANSACTION)
		data.txn = PERF_TXN_ELISION | 7ull << PERF_TXN_ABORT_SHIFT;
	if (fill & PERF_SAMPLE_PHYS_ADDR)
		data.phys_addr = 0xf00d;
	if (fill & PERF_SAMPLE_DATA_PAGE_SIZE)
		data.data_page_size = 0x200000;
	if (fill & PERF_SAMPLE_CODE_PAGE_SIZE)
		data.code_page_size = 0x10000;
	data.sample_flags |= fill & ~PERF_SAMPLE_BRANCH_STACK;

	if (fill & PERF_SAMPLE_BRANCH_STACK) {
		bool with = counters && event->attr.branch_sample_type &
					PERF_SAMPLE_BRANCH_COUNTERS;

		perf_sample_save_brstack(&data, event, make_branches(h, min(branch, MAX_BRANCHES)),
					 with ? h->counters : NULL);
		if (later)
			make_branches(h, min(later, MAX_BRANCHES));
	}
	if (is_sampling_event(event))
		handler(event, &data, regs);
}

static int set_fire(const char *text, const struct kernel_param *kp)
{
	struct pt_regs *regs = task_pt_regs(current), kernel;
	unsigned long flags;
	unsigned int n, i;
	struct here *h;
	int err = kstrtouint(text, 0, &n);

	if (err)
		return err;
	if (skid) {
		perf_fetch_caller_regs(&kernel);
		regs = &kernel;
	}
	local_irq_save(flags);
	h = this_cpu_ptr(&here);
	while (n--) {
		for (i = 0; i < MAX_EVENTS; i++) {
			if (!h->event[i])
				continue;
			local64_inc(&h->event[i]->count);
			take_sample(h->event[i], h, regs);
		}
	}
	local_irq_restore(flags);
	return 0;
}

static const struct kernel_param_ops fire_ops = { .set = set_fire };
module_param_cb(fire, &fire_ops, NULL, 0200);

/* ------------------------------------------------------------------ filters */

static int validate(struct list_head *list)
{
	return refuse;
}

/* The filters' lock is held, and interrupts are off. */
static void sync(struct perf_event *event)
{
	struct perf_addr_filter_range *range = event->addr_filter_ranges;
	struct perf_addr_filter *filter;
	int at;

	raw_spin_lock(&note_lock);
	at = scnprintf(ranges, sizeof(ranges), "%d:", current->pid);
	list_for_each_entry(filter, &perf_event_addr_filters(event)->list, entry) {
		at += scnprintf(ranges + at, sizeof(ranges) - at, " %d %lx %lx %lx %lx",
				filter->action, filter->offset, filter->size, range->start,
				range->size);
		range++;
	}
	syncs++;
	raw_spin_unlock(&note_lock);
}

/* --------------------------------------------------------------------- PMU */

static struct pmu test_pmu;

static bool wants_data(const struct perf_event *event)
{
	return task_data && !event->attr.config1;
}

static int init(struct perf_event *event)
{
	if (event->attr.type != test_pmu.type)
		return -ENOENT;
	if (event->attr.config)
		return -EINVAL;
	if (has_branch_stack(event) && !branch)
		return -EOPNOTSUPP;
	if (wants_data(event))
		event->attach_state |= PERF_ATTACH_TASK_DATA;
	return 0;
}

static void start(struct perf_event *event, int flags)
{
	if (filters)
		perf_event_addr_filters_sync(event);
	event->hw.state = 0;
}

static void stop(struct perf_event *event, int flags)
{
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static int add(struct perf_event *event, int flags)
{
	struct here *h = this_cpu_ptr(&here);
	int i;

	if (event->ctx->task && wants_data(event) && !event->pmu_ctx->task_ctx_data)
		no_data++;
	if (!wants_data(event) && event->pmu_ctx->task_ctx_data)
		vain_data++;
	for (i = 0; i < MAX_EVENTS && h->event[i]; i++)
		;
	if (i == MAX_EVENTS)
		return -EAGAIN;
	h->event[i] = event;
	event->hw.idx = i;
	if (flags & PERF_EF_START)
		start(event, flags);
	return 0;
}

static void del(struct perf_event *event, int flags)
{
	stop(event, flags);
	this_cpu_ptr(&here)->event[event->hw.idx] = NULL;
}

static void read(struct perf_event *event)
{
}

static struct pmu test_pmu = {
	.module			= THIS_MODULE,
	.task_ctx_nr		= perf_hw_context,
	.event_init		= init,
	.add			= add,
	.del			= del,
	.start			= start,
	.stop			= stop,
	.read			= read,
	.addr_filters_validate	= validate,
	.addr_filters_sync	= sync,
};

static void free_all(void)
{
	int cpu;

	/* Memory of tasks may be given back after a grace period. */
	rcu_barrier();
	kmem_cache_destroy(test_pmu.task_ctx_cache);
	for_each_possible_cpu(cpu) {
		vfree(per_cpu(here, cpu).stack);
		vfree(per_cpu(here, cpu).counters);
	}
}

static int __init load(void)
{
	int cpu, err = -ENOMEM;

	for_each_possible_cpu(cpu) {
		struct here *h = &per_cpu(here, cpu);

		h->stack = vzalloc(struct_size(h->stack, entries, MAX_BRANCHES));
		h->counters = vzalloc(MAX_BRANCHES * sizeof(*h->counters));
		if (!h->stack || !h->counters)
			goto fail;
	}
	if (task_data) {
		test_pmu.task_ctx_cache = kmem_cache_create("test_sample", 128, 0, 0, NULL);
		if (!test_pmu.task_ctx_cache)
			goto fail;
	}
	test_pmu.nr_addr_filters = filters;
	err = perf_pmu_register(&test_pmu, "test_sample", -1);
	if (!err)
		return 0;
fail:
	free_all();
	return err;
}

static void __exit unload(void)
{
	perf_pmu_unregister(&test_pmu);
	free_all();
}

module_init(load);
module_exit(unload);
MODULE_DESCRIPTION("Test PMU: samples with given contents, address filters");
MODULE_LICENSE("GPL");
