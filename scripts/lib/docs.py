# SPDX-License-Identifier: GPL-2.0
"""The documents: they build, their links lead somewhere, the names they use are in the code."""
import fnmatch
import glob
import os
import re
import subprocess

import rig

PAGES = os.path.join(rig.TOP, "Documentation/perf_events")
WIDTH = 100


def known_words():
    """What the text may name: every word of the code, and the base's in kernel/."""
    words = set()
    for folder in (rig.TREE + "/kernel", rig.TOP + "/include", rig.TOP + "/arch",
                   os.path.join(rig.TOP, rig.TESTS)):
        for path in glob.glob(folder + "/**/*.[ch]", recursive=True):
            with open(path, encoding="utf-8") as f:
                words.update(re.findall(r"\w+", f.read()))
    return words


def known_files():
    """Names of files: ours, and what of the base the text is about."""
    tops = [os.path.join(rig.TOP, x) for x in ("kernel", "arch", "include", "tools", "scripts")]
    tops += [os.path.join(rig.TREE, x) for x in ("kernel/events", "include", "drivers/perf",
                                                  "tools/testing/selftests/bpf/benchs")]
    return {n for top in tops for _, _, names in os.walk(top) for n in names}


def strangers(text, words, files):
    """Functions, structures and files that the text names and that are nowhere."""
    named = set(re.findall(r"\bpe_[a-z]\w*|\b[a-z_]\w+(?=\(\))", text)) - words
    return sorted(named | set(re.findall(r"\b[a-z][\w-]*\.[ch]\b", text)) - files)


def long_lines(lines):
    """Numbers of lines that are too long; what a script has written counts as it is."""
    found, written = [], False
    for number, line in enumerate(lines, 1):
        line = re.sub(r"\]\(.*?\)", "]", line)    # the address of a link cannot be wrapped
        written = " bench: begin " in line or written and " bench: end " not in line
        if not written and len(line) > WIDTH:
            found.append(number)
    return found


def broken_links(path, text):
    """Links of a Markdown file that lead to no file of the repository."""
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", text)
    return [x for x in links if "://" not in x
            and not os.path.exists(os.path.join(os.path.dirname(path), x))]


def known_cases():
    """PROGRAM.CASE of every selftest, SUITE.CASE of KUnit's."""
    found = []
    for path in glob.glob(rig.TOP + "/kernel/events/tests/*.c") + \
            glob.glob(rig.TOP + "/arch/**/*kunit*.c", recursive=True):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        found += [suite + "." + x for suite in re.findall(r'\.name\s*= "(\w+)"', text)
                  for x in re.findall(r"KUNIT_CASE\w*\((\w+)", text)]
    for path in glob.glob(os.path.join(rig.TOP, rig.TESTS, "*.c")):
        with open(path, encoding="utf-8") as f:
            tables = re.findall(r"pt_case cases\[\] = \{(.*?)^\};", f.read(), re.M | re.S)
        name = os.path.basename(path)[:-2]
        found += [name + "." + x for t in tables for x in re.findall(r'\{ "([^"]+)"', t)]
    return found


def absent_cases(text, cases):
    """What the text names as PROGRAM.CASE of a test, and no program has."""
    programs = {x.partition(".")[0] for x in cases}
    named = re.findall(r'\b([a-z]\w*)\.(?!(?:c|h|rst|txt)\b)("[^"]+"|\w*[a-z*][\w*]*)', text)
    return sorted({"%s.%s" % x for x in named if x[0] in programs
                   and not fnmatch.filter(cases, "%s.%s" % (x[0], x[1].strip('"')))})


def check_cases(tally):
    cases = known_cases()
    for path in (PAGES + "/testing.rst", os.path.join(rig.TOP, rig.TESTS, "lib/classes.txt")):
        with open(path, encoding="utf-8") as f:
            wrong = absent_cases(f.read(), cases)
        tally.add("docs: cases in " + os.path.relpath(path, rig.TOP), "failed" if wrong else "ok",
                  "".join("\n    there is no " + x for x in wrong))


def groff(device, options, path):
    return subprocess.run(["groff", "-t", "-man", "-T" + device, *options, path],
                          capture_output=True, text=True)


def check_manual(tally):
    """Manual pages, written by hand or by Sphinx: groff has nothing to say, all calls are named."""
    written = sorted(glob.glob(os.path.join(rig.BUILD, "docs/man/*.[0-9]")))
    for path in sorted(glob.glob(rig.TOP + "/tools/perf_ext/*.[0-9]")) + written:
        # Cells of tables are narrow: that lines cannot be filled there says nothing.
        r = groff("utf8", ["-ww", "-Wbreak", "-z"], path)
        tally.add("docs: manual page " + os.path.basename(path),
                  "failed" if r.returncode or r.stderr else "ok", r.stderr[:2000])
    text = groff("ascii", ["-P-cbou", "-rHY=0"],
                 os.path.join(rig.BUILD, "docs/man/perf_event_ext.2")).stdout
    with open(os.path.join(rig.TOP, "include/uapi/linux/perf_event_ext.h")) as f:
        calls = set(re.findall(r"#define PERF_EXT_(?:AREA_)?IOC_(\w+)", f.read()))
    # Once where it is defined, and at least once in a sentence.
    silent = sorted(c for c in calls if len(re.findall(r"(?:_IOC_|\b)%s\b" % c, text)) < 2)
    tally.add("docs: perf_event_ext(2) names every call", "failed" if silent else "ok",
              " ".join(silent))


def check(tally):
    rig.run([os.path.join(rig.SCRIPTS, "deps"), "python3-sphinx", "groff"])
    r = subprocess.run([os.path.join(rig.SCRIPTS, "docs")], capture_output=True, text=True)
    tally.add("docs: Sphinx builds every page without a warning",
              "failed" if r.returncode else "ok", r.stderr[:3000])
    check_manual(tally)
    check_cases(tally)
    words, files = known_words(), known_files()
    readme = os.path.join(rig.TOP, "README.md")
    for path in sorted(glob.glob(PAGES + "/*.rst")) + [readme]:
        with open(path, encoding="utf-8") as f:
            text = f.read()
        wrong = ["line %d has more than %d columns" % (n, WIDTH)
                 for n in long_lines(text.split("\n"))]
        wrong += ["there is no %s" % x for x in strangers(text, words, files)]
        wrong += ["a link leads nowhere: " + x for x in broken_links(path, text)
                  if path == readme]
        tally.add("docs: " + os.path.relpath(path, rig.TOP), "failed" if wrong else "ok",
                  "".join("\n    " + x for x in wrong[:20]))
