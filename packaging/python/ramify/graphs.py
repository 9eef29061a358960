# SPDX-License-Identifier: BSD-3-Clause
"""Searches, paths, components and ranks of graphs."""

from __future__ import annotations

from typing import Any, NamedTuple

from . import _ramify
from ._arguments import flag, integer, real
from ._arrays import Arrays, check, contiguous, dtype_of
from ._environment import Environment
from ._run import AsyncRun


class Search(NamedTuple):
    """The result of a breadth-first search."""

    levels: Any  #: int32: the number of edges of a shortest path; -1 if there is none
    parents: Any  #: int32: the vertex before on a shortest path; -1 if there is none


class Paths(NamedTuple):
    """The shortest paths from a vertex."""

    distances: Any  #: of the type of the lengths; infinity, or 2**64 - 1, if there is no path
    parents: Any  #: int32: the vertex before on a shortest path; -1 if there is none


class Graph:
    """A graph of n vertices and m directed edges in compressed sparse rows.

    offsets:    (n + 1) int64: vertex v has edges to ``targets[offsets[v]:offsets[v + 1]]``.
    targets:    (m) int32.
    symmetric:  whether the arrays have each edge in both directions; this is not checked. Searches
                then take less time.

    The graph refers to the arrays. Each call checks them, and raises ValueError that names a faulty
    index. Of arrays that are not contiguous each call makes copies, in its stream.
    """

    def __init__(self, offsets: Any, targets: Any, *, symmetric: bool = False):
        self._arrays = Arrays(None, offsets=offsets, targets=targets)
        check("offsets", offsets, ("int64",))
        check("targets", targets, ("int32",))
        if offsets.shape[0] == 0:
            raise ValueError("offsets: no elements; must be one more than vertices")
        self._edges = (offsets, targets)
        self._symmetric = flag("symmetric", symmetric)
        self._n = offsets.shape[0] - 1

    def __len__(self) -> int:
        return self._n

    def _contiguous(self, arrays: Arrays) -> tuple[Any, Any]:
        """Return offsets and targets as contiguous arrays, made in the stream of a call."""
        offsets, targets = self._edges
        return contiguous(arrays, offsets), contiguous(arrays, targets)

    def breadth_first_search(self, source: int, *, env: Environment | None = None) -> Search:
        """Return levels and parents of a breadth-first search from the vertex ``source``.

        It takes O(n + m) time. Raises TypeError if source is no integer, ValueError if it is no
        vertex.
        """
        found, arguments = self._search(source, env)
        _ramify.breadth_first_search(*arguments)
        return found

    def breadth_first_search_async(
        self, source: int, *, env: Environment | None = None
    ) -> AsyncRun:
        """Start breadth_first_search(), without waiting for the GPU.

        ``result`` of the run is the Search. Raises the errors of breadth_first_search(); get()
        raises those of a faulty graph.
        """
        found, arguments = self._search(source, env)
        return AsyncRun(_ramify.breadth_first_search_async(*arguments), found, arguments)

    def shortest_paths(
        self, lengths: Any, source: int, *, delta: float = 0, env: Environment | None = None
    ) -> Paths:
        """Return the shortest paths from ``source``.

        lengths:  (m) of type float32, float64 or uint64: the length of each edge, 0 or more, in the
                  order of the targets.
        delta:    the width of a bucket of distances, in the unit of the lengths; 0: it is computed.

        Raises TypeError for other types of arguments, ValueError for a negative length or one that
        is not finite, for another number of lengths, and if source is no vertex.
        """
        found, arguments = self._paths(lengths, source, delta, env)
        _ramify.shortest_paths(*arguments)
        return found

    def shortest_paths_async(
        self, lengths: Any, source: int, *, delta: float = 0, env: Environment | None = None
    ) -> AsyncRun:
        """Start shortest_paths(), without waiting for the GPU. ``result`` of the run is the Paths.

        Raises the errors of shortest_paths(); get() raises those of a bad length and of a faulty
        graph.
        """
        found, arguments = self._paths(lengths, source, delta, env)
        return AsyncRun(_ramify.shortest_paths_async(*arguments), found, arguments)

    def connected_components(self, *, env: Environment | None = None) -> Any:
        """Return the smallest vertex of the component of each vertex: int32.

        The direction of edges is ignored. It takes about O(n + m) time.
        """
        labels, arguments = self._components(env)
        _ramify.connected_components(*arguments)
        return labels

    def connected_components_async(self, *, env: Environment | None = None) -> AsyncRun:
        """Start connected_components(), without waiting for the GPU.

        ``result`` of the run is the array of labels; get() raises the errors of a faulty graph.
        """
        labels, arguments = self._components(env)
        return AsyncRun(_ramify.connected_components_async(*arguments), labels, arguments)

    def pagerank(
        self,
        *,
        damping: float = 0.85,
        tolerance: float = 1e-6,
        max_iterations: int = 100,
        env: Environment | None = None,
    ) -> Any:
        """Return the PageRank of each vertex: float64. The sum is about 1.

        damping:         the share of a rank that follows edges.
        tolerance:       the iteration ends when the absolute changes of all ranks add up to at most
                         this number.
        max_iterations:  the iteration also ends after so many; each takes O(n + m) time.

        Raises TypeError for other types of arguments, ValueError that names a field out of range.
        """
        ranks, arguments = self._ranks(damping, tolerance, max_iterations, env)
        _ramify.pagerank(*arguments)
        return ranks

    def pagerank_async(
        self,
        *,
        damping: float = 0.85,
        tolerance: float = 1e-6,
        max_iterations: int = 100,
        env: Environment | None = None,
    ) -> AsyncRun:
        """Start pagerank(), without waiting for the GPU.

        ``result`` of the run is the array of ranks. Raises the errors of pagerank(); get()
        raises those of a faulty graph.
        """
        ranks, arguments = self._ranks(damping, tolerance, max_iterations, env)
        return AsyncRun(_ramify.pagerank_async(*arguments), ranks, arguments)

    def _search(self, source: int, env: Environment | None) -> tuple[Search, tuple[Any, ...]]:
        """Return the result of a search, without values, and the arguments of the function."""
        source = integer("source", source, -(2**63), 2**63 - 1)
        arrays = self._arrays.at(env)
        found = Search(arrays.empty((self._n,), "int32"), arrays.empty((self._n,), "int32"))
        return found, (*self._contiguous(arrays), self._symmetric, source, *found, arrays.env)

    def _paths(
        self, lengths: Any, source: int, delta: float, env: Environment | None
    ) -> tuple[Paths, tuple[Any, ...]]:
        """Return the result of shortest paths, without values, and the function's arguments."""
        arrays = Arrays(env, offsets=self._edges[0], targets=self._edges[1], lengths=lengths)
        check("lengths", lengths, ("float32", "float64", "uint64"))
        source = integer("source", source, -(2**63), 2**63 - 1)
        delta = real("delta", delta)
        found = Paths(
            arrays.empty((self._n,), dtype_of(lengths)), arrays.empty((self._n,), "int32")
        )
        inputs = (*self._contiguous(arrays), contiguous(arrays, lengths))
        return found, (*inputs, source, delta, *found, arrays.env)

    def _components(self, env: Environment | None) -> tuple[Any, tuple[Any, ...]]:
        """Return the labels, without values, and the arguments of the function."""
        arrays = self._arrays.at(env)
        labels = arrays.empty((self._n,), "int32")
        return labels, (*self._contiguous(arrays), self._symmetric, labels, arrays.env)

    def _ranks(
        self, damping: float, tolerance: float, max_iterations: int, env: Environment | None
    ) -> tuple[Any, tuple[Any, ...]]:
        """Return the ranks, without values, and the arguments of the function."""
        options = (
            real("damping", damping),
            real("tolerance", tolerance),
            integer("max_iterations", max_iterations, 0, 2**32 - 1),
        )
        arrays = self._arrays.at(env)
        ranks = arrays.empty((self._n,), "float64")
        return ranks, (*self._contiguous(arrays), *options, ranks, arrays.env)
