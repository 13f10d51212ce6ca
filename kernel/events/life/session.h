/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of sessions share; inside layer 5. */
#ifndef _KERNEL_EVENTS_SESSION_H
#define _KERNEL_EVENTS_SESSION_H

#include "life.h"

extern spinlock_t pe_sessions_lock;	/* a leaf */
extern struct list_head pe_sessions;	/* struct pe_session.entry */

void pe_session_cpu_init(struct pe_session *s);
void pe_session_cpu_fini(struct pe_session *s);

#endif /* _KERNEL_EVENTS_SESSION_H */
