// SPDX-License-Identifier: GPL-2.0
/* format.c - see format.h */
#include <sched.h>

#include "format.h"

const u8 hist_uuid[16] = PERF_EXT_FORMAT_HIST;
const u8 test_uuid[16] = TEST_FORMAT;

long format_ask(int fd, struct perf_ext_format *ask)
{
	return pt_ioctl(fd, PERF_EXT_IOC_FORMAT, pt_addr(ask));
}

void format_open(struct pt_area *a, int fd, const u8 uuid[16], const void *arg, u32 size)
{
	struct perf_ext_format ask = { .arg = pt_addr(arg), .arg_size = size, .share = -1 };

	memcpy(ask.uuid, uuid, sizeof(ask.uuid));
	a->fd = (int)format_ask(fd, &ask);
	pt_need(a->fd >= 0, "FORMAT: %s", strerror(-a->fd));
	a->length = ask.size;
	a->head = mmap(NULL, a->length, PROT_READ, MAP_SHARED, a->fd, 0);
	pt_need(a->head != MAP_FAILED, "mmap of %zu bytes: %s", a->length, strerror(errno));
	pt_eq(a->head->size, sizeof(*a->head));
}

void format_hist(struct pt_area *a, int fd, const struct perf_ext_hist_arg *arg)
{
	format_open(a, fd, hist_uuid, arg, sizeof(*arg));
}

void format_test(struct pt_area *a, int fd, const struct test_format_arg *arg)
{
	format_open(a, fd, test_uuid, arg, sizeof(*arg));
}

void format_pfm(struct pt_area *a, int fd, u64 bytes, u32 flags)
{
	static const u8 uuid[16] = PERF_EXT_FORMAT_PFM;
	const struct perf_ext_pfm_arg arg = { .bytes = bytes, .flags = flags };

	format_open(a, fd, uuid, &arg, sizeof(arg));
}

long format_share(const struct pt_area *a, int fd, const u8 uuid[16])
{
	struct perf_ext_format ask = { .share = a->fd };

	memcpy(ask.uuid, uuid, sizeof(ask.uuid));
	return format_ask(fd, &ask);
}

int format_areas(const char *name)
{
	char text[512], key[32], *at;

	pt_need(pt_slurp("/sys/bus/event_source/formats", text, sizeof(text)), "no formats");
	snprintf(key, sizeof(key), " %s ", name);
	at = strstr(text, key);
	pt_need(at, "formats: %s", text);
	return atoi(at + strlen(key));
}

long format_none(int fd)
{
	struct perf_ext_format ask = { .share = -1 };

	return format_ask(fd, &ask);
}

void format_close(struct pt_area *a)
{
	munmap((void *)a->head, a->length);
	close(a->fd);
}

void format_wait(const char *module)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/module/%s/refcnt", module);
	while (pt_read_number(path, 0))
		sched_yield();
}

void format_end(const char *module, int fd, struct pt_area *a)
{
	format_close(a);
	close(fd);
	format_wait(module);
}

const void *format_half(const struct pt_area *a, unsigned int half)
{
	return (const u8 *)a->head + a->head->half[half];
}

bool format_told(const struct pt_area *a, short what)
{
	struct pollfd p = { .fd = a->fd, .events = POLLIN };

	pt_need(poll(&p, 1, 0) >= 0, "poll: %s", strerror(errno));
	return p.revents & what;
}

const void *format_flip(const struct pt_area *a)
{
	u32 was = a->head->active;
	long left = pt_ioctl(a->fd, PERF_EXT_AREA_IOC_FLIP, 0);

	pt_need(left == was, "FLIP: %ld, and not %u", left, was);
	pt_eq(a->head->active, !was);
	return format_half(a, (unsigned int)left);
}

struct perf_ext_hist_bucket hist_of(const struct perf_ext_hist *h, u32 buckets, u64 key)
{
	struct perf_ext_hist_bucket sum = { .key = { key } };
	u32 i;

	for (i = 0; i < buckets; i++) {
		const struct perf_ext_hist_bucket *b = &h->bucket[i];

		if (b->tag < 2 || b->key[0] != key || b->key[1])
			continue;
		sum.tag = b->tag;
		sum.samples += b->samples;
		sum.events += b->events;
	}
	return sum;
}

unsigned int hist_keys(const struct perf_ext_hist *h, u32 buckets)
{
	unsigned int keys = 0;
	u32 i;

	for (i = 0; i < buckets; i++)
		keys += h->bucket[i].tag >= 2;
	return keys;
}

const struct perf_ext_pfm_sample *pfm_sample(const struct perf_ext_pfm *h, int i)
{
	const struct perf_ext_pfm_sample *first = (const void *)(h + 1);

	return (const void *)((const u8 *)first + (size_t)i * first->size);
}

struct perf_event_attr format_faults(u64 period)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));

	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID;
	attr.disabled = 1;
	return attr;
}

int format_start(struct perf_event_attr *attr)
{
	int fd;

	ext_need();
	fd = pt_open(attr, 0, -1, -1, 0);
	pt_settle();
	return fd;
}
