// SPDX-License-Identifier: GPL-2.0
/*
 * Sections about the records that are not samples: MMAP, MMAP2, COMM, FORK,
 * EXIT, SWITCH, THROTTLE, and who gets them. READ is left out: the stock kernel
 * has forgotten to write it when a child exits.
 *
 * Names of files differ from machine to machine: of a record that ends in a
 * name the size without the name is printed, and the name only if the kernel
 * or this program chose it.
 */
#include "abi.h"
#include <sys/prctl.h>

#define B_INHERIT (1ull << 1)
#define B_EXCLUDE_KERNEL (1ull << 5)
#define B_MMAP (1ull << 8)
#define B_COMM (1ull << 9)
#define B_ENABLE_ON_EXEC (1ull << 12)
#define B_TASK (1ull << 13)
#define B_MMAP_DATA (1ull << 17)
#define B_ID_ALL (1ull << 18)
#define B_MMAP2 (1ull << 23)
#define B_COMM_EXEC (1ull << 24)
#define B_SWITCH (1ull << 26)
#define RW (PROT_READ | PROT_WRITE)

static int side_open(u64 bits, u64 sample, pid_t pid, int cpu)
{
	struct perf_event_attr a;
	int fd;

	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	attr_set_bits(&a, bits);
	a.sample_type = sample;
	fd = pe_open(&a, pid, cpu, -1, 0);
	if (fd < 0) {
		errno = -fd;
		die("open of a sideband event");
	}
	return fd;
}

/* Where in a record's body its name starts, in bytes; 0 for none. */
static unsigned int name_offset(const struct rec *rec)
{
	switch (rec->h->type) {
	case PERF_RECORD_MMAP:
		return 32;
	case PERF_RECORD_MMAP2:
		return 64;
	case PERF_RECORD_COMM:
		return 8;
	}
	return 0;
}

static void describe(const struct rec *rec, char *out, size_t room)
{
	const u32 *w = (const u32 *)rec->body;
	const char *name = (const char *)rec->body;
	unsigned int at = name_offset(rec), size = rec->h->size;
	unsigned int misc = rec->h->misc;
	const char *self = strrchr(self_path, '/');
	int n = 0;

	if (rec->h->type == PERF_RECORD_SWITCH || rec->h->type == PERF_RECORD_SWITCH_CPU_WIDE)
		misc &= ~PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
	if (at) {
		name += at;
		size -= (strlen(name) + 8) & ~7u;
	}
	n += snprintf(out + n, room - n, "%s/%x/%u", rec_name(rec->h->type), misc, size);
	if (at) {
		if (*name == '[' || *name == '/')
			n += snprintf(out + n, room - n, " %s",
				      !strncmp(name, "[v", 2) || !strncmp(name, "//", 2) ||
				      !strncmp(name, "/memfd:", 7) || !strncmp(name, "[s", 2) ||
				      !strncmp(name, "[h", 2) ? name : "(file)");
		else if (rec->h->misc & PERF_RECORD_MISC_COMM_EXEC && self &&
			 !strncmp(name, self + 1, 15))
			n += snprintf(out + n, room - n, " (program)");
		else
			n += snprintf(out + n, room - n, " '%s'", name);
	}
	if (rec->h->type == PERF_RECORD_MMAP || rec->h->type == PERF_RECORD_MMAP2)
		n += snprintf(out + n, room - n, " pages %u",
			      (unsigned int)(rec->body[2] / page_size));
	if (rec->h->type == PERF_RECORD_MMAP2)
		n += snprintf(out + n, room - n, " prot %x flags %x inode %d", w[14], w[15],
			      rec->body[5] != 0);
}

static void tell(const char *name, struct ring *r)
{
	size_t pos = 0;
	struct rec rec;
	unsigned int n = 0;

	ring_take(r);
	while (ring_next(r, &pos, &rec)) {
		char text[256], label[96];

		describe(&rec, text, sizeof(text));
		snprintf(label, sizeof(label), "%s,%u", name, n++);
		say(label, "%s", text);
	}
	if (!n)
		say(name, "nothing");
}

static void map_things(void)
{
	int fd = memfd_create("abi", 0);
	void *p;

	if (fd < 0 || ftruncate(fd, 4 * page_size) < 0)
		die("memfd");
	p = mmap(NULL, 2 * page_size, PROT_READ | PROT_EXEC, MAP_SHARED, fd, page_size);
	munmap(p, 2 * page_size);
	p = mmap(NULL, 3 * page_size, PROT_READ, MAP_PRIVATE, fd, 0);
	mprotect(p, page_size, PROT_READ | PROT_EXEC);
	munmap(p, 3 * page_size);
	p = mmap(NULL, 4 * page_size, RW | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(p, 4 * page_size);
	p = mmap(NULL, 4 * page_size, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(p, 4 * page_size);
	p = mmap(NULL, 4 * page_size, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	munmap(p, 4 * page_size);
	p = mmap(NULL, 4 * page_size, PROT_NONE, MAP_PRIVATE, fd, 0);
	munmap(p, 4 * page_size);
	close(fd);
}

static void side_mmap(void)
{
	static const struct {
		const char *name;
		u64 bits;
	} kinds[] = {
		{ "mmap", B_MMAP }, { "mmap2", B_MMAP2 }, { "mmap+mmap2", B_MMAP | B_MMAP2 },
		{ "data", B_MMAP_DATA }, { "mmap+data", B_MMAP | B_MMAP_DATA },
		{ "mmap2+data", B_MMAP | B_MMAP2 | B_MMAP_DATA }, { "task", B_TASK },
		{ "none", 0 }, { "mmap-disabled", B_MMAP | 1 },
		{ "mmap-nokernel", B_MMAP | B_EXCLUDE_KERNEL }, { "mmap-nouser", B_MMAP | 1 << 4 },
	};
	unsigned int k, cpu;

	for (k = 0; k < ARRAY_SIZE(kinds); k++)
		for (cpu = 0; cpu < 2; cpu++) {
			int fd = side_open(kinds[k].bits, 0, cpu ? -1 : 0, cpu ? 0 : -1);
			char name[40];
			struct ring r;

			ring_map(&r, fd, 4, RW);
			/* Mapping the buffer itself is told as well. */
			ring_take(&r);
			map_things();
			ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
			snprintf(name, sizeof(name), "%s,%s", kinds[k].name, cpu ? "cpu" : "task");
			tell(name, &r);
			ring_unmap(&r);
			close(fd);
		}
}

/* sample_id_all adds to every record what the sample bits ask for. */
static void side_id_all(void)
{
	static const u64 samples[] = {
		0, PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID,
		PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP, PERF_SAMPLE_ADDR,
		PERF_SAMPLE_PERIOD, PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_READ,
		PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
		PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER,
	};
	unsigned int s, all;

	for (s = 0; s < ARRAY_SIZE(samples); s++)
		for (all = 0; all < 2; all++) {
			int fd = side_open(B_MMAP | B_COMM | B_TASK | (all ? B_ID_ALL : 0),
					   samples[s], 0, -1);
			char name[64];
			struct ring r;
			pid_t pid;

			ring_map(&r, fd, 4, RW);
			ring_take(&r);
			prctl(PR_SET_NAME, "abi");
			map_things();
			pid = fork_quiet();
			if (!pid)
				_exit(0);
			wait_child(pid);
			ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
			snprintf(name, sizeof(name), "sample=%x,%s", (unsigned int)samples[s],
				 all ? "all" : "plain");
			tell(name, &r);
			ring_unmap(&r);
			close(fd);
		}
}

/* What the trailing fields hold: compared with what is known. */
static void side_id_values(void)
{
	u64 sample = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
		     PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	int fd = side_open(B_COMM | B_ID_ALL, sample, 0, -1);
	u64 id = event_id(fd);
	struct rec rec;
	struct ring r;
	size_t pos = 0;

	ring_map(&r, fd, 1, RW);
	prctl(PR_SET_NAME, "abi");
	ring_take(&r);
	if (!ring_next(&r, &pos, &rec)) {
		say("record", "none");
	} else {
		/* tid, time, id, stream id, cpu, identifier: the last six words. */
		const u64 *v = rec.body + rec.n - 6;
		u32 tid[2], cpu[2];

		memcpy(tid, v, 8);
		memcpy(cpu, v + 4, 8);
		say("tid", "%d", tid[0] == (u32)getpid() && tid[1] == (u32)getpid());
		say("time", "%d", v[1] > 0);
		say("id", "%d", v[2] == id);
		say("stream-id", "%d", v[3] == id);
		say("cpu", "%u reserved %u", cpu[0], cpu[1]);
		say("identifier", "%d", v[5] == id);
	}
	ring_unmap(&r);
	close(fd);
}

static void side_comm(void)
{
	static const u64 bits[] = { B_COMM, B_COMM | B_COMM_EXEC, B_COMM_EXEC, B_TASK };
	static const char *const names[] = { "comm", "comm-exec", "only-exec-bit", "task" };
	unsigned int k;

	for (k = 0; k < 4; k++) {
		int fd = side_open(bits[k], 0, 0, -1);
		struct ring r;

		ring_map(&r, fd, 1, RW);
		prctl(PR_SET_NAME, "");
		prctl(PR_SET_NAME, "a");
		prctl(PR_SET_NAME, "seven77");
		prctl(PR_SET_NAME, "eight888");
		prctl(PR_SET_NAME, "longer-than-fifteen-letters");
		tell(names[k], &r);
		ring_unmap(&r);
		close(fd);
	}
	prctl(PR_SET_NAME, "abi");
}

static void side_exec(void)
{
	static const struct {
		const char *name;
		u64 bits;
	} kinds[] = {
		{ "comm", B_COMM }, { "comm-exec", B_COMM | B_COMM_EXEC }, { "task", B_TASK },
		{ "on-exec", 1 | B_ENABLE_ON_EXEC | B_COMM | B_COMM_EXEC | B_TASK },
		{ "mmap", B_MMAP }, { "all", B_MMAP | B_MMAP2 | B_COMM | B_COMM_EXEC | B_TASK },
	};
	unsigned int k;

	for (k = 0; k < ARRAY_SIZE(kinds); k++) {
		int p[2], fd;
		struct ring r;
		pid_t pid;
		char c;

		if (pipe(p) < 0)
			die("pipe");
		pid = fork_quiet();
		if (!pid) {
			close(p[1]);
			if (read(p[0], &c, 1) != 0)
				_exit(1);
			execl(self_path, "abi-diff", "--nothing", NULL);
			_exit(9);
		}
		close(p[0]);
		fd = side_open(kinds[k].bits, 0, pid, -1);
		ring_map(&r, fd, 4, RW);
		close(p[1]);
		wait_child(pid);
		/*
		 * Of the mappings only the records' kinds: which ones a static
		 * program has is the linker's and the loader's matter.
		 */
		if (kinds[k].bits & B_MMAP) {
			unsigned int exec = 0, vdso = 0, other = 0, data = 0;
			size_t pos = 0;
			struct rec rec;

			ring_take(&r);
			while (ring_next(&r, &pos, &rec)) {
				unsigned int at = name_offset(&rec);
				const char *name = (const char *)rec.body + at;

				if (rec.h->type == PERF_RECORD_COMM)
					exec += !!(rec.h->misc & PERF_RECORD_MISC_COMM_EXEC);
				else if (!at)
					other++;
				else if (!strcmp(name, "[vdso]"))
					vdso++;
				else
					data += !!(rec.h->misc & PERF_RECORD_MISC_MMAP_DATA);
			}
			say(kinds[k].name, "comm-exec %u vdso %u data %u others %u", exec, vdso,
			    data,
			    other);
		} else {
			tell(kinds[k].name, &r);
		}
		ring_unmap(&r);
		close(fd);
	}
}

/* The words of FORK and EXIT, and where they go when the event is inherited. */
static void side_task(void)
{
	struct ring r;
	struct rec rec;
	size_t pos = 0;
	int fd = side_open(B_TASK | B_ID_ALL, PERF_SAMPLE_TID | PERF_SAMPLE_TIME, 0, -1);
	pid_t pid;

	ring_map(&r, fd, 1, RW);
	pid = fork_quiet();
	if (!pid)
		_exit(0);
	wait_child(pid);
	ring_take(&r);
	while (ring_next(&r, &pos, &rec)) {
		const u32 *w = (const u32 *)rec.body;

		say(rec_name(rec.h->type),
		    "pid-child %d ppid-self %d tid-child %d ptid-self %d time %d",
		    w[0] == (u32)pid, w[1] == (u32)getpid(), w[2] == (u32)pid,
		    w[3] == (u32)getpid(), rec.body[2] > 0);
	}
	ring_unmap(&r);
	close(fd);
	fd = side_open(B_TASK | B_COMM | B_INHERIT, 0, -1, 0);
	ring_map(&r, fd, 4, RW);
	pid = fork_quiet();
	if (!pid) {
		pid = fork();
		if (!pid)
			_exit(0);
		wait_child(pid);
		prctl(PR_SET_NAME, "child");
		_exit(0);
	}
	wait_child(pid);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	ring_take(&r);
	{
		/* Others of the machine may fork too on this CPU: count at least. */
		u64 forks = ring_count(&r, PERF_RECORD_FORK),
			exits = ring_count(&r, PERF_RECORD_EXIT);

		say("cpu-wide", "forks>=2 %d exits>=2 %d comm %d", forks >= 2, exits >= 2,
		    ring_count(&r, PERF_RECORD_COMM) >= 1);
	}
	ring_unmap(&r);
	close(fd);
}

/* A task event that is inherited on one CPU: the buffer gets all of the family. */
static void side_inherit(void)
{
	int fd = side_open(B_TASK | B_COMM | B_INHERIT, 0, 0, 0);
	struct ring r;
	pid_t pid;

	ring_map(&r, fd, 4, RW);
	pid = fork_quiet();
	if (!pid) {
		prctl(PR_SET_NAME, "child");
		pid = fork();
		if (!pid) {
			prctl(PR_SET_NAME, "grand");
			_exit(0);
		}
		wait_child(pid);
		_exit(0);
	}
	wait_child(pid);
	tell("family", &r);
	ring_unmap(&r);
	close(fd);
}

/* ---- switches ---- */

static void pingpong(unsigned int rounds)
{
	int p[2], q[2];
	char c = 0;
	pid_t pid;

	if (pipe(p) < 0 || pipe(q) < 0)
		die("pipe");
	pid = fork_quiet();
	if (!pid) {
		close(p[1]);
		while (read(p[0], &c, 1) == 1 && write(q[1], &c, 1) == 1)
			;
		_exit(0);
	}
	while (rounds--)
		if (write(p[1], &c, 1) != 1 || read(q[0], &c, 1) != 1)
			die("pingpong");
	close(p[1]);
	close(q[0]);
	wait_child(pid);
	close(p[0]);
	close(q[1]);
}

static void side_switch(void)
{
	static const struct {
		const char *name;
		u64 bits;
		int cpu;
	} kinds[] = {
		{ "task", B_SWITCH, -1 }, { "task-id", B_SWITCH | B_ID_ALL, -1 },
		{ "cpu", B_SWITCH, 0 }, { "cpu-id", B_SWITCH | B_ID_ALL, 0 },
		{ "off", 0, -1 }, { "task-nokernel", B_SWITCH | B_EXCLUDE_KERNEL, -1 },
	};
	unsigned int k;

	for (k = 0; k < ARRAY_SIZE(kinds); k++) {
		int fd = side_open(kinds[k].bits | 1, PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
				   kinds[k].cpu < 0 ? 0 : -1, kinds[k].cpu);
		unsigned int in = 0, out = 0, twice = 0, other = 0, size = 0, sizes = 0;
		int last = -1;
		struct ring r;
		struct rec rec;
		size_t pos = 0;

		ring_map(&r, fd, 16, RW);
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		pingpong(20);
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		ring_take(&r);
		while (ring_next(&r, &pos, &rec)) {
			int is_out = !!(rec.h->misc & PERF_RECORD_MISC_SWITCH_OUT);

			if (rec.h->type != PERF_RECORD_SWITCH &&
			    rec.h->type != PERF_RECORD_SWITCH_CPU_WIDE) {
				other++;
				continue;
			}
			in += !is_out;
			out += is_out;
			twice += is_out == last;
			last = is_out;
			sizes += rec.h->size != size;
			size = rec.h->size;
		}
		say(kinds[k].name, "in>=20 %d out>=20 %d twice %u others %u size %u sizes %u",
		    in >= 20,
		    out >= 20, twice, other, size, sizes);
		ring_unmap(&r);
		close(fd);
	}
}

/* ---- throttling ---- */

static void side_throttle(void)
{
	unsigned int throttled = 0, unthrottled = 0, wrong = 0, size = 0;
	struct perf_event_attr a;
	struct ring r;
	struct rec rec;
	size_t pos = 0;
	int fd, last = 0;
	u64 end;

	/* One sample per tick. */
	file_write("/proc/sys/kernel/perf_cpu_time_max_percent", "25");
	file_write("/proc/sys/kernel/perf_event_max_sample_rate", "100");
	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	a.sample_period = 200000;
	a.sample_type = PERF_SAMPLE_TIME;
	attr_set_bits(&a, B_ID_ALL | 1);
	fd = must_open(&a);
	ring_map(&r, fd, 64, RW);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	/* A pair for each tick: as long as it takes on a loaded host. */
	end = now_ns() + 3000000000ull;
	do {
		spin_ms(10);
	} while (r.page->data_head < 20 * 40 && now_ns() < end);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	ring_take(&r);
	while (ring_next(&r, &pos, &rec)) {
		int type = rec.h->type;

		throttled += type == PERF_RECORD_THROTTLE;
		unthrottled += type == PERF_RECORD_UNTHROTTLE;
		if (type == PERF_RECORD_THROTTLE || type == PERF_RECORD_UNTHROTTLE) {
			wrong += type == last;
			last = type;
			size = rec.h->size;
		}
	}
	say("cpu-clock", "throttled>3 %d unthrottled>3 %d alternate %d size %u", throttled > 3,
	    unthrottled > 3, !wrong, size);
	ring_unmap(&r);
	close(fd);
	file_write("/proc/sys/kernel/perf_event_max_sample_rate", "10000000");
	file_write("/proc/sys/kernel/perf_cpu_time_max_percent", "100");
}

const struct section side_sections[] = {
	{ "side-mmap", side_mmap },
	{ "side-id-all", side_id_all },
	{ "side-id-values", side_id_values },
	{ "side-comm", side_comm },
	{ "side-exec", side_exec },
	{ "side-task", side_task },
	{ "side-inherit", side_inherit },
	{ "side-switch", side_switch },
	{ "side-throttle", side_throttle },
	{ }
};
