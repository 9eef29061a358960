// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Merges the sorted runs that a rank has received: pairs of runs, until one is left. A grid merges
/// a pair, and a block computes a tile of the result.
///
///   1. Split     threads 0 and 1 find the ends of the tile in both runs (merge path).
///   2. Load      the block copies these elements of both runs to shared memory.
///   3. Merge     each thread finds its part of the tile in the same way, and merges it.
///   4. Store     the block writes the tile.
///
///     left 1 4 6 9   right 2 3 5 7   tile of 4 --> from left 1 4, from right 2 3: 1 2 3 4
///
/// A comparator that is not a strict weak order could make tiles lose elements. Unless the order is
/// known to be one, each thread compares the end of its part with the begin of the next one; a
/// difference is reported, and the caller sorts instead.
///
/// O(n) work for each halving of the number of runs. Source: S. Odeh, O. Green et al., Merge path,
/// 2012.

#include <cstdint>
#include <ramify/quicksort/order.cuh>
#include <ramify/quicksort/segment.cuh>
#include <ramify/quicksort/team_merge_sort.cuh>
#include <ramify/runtime/grid_trace.cuh>
#include <ramify/runtime/shared.cuh>

namespace ramify::detail::distributed_sort::inline RAMIFY_BUILD {

using quicksort::key_value_arrays;

/// The shape of a block: a tile of 16 KiB of keys, or of one key for each thread of a warp.
template <class Code>
struct merge_tile {
  static constexpr unsigned threads = RAMIFY_ON_CUDA && sizeof(Code) <= 64 ? 256 : 32;
  static constexpr unsigned items_in_16_kib = 16'384 / (threads * sizeof(Code));
  static constexpr unsigned items = items_in_16_kib < 1    ? 1
                                    : items_in_16_kib > 15 ? 15
                                                           : items_in_16_kib;
  static constexpr unsigned size = threads * items;
};

/// Two runs that follow each other in an array: [begin, middle) and [middle, end).
struct run_pair {
  std::uint64_t begin, middle, end;
};

/// Merges two runs of `from` into the same positions of `to`. A block has a tile of the result.
/// Sets *differs, unless it is null, if the comparator is inconsistent.
template <class Key, class Value, class Order>
__global__ void __launch_bounds__(merge_tile<typename Order::code>::threads)
    merge_runs(key_value_arrays<Key, Value> from, key_value_arrays<Key, Value> to, run_pair runs,
               Order order, unsigned* differs, trace_ticket trace) {
  const traced here(trace, __func__);
  using code = typename Order::code;
  using tile = merge_tile<code>;
  __shared__ uninitialized_array<code, tile::size> storage;
  __shared__ std::uint16_t source[tile::size];  // of each element of the result: its index in keys
  __shared__ std::uint64_t left_ends[2];
  code* const keys = storage.data();

  // 1. Split.
  const std::uint64_t first = std::uint64_t{blockIdx.x} * tile::size;
  const std::uint64_t all = runs.end - runs.begin;
  const std::uint64_t last = first + tile::size < all ? first + tile::size : all;
  if (threadIdx.x < 2) {
    left_ends[threadIdx.x] =
        quicksort::merge_path(threadIdx.x == 0 ? first : last, runs.middle - runs.begin,
                              runs.end - runs.middle, [&](std::uint64_t r, std::uint64_t l) {
                                return order(order.encode(from.keys[runs.middle + r]),
                                             order.encode(from.keys[runs.begin + l]));
                              });
  }
  __syncthreads();
  const auto count = static_cast<unsigned>(last - first);
  // Otherwise the tile may be outside of the runs. The test is the same for all threads.
  if (left_ends[1] < left_ends[0] || left_ends[1] - left_ends[0] > count) {
    if constexpr (!Order::known_strict_weak) atomicExch(differs, 1u);
    return;
  }
  const auto left_count = static_cast<unsigned>(left_ends[1] - left_ends[0]);
  const std::uint64_t left_begin = runs.begin + left_ends[0];
  const std::uint64_t right_begin = runs.middle + first - left_ends[0];
  const auto place_of = [&](unsigned i) {
    return i < left_count ? left_begin + i : right_begin + (i - left_count);
  };

  // 2. Load.
  for (unsigned i = threadIdx.x; i < count; i += tile::threads) {
    keys[i] = order.encode(from.keys[place_of(i)]);
  }
  __syncthreads();

  // 3. Merge.
  const auto left_of = [&](unsigned diagonal) {
    return quicksort::merge_path(
        diagonal, left_count, count - left_count,
        [&](unsigned r, unsigned l) { return order(keys[left_count + r], keys[l]); });
  };
  const unsigned begin = min(threadIdx.x * tile::items, count);
  const unsigned end = min(begin + tile::items, count);
  unsigned left = left_of(begin);
  unsigned right = left_count + begin - left;
  for (unsigned out = begin; out < end; ++out) {
    const bool takes_right =
        left == left_count || (right < count && order(keys[right], keys[left]));
    source[out] = static_cast<std::uint16_t>(takes_right ? right++ : left++);
  }
  if constexpr (!Order::known_strict_weak) {
    if (left != left_of(end)) atomicExch(differs, 1u);
  }
  __syncthreads();

  // 4. Store.
  for (unsigned i = threadIdx.x; i < count; i += tile::threads) {
    const unsigned index = source[i];
    const std::uint64_t out = runs.begin + first + i;
    to.keys[out] = order.decode(keys[index]);
    if constexpr (key_value_arrays<Key, Value>::has_values) {
      to.values[out] = from.values[place_of(index)];
    }
  }
}

}  // namespace ramify::detail::distributed_sort::inline RAMIFY_BUILD
