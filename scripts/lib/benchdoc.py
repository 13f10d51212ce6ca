# SPDX-License-Identifier: GPL-2.0
"""Tables and charts of the benchmark, for Documentation/perf_events.

update() rewrites what lies between the markers of benchmark.rst; all of it follows from the lines
that bench printed. These tables are whole numbers and can be read back: recorded() does so for
drawn(), which is all that is made of them: the charts, and the figures of README.md. scripts/report
takes its figures from there, too.
"""
import importlib.util
import math
import os
import re

import lines
import rig

DOC = os.path.join(rig.TOP, "Documentation/perf_events")
BENCH = os.path.join(rig.TOP, rig.TESTS, "bench")
ARCHES = rig.ARCHES
# Rows that have a part of the page to themselves, by the beginnings of their names.
BESIDE = ("curve", "memory", "stream", "profile", "cpus")


def compare_module():
    spec = importlib.util.spec_from_file_location("compare", os.path.join(BENCH, "compare.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


compare = compare_module()


class Rows:
    """What was measured on an architecture. stock, ours: {operation: figure or None}"""

    def __init__(self, arch, stock, ours):
        self.arch, self.stock, self.ours = arch, stock, ours
        self.argued = compare.argued(arch)

    def cells(self, name):
        """Stock, ours, ratio; above the same operation without events."""
        a, b = compare.above(self.stock, name), compare.above(self.ours, name)
        return [compare.figure(a), compare.figure(b), compare.ratio_text(compare.quotient(a, b))]


# ---- tables ----

def table(heads, lines):
    """A simple table of reStructuredText; the first column is text, the others figures."""
    rows = [list(map(str, x)) for x in [heads] + lines]
    wide = [max(len(r[i]) for r in rows) for i in range(len(heads))]
    rule = " ".join("=" * w for w in wide)

    def text(row):
        first = row[0].ljust(wide[0])
        return " ".join([first] + [x.rjust(w) for x, w in zip(row[1:], wide[1:])]).rstrip()
    return [rule, text(rows[0]), rule] + [text(r) for r in rows[1:]] + [rule, ""]


def columns(*names):
    return ["%s %s" % (a, n) for a in ARCHES for n in names]


def literal(name):
    return "``%s``" % name if re.search(r"[|*_`]", name) else name


def goal_table(rows):
    lines = []
    for name, goal in compare.GOALS.items():
        cells = [c for r in rows for c in r.cells(name)]
        lines.append([literal(name)] + cells + [compare.ratio_text(goal)])
    return table(["operation"] + columns("stock", "ours", "ratio") + ["goal"], lines)


def means(rows):
    """[(architecture, geometric mean of the ratios, rows, goals met, rows above stock)]"""
    found = []
    for r in rows:
        ratios = compare.ratios(r.stock, r.ours)
        measured = [x for x in ratios.values() if x is not None]
        met = [n for n, x in ratios.items() if x is not None and x <= compare.GOALS[n]]
        found.append((r.arch, "%.3f" % compare.mean(measured), len(measured), len(met),
                      sum(x > 1 for x in measured)))
    return found


def summary(rows):
    out = []
    for mean in means(rows):
        out += ["%s: geometric mean %s of %d rows; %d goals met, %d rows above stock." % mean, ""]
    missed = []
    for r in rows:
        for name, ratio in compare.ratios(r.stock, r.ours).items():
            if ratio is not None and ratio > compare.GOALS[name]:
                lowest, why = r.argued.get(name, (None, "not argued"))
                missed.append("* %s, %s: %s, goal %s; %s%s." % (
                    literal(name), r.arch, compare.ratio_text(ratio),
                    compare.ratio_text(compare.GOALS[name]),
                    "lowest found %s: " % compare.figure(lowest) if lowest else "", why))
    return out + (["Goals missed:", ""] + missed + [""] if missed else [])


def whole_table(rows):
    names = [n for n in rows[0].stock if not n.startswith(BESIDE)]
    lines = []
    for name in names:
        lines.append([literal(name)] + [x for r in rows for x in (
            compare.figure(r.stock.get(name)), compare.figure(r.ours.get(name)),
            compare.ratio_text(compare.quotient(r.stock.get(name), r.ours.get(name))))])
    return table(["operation"] + columns("stock", "ours", "ratio"), lines)


def other_table(rows, prefix, unit):
    names = dict.fromkeys(n for r in rows for n in [*r.stock, *r.ours] if n.startswith(prefix))
    lines = [[n[len(prefix):].lstrip()] + [x for r in rows for x in (
        compare.figure(r.stock.get(n)), compare.figure(r.ours.get(n)),
        compare.ratio_text(compare.quotient(r.stock.get(n), r.ours.get(n))))] for n in names]
    return table([unit] + columns("stock", "ours", "ratio"), lines)


def ext_table(files):
    """Rows "ext: what: how"; differences are to the first "how" of a "what"."""
    rows = {arch: compare.load(f) for arch, f in files.items()}
    first, lines = {}, []
    for name in next(iter(rows.values())):
        what, how = name[len("ext: "):].split(": ")
        if what not in first:
            first[what] = name
            lines.append([what] + [""] * 2 * len(rows))
        cells = []
        for values in rows.values():
            value, base = values.get(name), values.get(first[what])
            more = None if None in (value, base) else value - base
            cells += [compare.figure(value),
                      "" if first[what] == name else "n/a" if more is None else
                      format(more, "+,")]
        lines.append(["- " + how] + cells)
    return table(["instructions"] + [x for a in rows for x in (a, "more")], lines)


def lines_table(stock, ours):
    return table(["operation"] + lines.HEADS, lines.table_lines(stock, ours))


def references():
    found = {}
    with open(os.path.join(BENCH, "reference.tsv"), encoding="utf-8") as f:
        for line in f:
            if not line.startswith("#"):
                name, *values = line.rstrip("\n").split("\t")
                found[name] = dict(zip(["x86_64", "arm64"], map(int, values)))
    return found


def reference_table(rows):
    """Stock as measured here and by somebody else, and how many rows agree."""
    known, lines, out = references(), [], []
    for name, values in known.items():
        cells = []
        for r in rows:
            here, there = r.stock.get(name), values[r.arch]
            cells += [compare.figure(here), compare.figure(there),
                      "n/a" if here is None else "%+.1f %%" % (100 * here / there - 100)]
        lines.append([literal(name)] + cells)
    for r in rows:
        both = [(r.stock[n], known[n][r.arch]) for n in known if r.stock.get(n) is not None]
        near = [sum(abs(a / b - 1) <= limit for a, b in both) for limit in (0.03, 0.06)]
        out += ["%s: %d of %d rows within 3 %%, %d within 6 %%." % (
            r.arch, near[0], len(both), near[1]), ""]
    return out + table(["operation"] + columns("here", "there", "difference"), lines)


# ---- the page read back ----

def read(name):
    with open(os.path.join(DOC, name), encoding="utf-8") as f:
        return f.read()


def part(text, name, comment=".. %s"):
    """What lies between the markers of that name."""
    begin, end = (comment % ("bench: %s %s" % (word, name)) + "\n" for word in ("begin", "end"))
    if text.count(begin) != 1 or text.count(end) != 1:
        raise rig.Failure("the markers of the part %s are missing" % name)
    return text.partition(begin)[2].partition(end)[0]


def table_rows(text):
    """The cells of the first table, without its heads."""
    rule = re.search(r"^=+( +=+)+$", text, re.M)
    if not rule:
        raise rig.Failure("a table is missing")
    spans = [m.span() for m in re.finditer("=+", rule[0])]
    body = text[rule.start():].split(rule[0])[2]
    return [[line[a:b].strip().strip("`") for a, b in spans] for line in body.strip("\n").split("\n")]


def recorded():
    """[Rows] of each architecture, as the page has them."""
    page = read("benchmark.rst")
    found = [({}, {}) for _ in ARCHES]
    for name, prefix in (("whole", ""), ("curves", "curve: "), ("cpus", "cpus: "),
                         ("memory", "memory: ")):
        for operation, *cells in table_rows(part(page, name)):
            for i, sides in enumerate(found):
                for side, cell in zip(sides, cells[3 * i:]):
                    side[prefix + operation] = None if cell == "n/a" else int(cell.replace(",", ""))
    return [Rows(arch, *sides) for arch, sides in zip(ARCHES, found)]


def recorded_lines(arch):
    """[(operation, lines that perf_events moves on stock, on ours)]"""
    at = [1 + lines.HEADS.index("perf " + x) for x in ("stock", "ours")]
    return [(row[0], *(float(row[i]) for i in at))
            for row in table_rows(part(read("benchmark.rst"), "lines " + arch))]


# ---- charts ----

# They have a background of their own, since not every page that shows one is as dark as the
# reader's preference.
STYLE = """<style>
.paper { fill: #fff }
text { font: 12px sans-serif; fill: #444 }
.small { font-size: 11px }
.grid { stroke: #888; stroke-opacity: .35; fill: none }
.goal { stroke: #444; stroke-width: 2 }
.a { fill: #2a78c2 } .b { fill: #4fa89a }
.line { fill: none; stroke-width: 2 }
.stock { stroke: #d0722a; fill: #d0722a } .ours { stroke: #2a78c2; fill: #2a78c2 }
.arm64 { stroke-dasharray: 5 3 }
.line { fill: none }
@media (prefers-color-scheme: dark) {
.paper { fill: #1b1d21 } text { fill: #ccc } .goal { stroke: #ccc }
}
</style>
<rect class="paper" width="100%" height="100%"/>"""


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;")


def svg(width, height, parts):
    return "\n".join([
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d">'
        % (width, height, width, height), STYLE] + parts + ["</svg>", ""])


def label(x, y, text, anchor="start", extra=""):
    return '<text x="%.1f" y="%.1f" text-anchor="%s"%s>%s</text>' % (x, y, anchor, extra, escape(text))


def ratio_chart(rows):
    """Bars of ours / stock for each row with a goal, a tick at the goal."""
    left, wide, step, top, most = 395, 400, 24, 50, 1.2
    names = list(compare.GOALS)
    found = [compare.ratios(r.stock, r.ours) for r in rows]
    height = top + step * len(names) + 20
    parts = [label(left, 18, "ours / stock, of the instructions that events add to an operation"),
             '<rect class="a" x="%d" y="26" width="10" height="10"/>' % left,
             label(left + 15, 35, rows[0].arch),
             '<rect class="b" x="%d" y="26" width="10" height="10"/>' % (left + 80),
             label(left + 95, 35, rows[-1].arch), label(left + 160, 35, "| goal")]
    for i in range(7):
        x = left + wide * i * 0.2 / most
        parts.append('<path class="grid" d="M%.1f %d V%d"/>' % (x, top - 4, height - 18))
        parts.append(label(x, height - 5, "%.1f" % (i * 0.2), "middle"))
    for i, name in enumerate(names):
        y = top + i * step
        parts.append(label(left - 8, y + 14, name, "end"))
        for j, ratios in enumerate(found):
            ratio = ratios[name]
            if ratio is None:
                continue
            length = wide * min(ratio, most) / most
            parts.append('<rect class="%s" x="%d" y="%d" width="%.1f" height="8"/>' % (
                "ab"[j], left, y + 1 + 10 * j, max(length, 1)))
            parts.append(label(left + wide + 50, y + 9 + 10 * j, compare.ratio_text(ratio), "end",
                               ' class="small"'))
        x = left + wide * compare.GOALS[name] / most
        parts.append('<path class="goal" d="M%.1f %d v20"/>' % (x, y))
    return svg(left + wide + 60, height, parts)


# Title, the rows' names with %d, what is subtracted (a name, with %d or without, or None), axis.
CURVES = [
    ("switch pair, above none", "curve: switch pair, %d events", "curve: switch pair, 0 events",
     "passive events of the task"),
    ("open + close of one more", "curve: open+close of one more, %d events", None,
     "events of the running task"),
    ("page fault, above none", "curve: page fault, %d events", "curve: page fault, 0 events",
     "events that count it"),
    ("fork + exit, above none", "curve: fork+exit, %d inherited events",
     "curve: fork+exit, 0 inherited events", "inherited events"),
    ("open for a sleeping task, each", "curve: open for a sleeping task, each of %d", None,
     "events opened"),
    ("close, each", "curve: close, each of %d", None, "events closed"),
    ("switch pair across cgroups", "curve: cgroup switch pair, depth %d, 1 event", None,
     "levels of cgroups"),
    ("open + mmap + close", "curve: open+mmap+close, %d pages", None, "pages of the buffer"),
    ("thread, 8 sampling events, above none", "cpus: thread, 8 sampling events for each, %d CPUs",
     "cpus: thread, no event, %d CPUs", "possible CPUs, with events for each"),
    ("thread, 8 sampling events, above none", "curve: thread, 8 sampling events, family of %d",
     "curve: thread, no event, family of %d", "threads that have inherited them"),
    ("bytes of 8 events that all inherit",
     "memory: %d children, 8 hardware events inherited by each", None, "children"),
]


def points(rows, pattern, base):
    """[(number, figure)] of a curve."""
    number = re.compile(re.escape(pattern).replace("%d", r"([\d,]+)") + "$")
    found = []
    for name, value in rows.items():
        m = number.match(name)
        count = int(m[1].replace(",", "")) if m else 0
        if not count or value is None:
            continue
        under = 0
        if base:
            under = rows.get(base % count if "%d" in base else base) or 0
        found.append((count, max(value - under, 1)))
    return sorted(found)


def panel(x, y, wide, high, title, axis, curves):
    """A chart with logarithmic axes. curves: (class, points)"""
    every = [p for c in curves for p in c[1]]
    if not every:
        return []
    x0, x1 = math.log10(min(p[0] for p in every)), math.log10(max(p[0] for p in every))
    y0 = math.floor(math.log10(min(p[1] for p in every)))
    y1 = math.ceil(math.log10(max(p[1] for p in every)))
    y1 = max(y1, y0 + 2)

    def at(p):
        return (x + wide * (math.log10(p[0]) - x0) / (x1 - x0),
                y + high - high * (math.log10(p[1]) - y0) / (y1 - y0))
    parts = [label(x, y - 10, title), label(x + wide, y + high + 32, axis, "end", ' class="small"')]
    for power in range(y0, y1 + 1):
        py = at((10 ** x0, 10 ** power))[1]
        text = format(10 ** power, ",") if power < 6 else "%d M" % 10 ** (power - 6)
        parts.append('<path class="grid" d="M%d %.1f h%d"/>' % (x, py, wide))
        parts.append(label(x - 5, py + 4, text, "end", ' class="small"'))
    for value in sorted({p[0] for p in every}):
        px = at((value, 10 ** y0))[0]
        parts.append(label(px, y + high + 16, format(value, ","), "middle", ' class="small"'))
    for kind, line in curves:
        where = " ".join("%.1f,%.1f" % at(p) for p in line)
        parts.append('<polyline class="line %s" points="%s"/>' % (kind, where))
        parts += ['<circle class="%s" cx="%.1f" cy="%.1f" r="2.5"/>' % ((kind.split()[0],) + at(p))
                  for p in line]
    return parts


def curve_chart(rows):
    wide, high, across = 320, 170, 2
    parts = [label(20, 20, "guest instructions, in the last panel bytes; both axes logarithmic; "
                   "what is below 1 stands at 1")]
    for i, (kind, arch) in enumerate((k, r.arch) for k in ("stock", "ours") for r in rows):
        parts.append('<path class="line %s %s" d="M%d 36 h30"/>' % (kind, arch, 20 + 150 * i))
        parts.append(label(55 + 150 * i, 40, "%s, %s" % (kind, arch)))
    for i, (title, pattern, base, axis) in enumerate(CURVES):
        curves = [("%s %s" % (kind, r.arch), points(getattr(r, kind), pattern, base))
                  for kind in ("stock", "ours") for r in rows]
        parts += panel(80 + i % across * (wide + 90), 90 + i // across * (high + 80), wide, high,
                       title, axis, curves)
    return svg(across * (wide + 90) + 30, 70 + (len(CURVES) + 1) // across * (high + 80), parts)


def lines_chart(arch, rows):
    """Bars of the lines that perf_events moves in an operation."""
    left, wide, step, top = 300, 400, 24, 50
    rows = [r for r in rows if r[1] or r[2]]
    height = top + step * len(rows) + 10
    x0, x1 = 0.01, 1000
    parts = [label(left, 18, arch + ": lines that perf_events moves between CPUs, an operation; "
                   "logarithmic")]
    for kind, text, x in (("stock", "stock", left), ("ours", "ours", left + 80)):
        parts.append('<rect class="%s" x="%d" y="26" width="10" height="10"/>' % (kind, x))
        parts.append(label(x + 15, 35, text))
    for i, (name, *values) in enumerate(rows):
        y = top + i * step
        parts.append(label(left - 8, y + 14, name, "end"))
        for j, (kind, value) in enumerate(zip(("stock", "ours"), values)):
            length = wide * math.log10(max(value, x0) / x0) / math.log10(x1 / x0)
            parts.append('<rect class="%s" x="%d" y="%d" width="%.1f" height="8"/>' % (
                kind, left, y + 1 + 10 * j, max(length, 1)))
            parts.append(label(left + length + 5, y + 9 + 10 * j, "%.2f" % value, "start",
                               ' class="small"'))
    return svg(left + wide + 60, height, parts)


# ---- the documents ----

# The rows that the README and the report show, in their words.
FIGURES = {
    "switch: pingpong, 256 dummy task events":
        "what 256 software events of a task add to a pair of context switches",
    "open: one of 1000 sw task": "opening one of 1,000 software events of a task",
    "sample: IP|TID|TIME": "what a sample of address, task and time adds to a count",
}


def readme_figures(rows):
    lines = ["| | " + " | ".join(r.arch for r in rows) + " |", "|---" * (1 + len(rows)) + "|"]
    for name, words in FIGURES.items():
        lines.append("| %s | %s |" % (words, " | ".join("%s → %s (%s)" % tuple(r.cells(name))
                                                         for r in rows)))
    return lines + ["", "Geometric mean of the ratios of all operations with a goal: " + ", ".join(
        "%s of %d on %s" % (mean, count, arch) for arch, mean, count, *_ in means(rows)) + "."]


def between(text, name, lines, comment=".. %s"):
    """The text with the part of that name replaced."""
    old = part(text, name, comment)
    begin = comment % ("bench: begin " + name) + "\n"
    return text.replace(begin + old, begin + "\n" + "\n".join(lines).rstrip("\n") + "\n\n")


def write(name, text):
    with open(os.path.join(DOC, name), "w", encoding="utf-8") as f:
        f.write(text)


README = os.path.join(rig.TOP, "README.md")


def drawn():
    """{file: its text}: what follows from the tables of benchmark.rst."""
    rows = recorded()
    files = {"benchmark-ratios.svg": ratio_chart(rows), "benchmark-curves.svg": curve_chart(rows)}
    for arch in ARCHES:
        files["benchmark-lines-%s.svg" % arch] = lines_chart(arch, recorded_lines(arch))
    return files | {README: between(read(README), "figures", readme_figures(rows), "<!-- %s -->")}


def draw():
    for name, text in drawn().items():
        write(name, text)


def update_part(name, lines):
    write("benchmark.rst", between(read("benchmark.rst"), name, lines))


def update_ext(files):
    """files: {architecture: rows of ours}"""
    update_part("ext", ext_table({a: files[a] for a in ARCHES}))


def update_lines(arch, stock, ours):
    listed = ["Atomic operations on lines of others, ours:", ""] + [
        "* %s: %s" % x for x in lines.atomics(ours)]
    update_part("lines " + arch, lines_table(stock, ours) + listed)
    draw()


def update(files):
    """files: {architecture: (rows of stock, rows of ours)}"""
    rows = [Rows(arch, *map(compare.load, files[arch])) for arch in ARCHES]
    text = read("benchmark.rst")
    for name, lines in (
            ("goals", goal_table(rows) + summary(rows)), ("whole", whole_table(rows)),
            ("memory", other_table(rows, "memory:", "bytes")),
            ("stream", other_table(rows, "stream:", "instructions of a record")),
            ("profile", other_table(rows, "profile:", "instructions")),
            ("curves", other_table(rows, "curve:", "instructions")),
            ("cpus", other_table(rows, "cpus:", "instructions")),
            ("reference", reference_table(rows))):
        text = between(text, name, lines)
    write("benchmark.rst", text)
    draw()
