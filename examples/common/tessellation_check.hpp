// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Checks of triangle meshes of Bezier patches, by plain loops: cracks, and the distance of the
/// surface. Also the distance of curves from polylines.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <ramify/tessellation/config.hpp>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace common {

using ramify::bicubic_patch;
using ramify::cubic_curve;
using ramify::curve_point;
using ramify::mesh_triangle;
using ramify::surface_point;

// ---- points -------------------------------------------------------------------------------------

/// Returns the four Bernstein polynomials at t.
[[nodiscard]] inline std::array<double, 4> bernstein(double t) {
  const double s = 1 - t;
  return {s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t};
}
[[nodiscard]] inline curve_point point_at(const cubic_curve& curve, double t) {
  const auto b = bernstein(t);
  curve_point p{0, 0};
  for (std::size_t i = 0; i < 4; ++i) {
    p.x += b[i] * curve.points[i].x;
    p.y += b[i] * curve.points[i].y;
  }
  return p;
}

[[nodiscard]] inline surface_point operator-(const surface_point& a, const surface_point& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
[[nodiscard]] inline double dot(const surface_point& a, const surface_point& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
/// Returns a + t d.
[[nodiscard]] inline surface_point moved(const surface_point& a, double t, const surface_point& d) {
  return {a.x + t * d.x, a.y + t * d.y, a.z + t * d.z};
}
[[nodiscard]] inline double distance(const surface_point& a, const surface_point& b) {
  return std::sqrt(dot(a - b, a - b));
}

using space_curve = std::array<surface_point, 4>;

[[nodiscard]] inline surface_point point_at(const space_curve& curve, double t) {
  const auto b = bernstein(t);
  surface_point p{0, 0, 0};
  for (std::size_t i = 0; i < 4; ++i) p = moved(p, b[i], curve[i]);
  return p;
}
[[nodiscard]] inline surface_point point_at(const bicubic_patch& patch, double u, double v) {
  space_curve of_v;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& row = patch.points[i];
    of_v[i] = point_at(space_curve{row[0], row[1], row[2], row[3]}, v);
  }
  return point_at(of_v, u);
}

// ---- distances ----------------------------------------------------------------------------------

[[nodiscard]] inline double distance_to_segment(const curve_point& p, const curve_point& a,
                                                const curve_point& b) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double length2 = dx * dx + dy * dy;
  const double along = length2 == 0 ? 0 : ((p.x - a.x) * dx + (p.y - a.y) * dy) / length2;
  const double t = std::clamp(along, 0.0, 1.0);
  return std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

/// Returns the largest distance of `samples` points of a curve from its polyline.
[[nodiscard]] inline double distance_of_curve(const cubic_curve& curve,
                                              std::span<const curve_point> line, int samples) {
  double largest = 0;
  for (int i = 0; i < samples; ++i) {
    const curve_point p = point_at(curve, (i + 0.5) / samples);
    double nearest = HUGE_VAL;
    for (std::size_t k = 0; k + 1 < line.size(); ++k) {
      nearest = std::min(nearest, distance_to_segment(p, line[k], line[k + 1]));
    }
    largest = std::max(largest, nearest);
  }
  return largest;
}

[[nodiscard]] inline double distance_to_segment(const surface_point& p, const surface_point& a,
                                                const surface_point& b) {
  const surface_point d = b - a;
  const double length2 = dot(d, d);
  const double t = length2 == 0 ? 0 : std::clamp(dot(p - a, d) / length2, 0.0, 1.0);
  return distance(p, moved(a, t, d));
}

[[nodiscard]] inline double distance_to_triangle(const surface_point& p, const surface_point& a,
                                                 const surface_point& b, const surface_point& c) {
  const surface_point d = b - a;
  const surface_point e = c - a;
  const double dd = dot(d, d), de = dot(d, e), ee = dot(e, e);
  const double pd = dot(p - a, d), pe = dot(p - a, e);
  const double area2 = dd * ee - de * de;
  // The foot of the perpendicular, in barycentric coordinates.
  const double s = (pd * ee - pe * de) / area2;
  const double t = (pe * dd - pd * de) / area2;
  if (area2 > 0 && s >= 0 && t >= 0 && s + t <= 1) {
    return distance(p, moved(moved(a, s, d), t, e));
  }
  return std::min(
      {distance_to_segment(p, a, b), distance_to_segment(p, b, c), distance_to_segment(p, c, a)});
}

/// The triangles of a mesh in the cells of a grid, for searches near a point.
class triangle_grid {
 public:
  /// The arrays must outlive the grid.
  triangle_grid(std::span<const surface_point> vertices, std::span<const mesh_triangle> triangles)
      : vertices_(vertices), triangles_(triangles) {
    double sides = 0;
    for (const auto& [v] : triangles) sides += distance(vertices[v[0]], vertices[v[1]]);
    side_ = std::max(2 * sides / double(std::max<std::size_t>(triangles.size(), 1)), 1e-300);
    for (std::uint32_t i = 0; i < triangles.size(); ++i) {
      cell low = cell_of(corner(i, 0));
      cell high = low;
      for (unsigned k = 1; k < 3; ++k) {
        const cell at = cell_of(corner(i, k));
        for (std::size_t axis = 0; axis < 3; ++axis) {
          low[axis] = std::min(low[axis], at[axis]);
          high[axis] = std::max(high[axis], at[axis]);
        }
      }
      for_cells(low, high, [&](const cell& c) { cells_[c].push_back(i); });
    }
  }

  /// Returns the distance of a point from the mesh; infinity if it is more than `farthest`.
  [[nodiscard]] double distance_of(const surface_point& p, double farthest) const {
    const auto moved_by = [&](double r) { return cell_of({p.x + r, p.y + r, p.z + r}); };
    double nearest = HUGE_VAL;
    for_cells(moved_by(-farthest), moved_by(farthest), [&](const cell& c) {
      const auto found = cells_.find(c);
      if (found == cells_.end()) return;
      for (const std::uint32_t i : found->second) {
        nearest =
            std::min(nearest, distance_to_triangle(p, corner(i, 0), corner(i, 1), corner(i, 2)));
      }
    });
    return nearest <= farthest ? nearest : HUGE_VAL;
  }

 private:
  using cell = std::array<std::int64_t, 3>;
  struct hash {
    std::size_t operator()(const cell& c) const {
      std::uint64_t h = 0;
      for (const std::int64_t k : c) h = (h ^ std::uint64_t(k)) * 0x9e3779b97f4a7c15u;
      return std::size_t(h ^ h >> 29);
    }
  };

  [[nodiscard]] const surface_point& corner(std::uint32_t i, unsigned k) const {
    return vertices_[triangles_[i].vertices[k]];
  }
  [[nodiscard]] cell cell_of(const surface_point& p) const {
    const auto along = [&](double x) { return std::int64_t(std::floor(x / side_)); };
    return {along(p.x), along(p.y), along(p.z)};
  }
  template <class Use>
  static void for_cells(const cell& low, const cell& high, Use use) {
    for (std::int64_t x = low[0]; x <= high[0]; ++x) {
      for (std::int64_t y = low[1]; y <= high[1]; ++y) {
        for (std::int64_t z = low[2]; z <= high[2]; ++z) use(cell{x, y, z});
      }
    }
  }

  std::span<const surface_point> vertices_;
  std::span<const mesh_triangle> triangles_;
  double side_;
  std::unordered_map<cell, std::vector<std::uint32_t>, hash> cells_;
};

/// Returns the largest distance of points of the surface from a mesh, over a grid of
/// `samples` x `samples` points of each patch; infinity if it is more than `farthest`.
[[nodiscard]] inline double distance_of_surface(std::span<const bicubic_patch> patches,
                                                std::span<const surface_point> vertices,
                                                std::span<const mesh_triangle> triangles,
                                                int samples, double farthest) {
  const triangle_grid grid(vertices, triangles);
  double largest = 0;
  for (const bicubic_patch& patch : patches) {
    for (int i = 0; i < samples; ++i) {
      for (int j = 0; j < samples; ++j) {
        const auto p = point_at(patch, (i + 0.5) / samples, (j + 0.5) / samples);
        largest = std::max(largest, grid.distance_of(p, farthest));
      }
    }
  }
  return largest;
}

// ---- cracks -------------------------------------------------------------------------------------

/// Returns the border curves that belong to one patch only, and are not one point.
[[nodiscard]] inline std::vector<space_curve> free_borders(std::span<const bicubic_patch> patches) {
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
  std::vector<space_curve> free;
  for (const auto& [curve, count] : uses) {
    const bool is_point = curve[0] == curve[1] && curve[0] == curve[2] && curve[0] == curve[3];
    if (count == 1 && !is_point) free.push_back(curve);
  }
  return free;
}

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
  double size = 0;
  for (const surface_point& q : curve) size = std::max(size, std::sqrt(dot(q, q)));
  return at((low + high) / 2) <= 1e-7 * size;  // half of the digits: the minimum is flat
}

/// The edges of a mesh.
struct edge_counts {
  std::size_t edges = 0;
  std::size_t on_free_borders = 0;  ///< occur once, on a border curve of only one patch
  std::size_t wrong = 0;            ///< do not occur exactly twice, in opposite directions
};

/// Counts the edges of a mesh. Without a crack none is wrong.
[[nodiscard]] inline edge_counts count_edges(std::span<const bicubic_patch> patches,
                                             std::span<const surface_point> vertices,
                                             std::span<const mesh_triangle> triangles) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::array<int, 2>> uses;
  for (const auto& [v] : triangles) {
    for (unsigned k = 0; k < 3; ++k) {
      const std::uint32_t a = v[k];
      const std::uint32_t b = v[(k + 1) % 3];
      ++uses[std::minmax(a, b)][a < b ? 0 : 1];
    }
  }
  const std::vector<space_curve> free = free_borders(patches);
  edge_counts counts;
  counts.edges = uses.size();
  for (const auto& [edge, times] : uses) {
    if (times[0] == 1 && times[1] == 1) continue;
    const bool is_border =
        times[0] + times[1] == 1 && std::ranges::any_of(free, [&](const auto& c) {
          return is_on(c, vertices[edge.first]) && is_on(c, vertices[edge.second]);
        });
    ++(is_border ? counts.on_free_borders : counts.wrong);
  }
  return counts;
}

}  // namespace common
