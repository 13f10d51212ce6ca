// SPDX-License-Identifier: GPL-2.0
/*
 * Records about mappings: MMAP and MMAP2.
 *
 * mm calls perf_event_mmap() when current has made a mapping or changed its protection, with the
 * mmap lock held for writing; it may sleep.  Making the record is dear (a path, perhaps a build
 * id from the file), so it starts only after an event is known to want it, happens once, and each
 * event then takes the pieces its attr asks for.
 *
 * Layouts, after struct perf_event_header and before the sample_id trailer:
 *
 *   both        u32 pid, tid; u64 start, len, pgoff (in bytes)
 *   MMAP2 adds  u32 maj, min; u64 ino, ino_generation
 *       or      u8 build_id_size, zero[3], build_id[20]    with MISC_MMAP_BUILD_ID
 *               u32 prot, flags
 *   both        char name[], ended and padded with zeroes to 8
 *
 * misc tells USER, MMAP_DATA for what is not executable, and which form MMAP2 has.
 */
#include <linux/buildid.h>
#include <linux/fs.h>
#include <linux/hugetlb_inline.h>
#include <linux/mman.h>

#include "sources.h"

atomic_t pe_build_id_users;		/* counted by life/account.c */

struct place {
	u32	pid;
	u32	tid;
	u64	start;
	u64	len;
	u64	pgoff;
};

struct file_id {
	u32	maj;
	u32	min;
	u64	ino;
	u64	generation;
};

struct build_id {
	u8	size;
	u8	zero[3];
	u8	id[BUILD_ID_SIZE_MAX];
};

struct access {
	u32	prot;
	u32	flags;
};

static_assert(sizeof(struct place) == 32);
static_assert(sizeof(struct file_id) == 24);
static_assert(sizeof(struct build_id) == sizeof(struct file_id));

/* What MMAP2 has in front of the name, and MMAP the first part of. */
struct mmap2_body {
	struct place	place;		/* ids are filled in for each event */
	struct file_id	file;
	struct access	access;
};

static_assert(offsetof(struct mmap2_body, file) == 32);
static_assert(offsetof(struct mmap2_body, access) == 56);
static_assert(sizeof(struct mmap2_body) == 64);

#define USUAL_PATH	256

/* All that the records of one mapping may need. */
struct mmap_news {
	struct mmap2_body	body;
	struct build_id		build;		/* size 0: unknown */
	u16			misc;
	char			*name;
	unsigned int		name_size;
	char			*long_path;	/* allocated, or NULL */
	char			room[USUAL_PATH] __aligned(sizeof(u64));
};

static void pe_sb_write_mmap(struct pe_event *e, void *arg)
{
	struct mmap_news *news = arg;
	struct mmap2_body *body = &news->body;
	struct kvec name = { news->name, news->name_size };

	pe_current_ids(e, &body->place.pid, &body->place.tid);

	if (!e->attr.mmap2) {
		struct kvec piece[] = { { &body->place, sizeof(body->place) }, name };

		pe_record_write(e, PERF_RECORD_MMAP, news->misc, piece, ARRAY_SIZE(piece));
	} else if (e->attr.build_id && news->build.size) {
		struct kvec piece[] = {
			{ &body->place, sizeof(body->place) },
			{ &news->build, sizeof(news->build) },
			{ &body->access, sizeof(body->access) },
			name,
		};

		pe_record_write(e, PERF_RECORD_MMAP2, news->misc | PERF_RECORD_MISC_MMAP_BUILD_ID,
				piece, ARRAY_SIZE(piece));
	} else {
		struct kvec piece[] = { { body, sizeof(*body) }, name };

		pe_record_write(e, PERF_RECORD_MMAP2, news->misc, piece, ARRAY_SIZE(piece));
	}
}

static struct access access_of(const struct vm_area_struct *vma)
{
	unsigned long vm = vma->vm_flags;
	struct access access = {
		.prot = (vm & VM_READ ? PROT_READ : 0) |
			(vm & VM_WRITE ? PROT_WRITE : 0) |
			(vm & VM_EXEC ? PROT_EXEC : 0),
		.flags = (vm & VM_MAYSHARE ? MAP_SHARED : MAP_PRIVATE) |
			 (vm & VM_LOCKED ? MAP_LOCKED : 0),
	};

	if (is_vm_hugetlb_page((struct vm_area_struct *)vma))
		access.flags |= MAP_HUGETLB;
	return access;
}

/* The name of a mapping that is not of a file; same words as in /proc/<pid>/maps, or //anon. */
static const char *special_name(struct vm_area_struct *vma)
{
	const char *name = NULL;

	if (vma->vm_ops && vma->vm_ops->name)
		name = vma->vm_ops->name(vma);
	if (!name)
		name = arch_vma_name(vma);
	if (name)
		return name;
	if (vma_is_initial_heap(vma))
		return "[heap]";
	return vma_is_initial_stack(vma) ? "[stack]" : "//anon";
}

/*
 * The path of @file, at the end of @buf, which is aligned to 8.  d_path() ends it where it was told
 * that the buffer ends; the zeroes behind are the padding.
 */
static bool find_path(struct mmap_news *news, struct file *file, char *buf, unsigned int size)
{
	char *end = buf + size - sizeof(u64), *path;

	path = d_path(file_user_path(file), buf, size - sizeof(u64));
	if (IS_ERR(path))
		return false;
	*(u64 *)end = 0;
	news->name = path;
	news->name_size = ALIGN(end - path, sizeof(u64));
	return true;
}

/*
 * Fills in path and identity of @file.  Return: NULL, or the words that stand for a path which
 * cannot be told; then the identity is zero.
 */
static const char *describe_file(struct mmap_news *news, struct file *file)
{
	const struct inode *inode = file_user_inode(file);
	dev_t dev = inode->i_sb->s_dev;

	if (unlikely(!find_path(news, file, news->room, sizeof(news->room)))) {
		news->long_path = kmalloc(PATH_MAX, GFP_KERNEL);
		if (!news->long_path)
			return "//enomem";
		if (!find_path(news, file, news->long_path, PATH_MAX))
			return "//toolong";
	}
	news->body.file = (struct file_id){
		.maj		= MAJOR(dev),
		.min		= MINOR(dev),
		.ino		= inode->i_ino,
		.generation	= inode->i_generation,
	};
	return NULL;
}

/* A name of at most 15 characters. */
static void describe_other(struct mmap_news *news, const char *word)
{
	news->body.file = (struct file_id){};
	strscpy(news->room, word, 16);
	news->name = news->room;
	news->name_size = pe_sideband_pad(news->name);
}

static void describe(struct mmap_news *news, struct vm_area_struct *vma)
{
	struct file *file = vma->vm_file;
	const char *word;
	u32 size = 0;

	news->body.place.start = vma->vm_start;
	news->body.place.len = vma->vm_end - vma->vm_start;
	news->body.place.pgoff = (u64)vma->vm_pgoff << PAGE_SHIFT;
	news->body.access = access_of(vma);
	news->misc = PERF_RECORD_MISC_USER;
	if (!(vma->vm_flags & VM_EXEC))
		news->misc |= PERF_RECORD_MISC_MMAP_DATA;

	word = file ? describe_file(news, file) : special_name(vma);
	if (word)
		describe_other(news, word);

	news->build.size = 0;
	if (unlikely(atomic_read(&pe_build_id_users))) {
		news->build = (struct build_id){};
		if (!build_id_parse_nofault(vma, news->build.id, &size))
			news->build.size = size;
	}
}

/* Not inlined, for its room on the stack. */
static noinline void tell_of(struct vm_area_struct *vma, u32 kind)
{
	struct mmap_news news __uninitialized;

	news.long_path = NULL;
	describe(&news, vma);
	pe_sideband_each(kind, NULL, pe_sb_write_mmap, &news);
	if (unlikely(news.long_path))
		kfree(news.long_path);
}

/**
 * perf_event_mmap() - current has a new mapping
 * @vma: the mapping, complete
 *
 * Task context, mmap lock held.
 */
void perf_event_mmap(struct vm_area_struct *vma)
{
	enum pe_sideband kind = vma->vm_flags & VM_EXEC ? PE_SB_MMAP : PE_SB_MMAP_DATA;

	if (unlikely(pe_addr_filters_used()))
		pe_addr_filters_mmap(vma);
	if (unlikely(pe_sideband_used(kind)) && pe_sideband_wanted(BIT(kind), NULL))
		tell_of(vma, BIT(kind));
}
