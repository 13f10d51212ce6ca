// SPDX-License-Identifier: GPL-2.0
/*
 * AUX areas, as far as they can be asked for without a tracer: the bits and
 * words of the attr, the sample bit, groups, and mappings of events that have
 * no area. ../aux*.c have a tracer.
 */
#include "abi.h"
#include "sweep.h"

#define RW (PROT_READ | PROT_WRITE)

static void aux_bits(void)
{
	sweep_bits(1ull << 31, false);
}

static void aux_words(void)
{
	/* aux_watermark, aux_sample_size, aux_action */
	static const unsigned char words[] = { 26, 28, 29 };

	sweep_words(words, sizeof(words));
}

static void aux_sample(void)
{
	sweep_samples(PERF_SAMPLE_AUX);
}

/* Each of them with each, alone and with a leader that is no tracer. */
static void aux_combinations(void)
{
	unsigned int group, output, action;

	for (group = 0; group < 2; group++)
		for (output = 0; output < 2; output++) {
			struct tally *t = tally_new();
			int leader = group ? sw_open(PERF_COUNT_SW_DUMMY, 0, -1) : -1;

			for (action = 0; action < 16; action++) {
				struct perf_event_attr a;

				attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
				a.aux_action = action & 7;
				a.aux_sample_size = action & 8;
				attr_set_bits(&a, 1 | (output ? 1ull << 31 : 0));
				tally_add(t, res(try_open_at(&a, 0, -1, leader, 0)), "%x", action);
			}
			tally_say(t, "group=%u,output=%u,action", group, output);
			if (leader >= 0)
				close(leader);
		}
}

static void aux_map(void)
{
	int fd = sw_open(PERF_COUNT_SW_DUMMY, 0, -1);
	struct ring r;
	void *p;

	ring_map(&r, fd, 2, RW);
	r.page->aux_offset = 3 * page_size;
	r.page->aux_size = 4 * page_size;
	p = mmap(NULL, 4 * page_size, RW, MAP_SHARED, fd, 3 * page_size);
	say("map", "%s", p == MAP_FAILED ? err_name(errno) : "ok");
	p = mmap(NULL, 8 * page_size, RW, MAP_SHARED, fd, 3 * page_size);
	say("map-other-size", "%s", p == MAP_FAILED ? err_name(errno) : "ok");
	p = mmap(NULL, 4 * page_size, RW, MAP_SHARED, fd, 4 * page_size);
	say("map-other-offset", "%s", p == MAP_FAILED ? err_name(errno) : "ok");
	ring_unmap(&r);
	close(fd);
}

const struct section aux_sections[] = {
	{ "aux-bits", aux_bits },
	{ "aux-words", aux_words },
	{ "aux-sample", aux_sample },
	{ "aux-combinations", aux_combinations },
	{ "aux-map", aux_map },
	{ }
};
