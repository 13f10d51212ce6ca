// SPDX-License-Identifier: GPL-2.0
/*
 * sideband_mmap.c - the records about mappings: MMAP and MMAP2, to the last byte.
 */
#include "lib/sideband.h"
#include <sys/stat.h>
#include <sys/sysmacros.h>

static void check_mmap(const void *p, size_t len, off_t off, const char *name)
{
	struct pt_rec_mmap m;
	size_t padded = (strlen(name) + 8) & ~7ul;

	memcpy(&m, rec.body, sizeof(m));
	pt_eq(m.pid, getpid());
	pt_eq(m.tid, pt_tid());
	pt_eq(m.addr, pt_addr(p));
	pt_eq(m.len, len);
	pt_eq(m.pgoff, off);
	if (rec.h.type == PERF_RECORD_MMAP) {
		pt_eq(rec.h.size, 8 + sizeof(m) + padded);
		pt_check(!strcmp((char *)rec.body + sizeof(m), name), "name %s, expected %s",
			 rec.body + sizeof(m), name);
	} else {
		pt_eq(rec.h.size, 8 + sizeof(struct pt_rec_mmap2) + padded);
		pt_check(!strcmp((char *)rec.body + sizeof(struct pt_rec_mmap2), name),
			 "name %s, expected %s", rec.body + sizeof(struct pt_rec_mmap2), name);
	}
}

static void mmap_of_code(void)
{
	struct perf_event_attr attr = carrier();
	size_t page = (size_t)pt_page_size();
	void *p;

	attr.mmap = 1;
	start(&attr);
	p = map_self(3 * page, PROT_READ | PROT_EXEC, (off_t)(2 * page));
	expect(PERF_RECORD_MMAP);
	pt_eq(rec.h.misc, PERF_RECORD_MISC_USER);
	check_mmap(p, 3 * page, (off_t)(2 * page), own_path());
	/* Data is of no interest. */
	map_self(page, PROT_READ, 0);
	expect_nothing();
	/* Until it becomes code. */
	p = map_self(page, PROT_READ, (off_t)page);
	pt_need(!mprotect(p, page, PROT_READ | PROT_EXEC), "mprotect: %s", strerror(errno));
	expect(PERF_RECORD_MMAP);
	check_mmap(p, page, (off_t)page, own_path());
	/* Unmapping says nothing. */
	munmap(p, page);
	expect_nothing();
}

static void mmap_of_anonymous_memory(void)
{
	struct perf_event_attr attr = carrier();
	size_t page = (size_t)pt_page_size();
	struct pt_rec_mmap m;
	void *p;

	attr.mmap = 1;
	start(&attr);
	p = mmap(NULL, 5 * page, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		 -1, 0);
	pt_need(p != MAP_FAILED, "mmap: %s", strerror(errno));
	expect(PERF_RECORD_MMAP);
	memcpy(&m, rec.body, sizeof(m));
	/* Its offset is its address, as for every anonymous mapping. */
	check_mmap(p, 5 * page, (off_t)pt_addr(p), "//anon");
	expect_nothing();
}

static void mmap_data(void)
{
	struct perf_event_attr attr = carrier();
	size_t page = (size_t)pt_page_size();
	void *p;

	attr.mmap_data = 1;
	start(&attr);
	p = map_self(page, PROT_READ, 0);
	expect(PERF_RECORD_MMAP);
	pt_eq(rec.h.misc, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_DATA);
	check_mmap(p, page, 0, own_path());
	/* Data only: code needs the mmap bit. */
	map_self(page, PROT_READ | PROT_EXEC, 0);
	expect_nothing();
}

static void mmap2_fields(void)
{
	struct perf_event_attr attr = carrier();
	size_t page = (size_t)pt_page_size();
	struct pt_rec_mmap2 m;
	struct stat st;
	void *p;
	int fd;

	attr.mmap = 1;
	attr.mmap2 = 1;
	attr.sample_id_all = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_IDENTIFIER;
	fd = start(&attr);
	pt_need(!stat("/proc/self/exe", &st), "stat: %s", strerror(errno));
	p = map_self(page, PROT_READ | PROT_EXEC, (off_t)page);
	expect(PERF_RECORD_MMAP2);
	memcpy(&m, rec.body, sizeof(m));
	pt_eq(rec.h.misc, PERF_RECORD_MISC_USER);
	pt_eq(m.addr, pt_addr(p));
	pt_eq(m.maj, major(st.st_dev));
	pt_eq(m.min, minor(st.st_dev));
	pt_eq(m.ino, st.st_ino);
	pt_eq(m.prot, PROT_READ | PROT_EXEC);
	pt_eq(m.flags, MAP_PRIVATE);
	check_trailer(&attr, fd, (u32)getpid(), (u32)pt_tid(),
		      sizeof(m) + ((strlen(own_path()) + 8) & ~7ul));
	/* shared, writable, anonymous */
	p = mmap(NULL, page, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	expect(PERF_RECORD_MMAP2);
	memcpy(&m, rec.body, sizeof(m));
	pt_eq(m.addr, pt_addr(p));
	pt_eq(m.prot, PROT_READ | PROT_WRITE | PROT_EXEC);
	pt_eq(m.flags, MAP_SHARED);
	/* locked */
	p = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED,
		 -1, 0);
	expect(PERF_RECORD_MMAP2);
	memcpy(&m, rec.body, sizeof(m));
	pt_eq(m.addr, pt_addr(p));
	pt_eq(m.flags, MAP_PRIVATE | MAP_LOCKED);
	pt_eq(m.maj, 0);
	pt_eq(m.ino, 0);
	expect_nothing();
}

/* No request by itself: it gets what another event, wherever, makes the kernel look at. */
static void mmap2_alone(void)
{
	struct perf_event_attr attr = carrier(), other = carrier();
	size_t page = (size_t)pt_page_size();

	attr.mmap2 = 1;
	start(&attr);
	map_self(page, PROT_READ | PROT_EXEC, 0);
	expect_nothing();
	other.mmap_data = 1;
	pt_open(&other, 0, -1, -1, 0);
	map_self(page, PROT_READ | PROT_EXEC, 0);
	expect(PERF_RECORD_MMAP2);
	map_self(page, PROT_READ, 0);
	expect_nothing();
}

/* Names of all lengths modulo 8 are padded with zeros. */
static void mmap_name_padding(void)
{
	struct perf_event_attr attr = carrier();
	size_t page = (size_t)pt_page_size();
	char name[64] = "/tmp/perf_events_";
	int len;

	attr.mmap = 1;
	start(&attr);
	for (len = 0; len < 9; len++) {
		size_t i;
		void *p;
		int fd;

		strcat(name, "x");
		fd = open(name, O_RDWR | O_CREAT, 0700);
		pt_need(fd >= 0 && !ftruncate(fd, (off_t)page), "%s: %s", name, strerror(errno));
		p = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
		unlink(name);
		if (p == MAP_FAILED)
			pt_skip("/tmp does not map code: %s", strerror(errno));
		expect(PERF_RECORD_MMAP);
		check_mmap(p, page, 0, name);
		for (i = sizeof(struct pt_rec_mmap) + strlen(name); i < rec.h.size - 8u; i++)
			pt_eq(rec.body[i], 0);
	}
}

/* Longer than the name that there is room for at first. */
static void mmap_of_a_long_path(void)
{
	struct perf_event_attr attr = carrier();
	size_t page = (size_t)pt_page_size();
	char dir[256] = "/tmp/", name[512];
	int fd, i;
	void *p;

	attr.mmap = 1;
	start(&attr);
	memset(dir + 5, 'd', 200);
	pt_need(!mkdir(dir, 0700), "mkdir: %s", strerror(errno));
	snprintf(name, sizeof(name), "%s/", dir);
	memset(name + strlen(dir) + 1, 'f', 200);
	name[strlen(dir) + 201] = 0;
	fd = open(name, O_RDWR | O_CREAT, 0700);
	pt_need(fd >= 0 && !ftruncate(fd, (off_t)page), "%s: %s", name, strerror(errno));
	for (i = 0; i < 20; i++) {
		p = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
		if (p == MAP_FAILED)
			break;
		expect(PERF_RECORD_MMAP);
		check_mmap(p, page, 0, name);
	}
	unlink(name);
	rmdir(dir);
	if (p == MAP_FAILED)
		pt_skip("/tmp does not map code: %s", strerror(errno));
}

/* What the kernel itself has mapped there is named as in /proc/<pid>/maps. */
static void mmap_of_the_vdso(void)
{
	unsigned long long from = 0, to = 0, off = 0;
	struct perf_event_attr attr = carrier();
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];
	size_t len;
	void *p;

	pt_need(f, "maps: %s", strerror(errno));
	while (!to && fgets(line, sizeof(line), f))
		if (strstr(line, "[vdso]"))
			sscanf(line, "%llx-%llx %*s %llx", &from, &to, &off);
	fclose(f);
	if (!to)
		pt_skip("there is no vdso");
	p = (void *)(uintptr_t)from;
	len = (size_t)(to - from);
	attr.mmap = 1;
	start(&attr);
	/* Nothing here may call it, as it is no code for a moment. */
	pt_need(!mprotect(p, len, PROT_READ), "mprotect: %s", strerror(errno));
	pt_need(!mprotect(p, len, PROT_READ | PROT_EXEC), "mprotect: %s", strerror(errno));
	expect(PERF_RECORD_MMAP);
	check_mmap(p, len, (off_t)off, "[vdso]");
	expect_nothing();
}

static const struct pt_case cases[] = {
	{ "mmap_of_code", mmap_of_code },
	{ "mmap_of_anonymous_memory", mmap_of_anonymous_memory },
	{ "mmap_of_the_vdso", mmap_of_the_vdso },
	{ "mmap_data", mmap_data },
	{ "mmap2_fields", mmap2_fields },
	{ "mmap2_alone", mmap2_alone },
	{ "mmap_name_padding", mmap_name_padding },
	{ "mmap_of_a_long_path", mmap_of_a_long_path },
};

PT_MAIN(cases)
