// SPDX-License-Identifier: GPL-2.0
/*
 * PERF_SAMPLE_DATA_SRC: where a load or store found its data.
 *
 * A record has a word about it.  Some of its bits are a code for the place, from the table of the
 * CPU's generation; the others say how address translation, lock and store forwarding went.  Which
 * bits is a matter of the generation and of the event.  The tables here are lists of differences:
 * a generation starts from SNB's or LNC's and replaces some codes.
 *
 * The intel_pmu_pebs_data_source_*() run once, when the driver starts.  The rest is for the PMI's
 * NMI or with interrupts off, pure but for x86_pmu.
 */
#include <linux/perf_event.h>

#include "pebs.h"

#define S(field, value)	PERF_MEM_S(field, value)
#define LOAD(means)	(S(OP, LOAD) | (means))

/* Places: the old level, the new one, and on which socket. */
#define IN_NOWHERE	(S(LVL, MISS) | S(LVLNUM, L3))
#define IN_L0		(S(LVL, HIT) | S(LVLNUM, L0))
#define IN_L1		(S(LVL, HIT) | S(LVL, L1) | S(LVLNUM, L1))
#define IN_LFB		(S(LVL, HIT) | S(LVL, LFB) | S(LVLNUM, LFB))
#define IN_L2		(S(LVL, HIT) | S(LVL, L2) | S(LVLNUM, L2))
#define IN_L2_MISSES	(S(LVL, HIT) | S(LVLNUM, L2_MHB))
#define IN_L3		(S(LVL, HIT) | S(LVL, L3) | S(LVLNUM, L3))
#define IN_L3_MISSED	(S(LVL, MISS) | S(LVL, L3) | S(LVLNUM, L3))
#define IN_L4		(S(LVL, HIT) | S(LVLNUM, L4))
#define IN_MEMORY_CACHE	(S(LVL, HIT) | S(LVLNUM, MSC))
#define IN_PMEM		(S(LVL, HIT) | S(LVLNUM, PMEM))
#define IN_RAM		(S(LVL, HIT) | S(LVL, LOC_RAM) | S(LVLNUM, RAM))
#define FAR(place)	((place) | S(REMOTE, REMOTE))
#define IN_FAR_L3	FAR(S(LVL, HIT) | S(LVL, REM_CCE1) | S(LVLNUM, L3))
#define IN_FAR_RAM_L3	FAR(S(LVL, HIT) | S(LVL, REM_RAM1) | S(LVLNUM, L3))
#define IN_FAR_RAM1	FAR(S(LVL, HIT) | S(LVL, REM_RAM1) | S(LVLNUM, RAM))
#define IN_FAR_RAM	FAR(S(LVL, HIT) | S(LVLNUM, RAM))
#define IN_FAR_CACHE	FAR(S(LVL, HIT) | S(LVLNUM, ANY_CACHE))
#define IN_MMIO		(S(LVL, HIT) | S(LVLNUM, RAM))
#define IN_DEVICE	(S(LVL, HIT) | S(LVL, IO) | S(LVLNUM, NA))
#define IN_UNCACHED	(S(LVL, HIT) | S(LVL, UNC) | S(LVLNUM, NA))

/* What snooping other caches found. */
#define SN_UNKNOWN	S(SNOOP, NA)
#define SN_NONE		S(SNOOP, NONE)
#define SN_MISS		S(SNOOP, MISS)
#define SN_HIT		S(SNOOP, HIT)
#define SN_HITM		S(SNOOP, HITM)
#define SN_FWD		S(SNOOPX, FWD)

struct code {
	u8	code;
	u64	means;
};

/*
 * The table unless the PMU is a hybrid one, which has its own.  First it has SNB's codes, which
 * many generations kept.
 */
static u64 pebs_data_source[PERF_PEBS_DATA_SOURCE_MAX] = {
	[0x0] = LOAD(IN_NOWHERE | SN_UNKNOWN),
	[0x1] = LOAD(IN_L1 | SN_NONE), [0x2] = LOAD(IN_LFB | SN_NONE),
	[0x3] = LOAD(IN_L2 | SN_NONE),
	[0x4] = LOAD(IN_L3 | SN_NONE), [0x5] = LOAD(IN_L3 | SN_MISS), [0x6] = LOAD(IN_L3 | SN_HIT),
	[0x7] = LOAD(IN_L3 | SN_HITM),
	[0x8] = LOAD(IN_FAR_L3 | SN_HIT), [0x9] = LOAD(IN_FAR_L3 | SN_HITM),
	[0xa] = LOAD(IN_RAM | SN_HIT), [0xb] = LOAD(IN_FAR_RAM_L3 | SN_HIT),
	[0xc] = LOAD(IN_RAM | SN_NONE | SN_MISS), [0xd] = LOAD(IN_FAR_RAM1 | SN_NONE | SN_MISS),
	[0xe] = LOAD(IN_DEVICE | SN_NONE), [0xf] = LOAD(IN_UNCACHED | SN_NONE),
};

static const struct code nhm[] __initconst = {
	{ 0x05, IN_L3 | SN_HIT }, { 0x06, IN_L3 | SN_HITM }, { 0x07, IN_L3 | SN_HITM },
};

/* Servers with persistent memory, and everything else. */
static const struct code skl_pmem[] __initconst = {
	{ 0x08, IN_PMEM | SN_HIT }, { 0x09, FAR(IN_PMEM) | SN_HIT },
};

static const struct code skl_l4[] __initconst = {
	{ 0x08, IN_L4 | SN_HIT }, { 0x09, FAR(IN_L4) | SN_HIT },
};

static const struct code skl[] __initconst = {
	{ 0x0b, IN_FAR_RAM | SN_NONE }, { 0x0c, IN_FAR_CACHE | SN_FWD },
	{ 0x0d, IN_FAR_CACHE | SN_HITM },
};

static const struct code grt[] __initconst = {
	{ 0x05, IN_L3 | SN_HIT }, { 0x06, IN_L3 | SN_HITM }, { 0x08, IN_L3 | SN_FWD },
};

static const struct code cmt[] __initconst = {
	{ 0x07, IN_L3 | SN_FWD }, { 0x08, IN_L3 | SN_HITM },
	{ 0x0a, IN_RAM | SN_NONE }, { 0x0b, IN_FAR_RAM | SN_NONE },
	{ 0x0c, IN_FAR_RAM | SN_FWD }, { 0x0d, IN_FAR_RAM | SN_HITM },
};

/* All of them: the codes that are not here are reserved. */
static const struct code lnc[] __initconst = {
	{ 0x00, IN_NOWHERE | SN_UNKNOWN },
	{ 0x01, IN_L1 | SN_NONE }, { 0x02, IN_L1 | SN_NONE }, { 0x03, IN_LFB | SN_NONE },
	{ 0x05, IN_L2 | SN_NONE }, { 0x06, IN_L2_MISSES | SN_NONE },
	{ 0x08, IN_L3 | SN_NONE }, { 0x0c, IN_L3 | SN_FWD }, { 0x0d, IN_L3 | SN_HITM },
	{ 0x0f, IN_L3_MISSED | SN_HITM },
	{ 0x10, IN_MEMORY_CACHE | SN_NONE }, { 0x11, IN_RAM | SN_NONE },
};

/*
 * Panther Cove and Arctic Wolf say separately whether the L2 was missed.  These are the codes if
 * not.
 */
static const struct code pnc[] __initconst = {
	{ 0x00, S(LVL, NA) | S(LVLNUM, NA) | SN_UNKNOWN },
	{ 0x01, IN_L0 | SN_NONE }, { 0x02, IN_L1 | SN_NONE }, { 0x03, IN_LFB | SN_NONE },
	{ 0x04, IN_L2 | SN_NONE }, { 0x07, IN_L2 | SN_HIT }, { 0x08, IN_L2 | SN_HITM },
	{ 0x09, IN_L2 | SN_MISS }, { 0x0a, IN_L2 | SN_MISS },	/* prefetches, promoted */
	{ 0x0f, IN_UNCACHED | SN_NONE },
};

static const struct code arw[] __initconst = {
	{ 0x00, S(LVL, NA) | S(LVLNUM, NA) | SN_UNKNOWN },
	{ 0x01, IN_L1 | SN_NONE }, { 0x02, IN_LFB | SN_NONE }, { 0x03, IN_L2 | SN_NONE },
	{ 0x04, IN_L2 | SN_HIT }, { 0x05, IN_L2 | SN_HITM }, { 0x06, IN_UNCACHED | SN_NONE },
};

static void __init learn(u64 *table, const struct code *codes, int n)
{
	for (; n; n--, codes++)
		table[codes->code] = LOAD(codes->means);
}

/* There are no other codes. */
static void __init learn_only(u64 *table, const struct code *codes, int n)
{
	memset(table, 0, sizeof(pebs_data_source));
	learn(table, codes, n);
}

#define LEARN(table, codes)		learn(table, codes, ARRAY_SIZE(codes))
#define LEARN_ONLY(table, codes)	learn_only(table, codes, ARRAY_SIZE(codes))

static void __init learn_skl(u64 *table)
{
	LEARN(table, skl_l4);
	LEARN(table, skl);
}

/* Servers whose memory may be persistent: codes of that where others have those of an L4. */
static void __init learn_skl_pmem(u64 *table)
{
	LEARN(table, skl_pmem);
	LEARN(table, skl);
}

/* The table of one of a hybrid machine's PMUs, with SNB's codes. */
static u64 __init *hybrid_table(int which)
{
	u64 *table = x86_pmu.hybrid_pmu[which].pebs_data_source;

	memcpy(table, pebs_data_source, sizeof(pebs_data_source));
	return table;
}

void __init intel_pmu_pebs_data_source_nhm(void)
{
	LEARN(pebs_data_source, nhm);
}

void __init intel_pmu_pebs_data_source_skl(bool pmem)
{
	if (pmem)
		learn_skl_pmem(pebs_data_source);
	else
		learn_skl(pebs_data_source);
}

void __init intel_pmu_pebs_data_source_grt(void)
{
	LEARN(pebs_data_source, grt);
}

void __init intel_pmu_pebs_data_source_cmt(void)
{
	LEARN(pebs_data_source, cmt);
}

void __init intel_pmu_pebs_data_source_adl(void)
{
	learn_skl(hybrid_table(X86_HYBRID_PMU_CORE_IDX));
	LEARN(hybrid_table(X86_HYBRID_PMU_ATOM_IDX), grt);
}

void __init intel_pmu_pebs_data_source_mtl(void)
{
	learn_skl(hybrid_table(X86_HYBRID_PMU_CORE_IDX));
	LEARN(hybrid_table(X86_HYBRID_PMU_ATOM_IDX), cmt);
}

void __init intel_pmu_pebs_data_source_lnl(void)
{
	LEARN_ONLY(hybrid_table(X86_HYBRID_PMU_CORE_IDX), lnc);
	LEARN(hybrid_table(X86_HYBRID_PMU_ATOM_IDX), cmt);
}

/* Arrow Lake H: Lunar Lake's two kinds of cores, and Crestmont. */
void __init intel_pe_arl_h_data_source(void)
{
	intel_pmu_pebs_data_source_lnl();
	LEARN(hybrid_table(X86_HYBRID_PMU_TINY_IDX), cmt);
}

/* Diamond Rapids. */
void __init intel_pe_pnc_data_source(void)
{
	LEARN_ONLY(pebs_data_source, pnc);
}

/* Nova Lake. */
void __init intel_pe_nvl_data_source(void)
{
	LEARN_ONLY(hybrid_table(X86_HYBRID_PMU_CORE_IDX), pnc);
	LEARN_ONLY(hybrid_table(X86_HYBRID_PMU_ATOM_IDX), arw);
}

/* Which bits of the word say what; 0 if none does. */
struct layout {
	u64	code, off_module, walked, locked, not_forwarded, alias;
};

static const struct layout load_layout = {
	.code = 0xf, .walked = BIT(4), .locked = BIT(5), .not_forwarded = BIT(6), .alias = BIT(7),
};

static const struct layout store_layout = {
	.code = 0xf, .walked = BIT(4), .locked = BIT(5),
};

static const struct layout grt_layout = {
	.code = 0xf, .locked = BIT(4), .walked = BIT(5), .not_forwarded = BIT(6),
};

static const struct layout cmt_layout = {
	.code = 0xf, .locked = BIT(5), .walked = BIT(6), .not_forwarded = BIT(7),
};

static const struct layout lnc_layout = {
	.code = 0xff, .walked = BIT(10), .locked = BIT(11), .not_forwarded = BIT(12),
	.alias = BIT(13),
};

static const struct layout omr_layout = {
	.code = 0xf, .off_module = BIT(8), .walked = BIT(11), .locked = BIT(12),
	.not_forwarded = BIT(13), .alias = BIT(14),
};

/*
 * What missed the L2: who answered (bits 0-3, the numbers of PERF_MEM_REGION_*), from another
 * socket (4), with modified data (5); what snooping found (6, 7).
 */
static u64 off_module(u64 code)
{
	static const u64 shared[] = { SN_UNKNOWN, SN_MISS, SN_HIT, SN_NONE };
	const u64 who = code & 0xf, region = who << PERF_MEM_REGION_SHIFT;
	const bool far = code & BIT(4);
	u64 snoop;

	if (who < PERF_MEM_REGION_L_SHARE)	/* nobody; reserved */
		return 0;
	if (who == PERF_MEM_REGION_MMIO)
		return LOAD((far ? FAR(IN_MMIO) : IN_MMIO) | SN_NONE | region);
	if (who > PERF_MEM_REGION_MMIO)
		return LOAD((far ? IN_FAR_RAM1 : IN_RAM) | SN_NONE | region);

	if (code & BIT(5))
		snoop = SN_HITM;
	else
		snoop = who == PERF_MEM_REGION_L_SHARE ? shared[code >> 6 & 3] : SN_HIT;
	if (who != PERF_MEM_REGION_L_SHARE && (code & BIT(6)))
		snoop |= SN_FWD;
	return LOAD((far ? IN_FAR_L3 : IN_L3) | snoop | region);
}

static u64 place(struct perf_event *event, u64 code)
{
	return hybrid_var(event->pmu, pebs_data_source)[code];
}

/* All but the operation, which is a load's. */
static u64 decode(struct perf_event *event, u64 word, const struct layout *l)
{
	u64 source = word & l->off_module ? off_module(word) : place(event, word & l->code);

	source = source ?: LOAD(S(LVLNUM, NA) | S(SNOOP, NA));
	if (word & l->walked)
		source |= S(TLB, MISS) | S(TLB, L2);
	else
		source |= S(TLB, HIT) | S(TLB, L1) | S(TLB, L2);
	if (word & l->locked)
		source |= S(LOCK, LOCKED);

	if (word & l->not_forwarded)
		source |= S(BLK, DATA);
	if (word & l->alias)
		source |= S(BLK, ADDR);
	if (!(word & (l->not_forwarded | l->alias)))
		source |= S(BLK, NA);
	return source;
}

static u64 with_op(u64 source, u64 op)
{
	union perf_mem_data_src s = { .val = source };

	s.mem_op = op;
	return s.val;
}

/* The E cores' and Lion Cove's events are told apart by the event, the codes are the same. */
static u64 decode_either(struct perf_event *event, u64 word, const struct layout *l)
{
	u64 source = decode(event, word, l);

	if (event->hw.flags & (PERF_X86_EVENT_PEBS_STLAT | PERF_X86_EVENT_PEBS_ST_HSW))
		return with_op(source, PERF_MEM_OP_STORE);
	return source;
}

/**
 * grt_latency_data - data source of Gracemont's load and store latency events
 * @event: which
 * @status: the record's word
 *
 * Return: a value of union perf_mem_data_src.
 */
u64 grt_latency_data(struct perf_event *event, u64 status)
{
	return decode_either(event, status, &grt_layout);
}

/**
 * cmt_latency_data - the same of Crestmont's
 * @event: which
 * @status: the record's word
 *
 * Return: a value of union perf_mem_data_src.
 */
u64 cmt_latency_data(struct perf_event *event, u64 status)
{
	return decode_either(event, status, &cmt_layout);
}

/**
 * lnl_latency_data - the same of Lunar Lake's, on Lion Cove or a small core
 * @event: which
 * @status: the record's word
 *
 * Return: a value of union perf_mem_data_src.
 */
u64 lnl_latency_data(struct perf_event *event, u64 status)
{
	bool small = hybrid_pmu(event->pmu)->pmu_type != hybrid_big;

	return decode_either(event, status, small ? &cmt_layout : &lnc_layout);
}

/**
 * intel_pe_omr_latency - the same of Panther Cove's, Coyote Cove's and Arctic Wolf's
 * @event: which
 * @status: the record's word
 *
 * Return: a value of union perf_mem_data_src.
 */
u64 intel_pe_omr_latency(struct perf_event *event, u64 status)
{
	return decode_either(event, status, &omr_layout);
}

static u64 load_latency(struct perf_event *event, u64 word)
{
	const struct layout *l = &load_layout;

	/* Nehalem knows the place only. */
	if (x86_pmu.pebs_no_tlb)
		return place(event, word & l->code) | S(TLB, NA) | S(LOCK, NA);
	/* From Alder Lake on. */
	if (!x86_pmu.pebs_block)
		return decode(event, word & ~(l->not_forwarded | l->alias), l);
	return decode(event, word, l);
}

/* SNB's precise stores: did it hit the first level, the second-level TLB? */
static u64 precise_store(u64 word)
{
	return S(OP, STORE) | S(SNOOP, NA) | S(LVL, L1) | S(TLB, L2) |
	       (word & BIT(0) ? S(LVL, HIT) : S(LVL, MISS)) |
	       (word & BIT(4) ? S(TLB, MISS) : S(TLB, HIT)) |
	       (word & BIT(5) ? S(LOCK, LOCKED) : 0);
}

/* HSW's events with an address and no latency: a store knows whether it hit the first level. */
static u64 address_only(int flags, u64 word)
{
	union perf_mem_data_src s = { .val = PERF_MEM_NA };

	if (flags & PERF_X86_EVENT_PEBS_ST_HSW) {
		s.mem_op = PERF_MEM_OP_STORE;
		s.mem_lvl = PERF_MEM_LVL_L1;
		s.mem_lvl |= word & BIT(0) ? PERF_MEM_LVL_HIT : PERF_MEM_LVL_MISS;
	} else if (flags & PERF_X86_EVENT_PEBS_LD_HSW) {
		s.mem_op = PERF_MEM_OP_LOAD;
	}
	return s.val;
}

/**
 * intel_pe_data_source - where the data of a sample came from
 * @event: of which event
 * @status: the record's word about it
 *
 * Return: a value of union perf_mem_data_src, PERF_MEM_NA if the event is not about data.
 */
u64 intel_pe_data_source(struct perf_event *event, u64 status)
{
	int flags = event->hw.flags;

	if (flags & PERF_X86_EVENT_PEBS_LDLAT)
		return load_latency(event, status);
	if (flags & PERF_X86_EVENT_PEBS_STLAT)
		return with_op(decode(event, status, &store_layout), PERF_MEM_OP_STORE);
	if (flags & PERF_X86_EVENT_PEBS_LAT_HYBRID)
		return x86_pmu.pebs_latency_data(event, status);
	if (flags & (PERF_X86_EVENT_PEBS_ST_HSW | PERF_X86_EVENT_PEBS_LD_HSW |
		     PERF_X86_EVENT_PEBS_NA_HSW))
		return address_only(flags, status);
	if (flags & PERF_X86_EVENT_PEBS_ST)
		return precise_store(status);
	return PERF_MEM_NA;
}
