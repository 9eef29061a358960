// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The host side of merges: the elements of a rank in device memory, and the passes over its runs.

#include <algorithm>
#include <cstdint>
#include <ramify/distributed_sort/merge_runs.cuh>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/detail/launch_each.cuh>
#include <utility>
#include <vector>

namespace ramify::detail::distributed_sort::inline RAMIFY_BUILD {

/// Keys, and values if there are any, in device memory.
template <class Key, class Value>
struct rank_elements {
  static constexpr bool has_values = key_value_arrays<Key, Value>::has_values;

  device_buffer<Key> keys;
  device_buffer<Value> values;  ///< empty if there are none

  [[nodiscard]] std::uint64_t size() const { return keys.size(); }
  [[nodiscard]] static rank_elements make(std::uint64_t n, cudaStream_t stream) {
    return {device_buffer<Key>(n, stream), device_buffer<Value>(has_values ? n : 0, stream)};
  }
  /// Returns the arrays from element `i` on.
  [[nodiscard]] key_value_arrays<Key, Value> arrays_from(std::uint64_t i) const {
    return {keys.data() + i, has_values ? values.data() + i : nullptr};
  }
};

/// Merges sorted runs in passes, which halve their number.
template <class Key, class Value, class Order>
class run_merger {
  using elements = rank_elements<Key, Value>;
  using arrays = key_value_arrays<Key, Value>;
  using tile = merge_tile<typename Order::code>;

 public:
  using run = sorted_run<Key, Value>;

  /// Prepares merges of n elements in all. \throws cuda_error
  run_merger(const Order& order, std::uint64_t n, cudaStream_t stream)
      : order_(order), stream_(stream), differs_(1, stream), begins_(n / tile::size + 2, stream) {
    clear_memory(differs_.data(), 1, stream, "clearing a flag");
  }

  /// Merges the runs. `into`, which becomes the result, has space for all elements, and `spare` has
  /// it if there are more than two runs. Runs may be in `spare`, but not in `into`. Returns false
  /// if the comparator is inconsistent; `into` then has all elements, not sorted. Asynchronous if
  /// the order is known to be strict weak; else the host waits after each pass. Must be called
  /// once. \throws cuda_error
  [[nodiscard]] bool merge(std::vector<run> runs, elements& into, elements& spare,
                           const trace_ticket& ticket) {
    std::erase_if(runs, [](const run& r) { return r.size == 0; });
    while (runs.size() > 1) {
      // 1. Merge pairs of runs. The last run may have no partner.
      std::vector<run> merged;
      for (std::uint64_t i = 0, begin = 0; i < runs.size(); i += 2) {
        const run second = i + 1 < runs.size() ? runs[i + 1] : run{runs[i].from, 0};
        launch_merge(runs[i], second, into.arrays_from(begin), ticket);
        merged.push_back({into.arrays_from(begin), runs[i].size + second.size});
        begin += merged.back().size;
      }
      // 2. An inconsistent comparator may have lost elements, but the runs have all of them.
      if constexpr (!Order::known_strict_weak) {
        if (read_back(differs_.data(), stream_, "merging runs") != 0) {
          copy(runs, into);
          return false;
        }
      }
      if (merged.size() == 1) return true;
      // 3. The next pass writes to the other arrays.
      runs = std::move(merged);
      std::swap(into, spare);
    }
    copy(runs, into);  // one run, or none
    return true;
  }

  /// Copies runs to `to`, one after another. Asynchronous. \throws cuda_error
  void copy(const std::vector<run>& runs, const elements& to) const {
    std::uint64_t begin = 0;
    for (const run& r : runs) {
      const arrays place = to.arrays_from(begin);
      copy_array(r.from.keys, r.size, place.keys);
      if constexpr (elements::has_values) copy_array(r.from.values, r.size, place.values);
      begin += r.size;
    }
  }

  /// Returns the number of grids that merge() has launched.
  [[nodiscard]] unsigned grids() const { return grids_; }

 private:
  template <class T>
  void copy_array(const T* from, std::uint64_t n, T* to) const {
    if (n == 0) return;
    check(cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyDeviceToDevice, stream_),
          "copying runs");
  }

  void launch_merge(const run& left, const run& right, const arrays& to,
                    const trace_ticket& ticket) {
    const std::uint64_t tiles = (left.size + right.size - 1) / tile::size + 1;
    runtime::launch_each(find_tiles<Key, Value, Order>, tiles + 1, stream_, "finding tiles", left,
                         right, order_, tiles, begins_.data(), ticket);
    check(launch(merge_runs<Key, Value, Order>, {static_cast<unsigned>(tiles), tile::threads},
                 stream_, left, right, begins_.data(), to, order_, differs_.data(), ticket)
              .code(),
          "merging runs");
    grids_ += 2;
  }

  Order order_;
  cudaStream_t stream_;
  device_buffer<unsigned> differs_;
  device_buffer<std::uint64_t> begins_;  ///< of the tiles of one merge
  unsigned grids_ = 0;
};

}  // namespace ramify::detail::distributed_sort::inline RAMIFY_BUILD
