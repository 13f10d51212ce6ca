# SPDX-License-Identifier: GPL-2.0
"""x86 guests with the emulated PMU of tools/testing/qemu-x86-pmu."""
import glob
import os
import subprocess

import rig

OURS = os.path.join(rig.TOP, "tools/testing/qemu-x86-pmu")
BINARY = os.path.join(rig.BUILD, "qemu-x86", "out", "bin", "qemu-system-x86_64")
MAKE = "make qemu-x86"

# run-guest --pmu NAME: QEMU's -cpu. Which driver Linux binds follows from the model number.
PMUS = {
    "skl": "Skylake-Server,pmu=on,pmu-version=4,pmu-lbr=1,pmu-pebs=3",
    "skl2": "Skylake-Server,pmu=on,pmu-version=2,pmu-lbr=1",
    "nhm": "Skylake-Server,model=26,pmu=on,pmu-version=3,pmu-pebs=1",
    "hsw": "Skylake-Server,model=60,pmu=on,pmu-version=3,pmu-pebs=2",
    "icl": "Icelake-Server,model=106,pmu=on,pmu-version=5,pmu-counters=8,pmu-lbr=1,"
           "pmu-metrics=4",
    "spr": "Icelake-Server,model=143,pmu=on,pmu-version=5,pmu-counters=8,pmu-lbr=2,pmu-pebs=4,"
           "pmu-metrics=8",
    "adl": "Icelake-Server,model=151,pmu=on,pmu-version=5,pmu-counters=8,pmu-lbr=2,pmu-pebs=4,"
           "pmu-metrics=8,pmu-big=2",
    "wsm": "Skylake-Server,model=44,pmu=on,pmu-version=3,pmu-offcore=2",
    "zen": "EPYC,pmu=on,pmu-version=1",
    "zen3": "EPYC-Milan,pmu=on,pmu-version=2",
    "zen3-brs": "EPYC-Milan,pmu=on,pmu-version=1,pmu-lbr=1",
    "zen4": "EPYC-Milan,model=17,pmu=on,pmu-version=2,pmu-lbr=1",
    "hygon": "Dhyana,pmu=on,pmu-version=1",
    "k10": "phenom,pmu=on,pmu-version=0",
}
# Interrupts that come late, or not always.
for _name in ("skl", "zen", "zen3"):
    PMUS[_name + "-late"] = PMUS[_name] + ",pmu-delay=1000"
PMUS["icl-gap"] = PMUS["icl"] + ",pmu-absent=16"
for _name in ("icl", "zen", "zen3"):
    PMUS[_name + "-lossy"] = PMUS[_name] + ",pmu-lose=5"
# Counters that the microcode takes, registers that events need; nhm and wsm share them in a core.
PMUS["skl-tfa"] = PMUS["skl"] + ",pmu-tfa=on,pmu-offcore=3"
PMUS["nhm"] += ",pmu-offcore=1"
# Granite Rapids: format 5. Sierra Forest, which has small cores: counters in branch records, too.
PMUS["gnr"] = PMUS["spr"].replace("model=143", "model=173").replace("pebs=4", "pebs=5")
PMUS["srf"] = "Icelake-Server,model=175,pmu=on,pmu-version=5,pmu-counters=8,pmu-lbr=2,pmu-pebs=5," \
               "pmu-lbr-counters=4"
# The same of version 6: some counters reload others, as the leaf 23H of newer CPUs says.
PMUS["srf6"] = PMUS["srf"].replace("version=5", "version=6").replace("pebs=5", "pebs=6") + \
               ",pmu-acr=0x3f,pmu-acr-cause=0xfc"
PMUS["srf6-late"] = PMUS["srf6"] + ",pmu-delay=1000"
# Architectural PEBS: Diamond Rapids, and Clearwater Forest, whose records are chains of fragments.
PMUS["dmr"] = PMUS["gnr"].replace("model=173", "family=19,model=1").replace("version=5", "version=6") \
              .replace("pebs=5", "pebs=7")
PMUS["cwf"] = PMUS["srf6"].replace("model=175", "model=221").replace("pebs=6", "pebs=7") + \
              ",pmu-fragments=on"
PMUS["cwf-late"] = PMUS["cwf"] + ",pmu-delay=2000"
# Traces of branches; metrics that overflow soon.
PMUS["skl-bts"] = PMUS["skl"] + ",pmu-bts=on"
PMUS["spr-td"] = PMUS["spr"] + ",pmu-metrics-bits=17"
# The flavours of the bare-metal selftest: (shift of -icount, -cpu), and on two threads of a core.
BARE = [(0, "Skylake-Server,pmu=on,pmu-version=%d" % v) for v in range(1, 6)] + [
    *((0, PMUS[n]) for n in ("nhm", "hsw", "skl", "skl2", "icl", "skl-tfa", "skl-bts", "gnr", "srf", "srf6",
                             "dmr", "cwf")),
    (0, "Skylake-Server,pmu=on,pmu-version=1,pmu-bts=on"),
    (0, PMUS["icl"] + ",pmu-metrics-bits=12"),
    (0, PMUS["icl"] + ",pmu-pebs=4"), (0, PMUS["spr"]), (0, PMUS["adl"]),
    (2, "Skylake-Server,pmu=on,pmu-cpi=3"),
    (0, PMUS["skl"] + ",pmu-delay=60"), (0, PMUS["skl2"] + ",pmu-lose=3"),
    (0, "EPYC-Milan,pmu=on,pmu-version=1"), (0, PMUS["zen3"]),
    (0, "EPYC,family=15,model=65,pmu=on,pmu-version=0"), (0, PMUS["zen3-brs"]),
    (0, PMUS["hygon"]), (0, PMUS["k10"]),
    (0, PMUS["zen4"]), (0, PMUS["zen4"].replace("lbr=1", "lbr=2"))]
BARE_THREADS = [(0, PMUS[n]) for n in ("nhm", "wsm", "skl-tfa", "k10")]


def build():
    return rig.run([os.path.join(rig.SCRIPTS, "qemu-x86")]).strip().splitlines()[-1]


def selftest_program():
    sources = sorted(glob.glob(OURS + "/selftest*.c"))
    out = os.path.join(rig.BUILD, "qemu-x86", "selftest")
    error = rig.build_program(
        ["gcc", "-m32", "-march=i686", "-O1", "-Wall", "-ffreestanding", "-fno-pie", "-no-pie",
         "-fno-stack-protector", "-fno-asynchronous-unwind-tables", "-nostdlib", "-static",
         "-Wl,-z,noexecstack", "-Wl,-N,-Ttext=0x100000,--build-id=none,--no-warn-rwx-segments",
         *sources], out, sources + [OURS + "/selftest.h", os.path.abspath(__file__)])
    if error:
        raise rig.Failure(error)
    return out


def bare_metal(qemu, program, shift, cpu, smp="1"):
    """What the program prints; the log stays beside it."""
    log = program + ".log"
    try:
        r = subprocess.run(
            [qemu, "-accel", "tcg", "-icount", "shift=%d,sleep=off" % shift, "-cpu", cpu, "-smp", smp,
             "-m", "64", "-nodefaults", "-display", "none", "-no-reboot", "-serial", "file:" + log,
             "-device", "isa-debug-exit,iobase=0xf4,iosize=1", "-kernel", program],
            timeout=120, capture_output=True, text=True)
        tail = r.stderr[-300:]
    except subprocess.TimeoutExpired:
        tail = "no end after 120 s"
    return rig.read_lines(log) or [], tail


def run_selftest(tally):
    """One result for each flavour of the PMU."""
    qemu, program = build(), selftest_program()
    for shift, cpu, smp in [(*b, "1") for b in BARE] + [(*b, "2,threads=2") for b in BARE_THREADS]:
        lines, tail = bare_metal(qemu, program, shift, cpu, smp)
        last = lines[-1] if lines else ""
        good = last.startswith("selftest: ") and last.endswith(" 0 failed")
        wrong = [x for x in lines if x.startswith("FAIL")][:20]
        flavour = "%s shift=%d%s" % (cpu, shift, " smp=" + smp if smp != "1" else "")
        rig.say("%s: %s" % (flavour, last.replace("selftest: ", "")))
        tally.add("qemu-x86-selftest: " + flavour, "ok" if good else "failed",
                  "".join("\n    " + x for x in wrong + [last, tail]))
