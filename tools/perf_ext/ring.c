// SPDX-License-Identifier: GPL-2.0
/* ring.c - records of a mapped buffer, one by one; starting a program that is watched. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "command.h"

#define DATA_PAGES	64

void ring_map(struct ring *ring, int fd)
{
	long page = sysconf(_SC_PAGESIZE);

	ring->fd = fd;
	ring->size = (uint64_t)page * DATA_PAGES;
	ring->page = mmap(NULL, (size_t)(ring->size + (uint64_t)page), PROT_READ | PROT_WRITE,
			  MAP_SHARED, fd, 0);
	if (ring->page == MAP_FAILED)
		refused("mmap", -errno);
}

/* A record may go round the end of the buffer. */
static void copy(const struct ring *ring, uint64_t from, void *to, size_t size)
{
	const uint8_t *data = (const uint8_t *)ring->page + ring->page->data_offset;
	uint64_t at = from & (ring->size - 1);
	size_t first = size < ring->size - at ? size : ring->size - at;

	memcpy(to, data + at, first);
	memcpy((uint8_t *)to + first, data, size - first);
}

const union record *ring_next(struct ring *ring)
{
	static union record record;
	uint64_t tail = ring->page->data_tail;

	if (tail == __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE))
		return NULL;
	copy(ring, tail, &record, sizeof(record.header));
	copy(ring, tail, &record, record.header.size);
	__atomic_store_n(&ring->page->data_tail, tail + record.header.size, __ATOMIC_RELEASE);
	return &record;
}

pid_t start_child(char **argv, int *go)
{
	int tube[2];
	pid_t pid;
	char c;

	if (pipe(tube))
		fail("pipe: %s", strerror(errno));
	pid = fork();
	if (pid < 0)
		fail("fork: %s", strerror(errno));
	if (!pid) {
		close(tube[1]);
		if (read(tube[0], &c, 1) != 1)
			_exit(1);
		close(tube[0]);
		execvp(argv[0], argv);
		fprintf(stderr, "pfx: %s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	close(tube[0]);
	*go = tube[1];
	return pid;
}

void let_go(int go)
{
	if (write(go, "", 1) != 1)
		fail("the program has gone");
	close(go);
}
