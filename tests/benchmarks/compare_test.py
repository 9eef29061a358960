# SPDX-License-Identifier: BSD-3-Clause
"""Tests compare.py on programs that print made-up results.

    compare_test.py <folder benchmarks> <work folder>
"""
import json
import subprocess
import sys
import unittest
from pathlib import Path

SCRIPT, WORK = Path(sys.argv[1]) / "compare.py", Path(sys.argv[2])

PROGRAM = """#!{python}
import json, sys
from pathlib import Path
runs = json.loads(Path(__file__).with_suffix(".runs").read_text())
count = Path(__file__).with_suffix(".count")
run = len(count.read_text()) if count.exists() else 0
count.write_text("x" * (run + 1))
with (Path(__file__).parent.parent / "order").open("a") as order:
    order.write(Path(__file__).parent.name + " " + " ".join(sys.argv[1:-1]) + "\\n")
if runs[run] is None:
    print("out of memory")
    sys.exit(3)
Path(sys.argv[-1]).write_text(runs[run] if isinstance(runs[run], str) else json.dumps(
    {{"machine": {{}}, "date": "2026-01-01", "tables": [
        {{"name": "sorts", "columns": ["keys", "n", "took", "ms", "child grids"], "rows": rows}}
        for rows in [runs[run]]]}}))
"""


def row(name, n, ms, took="flat", grids=7):
    return [name, n, took, {"median": ms, "least": ms, "most": ms, "repeats": 1}, grids]


class CompareTest(unittest.TestCase):
    def compare(self, before, after, *options, program="sort_cuda --part a"):
        """Runs compare.py on programs that print before[i] and after[i] in round i."""
        place = WORK / self.id().split(".")[-1]
        for name, runs in (("before", before), ("after", after)):
            (place / name).mkdir(parents=True, exist_ok=True)
            tool = place / name / "benchmark_sort_cuda"
            tool.write_text(PROGRAM.format(python=sys.executable))
            tool.chmod(0o755)
            tool.with_suffix(".runs").write_text(json.dumps(runs))
            tool.with_suffix(".count").unlink(missing_ok=True)
        self.order = place / "order"
        self.order.unlink(missing_ok=True)
        return subprocess.run([sys.executable, SCRIPT, "--rounds", str(len(before)), *options,
                               place / "before", place / "after", program],
                              capture_output=True, text=True)

    def test_equal_times(self):
        run = self.compare([[row("u32", 8, 2.0)]] * 2, [[row("u32", 8, 2.03, "device", 9)]] * 2)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("1 times, 2 rounds: after / before has the geometric mean 1.015", run.stdout)
        self.assertNotIn("u32", run.stdout)
        self.assertEqual(self.order.read_text().splitlines(),
                         ["before --part a --json", "after --part a --json"] * 2)

    def test_slower_and_faster(self):
        run = self.compare([[row("u32", 8, 2.0), row("f64", 8, 4.0)]] * 3,
                           [[row("u32", 8, ms), row("f64", 8, 3.0)] for ms in (2.0, 3.0, 2.2)])
        self.assertEqual(run.returncode, 1)
        self.assertIn("| sorts, u32, 8 | ms | 2 | 2.2 | 1.100 |", run.stdout)
        self.assertIn("| sorts, f64, 8 | ms | 4 | 3 | 0.750 |", run.stdout)
        self.assertIn("sorts, u32, 8: ms: 1.100 times as long", run.stderr)
        self.assertNotIn("f64", run.stderr)
        again = self.compare([[row("u32", 8, 2.0)]], [[row("u32", 8, 2.2)]], "--limit", "1.2")
        self.assertEqual(again.returncode, 0, again.stderr)

    def test_another_answer(self):
        run = self.compare([[row("nodes", 8, 2.0)]], [[row("nodes", 9, 2.0)]])
        self.assertEqual(run.returncode, 1)
        self.assertIn("not in all runs: sorts, nodes, 8", run.stderr)
        self.assertIn("only in AFTER: sorts, nodes, 9", run.stderr)
        self.assertIn("no time in common", run.stderr)

    def test_rows_of_the_same_name(self):
        run = self.compare([[row("u32", 8, 2.0), row("u32", 8, 4.0)]],
                           [[row("u32", 8, 2.0), row("u32", 8, 5.0)]])
        self.assertIn("| sorts, u32, 8 (1) | ms | 4 | 5 | 1.250 |", run.stdout)

    def test_a_new_row(self):
        run = self.compare([[row("u32", 8, 2.0)]], [[row("u32", 8, 2.0), row("u8", 8, 1.0)]])
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("only in AFTER: sorts, u8, 8", run.stderr)

    def test_failures(self):
        failed = self.compare([None], [[row("u32", 8, 2.0)]])
        self.assertEqual(failed.returncode, 1)
        self.assertIn("out of memory", failed.stderr)
        self.assertIn("ended with status 3", failed.stderr)
        broken = self.compare(["{"], [[row("u32", 8, 2.0)]])
        self.assertEqual(broken.returncode, 1)
        self.assertIn("not the results of a benchmark", broken.stderr)
        absent = self.compare([[]], [[]], program="none_cuda")
        self.assertEqual(absent.returncode, 1)
        self.assertIn("cannot run", absent.stderr)
        for options in (["--limit", "1"], ["--limit", "nan"], ["--rounds", "0"]):
            bad = self.compare([[]], [[]], *options)
            self.assertEqual(bad.returncode, 2, options)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
