// SPDX-License-Identifier: GPL-2.0
/*
 * run.c - run a table of cases, each in a child process, and report in TAP.
 *
 * The child's exit code carries the result: 0 passed, 1 failed, 4 skipped.
 * A child has WATCHDOG_SECONDS to end; then it is killed by its alarm and
 * the case has failed. Failures inside a case are printed as TAP comments
 * at once, in order, because stdout is line buffered and shared.
 *
 * Arguments: names of cases restrict the run to them.
 */
#include "ptest.h"
#include <signal.h>
#include "../../kselftest.h"

#define WATCHDOG_SECONDS	240
#define SLOW_NS		500000000

static int failures;

int (*pt_reexec_hook)(int argc, char **argv);

void pt_msg(const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	printf("# %s\n", line);
	fflush(stdout);
}

void pt_note_fail(const char *file, int line, const char *fmt, ...)
{
	const char *base = strrchr(file, '/');
	char text[512];
	va_list ap;

	failures++;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	pt_msg("%s:%d: %s", base ? base + 1 : file, line, text);
}

bool pt_eq_at(const char *file, int line, const char *what, s64 got, s64 want)
{
	if (got == want)
		return true;
	pt_note_fail(file, line, "%s is %lld (%#llx), expected %lld (%#llx)", what,
		     (long long)got, (long long)got, (long long)want, (long long)want);
	return false;
}

int pt_failures(void)
{
	return failures;
}

void pt_end_failed(void)
{
	fflush(stdout);
	_exit(KSFT_FAIL);
}

void pt_end_case(void)
{
	fflush(stdout);
	_exit(failures ? KSFT_FAIL : KSFT_PASS);
}

void pt_skip(const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	pt_msg("SKIP: %s", text);
	/* A skip must not hide a failure found before it. */
	_exit(failures ? KSFT_FAIL : KSFT_SKIP);
}

static int run_one(const struct pt_case *c)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0) {
		pt_msg("fork: %s", strerror(errno));
		return KSFT_FAIL;
	}
	if (!pid) {
		setpgid(0, 0);
		alarm(WATCHDOG_SECONDS);
		pt_settle();
		c->fn();
		pt_end_case();
	}
	if (waitpid(pid, &status, 0) != pid) {
		pt_msg("waitpid: %s", strerror(errno));
		return KSFT_FAIL;
	}
	/* Whatever the case forked and forgot goes with it. */
	kill(-pid, SIGKILL);
	pt_sysctl_restore();
	if (!pt_unload_test_modules())
		return KSFT_FAIL;
	if (WIFSIGNALED(status)) {
		pt_msg("killed by signal %d%s", WTERMSIG(status),
		       WTERMSIG(status) == SIGALRM ? " (watchdog)" : "");
		return KSFT_FAIL;
	}
	return WEXITSTATUS(status);
}

static bool selected(const char *name, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], name))
			return true;
	}
	return argc < 2;
}

int pt_run(int argc, char **argv, const struct pt_case *cases, unsigned int nr)
{
	unsigned int i, plan = 0;

	if (pt_reexec_hook) {
		int ret = pt_reexec_hook(argc, argv);

		if (ret >= 0)
			return ret;
	}
	for (i = 0; i < nr; i++)
		plan += selected(cases[i].name, argc, argv);
	ksft_print_header();
	if (!plan)
		ksft_exit_fail_msg("no case of that name\n");
	ksft_set_plan(plan);
	pt_sysctl_share();
	for (i = 0; i < nr; i++) {
		int result;
		u64 start;

		if (!selected(cases[i].name, argc, argv))
			continue;
		start = pt_clock(CLOCK_MONOTONIC);
		result = run_one(&cases[i]);
		start = pt_clock(CLOCK_MONOTONIC) - start;
		if (start > SLOW_NS)
			pt_msg("%s took %llu ms", cases[i].name,
			       (unsigned long long)start / 1000000);
		if (result == KSFT_PASS)
			ksft_test_result_pass("%s\n", cases[i].name);
		else if (result == KSFT_SKIP)
			ksft_test_result_skip("%s\n", cases[i].name);
		else
			ksft_test_result_fail("%s\n", cases[i].name);
	}
	ksft_finished();
}
