# SPDX-License-Identifier: GPL-2.0
"""The emulators that are built here, by architecture: what --pmu names."""
import armpmu
import x86pmu

OF = {"x86_64": x86pmu, "arm64": armpmu}
NAMES = sorted({name for module in OF.values() for name in module.PMUS})
