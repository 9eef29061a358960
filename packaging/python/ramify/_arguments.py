# SPDX-License-Identifier: BSD-3-Clause
"""Checks of arguments that are no arrays. Each error names the argument."""

from __future__ import annotations

import numbers
import operator
from typing import Any

import numpy


def integer(name: str, value: Any, lowest: int = 0, highest: int = 2**31 - 1) -> int:
    """Return an integer. Raises TypeError for another type, ValueError outside of the range."""
    if isinstance(value, (bool, numpy.bool_)) or not hasattr(value, "__index__"):
        raise TypeError(f"{name}: a {type(value).__name__}; must be an integer")
    try:
        number = operator.index(value)
    except TypeError:  # an array has the method, too
        raise TypeError(f"{name}: a {type(value).__name__}; must be one integer") from None
    if not lowest <= number <= highest:
        raise ValueError(f"{name}: {number}; must be in [{lowest}, {highest}]")
    return number


def real(name: str, value: Any) -> float:
    """Return a number. Raises TypeError for another type; the called function checks its range."""
    if isinstance(value, (bool, numpy.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name}: a {type(value).__name__}; must be a number")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name}: {value} is too large for a float") from None


def flag(name: str, value: Any) -> bool:
    """Return True or False. Raises TypeError for another type."""
    if not isinstance(value, (bool, numpy.bool_)):
        raise TypeError(f"{name}: a {type(value).__name__}; must be True or False")
    return bool(value)


def text(name: str, value: Any) -> str:
    """Return a string. Raises TypeError for another type; the called function checks the name."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: a {type(value).__name__}; must be a string")
    return value


def reals(name: str, values: Any, length: int | None = None) -> list[float]:
    """Return a list of numbers. Raises TypeError or ValueError that names the faulty element."""
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise TypeError(f"{name}: a {type(values).__name__}; must be a sequence of numbers")
    found = [real(f"{name}[{i}]", value) for i, value in enumerate(values)]
    if length is not None and len(found) != length:
        raise ValueError(f"{name}: {len(found)} numbers; must be {length}")
    return found
