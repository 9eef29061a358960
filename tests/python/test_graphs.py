# SPDX-License-Identifier: BSD-3-Clause
"""Graphs beside networkx and SciPy; rooted trees beside plain loops."""

import numpy
import pytest
import ramify

networkx = pytest.importorskip("networkx")


def rows_of(graph):
    """Return offsets, targets and lengths of a networkx graph."""
    offsets, targets, lengths = [0], [], []
    for v in range(len(graph)):
        for u, edge in sorted(graph.adj[v].items()):
            targets.append(u)
            lengths.append(edge.get("weight", 1.0))
        offsets.append(len(targets))
    return (numpy.array(offsets, "int64"), numpy.array(targets, "int32"), numpy.array(lengths))


def random_graph(n=300, p=0.01, seed=3):
    graph = networkx.gnp_random_graph(n, p, seed)
    rng = numpy.random.default_rng(seed)
    for _, _, edge in graph.edges(data=True):
        edge["weight"] = float(rng.integers(1, 100))
    return graph


@pytest.mark.parametrize("symmetric", [False, True])
def test_levels(symmetric):
    graph = random_graph()
    offsets, targets, _ = rows_of(graph)
    found = ramify.Graph(offsets, targets, symmetric=symmetric).breadth_first_search(5)
    expected = networkx.single_source_shortest_path_length(graph, 5)
    assert found.levels.tolist() == [expected.get(v, -1) for v in range(len(graph))]
    for v, parent in enumerate(found.parents):
        if found.levels[v] > 0:
            assert graph.has_edge(v, int(parent)) and found.levels[parent] + 1 == found.levels[v]
        else:
            assert parent == -1


@pytest.mark.parametrize("dtype", ["float32", "float64", "uint64"])
def test_paths(dtype):
    graph = random_graph()
    offsets, targets, lengths = rows_of(graph)
    found = ramify.Graph(offsets, targets).shortest_paths(lengths.astype(dtype), 0)
    expected = networkx.single_source_dijkstra_path_length(graph, 0)
    none = 2**64 - 1 if dtype == "uint64" else numpy.inf
    assert found.distances.tolist() == [expected.get(v, none) for v in range(len(graph))]


def test_components_and_ranks():
    graph = random_graph(p=0.004)
    csr = ramify.Graph(*rows_of(graph)[:2], symmetric=True)
    expected = numpy.empty(len(graph), "int32")
    for component in networkx.connected_components(graph):
        expected[list(component)] = min(component)
    numpy.testing.assert_array_equal(csr.connected_components(), expected)
    ranks = networkx.pagerank(graph, weight=None, tol=1e-12, max_iter=1000)
    numpy.testing.assert_allclose(
        csr.pagerank(tolerance=1e-12, max_iterations=1000),
        [ranks[v] for v in range(len(graph))],
        rtol=1e-6,
    )


def test_faulty_graphs():
    offsets, targets = numpy.array([0, 2, 1, 3]), numpy.array([1, 2, 0], "int32")
    with pytest.raises(ValueError, match="offset"):
        ramify.Graph(offsets, targets).breadth_first_search(0)
    with pytest.raises(ValueError, match="target"):
        ramify.Graph(numpy.array([0, 1, 2, 3]), numpy.array([1, 7, 0], "int32")).pagerank()
    good = ramify.Graph(numpy.array([0, 1, 2, 3]), targets)
    with pytest.raises(ValueError, match="source"):
        good.breadth_first_search(3)
    with pytest.raises(TypeError, match="targets: elements of type int64; must be int32"):
        ramify.Graph(numpy.array([0, 1]), numpy.array([0]))
    with pytest.raises(ValueError, match="offsets: no elements"):
        ramify.Graph(numpy.zeros(0, "int64"), numpy.zeros(0, "int32"))


def test_rooted_trees():
    rng = numpy.random.default_rng(5)
    n = 2000
    parents = numpy.array([-1] + [rng.integers(0, v) for v in range(1, n)], "int32")
    values = rng.integers(-100, 100, n)
    levels, sizes = numpy.zeros(n, int), numpy.ones(n, int)
    below, above = values.copy(), values.copy()
    for v in range(1, n):
        levels[v] = levels[parents[v]] + 1
        above[v] = min(above[parents[v]], values[v])
    for v in range(n - 1, 0, -1):
        sizes[parents[v]] += sizes[v]
        below[parents[v]] += below[v]
    found = ramify.rooted_tree(parents)
    numpy.testing.assert_array_equal(found.levels, levels)
    numpy.testing.assert_array_equal(found.subtree_sizes, sizes)
    assert sorted(found.preorder.tolist()) == list(range(n))
    assert found.preorder[0] == 0 and found.postorder[0] == n - 1
    numpy.testing.assert_array_equal(ramify.leaffix(parents, values), below)
    numpy.testing.assert_array_equal(ramify.rootfix(parents, values, "minimum"), above)
    with pytest.raises(ValueError, match="cycle|node"):
        ramify.rooted_tree(numpy.array([1, 0], "int32"))
    with pytest.raises(ValueError, match="operator"):
        ramify.leaffix(parents, values, "product")
