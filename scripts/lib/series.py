# SPDX-License-Identifier: GPL-2.0
"""The project as a series of patches on the base: scripts/data/series.txt has their order.

make() writes them to build/series, by git in a repository of its own that has the files of the
series alone, applies them again by "git am", and compares the end with build/tree. A file is in exactly one
patch.
"""
import glob
import importlib.machinery
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile

import benchdoc
import rig

DATA = os.path.join(rig.DATA, "series.txt")
OUT = os.path.join(rig.BUILD, "series")
# Documentation/process/submitting-patches.rst: larger ones do not belong on a mailing list.
MOST_BYTES = 300 * 1000
COLUMNS = 75
# What a patch is made of, and what is done with it; see the head of series.txt.
KEYS = {"path", "remove", "edit", "name", "until", "build", "build-arm64", "make", "boot", "nothing",
        "large"}
MANY = {"path", "remove", "edit", "build", "build-arm64", "boot"}


def assembler(tree):
    """scripts/assemble as a module that writes into that tree."""
    loader = importlib.machinery.SourceFileLoader("assemble", os.path.join(rig.SCRIPTS, "assemble"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("assemble", loader))
    loader.exec_module(module)
    module.TREE, module.STATE = tree, tree + ".state"
    return module


# ---- the data file ----

class Patch:
    """subject, keys, body of a part of series.txt; files and edited, once they are dealt out."""

    def __init__(self, text):
        head, _, self.body = text.partition("\n\n")
        self.subject, _, head = head.partition("\n")
        self.body = self.body.strip("\n")
        self.files, self.edited, self.keys = [], [], {k: [] for k in KEYS}
        for line in head.splitlines():
            key, _, value = line.partition(" ")
            if key not in KEYS or not value:
                self.wrong("cannot read '%s'" % line)
            self.keys[key] += value.split() if key in MANY else [value]
        long = [x for x in [self.subject] + self.body.split("\n") if len(x) > COLUMNS]
        if long:
            self.wrong("more than %d columns: %s" % (COLUMNS, long[0]))
        if not self.body:
            self.wrong("no text")

    def wrong(self, text):
        raise rig.Failure("scripts/data/series.txt, %s: %s" % (self.subject, text))

    def one(self, key):
        return self.keys[key][0] if self.keys[key] else None


def read(base):
    """The cover's part, and the patches with their files, each in exactly one."""
    with open(DATA, encoding="utf-8") as f:
        parts = re.split(r"^== ", f.read(), flags=re.M)[1:]
    cover, *patches = [Patch(p) for p in parts]
    deal_out(patches, base)
    check_order(patches, base)
    check_edits(patches)
    return cover, patches


def deal_out(patches, base):
    module = assembler(rig.TREE)
    want, drop = module.plan(module.read_manifest(), base)
    have = set(want) | set(module.patched(base, want, drop))
    for p in patches:
        for key, paths in (("path", have), ("remove", drop)):
            for pattern in p.keys[key]:
                regex = module.matcher(pattern)
                found = sorted(x for x in paths if regex.match(x))
                if not found:
                    p.wrong("%s %s: no such file" % (key, pattern))
                p.files += found
    for path in sorted(have | drop):
        where = [p.subject for p in patches for x in p.files if x == path]
        if len(where) != 1:
            raise rig.Failure("scripts/data/series.txt: %s is in %s" % (
                path, " and in ".join(where) or "no patch"))


def check_order(patches, base):
    """What comes before a switch-over only adds files, and stands right before it."""
    for number, p in enumerate(patches):
        if not any(p.keys[k] for k in ("build", "build-arm64", "make", "nothing")):
            p.wrong("says neither what is built nor why nothing is")
        until = p.one("until")
        if not until:
            continue
        after = patches[number + 1] if number + 1 < len(patches) else None
        if not after or until not in (after.one("until"), after.one("name")):
            p.wrong("the next patch is neither %s nor one before it" % until)
        old = [x for x in p.files if os.path.exists(os.path.join(base, x))]
        if old:
            p.wrong("changes %s, which is built already" % old[0])


def check_edits(patches):
    """What an edit changes is a file of the base that a later patch removes."""
    for number, p in enumerate(patches):
        for name in p.keys["edit"]:
            with open(os.path.join(rig.TOP, name), encoding="utf-8") as f:
                p.edited += re.findall(r"^\+\+\+ b/(\S+)", f.read(), re.M)
        gone = {x for q in patches[number + 1:] for x in q.files if q.keys["remove"]}
        for path in p.edited:
            if path not in gone:
                p.wrong("edits %s, which no later patch removes" % path)


# ---- the text of the cover letter ----

def figures():
    """The README's three rows, and the mean of all of them."""
    rows, out = benchdoc.recorded(), []
    for name, words in benchdoc.FIGURES.items():
        out += ["  " + words + ":", "    " + "      ".join(
            "%s %s -> %s" % (r.arch, *r.cells(name)[:2]) for r in rows)]
    return "\n".join(out + [""] + [
        "  %s: ratio of %d rows, geometric mean %s; %d rows above 1" % (a, n, m, above)
        for a, m, n, _, above in benchdoc.means(rows)])


def count(pattern):
    return len(glob.glob(os.path.join(rig.TOP, pattern), recursive=True))


def cover_text(cover, patches, base):
    words = {
        "@figures@": figures(),
        "@base@": rig.run(["bash", "-c", '. "$0"; base_version "$1"',
                           os.path.join(rig.SCRIPTS, "lib/common.sh"), base]).strip(),
        "@programs@": str(count(rig.TESTS + "/*.c")),
        "@suites@": str(count("kernel/events/**/*_kunit.c") + count("arch/**/*_kunit.c")),
        "@answers@": "{:,}".format(len(rig.read_data(rig.abi_file("x86_64")))),
        "@large@": "\n".join("  %2d %s" % (i, p.subject) for i, p in enumerate(patches, 1)
                             if p.keys["large"]),
        "@removed@": str(sum(len(p.keys["remove"]) for p in patches)),
    }
    text = cover.body
    for word, value in words.items():
        text = text.replace(word, value)
    left = re.search(r"@\w+@", text)
    if left:
        cover.wrong("nothing is known of " + left[0])
    long = [x for x in text.split("\n") if len(x) > COLUMNS]
    if long:
        cover.wrong("more than %d columns: %s" % (COLUMNS, long[0]))
    return text


# ---- git ----

def who():
    """Name and address, and the date of the last commit: the same commit gives the same series."""
    out = subprocess.run(["git", "-C", rig.TOP, "var", "GIT_AUTHOR_IDENT"], capture_output=True,
                         text=True)
    date = os.environ.get("SOURCE_DATE_EPOCH") or subprocess.run(
        ["git", "-C", rig.TOP, "log", "-1", "--format=%ct"], capture_output=True,
        text=True).stdout.strip()
    m = re.match(r"(.*) <(.*)> \d+ [+-]\d+$", out.stdout.strip())
    if out.returncode or not m:
        raise rig.Failure("who signs the patches? Set user.name and user.email of git")
    if not date:
        raise rig.Failure("this folder is no clone of git: set SOURCE_DATE_EPOCH, the patches' date")
    return m[1], m[2], "%s +0000" % date


class Repository:
    """A repository of git in a folder, which sees no settings but these."""

    def __init__(self, folder, author):
        name, mail, date = author
        self.folder = folder
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        self.env.update(GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_NOSYSTEM="1", LC_ALL="C", TZ="UTC",
                        GIT_AUTHOR_NAME=name, GIT_AUTHOR_EMAIL=mail, GIT_AUTHOR_DATE=date,
                        GIT_COMMITTER_NAME=name, GIT_COMMITTER_EMAIL=mail, GIT_COMMITTER_DATE=date)

    def git(self, *args, **kw):
        r = subprocess.run(["git", "-C", self.folder, "-c", "core.abbrev=12", "-c", "gc.auto=0",
                            *args], env=self.env, text=True, capture_output=True, **kw)
        if r.returncode:
            raise rig.Failure("git %s: %s" % (" ".join(args[:3]), (r.stdout + r.stderr)[:2000]))
        return r.stdout

    def commit(self, message):
        self.git("add", "-A", "-f", ".")
        self.git("commit", "-q", "-F", "-", "--cleanup=verbatim", input=message)


def copy(tree, folder, path):
    """A file as the tree has it; none if it has none."""
    src, dest = os.path.join(tree, path), os.path.join(folder, path)
    if os.path.lexists(dest):
        os.unlink(dest)
    if os.path.exists(src):
        os.makedirs(os.path.dirname(dest), exist_ok=True)
        shutil.copy(src, dest)


def apply(patch, folder):
    """The patch's files as build/tree has them, and its edits, in a tree that has all before it."""
    for path in patch.files:
        copy(rig.TREE, folder, path)
    for name in patch.keys["edit"]:
        rig.run(["patch", "-p1", "-F0", "-s", "--no-backup-if-mismatch", "-d", folder, "-i",
                 os.path.join(rig.TOP, name)])


def differences(folder, tree, paths):
    """Those that are not the same in both."""
    def state(path):
        try:
            with open(path, "rb") as f:
                return f.read(), os.stat(path).st_mode & 0o111 != 0
        except FileNotFoundError:
            return None
    return [p for p in paths if state(os.path.join(folder, p)) != state(os.path.join(tree, p))]


def message(patch, author):
    return "%s\n\n%s\n\nSigned-off-by: %s <%s>\n" % (patch.subject, patch.body, *author[:2])


def make():
    """Write the series; the patches, and the paths of their files in the same order."""
    if not shutil.which("git"):
        raise rig.Failure("missing tool: git (run 'scripts/deps git')")
    base, author = rig.base(), who()
    rig.assemble()
    cover, patches = read(base)
    paths = sorted(x for p in patches for x in p.files)
    os.makedirs(rig.BUILD, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=rig.BUILD, prefix="series.") as tmp:
        repo = Repository(os.path.join(tmp, "made"), author)
        os.mkdir(repo.folder)
        repo.git("init", "-q", "-b", "series")
        for path in paths:
            copy(base, repo.folder, path)
        repo.commit("The base, as far as the series is about it\n")
        start = repo.git("rev-parse", "HEAD").strip()
        for p in patches:
            apply(p, repo.folder)
            if not repo.git("status", "--porcelain"):
                p.wrong("changes nothing")
            repo.commit(message(p, author))
        repo.git("config", "branch.series.description",
                 cover.subject + "\n\n" + cover_text(cover, patches, base))
        made = os.path.join(tmp, "patches")
        repo.git("format-patch", "-q", "--cover-letter", "--cover-from-description=subject",
                 "--no-signature", "--zero-commit", "--no-renames", "-o", made, start)
        names = sorted(os.listdir(made))
        if len(names) != len(patches) + 1:
            raise rig.Failure("git wrote %d patches of %d" % (len(names) - 1, len(patches)))
        files = [os.path.join(made, n) for n in names]
        apply_again(repo, start, files[1:], paths)
        check_sizes(patches, files[1:])
        shutil.rmtree(OUT, ignore_errors=True)
        os.rename(made, OUT)
    return patches, [os.path.join(OUT, n) for n in names[1:]]


def apply_again(repo, start, files, paths):
    """What a mailbox makes of the base is what was committed, and is build/tree."""
    end = repo.git("rev-parse", "HEAD").strip()
    wanted = repo.git("log", "--format=%T %an %ae %at%n%B", start + "..")
    repo.git("checkout", "-q", "-b", "applied", start)
    repo.git("am", "-q", *files)
    if repo.git("log", "--format=%T %an %ae %at%n%B", start + "..") != wanted:
        raise rig.Failure("'git am' gives other commits than the patches were made of: " +
                          repo.git("diff", "--stat", end)[:1000])
    wrong = differences(repo.folder, rig.TREE, paths)
    if wrong:
        raise rig.Failure("the series gives other files than build/tree: " + " ".join(wrong[:5]))


def check_sizes(patches, files):
    for p, path in zip(patches, files):
        large = os.path.getsize(path) > MOST_BYTES
        if large and not p.keys["large"]:
            p.wrong("%d bytes, more than %d, and not argued" % (os.path.getsize(path), MOST_BYTES))
        if p.keys["large"] and not large:
            p.wrong("argued as large, but it has only %d bytes" % os.path.getsize(path))
