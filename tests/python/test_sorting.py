# SPDX-License-Identifier: BSD-3-Clause
"""Sorts beside NumPy's."""

import numpy
import pytest

import ramify

DTYPES = ["int32", "uint32", "int64", "uint64", "float32", "float64"]


def numbers(dtype, n, seed=1):
    rng = numpy.random.default_rng(seed)
    if dtype.startswith("float"):
        return rng.normal(size=n).astype(dtype)
    limits = numpy.iinfo(dtype)
    return rng.integers(limits.min, limits.max, n, dtype=dtype, endpoint=True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [0, 1, 2, 1000, 40_000])
def test_sort_equals_numpy(dtype, n):
    keys = numbers(dtype, n)
    before = keys.copy()
    numpy.testing.assert_array_equal(ramify.sort(keys), numpy.sort(keys))
    numpy.testing.assert_array_equal(ramify.sort(keys, descending=True), numpy.sort(keys)[::-1])
    numpy.testing.assert_array_equal(keys, before)


def test_sort_puts_nan_last():
    keys = numpy.array([2, numpy.nan, -numpy.inf, 1, numpy.nan], "float32")
    numpy.testing.assert_array_equal(ramify.sort(keys), numpy.sort(keys))


@pytest.mark.parametrize("values_dtype", DTYPES)
def test_pairs_follow_their_keys(values_dtype):
    keys = numpy.random.default_rng(2).permutation(5000).astype("int64")
    values = numbers(values_dtype, 5000, 3)
    sorted_keys, moved = ramify.sort_pairs(keys, values)
    order = numpy.argsort(keys)
    numpy.testing.assert_array_equal(sorted_keys, keys[order])
    numpy.testing.assert_array_equal(moved, values[order])


@pytest.mark.parametrize("route", ["device", "flat"])
@pytest.mark.parametrize("strategy", ["sample_sort", "binary"])
def test_sort_in_place_reports(route, strategy):
    keys = numbers("uint32", 30_000)
    expected = numpy.sort(keys)
    report = ramify.sort_in_place(keys, strategy=strategy, env=ramify.Environment(route=route))
    numpy.testing.assert_array_equal(keys, expected)
    assert (report.backend, report.route) == ("cpu", route)
    assert report.number("keys") == 30_000
    assert report["strategy"] == strategy
    assert "<td>backend</td>" in report._repr_html_()


def test_segments():
    keys = numbers("float64", 10_000)
    offsets = numpy.array([3, 3, 10, 5000, 5001, 9990], "int32")
    values = numpy.arange(10_000, dtype="uint32")
    expected, order = keys.copy(), numpy.arange(10_000)
    for first, last in zip(offsets[:-1], offsets[1:]):
        part = first + numpy.argsort(keys[first:last])
        expected[first:last], order[first:last] = keys[part], part
    numpy.testing.assert_array_equal(ramify.segmented_sort(keys, offsets), expected)
    found, moved = ramify.segmented_sort(keys, offsets, values=values)
    numpy.testing.assert_array_equal(found, expected)
    numpy.testing.assert_array_equal(moved, order)


def test_started_sorts_equal_those_that_wait():
    keys, values = numbers("float64", 30_000), numbers("int32", 30_000, 2)
    before = keys.copy()
    run = ramify.sort_async(keys, descending=True)
    assert repr(run) == "<ramify.AsyncRun: not waited for>"
    numpy.testing.assert_array_equal(run.result, ramify.sort(keys, descending=True))
    numpy.testing.assert_array_equal(keys, before)
    report = run.get()
    assert report.number("keys") == 30_000 and report.backend == "cpu"
    assert run.get() is report and repr(run) == "<ramify.AsyncRun: complete>"

    for found, expected in zip(
        ramify.sort_pairs_async(keys, values).result, ramify.sort_pairs(keys, values)
    ):
        numpy.testing.assert_array_equal(found, expected)
    run = ramify.sort_in_place_async(keys, values, strategy="binary")
    assert run.result[0] is keys and run.result[1] is values
    assert run.get()["strategy"] == "binary"
    numpy.testing.assert_array_equal(keys, numpy.sort(before))
    assert ramify.sort_in_place_async(keys).result is keys


def test_started_sorts_of_segments():
    keys, values = numbers("int64", 10_000), numbers("uint64", 10_000, 2)
    offsets = numpy.array([3, 10, 10, 9000], "int64")
    run = ramify.segmented_sort_async(keys, offsets, values=values)
    expected = ramify.segmented_sort(keys, offsets, values=values)
    numpy.testing.assert_array_equal(run.result, expected)
    assert run.get().number("segments") == 3
    numpy.testing.assert_array_equal(ramify.segmented_sort_async(keys, offsets).result, expected[0])


def test_get_raises_what_the_backend_finds():
    keys = numbers("float32", 1000)
    run = ramify.segmented_sort_async(keys, numpy.array([0, 500, 400]))
    with pytest.raises(ValueError, match="segment"):
        run.get()
    numpy.testing.assert_array_equal(run.result, keys)


def test_a_trace_records_a_started_sort():
    trace = ramify.Trace()
    env = ramify.Environment(route="device", trace=trace)
    run = ramify.sort_async(numbers("uint32", 30_000), env=env)
    del env
    report = run.get()
    assert len(trace.grids) == report.number("grids launched by the host") + report.number(
        "grids launched by kernels"
    )


@pytest.mark.parametrize(
    "change, error, message",
    [
        (lambda: ramify.sort(numpy.zeros(3, "int16")), TypeError, "keys: elements of type int16"),
        (lambda: ramify.sort(numpy.zeros(3, ">i4")), TypeError, "order of bytes"),
        (lambda: ramify.sort([3, 1]), TypeError, "keys: a list"),
        (lambda: ramify.sort(numpy.ma.array([3, 1])), TypeError, "keys: a masked array"),
        (lambda: ramify.sort(numpy.zeros((2, 2))), ValueError, "keys: 2 dimensions"),
        (lambda: ramify.sort(numpy.zeros(3), strategy="bubble"), ValueError, "strategy"),
        (
            lambda: ramify.sort(numpy.zeros(3), env=ramify.Environment(route="x")),
            ValueError,
            "route",
        ),
        (lambda: ramify.sort(numpy.zeros(3), env={}), TypeError, "env"),
        (
            lambda: ramify.sort(numpy.zeros(3), env=ramify.Environment(stream=8)),
            ValueError,
            "env.stream",
        ),
        (
            lambda: ramify.sort_in_place(numpy.zeros(6)[::2]),
            ValueError,
            "keys: the array is not contiguous",
        ),
        (
            lambda: ramify.sort_in_place(numpy.broadcast_to(numpy.zeros(1), (3,))),
            ValueError,
            "keys: the array is read-only",
        ),
        (
            lambda: ramify.sort_pairs(numpy.zeros(3), numpy.zeros(2)),
            ValueError,
            "values: 2 elements, but keys has 3",
        ),
        (
            lambda: ramify.segmented_sort(numpy.zeros(3), numpy.array([0, 2, 1])),
            ValueError,
            "segment",
        ),
        (
            lambda: ramify.segmented_sort(numpy.zeros(3), numpy.array([0, 4])),
            ValueError,
            "segment",
        ),
        (
            lambda: ramify.sort_async(numpy.zeros(3, "int16")),
            TypeError,
            "keys: elements of type int16",
        ),
        (
            lambda: ramify.sort_in_place_async(numpy.zeros(6)[::2]),
            ValueError,
            "keys: the array is not contiguous",
        ),
        (
            lambda: ramify.segmented_sort_async(numpy.zeros(3), numpy.zeros(0, "int32")),
            ValueError,
            "one offset more than segments",
        ),
        (
            lambda: ramify.sort(numpy.zeros(3), env=ramify.Environment(backend="cuda")),
            ramify.Unavailable,
            "built without CUDA|no CUDA device",
        ),
    ],
)
def test_errors(change, error, message):
    if error is ramify.Unavailable and has_gpu():
        pytest.skip("there is a GPU")
    with pytest.raises(error, match=message):
        change()


def has_gpu():
    try:
        ramify._ramify.launch_costs()
        return True
    except ramify.Unavailable:
        return False


def test_overlapping_values_are_refused():
    memory = numpy.arange(12, dtype="uint64")
    with pytest.raises(ValueError):
        ramify.sort_in_place(memory[:8], memory[4:])
    numpy.testing.assert_array_equal(memory, numpy.arange(12))
