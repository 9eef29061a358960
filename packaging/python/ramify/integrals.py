# SPDX-License-Identifier: BSD-3-Clause
"""Adaptive quadrature of Genz's test integrands in one to eight dimensions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Sequence

from . import _environment, _ramify
from ._arguments import integer, real, reals, text
from ._environment import Environment
from ._report import Report


@dataclass(frozen=True)
class GenzIntegrand:
    """A member of one of Genz's families of integrands over the unit cube [0, 1]^d.

    family:  ``oscillatory``    cos(2 pi u_1 + sum a x)
             ``product_peak``   prod 1 / (a^-2 + (x - u)^2)
             ``corner_peak``    (1 + sum a x)^-(d + 1)
             ``gaussian``       exp(-sum a^2 (x - u)^2)
             ``c0``             exp(-sum a |x - u|)
             ``discontinuous``  exp(sum a x) where x_1 <= u_1 and x_2 <= u_2, else 0
    a:       how difficult each of the 1 to 8 axes is: finite and greater than 0.
    u:       the place of the feature on each axis, in [0, 1].

    Raises TypeError for another type, ValueError that names the field and the axis.
    """

    family: str
    a: Sequence[float]
    u: Sequence[float]

    def __post_init__(self) -> None:
        a, u = reals("a", self.a), reals("u", self.u)
        if len(a) != len(u):
            raise ValueError(f"u: {len(u)} numbers, but a has {len(a)}")
        if len(a) > 8:
            raise ValueError(f"a: {len(a)} axes; must be at most 8")
        object.__setattr__(self, "a", tuple(a))
        object.__setattr__(self, "u", tuple(u))
        _ramify.check_genz(text("family", self.family), a, u)

    @classmethod
    def random(
        cls, family: str, dimensions: int, seed: int = 1, difficulty: float | None = None
    ) -> GenzIntegrand:
        """Return a random member, which is the same on all machines.

        dimensions:  in [1, 8].
        difficulty:  the sum of all ``a``, greater than 0; None: Genz's for this family.
        """
        family = text("family", family)
        if difficulty is None:
            difficulty = _ramify.genz_difficulty(family)
        a, u = _ramify.random_genz(
            family,
            integer("dimensions", dimensions, 1, 8),
            integer("seed", seed, 0, 2**64 - 1),
            real("difficulty", difficulty),
        )
        return cls(family, a, u)

    @property
    def exact(self) -> float:
        """The integral, from its closed form, or for a corner peak from one over one variable."""
        return _ramify.check_genz(self.family, list(self.a), list(self.u))


class Integral(NamedTuple):
    """The result of a quadrature. If it has not converged, the value is the best estimate."""

    value: float
    error: float  #: the sum of the error estimates of all regions
    status: str  #: ``converged``, ``max_evaluations``, ``round_off``, ``not_finite``, ...
    regions: int  #: number of regions at the end
    evaluations: int  #: number of points at which the integrand was evaluated
    report: Report


def quadrature(
    integrand: GenzIntegrand,
    *,
    absolute_tolerance: float = 0,
    relative_tolerance: float = 1e-6,
    min_evaluations: int = 0,
    max_evaluations: int = 10_000_000,
    env: Environment | None = None,
) -> Integral:
    """Integrate over the unit cube, to the larger one of the two tolerances.

    absolute_tolerance:  of the error estimate, finite, at least 0.
    relative_tolerance:  the same, as a share of the integral, in [0, 1).
    min_evaluations:     all regions are split until at least so many points are evaluated.
    max_evaluations:     the maximum number of points.

    A quadrature that does not converge raises nothing: see the status. Other integrands are
    written in C++ or CUDA; docs/python.md shows how Python calls them. Raises TypeError for another
    type of an argument, ValueError that names a field out of range.
    """
    if not isinstance(integrand, GenzIntegrand):
        raise TypeError(f"integrand: a {type(integrand).__name__}; must be a ramify.GenzIntegrand")
    *numbers, report = _ramify.quadrature(
        integrand.family,
        list(integrand.a),
        list(integrand.u),
        real("absolute_tolerance", absolute_tolerance),
        real("relative_tolerance", relative_tolerance),
        integer("min_evaluations", min_evaluations, 0, 2**63 - 1),
        integer("max_evaluations", max_evaluations, 0, 2**63 - 1),
        _environment.without_arrays(env),
    )
    return Integral(*numbers, Report(report))
