# SPDX-License-Identifier: BSD-3-Clause
"""Integrates the function of integrand.cu: python integrate.py ./libintegrand.so"""

import ctypes
import math
import sys

library = ctypes.CDLL(sys.argv[1])
three = ctypes.c_double * 3
library.integrate.restype = ctypes.c_bool
library.integrate.argtypes = [
    ctypes.c_double,
    three,
    three,
    ctypes.c_double,
    ctypes.c_double * 2,
    ctypes.c_char_p,
    ctypes.c_size_t,
]


def integrate(width, lower, upper, relative_tolerance=1e-6):
    """Return value and error. Raises ValueError with the message of Ramify."""
    result, message = (ctypes.c_double * 2)(), ctypes.create_string_buffer(500)
    converged = library.integrate(
        width, three(*lower), three(*upper), relative_tolerance, result, message, len(message)
    )
    if message.value:
        raise ValueError(message.value.decode())
    if not converged:
        raise ArithmeticError(f"the best estimate is {result[0]} with an error of {result[1]}")
    return tuple(result)


value, error = integrate(0.5, (0, 0, 0), (1, 1, 1))
exact = (math.sqrt(math.pi) / 4 * math.erf(2)) ** 3
print(f"{value:.9f}, error at most {error:.1e}; exactly {exact:.9f}")
assert abs(value - exact) <= error <= 1e-6 * exact
try:
    integrate(0.5, (0, 0, 0), (1, 1, 1), relative_tolerance=2)
    raise SystemExit("a tolerance of 2 was accepted")
except ValueError as refused:
    assert "relative_tolerance" in str(refused), refused
