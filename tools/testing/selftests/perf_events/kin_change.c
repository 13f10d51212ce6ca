// SPDX-License-Identifier: GPL-2.0
/*
 * kin_change.c - events that tasks have in common are changed, or tasks become different: what is
 * for all of them reaches all, and what is for some makes these leave.
 *
 * needs: smp hw
 */
#include "lib/bpf.h"
#include "lib/hold.h"
#include "lib/members.h"
#include <sys/sendfile.h>
#include <sys/stat.h>

#define MODULE	"test_count"

static struct pt_ring ring;

/* Of CPU 0, where the case stays. Since it tells its times, there are as many copies as tasks. */
static struct perf_event_attr sampling(u64 period)
{
	struct perf_event_attr attr = faults();

	pt_pin(0);
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_TID;
	return attr;
}

static unsigned int samples_of(struct perf_event_attr *attr, struct pt_ring *from, pid_t pid)
{
	static struct pt_record rec;
	struct pt_sample s;
	unsigned int nr = 0;

	while (pt_next_of(from, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(attr, &rec, &s);
		nr += s.pid == (u32)pid;
	}
	pt_consume(from);
	return nr;
}

/* ------------------------------------------------------------ for who is forked later */

static unsigned int samples_by(struct perf_event_attr *attr, struct puppet *p, int nr)
{
	pt_settle();
	pt_drain(&ring);
	if (p)
		pt_eq(order(p, FAULT, nr), 0);
	else
		take_faults(nr);
	return samples_of(attr, &ring, p ? p->pid : getpid());
}

/* Members keep the period that they have. */
static void period(void)
{
	struct perf_event_attr attr = sampling(4);
	struct puppet p[3];
	u64 longer = 10;
	int fd;

	if (pt_is_stock())
		pt_skip("Linux 6.12 swaps events between tasks, periods and all");
	fd = pt_open(&attr, 0, 0, -1, 0);
	pt_map(&ring, fd, 16);
	start(&p[0]);
	start(&p[1]);
	copies_are(fd, in_common(3));
	pt_eq(samples_by(&attr, &p[0], 40), 10);
	pt_eq(samples_by(&attr, NULL, 40), 10);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PERIOD, pt_addr(&longer)), 0);
	/* The change ends a period: 1, 10, 20, 30, 40. */
	pt_eq(samples_by(&attr, NULL, 40), 5);
	pt_eq(samples_by(&attr, NULL, 40), 4);
	pt_eq(samples_by(&attr, &p[0], 40), 10);
	pt_eq(samples_by(&attr, &p[1], 40), 10);
	copies_are(fd, in_common(3));
	start(&p[2]);
	pt_eq(samples_by(&attr, &p[2], 40), 4);
	copies_are(fd, in_common(3) + 1);
	/* The child of a member has copies, too, while it is there. */
	make_duel();
	pt_eq(order(&p[0], FORK, 1), 0);
	copies_are(fd, in_common(3) + 1);
	counts_right(fd, p, 3);
	stop(&p[0]);
	stop(&p[1]);
	copies_are(fd, 1);
	counts_right(fd, &p[2], 1);
	stop(&p[2]);
	copies_are(fd, 0);
}

/* Whose counter is mapped counts for itself, and who is forked then has copies. */
static void mapped(void)
{
	struct perf_event_attr attr = sampling(0);
	struct puppet p[3];
	int fd, i;

	fd = pt_open(&attr, 0, 0, -1, 0);
	start(&p[0]);
	start(&p[1]);
	copies_are(fd, in_common(3));
	pt_map(&ring, fd, 0);
	copies_are(fd, in_common(3));
	start(&p[2]);
	copies_are(fd, in_common(3) + 1);
	for (i = 0; i < 3; i++)
		stop(&p[i]);
	copies_are(fd, 0);
}

/* What a member forks after the change has the new period, though its parent keeps the old one. */
static void period_of_a_grandchild(void)
{
	struct perf_event_attr attr = sampling(4);
	int go[2], ready[2], told[2], fd;
	pid_t pid, inner;
	u64 longer = 10;

	if (pt_is_stock())
		pt_skip("Linux 6.12 swaps events between tasks, periods and all");
	pt_gate_make(go);
	pt_gate_make(ready);
	pt_need(!pipe(told), "pipe: %s", strerror(errno));
	fd = pt_open(&attr, 0, 0, -1, 0);
	pt_map(&ring, fd, 16);
	pt_in_child(pid) {
		pt_gate_wait(go);
		pt_in_child(inner) {
			pt_settle();
			pt_gate_open(ready);
			pt_gate_wait(go);
			take_faults(40);
			pt_gate_open(ready);
			pt_gate_wait(go);
		}
		pt_need(write(told[1], &inner, sizeof(inner)) == sizeof(inner), "pipe");
		pt_reap(inner);
	}
	copies_are(fd, in_common(2));
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PERIOD, pt_addr(&longer)), 0);
	pt_gate_open(go);
	pt_need(read(told[0], &inner, sizeof(inner)) == sizeof(inner), "pipe");
	pt_gate_wait(ready);
	pt_drain(&ring);
	pt_gate_open(go);
	pt_gate_wait(ready);
	pt_eq(samples_of(&attr, &ring, inner), 4);
	pt_gate_open(go);
	pt_reap(pid);
}

static int by_ioctl(int fd, int prog)
{
	return (int)pt_ioctl(fd, PERF_EVENT_IOC_SET_BPF, (unsigned long)prog);
}

/* It lasts until the end of the case. */
static int by_link(int fd, int prog)
{
	int link = pt_link(prog, fd, 0);

	return link < 0 ? link : 0;
}

/* It runs for the task of the event and for who is forked later, not for members that are there. */
static void check_program(int (*attach)(int fd, int prog))
{
	struct perf_event_attr attr = sampling(1);
	static struct pt_code code;
	struct pt_words w;
	struct puppet p[2];
	int fd, prog;
	u64 before;

	pt_words_make(&w);
	pt_b_begin(&code);
	pt_b_count(&code, &w, 0);
	pt_b_return(&code, 1);
	prog = pt_load(BPF_PROG_TYPE_PERF_EVENT, &code);
	if (pt_is_stock())
		pt_skip("Linux 6.12 swaps events between tasks, programs and all");
	fd = pt_open(&attr, 0, 0, -1, 0);
	start(&p[0]);
	pt_eq(attach(fd, prog), 0);
	pt_settle();
	before = w.word[0];
	pt_eq(order(&p[0], FAULT, 10), 0);
	pt_eq(w.word[0], before);
	take_faults(10);
	pt_eq(w.word[0], before + 10);
	copies_are(fd, in_common(2));
	start(&p[1]);
	pt_settle();
	before = w.word[0];
	pt_eq(order(&p[1], FAULT, 10), 0);
	pt_eq(order(&p[0], FAULT, 10), 0);
	pt_eq(w.word[0], before + 10);
	copies_are(fd, in_common(2) + 1);
	counts_right(fd, p, 2);
	stop(&p[0]);
	stop(&p[1]);
}

static void program(void)
{
	check_program(by_ioctl);
}

static void program_of_a_link(void)
{
	check_program(by_link);
}

/* ------------------------------------------------------------ for all */

/* Whoever stops does so on its own: nobody has anything in common any more. */
static void notified(void)
{
	struct perf_event_attr attr = sampling(10);
	struct puppet p[3];
	int fd, i;

	ext_need();
	attr.disabled = 1;
	attr.watermark = 1;
	attr.wakeup_watermark = 1 << 20;
	fd = pt_open(&attr, 0, 0, -1, 0);
	pt_map(&ring, fd, 16);
	for (i = 0; i < 2; i++)
		start(&p[i]);
	pt_eq(notify(fd, 0, 0), 0);	/* asks for nothing: nobody needs copies */
	copies_are(fd, in_common(3));
	pt_eq(notify(fd, 1, PERF_EXT_NOTIFY_STOP), 0);
	copies_are(fd, 2);
	pt_settle();
	pt_eq(restart(fd), 0);
	for (i = 0; i < 2; i++)
		pt_eq(order(&p[i], FAULT, 100), 0);
	pt_eq(pt_count(fd), 20);
	take_faults(100);
	pt_eq(pt_count(fd), 30);
	start(&p[2]);
	copies_are(fd, 3);
	pt_settle();
	pt_eq(pt_count(fd), 30);	/* the copy of what has stopped stands, too */
	pt_eq(restart(fd), 0);
	for (i = 0; i < 3; i++)
		pt_eq(order(&p[i], FAULT, 100), 0);
	take_faults(100);
	pt_eq(pt_count(fd), 70);
	for (i = 0; i < 3; i++)
		stop(&p[i]);
	pt_eq(pt_count(fd), 70);
}

static u64 periods_ended(int fd)
{
	struct perf_ext_periods p = { };

	pt_eq(pt_ioctl(fd, PERF_EXT_IOC_GET_PERIODS, pt_addr(&p)), 0);
	return p.ended;
}

/* Each task has periods of its own, from the first one of the rule on, whoever forks meanwhile. */
static void ruled(void)
{
	struct perf_ext_periods rule = { .short_period = 10, .initial_period = 30 }, none = {};
	struct perf_event_attr attr = sampling(4);
	struct puppet p[3];
	int fd, i;

	ext_need();
	fd = pt_open(&attr, 0, 0, -1, 0);
	pt_map(&ring, fd, 16);
	for (i = 0; i < 2; i++)
		start(&p[i]);
	pt_eq(ext_periods(fd, &none), 0);
	copies_are(fd, in_common(3));
	pt_eq(samples_by(&attr, NULL, 40), 10);
	pt_eq(ext_periods(fd, &rule), 0);
	pt_eq(samples_by(&attr, NULL, 30), 1);
	pt_eq(samples_by(&attr, &p[0], 40), 2);
	copies_are(fd, 2);
	start(&p[2]);
	copies_are(fd, 3);
	i = (int)periods_ended(fd);
	pt_eq(samples_by(&attr, &p[2], 40), 4);
	pt_eq(samples_by(&attr, NULL, 40), 4);
	/* Its own ones; the case takes faults besides. */
	pt_check((int)periods_ended(fd) >= i + 4, "no more than %d periods ended", i);
	for (i = 0; i < 3; i++)
		stop(&p[i]);
}

/* A buffer of CPU 0. */
static int open_output(struct pt_ring *r)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	int fd = pt_open(&attr, -1, 0, -1, 0);

	pt_map(r, fd, 16);
	return fd;
}

static void output(void)
{
	struct perf_event_attr attr = sampling(1);
	int fd, to[2], i;
	struct pt_ring r[2];
	struct puppet p[2];

	for (i = 0; i < 2; i++)
		to[i] = open_output(&r[i]);
	fd = pt_open(&attr, 0, 0, -1, 0);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)to[0]), 0);
	for (i = 0; i < 2; i++)
		start(&p[i]);
	for (i = 0; i < 6; i++) {
		pt_drain(&r[0]);
		pt_drain(&r[1]);
		pt_consume(&r[0]);
		pt_consume(&r[1]);
		pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)to[i % 2]), 0);
		pt_eq(order(&p[i / 3], FAULT, 10), 0);
		pt_eq(samples_of(&attr, &r[i % 2], p[i / 3].pid), 10);
		pt_eq(samples_of(&attr, &r[!(i % 2)], p[i / 3].pid), 0);
	}
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, -1ul), 0);
	pt_drain(&r[1]);
	pt_eq(order(&p[0], FAULT, 10), 0);
	pt_eq(samples_of(&attr, &r[1], p[0].pid), 0);
	copies_are(fd, in_common(3));
	for (i = 0; i < 2; i++)
		stop(&p[i]);
}

/* The copies of its events go out of all contexts, in whatever group they are. */
static void pmu_leaves(void)
{
	struct perf_event_attr sw = faults(), attr;
	int lead, member, alone, i;
	struct puppet p[3];

	pt_load_module(MODULE, NULL);
	if (pt_is_stock())
		pt_skip("Linux 6.12's PMUs may not leave their events behind");
	attr = inherited((u32)pt_pmu_type(MODULE), 0);
	pt_pin(0);
	lead = pt_open(&sw, 0, -1, -1, 0);
	member = pt_open(&attr, 0, -1, lead, 0);
	alone = pt_open(&attr, 0, -1, -1, 0);
	for (i = 0; i < 2; i++) {
		start(&p[i]);
		pt_eq(order(&p[i], HIT, 5 + i), 0);
	}
	copies_are(alone, in_common(3));
	pt_eq(pt_module_get(MODULE, "nr_events"), 2 + 2 * in_common(3));
	pt_eq(pt_count(member), 11);
	pt_eq(pt_count(alone), 11);
	pt_eq(pt_module_set(MODULE, "registered", 0), 0);
	pt_eq(pt_module_get(MODULE, "nr_events"), 0);
	pt_eq(pt_module_get(MODULE, "nr_added"), 0);
	pt_eq(pt_count(member), 11);
	pt_eq(pt_count(alone), 11);
	pt_eq(pt_ioctl(alone, PERF_EVENT_IOC_ENABLE, 0), -ENODEV);
	counts_right(lead, p, 2);
	start(&p[2]);
	counts_right(lead, p, 3);
	pt_eq(pt_module_set(MODULE, "registered", 1), 0);
	attr.type = (u32)pt_pmu_type(MODULE);
	close(member);
	close(alone);
	alone = pt_open(&attr, 0, -1, -1, 0);
	for (i = 0; i < 3; i++) {
		stop(&p[i]);
		start(&p[i]);
		pt_eq(order(&p[i], HIT, 1), 0);
	}
	pt_eq(pt_count(alone), 3);
	for (i = 0; i < 3; i++)
		stop(&p[i]);
}

/* ------------------------------------------------------------ for one */

#define OF_ROOT	"/tmp/kin-of-root"

static void install_of_root(void)
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int to = open(OF_ROOT, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 04755);

	pt_need(from >= 0 && to >= 0, OF_ROOT ": %s", strerror(errno));
	while (sendfile(to, from, NULL, 1 << 20) > 0)
		;
	pt_need(!fchmod(to, 04755), "chmod: %s", strerror(errno));
	close(to);
	close(from);
}

static int as_root(int argc, char **argv)
{
	if (argc != 2 || strcmp(argv[1], "--as-root"))
		return after_exec(argc, argv);
	pt_fault(100);
	return geteuid() != 0;
}

/* A member that runs with more rights than it had is none any more, and is not counted. */
static void more_rights(void)
{
	struct perf_event_attr attr = faults();
	struct puppet p;
	int fd, ready[2], go[2];
	u64 before;
	pid_t pid;

	install_of_root();
	pt_gate_make(ready);
	pt_gate_make(go);
	fd = pt_open(&attr, 0, -1, -1, 0);
	start(&p);
	pt_in_child(pid) {
		pt_settle();
		pt_become_nobody();
		pt_gate_open(ready);
		pt_gate_wait(go);
		pt_fault(5);
		execl(OF_ROOT, "kin_change", "--as-root", NULL);
		pt_need(0, "exec: %s", strerror(errno));
	}
	pt_settle();
	pt_gate_wait(ready);
	copies_are(fd, in_common(3));
	before = pt_count(fd);
	pt_gate_open(go);
	pt_reap(pid);
	pt_eq(pt_count(fd), before + 5);
	counts_right(fd, &p, 1);
	stop(&p);
	unlink(OF_ROOT);
}

/*
 * A task gets an event while its first fork makes the copies to have in common: it has nothing in
 * common with its child then, who has copies of its own of both.
 */
static void opened_in_the_first_fork(void)
{
	struct perf_event_attr attr, sw = faults();
	int go[2], forked[2], end[2], fd, late;
	pid_t pid, inner;

	if (pt_is_stock())
		pt_skip("Linux 6.12 lets nobody open an event meanwhile");
	pt_load_module(MODULE, NULL);
	pt_gate_make(go);
	pt_gate_make(forked);
	pt_gate_make(end);
	pt_in_child(pid) {
		pt_gate_wait(go);
		pt_in_child(inner)
			pt_gate_wait(end);
		pt_gate_open(forked);
		pt_reap(inner);
	}
	attr = inherited((u32)pt_pmu_type(MODULE), 0);
	fd = pt_open(&attr, pid, -1, -1, 0);
	/* The fork waits with its first copy. */
	pt_eq(pt_module_set(MODULE, "hold_init", 1), 0);
	pt_gate_open(go);
	while (pt_module_get(MODULE, "hold_init") != 2)
		pt_switch_out();
	late = pt_open(&sw, pid, -1, -1, 0);
	pt_eq(pt_module_set(MODULE, "hold_init", 0), 0);
	pt_gate_wait(forked);
	copies_are(fd, 1);
	copies_are(late, 1);
	pt_gate_open(end);
	pt_reap(pid);
	copies_are(fd, 0);
}

/* Another process opens an inherited event on a member, and ends before it does. */
static void opened_by_others(void)
{
	struct perf_event_attr attr = faults();
	int fd, target[2], go[2], done[2];
	struct puppet p[2];
	pid_t pid, tid;

	pt_need(!pipe(target), "pipe: %s", strerror(errno));
	pt_gate_make(go);
	pt_gate_make(done);
	pt_in_child(pid) {
		u64 seen;

		pt_need(read(target[0], &tid, sizeof(tid)) == sizeof(tid), "no target");
		fd = pt_open(&attr, tid, -1, -1, 0);
		pt_gate_open(done);
		pt_gate_wait(go);
		/* Three children of four faults each, and what their forks cost. */
		seen = pt_count(fd);
		pt_check(seen >= 9 + 12, "%llu faults", (unsigned long long)seen);
		copies_are(fd, in_common(2));
		pt_gate_open(done);
		pt_gate_wait(go);
		pt_eq(pt_count(fd), seen + 7);
	}
	fd = pt_open(&attr, 0, -1, -1, 0);
	make_duel();
	start(&p[0]);
	start(&p[1]);
	pt_need(write(target[1], &p[0].pid, sizeof(pid_t)) == sizeof(pid_t), "pipe");
	pt_gate_wait(done);
	copies_are(fd, in_common(3) + 1);
	pt_eq(order(&p[0], FAULT, 9), 0);
	pt_eq(order(&p[0], FORK, 3), 0);
	pt_gate_open(go);
	pt_gate_wait(done);
	pt_eq(order(&p[0], FAULT, 7), 0);
	pt_eq(order(&p[1], FAULT, 5), 0);
	pt_gate_open(go);
	pt_reap(pid);
	counts_right(fd, p, 2);
	stop(&p[0]);
	counts_right(fd, p + 1, 1);
	stop(&p[1]);
}

/* What a task opens for itself is its own, too. */
static void opened_by_itself(void)
{
	struct perf_event_attr attr = faults();
	int fd, go[2], ready[2];
	struct puppet p;
	pid_t pid;

	pt_gate_make(go);
	pt_gate_make(ready);
	fd = pt_open(&attr, 0, -1, -1, 0);
	start(&p);
	pt_in_child(pid) {
		struct puppet inner;
		int own, sibling;
		u64 before;

		pt_settle();
		own = pt_open(&attr, 0, -1, -1, 0);
		/* At once, without a switch. */
		before = pt_count(own);
		pt_fault(5);
		pt_eq(pt_count(own), before + 5);
		sibling = pt_open(&attr, 0, -1, own, 0);
		pt_settle();
		pt_reset(own);
		pt_reset(sibling);
		start(&inner);
		pt_settle();
		copies_are(own, in_common(2));
		pt_eq(pt_count(own), pt_count(sibling));
		counts_right(own, &inner, 1);
		counts_right(sibling, &inner, 1);
		stop(&inner);
		pt_gate_open(ready);
		pt_gate_wait(go);
	}
	pt_gate_wait(ready);
	copies_are(fd, in_common(3) + 1 + in_common(2));
	pt_settle();
	counts_right(fd, &p, 1);
	pt_gate_open(go);
	pt_reap(pid);
	copies_are(fd, in_common(3));
	counts_right(fd, &p, 1);
	stop(&p);
}

/* Steps of a child whose parent, the task that the event was opened on, has exited. */
static int step[2], done[2];

static u64 next_step(int fd)
{
	u64 before = pt_count(fd);

	pt_gate_open(step);
	pt_gate_wait(done);
	return pt_count(fd) - before;
}

static void first_task_exits(void)
{
	struct perf_event_attr attr = faults();
	struct pt_peer peer;
	int fd, go[2], i;
	pid_t pid;

	pt_gate_make(go);
	pt_gate_make(step);
	pt_gate_make(done);
	pt_in_child(peer.pid) {
		pt_gate_wait(go);
		pt_in_child(pid) {
			pt_settle();
			pt_gate_open(done);
			for (i = 0; i < 4; i++) {
				pt_gate_wait(step);
				pt_fault(7);
				pt_gate_open(done);
			}
			pt_gate_wait(step);
		}
	}
	pt_peer_asleep(&peer);
	fd = pt_open(&attr, peer.pid, -1, -1, 0);
	pt_gate_open(go);
	pt_reap(peer.pid);
	pt_gate_wait(done);
	copies_are(fd, in_common(2));
	pt_eq(next_step(fd), 7);
	pt_disable(fd);
	pt_eq(next_step(fd), 0);
	pt_enable(fd);
	pt_eq(next_step(fd), 7);
	close(fd);
	/* Nobody has events any more, and the child does not mind. */
	pt_gate_open(step);
	pt_gate_wait(done);
	pt_gate_open(step);
}

static const struct pt_case cases[] = {
	{ "period", period },
	{ "period_of_a_grandchild", period_of_a_grandchild },
	{ "mapped", mapped },
	{ "program", program },
	{ "program_of_a_link", program_of_a_link },
	{ "notified", notified },
	{ "ruled", ruled },
	{ "output", output },
	{ "pmu_leaves", pmu_leaves },
	{ "more_rights", more_rights },
	{ "opened_in_the_first_fork", opened_in_the_first_fork },
	{ "opened_by_others", opened_by_others },
	{ "opened_by_itself", opened_by_itself },
	{ "first_task_exits", first_task_exits },
};

int main(int argc, char **argv)
{
	pt_reexec_hook = as_root;
	return pt_run(argc, argv, cases, PT_ARRAY_SIZE(cases));
}
