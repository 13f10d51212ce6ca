// SPDX-License-Identifier: GPL-2.0
/*
 * work.c - workloads with an exact amount of what clients count.
 *
 * usage: work KIND COUNT [KIND COUNT]...
 *
 * calls    calls of a function named called(), for uprobes
 * getppid  system calls
 * faults   first touches of anonymous pages
 * forks    children that exit at once, waited for
 * threads  threads that return at once, joined
 * execs    children that run /bin/true
 * opens    opens of /dev/null
 * yields   sched_yield()
 * sleeps   of a millisecond each
 * spin     milliseconds of CPU time in spinning()
 * renames  prctl(PR_SET_NAME)
 * maps     executable mappings of /bin/true
 * turns    of a loop of two instructions
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KEEP __attribute__((noipa))

volatile unsigned long called_sum;

KEEP int called(int n)
{
	called_sum += n;
	return n + 1;
}

KEEP void spinning(unsigned long turns)
{
	for (volatile unsigned long i = 0; i < turns; i++)
		;
}

static void turns(unsigned long count)
{
#if defined(__x86_64__)
	asm volatile("1: dec %0; jnz 1b" : "+r"(count) : : "cc");
#else
	asm volatile("1: subs %0, %0, #1; b.ne 1b" : "+r"(count) : : "cc");
#endif
}

static void *thread(void *arg)
{
	return arg;
}

static void child(int exec)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (exec)
			execl("/bin/true", "true", (char *)NULL);
		_exit(exec);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		exit(1);
}

static void faults(int count)
{
	size_t size = sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, size * count, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(1);
	for (int i = 0; i < count; i++)
		p[i * size] = 1;
	munmap(p, size * count);
}

static void spin(int ms)
{
	struct timespec t;
	long long end = 0, now;

	do {
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
		now = t.tv_sec * 1000LL + t.tv_nsec / 1000000;
		if (!end)
			end = now + ms;
		spinning(10000);
	} while (now < end);
}

static void map(void)
{
	int fd = open("/bin/true", O_RDONLY);
	void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	if (fd < 0 || p == MAP_FAILED)
		exit(1);
	munmap(p, 4096);
	close(fd);
}

static void once(const char *kind, int i)
{
	struct timespec ms = { .tv_nsec = 1000000 };
	char name[16];
	pthread_t t;

	if (!strcmp(kind, "calls")) {
		if (called(i) != i + 1)
			exit(1);
	} else if (!strcmp(kind, "getppid")) {
		syscall(SYS_getppid);
	} else if (!strcmp(kind, "forks")) {
		child(0);
	} else if (!strcmp(kind, "execs")) {
		child(1);
	} else if (!strcmp(kind, "threads")) {
		if (pthread_create(&t, NULL, thread, NULL) || pthread_join(t, NULL))
			exit(1);
	} else if (!strcmp(kind, "opens")) {
		close(open("/dev/null", O_RDONLY));
	} else if (!strcmp(kind, "yields")) {
		sched_yield();
	} else if (!strcmp(kind, "sleeps")) {
		nanosleep(&ms, NULL);
	} else if (!strcmp(kind, "renames")) {
		snprintf(name, sizeof(name), "name%d", i);
		prctl(PR_SET_NAME, name);
	} else if (!strcmp(kind, "maps")) {
		map();
	} else {
		fprintf(stderr, "work: what is '%s'?\n", kind);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	for (int a = 1; a + 1 < argc; a += 2) {
		int count = atoi(argv[a + 1]);

		if (!strcmp(argv[a], "faults")) {
			faults(count);
			continue;
		}
		if (!strcmp(argv[a], "turns")) {
			turns(count);
			continue;
		}
		if (!strcmp(argv[a], "spin")) {
			spin(count);
			continue;
		}
		for (int i = 0; i < count; i++)
			once(argv[a], i);
	}
	return 0;
}
