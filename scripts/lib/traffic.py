# SPDX-License-Identifier: GPL-2.0
"""Accesses to the registers of arm64's PMU: per switch, read, enabling, overflow.

QEMU runs the program arm64_traffic with the plugin pmu-traffic.c, which counts
MRS and MSR. The stock kernel's numbers are in scripts/data/pmu-traffic-arm64.txt;
ours must not be above them.
"""
import os
import re

import rig

DATA = os.path.join(rig.DATA, "pmu-traffic-arm64.txt")
TIMES = 100


def collect(flavour):
    """{phase: {"register R": how often in TIMES}}"""
    rig.assemble()
    rig.guest_files("arm64")
    program = [p for p in rig.selftests("arm64") if os.path.basename(p) == "arm64_traffic"]
    result = os.path.join(rig.BUILD, "pmu-traffic-%s.out" % flavour)
    if os.path.exists(result):
        os.unlink(result)
    rc, folder, log = rig.guest(
        "arm64", flavour, "mkdir -p /out; /tests/arm64_traffic > /out/tap 2>&1\n", program, 300,
        "pmu-traffic", ["--plugin", "%s,out=%s" % (rig.plugin("pmu-traffic"), result)])
    lines = rig.read_lines(os.path.join(folder, "tap")) or []
    counts = rig.read_lines(result)
    if rc or counts is None or any(x.startswith("not ok") for x in lines):
        raise rig.Failure("register traffic of %s: %s (log: %s)\n%s"
                          % (flavour, rig.why(rc), log, "\n".join(lines)))
    names = {}
    for x in lines:
        m = re.match(r"# phase (\d+): (\S+)", x)
        if m:
            names[m[1]] = m[2]
    found = {n: {} for n in names.values()}
    for x in counts:
        phase, register, way, number = x.split()
        found[names[phase]][register + " " + way] = int(number)
    return found


def total(counts):
    return sum(n for r, n in counts.items() if not r.startswith("isb"))


def record():
    lines = ["%s | %s | %d" % (phase, register, n) for phase, counts in collect("stock").items()
             for register, n in (counts or {"none -": 0}).items()]
    rig.write_data(DATA, lines, ["Accesses to PMU registers of the stock kernel, arm64, "
                                 "per %d of a kind (scripts/lib/traffic.py)." % TIMES])


def recorded():
    found = {}
    for x in rig.read_data(DATA):
        phase, register, n = x.split(" | ")
        found.setdefault(phase, {})[register] = int(n)
    return found


def show(stock, ours):
    print("%-26s %9s %9s   %9s %9s" % ("accesses per", "stock", "ours", "ISB stock", "ours"))
    for phase in stock:
        a, b = stock[phase], ours.get(phase, {})
        print("%-26s %9.2f %9.2f   %9.2f %9.2f" % (
            phase.lower(), total(a) / TIMES, total(b) / TIMES, a.get("isb W", 0) / TIMES,
            b.get("isb W", 0) / TIMES))


def check(tally, flavour="ours"):
    stock = recorded()
    with rig.Step("register traffic of the PMU"):
        ours = collect(flavour)
    show(stock, ours)
    expected = rig.expected_differences("expected-differences.txt")
    for phase, counts in stock.items():
        name = "pmu-traffic: " + phase.lower()
        if phase not in ours:
            tally.add(name, "failed", "not measured")
            continue
        a, b = total(counts), total(ours[phase])
        what = ", ".join("%s %d -> %d" % (r, counts.get(r, 0), ours[phase].get(r, 0))
                         for r in sorted(set(counts) | set(ours[phase]))
                         if counts.get(r, 0) < ours[phase].get(r, 0))
        why = "%d accesses, stock has %d: %s" % (b, a, what)
        if b > a and name in expected:
            tally.add(name, "skipped", "expected difference: %s (%s)" % (expected[name], why))
        else:
            tally.add(name, "ok" if b <= a else "failed", why)
