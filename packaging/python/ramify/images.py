# SPDX-License-Identifier: BSD-3-Clause
"""Images of the Mandelbrot set and of Julia sets."""

from __future__ import annotations

import numbers
from typing import Any, NamedTuple

import numpy

from . import _environment, _ramify
from ._arguments import flag, integer, real, text
from ._arrays import Arrays, check, check_writable
from ._environment import Environment
from ._memory import check_result
from ._report import Report
from ._run import AsyncRun

_MAX_SIDE = 65536


class Image(NamedTuple):
    """An image and the report of its call."""

    dwells: Any  #: (height, width) uint32: the number of iterations; the first row is the top
    report: Report


def mandelbrot(
    width: int = 512,
    height: int = 512,
    *,
    center: complex = -0.75,
    zoom: float = 1,
    julia: complex | None = None,
    method: str = "mariani_silver",
    max_iterations: int = 1000,
    skip_bulbs: bool = False,
    tile: int = 0,
    out: Any = None,
    env: Environment | None = None,
) -> Image:
    """Return for each pixel the number of iterations until it leaves the disk of radius 2.

    width, height:   in pixels, in [1, 65536].
    center:          the complex number in the middle; both parts in [-1e6, 1e6].
    zoom:            the shorter side of the image is 3 / zoom long; at least 1e-6.
    julia:           the constant c of a Julia set; None: the Mandelbrot set.
    method:          ``mariani_silver``: rectangles whose border has one dwell are filled, others
                     are divided; or ``exhaustive``: all pixels are iterated.
    max_iterations:  in [1, 10**9]; the dwell of the points of the set.
    skip_bulbs:      whether the two largest parts of the Mandelbrot set are not iterated.
    tile:            side in pixels of the first rectangles, in [8, 65536]; 0: it is chosen.
    out:             a contiguous (height, width) uint32 array for the result, perhaps on a GPU;
                     width and height are then those of the array. None: a new NumPy array.

    Raises TypeError for another type of an argument, ValueError that names a field out of range,
    MemoryError if the image does not fit into the free memory of the host.
    """
    out, arguments = _image(
        width, height, center, zoom, julia, method, max_iterations, skip_bulbs, tile, out, env
    )
    return Image(out, Report(_ramify.mandelbrot(*arguments)))


def mandelbrot_async(
    out: Any,
    *,
    center: complex = -0.75,
    zoom: float = 1,
    julia: complex | None = None,
    method: str = "mariani_silver",
    max_iterations: int = 1000,
    skip_bulbs: bool = False,
    tile: int = 0,
    env: Environment | None = None,
) -> AsyncRun:
    """Start mandelbrot() of the array ``out``, without waiting for the GPU.

    ``result`` of the run is ``out``. The arguments and the errors are those of mandelbrot().
    """
    if out is None:
        raise TypeError("out: None; must be an array")
    out, arguments = _image(
        0, 0, center, zoom, julia, method, max_iterations, skip_bulbs, tile, out, env
    )
    return AsyncRun(_ramify.mandelbrot_async(*arguments), out, arguments)


def _image(
    width: int,
    height: int,
    center: complex,
    zoom: float,
    julia: complex | None,
    method: str,
    max_iterations: int,
    skip_bulbs: bool,
    tile: int,
    out: Any,
    env: Environment | None,
) -> tuple[Any, tuple[Any, ...]]:
    """Return the array of the image, and the arguments of the function."""
    options = (
        _complex("center", center),
        real("zoom", zoom),
        None if julia is None else _complex("julia", julia),
        text("method", method),
        integer("max_iterations", max_iterations, 1, 10**9),
        flag("skip_bulbs", skip_bulbs),
        integer("tile", tile, 0, _MAX_SIDE),
    )
    if out is None:
        shape = (
            integer("height", height, 1, _MAX_SIDE),
            integer("width", width, 1, _MAX_SIDE),
        )
        check_result("the image", shape[0] * shape[1], 4)
        out = numpy.empty(shape, "uint32")
        where = _environment.without_arrays(env)
    else:
        arrays = Arrays(env, out=out)
        check("out", out, ("uint32",), 2)
        check_writable("out", out)
        where = arrays.env
    return out, (out, *options, where)


def _complex(name: str, value: Any) -> complex:
    if isinstance(value, (bool, numpy.bool_)) or not isinstance(value, numbers.Complex):
        raise TypeError(f"{name}: a {type(value).__name__}; must be a complex number")
    return complex(value)
