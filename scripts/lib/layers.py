# SPDX-License-Identifier: GPL-2.0
"""Does each file of kernel/events, and of the x86 driver, use its own layer and those below only?

The layers are the folders of kernel/events/Makefile, from the ground up; the folder itself is the
ground. Includes are read from the files: of another layer only its one header, layer/layer.h.
Calls, and uses of a variable, are read from compiled objects, so those of inline functions and of
headers elsewhere count too.

Of the x86 driver, whose folders share its headers, the calls count.
"""
import collections
import glob
import os
import re
import subprocess

import rig

EVENTS = "kernel/events"
GROUND = ""
# The base's, and what is no part of a layer.
NOT_OURS = ("uprobes", "hw_breakpoint_test")
TESTS = "tests"
NM = {"arm64": "aarch64-linux-gnu-nm"}

X86 = "arch/x86/events"
X86_LAYERS = ["core", "amd/cpu", "intel/cpu/lbr", "intel/cpu/pebs", "intel/cpu", "intel/cpu/models"]
# What asks upwards there.
X86_UP = {
    "intel_pmu_init": "boot: the vendor's driver",
    "amd_pmu_init": "boot: the vendor's driver",
    "intel_pe_find_model": "boot: the model's tables",
    "reserve_ds_buffers": "the first event takes the hardware",
    "reserve_lbr_buffers": "the first event takes the hardware",
    "release_ds_buffers": "the last event gives it back",
    "release_lbr_buffers": "the last event gives it back",
    "intel_cpuc_prepare": "a group is tried on a CPU that is made up",
    "intel_cpuc_finish": "a group is tried on a CPU that is made up",
}


def layers():
    """From the ground up."""
    with open(os.path.join(rig.TOP, EVENTS, "Makefile")) as f:
        found = re.findall(r"(\w+)/", re.search(r"^obj-y \+= (\w+/.*)$", f.read(), re.M)[1])
    return [GROUND] + found


def files(order, pattern):
    """(layer, path) of each file; the tests are not of a layer."""
    top = os.path.join(rig.TOP, EVENTS)
    for layer in order:
        for path in sorted(glob.glob(os.path.join(top, layer, pattern))):
            yield layer, path


def forgotten(order):
    """Folders that no line of the Makefile places."""
    top = os.path.join(rig.TOP, EVENTS)
    here = {n for n in os.listdir(top) if os.path.isdir(os.path.join(top, n))}
    return sorted(here - set(order) - {TESTS})


def bad_includes(order):
    """Includes that go up, or past the header of a layer."""
    top = os.path.join(rig.TOP, EVENTS)
    bad = []
    for layer, path in files(order, "*.[ch]"):
        with open(path) as f:
            names = re.findall(r'^\s*#\s*include\s+"([^"]+)"', f.read(), re.M)
        for name in names:
            target = os.path.relpath(os.path.normpath(os.path.join(os.path.dirname(path), name)),
                                     top)
            to = os.path.dirname(target)
            if to == layer:
                continue
            if to not in order or order.index(to) > order.index(layer) or \
                    to != GROUND and os.path.basename(target) != to + ".h":
                bad.append("%s includes %s" % (os.path.relpath(path, top), target))
    return bad


def symbols(arch, objects):
    """object -> names it defines, object -> names it needs."""
    out = subprocess.run([NM.get(arch, "nm"), "-A", "-P", "-g"] + objects, text=True, check=True,
                         stdout=subprocess.PIPE).stdout
    defines, needs = collections.defaultdict(set), collections.defaultdict(set)
    for line in out.splitlines():
        path, name, kind = line.split()[:3]
        (needs if kind in "Uw" else defines)[path.rstrip(":")].add(name)
    return defines, needs


def arrows(folder, order, arch, kbuild):
    """(layer, layer) -> [(file, file, name)] of a compiled kernel."""
    top = os.path.join(kbuild, folder)
    objects = {}
    for layer in order:
        for path in glob.glob(os.path.join(top, layer, "*.o")):
            stem = os.path.basename(path)[:-2]
            # What is left of a file that has gone does not count.
            if stem in NOT_OURS or not os.path.exists(
                    os.path.join(rig.TOP, folder, layer, stem + ".c")):
                continue
            objects[path] = layer
    if not objects:
        raise rig.Failure("%s: no objects; build the kernel first" % top)
    defines, needs = symbols(arch, sorted(objects))
    owner = {name: path for path in objects for name in defines[path]}
    found = collections.defaultdict(list)
    for path, layer in objects.items():
        for name in needs[path] & owner.keys():
            to = owner[name]
            found[layer, objects[to]].append(
                (os.path.relpath(path, top)[:-2], os.path.relpath(to, top)[:-2], name))
    return found


def calls_up(folder, order, arch, kbuild, allowed=()):
    """Lines about the calls that go up, and are not allowed to; the names that go up."""
    uses = {use for (a, b), found in arrows(folder, order, arch, kbuild).items()
            if order.index(b) > order.index(a) for use in found}
    return sorted("%s -> %s: %s" % u for u in uses if u[2] not in allowed), {u[2] for u in uses}


def check_includes(tally):
    order = layers()
    tally.add("layers: every folder is one", "failed" if forgotten(order) else "ok",
              " ".join(forgotten(order)))
    bad = bad_includes(order)
    tally.add("layers: no include goes up", "failed" if bad else "ok", "\n    ".join([""] + bad))


def check_calls(tally, arch, kbuild):
    up, _ = calls_up(EVENTS, layers(), arch, kbuild)
    tally.add("layers: no call goes up (%s)" % arch, "failed" if up else "ok",
              "\n    ".join([""] + up))
    if arch != "x86_64":
        return
    up, names = calls_up(X86, X86_LAYERS, arch, kbuild, X86_UP)
    up += ["%s: does not go up any more" % n for n in sorted(X86_UP.keys() - names)]
    tally.add("layers: no call goes up in the x86 driver, but %d" % len(X86_UP),
              "failed" if up else "ok", "\n    ".join([""] + up))


def drawing(arch, kbuild):
    """The layers from the top down, with what each uses."""
    order = layers()
    found = arrows(EVENTS, order, arch, kbuild)
    lines = []
    for layer in reversed(order):
        uses = ["%s (%d)" % (b or "ground", len({n for _, _, n in found[layer, b]}))
                for b in reversed(order) if b != layer and found[layer, b]]
        lines.append("%-8s -> %s" % (layer or "ground", ", ".join(uses) or "-"))
    return "\n".join(lines)
