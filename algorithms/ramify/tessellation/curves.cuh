// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The recursion of tessellate_curves(): the tree of the parts of all curves, and the points of the
/// polylines.

#include <ramify/runtime/grid_trace.cuh>
#include <ramify/tessellation/bezier.cuh>

namespace ramify::detail::tessellation::inline RAMIFY_BUILD {

/// The part of a curve with the parameters in [i, i + 1] / 2^depth. The root of the tree has
/// `no_curve` as its curve.
struct curve_part {
  static constexpr unsigned no_curve = ~0u;

  unsigned curve;
  unsigned depth;
  unsigned i;

  [[nodiscard]] __host__ __device__ double begin() const { return parameter(i); }
  [[nodiscard]] __host__ __device__ double end() const { return parameter(std::uint64_t{i} + 1); }

 private:
  [[nodiscard]] __host__ __device__ double parameter(std::uint64_t k) const {
    return static_cast<double>(k << (32 - depth)) * 0x1p-32;  // exact
  }
};

/// The place of a part in the order of the results. The upper 32 bits are its curve, the lower ones
/// its first parameter in units of 2^-32.
struct part_place {
  std::uint64_t bits;

  [[nodiscard]] static __host__ __device__ part_place of(const curve_part& part) {
    return {std::uint64_t{part.curve} << 32 | std::uint64_t{part.i} << (32 - part.depth)};
  }
  [[nodiscard]] __host__ __device__ unsigned curve() const {
    return static_cast<unsigned>(bits >> 32);
  }
  [[nodiscard]] __host__ __device__ double begin() const {
    return static_cast<unsigned>(bits) * 0x1p-32;
  }
};

/// Returns an estimate of the number of leaves of a curve: the number of equal parts that the bound
/// of the whole curve requires, and at most 2^max_depth. A tree mostly has fewer leaves; it has at
/// most about twice as many.
[[nodiscard]] __device__ inline double expected_pieces(const cubic_curve& curve, double flatness,
                                                       unsigned max_depth) {
  if (!is_far_from_chord(curve, 0, 1, flatness)) return 1;
  const chord_deviation<curve_point> deviation(curve.points, 0, 1);
  const double parts = ceil(sqrt(0.25 * sqrt(deviation.squared_bound()) / flatness));
  return fmin(parts, ldexp(1.0, static_cast<int>(max_depth)));
}

/// The tree: the root has all curves as children, and a part is divided into halves.
struct curve_tree {
  using node_type = curve_part;
  using leaf_type = std::uint64_t;  // the bits of a part_place

  const cubic_curve* curves;
  unsigned n;
  double flatness;
  unsigned max_depth;

  [[nodiscard]] static curve_part root() { return {curve_part::no_curve, 0, 0}; }
  [[nodiscard]] __device__ unsigned degree(const curve_part& part) const {
    if (part.curve == curve_part::no_curve) return n;
    return part.depth < max_depth && is_far(part) ? 2 : 0;
  }
  [[nodiscard]] __device__ curve_part child(const curve_part& part, unsigned i) const {
    if (part.curve == curve_part::no_curve) return {i, 0, 0};
    return {part.curve, part.depth + 1, 2 * part.i + i};
  }
  [[nodiscard]] __device__ bool is_leaf(const curve_part& part, unsigned degree) const {
    return degree == 0 && part.curve != curve_part::no_curve;
  }
  [[nodiscard]] __device__ bool is_limited(const curve_part& part) const {
    return part.depth == max_depth && is_far(part);
  }
  [[nodiscard]] __device__ std::uint64_t leaf(const curve_part& part) const {
    return part_place::of(part).bits;
  }

 private:
  [[nodiscard]] __device__ bool is_far(const curve_part& part) const {
    return is_far_from_chord(curves[part.curve], part.begin(), part.end(), flatness);
  }
};

/// Writes the first point of each part, and the last point and the end offset of each curve. Part i
/// of all parts, on curve c, begins at point i + c: each earlier part has one point, and the end of
/// each earlier curve is one more. One thread for each part.
template <class Place>
__global__ void write_polylines(const cubic_curve* curves, const std::uint64_t* places,
                                std::size_t n, curve_point* points, std::uint64_t* offsets,
                                trace_ticket trace) {
  const traced here(trace, __func__);
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Place place{places[i]};
  const unsigned curve = place.curve();
  points[i + curve] = cubic_point(curves[curve].points, place.begin());
  if (i == 0) offsets[0] = 0;
  if (i + 1 < n && Place{places[i + 1]}.curve() == curve) return;
  points[i + curve + 1] = curves[curve].points[3];
  offsets[curve + 1] = i + curve + 2;
}

}  // namespace ramify::detail::tessellation::inline RAMIFY_BUILD
