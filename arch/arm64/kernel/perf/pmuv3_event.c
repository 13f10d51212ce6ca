// SPDX-License-Identifier: GPL-2.0
/*
 * What an attr asks of a PMUv3: the number of the event, filters, threshold, kind of counter.
 *
 * Nothing here touches a register.  All but the two operations at the end are functions of the
 * attr and of the constant part of struct arm_pmu.  Called when an event is opened, in task
 * context; the results stay in event->hw, so nobody looks at the attr later.
 *
 * A number of a generic event is used if the CPU announces it in PMCEID<n>_EL0.  Events that are
 * not part of the architecture are announced nowhere: those of a model's own list and raw ones are
 * taken at their word.
 */
#include <linux/bitfield.h>
#include <linux/perf_event.h>

#include <asm/virt.h>

#include "pmuv3.h"

#define NR(name)	ARMV8_PMUV3_PERFCTR_##name

/* PERF_TYPE_HARDWARE: the first of the two that the CPU announces. */
static const u16 hardware_events[PERF_COUNT_HW_MAX][2] = {
	[PERF_COUNT_HW_CPU_CYCLES]		= { NR(CPU_CYCLES) },
	[PERF_COUNT_HW_INSTRUCTIONS]		= { NR(INST_RETIRED) },
	[PERF_COUNT_HW_CACHE_REFERENCES]	= { NR(L1D_CACHE) },
	[PERF_COUNT_HW_CACHE_MISSES]		= { NR(L1D_CACHE_REFILL) },
	[PERF_COUNT_HW_BRANCH_INSTRUCTIONS]	= { NR(BR_RETIRED), NR(PC_WRITE_RETIRED) },
	[PERF_COUNT_HW_BRANCH_MISSES]		= { NR(BR_MIS_PRED) },
	[PERF_COUNT_HW_BUS_CYCLES]		= { NR(BUS_CYCLES) },
	[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND]	= { NR(STALL_FRONTEND) },
	[PERF_COUNT_HW_STALLED_CYCLES_BACKEND]	= { NR(STALL_BACKEND) },
};

#define ON_READ(cache, result, name) {						\
	PERF_COUNT_HW_CACHE_##cache, PERF_COUNT_HW_CACHE_OP_READ,		\
	PERF_COUNT_HW_CACHE_RESULT_##result, NR(name),				\
}

static const struct pmuv3_cache_event cache_events[] = {
	ON_READ(L1D, ACCESS, L1D_CACHE),
	ON_READ(L1D, MISS, L1D_CACHE_REFILL),
	ON_READ(L1I, ACCESS, L1I_CACHE),
	ON_READ(L1I, MISS, L1I_CACHE_REFILL),
	ON_READ(LL, ACCESS, LL_CACHE_RD),
	ON_READ(LL, MISS, LL_CACHE_MISS_RD),
	ON_READ(DTLB, ACCESS, L1D_TLB),
	ON_READ(DTLB, MISS, L1D_TLB_REFILL),
	ON_READ(ITLB, ACCESS, L1I_TLB),
	ON_READ(ITLB, MISS, L1I_TLB_REFILL),
	ON_READ(BPU, ACCESS, BR_PRED),
	ON_READ(BPU, MISS, BR_MIS_PRED),
	{}
};

/* None has number 0, which marks holes in the tables. */
static bool announced(const struct arm_pmu *pmu, unsigned int number)
{
	return number && number < ARMV8_PMUV3_MAX_COMMON_EVENTS &&
	       test_bit(number, pmu->pmceid_bitmap);
}

static int hardware_number(const struct arm_pmu *pmu, u64 config)
{
	int i;

	if (config >= PERF_COUNT_HW_MAX)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(hardware_events[config]); i++) {
		if (announced(pmu, hardware_events[config][i]))
			return hardware_events[config][i];
	}
	return -ENOENT;
}

static int find(const struct pmuv3_cache_event *list, u64 config)
{
	for (; list && list->number; list++) {
		if (config == (list->cache | list->op << 8 | list->result << 16))
			return list->number;
	}
	return -ENOENT;
}

static int cache_number(const struct arm_pmu *pmu, u64 config,
			const struct pmuv3_cache_event *model)
{
	int number;

	config &= GENMASK_ULL(23, 0);	/* nothing above has a meaning */
	if ((config & 0xff) >= PERF_COUNT_HW_CACHE_MAX ||
	    (config >> 8 & 0xff) >= PERF_COUNT_HW_CACHE_OP_MAX ||
	    config >> 16 >= PERF_COUNT_HW_CACHE_RESULT_MAX)
		return -EINVAL;
	number = find(cache_events, config);
	if (number > 0 && announced(pmu, number))
		return number;
	return find(model, config);
}

/**
 * pmuv3_number() - the architecture's number of the event that an attr names
 * @pmu: the PMU
 * @attr: the attr
 * @model: cache events of this model of CPU, used where the generic ones fail; or NULL
 *
 * Return: the number, -ENOENT if the PMU does not have the event, -EINVAL if nobody can.
 */
int pmuv3_number(const struct arm_pmu *pmu, const struct perf_event_attr *attr,
		 const struct pmuv3_cache_event *model)
{
	if (attr->type == PERF_TYPE_HARDWARE)
		return hardware_number(pmu, attr->config);
	if (attr->type == PERF_TYPE_HW_CACHE)
		return cache_number(pmu, attr->config, model);
	if (attr->type != PERF_TYPE_RAW && attr->type != pmu->pmu.type)
		return -ENOENT;
	return FIELD_GET(ARMV8_PMU_EVTYPE_EVENT, attr->config);
}

/*
 * Threads that share a core may share what the cycle counter counts: those of the core.  A general
 * counter counts the thread's.  What user space reads in 64 bits may have no other, though.
 */
static bool has_threads(const struct arm_pmu *pmu)
{
	unsigned int cpu = cpumask_first(&pmu->supported_cpus);

	return cpu < nr_cpu_ids && cpu_topology[cpu].thread_id >= 0;
}

/**
 * pmuv3_flags() - what the event needs, for hw.flags
 * @pmu: the PMU
 * @attr: the attr
 * @number: what pmuv3_number() made of it
 *
 * A long event needs two counters of 32 bits, or one of 64.  User space reads one register, hence
 * gets no pair.  The instruction counter is not in the reach of EL0.  Fixed counters have no
 * threshold, and do not freeze branch records when they overflow.
 */
int pmuv3_flags(const struct arm_pmu *pmu, const struct perf_event_attr *attr, int number)
{
	bool rdpmc = attr->config1 & PMUV3_CONFIG1_RDPMC;
	bool general = attr->config1 & PMUV3_CONFIG1_THRESHOLD ||
		       attr->sample_type & PERF_SAMPLE_BRANCH_STACK;
	bool wide = attr->config1 & PMUV3_CONFIG1_LONG && !pmuv3_all_long(pmu);
	int flags = 0;

	if (attr->config1 & PMUV3_CONFIG1_LONG)
		flags |= ARMPMU_EVT_64BIT;
	if (rdpmc)
		flags |= PERF_EVENT_FLAG_USER_READ_CNT;
	if (wide)
		flags |= rdpmc ? PMUV3_EVT_ONLY_CYCLES : PMUV3_EVT_PAIR;
	if (number == NR(CPU_CYCLES) && !general &&
	    (flags & PMUV3_EVT_ONLY_CYCLES || !has_threads(pmu)))
		flags |= PMUV3_EVT_CYCLES;
	if (number == NR(INST_RETIRED) && !general && !rdpmc)
		flags |= PMUV3_EVT_INSTR;
	if (attr->exclude_host != attr->exclude_guest)
		flags |= PMUV3_EVT_SWITCHED;
	return flags;
}

/**
 * pmuv3_hyp_filter() - the exception levels in which an event counts, under VHE
 * @attr: the attr
 *
 * The kernel runs at EL2, guests at EL1, and EL0 belongs to either: KVM edits the EL0 bit.  There
 * is no other hypervisor to exclude.
 */
u64 pmuv3_hyp_filter(const struct perf_event_attr *attr)
{
	u64 filter = 0;

	if (!attr->exclude_kernel && !attr->exclude_host)
		filter |= ARMV8_PMU_INCLUDE_EL2;
	if (attr->exclude_kernel || attr->exclude_guest)
		filter |= ARMV8_PMU_EXCLUDE_EL1;
	if (attr->exclude_user || attr->exclude_host)
		filter |= ARMV8_PMU_EXCLUDE_EL0;
	return filter;
}

/**
 * pmuv3_el1_filter() - the same for a kernel at EL1
 * @attr: the attr
 *
 * Guests share EL1 with it: KVM turns counters off and on at EL2.
 */
u64 pmuv3_el1_filter(const struct perf_event_attr *attr)
{
	u64 filter = 0;

	if (!attr->exclude_hv && !attr->exclude_host)
		filter |= ARMV8_PMU_INCLUDE_EL2;
	if (attr->exclude_kernel)
		filter |= ARMV8_PMU_EXCLUDE_EL1;
	if (attr->exclude_user)
		filter |= ARMV8_PMU_EXCLUDE_EL0;
	return filter;
}

/**
 * pmuv3_threshold_max() - the largest threshold of a PMU
 * @pmu: the PMU
 *
 * Return: 0 without FEAT_PMUv3_TH.
 */
u32 pmuv3_threshold_max(const struct arm_pmu *pmu)
{
	return BIT(FIELD_GET(ARMV8_PMU_THWIDTH, pmu->reg_pmmir)) - 1;
}

/**
 * pmuv3_threshold() - the fields TH and TC of PMEVTYPER
 * @pmu: the PMU
 * @attr: the attr; without a threshold its other two fields are ignored
 * @type: the fields are added to it
 *
 * Return: 0, or -EINVAL for a threshold that the PMU cannot have.
 */
int pmuv3_threshold(const struct arm_pmu *pmu, const struct perf_event_attr *attr, u64 *type)
{
	u64 threshold = FIELD_GET(PMUV3_CONFIG1_THRESHOLD, attr->config1);
	u64 control = FIELD_GET(PMUV3_CONFIG1_TH_CONTROL, attr->config1);

	if (threshold > pmuv3_threshold_max(pmu))
		return -EINVAL;
	if (threshold)
		*type |= FIELD_PREP(ARMV8_PMU_EVTYPE_TH, threshold) |
			 FIELD_PREP(ARMV8_PMU_EVTYPE_TC, control);
	return 0;
}

/**
 * pmuv3_map_event() - the event of a new struct perf_event
 * @event: the event; hw.flags are set here
 * @model: see pmuv3_number()
 *
 * Return: the number or an error.  CHAIN is refused: it counts overflows of a neighbour, which user
 * space does not choose.  Whether user space may read the counter comes before whether there is
 * such an event.
 */
int pmuv3_map_event(struct perf_event *event, const struct pmuv3_cache_event *model)
{
	const struct arm_pmu *pmu = to_arm_pmu(event->pmu);
	int number = pmuv3_number(pmu, &event->attr, model);
	int flags = pmuv3_flags(pmu, &event->attr, number);

	if (number == NR(CHAIN))
		return -EINVAL;
	if (flags & PERF_EVENT_FLAG_USER_READ_CNT && !(event->attach_state & PERF_ATTACH_TASK))
		return -EINVAL;
	if (flags & PMUV3_EVT_ONLY_CYCLES && !(flags & PMUV3_EVT_CYCLES))
		return -EOPNOTSUPP;
	event->hw.flags |= flags;
	return number;
}

/**
 * pmuv3_set_event_filter() - what of PMEVTYPER is not the number
 * @hw: where it is stored
 * @attr: the attr, in its struct perf_event
 */
int pmuv3_set_event_filter(struct hw_perf_event *hw, struct perf_event_attr *attr)
{
	struct perf_event *event = container_of(attr, struct perf_event, attr);
	u64 type = is_kernel_in_hyp_mode() ? pmuv3_hyp_filter(attr) : pmuv3_el1_filter(attr);
	int err;

	if (attr->exclude_idle)
		return -EOPNOTSUPP;
	if (has_branch_stack(event)) {
		err = pmuv3_brbe_event(event);
		if (err)
			return err;
	}
	err = pmuv3_threshold(to_arm_pmu(event->pmu), attr, &type);
	if (!err)
		hw->config_base = type;
	return err;
}
