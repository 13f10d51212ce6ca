// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: a context on its own: its last event and its last group leave, or a PMU does; it does not
 * come in without a reason; calls that do not wait for another CPU; its end; and the timer of
 * turns.
 *
 * The context is no task's, so nobody else sees it, whatever it says of a CPU.
 */
#include <kunit/test.h>
#include <linux/sched/task.h>

#include "../life/life.h"
#include "../sched/sched.h"

static struct pe_ctx *make_ctx(struct kunit *test)
{
	struct pe_ctx *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ctx);
	pe_ctx_init(ctx, current, -1);
	put_task_struct(current);	/* who runs this is there until the end */
	return ctx;
}

/* One that counts hits, of any CPU. */
static struct pe_event *make_event(struct kunit *test)
{
	struct pe_event *e = kunit_kzalloc(test, sizeof(*e), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, e);
	e->attr.type = PERF_TYPE_SOFTWARE;
	e->attr.config = PERF_COUNT_SW_DUMMY;
	e->event_caps = PERF_EV_CAP_SOFTWARE;
	e->cpu = -1;
	e->passive = true;
	e->counts_hits = true;
	INIT_LIST_HEAD(&e->mapped_entry);
	return e;
}

/* A context without events is in nowhere: no switch may ever take it out, see life/account.c. */
static void last_event_leaves(struct kunit *test)
{
	struct pe_ctx *ctx = make_ctx(test);
	struct pe_event *first = make_event(test), *last = make_event(test);
	struct pe_slot *slot = kunit_kzalloc(test, sizeof(*slot), GFP_KERNEL);
	int between;

	KUNIT_ASSERT_NOT_NULL(test, slot);
	pe_slot_init(slot);
	last->attr.inherit = 1;
	scoped_guard(raw_spinlock_irq, &ctx->lock) {
		ctx->oncpu = smp_processor_id();
		pe_clock_start(&ctx->clock, 100);
		pe_clock_start(&ctx->any.clock, 100);
		ctx->here = slot;
		pe_clock_start(&slot->clock, 100);
		pe_ctx_add(ctx, first);
		pe_ctx_add(ctx, last);
		pe_ctx_remove(ctx, first, 103);
		between = ctx->oncpu;
		pe_ctx_remove(ctx, last, 105);
	}
	KUNIT_EXPECT_GE(test, between, 0);
	KUNIT_EXPECT_EQ(test, ctx->nr_events, 0U);
	/* A fork has nothing to copy; one that is under way sees that they went. */
	KUNIT_EXPECT_EQ(test, ctx->nr_inherit, 0U);
	KUNIT_EXPECT_EQ(test, ctx->changes, 4U);
	KUNIT_EXPECT_EQ(test, ctx->oncpu, -1);
	KUNIT_EXPECT_FALSE(test, ctx->clock.running);
	KUNIT_EXPECT_FALSE(test, ctx->any.clock.running);
	/* Who comes next is not in for having been here. */
	KUNIT_EXPECT_FALSE(test, pe_slot_is_in(slot));
	KUNIT_EXPECT_NULL(test, ctx->here);
	KUNIT_EXPECT_EQ(test, ctx->clock.time, 5ULL);
}

static DEFINE_PER_CPU(struct perf_cpu_pmu_context, parts);
static struct pmu scheduled = { .task_ctx_nr = perf_hw_context, .cpu_pmu_context = &parts };

static struct pe_pmu_ctx *add_pmu_ctx(struct kunit *test, struct pe_ctx *ctx)
{
	struct pe_pmu_ctx *pmu_ctx = kunit_kzalloc(test, sizeof(*pmu_ctx), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, pmu_ctx);
	pe_pmu_ctx_init(pmu_ctx, ctx, &scheduled);
	list_add_tail(&pmu_ctx->ctx_entry, &ctx->pmu_ctxs);
	return pmu_ctx;
}

/* One that has to be scheduled, disabled and alone. */
static struct pe_event *make_scheduled(struct kunit *test, struct pe_ctx *ctx,
				       struct pe_pmu_ctx *pmu_ctx)
{
	struct pe_event *e = make_event(test);

	e->attr.type = PERF_TYPE_RAW;
	e->event_caps = 0;
	e->passive = false;
	e->counts_hits = false;
	e->state = PERF_EVENT_STATE_OFF;
	e->pmu = &scheduled;
	e->ctx = &ctx->pub;
	e->pmu_ctx = &pmu_ctx->pub;
	e->group_leader = &e->pub;
	INIT_LIST_HEAD(&e->sibling_list);
	INIT_LIST_HEAD(&e->queue.link);
	INIT_LIST_HEAD(&e->running_entry);
	return e;
}

/*
 * Its task exits here, the file stays: the group is in no queue, and the PMU is told of no context
 * that is in.
 */
static void last_group_leaves(struct kunit *test)
{
	struct pe_ctx *ctx = make_ctx(test);
	struct pe_pmu_ctx *pmu_ctx = add_pmu_ctx(test, ctx), *in[2];
	struct pe_event *e = make_scheduled(test, ctx, pmu_ctx);
	unsigned int nr_groups;

	scoped_guard(irqsave) {
		pe_lock_here(ctx);
		ctx->oncpu = smp_processor_id();
		pe_clock_start(&ctx->clock, 100);
		pe_clock_start(&ctx->any.clock, 100);
		pe_install(e, 101);
		nr_groups = ctx->nr_groups;
		in[0] = pe_cpc(&scheduled)->task_pmu_ctx;
		pe_withdraw(e, PE_KEEP_GROUP, 105);
		in[1] = pe_cpc(&scheduled)->task_pmu_ctx;
		pe_unlock_here(ctx);
	}
	KUNIT_EXPECT_EQ(test, nr_groups, 1U);
	KUNIT_EXPECT_PTR_EQ(test, in[0], pmu_ctx);
	KUNIT_EXPECT_NULL(test, in[1]);
	KUNIT_EXPECT_FALSE(test, e->queued);
	KUNIT_EXPECT_TRUE(test, group_queue_empty(&pmu_ctx->any.queue[PE_FLEXIBLE]));
	KUNIT_EXPECT_EQ(test, ctx->nr_groups, 0U);
	KUNIT_EXPECT_EQ(test, pmu_ctx->nr_groups, 0U);
}

/* It waits for its task, or for a counter, until it is withdrawn: then it waits no more. */
static void waiting_group_leaves(struct kunit *test)
{
	struct pe_ctx *ctx = make_ctx(test);
	struct pe_pmu_ctx *pmu_ctx = add_pmu_ctx(test, ctx);
	struct pe_event *e = make_scheduled(test, ctx, pmu_ctx);

	e->state = PERF_EVENT_STATE_INACTIVE;
	scoped_guard(raw_spinlock_irq, &ctx->lock) {
		pe_install(e, 101);
		pe_withdraw(e, PE_KEEP_GROUP, 105);
	}
	KUNIT_EXPECT_EQ(test, (int)e->state, (int)PERF_EVENT_STATE_OFF);
	KUNIT_EXPECT_FALSE(test, e->enabled.running);
	KUNIT_EXPECT_FALSE(test, e->queued);
}

/* Nothing of a PMU that leaves stays in the slot of a CPU. */
static void pmu_leaves_a_slot(struct kunit *test)
{
	struct pe_ctx *ctx = make_ctx(test);
	struct pe_pmu_ctx *pmu_ctx = add_pmu_ctx(test, ctx);
	struct pe_event *e = make_scheduled(test, ctx, pmu_ctx);
	bool before = true, afterwards = false;
	int err;

	e->cpu = 0;
	scoped_guard(mutex, &ctx->mutex) {
		err = pe_ctx_reserve(ctx, &scheduled, e);
		if (!err)
			before = list_empty(&ctx->by_cpu[0]->lanes);
		pe_pmu_ctx_fini(pmu_ctx);
		if (!err)
			afterwards = list_empty(&ctx->by_cpu[0]->lanes);
	}
	KUNIT_ASSERT_EQ(test, err, 0);
	KUNIT_EXPECT_FALSE(test, before);
	KUNIT_EXPECT_TRUE(test, afterwards);
	KUNIT_EXPECT_TRUE(test, list_empty(&ctx->pmu_ctxs));
	kfree(ctx->by_cpu[0]);
	kfree(ctx->by_cpu);
}

/* No reason to come in: there is nothing to count, or it is in already and its clocks run. */
static void stays_as_it_is(struct kunit *test)
{
	struct pe_ctx *ctx = make_ctx(test);
	struct pe_event *e = make_event(test);
	int empty;

	scoped_guard(irqsave) {
		pe_ctx_enter_current(ctx, NULL, -1);
		empty = ctx->oncpu;
	}
	scoped_guard(raw_spinlock_irq, &ctx->lock) {
		ctx->oncpu = 0;
		pe_clock_start(&ctx->clock, 100);
		pe_ctx_add(ctx, e);
	}
	scoped_guard(irqsave)
		pe_ctx_enter_current(ctx, NULL, -1);
	KUNIT_EXPECT_EQ(test, empty, -1);
	KUNIT_EXPECT_EQ(test, ctx->oncpu, 0);
	KUNIT_EXPECT_EQ(test, ctx->clock.offset, -100ULL);
}

static void note_irqs(struct pe_ctx *ctx, void *arg)
{
	*(bool *)arg = irqs_disabled();
}

/* Return: it left irqs off, which are on again. */
static bool irqs_are_off(void)
{
	bool off = irqs_disabled();

	if (off)
		local_irq_enable();
	return off;
}

/* From task context, as mmap() does for address filters. */
static void local_call(struct kunit *test)
{
	struct pe_ctx *ctx = make_ctx(test);
	bool inside = false, has_run, left_off;

	has_run = pe_call_locked_local(ctx, note_irqs, &inside);
	left_off = irqs_are_off();
	KUNIT_EXPECT_TRUE(test, has_run);
	KUNIT_EXPECT_TRUE(test, inside);
	KUNIT_EXPECT_FALSE(test, left_off);

	/* That of another CPU is not for this one. */
	ctx->task = NULL;
	ctx->cpu = nr_cpu_ids;
	inside = false;
	has_run = pe_call_locked_local(ctx, note_irqs, &inside);
	left_off = irqs_are_off();
	KUNIT_EXPECT_FALSE(test, has_run);
	KUNIT_EXPECT_FALSE(test, inside);
	KUNIT_EXPECT_FALSE(test, left_off);
}

/* Nobody has events of cgroups yet: whoever asks, no CPU follows the cgroups of its tasks. */
static void no_cgroup_to_follow(struct kunit *test)
{
	struct perf_cgroup *followed;
	unsigned int users;

	scoped_guard(irqsave) {
		users = this_cpu_read(pe_cpu.nr_cgroup_events);
		pe_cgroup_follow(current);
		followed = this_cpu_read(pe_cpu.cgrp);
	}
	KUNIT_EXPECT_EQ(test, users, 0U);
	KUNIT_EXPECT_NULL(test, followed);
}

/* One of a kin ends, while somebody looks at it who found it before. */
static void ends_with_its_kin(struct kunit *test)
{
	struct pe_ctx *ctx = pe_ctx_new(current);

	KUNIT_ASSERT_NOT_NULL(test, ctx);
	pe_ctx_get(ctx);
	pe_ctx_end_outside(ctx);
	KUNIT_EXPECT_TRUE(test, ctx->dead);
	KUNIT_EXPECT_EQ(test, refcount_read(&ctx->refs), 1U);
	pe_ctx_put(ctx);
}

/* The CPU of a timer goes before the turn is over: nothing is left of it, wherever it was. */
static void timer_is_forgotten(struct kunit *test)
{
	static struct pmu turning = { .hrtimer_interval_ms = 100000 };
	struct perf_cpu_pmu_context *cpc = kunit_kzalloc(test, sizeof(*cpc), GFP_KERNEL);
	bool before, after;

	KUNIT_ASSERT_NOT_NULL(test, cpc);
	cpc->cpu_pmu_ctx.pmu = &turning;
	pe_mux_init(cpc);
	scoped_guard(irqsave)
		pe_mux_arm(cpc);
	before = hrtimer_active(&cpc->mux);
	pe_mux_forget(cpc);
	after = hrtimer_active(&cpc->mux);
	hrtimer_cancel(&cpc->mux);
	KUNIT_EXPECT_TRUE(test, before);
	KUNIT_EXPECT_FALSE(test, after);
	KUNIT_EXPECT_FALSE(test, cpc->mux_armed);
}

#ifdef CONFIG_PERF_EVENTS_EXT
/* That of a session is no task's, and holds the one that it is said to be of until its end. */
static void session_lets_its_task_go(struct kunit *test)
{
	unsigned int before = refcount_read(&init_task.usage);
	struct pe_session *s = pe_session_new(false);

	KUNIT_ASSERT_NOT_NULL(test, s);
	KUNIT_EXPECT_EQ(test, refcount_read(&init_task.usage), before + 1);
	pe_session_end(s);
	KUNIT_EXPECT_EQ(test, refcount_read(&init_task.usage), before);
}
#endif

static struct kunit_case cases[] = {
	KUNIT_CASE(last_event_leaves),
	KUNIT_CASE(last_group_leaves),
	KUNIT_CASE(waiting_group_leaves),
	KUNIT_CASE(pmu_leaves_a_slot),
	KUNIT_CASE(stays_as_it_is),
	KUNIT_CASE(local_call),
	KUNIT_CASE(no_cgroup_to_follow),
	KUNIT_CASE(ends_with_its_kin),
	KUNIT_CASE(timer_is_forgotten),
#ifdef CONFIG_PERF_EVENTS_EXT
	KUNIT_CASE(session_lets_its_task_go),
#endif
	{}
};

static struct kunit_suite suite = {
	.name = "perf_context",
	.test_cases = cases,
};

kunit_test_suite(suite);
