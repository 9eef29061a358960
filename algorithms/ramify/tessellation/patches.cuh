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
/// Both triangles at an edge make the same decision, because it depends only on the patch and on
/// the ends of the edge. On the border of a patch it depends only on the control points of that
/// border, in a canonical direction. So there is no crack, neither in a patch nor between patches
/// that share a border curve.
///
/// A triangle with two equal corners is left out of the mesh, because it has no area. Its longest
/// edge stands for it if a neighbor has that edge. An edge whose ends are equal points, but which
/// is not a point, is therefore split even within the flatness: else a thin tube had no triangle.

#include <ramify/tessellation/patch_bounds.cuh>

namespace ramify::detail::tessellation::inline RAMIFY_BUILD {

/// A triangle of the parameter plane of a patch. The root of the tree has `no_patch` as its patch.
struct patch_triangle {
  static constexpr unsigned no_patch = ~0u;
  /// Bits of `flags`. Bit k: the edge from corner k to corner k + 1 is split.
  static constexpr unsigned all_edges = 7;
  static constexpr unsigned split_at_centroid = 8;
  static constexpr unsigned limited = 16;  ///< too far from the surface, but not to be divided

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
    // The edge that differs from the other two: the only split edge, or the only other one.
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
    // The shorter diagonal divides the other part. It is inside the triangle, so the choice
    // concerns no neighbor.
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
    // The code of the bound is long, so the kernel has only one copy of it.
    RAMIFY_NO_UNROLL
    for (unsigned k = 0; k < 3; ++k) {
      const parameters& a = t.corners[k];
      const parameters& b = t.corners[(k + 1) % 3];
      const parameter_box edge(a, b);
      if (is_far(t.patch, a, b, limit_of(t.patch, a, b, edge))) {
        flags |= edge.longer_side() > shortest ? 1u << k : patch_triangle::limited;
      } else if (edge.width() == box.width() && edge.height() == box.height()) {
        is_flat = true;  // the bound of the triangle is that of this edge
      }
    }
    if ((flags & patch_triangle::all_edges) != 0) return flags & patch_triangle::all_edges;
    if (flags != 0 || is_flat) return flags;
    const bicubic_patch& patch = patches[t.patch];
    if (distance_bound(differences[t.patch], box) <= flatness) return 0;
    // A triangle with two equal corners is left out of the mesh, so it is not divided. Its parts
    // would be pairs of equal triangles, whose edges more than two triangles would share.
    const surface_point p = patch_point(patch, t.corners[0]);
    const surface_point q = patch_point(patch, t.corners[1]);
    const surface_point r = patch_point(patch, t.corners[2]);
    if (p == q || q == r || r == p) return patch_triangle::limited;
    return box.shorter_side() > shortest ? patch_triangle::split_at_centroid
                                         : patch_triangle::limited;
  }

  /// Returns the maximum distance of an edge from the surface: three quarters of the flatness, so
  /// that the triangles at the edge, whose boxes are larger, are within the flatness after few
  /// divisions. It is 0 for an edge that returns to its beginning. Only long edges are tested. The
  /// surface along an edge is a polynomial of degree 6 at most, so it has one value at most six
  /// times unless it is constant. Of eight edges in a row, one therefore has different ends.
  [[nodiscard]] __host__ __device__ double limit_of(unsigned patch, const parameters& a,
                                                    const parameters& b,
                                                    const parameter_box& edge) const {
    const bool returns = edge.longer_side() >= 0.25 &&
                         patch_point(patches[patch], a) == patch_point(patches[patch], b);
    return returns ? 0 : 0.75 * flatness;
  }

  /// Returns whether an edge is farther than `limit` from the surface.
  [[nodiscard]] __host__ __device__ bool is_far(unsigned patch, const parameters& a,
                                                const parameters& b, double limit) const {
    const bicubic_patch& surface = patches[patch];
    if (a.u == b.u && is_side(a.u)) return BorderRule::is_far(surface, a, b, true, limit);
    if (a.v == b.v && is_side(a.v)) return BorderRule::is_far(surface, a, b, false, limit);
    return distance_bound(differences[patch], parameter_box(a, b)) > limit;
  }
};

}  // namespace ramify::detail::tessellation::inline RAMIFY_BUILD
