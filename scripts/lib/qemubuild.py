# SPDX-License-Identifier: GPL-2.0
"""Debian's source package of QEMU with a patch of ours, built for one architecture.

Everything is in build/qemu-NAME; run again, it compiles what changed.
"""
import fcntl
import glob
import os
import shutil
import subprocess
import sys

import debs
import rig

SERIES = "7.2"
NEEDS = ["build-essential", "dpkg-dev", "meson", "ninja-build", "patch", "pkg-config",
         "libfdt-dev", "libglib2.0-dev", "libpixman-1-dev"]


class Emulator:
    """binary: where it will be; ours: the folder with the patch, and sources that go to the folder
    beside of QEMU; firmware: files that it shall find; packages: where these are from."""

    def __init__(self, binary, ours, beside=None, firmware=(), packages=()):
        self.binary, self.ours, self.beside = binary, ours, beside
        self.firmware, self.packages = firmware, packages
        self.out = os.path.dirname(os.path.dirname(binary))
        self.work = os.path.dirname(self.out)
        self.src, self.obj, self.log = (os.path.join(self.work, x)
                                        for x in ("src", "obj", "build.log"))
        self.patch_file = os.path.join(ours, "qemu-%s.patch" % SERIES)

    def logged(self, argv, **kw):
        with open(self.log, "a") as log:
            log.write("+ %s\n" % " ".join(argv))
            log.flush()
            r = subprocess.run(argv, stdout=log, stderr=subprocess.STDOUT, **kw)
        if r.returncode:
            tail = "".join(open(self.log, errors="replace").readlines()[-20:])
            raise rig.Failure("%s: exit code %d; the end of %s:\n%s" %
                              (argv[0], r.returncode, self.log, tail))

    def unpack(self):
        if os.path.exists(self.src):
            return
        with rig.Step("fetching and unpacking QEMU's source"):
            dsc = debs.source("qemu", SERIES, self.work)
            tmp = self.src + ".tmp"
            shutil.rmtree(tmp, ignore_errors=True)
            self.logged(["dpkg-source", "-x", dsc, tmp])
            version = open(os.path.join(tmp, "VERSION")).read().strip()
            if not version.startswith(SERIES + "."):
                raise rig.Failure("the source is QEMU %s; %s is for %s" %
                                  (version, os.path.relpath(self.patch_file, rig.TOP), SERIES))
            os.rename(tmp, self.src)

    def patch(self):
        """Apply the patch; one that changed replaces the old one, so that little is compiled."""
        applied = os.path.join(self.work, "applied.patch")
        if os.path.exists(applied):
            if open(applied).read() == open(self.patch_file).read():
                return
            self.logged(["patch", "-d", self.src, "-p1", "-R", "-f", "-i", applied])
            os.unlink(applied)
        self.logged(["patch", "-d", self.src, "-p1", "--forward", "-i", self.patch_file])
        shutil.copyfile(self.patch_file, applied)

    def sources(self):
        return glob.glob(self.ours + "/pmu*.[ch]") if self.beside else []

    def copy_sources(self):
        """Our files beside QEMU's, those that changed."""
        for path in self.sources():
            copy = os.path.join(self.src, self.beside, os.path.basename(path))
            if not os.path.exists(copy) or open(copy).read() != open(path).read():
                shutil.copyfile(path, copy)

    def compile(self):
        name = os.path.basename(self.binary)
        if not os.path.exists(self.obj + "/build.ninja"):
            os.makedirs(self.obj, exist_ok=True)
            ccache = ["--cc=ccache gcc"] if shutil.which("ccache") else []
            self.logged([self.src + "/configure",
                         "--target-list=%s-softmmu" % name.rpartition("-")[2],
                         "--without-default-features", "--enable-tcg", "--enable-system",
                         "--disable-docs", "--disable-tools", "--disable-guest-agent"] + ccache,
                        cwd=self.obj)
        self.logged(["ninja", "-j", os.environ.get("JOBS") or str(os.cpu_count()), "-C", self.obj,
                     name])

    def install(self):
        """bin/ and share/qemu/ side by side, so that it finds its firmware."""
        share = os.path.join(self.out, "share/qemu")
        os.makedirs(share, exist_ok=True)
        os.makedirs(os.path.dirname(self.binary), exist_ok=True)
        for path in self.firmware:
            shutil.copyfile(path, os.path.join(share, os.path.basename(path)))
        shutil.copy(os.path.join(self.obj, os.path.basename(self.binary)), self.binary + ".tmp")
        os.rename(self.binary + ".tmp", self.binary)

    def make(self, inputs):
        """Build it unless it is newer than the inputs and what is ours."""
        os.makedirs(self.work, exist_ok=True)
        # One at a time, kept until this returns.
        with open(os.path.join(self.work, "lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            inputs = inputs + [self.patch_file, os.path.abspath(__file__)] + self.sources()
            if os.path.exists(self.binary) and \
                    os.path.getmtime(self.binary) >= rig.newest(inputs):
                return
            rig.run([os.path.join(rig.SCRIPTS, "deps")] + NEEDS + list(self.packages))
            open(self.log, "w").close()
            self.unpack()
            with rig.Step("compiling %s with the emulated PMU (log: %s)" % (
                    os.path.basename(self.binary), os.path.relpath(self.log, rig.TOP))):
                self.patch()
                self.copy_sources()
                self.compile()
                self.install()


def main(emulator, script, text):
    """What a script does that builds one: it prints the path last."""
    if len(sys.argv) > 1:
        sys.exit(text)
    try:
        emulator.make([os.path.abspath(script)])
        print(emulator.binary)
    except (rig.Failure, debs.Error) as e:
        sys.exit("error: %s" % e)
