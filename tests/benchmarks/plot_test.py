# SPDX-License-Identifier: BSD-3-Clause
"""Tests plot.py on made-up results. Skipped with exit status 77 without matplotlib.

    plot_test.py <folder benchmarks> <work folder>
"""
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import unittest
import xml.etree.ElementTree
from pathlib import Path

try:
    import matplotlib  # noqa: F401
except ImportError:
    print("SKIPPED: needs matplotlib: apt-get install --no-install-recommends python3-matplotlib")
    sys.exit(77)

sys.dont_write_bytecode = True  # not into the source tree
BENCHMARKS, WORK = Path(sys.argv[1]), Path(sys.argv[2])
SCRIPT = BENCHMARKS / "plot.py"


def time(ms):
    return {"median": ms, "least": 0.9 * ms, "most": 1.1 * ms, "repeats": 11}


def table(name, columns, rows):
    return {"name": name, "caption": "", "columns": columns, "rows": rows}


def made_up():
    """Returns made-up results by program name."""
    inputs = ["uniform", "sorted", "reversed", "almost sorted", "zipf", "16 values", "all equal",
              "organ pipe"]
    sorts = ["radix sort, ms", "merge sort, ms", "device, ms", "flat, ms", "automatic, ms"]
    cases = [(kind, 1 << bits) for kind in ("u32", "f64") for bits in (20, 24, 28)]
    times = [[time(n * cost / 1e6) for cost in (1, 2, 3, 4, 3)] for _, n in cases]
    launches = [["launch by the host", 4.5], ["one thread in a loop, fire-and-forget", 6.5],
                ["chain of kernels in a CUDA graph", 0.68], ["WHILE: not here", None]]
    trees = [[tree, route, begun_by, speed] for tree in ("T1", "T3")
             for route, begun_by, speed in (("device", "", 5000.0), ("flat", "graph", 4000))]
    meshes = [["uniform 256³", "double", "device", 1700.0],
              ["uniform 256³", "double", "flat", 2200],
              ["looks at the mesh", "double", "flat", None]]
    return {
        "quicksort_cuda": [
            table("uniform", ["keys", "n", "unused"] + sorts,
                  [[kind, n, 0] + ms for (kind, n), ms in zip(cases, times)]),
            table("grid", ["keys", "n", "input"] + sorts,
                  [[kind, n, how] + ms for (kind, n), ms in zip(cases, times) for how in inputs])],
        "launch_cost_cuda": [table("launches", ["what", "µs a grid"], launches)],
        "tree_search_cuda": [table(
            "trees", ["tree", "route", "rounds begun by", "Mnodes/s"], trees)],
        "amr_cuda": [table("meshes", ["mesh", "precision", "route", "10^6 updates/s"], meshes)],
    }


def columns_of(source, table):
    """Returns the columns of a table in the source of a benchmark, or None. Its name is in the call
    of table(), or is an argument of the function that makes this call."""
    begin = re.search(rf'table\(\s*"{table}",\s*{{([^}}]*)}}', source)
    if begin:
        return begin.group(1)
    for function in re.finditer(
            r"(\w+)\(recorder& out, std::string_view name,[^{]*{"
            r"\s*out\.table\(\s*name,\s*{([^}]*)}", source):
        if f'{function.group(1)}(out, "{table}",' in source:
            return function.group(2)
    return None


class PlotTest(unittest.TestCase):
    def setUp(self):
        self.folder = WORK / self.id()
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "results").mkdir(parents=True)
        self.readme = self.folder / "README.md"
        self.readme.write_text("before\n<!-- plots -->\nold\n<!-- end plots -->\nafter\n")
        for program in ("launch_cost_cuda", "amr_cuda"):  # fast to draw
            self.write(program, made_up()[program])

    def write(self, program, tables):
        content = {"program": program, "command": program, "date": "2026-01-02",
                   "machine": {"GPU": "Made-up GPU"}, "tables": tables}
        (self.folder / "results" / f"{program}.json").write_text(json.dumps(content))

    def draw(self):
        return subprocess.run(
            [sys.executable, SCRIPT, "--results", self.folder / "results", "--plots",
             self.folder / "plots", "--readme", self.readme], capture_output=True, text=True)

    def text_of(self, name):
        tree = xml.etree.ElementTree.parse(self.folder / "plots" / f"{name}.svg")
        texts = (node for node in tree.iter() if node.tag.endswith("}text"))
        return " ".join("".join(node.itertext()) for node in texts)

    def test_everything_is_drawn_and_linked(self):
        for program, tables in made_up().items():
            self.write(program, tables)
        run = self.draw()
        self.assertEqual(run.returncode, 0, run.stderr)
        for name, words in {
                "sort_speed": ["u32 keys", "f64 keys", "10⁹ keys/s", "CUB merge sort", "device"],
                "sort_ratio": ["zipf", "f64, 2^28", "0.67", "0.33"],  # merge 2, radix 1; device 3
                "launch_cost": ["µs a grid", "launch by the host", "0.68"],
                "tree_search": ["T1", "10⁹ nodes/s", "flat, by graph"],
                "amr": ["uniform 256³", "10⁶ cell updates/s"]}.items():
            text = self.text_of(name)
            for word in words + ["Made-up GPU, 2026-01-02"]:
                self.assertIn(word, text, name)
            self.assertIn(f"](plots/{name}.svg)", self.readme.read_text())
        self.assertNotIn("not here", self.text_of("launch_cost"))
        self.assertTrue(self.readme.read_text().startswith("before\n<!-- plots -->\n"))
        self.assertTrue(self.readme.read_text().endswith("<!-- end plots -->\nafter\n"))
        self.assertNotIn("old", self.readme.read_text())

    def test_plots_without_results_are_left_out(self):
        (self.folder / "plots").mkdir()
        (self.folder / "plots" / "sort_speed.svg").write_text("of an earlier run")
        run = self.draw()
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("sort_speed: no results of quicksort_cuda", run.stdout)
        self.assertFalse((self.folder / "plots" / "sort_speed.svg").exists())
        self.assertNotIn("sort_speed.svg", self.readme.read_text())
        self.assertIn("amr.svg", self.readme.read_text())

    def test_a_missing_column_is_named(self):
        self.write("tree_search_cuda", [table("trees", ["tree", "Mnodes/s"], [["T1", 1]])])
        run = self.draw()
        self.assertEqual(run.returncode, 1)
        self.assertIn("tree_search_cuda.json: table 'trees' has no column 'route'", run.stderr)
        self.assertIn("old", self.readme.read_text())

    def test_a_torn_file_is_named(self):
        (self.folder / "results" / "amr_cuda.json").write_text('{"tables": [')
        run = self.draw()
        self.assertEqual(run.returncode, 1)
        self.assertIn("amr_cuda.json: not the results of a benchmark", run.stderr)

    def test_programs_write_the_columns_that_are_drawn(self):
        spec = importlib.util.spec_from_file_location("plot", SCRIPT)
        plot = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(plot)
        for drawn in plot.PLOTS:
            source = next(text for text in (f.read_text() for f in BENCHMARKS.glob("*.cu"))
                          if f'.name = "{drawn.program}"' in text)
            columns = columns_of(source, drawn.table)
            self.assertIsNotNone(columns, f"{drawn.program} has no table {drawn.table}")
            for column in drawn.columns:
                self.assertIn(f'"{column}"', columns, drawn.program)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
