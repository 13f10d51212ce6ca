// SPDX-License-Identifier: GPL-2.0
/*
 * The perf buffer against BPF's ring buffer: a program writes records of eight
 * bytes, a thread that sleeps in epoll_wait() reads them, on the same CPU. A
 * row is what a record costs from end to end, with the system call that runs
 * the program (which "bpf: test_run empty" has alone). The buffer wakes the
 * reader as it likes, which for perf is at each record, or at each 500th, as
 * the sampled wake-ups of the base's own benchmark of ring buffers do.
 */
#include "bench.h"
#include "bench-bpf.h"
#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>

#define SAMPLED		500
#define RECORDS		(20 * SAMPLED)
#define RING_BYTES	(1u << 18)

static int map = -1, quiet = -1, loud = -1, event = -1;
static char *reader_page, *writer_page;
static volatile u64 records_read;
static pthread_t reader;
static volatile bool stop;

static bool is_perf(void)
{
	return event >= 0;
}

static void read_perf(void)
{
	struct perf_event_mmap_page *page = (void *)writer_page;
	u64 head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), tail = page->data_tail;
	char *data = writer_page + page_size;

	while (tail < head) {
		struct perf_event_header *h = (void *)(data + tail % RING_BYTES);

		records_read += h->type == PERF_RECORD_SAMPLE;
		tail += h->size;
	}
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
}

static void read_bpf(void)
{
	u64 *consumer = (void *)reader_page, *producer = (void *)writer_page;
	char *data = writer_page + page_size;
	u64 at = *consumer;

	while (at < __atomic_load_n(producer, __ATOMIC_ACQUIRE)) {
		u32 length = __atomic_load_n((u32 *)(data + at % RING_BYTES), __ATOMIC_ACQUIRE);

		if (length & BPF_RINGBUF_BUSY_BIT)
			break;
		records_read += !(length & BPF_RINGBUF_DISCARD_BIT);
		at += (length + BPF_RINGBUF_HDR_SZ + 7) / 8 * 8;
		__atomic_store_n(consumer, at, __ATOMIC_RELEASE);
	}
}

static void *read_all(void *unused)
{
	struct epoll_event e = { .events = EPOLLIN };
	int poll = epoll_create1(EPOLL_CLOEXEC);

	if (poll < 0 || epoll_ctl(poll, EPOLL_CTL_ADD, is_perf() ? event : map, &e) < 0)
		die("epoll");
	while (!stop) {
		if (epoll_wait(poll, &e, 1, -1) < 0 && errno != EINTR)
			die("epoll_wait");
		if (is_perf())
			read_perf();
		else
			read_bpf();
	}
	close(poll);
	return unused;
}

/* *(u64 *)(fp - 8) = 0; output(...); return 0; */
static int program(int helper, u64 flags)
{
	struct bpf_insn insns[24];
	unsigned int n = 0;

	insns[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_X, 6, 1, 0, 0);
	insns[n++] = INSN(BPF_ST | BPF_MEM | BPF_DW, 10, 0, -8, 0);
	if (helper == BPF_FUNC_perf_event_output) {
		/* ctx, map, flags, data, size */
		insns[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_X, 1, 6, 0, 0);
		insns[n++] = INSN(BPF_LD | BPF_DW | BPF_IMM, 2, BPF_PSEUDO_MAP_FD, 0, map);
		insns[n++] = INSN(0, 0, 0, 0, 0);
		insns[n++] = INSN(BPF_ALU | BPF_MOV | BPF_K, 3, 0, 0, (int)flags);
		insns[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_X, 4, 10, 0, 0);
		insns[n++] = INSN(BPF_ALU64 | BPF_ADD | BPF_K, 4, 0, 0, -8);
		insns[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_K, 5, 0, 0, 8);
	} else {
		/* map, data, size, flags */
		insns[n++] = INSN(BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_FD, 0, map);
		insns[n++] = INSN(0, 0, 0, 0, 0);
		insns[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_X, 2, 10, 0, 0);
		insns[n++] = INSN(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -8);
		insns[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_K, 3, 0, 0, 8);
		insns[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_K, 4, 0, 0, (int)flags);
	}
	insns[n++] = INSN(BPF_JMP | BPF_CALL, 0, 0, 0, helper);
	insns[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0);
	insns[n++] = INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	return bpf_load(insns, n);
}

static bool start_reader(void)
{
	stop = false;
	records_read = 0;
	errno = pthread_create(&reader, NULL, read_all, NULL);
	return !errno;
}

static bool perf_stream(unsigned int wakeup)
{
	union bpf_attr create = {
		.map_type = BPF_MAP_TYPE_PERF_EVENT_ARRAY, .key_size = 4, .value_size = 4,
		.max_entries = 1,
	};
	union bpf_attr update = { 0 };
	struct perf_event_attr a;
	u32 key = 0;

	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT);
	a.sample_period = 1;
	a.sample_type = PERF_SAMPLE_RAW;
	a.wakeup_events = wakeup;
	event = attr_open(&a, -1, 0, -1, 0);
	map = bpf(BPF_MAP_CREATE, &create);
	if (event < 0 || map < 0)
		return false;
	writer_page = mmap(NULL, RING_BYTES + page_size, PROT_READ | PROT_WRITE, MAP_SHARED, event,
			   0);
	update.map_fd = map;
	update.key = (uintptr_t)&key;
	update.value = (uintptr_t)&event;
	if (writer_page == MAP_FAILED || bpf(BPF_MAP_UPDATE_ELEM, &update) < 0)
		return false;
	quiet = program(BPF_FUNC_perf_event_output, ~0u);
	loud = dup(quiet);
	return quiet >= 0 && start_reader();
}

static bool bpf_stream(unsigned int sampled)
{
	union bpf_attr create = { .map_type = BPF_MAP_TYPE_RINGBUF, .max_entries = RING_BYTES };

	map = bpf(BPF_MAP_CREATE, &create);
	if (map < 0)
		return false;
	reader_page = mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
	/* The data is mapped twice, one behind the other. */
	writer_page = mmap(NULL, page_size + 2 * RING_BYTES, PROT_READ, MAP_SHARED, map, page_size);
	if (reader_page == MAP_FAILED || writer_page == MAP_FAILED)
		return false;
	quiet = program(BPF_FUNC_ringbuf_output, sampled ? BPF_RB_NO_WAKEUP : 0);
	loud = program(BPF_FUNC_ringbuf_output, sampled ? BPF_RB_FORCE_WAKEUP : 0);
	return quiet >= 0 && loud >= 0 && start_reader();
}

static void write_record(int prog)
{
	union bpf_attr attr = { .test.prog_fd = prog };

	if (bpf(BPF_PROG_TEST_RUN, &attr) < 0)
		die("BPF_PROG_TEST_RUN");
}

/* The last of each SAMPLED wakes; all have been read at the end. */
static double stream(unsigned int n)
{
	u64 start = now_ns(), until = records_read + n;
	unsigned int i;

	for (i = 1; i <= n; i++)
		write_record(i % SAMPLED ? quiet : loud);
	while (records_read < until)
		sched_yield();
	return (double)(now_ns() - start) / n;
}

static void stream_done(void)
{
	unsigned int i;

	stop = true;
	for (i = 0; reader && i < SAMPLED; i++)
		write_record(loud);
	if (reader)
		pthread_join(reader, NULL);
	if (writer_page)
		munmap(writer_page, page_size + (is_perf() ? RING_BYTES : 2 * RING_BYTES));
	if (reader_page)
		munmap(reader_page, page_size);
	close(map);
	close(quiet);
	close(loud);
	close(event);
	map = -1;
	quiet = -1;
	loud = -1;
	event = -1;
	reader = 0;
	reader_page = NULL;
	writer_page = NULL;
}

#define STREAM(name, setup, arg) \
	{ "stream: " name, setup, NULL, NULL, stream_done, arg, RECORDS, 3, stream }

const struct row stream_rows[] = {
	STREAM("perf buffer, a wake-up each", perf_stream, 1),
	STREAM("perf buffer, a wake-up each 500", perf_stream, SAMPLED),
	STREAM("BPF ring buffer, a wake-up when drained", bpf_stream, 0),
	STREAM("BPF ring buffer, a wake-up each 500", bpf_stream, 1),
	{ }
};
