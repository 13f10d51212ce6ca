/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Common declarations of abi-diff, the program that prints what the
 * perf_event_open() ABI of the running kernel answers.
 */
#ifndef ABI_H
#define ABI_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/types.h>
#include <linux/hw_breakpoint.h>

/*
 * The header of the tree this file lies in, not the one of the build host:
 * the answers must not depend on the distribution that compiled the program.
 */
#ifndef PERF_UAPI_HEADER
#define PERF_UAPI_HEADER "../../../../../include/uapi/linux/perf_event.h"
#endif
#include PERF_UAPI_HEADER

typedef uint64_t u64;
typedef uint32_t u32;
typedef uint16_t u16;

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* The attr size all tests use unless they are about sizes: fixed on purpose. */
#define ATTR_SIZE	136
/* Byte offset of the word that holds the one-bit members of the attr. */
#define ATTR_BITS_OFF	40

/* ---- abi-diff.c: sections and lines ---- */
struct section {
	const char *name;
	void (*run)(void);
};

extern const struct section attr_sections[];
extern const struct section type_sections[];
extern const struct section open_sections[];
extern const struct section group_sections[];
extern const struct section perm_sections[];
extern const struct section file_sections[];
extern const struct section map_sections[];
extern const struct section count_sections[];
extern const struct section task_sections[];
extern const struct section ring_sections[];
extern const struct section side_sections[];
extern const struct section sample_sections[];
extern const struct section system_sections[];
extern const struct section aux_sections[];
extern const struct section bpf_sections[];
extern const struct section driver_sections[];
extern const struct section object_sections[];

void say(const char *name, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void die(const char *what) __attribute__((noreturn));

/* ---- abi-bpf.c: a program that only returns, or -errno ---- */
int bpf_program(void);

/* ---- abi-lib.c ---- */
const char *err_name(int err);
/* "ok" for fd >= 0, the errno's name for a negative one. */
const char *res(long ret);
/* Value of a call that returns -1 with errno: ret, or -errno. */
long neg(long ret);

void attr_init(struct perf_event_attr *a, u32 type, u64 config);
u64 attr_get_bits(const struct perf_event_attr *a);
void attr_set_bits(struct perf_event_attr *a, u64 bits);
int pe_open(struct perf_event_attr *a, pid_t pid, int cpu, int group, unsigned long flags);
/* Opens on the calling task, closes at once, returns 0 or -errno. */
int try_open(struct perf_event_attr *a);
int try_open_at(struct perf_event_attr *a, pid_t pid, int cpu, int group, unsigned long flags);
/* An event that must open: the program ends when it does not. */
int must_open(struct perf_event_attr *a);
int sw_open(u64 config, u64 bits, int group);
u64 event_id(int fd);
u64 read_count(int fd);

/* A set of (label, answer) pairs printed as groups of labels with one answer. */
struct tally;
struct tally *tally_new(void);
void tally_add(struct tally *t, const char *answer, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void tally_say(struct tally *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* One thing an event can count. */
struct source {
	const char *name;
	u32 type;
	u64 config, config1, config2;
	u32 bp_type;
	bool absent;		/* no such PMU or tracepoint on this kernel */
	bool slow;		/* opening it patches kernel text: not for sweeps */
	bool apart;		/* swept by sections of its own */
};

extern struct source sources[];
extern const unsigned int nr_sources;
extern volatile u64 watched[4];
void sources_init(void);
const struct source *source_find(const char *name);
void source_attr(const struct source *s, struct perf_event_attr *a);
long long file_number(const char *path);
int file_write(const char *path, const char *value);
int file_read(const char *path, char *buf, size_t len);

extern const char *const bit_name[64];
extern const u64 record_bits;
extern const char *const sample_name[25];
extern const u64 driver_samples;
#define NR_ATTR_BITS	38
#define NR_SAMPLE_BITS	25

/* A mapped buffer. */
struct ring {
	int fd;
	size_t pages;			/* data pages */
	struct perf_event_mmap_page *page;
	unsigned char *data;
	size_t size;
	unsigned char *copy;		/* linear copy of what the last take found */
	size_t len;
};

struct rec {
	const struct perf_event_header *h;
	const u64 *body;
	unsigned int n;			/* u64 words of the body */
};

int ring_map(struct ring *r, int fd, size_t pages, int prot);
void ring_unmap(struct ring *r);
void ring_take(struct ring *r);
bool ring_next(struct ring *r, size_t *pos, struct rec *rec);
u64 ring_count(struct ring *r, u32 type);
const char *rec_name(u32 type);
/* "SAMPLE/2/16 x3, LOST/0/24": type, misc, size of every record in order. */
const char *ring_story(struct ring *r);
bool ring_empty(struct ring *r);

void pin_to_cpu(int cpu);
pid_t fork_quiet(void);
int wait_child(pid_t pid);

/* Scripted activity. */
void fault_prepare(void);
unsigned char *fault_area(unsigned int pages);
void fault_touch(unsigned char *area, unsigned int pages);
void make_faults(unsigned int pages);
void spin_ms(unsigned int ms);
u64 now_ns(void);
void getppid_times(unsigned int n);
extern size_t page_size;
extern int nr_cpus;
extern char *self_path;

#endif
