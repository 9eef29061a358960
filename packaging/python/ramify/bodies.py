# SPDX-License-Identifier: BSD-3-Clause
"""Gravity of n bodies on one another: forces, collisions, simulations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Sequence

from . import _ramify
from ._arguments import integer, real, reals, text
from ._arrays import Arrays, check, contiguous, dtype_of
from ._environment import Environment
from ._report import Report
from ._run import AsyncRun

_REALS = ("float32", "float64")


@dataclass(frozen=True)
class NBodyOptions:
    """How accelerations are calculated. All quantities are in the units of the bodies.

    theta:                   opening angle of the tree code, in [0, 2]; 0 sums every pair.
    tolerance:               if not 0, the aimed root mean square of the relative errors of the
                             accelerations in per cent, in [1e-5, 10], instead of theta.
    order:                   1: nodes act by their masses; 2: by their quadrupoles, too.
    softening:               softening length of Plummer's potential, at least 0.
    gravitational_constant:  G.
    method:                  ``tree``, O(n log n), or ``direct``, the sum over all pairs, O(n^2).
    leaf_size:               the maximum number of bodies of a leaf, in [1, 1024].
    step_levels:             of a simulation: levels of time steps, in [1, 20]. With more than one,
                             each body takes 2^k steps of dt / 2^k; the softening must not be 0.
    step_accuracy:           the number eta by which a body's level is chosen, greater than 0.

    The function that uses them checks them, and raises TypeError or ValueError that names a field.
    """

    theta: float = 0.5
    tolerance: float = 0
    order: int = 2
    softening: float = 0
    gravitational_constant: float = 1
    method: str = "tree"
    leaf_size: int = 16
    step_levels: int = 1
    step_accuracy: float = 0.025


@dataclass(frozen=True)
class NBodyField:
    """An external field on all bodies: uniform, harmonic, and of a point mass.

    With d = x - center, the acceleration is
    uniform - stiffness d - G point_mass d / (|d|^2 + core_radius^2)^(3/2), in the units of the
    bodies. NBodySimulation checks the fields, and raises TypeError or ValueError that names one.
    """

    uniform: Sequence[float] = (0, 0, 0)
    stiffness: float = 0
    point_mass: float = 0
    core_radius: float = 0
    center: Sequence[float] = (0, 0, 0)


class Gravity(NamedTuple):
    """What gravity() returns; the results have the type of the positions."""

    accelerations: Any  #: (n, 3)
    potentials: Any  #: (n): of each body, per unit of its mass
    report: Report


class Conserved(NamedTuple):
    """Sums over all bodies, in the units of the input."""

    kinetic: float
    potential: float  #: with that of an external field
    momentum: tuple[float, float, float]
    angular_momentum: tuple[float, float, float]  #: around the origin

    @property
    def energy(self) -> float:
        """The kinetic and the potential energy together."""
        return self.kinetic + self.potential


def gravity(
    positions: Any,
    masses: Any,
    options: NBodyOptions = NBodyOptions(),
    *,
    env: Environment | None = None,
) -> Gravity:
    """Return the acceleration of each body by all others, and its potential.

    positions:  (n, 3) float32 or float64, fewer than 2^31.
    masses:     (n) of the same type; they may be 0 or negative.

    Raises TypeError for another type, ValueError for another shape, or that names a field of the
    options, or the first body with a number that is not finite or too large.
    """
    results, arguments = _gravity(positions, masses, options, env)
    return Gravity(*results, Report(_ramify.gravity(*arguments)))


def gravity_async(
    positions: Any,
    masses: Any,
    options: NBodyOptions = NBodyOptions(),
    *,
    env: Environment | None = None,
) -> AsyncRun:
    """Start gravity(), without waiting for the GPU.

    ``result`` of the run is the pair of accelerations and potentials. Raises the errors of
    gravity(), except that get() raises the ValueError that names a body.
    """
    results, arguments = _gravity(positions, masses, options, env)
    return AsyncRun(_ramify.gravity_async(*arguments), results, arguments)


def find_collisions(positions: Any, radii: Any, *, env: Environment | None = None) -> Any:
    """Return the pairs of bodies whose distance is less than the sum of their radii: (m, 2) int32.

    positions:  (n, 3) float32 or float64.
    radii:      (n) of the same type, at least 0, in the unit of the positions.

    In each pair the first index is the smaller one. If there are more than n pairs, a second search
    lists them. Raises the errors of gravity(), and MemoryError if the pairs do not fit into the
    free memory of the host.
    """
    arrays, positions, radii = _bodies(env, positions=positions, radii=radii)
    pairs = arrays.empty((positions.shape[0], 2), "int32")
    found, _ = _ramify.find_collisions(positions, radii, pairs, arrays.env)
    if found > pairs.shape[0]:
        pairs = arrays.empty((found, 2), "int32")
        _ramify.find_collisions(positions, radii, pairs, arrays.env)
    return pairs[:found, ...]


class NBodySimulation:
    """Bodies that move under their own gravity, and in a field if one is given.

    positions, velocities:  (n, 3) float32 or float64.
    masses:                 (n) of the same type.
    field:                  an NBodyField, or None.

    The simulation has its own copy of the bodies, on the GPU or in the host's memory. Its work runs
    in the stream of its construction. Raises the errors of gravity(). Only one thread at a time may
    use it.
    """

    def __init__(
        self,
        positions: Any,
        velocities: Any,
        masses: Any,
        options: NBodyOptions = NBodyOptions(),
        *,
        field: NBodyField | None = None,
        env: Environment | None = None,
    ):
        arrays, positions, velocities, masses = _bodies(
            env, positions=positions, velocities=velocities, masses=masses
        )
        self._arrays = arrays
        self._n, self._dtype = positions.shape[0], dtype_of(positions)
        self._bodies = _ramify.NBodySimulation(
            positions,
            velocities,
            masses,
            _made(options),
            None if field is None else _made_field(field),
            arrays.env,
        )

    def __len__(self) -> int:
        """Return the number of bodies."""
        return self._n

    def step(self, dt: float, count: int = 1) -> None:
        """Advance by ``count`` leapfrog steps of the time ``dt``, which may be negative.

        Raises ValueError if dt is not finite, or if a body leaves the range of coordinates; then
        the bodies are in the middle of a step.
        """
        self._bodies.step(real("dt", dt), integer("count", count, 0, 2**63 - 1))

    @property
    def positions(self) -> Any:
        """A copy of the positions: (n, 3)."""
        return self._download(0)

    @property
    def velocities(self) -> Any:
        """A copy of the velocities: (n, 3)."""
        return self._download(1)

    @property
    def accelerations(self) -> Any:
        """A copy of the accelerations: (n, 3)."""
        return self._download(2)

    @property
    def potentials(self) -> Any:
        """A copy of the potentials, per unit of mass: (n)."""
        return self._download(3)

    @property
    def conserved(self) -> Conserved:
        """The energies and momenta of the current state."""
        return Conserved(*self._bodies.conserved())

    @property
    def report(self) -> Report:
        """The report of all work so far."""
        return Report(self._bodies.report())

    def _download(self, which: int) -> Any:
        arrays = self._arrays.at(None)  # a result belongs to the current stream of the library
        empty = arrays.empty((0, 3), self._dtype)
        results = [empty, empty, empty, arrays.empty((0,), self._dtype)]
        shape = (self._n,) if which == 3 else (self._n, 3)
        results[which] = arrays.empty(shape, self._dtype)
        self._arrays.wait_for_current_stream()
        self._bodies.download(*results)
        return results[which]


def _gravity(
    positions: Any, masses: Any, options: NBodyOptions, env: Environment | None
) -> tuple[tuple[Any, Any], tuple[Any, ...]]:
    """Return the results of gravity(), without values, and the arguments of the function."""
    arrays, positions, masses = _bodies(env, positions=positions, masses=masses)
    n, dtype = positions.shape[0], dtype_of(positions)
    results = arrays.empty((n, 3), dtype), arrays.empty((n,), dtype)
    return results, (positions, masses, *results, _made(options), arrays.env)


def _bodies(env: Environment | None, **given: Any) -> tuple[Any, ...]:
    """Return the checked arrays as contiguous ones; all but the last one are vectors."""
    arrays = Arrays(env, **given)
    positions = given["positions"]
    check("positions", positions, _REALS, 2)
    for name, array in given.items():
        is_vector = name in ("positions", "velocities")
        check(name, array, (dtype_of(positions),), 2 if is_vector else 1)
        if is_vector and array.shape[1] != 3:
            raise ValueError(f"{name}: {array.shape[1]} coordinates; must be 3")
        if array.shape[0] != positions.shape[0]:
            raise ValueError(
                f"{name}: {array.shape[0]} elements, but positions has {positions.shape[0]}"
            )
    return (arrays, *(contiguous(arrays, array) for array in given.values()))


def _made(options: NBodyOptions) -> _ramify.NBodyOptions:
    if not isinstance(options, NBodyOptions):
        raise TypeError(f"options: a {type(options).__name__}; must be ramify.NBodyOptions")
    made = _ramify.NBodyOptions()
    for name in ("theta", "tolerance", "softening", "gravitational_constant", "step_accuracy"):
        setattr(made, name, real(f"options.{name}", getattr(options, name)))
    for name in ("order", "leaf_size", "step_levels"):
        setattr(made, name, integer(f"options.{name}", getattr(options, name)))
    made.set_method(text("options.method", options.method))
    return made


def _made_field(field: NBodyField) -> _ramify.NBodyField:
    if not isinstance(field, NBodyField):
        raise TypeError(f"field: a {type(field).__name__}; must be a ramify.NBodyField")
    made = _ramify.NBodyField()
    for name in ("uniform", "center"):
        setattr(made, name, reals(f"field.{name}", getattr(field, name), 3))
    for name in ("stiffness", "point_mass", "core_radius"):
        setattr(made, name, real(f"field.{name}", getattr(field, name)))
    return made
