// SPDX-License-Identifier: GPL-2.0
/*
 * vsyscall.c - system calls that the kernel of x86_64 emulates in a page fault.
 */
#include "lib/ptest.h"

#ifdef __x86_64__
#define VSYSCALL_TIME	0xffffffffff600400ul
#define CALLS		50

static void call_vsyscall(void *arg)
{
	long (*vsyscall_time)(long *t) = (long (*)(long *))VSYSCALL_TIME;
	long before = time(NULL), now;
	int i;

	(void)arg;
	for (i = 0; i < CALLS; i++) {
		now = vsyscall_time(NULL);
		pt_check(now >= before && now <= before + 3600, "%ld after %ld", now, before);
	}
}

static void faults_of_emulated_calls(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	static struct pt_record rec;
	static struct pt_sample s;
	struct pt_ring ring;
	int fd, status, n = 0;
	pid_t pid;

	pt_in_child(pid)
		call_vsyscall(NULL);
	status = pt_wait(pid);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV)
		pt_skip("no vsyscall page");
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_CALLCHAIN |
			   PERF_SAMPLE_STACK_USER | PERF_SAMPLE_PHYS_ADDR |
			   PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE;
	attr.sample_stack_user = 1024;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, fd, 64);
	call_vsyscall(NULL);
	pt_settle();
	pt_drain(&ring);
	pt_reset(fd);
	call_vsyscall(NULL);
	pt_eq(pt_count(fd), CALLS);
	pt_fault(5);
	pt_disable(fd);
	pt_eq(pt_count(fd), CALLS + 5);
	/* The page is neither read nor executed: its address is where the instruction should be. */
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		pt_eq(s.ip == VSYSCALL_TIME, n < CALLS);
		pt_eq(s.addr == VSYSCALL_TIME, n < CALLS);
		n++;
	}
	pt_eq(n, CALLS + 5);
}
#else
static void faults_of_emulated_calls(void)
{
	pt_skip("of x86_64 only");
}
#endif

static const struct pt_case cases[] = {
	{ "faults_of_emulated_calls", faults_of_emulated_calls },
};

PT_MAIN(cases)
