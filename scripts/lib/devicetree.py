# SPDX-License-Identifier: GPL-2.0
"""arm64 guests with other device trees: what the kernel makes of their PMU nodes.

A variant is QEMU's own tree with some nodes replaced. The facts are the kernel's
messages about PMUs, the PMUs in sysfs and the results of two test programs; they
must equal those of the stock kernel in scripts/data/devicetree-arm64.txt.
"""
import concurrent.futures
import os
import re
import subprocess

import rig

MACHINE = "virt,gic-version=3"
DATA = os.path.join(rig.DATA, "devicetree-arm64.txt")
# PMU interrupts are PPI 7 (QEMU raises it) or SPIs (which nobody raises).
PPI = "interrupts = <1 7 4>;"
SPI = {2: "interrupts = <0 64 4>, <0 65 4>;",
       4: "interrupts = <0 64 4>, <0 65 4>, <0 66 4>, <0 67 4>;"}
V3 = 'compatible = "arm,armv8-pmuv3";'


def cpus(*numbers):
    return ", ".join("<&{/cpus/cpu@%d}>" % n for n in numbers)


def pmu(text, name="pmu"):
    return "/ { %s { %s }; };" % (name, text)


# One PPI as two, for two CPUs each.
PARTITIONS = ("/ { intc@8000000 { ppi-partitions {"
              " part0: p0 { affinity = %s; }; part1: p1 { affinity = %s; }; }; }; };"
              % (cpus(0, 1).replace(">, <", " "), cpus(2, 3).replace(">, <", " ")))

# name: (CPUs, nodes in place of /pmu)
VARIANTS = {
    "as QEMU says": (1, pmu(V3 + PPI)),
    "no interrupt": (1, pmu(V3)),
    "no interrupt, two CPUs": (2, pmu(V3)),
    "no PMU": (1, ""),
    "unknown PMU": (1, pmu('compatible = "arm,no-such-pmu";' + PPI)),
    "unknown PMU, known second name": (1, pmu(
        'compatible = "arm,no-such-pmu", "arm,cortex-a72-pmu";' + PPI)),
    "disabled": (1, pmu(V3 + PPI + 'status = "disabled";')),
    "secure-reg-access": (1, pmu(V3 + PPI + "secure-reg-access;")),
    "two PPIs": (2, pmu(V3 + "interrupts = <1 7 4>, <1 8 4>;")),
    "PPI and SPI": (2, pmu(V3 + "interrupts = <1 7 4>, <0 64 4>; interrupt-affinity = %s;" % cpus(0, 1))),
    "SPIs": (2, pmu(V3 + SPI[2] + "interrupt-affinity = %s;" % cpus(0, 1))),
    "SPIs crosswise": (2, pmu(V3 + SPI[2] + "interrupt-affinity = %s;" % cpus(1, 0))),
    "SPIs without affinity": (2, pmu(V3 + SPI[2])),
    "one SPI for two CPUs": (2, pmu(V3 + "interrupts = <0 64 4>; interrupt-affinity = %s;" % cpus(0))),
    "affinity too short": (2, pmu(V3 + SPI[2] + "interrupt-affinity = %s;" % cpus(0))),
    "affinity to no CPU": (2, pmu(V3 + SPI[2] + "interrupt-affinity = %s, <&{/timer}>;" % cpus(0))),
    "affinity to no CPU at all": (2, pmu(V3 + SPI[2] + "interrupt-affinity = <&{/timer}>, <&{/timer}>;")),
    "affinity twice the same": (2, pmu(V3 + SPI[2] + "interrupt-affinity = %s;" % cpus(1, 1))),
    "two clusters": (4, PARTITIONS +
                     pmu('compatible = "arm,cortex-a53-pmu"; interrupts = <1 7 4 &part0>;', "pmu-a53") +
                     pmu('compatible = "arm,cortex-a57-pmu"; interrupts = <1 7 4 &part1>;', "pmu-a57")),
    "two clusters, SPIs": (4, pmu('compatible = "arm,cortex-a55-pmu"; interrupts = <0 64 4>;'
                                  "interrupt-affinity = %s;" % cpus(3), "pmu-a55") +
                           pmu('compatible = "arm,cortex-a76-pmu";'
                               "interrupts = <0 65 4>, <0 66 4>, <0 67 4>;"
                               "interrupt-affinity = %s;" % cpus(0, 1, 2), "pmu-a76")),
    "two of a name": (4, pmu(V3 + SPI[2] + "interrupt-affinity = %s;" % cpus(0, 1), "pmu-0") +
                      pmu(V3 + "interrupts = <0 66 4>, <0 67 4>;"
                          "interrupt-affinity = %s;" % cpus(2, 3), "pmu-1")),
    "two clusters of a name": (4, PARTITIONS + pmu(V3 + "interrupts = <1 7 4 &part0>;", "pmu-0") +
                               pmu(V3 + "interrupts = <1 7 4 &part1>;", "pmu-1")),
}
# Stock gives a PPI back while it is on, which the kernel warns of; and it stays. Nothing is recorded
# of it: all is as with SPIs, but for the line that is there, whose interrupts come.
ALIKE = {"two clusters of a name": ("two of a name", [
    ("interrupts: 2", "interrupts: 1"), ("samples on CPUs 0", "samples on CPUs 0x3")])}

# An idle state that loses the CPU's context, as the tree says; QEMU's CPUs only wait in it.
SLEEPY = """
/ {
	cpus {
		idle-states {
			entry-method = "psci";
			lose: lose {
				compatible = "arm,idle-state";
				arm,psci-suspend-param = <0x10000>;
				entry-latency-us = <1>;
				exit-latency-us = <1>;
				min-residency-us = <2>;
			};
		};
		cpu@0 {
			enable-method = "psci";
			cpu-idle-states = <&lose>;
		};
	};
};
"""

JOB = r"""
mkdir -p /out
dmesg | sed 's/^\[[^]]*\] //' | grep -iE 'pmu|perfevents|genirq' |
	grep -v '+0x' > /out/messages
cd /sys/bus/event_source/devices
for d in armv*; do
	[ -e "$d/cpus" ] || continue
	echo "$d: CPUs $(cat "$d/cpus"), events $(ls "$d/events" | tr '\n' ' ')"
done > /out/pmus
grep -c arm-pmu /proc/interrupts > /out/lines
timeout 120 /tests/arm64_clusters > /out/arm64_clusters.tap 2>&1
# Nothing is exact where CPUs share the time.
[ "$(nproc)" = 1 ] &&
	timeout 120 /tests/arm64_pmu exact_loops exact_split generic_events nothing_is_left > /out/arm64_pmu.tap 2>&1
true
"""


def tool(argv, **kw):
    try:
        r = subprocess.run(argv, capture_output=True, text=True, **kw)
    except FileNotFoundError:
        raise rig.Failure("missing tool: %s (run 'make deps' as root)" % argv[0])
    if r.returncode:
        raise rig.Failure("%s: %s" % (" ".join(argv[:3]), r.stderr[-800:]))
    return r.stdout


def blob(number, smp, nodes, machine=MACHINE):
    """The variant's tree, compiled. The GIC's partitions want a fourth cell everywhere."""
    stem = os.path.join(rig.BUILD, "devicetree", str(number))
    os.makedirs(os.path.dirname(stem), exist_ok=True)
    tool(["qemu-system-aarch64", "-M", "%s,dumpdtb=%s.qemu" % (machine, stem), "-cpu", "max",
          "-smp", str(smp), "-m", "1G", "-nodefaults", "-display", "none"])
    text = tool(["dtc", "-q", "-I", "dtb", "-O", "dts", stem + ".qemu"])
    text = text.replace("\tpmu {", "\tqemu-pmu {") + "/ { /delete-node/ qemu-pmu; };\n"
    if "part0" in nodes:
        text = re.sub(r"(\sinterrupts = <)([^>]*)>", lambda m: m[1] + re.sub(
            r"((?:\S+ ){2}\S+)", r"\1 0", m[2]) + ">", text)
        text = text.replace("#interrupt-cells = <0x03>", "#interrupt-cells = <4>")
        text += "/ { /delete-node/ pcie@10000000; };\n"
    tool(["dtc", "-q", "-I", "dts", "-O", "dtb", "-o", stem + ".dtb", "-"], input=text + nodes)
    return stem + ".dtb"


def sleepy():
    """
    Options of run-guest for a machine with one CPU that has such a state. The driver of a GICv3
    expects that the power controller wakes the CPU, and lets no interrupt through.
    """
    machine = "virt,gic-version=2"
    return ["--machine", machine, "--dtb",
            blob("sleepy", 1, pmu(V3 + "interrupts = <1 7 0x104>;") + SLEEPY, machine)]


def facts(flavour, number, name):
    """What the guest with this variant says, as lines."""
    smp, nodes = VARIANTS[name]
    rc, folder, log = rig.guest(
        "arm64", flavour, JOB, [*programs(), *rig.modules("arm64", flavour)], 300,
        "devicetree-%d" % number,
        ["--smp", str(smp), "--icount", "on", "--machine", MACHINE, "--dtb", blob(number, smp, nodes)])
    lines = ["guest: %s (log: %s)" % (rig.why(rc), log)] if rc else []
    lines += ["message: " + x for x in read(folder, "messages")]
    lines += ["PMU: " + x for x in read(folder, "pmus")]
    lines += ["interrupts: " + x for x in read(folder, "lines")]
    for tap in ("arm64_clusters", "arm64_pmu"):
        for x in read(folder, tap + ".tap"):
            if re.match(r"(not )?ok|# fact", x):
                lines.append("%s: %s" % (tap, x))
    return ["%s | %s" % (name, x.rstrip()) for x in lines]


def read(folder, name):
    return rig.read_lines(os.path.join(folder, name)) or []


def programs():
    return rig.selftests("arm64", "devicetree")


def collect(flavour, names=None):
    """{variant: lines}"""
    rig.assemble()
    rig.guest_files("arm64")
    programs()
    rig.modules("arm64", flavour)
    wanted = [(i, n) for i, n in enumerate(VARIANTS) if not names or n in names]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda x: facts(flavour, *x), wanted)
        return dict(zip((n for _, n in wanted), found))


def record():
    found = collect("stock", [n for n in VARIANTS if n not in ALIKE])
    for name, lines in found.items():
        if any(" | guest: " in x for x in lines):
            raise rig.Failure("stock kernel, %s: %s" % (name, lines[0]))
    rig.write_data(DATA, [x for lines in found.values() for x in lines],
                   ["What the stock kernel makes of other device trees (scripts/lib/devicetree.py)."])


def check(tally, flavour="ours"):
    want = {}
    for x in rig.read_data(DATA):
        want.setdefault(x.partition(" | ")[0], []).append(x)
    for name, (other, changes) in ALIKE.items():
        want[name] = [x.replace(other, name, 1) for x in want[other]]
        for was, now in changes:
            want[name] = [x.replace(was, now) for x in want[name]]
    with rig.Step("device trees"):
        found = collect(flavour)
    for name, lines in found.items():
        missing = [x for x in want.get(name, []) if x not in lines]
        added = [x for x in lines if x not in want.get(name, [])]
        same = want.get(name) == lines
        tally.add("devicetree: " + name, "ok" if same else "failed", "".join(
            "\n    %s%s" % (sign, x) for sign, group in (("-", missing), ("+", added))
            for x in group) or "the order differs")
