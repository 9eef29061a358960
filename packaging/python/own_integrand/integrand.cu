// SPDX-License-Identifier: BSD-3-Clause
// A function of one's own for integrate.py: a shared library, for the CPU executor or for a GPU.
// Put your own function in place of `bell`, and your own parameters in place of `width`.
#include <algorithm>
#include <cstring>
#include <exception>
#include <ramify/quadrature.cuh>

namespace {

struct bell {
  double width;

  __device__ double operator()(const ramify::quadrature_point<3>& p) const {
    return exp(-(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) / (width * width));
  }
};

}  // namespace

/// Integrates over the box from `lower` to `upper`, three coordinates each. Returns whether it has
/// converged; `result` gets value and error. Writes the message of an exception to `message`, of
/// `size` bytes, which is empty otherwise.
extern "C" bool integrate(double width, const double* lower, const double* upper, double tolerance,
                          double* result, char* message, std::size_t size) {
  message[0] = '\0';
  try {
    const ramify::quadrature_box<3> box{{lower[0], lower[1], lower[2]},
                                        {upper[0], upper[1], upper[2]}};
    const auto found = ramify::quadrature(box, bell{width}, {.relative_tolerance = tolerance});
    result[0] = found.value;
    result[1] = found.error;
    return found.converged();
  } catch (const std::exception& e) {
    std::strncpy(message, e.what(), size - 1);
    message[size - 1] = '\0';
    return false;
  }
}
