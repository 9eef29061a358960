// SPDX-License-Identifier: BSD-3-Clause
// Derived fields of a gas: on the device for output, and for refinement.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <ramify/amr.cuh>
#include <stdexcept>

#include "functors.cuh"
#include "mesh_checks.hpp"

using namespace ramify;
using namespace tests;

namespace {

using gas_in_2d = euler<double, 2>;
using by_field = derived_criterion<gas_in_2d>;

/// A gas whose velocity is linear: vorticity 3 - 0.5, divergence 2 - 1.
struct linear_flow {
  [[nodiscard]] __host__ __device__ gas_in_2d::values operator()(const double (&where)[2]) const {
    const double x = where[0];
    const double y = where[1];
    return {1, 2 * x + 0.5 * y, 3 * x - y, 1};
  }
};

amr_run<gas_in_2d, by_field, 8> start_by(derived_field field, setting s) {
  return {gas_in_2d{}, by_field{gas_in_2d{}, field}, initial_state<gas_in_2d>{s}, s.options};
}

/// Returns the columns of root blocks, along x, in which a block is refined.
std::vector<unsigned> refined_columns(const mesh_snapshot& mesh) {
  std::vector<unsigned> columns;
  for (const block_position& leaf : mesh.leaves) {
    const unsigned column = leaf.index[0] >> leaf.level;
    if (leaf.level > 0 && (columns.empty() || columns.back() != column)) columns.push_back(column);
  }
  std::ranges::sort(columns);
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  return columns;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(derived_fields, *boost::unit_test::precondition(not_under_thread_sanitizer))

// The oracle is the host, from the conserved values of a snapshot.
BOOST_AUTO_TEST_CASE(local_fields_follow_from_a_snapshot) {
  setting s = lively(matter::gas_2d, false);
  amr_run<gas_in_2d, criterion_of<gas_in_2d>, 8> run(gas_in_2d{}, criterion_of<gas_in_2d>{s},
                                                     initial_state<gas_in_2d>{s}, s.options);
  run.advance(3);
  using enum derived_field;
  const mesh_snapshot all = run.snapshot();
  const mesh_snapshot found =
      run.derived_snapshot({mach, entropy, speed, sound_speed, temperature});
  BOOST_TEST(found.leaves.size() > 2u);
  BOOST_TEST((found.leaves == all.leaves));
  BOOST_TEST((found.fields ==
              std::vector<std::string>{"mach", "entropy", "speed", "sound_speed", "temperature"}));
  double most = 0;
  for (std::size_t leaf = 0; leaf < all.leaves.size(); ++leaf) {
    for (std::size_t cell = 0; cell < 64; ++cell) {
      const auto u = [&](std::size_t v) { return all.field(leaf, v)[cell]; };
      const double squares = (u(1) * u(1) + u(2) * u(2)) / (u(0) * u(0));
      const double pressure = 0.4 * (u(3) - 0.5 * u(0) * squares);
      const double sound = std::sqrt(1.4 * pressure / u(0));
      const double expected[] = {std::sqrt(squares) / sound, pressure * std::pow(u(0), -1.4),
                                 std::sqrt(squares), sound, pressure / u(0)};
      for (std::size_t f = 0; f < 5; ++f) {
        most = std::max(most, std::abs(found.field(leaf, f)[cell] / expected[f] - 1));
      }
    }
  }
  BOOST_TEST(most < 1e-12);
}

BOOST_AUTO_TEST_CASE(a_linear_flow_has_its_vorticity_and_divergence_on_all_levels) {
  setting s;
  s.options.mesh.roots = {2, 2, 1};
  s.options.mesh.max_level = 2;
  s.criterion = criterion_kind::corner;
  set_boundaries(s, boundary::outflow);
  const amr_run<gas_in_2d, criterion_of<gas_in_2d>, 8> run(gas_in_2d{}, criterion_of<gas_in_2d>{s},
                                                           linear_flow{}, s.options);
  const mesh_snapshot found =
      run.derived_snapshot({derived_field::vorticity, derived_field::divergence});
  BOOST_TEST(run.report().finest_level == 2);
  std::size_t checked = 0;
  for (std::size_t leaf = 0; leaf < found.leaves.size(); ++leaf) {
    for (std::size_t cell = 0; cell < 64; ++cell) {
      const auto where = cell_center(found, leaf, cell);
      const double width = 2 * found.spacing(found.leaves[leaf].level, 0);  // of a coarser cell
      const bool is_inside = std::min({where[0], where[1], 1 - where[0], 1 - where[1]}) > width;
      if (!is_inside) continue;  // ghost cells have other values
      ++checked;
      BOOST_REQUIRE_SMALL(found.field(leaf, 0)[cell] - 2.5, 1e-10);
      BOOST_REQUIRE_SMALL(found.field(leaf, 1)[cell] - 1.0, 1e-10);
    }
  }
  BOOST_TEST(checked > 400u);
}

// Sod's tube after some time, from left to right: a rarefaction, a contact, a shock. The entropy
// does not change in the rarefaction, the pressure not at the contact, the velocity only in the
// rarefaction and at the shock.
BOOST_AUTO_TEST_CASE(fields_refine_the_waves_in_which_they_change) {
  setting s;
  s.options.mesh.roots = {16, 1, 1};
  s.options.mesh.upper = {1, 1.0 / 16, 1};
  s.options.mesh.max_level = 1;
  s.options.regrid = {.refine_above = 0.02, .coarsen_below = 0.01, .patience = 1, .every = 1};
  set_boundaries(s, boundary::outflow);
  s.initial = initial_kind::sod;
  const auto columns = [&](derived_field field) {
    auto run = start_by(field, s);
    run.advance_to(0.2);
    return refined_columns(run.snapshot());
  };
  const auto has = [](const std::vector<unsigned>& all, unsigned column) {
    return std::ranges::find(all, column) != all.end();
  };
  // The waves are at x = 0.263 to 0.486, 0.685 and 0.850.
  const auto entropy = columns(derived_field::entropy);
  const auto divergence = columns(derived_field::divergence);
  BOOST_TEST(!has(entropy, 6));  // in the rarefaction
  BOOST_TEST(has(divergence, 6));
  BOOST_TEST(has(entropy, 10));  // at the contact
  BOOST_TEST(!has(divergence, 10));
  BOOST_TEST(has(divergence, 13));  // at the shock
  // A gas has no magnetic field.
  BOOST_TEST(columns(derived_field::magnetic_pressure).empty());
  BOOST_TEST(columns(derived_field::magnetic_divergence).empty());
}

BOOST_AUTO_TEST_CASE(names_of_derived_fields) {
  using enum derived_field;
  for (const derived_field f : {speed, sound_speed, mach, temperature, entropy, vorticity,
                                divergence, magnetic_pressure, magnetic_divergence}) {
    BOOST_TEST((parse_derived_field(to_string(f)) == f));
  }
  expect_error<std::invalid_argument>([] { static_cast<void>(parse_derived_field("Mach")); },
                                      "mach");
  setting s;
  const auto run = start_by(mach, s);
  expect_error<std::invalid_argument>(
      [&] { static_cast<void>(run.derived_snapshot({static_cast<derived_field>(9)})); },
      "derived_snapshot: a field is none of the enumerators");
  expect_error<std::invalid_argument>(
      [&] { static_cast<void>(run.derived_snapshot({magnetic_pressure})); },
      "derived_snapshot: a field is magnetic_pressure; it must be one of a gas without a magnetic");
  BOOST_TEST(run.derived_snapshot({}).values.empty());
}

BOOST_AUTO_TEST_SUITE_END()
