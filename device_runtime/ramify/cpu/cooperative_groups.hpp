// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Cooperative groups for kernels that nvcc and a C++ compiler compile. With nvcc they are those of
/// the CUDA toolkit; on the CPU executor they are blocks, grids and tiles of a warp.
///
///     namespace cg = cooperative_groups;
///     const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
///     const int sum = cg::reduce(tile, value, cg::plus<int>());

#include <ramify/runtime/cuda.hpp>

#if RAMIFY_ON_CUDA
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#else
#include <cstddef>
#include <ramify/cpu/collectives.hpp>

namespace cooperative_groups {

using ramify::cpu::builtins::site;

/// All threads of a block.
class thread_block {
 public:
  void sync(site s = site::current()) const { __syncthreads(s); }
  [[nodiscard]] unsigned thread_rank() const { return ramify::cpu::linear_thread(); }
  [[nodiscard]] unsigned num_threads() const { return static_cast<unsigned>(blockDim.volume()); }
  [[nodiscard]] unsigned size() const { return num_threads(); }
  [[nodiscard]] dim3 group_index() const { return blockIdx; }
  [[nodiscard]] dim3 thread_index() const { return threadIdx; }
  [[nodiscard]] dim3 dim_threads() const { return blockDim; }
  [[nodiscard]] dim3 group_dim() const { return blockDim; }
};

[[nodiscard]] inline thread_block this_thread_block() { return {}; }

/// All threads of a grid.
class grid_group {
 public:
  template <bool available = false>
  void sync() const {
    static_assert(available,
                  "blocks of a grid cannot wait for each other on the executor; use two "
                  "grids in a stream");
  }
  [[nodiscard]] unsigned long long block_rank() const {
    return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x +
           blockIdx.x;
  }
  [[nodiscard]] unsigned long long num_blocks() const { return gridDim.volume(); }
  [[nodiscard]] unsigned long long thread_rank() const {
    return block_rank() * blockDim.volume() + ramify::cpu::linear_thread();
  }
  [[nodiscard]] unsigned long long num_threads() const { return num_blocks() * blockDim.volume(); }
  [[nodiscard]] unsigned long long size() const { return num_threads(); }
};

[[nodiscard]] inline grid_group this_grid() { return {}; }

/// `threads` consecutive lanes of a warp. `Parent` is the partitioned group.
template <unsigned threads, class Parent = thread_block>
class thread_block_tile {
  static_assert(threads >= 1 && threads <= 32 && (threads & (threads - 1)) == 0,
                "a tile on the executor has 1, 2, 4, 8, 16 or 32 threads");

 public:
  void sync(site s = site::current()) const { __syncwarp(mask(), s); }
  [[nodiscard]] unsigned thread_rank() const { return ramify::cpu::lane_index() % threads; }
  [[nodiscard]] static constexpr unsigned num_threads() { return threads; }
  [[nodiscard]] static constexpr unsigned size() { return threads; }
  /// Returns the rank of this tile among the tiles of the block.
  [[nodiscard]] unsigned meta_group_rank() const { return ramify::cpu::linear_thread() / threads; }
  [[nodiscard]] unsigned meta_group_size() const {
    return (this_thread_block().size() + threads - 1) / threads;
  }

  template <class T>
  T shfl(T value, int source, site s = site::current()) const {
    return __shfl_sync(mask(), value, source, threads, s);
  }
  template <class T>
  T shfl_up(T value, unsigned delta, site s = site::current()) const {
    return __shfl_up_sync(mask(), value, delta, threads, s);
  }
  template <class T>
  T shfl_down(T value, unsigned delta, site s = site::current()) const {
    return __shfl_down_sync(mask(), value, delta, threads, s);
  }
  template <class T>
  T shfl_xor(T value, unsigned lane_mask, site s = site::current()) const {
    return __shfl_xor_sync(mask(), value, static_cast<int>(lane_mask), threads, s);
  }
  [[nodiscard]] int any(int predicate, site s = site::current()) const {
    return __any_sync(mask(), predicate, s);
  }
  [[nodiscard]] int all(int predicate, site s = site::current()) const {
    return __all_sync(mask(), predicate, s);
  }
  /// Returns the votes of the lanes of the tile, beginning with bit 0.
  [[nodiscard]] unsigned ballot(int predicate, site s = site::current()) const {
    return __ballot_sync(mask(), predicate, s) >> first_lane();
  }
  template <class T>
  [[nodiscard]] unsigned match_any(T value, site s = site::current()) const {
    return __match_any_sync(mask(), value, s) >> first_lane();
  }

 private:
  [[nodiscard]] static unsigned first_lane() {
    return ramify::cpu::lane_index() / threads * threads;
  }
  [[nodiscard]] static unsigned mask() { return 0xffffffffu >> (32 - threads) << first_lane(); }
};

template <unsigned threads>
[[nodiscard]] thread_block_tile<threads> tiled_partition(const thread_block& /*block*/) {
  return {};
}
template <unsigned threads, unsigned of_threads, class Parent>
[[nodiscard]] thread_block_tile<threads> tiled_partition(
    const thread_block_tile<of_threads, Parent>& /*tile*/) {
  static_assert(threads <= of_threads, "a tile has at most as many threads as the group");
  return {};
}

/// Waits for all threads of the group.
template <class Group>
void sync(const Group& group, site s = site::current()) {
  group.sync(s);
}

template <class T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {  ///< the minimum, as in CUDA
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {  ///< the maximum, as in CUDA
  T operator()(T a, T b) const { return a < b ? b : a; }
};

/// Returns the reduction of the values of the tile to all its threads. `combine` must be
/// associative and commutative.
template <unsigned threads, class Parent, class T, class Combine>
T reduce(const thread_block_tile<threads, Parent>& tile, T value, Combine combine,
         site s = site::current()) {
  for (unsigned distance = threads / 2; distance > 0; distance /= 2) {
    value = combine(value, tile.shfl_xor(value, distance, s));
  }
  return value;
}

/// The lanes of a warp that called coalesced_threads() together, in the order of the lanes.
class coalesced_group {
 public:
  explicit coalesced_group(unsigned mask) : mask_(mask) {}

  void sync(site s = site::current()) const { __syncwarp(mask_, s); }
  [[nodiscard]] unsigned thread_rank() const {
    return static_cast<unsigned>(__popc(mask_ & ((1u << ramify::cpu::lane_index()) - 1)));
  }
  [[nodiscard]] unsigned num_threads() const { return static_cast<unsigned>(__popc(mask_)); }
  [[nodiscard]] unsigned size() const { return num_threads(); }

  template <class T>
  T shfl(T value, unsigned source, site s = site::current()) const {
    return __shfl_sync(mask_, value, lane_of(source % num_threads()), warpSize, s);
  }
  /// A thread without such a neighbor gets its own value.
  template <class T>
  T shfl_up(T value, unsigned delta, site s = site::current()) const {
    const unsigned rank = thread_rank();
    return shfl(value, rank < delta ? rank : rank - delta, s);
  }
  template <class T>
  T shfl_down(T value, unsigned delta, site s = site::current()) const {
    const unsigned rank = thread_rank();
    return shfl(value, rank + delta >= num_threads() ? rank : rank + delta, s);
  }
  [[nodiscard]] int any(int predicate, site s = site::current()) const {
    return __any_sync(mask_, predicate, s);
  }
  [[nodiscard]] int all(int predicate, site s = site::current()) const {
    return __all_sync(mask_, predicate, s);
  }
  /// Returns the votes of the threads of the group, by their ranks.
  [[nodiscard]] unsigned ballot(int predicate, site s = site::current()) const {
    const unsigned votes = __ballot_sync(mask_, predicate, s);
    unsigned of_ranks = 0;
    for (unsigned rank = 0; rank < num_threads(); ++rank) {
      of_ranks |= (votes >> lane_of(rank) & 1u) << rank;
    }
    return of_ranks;
  }

 private:
  /// Returns the lane of the thread with this rank.
  [[nodiscard]] int lane_of(unsigned rank) const {
    unsigned lanes = mask_;
    for (; rank > 0; --rank) lanes &= lanes - 1;
    return __ffs(static_cast<int>(lanes)) - 1;
  }

  unsigned mask_;
};

/// Returns the group of the lanes of the warp that arrive here. On the executor these are all lanes
/// that can arrive: it waits for the others to end, or to wait elsewhere. A GPU may return any
/// group of lanes that contains the calling one.
[[nodiscard]] inline coalesced_group coalesced_threads(site s = site::current()) {
  return coalesced_group(ramify::cpu::converged_lanes(s));
}

}  // namespace cooperative_groups
#endif
