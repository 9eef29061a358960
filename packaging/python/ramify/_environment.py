# SPDX-License-Identifier: BSD-3-Clause
"""Where and how a call runs."""

from __future__ import annotations

from dataclasses import dataclass

from . import _ramify
from ._arguments import integer, text
from ._trace import Trace


@dataclass(frozen=True)
class Environment:
    """Where and how a call runs.

    backend:           ``automatic``, ``cuda`` or ``cpu``. Automatic is the place of the arrays:
                       NumPy arrays are processed by the CPU executor, arrays on a GPU there; a call
                       without arrays runs on a GPU if there is one. With ``cuda``, NumPy arrays are
                       copied to the GPU and back.
    route:             ``automatic``, ``device`` (grids launch child grids) or ``flat``.
    flat_loop:         ``automatic``, ``graph`` or ``host``: what launches the rounds of a flat run.
    stream:            the address of a CUDA stream, or None: the current stream of the library of
                       the arrays.
    pending_launches:  the pending-launch limit of the GPU during the call; 0 leaves it unchanged.
    trace:             a Trace, to which the grids of the call are appended, or None.
    """

    backend: str = "automatic"
    route: str = "automatic"
    flat_loop: str = "automatic"
    stream: int | None = None
    pending_launches: int = 0
    trace: Trace | None = None


def checked(env: Environment | None) -> Environment:
    """Return the environment, or the default one. Raises TypeError that names a bad field."""
    env = Environment() if env is None else env
    if not isinstance(env, Environment):
        raise TypeError(f"env: a {type(env).__name__}; must be a ramify.Environment")
    for field in ("backend", "route", "flat_loop"):
        text(f"env.{field}", getattr(env, field))
    if env.stream is not None:
        integer("env.stream", env.stream, 0, 2**64 - 1)
    integer("env.pending_launches", env.pending_launches)
    if env.trace is not None and not isinstance(env.trace, Trace):
        raise TypeError(f"env.trace: a {type(env.trace).__name__}; must be a ramify.Trace")
    return env


def on_host(env: Environment | None) -> _ramify.Environment:
    """Return the environment of a call whose arrays are on the host, or that has none.

    Raises TypeError or ValueError that names the field.
    """
    env = checked(env)
    if env.stream is not None and env.backend != "cuda":
        raise ValueError("env.stream: a call with arrays of the host has no CUDA stream")
    backend = "cpu" if env.backend == "automatic" else env.backend
    return made(env, backend, env.stream or 0)


def without_arrays(env: Environment | None) -> _ramify.Environment:
    """Return the environment of a call that has no arrays: on a GPU if there is one.

    Raises TypeError or ValueError that names the field.
    """
    env = checked(env)
    if env.stream is not None and env.backend != "cuda":
        raise ValueError("env.stream: must be None unless env.backend is 'cuda'")
    return made(env, env.backend, env.stream or 0)


def made(env: Environment, backend: str, stream: int) -> _ramify.Environment:
    """Return the environment for the extension module."""
    return _ramify.make_environment(
        backend,
        env.route,
        env.flat_loop,
        stream,
        env.pending_launches,
        None if env.trace is None else env.trace._trace,
    )
