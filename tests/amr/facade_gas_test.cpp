// SPDX-License-Identifier: BSD-3-Clause
// The compiled facade: a gas that stays positive, and fields that follow from its values.
#include <algorithm>
#include <array>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstddef>
#include <ramify/amr.hpp>
#include <string>
#include <utility>
#include <vector>

#include "backend_under_test.hpp"
#include "exceptions.hpp"

namespace {

using namespace ramify;
namespace data = boost::unit_test::data;

const environment cpu_only{.backend = backend::cpu};

/// Checks that `call()` throws an Error with `text` in its message.
template <class Error, class Call>
void expect_error(Call call, const std::string& text) {
  BOOST_CHECK_EXCEPTION(call(), Error, tests::names(text));
}

/// A cold box of gas that flies along the diagonal into a gas a thousand times as thin.
amr_setup flying_box(amr_precision precision) {
  amr_setup setup = recommended_setup(amr_problem::regions, 2);
  setup.precision = precision;
  setup.options.mesh.roots = {1, 1, 1};
  setup.options.mesh.max_level = 1;
  setup.regions = {{.density = 1e-3, .pressure = 1e-6},
                   {.shape = amr_shape::box,
                    .point = {0.25, 0.25, 0},
                    .upper = {0.5, 0.5, 0},
                    .density = 1,
                    .velocity = {10, 10, 0},
                    .pressure = 1e-6}};
  return setup;
}

/// A gas at rest with a jump of the pressure at x = `jump`, on 4 x 2 roots. Only boxes and buffers
/// refine it beyond the roots that contain the jump.
amr_setup with_jump(double jump, amr_precision precision) {
  amr_setup setup = recommended_setup(amr_problem::regions, 2);
  setup.precision = precision;
  setup.options.mesh.upper = {2, 1, 1};
  setup.options.mesh.roots = {4, 2, 1};
  setup.options.mesh.max_level = 1;
  setup.options.mesh.balance = balance::face;
  setup.options.regrid.every = 1;
  setup.options.regrid.patience = 1;
  setup.regions = {{},
                   {.shape = amr_shape::half_space,
                    .point = {jump, 0, 0},
                    .normal = {1, 0, 0},
                    .density = 2,
                    .pressure = 3}};
  return setup;
}

/// Returns the numbers of leaves of levels 0, 1 and 2.
std::array<int, 3> leaves_by_level(const amr_simulation& flow) {
  std::array<int, 3> counts{};
  for (const auto& leaf : flow.snapshot().leaves) ++counts.at(std::size_t(leaf.level));
  return counts;
}

/// Returns the integral over the domain of the density times the coordinate along x, and the least
/// density.
std::array<double, 2> moment_and_least(const mesh_snapshot& mesh) {
  double moment = 0;
  double least = 1;
  for (std::size_t leaf = 0; leaf < mesh.leaves.size(); ++leaf) {
    const auto& [level, index] = mesh.leaves[leaf];
    const double width = mesh.spacing(level, 0);
    for (std::size_t cell = 0; cell < 256; ++cell) {
      const double density = mesh.field(leaf, 0)[cell];
      moment += width * width * density * (double(index[0] * 16 + cell % 16) + 0.5) * width;
      least = std::min(least, density);
    }
  }
  return {moment, least};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(amr_facade_gas,
                      *boost::unit_test::precondition(tests::not_under_thread_sanitizer))

// The oracle is Newton's second law: while nothing reaches the sides, the center of mass moves with
// the momentum, which stays.
BOOST_AUTO_TEST_CASE(a_gas_is_kept_positive) {
  for (const auto precision : {amr_precision::double_, amr_precision::float_}) {
    amr_setup setup = flying_box(precision);
    expect_error<amr_error>([&] { amr_simulation(setup, cpu_only).advance_to(0.015); },
                            "is invalid: density");
    setup.keep_positive = true;
    amr_simulation flow(setup, cpu_only);
    const auto [moment, least] = moment_and_least(flow.snapshot());
    const std::vector<double> before = flow.totals();
    BOOST_TEST(std::abs(before[1] / 0.625 - 1) < 1e-6);
    flow.advance_to(0.015);
    BOOST_TEST(flow.report().fallback_cells > 0u);
    const auto [later, least_later] = moment_and_least(flow.snapshot());
    BOOST_TEST(std::abs((later - moment) / (0.015 * before[1]) - 1) < 1e-3);
    BOOST_TEST(least_later > 0);
    if (precision == amr_precision::float_) continue;  // rounding of float needs floors
    BOOST_TEST(flow.report().floored_cells == 0u);
    const std::vector<double> after = flow.totals();
    for (std::size_t v = 0; v < 4; ++v) BOOST_TEST(std::abs(after[v] / before[v] - 1) < 1e-12);
  }
}

BOOST_AUTO_TEST_CASE(a_gas_that_needs_no_help_has_the_same_bits) {
  for (const auto problem : {amr_problem::sod, amr_problem::rayleigh_taylor}) {
    amr_setup setup = recommended_setup(problem, 2);
    setup.options.mesh.max_level = 1;
    amr_simulation plain(setup, cpu_only);
    setup.keep_positive = true;
    amr_simulation safe(setup, cpu_only);
    plain.advance(4);
    safe.advance(4);
    BOOST_TEST((safe.snapshot().values == plain.snapshot().values));
    BOOST_TEST(safe.report().fallback_cells == 0u);
    // Each can continue the other.
    amr_simulation later(setup, plain.state(), cpu_only);
    later.advance(2);
    plain.advance(2);
    BOOST_TEST((later.snapshot().values == plain.snapshot().values));
  }
}

// The oracle is the host, by differences between the cells of a uniform periodic mesh.
BOOST_AUTO_TEST_CASE(derived_fields_follow_from_the_primitive_values) {
  amr_setup setup = recommended_setup(amr_problem::kelvin_helmholtz, 2);
  setup.options.mesh.max_level = 0;
  amr_simulation flow(setup, cpu_only);
  flow.advance(5);
  using enum derived_field;
  const mesh_snapshot all = flow.snapshot(amr_fields::primitive);
  const mesh_snapshot found = flow.derived_snapshot({vorticity, mach, entropy});
  BOOST_TEST((found.leaves == all.leaves));
  BOOST_TEST((found.fields == std::vector<std::string>{"vorticity", "mach", "entropy"}));
  constexpr std::size_t along = 32;
  std::vector<double> u(along * along), v(along * along);
  const auto for_each_cell = [&](auto use) {
    for (std::size_t leaf = 0; leaf < all.leaves.size(); ++leaf) {
      for (std::size_t cell = 0; cell < 256; ++cell) {
        use(leaf, cell, all.leaves[leaf].index[0] * 16 + cell % 16,
            all.leaves[leaf].index[1] * 16 + cell / 16);
      }
    }
  };
  for_each_cell([&](std::size_t leaf, std::size_t cell, std::size_t x, std::size_t y) {
    u[y * along + x] = all.field(leaf, 1)[cell];
    v[y * along + x] = all.field(leaf, 2)[cell];
  });
  double most = 0;
  double largest = 0;
  for_each_cell([&](std::size_t leaf, std::size_t cell, std::size_t x, std::size_t y) {
    const std::size_t right = (x + 1) % along, left = (x + along - 1) % along;
    const std::size_t up = (y + 1) % along, down = (y + along - 1) % along;
    const double curl = (v[y * along + right] - v[y * along + left]) / (2 * all.spacing(0, 0)) -
                        (u[up * along + x] - u[down * along + x]) / (2 * all.spacing(0, 1));
    largest = std::max(largest, std::abs(curl));
    most = std::max(most, std::abs(found.field(leaf, 0)[cell] - curl));
    const double density = all.field(leaf, 0)[cell];
    const double pressure = all.field(leaf, 3)[cell];
    const double speed = std::hypot(all.field(leaf, 1)[cell], all.field(leaf, 2)[cell]);
    const double sound = std::sqrt(setup.gamma * pressure / density);
    most = std::max(most, std::abs(found.field(leaf, 1)[cell] - speed / sound));
    most = std::max(
        most, std::abs(found.field(leaf, 2)[cell] / pressure * std::pow(density, setup.gamma) - 1));
  });
  BOOST_TEST(largest > 1);
  BOOST_TEST(most < 1e-12);
}

BOOST_AUTO_TEST_CASE(only_a_gas_has_these_options) {
  for (const auto problem : {amr_problem::vortex_in_box, amr_problem::dam_break}) {
    amr_setup setup = recommended_setup(problem, 2);
    setup.options.mesh.max_level = 0;
    expect_error<std::invalid_argument>(
        [&] {
          static_cast<void>(
              amr_simulation(setup, cpu_only).derived_snapshot({derived_field::mach}));
        },
        "derived_snapshot: the fields are those of a gas");
    setup.keep_positive = true;
    expect_error<std::invalid_argument>([&] { validate(setup); },
                                        "amr_setup.keep_positive is 1; it must be false for the "
                                        "problem " +
                                            std::string(to_string(problem)));
  }
  amr_setup setup = recommended_setup(amr_problem::sod, 2);
  setup.options.mesh.max_level = 0;
  const amr_simulation flow(setup, cpu_only);
  expect_error<std::invalid_argument>(
      [&] { static_cast<void>(flow.derived_snapshot({static_cast<derived_field>(9)})); },
      "derived_snapshot: a field is none of the enumerators");
  BOOST_TEST(flow.derived_snapshot({}).values.empty());
}

// The boxes are roots, or parts of them, so the leaves can be counted. The jump is outside.
BOOST_DATA_TEST_CASE(boxes_stay_refined, data::make({false, true}), in_float) {
  amr_setup setup = with_jump(5, in_float ? amr_precision::float_ : amr_precision::double_);
  setup.options.mesh.roots = {4, 4, 1};
  setup.options.mesh.max_level = 2;
  using counts = std::array<int, 3>;
  const auto leaves = [&](std::vector<amr_refined_box> boxes) {
    setup.refined_boxes = std::move(boxes);
    amr_simulation flow(setup, cpu_only);
    const counts first = leaves_by_level(flow);
    flow.advance(4);
    BOOST_TEST((leaves_by_level(flow) == first));
    return first;
  };
  const amr_refined_box root{{0.5, 0.25, 0}, {1, 0.5, 0}, 1};
  BOOST_TEST((leaves({}) == counts{16, 0, 0}));
  BOOST_TEST((leaves({root}) == counts{15, 4, 0}));
  BOOST_TEST((leaves({{root.lower, root.upper, 0}}) == counts{16, 0, 0}));
  // The four roots beside it have one level less.
  const amr_refined_box fine{root.lower, root.upper, 2};
  BOOST_TEST((leaves({fine}) == counts{11, 16, 16}));
  BOOST_TEST((leaves({fine, root}) == counts{11, 16, 16}));
  // A box in one of the 16 finest blocks, and one that reaches beyond the domain.
  BOOST_TEST((leaves({{{0.51, 0.26, 0}, {0.6, 0.3, 0}, 2}}) == counts{13, 11, 4}));
  BOOST_TEST((leaves({{{1.6, -9, 0}, {9, 0.1, 0}, 1}}) == counts{15, 4, 0}));
  setup.buffer_cells = 16;  // of what the criterion refines
  BOOST_TEST((leaves({fine}) == counts{11, 16, 16}));
}

// Cells 1 and 2 of the third column of roots are beside the jump. The first mesh depends on
// the cells of level 0.
BOOST_DATA_TEST_CASE(buffer_cells_refine_the_next_blocks, data::make({false, true}), in_float) {
  amr_setup setup =
      with_jump(1 + 2. / 32, in_float ? amr_precision::float_ : amr_precision::double_);
  using counts = std::array<int, 3>;
  for (const auto& [cells, expected] :
       {std::pair{0, counts{6, 8, 0}}, std::pair{1, counts{6, 8, 0}},
        std::pair{2, counts{4, 16, 0}}, std::pair{13, counts{4, 16, 0}},
        std::pair{14, counts{2, 24, 0}}}) {
    setup.buffer_cells = cells;
    const amr_simulation flow(setup, cpu_only);
    BOOST_TEST((leaves_by_level(flow) == expected), cells << " buffer cells");
  }
}

BOOST_AUTO_TEST_CASE(bad_boxes_and_buffers_are_rejected_by_name) {
  amr_setup setup = with_jump(1, amr_precision::float_);
  const auto refuse = [&](const std::string& text) {
    expect_error<std::invalid_argument>([&] { amr_simulation(setup, cpu_only); }, text);
  };
  for (const int cells : {-1, 17}) {
    setup.buffer_cells = cells;
    refuse("amr_setup.buffer_cells is " + std::to_string(cells) + "; it must be in [0, 16]");
  }
  setup.buffer_cells = 16;
  const amr_refined_box good{{0, 0, 0}, {1, 1, 0}, 1};
  setup.refined_boxes = {good, {{0, 0.5, 0}, {1, 0.5, 0}, 1}};
  refuse("amr_setup.refined_boxes[1].upper[1] is 0.5; it must be above lower");
  setup.refined_boxes = {{{2, 0, 0}, {3, 1, 0}, 1}};
  refuse("amr_setup.refined_boxes[0].lower[0] is 2; it must be inside");
  setup.refined_boxes = {{{0, 0, 0}, {1, NAN, 0}, 1}};
  refuse("amr_setup.refined_boxes[0].upper[1] is nan");
  setup.refined_boxes = {{{0, 0, 0}, {1, 1, 0}, 2}};
  refuse("amr_setup.refined_boxes[0].level is 2; it must be in [0, ");
  setup.refined_boxes.assign(9, good);
  refuse("amr_setup.refined_boxes is 9; it must be at most 8");
  // No float is between these thresholds.
  setup.options.regrid.refine_above = setup.options.regrid.coarsen_below = 0.1;
  setup.refined_boxes = {good};
  refuse("amr_options.regrid.coarsen_below is 0.1; it must be so far below");
  setup.refined_boxes.clear();
  BOOST_CHECK_NO_THROW(validate(setup));
}

BOOST_AUTO_TEST_SUITE_END()
