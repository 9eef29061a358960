// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// One pass over points: the box around them, and the first one that is not finite.

#include <algorithm>
#include <cstddef>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/collectives.cuh>
#include <ramify/runtime/grid_trace.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/tasks.cuh>
#include <ramify/spatial_tree/geometry.cuh>
#include <stdexcept>
#include <string>

namespace ramify::inline RAMIFY_BUILD {

template <class Real, int dim>
struct points_extent {
  static constexpr unsigned long long none = ~0ull;

  box<Real, dim> bounds;
  unsigned long long first_bad;  ///< index of the first point with a NaN or an infinity, or none

  struct combine {
    __host__ __device__ points_extent operator()(const points_extent& a,
                                                 const points_extent& b) const {
      return {box<Real, dim>::around(a.bounds, b.bounds),
              a.first_bad < b.first_bad ? a.first_bad : b.first_bad};
    }
  };

  __host__ __device__ static points_extent of(const point<Real, dim>& p, unsigned long long index) {
    bool finite = true;
    for (int axis = 0; axis < dim; ++axis) finite = finite && p.x[axis] - p.x[axis] == 0;
    return {box<Real, dim>::of(p), finite ? none : index};
  }
};

inline constexpr int extent_threads = RAMIFY_ON_CUDA ? 256 : 32;
inline constexpr unsigned extent_most_blocks = 1024;

/// Folds all points into partial[0]. `arrived` is 0 at first.
template <class Real, int dim>
__global__ void find_extent(const point<Real, dim>* points, unsigned long long n,
                            points_extent<Real, dim>* partial, unsigned* arrived,
                            trace_ticket trace) {
  const traced here(trace, __func__);
  using extent = points_extent<Real, dim>;
  using reduce = block_reduce<extent, extent_threads>;
  __shared__ typename reduce::TempStorage storage;
  const typename extent::combine combine;

  // 1. Each thread folds every so-manieth point; a thread without any takes the last one again.
  const unsigned long long stride = static_cast<unsigned long long>(gridDim.x) * extent_threads;
  const unsigned long long me = blockIdx.x * static_cast<unsigned long long>(extent_threads);
  unsigned long long i = me + threadIdx.x < n ? me + threadIdx.x : n - 1;
  extent mine = extent::of(points[i], i);
  for (i += stride; i < n; i += stride) mine = combine(mine, extent::of(points[i], i));
  // 2. The block folds its threads' parts.
  const extent of_block = reduce(storage).Reduce(mine, combine);
  if (threadIdx.x == 0) partial[blockIdx.x] = of_block;
  // 3. Join: the last block folds the blocks' parts.
  if (!last_to_arrive(*arrived, gridDim.x)) return;
  const unsigned first = threadIdx.x < gridDim.x ? threadIdx.x : 0;
  mine = partial[first];
  for (unsigned b = first + extent_threads; b < gridDim.x; b += extent_threads) {
    mine = combine(mine, partial[b]);
  }
  const extent of_all = reduce(storage).Reduce(mine, combine);
  if (threadIdx.x == 0) partial[0] = of_all;
}

/// The extent of n > 0 points. One grid, and waits for it. `name` is for the message.
/// \throws std::invalid_argument naming the first point with a NaN or an infinity; cuda_error
template <class Real, int dim>
points_extent<Real, dim> checked_extent(const point<Real, dim>* points, std::size_t n,
                                        const char* name, cudaStream_t stream,
                                        const trace_ticket& trace = {}) {
  constexpr std::size_t points_of_a_block = extent_threads * std::size_t{16};
  const auto blocks = static_cast<unsigned>(
      std::min<std::size_t>((n + points_of_a_block - 1) / points_of_a_block, extent_most_blocks));
  const device_buffer<points_extent<Real, dim>> partial(blocks, stream);
  const device_buffer<unsigned> arrived(1, stream);
  check(cudaMemsetAsync(arrived.data(), 0, sizeof(unsigned), stream), "clearing a counter");
  check(launch(find_extent<Real, dim>, {blocks, extent_threads}, stream, points, n, partial.data(),
               arrived.data(), trace)
            .code(),
        "looking at the points");
  points_extent<Real, dim> found;
  check(cudaMemcpyAsync(&found, partial.data(), sizeof found, cudaMemcpyDeviceToHost, stream),
        "reading the extent of the points");
  check(cudaStreamSynchronize(stream), "waiting for the extent of the points");
  if (found.first_bad != points_extent<Real, dim>::none) {
    throw std::invalid_argument(std::string(name) + "[" + std::to_string(found.first_bad) +
                                "] has a coordinate that is NaN or infinite");
  }
  return found;
}

}  // namespace ramify::inline RAMIFY_BUILD
