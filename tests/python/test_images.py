# SPDX-License-Identifier: BSD-3-Clause
"""Images of the Mandelbrot set and of Julia sets beside plain NumPy."""

import numpy
import pytest

import ramify


def iterated(width, height, center, zoom, julia, limit):
    """Return dwells from the definition: the iterations until |z| exceeds 2."""
    step = 3 / zoom / min(width, height)
    x = center.real + (numpy.arange(width) + 0.5 - width / 2) * step
    y = center.imag - (numpy.arange(height) + 0.5 - height / 2) * step
    points = x[None, :] + 1j * y[:, None]
    z, c = (numpy.zeros_like(points), points) if julia is None else (points, julia)
    dwells = numpy.zeros(points.shape, "uint32")
    inside = numpy.ones(points.shape, bool)
    for _ in range(limit):
        z = numpy.where(inside, z * z + c, z)
        inside &= z.real**2 + z.imag**2 <= 4
        dwells += inside
    return dwells


@pytest.mark.parametrize("method", ["mariani_silver", "exhaustive"])
@pytest.mark.parametrize("julia", [None, -0.8 + 0.156j])
def test_dwells(method, julia):
    center = -0.7 + 0.1j if julia is None else 0j
    expected = iterated(120, 80, center, 1.1, julia, 60)
    found = ramify.mandelbrot(
        120, 80, center=center, zoom=1.1, julia=julia, method=method, max_iterations=60
    )
    assert found.dwells.shape == (80, 120) and found.dwells.dtype == "uint32"
    # Rounding differs at the border, and the filled rectangles may hide single pixels.
    difference = numpy.abs(found.dwells.astype(int) - expected)
    assert numpy.count_nonzero(difference > 1) <= 0.01 * expected.size
    assert (found.dwells == 60).any() and found.report["route"]


def test_the_caller_array_is_filled():
    out = numpy.zeros((40, 50), "uint32")
    found = ramify.mandelbrot(out=out, max_iterations=50)
    assert found.dwells is out and found.report.backend == "cpu"
    expected = ramify.mandelbrot(50, 40, max_iterations=50, env=ramify.Environment(backend="cpu"))
    numpy.testing.assert_array_equal(out, expected.dwells)


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ({"width": 0}, ValueError, r"width: 0; must be in \[1, 65536\]"),
        ({"height": 2.5}, TypeError, "height: a float; must be an integer"),
        ({"center": "0"}, TypeError, "center: a str; must be a complex number"),
        ({"center": 1e7}, ValueError, "center"),
        ({"zoom": float("nan")}, ValueError, "zoom"),
        ({"zoom": 1e30}, ValueError, "zoom"),
        ({"julia": True}, TypeError, "julia: a bool"),
        ({"method": "fast"}, ValueError, "method 'fast'"),
        ({"max_iterations": 0}, ValueError, "max_iterations: 0"),
        ({"tile": 7}, ValueError, "tile"),
        ({"out": numpy.zeros((2, 2), "int32")}, TypeError, "out: elements of type int32"),
        ({"out": numpy.zeros(4, "uint32")}, ValueError, "out: 1 dimensions"),
        ({"out": numpy.zeros((4, 4), "uint32")[::2]}, ValueError, "out: the array is not cont"),
    ],
)
def test_bad_views(arguments, error, message):
    with pytest.raises(error, match=message):
        ramify.mandelbrot(**arguments)
