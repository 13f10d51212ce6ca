/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Extensions of perf events: ioctls on the file of an event, from number 0x80 on.
 *
 * A kernel without them answers ENOTTY.  The size that a number carries is that of the caller's
 * struct: a shorter one is completed with zeroes, of a longer one the excess must be zero (E2BIG).
 * The answer is written back up to the shorter of the two.  Unknown flags, and padding that is not
 * zero, are refused with EINVAL; 0 means "not asked for" in every member.  No struct differs
 * between 32-bit and 64-bit programs.
 */
#ifndef _UAPI_LINUX_PERF_EVENT_EXT_H
#define _UAPI_LINUX_PERF_EVENT_EXT_H

#include <linux/types.h>
#include <linux/ioctl.h>

/* perf_ext_info.features */
#define PERF_EXT_PERIODS	(1ULL << 0)	/* random, long and short periods */
#define PERF_EXT_MASKS		(1ULL << 1)	/* members recorded and reset by a sample */
#define PERF_EXT_NOTIFY		(1ULL << 2)	/* every n-th overflow is told of, or stops */
#define PERF_EXT_BLOCK		(1ULL << 3)	/* and holds the thread */
#define PERF_EXT_SETS		(1ULL << 4)	/* groups take turns */

/**
 * struct perf_ext_info - what kernel and event can do, PERF_EXT_IOC_INFO
 * @features: out: PERF_EXT_* bits that the kernel has
 * @here: out: those that this event can have
 * @least_period: out: the shortest period PERIODS takes for this event; 0: its periods cannot vary
 * @most_sets: out: sets that a ring can have; 0: the event cannot be the leader of one
 * @most_members: out: 0
 */
struct perf_ext_info {
	__u64	features;
	__u64	here;
	__u64	least_period;
	__u32	most_sets;
	__u32	most_members;
};

/**
 * struct perf_ext_periods - how long the periods of an event are, PERF_EXT_IOC_PERIODS
 * @short_period: base of most periods; 0: all of this off, attr.sample_period is in force again
 * @long_period: base of every @long_every-th period; 0: as @short_period
 * @initial_period: base of the first period; 0: as @long_period
 * @long_every: 0: never
 * @mask: bits of the random number that are added; at most 2^31 - 1
 * @seed: below 2^31 - 1; 0: any, the answer says which
 * @flags: 0
 * @ended: out: periods that are over, of this event without its copies
 * @set: 0
 * @member: 0
 * @pad: 0
 *
 * The n-th period from now on, counted from 1, is
 *
 *	base(n) + (s(n) & mask),	s(1) = seed, s(n + 1) = 16807 * s(n) mod (2^31 - 1)
 *
 * where base is initial_period for n = 1, long_period if long_every divides n - 1, and otherwise
 * short_period.  PERF_SAMPLE_PERIOD tells the length of the period that the sample ends.
 */
struct perf_ext_periods {
	__u64	short_period;
	__u64	long_period;
	__u64	initial_period;
	__u32	long_every;
	__u32	mask;
	__u32	seed;
	__u32	flags;
	__u64	ended;
	__u16	set;
	__u16	member;
	__u32	pad;
};

/**
 * struct perf_ext_masks - members of a group and the samples of an event, PERF_EXT_IOC_MASKS
 * @record: members that the samples show; 0 and @reset 0: all of this off
 * @reset: members that count from 0 again after each sample
 * @flags: 0
 * @set: 0
 * @member: 0
 *
 * Bit i is the i-th member of the group, as a read of the group lists them at this moment, the
 * leader being the 0th.  The bits stay with their members.  The READ part of the event's samples
 * has the members of @record only; the value of each is what it has counted since a sample, of
 * whichever event, has reset it last.  Then those of @reset are reset.  read(2) shows what it
 * always did.
 */
struct perf_ext_masks {
	__u64	record;
	__u64	reset;
	__u32	flags;
	__u16	set;
	__u16	member;
};

#define PERF_EXT_NOTIFY_STOP	(1U << 0)	/* the event and its group are off until RESTART */
#define PERF_EXT_NOTIFY_BLOCK	(1U << 1)	/* with STOP: the thread waits until RESTART */

/**
 * struct perf_ext_notify - of which overflows the reader is told, PERF_EXT_IOC_NOTIFY
 * @every: of each so-and-so-manyth, by poll() and SIGIO; 0: off
 * @flags: PERF_EXT_NOTIFY_*
 * @pad: 0
 * @set: 0
 * @member: 0
 */
struct perf_ext_notify {
	__u32	every;
	__u32	flags;
	__u32	pad;
	__u16	set;
	__u16	member;
};

/**
 * struct perf_ext_restart - what has stopped goes on, PERF_EXT_IOC_RESTART
 * @tid: this thread of those that wait; 0: all
 * @flags: 0
 */
struct perf_ext_restart {
	__s32	tid;
	__u32	flags;
};

#define PERF_EXT_SET_ACTIVE	(1U << 0)	/* it is the set's turn */

/**
 * struct perf_ext_set - a leader's group becomes a set, PERF_EXT_IOC_SET_JOIN
 * @ring: file descriptor of the leader of a set in the ring to join; -1: a new ring
 * @flags: 0
 * @number: its place: sets take turns in ascending order
 * @pad: 0
 *
 * One set of a ring has its turn and counts, or competes for counters, as any group does; the
 * others wait.  The first set of a ring has the first turn.  A set that is disabled in its turn
 * keeps it.
 */
struct perf_ext_set {
	__s32	ring;
	__u32	flags;
	__u16	number;
	__u16	pad[3];
};

/**
 * struct perf_ext_trigger - an event ends the turn of its set, PERF_EXT_IOC_SET_TRIGGER
 * @threshold: so many overflows end the turn, counted from its beginning or this call; 0: none
 * @set: 0
 * @member: 0
 *
 * The next set that is enabled has the next turn, after the last the first.  A timeout is a member
 * of the group that is a clock, whose period is the time.
 */
struct perf_ext_trigger {
	__u32	threshold;
	__u16	set;
	__u16	member;
};

/**
 * struct perf_ext_set_select - the turn is given to a set, PERF_EXT_IOC_SET_SELECT
 * @number: of the set
 * @pad: 0
 */
struct perf_ext_set_select {
	__u16	number;
	__u16	pad[3];
};

/**
 * struct perf_ext_set_info - a set
 * @number: its place
 * @pad: 0
 * @members: of its group
 * @flags: PERF_EXT_SET_*
 * @pad2: 0
 * @id: of the leader, as PERF_EVENT_IOC_ID says
 * @activations: how often its turn has come, the first included
 * @active_time: for how long it was its turn while the leader was enabled, ns
 * @by_timeout: its turns that a clock has ended
 * @by_overflow: its turns that other events have ended
 */
struct perf_ext_set_info {
	__u16	number;
	__u16	pad;
	__u32	members;
	__u32	flags;
	__u32	pad2;
	__u64	id;
	__u64	activations;
	__u64	active_time;
	__u64	by_timeout;
	__u64	by_overflow;
};

/**
 * struct perf_ext_sets - the sets of a ring in ascending order, PERF_EXT_IOC_SET_INFO
 * @infos: struct perf_ext_set_info[]
 * @nr: room there; out: sets of the ring
 * @stride: bytes from one to the next
 */
struct perf_ext_sets {
	__aligned_u64	infos;
	__u32		nr;
	__u32		stride;
};

#define PERF_EXT_IOC_INFO		_IOWR('$', 0x80, struct perf_ext_info)
#define PERF_EXT_IOC_PERIODS		_IOWR('$', 0x81, struct perf_ext_periods)
#define PERF_EXT_IOC_GET_PERIODS	_IOWR('$', 0x82, struct perf_ext_periods)
#define PERF_EXT_IOC_MASKS		_IOW('$', 0x83, struct perf_ext_masks)
#define PERF_EXT_IOC_NOTIFY		_IOW('$', 0x84, struct perf_ext_notify)
#define PERF_EXT_IOC_RESTART		_IOW('$', 0x85, struct perf_ext_restart)
#define PERF_EXT_IOC_SET_JOIN		_IOW('$', 0x88, struct perf_ext_set)
#define PERF_EXT_IOC_SET_LEAVE		_IO('$', 0x89)
#define PERF_EXT_IOC_SET_TRIGGER	_IOW('$', 0x8a, struct perf_ext_trigger)
#define PERF_EXT_IOC_SET_INFO		_IOWR('$', 0x8b, struct perf_ext_sets)
#define PERF_EXT_IOC_SET_SELECT		_IOW('$', 0x8c, struct perf_ext_set_select)

#endif /* _UAPI_LINUX_PERF_EVENT_EXT_H */
