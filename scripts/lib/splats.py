# SPDX-License-Identifier: GPL-2.0
"""What a kernel prints when something is wrong with it."""
import re

# Kernel messages that fail a run, in the syntax of grep -E and of Python.
SPLATS = "|".join([
    r"WARNING: ", r"BUG: ", r"kernel BUG at", r"INFO: possible", r"INFO: suspicious",
    r"possible .*(deadlock|locking dependency)", r"KASAN: ", r"UBSAN: ", r"ODEBUG: ",
    r"rcu: INFO: ", r"self-detected stall", r"detected stalls", r"INFO: task .* blocked",
    r"soft lockup", r"hard LOCKUP", r"unchecked MSR", r"Oops", r"Internal error:",
    r"general protection fault", r"Unable to handle kernel", r"list_(add|del) corruption",
    r"refcount_t: ", r"sleeping function called", r"scheduling while atomic",
    r"kmemleak: [0-9]+ new", r"DEBUG_LOCKS_WARN_ON", r"Kernel panic", r"stack-protector",
    r"Bad page state", r"Unbalanced", r"NETDEV WATCHDOG", r"perf: .*BUG",
    r"NMI received for unknown reason",
])
# A kernel line carries a time stamp; a program's own "WARNING:" is none of ours.
KERNEL_SPLAT = re.compile(r"\[ *\d+\.\d{6}\](\[ *[TC]\d+\])? .*?(" + SPLATS + ")")
