// SPDX-License-Identifier: GPL-2.0
/*
 * hashjob.c - the demo's workload with symbols: hash a file, byte by byte.
 *
 * Three levels of calls under main(), kept apart so that a call graph shows
 * them; built with frame pointers. Usage: hashjob FILE [ROUNDS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>

#define KEEP __attribute__((noipa))

static KEEP uint64_t mix(uint64_t h, unsigned char c)
{
	h ^= c;
	h *= 0x100000001b3ULL;
	return h ^ (h >> 29);
}

static KEEP uint64_t hash_block(uint64_t h, const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		h = mix(h, p[i]);
	return h;
}

static KEEP int hash_file(const char *name, uint64_t *h)
{
	static unsigned char block[65536];
	FILE *f = fopen(name, "r");
	size_t n;

	if (!f) {
		perror(name);
		return -1;
	}
	while ((n = fread(block, 1, sizeof(block), f)) > 0)
		*h = hash_block(*h, block, n);
	fclose(f);
	return 0;
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 1;
	uint64_t h = 0xcbf29ce484222325ULL;

	if (argc < 2 || rounds < 1) {
		fprintf(stderr, "usage: hashjob FILE [ROUNDS]\n");
		return 2;
	}
	while (rounds--)
		if (hash_file(argv[1], &h))
			return 1;
	printf("%016llx  %s\n", (unsigned long long)h, argv[1]);
	return 0;
}
