// SPDX-License-Identifier: GPL-2.0
/*
 * arm64_clusters.c - PMUs that belong to some of the CPUs: events count on those alone, groups do
 * not mix them, and each interrupts where it has interrupts.
 *
 * What depends on the device tree is printed as "# fact", see scripts/lib/devicetree.py.
 *
 * needs: devicetree
 */
#include "lib/arm64.h"
#include <dirent.h>

#define TIMES	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)
#define MAX_PMUS	8

static struct cluster {
	char name[64];
	u32 type;
	u64 cpus;
} pmu[MAX_PMUS];
static unsigned int nr_pmus, nr_cpus;

static u64 parse_list(const char *text)
{
	u64 mask = 0;
	char *end;

	while (*text) {
		unsigned long first = strtoul(text, &end, 10), last = first;

		if (end == text)
			break;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (; first <= last; first++)
			mask |= 1ull << first;
		text = *end ? end + 1 : end;
	}
	return mask;
}

static int by_name(const void *a, const void *b)
{
	const struct cluster *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* Every CPU PMU; the case is skipped when there are fewer. */
static void need_pmus(unsigned int least)
{
	DIR *d = opendir(A64_DEVICES);
	struct dirent *e;

	pt_need(d, "no " A64_DEVICES);
	nr_pmus = 0;
	while ((e = readdir(d)) && nr_pmus < MAX_PMUS) {
		struct cluster *p = &pmu[nr_pmus];
		char path[512], text[256];

		if (strncmp(e->d_name, "armv", 4))
			continue;
		snprintf(path, sizeof(path), A64_DEVICES "%s/cpus", e->d_name);
		if (!pt_slurp(path, text, sizeof(text)))
			continue;
		snprintf(p->name, sizeof(p->name), "%.63s", e->d_name);
		p->type = (u32)pt_pmu_type(e->d_name);
		p->cpus = parse_list(text);
		nr_pmus++;
	}
	closedir(d);
	qsort(pmu, nr_pmus, sizeof(pmu[0]), by_name);
	nr_cpus = (unsigned int)pt_online_cpus();
	if (nr_pmus < least)
		pt_skip("%u PMUs of CPUs", nr_pmus);
}

static struct perf_event_attr cycles_of(const struct cluster *p)
{
	struct perf_event_attr attr = a64_raw(A64_CYCLES);

	attr.type = p->type;
	attr.disabled = 0;
	attr.read_format = TIMES;
	return attr;
}

/* Where does it count when its task goes round all CPUs? Nowhere, it has not run at all. */
static u64 counts_on(int fd)
{
	struct pt_read before, after;
	unsigned int cpu;
	u64 mask = 0;

	for (cpu = 0; cpu < nr_cpus; cpu++) {
		pt_pin((int)cpu);
		pt_read(fd, TIMES, 1, &before);
		pt_spin(100000);
		pt_read(fd, TIMES, 1, &after);
		pt_check(after.enabled > before.enabled, "on CPU %u it was not enabled", cpu);
		if (after.v[0].value == before.v[0].value)
			pt_eq(after.running, before.running);
		else
			mask |= 1ull << cpu;
	}
	return mask;
}

static void on_its_own_cpus_only(void)
{
	unsigned int i;

	need_pmus(1);
	for (i = 0; i < nr_pmus; i++) {
		struct perf_event_attr attr = cycles_of(&pmu[i]);
		int fd = pt_open(&attr, 0, -1, -1, 0);
		u64 mask = counts_on(fd);

		pt_check(mask == (pmu[i].cpus & ((1ull << nr_cpus) - 1)), "%s counts on %#llx",
			 pmu[i].name, (unsigned long long)mask);
		close(fd);
	}
}

/* All of them at once: each moment counts with one. */
static void one_in_each_cluster(void)
{
	struct pt_read before[MAX_PMUS], after[MAX_PMUS];
	unsigned int i, cpu;
	int fd[MAX_PMUS];

	need_pmus(2);
	for (i = 0; i < nr_pmus; i++) {
		struct perf_event_attr attr = cycles_of(&pmu[i]);

		fd[i] = pt_open(&attr, 0, -1, -1, 0);
	}
	for (cpu = 0; cpu < 2 * nr_cpus; cpu++) {
		unsigned int counted = 0;

		pt_pin((int)(cpu % nr_cpus));
		for (i = 0; i < nr_pmus; i++)
			pt_read(fd[i], TIMES, 1, &before[i]);
		pt_spin(100000);
		for (i = 0; i < nr_pmus; i++) {
			pt_read(fd[i], TIMES, 1, &after[i]);
			counted += after[i].v[0].value != before[i].v[0].value;
		}
		pt_eq(counted, 1);
	}
}

static void events_of_a_cpu(void)
{
	unsigned int i, cpu;

	need_pmus(1);
	for (i = 0; i < nr_pmus; i++) {
		for (cpu = 0; cpu < nr_cpus; cpu++) {
			struct perf_event_attr attr = cycles_of(&pmu[i]);
			int want = pmu[i].cpus >> cpu & 1 ? 0 : -ENOENT, pid;

			/* A CPU's events, and a task's on that CPU. */
			for (pid = -1; pid < 1; pid++) {
				int fd = pt_try_open(&attr, pid, (int)cpu, -1, 0);

				pt_check(want ? fd == want : fd >= 0, "%s on CPU %u: %d",
					 pmu[i].name, cpu, fd);
				if (fd >= 0)
					close(fd);
			}
		}
	}
}

/* A group's members are all counted or none. */
static void groups_do_not_mix(void)
{
	struct perf_event_attr a, b, sw = pt_attr(PT_SW(DUMMY));
	int lead;

	need_pmus(2);
	a = cycles_of(&pmu[0]);
	b = cycles_of(&pmu[1]);
	lead = pt_open(&a, 0, -1, -1, 0);
	pt_eq(pt_try_open(&b, 0, -1, lead, 0), -EINVAL);
	close(lead);
	lead = pt_open(&sw, 0, -1, -1, 0);
	pt_open(&b, 0, -1, lead, 0);
	pt_eq(pt_try_open(&a, 0, -1, lead, 0), -EINVAL);
	pt_open(&b, 0, -1, lead, 0);
}

/* A generic event is one PMU's, unless its number is said. */
static void generic_events(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(CPU_CYCLES));
	unsigned int i;
	int fd;

	need_pmus(1);
	attr.exclude_kernel = 1;
	attr.read_format = TIMES;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_msg("fact: generic events count on CPUs %#llx", (unsigned long long)counts_on(fd));
	for (i = 0; i < nr_pmus; i++) {
		attr.config = (u64)pmu[i].type << 32 | PERF_COUNT_HW_CPU_CYCLES;
		fd = pt_open(&attr, 0, -1, -1, 0);
		pt_eq(counts_on(fd), pmu[i].cpus & ((1ull << nr_cpus) - 1));
		close(fd);
	}
}

static void sampling(void)
{
	static struct pt_record rec;
	static struct pt_sample s;
	static struct pt_ring r;
	unsigned int i, cpu;

	need_pmus(1);
	for (i = 0; i < nr_pmus; i++) {
		struct perf_event_attr attr = a64_cycles(10007);
		u64 mask = 0, wrong = 0;
		int fd;

		attr.type = pmu[i].type;
		attr.config = A64_CYCLES;
		attr.disabled = 0;
		fd = pt_try_open(&attr, 0, -1, -1, 0);
		if (fd < 0) {
			pt_msg("fact: %s: sampling gives %d", pmu[i].name, fd);
			continue;
		}
		pt_map(&r, fd, 64);
		for (cpu = 0; cpu < nr_cpus; cpu++) {
			pt_pin((int)cpu);
			pt_drain(&r);
			pt_spin(2000000);
			while (pt_next_of(&r, &rec, PERF_RECORD_SAMPLE)) {
				pt_parse_sample(&attr, &rec, &s);
				mask |= 1ull << cpu;
				wrong += s.cpu != cpu;
			}
		}
		pt_eq(wrong, 0);
		pt_msg("fact: %s: samples on CPUs %#llx", pmu[i].name, (unsigned long long)mask);
		pt_unmap(&r);
		close(fd);
	}
}

static const struct pt_case cases[] = {
	{ "on_its_own_cpus_only", on_its_own_cpus_only },
	{ "one_in_each_cluster", one_in_each_cluster },
	{ "events_of_a_cpu", events_of_a_cpu },
	{ "groups_do_not_mix", groups_do_not_mix },
	{ "generic_events", generic_events },
	{ "sampling", sampling },
};

PT_MAIN(cases)
