// SPDX-License-Identifier: GPL-2.0
/*
 * abi_after_6_12.c - what the ABI has that Linux 6.12 did not know.
 *
 * The ninth version of the attr with config4, the bits of deferred call chains, and constants.
 * A kernel that takes 136 bytes for the whole attr is older; cases about config4 are skipped there.
 */
#include "lib/ptest.h"

#define VER8	136
#define VER9	144

static struct perf_event_attr dummy(void)
{
	return pt_attr(PT_SW(DUMMY));
}

static void config4(void)
{
	struct perf_event_attr attr = dummy();

	if (pt_is_stock())
		pt_skip("Linux 6.12's attr ends before config4");
	pt_eq(pt_attr_size(), VER9);

	attr.config4 = ~0ull;
	pt_eq(pt_probe(&attr), 0);
	attr.size = VER9 - 1;		/* a piece of it counts, too */
	pt_eq(pt_probe(&attr), 0);
	attr.size = VER8;		/* and what is not in the struct is not looked at */
	pt_eq(pt_probe(&attr), 0);
}

static void beyond_config4(void)
{
	union {
		struct perf_event_attr attr;
		u8 byte[VER9 + 8];
	} u;
	int fd;

	memset(&u, 0, sizeof(u));
	u.attr = dummy();
	u.attr.size = sizeof(u);
	fd = syscall(SYS_perf_event_open, &u, 0, -1, -1, 0);
	pt_check(fd >= 0, "eight zero bytes more: %s", strerror(errno));
	close(fd);
	u.byte[VER9] = 1;
	pt_eq(syscall(SYS_perf_event_open, &u, 0, -1, -1, 0), -1);
	pt_eq(errno, E2BIG);
}

/* They are bits 38 and 39 of the flags, reserved ones in Linux 6.12.  See deferred.c. */
static void deferred_callchains(void)
{
	int want = pt_is_stock() ? -EINVAL : 0;
	struct perf_event_attr attr = dummy();
	u64 flags;

	attr.defer_callchain = 1;
	memcpy(&flags, (u8 *)&attr + 40, sizeof(flags));
	pt_eq(flags >> 38, 1);
	pt_eq(pt_probe(&attr), want);
	attr.sample_type = PERF_SAMPLE_CALLCHAIN;
	attr.sample_period = 1;
	pt_eq(pt_probe(&attr), want);

	attr = dummy();
	attr.defer_output = 1;
	memcpy(&flags, (u8 *)&attr + 40, sizeof(flags));
	pt_eq(flags >> 38, 2);
	pt_eq(pt_probe(&attr), want);
	attr.__reserved_1 = 1;
	pt_eq(pt_probe(&attr), -EINVAL);
}

static void header(void)
{
	pt_eq(PERF_ATTR_SIZE_VER9, VER9);
	pt_eq(sizeof(struct perf_event_attr), VER9);
	pt_eq(offsetof(struct perf_event_attr, config4), VER8);
	pt_eq(PERF_RECORD_CALLCHAIN_DEFERRED, 22);
	pt_eq(PERF_CONTEXT_USER_DEFERRED, -640);
	pt_eq(PERF_MEM_LVLNUM_L0, 7);
}

static void mem_region(void)
{
	union perf_mem_data_src src = { .val = PERF_MEM_S(REGION, MEM7) };

	pt_eq(src.val, 15ull << 46);
	pt_eq(src.mem_region, PERF_MEM_REGION_MEM7);
	src.val = 31ull << 46;
	pt_eq(src.mem_region, 31);
	pt_eq(src.mem_hops, 0);
	pt_eq(src.mem_rsvd, 0);
}

static const struct pt_case cases[] = {
	{ "header", header },
	{ "config4", config4 },
	{ "beyond config4", beyond_config4 },
	{ "deferred call chains", deferred_callchains },
	{ "mem_region", mem_region },
};

PT_MAIN(cases)
