# SPDX-License-Identifier: BSD-3-Clause
"""Polylines of Bezier curves, and triangle meshes of Bezier patches, to a given accuracy."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

from . import _ramify
from ._arguments import integer, real
from ._arrays import Arrays, check, contiguous
from ._environment import Environment
from ._memory import free_bytes
from ._report import Report


class Polylines(NamedTuple):
    """Polyline i has the points ``points[offsets[i]:offsets[i + 1]]``, in its curve's order."""

    points: Any  #: (m, 2) float64
    offsets: Any  #: (curves + 1) int64
    report: Report


class Mesh(NamedTuple):
    """A triangle mesh. It has no cracks where patches have the same border curve."""

    vertices: Any  #: (v, 3) float64, all different
    triangles: Any  #: (t, 3) int32: indices of vertices
    report: Report


def tessellate_curves(
    curves: Any,
    flatness: float = 0.01,
    *,
    max_depth: int = 16,
    max_pieces: int | None = None,
    env: Environment | None = None,
) -> Polylines:
    """Approximate cubic Bezier curves in the plane by polylines.

    curves:      (n, 4, 2) float64: four control points of each curve, finite and at most 1e100 in
                 magnitude.
    flatness:    the maximum distance of a curve from its polyline, in the unit of the points, in
                 [1e-100, 1e100].
    max_depth:   parts of a curve are halved only if they are longer than 2**-max_depth of its
                 parameter, in [1, 31]. The report has the number of segments that may be too far.
    max_pieces:  the maximum number of segments; None: as many as fit into the free memory of the
                 host, of which a segment takes about 64 bytes during the call.

    The result is made in memory of the host; for curves on a GPU it is copied there. Raises
    TypeError for another type, ValueError that names a faulty control point or field, MemoryError
    for more than max_pieces segments.
    """
    return Polylines(
        *_tessellated("curves", curves, (4, 2), 64, flatness, max_depth, max_pieces, env)
    )


def tessellate_patches(
    patches: Any,
    flatness: float = 0.01,
    *,
    max_depth: int = 16,
    max_pieces: int | None = None,
    env: Environment | None = None,
) -> Mesh:
    """Approximate bicubic Bezier patches by a triangle mesh.

    patches:     (n, 4, 4, 3) float64: the control points of each patch; ``patches[i, j, k]`` has the
                 weight B_j(u) B_k(v), where B are the Bernstein polynomials.
    flatness:    the maximum distance of the surface from the mesh, in the unit of the points, in
                 [1e-100, 1e100].
    max_depth:   edges in the parameter plane are halved only if they are longer than 2**-max_depth,
                 in [1, 31]. The report has the number of triangles that may be too far.
    max_pieces:  the maximum number of triangles; None: as many as fit into the free memory of the
                 host, of which a triangle takes about 300 bytes during the call.

    The result is made in memory of the host; for patches on a GPU it is copied there. Raises
    TypeError for another type, ValueError that names a faulty control point or field, MemoryError
    for more than max_pieces triangles.
    """
    return Mesh(
        *_tessellated("patches", patches, (4, 4, 3), 300, flatness, max_depth, max_pieces, env)
    )


def utah_teapot() -> numpy.ndarray:
    """Return the patches of the Utah teapot: (32, 4, 4, 3) float64. The z axis points up."""
    return _ramify.utah_teapot()


def _tessellated(
    name: str,
    shapes: Any,
    shape: tuple[int, ...],
    piece_bytes: int,
    flatness: float,
    max_depth: int,
    max_pieces: int | None,
    env: Environment | None,
) -> tuple[Any, Any, Report]:
    arrays = Arrays(env, **{name: shapes})
    check(name, shapes, ("float64",), 1 + len(shape))
    if tuple(shapes.shape[1:]) != shape:
        wanted = ", ".join(map(str, shape))
        raise ValueError(f"{name}: shape {tuple(shapes.shape)}; must be (n, {wanted})")
    if max_pieces is None:
        max_pieces = max(free_bytes() // piece_bytes, 1)
    call = _ramify.tessellate_curves if name == "curves" else _ramify.tessellate_patches
    first, second, report = call(
        contiguous(arrays, shapes),
        real("flatness", flatness),
        integer("max_depth", max_depth, 1, 31),
        integer("max_pieces", max_pieces, 1, 2**63 - 1),
        arrays.env,
    )
    return arrays.from_host(first), arrays.from_host(second), Report(report)
