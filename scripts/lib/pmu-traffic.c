// SPDX-License-Identifier: GPL-2.0
/*
 * pmu-traffic.c - a plugin of QEMU's TCG that counts how often an arm64 guest reads and writes
 * each register of its PMU.
 *
 * The guest says what it is about by a hint that means nothing to a CPU: "hint #96" to "hint #126"
 * begin phase 0 to 30, "hint #127" ends it. Accesses outside a phase are not counted. At the end
 * the file given as out=FILE gets a line for each phase and access: phase, register, R or W, how
 * often. ISB is counted as well, whoever needs it.
 */
#include "qemu-plugin.h"

#define PHASES		31
#define HINT		0xd503201fu
#define FIRST_HINT	96
#define LAST_HINT	127
#define ISB		0xd5033fdfu
#define ENCODING(op1, crn, crm, op2)	((op1) << 11 | (crn) << 7 | (crm) << 3 | (op2))
#define ENCODINGS	ENCODING(8, 0, 0, 0)	/* of op0 = 3; the last page is free for ISB */
#define ISB_SLOT	(ENCODINGS - 1)

static uint64_t count[PHASES][2][ENCODINGS];
static int phase = -1;
static char out[4096];

static const struct {
	unsigned int first, last;
	const char *name;
} registers[] = {
	{ ENCODING(0, 9, 14, 1), 0, "pmintenset" },
	{ ENCODING(0, 9, 14, 2), 0, "pmintenclr" },
	{ ENCODING(0, 9, 14, 6), 0, "pmmir" },
	{ ENCODING(3, 9, 4, 0), 0, "pmicntr" },
	{ ENCODING(3, 9, 6, 0), 0, "pmicfiltr" },
	{ ENCODING(3, 9, 12, 0), 0, "pmcr" },
	{ ENCODING(3, 9, 12, 1), 0, "pmcntenset" },
	{ ENCODING(3, 9, 12, 2), 0, "pmcntenclr" },
	{ ENCODING(3, 9, 12, 3), 0, "pmovsclr" },
	{ ENCODING(3, 9, 12, 4), 0, "pmswinc" },
	{ ENCODING(3, 9, 12, 5), 0, "pmselr" },
	{ ENCODING(3, 9, 12, 6), ENCODING(3, 9, 12, 7), "pmceid" },
	{ ENCODING(3, 9, 13, 0), 0, "pmccntr" },
	{ ENCODING(3, 9, 13, 1), 0, "pmxevtyper" },
	{ ENCODING(3, 9, 13, 2), 0, "pmxevcntr" },
	{ ENCODING(3, 9, 14, 0), 0, "pmuserenr" },
	{ ENCODING(3, 9, 14, 3), 0, "pmovsset" },
	{ ENCODING(3, 14, 8, 0), ENCODING(3, 14, 11, 6), "pmevcntr" },
	{ ENCODING(3, 14, 12, 0), ENCODING(3, 14, 15, 6), "pmevtyper" },
	{ ENCODING(3, 14, 15, 7), 0, "pmccfiltr" },
	{ ISB_SLOT, 0, "isb" },
};

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define NR_REGISTERS	ARRAY_SIZE(registers)

static int find(unsigned int encoding)
{
	unsigned int i;

	for (i = 0; i < NR_REGISTERS; i++) {
		unsigned int last = registers[i].last ? registers[i].last : registers[i].first;

		if (encoding >= registers[i].first && encoding <= last)
			return (int)i;
	}
	return -1;
}

static void on_hint(unsigned int vcpu, void *data)
{
	int n = (int)(intptr_t)data;

	(void)vcpu;
	phase = n == LAST_HINT ? -1 : n - FIRST_HINT;
}

static void on_access(unsigned int vcpu, void *data)
{
	(void)vcpu;
	if (phase >= 0)
		count[phase][(intptr_t)data / ENCODINGS][(intptr_t)data % ENCODINGS]++;
}

static void watch(struct qemu_plugin_insn *insn)
{
	uint32_t code;

	memcpy(&code, qemu_plugin_insn_data(insn), sizeof(code));
	if ((code & ~0xfe0u) == HINT && (code >> 5 & 127) >= FIRST_HINT)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_hint, 0,
						       (void *)(intptr_t)(code >> 5 & 127));
	else if (code == ISB)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_access, 0,
						       (void *)(intptr_t)ISB_SLOT);
	/* MRS and MSR of op0 = 3; bit 21 is the direction. */
	else if ((code & 0xffd80000) == 0xd5180000 && find(code >> 5 & (ENCODINGS - 1)) >= 0)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_access, 0, (void *)(intptr_t)
						       ((code >> 5 & (ENCODINGS - 1)) |
							(code >> 21 & 1) * ENCODINGS));
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	for (i = 0; i < n; i++)
		watch(qemu_plugin_tb_get_insn(tb, i));
}

static void on_exit_of_qemu(qemu_plugin_id_t id, void *data)
{
	FILE *f = fopen(out, "w");
	unsigned int p, read, i, e;

	(void)id;
	(void)data;
	if (!f)
		return;
	for (p = 0; p < PHASES; p++) {
		for (i = 0; i < 2 * NR_REGISTERS; i++) {
			uint64_t sum = 0;

			read = i & 1;
			for (e = 0; e < ENCODINGS; e++) {
				if (find(e) == (int)(i / 2))
					sum += count[p][read][e];
			}
			if (sum)
				fprintf(f, "%u %s %c %llu\n", p, registers[i / 2].name,
					read ? 'R' : 'W', (unsigned long long)sum);
		}
	}
	fclose(f);
}

__attribute__((visibility("default")))
int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	int i;

	(void)info;
	for (i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4))
			snprintf(out, sizeof(out), "%s", argv[i] + 4);
	}
	if (!*out)
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
	return 0;
}
