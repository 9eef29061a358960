#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws benchmarks/results/*.json as SVG, and links the plots in the pages of this folder.

    benchmarks/plot.py [--results FOLDER] [--plots FOLDER] [--readme FILE]...

Requires matplotlib (Debian: python3-matplotlib). Skips programs without results, and the links to
their plots.
"""
import argparse
import json
import math
import os
import sys
from collections import namedtuple
from pathlib import Path

HERE = Path(__file__).resolve().parent

# A palette for all kinds of color vision (Okabe and Ito).
COLORS = {
    "device": "#d55e00",
    "flat": "#0072b2",
    "automatic": "#009e73",
    "flat, by graph": "#56b4e9",
    "flat, by host": "#cc79a7",
    "CUB radix sort": "#000000",
    "CUB merge sort": "#7f7f7f",
}
MARKERS = {"device": "o", "flat": "s", "automatic": "x", "CUB radix sort": "^",
           "CUB merge sort": "v"}


class BadResults(Exception):
    """A file is not the output of a benchmark; the message names the file."""


def median(cell):
    """Returns the median of a time, or the number itself."""
    return cell["median"] if isinstance(cell, dict) else cell


class Results:
    """The results of one program."""

    def __init__(self, path):
        self.path = path
        try:
            self.content = json.loads(path.read_text(encoding="utf-8"))
            self.tables = {t["name"]: t for t in self.content["tables"]}
            self.machine = self.content["machine"]
            self.date = self.content["date"]
        except (ValueError, KeyError, TypeError) as error:
            raise BadResults(f"{path}: not the results of a benchmark: {error!r}") from error

    def rows(self, table, columns):
        """Returns the cells of `columns` in each row of a table, or None without the table."""
        if table not in self.tables:
            return None
        there = self.tables[table]["columns"]
        for column in columns:
            if column not in there:
                raise BadResults(f"{self.path}: table '{table}' has no column '{column}'")
        places = [there.index(column) for column in columns]
        return [[row[p] for p in places] for row in self.tables[table]["rows"]]

    def where(self):
        """Returns the machine and the date."""
        machine = self.machine.get("GPU", self.machine.get("CPU", "an unknown machine"))
        return f"{machine}, {self.date}"


def finish(figure, path, title, results):
    import matplotlib.pyplot as plt

    figure.suptitle(f"{title}\n", fontsize=13, fontweight="bold")
    figure.text(0.99, 0.005, results.where(), ha="right", va="bottom", fontsize=8, color="#555555")
    figure.savefig(path, metadata={"Date": None})  # the same file for the same numbers
    plt.close(figure)


def size_text(n):
    return f"2^{n.bit_length() - 1}" if n & (n - 1) == 0 else str(n)


def plain_numbers(axis, minor=False):
    """Writes 20 instead of 2 × 10^1 at a logarithmic axis."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    plain = FuncFormatter(lambda value, _: f"{value:g}")
    axis.set_major_formatter(plain)
    axis.set_minor_formatter(plain if minor else NullFormatter())


def draw_sort_speed(path, results, rows):
    """Draws speed against n, with one panel for each key type."""
    import matplotlib.pyplot as plt

    kinds = list(dict.fromkeys(row[0] for row in rows))
    lines = ["CUB radix sort", "CUB merge sort", "device", "flat", "automatic"]
    across = min(2, len(kinds))
    down = math.ceil(len(kinds) / across)
    figure, axes = plt.subplots(
        down, across, figsize=(5 * across, 3.4 * down + 1), sharex=True, sharey=True, squeeze=False,
        layout="constrained")
    for axis, kind in zip(axes.flat, kinds):
        mine = [row for row in rows if row[0] == kind]
        sizes = [row[1] for row in mine]
        for place, line in enumerate(lines, start=2):
            speeds = [n / median(row[place]) / 1e6 for n, row in zip(sizes, mine)]
            axis.plot(sizes, speeds, label=line, color=COLORS[line], marker=MARKERS[line],
                      linestyle=":" if line == "automatic" else "-", linewidth=1.6, markersize=5)
        axis.set_xscale("log", base=2)
        axis.set_xticks(sizes, [size_text(n) for n in sizes])
        axis.set_yscale("log")
        plain_numbers(axis.yaxis, minor=True)
        axis.grid(True, which="both", color="#dddddd", linewidth=0.6)
        axis.set_title(f"{kind} keys")
    for axis in axes[-1]:
        axis.set_xlabel("keys")
    for row_of_axes in axes:
        row_of_axes[0].set_ylabel("10⁹ keys/s")
    axes.flat[0].legend(fontsize=8)
    finish(figure, path, "Sorting uniform keys: quicksort by route, and CUB", results)


def draw_sort_ratio(path, results, rows):
    """Draws a heat map of the device route against merge sort and against radix sort."""
    import matplotlib.pyplot as plt

    inputs = list(dict.fromkeys(row[2] for row in rows))
    cases = list(dict.fromkeys((row[0], row[1]) for row in rows))
    figure, axes = plt.subplots(
        1, 2, figsize=(13, 0.34 * len(cases) + 2.4), sharey=True, layout="constrained")
    for axis, place, peer in ((axes[0], 3, "merge"), (axes[1], 4, "radix")):
        grid = [[math.nan] * len(inputs) for _ in cases]
        for row in rows:
            grid[cases.index((row[0], row[1]))][inputs.index(row[2])] = (
                median(row[place]) / median(row[5]))
        picture = axis.imshow(
            [[math.log2(x) for x in line] for line in grid], cmap="RdBu", vmin=-2, vmax=2,
            aspect="auto")
        for y, line in enumerate(grid):
            for x, ratio in enumerate(line):
                strong = abs(math.log2(ratio)) > 1.2
                axis.text(x, y, f"{ratio:.2f}", ha="center", va="center", fontsize=7.5,
                          color="white" if strong else "black")
        axis.set_xticks(range(len(inputs)), inputs, rotation=35, ha="right")
        axis.set_yticks(range(len(cases)), [f"{kind}, {size_text(n)}" for kind, n in cases])
        axis.set_xlabel("input")
        axis.set_title(f"speed of the device route / CUB's {peer} sort")
    axes[0].set_ylabel("keys")
    bar = figure.colorbar(picture, ax=axes, shrink=0.8, ticks=[-2, -1, 0, 1, 2], extend="both")
    bar.ax.set_yticklabels(["¼", "½", "1", "2", "4"])
    bar.set_label("blue: Ramify is faster")
    finish(figure, path, "Quicksort, device route, against CUB", results)


def draw_launch_cost(path, results, rows):
    """Draws one bar for each kind of launch, on a logarithmic axis."""
    import matplotlib.pyplot as plt

    rows = [row for row in rows if row[1] is not None]
    names = [row[0] for row in rows]
    costs = [median(row[1]) for row in rows]

    def color_of(name):
        if "by the host" in name:
            return "#7f7f7f"
        return "#009e73" if "CUDA graph" in name or "WHILE" in name else "#d55e00"

    figure, axis = plt.subplots(figsize=(10, 0.34 * len(rows) + 1.8), layout="constrained")
    axis.barh(range(len(rows)), costs, color=[color_of(name) for name in names])
    for y, cost in enumerate(costs):
        axis.text(cost * 1.05, y, f"{cost:.3g}", va="center", fontsize=8)
    axis.set_yticks(range(len(rows)), names)
    axis.invert_yaxis()
    axis.set_xscale("log")
    plain_numbers(axis.xaxis)
    axis.set_xlim(min(costs) / 2, max(costs) * 2)
    axis.set_xlabel("µs a grid")
    axis.grid(True, axis="x", which="both", color="#dddddd", linewidth=0.6)
    axis.set_axisbelow(True)
    finish(figure, path, "What a launch costs: host (gray), kernels (orange), graphs (green)",
           results)


def draw_bars(path, results, groups, unit, title, axis_name):
    """Draws groups of bars: `groups` is {name: {series: number}}."""
    import matplotlib.pyplot as plt

    series = list(dict.fromkeys(s for group in groups.values() for s in group))
    width = 0.8 / len(series)
    figure, axis = plt.subplots(
        figsize=(max(8, 1.0 * len(groups) + 2), 5), layout="constrained")
    for i, name in enumerate(series):
        places = [g + (i - (len(series) - 1) / 2) * width for g in range(len(groups))]
        axis.bar(places, [group.get(name, 0) for group in groups.values()], width, label=name,
                 color=COLORS.get(name, "#7f7f7f"))
    axis.set_xticks(range(len(groups)), list(groups), rotation=25, ha="right", fontsize=9)
    axis.set_xlabel(axis_name)
    axis.set_ylabel(unit)
    axis.grid(True, axis="y", color="#dddddd", linewidth=0.6)
    axis.set_axisbelow(True)
    axis.legend(title="route", fontsize=9, loc="upper left", bbox_to_anchor=(1, 1))
    finish(figure, path, title, results)


def draw_tree_search(path, results, rows):
    groups = {}
    for tree, route, begun_by, speed in rows:
        line = f"{route}, by {begun_by}" if begun_by in ("graph", "host") else route
        groups.setdefault(tree, {})[line] = median(speed) / 1e3
    draw_bars(path, results, groups, "10⁹ nodes/s", "Unbalanced Tree Search", "tree")


def draw_amr(path, results, rows):
    groups = {}
    for mesh, precision, route, speed in rows:
        if speed is not None:  # the row of regrids has none
            groups.setdefault(f"{mesh}\n{precision}", {})[route] = median(speed)
    draw_bars(path, results, groups, "10⁶ cell updates/s", "Gas dynamics on adaptive meshes",
              "mesh and precision")


Plot = namedtuple("Plot", "name caption program table columns draw")

PLOTS = [
    Plot("sort_speed", "Speed of sorts against the number of keys", "quicksort_cuda", "uniform",
         ["keys", "n", "radix sort, ms", "merge sort, ms", "device, ms", "flat, ms",
          "automatic, ms"], draw_sort_speed),
    Plot("sort_ratio", "Speed of quicksort's device route against CUB's sorts", "quicksort_cuda",
         "grid", ["keys", "n", "input", "merge sort, ms", "radix sort, ms", "device, ms"],
         draw_sort_ratio),
    Plot("launch_cost", "What a launch costs", "launch_cost_cuda", "launches",
         ["what", "µs a grid"], draw_launch_cost),
    Plot("tree_search", "Nodes a second of Unbalanced Tree Search", "tree_search_cuda", "trees",
         ["tree", "route", "rounds begun by", "Mnodes/s"], draw_tree_search),
    Plot("amr", "Cell updates a second of gas dynamics", "amr_cuda", "meshes",
         ["mesh", "precision", "route", "10^6 updates/s"], draw_amr),
]

# The plots that a page shows between <!-- plots --> and <!-- end plots -->.
PAGES = {
    HERE / "quicksort.md": ["sort_speed", "sort_ratio"],
    HERE / "launches.md": ["launch_cost"],
    HERE / "traverse.md": ["tree_search"],
    HERE / "amr.md": ["amr"],
}


def link(readme, plots, folder):
    """Links `plots` in the README, by paths relative to its folder."""
    text = readme.read_text(encoding="utf-8")
    begin, end = "<!-- plots -->\n", "<!-- end plots -->\n"
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise BadResults(f"{readme}: needs exactly one '{begin.strip()}' before one '{end.strip()}'")
    to_plots = Path(os.path.relpath(folder, readme.parent)).as_posix()
    lines = "".join(f"\n![{p.caption}]({to_plots}/{p.name}.svg)\n" for p in plots)
    before, rest = text.split(begin)
    after = rest.split(end)[1]
    readme.write_text(before + begin + lines + ("\n" if lines else "") + end + after,
                      encoding="utf-8")


def draw_all(results_folder, plots_folder):
    """Draws all plots that have results. Returns the plots drawn."""
    plots_folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    for plot in PLOTS:
        path = results_folder / f"{plot.program}.json"
        picture = plots_folder / f"{plot.name}.svg"
        rows = None
        if path.exists():
            results = Results(path)
            rows = results.rows(plot.table, plot.columns)
        if not rows:
            print(f"{plot.name}: no results of {plot.program}, part {plot.table}: left out")
            picture.unlink(missing_ok=True)
            continue
        plot.draw(picture, results, rows)
        print(picture)
        drawn.append(plot)
    return drawn


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=HERE / "results", metavar="FOLDER")
    parser.add_argument("--plots", type=Path, default=HERE / "plots", metavar="FOLDER")
    parser.add_argument("--readme", type=Path, action="append", metavar="FILE",
                        help="link all plots in this file instead of in the pages")
    options = parser.parse_args()
    try:
        import matplotlib
    except ImportError:
        sys.exit("plot.py needs matplotlib: apt-get install --no-install-recommends "
                 "python3-matplotlib, or pip install matplotlib")
    matplotlib.use("svg")
    # A white background with dark text, for light and dark pages; text stays text.
    matplotlib.rcParams.update({
        "figure.facecolor": "white", "savefig.facecolor": "white", "axes.facecolor": "white",
        "svg.fonttype": "none", "svg.hashsalt": "ramify", "font.family": "sans-serif"})
    pages = PAGES
    if options.readme:
        pages = {file.resolve(): [plot.name for plot in PLOTS] for file in options.readme}
    try:
        drawn = draw_all(options.results, options.plots)
        for page, names in pages.items():
            link(page, [p for p in drawn if p.name in names], options.plots.resolve())
    except BadResults as error:
        sys.exit(f"plot.py: {error}")


if __name__ == "__main__":
    main()
