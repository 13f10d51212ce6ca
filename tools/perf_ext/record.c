// SPDX-License-Identifier: GPL-2.0
/*
 * record.c - pfx record: samples of a program, with periods that vary, as a perf.data file that
 * perf report and perf script read.
 *
 * The file is what the ring buffer gives, record by record, behind a header that says which event
 * it was.  The layout is that of tools/perf/Documentation/perf.data-file-format.txt.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "record.h"

struct section {
	uint64_t	offset;
	uint64_t	size;
};

/* The header of perf.data. */
struct file_header {
	char		magic[8];
	uint64_t	size;
	uint64_t	attr_size;
	struct section	attrs;
	struct section	data;
	struct section	event_types;
	uint64_t	features[4];
};

/* An attr of this size has all that is used here, and any perf of the last ten years reads it. */
struct file_attr {
	uint8_t		attr[PERF_ATTR_SIZE_VER5];
	struct section	ids;
};

void write_out(struct recording *r, const void *data, size_t size)
{
	if (fwrite(data, size, 1, r->out) != 1)
		fail("the file: %s", strerror(errno));
}

/* Where the kernel's code is, for perf report; it needs the right to read the addresses. */
static void write_kernel_map(struct recording *r)
{
	static const char name[] = "[kernel.kallsyms]_text";
	struct {
		struct perf_event_header	header;
		uint32_t			pid, tid;
		uint64_t			addr, len, pgoff;
		char				name[24];
		uint64_t			trailer[3];	/* 0: nobody's */
	} map = {
		.header	= { .type = PERF_RECORD_MMAP, .misc = PERF_RECORD_MISC_KERNEL,
			    .size = sizeof(map) },
		.pid	= UINT32_MAX,
	};
	char line[256], symbol[128], type;
	unsigned long long at, start = 0, end = 0;
	FILE *f = fopen("/proc/kallsyms", "r");

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx %c %127s", &at, &type, symbol) != 3)
			continue;
		if (!strcmp(symbol, "_text"))
			start = at;
		else if (!strcmp(symbol, "_etext"))
			end = at;
	}
	if (f)
		fclose(f);
	if (!start || end <= start)
		return;
	map.addr = start;
	map.len = end - start;
	map.pgoff = start;
	memcpy(map.name, name, sizeof(name));
	write_out(r, &map, sizeof(map));
	r->bytes += sizeof(map);
}

static void drain(struct recording *r, struct ring *ring)
{
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	const union record *record;

	/* What comes meanwhile waits: other rings have waited, too. */
	while (ring->page->data_tail != head && (record = ring_next(ring))) {
		if (r->histogram && !hist_keeps(r, record))
			continue;
		write_out(r, record, record->header.size);
		r->bytes += record->header.size;
		r->samples += record->header.type == PERF_RECORD_SAMPLE;
		if (record->header.type == PERF_RECORD_LOST)
			r->lost += record->words[2];
	}
}

static void open_on(struct recording *r, const struct options *o, pid_t child, int cpu)
{
	struct perf_ext_periods periods;
	int err, fd = pfx_open(&r->attr, child, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd == -ENODEV)
		return;		/* the CPU is offline */
	if (fd < 0)
		refused("perf_event_open", fd);
	if (o->varies) {
		periods = pfx_apply(&o->rule, r->attr.sample_period);
		err = pfx_periods(fd, &periods);
		if (err)
			refused("PERF_EXT_IOC_PERIODS", err);
	}
	if (r->histogram)
		hist_join(r, fd);
	ring_map(&r->ring[r->nr_rings], fd);
	if (ioctl(fd, PERF_EVENT_IOC_ID, &r->id[r->nr_rings]))
		refused("PERF_EVENT_IOC_ID", -errno);
	r->nr_rings++;
}

static void watch(struct recording *r)
{
	struct pollfd *fds = calloc((size_t)r->nr_rings, sizeof(*fds));
	int i, open = r->nr_rings;

	if (!fds)
		fail("no memory");
	for (i = 0; i < r->nr_rings; i++)
		fds[i] = (struct pollfd){ .fd = r->ring[i].fd, .events = POLLIN };
	/* Each event hangs up when the last task that it counts is gone. */
	while (open) {
		if (poll(fds, (nfds_t)r->nr_rings, -1) < 0 && errno != EINTR)
			fail("poll: %s", strerror(errno));
		for (i = 0; i < r->nr_rings; i++) {
			drain(r, &r->ring[i]);
			if (fds[i].fd >= 0 && fds[i].revents & POLLHUP) {
				fds[i].fd = -1;
				open--;
			}
		}
	}
	for (i = 0; i < r->nr_rings; i++)
		drain(r, &r->ring[i]);
	free(fds);
}

static void write_head(struct recording *r)
{
	struct file_header header = {
		.magic		= { 'P', 'E', 'R', 'F', 'I', 'L', 'E', '2' },
		.size		= sizeof(header),
		.attr_size	= sizeof(struct file_attr),
		.attrs		= { sizeof(header), sizeof(struct file_attr) },
	};
	struct perf_event_attr short_attr = r->attr;
	struct file_attr attr;

	if (r->histogram)
		short_attr.sample_type |= PERF_SAMPLE_PERIOD;
	short_attr.size = sizeof(attr.attr);
	memcpy(attr.attr, &short_attr, sizeof(attr.attr));
	attr.ids.offset = sizeof(header) + sizeof(attr);
	attr.ids.size = (uint64_t)r->nr_rings * sizeof(r->id[0]);
	header.data.offset = attr.ids.offset + attr.ids.size;
	header.data.size = r->bytes;
	rewind(r->out);
	write_out(r, &header, sizeof(header));
	write_out(r, &attr, sizeof(attr));
	write_out(r, r->id, attr.ids.size);
}

int record(struct recording *r, const struct options *o)
{
	int cpu, nr = (int)sysconf(_SC_NPROCESSORS_CONF), go, status;
	pid_t child;

	if (!o->argv[0] || !o->period)
		usage();
	r->attr = (struct perf_event_attr){
		.sample_period	= o->period,
		.sample_type	= PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				  PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD,
		.sample_id_all	= 1,
		.disabled	= 1,
		.enable_on_exec	= 1,
		.inherit	= 1,
		.mmap		= 1,
		.mmap2		= 1,
		.comm		= 1,
		.comm_exec	= 1,
		.task		= 1,
	};
	if (!pfx_event(o->event, &r->attr))
		fail("no event \"%s\"", o->event);
	/* Of a software event with PERIOD each hit would be a sample. */
	if (r->attr.type == PERF_TYPE_SOFTWARE && r->attr.config != PERF_COUNT_SW_CPU_CLOCK &&
	    r->attr.config != PERF_COUNT_SW_TASK_CLOCK)
		r->attr.sample_type &= ~PERF_SAMPLE_PERIOD;
	if (r->histogram)
		hist_choose_keys(r, o->key);
	r->out = fopen(o->output, "w+");
	if (!r->out)
		fail("%s: %s", o->output, strerror(errno));

	child = start_child(o->argv, &go);
	for (cpu = 0; cpu < nr && cpu < MAX_CPUS; cpu++)
		open_on(r, o, child, cpu);
	write_head(r);		/* room for it */
	if (!r->attr.exclude_kernel)
		write_kernel_map(r);
	let_go(go);
	watch(r);
	if (r->histogram)
		hist_write(r);
	waitpid(child, &status, 0);
	write_head(r);
	if (fclose(r->out))
		fail("%s: %s", o->output, strerror(errno));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int command_record(const struct options *o)
{
	static struct recording r;
	int status = record(&r, o);

	fprintf(stderr, "pfx: %lu samples, %lu lost, in %s\n", r.samples, r.lost, o->output);
	return status;
}
