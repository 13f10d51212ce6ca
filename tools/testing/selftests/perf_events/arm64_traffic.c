// SPDX-License-Identifier: GPL-2.0
/*
 * arm64_traffic.c - one hundred of each thing that makes the kernel access the PMU's registers,
 * between two hints that a plugin of the emulator understands (scripts/lib/pmu-traffic.c). The
 * numbers come from there; the cases fail when the things did not happen.
 */
#include "lib/arm64.h"

#define TIMES	100
#define ALL	(PERF_FORMAT_GROUP | PERF_FORMAT_ID)

enum phase {
	NO_EVENT, ONE_EVENT, CYCLES_AND_INSTRUCTIONS, GROUP_OF_FOUR, FOUR_EVENTS,
	SAMPLING, LONG_EVENT, USER_READ, INHERITED, OF_A_CPU, SOFTWARE,
	READ_ONE, READ_GROUP, ENABLE_DISABLE, PERIOD, OVERFLOW, OPEN_CLOSE,
};

#if defined(__aarch64__)
/* hint #96 + phase, hint #127 */
#define BEGIN(phase)	__asm__ volatile("hint #96 + %0" : : "i"(phase) : "memory")
#define END()		__asm__ volatile("hint #127" : : : "memory")
#else
#define BEGIN(phase)	((void)(phase))
#define END()		((void)0)
#endif

/* In stretches without a tick. */
#define MEASURE(phase, ...)					\
	do {							\
		int round_;					\
								\
		for (round_ = 0; round_ < TIMES; round_++) {	\
			if (round_ % 20 == 0)			\
				a64_after_tick();		\
			BEGIN(phase);				\
			__VA_ARGS__;				\
			END();					\
		}						\
		pt_msg("phase %d: " #phase, phase);		\
	} while (0)

static struct pt_peer peer;

static void start(void)
{
	a64_need_exact();
	pt_pin(0);
	pt_peer_start(&peer);
}

static int enabled(u64 config, u64 config1, u64 period, int group)
{
	struct perf_event_attr attr = a64_raw(config);

	attr.disabled = 0;
	attr.config1 = config1;
	attr.sample_period = period;
	return pt_open_hw(&attr, group);
}

static void switches_without(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(CONTEXT_SWITCHES));
	int fd;

	start();
	MEASURE(NO_EVENT, pt_peer_turn(&peer));
	fd = pt_open(&attr, 0, -1, -1, 0);
	MEASURE(SOFTWARE, pt_peer_turn(&peer));
	pt_check(pt_count(fd) >= TIMES, "%llu switches", (unsigned long long)pt_count(fd));
	close(fd);
	attr = a64_raw(A64_CYCLES);
	attr.disabled = 0;
	fd = pt_open(&attr, -1, 0, -1, 0);
	MEASURE(OF_A_CPU, pt_peer_turn(&peer));
	pt_check(pt_count(fd) > 0, "it does not count");
	pt_peer_stop(&peer);
}

static void switches(void)
{
	int fd[4], i;

	start();
	fd[0] = enabled(A64_CYCLES, 0, 0, -1);
	MEASURE(ONE_EVENT, pt_peer_turn(&peer));
	fd[1] = enabled(A64_INSTRUCTIONS, 0, 0, -1);
	MEASURE(CYCLES_AND_INSTRUCTIONS, pt_peer_turn(&peer));
	fd[2] = enabled(A64_INSTRUCTIONS, 0, 0, -1);
	fd[3] = enabled(A64_INSTRUCTIONS, 0, 0, -1);
	MEASURE(FOUR_EVENTS, pt_peer_turn(&peer));
	for (i = 0; i < 4; i++) {
		pt_check(pt_count(fd[i]) > 0, "event %d does not count", i);
		close(fd[i]);
	}
	for (i = 0; i < 4; i++)
		fd[i] = enabled(i ? A64_INSTRUCTIONS : A64_CYCLES, 0, 0, i ? fd[0] : -1);
	MEASURE(GROUP_OF_FOUR, pt_peer_turn(&peer));
	for (i = 4; i--;)
		close(fd[i]);
	fd[0] = enabled(A64_CYCLES, 0, 1ull << 30, -1);
	MEASURE(SAMPLING, pt_peer_turn(&peer));
	close(fd[0]);
	fd[0] = enabled(A64_CYCLES, A64_LONG, 0, -1);
	MEASURE(LONG_EVENT, pt_peer_turn(&peer));
	close(fd[0]);
	pt_sysctl_set("perf_user_access", 1);
	fd[0] = enabled(A64_CYCLES, A64_LONG | A64_USER_READ, 0, -1);
	MEASURE(USER_READ, pt_peer_turn(&peer));
	close(fd[0]);
	pt_peer_stop(&peer);
}

/* Both tasks have the same events: contexts change hands, the PMU is left alone. */
static void switches_among_alike(void)
{
	struct perf_event_attr attr = a64_raw(A64_CYCLES);
	int fd;

	a64_need_exact();
	pt_pin(0);
	attr.disabled = 0;
	attr.inherit = 1;
	fd = pt_open_hw(&attr, -1);
	pt_peer_start(&peer);
	MEASURE(INHERITED, pt_peer_turn(&peer));
	pt_check(pt_count(fd) > 0, "it does not count");
	pt_peer_stop(&peer);
}

static void calls(void)
{
	struct perf_event_attr attr = a64_raw(A64_CYCLES);
	u64 v[16], period = 1 << 20;
	int fd, lead, i;

	a64_need_exact();
	pt_pin(0);
	lead = enabled(A64_CYCLES, 0, 0, -1);
	MEASURE(READ_ONE, pt_count(lead));
	close(lead);
	attr.read_format = ALL;
	attr.disabled = 0;
	lead = pt_open_hw(&attr, -1);
	for (i = 0; i < 3; i++)
		pt_open_hw(&(struct perf_event_attr){ .type = PERF_TYPE_RAW, .size = sizeof(attr),
			   .config = A64_INSTRUCTIONS, .exclude_kernel = 1, .read_format = ALL },
			   lead);
	MEASURE(READ_GROUP, pt_need(read(lead, v, sizeof(v)) == 72, "group of four"));
	pt_disable(lead);
	fd = enabled(A64_CYCLES, 0, 0, -1);
	MEASURE(ENABLE_DISABLE, ioctl(fd, PERF_EVENT_IOC_DISABLE, 0),
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	close(fd);
	fd = enabled(A64_CYCLES, 0, 1 << 30, -1);
	MEASURE(PERIOD, ioctl(fd, PERF_EVENT_IOC_PERIOD, &period));
	close(fd);
	MEASURE(OPEN_CLOSE, close(enabled(A64_CYCLES, 0, 0, -1)));
}

static void overflows(void)
{
	struct perf_event_attr attr = a64_cycles(10000);
	struct pt_ring ring;
	int fd;

	a64_need_exact();
	pt_pin(0);
	attr.disabled = 0;
	fd = pt_open_hw(&attr, -1);
	pt_map(&ring, fd, 64);
	MEASURE(OVERFLOW, pt_spin(5000));
	pt_check(pt_count_records(&ring, PERF_RECORD_SAMPLE) >= TIMES, "too few samples");
}

/* Switches without events are the last: nothing of what was there before makes them dearer. */
static const struct pt_case cases[] = {
	{ "switches", switches },
	{ "switches_among_alike", switches_among_alike },
	{ "calls", calls },
	{ "overflows", overflows },
	{ "switches_without", switches_without },
};

PT_MAIN(cases)
