# SPDX-License-Identifier: BSD-3-Clause
"""Tree search, knapsacks, flow shops and queens beside published counts and plain loops."""

import itertools

import numpy
import pytest

import ramify


def test_a_published_tree():
    # Counts from the literature on Unbalanced Tree Search.
    assert ramify.published_trees()["T1"] == (4_130_071, 3_305_118, 10)
    found = ramify.tree_search("small")
    assert found.counts == ramify.published_trees()["small"]
    assert found.report["route"]


def test_a_tree_without_branches_is_a_root():
    tree = ramify.UtsTree(type="binomial", root_branches=0)
    assert ramify.tree_search(tree).counts == (1, 1, 0)
    tree = ramify.UtsTree(type="binomial", root_branches=7, probability=0)
    assert ramify.tree_search(tree, strategy="task_per_node").counts == (8, 7, 1)


def by_dynamic_programming(weights, profits, capacity):
    best = numpy.zeros(capacity + 1, int)
    for weight, profit in zip(weights, profits):
        if weight <= capacity:
            taken = best[: capacity + 1 - weight] + profit
            best[weight:] = numpy.maximum(best[weight:], taken)
    return best[capacity]


@pytest.mark.parametrize("seed", range(4))
def test_knapsacks(seed):
    rng = numpy.random.default_rng(seed)
    weights, profits = rng.integers(1, 200, 30), rng.integers(1, 200, 30)
    capacity = int(weights.sum() // 3)
    found = ramify.knapsack(weights, profits, capacity)
    assert found.profit == by_dynamic_programming(weights, profits, capacity) == found.bound
    assert found.is_optimal and found.chosen.tolist() == sorted(set(found.chosen.tolist()))
    assert profits[found.chosen].sum() == found.profit
    assert weights[found.chosen].sum() == found.weight <= capacity


def makespan(times, order):
    end = numpy.zeros(len(times), int)
    for job in order:
        before = 0
        for machine, time in enumerate(times[:, job]):
            before = end[machine] = max(before, end[machine]) + time
    return end[-1]


def test_flow_shops():
    times = numpy.random.default_rng(3).integers(1, 100, (3, 7))
    found = ramify.flow_shop(times)
    expected = min(makespan(times, order) for order in itertools.permutations(range(7)))
    assert found.makespan == expected == found.bound == makespan(times, found.order)
    assert found.is_optimal and sorted(found.order.tolist()) == list(range(7))


def test_a_published_flow_shop():
    times, optimum = ramify.taillard(1)
    assert times.shape == (5, 20) and optimum == 1278 and times[0, :3].tolist() == [54, 83, 15]
    assert ramify.taillard(31).optimum is None
    found = ramify.flow_shop(times, max_nodes=1)
    assert (
        found.makespan >= optimum >= found.bound and makespan(times, found.order) == found.makespan
    )


@pytest.mark.parametrize("symmetry", [False, True])
def test_queens(symmetry):
    # OEIS A000170
    counts = [ramify.count_queens(n, symmetry=symmetry).solutions for n in range(1, 9)]
    assert counts == [1, 0, 0, 2, 10, 4, 40, 92]


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: ramify.tree_search("T9"), ValueError, "tree 'T9' is none of small, T1"),
        (lambda: ramify.tree_search(3), TypeError, "tree: a int; must be a name or"),
        (lambda: ramify.tree_search(ramify.UtsTree(type="wide")), ValueError, "type 'wide'"),
        (lambda: ramify.tree_search(ramify.UtsTree(depth=0)), ValueError, "depth"),
        (lambda: ramify.tree_search(ramify.UtsTree(seed=-1)), ValueError, "seed: -1; must be in"),
        (lambda: ramify.tree_search("small", capacity=1.5), TypeError, "capacity: a float"),
        (lambda: ramify.knapsack([1, 2], [1], 3), ValueError, "profits: 1 integers, but weights"),
        (lambda: ramify.knapsack([1, -2], [1, 1], 3), ValueError, r"weights\[1\]: -2; must be in"),
        (lambda: ramify.knapsack([1, 2.0], [1, 1], 3), TypeError, r"weights\[1\]: a float; must"),
        (lambda: ramify.knapsack([1] * 64, [1] * 64, 3), ValueError, "at most 63"),
        (lambda: ramify.knapsack([1], [1], -1), ValueError, "capacity: -1"),
        (lambda: ramify.knapsack([1], [1], 1, max_seconds=-1), ValueError, "max_seconds"),
        (lambda: ramify.flow_shop([[1, 2], [3]]), ValueError, r"times\[1\]: 1 integers, but"),
        (lambda: ramify.flow_shop([[1, 65536]]), ValueError, r"times\[1\]"),
        (lambda: ramify.flow_shop(3), TypeError, "times: a int; must be rows of integers"),
        (lambda: ramify.flow_shop([]), ValueError, "machines"),
        (lambda: ramify.taillard(121), ValueError, r"number: 121; must be in \[1, 120\]"),
        (lambda: ramify.count_queens(28), ValueError, r"n: 28; must be in \[1, 27\]"),
        (lambda: ramify.count_queens(8, symmetry=1), TypeError, "symmetry: a int; must be True"),
    ],
)
def test_bad_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()
