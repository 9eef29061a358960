# SPDX-License-Identifier: BSD-3-Clause
"""Flow on adaptive meshes beside exact solutions."""

import numpy
import pytest

import ramify

optimize = pytest.importorskip("scipy.optimize")

GAMMA = 1.4


def sod_density(xi):
    """Return the density of Sod's shock tube where (x - 1/2) / t = xi (E. F. Toro's solution)."""
    sound_left, sound_right = numpy.sqrt(GAMMA), numpy.sqrt(GAMMA * 0.1 / 0.125)
    g = (GAMMA - 1) / (GAMMA + 1)

    def velocities(p):
        left = 2 * sound_left / (GAMMA - 1) * (1 - p ** ((GAMMA - 1) / (2 * GAMMA)))
        right = (p - 0.1) * numpy.sqrt(2 / (GAMMA + 1) / 0.125 / (p + g * 0.1))
        return left, right

    p = optimize.brentq(lambda p: numpy.subtract(*velocities(p)), 0.1, 1)
    u = velocities(p)[0]
    shock = sound_right * numpy.sqrt(
        (GAMMA + 1) / (2 * GAMMA) * p / 0.1 + (GAMMA - 1) / (2 * GAMMA)
    )
    tail = u - sound_left * p ** ((GAMMA - 1) / (2 * GAMMA))
    fan = (2 / (GAMMA + 1) - g * xi / sound_left) ** (2 / (GAMMA - 1))
    return numpy.select(
        [xi < -sound_left, xi < tail, xi < u, xi < shock],
        [1.0, fan, p ** (1 / GAMMA), 0.125 * (p / 0.1 + g) / (g * p / 0.1 + 1)],
        0.125,
    )


def test_the_shock_tube():
    flow = ramify.AmrSimulation("sod", max_level=2)
    before = flow.totals
    flow.advance_to(0.1)
    assert flow.time == 0.1 and flow.steps > 0
    mesh = flow.snapshot()
    assert mesh.fields == ("density", "velocity_x", "velocity_y", "pressure")
    assert mesh.time == 0.1 and mesh.step == flow.steps and mesh.dimensions == 2
    density = mesh.uniform("density")
    x = (
        mesh.lower[0]
        + (numpy.arange(density.shape[1]) + 0.5) * mesh.spacing(int(mesh.levels.max()))[0]
    )
    middle = (mesh.lower[0] + mesh.upper[0]) / 2
    error = numpy.abs(density - sod_density((x - middle) / 0.1)).mean()
    assert error < 0.01
    assert (density == density[0]).all()  # it does not depend on y
    for name in ("density", "energy", "total_energy"):
        if name in before:
            assert flow.totals[name] == pytest.approx(before[name], rel=1e-12)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_leaves_cover_the_domain_once(precision):
    flow = ramify.AmrSimulation("sedov", max_level=2, precision=precision)
    flow.advance(3)
    assert flow.steps == 3
    mesh = flow.snapshot(primitive=False)
    assert mesh.values.shape == (len(mesh.levels), 4, 16, 16) and mesh.cells == 16
    areas = [numpy.prod(mesh.spacing(int(level))) * 256 for level in mesh.levels]
    assert sum(areas) == pytest.approx(numpy.prod(numpy.subtract(mesh.upper, mesh.lower)))
    # The sum over the cells of the leaves is the integral.
    cell = numpy.array(areas) / 256
    sums = (mesh.values.sum(axis=(2, 3)) * cell[:, None]).sum(0)
    for name, total in zip(mesh.fields, sums):
        assert total == pytest.approx(flow.totals[name], rel=1e-5, abs=1e-6)
    # So is the sum over the uniform field, which repeats coarse cells.
    finest = int(mesh.levels.max())
    assert finest == 2 and mesh.levels.min() < 2
    for level in (None, 3):
        field = mesh.uniform(mesh.fields[0], level)
        area = numpy.prod(mesh.spacing(finest if level is None else level))
        assert field.sum() * area == pytest.approx(flow.totals[mesh.fields[0]], rel=1e-5)
    assert flow.report.number("leaves") == len(mesh.levels)


def test_three_dimensions():
    flow = ramify.AmrSimulation("advect-gaussian", 3, max_level=1)
    before = flow.totals
    flow.advance(2)
    mesh = flow.snapshot()
    assert mesh.fields == ("concentration",) and mesh.values.shape[2:] == (8, 8, 8)
    assert mesh.indices.shape[1] == 3 and mesh.uniform("concentration").ndim == 3
    assert flow.totals["concentration"] == pytest.approx(before["concentration"], rel=1e-12)


def test_a_wave_returns():
    flow = ramify.AmrSimulation("advect-gaussian", max_level=1)
    assert flow.return_time > 0 and max(flow.change_since_start.values()) < 1e-15
    flow.advance_to(flow.return_time / 4)
    away = flow.change_since_start["concentration"]
    flow.advance_to(flow.return_time)
    assert flow.change_since_start["concentration"] < away / 4


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ({"problem": "dam"}, ValueError, "problem 'dam' is none of sod"),
        ({"problem": 1}, TypeError, "problem: a int; must be a string"),
        ({"dimensions": 4}, ValueError, r"dimensions: 4; must be in \[2, 3\]"),
        ({"precision": "float16"}, ValueError, "precision: 'float16' is neither"),
        ({"criterion": "curl"}, ValueError, "criterion 'curl'"),
        ({"roots": (1, 2, 3)}, ValueError, "roots: 3 integers; must be 2"),
        ({"roots": (1, 0)}, ValueError, r"roots\[1\]: 0; must be in"),
        ({"roots": 4}, TypeError, "roots: a int; must be a sequence of integers"),
        ({"max_level": 19}, ValueError, "max_level"),
        ({"max_level": 1.0}, TypeError, "max_level: a float; must be an integer"),
        ({"cfl": 0}, ValueError, "cfl"),
        ({"subcycle": 1}, TypeError, "subcycle: a int; must be True or False"),
        ({"limiter": "superbee"}, ValueError, "limiter 'superbee'"),
        ({"gamma": float("nan")}, ValueError, "gamma"),
    ],
)
def test_bad_setups(arguments, error, message):
    with pytest.raises(error, match=message):
        ramify.AmrSimulation(**arguments)


def test_a_mesh_that_is_too_large():
    with pytest.raises(ramify.AmrError, match="blocks"):
        ramify.AmrSimulation("sedov", max_level=6, max_blocks=40).advance(50)
    mesh = ramify.AmrSimulation("sod", max_level=1).snapshot()
    with pytest.raises(ValueError, match="field: 'heat' is none of density"):
        mesh.uniform("heat")
    with pytest.raises(ValueError, match=r"level: 0; must be in \[1, 30\]"):
        mesh.uniform("density", 0)
    with pytest.raises(MemoryError, match="the uniform field: "):
        mesh.uniform("density", 25)
