// SPDX-License-Identifier: GPL-2.0
/* traced.c - calls, sleeps and tasks, for uftrace, which wants it made with -pg. */
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KEEP __attribute__((noipa))

KEEP static int inner(int n)
{
	return n + 1;
}

KEEP static int one(int n)
{
	for (int i = 0; i < 3; i++)
		n = inner(n);
	return n;
}

KEEP static void sleeping(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
}

int main(void)
{
	int n = 0;

	for (int i = 0; i < 5; i++)
		n = one(n);
	for (int i = 0; i < 4; i++)
		sleeping();
	for (int i = 0; i < 2; i++) {
		if (!fork())
			_exit(inner(0) - 1);
		wait(NULL);
	}
	prctl(PR_SET_NAME, "renamed");
	printf("%d\n", n);
	return 0;
}
