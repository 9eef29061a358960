// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Defines the facade's level_sum() for the backend of the compiler that reads this file.

#include <ramify/level_sum.cuh>
#include <ramify/version.hpp>

#include "facade/device_arrays.cuh"
#include "level_sum/on_backend.hpp"

namespace ramify::detail::facade::inline RAMIFY_ABI {

template <>
level_sum_report level_sum_on<this_build>(std::span<const std::uint64_t> numbers,
                                          const level_sum_options& options, const environment& env,
                                          std::uint64_t& sum) {
  facade_call call(env);
  const on_device device_numbers(numbers, call, "numbers");
  static_assert(sizeof(std::uint64_t) == sizeof(unsigned long long));
  auto found = ramify::level_sum(reinterpret_cast<const unsigned long long*>(device_numbers.data()),
                                 numbers.size(), options, env);
  sum = found.sum;
  return call.finish(found.report);
}

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
