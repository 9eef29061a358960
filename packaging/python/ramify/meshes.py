# SPDX-License-Identifier: BSD-3-Clause
"""Flow on adaptive meshes: standard problems, whose states are arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence

import numpy

from . import _environment, _ramify
from ._arguments import flag, integer, real, text
from ._environment import Environment
from ._memory import check_result
from ._report import Report

_PRECISIONS = {"float64": "double", "float32": "float"}


@dataclass(frozen=True)
class Snapshot:
    """The leaves of a mesh and the averages over their cells, as NumPy arrays.

    A block of level l is 2^-l times as wide as a root block. Axes of ``indices``, ``roots``,
    ``lower`` and ``upper`` are x, y, z; the last axis of ``values`` is x.
    """

    levels: numpy.ndarray  #: (leaves) int32
    indices: numpy.ndarray  #: (leaves, dimensions) int64: the place in blocks of its level
    values: numpy.ndarray  #: (leaves, fields, [cells,] cells, cells) float64
    fields: tuple[str, ...]  #: names, such as ``density``
    roots: tuple[int, ...]  #: root blocks along each axis
    lower: tuple[float, ...]  #: corner of the domain
    upper: tuple[float, ...]  #: the opposite corner
    time: float
    step: int

    @property
    def dimensions(self) -> int:
        """2 or 3."""
        return self.indices.shape[1]

    @property
    def cells(self) -> int:
        """The number of cells along an edge of a block."""
        return self.values.shape[-1]

    def spacing(self, level: int) -> tuple[float, ...]:
        """Return the lengths of a cell of this level along x, y and z."""
        level = integer("level", level, 0, 30)
        return tuple(
            (upper - lower) / (roots * 2**level * self.cells)
            for lower, upper, roots in zip(self.lower, self.upper, self.roots)
        )

    def uniform(self, field: str, level: int | None = None) -> numpy.ndarray:
        """Return a field on all cells of one level: (y, x) or (z, y, x) float64, for a picture.

        level:  not below that of the finest leaf; None: that level. Cells of coarser leaves are
                repeated.

        Raises ValueError for an unknown field or a lower level, MemoryError if the result does not
        fit into the free memory of the host.
        """
        if field not in self.fields:
            raise ValueError(f"field: {field!r} is none of {', '.join(self.fields)}")
        finest = int(self.levels.max())
        level = finest if level is None else integer("level", level, finest, 30)
        shape = tuple(n * 2**level * self.cells for n in reversed(self.roots))
        elements = 1
        for length in shape:
            elements *= length
        check_result("the uniform field", elements, 8)
        result = numpy.empty(shape)
        values = self.values[:, self.fields.index(field)]
        for leaf_level, index, cells in zip(self.levels, self.indices, values):
            factor = 2 ** (level - int(leaf_level))
            width = self.cells * factor
            for axis in range(self.dimensions):
                cells = numpy.repeat(cells, factor, axis)
            place = tuple(slice(i * width, (i + 1) * width) for i in index[::-1].tolist())
            result[place] = cells
        return result


class AmrSimulation:
    """A standard problem of flow on an adaptive mesh.

    problem:        ``sod``, ``sedov``, ``kelvin-helmholtz``, ``linear-wave``, ``double-mach``,
                    ``noh``, ``rayleigh-taylor``, ``forward-step`` (of an ideal gas),
                    ``dam-break`` (of shallow water), ``brio-wu``, ``orszag-tang``, ``rotor`` (of
                    a plasma in 2D),
                    ``advect-gaussian`` or ``vortex-in-box`` (of a concentration).
    dimensions:     2 or 3. Blocks have 16 x 16 or 8 x 8 x 8 cells. All lengths are about 1.
    precision:      ``float64`` or ``float32``, of the cells.
    criterion:      ``gradient`` or ``loehner``, for the refinement.
    roots:          root blocks along each axis, in [1, 4096].
    max_level:      level of the finest blocks, in [0, 18]; roots have level 0.
    max_blocks:     limit for all blocks; 0: no limit.
    refine_above:   a block with a larger indicator of the criterion is refined.
    coarsen_below:  a block with a smaller one may be coarsened.
    regrid_every:   steps between two regrids; 0: the mesh never changes.
    cfl:            share of the largest stable step, in (0, 1].
    subcycle:       whether each level takes two steps for one of the next coarser level.
    limiter:        ``minmod``, ``van-leer`` or ``monotonized-central``.
    gamma:          ratio of specific heats of a gas, greater than 1.

    None stands for the customary value of the problem. Raises TypeError or ValueError that names
    the argument, and AmrError if the first mesh needs more than max_blocks.
    """

    def __init__(
        self,
        problem: str = "kelvin-helmholtz",
        dimensions: int = 2,
        *,
        precision: str = "float64",
        criterion: str = "gradient",
        roots: Sequence[int] | None = None,
        max_level: int | None = None,
        max_blocks: int | None = None,
        refine_above: float | None = None,
        coarsen_below: float | None = None,
        regrid_every: int | None = None,
        cfl: float | None = None,
        subcycle: bool | None = None,
        limiter: str | None = None,
        gamma: float | None = None,
        env: Environment | None = None,
    ):
        if text("precision", precision) not in _PRECISIONS:
            raise ValueError(f"precision: {precision!r} is neither float64 nor float32")
        dimensions = integer("dimensions", dimensions, 2, 3)
        self._setup = setup = _ramify.amr_setup(
            text("problem", problem),
            dimensions,
            text("criterion", criterion),
            _PRECISIONS[precision],
        )
        if roots is not None:
            setup.roots = _roots(roots, dimensions)
        integers = {"max_level": max_level, "max_blocks": max_blocks, "regrid_every": regrid_every}
        numbers = {
            "refine_above": refine_above,
            "coarsen_below": coarsen_below,
            "cfl": cfl,
            "gamma": gamma,
        }
        for name, value in integers.items():
            if value is not None:
                setattr(setup, name, integer(name, value))
        for name, number in numbers.items():
            if number is not None:
                setattr(setup, name, real(name, number))
        if subcycle is not None:
            setup.subcycle = flag("subcycle", subcycle)
        if limiter is not None:
            setup.set_limiter(text("limiter", limiter))
        self._flow = _ramify.AmrSimulation(setup, _environment.without_arrays(env))

    def advance(self, steps: int, stop_time: float = float("inf")) -> None:
        """Take ``steps`` steps, or fewer until the time is ``stop_time``, which is met exactly.

        With subcycling, these are steps of level 0. Raises AmrError if a cell becomes invalid, or
        if the mesh needs more than max_blocks.
        """
        self._flow.advance(integer("steps", steps, 0, 2**63 - 1), real("stop_time", stop_time))

    def advance_to(self, stop_time: float) -> None:
        """Take steps until the time is ``stop_time``. Raises the errors of advance()."""
        self._flow.advance_to(real("stop_time", stop_time))

    @property
    def time(self) -> float:
        """The time of the simulation."""
        return self._flow.time()

    @property
    def steps(self) -> int:
        """The number of steps since the initial state."""
        return self._flow.steps()

    @property
    def end_time(self) -> float:
        """The customary end of the problem; a simulation does not stop there by itself."""
        return self._setup.end_time

    @property
    def return_time(self) -> float:
        """The period of the exact solution on the customary domain; 0 if there is none."""
        return self._setup.return_time()

    @property
    def totals(self) -> dict[str, float]:
        """The integrals of the conserved fields over the domain, by their names."""
        return dict(zip(self._setup.field_names(False), self._flow.totals()))

    @property
    def change_since_start(self) -> dict[str, float]:
        """For each conserved field the mean absolute difference from the initial state.

        At multiples of return_time this is the L1 error.
        """
        return dict(zip(self._setup.field_names(False), self._flow.change_since_start()))

    @property
    def report(self) -> Report:
        """The report of the simulation until now."""
        return Report(self._flow.report())

    def snapshot(self, *, primitive: bool = True) -> Snapshot:
        """Return the leaves and the values of their cells.

        primitive:  whether a gas has density, velocity and pressure; else density, momentum and
                    total energy, all per volume.
        """
        *arrays, fields, roots, lower, upper, time, step = self._flow.snapshot(
            flag("primitive", primitive)
        )
        axes = arrays[1].shape[1]
        return Snapshot(
            *arrays,
            tuple(fields),
            tuple(roots[:axes]),
            tuple(lower[:axes]),
            tuple(upper[:axes]),
            time,
            step,
        )


def _roots(roots: Any, dimensions: int) -> list[int]:
    if isinstance(roots, (str, bytes)) or not hasattr(roots, "__iter__"):
        raise TypeError(f"roots: a {type(roots).__name__}; must be a sequence of integers")
    found = [integer(f"roots[{i}]", value, 1, 4096) for i, value in enumerate(roots)]
    if len(found) != dimensions:
        raise ValueError(f"roots: {len(found)} integers; must be {dimensions}")
    return found + [1] * (3 - dimensions)
