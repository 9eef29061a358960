// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Morton codes (Morton, 1966) and the order of a tree's points.
///
///     cell (x, y) = (2, 1) = (10, 01) in binary  -->  code 0110: the bits of y and x alternate
///
/// The codes number the cells of the smallest cube around all points along the Z-order curve. The
/// curve completes each quadrant, or octant, before it enters the next one. A node of the tree is
/// therefore a range of the sorted points, and each child is the subrange with the same next digit.

#include <cstdint>
#include <limits>
#include <ramify/runtime/detail/launch_each.cuh>
#include <ramify/spatial_tree/bounds.cuh>
#include <ramify/spatial_tree/node.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// The distance of a neighbor that was not found.
template <class Real>
inline constexpr Real infinite = std::numeric_limits<Real>::infinity();

/// A point's Morton code and its index. Points of the same cell are ordered by index, so the order,
/// and with it the tree, depends on the points alone.
///
/// The code is kept in two halves, so that an element has 12 bytes: with a 64-bit member it would
/// have 16, which a sort moves several times.
class morton_code {
 public:
  morton_code() = default;  // trivial, for arrays in shared memory
  __host__ __device__ morton_code(std::uint64_t code, std::uint32_t index)
      : id(index),
        lower_(static_cast<std::uint32_t>(code)),
        upper_(static_cast<std::uint32_t>(code >> 32)) {}

  [[nodiscard]] __host__ __device__ std::uint64_t code() const {
    return std::uint64_t{upper_} << 32 | lower_;
  }

  std::uint32_t id;  ///< the index of the point

  /// The order of elements. All comparisons are made, whatever their results are, so that threads
  /// do not branch.
  struct less {
    static constexpr bool known_strict_weak = true;
    static constexpr bool keys_are_distinct = true;  ///< by their indices
    __host__ __device__ bool operator()(const morton_code& a, const morton_code& b) const {
      const std::uint64_t code_a = a.code();
      const std::uint64_t code_b = b.code();
      const bool precedes = code_a < code_b;
      const bool same_cell = code_a == code_b;
      const bool smaller_id = a.id < b.id;
      return precedes || (same_cell && smaller_id);
    }
  };

 private:
  std::uint32_t lower_, upper_;  // halves of the code
};
static_assert(sizeof(morton_code) == 12);

/// The codes and the indices of all points, as kernels access them: elements of both, which a
/// quicksort sorts.
struct code_elements {
  morton_code* elements;

  [[nodiscard]] __device__ std::uint64_t code(std::uint32_t i) const { return elements[i].code(); }
  [[nodiscard]] __device__ std::uint32_t id(std::uint32_t i) const { return elements[i].id; }
  __device__ void set(std::uint32_t i, std::uint64_t code) const { put(i, {code, i}); }
  __device__ void put(std::uint32_t i, const morton_code& element) const { elements[i] = element; }
  /// Returns whether element i is in order.
  [[nodiscard]] __device__ bool follows_previous(std::uint32_t i) const {
    return i == 0 || morton_code::less{}(elements[i - 1], elements[i]);
  }
};

#if RAMIFY_ON_CUDA
/// The same in two arrays, as the radix sort of a GPU has them.
struct code_arrays {
  std::uint64_t* codes;
  std::uint32_t* ids;

  [[nodiscard]] __device__ std::uint64_t code(std::uint32_t i) const { return codes[i]; }
  [[nodiscard]] __device__ std::uint32_t id(std::uint32_t i) const { return ids[i]; }
  __device__ void set(std::uint32_t i, std::uint64_t code) const { put(i, {code, i}); }
  __device__ void put(std::uint32_t i, const morton_code& element) const {
    codes[i] = element.code();
    ids[i] = element.id;
  }
  /// Returns true: the sort is complete when kernels read its result.
  [[nodiscard]] __device__ bool follows_previous(std::uint32_t) const { return true; }
};
using point_codes = code_arrays;
#else
using point_codes = code_elements;
#endif

/// Spreads the bits of a number: bit i moves to bit i * dim.
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

/// Computes the Morton codes of points in a box. The cube has the box's lower corner; its edge is
/// the longest edge of the box.
template <int dim>
class morton_encoder {
 public:
  template <class Real>
  __host__ __device__ explicit morton_encoder(const box<Real, dim>& bounds) {
    // Half the difference: a difference of two coordinates may overflow, half of it does not.
    for (int axis = 0; axis < dim; ++axis) {
      lower_half_[axis] = double(bounds.lower.x[axis]) / 2;
      const double half = double(bounds.upper.x[axis]) / 2 - lower_half_[axis];
      if (edge_half_ < half) edge_half_ = half;
    }
  }

  template <class Real>
  [[nodiscard]] __host__ __device__ std::uint64_t encode(const point<Real, dim>& p) const {
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

/// Writes the code of each point. If a point is not finite, all codes are 0.
template <class Real, int dim, class Codes = point_codes>
__global__ void encode_points(const point<Real, dim>* points, runtime::element_count n,
                              const point_bounds<Real, dim>* found, Codes codes,
                              trace_ticket trace) {
  const traced here(trace, __func__);
  const bool finite = found->first_nonfinite == found->none;
  const morton_encoder<dim> encoder(found->bounds);
  runtime::for_each_item(n.get(), [&](unsigned long long i) {
    codes.set(static_cast<std::uint32_t>(i), finite ? encoder.encode(points[i]) : 0);
  });
}

/// Copies the points into the order of their sorted codes. Sets `unsorted` if the codes are not in
/// order.
template <class Real, int dim, class Codes = point_codes>
__global__ void gather_points(const point<Real, dim>* points, runtime::element_count n, Codes codes,
                              point<Real, dim>* ordered, std::uint32_t* ids, unsigned* unsorted,
                              trace_ticket trace) {
  const traced here(trace, __func__);
  runtime::for_each_item(n.get(), [&](unsigned long long item) {
    const auto i = static_cast<std::uint32_t>(item);
    if (!codes.follows_previous(i)) atomicOr(unsorted, 1u);
    const std::uint32_t id = codes.id(i);
    ids[i] = id;
    ordered[i] = points[id];
  });
}

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
