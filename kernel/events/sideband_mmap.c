// SPDX-License-Identifier: GPL-2.0
/*
 * Records about mappings: MMAP and MMAP2.
 *
 * mm calls perf_event_mmap() when current has made a mapping or changed its protection, with the
 * mmap lock held for writing; it may sleep.  Making the record is dear (a path, perhaps a build
 * id from the file), so it starts only after somebody is known to want it, happens once, and each
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
#include <linux/uio.h>

#include "sources.h"

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

/* All that the records of one mapping may need. */
struct mmap_news {
	struct place	place;		/* without the ids, which differ from event to event */
	struct file_id	file;
	struct build_id	build;		/* size 0: unknown */
	struct access	access;
	u16		misc;
	char		*name;
	unsigned int	name_size;
	char		short_name[16];	/* of what is not a file; cut if need be */
	char		*buf;
};

static void write_mmap(struct pevent *e, void *arg)
{
	struct mmap_news *news = arg;
	struct place place = news->place;
	struct kvec piece[4] = { { &place, sizeof(place) } };
	u32 type = PERF_RECORD_MMAP;
	u16 misc = news->misc;
	unsigned int nr = 1;

	place.pid = pe_event_pid(e, current);
	place.tid = pe_event_tid(e, current);

	if (e->attr.mmap2) {
		type = PERF_RECORD_MMAP2;
		if (e->attr.build_id && news->build.size) {
			misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
			piece[nr++] = (struct kvec){ &news->build, sizeof(news->build) };
		} else {
			piece[nr++] = (struct kvec){ &news->file, sizeof(news->file) };
		}
		piece[nr++] = (struct kvec){ &news->access, sizeof(news->access) };
	}
	piece[nr++] = (struct kvec){ news->name, news->name_size };

	pe_sideband_write(e, type, misc, piece, nr);
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
 * Fills in the path and identity of @file.  Return: NULL, or the words that stand for a name
 * which cannot be told; then the identity stays zero.
 */
static const char *describe_file(struct mmap_news *news, struct file *file)
{
	const struct inode *inode = file_user_inode(file);
	dev_t dev = inode->i_sb->s_dev;
	char *path;

	news->buf = kmalloc(PATH_MAX, GFP_KERNEL);
	if (!news->buf)
		return "//enomem";

	/* The path ends where d_path() was told that the buffer ends: leave room for padding. */
	path = d_path(file_user_path(file), news->buf, PATH_MAX - sizeof(u64));
	if (IS_ERR(path))
		return "//toolong";

	news->name = path;
	news->file = (struct file_id){
		.maj		= MAJOR(dev),
		.min		= MINOR(dev),
		.ino		= inode->i_ino,
		.generation	= inode->i_generation,
	};
	return NULL;
}

static void describe(struct mmap_news *news, struct vm_area_struct *vma)
{
	const char *word;

	news->place.start = vma->vm_start;
	news->place.len = vma->vm_end - vma->vm_start;
	news->place.pgoff = (u64)vma->vm_pgoff << PAGE_SHIFT;
	news->access = access_of(vma);
	news->misc = PERF_RECORD_MISC_USER;
	if (!(vma->vm_flags & VM_EXEC))
		news->misc |= PERF_RECORD_MISC_MMAP_DATA;

	word = vma->vm_file ? describe_file(news, vma->vm_file) : special_name(vma);
	if (word) {
		strscpy(news->short_name, word);
		news->name = news->short_name;
	}
	news->name_size = pe_sideband_pad(news->name);

	if (atomic_read(&pe_build_id_users)) {
		u32 size = 0;

		if (!build_id_parse_nofault(vma, news->build.id, &size))
			news->build.size = size;
	}
}

/**
 * perf_event_mmap() - current has a new mapping
 * @vma: the mapping, complete
 *
 * Task context, mmap lock held.
 */
void perf_event_mmap(struct vm_area_struct *vma)
{
	struct mmap_news news = {};
	u32 kind = vma->vm_flags & VM_EXEC ? BIT(PE_SB_MMAP) : BIT(PE_SB_MMAP_DATA);

	if (pe_addr_filters_used())
		pe_addr_filters_mmap(vma);
	if (!pe_sideband_used(PE_SB_MMAP) && !pe_sideband_used(PE_SB_MMAP_DATA))
		return;
	if (!pe_sideband_wanted(kind, NULL))
		return;

	describe(&news, vma);
	pe_sideband_each(kind, NULL, write_mmap, &news);
	kfree(news.buf);
}
