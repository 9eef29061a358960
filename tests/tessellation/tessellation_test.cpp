// SPDX-License-Identifier: BSD-3-Clause
// Tests the accuracy of tessellations, their order, routes and failures, and that meshes have no
// cracks.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <map>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/launch_trace.hpp>
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
#include "tessellation_check.hpp"

namespace data = boost::unit_test::data;
using namespace tests;
using ramify::bicubic_patch;
using ramify::cubic_curve;
using ramify::curve_point;
using ramify::polylines;
using ramify::route;
using ramify::surface_point;
using ramify::tessellation_options;
using ramify::traverse_strategy;
using ramify::triangle_mesh;

namespace {

tessellation_options options_on(route taken, double flatness) {
  tessellation_options options;
  options.backend = backend_under_test();
  options.route = taken;
  options.flatness = flatness;
  return options;
}

/// Tessellates curves under a pending-launch limit; 0 leaves the limit unchanged.
polylines lines_of(const std::vector<cubic_curve>& curves, tessellation_options options,
                   std::size_t pending_launches = 0) {
  options.pending_launches = pending_launches;
  polylines lines;
  with_grids_counted([&] {
    lines = ramify::tessellate_curves(curves, options);
    return lines.report;
  });
  return lines;
}

bool same_lines(const polylines& a, const polylines& b) {
  return a.points == b.points && a.offsets == b.offsets;
}

std::vector<cubic_curve> random_curves(std::size_t n, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> coordinate(-1, 1);
  std::vector<cubic_curve> curves(n);
  for (cubic_curve& c : curves) {
    const double scale = std::exp2(4 * coordinate(random));  // different numbers of segments
    for (curve_point& p : c.points) {
      p = {scale * coordinate(random), scale * coordinate(random)};
    }
  }
  return curves;
}

/// Tessellates patches under a pending-launch limit; 0 leaves the limit unchanged.
triangle_mesh mesh_of(const std::vector<bicubic_patch>& patches, tessellation_options options,
                      std::size_t pending_launches = 0) {
  options.pending_launches = pending_launches;
  triangle_mesh mesh;
  with_grids_counted([&] {
    mesh = ramify::tessellate_patches(patches, options);
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
  static bool is_far(const bicubic_patch& patch, const ramify::detail::tessellation::parameters& a,
                     const ramify::detail::tessellation::parameters& b, bool side_is_u,
                     double flatness) {
    ramify::detail::tessellation::parameter_box box(a, b);
    box.extend_to(side_is_u ? ramify::detail::tessellation::parameters{1 - a.u, a.v}
                            : ramify::detail::tessellation::parameters{a.u, 1 - a.v});
    const double length = side_is_u ? box.height() : box.width();
    return length * length * ramify::detail::tessellation::distance_bound(patch, box) > flatness;
  }
};

/// Counts the edges of the mesh of a plain recursion on the host.
template <class BorderRule>
common::edge_counts edges_by_host(const std::vector<bicubic_patch>& patches, double flatness) {
  namespace family = ramify::detail::tessellation;
  const family::triangle_tree<BorderRule> tree{patches.data(), unsigned(patches.size()), flatness,
                                               0x1p-16};
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

}  // namespace

BOOST_TEST_GLOBAL_FIXTURE(slot_leaks_are_noticed);

BOOST_AUTO_TEST_SUITE(tessellation)

// ---- curves -------------------------------------------------------------------------------------

BOOST_DATA_TEST_CASE(a_straight_line_is_one_segment, data::make(routes), taken) {
  const std::vector<cubic_curve> lines{
      {{{0, 0}, {1, 2}, {2, 4}, {3, 6}}},
      {{{0, 0}, {0.1, 0.2}, {0.2, 0.4}, {3, 6}}},  // another parametrization
      {{{1, 1}, {1, 1}, {1, 1}, {1, 1}}},
      {{{5, 0}, {4, 0}, {1, 0}, {0, 0}}},
  };
  const polylines made = lines_of(lines, options_on(taken, 1e-9));
  BOOST_TEST(made.report.taken == taken);
  BOOST_TEST(made.report.pieces == lines.size());
  BOOST_TEST(made.report.points == 2 * lines.size());
  BOOST_TEST(made.offsets == (std::vector<std::uint64_t>{0, 2, 4, 6, 8}),
             boost::test_tools::per_element());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    BOOST_TEST(bool(made.line(i)[0] == lines[i].points[0]));
    BOOST_TEST(bool(made.line(i)[1] == lines[i].points[3]));
  }
  // A control point beyond the end: the curve turns back, so its chord is too short.
  const cubic_curve turns{{{0, 0}, {3, 0}, {3, 0}, {1, 0}}};
  const polylines turning = lines_of({turns}, options_on(taken, 1e-3));
  BOOST_TEST(turning.report.pieces > 1u);
  BOOST_TEST(common::distance_of_curve(turns, turning.line(0), 500) <= 1e-3);
}

// The usual cubic approximation of a quarter of the unit circle has a radius in [1, 1.00027253]. A
// chord of n equal parts of the circle is 1 - cos(pi / (4 n)) from it.
BOOST_AUTO_TEST_CASE(the_arc_of_a_circle_has_the_expected_number_of_segments) {
  const double k = 4.0 / 3 * (std::sqrt(2) - 1);
  const cubic_curve arc{{{1, 0}, {1, k}, {k, 1}, {0, 1}}};
  for (const unsigned n : {1u, 2u, 4u, 8u, 16u}) {
    const double distance = 1 - std::cos(std::acos(-1) / (4 * n));
    const polylines made = lines_of({arc}, options_on(route::automatic, 1.1 * distance + 3e-4));
    BOOST_TEST(made.report.pieces == n);
    for (const curve_point& p : made.points) {
      const double radius = std::hypot(p.x, p.y);
      BOOST_TEST((radius > 1 - 1e-15 && radius < 1.000273));
    }
    BOOST_TEST(std::fabs(common::distance_of_curve(arc, made.points, 500) - distance) <
               3e-4 + distance / 20);
  }
}

BOOST_AUTO_TEST_CASE(random_curves_are_within_the_flatness) {
  const auto curves = random_curves(60);
  std::uint64_t before = 0;
  for (const double flatness : {1.0, 1e-2, 1e-4}) {
    const polylines made = lines_of(curves, options_on(route::automatic, flatness));
    BOOST_TEST(made.report.limited == 0u);
    BOOST_TEST(made.report.pieces > before);  // each curve decides, so a larger bound gives fewer
    before = made.report.pieces;
    BOOST_TEST(made.report.points == made.report.pieces + curves.size());
    std::size_t shortest = ~std::size_t{0};
    std::size_t longest = 0;
    double largest = 0;
    for (std::size_t i = 0; i < curves.size(); ++i) {
      const auto line = made.line(i);
      BOOST_TEST(bool(line.front() == curves[i].points[0]));
      BOOST_TEST(bool(line.back() == curves[i].points[3]));
      largest = std::max(largest, common::distance_of_curve(curves[i], line, 200));
      shortest = std::min(shortest, line.size());
      longest = std::max(longest, line.size());
    }
    BOOST_TEST(largest <= flatness);
    BOOST_TEST(largest > flatness / 4);  // the bound is not wasteful
    if (flatness < 1) BOOST_TEST(longest >= 4 * shortest);
  }
}

BOOST_AUTO_TEST_CASE(the_depth_limit_ends_the_division_and_is_reported) {
  tessellation_options options = options_on(route::automatic, 1e-30);
  options.max_depth = 5;
  const polylines made = lines_of(random_curves(3), options);
  BOOST_TEST(made.report.pieces == 3 * 32u);
  BOOST_TEST(made.report.limited == 3 * 32u);
}

// ---- routes, limits, schedules, failures --------------------------------------------------------

BOOST_DATA_TEST_CASE(curves_have_the_same_bits_on_all_routes_under_every_limit,
                     data::make(routes) * data::make({1, 16, 32, 2048}), taken, limit) {
  const auto curves = random_curves(20);
  static const polylines expected = lines_of(curves, options_on(route::flat, 1e-4));
  for (const traverse_strategy strategy :
       {traverse_strategy::work_sharing, traverse_strategy::task_per_node}) {
    tessellation_options options = options_on(taken, 1e-4);
    options.strategy = strategy;
    options.capacity = strategy == traverse_strategy::task_per_node ? 50'000 : 0;
    const polylines made = lines_of(curves, options, std::size_t(limit));
    expect_route(made.report.taken, taken, std::size_t(limit));
    BOOST_TEST(same_lines(made, expected));
    BOOST_TEST(made.report.pieces == expected.report.pieces);
  }
}

BOOST_AUTO_TEST_CASE(curves_are_the_same_under_any_schedule,
                     *boost::unit_test::precondition(on_the_executor)) {
  const auto curves = random_curves(10);
  const tessellation_options options = options_on(route::device, 1e-3);
  const polylines expected = lines_of(curves, options);
  std::vector<std::string> schedules{"eager", "late"};
  for (int seed = 1; seed <= std::min(random_schedules(), 20); ++seed) {
    schedules.push_back("random:" + std::to_string(seed));
  }
  for (const std::string& schedule : schedules) {
    const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config(schedule));
    BOOST_TEST(same_lines(lines_of(curves, options, 64), expected));
  }
}

BOOST_AUTO_TEST_CASE(the_host_continues_after_any_failed_launch,
                     *boost::unit_test::precondition(on_the_executor)) {
  const auto curves = random_curves(40);
  const tessellation_options options = options_on(route::device, 1e-4);
  const polylines expected = lines_of(curves, options);
  unsigned interrupted = 0;
  for (std::uint64_t failing = 1; failing <= std::uint64_t(cut_down(8, 3)); ++failing) {
    auto executor = ramify::cpu::parse_executor_config("random:1");
    executor.failing_launch = failing;
    const ramify::cpu::scoped_executor_config scope(executor);
    const polylines made = lines_of(curves, options);
    BOOST_TEST(same_lines(made, expected));
    if (made.report.host_grids > expected.report.host_grids || made.report.spilled_tasks > 0) {
      ++interrupted;
    }
  }
  BOOST_TEST(interrupted >= 1u);  // negative control: the failures did end launches
}

// The first list has space for 16 parts of each curve.
BOOST_AUTO_TEST_CASE(a_list_that_is_too_short_loses_nothing) {
  const auto curves = random_curves(1);
  const polylines few = lines_of(curves, options_on(route::automatic, 1e-1));
  const polylines many = lines_of(curves, options_on(route::automatic, 1e-7));
  BOOST_TEST(few.report.traversals == 1u);
  BOOST_TEST(many.report.traversals == 2u);
  BOOST_TEST(many.report.pieces > 16u);
  BOOST_TEST(common::distance_of_curve(curves[0], many.line(0), 500) <= 1e-7);
}

// ---- patches ------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_flat_patch_is_two_triangles) {
  bicubic_patch flat;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) flat.points[i][j] = {double(i), double(j), i + 2.0 * j};
  }
  const triangle_mesh mesh = mesh_of({flat}, options_on(route::automatic, 1e-9));
  BOOST_TEST(mesh.vertices.size() == 4u);
  BOOST_TEST(mesh.triangles.size() == 2u);
  BOOST_TEST(mesh.report.degenerate == 0u);
}

BOOST_AUTO_TEST_CASE(the_teapot_has_no_cracks_and_is_within_the_flatness) {
  const auto teapot = ramify::utah_teapot();
  BOOST_TEST(teapot.size() == 32u);
  BOOST_TEST(common::free_borders(teapot).size() == 16u);  // six closed lines
  for (const double flatness : {1e-1, 1e-2}) {
    const triangle_mesh mesh = mesh_of(teapot, options_on(route::automatic, flatness));
    const auto counts = common::count_edges(teapot, mesh.vertices, mesh.triangles);
    BOOST_TEST(counts.wrong == 0u);
    BOOST_TEST(counts.on_free_borders >= 16u);
    BOOST_TEST(mesh.report.degenerate > 0u);  // at the two poles
    const double distance =
        common::distance_of_surface(teapot, mesh.vertices, mesh.triangles, 24, 2 * flatness);
    BOOST_TEST(distance <= flatness);
    BOOST_TEST(distance > flatness / 8);  // the bound is not wasteful
  }
}

BOOST_AUTO_TEST_CASE(adjacent_patches_of_different_curvature_have_no_cracks) {
  unsigned cracked = 0;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    const auto patches = adjacent_patches(seed);
    const triangle_mesh mesh = mesh_of(patches, options_on(routes[seed % 2], 0.1));
    const auto counts = common::count_edges(patches, mesh.vertices, mesh.triangles);
    BOOST_TEST(counts.wrong == 0u);
    BOOST_TEST(counts.on_free_borders >= 8u);
    BOOST_TEST(mesh.report.limited == 0u);
    BOOST_TEST(common::distance_of_surface(patches, mesh.vertices, mesh.triangles, 40, 0.2) <= 0.1);
    const auto by_host = edges_by_host<ramify::detail::tessellation::border_rule>(patches, 0.1);
    BOOST_TEST(by_host.edges == counts.edges);
    BOOST_TEST(by_host.wrong == 0u);
    // Negative control: a rule that depends on inner control points cracks.
    if (edges_by_host<rule_of_patch>(patches, 0.1).wrong > 0) ++cracked;
  }
  BOOST_TEST(cracked == 4u);
}

BOOST_DATA_TEST_CASE(meshes_have_the_same_bits_on_all_routes_under_every_limit,
                     data::make(routes) * data::make({1, 16, 2048}), taken, limit) {
  const auto patches = adjacent_patches(1);
  static const triangle_mesh expected = mesh_of(patches, options_on(route::flat, 0.3));
  const triangle_mesh made = mesh_of(patches, options_on(taken, 0.3), std::size_t(limit));
  expect_route(made.report.taken, taken, std::size_t(limit));
  BOOST_TEST(same_mesh(made, expected));
}

BOOST_AUTO_TEST_CASE(meshes_are_the_same_under_any_schedule_and_after_failed_launches,
                     *boost::unit_test::precondition(on_the_executor)) {
  const auto patches = adjacent_patches(2);
  const tessellation_options options = options_on(route::device, 0.5);
  const triangle_mesh expected = mesh_of(patches, options);
  for (int seed = 1; seed <= std::min(random_schedules(), 20); ++seed) {
    auto executor = ramify::cpu::parse_executor_config("random:" + std::to_string(seed));
    if (seed % 2 == 0) executor.failing_launch = std::uint64_t(seed / 2);
    const ramify::cpu::scoped_executor_config scope(executor);
    BOOST_TEST(same_mesh(mesh_of(patches, options), expected));
  }
}

// ---- arguments, empty input -------------------------------------------------------------

BOOST_AUTO_TEST_CASE(bad_arguments_are_refused) {
  const auto curves = random_curves(3);
  const auto refused = [&](const tessellation_options& options, const char* text) {
    const auto before = ramify::cpu::grids_begun();
    BOOST_CHECK_EXCEPTION((void)ramify::tessellate_curves(curves, options), std::invalid_argument,
                          names(text));
    BOOST_TEST(ramify::cpu::grids_begun() == before);
  };
  for (const auto& [flatness, printed] :
       {std::pair{0.0, "0"}, std::pair{-1.0, "-1"}, std::pair<double, const char*>{NAN, "nan"},
        std::pair<double, const char*>{HUGE_VAL, "inf"}}) {
    refused(options_on(route::automatic, flatness),
            ("tessellation_options.flatness is " + std::string(printed) + "; it must be in [1e-100")
                .c_str());
  }
  tessellation_options options = options_on(route::automatic, 1);
  options.max_depth = 0;
  refused(options, "tessellation_options.max_depth is 0; it must be in [1, 31]");
  options.max_depth = 32;
  refused(options, "tessellation_options.max_depth is 32");
  refused(options_on(route(9), 1), "traverse_config.route");
  for (const double bad : {double(NAN), HUGE_VAL, -1.1e100}) {
    auto invalid = curves;
    invalid[2].points[0].x = bad;
    invalid[1].points[3].y = bad;
    BOOST_CHECK_EXCEPTION((void)ramify::tessellate_curves(invalid, options_on(route::flat, 1)),
                          std::invalid_argument,
                          names("tessellate_curves: curves[1].points[3].y is "));
  }
}

BOOST_AUTO_TEST_CASE(bad_patches_are_refused_and_no_patches_have_no_mesh) {
  auto patches = adjacent_patches(1);
  patches[2].points[1][3].z = NAN;
  BOOST_CHECK_EXCEPTION((void)ramify::tessellate_patches(patches, options_on(route::flat, 1)),
                        std::invalid_argument,
                        names("tessellate_patches: patches[2].points[1][3].z is nan"));
  BOOST_CHECK_EXCEPTION((void)ramify::tessellate_patches(patches, options_on(route::flat, 0)),
                        std::invalid_argument, names("flatness is 0"));
  BOOST_TEST(mesh_of({}, options_on(route::automatic, 1)).vertices.empty());
}

BOOST_AUTO_TEST_CASE(no_curves_have_no_polylines) {
  const polylines made = lines_of({}, options_on(route::automatic, 1));
  BOOST_TEST(made.points.empty());
  BOOST_TEST(made.report.host_grids == 0u);
  BOOST_TEST(made.report.route_reason == "there are no curves");
}

BOOST_AUTO_TEST_CASE(a_trace_has_all_grids, *boost::unit_test::precondition(on_the_executor)) {
  const auto curves = random_curves(20);
  tessellation_options options = options_on(route::device, 1e-3);
  const polylines expected = lines_of(curves, options);
  ramify::launch_trace trace;
  options.trace = &trace;
  options.pending_launches = 100;
  const polylines made = ramify::tessellate_curves(curves, options);
  BOOST_TEST(same_lines(made, expected));
  BOOST_TEST(made.report.ran_on == backend_under_test());
  BOOST_TEST(made.report.pending_launch_limit == 100u);
  BOOST_TEST(trace.grids.size() == made.report.host_grids + made.report.child_grids);
  const auto has = [&](const std::string& kernel) {
    return std::ranges::any_of(trace.grids, [&](const auto& g) { return g.kernel == kernel; });
  };
  BOOST_TEST(has("write_polylines"));
  BOOST_TEST(has("traverse_round"));
}

BOOST_AUTO_TEST_SUITE_END()
