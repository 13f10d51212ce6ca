/* SPDX-License-Identifier: GPL-2.0 */
/* What the calls of <uapi/linux/perf_event_ext.h> share; inside layer 6. */
#ifndef _KERNEL_EVENTS_EXT_CALL_H
#define _KERNEL_EVENTS_EXT_CALL_H

#include <linux/perf_event_ext.h>

struct pe_event;
struct seq_file;

/* The struct of a call. */
union pe_ext_struct {
	struct perf_ext_info	info;
	struct perf_ext_periods	periods;
	struct perf_ext_masks	masks;
	struct perf_ext_notify	notify;
	struct perf_ext_restart	restart;
	struct perf_ext_set	set;
	struct perf_ext_trigger	trigger;
	struct perf_ext_sets	sets;
	struct perf_ext_set_select select;
	struct perf_ext_format	format;
	struct perf_ext_create	create;
	struct perf_ext_target	target;
	struct perf_ext_read	read;
};

/**
 * struct pe_ext_ask - a call of user space
 * @user: where its struct is in user memory
 * @given: bytes of that, as the number of the call says
 * @size: bytes of the struct that this kernel knows
 * @u: the struct, completed with zeroes
 */
struct pe_ext_ask {
	void __user		*user;
	size_t			given;
	size_t			size;
	union pe_ext_struct	u;
};

/* ext_ioctl.c */
int pe_ext_answer(const struct pe_ext_ask *ask);
struct pe_event *pe_ext_named(struct pe_event *e, u16 set, u16 member);

/*
 * Each feature: whether an event can have it (0, or an error whose reason is in @why), its calls,
 * its lines of fdinfo.
 */

/* ext_periods.c */
int pe_ext_refuse_periods(struct pe_event *e, const char **why);
long pe_ext_change_periods(struct pe_event *e, struct pe_ext_ask *asked);
long pe_ext_get_periods(struct pe_event *e, struct pe_ext_ask *ask);
void pe_ext_show_periods(struct seq_file *m, struct pe_event *e);

/* ext_masks.c */
int pe_ext_refuse_masks(struct pe_event *e, const char **why);
long pe_ext_change_masks(struct pe_event *e, struct pe_ext_ask *asked);
void pe_ext_show_masks(struct seq_file *m, struct pe_event *e);

/* ext_notify.c */
int pe_ext_refuse_notify(struct pe_event *e, const char **why);
int pe_ext_refuse_block(struct pe_event *e, unsigned int mode, const char **why);
long pe_ext_change_notify(struct pe_event *e, struct pe_ext_ask *asked);
long pe_ext_restart(struct pe_event *e, struct pe_ext_ask *asked);
void pe_ext_show_notify(struct seq_file *m, struct pe_event *e);

/* ext_sets.c */
int pe_ext_refuse_sets(struct pe_event *e, const char **why);
long pe_ext_join_ring(struct pe_event *e, struct pe_ext_ask *asked);
long pe_ext_leave_ring(struct pe_event *e, struct pe_ext_ask *ask);
long pe_ext_set_trigger(struct pe_event *e, struct pe_ext_ask *asked);
long pe_ext_select_set(struct pe_event *e, struct pe_ext_ask *asked);
long pe_ext_sets_info(struct pe_event *e, struct pe_ext_ask *asked);
void pe_ext_show_sets(struct seq_file *m, struct pe_event *e);

/* ext_format.c */
int pe_ext_refuse_format(struct pe_event *e, const char **why);
long pe_ext_change_format(struct pe_event *e, struct pe_ext_ask *asked);
void pe_ext_show_format(struct seq_file *m, struct pe_event *e);

/* ext_session.c, ext_read.c */
long pe_ext_create(struct pe_event *e, struct pe_ext_ask *asked);
long pe_ext_attach(struct pe_event *e, struct pe_ext_ask *asked);
long pe_ext_detach(struct pe_event *e, struct pe_ext_ask *asked);
long pe_ext_read(struct pe_event *e, struct pe_ext_ask *asked);
void pe_ext_show_session(struct seq_file *m, struct pe_event *e);

#endif /* _KERNEL_EVENTS_EXT_CALL_H */
