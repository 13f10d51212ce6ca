// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: samples and records are what <linux/perf_event.h> says, wherever they lie in the ring.
 *
 * An event that was never opened writes samples of random plans, with values that are provided or
 * to be collected, and records; those whose makers sleep (MMAP, NAMESPACES, CGROUP), and AUX, which
 * a driver ends, are for the selftests.  The parser knows the text of the ABI and nothing else: the
 * words in their order, each if its bit is set.  It reads the pages that user space would read.
 */
#include <kunit/test.h>
#include <linux/bpf.h>
#include <linux/highmem.h>
#include <linux/prandom.h>

#include "../sources/sources.h"

#define CHAIN	5
#define RAW	21
#define BRANCHES 3
#define USER_REGS 0x7	/* the first ones that every architecture has */
#define INTR_REGS 0x5

struct fixture {
	struct kunit			*test;
	struct pe_event			*e;
	struct perf_buffer		*rb;
	struct pe_ctx			*ctx;
	struct perf_callchain_entry	*chain;
	struct perf_branch_stack	*branches;
	struct perf_raw_record		raw;
	struct pt_regs			regs;
	char				bytes[RAW];
	u64				at;		/* the parser's position */
	u64				tail;		/* end of what was read last */
};

KUNIT_DEFINE_ACTION_WRAPPER(put_buffer, pe_buffer_put, struct perf_buffer *);

static u64 test_clock(void)
{
	return 0x7153;
}

static struct fixture *make(struct kunit *test, int nr_pages, int flags)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	struct pe_event *e = kunit_kzalloc(test, sizeof(*e), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, f);
	KUNIT_ASSERT_NOT_NULL(test, e);
	f->test = test;
	f->e = e;
	f->ctx = kunit_kzalloc(test, sizeof(*f->ctx), GFP_KERNEL);
	f->chain = kunit_kzalloc(test, struct_size(f->chain, ip, CHAIN), GFP_KERNEL);
	f->branches = kunit_kzalloc(test, struct_size(f->branches, entries, BRANCHES), GFP_KERNEL);
	f->rb = pe_buffer_alloc(nr_pages, 0, -1, flags);
	KUNIT_ASSERT_NOT_NULL(test, f->rb);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, put_buffer, f->rb), 0);
	KUNIT_ASSERT_NOT_NULL(test, f->ctx);
	KUNIT_ASSERT_NOT_NULL(test, f->chain);
	KUNIT_ASSERT_NOT_NULL(test, f->branches);

	e->sink = e;
	e->slot = &f->ctx->any;
	e->ctx = &f->ctx->pub;
	e->group_leader = &e->pub;
	INIT_LIST_HEAD(&e->sibling_list);
	init_waitqueue_head(&e->waitq);
	e->clock = test_clock;
	e->ns = &init_pid_ns;
	e->id = 0x1d;
	e->passive = true;
	e->attr.sample_max_stack = 127;
	e->attr.sample_regs_user = USER_REGS;
	e->attr.sample_regs_intr = INTR_REGS;
	e->enabled.time = 0xe0;
	e->running.time = 0xe1;
	atomic64_set(&e->gone_enabled, 0x1000);
	atomic64_set(&e->gone_running, 0x2000);
	local64_set(&e->count, 0xc0);
	rcu_assign_pointer(e->rb, f->rb);

	f->chain->nr = CHAIN;
	for (i = 0; i < CHAIN; i++)
		f->chain->ip[i] = 0xca00 + i;
	f->branches->nr = BRANCHES;
	for (i = 0; i < BRANCHES; i++)
		f->branches->entries[i].from = 0xb0 + i;
	for (i = 0; i < RAW; i++)
		f->bytes[i] = 'a' + i;
	for (i = 0; i < sizeof(f->regs) / sizeof(long); i++)
		((unsigned long *)&f->regs)[i] = 0x5e00 + i;
	return f;
}

/* The plan of @type, for a sample with sample_id_all and each of the read values. */
static void wants(struct fixture *f, u64 type, u64 read_format)
{
	f->e->attr.sample_type = type;
	f->e->attr.read_format = read_format;
	f->e->attr.sample_id_all = 1;
	pe_plan_compile(&f->e->plan, &f->e->attr);
}

/* ------------------------------------------------------------- the parser */

static u8 next_byte(struct fixture *f)
{
	u64 off = f->at++ & (pe_buffer_data_size(f->rb) - 1);
	u8 *page = kmap_local_page(pe_buffer_page(f->rb, 1 + off / PAGE_SIZE));
	u8 byte = page[off % PAGE_SIZE];

	kunmap_local(page);
	return byte;
}

static u64 next(struct fixture *f, unsigned int len)
{
	union {
		u8	byte[8];
		u16	half;
		u32	word;
		u64	all;
	} value = { };
	unsigned int i;

	for (i = 0; i < len; i++)
		value.byte[i] = next_byte(f);
	return len == 8 ? value.all : len == 4 ? value.word : value.half;
}

#define IS(f, len, want)	KUNIT_EXPECT_EQ((f)->test, next((f), (len)), (u64)(want))

static void pid_and_tid(struct fixture *f)
{
	IS(f, 4, current->tgid);
	IS(f, 4, current->pid);
}

static void cpu_and_zero(struct fixture *f)
{
	IS(f, 4, raw_smp_processor_id());
	IS(f, 4, 0);
}

static void parse_trailer(struct fixture *f)
{
	u64 type = f->e->attr.sample_type;

	if (type & PERF_SAMPLE_TID)
		pid_and_tid(f);
	if (type & PERF_SAMPLE_TIME)
		IS(f, 8, 0x7153);
	if (type & PERF_SAMPLE_ID)
		IS(f, 8, 0x1d);
	if (type & PERF_SAMPLE_STREAM_ID)
		IS(f, 8, 0x1d);
	if (type & PERF_SAMPLE_CPU)
		cpu_and_zero(f);
	if (type & PERF_SAMPLE_IDENTIFIER)
		IS(f, 8, 0x1d);
}

static void parse_read(struct fixture *f)
{
	u64 format = f->e->attr.read_format, gone = format & PERF_FORMAT_GROUP ? 0 : 0x1000;

	IS(f, 8, format & PERF_FORMAT_GROUP ? 1 : 0xc0);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		IS(f, 8, 0xe0 + gone);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		IS(f, 8, 0xe1 + 2 * gone);
	if (format & PERF_FORMAT_GROUP)
		IS(f, 8, 0xc0);
	if (format & PERF_FORMAT_ID)
		IS(f, 8, 0x1d);
	if (format & PERF_FORMAT_LOST)
		IS(f, 8, atomic64_read(&f->e->lost_samples));
}

static void parse_raw(struct fixture *f)
{
	unsigned int i, size = round_up(4 + RAW, 8) - 4;

	IS(f, 4, size);
	for (i = 0; i < RAW; i++)
		KUNIT_EXPECT_EQ(f->test, next_byte(f), 'a' + i);
	f->at += size - RAW;
}

static void parse_branches(struct fixture *f)
{
	int i;

	IS(f, 8, BRANCHES);
	for (i = 0; i < BRANCHES; i++) {
		IS(f, 8, 0xb0 + i);
		IS(f, 8, 0);
		IS(f, 8, 0);
	}
}

static void parse_regs(struct fixture *f, u64 mask)
{
	IS(f, 8, PERF_SAMPLE_REGS_ABI_64);
	for (; mask; mask &= mask - 1)
		IS(f, 8, perf_reg_value(&f->regs, __ffs64(mask)));
}

static void parse_words_of_sample(struct fixture *f, u64 type, u64 ip, u64 addr)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		IS(f, 8, 0x1d);
	if (type & PERF_SAMPLE_IP)
		IS(f, 8, ip);
	if (type & PERF_SAMPLE_TID)
		pid_and_tid(f);
	if (type & PERF_SAMPLE_TIME)
		IS(f, 8, 0x7153);
	if (type & PERF_SAMPLE_ADDR)
		IS(f, 8, addr);
	if (type & PERF_SAMPLE_ID)
		IS(f, 8, 0x1d);
	if (type & PERF_SAMPLE_STREAM_ID)
		IS(f, 8, 0x1d);
	if (type & PERF_SAMPLE_CPU)
		cpu_and_zero(f);
	if (type & PERF_SAMPLE_PERIOD)
		IS(f, 8, 0x9e);
}

static void parse_parts_of_sample(struct fixture *f, u64 type, u64 given)
{
	int i;

	if (type & PERF_SAMPLE_READ)
		parse_read(f);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		IS(f, 8, CHAIN);
		for (i = 0; i < CHAIN; i++)
			IS(f, 8, 0xca00 + i);
	}
	if (type & PERF_SAMPLE_RAW)
		parse_raw(f);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		parse_branches(f);
	if (type & PERF_SAMPLE_REGS_USER)
		parse_regs(f, USER_REGS);
	if (type & PERF_SAMPLE_STACK_USER)
		IS(f, 8, 0);
	if (type & PE_SAMPLE_WEIGHTS)
		IS(f, 8, type & given & PE_SAMPLE_WEIGHTS ? 0x3e1 : 0);
	if (type & PERF_SAMPLE_DATA_SRC)
		IS(f, 8, 0xda);
	if (type & PERF_SAMPLE_TRANSACTION)
		IS(f, 8, given & PERF_SAMPLE_TRANSACTION ? 0x7a : 0);
	if (type & PERF_SAMPLE_REGS_INTR)
		parse_regs(f, INTR_REGS);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		IS(f, 8, 0x9a);
	if (type & PERF_SAMPLE_CGROUP)
		IS(f, 8, 0xc9);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		IS(f, 8, 0xd9);
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		IS(f, 8, 0xcc);
	if (type & PERF_SAMPLE_AUX)
		IS(f, 8, 0);
}

/* The header of the record that comes next.  Return: where it ends. */
static u64 parse_header(struct fixture *f, u32 type)
{
	u64 start = f->at;

	IS(f, 4, type);
	next(f, 2);
	return start + next(f, 2);
}

static void parse_lost(struct fixture *f, u64 lost)
{
	u64 end = parse_header(f, PERF_RECORD_LOST);

	IS(f, 8, 0x1d);
	IS(f, 8, lost);
	parse_trailer(f);
	KUNIT_EXPECT_EQ(f->test, f->at, end);
}

/* The reader takes what was written since the last time: forward it is at the end. */
static void begin_reading(struct fixture *f, bool backward)
{
	f->at = backward ? local_read(&f->rb->head) : f->tail;
}

static void end_reading(struct fixture *f, bool backward)
{
	u64 head = local_read(&f->rb->head);

	KUNIT_EXPECT_EQ(f->test, f->at, backward ? f->tail : head);
	KUNIT_EXPECT_EQ(f->test, READ_ONCE(f->rb->user_page->data_head), head);
	KUNIT_EXPECT_EQ(f->test, f->rb->nest, 0U);
	f->tail = head;
	WRITE_ONCE(f->rb->user_page->data_tail, head);
}

/* -------------------------------------------------------------- the cases */

static void provide_regs(struct fixture *f, struct perf_sample_data *data, struct perf_regs *regs,
			 u64 bit, u64 mask)
{
	regs->abi = PERF_SAMPLE_REGS_ABI_64;
	regs->regs = &f->regs;
	perf_sample_added(data, bit, (1 + hweight64(mask)) * sizeof(u64));
}

/* A stack and AUX data of no bytes: a size each. */
static void provide_parts(struct fixture *f, struct perf_sample_data *data, u64 type)
{
	if (type & PERF_SAMPLE_REGS_USER)
		provide_regs(f, data, &data->regs_user, PERF_SAMPLE_REGS_USER, USER_REGS);
	if (type & PERF_SAMPLE_REGS_INTR)
		provide_regs(f, data, &data->regs_intr, PERF_SAMPLE_REGS_INTR, INTR_REGS);
	if (type & PERF_SAMPLE_STACK_USER) {
		data->stack_user_size = 0;
		perf_sample_added(data, PERF_SAMPLE_STACK_USER, sizeof(u64));
	}
	if (type & PERF_SAMPLE_AUX) {
		data->aux_size = 0;
		perf_sample_added(data, PERF_SAMPLE_AUX, sizeof(u64));
	}
}

/* What the source brings: what must be there, and @given of the rest. */
static void provide(struct fixture *f, struct perf_sample_data *data, u64 type, u64 given)
{
	perf_sample_data_init(data, given & PERF_SAMPLE_ADDR ? 0xadd : 0, 0x9e);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		data->callchain = f->chain;
		data->callchain_nr = CHAIN;
		perf_sample_added(data, PERF_SAMPLE_CALLCHAIN, (1 + CHAIN) * sizeof(u64));
	}
	if (type & PERF_SAMPLE_RAW) {
		f->raw = (struct perf_raw_record){ .frag = { .data = f->bytes, .size = RAW } };
		perf_sample_save_raw_data(data, &f->e->pub, &f->raw);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK)
		perf_sample_save_brstack(data, &f->e->pub, f->branches, NULL);
	provide_parts(f, data, type);
	data->ip = 0x1b;
	data->weight.full = 0x3e1;
	data->data_src.val = 0xda;
	data->txn = 0x7a;
	data->phys_addr = 0x9a;
	data->cgroup = 0xc9;
	data->data_page_size = 0xd9;
	data->code_page_size = 0xcc;
	data->sample_flags |= given & type;
}

#define NOT_COLLECTED	(PE_SAMPLE_WEIGHTS | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION |	\
			 PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP |				\
			 PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE)
#define MAY_LACK	(PERF_SAMPLE_ADDR | PE_SAMPLE_WEIGHTS | PERF_SAMPLE_TRANSACTION)
#define PLAIN		(PE_SAMPLE_ID_FIELDS | PERF_SAMPLE_IP | PERF_SAMPLE_ADDR |		\
			 PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW)
#define PARTS		(PERF_SAMPLE_READ | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER |	\
			 PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_AUX)
#define FORMATS		(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |	\
			 PERF_FORMAT_ID | PERF_FORMAT_GROUP | PERF_FORMAT_LOST)

static void one_sample(struct fixture *f, struct rnd_state *rnd, bool backward, long lost)
{
	struct perf_sample_data *data = kunit_kzalloc(f->test, sizeof(*data), GFP_KERNEL);
	u64 type = prandom_u32_state(rnd), given = prandom_u32_state(rnd) & MAY_LACK, end;
	struct pt_regs regs = { };

	KUNIT_ASSERT_NOT_NULL(f->test, data);
	type &= PLAIN | (type & BIT(31) ? NOT_COLLECTED | PARTS : 0);
	if (type & PERF_SAMPLE_WEIGHT)	/* one of the two */
		type &= ~PERF_SAMPLE_WEIGHT_STRUCT;
	given |= (NOT_COLLECTED & ~MAY_LACK) | (type & NOT_COLLECTED ? PERF_SAMPLE_IP : 0);
	wants(f, type, prandom_u32_state(rnd) & FORMATS);
	f->e->attr.write_backward = backward;
	instruction_pointer_set(&regs, 0x1bb);
	local_set(&f->rb->lost, lost);

	guard(preempt)();
	provide(f, data, type, given);
	KUNIT_EXPECT_EQ(f->test, perf_event_output(&f->e->pub, data, &regs), 0);
	begin_reading(f, backward);
	if (lost)
		parse_lost(f, lost);
	end = parse_header(f, PERF_RECORD_SAMPLE);
	parse_words_of_sample(f, type, given & PERF_SAMPLE_IP ? 0x1b : 0x1bb,
			      given & PERF_SAMPLE_ADDR ? 0xadd : 0);
	parse_parts_of_sample(f, type, given);
	KUNIT_EXPECT_EQ_MSG(f->test, f->at, end, "sample_type %llx", type);
	end_reading(f, backward);
	kunit_kfree(f->test, data);
}

static void many_samples(struct kunit *test, int nr_pages, int flags, bool backward)
{
	struct fixture *f = make(test, nr_pages, flags);
	struct rnd_state rnd;
	int i;

	prandom_seed_state(&rnd, 15);
	for (i = 0; i < 2000; i++)
		one_sample(f, &rnd, backward, i % 7 ? 0 : i);
}

static void samples(struct kunit *test)
{
	many_samples(test, 1, PE_BUFFER_WRITABLE, false);
	many_samples(test, 4, PE_BUFFER_WRITABLE, false);
}

static void samples_overwrite(struct kunit *test)
{
	many_samples(test, 1, 0, false);
	many_samples(test, 2, 0, true);
	many_samples(test, 1, PE_BUFFER_WRITABLE, true);
}

/* Records of a body in one piece and in several, with every trailer, at every place of the ring. */
static void records(struct kunit *test)
{
	struct fixture *f = make(test, 1, PE_BUFFER_WRITABLE);
	u64 body[3] = { 0xb1, 0xb2, 0xb3 };
	struct kvec piece[2] = { { body, 8 }, { body + 1, 16 } };
	struct rnd_state rnd;
	bool backward;
	u64 end;
	int i, j;

	prandom_seed_state(&rnd, 3);
	for (i = 0; i < 3000; i++) {
		wants(f, prandom_u32_state(&rnd) & PE_SAMPLE_ID_FIELDS, 0);
		backward = i >= 1500;
		f->e->attr.write_backward = backward;
		guard(preempt)();
		local_set(&f->rb->lost, i % 11 ? 0 : i);
		KUNIT_EXPECT_EQ(test, i & 1 ? pe_record_emit(f->e, 99, 0, body, sizeof(body)) :
					      pe_record_write(f->e, 99, 0, piece, 2), 0);
		begin_reading(f, backward);
		if (i % 11 == 0 && i)
			parse_lost(f, i);
		end = parse_header(f, 99);
		for (j = 0; j < 3; j++)
			IS(f, 8, body[j]);
		parse_trailer(f);
		KUNIT_EXPECT_EQ(test, f->at, end);
		end_reading(f, backward);
	}
}

/* ------------------------------------------- what is told of an event itself */

static void parse_throttle(struct fixture *f)
{
	IS(f, 8, 0x7153);
	IS(f, 8, 0x1d);
	IS(f, 8, 0x1d);
}

static void lose_samples(struct pe_event *e)
{
	perf_log_lost_samples(&e->pub, 0x105);
}

static void parse_lost_samples(struct fixture *f)
{
	IS(f, 8, 0x105);
}

static void tell_read(struct pe_event *e)
{
	pe_record_reads(&e->put_later, current);
}

static void parse_read_record(struct fixture *f)
{
	pid_and_tid(f);
	parse_read(f);
}

static void tell_hw_id(struct pe_event *e)
{
	perf_report_aux_output_id(&e->pub, 0xa1d);
}

static void parse_hw_id(struct fixture *f)
{
	IS(f, 8, 0xa1d);
}

/* ---------------------------------------- what is told of tasks and of code */

/* For this moment the event is one of current's that asks for this kind of record.  Irqs off. */
static void ask(struct pe_event *e, u32 sideband, void (*hook)(struct pe_event *e))
{
	struct pe_ctx *ctx = pe_ctx(e);
	void *own = current->perf_event_ctxp;

	lockdep_assert_irqs_disabled();
	e->plan.sideband = sideband;
	ctx->oncpu = smp_processor_id();
	INIT_LIST_HEAD(&ctx->sideband);
	list_add(&e->sideband_entry, &ctx->sideband);
	current->perf_event_ctxp = &ctx->pub;
	atomic_inc(&pe_sideband_users[__ffs(sideband)]);
	hook(e);
	atomic_dec(&pe_sideband_users[__ffs(sideband)]);
	current->perf_event_ctxp = own;
}

/* @name is padded to eight bytes with zeroes, one at least. */
static void parse_name(struct fixture *f, const char *name)
{
	unsigned int i, len = strlen(name);

	for (i = 0; i < round_up(len + 1, 8); i++)
		KUNIT_EXPECT_EQ(f->test, next_byte(f), i < len ? name[i] : 0);
}

static void tell_fork(struct pe_event *e)
{
	pe_sideband_fork(current);
}

static void parse_fork(struct fixture *f)
{
	IS(f, 4, current->tgid);
	IS(f, 4, current->tgid);
	IS(f, 4, current->pid);
	IS(f, 4, current->pid);
	IS(f, 8, 0x7153);
}

static void tell_exit(struct pe_event *e)
{
	pe_sideband_exit(current, NULL);
}

static void parse_exit(struct fixture *f)
{
	u32 parent = task_ppid_nr(current);

	IS(f, 4, current->tgid);
	IS(f, 4, parent);
	IS(f, 4, current->pid);
	IS(f, 4, parent);
	IS(f, 8, 0x7153);
}

static void tell_comm(struct pe_event *e)
{
	perf_event_comm(current, true);
}

static void parse_comm(struct fixture *f)
{
	pid_and_tid(f);
	parse_name(f, current->comm);
}

static void tell_switch_cpu_wide(struct pe_event *e)
{
	pe_sideband_switch_in(current);
}

static void tell_switch(struct pe_event *e)
{
	pe_ctx(e)->task = current;
	pe_sideband_switch_in(current);
	pe_ctx(e)->task = NULL;
}

static void parse_nothing(struct fixture *f)
{
}

static void tell_ksymbol(struct pe_event *e)
{
	perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL, 0xadd4, 0x1e4, true, "a_symbol");
}

static void parse_ksymbol(struct fixture *f)
{
	IS(f, 8, 0xadd4);
	IS(f, 4, 0x1e4);
	IS(f, 2, PERF_RECORD_KSYMBOL_TYPE_OOL);
	IS(f, 2, PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER);
	parse_name(f, "a_symbol");
}

static struct bpf_prog_aux prog_aux = { .id = 0x1d };
static struct bpf_prog prog = { .tag = "progtag", .aux = &prog_aux };

static void tell_bpf(struct pe_event *e)
{
	perf_event_bpf_event(&prog, PERF_BPF_EVENT_PROG_LOAD, 0xf1a);
}

static void parse_bpf(struct fixture *f)
{
	IS(f, 2, PERF_BPF_EVENT_PROG_LOAD);
	IS(f, 2, 0xf1a);
	IS(f, 4, 0x1d);
	parse_name(f, "progtag");
}

static void tell_text_poke(struct pe_event *e)
{
	perf_event_text_poke((void *)0xadd4, "old", 3, "newer", 5);
}

static void parse_text_poke(struct fixture *f)
{
	static const char text[12] = "oldnewer";
	int i;

	IS(f, 8, 0xadd4);
	IS(f, 2, 3);
	IS(f, 2, 5);
	for (i = 0; i < sizeof(text); i++)
		KUNIT_EXPECT_EQ(f->test, next_byte(f), text[i]);
}

static const struct {
	u32	type;
	void	(*write)(struct pe_event *e);
	void	(*parse)(struct fixture *f);
	u32	sideband;	/* what the event has to ask for, if anything */
} kinds[] = {
	{ PERF_RECORD_THROTTLE, pe_record_throttle, parse_throttle },
	{ PERF_RECORD_UNTHROTTLE, pe_record_unthrottle, parse_throttle },
	{ PERF_RECORD_LOST_SAMPLES, lose_samples, parse_lost_samples },
	{ PERF_RECORD_READ, tell_read, parse_read_record },
	{ PERF_RECORD_ITRACE_START, pe_record_itrace_start, pid_and_tid },
	{ PERF_RECORD_AUX_OUTPUT_HW_ID, tell_hw_id, parse_hw_id },
	{ PERF_RECORD_FORK, tell_fork, parse_fork, BIT(PE_SB_TASK) },
	{ PERF_RECORD_EXIT, tell_exit, parse_exit, BIT(PE_SB_TASK) },
	{ PERF_RECORD_COMM, tell_comm, parse_comm, BIT(PE_SB_COMM) },
	{ PERF_RECORD_SWITCH, tell_switch, parse_nothing, BIT(PE_SB_SWITCH) },
	{ PERF_RECORD_SWITCH_CPU_WIDE, tell_switch_cpu_wide, pid_and_tid, BIT(PE_SB_SWITCH) },
	{ PERF_RECORD_KSYMBOL, tell_ksymbol, parse_ksymbol, BIT(PE_SB_KSYMBOL) },
	{ PERF_RECORD_BPF_EVENT, tell_bpf, parse_bpf, BIT(PE_SB_BPF) },
	{ PERF_RECORD_TEXT_POKE, tell_text_poke, parse_text_poke, BIT(PE_SB_TEXT_POKE) },
};

/* With every trailer, and READ with every format. */
static void records_of_every_kind(struct kunit *test)
{
	struct fixture *f = make(test, 1, PE_BUFFER_WRITABLE);
	struct rnd_state rnd;
	u64 fields, end;
	int i, k;

	f->e->cpu = -1;
	prandom_seed_state(&rnd, 7);
	for (i = 0; i < 7000; i++) {
		k = i % ARRAY_SIZE(kinds);
		fields = prandom_u32_state(&rnd) & PE_SAMPLE_ID_FIELDS;
		wants(f, fields, prandom_u32_state(&rnd) & FORMATS);
		guard(preempt)();
		scoped_guard(irqsave) {
			if (kinds[k].sideband)
				ask(f->e, kinds[k].sideband, kinds[k].write);
			else
				kinds[k].write(f->e);
		}
		begin_reading(f, false);
		end = parse_header(f, kinds[k].type);
		kinds[k].parse(f);
		parse_trailer(f);
		KUNIT_EXPECT_EQ_MSG(test, f->at, end, "record %u, fields %llx", kinds[k].type,
				    fields);
		end_reading(f, false);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(samples),
	KUNIT_CASE(samples_overwrite),
	KUNIT_CASE(records),
	KUNIT_CASE(records_of_every_kind),
	{}
};

static struct kunit_suite suite = {
	.name = "perf_records",
	.test_cases = cases,
};

kunit_test_suite(suite);
