#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Compare the lines abi-diff prints on a kernel with the recorded ones.

  compare.py [--later] [--limit N] RECORDED ACTUAL

Prints the lines that differ, by section, and how many. Sections named later-*
are about features that may be absent: they are compared only with --later,
and otherwise their differences are only counted. Answers that differ on purpose are
listed in differences.txt beside this file, each with its reason. Lines that are not of the
form "section/name: text" (kernel messages) are left out. Exit code 0 when
nothing differs, 1 when something does, 2 when a file cannot be used.
"""
import argparse
import difflib
import os
import re
import sys

LINE = re.compile(r"^([a-z][a-z0-9-]*)/([^:]*): (.*)$")


def load(path):
    """{section: [line, ...]} in the order of the file."""
    sections = {}
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            line = line.rstrip("\r\n")
            match = LINE.match(line)
            if match:
                sections.setdefault(match.group(1), []).append(line)
    if not sections:
        raise ValueError("no lines of abi-diff in " + path)
    return sections


def differences(name):
    """[(section, the other kernel's text, this kernel's text)] of a file beside this one."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    found = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            fields = [x.strip() for x in line.split(" | ")]
            if not line.strip() or line.startswith("#"):
                continue
            if len(fields) != 4 or not all(fields):
                raise ValueError("%s: not 'section | stock | this kernel | reason': %s"
                                 % (path, line.strip()))
            found.append(tuple(fields[:3]))
    return found


def adapt(lines, known="differences.txt"):
    """Another kernel's lines, those that differ on purpose as this kernel is to answer them."""
    changed, added = {}, {}
    for section, old, new in differences(known):
        if old == "-":
            added.setdefault(section, []).append("%s/%s" % (section, new))
        else:
            changed[section, old] = new
    result = []
    for line, after in zip(lines, lines[1:] + [""]):
        match = LINE.match(line)
        if match:
            section, name, text = match.groups()
            whole = changed.get((section, "%s: %s" % (name, text)))
            text = changed.get((section, text), text)
            line = "%s/%s" % (section, whole or "%s: %s" % (name, text))
        if not match or whole != "-":
            result.append(line)
        section = line.partition("/")[0]
        if section != after.partition("/")[0]:
            result += added.get(section, [])
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--later", action="store_true", help="compare later-* sections too")
    parser.add_argument("--limit", type=int, default=40, help="lines shown of each section")
    parser.add_argument("recorded")
    parser.add_argument("actual")
    args = parser.parse_args()
    try:
        recorded, actual = load(args.recorded), load(args.actual)
    except (OSError, ValueError) as error:
        print("compare: %s" % error, file=sys.stderr)
        return 2
    same = different = later = 0
    for section in list(recorded) + [s for s in actual if s not in recorded]:
        old, new = adapt(recorded.get(section, [])), actual.get(section, [])
        delta = [d for d in difflib.unified_diff(old, new, lineterm="", n=0)
                 if not d.startswith(("---", "+++", "@@"))]
        if section.startswith("later-") and not args.later:
            later += sum(d[0] == "-" for d in delta)
            continue
        count = max(sum(d[0] == "-" for d in delta), sum(d[0] == "+" for d in delta))
        same += len(old) - sum(d[0] == "-" for d in delta)
        different += count
        if delta:
            print("%s: %d of %d lines differ (- recorded, + this kernel)"
                  % (section, count, len(old)))
            for line in delta[:args.limit]:
                print("  " + line)
            if len(delta) > args.limit:
                print("  … and %d more" % (len(delta) - args.limit))
    print("%d lines the same, %d differ" % (same, different)
          + (", %d differ in later-* sections" % later if not args.later else ""))
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
