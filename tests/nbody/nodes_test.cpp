// SPDX-License-Identifier: BSD-3-Clause
// The nodes that the traversal of a tree code reads: which of them a group opens, what their
// quadrupoles add, and which faults in them the tests of errors detect.
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "nbody_checks.cuh"

using namespace ramify::detail::nbody;
using ramify::nbody_options;
using tests::cloud;
using tests::cube_and_probes;
using tests::device_cloud;
using tests::error_of_probes;
using tests::field;
using tests::gravity_of;
using tests::options_for;
using tests::options_of_order;
using tests::options_of_tolerance;
using tests::rounding;
using tests::same_bits;
using tests::tree_with_nodes;

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

/// The nodes and the bodies of a tree on the host. It counts the sources of groups.
struct host_tree {
  std::vector<gravity_node<double>> nodes;
  std::vector<point_mass<double>> bodies;

  /// Returns the number of sources of a group, which opens a node if must_open(center, squared
  /// radius) returns true.
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

}  // namespace

BOOST_AUTO_TEST_SUITE(barnes_hut)

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

BOOST_AUTO_TEST_CASE(weak_quadrupoles_may_be_left_out) {
  const auto c = tests::plummer_cloud(3'000);  // the errors of fewer bodies vary more
  const auto truth = tests::sum_of_pairs(c, 0);
  for (const double tolerance : {0.01, 0.1}) {
    const auto error = [&](fault inserted) {
      return 100 *
             tests::error_of(with_fault(c, options_of_tolerance(2, tolerance), inserted), truth)
                 .rms;
    };
    const double usual = error(fault::none);
    const double with_all = error(fault::no_masses);
    BOOST_TEST(usual < 1.1 * with_all);
    BOOST_TEST(usual != with_all);
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
  const host_tree tree{tests::download_array(made.scratch.nodes, made.built.view().node_count),
                       tests::download_array(made.scratch.bodies, n)};

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

BOOST_AUTO_TEST_SUITE_END()
