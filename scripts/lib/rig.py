# SPDX-License-Identifier: GPL-2.0
"""What the Python scripts share: steps, compiling test programs, guests, TAP.

A step that cannot run raises Failure with a message for the reader; nothing
here swallows an error.
"""
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPTS = os.path.join(TOP, "scripts")
BUILD = os.path.join(TOP, "build")
TREE = os.path.join(BUILD, "tree")
DATA = os.path.join(SCRIPTS, "data")
TESTS = "tools/testing/selftests/perf_events"
ARCHES = ["x86_64", "arm64"]
CFLAGS = ["-static", "-O2", "-Wall", "-Wextra", "-pthread"]


class Failure(Exception):
    pass


def say(text):
    print("== " + text, file=sys.stderr, flush=True)


def run(argv, **kw):
    """Standard output of a command that must succeed; its errors are shown."""
    r = subprocess.run(argv, stdout=subprocess.PIPE, text=True, **kw)
    if r.returncode:
        raise Failure("%s: exit code %d" % (" ".join(argv[:4]), r.returncode))
    return r.stdout


class Step:
    """with Step("what"): ... says what starts and how long it took."""

    def __init__(self, what):
        self.what = what

    def __enter__(self):
        self.start = time.monotonic()
        say(self.what + " ...")

    def __exit__(self, kind, value, trace):
        say("%s: %s in %d s" % (self.what, "FAILED" if kind else "done",
                                time.monotonic() - self.start))


def base():
    return run([os.path.join(SCRIPTS, "base")]).strip()


def assemble():
    run([os.path.join(SCRIPTS, "assemble"), base()])


def kernel(arch, flavour, extra=None):
    """Build, return the image."""
    argv = [os.path.join(SCRIPTS, "kernel"), arch, flavour]
    if extra:
        argv.append(os.path.join(SCRIPTS, "config", extra))
    return run(argv).strip().splitlines()[-1]


def guest_files(arch):
    return run([os.path.join(SCRIPTS, "guest"), arch]).strip().splitlines()[-1]


def compiler(arch):
    cc = "gcc" if arch == "x86_64" else "aarch64-linux-gnu-gcc"
    if not shutil.which(cc):
        raise Failure("missing tool: %s (run 'make deps' as root)" % cc)
    return cc


def newest(paths):
    return max((os.path.getmtime(p) for p in paths), default=0)


def build_program(argv, out, inputs):
    """Compile unless out is newer than its inputs. None, or what the compiler said."""
    if os.path.exists(out) and os.path.getmtime(out) > newest(inputs):
        return None
    os.makedirs(os.path.dirname(out), exist_ok=True)
    tmp = out + ".tmp"
    r = subprocess.run(argv + ["-o", tmp], capture_output=True, text=True)
    if r.stderr:
        print(r.stderr, file=sys.stderr)
    if r.returncode:
        return "%s does not compile" % os.path.relpath(out, BUILD)
    os.rename(tmp, out)
    return None


def compile_all(jobs):
    """jobs: (argv, out, inputs). Returns the programs; raises if one fails."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        errors = [e for e in pool.map(lambda j: build_program(*j), jobs) if e]
    if errors:
        raise Failure("; ".join(errors))
    return [j[1] for j in jobs]


def folder_programs(arch, src, out, extra=()):
    """Every *.c directly in src, each with src/lib/*.c, static."""
    cc = compiler(arch)
    lib = sorted(glob.glob(src + "/lib/*.c"))
    deps = lib + glob.glob(src + "/lib/*.h") + glob.glob(src + "/*.h") + \
        [TREE + "/include/uapi/linux/perf_event.h"]
    selftests = os.path.dirname(os.path.join(TREE, TESTS))
    jobs = []
    for c in sorted(glob.glob(src + "/*.c")):
        name = os.path.basename(c)[:-2]
        argv = [cc] + CFLAGS + list(extra) + ["-I", selftests, "-I", src, "-I", src + "/lib", c] + lib
        jobs.append((argv, os.path.join(out, name), [c] + deps))
    wanted = {j[1] for j in jobs}
    for old in glob.glob(out + "/*"):
        if old not in wanted:
            os.unlink(old)
    return compile_all(jobs)


def selftests(arch):
    """The project's programs (not the base's of the same folder)."""
    src = os.path.join(TREE, TESTS)
    programs = folder_programs_of_ours(arch, src)
    if not programs:
        raise Failure("no selftest in %s" % TESTS)
    return programs


def folder_programs_of_ours(arch, src):
    ours = {os.path.basename(p) for p in glob.glob(os.path.join(TOP, TESTS, "*.c"))}
    out = os.path.join(BUILD, "kselftest-" + arch)
    cc = compiler(arch)
    lib = sorted(glob.glob(src + "/lib/*.c"))
    deps = lib + glob.glob(src + "/lib/*.h") + glob.glob(src + "/*.h") + \
        [TREE + "/include/uapi/linux/perf_event.h"]
    jobs = []
    for name in sorted(ours):
        c = os.path.join(src, name)
        jobs.append(([cc] + CFLAGS + ["-I", os.path.dirname(src), "-I", src, "-I", src + "/lib",
                                      c] + lib, os.path.join(out, name[:-2]), [c] + deps))
    return compile_all(jobs)
