// SPDX-License-Identifier: GPL-2.0
/*
 * Sections about counting: what each source reads after scripted activity,
 * how times relate, and what enabling, disabling and resetting do to them.
 *
 * Sources whose count the script fixes print it; of the others only relations
 * are printed.
 */
#include "abi.h"
#include <sys/prctl.h>

#define TIMES (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

struct reading {
	u64 value, enabled, running;
};

static struct reading take(int fd)
{
	struct reading r = { 0 };

	if (read(fd, &r, sizeof(r)) != sizeof(r))
		die("read of value and times");
	return r;
}

static int open_member(const char *source, u64 bits, u64 period, int leader)
{
	const struct source *s = source_find(source);
	struct perf_event_attr a;

	if (s->absent)
		return -ENOENT;
	source_attr(s, &a);
	attr_set_bits(&a, bits);
	a.read_format = TIMES;
	a.sample_period = period;
	return pe_open(&a, 0, -1, leader, 0);
}

static int open_times(const char *source, u64 bits, u64 period)
{
	return open_member(source, bits, period, -1);
}

static const char *times(const struct reading *r)
{
	static char text[64];

	snprintf(text, sizeof(text), "%s %s", r->enabled ? "enabled" : "enabled=0",
		 r->running == r->enabled ? "running=enabled" :
		 r->running < r->enabled ? "running<enabled" : "running>enabled");
	return text;
}

__attribute__((noinline)) static void write_watched(unsigned int n)
{
	while (n--)
		watched[0] = n;
}

__attribute__((noinline)) static u64 read_watched(unsigned int n)
{
	u64 sum = 0;

	while (n--)
		sum += watched[0];
	return sum;
}

/* The kernel, not the program, touches the pages: read() of /dev/zero. */
static void kernel_faults(unsigned int pages)
{
	int zero = open("/dev/zero", O_RDONLY);
	unsigned char *area = fault_area(pages);

	if (zero < 0 || read(zero, area, pages * page_size) != (ssize_t)(pages * page_size))
		die("/dev/zero");
	close(zero);
}

static void script(void)
{
	make_faults(7);
	getppid_times(5);
	write_watched(3);
	read_watched(2);
}

static void count_exact(void)
{
	static const char *const exact[] = {
		"sw-page-faults", "sw-minor-faults", "sw-major-faults", "sw-alignment-faults",
		"sw-emulation-faults", "sw-dummy", "sw-cpu-migrations", "tp-getppid", "bp-w8",
		"bp-rw4", "bp-x8", "sw-cgroup-switches",
	};
	static const u64 bits[] = { 0, 1ull << 4, 1ull << 5, 3ull << 4, 1ull << 6, 1ull << 7 };
	static const char *const names[] = { "all", "nouser", "nokernel", "neither", "nohv",
		"noidle" };
	static const u64 periods[] = { 0, 1, 3, 1000 };
	unsigned int i, b, p;

	/* Once for nothing: first touches of code and data are faults too. */
	script();
	for (i = 0; i < ARRAY_SIZE(exact); i++)
		for (b = 0; b < ARRAY_SIZE(bits); b++)
			for (p = 0; p < ARRAY_SIZE(periods); p++) {
				int fd = open_times(exact[i], bits[b] | 1, periods[p]);
				struct reading r;
				char name[64];

				snprintf(name, sizeof(name), "%s,%s,period=%u", exact[i], names[b],
					 (unsigned int)periods[p]);
				if (fd < 0) {
					say(name, "%s", res(fd));
					continue;
				}
				ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
				script();
				ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
				r = take(fd);
				say(name, "%llu %s", (unsigned long long)r.value, times(&r));
				close(fd);
			}
}

static void count_kernel_faults(void)
{
	static const u64 bits[] = { 0, 1ull << 4, 1ull << 5, 3ull << 4 };
	static const char *const names[] = { "all", "nouser", "nokernel", "neither" };
	unsigned int b;

	kernel_faults(1);
	for (b = 0; b < ARRAY_SIZE(bits); b++) {
		int fd = open_times("sw-page-faults", bits[b] | 1, 0);
		struct reading r;

		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		kernel_faults(6);
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		r = take(fd);
		say(names[b], "%llu", (unsigned long long)r.value);
		close(fd);
	}
}

static void count_relations(void)
{
	static const char *const sources[] = {
		"sw-cpu-clock", "sw-task-clock", "hw-cycles", "hw-instructions",
	};
	static const u64 bits[] = { 0, 1ull << 4, 1ull << 5 };
	static const char *const names[] = { "all", "nouser", "nokernel" };
	unsigned int i, b;

	for (i = 0; i < ARRAY_SIZE(sources); i++)
		for (b = 0; b < ARRAY_SIZE(bits); b++) {
			int fd = open_times(sources[i], bits[b] | 1, 0);
			struct reading one, two, three;
			char name[64];

			snprintf(name, sizeof(name), "%s,%s", sources[i], names[b]);
			if (fd < 0) {
				say(name, "%s", res(fd));
				continue;
			}
			one = take(fd);
			ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
			spin_ms(2);
			two = take(fd);
			ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
			spin_ms(1);
			three = take(fd);
			say(name, "before %s value0=%d", times(&one), !one.value);
			say(name, "during %s value>=1ms=%d", times(&two), two.value >= 1000000);
			spin_ms(1);
			two = take(fd);
			say(name, "after %s same=%d", times(&three),
			    two.value == three.value && two.enabled == three.enabled);
			close(fd);
		}
}

static void count_switches(void)
{
	int fd = open_times("sw-context-switches", 1, 0), p[2], q[2], i;
	int tp = open_member("tp-switch", 1, 0, fd);
	struct reading r;
	pid_t pid;
	char c = 0;

	if (pipe(p) < 0 || pipe(q) < 0)
		die("pipe");
	pid = fork_quiet();
	if (!pid) {
		close(p[1]);
		while (read(p[0], &c, 1) == 1 && write(q[1], &c, 1) == 1)
			;
		_exit(0);
	}
	/* In one step: a switch in between would be in one count only. */
	ioctl(fd, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
	for (i = 0; i < 50; i++)
		if (write(p[1], &c, 1) != 1 || read(q[0], &c, 1) != 1)
			die("pingpong");
	ioctl(fd, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
	r = take(fd);
	/* Each round waits once; a preemption may add one. */
	say("switches", ">=50:%d %s", r.value >= 50, times(&r));
	say("same-as-tracepoint", "%d", tp < 0 || take(tp).value == r.value);
	close(p[1]);
	close(q[0]);
	wait_child(pid);
	close(p[0]);
	close(q[1]);
	close(fd);
	close(tp);
}

/* ---- what the ioctls do to value and times ---- */

static void show(const char *name, int fd)
{
	struct reading r = take(fd);

	say(name, "%llu %s", (unsigned long long)r.value, times(&r));
}

static void count_states(void)
{
	int fd = open_times("sw-page-faults", 1, 0);
	struct reading before, after;
	u64 period = 10;

	show("opened-disabled", fd);
	make_faults(3);
	show("disabled-after-faults", fd);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	make_faults(3);
	show("enabled", fd);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	make_faults(3);
	show("enabled-twice", fd);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	make_faults(3);
	show("disabled", fd);
	before = take(fd);
	ioctl(fd, PERF_EVENT_IOC_RESET, 0);
	after = take(fd);
	say("reset", "value=%llu times-kept=%d", (unsigned long long)after.value,
	    before.enabled == after.enabled && before.running == after.running);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	make_faults(4);
	ioctl(fd, PERF_EVENT_IOC_RESET, 0);
	make_faults(2);
	show("reset-while-enabled", fd);
	say("period-of-counter", "%s", res(neg(ioctl(fd, PERF_EVENT_IOC_PERIOD, &period))));
	make_faults(2);
	show("after-period", fd);
	close(fd);
	fd = open_times("sw-page-faults", 0, 4);
	make_faults(9);
	show("sampling", fd);
	ioctl(fd, PERF_EVENT_IOC_RESET, 0);
	make_faults(9);
	show("sampling-reset", fd);
	say("period-of-sampler", "%s", res(neg(ioctl(fd, PERF_EVENT_IOC_PERIOD, &period))));
	make_faults(25);
	show("sampling-after-period", fd);
	close(fd);
	fd = open_times("sw-page-faults", 1, 1);
	ioctl(fd, PERF_EVENT_IOC_REFRESH, 3);
	make_faults(10);
	show("refresh-3", fd);
	ioctl(fd, PERF_EVENT_IOC_REFRESH, 2);
	ioctl(fd, PERF_EVENT_IOC_REFRESH, 2);
	make_faults(10);
	show("refresh-2-twice", fd);
	ioctl(fd, PERF_EVENT_IOC_REFRESH, 0);
	make_faults(10);
	show("refresh-0", fd);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	make_faults(10);
	show("enabled-after-refresh", fd);
	close(fd);
}

static void count_group(void)
{
	static const unsigned int flagged[] = { 0, PERF_IOC_FLAG_GROUP };
	unsigned int f, on;
	int fds[4], i;

	for (f = 0; f < 2; f++)
		for (on = 0; on < 3; on++) {
			char name[48];
			int at = on == 2 ? 1 : 0;

			for (i = 0; i < 4; i++) {
				struct perf_event_attr a;

				attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
				/* First all disabled; then only the leader; then as first. */
				attr_set_bits(&a, on == 1 ? !i : 1);
				a.read_format = TIMES;
				fds[i] = pe_open(&a, 0, -1, i ? fds[0] : -1, 0);
			}
			ioctl(fds[at], PERF_EVENT_IOC_ENABLE, flagged[f]);
			make_faults(6);
			for (i = 0; i < 4; i++) {
				snprintf(name, sizeof(name), "flag=%u,case%u,enable,member%d",
					 flagged[f], on, i);
				show(name, fds[i]);
			}
			ioctl(fds[at], PERF_EVENT_IOC_RESET, flagged[f]);
			make_faults(2);
			for (i = 0; i < 4; i++) {
				snprintf(name, sizeof(name), "flag=%u,case%u,reset,member%d",
					 flagged[f], on, i);
				show(name, fds[i]);
			}
			ioctl(fds[at], PERF_EVENT_IOC_DISABLE, flagged[f]);
			make_faults(3);
			for (i = 0; i < 4; i++) {
				snprintf(name, sizeof(name), "flag=%u,case%u,disable,member%d",
					 flagged[f], on, i);
				show(name, fds[i]);
			}
			/* Orphans of a closed leader go on alone. */
			ioctl(fds[0], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
			close(fds[0]);
			make_faults(5);
			for (i = 1; i < 4; i++) {
				snprintf(name, sizeof(name), "flag=%u,case%u,orphan%d", flagged[f],
					 on, i);
				show(name, fds[i]);
				close(fds[i]);
			}
		}
}

static void count_prctl(void)
{
	int own = open_times("sw-page-faults", 0, 0), off = open_times("sw-page-faults", 1, 0);
	int cpu, group;
	struct perf_event_attr a;

	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	a.read_format = TIMES;
	cpu = pe_open(&a, -1, 0, -1, 0);
	group = pe_open(&a, 0, -1, own, 0);
	say("disable", "%s", res(neg(prctl(PR_TASK_PERF_EVENTS_DISABLE))));
	make_faults(5);
	show("disabled-own", own);
	show("disabled-member", group);
	show("disabled-was-off", off);
	say("disabled-cpu", "counts %d", take(cpu).value >= 5);
	say("enable", "%s", res(neg(prctl(PR_TASK_PERF_EVENTS_ENABLE))));
	make_faults(5);
	show("enabled-own", own);
	show("enabled-member", group);
	show("enabled-was-off", off);
	close(group);
	close(cpu);
	close(off);
	close(own);
	/* prctl also turned on what the whole program keeps open: turn that off. */
	prctl(PR_TASK_PERF_EVENTS_DISABLE);
}

/* ---- hardware: multiplexing, pinned, exclusive ---- */

static void count_hardware(void)
{
	const struct source *s = source_find("hw-cycles");
	struct perf_event_attr a;
	struct reading r;
	int fds[24], i, some = 0, less = 0;
	u64 v;

	source_attr(s, &a);
	a.read_format = TIMES;
	if (try_open(&a) < 0) {
		say("hardware", "none");
		return;
	}
	for (i = 0; i < 24; i++)
		fds[i] = must_open(&a);
	spin_ms(400);
	for (i = 0; i < 24; i++) {
		r = take(fds[i]);
		some += r.running > 0;
		less += r.running < r.enabled;
		close(fds[i]);
	}
	say("multiplexed", "of 24: ran %d, less than enabled %d", some, less);
	attr_set_bits(&a, 4 | 8);
	fds[0] = must_open(&a);
	spin_ms(5);
	r = take(fds[0]);
	say("pinned-exclusive", "%s value>0 %d", times(&r), r.value > 0);
	fds[1] = pe_open(&a, 0, -1, -1, 0);
	spin_ms(5);
	say("second-pinned-exclusive", "%s reads %ld", res(fds[1]), neg(read(fds[1], &v, 0)));
	say("second-reads-all", "%ld", neg(read(fds[1], &r, sizeof(r))));
	say("enable-in-error", "%s", res(neg(ioctl(fds[1], PERF_EVENT_IOC_ENABLE, 0))));
	say("second-after-enable", "%ld", neg(read(fds[1], &r, sizeof(r))));
	attr_set_bits(&a, 0);
	fds[2] = must_open(&a);
	spin_ms(5);
	r = take(fds[2]);
	say("beside-exclusive", "%s value0 %d", times(&r), !r.value);
	close(fds[0]);
	close(fds[1]);
	spin_ms(5);
	r = take(fds[2]);
	say("after-exclusive", "%s value>0 %d", times(&r), r.value > 0);
	close(fds[2]);
	attr_set_bits(&a, 8);
	fds[0] = must_open(&a);
	attr_set_bits(&a, 0);
	fds[1] = must_open(&a);
	spin_ms(100);
	r = take(fds[0]);
	say("exclusive-shares", "ran %d %s", r.running > 0, times(&r));
	r = take(fds[1]);
	say("other-shares", "ran %d %s", r.running > 0, times(&r));
	close(fds[0]);
	close(fds[1]);
}

static void count_cpu(void)
{
	struct perf_event_attr a;
	int fd, cpu;

	for (cpu = 0; cpu < nr_cpus && cpu < 2; cpu++) {
		char name[32];
		struct reading r;

		attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
		a.read_format = TIMES;
		fd = pe_open(&a, 0, cpu, -1, 0);
		if (fd < 0) {
			say("task-on-cpu", "%s", res(fd));
			continue;
		}
		make_faults(6);
		r = take(fd);
		snprintf(name, sizeof(name), "task-on-cpu%d", cpu);
		say(name, "%llu %s ran %d", (unsigned long long)r.value, times(&r), r.running > 0);
		if (nr_cpus > 1) {
			pin_to_cpu(1);
			make_faults(4);
			pin_to_cpu(0);
			r = take(fd);
			say(name, "after a visit to the other: %llu ran %d",
			    (unsigned long long)r.value, r.running > 0);
		}
		close(fd);
	}
}

const struct section count_sections[] = {
	{ "count-exact", count_exact },
	{ "count-kernel-faults", count_kernel_faults },
	{ "count-relations", count_relations },
	{ "count-switches", count_switches },
	{ "count-states", count_states },
	{ "count-group", count_group },
	{ "count-prctl", count_prctl },
	{ "count-hardware", count_hardware },
	{ "count-cpu", count_cpu },
	{ }
};
