// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The recursion of tessellate_patches(): the tree of the triangles of all patches, which cover the
/// parameter planes of the patches.
///
///   1. Base case   a triangle without split edges that is within the flatness is a leaf.
///   2. Split       edges that are too far from the surface are split at their middle parameters,
///                  and the triangle is divided into two to four by the set of its split edges. A
///                  triangle without split edges that is too far is divided at its centroid.
///   3. Recurse     into the triangles. Join: none.
///
/// Both triangles at an edge decide alike, because the decision depends only on the patch and the
/// ends of the edge; on the border of a patch only on the control points of that border, taken in a
/// canonical direction. So there is no crack, neither in a patch nor between patches that share a
/// border curve.

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
  bool reversed;  ///< against the parameter of the patch

  /// The border at u == side if `side_is_u`, else at v == side. `side` is 0 or 1.
  __host__ __device__ border_curve(const bicubic_patch& patch, bool side_is_u, double side) {
    const unsigned fixed = side == 0 ? 0 : 3;
    for (unsigned k = 0; k < 4; ++k) {
      points[k] = side_is_u ? patch.points[fixed][k] : patch.points[k][fixed];
    }
    reversed = precedes(3, 0) || (!precedes(0, 3) && precedes(2, 1));
    if (!reversed) return;
    swap(points[0], points[3]);
    swap(points[1], points[2]);
  }
  [[nodiscard]] __host__ __device__ double canonical(double t) const {
    return reversed ? 1 - t : t;
  }

 private:
  [[nodiscard]] __host__ __device__ bool precedes(unsigned i, unsigned j) const {
    const surface_point& a = points[i];
    const surface_point& b = points[j];
    return a.x != b.x ? a.x < b.x : a.y != b.y ? a.y < b.y : a.z < b.z;
  }
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
/// difference of order i in u and j in v, at points[0][0]. Those of the second derivatives of the
/// patch are parts of this array, up to a factor.
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

/// Computes the differences of each patch. One thread for each.
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
  // 2. Scale the differences. (A product could become part of an addition of step 3.)
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

/// Returns the maximum length of the control points, over a box, of a derivative of a patch up to a
/// factor: that of order `by_u` in u and `by_v` in v.
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
/// sides a and b (Filip, Magedson and Markot). Also points of equal parameters are not farther.
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

/// Returns the number of triangles if a patch were divided uniformly: about as many as the tree has
/// leaves, rather more.
[[nodiscard]] __device__ inline double expected_pieces(const bicubic_patch& patch,
                                                       double flatness) {
  const double bound = distance_bound(patch_differences(patch), {{0, 0}, {1, 1}});
  const double parts = fmax(1.0, ceil(sqrt(bound / flatness)));
  return 2 * parts * parts;
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

// ---- the tree -----------------------------------------------------------------------------------

/// A triangle of the parameter plane of a patch; or the root, with an index that no patch has.
struct patch_triangle {
  static constexpr unsigned no_patch = ~0u;
  /// Bits of `flags`. Bit k: the edge from corner k to corner k + 1 is split.
  static constexpr unsigned all_edges = 7;
  static constexpr unsigned split_at_centroid = 8;
  static constexpr unsigned limited = 16;  ///< too far, but it must not be divided

  unsigned patch;
  unsigned flags;
  parameters corners[3];
};

/// The tree. The root has two triangles of each patch as children.
template <class BorderRule>
struct triangle_tree {
  using node_type = patch_triangle;
  using leaf_type = patch_triangle;

  const bicubic_patch* patches;
  const patch_differences* differences;  ///< of each patch
  unsigned n;
  double flatness;
  double shortest;  ///< edges are split if they are longer, in u or in v

  [[nodiscard]] static __host__ __device__ patch_triangle root() {
    return {patch_triangle::no_patch, 0, {}};
  }
  [[nodiscard]] __host__ __device__ unsigned degree(const patch_triangle& t) const {
    if (t.patch == patch_triangle::no_patch) return 2 * n;
    if ((t.flags & patch_triangle::split_at_centroid) != 0) return 3;
    const unsigned edges = split_edges(t);
    return edges == 0 ? 0 : 1 + edges;
  }
  [[nodiscard]] __host__ __device__ patch_triangle child(const patch_triangle& t,
                                                         unsigned i) const {
    patch_triangle c = t;
    if (t.patch == patch_triangle::no_patch) {
      c.patch = i / 2;
      place(c, {0, 0}, i % 2 == 0 ? parameters{1, 0} : parameters{1, 1},
            i % 2 == 0 ? parameters{1, 1} : parameters{0, 1});
    } else if ((t.flags & patch_triangle::split_at_centroid) != 0) {
      const auto& p = t.corners;
      place(c, p[i], p[(i + 1) % 3],
            {(p[0].u + p[1].u + p[2].u) / 3, (p[0].v + p[1].v + p[2].v) / 3});
    } else {
      divide(t, i, c);
    }
    c.flags = flags_of(c);
    return c;
  }
  [[nodiscard]] __host__ __device__ bool is_leaf(const patch_triangle& t, unsigned degree) const {
    return degree == 0 && t.patch != patch_triangle::no_patch;
  }
  [[nodiscard]] __host__ __device__ bool is_limited(const patch_triangle& t) const {
    return (t.flags & patch_triangle::limited) != 0;
  }
  [[nodiscard]] __host__ __device__ patch_triangle leaf(const patch_triangle& t) const { return t; }

 private:
  [[nodiscard]] static __host__ __device__ unsigned split_edges(const patch_triangle& t) {
    return (t.flags & 1) + (t.flags >> 1 & 1) + (t.flags >> 2 & 1);
  }
  static __host__ __device__ void place(patch_triangle& t, const parameters& a, const parameters& b,
                                        const parameters& c) {
    t.corners[0] = a;
    t.corners[1] = b;
    t.corners[2] = c;
  }
  /// Returns the middle of an edge, with the same bits in both directions.
  [[nodiscard]] static __host__ __device__ parameters middle(const parameters& a,
                                                             const parameters& b) {
    return {(a.u + b.u) / 2, (a.v + b.v) / 2};
  }
  [[nodiscard]] static __host__ __device__ double squared_length(const parameters& a,
                                                                 const parameters& b) {
    return fma(a.u - b.u, a.u - b.u, (a.v - b.v) * (a.v - b.v));
  }

  /// Sets `c` to part number i of a triangle with split edges.
  static __host__ __device__ void divide(const patch_triangle& t, unsigned i, patch_triangle& c) {
    const unsigned edges = t.flags & patch_triangle::all_edges;
    if (edges == patch_triangle::all_edges) {
      const auto& p = t.corners;
      if (i == 3) {
        place(c, middle(p[0], p[1]), middle(p[1], p[2]), middle(p[2], p[0]));
      } else {
        place(c, p[i], middle(p[i], p[(i + 1) % 3]), middle(p[(i + 2) % 3], p[i]));
      }
      return;
    }
    // The edge that differs from both others: the split one of one, or the whole one of three.
    const unsigned differing = split_edges(t) == 1 ? edges : patch_triangle::all_edges & ~edges;
    const unsigned e = differing == 1 ? 0 : differing == 2 ? 1 : 2;
    const parameters& p = t.corners[e];
    const parameters& q = t.corners[(e + 1) % 3];
    const parameters& r = t.corners[(e + 2) % 3];
    if (split_edges(t) == 1) {
      const parameters m = middle(p, q);
      i == 0 ? place(c, p, m, r) : place(c, m, q, r);
      return;
    }
    const parameters qr = middle(q, r);
    const parameters rp = middle(r, p);
    if (i == 0) return place(c, rp, qr, r);
    // The shorter diagonal divides the other part. Each triangle may choose, for it is inside.
    if (squared_length(p, qr) <= squared_length(q, rp)) {
      i == 1 ? place(c, p, q, qr) : place(c, p, qr, rp);
    } else {
      i == 1 ? place(c, p, q, rp) : place(c, q, qr, rp);
    }
  }

  /// Decides how a triangle is divided.
  [[nodiscard]] __host__ __device__ unsigned flags_of(const patch_triangle& t) const {
    parameter_box box(t.corners[0], t.corners[1]);
    box.extend_to(t.corners[2]);
    unsigned flags = 0;
    bool is_flat = false;
#if defined(__CUDA_ARCH__)  // the host compiler warns of an unknown pragma
#pragma unroll 1            // the kernel has one copy of the bound, which is long
#endif
    for (unsigned k = 0; k < 3; ++k) {
      const parameters& a = t.corners[k];
      const parameters& b = t.corners[(k + 1) % 3];
      const parameter_box edge(a, b);
      if (is_far(t.patch, a, b)) {
        flags |= edge.longer_side() > shortest ? 1u << k : patch_triangle::limited;
      } else if (edge.width() == box.width() && edge.height() == box.height()) {
        is_flat = true;  // the bound of the triangle is that of this edge
      }
    }
    if ((flags & patch_triangle::all_edges) != 0) return flags & patch_triangle::all_edges;
    if (flags != 0 || is_flat) return flags;
    const bicubic_patch& patch = patches[t.patch];
    if (distance_bound(differences[t.patch], box) <= flatness) return 0;
    // A triangle with two equal corners is left out of the mesh. Its parts would be pairs of equal
    // triangles, at edges that more than two triangles share.
    const surface_point p = patch_point(patch, t.corners[0]);
    const surface_point q = patch_point(patch, t.corners[1]);
    const surface_point r = patch_point(patch, t.corners[2]);
    if (p == q || q == r || r == p) return patch_triangle::limited;
    return box.shorter_side() > shortest ? patch_triangle::split_at_centroid
                                         : patch_triangle::limited;
  }

  /// Edges are held to three quarters of the flatness. The triangles at an edge, whose boxes are
  /// larger, then become flat enough after a few divisions.
  [[nodiscard]] __host__ __device__ bool is_far(unsigned patch, const parameters& a,
                                                const parameters& b) const {
    const bicubic_patch& surface = patches[patch];
    const double limit = 0.75 * flatness;
    if (a.u == b.u && is_side(a.u)) return BorderRule::is_far(surface, a, b, true, limit);
    if (a.v == b.v && is_side(a.v)) return BorderRule::is_far(surface, a, b, false, limit);
    return distance_bound(differences[patch], parameter_box(a, b)) > limit;
  }
};

}  // namespace ramify::detail::tessellation::inline RAMIFY_BUILD
