// SPDX-License-Identifier: GPL-2.0
/*
 * cache-lines.c - a plugin of QEMU's TCG that counts which lines of the kernel's memory move
 * between CPUs.
 *
 * For each line of 64 bytes it knows which CPUs have it, and which one has written it last, as in
 * caches that never lose a line for lack of room (MESI):
 *
 *	fetch		a CPU reads what another one has written since
 *	claim		a CPU writes, or does an atomic operation on, what others have
 *	atomic		those of them that are atomic operations
 *
 * The guest says what is measured by instructions that do nothing: on arm64 "hint #96" begins a
 * stretch, "hint #127" ends it; on x86_64 these are nops with a telling displacement. At the end
 * the file given as out=FILE gets for each stretch a line with its number and the instructions of
 * the kernel in it, on all CPUs; and one for each line of memory and instruction that moved it:
 *
 *	at STRETCH INSTRUCTION CALLER LINE fetches claims atomics
 *
 * The caller is where the CPU was in the kernel before it came to helpers, which work on the memory
 * of whoever calls them (locks, memset). The file given as helpers=FILE has the first and the next
 * address of each, in order.
 *
 * QEMU has to run the CPUs in turn, in one thread. What is not seen: DC ZVA, which zeroes a line,
 * until something else touches it; user space; the kernel's accesses to memory of user space.
 */
#include "qemu-plugin.h"

#define BEGIN_ARM64	0xd5032c1fu	/* hint #96 */
#define END_ARM64	0xd5032fffu	/* hint #127 */
/* nopl 0x7e500060(%rax), nopl 0x7e50007f(%rax) */
#define BEGIN_X86	"\x0f\x1f\x80\x60\x00\x50\x7e"
#define END_X86		"\x0f\x1f\x80\x7f\x00\x50\x7e"
#define NOP_BYTES	7

#define KERNEL		(1ull << 63)
/* These are 1 in each address of code in the kernel. */
#define NO_ATOMIC	(1ull << 62)
#define NO_HELPER	(1ull << 61)
#define LINE_SHIFT	6
#define MOST_CPUS	32
#define HELPERS		4096
#define STRETCHES	128
#define LINES		(1u << 23)
#define MOVES		(1u << 21)

static struct line {
	uint64_t nr;
	uint32_t have;			/* CPUs that may read it as it is */
	int32_t writer;			/* whose changes nobody else has; or -1 */
} *lines;

static struct move {
	uint64_t at, caller, line;
	uint32_t stretch, fetches, claims, atomics;
} *moves;

static uint64_t instructions, began, spent[STRETCHES];
static unsigned int stretches;
static int measuring;
static uint64_t last[MOST_CPUS];	/* where each CPU was outside of helpers */
static unsigned long long helpers[HELPERS][2];
static unsigned int nr_helpers;
static char out[4096];
static int is_arm64;

static void stop(const char *why)
{
	fprintf(stderr, "cache-lines: %s\n", why);
	exit(1);
}

static struct line *find_line(uint64_t nr)
{
	static unsigned int used;
	uint64_t i = nr * 0x9e3779b97f4a7c15ull >> 41;

	for (;; i = (i + 1) % LINES) {
		struct line *l = &lines[i];

		if (l->nr == nr)
			return l;
		if (l->nr)
			continue;
		if (++used > LINES / 4 * 3)
			stop("too many lines");
		l->nr = nr;
		l->writer = -1;
		return l;
	}
}

static struct move *find_move(uint64_t at, uint64_t caller, uint64_t line)
{
	static unsigned int used;
	uint64_t i = ((at ^ caller << 20 ^ line << 40 ^ line ^ (uint64_t)stretches << 32) *
		      0x9e3779b97f4a7c15ull) >> 43;

	for (;; i = (i + 1) % MOVES) {
		struct move *m = &moves[i];

		if (m->at == at && m->caller == caller && m->line == line &&
		    m->stretch == stretches)
			return m;
		if (m->at)
			continue;
		if (++used > MOVES / 4 * 3)
			stop("too many moves");
		*m = (struct move){ .at = at, .caller = caller, .line = line,
				    .stretch = stretches };
		return m;
	}
}

static void touch(unsigned int cpu, uint64_t nr, int writes, int atomic, uint64_t at)
{
	struct line *l = find_line(nr);
	uint32_t me = 1u << cpu, others = l->have & ~me;
	int moved = writes ? others != 0 : l->writer >= 0 && !(l->have & me);

	if (moved && measuring) {
		struct move *m = find_move(at, last[cpu], nr << LINE_SHIFT);

		if (writes)
			m->claims++;
		else
			m->fetches++;
		m->atomics += writes && atomic;
	}
	if (writes) {
		l->have = me;
		l->writer = (int)cpu;
		return;
	}
	if (l->writer >= 0 && others)
		l->writer = -1;
	l->have |= me;
}

static void on_access(unsigned int cpu, uint32_t info, uint64_t address, void *data)
{
	uint64_t at = (uintptr_t)data | NO_ATOMIC | NO_HELPER;
	int atomic = !((uintptr_t)data & NO_ATOMIC);
	/* An atomic operation gets the line for itself at once. */
	int writes = atomic || qemu_plugin_mem_is_store(info);
	uint64_t end = address + (1ull << qemu_plugin_mem_size_shift(info)) - 1;

	if ((uintptr_t)data & NO_HELPER)
		last[cpu] = at;
	if (!(address & KERNEL))
		return;
	touch(cpu, address >> LINE_SHIFT, writes, atomic, at);
	if (address >> LINE_SHIFT != end >> LINE_SHIFT)
		touch(cpu, end >> LINE_SHIFT, writes, atomic, at);
}

static void on_begin(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	if (stretches == STRETCHES)
		stop("too many stretches");
	measuring = 1;
	began = instructions;
}

static void on_end(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	if (!measuring)
		stop("an end without a beginning");
	measuring = 0;
	spent[stretches++] = instructions - began;
}

/* Atomic operations of LSE, CAS, SWP, and STXR. */
static int is_atomic_arm64(uint32_t code)
{
	if ((code & 0x3ffffc00) == 0x38bfc000)		/* LDAPR lies among them */
		return 0;
	return (code & 0x3f200c00) == 0x38200000 ||	/* LDADD and so on, SWP */
	       (code & 0x3fa07c00) == 0x08a07c00 ||	/* CAS */
	       (code & 0xbfa07c00) == 0x08207c00 ||	/* CASP */
	       (code & 0x3fe00000) == 0x08000000;	/* STXR */
}

/* LOCK, or XCHG with memory. */
static int is_atomic_x86(const unsigned char *code, size_t bytes)
{
	size_t i = 0;

	while (i < bytes && (code[i] == 0x65 || code[i] == 0x66 || code[i] == 0x3e))
		i++;
	if (i < bytes && code[i] == 0xf0)
		return 1;
	if (i < bytes && (code[i] & 0xf0) == 0x40)
		i++;
	return i < bytes && (code[i] == 0x86 || code[i] == 0x87);
}

static int is_helper(uint64_t at)
{
	unsigned int low = 0, high = nr_helpers;

	while (low < high) {
		unsigned int mid = (low + high) / 2;

		if (at >= helpers[mid][1])
			low = mid + 1;
		else
			high = mid;
	}
	return low < nr_helpers && at >= helpers[low][0];
}

static int read_helpers(const char *name)
{
	FILE *f = fopen(name, "r");

	if (!f)
		return 0;
	while (nr_helpers < HELPERS && fscanf(f, "%llx %llx", &helpers[nr_helpers][0],
					      &helpers[nr_helpers][1]) == 2)
		nr_helpers++;
	fclose(f);
	return nr_helpers < HELPERS;
}

static void watch(struct qemu_plugin_insn *insn)
{
	uint64_t at = qemu_plugin_insn_vaddr(insn);
	size_t bytes = qemu_plugin_insn_size(insn);
	const unsigned char *code = qemu_plugin_insn_data(insn);
	int begins, ends, atomic;

	if (is_arm64) {
		uint32_t word;

		memcpy(&word, code, sizeof(word));
		begins = word == BEGIN_ARM64;
		ends = word == END_ARM64;
		atomic = is_atomic_arm64(word);
	} else {
		begins = bytes == NOP_BYTES && !memcmp(code, BEGIN_X86, NOP_BYTES);
		ends = bytes == NOP_BYTES && !memcmp(code, END_X86, NOP_BYTES);
		atomic = is_atomic_x86(code, bytes);
	}
	if (begins)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_begin, 0, NULL);
	if (ends)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_end, 0, NULL);
	if (!(at & KERNEL))
		return;
	qemu_plugin_register_vcpu_insn_exec_inline(insn, ADD_TO_U64, &instructions, 1);
	if (is_helper(at))
		at &= ~NO_HELPER;
	if (atomic)
		at &= ~NO_ATOMIC;
	qemu_plugin_register_vcpu_mem_cb(insn, on_access, 0, LOADS_AND_STORES,
					 (void *)(uintptr_t)at);
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	for (i = 0; i < n; i++)
		watch(qemu_plugin_tb_get_insn(tb, i));
}

static void on_exit_of_qemu(qemu_plugin_id_t id, void *data)
{
	FILE *f = fopen(out, "w");
	unsigned int i;

	(void)id;
	(void)data;
	if (!f)
		return;
	for (i = 0; i < stretches; i++)
		fprintf(f, "stretch %u %llu\n", i, (unsigned long long)spent[i]);
	for (i = 0; i < MOVES; i++) {
		const struct move *m = &moves[i];

		if (m->at && m->stretch < stretches)
			fprintf(f, "at %u %llx %llx %llx %u %u %u\n", m->stretch,
				(unsigned long long)m->at, (unsigned long long)m->caller,
				(unsigned long long)m->line, m->fetches, m->claims, m->atomics);
	}
	fclose(f);
}

/* The beginning of what QEMU tells. */
struct info {
	const char *target;
};

__attribute__((visibility("default")))
int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	int i;

	is_arm64 = !strcmp(((const struct info *)info)->target, "aarch64");
	for (i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4))
			snprintf(out, sizeof(out), "%s", argv[i] + 4);
		else if (strncmp(argv[i], "helpers=", 8) || !read_helpers(argv[i] + 8))
			return -1;
	}
	lines = calloc(LINES, sizeof(*lines));
	moves = calloc(MOVES, sizeof(*moves));
	if (!*out || !lines || !moves)
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
	return 0;
}
