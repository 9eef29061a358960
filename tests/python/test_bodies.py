# SPDX-License-Identifier: BSD-3-Clause
"""Gravity, collisions and simulations beside NumPy's sums over all pairs, and SciPy's trees."""

import numpy
import pytest

import ramify

spatial = pytest.importorskip("scipy.spatial")


def cluster(n=300, dtype="float64", seed=1):
    rng = numpy.random.default_rng(seed)
    return rng.normal(size=(n, 3)).astype(dtype), (rng.random(n) + 0.5).astype(dtype)


def direct(positions, masses, softening, constant=1.0):
    step = positions[None].astype("float64") - positions[:, None]
    squared = (step**2).sum(2) + softening**2
    numpy.fill_diagonal(squared, numpy.inf)
    inverse = masses / numpy.sqrt(squared)
    return constant * (step * (inverse / squared)[..., None]).sum(1), -constant * inverse.sum(1)


@pytest.mark.parametrize("dtype, near", [("float32", 1e-4), ("float64", 1e-11)])
def test_the_direct_sum(dtype, near):
    positions, masses = cluster(dtype=dtype)
    options = ramify.NBodyOptions(method="direct", softening=0.1, gravitational_constant=2)
    found = ramify.gravity(positions, masses, options)
    accelerations, potentials = direct(positions, masses, 0.1, 2.0)
    assert found.accelerations.dtype == dtype and found.potentials.dtype == dtype
    numpy.testing.assert_allclose(found.accelerations, accelerations, atol=near * 100)
    numpy.testing.assert_allclose(found.potentials, potentials, rtol=near)
    assert found.report["method"] == "direct"


def test_the_tree_code_keeps_its_tolerance():
    positions, masses = cluster(2000)
    found = ramify.gravity(positions, masses, ramify.NBodyOptions(tolerance=0.1, softening=0.05))
    expected, _ = direct(positions, masses, 0.05)
    error = numpy.linalg.norm(found.accelerations - expected, axis=1)
    relative = error / numpy.linalg.norm(expected, axis=1)
    assert 0 < numpy.sqrt((relative**2).mean()) < 0.001  # 0.1 per cent
    assert found.report.number("interactions") < 2000 * 1999


@pytest.mark.parametrize("radius", [0.01, 0.2])
def test_collisions(radius):
    positions, _ = cluster(500)
    expected = spatial.cKDTree(positions).query_pairs(2 * radius, output_type="ndarray")
    found = ramify.find_collisions(positions, numpy.full(500, radius))
    assert found.dtype == "int32" and found.shape == expected.shape
    assert set(map(tuple, found.tolist())) == set(map(tuple, expected.tolist()))
    if radius > 0.1:
        assert len(found) > 500  # the first list was too short


def test_two_bodies_move_on_a_circle():
    # Masses 1 at a distance of 1: each moves on a circle of radius 1/2 with the speed sqrt(1/2).
    positions = numpy.array([[0.5, 0, 0], [-0.5, 0, 0]])
    velocities = numpy.array([[0, 0.5**0.5, 0], [0, -(0.5**0.5), 0]])
    bodies = ramify.NBodySimulation(positions, velocities, numpy.ones(2))
    before = bodies.conserved
    assert before.energy == pytest.approx(0.5 - 1) and before.momentum == (0, 0, 0)
    assert before.angular_momentum[2] == pytest.approx(0.5**0.5)
    period = numpy.pi * 2**0.5
    bodies.step(period / 2000, 1000)
    numpy.testing.assert_allclose(bodies.positions, -positions, atol=1e-4)
    bodies.step(period / 2000, 1000)
    numpy.testing.assert_allclose(bodies.positions, positions, atol=1e-4)
    numpy.testing.assert_allclose(bodies.velocities, velocities, atol=1e-4)
    numpy.testing.assert_allclose(bodies.accelerations, -2 * positions, atol=1e-3)
    numpy.testing.assert_allclose(bodies.potentials, [-1, -1], rtol=1e-4)
    assert bodies.conserved.energy == pytest.approx(before.energy, rel=1e-6)
    assert len(bodies) == 2 and bodies.report.number("bodies") == 2


def test_a_harmonic_trap():
    # Massless bodies in a trap: x(t) = x0 cos(omega t).
    positions = numpy.array([[1.0, 0, 0], [0, 2, 0], [0, 0, -3]])
    field = ramify.NBodyField(stiffness=4)
    bodies = ramify.NBodySimulation(positions, 0 * positions, numpy.zeros(3), field=field)
    bodies.step(0.001, 500)
    numpy.testing.assert_allclose(bodies.positions, positions * numpy.cos(1.0), atol=1e-5)


def test_block_time_steps():
    positions, masses = cluster(200)
    options = ramify.NBodyOptions(softening=0.05, step_levels=3)
    bodies = ramify.NBodySimulation(positions, 0 * positions, masses / 200, options)
    before = bodies.conserved.energy
    bodies.step(0.01, 3)
    assert bodies.conserved.energy == pytest.approx(before, rel=1e-3)
    assert "bodies on each level of steps" in bodies.report.fields


@pytest.mark.parametrize(
    "change, error, message",
    [
        (
            lambda x, m: ramify.gravity(x.astype("int64"), m),
            TypeError,
            "positions: elements of type",
        ),
        (
            lambda x, m: ramify.gravity(x, m.astype("float32")),
            TypeError,
            "masses: elements of type",
        ),
        (
            lambda x, m: ramify.gravity(x[:, :2], m),
            ValueError,
            "positions: 2 coordinates; must be 3",
        ),
        (
            lambda x, m: ramify.gravity(x, m[1:]),
            ValueError,
            "masses: 9 elements, but positions has",
        ),
        (lambda x, m: ramify.gravity(x, m * numpy.nan), ValueError, "0"),
        (lambda x, m: ramify.gravity(x, m, {}), TypeError, "options: a dict; must be ramify.NBody"),
        (lambda x, m: _with(x, m, theta=3), ValueError, "theta"),
        (lambda x, m: _with(x, m, theta="3"), TypeError, "options.theta: a str; must be a number"),
        (lambda x, m: _with(x, m, order=1.5), TypeError, "options.order: a float; must be an int"),
        (lambda x, m: _with(x, m, method="fmm"), ValueError, "method 'fmm'"),
        (lambda x, m: ramify.find_collisions(x, -m), ValueError, "radii|radius|body"),
        (
            lambda x, m: ramify.NBodySimulation(x, x[1:], m),
            ValueError,
            "velocities: 9 elements, but",
        ),
        (
            lambda x, m: ramify.NBodySimulation(x, x, m, field=3),
            TypeError,
            "field: a int; must be a",
        ),
        (
            lambda x, m: _in_field(x, m, uniform=(1, 2)),
            ValueError,
            "field.uniform: 2 numbers; must",
        ),
        (lambda x, m: _in_field(x, m, core_radius=-1), ValueError, "core_radius"),
        (
            lambda x, m: ramify.NBodySimulation(x, x, m).step("1"),
            TypeError,
            "dt: a str; must be a nu",
        ),
        (
            lambda x, m: ramify.NBodySimulation(x, x, m).step(1, -1),
            ValueError,
            "count: -1; must be",
        ),
    ],
)
def test_bad_arguments(change, error, message):
    positions, masses = cluster(10)
    with pytest.raises(error, match=message):
        change(positions, masses)


def _with(positions, masses, **options):
    return ramify.gravity(positions, masses, ramify.NBodyOptions(**options))


def _in_field(positions, masses, **field):
    return ramify.NBodySimulation(positions, positions, masses, field=ramify.NBodyField(**field))
