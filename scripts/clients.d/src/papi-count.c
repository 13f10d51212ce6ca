// SPDX-License-Identifier: GPL-2.0
/*
 * papi-count.c - a program as PAPI's users write it: native software events,
 * a set with attach, overflow by profile callbacks where there is a PMU.
 */
#include <papi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGES 1000

static void touch(void)
{
	char *p = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(1);
	for (int i = 0; i < PAGES; i++)
		p[i * 4096] = 1;
	munmap(p, PAGES * 4096);
}

static void say(const char *what, int rc)
{
	printf("%s: %s\n", what, rc == PAPI_OK ? "ok" : PAPI_strerror(rc));
}

static const char *about(long long got, long long want)
{
	return got >= want && got < want + want / 10 + 10 ? "as expected" : "WRONG";
}

static void count(const char *name, int set)
{
	long long v[1] = { 0 };
	char text[80];
	int rc;

	rc = PAPI_add_named_event(set, name);
	snprintf(text, sizeof(text), "add %s", name);
	say(text, rc);
	if (rc != PAPI_OK)
		return;
	say("start", PAPI_start(set));
	touch();
	say("read", PAPI_read(set, v));
	printf("%s after one round: %s\n", name, about(v[0], PAGES));
	touch();
	say("stop", PAPI_stop(set, v));
	printf("%s after two rounds: %s\n", name, about(v[0], 2 * PAGES));
	touch();
	say("reset", PAPI_reset(set));
	say("start again", PAPI_start(set));
	touch();
	say("accumulate", PAPI_accum(set, v));
	printf("%s accumulated: %s\n", name, about(v[0], 3 * PAGES));
	say("stop again", PAPI_stop(set, v));
	say("clean", PAPI_cleanup_eventset(set));
}

static void attached(void)
{
	int set = PAPI_NULL, go[2], done[2], rc;
	long long v[1] = { 0 };
	char c = 0;
	pid_t pid;

	if (pipe(go) || pipe(done))
		exit(1);
	pid = fork();
	if (!pid) {
		if (read(go[0], &c, 1) != 1)
			_exit(1);
		touch();
		if (write(done[1], &c, 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	say("create", PAPI_create_eventset(&set));
	say("component", PAPI_assign_eventset_component(set, 0));
	rc = PAPI_attach(set, pid);
	say("attach", rc);
	say("add to the attached", PAPI_add_named_event(set, "perf::PAGE-FAULTS"));
	say("start attached", PAPI_start(set));
	if (write(go[1], &c, 1) != 1 || read(done[0], &c, 1) != 1)
		exit(1);
	say("stop attached", PAPI_stop(set, v));
	printf("faults of the attached: %s\n", about(v[0], PAGES));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int main(void)
{
	int set = PAPI_NULL;
	int version = PAPI_library_init(PAPI_VER_CURRENT);

	printf("library: %s\n", version == PAPI_VER_CURRENT ? "ok" : "other version");
	say("create", PAPI_create_eventset(&set));
	count("perf::PAGE-FAULTS", set);
	count("perf::MINOR-FAULTS", set);
	say("add PAPI_TOT_CYC", PAPI_add_event(set, PAPI_TOT_CYC));
	attached();
	return 0;
}
