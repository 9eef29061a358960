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
  static_assert(staged_bytes <= 1024,
                "keys and values of more than 1 KiB are better sorted by their index");

#if RAMIFY_ON_CUDA
  /// Threads of every block: a power of two, for the merge sort. Large elements leave memory for
  /// fewer.
  static constexpr int threads =
      staged_bytes <= 32 ? 512 : std::min(256, int(std::bit_floor(32u * 1024u / staged_bytes)));
  /// A leaf fills 32 KiB of shared memory, less than the 48 KiB that need no opt-in.
  static constexpr int leaf_items = std::clamp(32 * 1024 / (threads * staged_bytes), 1, 16);
  /// A tile that is partitioned shares its memory with a bucket number for each key.
  static constexpr int tile_items = std::clamp(24 * 1024 / (threads * staged_bytes), 1, 12);
  static constexpr int most_buckets = 256;
#else
  // A block is one core's work. Few fibers with many keys each, and a leaf that stays in the
  // level-1 cache: there, keys and values are sorted as pairs.
  static constexpr int sorted_bytes = has_values ? 2 * staged_bytes : staged_bytes;
  static constexpr int threads = sorted_bytes <= 1024 ? 32 : 16;
  static constexpr int leaf_items = std::clamp(32 * 1024 / (threads * sorted_bytes), 1, 128);
  static constexpr int tile_items = std::clamp(24 * 1024 / (threads * staged_bytes), 1, 128);
  static constexpr int most_buckets = 512;
#endif

  /// Elements that one block sorts in shared memory.
  static constexpr int leaf_size = threads * leaf_items;
  /// Elements that one block partitions at a time.
  static constexpr int tile_size = threads * tile_items;
  /// Buckets of a multiway partition at most: their splitters take at most 8 KiB.
  static constexpr int bucket_limit =
      std::min<int>(most_buckets, std::bit_floor(8u * 1024u / sizeof(Key)));
  static constexpr std::size_t element_bytes = sizeof(Key) + (has_values ? sizeof(Value) : 0);
  /// Where multiway's automatic route changes. On an H200, u32 keys: at 4 MiB device takes 0.97 of
  /// flat's time (no wait for the host between levels), at 16 MiB 1.13, at 1 GiB 1.31 (most likely
  /// fewer blocks of a large grid are resident if a kernel launched it).
  static constexpr std::size_t flat_from_bytes = std::size_t{16} << 20;
  /// Keys of which the binary partition takes the median: odd, one for each of the first threads.
  static constexpr int pivot_sample = std::min(threads, 128) - 1;
};

/// Dynamic shared memory that a kernel may have without asking the driver for more.
inline constexpr std::size_t most_shared_bytes = 48 * 1024;

}  // namespace ramify::inline RAMIFY_BUILD
