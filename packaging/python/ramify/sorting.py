# SPDX-License-Identifier: BSD-3-Clause
"""Sorts of arrays, and of many segments of an array at once."""

from __future__ import annotations

from typing import Any

from . import _ramify
from ._arguments import flag, text
from ._arrays import Arrays, check, check_writable, contiguous
from ._environment import Environment
from ._report import Report

_KEYS = ("int32", "uint32", "int64", "uint64", "float32", "float64")
_VALUES = _KEYS
_OFFSETS = ("int32", "uint32", "int64", "uint64")


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
    arrays = Arrays(keys=keys)
    check("keys", keys, _KEYS)
    result = arrays.copy(keys)
    _sort(arrays, result, None, descending, strategy, env)
    return result


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
    given = {"keys": keys} if values is None else {"keys": keys, "values": values}
    arrays = Arrays(**given)
    check("keys", keys, _KEYS)
    check_writable("keys", keys)
    if values is not None:
        check("values", values, _VALUES)
        check_writable("values", values)
        _check_equal_length("values", values, "keys", keys)
    return _sort(arrays, keys, values, descending, strategy, env)


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
    arrays = Arrays(keys=keys, values=values)
    check("keys", keys, _KEYS)
    check("values", values, _VALUES)
    _check_equal_length("values", values, "keys", keys)
    keys, values = arrays.copy(keys), arrays.copy(values)
    _sort(arrays, keys, values, descending, strategy, env)
    return keys, values


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
    given = {"keys": keys, "offsets": offsets}
    if values is not None:
        given["values"] = values
    arrays = Arrays(**given)
    check("keys", keys, _KEYS)
    check("offsets", offsets, _OFFSETS)
    result = arrays.copy(keys)
    moved = None
    if values is not None:
        check("values", values, _VALUES)
        _check_equal_length("values", values, "keys", keys)
        moved = arrays.copy(values)
    _ramify.segmented_sort(
        result,
        moved,
        contiguous(arrays, offsets),
        flag("descending", descending),
        arrays.environment(env),
    )
    return result if values is None else (result, moved)


def _sort(
    arrays: Arrays,
    keys: Any,
    values: Any,
    descending: bool,
    strategy: str,
    env: Environment | None,
) -> Report:
    return Report(
        _ramify.sort(
            keys,
            values,
            flag("descending", descending),
            text("strategy", strategy),
            arrays.environment(env),
        )
    )


def _check_equal_length(name: str, array: Any, of: str, other: Any) -> None:
    if array.shape[0] != other.shape[0]:
        raise ValueError(f"{name}: {array.shape[0]} elements, but {of} has {other.shape[0]}")
