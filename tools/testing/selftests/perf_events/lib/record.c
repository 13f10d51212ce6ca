// SPDX-License-Identifier: GPL-2.0
/*
 * record.c - decode samples and the trailer of the other records.
 *
 * The order of the fields is that of the uapi header's description of
 * PERF_RECORD_SAMPLE. The decoder trusts nothing: each field must lie inside
 * the record, and all of them together must take exactly its size.
 */
#include "ptest.h"

struct cursor {
	const u8 *at, *end;
};

static u64 take64(struct cursor *c, const char *what)
{
	u64 v;

	pt_need(c->end - c->at >= 8, "record ends before %s", what);
	memcpy(&v, c->at, sizeof(v));
	c->at += sizeof(v);
	return v;
}

static void take32x2(struct cursor *c, const char *what, u32 *a, u32 *b)
{
	pt_need(c->end - c->at >= 8, "record ends before %s", what);
	memcpy(a, c->at, 4);
	memcpy(b, c->at + 4, 4);
	c->at += 8;
}

static const u8 *take_bytes(struct cursor *c, u64 len, const char *what)
{
	const u8 *p = c->at;

	pt_need((u64)(c->end - c->at) >= len, "record ends inside %s", what);
	c->at += len;
	return p;
}

static void take_regs(struct cursor *c, u64 mask, u64 *abi, u64 *regs, const char *what)
{
	int i;

	*abi = take64(c, what);
	if (*abi == PERF_SAMPLE_REGS_ABI_NONE)
		return;
	for (i = 0; i < 64; i++) {
		if (mask & (1ull << i))
			regs[i] = take64(c, what);
	}
}

static void take_fixed(const struct perf_event_attr *attr, struct cursor *c, struct pt_sample *s)
{
	u64 t = attr->sample_type;

	if (t & PERF_SAMPLE_IDENTIFIER)
		s->identifier = take64(c, "IDENTIFIER");
	if (t & PERF_SAMPLE_IP)
		s->ip = take64(c, "IP");
	if (t & PERF_SAMPLE_TID)
		take32x2(c, "TID", &s->pid, &s->tid);
	if (t & PERF_SAMPLE_TIME)
		s->time = take64(c, "TIME");
	if (t & PERF_SAMPLE_ADDR)
		s->addr = take64(c, "ADDR");
	if (t & PERF_SAMPLE_ID)
		s->id = take64(c, "ID");
	if (t & PERF_SAMPLE_STREAM_ID)
		s->stream_id = take64(c, "STREAM_ID");
	if (t & PERF_SAMPLE_CPU)
		take32x2(c, "CPU", &s->cpu, &s->cpu_res);
	if (t & PERF_SAMPLE_PERIOD)
		s->period = take64(c, "PERIOD");
}

static void take_branches(const struct perf_event_attr *attr, struct cursor *c,
			  struct pt_sample *s)
{
	s->nr_branches = take64(c, "BRANCH_STACK");
	if (!s->nr_branches)
		return;
	if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		s->hw_idx = take64(c, "BRANCH_STACK");
	s->branches = (const void *)take_bytes(c, s->nr_branches * sizeof(*s->branches),
					       "BRANCH_STACK");
	if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_COUNTERS)
		s->branch_counters = (const void *)take_bytes(c, s->nr_branches * sizeof(u64),
							      "BRANCH_STACK");
}

static void take_variable(const struct perf_event_attr *attr, struct cursor *c,
			  struct pt_sample *s)
{
	u64 t = attr->sample_type;
	u64 i;

	if (t & PERF_SAMPLE_READ) {
		size_t left = (size_t)(c->end - c->at);

		c->at += pt_decode_read(attr->read_format, c->at, left, &s->read);
	}
	if (t & PERF_SAMPLE_CALLCHAIN) {
		s->nr_ips = take64(c, "CALLCHAIN");
		for (i = 0; i < s->nr_ips; i++) {
			u64 ip = take64(c, "CALLCHAIN");

			if (i < PT_IPS_MAX)
				s->ips[i] = ip;
		}
	}
	if (t & PERF_SAMPLE_RAW) {
		memcpy(&s->raw_size, take_bytes(c, 4, "RAW"), 4);
		s->raw = take_bytes(c, s->raw_size, "RAW");
	}
	if (t & PERF_SAMPLE_BRANCH_STACK)
		take_branches(attr, c, s);
	if (t & PERF_SAMPLE_REGS_USER)
		take_regs(c, attr->sample_regs_user, &s->user_abi, s->user_regs, "REGS_USER");
	if (t & PERF_SAMPLE_STACK_USER) {
		s->stack_size = take64(c, "STACK_USER");
		s->stack = take_bytes(c, s->stack_size, "STACK_USER");
		if (s->stack_size)
			s->stack_dyn_size = take64(c, "STACK_USER");
	}
}

static void take_late(const struct perf_event_attr *attr, struct cursor *c, struct pt_sample *s)
{
	u64 t = attr->sample_type;

	if (t & PERF_SAMPLE_WEIGHT_TYPE)
		s->weight = take64(c, "WEIGHT");
	if (t & PERF_SAMPLE_DATA_SRC)
		s->data_src = take64(c, "DATA_SRC");
	if (t & PERF_SAMPLE_TRANSACTION)
		s->transaction = take64(c, "TRANSACTION");
	if (t & PERF_SAMPLE_REGS_INTR)
		take_regs(c, attr->sample_regs_intr, &s->intr_abi, s->intr_regs, "REGS_INTR");
	if (t & PERF_SAMPLE_PHYS_ADDR)
		s->phys_addr = take64(c, "PHYS_ADDR");
	if (t & PERF_SAMPLE_CGROUP)
		s->cgroup = take64(c, "CGROUP");
	if (t & PERF_SAMPLE_DATA_PAGE_SIZE)
		s->data_page = take64(c, "DATA_PAGE_SIZE");
	if (t & PERF_SAMPLE_CODE_PAGE_SIZE)
		s->code_page = take64(c, "CODE_PAGE_SIZE");
}

void pt_parse_sample(const struct perf_event_attr *attr, const struct pt_record *rec,
		     struct pt_sample *s)
{
	struct cursor c = {
		.at = rec->body,
		.end = rec->body + rec->h.size - sizeof(rec->h),
	};

	memset(s, 0, sizeof(*s));
	pt_need(rec->h.type == PERF_RECORD_SAMPLE, "record of type %u is no sample", rec->h.type);
	take_fixed(attr, &c, s);
	take_variable(attr, &c, s);
	take_late(attr, &c, s);
	pt_need(c.at == c.end, "%td bytes too many in a sample of type %#llx", c.end - c.at,
		(unsigned long long)attr->sample_type);
}

size_t pt_trailer_size(const struct perf_event_attr *attr)
{
	u64 t = attr->sample_type;
	u64 mask = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
		   PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;

	if (!attr->sample_id_all)
		return 0;
	return (size_t)__builtin_popcountll(t & mask) * 8;
}

void pt_parse_trailer(const struct perf_event_attr *attr, const struct pt_record *rec,
		      struct pt_sample *s, size_t *body_size)
{
	size_t total = rec->h.size - sizeof(rec->h);
	size_t tail = pt_trailer_size(attr);
	struct cursor c;
	u64 t = attr->sample_type;

	memset(s, 0, sizeof(*s));
	pt_need(total >= tail, "record of type %u has no room for its trailer", rec->h.type);
	if (body_size)
		*body_size = total - tail;
	if (!tail)
		return;
	c.at = rec->body + total - tail;
	c.end = rec->body + total;
	if (t & PERF_SAMPLE_TID)
		take32x2(&c, "trailer TID", &s->pid, &s->tid);
	if (t & PERF_SAMPLE_TIME)
		s->time = take64(&c, "trailer TIME");
	if (t & PERF_SAMPLE_ID)
		s->id = take64(&c, "trailer ID");
	if (t & PERF_SAMPLE_STREAM_ID)
		s->stream_id = take64(&c, "trailer STREAM_ID");
	if (t & PERF_SAMPLE_CPU)
		take32x2(&c, "trailer CPU", &s->cpu, &s->cpu_res);
	if (t & PERF_SAMPLE_IDENTIFIER)
		s->identifier = take64(&c, "trailer IDENTIFIER");
}
