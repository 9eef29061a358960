// SPDX-License-Identifier: BSD-3-Clause
// Refinement by several criteria, in boxes that do not move, and with buffer cells.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <ramify/amr.cuh>
#include <set>
#include <stdexcept>
#include <string>

#include "functors.cuh"
#include "mesh_checks.hpp"
#include "printing.hpp"

namespace data = boost::unit_test::data;
using namespace ramify;
using namespace tests;

namespace {

using sampled = gradient_criterion<euler<double, 2>>;
using unsampled = criterion_of<euler<double, 2>>;
using both_criteria = detail::amr::several_criteria<euler<double, 2>, sampled, unsampled>;
using boxed = with_boxes<euler<double, 2>, both_criteria>;
using box_of = refined_box<2>;

// A criterion in boxes keeps its samples.
static_assert(std::is_same_v<with_boxes<euler<double, 2>, sampled>::sample_type, double>);
static_assert(detail::amr::simulable<euler<double, 2>, with_boxes<euler<double, 2>, sampled>>);

/// Sod's tube in 8 x 8 root blocks; a run refines the block at the origin, too.
setting tube_and_corner() {
  setting s;
  s.options.mesh.roots = {8, 8, 1};
  s.options.mesh.max_level = 1;
  s.options.regrid = {.refine_above = 0.05, .coarsen_below = 0.025, .patience = 1, .every = 2};
  set_boundaries(s, boundary::outflow);
  s.initial = initial_kind::sod;
  s.criterion = criterion_kind::corner;
  return s;
}

/// A run that refines where the density jumps by more than `jump`, where the criterion of `s`
/// exceeds `value`, and in boxes.
amr_run<euler<double, 2>, boxed, 8> start_boxed(setting s, double jump, double value,
                                                std::initializer_list<box_of> boxes) {
  s.options.regrid.refine_above = 1;
  s.options.regrid.coarsen_below = 0.5;
  const auto either = any_criterion<euler<double, 2>>(limited_criterion{sampled{0}, jump},
                                                      limited_criterion{unsampled{s}, value});
  return {euler<double, 2>{}, boxed(either, s.options, boxes), initial_state<euler<double, 2>>{s},
          s.options, s.env};
}

using places = std::set<std::pair<int, std::array<std::uint32_t, 3>>>;

/// Returns the refined root blocks.
places refined_roots(const mesh_snapshot& mesh) {
  places found;
  for (block_position leaf : mesh.leaves) {
    if (leaf.level == 0) continue;
    for (auto& index : leaf.index) index >>= leaf.level;
    found.insert({0, leaf.index});
  }
  return found;
}

/// Returns the coarsest and the finest level of the leaves that overlap a box.
std::pair<int, int> levels_in(const mesh_snapshot& mesh, const box_of& box) {
  std::pair<int, int> levels{99, -1};
  for (const block_position& leaf : mesh.leaves) {
    bool overlaps = true;
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const double edge = mesh.spacing(leaf.level, int(axis)) * mesh.cells;
      const double begin = mesh.lower[axis] + leaf.index[axis] * edge;
      overlaps = overlaps && begin < box.upper[axis] && begin + edge > box.lower[axis];
    }
    if (!overlaps) continue;
    levels.first = std::min(levels.first, leaf.level);
    levels.second = std::max(levels.second, leaf.level);
  }
  return levels;
}

/// Refines at three points: in a block, at its corner, and at the corner of the domain.
struct points {
  [[nodiscard]] __host__ __device__ static bool is_near(double x, double y) {
    const double p[3][2] = {{0.30, 0.57}, {0.633, 0.365}, {0.001, 0.999}};
    for (const auto& place : p) {
      if (std::fabs(x - place[0]) < 0.01 && std::fabs(y - place[1]) < 0.02) return true;
    }
    return false;
  }
  [[nodiscard]] __device__ double operator()(const cell_stencil<state<double, 4>, 2>&,
                                             const block_place<2>&,
                                             const double (&where)[2]) const {
    return is_near(where[0], where[1]) ? 2 : 0;
  }
};
constexpr int buffer = 3;
/// The same with buffer cells that the host sets.
struct buffered_points : points {
  int buffer_cells = buffer;
};

/// Returns a setting for them, with 8 x 8 root blocks.
setting points_in_roots() {
  setting s;
  s.options.mesh.roots = {8, 8, 1};
  s.options.mesh.max_level = 1;
  s.options.regrid = {.refine_above = 1, .coarsen_below = 0.5, .patience = 2, .every = 1};
  return s;
}

/// Returns the root blocks of 8 x 8 that are within `width` cells of a cell to refine. `cells` is
/// the number of cells along the edge of a root block, on the level of these cells. The domain is
/// periodic.
places within_buffer(int cells, int width = buffer) {
  places found;
  const int all = 8 * cells;
  const auto distance = [&](int cell, int block) {
    const int below = (block * cells - cell + all) % all;            // to the lower side
    const int above = (cell - (block + 1) * cells + 1 + all) % all;  // to the upper side
    return cell / cells == block ? 0 : std::min(below, above);
  };
  for (int y = 0; y < all; ++y) {
    for (int x = 0; x < all; ++x) {
      if (!points::is_near((x + 0.5) / all, (y + 0.5) / all)) continue;
      for (int block = 0; block < 64; ++block) {
        if (distance(x, block % 8) > width || distance(y, block / 8) > width) continue;
        found.insert({0, {unsigned(block % 8), unsigned(block / 8), 0}});
      }
    }
  }
  return found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(combined_criteria,
                      *boost::unit_test::precondition(not_under_thread_sanitizer))

// The oracle: each criterion alone.
BOOST_AUTO_TEST_CASE(any_criterion_refines_what_each_of_them_refines) {
  setting s = tube_and_corner();
  const places by_value = refined_roots(start_run(s)->snapshot());
  s.criterion = criterion_kind::gradient;
  const places by_jump = refined_roots(start_run(s)->snapshot());
  places all = by_value;
  all.insert(by_jump.begin(), by_jump.end());
  BOOST_TEST(by_value.size() == 1u);
  BOOST_TEST(by_jump.size() == 16u);
  BOOST_TEST(all.size() == 17u);

  s.criterion = criterion_kind::corner;  // its indicator is 2
  BOOST_TEST((refined_roots(start_boxed(s, 0.05, 1.9, {}).snapshot()) == all));
  BOOST_TEST((refined_roots(start_boxed(s, 0.05, 2.1, {}).snapshot()) == by_jump));
  BOOST_TEST((refined_roots(start_boxed(s, 50, 1.9, {}).snapshot()) == by_value));

  // With the density alone, in its limit and hysteresis, a flow has the same bits.
  s.criterion = criterion_kind::gradient;
  const auto expected = start_run(s);
  expected->advance(8);
  s.criterion = criterion_kind::nowhere;
  auto run = start_boxed(s, 0.05, 1, {});
  run.advance(8);
  BOOST_TEST(expected->report().finest_level == 1);
  BOOST_TEST(same_bits(expected->snapshot(), run.snapshot()));
}

BOOST_DATA_TEST_CASE(boxes_stay_refined, data::make(routes) * data::make(subcycling), taken,
                     subcycle) {
  setting s = tube_and_corner();
  s.env.route = taken;
  s.options.step.subcycle = subcycle;
  s.options.mesh.roots = {4, 4, 1};
  s.options.mesh.max_level = 3;
  s.criterion = criterion_kind::nowhere;
  // One is smaller than a cell, and has no center of a cell.
  const box_of small{{0.1301, 0.1301}, {0.1302, 0.1302}, 2};
  const box_of wide{{0.5, 0.25}, {2, 0.5}, 1};
  auto run = start_boxed(s, 50, 1, {small, wide});
  const auto expect_levels = [&] {
    const mesh_snapshot mesh = run.snapshot();
    BOOST_TEST((levels_in(mesh, small) == std::pair{2, 2}));
    BOOST_TEST((levels_in(mesh, wide) == std::pair{1, 1}));
    BOOST_TEST((levels_in(mesh, {{0.5, 0.75}, {1, 1}, 0}) == std::pair{0, 0}));
  };
  expect_levels();
  const std::uint64_t refined = run.report().refined;
  run.advance(7);
  expect_levels();
  BOOST_TEST(run.report().regrids > 2u);
  BOOST_TEST(run.report().refined == refined);
  BOOST_TEST(run.report().coarsened == 0u);
}

// The oracle counts cells. On the first mesh these are cells of level 0, and later those of the
// refined blocks: the blocks that only the coarse cells were near to are coarsened.
BOOST_DATA_TEST_CASE(blocks_within_the_buffer_are_refined,
                     data::make(routes) * data::make(subcycling), taken, subcycle) {
  setting s = points_in_roots();
  s.env.route = taken;
  s.options.step.subcycle = subcycle;
  using gas = euler<double, 2>;
  amr_run<gas, with_buffer<points, buffer>, 8> run(gas{}, with_buffer<points, buffer>{points{}},
                                                   initial_state<gas>{s}, s.options, s.env);
  BOOST_TEST((refined_roots(run.snapshot()) == within_buffer(8)));
  BOOST_TEST((within_buffer(16) != within_buffer(8)));
  run.advance(4);
  BOOST_TEST((refined_roots(run.snapshot()) == within_buffer(16)));
  const std::uint64_t refined = run.report().refined;
  run.advance(4);
  BOOST_TEST((refined_roots(run.snapshot()) == within_buffer(16)));
  BOOST_TEST(run.report().refined == refined);
}

BOOST_AUTO_TEST_CASE(a_buffer_is_at_most_as_wide_as_a_block) {
  const setting s = points_in_roots();
  using gas = euler<double, 2>;
  using run_type = amr_run<gas, buffered_points, 8>;
  const auto start = [&](int cells, const auto& from) {
    return run_type(gas{}, buffered_points{{}, cells}, from, s.options, s.env);
  };
  const initial_state<gas> initial{s};
  const amr_state saved = start(buffer, initial).save();
  BOOST_TEST((refined_roots(start(buffer, saved).snapshot()) == within_buffer(8)));
  for (const int cells : {0, 8}) {
    const places found = refined_roots(start(cells, initial).snapshot());
    BOOST_TEST((found == within_buffer(8, cells)), cells << " buffer cells");
  }
  for (const int cells : {-1, 9, std::numeric_limits<int>::max()}) {
    const std::string text =
        "amr_run: criterion.buffer_cells is " + std::to_string(cells) + "; it must be in [0, 8], ";
    expect_error<std::invalid_argument>([&] { start(cells, initial); }, text);
    expect_error<std::invalid_argument>([&] { start(cells, saved); }, text);
  }
}

BOOST_AUTO_TEST_CASE(bad_boxes_and_limits_are_refused) {
  setting s = tube_and_corner();
  const auto refuse = [&](std::initializer_list<box_of> boxes, const std::string& text) {
    expect_error<std::invalid_argument>([&] { start_boxed(s, 1, 1, boxes); }, text);
  };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const box_of good{{0, 0}, {1, 1}, 1};
  refuse({good, {{0, 0.5}, {1, 0.5}, 1}}, "with_boxes: box 1: upper[1] is 0.5; it must be above");
  refuse({{{1, 0}, {2, 1}, 1}}, "with_boxes: box 0: lower[0] is 1; it must be inside");
  refuse({{{-1, 0}, {0, 1}, 1}}, "with_boxes: box 0: upper[0] is 0; it must be inside");
  refuse({{{0, nan}, {1, 1}, 1}}, "with_boxes: box 0: lower[1] is nan");
  refuse({{{0, 0}, {1, 1}, 2}}, "with_boxes: box 0: level is 2; it must be in [0, ");
  refuse({{{0, 0}, {1, 1}, -1}}, "with_boxes: box 0: level is -1");
  refuse({good, good, good, good, good, good, good, good, good}, "the number of boxes is 9");
  expect_error<std::invalid_argument>([&] { start_boxed(s, 1, 0, {}); },
                                      "any_criterion: refine_above of criterion 1 is 0");
  expect_error<std::invalid_argument>([&] { start_boxed(s, nan, 1, {}); },
                                      "any_criterion: refine_above of criterion 0 is nan");
  expect_error<std::invalid_argument>([&] { start_boxed(s, 5e-324, 1, {}); }, "criterion 0 is ");
}

BOOST_AUTO_TEST_SUITE_END()
