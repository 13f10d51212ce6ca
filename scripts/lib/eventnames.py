# SPDX-License-Identifier: GPL-2.0
"""Are the events of the CPU PMUs' tables those that their comments name?

The comment at the end of a line names the line's event codes in their order, as the vendor writes
them; "*" stands for the rest of a name, and words (with a space) say that the vendor has no name.
The comment at the head of a file says which of the vendor's event lists hold, by tag:
"hsw: haswell v35, haswellx v28", or "core2: none"; a table is of the tag that is in its identifier,
or of all tags of its file. Names are looked up in the lists of the base's tools/perf/pmu-events;
those of tags whose lists are not there (of CPUs that are too old, or too new) are not.
"""
import fnmatch
import functools
import glob
import json
import os
import re

import rig

# Macro: which of its arguments are codes, and how much of an event such a code says.
ANY, EXACT, BIT = "any umask", "umask", "bit of umask"
ROWS = {
    "CODES": (1, None, EXACT), "EVENTS": (1, None, ANY), "EXCL": (1, None, ANY),
    "UMASK_BIT": (1, None, BIT), "FIXED": (1, None, EXACT), "CACHE": (2, None, EXACT),
    "EXTRA": (0, 1, EXACT), "LOAD_LATENCY": (0, 1, EXACT), "STALLED": (0, 1, EXACT),
    "OFF_MODULE": (0, 1, ANY), "EVENT": (0, 1, ANY), "EVENTS_LD": (0, 2, ANY),
    "UMASK": (0, 1, EXACT), "HYBRID": (0, 1, EXACT), "E": (0, None, EXACT),
}
X86 = "arch/x86/events/"
MODELS = X86 + "intel/cpu/models/*.c"
FILES = [MODELS, X86 + "intel/cpu/model.h", X86 + "intel/cpu/pebs/events.c",
         X86 + "amd/cpu/events.c", "arch/arm64/kernel/perf/pmuv3_models.c"]


class Code:
    """A code of a table: where, what it is, and the name that the line gives it."""
    def __init__(self, path, line, table, macro, value, kind):
        self.path, self.line, self.table, self.macro = path, line, table, macro
        self.value, self.kind, self.name = value, kind, None


def row_of(macro):
    """EVENT_LD_X and UMASK_LD##x are an EVENT and a UMASK."""
    return ROWS.get(macro) or ROWS.get(macro.split("_")[0] if macro[:5] in (
        "EVENT", "UMASK", "HYBRI") else None)


def arguments(text, at):
    """(offset, text) of each argument of the call whose parenthesis opens at @at."""
    depth, start, found = 0, at + 1, []
    for i in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if not depth or (depth == 1 and text[i] == ","):
            found.append((start, text[start:i]))
            start = i + 1
        if not depth:
            return found
    raise rig.Failure("a parenthesis that does not close: " + text[at:at + 60])


def blank_comments(text):
    return re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)


def values(macro, args):
    """(offset, code, kind) of each code that a row gives as a number."""
    first, end, kind = row_of(macro)
    if macro == "EVENT" and len(args) == 4:  # arm64: cache, op, result, event
        first, end = 3, 4
    found = [(at + len(arg) - len(arg.lstrip()), int(arg, 16)) for at, arg in args[first:end]
             if re.fullmatch(r"\s*(0x[0-9a-f]+|0)\s*", arg)]
    if macro == "E":  # umask, event
        found = [(found[0][0], found[0][1] << 8 | found[1][1])] if len(found) == 2 else []
    return [(at, code, kind) for at, code in found if code]


def codes_of(path, text):
    """Every code of the rows of a file, each with what stands at the end of its line."""
    bare, lines, found = blank_comments(text), text.split("\n"), []
    tables = [(0, "")] + [(m.start(), m[1] or m[2] or m[3]) for m in re.finditer(
        r"^(?:\w[\w *]* (\w+)\[\].*= \{|#define (\w+)|\t\[AMD_PE_(\w+)\] = \{)", bare, re.M)]
    for m in re.finditer(r"\b([A-Z_]+)(?:##\w+)?\(", bare):
        if row_of(m[1]):
            found += [(at, m[1], code, kind)
                      for at, code, kind in values(m[1], arguments(bare, m.end() - 1))]
    # Files in events/: the name stands there where there is room.
    for m in re.finditer(r'"event=(0x[0-9a-f]+)(?:,umask=(0x[0-9a-f]+))?(?:,[^";]*)?".*\*/', text):
        found.append((m.start(), "", int(m[1], 16) | int(m[2] or "0", 16) << 8, EXACT))
    codes = [Code(path, bare.count("\n", 0, at), [n for x, n in tables if x <= at][-1], *rest)
             for at, *rest in sorted(found)]
    for number in {c.line for c in codes}:
        here = [c for c in codes if c.line == number]
        m = re.search(r"/\* (.*?) \*/\s*\\?$", lines[number])
        names = m[1].split(", ") if m else []
        if len({c.value for c in here}) == 1:
            names *= len(here) if len(names) == 1 else 1
        for c, name in zip(here, names if len(names) == len(here) else []):
            c.name = name
    return codes


def tags_of(text):
    """tag -> [(list, version, unit)] of the comment at the head of a file."""
    head = re.sub(r"\n \* ?", " ", re.search(r"/\*(?! SPDX).*?\*/", text, re.S)[0])
    one = r"[\w/-]+ v[\d.]*\d(?: cpu_\w+)?"
    return {m[1]: [tuple(x.split() + [""])[:3] for x in m[2].split(", ") if x != "none"]
            for m in re.finditer(r"\b(\w+): (none\b|%s(?:, %s)*)" % (one, one), head)}


@functools.lru_cache(None)
def lists(path):
    return glob.glob(os.path.join(rig.base(), "tools/perf/pmu-events/arch", path))


def number(text):
    return int(text.split(",")[0], 0) if text else 0


@functools.lru_cache(None)
def standard(arch):
    """The events that the lists of arm64 share, by name."""
    found = {}
    for path in lists(arch + "/*.json"):
        with open(path) as f:
            found.update((e["EventName"], e) for e in json.load(f) if "EventName" in e)
    return found


@functools.lru_cache(None)
def events(name, unit):
    """(event, umask, value of the register, name, row) of a list."""
    arch = "arm64" if "/" in name else "x86"
    found = []
    for path in lists("%s/%s/*.json" % (arch, name)):
        with open(path) as f:
            rows = json.load(f)
        for e in rows if isinstance(rows, list) else []:
            e = standard(arch).get(e.get("ArchStdEvent"), e)
            if "EventName" not in e or e.get("Unit", unit) != unit or "MetricName" in e:
                continue
            for code in e.get("EventCode", "0").split(","):
                found.append((number(code), number(e.get("UMask")), number(e.get("MSRValue")),
                              e["EventName"], e))
    return found


@functools.lru_cache(None)
def versions():
    """list -> version, of the base."""
    found = {}
    for path in lists("*/mapfile.csv"):
        with open(path) as f:
            found.update(x.split(",")[2:0:-1] for x in f if x.count(",") == 3)
    return found


def is_of(code, event):
    """Is it what the code says?"""
    select, umask, value, name = event[:4]
    if re.search("_?(offcore|responses)(_|$)", code.table):
        return value == code.value and name.startswith("O")
    if "arm64" in code.path:
        return select == code.value
    if event[4].get("Invert") in ("1", "0x1") and code.macro != "STALLED":
        return False
    low, high = code.value & 0xff, code.value >> 8 & 0xff
    return select & 0xff == low and {ANY: True, EXACT: umask == high,
                                     BIT: umask & high == high}[code.kind]


def known_as(code, tags):
    """The events of a code; None: there is no list."""
    words = code.table.lower().split("_")
    mine = [t for t in tags if t in words] or list(tags)
    found = [x for t in mine for x in tags[t] if versions().get(x[0]) == x[1]]
    return [e for name, _, unit in found for e in events(name, unit) if is_of(code, e)] \
        if found else None


def wrong(code, tags):
    """What is wrong with a name; nothing: it is right, or there is no list."""
    known = known_as(code, tags)
    names = sorted({e[3] for e in known or []})
    if not code.name:
        return "no name for each code at the end of the line (%s)" % ", ".join(names[:3])
    if known is None:
        return ""
    if " " in code.name:
        return "it has a name: " + names[0] if names and code.kind == EXACT else ""
    return "" if fnmatch.filter(names, code.name) else \
        "%s is no name of it (%s)" % (code.name, ", ".join(names[:3]) or "it has none")


def outdated(tags):
    """Lists that the base has in a later version."""
    def key(version):
        return [int(x) for x in version[1:].split(".")]
    return ["%s is %s in the base, not %s" % (name, versions()[name], version)
            for x in tags.values() for name, version, _ in x
            if key(versions().get(name, version)) > key(version)]


def read(tree):
    """{path: (text, tags)} of the files with tables."""
    texts = {}
    for pattern in FILES:
        for path in sorted(glob.glob(os.path.join(tree, pattern))):
            with open(path) as f:
                texts[os.path.relpath(path, tree)] = f.read()
    tags = {path: tags_of(text) for path, text in texts.items()}
    # What is not of one generation is of all.
    intel = {t: x for path, own in tags.items() if "/models/" in path for t, x in own.items()}
    for path in tags:
        if "/intel/" in path and not (tags[path] and "/models/" in path):
            tags[path] = {**intel, **tags[path]}
    return {path: (text, tags[path]) for path, text in texts.items()}


def check(tally):
    for path, (text, tags) in read(rig.TOP).items():
        codes = codes_of(path, text)
        bad = outdated(tags) + ["%s:%d: %#x: %s" % (path, c.line + 1, c.value, why)
                               for c in codes for why in [wrong(c, tags)] if why]
        if codes:
            tally.add("event names: " + path, "failed" if bad else "ok",
                      "".join("\n    " + x for x in bad))
