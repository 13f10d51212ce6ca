/* SPDX-License-Identifier: GPL-2.0 */
/* command.h - what the commands of pfx share. */
#ifndef PFX_COMMAND_H
#define PFX_COMMAND_H

#include <sys/types.h>

#include "pfx.h"

#define MOST_GROUPS	64

struct options {
	const char	*event;
	const char	*group[MOST_GROUPS];	/* each -e, of which the last one is event */
	unsigned int	nr_groups;
	uint64_t	turn;		/* ns of each set; 0: no sets */
	const char	*key;		/* of a table, "ip,pid", or NULL */
	const char	*output;
	uint64_t	period;
	struct pfx_rule	rule;
	bool		varies;
	unsigned long	steps;		/* 0: to the end */
	const char	*command;	/* at each step, or NULL */
	bool		all_cpus;
	const char	*cpus;		/* "0-3,5", or NULL */
	const char	*pids;		/* "12,34", or NULL */
	const char	*cgroups;	/* folders with commas between them, or NULL */
	bool		per_target;
	char		**argv;		/* the program, or NULL first */
};

__attribute__((noreturn)) void usage(void);
__attribute__((noreturn, format(printf, 1, 2))) void fail(const char *fmt, ...);
/* A call was refused: with the kernel's own sentence. */
__attribute__((noreturn)) void refused(const char *what, int err);

/* ring.c */
struct ring {
	int				fd;
	struct perf_event_mmap_page	*page;
	uint64_t			size;
};

union record {
	struct perf_event_header	header;
	uint64_t			words[65536 / 8];
};

void ring_map(struct ring *ring, int fd);
/* The next record, which is good until the next call, or NULL. */
const union record *ring_next(struct ring *ring);

/* A child that waits to be let go, so that it is watched from its exec on. */
pid_t start_child(char **argv, int *go);
void let_go(int go);

/*
 * "cycles,page-faults:u": the attrs of a group that counts, with room for @most, and their names,
 * which stay in memory.  Return: how many.
 */
unsigned int choose_events(const char *names, struct perf_event_attr *attr, char **name,
			   unsigned int most);

int command_hist(const struct options *o);
int command_record(const struct options *o);
int command_step(const struct options *o);
int command_stat(const struct options *o);

/* stat_sets.c: the groups take turns on a program, or on one CPU while it runs */
int stat_sets(const struct options *o);

#endif /* PFX_COMMAND_H */
