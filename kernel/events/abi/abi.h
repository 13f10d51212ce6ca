/* SPDX-License-Identifier: GPL-2.0 */
/* Layer 6: what user space calls: open, read, ioctl, mmap. */
#ifndef _KERNEL_EVENTS_ABI_H
#define _KERNEL_EVENTS_ABI_H

#include "../life/life.h"

/* attr.c: in the order in which perf_event_open() goes through them */
int pe_attr_copy(struct perf_event_attr __user *uattr, struct perf_event_attr *attr);
bool pe_attr_is_harmless(const struct perf_event_attr *attr);
int pe_attr_check(struct perf_event_attr *attr);	/* pure; a part of pe_attr_copy() */
int pe_attr_permit(const struct perf_event_attr *attr);	/* perf_event_paranoid up to 2 */
int pe_attr_permit_branches(const struct perf_event_attr *attr);
int pe_attr_set_clock(struct pe_event *e, clockid_t id);	/* e has its PMU */

/* own_tasks.c: may current ask for this though perf_event_paranoid leaves nobody anything? */
#ifdef CONFIG_PERF_EVENTS_EXT
bool pe_own_tasks_allow(struct perf_event_attr *attr);
#else
static inline bool pe_own_tasks_allow(struct perf_event_attr *attr)
{
	return false;
}
#endif

/* open.c: rights that a session asks for as well */
int pe_open_permit(struct perf_event_attr *attr, bool of_task, bool *own_tasks);
bool pe_may_observe(struct task_struct *task, const struct perf_event_attr *attr, bool own_tasks);

/* limits.c: groups of users */
extern int pe_task_gid, pe_cpu_gid;		/* -1: everybody */
bool pe_gid_allows(int gid);

/* sysctl.c: writers of the limits of overflow.c */
extern struct mutex pe_limits_mutex;

/* read.c */
ssize_t pe_read(struct file *file, char __user *buf, size_t len, loff_t *pos);

/* For fdinfo: sums of the event and its children, and the id of its group's leader. */
struct pe_glance {
	u64		count;
	u64		group;
	struct pe_times	times;
};

/**
 * struct pe_set_counts - what is counted of a set of a session
 * @member: of the set, the leader first
 * @value: of each of them
 * @times: of the leader
 */
struct pe_set_counts {
	struct pe_event	**member;
	u64		*value;
	struct pe_times	times;
};

int pe_read_target(struct pe_event *leader, struct pe_set_counts *counts);
void pe_peek(struct pe_event *e, struct pe_glance *glance);

/* command.c */
struct pe_command;
extern const struct pe_command pe_command_enable, pe_command_disable;
void pe_command_one(struct pe_event *e, void *arg);
long pe_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

/* ioctl.c */
long pe_ioctl_other(struct pe_event *e, unsigned int cmd, unsigned long arg);
#ifdef CONFIG_COMPAT
long pe_compat_ioctl(struct file *file, unsigned int cmd, unsigned long arg);
#else
#define pe_compat_ioctl NULL
#endif

struct seq_file;

/* ext_ioctl.c */
#ifdef CONFIG_PERF_EVENTS_EXT
/* Is it an ioctl of <uapi/linux/perf_event_ext.h>?  Size and direction do not matter. */
static inline bool pe_ext_is(unsigned int cmd)
{
	return _IOC_TYPE(cmd) == '$' && _IOC_NR(cmd) >= 0x80;
}

long pe_ext_ioctl(struct pe_event *e, unsigned int cmd, unsigned long arg);
void pe_ext_show(struct seq_file *m, struct pe_event *e);

/* ext_periods.c */
int pe_ext_jitter(struct pe_event *e);
/* ext_sets.c */
int pe_ext_refuse_member(struct pe_event *e, struct pe_event *leader);
#else
static inline bool pe_ext_is(unsigned int cmd)
{
	return false;
}

static inline long pe_ext_ioctl(struct pe_event *e, unsigned int cmd, unsigned long arg)
{
	return -ENOTTY;
}

static inline int pe_ext_jitter(struct pe_event *e)
{
	return 0;
}

static inline int pe_ext_refuse_member(struct pe_event *e, struct pe_event *leader)
{
	return 0;
}

static inline void pe_ext_show(struct seq_file *m, struct pe_event *e) { }
#endif

/* file.c */
extern const struct file_operations pe_fops;
struct file *pe_file_make(struct pe_event *e);
struct pe_event *pe_of_file(struct file *file);

/* fdinfo.c */
void pe_show_fdinfo(struct seq_file *m, struct file *file);

/* mmap.c */
int pe_mmap(struct file *file, struct vm_area_struct *vma);

#endif /* _KERNEL_EVENTS_ABI_H */
