# SPDX-License-Identifier: GPL-2.0
"""What the Python scripts share: steps, compiling test programs, guests, TAP.

A step that cannot run raises Failure with a message for the reader; nothing
here swallows an error.
"""
import concurrent.futures
import glob
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import threading
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPTS = os.path.join(TOP, "scripts")
BUILD = os.path.join(TOP, "build")
TREE = os.path.join(BUILD, "tree")
DATA = os.path.join(SCRIPTS, "data")
TESTS = "tools/testing/selftests/perf_events"
ARCHES = ["x86_64", "arm64"]
# The base's programs that cannot be run, and why.
BASE_SKIPPED = {
    ("arm64", "sigtrap_threads"): "hangs on the stock kernel: a breakpoint with sigtrap is "
                                  "hit again and again, arm64 does not step over it",
}
# What a selftest may say it needs: the machines that a step of scripts/check starts for it. What
# needs nothing runs on the machines for all; see "Adding a test" in testing.rst.
NEEDS = {"smp", "hw", "hw-smp", "arch-lbr", "adaptive-pebs", "amd-lbr", "brs", "pmuv3", "pmu-irq",
         "devicetree", "metrics", "late", "hybrid", "kvm", "old-pebs", "tfa", "offcore", "pairs",
         "sleep", "idle", "kexec", "gap", "bts", "td-overflow", "nb", "acr",
         "pebs-counters", "arch-pebs", "late-arm64", "skid"}
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


def time_file(what):
    """Where it is kept how many seconds a step took when it ended well last; as in common.sh."""
    return os.path.join(BUILD, "times", re.sub(r"[^A-Za-z0-9.-]", "_", what)[:100])


def last_time(what):
    """Seconds, or None."""
    try:
        with open(time_file(what)) as f:
            return int(f.read())
    except (FileNotFoundError, ValueError):
        return None


def keep_time(what, seconds):
    os.makedirs(os.path.join(BUILD, "times"), exist_ok=True)
    with open(time_file(what), "w") as f:
        f.write("%d\n" % seconds)


class Step:
    """with Step("what"): ... says what starts, and how long it took and takes. What is alike from
    one time to the next is a kind of step."""

    def __init__(self, what, kind=None):
        self.what, self.kind = what, kind or what

    def __enter__(self):
        self.start = time.monotonic()
        last = last_time(self.kind)
        say(self.what + " ..." + ("" if last is None else " %d s last time" % last))

    def __exit__(self, kind, value, trace):
        took = time.monotonic() - self.start
        if not kind:
            keep_time(self.kind, took)
        say("%s: %s in %d s" % (self.what, "FAILED" if kind else "done", took))


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


def plugin(name):
    """A plugin of QEMU, made of scripts/lib/NAME.c."""
    src, header = (os.path.join(SCRIPTS, "lib", x) for x in (name + ".c", "qemu-plugin.h"))
    out = os.path.join(BUILD, name + ".so")
    error = build_program(["gcc", "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", src], out,
                          [src, header])
    if error:
        raise Failure(error)
    return out


# Steps that run beside each other want the same programs.
COMPILING = threading.Lock()


def compile_all(jobs):
    """jobs: (argv, out, inputs). Returns the programs; raises if one fails."""
    with COMPILING, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        errors = [e for e in pool.map(lambda j: build_program(*j), jobs) if e]
    if errors:
        raise Failure("; ".join(errors))
    return [j[1] for j in jobs]


def programs(arch, src, out, names=None, include=(), flags=()):
    """C files of src (names, or all), each one static program with src/lib/*.c."""
    headers = glob.glob(src + "/lib/*.h") + glob.glob(src + "/*.h") + \
        [TREE + "/include/uapi/linux/perf_event.h"]
    if names is None:
        names = sorted(os.path.basename(p) for p in glob.glob(src + "/*.c"))
    dirs = [x for d in (os.path.join(TREE, "tools/testing/selftests"), src, src + "/lib",
                         *include) for x in ("-I", d)]
    argv = [compiler(arch)] + CFLAGS + list(flags) + dirs
    # Compiled once, not for each program.
    lib = compile_all([(argv + ["-c", c], os.path.join(out + ".lib", os.path.basename(c)[:-2] + ".o"),
                        [c] + headers) for c in sorted(glob.glob(src + "/lib/*.c"))])
    jobs = []
    for name in names:
        c = os.path.join(src, name)
        jobs.append((argv + [c] + lib, os.path.join(out, name[:-2]), [c] + lib + headers))
    wanted = {j[1] for j in jobs}
    for old in glob.glob(out + "/*"):
        # Another step may be about to rename what it has compiled.
        if old not in wanted and not old.endswith(".tmp"):
            os.unlink(old)
    return compile_all(jobs)


def needs(path):
    """The words of a selftest's line "needs: ...", which is in the comment at its head."""
    with open(path) as f:
        head = f.read().partition("*/")[0]
    found = {w for line in re.findall(r"^ \* needs: (.*)$", head, re.M) for w in line.split()}
    if found - NEEDS:
        raise Failure("%s needs what no machine has: %s" % (os.path.basename(path),
                                                            " ".join(sorted(found - NEEDS))))
    return found


def selftests(arch, *wanted):
    """The project's programs, from the assembled tree (the base has some there, too): all, or
    those that need one of the wanted things."""
    ours = {os.path.basename(p): needs(p) for p in glob.glob(os.path.join(TOP, TESTS, "*.c"))}
    chosen = {n[:-2] for n, words in ours.items() if not wanted or words & set(wanted)}
    if not chosen:
        raise Failure("no selftest in %s%s" % (TESTS, "".join(" or " + w for w in wanted)))
    built = programs(arch, os.path.join(TREE, TESTS), os.path.join(BUILD, "kselftest-" + arch),
                     sorted(ours))
    return [p for p in built if os.path.basename(p) in chosen]


def modules(arch, flavour):
    """The test PMUs, built for a kernel: [path of .ko]."""
    src = os.path.join(TREE, TESTS, "pmu")
    sources = sorted(glob.glob(src + "/*.c"))
    if not sources:
        return []
    kind, _, rest = flavour.partition("-")
    name = "-".join(x for x in (kind, arch, rest) if x)
    kbuild = os.path.join(BUILD, name)
    if not os.path.exists(kbuild + "/Module.symvers"):
        raise Failure("no kernel to build the test PMUs for: make kernel ARCH=%s FLAVOUR=%s" % (arch, kind))
    out = os.path.join(BUILD, "pmu-" + name)
    os.makedirs(out, exist_ok=True)
    for path in sources + glob.glob(src + "/*.h") + [src + "/Makefile"]:
        copy = os.path.join(out, os.path.basename(path))
        if not os.path.exists(copy) or open(copy).read() != open(path).read():
            shutil.copy(path, copy)
    for old in glob.glob(out + "/*.c"):
        if not old.endswith(".mod.c") and not os.path.exists(os.path.join(src, os.path.basename(old))):
            os.unlink(old)
    argv = ["make", "-s", "-C", kbuild, "M=" + out, "ARCH=" + arch, "modules"]
    if arch != "x86_64":
        argv.append("CROSS_COMPILE=" + compiler(arch)[:-len("gcc")])
    r = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if r.returncode:
        raise Failure("the test PMUs do not build for %s:\n%s" % (name, r.stdout[-3000:]))
    return [os.path.join(out, os.path.basename(c)[:-2] + ".ko") for c in sources]


def base_selftests(arch):
    """The base's own programs of the same folder, from the pristine base."""
    src = os.path.join(base(), TESTS)
    return programs(arch, src, os.path.join(BUILD, "kselftest-base-" + arch),
                    include=[os.path.join(base(), "tools/testing/selftests")], flags=["-w"])


def peer_of(arguments):
    """The folder of a newer kernel after --peer, which is taken out of the arguments; or None."""
    if "--peer" not in arguments[:-1]:
        return None
    at = arguments.index("--peer")
    tree = os.path.abspath(arguments[at + 1])
    del arguments[at:at + 2]
    if not os.path.exists(os.path.join(tree, "kernel/events/core.c")):
        raise Failure("--peer %s: no tree of the kernel" % tree)
    if os.path.exists(os.path.join(tree, ".config")):
        raise Failure("--peer %s was built in place: run 'make mrproper' there" % tree)
    # scripts/kernel reads it.
    os.environ["PEER"] = tree
    return tree


def abi_program(arch):
    """The ABI sweep; built by its own Makefile."""
    src = os.path.join(TREE, TESTS, "abi")
    if not os.path.exists(src + "/Makefile"):
        raise Failure("no ABI sweep in %s/abi" % TESTS)
    out = os.path.join(BUILD, "abi-" + arch) + "/"
    r = subprocess.run(["make", "-s", "-C", src, "CC=" + compiler(arch), "OUTPUT=" + out],
                       stdout=sys.stderr)
    if r.returncode:
        raise Failure("the ABI sweep does not compile")
    return out + "abi-diff"


def guest(arch, flavour, script, files=(), timeout=300, name="job", extra=()):
    """Run a shell script in a guest. Returns (exit code, folder of its /out, log)."""
    folder = os.path.join(BUILD, "results", "%s-%s-%s" % (name, flavour, arch))
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    job = os.path.join(folder, "job.sh")
    with open(job, "w") as f:
        f.write(script)
    log = os.path.join(folder, "serial.log")
    argv = [os.path.join(SCRIPTS, "run-guest"), "-a", arch, "-F", flavour, "-s", job,
            "-t", str(timeout), "-l", log, "-o", folder, "-q"] + list(extra)
    for f in files:
        argv += ["-f", f]
    rc = subprocess.call(argv, stdin=subprocess.DEVNULL)
    return rc, folder, log


def why(rc):
    return {90: "the guest hung", 91: "the guest panicked or stopped early",
            92: "the kernel logged a warning or an error",
            93: "the guest could not be started"}.get(rc, "exit code %d" % rc)


RESULT = re.compile(r"^(?P<pad>(?:    )*)(?P<not>not )?ok (?P<number>\d+)\s*(?:- )?(?P<name>.*)$")
PLAN = re.compile(r"^(?P<pad>(?:    )*)1\.\.(?P<count>\d+)")


class Tally:
    """Results so far: names with passed, failed or skipped."""

    def __init__(self):
        self.passed, self.failed, self.skipped = [], [], []

    def add(self, name, result, why_not=""):
        {"ok": self.passed, "failed": self.failed, "skipped": self.skipped}[result].append(name)
        if result == "failed":
            print("FAILED: %s%s" % (name, ": " + why_not if why_not else ""), flush=True)
        elif result == "skipped":
            print("skipped: %s%s" % (name, ": " + why_not if why_not else ""), flush=True)

    def summary(self):
        text = "%d passed, %d failed" % (len(self.passed), len(self.failed))
        return text + (", %d skipped" % len(self.skipped) if self.skipped else "")


def tap_results(lines):
    """[(name, result, reason)] of the leaves of a TAP report, and what is wrong with it."""
    results, problems, plans = [], [], {}
    stack = {}
    reason, suite = "", ""
    for line in lines:
        m = re.match(r" *# Subtest: (\S+)", line)
        if m:
            suite = m[1] + "."
        # A reason is printed in a line of its own, before the result.
        if re.match(r"# *SKIP\b", line):
            reason = line.lstrip("# ")[4:].lstrip(": ")
        m = PLAN.match(line)
        if m:
            plans[len(m["pad"])] = int(m["count"])
            stack[len(m["pad"])] = 0
            continue
        m = RESULT.match(line)
        if not m:
            continue
        depth = len(m["pad"])
        name, _, directive = (" " + m["name"]).partition(" # ")
        # The base's kselftest.h puts the name of a skipped test behind the word.
        if not name.strip():
            name = re.sub(r"(?i)^skip:? *", "", directive)
        skip = directive.upper().startswith("SKIP")
        result = "skipped" if skip else "failed" if m["not"] else "ok"
        deeper = [d for d in stack if d > depth]
        for d in deeper:
            if plans.get(d) not in (None, stack[d]):
                problems.append("%s: %d results of %d planned" % (name, stack[d], plans[d]))
            del stack[d]
            plans.pop(d, None)
        stack[depth] = stack.get(depth, 0) + 1
        # A line that closes a deeper level is the sum of that level, no test of its own.
        if not deeper or (m["not"] and not any(r[1] == "failed" for r in results)):
            results.append(((suite if depth else "") + name.strip(), result, (reason or directive) if skip else ""))
        reason = ""
    for d, count in stack.items():
        if plans.get(d) not in (None, count):
            problems.append("%d results of %d planned" % (count, plans[d]))
    if not results:
        problems.append("no TAP result")
    return results, problems


def read_lines(path):
    try:
        with open(path, errors="replace") as f:
            return f.read().replace("\r", "").splitlines()
    except FileNotFoundError:
        return None


# A guest with selftests that takes more seconds says which of them do.
SLOW = 300

# Runs every program of /tests; its report goes to /out and to the console.
TAP_JOB = """
mkdir -p /out
for p in $TEST_LIST; do
	n=${p##*/}
	echo "# running $n"
	read -r began rest < /proc/uptime
	{ timeout -k 5 $TEST_SECONDS "$p" 2>&1; echo $? > /out/$n.rc; } | tee /out/$n.tap
	read -r ended rest < /proc/uptime
	echo $((${ended%.*} - ${began%.*})) > /out/$n.seconds
done
"""


def print_slowest(folder, names):
    """The programs that took the longest, in seconds of the guest."""
    taken = []
    for name in names:
        for seconds in read_lines(os.path.join(folder, name + ".seconds")) or []:
            taken.append((int(seconds), name))
    print("slowest: " + ", ".join("%s %d s" % (n, s) for s, n in sorted(taken)[:-6:-1]))


def console_report(console, name):
    """(lines a program printed, whether the next one was started) from the serial log."""
    starts = [i for i, x in enumerate(console) if x.endswith("# running " + name)]
    if not starts:
        return None, False
    rest = console[starts[0] + 1:]
    ends = [i for i, x in enumerate(rest) if "# running " in x or x.startswith("@@guest")]
    lines = rest[:ends[0]] if ends else rest
    return [x for x in lines if not re.match(r" *\[ *\d+\.\d{6}\]", x)] or [""], bool(ends)


def run_tap(tally, arch, flavour, paths, label, timeout=600, seconds=480, extra=(), show=False,
            before="", after="", expected=(), beside=()):
    """Run TAP programs, with files beside them, in one guest; add the results to the tally.
    before, after: lines of shell that the guest runs around them."""
    names = [os.path.basename(p) for p in paths]
    script = "%sTEST_LIST='%s'\nTEST_SECONDS=%d\n%s%s" % (
        before, " ".join("/tests/" + n for n in names), seconds, TAP_JOB, after)
    start = time.monotonic()
    rc, folder, log = guest(arch, flavour, script, [*paths, *beside], timeout,
                            label.split()[0], extra)
    if time.monotonic() - start > SLOW:
        print_slowest(folder, names)
    if rc:
        tally.add("%s: guest" % label, "failed", "%s (log: %s)" % (why(rc), log))
    console = read_lines(log) or []
    for name in names:
        lines = read_lines(os.path.join(folder, name + ".tap"))
        if lines is None:
            # The guest stopped early: the console has what was printed until then.
            lines, ended = console_report(console, name)
            if not ended:
                tally.add("%s/%s" % (label, name), "failed",
                          "the guest stopped while it ran" if lines else "did not run")
                print("\n".join("    " + x for x in (lines or [])[-3:]))
                continue
        if show:
            print("\n".join(["# %s/%s" % (label, name)] + lines))
        code = (read_lines(os.path.join(folder, name + ".rc")) or ["unknown"])[0]
        results, problems = tap_results(lines)
        for test, result, reason in results:
            key = "%s/%s: %s" % (label, name, test)
            if result == "failed" and key in expected:
                result, reason = "skipped", "expected to fail: " + expected[key]
            tally.add(key, result, reason)
        if any(r[1] == "failed" for r in results) and not show:
            print("\n".join("    " + x for x in lines if x.startswith(("#", "not ok"))))
        if code not in ("0", "4", "unknown") and not any(r[1] == "failed" for r in results):
            problems.append("exit code %s%s" % (code, " (time limit)" if code == "124" else ""))
        for p in problems:
            tally.add("%s/%s" % (label, name), "failed", p)
    return folder


def run_stress(tally, arch, flavour, kind, seconds, seed):
    """The stress program with 4 CPUs in parallel; kind: debug or kcsan (scripts/config)."""
    kernel(arch, flavour, kind + ".config")
    guest_files(arch)
    src = os.path.join(TREE, TESTS, "stress")
    out = os.path.join(BUILD, "stress-" + arch, "stress")
    inputs = glob.glob(src + "/*.[ch]") + glob.glob(src + "/../lib/*.[ch]")
    error = build_program([compiler(arch)] + CFLAGS + ["-I", TREE + "/tools/testing/selftests"] +
                          sorted(x for x in inputs if x.endswith(".c")), out, inputs)
    if error:
        raise Failure(error)
    what = "stress-%s-%s" % (kind, arch)
    script = "mkdir -p /out\n/tests/stress -v -t %d -s %d > /out/stress.tap 2>&1\n" % (seconds, seed)
    if kind == "kcsan":
        # No report may break into what the guest sends afterwards.
        script += "mount -t debugfs none /sys/kernel/debug 2> /dev/null\n" \
                  "cat /sys/kernel/debug/kcsan > /out/kcsan\n" \
                  "echo off > /sys/kernel/debug/kcsan\ndmesg > /out/dmesg\n"
    name = "%s-%s" % (flavour, kind)
    extra = ["--smp", "4", "--mem", "4G", "--threads", "multi"]
    if kind == "debug":
        extra.append("--kmemleak")
    else:
        extra += ["--allow", "BUG: KCSAN", "--append", "log_buf_len=32M"]
    with Step("%s of %s for %d s, seed %d" % (what, flavour, seconds, seed),
              "%s of %s for %d s" % (what, flavour, seconds)):
        rc, folder, log = guest(arch, name, script, [out] + modules(arch, name), seconds * 2 + 300,
                                what, extra)
    if rc:
        tally.add("%s: guest" % what, "failed", "%s (log: %s)" % (why(rc), log))
    lines = read_lines(os.path.join(folder, "stress.tap"))
    if lines is None:
        tally.add("%s: report" % what, "failed", "none arrived (log: %s)" % log)
        return
    print("\n".join("    " + x for x in lines if x.startswith("#")))
    results, problems = tap_results(lines)
    for test, result, reason in results:
        tally.add("%s: %s" % (what, test), result, reason)
    for x in problems:
        tally.add(what, "failed", x)
    if kind == "kcsan":
        state = dict(re.findall(r"^(\w+): (\d+)$",
                                "\n".join(read_lines(os.path.join(folder, "kcsan")) or []), re.M))
        watched = state.get("setup_watchpoints", "0")
        tally.add("%s: KCSAN watched" % what,
                  "ok" if state.get("enabled") == "1" and watched != "0" else "failed", str(state))
        print("    # KCSAN: %s watchpoints" % watched)
        add_races(tally, what, os.path.join(BUILD, "%s-%s-kcsan" % (flavour, arch)),
                  read_lines(os.path.join(folder, "dmesg")) or [])


def add_races(tally, what, kbuild, lines):
    """Reports of KCSAN in which a function of kernel/events takes part."""
    objects = glob.glob(kbuild + "/kernel/events/**/*.o", recursive=True)
    ours = set(re.findall(r" [tT] (\S+)$", run(["nm"] + objects), re.M))
    found, others = [], 0
    for number, line in enumerate(lines):
        m = re.search(r"BUG: KCSAN: \S+ in (.*)$", line)
        if not m:
            continue
        if {x.strip().split(".")[0].split("+")[0] for x in m[1].split("/")} & {x.split(".")[0] for x in ours}:
            found.append("\n".join(lines[number:number + 30]))
        else:
            others += 1
    print("    # KCSAN: %d reports of kernel/events, %d of others" % (len(found), others))
    tally.add("%s: no data race in kernel/events" % what, "failed" if found else "ok",
              "\n".join(found[:3]))


PERF_TEST = re.compile(r"^ *(\d+(?:\.\d+)?): (.*?) *:(?: +(Ok|Skip|FAILED!).*)?$")
# Left out: a minute of parsing tables in user space, and one that fails after
# two minutes for want of a daemon's tools in the guest.
PERF_TEST_JOB = r"""
mkdir -p /out
skip=$(perf test list 2>&1 | sed -nE 's/^ *([0-9]+): (PMU events|daemon operations) *$/\1/p' | tr '\n' ,)
perf test -s "${skip%,}" > /out/perf-test 2>&1
echo "perf test: exit code $?"
"""


def perf_test(arch, flavour):
    """{test: Ok, Skip or FAILED!} of perf's own tests, or raises."""
    rc, folder, log = guest(arch, flavour, PERF_TEST_JOB, timeout=900, name="perf-test")
    lines = read_lines(os.path.join(folder, "perf-test"))
    if rc or not lines:
        raise Failure("perf test on %s %s: %s (log: %s)" % (arch, flavour, why(rc), log))
    found, parent = {}, ""
    for line in lines:
        m = PERF_TEST.match(re.sub("\x1b\\[[0-9;]*m", "", line))
        if not m:
            continue
        number, name, result = m.groups()
        if "." not in number:
            parent = name
        if result:
            found[name if "." not in number else parent + " / " + name] = result
    return found


def base_results(arch, flavour):
    """{program: test: result} of the base's own selftests."""
    progs = [p for p in base_selftests(arch)
             if (arch, os.path.basename(p)) not in BASE_SKIPPED]
    names = [os.path.basename(p) for p in progs]
    script = "TEST_LIST='%s'\nTEST_SECONDS=60\n%s" % (
        " ".join("/tests/" + n for n in names), TAP_JOB)
    rc, folder, log = guest(arch, flavour, script, progs, 300, "base-selftests")
    if rc:
        raise Failure("the base's selftests on %s %s: %s (log: %s)" % (arch, flavour, why(rc), log))
    found = {}
    for name in names:
        results, _ = tap_results(read_lines(os.path.join(folder, name + ".tap")) or [])
        for test, result, _ in results:
            found["%s: %s" % (name, test)] = result
        found["%s: exit code" % name] = (read_lines(os.path.join(folder, name + ".rc")) or ["?"])[0]
    return found


def abi_lines(arch, flavour):
    """What the ABI sweep prints there."""
    rc, folder, log = guest(arch, flavour, "mkdir -p /out; /tests/abi-diff > /out/abi 2> /out/err\n",
                            [abi_program(arch)], 900, "abi")
    lines = read_lines(os.path.join(folder, "abi"))
    err = read_lines(os.path.join(folder, "err")) or []
    if err:
        print("\n".join(err[:20]), file=sys.stderr)
    if rc or not lines:
        raise Failure("ABI sweep on %s %s: %s (log: %s)" % (arch, flavour, why(rc), log))
    return lines


def write_data(name, lines, head):
    os.makedirs(os.path.dirname(name), exist_ok=True)
    with open(name, "w") as f:
        f.write("".join("# %s\n" % h for h in head) + "".join(x + "\n" for x in lines))
    say("recorded " + os.path.relpath(name, TOP))


def read_data(name):
    lines = read_lines(name)
    if lines is None:
        raise Failure("%s is missing: make record-stock" % os.path.relpath(name, TOP))
    return [x for x in lines if x and not x.startswith("#")]


def abi_file(arch):
    return os.path.join(TOP, TESTS, "abi", "stock-%s.txt" % arch)


def abi_adapt(lines, known="differences.txt"):
    """A kernel's lines with the differences that are known, a file of abi."""
    spec = importlib.util.spec_from_file_location(
        "compare", os.path.join(TOP, TESTS, "abi", "compare.py"))
    compare = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(compare)
    return compare.adapt(lines, known)


def expected_differences(name):
    """{test: reason} of a file "test | reason"."""
    result = {}
    for line in read_data(os.path.join(DATA, name)):
        test, bar, reason = line.partition(" | ")
        if not bar or not reason.strip():
            raise Failure("%s: '%s' has no reason" % (name, line))
        result[test.strip()] = reason.strip()
    return result


STAMP = re.compile(r"^(?:<\d+>)?\[ *\d+\.\d{6}\](?:\[ *[TC]\d+\])? ?")


def add_kunit(tally, label, lines, show=False):
    """Add the results of the KUnit tests that the kernel log reports."""
    lines = [STAMP.sub("", x) for x in lines if STAMP.match(x)]
    starts = [i for i, x in enumerate(lines) if x.startswith("KTAP version")]
    if not starts:
        tally.add(label, "failed", "the kernel log has no KUnit report")
        return
    lines = lines[starts[0]:]
    if show:
        print("\n".join(x for x in lines if RESULT.match(x) or PLAN.match(x) or "# " in x))
    results, problems = tap_results(lines)
    for test, result, reason in results:
        tally.add("%s: %s" % (label, test), result, reason)
    if any(r[1] == "failed" for r in results) and not show:
        near = {j for i, x in enumerate(lines) if "not ok" in x or "FAILED" in x
                for j in range(i, i + (1 if "not ok" in x else 5))}
        print("\n".join("    " + lines[j] for j in sorted(near) if j < len(lines)))
    for p in problems:
        tally.add(label, "failed", p)


# Built in, but off unless asked for.
KUNIT_ON = ["--append", "kunit.enable=1"]


def run_kunit(tally, arch, flavour, show=False, timeout=300):
    """Boot a kernel whose tests run at boot, read its log."""
    rc, folder, log = guest(arch, flavour, "mkdir -p /out; dmesg > /out/dmesg\n",
                            name="kunit", timeout=timeout, extra=KUNIT_ON)
    if rc:
        tally.add("kunit-%s: guest" % arch, "failed", "%s (log: %s)" % (why(rc), log))
    lines = read_lines(os.path.join(folder, "dmesg")) or read_lines(log) or []
    add_kunit(tally, "kunit-" + arch, lines, show)
