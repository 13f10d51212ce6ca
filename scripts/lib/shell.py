# SPDX-License-Identifier: GPL-2.0
"""What "make shell" promises: a terminal on the guest, whose greeting shows commands that work.

A pseudo-terminal is typed at, as by a user, once the prompt is there.
"""
import fcntl
import os
import pty
import re
import selectors
import signal
import struct
import subprocess
import termios
import time

import rig
from splats import KERNEL_SPLAT

PROMPT = "guest:~# "
ROWS, COLUMNS = 50, 200
MACHINE = {"x86_64": "x86_64", "arm64": "aarch64"}
# Seconds without the prompt that count as a hang; booting takes the longest.
LIMIT = 120
# What the commands of scripts/guest-files/try print, in their order.
FACTS = [
    [r"^ +[1-9][\d,.]* msec task-clock\b", r"^ +[1-9][\d,]* +page-faults\b", r"^ +\d+ +context-switches\b"],
    [r"\([1-9]\d* samples\) \]$", r"^ +[1-9]\d?\.\d\d% +hashjob +hashjob +\[\.\] hash_block\b"],
    [r"^ +openat +[1-9]\d* ", r"^ +getdents64 +[1-9]\d* "],
    [r"^pmu:\tsoftware$", r"^state:\tactive$", r"^count:\t[1-9]\d*$"],
    [r"^ +[1-9]\d* +[1-9]\d*000000 +0x[0-9a-f]+$", r"^pfx: [1-9]\d* samples of [1-9]\d* keys, 0 lost$"],
]


class Terminal:
    """A program with a terminal, and what it has printed."""

    def __init__(self, argv):
        self.fd, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.program = subprocess.Popen(argv, stdin=side, stdout=side, stderr=side,
                                        start_new_session=True, env=os.environ | {"TERM": "dumb"})
        os.close(side)
        self.ready = selectors.DefaultSelector()
        self.ready.register(self.fd, selectors.EVENT_READ)
        self.all = ""

    def until(self, pattern):
        """What comes until the pattern matches the end, or the program leaves the terminal."""
        text, end = "", time.monotonic() + LIMIT
        while not (pattern and re.search(pattern + r"\Z", text)):
            if not self.ready.select(max(0, end - time.monotonic())):
                raise rig.Failure("no %r after %d s; the last lines:\n%s" % (
                    pattern, LIMIT, text[-1500:]))
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                data = b""
            if not data:
                if pattern:
                    raise rig.Failure("the guest has ended; the last lines:\n" + text[-1500:])
                break
            data = data.decode("utf-8", "replace").replace("\r", "")
            text, self.all = text + data, self.all + data
        return text

    def type(self, line, pattern="\n" + PROMPT):
        """What the guest prints from the echo of the line to the next prompt."""
        os.write(self.fd, line.encode() + b"\n")
        return self.until(pattern)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.program.poll() is None:
            os.killpg(self.program.pid, signal.SIGKILL)
            self.program.wait()
        os.close(self.fd)


def missing(patterns, text):
    return ["\n    no %r" % x for x in patterns if not re.search(x, text, re.M)]


def check(tally, arch):
    label = "shell-%s: " % arch

    def result(what, wrong):
        tally.add(label + what, "failed" if wrong else "ok", "".join(wrong))
    with open(os.path.join(rig.SCRIPTS, "guest-files/try"), encoding="utf-8") as f:
        commands = f.read().splitlines()
    if len(commands) != len(FACTS):
        raise rig.Failure("%d commands to try, facts of %d" % (len(commands), len(FACTS)))
    argv = [os.path.join(rig.SCRIPTS, "shell"), "-a", arch, "-F", "ours"]
    with rig.Step("the commands that make shell shows, " + arch), Terminal(argv) as terminal:
        greeting = terminal.until("\n" + PROMPT)
        shown = re.findall(r"^    (\S.*)$", greeting, re.M)[-len(commands):]
        result("greeting", missing([r"^Linux 6\.12\.\S+ on %s, CPUs: \d+\." % MACHINE[arch], '^"exit" leaves'],
                                   greeting) + ["\n    not shown: " + x for x in commands
                                                if x not in shown])
        result("size of the terminal", missing([r"^%d %d$" % (ROWS, COLUMNS)],
                                               terminal.type("stty size")))
        for command, facts in zip(shown, FACTS):
            text = terminal.type(command)
            code = terminal.type('echo "exit code $?"')
            wrong = missing(facts, text) + missing(["^exit code 0$"], code)
            result(command, wrong + ["\n" + text] if wrong else [])
        os.write(terminal.fd, b"exit\n")
        terminal.until(None)
        code = terminal.program.wait(LIMIT)
        result("exit ends the guest", ["exit code %d" % code] if code else [])
        result("the kernel has not complained", [x for x in terminal.all.splitlines()
                                                if KERNEL_SPLAT.search(x)])
