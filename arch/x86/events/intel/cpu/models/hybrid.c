// SPDX-License-Identifier: GPL-2.0
/*
 * Machines with several kinds of cores: Alder Lake and Raptor Lake (Golden Cove, Gracemont), Meteor
 * Lake (Redwood Cove, Crestmont), Lunar Lake and Arrow Lake (Lion Cove, Skymont), Panther Lake and
 * Wildcat Lake (Cougar Cove, Darkmont), Arrow Lake H (Lion Cove, Skymont, Crestmont), Nova
 * Lake (Coyote Cove, Arctic Wolf).
 *
 * Where a text has parts, the first is for the small cores, the third for those of low power, if
 * there are such.
 *
 * Documents and lists are those that goldencove.c and gracemont.c name.
 */
#include "../model.h"
#include "../pebs/pebs.h"

#define BOTH	.pmus = hybrid_big_small
#define BIG	.pmus = hybrid_big
#define ALL	.pmus = HYBRID_ANY
#define PARTS(name, small, big, tiny)	{ name, small ";" big ";" tiny, ALL }

#define METRICS_2								\
	{ "slots", "event=0x00,umask=0x4", BIG },	/* TOPDOWN.SLOTS */			\
	PARTS("topdown-bad-spec", "event=0x73,umask=0x0", "event=0x00,umask=0x81", \
	      "event=0x73,umask=0x0"),						\
	{ "topdown-heavy-ops", "event=0x00,umask=0x84", BIG },			\
	{ "topdown-br-mispredict", "event=0x00,umask=0x85", BIG },		\
	{ "topdown-fetch-lat", "event=0x00,umask=0x86", BIG },			\
	{ "topdown-mem-bound", "event=0x00,umask=0x87", BIG }

static const struct intel_pe_label adl_topdown[] __initconst = {
	METRICS_2,
	{ "topdown-retiring", "event=0xc2,umask=0x0;event=0x00,umask=0x80", BOTH },
	{ "topdown-fe-bound", "event=0x71,umask=0x0;event=0x00,umask=0x82", BOTH },
	{ "topdown-be-bound", "event=0x74,umask=0x0;event=0x00,umask=0x83", BOTH },
	{}
};

static const struct intel_pe_label lnl_topdown[] __initconst = {
	METRICS_2,
	{ "topdown-retiring", "event=0xc2,umask=0x02;event=0x00,umask=0x80", BOTH },
	{ "topdown-fe-bound", "event=0x9c,umask=0x01;event=0x00,umask=0x82", BOTH },
	{ "topdown-be-bound", "event=0xa4,umask=0x02;event=0x00,umask=0x83", BOTH },
	{}
};

static const struct intel_pe_label arl_h_topdown[] __initconst = {
	METRICS_2,
	PARTS("topdown-retiring", "event=0xc2,umask=0x02", "event=0x00,umask=0x80",
	      "event=0x72,umask=0x0"),
	PARTS("topdown-fe-bound", "event=0x9c,umask=0x01", "event=0x00,umask=0x82",
	      "event=0x71,umask=0x0"),
	PARTS("topdown-be-bound", "event=0xa4,umask=0x02", "event=0x00,umask=0x83",
	      "event=0x74,umask=0x0"),
	{}
};

#define MEM									\
	PARTS("mem-loads", "event=0xd0,umask=0x5,ldlat=3", "event=0xcd,umask=0x1,ldlat=3", \
	      "event=0xd0,umask=0x5,ldlat=3"),						\
	PARTS("mem-stores", "event=0xd0,umask=0x6", "event=0xcd,umask=0x2", "event=0xd0,umask=0x6")

static const struct intel_pe_label mtl_mem[] __initconst = { MEM, {} };
static const struct intel_pe_label adl_mem[] __initconst = {
	MEM,
	{ "mem-loads-aux", "event=0x03,umask=0x82", BIG },	/* LD_BLOCKS.STORE_FORWARD */
	{}
};

static const struct intel_pe_label tsx[] __initconst = {
	{ "tx-start", "event=0xc9,umask=0x1", BIG },	/* RTM_RETIRED.START */
	{ "tx-commit", "event=0xc9,umask=0x2", BIG },	/* RTM_RETIRED.COMMIT */
	{ "tx-abort", "event=0xc9,umask=0x4", BIG },	/* RTM_RETIRED.ABORTED */
	{ "tx-conflict", "event=0x54,umask=0x1", BIG },	/* TX_MEM.ABORT_CONFLICT */
	{ "tx-capacity-read", "event=0x54,umask=0x80", BIG },	/* TX_MEM.ABORT_CAPACITY_READ */
	{ "tx-capacity-write", "event=0x54,umask=0x2", BIG },	/* TX_MEM.ABORT_CAPACITY_WRITE */
	{ "cycles-t", "event=0x3c,in_tx=1", BIG },	/* CPU_CLK_UNHALTED.THREAD_P */
	{ "cycles-ct", "event=0x3c,in_tx=1,in_tx_cp=1", BIG },	/* CPU_CLK_UNHALTED.THREAD_P */
	{}
};

#define FLAGS	(PMU_FL_HAS_RSP_1 | PMU_FL_NO_HT_SHARING | PMU_FL_INSTR_LATENCY)
#define OTHER_FORMAT	intel_pe_fmt_ldlat, intel_pe_fmt_tsx, intel_pe_fmt_frontend
#define FORMAT	intel_pe_fmt_offcore, OTHER_FORMAT

/* Late and mid acknowledgment are per PMU. */
#define COMMON						\
	.late_ack	= 1,				\
	.mid_ack	= 1,				\
	.prec_dist	= 1,				\
	.block		= 1,				\
	.pt_coexists	= 1,				\
	.ref_cycles	= 1,				\
	.metrics	= 8,				\
	.rtm_abort	= 0x04c9,	/* RTM_RETIRED.ABORTED */ \
	.limit		= intel_pe_limit_glc,		\
	.config		= intel_pe_hybrid_config,	\
	.tsx		= tsx

static void __init intel_pe_setup_alderlake(void)
{
	x86_pmu.get_hybrid_cpu_type = intel_pe_adl_cpu_type;
	intel_pe_adl_counters();
}

const struct intel_pe_model intel_pe_alderlake __initconst = {
	COMMON,
	.name		= "alderlake_hybrid",
	.title		= "Alderlake Hybrid events",
	.core		= &intel_pe_core_glc,
	.small		= &intel_pe_core_grt,
	.flags		= FLAGS | PMU_FL_MEM_LOADS_AUX,
	.setup		= intel_pe_setup_alderlake,
	.data_source	= intel_pmu_pebs_data_source_adl,
	.latency	= grt_latency_data,
	.get		= intel_pe_get_adl,
	.topdown	= adl_topdown,
	.mem		= adl_mem,
	.format		= { FORMAT },
};

const struct intel_pe_model intel_pe_meteorlake __initconst = {
	COMMON,
	.name		= "meteorlake_hybrid",
	.title		= "Meteorlake Hybrid events",
	.core		= &intel_pe_core_rwc,
	.small		= &intel_pe_core_cmt,
	.flags		= FLAGS,
	.data_source	= intel_pmu_pebs_data_source_mtl,
	.latency	= cmt_latency_data,
	.get		= intel_pe_get_mtl,
	.topdown	= adl_topdown,
	.mem		= mtl_mem,
	.format		= { FORMAT, intel_pe_fmt_snoop },
};

#define LNL								\
	COMMON,								\
	.flags		= FLAGS,					\
	.latency	= lnl_latency_data,				\
	.get		= intel_pe_get_mtl,				\
	.mem		= mtl_mem,					\
	.format		= { FORMAT, intel_pe_fmt_snoop }

/* Arrow Lake has the same name: programs know both by it. */
#define LNL_NAME							\
	.name		= "lunarlake_hybrid",				\
	.title		= "Lunarlake Hybrid events"

/* Two kinds of cores. */
#define TWO								\
	.data_source	= intel_pmu_pebs_data_source_lnl,		\
	.topdown	= lnl_topdown

const struct intel_pe_model intel_pe_lunarlake __initconst = {
	LNL, TWO, LNL_NAME, .core = &intel_pe_core_lnc, .small = &intel_pe_core_skt,
};

const struct intel_pe_model intel_pe_arrowlake __initconst = {
	LNL, TWO, LNL_NAME, .core = &intel_pe_core_lnc_arl, .small = &intel_pe_core_skt,
};

/* Cougar Cove's events are Lion Cove's. */
const struct intel_pe_model intel_pe_pantherlake __initconst = {
	LNL, TWO,
	.name		= "pantherlake_hybrid",
	.title		= "Pantherlake Hybrid events",
	.core		= &intel_pe_core_lnc,
	.small		= &intel_pe_core_dkt,
};

const struct intel_pe_model intel_pe_arrowlake_h __initconst = {
	LNL,
	.name		= "arrowlake_h_hybrid",
	.title		= "ArrowLake-H Hybrid events",
	.core		= &intel_pe_core_lnc_arl,
	.small		= &intel_pe_core_skt,
	.tiny		= &intel_pe_core_cmt,
	.data_source	= intel_pe_arl_h_data_source,
	.topdown	= arl_h_topdown,
};

const struct intel_pe_model intel_pe_novalake __initconst = {
	COMMON,
	.name		= "novalake_hybrid",
	.title		= "Novalake Hybrid events",
	.core		= &intel_pe_core_cyc,
	.small		= &intel_pe_core_arw,
	.flags		= PMU_FL_NO_HT_SHARING | PMU_FL_INSTR_LATENCY,
	.data_source	= intel_pe_nvl_data_source,
	.latency	= intel_pe_omr_latency,
	.get		= intel_pe_get_mtl,
	.topdown	= lnl_topdown,
	.mem		= mtl_mem,
	.format		= { intel_pe_fmt_offmodule, OTHER_FORMAT, intel_pe_fmt_snoop },
};
