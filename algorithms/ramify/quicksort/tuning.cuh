// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Compile-time sizes of the quicksort kernels. Measured times in the comments are from an H200
/// with CUDA 13.0, for 2^28 uniform keys unless a comment says otherwise.

#include <algorithm>
#include <bit>
#include <ramify/runtime/build.hpp>
#include <ramify/runtime/no_value.hpp>
#include <type_traits>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// Returns `count` if it is odd, else count - 1, but at least 1. Threads whose items lie an odd
/// number of 4-byte words apart access shared memory without bank conflicts.
[[nodiscard]] constexpr int round_down_to_odd(int count) {
  return count % 2 == 0 ? std::max(count - 1, 1) : count;
}

/// Returns the largest power of two that is not greater than `count`. The sorting network of so
/// many elements has loops with fixed numbers of iterations only.
[[nodiscard]] constexpr int round_down_to_power_of_two(int count) {
  return static_cast<int>(std::bit_floor(static_cast<unsigned>(count)));
}

/// Dynamic shared memory that a kernel may use without an opt-in (cudaFuncSetAttribute).
inline constexpr int default_shared_bytes = 48 * 1024;

/// Sizes for elements of a key and an optional value: those of `binary`, and those of both
/// strategies.
template <class Key, class Value>
struct quicksort_tuning {
  static constexpr bool has_values = !std::is_same_v<Value, no_value>;

  /// Bytes of an element in a tile in shared memory, which holds first keys and then values.
  static constexpr int staged_bytes =
      static_cast<int>(has_values ? std::max(sizeof(Key), sizeof(Value)) : sizeof(Key));
  static_assert(staged_bytes <= 1024,
                "keys and values of more than 1 KiB are better sorted by their index");
  /// Bytes of an element in shared memory while a leaf is sorted: the key and, with values, an
  /// index.
  static constexpr int sorted_bytes = static_cast<int>(sizeof(Key)) + (has_values ? 2 : 0);

#if RAMIFY_ON_CUDA
  /// Threads of a block. Blocks of large elements have fewer, because shared memory is limited.
  static constexpr int threads =
      staged_bytes <= 32 ? 512 : std::min(256, int(std::bit_floor(32u * 1024u / staged_bytes)));
  static constexpr int leaf_items =
      round_down_to_odd(std::clamp(32 * 1024 / (threads * sorted_bytes), 1, 15));
  static constexpr int tile_items = std::clamp(24 * 1024 / (threads * staged_bytes), 1, 12);
#else
  // A core runs a whole block: few fibers with many keys each, and a leaf that fits into the
  // level-1 cache. With 32 threads, tiles of the same size and leaves of twice the size, 2^22 u32
  // keys take 1.14 of the time.
  static constexpr int threads = 16;
  static constexpr int leaf_items =
      round_down_to_power_of_two(std::clamp(32 * 1024 / (threads * sorted_bytes), 1, 128));
  static constexpr int tile_items = std::clamp(24 * 1024 / (threads * staged_bytes), 1, 256);
#endif

  /// Whether a partition branches on the side of an element. A CPU mispredicts every second such
  /// branch.
  static constexpr bool branches = RAMIFY_ON_CUDA;
  /// Elements that one block sorts in shared memory.
  static constexpr int leaf_size = threads * leaf_items;
  /// Elements that one block partitions at a time.
  static constexpr int tile_size = threads * tile_items;
  /// Keys in the sample whose median is the pivot of `binary`: odd, and at most one per thread.
  static constexpr int pivot_sample = std::min(threads, 128) - 1;
};

/// The threads of a block that sorts a chunk of a small root, and the elements of a thread.
struct chunk_shape {
  int threads;
  int items;
  [[nodiscard]] constexpr int size() const { return threads * items; }
};

/// Sizes of `sample_sort`.
template <class Key, class Value>
struct sample_sort_tuning {
  static constexpr bool has_values = quicksort_tuning<Key, Value>::has_values;
  static constexpr int staged_bytes = quicksort_tuning<Key, Value>::staged_bytes;
  static constexpr int sorted_bytes = quicksort_tuning<Key, Value>::sorted_bytes;
  static constexpr int key_bytes = static_cast<int>(sizeof(Key));
  static constexpr bool is_small_element = staged_bytes <= 16;

#if RAMIFY_ON_CUDA
  // A team of threads of a block sorts a leaf, and each thread keeps `leaf_items` elements in
  // registers. With more items a thread there are fewer merge passes, but fewer resident threads.
  // Leaves of u32: 5 teams of 192 threads with 31 keys 2.6 ms, 4 of 256 with 31 3.0 ms, 2 of 512
  // with 15 4.4 ms. f64: 4 of 256 with 23 4.8 ms, 2 of 512 with 15 5.9 ms.
  static constexpr int registers = (key_bytes + 3) / 4 + (has_values ? 1 : 0);  ///< of an element
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
  static constexpr int leaf_items = round_down_to_odd(std::clamp(
      (default_shared_bytes / sorted_bytes - 2) / (team_threads + 1), 1, preferred_items));
  // A small root is sorted in chunks by blocks of their own. A thread has few elements, so that
  // many threads are busy. Up to sixteen short chunks are merged in one pass. Long chunks of 2,560
  // instead of 1,280 keys: 200,000 u32 keys 56 instead of 61 us, 50,000 f64 keys 25 instead of 23.
  static constexpr chunk_shape short_chunk =
      is_small_element ? chunk_shape{128, 3} : chunk_shape{team_threads, leaf_items};
  static constexpr chunk_shape long_chunk = registers == 1 ? chunk_shape{512, 5}
                                            : is_small_element
                                                ? chunk_shape{256, 5}
                                                : chunk_shape{team_threads, leaf_items};
  /// Maximum number of long chunks, and of elements, of a small root. On the device, 200,000
  /// elements take as long with partitions (u32 57 us, f64 63), but then the host reads a state,
  /// which takes it 10 us more. Elements of 16 bytes: 150,000 take 67 us in chunks, 62 with
  /// partitions.
  static constexpr int most_chunks = registers == 1      ? 80
                                     : staged_bytes <= 8 ? 160
                                     : is_small_element  ? 80
                                                         : 5;
  static constexpr int small_root_size = most_chunks * long_chunk.size();
  /// Elements whose places a block finds in a merge pass.
  static constexpr int merge_tile = 64;
  /// Maximum number of threads that share the searches for one element.
  static constexpr int max_searchers = 8;
  /// Searches that a thread does at the same time.
  static constexpr int searches_at_once = 2;
  static constexpr int sample_threads = key_bytes <= 64 ? 1024 : 256;
  static constexpr int sample_items =
      round_down_to_odd(std::clamp(124 * 1024 / (sample_threads * key_bytes), 1, 15));
  /// Keys of the root's sample from which the pivots between its parts are chosen.
  static constexpr unsigned root_pivot_sample =
      std::bit_floor(static_cast<unsigned>(std::clamp(16 * 1024 / key_bytes, 16, 256)));
  /// Parts of the root's sample, each sorted by one block. The alternative, in which each block
  /// sorts a sample of its own and the splitters are medians of candidates, takes 1.5 times as
  /// long.
  static constexpr unsigned root_parts = root_pivot_sample / 4;
  static constexpr int count_threads = key_bytes <= 32 ? 1024 : 256;
  /// Keys that a thread searches in the splitter tree at a time. Several independent searches hide
  /// the latency of shared memory.
  static constexpr int count_items = key_bytes <= 8 ? 8 : key_bytes <= 32 ? 4 : 1;
  /// Threads and items of a tile, which is grouped by bucket in up to 64 KiB of shared memory; a
  /// device with less has shorter tiles. The whole sort, u32: with 512 threads of 24 keys each
  /// 6.75 ms, of 28 7.26 ms, of 32 6.94 ms.
  static constexpr int tile_threads = 512;
  static constexpr int tile_items = std::clamp(128 / staged_bytes, 1, 24);
  /// Elements, at least, of a piece of the input, which one block counts and scatters.
  static constexpr int min_piece = 32 * 1024 / std::min(staged_bytes, 32);
  /// Keys of 16 bits that are counted, at least (counting_sort.cuh): the 65,536 counts take about
  /// 0.17 ms. Counted instead of partitioned, 2^24 keys take 0.24 instead of 0.58 ms, but sorted
  /// ones 0.21 instead of 0.14; 2^26 keys 0.39 instead of 1.90, sorted 0.34 instead of 0.42.
  static constexpr int min_counted_words = 1 << 25;
#else
  // CPU time of 2^22 u32 keys: with leaves of 8 threads with 256 keys each 211 ms, of 16 with 128
  // 223 ms, of 8 with 128 215 ms. Shorter leaves also need more scratch memory.
  static constexpr int team_threads = 8;
  static constexpr int max_teams = 2;
  static constexpr int leaf_items =
      round_down_to_power_of_two(std::clamp(16 * 1024 / (team_threads * sorted_bytes), 1, 256));
  // A core partitions faster than it searches, so a small root has few elements. One leaf takes
  // 60 us, merged or not. A leaf and a quarter takes 400 us merged and 570 us partitioned, and two
  // leaves take 630 us either way.
  static constexpr chunk_shape short_chunk{team_threads, leaf_items};
  static constexpr chunk_shape long_chunk = short_chunk;
  static constexpr int small_root_size = short_chunk.size() * (is_small_element ? 5 : 4) / 4;
  static constexpr int merge_tile = 32;
  static constexpr int max_searchers = 2;
  static constexpr int searches_at_once = 2;
  static constexpr int sample_threads = 32;
  static constexpr int sample_items =
      round_down_to_power_of_two(std::clamp(64 * 1024 / (sample_threads * key_bytes), 1, 128));
  static constexpr unsigned root_pivot_sample = 32;
  static constexpr unsigned root_parts = 8;
  static constexpr int count_threads = 16;
  static constexpr int count_items = key_bytes <= 8 ? 16 : 4;
  static constexpr int tile_threads = 16;
  static constexpr int tile_items = std::clamp(24 * 1024 / (tile_threads * staged_bytes), 1, 256);
  static constexpr int min_piece = tile_threads * tile_items;
  static constexpr int min_counted_words = 1 << 16;
#endif

  /// Maximum number of threads of a block that merges chunks.
  static constexpr int merge_threads = merge_tile * max_searchers;
  /// Threads of a block of the leaf grid.
  static constexpr int leaf_threads = max_teams * team_threads;
  /// Elements that a team sorts in shared memory.
  static constexpr int leaf_size = team_threads * leaf_items;
  /// Sampled keys for each bucket. Bucket sizes then differ by 13 % (standard deviation).
  static constexpr int oversampling = 60;
  /// Sampled keys for each bucket of a large root, because the next level waits for the longest
  /// segment. With 60, the sort of 2^26 u32 keys takes 1 to 2 % longer. A root of wide_root_limit
  /// buckets has half as many.
  static constexpr int root_oversampling = 240;
  /// Keys per thread while a small sample is sorted, which takes less time with fewer.
  static constexpr int small_sample_items = round_down_to_odd((sample_items + 2) / 3);
  /// Keys of the root's sample that a thread holds at a time.
  static constexpr int root_items = std::min(sample_items, 8);
  /// Target number of keys in a bucket, so that few buckets are longer than a leaf.
  static constexpr int bucket_size = std::max(leaf_size * 7 / 10, 1);
  /// Maximum target of a root whose buckets are to be leaves, with a power of two of buckets. Its
  /// sample has eight keys a bucket, so bucket sizes differ by 35 % (one by the root of eight).
  static constexpr int small_bucket_size = std::max(leaf_size / 2, 1);
  /// Maximum number of buckets of a partition, equality buckets apart, a power of two: splitters
  /// take at most 8 KiB.
  static constexpr int bucket_limit = std::min<int>(256, std::bit_floor(8u * 1024u / sizeof(Key)));
  /// Maximum number of buckets of a root whose buckets are to be leaves. More buckets save a level,
  /// at the cost of shorter coalesced writes.
  static constexpr int leaf_bucket_limit =
      std::min<int>(1024, std::bit_floor(8u * 1024u / sizeof(Key)));
  /// Number of buckets of a root for which bucket_limit buckets would need a third level, and twice
  /// as many do not. 2^29 random keys, H100: u32 16.5 instead of 21.2 ms, f64 26.3 instead of 33.1.
  /// If two candidates for splitters are equal, the root has at most byte_ids buckets, equality
  /// buckets included. With all candidates, keys of Zipf's distribution took 5 to 8 % longer,
  /// because most of them end in equality buckets of the root. With 1,024 buckets 2^30 u32 keys
  /// took 36.1 instead of 34.0 ms.
  static constexpr int wide_root_limit = std::min(2 * bucket_limit, leaf_bucket_limit);
  /// Elements for which a segment has one entry in the arrays of counts and candidates. Entries
  /// suffice: there are less than four times as many buckets as targeted (rounding up to a power of
  /// two, and equality buckets).
  static constexpr int bucket_unit = std::max(small_bucket_size / 4, 1);
};

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
