// SPDX-License-Identifier: GPL-2.0
/*
 * Files in events/ and format/ that several generations have.  Documents and lists are those that
 * the generations' files name.
 */
#include "../model.h"

/*
 * Top-down with general counters: the pipeline has four slots in each cycle.  Threads of a core
 * share them, so with hyper-threading it is the cycles of the core, and as both threads' tools see
 * them all, they are halved.
 */
#define SLOTS_OF_4(recovery)									\
	{ "topdown-total-slots", "event=0x3c,umask=0x0", "event=0x3c,umask=0x0,any=1" },	\
	{ "topdown-total-slots.scale", "4", "2" },						\
	{ "topdown-slots-issued", "event=0xe,umask=0x1" },	/* UOPS_ISSUED.ANY */		\
	{ "topdown-slots-retired", "event=0xc2,umask=0x2" },	/* UOPS_RETIRED.RETIRE_SLOTS */	\
	{ "topdown-fetch-bubbles", "event=0x9c,umask=0x1" },	/* IDQ_UOPS_NOT_DELIVERED.CORE */ \
	{ "topdown-recovery-bubbles", recovery, recovery ",any=1" },				\
	{ "topdown-recovery-bubbles.scale", "4", "2" },						\
	{}

const struct intel_pe_label intel_pe_td_snb[] __initconst = {
	SLOTS_OF_4("event=0xd,umask=0x3,cmask=1")	/* INT_MISC.RECOVERY_CYCLES */
};

const struct intel_pe_label intel_pe_td_skl[] __initconst = {
	SLOTS_OF_4("event=0xd,umask=0x1,cmask=1")	/* INT_MISC.RECOVERY_CYCLES */
};

/* Top-down with metrics. */
#define LEVEL_1							\
	{ "slots",		"event=0x00,umask=0x4" },	/* TOPDOWN.SLOTS */		\
	{ "topdown-retiring",	"event=0x00,umask=0x80" },	\
	{ "topdown-bad-spec",	"event=0x00,umask=0x81" },	\
	{ "topdown-fe-bound",	"event=0x00,umask=0x82" },	\
	{ "topdown-be-bound",	"event=0x00,umask=0x83" }

const struct intel_pe_label intel_pe_td_metrics[] __initconst = { LEVEL_1, {} };

const struct intel_pe_label intel_pe_td_metrics2[] __initconst = {
	LEVEL_1,
	{ "topdown-heavy-ops",		"event=0x00,umask=0x84" },
	{ "topdown-br-mispredict",	"event=0x00,umask=0x85" },
	{ "topdown-fetch-lat",		"event=0x00,umask=0x86" },
	{ "topdown-mem-bound",		"event=0x00,umask=0x87" },
	{}
};

const struct intel_pe_label intel_pe_mem_hsw[] __initconst = {
	{ "mem-loads", "event=0xcd,umask=0x1,ldlat=3" }, /* MEM_TRANS_RETIRED.LOAD_LATENCY_GT_* */
	{ "mem-stores", "event=0xd0,umask=0x82" },	/* MEM_UOPS_RETIRED.ALL_STORES */
	{}
};

/* Transactions, begun by XBEGIN and by elided locks. */
#define TX								\
	{ "tx-start",		"event=0xc9,umask=0x1" },	/* RTM_RETIRED.START */		\
	{ "tx-commit",		"event=0xc9,umask=0x2" },	/* RTM_RETIRED.COMMIT */	\
	{ "tx-abort",		"event=0xc9,umask=0x4" },	/* RTM_RETIRED.ABORTED */	\
	{ "tx-conflict",	"event=0x54,umask=0x1" },	/* TX_MEM.ABORT_CONFLICT */	\
	{ "cycles-t",		"event=0x3c,in_tx=1" },	/* CPU_CLK_UNHALTED.THREAD_P */		\
	{ "cycles-ct",		"event=0x3c,in_tx=1,in_tx_cp=1" } /* CPU_CLK_UNHALTED.THREAD_P */
#define EL								\
	{ "el-start",		"event=0xc8,umask=0x1" },	/* HLE_RETIRED.START */		\
	{ "el-commit",		"event=0xc8,umask=0x2" },	/* HLE_RETIRED.COMMIT */	\
	{ "el-abort",		"event=0xc8,umask=0x4" },	/* HLE_RETIRED.ABORTED */	\
	{ "el-conflict",	"event=0x54,umask=0x1" }	/* TX_MEM.ABORT_CONFLICT */
#define CAPACITY(xx)							\
	{ xx "-capacity-read",	"event=0x54,umask=0x80" },	/* TX_MEM.ABORT_CAPACITY_READ */ \
	{ xx "-capacity-write",	"event=0x54,umask=0x2" }	/* TX_MEM.ABORT_CAPACITY_WRITE */

const struct intel_pe_label intel_pe_tsx_hsw[] __initconst = {
	TX, EL,
	{ "tx-capacity", "event=0x54,umask=0x2" },	/* TX_MEM.ABORT_CAPACITY_WRITE */
	{ "el-capacity", "event=0x54,umask=0x2" },	/* TX_MEM.ABORT_CAPACITY_WRITE */
	{}
};

const struct intel_pe_label intel_pe_tsx_icl[] __initconst = {
	TX, EL, CAPACITY("tx"), CAPACITY("el"), {}
};

const struct intel_pe_label intel_pe_tsx_glc[] __initconst = { TX, CAPACITY("tx"), {} };

const struct intel_pe_label intel_pe_fmt_offcore[] __initconst = {
	{ "offcore_rsp", "config1:0-63", .pmus = HYBRID_ANY }, {}
};

/* What offcore responses are called where there are four registers of them. */
const struct intel_pe_label intel_pe_fmt_offmodule[] __initconst = {
	{ "offmodule_rsp", "config1:0-63", .pmus = HYBRID_ANY }, {}
};

const struct intel_pe_label intel_pe_fmt_ldlat[] __initconst = {
	{ "ldlat", "config1:0-15", .pmus = HYBRID_ANY }, {}
};

const struct intel_pe_label intel_pe_fmt_tsx[] __initconst = {
	{ "in_tx", "config:32", .pmus = hybrid_big },
	{ "in_tx_cp", "config:33", .pmus = hybrid_big },
	{}
};

const struct intel_pe_label intel_pe_fmt_frontend[] __initconst = {
	{ "frontend", "config1:0-23", .pmus = hybrid_big }, {}
};

const struct intel_pe_label intel_pe_fmt_snoop[] __initconst = {
	{ "snoop_rsp", "config1:0-63", .pmus = HYBRID_SMALL }, {}
};
