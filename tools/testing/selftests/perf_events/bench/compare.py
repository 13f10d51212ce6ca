#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Print what bench measured on the stock kernel and on ours, side by side.

  compare.py [--no-check] STOCK OURS

Both files hold the lines bench prints: operation, a tab, instructions or n/a.
After the table the rows that say something about structure are checked:

  * a switch with 256 passive events costs at most 1.1 times one with 1
  * opening one of 1,000 events costs at most 1.2 times opening one of 10
  * with nothing open, an operation costs at most 1.03 times the stock one

Exit code 0 when they hold, 1 when one does not or was not measured, 2 when a
file cannot be used.
"""
import argparse
import sys

SWITCH = "switch: pingpong, %d dummy task events"
OPEN = "open: one of %d sw task"


def load(path):
    """{operation: instructions or None} in the order of the file."""
    rows = {}
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            name, tab, value = line.rstrip("\r\n").partition("\t")
            if not tab or ": " not in name and "+" not in name:
                continue
            if value == "n/a":
                rows[name] = None
            elif value.isdigit():
                rows[name] = int(value)
    if not rows:
        raise ValueError("no lines of bench in " + path)
    return rows


def figure(value):
    return "n/a" if value is None else format(value, ",")


def table(stock, ours):
    width = max(len(name) for name in list(stock) + list(ours))
    print("%-*s %12s %12s %7s" % (width, "operation", "stock", "ours", "ratio"))
    for name in list(stock) + [n for n in ours if n not in stock]:
        a, b = stock.get(name), ours.get(name)
        ratio = "%7.2f" % (b / a) if a and b else "      -"
        print("%-*s %12s %12s %s" % (width, name, figure(a), figure(b), ratio))


def check(what, value, base, limit):
    """One structural row: prints it, returns whether it holds."""
    if not value or not base:
        print("FAIL  %s: not measured" % what)
        return False
    holds = value <= limit * base
    print("%s  %s: %.3f, at most %.2f" % ("ok  " if holds else "FAIL", what, value / base, limit))
    return holds


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--no-check", action="store_true", help="print the table only")
    parser.add_argument("stock")
    parser.add_argument("ours")
    args = parser.parse_args()
    try:
        stock, ours = load(args.stock), load(args.ours)
    except (OSError, ValueError) as error:
        print("compare: %s" % error, file=sys.stderr)
        return 2
    table(stock, ours)
    if args.no_check:
        return 0
    print()
    holds = [
        check("switch with 256 passive events / with 1", ours.get(SWITCH % 256),
              ours.get(SWITCH % 1), 1.1),
        check("open one of 1,000 / one of 10", ours.get(OPEN % 1000), ours.get(OPEN % 10), 1.2),
    ]
    nothing_open = [n for n in stock if n.startswith("none: ")]
    holds += [check(name + ", ours / stock", ours.get(name), stock[name], 1.03)
              for name in nothing_open]
    if not nothing_open:
        print("FAIL  no row with nothing open in " + args.stock)
    return 0 if nothing_open and all(holds) else 1


if __name__ == "__main__":
    sys.exit(main())
