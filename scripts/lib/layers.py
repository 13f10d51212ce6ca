# SPDX-License-Identifier: GPL-2.0
"""Does each file of kernel/events, and of the x86 driver, use its own layer and those below only?

The layers are the folders of kernel/events/Makefile, from the ground up; the folder itself is the
ground. Those of the x86 driver are listed here. Includes are read from the files: of another layer
only its one header, layer/layer.h or what is listed here, besides the base's. Calls, and uses of a
variable, are read from compiled objects, so those of inline functions and of headers elsewhere
count too.
"""
import collections
import glob
import os
import re
import subprocess

import rig

# The base's, and what is no part of a layer.
NOT_OURS = ("uprobes", "hw_breakpoint_test")
TESTS = "tests"
NM = {"arm64": "aarch64-linux-gnu-nm"}


class House:
    """A folder whose folders are layers: order has them from the ground up, "" is itself."""

    def __init__(self, name, folder, order, headers):
        self.name, self.folder, self.order = name, folder, order
        self.top = os.path.join(rig.TOP, folder)
        self.headers = headers

    def header(self, layer):
        """What others may include of a layer; None: anything."""
        if layer in self.headers:
            return self.headers[layer]
        return os.path.basename(layer) + ".h"

    def is_above(self, layer, other):
        return self.order.index(layer) > self.order.index(other)


def kernel_events():
    folder = "kernel/events"
    with open(os.path.join(rig.TOP, folder, "Makefile")) as f:
        found = re.findall(r"(\w+)/", re.search(r"^obj-y \+= (\w+/.*)$", f.read(), re.M)[1])
    return House(folder, folder, [""] + found, {"": None})


def x86():
    return House("x86", "arch/x86/events",
                 ["core", "amd/cpu", "intel/cpu/lbr", "intel/cpu/pebs", "intel/cpu",
                  "intel/cpu/models", "start"], {"intel/cpu": "model.h"})


def files(house, pattern):
    """(layer, path) of each file; the tests are not of a layer."""
    for layer in house.order:
        for path in sorted(glob.glob(os.path.join(house.top, layer, pattern))):
            yield layer, path


def forgotten(house):
    """Folders with C files that no layer is."""
    here = {os.path.relpath(os.path.dirname(path), house.top)
            for path in glob.glob(os.path.join(house.top, "**", "*.c"), recursive=True)}
    return sorted(x for x in here - set(house.order) - {"."} if os.path.basename(x) != TESTS)


def bad_includes(house):
    """Includes that go up, or past the header of a layer."""
    bad = []
    for layer, path in files(house, "*.[ch]"):
        with open(path) as f:
            names = re.findall(r'^\s*#\s*include\s+"([^"]+)"', f.read(), re.M)
        for name in names:
            target = os.path.normpath(os.path.join(os.path.dirname(path), name))
            if not os.path.exists(target):
                continue        # the base's
            target = os.path.relpath(target, house.top)
            to = os.path.dirname(target)
            if to == layer:
                continue
            if to not in house.order or house.is_above(to, layer) or \
                    house.header(to) not in (None, os.path.basename(target)):
                bad.append("%s includes %s" % (os.path.relpath(path, house.top), target))
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


def arrows(house, arch, kbuild):
    """(layer, layer) -> [(file, file, name)] of a compiled kernel."""
    top = os.path.join(kbuild, house.folder)
    objects = {}
    for layer in house.order:
        for path in glob.glob(os.path.join(top, layer, "*.o")):
            stem = os.path.basename(path)[:-2]
            # What is left of a file that has gone does not count.
            if stem in NOT_OURS or not os.path.exists(os.path.join(house.top, layer, stem + ".c")):
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


def check_includes(tally):
    for house in kernel_events(), x86():
        strangers = forgotten(house)
        tally.add("layers: every folder is one (%s)" % house.name,
                  "failed" if strangers else "ok", " ".join(strangers))
        bad = bad_includes(house)
        tally.add("layers: no include goes up (%s)" % house.name, "failed" if bad else "ok",
                  "\n    ".join([""] + bad))


def check_calls(tally, arch, kbuild):
    for house in [kernel_events()] + ([x86()] if arch == "x86_64" else []):
        up = ["%s -> %s: %s" % use for (a, b), uses in arrows(house, arch, kbuild).items()
              if house.is_above(b, a) for use in sorted(uses)]
        tally.add("layers: no call goes up (%s, %s)" % (house.name, arch),
                  "failed" if up else "ok", "\n    ".join([""] + sorted(up)))


def drawing(house, arch, kbuild):
    """The layers from the top down, with what each uses."""
    found = arrows(house, arch, kbuild)
    lines = []
    for layer in reversed(house.order):
        uses = ["%s (%d)" % (b or ".", len({n for _, _, n in found[layer, b]}))
                for b in reversed(house.order) if b != layer and found[layer, b]]
        lines.append("%-16s -> %s" % (layer or ".", ", ".join(uses) or "-"))
    return "\n".join(lines)
