# SPDX-License-Identifier: GPL-2.0
"""What "make report" and the README show: all of it is there, and says what the tables say.

The tables are read here in another way than benchdoc.py reads them, and from another place: the
goals' table and the lines below it.
"""
import os
import re
import subprocess
import xml.etree.ElementTree as ElementTree

import benchdoc
import rig

SAMPLES = os.path.join(rig.DATA, "perf-script.txt")
# What these samples are, outermost first, and how many are of the innermost.
STACKS = [
    (["hashjob", "__libc_start_call_main", "main", "hash_file", "hash_block"], 3),
    (["hashjob", "__libc_start_call_main", "main", "hash_file", "mix"], 2),
    (["hashjob", "__libc_read", "entry_SYSCALL_64_after_hwframe", "do_syscall_64", "ksys_read",
      "vfs_read", "copy_page_to_iter"], 1),
    (["gzip", "[ld-linux-x86-64.so.2]", "[ld-linux-x86-64.so.2]"], 2),
]
SOURCE = ["8 samples of cpu-clock", "gzip, hashjob", "perf record -g -F 999", "Linux 6.12.", "(ours)",
          "x86_64", "2 CPUs"]
SECTIONS = ["figures", "charts", "flame", "features"]


def run(out, samples):
    return subprocess.run([os.path.join(rig.SCRIPTS, "report"), "-o", out, samples],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def table_of_goals(text):
    """{operation: [stock, ours, ratio of x86_64, the same of arm64]} as text."""
    found = {}
    for line in text.partition("bench: begin goals")[2].partition("Goals missed")[0].split("\n"):
        m = re.match(r"`*(.+?)`* {2,}([\d,]+ .*)$", line)
        if m:
            found[m[1]] = m[2].split()[:6]
    return found


def unlike(figures, means, readme, page):
    """Figures of the benchmark that the README or the page does not show."""
    wrong = []
    page = re.sub(r"<[^>]*>", " ", page)
    for name in benchdoc.FIGURES:
        for stock, ours, ratio in (figures[name][:3], figures[name][3:]):
            if "| %s → %s (%s) |" % (stock, ours, ratio) not in readme:
                wrong.append("README.md lacks %s: %s, %s, %s" % (name, stock, ours, ratio))
            if not re.search(r"\b%s +%s +%s\b" % (stock, ours, ratio), page):
                wrong.append("the page lacks %s: %s, %s, %s" % (name, stock, ours, ratio))
    for arch, mean, count in means:
        if "%s of %s on %s" % (mean, count, arch) not in readme:
            wrong.append("README.md lacks the mean of %s, %s" % (arch, mean))
        if not re.search(r"\b%s +on %s \(%s operations" % (mean, arch, count), page):
            wrong.append("the page lacks the mean of %s, %s" % (arch, mean))
    return wrong


def dangling(folder, page):
    """What the page refers to and is not there, or is somewhere else."""
    found = re.findall(r'(?:href|src|data)="([^"]+)"', page)
    images = [x for x in found if x.endswith(".svg")]
    return ["no " + x for x in found if (
        not re.search(r'\bid="?%s\b' % x[1:], page) if x.startswith("#") else
        not os.path.exists(os.path.join(folder, x)))] + (
            ["no images"] if len(images) < len(benchdoc.drawn()) else []) + [
        "from elsewhere: " + x for x in re.findall(r"https?:\S+|@import.*|url\(.*", page)]


def frames(path):
    """[(function, samples, left, right, top)] of a flame graph."""
    found = []
    for group in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}g"):
        title, rect = (group.find("{http://www.w3.org/2000/svg}" + x) for x in ("title", "rect"))
        m = re.match(r"(.+) \((\d+) samples", title.text)
        x, y, wide = (float(rect.get(n)) for n in ("x", "y", "width"))
        found.append((m[1], int(m[2]), x, x + wide, y))
    return found


def above(every, name, under):
    """The nearest frame of that name that stands on another, or None."""
    on = [f for f in every if f[0] == name and f[4] < under[4]
          and f[2] >= under[2] - .2 and f[3] <= under[3] + .2]
    return max(on, key=lambda f: f[4], default=None)


def lost_stacks(path):
    """The stacks that the graph does not show."""
    every, wrong = frames(path), []
    for stack, samples in STACKS:
        under = next((f for f in every if f[0] == "all"), None)
        for name in stack:
            under = under and above(every, name, under)
        if not under or under[1] != samples:
            wrong.append(";".join(stack))
    return wrong


def lost_features(page):
    """Sections with a table in features.rst, and states of features, that the page lacks."""
    text = benchdoc.read("features.rst")
    titles = re.findall(r"^(\S.*)\n===+\n(?:(?!^===+\n).*\n)*?===+ [= ]+\n", text, re.M)
    states = re.findall(r"^\S.*? {2,}(done|differs|not|refused: E\w+)\b", text, re.M)
    shown = re.findall(r'<span class="state[^"]*">([^<]+)<', page)
    wrong = ["no section " + x for x in titles if "<th colspan=3>%s <" % x not in page]
    if len(shown) != len(states) or not titles or not states:
        wrong.append("%d states of %d" % (len(shown), len(states)))
    return wrong


def check(tally):
    out = os.path.join(rig.BUILD, "report-check")

    def result(what, wrong):
        tally.add("report: " + what, "failed" if wrong else "ok",
                  "".join("\n    " + x for x in wrong))
    r = run(out, SAMPLES)
    result("the page is made", [r.stderr] if r.returncode else [])
    if r.returncode:
        return
    with open(r.stdout.strip().split("\n")[-1], encoding="utf-8") as f:
        page = f.read()
    graph = os.path.join(out, "flamegraph.svg")
    readme, text = (benchdoc.read(x) for x in (benchdoc.README, "benchmark.rst"))
    means = re.findall(r"^(\w+): geometric mean ([\d.]+) of (\d+) rows; ", text, re.M)
    result("all sections", ["no " + x for x in SECTIONS if "<h2 id=%s>" % x not in page])
    result("every reference leads to a file of its folder", dangling(out, page))
    result("figures are those of the table of goals, as are the README's",
           unlike(table_of_goals(text), means, readme, page) +
           (["means of %d architectures" % len(means)] if len(means) != len(rig.ARCHES) else []))
    result("charts and the README's figures are what scripts/bench --draw makes of the tables",
           [os.path.basename(n) for n, x in benchdoc.drawn().items() if benchdoc.read(n) != x])
    charts = set(re.findall(r"\(Documentation/perf_events/(benchmark-[\w-]+\.svg)\)", readme))
    result("the README shows a chart", [] if charts & set(benchdoc.drawn()) else ["none"])
    result("the flame graph has the samples' stacks", lost_stacks(graph))
    result("the flame graph's source is said",
           ["no " + x for x in SOURCE if x not in page.partition("<h2 id=flame>")[2]])
    result("features", lost_features(page))
    r = run(out, os.devnull)
    result("samples without call chains are refused",
           [] if r.returncode and "no call chains" in r.stderr else ["exit code %d" % r.returncode])
