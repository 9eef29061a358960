// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Small inputs of all families in device memory, and a table of their _async functions.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <ramify/graph/config.hpp>
#include <ramify/rooted_tree/config.hpp>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/environment.hpp>
#include <ramify/spatial_tree/geometry.cuh>
#include <span>
#include <string>
#include <vector>

#include "../spatial_tree/spatial_types.hpp"
#include "any_run.cuh"
#include "device_vectors.cuh"

namespace run_objects {

using namespace ramify;

constexpr std::size_t n = 300;

/// Input and output arrays of all families, in device memory.
struct arrays {
  device_buffer<float> keys = tests::upload(std::vector<float>(n, 1.0f));
  device_buffer<std::uint32_t> values = tests::upload(std::vector<std::uint32_t>(n, 7u));
  device_buffer<float> masses = tests::upload(std::vector<float>(n, 1.0f));
  device_buffer<point<float, 3>> points = tests::upload(places());
  device_buffer<point<float, 3>> forces{n, nullptr};
  device_buffer<std::uint32_t> ids{n, nullptr};
  device_buffer<float> distances{n, nullptr};
  // The path 0 - 1 - ... - n-1, as a tree and as a graph.
  device_buffer<std::int32_t> parents = tests::upload(numbers_from<std::int32_t>(-1, n));
  device_buffer<std::int64_t> offsets = tests::upload(ends());
  device_buffer<std::int32_t> targets = tests::upload(numbers_from<std::int32_t>(1, n - 1));
  device_buffer<float> lengths = tests::upload(std::vector<float>(n - 1, 1.0f));
  device_buffer<std::int32_t> labels{n, nullptr};
  device_buffer<double> ranks{n, nullptr};
  device_buffer<std::uint32_t> dwells{64, nullptr};

  /// Waits for the uploads, because non-blocking streams do not.
  arrays() { check(cudaDeviceSynchronize(), "waiting for the uploads"); }

  template <class T>
  static std::vector<T> numbers_from(T first, std::size_t count) {
    std::vector<T> all(count);
    std::iota(all.begin(), all.end(), first);
    return all;
  }
  static std::vector<std::int64_t> ends() {
    auto all = numbers_from<std::int64_t>(0, n);
    all.push_back(n - 1);
    return all;
  }
  static std::vector<point<float, 3>> places() {
    std::vector<point<float, 3>> all;
    for (std::size_t i = 0; i < n; ++i) {
      const auto x = static_cast<float>(i);
      all.push_back({{x, x * x, 1.0f}});
    }
    return all;
  }
  [[nodiscard]] tree_shape tree() const {
    return tree_shape::of_parents(std::span<const std::int32_t>(parents.data(), n));
  }
  [[nodiscard]] graph_view graph() const {
    return graph_view::directed({offsets.data(), n + 1}, {targets.data(), n - 1});
  }
};

using tests::any_run;

/// An _async function with its arguments, except for the environment.
struct async_call {
  std::string name;
  std::size_t scratch_bytes;  ///< of handed-in memory; 0: the call takes none
  std::function<any_run(const environment&)> start;
  bool has_route = true;  ///< false: the call has nothing to launch from a kernel
  bool has_loop = true;   ///< false: a graph of the flat route has all rounds, and no loop
};

/// Returns the calls of all families. `a` must outlive them.
std::vector<async_call> calls_of_all_families(const arrays& a);

/// Returns the calls without work, of the families that have one.
std::vector<async_call> calls_without_work(const arrays& a);

}  // namespace run_objects
