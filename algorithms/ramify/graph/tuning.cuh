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
  /// A team runs a round if each of its blocks gets at most the work of this number of blocks. More
  /// work over edges would take longer than the launch of a larger grid. The same number is used
  /// for vertices.
  static constexpr unsigned work_of_block = 4;
  /// A full team divides large rounds into several parts for each block, because equal parts take
  /// different times: a block that ends early takes another part. These are the bounds of the
  /// number of parts for each block. With fewer, the end of a round, when some blocks have no part,
  /// would be a large share of it.
  static constexpr unsigned min_parts_of_block = 4;
  static constexpr unsigned max_parts_of_block = 16;
  /// The minimum work of such a part, in units of the least work of a block: a tile of edges, in
  /// strategies without tiles the vertices of blocks_for(), and over vertices `min_words_of_warp`
  /// words for each warp. A block searches for the first vertex of each part over edges, so more
  /// parts take more time.
  static constexpr unsigned work_of_part = 8;
  /// Whether a full team keeps all its blocks for rounds that need fewer. A call from a kernel does
  /// not. The blocks that wait occupy places on the multiprocessors, which other grids then lack.
  static constexpr bool keeps_team = true;
  /// Threads of the block that runs consecutive thin rounds alone.
  static constexpr unsigned thin_threads = 1024;
  /// A round over a frontier with at most this number of edges is thin.
  static constexpr unsigned thin_edges = 4096;
  /// A team runs fewer than this number of consecutive thin rounds, and leaves the next ones to
  /// this block. It has then lost about as much time at its barriers as the launch of the block
  /// takes.
  static constexpr unsigned thin_rounds_of_team = 8;
  /// Edges of a bucket of shortest paths. An H200 visits them in about 50 us, long compared
  /// with the barrier of a team, about 2 us.
  static constexpr unsigned bucket_edges = 1 << 20;
  /// Words of a bitmap, of 32 vertices each, that a warp reads at once. If a graph has few
  /// vertices, a warp reads fewer words, so that all multiprocessors have work.
  static constexpr unsigned min_words_of_warp = 2;
  static constexpr unsigned max_words_of_warp = 8;
  /// Blocks of a grid for each co-resident block. Those of a team take several parts. In other
  /// grids there is more than one, because their work differs.
  static constexpr unsigned waves_of_team = 1;
  static constexpr unsigned waves = 2;
  /// Whether far vertices of shortest paths are also marked by group.
  static constexpr bool has_far_groups = false;
#else
  // A block is one warp, whose lanes are fibers of one thread of the operating system.
  static constexpr unsigned threads = 32;
  static constexpr unsigned resident_blocks = 1;
  static constexpr unsigned edges_per_thread = 4;
  static constexpr unsigned work_of_block = 4;
  static constexpr unsigned min_parts_of_block = 2;
  static constexpr unsigned max_parts_of_block = 4;
  static constexpr unsigned work_of_part = 2;
  static constexpr bool keeps_team = false;  // blocks that wait would take time from workers
  static constexpr unsigned thin_threads = 64;
  static constexpr unsigned thin_edges = 512;
  static constexpr unsigned thin_rounds_of_team = 2;
  static constexpr unsigned bucket_edges = 256;
  static constexpr unsigned min_words_of_warp = 1;
  static constexpr unsigned max_words_of_warp = 2;
  static constexpr unsigned waves_of_team = 4;
  static constexpr unsigned waves = 4;
  static constexpr bool has_far_groups = true;
#endif
};

}  // namespace ramify::detail::graph::inline RAMIFY_BUILD
