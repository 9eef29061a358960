// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The sizes that the kernels are compiled with, apart from the kernels.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <ramify/runtime/build.hpp>

namespace ramify::inline RAMIFY_BUILD {

struct tree_tuning {
#if RAMIFY_ON_CUDA
  static constexpr unsigned threads = 256;
  /// Blocks that a multiprocessor shall hold: as many as it can, for memory far away is what these
  /// kernels wait for. It bounds their registers to 32 (to 40 or 64 where it holds fewer threads).
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000
  static constexpr unsigned resident = 2048 / threads;
#elif __CUDA_ARCH__ == 750
  static constexpr unsigned resident = 1024 / threads;
#else
  static constexpr unsigned resident = 1536 / threads;
#endif
  /// Elements of an array that a thread works on.
  static constexpr unsigned items = 8;
  /// Neighbouring nodes that a thread pushes.
  static constexpr unsigned push_run = 16;
  /// Walkers that walk at a time: about as many threads as a large GPU holds. What they read is
  /// anywhere in memory, and only many at once hide how long each read takes.
  static constexpr unsigned most_walking = 1u << 18;
  /// Walkers in all, where the list is long enough: several for each thread, because walks differ
  /// in length.
  static constexpr unsigned walkers_wanted = 1u << 21;
  /// A list that one block ranks.
  static constexpr unsigned ranked_by_a_block = 2048;
  /// Grids of a chain that the host launches before it looks: all of a numbering of 10^6 nodes, and
  /// less than twice the pointer doublings of a random tree. A look takes 13 us, a launch 5.
  static constexpr unsigned launched_ahead = 10;
#else
  // A block is one core's work: few fibers with much to do for each, on memory that stays in cache.
  static constexpr unsigned threads = 32;
  static constexpr unsigned items = 128;
  static constexpr unsigned push_run = 128;
  static constexpr unsigned most_walking = 2048;
  static constexpr unsigned walkers_wanted = 1u << 12;
  static constexpr unsigned ranked_by_a_block = 128;
  static constexpr unsigned launched_ahead = 2;  // nobody waits: a launch is complete on return
#endif
  static constexpr unsigned tile = threads * items;

  /// The list is cut into stretches of 2^this pieces, with a walker each.
  [[nodiscard]] static unsigned stretch_bits(std::size_t pieces) {
    const auto wanted = static_cast<unsigned>(std::bit_width(pieces / walkers_wanted));
    return std::clamp(wanted, 4u, 10u);
  }

  /// Levels of folds that one grid builds, and the elements of the lowest that a block takes.
  static constexpr unsigned fold_levels = 12;
  static constexpr unsigned fold_tile = 1u << fold_levels;
};

}  // namespace ramify::inline RAMIFY_BUILD
