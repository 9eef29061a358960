# SPDX-License-Identifier: BSD-3-Clause
"""Sorts of arrays, and of many segments of an array at once."""

from __future__ import annotations

from typing import Any, NamedTuple

from . import _ramify
from ._arguments import flag, text
from ._arrays import Arrays, check, check_writable, contiguous
from ._environment import Environment
from ._report import Report
from ._run import AsyncRun

_KEYS = ("int32", "uint32", "int64", "uint64", "float32", "float64")
_VALUES = _KEYS
_OFFSETS = ("int32", "uint32", "int64", "uint64")


class _Sort(NamedTuple):
    """A sort whose arguments have been checked. Its arrays are sorted in place."""

    keys: Any
    values: Any
    arguments: tuple[Any, ...]  # of the function of the extension module

    @property
    def result(self) -> Any:
        return self.keys if self.values is None else (self.keys, self.values)


def sort(
    keys: Any,
    *,
    descending: bool = False,
    strategy: str = "sample_sort",
    env: Environment | None = None,
) -> Any:
    """Return a sorted copy of ``keys``.

    keys:        n numbers of 32 or 64 bits. A NaN counts as greater than every number.
    descending:  whether the largest key comes first.
    strategy:    ``sample_sort`` or ``binary``.

    The sort is not stable. It takes O(n log n) time, and memory for one more copy of the keys.
    Raises TypeError for another type of elements, ValueError for another argument.
    """
    call = _sort_of_copies(keys, None, descending, strategy, env)
    _ramify.sort(*call.arguments)
    return call.result


def sort_async(
    keys: Any,
    *,
    descending: bool = False,
    strategy: str = "sample_sort",
    env: Environment | None = None,
) -> AsyncRun:
    """Start sort(), without waiting for the GPU. ``result`` of the run is the sorted copy.

    The arguments and the errors are those of sort().
    """
    return _start_sort(_sort_of_copies(keys, None, descending, strategy, env))


def sort_in_place(
    keys: Any,
    values: Any = None,
    *,
    descending: bool = False,
    strategy: str = "sample_sort",
    env: Environment | None = None,
) -> Report:
    """Sort ``keys``, which must be contiguous, and move ``values`` with them. Return the report.

    keys, values:  n numbers of 32 or 64 bits each. They must not overlap.

    The other arguments and the errors are those of sort(). If it raises, the keys are as before,
    except after a CudaError.
    """
    call = _sort_in_place(keys, values, descending, strategy, env)
    return Report(_ramify.sort(*call.arguments))


def sort_in_place_async(
    keys: Any,
    values: Any = None,
    *,
    descending: bool = False,
    strategy: str = "sample_sort",
    env: Environment | None = None,
) -> AsyncRun:
    """Start sort_in_place(), without waiting for the GPU.

    ``result`` of the run is ``keys``, or with values the pair of ``keys`` and ``values``. The
    arguments and the errors are those of sort_in_place().
    """
    return _start_sort(_sort_in_place(keys, values, descending, strategy, env))


def sort_pairs(
    keys: Any,
    values: Any,
    *,
    descending: bool = False,
    strategy: str = "sample_sort",
    env: Environment | None = None,
) -> tuple[Any, Any]:
    """Return sorted copies of ``keys`` and ``values``, in which each value follows its key.

    The arguments and the errors are those of sort_in_place().
    """
    call = _sort_of_copies(keys, values, descending, strategy, env)
    _ramify.sort(*call.arguments)
    return call.keys, call.values


def sort_pairs_async(
    keys: Any,
    values: Any,
    *,
    descending: bool = False,
    strategy: str = "sample_sort",
    env: Environment | None = None,
) -> AsyncRun:
    """Start sort_pairs(), without waiting for the GPU. ``result`` of the run is the pair of copies.

    The arguments and the errors are those of sort_in_place().
    """
    return _start_sort(_sort_of_copies(keys, values, descending, strategy, env))


def segmented_sort(
    keys: Any,
    offsets: Any,
    *,
    values: Any = None,
    descending: bool = False,
    env: Environment | None = None,
) -> Any:
    """Return a copy of ``keys`` in which each segment is sorted.

    keys:     n numbers of 32 or 64 bits.
    offsets:  segment i is ``keys[offsets[i]:offsets[i + 1]]``: one integer more than segments, in
              increasing order. Keys outside of all segments do not change.
    values:   n numbers of 32 or 64 bits, which follow their keys; then a pair of arrays is
              returned.

    Raises TypeError for another type of elements; ValueError for offsets that decrease or exceed n.
    """
    call = _segmented_sort(keys, offsets, values, descending, env)
    _ramify.segmented_sort(*call.arguments)
    return call.result


def segmented_sort_async(
    keys: Any,
    offsets: Any,
    *,
    values: Any = None,
    descending: bool = False,
    env: Environment | None = None,
) -> AsyncRun:
    """Start segmented_sort(), without waiting for the GPU.

    ``result`` of the run is what segmented_sort() returns.

    The arguments and the errors are those of segmented_sort(), except that get() raises the
    ValueError for bad offsets. Then the copy of the keys is not sorted.
    """
    call = _segmented_sort(keys, offsets, values, descending, env)
    run = _ramify.segmented_sort_async(*call.arguments)
    return AsyncRun(run, call.result, call.arguments)


def _start_sort(call: _Sort) -> AsyncRun:
    return AsyncRun(_ramify.sort_async(*call.arguments), call.result, call.arguments)


def _sort_in_place(
    keys: Any, values: Any, descending: bool, strategy: str, env: Environment | None
) -> _Sort:
    arrays = _checked_arrays(env, keys, values)
    check_writable("keys", keys)
    if values is not None:
        check_writable("values", values)
    return _sort(arrays, keys, values, descending, strategy)


def _sort_of_copies(
    keys: Any, values: Any, descending: bool, strategy: str, env: Environment | None
) -> _Sort:
    arrays = _checked_arrays(env, keys, values)
    moved = None if values is None else arrays.copy(values)
    return _sort(arrays, arrays.copy(keys), moved, descending, strategy)


def _sort(arrays: Arrays, keys: Any, values: Any, descending: bool, strategy: str) -> _Sort:
    descending, strategy = flag("descending", descending), text("strategy", strategy)
    arguments = (keys, values, descending, strategy, arrays.env)
    return _Sort(keys, values, arguments)


def _segmented_sort(
    keys: Any, offsets: Any, values: Any, descending: bool, env: Environment | None
) -> _Sort:
    arrays = _checked_arrays(env, keys, values, offsets=offsets)
    check("offsets", offsets, _OFFSETS)
    moved = None if values is None else arrays.copy(values)
    keys, offsets = arrays.copy(keys), contiguous(arrays, offsets)
    descending = flag("descending", descending)
    return _Sort(keys, moved, (keys, moved, offsets, descending, arrays.env))


def _checked_arrays(env: Environment | None, keys: Any, values: Any, **others: Any) -> Arrays:
    """Check keys and, if there are any, values. Raises TypeError or ValueError."""
    given = {"keys": keys, **others}
    if values is not None:
        given["values"] = values
    arrays = Arrays(env, **given)
    check("keys", keys, _KEYS)
    if values is not None:
        check("values", values, _VALUES)
        if values.shape[0] != keys.shape[0]:
            raise ValueError(f"values: {values.shape[0]} elements, but keys has {keys.shape[0]}")
    return arrays
