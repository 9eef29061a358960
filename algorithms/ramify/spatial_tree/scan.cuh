// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The exclusive prefix sum of list lengths, which gives the offset of each list.
///
///     counts   <-- [3, 0, 2]      offsets  --> [0, 3, 3, 5]

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/collectives.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/tasks.cuh>

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

inline constexpr int scan_threads = RAMIFY_ON_CUDA ? 256 : 32;
inline constexpr unsigned scan_max_blocks = 1024;

/// The range of n elements that this block scans. Its length is a multiple of the block size,
/// except for the last one.
struct scan_tile {
  unsigned long long begin;
  unsigned long long end;

  __device__ scan_tile(unsigned long long n, unsigned blocks) {
    const unsigned long long rounds = (n + scan_threads - 1) / scan_threads;
    const unsigned long long each = (rounds + blocks - 1) / blocks * scan_threads;
    begin = each * blockIdx.x < n ? each * blockIdx.x : n;
    end = begin + each < n ? begin + each : n;
  }
};

/// First pass: writes the sum of all tiles before each block's tile. `arrived` must be 0.
template <class Count>
__global__ void scan_tile_sums(const Count* counts, unsigned long long n,
                               unsigned long long* before, unsigned* arrived) {
  using scan = block_scan<unsigned long long, scan_threads>;
  __shared__ typename scan::TempStorage storage;
  // 1. Sum this block's tile.
  const scan_tile tile(n, gridDim.x);
  unsigned long long mine = 0;
  for (auto i = tile.begin + threadIdx.x; i < tile.end; i += scan_threads) mine += counts[i];
  unsigned long long ignored = 0;
  unsigned long long total = 0;
  scan(storage).ExclusiveSum(mine, ignored, total);
  if (threadIdx.x == 0) before[blockIdx.x] = total;
  // 2. Join: the last block to arrive scans the sums of all tiles.
  if (!last_to_arrive(*arrived, gridDim.x)) return;
  unsigned long long base = 0;
  for (unsigned first = 0; first < gridDim.x; first += scan_threads) {
    const unsigned b = first + threadIdx.x;
    unsigned long long begin = 0;
    scan(storage).ExclusiveSum(b < gridDim.x ? before[b] : 0, begin, total);
    if (b < gridDim.x) before[b] = base + begin;
    base += total;
    __syncthreads();
  }
}

/// Second pass: each block scans its tile, starting at before[block]. Also writes offsets[n], the
/// total.
template <class Count>
__global__ void scan_tiles(const Count* counts, unsigned long long n,
                           const unsigned long long* before, std::uint64_t* offsets) {
  using scan = block_scan<unsigned long long, scan_threads>;
  __shared__ typename scan::TempStorage storage;
  const scan_tile tile(n, gridDim.x);
  unsigned long long base = before[blockIdx.x];
  for (auto first = tile.begin; first < tile.end; first += scan_threads) {
    const auto i = first + threadIdx.x;
    unsigned long long begin = 0;
    unsigned long long total = 0;
    scan(storage).ExclusiveSum(i < tile.end ? counts[i] : 0, begin, total);
    if (i < tile.end) offsets[i] = base + begin;
    base += total;
    if (i == n - 1) offsets[n] = base;
    __syncthreads();
  }
}

/// Writes offsets[i] = counts[0] + ... + counts[i - 1] for i in [0, n], n > 0. Asynchronous.
/// \return the number of grids launched: 2
/// \throws cuda_error
template <class Count>
unsigned scan_counts(const Count* counts, std::size_t n, std::uint64_t* offsets,
                     cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(
      std::min<std::size_t>((n + scan_threads - 1) / scan_threads, scan_max_blocks));
  const device_buffer<unsigned long long> before(blocks, stream);
  const device_buffer<unsigned> arrived(1, stream);
  check(cudaMemsetAsync(arrived.data(), 0, sizeof(unsigned), stream), "clearing a counter");
  const launch_shape shape{blocks, scan_threads};
  check(
      launch(scan_tile_sums<Count>, shape, stream, counts, n, before.data(), arrived.data()).code(),
      "summing the counts of each tile");
  check(launch(scan_tiles<Count>, shape, stream, counts, n, before.data(), offsets).code(),
        "scanning the counts");
  return 2;
}

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD
