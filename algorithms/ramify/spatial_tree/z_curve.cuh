// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The order of a tree's points: along the Z curve (Morton, 1966), which visits every quadrant, or
/// octant, of the cube around all points as a whole before it goes on to the next one.
///
///     cell (x, y) = (2, 1) = (10, 01) in binary  -->  place 0110: the bits of y and x take turns
///
/// So a node of the tree is a stretch of the order, and its children are the stretches with the same
/// next digit.

#include <cstdint>
#include <ramify/spatial_tree/node.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// A point's place on the curve. Points in the same cell are ordered by their index, so that the
/// order, and with it the tree, depends on the points alone.
struct z_place {
  std::uint64_t code;
  std::uint32_t id;

  struct before {
    __host__ __device__ bool operator()(const z_place& a, const z_place& b) const {
      return a.code != b.code ? a.code < b.code : a.id < b.id;
    }
  };
};

/// Moves the bits of a number apart: bit i goes to bit i * dim.
template <int dim>
__host__ __device__ std::uint64_t spread_bits(std::uint64_t v) {
  if constexpr (dim == 2) {
    v = (v | v << 16) & 0x0000ffff0000ffffu;
    v = (v | v << 8) & 0x00ff00ff00ff00ffu;
    v = (v | v << 4) & 0x0f0f0f0f0f0f0f0fu;
    v = (v | v << 2) & 0x3333333333333333u;
    return (v | v << 1) & 0x5555555555555555u;
  } else {
    v = (v | v << 32) & 0x001f00000000ffffu;
    v = (v | v << 16) & 0x001f0000ff0000ffu;
    v = (v | v << 8) & 0x100f00f00f00f00fu;
    v = (v | v << 4) & 0x10c30c30c30c30c3u;
    return (v | v << 2) & 0x1249249249249249u;
  }
}

/// The curve through the cube whose lower corner is a box's and whose edge is the box's longest.
template <int dim>
class z_curve {
 public:
  template <class Real>
  explicit z_curve(const box<Real, dim>& bounds) {
    // Halves: a difference of coordinates may be too large for a number, and theirs is not.
    for (int axis = 0; axis < dim; ++axis) {
      lower_half_[axis] = double(bounds.lower.x[axis]) / 2;
      const double half = double(bounds.upper.x[axis]) / 2 - lower_half_[axis];
      if (edge_half_ < half) edge_half_ = half;
    }
  }

  template <class Real>
  [[nodiscard]] __host__ __device__ std::uint64_t code(const point<Real, dim>& p) const {
    constexpr std::uint64_t cells = std::uint64_t{1} << spatial_shape<dim>::bits;
    if (edge_half_ == 0) return 0;
    std::uint64_t code = 0;
    for (int axis = 0; axis < dim; ++axis) {
      const double along = (double(p.x[axis]) / 2 - lower_half_[axis]) / edge_half_;
      const auto cell = static_cast<std::uint64_t>(along * double(cells));
      code |= spread_bits<dim>(cell < cells ? cell : cells - 1) << axis;
    }
    return code;
  }

 private:
  double lower_half_[dim];
  double edge_half_ = 0;
};

template <class Real, int dim>
__global__ void find_places(const point<Real, dim>* points, std::uint32_t n, z_curve<dim> curve,
                            z_place* places, trace_ticket trace) {
  const traced here(trace, __func__);
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) places[i] = {curve.code(points[i]), i};
}

/// Puts the points into the order of their places.
template <class Real, int dim>
__global__ void gather_points(const point<Real, dim>* points, std::uint32_t n,
                              const z_place* places, point<Real, dim>* ordered, std::uint32_t* ids,
                              trace_ticket trace) {
  const traced here(trace, __func__);
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  ids[i] = places[i].id;
  ordered[i] = points[places[i].id];
}

}  // namespace ramify::inline RAMIFY_BUILD
