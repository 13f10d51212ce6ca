// SPDX-License-Identifier: GPL-2.0
/*
 * Everything at once: open, close, map, control, read, redirect, fork, exec, exit, migrate, move
 * between cgroups, take CPUs away, take PMUs away; make sessions, attach them to whatever there is;
 * periods by a rule, masks, stops, sets that take turns, samples that go to formats.
 *
 *	stress [-t SECONDS] [-s SEED] [-v]
 *
 * Run as root with several CPUs. Nobody expects a particular answer from a single call, as other
 * processes pull at the same objects. What must hold is that the kernel stays silent (whoever runs
 * this looks at its log), that every kind of action succeeded at least once, so that the run was
 * one, and that at the end an event counts exactly and all processes have gone.
 *
 * Each worker is a process with a random sequence of its own that depends on the seed alone; how
 * the workers interleave does not.
 */
#include "../lib/ptest.h"
#include "stress.h"
#include <signal.h>
#include <sys/prctl.h>

struct shared *shared;
static unsigned int seconds = 10;
static u64 seed = 1;
static bool verbose;

/* In the order of enum action. */
static const char * const names[NR_ACTIONS] = {
	"open_task", "open_cpu", "open_cgroup", "open_sibling", "open_test_pmu", "close", "map",
	"unmap", "read", "enable", "disable", "reset", "period", "refresh", "set_output", "pause",
	"prctl", "fork", "exec", "thread", "migrate", "cgroup_move", "cgroup_remove", "cpu_off",
	"cpu_on", "pmu_load", "pmu_unload", "session_make", "session_attach", "session_detach",
	"session_read", "ext_periods", "ext_masks", "ext_notify", "ext_restart", "set_join",
	"set_leave", "set_trigger", "set_select", "set_info", "format_make", "format_leave",
	"format_flip",
};

u64 rnd(struct worker *w)
{
	/* xorshift64: every worker draws from its own state */
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return w->random;
}

unsigned int below(struct worker *w, unsigned int n)
{
	return (rnd(w) >> 11) % n;
}

bool over(void)
{
	return __atomic_load_n(&shared->stop, __ATOMIC_RELAXED);
}

long note(enum action a, long ret)
{
	__atomic_fetch_add(ret < 0 ? &shared->failed[a] : &shared->done[a], 1, __ATOMIC_RELAXED);
	return ret;
}

pid_t somebody(struct worker *w)
{
	return __atomic_load_n(&shared->pid[below(w, NR_WORKERS)], __ATOMIC_RELAXED);
}

static void (* const roles[])(struct worker *w) = {
	role_events, role_events, role_events, role_forks, role_forks, role_threads,
	role_migrate, role_cgroups, role_cpus, role_pmus,
};

static void start(unsigned int nr)
{
	struct worker w = { .nr = nr, .random = seed * 0x9e3779b97f4a7c15ULL + nr + 1 };
	pid_t pid = fork();

	if (pid < 0) {
		perror("fork");
		exit(1);
	}
	if (pid) {
		shared->pid[nr] = pid;
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGIO, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	roles[nr % PT_ARRAY_SIZE(roles)](&w);
	_exit(0);
}

/* An event that counts page faults of this program, one by one. */
static bool counts_exactly(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	int fd;
	u64 n;

	attr.disabled = 1;
	fd = pt_try_open(&attr, 0, -1, -1, 0);
	if (fd < 0)
		return false;
	pt_settle();
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	pt_fault(100);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	if (read(fd, &n, sizeof(n)) != sizeof(n))
		n = 0;
	close(fd);
	if (n != 100)
		printf("# counted %llu of 100 page faults\n", (unsigned long long)n);
	return n == 100;
}

static int finish(void)
{
	unsigned int i, ended = 0;
	int status, bad = 0;

	__atomic_store_n(&shared->stop, 1, __ATOMIC_RELAXED);
	for (i = 0; i < NR_WORKERS; i++) {
		if (waitpid(shared->pid[i], &status, 0) != shared->pid[i])
			continue;
		ended++;
		if (!WIFEXITED(status) || WEXITSTATUS(status)) {
			printf("# worker %u ended with status 0x%x\n", i, status);
			bad++;
		}
	}
	all_cpus_on();
	printf("%sok 1 - all workers ended\n", ended == NR_WORKERS && !bad ? "" : "not ");
	for (i = 0; i < NR_ACTIONS; i++) {
		bool skip = !shared->done[i] && !action_possible(i);

		if (verbose)
			printf("# %-14s %8lu done %8lu refused\n", names[i], shared->done[i],
			       shared->failed[i]);
		if (!shared->done[i] && !skip)
			bad++;
		printf("%sok %u - %s succeeded%s\n", shared->done[i] || skip ? "" : "not ", i + 2,
		       names[i], skip ? " # SKIP not possible here" : "");
	}
	if (!counts_exactly()) {
		printf("not ");
		bad++;
	}
	printf("ok %u - an event counts exactly afterwards\n", NR_ACTIONS + 2);
	return bad ? 1 : 0;
}

int main(int argc, char **argv)
{
	unsigned int i;
	int c;

	if (argc == 2 && !strcmp(argv[1], "exec")) {
		pt_fault(20);
		return 0;
	}
	while ((c = getopt(argc, argv, "t:s:v")) != -1) {
		switch (c) {
		case 't':
			seconds = atoi(optarg);
			break;
		case 's':
			seed = strtoull(optarg, NULL, 0);
			break;
		case 'v':
			verbose = true;
			break;
		default:
			return 2;
		}
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED)
		return 2;
	printf("TAP version 13\n1..%u\n", NR_ACTIONS + 2);
	printf("# seed %llu, %u s\n", (unsigned long long)seed, seconds);
	fflush(stdout);
	prepare();
	for (i = 0; i < NR_WORKERS; i++)
		start(i);
	/* The length of the run is a time; nothing is decided by it. */
	sleep(seconds);
	return finish();
}
