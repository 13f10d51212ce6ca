#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Print what bench measured on the stock kernel and on ours, side by side.

  compare.py [--no-check] [--arch ARCH] STOCK OURS

Both files hold the lines bench prints: operation, a tab, instructions or n/a.
The columns "above" are what the events add to the same operation without any,
where there is such a row, else all of it; goals are for ours / stock of that.
After the table comes the geometric mean of the ratios of all rows with a goal,
a line for each of them that is above the goal or above 1, and the rows that
say something about structure:

  * a switch with 256 passive events costs at most 1.1 times one with 1
  * opening one of 1,000 events costs at most 1.2 times opening one of 10
  * fork and exit with 1,000 inherited events take no more instructions than half of one for each
    event above those with 10: 1.005 of the whole, which varies by 0.003
  * with nothing open, an operation costs no more than the stock one

A missed goal is argued when argued.tsv beside this file has a line for the row
and the architecture: row, architecture, lowest figure found (of the column
"above"), where the instructions go; separated by tabs. It must not be above
that figure by more than 3 %, and never above stock.

Exit code 0 when every goal is met or argued, no row with a goal is above 1, the
mean is at most 0.4 and the structure holds; 1 when not or when something was
not measured, 2 when a file cannot be used.
"""
import argparse
import math
import os
import sys

SWITCH = "switch: pingpong, %d dummy task events"
OPEN = "open: one of %d sw task"
FAULT = "count: page fault, %d sw task"
FORK = "inherit: fork+exit, files shared, %d events"
THREAD = "cpus: thread, 8 sampling events for each, %d CPUs"
CPUS = [1, 2, 4, 8, 16, 32, 64]
MEAN = 0.4
SLACK = 1.03
# With nothing open, the only differences are the tick's.
SAME = 1.01
# Counting the hits of one mode costs what counting all does.
FLAT = 1.001
FLAT_FORK = 1.005

# What the same operation is called without events, by the beginning of a row's name.
BASES = [
    ("switch: pingpong", "none: pipe pingpong (2 switches)"),
    ("hw switch: pingpong", "none: pipe pingpong (2 switches)"),
    ("count: page fault", "none: page fault"),
    ("sample: ", "count: page fault, 1 sw task"),
    ("inherit: fork+exit, files shared", "none: fork+exit+wait, files shared"),
    ("hw inherit: fork+exit, files shared", "none: fork+exit+wait, files shared"),
    ("inherit: fork+exit", "none: fork+exit+wait"),
    ("hw inherit: fork+exit", "none: fork+exit+wait"),
    ("sideband: fork+exit+wait", "none: fork+exit+wait"),
    ("sideband: mmap exec+munmap", "sideband: mmap exec+munmap, no event"),
    ("bpf: test_run perf", "bpf: test_run empty"),
    ("tracepoint: getppid", "none: getppid"),
    ("cgroup: cross-cgroup pingpong", "cgroup: cross-cgroup pingpong, 0 cgroup events"),
] + [(THREAD % n, "cpus: thread, no event, %d CPUs" % n) for n in CPUS]

# Goals: ours / stock, of what is above the base.
GOALS = {
    "switch: pingpong, 1 dummy task events": 0.30,
    "switch: pingpong, 64 dummy task events": 0.02,
    "switch: pingpong, 256 dummy task events": 0.005,
    "switch: pingpong, task-clock": 0.40,
    "switch: pingpong, inherited task-clock x2": 0.10,
    "switch: pingpong, cpu-wide context-switches": 0.40,
    "hw switch: pingpong, 1 task events": 0.50,
    "hw switch: pingpong, 4 task events": 0.60,
    "hw switch: pingpong, 12 task events": 0.60,
    "hw switch: pingpong, inherited x2": 0.10,
    "cgroup: cross-cgroup pingpong, 1 cgroup events": 0.30,
    "cgroup: cross-cgroup pingpong, 64 cgroup events": 0.30,
    "open+close: sw task": 0.50,
    "open: one of 1000 sw task": 0.02,
    "open+mmap(9p)+close": 0.50,
    "hw open+close: task": 0.60,
    "read: sw task event": 0.60,
    "read: group of 8 sw": 0.60,
    "hw read: cycles": 0.50,
    "ioctl: DISABLE+ENABLE": 0.50,
    "hw ioctl: DISABLE+ENABLE": 0.60,
    "count: page fault, 1 sw task": 0.40,
    "count: page fault, 16 sw task": 0.50,
    "count: page fault, 1 sw task, user only": 0.40,
    "count: page fault, 16 sw task, user only": 0.50,
    "inherit: fork+exit, 100 events": 0.15,
    "inherit: fork+exit, files shared, 100 events": 0.03,
    "hw inherit: fork+exit, files shared, 1 event": 0.30,
    "cpus: thread, 8 sampling events for each, 1 CPUs": 0.15,
    "cpus: thread, 8 sampling events for each, 8 CPUs": 0.03,
    "cpus: thread, 8 sampling events for each, 64 CPUs": 0.005,
    "memory: 1,000 children, 8 hardware events inherited by each": 0.02,
    "sample: IP": 0.50,
    "sample: IP|TID|TIME": 0.50,
    "sample: IP|TID|TIME|ADDR|ID|CPU|PERIOD": 0.50,
    "sample: IP|TID|TIME|CALLCHAIN": 0.60,
    "sample: drop, ring full": 0.50,
    "hw sample: PMI+record, per sample": 0.50,
    "tracepoint: getppid counted": 0.70,
    "tracepoint: getppid sampled RAW": 0.60,
    "bpf: test_run perf_event_output 8B": 0.50,
    "bpf: test_run perf_event_output 256B": 0.50,
    "sideband: mmap exec+munmap, mmap2 event": 0.60,
    "sideband: mmap exec+munmap, another task's mmap2 event": 0.10,
    "sideband: fork+exit+wait, task event": 0.60,
}


def load(path):
    """{operation: instructions or None} in the order of the file."""
    rows = {}
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            name, tab, value = line.rstrip("\r\n").partition("\t")
            if not tab or ": " not in name and "+" not in name:
                continue
            if value == "n/a":
                rows[name] = None
            elif value.isdigit():
                rows[name] = int(value)
    if not rows:
        raise ValueError("no lines of bench in " + path)
    return rows


def argued(arch):
    """{row: (lowest figure found, why)} of an architecture."""
    found = {}
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "argued.tsv")
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            if line.startswith("#") or not line.strip():
                continue
            parts = line.rstrip("\n").split("\t")
            if len(parts) != 4 or parts[0] not in GOALS or not parts[2].isdigit():
                raise ValueError("%s:%d: row, architecture, figure, reason expected" % (path, number))
            if parts[1] == arch:
                found[parts[0]] = (int(parts[2]), parts[3])
    return found


def base_of(name):
    """What a row's operation is called without events, or None."""
    return next((b for start, b in BASES if name.startswith(start) and b != name), None)


def above(rows, name):
    """Instructions of a row above those of its base; None if one is not measured."""
    value, base = rows.get(name), base_of(name)
    if value is None or base is None:
        return value
    return value - rows[base] if rows.get(base) is not None else None


def figure(value):
    return "n/a" if value is None else format(value, ",")


def quotient(a, b):
    """Of two columns.  An operation that events add nothing to is 0 of stock's."""
    return max(b, 0) / a if a and a > 0 and b is not None else None


def ratio_text(value):
    return "-" if value is None else "%.3f" % value if value < 0.1 else "%.2f" % value


def table(stock, ours):
    names = list(stock) + [n for n in ours if n not in stock]
    line = "%-*s %10s %10s %6s %10s %10s %6s %6s"
    width = max(len(name) for name in names)
    print(line % (width, "operation", "stock", "ours", "ratio", "above", "above", "ratio", "goal"))
    for name in names:
        a, b = stock.get(name), ours.get(name)
        c, d = above(stock, name), above(ours, name)
        goal = ratio_text(GOALS[name]) if name in GOALS else ""
        print(line % (width, name, figure(a), figure(b), ratio_text(quotient(a, b)),
                      figure(c), figure(d), ratio_text(quotient(c, d)), goal))


def ratios(stock, ours):
    """{row with a goal: ours / stock, None if not measured}"""
    return {n: quotient(above(stock, n), above(ours, n)) for n in GOALS}


def mean(measured):
    """Geometric; a ratio of 0 has no logarithm: nothing is better than a thousandth here."""
    return math.exp(sum(math.log(max(r, 0.001)) for r in measured) / len(measured))


def goals(stock, ours, reasons):
    """The mean and the rows that miss; returns whether that is good enough."""
    found = ratios(stock, ours)
    measured = {n: r for n, r in found.items() if r is not None}
    good = len(measured) == len(found)
    for name in found:
        if name not in measured:
            print("FAIL  %s: not measured" % name)
    if not measured:
        return False
    average = mean(measured.values())
    met = sum(r <= GOALS[n] for n, r in measured.items())
    print("geometric mean of %d rows with a goal: %.3f, at most %.2f; %d goals met"
          % (len(measured), average, MEAN, met))
    good &= average <= MEAN
    for name, ratio in measured.items():
        if ratio <= GOALS[name]:
            continue
        lowest, why = reasons.get(name, (0, ""))
        word = "over"
        if ratio > 1:
            word = "FAIL"
        elif lowest and above(ours, name) <= SLACK * lowest:
            word = "argd"
        good &= word == "argd"
        print("%s  %s: %s, goal %s%s" % (word, name, ratio_text(ratio), ratio_text(GOALS[name]),
                                         "; lowest found %s: %s" % (figure(lowest), why)
                                         if lowest else ""))
    return good


def check(what, value, base, limit):
    """One structural row: prints it, returns whether it holds."""
    if not value or not base:
        print("FAIL  %s: not measured" % what)
        return False
    holds = value <= limit * base
    print("%s  %s: %.3f, at most %.2f" % ("ok  " if holds else "FAIL", what, value / base, limit))
    return holds


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--no-check", action="store_true", help="print the table only")
    parser.add_argument("--arch", default="", help="whose lines of argued.tsv count")
    parser.add_argument("stock")
    parser.add_argument("ours")
    args = parser.parse_args()
    try:
        stock, ours, reasons = load(args.stock), load(args.ours), argued(args.arch)
    except (OSError, ValueError) as error:
        print("compare: %s" % error, file=sys.stderr)
        return 2
    table(stock, ours)
    if args.no_check:
        return 0
    print()
    holds = [
        goals(stock, ours, reasons),
        check("switch with 256 passive events / with 1", ours.get(SWITCH % 256),
              ours.get(SWITCH % 1), 1.1),
        check("open one of 1,000 / one of 10", ours.get(OPEN % 1000), ours.get(OPEN % 10), 1.2),
        check("fork+exit with 1,000 inherited events / with 10", ours.get(FORK % 1000),
              ours.get(FORK % 10), FLAT_FORK),
    ]
    # Of what the events add, since a thread without them costs more than that.
    holds += [check("thread under 8 sampling events for each of %d CPUs / of 1" % n,
                    above(ours, THREAD % n), above(ours, THREAD % 1), 1.2) for n in (8, 64)]
    holds += [check("page fault with %d events of user space only / of both" % n,
                    ours.get(FAULT % n + ", user only"), ours.get(FAULT % n), FLAT)
              for n in (1, 16)]
    nothing_open = [n for n in stock
                    if n.startswith("none: ") or n == "sideband: mmap exec+munmap, no event"]
    holds += [check(name + ", ours / stock", ours.get(name), stock[name], SAME)
              for name in nothing_open]
    if not nothing_open:
        print("FAIL  no row with nothing open in " + args.stock)
    return 0 if nothing_open and all(holds) else 1


if __name__ == "__main__":
    sys.exit(main())
