// SPDX-License-Identifier: GPL-2.0
/*
 * Sections about the bits of rarer records, and the words and fields of a
 * sample that drivers fill in or that ask for a signal: the sweeps of
 * abi-attr.c over these.
 */
#include "abi.h"
#include "sweep.h"

#define RW (PROT_READ | PROT_WRITE)
#define KNOWN_BITS ((1ull << NR_ATTR_BITS) - 1)
#define KNOWN_SAMPLES ((1ull << NR_SAMPLE_BITS) - 1)

static void record_bits_alone(void)
{
	sweep_bits(record_bits, false);
}

static void record_bit_pairs(void)
{
	sweep_bit_pairs(record_bits, KNOWN_BITS);
}

static void driver_words(void)
{
	/* branch_sample_type, aux_watermark, aux_sample_size, aux_action, sig_data */
	static const unsigned char words[] = { 18, 19, 26, 28, 29, 30, 31 };

	sweep_words(words, sizeof(words));
}

static void driver_sample(void)
{
	sweep_samples(driver_samples);
}

static void driver_sample_pairs(void)
{
	sweep_sample_pairs(driver_samples, KNOWN_SAMPLES);
}

static void bpf_output_record_bits(void)
{
	sweep_bits(record_bits, true);
}

/* Sizes of the records with each of the sample bits, of one page fault. */
static void driver_sample_sizes(void)
{
	unsigned int b;

	for (b = 0; b < NR_SAMPLE_BITS; b++) {
		struct perf_event_attr a;
		struct ring r;
		int fd;

		if (!(driver_samples >> b & 1))
			continue;
		attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
		a.sample_period = 1;
		a.sample_type = 1ull << b;
		attr_set_bits(&a, 1);
		fd = pe_open(&a, 0, -1, -1, 0);
		if (fd < 0) {
			say(sample_name[b], "%s", res(fd));
			continue;
		}
		ring_map(&r, fd, 4, RW);
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		make_faults(3);
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		ring_take(&r);
		say(sample_name[b], "%s", ring_story(&r));
		ring_unmap(&r);
		close(fd);
	}
}

static void sigtrap_data(void)
{
	static const u64 with[] = {
		0, 1ull << 36, 1ull << 36 | 2, 1ull << 36 | 2 | 1ull << 35, 1ull << 36 | 1 << 4,
		1ull << 36 | 1 << 5,
	};
	static const u64 datas[] = { 0, 1, ~0ull };
	unsigned int w, d, p;

	for (w = 0; w < ARRAY_SIZE(with); w++)
		for (p = 0; p < 2; p++) {
			struct tally *t = tally_new();

			for (d = 0; d < ARRAY_SIZE(datas); d++) {
				struct perf_event_attr a;

				attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
				a.sample_period = p ? 1000000 : 0;
				a.sig_data = datas[d];
				attr_set_bits(&a, 1 | 1ull << 37 | with[w]);
				tally_add(t, res(try_open(&a)), "%llx",
					  (unsigned long long)datas[d]);
			}
			tally_say(t, "with=%llx,period=%u,data", (unsigned long long)with[w],
				  p ? 1000000 : 0);
		}
}

const struct section driver_sections[] = {
	{ "attr-record-bits", record_bits_alone },
	{ "attr-record-bit-pairs", record_bit_pairs },
	{ "attr-driver-words", driver_words },
	{ "attr-driver-sample", driver_sample },
	{ "attr-driver-sample-pairs", driver_sample_pairs },
	{ "bpf-output-record-bits", bpf_output_record_bits },
	{ "sample-driver-sizes", driver_sample_sizes },
	{ "attr-sigtrap", sigtrap_data },
	{ }
};
