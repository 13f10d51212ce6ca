// SPDX-License-Identifier: GPL-2.0
/* inject.c - see inject.h */
#include "inject.h"
#include <sys/mount.h>

#define DEBUGFS		"/sys/kernel/debug"

static int nth_fd = -1;

static void tune(const char *name, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), DEBUGFS "/%s", name);
	pt_eq(pt_write_file(path, value), 0);
}

/*
 * A vmap() has kmemleak allocate what it notes of it; kmemleak warns under its locks when that
 * fails, and the locks of the console below its own are a circle to lockdep. So that never fails.
 */
static void spare_kmemleak(const char *kind)
{
	char path[64], text[32];
	u64 begin, end;

	begin = pt_kernel_range("kmemleak_scan_area", &end);
	if (!begin)
		return;
	snprintf(path, sizeof(path), "%s/reject-start", kind);
	snprintf(text, sizeof(text), "%#llx", (unsigned long long)begin);
	tune(path, text);
	snprintf(path, sizeof(path), "%s/reject-end", kind);
	snprintf(text, sizeof(text), "%#llx", (unsigned long long)end);
	tune(path, text);
}

/* Allocations that may sleep fail as well, of whatever size, and nobody prints a stack. */
void need_injection(void)
{
	char path[64];

	if (!pt_path_exists(DEBUGFS "/failslab") && mount("debugfs", DEBUGFS, "debugfs", 0, NULL) &&
	    errno != EBUSY)
		pt_skip("no debugfs: %s", strerror(errno));
	if (!pt_path_exists(DEBUGFS "/failslab") || !pt_path_exists(DEBUGFS "/fail_page_alloc"))
		pt_skip("this kernel cannot make allocations fail");
	tune("failslab/ignore-gfp-wait", "N");
	tune("failslab/verbose", "0");
	tune("fail_page_alloc/ignore-gfp-wait", "N");
	tune("fail_page_alloc/ignore-gfp-highmem", "N");
	tune("fail_page_alloc/min-order", "0");
	tune("fail_page_alloc/verbose", "0");
	spare_kmemleak("failslab");
	spare_kmemleak("fail_page_alloc");
	snprintf(path, sizeof(path), "/proc/self/task/%d/fail-nth", (int)pt_tid());
	nth_fd = open(path, O_RDWR | O_CLOEXEC);
	if (nth_fd < 0)
		pt_skip("no %s", path);
}

void arm(int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", n);

	pt_need(pwrite(nth_fd, text, (size_t)len, 0) == len, "fail-nth: %s", strerror(errno));
}

/* Return: the n-th allocation came, and failed. */
bool disarm(void)
{
	char text[16] = "";

	pt_need(pread(nth_fd, text, sizeof(text) - 1, 0) > 0, "fail-nth: %s", strerror(errno));
	if (!atoi(text))
		return true;
	arm(0);
	return false;
}

/*
 * One turn each: try() returns 0 or -errno and undoes itself when it worked; check() looks at what
 * is left in either case. Some allocations may fail without harm.
 */
void all_turns(int (*try)(void), void (*check)(void))
{
	int n, failed = 0;

	pt_eq(try(), 0);
	check();
	for (n = 1; n < TURNS_MAX; n++) {
		bool hit;
		int ret;

		arm(n);
		ret = try();
		hit = disarm();
		pt_check(!ret || ret == -ENOMEM, "turn %d: %s", n, strerror(-ret));
		pt_check(!ret || hit, "turn %d: failed without a reason", n);
		failed += ret == -ENOMEM;
		check();
		if (!hit)
			break;
		if (pt_failures())
			return;
	}
	pt_check(n < TURNS_MAX, "no end after %d turns", n);
	pt_check(failed > 0, "nothing failed");
	pt_msg("%d allocations, %d calls failed", n - 1, failed);
	pt_eq(try(), 0);
	check();
}

/* What undoes a call is not what is tested here. Return: how many are left until one fails. */
int rest(void)
{
	char text[16] = "";
	int left = pread(nth_fd, text, sizeof(text) - 1, 0) > 0 ? atoi(text) : 0;

	if (left > 0)
		arm(0);
	return left;
}

void go_on(int left)
{
	if (left > 0)
		arm(left);
}

/*
 * Memory is shared: a copy on write that fails when the C library's rseq area is written to, as it
 * is whenever this task is preempted, would end the test with SIGSEGV.
 */
int try_fork(void)
{
	pid_t pid = vfork();

	if (pid < 0)
		return errno == EAGAIN ? -ENOMEM : -errno;
	if (!pid)
		_exit(0);
	pt_wait(pid);
	return 0;
}
