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

void hist_of_hardware(struct perf_event_attr attr, void (*spin)(int fd, u64 turns), u64 total)
{
	const struct perf_ext_hist_arg arg = { .key = { PERF_EXT_KEY_IP }, .buckets = 256 };
	static struct pt_record rec;
	static struct pt_sample s;
	const struct perf_ext_hist *h;
	u64 ip[128], samples = 0, events = 0;
	unsigned int n = 0, i, k, same;
	struct pt_ring ring;
	struct pt_area a;
	int fd;

	attr.sample_period = 10007;
	attr.sample_type = PERF_SAMPLE_IP;
	fd = pt_open_hw(&attr, -1);
	pt_map(&ring, fd, 16);
	spin(fd, 500000);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE) && n < 128) {
		pt_parse_sample(&attr, &rec, &s);
		ip[n++] = s.ip;
	}
	pt_unmap(&ring);
	close(fd);
	pt_eq(n, total / 10007);

	fd = pt_open_hw(&attr, -1);
	format_hist(&a, fd, &arg);
	spin(fd, 500000);
	pt_eq(pt_count(fd), total);
	h = format_flip(&a);
	for (i = 0; i < n; i++) {
		for (same = k = 0; k < n; k++)
			same += ip[k] == ip[i];
		pt_eq(hist_of(h, arg.buckets, ip[i]).samples, same);
	}
	for (i = 0; i < arg.buckets; i++) {
		samples += h->bucket[i].samples;
		events += h->bucket[i].events;
	}
	pt_eq(samples, n);
	pt_eq(events, n * 10007);
	pt_eq(a.head->samples, n);
	format_close(&a);
	close(fd);
}

const struct perf_ext_pfm_sample *pfm_sample(const struct perf_ext_pfm *h, int i)
{
	const struct perf_ext_pfm_sample *first = (const void *)(h + 1);

	return (const void *)((const u8 *)first + (size_t)i * first->size);
}

static void pfm_is_full(struct pt_area *a, int leader, int member, u64 counted)
{
	struct pt_read got;
	const struct perf_ext_pfm_sample *s;
	const struct perf_ext_pfm *h;
	int i;

	pt_read(leader, PERF_FORMAT_GROUP | PERF_FORMAT_ID, 2, &got);
	pt_eq(got.v[0].value, counted);
	pt_eq(got.v[1].value, counted);
	pt_check(format_told(a, POLLIN), "POLLIN missing");
	h = format_flip(a);
	pt_eq(h->used, 10 * (sizeof(*s) + 24));
	pt_eq(h->lost, 0);
	for (i = 0; i < 10; i++) {
		s = pfm_sample(h, i);
		pt_eq(s->period, 10007);
		pt_eq(s->id, pt_id(leader));
		pt_eq(s->read[0], 1);			/* member */
		pt_eq(s->read[1], 10007);
		pt_eq(s->read[2], pt_id(member));
	}
}

void pfm_of_hardware(struct perf_event_attr attr, struct perf_event_attr sibling,
		     void (*spin)(int fd, u64 turns))
{
	const u64 bytes = sizeof(struct perf_ext_pfm) +
			  10 * (sizeof(struct perf_ext_pfm_sample) + 24);
	struct perf_ext_masks m = { .record = 2, .reset = 2 };
	struct perf_ext_restart r = {};
	struct pt_area a;
	int fd, fe, i;

	attr.sample_period = 10007;
	attr.sample_type = PERF_SAMPLE_ID | PERF_SAMPLE_READ;
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	sibling.read_format = attr.read_format;
	sibling.disabled = 0;
	fd = pt_open_hw(&attr, -1);
	fe = pt_open_hw(&sibling, fd);
	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_MASKS, pt_addr(&m)), 0);
	format_pfm(&a, fd, bytes, PERF_EXT_PFM_STOP);
	spin(fd, 500000);
	pfm_is_full(&a, fd, fe, 100070);
	for (i = 2; i < 5; i++) {
		pt_eq(pt_ioctl(fd, PERF_EXT_IOC_RESTART, pt_addr(&r)), 0);
		pt_spin(500000);
		pfm_is_full(&a, fd, fe, 100070 * (u64)i);
	}
	pt_eq(a.head->samples, 40);
	pt_eq(a.head->lost, 0);
	format_close(&a);
	close(fe);
	close(fd);
}
