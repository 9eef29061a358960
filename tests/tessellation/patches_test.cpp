// SPDX-License-Identifier: BSD-3-Clause
// Tests the meshes of patches: accuracy, no cracks, order, routes, failures, refused arguments.
#include <algorithm>
#include <array>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <map>
#include <ramify/cpu/executor.hpp>
#include <ramify/tessellation.hpp>
#include <ramify/tessellation/patches.cuh>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "effort.hpp"
#include "exceptions.hpp"
#include "printing.hpp"
#include "run_checks.cuh"
#include "tessellate/tessellation_check.hpp"
#include "tested_options.cuh"

namespace data = boost::unit_test::data;
using namespace tests;
using ramify::bicubic_patch;
using ramify::route;
using ramify::surface_point;
using ramify::triangle_mesh;

namespace {

triangle_mesh mesh_of(const std::vector<bicubic_patch>& patches,
                      const ramify::tessellation_options& options, const ramify::environment& env) {
  triangle_mesh mesh;
  with_grids_counted([&] {
    mesh = ramify::tessellate_patches(patches, options, env);
    return mesh.report;
  });
  BOOST_TEST(mesh.report.pieces == mesh.triangles.size());
  BOOST_TEST(mesh.report.points == mesh.vertices.size());
  return mesh;
}

bool same_mesh(const triangle_mesh& a, const triangle_mesh& b) {
  return a.vertices == b.vertices && a.triangles == b.triangles;
}

/// Returns 2 x 2 patches that share borders. The inner control points of one are far away. Each
/// second patch is turned by half a turn, so that neighbors have opposite directions.
std::vector<bicubic_patch> adjacent_patches(unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> height(-1, 1);
  surface_point grid[7][7];
  for (int i = 0; i < 7; ++i) {
    for (int j = 0; j < 7; ++j) grid[i][j] = {double(i), double(j), height(random)};
  }
  for (int i : {1, 2}) {
    for (int j : {1, 2}) grid[i][j].z *= 40;
  }
  std::vector<bicubic_patch> patches(4);
  for (int k = 0; k < 4; ++k) {
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) {
        const surface_point& p = grid[3 * (k / 2) + i][3 * (k % 2) + j];
        const bool turned = k == 1 || k == 2;
        patches[k].points[turned ? 3 - i : i][turned ? 3 - j : j] = p;
      }
    }
  }
  return patches;
}

/// Decides about border edges by a bound over the whole patch: it depends on inner points, so two
/// patches decide differently.
struct rule_of_patch {
  static __host__ __device__ bool is_far(const bicubic_patch& patch,
                                         const ramify::detail::tessellation::parameters& a,
                                         const ramify::detail::tessellation::parameters& b,
                                         bool side_is_u, double flatness) {
    ramify::detail::tessellation::parameter_box box(a, b);
    box.extend_to(side_is_u ? ramify::detail::tessellation::parameters{1 - a.u, a.v}
                            : ramify::detail::tessellation::parameters{a.u, 1 - a.v});
    const double length = side_is_u ? box.height() : box.width();
    const ramify::detail::tessellation::patch_differences differences(patch);
    return length * length * distance_bound(differences, box) > flatness;
  }
};

/// Counts the edges of the mesh of a plain recursion on the host.
template <class BorderRule>
common::edge_counts edges_by_host(const std::vector<bicubic_patch>& patches, double flatness) {
  namespace family = ramify::detail::tessellation;
  const std::vector<family::patch_differences> differences(patches.begin(), patches.end());
  const family::triangle_tree<BorderRule> tree{patches.data(), differences.data(),
                                               unsigned(patches.size()), flatness, 0x1p-16};
  std::map<std::array<double, 3>, std::uint32_t> index;
  std::vector<surface_point> vertices;
  std::vector<ramify::mesh_triangle> triangles;
  std::vector<family::patch_triangle> open{tree.root()};
  while (!open.empty()) {
    const family::patch_triangle t = open.back();
    open.pop_back();
    const unsigned degree = tree.degree(t);
    for (unsigned i = 0; i < degree; ++i) open.push_back(tree.child(t, i));
    if (degree > 0) continue;
    ramify::mesh_triangle corners{};
    for (unsigned k = 0; k < 3; ++k) {
      const surface_point p = family::patch_point(patches[t.patch], t.corners[k]);
      const auto [at, is_new] = index.try_emplace({p.x, p.y, p.z}, std::uint32_t(vertices.size()));
      if (is_new) vertices.push_back(p);
      corners.vertices[k] = at->second;
    }
    const auto& [a, b, c] = corners.vertices;
    if (a != b && b != c && c != a) triangles.push_back(corners);
  }
  return common::count_edges(patches, vertices, triangles);
}

/// Returns the volume between a mesh and the origin. It is negative for a mesh around the origin
/// whose triangles are clockwise from outside.
double enclosed_volume(const triangle_mesh& mesh) {
  double sum = 0;
  for (const auto& [v] : mesh.triangles) {
    const surface_point& a = mesh.vertices[v[0]];
    const surface_point& b = mesh.vertices[v[1]];
    const surface_point& c = mesh.vertices[v[2]];
    sum += common::dot(a, {b.y * c.z - b.z * c.y, b.z * c.x - b.x * c.z, b.x * c.y - b.y * c.x});
  }
  return sum / 6;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tessellation_of_patches)

BOOST_AUTO_TEST_CASE(a_flat_patch_is_two_triangles) {
  bicubic_patch flat;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) flat.points[i][j] = {double(i), double(j), i + 2.0 * j};
  }
  const triangle_mesh mesh = mesh_of({flat}, with_flatness(1e-9), environment_on());
  BOOST_TEST(mesh.vertices.size() == 4u);
  BOOST_TEST(mesh.triangles.size() == 2u);
  BOOST_TEST(mesh.report.degenerate == 0u);
}

BOOST_AUTO_TEST_CASE(the_teapot_has_no_cracks_and_is_within_the_flatness) {
  const auto teapot = ramify::utah_teapot();
  BOOST_TEST(teapot.size() == 32u);
  BOOST_TEST(common::free_borders(teapot).size() == 16u);  // six closed lines
  for (const double flatness : {1e-1, 1e-2}) {
    const triangle_mesh mesh = mesh_of(teapot, with_flatness(flatness), environment_on());
    BOOST_TEST(mesh.report.traversals == 1u);  // the first list was long enough
    const auto counts = common::count_edges(teapot, mesh.vertices, mesh.triangles);
    BOOST_TEST(counts.wrong == 0u);
    BOOST_TEST(counts.turned == 0u);
    BOOST_TEST(counts.on_free_borders >= 16u);
    BOOST_TEST(enclosed_volume(mesh) > 20);
    BOOST_TEST(mesh.report.degenerate > 0u);  // at the two poles
    const double distance = common::distance_of_surface(teapot, mesh.vertices, mesh.triangles, 24);
    BOOST_TEST(distance <= flatness);
    BOOST_TEST(distance > flatness / 8);  // the bound is not wasteful
  }
}

BOOST_AUTO_TEST_CASE(adjacent_patches_of_different_curvature_have_no_cracks) {
  unsigned cracked = 0;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    const auto patches = adjacent_patches(seed);
    const triangle_mesh mesh =
        mesh_of(patches, with_flatness(0.1), environment_on(routes[seed % 2]));
    const auto counts = common::count_edges(patches, mesh.vertices, mesh.triangles);
    BOOST_TEST(counts.wrong == 0u);
    BOOST_TEST(counts.turned == 0u);
    BOOST_TEST(counts.on_free_borders >= 8u);
    BOOST_TEST(mesh.report.limited == 0u);
    BOOST_TEST(common::distance_of_surface(patches, mesh.vertices, mesh.triangles, 40) <= 0.1);
    const auto by_host = edges_by_host<ramify::detail::tessellation::border_rule>(patches, 0.1);
    BOOST_TEST(by_host.edges == counts.edges);
    BOOST_TEST(by_host.wrong == 0u);
    // Negative control: a rule that depends on inner control points cracks.
    if (edges_by_host<rule_of_patch>(patches, 0.1).wrong > 0) ++cracked;
  }
  BOOST_TEST(cracked == 4u);
}

/// Returns the patch with the point place(i, j) as its control point [i][j].
template <class Place>
bicubic_patch patch_of(Place place) {
  bicubic_patch patch;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) patch.points[i][j] = place(i, j);
  }
  return patch;
}

// Surfaces that are within the flatness of a line, and whose edges return to their beginning.
BOOST_DATA_TEST_CASE(thin_surfaces_have_triangles, data::make(routes), taken) {
  constexpr double y[4] = {0, 0.01, -0.01, 0}, z[4] = {0, 0.01, 0.01, 0};
  constexpr double square[4] = {0, 0, 1.0 / 3, 1};  // the control values of u^2
  // The control values of u (u - 1/2) (u - 1) / 100, which is 0 three times.
  constexpr double cubic[4] = {0, 0.005 / 3, -0.005 / 3, 0};
  const std::vector<bicubic_patch> thin{
      patch_of([&](int i, int j) {
        return surface_point{double(j), y[i], z[i]};
      }),
      patch_of([&](int i, int j) {
        return surface_point{y[j], double(i), z[j]};
      }),
      patch_of([&](int i, int j) {
        return surface_point{(i - j) / 3.0, (square[i] - i / 3.0) / 100, 0};
      }),
      patch_of([&](int i, int j) {
        return surface_point{double(j), cubic[i] * j, cubic[i] * (3 - j)};
      }),
  };
  for (const bicubic_patch& patch : thin) {
    BOOST_TEST(common::has_area(patch));
    const std::vector one{patch};
    const triangle_mesh mesh = mesh_of(one, with_flatness(0.1), environment_on(taken));
    BOOST_TEST(mesh.triangles.size() >= 2u);
    BOOST_TEST(mesh.report.limited == 0u);
    BOOST_TEST(common::distance_of_surface(one, mesh.vertices, mesh.triangles, 40) <= 0.1);
    BOOST_TEST(common::count_edges(one, mesh.vertices, mesh.triangles).wrong == 0u);
  }
}

BOOST_AUTO_TEST_CASE(points_and_lines_have_no_area_and_no_triangles) {
  const std::vector<bicubic_patch> degenerate{
      patch_of([](int, int) {
        return surface_point{3, 4, 5};
      }),
      patch_of([](int i, int) {
        return surface_point{double(i), i * 2.0, 7};
      }),
      patch_of([](int, int j) {
        return surface_point{double(j), double(j * j * j), 7};
      }),
  };
  for (const bicubic_patch& patch : degenerate) {
    BOOST_TEST(!common::has_area(patch));
    const triangle_mesh mesh = mesh_of({patch}, with_flatness(0.1), environment_on());
    BOOST_TEST(mesh.triangles.empty());
    BOOST_TEST(mesh.report.degenerate >= 2u);
  }
}

BOOST_DATA_TEST_CASE(meshes_have_the_same_bits_on_all_routes_under_every_limit,
                     data::make(routes) * data::make({1, 16, 2048}), taken, limit) {
  const auto patches = adjacent_patches(1);
  static const triangle_mesh expected =
      mesh_of(patches, with_flatness(0.3), environment_on(route::flat));
  const triangle_mesh made =
      mesh_of(patches, with_flatness(0.3), environment_on(taken, std::size_t(limit)));
  expect_route(made.report.taken, taken, std::size_t(limit));
  BOOST_TEST(same_mesh(made, expected));
}

BOOST_AUTO_TEST_CASE(meshes_are_the_same_under_any_schedule_and_after_failed_launches,
                     *boost::unit_test::precondition(on_the_executor)) {
  const auto patches = adjacent_patches(2);
  const auto divide = [&] {
    return mesh_of(patches, with_flatness(0.5), environment_on(route::device));
  };
  const triangle_mesh expected = divide();
  for (int seed = 1; seed <= std::min(random_schedules(), 20); ++seed) {
    auto executor = ramify::cpu::parse_executor_config("random:" + std::to_string(seed));
    if (seed % 2 == 0) executor.failing_launch = std::uint64_t(seed / 2);
    const ramify::cpu::scoped_executor_config scope(executor);
    BOOST_TEST(same_mesh(divide(), expected));
  }
}

BOOST_AUTO_TEST_CASE(bad_patches_are_refused_and_no_patches_have_no_mesh) {
  auto patches = adjacent_patches(1);
  patches[2].points[1][3].z = NAN;
  BOOST_CHECK_EXCEPTION(
      (void)ramify::tessellate_patches(patches, with_flatness(1), environment_on(route::flat)),
      std::invalid_argument, names("tessellate_patches: patches[2].points[1][3].z is nan"));
  BOOST_CHECK_EXCEPTION(
      (void)ramify::tessellate_patches(patches, with_flatness(0), environment_on(route::flat)),
      std::invalid_argument, names("flatness is 0"));
  BOOST_TEST(mesh_of({}, with_flatness(1), environment_on()).vertices.empty());
}

BOOST_AUTO_TEST_SUITE_END()
