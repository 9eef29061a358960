// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Quicksort for plain C++: compiled code over std::span, on the GPU or on the CPU executor.
///
///     std::vector<float> keys = ...;
///     const ramify::quicksort_report report = ramify::quicksort(std::span(keys));
///     std::cout << report;  // the backend, the route, and why they were chosen
///
/// Keys      int32, uint32, int64, uint64, float or double; values std::uint32_t or std::uint64_t.
///           For other types and other orders use the header template <ramify/quicksort.cuh>.
/// Memory    Ordinary host memory; on the CUDA backend also pinned, managed or device memory. Host
///           memory is copied to the device and back; device and managed memory is sorted in place.
///           Keys and values must not overlap.
/// Order     Ascending or descending; a NaN counts as greater than every number. Not stable.
/// Waits     All functions return after the keys are sorted.
/// Errors    std::invalid_argument for a bad argument, and unavailable for a backend or a route
///           that this machine or this build cannot run, both before any memory is written;
///           cuda_error, device_launch_error. Copied host memory is written only after a successful
///           sort.
/// Cost      That of <ramify/quicksort.cuh>. On the CUDA backend, host memory adds two copies,
///           whose times the report states separately. <ramify/runtime/staging.cuh> states how
///           pageable memory is copied.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ramify/quicksort/config.hpp>
#include <ramify/runtime/error.hpp>
#include <span>

namespace ramify {

/// The configuration of the header template, and what the facade adds.
struct quicksort_options : quicksort_config {
  ramify::backend backend = ramify::backend::automatic;
  bool descending = false;
  /// The backend's pending-launch limit during the call; 0 does not change it. The report states
  /// the limit that was granted. Other threads must not launch during such a call.
  std::size_t pending_launches = 0;
};

/// The key types that the facade is compiled for.
template <class T>
concept quicksort_facade_key = std::same_as<T, std::int32_t> || std::same_as<T, std::uint32_t> ||
    std::same_as<T, std::int64_t> || std::same_as<T, std::uint64_t> || std::same_as<T, float> ||
    std::same_as<T, double>;
/// The value types that the facade is compiled for.
template <class T>
concept quicksort_facade_value = std::same_as<T, std::uint32_t> || std::same_as<T, std::uint64_t>;

/// Sorts keys in place.
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error
template <quicksort_facade_key Key>
quicksort_report quicksort(std::span<Key> keys, const quicksort_options& options = {});

/// Sorts keys in place and moves each value with its key. Both spans must have the same size and
/// must not overlap. \throws std::invalid_argument, unavailable, cuda_error, device_launch_error
template <quicksort_facade_key Key, quicksort_facade_value Value>
quicksort_report quicksort_pairs(std::span<Key> keys, std::span<Value> values,
                                 const quicksort_options& options = {});

}  // namespace ramify
