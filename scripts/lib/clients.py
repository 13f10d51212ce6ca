# SPDX-License-Identifier: GPL-2.0
"""Debian 12's unmodified programs as clients of the kernel, in guests.

A client is scripts/clients.d/NAME, a shell script that runs in the guest and
prints stable facts; its line "# client: arches=... seconds=... [check[=ARCH]]" says
where it runs, its time limit in seconds of the guest's clock, and whether (on one
architecture) "make check-all" runs it first; clients with the same "guest=..." share a guest.
Facts are compared with those of the stock kernel, or, of a client with the word "own", which is
about what stock does not have, with those in scripts/data/clients-own.txt.
The programs come from a disk image with Debian's packages, made once (build/clients-ARCH), and of
clients with the word "disk=services" from a second one, which the others need not wait for.
"""
import concurrent.futures
import contextlib
import difflib
import fcntl
import glob
import os
import re
import shutil

import debs
import rig

FOLDER = os.path.join(rig.SCRIPTS, "clients.d")
RUNS = 3
# What an instruction takes by the guest's clock (run-guest). x86_64 waits through a tenth of a
# second when it boots; arm64 has a PMU that counts one as one cycle then.
ICOUNT = {"x86_64": "3", "arm64": "on"}
# A busy second of the guest takes the host up to 10 when nothing else runs there.
HOST_SECONDS = 30
# What the clients need. The dependencies follow.
PACKAGES = ["linux-perf", "bpftrace", "bpfcc-tools", "gdb", "stress-ng", "papi-tools",
            "libpapi-dev", "libpfm4-dev", "trinity", "coreutils", "dash", "bash", "grep", "sed",
            "gawk", "findutils", "procps", "util-linux", "binutils", "gzip", "xz-utils",
            "base-files", "base-passwd", "mount"]
MORE_PACKAGES = {"x86_64": ["rr"], "arm64": []}
# What the clients need that have the second disk.
SERVICES = ["linux-perf", "coreutils", "dash", "bash", "grep", "sed", "gawk", "findutils", "procps",
            "util-linux", "base-files", "base-passwd", "mount", "trace-cmd", "nodejs", "sysprof",
            "lttng-tools", "liblttng-ust1", "babeltrace2", "netdata-core", "systemd", "polkitd",
            "prometheus-node-exporter", "curl", "pcp", "uftrace", "redis-server", "redis-tools"]
DISKS = {"debian": {a: PACKAGES + more for a, more in MORE_PACKAGES.items()},
         "services": dict.fromkeys(rig.ARCHES, SERVICES)}
LEAVE_OUT = ["./usr/share/doc", "./usr/share/man", "./usr/share/locale", "./usr/share/info",
             "./usr/share/ieee-data", "./usr/share/i18n", "./usr/share/zoneinfo"]
MERGED = ["bin", "sbin", "lib", "lib64"]
TRIPLET = {"x86_64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}
HEADER_ARCH = {"x86_64": "x86", "arm64": "arm64"}
# What links with a library of the image; all the others are static.
LIBRARIES = {"papi-count": ["-lpapi"], "pfm-count": ["-lpfm"], "rr-threads": ["-lc"],
             "traced": ["-pg", "-lc"]}

# /mnt gets the disk's Debian, /log is what comes back. The guest's clock counts
# instructions: whenever nothing runs it leaps to the next timer, as it would with
# somebody waiting for the disk. So all of the disk is read before a client starts,
# and nothing is written to it.
JOB = r"""
mount -t ext2 -o noatime /dev/vda /mnt || exit 1
headers=/mnt/lib/modules/$(uname -r)/build
mkdir -p /mnt/clients /mnt/log /out "$headers"
[ ! -e /dev/vdb ] || mount -t ext2 -o ro /dev/vdb "$headers" || exit 1
for d in proc sys dev tmp; do
	mount -o rbind /$d /mnt/$d || exit 1
done
mount -o bind /clients /mnt/clients && mount -o remount,ro /mnt || exit 1
find /mnt "$headers" -xdev -type f ! -name '*.a' ! -path '*/perl*' ! -path '*/X11/*' \
	! -path '*/gconv/*' -exec cat {} + > /dev/null
cd /proc/sys/kernel
paranoid=$(cat perf_event_paranoid) rate=$(cat perf_event_max_sample_rate)
for job in $CLIENTS; do
	log=/out/${job%:*}
	mkdir -p $log && mount -o bind $log /mnt/log || exit 1
	echo "# client ${job%:*}"
	{
		chroot /mnt /usr/bin/timeout -k 10 ${job#*:} /bin/sh /clients/${job%:*} 2> $log/errors
		echo "client: exit code $?"
	} | tee $log/facts
	umount /mnt/log
	rm -rf /tmp/client
	echo $paranoid > perf_event_paranoid
	echo $rate > perf_event_max_sample_rate
done
true
"""


# The same in the guest of the selftests, which has perf, for clients that need no other package.
SMALL = ["pfx", "pfx-refused"]
SMALL_JOB = r"""
mkdir -p /clients
for job in $CLIENTS; do
	mkdir -p /out/${job%:*} && ln -sfn /out/${job%:*} /log || exit 1
	echo "# client ${job%:*}"
	{
		timeout -k 10 ${job#*:} /bin/sh /clients/${job%:*} 2> /log/errors
		echo "client: exit code $?"
	} | tee /log/facts
	rm -rf /tmp/client
done
true
"""


class Client:
    def __init__(self, path, arch):
        self.name = os.path.basename(path)
        with open(path) as f:
            m = re.search(r"^# client: (.*)$", f.read(), re.M)
        words = dict((w.partition("=")[::2]) for w in (m[1].split() if m else []))
        if not {"arches", "seconds"} <= set(words):
            raise rig.Failure("%s has no line '# client: arches=... seconds=...'" % path)
        self.arches = words["arches"].split(",")
        self.seconds = int(words["seconds"])
        self.check = words.get("check") in ("", arch)
        self.guest = words.get("guest", self.name)
        self.own = "own" in words
        # It compiles programs for the kernel.
        self.headers = "headers" in words
        # More than one CPU: the guest's clock is then the host's.
        self.smp = words.get("smp")
        # A CPU model that the client's libraries know: cpu=ARCH:MODEL
        self.cpu = dict([words["cpu"].split(":")]) if "cpu" in words else {}
        # Which of the disks with Debian's programs.
        self.disk = words.get("disk", "debian")
        # An emulated PMU of x86_64, by run-guest's name for it.
        self.pmu = words.get("pmu")


def known(arch):
    """The clients of that architecture."""
    found = [Client(p, arch) for p in sorted(glob.glob(FOLDER + "/*"))
             if os.path.isfile(p) and "." not in os.path.basename(p)]
    return [c for c in found if arch in c.arches]


def top(arch):
    return os.path.join(rig.BUILD, "clients-" + arch)


def make_disk(folder, out, spare=0):
    """An ext2 image with the folder's files; no privilege is needed."""
    size = int(rig.run(["du", "-sk", "--apparent-size", folder]).split()[0])
    count = sum(len(d) + len(f) for _, d, f in os.walk(folder))
    blocks = size + 3 * count + size // 16 + 4096 + spare * 1024
    tmp = out + ".tmp"
    if os.path.exists(tmp):
        os.unlink(tmp)
    rig.run(["/sbin/mke2fs", "-q", "-t", "ext2", "-b", "1024", "-m", "0", "-N", str(count + 4096),
             "-E", "root_owner=0:0", "-d", folder, tmp, str(blocks)])
    os.rename(tmp, out)


def debian_disk(arch, disk="debian"):
    """The image with Debian's programs."""
    folder = top(arch) if disk == "debian" else os.path.join(top(arch), disk)
    root = os.path.join(folder, "root")
    out = os.path.join(folder, "debian.ext2")
    stamp = os.path.join(folder, "unpacked")
    for d in MERGED:
        os.makedirs(os.path.join(root, "usr", d), exist_ok=True)
        if not os.path.lexists(os.path.join(root, d)):
            os.symlink("usr/" + d, os.path.join(root, d))
    try:
        debs.unpack(arch, DISKS[disk][arch], folder, root, LEAVE_OUT)
    except debs.Error as e:
        raise rig.Failure(str(e))
    if os.path.exists(out) and os.path.getmtime(out) > rig.newest([stamp, os.path.abspath(__file__)]):
        return out
    for d in ("clients", "log", "proc", "sys", "dev", "tmp", "root", "lib/modules"):
        os.makedirs(os.path.join(root, d), exist_ok=True)
    # What the packages' maintainer scripts would have done.
    for link, to in (("bin/sh", "dash"), ("bin/awk", "gawk"), ("var/run", "../run")):
        path = os.path.join(root, link)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        if not os.path.lexists(path):
            os.symlink(to, path)
    if not os.path.exists(os.path.join(root, "etc/passwd")):
        for name in ("passwd", "group"):
            shutil.copy(os.path.join(root, "usr/share/base-passwd", name + ".master"),
                        os.path.join(root, "etc", name))
    with rig.Step("disk image '%s' for %s" % (disk, arch)):
        make_disk(root, out, 256)
    return out


def headers_disk(arch, flavour):
    """The headers of that kernel build, which bpfcc compiles its programs with."""
    src = rig.TREE if flavour == "ours" else rig.base()
    build = os.path.join(rig.BUILD, "%s-%s" % (flavour, arch))
    sub = "arch/%s/include" % HEADER_ARCH[arch]
    config = os.path.join(build, "include/generated/autoconf.h")
    out = os.path.join(top(arch), "headers-%s.ext2" % flavour)
    inputs = [config, os.path.join(src, "include/linux/perf_event.h"), os.path.abspath(__file__)]
    inputs += glob.glob(os.path.join(src, "include/linux/perf/*.h"))
    if os.path.exists(out) and os.path.getmtime(out) > rig.newest(inputs):
        return out
    folder = os.path.join(top(arch), "headers-" + flavour)
    shutil.rmtree(folder, ignore_errors=True)
    skip = shutil.ignore_patterns("dt-bindings", "*.cmd", "config")
    for a, b in ((src, "include"), (src, sub), (build, "include"), (build, sub)):
        shutil.copytree(os.path.join(a, b), os.path.join(folder, b), ignore=skip,
                        dirs_exist_ok=True, symlinks=True)
    # The kernel was configured for gcc; bpfcc's clang 14 misreads what of this it does not know.
    path = os.path.join(folder, "include/generated/autoconf.h")
    with open(path) as f:
        text = re.sub(r"#define CONFIG_(CC_HAS_NAMED_AS\w*|USE_X86_SEG_SUPPORT) 1\n", "", f.read())
    with open(path, "w") as f:
        f.write(text)
    with rig.Step("disk image with the headers of %s-%s" % (flavour, arch)):
        make_disk(folder, out)
    return out


def compile_job(arch, out, source, how):
    """How a C program that clients watch or use is made."""
    argv = [rig.compiler(arch), "-g", "-O1", "-fno-omit-frame-pointer", "-Wall", "-Wextra", "-pthread",
            "-ffile-prefix-map=%s=." % rig.TOP] + how
    return argv, os.path.join(out, os.path.basename(source)[:-2]), [source, os.path.abspath(__file__)]


def pfx_jobs(arch, out):
    """How pfx is made."""
    pfx = os.path.join(rig.TOP, "tools/perf_ext")
    jobs = []
    for name, sources, how in (("pfx", ["pfx.c", "record.c", "hist.c", "stat.c", "stat_sets.c",
                                        "step.c", "ring.c", "libpfx.c"], ["-static"]),
                               ("libpfx-preload.so", ["preload.c", "libpfx.c"],
                                ["-shared", "-fPIC", "-ldl"])):
        files = [os.path.join(pfx, f) for f in sources]
        jobs.append(([rig.compiler(arch), "-O2", "-Wall", "-Wextra"] + files + how,
                     os.path.join(out, name), files + glob.glob(pfx + "/*.h")))
    return jobs


def client_programs(arch):
    """The C programs that clients watch or use."""
    src = os.path.join(FOLDER, "src")
    out = os.path.join(top(arch), "bin")
    root = os.path.join(top(arch), "root")
    lib = os.path.join(root, "usr/lib", TRIPLET[arch])
    jobs = pfx_jobs(arch, out)
    for c in sorted(glob.glob(src + "/*.c")):
        how = ["-static", c]
        if os.path.basename(c)[:-2] in LIBRARIES:
            # Headers of the image's packages, not of its C library.
            how = ["-idirafter", os.path.join(root, "usr/include"), c, "-L", lib,
                   "-Wl,--allow-shlib-undefined"] + LIBRARIES[os.path.basename(c)[:-2]]
        jobs.append(compile_job(arch, out, c, how))
    rig.compile_all(jobs)
    return out


class Runner:
    """All that a guest with a client needs, made once."""

    def __init__(self, arch, flavour, built=False):
        self.arch, self.flavour = arch, flavour
        rig.guest_files(arch)
        if not built:
            rig.kernel(arch, flavour)
        os.makedirs(top(arch), exist_ok=True)
        self.disks = {}
        self.make_disk("debian")
        with self.lock():
            self.headers = headers_disk(arch, flavour)
            self.programs = client_programs(arch)

    @contextlib.contextmanager
    def lock(self):
        with open(os.path.join(top(self.arch), "lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def make_disk(self, disk):
        if disk not in self.disks:
            with self.lock():
                self.disks[disk] = debian_disk(self.arch, disk)

    def run(self, clients):
        """{name: facts, or Failure} of clients that share a guest."""
        first = clients[0]
        extra = ["--disk", self.disks[first.disk], "--mem", "2G"]
        if any(c.headers for c in clients):
            extra += ["--disk", self.headers]
        extra += ["--smp", first.smp or "1", "--icount", "off" if first.smp else ICOUNT[self.arch]]
        if self.arch in first.cpu:
            extra += ["--cpu", first.cpu[self.arch]]
        if first.pmu and self.arch == "x86_64":
            extra += ["--pmu", first.pmu]
        script = "CLIENTS='%s'\n%s" % (" ".join("%s:%d" % (c.name, c.seconds) for c in clients), JOB)
        rc, folder, log = rig.guest(self.arch, self.flavour, script,
                                    [FOLDER + ":clients", self.programs + ":clients/bin"],
                                    HOST_SECONDS * sum(c.seconds for c in clients) + 600,
                                    "clients-" + first.guest, extra)
        found = {}
        for c in clients:
            found[c.name] = rig.read_lines(os.path.join(folder, c.name, "facts"))
            if rc or not found[c.name]:
                found[c.name] = rig.Failure("%s (log: %s)" % (rig.why(rc) if rc else "no facts", log))
        return found

    def run_all(self, wanted, jobs):
        """{name: facts, or Failure}, several guests at a time."""
        def one(clients):
            with rig.Step("%s on %s %s" % (" ".join(c.name for c in clients), self.arch, self.flavour)):
                return self.run(clients)
        guests = {}
        for c in wanted:
            self.make_disk(c.disk)
            guests.setdefault(c.guest, []).append(c)
        # The longest first.
        order = sorted(guests.values(), key=lambda cs: -sum(c.seconds for c in cs))
        found = {}
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for some in pool.map(one, order):
                found.update(some)
        return found


def data_file(arch):
    return os.path.join(rig.DATA, "clients-%s.txt" % arch)


def arches():
    """The architectures with a record of the stock kernel."""
    return [a for a in rig.ARCHES if os.path.exists(data_file(a))]


def recorded(arch):
    """{name: facts} of the stock kernel."""
    found = {}
    for line in rig.read_data(data_file(arch)):
        name, _, fact = line.partition(" | ")
        found.setdefault(name, []).append(fact)
    return found


def expected_of_own():
    """{name: facts} of the clients that are about what stock does not have; written by hand."""
    found = {}
    for line in rig.read_data(os.path.join(rig.DATA, "clients-own.txt")):
        name, _, fact = line.partition(" | ")
        found.setdefault(name, []).append(fact)
    return found


def record(arch, wanted, jobs, built=False):
    """Write down what the clients report on the stock kernel."""
    wanted = [c for c in wanted if not c.own]
    runner = Runner(arch, "stock", built)
    runs = [runner.run_all(wanted, jobs) for _ in range(RUNS)]
    facts = recorded(arch) if os.path.exists(data_file(arch)) else {}
    names = {c.name for c in known(arch)}
    wrong = []
    for c in wanted:
        got = [r[c.name] for r in runs]
        bad = [e for e in got if isinstance(e, rig.Failure)]
        if bad:
            wrong.append("%s: %s" % (c.name, bad[0]))
        elif any(g != got[0] for g in got):
            other = next(g for g in got if g != got[0])
            wrong.append("%s: varies:\n%s" % (c.name, "\n".join(
                difflib.unified_diff(got[0], other, n=0, lineterm=""))))
        else:
            facts[c.name] = got[0]
    rig.write_data(data_file(arch), ["%s | %s" % (n, x) for n in sorted(set(facts) & names)
                                     for x in facts[n]],
                   ["What Debian's programs report on the stock kernel, %s." % arch,
                    "Written by 'make record-clients'."])
    if wrong:
        raise rig.Failure("not recorded:\n" + "\n".join(wrong))


def run_small(arch, flavour, clients):
    """{name: facts, or Failure} of those of SMALL."""
    out = os.path.join(rig.BUILD, "clients-small-" + arch)
    work = os.path.join(FOLDER, "src", "work.c")
    os.makedirs(out, exist_ok=True)
    rig.compile_all(pfx_jobs(arch, out) + [compile_job(arch, out, work, ["-static", work])])
    script = "CLIENTS='%s'\n%s" % (" ".join("%s:%d" % (c.name, c.seconds) for c in clients), SMALL_JOB)
    rc, folder, log = rig.guest(arch, flavour, script, [FOLDER + ":clients", out + ":clients/bin"],
                                HOST_SECONDS * sum(c.seconds for c in clients), "clients-small-" + arch,
                                ["--smp", "1", "--icount", ICOUNT[arch]])
    facts = {c.name: rig.read_lines(os.path.join(folder, c.name, "facts")) for c in clients}
    why = rig.Failure("%s (log: %s)" % (rig.why(rc) if rc else "no facts", log))
    return {name: why if rc or not lines else lines for name, lines in facts.items()}


def compare_small(tally, arch, flavour):
    """Those of SMALL, one check for each."""
    wanted = [c for c in known(arch) if c.name in SMALL]
    judge(tally, arch, wanted, run_small(arch, flavour, wanted))


def compare(tally, arch, flavour, wanted, jobs, built=False):
    """One check per client."""
    have = recorded(arch) | expected_of_own()
    judge(tally, arch, wanted,
          Runner(arch, flavour, built).run_all([c for c in wanted if c.name in have], jobs))


def judge(tally, arch, wanted, found):
    have = recorded(arch) | expected_of_own()
    for c in wanted:
        label = "clients-%s: %s" % (arch, c.name)
        facts, stock = found.get(c.name), have.get(c.name)
        if isinstance(facts, rig.Failure):
            tally.add(label, "failed", str(facts))
        elif stock is None:
            tally.add(label, "skipped", "not in the record of the stock kernel: make record-clients")
        elif facts == stock:
            tally.add("%s (%d facts)" % (label, len(facts)), "ok")
        else:
            diff = [x for x in difflib.unified_diff(stock, facts, n=0, lineterm="")
                    if x[0] in "+-" and not x.startswith(("+++", "---"))]
            tally.add(label, "failed", "".join("\n    " + x for x in diff[:40]))
