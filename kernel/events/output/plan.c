// SPDX-License-Identifier: GPL-2.0
/*
 * The output plan: what samples, records and read() of an event contain and how long that is.
 *
 * Compiled once from the attr, when the event is made and before anybody can see it; samples and
 * NMIs only read.  The size of PERF_SAMPLE_READ is not part of it, because it depends on the
 * number of members in the group: see pe_read_size().  These are pure functions of plain structs,
 * and tests/plan_kunit.c runs them.
 *
 * Context: task, for new events; pe_plan_read_size() any.  No locks.
 */
#include "output.h"

/* Sample fields of one or more whole words, whatever the sample is about. */
static const struct {
	u64	bits;
	u16	size;
} fixed_fields[] = {
	{ PERF_SAMPLE_IP,		sizeof_field(struct perf_sample_data, ip) },
	{ PERF_SAMPLE_ADDR,		sizeof_field(struct perf_sample_data, addr) },
	{ PERF_SAMPLE_PERIOD,		sizeof_field(struct perf_sample_data, period) },
	{ PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT,
					sizeof_field(struct perf_sample_data, weight) },
	{ PERF_SAMPLE_DATA_SRC,		sizeof_field(struct perf_sample_data, data_src) },
	{ PERF_SAMPLE_TRANSACTION,	sizeof_field(struct perf_sample_data, txn) },
	{ PERF_SAMPLE_PHYS_ADDR,	sizeof_field(struct perf_sample_data, phys_addr) },
	{ PERF_SAMPLE_CGROUP,		sizeof_field(struct perf_sample_data, cgroup) },
	{ PERF_SAMPLE_DATA_PAGE_SIZE,	sizeof_field(struct perf_sample_data, data_page_size) },
	{ PERF_SAMPLE_CODE_PAGE_SIZE,	sizeof_field(struct perf_sample_data, code_page_size) },
};

/* Fields that must be known before another one can be computed. */
static const struct {
	u64	wanted;
	u64	needed;
} requisites[] = {
	{ PERF_SAMPLE_CODE_PAGE_SIZE,				PERF_SAMPLE_IP },
	{ PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_PHYS_ADDR,	PERF_SAMPLE_ADDR },
	{ PERF_SAMPLE_STACK_USER,				PERF_SAMPLE_REGS_USER },
};

/* For samples of nothing else nothing is collected; the second is what may come from a source. */
#define DIRECT_FIELDS	(PE_SAMPLE_ID_FIELDS | PERF_SAMPLE_IP | PERF_SAMPLE_ADDR |		\
			 PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW)
#define DIRECT_GIVEN	(PERF_SAMPLE_PERIOD | PERF_SAMPLE_ADDR | PERF_SAMPLE_CALLCHAIN |	\
			 PERF_SAMPLE_RAW)

/* A record's size is a u16; read values may take a quarter of it. */
#define READ_SIZE_MAX	SZ_16K

static u16 fixed_size(u64 sample_type)
{
	u16 size = 0;
	int i;

	if (!sample_type)	/* most events only count */
		return 0;
	for (i = 0; i < ARRAY_SIZE(fixed_fields); i++) {
		if (sample_type & fixed_fields[i].bits)
			size += fixed_fields[i].size;
	}
	return size;
}

/* Each of the identifying fields is one word. */
static u16 id_fields_size(u64 sample_type)
{
	if (!sample_type)
		return 0;
	return hweight64(sample_type & PE_SAMPLE_ID_FIELDS) * sizeof(u64);
}

static u64 collect_mask(u64 sample_type)
{
	u64 collect = sample_type;
	int i;

	if (!sample_type)
		return 0;
	for (i = 0; i < ARRAY_SIZE(requisites); i++) {
		if (sample_type & requisites[i].wanted)
			collect |= requisites[i].needed;
	}
	return collect;
}

/* FORK and EXIT go to all that must follow address spaces or names, not only to attr.task. */
static u32 sideband_mask(const struct perf_event_attr *attr)
{
	bool task = attr->task || attr->comm || attr->mmap || attr->mmap2 || attr->mmap_data;

	return (attr->mmap || attr->mmap2 ? BIT(PE_SB_MMAP) : 0) |
	       (attr->mmap_data ? BIT(PE_SB_MMAP_DATA) : 0) |
	       (attr->comm ? BIT(PE_SB_COMM) : 0) |
	       (task ? BIT(PE_SB_TASK) : 0) |
	       (attr->context_switch ? BIT(PE_SB_SWITCH) : 0) |
	       (attr->namespaces ? BIT(PE_SB_NAMESPACES) : 0) |
	       (attr->ksymbol ? BIT(PE_SB_KSYMBOL) : 0) |
	       (attr->bpf_event ? BIT(PE_SB_BPF) : 0) |
	       (attr->text_poke ? BIT(PE_SB_TEXT_POKE) : 0) |
	       (attr->cgroup ? BIT(PE_SB_CGROUP) : 0) |
	       (attr->defer_output ? BIT(PE_SB_CHAIN) : 0);
}

/**
 * pe_plan_compile() - make the plan of an event
 * @plan: filled in
 * @attr: checked
 *
 * Pure.  plan->header_size covers everything of fixed size but PERF_SAMPLE_READ; plan->read_size
 * is that of the event alone.
 */
void pe_plan_compile(struct pe_plan *plan, const struct perf_event_attr *attr)
{
	*plan = (struct pe_plan) {
		.sample_type	= attr->sample_type,
		.collect	= collect_mask(attr->sample_type),
		.sideband	= sideband_mask(attr),
		.header_size	= fixed_size(attr->sample_type) + id_fields_size(attr->sample_type),
		.id_size	= attr->sample_id_all ? id_fields_size(attr->sample_type) : 0,
		.read_size	= pe_plan_read_size(attr->read_format, 0),
		.direct		= attr->sample_type & ~DIRECT_FIELDS ? 0 : DIRECT_GIVEN,
		.excludes	= (attr->exclude_user ? PE_EXCLUDES_USER : 0) |
				  (attr->exclude_kernel ? PE_EXCLUDES_KERNEL : 0),
		.wakeup_every	= attr->watermark ? 0 : attr->wakeup_events,
	};
}

/**
 * pe_plan_read_size() - bytes that read() returns
 * @read_format: PERF_FORMAT_* bits
 * @nr_siblings: members of the group besides the leader
 *
 * Pure.  The order of the words: read_format.h.
 */
u32 pe_plan_read_size(u64 read_format, unsigned int nr_siblings)
{
	u32 words;

	if (!read_format)	/* the value */
		return sizeof(u64);
	words = pe_read_member_words(read_format);
	if (read_format & PERF_FORMAT_GROUP)
		words = pe_read_head_words(read_format) + (1 + nr_siblings) * words;
	else
		words += pe_read_head_words(read_format) - 1;
	return words * sizeof(u64);
}

/**
 * pe_plan_read_fits() - are the values of a group short enough for a sample?
 * @read_format: of one of the members; must be asked for each
 * @nr_siblings: as it would be; a new leader is checked with 1 as well
 *
 * Pure.  If not, perf_event_open() fails with E2BIG.
 */
bool pe_plan_read_fits(u64 read_format, unsigned int nr_siblings)
{
	return pe_plan_read_size(read_format, nr_siblings) <= READ_SIZE_MAX;
}
