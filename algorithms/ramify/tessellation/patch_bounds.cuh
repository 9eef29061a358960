// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Points of patches, and bounds of the distance between a patch and its triangles and edges.

#include <ramify/runtime/grid_trace.cuh>
#include <ramify/tessellation/bezier.cuh>

namespace ramify::detail::tessellation::inline RAMIFY_BUILD {

/// A point of the parameter plane of a patch.
struct parameters {
  double u, v;
};

/// The smallest box around two or three points of the parameter plane.
struct parameter_box {
  parameters low, high;

  __host__ __device__ parameter_box(const parameters& a, const parameters& b)
      : low{fmin(a.u, b.u), fmin(a.v, b.v)}, high{fmax(a.u, b.u), fmax(a.v, b.v)} {}
  __host__ __device__ void extend_to(const parameters& p) {
    low = {fmin(low.u, p.u), fmin(low.v, p.v)};
    high = {fmax(high.u, p.u), fmax(high.v, p.v)};
  }
  [[nodiscard]] __host__ __device__ double width() const { return high.u - low.u; }
  [[nodiscard]] __host__ __device__ double height() const { return high.v - low.v; }
  [[nodiscard]] __host__ __device__ double longer_side() const { return fmax(width(), height()); }
  [[nodiscard]] __host__ __device__ double shorter_side() const { return fmin(width(), height()); }
};

// ---- borders ------------------------------------------------------------------------------------

/// A border curve of a patch, in its canonical direction: that in which the control points are
/// lexicographically smaller. Patches that share the curve therefore compute the same bits.
struct border_curve {
  surface_point points[4];
  bool reversed;  ///< whether the canonical direction is against the parameter of the patch

  /// The border at u == side if `side_is_u`, else at v == side. `side` is 0 or 1.
  __host__ __device__ border_curve(const bicubic_patch& patch, bool side_is_u, double side) {
    const unsigned fixed = side == 0 ? 0 : 3;
    for (unsigned k = 0; k < 4; ++k) {
      points[k] = side_is_u ? patch.points[fixed][k] : patch.points[k][fixed];
    }
    const auto& p = points;
    reversed = precedes(p[3], p[0]) || (!precedes(p[0], p[3]) && precedes(p[2], p[1]));
    if (!reversed) return;
    swap(points[0], points[3]);
    swap(points[1], points[2]);
  }
  /// Returns the parameter of this curve at the parameter t of the patch.
  [[nodiscard]] __host__ __device__ double canonical(double t) const {
    return reversed ? 1 - t : t;
  }

 private:
  static __host__ __device__ void swap(surface_point& a, surface_point& b) {
    const surface_point c = a;
    a = b;
    b = c;
  }
};

[[nodiscard]] __host__ __device__ inline bool is_side(double t) { return t == 0 || t == 1; }

/// Decides about edges on the border of a patch.
struct border_rule {
  /// Returns whether the edge from `a` to `b` on a border is too far from the border curve.
  /// `side_is_u`: it is on the border where u is 0 or 1.
  [[nodiscard]] static __host__ __device__ bool is_far(const bicubic_patch& patch,
                                                       const parameters& a, const parameters& b,
                                                       bool side_is_u, double flatness) {
    const border_curve curve(patch, side_is_u, side_is_u ? a.u : a.v);
    const double s = curve.canonical(side_is_u ? a.v : a.u);
    const double t = curve.canonical(side_is_u ? b.v : b.u);
    const auto& p = curve.points;
    const surface_point begin = second_difference(p[0], p[1], p[2]);
    const surface_point end = second_difference(p[1], p[2], p[3]);
    const surface_point at_s = lerp(begin, end, s);
    const surface_point at_t = lerp(begin, end, t);
    // The bound of distance_bound() for a box without a second side, so that thin triangles at the
    // border are within the flatness if their edges are.
    const double length = sqrt(fmax(dot(at_s, at_s), dot(at_t, at_t)));
    return 0.75 * (t - s) * (t - s) * length > flatness;
  }
};

// ---- the surface over a box ---------------------------------------------------------------------

/// The forward differences of the control points of a patch: values[k][i][j] is coordinate k of the
/// difference of order i in u and j in v, at points[0][0]. The control points of a derivative of
/// order (i, j) have the differences values[k][i...][j...], up to a constant factor.
struct patch_differences {
  double values[3][4][4];

  __host__ __device__ explicit patch_differences(const bicubic_patch& patch) {
    for (unsigned i = 0; i < 4; ++i) {
      for (unsigned j = 0; j < 4; ++j) {
        values[0][i][j] = patch.points[i][j].x;
        values[1][i][j] = patch.points[i][j].y;
        values[2][i][j] = patch.points[i][j].z;
      }
    }
    for (unsigned order = 1; order < 4; ++order) {
      for (unsigned i = 3; i >= order; --i) {
        for (unsigned j = 0; j < 4; ++j) {
          for (auto& net : values) net[i][j] -= net[i - 1][j];
        }
      }
      for (unsigned j = 3; j >= order; --j) {
        for (unsigned i = 0; i < 4; ++i) {
          for (auto& net : values) net[i][j] -= net[i][j - 1];
        }
      }
    }
  }
};

/// Computes the differences of each patch. One thread for each patch.
template <class Patch>
__global__ void difference_patches(const Patch* patches, std::size_t n,
                                   patch_differences* differences, trace_ticket trace) {
  const traced here(trace, __func__);
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) differences[i] = patch_differences(patches[i]);
}

/// Replaces the forward differences of the control values of a polynomial, at the first one, by the
/// control values of its part [begin, begin + width].
template <unsigned count>
__host__ __device__ void restrict_to(double (&values)[count], double begin, double width) {
  // 1. Move the first control value to `begin`, by de Casteljau's algorithm.
  for (unsigned step = 1; step < count; ++step) {
    for (unsigned i = 0; i + step < count; ++i) values[i] = fma(begin, values[i + 1], values[i]);
  }
  // 2. Scale the differences. With fma(), the compiler cannot fuse the product with an addition of
  //    step 3, so the bits are the same in all builds.
  double power = width;
  for (unsigned i = 1; i < count; ++i) {
    values[i] = fma(power, values[i], 0.0);
    power *= width;
  }
  // 3. Add up the differences.
  for (unsigned order = count - 1; order > 0; --order) {
    for (unsigned i = order; i < count; ++i) values[i] += values[i - 1];
  }
}

/// Returns a bound of the length of a derivative of a patch over a box, up to a constant factor:
/// the maximum length of its control points. The derivative has the order `by_u` in u and `by_v` in
/// v.
template <unsigned by_u, unsigned by_v>
[[nodiscard]] __host__ __device__ double max_derivative(const patch_differences& patch,
                                                        const parameter_box& box) {
  constexpr unsigned rows = 4 - by_u;
  constexpr unsigned columns = 4 - by_v;
  double squares[rows][columns] = {};
  for (unsigned axis = 0; axis < 3; ++axis) {
    double net[columns][rows];
    for (unsigned j = 0; j < columns; ++j) {
      for (unsigned i = 0; i < rows; ++i) net[j][i] = patch.values[axis][by_u + i][by_v + j];
      restrict_to(net[j], box.low.u, box.width());
    }
    for (unsigned i = 0; i < rows; ++i) {
      double row[columns];
      for (unsigned j = 0; j < columns; ++j) row[j] = net[j][i];
      restrict_to(row, box.low.v, box.height());
      for (unsigned j = 0; j < columns; ++j) squares[i][j] = fma(row[j], row[j], squares[i][j]);
    }
  }
  double largest = 0;
  for (unsigned i = 0; i < rows; ++i) {
    for (unsigned j = 0; j < columns; ++j) largest = fmax(largest, squares[i][j]);
  }
  return sqrt(largest);
}

/// Returns a bound of the distance between the surface over the box and any triangle or edge whose
/// corners have parameters in the box: (a^2 |S_uu| + 2 a b |S_uv| + b^2 |S_vv|) / 8 for a box of
/// sides a and b (Filip, Magedson and Markot). It also bounds the distance of the points of the
/// surface and of the triangle that have equal parameters.
[[nodiscard]] __host__ __device__ inline double distance_bound(const patch_differences& patch,
                                                               const parameter_box& box) {
  const double a = box.width();
  const double b = box.height();
  double bound = 0;
  if (a > 0) bound = 0.75 * a * a * max_derivative<2, 0>(patch, box);
  if (a > 0 && b > 0) bound = fma(2.25 * a * b, max_derivative<1, 1>(patch, box), bound);
  if (b > 0) bound = fma(0.75 * b * b, max_derivative<0, 2>(patch, box), bound);
  return bound;
}

/// Returns an estimate of the number of leaves of a patch: the number of triangles of a uniform
/// division within the flatness, and at most 2 * 4^max_depth. The tree mostly has fewer leaves. If
/// the surface is curved in one direction only, the tree has a fifth of them.
[[nodiscard]] __device__ inline double expected_pieces(const bicubic_patch& patch, double flatness,
                                                       unsigned max_depth) {
  const double bound = distance_bound(patch_differences(patch), {{0, 0}, {1, 1}});
  const double parts = fmax(1.0, ceil(sqrt(bound / flatness)));
  const double most = ldexp(1.0, static_cast<int>(max_depth));
  return 2 * fmin(parts, most) * fmin(parts, most);
}

/// Returns the point of a patch. Points of equal coordinates have equal bits: there is no -0.
[[nodiscard]] __host__ __device__ inline surface_point patch_point(const bicubic_patch& patch,
                                                                   const parameters& p) {
  surface_point q;
  if (is_side(p.u) || is_side(p.v)) {
    const bool side_is_u = is_side(p.u);
    const border_curve curve(patch, side_is_u, side_is_u ? p.u : p.v);
    q = cubic_point(curve.points, curve.canonical(side_is_u ? p.v : p.u));
  } else {
    surface_point of_v[4];
    for (unsigned i = 0; i < 4; ++i) of_v[i] = cubic_point(patch.points[i], p.v);
    q = cubic_point(of_v, p.u);
  }
  return {q.x + 0.0, q.y + 0.0, q.z + 0.0};
}

}  // namespace ramify::detail::tessellation::inline RAMIFY_BUILD
