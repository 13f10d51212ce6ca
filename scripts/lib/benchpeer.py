# SPDX-License-Identifier: GPL-2.0
"""The benchmark beside a newer stock kernel, the peer: scripts/bench --peer TREE.

The peer is built by scripts/kernel like stock and measured by the same program. Its table in
benchmark.rst has what events add to an operation on stock, on the peer and on ours.
"""
import os
import re

import benchdoc
import rig

compare = benchdoc.compare
FLAVOUR = "peer"
# What is printed as 1.00 is not ahead.
LEVEL = 0.995
# Rows in which no event takes part, beside those that others are compared with.
NO_EVENTS = re.compile(
    r"none: |stream: BPF ring buffer|profile: read a key|.* 0 (cgroup |inherited )?events?$|"
    r".*\bno event(,|$)|bpf: test_run empty$|sideband: mmap exec\+munmap, no event$")


def version(tree):
    """VERSION.PATCHLEVEL.SUBLEVEL"""
    with open(os.path.join(tree, "Makefile"), encoding="utf-8") as f:
        found = dict(re.findall(r"^(VERSION|PATCHLEVEL|SUBLEVEL) *= *(\d+)$", f.read(2000), re.M))
    return ".".join(found[x] for x in ("VERSION", "PATCHLEVEL", "SUBLEVEL"))


def base_of(name):
    """What a row's operation is called without events, or None."""
    for _, pattern, base, _ in benchdoc.CURVES:
        m = re.fullmatch(re.escape(pattern).replace("%d", r"(\d+)"), name)
        if m and base:
            return base % int(m[1]) if "%d" in base else base
    if name.startswith("curve: cgroup switch pair"):
        return name.replace(", 1 event", ", no event")
    if name.startswith("profile: "):
        return "profile: no event"
    return compare.base_of(name)


def above(rows, name):
    """Instructions of a row above those of its base; None if one is not measured."""
    value, base = rows.get(name), base_of(name)
    if value is None or base is None:
        return value
    return None if rows.get(base) is None else value - rows[base]


class Sides:
    """Stock, the peer and ours on an architecture."""

    def __init__(self, files):
        self.stock, self.peer, self.ours = (compare.load(f) for f in files)
        # What an extension does is a row of ours alone.
        self.names = [n for n in self.peer if not NO_EVENTS.match(n) and
                      (self.stock.get(n), self.peer[n]) != (None, None)]

    def figures(self, name):
        return [above(rows, name) for rows in (self.stock, self.peer, self.ours)]

    def ratio(self, name):
        _, peer, ours = self.figures(name)
        return compare.quotient(peer, ours)


def table(sides, stock_version, peer_version):
    lines = []
    for name in sides.names:
        lines.append([benchdoc.literal(name)] + [compare.figure(x) for x in sides.figures(name)] +
                     [compare.ratio_text(sides.ratio(name))])
    return benchdoc.table(["above no event", stock_version, peer_version, "ours",
                           "ours / " + peer_version], lines)


def listed(head, items):
    return [head, ""] + ["* " + x for x in items] + [""] if items else []


def summary(arch, sides):
    """How many rows are ahead, and plainly those that are not."""
    ratios = {n: sides.ratio(n) for n in sides.names}
    measured = {n: r for n, r in ratios.items() if r is not None}
    behind = ["%s: %s" % (benchdoc.literal(n), compare.ratio_text(r))
              for n, r in measured.items() if r >= LEVEL]
    out = ["%s: ours is ahead in %d of %d rows; geometric mean %.3f." % (
        arch, len(measured) - len(behind), len(measured), compare.mean(measured.values())), ""]
    why = {"Not measured on the peer:": lambda n: above(sides.peer, n) is None,
           "Not measured on ours:": lambda n: above(sides.ours, n) is None,
           "Nothing to compare with, since they add nothing on the peer:": lambda n: True}
    out += listed("Not ahead:", behind)
    rest = [n for n in ratios if n not in measured]
    for head, holds in why.items():
        out += listed(head, [benchdoc.literal(n) for n in rest if holds(n)])
        rest = [n for n in rest if not holds(n)]
    return out


def differences(arch, config):
    """What Kconfig of the peer has not granted, as scripts/kernel has kept it."""
    path = os.path.join(rig.BUILD, "%s-%s-%s" % (FLAVOUR, arch, config), "refused")
    found = [re.sub(r"^ *CONFIG_(\w+): wanted (\S+), got (\S+)$", r"\1=\3 instead of \2", x)
             for x in rig.read_lines(path) or []]
    return ["Configured alike, but for: %s." % ", ".join(found) if found else "Configured alike.",
            ""]


def page(arch, config, files, tree):
    """The lines of benchmark.rst. files: rows of stock, the peer and ours."""
    sides = Sides(files)
    return summary(arch, sides) + differences(arch, config) + table(
        sides, version(rig.base()), version(tree))


def update(arch, lines):
    benchdoc.update_part("peer " + arch, lines)
