// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The sizes that the kernels are compiled with, apart from the kernels.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <ramify/runtime/build.hpp>
#include <ramify/runtime/collectives.cuh>
#include <type_traits>

namespace ramify::inline RAMIFY_BUILD {

/// Sizes for elements of a key and perhaps a value.
template <class Key, class Value>
struct quicksort_tuning {
  static constexpr bool has_values = !std::is_same_v<Value, no_value>;

  /// Keys and values are staged in shared memory one after the other.
  static constexpr int staged_bytes =
      static_cast<int>(has_values ? std::max(sizeof(Key), sizeof(Value)) : sizeof(Key));

#if RAMIFY_ON_CUDA
  /// Threads of every block: a power of two, for the merge sort.
  static constexpr int threads = staged_bytes <= 32 ? 512 : 256;
  /// A leaf fills 32 KiB of shared memory: two blocks fit an SM of any architecture since Turing.
  static constexpr int leaf_items = std::clamp(32 * 1024 / (threads * staged_bytes), 1, 16);
  /// A tile that is partitioned shares its memory with a bucket number for each key.
  static constexpr int tile_items = std::clamp(24 * 1024 / (threads * staged_bytes), 1, 12);
  static constexpr int most_buckets = 256;
#else
  // A block is one core's work. Few fibers with many keys each, and a leaf that stays in the
  // level-1 cache.
  static constexpr int threads = 32;
  static constexpr int leaf_items = std::clamp(32 * 1024 / (threads * staged_bytes), 4, 128);
  static constexpr int tile_items = leaf_items;
  static constexpr int most_buckets = 512;
#endif

  /// Elements that one block sorts in shared memory.
  static constexpr int leaf_size = threads * leaf_items;
  /// Elements that one block partitions at a time.
  static constexpr int tile_size = threads * tile_items;
  /// Buckets of a multiway partition at most: their splitters take at most 8 KiB.
  static constexpr int bucket_limit =
      std::min<int>(most_buckets, std::bit_floor(8u * 1024u / sizeof(Key)));
  /// Keys of which the binary partition takes the median: odd, one for each of the first threads.
  static constexpr int pivot_sample = std::min(threads, 128) - 1;

  static_assert(bucket_limit >= 4, "keys of more than 2 KiB are better sorted by index");
};

}  // namespace ramify::inline RAMIFY_BUILD
