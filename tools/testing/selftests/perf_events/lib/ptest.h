/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ptest.h - what every program of this folder shares.
 *
 * A program is a table of named cases and a main() made by PT_MAIN(). Every
 * case runs in a forked child of its own: it starts without events, without
 * fds of its predecessors and with a fresh set of pages, and a crash or a
 * hang of one case fails that case only. The parent speaks TAP.
 *
 * Inside a case:
 *	pt_check(cond, fmt...)	note a failure and go on
 *	pt_eq(a, b)		the same for two integers, prints both
 *	pt_need(cond, fmt...)	note a failure and end the case
 *	pt_skip(fmt...)		end the case, the reason is printed
 * A helper of the library that cannot do its work ends the case as failed,
 * so that callers need not look at its result.
 */
#ifndef PTEST_H
#define PTEST_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "../../../../../include/uapi/linux/perf_event.h"

typedef uint64_t u64;
typedef int64_t s64;
typedef uint32_t u32;
typedef uint16_t u16;
typedef uint8_t u8;

#define PT_ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define PT_NOINLINE		__attribute__((noinline, noclone))
#define PT_NORETURN		__attribute__((noreturn))
#define PT_PRINTF(a, b)		__attribute__((format(printf, a, b)))

/* ---- cases and checks (run.c) ---- */

struct pt_case {
	const char *name;
	void (*fn)(void);
};

int pt_run(int argc, char **argv, const struct pt_case *cases, unsigned int nr);

/* Called before pt_run() when the program was started again by a case. */
extern int (*pt_reexec_hook)(int argc, char **argv);

#define PT_MAIN(table)							\
	int main(int argc, char **argv)					\
	{								\
		return pt_run(argc, argv, table, PT_ARRAY_SIZE(table));	\
	}

PT_PRINTF(3, 4) void pt_note_fail(const char *file, int line, const char *fmt, ...);
PT_NORETURN void pt_end_failed(void);
PT_NORETURN void pt_end_case(void);
PT_NORETURN PT_PRINTF(1, 2) void pt_skip(const char *fmt, ...);
PT_PRINTF(1, 2) void pt_msg(const char *fmt, ...);
bool pt_eq_at(const char *file, int line, const char *what, s64 got, s64 want);
int pt_failures(void);

#define pt_check(cond, ...)						\
	do {								\
		if (!(cond))						\
			pt_note_fail(__FILE__, __LINE__, __VA_ARGS__);	\
	} while (0)

#define pt_need(cond, ...)						\
	do {								\
		if (!(cond)) {						\
			pt_note_fail(__FILE__, __LINE__, __VA_ARGS__);	\
			pt_end_failed();				\
		}							\
	} while (0)

#define pt_eq(got, want) \
	pt_eq_at(__FILE__, __LINE__, #got, (s64)(got), (s64)(want))

/* ---- system (system.c) ---- */

void pt_pin(int cpu);
/* SCHED_FIFO there until the end of the case: no ordinary task or worker comes in between. */
void pt_first_on_cpu(int cpu);
int pt_online_cpus(void);
/* How often this thread has been switched out, by whatever. */
s64 pt_switches(void);
u64 pt_clock(clockid_t id);
/*
 * Turns of a race whose number is arbitrary: as many, or on the debug kernel a tenth, at least one.
 */
unsigned int pt_turns(unsigned int full);
pid_t pt_tid(void);
bool pt_path_exists(const char *path);
/* Its address in /proc/kallsyms; 0: there is none */
u64 pt_kernel_symbol(const char *name);
/* And where the next one begins: the file has those of the kernel itself by address. */
u64 pt_kernel_range(const char *name, u64 *end);
/* Where in the program's file is this instruction? */
u64 pt_file_offset(const void *code);
/* The text of a small file without its last newline; NULL when it cannot be read. */
char *pt_slurp(const char *path, char *buf, size_t size);
long long pt_read_number(const char *path, long long absent);
/* 0 or -errno */
int pt_write_file(const char *path, const char *text);
long long pt_sysctl_get(const char *name);
/* Lasts until the end of the case. */
void pt_sysctl_set(const char *name, long long value);
void pt_sysctl_share(void);
void pt_sysctl_restore(void);
/* Make the calling process an ordinary user without capabilities. */
void pt_become_nobody(void);
/* fn() in a child that is an ordinary user, or one in a group. */
void pt_as_nobody(void (*fn)(void));
void pt_as_member(gid_t gid, void (*fn)(void));
/* fn(arg) in a child that is an ordinary user, but for one capability. */
void pt_with_capability(int cap, void (*fn)(void *arg), void *arg);
u64 pt_tracepoint_id(const char *system, const char *name);
/* Counts the calls to other CPUs that @cpu makes for this function of the kernel. */
int pt_open_cross_calls(const char *function, int cpu);
int pt_field_offset(const char *system, const char *name, const char *field);
const char *pt_tracefs(void);
/* attr.type of a PMU in sysfs, -1 when there is none */
int pt_pmu_type(const char *name);

/* ---- children (child.c) ---- */

/*
 * pt_in_child(pid) { ... }: the block runs in a child, which ends with it, failed if one of its
 * checks has; no break leaves it. The caller goes on behind the block at once and has the child's
 * pid. It looks at how the child ended by pt_reap*() or pt_kill(); one that is forgotten is killed
 * with the case.
 */
#define pt_in_child(pid)	for ((pid) = pt_child(); !(pid); pt_end_child())
pid_t pt_child(void);
PT_NORETURN void pt_end_child(void);
/* The block is a call of fn(arg). */
pid_t pt_fork(void (*fn)(void *arg), void *arg);
/* Wait until it ends: without a failure, by a signal, or somehow: what waitpid() says. */
void pt_reap(pid_t pid);
void pt_reap_killed(pid_t pid, int sig);
int pt_wait(pid_t pid);
/* Kill it, and wait until it is gone. */
void pt_kill(pid_t pid);

/*
 * A gate, which is a pipe: made before the fork; each opening lets one wait pass. Who cannot open
 * it, or waits for others that are all gone, ends as failed.
 */
void pt_gate_make(int gate[2]);
void pt_gate_open(int gate[2]);
void pt_gate_wait(int gate[2]);

/* ---- test PMUs (module.c) ---- */

/*
 * Load a module of ../pmu with its parameters ("a=1 b=2", or NULL) until the end of the case. The
 * case is skipped when the module was not built. A module that is in use after the case fails it.
 */
void pt_load_module(const char *name, const char *params);
/* 0 or -errno */
int pt_try_load_module(const char *name, const char *params);
int pt_unload_module(const char *name);
int pt_module_set(const char *module, const char *param, long long value);
long long pt_module_get(const char *module, const char *param);
/* Between cases; false when one stays. */
bool pt_unload_test_modules(void);

/* ---- events (event.c) ---- */

#define PT_SW(name)	PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##name
#define PT_HW(name)	PERF_TYPE_HARDWARE, PERF_COUNT_HW_##name

struct perf_event_attr pt_attr(u32 type, u64 config);
/* The system call: a file descriptor or -errno. */
int pt_try_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group, unsigned long flags);
/* The same, and the case fails unless it worked. */
int pt_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group, unsigned long flags);
/* Opens attr on the calling task and closes it again: 0 or -errno. */
int pt_probe(const struct perf_event_attr *attr);
/* Of this instruction of the program, or of returns of the function that begins with it. */
struct perf_event_attr pt_uprobe(const void *code, bool ret);
/* The size of the attr that this kernel knows; Linux 6.12 says 136. */
u32 pt_attr_size(void);
/*
 * Linux 6.12 itself, told by that size and by nothing a case is about: what this project does that
 * it does not must fail when it stops working, not be skipped.
 */
bool pt_is_stock(void);
/* Open a hardware event of the calling task or end the case as skipped. */
int pt_open_hw(struct perf_event_attr *attr, int group);
u64 pt_count(int fd);
u64 pt_id(int fd);
/* What fdinfo says of a key, until the next call; NULL: nothing, as Linux 6.12 of any. */
const char *pt_fdinfo(int fd, const char *key);
/* -errno or the result */
long pt_ioctl(int fd, unsigned long req, unsigned long arg);
#define pt_enable(fd)	pt_eq(pt_ioctl((fd), PERF_EVENT_IOC_ENABLE, 0), 0)
#define pt_disable(fd)	pt_eq(pt_ioctl((fd), PERF_EVENT_IOC_DISABLE, 0), 0)
#define pt_reset(fd)	pt_eq(pt_ioctl((fd), PERF_EVENT_IOC_RESET, 0), 0)

struct pt_value {
	u64 value, id, lost;
};

struct pt_read {
	u64 nr, enabled, running;
	struct pt_value v[64];
};

/* Decode read_format data; returns the number of bytes it took. */
size_t pt_decode_read(u64 read_format, const void *data, size_t size, struct pt_read *out);
size_t pt_read_size(u64 read_format, unsigned int nr);
/* read() exactly the bytes this format has */
void pt_read(int fd, u64 read_format, unsigned int nr, struct pt_read *out);

/* ---- ring buffer (ring.c) ---- */

struct pt_ring {
	int fd;
	int pages;		/* data pages */
	size_t length;		/* of the mapping */
	struct perf_event_mmap_page *page;
	u8 *data;
	u64 size;		/* bytes of data */
	u64 tail;		/* next byte to read */
	bool writable;
};

#define PT_RECORD_MAX	65536

struct pt_record {
	struct perf_event_header h;
	u8 body[PT_RECORD_MAX];
};

long pt_page_size(void);
/* NULL and errno when it did not work */
void *pt_try_map(int fd, int data_pages, int prot);
void pt_map(struct pt_ring *r, int fd, int data_pages);
void pt_map_ro(struct pt_ring *r, int fd, int data_pages);
void pt_unmap(struct pt_ring *r);
u64 pt_head(const struct pt_ring *r);
/* Take one record out; false when there is none. Checks the header. */
bool pt_next(struct pt_ring *r, struct pt_record *rec);
/* The next record of one type; others are dropped. */
bool pt_next_of(struct pt_ring *r, struct pt_record *rec, u32 type);
/* Tell the kernel how far we have read. pt_next() does not. */
void pt_consume(struct pt_ring *r);
void pt_drain(struct pt_ring *r);
/* Drain and count the records of one type */
unsigned int pt_count_records(struct pt_ring *r, u32 type);

/* ---- records (record.c) ---- */

#define PT_IPS_MAX	256

struct pt_sample {
	u64 identifier, ip, time, addr, id, stream_id, period;
	u32 pid, tid, cpu, cpu_res;
	struct pt_read read;
	u64 nr_ips, ips[PT_IPS_MAX];
	u32 raw_size;
	const u8 *raw;
	u64 nr_branches, hw_idx;
	const struct perf_branch_entry *branches;
	const u64 *branch_counters;
	u64 user_abi, user_regs[64];
	u64 stack_size, stack_dyn_size;
	const u8 *stack;
	u64 intr_abi, intr_regs[64];
	u64 weight, data_src, transaction, phys_addr, cgroup, data_page, code_page;
};

/* Decode; fails the case unless the fields take exactly the record's size. */
void pt_parse_sample(const struct perf_event_attr *attr, const struct pt_record *rec,
		     struct pt_sample *s);

/* What sample_id_all appends to the other records. */
size_t pt_trailer_size(const struct perf_event_attr *attr);
/* Decode the end of a record; body_size gets the bytes in front of it. */
void pt_parse_trailer(const struct perf_event_attr *attr, const struct pt_record *rec,
		      struct pt_sample *s, size_t *body_size);

struct pt_rec_mmap {
	u32 pid, tid;
	u64 addr, len, pgoff;
};

struct pt_rec_mmap2 {
	u32 pid, tid;
	u64 addr, len, pgoff;
	u32 maj, min;
	u64 ino, ino_generation;
	u32 prot, flags;
};

struct pt_rec_comm {
	u32 pid, tid;
};

struct pt_rec_task {
	u32 pid, ppid, tid, ptid;
	u64 time;
};

struct pt_rec_lost {
	u64 id, lost;
};

struct pt_rec_throttle {
	u64 time, id, stream_id;
};

/* ---- work with known cost (work.c) ---- */

/* A loop of two instructions per turn; turns must not be 0. */
void pt_spin(u64 turns);
/* First and last byte of the loop's code. */
extern const char pt_spin_start[], pt_spin_end[];
static inline bool pt_in_spin(u64 ip)
{
	return ip >= (u64)(uintptr_t)pt_spin_start && ip < (u64)(uintptr_t)pt_spin_end;
}

/*
 * Bring in every page we have, with our own copy of those we may write, so
 * that from here on only work meant to fault does. A case starts like this;
 * after a fork both sides need it again.
 */
void pt_settle(void);
/*
 * Does one instruction take one nanosecond, every time? So it is on an
 * emulator that counts instructions; timers and counters are exact there.
 */
bool pt_time_is_exact(void);
/* Anonymous pages never touched before, no huge pages. */
u8 *pt_fresh_pages(unsigned int nr);
/* Touch nr pages by one store each; every fresh one is one fault. */
void pt_touch(u8 *base, unsigned int nr);
/* The instruction that does it */
extern const char pt_store_insn[];
/*
 * One store, by the instruction pt_chain_insn, in a function whose frame is
 * followed by one that returns to pt_chain_return and then to the caller.
 */
void pt_chain_outer(u8 *at);
extern const char pt_chain_insn[], pt_chain_return[];
/* One store, by the instruction pt_store_on_insn, with a stack and a caller's frame record. */
void pt_store_on(u8 *at, void *frame, void *stack);
extern const char pt_store_on_insn[];
/* Both. Exactly nr minor faults when the mapping is fresh. */
void pt_fault(unsigned int nr);
/* Run until the calling thread used this much CPU time. */
void pt_burn(u64 ns);
/* Two pipes and a child: each turn switches away from the caller and back. */
struct pt_peer {
	pid_t pid;
	int to, from;
};

void pt_peer_start(struct pt_peer *p);
void pt_peer_turn(struct pt_peer *p);
/* Its last turn is over, and it waits for the next, off the CPU. */
void pt_peer_asleep(struct pt_peer *p);
void pt_peer_stop(struct pt_peer *p);

/* Sleep, for as long as it takes to be switched out once and in again. */
void pt_switch_out(void);

static inline u64 pt_addr(const void *p)
{
	return (u64)(uintptr_t)p;
}

#endif /* PTEST_H */
