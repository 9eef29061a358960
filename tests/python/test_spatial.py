# SPDX-License-Identifier: BSD-3-Clause
"""Spatial trees beside SciPy's."""

import numpy
import pytest
import ramify

spatial = pytest.importorskip("scipy.spatial")


def cloud(n, dim, dtype, seed=1):
    return numpy.random.default_rng(seed).random((n, dim)).astype(dtype)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nearest_and_balls(dim, dtype):
    points, queries = cloud(2000, dim, dtype), cloud(300, dim, dtype, 2)
    tree, oracle = ramify.SpatialTree(points), spatial.cKDTree(points)
    assert len(tree) == 2000 and tree.report.number("points") == 2000
    expected, expected_ids = oracle.query(queries, 5)
    found = tree.query(queries, 5)
    assert found.indices.dtype == "int32" and found.distances.dtype == dtype
    numpy.testing.assert_allclose(found.distances, expected, rtol=1e-5)
    numpy.testing.assert_array_equal(found.indices, expected_ids)

    balls = oracle.query_ball_point(queries, 0.1)
    numpy.testing.assert_array_equal(tree.ball_count(queries, 0.1), [len(b) for b in balls])
    lists = tree.ball_list(queries, 0.1)
    for i, ball in enumerate(balls):
        mine = lists.indices[lists.offsets[i] : lists.offsets[i + 1]]
        assert sorted(mine.tolist()) == sorted(ball)


def test_neighbors_without_and_with_self():
    points = cloud(500, 3, "float64")
    tree, oracle = ramify.SpatialTree(points), spatial.cKDTree(points)
    _, expected = oracle.query(points, 4)
    numpy.testing.assert_array_equal(tree.neighbors(4, exclude_self=False).indices, expected)
    numpy.testing.assert_array_equal(tree.neighbors(3).indices, expected[:, 1:])


def test_started_queries():
    points, queries = cloud(2000, 3, "float32"), cloud(300, 3, "float32", 2)
    tree, oracle = ramify.SpatialTree(points), spatial.cKDTree(points)
    run = tree.query_async(queries, 5)
    expected, expected_ids = oracle.query(queries, 5)
    numpy.testing.assert_allclose(run.result.distances, expected, rtol=1e-5)
    numpy.testing.assert_array_equal(run.result.indices, expected_ids)
    assert run.get().backend == "cpu" and "requested" in run.get()["backend"]
    _, expected_ids = oracle.query(points, 4)
    runs = [tree.neighbors_async(4, exclude_self=False), tree.neighbors_async(3)]
    counts = tree.ball_count_async(queries, 0.1)
    del tree
    numpy.testing.assert_array_equal(runs[0].result.indices, expected_ids)
    numpy.testing.assert_array_equal(runs[1].result.indices, expected_ids[:, 1:])
    numpy.testing.assert_array_equal(
        counts.result, oracle.query_ball_point(queries, 0.1, return_length=True)
    )
    assert counts.get().number("grids launched by the host") >= 1


def test_started_queries_with_bad_arguments():
    tree = ramify.SpatialTree(cloud(10, 2, "float64"))
    with pytest.raises(ValueError, match="radius"):
        tree.ball_count_async(cloud(2, 2, "float64"), -1.0)
    with pytest.raises(ValueError, match="queries: 3 coordinates"):
        tree.query_async(cloud(2, 3, "float64"))
    with pytest.raises(ValueError, match="period"):
        tree.neighbors_async(1, period=[1.0, -1.0])
    run = tree.query_async(numpy.array([[0.5, numpy.nan]]))
    with pytest.raises(ValueError, match=r"queries\[0\]"):
        run.get()


def test_fewer_points_than_neighbors():
    found = ramify.SpatialTree(cloud(2, 3, "float32")).query(cloud(1, 3, "float32", 3), 4)
    assert found.indices[0, 2:].tolist() == [-1, -1]
    assert numpy.isinf(found.distances[0, 2:]).all()


def test_period():
    points, queries = cloud(1000, 2, "float64"), cloud(200, 2, "float64", 2)
    oracle = spatial.cKDTree(points, boxsize=1.0)
    expected, _ = oracle.query(queries, 3)
    found = ramify.SpatialTree(points).query(queries, 3, period=(1, 1))
    numpy.testing.assert_allclose(found.distances, expected)


def test_clusters_are_connected_components():
    points = cloud(1000, 2, "float32")
    labels = ramify.SpatialTree(points).clusters(0.03)
    pairs = spatial.cKDTree(points).query_pairs(0.03, output_type="ndarray")
    sparse = pytest.importorskip("scipy.sparse")
    ones = numpy.ones(len(pairs))
    graph = sparse.coo_matrix((ones, (pairs[:, 0], pairs[:, 1])), (1000, 1000))
    _, expected = sparse.csgraph.connected_components(graph, directed=False)
    least = {}
    for i, component in enumerate(expected):
        least.setdefault(component, i)
    numpy.testing.assert_array_equal(labels, [least[c] for c in expected])
    noise = ramify.SpatialTree(points).clusters(1e-6, min_points=2)
    assert (noise == -1).all()


@pytest.mark.parametrize(
    "points, error, message",
    [
        (numpy.zeros((4, 4)), ValueError, "points: 4 coordinates; must be 2 or 3"),
        (numpy.zeros(4), ValueError, "points: 1 dimensions; must be 2"),
        (numpy.zeros((4, 2), "float16"), TypeError, "points: elements of type float16"),
        (numpy.array([[0, 1], [numpy.nan, 0]]), ValueError, "1"),
    ],
)
def test_bad_points(points, error, message):
    with pytest.raises(error, match=message):
        ramify.SpatialTree(points)


def test_bad_queries():
    tree = ramify.SpatialTree(cloud(10, 3, "float32"))
    with pytest.raises(TypeError, match="queries: elements of type float64"):
        tree.query(cloud(1, 3, "float64"))
    with pytest.raises(ValueError, match="queries: 2 coordinates, but the points have 3"):
        tree.query(cloud(1, 2, "float32"))
    with pytest.raises(ValueError, match="radius"):
        tree.ball_count(cloud(1, 3, "float32"), -1)
    with pytest.raises(ValueError, match="period: 2 numbers; must be 3"):
        tree.neighbors(1, period=(1, 1))


def test_arrays_that_are_not_contiguous():
    points = numpy.asfortranarray(cloud(200, 3, "float32"))
    expected = ramify.SpatialTree(numpy.ascontiguousarray(points)).neighbors(2)
    numpy.testing.assert_array_equal(
        ramify.SpatialTree(points).neighbors(2).indices, expected.indices
    )


@pytest.mark.parametrize("dim", [2, 3])
def test_refit_follows_points_that_have_moved(dim):
    points = cloud(500, dim, "float32")
    moved = points[::-1] + numpy.float32(0.25)
    tree = ramify.SpatialTree(points)
    tree.refit(moved)
    expected, expected_ids = spatial.cKDTree(moved).query(points, 3)
    found = tree.query(points, 3)
    numpy.testing.assert_array_equal(found.indices, expected_ids)
    numpy.testing.assert_allclose(found.distances, expected, rtol=1e-4)
    with pytest.raises(ValueError, match="positions: 499, but the tree has 500 points"):
        tree.refit(moved[1:])
    with pytest.raises(TypeError, match="positions: elements of type float64; must be float32"):
        tree.refit(moved.astype("float64"))
    moved[42, 1] = numpy.nan
    with pytest.raises(ValueError, match="42"):
        tree.refit(moved)
    numpy.testing.assert_array_equal(tree.query(points, 3).indices, expected_ids)
