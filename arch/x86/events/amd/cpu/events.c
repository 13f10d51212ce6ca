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
 */
#include <linux/init.h>

#include <asm/cpufeature.h>

#include "cpu.h"

/* A unit mask and an event of eight bits. */
#define E(umask, event)		((umask) << 8 | (event))

/* The same ever since K7. */
#define TIMELESS							\
	[PERF_COUNT_HW_CPU_CYCLES] = E(0, 0x76),			\
	[PERF_COUNT_HW_INSTRUCTIONS] = E(0, 0xc0),			\
	[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = E(0, 0xc2),		\
	[PERF_COUNT_HW_BRANCH_MISSES] = E(0, 0xc3)

/* Zen: requests to the second level of cache, and those of them that missed. */
#define ZEN_CACHE							\
	[PERF_COUNT_HW_CACHE_REFERENCES] = E(0xff, 0x60),		\
	[PERF_COUNT_HW_CACHE_MISSES] = E(0x09, 0x64)

static const u64 generic[AMD_PE_GENERATIONS][PERF_COUNT_HW_MAX] = {
	[AMD_PE_K7] = {
		TIMELESS,
		[PERF_COUNT_HW_CACHE_REFERENCES] = E(0x07, 0x7d),
		[PERF_COUNT_HW_CACHE_MISSES] = E(0x07, 0x7e),
		[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = E(0, 0xd0),	/* decoder empty */
		[PERF_COUNT_HW_STALLED_CYCLES_BACKEND] = E(0, 0xd1),	/* dispatch stalled */
	},
	[AMD_PE_ZEN1] = {
		TIMELESS, ZEN_CACHE,
		[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = E(0x02, 0x87),
		[PERF_COUNT_HW_STALLED_CYCLES_BACKEND] = E(0x01, 0x87),
	},
	[AMD_PE_ZEN2] = {
		TIMELESS, ZEN_CACHE,
		[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = E(0, 0xa9),
	},
	[AMD_PE_ZEN4] = {
		TIMELESS, ZEN_CACHE,
		[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = E(0, 0xa9),
		[PERF_COUNT_HW_REF_CPU_CYCLES] = 1ULL << 32 | E(0x01, 0x20),
	},
};

enum { LOAD = PERF_COUNT_HW_CACHE_OP_READ, STORE, PREFETCH };
enum { USE = PERF_COUNT_HW_CACHE_RESULT_ACCESS, MISS };

struct cache_code {
	u8	cache, op, result;
	u16	code;
};

static const struct cache_code k7_cache[] = {
	{ C(L1D),  LOAD,     USE,  E(0x00, 0x40) },
	{ C(L1D),  LOAD,     MISS, E(0x01, 0x41) },
	{ C(L1D),  PREFETCH, USE,  E(0x02, 0x67) },	/* attempted */
	{ C(L1D),  PREFETCH, MISS, E(0x01, 0x67) },	/* cancelled */
	{ C(L1I),  LOAD,     USE,  E(0x00, 0x80) },
	{ C(L1I),  LOAD,     MISS, E(0x00, 0x81) },
	{ C(L1I),  PREFETCH, USE,  E(0x01, 0x4b) },
	{ C(LL),   LOAD,     USE,  E(0x03, 0x7d) },	/* of instructions and data */
	{ C(LL),   LOAD,     MISS, E(0x03, 0x7e) },
	{ C(LL),   STORE,    USE,  E(0x01, 0x7f) },	/* fills and write-backs */
	{ C(DTLB), LOAD,     USE,  E(0x00, 0x40) },
	{ C(DTLB), LOAD,     MISS, E(0x07, 0x46) },	/* both levels */
	{ C(ITLB), LOAD,     USE,  E(0x00, 0x80) },
	{ C(ITLB), LOAD,     MISS, E(0x03, 0x85) },
	{ C(BPU),  LOAD,     USE,  E(0x00, 0xc2) },
	{ C(BPU),  LOAD,     MISS, E(0x00, 0xc3) },
	{ C(NODE), LOAD,     USE,  E(0xb8, 0xe9) },	/* to any node's memory */
	{ C(NODE), LOAD,     MISS, E(0x98, 0xe9) },	/* to another node's */
};

static const struct cache_code zen_cache[] = {
	{ C(L1D),  LOAD,     USE,  E(0x00, 0x40) },
	{ C(L1D),  LOAD,     MISS, E(0xc8, 0x60) },	/* that went to the second level */
	{ C(L1D),  PREFETCH, USE,  E(0xff, 0x5a) },
	{ C(L1I),  LOAD,     USE,  E(0x00, 0x80) },
	{ C(L1I),  LOAD,     MISS, E(0x00, 0x81) },
	{ C(DTLB), LOAD,     USE,  E(0xff, 0x45) },	/* the second level's */
	{ C(DTLB), LOAD,     MISS, E(0xf0, 0x45) },	/* page walks */
	{ C(ITLB), LOAD,     USE,  E(0x00, 0x84) },	/* found in the second level */
	{ C(ITLB), LOAD,     MISS, E(0xff, 0x85) },
	{ C(BPU),  LOAD,     USE,  E(0x00, 0xc2) },
	{ C(BPU),  LOAD,     MISS, E(0x00, 0xc3) },
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
