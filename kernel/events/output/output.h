/* SPDX-License-Identifier: GPL-2.0 */
/* Layer 2: the output plan, samples and small records, what tracers write. */
#ifndef _KERNEL_EVENTS_OUTPUT_H
#define _KERNEL_EVENTS_OUTPUT_H

#include <linux/hardirq.h>
#include <linux/preempt.h>
#include <linux/uio.h>

#include "../ext.h"
#include "../pmu/pmu.h"
#include "../ring/ring.h"
#include "read_format.h"

/* The fields that tell who, when and where: in samples and in the trailer of sample_id_all. */
#define PE_SAMPLE_ID_FIELDS	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |	\
				 PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)
#define PE_SAMPLE_WEIGHTS	(PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)

/* interrupt_context_level(), where one test tells most often that it is the lowest. */
static __always_inline unsigned char pe_context_level(void)
{
	if (likely(!(preempt_count() & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET))))
		return 0;
	return interrupt_context_level();
}

/**
 * pe_recursion_enter() - enter a section that must not nest in its own context level
 * @busy: a byte per level (task, softirq, hardirq, NMI), of this CPU or of current
 *
 * Any context, preemption off.  Return: the level to give back, or -1 when it is taken.
 */
static __always_inline int pe_recursion_enter(u8 *busy)
{
	int level = pe_context_level();

	if (busy[level])
		return -1;
	busy[level] = 1;
	barrier();	/* an interrupt of the same level sees the mark */
	return level;
}

static inline void pe_recursion_leave(u8 *busy, unsigned char level)
{
	barrier();	/* the section is over before its mark */
	busy[level] = 0;
}

static inline bool pe_current_is_user(void)
{
	/* An interrupt may find other flags of current on their way; this one stays. */
	return data_race(is_user_task(current));
}

#ifdef CONFIG_HAVE_PERF_USER_STACK_DUMP
#define pe_have_user_stack_dump()	true
#define pe_user_stack_pointer(regs)	user_stack_pointer(regs)
#else
#define pe_have_user_stack_dump()	false
#define pe_user_stack_pointer(regs)	0UL
#endif

/* callchain.c */
struct perf_callchain_entry *pe_callchain_of_kernel(struct pt_regs *regs, bool kernel,
						    u32 max_stack, u64 cookie);
void pe_callchain_walk_user(struct perf_callchain_entry *chain, u32 most);

/* deferred.c */
u64 pe_deferred_request(void);
void pe_deferred_forget(void);
u64 pe_deferred_begin(void);
void pe_deferred_end(void);

/* plan.c: pure */
void pe_plan_compile(struct pe_plan *plan, const struct perf_event_attr *attr);
u32 pe_plan_read_size(u64 read_format, unsigned int nr_siblings);
bool pe_plan_read_fits(u64 read_format, unsigned int nr_siblings);

/* What a read of @e returns now. */
static inline u32 pe_read_size(const struct pe_event *e)
{
	return pe_plan_read_size(e->attr.read_format, READ_ONCE(e->group_leader->nr_siblings));
}

/* masks.c */
void pe_masks_set(struct pe_event *e, const struct pe_masks *masks);
void pe_masks_begin(struct pe_event *e);
u32 pe_masks_size(const struct pe_event *e, const struct pe_masks *masks);
u64 *pe_put_masked(u64 *w, struct pe_event *e, struct pe_masks masks, u32 len, bool fresh);

/* What PERF_SAMPLE_READ of a sample is now. */
static inline u32 pe_sample_read_size(const struct pe_event *e)
{
	const struct pe_masks *masks = pe_masks(e);

	return unlikely(masks) ? pe_masks_size(e, masks) : pe_read_size(e);
}

/* sample.c */
void pe_id_sample_collect(struct perf_sample_data *data, struct pe_event *e);
/* A record of @e has found no room.  A session has such numbers of its targets, too. */
static inline void pe_count_lost(struct pe_event *e)
{
	atomic64_inc(&e->sink->lost_samples);
	if (pe_of_target(e))
		atomic64_inc(&e->lost_samples);
}

u32 pe_event_pid(const struct pe_event *e, struct task_struct *task);
u32 pe_event_tid(const struct pe_event *e, struct task_struct *task);
u64 pe_event_clock(const struct pe_event *e);

/* Both, in the order of the ABI. */
static __always_inline void pe_ids_of(const struct pe_event *e, struct task_struct *task, u32 *pid,
				      u32 *tid)
{
	/* The numbers of the initial namespace are at hand while a task has its pids. */
	if (likely(e->sink->ns == &init_pid_ns && pid_alive(task))) {
		*pid = task->tgid;
		*tid = task->pid;
	} else {
		*pid = pe_event_pid(e, task);
		*tid = pe_event_tid(e, task);
	}
}

static __always_inline void pe_current_ids(const struct pe_event *e, u32 *pid, u32 *tid)
{
	pe_ids_of(e, current, pid, tid);
}

u64 pe_primary_id(const struct pe_event *e);	/* id of the event that user space opened */
u32 pe_sample_size(const struct perf_sample_data *data, const struct pe_event *e);

/* write.c: what the members of a group have counted */

/*
 * The value shown in a sample.  With inherit every task tells its own count, because nobody could
 * add up children that run elsewhere now.
 */
static inline u64 pe_count_for_sample(struct pe_event *e, u64 now, bool own)
{
	return pe_count_now(e, now) + (own ? 0 : atomic64_read(&e->gone_count));
}

/*
 * The counter of a member of a scheduled group runs on.  @fresh: the driver has read those of the
 * PMU of @e.
 */
static inline void pe_refresh_member(struct pe_event *m, const struct pe_event *e, bool scheduled,
				     bool fresh)
{
	if (scheduled && m->state == PERF_EVENT_STATE_ACTIVE && !(fresh && m->pmu == e->pmu))
		m->pmu->read(&m->pub);
}

/* write.c: layouts; where they end */
void *pe_put_read(u64 *w, struct pe_event *e, u32 len, bool fresh);
void *pe_put_ids(u64 *w, const struct pe_event *e);
void *pe_put_collected_ids(u64 *w, const struct pe_event *e, const struct perf_sample_data *data);

/* The trailer, if the event has one: of this moment, or of pe_id_sample_collect(). */
static __always_inline void *pe_put_trailer(void *at, const struct pe_event *e)
{
	return e->plan.id_size ? pe_put_ids(at, e) : at;
}

static __always_inline void *pe_put_collected_trailer(void *at, const struct pe_event *e,
						      const struct perf_sample_data *data)
{
	return e->plan.id_size ? pe_put_collected_ids(at, e, data) : at;
}

/*
 * A record with a fixed body: begins, writes header (type, misc, size with trailer), body (a
 * multiple of 8 bytes) and sample_id trailer, ends.  Any context.
 * Return: 0, -ENOSPC without buffer or when lost.
 */
int pe_record_emit(struct pe_event *e, u32 type, u16 misc, const void *body, u16 len);

/* The same with a body of @nr pieces; one that is longer than a record can be is lost. */
int pe_record_write(struct pe_event *e, u32 type, u16 misc, const struct kvec *piece,
		    unsigned int nr);

/* The first in a buffer that need not be (any more) the event's, but is kept by the caller. */
int pe_record_emit_to(struct perf_buffer *rb, struct pe_event *e, u32 type, u16 misc,
		      const void *body, u16 len);

/* emit.c: the beginning of that */
int pe_output_begin_in(struct perf_output_handle *handle, struct pe_event *e,
		       struct perf_buffer *rb, unsigned int size);

/* A record that no header could tell the length of is lost. Return: -ENOSPC */
int pe_record_too_long(struct pe_event *e);

/*
 * Skid: an event leaves out the kernel, but its interrupt came only when the CPU was in there
 * already.  Such a sample is kept, for tools count samples, and tells nothing of the kernel: no
 * address, no registers.  All code that puts such things into a sample or a signal asks here, with
 * the registers that they come from.  Whose event it is does not matter.
 */
static __always_inline bool pe_hides_kernel(const struct pe_event *e, struct pt_regs *regs)
{
	return e->plan.excludes & PE_EXCLUDES_KERNEL && unlikely(!user_mode(regs));
}

/* Less than PE_BUFFER_TAIL bytes. */
static inline void pe_output_copy(struct perf_output_handle *handle, const void *buf,
				  unsigned int len)
{
	memcpy(handle->addr, buf, len);
	pe_output_wrote(handle, handle->addr + len);
}

/* record.c */
void pe_record_throttle(struct pe_event *e);
void pe_record_unthrottle(struct pe_event *e);
bool pe_tells_read(const struct pe_event *e);
void pe_record_reads(struct llist_node *copies, struct task_struct *task);

/* aux.c: what a member of a tracer's group needs */
u64 pe_aux_sample_size(const struct pe_event *e, u64 room);
void pe_aux_sample_emit(struct perf_output_handle *handle, const struct pe_event *e, u64 size);
void pe_aux_pause(struct pe_event *e);
void pe_aux_resume(struct pe_event *e);
void pe_record_itrace_start(struct pe_event *e);

/*
 * Where was the CPU?  To an event that counts no guests a guest is nothing but the place where the
 * host's kernel entered it; the architecture would say where in the guest.
 */
static inline bool pe_hides_guest(const struct pe_event *e)
{
	return IS_ENABLED(CONFIG_GUEST_PERF_EVENTS) && unlikely(e->attr.exclude_guest) &&
	       perf_guest_state();
}

static inline unsigned long pe_sample_ip(const struct pe_event *e, struct pt_regs *regs)
{
	return pe_hides_guest(e) ? instruction_pointer(regs) : perf_instruction_pointer(regs);
}

static inline u16 pe_sample_misc(const struct pe_event *e, struct pt_regs *regs)
{
	u16 misc = perf_misc_flags(regs);

	if (!pe_hides_guest(e))
		return misc;
	misc &= ~PERF_RECORD_MISC_CPUMODE_MASK;
	return misc | (user_mode(regs) ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL);
}

/* Does it act on the AUX area of its leader?  Then it has e->aux_event while it is in the group. */
static inline bool pe_needs_tracer(const struct pe_event *e)
{
	const struct perf_event_attr *attr = &e->attr;

	return attr->aux_output || attr->aux_sample_size || attr->aux_pause || attr->aux_resume;
}

#endif /* _KERNEL_EVENTS_OUTPUT_H */
