// SPDX-License-Identifier: GPL-2.0
/*
 * build_id.c - MMAP2 records that say which program a file is by the build id
 * in its notes, instead of by device and inode.
 *
 * Files are made here: an ELF header, a program header or two, notes.
 */
#include "lib/ptest.h"
#include <linux/elf.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define BUILD_ID	3	/* type of the note */
#define FILE_NAME	"/tmp/perf_events_build_id"
#define NONE		-1	/* size of the build id of a file without */

static struct pt_record rec;
static struct pt_ring ring;

static const u8 bytes[24] = {
	0x81, 0x02, 0x73, 0x04, 0xe5, 0x06, 0x97, 0x08, 0xa9, 0x10, 0x1b, 0x12,
	0xdd, 0x14, 0xff, 0x16, 0x27, 0x18, 0x39, 0x20, 0x21, 0x22, 0x23, 0x24,
};

static struct perf_event_attr carrier(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));

	attr.mmap = 1;
	attr.mmap2 = 1;
	attr.build_id = 1;
	return attr;
}

static void start(struct perf_event_attr *attr)
{
	pt_pin(0);
	pt_map(&ring, pt_open(attr, 0, attr->inherit ? 0 : -1, -1, 0), 64);
	/* Of the buffer itself */
	pt_drain(&ring);
}

/* ---- files ---- */

struct image {
	size_t size;
	u8 byte[8192];
};

static struct image file;

static size_t append(const void *data, size_t size)
{
	size_t at = file.size;

	pt_need(at + size <= sizeof(file.byte), "a file too long");
	memcpy(file.byte + at, data, size);
	file.size += size;
	return at;
}

/* Each part of a note takes whole words. */
static size_t append_note(u32 type, const char *name, u32 id_size)
{
	u32 name_size = (u32)strlen(name) + 1;
	const struct elf64_note head = {
		.n_namesz = name_size,
		.n_descsz = id_size,
		.n_type = type,
	};
	size_t at = append(&head, sizeof(head));
	static const u8 zero[4];

	append(name, name_size);
	append(zero, -name_size & 3);
	append(bytes, id_size);
	append(zero, -id_size & 3);
	return at;
}

static void make_head64(unsigned int segments, u16 type)
{
	static const struct elf64_phdr none = { .p_type = PT_NULL };
	const struct elf64_hdr head = {
		.e_ident = ELFMAG "\2\1\1",
		.e_type = type,
		.e_phoff = sizeof(head),
		.e_phnum = (u16)segments,
	};

	file.size = 0;
	append(&head, sizeof(head));
	while (segments--)
		append(&none, sizeof(none));
}

/* Segment i of the file: its notes are what was appended from at on. */
static void set_segment64(unsigned int i, size_t at)
{
	const struct elf64_phdr segment = {
		.p_type = PT_NOTE,
		.p_offset = at,
		.p_filesz = file.size - at,
	};

	memcpy(file.byte + sizeof(struct elf64_hdr) + i * sizeof(segment), &segment,
	       sizeof(segment));
}

static void make_usual(u32 type, const char *name, u32 id_size)
{
	make_head64(1, ET_DYN);
	set_segment64(0, append_note(type, name, id_size));
}

static void make_32(u32 id_size)
{
	struct elf32_hdr head = {
		.e_ident = ELFMAG "\1\1\1",
		.e_type = ET_EXEC,
		.e_phoff = sizeof(head),
		.e_phnum = 1,
	};
	struct elf32_phdr segment = {
		.p_type = PT_NOTE,
		.p_offset = sizeof(head) + sizeof(segment),
	};

	file.size = 0;
	append(&head, sizeof(head));
	append(&segment, sizeof(segment));
	append_note(BUILD_ID, "GNU", id_size);
	segment.p_filesz = (u32)(file.size - segment.p_offset);
	memcpy(file.byte + sizeof(head), &segment, sizeof(segment));
}

static int write_file(const char *name)
{
	int fd;

	unlink(name);
	fd = open(name, O_RDWR | O_CREAT, 0700);
	pt_need(fd >= 0, "%s: %s", name, strerror(errno));
	pt_need(write(fd, file.byte, file.size) == (ssize_t)file.size, "write: %s",
		strerror(errno));
	return fd;
}

static void map_file(int fd, int prot)
{
	size_t page = (size_t)pt_page_size();
	void *p = mmap(NULL, page, prot, MAP_PRIVATE, fd, 0);

	if (p == MAP_FAILED)
		pt_skip("/tmp does not map code: %s", strerror(errno));
	munmap(p, page);
}

/* ---- records ---- */

/* What MMAP2 has between the offset and the protection, with a build id. */
struct build_id {
	u8 size, zero[3];
	u8 id[20];
};

static struct pt_rec_mmap2 next_record(const char *name)
{
	struct pt_rec_mmap2 m;

	pt_need(pt_next(&ring, &rec), "no record");
	pt_need(rec.h.type == PERF_RECORD_MMAP2, "record of type %u", rec.h.type);
	memcpy(&m, rec.body, sizeof(m));
	pt_eq(rec.h.size, sizeof(rec.h) + sizeof(m) + ((strlen(name) + 8) & ~7ul));
	pt_check(!strcmp((char *)rec.body + sizeof(m), name), "%s", rec.body + sizeof(m));
	return m;
}

static void check_build_id(const u8 *want, int size)
{
	struct build_id b;
	unsigned int i;

	memcpy(&b, rec.body + offsetof(struct pt_rec_mmap2, maj), sizeof(b));
	pt_eq(b.size, size);
	for (i = 0; i < sizeof(b.zero); i++)
		pt_eq(b.zero[i], 0);
	for (i = 0; i < sizeof(b.id); i++)
		pt_eq(b.id[i], (int)i < size ? want[i] : 0);
}

static void check_file_id(const struct pt_rec_mmap2 *m, int fd)
{
	struct stat st;

	pt_need(!fstat(fd, &st), "fstat: %s", strerror(errno));
	pt_eq(m->maj, major(st.st_dev));
	pt_eq(m->min, minor(st.st_dev));
	pt_eq(m->ino, st.st_ino);
}

/* A build id of so many bytes, or none; the rest is there in any case. */
static void check_record(int fd, int prot, int size)
{
	u16 misc = PERF_RECORD_MISC_USER | (prot & PROT_EXEC ? 0 : PERF_RECORD_MISC_MMAP_DATA);
	struct pt_rec_mmap2 m = next_record(FILE_NAME);

	pt_eq(m.pid, getpid());
	pt_eq(m.tid, pt_tid());
	pt_eq(m.len, pt_page_size());
	pt_eq(m.pgoff, 0);
	pt_eq(m.prot, prot);
	pt_eq(m.flags, MAP_PRIVATE);
	pt_eq(rec.h.misc, size == NONE ? misc : misc | PERF_RECORD_MISC_MMAP_BUILD_ID);
	if (size == NONE)
		check_file_id(&m, fd);
	else
		check_build_id(bytes, size);
	pt_check(!pt_next(&ring, &rec), "a record too many");
}

/* The file as it is now. */
static void expect_id(int size)
{
	int fd = write_file(FILE_NAME);

	map_file(fd, PROT_READ | PROT_EXEC);
	check_record(fd, PROT_READ | PROT_EXEC, size);
	close(fd);
	unlink(FILE_NAME);
}

/* ---- cases ---- */

/* Up to 20 bytes; what is longer is none. */
static void sizes(void)
{
	struct perf_event_attr attr = carrier();
	unsigned int n;

	start(&attr);
	for (n = 0; n <= sizeof(bytes); n++) {
		make_usual(BUILD_ID, "GNU", n);
		expect_id(n && n <= 20 ? (int)n : NONE);
	}
}

static void places(void)
{
	struct perf_event_attr attr = carrier();
	size_t at;

	start(&attr);
	/* behind another note */
	make_head64(1, ET_EXEC);
	at = append_note(1, "GNU", 13);
	append_note(BUILD_ID, "longer name", 20);
	append_note(BUILD_ID, "GNU", 20);
	set_segment64(0, at);
	expect_id(20);
	/* in another segment */
	make_head64(3, ET_DYN);
	set_segment64(0, append_note(1, "GNU", 20));
	set_segment64(2, append_note(BUILD_ID, "GNU", 16));
	expect_id(16);
	/* on another page, and across two of them */
	make_head64(1, ET_DYN);
	file.size = 5000;
	set_segment64(0, append_note(BUILD_ID, "GNU", 20));
	expect_id(20);
	make_head64(1, ET_DYN);
	file.size = 4096 - 24;
	set_segment64(0, append_note(BUILD_ID, "GNU", 20));
	expect_id(20);
	make_32(20);
	expect_id(20);
}

static void files_without(void)
{
	struct perf_event_attr attr = carrier();

	start(&attr);
	make_head64(0, ET_DYN);
	expect_id(NONE);
	make_usual(1, "GNU", 20);
	expect_id(NONE);
	make_usual(BUILD_ID, "GNX", 20);
	expect_id(NONE);
	/* an object file; no ELF; one that ends inside its note; nothing */
	make_head64(1, ET_REL);
	set_segment64(0, append_note(BUILD_ID, "GNU", 20));
	expect_id(NONE);
	make_usual(BUILD_ID, "GNU", 20);
	file.byte[1] = 'e';
	expect_id(NONE);
	make_usual(BUILD_ID, "GNU", 20);
	set_segment64(0, file.size);
	expect_id(NONE);
	file.size = 0;
	expect_id(NONE);
	/* and one with, after all these */
	make_usual(BUILD_ID, "GNU", 20);
	expect_id(20);
}

/* Data has it as well. */
static void data(void)
{
	struct perf_event_attr attr = carrier();
	int fd;

	attr.mmap_data = 1;
	start(&attr);
	make_usual(BUILD_ID, "GNU", 20);
	fd = write_file(FILE_NAME);
	map_file(fd, PROT_READ);
	check_record(fd, PROT_READ, 20);
	unlink(FILE_NAME);
}

/* Anonymous memory has no file, whatever was mapped before. */
static void no_file(void)
{
	struct perf_event_attr attr = carrier();
	size_t page = (size_t)pt_page_size();
	struct pt_rec_mmap2 m;
	void *p;

	start(&attr);
	make_usual(BUILD_ID, "GNU", 20);
	expect_id(20);
	p = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	m = next_record("//anon");
	pt_eq(rec.h.misc, PERF_RECORD_MISC_USER);
	pt_eq(m.addr, pt_addr(p));
	pt_eq(m.maj, 0);
	pt_eq(m.min, 0);
	pt_eq(m.ino, 0);
	pt_eq(m.ino_generation, 0);
}

/* Each event gets what it asked for, of one mapping. */
static void who_asked(void)
{
	struct perf_event_attr attr = carrier();
	struct pt_ring with, without, old;
	struct pt_rec_mmap2 m;
	int fd;

	pt_pin(0);
	pt_map(&with, pt_open(&attr, 0, -1, -1, 0), 4);
	attr.build_id = 0;
	pt_map(&without, pt_open(&attr, 0, -1, -1, 0), 4);
	attr.build_id = 1;
	attr.mmap2 = 0;
	pt_map(&old, pt_open(&attr, 0, -1, -1, 0), 4);
	make_usual(BUILD_ID, "GNU", 20);
	fd = write_file(FILE_NAME);
	map_file(fd, PROT_READ | PROT_EXEC);
	ring = with;
	check_record(fd, PROT_READ | PROT_EXEC, 20);
	ring = without;
	check_record(fd, PROT_READ | PROT_EXEC, NONE);
	pt_need(pt_next(&old, &rec), "no record");
	pt_eq(rec.h.type, PERF_RECORD_MMAP);
	pt_eq(rec.h.misc, PERF_RECORD_MISC_USER);
	memcpy(&m, rec.body, sizeof(struct pt_rec_mmap));
	pt_eq(rec.h.size, sizeof(rec.h) + sizeof(struct pt_rec_mmap) +
			  ((strlen(FILE_NAME) + 8) & ~7ul));
	pt_eq(m.pid, getpid());
	unlink(FILE_NAME);
}

/* ---- this program ---- */

/* Reads the program's file up to its notes, and where they say so, the build id. */
static int own_build_id(const char *path, u8 *to)
{
	const struct elf64_hdr *head = (const void *)file.byte;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	unsigned int i;

	pt_need(read(fd, file.byte, sizeof(file.byte)) > (ssize_t)sizeof(*head), "%s: %s", path,
		strerror(errno));
	close(fd);
	for (i = 0; i < head->e_phnum; i++) {
		const struct elf64_phdr *segment = (const void *)(file.byte + head->e_phoff);
		size_t at, end;

		segment += i;
		at = segment->p_offset;
		end = at + segment->p_filesz;
		while (segment->p_type == PT_NOTE && at < end && end <= sizeof(file.byte)) {
			const struct elf64_note *note = (const void *)(file.byte + at);

			at += sizeof(*note) + ((note->n_namesz + 3) & ~3u);
			if (note->n_type == BUILD_ID && note->n_descsz <= 20) {
				memcpy(to, file.byte + at, note->n_descsz);
				return (int)note->n_descsz;
			}
			at += (note->n_descsz + 3) & ~3u;
		}
	}
	return NONE;
}

static int executed(int argc, char **argv)
{
	return argc == 2 && !strcmp(argv[1], "--executed") ? 0 : -1;
}

static void exec(void)
{
	struct perf_event_attr attr = carrier();
	unsigned int n = 0;
	char path[256];
	ssize_t len;
	u8 want[20];
	pid_t pid;
	int size;

	len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	pt_need(len > 0, "readlink: %s", strerror(errno));
	path[len] = 0;
	size = own_build_id(path, want);
	if (size == NONE)
		pt_skip("the linker gave this program no build id");
	attr.inherit = 1;
	start(&attr);
	pt_in_child(pid) {
		execl("/proc/self/exe", "program", "--executed", NULL);
		_exit(99);
	}
	pt_reap(pid);
	while (pt_next_of(&ring, &rec, PERF_RECORD_MMAP2)) {
		if (strcmp((char *)rec.body + sizeof(struct pt_rec_mmap2), path))
			continue;
		pt_eq(rec.h.misc, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
		check_build_id(want, size);
		n++;
	}
	pt_check(n > 0, "no record of the program");
}

static const struct pt_case cases[] = {
	{ "sizes", sizes },
	{ "places", places },
	{ "files_without", files_without },
	{ "data", data },
	{ "no_file", no_file },
	{ "who_asked", who_asked },
	{ "exec", exec },
};

int main(int argc, char **argv)
{
	pt_reexec_hook = executed;
	return pt_run(argc, argv, cases, PT_ARRAY_SIZE(cases));
}
