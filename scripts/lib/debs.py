# SPDX-License-Identifier: GPL-2.0
"""Debian packages unpacked into a folder, for guests, and source packages.

A private apt state with this machine's Debian sources: nothing of the machine's
package configuration is touched, and its own packages play no part.
"""
import glob
import os
import re
import subprocess
import sys

DEBIAN_ARCH = {"x86_64": "amd64", "arm64": "arm64"}


class Error(Exception):
    pass


def run(argv, **kw):
    r = subprocess.run(argv, capture_output=True, text=True, **kw)
    if r.returncode:
        raise Error("%s: exit code %d\n%s" % (" ".join(argv[:6]), r.returncode,
                                              (r.stderr or r.stdout)[-2000:]))
    return r.stdout


def apt_options(arch, state):
    """A private apt whose only architecture is this one."""
    for sub in ("lists/partial", "cache/archives/partial", "etc/preferences.d",
                "etc/apt.conf.d"):
        os.makedirs(os.path.join(state, sub), exist_ok=True)
    status = os.path.join(state, "status")
    if not os.path.exists(status):
        open(status, "w").close()
    sources = os.path.join(state, "sources")
    os.makedirs(sources, exist_ok=True)
    debian_sources(sources)
    name = DEBIAN_ARCH[arch]
    return ["-o", "APT::Architecture=" + name, "-o", "APT::Architectures::=" + name,
            "-o", "Dir::State=" + state, "-o", "Dir::State::lists=" + state + "/lists",
            "-o", "Dir::State::status=" + status, "-o", "Dir::Cache=" + state + "/cache",
            "-o", "Dir::Etc::sourcelist=/dev/null", "-o", "Dir::Etc::sourceparts=" + sources,
            "-o", "APT::Sandbox::User=root", "-o", "Acquire::Languages=none"]


def debian_sources(sources, kind="deb"):
    """Copy the sources that come from Debian itself; others may lack an architecture."""
    found = False
    for name in ["/etc/apt/sources.list"] + sorted(
            glob.glob("/etc/apt/sources.list.d/*.list") +
            glob.glob("/etc/apt/sources.list.d/*.sources")):
        if not os.path.exists(name):
            continue
        with open(name) as f:
            text = f.read()
        if name.endswith(".sources"):
            keep = [p for p in re.split(r"\n\s*\n", text)
                    if re.search(r"^Suites:.*bookworm", p, re.M) and
                    "debian" in p and not re.search(r"^Architectures:", p, re.M)]
            text = re.sub(r"^Types:.*", "Types: " + kind, "\n\n".join(keep), flags=re.M)
        else:
            keep = [re.sub(r"\[\s*arch=\S+\s*\]", "", line) for line in text.splitlines()
                    if re.match(r"deb\s", line) and "debian" in line and "bookworm" in line]
            text = re.sub(r"^deb\b", kind, "\n".join(keep), flags=re.M)
        if keep:
            found = True
            with open(os.path.join(sources, os.path.basename(name)), "w") as f:
                f.write(text + "\n")
    if not found:
        raise Error("no Debian bookworm source in /etc/apt: cannot fetch packages from there")


def source(package, series, top):
    """Download a source package of version SERIES, which may have an epoch, to top.

    Returns its .dsc file. Versions of other series are refused, by name.
    """
    opts = apt_options("x86_64", os.path.join(top, "apt"))
    debian_sources(os.path.join(top, "apt", "sources"), "deb-src")
    run(["apt-get", "-q"] + opts + ["update"])
    offered = re.findall(r"^Version: (\S+)", run(["apt-cache"] + opts + [
        "showsrc", "--only-source", package]), re.M)
    wanted = [v for v in offered if re.match(r"(\d+:)?%s\b" % re.escape(series), v)]
    if not wanted:
        raise Error("the patch is for %s %s (Debian bookworm); this machine's Debian sources offer %s"
                    % (package, series, ", ".join(offered) or "none"))
    for old in glob.glob(os.path.join(top, package + "_*")):
        os.unlink(old)
    # apt lists the newest first.
    run(["apt-get", "-q"] + opts + ["--download-only", "source", package + "=" + wanted[0]], cwd=top)
    return glob.glob(os.path.join(top, package + "_*.dsc"))[0]


def fetch(arch, packages, top):
    """Download the packages and what they depend on to top/debs. Returns the files."""
    opts = apt_options(arch, os.path.join(top, "apt"))
    run(["apt-get", "-q"] + opts + ["update"])
    plan = run(["apt-get", "-q", "-s"] + opts + ["--no-install-recommends", "install"] + packages)
    names = re.findall(r"^Inst (\S+)", plan, re.M)
    if not names:
        raise Error("apt found no %s packages to fetch:\n%s" % (arch, plan))
    debs = os.path.join(top, "debs")
    os.makedirs(debs, exist_ok=True)
    run(["apt-get", "-q"] + opts + ["download"] + names, cwd=debs)
    return sorted(glob.glob(debs + "/*.deb"))


def unpack(arch, packages, top, root, leave_out=()):
    """Once: the packages' files in root (no maintainer script is run)."""
    stamp = os.path.join(top, "unpacked")
    want = "\n".join(list(packages) + list(leave_out)) + "\n"
    if os.path.exists(stamp) and open(stamp).read() in ("", want):
        return
    print("== fetching %s packages (private apt state in %s)"
          % (arch, os.path.relpath(top, os.path.dirname(os.path.dirname(top)))), file=sys.stderr)
    os.makedirs(root, exist_ok=True)
    skip = ["--exclude=" + x for x in leave_out]
    for deb in fetch(arch, list(packages), top):
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE) as p:
            run(["tar", "-x", "--keep-directory-symlink", "-C", root] + skip, stdin=p.stdout)
        if p.returncode:
            raise Error("cannot unpack " + deb)
    with open(stamp, "w") as f:
        f.write(want)
