# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of wrong types, results that do not fit into memory, traces."""

import json

import numpy
import pytest

import ramify


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda t, p: t.query(p, 2.0), TypeError, "k: a float; must be an integer"),
        (lambda t, p: t.query(p, True), TypeError, "k: a bool; must be an integer"),
        (lambda t, p: t.query(p, p), TypeError, "k: a ndarray; must be one integer"),
        (lambda t, p: t.query(p, -1), ValueError, r"k: -1; must be in \[1, 2147483647\]"),
        (lambda t, p: t.query(p, 2**64), ValueError, "k: 18446744073709551616; must be in"),
        (lambda t, p: t.neighbors(1, exclude_self="no"), TypeError, "exclude_self: a str; must be"),
        (lambda t, p: t.ball_count(p, "0.1"), TypeError, "radius: a str; must be a number"),
        (lambda t, p: t.ball_count(p, None), TypeError, "radius: a NoneType; must be a number"),
        (
            lambda t, p: t.ball_count(p, 10**400),
            ValueError,
            "radius: 10*0 is too large for a float",
        ),
        (lambda t, p: t.query(p, period="ab"), TypeError, "period: a str; must be a sequence"),
        (lambda t, p: t.query(p, period=(1, "b")), TypeError, r"period\[1\]: a str; must be a"),
        (lambda t, p: t.clusters(0.1, 0), ValueError, r"min_points: 0; must be in \[1,"),
        (lambda t, p: ramify.SpatialTree(p, leaf_size=0), ValueError, r"leaf_size: 0; must be in"),
        (
            lambda t, p: ramify.sort(p[0], descending=1),
            TypeError,
            "descending: a int; must be True",
        ),
        (
            lambda t, p: ramify.sort(p[0], strategy=3),
            TypeError,
            "strategy: a int; must be a string",
        ),
        (lambda t, p: ramify.sort(p[0], env={}), TypeError, "env: a dict; must be a ramify"),
    ],
)
def test_wrong_arguments_are_named(call, error, message):
    points = numpy.random.default_rng(1).random((20, 3))
    with pytest.raises(error, match=message):
        call(ramify.SpatialTree(points), points)


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"backend": 3}, "env.backend: a int; must be a string"),
        ({"route": None}, "env.route: a NoneType; must be a string"),
        ({"stream": 1.5}, "env.stream: a float; must be an integer"),
        ({"pending_launches": "many"}, "env.pending_launches: a str; must be an integer"),
        ({"trace": []}, "env.trace: a list; must be a ramify.Trace"),
    ],
)
def test_wrong_fields_are_named(fields, message):
    with pytest.raises(TypeError, match=message):
        ramify.sort(numpy.zeros(3), env=ramify.Environment(**fields))


def test_numbers_of_numpy_are_accepted():
    points = numpy.random.default_rng(1).random((20, 3))
    tree = ramify.SpatialTree(points, leaf_size=numpy.int16(4))
    found = tree.query(points, numpy.uint8(2), period=numpy.ones(3, "float32"))
    assert found.indices.shape == (20, 2)
    assert tree.ball_count(points, numpy.float32(9)).tolist() == [20] * 20


def test_a_huge_result_raises_instead_of_filling_the_memory():
    points = numpy.random.default_rng(1).random((2000, 2), dtype="float32")
    tree = ramify.SpatialTree(points)
    with pytest.raises(MemoryError, match="4000000 ids, which exceeds .*, 3999999"):
        tree.ball_list(points, 9, max_indices=3_999_999)
    lists = tree.ball_list(points, 9, max_indices=4_000_000)
    assert len(lists.indices) == 4_000_000
    with pytest.raises(MemoryError, match="4294967294000 elements need 34359738352000 bytes"):
        tree.query(points, 2**31 - 1)


def test_the_limit_of_a_container(monkeypatch):
    monkeypatch.setattr("ramify._memory.free_bytes", lambda: 1 << 26)
    keys = numpy.zeros((1 << 24) + 1, "float32")
    with pytest.raises(MemoryError, match="16777217 elements need 67108868 bytes, but only"):
        ramify.sort(keys)


@pytest.mark.parametrize("route", ["device", "flat"])
def test_a_trace_has_the_grids_of_the_report(route, tmp_path):
    trace = ramify.Trace()
    env = ramify.Environment(route=route, trace=trace)
    report = ramify.sort_in_place(numpy.random.default_rng(1).random(40_000), env=env)
    launched = sum(grid.runs for grid in trace.grids)
    assert launched == sum(
        report.number(f"grids launched by {who}")
        for who in ("the host", "kernels", "a graph")
        if f"grids launched by {who}" in report.fields
    )
    assert len(trace) == len(trace.grids) > 0 and trace.lost == 0
    has_children = any(grid.parent is not None for grid in trace.grids)
    assert has_children == (route == "device")
    for i, grid in enumerate(trace.grids):
        assert grid.begin <= grid.end <= grid.complete and grid.kernel.startswith("sample_sort")
        assert grid.parent is None or trace.grids[grid.parent].depth + 1 == grid.depth
        assert grid.parent is None or grid.parent < i

    page = trace._repr_html_()
    assert page.startswith("<iframe srcdoc=") and "sample_sort" in page and page.count("<") == 2
    for extension in ("html", "json", "dot"):
        trace.write(tmp_path / f"sort.{extension}")
    assert json.loads((tmp_path / "sort.json").read_text())
    with pytest.raises(ValueError, match=r"\.html"):
        trace.write("sort.txt")
    with pytest.raises(OSError, match="missing"):
        trace.write(tmp_path / "missing" / "sort.html")


def test_a_full_trace_counts_what_it_lost():
    trace = ramify.Trace(capacity=1)
    keys = numpy.random.default_rng(1).random(40_000)
    ramify.sort(keys, env=ramify.Environment(route="flat", trace=trace))
    assert len(trace) == 1 and trace.lost > 0
    with pytest.raises(ValueError, match=r"capacity: 0; must be in \[1, 16777216\]"):
        ramify.Trace(capacity=0)


def test_versions_and_architectures(capsys):
    from ramify.__main__ import main

    main()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"ramify {ramify.__version__}"
    assert lines[1] == f"code for GPUs: {', '.join(ramify.gpu_architectures) or 'none'}"
    assert lines[2].startswith("backend: ")
