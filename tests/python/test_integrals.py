# SPDX-License-Identifier: BSD-3-Clause
"""Quadrature beside SciPy's."""

import numpy
import pytest

import ramify

integrate = pytest.importorskip("scipy.integrate")

FAMILIES = {
    "oscillatory": lambda x, a, u: numpy.cos(2 * numpy.pi * u[0] + a @ x),
    "product_peak": lambda x, a, u: numpy.prod(1 / (a**-2.0 + (x - u) ** 2)),
    "corner_peak": lambda x, a, u: (1 + a @ x) ** -(len(a) + 1.0),
    "gaussian": lambda x, a, u: numpy.exp(-numpy.sum(a**2 * (x - u) ** 2)),
    "c0": lambda x, a, u: numpy.exp(-numpy.sum(a * numpy.abs(x - u))),
    "discontinuous": lambda x, a, u: numpy.exp(a @ x) if (x[:2] <= u[:2]).all() else 0.0,
}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dimensions", [1, 2])
def test_integrals_equal_those_of_scipy(family, dimensions):
    f = ramify.GenzIntegrand.random(family, dimensions, seed=5, difficulty=2)
    a, u = numpy.array(f.a), numpy.array(f.u)
    assert len(f.a) == dimensions and abs(sum(f.a) - 2) < 1e-12
    points = [{"points": [place]} for place in u]  # where the integrand is not smooth
    expected, _ = integrate.nquad(
        lambda *x: FAMILIES[family](numpy.array(x), a, u), [(0, 1)] * dimensions, opts=points
    )
    assert f.exact == pytest.approx(expected, rel=1e-7)
    found = ramify.quadrature(f, relative_tolerance=1e-5)
    assert found.status == "converged" and found.value == pytest.approx(expected, rel=1e-5)
    assert abs(found.value - f.exact) <= found.error <= 1e-5 * abs(expected)
    assert found.evaluations > 0 and found.regions > 0 and found.report["route"]


def test_a_limit_of_evaluations():
    f = ramify.GenzIntegrand("c0", [30] * 4, [0.3] * 4)
    found = ramify.quadrature(f, relative_tolerance=1e-9, max_evaluations=20_000)
    assert found.status == "max_evaluations" and found.evaluations <= 20_000
    assert found.error > 1e-9 * abs(found.value)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: ramify.GenzIntegrand("cubic", [1], [0]), ValueError, "family 'cubic' is none of"),
        (lambda: ramify.GenzIntegrand(1, [1], [0]), TypeError, "family: a int; must be a string"),
        (lambda: ramify.GenzIntegrand("c0", [1, -1], [0, 0]), ValueError, r"a\[1\]"),
        (lambda: ramify.GenzIntegrand("c0", [1], [2]), ValueError, r"u\[0\]"),
        (lambda: ramify.GenzIntegrand("c0", [1], [0, 0]), ValueError, "u: 2 numbers, but a has 1"),
        (lambda: ramify.GenzIntegrand("c0", [], []), ValueError, "dimensions"),
        (lambda: ramify.GenzIntegrand("c0", [1] * 9, [0] * 9), ValueError, "a: 9 axes; must be at"),
        (
            lambda: ramify.GenzIntegrand("c0", ["1"], [0]),
            TypeError,
            r"a\[0\]: a str; must be a num",
        ),
        (lambda: ramify.GenzIntegrand.random("c0", 9), ValueError, "dimensions: 9; must be in"),
        (lambda: ramify.GenzIntegrand.random("c0", 2, difficulty=0), ValueError, r"a\[0\]"),
        (lambda: ramify.quadrature(abs), TypeError, "integrand: a builtin_function_or_method"),
        (lambda: _with(relative_tolerance=1), ValueError, "relative_tolerance"),
        (lambda: _with(absolute_tolerance="x"), TypeError, "absolute_tolerance: a str"),
        (lambda: _with(max_evaluations=-1), ValueError, "max_evaluations: -1"),
        (lambda: _with(max_evaluations=3), ValueError, "max_evaluations"),
    ],
)
def test_bad_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()


def _with(**options):
    return ramify.quadrature(ramify.GenzIntegrand("gaussian", [1, 1], [0, 0]), **options)
