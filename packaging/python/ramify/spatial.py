# SPDX-License-Identifier: BSD-3-Clause
"""Neighbors and clusters of points in two and three dimensions."""

from __future__ import annotations

from typing import Any, NamedTuple

from . import _ramify
from ._arguments import flag, integer, real, reals
from ._arrays import Arrays, check, contiguous, dtype_of
from ._environment import Environment
from ._memory import check_result, free_bytes
from ._report import Report
from ._run import AsyncRun

_COORDINATES = ("float32", "float64")


class Neighbors(NamedTuple):
    """The nearest points of each query, sorted by distance, then by index."""

    indices: Any  #: (queries, k) int32; -1 if there are fewer than k points
    distances: Any  #: (queries, k) of the type of the coordinates; infinity if there are fewer


class Lists(NamedTuple):
    """The points in the ball of query i: ``indices[offsets[i]:offsets[i + 1]]``."""

    offsets: Any  #: (queries + 1) int64
    indices: Any  #: int32


class SpatialTree:
    """A tree over points, which answers queries. It has its own copy of the points.

    points:     (n, 2) or (n, 3) finite numbers of type float32 or float64.
    leaf_size:  the maximum number of points of a leaf, in [1, 1024].

    Queries have the type and the number of coordinates of the points. ``period`` is the length of a
    periodic box along each axis, 0 for an axis that is not periodic. Lengths and distances have the
    unit of the coordinates. Threads may ask queries of one tree at the same time, but not during
    refit().

    The build takes O(n log n) time. Raises TypeError for another type of elements, ValueError for
    another shape, a NaN or an infinity; the message names the point.
    """

    def __init__(self, points: Any, *, leaf_size: int = 16, env: Environment | None = None):
        arrays = Arrays(env, points=points)
        self._dtype = dtype_of(points)
        check("points", points, _COORDINATES, 2)
        self._dim = points.shape[1]
        if self._dim not in (2, 3):
            raise ValueError(f"points: {self._dim} coordinates; must be 2 or 3")
        self._n = points.shape[0]
        self._arrays = arrays
        self._tree = _ramify.SpatialTree(
            contiguous(arrays, points),
            integer("leaf_size", leaf_size, 1, 1024),
            arrays.env,
        )

    def __len__(self) -> int:
        """Return the number of points."""
        return self._n

    @property
    def report(self) -> Report:
        """The report of the build."""
        return Report(self._tree.report())

    def refit(self, positions: Any, *, env: Environment | None = None) -> None:
        """Move all points to new positions, without a sort, in O(n) time.

        positions:  (n, 2) or (n, 3) of the type of the points: one for each point, in their order.

        Queries are exact, and take longer the more points have moved apart; then build a new tree.
        Raises TypeError or ValueError as the constructor does; then the tree is unchanged.
        """
        arrays, positions = self._like_points(env, "positions", positions)
        if positions.shape[0] != self._n:
            raise ValueError(f"positions: {positions.shape[0]}, but the tree has {self._n} points")
        self._tree.refit(positions, arrays.env)

    def query(
        self, queries: Any, k: int = 1, *, period: Any = None, env: Environment | None = None
    ) -> Neighbors:
        """Return the ``k`` points that are nearest to each query.

        queries:  (m, 2) or (m, 3) of the type of the points.

        Raises TypeError for another type of an argument, ValueError if k is less than 1 or for bad
        queries, MemoryError if the result does not fit into the free memory of the host.
        """
        found, arguments = self._query(queries, k, period, env)
        self._tree.nearest(*arguments)
        return found

    def query_async(
        self, queries: Any, k: int = 1, *, period: Any = None, env: Environment | None = None
    ) -> AsyncRun:
        """Start query(), without waiting for the GPU. ``result`` of the run is the Neighbors.

        Do not call refit() before get(), except in the same stream. Raises the errors of query().
        """
        found, arguments = self._query(queries, k, period, env)
        return AsyncRun(self._tree.nearest_async(*arguments), found, arguments, self)

    def neighbors(
        self,
        k: int,
        *,
        exclude_self: bool = True,
        period: Any = None,
        env: Environment | None = None,
    ) -> Neighbors:
        """Return the ``k`` points that are nearest to each point of the tree, in the points' order.

        exclude_self:  whether a point is not its own neighbor; copies of it are neighbors.

        Raises the errors of query().
        """
        found, arguments = self._neighbors(k, exclude_self, period, env)
        self._tree.neighbors(*arguments)
        return found

    def neighbors_async(
        self,
        k: int,
        *,
        exclude_self: bool = True,
        period: Any = None,
        env: Environment | None = None,
    ) -> AsyncRun:
        """Start neighbors(), without waiting for the GPU. ``result`` of the run is the Neighbors.

        What query_async() states about refit() holds here, too. Raises the errors of query().
        """
        found, arguments = self._neighbors(k, exclude_self, period, env)
        return AsyncRun(self._tree.neighbors_async(*arguments), found, arguments, self)

    def ball_count(
        self, queries: Any, radius: float, *, period: Any = None, env: Environment | None = None
    ) -> Any:
        """Return the number of points at a distance of at most ``radius`` from each query: int32.

        Raises TypeError for another type of an argument, ValueError for a radius that is negative
        or NaN, or for bad queries.
        """
        counts, arguments = self._ball_count(queries, radius, period, env)
        self._tree.ball_count(*arguments)
        return counts

    def ball_count_async(
        self, queries: Any, radius: float, *, period: Any = None, env: Environment | None = None
    ) -> AsyncRun:
        """Start ball_count(), without waiting for the GPU. ``result`` of the run is the counts.

        What query_async() states about refit() holds here, too. Raises the errors of ball_count().
        """
        counts, arguments = self._ball_count(queries, radius, period, env)
        return AsyncRun(self._tree.ball_count_async(*arguments), counts, arguments, self)

    def ball_list(
        self,
        queries: Any,
        radius: float,
        *,
        max_indices: int | None = None,
        period: Any = None,
        env: Environment | None = None,
    ) -> Lists:
        """Return the points at a distance of at most ``radius`` from each query.

        max_indices:  the maximum number of indices of all lists; None: as many as fit into the free
                      memory of the host, of which an index takes 8 bytes during the call.

        A first pass counts the points. The lists are made in memory of the host; for arrays on a
        GPU they are copied there. Raises the errors of ball_count(), and MemoryError with the
        number of indices if there are more than max_indices; then no list has been made.
        """
        arrays, queries = self._like_points(env, "queries", queries)
        if max_indices is None:
            max_indices = max(free_bytes() // 8, 1)
        offsets, indices = self._tree.ball_list(
            queries,
            real("radius", radius),
            self._period(period),
            integer("max_indices", max_indices, 1, 2**63 - 1),
            arrays.env,
        )
        return Lists(arrays.from_host(offsets), arrays.from_host(indices))

    def clusters(
        self,
        radius: float,
        min_points: int = 1,
        *,
        period: Any = None,
        env: Environment | None = None,
    ) -> Any:
        """Return the label of the cluster of each point: int32, and -1 for noise.

        Clusters are those of DBSCAN; with ``min_points=1``, friends of friends. A point with at
        least ``min_points`` points in its ball, itself included, is a core point. The label of a
        cluster is the least index of its core points. Raises the errors of ball_count().
        """
        labels, arguments = self._clusters(radius, min_points, period, env)
        self._tree.clusters(*arguments)
        return labels

    def clusters_async(
        self,
        radius: float,
        min_points: int = 1,
        *,
        period: Any = None,
        env: Environment | None = None,
    ) -> AsyncRun:
        """Start clusters(), without waiting for the GPU. ``result`` of the run is the labels.

        What query_async() states about refit() holds here, too. Raises the errors of ball_count().
        """
        labels, arguments = self._clusters(radius, min_points, period, env)
        return AsyncRun(self._tree.clusters_async(*arguments), labels, arguments, self)

    def _query(
        self, queries: Any, k: int, period: Any, env: Environment | None
    ) -> tuple[Neighbors, tuple[Any, ...]]:
        """Return the result of query(), without values, and the arguments of the tree's method."""
        arrays, queries = self._like_points(env, "queries", queries)
        found = self._rows(arrays, queries.shape[0], k)
        k = found.indices.shape[1]
        return found, (queries, k, *found, self._period(period), arrays.env)

    def _neighbors(
        self, k: int, exclude_self: bool, period: Any, env: Environment | None
    ) -> tuple[Neighbors, tuple[Any, ...]]:
        """As _query(), for neighbors()."""
        exclude_self = flag("exclude_self", exclude_self)
        arrays = self._arrays.at(env)
        arrays.use_memory_of(self._arrays)
        found = self._rows(arrays, self._n, k)
        k = found.indices.shape[1]
        return found, (k, exclude_self, *found, self._period(period), arrays.env)

    def _ball_count(
        self, queries: Any, radius: float, period: Any, env: Environment | None
    ) -> tuple[Any, tuple[Any, ...]]:
        """As _query(), for ball_count()."""
        arrays, queries = self._like_points(env, "queries", queries)
        counts = arrays.empty((queries.shape[0],), "int32")
        radius, period = real("radius", radius), self._period(period)
        return counts, (queries, radius, counts, period, arrays.env)

    def _clusters(
        self, radius: float, min_points: int, period: Any, env: Environment | None
    ) -> tuple[Any, tuple[Any, ...]]:
        """As _query(), for clusters()."""
        arrays = self._arrays.at(env)
        arrays.use_memory_of(self._arrays)
        labels = arrays.empty((self._n,), "int32")
        radius, min_points = real("radius", radius), integer("min_points", min_points, 1)
        return labels, (radius, min_points, labels, self._period(period), arrays.env)

    def _rows(self, arrays: Arrays, rows: int, k: int) -> Neighbors:
        """Return arrays for k neighbors of each of so many queries."""
        shape = (rows, integer("k", k, 1))
        # Each of the two arrays only checks that it fits into the memory alone.
        if arrays.gpu is None:
            number = 4 + (4 if self._dtype == "float32" else 8)
            check_result("indices and distances", rows * shape[1], number)
        return Neighbors(arrays.empty(shape, "int32"), arrays.empty(shape, self._dtype))

    def _like_points(
        self, env: Environment | None, name: str, array: Any
    ) -> tuple[Arrays, Any]:
        """Return an array of points, after all checks, as a contiguous one."""
        arrays = Arrays(env, **{name: array})
        if arrays.gpu != self._arrays.gpu:
            raise ValueError(f"{name}: the array is not where the points of the tree were")
        arrays.use_memory_of(self._arrays)  # the tree's, which exists until the call is complete
        check(name, array, (self._dtype,), 2)
        if array.shape[1] != self._dim:
            raise ValueError(
                f"{name}: {array.shape[1]} coordinates, but the points have {self._dim}"
            )
        return arrays, contiguous(arrays, array)

    def _period(self, period: Any) -> list[float]:
        if period is None:
            return [0.0, 0.0, 0.0]
        lengths = reals("period", period, self._dim)
        return lengths if self._dim == 3 else [*lengths, 0.0]
