# SPDX-License-Identifier: BSD-3-Clause
"""Properties of rooted trees and forests."""

from __future__ import annotations

from typing import Any, NamedTuple

from . import _ramify
from ._arguments import text
from ._arrays import Arrays, check, contiguous, dtype_of
from ._environment import Environment
from ._run import AsyncRun


class TreeNumbers(NamedTuple):
    """Numbers of each node: int32."""

    levels: Any  #: the distance to the root
    subtree_sizes: Any  #: the number of nodes below, itself included
    preorder: Any  #: from 0 on; roots and siblings are in the order of their indices
    postorder: Any  #: from 0 on, in the same order


def rooted_tree(parents: Any, *, env: Environment | None = None) -> TreeNumbers:
    """Return numbers of the nodes of a forest.

    parents:  (n) int32: the parent of each node, -1 for a root.

    It takes O(n log n) time. Raises TypeError for another type of elements, ValueError that names a
    node if a parent is no node, or if there is a cycle.
    """
    numbers, arguments = _numbers(parents, env)
    _ramify.rooted_tree(*arguments)
    return numbers


def rooted_tree_async(parents: Any, *, env: Environment | None = None) -> AsyncRun:
    """Start rooted_tree(), without waiting for the GPU. ``result`` of the run is the TreeNumbers.

    Raises TypeError for another type of elements; get() raises the ValueError for a faulty forest.
    """
    numbers, arguments = _numbers(parents, env)
    return AsyncRun(_ramify.rooted_tree_async(*arguments), numbers, arguments)


def leaffix(
    parents: Any, values: Any, operator: str = "sum", *, env: Environment | None = None
) -> Any:
    """Return for each node the fold of the values of its subtree.

    parents:   (n) int32: the parent of each node, -1 for a root.
    values:    (n) int64 or float64. A sum of integers wraps around.
    operator:  ``sum``, ``minimum`` or ``maximum``.

    The result has the type of the values. Raises TypeError for another type of elements, ValueError
    for another operator, another number of values, a parent that is no node, or a cycle.
    """
    folds, arguments = _fold(parents, values, operator, True, env)
    _ramify.fold_tree(*arguments)
    return folds


def leaffix_async(
    parents: Any, values: Any, operator: str = "sum", *, env: Environment | None = None
) -> AsyncRun:
    """Start leaffix(), without waiting for the GPU. ``result`` of the run is the array of folds.

    Raises the errors of leaffix(); get() raises those of a faulty forest.
    """
    folds, arguments = _fold(parents, values, operator, True, env)
    return AsyncRun(_ramify.fold_tree_async(*arguments), folds, arguments)


def rootfix(
    parents: Any, values: Any, operator: str = "sum", *, env: Environment | None = None
) -> Any:
    """Return for each node the fold of the values on the path from the root to it.

    The arguments are those of leaffix().
    """
    folds, arguments = _fold(parents, values, operator, False, env)
    _ramify.fold_tree(*arguments)
    return folds


def rootfix_async(
    parents: Any, values: Any, operator: str = "sum", *, env: Environment | None = None
) -> AsyncRun:
    """Start rootfix(), without waiting for the GPU. ``result`` of the run is the array of folds.

    Raises the errors of leaffix(); get() raises those of a faulty forest.
    """
    folds, arguments = _fold(parents, values, operator, False, env)
    return AsyncRun(_ramify.fold_tree_async(*arguments), folds, arguments)


def _numbers(parents: Any, env: Environment | None) -> tuple[TreeNumbers, tuple[Any, ...]]:
    """Return the result of rooted_tree(), without values, and the arguments of the function."""
    arrays = Arrays(env, parents=parents)
    check("parents", parents, ("int32",))
    numbers = TreeNumbers(*(arrays.empty((parents.shape[0],), "int32") for _ in range(4)))
    return numbers, (contiguous(arrays, parents), *numbers, arrays.env)


def _fold(
    parents: Any, values: Any, operator: str, of_subtrees: bool, env: Environment | None
) -> tuple[Any, tuple[Any, ...]]:
    """As _numbers(), for folds."""
    arrays = Arrays(env, parents=parents, values=values)
    check("parents", parents, ("int32",))
    check("values", values, ("int64", "float64"))
    if values.shape[0] != parents.shape[0]:
        raise ValueError(f"values: {values.shape[0]} elements, but parents has {parents.shape[0]}")
    folds = arrays.empty((parents.shape[0],), dtype_of(values))
    inputs = (contiguous(arrays, parents), contiguous(arrays, values))
    return folds, (*inputs, folds, text("operator", operator), of_subtrees, arrays.env)
