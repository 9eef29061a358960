// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Merges sorted runs: pairs of runs, until one is left. Two grids merge a pair. In the first one,
/// a thread finds where a tile of the result begins in both runs (merge path). In the second one, a
/// block computes a tile:
///
///   1. Load      the block copies the elements of the tile from both runs to shared memory.
///   2. Merge     each thread finds its part of the tile in the same way, and merges it.
///   3. Store     the block writes the tile.
///
/// (If the blocks searched, each would wait for about 30 reads, one after another: 8 instead of
/// 4.7 ms for 2^30 u32 keys on an H100.)
///
///     left 1 4 6 9   right 2 3 5 7   tile of 4 --> from left 1 4, from right 2 3: 1 2 3 4
///
/// A comparator that is not a strict weak order could make tiles lose elements. Unless the order is
/// known to be one, each thread compares the end of its part with the begin of the next one; a
/// difference is reported, and the caller sorts instead.
///
/// O(n) work for each halving of the number of runs. Source: S. Odeh, O. Green et al., Merge path,
/// 2012.

#include <algorithm>
#include <cstdint>
#include <ramify/quicksort/order.cuh>
#include <ramify/quicksort/segment.cuh>
#include <ramify/quicksort/team_merge_sort.cuh>
#include <ramify/quicksort/tuning.cuh>
#include <ramify/runtime/grid_trace.cuh>
#include <ramify/runtime/shared.cuh>

namespace ramify::detail::distributed_sort::inline RAMIFY_BUILD {

using quicksort::key_value_arrays;

/// The shape of a block: a tile of at most 20 KiB of keys, or of one key for each thread of a warp.
template <class Code>
struct merge_tile {
  static constexpr unsigned threads = RAMIFY_ON_CUDA && sizeof(Code) <= 64 ? 256 : 32;
  static constexpr unsigned items =
      quicksort::round_down_to_odd(std::clamp(20 * 1024 / int(threads * sizeof(Code)), 1, 15));
  static constexpr unsigned size = threads * items;
};

/// A sorted run in device memory.
template <class Key, class Value>
struct sorted_run {
  key_value_arrays<Key, Value> from;
  std::uint64_t size = 0;
};

/// Writes how many elements of the left run come before tile t of the result to begins[t], for
/// t <= tiles. One thread for each.
template <class Key, class Value, class Order>
__global__ void find_tiles(sorted_run<Key, Value> left, sorted_run<Key, Value> right, Order order,
                           std::uint64_t tiles, std::uint64_t* begins, trace_ticket trace) {
  const traced here(trace, __func__);
  const std::uint64_t t = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (t > tiles) return;
  const std::uint64_t all = left.size + right.size;
  const std::uint64_t diagonal = t * merge_tile<typename Order::code>::size;
  begins[t] = quicksort::merge_path(diagonal < all ? diagonal : all, left.size, right.size,
                                    [&](std::uint64_t r, std::uint64_t l) {
                                      return order(order.encode(right.from.keys[r]),
                                                   order.encode(left.from.keys[l]));
                                    });
}

/// Merges two runs into `to`, which must not overlap with them. A block has a tile of the result;
/// `begins` is the result of find_tiles(). Sets *differs if the comparator is inconsistent.
template <class Key, class Value, class Order>
__global__ void __launch_bounds__(merge_tile<typename Order::code>::threads)
    merge_runs(sorted_run<Key, Value> left_run, sorted_run<Key, Value> right_run,
               const std::uint64_t* begins, key_value_arrays<Key, Value> to, Order order,
               unsigned* differs, trace_ticket trace) {
  const traced here(trace, __func__);
  using code = typename Order::code;
  using tile = merge_tile<code>;
  __shared__ uninitialized_array<code, tile::size + 1> storage;  // a merge reads one key too many
  // Of each element of the result: its index in keys.
  constexpr bool has_values = key_value_arrays<Key, Value>::has_values;
  [[maybe_unused]] __shared__ std::uint16_t source[has_values ? tile::size : 1];
  code* const keys = storage.data();

  const std::uint64_t first = std::uint64_t{blockIdx.x} * tile::size;
  const std::uint64_t all = left_run.size + right_run.size;
  const std::uint64_t last = first + tile::size < all ? first + tile::size : all;
  const std::uint64_t left_begin = begins[blockIdx.x];
  const std::uint64_t left_end = begins[blockIdx.x + 1];
  const auto count = static_cast<unsigned>(last - first);
  // Otherwise the tile may be outside of the runs. The test is the same for all threads.
  if (left_end < left_begin || left_end - left_begin > count) {
    if constexpr (!Order::known_strict_weak) atomicExch(differs, 1u);
    return;
  }
  const auto left_count = static_cast<unsigned>(left_end - left_begin);
  const std::uint64_t right_begin = first - left_begin;
  /// Returns element i of the tile, the left ones first, of the arrays of both runs.
  const auto element = [&](auto* left, auto* right, unsigned i) {
    return i < left_count ? left[left_begin + i] : right[right_begin + (i - left_count)];
  };

  // 1. Load.
  for (unsigned i = threadIdx.x; i < count; i += tile::threads) {
    keys[i] = order.encode(element(left_run.from.keys, right_run.from.keys, i));
  }
  __syncthreads();

  // 2. Merge.
  const auto left_of = [&](unsigned diagonal) {
    return quicksort::merge_path(
        diagonal, left_count, count - left_count,
        [&](unsigned r, unsigned l) { return order(keys[left_count + r], keys[l]); });
  };
  const unsigned begin = min(threadIdx.x * tile::items, count);
  const unsigned end = min(begin + tile::items, count);
  unsigned left = left_of(begin);
  unsigned right = left_count + begin - left;
  uninitialized_array<code, tile::items> merged;  // in registers, if keys are small
  code next_left = keys[left];
  code next_right = keys[right];
  RAMIFY_UNROLL
  for (unsigned i = 0; i < tile::items; ++i) {
    if (begin + i >= end) continue;
    const bool takes_right = left == left_count || (right < count && order(next_right, next_left));
    merged[i] = takes_right ? next_right : next_left;
    if constexpr (has_values) {
      source[begin + i] = static_cast<std::uint16_t>(takes_right ? right : left);
    }
    const unsigned next = takes_right ? ++right : ++left;
    (takes_right ? next_right : next_left) = keys[next];
  }
  if constexpr (!Order::known_strict_weak) {
    if (left != left_of(end)) atomicExch(differs, 1u);
  }
  __syncthreads();  // all threads have read the keys

  // 3. Store.
  RAMIFY_UNROLL
  for (unsigned i = 0; i < tile::items; ++i) {
    if (begin + i < end) keys[begin + i] = merged[i];
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < count; i += tile::threads) {
    to.keys[first + i] = order.decode(keys[i]);
    if constexpr (has_values) {
      to.values[first + i] = element(left_run.from.values, right_run.from.values, source[i]);
    }
  }
}

}  // namespace ramify::detail::distributed_sort::inline RAMIFY_BUILD
