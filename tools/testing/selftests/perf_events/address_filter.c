// SPDX-License-Identifier: GPL-2.0
/*
 * address_filter.c - PERF_EVENT_IOC_SET_FILTER on a PMU that filters by address.
 *
 * The PMU is test_sample (see pmu/), which tells how often it got filters and with which ranges.
 * A range is where a mapping of the traced task shows the part of the file that the filter names.
 */
#include "lib/ptest.h"
#include <sys/mount.h>

#define MODULE	"test_sample"
#define PATH_SIZE	32

enum { STOP, START, FILTER };

struct range {
	int action;
	u64 offset, size, start, length;
};

static void load(const char *params)
{
	pt_load_module(MODULE, params);
	pt_pin(0);
}

static struct perf_event_attr attr_of(void)
{
	struct perf_event_attr attr = pt_attr((u32)pt_pmu_type(MODULE), 0);

	attr.mmap = 1;		/* Linux 6.12 follows mappings only while somebody records them */
	return attr;
}

static int open_event(pid_t pid)
{
	struct perf_event_attr attr = attr_of();

	return pt_open(&attr, pid, -1, -1, 0);
}

static long set(int fd, const char *text)
{
	return pt_ioctl(fd, PERF_EVENT_IOC_SET_FILTER, (unsigned long)text);
}

/* What the driver was told last, and for which task. */
static int ranges(struct range *r, int max, pid_t *pid)
{
	char text[1024], *at;
	int nr = 0, used;

	pt_need(pt_slurp("/sys/module/" MODULE "/parameters/ranges", text, sizeof(text)),
		"no ranges");
	*pid = 0;
	at = strchr(text, ':');
	if (!at)
		return 0;
	*pid = atoi(text);
	for (at++; nr < max; nr++, at += used) {
		unsigned long v[4];

		if (sscanf(at, " %d %lx %lx %lx %lx%n", &r[nr].action, &v[0], &v[1], &v[2], &v[3],
			   &used) != 5)
			break;
		r[nr].offset = v[0];
		r[nr].size = v[1];
		r[nr].start = v[2];
		r[nr].length = v[3];
	}
	return nr;
}

static void check(int nr, const struct range *want)
{
	struct range got[8];
	pid_t pid;
	int i;

	pt_eq(ranges(got, 8, &pid), nr);
	for (i = 0; i < nr; i++) {
		pt_eq(got[i].action, want[i].action);
		pt_eq(got[i].offset, want[i].offset);
		pt_eq(got[i].size, want[i].size);
		pt_eq(got[i].start, want[i].start);
		pt_eq(got[i].length, want[i].length);
	}
}

/* A file of some pages, which exists until the end of the case. */
static int make_file(char *path, unsigned int pages)
{
	int fd;

	snprintf(path, PATH_SIZE, "/tmp/filter-XXXXXX");
	fd = mkstemp(path);
	pt_need(fd >= 0, "%s: %s", path, strerror(errno));
	pt_need(!ftruncate(fd, pages * pt_page_size()), "ftruncate");
	return fd;
}

static void *map_exec(int file, unsigned int page, unsigned int nr, void *at)
{
	void *p = mmap(at, nr * pt_page_size(), PROT_READ | PROT_EXEC,
		       MAP_PRIVATE | (at ? MAP_FIXED : 0), file, page * pt_page_size());

	pt_need(p != MAP_FAILED, "mmap: %s", strerror(errno));
	return p;
}

static void kernel_addresses(void)
{
	static const struct range two[] = {
		{ FILTER, 0xffff800010000000, 0x1000, 0xffff800010000000, 0x1000 },
		{ STOP, 0xffff800010004000, 0, 0xffff800010004000, 0 },
	};
	int fd;

	load("filters=4");
	fd = open_event(0);
	pt_eq(set(fd, "filter 0xffff800010000000/0x1000, stop 0xffff800010004000\n"), 0);
	check(2, two);
	pt_eq(set(fd, "start 020/16"), 0);	/* octal, and decimal */
	check(1, &(struct range){ START, 16, 16, 16, 16 });
	pt_eq(set(fd, ""), 0);
	check(0, NULL);
	close(fd);
}

/* Of somebody who may not see the kernel. */
static int open_as_nobody(void)
{
	struct perf_event_attr attr;

	if (pt_is_stock())
		pt_skip("Linux 6.12 takes any address");
	load("filters=2");
	pt_sysctl_set("perf_event_paranoid", 2);
	attr = attr_of();
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	pt_become_nobody();
	return pt_open(&attr, 0, -1, -1, 0);
}

static void no_right_to_see_the_kernel(void)
{
	int fd = open_as_nobody();

	pt_eq(set(fd, "filter 0xffff800010000000/0x1000"), -EACCES);
	pt_eq(set(fd, "filter 0x1000/0xfffffffffffff000"), -EACCES);
	pt_eq(set(fd, "start 0x1000"), 0);
	check(1, &(struct range){ START, 0x1000, 0, 0x1000, 0 });
	close(fd);
}

/* A region may reach to the end of user space: to the first address that is refused. */
static void all_of_user_space(void)
{
	u64 at, good = 0x1000, end = ~0ull;
	int fd = open_as_nobody();
	char text[64];

	while (end - good > 1) {
		at = good + (end - good) / 2;
		snprintf(text, sizeof(text), "start %#llx", (unsigned long long)at);
		if (set(fd, text))
			end = at;
		else
			good = at;
	}
	snprintf(text, sizeof(text), "filter 0x1000/%#llx", (unsigned long long)end - 0x1000);
	pt_eq(set(fd, text), 0);
	check(1, &(struct range){ FILTER, 0x1000, end - 0x1000, 0x1000, end - 0x1000 });
	snprintf(text, sizeof(text), "filter 0x1000/%#llx", (unsigned long long)end - 0xfff);
	pt_eq(set(fd, text), -EACCES);
	close(fd);
}

static void bad_text(void)
{
	static const struct {
		const char *text;
		int err;
	} bad[] = {
		{ "nonsense", -EINVAL }, { "filter", -EINVAL }, { "filter filter 0/1", -EINVAL },
		{ "0x1000/0x1000", -EINVAL }, { "filter 0x1000", -EINVAL },
		{ "filter 0x1000/0", -EINVAL }, { "filter -1/1", -EINVAL },
		{ "filter 1/-1", -EINVAL }, { "filter 0x/1", -EINVAL }, { "filter 08/1", -EINVAL },
		{ "filter 1/2/3", -EINVAL }, { "filter 1/", -EINVAL }, { "filter /1", -EINVAL },
		{ "filter 1/1@", -EINVAL }, { "filter @/init", -EINVAL },
		{ "filter 1x/1", -EINVAL },
		{ "filter 1/1 0", -EINVAL }, { "filter 1/1,start", -EINVAL },
		{ "filters 1/1", -EINVAL }, { "FILTER 1/1", -EINVAL }, { "start 1;", -EINVAL },
		{ "filter 0x10000000000000000/1", -ERANGE },
		{ "filter 1/0x10000000000000000", -ERANGE },
		{ "filter 0x10000000000000000/1/", -EINVAL },
		{ "filter 0/1@/no/such/file", -ENOENT }, { "filter 0/1@/dev/null", -EINVAL },
		{ "filter 0/1@/", -EINVAL }, { "filter 0/1@/no/such/file nonsense", -ENOENT },
		{ "nonsense 0/1@/no/such/file", -EINVAL },
	};
	long long before;
	unsigned int i;
	int fd;

	load("filters=4");
	fd = open_event(0);
	pt_eq(set(fd, "start 0x1000"), 0);
	before = pt_module_get(MODULE, "syncs");
	for (i = 0; i < PT_ARRAY_SIZE(bad); i++)
		pt_check(set(fd, bad[i].text) == bad[i].err, "'%s' gave %ld", bad[i].text,
			 set(fd, bad[i].text));
	pt_eq(set(fd, NULL), -EFAULT);
	/* What was there stays in force. */
	pt_eq(pt_module_get(MODULE, "syncs"), before);
	check(1, &(struct range){ START, 0x1000, 0, 0x1000, 0 });
	close(fd);
}

static void refused_by_the_driver(void)
{
	int fd;

	load("filters=2");
	fd = open_event(0);
	pt_eq(set(fd, "start 1 stop 2"), 0);
	pt_need(!pt_module_set(MODULE, "refuse", -EBUSY), "refuse");
	pt_eq(set(fd, "start 3"), -EBUSY);
	pt_eq(set(fd, "nonsense"), -EINVAL);
	pt_need(!pt_module_set(MODULE, "refuse", 0), "refuse");
	check(2, (struct range[]){ { START, 1, 0, 1, 0 }, { STOP, 2, 0, 2, 0 } });
	if (pt_is_stock())
		pt_skip("Linux 6.12 leaves the number of filters to the driver");
	pt_eq(set(fd, "start 1 stop 2 start 3"), -EOPNOTSUPP);
	close(fd);
}

static void not_a_filtering_pmu(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	int fd = pt_open(&attr, 0, -1, -1, 0);

	pt_eq(set(fd, "start 1"), -EINVAL);
	pt_eq(set(fd, NULL), -EFAULT);
	close(fd);
	load(NULL);
	fd = open_event(0);
	pt_eq(set(fd, "start 1"), -EINVAL);
	close(fd);
	pt_check(!pt_path_exists("/sys/bus/event_source/devices/" MODULE "/nr_addr_filters"),
		 "a PMU without filters shows their number");
}

static void shown_in_sysfs(void)
{
	load("filters=3");
	pt_eq(pt_read_number("/sys/bus/event_source/devices/" MODULE "/nr_addr_filters", -1), 3);
}

/* Other tasks have the file elsewhere, so events of a CPU cannot name one. */
static void event_of_a_cpu(void)
{
	struct perf_event_attr attr;
	int fd;

	load("filters=2");
	attr = attr_of();
	fd = pt_open(&attr, -1, 0, -1, 0);
	pt_eq(set(fd, "filter 0/1@/proc/self/exe"), -EOPNOTSUPP);
	pt_eq(set(fd, "filter 0/1@/no/such/file"), -EOPNOTSUPP);
	pt_eq(set(fd, "start 0x1000"), 0);
	check(1, &(struct range){ START, 0x1000, 0, 0x1000, 0 });
	close(fd);
}

static void mapped_before(void)
{
	u64 page = (u64)pt_page_size();
	char path[PATH_SIZE], text[128];
	int file, fd;
	u64 at;

	load("filters=4");
	file = make_file(path, 8);
	at = pt_addr(map_exec(file, 2, 4, NULL));	/* pages 2 to 5 */
	fd = open_event(0);

	/* inside; from before it; to behind it; not in it */
	snprintf(text, sizeof(text), "filter %#llx/%#llx@%s", (unsigned long long)(3 * page),
		 (unsigned long long)page, path);
	pt_eq(set(fd, text), 0);
	check(1, &(struct range){ FILTER, 3 * page, page, at + page, page });
	snprintf(text, sizeof(text), "filter %#llx/%#llx@%s", (unsigned long long)page,
		 (unsigned long long)(2 * page), path);
	pt_eq(set(fd, text), 0);
	check(1, &(struct range){ FILTER, page, 2 * page, at, page });
	snprintf(text, sizeof(text), "filter %#llx/%#llx@%s", (unsigned long long)(5 * page),
		 (unsigned long long)(2 * page), path);
	pt_eq(set(fd, text), 0);
	check(1, &(struct range){ FILTER, 5 * page, 2 * page, at + 3 * page, page });
	snprintf(text, sizeof(text), "filter %#llx/1@%s,start 0x10@%s",
		 (unsigned long long)(7 * page), path, path);
	pt_eq(set(fd, text), 0);
	check(2, (struct range[]){ { FILTER, 7 * page, 1, 0, 0 }, { START, 16, 0, 0, 0 } });
	close(fd);
	unlink(path);
}

static void mapped_later(void)
{
	const struct range stop77 = { STOP, 0x77, 0, 0x77, 0 };
	char path[PATH_SIZE], text[64];
	u64 page = (u64)pt_page_size();
	int file, fd;
	void *at;

	load("filters=4");
	file = make_file(path, 4);
	fd = open_event(0);
	snprintf(text, sizeof(text), "stop 0x77 filter 0/0x10@%s", path);
	pt_eq(set(fd, text), 0);
	check(2, (struct range[]){ stop77, { FILTER, 0, 16, 0, 0 } });

	/* pages 2 and 3: not what is meant */
	map_exec(file, 2, 2, NULL);
	check(2, (struct range[]){ stop77, { FILTER, 0, 16, 0, 0 } });
	/* data is not code */
	at = mmap(NULL, page, PROT_READ, MAP_PRIVATE, file, 0);
	pt_need(at != MAP_FAILED, "mmap");
	check(2, (struct range[]){ stop77, { FILTER, 0, 16, 0, 0 } });
	at = map_exec(file, 0, 2, NULL);
	check(2, (struct range[]){ stop77, { FILTER, 0, 16, pt_addr(at), 16 } });
	/* the latest mapping is the one that counts */
	at = map_exec(file, 0, 1, NULL);
	check(2, (struct range[]){ stop77, { FILTER, 0, 16, pt_addr(at), 16 } });
	close(fd);
	unlink(path);
}

/* Linux 6.12 follows mappings only while some event of the system records them. */
static void nobody_records(void)
{
	struct perf_event_attr attr;
	char path[PATH_SIZE], text[64];
	int file, fd;
	void *at;

	if (pt_is_stock())
		pt_skip("Linux 6.12 does not follow mappings unless somebody records them");
	load("filters=1");
	attr = attr_of();
	attr.mmap = 0;
	file = make_file(path, 1);
	fd = pt_open(&attr, 0, -1, -1, 0);
	snprintf(text, sizeof(text), "filter 0/16@%s", path);
	pt_eq(set(fd, text), 0);
	pt_eq(set(fd, text), 0);	/* is counted once */
	at = map_exec(file, 0, 1, NULL);
	check(1, &(struct range){ FILTER, 0, 16, pt_addr(at), 16 });
	close(fd);
	unlink(path);
}

static void disabled_meanwhile(void)
{
	char path[PATH_SIZE], text[64];
	long long before;
	int file, fd;
	void *at;

	load("filters=1");
	file = make_file(path, 1);
	fd = open_event(0);
	pt_disable(fd);
	before = pt_module_get(MODULE, "syncs");
	snprintf(text, sizeof(text), "filter 0/16@%s", path);
	pt_eq(set(fd, text), 0);
	at = map_exec(file, 0, 1, NULL);
	pt_eq(pt_module_get(MODULE, "syncs"), before);
	/* it learns of both when it starts, at once */
	pt_enable(fd);
	pt_eq(pt_module_get(MODULE, "syncs"), before + 1);
	check(1, &(struct range){ FILTER, 0, 16, pt_addr(at), 16 });
	pt_disable(fd);
	pt_enable(fd);
	pt_eq(pt_module_get(MODULE, "syncs"), before + 1);
	close(fd);
	unlink(path);
}

static void inherited(void)
{
	struct perf_event_attr attr;
	char path[PATH_SIZE], text[64];
	struct range r;
	int file, fd;
	void *at;
	pid_t pid;

	load("filters=1");
	file = make_file(path, 1);
	at = map_exec(file, 0, 1, NULL);
	attr = attr_of();
	attr.inherit = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	snprintf(text, sizeof(text), "filter 0/16@%s", path);
	pt_eq(set(fd, text), 0);
	pt_in_child(pid) {
		pid_t last;

		/* Linux 6.12 lets the two tasks exchange their events, so it may be anybody's. */
		pt_eq(ranges(&r, 1, &last), 1);
		pt_eq(r.start, pt_addr(at));
		/* it follows mappings of its own */
		at = map_exec(file, 0, 1, NULL);
		pt_eq(ranges(&r, 1, &last), 1);
		pt_eq(last, getpid());
		pt_eq(r.start, pt_addr(at));
	}
	pt_reap(pid);
	close(fd);
	unlink(path);
}

/* After exec the file is mapped nowhere. */
static int after_exec(int argc, char **argv)
{
	char c;

	if (argc != 2 || strcmp(argv[1], "--wait"))
		return -1;
	if (write(4, "x", 1) != 1)
		return 1;
	return read(3, &c, 1) != 1;
}

static void exec_forgets(void)
{
	int up[2], down[2], file, fd;
	char path[PATH_SIZE], text[64], c;
	struct range r[2];
	pid_t pid, last;

	load("filters=2");
	file = make_file(path, 1);
	pt_need(!pipe(up) && !pipe(down), "pipe");
	pt_in_child(pid) {
		map_exec(file, 0, 1, NULL);
		dup2(down[0], 203);
		dup2(up[1], 204);
		dup2(203, 3);
		dup2(204, 4);
		if (write(4, "m", 1) != 1 || read(3, &c, 1) != 1)
			_exit(9);
		execl("/proc/self/exe", "address_filter", "--wait", NULL);
		_exit(8);
	}
	pt_need(read(up[0], &c, 1) == 1, "child");
	fd = open_event(pid);
	snprintf(text, sizeof(text), "stop 0x33 filter 0/16@%s", path);
	pt_eq(set(fd, text), 0);
	pt_need(write(down[1], "g", 1) == 1, "child");
	pt_need(read(up[0], &c, 1) == 1 && c == 'x', "child");
	/* the child waits, in its new program, without the file */
	pt_eq(ranges(r, 2, &last), 2);
	pt_eq(last, pid);
	pt_eq(r[0].start, 0x33);
	pt_eq(r[1].action, FILTER);
	pt_eq(r[1].start, 0);
	pt_eq(r[1].length, 0);
	pt_need(write(down[1], "g", 1) == 1, "child");
	pt_reap(pid);
	close(fd);
	unlink(path);
}

/* The list holds the file: closing lets it go, whatever happened to it meanwhile. */
static void file_that_is_deleted(void)
{
	char path[PATH_SIZE], text[64];
	int file, fd;
	void *at;

	load("filters=1");
	file = make_file(path, 1);
	fd = open_event(0);
	snprintf(text, sizeof(text), "filter 0/16@%s", path);
	pt_eq(set(fd, text), 0);
	unlink(path);
	pt_eq(set(fd, text), -ENOENT);
	at = map_exec(file, 0, 1, NULL);
	check(1, &(struct range){ FILTER, 0, 16, pt_addr(at), 16 });
	close(fd);
}

/* Nor is it held when the list has been exchanged: its file system can be unmounted. */
static void file_system_is_unmounted(void)
{
	char dir[] = "/tmp/filter-XXXXXX", path[64], text[96];
	int file, fd;

	load("filters=1");
	pt_need(mkdtemp(dir) && !mount("none", dir, "ramfs", 0, NULL), "%s: %s", dir,
		strerror(errno));
	snprintf(path, sizeof(path), "%s/file", dir);
	file = open(path, O_RDWR | O_CREAT, 0600);
	pt_need(file >= 0, "%s: %s", path, strerror(errno));
	close(file);
	fd = open_event(0);
	snprintf(text, sizeof(text), "filter 0/16@%s", path);
	pt_eq(set(fd, text), 0);
	pt_eq(umount(dir), -1);
	pt_eq(set(fd, ""), 0);
	pt_check(!umount(dir), "umount: %s", strerror(errno));
	rmdir(dir);
	close(fd);
}

/* Filters that are set later are those of children that are there already. */
static void set_for_children(void)
{
	int go[2], ready[2], file, fd;
	struct perf_event_attr attr;
	char path[PATH_SIZE], text[64];
	struct range r;
	pid_t pid, last;
	void *at;
	int turn;

	load("filters=1");
	file = make_file(path, 1);
	at = map_exec(file, 0, 1, NULL);
	attr = attr_of();
	attr.inherit = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_gate_make(go);
	pt_gate_make(ready);
	pt_in_child(pid) {
		pt_gate_open(ready);
		for (turn = 1; turn <= 3; turn++) {
			pt_gate_wait(go);
			/* The driver was told when this task came in. */
			pt_eq(ranges(&r, 1, &last), 1);
			pt_eq(r.start, pt_addr(at));
			pt_eq(r.length, 16 * turn);
			if (!pt_is_stock())
				pt_eq(last, getpid());
			pt_gate_open(ready);
		}
	}
	pt_gate_wait(ready);
	for (turn = 1; turn <= 3; turn++) {
		snprintf(text, sizeof(text), "filter 0/%d@%s", 16 * turn, path);
		pt_eq(set(fd, text), 0);
		pt_gate_open(go);
		pt_gate_wait(ready);
	}
	pt_reap(pid);
	close(fd);
	unlink(path);
}

static const struct pt_case cases[] = {
	/* first: a wrong number of users is noticed as long as it is 0 */
	{ "mapped while nobody records", nobody_records },
	{ "kernel addresses", kernel_addresses },
	{ "kernel addresses, unprivileged", no_right_to_see_the_kernel },
	{ "all of user space", all_of_user_space },
	{ "bad text", bad_text },
	{ "refused by the driver", refused_by_the_driver },
	{ "no address filters there", not_a_filtering_pmu },
	{ "sysfs", shown_in_sysfs },
	{ "event of a CPU", event_of_a_cpu },
	{ "mapped before", mapped_before },
	{ "mapped later", mapped_later },
	{ "disabled meanwhile", disabled_meanwhile },
	{ "inherited", inherited },
	{ "set for children", set_for_children },
	{ "exec forgets", exec_forgets },
	{ "a file that is deleted", file_that_is_deleted },
	{ "a file system is unmounted", file_system_is_unmounted },
};

int main(int argc, char **argv)
{
	pt_reexec_hook = after_exec;
	return pt_run(argc, argv, cases, PT_ARRAY_SIZE(cases));
}
