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
#define PERF_EXT_FORMATS	(1ULL << 5)	/* samples go to a module, not to the ring buffer */
#define PERF_EXT_SESSIONS	(1ULL << 6)	/* one descriptor for many tasks, CPUs or cgroups */
#define PERF_EXT_READ		(1ULL << 7)	/* values of a session by target */

/**
 * struct perf_ext_info - what kernel and event can do, PERF_EXT_IOC_INFO
 * @features: out: PERF_EXT_* bits that the kernel has
 * @here: out: those that this event can have
 * @least_period: out: the shortest period PERIODS takes for this event; 0: its periods cannot vary
 * @most_sets: out: sets that a ring or session can have; 0: the event cannot be the leader of one
 * @most_members: out: events that a session can have
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
 * @set: of a session: number of a set; else 0
 * @member: of a session: place in that set, the leader being 0; else 0
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
 * @set: of a session: number of a set; else 0
 * @member: of a session: place in that set, the leader being 0; else 0
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
 * @set: of a session: number of a set; else 0
 * @member: of a session: place in that set, the leader being 0; else 0
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
 * @set: of a session: number of a set; else 0
 * @member: of a session: place in that set, the leader being 0; else 0
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

#define PERF_EXT_FORMAT_CLOEXEC	(1U << 0)

/**
 * struct perf_ext_format - the samples of an event go to a format, PERF_EXT_IOC_FORMAT
 * @uuid: of the format, see /sys/bus/event_source/formats; all 0: they are records again
 * @arg: what the format is told
 * @arg_size: bytes of that
 * @flags: PERF_EXT_FORMAT_*
 * @share: file descriptor of the area that another event writes to; -1: a new area
 * @set: of a session: number of a set; else 0
 * @member: of a session: place in that set, the leader being 0; else 0
 * @size: out: bytes to map of the new area
 *
 * The answer is a file descriptor of the new area, to be mapped shared and read only; 0 with
 * @share, and without a format.  All other records of the event, of mappings, names, forks, go
 * where they went.  Copies that fork makes write to the area of their parent.
 */
struct perf_ext_format {
	__u8		uuid[16];
	__aligned_u64	arg;
	__u32		arg_size;
	__u32		flags;
	__s32		share;
	__u16		set;
	__u16		member;
	__u64		size;
};

/**
 * struct perf_ext_area - the beginning of an area
 * @size: of this struct
 * @active: the half that samples go to
 * @samples: that came
 * @lost: of these, those that are in neither half
 * @nested: of these, those that came while another one was being taken
 * @bytes: of each half
 * @half: where they begin, from the beginning of the area
 */
struct perf_ext_area {
	__u32	size;
	__u32	active;
	__u64	samples;
	__u64	lost;
	__u64	nested;
	__u64	bytes;
	__u64	half[2];
};

/*
 * On the file descriptor of an area: samples go to the other half, which is cleared.  The answer is
 * the half that they went to; it stays as it is until the next time.
 */
#define PERF_EXT_AREA_IOC_FLIP	_IO('$', 0xa0)

/* Format "hist": how many samples, and events, have which key. */
#define PERF_EXT_FORMAT_HIST \
	{ 0x12, 0xe3, 0x3f, 0x1f, 0x85, 0x20, 0x46, 0xd5, \
	  0x92, 0x85, 0x20, 0xec, 0x76, 0x79, 0x5b, 0xd4 }

/* What is in the sample as attr.sample_type says: PERF_SAMPLE_IP, _ADDR, and so on. */
enum perf_ext_hist_key {
	PERF_EXT_KEY_NONE,
	PERF_EXT_KEY_IP,
	PERF_EXT_KEY_ADDR,
	PERF_EXT_KEY_PID,
	PERF_EXT_KEY_TID,
	PERF_EXT_KEY_CPU,
	PERF_EXT_KEY_EVENT,		/* PERF_SAMPLE_ID or _IDENTIFIER */
	PERF_EXT_KEY_CGROUP,
	PERF_EXT_KEY_DATA_SRC,
	PERF_EXT_KEY_PERIOD_LOG2,	/* of the sample's period, rounded down; 0 of 0 */
};

/**
 * struct perf_ext_hist_arg - perf_ext_format.arg of the format "hist"
 * @key: enum perf_ext_hist_key; the first is not NONE
 * @shift: so many of the lowest bits of each do not matter, and are 0 in the table
 * @buckets: of each half, a power of two, 8 to 2^24
 */
struct perf_ext_hist_arg {
	__u8	key[2];
	__u8	shift[2];
	__u32	buckets;
};

/**
 * struct perf_ext_hist_bucket - a key
 * @tag: 0: none; 1: it is just being filled in; else there is one
 * @key: see struct perf_ext_hist_arg
 * @samples: that had it
 * @events: the sum of their periods
 *
 * A key may have several buckets: the reader adds them up.
 */
struct perf_ext_hist_bucket {
	__u64	tag;
	__u64	key[2];
	__u64	samples;
	__u64	events;
};

/**
 * struct perf_ext_hist - a half of an area of the format "hist"
 * @lost_samples: those for which there was no bucket
 * @lost_events: the sum of their periods
 * @bucket: as many as perf_ext_hist_arg says
 */
struct perf_ext_hist {
	__u64				lost_samples;
	__u64				lost_events;
	struct perf_ext_hist_bucket	bucket[];
};

/* Format "pfm": samples one after the other, until the half is full. */
#define PERF_EXT_FORMAT_PFM \
	{ 0xd6, 0xd4, 0x8b, 0x37, 0x23, 0xca, 0x43, 0x5a, \
	  0xa5, 0x9c, 0x95, 0x17, 0x78, 0xe4, 0xc6, 0xaa }

#define PERF_EXT_PFM_STOP	(1U << 0)	/* the group stops when it is full */

/**
 * struct perf_ext_pfm_arg - perf_ext_format.arg of the format "pfm"
 * @bytes: of each half, a multiple of 8
 * @flags: PERF_EXT_PFM_*
 * @pad: 0
 */
struct perf_ext_pfm_arg {
	__u64	bytes;
	__u32	flags;
	__u32	pad;
};

/**
 * struct perf_ext_pfm - the beginning of a half of an area of the format "pfm"
 * @used: bytes of samples behind it: struct perf_ext_pfm_sample
 * @lost: samples for which there was no room
 */
struct perf_ext_pfm {
	__u64	used;
	__u64	lost;
};

/**
 * struct perf_ext_pfm_sample - a sample
 * @size: bytes, to the next one
 * @cpu: PERF_SAMPLE_CPU; like the following, 0 if attr.sample_type does not have that
 * @pid: PERF_SAMPLE_TID
 * @tid: PERF_SAMPLE_TID
 * @ip: PERF_SAMPLE_IP
 * @time: PERF_SAMPLE_TIME
 * @period: the length of the period that it ends; always there
 * @id: PERF_SAMPLE_ID or _IDENTIFIER
 * @read: PERF_SAMPLE_READ: as in a record, by attr.read_format and PERF_EXT_IOC_MASKS
 */
struct perf_ext_pfm_sample {
	__u32	size;
	__u32	cpu;
	__u32	pid;
	__u32	tid;
	__u64	ip;
	__u64	time;
	__u64	period;
	__u64	id;
	__u64	read[];
};

#define PERF_EXT_CREATE_CLOEXEC	(1U << 0)	/* the new descriptor is closed by exec */
#define PERF_EXT_CREATE_CPUS	(1U << 1)	/* targets are CPUs and cgroups, not tasks */
#define PERF_EXT_CREATE_ADD	(1U << 2)	/* a further set of the session that is asked */

/**
 * struct perf_ext_create - a session is made, PERF_EXT_IOC_CREATE
 * @attrs: struct perf_event_attr[], the first one is the leader's
 * @ids: u64[] for their ids, as PERF_EVENT_IOC_ID would say them; 0: not wanted
 * @nr: events, at most most_members of INFO, with those of other sets
 * @stride: bytes from one attr to the next; each has a size of its own, too
 * @flags: PERF_EXT_CREATE_*; ADD stands alone
 * @set: ADD: number of the new set, not 0; else 0
 * @pad: 0
 *
 * It is asked of any event, a dummy will do, which has no part in it.  The answer is a file
 * descriptor: that of an event, the leader of a group of @nr events that counts nothing until it is
 * attached to targets.  Each target gets copies of all of them.  What read(2) shows is the sum of
 * the copies that there are and of those that have left; ENABLE, DISABLE and RESET are for all
 * events, on all targets; records go to the buffer that is mapped through this descriptor.
 *
 * With ADD, which is asked of a session without targets, the answer is 0, and the group is a new
 * set of the session.  On each target its sets take turns in ascending order, as those of
 * PERF_EXT_IOC_SET_JOIN do; the group of the session itself is set 0, and has the first turn.
 */
struct perf_ext_create {
	__aligned_u64	attrs;
	__aligned_u64	ids;
	__u32		nr;
	__u32		stride;
	__u32		flags;
	__u16		set;
	__u16		pad;
};

/**
 * enum perf_ext_target_kind - what a session is attached to
 * @PERF_EXT_TARGET_TID: number: a thread; 0: the caller
 * @PERF_EXT_TARGET_PIDFD: number: a pidfd
 * @PERF_EXT_TARGET_CPU: number: a CPU
 * @PERF_EXT_TARGET_ALL: number: 0; ATTACH: all CPUs online; DETACH: all targets, of whatever kind
 * @PERF_EXT_TARGET_CGROUP: number: file descriptor of a cgroup's directory; its tasks, on all CPUs
 *	online
 * @PERF_EXT_TARGET_CGROUP_ID: DETACH: a cgroup, which may have been removed; number: its id, as
 *	READ says
 *
 * The first two are for sessions of tasks, the others for those of CPUs.
 */
enum perf_ext_target_kind {
	PERF_EXT_TARGET_TID = 0,
	PERF_EXT_TARGET_PIDFD = 1,
	PERF_EXT_TARGET_CPU = 2,
	PERF_EXT_TARGET_ALL = 3,
	PERF_EXT_TARGET_CGROUP = 4,
	PERF_EXT_TARGET_CGROUP_ID = 5,
};

#define PERF_EXT_TARGET_INHERIT	(1U << 0)	/* TID, PIDFD: what it forks, too */
#define PERF_EXT_TARGET_RETURN	(1U << 1)	/* ALL, CGROUP: on CPUs that come (back), too */
#define PERF_EXT_TARGET_RESUME	(1U << 2)	/* TID, PIDFD, CPU: go on with the period */

/**
 * struct perf_ext_target - PERF_EXT_IOC_ATTACH, PERF_EXT_IOC_DETACH
 * @kind: enum perf_ext_target_kind
 * @flags: ATTACH: PERF_EXT_TARGET_*; DETACH: 0
 * @number: as @kind says
 *
 * ATTACH asks for the rights that perf_event_open() asks of the caller, for these events and this
 * target.  The copies count when it returns, if the session is enabled.  They are not inherited
 * unless INHERIT is said; then each task that is forked is a target of its own.  A target that
 * exits, or goes offline, has left.  With RESUME the first period of a copy is what was left when
 * DETACH cut off the last one, with the random numbers that come next.
 */
struct perf_ext_target {
	__u32	kind;
	__u32	flags;
	__s64	number;
};

#define PERF_EXT_READ_TARGETS	(1U << 0)	/* one entry for each target, and CPU of a cgroup */
#define PERF_EXT_READ_CGROUPS	(1U << 1)	/* one entry for each cgroup, of all CPUs */

enum perf_ext_values_state {
	PERF_EXT_VALUES_OFF = 0,	/* disabled */
	PERF_EXT_VALUES_ENABLED = 1,	/* enabled, but away, or without a counter */
	PERF_EXT_VALUES_COUNTING = 2,
	PERF_EXT_VALUES_GONE = 3,	/* the sum of those that have left */
};

/**
 * struct perf_ext_values - an entry of PERF_EXT_IOC_READ
 * @size: bytes to the next one
 * @set: number of the set
 * @nr: members
 * @tid: of the task, as the reader sees it, 0 if it does not; -1: none
 * @cpu: -1: any
 * @state: of the leader: enum perf_ext_values_state; of a sum: ENABLED or OFF
 * @pad: 0
 * @cgroup: id of the cgroup, as PERF_SAMPLE_CGROUP has it; 0: none
 * @lost: samples of these events that found no room in the buffer
 * @enabled: of the leader, ns
 * @running: of the leader, ns
 * @value: of each member, the leader first; one whose PMU has gone has what was counted before
 */
struct perf_ext_values {
	__u32	size;
	__u16	set;
	__u16	nr;
	__s32	tid;
	__s32	cpu;
	__u32	state;
	__u32	pad;
	__u64	cgroup;
	__u64	lost;
	__u64	enabled;
	__u64	running;
	__u64	value[];
};

/**
 * struct perf_ext_read - values of a session, PERF_EXT_IOC_READ
 * @buf: where the entries go
 * @size: room there; out: bytes of all entries
 * @flags: PERF_EXT_READ_*, one at most; 0: one entry with the sums for each set
 * @nr: out: entries
 * @set: 0
 * @pad: 0
 *
 * All sets are told, each with entries of its own.  With a flag the entries of state GONE come
 * last, one for each set, and are always there.
 */
struct perf_ext_read {
	__aligned_u64	buf;
	__u64		size;
	__u32		flags;
	__u32		nr;
	__u16		set;
	__u16		pad[3];
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
#define PERF_EXT_IOC_FORMAT		_IOWR('$', 0x90, struct perf_ext_format)
#define PERF_EXT_IOC_CREATE		_IOW('$', 0x98, struct perf_ext_create)
#define PERF_EXT_IOC_ATTACH		_IOW('$', 0x99, struct perf_ext_target)
#define PERF_EXT_IOC_DETACH		_IOW('$', 0x9a, struct perf_ext_target)
#define PERF_EXT_IOC_READ		_IOWR('$', 0x9b, struct perf_ext_read)

#endif /* _UAPI_LINUX_PERF_EVENT_EXT_H */
