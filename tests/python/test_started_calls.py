# SPDX-License-Identifier: BSD-3-Clause
"""Calls of graphs, trees, points, bodies and images that do not wait, beside those that wait."""

import numpy
import pytest
import ramify

rng = numpy.random.default_rng(1)
offsets = numpy.arange(0, 3001, 3)
targets = rng.integers(0, 1000, 3000, dtype="int32")
lengths = rng.random(3000, dtype="float32")
parents = numpy.array([-1, *(rng.integers(0, v) for v in range(1, 1000))], "int32")
values = rng.integers(-9, 9, 1000)
positions = rng.random((1000, 3))
masses = rng.random(1000)


def graph():
    return ramify.Graph(offsets, targets)


def image():
    return numpy.zeros((40, 60), "uint32")


# A call that does not wait, and the result of the one that waits.
CALLS = {
    "breadth_first_search": (
        lambda: graph().breadth_first_search_async(3),
        lambda: graph().breadth_first_search(3),
    ),
    "shortest_paths": (
        lambda: graph().shortest_paths_async(lengths, 3),
        lambda: graph().shortest_paths(lengths, 3),
    ),
    "connected_components": (
        lambda: graph().connected_components_async(),
        lambda: graph().connected_components(),
    ),
    "pagerank": (
        lambda: graph().pagerank_async(damping=0.7, tolerance=1e-9),
        lambda: graph().pagerank(damping=0.7, tolerance=1e-9),
    ),
    "rooted_tree": (
        lambda: ramify.rooted_tree_async(parents),
        lambda: ramify.rooted_tree(parents),
    ),
    "leaffix": (
        lambda: ramify.leaffix_async(parents, values, "minimum"),
        lambda: ramify.leaffix(parents, values, "minimum"),
    ),
    "rootfix": (
        lambda: ramify.rootfix_async(parents, values),
        lambda: ramify.rootfix(parents, values),
    ),
    "clusters": (
        lambda: ramify.SpatialTree(positions).clusters_async(0.1, 3),
        lambda: ramify.SpatialTree(positions).clusters(0.1, 3),
    ),
    "gravity": (
        lambda: ramify.gravity_async(positions, masses, ramify.NBodyOptions(softening=0.1)),
        lambda: ramify.gravity(positions, masses, ramify.NBodyOptions(softening=0.1))[:2],
    ),
    "mandelbrot": (
        lambda: ramify.mandelbrot_async(image(), max_iterations=50, center=-1),
        lambda: ramify.mandelbrot(out=image(), max_iterations=50, center=-1).dwells,
    ),
}


def numbers(result):
    """Return the arrays of a result. A vertex may have several parents, all at the same distance."""
    if isinstance(result, (ramify.Search, ramify.Paths)):
        distances, parents = result
        return distances, numpy.where(parents < 0, -1, distances[parents])
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("name", CALLS)
def test_a_started_call_has_the_result_of_one_that_waits(name):
    start, wait = CALLS[name]
    run, expected = start(), wait()
    assert type(run.result) is type(expected)
    for found, one in zip(numbers(run.result), numbers(expected)):
        # Threads of the executor add floating-point numbers in any order.
        numpy.testing.assert_allclose(found, one, rtol=1e-12)
    report = run.get()
    assert report is run.get() and report.backend == "cpu"


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: ramify.Graph(offsets, targets + 990).pagerank_async(), "targets"),
        (lambda: ramify.Graph(offsets, targets + 990).breadth_first_search_async(0), "targets"),
        (lambda: graph().shortest_paths_async(-lengths, 0), "weight"),
        (lambda: ramify.rooted_tree_async(numpy.array([1, 0], "int32")), "cycle"),
        (lambda: ramify.leaffix_async(numpy.array([5], "int32"), numpy.zeros(1)), "parent"),
        (lambda: ramify.gravity_async(positions * numpy.nan, masses), "positions"),
    ],
)
def test_get_raises_what_the_kernels_have_found(call, message):
    run = call()
    with pytest.raises(ValueError, match=message):
        run.get()


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: graph().breadth_first_search_async(1000), ValueError, "source"),
        (lambda: graph().breadth_first_search_async(0.5), TypeError, "source"),
        (lambda: graph().shortest_paths_async(lengths[1:], 0), ValueError, "weights"),
        (lambda: graph().pagerank_async(damping=2), ValueError, "damping"),
        (lambda: ramify.rooted_tree_async(parents.astype("int64")), TypeError, "parents"),
        (lambda: ramify.leaffix_async(parents, values, "product"), ValueError, "product"),
        (lambda: ramify.SpatialTree(positions).clusters_async(-1), ValueError, "radius"),
        (lambda: ramify.gravity_async(positions, masses[1:]), ValueError, "masses"),
        (lambda: ramify.mandelbrot_async(None), TypeError, "out: None; must be an array"),
        (lambda: ramify.mandelbrot_async(image(), zoom=-1), ValueError, "zoom"),
        (
            lambda: ramify.rooted_tree_async(parents, env=ramify.Environment(stream=1)),
            ValueError,
            "env.stream",
        ),
    ],
)
def test_bad_arguments_raise_at_once(call, error, message):
    with pytest.raises(error, match=message):
        call()
