# SPDX-License-Identifier: BSD-3-Clause
"""Where and how a call runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
    stream:            a CUDA stream, or None: the current stream of the library of the arrays. It
                       is a stream of PyTorch or CuPy, another object with ``__cuda_stream__()``, or
                       the address of a stream. Calls keep the object until they are complete. A
                       stream that is given by its address must exist until then.
    pending_launches:  the pending-launch limit of the GPU during the call; 0 leaves it unchanged.
    trace:             a Trace, to which the grids of the call are appended, or None.
    """

    backend: str = "automatic"
    route: str = "automatic"
    flat_loop: str = "automatic"
    stream: Any = None
    pending_launches: int = 0
    trace: Trace | None = None


def checked(env: Environment | None) -> Environment:
    """Return the environment, or the default one. Raises TypeError that names a bad field."""
    env = Environment() if env is None else env
    if not isinstance(env, Environment):
        raise TypeError(f"env: a {type(env).__name__}; must be a ramify.Environment")
    for field in ("backend", "route", "flat_loop"):
        text(f"env.{field}", getattr(env, field))
    address_of(env.stream)
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
    return made(env, backend, address_of(env.stream), env.stream)


def without_arrays(env: Environment | None) -> _ramify.Environment:
    """Return the environment of a call that has no arrays: on a GPU if there is one.

    Raises TypeError or ValueError that names the field.
    """
    env = checked(env)
    if env.stream is not None and env.backend != "cuda":
        raise ValueError("env.stream: must be None unless env.backend is 'cuda'")
    return made(env, env.backend, address_of(env.stream), env.stream)


def address_of(stream: Any) -> int:
    """Return the address of a stream; 0 is the default stream, and that of None.

    Raises TypeError or ValueError that names env.stream.
    """
    found = 0 if stream is None else stream
    if hasattr(stream, "__cuda_stream__"):
        found = stream.__cuda_stream__()[1]
    else:
        for attribute in ("cuda_stream", "ptr"):  # of PyTorch, of CuPy
            found = getattr(stream, attribute, found)
    return integer("env.stream", found, 0, 2**64 - 1)


def made(
    env: Environment, backend: str, address: int, *used: Any, released_elsewhere: bool = False
) -> _ramify.Environment:
    """Return the environment for the extension module. It keeps the objects ``used``.

    released_elsewhere:  whether another stream releases memory that the call uses, such as the
                         current stream of the library of the arrays.
    """
    made = _ramify.make_environment(
        backend,
        env.route,
        env.flat_loop,
        address,
        env.pending_launches,
        None if env.trace is None else env.trace._trace,
        used,
    )
    made.released_elsewhere = released_elsewhere
    return made
