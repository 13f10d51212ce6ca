// SPDX-License-Identifier: GPL-2.0
/*
 * Section about the records of other things than tasks and names: namespaces,
 * symbols, BPF programs, cgroups, code that is changed, build ids. Each is asked
 * for by an event of this task, and provoked.
 */
#include "abi.h"
#include <linux/elf.h>
#include <sched.h>
#include <sys/stat.h>

#define RW (PROT_READ | PROT_WRITE)

static void enter_namespaces(void)
{
	pid_t pid = fork_quiet();

	if (!pid)
		_exit(unshare(CLONE_NEWUTS) != 0);
	say("unshare-exit", "%d", WEXITSTATUS(wait_child(pid)));
	unshare(CLONE_NEWUTS);
}

static void load_program(void)
{
	int prog = bpf_program();

	if (prog < 0)
		say("program", "%s", res(prog));
	else
		close(prog);
}

/* Cgroups of version 2 are known to the controller once there is any controller below the root. */
static void make_cgroup(void)
{
	static const char dir[] = "/sys/fs/cgroup/abi-diff";

	if (file_write("/sys/fs/cgroup/cgroup.subtree_control", "+pids"))
		die("no cgroup2 at /sys/fs/cgroup");
	if (mkdir(dir, 0755) || rmdir(dir))
		die(dir);
}

static void use_tracepoint(void)
{
	static const char enable[] = "/sys/kernel/tracing/events/sched/sched_process_wait/enable";

	say("tracepoint-on", "%s", res(file_write(enable, "1")));
	say("tracepoint-off", "%s", res(file_write(enable, "0")));
}

/* The same file first without and then with a note that has a build id. */
static void map_program(void)
{
	static const struct {
		struct elf64_hdr head;
		struct elf64_phdr segment;
		struct elf64_note note;
		char name[4];
		unsigned char id[20];
	} elf = {
		.head = {
			.e_ident = ELFMAG "\2\1\1",
			.e_type = ET_DYN,
			.e_phoff = sizeof(elf.head),
			.e_phnum = 1,
		},
		.segment = {
			.p_type = PT_NOTE,
			.p_offset = sizeof(elf.head) + sizeof(elf.segment),
			.p_filesz = sizeof(elf.note) + sizeof(elf.name) + sizeof(elf.id),
		},
		.note = {
			.n_namesz = sizeof(elf.name),
			.n_descsz = sizeof(elf.id),
			.n_type = 3,	/* NT_GNU_BUILD_ID */
		},
		.name = "GNU",
		.id = { 1, 2, 3 },
	};
	int file = memfd_create("abi", 0), i;

	for (i = 0; i < 2; i++) {
		munmap(mmap(NULL, page_size, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0),
		       page_size);
		if (!i && write(file, &elf, sizeof(elf)) != sizeof(elf))
			die("write to a memfd");
	}
	close(file);
}

static const struct {
	const char *name;
	u64 bits;
	void (*provoke)(void);
} side_kinds[] = {
	{ "namespaces", 1ull << 28, enter_namespaces },
	{ "ksymbol", 1ull << 29, load_program },
	{ "bpf", 1ull << 30, load_program },
	{ "cgroup", 1ull << 32, make_cgroup },
	{ "text-poke", 1ull << 33, use_tracepoint },
	{ "build-id", 1ull << 34 | 1ull << 8 | 1ull << 23, map_program },
};

static void side_records(void)
{
	unsigned int k;

	for (k = 0; k < ARRAY_SIZE(side_kinds); k++) {
		struct perf_event_attr a;
		struct ring r;
		int fd;

		attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
		attr_set_bits(&a, side_kinds[k].bits);
		fd = pe_open(&a, 0, -1, -1, 0);
		if (fd < 0) {
			say(side_kinds[k].name, "%s", res(fd));
			continue;
		}
		ring_map(&r, fd, 8, RW);
		ring_take(&r);
		side_kinds[k].provoke();
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		ring_take(&r);
		/* How many instructions a tracepoint changes depends on the compiler. */
		if (side_kinds[k].provoke == use_tracepoint)
			say(side_kinds[k].name, "%s",
			    ring_count(&r, PERF_RECORD_TEXT_POKE) ? "told" : "none");
		else
			say(side_kinds[k].name, "%s", ring_story(&r));
		ring_unmap(&r);
		close(fd);
	}
}

const struct section object_sections[] = {
	{ "side-records", side_records },
	{ }
};
