// SPDX-License-Identifier: GPL-2.0
/*
 * hw_count.c - hardware events against a loop of known length. Where emulated arm64
 * runs one instruction per tick the numbers are exact but for one instruction per
 * interrupt that hit the loop.
 *
 * needs: smp hw pmu-irq skid
 */
#include "lib/test_count.h"

/* All interrupts taken since boot */
static u64 interrupts(void)
{
	static char text[16384];
	char *at;

	pt_need(pt_slurp("/proc/stat", text, sizeof(text)), "cannot read /proc/stat");
	at = strstr(text, "\nintr ");
	pt_need(at, "no intr line in /proc/stat");
	return strtoull(at + 6, NULL, 10);
}

/*
 * Instructions of the loop, of the way from one ioctl's return to the next
 * one's entry, and nothing else: runs of different length differ by exactly
 * two instructions per turn. The emulator counts the instruction an
 * interrupt broke off twice.
 */
static void hw_instructions_of_a_loop(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(INSTRUCTIONS));
	u64 n, irqs, turns;
	int fd, i;

	attr.exclude_kernel = 1;
	attr.disabled = 1;
	fd = pt_open_hw(&attr, -1);
	for (i = 0; i < 20; i++) {
		turns = 1000 * (1ull << (i % 10));
		irqs = interrupts();
		pt_ioctl(fd, PERF_EVENT_IOC_RESET, 0);
		pt_ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		pt_spin(turns);
		pt_ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		n = pt_count(fd);
		irqs = interrupts() - irqs;
		pt_check(n >= 2 * turns + 5 && n <= 2 * turns + 40 + irqs,
			 "%llu instructions for %llu turns with %llu interrupts",
			 (unsigned long long)n, (unsigned long long)turns,
			 (unsigned long long)irqs);
	}
}

/* The least of ten: where cycles are the time of the host, somebody else may have had the CPU. */
static u64 cycles_of_turns(int fd, u64 turns)
{
	u64 least = ~0ull;
	int i;

	for (i = 0; i < 10; i++) {
		pt_ioctl(fd, PERF_EVENT_IOC_RESET, 0);
		pt_ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		pt_spin(turns);
		pt_ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		if (pt_count(fd) < least)
			least = pt_count(fd);
	}
	return least;
}

static void hw_cycles_of_a_loop(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(CPU_CYCLES));
	u64 few, many;
	int fd;

	attr.exclude_kernel = 1;
	attr.disabled = 1;
	fd = pt_open_hw(&attr, -1);
	few = cycles_of_turns(fd, 100000);
	many = cycles_of_turns(fd, 600000);
	pt_check(many > few, "cycles: %llu then %llu", (unsigned long long)few,
		 (unsigned long long)many);
}

/* The architecture's own number of the same event counts the same. */
static void hw_raw_event(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(INSTRUCTIONS));
	struct pt_read r;
	int lead;

	attr.exclude_kernel = 1;
	attr.disabled = 1;
	attr.read_format = PERF_FORMAT_GROUP;
	lead = pt_open_hw(&attr, -1);
	attr.disabled = 0;
	attr.type = PERF_TYPE_RAW;
#if defined(__x86_64__)
	attr.config = 0xc0;
#else
	attr.config = 0x08;
#endif
	pt_open_hw(&attr, lead);
	pt_enable(lead);
	pt_spin(100000);
	pt_disable(lead);
	pt_read(lead, PERF_FORMAT_GROUP, 2, &r);
	pt_check(r.v[0].value > 200000, "%llu instructions", (unsigned long long)r.v[0].value);
	pt_eq(r.v[1].value, r.v[0].value);
}

static void hw_kernel_and_user(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(INSTRUCTIONS));
	int user, kernel, both, i;
	u64 u, k, b;

	attr.exclude_kernel = 1;
	attr.disabled = 1;
	user = pt_open_hw(&attr, -1);
	attr.disabled = 0;
	attr.exclude_kernel = 0;
	attr.exclude_user = 1;
	kernel = pt_open_hw(&attr, user);
	attr.exclude_user = 0;
	both = pt_open_hw(&attr, user);
	pt_ioctl(user, PERF_EVENT_IOC_ENABLE, 0);
	for (i = 0; i < 100; i++)
		syscall(SYS_getppid);
	pt_spin(100000);
	pt_ioctl(user, PERF_EVENT_IOC_DISABLE, 0);
	u = pt_count(user);
	k = pt_count(kernel);
	b = pt_count(both);
	pt_check(u > 200000, "user %llu", (unsigned long long)u);
	pt_check(k > 100 * 50, "kernel %llu", (unsigned long long)k);
	/* The three start and stop one after the other, some instructions apart. */
	pt_check(b + 500 >= u + k && b <= u + k + 500, "both %llu, user %llu, kernel %llu",
		 (unsigned long long)b, (unsigned long long)u, (unsigned long long)k);
}

static void hw_not_while_asleep(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(INSTRUCTIONS));
	struct pt_peer peer;
	u64 n[2];
	int fd, i, round;

	attr.exclude_kernel = 1;
	attr.disabled = 1;
	pt_pin(0);
	pt_peer_start(&peer);
	fd = pt_open_hw(&attr, -1);
	for (round = 0; round < 2; round++) {
		pt_ioctl(fd, PERF_EVENT_IOC_RESET, 0);
		pt_ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		for (i = 0; i < 50; i++)
			pt_peer_turn(&peer);
		pt_ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		n[round] = pt_count(fd);
	}
	/* The peer's instructions would show as noise of thousands. */
	pt_eq(n[1], n[0]);
	pt_peer_stop(&peer);
}

/* Of all PMUs that know the event those of hardware come first, whoever registered last. */
static void hw_is_asked_first(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(CPU_CYCLES));

	if (pt_is_stock())
		pt_skip("Linux 6.12 asks who registered last");
	close(pt_open_hw(&attr, -1));
	load("caps=256 software=1");
	pt_open(&attr, 0, -1, -1, 0);
	pt_eq(pt_module_get(MODULE, "nr_events"), 0);
}

static const struct pt_case cases[] = {
	{ "hw_instructions_of_a_loop", hw_instructions_of_a_loop },
	{ "hw_cycles_of_a_loop", hw_cycles_of_a_loop },
	{ "hw_raw_event", hw_raw_event },
	{ "hw_kernel_and_user", hw_kernel_and_user },
	{ "hw_not_while_asleep", hw_not_while_asleep },
	{ "hw_is_asked_first", hw_is_asked_first },
};

PT_MAIN(cases)
