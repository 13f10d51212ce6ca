/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Common declarations of bench, the program that measures what operations of
 * perf events cost.
 */
#ifndef BENCH_H
#define BENCH_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/types.h>

#ifndef PERF_UAPI_HEADER
#define PERF_UAPI_HEADER "../../../../../include/uapi/linux/perf_event.h"
#endif
#include PERF_UAPI_HEADER

typedef uint64_t u64;
typedef uint32_t u32;

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define REPEATS		9

/*
 * One row of the output. setup() gets the row's number and says whether the
 * row can be measured here; run() does the operation n times; again() makes
 * ready for the next repeat; cleanup() undoes setup().
 */
struct row {
	const char *name;
	bool (*setup)(unsigned int arg);
	void (*run)(unsigned int n);
	void (*again)(void);
	void (*cleanup)(void);
	unsigned int arg;		/* for setup() */
	unsigned int n;			/* operations of one repeat */
	unsigned int repeats;		/* 0: REPEATS */
	double (*measure)(unsigned int n);	/* instead of timing run() */
};

extern const struct row none_rows[];
extern const struct row file_rows[];
extern const struct row count_rows[];
extern const struct row switch_rows[];
extern const struct row sample_rows[];
extern const struct row trace_rows[];
extern const struct row cgroup_rows[];
extern const struct row hardware_rows[];
extern const struct row curve_rows[];
extern const struct row stream_rows[];
extern const struct row profile_rows[];
extern const struct row ext_rows[];
extern const struct row ext_task_rows[];
extern const struct row session_rows[];
extern const struct row smp_rows[];
extern const struct row lines_rows[];
extern const struct row thread_rows[];

/* ---- bench.c ---- */
void die(const char *what) __attribute__((noreturn));
void pin(unsigned int cpu);
u64 now_ns(void);
double time_of(void (*run)(unsigned int n), unsigned int n);
extern size_t page_size;
extern char *self_path;

int attr_open(struct perf_event_attr *a, pid_t pid, int cpu, int group, unsigned long flags);
void attr_init(struct perf_event_attr *a, u32 type, u64 config);
/* Events the row holds: closed by close_events(). */
int event_add(struct perf_event_attr *a, pid_t pid, int cpu);
int event_join(struct perf_event_attr *a, pid_t pid, int cpu, int leader);
int event_keep(int fd);
bool software(u64 config, u64 bits, unsigned int count);
void attr_bits(struct perf_event_attr *a, u64 bits);
void close_events(void);
int first_event(void);
int last_event(void);

/* Activity. */
void run_getppid(unsigned int n);
void run_fault(unsigned int n);
void run_fork(unsigned int n);
void run_fork_sharing(unsigned int n);
double least_time(void (*run)(unsigned int n), unsigned int n);
double least_fork(unsigned int n);
double least_fork_sharing(unsigned int n);
pid_t fork_sharing(void);
void run_exec(unsigned int n);
void run_pingpong(unsigned int n);
void run_exec_map(unsigned int n);
void partner_start(void);
void partner_stop(void);
pid_t partner_pid(void);

/* A buffer of the row's first event. */
#define BUFFER_BYTES		(1u << 20)
void buffer_map(void);
void buffer_drain(void);
void buffer_read(void (*one)(const struct perf_event_header *h));
u64 buffer_count(void);
void buffer_unmap(void);
u64 buffer_head(void);
void map_again(void);
bool buffer_written_by(void (*run)(unsigned int n));

/* ---- bench-lines.c: eight kinds of events of software ---- */
void software_kind(struct perf_event_attr *a, unsigned int i);

/* ---- bench-thread.c: threads under a profiler, which many CPUs have, too ---- */
bool profiled(unsigned int nr_cpus);
void run_thread(unsigned int n);

/* ---- bench-profile.c: rows of a page fault that others have, too ---- */
bool profile_with_program(unsigned int unused);
bool profile_with_hist(unsigned int unused);
void profile_done(void);

#define BIT_DISABLED		(1ull << 0)
#define BIT_INHERIT		(1ull << 1)
#define BIT_EXCLUDE_KERNEL	(1ull << 5)
#define BIT_MMAP		(1ull << 8)
#define BIT_TASK		(1ull << 13)
#define BIT_WATERMARK		(1ull << 14)
#define BIT_MMAP2		(1ull << 23)

#endif
