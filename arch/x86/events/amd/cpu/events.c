// SPDX-License-Identifier: GPL-2.0
/*
 * Which event codes the generic events and the cache events stand for.
 *
 * Data, by generation.  Codes are those of the event-select register: event in bits 0 to 7 and 32
 * to 35, unit mask in bits 8 to 15.  What is not listed is 0, "not known"; what makes no sense is
 * -1.  init.c asks once at boot; the generic events are looked up at every open.
 *
 * The generations are those where something changed, not those of marketing: AMD_PE_K7 is every
 * CPU before family 17h, AMD_PE_ZEN2 also Zen 3, AMD_PE_ZEN4 also what comes after it.
 *
 * Facts: AMD's BKDG of family 10h, 31116 (k7: none); PPRs of families 17h, 19h and 1Ah; event lists
 * - zen1: amdzen1 v2; zen2: amdzen2 v1, amdzen3 v1; zen4: amdzen4 v1, amdzen5 v1;
 * zen: amdzen1 v2, amdzen2 v1, amdzen3 v1, amdzen4 v1, amdzen5 v1.
 */
#include <linux/init.h>

#include <asm/cpufeature.h>

#include "cpu.h"

/* A unit mask and an event of eight bits. */
#define E(umask, event)		((umask) << 8 | (event))

/* The same ever since K7. */
#define TIMELESS							\
	[PERF_COUNT_HW_CPU_CYCLES] = E(0, 0x76),	/* ls_not_halted_cyc */ \
	[PERF_COUNT_HW_INSTRUCTIONS] = E(0, 0xc0),	/* ex_ret_instr */ \
	[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = E(0, 0xc2),	/* ex_ret_brn */ \
	[PERF_COUNT_HW_BRANCH_MISSES] = E(0, 0xc3)	/* ex_ret_brn_misp */

/* Zen: requests to the second level of cache, and those of them that missed. */
#define ZEN_CACHE							\
	[PERF_COUNT_HW_CACHE_REFERENCES] = E(0xff, 0x60),	/* l2_request_g1.all */ \
	[PERF_COUNT_HW_CACHE_MISSES] = E(0x09, 0x64)	/* l2_cache_req_stat.ic_dc_miss_in_l2 */

static const u64 generic[AMD_PE_GENERATIONS][PERF_COUNT_HW_MAX] = {
	[AMD_PE_K7] = {
		TIMELESS,
		[PERF_COUNT_HW_CACHE_REFERENCES] = E(0x07, 0x7d),	/* Requests to L2 Cache */
		[PERF_COUNT_HW_CACHE_MISSES] = E(0x07, 0x7e),		/* L2 Cache Misses */
		[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = E(0, 0xd0),	/* Decoder Empty */
		[PERF_COUNT_HW_STALLED_CYCLES_BACKEND] = E(0, 0xd1),	/* Dispatch Stalls */
	},
	[AMD_PE_ZEN1] = {
		TIMELESS, ZEN_CACHE,
		[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] =
			E(0x02, 0x87),		/* ic_fetch_stall.ic_stall_dq_empty */
		[PERF_COUNT_HW_STALLED_CYCLES_BACKEND] =
			E(0x01, 0x87),		/* ic_fetch_stall.ic_stall_back_pressure */
	},
	[AMD_PE_ZEN2] = {
		TIMELESS, ZEN_CACHE,
		[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] =
			E(0, 0xa9),		/* de_dis_uop_queue_empty_di0 */
	},
	[AMD_PE_ZEN4] = {
		TIMELESS, ZEN_CACHE,
		[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = E(0, 0xa9),	/* de_op_queue_empty */
		[PERF_COUNT_HW_REF_CPU_CYCLES] =
			1ULL << 32 | E(0x01, 0x20),	/* ls_not_halted_p0_cyc.p0_freq_cyc */
	},
};

enum { LOAD = PERF_COUNT_HW_CACHE_OP_READ, STORE, PREFETCH };
enum { USE = PERF_COUNT_HW_CACHE_RESULT_ACCESS, MISS };

struct cache_code {
	u8	cache, op, result;
	u16	code;
};

static const struct cache_code k7_cache[] = {
	{ C(L1D),  LOAD,     USE,  E(0x00, 0x40) },	/* Data Cache Accesses */
	{ C(L1D),  LOAD,     MISS, E(0x01, 0x41) },	/* Data Cache Misses */
	{ C(L1D),  PREFETCH, USE,  E(0x02, 0x67) },	/* Data Prefetcher: attempted */
	{ C(L1D),  PREFETCH, MISS, E(0x01, 0x67) },	/* Data Prefetcher: cancelled */
	{ C(L1I),  LOAD,     USE,  E(0x00, 0x80) },	/* Instruction Cache Fetches */
	{ C(L1I),  LOAD,     MISS, E(0x00, 0x81) },	/* Instruction Cache Misses */
	{ C(L1I),  PREFETCH, USE,  E(0x01, 0x4b) },	/* Prefetch Instructions Dispatched: load */
	{ C(LL),   LOAD,     USE,  E(0x03, 0x7d) },	/* Requests to L2 Cache: IC and DC fill */
	{ C(LL),   LOAD,     MISS, E(0x03, 0x7e) },	/* L2 Cache Misses: IC and DC fill */
	{ C(LL),   STORE,    USE,  E(0x01, 0x7f) },	/* L2 Fill/Writeback: fills */
	{ C(DTLB), LOAD,     USE,  E(0x00, 0x40) },	/* Data Cache Accesses */
	{ C(DTLB), LOAD,     MISS, E(0x07, 0x46) },	/* L1 DTLB and L2 DTLB Miss */
	{ C(ITLB), LOAD,     USE,  E(0x00, 0x80) },	/* Instruction Cache Fetches */
	{ C(ITLB), LOAD,     MISS, E(0x03, 0x85) },	/* L1 ITLB and L2 ITLB Miss */
	{ C(BPU),  LOAD,     USE,  E(0x00, 0xc2) },	/* Retired Branch Instructions */
	{ C(BPU),  LOAD,     MISS, E(0x00, 0xc3) },	/* Retired Mispredicted Branches */
	{ C(NODE), LOAD,     USE,  E(0xb8, 0xe9) },	/* CPU/IO Requests: any memory */
	{ C(NODE), LOAD,     MISS, E(0x98, 0xe9) },	/* CPU/IO Requests: remote memory */
};

static const struct cache_code zen_cache[] = {
	{ C(L1D),  LOAD,     USE,  E(0x00, 0x40) },	/* ls_dc_accesses */
	{ C(L1D),  LOAD,     MISS, E(0xc8, 0x60) },	/* l2_cache_accesses_from_dc_misses */
	{ C(L1D),  PREFETCH, USE,  E(0xff, 0x5a) },	/* ls_hw_pf_dc_fill: all sources */
	{ C(L1I),  LOAD,     USE,  E(0x00, 0x80) },	/* ic_fw32 */
	{ C(L1I),  LOAD,     MISS, E(0x00, 0x81) },	/* ic_fw32_miss */
	{ C(DTLB), LOAD,     USE,  E(0xff, 0x45) },	/* ls_l1_d_tlb_miss.all */
	{ C(DTLB), LOAD,     MISS, E(0xf0, 0x45) },	/* l2_dtlb_misses */
	{ C(ITLB), LOAD,     USE,  E(0x00, 0x84) },	/* bp_l1_tlb_miss_l2_*hit */
	{ C(ITLB), LOAD,     MISS, E(0xff, 0x85) },	/* bp_l1_tlb_miss_l2_tlb_miss */
	{ C(BPU),  LOAD,     USE,  E(0x00, 0xc2) },	/* ex_ret_brn */
	{ C(BPU),  LOAD,     MISS, E(0x00, 0xc3) },	/* ex_ret_brn_misp */
};

/* There are no such operations, on any of them. */
static const struct { u8 cache, op; } senseless[] = {
	{ C(L1I), STORE }, { C(ITLB), STORE }, { C(ITLB), PREFETCH }, { C(BPU), STORE },
	{ C(BPU), PREFETCH }, { C(NODE), STORE }, { C(NODE), PREFETCH },
};

/* The code of a generic event, for all of them below PERF_COUNT_HW_MAX. */
u64 amd_pe_generic_event(enum amd_pe_generation generation, int id)
{
	return generic[generation][id];
}

static u64 *slot(u64 *ids, int cache, int op, int result)
{
	return &ids[(cache * PERF_COUNT_HW_CACHE_OP_MAX + op) * PERF_COUNT_HW_CACHE_RESULT_MAX +
		    result];
}

/* The codes of cache events into @ids, which is a hw_cache_event_ids and all zeroes. */
void amd_pe_fill_cache_ids(u64 *ids, unsigned int family)
{
	bool zen = family >= 0x17;
	const struct cache_code *row = zen ? zen_cache : k7_cache;
	const struct cache_code *end = row + (zen ? ARRAY_SIZE(zen_cache) : ARRAY_SIZE(k7_cache));
	int i;

	for (i = 0; i < ARRAY_SIZE(senseless); i++) {
		*slot(ids, senseless[i].cache, senseless[i].op, USE) = -1ULL;
		*slot(ids, senseless[i].cache, senseless[i].op, MISS) = -1ULL;
	}
	for (; row < end; row++)
		*slot(ids, row->cache, row->op, row->result) = row->code;
}

static enum amd_pe_generation this_generation __ro_after_init;

static u64 amd_pe_event_map(int id)
{
	return amd_pe_generic_event(this_generation, id);
}

/* Models of family 17h that the kernel does not know keep the oldest events, as in Linux 6.12. */
static enum amd_pe_generation __init find_generation(void)
{
	if (cpu_feature_enabled(X86_FEATURE_ZEN4) || boot_cpu_data.x86 >= 0x1a)
		return AMD_PE_ZEN4;
	if (cpu_feature_enabled(X86_FEATURE_ZEN2) || boot_cpu_data.x86 >= 0x19)
		return AMD_PE_ZEN2;
	/* Hygon's first is a Zen 1, without having the flag. */
	if (cpu_feature_enabled(X86_FEATURE_ZEN1) || boot_cpu_data.x86_vendor == X86_VENDOR_HYGON)
		return AMD_PE_ZEN1;
	return AMD_PE_K7;
}

void __init amd_pe_events_init(void)
{
	this_generation = find_generation();
	x86_pmu.event_map = amd_pe_event_map;
	x86_pmu.max_events = PERF_COUNT_HW_MAX;
	amd_pe_fill_cache_ids(&hw_cache_event_ids[0][0][0], boot_cpu_data.x86);
}
