// SPDX-License-Identifier: GPL-2.0
/*
 * x86_svm.c - events of the host alone and of guests alone on AMD CPUs, whose select bits for that
 * stop a counter while SVM is off: without KVM, and while KVM turns SVM on and off under counters
 * that count.
 *
 * needs: hw kvm
 */
#include "lib/guest.h"
#include "lib/x86.h"

#define EFER		0xc0000080
#define EFER_SVME	(1u << 12)
#define PERIOD		10007

enum { ALL, HOST, GUEST, NOBODY, KINDS };

static struct perf_event_attr instructions(int kind)
{
	struct perf_event_attr attr = x86_hw(PERF_COUNT_HW_INSTRUCTIONS);

	attr.exclude_guest = kind == HOST || kind == NOBODY;
	attr.exclude_host = kind == GUEST || kind == NOBODY;
	return attr;
}

static void need_amd(void)
{
	x86_need_exact();
	if (x86_is_intel())
		pt_skip("no AMD CPU");
}

static bool svm_is_on(void)
{
	return x86_rdmsr(EFER) & EFER_SVME;
}

/* Whether SVM is on or not. */
static void without_guests(void)
{
	struct perf_event_attr attr;
	int fd, kind;

	need_amd();
	for (kind = 0; kind < KINDS; kind++) {
		attr = instructions(kind);
		fd = pt_open_hw(&attr, -1);
		x86_measured_spin(fd, 1000);
		pt_eq(pt_count(fd), kind == ALL || kind == HOST ? X86_SPIN_COST(1000) : 0);
		close(fd);
	}
}

/* SVM is on from here to the child's end, and a guest runs. */
static void child_with_guest(u32 turns)
{
	pid_t pid;

	pt_in_child(pid) {
		struct guest g = guest_make();

		pt_check(svm_is_on(), "SVM is off");
		guest_load_spin(&g, turns);
		guest_run(&g);
	}
	pt_reap(pid);
}

/* Events that count all the while, of the host's user space: they see all of it. */
static void goes_on_and_off(void)
{
	struct perf_event_attr attr;
	struct pt_record rec;
	struct pt_ring ring;
	u64 before, samples;
	int fd[KINDS], kind, i;

	need_amd();
	if (!pt_path_exists("/dev/kvm"))
		pt_skip("no KVM");
	if (svm_is_on())
		pt_skip("SVM is on all the time: kvm.enable_virt_at_load");
	for (kind = 0; kind < KINDS; kind++) {
		attr = instructions(kind);
		if (kind == HOST) {
			attr.sample_period = PERIOD;
			attr.sample_type = PERF_SAMPLE_IP;
		}
		attr.disabled = kind == 0;
		fd[kind] = pt_open_hw(&attr, kind ? fd[0] : -1);
	}
	pt_map(&ring, fd[HOST], 64);
	for (i = 0; i < 5 && !pt_failures(); i++) {
		pt_enable(fd[0]);
		pt_spin(1000 * (u64)(i + 1));
		before = pt_count(fd[ALL]);
		child_with_guest(1000);
		pt_check(!svm_is_on(), "SVM is still on");
		pt_spin(30000);
		pt_check(pt_count(fd[ALL]) >= before + 60000, "%llu after %llu",
			 (unsigned long long)pt_count(fd[ALL]), (unsigned long long)before);
		pt_disable(fd[0]);
		pt_eq(pt_count(fd[HOST]), pt_count(fd[ALL]));
		pt_eq(pt_count(fd[GUEST]), 0);
		pt_eq(pt_count(fd[NOBODY]), 0);
	}
	for (samples = 0; pt_next_of(&ring, &rec, PERF_RECORD_SAMPLE); samples++)
		;
	pt_eq(samples, pt_count(fd[HOST]) / PERIOD);
}

/* The same of a whole CPU, which also counts what the child and KVM do. */
static void of_a_cpu(void)
{
	struct perf_event_attr attr;
	int fd[KINDS], kind, i;

	need_amd();
	if (!pt_path_exists("/dev/kvm"))
		pt_skip("no KVM");
	for (kind = 0; kind < KINDS; kind++) {
		attr = instructions(kind);
		attr.exclude_kernel = 0;
		attr.exclude_user = kind == GUEST ? 0 : 1;
		attr.disabled = kind == 0;
		fd[kind] = pt_open(&attr, -1, 0, kind ? fd[0] : -1, 0);
	}
	pt_enable(fd[0]);
	for (i = 0; i < 3; i++)
		child_with_guest(1000 + (u32)i);
	pt_disable(fd[0]);
	pt_eq(pt_count(fd[GUEST]), guest_spin_cost(1000) + guest_spin_cost(1001) +
				   guest_spin_cost(1002));
	pt_eq(pt_count(fd[NOBODY]), 0);
	if (x86_has_global())
		pt_eq(pt_count(fd[ALL]), pt_count(fd[HOST]) + pt_count(fd[GUEST]));
	pt_check(pt_count(fd[HOST]) > 10000, "%llu of the host",
		 (unsigned long long)pt_count(fd[HOST]));
}

static const struct pt_case cases[] = {
	{ "without_guests", without_guests },
	{ "goes_on_and_off", goes_on_and_off },
	{ "of_a_cpu", of_a_cpu },
};

PT_MAIN(cases)
