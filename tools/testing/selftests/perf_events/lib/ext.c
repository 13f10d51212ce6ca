// SPDX-License-Identifier: GPL-2.0
/* ext.c - see ext.h */
#include "ext.h"

#define FIELD	0x7fffffffull

void ext_need(void)
{
	if (pt_is_stock())
		pt_skip("Linux 6.12 has no extensions");
	if (!pt_path_exists("/sys/bus/event_source/extensions"))
		pt_skip("CONFIG_PERF_EVENTS_EXT is off");
}

int ext_periods(int fd, struct perf_ext_periods *p)
{
	return (int)pt_ioctl(fd, PERF_EXT_IOC_PERIODS, pt_addr(p));
}

void ext_model_start(struct ext_model *m, const struct perf_ext_periods *p)
{
	*m = (struct ext_model){ .p = *p, .seed = p->seed };
	m->p.long_period = p->long_period ? p->long_period : p->short_period;
	m->p.initial_period = p->initial_period ? p->initial_period : m->p.long_period;
}

u64 ext_model_next(struct ext_model *m)
{
	u64 length = m->p.short_period;

	m->n++;
	if (m->n == 1)
		length = m->p.initial_period;
	else if (m->p.long_every && (m->n - 1) % m->p.long_every == 0)
		length = m->p.long_period;
	length += m->seed & m->p.mask;
	m->seed = m->seed * 16807 % FIELD;
	m->sum += length;
	return length;
}

u32 ext_seed_of_copy(u32 seed, u32 number)
{
	return 1 + (seed + number * 0x9e3779b1ull) % (FIELD - 1);
}
