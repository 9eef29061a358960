#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the Python package with PyTorch, CuPy, SciPy and NumPy on the same arrays.

    benchmarks/python_arrays.py [--cpu] [--quick] [--json FILE]

Arrays are tensors of PyTorch on a GPU; with --cpu, or without a GPU, they are of NumPy. CuPy gets
the tensors without a copy. Each time is by the clock of the caller, from an idle GPU to an idle
GPU, and a median (least-most). Each result is compared with that of a peer. Columns of libraries
that cannot be imported are empty: torch_cluster and cuML are measured where they are installed.
"""
import argparse
import datetime
import importlib
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy
import ramify


def module(name):
    """Returns a module, or None if it cannot be imported."""
    try:
        return importlib.import_module(name)
    except Exception:  # a package for another version of CUDA raises what it likes
        return None


def number(value):
    """Returns a number as text with at least three significant digits."""
    decimals = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:.{decimals}f}"


def text(cell):
    """Returns a cell as it is printed."""
    if cell is None:
        return ""
    if isinstance(cell, dict):
        spread = f"{number(cell['least'])}\N{EN DASH}{number(cell['most'])}"
        return f"{number(cell['median'])} ({spread})"
    return number(cell) if isinstance(cell, float) else str(cell)


class Recorder:
    """Prints tables, and keeps them for the JSON file, in the form of measure.hpp."""

    def __init__(self, machine):
        command = shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
        date = datetime.date.today().isoformat()
        self.content = {
            "program": "python_arrays", "command": command, "date": date, "machine": machine,
            "tables": []}
        facts = "; ".join(f"{name}: {text(value)}" for name, value in machine.items())
        print(f"{date}; {facts}; `{command}`")

    def table(self, name, columns, caption):
        self.content["tables"].append(
            {"name": name, "caption": caption, "columns": columns, "rows": []})
        print(f"\n{caption}\n")
        self._print(columns)
        self._print(["---"] * len(columns))

    def row(self, cells):
        assert len(cells) == len(self.content["tables"][-1]["columns"])
        self.content["tables"][-1]["rows"].append(cells)
        self._print([text(cell) for cell in cells])

    def write(self, path):
        """Writes the file completely or not at all."""
        part = path.with_name(path.name + ".part")
        part.write_text(json.dumps(self.content, indent=1) + "\n", encoding="utf-8")
        os.replace(part, path)

    @staticmethod
    def _print(cells):
        print("| " + " | ".join(cells) + " |", flush=True)


class Bench:
    """The libraries, and how to make arrays and to measure calls."""

    def __init__(self, on_gpu, quick):
        self.torch = module("torch") if on_gpu else None
        self.cupy = module("cupy") if on_gpu else None
        self.quick = quick
        self.repeats = 3 if quick else 7

    def sizes(self, quick, on_cpu, on_gpu):
        if self.quick:
            return quick
        return on_cpu if self.torch is None else on_gpu

    def array(self, of_numpy):
        return of_numpy if self.torch is None else self.torch.from_numpy(of_numpy).cuda()

    def for_cupy(self, tensor):
        return None if self.cupy is None else self.cupy.from_dlpack(tensor)

    def synchronize(self):
        if self.torch is not None:
            self.torch.cuda.synchronize()

    def time(self, call, repeats=None):
        """Returns the times of a call in milliseconds, and its result.

        The first call is not measured, unless it takes seconds: then it is the only one."""
        times = []
        for number in range(1 + (repeats or self.repeats)):
            self.synchronize()
            begin = time.perf_counter()
            result = call()
            self.synchronize()
            elapsed = 1e3 * (time.perf_counter() - begin)
            if number > 0 or elapsed > 2000:
                times.append(elapsed)
            if elapsed > 2000:
                break
        found = {"median": statistics.median_high(times), "least": min(times), "most": max(times),
                 "repeats": len(times)}
        return found, result


def host(array):
    """Returns an array of any library as one of NumPy."""
    if hasattr(array, "cpu"):
        return array.cpu().numpy()
    return array.get() if hasattr(array, "get") else numpy.asarray(array)


def same(what, found, expected):
    """Ends the program if a result is not the expected one."""
    on_gpu = hasattr(found, "equal") and hasattr(expected, "equal")
    if not (found.equal(expected) if on_gpu else numpy.array_equal(host(found), host(expected))):
        sys.exit(f"python_arrays.py: {what}: a wrong result")


def ratio(peer, own):
    return None if peer is None else peer["median"] / own["median"]


def machine(bench):
    """Returns the hardware and the versions of the libraries."""
    facts = {}
    if bench.torch is not None:
        facts["GPU"] = bench.torch.cuda.get_device_name()
        query = subprocess.run(
            ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
            capture_output=True, text=True)
        facts["driver"] = query.stdout.split("\n")[0] or "unknown"
    facts["CPU"] = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines() if os.name == "posix" else []:
        if line.startswith("model name"):
            facts["CPU"] = line.split(": ", 1)[1]
    facts["cores"] = len(os.sched_getaffinity(0))
    for name in ("ramify", "numpy", "scipy", "torch", "cupy", "torch_cluster", "cuml"):
        if name in ("torch", "cupy") and bench.torch is None:
            continue
        if (found := module(name)) is not None:
            facts[name] = found.__version__
    return facts


def random_keys(dtype, n):
    rng = numpy.random.default_rng(1)
    if dtype.startswith("float"):
        return rng.normal(size=n).astype(dtype)
    limits = numpy.iinfo(dtype)
    return rng.integers(limits.min, limits.max, n, dtype=dtype, endpoint=True)


def measure_sorts(bench, out):
    own_columns = ["ramify.sort, ms", "ramify.sort_pairs, with indices, ms"]
    if bench.torch is None:
        columns = ["numpy.sort, ms", *own_columns, "numpy.sort / ramify.sort"]
    else:
        columns = ["cupy.sort, ms", "torch.sort, with indices, ms", *own_columns,
                   "cupy.sort / ramify.sort", "torch.sort / ramify.sort_pairs"]
    out.table("sorts", ["keys", "n", *columns],
              "Sorted copies of random keys; the indices are int64")
    sizes = bench.sizes([1 << 12, 1 << 16], [1 << 16, 1 << 20],
                        [1 << 16, 1 << 20, 1 << 24, 1 << 26])
    for dtype in ("int32", "float32", "int64", "float64"):
        for n in sizes:
            keys = bench.array(random_keys(dtype, n))
            indices = bench.array(numpy.arange(n))
            own, found = bench.time(lambda: ramify.sort(keys))
            pairs, moved = bench.time(lambda: ramify.sort_pairs(keys, indices))
            same("ramify.sort_pairs", moved[0], found)
            same("ramify.sort_pairs", keys[moved[1]], found)
            if bench.torch is None:
                peer, expected = bench.time(lambda: numpy.sort(keys))
                same("ramify.sort", found, expected)
                out.row([dtype, n, peer, own, pairs, ratio(peer, own)])
                continue
            by_torch, (expected, _) = bench.time(lambda: bench.torch.sort(keys))
            same("ramify.sort", found, expected)
            by_cupy = None
            if bench.cupy is not None:
                view = bench.for_cupy(keys)
                by_cupy, _ = bench.time(lambda: bench.cupy.sort(view))
            out.row([dtype, n, by_cupy, by_torch, own, pairs, ratio(by_cupy, own),
                     ratio(by_torch, pairs)])


def measure_small_calls(bench, out):
    torch = bench.torch
    if torch is None:
        return
    out.table("calls", ["n", "torch.sort, ms", "ramify.sort, ms", "ramify.sort_async, ms",
                        "graph.replay, ms"],
              "Small sorts of float32 keys: a call that waits, one that does not, and a launch of "
              "a graph that has captured it")
    for n in (1 << 10, 1 << 14, 1 << 17):
        keys = bench.array(random_keys("float32", n))
        by_torch, (expected, _) = bench.time(lambda: torch.sort(keys), 21)
        waiting, found = bench.time(lambda: ramify.sort(keys), 21)
        same("ramify.sort", found, expected)
        started, run = bench.time(lambda: ramify.sort_async(keys), 21)
        same("ramify.sort_async", run.result, expected)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            captured = ramify.sort_async(keys)
        replayed, _ = bench.time(graph.replay, 21)
        same("graph.replay", captured.result, expected)
        out.row([n, by_torch, waiting, started, replayed])


def measure_segments(bench, out):
    peer = "numpy.sort" if bench.torch is None else "torch.sort"
    total = bench.sizes(1 << 16, 1 << 20, 1 << 24)
    out.table("segments", ["length", "segments", f"{peer} of rows, ms", "ramify.segmented_sort, ms",
                           f"{peer} / Ramify"],
              f"Segments of {total} float32 keys; {peer} sorts the rows of an array, so it has "
              "none for segments of different lengths")
    keys = bench.array(random_keys("float32", total))
    for length in (16, 256, 4096, 1 << 16):
        count = total // length
        offsets = bench.array(numpy.arange(count + 1) * length)
        own, found = bench.time(lambda: ramify.segmented_sort(keys, offsets))
        rows = keys.reshape(count, length)
        if bench.torch is None:
            by_peer, expected = bench.time(lambda: numpy.sort(rows, axis=1))
        else:
            by_peer, (expected, _) = bench.time(lambda: bench.torch.sort(rows, dim=1))
        same("ramify.segmented_sort", found, expected.reshape(-1))
        out.row([str(length), count, by_peer, own, ratio(by_peer, own)])
    bounds = numpy.cumsum(numpy.random.default_rng(2).zipf(1.5, total // 16).clip(max=total // 4))
    bounds = numpy.concatenate([[0], bounds[bounds < total], [total]])
    offsets = bench.array(bounds)
    own, found = bench.time(lambda: ramify.segmented_sort(keys, offsets))
    expected = host(keys).copy()
    for first, last in zip(bounds[:-1], bounds[1:]):
        if last - first > 1:
            expected[first:last].sort()
    same("ramify.segmented_sort", found, expected)
    out.row(["Zipf, 1.5", len(bounds) - 1, None, own, None])


def measure_neighbors(bench, out):
    spatial = module("scipy.spatial")
    cluster, cuml = (module(name) if bench.torch is not None else None
                     for name in ("torch_cluster", "cuml"))
    k = 10
    out.table("neighbors", ["n", "dimensions", "SciPy: tree, ms", "SciPy: neighbors, ms",
                            "torch_cluster.knn, ms", "cuML, ms", "ramify: tree, ms",
                            "ramify: neighbors, ms", "SciPy / Ramify, both"],
              f"The {k} nearest neighbors of each of n random float32 points. SciPy's cKDTree runs "
              "on all cores of the CPU")
    for n in bench.sizes((1000, 10_000), (10_000, 100_000), (100_000, 1_000_000)):
        for dimensions in (2, 3):
            on_host = numpy.random.default_rng(3).random((n, dimensions), dtype="float32")
            points = bench.array(on_host)
            build, tree = bench.time(lambda: ramify.SpatialTree(points))
            query, found = bench.time(lambda: tree.neighbors(k))
            cells = [n, dimensions, None, None, None, None, build, query, None]
            if cluster is not None:
                cells[4], _ = bench.time(lambda: cluster.knn(points, points, k + 1), 3)
            if cuml is not None:
                def by_cuml():
                    model = cuml.neighbors.NearestNeighbors(n_neighbors=k + 1).fit(points)
                    return model.kneighbors(points)
                cells[5], _ = bench.time(by_cuml, 3)
            if spatial is not None:
                cells[2], peer = bench.time(lambda: spatial.cKDTree(on_host), 3)
                cells[3], (distances, _) = bench.time(
                    lambda: peer.query(on_host, k + 1, workers=-1), 3)
                own = host(found.distances)
                if not numpy.allclose(own, distances[:, 1:], rtol=1e-4, atol=1e-6):
                    sys.exit("python_arrays.py: ramify.SpatialTree: wrong distances")
                cells[8] = ((cells[2]["median"] + cells[3]["median"]) /
                            (build["median"] + query["median"]))
            out.row(cells)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cpu", action="store_true", help="NumPy arrays, even if there is a GPU")
    parser.add_argument("--quick", action="store_true", help="small sizes and few repeats")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the tables as JSON")
    options = parser.parse_args()
    torch = module("torch")
    on_gpu = not options.cpu and torch is not None and torch.cuda.is_available()
    bench = Bench(on_gpu, options.quick)
    out = Recorder(machine(bench))
    measure_sorts(bench, out)
    measure_small_calls(bench, out)
    measure_segments(bench, out)
    measure_neighbors(bench, out)
    if options.json:
        out.write(options.json)


if __name__ == "__main__":
    main()
