# SPDX-License-Identifier: GPL-2.0
"""Does each step of the series build? And checkpatch, over its patches.

What a patch adds before a switch-over is built with that applied, as the cover letter says. So the
tree build/series-tree gets the switch-over first, then the patches before it, each of which is
built, then what the switch-over itself names.
"""
import os
import re
import shutil
import subprocess

import rig
import series
import x86pmu

TREE = os.path.join(rig.BUILD, "series-tree")
BUILDS = {"build": "x86_64", "build-arm64": "arm64"}
# Guests whose PMU counts: options of run-guest.
COUNTS = {"x86_64": ["--pmu", "skl"], "arm64": []}
JOB = r"""
mkdir -p /out
perf stat -x, -e instructions:u true 2> /out/stat
"""
CHECKED = re.compile(r"^(?P<path>[^:]+):(?P<line>\d*):? ?(ERROR|WARNING|CHECK):(?P<type>\w+): (?P<text>.*)")


def rounds(patches):
    """[(the patches whose files come first, those that are built then, in order)]"""
    found, waiting = [], []
    for p in patches:
        waiting.append(p)
        if p.one("until"):
            continue
        found.append((p, waiting))
        waiting = []
    return found


def unpack(base):
    """The base, as files that share their contents where the file system can."""
    shutil.rmtree(TREE, ignore_errors=True)
    rig.run(["cp", "-a", "--reflink=auto", base, TREE])


def build(tally, patch):
    """What the patch names; one result for each architecture or folder."""
    for key, arch in BUILDS.items():
        if patch.keys[key]:
            kbuild(tally, patch, arch, patch.keys[key])
    for folder in patch.keys["make"]:
        r = subprocess.run(["make", "-s", "-C", os.path.join(TREE, folder)], text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        tally.add("series: %s: %s" % (patch.subject, folder), "failed" if r.returncode else "ok",
                  r.stdout[-1000:])
    for arch in patch.keys["boot"]:
        boot(tally, patch, arch)


def kbuild(tally, patch, arch, targets):
    r = subprocess.run([os.path.join(rig.SCRIPTS, "kernel"), arch, "series"], text=True,
                       env=dict(os.environ, TARGETS=" ".join(targets)), stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE)
    warned = [x for x in r.stderr.splitlines() if "warning:" in x]
    tally.add("series: %s, %s" % (patch.subject, arch),
              "failed" if r.returncode or warned else "ok", "\n".join(warned) or r.stderr[-2000:])


def boot(tally, patch, arch):
    rig.kernel(arch, "series")
    rig.guest_files(arch)
    if arch == "x86_64":
        x86pmu.build()
    rc, folder, log = rig.guest(arch, "series", JOB, [], 300, "series", COUNTS[arch])
    stat = " ".join(rig.read_lines(os.path.join(folder, "stat")) or [])
    good = not rc and re.match(r"[1-9]\d*,,instructions:u,", stat)
    tally.add("series: %s: boots and counts, %s" % (patch.subject, arch), "ok" if good else "failed",
              "%s, %s (log: %s)" % (rig.why(rc) if rc else "it ran", stat or "no count", log))


def check_builds(tally, patches):
    unpack(rig.base())
    for switch_over, steps in rounds(patches):
        series.apply(switch_over, TREE)
        for p in steps:
            if p is not switch_over:
                series.apply(p, TREE)
            rig.say("series: " + p.subject)
            build(tally, p)
    shutil.rmtree(TREE, ignore_errors=True)


def complaints(path, allowed):
    """What checkpatch says of a patch, but for what is argued for the file it speaks of."""
    tool = os.path.join(rig.base(), "scripts", "checkpatch.pl")
    r = subprocess.run(["perl", tool, "--no-tree", "--strict", "--terse", "--showfile", "--show-types",
                        "--max-line-length=100", path], capture_output=True, text=True, cwd=rig.BUILD)
    found = []
    for line in r.stdout.splitlines():
        m = CHECKED.match(line)
        if m and not allowed(m["path"], m["type"]):
            found.append(line[:200])
    return found


def check_patches(tally, patches, paths, allowed):
    for p, path in zip(patches, paths):
        wrong = complaints(path, allowed)
        tally.add("series: checkpatch: " + p.subject, "failed" if wrong else "ok",
                  "".join("\n    " + x for x in wrong[:20]))
