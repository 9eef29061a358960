// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Compile-time sizes of the kernels.

#include <ramify/runtime/build.hpp>

namespace ramify::detail::graph::inline RAMIFY_BUILD {

struct tuning {
#if RAMIFY_ON_CUDA
  static constexpr unsigned threads = 256;
  /// Minimum number of resident blocks per multiprocessor, for __maxnreg__. The kernels wait
  /// for memory, so they need many threads. The bound limits a thread to 48 registers (to 64 on
  /// GPUs that hold 1,024 threads).
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ != 750
  static constexpr unsigned resident_blocks = 5;
#else
  static constexpr unsigned resident_blocks = 4;
#endif
  /// Edges of a tile of for_edges() for each thread.
  static constexpr unsigned edges_per_thread = 2;
  /// Threads of the block that visits thin frontiers alone.
  static constexpr unsigned thin_threads = 1024;
  /// A frontier with at most this number of edges is thin: one block visits it without a launch.
  static constexpr unsigned thin_edges = 4096;
  /// Edges of a bucket of shortest paths. An H200 visits them in about 50 us, three times as long
  /// as the launches of a round take.
  static constexpr unsigned bucket_edges = 1 << 20;
  /// Words of a bitmap, of 32 vertices each, that a warp reads at once.
  static constexpr unsigned words_per_warp = 8;
  /// Blocks of a grid for each co-resident block: more than one, because their work differs.
  static constexpr unsigned waves = 2;
  /// Whether far vertices of shortest paths are also marked by group.
  static constexpr bool has_far_groups = false;
#else
  // A block is one warp, whose lanes are fibers of one thread of the operating system.
  static constexpr unsigned threads = 32;
  static constexpr unsigned resident_blocks = 1;
  static constexpr unsigned edges_per_thread = 4;
  static constexpr unsigned thin_threads = 64;
  static constexpr unsigned thin_edges = 64;
  static constexpr unsigned bucket_edges = 256;
  static constexpr unsigned words_per_warp = 2;
  static constexpr unsigned waves = 4;
  static constexpr bool has_far_groups = true;
#endif
};

}  // namespace ramify::detail::graph::inline RAMIFY_BUILD
