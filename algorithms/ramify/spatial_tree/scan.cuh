// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Where each of many lists begins, from their lengths.
///
///     counts   <-- [3, 0, 2]      offsets  --> [0, 3, 3, 5]

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/collectives.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/tasks.cuh>

namespace ramify::inline RAMIFY_BUILD {

inline constexpr int scan_threads = RAMIFY_ON_CUDA ? 256 : 32;
/// A block's piece is a multiple of its threads, so that rounds are full.
inline constexpr unsigned scan_most_blocks = 1024;

/// The piece of n things that this block has.
struct scan_piece {
  unsigned long long begin;
  unsigned long long end;

  __device__ scan_piece(unsigned long long n, unsigned blocks) {
    const unsigned long long rounds = (n + scan_threads - 1) / scan_threads;
    const unsigned long long each = (rounds + blocks - 1) / blocks * scan_threads;
    begin = each * blockIdx.x < n ? each * blockIdx.x : n;
    end = begin + each < n ? begin + each : n;
  }
};

/// First pass: what the pieces before each block's add up to. `arrived` is 0 at first.
template <class Count>
__global__ void scan_pieces(const Count* counts, unsigned long long n, unsigned long long* before,
                            unsigned* arrived) {
  using scan = block_scan<unsigned long long, scan_threads>;
  __shared__ typename scan::TempStorage storage;
  // 1. The sum over this block's piece.
  const scan_piece piece(n, gridDim.x);
  unsigned long long mine = 0;
  for (auto i = piece.begin + threadIdx.x; i < piece.end; i += scan_threads) mine += counts[i];
  unsigned long long ignored = 0;
  unsigned long long total = 0;
  scan(storage).ExclusiveSum(mine, ignored, total);
  if (threadIdx.x == 0) before[blockIdx.x] = total;
  // 2. Join: the last block turns the sums into where the pieces begin.
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

/// Second pass: each block scans its piece from where it begins. The end of all comes last.
template <class Count>
__global__ void scan_write(const Count* counts, unsigned long long n,
                           const unsigned long long* before, std::uint64_t* offsets) {
  using scan = block_scan<unsigned long long, scan_threads>;
  __shared__ typename scan::TempStorage storage;
  const scan_piece piece(n, gridDim.x);
  unsigned long long base = before[blockIdx.x];
  for (auto first = piece.begin; first < piece.end; first += scan_threads) {
    const auto i = first + threadIdx.x;
    unsigned long long begin = 0;
    unsigned long long total = 0;
    scan(storage).ExclusiveSum(i < piece.end ? counts[i] : 0, begin, total);
    if (i < piece.end) offsets[i] = base + begin;
    base += total;
    if (i == n - 1) offsets[n] = base;
    __syncthreads();
  }
}

/// offsets[i] = counts[0] + ... + counts[i - 1], for i in [0, n], n > 0. Two grids: returns how many.
/// \throws cuda_error
template <class Count>
unsigned scan_counts(const Count* counts, std::size_t n, std::uint64_t* offsets,
                     cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(
      std::min<std::size_t>((n + scan_threads - 1) / scan_threads, scan_most_blocks));
  const device_buffer<unsigned long long> before(blocks, stream);
  const device_buffer<unsigned> arrived(1, stream);
  check(cudaMemsetAsync(arrived.data(), 0, sizeof(unsigned), stream), "clearing a counter");
  const launch_shape shape{blocks, scan_threads};
  check(launch(scan_pieces<Count>, shape, stream, counts, n, before.data(), arrived.data()).code(),
        "adding up counts");
  check(launch(scan_write<Count>, shape, stream, counts, n, before.data(), offsets).code(),
        "adding up counts");
  return 2;
}

}  // namespace ramify::inline RAMIFY_BUILD
