// SPDX-License-Identifier: GPL-2.0
/*
 * What the sections of abi-diff share: names of answers, opening events,
 * tallies (many answers on one line), mapped buffers and scripted activity.
 *
 * Everything runs in the one thread of the calling process. Nothing here
 * prints, but tally_say(). The sources (what can be counted) are in
 * abi-source.c.
 */
#include "abi.h"
#include <sched.h>
#include <stdarg.h>
#include <time.h>

size_t page_size;
int nr_cpus;
char *self_path;

const char *err_name(int err)
{
	static char other[16];
	static const struct {
		int err;
		const char *name;
	} names[] = {
		{ EPERM, "EPERM" }, { ENOENT, "ENOENT" }, { ESRCH, "ESRCH" },
		{ EINTR, "EINTR" }, { EIO, "EIO" }, { ENXIO, "ENXIO" },
		{ E2BIG, "E2BIG" }, { EBADF, "EBADF" }, { EAGAIN, "EAGAIN" },
		{ ENOMEM, "ENOMEM" }, { EACCES, "EACCES" }, { EFAULT, "EFAULT" },
		{ EBUSY, "EBUSY" }, { EEXIST, "EEXIST" }, { ENODEV, "ENODEV" },
		{ EINVAL, "EINVAL" }, { EMFILE, "EMFILE" }, { ENOTTY, "ENOTTY" },
		{ ENOSPC, "ENOSPC" }, { ESPIPE, "ESPIPE" }, { EROFS, "EROFS" },
		{ EOPNOTSUPP, "EOPNOTSUPP" }, { EOVERFLOW, "EOVERFLOW" },
		{ ENOSYS, "ENOSYS" }, { EILSEQ, "EILSEQ" }, { ERANGE, "ERANGE" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].err == err)
			return names[i].name;
	snprintf(other, sizeof(other), "errno%d", err);
	return other;
}

const char *res(long ret)
{
	return ret >= 0 ? "ok" : err_name(-ret);
}

long neg(long ret)
{
	return ret < 0 ? -errno : ret;
}

void attr_init(struct perf_event_attr *a, u32 type, u64 config)
{
	memset(a, 0, sizeof(*a));
	a->type = type;
	a->size = ATTR_SIZE;
	a->config = config;
}

u64 attr_get_bits(const struct perf_event_attr *a)
{
	u64 bits;

	memcpy(&bits, (const char *)a + ATTR_BITS_OFF, sizeof(bits));
	return bits;
}

void attr_set_bits(struct perf_event_attr *a, u64 bits)
{
	memcpy((char *)a + ATTR_BITS_OFF, &bits, sizeof(bits));
}

int pe_open(struct perf_event_attr *a, pid_t pid, int cpu, int group, unsigned long flags)
{
	return neg(syscall(SYS_perf_event_open, a, pid, cpu, group, flags));
}

int try_open_at(struct perf_event_attr *a, pid_t pid, int cpu, int group, unsigned long flags)
{
	int fd = pe_open(a, pid, cpu, group, flags);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

int try_open(struct perf_event_attr *a)
{
	return try_open_at(a, 0, -1, -1, 0);
}

int must_open(struct perf_event_attr *a)
{
	int fd = pe_open(a, 0, -1, -1, 0);

	if (fd < 0) {
		errno = -fd;
		die("perf_event_open");
	}
	return fd;
}

int sw_open(u64 config, u64 bits, int group)
{
	struct perf_event_attr a;

	attr_init(&a, PERF_TYPE_SOFTWARE, config);
	attr_set_bits(&a, bits);
	return pe_open(&a, 0, -1, group, 0);
}

u64 event_id(int fd)
{
	u64 id = 0;

	if (ioctl(fd, PERF_EVENT_IOC_ID, &id) < 0)
		die("PERF_EVENT_IOC_ID");
	return id;
}

u64 read_count(int fd)
{
	u64 value[64];

	if (read(fd, value, sizeof(value)) < 8)
		die("read of an event");
	return value[0];
}

/* ---- tallies ---- */

#define TALLY_ANSWERS	24

struct answer {
	char text[96];
	unsigned int labels;
	char *list;
	size_t len;
};

struct tally {
	unsigned int n;
	struct answer answers[TALLY_ANSWERS];
};

struct tally *tally_new(void)
{
	struct tally *t = calloc(1, sizeof(*t));

	if (!t)
		die("calloc");
	return t;
}

void tally_add(struct tally *t, const char *text, const char *fmt, ...)
{
	struct answer *a = t->answers;
	char label[128];
	unsigned int i;
	size_t len;
	va_list ap;

	for (i = 0; i < t->n; i++, a++)
		if (!strcmp(a->text, text))
			break;
	if (i == TALLY_ANSWERS)
		die("too many answers in one tally");
	if (i == t->n) {
		t->n++;
		snprintf(a->text, sizeof(a->text), "%s", text);
	}
	va_start(ap, fmt);
	vsnprintf(label, sizeof(label), fmt, ap);
	va_end(ap);
	len = strlen(label);
	a->list = realloc(a->list, a->len + len + 2);
	if (!a->list)
		die("realloc");
	if (a->labels++)
		a->list[a->len++] = ' ';
	memcpy(a->list + a->len, label, len + 1);
	a->len += len;
}

/* The answer with most labels is printed as "all" or "else": lines stay short. */
void tally_say(struct tally *t, const char *fmt, ...)
{
	unsigned int i, most = 0;
	char name[128], *line;
	size_t size = 256, pos = 0;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	for (i = 0; i < t->n; i++) {
		if (t->answers[i].labels > t->answers[most].labels)
			most = i;
		size += t->answers[i].len + sizeof(t->answers[i].text) + 8;
	}
	line = malloc(size);
	if (!line)
		die("malloc");
	line[0] = 0;
	if (!t->n)
		goto out;
	for (i = 0; i < t->n; i++)
		if (i != most)
			pos += sprintf(line + pos, "%s=[%s] ", t->answers[i].text,
				       t->answers[i].list);
	sprintf(line + pos, "%s=%s(%u)", t->n > 1 ? "else" : "all",
		t->answers[most].text, t->answers[most].labels);
	say(name, "%s", line);
	for (i = 0; i < t->n; i++)
		free(t->answers[i].list);
out:
	free(line);
	free(t);
}

/* ---- buffers ---- */

int ring_map(struct ring *r, int fd, size_t pages, int prot)
{
	void *base = mmap(NULL, (pages + 1) * page_size, prot, MAP_SHARED, fd, 0);
	size_t i;

	memset(r, 0, sizeof(*r));
	if (base == MAP_FAILED)
		return -errno;
	r->fd = fd;
	r->pages = pages;
	r->page = base;
	r->size = pages * page_size;
	r->data = (unsigned char *)base + page_size;
	r->copy = calloc(1, r->size + 8);
	if (!r->copy)
		die("calloc");
	/* Touch all of it now: its own page faults must not be counted later. */
	for (i = 0; i <= pages && prot & PROT_READ; i++)
		((volatile unsigned char *)base)[i * page_size];
	for (i = 0; i < r->size; i += page_size)
		((volatile unsigned char *)r->copy)[i] = 0;
	((volatile unsigned char *)r->copy)[r->size] = 0;
	if (prot & PROT_WRITE)
		__atomic_store_n(&r->page->data_tail, 0, __ATOMIC_RELEASE);
	return 0;
}

void ring_unmap(struct ring *r)
{
	if (!r->page)
		return;
	munmap(r->page, (r->pages + 1) * page_size);
	free(r->copy);
	r->page = NULL;
}

/* Move everything between tail and head into the copy and give the room back. */
void ring_take(struct ring *r)
{
	u64 head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	u64 tail = r->page->data_tail;
	size_t i;

	r->len = head - tail;
	if (r->len > r->size) {
		fprintf(stderr, "abi-diff: head beyond the buffer\n");
		r->len = r->size;
	}
	for (i = 0; i < r->len; i++)
		r->copy[i] = r->data[(tail + i) % r->size];
	__atomic_store_n(&r->page->data_tail, head, __ATOMIC_RELEASE);
}

bool ring_next(struct ring *r, size_t *pos, struct rec *rec)
{
	const struct perf_event_header *h = (const void *)(r->copy + *pos);

	if (*pos + sizeof(*h) > r->len)
		return false;
	if (h->size < sizeof(*h) || h->size % 8 || *pos + h->size > r->len) {
		fprintf(stderr, "abi-diff: bad record: type %u size %u\n", h->type, h->size);
		return false;
	}
	rec->h = h;
	rec->body = (const u64 *)(h + 1);
	rec->n = (h->size - sizeof(*h)) / 8;
	*pos += h->size;
	return true;
}

u64 ring_count(struct ring *r, u32 type)
{
	size_t pos = 0;
	struct rec rec;
	u64 n = 0;

	while (ring_next(r, &pos, &rec))
		n += rec.h->type == type;
	return n;
}

const char *rec_name(u32 type)
{
	static const char *const names[] = {
		"0", "MMAP", "LOST", "COMM", "EXIT", "THROTTLE", "UNTHROTTLE", "FORK", "READ",
		"SAMPLE", "MMAP2", "AUX", "ITRACE_START", "LOST_SAMPLES", "SWITCH",
		"SWITCH_CPU_WIDE", "NAMESPACES", "KSYMBOL", "BPF_EVENT", "CGROUP",
		"TEXT_POKE", "AUX_OUTPUT_HW_ID",
	};

	return type < ARRAY_SIZE(names) ? names[type] : "unknown";
}

const char *ring_story(struct ring *r)
{
	static char story[8192];
	char item[96], last[96] = "";
	size_t pos = 0, len = 0;
	unsigned int run = 0;
	bool more = true;
	struct rec rec;

	story[0] = 0;
	while (more) {
		more = ring_next(r, &pos, &rec);
		item[0] = 0;
		if (more) {
			unsigned int misc = rec.h->misc;

			/* Whether a switch was a preemption is chance. */
			if (rec.h->type == PERF_RECORD_SWITCH ||
			    rec.h->type == PERF_RECORD_SWITCH_CPU_WIDE)
				misc &= ~PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
			snprintf(item, sizeof(item), "%s/%x/%u", rec_name(rec.h->type), misc,
				 rec.h->size);
			if (!strcmp(item, last)) {
				run++;
				continue;
			}
		}
		if (run > 1 && len < sizeof(story) - 64)
			len += sprintf(story + len, " x%u", run);
		if (more && len < sizeof(story) - sizeof(item) - 8)
			len += sprintf(story + len, "%s%s", len ? ", " : "", item);
		run = 1;
		strcpy(last, item);
	}
	return len ? story : "empty";
}

bool ring_empty(struct ring *r)
{
	return r->page->data_head == r->page->data_tail;
}

/* ---- processes ---- */

void pin_to_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		die("sched_setaffinity");
}

pid_t fork_quiet(void)
{
	pid_t pid;

	fflush(stdout);
	fflush(stderr);
	pid = fork();
	if (pid < 0)
		die("fork");
	return pid;
}

int wait_child(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			die("waitpid");
	return status;
}

/* ---- scripted activity ---- */

#define AREA_PAGES	1024

extern char end[];

/*
 * Make every page of the program present, and the stack deeper than it will
 * ever get: a first touch in the middle of a count would be counted.
 */
__attribute__((noinline)) static void touch_program(void)
{
	volatile char stack[256 * 1024];
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	volatile char *p;
	char line[512], rights[8];
	size_t i;

	for (i = 0; i < sizeof(stack); i += 1024)
		stack[i] = 0;
	/* The segments have gaps between them on some machines. */
	while (maps && fgets(line, sizeof(line), maps)) {
		bool heap = strstr(line, "[heap]");

		if (sscanf(line, "%lx-%lx %4s", &from, &to, rights) != 3 || rights[0] != 'r' ||
		    (!heap && to > (((unsigned long)end + page_size - 1) & -page_size)))
			continue;
		for (p = (char *)from; p < (volatile char *)to; p += page_size)
			if (rights[1] == 'w')
				*p = *p;
			else
				(void)*p;
	}
	if (maps)
		fclose(maps);
}

static unsigned char *area_base;

/*
 * One area for all faults, so that no activity allocates page tables or code
 * pages of its own: those are touched here, before anything is counted.
 */
void fault_prepare(void)
{
	touch_program();
	area_base = mmap(NULL, AREA_PAGES * page_size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area_base == MAP_FAILED)
		die("mmap");
	madvise(area_base, AREA_PAGES * page_size, MADV_NOHUGEPAGE);
	make_faults(AREA_PAGES);
	getppid_times(1);
}

/* The area with none of its pages present. */
unsigned char *fault_area(unsigned int pages)
{
	if (pages > AREA_PAGES) {
		errno = E2BIG;
		die("fault area");
	}
	if (madvise(area_base, AREA_PAGES * page_size, MADV_DONTNEED) < 0)
		die("madvise");
	return area_base;
}

void fault_touch(unsigned char *area, unsigned int pages)
{
	unsigned int i;

	for (i = 0; i < pages; i++)
		((volatile unsigned char *)area)[i * page_size] = 1;
}

/* Exactly that many page faults, all from user mode, none of them major. */
void make_faults(unsigned int pages)
{
	fault_touch(fault_area(pages), pages);
}

u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

void spin_ms(unsigned int ms)
{
	u64 end = now_ns() + ms * 1000000ull;

	while (now_ns() < end)
		;
}

void getppid_times(unsigned int n)
{
	while (n--)
		syscall(SYS_getppid);
}
