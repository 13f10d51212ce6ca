// SPDX-License-Identifier: GPL-2.0
/*
 * format_pfm.c - format "pfm": each sample and all of its fields, what happens when the area is
 * full, what it refuses. By counters of hardware: counter_formats.c.
 *
 * needs: smp
 */
#include "lib/sets.h"
#include "lib/format.h"

#define PERIOD	10
#define HEAD	sizeof(struct perf_ext_pfm)
#define SAMPLE	sizeof(struct perf_ext_pfm_sample)

static struct perf_event_attr faults(u64 type)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.sample_period = PERIOD;
	attr.sample_type = type;
	attr.disabled = 1;
	return attr;
}

static int start(struct perf_event_attr attr)
{
	int fd;

	ext_need();
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_settle();
	return fd;
}

/* What is asked for is there, and the rest is 0. */
static void fields(void)
{
	const u64 type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
			 PERF_SAMPLE_CPU | PERF_SAMPLE_READ;
	const struct perf_ext_pfm_sample *s;
	const struct perf_ext_pfm *h;
	struct pt_area a;
	int fd, i, cpu = pt_online_cpus() - 1;
	u64 time = 0;

	pt_pin(cpu);
	fd = start(faults(type));
	format_pfm(&a, fd, 4096, 0);
	pt_enable(fd);
	pt_fault(100);
	pt_disable(fd);
	h = format_flip(&a);
	pt_eq(h->used, 10 * (SAMPLE + 8));
	pt_eq(h->lost, 0);
	for (i = 0; i < 10; i++) {
		s = pfm_sample(h, i);
		pt_eq(s->size, SAMPLE + 8);
		pt_eq(s->cpu, cpu);
		pt_eq(s->pid, getpid());
		pt_eq(s->tid, pt_tid());
		pt_check(s->ip, "no address");
		pt_check(s->time > time, "time %llu after %llu", (unsigned long long)s->time,
			 (unsigned long long)time);
		pt_eq(s->period, PERIOD);
		pt_eq(s->id, pt_id(fd));
		pt_eq(s->read[0], (i + 1) * PERIOD);
		time = s->time;
	}
	format_close(&a);
	close(fd);

	fd = start(faults(0));
	format_pfm(&a, fd, 4096, 0);
	pt_enable(fd);
	pt_fault(10);
	h = format_flip(&a);
	s = pfm_sample(h, 0);
	pt_eq(h->used, SAMPLE);
	pt_eq(s->size, SAMPLE);
	pt_eq(s->period, PERIOD);
	pt_eq(s->ip | s->time | s->id | s->pid | s->tid, 0);
}

/* The period that is told is the one that was counted, also of the first without a rule. */
static void without_a_rule_again(void)
{
	struct perf_ext_periods rule = { .short_period = 3 * PERIOD }, none = {};
	const struct perf_ext_pfm *h;
	struct pt_area a;
	int fd = start(faults(0));

	format_pfm(&a, fd, 4096, 0);
	pt_eq(ext_periods(fd, &rule), 0);
	pt_eq(ext_periods(fd, &none), 0);
	pt_enable(fd);
	pt_fault(PERIOD);
	pt_disable(fd);
	h = format_flip(&a);
	pt_eq(h->used, SAMPLE);
	pt_eq(pfm_sample(h, 0)->period, PERIOD);
}

/* What finds no room is lost, and counted everywhere; the reader hears of the end once. */
static void full(void)
{
	struct perf_event_attr attr = faults(PERF_SAMPLE_TID);
	const struct perf_ext_pfm *h;
	struct pt_area a;
	u64 value[2];
	int fd;

	attr.read_format = PERF_FORMAT_LOST;
	fd = start(attr);
	format_pfm(&a, fd, HEAD + 10 * SAMPLE + 40, 0);
	pt_eq(a.head->bytes, HEAD + 10 * SAMPLE + 40);
	pt_enable(fd);
	pt_fault(99);
	pt_check(!format_told(&a, POLLIN), "POLLIN too early");
	pt_fault(1);
	pt_check(format_told(&a, POLLIN), "POLLIN missing");
	pt_fault(900);
	pt_check(!format_told(&a, POLLIN), "POLLIN again");
	pt_disable(fd);
	h = format_flip(&a);
	pt_eq(h->used, 10 * SAMPLE);
	pt_eq(h->lost, 90);
	pt_eq(a.head->samples, 100);
	pt_eq(a.head->lost, 90);
	pt_need(read(fd, value, sizeof(value)) == sizeof(value), "read: %s", strerror(errno));
	pt_eq(value[0], 1000);
	pt_eq(value[1], 90);
}

static void restart(int fd)
{
	struct perf_ext_restart r = {};

	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_RESTART, pt_addr(&r)), 0);
}

/* The group stops with the last sample that there is room for, until it is read. */
static void stops(void)
{
	const struct perf_ext_pfm *h;
	struct pt_area a;
	int fd = start(faults(PERF_SAMPLE_TID)), i;

	format_pfm(&a, fd, HEAD + 10 * SAMPLE, PERF_EXT_PFM_STOP);
	pt_enable(fd);
	for (i = 1; i <= 3; i++) {
		pt_fault(500);
		pt_eq(pt_count(fd), i * 100);
		pt_check(format_told(&a, POLLIN), "POLLIN missing");
		h = format_flip(&a);
		pt_eq(h->used, 10 * SAMPLE);
		pt_eq(h->lost, 0);
		restart(fd);
	}
	pt_fault(500);
	restart(fd);			/* and there is no room yet */
	pt_fault(500);
	pt_eq(pt_count(fd), 410);
	h = format_flip(&a);
	pt_eq(h->used, 10 * SAMPLE);
	pt_eq(h->lost, 1);
}

/* Two sets of a ring write to one area: whose turn it was is told by the id of each sample. */
static void sets(void)
{
	static const u8 pfm[16] = PERF_EXT_FORMAT_PFM;
	struct perf_event_attr attr = faults(PERF_SAMPLE_ID | PERF_SAMPLE_READ);
	const struct perf_ext_pfm_sample *s;
	const struct perf_ext_pfm *h;
	struct pt_area a;
	int one, two, i;

	one = start(attr);
	attr.sample_period = PERIOD / 2;
	two = pt_open(&attr, 0, -1, -1, 0);
	format_pfm(&a, one, 8192, 0);
	pt_eq(format_share(&a, two, pfm), 0);
	pt_eq(set_trigger(one, 1), 0);
	pt_eq(set_trigger(two, 2), 0);
	pt_eq(set_join(one, -1, 0), 0);
	pt_eq(set_join(two, one, 1), 0);
	pt_enable(two);
	pt_enable(one);
	pt_fault(15 * 2 * PERIOD);
	pt_disable(one);
	pt_disable(two);
	h = format_flip(&a);
	pt_eq(h->used, 45 * (SAMPLE + 8));
	for (i = 0; i < 45; i++) {
		s = pfm_sample(h, i);
		if (i % 3) {
			pt_eq(s->id, pt_id(two));
			pt_eq(s->period, PERIOD / 2);
			pt_eq(s->read[0], (i / 3 * 2 + i % 3) * PERIOD / 2);
		} else {
			pt_eq(s->id, pt_id(one));
			pt_eq(s->period, PERIOD);
			pt_eq(s->read[0], (i / 3 + 1) * PERIOD);
		}
	}
	pt_eq(a.head->samples, 45);
	pt_eq(a.head->lost, 0);
}

/* 0 is a descriptor like others, of an area, too. */
static void descriptor_0(void)
{
	struct pt_area a;
	int fd = fcntl(start(faults(0)), F_DUPFD, 3);

	pt_need(fd >= 3, "F_DUPFD: %s", strerror(errno));
	close(0);
	format_pfm(&a, fd, 4096, 0);
	pt_eq(a.fd, 0);
	pt_enable(fd);
	pt_fault(PERIOD);
	pt_disable(fd);
	pt_eq(a.head->samples, 1);
	format_close(&a);
}

static void pfm_refused(int fd, struct perf_ext_pfm_arg arg, u32 size)
{
	struct perf_ext_format ask = {
		.uuid = PERF_EXT_FORMAT_PFM, .arg = pt_addr(&arg), .arg_size = size, .share = -1,
	};

	pt_eq(format_ask(fd, &ask), -EINVAL);
}

static void refused(void)
{
	int fd = start(faults(PERF_SAMPLE_TID));

	pfm_refused(fd, (struct perf_ext_pfm_arg){ .bytes = 4096 }, 8);
	pfm_refused(fd, (struct perf_ext_pfm_arg){ .bytes = 4096, .flags = 2 }, 16);
	pfm_refused(fd, (struct perf_ext_pfm_arg){ .bytes = 4096, .pad = 1 }, 16);
	pfm_refused(fd, (struct perf_ext_pfm_arg){ .bytes = 4100 }, 16);
	pfm_refused(fd, (struct perf_ext_pfm_arg){ .bytes = HEAD + SAMPLE - 8 }, 16);
	pfm_refused(fd, (struct perf_ext_pfm_arg){ .bytes = (1 << 30) + 8 }, 16);
	pfm_refused(fd, (struct perf_ext_pfm_arg){ .bytes = 1ull << 63 }, 16);
}

/* What is given to a format is a page at most, which is too long for this one. */
static void long_arguments(void)
{
	struct perf_ext_format ask = { .uuid = PERF_EXT_FORMAT_PFM, .share = -1 };
	const u32 page = (u32)pt_page_size();
	int fd = start(faults(PERF_SAMPLE_TID));

	ask.arg = pt_addr(pt_fresh_pages(2));
	ask.arg_size = page;
	pt_eq(format_ask(fd, &ask), -EINVAL);
	ask.arg_size = page + 1;
	pt_eq(format_ask(fd, &ask), -E2BIG);
}

/* A mapping of an area does not grow. */
static void mapping(void)
{
	int fd = start(faults(PERF_SAMPLE_TID));
	struct pt_area a;

	format_pfm(&a, fd, 4096, 0);
	pt_check(mremap((void *)a.head, a.length, 2 * a.length, MREMAP_MAYMOVE) == MAP_FAILED,
		 "it grew");
	pt_eq(errno, EFAULT);
	format_close(&a);
}

/* Memory that is not there is not charged. */
static void too_much(void)
{
	const struct perf_ext_pfm_arg arg = { .bytes = 1 << 30 };
	struct perf_ext_format ask = {
		.uuid = PERF_EXT_FORMAT_PFM,
		.arg = pt_addr(&arg),
		.arg_size = sizeof(arg),
		.share = -1,
	};
	int fd = start(faults(PERF_SAMPLE_TID));
	char text[4096];
	long ret;

	pt_sysctl_set("perf_event_mlock_kb", 0);
	ret = format_ask(fd, &ask);
	if (ret >= 0)
		pt_skip("this machine has two gigabytes to give");
	pt_eq(ret, -ENOMEM);
	pt_need(pt_slurp("/proc/self/status", text, sizeof(text)), "no status");
	pt_check(strstr(text, "VmPin:\t       0 kB"), "it is charged: %s", text);
}

static const struct pt_case cases[] = {
	{ "fields", fields },
	{ "without_a_rule_again", without_a_rule_again },
	{ "full", full },
	{ "stops", stops },
	{ "sets", sets },
	{ "descriptor_0", descriptor_0 },
	{ "refused", refused },
	{ "long_arguments", long_arguments },
	{ "mapping", mapping },
	{ "too_much", too_much },
};

PT_MAIN(cases)
