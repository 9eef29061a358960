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

/// `threads` consecutive lanes of a warp.
template <unsigned threads>
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
template <unsigned threads, class T, class Combine>
T reduce(const thread_block_tile<threads>& tile, T value, Combine combine,
         site s = site::current()) {
  for (unsigned distance = threads / 2; distance > 0; distance /= 2) {
    value = combine(value, tile.shfl_xor(value, distance, s));
  }
  return value;
}

template <class... Groups>
void coalesced_threads(const Groups&...) {
  static_assert(sizeof...(Groups) == ~std::size_t{0},
                "the lanes of a warp are never converged on the executor; use tiled_partition()");
}

}  // namespace cooperative_groups
#endif
