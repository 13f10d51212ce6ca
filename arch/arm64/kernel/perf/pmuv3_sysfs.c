// SPDX-License-Identifier: GPL-2.0
/*
 * What a PMUv3 shows in sysfs: fields of the attr, named events, capabilities.
 *
 * Tools depend on all of it.  Named are the events of the architecture that the CPU announces,
 * without SW_INCR, as EL0 may not write PMSWINC, and without CHAIN.  Read in task context; what is
 * shown never changes after the probe.
 */
#include <linux/bitfield.h>
#include <linux/device.h>
#include <linux/perf_event.h>
#include <linux/sysfs.h>

#include "pmuv3.h"
#include "pmuv3_brbe.h"

static const struct arm_pmu *pmu_of(struct device *dev)
{
	return to_arm_pmu((struct pmu *)dev_get_drvdata(dev));
}

/* ---------------------------------------------------------------------- format */

PMU_FORMAT_ATTR(event, "config:0-15");
PMU_FORMAT_ATTR(long, "config1:0");
PMU_FORMAT_ATTR(rdpmc, "config1:1");
PMU_FORMAT_ATTR(threshold_count, "config1:2");
PMU_FORMAT_ATTR(threshold_compare, "config1:3-4");
PMU_FORMAT_ATTR(threshold, "config1:5-16");

static struct attribute *format_attrs[] = {
	&format_attr_event.attr,
	&format_attr_long.attr,
	&format_attr_rdpmc.attr,
	&format_attr_threshold_count.attr,
	&format_attr_threshold_compare.attr,
	&format_attr_threshold.attr,
	NULL,
};

const struct attribute_group pmuv3_format_group = {
	.name	= "format",
	.attrs	= format_attrs,
};

/* ---------------------------------------------------------------------- events */

static u64 number_of(const struct device_attribute *attr)
{
	return container_of(attr, struct perf_pmu_events_attr, attr)->id;
}

static ssize_t pmuv3_show_number(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "event=0x%04llx\n", number_of(attr));
}

#define NAMED(name, group, id)						\
	PMU_EVENT_ATTR_ID(name, pmuv3_show_number, ARMV8_##group##_PERFCTR_##id)

/* The common events and the extended common ones, each by number. */
static struct attribute *event_attrs[] = {
	NAMED(l1i_cache_refill, PMUV3, L1I_CACHE_REFILL),
	NAMED(l1i_tlb_refill, PMUV3, L1I_TLB_REFILL),
	NAMED(l1d_cache_refill, PMUV3, L1D_CACHE_REFILL),
	NAMED(l1d_cache, PMUV3, L1D_CACHE),
	NAMED(l1d_tlb_refill, PMUV3, L1D_TLB_REFILL),
	NAMED(ld_retired, PMUV3, LD_RETIRED),
	NAMED(st_retired, PMUV3, ST_RETIRED),
	NAMED(inst_retired, PMUV3, INST_RETIRED),
	NAMED(exc_taken, PMUV3, EXC_TAKEN),
	NAMED(exc_return, PMUV3, EXC_RETURN),
	NAMED(cid_write_retired, PMUV3, CID_WRITE_RETIRED),
	NAMED(pc_write_retired, PMUV3, PC_WRITE_RETIRED),
	NAMED(br_immed_retired, PMUV3, BR_IMMED_RETIRED),
	NAMED(br_return_retired, PMUV3, BR_RETURN_RETIRED),
	NAMED(unaligned_ldst_retired, PMUV3, UNALIGNED_LDST_RETIRED),
	NAMED(br_mis_pred, PMUV3, BR_MIS_PRED),
	NAMED(cpu_cycles, PMUV3, CPU_CYCLES),
	NAMED(br_pred, PMUV3, BR_PRED),
	NAMED(mem_access, PMUV3, MEM_ACCESS),
	NAMED(l1i_cache, PMUV3, L1I_CACHE),
	NAMED(l1d_cache_wb, PMUV3, L1D_CACHE_WB),
	NAMED(l2d_cache, PMUV3, L2D_CACHE),
	NAMED(l2d_cache_refill, PMUV3, L2D_CACHE_REFILL),
	NAMED(l2d_cache_wb, PMUV3, L2D_CACHE_WB),
	NAMED(bus_access, PMUV3, BUS_ACCESS),
	NAMED(memory_error, PMUV3, MEMORY_ERROR),
	NAMED(inst_spec, PMUV3, INST_SPEC),
	NAMED(ttbr_write_retired, PMUV3, TTBR_WRITE_RETIRED),
	NAMED(bus_cycles, PMUV3, BUS_CYCLES),
	NAMED(l1d_cache_allocate, PMUV3, L1D_CACHE_ALLOCATE),
	NAMED(l2d_cache_allocate, PMUV3, L2D_CACHE_ALLOCATE),
	NAMED(br_retired, PMUV3, BR_RETIRED),
	NAMED(br_mis_pred_retired, PMUV3, BR_MIS_PRED_RETIRED),
	NAMED(stall_frontend, PMUV3, STALL_FRONTEND),
	NAMED(stall_backend, PMUV3, STALL_BACKEND),
	NAMED(l1d_tlb, PMUV3, L1D_TLB),
	NAMED(l1i_tlb, PMUV3, L1I_TLB),
	NAMED(l2i_cache, PMUV3, L2I_CACHE),
	NAMED(l2i_cache_refill, PMUV3, L2I_CACHE_REFILL),
	NAMED(l3d_cache_allocate, PMUV3, L3D_CACHE_ALLOCATE),
	NAMED(l3d_cache_refill, PMUV3, L3D_CACHE_REFILL),
	NAMED(l3d_cache, PMUV3, L3D_CACHE),
	NAMED(l3d_cache_wb, PMUV3, L3D_CACHE_WB),
	NAMED(l2d_tlb_refill, PMUV3, L2D_TLB_REFILL),
	NAMED(l2i_tlb_refill, PMUV3, L2I_TLB_REFILL),
	NAMED(l2d_tlb, PMUV3, L2D_TLB),
	NAMED(l2i_tlb, PMUV3, L2I_TLB),
	NAMED(remote_access, PMUV3, REMOTE_ACCESS),
	NAMED(ll_cache, PMUV3, LL_CACHE),
	NAMED(ll_cache_miss, PMUV3, LL_CACHE_MISS),
	NAMED(dtlb_walk, PMUV3, DTLB_WALK),
	NAMED(itlb_walk, PMUV3, ITLB_WALK),
	NAMED(ll_cache_rd, PMUV3, LL_CACHE_RD),
	NAMED(ll_cache_miss_rd, PMUV3, LL_CACHE_MISS_RD),
	NAMED(remote_access_rd, PMUV3, REMOTE_ACCESS_RD),
	NAMED(l1d_cache_lmiss_rd, PMUV3, L1D_CACHE_LMISS_RD),
	NAMED(op_retired, PMUV3, OP_RETIRED),
	NAMED(op_spec, PMUV3, OP_SPEC),
	NAMED(stall, PMUV3, STALL),
	NAMED(stall_slot_backend, PMUV3, STALL_SLOT_BACKEND),
	NAMED(stall_slot_frontend, PMUV3, STALL_SLOT_FRONTEND),
	NAMED(stall_slot, PMUV3, STALL_SLOT),
	NAMED(sample_pop, SPE, SAMPLE_POP),
	NAMED(sample_feed, SPE, SAMPLE_FEED),
	NAMED(sample_filtrate, SPE, SAMPLE_FILTRATE),
	NAMED(sample_collision, SPE, SAMPLE_COLLISION),
	NAMED(cnt_cycles, AMU, CNT_CYCLES),
	NAMED(stall_backend_mem, AMU, STALL_BACKEND_MEM),
	NAMED(l1i_cache_lmiss, PMUV3, L1I_CACHE_LMISS),
	NAMED(l2d_cache_lmiss_rd, PMUV3, L2D_CACHE_LMISS_RD),
	NAMED(l2i_cache_lmiss, PMUV3, L2I_CACHE_LMISS),
	NAMED(l3d_cache_lmiss_rd, PMUV3, L3D_CACHE_LMISS_RD),
	NAMED(trb_wrap, PMUV3, TRB_WRAP),
	NAMED(trb_trig, PMUV3, TRB_TRIG),
	NAMED(trcextout0, PMUV3, TRCEXTOUT0),
	NAMED(trcextout1, PMUV3, TRCEXTOUT1),
	NAMED(trcextout2, PMUV3, TRCEXTOUT2),
	NAMED(trcextout3, PMUV3, TRCEXTOUT3),
	NAMED(cti_trigout4, PMUV3, CTI_TRIGOUT4),
	NAMED(cti_trigout5, PMUV3, CTI_TRIGOUT5),
	NAMED(cti_trigout6, PMUV3, CTI_TRIGOUT6),
	NAMED(cti_trigout7, PMUV3, CTI_TRIGOUT7),
	NAMED(ldst_align_lat, PMUV3, LDST_ALIGN_LAT),
	NAMED(ld_align_lat, PMUV3, LD_ALIGN_LAT),
	NAMED(st_align_lat, PMUV3, ST_ALIGN_LAT),
	NAMED(mem_access_checked, MTE, MEM_ACCESS_CHECKED),
	NAMED(mem_access_checked_rd, MTE, MEM_ACCESS_CHECKED_RD),
	NAMED(mem_access_checked_wr, MTE, MEM_ACCESS_CHECKED_WR),
	NULL,
};

/* PMCEID<n>_EL0: the lower halves announce 0 to 0x3f, the upper ones the same from 0x4000 on. */
static bool announced(const struct arm_pmu *pmu, u64 number)
{
	const unsigned long *bitmap = pmu->pmceid_bitmap;

	if (number >= ARMV8_PMUV3_EXT_COMMON_EVENT_BASE) {
		number -= ARMV8_PMUV3_EXT_COMMON_EVENT_BASE;
		bitmap = pmu->pmceid_ext_bitmap;
	}
	return number < ARMV8_PMUV3_MAX_COMMON_EVENTS && test_bit(number, bitmap);
}

static umode_t pmuv3_event_visible(struct kobject *kobj, struct attribute *attr, int index)
{
	u64 number = number_of(container_of(attr, struct device_attribute, attr));

	return announced(pmu_of(kobj_to_dev(kobj)), number) ? attr->mode : 0;
}

const struct attribute_group pmuv3_events_group = {
	.name		= "events",
	.attrs		= event_attrs,
	.is_visible	= pmuv3_event_visible,
};

/* ------------------------------------------------------------------------ caps */

/* PMMIR_EL1; all zero before PMUv3p4.  Branches are not there at all without records. */
static ssize_t emit(char *page, u32 value)
{
	return sysfs_emit(page, "0x%08x\n", value);
}

static ssize_t slots_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return emit(page, FIELD_GET(ARMV8_PMU_SLOTS, pmu_of(dev)->reg_pmmir));
}

static ssize_t bus_slots_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return emit(page, FIELD_GET(ARMV8_PMU_BUS_SLOTS, pmu_of(dev)->reg_pmmir));
}

/* Bytes.  The register has the logarithm plus one, from 4 to 2048; else it does not tell. */
static ssize_t bus_width_show(struct device *dev, struct device_attribute *attr, char *page)
{
	u32 width = FIELD_GET(ARMV8_PMU_BUS_WIDTH, pmu_of(dev)->reg_pmmir);

	return emit(page, width >= 3 && width <= 12 ? BIT(width - 1) : 0);
}

static ssize_t threshold_max_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return emit(page, pmuv3_threshold_max(pmu_of(dev)));
}

static ssize_t branches_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%u\n", brbe_usable_records(pmu_of(dev)->reg_brbidr));
}

static DEVICE_ATTR_RO(branches);
static DEVICE_ATTR_RO(slots);
static DEVICE_ATTR_RO(bus_slots);
static DEVICE_ATTR_RO(bus_width);
static DEVICE_ATTR_RO(threshold_max);

static struct attribute *caps_attrs[] = {
	&dev_attr_branches.attr,
	&dev_attr_slots.attr,
	&dev_attr_bus_slots.attr,
	&dev_attr_bus_width.attr,
	&dev_attr_threshold_max.attr,
	NULL,
};

static umode_t pmuv3_cap_visible(struct kobject *kobj, struct attribute *attr, int index)
{
	if (attr == &dev_attr_branches.attr && !pmu_of(kobj_to_dev(kobj))->reg_brbidr)
		return 0;
	return attr->mode;
}

const struct attribute_group pmuv3_caps_group = {
	.name		= "caps",
	.attrs		= caps_attrs,
	.is_visible	= pmuv3_cap_visible,
};
