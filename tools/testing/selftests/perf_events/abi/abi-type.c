// SPDX-License-Identifier: GPL-2.0
/*
 * Sections about type and config: every source opened in every place, the
 * range of generic and cache configs, types, breakpoints and probe PMUs.
 */
#include "abi.h"

static void type_sources(void)
{
	unsigned int i;

	for (i = 0; i < nr_sources; i++) {
		const struct source *s = &sources[i];
		struct perf_event_attr a;
		u64 value[8];
		int fd, task, cpu;
		long n = -1;

		if (s->apart)
			continue;
		if (s->absent) {
			say(s->name, "absent");
			continue;
		}
		source_attr(s, &a);
		fd = pe_open(&a, 0, -1, -1, 0);
		task = fd < 0 ? fd : 0;
		if (fd >= 0) {
			n = neg(read(fd, value, sizeof(value)));
			close(fd);
		}
		cpu = try_open_at(&a, -1, 0, -1, 0);
		if (task)
			say(s->name, "task %s cpu %s", res(task), res(cpu));
		else
			say(s->name, "task ok reads %ld cpu %s", n, res(cpu));
	}
}

static void type_sampling(void)
{
	unsigned int i;

	for (i = 0; i < nr_sources; i++) {
		const struct source *s = &sources[i];
		struct perf_event_attr a;
		struct tally *t;
		unsigned int freq;

		if (s->absent || s->apart || s->slow)
			continue;
		t = tally_new();
		for (freq = 0; freq < 4; freq++) {
			source_attr(s, &a);
			a.sample_period = 1000;
			a.sample_type = PERF_SAMPLE_IP;
			attr_set_bits(&a, (u64)(freq & 1) << 10);
			tally_add(t, res(try_open_at(&a, freq & 2 ? -1 : 0, freq & 2 ? 0 : -1,
						     -1, 0)),
				  "%s-%s", freq & 1 ? "freq" : "period", freq & 2 ? "cpu" : "task");
		}
		tally_say(t, "%s", s->name);
	}
}

static void sweep_config(const char *name, u32 type, u64 from, u64 to, u64 step)
{
	struct tally *t = tally_new();
	u64 c;

	for (c = from; c < to; c += step) {
		struct perf_event_attr a;

		attr_init(&a, type, c);
		tally_add(t, res(try_open(&a)), "%llx", (unsigned long long)c);
	}
	tally_say(t, "%s", name);
}

static void type_config(void)
{
	struct perf_event_attr a;
	struct tally *t;
	char name[32];
	u32 type;
	u64 op;

	sweep_config("software-low", PERF_TYPE_SOFTWARE, 0, 10, 1);
	sweep_config("software-after", PERF_TYPE_SOFTWARE, 11, 40, 1);
	sweep_config("software-shifted", PERF_TYPE_SOFTWARE, 1ull << 32, 16ull << 32, 1ull << 32);
	sweep_config("hardware", PERF_TYPE_HARDWARE, 0, 40, 1);
	sweep_config("hardware-pmu", PERF_TYPE_HARDWARE, 0, 16ull << 32, 1ull << 32);
	for (op = 0; op < 8; op++) {
		snprintf(name, sizeof(name), "cache-%u", (unsigned int)op);
		sweep_config(name, PERF_TYPE_HW_CACHE, op, 0x40000 + op, 0x100);
	}
	sweep_config("raw", PERF_TYPE_RAW, 0, 0x100, 1);
	sweep_config("tracepoint-high", PERF_TYPE_TRACEPOINT, 0x10000000, 0x10000010, 1);
	t = tally_new();
	for (type = 6; type < 40; type++) {
		unsigned int i;
		bool known = false;

		/* Dynamic types are given in order of registration: by name elsewhere. */
		for (i = 0; i < nr_sources; i++)
			known |= !sources[i].absent && sources[i].type == type;
		if (known)
			continue;
		attr_init(&a, type, 0);
		if (type >= 24)
			tally_add(t, res(try_open(&a)), "%u", type);
	}
	tally_say(t, "types");
}

static void type_breakpoint(void)
{
	static const unsigned int types[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 0x80000000 };
	static const u64 lens[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 32, 64, ~0ull };
	static const unsigned int shifts[] = { 0, 1, 2, 3, 4, 7 };
	struct perf_event_attr a;
	unsigned int i, j, k;
	int fds[40];

	for (i = 0; i < ARRAY_SIZE(types); i++)
		for (j = 0; j < ARRAY_SIZE(shifts); j++) {
			struct tally *t = tally_new();

			for (k = 0; k < ARRAY_SIZE(lens); k++) {
				attr_init(&a, PERF_TYPE_BREAKPOINT, 0);
				a.bp_type = types[i];
				a.bp_addr = (u64)(uintptr_t)watched + shifts[j];
				a.bp_len = lens[k];
				tally_add(t, res(try_open(&a)), "%lld", (long long)lens[k]);
			}
			tally_say(t, "type=%x,addr+%u,len", types[i], shifts[j]);
		}
	for (i = 0; i < 3; i++) {
		static const u64 addrs[] = { 0, 1ull << 47, ~0ull << 20 };
		struct tally *t = tally_new();

		for (k = 0; k < ARRAY_SIZE(lens); k++) {
			attr_init(&a, PERF_TYPE_BREAKPOINT, 0);
			a.bp_type = HW_BREAKPOINT_W;
			a.bp_addr = addrs[i];
			a.bp_len = lens[k];
			tally_add(t, res(try_open(&a)), "%lld", (long long)lens[k]);
			attr_set_bits(&a, 1ull << 5);
			tally_add(t, res(try_open(&a)), "nokernel%lld", (long long)lens[k]);
		}
		tally_say(t, "addr%u,len", i);
	}
	attr_init(&a, PERF_TYPE_BREAKPOINT, 1);
	a.bp_type = HW_BREAKPOINT_W;
	a.bp_addr = (u64)(uintptr_t)watched;
	a.bp_len = 8;
	say("config=1", "%s", res(try_open(&a)));
	a.config = 0;
	/* How many fit. */
	for (i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = pe_open(&a, 0, -1, -1, 0);
		if (fds[i] < 0)
			break;
	}
	say("slots", "%u then %s", i, i < ARRAY_SIZE(fds) ? res(fds[i]) : "more");
	if (i) {
		say("cpu-while-full", "%s", res(try_open_at(&a, -1, 0, -1, 0)));
		close(fds[--i]);
		say("one-again", "%s", res(try_open(&a)));
	}
	while (i)
		close(fds[--i]);
}

static int probe_open(const struct source *s, u64 config, const void *config1, u64 config2)
{
	struct perf_event_attr a;

	attr_init(&a, s->type, config);
	a.config1 = (u64)(uintptr_t)config1;
	a.config2 = config2;
	return try_open(&a);
}

static void type_probe(void)
{
	const struct source *k = source_find("pmu-kprobe"), *u = source_find("pmu-uprobe");
	struct perf_event_attr a;

	if (k->absent) {
		say("kprobe", "absent");
	} else {
		say("kprobe-entry", "%s", res(probe_open(k, 0, "do_exit", 0)));
		say("kprobe-return", "%s", res(probe_open(k, 1, "do_exit", 0)));
		say("kprobe-config2", "%s", res(probe_open(k, 2, "do_exit", 0)));
		say("kprobe-unknown", "%s", res(probe_open(k, 0, "no_such_function", 0)));
		say("kprobe-empty", "%s", res(probe_open(k, 0, "", 0)));
		say("kprobe-bad-pointer", "%s", res(probe_open(k, 0, (void *)8, 0)));
		say("kprobe-address-0", "%s", res(probe_open(k, 0, NULL, 0)));
		say("kprobe-address-8", "%s", res(probe_open(k, 0, NULL, 8)));
		say("kprobe-return-offset", "%s", res(probe_open(k, 1, "do_exit", 0x21)));
		attr_init(&a, k->type, 0);
		a.config1 = (u64)(uintptr_t)"do_exit";
		say("kprobe-cpu", "%s", res(try_open_at(&a, -1, 0, -1, 0)));
		a.sample_period = 1;
		a.sample_type = PERF_SAMPLE_RAW;
		say("kprobe-sampling", "%s", res(try_open(&a)));
	}
	if (u->absent) {
		say("uprobe", "absent");
		return;
	}
	say("uprobe-unknown", "%s", res(probe_open(u, 0, "/no/such/file", 0)));
	say("uprobe-empty", "%s", res(probe_open(u, 0, "", 0)));
	say("uprobe-bad-pointer", "%s", res(probe_open(u, 0, (void *)8, 0)));
	say("uprobe-null", "%s", res(probe_open(u, 0, NULL, 0)));
	say("uprobe-directory", "%s", res(probe_open(u, 0, "/tmp", 0)));
	say("uprobe-device", "%s", res(probe_open(u, 0, "/dev/null", 0)));
	say("uprobe-beyond", "%s", res(probe_open(u, 0, "/proc/self/exe", 1ull << 40)));
	say("uprobe-bad-bits", "%s", res(probe_open(u, 2, "/proc/self/exe", 0)));
}

const struct section type_sections[] = {
	{ "type-sources", type_sources },
	{ "type-sampling", type_sampling },
	{ "type-config", type_config },
	{ "type-breakpoint", type_breakpoint },
	{ "type-probe", type_probe },
	{ }
};
