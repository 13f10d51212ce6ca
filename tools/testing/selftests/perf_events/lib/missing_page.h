/* SPDX-License-Identifier: GPL-2.0 */
/*
 * missing_page.h - a page that is missing until the test fills it: who touches it waits, and the
 * kernel likewise.
 */
#ifndef PTEST_MISSING_PAGE_H
#define PTEST_MISSING_PAGE_H

#include "ptest.h"
#include <linux/userfaultfd.h>

struct missing_page {
	int uffd;
	u8 *page;
};

static inline struct missing_page missing_page(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct missing_page m;

	m.uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (m.uffd < 0)
		pt_skip("userfaultfd: %s", strerror(errno));
	pt_need(!ioctl(m.uffd, UFFDIO_API, &api), "UFFDIO_API: %s", strerror(errno));
	m.page = pt_fresh_pages(1);
	reg.range.start = pt_addr(m.page);
	reg.range.len = (u64)pt_page_size();
	pt_need(!ioctl(m.uffd, UFFDIO_REGISTER, &reg), "UFFDIO_REGISTER: %s", strerror(errno));
	return m;
}

/* Somebody has touched it. */
static inline void missing_page_wait(const struct missing_page *m)
{
	struct uffd_msg msg;

	pt_need(read(m->uffd, &msg, sizeof(msg)) == sizeof(msg), "no fault");
	pt_eq(msg.event, UFFD_EVENT_PAGEFAULT);
}

/* It is there: a copy of another one, which is there as well, or zeroes. */
static inline void missing_page_fill(const struct missing_page *m, const void *from)
{
	struct uffdio_zeropage zero = {};
	struct uffdio_copy copy = { .src = pt_addr(from) };

	zero.range.start = pt_addr(m->page);
	copy.dst = pt_addr(m->page);
	zero.range.len = (u64)pt_page_size();
	copy.len = (u64)pt_page_size();
	if (from)
		pt_need(!ioctl(m->uffd, UFFDIO_COPY, &copy), "UFFDIO_COPY: %s", strerror(errno));
	else
		pt_need(!ioctl(m->uffd, UFFDIO_ZEROPAGE, &zero), "UFFDIO_ZEROPAGE: %s",
			strerror(errno));
}

static inline void missing_page_end(const struct missing_page *m)
{
	close(m->uffd);
}

#endif /* PTEST_MISSING_PAGE_H */
