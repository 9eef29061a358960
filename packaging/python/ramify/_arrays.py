# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of NumPy, CuPy, PyTorch and other libraries: their type, their place, new ones.

A call runs where its arrays are, in the current stream of their library, and returns arrays of the
same library. No array is converted to another type.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from copy import copy
from math import prod
from typing import Any, Iterator

import numpy

from . import _environment, _ramify
from ._environment import Environment
from ._memory import check_result

# Kinds of devices in DLPack.
_HOST_DEVICES = {1, 3}  # ordinary memory, pinned memory
_GPU_DEVICES = {2, 13}  # memory of a CUDA device, managed memory


class Arrays:
    """The arrays of one call, which are of one library and in one place, and its environment.

    New arrays and copies are made in the stream of the call.
    """

    def __init__(self, env: Environment | None, **arrays: Any):
        """Raises TypeError for an object that is no array, ValueError for arrays in two places."""
        first_name, first = next(iter(arrays.items()))
        self.origin, self.gpu = _place(first_name, first)
        self._like = first
        self.given = tuple(arrays.values())  # copies of them may be made after the call
        for name, array in arrays.items():
            place = _place(name, array)
            if place != (self.origin, self.gpu):
                raise ValueError(
                    f"{name}: the array is of {_place_name(place)}, but {first_name} is of "
                    f"{_place_name((self.origin, self.gpu))}"
                )
        self._set_environment(env)

    def at(self, env: Environment | None) -> Arrays:
        """Return the same arrays for another call."""
        made = copy(self)
        made._set_environment(env)
        return made

    def use_memory_of(self, other: Arrays) -> None:
        """State that the call also uses memory that the stream of another call releases."""
        if self._stream != other._stream:
            self.env.released_elsewhere = True

    def wait_for_current_stream(self) -> None:
        """Let the stream of the call wait for the current one of the library."""
        if self._stream is not None:
            _let_stream_wait(self._stream, self._like)

    def _set_environment(self, env: Environment | None) -> None:
        """Set the environment of the call. Raises TypeError or ValueError that names a field."""
        self._stream: int | None  # address; None on the host
        if self.gpu is None:
            self._stream = None
            self.env = _environment.on_host(env)
            return
        env = _environment.checked(env)
        if env.backend == "cpu":
            raise ValueError("env.backend: 'cpu', but the arrays are on a GPU")
        _check_current_device(self.origin, self.gpu)
        current = _current_stream(self.origin, self.gpu)
        stream = current if env.stream is None else env.stream
        self._stream = _environment.address_of(stream)
        if self._stream == 1:  # 0 and 1, which DLPack uses, are addresses of the default stream
            self._stream = 0
        is_current = current is not None and self._stream == _environment.address_of(current)
        if not is_current:
            _let_stream_wait(self._stream, self._like)
        # A run or a tree releases its memory in the stream, which must exist until then.
        kept = current if is_current else stream
        self.env = _environment.made(
            env, "cuda", self._stream, kept, self.given, released_elsewhere=not is_current
        )

    def empty(self, shape: tuple[int, ...], dtype: str) -> Any:
        """Return a new array of the library, in the same place. Raises MemoryError on the host."""
        if self.gpu is None:
            check_result("the result", prod(shape), numpy.dtype(dtype).itemsize)
        if self.origin == "numpy":
            return numpy.empty(shape, dtype)
        with self._in_stream():
            if self.origin == "torch":
                torch = sys.modules["torch"]
                return torch.empty(shape, dtype=getattr(torch, dtype), device=self._like.device)
            if self.origin == "cupy":
                return sys.modules["cupy"].empty(shape, dtype)
            namespace = self._like.__array_namespace__()
            return namespace.empty(shape, dtype=getattr(namespace, dtype), device=self._like.device)

    def from_host(self, array: numpy.ndarray) -> Any:
        """Return the elements of a NumPy array as an array of the library, in the same place."""
        if self.origin == "numpy":
            return array
        result = self.empty(array.shape, str(array.dtype))
        with self._in_stream():
            if self.origin == "torch":
                result.copy_(sys.modules["torch"].from_numpy(array))
            elif self.origin == "cupy":
                result.set(array)
            else:
                result[...] = result.__array_namespace__().asarray(array)
        return result

    def copy(self, array: Any) -> Any:
        """Return a contiguous copy of an array."""
        result = self.empty(tuple(array.shape), dtype_of(array))
        with self._in_stream():
            result[...] = array
        return result

    @contextmanager
    def _in_stream(self) -> Iterator[None]:
        """Make the stream of the call the current one of the library."""
        current = None if self.gpu is None else _current_stream(self.origin, self.gpu)
        if self.gpu is None or (
            current is not None and self._stream == _environment.address_of(current)
        ):
            yield
        elif self.origin == "torch":
            cuda = sys.modules["torch"].cuda
            with cuda.stream(cuda.ExternalStream(self._stream, self.gpu)):
                yield
        elif self.origin == "cupy":
            cuda = sys.modules["cupy"].cuda
            with cuda.ExternalStream(self._stream, self.gpu):
                yield
        else:  # libraries have no common way to set the current stream
            yield
            _let_stream_wait(self._stream, self._like)


def dtype_of(array: Any) -> str:
    """Return the name of the type of the elements, such as ``float32``."""
    return str(array.dtype).split(".")[-1]


def check(name: str, array: Any, dtypes: tuple[str, ...], ndim: int = 1) -> None:
    """Check type and shape. Raises TypeError for the type, ValueError for the shape."""
    if dtype_of(array) not in dtypes:
        raise TypeError(f"{name}: elements of type {dtype_of(array)}; must be {_choices(dtypes)}")
    if len(array.shape) != ndim:
        raise ValueError(f"{name}: {len(array.shape)} dimensions; must be {ndim}")


def check_writable(name: str, array: Any) -> None:
    """Check that a call can change the array in place. Raises ValueError."""
    if isinstance(array, numpy.ndarray) and not array.flags.writeable:
        raise ValueError(f"{name}: the array is read-only")
    if not is_contiguous(array):
        raise ValueError(f"{name}: the array is not contiguous, so it cannot be changed in place")


def is_contiguous(array: Any) -> bool:
    """Return whether the elements are next to one another, the last index fastest."""
    if hasattr(array, "is_contiguous"):
        return bool(array.is_contiguous())
    flags = getattr(array, "flags", None)
    return flags is None or bool(flags.c_contiguous)


def contiguous(arrays: Arrays, array: Any) -> Any:
    """Return the array, or a contiguous copy of it."""
    return array if is_contiguous(array) else arrays.copy(array)


def _choices(dtypes: tuple[str, ...]) -> str:
    return dtypes[0] if len(dtypes) == 1 else ", ".join(dtypes[:-1]) + " or " + dtypes[-1]


def _place_name(place: tuple[str, int | None]) -> str:
    library, gpu = place
    return f"{library} on the host" if gpu is None else f"{library} on GPU {gpu}"


def _place(name: str, array: Any) -> tuple[str, int | None]:
    """Return the library of an array, and the number of its GPU, or None for the host."""
    if isinstance(array, numpy.ma.MaskedArray):
        raise TypeError(f"{name}: a masked array; pass array.filled() or array.compressed()")
    if isinstance(array, numpy.ndarray):
        if not array.dtype.isnative:
            raise TypeError(
                f"{name}: elements of type {array.dtype}; must have this machine's order of bytes"
            )
        return "numpy", None
    if not hasattr(array, "__dlpack__"):
        raise TypeError(
            f"{name}: a {type(array).__name__}; must be an array of NumPy, CuPy, PyTorch or of "
            "another library with __dlpack__()"
        )
    library = type(array).__module__.split(".")[0]
    if library.startswith("jax"):
        raise TypeError(f"{name}: an array of JAX cannot be changed; pass numpy.asarray(array)")
    if library == "torch" and array.requires_grad:
        raise ValueError(f"{name}: the tensor requires gradients; pass tensor.detach()")
    kind, number = array.__dlpack_device__()
    if kind in _HOST_DEVICES:
        return library, None
    if kind in _GPU_DEVICES:
        return library, number
    raise ValueError(f"{name}: the array is neither on the host nor on a CUDA device")


def _check_current_device(library: str, gpu: int) -> None:
    """Raise ValueError if the arrays are not on the current device, where the call would run."""
    if library == "torch":
        current = sys.modules["torch"].cuda.current_device()
    elif library == "cupy":
        current = sys.modules["cupy"].cuda.runtime.getDevice()
    else:
        return
    if current != gpu:
        raise ValueError(f"the arrays are on GPU {gpu}, but the current device is GPU {current}")


def _current_stream(library: str, gpu: int) -> Any:
    """Return the library's current stream on a GPU, or None if it cannot be found."""
    if library in ("torch", "cupy"):
        cuda = sys.modules[library].cuda
        return cuda.current_stream(gpu) if library == "torch" else cuda.get_current_stream(gpu)
    return None


def _let_stream_wait(stream: int, array: Any) -> None:
    """Let a stream wait for the work in the current stream of the array's library."""
    # In DLPack 1 is the default stream, and 0 is not used.
    array.__dlpack__(stream=stream or 1)
