// SPDX-License-Identifier: GPL-2.0
/*
 * counter_periods.c - periods that follow a rule, and masks, on the counters of CPUs: each sample
 * at its very instruction, the same ones on arm64 and on all PMUs of x86. What else there is to
 * say about periods and masks: periods.c, masks.c.
 *
 * needs: hw pmuv3
 */
#include "lib/counter.h"
#include "lib/ext.h"

static struct pt_record rec;
static struct pt_sample s;
static struct pt_ring ring;

static struct perf_event_attr sampling(unsigned int kind)
{
	struct perf_event_attr attr = counter_kind(kind);

	attr.sample_period = 10000;	/* until there is a rule */
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ;
	return attr;
}

/* What the samples of a run have to be, beside those of the model. */
struct expected {
	const u64 *sums;	/* of the first periods, computed apart */
	unsigned int nr_sums;
	u64 samples, last;	/* how many, and the sum of all their periods */
};

static void check_samples(const struct perf_event_attr *attr, const struct perf_ext_periods *p,
			  u64 turns, const struct expected *want)
{
	struct ext_model m;
	u64 n = 0;

	ext_model_start(&m, p);
	while (pt_next(&ring, &rec)) {
		pt_eq(rec.h.type, PERF_RECORD_SAMPLE);
		pt_parse_sample(attr, &rec, &s);
		pt_eq(s.period, ext_model_next(&m));
		pt_eq(s.read.v[0].value, m.sum);
		pt_eq(s.ip, counter_spin_ip(turns, m.sum));
		if (n < want->nr_sums)
			pt_eq(m.sum, want->sums[n]);
		if (pt_failures())
			break;
		n++;
	}
	pt_eq(n, want->samples);
	pt_eq(m.sum, want->last);
}

/* One run for each kind of counter. */
static void run(const struct perf_ext_periods *rule, u64 turns, const struct expected *want)
{
	struct perf_ext_periods got = {};
	unsigned int kind;

	for (kind = 0; kind < counter_kinds() && !pt_failures(); kind++) {
		struct perf_event_attr attr = sampling(kind);
		struct perf_ext_periods p = *rule;
		int fd = pt_open_hw(&attr, -1);

		pt_map(&ring, fd, 64);
		pt_eq(ext_periods(fd, &p), 0);
		counter_spin(fd, turns);
		pt_eq(pt_count(fd), counter_spin_cost(turns));
		check_samples(&attr, rule, turns, want);
		pt_eq(pt_ioctl(fd, PERF_EXT_IOC_GET_PERIODS, pt_addr(&got)), 0);
		pt_eq(got.ended, want->samples);
		pt_unmap(&ring);
		close(fd);
	}
}

/*
 * The first lengths are 1001 1167 1241 1217 1042 1130 1200 1216 1254 1067 1077 1152: 1,000 and the
 * lowest eight bits of 1, 16807, 282475249, 1622650073, 984943658, ...
 */
static void sequence(void)
{
	static const u64 sums[] = {
		1001, 2168, 3409, 4626, 5668, 6798, 7998, 9214, 10468, 11535, 12612, 13764,
	};

	ext_need();
	counter_need();
	run(&(struct perf_ext_periods){ .short_period = 1000, .mask = 0xff, .seed = 1 }, 500000,
	    &(struct expected){ sums, PT_ARRAY_SIZE(sums), 886, 999000 });
}

/* Another seed, other samples: 1042 1102 1143 1185 1247 1106. */
static void another_seed(void)
{
	static const u64 sums[] = { 1042, 2144, 3287, 4472, 5719, 6825 };

	ext_need();
	counter_need();
	run(&(struct perf_ext_periods){ .short_period = 1000, .mask = 0xff, .seed = 42 }, 500000,
	    &(struct expected){ sums, PT_ARRAY_SIZE(sums), 887, 999476 });
}

static void longer(void)
{
	static const u64 sums[] = { 10008, 20438, 31198, 41422, 51471, 62376 };

	ext_need();
	counter_need();
	run(&(struct perf_ext_periods){ .short_period = 10007, .mask = 0x3ff, .seed = 1 }, 5000000,
	    &(struct expected){ sums, PT_ARRAY_SIZE(sums), 951, 9993392 });
}

/* A long period after each fourth, as a program has it that recovers from a notification. */
static void long_and_short(void)
{
	static const u64 sums[] = {
		2000, 3000, 4000, 5000, 10000, 11000, 12000, 13000, 18000, 19000, 20000, 21000,
	};
	const struct perf_ext_periods p = {
		.short_period = 1000, .long_period = 5000, .initial_period = 2000, .long_every = 4,
		.seed = 1,
	};

	ext_need();
	counter_need();
	run(&p, 50000, &(struct expected){ sums, PT_ARRAY_SIZE(sums), 51, 100000 });
}

/* A short window after each long way. */
static void bursts(void)
{
	static const u64 sums[] = { 100000, 101000, 201000, 202000, 302000, 303000 };
	const struct perf_ext_periods p = {
		.short_period = 1000, .long_period = 100000, .long_every = 2, .seed = 1,
	};

	ext_need();
	counter_need();
	run(&p, 200000, &(struct expected){ sums, PT_ARRAY_SIZE(sums), 6, 303000 });
}

/*
 * A program whose turns take 1,000 instructions, a hot tenth of them first.  Periods of 10,000
 * always end in the same place; random ones find the tenth about as often as it runs.
 */
static void find_hot(u64 turns, u64 mask, u64 samples, u64 hot_ones)
{
	struct perf_ext_periods rule = { .short_period = 10000, .mask = mask, .seed = 1 };
	struct perf_event_attr attr = sampling(0);
	struct perf_ext_periods p = rule;
	u64 n = 0, hot = 0;
	struct ext_model m;
	int fd;

	fd = pt_open_hw(&attr, -1);
	pt_map(&ring, fd, 128);
	if (mask)
		pt_eq(ext_periods(fd, &p), 0);
	counter_spin(fd, turns);
	pt_eq(pt_count(fd), counter_spin_cost(turns));
	ext_model_start(&m, &rule);
	while (pt_next(&ring, &rec)) {
		pt_eq(rec.h.type, PERF_RECORD_SAMPLE);
		pt_parse_sample(&attr, &rec, &s);
		pt_eq(s.period, ext_model_next(&m));
		pt_eq(s.read.v[0].value, m.sum);
		if (pt_failures())
			break;
		n++;
		hot += s.read.v[0].value % 1000 < 100;
	}
	pt_eq(n, samples);
	pt_eq(hot, hot_ones);
	pt_unmap(&ring);
	close(fd);
}

static void aliasing(void)
{
	ext_need();
	counter_need();
	find_hot(5000000, 0, 1000, 1000);
	find_hot(5000000, 0x3ff, 952, 113);
	find_hot(50000000, 0xfff, 8296, 799);
}

/* A period that a switch cuts off goes on: a thousand of them change no sample. */
static void task_switches(void)
{
	const struct perf_ext_periods rule = { .short_period = 1000, .mask = 0xff, .seed = 1 };
	struct perf_event_attr attr = sampling(0), sw = pt_attr(PT_SW(CONTEXT_SWITCHES));
	struct perf_ext_periods p = rule;
	struct pt_peer peer;
	struct ext_model m;
	u64 n = 0, total;
	int fd, fs, i;

	ext_need();
	counter_need();
	pt_peer_start(&peer);
	fs = pt_open(&sw, 0, -1, -1, 0);
	fd = pt_open_hw(&attr, -1);
	pt_map(&ring, fd, 64);
	pt_eq(ext_periods(fd, &p), 0);
	pt_enable(fd);
	for (i = 0; i < 1000; i++) {
		pt_spin(500);
		pt_peer_turn(&peer);
	}
	pt_disable(fd);
	total = pt_count(fd);
	pt_check(pt_count(fs) >= 1000, "%llu switches", (unsigned long long)pt_count(fs));
	pt_peer_stop(&peer);
	ext_model_start(&m, &rule);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE) && !pt_failures()) {
		pt_parse_sample(&attr, &rec, &s);
		n++;
		pt_eq(s.period, ext_model_next(&m));
		pt_eq(s.read.v[0].value, m.sum);
	}
	pt_check(total >= 1000000 && total - m.sum < 1255, "%llu instructions, samples until %llu",
		 (unsigned long long)total, (unsigned long long)m.sum);
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_GET_PERIODS, pt_addr(&p)), 0);
	pt_eq(p.ended, n);
}

/* Of two siblings, which count the same, samples reset the second one, and show both. */
static void mask_of_the_third(void)
{
	struct perf_event_attr attr[] = {
		counter_kind(0), counter_instructions(), counter_general(),
	};
	const u64 total = counter_spin_cost(500000);
	struct perf_ext_masks m = { .record = 6, .reset = 4 };
	struct pt_read got;
	u64 sum = 0, n = 0;
	int fd[3], i;

	ext_need();
	counter_need();
	attr[0].sample_period = 10007;
	attr[0].sample_type = PERF_SAMPLE_READ;
	for (i = 0; i < 3; i++) {
		attr[i].read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
		attr[i].disabled = !i;
		fd[i] = pt_open_hw(&attr[i], i ? fd[0] : -1);
	}
	pt_map(&ring, fd[0], 64);
	pt_eq(pt_ioctl(fd[0], PERF_EXT_IOC_MASKS, pt_addr(&m)), 0);
	counter_spin(fd[0], 500000);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr[0], &rec, &s);
		n++;
		pt_eq(rec.h.size, 8 + 8 + 2 * 16);	/* header, nr, values and ids */
		pt_eq(s.read.nr, 2);
		pt_eq(s.read.v[0].id, pt_id(fd[1]));
		pt_eq(s.read.v[0].value, n * 10007);
		pt_eq(s.read.v[1].id, pt_id(fd[2]));
		pt_eq(s.read.v[1].value, 10007);
		sum += s.read.v[1].value;
	}
	pt_eq(n, 99);
	pt_read(fd[0], attr[0].read_format, 3, &got);
	for (i = 0; i < 3; i++)
		pt_eq(got.v[i].value, total);
	pt_eq(sum, 990693);
}

/* Each sample shows the instructions since the last; those of all and the rest are the count. */
static void masks(void)
{
	struct perf_event_attr attr = counter_kind(0), count = counter_instructions();
	struct perf_ext_masks m = { .record = 2, .reset = 2 };
	struct pt_read got;
	u64 sum = 0, n = 0;
	int fd, fe;

	ext_need();
	counter_need();
	attr.sample_period = 10007;
	attr.sample_type = PERF_SAMPLE_READ;
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	count.read_format = attr.read_format;
	count.disabled = 0;
	fd = pt_open_hw(&attr, -1);
	fe = pt_open_hw(&count, fd);
	pt_map(&ring, fd, 64);
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_MASKS, pt_addr(&m)), 0);
	counter_spin(fd, 500000);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		pt_eq(s.read.nr, 1);
		pt_eq(s.read.v[0].id, pt_id(fe));
		pt_eq(s.read.v[0].value, 10007);
		sum += s.read.v[0].value;
		n++;
	}
	pt_eq(n, 99);
	pt_read(fd, attr.read_format, 2, &got);
	pt_eq(got.v[1].value, counter_spin_cost(500000));
	pt_eq(sum, 990693);
}

static const struct pt_case cases[] = {
	{ "sequence", sequence },
	{ "another_seed", another_seed },
	{ "longer", longer },
	{ "long_and_short", long_and_short },
	{ "bursts", bursts },
	{ "aliasing", aliasing },
	{ "task_switches", task_switches },
	{ "mask_of_the_third", mask_of_the_third },
	{ "masks", masks },
};

PT_MAIN(cases)
