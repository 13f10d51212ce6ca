/* SPDX-License-Identifier: GPL-2.0 */
/* command.h - what the commands of pfx share. */
#ifndef PFX_COMMAND_H
#define PFX_COMMAND_H

#include <sys/types.h>

#include "pfx.h"

struct options {
	const char	*event;
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

int command_hist(const struct options *o);
int command_record(const struct options *o);
int command_step(const struct options *o);
int command_stat(const struct options *o);

#endif /* PFX_COMMAND_H */
