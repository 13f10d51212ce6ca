// SPDX-License-Identifier: GPL-2.0
/*
 * Collecting the values of a sample.
 *
 * The source (driver, software event, tracepoint) has put what it knows into a perf_sample_data
 * and marked it in sample_flags.  plan.collect tells what the event wants and what that depends
 * on; perf_prepare_sample() fetches the difference, and afterwards the length of the sample is
 * known.  write.c writes it.
 *
 * Context: any, NMI included, on the CPU that was hit, with preemption off; irqs off or not.
 * Callers hold rcu_read_lock(), which keeps the call-chain buffers and current's cgroup.  Nothing
 * here takes a lock, sleeps or faults: user memory and page tables are read as far as they are
 * there.
 *
 * The stack dump takes what is left of the 64 KiB of a record, and AUX data what is left then, so
 * these are collected last.
 */
#include <linux/cgroup.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/trace_events.h>

#include "output.h"

/* ------------------------------------------------------- who, when, where */

/* 0 means "not in this namespace"; a task that has lost its pid already gets -1. */
static u32 id_in_namespace(const struct pe_event *e, struct task_struct *task, enum pid_type type)
{
	u32 nr = __task_pid_nr_ns(task, type, e->sink->ns);

	return nr || pid_alive(task) ? nr : -1;
}

/**
 * pe_event_pid() - process id of a task as the opener of an event sees it
 * @e: the event
 * @task: current, or a task that cannot go away
 */
u32 pe_event_pid(const struct pe_event *e, struct task_struct *task)
{
	return id_in_namespace(e, task, PIDTYPE_TGID);
}

/* The same for the thread id. */
u32 pe_event_tid(const struct pe_event *e, struct task_struct *task)
{
	return id_in_namespace(e, task, PIDTYPE_PID);
}

/* Time on the clock that the opener chose, any context. */
u64 pe_event_clock(const struct pe_event *e)
{
	return e->clock();
}

/* Inherited events report under the id of the one that user space has a file of. */
u64 pe_primary_id(const struct pe_event *e)
{
	return e->sink->id;
}

static void collect_ids(struct perf_sample_data *data, struct pe_event *e, u64 want)
{
	if (want & PERF_SAMPLE_TID)
		pe_current_ids(e, &data->tid_entry.pid, &data->tid_entry.tid);
	if (want & PERF_SAMPLE_TIME)
		data->time = pe_event_clock(e);
	if (want & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER))
		data->id = pe_primary_id(e);
	if (want & PERF_SAMPLE_STREAM_ID)
		data->stream_id = e->id;
	if (want & PERF_SAMPLE_CPU) {
		data->cpu_entry.cpu = raw_smp_processor_id();
		data->cpu_entry.reserved = 0;
	}
	data->sample_flags |= want & PE_SAMPLE_ID_FIELDS;
}

/**
 * pe_id_sample_collect() - values for the sample_id trailer of a record
 * @data: nothing but the trailer's values are set
 * @e: the event that gets the record
 */
void pe_id_sample_collect(struct perf_sample_data *data, struct pe_event *e)
{
	data->type = e->plan.sample_type;
	data->sample_flags = 0;
	collect_ids(data, e, data->type);
}

/* ------------------------------------------------------------ call chains */

/* What happens to a sleeping task is sampled in another, whose user space is not to be shown. */
static bool about_another_task(const struct pe_event *e)
{
	const struct pe_ctx *ctx = pe_ctx(e);

	return ctx->task && ctx->task != current && !ctx->kin;
}

/*
 * A program on the event wants the whole chain.  Handlers of a uprobe have registers with which the
 * task does not return: the instruction is still to be executed, or a trampoline goes on to the
 * caller.
 */
static bool may_be_walked_later(const struct pe_event *e)
{
	struct trace_event_call *call = pe_trace_call(e);

	return !READ_ONCE(e->prog) && !(call && call->flags & TRACE_EVENT_FL_UPROBE);
}

/**
 * perf_callchain() - the call chain that an event asked for
 * @event: the event
 * @regs: where it was hit
 *
 * Any context with preemption off.  Return: a chain in a buffer of this CPU and context level,
 * good until the caller leaves; empty if there is none or it must not be shown.
 */
struct perf_callchain_entry *perf_callchain(struct perf_event *event, struct pt_regs *regs)
{
	static struct perf_callchain_entry none;
	const struct perf_event_attr *attr = &event->attr;
	bool kernel = !attr->exclude_callchain_kernel && !pe_hides_kernel(pe(event), regs);
	bool user = !attr->exclude_callchain_user && pe_current_is_user();
	struct perf_callchain_entry *chain = NULL;
	bool crosstask;
	u64 cookie = 0;

	if (!kernel && !user)
		return &none;
	/* An event of another task may be hit here (wakeups); it must not see current's stack. */
	crosstask = about_another_task(pe(event));
	if (unlikely(attr->defer_callchain) && user && !crosstask && may_be_walked_later(pe(event)))
		cookie = pe_deferred_request();
	if (cookie)
		chain = pe_callchain_of_kernel(regs, kernel, attr->sample_max_stack, cookie);
	else
		chain = get_perf_callchain(regs, kernel, user, attr->sample_max_stack, crosstask,
					   true);
	return chain ?: &none;
}

/* -------------------------------------------------------------- registers */

static void user_regs(struct perf_regs *out, struct pe_event *e, struct pt_regs *regs)
{
	if (about_another_task(e)) {
		out->regs = NULL;
		out->abi = PERF_SAMPLE_REGS_ABI_NONE;
	} else if (user_mode(regs)) {
		out->regs = regs;
		out->abi = perf_reg_abi(current);
	} else if (pe_current_is_user()) {
		perf_get_regs_user(out, regs);
	} else {
		out->regs = NULL;
		out->abi = PERF_SAMPLE_REGS_ABI_NONE;
	}
}

/* The ABI word, then one word for each register of the mask. */
static u64 regs_size(const struct perf_regs *regs, u64 mask)
{
	return (1 + (regs->regs ? hweight64(mask) : 0)) * sizeof(u64);
}

static void collect_regs(struct perf_sample_data *data, struct pe_event *e, u64 want,
			 struct pt_regs *regs)
{
	u64 size = 0;

	if (want & PERF_SAMPLE_REGS_USER) {
		user_regs(&data->regs_user, e, regs);
		/* fetched for the stack dump alone, they are not written */
		want &= data->type | ~PERF_SAMPLE_REGS_USER;
	}
	if (want & PERF_SAMPLE_REGS_USER)
		size += regs_size(&data->regs_user, e->attr.sample_regs_user);
	if (want & PERF_SAMPLE_REGS_INTR) {
		data->regs_intr.regs = regs;
		data->regs_intr.abi = perf_reg_abi(current);
		size += regs_size(&data->regs_intr, e->attr.sample_regs_intr);
	}
	perf_sample_added(data, want & (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR), size);
}

/* Bytes of user memory between the stack pointer and the end of the address space. */
static u64 stack_above(struct pt_regs *regs)
{
	unsigned long sp;

	if (!regs || !current->mm)
		return 0;
	sp = pe_user_stack_pointer(regs);
	return sp && sp < TASK_SIZE ? TASK_SIZE - sp : 0;
}

/*
 * Layout: u64 size, then, unless it is 0, the bytes and a u64 that tells how many of them could be
 * read.  The dump shrinks to what fits into a record, with the size of AUX data if that comes last.
 */
static void collect_stack(struct perf_sample_data *data, struct pe_event *e)
{
	u64 later = data->type & PERF_SAMPLE_AUX ? sizeof(u64) : 0;
	u64 used = pe_sample_size(data, e) + 2 * sizeof(u64) + later;
	u64 room = used < U16_MAX ? U16_MAX - used : 0;
	u64 dump = min3((u64)e->attr.sample_stack_user, stack_above(data->regs_user.regs), room);

	dump = round_down(dump, sizeof(u64));
	data->stack_user_size = dump;
	perf_sample_added(data, PERF_SAMPLE_STACK_USER,
			  dump ? dump + 2 * sizeof(u64) : sizeof(u64));
}

/* Layout: u64 size, then as many bytes.  It takes what is left of the record as well. */
static void collect_aux(struct perf_sample_data *data, struct pe_event *e)
{
	u64 used = pe_sample_size(data, e) + sizeof(u64);

	data->aux_size = pe_aux_sample_size(e, used < U16_MAX ? U16_MAX - used : 0);
	perf_sample_added(data, PERF_SAMPLE_AUX, sizeof(u64) + data->aux_size);
}

/* --------------------------------------------------------- about addresses */

static u64 physical_address(u64 virt)
{
	struct page *page;
	u64 phys = 0;

	if (virt >= TASK_SIZE) {
		void *addr = (void *)(uintptr_t)virt;

		/* only the linear map: no page tables are walked for the kernel */
		if (!is_vmalloc_addr(addr) && virt_addr_valid(addr))
			phys = virt_to_phys(addr);
	} else if (virt && pe_current_is_user()) {
		pagefault_disable();
		if (get_user_page_fast_only(virt, 0, &page)) {
			phys = page_to_phys(page) + offset_in_page(virt);
			put_page(page);
		}
		pagefault_enable();
	}
	return phys;
}

/*
 * The size of the page that maps an address.  Page tables are walked without locks: with irqs
 * off nobody frees them (HAVE_GUP_FAST promises that).  One function per level, lowest first.
 */
#ifdef CONFIG_HAVE_GUP_FAST
static u64 size_at_pmd(pud_t *pudp, pud_t pud, unsigned long addr)
{
	pmd_t *pmdp = pmd_offset_lockless(pudp, pud, addr);
	u64 size = 0;
	pte_t *ptep;
	pmd_t pmd;
	pte_t pte;

	do {
		pmd = pmdp_get_lockless(pmdp);
		if (!pmd_present(pmd))
			return 0;
		if (pmd_leaf(pmd))
			return pmd_leaf_size(pmd);
		ptep = pte_offset_map(&pmd, addr);	/* NULL: it just became something else */
	} while (!ptep);

	pte = ptep_get_lockless(ptep);
	if (pte_present(pte))
		size = __pte_leaf_size(pmd, pte);
	__acquire(RCU);		/* sparse: pte_offset_map() did, but does not say so */
	pte_unmap(ptep);
	return size;
}

static u64 size_at_pud(p4d_t *p4dp, p4d_t p4d, unsigned long addr)
{
	pud_t *pudp = pud_offset_lockless(p4dp, p4d, addr);
	pud_t pud = READ_ONCE(*pudp);

	if (!pud_present(pud))
		return 0;
	return pud_leaf(pud) ? pud_leaf_size(pud) : size_at_pmd(pudp, pud, addr);
}

static u64 size_at_p4d(pgd_t *pgdp, pgd_t pgd, unsigned long addr)
{
	p4d_t *p4dp = p4d_offset_lockless(pgdp, pgd, addr);
	p4d_t p4d = READ_ONCE(*p4dp);

	if (!p4d_present(p4d))
		return 0;
	return p4d_leaf(p4d) ? p4d_leaf_size(p4d) : size_at_pud(p4dp, p4d, addr);
}

static u64 size_at_pgd(struct mm_struct *mm, unsigned long addr)
{
	pgd_t *pgdp = pgd_offset(mm, addr);
	pgd_t pgd = READ_ONCE(*pgdp);

	if (pgd_none(pgd))
		return 0;
	return pgd_leaf(pgd) ? pgd_leaf_size(pgd) : size_at_p4d(pgdp, pgd, addr);
}
#else
static u64 size_at_pgd(struct mm_struct *mm, unsigned long addr)
{
	return 0;
}
#endif

static u64 page_size_at(unsigned long addr)
{
	guard(irqsave)();
	return addr ? size_at_pgd(current->mm ?: &init_mm, addr) : 0;
}

static u64 current_cgroup(void)
{
#ifdef CONFIG_CGROUP_PERF
	return cgroup_id(perf_cgroup_from_task(current)->css.cgroup);
#else
	return 0;
#endif
}

/* Values of one word that few events ask for; what the source did not provide is "unknown". */
static void collect_words(struct perf_sample_data *data, u64 want)
{
	if (want & PERF_SAMPLE_ADDR)
		data->addr = 0;
	if (want & PE_SAMPLE_WEIGHTS)
		data->weight.full = 0;
	if (want & PERF_SAMPLE_DATA_SRC)
		data->data_src.val = PERF_MEM_NA;
	if (want & PERF_SAMPLE_TRANSACTION)
		data->txn = 0;
	if (want & PERF_SAMPLE_PHYS_ADDR)
		data->phys_addr = physical_address(data->addr);
	if (want & PERF_SAMPLE_DATA_PAGE_SIZE)
		data->data_page_size = page_size_at(data->addr);
	if (want & PERF_SAMPLE_CODE_PAGE_SIZE)
		data->code_page_size = page_size_at(data->ip);
	if (want & PERF_SAMPLE_CGROUP)
		data->cgroup = current_cgroup();
}

#define RARE_WORDS	(PERF_SAMPLE_ADDR | PE_SAMPLE_WEIGHTS | PERF_SAMPLE_DATA_SRC |		\
			 PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_PHYS_ADDR |			\
			 PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE |		\
			 PERF_SAMPLE_CGROUP)
#define VARIABLE_PARTS	(PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK |	\
			 PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR |			\
			 PERF_SAMPLE_STACK_USER | PERF_SAMPLE_AUX)

/* Parts whose length differs from sample to sample. */
static void collect_variable(struct perf_sample_data *data, struct pe_event *e, u64 want,
			     struct pt_regs *regs)
{
	if (want & PERF_SAMPLE_CALLCHAIN)
		perf_sample_save_callchain(data, &e->pub, regs);
	if (want & PERF_SAMPLE_RAW) {
		data->raw = NULL;	/* written as four bytes of nothing */
		perf_sample_added(data, PERF_SAMPLE_RAW, sizeof(u64));
	}
	if (want & PERF_SAMPLE_BRANCH_STACK) {
		data->br_stack = NULL;	/* written as nr = 0 */
		perf_sample_added(data, PERF_SAMPLE_BRANCH_STACK, sizeof(u64));
	}
	if (want & (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR))
		collect_regs(data, e, want, regs);
	if (want & PERF_SAMPLE_STACK_USER)
		collect_stack(data, e);
	if (want & PERF_SAMPLE_AUX)
		collect_aux(data, e);
}

#define WHERE_WORDS	(PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR |		\
			 PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE)

/*
 * pe_hides_kernel(): "unknown", also where the source has provided something.  A guest's addresses
 * are none of this kernel, but for an event that counts no guests: that is shown where the kernel
 * entered it.  The registers are those of the exit from it.  Call chains see to it themselves.
 * Branches were filtered by the driver, raw and AUX data by their sources.
 */
static noinline void hide_kernel(struct perf_sample_data *data, const struct pe_event *e)
{
	if (!perf_guest_state() || pe_hides_guest(e)) {
		data->ip = 0;
		data->addr = 0;
		data->phys_addr = 0;
		data->data_page_size = 0;
		data->code_page_size = 0;
		data->sample_flags |= WHERE_WORDS;
	}
	if (data->type & ~data->sample_flags & PERF_SAMPLE_REGS_INTR) {
		data->regs_intr.regs = NULL;
		data->regs_intr.abi = PERF_SAMPLE_REGS_ABI_NONE;
		perf_sample_added(data, PERF_SAMPLE_REGS_INTR, regs_size(&data->regs_intr, 0));
	}
}

/* Contract: see <linux/perf_event.h>. */
void perf_prepare_sample(struct perf_sample_data *data, struct perf_event *event,
			 struct pt_regs *regs)
{
	struct pe_event *e = pe(event);
	u64 want;

	data->type = e->plan.sample_type;
	if (pe_hides_kernel(e, regs))
		hide_kernel(data, e);
	want = e->plan.collect & ~data->sample_flags;
	if (want & PE_SAMPLE_ID_FIELDS)
		collect_ids(data, e, want);
	if (want & PERF_SAMPLE_IP) {
		data->ip = pe_sample_ip(e, regs);
		data->sample_flags |= PERF_SAMPLE_IP;
	}
	if (want & RARE_WORDS) {
		collect_words(data, want);
		data->sample_flags |= want & RARE_WORDS;
	}
	if (want & VARIABLE_PARTS)
		collect_variable(data, e, want, regs);
}

/**
 * pe_sample_size() - bytes of a sample as far as it is collected
 * @data: the sample
 * @e: the event
 *
 * The answer may differ the next time: members of a group come and go and change its read size.
 * write.c goes by what stands in the header.
 */
u32 pe_sample_size(const struct perf_sample_data *data, const struct pe_event *e)
{
	u32 size = sizeof(struct perf_event_header) + e->plan.header_size + data->dyn_size;

	return data->type & PERF_SAMPLE_READ ? size + pe_sample_read_size(e) : size;
}

/* Contract: see <linux/perf_event.h>. */
void perf_prepare_header(struct perf_event_header *header, struct perf_sample_data *data,
			 struct perf_event *event, struct pt_regs *regs)
{
	u32 size = pe_sample_size(data, pe(event));

	header->type = PERF_RECORD_SAMPLE;
	header->misc = pe_sample_misc(pe(event), regs);
	/* perf_output_begin() refuses 0 */
	header->size = size <= U16_MAX ? size : 0;
}
