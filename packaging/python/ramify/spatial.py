# SPDX-License-Identifier: BSD-3-Clause
"""Neighbors and clusters of points in two and three dimensions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

from . import _ramify
from ._arrays import Arrays, Environment, check, contiguous, dtype_of
from ._report import Report

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
    periodic box along each axis, 0 for an axis that is not periodic.

    The build takes O(n log n) time. Raises TypeError for another type of elements, ValueError for
    another shape, a NaN or an infinity; the message names the point.
    """

    def __init__(self, points: Any, *, leaf_size: int = 16, env: Environment | None = None):
        arrays = Arrays(points=points)
        self._dtype = dtype_of(points)
        check("points", points, _COORDINATES, 2)
        self._dim = points.shape[1]
        if self._dim not in (2, 3):
            raise ValueError(f"points: {self._dim} coordinates; must be 2 or 3")
        self._n = points.shape[0]
        self._arrays = arrays
        self._tree = _ramify.SpatialTree(
            contiguous(arrays, points), leaf_size, arrays.environment(env)
        )

    def __len__(self) -> int:
        return self._n

    @property
    def report(self) -> Report:
        """The report of the build."""
        return Report(self._tree.report())

    def query(
        self, queries: Any, k: int = 1, *, period: Any = None, env: Environment | None = None
    ) -> Neighbors:
        """Return the ``k`` points that are nearest to each query.

        Raises ValueError if k is less than 1, TypeError or ValueError for bad queries.
        """
        arrays, queries = self._queries(queries)
        shape = (queries.shape[0], _positive("k", k))
        found = Neighbors(arrays.empty(shape, "int32"), arrays.empty(shape, self._dtype))
        self._tree.nearest(queries, k, *found, self._period(period), False, arrays.environment(env))
        return found

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
        """
        shape = (self._n, _positive("k", k))
        arrays = self._arrays
        found = Neighbors(arrays.empty(shape, "int32"), arrays.empty(shape, self._dtype))
        self._tree.neighbors(
            k, exclude_self, *found, self._period(period), False, arrays.environment(env)
        )
        return found

    def ball_count(
        self, queries: Any, radius: float, *, period: Any = None, env: Environment | None = None
    ) -> Any:
        """Return the number of points at a distance of at most ``radius`` from each query: int32."""
        arrays, queries = self._queries(queries)
        counts = arrays.empty((queries.shape[0],), "int32")
        self._tree.ball_count(
            queries, float(radius), counts, self._period(period), arrays.environment(env)
        )
        return counts

    def ball_list(
        self, queries: Any, radius: float, *, period: Any = None, env: Environment | None = None
    ) -> Lists:
        """Return the points at a distance of at most ``radius`` from each query.

        The lists are made in memory of the host; for arrays on a GPU they are copied there.
        """
        arrays, queries = self._queries(queries)
        offsets, indices, _ = self._tree.ball_list(
            queries, float(radius), self._period(period), arrays.environment(env)
        )
        return Lists(
            arrays.from_host(offsets.view(numpy.int64)), arrays.from_host(indices.view(numpy.int32))
        )

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
        cluster is the least index of its core points.
        """
        labels = self._arrays.empty((self._n,), "int32")
        self._tree.clusters(
            float(radius), _positive("min_points", min_points), labels, self._period(period),
            self._arrays.environment(env),
        )
        return labels

    def _queries(self, queries: Any) -> tuple[Arrays, Any]:
        arrays = Arrays(queries=queries)
        if arrays.gpu != self._arrays.gpu:
            raise ValueError("queries: the array is not where the points of the tree were")
        check("queries", queries, (self._dtype,), 2)
        if queries.shape[1] != self._dim:
            raise ValueError(
                f"queries: {queries.shape[1]} coordinates, but the points have {self._dim}"
            )
        return arrays, contiguous(arrays, queries)

    def _period(self, period: Any) -> tuple[float, float, float]:
        if period is None:
            return (0.0, 0.0, 0.0)
        lengths = [float(length) for length in period]
        if len(lengths) != self._dim:
            raise ValueError(f"period: {len(lengths)} lengths; must be {self._dim}")
        return (*lengths, 0.0) if self._dim == 2 else tuple(lengths)


def _positive(name: str, value: int) -> int:
    if not 1 <= value < 2**31:
        raise ValueError(f"{name}: {value}; must be at least 1 and less than 2**31")
    return value
