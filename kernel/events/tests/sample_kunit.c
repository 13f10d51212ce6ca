// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: what is not to be shown, or is not known, is collected as that: the memory of a sample has
 * anything in it when its source begins, and whatever is not set would be told to user space.
 */
#include <kunit/test.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/sched/task.h>
#include <linux/string.h>
#include <linux/task_work.h>
#include <linux/vmalloc.h>

#include "../sources/sources.h"

struct fixture {
	struct pe_event		e;
	struct pe_ctx		ctx;
	struct pt_regs		regs;
	struct perf_sample_data	data;
};

/* The kernel is hit, here. */
static struct fixture *make(struct kunit *test, u64 type, u64 addr)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	memset(&f->data, 0x5a, sizeof(f->data));
	perf_sample_data_init(&f->data, addr, 1);
	perf_fetch_caller_regs(&f->regs);
	f->e.ctx = &f->ctx.pub;
	f->e.group_leader = &f->e.pub;
	f->e.attr.sample_type = type;
	return f;
}

static void prepare(struct fixture *f)
{
	pe_plan_compile(&f->e.plan, &f->e.attr);
	guard(preempt)();
	perf_prepare_sample(&f->data, &f->e.pub, &f->regs);
}

static u64 noon(void)
{
	return 0x1200;
}

/* A sample that is collected tells the id of its event, its time, and the CPU of the hit. */
static void who_and_where(struct kunit *test)
{
	struct fixture *f = make(test, PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
				 0);
	int cpu = -1;

	f->e.id = 0x1d;
	f->e.clock = noon;
	scoped_guard(preempt) {
		cpu = smp_processor_id();
		prepare(f);
	}
	KUNIT_EXPECT_EQ(test, f->data.stream_id, 0x1dULL);
	KUNIT_EXPECT_EQ(test, f->data.time, 0x1200ULL);
	KUNIT_EXPECT_EQ(test, f->data.cpu_entry.cpu, (u32)cpu);
	KUNIT_EXPECT_EQ(test, f->data.cpu_entry.reserved, 0U);
}

/* An address that the source does not know is 0, and so is what follows from it. */
static void unknown_address(struct kunit *test)
{
	struct fixture *f = make(test, PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR |
				 PERF_SAMPLE_DATA_PAGE_SIZE, 0);

	prepare(f);
	KUNIT_EXPECT_EQ(test, f->data.addr, 0ULL);
	KUNIT_EXPECT_EQ(test, f->data.phys_addr, 0ULL);
	KUNIT_EXPECT_EQ(test, f->data.data_page_size, 0ULL);
}

/* An event that leaves out the kernel is told nothing of where in there it was hit. */
static void places_of_the_kernel(struct kunit *test)
{
	struct fixture *f = make(test, PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR |
				 PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE, 0);

	f->e.attr.exclude_kernel = 1;
	prepare(f);
	KUNIT_EXPECT_EQ(test, f->data.ip, 0ULL);
	KUNIT_EXPECT_EQ(test, f->data.addr, 0ULL);
	KUNIT_EXPECT_EQ(test, f->data.phys_addr, 0ULL);
	KUNIT_EXPECT_EQ(test, f->data.data_page_size, 0ULL);
	KUNIT_EXPECT_EQ(test, f->data.code_page_size, 0ULL);
}

/* The sample says that there are none. */
static void no_registers(struct kunit *test, struct fixture *f, struct perf_regs *told)
{
	KUNIT_EXPECT_NULL(test, told->regs);
	KUNIT_EXPECT_EQ(test, told->abi, (u64)PERF_SAMPLE_REGS_ABI_NONE);
	KUNIT_EXPECT_EQ(test, (u64)f->data.dyn_size, (u64)sizeof(u64));
}

/* Nor of its registers. */
static void registers_of_the_kernel(struct kunit *test)
{
	struct fixture *f = make(test, PERF_SAMPLE_REGS_INTR, 0);

	f->e.attr.exclude_kernel = 1;
	f->e.attr.sample_regs_intr = 1;
	prepare(f);
	no_registers(test, f, &f->data.regs_intr);
}

/* The registers of user space are current's, and the event is not. */
static void registers_of_another_task(struct kunit *test)
{
	struct fixture *f = make(test, PERF_SAMPLE_REGS_USER, 0);

	f->ctx.task = &init_task;
	f->e.attr.sample_regs_user = 1;
	prepare(f);
	no_registers(test, f, &f->data.regs_user);
}

/* A kernel thread is hit: it has no user space to tell of. */
static void registers_without_user_space(struct kunit *test)
{
	struct fixture *f = make(test, PERF_SAMPLE_REGS_USER, 0);

	KUNIT_ASSERT_NULL(test, current->mm);
	f->e.attr.sample_regs_user = 1;
	prepare(f);
	no_registers(test, f, &f->data.regs_user);
}

/* Of the AUX data that nobody has asked for not even a size is known: nothing is written. */
static void no_aux_data(struct kunit *test)
{
	struct fixture *f = make(test, PERF_SAMPLE_ADDR, 0xadd);
	struct perf_buffer *rb = kunit_kzalloc(test, sizeof(*rb), GFP_KERNEL);
	struct perf_output_handle handle = { .rb = rb };
	struct perf_event_header header;
	static u64 place[8];

	KUNIT_ASSERT_NOT_NULL(test, rb);
	memset(place, 0x5a, sizeof(place));
	rb->data = place;
	rb->mask = sizeof(place) - 1;
	handle.addr = place;
	f->data.aux_size = sizeof(u64);
	prepare(f);
	scoped_guard(preempt) {
		perf_prepare_header(&header, &f->data, &f->e.pub, &f->regs);
		perf_output_sample(&handle, &header, &f->data, &f->e.pub);
	}
	KUNIT_EXPECT_EQ(test, place[1], 0xaddULL);
	KUNIT_EXPECT_EQ(test, place[2], 0x5a5a5a5a5a5a5a5aULL);
	KUNIT_EXPECT_PTR_EQ(test, handle.addr, (void *)&place[2]);
}

/* Tests run in a kernel thread: nothing is mapped where user space would be. */
static void address_without_user_space(struct kunit *test)
{
	struct fixture *f = make(test, PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR, PAGE_SIZE);

	KUNIT_ASSERT_NULL(test, current->mm);
	prepare(f);
	KUNIT_EXPECT_EQ(test, f->data.addr, (u64)PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, f->data.phys_addr, 0ULL);
}

/* Of the kernel's addresses only those of memory in the linear map have a physical one. */
static void addresses_of_the_kernel(struct kunit *test)
{
	void *memory = kunit_kzalloc(test, sizeof(u64), GFP_KERNEL), *mapped = vmalloc(PAGE_SIZE);
	u64 of[] = { (uintptr_t)memory, PAGE_OFFSET + BIT_ULL(45), (uintptr_t)mapped };
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, memory);
	KUNIT_ASSERT_NOT_NULL(test, mapped);
	for (i = 0; i < ARRAY_SIZE(of); i++) {
		struct fixture *f = make(test, PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR, of[i]);

		prepare(f);
		KUNIT_EXPECT_EQ(test, f->data.addr, of[i]);
		KUNIT_EXPECT_EQ(test, f->data.phys_addr, i ? 0 : (u64)virt_to_phys(memory));
	}
	vfree(mapped);
}

/* A signal tells an address that the sample has, if the event may know it. */
static void address_of_a_signal(struct kunit *test)
{
	static const u64 of[] = { 0, 0xadd, 0xadd };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(of); i++) {
		struct fixture *f = make(test, PERF_SAMPLE_ADDR, of[i]);

		f->e.attr.exclude_kernel = i == 2;
		pe_plan_compile(&f->e.plan, &f->e.attr);
		f->e.hw.target = current;
		refcount_set(&f->e.refs, 1);
		pe_sigtrap(&f->e, &f->data, &f->regs);
		/* It is not sent. */
		KUNIT_EXPECT_TRUE(test, task_work_cancel(current, &f->e.sigtrap_work));
		KUNIT_EXPECT_EQ(test, f->e.sigtrap_addr, i == 1 ? 0xaddUL : 0UL);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(who_and_where),
	KUNIT_CASE(unknown_address),
	KUNIT_CASE(places_of_the_kernel),
	KUNIT_CASE(registers_of_the_kernel),
	KUNIT_CASE(registers_of_another_task),
	KUNIT_CASE(registers_without_user_space),
	KUNIT_CASE(no_aux_data),
	KUNIT_CASE(address_without_user_space),
	KUNIT_CASE(addresses_of_the_kernel),
	KUNIT_CASE(address_of_a_signal),
	{}
};

static struct kunit_suite suite = {
	.name = "perf_samples",
	.test_cases = cases,
};

kunit_test_suite(suite);
