// SPDX-License-Identifier: GPL-2.0
/*
 * Kin on a CPU: the contexts that members of a kin have in common come in and go out.
 *
 * Members have no context of their own, see life/kin.c.  When one of them comes in on a CPU, so
 * does a context of the kin: the one that kin->home[] has for this CPU, or one that is not in
 * anywhere and moves here.  If each CPU has its own (kin->per_cpu) none moves.  When the next
 * task is a member as well, in the same cgroup, it stays in, and nothing happens at all.
 *
 * pe_cpu.shared tells which one is in on this CPU.  It is written by the CPU itself with irqs off.
 * While it leads to one, a context of the task's own is not in.
 * A task that is made to leave the kin while it runs has ceased to be a member before its CPU hears
 * of that; until then, and if the task is switched out first, pe_cpu.shared is what holds.
 *
 * There is always one: a kin has as many contexts as members, or one for each CPU.  Each one that
 * is in is so for a member that runs there, or is about to, and who comes is another member.
 * Therefore a context is in somewhere only until its last member has gone or been told, and only
 * after that ceases to be counted in kin->refs.  One that has lost its last event is in nowhere:
 * see retire_clocks().
 *
 *	kin->lock, then ctx->lock	ctx->home and kin->home[] change, ctx not in
 *	ctx->lock			a context comes in: only where ctx->home says
 *
 * So a CPU that has read its kin->home[] without a lock looks at ctx->home again.
 *
 * Irqs off.
 */

#include "sched.h"

/* All contexts of a kin that is not per_cpu have the same events, so the first one tells. */
static bool has_events(struct pe_kin *kin)
{
	return READ_ONCE(list_first_entry(&kin->ctxs, struct pe_ctx, kin_entry)->nr_events);
}

/* One that is in nowhere, just now; if possible one that no other CPU has. */
static struct pe_ctx *find_idle(struct pe_kin *kin)
{
	struct pe_ctx *ctx, *found = NULL;

	list_for_each_entry(ctx, &kin->ctxs, kin_entry) {
		if (READ_ONCE(ctx->oncpu) >= 0)
			continue;
		if (ctx->home < 0)
			return ctx;
		found = found ?: ctx;
	}
	return found;
}

/* Return: it has no other place now. */
static bool move_here(struct pe_kin *kin, struct pe_ctx *ctx)
{
	int cpu = smp_processor_id();

	guard(raw_spinlock)(&ctx->lock);
	if (ctx->oncpu >= 0)
		return false;
	if (ctx->home >= 0)
		WRITE_ONCE(kin->home[ctx->home], NULL);
	ctx->home = cpu;
	WRITE_ONCE(kin->home[cpu], ctx);
	return true;
}

/*
 * A context that is in nowhere moves to this CPU.  There is one at any time, but it may be another
 * one with each look: others come in and go out meanwhile.
 */
static struct pe_ctx *get_one_here(struct pe_kin *kin)
{
	struct pe_ctx *ctx;
	int tries;

	guard(raw_spinlock)(&kin->lock);
	for (tries = 0; tries < 100; tries++) {
		ctx = find_idle(kin);
		if (ctx && move_here(kin, ctx))
			return ctx;
		cpu_relax();
	}
	WARN_ONCE(1, "no context for a member of a kin\n");
	return NULL;
}

/* The context for this CPU; or NULL: there are no events, or none of them is for it. */
static struct pe_ctx *ctx_here(struct pe_kin *kin)
{
	struct pe_ctx *ctx = READ_ONCE(kin->home[smp_processor_id()]);

	if (unlikely(!ctx) && !kin->per_cpu && has_events(kin))
		ctx = get_one_here(kin);
	return ctx && READ_ONCE(ctx->nr_events) ? ctx : NULL;
}

/**
 * pe_kin_come_in() - a member comes in on this CPU, where no context of a kin is in
 * @kin: its kin
 * @comes: the member, if a switch brings it; else NULL
 *
 * Return: the context that came in for it, or NULL if there is nothing to count.
 */
struct pe_ctx *pe_kin_come_in(struct pe_kin *kin, struct task_struct *comes)
{
	int cpu = smp_processor_id();
	struct pe_ctx *ctx;

	lockdep_assert_irqs_disabled();
	while ((ctx = ctx_here(kin))) {
		/* Before it is in: drivers ask for the context of what they start. */
		__this_cpu_write(pe_cpu.shared, ctx);
		if (!pe_ctx_enter_current(ctx, comes, cpu))
			continue;
		if (READ_ONCE(ctx->oncpu) == cpu)
			return ctx;
		break;
	}
	__this_cpu_write(pe_cpu.shared, NULL);
	return NULL;
}

/**
 * pe_kin_go_out() - the context of a kin goes out on this CPU
 * @ctx: it, pe_cpu.shared
 */
void pe_kin_go_out(struct pe_ctx *ctx)
{
	lockdep_assert_irqs_disabled();
	pe_ctx_leave_current(ctx);
	__this_cpu_write(pe_cpu.shared, NULL);
}

/**
 * pe_kin_settle_here() - current may have left a kin, become a member, or got its first event
 *
 * What is in for it afterwards is what is to count for it now.
 */
void pe_kin_settle_here(void)
{
	struct pe_ctx *shared = __this_cpu_read(pe_cpu.shared), *ctx = pe_task_ctx(current);
	struct pe_kin *kin = pe_task_kin(current);

	lockdep_assert_irqs_disabled();
	if (shared && shared->kin == kin)
		return;
	if (shared)
		pe_kin_go_out(shared);
	if (kin)
		pe_kin_come_in(kin, NULL);
	else if (ctx)
		pe_ctx_enter_current(ctx, NULL, -1);
}
