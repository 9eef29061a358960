// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What the compiled facade is made of: one half for each backend, and a choice between them.

#include <cstddef>
#include <ramify/quicksort.hpp>
#include <string>

namespace ramify::facade {

/// Sorts on one backend. Value is void for keys alone. Defined for each key and value type in a
/// file of its own, which is compiled once by nvcc and once by the C++ compiler.
template <backend where, class Key, class Value>
quicksort_report sort_on(Key* keys, Value* values, std::size_t n, const quicksort_options& options);

/// A device that can run kernels, or why there is none.
struct cuda_device {
  bool usable;
  std::string description;
};

/// Asks the driver, every time: a device may come or go with the environment.
[[nodiscard]] cuda_device find_cuda_device();

}  // namespace ramify::facade
