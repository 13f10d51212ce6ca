// SPDX-License-Identifier: GPL-2.0
/*
 * Sections about the attr itself: how its size is negotiated, and what each
 * bit, word, sample bit and read format is answered alone and in pairs.
 *
 * The sweeps are shared with abi-driver.c, which runs them over the bits of
 * features that may be absent; a pair belongs there when either half does.
 */
#include "abi.h"
#include "sweep.h"

/* ---- size ---- */

static unsigned char *guarded_page(void)
{
	static unsigned char *p;

	if (!p) {
		p = mmap(NULL, 4 * page_size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			die("mmap");
		if (mprotect(p + 3 * page_size, page_size, PROT_NONE) < 0)
			die("mprotect");
	}
	memset(p, 0, 3 * page_size);
	return p;
}

static int open_raw(void *attr)
{
	int fd = pe_open(attr, 0, -1, -1, 0);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static void size_one(u32 size, u32 dirt)
{
	struct perf_event_attr *a = (void *)guarded_page();
	char name[64];
	int ret;

	a->type = PERF_TYPE_SOFTWARE;
	a->config = PERF_COUNT_SW_DUMMY;
	a->size = size;
	if (dirt)
		((unsigned char *)a)[dirt] = 1;
	ret = open_raw(a);
	if (dirt)
		snprintf(name, sizeof(name), "size=%u,byte%u", size, dirt);
	else
		snprintf(name, sizeof(name), "size=%u", size);
	say(name, "%s size-after=%u", res(ret), a->size);
}

static void attr_size(void)
{
	static const u32 sizes[] = {
		0, 1, 8, 32, 63, 64, 65, 71, 72, 73, 79, 80, 81, 88, 95, 96, 97, 103, 104, 105,
		111, 112, 113, 119, 120, 121, 127, 128, 129, 132, 135, 136, 137, 140, 143, 144,
		145, 152, 160, 200, 256, 512, 1024, 4095, 4096, 4097, 8192, 12288, 65536,
		0x7fffffff, 0x80000000, 0xffffffff,
	};
	static const u32 dirty[][2] = {
		{ 0, 64 }, { 0, 72 }, { 64, 64 }, { 64, 72 }, { 72, 72 }, { 72, 80 }, { 80, 80 },
		{ 96, 96 }, { 104, 104 }, { 112, 112 }, { 120, 120 }, { 128, 128 }, { 132, 135 },
		{ 136, 136 }, { 144, 144 }, { 144, 152 }, { 160, 144 }, { 160, 152 },
		{ 160, 159 }, { 160, 160 }, { 200, 199 }, { 4096, 160 }, { 4096, 4095 },
		{ 4096, 4096 }, { 4097, 4096 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		size_one(sizes[i], 0);
	for (i = 0; i < ARRAY_SIZE(dirty); i++)
		size_one(dirty[i][0], dirty[i][1]);
}

static void attr_pointer(void)
{
	unsigned char *p = guarded_page(), *end = p + 3 * page_size;
	struct perf_event_attr a, *ro;
	static const unsigned int room[] = { 4, 8, 32, 63, 64, 72, 135, 136, 144, 200 };
	unsigned int i, j;
	static const u32 sizes[] = { 0, 64, 136, 144, 200 };

	say("null", "%s", res(open_raw(NULL)));
	say("one", "%s", res(open_raw((void *)1)));
	say("kernel", "%s", res(open_raw((void *)(~0ul << 20))));
	say("unmapped", "%s", res(open_raw(end)));
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct tally *t = tally_new();

		attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
		a.size = sizes[i];
		for (j = 0; j < ARRAY_SIZE(room); j++) {
			unsigned int n = room[j] < sizeof(a) ? room[j] : sizeof(a);

			memset(p, 0, 3 * page_size);
			memcpy(end - room[j], &a, n);
			tally_add(t, res(open_raw(end - room[j])), "%u", room[j]);
		}
		tally_say(t, "size=%u,mapped", sizes[i]);
	}
	/* The size is written back; the page does not let it. */
	ro = mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ro == MAP_FAILED)
		die("mmap");
	attr_init(ro, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	mprotect(ro, page_size, PROT_READ);
	say("read-only", "%s", res(open_raw(ro)));
	mprotect(ro, page_size, PROT_READ | PROT_WRITE);
	ro->size = 1;
	mprotect(ro, page_size, PROT_READ);
	say("read-only,size=1", "%s size-after=%u", res(open_raw(ro)), ro->size);
	for (i = 1; i < 8; i++) {
		char name[16];

		memset(p, 0, 3 * page_size);
		attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
		memcpy(p + i, &a, sizeof(a));
		snprintf(name, sizeof(name), "unaligned+%u", i);
		say(name, "%s", res(open_raw(p + i)));
	}
}

/* ---- bits ---- */

static const struct place {
	const char *name;
	pid_t pid;
	int cpu;
} places[] = {
	{ "task", 0, -1 }, { "cpu", -1, 0 }, { "both", 0, 0 },
};

/* Every bit of the mask alone, on every source that is, or is not, swept apart. */
void sweep_bits(u64 bits, bool apart)
{
	unsigned int i, b, p;

	for (i = 0; i < nr_sources; i++) {
		const struct source *s = &sources[i];

		if (s->apart != apart)
			continue;
		if (s->absent) {
			say(s->name, "absent");
			continue;
		}
		if (s->slow)
			continue;
		for (p = 0; p < ARRAY_SIZE(places); p++) {
			struct tally *t = tally_new();

			for (b = 0; b < 64; b++) {
				struct perf_event_attr a;
				char label[32];

				if (!(bits >> b & 1))
					continue;
				source_attr(s, &a);
				attr_set_bits(&a, 1ull << b);
				snprintf(label, sizeof(label), "%s", bit_name[b] ?: "");
				if (!bit_name[b])
					snprintf(label, sizeof(label), "bit%u", b);
				tally_add(t, res(try_open_at(&a, places[p].pid, places[p].cpu,
							     -1, 0)), "%s", label);
			}
			tally_say(t, "%s,%s", s->name, places[p].name);
		}
	}
}

static const char *const sweep_sources[] = {
	"sw-task-clock", "sw-cpu-clock", "sw-page-faults", "sw-dummy", "tp-getppid", "bp-w8",
	"bp-x8", "hw-cycles", "raw-11", "type-100",
};

/* Pairs of bits with at least one from the first mask. */
void sweep_bit_pairs(u64 first, u64 second)
{
	static const u64 periods[] = { 0, 1000 };
	unsigned int i, x, y, p;

	for (i = 0; i < ARRAY_SIZE(sweep_sources); i++) {
		const struct source *s = source_find(sweep_sources[i]);

		for (p = 0; p < 2 * ARRAY_SIZE(periods); p++) {
			const struct place *where = &places[p & 1];

			for (x = 0; x < NR_ATTR_BITS && !s->absent; x++) {
				struct tally *t;

				if (!(first >> x & 1))
					continue;
				t = tally_new();
				for (y = 0; y < NR_ATTR_BITS; y++) {
					struct perf_event_attr a;

					if (!(second >> y & 1) || (y <= x && first >> y & 1))
						continue;
					source_attr(s, &a);
					a.sample_period = periods[p / 2];
					/* Disabled, where the overflow would kill. */
					attr_set_bits(&a, 1ull << x | 1ull << y |
						      (x == 37 || y == 37));
					tally_add(t, res(try_open_at(&a, where->pid, where->cpu,
								     -1, 0)), "%s", bit_name[y]);
				}
				tally_say(t, "%s,%s,period=%u,%s", s->name, where->name,
					  (unsigned int)periods[p / 2], bit_name[x]);
			}
		}
	}
}

static const u64 known_bits = (1ull << NR_ATTR_BITS) - 1;

static void attr_bits(void)
{
	sweep_bits(known_bits & ~record_bits, false);
}

static void attr_bit_pairs(void)
{
	sweep_bit_pairs(known_bits & ~record_bits, known_bits & ~record_bits);
}

/* Newer kernels know two more, defer_callchain and defer_output: deferred.c asks for them. */
static void attr_reserved(void)
{
	sweep_bits(~known_bits & ~(3ull << NR_ATTR_BITS), false);
}

/* ---- words ---- */

void sweep_words(const unsigned char *words, unsigned int n)
{
	static const u32 values[] = { 1, 0x10, 0x8000, 0x80000000, 0xffffffff };
	unsigned int i, w, v;

	for (i = 0; i < ARRAY_SIZE(sweep_sources); i++) {
		const struct source *s = source_find(sweep_sources[i]);

		if (s->absent)
			continue;
		for (v = 0; v < ARRAY_SIZE(values); v++) {
			struct tally *t = tally_new();

			for (w = 0; w < n; w++) {
				struct perf_event_attr a;

				source_attr(s, &a);
				/* A counter that fires at every cycle would stop the guest. */
				attr_set_bits(&a, 1);
				((u32 *)&a)[words[w]] = values[v];
				tally_add(t, res(try_open(&a)), "%u", words[w] * 4);
			}
			tally_say(t, "%s,value=%x,offset", s->name, values[v]);
		}
	}
}

static void attr_words(void)
{
	/* All words but the size, the bits and those in abi-driver.c. */
	static const unsigned char words[] = {
		2, 3, 4, 5, 8, 9, 12, 13, 14, 15, 16, 17, 20, 21, 22, 23, 24, 25, 27, 32, 33,
	};

	sweep_words(words, sizeof(words));
}

/* ---- sample_type ---- */

void sweep_samples(u64 samples)
{
	static const u64 periods[] = { 0, 1 };
	unsigned int i, b, p;

	for (i = 0; i < ARRAY_SIZE(sweep_sources); i++) {
		const struct source *s = source_find(sweep_sources[i]);

		if (s->absent)
			continue;
		for (p = 0; p < 2 * ARRAY_SIZE(periods); p++) {
			const struct place *where = &places[p & 1];
			struct tally *t = tally_new();

			for (b = 0; b < 64; b++) {
				struct perf_event_attr a;
				char label[24];

				if (!(samples >> b & 1))
					continue;
				source_attr(s, &a);
				attr_set_bits(&a, 1);
				a.sample_period = periods[p / 2];
				a.sample_type = 1ull << b;
				snprintf(label, sizeof(label), "%s",
					 b < NR_SAMPLE_BITS ? sample_name[b] : "");
				if (b >= NR_SAMPLE_BITS)
					snprintf(label, sizeof(label), "bit%u", b);
				tally_add(t, res(try_open_at(&a, where->pid, where->cpu, -1, 0)),
					  "%s", label);
			}
			tally_say(t, "%s,%s,period=%u", s->name, where->name,
				  (unsigned int)periods[p / 2]);
		}
	}
}

void sweep_sample_pairs(u64 first, u64 second)
{
	unsigned int i, x, y;

	for (i = 0; i < ARRAY_SIZE(sweep_sources); i++) {
		const struct source *s = source_find(sweep_sources[i]);

		for (x = 0; x < NR_SAMPLE_BITS && !s->absent; x++) {
			struct tally *t;

			if (!(first >> x & 1))
				continue;
			t = tally_new();
			for (y = 0; y < NR_SAMPLE_BITS; y++) {
				struct perf_event_attr a;

				if (!(second >> y & 1) || (y <= x && first >> y & 1))
					continue;
				source_attr(s, &a);
				attr_set_bits(&a, 1);
				a.sample_period = 1000;
				a.sample_type = 1ull << x | 1ull << y;
				tally_add(t, res(try_open(&a)), "%s", sample_name[y]);
			}
			tally_say(t, "%s,%s", s->name, sample_name[x]);
		}
	}
}

static const u64 known_samples = (1ull << NR_SAMPLE_BITS) - 1;

static void attr_sample(void)
{
	sweep_samples(known_samples & ~driver_samples);
}

static void attr_sample_pairs(void)
{
	sweep_sample_pairs(known_samples & ~driver_samples, known_samples & ~driver_samples);
}

static void attr_sample_reserved(void)
{
	sweep_samples(~known_samples);
}

/* ---- read_format ---- */

static void attr_read_format(void)
{
	static const u64 bits[] = {
		0, 1ull << 1, 1ull << 18, 1ull << 11 | 1ull << 1, 1ull << 1 | 1ull << 35,
		1ull << 2, 1ull << 3,
	};
	static const char *const names[] = {
		"none", "inherit", "sample_id_all", "inherit+inherit_stat",
		"inherit+inherit_thread", "pinned", "exclusive",
	};
	static const u64 samples[] = { 0, PERF_SAMPLE_READ, PERF_SAMPLE_READ | PERF_SAMPLE_TID };
	unsigned int i, b, st, f;

	for (i = 0; i < ARRAY_SIZE(sweep_sources); i++) {
		const struct source *s = source_find(sweep_sources[i]);

		for (b = 0; b < ARRAY_SIZE(bits) * ARRAY_SIZE(samples) && !s->absent; b++) {
			struct tally *t = tally_new();
			struct perf_event_attr a;

			st = b % ARRAY_SIZE(samples);
			for (f = 0; f < 32 + 59; f++) {
				source_attr(s, &a);
				attr_set_bits(&a, bits[b / ARRAY_SIZE(samples)] | 1);
				a.sample_type = samples[st];
				a.sample_period = st ? 1000 : 0;
				a.read_format = f < 32 ? f : 1ull << (f - 32 + 5);
				tally_add(t, res(try_open(&a)), f < 32 ? "%x" : "bit%u",
					  f < 32 ? f : f - 32 + 5);
			}
			tally_say(t, "%s,%s,sample=%x", s->name, names[b / ARRAY_SIZE(samples)],
				  (unsigned int)samples[st]);
		}
	}
}

/* ---- ranges of the numeric members ---- */

static void sweep_u64(const char *name, size_t offset, u64 bits, u64 sample,
		      const u64 *values, unsigned int n)
{
	unsigned int i, v;

	for (i = 0; i < ARRAY_SIZE(sweep_sources); i++) {
		const struct source *s = source_find(sweep_sources[i]);
		struct tally *t;

		if (s->absent)
			continue;
		t = tally_new();
		for (v = 0; v < n; v++) {
			struct perf_event_attr a;

			source_attr(s, &a);
			attr_set_bits(&a, bits | 1);
			a.sample_type = sample;
			memcpy((char *)&a + offset, &values[v], 8);
			tally_add(t, res(try_open(&a)), "%llx", (unsigned long long)values[v]);
		}
		tally_say(t, "%s,%s", name, s->name);
	}
}

static void attr_period(void)
{
	static const u64 values[] = {
		0, 1, 2, 999, 10000000, 10000001, 10000250, 1ull << 31, 1ull << 32, 1ull << 62,
		(1ull << 63) - 1, 1ull << 63, (1ull << 63) + 1, ~0ull,
	};

	sweep_u64("period", 16, 0, 0, values, ARRAY_SIZE(values));
	sweep_u64("freq", 16, 1ull << 10, 0, values, ARRAY_SIZE(values));
	sweep_u64("period,inherit", 16, 1ull << 1, PERF_SAMPLE_PERIOD, values, ARRAY_SIZE(values));
	file_write("/proc/sys/kernel/perf_cpu_time_max_percent", "25");
	file_write("/proc/sys/kernel/perf_event_max_sample_rate", "5000");
	sweep_u64("freq,rate=5000", 16, 1ull << 10, 0, (const u64[]) { 4999, 5000, 5001, 9999 }, 4);
	sweep_u64("period,rate=5000", 16, 0, 0, (const u64[]) { 4999, 5000, 5001, 9999 }, 4);
	file_write("/proc/sys/kernel/perf_event_max_sample_rate", "10000000");
	file_write("/proc/sys/kernel/perf_cpu_time_max_percent", "100");
}

static void attr_regs(void)
{
	u64 single[66];
	unsigned int i;

	single[0] = 0;
	for (i = 0; i < 64; i++)
		single[i + 1] = 1ull << i;
	single[65] = ~0ull;
	sweep_u64("user", 80, 0, PERF_SAMPLE_REGS_USER, single, 66);
	sweep_u64("user,unasked", 80, 0, 0, single, 66);
	sweep_u64("intr", 96, 0, PERF_SAMPLE_REGS_INTR, single, 66);
	sweep_u64("intr,unasked", 96, 0, 0, single, 66);
	sweep_u64("both", 80, 0, PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_REGS_USER, single, 66);
}

static void attr_stack(void)
{
	/* sample_stack_user is the low half: the high one is clockid. */
	static const u64 values[] = {
		0, 1, 4, 7, 8, 9, 16, 256, 4096, 4097, 8192, 65520, 65527, 65528, 65529, 65535,
		65536, 131072, 0x7ffffff8, 0x80000000, 0xfffffff8, 0xffffffff,
	};

	sweep_u64("asked", 88, 0, PERF_SAMPLE_STACK_USER, values, ARRAY_SIZE(values));
	sweep_u64("unasked", 88, 0, 0, values, ARRAY_SIZE(values));
	sweep_u64("with-regs", 88, 0, PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER, values,
		  ARRAY_SIZE(values));
}

static void attr_clockid(void)
{
	u64 values[24];
	unsigned int i;

	for (i = 0; i < 20; i++)
		values[i] = (u64)i << 32;
	values[20] = 0xffffffffull << 32;
	values[21] = 0x80000000ull << 32;
	values[22] = 0x7fffffffull << 32;
	values[23] = 0x100ull << 32;
	sweep_u64("used", 88, 1ull << 25, 0, values, ARRAY_SIZE(values));
	sweep_u64("unused", 88, 0, 0, values, ARRAY_SIZE(values));
}

static void attr_max_stack(void)
{
	/* Low half is aux_watermark, then sample_max_stack, then a reserved short. */
	static const u64 stacks[] = {
		0, 1, 2, 126, 127, 128, 129, 1000, 32767, 32768, 65535,
	};
	u64 values[ARRAY_SIZE(stacks)];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(stacks); i++)
		values[i] = stacks[i] << 32;
	sweep_u64("callchain", 104, 0, PERF_SAMPLE_CALLCHAIN, values, ARRAY_SIZE(values));
	sweep_u64("no-callchain", 104, 0, 0, values, ARRAY_SIZE(values));
	values[0] = 1ull << 48;
	values[1] = 1ull << 63;
	values[2] = 0xffffull << 48;
	sweep_u64("reserved", 104, 0, 0, values, 3);
	file_write("/proc/sys/kernel/perf_event_max_stack", "200");
	values[0] = 128ull << 32;
	values[1] = 200ull << 32;
	values[2] = 201ull << 32;
	sweep_u64("sysctl=200", 104, 0, PERF_SAMPLE_CALLCHAIN, values, 3);
	file_write("/proc/sys/kernel/perf_event_max_stack", "127");
}

static void attr_wakeup(void)
{
	static const u64 values[] = { 0, 1, 4096, 0x80000000, 0xffffffff, 0xffffffff00000000,
		~0ull };

	sweep_u64("events", 48, 0, 0, values, ARRAY_SIZE(values));
	sweep_u64("watermark", 48, 1ull << 14, 0, values, ARRAY_SIZE(values));
}

const struct section attr_sections[] = {
	{ "attr-size", attr_size },
	{ "attr-pointer", attr_pointer },
	{ "attr-bits", attr_bits },
	{ "attr-bit-pairs", attr_bit_pairs },
	{ "attr-reserved", attr_reserved },
	{ "attr-words", attr_words },
	{ "attr-sample", attr_sample },
	{ "attr-sample-pairs", attr_sample_pairs },
	{ "attr-sample-reserved", attr_sample_reserved },
	{ "attr-read-format", attr_read_format },
	{ "attr-period", attr_period },
	{ "attr-regs", attr_regs },
	{ "attr-stack", attr_stack },
	{ "attr-clockid", attr_clockid },
	{ "attr-max-stack", attr_max_stack },
	{ "attr-wakeup", attr_wakeup },
	{ }
};
