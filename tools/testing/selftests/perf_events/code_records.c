// SPDX-License-Identifier: GPL-2.0
/*
 * code_records.c - the records about kernel code that changes, comes and goes:
 * TEXT_POKE, KSYMBOL, BPF_EVENT.
 *
 * What they say is compared with the memory itself, which /proc/kcore shows,
 * and with what the kernel says of a BPF program when it is asked. All is
 * provoked by the task whose event it is, so nobody else's changes are seen.
 */
#include "lib/bpf.h"
#include "lib/ext.h"
#include <linux/elf.h>
#include <sys/stat.h>

#if defined(__x86_64__)
#define POKES	true
#define GETPPID	"__x64_sys_getppid"
#else
#define POKES	false		/* such changes are not told */
#define GETPPID	"__arm64_sys_getppid"
#endif

#define MAX_BYTES	1024	/* in one poke */
#define MAX_SITES	256

static struct pt_record rec;
static struct pt_ring ring;

struct poke {
	u64 addr;
	u16 old_len, new_len;
	const u8 *old_bytes, *new_bytes;
};

struct symbol {
	u64 addr;
	u32 len;
	u16 type, flags;
	char name[512];
};

struct program {
	u16 type, flags;
	u32 id;
	u8 tag[8];
};

static void start(bool text_poke, bool ksymbol, bool bpf_event)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));

	attr.text_poke = text_poke;
	attr.ksymbol = ksymbol;
	attr.bpf_event = bpf_event;
	pt_pin(0);
	pt_map(&ring, pt_open(&attr, 0, -1, -1, 0), 64);
}

static void expect(u32 type)
{
	pt_need(pt_next(&ring, &rec), "no record of type %u", type);
	pt_need(rec.h.type == type, "record of type %u instead of %u", rec.h.type, type);
}

static void expect_nothing(void)
{
	pt_check(!pt_next(&ring, &rec), "unexpected record of type %u", rec.h.type);
}

/* The rest of the record, up to its size, is zero; that is less than a word. */
static void check_padding(size_t used)
{
	size_t size = rec.h.size - sizeof(rec.h);

	pt_eq(size, (used + 7) & ~7ul);
	for (; used < size; used++)
		pt_eq(rec.body[used], 0);
}

static struct poke the_poke(void)
{
	struct poke p;

	memcpy(&p.addr, rec.body, 8);
	memcpy(&p.old_len, rec.body + 8, 2);
	memcpy(&p.new_len, rec.body + 10, 2);
	p.old_bytes = rec.body + 12;
	p.new_bytes = p.old_bytes + p.old_len;
	pt_eq(rec.h.misc, PERF_RECORD_MISC_KERNEL);
	check_padding(12u + p.old_len + p.new_len);
	return p;
}

static struct symbol the_symbol(void)
{
	struct symbol s;

	memcpy(&s, rec.body, 16);
	pt_eq(rec.h.misc, 0);
	pt_need(rec.h.size <= sizeof(rec.h) + 16 + sizeof(s.name), "a name too long");
	memcpy(s.name, rec.body + 16, rec.h.size - sizeof(rec.h) - 16);
	s.name[sizeof(s.name) - 1] = 0;
	check_padding(16 + strlen(s.name) + 1);
	return s;
}

static struct program the_program(void)
{
	struct program p;

	memcpy(&p, rec.body, sizeof(p));
	pt_eq(rec.h.misc, 0);
	pt_eq(rec.h.size, sizeof(rec.h) + sizeof(p));
	return p;
}

/* ---- the kernel's memory ---- */

static void kernel_memory(u64 addr, void *to, size_t len)
{
	int fd = open("/proc/kcore", O_RDONLY | O_CLOEXEC);
	struct elf64_hdr head;
	struct elf64_phdr part;
	int i;

	if (fd < 0)
		pt_skip("no /proc/kcore");
	pt_need(read(fd, &head, sizeof(head)) == sizeof(head), "kcore: no header");
	for (i = 0; i < head.e_phnum; i++) {
		pt_need(pread(fd, &part, sizeof(part), (off_t)(head.e_phoff + i * sizeof(part))) ==
			sizeof(part), "kcore: no segment %d", i);
		if (part.p_type != PT_LOAD || addr < part.p_vaddr ||
		    addr + len > part.p_vaddr + part.p_memsz)
			continue;
		pt_need(pread(fd, to, len, (off_t)(part.p_offset + addr - part.p_vaddr)) ==
			(ssize_t)len, "kcore: %zu bytes at %#llx: %s", len,
			(unsigned long long)addr, strerror(errno));
		close(fd);
		return;
	}
	pt_need(false, "kcore does not have %#llx", (unsigned long long)addr);
}

static void check_memory(u64 addr, const u8 *bytes, size_t len)
{
	u8 now[MAX_BYTES];

	pt_need(len <= sizeof(now), "%zu bytes", len);
	kernel_memory(addr, now, len);
	pt_check(!memcmp(now, bytes, len), "%zu bytes at %#llx are not those told", len,
		 (unsigned long long)addr);
}

/* ---- code that changes ---- */

/* From the first record about a place to the last one; no bytes: no code was there, or is. */
static struct site {
	u64 addr;
	u16 before_len, now_len;
	u8 before[MAX_BYTES], now[MAX_BYTES];
} sites[MAX_SITES];

static unsigned int nr_sites;

static struct site *site_of(u64 addr)
{
	unsigned int i;

	for (i = 0; i < nr_sites && sites[i].addr != addr; i++)
		;
	return i < nr_sites ? &sites[i] : NULL;
}

/* What is replaced is what the last record said was put there. */
static struct site *follow(const struct poke *p)
{
	struct site *s = site_of(p->addr);

	pt_need(p->old_len <= MAX_BYTES && p->new_len <= MAX_BYTES, "%u bytes became %u",
		p->old_len, p->new_len);
	if (!s) {
		pt_need(nr_sites < MAX_SITES, "too many places");
		s = &sites[nr_sites++];
		s->addr = p->addr;
		s->before_len = p->old_len;
		s->now_len = p->old_len;
		memcpy(s->before, p->old_bytes, p->old_len);
		memcpy(s->now, p->old_bytes, p->old_len);
	}
	pt_eq(p->old_len, s->now_len);
	pt_check(!memcmp(p->old_bytes, s->now, p->old_len), "other bytes than put there before");
	if (p->old_len && p->new_len) {
		pt_eq(p->old_len, p->new_len);
		pt_check(memcmp(p->old_bytes, p->new_bytes, p->old_len), "nothing was changed");
	}
	s->now_len = p->new_len;
	memcpy(s->now, p->new_bytes, p->new_len);
	return s;
}

static unsigned int follow_all(void)
{
	struct poke p;
	unsigned int n = 0;

	while (pt_next(&ring, &rec)) {
		pt_need(rec.h.type == PERF_RECORD_TEXT_POKE, "record of type %u", rec.h.type);
		p = the_poke();
		follow(&p);
		n++;
	}
	return n;
}

/* Each place has what the last record said; instructions change in the kernel's text. */
static void check_places(void)
{
	u64 text = pt_kernel_symbol("_stext"), end = pt_kernel_symbol("_etext");
	unsigned int i;

	pt_need(text && end > text, "no _stext and _etext");
	for (i = 0; i < nr_sites; i++) {
		struct site *s = &sites[i];

		if (s->before_len)
			pt_check(s->addr >= text && s->addr + s->before_len <= end,
				 "%#llx is no kernel text", (unsigned long long)s->addr);
		if (s->now_len)
			check_memory(s->addr, s->now, s->now_len);
	}
}

/* All is as it was. */
static void check_undone(void)
{
	unsigned int i;

	check_places();
	for (i = 0; i < nr_sites; i++) {
		pt_eq(sites[i].now_len, sites[i].before_len);
		pt_check(!memcmp(sites[i].before, sites[i].now, sites[i].now_len),
			 "place %u of %u is not what it was", i, nr_sites);
	}
}

static void write_tracefs(const char *file, const char *text)
{
	char path[256];
	int err;

	snprintf(path, sizeof(path), "%s/%s", pt_tracefs(), file);
	err = pt_write_file(path, text);
	pt_need(!err, "%s to %s: %s", text, path, strerror(-err));
}

/* Static keys and calls of tracepoints. */
static void tracepoint_on_and_off(void)
{
	static const char enable[] = "events/sched/sched_process_wait/enable";
	unsigned int on, i;

	start(true, false, false);
	write_tracefs(enable, "1");
	on = follow_all();
	pt_eq(on > 0, POKES);
	check_places();
	for (i = 0; i < nr_sites; i++)
		pt_check(sites[i].now_len == 2 || sites[i].now_len == 5, "%u bytes at once",
			 sites[i].now_len);
	i = nr_sites;
	write_tracefs(enable, "0");
	pt_eq(follow_all(), on);
	pt_eq(nr_sites, i);
	check_undone();
}

/*
 * Where a function has an instruction that is no place for ftrace. Some bytes
 * behind its start there is one on machines where all are four bytes long.
 */
static unsigned int inside(u64 func)
{
#if defined(__x86_64__)
	static const u8 nop[] = { 0x0f, 0x1f, 0x44, 0, 0 };
	u8 code[16];
	unsigned int i;

	kernel_memory(func, code, sizeof(code));
	for (i = 0; i < 8; i++)
		if (!memcmp(code + i, nop, sizeof(nop)))
			return i + (unsigned int)sizeof(nop);
	pt_skip("no place for ftrace in " GETPPID);
#else
	(void)func;
	return 16;
#endif
}

/* A breakpoint in the middle of a function, and the copy of what it replaces. */
static void kprobe_in_a_function(void)
{
	static const char optimize[] = "/proc/sys/debug/kprobes-optimization";
	u64 func = pt_kernel_symbol(GETPPID), at;
	bool optimized = pt_read_number(optimize, 0);
	unsigned int i, copies = 0;
	struct site *s;
	char line[64];

	pt_need(func, "no " GETPPID);
	at = func + inside(func);
	/* Else a jump takes its place, some time later. */
	if (optimized)
		pt_eq(pt_write_file(optimize, "0"), 0);
	start(true, false, false);
	snprintf(line, sizeof(line), "p:pt_code/probe %s+%u", GETPPID, (unsigned int)(at - func));
	write_tracefs("kprobe_events", line);
	write_tracefs("events/pt_code/probe/enable", "1");
	pt_eq(follow_all() > 0, POKES);
	check_places();
	s = site_of(at);
	pt_eq(!!s, POKES);
	if (s) {
		pt_eq(s->before_len, 1);
		pt_eq(s->now_len, 1);
		pt_eq(s->now[0], 0xcc);
	}
	for (i = 0; s && i < nr_sites; i++)
		copies += !sites[i].before_len && sites[i].now[0] == s->before[0];
	pt_eq(copies >= 1, POKES);
	write_tracefs("events/pt_code/probe/enable", "0");
	write_tracefs("kprobe_events", "-:pt_code/probe");
	follow_all();
	check_undone();
	if (optimized)
		pt_eq(pt_write_file(optimize, "1"), 0);
}

/*
 * A function tracer of one function has code made for it: it gets a name, then
 * its bytes; these go before the name does. The function calls it meanwhile.
 */
static void ftrace_trampoline(void)
{
	u64 func = pt_kernel_symbol(GETPPID), trampoline = 0;
	unsigned int turn, named = 0;
	struct symbol sym;
	struct poke p;
	char path[128];
	struct site *s;
	int32_t far;

	snprintf(path, sizeof(path), "%s/instances/pt", pt_tracefs());
	pt_need(!mkdir(path, 0755), "mkdir %s: %s", path, strerror(errno));
	write_tracefs("instances/pt/set_ftrace_filter", "*sys_getppid");
	start(true, true, false);
	for (turn = 0; turn < 2; turn++) {
		write_tracefs("instances/pt/current_tracer", turn ? "nop" : "function");
		while (pt_next(&ring, &rec)) {
			bool is_symbol = rec.h.type == PERF_RECORD_KSYMBOL;

			if (is_symbol) {
				sym = the_symbol();
				pt_eq(sym.type, PERF_RECORD_KSYMBOL_TYPE_OOL);
				pt_eq(sym.flags, turn ? PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER : 0);
				pt_check(!strcmp(sym.name, "ftrace_trampoline"), "%s", sym.name);
				named++;
				if (turn) {
					pt_eq(sym.addr, trampoline);
					continue;
				}
				trampoline = sym.addr;
				expect(PERF_RECORD_TEXT_POKE);
			}
			p = the_poke();
			follow(&p);
			if (is_symbol) {
				pt_eq(p.addr, sym.addr);
				pt_eq(p.old_len, 0);
				pt_eq(p.new_len, sym.len);
			}
		}
		if (turn)
			break;
		check_places();
		/* The call is at the function's start, or behind what marks it as one. */
		s = site_of(func) ?: site_of(func + 4);
		pt_eq(!!s, POKES);
		if (!s)
			continue;
		pt_eq(s->now[0], 0xe8);
		memcpy(&far, s->now + 1, sizeof(far));
		pt_eq(s->addr + 5 + (u64)(s64)far, trampoline);
	}
	check_undone();
	pt_eq(named, POKES ? 2 : 0);
	rmdir(path);
}

/* ---- BPF programs ---- */

#define MAX_FUNCTIONS	4

struct known {
	struct bpf_prog_info info;
	u64 addr[MAX_FUNCTIONS];
	u32 len[MAX_FUNCTIONS];
	char name[MAX_FUNCTIONS][128];	/* in /proc/kallsyms */
};

static struct pt_code code;

/* A name that the kernel's list of symbols has for an address. */
static void name_of(u64 addr, char *name, size_t size)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	char line[512], type, sym[256] = "";
	unsigned long long a;

	pt_need(f, "kallsyms: %s", strerror(errno));
	name[0] = 0;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx %c %255s", &a, &type, sym) == 3 && a == addr)
			snprintf(name, size, "%.*s", (int)size - 1, sym);
	}
	fclose(f);
	pt_check(name[0], "%#llx has no name", (unsigned long long)addr);
}

static int load(const char *name)
{
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.insns = pt_addr(code.insn),
		.insn_cnt = code.nr,
		.license = pt_addr("GPL"),
	};
	long fd;

	snprintf(attr.prog_name, sizeof(attr.prog_name), "%s", name);
	fd = pt_bpf(BPF_PROG_LOAD, &attr);
	if (fd == -ENOSYS || (fd < 0 && !pt_kernel_symbol("trace_call_bpf")))
		pt_skip("no BPF programs for events");
	pt_need(fd >= 0, "BPF_PROG_LOAD: %s", strerror((int)-fd));
	return (int)fd;
}

static void ask(int prog, struct known *k, unsigned int functions)
{
	union bpf_attr attr = { 0 };
	unsigned int i;

	memset(k, 0, sizeof(*k));
	k->info.nr_jited_ksyms = MAX_FUNCTIONS;
	k->info.jited_ksyms = pt_addr(k->addr);
	k->info.nr_jited_func_lens = MAX_FUNCTIONS;
	k->info.jited_func_lens = pt_addr(k->len);
	attr.info.bpf_fd = (u32)prog;
	attr.info.info_len = sizeof(k->info);
	attr.info.info = pt_addr(&k->info);
	pt_eq(pt_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr), 0);
	if (!k->info.jited_prog_len)
		pt_skip("programs are not compiled here");
	pt_eq(k->info.nr_jited_ksyms, functions);
	pt_eq(k->info.nr_jited_func_lens, functions);
	for (i = 0; i < functions; i++)
		name_of(k->addr[i], k->name[i], sizeof(k->name[i]));
}

static void expect_symbol(const struct known *k, unsigned int i, u16 flags)
{
	struct symbol sym;

	expect(PERF_RECORD_KSYMBOL);
	sym = the_symbol();
	pt_eq(sym.type, PERF_RECORD_KSYMBOL_TYPE_BPF);
	pt_eq(sym.flags, flags);
	pt_eq(sym.addr, k->addr[i]);
	pt_eq(sym.len, k->len[i]);
	pt_check(!strcmp(sym.name, k->name[i]), "%s instead of %s", sym.name, k->name[i]);
}

static void expect_program(const struct known *k, u16 type)
{
	struct program p;

	expect(PERF_RECORD_BPF_EVENT);
	p = the_program();
	pt_eq(p.type, type);
	pt_eq(p.flags, 0);
	pt_eq(p.id, k->info.id);
	pt_check(!memcmp(p.tag, k->info.tag, sizeof(p.tag)), "another tag");
}

/* The tag is part of the name. */
static void check_name(const struct known *k, const char *name)
{
	char text[64];
	int at = sprintf(text, "bpf_prog_"), i;

	for (i = 0; i < 8; i++)
		at += sprintf(text + at, "%02x", k->info.tag[i]);
	sprintf(text + at, "_%s", name);
	pt_check(!strcmp(k->name[0], text), "%s instead of %s", k->name[0], text);
}

/* Each function's name, then the program; both when it comes and when it goes, once. */
static void load_and_unload(bool ksymbol, bool bpf_event, unsigned int functions)
{
	static struct known k;
	unsigned int i, gone;
	int prog;

	start(false, ksymbol, bpf_event);
	prog = load("pt_code");
	ask(prog, &k, functions);
	check_name(&k, "pt_code");
	for (gone = 0; gone < 2; gone++) {
		if (gone)
			close(prog);
		for (i = 0; ksymbol && i < functions; i++)
			expect_symbol(&k, i, gone ? PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER : 0);
		if (bpf_event)
			expect_program(&k, gone ? PERF_BPF_EVENT_PROG_UNLOAD :
				       PERF_BPF_EVENT_PROG_LOAD);
		expect_nothing();
	}
	pt_unmap(&ring);
	close(ring.fd);
}

static void bpf_program(void)
{
	pt_b_begin(&code);
	pt_b_return(&code, 0);
	load_and_unload(true, true, 1);
	load_and_unload(true, false, 1);
	load_and_unload(false, true, 1);
}

/* main() { return f(); } f() { return 7; } */
static void bpf_functions(void)
{
	code.nr = 0;
	pt_b(&code, BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, 1);
	pt_b_exit(&code);
	pt_b_return(&code, 7);
	load_and_unload(true, true, 2);
}

static void load_one(void *arg)
{
	(void)arg;
	close(load("elsewhere"));
}

/* What another task does is not ours to hear. */
static void bpf_program_of_another(void)
{
	pt_b_begin(&code);
	pt_b_return(&code, 0);
	close(load("here"));
	start(false, true, true);
	pt_reap(pt_fork(load_one, NULL));
	expect_nothing();
}

/* Nor is what root does in a task that has its event by perf_ext_own_tasks only. */
static void bpf_program_of_root(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));

	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.ksymbol = 1;
	attr.bpf_event = 1;
	pt_map(&ring, ext_open_own_task(&attr), 64);
	pt_b_begin(&code);
	pt_b_return(&code, 0);
	close(load("root"));
	expect_nothing();
}

static const struct pt_case cases[] = {
	{ "tracepoint_on_and_off", tracepoint_on_and_off },
	{ "kprobe_in_a_function", kprobe_in_a_function },
	{ "ftrace_trampoline", ftrace_trampoline },
	{ "bpf_program", bpf_program },
	{ "bpf_functions", bpf_functions },
	{ "bpf_program_of_another", bpf_program_of_another },
	{ "bpf_program_of_root", bpf_program_of_root },
};

PT_MAIN(cases)
