// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// quicksort() for plain C++: compiled code behind std::span, on whatever machine runs it.
///
///     std::vector<float> keys = ...;
///     const ramify::quicksort_report report = ramify::quicksort(std::span(keys));
///     std::cout << report;  // on which backend, by which route, and why
///
/// Keys      int32, uint32, int64, uint64, float or double; values std::uint32_t or std::uint64_t.
///           For other types and other orders there is the header template <ramify/quicksort.cuh>.
/// Memory    ordinary host memory; on the CUDA backend also pinned, managed or device memory. Host
///           memory is copied to the device and back, device and managed memory is sorted in place.
///           Keys and values must not overlap.
/// Order     ascending or descending; a NaN counts as greater than every number. Not stable.
/// Waits     until the keys are sorted.
/// Errors    std::invalid_argument for a bad argument, and unavailable for a backend or a route
///           that this machine or this build cannot run, both before anything is touched;
///           cuda_error, device_launch_error. Host memory that was copied is only written once the
///           sort has gone well.
/// Cost      as <ramify/quicksort.cuh>; on the CUDA backend host memory adds both copies, which the
///           report tells apart from the sort. Copies of 4 MiB or more of ordinary memory take up to
///           four host threads and go through pinned chunks, <ramify/runtime/staging.cuh>; pinned
///           memory is copied directly.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ramify/quicksort/config.hpp>
#include <ramify/runtime/error.hpp>
#include <span>

namespace ramify {

struct quicksort_options : quicksort_config {
  ramify::backend backend = ramify::backend::automatic;
  bool descending = false;
  /// Sets the backend's pending-launch limit for the time of the call; 0 leaves it alone. The
  /// report tells what was granted. Not while another thread launches.
  std::size_t pending_launches = 0;
};

/// The types that the facade is compiled for.
template <class T>
concept quicksort_facade_key = std::same_as<T, std::int32_t> || std::same_as<T, std::uint32_t> ||
    std::same_as<T, std::int64_t> || std::same_as<T, std::uint64_t> || std::same_as<T, float> ||
    std::same_as<T, double>;
template <class T>
concept quicksort_facade_value = std::same_as<T, std::uint32_t> || std::same_as<T, std::uint64_t>;

/// Sorts keys in place.
template <quicksort_facade_key Key>
quicksort_report quicksort(std::span<Key> keys, const quicksort_options& options = {});

/// Sorts keys in place; each value goes where its key goes. \throws std::invalid_argument if the
/// sizes differ
template <quicksort_facade_key Key, quicksort_facade_value Value>
quicksort_report quicksort_pairs(std::span<Key> keys, std::span<Value> values,
                                 const quicksort_options& options = {});

}  // namespace ramify
