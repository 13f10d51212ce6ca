// SPDX-License-Identifier: GPL-2.0
/*
 * Files in events/ and format/ that several generations have.
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
	{ "topdown-slots-issued", "event=0xe,umask=0x1" },					\
	{ "topdown-slots-retired", "event=0xc2,umask=0x2" },					\
	{ "topdown-fetch-bubbles", "event=0x9c,umask=0x1" },					\
	{ "topdown-recovery-bubbles", recovery, recovery ",any=1" },				\
	{ "topdown-recovery-bubbles.scale", "4", "2" },						\
	{}

const struct intel_pe_label intel_pe_td_snb[] __initconst = {
	SLOTS_OF_4("event=0xd,umask=0x3,cmask=1")
};

const struct intel_pe_label intel_pe_td_skl[] __initconst = {
	SLOTS_OF_4("event=0xd,umask=0x1,cmask=1")
};

/* Top-down with metrics. */
#define LEVEL_1							\
	{ "slots",		"event=0x00,umask=0x4" },	\
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
	{ "mem-loads", "event=0xcd,umask=0x1,ldlat=3" },
	{ "mem-stores", "event=0xd0,umask=0x82" },
	{}
};

/* Transactions, begun by XBEGIN and by elided locks. */
#define TX								\
	{ "tx-start",		"event=0xc9,umask=0x1" },		\
	{ "tx-commit",		"event=0xc9,umask=0x2" },		\
	{ "tx-abort",		"event=0xc9,umask=0x4" },		\
	{ "tx-conflict",	"event=0x54,umask=0x1" },		\
	{ "cycles-t",		"event=0x3c,in_tx=1" },			\
	{ "cycles-ct",		"event=0x3c,in_tx=1,in_tx_cp=1" }
#define EL								\
	{ "el-start",		"event=0xc8,umask=0x1" },		\
	{ "el-commit",		"event=0xc8,umask=0x2" },		\
	{ "el-abort",		"event=0xc8,umask=0x4" },		\
	{ "el-conflict",	"event=0x54,umask=0x1" }
#define CAPACITY(xx)							\
	{ xx "-capacity-read",	"event=0x54,umask=0x80" },		\
	{ xx "-capacity-write",	"event=0x54,umask=0x2" }

const struct intel_pe_label intel_pe_tsx_hsw[] __initconst = {
	TX, EL,
	{ "tx-capacity", "event=0x54,umask=0x2" },
	{ "el-capacity", "event=0x54,umask=0x2" },
	{}
};

const struct intel_pe_label intel_pe_tsx_icl[] __initconst = {
	TX, EL, CAPACITY("tx"), CAPACITY("el"), {}
};

const struct intel_pe_label intel_pe_tsx_glc[] __initconst = { TX, CAPACITY("tx"), {} };

const struct intel_pe_label intel_pe_fmt_offcore[] __initconst = {
	{ "offcore_rsp", "config1:0-63", .pmus = HYBRID_ANY }, {}
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
