# SPDX-License-Identifier: GPL-2.0
"""Lines of the kernel's memory that move between CPUs: rows of the benchmark on many CPUs.

QEMU runs "bench lines" with the plugin cache-lines.c. What it counts in an operation is compared
with the same operation without events, and told apart by who does it: the code of perf_events, with
helpers that it calls (locks, memset, the allocator), or anything else.
"""
import bisect
import collections
import glob
import os
import re
import subprocess

import rig

CPUS = 8
MACHINE = ["--smp", str(CPUS), "--icount", "on", "--alike"]
# What works on the memory of its caller.
HELPERS = re.compile(
    r"(__pi_)?(__)?mem(set|cpy|move)|llist_\w+|smp_call_function\w*|generic_exec_single|refcount_\w+|"
    r"(__)?mutex_\w+|kmem_cache_\w+|(__)?kmalloc\w*|k[vz]?free\w*|_*slab_\w+|new_slab|"
    r"__list_\w+|_*init_waitqueue\w*|(__)?_?raw_\w*(lock|unlock|irq)\w*|queued_\w+")
# Objects that are perf_events, beside kernel/events; uprobes.c there is the base's.
OBJECTS = ["kernel/events/**/*.o", "arch/x86/events/**/*.o", "arch/arm64/kernel/perf*.o",
           "arch/arm64/kernel/perf/**/*.o", "drivers/perf/arm*.o", "kernel/trace/trace_event_perf.o"]

# What the same operation is called without events, by the beginning of a row's name.
BASES = [("fork+exit, ", "fork+exit, no events"), ("switch pair, ", "switch pair, no events"),
         ("page fault", "page fault, no events"), ("thread, ", "thread, no events"),
         ("read of", "getppid, others fault")]
NO_EVENTS = {"getppid"} | {base for _, base in BASES}
# In these perf_events is to move nothing.
STEADY = ("switch pair, ", "page fault")
# The second costs what the first does.
FLAT = ("thread, 8 sampling events on 1 CPU", "thread, 8 sampling events on 8 CPUs", 1.1)
# Below that it is the tick, or something that happened once.
LEAST = 0.02


class Symbols:
    """Functions of a kernel, and which of them are perf_events."""

    def __init__(self, folder):
        self.table = []
        for line in rig.read_lines(os.path.join(folder, "System.map")) or []:
            at, kind, name = line.split()[:3]
            if kind in "tTwW" and not name.startswith("$"):
                self.table.append((int(at, 16), name))
        self.table.sort()
        self.starts = [x[0] for x in self.table]
        objects = [x for pattern in OBJECTS
                   for x in glob.glob(os.path.join(folder, pattern), recursive=True)
                   if os.path.basename(x) != "uprobes.o"]
        self.perf = {x.split()[-1] for x in rig.run(["nm", "--defined-only"] + objects,
                                                    stderr=subprocess.DEVNULL).splitlines()
                     if re.search(r" [tTwW] ", x)}

    def name(self, at):
        i = bisect.bisect_right(self.starts, at) - 1
        return self.table[i][1] if i >= 0 else "%x" % at

    def helpers(self):
        return ["%x %x" % (a, b) for (a, name), (b, _) in zip(self.table, self.table[1:])
                if a < b and HELPERS.fullmatch(name.split(".")[0])]


class Row:
    """An operation: what each takes on all CPUs together."""

    def __init__(self, times):
        self.times = times
        self.instructions = self.moves = self.perf = self.atomics = 0
        # {(function, caller): [moves, atomic operations, lines]}
        self.sites = collections.defaultdict(lambda: [0, 0, set()])

    def add(self, where, is_perf, moves, atomics, line):
        self.moves += moves / self.times
        if is_perf:
            self.perf += moves / self.times
            self.atomics += atomics / self.times
        site = self.sites[where, is_perf]
        site[0] += moves / self.times
        site[1] += atomics / self.times
        site[2].add(line)


def read_rows(printed, counted, symbols):
    """{operation: Row}"""
    rows = {}
    for line in printed:
        name, times = line.split("\t")
        if times != "n/a":
            rows[name.partition(": ")[2]] = Row(int(times))
    order = list(rows.values())
    for line in counted:
        kind, stretch, *rest = line.split()
        row = order[int(stretch)]
        if kind == "stretch":
            row.instructions = int(rest[0]) / row.times
            continue
        at, caller = (symbols.name(int(x, 16)) for x in rest[:2])
        fetches, claims, atomics = map(int, rest[3:])
        row.add((at, caller) if caller != at else (at,), bool({at, caller} & symbols.perf),
                fetches + claims, atomics, int(rest[2], 16))
    return rows


def measure(arch, flavour, prog):
    """Rows of a kernel; QEMU is not the one with a PMU for x86_64, which has no plugins."""
    kind, _, rest = flavour.partition("-")
    symbols = Symbols(os.path.join(rig.BUILD, "%s-%s-%s" % (kind, arch, rest)))
    base = os.path.join(rig.BUILD, "cache-lines-%s-%s" % (flavour, arch))
    with open(base + ".helpers", "w") as f:
        f.write("\n".join(symbols.helpers()) + "\n")
    if os.path.exists(base + ".out"):
        os.unlink(base + ".out")
    plugin = "%s,out=%s.out,helpers=%s.helpers" % (rig.plugin("cache-lines"), base, base)
    what = "lines that move, %s %s" % (arch, flavour)
    with rig.Step(what):
        rc, out, log = rig.guest(
            arch, flavour, "mkdir -p /out; /tests/bench lines > /out/rows\n", [prog], 3600,
            "bench-lines", MACHINE + ["--plugin", plugin])
    printed, counted = rig.read_lines(os.path.join(out, "rows")), rig.read_lines(base + ".out")
    if rc or not printed or not counted:
        raise rig.Failure("%s: %s (log: %s)" % (what, rig.why(rc), log))
    return read_rows(printed, counted, symbols)


# ---- what is said about it ----

def base_of(rows, name):
    """The same operation without events, or None."""
    for beginning, base in BASES:
        if name.startswith(beginning) and name != base:
            return rows[base]
    return None


def cells(rows, name):
    """Instructions and lines above the same operation without events; perf_events' own lines."""
    row, base = rows[name], base_of(rows, name)
    return ["%d" % (row.instructions - (base.instructions if base else 0)),
            "%.1f" % (row.moves - (base.moves if base else 0)),
            "%.2f" % row.perf, "%.2f" % row.atomics]


HEADS = [x + y for x in ("instructions ", "lines ", "perf ", "atomic ") for y in ("stock", "ours")]


def table_lines(stock, ours):
    return [[name] + [x for pair in zip(cells(stock, name), cells(ours, name)) for x in pair]
            for name in ours]


def atomics(rows):
    """[(operation, "function 1.0, ...")]: perf_events' atomic operations on lines of others."""
    found = []
    for name, row in rows.items():
        sites = collections.defaultdict(float)
        for (where, is_perf), (_, number, _) in row.sites.items():
            if is_perf:
                sites[where[-1]] += number
        text = ", ".join("%s() %.2f" % (f, n)
                         for f, n in sorted(sites.items(), key=lambda x: -x[1]) if n >= LEAST)
        if text:
            found.append((name, text))
    return found


def show_sites(name, row, least=LEAST):
    """Who moves lines, and how many different ones in the whole stretch."""
    print("%s: %.2f, of perf_events %.2f" % (name, row.moves, row.perf))
    for (where, is_perf), (moves, number, lines) in sorted(row.sites.items(),
                                                           key=lambda x: -x[1][0]):
        if moves >= least:
            print("  %7.2f %5.2f atomic %6d lines  %s %s" % (
                moves, number, len(lines), "*" if is_perf else " ", " < ".join(where)))


def check(stock, ours):
    """What is not as it should be."""
    bad = []
    for name, row in ours.items():
        if name in NO_EVENTS:
            continue
        if name.startswith(STEADY) and row.perf >= LEAST:
            bad.append("%s: perf_events moves %.2f lines" % (name, row.perf))
        elif row.perf > stock[name].perf + LEAST:
            bad.append("%s: perf_events moves %.2f lines, stock %.2f" % (
                name, row.perf, stock[name].perf))
    one, all_cpus, most = FLAT
    a, b = (ours[n].instructions - base_of(ours, n).instructions for n in (one, all_cpus))
    if b > most * a:
        bad.append("%s: %d instructions, on one %d" % (all_cpus, b, a))
    return bad
