// SPDX-License-Identifier: GPL-2.0
/*
 * bpf_attach.c - which BPF programs may be attached to which event, by whom,
 * one at a time, for how long, and that children have them, too; records that
 * tell of programs.
 *
 * needs: hw
 */
#include "lib/bpf_overflow.h"

/* Notes the cookie of the event. */
static int notes_cookie(void)
{
	pt_b_begin(&code);
	pt_b_count(&code, &w, RUNS);
	pt_b_mov(&code, 1, 6);
	pt_b_call(&code, BPF_FUNC_get_attach_cookie);
	pt_b_put(&code, &w, SEEN, 0);
	pt_b_return(&code, 1);
	return pt_load(PE, &code);
}

/* ---- links ---- */

static void cookies(void)
{
	struct perf_event_attr attr = faults();
	int prog, a, b, one, two;

	start();
	prog = notes_cookie();
	a = pt_open(&attr, 0, -1, -1, 0);
	b = pt_open(&attr, 0, -1, -1, 0);
	one = pt_link(prog, a, 0x1122334455667788ull);
	two = pt_link(prog, b, 7);
	pt_check(one >= 0 && two >= 0, "links: %d, %d", one, two);
	hit(a, 1);
	pt_eq(w.word[SEEN], 0x1122334455667788ull);
	hit(b, 1);
	pt_eq(w.word[SEEN], 7);
	/* Another link on the same event, another cookie. */
	close(one);
	one = pt_link(prog, a, 9);
	pt_check(one >= 0, "second link: %d", one);
	hit(a, 1);
	pt_eq(w.word[SEEN], 9);
	/* ioctl() has none to give. */
	close(one);
	pt_eq(set_bpf(a, prog), 0);
	hit(a, 1);
	pt_eq(w.word[SEEN], 0);
}

static void link_ends_with_its_file(void)
{
	struct perf_event_attr attr = faults();
	int fd, link;

	fd = start_mapped(&attr);
	link = pt_link(answers(0), fd, 0);
	pt_check(link >= 0, "link: %d", link);
	hit(fd, 10);
	pt_eq(w.word[RUNS], 10);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 0);
	close(link);
	hit(fd, 10);
	pt_eq(w.word[RUNS], 10);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 10);
}

/* A descriptor, or -errno */
static long program_of_id(u32 id)
{
	union bpf_attr attr = { 0 };

	attr.prog_id = id;
	return pt_bpf(BPF_PROG_GET_FD_BY_ID, &attr);
}

/*
 * The link keeps the event, and a program keeps running that nobody else holds. It goes with the
 * link.
 */
static void link_outlives_the_fd(void)
{
	struct perf_event_attr attr = faults();
	int fd, prog, link;
	long again;
	u32 id;

	attr.disabled = 0;
	fd = start_open(&attr);
	prog = answers(1);
	id = pt_prog_id(prog);
	link = pt_link(prog, fd, 0);
	pt_check(link >= 0, "link: %d", link);
	close(fd);
	close(prog);
	w.word[RUNS] = 0;
	pt_fault(10);
	pt_eq(w.word[RUNS], 10);
	again = program_of_id(id);
	pt_check(again >= 0, "the program: %ld", again);
	close((int)again);
	close(link);
	pt_fault(10);
	pt_eq(w.word[RUNS], 10);
	pt_eq(program_of_id(id), -ENOENT);
}

static void ioctl_keeps_the_program(void)
{
	struct perf_event_attr attr = faults();
	int fd, prog;

	fd = start_open(&attr);
	prog = answers(1);
	pt_eq(set_bpf(fd, prog), 0);
	close(prog);
	hit(fd, 10);
	pt_eq(w.word[RUNS], 10);
	pt_enable(fd);
	close(fd);
	pt_fault(10);
	pt_eq(w.word[RUNS], 10);
}

static long link_cmd(int cmd, int link, int prog)
{
	union bpf_attr attr = { 0 };

	if (cmd == BPF_LINK_UPDATE) {
		attr.link_update.link_fd = (u32)link;
		attr.link_update.new_prog_fd = (u32)prog;
	} else {
		attr.link_detach.link_fd = (u32)link;
	}
	return pt_bpf(cmd, &attr);
}

static void one_program_at_a_time(void)
{
	struct perf_event_attr attr = faults();
	int fd, prog, other, link;

	fd = start_open(&attr);
	prog = answers(1);
	other = answers(0);
	link = pt_link(prog, fd, 0);
	pt_check(link >= 0, "link: %d", link);
	pt_eq(set_bpf(fd, other), -EEXIST);
	pt_eq(set_bpf(fd, prog), -EEXIST);
	pt_eq(pt_link(other, fd, 0), -EEXIST);
	pt_eq(link_cmd(BPF_LINK_UPDATE, link, other), -EINVAL);
	pt_eq(link_cmd(BPF_LINK_DETACH, link, 0), -EOPNOTSUPP);
	close(link);
	pt_eq(set_bpf(fd, other), 0);
	pt_eq(set_bpf(fd, prog), -EEXIST);
	pt_eq(pt_link(prog, fd, 0), -EEXIST);
	hit(fd, 3);
	pt_eq(w.word[RUNS], 3);
}

/* ---- who may attach what ---- */

static void refused(void)
{
	static const u32 others[] = {
		BPF_PROG_TYPE_KPROBE, BPF_PROG_TYPE_TRACEPOINT, BPF_PROG_TYPE_RAW_TRACEPOINT,
		BPF_PROG_TYPE_SOCKET_FILTER,
	};
	struct perf_event_attr attr = faults();
	union bpf_attr create = { 0 };
	int fd, prog;
	unsigned int i;

	start();
	prog = answers(1);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_b_begin(&code);
	pt_b_return(&code, 0);
	for (i = 0; i < PT_ARRAY_SIZE(others); i++) {
		int other = pt_load(others[i], &code);

		pt_eq(set_bpf(fd, other), -EINVAL);
		pt_eq(pt_link(other, fd, 0), -EINVAL);
		close(other);
	}
	pt_eq(set_bpf(fd, -1), -EBADF);
	pt_eq(set_bpf(fd, fd), -EINVAL);
	pt_eq(set_bpf(fd, w.fd), -EINVAL);
	pt_eq(pt_link(prog, -1, 0), -EBADF);
	pt_eq(pt_link(prog, prog, 0), -EBADF);
	create.link_create.prog_fd = (u32)prog;
	create.link_create.target_fd = (u32)fd;
	create.link_create.attach_type = BPF_PERF_EVENT;
	create.link_create.flags = 1;
	pt_eq(pt_bpf(BPF_LINK_CREATE, &create), -EINVAL);
	/* A program of another type, where there is one: that comes first. */
	pt_eq(set_bpf(fd, prog), 0);
	pt_eq(set_bpf(fd, pt_load(BPF_PROG_TYPE_KPROBE, &code)), -EEXIST);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_QUERY_BPF, (unsigned long)&create), -EINVAL);
}

/* With precise_ip a program that walks stacks needs the whole chain in the sample. */
static void precise_and_stacks(void)
{
	struct perf_event_attr attr = faults();
	int fd, walks, plain;
	struct {
		u64 type;
		bool no_kernel, no_user;
		int want;
	} cases[] = {
		{ PERF_SAMPLE_TID, false, false, -EPROTO },
		{ PERF_SAMPLE_CALLCHAIN, true, false, -EPROTO },
		{ PERF_SAMPLE_CALLCHAIN, false, true, -EPROTO },
		{ PERF_SAMPLE_CALLCHAIN, false, false, 0 },
	};
	unsigned int i;

	start();
	plain = answers(1);
	pt_b_begin(&code);
	pt_b_mov(&code, 1, 6);
	pt_b_word(&code, 2, &w, STACK);
	pt_b_set(&code, 3, 128);
	pt_b_set(&code, 4, 0);
	pt_b_call(&code, BPF_FUNC_get_stack);
	pt_b_return(&code, 1);
	walks = pt_load(PE, &code);
	for (i = 0; i < PT_ARRAY_SIZE(cases); i++) {
		attr.sample_type = cases[i].type;
		attr.exclude_callchain_kernel = cases[i].no_kernel;
		attr.exclude_callchain_user = cases[i].no_user;
		attr.precise_ip = 0;
		fd = pt_open(&attr, 0, -1, -1, 0);
		pt_eq(set_bpf(fd, walks), 0);
		attr.precise_ip = 1;
		fd = pt_open(&attr, 0, -1, -1, 0);
		pt_eq(set_bpf(fd, walks), cases[i].want);
		fd = pt_open(&attr, 0, -1, -1, 0);
		pt_eq(set_bpf(fd, plain), 0);
	}
}

/* An ordinary user cannot load programs, but may use one that was given to him. */
static void ordinary_user(void)
{
	struct perf_event_attr attr = faults();
	int fd, prog;

	start();
	prog = answers(1);
	pt_sysctl_set("perf_event_paranoid", 2);
	pt_become_nobody();
	pt_eq(pt_try_load(PE, &code, 0), -EPERM);
	attr.exclude_kernel = 1;
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_eq(set_bpf(fd, prog), 0);
	hit(fd, 5);
	pt_eq(w.word[RUNS], 5);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_QUERY_BPF, 0), -EPERM);
	/* A link is bpf(2) again. */
	close(fd);
	fd = pt_open(&attr, 0, -1, -1, 0);
	pt_check(pt_link(prog, fd, 0) == -EPERM || pt_sysctl_get("unprivileged_bpf_disabled") == 0,
		 "a link by an ordinary user");
}

/* ---- children ---- */

static void fault_in_child(void *arg)
{
	pt_settle();
	pt_fault((unsigned int)(uintptr_t)arg);
}

static void children_run_it(void)
{
	struct perf_event_attr attr = faults();
	u64 count;
	int fd, i;

	attr.inherit = 1;
	fd = start_open(&attr);
	pt_eq(set_bpf(fd, answers(0)), 0);
	pt_enable(fd);
	for (i = 0; i < 3; i++)
		pt_reap(pt_fork(fault_in_child, (void *)100));
	pt_disable(fd);
	count = pt_count(fd);
	pt_check(count >= 300, "%llu faults", (unsigned long long)count);
	pt_eq(w.word[RUNS], count);
}

static void fault_and_look(unsigned int n)
{
	pt_settle();
	pt_fault(n);
	w.word[SEEN2] = w.word[SEEN];
}

static void children_have_the_cookie(void)
{
	struct perf_event_attr attr = faults();
	struct pt_heir h;
	int fd, link;

	attr.inherit = 1;
	fd = start_open(&attr);
	link = pt_link(notes_cookie(), fd, 77);
	pt_check(link >= 0, "link: %d", link);
	pt_enable(fd);
	w.word[SEEN2] = 1234;
	pt_heir_start(&h, fault_and_look, 10);
	pt_heir_end(&h);
	if (pt_is_stock())
		pt_skip("inherited events have no cookie on Linux 6.12");
	pt_eq(w.word[SEEN2], 77);
}

/* ---- records about programs ---- */

static void load_and_unload(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	static struct pt_record rec;
	unsigned int loads = 0, unloads = 0, symbols = 0;
	struct {
		u16 type, flags;
		u32 id;
		u8 tag[8];
	} b;
	struct {
		u64 addr;
		u32 len;
		u16 type, flags;
		char name[64];
	} k;
	int fd, prog;
	u32 id;

	start();
	attr.bpf_event = 1;
	attr.ksymbol = 1;
	fd = pt_open(&attr, -1, 0, -1, 0);
	pt_map(&ring, fd, 8);
	pt_b_begin(&code);
	pt_b_return(&code, 0);
	prog = pt_load(PE, &code);
	id = pt_prog_id(prog);
	close(prog);
	while (pt_next(&ring, &rec)) {
		if (rec.h.type == PERF_RECORD_BPF_EVENT) {
			memcpy(&b, rec.body, sizeof(b));
			loads += b.type == PERF_BPF_EVENT_PROG_LOAD && b.id == id;
			unloads += b.type == PERF_BPF_EVENT_PROG_UNLOAD && b.id == id;
		} else if (rec.h.type == PERF_RECORD_KSYMBOL) {
			memcpy(&k, rec.body, sizeof(k) < rec.h.size - 8u ? sizeof(k) :
			       rec.h.size - 8u);
			symbols += k.type == PERF_RECORD_KSYMBOL_TYPE_BPF &&
				   !strncmp(k.name, "bpf_prog_", 9);
		}
	}
	pt_eq(loads, 1);
	pt_eq(unloads, 1);
	/* One each, if it was compiled. */
	pt_check(symbols == 2 || pt_read_number("/proc/sys/net/core/bpf_jit_enable", 1) == 0,
		 "%u symbols", symbols);
	close(fd);
}

static const struct pt_case cases[] = {
	{ "cookies", cookies },
	{ "link_ends_with_its_file", link_ends_with_its_file },
	{ "link_outlives_the_fd", link_outlives_the_fd },
	{ "ioctl_keeps_the_program", ioctl_keeps_the_program },
	{ "one_program_at_a_time", one_program_at_a_time },
	{ "refused", refused },
	{ "precise_and_stacks", precise_and_stacks },
	{ "ordinary_user", ordinary_user },
	{ "children_run_it", children_run_it },
	{ "children_have_the_cookie", children_have_the_cookie },
	{ "load_and_unload", load_and_unload },
};

PT_MAIN(cases)
