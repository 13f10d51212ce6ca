// SPDX-License-Identifier: GPL-2.0
/*
 * fault.c - memory runs out: every allocation of a call fails once, the first
 * in the first turn, the second in the second, until none is left to fail.
 * Each time the call says ENOMEM, nothing is left behind, and the same call
 * works afterwards. Needs a kernel with CONFIG_FAULT_INJECTION.
 */
#include "lib/cgroup.h"
#include "lib/format.h"
#include "lib/inject.h"
#include "lib/session.h"
#include <sys/prctl.h>

static void nothing_to_check(void)
{
}

static struct perf_event_attr attr;
static int cpu = -1, group = -1;

static int close_unarmed(int fd)
{
	int left = rest();

	close(fd);
	go_on(left);
	return 0;
}

static int try_open(void)
{
	struct perf_event_attr copy = attr;
	int fd = pt_try_open(&copy, cpu < 0 ? 0 : -1, cpu, group, 0);

	return fd < 0 ? fd : close_unarmed(fd);
}

static void no_events_left(void)
{
	pt_eq(pt_module_get(MODULE, "nr_events"), 0);
}

static void open_software(void)
{
	need_injection();
	attr = pt_attr(PT_SW(PAGE_FAULTS));
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW;
	all_turns(try_open, nothing_to_check);
}

static void open_tracepoint(void)
{
	attr = pt_attr(PERF_TYPE_TRACEPOINT, pt_tracepoint_id("sched", "sched_switch"));
	need_injection();
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_RAW;
	all_turns(try_open, nothing_to_check);
}

static void open_breakpoint(void)
{
	static u64 word;

	attr = pt_attr(PERF_TYPE_BREAKPOINT, 0);
	attr.bp_type = 2;
	attr.bp_addr = pt_addr(&word);
	attr.bp_len = 8;
	attr.exclude_kernel = 1;
	if (pt_probe(&attr))
		pt_skip("no breakpoints");
	need_injection();
	all_turns(try_open, nothing_to_check);
}

static void open_sibling(void)
{
	struct perf_event_attr lead = pt_attr(PT_SW(DUMMY));

	need_injection();
	pt_load_module(MODULE, "filters=2");
	group = pt_open(&lead, 0, -1, -1, 0);
	attr = pt_attr((u32)pt_pmu_type(MODULE), 0);
	attr.sample_period = 5;
	attr.sample_type = PERF_SAMPLE_CALLCHAIN;
	all_turns(try_open, no_events_left);
}

/* The claim of a PMU that serves tasks or CPUs is given back: events of a CPU can be had. */
static void claim_is_given_back(void)
{
	struct perf_event_attr copy = attr;
	int fd = pt_try_open(&copy, -1, 0, -1, 0);

	pt_check(fd >= 0, "the PMU is still claimed: %s", strerror(-fd));
	close(fd);
	no_events_left();
}

static void open_exclusive(void)
{
	need_injection();
	pt_load_module(MODULE, "caps=16");
	attr = pt_attr((u32)pt_pmu_type(MODULE), 0);
	all_turns(try_open, claim_is_given_back);
}

/* With memory of the driver for the task, and for all tasks. */
static void open_branches(void)
{
	need_injection();
	pt_load_module("test_sample", "branch=2 task_data=1");
	attr = pt_attr((u32)pt_pmu_type("test_sample"), 0);
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	all_turns(try_open, nothing_to_check);
	cpu = 0;
	all_turns(try_open, nothing_to_check);
	/* Unloading checks that all of it is given back. */
}

static int cgroup;

static int try_open_cgroup(void)
{
	struct perf_event_attr copy = attr;
	int fd = pt_try_open(&copy, cgroup, 0, -1, PERF_FLAG_PID_CGROUP);

	return fd < 0 ? fd : close_unarmed(fd);
}

/* Nothing holds the cgroup when all is over: it can go. */
static void open_cgroup(void)
{
	need_injection();
	pt_load_module(MODULE, NULL);
	cgroup = cg_dir_fd(cg_make(""));
	attr = pt_attr((u32)pt_pmu_type(MODULE), 0);
	all_turns(try_open_cgroup, no_events_left);
	close(cgroup);
	cg_remove_all();
	cg_wait_until_gone();
}

static int event;

static int try_map(void)
{
	size_t size = (size_t)pt_page_size() * 5;
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);

	if (p == MAP_FAILED)
		return -errno;
	arm(0);
	munmap(p, size);
	return 0;
}

static long pinned_kb(void)
{
	char text[4096], *at;

	pt_need(pt_slurp("/proc/self/status", text, sizeof(text)), "no status");
	at = strstr(text, "VmPin:");
	pt_need(at, "no VmPin");
	return atol(at + 6);
}

static void nothing_is_charged(void)
{
	pt_eq(pinned_kb(), 0);
}

/* As try_map(), where disarm() would be fooled by arm(0): the turn count is found first. */
static void mmap_buffer(void)
{
	int n, failed = 0;
	size_t size = (size_t)pt_page_size() * 17;	/* two blocks: see ring/pages.c */

	need_injection();
	pt_sysctl_set("perf_event_mlock_kb", 0);
	attr = pt_attr(PT_SW(DUMMY));
	event = pt_open(&attr, 0, -1, -1, 0);
	for (n = 1; n < TURNS_MAX; n++) {
		void *p;
		bool hit;
		int err;

		arm(n);
		p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
		err = errno;
		hit = disarm();
		if (p == MAP_FAILED) {
			pt_check(hit && err == ENOMEM, "turn %d: %s", n, strerror(err));
			failed++;
		} else {
			pt_eq(pinned_kb(), (long)(size / 1024));
			munmap(p, size);
		}
		nothing_is_charged();
		if (!hit)
			break;
	}
	pt_check(failed > 4, "only %d of %d allocations failed", failed, n - 1);
	pt_msg("%d allocations, %d calls failed", n - 1, failed);
	pt_eq(try_map(), 0);
}

/* The area of a tracer: it is there, or no page, charge or description of the driver stays. */
static void mmap_aux(void)
{
	size_t size = (size_t)pt_page_size() * 4;
	int n, failed = 0, made = 0;
	struct pt_ring ring;
	long before;

	need_injection();
	pt_sysctl_set("perf_event_mlock_kb", 0);
	pt_load_module("test_aux", NULL);
	attr = pt_attr((u32)pt_pmu_type("test_aux"), 0);
	attr.disabled = 1;
	event = pt_open(&attr, 0, -1, -1, 0);
	pt_map(&ring, event, 4);
	ring.page->aux_offset = ring.length;
	ring.page->aux_size = size;
	before = pinned_kb();
	for (n = 1; n < TURNS_MAX; n++) {
		bool hit;
		void *p;
		int err;

		arm(n);
		p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, event,
			 (off_t)ring.length);
		err = errno;
		hit = disarm();
		if (p == MAP_FAILED) {
			pt_check(hit && err == ENOMEM, "turn %d: %s", n, strerror(err));
			failed++;
		} else {
			made++;
			pt_eq(pinned_kb(), before + (long)(size / 1024));
			pt_eq(pt_module_get("test_aux", "setups"),
			      pt_module_get("test_aux", "frees") + 1);
			munmap(p, size);
		}
		pt_eq(pinned_kb(), before);
		pt_eq(pt_module_get("test_aux", "setups"), pt_module_get("test_aux", "frees"));
		if (!hit)
			break;
	}
	pt_check(failed > 5 && made > 0, "%d of %d failed", failed, n);
	pt_msg("%d allocations, %d calls failed", n - 1, failed);
	pt_unmap(&ring);
}

static void only_ours_left(void)
{
	pt_eq(pt_module_get(MODULE, "nr_events"), 2);
}

static int hits_fd;

/* See try_fork(). A child that can be had counts. */
static int try_counted_fork(void)
{
	int left = rest();
	u64 before = pt_count(hits_fd);
	pid_t pid;

	go_on(left);
	pid = vfork();
	if (!pid) {
		hit(1);
		_exit(0);
	}
	if (pid < 0)
		return errno == EAGAIN ? -ENOMEM : -errno;
	left = rest();
	pt_wait(pid);
	pt_eq(pt_count(hits_fd) - before, 1);
	go_on(left);
	return 0;
}

static void inherit(void)
{
	struct perf_event_attr sw = pt_attr(PT_SW(DUMMY));
	int fd;

	need_injection();
	pt_load_module(MODULE, NULL);
	/* Not inherited: so the child has its own copies. */
	pt_open(&sw, 0, -1, -1, 0);
	attr = pt_attr((u32)pt_pmu_type(MODULE), 0);
	attr.inherit = 1;
	sw.inherit = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_open(&attr, 0, 0, -1, 0);
	pt_open(&sw, 0, -1, fd, 0);
	hits_fd = fd;
	all_turns(try_counted_fork, only_ours_left);
}

static int try_register(void)
{
	int ret = pt_module_set(MODULE, "registered", 1), left;

	if (ret)
		return ret;
	left = rest();
	pt_check(pt_pmu_type(MODULE) >= 0, "registered, and not in sysfs");
	go_on(left);
	/* If opening the file fails here, that was this turn's failure: the next attempt works. */
	if (pt_module_set(MODULE, "registered", 0))
		ret = pt_module_set(MODULE, "registered", 0);
	return ret;
}

static void not_registered(void)
{
	pt_eq(pt_module_get(MODULE, "registered"), 0);
	pt_check(pt_pmu_type(MODULE) < 0, "still in sysfs");
}

static void register_pmu(void)
{
	int type;

	need_injection();
	pt_load_module(MODULE, NULL);
	type = pt_pmu_type(MODULE);
	pt_eq(pt_module_set(MODULE, "registered", 0), 0);
	all_turns(try_register, not_registered);
	/* Those that failed have no number. */
	pt_eq(pt_module_set(MODULE, "registered", 1), 0);
	pt_eq(pt_pmu_type(MODULE), type);
}

static int try_filter(void)
{
	return (int)pt_ioctl(event, PERF_EVENT_IOC_SET_FILTER,
			     (unsigned long)"prev_pid == 1 || next_pid == 1");
}

static void set_filter(void)
{
	attr = pt_attr(PERF_TYPE_TRACEPOINT, pt_tracepoint_id("sched", "sched_switch"));
	need_injection();
	event = pt_open(&attr, 0, -1, -1, 0);
	if (try_filter())
		pt_skip("no filters");
	/* A filter is replaced only by another event's: one more for each turn would be right. */
	close(event);
	event = pt_open(&attr, 0, -1, -1, 0);
	arm(1);
	pt_eq(try_filter(), -ENOMEM);
	pt_check(disarm(), "nothing failed");
	pt_eq(try_filter(), 0);
}

static int try_address_filter(void)
{
	struct perf_event_attr copy = attr;
	int fd = pt_try_open(&copy, 0, -1, -1, 0), err;

	if (fd < 0)
		return fd;
	err = (int)pt_ioctl(fd, PERF_EVENT_IOC_SET_FILTER, (unsigned long)"start 0x1000");
	close_unarmed(fd);
	return err;
}

/* No event is without what its filters need. */
static void address_filters(void)
{
	need_injection();
	pt_load_module("test_sample", "filters=2");
	attr = pt_attr((u32)pt_pmu_type("test_sample"), 0);
	all_turns(try_address_filter, nothing_to_check);
}

static int try_read(void)
{
	u64 v[256];

	return read(event, v, sizeof(v)) > 0 ? 0 : -errno;
}

static void read_group(void)
{
	int i;

	need_injection();
	attr = pt_attr(PT_SW(DUMMY));
	attr.read_format = PERF_FORMAT_GROUP;
	event = pt_open(&attr, 0, -1, -1, 0);
	/* Values of small groups may find room without an allocation. */
	for (i = 0; i < 100; i++)
		pt_open(&attr, 0, -1, event, 0);
	all_turns(try_read, nothing_to_check);
}

/* A user stack that is walked on the way back, without memory for it: its first address is told. */
static void deferred_chain(void)
{
	const u64 later = (u64)PERF_CONTEXT_USER_DEFERRED;
	static struct pt_record rec;
	static struct pt_sample s;
	struct pt_ring ring;
	u64 chain[3], cookie;

	if (pt_is_stock())
		pt_skip("Linux 6.12 walks user stacks at once");
	attr = pt_attr(PERF_TYPE_TRACEPOINT, pt_tracepoint_id("syscalls", "sys_enter_getppid"));
	need_injection();
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_CALLCHAIN;
	attr.defer_callchain = 1;
	attr.defer_output = 1;
	pt_map(&ring, pt_open(&attr, 0, -1, -1, 0), 8);
	arm(1);
	syscall(SYS_getppid);
	pt_check(disarm(), "nothing failed");
	pt_need(pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE), "no sample");
	pt_parse_sample(&attr, &rec, &s);
	pt_need(s.nr_ips >= 2 && s.ips[s.nr_ips - 2] == later, "no cookie");
	cookie = s.ips[s.nr_ips - 1];
	pt_need(pt_next(&ring, &rec), "no chain");
	pt_eq(rec.h.type, PERF_RECORD_CALLCHAIN_DEFERRED);
	pt_eq(rec.h.size, sizeof(rec.h) + sizeof(chain));
	memcpy(chain, rec.body, sizeof(chain));
	pt_eq(chain[0], cookie);
	pt_eq(chain[1], 1);
	pt_check(chain[2], "no address");
}

#define RESOURCES	"test_virtual"

/* See try_register(). */
static int try_register_resources(void)
{
	int ret = pt_module_set(RESOURCES, "registered", 1);

	if (ret)
		return ret;
	if (pt_module_set(RESOURCES, "registered", 0))
		ret = pt_module_set(RESOURCES, "registered", 0);
	return ret;
}

static void no_resources(void)
{
	pt_eq(pt_module_get(RESOURCES, "registered"), 0);
	pt_eq(ext_config("virtual", "test_level"), -1);
	pt_eq(ext_config("virtual", "test_sum"), -1);
	ext_file_is("virtual", "events/test_level.unit", NULL);
	ext_file_is("virtual", "events/test_level.snapshot", NULL);
}

static void register_resources(void)
{
	ext_need();
	need_injection();
	pt_load_module(RESOURCES, NULL);
	pt_eq(pt_module_set(RESOURCES, "registered", 0), 0);
	all_turns(try_register_resources, no_resources);
}

/* A new event's samples go to a new area, and then those of another one as well. */
static int try_format(void)
{
	static const struct perf_ext_hist_arg arg = { .key = { PERF_EXT_KEY_TID }, .buckets = 64 };
	struct perf_ext_format ask = {
		.uuid = PERF_EXT_FORMAT_HIST, .arg = pt_addr(&arg), .arg_size = sizeof(arg),
		.share = -1,
	};
	int left = rest(), fd[2], area, ret = 0;

	fd[0] = pt_open(&attr, 0, -1, -1, 0);
	fd[1] = pt_open(&attr, 0, -1, -1, 0);
	go_on(left);
	area = (int)format_ask(fd[0], &ask);
	if (area >= 0)
		ret = (int)format_share(&(struct pt_area){ .fd = area }, fd[1], hist_uuid);
	left = rest();
	if (area >= 0) {
		pt_eq(pt_ioctl(area, PERF_EXT_AREA_IOC_FLIP, 0), 0);
		close(area);
	}
	close(fd[0]);
	close(fd[1]);
	go_on(left);
	return area < 0 ? area : ret;
}

static void no_area_left(void)
{
	while (format_areas("hist"))
		sched_yield();
}

static void format(void)
{
	ext_need();
	need_injection();
	attr = pt_attr(PT_SW(PAGE_FAULTS));
	attr.sample_period = 10;
	attr.sample_type = PERF_SAMPLE_TID;
	all_turns(try_format, no_area_left);
}

/* ---- sessions ---- */

static struct perf_event_attr session_attr[3];
static int session = -1;
static struct worker target;

/* Members of both kinds, one of them with a buffer for call chains. */
static void choose_members(void)
{
	ext_need();
	need_injection();
	pt_load_module(MODULE, NULL);
	session_attr[0] = hits();
	session_attr[1] = faults();
	session_attr[1].sample_period = 5;
	session_attr[1].sample_type = PERF_SAMPLE_CALLCHAIN;
	session_attr[2] = hits();
}

static int dummy = -1;

static int try_create(void)
{
	struct perf_ext_create create = {
		.attrs = pt_addr(session_attr), .nr = 3, .stride = sizeof(session_attr[0]),
	};
	int fd = (int)pt_ioctl(dummy, PERF_EXT_IOC_CREATE, pt_addr(&create));

	return fd < 0 ? fd : close_unarmed(fd);
}

static void session_create(void)
{
	struct perf_event_attr sw = pt_attr(PT_SW(DUMMY));

	choose_members();
	dummy = pt_open(&sw, 0, -1, -1, 0);
	all_turns(try_create, no_events_left);
}

/* Attached to whatever kind of target: to all its CPUs, with all members, or not at all. */
static u32 target_kind;
static s64 target_number;

static int try_attach(void)
{
	long ret = session_attach(session, target_kind, target_number, 0);
	int left;

	if (ret)
		return (int)ret;
	left = rest();
	pt_check(session_targets(session) > 0, "attached to nothing");
	pt_eq(session_detach(session, PERF_EXT_TARGET_ALL, 0), 0);
	go_on(left);
	return 0;
}

static void members_only(void)
{
	pt_eq(session_targets(session), 0);
	pt_eq(pt_module_get(MODULE, "nr_events"), 2);
	pt_eq(pt_module_get(MODULE, "nr_added"), 0);
}

static void attach_all_turns(u32 flags, u32 kind, s64 number)
{
	struct pt_ring ring;

	session = session_make(session_attr, 3, flags);
	pt_map(&ring, session, 4);
	target_kind = kind;
	target_number = number;
	all_turns(try_attach, members_only);
	pt_unmap(&ring);
}

static void session_of_a_task(void)
{
	choose_members();
	worker_start(&target, -1);
	attach_all_turns(0, PERF_EXT_TARGET_TID, target.pid);
	worker_end(&target);
}

static void session_attach_cpus(void)
{
	choose_members();
	attach_all_turns(PERF_EXT_CREATE_CPUS, PERF_EXT_TARGET_ALL, 0);
}

static void session_attach_cgroup(void)
{
	choose_members();
	cgroup = cg_dir_fd(cg_make(""));
	attach_all_turns(PERF_EXT_CREATE_CPUS, PERF_EXT_TARGET_CGROUP, cgroup);
	close(session);
	close(cgroup);
	cg_remove_all();
	cg_wait_until_gone();
}

static void caller_only(void)
{
	pt_eq(session_targets(session), 1);
	pt_eq(pt_module_get(MODULE, "nr_events"), 4);
}

/* A target that forks: the fork fails, or the child is a target until it exits. */
static void session_fork(void)
{
	choose_members();
	session = session_make(session_attr, 3, 0);
	pt_eq(session_attach_task(session, 0, PERF_EXT_TARGET_INHERIT), 0);
	all_turns(try_fork, caller_only);
}

static const struct pt_case cases[] = {
	{ "open_software", open_software },
	{ "open_tracepoint", open_tracepoint },
	{ "open_breakpoint", open_breakpoint },
	{ "open_sibling", open_sibling },
	{ "open_exclusive", open_exclusive },
	{ "open_branches", open_branches },
	{ "open_cgroup", open_cgroup },
	{ "mmap_buffer", mmap_buffer },
	{ "mmap_aux", mmap_aux },
	{ "inherit", inherit },
	{ "register_pmu", register_pmu },
	{ "register_resources", register_resources },
	{ "set_filter", set_filter },
	{ "address_filters", address_filters },
	{ "read_group", read_group },
	{ "deferred_chain", deferred_chain },
	{ "format", format },
	{ "session_create", session_create },
	{ "session_attach_task", session_of_a_task },
	{ "session_attach_cpus", session_attach_cpus },
	{ "session_attach_cgroup", session_attach_cgroup },
	{ "session_fork", session_fork },
};

PT_MAIN(cases)
