# SPDX-License-Identifier: GPL-2.0
"""The documents: they build, their links lead somewhere, the names they use are in the code."""
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


def check(tally):
    rig.run([os.path.join(rig.SCRIPTS, "deps"), "python3-sphinx"])
    r = subprocess.run([os.path.join(rig.SCRIPTS, "docs")], capture_output=True, text=True)
    tally.add("docs: Sphinx builds every page without a warning",
              "failed" if r.returncode else "ok", r.stderr[:3000])
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
