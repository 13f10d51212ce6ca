/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What plugins of QEMU's TCG use of its interface (version 1): Debian has no header for it.
 */
#ifndef QEMU_PLUGIN_H
#define QEMU_PLUGIN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef struct qemu_info_t qemu_info_t;
typedef uint64_t qemu_plugin_id_t;
typedef void (*tb_cb_t)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*insn_cb_t)(unsigned int vcpu, void *data);
typedef void (*mem_cb_t)(unsigned int vcpu, uint32_t info, uint64_t address, void *data);
typedef void (*exit_cb_t)(qemu_plugin_id_t id, void *data);

#define LOADS_AND_STORES	3
#define ADD_TO_U64		0

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, tb_cb_t cb);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, insn_cb_t cb, int flags,
					    void *data);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn, int op, void *to,
						uint64_t number);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, mem_cb_t cb, int flags, int rw,
				      void *data);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, exit_cb_t cb, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t idx);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
unsigned int qemu_plugin_mem_size_shift(uint32_t info);
bool qemu_plugin_mem_is_store(uint32_t info);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

#endif
