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

/**
 * struct perf_ext_info - what kernel and event can do, PERF_EXT_IOC_INFO
 * @features: out: PERF_EXT_* bits that the kernel has
 * @here: out: those that this event can have
 * @least_period: out: the shortest period PERIODS takes for this event; 0: its periods cannot vary
 * @most_sets: out: 0
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

#define PERF_EXT_IOC_INFO		_IOWR('$', 0x80, struct perf_ext_info)
#define PERF_EXT_IOC_PERIODS		_IOWR('$', 0x81, struct perf_ext_periods)
#define PERF_EXT_IOC_GET_PERIODS	_IOWR('$', 0x82, struct perf_ext_periods)
#define PERF_EXT_IOC_MASKS		_IOW('$', 0x83, struct perf_ext_masks)
#define PERF_EXT_IOC_NOTIFY		_IOW('$', 0x84, struct perf_ext_notify)
#define PERF_EXT_IOC_RESTART		_IOW('$', 0x85, struct perf_ext_restart)

#endif /* _UAPI_LINUX_PERF_EVENT_EXT_H */
