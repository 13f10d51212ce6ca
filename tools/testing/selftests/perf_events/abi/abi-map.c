// SPDX-License-Identifier: GPL-2.0
/*
 * Sections about mmap(): which mappings an event accepts, what its first page
 * tells, and what may be done with the mapping afterwards.
 *
 * The mappings of a faulting child are tried in a forked child, whose signal
 * is the answer.
 */
#include "abi.h"

static long map_at(int fd, size_t pages, int prot, int flags, off_t offset)
{
	void *p = mmap(NULL, pages * page_size, prot, flags, fd, offset);

	if (p == MAP_FAILED)
		return -errno;
	munmap(p, pages * page_size);
	return 0;
}

#define RW (PROT_READ | PROT_WRITE)

static const char *const map_sources[] = {
	"sw-dummy", "sw-page-faults", "tp-getppid", "sw-task-clock", "hw-cycles", "bp-w8",
};

static int map_event(const char *source, u64 bits, int cpu)
{
	const struct source *s = source_find(source);
	struct perf_event_attr a;

	if (s->absent)
		return -ENOENT;
	source_attr(s, &a);
	attr_set_bits(&a, bits);
	return pe_open(&a, cpu < 0 ? 0 : -1, cpu, -1, 0);
}

static void map_sizes(void)
{
	static const size_t pages[] = {
		1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 17, 32, 33, 63, 64, 65, 1025,
	};
	static const struct {
		const char *name;
		u64 bits;
		int cpu;
	} kinds[] = {
		{ "task", 0, -1 }, { "cpu", 0, 0 }, { "task-inherit", 2, -1 },
		{ "cpu-inherit", 2, 0 }, { "disabled", 1, -1 }, { "backward", 1ull << 27, -1 },
	};
	unsigned int i, k, s;

	/* A fresh event each: mapping one again waits for a grace period. */
	for (s = 0; s < ARRAY_SIZE(map_sources); s++)
		for (k = 0; k < ARRAY_SIZE(kinds); k++) {
			struct tally *t = tally_new();

			for (i = 0; i < ARRAY_SIZE(pages); i++) {
				int fd = map_event(map_sources[s], kinds[k].bits, kinds[k].cpu);

				if (fd < 0)
					continue;
				tally_add(t, res(map_at(fd, pages[i], RW, MAP_SHARED, 0)), "%zu",
					  pages[i]);
				close(fd);
			}
			tally_say(t, "%s,%s,pages", map_sources[s], kinds[k].name);
		}
}

static void map_flags(void)
{
	static const struct {
		const char *name;
		int prot, flags;
		off_t offset;
	} cases[] = {
		{ "rw-shared", RW, MAP_SHARED, 0 },
		{ "r-shared", PROT_READ, MAP_SHARED, 0 },
		{ "w-shared", PROT_WRITE, MAP_SHARED, 0 },
		{ "none-shared", PROT_NONE, MAP_SHARED, 0 },
		{ "rx-shared", PROT_READ | PROT_EXEC, MAP_SHARED, 0 },
		{ "rwx-shared", RW | PROT_EXEC, MAP_SHARED, 0 },
		{ "rw-private", RW, MAP_PRIVATE, 0 },
		{ "r-private", PROT_READ, MAP_PRIVATE, 0 },
		{ "rw-validate", RW, MAP_SHARED_VALIDATE, 0 },
		{ "rw-locked", RW, MAP_SHARED | MAP_LOCKED, 0 },
		{ "rw-populate", RW, MAP_SHARED | MAP_POPULATE, 0 },
		{ "rw-noreserve", RW, MAP_SHARED | MAP_NORESERVE, 0 },
		{ "rw-hugetlb", RW, MAP_SHARED | MAP_HUGETLB, 0 },
		{ "rw-offset1", RW, MAP_SHARED, 1 },
		{ "rw-offset-odd", RW, MAP_SHARED, 100 },
		{ "rw-offset2", RW, MAP_SHARED, 2 },
		{ "rw-offset-far", RW, MAP_SHARED, 1 << 20 },
	};
	unsigned int i, mapped;

	for (mapped = 0; mapped < 2; mapped++)
		for (i = 0; i < ARRAY_SIZE(cases); i++) {
			int fd = map_event("sw-dummy", 0, -1);
			off_t offset = cases[i].offset;
			struct ring r = { 0 };
			char name[48];

			if (offset != 100)
				offset *= page_size;
			if (mapped)
				ring_map(&r, fd, 2, RW);
			snprintf(name, sizeof(name), "%s,%s", mapped ? "second" : "first",
				 cases[i].name);
			say(name, "%s", res(map_at(fd, 3, cases[i].prot, cases[i].flags, offset)));
			ring_unmap(&r);
			close(fd);
		}
}

static void map_second(void)
{
	static const size_t pages[] = { 1, 2, 3, 5, 9 };
	unsigned int first, i;
	int fd, other;
	long same;
	struct ring r, shared;

	for (first = 0; first < ARRAY_SIZE(pages); first++) {
		struct tally *t = tally_new();

		fd = map_event("sw-dummy", 0, -1);
		ring_map(&r, fd, pages[first] - 1, RW);
		for (i = 0; i < ARRAY_SIZE(pages); i++)
			tally_add(t, res(map_at(fd, pages[i], RW, MAP_SHARED, 0)), "%zu", pages[i]);
		tally_say(t, "first=%zu,second", pages[first]);
		t = tally_new();
		ring_unmap(&r);
		for (i = 0; i < ARRAY_SIZE(pages); i++)
			tally_add(t, res(map_at(fd, pages[i], RW, MAP_SHARED, 0)), "%zu", pages[i]);
		tally_say(t, "first=%zu-unmapped,second", pages[first]);
		close(fd);
	}
	/* After SET_OUTPUT the buffer is the other event's. */
	fd = map_event("sw-dummy", 0, -1);
	other = map_event("sw-page-faults", 0, -1);
	ring_map(&shared, fd, 4, RW);
	ioctl(other, PERF_EVENT_IOC_SET_OUTPUT, fd);
	for (i = 0; pages[i] < 5; i++) {
		char name[40];

		snprintf(name, sizeof(name), "after-set-output,pages=%zu", pages[i]);
		say(name, "%s", res(map_at(other, pages[i], RW, MAP_SHARED, 0)));
	}
	same = map_at(other, 5, RW, MAP_SHARED, 0);
	say("after-set-output,same-size", "%s, then another size %s", res(same),
	    res(map_at(other, 9, RW, MAP_SHARED, 0)));
	/* Unmapping took it off the other's buffer. */
	say("set-output-again", "%s", res(neg(ioctl(other, PERF_EVENT_IOC_SET_OUTPUT, fd))));
	if (!ring_map(&r, other, 4, RW)) {
		bool same_size = r.page->data_size == shared.page->data_size;

		shared.page->data_tail = 77;
		say("same-size-again", "same-pages=%d same-page=%d", same_size,
		    r.page->data_tail == 77);
		ring_unmap(&r);
	} else {
		say("same-size-again", "refused");
	}
	ring_unmap(&shared);
	/* The last owner's mapping is gone: is the redirected one cut off? */
	say("after-owner-unmapped", "%s", res(map_at(other, 3, RW, MAP_SHARED, 0)));
	say("after-owner-unmapped-same", "%s", res(map_at(other, 5, RW, MAP_SHARED, 0)));
	close(other);
	close(fd);
}

static void userpage(const char *source, u64 bits)
{
	int fd = map_event(source, bits, -1);
	struct perf_event_mmap_page *p;
	struct ring r;
	char name[64];

	if (fd < 0)
		return;
	if (ring_map(&r, fd, 2, RW))
		die("mmap");
	p = r.page;
	snprintf(name, sizeof(name), "%s,%s", source, bits & 1 ? "disabled" : "enabled");
	/*
	 * Whether the clock of the machine can be read in user space is the
	 * machine's matter; that the bits agree with each other is not.
	 */
	say(name, "version=%u compat=%u size=%u lock-even=%d index0=%d offset0=%d head=%llu tail=%llu",
	    p->version, p->compat_version, p->size, !(p->lock & 1), p->index == 0, p->offset == 0,
	    (unsigned long long)p->data_head, (unsigned long long)p->data_tail);
	say(name, "data_offset=%llu data_size=%llu aux=%llu,%llu,%llu,%llu",
	    (unsigned long long)p->data_offset / page_size,
	    (unsigned long long)p->data_size / page_size, (unsigned long long)p->aux_head,
	    (unsigned long long)p->aux_tail, (unsigned long long)p->aux_offset,
	    (unsigned long long)p->aux_size);
	say(name, "cap_bit0=%u is_deprecated=%u rdpmc=%u width=%u zero-implies-time=%d",
	    (unsigned int)p->cap_bit0, (unsigned int)p->cap_bit0_is_deprecated,
	    (unsigned int)p->cap_user_rdpmc, p->cap_user_rdpmc ? p->pmc_width : 0,
	    !p->cap_user_time_zero || p->cap_user_time);
	say(name, "enabled=%d running=%d running<=enabled=%d reserved0=%d",
	    p->time_enabled != 0, p->time_running != 0, p->time_running <= p->time_enabled,
	    !p->__reserved_1);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	say(name, "after-disable: index0=%d enabled=%d running=enabled:%d", p->index == 0,
	    p->time_enabled != 0, p->time_running == p->time_enabled);
	ring_unmap(&r);
	close(fd);
}

static void map_userpage(void)
{
	unsigned int s;

	for (s = 0; s < ARRAY_SIZE(map_sources); s++) {
		userpage(map_sources[s], 0);
		userpage(map_sources[s], 1);
	}
}

/* In a child: touch, and let the parent see the signal. */
static const char *touched(volatile unsigned char *p, bool write)
{
	static char text[16];
	pid_t pid = fork_quiet();
	int status;

	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		if (write)
			*p = 1;
		else
			(void)*p;
		_exit(0);
	}
	status = wait_child(pid);
	if (WIFSIGNALED(status)) {
		snprintf(text, sizeof(text), "signal%d", WTERMSIG(status));
		return text;
	}
	return "ok";
}

static void map_use(void)
{
	int fd = map_event("sw-dummy", 0, -1);
	unsigned char *p = mmap(NULL, 5 * page_size, RW, MAP_SHARED, fd, 0), *q;

	if (p == MAP_FAILED)
		die("mmap");
	/* The mapping is not copied to children. */
	say("child-read", "%s", touched(p, false));
	say("mprotect-r", "%s", res(neg(mprotect(p, 5 * page_size, PROT_READ))));
	say("mprotect-rw", "%s", res(neg(mprotect(p, 5 * page_size, RW))));
	say("mprotect-rwx", "%s", res(neg(mprotect(p, 5 * page_size, RW | PROT_EXEC))));
	say("madvise-dofork", "%s", res(neg(madvise(p, 5 * page_size, MADV_DOFORK))));
	say("madvise-dontneed", "%s", res(neg(madvise(p, 5 * page_size, MADV_DONTNEED))));
	say("madvise-dodump", "%s", res(neg(madvise(p, 5 * page_size, MADV_DODUMP))));
	say("madvise-remove", "%s", res(neg(madvise(p, 5 * page_size, MADV_REMOVE))));
	say("mlock", "%s", res(neg(mlock(p, 5 * page_size))));
	say("msync", "%s", res(neg(msync(p, 5 * page_size, MS_SYNC))));
	q = mremap(p, 5 * page_size, 9 * page_size, MREMAP_MAYMOVE);
	say("mremap-grow", "%s", q == MAP_FAILED ? err_name(errno) : "ok");
	q = mremap(p, 5 * page_size, 5 * page_size, MREMAP_MAYMOVE | MREMAP_FIXED,
		   p + 64 * page_size);
	say("mremap-move", "%s", q == MAP_FAILED ? err_name(errno) : "ok");
	if (q != MAP_FAILED)
		p = q;
	say("munmap-middle", "%s", res(neg(munmap(p + 2 * page_size, page_size))));
	say("map-while-partly-unmapped", "%s", res(map_at(fd, 5, RW, MAP_SHARED, 0)));
	say("map-other-size-meanwhile", "%s", res(map_at(fd, 9, RW, MAP_SHARED, 0)));
	say("munmap-rest", "%s", res(neg(munmap(p, 5 * page_size))));
	say("map-other-size-after", "%s", res(map_at(fd, 9, RW, MAP_SHARED, 0)));
	close(fd);
}

static void map_write(void)
{
	unsigned char *p;
	int fd, prot;

	for (prot = 0; prot < 2; prot++) {
		const char *names[2][4] = {
			{ "read-only,first-page", "read-only,data", "read-only,mprotect-rw",
			  "read-only,first-page-after" },
			{ "read-write,first-page", "read-write,data", "read-write,mprotect-rw",
			  "read-write,first-page-after" },
		};
		unsigned int i;

		/* MAP_SHARED is not inherited: map in the child that touches. */
		for (i = 0; i < 2; i++) {
			pid_t pid = fork_quiet();
			int status;

			if (!pid) {
				fd = map_event("sw-dummy", 0, -1);
				p = mmap(NULL, 3 * page_size, prot ? RW : PROT_READ, MAP_SHARED,
					 fd, 0);
				if (p == MAP_FAILED)
					_exit(1);
				((volatile unsigned char *)p)[i * page_size + 1000] = 1;
				_exit(0);
			}
			status = wait_child(pid);
			say(names[prot][i], "%s%d", WIFSIGNALED(status) ? "signal" : "exit",
			    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
		}
		fd = map_event("sw-dummy", 0, -1);
		p = mmap(NULL, 3 * page_size, prot ? RW : PROT_READ, MAP_SHARED, fd, 0);
		say(names[prot][2], "%s", res(neg(mprotect(p, 3 * page_size, RW))));
		munmap(p, 3 * page_size);
		close(fd);
	}
}

static void map_life(void)
{
	struct perf_event_attr a;
	struct ring r;
	u64 head;
	int fd;

	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	a.sample_period = 1;
	a.sample_type = PERF_SAMPLE_IP;
	attr_set_bits(&a, 1);
	fd = must_open(&a);
	ring_map(&r, fd, 4, RW);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	make_faults(4);
	close(fd);
	head = r.page->data_head;
	make_faults(4);
	say("counts-after-close", "%d", r.page->data_head > head);
	ring_take(&r);
	say("records-after-close", "%s", ring_story(&r));
	ring_unmap(&r);
	fd = must_open(&a);
	ring_map(&r, fd, 4, RW);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	make_faults(4);
	ring_unmap(&r);
	make_faults(4);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	ring_map(&r, fd, 4, RW);
	say("new-buffer-head", "%llu", (unsigned long long)r.page->data_head);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	make_faults(2);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	ring_take(&r);
	say("new-buffer-records", "%s", ring_story(&r));
	ring_unmap(&r);
	close(fd);
	/* Many buffers, opened and closed: none may be left. */
	for (head = 0; head < 50; head++) {
		fd = must_open(&a);
		if (ring_map(&r, fd, 16, RW))
			break;
		ring_unmap(&r);
		close(fd);
	}
	say("50-times", "%llu", (unsigned long long)head);
}

const struct section map_sections[] = {
	{ "map-sizes", map_sizes },
	{ "map-flags", map_flags },
	{ "map-second", map_second },
	{ "map-userpage", map_userpage },
	{ "map-use", map_use },
	{ "map-write", map_write },
	{ "map-life", map_life },
	{ }
};
