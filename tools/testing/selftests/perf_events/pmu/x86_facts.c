// SPDX-License-Identifier: GPL-2.0
/*
 * x86_facts - what the driver of the x86 CPU PMU says about the CPU model it has bound to.
 *
 * /proc/x86_facts has one fact per line: the members of struct x86_pmu, the codes of generic and
 * cache events, extra registers, branch record formats, least periods; and for every event and unit
 * mask the errors and counters that hw_config and get_event_constraints answer, as far as they are
 * not "any general counter".  scripts/x86-facts compares two kernels.
 *
 * No event is opened for that: the operations of the driver are called with an event and a CPU that
 * are made up, as the driver's own validation of groups does.  A hybrid PMU is not looked at.
 */
#include <linux/cleanup.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#ifdef CONFIG_X86
#include <perf_event.h>

/* Behind struct perf_event the core may have a part of its own, which drivers must not touch. */
#define EVENT_SIZE	(sizeof(struct perf_event) + 4096)

static struct x86_pmu *xp;
static u64 (*cache_ids)[PERF_COUNT_HW_CACHE_OP_MAX][PERF_COUNT_HW_CACHE_RESULT_MAX];
static u64 (*cache_extra)[PERF_COUNT_HW_CACHE_OP_MAX][PERF_COUNT_HW_CACHE_RESULT_MAX];
static struct pmu *(*pmu_of_cpu)(unsigned int cpu);
static int (*prepare_cpuc)(struct cpu_hw_events *cpuc, int cpu);
static void (*finish_cpuc)(struct cpu_hw_events *cpuc);
static void (*del_exclusive)(unsigned int what);
static int (*max_precise)(void);
static int (*reserve)(void);
static void (*release)(void);

/* The symbols above are not exported. */
static unsigned long (*lookup)(const char *name);

static int find_lookup(void)
{
	struct kprobe kp = { .symbol_name = "kallsyms_lookup_name" };
	int ret = register_kprobe(&kp);

	if (ret)
		return ret;
	lookup = (void *)kp.addr;
	unregister_kprobe(&kp);
	return 0;
}

static int find_symbols(void)
{
	static const struct { const char *name; void *to; } want[] = {
		{ "x86_pmu", &xp },
		{ "hw_cache_event_ids", &cache_ids },
		{ "hw_cache_extra_regs", &cache_extra },
		{ "x86_get_pmu", &pmu_of_cpu },
		{ "intel_cpuc_prepare", &prepare_cpuc },
		{ "intel_cpuc_finish", &finish_cpuc },
		{ "x86_del_exclusive", &del_exclusive },
		{ "x86_pmu_max_precise", &max_precise },
		{ "x86_reserve_hardware", &reserve },
		{ "x86_release_hardware", &release },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(want); i++) {
		*(unsigned long *)want[i].to = lookup(want[i].name);
		if (!*(unsigned long *)want[i].to) {
			pr_err("x86_facts: no symbol %s\n", want[i].name);
			return -ENOENT;
		}
	}
	return 0;
}

#define FACT(member)	{ #member, (u64)xp->member }

static void show_members(struct seq_file *m)
{
	const struct { const char *name; u64 value; } fact[] = {
		FACT(version), FACT(eventsel), FACT(perfctr), FACT(fixedctr), FACT(max_events),
		FACT(config_mask), FACT(cntr_mask64), FACT(fixed_cntr_mask64), FACT(cntval_bits),
		FACT(cntval_mask), FACT(events_maskl), FACT(events_mask_len), FACT(apic),
		FACT(max_period), FACT(late_ack), FACT(mid_ack), FACT(enabled_ack),
		FACT(attr_rdpmc_broken), FACT(attr_rdpmc), FACT(attr_freeze_on_smi),
		FACT(intel_ctrl), FACT(intel_cap.capabilities),
		FACT(bts), FACT(bts_active), FACT(pebs), FACT(pebs_active), FACT(pebs_broken),
		FACT(pebs_prec_dist), FACT(pebs_no_tlb), FACT(pebs_no_isolation), FACT(pebs_block),
		FACT(pebs_ept), FACT(pebs_record_size), FACT(pebs_buffer_size),
		FACT(pebs_events_mask), FACT(large_pebs_flags), FACT(rtm_abort_event),
		FACT(pebs_capable),
		FACT(lbr_tos), FACT(lbr_from), FACT(lbr_to), FACT(lbr_info), FACT(lbr_nr),
		FACT(lbr_sel_mask), FACT(lbr_double_abort), FACT(lbr_pt_coexist),
		FACT(lbr_has_info), FACT(lbr_has_tsx), FACT(lbr_from_flags), FACT(lbr_to_cycles),
		FACT(lbr_depth_mask), FACT(lbr_deep_c_reset), FACT(lbr_lip), FACT(lbr_cpl),
		FACT(lbr_filter), FACT(lbr_call_stack), FACT(lbr_mispred), FACT(lbr_timed_lbr),
		FACT(lbr_br_type), FACT(lbr_counters),
		FACT(num_topdown_events), FACT(amd_nb_constraints), FACT(perf_ctr_pair_en),
		FACT(flags), FACT(num_hybrid_pmus),
	};
	int i;

	seq_printf(m, "name %s\n", xp->name);
	for (i = 0; i < ARRAY_SIZE(fact); i++)
		seq_printf(m, "%s %#llx\n", fact[i].name, fact[i].value);
	seq_printf(m, "max_precise %d\n", max_precise());
	seq_printf(m, "capabilities %#x\n", pmu_of_cpu(0)->capabilities);
}

#define HOOK(member)	{ #member, xp->member }

/* Which operations there are; what they do shows elsewhere. */
static void show_hooks(struct seq_file *m)
{
	const struct { const char *name; void *to; } hook[] = {
		HOOK(assign), HOOK(add), HOOK(del), HOOK(addr_offset), HOOK(rdpmc_index),
		HOOK(put_event_constraints), HOOK(start_scheduling), HOOK(commit_scheduling),
		HOOK(stop_scheduling), HOOK(limit_period), HOOK(cpu_prepare), HOOK(cpu_starting),
		HOOK(cpu_dying), HOOK(cpu_dead), HOOK(check_microcode), HOOK(sched_task),
		HOOK(drain_pebs), HOOK(pebs_aliases), HOOK(pebs_latency_data), HOOK(lbr_reset),
		HOOK(lbr_read), HOOK(lbr_save), HOOK(lbr_restore),
		HOOK(check_period), HOOK(aux_output_match), HOOK(filter),
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(hook); i++)
		seq_printf(m, "hook %s %s\n", hook[i].name, hook[i].to ? "yes" : "no");
}

static void show_registers(struct seq_file *m)
{
	int i;

	for_each_set_bit(i, xp->cntr_mask, INTEL_PMC_IDX_FIXED)
		seq_printf(m, "counter %d select %#x count %#x rdpmc %#x\n", i,
			   xp->eventsel + (xp->addr_offset ? xp->addr_offset(i, true) : i),
			   xp->perfctr + (xp->addr_offset ? xp->addr_offset(i, false) : i),
			   xp->rdpmc_index ? xp->rdpmc_index(i) : i);
}

static void show_event_map(struct seq_file *m)
{
	int i, j, k;

	for (i = 0; i < xp->max_events; i++)
		seq_printf(m, "generic %d %#llx\n", i, xp->event_map(i));
	for (i = 0; i < PERF_COUNT_HW_CACHE_MAX; i++)
		for (j = 0; j < PERF_COUNT_HW_CACHE_OP_MAX; j++)
			for (k = 0; k < PERF_COUNT_HW_CACHE_RESULT_MAX; k++)
				seq_printf(m, "cache %d.%d.%d %#llx %#llx\n", i, j, k,
					   cache_ids[i][j][k], cache_extra[i][j][k]);
}

static void show_extra_regs(struct seq_file *m)
{
	struct extra_reg *er;

	for (er = xp->extra_regs; er && er->msr; er++)
		seq_printf(m, "extra event %#x msr %#x config_mask %#llx valid %#llx idx %d access %d\n",
			   er->event, er->msr, er->config_mask, er->valid_mask, er->idx,
			   er->extra_msr_access);
}

static void show_branches(struct seq_file *m)
{
	int i;

	for (i = 0; xp->lbr_sel_map && i < PERF_SAMPLE_BRANCH_MAX_SHIFT; i++)
		seq_printf(m, "lbr_sel %d %#x\n", i, xp->lbr_sel_map[i]);
}

/* A made-up event, and what is asked about it. */
struct question {
	struct perf_event	*event;
	struct cpu_hw_events	*cpuc;
	u64			extra;		/* bits besides event and unit mask */
	u64			period;		/* 0: count */
	int			precise;
	bool			freq;
};

struct answer {
	int	error;
	int	flags;
	int	constraint_flags;
	u64	config;			/* hw.config without what every event has */
	u64	counters;
	int	extra_reg;
	u64	extra_msr;
	u64	branches;
};

static void make_event(const struct question *q, u64 config)
{
	struct perf_event *event = q->event;

	/* What hw_config() may have changed, no more: this is done a million times. */
	memset(&event->hw, 0, sizeof(event->hw));
	memset(&event->attr, 0, sizeof(event->attr));
	event->attach_state = 0;
	event->destroy = NULL;
	event->attr.size = sizeof(event->attr);
	event->attr.type = event->pmu->type;
	event->attr.config = config;
	event->attr.exclude_kernel = q->precise;
	event->attr.precise_ip = q->precise;
	event->attr.freq = q->freq;
	event->attr.sample_period = q->period;
	event->hw.idx = -1;
	event->hw.last_cpu = -1;
	event->hw.last_tag = ~0ULL;
	event->hw.extra_reg.idx = EXTRA_REG_NONE;
	event->hw.branch_reg.idx = EXTRA_REG_NONE;
	event->hw.sample_period = q->freq ? 1 : q->period;
	event->hw.last_period = event->hw.sample_period;
	local64_set(&event->hw.period_left, event->hw.sample_period);
}

/* With records of branches hw_config() takes its share of what excludes others. */
static void undo_config(struct perf_event *event)
{
	if (event->destroy)
		del_exclusive(x86_lbr_exclusive_lbr);
}

static struct answer ask(const struct question *q, u64 config)
{
	struct perf_event *event = q->event;
	struct event_constraint *c;
	struct answer a = { };

	make_event(q, config);
	a.error = xp->hw_config(event);
	/* An extra register that is not there under QEMU: hw.config is complete. */
	if (a.error && a.error != -ENXIO)
		goto out;
	c = xp->get_event_constraints(q->cpuc, 0, event);
	a.counters = c->idxmsk64;
	a.constraint_flags = c->flags;
	a.flags = event->hw.flags;
	a.config = event->hw.config ^ (config & xp->config_mask) ^ ARCH_PERFMON_EVENTSEL_INT ^
		   ARCH_PERFMON_EVENTSEL_USR ^ (q->precise ? 0 : ARCH_PERFMON_EVENTSEL_OS);
	a.extra_reg = event->hw.extra_reg.idx;
	a.extra_msr = event->hw.extra_reg.reg;
	a.branches = event->attr.branch_sample_type;
	if (xp->put_event_constraints)
		xp->put_event_constraints(q->cpuc, event);
out:
	undo_config(event);
	return a;
}

static bool same(const struct answer *a, const struct answer *b)
{
	return a->error == b->error && a->flags == b->flags && a->config == b->config &&
	       a->constraint_flags == b->constraint_flags && a->counters == b->counters &&
	       a->extra_reg == b->extra_reg && a->extra_msr == b->extra_msr &&
	       a->branches == b->branches;
}

static void show_answer(struct seq_file *m, const char *what, unsigned int code, int from, int to,
			const struct answer *a)
{
	seq_printf(m, "%s event %#x umask %02x-%02x: ", what, code, from, to);
	if (a->error)
		seq_printf(m, "error %d ", a->error);
	seq_printf(m, "counters %#llx flags %#x/%#x", a->counters, a->constraint_flags, a->flags);
	if (a->config)
		seq_printf(m, " config ^ %#llx", a->config);
	if (a->extra_msr)
		seq_printf(m, " extra %d msr %#llx", a->extra_reg, a->extra_msr);
	if (a->branches)
		seq_printf(m, " branches %#llx", a->branches);
	seq_puts(m, "\n");
}

/* Event numbers have 8 bits, and on AMD four more at 32. */
static u64 config_of(unsigned int code, int umask)
{
	return (code & 0xff) | umask << 8 | (u64)(code >> 8) << 32;
}

static void show_code(struct seq_file *m, const char *what, const struct question *q,
		      unsigned int code, const struct answer *usual)
{
	struct answer a, last;
	int umasks = code < 256 ? 256 : 4;	/* no family has rules for those of the others */
	int umask, from = 0;

	for (umask = 0; umask <= umasks; umask++) {
		if (umask < umasks)
			a = ask(q, config_of(code, umask) | q->extra);
		if (umask && (umask == umasks || !same(&a, &last))) {
			if (!same(&last, usual))
				show_answer(m, what, code, from, umask - 1, &last);
			from = umask;
		}
		last = a;
	}
}

static void show_codes(struct seq_file *m, const char *what, struct question q)
{
	unsigned int code, last = xp->config_mask >> 32 & 0xf ? 0xfff : 0xff;
	struct answer usual = ask(&q, config_of(0x11, 0x55) | q.extra);

	if (q.precise > max_precise())
		return;
	show_answer(m, what, 0x11, 0x55, 0x55, &usual);
	for (code = 0; code <= last; code++) {
		show_code(m, what, &q, code, &usual);
		cond_resched();
	}
}

static void show_all_codes(struct seq_file *m, struct question q)
{
	const u64 cmask = 1ULL << 24, any = 1ULL << 21, inv = 1ULL << 23, edge = 1ULL << 18;

	show_codes(m, "count", q);
	q.extra = cmask;
	show_codes(m, "cmask", q);
	q.extra = cmask | inv;
	show_codes(m, "cmask,inv", q);
	q.extra = edge;
	show_codes(m, "edge", q);
	if (xp->config_mask & any) {
		q.extra = any;
		show_codes(m, "any", q);
	}
	if (xp->config_mask & HSW_IN_TX) {
		q.extra = HSW_IN_TX_CHECKPOINTED;
		show_codes(m, "in_tx_cp", q);
	}
	q.extra = 0;
	q.period = 10007;
	show_codes(m, "sample", q);
	for (q.precise = 1; q.precise <= 3; q.precise++) {
		char what[] = "precise N";

		what[8] = '0' + q.precise;
		show_codes(m, what, q);
	}
	q.precise = 1;
	q.extra = 16ULL << 24 | inv;
	show_codes(m, "precise 1 inv,cmask=16", q);
	q.extra = 0;
	q.freq = true;
	show_codes(m, "precise 1 freq", q);
}

/* What limit_period makes of a period that the hardware cannot do. */
static void show_periods(struct seq_file *m, struct question q)
{
	static const u64 code[] = { 0x11, 0x3c, 0xc0, 0x1c0, 0x300, 0x108, 0x400 };
	static const s64 period[] = { 1, 2, 31, 32, 33, 100, 127, 128, 129, 191, 256, 0x7ffffffe };
	int i, j;

	if (!xp->limit_period)
		return;
	q.period = 0x10007;
	for (q.precise = 0; q.precise <= max_precise(); q.precise++) {
		for (i = 0; i < ARRAY_SIZE(code); i++) {
			if (ask(&q, code[i]).error)
				continue;
			seq_printf(m, "periods %#llx precise %d:", code[i], q.precise);
			for (j = 0; j < ARRAY_SIZE(period); j++) {
				s64 left = period[j];

				xp->limit_period(q.event, &left);
				seq_printf(m, " %lld", left);
			}
			seq_puts(m, "\n");
		}
	}
}

static void free_question(struct question *q)
{
	if (q->cpuc) {
		finish_cpuc(q->cpuc);
		kfree(q->cpuc);
	}
	kfree(q->event);
}

static int make_question(struct question *q)
{
	q->event = kzalloc(EVENT_SIZE, GFP_KERNEL);
	q->cpuc = kzalloc(sizeof(*q->cpuc), GFP_KERNEL);
	if (!q->event || !q->cpuc)
		return -ENOMEM;
	INIT_LIST_HEAD(&q->event->sibling_list);
	q->event->group_leader = q->event;
	q->event->pmu = pmu_of_cpu(0);
	q->event->cpu = 0;
	q->cpuc->is_fake = 1;
	q->cpuc->pmu = pmu_of_cpu(0);
	return prepare_cpuc(q->cpuc, 0);
}

static int show(struct seq_file *m, void *v)
{
	struct question q = { };
	int ret;

	if (!xp->name) {
		seq_puts(m, "no PMU\n");
		return 0;
	}
	/* Buffers for PEBS are there while somebody uses the counters. */
	ret = reserve();
	if (ret)
		return ret;
	show_members(m);
	show_hooks(m);
	if (xp->num_hybrid_pmus)
		goto out;
	show_registers(m);
	show_event_map(m);
	show_extra_regs(m);
	show_branches(m);
	ret = make_question(&q);
	if (!ret) {
		show_all_codes(m, q);
		show_periods(m, q);
	}
	free_question(&q);
out:
	release();
	return ret;
}

static int open(struct inode *inode, struct file *file)
{
	/* Large enough: what does not fit is asked all over again. */
	return single_open_size(file, show, NULL, 1 << 20);
}

static const struct proc_ops ops = {
	.proc_open	= open,
	.proc_read	= seq_read,
	.proc_lseek	= seq_lseek,
	.proc_release	= single_release,
};

static int __init x86_facts_init(void)
{
	int ret = find_lookup() ?: find_symbols();

	if (ret)
		return ret;
	return proc_create("x86_facts", 0400, NULL, &ops) ? 0 : -ENOMEM;
}

static void __exit x86_facts_exit(void)
{
	remove_proc_entry("x86_facts", NULL);
}
module_exit(x86_facts_exit);
#else
static int __init x86_facts_init(void)
{
	return -ENODEV;
}
#endif
module_init(x86_facts_init);

MODULE_DESCRIPTION("What the x86 CPU PMU driver knows, for comparison");
MODULE_LICENSE("GPL");
