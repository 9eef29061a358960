#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the times of benchmark programs of two builds.

    benchmarks/compare.py [--rounds N] [--limit RATIO] BEFORE AFTER PROGRAM...

BEFORE and AFTER are folders with benchmark programs. PROGRAM is a name with the options of the
program, such as "quicksort_cuda" or "graph_cuda --part bfs". Each program runs once for each build
in each round (3), and the builds alternate, so that a drift of clocks affects both. The table has a
row for each time whose ratio of medians, AFTER / BEFORE, is above RATIO (1.02) or below 1 / RATIO,
and under it is the geometric mean of all. The exit status is 1 if a program fails, if a time is
above RATIO, or if a row of one run is not in all others: a row is named by its table and its texts
and whole numbers before the first time, so another number of nodes is another row. Rows that only
AFTER has are listed.
"""
import argparse
import math
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True  # not into the source tree
from plot import BadResults, Results, median  # noqa: E402


def measure(folder, program, work):
    """Runs a program. Returns {row: {column: ms}}."""
    name, *options = shlex.split(program)
    path = work / "results.json"
    path.unlink(missing_ok=True)
    command = [str(folder / f"benchmark_{name}"), *options, "--json", str(path)]
    try:
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             errors="replace")
    except OSError as error:
        sys.exit(f"compare.py: cannot run {command[0]}: {error.strerror}")
    if run.returncode != 0:
        sys.exit(f"{run.stdout}compare.py: {shlex.join(command)} ended with status {run.returncode}")
    rows = {}
    for table in Results(path).tables.values():
        for cells in table["rows"]:
            row = ", ".join([table["name"], *names(table["columns"], cells)])
            again = 1
            while f"{row} ({again})" in rows:
                again += 1
            rows[f"{row} ({again})" if row in rows else row] = times(table["columns"], cells)
    return rows


def names(columns, cells):
    """Returns the texts and whole numbers before the first time. The route that `automatic` took is
    left out, because it is measured."""
    for column, cell in zip(columns, cells):
        if not isinstance(cell, (str, int)):
            return
        if column != "took":
            yield str(cell)


def times(columns, cells):
    """Returns {column: ms} of one row."""
    return {column: median(cell) for column, cell in zip(columns, cells)
            if isinstance(cell, dict)
            or (isinstance(cell, float) and re.search(r"(^|, )ms$", column))}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument("--limit", type=float, default=1.02, metavar="RATIO")
    parser.add_argument("before", type=Path, metavar="BEFORE")
    parser.add_argument("after", type=Path, metavar="AFTER")
    parser.add_argument("programs", nargs="+", metavar="PROGRAM")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    if not options.limit > 1:
        parser.error("--limit must be above 1")

    print("| program | row | column | before, ms | after, ms | after / before |")
    print("| --- | --- | --- | --- | --- | --- |")
    ratios, faults = [], []
    for program in options.programs:
        before, after = [], []
        with tempfile.TemporaryDirectory() as work:
            for _ in range(options.rounds):
                before.append(measure(options.before, program, Path(work)))
                after.append(measure(options.after, program, Path(work)))
        faults += [f"{program}: {fault}" for fault in different_rows(before, after)]
        for row, column, old, new in common_times(before, after):
            ratios.append(new / old)
            if not 1 / options.limit <= new / old <= options.limit:
                print(f"| {program} | {row.replace('|', '/')} | {column} | {old:.4g} | {new:.4g} "
                      f"| {new / old:.3f} |", flush=True)
            if new / old > options.limit:
                faults.append(f"{program}: {row}: {column}: {new / old:.3f} times as long")
    if ratios:
        print(f"\n{len(ratios)} times, {options.rounds} rounds: after / before has the geometric "
              f"mean {math.exp(statistics.fmean(map(math.log, ratios))):.3f}, "
              f"from {min(ratios):.3f} to {max(ratios):.3f}")
    else:
        faults.append("the programs have no time in common")
    for fault in faults:
        print(f"compare.py: {fault}", file=sys.stderr)
    sys.exit(1 if faults else 0)


def different_rows(before, after):
    """Yields the rows that are not in all runs. Prints those that all runs of AFTER add."""
    everywhere = set.intersection(*map(set, before + after))
    added = set.intersection(*map(set, after)) - set.union(*map(set, before))
    for row in dict.fromkeys(row for run in before + after for row in run):
        if row in added:
            print(f"compare.py: only in AFTER: {row}", file=sys.stderr)
        elif row not in everywhere:
            yield f"not in all runs: {row}"


def common_times(before, after):
    """Yields (row, column, median of BEFORE, median of AFTER), each median over the rounds."""
    for row, columns in before[0].items():
        for column in columns:
            old, new = ([run[row].get(column) if row in run else None for run in side]
                        for side in (before, after))
            if None not in old + new and min(old + new) > 0:
                yield row, column, statistics.median(old), statistics.median(new)


if __name__ == "__main__":
    try:
        main()
    except BadResults as error:
        sys.exit(f"compare.py: {error}")
