/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A model of CPU is data: this is what a description of one consists of.
 *
 * The descriptions are in models/, one file per generation, all of them discarded after boot.
 * models/models.c finds that of this CPU; init.c and tables.c make of it what the driver works
 * with.  Lists of rows end with an empty row.
 */
#ifndef _ARCH_X86_EVENTS_INTEL_MODEL_H
#define _ARCH_X86_EVENTS_INTEL_MODEL_H

#include "cpu.h"

/*
 * Generic cache events: the code for accesses and that for misses; 0: there is none, NONSENSE: such
 * an event makes no sense.  Where a list says nothing, instructions that are written, and
 * translations of and branches in code that are not reads, make no sense, and the rest is not
 * there.
 */
struct intel_pe_cache {
	u8	cache, op;
	u64	access, miss;
};

#define CACHE(c, o, access, miss) \
	{ PERF_COUNT_HW_CACHE_##c, PERF_COUNT_HW_CACHE_OP_##o, access, miss }
#define NONSENSE	(-1ULL)

/* Which counters an event can be on: the first row wins that has the code. */
enum intel_pe_rule_kind {
	RULE_END,
	RULE_FIXED,	/* code with umask, no filter: a fixed counter too, or only */
	RULE_EVENT,	/* any umask */
	RULE_EXCL,	/* the same, and threads of a core must not both count such */
	RULE_CODE,	/* code with umask */
	RULE_BIT,	/* any umask that has this bit */
	RULE_SPAN,	/* events from the first code to the second, any umask */
	RULE_METRIC,	/* so many top-down metrics */
};

struct intel_pe_rule {
	u8	kind;
	u64	counters;
	u16	codes[12];
};

#define FIXED(n, ...)		{ RULE_FIXED, BIT_ULL(INTEL_PMC_IDX_FIXED + (n)), { __VA_ARGS__ } }
#define EVENTS(counters, ...)	{ RULE_EVENT, counters, { __VA_ARGS__ } }
#define EXCL(counters, ...)	{ RULE_EXCL, counters, { __VA_ARGS__ } }
#define CODES(counters, ...)	{ RULE_CODE, counters, { __VA_ARGS__ } }
#define UMASK_BIT(counters, ...) { RULE_BIT, counters, { __VA_ARGS__ } }
#define SPAN(counters, from, to) { RULE_SPAN, counters, { from, to } }
#define METRICS(n)		{ RULE_METRIC, n }

/* Instructions, cycles, and cycles of the reference clock, which has no code of its own. */
#define ARCH_FIXED								\
	FIXED(0, 0xc0),				/* INST_RETIRED.ANY_P */		\
	FIXED(1, 0x3c),				/* CPU_CLK_UNHALTED.THREAD_P */		\
	FIXED(2, 0x300)				/* CPU_CLK_UNHALTED.REF_TSC */

/*
 * The same and their codes of event 0, slots and metrics: big cores from Golden Cove on.  0x0200 is
 * of Linux 7.2; Linux 6.12 lets a general counter have it, which counts nothing.
 */
#define INTEL_PE_BIG_FIXED							\
	FIXED(0, 0xc0, 0x0100),			/* INST_RETIRED.ANY_P, INST_RETIRED.ANY */ \
	FIXED(1, 0x3c,				/* CPU_CLK_UNHALTED.THREAD_P */		\
	      0x0200),				/* CPU_CLK_UNHALTED.THREAD */		\
	FIXED(2, 0x300,				/* CPU_CLK_UNHALTED.REF_TSC */		\
	      0x013c),				/* CPU_CLK_UNHALTED.REF_TSC_P */	\
	FIXED(3, 0x400),			/* TOPDOWN.SLOTS */			\
	METRICS(8)

/* Codes that need another register, and the bits it has.  Which register follows from @reg. */
struct intel_pe_extra {
	u16	code;
	s8	reg;
	u64	valid;
};

#define EXTRA(code, reg, valid)	{ code, EXTRA_REG_##reg, valid }
/* Off-module responses: four registers, and for each a bit of the umask. */
#define OFF_MODULE(event, valid)						\
	{ 0x0100 | (event), EXTRA_REG_OMR_0, valid },				\
	{ 0x0200 | (event), EXTRA_REG_OMR_0 + 1, valid },			\
	{ 0x0400 | (event), EXTRA_REG_OMR_0 + 2, valid },			\
	{ 0x0800 | (event), EXTRA_REG_OMR_3, valid }
#define LOAD_LATENCY(code)	EXTRA(code, LDLAT, 0xffff)

/*
 * A file in events/ or format/: name and contents.  @ht: contents where hyper-threading is on.
 * @pmus: on hybrid machines the kinds of PMU that have it; several kinds, several texts, apart by
 * ';', small cores first, those of low power last.
 */
struct intel_pe_label {
	const char	*name, *text, *ht;
	u8		pmus;
};

/* A kind of core.  Of several lists a later one replaces what an earlier one says. */
struct intel_pe_core {
	const struct intel_pe_rule	*rules;
	const struct intel_pe_extra	*extra;
	const struct intel_pe_cache	*cache[2];
	const struct intel_pe_cache	*offcore[2];	/* for those that need a register */
	struct event_constraint		*pebs;
};

struct intel_pe_model {
	const char			*name;		/* caps/pmu_name */
	const char			*title;		/* for the log */
	const struct intel_pe_core	*core;		/* the big one of a hybrid machine */
	const struct intel_pe_core	*small;		/* hybrid machines: the other */
	const struct intel_pe_core	*tiny;		/* and a third, or NULL */

	u32				flags;		/* PMU_FL_* */
	u8				late_ack:1,
					mid_ack:1,
					prec_dist:1,
					block:1,
					no_tlb:1,
					pt_coexists:1,
					double_abort:1,
					guest_pebs:1;
	u8				pebs_any:1,	/* on any counter */
					ref_cycles:1;	/* has a code for reference cycles */
	u8				metrics;	/* top-down metrics */
	u32				rtm_abort;	/* codes */
	u32				stalls_front;
	u32				stalls_back;

	void				(*quirks[2])(void);
	void				(*setup)(void);	/* last of all */
	void				(*lbr_init)(void);
	void				(*data_source)(void);
	u64				(*latency)(struct perf_event *event, u64 status);
	void				(*enable_all)(int added);
	void				(*alias)(struct perf_event *event);
	void				(*limit)(struct perf_event *event, s64 *left);
	int				(*config)(struct perf_event *event);
	struct event_constraint		*(*get)(struct cpu_hw_events *cpuc, int i,
						struct perf_event *event);

	const struct intel_pe_label	*topdown, *mem, *tsx;
	const struct intel_pe_label	*format[5];
};

/* Kinds of PMU that a label is for: all there may be, and those of small cores. */
#define HYBRID_ANY	(hybrid_big_small | hybrid_tiny)
#define HYBRID_SMALL	(hybrid_small | hybrid_tiny)

/* Cycles in which this does not happen. */
#define STALLED(code)	(ARCH_PERFMON_EVENTSEL_INV | 1 << 24 | (code))

/* Files that several generations have: models/labels.c */
extern const struct intel_pe_label intel_pe_td_snb[], intel_pe_td_skl[], intel_pe_td_metrics[];
extern const struct intel_pe_label intel_pe_td_metrics2[];
extern const struct intel_pe_label intel_pe_mem_hsw[], intel_pe_tsx_hsw[], intel_pe_tsx_icl[];
extern const struct intel_pe_label intel_pe_tsx_glc[];
extern const struct intel_pe_label intel_pe_fmt_offcore[], intel_pe_fmt_ldlat[], intel_pe_fmt_tsx[];
extern const struct intel_pe_label intel_pe_fmt_offmodule[], intel_pe_fmt_frontend[];
extern const struct intel_pe_label intel_pe_fmt_snoop[];

/* Rows that several generations have */
extern const struct intel_pe_rule intel_pe_arch_rules[];
extern const struct intel_pe_cache intel_pe_cache_snb[], intel_pe_cache_hsw[], intel_pe_cache_skl[];
extern const struct intel_pe_cache intel_pe_cache_slm[], intel_pe_cache_glp[];
extern const struct intel_pe_cache intel_pe_cache_no_itlb[], intel_pe_cache_glc[];
extern const struct intel_pe_cache intel_pe_offcore_snb[], intel_pe_offcore_skl[];
extern const struct intel_pe_extra intel_pe_extra_snbep[];

/* Cores that are in hybrid machines, too */
extern const struct intel_pe_core intel_pe_core_glc, intel_pe_core_rwc;
extern const struct intel_pe_core intel_pe_core_lnc, intel_pe_core_lnc_arl;
extern const struct intel_pe_core intel_pe_core_grt, intel_pe_core_cmt, intel_pe_core_skt;
extern const struct intel_pe_core intel_pe_core_dkt, intel_pe_core_cyc, intel_pe_core_arw;

/* The models */
extern const struct intel_pe_model intel_pe_core1, intel_pe_core2, intel_pe_merom;
extern const struct intel_pe_model intel_pe_nehalem, intel_pe_westmere;
extern const struct intel_pe_model intel_pe_sandybridge, intel_pe_sandybridge_x;
extern const struct intel_pe_model intel_pe_ivybridge, intel_pe_ivybridge_x;
extern const struct intel_pe_model intel_pe_haswell, intel_pe_broadwell;
extern const struct intel_pe_model intel_pe_skylake, intel_pe_skylake_x;
extern const struct intel_pe_model intel_pe_icelake, intel_pe_icelake_x;
extern const struct intel_pe_model intel_pe_sapphire_rapids, intel_pe_granite_rapids;
extern const struct intel_pe_model intel_pe_panthercove;
extern const struct intel_pe_model intel_pe_bonnell, intel_pe_silvermont, intel_pe_knights;
extern const struct intel_pe_model intel_pe_goldmont, intel_pe_goldmont_plus, intel_pe_tremont;
extern const struct intel_pe_model intel_pe_gracemont, intel_pe_crestmont, intel_pe_darkmont;
extern const struct intel_pe_model intel_pe_alderlake, intel_pe_meteorlake;
extern const struct intel_pe_model intel_pe_lunarlake, intel_pe_arrowlake, intel_pe_pantherlake;
extern const struct intel_pe_model intel_pe_arrowlake_h, intel_pe_novalake;

/* Those of unknown models, by version of perfmon */
extern const struct intel_pe_model intel_pe_arch1, intel_pe_arch2, intel_pe_arch5;

/* models/models.c, for KUnit */
struct intel_pe_model_entry {
	u32				vfm;
	const struct intel_pe_model	*model;
};

extern const struct intel_pe_model_entry intel_pe_models[];
extern const unsigned int intel_pe_nr_models;
const struct intel_pe_model *intel_pe_find_model(u32 vfm, int version);

/* tables.c: pure */
struct event_constraint *intel_pe_expand_rules(const struct intel_pe_rule *rules);
struct extra_reg *intel_pe_expand_extra(const struct intel_pe_extra *rows);

#endif
