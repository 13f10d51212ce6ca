// SPDX-License-Identifier: GPL-2.0
/*
 * Records about kernel code that comes, goes or changes: KSYMBOL, BPF_EVENT and TEXT_POKE.
 *
 * Callers: BPF when a program is loaded or freed; kprobes, ftrace and BPF trampolines when a
 * page of generated code gets or loses its name; patchers of instructions, with text_mutex
 * held and before the change is made.  None in NMI.  Nothing here sleeps or takes a lock;
 * sideband.c routes.  These concern the whole system: only the CPU where it happens and the task
 * that does it are told, which is why profilers open an event on each CPU.
 *
 * Layouts, after struct perf_event_header and before the sample_id trailer:
 *
 *   KSYMBOL     u64 addr; u32 len; u16 ksym_type, flags; char name[], padded with zeroes to 8
 *   BPF_EVENT   u16 type, flags; u32 id; u8 tag[8]
 *   TEXT_POKE   u64 addr; u16 old_len, new_len; u8 old[old_len], new[new_len], zeroes to 8
 */
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/kallsyms.h>

#include "sources.h"

/* ksymbol */

struct ksymbol_news {
	struct {
		u64	addr;
		u32	len;
		u16	type;
		u16	flags;
	} body;
	char		name[KSYM_NAME_LEN];
	unsigned int	size;
};

static_assert(sizeof(((struct ksymbol_news *)0)->body) == 16);
static_assert(IS_ALIGNED(KSYM_NAME_LEN, sizeof(u64)));

static void pe_sb_write_ksymbol(struct pe_event *e, void *arg)
{
	struct ksymbol_news *news = arg;
	struct kvec piece[] = {
		{ &news->body, sizeof(news->body) },
		{ news->name, news->size },
	};

	pe_record_write(e, PERF_RECORD_KSYMBOL, 0, piece, ARRAY_SIZE(piece));
}

/**
 * perf_event_ksymbol() - a piece of kernel text got a name or lost it
 * @ksym_type: PERF_RECORD_KSYMBOL_TYPE_*
 * @addr: its start
 * @len: its bytes
 * @unregister: it is gone
 * @sym: the name
 *
 * Any context but NMI.
 */
void perf_event_ksymbol(u16 ksym_type, u64 addr, u32 len, bool unregister, const char *sym)
{
	struct ksymbol_news news;

	if (!pe_sideband_used(PE_SB_KSYMBOL))
		return;
	if (WARN_ONCE(ksym_type == PERF_RECORD_KSYMBOL_TYPE_UNKNOWN ||
		      ksym_type >= PERF_RECORD_KSYMBOL_TYPE_MAX,
		      "perf: kernel symbol of unknown type %u\n", ksym_type))
		return;
	if (!pe_sideband_wanted(BIT(PE_SB_KSYMBOL), NULL))
		return;

	news.body.addr = addr;
	news.body.len = len;
	news.body.type = ksym_type;
	news.body.flags = unregister ? PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER : 0;
	strscpy(news.name, sym);
	news.size = pe_sideband_pad(news.name);
	pe_sideband_each(BIT(PE_SB_KSYMBOL), NULL, pe_sb_write_ksymbol, &news);
}

/* BPF programs */

struct bpf_news {
	u16	type;
	u16	flags;
	u32	id;
	u8	tag[BPF_TAG_SIZE];
};

static_assert(sizeof(struct bpf_news) == 16);

static void pe_sb_write_bpf(struct pe_event *e, void *arg)
{
	pe_record_emit(e, PERF_RECORD_BPF_EVENT, 0, arg, sizeof(struct bpf_news));
}

static void name_function(const struct bpf_prog *prog, bool gone)
{
	perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_BPF, (unsigned long)prog->bpf_func,
			   prog->jited_len, gone, prog->aux->ksym.name);
}

/**
 * perf_event_bpf_event() - a BPF program is there or about to go
 * @prog: the program
 * @type: which of it
 * @flags: for the record, none are defined
 *
 * Tells of the names of its functions as well; the first of aux->func is the program itself.
 */
void perf_event_bpf_event(struct bpf_prog *prog, enum perf_bpf_event_type type, u16 flags)
{
	bool gone = type == PERF_BPF_EVENT_PROG_UNLOAD;
	struct bpf_news news;
	u32 i;

	if (!gone && type != PERF_BPF_EVENT_PROG_LOAD)
		return;

	if (pe_sideband_used(PE_SB_KSYMBOL)) {
		name_function(prog, gone);
		for (i = 1; i < prog->aux->func_cnt; i++)
			name_function(prog->aux->func[i], gone);
	}
	if (!pe_sideband_used(PE_SB_BPF))
		return;

	news.type = type;
	news.flags = flags;
	news.id = prog->aux->id;
	memcpy(news.tag, prog->tag, sizeof(news.tag));
	pe_sideband_each(BIT(PE_SB_BPF), NULL, pe_sb_write_bpf, &news);
}

/* patched instructions */

struct poke_news {
	struct {
		u64	addr;
		u16	old_len;
		u16	new_len;
	} __packed body;
	const void	*old_bytes;
	const void	*new_bytes;
	size_t		old_len;	/* if longer than the body can say, so is the record */
	size_t		new_len;
};

static void pe_sb_write_text_poke(struct pe_event *e, void *arg)
{
	static const u64 zero;
	struct poke_news *news = arg;
	size_t used = sizeof(news->body) + news->old_len + news->new_len;
	struct kvec piece[] = {
		{ &news->body, sizeof(news->body) },
		{ (void *)news->old_bytes, news->old_len },
		{ (void *)news->new_bytes, news->new_len },
		{ (void *)&zero, ALIGN(used, sizeof(u64)) - used },
	};

	pe_record_write(e, PERF_RECORD_TEXT_POKE, PERF_RECORD_MISC_KERNEL, piece,
			ARRAY_SIZE(piece));
}

/**
 * perf_event_text_poke() - kernel text is about to be patched
 * @addr: where
 * @old_bytes: what is there, NULL if @old_len is 0 because the code is new
 * @old_len: its length
 * @new_bytes: what will be there, NULL if @new_len is 0 because the code goes
 * @new_len: its length
 *
 * Any context but NMI, text_mutex usually held.
 */
void perf_event_text_poke(const void *addr, const void *old_bytes, size_t old_len,
			  const void *new_bytes, size_t new_len)
{
	struct poke_news news;

	if (!pe_sideband_used(PE_SB_TEXT_POKE))
		return;

	news.body.addr = (unsigned long)addr;
	news.body.old_len = old_len;
	news.body.new_len = new_len;
	news.old_bytes = old_bytes;
	news.new_bytes = new_bytes;
	news.old_len = old_len;
	news.new_len = new_len;
	pe_sideband_each(BIT(PE_SB_TEXT_POKE), NULL, pe_sb_write_text_poke, &news);
}
