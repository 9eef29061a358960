# SPDX-License-Identifier: BSD-3-Clause
"""Unbalanced Tree Search, and branch and bound: the knapsack, the flow shop, n queens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Sequence

import numpy

from . import _environment, _ramify
from ._arguments import flag, integer, real, text
from ._environment import Environment
from ._report import Report


@dataclass(frozen=True)
class UtsTree:
    """A tree of Unbalanced Tree Search, which is generated while it is visited.

    type:           ``geometric``, ``binomial`` or ``hybrid``: the distribution of the number of
                    children.
    shape:          ``linear``, ``exponential``, ``cyclic`` or ``fixed``: how the average number of
                    children of a geometric tree depends on the depth.
    depth:          the depth of a geometric tree, in [1, 10**6].
    root_branches:  the number of children of a binomial root, or the average of a geometric root.
    probability:    that a binomial node has children.
    branches:       the number of children of a binomial node that has any.
    shift:          where a hybrid tree becomes binomial, as a share of the depth, in [0, 1].
    seed:           of the root, a 32-bit number.

    tree_search() checks the fields.
    """

    type: str = "geometric"
    shape: str = "linear"
    depth: int = 6
    root_branches: float = 4
    probability: float = 15 / 64
    branches: int = 4
    shift: float = 0.5
    seed: int = 0


class TreeCounts(NamedTuple):
    """The counts of a tree."""

    nodes: int
    leaves: int
    depth: int  #: of the deepest node; the root's is 0


class TreeSearch(NamedTuple):
    """The result of a tree search."""

    counts: TreeCounts
    report: Report


def published_trees() -> dict[str, TreeCounts]:
    """Return the published trees of Unbalanced Tree Search by their names, with their counts."""
    return {name: TreeCounts(*counts) for name, counts in _ramify.uts_trees().items()}


def tree_search(
    tree: str | UtsTree,
    *,
    strategy: str = "work_sharing",
    capacity: int = 0,
    env: Environment | None = None,
) -> TreeSearch:
    """Count the nodes and leaves of a tree, and find its depth.

    tree:      the name of a published tree, such as ``T1``, or a UtsTree.
    strategy:  ``work_sharing``, or ``task_per_node``: the plain recursion.
    capacity:  the maximum number of frontier nodes between two rounds, at most 2**30; 0: a usual
               number.

    It takes a SHA-1 for each node. Raises TypeError for another type of an argument, ValueError
    that names a field, or if the frontier exceeds the capacity.
    """
    if isinstance(tree, str):
        parameters = _ramify.uts_tree(tree)
    elif isinstance(tree, UtsTree):
        parameters = _parameters(tree)
    else:
        raise TypeError(f"tree: a {type(tree).__name__}; must be a name or a ramify.UtsTree")
    *counts, report = _ramify.tree_search(
        parameters,
        text("strategy", strategy),
        integer("capacity", capacity, 0, 2**30),
        _environment.without_arrays(env),
    )
    return TreeSearch(TreeCounts(*counts), Report(report))


class Knapsack(NamedTuple):
    """The best choice of items."""

    profit: int
    weight: int
    chosen: numpy.ndarray  #: int64: the indices of the items, in increasing order
    is_optimal: bool  #: no choice is better; false only after a limit
    bound: int  #: no choice has a larger profit
    report: Report


def knapsack(
    weights: Sequence[int],
    profits: Sequence[int],
    capacity: int,
    *,
    max_nodes: int = 0,
    max_seconds: float = 0,
    env: Environment | None = None,
) -> Knapsack:
    """Choose items of the largest total profit whose total weight is at most the capacity.

    weights, profits:  at most 63 integers each, in [0, 2**31).
    capacity:          at least 0, in the unit of the weights.
    max_nodes:         the search ends after so many nodes; 0: no limit.
    max_seconds:       the search ends after this time; 0: no limit.

    The time is exponential in the worst case. Raises TypeError for another type of an argument,
    ValueError that names a faulty element or field.
    """
    weights = _integers("weights", weights)
    profits = _integers("profits", profits)
    if len(weights) != len(profits):
        raise ValueError(f"profits: {len(profits)} integers, but weights has {len(weights)}")
    profit, weight, chosen, *proof, report = _ramify.knapsack(
        weights,
        profits,
        integer("capacity", capacity, 0, 2**63 - 1),
        integer("max_nodes", max_nodes, 0, 2**63 - 1),
        real("max_seconds", max_seconds),
        _environment.without_arrays(env),
    )
    return Knapsack(profit, weight, numpy.array(chosen, "int64"), *proof, Report(report))


class FlowShop(NamedTuple):
    """The best order of jobs."""

    makespan: int  #: when the last job ends, in the unit of the times
    order: numpy.ndarray  #: int64: the jobs
    is_optimal: bool  #: no order is better; false after a limit, or for more than 20 jobs
    bound: int  #: no order has a smaller makespan
    report: Report


def flow_shop(
    times: Any, *, max_nodes: int = 0, max_seconds: float = 0, env: Environment | None = None
) -> FlowShop:
    """Find the order in which jobs pass through machines so that the last one ends early.

    times:        (machines, jobs): ``times[m, j]`` is the time of job j on machine m, an integer in
                  [0, 65535]; at most 20 machines and 500 jobs. All machines process the jobs in the
                  same order.
    max_nodes:    the search ends after so many nodes; 0: no limit.
    max_seconds:  the search ends after this time; 0: no limit.

    The order is optimal for at most 20 jobs; for more it is good. The time is exponential in the
    worst case. Raises TypeError for another type of an argument, ValueError that names a faulty
    element or field.
    """
    rows = list(times) if hasattr(times, "__iter__") and not isinstance(times, str) else None
    if rows is None:
        raise TypeError(f"times: a {type(times).__name__}; must be rows of integers")
    table = [_integers(f"times[{m}]", row) for m, row in enumerate(rows)]
    jobs = len(table[0]) if table else 0
    for m, row in enumerate(table):
        if len(row) != jobs:
            raise ValueError(f"times[{m}]: {len(row)} integers, but times[0] has {jobs}")
    makespan, order, *proof, report = _ramify.flow_shop(
        jobs,
        len(table),
        [time for row in table for time in row],
        integer("max_nodes", max_nodes, 0, 2**63 - 1),
        real("max_seconds", max_seconds),
        _environment.without_arrays(env),
    )
    return FlowShop(makespan, numpy.array(order, "int64"), *proof, Report(report))


class TaillardInstance(NamedTuple):
    """A flow shop of Taillard's benchmark."""

    times: numpy.ndarray  #: (machines, jobs) int64
    optimum: int | None  #: the minimum makespan; None for more than 20 jobs


def taillard(number: int) -> TaillardInstance:
    """Return instance ``number`` of Taillard's benchmark, in [1, 120]. The first 30 have 20 jobs.

    Raises TypeError or ValueError for another number.
    """
    jobs, machines, times, optimum = _ramify.taillard(integer("number", number, 1, 120))
    return TaillardInstance(numpy.array(times).reshape(machines, jobs), optimum or None)


class Queens(NamedTuple):
    """The counts of n queens."""

    solutions: int  #: all; images by symmetry count, too
    nodes: int  #: boards that the search visited
    report: Report


def count_queens(n: int, *, symmetry: bool = True, env: Environment | None = None) -> Queens:
    """Count the ways to place ``n`` queens on a board of n rows so that none attacks another.

    n:         in [1, 27]. The time grows by a factor of about 7 with each queen.
    symmetry:  whether the eight symmetries of the board are used.

    Raises TypeError for another type of an argument, ValueError if n is out of range.
    """
    *counts, report = _ramify.count_queens(
        integer("n", n, 1, 27), flag("symmetry", symmetry), _environment.without_arrays(env)
    )
    return Queens(*counts, Report(report))


def _parameters(tree: UtsTree) -> _ramify.UtsParameters:
    parameters = _ramify.UtsParameters()
    parameters.set_type(text("type", tree.type))
    parameters.set_shape(text("shape", tree.shape))
    for name in ("depth", "branches", "seed"):
        setattr(parameters, name, integer(name, getattr(tree, name), 0, 2**32 - 1))
    for name in ("root_branches", "probability", "shift"):
        setattr(parameters, name, real(name, getattr(tree, name)))
    return parameters


def _integers(name: str, values: Any) -> list[int]:
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise TypeError(f"{name}: a {type(values).__name__}; must be a sequence of integers")
    return [integer(f"{name}[{i}]", value) for i, value in enumerate(values)]
