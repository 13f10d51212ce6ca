// SPDX-License-Identifier: GPL-2.0
/*
 * Boot: which CPU is this, and which model is described where?
 *
 * The core asks for the driver of Intel's CPUs here, above all the files of it.
 */
#include <asm/cpu_device_id.h>
#include <asm/intel-family.h>

#include "../model.h"

#define IS(which, model)	{ INTEL_##which, &intel_pe_##model }

/* Models that asm/intel-family.h of Linux 6.12 does not have. */
#define INTEL_PE_PANTHERLAKE_R	IFM(6, 0xe5)
#define INTEL_PE_WILDCATLAKE_L	IFM(6, 0xd5)
#define INTEL_PE_NOVALAKE	IFM(18, 0x01)
#define INTEL_PE_NOVALAKE_L	IFM(18, 0x03)
#define INTEL_PE_DIAMONDRAPIDS_X INTEL_PANTHERCOVE_X

const struct intel_pe_model_entry intel_pe_models[] __initconst = {
	IS(CORE_YONAH, core1),
	IS(CORE2_MEROM, merom),
	IS(CORE2_MEROM_L, core2), IS(CORE2_PENRYN, core2), IS(CORE2_DUNNINGTON, core2),
	IS(NEHALEM, nehalem), IS(NEHALEM_EP, nehalem), IS(NEHALEM_EX, nehalem),
	IS(WESTMERE, westmere), IS(WESTMERE_EP, westmere), IS(WESTMERE_EX, westmere),
	IS(SANDYBRIDGE, sandybridge), IS(SANDYBRIDGE_X, sandybridge_x),
	IS(IVYBRIDGE, ivybridge), IS(IVYBRIDGE_X, ivybridge_x),
	IS(HASWELL, haswell), IS(HASWELL_X, haswell), IS(HASWELL_L, haswell),
	IS(HASWELL_G, haswell),
	IS(BROADWELL, broadwell), IS(BROADWELL_D, broadwell), IS(BROADWELL_G, broadwell),
	IS(BROADWELL_X, broadwell),
	IS(SKYLAKE, skylake), IS(SKYLAKE_L, skylake), IS(KABYLAKE, skylake),
	IS(KABYLAKE_L, skylake), IS(COMETLAKE, skylake), IS(COMETLAKE_L, skylake),
	IS(SKYLAKE_X, skylake_x),
	IS(ICELAKE, icelake), IS(ICELAKE_L, icelake), IS(TIGERLAKE, icelake),
	IS(TIGERLAKE_L, icelake), IS(ROCKETLAKE, icelake),
	IS(ICELAKE_X, icelake_x), IS(ICELAKE_D, icelake_x),
	IS(SAPPHIRERAPIDS_X, sapphire_rapids), IS(EMERALDRAPIDS_X, sapphire_rapids),
	IS(GRANITERAPIDS_X, granite_rapids), IS(GRANITERAPIDS_D, granite_rapids),
	IS(PE_DIAMONDRAPIDS_X, panthercove),

	IS(ATOM_BONNELL, bonnell), IS(ATOM_BONNELL_MID, bonnell), IS(ATOM_SALTWELL, bonnell),
	IS(ATOM_SALTWELL_MID, bonnell), IS(ATOM_SALTWELL_TABLET, bonnell),
	IS(ATOM_SILVERMONT, silvermont), IS(ATOM_SILVERMONT_D, silvermont),
	IS(ATOM_SILVERMONT_MID, silvermont), IS(ATOM_AIRMONT, silvermont),
	IS(ATOM_AIRMONT_MID, silvermont), IS(ATOM_AIRMONT_NP, silvermont),
	IS(XEON_PHI_KNL, knights), IS(XEON_PHI_KNM, knights),
	IS(ATOM_GOLDMONT, goldmont), IS(ATOM_GOLDMONT_D, goldmont),
	IS(ATOM_GOLDMONT_PLUS, goldmont_plus),
	IS(ATOM_TREMONT, tremont), IS(ATOM_TREMONT_D, tremont), IS(ATOM_TREMONT_L, tremont),
	IS(ATOM_GRACEMONT, gracemont),
	IS(ATOM_CRESTMONT, crestmont), IS(ATOM_CRESTMONT_X, crestmont),
	IS(ATOM_DARKMONT_X, darkmont),

	IS(ALDERLAKE, alderlake), IS(ALDERLAKE_L, alderlake), IS(RAPTORLAKE, alderlake),
	IS(RAPTORLAKE_P, alderlake), IS(RAPTORLAKE_S, alderlake),
	IS(METEORLAKE, meteorlake), IS(METEORLAKE_L, meteorlake), IS(ARROWLAKE_U, meteorlake),
	IS(LUNARLAKE_M, lunarlake), IS(ARROWLAKE, arrowlake),
	IS(ARROWLAKE_H, arrowlake_h),
	IS(PANTHERLAKE_L, pantherlake), IS(PE_PANTHERLAKE_R, pantherlake),
	IS(PE_WILDCATLAKE_L, pantherlake),
	IS(PE_NOVALAKE, novalake), IS(PE_NOVALAKE_L, novalake),
};

const unsigned int intel_pe_nr_models __initconst = ARRAY_SIZE(intel_pe_models);

/**
 * intel_pe_find_model - find the description of a model
 * @vfm: vendor, family, model
 * @version: of perfmon
 *
 * Return: a model that is not listed has what the architecture says of its version.
 */
const struct intel_pe_model * __init intel_pe_find_model(u32 vfm, int version)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(intel_pe_models); i++) {
		if (intel_pe_models[i].vfm == vfm)
			return intel_pe_models[i].model;
	}
	if (version >= 5)
		return &intel_pe_arch5;
	return version > 1 ? &intel_pe_arch2 : &intel_pe_arch1;
}

/* Before there was an architecture of it, by family. */
static int __init init_old(void)
{
	switch (boot_cpu_data.x86) {
	case 0x6:
		return p6_pmu_init();
	case 0xb:
		return knc_pmu_init();
	case 0xf:
		return p4_pmu_init();
	}
	return -ENODEV;
}

/**
 * intel_pmu_init - fill in x86_pmu
 *
 * Return: 0, or why there is no PMU.
 */
int __init intel_pmu_init(void)
{
	int ret;

	if (!boot_cpu_has(X86_FEATURE_ARCH_PERFMON))
		return init_old();
	ret = intel_pe_init_arch();
	if (ret)
		return ret;
	return intel_pe_init(intel_pe_find_model(boot_cpu_data.x86_vfm, x86_pmu.version));
}
