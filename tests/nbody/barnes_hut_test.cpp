// SPDX-License-Identifier: BSD-3-Clause
// Gravity by Barnes and Hut's tree code, compared with the sum over all pairs.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "nbody_checks.cuh"
#include "printing.hpp"

namespace data = boost::unit_test::data;
using namespace ramify::detail::nbody;
using ramify::device_buffer;
using ramify::nbody_method;
using ramify::nbody_options;
using ramify::route;
using tests::cloud;
using tests::device_cloud;
using tests::field;
using tests::gravity_of;
using tests::options_for;
using tests::rounded;
using tests::rounding;
using tests::same_bits;
using tests::shape;

namespace {

/// Faults in the nodes that the traversal reads.
enum class fault {
  none,
  late_opening,   ///< half the opening radius that theta requires
  wrong_centers,  ///< the middle of the box instead of the center of mass
  lost_body,      ///< one leaf has one body too few
  wrong_sign,     ///< the negative quadrupoles
  no_trace,       ///< quadrupoles without the trace that softening requires
  masses_only,    ///< all far nodes act by their masses
  no_masses,      ///< no far node acts by its mass alone; no fault, but takes more time
};

__global__ void insert_fault(ramify::spatial_tree_view<double, 3> tree,
                             gravity_scratch<double> scratch, fault inserted) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= tree.node_count) return;
  auto* const nodes = scratch.nodes;
  const auto& bounds = tree.nodes[i].bounds;
  if (inserted == fault::late_opening) nodes[i].opening_radius2 /= 4;
  if (inserted == fault::masses_only) scratch.mass_radii2[i] = 0;
  if (inserted == fault::no_masses) {
    scratch.mass_radii2[i] = real_limits<double>::infinity;
  }
  if (inserted == fault::wrong_centers) {
    nodes[i].center.x = (bounds.lower.x[0] + bounds.upper.x[0]) / 2;
    nodes[i].center.y = (bounds.lower.x[1] + bounds.upper.x[1]) / 2;
    nodes[i].center.z = (bounds.lower.x[2] + bounds.upper.x[2]) / 2;
  }
  if (inserted == fault::lost_body && tree.nodes[i].is_leaf() && tree.nodes[i].begin == 0) {
    nodes[i].body_count = static_cast<std::uint16_t>(nodes[i].body_count - 1);
  }
  if (inserted == fault::wrong_sign) {
    auto& t = scratch.quadrupoles[i];
    t = {-t.xx, -t.yy, -t.zz, t.scale, -t.xy, -t.xz, -t.yz, -t.sixth_of_trace};
  }
  if (inserted == fault::no_trace) {
    auto& t = scratch.quadrupoles[i];
    const double third = (t.xx + t.yy + t.zz) / 3;
    t = {t.xx - third, t.yy - third, t.zz - third, t.scale, t.xy, t.xz, t.yz, 0};
  }
}

/// A tree with the nodes that the traversal reads, by the phases of barnes_hut.
struct tree_with_nodes {
  tree_with_nodes(const device_cloud<double>& c, const nbody_options& options)
      : built(c.positions.data(), c.size()) {
    const auto tree = built.view();
    memory = {scratch.take(nullptr, c.size(), tree.node_count, options.order), nullptr};
    scratch.take(memory.data(), c.size(), tree.node_count, options.order);
    clear_progress(scratch.progress, nullptr);
    compute_moments(tree, c.masses.data(), options, scratch, nullptr, {});
  }

  ramify::spatial_tree<double, 3> built;
  gravity_scratch<double> scratch;
  device_buffer<std::byte> memory;
};

/// Calculates a field by the phases of barnes_hut, with a fault in the nodes.
field<double> with_fault(const cloud<double>& from, const nbody_options& options, fault inserted) {
  const device_cloud<double> c(from);
  const tree_with_nodes made(c, options);
  const auto tree = made.built.view();
  const auto& scratch = made.scratch;
  ramify::check(ramify::launch(insert_fault, {tree.node_count / 128 + 1, 128}, nullptr, tree,
                               scratch, inserted)
                    .code(),
                "inserting a fault");
  traverse<double>(tree, scratch, options, {c.arrays(), options, scratch.progress, {}}, nullptr);
  return c.result({});
}

/// Returns `count` objects of device memory.
template <class T>
std::vector<T> copied(const T* from, std::size_t count) {
  std::vector<T> to(count);
  ramify::check(cudaMemcpy(to.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost), "copying");
  return to;
}

/// The nodes and the bodies of a tree on the host. It counts the sources of groups.
struct host_tree {
  std::vector<gravity_node<double>> nodes;
  std::vector<point_mass<double>> bodies;

  /// Returns the number of sources of the bodies [first, last), which open a node if
  /// must_open(center, squared radius) returns true.
  template <class MustOpen>
  [[nodiscard]] std::uint64_t sources(const MustOpen& must_open) const {
    std::uint64_t count = 0;
    std::vector<std::uint32_t> to_test{0};
    while (!to_test.empty()) {
      const auto& node = nodes[to_test.back()];
      to_test.pop_back();
      const double radius2 = std::max(node.opening_radius2, node.containing_radius2);
      if (must_open({{node.center.x, node.center.y, node.center.z}}, radius2)) {
        count += node.body_count;
        for (std::uint32_t c = 0; c < node.child_count; ++c) to_test.push_back(node.first + c);
      } else {
        ++count;
      }
    }
    return count;
  }
};

field<double> with_leaf_size(const cloud<double>& from, nbody_options options, unsigned leaf_size) {
  const device_cloud<double> c(from);
  options.leaf_size = leaf_size;
  ramify::barnes_hut<double> gravity(options);
  return c.result(c.calculate(gravity));
}

/// 512 bodies in a cube of side 1, and 64 bodies without mass at a distance from its middle. They
/// are two children of the root, and whole groups.
cloud<double> cube_and_probes(double distance) {
  auto c = tests::make_cloud(shape::cube, 512);
  for (auto& x : c.positions) {
    for (double& coordinate : x) coordinate /= 2;
  }
  tests::numbers random(3);
  for (int i = 0; i < 64; ++i) {
    c.positions.push_back({distance + random.next() / 4, random.next() / 4, random.next() / 4});
    c.masses.push_back(0);
  }
  return c;
}

/// The root mean squares of the relative errors of the probes.
struct probe_error {
  double acceleration = 0;
  double potential = 0;
};

probe_error error_of_probes(const field<double>& found, const field<double>& truth) {
  const auto probes = [](const field<double>& all) {
    return field<double>{{all.accelerations.end() - 64, all.accelerations.end()},
                         {all.potentials.end() - 64, all.potentials.end()},
                         {}};
  };
  const auto error = tests::error_of(probes(found), probes(truth));
  return {error.rms, error.potential};
}

nbody_options options_of_order(int order, double theta, double softening = 0) {
  auto options = options_for(theta, softening);
  options.order = order;
  return options;
}

nbody_options options_of_tolerance(int order, double tolerance, double softening = 0) {
  auto options = options_of_order(order, 0.5, softening);
  options.tolerance = tolerance;
  return options;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(barnes_hut)

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::not_under_thread_sanitizer))
BOOST_DATA_TEST_CASE(the_error_falls_with_theta, data::make({1, 2}), order) {
  for (const double softening : {0.0, 0.05}) {
    const auto cluster = tests::plummer_cloud(std::size_t(tests::sampled(4'000, 1'500, 1'000)));
    const auto truth = tests::sum_of_pairs(cluster, softening);
    double last = 1;
    for (const double theta : {2.0, 0.9, 0.7, 0.5, 0.3, 0.15}) {
      const auto found = gravity_of<double>(cluster, options_of_order(order, theta, softening));
      const auto error = tests::error_of(found, truth);
      const auto in_float = tests::error_of(
          gravity_of<float>(cluster, options_of_order(order, theta, softening)), truth);
      BOOST_TEST_MESSAGE("order " << order << ", theta " << theta << ", softening " << softening
                                  << ": rms " << error.rms << ", max " << error.max
                                  << ", of a potential " << error.potential << "; float rms "
                                  << in_float.rms << "; interactions "
                                  << found.report.interactions);
      BOOST_TEST(error.rms < last);
      BOOST_TEST(error.rms < (order == 1 ? 0.1 : 0.03) * theta * theta);
      BOOST_TEST(error.potential < (order == 1 ? 0.05 : 0.01) * theta * theta);
      BOOST_TEST(in_float.rms < 1.05 * error.rms + rounding<float>);
      if (theta == 0.5) {
        BOOST_TEST(error.rms < 0.01);
        BOOST_TEST(error.max < 0.1);
      }
      last = error.rms;
    }
  }
}

BOOST_DATA_TEST_CASE(the_error_of_a_node_falls_with_its_distance, data::make({1, 2}), order) {
  // The first term that the node leaves out falls with the power order + 1 of the distance.
  for (const double softening : {0.0, 0.5}) {
    probe_error last;
    for (const double distance : {4.0, 8.0, 16.0, 32.0}) {
      const auto c = cube_and_probes(distance);
      const auto found = gravity_of<double>(c, options_of_order(order, 2, softening));
      const auto error = error_of_probes(found, tests::sum_of_pairs(c, softening));
      BOOST_TEST_MESSAGE("order " << order << ", distance " << distance << ", softening "
                                  << softening << ": " << error.acceleration << ", potential "
                                  << error.potential);
      if (distance > 8) {
        const auto falls = boost::test_tools::tolerance(0.3);
        BOOST_TEST(last.acceleration / error.acceleration == std::pow(2, order + 1), falls);
        BOOST_TEST(last.potential / error.potential == std::pow(2, order + 1), falls);
      }
      last = error;
    }
  }
}

BOOST_AUTO_TEST_CASE(faults_in_a_quadrupole_are_detected) {
  const double softening = 4;  // as large as the distance, so that the trace counts
  const auto c = cube_and_probes(4);
  const auto error = [&](int order, double length, fault inserted) {
    return error_of_probes(with_fault(c, options_of_order(order, 2, length), inserted),
                           tests::sum_of_pairs(c, length));
  };
  for (const double length : {0.0, softening}) {
    const auto faultless = error(2, length, fault::none);
    const auto of_order_1 = error(1, length, fault::none);
    const auto negative = error(2, length, fault::wrong_sign);
    BOOST_TEST(faultless.acceleration < of_order_1.acceleration / 2);
    BOOST_TEST(faultless.potential < of_order_1.potential / 2);
    BOOST_TEST(negative.acceleration > 1.5 * of_order_1.acceleration);
    BOOST_TEST(negative.potential > 1.5 * of_order_1.potential);
  }
  const auto faultless = error(2, softening, fault::none);
  const auto without_trace = error(2, softening, fault::no_trace);
  BOOST_TEST(without_trace.acceleration > 2 * faultless.acceleration);
  BOOST_TEST(without_trace.potential > 2 * faultless.potential);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::not_under_thread_sanitizer))
BOOST_DATA_TEST_CASE(the_error_is_within_the_tolerance, data::make({1, 2}), order) {
  for (const bool is_plummer : {true, false}) {
    const auto n = std::size_t(tests::sampled(6'000, 3'000, 1'000));
    const auto c = is_plummer ? tests::plummer_cloud(n) : tests::make_cloud(shape::cube, n);
    const auto truth = tests::sum_of_pairs(c, 0);
    std::uint64_t last = n * (n - 1) + 1;
    for (const double tolerance : {1e-3, 0.01, 0.1, 1.0}) {
      const auto found = gravity_of<double>(c, options_of_tolerance(order, tolerance));
      const double error = 100 * tests::error_of(found, truth).rms;
      BOOST_TEST_MESSAGE((is_plummer ? "Plummer" : "cube")
                         << ", order " << order << ", tolerance " << tolerance << " %: " << error
                         << " %, interactions " << found.report.interactions);
      BOOST_TEST(error < tolerance);
      BOOST_TEST(found.report.interactions < last);
      last = found.report.interactions;
      const auto in_float = gravity_of<float>(c, options_of_tolerance(order, tolerance));
      BOOST_TEST(100 * tests::error_of(in_float, truth).rms < tolerance + 100 * rounding<float>);
    }
  }
}

BOOST_AUTO_TEST_CASE(weak_quadrupoles_may_be_left_out) {
  const auto c = tests::plummer_cloud(std::size_t(tests::cut_down(3'000, 1'000)));
  const auto truth = tests::sum_of_pairs(c, 0);
  for (const double tolerance : {0.01, 0.1}) {
    const auto error = [&](fault inserted) {
      return 100 *
             tests::error_of(with_fault(c, options_of_tolerance(2, tolerance), inserted), truth)
                 .rms;
    };
    const double usual = error(fault::none);
    BOOST_TEST(usual < 1.1 * error(fault::no_masses));
    BOOST_TEST(usual != error(fault::no_masses));
    BOOST_TEST(error(fault::masses_only) > 2 * usual);
  }
}

BOOST_AUTO_TEST_CASE(a_group_opens_the_nodes_that_its_bodies_must_open) {
  using box = ramify::box<double, 3>;
  const std::size_t n = 1'000;
  const device_cloud<double> c(tests::plummer_cloud(n));
  const auto options = options_of_order(2, 0.6);
  const tree_with_nodes made(c, options);
  traverse<double>(made.built.view(), made.scratch, options,
                   {c.arrays(), options, made.scratch.progress, {}}, nullptr);
  const auto progress = ramify::read_back(made.scratch.progress, nullptr, "reading the progress");
  const host_tree tree{copied(made.scratch.nodes, made.built.view().node_count),
                       copied(made.scratch.bodies, n)};

  std::uint64_t by_bodies = 0;
  std::uint64_t by_boxes = 0;
  for (std::size_t first = 0; first < n; first += 32) {
    std::vector<ramify::point<double, 3>> group;
    for (std::size_t i = first; i < std::min(first + 32, n); ++i) {
      group.push_back({{tree.bodies[i].x, tree.bodies[i].y, tree.bodies[i].z}});
    }
    box bounds = box::of(group[0]);
    for (const auto& p : group) bounds = box::enclosing(bounds, box::of(p));
    const auto body_is_near = [&](const ramify::point<double, 3>& center, double radius2) {
      return std::ranges::any_of(group,
                                 [&](const auto& p) { return distance2(p, center) <= radius2; });
    };
    const auto box_is_near = [&](const ramify::point<double, 3>& center, double radius2) {
      return bounds.min_distance2(center) <= radius2;
    };
    by_bodies += (tree.sources(body_is_near) - 1) * group.size();
    by_boxes += (tree.sources(box_is_near) - 1) * group.size();
  }
  BOOST_TEST(progress.interactions == by_bodies);
  BOOST_TEST(by_boxes > by_bodies);  // the boxes alone do not decide
}

BOOST_AUTO_TEST_CASE(units_do_not_matter) {
  // Powers of two scale every intermediate result exactly.
  const auto c = rounded<float>(tests::make_cloud(shape::cube, 700));
  constexpr float length = 0x1p30f;
  constexpr float mass = 0x1p-20f;
  auto scaled = tests::make_cloud(shape::cube, 700);
  for (std::size_t i = 0; i < 700; ++i) {
    for (std::size_t k = 0; k < 3; ++k) scaled.positions[i][k] = c.positions[i][k] * length;
    scaled.masses[i] = c.masses[i] * mass;
  }
  for (const int order : {1, 2}) {
    const auto plain =
        gravity_of<float>(tests::make_cloud(shape::cube, 700), options_of_order(order, 1));
    const auto found = gravity_of<float>(scaled, options_of_order(order, 1));
    for (std::size_t i = 0; i < 700; ++i) {
      for (std::size_t k = 0; k < 3; ++k) {
        BOOST_REQUIRE(found.accelerations[i][k] * (length / mass) * length ==
                      plain.accelerations[i][k]);
      }
      BOOST_REQUIRE(found.potentials[i] * (length / mass) == plain.potentials[i]);
    }
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::not_under_thread_sanitizer))
BOOST_AUTO_TEST_CASE(theta_0_is_the_direct_sum) {
  for (const shape s : tests::all_shapes) {
    BOOST_TEST_CONTEXT(to_string(s)) {
      const auto c = tests::make_cloud(s, 700);
      const auto truth = tests::sum_of_pairs(c, 0.01, 3);
      auto options = options_for(0, 0.01);
      options.gravitational_constant = 3;
      for (const auto method : {nbody_method::tree, nbody_method::direct}) {
        options.method = method;
        const auto found = gravity_of<double>(c, options);
        // In these shapes, rounding the coordinates to float changes the forces.
        const bool survives_rounding = s != shape::far_away && s != shape::two_clusters;
        const auto error = tests::error_of(found, truth);
        BOOST_TEST(error.max < rounding<double>);
        BOOST_TEST(error.potential < rounding<double>);
        BOOST_TEST(found.report.interactions == 700u * 699u);
        BOOST_TEST((found.report.method == method));
        const auto in_float = tests::error_of(gravity_of<float>(c, options), truth);
        if (survives_rounding) BOOST_TEST(in_float.rms < rounding<float>);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(every_shape_by_either_route) {
  int piece = 0;
  for (const shape s : tests::all_shapes) {
    if (tests::left_out_by_tsan(piece, 3)) continue;
    BOOST_TEST_CONTEXT(to_string(s)) {
      const auto c = tests::make_cloud(s, std::size_t(tests::cut_down(2'500, 600)));
      const auto truth = tests::sum_of_pairs(c, 0.01);
      const auto found = gravity_of<double>(c, options_for(0.5, 0.01, route::device));
      // Where forces cancel, as inside a shell, the error is large relative to their sum. On a
      // line, the errors of near nodes have the same sign and add up.
      const double bound = s == shape::line || s == shape::diagonal ? 0.1 : 0.01;
      BOOST_TEST(tests::total_error(found, truth) < bound);
      BOOST_TEST(tests::error_of(found, truth).potential < bound);
      BOOST_TEST(tests::total_error(gravity_of<double>(c, options_for(0.1, 0.01)), truth) < 0.005);
      const auto flat = gravity_of<double>(c, options_for(0.5, 0.01, route::flat));
      BOOST_TEST((flat.report.taken == route::flat));
      BOOST_TEST(flat.report.child_grids == 0u);
      BOOST_TEST(same_bits(found, flat));
      auto with_tolerance = options_of_tolerance(1, 0.3, 0.01);
      with_tolerance.route = route::device;
      const auto tolerant = gravity_of<double>(c, with_tolerance);
      with_tolerance.route = route::flat;
      BOOST_TEST(same_bits(tolerant, gravity_of<double>(c, with_tolerance)));
      BOOST_TEST(tests::total_error(tolerant, truth) < bound);
    }
  }
}

BOOST_AUTO_TEST_CASE(sizes_around_a_warp_and_a_block) {
  int piece = 0;
  for (const std::size_t n :
       {1u, 2u, 3u, 16u, 17u, 31u, 32u, 33u, 127u, 128u, 129u, 255u, 256u, 257u, 1025u}) {
    if (tests::left_out_by_tsan(piece, 4)) continue;
    BOOST_TEST_CONTEXT(n << " bodies") {
      const auto c = tests::make_cloud(shape::cube, n);
      const auto truth = tests::sum_of_pairs(c, 0);
      auto options = options_for(0);
      const auto tree = gravity_of<double>(c, options);
      BOOST_TEST(tests::error_of(tree, truth).max < rounding<double>);
      BOOST_TEST(tree.report.interactions == n * (n - 1));
      BOOST_TEST(tree.report.bodies == n);
      options.method = nbody_method::direct;
      BOOST_TEST(tests::error_of(gravity_of<double>(c, options), truth).max < rounding<double>);
    }
  }
}

BOOST_AUTO_TEST_CASE(no_bodies) {
  for (const auto method : {nbody_method::tree, nbody_method::direct}) {
    auto options = options_for(0.5);
    options.method = method;
    const auto found = gravity_of<float>({}, options);
    BOOST_TEST(found.report.host_grids == 0u);
    BOOST_TEST(found.report.interactions == 0u);
  }
}

BOOST_AUTO_TEST_CASE(coincident_bodies) {
  constexpr std::size_t n = 1'000;
  cloud<double> coincident;
  coincident.positions.assign(n, {0.1, -7, 3e5});
  coincident.masses.assign(n, 2);
  for (const auto method : {nbody_method::tree, nbody_method::direct}) {
    auto options = options_for(0.5);
    options.method = method;
    const auto unsoftened = gravity_of<double>(coincident, options);
    options.softening = 0.5;
    const auto softened = gravity_of<double>(coincident, options);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < 3; ++k) {
        BOOST_REQUIRE(unsoftened.accelerations[i][k] == 0);
        BOOST_REQUIRE(softened.accelerations[i][k] == 0);
      }
      BOOST_REQUIRE(unsoftened.potentials[i] == 0);
      BOOST_REQUIRE(std::abs(softened.potentials[i] + 2 * (n - 1) / 0.5) < 1e-6);
    }
  }
  // The squared distance of the first two bodies underflows.
  const cloud<double> close{{{0, 0, 0}, {1e-30, 0, 0}, {1, 0, 0}}, {1, 1, 1}};
  const auto in_float = gravity_of<float>(close, options_for(0.5));
  const auto tolerance = boost::test_tools::tolerance(1e-5f);
  BOOST_TEST(in_float.accelerations[0][0] == 1.0f, tolerance);
  BOOST_TEST(in_float.accelerations[2][0] == -2.0f, tolerance);
  // The cube of this distance underflows, but the force does not.
  const cloud<double> tight{{{0, 0, 0}, {1e-15, 0, 0}}, {1e-30, 1e-30}};
  BOOST_TEST(gravity_of<float>(tight, options_for(0.5)).accelerations[0][0] == 1.0f, tolerance);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::not_under_thread_sanitizer))
BOOST_AUTO_TEST_CASE(masses_of_any_sign) {
  auto c = tests::make_cloud(shape::cube, 1'500);
  for (std::size_t i = 0; i < c.masses.size(); ++i) {
    if (i % 3 == 0) c.masses[i] = 0;
    if (i % 3 == 1) c.masses[i] = -c.masses[i];
  }
  const auto truth = tests::sum_of_pairs(c, 0.05);
  BOOST_TEST(tests::error_of(gravity_of<double>(c, options_for(0, 0.05)), truth).rms < 1e-9);
  const auto found = gravity_of<double>(c, options_for(0.3, 0.05));
  BOOST_TEST(tests::total_error(found, truth) < 0.05);

  std::ranges::fill(c.masses, 0.0);
  const auto zero = gravity_of<double>(c, options_for(0.5));
  for (const auto& a : zero.accelerations) BOOST_REQUIRE((a == tests::vector3{}));
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::not_under_thread_sanitizer))
BOOST_AUTO_TEST_CASE(faults_in_the_nodes_are_detected) {
  // The faults exceed the bounds of the_error_falls_with_theta.
  const auto cluster = tests::plummer_cloud(2'000);
  const auto truth = tests::sum_of_pairs(cluster, 0);
  const auto options = options_of_order(1, 0.5);
  const auto error = [&](fault inserted) {
    return tests::error_of(with_fault(cluster, options, inserted), truth);
  };
  BOOST_TEST(
      same_bits(with_fault(cluster, options, fault::none), gravity_of<double>(cluster, options)));
  const double faultless = error(fault::none).rms;
  BOOST_TEST(faultless < 0.01);
  BOOST_TEST(error(fault::late_opening).rms > 2.5 * faultless);
  BOOST_TEST(error(fault::wrong_centers).rms > 2.5 * faultless);
  const auto exact = options_for(0);
  BOOST_TEST(tests::error_of(with_fault(cluster, exact, fault::lost_body), truth).max >
             100 * rounding<double>);
}

BOOST_DATA_TEST_CASE(leaves_of_any_size, data::make({1u, 2u, 8u, 100u, 1024u}), leaf_size) {
  int piece = 0;
  for (const shape s : {shape::cube, shape::pairs, shape::line}) {
    if (tests::left_out_by_tsan(piece, 3)) continue;
    BOOST_TEST_CONTEXT(to_string(s)) {
      const auto c = tests::make_cloud(s, std::size_t(tests::cut_down(1'500, 150)));
      const auto truth = tests::sum_of_pairs(c, 0.01);
      const auto exact = with_leaf_size(c, options_for(0, 0.01), leaf_size);
      BOOST_TEST(tests::total_error(exact, truth) < rounding<double>);
      const auto found = with_leaf_size(c, options_for(0.4, 0.01), leaf_size);
      BOOST_TEST(tests::total_error(found, truth) < 0.05);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
