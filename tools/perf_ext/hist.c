// SPDX-License-Identifier: GPL-2.0
/*
 * hist.c - pfx hist: a table in the kernel, by address and process, in place of samples one by one;
 * at the end each of its keys becomes a sample that weighs as much as all that it stands for.
 *
 * Names, mappings and forks come by the ring buffer as ever.  All samples are at the end of the
 * file, so a process must not have ended by then, for perf report: the records that say so are left
 * out.  A process that runs several programs one after the other is seen as the last of them.
 *
 * With --key the table is of what is named there, and printed: perf report knows no such samples.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "command.h"
#include "record.h"

#define BUCKETS	4096

static const struct key {
	const char	*name;
	uint8_t		key;
	uint64_t	needs;		/* of attr.sample_type */
	bool		hex;
} keys[] = {
	{ "ip",		PERF_EXT_KEY_IP,		PERF_SAMPLE_IP, true },
	{ "addr",	PERF_EXT_KEY_ADDR,		PERF_SAMPLE_ADDR, true },
	{ "pid",	PERF_EXT_KEY_PID,		PERF_SAMPLE_TID, false },
	{ "tid",	PERF_EXT_KEY_TID,		PERF_SAMPLE_TID, false },
	{ "cpu",	PERF_EXT_KEY_CPU,		PERF_SAMPLE_CPU, false },
	{ "cgroup",	PERF_EXT_KEY_CGROUP,		PERF_SAMPLE_CGROUP, false },
	{ "data_src",	PERF_EXT_KEY_DATA_SRC,		PERF_SAMPLE_DATA_SRC, true },
	{ "period",	PERF_EXT_KEY_PERIOD_LOG2,	0, false },
};

/* "addr/12": without the lowest 12 bits.  Return: behind it. */
static const char *parse_key(const char *text, const struct key **key, uint8_t *shift)
{
	size_t i, len = strcspn(text, ",/");
	unsigned long bits = 0;
	char *end = (char *)text + len;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (strlen(keys[i].name) == len && !strncmp(keys[i].name, text, len))
			break;
	if (*end == '/')
		bits = strtoul(end + 1, &end, 10);
	if (i == ARRAY_SIZE(keys) || bits > 63 || (*end && *end != ','))
		fail("not understood: --key %s", text);
	*key = &keys[i];
	*shift = (uint8_t)bits;
	return *end ? end + 1 : NULL;
}

void hist_choose_keys(struct recording *r, const char *text)
{
	const struct key *key;
	unsigned int i;

	for (i = 0; text && i < ARRAY_SIZE(r->key); i++) {
		text = parse_key(text, &key, &r->hist.shift[i]);
		r->key[i] = key;
		r->hist.key[i] = key->key;
		r->attr.sample_type |= key->needs;
	}
	if (text)
		fail("--key: two at most");
}

void hist_join(struct recording *r, int fd)
{
	static const uint8_t uuid[] = PERF_EXT_FORMAT_HIST;
	const struct perf_ext_hist_arg arg = {
		.key		= { r->hist.key[0], r->hist.key[1] },
		.shift		= { r->hist.shift[0], r->hist.shift[1] },
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

static int by_key(const void *a, const void *b)
{
	const struct perf_ext_hist_bucket *x = a, *y = b;
	int i;

	for (i = 0; i < 2; i++)
		if (x->key[i] != y->key[i])
			return x->key[i] < y->key[i] ? -1 : 1;
	return 0;
}

static int by_events(const void *a, const void *b)
{
	const struct perf_ext_hist_bucket *x = a, *y = b;

	if (x->events != y->events)
		return x->events > y->events ? -1 : 1;
	return by_key(a, b);
}

/* A key may have several buckets.  Return: how many keys are left, in front. */
static size_t add_up(struct perf_ext_hist_bucket *b, size_t nr)
{
	size_t i, last = 0;

	if (!nr)
		return 0;
	qsort(b, nr, sizeof(*b), by_key);
	for (i = 1; i < nr; i++) {
		if (by_key(&b[last], &b[i])) {
			b[++last] = b[i];
			continue;
		}
		b[last].samples += b[i].samples;
		b[last].events += b[i].events;
	}
	return last + 1;
}

static void print_keys(const struct recording *r, struct perf_ext_hist_bucket *b, size_t nr)
{
	size_t i;
	int k;

	qsort(b, nr, sizeof(*b), by_events);
	printf("%14s %20s", "samples", "events");
	for (k = 0; k < 2 && r->key[k]; k++)
		printf(" %18s", r->key[k]->name);
	putchar('\n');
	for (i = 0; i < nr; i++) {
		printf("%14llu %20llu", (unsigned long long)b[i].samples,
		       (unsigned long long)b[i].events);
		for (k = 0; k < 2 && r->key[k]; k++)
			printf(r->key[k]->hex ? " %#18llx" : " %18llu",
			       (unsigned long long)b[i].key[k]);
		putchar('\n');
	}
}

void hist_write(struct recording *r)
{
	static struct perf_ext_hist_bucket found[BUCKETS];
	const struct perf_ext_hist *table;
	size_t nr = 0;
	unsigned int i;

	/* All events have hung up: nobody writes there. */
	table = (const void *)((const uint8_t *)r->area + r->area->half[r->area->active]);
	for (i = 0; i < BUCKETS; i++)
		if (table->bucket[i].tag >= 2)
			found[nr++] = table->bucket[i];
	nr = add_up(found, nr);
	if (r->printed)
		print_keys(r, found, nr);
	else
		for (i = 0; i < nr; i++)
			write_bucket(r, &found[i]);
	r->keys = nr;
	r->samples = (unsigned long)r->area->samples;
	r->lost += (unsigned long)table->lost_samples;
}

int command_hist(const struct options *o)
{
	static struct recording r = { .histogram = true };
	struct options to = *o;
	int status;

	r.printed = o->key;
	/* Nobody wants the file then. */
	if (r.printed)
		to.output = "/dev/null";
	else
		to.key = "ip,pid";
	status = record(&r, &to);
	fflush(stdout);
	fprintf(stderr, "pfx: %lu samples of %lu keys, %lu lost", r.samples, r.keys, r.lost);
	if (r.printed)
		fputc('\n', stderr);
	else
		fprintf(stderr, ", in %s\n", o->output);
	return status;
}
