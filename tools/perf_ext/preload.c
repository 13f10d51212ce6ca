// SPDX-License-Identifier: GPL-2.0
/*
 * preload.c - what "pfx run" loads into an unmodified program: each sampling event that it opens
 * with a fixed period gets the periods of PFX_RANDOM, PFX_BURST or PFX_JITTER, and what the kernel
 * refuses is explained on stderr if PFX_WHY is set.
 *
 * Programs reach perf_event_open() by the C library's syscall(), as there is no wrapper for it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "pfx.h"

static struct pfx_rule rule;
static bool wanted, explains;

__attribute__((constructor)) static void read_environment(void)
{
	static const char *const names[][2] = {
		{ "random", "PFX_RANDOM" }, { "burst", "PFX_BURST" }, { "jitter", "PFX_JITTER" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		const char *value = getenv(names[i][1]);

		if (value && pfx_option(&rule, names[i][0], value))
			wanted = true;
	}
	explains = getenv("PFX_WHY");
}

static void explain(const char *what, int err)
{
	char text[256];

	fprintf(stderr, "pfx: %s: %s: %s\n", what, strerror(-err), pfx_why(text, sizeof(text)));
}

static void vary(int fd, const struct perf_event_attr *attr)
{
	struct perf_ext_periods periods;
	int err;

	if (!wanted || attr->freq || !attr->sample_period)
		return;
	periods = pfx_apply(&rule, attr->sample_period);
	err = pfx_periods(fd, &periods);
	/* Whoever asked for other periods must not get fixed ones without a word. */
	if (err)
		explain("periods of this event stay fixed", err);
}

long syscall(long number, ...)
{
	static long (*next)(long number, ...);
	long a[6], ret;
	va_list args;
	int i, saved;

	va_start(args, number);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (!next)
		next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	ret = next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (number != SYS_perf_event_open)
		return ret;

	saved = errno;
	if (ret >= 0)
		vary((int)ret, (const struct perf_event_attr *)a[0]);
	else if (explains)
		explain("perf_event_open", -saved);
	errno = saved;
	return ret;
}
