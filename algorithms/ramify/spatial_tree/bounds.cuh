// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// checked_bounds(): the bounding box of points, and a check that all of them are finite. Public:
/// other families may include this header.

#include <cstddef>
#include <limits>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/collectives.cuh>
#include <ramify/runtime/detail/element_count.cuh>
#include <ramify/runtime/detail/launch_each.cuh>
#include <ramify/runtime/grid_trace.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/tasks.cuh>
#include <ramify/spatial_tree/geometry.cuh>
#include <stdexcept>
#include <string>

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// The bounding box of some points, the first of them that is not finite, and their smallest
/// nonzero coordinate.
template <class Real, int dim>
struct point_bounds {
  static constexpr unsigned long long none = ~0ull;
  static constexpr Real greatest = std::numeric_limits<Real>::max();

  box<Real, dim> bounds;
  unsigned long long first_nonfinite;  ///< index of a point with a NaN or an infinity, or none
  Real least_nonzero;                  ///< the least magnitude; the greatest number if all are 0

  struct combine {
    __host__ __device__ point_bounds operator()(const point_bounds& a,
                                                const point_bounds& b) const {
      return {box<Real, dim>::enclosing(a.bounds, b.bounds),
              a.first_nonfinite < b.first_nonfinite ? a.first_nonfinite : b.first_nonfinite,
              a.least_nonzero < b.least_nonzero ? a.least_nonzero : b.least_nonzero};
    }
  };

  __host__ __device__ static point_bounds of(const point<Real, dim>& p, unsigned long long index) {
    bool finite = true;
    Real least = greatest;
    for (int axis = 0; axis < dim; ++axis) {
      finite = finite && p.x[axis] - p.x[axis] == 0;
      const Real magnitude = p.x[axis] < 0 ? -p.x[axis] : p.x[axis];
      if (magnitude > 0 && magnitude < least) least = magnitude;
    }
    return {box<Real, dim>::of(p), finite ? none : index, least};
  }
};

inline constexpr int bounds_threads = RAMIFY_ON_CUDA ? 256 : 32;
inline constexpr unsigned bounds_max_blocks = 1024;

/// Reduces all points into partial[0]. `arrived` must be 0, and is 0 again afterwards. Without
/// points the box has its corners at 0.
template <class Real, int dim>
__global__ void find_bounds(const point<Real, dim>* points, runtime::element_count count,
                            point_bounds<Real, dim>* partial, unsigned* arrived,
                            trace_ticket trace) {
  const traced here(trace, __func__);
  using bounds = point_bounds<Real, dim>;
  using reduce = block_reduce<bounds, bounds_threads>;
  __shared__ typename reduce::TempStorage storage;
  const typename bounds::combine combine;

  // 1. Each thread reduces the points of a grid-stride loop. A thread without points takes the last
  //    point again, which does not change the result.
  const unsigned long long n = count.get();
  const unsigned long long stride = static_cast<unsigned long long>(gridDim.x) * bounds_threads;
  const unsigned long long me = blockIdx.x * static_cast<unsigned long long>(bounds_threads);
  unsigned long long i = me + threadIdx.x < n ? me + threadIdx.x : n - 1;
  bounds mine = n > 0 ? bounds::of(points[i], i) : bounds{{}, bounds::none, bounds::greatest};
  for (i += stride; i < n; i += stride) mine = combine(mine, bounds::of(points[i], i));
  // 2. The block reduces the results of its threads.
  const bounds of_block = reduce(storage).Reduce(mine, combine);
  if (threadIdx.x == 0) partial[blockIdx.x] = of_block;
  // 3. Join: the last block to arrive reduces the results of all blocks.
  if (!last_to_arrive(*arrived, gridDim.x)) return;
  const unsigned first = threadIdx.x < gridDim.x ? threadIdx.x : 0;
  mine = partial[first];
  for (unsigned b = first + bounds_threads; b < gridDim.x; b += bounds_threads) {
    mine = combine(mine, partial[b]);
  }
  const bounds of_all = reduce(storage).Reduce(mine, combine);
  if (threadIdx.x == 0) partial[0] = of_all;
}

/// Returns the number of blocks of find_bounds() over n > 0 points.
[[nodiscard]] __host__ __device__ inline unsigned bounds_blocks(std::size_t n) {
  constexpr std::size_t points_per_block = bounds_threads * std::size_t{16};
  const std::size_t blocks = (n - 1) / points_per_block + 1;
  return blocks < bounds_max_blocks ? static_cast<unsigned>(blocks) : bounds_max_blocks;
}

/// Launches find_bounds(), with a cleared counter. Asynchronous. \throws cuda_error
template <class Real, int dim>
void launch_find_bounds(const point<Real, dim>* points, const runtime::element_count& n,
                        point_bounds<Real, dim>* partial, unsigned* arrived, cudaStream_t stream,
                        const trace_ticket& trace) {
  clear_memory(arrived, 1, stream, "clearing a counter");
  check(launch(find_bounds<Real, dim>, {bounds_blocks(n.upper_bound), unsigned{bounds_threads}},
               stream, points, n, partial, arrived, trace)
            .code(),
        "checking the points");
}

/// Checks the result of find_bounds().
/// \throws std::invalid_argument naming the first point that is not finite
template <class Real, int dim>
void check_finite(const point_bounds<Real, dim>& found, const std::string& name) {
  if (found.first_nonfinite == found.none) return;
  throw std::invalid_argument(name + "[" + std::to_string(found.first_nonfinite) +
                              "] has a coordinate that is NaN or infinite");
}

/// Returns the result of find_bounds(). Waits for `stream`.
/// \throws std::invalid_argument naming the first point that is not finite; cuda_error
template <class Real, int dim>
point_bounds<Real, dim> read_checked_bounds(const point_bounds<Real, dim>* partial,
                                            const char* name, cudaStream_t stream) {
  const auto found = read_back(partial, stream, "reading the bounds of the points");
  check_finite(found, name);
  return found;
}

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// Returns the bounding box of n > 0 points. Launches one grid and waits for `stream`.
/// \param points  device memory
/// \param name    the name of the array in the error message
/// \param trace   the grid is recorded there; by default nowhere
/// Scratch: at most 64 KB, from the stream-ordered pool. Complexity: O(n).
/// \throws std::invalid_argument naming the first point with a NaN or an infinity; cuda_error
template <class Real, int dim>
box<Real, dim> checked_bounds(const point<Real, dim>* points, std::size_t n, const char* name,
                              cudaStream_t stream, const trace_ticket& trace = {}) {
  using namespace detail::spatial_tree;
  const device_buffer<point_bounds<Real, dim>> partial(bounds_blocks(n), stream);
  const device_buffer<unsigned> arrived(1, stream);
  launch_find_bounds<Real, dim>(points, n, partial.data(), arrived.data(), stream, trace);
  return read_checked_bounds(partial.data(), name, stream).bounds;
}

}  // namespace ramify::inline RAMIFY_BUILD
