// SPDX-License-Identifier: GPL-2.0
/* pfx.c - the command: probe, record, hist, stat, step, run, why.  See pfx.1. */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

#define PRELOAD	"libpfx-preload.so"

void usage(void)
{
	fputs("usage: pfx probe [EVENT...]\n"
	      "       pfx record -c PERIOD [-e EVENT] [-o FILE] [PERIODS] [--] PROGRAM...\n"
	      "       pfx hist -c PERIOD [-e EVENT] [-o FILE | --key KEY[,KEY]] [PERIODS] [--] PROGRAM...\n"
	      "       pfx stat [-e EVENT,...] [--per-target] [-a | -C CPUS | -G CGROUPS | -p PIDS]\n"
	      "                [[--] PROGRAM...]\n"
	      "       pfx stat --sets TIME -e EVENT,... -e EVENT,... [-C CPU] [--] PROGRAM...\n"
	      "       pfx step -c PERIOD [-e EVENT] [-n STEPS] [-x COMMAND] {-p PID | [--] PROGRAM...}\n"
	      "       pfx run PERIODS [--] PROGRAM...\n"
	      "       pfx why [--] PROGRAM...\n"
	      "PERIODS: --random MASK[:SEED]  --burst LONG:SHORT:EVERY  --jitter PERCENT\n",
	      stderr);
	exit(2);
}

void fail(const char *fmt, ...)
{
	va_list args;

	fputs("pfx: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

void refused(const char *what, int err)
{
	char text[256];
	const char *why = pfx_why(text, sizeof(text));

	if (err == -ENOTTY)
		fail("%s: this kernel does not have it", what);
	fail("%s: %s%s%s", what, strerror(-err), *why ? ": " : "", why);
}

static void probe_event(const char *name)
{
	struct perf_event_attr attr = { .disabled = 1, .sample_period = 1000003 };
	struct perf_ext_info info;
	char why[256];
	int fd, err;

	if (!pfx_event(name, &attr))
		fail("no event \"%s\"", name);
	fd = pfx_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0) {
		printf("%-20s %s: %s\n", name, strerror(-fd), pfx_why(why, sizeof(why)));
		return;
	}
	err = pfx_info(fd, &info);
	if (err)
		printf("%-20s %s\n", name, err == -ENOTTY ? "no extensions" : strerror(-err));
	else if (info.here & PERF_EXT_PERIODS)
		printf("%-20s periods from %llu\n", name, (unsigned long long)info.least_period);
	else
		printf("%-20s fixed periods\n", name);
	close(fd);
}

static int command_probe(const struct options *o)
{
	static const char *const some[] = { "cycles", "instructions", "cpu-clock", "page-faults" };
	size_t i;

	for (i = 0; o->argv[i]; i++)
		probe_event(o->argv[i]);
	for (i = 0; !o->argv[0] && i < ARRAY_SIZE(some); i++)
		probe_event(some[i]);
	return 0;
}

/* The library lies beside the program, or in ../lib of it. */
static void preload(void)
{
	static const char *const places[] = { "%s/" PRELOAD, "%s/../lib/" PRELOAD };
	char self[PATH_MAX], path[PATH_MAX + 64];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *folder;
	size_t i;

	if (n < 0)
		fail("/proc/self/exe: %s", strerror(errno));
	self[n] = 0;
	folder = dirname(self);
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		snprintf(path, sizeof(path), places[i], folder);
		if (access(path, R_OK))
			continue;
		setenv("LD_PRELOAD", path, 1);
		return;
	}
	fail("there is no " PRELOAD " beside %s", folder);
}

static int execute(char **argv)
{
	if (!argv[0])
		usage();
	preload();
	execvp(argv[0], argv);
	fail("%s: %s", argv[0], strerror(errno));
}

/* Options are read once more by the library. */
static int command_run(const struct options *o)
{
	if (!o->varies)
		usage();
	return execute(o->argv);
}

static int command_why(const struct options *o)
{
	setenv("PFX_WHY", "1", 1);
	return execute(o->argv);
}

/* "1ms", "500us"; "10" is ms, as pfmon's --switch-timeout had it. */
static uint64_t parse_time(const char *text)
{
	static const struct {
		const char	*name;
		double		ns;
	} units[] = { { "ms", 1e6 }, { "", 1e6 }, { "us", 1e3 }, { "ns", 1 }, { "s", 1e9 } };
	double value;
	char *end;
	size_t i;

	value = strtod(text, &end);
	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(end, units[i].name) && end != text && value > 0 && value <= 1e9)
			return (uint64_t)(value * units[i].ns);
	fail("not understood: --sets %s", text);
}

static void add_group(struct options *o, const char *names)
{
	if (o->nr_groups == MOST_GROUPS)
		fail("more than %d groups", MOST_GROUPS);
	o->group[o->nr_groups++] = names;
	o->event = names;
}

static void rule(struct options *o, int c)
{
	static const char *const name[] = { ['r'] = "random", ['b'] = "burst", ['j'] = "jitter" };
	static const char *const variable[] = {
		['r'] = "PFX_RANDOM", ['b'] = "PFX_BURST", ['j'] = "PFX_JITTER",
	};

	if (!pfx_option(&o->rule, name[c], optarg))
		fail("--%s: not understood: %s", name[c], optarg);
	setenv(variable[c], optarg, 1);
	o->varies = true;
}

/* Return: the option is one of these. */
static bool take_option(struct options *o, int c)
{
	switch (c) {
	case 'c':
		o->period = strtoull(optarg, NULL, 0);
		return true;
	case 'e':
		add_group(o, optarg);
		return true;
	case 'n':
		o->steps = strtoul(optarg, NULL, 0);
		return true;
	case 'x':
		o->command = optarg;
		return true;
	case 'a':
		o->all_cpus = true;
		return true;
	case 'C':
		o->cpus = optarg;
		return true;
	case 'G':
		o->cgroups = optarg;
		return true;
	case 'p':
		o->pids = optarg;
		return true;
	case 't':
		o->per_target = true;
		return true;
	case 's':
		o->turn = parse_time(optarg);
		return true;
	case 'k':
		o->key = optarg;
		return true;
	case 'o':
		o->output = optarg;
		return true;
	default:
		return false;
	}
}

static void parse(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "random", required_argument, NULL, 'r' },
		{ "burst", required_argument, NULL, 'b' },
		{ "jitter", required_argument, NULL, 'j' },
		{ "key", required_argument, NULL, 'k' },
		{ "per-target", no_argument, NULL, 't' },
		{ "sets", required_argument, NULL, 's' },
		/* as pfmon had them */
		{ "attach-task", required_argument, NULL, 'p' },
		{ "cpu-list", required_argument, NULL, 'C' },
		{ "events", required_argument, NULL, 'e' },
		{ "long-smpl-periods", required_argument, NULL, 'c' },
		{ "smpl-outfile", required_argument, NULL, 'o' },
		{ "smpl-periods-random", required_argument, NULL, 'r' },
		{ "switch-timeout", required_argument, NULL, 's' },
		{ "system-wide", no_argument, NULL, 'a' },
		{}
	};
	int c;

	while ((c = getopt_long(argc, argv, "+ac:e:n:o:p:x:C:G:", longs, NULL)) >= 0) {
		if (take_option(o, c))
			continue;
		if (c != 'r' && c != 'b' && c != 'j')
			usage();
		rule(o, c);
	}
	o->argv = argv + optind;
}

int main(int argc, char **argv)
{
	static const struct {
		const char	*name;
		int		(*run)(const struct options *o);
	} commands[] = {
		{ "probe", command_probe }, { "record", command_record },
		{ "hist", command_hist }, { "stat", command_stat }, { "step", command_step },
		{ "run", command_run }, { "why", command_why },
	};
	struct options o = { .event = "cycles", .output = "perf.data" };
	size_t i;

	if (argc < 2)
		usage();
	parse(argc - 1, argv + 1, &o);
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(&o);
	usage();
}
