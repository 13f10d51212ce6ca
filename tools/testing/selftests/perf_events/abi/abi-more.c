// SPDX-License-Identifier: GPL-2.0
/*
 * Sections about what few events ask for: the bits of rarer records and the
 * sample fields that drivers fill in, signals on overflow, removal on exec,
 * CPU hotplug.
 */
#include "abi.h"
#include "sweep.h"
#include <linux/elf.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#define RW (PROT_READ | PROT_WRITE)
#define KNOWN_BITS ((1ull << NR_ATTR_BITS) - 1)
#define KNOWN_SAMPLES ((1ull << NR_SAMPLE_BITS) - 1)

static void record_bits_alone(void)
{
	sweep_bits(record_bits, false);
}

static void record_bit_pairs(void)
{
	sweep_bit_pairs(record_bits, KNOWN_BITS);
}

static void driver_words(void)
{
	/* branch_sample_type, aux_watermark, aux_sample_size, aux_action, sig_data */
	static const unsigned char words[] = { 18, 19, 26, 28, 29, 30, 31 };

	sweep_words(words, sizeof(words));
}

static void driver_sample(void)
{
	sweep_samples(driver_samples);
}

static void driver_sample_pairs(void)
{
	sweep_sample_pairs(driver_samples, KNOWN_SAMPLES);
}

static void bpf_output_record_bits(void)
{
	sweep_bits(record_bits, true);
}

/* Sizes of the records with each of the sample bits, of one page fault. */
static void driver_sample_sizes(void)
{
	unsigned int b;

	for (b = 0; b < NR_SAMPLE_BITS; b++) {
		struct perf_event_attr a;
		struct ring r;
		int fd;

		if (!(driver_samples >> b & 1))
			continue;
		attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
		a.sample_period = 1;
		a.sample_type = 1ull << b;
		attr_set_bits(&a, 1);
		fd = pe_open(&a, 0, -1, -1, 0);
		if (fd < 0) {
			say(sample_name[b], "%s", res(fd));
			continue;
		}
		ring_map(&r, fd, 4, RW);
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		make_faults(3);
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		ring_take(&r);
		say(sample_name[b], "%s", ring_story(&r));
		ring_unmap(&r);
		close(fd);
	}
}

static void sigtrap_data(void)
{
	static const u64 with[] = {
		0, 1ull << 36, 1ull << 36 | 2, 1ull << 36 | 2 | 1ull << 35, 1ull << 36 | 1 << 4,
		1ull << 36 | 1 << 5,
	};
	static const u64 datas[] = { 0, 1, ~0ull };
	unsigned int w, d, p;

	for (w = 0; w < ARRAY_SIZE(with); w++)
		for (p = 0; p < 2; p++) {
			struct tally *t = tally_new();

			for (d = 0; d < ARRAY_SIZE(datas); d++) {
				struct perf_event_attr a;

				attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
				a.sample_period = p ? 1000000 : 0;
				a.sig_data = datas[d];
				attr_set_bits(&a, 1 | 1ull << 37 | with[w]);
				tally_add(t, res(try_open(&a)), "%llx",
					  (unsigned long long)datas[d]);
			}
			tally_say(t, "with=%llx,period=%u,data", (unsigned long long)with[w],
				  p ? 1000000 : 0);
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

static void hotplug(void)
{
	const char *online = "/sys/devices/system/cpu/cpu1/online";
	static const char *const sources[] = { "sw-page-faults", "sw-cpu-clock", "hw-cycles",
		"bp-w8" };
	unsigned int i;
	int fds[4];
	u64 v;

	if (nr_cpus < 2 || access(online, W_OK)) {
		say("skipped", "one CPU, or it cannot be taken offline");
		return;
	}
	for (i = 0; i < ARRAY_SIZE(sources); i++) {
		struct perf_event_attr a;

		source_attr(source_find(sources[i]), &a);
		fds[i] = pe_open(&a, -1, 1, -1, 0);
	}
	say("offline", "%s", res(file_write(online, "0")));
	for (i = 0; i < ARRAY_SIZE(sources); i++) {
		struct perf_event_attr a;

		source_attr(source_find(sources[i]), &a);
		say(sources[i], "open %s", res(try_open_at(&a, -1, 1, -1, 0)));
		say(sources[i], "task on it %s", res(try_open_at(&a, 0, 1, -1, 0)));
		if (fds[i] < 0)
			continue;
		say(sources[i], "read of the one before %ld", neg(read(fds[i], &v, 8)));
		say(sources[i], "enable %s", res(neg(ioctl(fds[i], PERF_EVENT_IOC_ENABLE, 0))));
	}
	say("online", "%s", res(file_write(online, "1")));
	for (i = 0; i < ARRAY_SIZE(sources); i++) {
		if (fds[i] < 0)
			continue;
		say(sources[i], "read after %ld", neg(read(fds[i], &v, 8)));
		close(fds[i]);
	}
}

/* ---- the side records: each asked for by an event of this task, each provoked ---- */

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

static void remove_on_exec(void)
{
	struct perf_event_attr a;
	u64 before, after;
	int p[2], fd;
	pid_t pid;
	char c;

	if (pipe(p) < 0)
		die("pipe");
	pid = fork_quiet();
	if (!pid) {
		close(p[1]);
		if (read(p[0], &c, 1) != 0)
			_exit(1);
		execl(self_path, "abi-diff", "--faults", NULL);
		_exit(9);
	}
	close(p[0]);
	attr_init(&a, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	attr_set_bits(&a, 1ull << 36);
	fd = pe_open(&a, pid, -1, -1, 0);
	if (fd < 0) {
		say("open", "%s", res(fd));
		close(p[1]);
		wait_child(pid);
		return;
	}
	close(p[1]);
	wait_child(pid);
	after = read_count(fd);
	before = 20;
	say("counted-after-exec", "%d", after >= before);
	close(fd);
}

const struct section more_sections[] = {
	{ "attr-record-bits", record_bits_alone },
	{ "attr-record-bit-pairs", record_bit_pairs },
	{ "attr-driver-words", driver_words },
	{ "attr-driver-sample", driver_sample },
	{ "attr-driver-sample-pairs", driver_sample_pairs },
	{ "bpf-output-record-bits", bpf_output_record_bits },
	{ "sample-driver-sizes", driver_sample_sizes },
	{ "attr-sigtrap", sigtrap_data },
	{ "file-modify", modify },
	{ "hotplug", hotplug },
	{ "side-records", side_records },
	{ "exec-remove", remove_on_exec },
	{ }
};
