// SPDX-License-Identifier: GPL-2.0
/*
 * virtual.c - the PMU "virtual": resources of the kernel and of modules as counts, beside others in
 * a group and in each sample; what is refused; resources that go while events show them.
 *
 * needs: smp hw
 */
#include "lib/ext.h"
#include <sys/stat.h>

#define MODULE		"test_virtual"
#define GROUP		(PERF_FORMAT_GROUP | PERF_FORMAT_ID)
#define WHO		(PERF_SAMPLE_TID | PERF_SAMPLE_CPU | PERF_SAMPLE_READ)

static struct pt_record rec;
static struct pt_sample s;
static struct pt_ring ring;

static long long number(const char *name)
{
	return ext_config("virtual", name);
}

static struct perf_event_attr resource(const char *name)
{
	return ext_event("virtual", name);
}

static int open_resource(const char *name, int group)
{
	struct perf_event_attr attr = resource(name);

	return pt_open(&attr, 0, -1, group, 0);
}

static void set(u64 value)
{
	pt_eq(pt_module_set(MODULE, "value", (long long)value), 0);
}

static void load(void)
{
	ext_need();
	pt_pin(0);
	pt_load_module(MODULE, NULL);
}

/* ---- what sysfs says ---- */

static void says(const char *file, const char *want)
{
	ext_file_is("virtual", file, want);
}

static void shown(void)
{
	static const char * const kernel[] = {
		"load1", "load5", "free_pages", "nr_tasks", "tid", "pid", "cpu", "boot_ns",
	};
	static const char path[] = "/sys/bus/event_source/devices/virtual/events/test_level";
	struct stat st = {};
	unsigned int i;

	load();
	for (i = 0; i < PT_ARRAY_SIZE(kernel); i++)
		pt_eq(number(kernel[i]), i + 1);
	says("format/event", "config:0-31");
	says("events/load1.scale", "0.00048828125");
	says("events/free_pages.unit", "pages");
	says("events/free_pages.snapshot", "1");
	says("events/free_pages.per-pkg", "1");
	says("events/free_pages.scale", NULL);
	says("events/tid.snapshot", "1");
	says("events/tid.per-pkg", NULL);
	says("events/boot_ns.snapshot", NULL);
	says("events/test_level.unit", "turns");
	says("events/test_level.scale", "0.5");
	says("events/test_level.snapshot", "1");
	says("events/test_level.per-pkg", "1");
	says("events/test_sum.unit", NULL);
	says("events/test_sum.snapshot", NULL);
	says("events/test_sum.per-pkg", NULL);
	pt_need(!stat(path, &st), "%s: %s", path, strerror(errno));
	pt_eq(st.st_mode & 07777, 0444);	/* for everybody, not just for us */
}

/* ---- counts ---- */

static void level(void)
{
	int fd;

	load();
	set(17);
	fd = open_resource("test_level", -1);
	pt_eq(pt_count(fd), 17);
	set(5);
	pt_eq(pt_count(fd), 5);
	pt_reset(fd);
	pt_eq(pt_count(fd), 5);
	set(6);
	pt_disable(fd);
	set(7);
	pt_eq(pt_count(fd), 6);
	pt_reset(fd);
	pt_eq(pt_count(fd), 0);
	pt_enable(fd);
	pt_eq(pt_count(fd), 7);
}

static void sum(void)
{
	int fd;

	load();
	set(1000);
	fd = open_resource("test_sum", -1);
	pt_eq(pt_count(fd), 0);
	set(1005);
	pt_eq(pt_count(fd), 5);
	pt_disable(fd);
	set(1012);
	pt_eq(pt_count(fd), 5);
	pt_enable(fd);
	set(1013);
	pt_eq(pt_count(fd), 6);
	pt_reset(fd);
	set(1023);
	pt_eq(pt_count(fd), 10);
}

/* A probe in what it reads first reads its group: it shows nothing of before. */
static void sum_is_read_as_it_begins(void)
{
	struct perf_event_attr probe = pt_attr((u32)pt_pmu_type("kprobe"), 0);
	int lead, fd;

	load();
	if (pt_pmu_type("kprobe") < 0)
		pt_skip("no kprobe PMU");
	set(1000);
	probe.kprobe_func = pt_addr(MODULE ":read_value");
	probe.sample_period = 1;
	probe.sample_type = PERF_SAMPLE_READ;
	probe.read_format = PERF_FORMAT_GROUP;
	probe.disabled = 1;
	lead = pt_open(&probe, 0, -1, -1, 0);
	pt_map(&ring, lead, 1);
	fd = open_resource("test_sum", lead);
	pt_enable(lead);
	pt_eq(pt_count(fd), 0);
	pt_need(pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE), "nobody has read it");
}

/* Each member of the family shows what came while its task ran. */
static void sum_of_a_family(void)
{
	struct perf_event_attr attr;
	pid_t pid;
	int fd;

	load();
	attr = resource("test_sum");
	attr.inherit = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	set(3);
	pt_in_child(pid)
		set(100);
	pt_reap(pid);
	pt_eq(pt_count(fd), 100);
	set(101);
	pt_eq(pt_count(fd), 101);
}

static void one_read_of_all(void)
{
	struct perf_event_attr attr;
	struct pt_read r;
	int fd, i;

	load();
	set(40);
	attr = resource("test_level");
	attr.read_format = GROUP;
	fd = pt_open(&attr, 0, -1, -1, 0);
	open_resource("test_sum", fd);
	open_resource("tid", fd);
	open_resource("test_level", fd);
	for (i = 0; i < 3; i++) {
		set(41 + i);
		pt_read(fd, GROUP, 4, &r);
		pt_eq(r.v[0].value, 41 + i);
		pt_eq(r.v[1].value, 1 + i);
		pt_eq(r.v[2].value, pt_tid());
		pt_eq(r.v[3].value, 41 + i);
	}
}

/* ---- in samples ---- */

/* The siblings of a leader that samples; the values come in this order. */
static void add_siblings(int fd)
{
	open_resource("tid", fd);
	open_resource("pid", fd);
	open_resource("cpu", fd);
	open_resource("test_level", fd);
}

static unsigned int check_samples(const struct perf_event_attr *attr, u64 value)
{
	unsigned int n = 0;

	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(attr, &rec, &s);
		pt_eq(s.read.nr, 5);
		pt_eq(s.read.v[1].value, s.tid);
		pt_eq(s.read.v[2].value, s.pid);
		pt_eq(s.read.v[3].value, s.cpu);
		pt_eq(s.read.v[4].value, value);
		pt_eq(s.tid, pt_tid());
		n++;
	}
	pt_consume(&ring);
	return n;
}

static void in_samples_of_faults(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	int fd;

	load();
	pt_settle();
	set(77);
	attr.sample_period = 1;
	attr.sample_type = WHO;
	attr.read_format = GROUP;
	attr.disabled = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	add_siblings(fd);
	pt_map(&ring, fd, 64);
	pt_enable(fd);
	pt_fault(100);
	set(78);
	pt_disable(fd);
	pt_eq(check_samples(&attr, 77), 100);
}

/* These are NMIs, where the machine has them. */
static void in_samples_of_cycles(void)
{
	struct perf_event_attr attr = pt_attr(PT_HW(CPU_CYCLES));
	const u64 period = 10007;
	unsigned int n;
	int fd;

	load();
	pt_sysctl_set("perf_event_max_sample_rate", 10000000);
	pt_sysctl_set("perf_cpu_time_max_percent", 0);
	set(99);
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.sample_period = period;
	attr.sample_type = WHO;
	attr.read_format = GROUP;
	attr.disabled = 1;
	fd = pt_open_hw(&attr, -1);
	add_siblings(fd);
	pt_map(&ring, fd, 64);
	pt_enable(fd);
	pt_spin(500000);
	pt_disable(fd);
	n = check_samples(&attr, 99);
	pt_check(n >= (pt_time_is_exact() ? 99 : 1), "%u samples of 1,000,000 instructions", n);
}

/* A group that is led by a resource, and a counter that joins it. */
static void leads_cycles(void)
{
	struct perf_event_attr cycles = pt_attr(PT_HW(CPU_CYCLES)), attr;
	struct pt_read r;
	int fd, hw;

	load();
	set(4);
	attr = resource("test_level");
	attr.read_format = GROUP;
	fd = pt_open(&attr, 0, -1, -1, 0);
	cycles.exclude_kernel = 1;
	hw = pt_open_hw(&cycles, fd);
	pt_spin(1000);
	pt_read(fd, GROUP, 2, &r);
	pt_eq(r.v[0].value, 4);
	pt_check(r.v[1].value >= 2000, "%llu cycles", (unsigned long long)r.v[1].value);
	close(hw);
	set(5);
	pt_read(fd, GROUP, 1, &r);
	pt_eq(r.v[0].value, 5);
}

/* ---- those of the kernel ---- */

static long long meminfo(const char *key)
{
	char text[4096], *at;

	pt_need(pt_slurp("/proc/meminfo", text, sizeof(text)), "no /proc/meminfo");
	at = strstr(text, key);
	pt_need(at, "no %s", key);
	return strtoll(at + strlen(key), NULL, 10) * 1024 / pt_page_size();
}

static void free_pages(void)
{
	const long long pages = 65536, kept = 40000;	/* by the lists of a CPU, at most */
	long long free, before, after;
	int fd;

	ext_need();
	fd = open_resource("free_pages", -1);
	before = (long long)pt_count(fd);
	free = meminfo("MemFree:");
	after = (long long)pt_count(fd);
	pt_check(llabs(free - before) <= llabs(after - before) + 256, "%lld, not %lld", before,
		 free);
	pt_touch(pt_fresh_pages(pages), pages);
	after = (long long)pt_count(fd);
	pt_check(before - after > pages - kept, "%lld pages less", before - after);
}

/* "1.25 0.50 0.10 1/87 1234" */
static void loadavg(long long *load1, long long *load5, long long *tasks)
{
	long long a, b, c, d, n;
	char text[128];

	pt_need(pt_slurp("/proc/loadavg", text, sizeof(text)), "no /proc/loadavg");
	pt_need(sscanf(text, "%lld.%lld %lld.%lld %*s %*u/%lld", &a, &b, &c, &d, &n) == 5, "%s",
		text);
	*load1 = a * 100 + b;
	*load5 = c * 100 + d;
	*tasks = n;
}

/* As /proc rounds it, in hundredths. */
static u64 hundredths(u64 load)
{
	load += 2048 / 200;
	return load / 2048 * 100 + load % 2048 * 100 / 2048;
}

/* What /proc says before or after. */
static void loads_and_tasks(void)
{
	struct perf_event_attr attr;
	long long b[3], a[3], v;
	struct pt_read r;
	int fd, i;

	ext_need();
	attr = resource("load1");
	attr.read_format = GROUP;
	fd = pt_open(&attr, 0, -1, -1, 0);
	open_resource("load5", fd);
	open_resource("nr_tasks", fd);
	loadavg(&b[0], &b[1], &b[2]);
	pt_read(fd, GROUP, 3, &r);
	loadavg(&a[0], &a[1], &a[2]);
	r.v[0].value = hundredths(r.v[0].value);
	r.v[1].value = hundredths(r.v[1].value);
	for (i = 0; i < 3; i++) {
		v = (long long)r.v[i].value;
		pt_check(v == b[i] || v == a[i], "%d: %lld, not %lld or %lld", i, v, b[i], a[i]);
	}
}

static void boot_ns(void)
{
	struct perf_event_attr attr;
	u64 outer, inner, count;
	int fd;

	ext_need();
	attr = resource("boot_ns");
	attr.disabled = 1;
	pt_pin(0);
	fd = pt_open(&attr, -1, 0, -1, 0);	/* of a task it would not count while others run */
	outer = pt_clock(CLOCK_BOOTTIME);
	pt_enable(fd);
	inner = pt_clock(CLOCK_BOOTTIME);
	pt_burn(1000000);
	inner = pt_clock(CLOCK_BOOTTIME) - inner;
	pt_disable(fd);
	count = pt_count(fd);
	outer = pt_clock(CLOCK_BOOTTIME) - outer;
	/* The clock of NMIs may be a little behind. */
	pt_check(inner <= count + 10000 && count <= outer + 10000, "%llu is not in %llu .. %llu",
		 (unsigned long long)count, (unsigned long long)inner, (unsigned long long)outer);
}

static void each_cpu(void)
{
	int cpus = pt_online_cpus(), cpu, fd;
	struct perf_event_attr attr;

	ext_need();
	attr = resource("cpu");
	attr.inherit = 1;	/* as perf does; it means nothing for a CPU */
	for (cpu = 0; cpu < cpus; cpu++) {
		fd = pt_open(&attr, -1, cpu, -1, 0);
		pt_eq(pt_count(fd), cpu);
		close(fd);
	}
}

/* Ids are those that the opener knows. */
static void in_a_pid_namespace(void)
{
	pid_t pid;
	int fd;

	ext_need();
	fd = open_resource("pid", -1);
	pt_eq(pt_count(fd), getpid());
	if (unshare(CLONE_NEWPID))
		pt_skip("no pid namespaces");
	pt_in_child(pid) {
		pt_eq(getpid(), 1);
		pt_eq(pt_count(open_resource("pid", -1)), 1);
		pt_eq(pt_count(open_resource("tid", -1)), 1);
	}
	pt_reap(pid);
}

/* ---- refusals ---- */

static void refused(void)
{
	struct perf_event_attr attr;

	load();
	attr = resource("test_level");
	pt_eq(pt_probe(&attr), 0);
	attr.inherit = 1;
	ext_refused(&attr, EINVAL, "attr.inherit: levels of several tasks have no sum");
	attr.inherit = 0;
	attr.sample_period = 1;
	ext_refused(&attr, EOPNOTSUPP, "attr.sample_period: the PMU cannot interrupt");
	attr.sample_period = 0;
	attr.config1 = 1;
	ext_refused(&attr, EINVAL, "attr.config1, 2, 3: of no use with this PMU");
	attr.config1 = 0;
	attr.config |= 1ull << 32;
	ext_refused(&attr, ENOENT, "attr.config: no such resource");
	attr.config = 0;
	ext_refused(&attr, ENOENT, "attr.config: no such resource");
	attr.config = 1ull << 63 | 1;
	ext_refused(&attr, ENOENT, NULL);
	attr = resource("test_level");
	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	ext_refused(&attr, EOPNOTSUPP, "attr.sample_type: no branches here");
}

static void ordinary_users(void)
{
	struct perf_event_attr secret, attr;

	load();
	pt_sysctl_set("perf_event_paranoid", 2);
	secret = resource("test_secret");
	attr = resource("test_level");
	pt_eq(pt_probe(&secret), 0);
	pt_become_nobody();
	ext_refused(&attr, EACCES, NULL);
	attr.exclude_kernel = 1;
	pt_eq(pt_probe(&attr), 0);
	secret.exclude_kernel = 1;
	ext_refused(&secret, EACCES, "attr.config: for those who may count on CPUs");
	attr = resource("free_pages");
	attr.exclude_kernel = 1;
	pt_eq(pt_probe(&attr), 0);
}

/* Names are compared: nothing is left to sysfs, which complains in the log. */
static void no_duplicate_was_tried(int log)
{
	char line[4096];
	ssize_t n;

	while ((n = read(log, line, sizeof(line) - 1)) > 0 || (n < 0 && errno == EPIPE)) {
		line[n > 0 ? n : 0] = 0;
		pt_check(!strstr(line, "duplicate filename"), "%s", line);
	}
	close(log);
}

static void names(void)
{
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);

	ext_need();
	pt_need(log >= 0 && !lseek(log, 0, SEEK_END), "no kernel log: %s", strerror(errno));
	pt_eq(pt_try_load_module(MODULE, "name=load1"), -EEXIST);
	pt_eq(pt_try_load_module(MODULE, "name=test_sum"), -EEXIST);
	pt_eq(number("test_sum"), -1);
	no_duplicate_was_tried(log);
	pt_eq(pt_try_load_module(MODULE, "name=test.level"), -EINVAL);
	pt_eq(pt_try_load_module(MODULE, "name="), -EINVAL);
	pt_eq(pt_try_load_module(MODULE, "name=a23456789b123456789c123456789d12"), -EINVAL);
	pt_load_module(MODULE, "name=a23456789b123456789c123456789d1");
	pt_check(number("a23456789b123456789c123456789d1") > 0, "not shown");
	says("events/a23456789b123456789c123456789d1.snapshot", "1");
}

/* Texts may be as long as names, and are shown to the last letter. */
static void units(void)
{
	ext_need();
	pt_eq(pt_try_load_module(MODULE, "unit=a23456789b123456789c123456789d12"), -EINVAL);
	pt_load_module(MODULE, "unit=a23456789b123456789c123456789d1");
	says("events/test_level.unit", "a23456789b123456789c123456789d1");
}

/* ---- resources that go ---- */

static void withdrawn(void)
{
	struct perf_event_attr old;
	int level_fd, sum_fd;

	load();
	set(10);
	old = resource("test_level");
	level_fd = open_resource("test_level", -1);
	sum_fd = open_resource("test_sum", -1);
	set(12);
	pt_eq(pt_count(level_fd), 12);
	pt_eq(pt_count(sum_fd), 2);
	pt_eq(pt_module_set(MODULE, "registered", 0), 0);
	set(20);
	pt_eq(pt_module_get(MODULE, "registered"), 0);
	pt_eq(number("test_level"), -1);
	says("events/test_level.unit", NULL);
	pt_eq(pt_count(level_fd), 12);
	pt_eq(pt_count(sum_fd), 2);
	pt_disable(sum_fd);
	pt_enable(sum_fd);
	pt_eq(pt_count(sum_fd), 2);
	ext_refused(&old, ENOENT, "attr.config: no such resource");

	/* It is another one, of the same name. */
	pt_eq(pt_module_set(MODULE, "registered", 1), 0);
	pt_check((u64)number("test_level") != old.config, "the same number");
	ext_refused(&old, ENOENT, "attr.config: no such resource");
	pt_eq(pt_count(level_fd), 12);
	pt_eq(pt_count(open_resource("test_level", -1)), 20);
}

static void holds_its_module(void)
{
	int fd;

	load();
	fd = open_resource("test_level", -1);
	pt_eq(pt_unload_module(MODULE), -EAGAIN);
	close(fd);
	pt_eq(pt_unload_module(MODULE), 0);
	pt_eq(number("test_level"), -1);
}

/*
 * On another CPU one is opened, read and closed all the time; not so often that the memory of
 * those that are gone waits for its grace period in heaps.
 */
static void withdrawn_while_read(void)
{
	struct perf_event_attr attr;
	int gate[2], fd, i;
	pid_t pid;
	u64 count;

	load();
	if (pt_online_cpus() < 2)
		pt_skip("needs two CPUs");
	set(55);
	attr = resource("test_level");
	pt_gate_make(gate);
	pt_in_child(pid) {
		pt_pin(1);
		pt_gate_open(gate);
		for (;;) {
			fd = pt_try_open(&attr, 0, -1, -1, 0);
			if (fd < 0) {
				pt_need(fd == -ENOENT, "open: %s", strerror(-fd));
				if (number("test_level") > 0)
					attr.config = (u64)number("test_level");
				continue;
			}
			for (i = 0; i < 200; i++) {
				count = pt_count(fd);
				pt_check(count == 55 || !count, "read %llu",
					 (unsigned long long)count);
			}
			close(fd);
		}
	}
	pt_gate_wait(gate);
	for (i = 0; i < 15; i++) {
		pt_eq(pt_module_set(MODULE, "registered", 0), 0);
		pt_eq(pt_module_set(MODULE, "registered", 1), 0);
	}
	pt_kill(pid);
}

/* A resource that nobody shows any more is let go. */
static void memory_goes(void)
{
	int type = pt_pmu_type("kprobe"), fd;
	struct perf_event_attr attr;

	load();
	if (type < 0)
		pt_skip("no kprobes");
	attr = pt_attr((u32)type, 0);
	attr.kprobe_func = pt_addr("pe_resource_put");
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(pt_module_set(MODULE, "registered", 0), 0);
	pt_eq(pt_count(fd), 3);		/* of the module's three */
}

static const struct pt_case cases[] = {
	{ "shown", shown },
	{ "level", level },
	{ "sum", sum },
	{ "sum_is_read_as_it_begins", sum_is_read_as_it_begins },
	{ "sum_of_a_family", sum_of_a_family },
	{ "one_read_of_all", one_read_of_all },
	{ "in_samples_of_faults", in_samples_of_faults },
	{ "in_samples_of_cycles", in_samples_of_cycles },
	{ "leads_cycles", leads_cycles },
	{ "free_pages", free_pages },
	{ "loads_and_tasks", loads_and_tasks },
	{ "boot_ns", boot_ns },
	{ "each_cpu", each_cpu },
	{ "in_a_pid_namespace", in_a_pid_namespace },
	{ "refused", refused },
	{ "ordinary_users", ordinary_users },
	{ "names", names },
	{ "units", units },
	{ "withdrawn", withdrawn },
	{ "memory_goes", memory_goes },
	{ "holds_its_module", holds_its_module },
	{ "withdrawn_while_read", withdrawn_while_read },
};

PT_MAIN(cases)
