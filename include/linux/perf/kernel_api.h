/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Performance events: counters that the kernel itself opens, BPF programs and guests.
 *
 * For users of in-kernel counters (KVM, breakpoints, the hard lockup detector), BPF, which takes
 * events from file descriptors and reads them where it runs, and hypervisors, which tell what the
 * guest on this CPU does.  It holds the life of such a counter, how it is read, and the callbacks
 * of a hypervisor.
 */
#ifndef _LINUX_PERF_KERNEL_API_H
#define _LINUX_PERF_KERNEL_API_H

#include <linux/err.h>
#include <linux/perf/event.h>
#include <linux/rcupdate.h>
#include <linux/static_call.h>
#include <linux/types.h>
#include <uapi/linux/bpf_perf_event.h>

struct file;

#ifdef CONFIG_PERF_EVENTS

/* ------------------------------------------------------- counters of the kernel */

/**
 * perf_event_create_kernel_counter - open an event from inside the kernel
 * @attr: copied; aux_output and aux_action must be zero
 * @cpu: CPU, or -1 with a @task
 * @task: task, or %NULL with a @cpu
 * @callback: overflow handler, %NULL for the one that writes samples
 * @context: for perf_event.overflow_handler_context
 *
 * Task context.  The event counts at once unless attr.disabled.  No permission is checked.
 *
 * Return: the event, or an ERR_PTR() as perf_event_open() would give.
 */
struct perf_event *perf_event_create_kernel_counter(struct perf_event_attr *attr, int cpu,
						    struct task_struct *task,
						    perf_overflow_handler_t callback,
						    void *context);
/* Close it.  Task context.  Return: 0. */
int perf_event_release_kernel(struct perf_event *event);
/* Switch an event and its children.  Task context, may wait for the event's CPU. */
void perf_event_enable(struct perf_event *event);
void perf_event_disable(struct perf_event *event);
/* Event's CPU, interrupts off, context not locked. */
void perf_event_disable_local(struct perf_event *event);
/* Event's CPU, NMI-safe: takes effect as soon as interrupts are on. */
void perf_event_disable_inatomic(struct perf_event *event);
/* Allow @refresh more samples and enable.  Return: 0, or -EINVAL if inherited or not sampling. */
int perf_event_refresh(struct perf_event *event, int refresh);
/* Change the period (attr.freq: frequency).  Return: 0 or -EINVAL. */
int perf_event_period(struct perf_event *event, u64 value);
/* Disable, and set the count to zero if @reset.  Return: the count before. */
u64 perf_event_pause(struct perf_event *event, bool reset);
/* Count and times, those of the children added.  Task context, mutexes. */
u64 perf_event_read_value(struct perf_event *event, u64 *enabled, u64 *running);
/**
 * perf_event_read_local - read a counter from where it counts
 * @event: an event of the current task or of this CPU
 * @value: count without children
 * @enabled: time enabled, or %NULL
 * @running: time counting, or %NULL
 *
 * NMI-safe.
 *
 * Return: 0; -EOPNOTSUPP for an inherited event; -EINVAL for one of another task or CPU; -EBUSY
 * for a pinned event that has no counter.
 */
int perf_event_read_local(struct perf_event *event, u64 *value, u64 *enabled, u64 *running);
/* From file descriptor to file (referenced) to event, or ERR_PTR(); and its attributes. */
struct file *perf_event_get(unsigned int fd);
const struct perf_event *perf_get_event(struct file *file);
const struct perf_event_attr *perf_event_attrs(struct perf_event *event);

#else /* !CONFIG_PERF_EVENTS */

PERF_OFF_RET(int, 0, perf_event_release_kernel, struct perf_event *event)
PERF_OFF(perf_event_enable, struct perf_event *event)
PERF_OFF(perf_event_disable, struct perf_event *event)
PERF_OFF_RET(int, -EINVAL, perf_event_refresh, struct perf_event *event, int refresh)
PERF_OFF_RET(int, -EINVAL, perf_event_period, struct perf_event *event, u64 value)
PERF_OFF_RET(u64, 0, perf_event_pause, struct perf_event *event, bool reset)
PERF_OFF_RET(int, -EINVAL, perf_event_read_local, struct perf_event *event, u64 *value,
	     u64 *enabled, u64 *running)
PERF_OFF_RET(struct file *, ERR_PTR(-EINVAL), perf_event_get, unsigned int fd)
PERF_OFF_RET(const struct perf_event *, ERR_PTR(-EINVAL), perf_get_event, struct file *file)
PERF_OFF_RET(const struct perf_event_attr *, ERR_PTR(-EINVAL), perf_event_attrs,
	     struct perf_event *event)

#endif /* CONFIG_PERF_EVENTS */

/* ------------------------------------------------------------ BPF programs */

/**
 * struct bpf_perf_event_data_kern - context of a BPF_PROG_TYPE_PERF_EVENT program
 * @regs: registers as the program's type expects them
 * @data: the sample
 * @event: the event
 */
struct bpf_perf_event_data_kern {
	bpf_user_pt_regs_t	*regs;
	struct perf_sample_data	*data;
	struct perf_event	*event;
};

/**
 * typedef perf_snapshot_branch_stack_t - read the branch records of the hardware, now
 * @entries: where to
 * @cnt: how many fit
 *
 * A static call, because every branch taken on the way there pushes out one that is of interest.
 *
 * Return: entries stored.
 */
typedef int (perf_snapshot_branch_stack_t)(struct perf_branch_entry *entries, unsigned int cnt);
DECLARE_STATIC_CALL(perf_snapshot_branch_stack, perf_snapshot_branch_stack_t);

/* ------------------------------------------------------------------ guests */

#define PERF_GUEST_USER		0x02	/* with ACTIVE: in guest user mode */
#define PERF_GUEST_ACTIVE	0x01	/* a guest runs on this CPU */

/**
 * struct perf_guest_info_callbacks - what a hypervisor tells about the guest on this CPU
 * @get_ip: its instruction pointer, only asked while active
 * @state: PERF_GUEST_* bits
 * @handle_intel_pt_intr: deliver a PT interrupt; nonzero when done; may be %NULL
 *
 * All are called in NMI.
 */
struct perf_guest_info_callbacks {
	unsigned long	(*get_ip)(void);
	unsigned int	(*state)(void);
	unsigned int	(*handle_intel_pt_intr)(void);
};

#ifdef CONFIG_PERF_EVENTS

#ifdef CONFIG_GUEST_PERF_EVENTS
extern struct perf_guest_info_callbacks __rcu *perf_guest_cbs;
DECLARE_STATIC_CALL(__perf_guest_state, *perf_guest_cbs->state);
DECLARE_STATIC_CALL(__perf_guest_get_ip, *perf_guest_cbs->get_ip);
DECLARE_STATIC_CALL(__perf_guest_handle_intel_pt_intr, *perf_guest_cbs->handle_intel_pt_intr);
#define perf_guest_call(what)	static_call(__perf_guest_##what)()

/* One hypervisor at a time; unregistering waits for readers in NMI. */
void perf_register_guest_info_callbacks(struct perf_guest_info_callbacks *cbs);
void perf_unregister_guest_info_callbacks(struct perf_guest_info_callbacks *cbs);
#else
#define perf_guest_call(what)	0
#endif

static inline unsigned int perf_guest_state(void)
{
	return perf_guest_call(state);
}

static inline unsigned long perf_guest_get_ip(void)
{
	return perf_guest_call(get_ip);
}

static inline unsigned int perf_guest_handle_intel_pt_intr(void)
{
	return perf_guest_call(handle_intel_pt_intr);
}

#undef perf_guest_call

#endif /* CONFIG_PERF_EVENTS */

#endif /* _LINUX_PERF_KERNEL_API_H */
