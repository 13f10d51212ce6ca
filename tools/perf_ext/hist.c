// SPDX-License-Identifier: GPL-2.0
/*
 * hist.c - pfx hist: a table in the kernel, by address and process, in place of samples one by one;
 * at the end each of its keys becomes a sample that weighs as much as all that it stands for.
 *
 * Names, mappings and forks come by the ring buffer as ever.  All samples are at the end of the
 * file, so a process must not have ended by then, for perf report: the records that say so are left
 * out.  A process that runs several programs one after the other is seen as the last of them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "command.h"
#include "record.h"

#define BUCKETS	4096

void hist_join(struct recording *r, int fd)
{
	static const uint8_t uuid[] = PERF_EXT_FORMAT_HIST;
	const struct perf_ext_hist_arg arg = {
		.key		= { PERF_EXT_KEY_IP, PERF_EXT_KEY_PID },
		.buckets	= BUCKETS,
	};
	bool first = !r->nr_rings;
	struct perf_ext_format ask = {
		.arg		= first ? (uintptr_t)&arg : 0,
		.arg_size	= first ? sizeof(arg) : 0,
		.share		= first ? -1 : r->area_fd,
	};
	int answer;

	memcpy(ask.uuid, uuid, sizeof(ask.uuid));
	answer = pfx_format(fd, &ask);
	if (answer < 0)
		refused("PERF_EXT_IOC_FORMAT", answer);
	if (!first)
		return;
	r->area_fd = answer;
	r->area = mmap(NULL, (size_t)ask.size, PROT_READ, MAP_SHARED, answer, 0);
	if (r->area == MAP_FAILED)
		refused("mmap of the table", -errno);
}

bool hist_keeps(struct recording *r, const union record *record)
{
	uint64_t time = record->words[record->header.size / 8 - 2];	/* of the trailer */

	if (time > r->time)
		r->time = time;
	return record->header.type != PERF_RECORD_EXIT;
}

static void write_bucket(struct recording *r, const struct perf_ext_hist_bucket *b)
{
	struct {
		struct perf_event_header	header;
		uint64_t			id, ip;
		uint32_t			pid, tid;
		uint64_t			time, period;
	} sample = {
		.header	= { .type = PERF_RECORD_SAMPLE, .size = sizeof(sample),
			    .misc = (int64_t)b->key[0] < 0 ? PERF_RECORD_MISC_KERNEL :
							    PERF_RECORD_MISC_USER },
		.id	= r->id[0],
		.ip	= b->key[0],
		.pid	= (uint32_t)b->key[1],
		.tid	= (uint32_t)b->key[1],
		.time	= r->time,
		.period	= b->events,
	};

	write_out(r, &sample, sizeof(sample));
	r->bytes += sizeof(sample);
}

void hist_write(struct recording *r)
{
	const struct perf_ext_hist *table;
	unsigned int i;

	/* All events have hung up: nobody writes there. */
	table = (const void *)((const uint8_t *)r->area + r->area->half[r->area->active]);
	for (i = 0; i < BUCKETS; i++) {
		if (table->bucket[i].tag < 2)
			continue;
		write_bucket(r, &table->bucket[i]);
		r->keys++;
	}
	r->samples = (unsigned long)r->area->samples;
	r->lost += (unsigned long)table->lost_samples;
}

int command_hist(const struct options *o)
{
	static struct recording r = { .histogram = true };
	int status = record(&r, o);

	fprintf(stderr, "pfx: %lu samples of %lu keys, %lu lost, in %s\n", r.samples, r.keys,
		r.lost, o->output);
	return status;
}
