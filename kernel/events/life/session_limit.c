// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions: how many events those of a user may have.  Descriptors are what limits events that are
 * opened one by one, and a session has one.
 *
 * Task context.  pe_sessions_lock keeps the counts of all sessions; it is a leaf.
 */
#include <linux/cred.h>
#include <linux/sched/signal.h>

#include "life.h"
#include "session.h"

static unsigned long events_of(kuid_t uid)
{
	struct pe_session *s;
	unsigned long sum = 0;

	list_for_each_entry(s, &pe_sessions, entry)
		if (uid_eq(s->uid, uid))
			sum += s->events + s->making;
	return sum;
}

/* Its own, and those on targets. */
static unsigned long groups_of(struct pe_session *s)
{
	struct pe_event *leader = s->nr ? s->member[0] : NULL;

	if (!leader)
		return 1;
	guard(mutex)(&leader->family_lock);
	return 1 + list_count_nodes(&leader->children);
}

/**
 * pe_session_charge() - may a session have more targets, or members?
 * @s: the session, mutex held
 * @targets: so many more
 * @members: so many more
 *
 * Without CAP_PERFMON all sessions of a user have no more events, of their own and on targets, than
 * the caller may have descriptors.  Those of exited targets count until somebody attaches or
 * detaches one.
 *
 * Return: 0 or -EMFILE.
 */
int pe_session_charge(struct pe_session *s, unsigned int targets, unsigned int members)
{
	unsigned long now = groups_of(s);

	lockdep_assert_held(&s->mutex);
	if (perfmon_capable())
		return 0;
	guard(spinlock)(&pe_sessions_lock);
	s->events = (now + targets) * (s->nr + members);
	if (events_of(s->uid) <= rlimit(RLIMIT_NOFILE))
		return 0;
	s->events = now * s->nr;
	return pe_err(-EMFILE, "session: more events on targets than RLIMIT_NOFILE");
}

/**
 * pe_session_making() - members are being made
 * @s: the session
 * @nr: so many
 *
 * They count until pe_session_made(), before pe_session_charge() or when they have been dropped.
 *
 * Return: 0 or -EMFILE.
 */
int pe_session_making(struct pe_session *s, unsigned int nr)
{
	bool limited = !perfmon_capable();

	guard(spinlock)(&pe_sessions_lock);
	s->making += nr;
	if (!limited || events_of(s->uid) <= rlimit(RLIMIT_NOFILE))
		return 0;
	s->making -= nr;
	return pe_err(-EMFILE, "session: more events than RLIMIT_NOFILE");
}

void pe_session_made(struct pe_session *s, unsigned int nr)
{
	guard(spinlock)(&pe_sessions_lock);
	s->making -= nr;
}

/**
 * pe_session_recount() - what pe_session_charge() allowed may have become less
 * @s: the session, mutex held
 */
void pe_session_recount(struct pe_session *s)
{
	unsigned long now = groups_of(s);

	lockdep_assert_held(&s->mutex);
	guard(spinlock)(&pe_sessions_lock);
	if (s->events)
		s->events = now * s->nr;
}
