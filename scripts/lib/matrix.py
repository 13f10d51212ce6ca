# SPDX-License-Identifier: GPL-2.0
"""The configurations of `make matrix`, and compiling objects in them."""
import dataclasses
import glob
import os
import re
import shutil
import subprocess

import rig

OUT = os.path.join(rig.BUILD, "matrix")
JOBS = os.environ.get("JOBS") or str(os.cpu_count())

# Not wanted where everything else is on: what makes compilers slow, or warnings errors.
ALL_BUT = """
# CONFIG_WERROR is not set
# CONFIG_DRM_WERROR is not set
# CONFIG_KASAN is not set
# CONFIG_KCSAN is not set
# CONFIG_KCOV is not set
# CONFIG_UBSAN is not set
# CONFIG_GCOV_KERNEL is not set
# CONFIG_GCC_PLUGINS is not set
# CONFIG_DEBUG_INFO_BTF is not set
CONFIG_DEBUG_INFO_NONE=y
CONFIG_PERF_EVENTS=y
CONFIG_PERF_EVENTS_KUNIT_TEST=y
"""
# What the guests of the debugging kernels have.
CHECKS = "CONFIG_PERF_EVENTS_DEBUG=y\n"
NO_64BIT = """
# CONFIG_64BIT is not set
# CONFIG_IA32_EMULATION is not set
"""
ARM64_ACPI = """
CONFIG_EFI=y
CONFIG_ACPI=y
CONFIG_ARM64_PSEUDO_NMI=y
CONFIG_VIRTUALIZATION=y
CONFIG_KVM=y
CONFIG_CPU_IDLE=y
CONFIG_ARM_PSCI_CPUIDLE=y
"""

# Folders with files of ours alone, but for uprobes.c. All of their subfolders count.
OURS = ("kernel/events/", "arch/arm64/kernel/perf/", "arch/x86/events/core/",
        "arch/x86/events/start/", "arch/x86/events/intel/cpu/", "arch/x86/events/amd/cpu/")
# And the headers of ours that everybody includes.
READERS = sorted(os.path.basename(f)[:-2]
                 for f in glob.glob(os.path.join(rig.TOP, "include/linux/perf/*.h")))
HEADERS = ("include/linux/perf_event.h", "include/uapi/linux/perf_event.h",
           *("include/linux/perf/%s.h" % r for r in READERS))

CROSS = {"arm64": "aarch64-linux-gnu-", "arm": "arm-linux-gnueabi-",
         "powerpc": "powerpc64le-linux-gnu-", "s390": "s390x-linux-gnu-",
         "riscv": "riscv64-linux-gnu-", "mips": "mips64el-linux-gnuabi64-",
         "sparc": "sparc64-linux-gnu-"}
PACKAGES = ["sparse", "coccinelle"] + ["gcc-" + p[:-1] for a, p in CROSS.items() if a != "arm64"]


@dataclasses.dataclass
class Config:
    """A configuration, and which objects are compiled in it."""
    name: str
    what: str
    arch: str = "x86_64"
    # The rig's small configuration, Kconfig's allyesconfig, or allnoconfig.
    base: str = "rig"
    fragment: str = ""		# a file of scripts/config
    lines: str = ""
    # "events": kernel/events; "ours": the folders of OURS; "core": and kernel, mm, fs, init,
    # security; "all": and the rest
    scope: str = "core"
    sparse: bool = False
    fast: bool = False		# of scripts/check's matrix-fast: kernel/events, with sparse OURS
    events: bool = True		# CONFIG_PERF_EVENTS

    @property
    def srcarch(self):
        return "x86" if self.arch in ("x86_64", "i386") else self.arch

    @property
    def out(self):
        return os.path.join(OUT, self.name)

    def make(self, *args):
        cross = CROSS.get(self.arch, "")
        return ["make", "-C", rig.TREE, "O=" + self.out, "ARCH=" + self.arch, "HOSTCC=gcc",
                "CROSS_COMPILE=" + cross, "CC=" + ccache(cross + "gcc")] + list(args)


CONFIGS = [
    Config("rig", "what the guests run, with checks and sparse", lines=CHECKS, sparse=True,
           scope="ours", fast=True),
    Config("arm64-rig", "the same on arm64", "arm64", lines=CHECKS, sparse=True, scope="ours"),
    Config("nocgroup", "no CGROUP_PERF", fragment="nocgroup.config"),
    Config("nobpf", "no BPF_SYSCALL", fragment="nobpf.config"),
    Config("noext", "no PERF_EVENTS_EXT", fragment="noext.config", fast=True),
    Config("modules", "formats as modules", scope="ours",
           lines="CONFIG_PERF_FORMAT_HIST=m\nCONFIG_PERF_FORMAT_PFM=m\n"),
    Config("notracing", "no EVENT_TRACING, KPROBES, UPROBES", fragment="notracing.config"),
    Config("up", "no SMP", fragment="up.config", scope="all", fast=True),
    Config("rt", "PREEMPT_RT", fragment="rt.config"),
    Config("arm64-rt", "PREEMPT_RT on arm64", "arm64", fragment="rt.config"),
    Config("vmalloc", "buffers from vmalloc", lines="CONFIG_DEBUG_PERF_USE_VMALLOC=y\n",
           scope="ours", sparse=True),
    Config("tiny", "allnoconfig and PERF_EVENTS", base="no", lines="CONFIG_PERF_EVENTS=y\n",
           scope="all"),
    Config("arm64-off", "no PERF_EVENTS: the stubs of the header", "arm64", events=False,
           lines="# CONFIG_PERF_EVENTS is not set\n", scope="all"),
    Config("i386", "32-bit x86", "i386", lines=NO_64BIT, scope="all"),
    Config("i386-tiny", "32-bit x86, allnoconfig: no local APIC", "i386", base="no",
           lines=NO_64BIT + "CONFIG_PERF_EVENTS=y\n"),
    Config("arm64-16k", "pages of 16 KiB", "arm64", lines="CONFIG_ARM64_16K_PAGES=y\n",
           scope="ours"),
    Config("arm64-64k", "pages of 64 KiB", "arm64", lines="CONFIG_ARM64_64K_PAGES=y\n",
           scope="ours"),
    Config("arm64-nocompat", "no COMPAT", "arm64", lines="# CONFIG_COMPAT is not set\n",
           scope="ours"),
    Config("arm64-acpi", "ACPI, pseudo-NMI, KVM, CPU_PM, with checks and sparse", "arm64",
           lines=ARM64_ACPI + CHECKS, scope="ours", sparse=True),
    Config("all", "everything on", base="yes", scope="all"),
    Config("arm64-all", "everything on, KVM with nVHE among it", "arm64", base="yes", scope="all"),
    Config("arm-all", "everything on, 32-bit arm", "arm", base="yes", scope="all"),
    Config("powerpc-all", "everything on, 64-bit powerpc", "powerpc", base="yes", scope="all",
           lines="CONFIG_CPU_LITTLE_ENDIAN=y\n"),
    Config("s390-all", "everything on, s390", "s390", base="yes", scope="all"),
    Config("riscv-all", "everything on, 64-bit riscv; no breakpoints", "riscv", base="yes",
           scope="all"),
    Config("mips-all", "everything on, 64-bit mips; no breakpoints", "mips", base="yes",
           lines="CONFIG_64BIT=y\nCONFIG_CPU_MIPS64_R2=y\nCONFIG_CPU_LITTLE_ENDIAN=y\n",
           scope="all"),
    Config("sparc-all", "everything on, 64-bit sparc", "sparc", base="yes",
           lines="CONFIG_64BIT=y\n", scope="all"),
]


def ccache(cc):
    return "ccache " + cc if shutil.which("ccache") else cc


# ---------------------------------------------------------------- configuring

def wanted(config):
    """Kconfig lines, {symbol: value}."""
    text = config.lines
    if config.base == "yes":
        text = ALL_BUT + text
    if config.base == "rig":
        arch = "arm64" if config.arch == "arm64" else "x86_64"
        paths = ["common.config", arch + ".config"] + ([config.fragment] if config.fragment else [])
        text = "".join(open(os.path.join(rig.SCRIPTS, "config", p)).read() for p in paths) + text
    values = {}
    for m in re.finditer(r"^(?:# (CONFIG_\w+) is not set|(CONFIG_\w+)=(.*))$", text, re.M):
        values[m[1] or m[2]] = "n" if m[1] else m[3]
    return values


def demanded(config):
    """The symbols that make the configuration what it is."""
    text = config.lines
    if config.fragment:
        text += open(os.path.join(rig.SCRIPTS, "config", config.fragment)).read()
    if config.events:
        text += "CONFIG_PERF_EVENTS=y\n"
    return set(re.findall(r"CONFIG_\w+", text))


def quiet(argv, log, what):
    with open(log, "w") as f:
        rc = subprocess.call(argv, stdout=f, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    if rc:
        raise rig.Failure("%s failed: %s\n%s" % (what, log, "".join(open(log).readlines()[-12:])))


def configure(config):
    os.makedirs(config.out, exist_ok=True)
    want = wanted(config)
    lines = "".join("%s=%s\n" % x for x in want.items())
    path = os.path.join(config.out, "wanted")
    old = open(path).read() if os.path.exists(path) else None
    if old != lines or not os.path.exists(config.out + "/.config"):
        with open(path, "w") as f:
            f.write(lines)
        goal = "allyesconfig" if config.base == "yes" else "allnoconfig"
        quiet(config.make("-s", "KCONFIG_ALLCONFIG=" + path, goal), config.out + "/config.log",
              "configuring " + config.name)
    else:
        quiet(config.make("-s", "olddefconfig"), config.out + "/config.log",
              "configuring " + config.name)
    have = dict(re.findall(r"^(CONFIG_\w+)=(.*)$", open(config.out + "/.config").read(), re.M))
    lost = [s for s in sorted(demanded(config)) if s in want and want[s] != have.get(s, "n")]
    if lost:
        raise rig.Failure("Kconfig did not grant " + " ".join("%s=%s" % (s, want[s]) for s in lost))


# ------------------------------------------------------------------- objects

USES = r"include [<\"](linux/perf_event\.h|linux/hw_breakpoint\.h|linux/perf/\w+\.h|" \
       r"asm/perf_event\.h|asm/hw_breakpoint\.h|linux/trace_events\.h|linux/coresight\.h|" \
       r"trace/perf\.h)|[^_]perf_sw_event|perf_event_\w+\(|perf_pmu_\w+\(|perf_tp_event"
CORE = ["kernel", "mm", "fs", "init", "security"]
# Asks kbuild itself which objects of a folder are enabled: a goal that no file matches.
LIST = "%/matrix.lst: FORCE ; @$(if $(filter $(obj),$*)," \
       "echo \"matrix: $(filter %.o,$(real-obj-y) $(real-obj-m) $(addprefix $(obj)/,$(lib-y)))\")\n"


def users(config):
    """The base's files that use the subsystem and may be enabled here, without ours."""
    roots = [] if config.scope in ("events", "ours") else list(CORE)
    if config.scope == "all":
        roots += ["drivers", "arch/" + config.srcarch, "virt"]
    if not roots:
        return []
    r = subprocess.run(["grep", "-rlE", "--include=*.c", USES] + roots, cwd=rig.TREE,
                       stdout=subprocess.PIPE, text=True)
    return sorted(f[:-2] + ".o" for f in r.stdout.split() if not f.startswith(OURS))


def enabled(config, folders):
    """The objects kbuild would compile in these folders."""
    mk = os.path.join(OUT, "list.mk")
    with open(mk, "w") as f:
        f.write(LIST)
    env = dict(os.environ, MAKEFILES=mk)
    goals = ["%s/matrix.lst" % f for f in folders]
    log = config.out + "/list.log"
    r = subprocess.run(config.make("-s", "-k", "-j" + JOBS, *goals), env=env, text=True,
                       stdout=subprocess.PIPE, stderr=open(log, "w"), stdin=subprocess.DEVNULL)
    found = set()
    for line in r.stdout.splitlines():
        if line.startswith("matrix: "):
            found |= {os.path.normpath(o) for o in line.split()[1:]}
    if not any(o.startswith("kernel/events/") for o in found) and config.events:
        raise rig.Failure("kbuild lists no object, see " + log)
    return found


def group_of(obj):
    for folder in OURS:
        if obj.startswith(folder):
            return folder[:-1]
    if obj.startswith(("arch/", "drivers/perf/")):
        return "/".join(obj.split("/")[:2])
    return "drivers" if obj.startswith("drivers/") else "core"


# ----------------------------------------------------------------- compiling

COMMAND = re.compile(r"^\s*((?:ccache )?\S*gcc .* -c -o (\S+\.o) (\S+\.[cS]))(?: |;|$)")
STOPPED = re.compile(r"\*\*\* \[[^\]]*: (\S+\.o)\] Error")
LOUD = re.compile(r"(warning|error):|undefined")


@dataclasses.dataclass
class Result:
    command: str = ""
    lines: list = dataclasses.field(default_factory=list)
    stopped: bool = False


def read_log(text):
    """{object: Result} of a make -O V=1 run: a command, then what it printed."""
    results, now = {}, None
    for line in text.splitlines():
        m = COMMAND.match(line)
        if m:
            now = results.setdefault(os.path.normpath(m[2]), Result())
            now.command = m[1]
            continue
        m = STOPPED.search(line)
        if m:
            results.setdefault(os.path.normpath(m[1]), Result()).stopped = True
        m = re.match(r"# cmd_checkdoc (\S+\.o)$", line)
        if m:
            now = results.setdefault(os.path.normpath(m[1]), Result())
        elif line.startswith(("make[", "# ")):
            now = None
        elif now is not None:
            now.lines.append(line)
    return results


def compile_objects(config, objects, *args):
    """Compile, {object: Result} of those the compiler spoke about or that failed."""
    log = os.path.join(config.out, "compile.log")
    with open(log, "w") as f:
        subprocess.call(config.make("-k", "-O", "-j" + JOBS, "V=1", *args, *objects),
                        stdout=f, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    text = open(log, errors="replace").read()
    results = read_log(text)
    bad = {}
    for obj in objects:
        r = results.get(obj, Result())
        full = os.path.join(config.out, obj)
        if r.stopped or not os.path.exists(full) or any(LOUD.search(x) for x in r.lines):
            r.stopped = r.stopped or not os.path.exists(full)
            if not r.lines:
                r.lines = [x for x in text.splitlines() if obj in x or "***" in x][-6:]
            bad[obj] = r
            # Compiled anew next time, to be heard again.
            if os.path.exists(full):
                os.unlink(full)
    return bad


def said(lines):
    """What a compiler complained about, without places."""
    found = (re.match(r"(?:\S*/)?([^/:\s]+):\d+(?::\d+)?: (.*(?:warning|error): .*)", x)
             for x in lines)
    return {m[1] + ": " + m[2] for m in found if m}


def on_base(config, command, source=None):
    """What the compiler says about the same file of the pristine base, and the object's path."""
    base = rig.base()
    command = command.replace(rig.TREE + "/", base + "/")
    command = re.sub(r"-Wp,-MMD,\S+", "", command)
    obj = os.path.join(config.out, "base.o")
    if source:
        obj = os.path.join(config.out, "base-" + os.path.basename(source)[:-2] + ".o")
        command = re.sub(r"\S+\.c$", os.path.join(base, source), command)
    command = re.sub(r" -c -o \S+", " -c -o " + obj, command)
    r = subprocess.run(["sh", "-c", command], cwd=config.out, capture_output=True, text=True)
    return r, obj


def is_ours(source):
    return os.path.exists(os.path.join(rig.TOP, source))


def check_group(tally, config, group, objects, *args):
    bad = compile_objects(config, objects, *args)
    worse = {}
    for obj, r in bad.items():
        source = obj[:-2] + ".c"
        if not is_ours(source) and r.command:
            b, _ = on_base(config, r.command)
            if not said(r.lines) - said(b.stderr.splitlines()) and (b.returncode or not r.stopped):
                continue
        worse[obj] = r.lines
    label = "%s: %s (%d objects)" % (config.name, group, len(objects))
    text = "".join("\n  %s%s" % (o, "".join("\n    " + x[:200] for x in lines
                                            if not x.startswith("  gcc"))[:3000])
                   for o, lines in worse.items())
    if not worse:
        print("ok: %s%s" % (label, ", %d as on the base" % len(bad) if bad else ""), flush=True)
    tally.add(label, "failed" if worse else "ok", text)


# ------------------------------------------------------------------- symbols

OLD = ["core.c", "ring_buffer.c", "callchain.c", "hw_breakpoint.c"]


def symbols(config, paths, *flags):
    nm = CROSS.get(config.arch, "") + "nm"
    if not paths:
        return set()
    out = rig.run([nm, "-P"] + list(flags) + paths)
    names = {x.split()[0] for x in out.splitlines() if " " in x}
    return {n for n in names if not n.startswith((".", "__export_symbol", "__ksym", "$"))}


def event_command(config):
    """How a file of kernel/events is compiled here."""
    with open(os.path.join(config.out, "kernel/events/.time.o.cmd")) as f:
        m = re.search(r"^savedcmd_\S+ := (.*?-c -o \S+ \S+\.c)", f.read(), re.M)
    return m[1].replace("\\#", "#").replace("$$", "$")


def check_symbols(tally, config, objects):
    """What the base's files define and a compiled file refers to, ours must define."""
    label = config.name + ": symbols"
    ours = [os.path.join(config.out, o) for o in objects if o.startswith("kernel/events/")]
    if not all(os.path.exists(p) for p in ours):
        return
    others = [os.path.join(config.out, o) for o in objects if not o.startswith("kernel/events/")]
    others = [p for p in others if os.path.exists(p)]
    have = symbols(config, ours, "-g", "--defined-only")
    old = []
    for name in OLD:
        if name == "hw_breakpoint.c" and not has(config, "CONFIG_HAVE_HW_BREAKPOINT"):
            continue
        r, obj = on_base(config, event_command(config), "kernel/events/" + name)
        if r.returncode:
            raise rig.Failure("the base's %s does not compile: %s" % (name, r.stderr[:500]))
        old.append(obj)
    need = symbols(config, old, "-g", "--defined-only") & symbols(config, others, "-u")
    lost = sorted(need - have)
    if not lost:
        print("ok: %s (%d needed)" % (label, len(need)), flush=True)
    tally.add(label, "failed" if lost else "ok", "not defined: " + " ".join(lost))


def has(config, symbol):
    return symbol + "=y" in open(config.out + "/.config").read().split()


def exported(folder, names):
    found = set()
    for n in names:
        with open(os.path.join(folder, "kernel/events", n)) as f:
            text = f.read()
        found |= set(re.findall(r"^EXPORT_(SYMBOL(?:_GPL)?)\((\w+)\)", text, re.M))
    return found


def check_exports(tally):
    """What modules can use."""
    old = exported(rig.base(), OLD)
    folder = os.path.join(rig.TREE, "kernel/events")
    ours = exported(rig.TREE, glob.glob("**/*.c", root_dir=folder, recursive=True))
    lost = sorted("%s (%s)" % (n, kind) for kind, n in old - ours)
    if not lost:
        print("ok: exported symbols (%d)" % len(old), flush=True)
    tally.add("exported symbols", "failed" if lost else "ok", "lost: " + ", ".join(lost))


# -------------------------------------------------------- sparse, coccinelle

# Findings that are none: (semantic patch, file) -> why.
ARGUED = {
    ("mini_lock.cocci", "kernel/events/pmu/pmu.c"): "lock_group() returns with the mutex held",
}


# They take a lock and give it back, or neither, as the CPU's erratum demands.
CONDITIONAL = {"intel_pe_start_scheduling", "intel_pe_stop_scheduling"}


def guard_unseen(line):
    """sparse does not run the destructor of a guard(): there it misses the unlock."""
    m = re.match(r"(?:\.+/)*(\S+?\.c):.* context imbalance in '(\w+)'", line)
    if not m:
        return False
    if m[2] in CONDITIONAL:
        return True
    with open(os.path.join(rig.TREE, m[1])) as f:
        body = re.search(r"^\w[^;{}]*\b%s\([^;{}]*\)[^;{}]*\{.*?^\}" % m[2], f.read(), re.M | re.S)
    return bool(body and re.search(r"\bguard\((raw_)?spinlock", body[0]))


def check_sparse(tally, config, objects):
    """sparse reads every file of ours again; it must find nothing in them."""
    if not shutil.which("sparse"):
        tally.add(config.name + ": sparse", "skipped", "sparse is not installed")
        return
    log = os.path.join(config.out, "sparse.log")
    with open(log, "w") as f:
        subprocess.call(config.make("-k", "-O", "-j" + JOBS, "C=2", "CHECK=sparse", *objects),
                        stdout=f, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    text = open(log).read().replace(rig.TREE + "/", "")
    checked = len(re.findall(r"^ *CHECK ", text, re.M))
    lines = [x for x in text.splitlines() if re.search(r": (warning|error):", x)
             and re.match(r"(\.+/)*(%s)" % "|".join(OURS + HEADERS), x)]
    lines = [x for x in lines if not guard_unseen(x)]
    label = "%s: sparse (%d files)" % (config.name, checked)
    failed = bool(lines) or not checked
    if not failed:
        print("ok: " + label, flush=True)
    tally.add(label, "failed" if failed else "ok", "".join("\n    " + x for x in lines[:60]))


def check_headers(tally, config):
    """Each header of include/linux/perf that is ours, when it is the only one included."""
    folder = os.path.join(config.out, "headers")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for r in READERS:
        with open(os.path.join(folder, r + ".c"), "w") as f:
            f.write("#include <linux/perf/%s.h>\n" % r)
    objects = [r + ".o" for r in READERS]
    with open(os.path.join(folder, "Makefile"), "w") as f:
        f.write("obj-y := %s\n" % " ".join(objects))
    p = subprocess.run(config.make("-s", "-k", "-j" + JOBS, "M=" + folder, *objects),
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                       text=True)
    bad = [x for x in p.stdout.splitlines() if LOUD.search(x)]
    failed = bool(bad) or not all(os.path.exists(os.path.join(folder, o)) for o in objects)
    label = "%s: headers alone (%d)" % (config.name, len(objects))
    if not failed:
        print("ok: " + label, flush=True)
    tally.add(label, "failed" if failed else "ok", "".join("\n    " + x for x in bad[:20]))


def check_coccinelle(tally):
    """The tree's semantic patches on our files."""
    if not shutil.which("spatch"):
        tally.add("coccinelle", "skipped", "spatch is not installed")
        return
    files = sorted(f for folder in OURS
                   for f in glob.glob(os.path.join(rig.TREE, folder, "**/*.c"), recursive=True))
    files = [f for f in files if is_ours(os.path.relpath(f, rig.TREE))]
    found, ran = [], 0
    patches = sorted(glob.glob(os.path.join(rig.TREE, "scripts/coccinelle/*/*.cocci")))
    for p in patches:
        if "virtual report" not in open(p).read():
            continue
        r = subprocess.run(["spatch", "-D", "report", "--very-quiet", "--no-show-diff", "-j", JOBS,
                            "--cocci-file", p, "-I", os.path.join(rig.TREE, "include")] + files,
                           capture_output=True, text=True)
        ran += not r.returncode
        name = os.path.basename(p)
        lines = [x.replace(rig.TREE + "/", "") for x in r.stdout.splitlines()]
        found += ["%s: %s" % (name, x) for x in lines if any(folder in x for folder in OURS)
                  and (name, x.partition(":")[0]) not in ARGUED]
    label = "coccinelle (%d semantic patches)" % ran
    if not found and ran:
        print("ok: " + label, flush=True)
    tally.add(label, "ok" if ran and not found else "failed",
              "".join("\n    " + x for x in found))


# ----------------------------------------------------------------------- runs

def run_config(tally, config):
    cc = CROSS.get(config.arch, "") + "gcc"
    if not shutil.which(cc):
        tally.add(config.name, "skipped", cc + " is not installed")
        return
    configure(config)
    candidates = users(config)
    folders = {os.path.dirname(o) for o in candidates}
    if config.events:
        wanted = ("kernel/", "arch/%s/" % config.srcarch)[:1 if config.scope == "events" else 2]
        own = [f for f in OURS if f.startswith(wanted)]
        folders |= {os.path.relpath(sub, rig.TREE) for f in own
                    for sub, _, _ in os.walk(os.path.join(rig.TREE, f))}
    there = enabled(config, sorted(map(os.path.normpath, folders)))
    objects = sorted(o for o in there if o.startswith(OURS))
    objects += [o for o in candidates if o in there]
    groups = {}
    for o in objects:
        groups.setdefault(group_of(o), []).append(o)
    for group, members in groups.items():
        check_group(tally, config, group, members, *(["W=1"] if group + "/" in OURS else []))
    check_headers(tally, config)
    if config.events and config.scope not in ("events", "ours"):
        check_symbols(tally, config, objects)
    if config.sparse:
        check_sparse(tally, config, [o for o in objects if is_ours(o[:-2] + ".c")])


def guarded(tally, name, function, *args):
    try:
        with rig.Step("matrix: " + name):
            function(tally, *args)
    except rig.Failure as e:
        tally.add(name, "failed", str(e))


def run_all(tally, names):
    for config in CONFIGS:
        if not names or config.name in names:
            guarded(tally, config.name, run_config, config)
    if not names or "coccinelle" in names:
        guarded(tally, "coccinelle", check_coccinelle)
    if not names:
        guarded(tally, "exported symbols", check_exports)


def run_fast(tally):
    guarded(tally, "exported symbols", check_exports)
    for config in CONFIGS:
        if config.fast:
            guarded(tally, config.name, run_config, dataclasses.replace(
                config, scope="ours" if config.sparse else "events"))
