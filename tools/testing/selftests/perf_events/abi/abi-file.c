// SPDX-License-Identifier: GPL-2.0
/*
 * Sections about the event's file: read() in every format and size, ioctl()
 * in every number, poll(), attrs that are changed, and the calls an event's file
 * does not have.
 */
#include "abi.h"
#include <limits.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>

#define GROUP_BITS 32
/* exclude_user and exclude_kernel */
#define NOBOTH (3ull << 4)

static int format_open(u64 format, u64 bits, int group)
{
	struct perf_event_attr a;

	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	attr_set_bits(&a, bits);
	a.read_format = format;
	return pe_open(&a, 0, -1, group, 0);
}

static void read_sizes(const char *name, unsigned int format, int fd)
{
	static const unsigned int sizes[] = {
		0, 1, 4, 7, 8, 9, 15, 16, 23, 24, 31, 32, 40, 47, 48, 56, 64, 72, 80, 95, 96, 104,
		112, 128, 256, 512,
	};
	struct tally *t = tally_new();
	unsigned int i;
	u64 buf[64];

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		long n = neg(read(fd, buf, sizes[i]));
		char text[16];

		snprintf(text, sizeof(text), "%ld", n);
		tally_add(t, n < 0 ? res(n) : text, "%u", sizes[i]);
	}
	tally_say(t, "format=%x,%s,size", format, name);
}

static void read_sizes_all(void)
{
	unsigned int f;

	for (f = 0; f < GROUP_BITS; f++) {
		int leader = format_open(f, 0, -1), one, two, alone = format_open(f, 0, -1);

		one = format_open(f, 0, leader);
		two = format_open(f, 0, leader);
		read_sizes("alone", f, alone);
		read_sizes("leader", f, leader);
		read_sizes("sibling", f, one);
		close(two);
		read_sizes("leader-of-one", f, leader);
		close(leader);
		read_sizes("orphan", f, one);
		close(one);
		close(alone);
	}
}

/* What each word of the answer is, found by comparing with what is known. */
static void words(const char *name, unsigned int format, int fd, const u64 *ids,
		  const u64 *counts, unsigned int members)
{
	u64 v[64] = { 0 };
	long n = neg(read(fd, v, sizeof(v)));
	char line[512];
	unsigned int pos = 0, len = 0, m;

	if (n < 0) {
		say(name, "%s", res(n));
		return;
	}
#define ADD(...) (len += snprintf(line + len, sizeof(line) - len, __VA_ARGS__))
	line[0] = 0;
	if (format & PERF_FORMAT_GROUP)
		ADD(" nr=%u", (unsigned int)v[pos++]);
	else
		ADD(v[pos++] == counts[0] ? " count" : " other-count");
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		ADD(v[pos++] ? " enabled" : " enabled=0");
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING) {
		bool both = format & PERF_FORMAT_TOTAL_TIME_ENABLED;

		ADD(both && v[pos] == v[pos - 1] ? " running=enabled" :
		    v[pos] ? " running" : " running=0");
		pos++;
	}
	for (m = 0; m < members; m++) {
		if (format & PERF_FORMAT_GROUP)
			ADD(v[pos++] == counts[m] ? " count%u" : " other%u", m);
		if (format & PERF_FORMAT_ID)
			ADD(v[pos++] == ids[m] ? " id" : " other-id");
		if (format & PERF_FORMAT_LOST)
			ADD(" lost=%u", (unsigned int)v[pos++]);
		if (!(format & PERF_FORMAT_GROUP))
			break;
	}
	say(name, "%ld bytes:%s", n, line);
#undef ADD
}

static void read_words(void)
{
	unsigned int f, bits;

	for (bits = 0; bits < 2; bits++)
		for (f = 0; f < GROUP_BITS; f++) {
			int fds[3], i;
			u64 ids[3], counts[3];
			char name[48];

			for (i = 0; i < 3; i++) {
				fds[i] = format_open(f, bits, i ? fds[0] : -1);
				ids[i] = event_id(fds[i]);
			}
			if (bits)
				ioctl(fds[2], PERF_EVENT_IOC_ENABLE, 0);
			make_faults(2);
			ioctl(fds[1], PERF_EVENT_IOC_RESET, 0);
			make_faults(3);
			counts[0] = bits ? 0 : 5;
			counts[1] = bits ? 0 : 3;
			counts[2] = bits ? 0 : 5;
			for (i = 0; i < 3; i++) {
				snprintf(name, sizeof(name), "format=%x,%s,member%d", f,
					 bits ? "disabled" : "enabled", i);
				words(name, f, fds[i], ids + i, counts + i, 3 - i);
			}
			for (i = 0; i < 3; i++)
				close(fds[i]);
		}
}

static void read_other(void)
{
	int fd = format_open(0, 0, -1), dir, p[2];
	/* Low in memory: 2 GB behind it are still user addresses. */
	static u64 v[8];
	struct iovec iov[2] = { { v, 8 }, { v + 1, 8 } };
	off_t off = 0;
	loff_t loff = 0;
	struct stat st;
	char link[64], path[40];
	void *volatile nowhere = NULL;
	volatile size_t huge = INT_MAX;
	ssize_t n;

	if (pipe(p) < 0)
		die("pipe");
	/* The compiler would complain about the wrong arguments if it saw them. */
	say("null", "%s", res(neg(read(fd, nowhere, 8))));
	say("null-0", "%s", res(neg(read(fd, nowhere, 0))));
	say("huge-size", "%ld", neg(read(fd, v, huge)));
	say("pread-0", "%ld", neg(pread(fd, v, 8, 0)));
	say("pread-100", "%ld", neg(pread(fd, v, 8, 100)));
	say("readv", "%ld", neg(readv(fd, iov, 2)));
	say("write", "%s", res(neg(write(fd, v, 8))));
	say("pwrite", "%s", res(neg(pwrite(fd, v, 8, 0))));
	say("lseek-set", "%s", res(neg(lseek(fd, 0, SEEK_SET))));
	say("lseek-cur", "%s", res(neg(lseek(fd, 0, SEEK_CUR))));
	say("lseek-end", "%s", res(neg(lseek(fd, 0, SEEK_END))));
	say("splice-out", "%s", res(neg(splice(fd, NULL, p[1], NULL, 8, SPLICE_F_NONBLOCK))));
	say("splice-out-offset", "%s", res(neg(splice(fd, &loff, p[1], NULL, 8,
						      SPLICE_F_NONBLOCK))));
	if (write(p[1], v, 8) != 8)
		die("write to pipe");
	say("splice-in", "%s", res(neg(splice(p[0], NULL, fd, NULL, 8, SPLICE_F_NONBLOCK))));
	say("sendfile", "%s", res(neg(sendfile(p[1], fd, &off, 8))));
	say("ftruncate", "%s", res(neg(ftruncate(fd, 0))));
	say("fsync", "%s", res(neg(fsync(fd))));
	say("fdatasync", "%s", res(neg(fdatasync(fd))));
	say("fallocate", "%s", res(neg(fallocate(fd, 0, 0, 8))));
	say("fchmod", "%s", res(neg(fchmod(fd, 0600))));
	say("fchdir", "%s", res(neg(fchdir(fd))));
	if (fstat(fd, &st) < 0)
		die("fstat");
	say("fstat", "mode=%o size=%ld nlink=%ld", st.st_mode, (long)st.st_size, (long)st.st_nlink);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, link, sizeof(link) - 1);
	link[n > 0 ? n : 0] = 0;
	say("link", "%s", link);
	dir = open(path, O_RDONLY);
	say("reopen", "%s", dir < 0 ? err_name(errno) : "ok");
	close(fd);
	say("read-closed", "%s", res(neg(read(fd, v, 8))));
	close(p[0]);
	close(p[1]);
}

static void file_fcntl(void)
{
	static const struct {
		const char *name;
		int set;
	} flags[] = {
		{ "none", 0 }, { "nonblock", O_NONBLOCK }, { "append", O_APPEND },
		{ "async", O_ASYNC }, { "direct", O_DIRECT }, { "noatime", O_NOATIME },
		{ "async+nonblock", O_ASYNC | O_NONBLOCK },
	};
	int fd = format_open(0, 0, -1), copy;
	unsigned int i;
	u64 v;

	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		long ret = neg(fcntl(fd, F_SETFL, flags[i].set));

		say(flags[i].name, "%s then %x reads %ld", res(ret), fcntl(fd, F_GETFL),
		    neg(read(fd, &v, 8)));
	}
	fcntl(fd, F_SETFL, 0);
	say("setown", "%s", res(neg(fcntl(fd, F_SETOWN, getpid()))));
	say("setsig", "%s", res(neg(fcntl(fd, F_SETSIG, SIGUSR1))));
	say("getsig", "%d", fcntl(fd, F_GETSIG) == SIGUSR1);
	say("setsig-65", "%s", res(neg(fcntl(fd, F_SETSIG, 65))));
	say("setlease", "%s", res(neg(fcntl(fd, F_SETLEASE, F_RDLCK))));
	say("setpipe", "%s", res(neg(fcntl(fd, F_SETPIPE_SZ, 4096))));
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 100);
	say("dup", "%s same id %d", res(copy), event_id(copy) == event_id(fd));
	make_faults(2);
	close(fd);
	make_faults(2);
	say("dup-counts-on", "%llu", (unsigned long long)read_count(copy));
	close(copy);
}

/* ---- ioctl ---- */

static const char *const arg_name[] = {
	"0", "1", "2", "3", "bad-pointer", "minus-1", "pointer-0", "pointer-5", "pointer-top",
	"read-only",
};

static unsigned long ioctl_arg(unsigned int which)
{
	static u64 zero, five, top;
	static const u64 ro = 7;

	zero = 0;
	five = 5;
	top = 1ull << 63;
	switch (which) {
	case 4:
		return 8;
	case 5:
		return ~0ul;
	case 6:
		return (unsigned long)&zero;
	case 7:
		return (unsigned long)&five;
	case 8:
		return (unsigned long)&top;
	case 9:
		return (unsigned long)&ro;
	}
	return which;
}

struct ioctl_case {
	const char *name;
	unsigned long nr;
};

static void ioctl_on(const char *target, int fd, const struct ioctl_case *c)
{
	struct tally *t = tally_new();
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(arg_name); i++) {
		long ret = neg(ioctl(fd, c->nr, ioctl_arg(i)));
		char text[16];

		/* Positive answers are facts too. */
		snprintf(text, sizeof(text), "%ld", ret);
		tally_add(t, ret > 0 ? text : res(ret), "%s", arg_name[i]);
	}
	tally_say(t, "%s,%s,arg", target, c->name);
}

static void file_ioctl(void)
{
	static const struct ioctl_case cases[] = {
		{ "enable", PERF_EVENT_IOC_ENABLE }, { "disable", PERF_EVENT_IOC_DISABLE },
		{ "refresh", PERF_EVENT_IOC_REFRESH }, { "reset", PERF_EVENT_IOC_RESET },
		{ "period", PERF_EVENT_IOC_PERIOD }, { "id", PERF_EVENT_IOC_ID },
		{ "pause-output", PERF_EVENT_IOC_PAUSE_OUTPUT },
	};
	static const char *const kinds[] = {
		"counting", "sampling", "freq", "leader", "sibling", "cpu", "clock", "inherit",
		"mapped", "tp", "bp", "hw", "hw-sampling",
	};
	unsigned int k, c;

	for (k = 0; k < ARRAY_SIZE(kinds); k++) {
		const char *source = k == 6 ? "sw-task-clock" : k == 9 ? "tp-getppid" :
			k == 10 ? "bp-w8" : k >= 11 ? "hw-cycles" : "sw-page-faults";
		const struct source *s = source_find(source);
		struct perf_event_attr a;
		struct ring r = { 0 };
		int fd, group = -1;

		if (s->absent)
			continue;
		source_attr(s, &a);
		/* A disabled leader keeps siblings silent whatever the case enables. */
		attr_set_bits(&a, k == 2 ? 1ull << 10 : k == 7 ? 2 : 0);
		a.sample_period = k == 1 || k == 8 ? 10 : k == 2 ? 100 : 0;
		if (k == 12) {
			a.sample_period = 1000000;
			/* Nothing is written with neither side wanted. */
			attr_set_bits(&a, 1 | NOBOTH);
		}
		fd = pe_open(&a, k == 5 ? -1 : 0, k == 5 ? 0 : -1, -1, 0);
		if (fd < 0) {
			say(kinds[k], "%s", res(fd));
			continue;
		}
		if (k == 3 || k == 4)
			group = pe_open(&a, 0, -1, fd, 0);
		if (k == 8)
			ring_map(&r, fd, 1, PROT_READ | PROT_WRITE);
		for (c = 0; c < ARRAY_SIZE(cases); c++) {
			/* A period of 5 cycles would stop the guest. */
			if (k == 12 && cases[c].nr == PERF_EVENT_IOC_PERIOD)
				continue;
			ioctl_on(kinds[k], k == 4 ? group : fd, &cases[c]);
		}
		ring_unmap(&r);
		if (group >= 0)
			close(group);
		close(fd);
	}
}

static void file_ioctl_unknown(void)
{
	static const char *const dirs[] = { "io", "w", "r", "wr" };
	static const unsigned int sizes[] = { 0, 4, 8, 16 };
	int fd = format_open(0, 0, -1);
	unsigned int d, z, n;

	for (d = 0; d < 4; d++)
		for (z = 0; z < ARRAY_SIZE(sizes); z++) {
			struct tally *t = tally_new();

			for (n = 0; n < 64; n++) {
				unsigned long nr = (unsigned long)d << 30 | sizes[z] << 16 |
						   '$' << 8 | n;

				/* Known and asked elsewhere: only the unknown here. */
				if ((d == 0 && !sizes[z] && n < 6) || (d == 1 && n < 12) ||
				    (d >= 2 && n < 12))
					continue;
				tally_add(t, res(neg(ioctl(fd, nr, 0))), "%u", n);
			}
			tally_say(t, "%s,size=%u,nr", dirs[d], sizes[z]);
		}
	say("period-32bit-size", "%s",
	    res(neg(ioctl(fd, _IOC(1, '$', 4, 4), 0))));
	say("id-as-value", "%s", res(neg(ioctl(fd, _IOC(2, '$', 7, 4), 0))));
	say("fionread", "%s", res(neg(ioctl(fd, 0x541b, 0))));
	say("fionbio", "%s", res(neg(ioctl(fd, 0x5421, 0))));
	say("tcgets", "%s", res(neg(ioctl(fd, 0x5401, 0))));
	close(fd);
}

/* ---- poll ---- */

static unsigned int polled(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	if (poll(&p, 1, 0) < 0)
		die("poll");
	return p.revents;
}

static void file_poll(void)
{
	struct epoll_event ev = { .events = EPOLLIN };
	struct perf_event_attr a;
	struct ring r;
	int fd, ep, other;
	pid_t pid;

	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	a.sample_period = 1;
	a.wakeup_events = 2;
	attr_set_bits(&a, 1);
	fd = must_open(&a);
	say("unmapped", "%x", polled(fd, POLLIN));
	say("unmapped-no-events", "%x", polled(fd, 0));
	ring_map(&r, fd, 8, PROT_READ | PROT_WRITE);
	say("mapped", "%x", polled(fd, POLLIN | POLLOUT | POLLPRI));
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	make_faults(1);
	say("one-of-two", "%x", polled(fd, POLLIN));
	make_faults(1);
	say("two-of-two", "%x", polled(fd, POLLIN));
	say("two-of-two-again", "%x", polled(fd, POLLIN));
	make_faults(4);
	say("all-events", "%x", polled(fd, ~0));
	make_faults(4);
	say("no-events-asked", "%x", polled(fd, 0));
	say("after-no-events-asked", "%x", polled(fd, POLLIN));
	ep = epoll_create1(0);
	say("epoll-add", "%s", res(neg(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev))));
	say("epoll-idle", "%d", epoll_wait(ep, &ev, 1, 0));
	make_faults(2);
	ev.events = 0;
	say("epoll-woken", "%d", epoll_wait(ep, &ev, 1, 1000));
	say("epoll-events", "%x", ev.events);
	close(ep);
	other = must_open(&a);
	say("target-unmapped", "%x", polled(other, POLLIN));
	ioctl(other, PERF_EVENT_IOC_SET_OUTPUT, fd);
	ioctl(other, PERF_EVENT_IOC_ENABLE, 0);
	say("target-redirected", "%x", polled(other, POLLIN));
	make_faults(2);
	say("target-after", "%x", polled(other, POLLIN));
	say("owner-after-target", "%x", polled(fd, POLLIN));
	close(other);
	ring_unmap(&r);
	say("unmapped-again", "%x", polled(fd, POLLIN));
	close(fd);
	pid = fork_quiet();
	if (!pid) {
		raise(SIGSTOP);
		_exit(0);
	}
	if (waitpid(pid, NULL, WUNTRACED) < 0)
		die("waitpid");
	fd = pe_open(&a, pid, -1, -1, 0);
	ring_map(&r, fd, 1, PROT_READ | PROT_WRITE);
	say("child-alive", "%x", polled(fd, POLLIN));
	kill(pid, SIGCONT);
	wait_child(pid);
	say("child-gone", "%x", polled(fd, POLLIN));
	ring_unmap(&r);
	say("child-gone-unmapped", "%x", polled(fd, POLLIN));
	close(fd);
}

static void filter(void)
{
	static const char *const filters[] = {
		"", "common_pid != 0", "nonsense ==", "start 0x1000/0x1000", "filter 0/1@/init",
	};
	static const char *const from[] = {
		"sw-page-faults", "sw-task-clock", "tp-getppid", "bp-w8", "hw-cycles", "pmu-kprobe",
		"pmu-uprobe",
	};
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(from); i++) {
		const struct source *s = source_find(from[i]);
		struct perf_event_attr a;
		char name[64];
		int fd;

		if (s->absent)
			continue;
		source_attr(s, &a);
		attr_set_bits(&a, 1);
		fd = pe_open(&a, 0, -1, -1, 0);
		if (fd < 0)
			continue;
		for (k = 0; k < ARRAY_SIZE(filters); k++) {
			snprintf(name, sizeof(name), "%s,filter%u", s->name, k);
			say(name, "%s", res(neg(ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filters[k]))));
		}
		say(s->name, "filter-null %s", res(neg(ioctl(fd, PERF_EVENT_IOC_SET_FILTER, 0))));
		close(fd);
	}
}

static const char *const ioctl_sources[] = {
	"sw-page-faults", "sw-task-clock", "tp-getppid", "bp-w8", "hw-cycles", "pmu-kprobe",
	"pmu-uprobe",
};

static void modify(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ioctl_sources); i++) {
		const struct source *s = source_find(ioctl_sources[i]);
		struct perf_event_attr a;
		char name[64];
		int fd;

		if (s->absent)
			continue;
		source_attr(s, &a);
		attr_set_bits(&a, 1);
		fd = pe_open(&a, 0, -1, -1, 0);
		if (fd < 0)
			continue;
		snprintf(name, sizeof(name), "%s", s->name);
		say(name, "modify-null %s", res(neg(ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES,
							  0))));
		say(name, "modify-same %s", res(neg(ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES,
							  &a))));
		a.config++;
		say(name, "modify-config %s",
		    res(neg(ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &a))));
		a.config--;
		a.type++;
		say(name, "modify-type %s", res(neg(ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES,
							  &a))));
		close(fd);
	}
}

const struct section file_sections[] = {
	{ "file-read-sizes", read_sizes_all },
	{ "file-read-words", read_words },
	{ "file-calls", read_other },
	{ "file-fcntl", file_fcntl },
	{ "file-ioctl", file_ioctl },
	{ "file-ioctl-unknown", file_ioctl_unknown },
	{ "file-poll", file_poll },
	{ "filter", filter },
	{ "file-modify", modify },
	{ }
};
