// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The sizes that the kernels are compiled with, apart from the kernels. Measured ones say where: an
/// H200, CUDA 13.0, 2^28 uniform keys unless said otherwise.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <ramify/runtime/build.hpp>
#include <ramify/runtime/collectives.cuh>
#include <type_traits>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// `count`, or one less where that is even: neighbouring threads whose elements lie an odd number of
/// words apart use different banks of shared memory.
[[nodiscard]] constexpr int round_down_to_odd(int count) {
  return count % 2 == 0 ? std::max(count - 1, 1) : count;
}

/// Dynamic shared memory that a kernel may have without asking the driver for more.
inline constexpr int default_shared_bytes = 48 * 1024;

/// Sizes for elements of a key and perhaps a value, of both strategies; those of `binary`.
template <class Key, class Value>
struct quicksort_tuning {
  static constexpr bool has_values = !std::is_same_v<Value, no_value>;

  /// Keys and values are staged in shared memory one after the other.
  static constexpr int staged_bytes =
      static_cast<int>(has_values ? std::max(sizeof(Key), sizeof(Value)) : sizeof(Key));
  static_assert(staged_bytes <= 1024,
                "keys and values of more than 1 KiB are better sorted by their index");
  /// What an element takes in shared memory while it is sorted: its key and, for a value, a place.
  static constexpr int sorted_bytes = static_cast<int>(sizeof(Key)) + (has_values ? 2 : 0);

#if RAMIFY_ON_CUDA
  /// Threads of a block. Large elements leave memory for fewer.
  static constexpr int threads =
      staged_bytes <= 32 ? 512 : std::min(256, int(std::bit_floor(32u * 1024u / staged_bytes)));
  static constexpr int leaf_items = round_down_to_odd(std::clamp(32 * 1024 / (threads * sorted_bytes), 1, 15));
  static constexpr int tile_items = std::clamp(24 * 1024 / (threads * staged_bytes), 1, 12);
#else
  // A block is one core's work. Few fibers with many keys each, and a leaf that stays in the
  // level-1 cache.
  static constexpr int threads = sorted_bytes <= 1024 ? 32 : 16;
  static constexpr int leaf_items = round_down_to_odd(std::clamp(32 * 1024 / (threads * sorted_bytes), 1, 127));
  static constexpr int tile_items = std::clamp(24 * 1024 / (threads * staged_bytes), 1, 128);
#endif

  /// Elements that one block sorts in shared memory.
  static constexpr int leaf_size = threads * leaf_items;
  /// Elements that one block partitions at a time.
  static constexpr int tile_size = threads * tile_items;
  /// Keys of which the binary partition takes the median: odd, one for each of the first threads.
  static constexpr int pivot_sample = std::min(threads, 128) - 1;
};

/// Sizes of `sample_sort`.
template <class Key, class Value>
struct sample_sort_tuning {
  static constexpr bool has_values = quicksort_tuning<Key, Value>::has_values;
  static constexpr int staged_bytes = quicksort_tuning<Key, Value>::staged_bytes;
  static constexpr int sorted_bytes = quicksort_tuning<Key, Value>::sorted_bytes;
  static constexpr int key_bytes = static_cast<int>(sizeof(Key));

#if RAMIFY_ON_CUDA
  // A leaf is sorted by a team of a block's threads, `leaf_items` each, which live in registers: the
  // more a thread has, the fewer merges there are, and the fewer threads an SM has room for. u32:
  // 5 teams of 192 threads with 31 keys 2.6 ms, 4 of 256 with 31 3.0, 2 of 512 with 15 4.4. f64: 4 of
  // 256 with 23 4.8 ms, 2 of 512 with 15 5.9.
  static constexpr int registers = (key_bytes + 3) / 4 + (has_values ? 1 : 0);  ///< an element
  static constexpr int preferred_items = registers == 1   ? 31
                                      : registers == 2 ? 23
                                      : registers == 3 ? 15
                                      : registers <= 4 ? 11
                                      : registers <= 8 ? 5
                                                       : 1;
  static constexpr int team_threads = registers == 1     ? 192
                                      : registers <= 4   ? 256
                                      : registers <= 16  ? 128
                                      : registers <= 128 ? 64
                                                         : 32;
  static constexpr int max_teams = std::min(1024 / team_threads, 5);
  static constexpr int leaf_items =
      round_down_to_odd(std::clamp((default_shared_bytes / sorted_bytes - 2) / (team_threads + 1), 1, preferred_items));
  static constexpr int sample_threads = key_bytes <= 64 ? 1024 : 256;
  static constexpr int sample_items =
      round_down_to_odd(std::clamp(124 * 1024 / (sample_threads * key_bytes), 1, 15));
  /// Keys of the root's sample that the pivots between its parts are taken from.
  static constexpr unsigned root_pivot_sample =
      std::bit_floor(static_cast<unsigned>(std::clamp(16 * 1024 / key_bytes, 16, 256)));
  /// Parts that the sample of the root is ordered in, each by a block. Blocks that sort a sample each, and
  /// then take medians of candidates, take half as long again.
  static constexpr unsigned root_parts = root_pivot_sample / 4;
  static constexpr int count_threads = key_bytes <= 32 ? 1024 : 256;
  /// Keys that a thread looks up at a time: each search waits for shared memory, so several wait
  /// together.
  static constexpr int count_items = key_bytes <= 8 ? 8 : key_bytes <= 32 ? 4 : 1;
  /// The elements of a tile are laid out in up to 64 KiB of shared memory, bucket by bucket; on a device with
  /// less, a tile is shorter than its threads could take. The whole sort, u32: with 512
  /// threads of 24 keys each 6.75 ms, of 28 7.26, of 32 6.94.
  static constexpr int tile_threads = 512;
  static constexpr int tile_items = std::clamp(128 / staged_bytes, 1, 24);
  /// A piece of the input, which a block counts and scatters.
  static constexpr int min_piece = 32 * 1024 / std::min(staged_bytes, 32);
#else
  static constexpr int team_threads = 16;
  static constexpr int max_teams = 2;
  static constexpr int leaf_items =
      round_down_to_odd(std::clamp(16 * 1024 / (team_threads * sorted_bytes), 1, 127));
  static constexpr int sample_threads = 32;
  static constexpr int sample_items =
      round_down_to_odd(std::clamp(64 * 1024 / (sample_threads * key_bytes), 1, 127));
  static constexpr unsigned root_pivot_sample = 32;
  static constexpr unsigned root_parts = 8;
  static constexpr int count_threads = 32;
  static constexpr int count_items = 4;
  static constexpr int tile_threads = 32;
  static constexpr int tile_items = std::clamp(24 * 1024 / (tile_threads * staged_bytes), 1, 128);
  static constexpr int min_piece = tile_threads * tile_items;
#endif

  /// Elements that a team sorts in shared memory.
  static constexpr int leaf_size = team_threads * leaf_items;
  /// Keys of a sample for each bucket, which makes buckets that differ by 13 % (standard deviation).
  static constexpr int oversampling = 60;
  /// The same of a large root, whose longest segment is what the next level waits for: with 60, 2^26 u32 keys take
  /// 1 to 2 % longer.
  static constexpr int root_oversampling = 240;
  /// Keys of the root's sample that a thread looks up at a time.
  static constexpr int root_items = std::min(sample_items, 8);
  /// Keys that a bucket is to have if all goes well: few buckets are longer than a leaf.
  static constexpr int bucket_size = std::max(leaf_size * 7 / 10, 1);
  /// The same, at most, of a root whose buckets will be leaves: they are as many as a power of two. Its
  /// sample is small, eight keys a bucket, and they differ by some 35 %, one by the root of eight.
  static constexpr int small_bucket_size = std::max(leaf_size / 2, 1);
  /// Buckets of a partition at most, a power of two: their splitters take at most 8 KiB.
  static constexpr int bucket_limit = std::min<int>(256, std::bit_floor(8u * 1024u / sizeof(Key)));
  /// The same of a root whose buckets will be leaves: shorter runs are written, and one level less.
  static constexpr int leaf_bucket_limit =
      std::min<int>(1024, std::bit_floor(8u * 1024u / sizeof(Key)));
  /// Elements for which a segment has a place in the lists of buckets: it has more such places than
  /// buckets, which are less than four times as many as are wanted (a power of two, and equality buckets).
  static constexpr int bucket_unit = std::max(small_bucket_size / 4, 1);
};

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
