/* SPDX-License-Identifier: GPL-2.0 */
/*
 * inject.h - for programs that make the allocations of a call fail, one after the other. Needs a
 * kernel with CONFIG_FAULT_INJECTION.
 */
#ifndef PTEST_INJECT_H
#define PTEST_INJECT_H

#include "ptest.h"

#define TURNS_MAX	2000

/* The case is skipped where nothing can be made to fail. */
void need_injection(void);
/* The n-th allocation of this task from now on fails. */
void arm(int n);
/* Return: it came, and failed. */
bool disarm(void);
/*
 * One turn each: try() returns 0 or -errno and undoes itself when it worked; check() looks at what
 * is left in either case. Some allocations may fail without harm.
 */
void all_turns(int (*try)(void), void (*check)(void));
/* What undoes a call is not what is tested. Return: how many are left until one fails. */
int rest(void);
void go_on(int left);
/* A fork as a try of all_turns(): 0 or -errno. */
int try_fork(void);

#endif /* PTEST_INJECT_H */
