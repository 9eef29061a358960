// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Compile-time sizes of the kernels.

#include <cstddef>
#include <ramify/runtime/cuda.hpp>

namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD {

struct tuning {
#if RAMIFY_ON_CUDA
  static constexpr unsigned threads = 256;
  /// Minimum number of resident blocks of a multiprocessor, for __launch_bounds__. It is the
  /// largest possible number, because these kernels wait for memory. It limits a thread to 32
  /// registers (to 40 or 64 on GPUs whose multiprocessors hold fewer threads).
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000
  static constexpr unsigned resident_blocks = 2048 / threads;
#elif __CUDA_ARCH__ == 750
  static constexpr unsigned resident_blocks = 1024 / threads;
#else
  static constexpr unsigned resident_blocks = 1536 / threads;
#endif
  /// Array elements that a thread processes.
  static constexpr unsigned items_per_thread = 8;
  /// Consecutive nodes that a thread splices into the tour.
  static constexpr unsigned splice_items = 16;
  /// Maximum number of threads that traverse sublists: about the number of threads that a large GPU
  /// holds. Their reads are at random addresses, and only many threads hide that latency.
  static constexpr unsigned max_sublist_threads = 1u << 18;
  /// Number of sublists of a long list: several for each thread, because their lengths differ.
  static constexpr unsigned target_sublists = 1u << 21;
  /// Maximum length of the list that one block ranks.
  static constexpr unsigned block_list_capacity = 2048;
  /// Rounds of pointer doubling that the host launches before it reads the state: less than twice
  /// the rounds of a random tree. A read takes 13 us, a launch takes 5 us.
  static constexpr unsigned rounds_ahead = 10;
#else
  // A block is the work of one core: few fibers with much work each, on memory that stays in cache.
  static constexpr unsigned threads = 32;
  static constexpr unsigned items_per_thread = 128;
  static constexpr unsigned splice_items = 128;
  static constexpr unsigned max_sublist_threads = 2048;
  static constexpr unsigned target_sublists = 1u << 12;
  static constexpr unsigned block_list_capacity = 128;
  static constexpr unsigned rounds_ahead = 2;  // a launch is complete when it returns
#endif
  static constexpr unsigned tile = threads * items_per_thread;

  /// Returns the base-2 logarithm of the interval length for a list of `count` elements. Each
  /// interval of the array has one splitter.
  [[nodiscard]] __host__ __device__ static unsigned interval_bits(std::size_t count) {
    unsigned bits = least_interval_bits;
    while (bits < 10 && count >> bits >= target_sublists) ++bits;
    return bits;
  }
  static constexpr unsigned least_interval_bits = 4;

  /// Levels of range folds that one grid computes, and the elements of the lowest one in a block.
  static constexpr unsigned fold_levels = 12;
  static constexpr unsigned fold_tile = 1u << fold_levels;
};

}  // namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD
