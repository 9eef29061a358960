# SPDX-License-Identifier: BSD-3-Clause
"""Polylines and triangle meshes beside points of the curves and surfaces."""

import numpy
import pytest

import ramify


def bernstein(t):
    return numpy.stack([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3])


def distance_to_segments(points, line):
    """Return the distance of each point from a polyline."""
    first, step = line[:-1], numpy.diff(line, axis=0)
    along = ((points[:, None] - first) * step).sum(2) / (step**2).sum(1)
    nearest = first + numpy.clip(along, 0, 1)[..., None] * step
    return numpy.linalg.norm(points[:, None] - nearest, axis=2).min(1)


@pytest.mark.parametrize("flatness", [0.1, 0.001])
def test_polylines_are_near_their_curves(flatness):
    curves = numpy.random.default_rng(1).random((20, 4, 2))
    found = ramify.tessellate_curves(curves, flatness)
    assert found.offsets[0] == 0 and found.offsets[-1] == len(found.points)
    worst = 0
    for i, curve in enumerate(curves):
        line = found.points[found.offsets[i] : found.offsets[i + 1]]
        numpy.testing.assert_array_equal(line[[0, -1]], curve[[0, 3]])
        on_curve = bernstein(numpy.linspace(0, 1, 200)).T @ curve
        worst = max(worst, distance_to_segments(on_curve, line).max())
    assert worst <= flatness
    assert worst > flatness / 100  # not much finer than asked
    assert found.report.number("points") == len(found.points)


def test_the_teapot_has_no_cracks():
    patches = ramify.utah_teapot()
    assert patches.shape == (32, 4, 4, 3)
    coarse, fine = (ramify.tessellate_patches(patches, flatness) for flatness in (0.1, 0.02))
    assert len(fine.triangles) > len(coarse.triangles) > 100
    corners = fine.vertices[fine.triangles]
    assert corners.shape == (len(fine.triangles), 3, 3)
    # Each edge inside of the surface has two triangles; Euler's formula would not show a crack.
    edges = numpy.sort(fine.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    _, uses = numpy.unique(edges, axis=0, return_counts=True)
    assert uses.max() <= 2 and numpy.mean(uses == 2) > 0.9
    # All points of the surface are near a vertex of a fine mesh.
    t = numpy.array([0.0, 0.3, 0.8])
    weights = bernstein(t)
    surface = numpy.einsum("ia,jb,pijx->pabx", weights, weights, patches).reshape(-1, 3)
    assert surface.min() >= fine.vertices.min() - 0.02
    assert surface.max() <= fine.vertices.max() + 0.02


def test_a_flat_patch_is_two_triangles():
    x, y = numpy.meshgrid(numpy.arange(4.0), numpy.arange(4.0), indexing="ij")
    found = ramify.tessellate_patches(numpy.stack([x, y, 0 * x], axis=-1)[None])
    assert found.vertices.tolist() == [[0, 0, 0], [0, 3, 0], [3, 0, 0], [3, 3, 0]]
    corners = found.vertices[found.triangles]
    areas = numpy.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 2] / 2
    assert len(areas) == 2 and areas.tolist() == [4.5, 4.5]


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda c: ramify.tessellate_curves(c.astype("float32")), TypeError, "curves: elements of"),
        (
            lambda c: ramify.tessellate_curves(c[:, :3]),
            ValueError,
            r"curves: shape \(5, 3, 2\); mu",
        ),
        (lambda c: ramify.tessellate_patches(c), ValueError, "patches: 3 dimensions; must be 4"),
        (lambda c: ramify.tessellate_curves(c, 0), ValueError, "flatness"),
        (
            lambda c: ramify.tessellate_curves(c, "fine"),
            TypeError,
            "flatness: a str; must be a num",
        ),
        (lambda c: ramify.tessellate_curves(c, max_depth=32), ValueError, "max_depth: 32; must be"),
        (lambda c: ramify.tessellate_curves(c * numpy.nan), ValueError, r"curves\[0\].points\[0\]"),
    ],
)
def test_bad_shapes(call, error, message):
    with pytest.raises(error, match=message):
        call(numpy.random.default_rng(1).random((5, 4, 2)))


def test_too_many_pieces_raise_instead_of_filling_the_memory(monkeypatch):
    curves = numpy.random.default_rng(1).random((5, 4, 2))
    pieces = int(ramify.tessellate_curves(curves).report.number("pieces"))
    assert len(ramify.tessellate_curves(curves, max_pieces=pieces).points) == pieces + 5
    with pytest.raises(MemoryError, match=f"more than {pieces - 1} pieces"):
        ramify.tessellate_curves(curves, max_pieces=pieces - 1)
    monkeypatch.setattr("ramify.surfaces.free_bytes", lambda: 64_000)
    with pytest.raises(MemoryError, match="more than 1000 pieces"):
        ramify.tessellate_curves(curves, 1e-100, max_depth=31)
    with pytest.raises(MemoryError, match="more than 213 pieces"):
        ramify.tessellate_patches(ramify.utah_teapot(), 1e-3)


def test_no_shapes():
    assert ramify.tessellate_curves(numpy.zeros((0, 4, 2))).points.shape == (0, 2)
    assert ramify.tessellate_patches(numpy.zeros((0, 4, 4, 3))).triangles.shape == (0, 3)
