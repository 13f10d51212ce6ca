// SPDX-License-Identifier: GPL-2.0
/*
 * rr-threads: a program that no two runs of are alike: threads that race, signals of a timer,
 * random numbers, time, and children; it prints what came of it. A replay must print the same.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS	4
#define TURNS	20000

static volatile unsigned long racy, ticks, at_tick;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long hash = 1;
static int order[THREADS * 10], nr_order;

static void tick(int sig)
{
	(void)sig;
	ticks++;
	at_tick = at_tick * 31 + racy;
}

static void *thread(void *arg)
{
	int self = (int)(long)arg, i;

	for (i = 0; i < TURNS; i++) {
		racy = racy + 1;		/* others do the same */
		if (i % 7 == self)
			racy = racy ^ (racy << 3);
		if (i % (TURNS / 10) == 0) {
			pthread_mutex_lock(&lock);
			hash = hash * 31 + racy;
			order[nr_order++] = self;
			pthread_mutex_unlock(&lock);
			sched_yield();
		}
	}
	return NULL;
}

static int child(void)
{
	unsigned int dice;
	int status, to[2];
	pid_t pid;

	if (pipe(to))
		exit(1);
	pid = fork();
	if (!pid) {
		if (getrandom(&dice, sizeof(dice), 0) != sizeof(dice) ||
		    write(to[1], &dice, sizeof(dice)) != sizeof(dice))
			_exit(1);
		_exit(0);
	}
	if (read(to[0], &dice, sizeof(dice)) != sizeof(dice) || waitpid(pid, &status, 0) != pid)
		exit(1);
	close(to[0]);
	close(to[1]);
	hash = hash * 31 + dice;
	return status;
}

int main(void)
{
	struct itimerval every = { { 0, 40000 }, { 0, 40000 } };
	pthread_t t[THREADS];
	struct timespec now;
	long i;

	signal(SIGALRM, tick);
	setitimer(ITIMER_REAL, &every, NULL);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, thread, (void *)i))
			return 1;
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	if (child())
		return 1;
	memset(&every, 0, sizeof(every));
	setitimer(ITIMER_REAL, &every, NULL);
	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("racy %lu hash %lu ticks %lu at %lu time %ld order", racy, hash, ticks, at_tick,
	       now.tv_nsec);
	for (i = 0; i < nr_order; i++)
		printf(" %d", order[i]);
	printf("\n");
	return 0;
}
