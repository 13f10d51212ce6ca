// SPDX-License-Identifier: GPL-2.0
/*
 * Sections about samples: the size of a record with each sample bit, what its
 * fields hold, for page faults, tracepoints, breakpoints, probes, clocks and
 * the hardware counter.
 *
 * Addresses are compared with what is known and never printed. User call
 * chains depend on the compiler: only their first entries are looked at.
 */
#include "abi.h"

#define RW (PROT_READ | PROT_WRITE)
#define B_ID_ALL (1ull << 18)
#define B_NO_CHAIN_KERNEL (1ull << 21)
#define B_NO_CHAIN_USER (1ull << 22)

static int sampling(const char *source, u64 sample, u64 bits, u64 format, u64 period)
{
	struct perf_event_attr a;

	source_attr(source_find(source), &a);
	a.sample_type = sample;
	a.sample_period = period;
	a.read_format = format;
	if (sample & PERF_SAMPLE_REGS_USER)
		a.sample_regs_user = 7;
	if (sample & PERF_SAMPLE_REGS_INTR)
		a.sample_regs_intr = 3;
	if (sample & PERF_SAMPLE_STACK_USER)
		a.sample_stack_user = 256;
	attr_set_bits(&a, bits | 1);
	return pe_open(&a, 0, -1, -1, 0);
}

__attribute__((noinline)) static void touch_watched(unsigned int n)
{
	while (n--)
		watched[0] = n;
}

static void activity(const char *source, unsigned int n)
{
	if (!strncmp(source, "tp-", 3))
		getppid_times(n);
	else if (!strncmp(source, "bp-w", 4))
		touch_watched(n);
	else if (!strncmp(source, "bp-x", 4))
		while (n--)
			getppid_times(1);
	else
		make_faults(n);
}

static const char *const script_sources[] = {
	"sw-page-faults", "sw-minor-faults", "tp-getppid", "bp-w8", "bp-x8",
};

/* One record per event of the source: sizes with each sample bit alone. */
static void sample_sizes(void)
{
	unsigned int i, b, all;

	for (i = 0; i < ARRAY_SIZE(script_sources); i++)
		for (b = 0; b <= NR_SAMPLE_BITS; b++)
			for (all = 0; all < 2; all++) {
				u64 sample = b < NR_SAMPLE_BITS ? 1ull << b : 0;
				/* User chains vary with the compiler: none here. */
				u64 bits = (all ? B_ID_ALL : 0) | B_NO_CHAIN_USER;
				const char *source = script_sources[i];
				char name[64];
				struct ring r;
				int fd;

				if (sample & driver_samples || source_find(source)->absent)
					continue;
				fd = sampling(source, sample, bits, 0, 1);
				snprintf(name, sizeof(name), "%s,%s%s", source,
					 sample ? sample_name[b] : "none", all ? ",all" : "");
				if (fd < 0) {
					say(name, "%s", res(fd));
					continue;
				}
				ring_map(&r, fd, 4, RW);
				activity(source, 1);
				ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
				activity(source, 3);
				ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
				ring_take(&r);
				/*
				 * The kernel's chain of a tracepoint or an execute
				 * breakpoint is as deep as the compiler made it.
				 */
				if (sample == PERF_SAMPLE_CALLCHAIN)
					say(name, "%llu records",
					    (unsigned long long)ring_count(&r, PERF_RECORD_SAMPLE));
				else
					say(name, "%s", ring_story(&r));
				ring_unmap(&r);
				close(fd);
			}
}

static void sample_combos(void)
{
	static const u64 combos[] = {
		PERF_SAMPLE_IP | PERF_SAMPLE_TID,
		PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD,
		PERF_SAMPLE_TID | PERF_SAMPLE_CPU, PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER,
		PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_IDENTIFIER,
		PERF_SAMPLE_READ | PERF_SAMPLE_ID, PERF_SAMPLE_READ | PERF_SAMPLE_RAW,
		PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER, PERF_SAMPLE_RAW | PERF_SAMPLE_STACK_USER,
		PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR,
		PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_INTR,
		PERF_SAMPLE_ADDR | PERF_SAMPLE_READ | PERF_SAMPLE_STACK_USER,
		PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
		PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
		PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
		PERF_SAMPLE_READ | PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
		PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER |
		PERF_SAMPLE_STACK_USER | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_REGS_INTR,
	};
	static const u64 formats[] = { 0, 4, 7, 8, 15, 31 };
	unsigned int i, c, f;

	for (i = 0; i < ARRAY_SIZE(script_sources); i++)
		for (c = 0; c < ARRAY_SIZE(combos); c++)
			for (f = 0; f < ARRAY_SIZE(formats); f++) {
				const char *source = script_sources[i];
				char name[64];
				struct ring r;
				int fd;

				if (source_find(source)->absent ||
				    (formats[f] && !(combos[c] & PERF_SAMPLE_READ)))
					continue;
				fd = sampling(source, combos[c], B_ID_ALL, formats[f], 1);
				snprintf(name, sizeof(name), "%s,sample=%x,format=%x", source,
					 (unsigned int)combos[c], (unsigned int)formats[f]);
				if (fd < 0) {
					say(name, "%s", res(fd));
					continue;
				}
				ring_map(&r, fd, 4, RW);
				activity(source, 1);
				ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
				activity(source, 2);
				ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
				ring_take(&r);
				say(name, "%s", ring_story(&r));
				ring_unmap(&r);
				close(fd);
			}
}

/* The fields of a page-fault sample against what is known of the fault. */
static void sample_values(void)
{
	u64 sample = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		     PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
		     PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ;
	int fd = sampling("sw-page-faults", sample, 0, PERF_FORMAT_ID |
			  PERF_FORMAT_TOTAL_TIME_ENABLED |
			  PERF_FORMAT_TOTAL_TIME_RUNNING, 1);
	uintptr_t text = (uintptr_t)fault_touch;
	u64 id = event_id(fd), n = 0, last = 0;
	unsigned char *area;
	struct ring r;
	struct rec rec;
	size_t pos = 0;

	ring_map(&r, fd, 4, RW);
	area = fault_area(4);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	fault_touch(area, 4);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	ring_take(&r);
	while (ring_next(&r, &pos, &rec)) {
		const u64 *v = rec.body;
		u32 tid[2], cpu[2];
		char name[16];

		memcpy(tid, v + 2, 8);
		memcpy(cpu, v + 7, 8);
		snprintf(name, sizeof(name), "sample%u", (unsigned int)n);
		say(name, "identifier %d ip %d pid %d tid %d time %d addr %d id %d stream %d",
		    v[0] == id, v[1] >= text && v[1] < text + 512, tid[0] == (u32)getpid(),
		    tid[1] == (u32)getpid(), v[3] > last,
			    v[4] == (u64)(uintptr_t)area + n * page_size,
		    v[5] == id, v[6] == id);
		say(name, "cpu %u,%u period %llu read: count %llu running=enabled %d enabled>0 %d id %d",
		    cpu[0], cpu[1], (unsigned long long)v[8], (unsigned long long)v[9],
		    v[10] == v[11], v[10] > 0, v[12] == id);
		last = v[3];
		n++;
	}
	ring_unmap(&r);
	close(fd);
}

/* ---- call chains ---- */

static void chain_one(const char *source, u64 bits, u16 max, const char *label)
{
	struct perf_event_attr a;
	unsigned int users = 0, kernels = 0, others = 0;
	struct rec rec;
	struct ring r;
	size_t pos = 0;
	char name[64];
	int fd;

	if (source_find(source)->absent)
		return;
	source_attr(source_find(source), &a);
	a.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
	a.sample_period = 1;
	a.sample_max_stack = max;
	attr_set_bits(&a, bits | 1);
	fd = must_open(&a);
	ring_map(&r, fd, 4, RW);
	activity(source, 1);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	activity(source, 1);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	ring_take(&r);
	snprintf(name, sizeof(name), "%s,%s", source, label);
	if (!ring_next(&r, &pos, &rec)) {
		say(name, "no record");
	} else {
		u64 nr = rec.body[1], i, first_user = 0, in_kernel = 0, marks = 0;

		for (i = 0; i < nr; i++) {
			u64 ip = rec.body[2 + i];

			if (ip == (u64)PERF_CONTEXT_USER) {
				users++;
				marks++;
				if (i + 1 < nr && !first_user)
					first_user = rec.body[3 + i];
			} else if (ip == (u64)PERF_CONTEXT_KERNEL) {
				kernels++;
				marks++;
			} else if (ip >= PERF_CONTEXT_MAX) {
				others++;
				marks++;
			} else if (ip >> 63) {
				in_kernel++;
			}
		}
		say(name, "size-fits %d user-mark %u kernel-mark %u other %u kernel-ips %d within %d",
		    rec.h->size == 8 + 8 + 8 + nr * 8, users, kernels, others, in_kernel > 0,
		    !max || nr - marks <= max);
		if (first_user && !strncmp(source, "sw-", 3))
			say(name, "first user ip is ip %d", first_user == rec.body[0]);
		if (!nr)
			say(name, "empty chain");
	}
	ring_unmap(&r);
	close(fd);
}

static void sample_callchain(void)
{
	static const char *const sources[] = { "sw-page-faults", "tp-getppid", "bp-w8" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sources); i++) {
		chain_one(sources[i], 0, 0, "both");
		chain_one(sources[i], B_NO_CHAIN_KERNEL, 0, "no-kernel");
		chain_one(sources[i], B_NO_CHAIN_USER, 0, "no-user");
		chain_one(sources[i], B_NO_CHAIN_USER | B_NO_CHAIN_KERNEL, 0, "neither");
		chain_one(sources[i], 0, 1, "max-1");
		chain_one(sources[i], 0, 2, "max-2");
		chain_one(sources[i], 1ull << 5, 0, "exclude-kernel");
	}
}

/* ---- registers and stack ---- */

static void sample_regs(void)
{
	static const u64 masks[] = { 1, 3, 0xff, 0x1ff };
	struct perf_event_attr a;
	unsigned int m;
	struct rec rec;
	struct ring r;
	size_t pos;
	int fd;

	for (m = 0; m < ARRAY_SIZE(masks); m++) {
		char name[32];

		attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
		a.sample_period = 1;
		a.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |
			PERF_SAMPLE_REGS_INTR;
		a.sample_regs_user = masks[m];
		a.sample_regs_intr = masks[m];
		a.sample_stack_user = 64;
		attr_set_bits(&a, 1);
		fd = must_open(&a);
		ring_map(&r, fd, 4, RW);
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		make_faults(1);
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		ring_take(&r);
		pos = 0;
		snprintf(name, sizeof(name), "mask=%x", (unsigned int)masks[m]);
		if (!ring_next(&r, &pos, &rec)) {
			say(name, "no record");
		} else {
			unsigned int regs = __builtin_popcountll(masks[m]);
			const u64 *v = rec.body;
			u64 stack = v[1 + regs];

			/* The user was interrupted: both sets are the same registers. */
			say(name, "size %u abi %llu stack %llu dyn %llu intr-abi %llu same %d",
			    rec.h->size, (unsigned long long)v[0], (unsigned long long)stack,
			    (unsigned long long)v[2 + regs + stack / 8],
			    (unsigned long long)v[3 + regs + stack / 8],
			    !memcmp(v + 1, v + 4 + regs + stack / 8, regs * 8));
		}
		ring_unmap(&r);
		close(fd);
	}
	/* A thread of the kernel's making has no user registers: none sampled. */
	for (m = 8; m <= 4096; m *= 8) {
		char name[32];

		attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
		a.sample_period = 1;
		a.sample_type = PERF_SAMPLE_STACK_USER;
		a.sample_stack_user = m;
		attr_set_bits(&a, 1);
		fd = must_open(&a);
		ring_map(&r, fd, 8, RW);
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		{
			/* Room enough above: the main thread's stack ends somewhere. */
			volatile char room[8192];

			room[0] = 0;
			room[8191] = 0;
			make_faults(1);
			(void)room[0];
		}
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		ring_take(&r);
		snprintf(name, sizeof(name), "stack=%u", m);
		say(name, "%s", ring_story(&r));
		ring_unmap(&r);
		close(fd);
	}
}

/* ---- groups in samples ---- */

static void sample_read(void)
{
	static const u64 formats[] = { 0, 1, 3, 4, 8, 9, 11, 12, 15, 16, 20, 24, 28, 31 };
	unsigned int f, members, i;

	for (f = 0; f < ARRAY_SIZE(formats); f++)
		for (members = 1; members <= 4; members += 3) {
			struct perf_event_attr a;
			int fds[4];
			char name[48];
			struct ring r;
			struct rec rec;
			size_t pos = 0;

			attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
			a.read_format = formats[f];
			for (i = 0; i < members; i++) {
				a.sample_period = i ? 0 : 1;
				a.sample_type = i ? 0 : PERF_SAMPLE_READ;
				attr_set_bits(&a, i ? 0 : 1);
				fds[i] = pe_open(&a, 0, -1, i ? fds[0] : -1, 0);
				if (fds[i] < 0)
					die("group");
			}
			ring_map(&r, fds[0], 4, RW);
			ioctl(fds[0], PERF_EVENT_IOC_ENABLE, 0);
			make_faults(2);
			ioctl(fds[0], PERF_EVENT_IOC_DISABLE, 0);
			ring_take(&r);
			snprintf(name, sizeof(name), "format=%x,members=%u",
				 (unsigned int)formats[f],
				 members);
			say(name, "%s", ring_story(&r));
			if (ring_next(&r, &pos, &rec))
				say(name, "first word %llu", (unsigned long long)rec.body[0]);
			ring_unmap(&r);
			for (i = 0; i < members; i++)
				close(fds[i]);
		}
}

/* ---- clocks and hardware: how many is chance, that there are some is not ---- */

static void timed(const char *source, u64 bits, u64 period, const char *label, bool busy)
{
	struct perf_event_attr a;
	unsigned int bad_size = 0, kernel = 0, other = 0, n = 0, sorted = 1;
	u64 last = 0, id, end;
	struct rec rec;
	struct ring r;
	size_t pos = 0;
	char name[64];
	int fd;

	if (source_find(source)->absent)
		return;
	source_attr(source_find(source), &a);
	a.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD |
		PERF_SAMPLE_IDENTIFIER;
	a.sample_period = period;
	attr_set_bits(&a, bits | 1);
	snprintf(name, sizeof(name), "%s,%s", source, label);
	fd = pe_open(&a, 0, -1, -1, 0);
	if (fd < 0) {
		say(name, "%s", res(fd));
		return;
	}
	id = event_id(fd);
	ring_map(&r, fd, 64, RW);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	/* As long as it takes: on a loaded host the guest loses time. */
	end = now_ns() + 3000000000ull;
	do {
		if (busy)
			spin_ms(5);
		else
			getppid_times(1000);
	} while (r.page->data_head < 12 * 40 && now_ns() < end);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	ring_take(&r);
	while (ring_next(&r, &pos, &rec)) {
		unsigned int mode = rec.h->misc & PERF_RECORD_MISC_CPUMODE_MASK;

		n++;
		if (rec.h->type != PERF_RECORD_SAMPLE)
			continue;
		bad_size += rec.h->size != 40 || rec.body[0] != id;
		kernel += mode == PERF_RECORD_MISC_KERNEL;
		other += mode != PERF_RECORD_MISC_USER && mode != PERF_RECORD_MISC_KERNEL;
		sorted &= rec.body[2] >= last;
		last = rec.body[2];
	}
	say(name, "some %d bad %u other-mode %u sorted %d", n > 5, bad_size, other, sorted);
	if (bits & 1ull << 5)
		say(name, "kernel samples %u", kernel);
	ring_unmap(&r);
	close(fd);
}

static void sample_clocks(void)
{
	timed("sw-cpu-clock", 0, 1000000, "period", true);
	timed("sw-task-clock", 0, 1000000, "period", true);
	timed("sw-cpu-clock", 1ull << 10, 1000, "freq", true);
	timed("sw-task-clock", 1ull << 10, 1000, "freq", true);
	timed("sw-cpu-clock", 1ull << 5, 1000000, "nokernel", true);
	timed("hw-cycles", 0, 1000000, "period", true);
	timed("hw-cycles", 1ull << 10, 1000, "freq", true);
	timed("hw-cycles", 1ull << 4, 100000, "nouser", false);
	timed("hw-cycles", 1ull << 5, 100000, "nokernel", true);
}

/* ---- probes ---- */

__attribute__((noinline, noclone)) static void probed(volatile unsigned int *n)
{
	(*n)++;
}

static unsigned long file_offset(uintptr_t address)
{
	unsigned long from, to, offset, found = 0;
	char line[512];
	FILE *f = fopen("/proc/self/maps", "r");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %*s %lx", &from, &to, &offset) == 3 && address >= from &&
		    address < to)
			found = address - from + offset;
	if (f)
		fclose(f);
	return found;
}

static void probe_run(const char *name, struct perf_event_attr *a, unsigned int n)
{
	volatile unsigned int count = 0;
	struct ring r;
	int fd;

	a->sample_period = 1;
	a->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_RAW;
	attr_set_bits(a, 1);
	fd = pe_open(a, 0, -1, -1, 0);
	if (fd < 0) {
		say(name, "%s", res(fd));
		return;
	}
	ring_map(&r, fd, 4, RW);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	while (n--) {
		getppid_times(1);
		probed(&count);
	}
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	ring_take(&r);
	say(name, "%s count %llu", ring_story(&r), (unsigned long long)read_count(fd));
	ring_unmap(&r);
	close(fd);
}

static void sample_probes(void)
{
	static const char *const functions[] = { "__x64_sys_getppid", "__arm64_sys_getppid" };
	const struct source *k = source_find("pmu-kprobe"), *u = source_find("pmu-uprobe");
	unsigned int ret, i;

	for (ret = 0; ret < 2 && !k->absent; ret++)
		for (i = 0; i < ARRAY_SIZE(functions); i++) {
			struct perf_event_attr a;
			char name[48];

			attr_init(&a, k->type, ret);
			a.config1 = (u64)(uintptr_t)functions[i];
			snprintf(name, sizeof(name), "kprobe%s,%s", ret ? "-return" : "",
				 functions[i]);
			probe_run(name, &a, 5);
		}
	for (ret = 0; ret < 2 && !u->absent; ret++) {
		struct perf_event_attr a;

		attr_init(&a, u->type, ret);
		a.config1 = (u64)(uintptr_t)self_path;
		a.config2 = file_offset((uintptr_t)probed);
		probe_run(ret ? "uprobe-return" : "uprobe", &a, 5);
	}
}

static void branch(void)
{
	static const char *const sources[] = { "sw-page-faults", "hw-cycles", "tp-getppid",
		"bp-w8" };
	unsigned int i, b, bits;

	for (i = 0; i < ARRAY_SIZE(sources); i++)
		for (bits = 0; bits < 3; bits++) {
			const struct source *s = source_find(sources[i]);
			struct tally *t;

			if (s->absent)
				continue;
			t = tally_new();
			for (b = 0; b < 65; b++) {
				struct perf_event_attr a;

				source_attr(s, &a);
				a.sample_type = PERF_SAMPLE_BRANCH_STACK;
				a.sample_period = 100000;
				a.branch_sample_type = b < 64 ? 1ull << b : 0;
				attr_set_bits(&a, 1 | (bits ? 8ull << bits : 0));
				tally_add(t, res(try_open(&a)), "%u", b);
			}
			tally_say(t, "%s,%s,bit", sources[i], bits == 1 ? "nouser" :
				  bits == 2 ? "nokernel" : "both");
		}
}

const struct section sample_sections[] = {
	{ "sample-sizes", sample_sizes },
	{ "sample-combos", sample_combos },
	{ "sample-values", sample_values },
	{ "sample-callchain", sample_callchain },
	{ "sample-regs", sample_regs },
	{ "sample-read", sample_read },
	{ "sample-clocks", sample_clocks },
	{ "sample-probes", sample_probes },
	{ "branch", branch },
	{ }
};
