// SPDX-License-Identifier: GPL-2.0
/*
 * watched.c - a program for gdb's hardware watchpoints: known writes to known
 * variables, in one thread and in two, and a function to break in.
 */
#include <pthread.h>
#include <stdio.h>

volatile long first, second, third, fourth, fifth;
volatile char bytes[16];
volatile long source = 7;

__attribute__((noipa)) int stop_here(int n)
{
	return n + 1;
}

static void *writer(void *arg)
{
	second = 200;
	second = 201;
	return arg;
}

int main(void)
{
	pthread_t t;

	for (int i = 1; i <= 3; i++) {
		first = i;
		bytes[i] = i;
	}
	third = source;
	if (stop_here(1) != 2)
		return 1;
	if (pthread_create(&t, NULL, writer, NULL) || pthread_join(t, NULL))
		return 1;
	fourth = 4;
	fifth = 5;
	printf("sum %ld\n", first + second + third + fourth + fifth);
	return 0;
}
