// SPDX-License-Identifier: GPL-2.0
/*
 * bpf.c - the system call bpf(2), and an assembler of a few lines.
 *
 * Maps and programs go with their file descriptors, so a case that ends
 * leaves nothing behind.
 */
#include "bpf.h"

long pt_bpf(int cmd, union bpf_attr *attr)
{
	long ret = syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	return ret < 0 ? -errno : ret;
}

int pt_bpf_map(u32 type, u32 key_size, u32 value_size, u32 entries, u32 flags)
{
	union bpf_attr attr = {
		.map_type = type,
		.key_size = key_size,
		.value_size = value_size,
		.max_entries = entries,
		.map_flags = flags,
	};
	long fd = pt_bpf(BPF_MAP_CREATE, &attr);

	if (fd == -ENOSYS)	/* no such system call */
		pt_skip("kernel without BPF");
	pt_need(fd >= 0, "map of type %u: %s", type, strerror((int)-fd));
	return (int)fd;
}

static long element(int cmd, int map, u32 key, const void *value)
{
	union bpf_attr attr = { 0 };

	attr.map_fd = (u32)map;
	attr.key = pt_addr(&key);
	attr.value = pt_addr(value);
	return pt_bpf(cmd, &attr);
}

long pt_bpf_put(int map, u32 key, const void *value)
{
	return element(BPF_MAP_UPDATE_ELEM, map, key, value);
}

long pt_bpf_get(int map, u32 key, void *value)
{
	return element(BPF_MAP_LOOKUP_ELEM, map, key, value);
}

long pt_bpf_del(int map, u32 key)
{
	return element(BPF_MAP_DELETE_ELEM, map, key, NULL);
}

void pt_words_make(struct pt_words *w)
{
	size_t size = (size_t)pt_page_size();

	w->fd = pt_bpf_map(BPF_MAP_TYPE_ARRAY, 4, (u32)size, 1, BPF_F_MMAPABLE);
	w->word = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, w->fd, 0);
	pt_need(w->word != MAP_FAILED, "mmap of a map: %s", strerror(errno));
	w->word[0] = 0;		/* no fault later */
}

int pt_try_load(u32 type, const struct pt_code *c, u32 flags)
{
	union bpf_attr attr = {
		.prog_type = type,
		.insns = pt_addr(c->insn),
		.insn_cnt = c->nr,
		.license = pt_addr("GPL"),
		.prog_flags = flags,
	};

	return (int)pt_bpf(BPF_PROG_LOAD, &attr);
}

int pt_load(u32 type, const struct pt_code *c)
{
	static char log[65536];
	union bpf_attr attr = {
		.prog_type = type,
		.insns = pt_addr(c->insn),
		.insn_cnt = c->nr,
		.license = pt_addr("GPL"),
		.log_buf = pt_addr(log),
		.log_size = sizeof(log),
		.log_level = 1,
	};
	int fd = pt_try_load(type, c, 0);

	if (fd >= 0)
		return fd;
	/* Where all programs about events are known. */
	if (!pt_kernel_symbol("trace_call_bpf"))
		pt_skip("no BPF programs for events: CONFIG_BPF_EVENTS");
	if (pt_bpf(BPF_PROG_LOAD, &attr) < 0)
		pt_msg("%s", log);
	pt_need(false, "program of type %u: %s", type, strerror(-fd));
	return -1;
}

u32 pt_prog_id(int prog)
{
	struct bpf_prog_info info = { 0 };
	union bpf_attr attr = { 0 };

	attr.info.bpf_fd = (u32)prog;
	attr.info.info_len = sizeof(info);
	attr.info.info = pt_addr(&info);
	pt_eq(pt_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr), 0);
	return info.id;
}

int pt_link(int prog, int event, u64 cookie)
{
	union bpf_attr attr = { 0 };

	attr.link_create.prog_fd = (u32)prog;
	attr.link_create.target_fd = (u32)event;
	attr.link_create.attach_type = BPF_PERF_EVENT;
	attr.link_create.perf_event.bpf_cookie = cookie;
	return (int)pt_bpf(BPF_LINK_CREATE, &attr);
}

void pt_run_prog(int prog)
{
	union bpf_attr attr = { 0 };

	attr.test.prog_fd = (u32)prog;
	pt_eq(pt_bpf(BPF_PROG_TEST_RUN, &attr), 0);
}

void pt_heir_start(struct pt_heir *h, void (*work)(unsigned int n), unsigned int n)
{
	struct perf_event_attr attr = pt_attr(PT_SW(DUMMY));
	int ready[2];

	pt_gate_make(h->go);
	pt_gate_make(ready);
	pt_in_child(h->pid) {
		pt_gate_open(ready);
		pt_gate_wait(h->go);
		work(n);
	}
	pt_gate_wait(ready);
	pt_open(&attr, h->pid, -1, -1, 0);
	close(ready[0]);
	close(ready[1]);
}

void pt_heir_end(struct pt_heir *h)
{
	pt_gate_open(h->go);
	pt_reap(h->pid);
	close(h->go[0]);
	close(h->go[1]);
}

void pt_b(struct pt_code *c, u8 code, u8 dst, u8 src, int16_t off, int32_t imm)
{
	pt_need(c->nr < PT_CODE_MAX, "a program too long");
	c->insn[c->nr++] = (struct bpf_insn) {
		.code = code,
		.dst_reg = dst & 15,
		.src_reg = src & 15,
		.off = off,
		.imm = imm,
	};
}

void pt_b_map(struct pt_code *c, u8 reg, int map)
{
	pt_b(c, BPF_LD | BPF_IMM | BPF_DW, reg, BPF_PSEUDO_MAP_FD, 0, map);
	pt_b(c, 0, 0, 0, 0, 0);
}

void pt_b_word(struct pt_code *c, u8 reg, const struct pt_words *w, unsigned int slot)
{
	pt_b(c, BPF_LD | BPF_IMM | BPF_DW, reg, BPF_PSEUDO_MAP_VALUE, 0, w->fd);
	pt_b(c, 0, 0, 0, 0, (int32_t)(slot * sizeof(u64)));
}

void pt_b_begin(struct pt_code *c)
{
	c->nr = 0;
	pt_b_mov(c, 6, 1);
}

void pt_b_count(struct pt_code *c, const struct pt_words *w, unsigned int slot)
{
	pt_b_word(c, 1, w, slot);
	pt_b_set(c, 7, 1);
	pt_b(c, BPF_STX | BPF_ATOMIC | BPF_DW, 1, 7, 0, BPF_ADD | BPF_FETCH);
	pt_b_add(c, 7, 1);
}

void pt_b_put(struct pt_code *c, const struct pt_words *w, unsigned int slot, u8 reg)
{
	pt_b_word(c, 1, w, slot);
	pt_b_store(c, 1, 0, reg);
}

void pt_b_output(struct pt_code *c, int map)
{
	pt_b_mov(c, 1, 6);
	pt_b_map(c, 2, map);
	pt_b_set32(c, 3, BPF_F_CURRENT_CPU);
	pt_b_mov(c, 4, 10);
	pt_b_add(c, 4, -8);
	pt_b_set(c, 5, 8);
	pt_b_call(c, BPF_FUNC_perf_event_output);
}

void pt_b_return(struct pt_code *c, int32_t imm)
{
	pt_b_set(c, 0, imm);
	pt_b_exit(c);
}

void pt_b_return_nth(struct pt_code *c, int32_t n)
{
	pt_b(c, BPF_ALU64 | BPF_MOD | BPF_K, 7, 0, 0, n);
	pt_b_set(c, 0, 1);
	pt_b(c, BPF_JMP | BPF_JEQ | BPF_K, 7, 0, 1, 0);
	pt_b_set(c, 0, 0);
	pt_b_exit(c);
}
