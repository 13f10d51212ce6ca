# SPDX-License-Identifier: GPL-2.0
"""arm64 guests whose PMU interrupts late, or not always: tools/testing/qemu-arm64-pmu."""
import os
import re

import rig

OURS = os.path.join(rig.TOP, "tools/testing/qemu-arm64-pmu")
BINARY = os.path.join(rig.BUILD, "qemu-arm64", "out", "bin", "qemu-system-aarch64")
MAKE = "make qemu-arm64"

# run-guest --pmu NAME: QEMU's -cpu. All counters interrupt, not only that of cycles.
MAX, V8_0 = "max,pauth-impdef=on,pmu-event-irq=on", "cortex-a57,pmu-event-irq=on"
PMUS = {
    "prompt": MAX,
    "late": MAX + ",pmu-delay=1000",
    # The line stays up for longer than the interrupt's handler runs.
    "later": MAX + ",pmu-delay=20000",
    "late-v8.0": V8_0 + ",pmu-delay=1000",
    "lossy": MAX + ",pmu-lose=5",
    "lossy-v8.0": V8_0 + ",pmu-lose=5",
}


def build():
    return rig.run([os.path.join(rig.SCRIPTS, "qemu-arm64")]).strip().splitlines()[-1]


def facts(cpu):
    """What a guest cannot find out by itself, as NAME=VALUE of its programs' environment."""
    return ["%s=%s" % (name.upper().replace("-", "_"), value)
            for name, value in re.findall(r",(pmu-(?:delay|lose))=(\d+)", cpu)]
