// SPDX-License-Identifier: GPL-2.0
/*
 * BPF programs on events.
 *
 * Owns perf_event.prog and perf_event.bpf_cookie.  There are two kinds of programs:
 *
 *	on trace events	tracepoints, kprobes, uprobes: the program joins the list of the trace event
 *			itself (kernel/trace/bpf_trace.c) and runs at its hits, in whatever task;
 *			perf_trace_run_bpf_submit() and the probes ask it.  The event is what holds
 *			it there.
 *	on samples	all other events: the program runs at each overflow and decides whether
 *			there is a sample, a signal, and one less to make (PERF_EVENT_IOC_REFRESH).
 *
 * Programs come by ioctl() and by bpf_link_create(), one for an event.  The event owns a reference
 * and gives it back when the link or the event goes.  An inherited event starts with the program
 * on samples that its parent has at fork, and from then on has a reference of its own.
 *
 * Attaching is done under ctx->mutex, in task context.  Overflows are in any context, NMI included,
 * and look without a lock, once, under RCU; a program's memory and maps stay for a grace period
 * after the last reference.  Labelled pairs:
 *
 *   A  attach_to_samples(): cookie, then program, which is released
 *   B  pe_bpf_passes(), pe_bpf_inherit(): program acquired, then the cookie is read
 *
 * An overflow under way while the program is detached runs it to the end, perhaps with the cookie
 * of a successor attached meanwhile.
 */
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/static_call.h>
#include <linux/syscalls.h>
#include <linux/trace_events.h>

#include "sources.h"

/* The driver of a PMU that records branches takes this over, for bpf_get_branch_snapshot(). */
DEFINE_STATIC_CALL_RET0(perf_snapshot_branch_stack, perf_snapshot_branch_stack_t);

#if defined(CONFIG_BPF_SYSCALL) && defined(CONFIG_EVENT_TRACING)

/**
 * pe_bpf_passes() - an event overflowed that has, or had, a program
 * @e: the event
 * @data: the sample, initialised
 * @regs: registers at the overflow
 *
 * On the event's CPU, interrupts off, NMI included.  The program sees the sample as it would be
 * written.  It does not run inside of another program: what overflows there is dropped.
 *
 * Return: whether there is to be a sample.
 */
bool pe_bpf_passes(struct pe_event *e, struct perf_sample_data *data, struct pt_regs *regs)
{
	struct bpf_perf_event_data_kern ctx = {
		.regs	= perf_arch_bpf_user_pt_regs(regs),
		.data	= data,
		.event	= &e->pub,
	};
	struct bpf_prog *prog;
	u32 verdict = 0;

	/* That one has run already, and tracing keeps the pointer for longer than the program. */
	if (pe_trace_call(e))
		return true;
	guard(rcu)();
	prog = smp_load_acquire(&e->prog);	/* B */
	if (!prog)
		return true;		/* detached since the caller looked */

	if (likely(__this_cpu_inc_return(bpf_prog_active) == 1)) {
		perf_prepare_sample(data, &e->pub, regs);
		/* A program may look at the address whether or not the sample has one. */
		if (!(data->sample_flags & PERF_SAMPLE_ADDR))
			data->addr = 0;
		verdict = bpf_prog_run(prog, &ctx);
	}
	__this_cpu_dec(bpf_prog_active);
	return verdict;
}

/*
 * Stacks cannot be walked from where a precise sample says it was: the registers are older than the
 * stack.  Programs get the chain that the driver took, so it must be there, and whole.
 */
static bool has_whole_chain(const struct perf_event_attr *attr)
{
	return attr->sample_type & PERF_SAMPLE_CALLCHAIN && !attr->exclude_callchain_kernel &&
	       !attr->exclude_callchain_user;
}

static int attach_to_samples(struct pe_event *e, struct bpf_prog *prog, u64 cookie)
{
	/* A handler with a context belongs to the kernel: ptrace, for instance. */
	if (e->overflow_handler_context)
		return -EINVAL;
	if (e->prog)
		return -EEXIST;
	if (prog->type != BPF_PROG_TYPE_PERF_EVENT)
		return -EINVAL;
	if (e->attr.precise_ip && prog->call_get_stack && !has_whole_chain(&e->attr))
		return -EPROTO;

	pe_take_slow_overflow(e);
	e->bpf_cookie = cookie;
	smp_store_release(&e->prog, prog);	/* A */
	return 0;
}

/* What a trace event is, and what a program on it may be. */
static int check_trace_program(struct trace_event_call *call, const struct bpf_prog *prog)
{
	bool kprobe = call->flags & TRACE_EVENT_FL_KPROBE;
	bool uprobe = call->flags & TRACE_EVENT_FL_UPROBE;
	bool record = call->flags & TRACE_EVENT_FL_TRACEPOINT || is_syscall_trace_event(call);

	switch (prog->type) {
	case BPF_PROG_TYPE_KPROBE:
		if (record || !(kprobe || uprobe))
			return -EINVAL;
		break;
	case BPF_PROG_TYPE_TRACEPOINT:
		if (!record || kprobe || uprobe)
			return -EINVAL;
		break;
	default:
		return -EINVAL;
	}

	/* Only where user space was interrupted it may sleep, only a kernel function be skipped. */
	if (prog->type == BPF_PROG_TYPE_KPROBE && prog->sleepable && !uprobe)
		return -EINVAL;
	if (prog->kprobe_override && !kprobe)
		return -EINVAL;
	/* A program must not read behind the fields of the record. */
	if (record && prog->aux->max_ctx_offset > trace_event_get_offsets(call))
		return -EACCES;
	return 0;
}

/**
 * pe_bpf_attach() - run a BPF program at each hit of an event
 * @e: the event; its ctx->mutex is held
 * @prog: the program
 * @cookie: value for bpf_get_attach_cookie()
 *
 * Return: 0, and the caller's reference on @prog belongs to the event; -EEXIST if the event has a
 * program; -EINVAL for a program of the wrong type or kind; -EACCES for one that reads beyond the
 * record; -EPROTO for one that needs a call chain the event does not have; -E2BIG, -ENOMEM.
 */
int pe_bpf_attach(struct pe_event *e, struct bpf_prog *prog, u64 cookie)
{
	struct trace_event_call *call = pe_trace_call(e);
	int err;

	lockdep_assert_held(&pe_ctx(e)->mutex);
	if (!call)
		return attach_to_samples(e, prog, cookie);
	err = check_trace_program(call, prog);
	return err ?: perf_event_attach_bpf_prog(&e->pub, prog, cookie);
}

/**
 * perf_event_free_bpf_prog() - a link goes: take its program off the event
 * @event: the event
 *
 * Contract; task context, may sleep.  Nobody else can detach meanwhile: the link keeps the event,
 * and is what the program came by.
 */
void perf_event_free_bpf_prog(struct perf_event *event)
{
	struct pe_event *e = pe(event);
	struct bpf_prog *prog;

	if (pe_trace_call(e)) {
		perf_event_detach_bpf_prog(event);
		return;
	}
	/* Copies keep it. */
	prog = xchg(&e->prog, NULL);
	if (prog)
		bpf_prog_put(prog);
}

/**
 * pe_bpf_inherit() - give a new child the program that its parent has
 * @e: the child, bound to its PMU, not attached yet
 *
 * A program on a trace event runs for all tasks: the parent's is enough.
 */
void pe_bpf_inherit(struct pe_event *e)
{
	struct pe_event *parent = pe_parent(e);
	struct bpf_prog *prog;

	if (pe_trace_call(e))
		return;
	guard(rcu)();
	prog = smp_load_acquire(&parent->prog);	/* B */
	/* A link may be giving the last reference back right now. */
	if (!prog || IS_ERR(bpf_prog_inc_not_zero(prog)))
		return;
	e->bpf_cookie = parent->bpf_cookie;
	e->prog = prog;
}

/**
 * pe_bpf_release() - an event goes, and its program
 * @e: an event that is in no context any more
 *
 * Task context, may sleep; the PMU is still bound.  The pointer stays: a passive event may be hit
 * on another CPU until RCU is done, and that sample is the program's to refuse too.
 */
void pe_bpf_release(struct pe_event *e)
{
	if (!e->prog)
		return;
	if (pe_trace_call(e))
		perf_event_detach_bpf_prog(&e->pub);
	else
		bpf_prog_put(e->prog);
}

#else /* !CONFIG_BPF_SYSCALL || !CONFIG_EVENT_TRACING */

void perf_event_free_bpf_prog(struct perf_event *event)
{
}

#endif
