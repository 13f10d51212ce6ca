// SPDX-License-Identifier: GPL-2.0
/*
 * ioctl_compat.c - ioctls whose number holds the size of a pointer, as programs of 32 bits have
 * it: 4 bytes. On x86_64 this program calls the kernel as these do, on arm64 it runs one,
 * whose call chain is also walked on the way back to it.
 */
#include "lib/ptest.h"
#include <linux/elf.h>
#include <sys/stat.h>

/* What such a program has found out; arm64's writes it as it is here. */
struct answer {
	u64	id;
	int	ret;
};

#define ANSWER_SIZE	12

#if defined(__x86_64__)
static void ask(int fd, u32 cmd, int to)
{
	struct answer *a = mmap(NULL, sizeof(*a), PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long ret;

	pt_need(a != MAP_FAILED, "mmap: %s", strerror(errno));
	/* ioctl(); without support for 32 bits this is a SIGSEGV. */
	__asm__ volatile("int $0x80" : "=a" (ret) : "a" (54), "b" (fd), "c" (cmd), "d" (a)
			 : "r8", "r9", "r10", "r11", "memory");
	a->ret = (int)ret;
	pt_need(write(to, a, ANSWER_SIZE) == ANSWER_SIZE, "write: %s", strerror(errno));
}
#elif defined(__aarch64__)
#define BASE	0x10000
#define AT(n)	(BASE + sizeof(struct elf32_hdr) + sizeof(struct elf32_phdr) + (n) * sizeof(u32))

/* A program, of instructions and the words that they load. */
static void ask(int fd, u32 cmd, int to)
{
	struct {
		struct elf32_hdr e;
		struct elf32_phdr p;
		u32 code[14], fd, cmd, buf, to;
		u8 answer[ANSWER_SIZE];
	} file = {
		.e = {
			.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_EXEC, .e_machine = EM_ARM, .e_version = EV_CURRENT,
			.e_entry = AT(0), .e_phoff = sizeof(file.e), .e_flags = 0x05000000,
			.e_ehsize = sizeof(file.e), .e_phentsize = sizeof(file.p),
			.e_phnum = 1,
		},
		.p = {
			.p_type = PT_LOAD, .p_vaddr = BASE, .p_filesz = sizeof(file),
			.p_memsz = sizeof(file), .p_flags = PF_R | PF_W | PF_X, .p_align = 0x1000,
		},
		.code = {
			0xe59f0030,	/* ldr r0, fd */
			0xe59f1030,	/* ldr r1, cmd */
			0xe59f2030,	/* ldr r2, buf */
			0xe3a07036,	/* mov r7, #54: ioctl */
			0xef000000,	/* svc 0 */
			0xe59f1024,	/* ldr r1, buf */
			0xe5810008,	/* str r0, [r1, #8] */
			0xe59f0020,	/* ldr r0, to */
			0xe3a0200c,	/* mov r2, #12 */
			0xe3a07004,	/* mov r7, #4: write */
			0xef000000,	/* svc 0 */
			0xe3a00000,	/* mov r0, #0 */
			0xe3a07001,	/* mov r7, #1: exit */
			0xef000000,	/* svc 0 */
		},
		.fd = (u32)fd, .cmd = cmd, .buf = AT(18), .to = (u32)to,
	};
	char path[] = "/tmp/compat-XXXXXX";
	int exe = mkstemp(path);

	pt_need(exe >= 0, "%s: %s", path, strerror(errno));
	pt_need(write(exe, &file, sizeof(file)) == sizeof(file), "write: %s", strerror(errno));
	fchmod(exe, 0700);
	close(exe);
	exe = open(path, O_RDONLY | O_CLOEXEC);
	unlink(path);
	fexecve(exe, (char *[]) { path, NULL }, (char *[]) { NULL });
	_exit(1);
}
#else
static void ask(int fd, u32 cmd, int to)
{
	(void)fd, (void)cmd, (void)to;
	_exit(1);
}
#endif

static struct answer ask_in_child(int fd, unsigned int dir, unsigned int nr, size_t size)
{
	struct answer a = {};
	int to[2];
	pid_t pid;

	pt_gate_make(to);
	pt_in_child(pid)
		ask(fd, (u32)_IOC(dir, '$', nr, size), to[1]);
	if (pt_wait(pid))
		pt_skip("no programs of 32 bits");
	pt_need(read(to[0], &a, ANSWER_SIZE) == ANSWER_SIZE, "no answer");
	close(to[0]);
	close(to[1]);
	return a;
}

static void size_of_a_pointer(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	int fd = pt_open(&attr, 0, -1, -1, 0);
	const unsigned int nr = _IOC_NR(PERF_EVENT_IOC_ID);
	struct answer a;

	a = ask_in_child(fd, _IOC_READ, nr, 4);
	pt_eq(a.ret, 0);
	pt_eq(a.id, pt_id(fd));
	pt_eq(ask_in_child(fd, _IOC_READ, nr, 2).ret, -ENOTTY);
	/* An empty filter, for an event that has none. */
	pt_eq(ask_in_child(fd, _IOC_WRITE, _IOC_NR(PERF_EVENT_IOC_SET_FILTER), 4).ret, -EINVAL);
}

#if defined(__aarch64__)

/* It begins with a fault of its first instruction, and has no stack. */
static void chain_walked_later(void)
{
	struct perf_event_attr attr = pt_attr(PT_SW(PAGE_FAULTS));
	u64 chain[3];		/* cookie, length, address */
	static struct pt_record rec;
	struct pt_sample s;
	struct pt_ring ring;
	int gate[2], to[2];
	pid_t pid;

	if (pt_is_stock())
		pt_skip("Linux 6.12 walks user stacks at once");
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
	attr.exclude_kernel = 1;
	attr.disabled = 1;
	attr.enable_on_exec = 1;
	attr.defer_callchain = 1;
	attr.defer_output = 1;
	pt_gate_make(gate);
	pt_gate_make(to);
	pt_in_child(pid) {
		pt_gate_wait(gate);
		ask(-1, 0, to[1]);
	}
	pt_map(&ring, pt_open(&attr, pid, -1, -1, 0), 8);
	pt_gate_open(gate);
	if (pt_wait(pid))
		pt_skip("no programs of 32 bits");
	pt_need(pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE), "no sample");
	pt_parse_sample(&attr, &rec, &s);
	pt_eq(s.ip, AT(0));
	pt_eq(s.nr_ips, 2);
	pt_need(pt_next_of(&ring, &rec, PERF_RECORD_CALLCHAIN_DEFERRED), "no chain");
	memcpy(chain, rec.body, sizeof(chain));
	pt_eq(chain[0], s.ips[1]);	/* behind the marker */
	pt_eq(chain[1], 1);
	pt_eq(chain[2], AT(0));
}

#endif

static const struct pt_case cases[] = {
	{ "size_of_a_pointer", size_of_a_pointer },
#if defined(__aarch64__)
	{ "chain_walked_later", chain_walked_later },
#endif
};

PT_MAIN(cases)
