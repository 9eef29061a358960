// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Checks of triangle meshes of Bezier patches, by plain code: cracks, and the distance of the
/// surface. Also the distance of curves from polylines.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <ramify/tessellation/config.hpp>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "bezier_geometry.hpp"
#include "box_tree.hpp"

namespace common {

using ramify::mesh_triangle;

// ---- distances ----------------------------------------------------------------------------------

/// Returns the largest distance of points of a curve from its polyline: of `samples` points at
/// equal distances of the parameter, and of those where a coordinate has an extreme. A curve that
/// turns back on a line has its farthest point there.
[[nodiscard]] inline double distance_of_curve(const cubic_curve& curve,
                                              std::span<const curve_point> line, int samples) {
  const auto in_space = [](const curve_point& p) { return surface_point{p.x, p.y, 0}; };
  std::vector<point_box> boxes(line.size() - 1);
  for (std::size_t k = 0; k < boxes.size(); ++k) {
    boxes[k].extend_to(in_space(line[k]));
    boxes[k].extend_to(in_space(line[k + 1]));
  }
  const box_tree segments(std::move(boxes));
  const auto& c = curve.points;
  std::vector<double> parameters = extremes({c[0].x, c[1].x, c[2].x, c[3].x});
  for (const double t : extremes({c[0].y, c[1].y, c[2].y, c[3].y})) parameters.push_back(t);
  for (int i = 0; i < samples; ++i) parameters.push_back((i + 0.5) / samples);
  double largest = 0;
  for (const double t : parameters) {
    const surface_point p = in_space(point_at(curve, t));
    double nearest = HUGE_VAL;
    segments.visit_near(p, nearest, [&](std::size_t k) {
      return nearest = std::min(nearest,
                                distance_to_segment(p, in_space(line[k]), in_space(line[k + 1])));
    });
    largest = std::max(largest, nearest);
  }
  return largest;
}

/// Returns the largest distance of points of the surface from a mesh, over a grid of
/// `samples` x `samples` points of each patch; infinity if there are patches but no triangles.
[[nodiscard]] inline double distance_of_surface(
    std::span<const bicubic_patch> patches, std::span<const surface_point> vertices,
    std::span<const mesh_triangle> triangles, int samples,
    const std::function<void()>& patch_done = [] {}) {
  std::vector<point_box> boxes(triangles.size());
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    for (const std::uint32_t v : triangles[i].vertices) boxes[i].extend_to(vertices[v]);
  }
  const box_tree near(std::move(boxes));
  double largest = 0;
  for (const bicubic_patch& patch : patches) {
    for (int i = 0; i < samples; ++i) {
      for (int j = 0; j < samples; ++j) {
        const auto p = point_at(patch, (i + 0.5) / samples, (j + 0.5) / samples);
        double nearest = HUGE_VAL;
        near.visit_near(p, nearest, [&](std::size_t k) {
          const auto& [v] = triangles[k];
          return nearest = std::min(nearest, distance_to_triangle(p, vertices[v[0]], vertices[v[1]],
                                                                  vertices[v[2]]));
        });
        largest = std::max(largest, nearest);
      }
    }
    patch_done();
  }
  return largest;
}

// ---- cracks -------------------------------------------------------------------------------------

/// A border curve that does not belong to exactly two patches.
struct free_border {
  space_curve curve;
  int patches;
};

/// Returns these curves, except for those that are one point.
[[nodiscard]] inline std::vector<free_border> free_borders(std::span<const bicubic_patch> patches) {
  const auto before = [](const surface_point& a, const surface_point& b) {
    return std::array{a.x, a.y, a.z} < std::array{b.x, b.y, b.z};
  };
  const auto curve_before = [&](const space_curve& a, const space_curve& b) {
    return std::ranges::lexicographical_compare(a, b, before);
  };
  std::map<space_curve, int, decltype(curve_before)> uses(curve_before);
  for (const bicubic_patch& patch : patches) {
    const auto& p = patch.points;
    for (space_curve curve : {space_curve{p[0][0], p[0][1], p[0][2], p[0][3]},
                              space_curve{p[3][0], p[3][1], p[3][2], p[3][3]},
                              space_curve{p[0][0], p[1][0], p[2][0], p[3][0]},
                              space_curve{p[0][3], p[1][3], p[2][3], p[3][3]}}) {
      space_curve reversed = curve;
      std::ranges::reverse(reversed);
      ++uses[curve_before(reversed, curve) ? reversed : curve];
    }
  }
  std::vector<free_border> free;
  for (const auto& [curve, count] : uses) {
    const bool is_point = curve[0] == curve[1] && curve[0] == curve[2] && curve[0] == curve[3];
    if (count != 2 && !is_point) free.push_back({curve, count});
  }
  return free;
}

/// Returns the largest distance from the origin of control points of a curve.
[[nodiscard]] inline double size_of(const space_curve& curve) {
  double size = 0;
  for (const surface_point& p : curve) size = std::max(size, std::sqrt(dot(p, p)));
  return size;
}

/// Half of the digits, relative to the size of a curve: the minimum of a distance is flat.
inline constexpr double on_curve_tolerance = 1e-7;

/// Returns whether a point is on a curve, up to round-off.
[[nodiscard]] inline bool is_on(const space_curve& curve, const surface_point& p) {
  constexpr int samples = 64;
  const auto at = [&](double t) { return distance(point_at(curve, t), p); };
  int best = 0;
  for (int i = 1; i <= samples; ++i) {
    if (at(double(i) / samples) < at(double(best) / samples)) best = i;
  }
  double low = std::max(best - 1, 0) / double(samples);
  double high = std::min(best + 1, samples) / double(samples);
  for (int i = 0; i < 80; ++i) {
    const double a = low + (high - low) / 3;
    const double b = high - (high - low) / 3;
    (at(a) < at(b) ? high : low) = at(a) < at(b) ? b : a;
  }
  return at((low + high) / 2) <= on_curve_tolerance * size_of(curve);
}

/// The free borders of patches, for searches near a point.
class border_tree {
 public:
  explicit border_tree(std::span<const bicubic_patch> patches)
      : borders_(free_borders(patches)), tree_(boxes_of(borders_)) {
    for (const free_border& b : borders_) {
      tolerance_ = std::max(tolerance_, on_curve_tolerance * size_of(b.curve));
    }
  }

  /// Returns whether both ends of an edge are on one border curve that belongs to `patches`
  /// patches.
  [[nodiscard]] bool has_edge(const surface_point& a, const surface_point& b, int patches) const {
    constexpr double ended = -1;
    bool found = false;
    tree_.visit_near(a, tolerance_, [&](std::size_t i) {
      const auto& [curve, count] = borders_[i];
      found = count == patches && is_on(curve, a) && is_on(curve, b);
      return found ? ended : tolerance_;
    });
    return found;
  }

 private:
  static std::vector<point_box> boxes_of(std::span<const free_border> borders) {
    std::vector<point_box> boxes(borders.size());
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      for (const surface_point& p : borders[i].curve) boxes[i].extend_to(p);
    }
    return boxes;
  }

  std::vector<free_border> borders_;
  box_tree tree_;
  double tolerance_ = 0;
};

/// The edges of a mesh.
struct edge_counts {
  std::size_t edges = 0;
  std::size_t on_free_borders = 0;  ///< on a border of k patches, not two, and occur k times
  std::size_t wrong = 0;            ///< all others that do not occur exactly twice
  std::size_t folded = 0;           ///< where the sheets of a thin surface touch; not wrong
  std::size_t turned = 0;           ///< occur twice, but in the same direction
};

/// Returns the edges of triangles that occur more than once in the same orientation.
[[nodiscard]] inline std::set<std::pair<std::uint32_t, std::uint32_t>> repeated_edges(
    std::span<const mesh_triangle> triangles) {
  std::vector<std::array<std::uint32_t, 3>> all;
  for (const auto& [v] : triangles) {
    all.push_back({v[0], v[1], v[2]});
    std::ranges::rotate(all.back(), std::ranges::min_element(all.back()));
  }
  std::ranges::sort(all);
  std::set<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (auto at = std::ranges::adjacent_find(all); at != all.end();
       at = std::adjacent_find(at + 1, all.end())) {
    for (std::size_t k = 0; k < 3; ++k) edges.insert(std::minmax((*at)[k], (*at)[(k + 1) % 3]));
  }
  return edges;
}

/// Counts the edges of a mesh. Without a crack none is wrong. None is turned if neighboring patches
/// have the same orientation. An edge that occurs in both directions equally often is folded if it
/// occurs more than twice: the two sheets of a tube that is thinner than the flatness share edges.
[[nodiscard]] inline edge_counts count_edges(std::span<const bicubic_patch> patches,
                                             std::span<const surface_point> vertices,
                                             std::span<const mesh_triangle> triangles) {
  struct directed_edge {
    std::uint32_t low, high;  ///< vertices
    bool upward;              ///< from low to high
  };
  std::vector<directed_edge> all;
  all.reserve(3 * triangles.size());
  for (const auto& [v] : triangles) {
    for (unsigned k = 0; k < 3; ++k) {
      const std::uint32_t a = v[k];
      const std::uint32_t b = v[(k + 1) % 3];
      all.push_back({std::min(a, b), std::max(a, b), a < b});
    }
  }
  const auto ends = [](const directed_edge& e) { return std::pair(e.low, e.high); };
  std::ranges::sort(all, {}, ends);
  const border_tree borders(patches);
  const auto repeated = repeated_edges(triangles);
  edge_counts counts;
  for (std::size_t first = 0, last = 0; first < all.size(); first = last) {
    int upward = 0;
    for (; last < all.size() && ends(all[last]) == ends(all[first]); ++last) {
      upward += all[last].upward ? 1 : 0;
    }
    ++counts.edges;
    const int times = int(last - first);
    if (times == 2) {
      counts.turned += upward == 1 ? 0 : 1;
    } else if (2 * upward == times && !repeated.contains(ends(all[first]))) {
      ++counts.folded;
    } else {
      const auto& [low, high, up] = all[first];
      ++(borders.has_edge(vertices[low], vertices[high], times) ? counts.on_free_borders
                                                                : counts.wrong);
    }
  }
  return counts;
}

}  // namespace common
