// SPDX-License-Identifier: GPL-2.0
/*
 * session_sample.c - the buffer of a session: all targets write to one, in the order of time on
 * each CPU, and what finds no room is counted by target. See session.c.
 *
 * needs: smp
 */
#include "lib/bpf.h"
#include "lib/cpus.h"
#include "lib/session.h"
#include <poll.h>

#define CPUS	4
#define TYPE	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | \
		 PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

static struct pt_record rec;
static struct pt_sample s;
static struct pt_ring ring;

/* Each of them is a sample. */
static struct perf_event_attr sampling(struct perf_event_attr attr)
{
	attr.sample_period = 1;
	attr.sample_type = TYPE;
	return attr;
}

/* Nothing is throttled, however slow the machine has found its interrupts to be. */
static void unthrottled(void)
{
	pt_sysctl_set("perf_event_max_sample_rate", 10000000);
	pt_sysctl_set("perf_cpu_time_max_percent", 0);
}

/* What has been seen of each writer. */
struct seen {
	u64 nr, stream, time;
};

/* All samples that there are, told by the task or the CPU. */
static void take(const struct perf_event_attr *attr, u64 id, struct seen *seen,
		 unsigned int nr, int (*writer)(void))
{
	while (pt_next(&ring, &rec) && !pt_failures()) {
		int i;

		if (rec.h.type == PERF_RECORD_LOST)
			continue;
		pt_need(rec.h.type == PERF_RECORD_SAMPLE, "a record of type %u", rec.h.type);
		pt_parse_sample(attr, &rec, &s);
		pt_eq(s.id, id);
		pt_eq(s.identifier, id);
		pt_eq(s.period, 1);
		i = writer();
		pt_need(i >= 0 && (unsigned int)i < nr, "sample of task %u on CPU %u", s.tid,
			s.cpu);
		pt_check(s.time >= seen[i].time, "time goes back");
		pt_check(s.stream_id != id, "the stream is the session's own");
		pt_check(!seen[i].stream || s.stream_id == seen[i].stream, "two streams");
		seen[i].stream = s.stream_id;
		seen[i].time = s.time;
		seen[i].nr++;
	}
	pt_consume(&ring);
}

static struct worker workers[CPUS];

static int by_cpu(void)
{
	return (int)s.cpu;
}

static int by_worker(void)
{
	int i;

	for (i = 0; i < CPUS; i++)
		if (workers[i].pid == (pid_t)s.tid)
			return i;
	return -1;
}

/* One on each CPU, or as many on CPU 0. */
static void start_workers(bool smp)
{
	int i;

	for (i = 0; i < CPUS; i++)
		worker_start(&workers[i], smp ? i : 0);
}

static void end_workers(void)
{
	int i;

	for (i = 0; i < CPUS; i++)
		worker_end(&workers[i]);
}

static void hit_one_by_one(u64 n)
{
	while (n--)
		hit(1);
}

static void all_at_once(void (*fn)(u64 n), u64 n)
{
	int i;

	for (i = 0; i < CPUS; i++)
		worker_tell(&workers[i], fn, n * ((u64)i + 1));
	for (i = 0; i < CPUS; i++)
		worker_wait(&workers[i]);
}

/* Streams are told apart, and there is one for each writer. */
static void different_streams(const struct seen *seen)
{
	int i, k;

	for (i = 0; i < CPUS; i++)
		for (k = 0; k < i; k++)
			pt_check(seen[i].stream != seen[k].stream, "one stream for two");
}

/* Tasks one after the other, the buffer mapped before they are attached. */
static void of_tasks(const struct session_source *src)
{
	struct perf_event_attr attr = sampling(src->attr());
	struct seen seen[CPUS] = {};
	int fd, i;

	start_workers(false);
	fd = session_of_tasks(attr);
	pt_map(&ring, fd, 32);
	for (i = 0; i < CPUS; i++)
		pt_eq(session_attach_task(fd, workers[i].pid, 0), 0);
	for (i = 0; i < CPUS; i++)
		worker_do(&workers[i], src->work, 10 + (u64)i);
	take(&attr, pt_id(fd), seen, CPUS, by_worker);
	for (i = 0; i < CPUS; i++)
		pt_eq(seen[i].nr, 10 + i);
	different_streams(seen);
	pt_eq(session_lost(fd), 0);
	pt_unmap(&ring);
	close(fd);
	end_workers();
}

static void tasks(void)
{
	ext_need();
	unthrottled();
	session_with_each(of_tasks);
}

/* Mapped, unmapped and mapped again while they are attached. */
static void mapped_later(void)
{
	struct perf_event_attr attr;
	struct worker w;
	int fd;

	ext_need();
	load(NULL);
	unthrottled();
	worker_start(&w, 0);
	attr = sampling(hits());
	fd = session_of_tasks(attr);
	pt_eq(session_attach_task(fd, w.pid, 0), 0);
	worker_do(&w, hit, 3);
	pt_map(&ring, fd, 4);
	worker_do(&w, hit, 5);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 5);
	pt_unmap(&ring);
	worker_do(&w, hit, 2);
	pt_map(&ring, fd, 2);
	worker_do(&w, hit, 1);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 1);
	pt_eq(pt_count(fd), 11);
	/* The mapping has the session as the descriptor had. */
	close(fd);
	worker_do(&w, hit, 1);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 1);
	pt_unmap(&ring);
	none_left();
	worker_end(&w);
}

/* Four CPUs at the same time, all of whose samples find room. */
static void all_cpus(void)
{
	struct perf_event_attr attr;
	struct seen seen[CPUS] = {};
	int fd, i;

	ext_need();
	need_cpus(CPUS);
	load(NULL);
	unthrottled();
	start_workers(true);
	attr = sampling(hits());
	fd = session_of_cpus(attr);
	pt_map(&ring, fd, 512);
	pt_eq(session_attach(fd, PERF_EXT_TARGET_ALL, 0, 0), 0);
	all_at_once(hit_one_by_one, 2000);
	take(&attr, pt_id(fd), seen, CPUS, by_cpu);
	for (i = 0; i < CPUS; i++) {
		pt_eq(seen[i].nr, 2000 * (i + 1));
		pt_eq(session_count_of_cpu(fd, i), 2000 * (i + 1));
	}
	different_streams(seen);
	pt_eq(session_lost(fd), 0);
	pt_eq(pt_count(fd), 20000);
	end_workers();
}

/* LOST records of the buffer, and how many they tell of. */
static u64 told_as_lost(u64 id)
{
	struct pt_rec_lost lost;
	u64 n = 0;

	while (pt_next_of(&ring, &rec, PERF_RECORD_LOST)) {
		memcpy(&lost, rec.body, sizeof(lost));
		pt_eq(lost.id, id);
		n += lost.lost;
	}
	pt_consume(&ring);
	return n;
}

#define READS	pt_turns(10)

/* Seen and lost are all, for each target; so they are in sum, as read(2) has it. */
static void seen_and_lost(int fd, const struct seen *seen, bool smp)
{
	u64 lost = 0;
	int i;

	for (i = 0; i < CPUS; i++) {
		const struct session_entry *e;

		e = smp ? session_cpu(fd, i) : session_task(fd, workers[i].pid);
		pt_need(e, "target %d has no entry", i);
		pt_eq(e->value[0], 100 * (i + 1) * READS);
		pt_eq(seen[i].nr + e->lost, e->value[0]);
		lost += e->lost;
	}
	pt_check(lost, "nothing is lost");
	pt_eq(session_lost(fd), lost);
}

/* A buffer of one page, read now and then. */
static void too_small(bool smp)
{
	struct perf_event_attr attr = sampling(hits());
	struct seen seen[CPUS] = {};
	unsigned int read;
	struct pt_read r;
	int fd, i;

	attr.read_format = PERF_FORMAT_LOST;
	start_workers(smp);
	fd = smp ? session_of_cpus(attr) : session_of_tasks(attr);
	pt_map(&ring, fd, 1);
	for (i = 0; i < CPUS; i++)
		pt_eq(smp ? session_attach_cpu(fd, i) :
			    session_attach_task(fd, workers[i].pid, 0), 0);
	for (read = 0; read < READS; read++) {
		all_at_once(hit_one_by_one, 100);
		take(&attr, pt_id(fd), seen, CPUS, smp ? by_cpu : by_worker);
	}
	seen_and_lost(fd, seen, smp);
	pt_read(fd, PERF_FORMAT_LOST, 1, &r);
	pt_eq(r.v[0].value, 1000 * READS);
	/* Those of targets that leave stay. */
	pt_eq(session_detach(fd, PERF_EXT_TARGET_ALL, 0), 0);
	pt_eq(session_left(fd)->value[0], 1000 * READS);
	pt_eq(session_left(fd)->lost,
	      1000 * READS - seen[0].nr - seen[1].nr - seen[2].nr - seen[3].nr);
	pt_unmap(&ring);
	close(fd);
	end_workers();
}

static void lost_by_target(void)
{
	ext_need();
	load(NULL);
	unthrottled();
	too_small(false);
	if (pt_online_cpus() >= CPUS)
		too_small(true);
}

/* How many are lost, to the last one, and told of when there is room again. */
static void lost_exactly(void)
{
	static struct session_entry e[SESSION_ENTRIES];
	struct perf_event_attr attr;
	struct worker a, b;
	unsigned int room;
	int fd;

	ext_need();
	load(NULL);
	unthrottled();
	worker_start(&a, 0);
	worker_start(&b, 0);
	attr = hits();
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_TID;	/* records of 16 bytes */
	fd = session_of_tasks(attr);
	pt_map(&ring, fd, 1);
	room = (unsigned int)(ring.size / 16) - 1;
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	pt_eq(session_attach_task(fd, b.pid, 0), 0);
	worker_do(&a, hit, 100);
	worker_do(&b, hit, room);
	pt_eq(session_task(fd, a.pid)->lost, 0);
	pt_eq(session_task(fd, b.pid)->lost, 100);
	worker_do(&a, hit, 7);
	pt_eq(session_task(fd, a.pid)->lost, 7);
	pt_eq(session_lost(fd), 107);
	pt_eq(session_read(fd, PERF_EXT_READ_CGROUPS, e), 2);	/* in none, and what has left */
	pt_eq(e[0].lost, 107);
	pt_eq(e[1].lost, 0);
	pt_eq(session_detach_task(fd, b.pid), 0);
	pt_eq(session_left(fd)->lost, 100);
	pt_eq(session_lost(fd), 107);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), room);
	pt_consume(&ring);
	worker_do(&a, hit, 1);
	pt_eq(told_as_lost(pt_id(fd)), 107);
	worker_end(&a);
	worker_end(&b);
}

/* So is what comes while the output is paused. */
static void lost_while_paused(void)
{
	struct perf_event_attr attr;
	struct worker w;
	int fd;

	ext_need();
	load(NULL);
	unthrottled();
	worker_start(&w, 0);
	attr = hits();
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_TID;
	fd = session_of_tasks(attr);
	pt_map(&ring, fd, 4);
	pt_eq(session_attach_task(fd, w.pid, 0), 0);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1), 0);
	worker_do(&w, hit, 7);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0), 0);
	pt_eq(session_task(fd, w.pid)->lost, 7);
	worker_do(&w, hit, 1);
	pt_eq(told_as_lost(pt_id(fd)), 7);
	worker_end(&w);
}

/* Who waits is told of samples of any target. */
static void wakes_up(void)
{
	struct pollfd p = { .events = POLLIN };
	struct perf_event_attr attr;
	struct worker a, b;

	ext_need();
	load(NULL);
	unthrottled();
	worker_start(&a, 0);
	worker_start(&b, 0);
	attr = sampling(hits());
	attr.wakeup_events = 3;
	p.fd = session_of_tasks(attr);
	pt_map(&ring, p.fd, 8);
	pt_eq(session_attach_task(p.fd, a.pid, 0), 0);
	pt_eq(session_attach_task(p.fd, b.pid, 0), 0);
	pt_eq(poll(&p, 1, 0), 0);
	worker_do(&a, hit, 2);
	pt_eq(poll(&p, 1, 0), 0);
	worker_do(&b, hit, 1);
	pt_eq(poll(&p, 1, 0), 1);
	pt_eq(p.revents, POLLIN);
	pt_eq(poll(&p, 1, 0), 0);
	worker_tell(&a, hit, 3);
	/* Not for a time: poll() looks once more at its end. */
	pt_eq(poll(&p, 1, -1), 1);
	worker_wait(&a);
	worker_end(&a);
	worker_end(&b);
}

/* The samples of all members are in the one buffer, told by their ids. */
static void members(void)
{
	struct perf_event_attr attr[2], dummy = pt_attr(PT_SW(DUMMY));
	unsigned int n[2] = {};
	u64 ids[2] = {};
	struct perf_ext_create create = {
		.attrs = pt_addr(attr), .ids = pt_addr(ids), .nr = 2, .stride = sizeof(attr[0]),
	};
	struct worker a, b;
	int fd;

	ext_need();
	load(NULL);
	unthrottled();
	worker_start(&a, 0);
	worker_start(&b, 0);
	worker_do(&a, hit, 1);		/* its first one has faults of its own */
	worker_do(&b, hit, 1);
	attr[0] = sampling(hits());
	attr[1] = sampling(faults());
	attr[1].sample_type &= ~PERF_SAMPLE_PERIOD;
	attr[0].sample_type &= ~PERF_SAMPLE_PERIOD;
	fd = (int)pt_ioctl(pt_open(&dummy, 0, -1, -1, 0), PERF_EXT_IOC_CREATE, pt_addr(&create));
	pt_need(fd >= 0, "CREATE: %s", strerror(-fd));
	pt_map(&ring, fd, 8);
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	pt_eq(session_attach_task(fd, b.pid, 0), 0);
	worker_do(&a, hit, 5);
	worker_do(&a, session_fault, 4);
	worker_do(&b, session_fault, 3);
	worker_do(&b, hit, 2);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr[0], &rec, &s);
		pt_check(s.id == ids[0] || s.id == ids[1], "whose is it?");
		n[s.id == ids[1]]++;
	}
	pt_eq(n[0], 7);
	pt_eq(n[1], 7);
	worker_end(&a);
	worker_end(&b);
}

/* The count in a sample is that of its target, and of its whole group. */
static void read_in_samples(void)
{
	struct perf_event_attr attr[2];
	struct worker a, b;
	u64 last[2] = {};
	int fd, i;

	ext_need();
	load(NULL);
	unthrottled();
	worker_start(&a, 0);
	worker_start(&b, 0);
	attr[0] = hits();
	attr[0].sample_period = 10;
	attr[0].sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_READ;
	attr[0].read_format = PERF_FORMAT_GROUP;
	attr[1] = hits();
	attr[1].read_format = PERF_FORMAT_GROUP;
	fd = session_make(attr, 2, 0);
	pt_map(&ring, fd, 8);
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	pt_eq(session_attach_task(fd, b.pid, 0), 0);
	for (i = 0; i < 3; i++) {
		worker_do(&a, hit, 10);
		worker_do(&b, hit, 20);
	}
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr[0], &rec, &s);
		i = (pid_t)s.tid == b.pid;
		pt_eq(s.read.nr, 2);
		pt_eq(s.read.v[0].value % 10, 0);
		pt_eq(s.read.v[1].value, s.read.v[0].value);
		pt_check(s.read.v[0].value >= last[i], "goes back");
		last[i] = s.read.v[0].value;
	}
	pt_eq(last[0], 30);
	pt_eq(last[1], 60);
	worker_end(&a);
	worker_end(&b);
}

/* A CPU that goes and comes back goes on writing. */
static void hotplug(void)
{
	struct perf_event_attr attr;
	struct seen seen[CPUS] = {};
	u64 stream;
	int fd;

	ext_need();
	need_cpus(CPUS);
	load(NULL);
	unthrottled();
	attr = sampling(hits());
	fd = session_of_cpus(attr);
	pt_map(&ring, fd, 32);
	pt_eq(session_attach(fd, PERF_EXT_TARGET_ALL, 0, PERF_EXT_TARGET_RETURN), 0);
	hit_on(0, 1);
	hit_on(2, 10);
	pt_eq(set_online(2, 0), 0);
	hit_on(0, 1);
	take(&attr, pt_id(fd), seen, CPUS, by_cpu);
	pt_eq(seen[2].nr, 10);
	stream = seen[2].stream;
	pt_eq(set_online(2, 1), 0);
	pt_eq(session_targets(fd), CPUS);
	hit_on(2, 5);
	hit_on(0, 1);
	memset(&seen[2], 0, sizeof(seen[2]));	/* another event, another stream */
	take(&attr, pt_id(fd), seen, CPUS, by_cpu);
	pt_eq(seen[0].nr, 3);
	pt_eq(seen[2].nr, 5);
	pt_check(seen[2].stream != stream, "the stream of an event that has left");
	pt_eq(session_count_left(fd), 10);
}

/* Records of other events go to the buffer, and those of the session to another one's. */
static void redirected(void)
{
	struct perf_event_attr attr, other;
	struct worker w;
	int fd, fe;

	ext_need();
	load(NULL);
	unthrottled();
	worker_start(&w, 0);
	attr = sampling(hits());
	fd = session_of_tasks(attr);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, -1ul), 0);	/* as it is */
	other = sampling(hits());
	fe = pt_open(&other, 0, -1, -1, 0);
	pt_map(&ring, fe, 8);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, fe), -EINVAL);	/* not of the same task */
	pt_unmap(&ring);
	pt_map(&ring, fd, 8);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, fd), -EINVAL);	/* nor itself */
	pt_eq(pt_ioctl(fe, PERF_EVENT_IOC_SET_OUTPUT, fd), -EINVAL);
	pt_eq(session_attach_task(fd, w.pid, 0), 0);
	worker_do(&w, hit, 2);
	hit(7);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 2);
	worker_end(&w);
}

/* A rule of periods is for the copies that there will be; RESUME goes on with the numbers, too. */
static void periods(void)
{
	struct perf_ext_periods p = { .short_period = 10, .mask = 15, .seed = 1 };
	struct perf_event_attr attr;
	struct ext_model m;
	struct worker a, b;
	int fd, i;

	ext_need();
	load(NULL);
	unthrottled();
	worker_start(&a, 0);
	worker_start(&b, 0);
	attr = faults();
	attr.sample_period = 1000;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_READ;
	fd = session_of_tasks(attr);
	pt_map(&ring, fd, 8);
	pt_eq(ext_periods(fd, &p), 0);
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	worker_do(&a, session_fault, 100);
	p.seed = ext_seed_of_copy(1, 1);
	ext_model_start(&m, &p);
	while (pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE)) {
		pt_parse_sample(&attr, &rec, &s);
		ext_model_next(&m);
		pt_eq(s.read.v[0].value, m.sum);
	}
	pt_check(m.sum > 75 && m.sum <= 100, "the last one at %llu", (unsigned long long)m.sum);
	pt_eq(session_detach_task(fd, a.pid), 0);
	pt_eq(session_attach_task(fd, b.pid, PERF_EXT_TARGET_RESUME), 0);
	worker_do(&b, session_fault, 100);
	for (i = 0; pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE); i++) {
		pt_parse_sample(&attr, &rec, &s);
		pt_eq(s.tid, b.pid);
		ext_model_next(&m);
		pt_eq(s.read.v[0].value, m.sum - 100);
	}
	pt_check(m.sum > 175 && m.sum <= 200, "the last one at %llu", (unsigned long long)m.sum);
	worker_end(&a);
	worker_end(&b);
}

/* IOC_PERIOD is for the copies that will be made, as for inherited events. */
static void period_of_later_ones(void)
{
	struct perf_event_attr attr;
	struct worker a, b;
	u64 period = 5;
	int fd;

	ext_need();
	load(NULL);
	unthrottled();
	worker_start(&a, 0);
	worker_start(&b, 0);
	attr = hits();
	attr.sample_period = 10;
	fd = session_of_tasks(attr);
	pt_map(&ring, fd, 8);
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_PERIOD, pt_addr(&period)), 0);
	pt_eq(session_attach_task(fd, b.pid, 0), 0);
	worker_do(&a, hit, 100);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 10);
	worker_do(&b, hit, 100);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 20);
	worker_end(&a);
	worker_end(&b);
}

/* A program of the session's runs for every target that comes, and says which samples there are. */
static void program(void)
{
	struct perf_event_attr attr;
	static struct pt_words words;
	static struct pt_code code;
	struct worker a, b;
	int fd;

	ext_need();
	load(NULL);
	unthrottled();
	pt_words_make(&words);
	worker_start(&a, 0);
	worker_start(&b, 0);
	pt_b_begin(&code);
	pt_b_count(&code, &words, 0);
	pt_b_return_nth(&code, 3);
	attr = sampling(hits());
	fd = session_of_tasks(attr);
	pt_map(&ring, fd, 8);
	pt_eq(pt_ioctl(fd, PERF_EVENT_IOC_SET_BPF,
		       (unsigned long)pt_load(BPF_PROG_TYPE_PERF_EVENT, &code)), 0);
	pt_eq(session_attach_task(fd, a.pid, 0), 0);
	pt_eq(session_attach_task(fd, b.pid, 0), 0);
	worker_do(&a, hit, 5);
	worker_do(&b, hit, 7);
	pt_eq(words.word[0], 12);
	pt_eq(pt_count_records(&ring, PERF_RECORD_SAMPLE), 4);
	pt_eq(session_detach(fd, PERF_EXT_TARGET_ALL, 0), 0);
	worker_do(&a, hit, 5);
	pt_eq(words.word[0], 12);
	worker_end(&a);
	worker_end(&b);
}

static const struct pt_case cases[] = {
	{ "tasks", tasks },
	{ "mapped_later", mapped_later },
	{ "all_cpus", all_cpus },
	{ "lost_by_target", lost_by_target },
	{ "lost_exactly", lost_exactly },
	{ "lost_while_paused", lost_while_paused },
	{ "wakes_up", wakes_up },
	{ "members", members },
	{ "read_in_samples", read_in_samples },
	{ "hotplug", hotplug },
	{ "redirected", redirected },
	{ "periods", periods },
	{ "period_of_later_ones", period_of_later_ones },
	{ "program", program },
};

PT_MAIN(cases)
