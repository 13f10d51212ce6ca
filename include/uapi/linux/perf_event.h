/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Performance events: the interface between kernel and user space.
 *
 * Sections: what to count (attr.type, attr.config), what to record (attr.sample_type and its
 * companions), struct perf_event_attr, what to do with an event (flags, ioctls, read()), the
 * mmap()ed control page, and the records in the data area.
 *
 * Everything is in the byte order of the machine.  Names that end in _MAX grow with time and
 * are not part of the interface, unless the comment says so.
 */
#ifndef _UAPI_LINUX_PERF_EVENT_H
#define _UAPI_LINUX_PERF_EVENT_H

#include <linux/types.h>
#include <linux/ioctl.h>
#include <asm/byteorder.h>

/* ------------------------------------------------------------ what to count */

/*
 * perf_event_attr.type.  More types are given out at run time: each PMU below
 * /sys/bus/event_source/devices has its number in the file "type".
 */
enum perf_type_id {
	PERF_TYPE_HARDWARE			= 0,	/* config: enum perf_hw_id */
	PERF_TYPE_SOFTWARE			= 1,	/* config: enum perf_sw_ids */
	PERF_TYPE_TRACEPOINT			= 2,	/* config: "id" of the event in tracefs */
	PERF_TYPE_HW_CACHE			= 3,	/* config: cache, operation, result */
	PERF_TYPE_RAW				= 4,	/* config: as the CPU's manual has it */
	PERF_TYPE_BREAKPOINT			= 5,	/* bp_type, bp_addr, bp_len; config is 0 */

	PERF_TYPE_MAX,
};

/*
 * config of PERF_TYPE_HARDWARE and PERF_TYPE_HW_CACHE, for machines with several kinds of CPU:
 *
 *	bits 63..32	type number of the CPU's PMU, 0 for whichever PMU takes the event
 *	bits 31..0	HARDWARE: bits 7..0 enum perf_hw_id
 *			HW_CACHE: bits 7..0 enum perf_hw_cache_id, bits 15..8 enum
 *			perf_hw_cache_op_id, bits 23..16 enum perf_hw_cache_op_result_id
 */
#define PERF_HW_EVENT_MASK		0xffffffff
#define PERF_PMU_TYPE_SHIFT		32

enum perf_hw_id {
	PERF_COUNT_HW_CPU_CYCLES		= 0,
	PERF_COUNT_HW_INSTRUCTIONS		= 1,
	PERF_COUNT_HW_CACHE_REFERENCES		= 2,	/* usually: last level */
	PERF_COUNT_HW_CACHE_MISSES		= 3,
	PERF_COUNT_HW_BRANCH_INSTRUCTIONS	= 4,
	PERF_COUNT_HW_BRANCH_MISSES		= 5,
	PERF_COUNT_HW_BUS_CYCLES		= 6,
	PERF_COUNT_HW_STALLED_CYCLES_FRONTEND	= 7,
	PERF_COUNT_HW_STALLED_CYCLES_BACKEND	= 8,
	PERF_COUNT_HW_REF_CPU_CYCLES		= 9,	/* at a constant frequency */

	PERF_COUNT_HW_MAX,
};

enum perf_hw_cache_id {
	PERF_COUNT_HW_CACHE_L1D			= 0,
	PERF_COUNT_HW_CACHE_L1I			= 1,
	PERF_COUNT_HW_CACHE_LL			= 2,	/* last level */
	PERF_COUNT_HW_CACHE_DTLB		= 3,
	PERF_COUNT_HW_CACHE_ITLB		= 4,
	PERF_COUNT_HW_CACHE_BPU			= 5,	/* branch prediction */
	PERF_COUNT_HW_CACHE_NODE		= 6,	/* memory of this node */

	PERF_COUNT_HW_CACHE_MAX,
};

enum perf_hw_cache_op_id {
	PERF_COUNT_HW_CACHE_OP_READ		= 0,
	PERF_COUNT_HW_CACHE_OP_WRITE		= 1,
	PERF_COUNT_HW_CACHE_OP_PREFETCH		= 2,

	PERF_COUNT_HW_CACHE_OP_MAX,
};

enum perf_hw_cache_op_result_id {
	PERF_COUNT_HW_CACHE_RESULT_ACCESS	= 0,
	PERF_COUNT_HW_CACHE_RESULT_MISS		= 1,

	PERF_COUNT_HW_CACHE_RESULT_MAX,
};

/* Counted by the kernel, on every machine. */
enum perf_sw_ids {
	PERF_COUNT_SW_CPU_CLOCK			= 0,	/* ns */
	PERF_COUNT_SW_TASK_CLOCK		= 1,	/* ns the task was running */
	PERF_COUNT_SW_PAGE_FAULTS		= 2,
	PERF_COUNT_SW_CONTEXT_SWITCHES		= 3,
	PERF_COUNT_SW_CPU_MIGRATIONS		= 4,
	PERF_COUNT_SW_PAGE_FAULTS_MIN		= 5,	/* needed no I/O */
	PERF_COUNT_SW_PAGE_FAULTS_MAJ		= 6,	/* needed I/O */
	PERF_COUNT_SW_ALIGNMENT_FAULTS		= 7,
	PERF_COUNT_SW_EMULATION_FAULTS		= 8,
	PERF_COUNT_SW_DUMMY			= 9,	/* never; carries side-band records */
	PERF_COUNT_SW_BPF_OUTPUT		= 10,	/* samples written by BPF programs */
	PERF_COUNT_SW_CGROUP_SWITCHES		= 11,	/* switches to another cgroup */

	PERF_COUNT_SW_MAX,
};

/* ----------------------------------------------------------- what to record */

/*
 * perf_event_attr.sample_type: fields of PERF_RECORD_SAMPLE.  Their order in the record is not
 * the order of the bits, see there.
 */
enum perf_event_sample_format {
	PERF_SAMPLE_IP				= 1U << 0,
	PERF_SAMPLE_TID				= 1U << 1,
	PERF_SAMPLE_TIME			= 1U << 2,
	PERF_SAMPLE_ADDR			= 1U << 3,
	PERF_SAMPLE_READ			= 1U << 4,
	PERF_SAMPLE_CALLCHAIN			= 1U << 5,
	PERF_SAMPLE_ID				= 1U << 6,
	PERF_SAMPLE_CPU				= 1U << 7,
	PERF_SAMPLE_PERIOD			= 1U << 8,
	PERF_SAMPLE_STREAM_ID			= 1U << 9,
	PERF_SAMPLE_RAW				= 1U << 10,
	PERF_SAMPLE_BRANCH_STACK		= 1U << 11,
	PERF_SAMPLE_REGS_USER			= 1U << 12,
	PERF_SAMPLE_STACK_USER			= 1U << 13,
	PERF_SAMPLE_WEIGHT			= 1U << 14,
	PERF_SAMPLE_DATA_SRC			= 1U << 15,
	PERF_SAMPLE_IDENTIFIER			= 1U << 16,
	PERF_SAMPLE_TRANSACTION			= 1U << 17,
	PERF_SAMPLE_REGS_INTR			= 1U << 18,
	PERF_SAMPLE_PHYS_ADDR			= 1U << 19,
	PERF_SAMPLE_AUX				= 1U << 20,
	PERF_SAMPLE_CGROUP			= 1U << 21,
	PERF_SAMPLE_DATA_PAGE_SIZE		= 1U << 22,
	PERF_SAMPLE_CODE_PAGE_SIZE		= 1U << 23,
	PERF_SAMPLE_WEIGHT_STRUCT		= 1U << 24,

	PERF_SAMPLE_MAX				= 1U << 25,
};

/* Two readings of one field: at most one of them. */
#define PERF_SAMPLE_WEIGHT_TYPE	(PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)

/*
 * perf_event_attr.branch_sample_type, with PERF_SAMPLE_BRANCH_STACK: the kinds of branches, as
 * bit numbers and as masks.  Kinds add up; ANY includes all of them.  Without one of USER,
 * KERNEL, HV the privilege levels are those of the event.
 */
enum perf_branch_sample_type_shift {
	PERF_SAMPLE_BRANCH_USER_SHIFT		= 0,	/* at privilege level of user space */
	PERF_SAMPLE_BRANCH_KERNEL_SHIFT		= 1,
	PERF_SAMPLE_BRANCH_HV_SHIFT		= 2,	/* hypervisor */
	PERF_SAMPLE_BRANCH_ANY_SHIFT		= 3,
	PERF_SAMPLE_BRANCH_ANY_CALL_SHIFT	= 4,	/* also system calls, traps */
	PERF_SAMPLE_BRANCH_ANY_RETURN_SHIFT	= 5,
	PERF_SAMPLE_BRANCH_IND_CALL_SHIFT	= 6,	/* indirect calls */
	PERF_SAMPLE_BRANCH_ABORT_TX_SHIFT	= 7,	/* aborts of transactions */
	PERF_SAMPLE_BRANCH_IN_TX_SHIFT		= 8,	/* inside of transactions */
	PERF_SAMPLE_BRANCH_NO_TX_SHIFT		= 9,	/* outside of transactions */
	PERF_SAMPLE_BRANCH_COND_SHIFT		= 10,	/* conditional branches */
	PERF_SAMPLE_BRANCH_CALL_STACK_SHIFT	= 11,	/* only calls that have not returned */
	PERF_SAMPLE_BRANCH_IND_JUMP_SHIFT	= 12,	/* indirect jumps */
	PERF_SAMPLE_BRANCH_CALL_SHIFT		= 13,	/* direct calls */
	PERF_SAMPLE_BRANCH_NO_FLAGS_SHIFT	= 14,	/* leave the flag bits zero */
	PERF_SAMPLE_BRANCH_NO_CYCLES_SHIFT	= 15,	/* leave the cycles zero */
	PERF_SAMPLE_BRANCH_TYPE_SAVE_SHIFT	= 16,	/* fill in type */
	PERF_SAMPLE_BRANCH_HW_INDEX_SHIFT	= 17,	/* add hw_idx to the record */
	PERF_SAMPLE_BRANCH_PRIV_SAVE_SHIFT	= 18,	/* fill in priv */
	PERF_SAMPLE_BRANCH_COUNTERS_SHIFT	= 19,	/* add event counts to the record */

	PERF_SAMPLE_BRANCH_MAX_SHIFT
};

enum perf_branch_sample_type {
	PERF_SAMPLE_BRANCH_USER		= 1U << PERF_SAMPLE_BRANCH_USER_SHIFT,
	PERF_SAMPLE_BRANCH_KERNEL	= 1U << PERF_SAMPLE_BRANCH_KERNEL_SHIFT,
	PERF_SAMPLE_BRANCH_HV		= 1U << PERF_SAMPLE_BRANCH_HV_SHIFT,
	PERF_SAMPLE_BRANCH_ANY		= 1U << PERF_SAMPLE_BRANCH_ANY_SHIFT,
	PERF_SAMPLE_BRANCH_ANY_CALL	= 1U << PERF_SAMPLE_BRANCH_ANY_CALL_SHIFT,
	PERF_SAMPLE_BRANCH_ANY_RETURN	= 1U << PERF_SAMPLE_BRANCH_ANY_RETURN_SHIFT,
	PERF_SAMPLE_BRANCH_IND_CALL	= 1U << PERF_SAMPLE_BRANCH_IND_CALL_SHIFT,
	PERF_SAMPLE_BRANCH_ABORT_TX	= 1U << PERF_SAMPLE_BRANCH_ABORT_TX_SHIFT,
	PERF_SAMPLE_BRANCH_IN_TX	= 1U << PERF_SAMPLE_BRANCH_IN_TX_SHIFT,
	PERF_SAMPLE_BRANCH_NO_TX	= 1U << PERF_SAMPLE_BRANCH_NO_TX_SHIFT,
	PERF_SAMPLE_BRANCH_COND		= 1U << PERF_SAMPLE_BRANCH_COND_SHIFT,
	PERF_SAMPLE_BRANCH_CALL_STACK	= 1U << PERF_SAMPLE_BRANCH_CALL_STACK_SHIFT,
	PERF_SAMPLE_BRANCH_IND_JUMP	= 1U << PERF_SAMPLE_BRANCH_IND_JUMP_SHIFT,
	PERF_SAMPLE_BRANCH_CALL		= 1U << PERF_SAMPLE_BRANCH_CALL_SHIFT,
	PERF_SAMPLE_BRANCH_NO_FLAGS	= 1U << PERF_SAMPLE_BRANCH_NO_FLAGS_SHIFT,
	PERF_SAMPLE_BRANCH_NO_CYCLES	= 1U << PERF_SAMPLE_BRANCH_NO_CYCLES_SHIFT,
	PERF_SAMPLE_BRANCH_TYPE_SAVE	= 1U << PERF_SAMPLE_BRANCH_TYPE_SAVE_SHIFT,
	PERF_SAMPLE_BRANCH_HW_INDEX	= 1U << PERF_SAMPLE_BRANCH_HW_INDEX_SHIFT,
	PERF_SAMPLE_BRANCH_PRIV_SAVE	= 1U << PERF_SAMPLE_BRANCH_PRIV_SAVE_SHIFT,
	PERF_SAMPLE_BRANCH_COUNTERS	= 1U << PERF_SAMPLE_BRANCH_COUNTERS_SHIFT,

	PERF_SAMPLE_BRANCH_MAX		= 1U << PERF_SAMPLE_BRANCH_MAX_SHIFT,
};

#define PERF_SAMPLE_BRANCH_PLM_ALL \
	(PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV)

/* perf_event_attr.read_format: see "read()" below for the layout. */
enum perf_event_read_format {
	PERF_FORMAT_TOTAL_TIME_ENABLED		= 1U << 0,
	PERF_FORMAT_TOTAL_TIME_RUNNING		= 1U << 1,
	PERF_FORMAT_ID				= 1U << 2,
	PERF_FORMAT_GROUP			= 1U << 3,
	PERF_FORMAT_LOST			= 1U << 4,

	PERF_FORMAT_MAX				= 1U << 5,
};

/* --------------------------------------------------------------- the request */

/*
 * perf_event_attr.size: the versions of the struct, with the first member each one added.  A
 * size of 0 stands for VER0.  A longer struct than the kernel knows is accepted if the excess is
 * zero; otherwise perf_event_open() fails with E2BIG and stores its own size in the member.
 */
#define PERF_ATTR_SIZE_VER0	64
#define PERF_ATTR_SIZE_VER1	72	/* config2 */
#define PERF_ATTR_SIZE_VER2	80	/* branch_sample_type */
#define PERF_ATTR_SIZE_VER3	96	/* sample_regs_user */
#define PERF_ATTR_SIZE_VER4	104	/* sample_regs_intr */
#define PERF_ATTR_SIZE_VER5	112	/* aux_watermark */
#define PERF_ATTR_SIZE_VER6	120	/* aux_sample_size */
#define PERF_ATTR_SIZE_VER7	128	/* sig_data */
#define PERF_ATTR_SIZE_VER8	136	/* config3 */
#define PERF_ATTR_SIZE_VER9	144	/* config4 */

/*
 * What perf_event_open() shall count and record.  Members that do not matter are zero.
 */
struct perf_event_attr {
	/* enum perf_type_id, or the number of a PMU */
	__u32	type;
	/* one of PERF_ATTR_SIZE_VER* */
	__u32	size;
	/* which event of that type; config1 to config4 go on where it is too short */
	__u64	config;
	union {
		__u64	sample_period;	/* a sample every so many events, 0: only count */
		__u64	sample_freq;	/* with freq: samples per second to aim at */
	};
	/* enum perf_event_sample_format */
	__u64	sample_type;
	/* enum perf_event_read_format */
	__u64	read_format;

	__u64	disabled                 : 1,	/* do not count before it is enabled */
		inherit                  : 1,	/* new children of the task have it too */
		pinned                   : 1,	/* on the PMU always, or in error */
		exclusive                : 1,	/* shares the PMU with no other group */
		exclude_user             : 1,	/* leave out user space */
		exclude_kernel           : 1,	/* leave out the kernel */
		exclude_hv               : 1,	/* leave out the hypervisor */
		exclude_idle             : 1,	/* leave out the idle task */
		mmap                     : 1,	/* record executable mappings: MMAP */
		comm                     : 1,	/* record names of tasks: COMM */
		freq                     : 1,	/* the union above is sample_freq */
		inherit_stat             : 1,	/* keep per-task counts: READ at exit */
		enable_on_exec           : 1,	/* start to count at the next exec */
		task                     : 1,	/* record FORK and EXIT */
		watermark                : 1,	/* the union below is wakeup_watermark */
		/*
		 * How far PERF_SAMPLE_IP may be off: 0 any distance, 1 a constant distance,
		 * 2 none if possible, 3 none.  Records that keep it have EXACT_IP set.
		 */
		precise_ip               : 2,
		mmap_data                : 1,	/* with mmap: other mappings as well */
		sample_id_all            : 1,	/* struct sample_id in all records */
		exclude_host             : 1,	/* count in guests only */
		exclude_guest            : 1,	/* do not count in guests */
		exclude_callchain_kernel : 1,	/* no kernel addresses in call chains */
		exclude_callchain_user   : 1,	/* no user addresses in call chains */
		mmap2                    : 1,	/* with mmap: MMAP2 instead of MMAP */
		comm_exec                : 1,	/* the kernel knows COMM_EXEC */
		use_clockid              : 1,	/* clockid is valid */
		context_switch           : 1,	/* record SWITCH */
		write_backward           : 1,	/* fill the data area from its end */
		namespaces               : 1,	/* record NAMESPACES */
		ksymbol                  : 1,	/* record KSYMBOL */
		bpf_event                : 1,	/* record BPF_EVENT */
		aux_output               : 1,	/* write to the AUX area of the leader */
		cgroup                   : 1,	/* record CGROUP */
		text_poke                : 1,	/* record TEXT_POKE */
		build_id                 : 1,	/* build ids in MMAP2 */
		inherit_thread           : 1,	/* inherit to threads, not to processes */
		remove_on_exec           : 1,	/* gone after exec */
		sigtrap                  : 1,	/* each overflow is a synchronous SIGTRAP */
		defer_callchain          : 1,	/* user call chains later: CALLCHAIN_DEFERRED */
		defer_output             : 1,	/* this buffer gets the CALLCHAIN_DEFERRED */
		__reserved_1             : 24;	/* zero */

	union {
		__u32	wakeup_events;		/* wake up readers every so many samples */
		__u32	wakeup_watermark;	/* wake up readers every so many bytes */
	};

	/* HW_BREAKPOINT_* */
	__u32	bp_type;
	union {
		__u64	bp_addr;
		__u64	kprobe_func;	/* kprobe PMU: pointer to the name of a function, or 0 */
		__u64	uprobe_path;	/* uprobe PMU: pointer to the path of a file */
		__u64	config1;
	};
	union {
		__u64	bp_len;		/* HW_BREAKPOINT_LEN_* */
		__u64	kprobe_addr;	/* when kprobe_func is 0 */
		__u64	probe_offset;	/* in the function or the file */
		__u64	config2;
	};

	/* enum perf_branch_sample_type */
	__u64	branch_sample_type;
	/* registers for PERF_SAMPLE_REGS_USER: a bit for each in asm/perf_regs.h */
	__u64	sample_regs_user;
	/* bytes for PERF_SAMPLE_STACK_USER, a multiple of 8 */
	__u32	sample_stack_user;
	/* CLOCK_* for time stamps */
	__s32	clockid;
	/* for PERF_SAMPLE_REGS_INTR; as of the instruction itself when precise_ip is not 0 */
	__u64	sample_regs_intr;
	/* wake up readers every so many bytes in the AUX area */
	__u32	aux_watermark;
	/* most addresses in a call chain, at most sysctl perf_event_max_stack; 0: as many */
	__u16	sample_max_stack;
	__u16	__reserved_2;
	/* bytes for PERF_SAMPLE_AUX */
	__u32	aux_sample_size;
	union {
		__u32	aux_action;
		struct {
			__u32	aux_start_paused : 1,	/* a tracer that begins paused */
				aux_pause        : 1,	/* an overflow pauses the leader's trace */
				aux_resume       : 1,	/* an overflow resumes it */
				__reserved_3     : 29;
		};
	};
	/* with sigtrap: for siginfo_t.si_perf_data, cut to the size of a long there */
	__u64	sig_data;
	__u64	config3;
	__u64	config4;
};

/* ------------------------------------------------- what to do with an event */

/* perf_event_open(), flags */
#define PERF_FLAG_FD_NO_GROUP		(1UL << 0)	/* group_fd is not for a group */
#define PERF_FLAG_FD_OUTPUT		(1UL << 1)	/* share the data area of group_fd */
#define PERF_FLAG_PID_CGROUP		(1UL << 2)	/* pid: fd of a cgroup directory */
#define PERF_FLAG_FD_CLOEXEC		(1UL << 3)

/**
 * struct perf_event_query_bpf - argument of PERF_EVENT_IOC_QUERY_BPF
 * @ids_len: in: room in @ids
 * @prog_cnt: out: programs attached to the tracepoint
 * @ids: out: their ids
 */
struct perf_event_query_bpf {
	__u32	ids_len;
	__u32	prog_cnt;
	__u32	ids[];
};

/* Argument of ENABLE, DISABLE and RESET, and of the others that say so */
enum perf_event_ioc_flags {
	PERF_IOC_FLAG_GROUP		= 1U << 0,	/* the whole group */
};

/* ioctl().  Those of type _IO take their argument by value. */
#define PERF_EVENT_IOC_ENABLE			_IO('$', 0)
#define PERF_EVENT_IOC_DISABLE			_IO('$', 1)
#define PERF_EVENT_IOC_REFRESH			_IO('$', 2)	/* int: enable for n samples */
#define PERF_EVENT_IOC_RESET			_IO('$', 3)	/* count = 0 */
#define PERF_EVENT_IOC_PERIOD			_IOW('$', 4, __u64)
#define PERF_EVENT_IOC_SET_OUTPUT		_IO('$', 5)	/* int: fd to share with, or -1 */
#define PERF_EVENT_IOC_SET_FILTER		_IOW('$', 6, char *)
#define PERF_EVENT_IOC_ID			_IOR('$', 7, __u64 *)
#define PERF_EVENT_IOC_SET_BPF			_IOW('$', 8, __u32)	/* fd of a program */
#define PERF_EVENT_IOC_PAUSE_OUTPUT		_IOW('$', 9, __u32)	/* 1 pause, 0 go on */
#define PERF_EVENT_IOC_QUERY_BPF		_IOWR('$', 10, struct perf_event_query_bpf *)
#define PERF_EVENT_IOC_MODIFY_ATTRIBUTES	_IOW('$', 11, struct perf_event_attr *)

/*
 * read(), and PERF_SAMPLE_READ and PERF_RECORD_READ: struct read_format is
 *
 *	without PERF_FORMAT_GROUP		with PERF_FORMAT_GROUP
 *	-------------------------		----------------------
 *	u64 value				u64 nr
 *	u64 time_enabled	TOTAL_TIME_ENABLED	u64 time_enabled
 *	u64 time_running	TOTAL_TIME_RUNNING	u64 time_running
 *	u64 id			ID		nr times, the leader first:
 *	u64 lost		LOST			u64 value
 *							u64 id		ID
 *							u64 lost	LOST
 *
 * where a name in capitals is the PERF_FORMAT_ bit without which the line is missing.
 */

/* ---------------------------------------------------------- the control page */

/*
 * First page of a mapping of an event.
 *
 * It is followed by 2^n pages of records.  What the event counts can be read from here without
 * a system call, by the task it counts.  All members from lock to time_mask that are needed are
 * copied between two reads of the sequence number:
 *
 *	do {
 *		seq = pc->lock;
 *		barrier();
 *		... copy, and read the counter ...
 *		barrier();
 *	} while (pc->lock != seq);
 *
 * Value: count = offset; if cap_user_rdpmc is set and index is not 0, add what the instruction
 * for reading counter index - 1 returns, sign-extended from pmc_width bits:
 *
 *	count += (s64)(rdpmc(index - 1) << (64 - pmc_width)) >> (64 - pmc_width);
 *
 * Time: with cap_user_time and a reading cyc of the CPU's clock (TSC or alike), the function
 *
 *	scale(c) = (c >> time_shift) * time_mult +
 *		   (((c & ((1 << time_shift) - 1)) * time_mult) >> time_shift)
 *
 * in 64 bits gives the time since the page was last written, delta = time_offset + scale(cyc).
 * It belongs to time_enabled and, while index is not 0, to time_running too; then the estimate
 * for an event that shared its counter is count * time_enabled / time_running.
 *
 * Time stamps: with cap_user_time_zero a clock reading corresponds to the time stamp
 * time_zero + scale(cyc).  Conversely with t = timestamp - time_zero,
 *
 *	cyc = ((t / time_mult) << time_shift) + ((t % time_mult) << time_shift) / time_mult
 *
 * Short clocks: with cap_user_time_short a clock has less than 64 bits; before use replace
 * cyc by time_cycles + ((cyc - time_cycles) & time_mask).
 */
struct perf_event_mmap_page {
	__u32	version;	/* of this struct */
	__u32	compat_version;	/* the oldest one it is compatible with */
	__u32	lock;		/* sequence number, odd while the kernel writes */
	__u32	index;		/* hardware counter plus one; 0: not readable now */
	__s64	offset;		/* what to add to it */
	__u64	time_enabled;	/* ns */
	__u64	time_running;	/* ns */
	union {
		__u64	capabilities;
		struct {
			__u64	cap_bit0               : 1,	/* 0; had two meanings once */
				cap_bit0_is_deprecated : 1,	/* 1: trust the next bits */
				cap_user_rdpmc         : 1,	/* counter readable by user space */
				cap_user_time          : 1,	/* shift, mult, offset valid */
				cap_user_time_zero     : 1,	/* time_zero valid */
				cap_user_time_short    : 1,	/* time_cycles, time_mask valid */
				cap_____res            : 58;
		};
	};
	__u16	pmc_width;	/* bits of the counter */
	__u16	time_shift;
	__u32	time_mult;
	__u64	time_offset;
	__u64	time_zero;
	__u32	size;		/* bytes in use up to __reserved */
	__u32	__reserved_1;
	__u64	time_cycles;
	__u64	time_mask;

	__u8	__reserved[116 * 8];	/* the rest begins at byte 1024 */

	/*
	 * Data area.  data_head counts up for ever; read it, then issue a read barrier, then look
	 * at the records.  On a writable mapping the kernel stops in front of data_tail: issue a
	 * full barrier after the last access to a record and then store its end there.  On a
	 * read-only mapping it overwrites.
	 */
	__u64	data_head;
	__u64	data_tail;
	__u64	data_offset;	/* bytes from here to the first record */
	__u64	data_size;	/* bytes */

	/*
	 * AUX area, filled by tracing hardware.  Store aux_offset (not below the end of the data
	 * area) and aux_size, then mmap() aux_size bytes at that offset.  Head and tail are as
	 * above.
	 */
	__u64	aux_head;
	__u64	aux_tail;
	__u64	aux_offset;
	__u64	aux_size;
};

/* --------------------------------------------------------------- the records */

/**
 * struct perf_event_header - in front of each record
 * @type: enum perf_event_type
 * @misc: PERF_RECORD_MISC_*
 * @size: bytes of the record with this header, a multiple of 8
 */
struct perf_event_header {
	__u32	type;
	__u16	misc;
	__u16	size;
};

/* misc, bits 2..0: who was interrupted */
#define PERF_RECORD_MISC_CPUMODE_MASK		(7 << 0)
#define PERF_RECORD_MISC_CPUMODE_UNKNOWN	(0 << 0)
#define PERF_RECORD_MISC_KERNEL			(1 << 0)
#define PERF_RECORD_MISC_USER			(2 << 0)
#define PERF_RECORD_MISC_HYPERVISOR		(3 << 0)
#define PERF_RECORD_MISC_GUEST_KERNEL		(4 << 0)
#define PERF_RECORD_MISC_GUEST_USER		(5 << 0)

/* misc, bit 12: set by tools, /proc/PID/maps could not be read in time */
#define PERF_RECORD_MISC_PROC_MAP_PARSE_TIMEOUT	(1 << 12)

/* misc, bit 13: depends on the type of the record */
#define PERF_RECORD_MISC_MMAP_DATA		(1 << 13)	/* MMAP, MMAP2: not executable */
#define PERF_RECORD_MISC_COMM_EXEC		(1 << 13)	/* COMM: by exec, not by prctl */
#define PERF_RECORD_MISC_FORK_EXEC		(1 << 13)	/* FORK: for use by tools */
#define PERF_RECORD_MISC_SWITCH_OUT		(1 << 13)	/* SWITCH*: out, not in */

/* misc, bit 14: likewise */
#define PERF_RECORD_MISC_EXACT_IP		(1 << 14)	/* SAMPLE: ip has no skid */
#define PERF_RECORD_MISC_SWITCH_OUT_PREEMPT	(1 << 14)	/* SWITCH*: it was still runnable */
#define PERF_RECORD_MISC_MMAP_BUILD_ID		(1 << 14)	/* MMAP2: has a build id */

/* misc, bit 15: for an extension of misc */
#define PERF_RECORD_MISC_EXT_RESERVED		(1 << 15)

/*
 * struct sample_id ends each record but SAMPLE when attr.sample_id_all is set; lines whose
 * PERF_SAMPLE_ bit is not set in attr.sample_type are missing:
 *
 *	u32 pid, tid		TID
 *	u64 time		TIME
 *	u64 id			ID
 *	u64 stream_id		STREAM_ID
 *	u32 cpu, res		CPU
 *	u64 id			IDENTIFIER
 *
 * The last one has a fixed distance from the end, and its twin in SAMPLE from the beginning.
 *
 * In the layouts that follow the header is left out; [] is a string that ends in at least one
 * zero byte and is filled up with zeros to a multiple of 8, unless its length is given.
 */
enum perf_event_type {
	/*
	 * A mapping that can be executed (attr.mmap), or any (attr.mmap_data)
	 *
	 *	u32 pid, tid; u64 addr; u64 len; u64 pgoff; char filename[]; struct sample_id
	 */
	PERF_RECORD_MMAP			= 1,

	/*
	 * Records did not fit in the data area
	 *
	 *	u64 id; u64 lost; struct sample_id
	 */
	PERF_RECORD_LOST			= 2,

	/*
	 * A new name of a task
	 *
	 *	u32 pid, tid; char comm[]; struct sample_id
	 */
	PERF_RECORD_COMM			= 3,

	/*
	 * A task has ended
	 *
	 *	u32 pid, ppid; u32 tid, ptid; u64 time; struct sample_id
	 */
	PERF_RECORD_EXIT			= 4,

	/*
	 * Sampling was stopped because it took too much time, and started again
	 *
	 *	u64 time; u64 id; u64 stream_id; struct sample_id
	 */
	PERF_RECORD_THROTTLE			= 5,
	PERF_RECORD_UNTHROTTLE			= 6,

	/*
	 * A task was created; layout as EXIT
	 */
	PERF_RECORD_FORK			= 7,

	/*
	 * Final counts of a task (attr.inherit_stat)
	 *
	 *	u32 pid, tid; struct read_format; struct sample_id
	 */
	PERF_RECORD_READ			= 8,

	/*
	 * The event occurred sample_period times.  Lines whose PERF_SAMPLE_ bit, as given, is not
	 * set in attr.sample_type are missing:
	 *
	 *	u64 id				IDENTIFIER, the same value as ID
	 *	u64 ip				IP
	 *	u32 pid, tid			TID
	 *	u64 time			TIME
	 *	u64 addr			ADDR
	 *	u64 id				ID
	 *	u64 stream_id			STREAM_ID
	 *	u32 cpu, res			CPU
	 *	u64 period			PERIOD
	 *	struct read_format		READ
	 *	u64 nr; u64 ips[nr]		CALLCHAIN
	 *	u32 size; char data[size]	RAW; the contents are no stable interface
	 *	u64 nr				BRANCH_STACK, all up to counters:
	 *	    u64 hw_idx			    branch_sample_type & HW_INDEX
	 *	    struct perf_branch_entry lbr[nr]
	 *	    u64 counters[nr]		    branch_sample_type & COUNTERS; decoded with
	 *					    branch_counter_nr and _width of the PMU
	 *	u64 abi; u64 regs[]		REGS_USER; enum perf_sample_regs_abi, and unless
	 *					NONE a word for each bit of sample_regs_user
	 *	u64 size; char data[size];	STACK_USER
	 *	    u64 dyn_size		    valid bytes; missing if size is 0
	 *	union perf_sample_weight	WEIGHT or WEIGHT_STRUCT
	 *	u64 data_src			DATA_SRC: union perf_mem_data_src
	 *	u64 transaction			TRANSACTION: PERF_TXN_*
	 *	u64 abi; u64 regs[]		REGS_INTR
	 *	u64 phys_addr			PHYS_ADDR
	 *	u64 cgroup			CGROUP: id
	 *	u64 data_page_size		DATA_PAGE_SIZE
	 *	u64 code_page_size		CODE_PAGE_SIZE
	 *	u64 size; char data[size]	AUX
	 */
	PERF_RECORD_SAMPLE			= 9,

	/*
	 * As MMAP, with attr.mmap2; which half of the union says MISC_MMAP_BUILD_ID
	 *
	 *	u32 pid, tid; u64 addr; u64 len; u64 pgoff;
	 *	union {
	 *		struct { u32 maj; u32 min; u64 ino; u64 ino_generation; };
	 *		struct { u8 build_id_size; u8 reserved; u16 reserved; u8 build_id[20]; };
	 *	};
	 *	u32 prot, flags; char filename[]; struct sample_id
	 */
	PERF_RECORD_MMAP2			= 10,

	/*
	 * New data in the AUX area; flags: PERF_AUX_FLAG_*
	 *
	 *	u64 aux_offset; u64 aux_size; u64 flags; struct sample_id
	 */
	PERF_RECORD_AUX				= 11,

	/*
	 * An instruction trace of this task begins
	 *
	 *	u32 pid, tid; struct sample_id
	 */
	PERF_RECORD_ITRACE_START		= 12,

	/*
	 * Samples were lost before they reached the kernel
	 *
	 *	u64 lost; struct sample_id
	 */
	PERF_RECORD_LOST_SAMPLES		= 13,

	/*
	 * The task of this event was switched in or out (MISC_SWITCH_OUT)
	 *
	 *	struct sample_id
	 */
	PERF_RECORD_SWITCH			= 14,

	/*
	 * The same for an event of a CPU, with the task that comes next or was there before
	 *
	 *	u32 next_prev_pid, next_prev_tid; struct sample_id
	 */
	PERF_RECORD_SWITCH_CPU_WIDE		= 15,

	/*
	 * The namespaces of a task, in the order of NET_NS_INDEX and so on
	 *
	 *	u32 pid, tid; u64 nr; struct perf_ns_link_info link[nr]; struct sample_id
	 */
	PERF_RECORD_NAMESPACES			= 16,

	/*
	 * Kernel code appeared or vanished; flags: PERF_RECORD_KSYMBOL_FLAGS_*
	 *
	 *	u64 addr; u32 len; u16 ksym_type; u16 flags; char name[]; struct sample_id
	 */
	PERF_RECORD_KSYMBOL			= 17,

	/*
	 * A BPF program was loaded or unloaded; type: enum perf_bpf_event_type
	 *
	 *	u16 type; u16 flags; u32 id; u8 tag[BPF_TAG_SIZE]; struct sample_id
	 */
	PERF_RECORD_BPF_EVENT			= 18,

	/*
	 * A cgroup was created
	 *
	 *	u64 id; char path[]; struct sample_id
	 */
	PERF_RECORD_CGROUP			= 19,

	/*
	 * Kernel code was modified; bytes: the old ones, then the new ones, filled up to a multiple
	 * of 8.  No old ones: it was added, no new ones: it was removed.
	 *
	 *	u64 addr; u16 old_len; u16 new_len; u8 bytes[]; struct sample_id
	 */
	PERF_RECORD_TEXT_POKE			= 20,

	/*
	 * This event (see sample_id) has the number hw_id in the AUX data of its leader
	 *
	 *	u64 hw_id; struct sample_id
	 */
	PERF_RECORD_AUX_OUTPUT_HW_ID		= 21,

	/*
	 * The user part of call chains that end with PERF_CONTEXT_USER_DEFERRED and this cookie
	 *
	 *	u64 cookie; u64 nr; u64 ips[nr]; struct sample_id
	 */
	PERF_RECORD_CALLCHAIN_DEFERRED		= 22,

	PERF_RECORD_MAX,
};

/* PERF_RECORD_NAMESPACES: device and inode of /proc/PID/ns/... */
struct perf_ns_link_info {
	__u64	dev;
	__u64	ino;
};

enum {
	NET_NS_INDEX		= 0,
	UTS_NS_INDEX		= 1,
	IPC_NS_INDEX		= 2,
	PID_NS_INDEX		= 3,
	USER_NS_INDEX		= 4,
	MNT_NS_INDEX		= 5,
	CGROUP_NS_INDEX		= 6,

	NR_NAMESPACES,
};

/* PERF_RECORD_KSYMBOL */
#define PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER	(1 << 0)

enum perf_record_ksymbol_type {
	PERF_RECORD_KSYMBOL_TYPE_UNKNOWN	= 0,
	PERF_RECORD_KSYMBOL_TYPE_BPF		= 1,
	PERF_RECORD_KSYMBOL_TYPE_OOL		= 2,	/* out of line: kprobes, trampolines */

	PERF_RECORD_KSYMBOL_TYPE_MAX
};

/* PERF_RECORD_BPF_EVENT */
enum perf_bpf_event_type {
	PERF_BPF_EVENT_UNKNOWN		= 0,
	PERF_BPF_EVENT_PROG_LOAD	= 1,
	PERF_BPF_EVENT_PROG_UNLOAD	= 2,

	PERF_BPF_EVENT_MAX,
};

/* PERF_RECORD_AUX */
#define PERF_AUX_FLAG_TRUNCATED			0x01	/* there was not enough room */
#define PERF_AUX_FLAG_OVERWRITE			0x02	/* a snapshot: older data is gone */
#define PERF_AUX_FLAG_PARTIAL			0x04	/* with gaps */
#define PERF_AUX_FLAG_COLLISION			0x08	/* with samples that ran into each other */
#define PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK	0xff00	/* format, by PMU */

#define PERF_AUX_FLAG_CORESIGHT_FORMAT_CORESIGHT	0x0000	/* framed; old kernels too */
#define PERF_AUX_FLAG_CORESIGHT_FORMAT_RAW		0x0100	/* bytes of the source */

/* ------------------------------------------------------- fields of a sample */

/* CALLCHAIN: defaults of the sysctls perf_event_max_stack and perf_event_max_contexts_per_stack */
#define PERF_MAX_STACK_DEPTH		127
#define PERF_MAX_CONTEXTS_PER_STACK	  8

/* CALLCHAIN: not addresses, but what the addresses that follow are.  MAX is interface here. */
enum perf_callchain_context {
	PERF_CONTEXT_HV			= (__u64)-32,
	PERF_CONTEXT_KERNEL		= (__u64)-128,
	PERF_CONTEXT_USER		= (__u64)-512,
	PERF_CONTEXT_USER_DEFERRED	= (__u64)-640,	/* a cookie follows */

	PERF_CONTEXT_GUEST		= (__u64)-2048,
	PERF_CONTEXT_GUEST_KERNEL	= (__u64)-2176,
	PERF_CONTEXT_GUEST_USER		= (__u64)-2560,

	PERF_CONTEXT_MAX		= (__u64)-4095,
};

/* REGS_USER, REGS_INTR */
enum perf_sample_regs_abi {
	PERF_SAMPLE_REGS_ABI_NONE	= 0,	/* no registers */
	PERF_SAMPLE_REGS_ABI_32		= 1,	/* of a 32-bit task */
	PERF_SAMPLE_REGS_ABI_64		= 2,
};

/* TRANSACTION: how a hardware transaction went, and in the upper half its abort code */
enum {
	PERF_TXN_ELISION	= (1 << 0),	/* was begun by lock elision */
	PERF_TXN_TRANSACTION	= (1 << 1),	/* was begun as a transaction */
	PERF_TXN_SYNC		= (1 << 2),	/* aborted by this instruction */
	PERF_TXN_ASYNC		= (1 << 3),	/* aborted by something else */
	PERF_TXN_RETRY		= (1 << 4),	/* may succeed the next time */
	PERF_TXN_CONFLICT	= (1 << 5),	/* others touched the same memory */
	PERF_TXN_CAPACITY_WRITE	= (1 << 6),	/* wrote too much */
	PERF_TXN_CAPACITY_READ	= (1 << 7),	/* read too much */

	PERF_TXN_MAX		= (1 << 8),

	PERF_TXN_ABORT_SHIFT	= 32,
	PERF_TXN_ABORT_MASK	= (0xffffffffULL << 32),
};

/* BRANCH_STACK: perf_branch_entry.type */
enum {
	PERF_BR_UNKNOWN		= 0,
	PERF_BR_COND		= 1,	/* conditional jump */
	PERF_BR_UNCOND		= 2,	/* jump */
	PERF_BR_IND		= 3,	/* indirect jump */
	PERF_BR_CALL		= 4,
	PERF_BR_IND_CALL	= 5,	/* indirect call */
	PERF_BR_RET		= 6,
	PERF_BR_SYSCALL		= 7,
	PERF_BR_SYSRET		= 8,
	PERF_BR_COND_CALL	= 9,
	PERF_BR_COND_RET	= 10,
	PERF_BR_ERET		= 11,	/* return from an exception */
	PERF_BR_IRQ		= 12,
	PERF_BR_SERROR		= 13,	/* system error */
	PERF_BR_NO_TX		= 14,	/* outside of a transaction */
	PERF_BR_EXTEND_ABI	= 15,	/* see new_type */

	PERF_BR_MAX,
};

/* BRANCH_STACK: perf_branch_entry.spec */
enum {
	PERF_BR_SPEC_NA			= 0,	/* not known */
	PERF_BR_SPEC_WRONG_PATH		= 1,	/* predicted, and not executed in the end */
	PERF_BR_NON_SPEC_CORRECT_PATH	= 2,	/* not predicted, executed */
	PERF_BR_SPEC_CORRECT_PATH	= 3,	/* predicted and executed */

	PERF_BR_SPEC_MAX,
};

/* BRANCH_STACK: perf_branch_entry.new_type, with type PERF_BR_EXTEND_ABI */
enum {
	PERF_BR_NEW_FAULT_ALGN		= 0,	/* fault: alignment */
	PERF_BR_NEW_FAULT_DATA		= 1,	/* fault: data access */
	PERF_BR_NEW_FAULT_INST		= 2,	/* fault: instruction fetch */
	PERF_BR_NEW_ARCH_1		= 3,	/* different in each architecture */
	PERF_BR_NEW_ARCH_2		= 4,
	PERF_BR_NEW_ARCH_3		= 5,
	PERF_BR_NEW_ARCH_4		= 6,
	PERF_BR_NEW_ARCH_5		= 7,

	PERF_BR_NEW_MAX,
};

#define PERF_BR_ARM64_FIQ		PERF_BR_NEW_ARCH_1
#define PERF_BR_ARM64_DEBUG_HALT	PERF_BR_NEW_ARCH_2
#define PERF_BR_ARM64_DEBUG_EXIT	PERF_BR_NEW_ARCH_3
#define PERF_BR_ARM64_DEBUG_INST	PERF_BR_NEW_ARCH_4
#define PERF_BR_ARM64_DEBUG_DATA	PERF_BR_NEW_ARCH_5

/* BRANCH_STACK: perf_branch_entry.priv: where the branch goes */
enum {
	PERF_BR_PRIV_UNKNOWN	= 0,
	PERF_BR_PRIV_USER	= 1,
	PERF_BR_PRIV_KERNEL	= 2,
	PERF_BR_PRIV_HV		= 3,
};

/*
 * A taken branch.  Flags the hardware does not have are zero; then both mispred and predicted are.
 */
struct perf_branch_entry {
	__u64	from;		/* usually the address of the branch instruction */
	__u64	to;
	__u64	mispred   : 1,	/* the target was predicted wrongly */
		predicted : 1,	/* the target was predicted */
		in_tx     : 1,	/* inside of a transaction */
		abort     : 1,	/* aborts the transaction */
		cycles    : 16,	/* since the branch before */
		type      : 4,
		spec      : 2,
		new_type  : 4,
		priv      : 3,
		reserved  : 31;
};

/* Bits in front of reserved */
#define PERF_BRANCH_ENTRY_INFO_BITS_MAX		33

/* WEIGHT: the cost of the access in one number; WEIGHT_STRUCT: in up to three */
union perf_sample_weight {
	__u64		full;
#if defined(__LITTLE_ENDIAN_BITFIELD)
	struct {
		__u32	var1_dw;
		__u16	var2_w;
		__u16	var3_w;
	};
#elif defined(__BIG_ENDIAN_BITFIELD)
	struct {
		__u16	var3_w;
		__u16	var2_w;
		__u32	var1_dw;
	};
#else
#error "Unknown endianness"
#endif
};

/* DATA_SRC: an access to memory */
#if defined(__LITTLE_ENDIAN_BITFIELD)
union perf_mem_data_src {
	__u64	val;
	struct {
		__u64	mem_op      : 5,	/* PERF_MEM_OP_*, bits */
			mem_lvl     : 14,	/* PERF_MEM_LVL_*, bits */
			mem_snoop   : 5,	/* PERF_MEM_SNOOP_*, bits */
			mem_lock    : 2,	/* PERF_MEM_LOCK_*, bits */
			mem_dtlb    : 7,	/* PERF_MEM_TLB_*, bits */
			mem_lvl_num : 4,	/* PERF_MEM_LVLNUM_*, a number */
			mem_remote  : 1,	/* PERF_MEM_REMOTE_* */
			mem_snoopx  : 2,	/* PERF_MEM_SNOOPX_*, bits */
			mem_blk     : 3,	/* PERF_MEM_BLK_*, bits */
			mem_hops    : 3,	/* PERF_MEM_HOPS_*, a number */
			mem_region  : 5,	/* PERF_MEM_REGION_*, a number */
			mem_rsvd    : 13;
	};
};
#elif defined(__BIG_ENDIAN_BITFIELD)
union perf_mem_data_src {
	__u64	val;
	struct {
		__u64	mem_rsvd    : 13,
			mem_region  : 5,
			mem_hops    : 3,
			mem_blk     : 3,
			mem_snoopx  : 2,
			mem_remote  : 1,
			mem_lvl_num : 4,
			mem_dtlb    : 7,
			mem_lock    : 2,
			mem_snoop   : 5,
			mem_lvl     : 14,
			mem_op      : 5;
	};
};
#else
#error "Unknown endianness"
#endif

/* PERF_MEM_S(OP, LOAD) is the value in its place */
#define PERF_MEM_S(a, s) \
	(((__u64)PERF_MEM_##a##_##s) << PERF_MEM_##a##_SHIFT)

/* Kind of access */
#define PERF_MEM_OP_SHIFT		0
#define PERF_MEM_OP_NA			0x01	/* not known; likewise below */
#define PERF_MEM_OP_LOAD		0x02
#define PERF_MEM_OP_STORE		0x04
#define PERF_MEM_OP_PFETCH		0x08	/* prefetch */
#define PERF_MEM_OP_EXEC		0x10	/* instruction fetch */

/* Where it was answered, old form; new code fills in LVLNUM, REMOTE, HOPS and SNOOPX too */
#define PERF_MEM_LVL_SHIFT		5
#define PERF_MEM_LVL_NA			0x01
#define PERF_MEM_LVL_HIT		0x02
#define PERF_MEM_LVL_MISS		0x04
#define PERF_MEM_LVL_L1			0x08
#define PERF_MEM_LVL_LFB		0x10	/* line fill buffer */
#define PERF_MEM_LVL_L2			0x20
#define PERF_MEM_LVL_L3			0x40
#define PERF_MEM_LVL_LOC_RAM		0x80	/* memory of this node */
#define PERF_MEM_LVL_REM_RAM1		0x100	/* memory one hop away */
#define PERF_MEM_LVL_REM_RAM2		0x200	/* memory two hops away */
#define PERF_MEM_LVL_REM_CCE1		0x400	/* cache one hop away */
#define PERF_MEM_LVL_REM_CCE2		0x800	/* cache two hops away */
#define PERF_MEM_LVL_IO			0x1000	/* a device */
#define PERF_MEM_LVL_UNC		0x2000	/* uncached memory */

/* State of the line in other caches */
#define PERF_MEM_SNOOP_SHIFT		19
#define PERF_MEM_SNOOP_NA		0x01
#define PERF_MEM_SNOOP_NONE		0x02	/* nobody was asked */
#define PERF_MEM_SNOOP_HIT		0x04
#define PERF_MEM_SNOOP_MISS		0x08
#define PERF_MEM_SNOOP_HITM		0x10	/* hit, modified */

/* Locked instruction */
#define PERF_MEM_LOCK_SHIFT		24
#define PERF_MEM_LOCK_NA		0x01
#define PERF_MEM_LOCK_LOCKED		0x02

/* Translation */
#define PERF_MEM_TLB_SHIFT		26
#define PERF_MEM_TLB_NA			0x01
#define PERF_MEM_TLB_HIT		0x02
#define PERF_MEM_TLB_MISS		0x04
#define PERF_MEM_TLB_L1			0x08
#define PERF_MEM_TLB_L2			0x10
#define PERF_MEM_TLB_WK			0x20	/* page walk by hardware */
#define PERF_MEM_TLB_OS			0x40	/* fault handler of the kernel */

/* Where it was answered */
#define PERF_MEM_LVLNUM_SHIFT		33
#define PERF_MEM_LVLNUM_L1		0x01
#define PERF_MEM_LVLNUM_L2		0x02
#define PERF_MEM_LVLNUM_L3		0x03
#define PERF_MEM_LVLNUM_L4		0x04
#define PERF_MEM_LVLNUM_L2_MHB		0x05	/* miss handling buffer of L2 */
#define PERF_MEM_LVLNUM_MSC		0x06	/* cache on the memory's side */
#define PERF_MEM_LVLNUM_L0		0x07
#define PERF_MEM_LVLNUM_UNC		0x08	/* uncached */
#define PERF_MEM_LVLNUM_CXL		0x09
#define PERF_MEM_LVLNUM_IO		0x0a
#define PERF_MEM_LVLNUM_ANY_CACHE	0x0b
#define PERF_MEM_LVLNUM_LFB		0x0c	/* line fill buffer, miss handling buffer of L1 */
#define PERF_MEM_LVLNUM_RAM		0x0d
#define PERF_MEM_LVLNUM_PMEM		0x0e	/* persistent memory */
#define PERF_MEM_LVLNUM_NA		0x0f

/* On another core, node or socket */
#define PERF_MEM_REMOTE_SHIFT		37
#define PERF_MEM_REMOTE_REMOTE		0x01

/* More on the state of the line */
#define PERF_MEM_SNOOPX_SHIFT		38
#define PERF_MEM_SNOOPX_FWD		0x01	/* forwarded */
#define PERF_MEM_SNOOPX_PEER		0x02	/* handed over by a peer */

/* What held a load up */
#define PERF_MEM_BLK_SHIFT		40
#define PERF_MEM_BLK_NA			0x01
#define PERF_MEM_BLK_DATA		0x02	/* data of a store could not be forwarded */
#define PERF_MEM_BLK_ADDR		0x04	/* addresses in conflict */

/* How far away, with REMOTE; 5 to 7 are free */
#define PERF_MEM_HOPS_SHIFT		43
#define PERF_MEM_HOPS_0			0x01	/* other core, same node */
#define PERF_MEM_HOPS_1			0x02	/* other node, same socket */
#define PERF_MEM_HOPS_2			0x03	/* other socket, same board */
#define PERF_MEM_HOPS_3			0x04	/* other board */

/* Whose memory or cache; CA: caching agent */
#define PERF_MEM_REGION_SHIFT		46
#define PERF_MEM_REGION_NA		0x00
#define PERF_MEM_REGION_RSVD		0x01
#define PERF_MEM_REGION_L_SHARE		0x02	/* shared cache of the local CA */
#define PERF_MEM_REGION_L_NON_SHARE	0x03	/* cache of the local CA, not shared */
#define PERF_MEM_REGION_O_IO		0x04	/* I/O agent of another CA */
#define PERF_MEM_REGION_O_SHARE		0x05	/* shared cache of another CA */
#define PERF_MEM_REGION_O_NON_SHARE	0x06	/* cache of another CA, not shared */
#define PERF_MEM_REGION_MMIO		0x07
#define PERF_MEM_REGION_MEM0		0x08	/* the ranges of memory the machine tells apart */
#define PERF_MEM_REGION_MEM1		0x09
#define PERF_MEM_REGION_MEM2		0x0a
#define PERF_MEM_REGION_MEM3		0x0b
#define PERF_MEM_REGION_MEM4		0x0c
#define PERF_MEM_REGION_MEM5		0x0d
#define PERF_MEM_REGION_MEM6		0x0e
#define PERF_MEM_REGION_MEM7		0x0f

#endif /* _UAPI_LINUX_PERF_EVENT_H */
