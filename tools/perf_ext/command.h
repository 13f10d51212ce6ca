/* SPDX-License-Identifier: GPL-2.0 */
/* command.h - what the commands of pfx share. */
#ifndef PFX_COMMAND_H
#define PFX_COMMAND_H

#include "pfx.h"

struct options {
	const char	*event;
	const char	*output;
	uint64_t	period;
	struct pfx_rule	rule;
	bool		varies;
	char		**argv;		/* the program, or NULL first */
};

__attribute__((noreturn)) void usage(void);
__attribute__((noreturn, format(printf, 1, 2))) void fail(const char *fmt, ...);
/* A call was refused: with the kernel's own sentence. */
__attribute__((noreturn)) void refused(const char *what, int err);

int command_record(const struct options *o);

#endif /* PFX_COMMAND_H */
