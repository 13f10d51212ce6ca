/* SPDX-License-Identifier: GPL-2.0 */
/* Layer 6: what user space calls: open, read, ioctl, mmap. */
#ifndef _KERNEL_EVENTS_SURFACE_H
#define _KERNEL_EVENTS_SURFACE_H

#include "lifetime.h"

/* attr.c: in the order in which perf_event_open() goes through them */
int pe_attr_copy(struct perf_event_attr __user *uattr, struct perf_event_attr *attr);
int pe_attr_check(struct perf_event_attr *attr);	/* pure; a part of pe_attr_copy() */
int pe_attr_permit(const struct perf_event_attr *attr);
int pe_attr_set_clock(struct pevent *e, clockid_t id);	/* e has its PMU */

/* mmap.c */
int pe_mmap(struct file *file, struct vm_area_struct *vma);

#endif /* _KERNEL_EVENTS_SURFACE_H */
