// SPDX-License-Identifier: BSD-3-Clause
// Conservation of mass, momentum and energy over many steps on a changing mesh; mirror symmetry.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "mesh_checks.hpp"
#include "printing.hpp"

namespace data = boost::unit_test::data;
using ramify::boundary;
using ramify::mesh_snapshot;
using namespace tests;

namespace {

/// Returns a setting: a gas in a periodic box, with waves that soon become shocks. Dense regions
/// are refined, so there are always coarse-fine faces.
setting box_of_gas(matter what, bool subcycle) {
  setting s;
  s.matter = what;
  s.options.step.subcycle = subcycle;
  s.options.mesh.max_level = what == matter::gas_2d ? 2 : 1;
  s.options.mesh.roots = {what == matter::gas_2d ? 1u : 2u, 1, 1};
  s.options.regrid.every = 4;
  s.options.regrid.patience = 1;
  s.options.regrid.refine_above = 0.5;
  s.options.regrid.coarsen_below = 0.49;
  s.criterion = criterion_kind::value;
  s.offset = what == matter::gas_2d ? 1.1 : 1.15;
  s.scale = 10;
  s.initial = initial_kind::pulses;
  s.velocity[0] = 0.3;
  s.velocity[1] = -0.2;
  return s;
}

struct drift {
  double mass, momentum, energy;
};

/// Returns the relative changes of the totals after some steps. Changes of momentum are relative to
/// mass times the speed of sound.
drift drift_of(const setting& s, std::uint64_t steps) {
  const auto run = start_run(s);
  // There are several levels, at least until the gas is at rest.
  BOOST_TEST(leaves_of_levels(run->snapshot()).size() > 1u);
  const std::vector<double> before = run->totals();
  run->advance(steps);
  const std::vector<double> after = run->totals();
  BOOST_TEST(run->report().steps == steps);
  BOOST_TEST(run->report().regrids == steps / 4);
  BOOST_TEST(run->report().refined > 0u);
  drift lost{};
  lost.mass = std::abs(after.front() / before.front() - 1);
  lost.energy = std::abs(after.back() / before.back() - 1);
  for (std::size_t v = 1; v + 1 < before.size(); ++v) {
    lost.momentum = std::max(lost.momentum, std::abs(after[v] - before[v]) / before.front());
  }
  BOOST_TEST_MESSAGE("refined " << run->report().refined << ", coarsened "
                                << run->report().coarsened << ", leaves " << run->report().leaves
                                << "; lost: mass " << lost.mass << ", momentum " << lost.momentum
                                << ", energy " << lost.energy);
  return lost;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(conservation, *boost::unit_test::precondition(not_under_thread_sanitizer))

BOOST_DATA_TEST_CASE(nothing_is_lost_in_a_thousand_steps, data::make({false, true}), subcycle) {
  const int on_executor = effort() < 1 ? 16 : subcycle ? 100 : 1000;
  const drift lost = drift_of(box_of_gas(matter::gas_2d, subcycle),
                              std::uint64_t(runs_on_cpu() ? on_executor : 1000));
  BOOST_TEST(lost.mass <= 1e-13);
  BOOST_TEST(lost.momentum <= 1e-13);
  BOOST_TEST(lost.energy <= 1e-13);
}

BOOST_DATA_TEST_CASE(nothing_is_lost_in_three_dimensions, data::make({false, true}), subcycle) {
  const int on_executor = tests::cut_down(subcycle ? 8 : 16, 4);
  const drift lost = drift_of(box_of_gas(matter::gas_3d, subcycle),
                              std::uint64_t(runs_on_cpu() ? on_executor : 1000));
  BOOST_TEST(lost.mass <= 1e-13);
  BOOST_TEST(lost.momentum <= 1e-13);
  BOOST_TEST(lost.energy <= 1e-13);
}

// The negative control: without flux correction the two sides of coarse-fine faces use different
// fluxes.
BOOST_DATA_TEST_CASE(without_flux_correction_something_is_lost, data::make({false, true}),
                     subcycle) {
  setting s = box_of_gas(matter::gas_2d, subcycle);
  s.options.step.reflux = false;
  const drift lost = drift_of(s, std::uint64_t(tests::cut_down(60, 8)));
  BOOST_TEST(lost.mass > 1e-8);
  BOOST_TEST(lost.momentum > 1e-8);
  BOOST_TEST(lost.energy > 1e-8);
}

// ---- symmetry ----------------------------------------------------------------------------------

namespace {

/// Compares each cell with its image under a symmetry.
class mirror {
 public:
  explicit mirror(const mesh_snapshot& mesh) : mesh_(mesh) {}

  /// \param map  from (index of a cell of a level, cells of that level along an axis) to another
  /// \returns the number of cells whose image is not a cell of the same size, or whose value of
  ///          `field` is not `sign` times the image's value of `other`
  template <class Map>
  std::size_t differences(std::size_t field, std::size_t other, double sign, Map map) const {
    std::size_t count = 0;
    for (std::size_t leaf = 0; leaf < mesh_.leaves.size(); ++leaf) {
      const auto& place = mesh_.leaves[leaf];
      for (std::size_t cell = 0; cell < mesh_.cells_of_a_block(); ++cell) {
        std::array<std::uint32_t, 3> at{};
        std::size_t rest = cell;
        for (std::size_t axis = 0; axis < std::size_t(mesh_.dimensions); ++axis) {
          at[axis] = place.index[axis] * std::uint32_t(mesh_.cells) +
                     std::uint32_t(rest % std::size_t(mesh_.cells));
          rest /= std::size_t(mesh_.cells);
        }
        const std::uint32_t all = (mesh_.roots[0] << place.level) * std::uint32_t(mesh_.cells);
        const double* there = find(place.level, map(at, all), other);
        const double here = mesh_.field(leaf, field)[cell];
        if (there == nullptr || sign * *there != here) ++count;
      }
    }
    return count;
  }

 private:
  const double* find(int level, const std::array<std::uint32_t, 3>& at, std::size_t field) const {
    ramify::block_position wanted{level, {}};
    std::size_t cell = 0;
    for (std::size_t axis = 3; axis-- > 0;) {
      if (axis >= std::size_t(mesh_.dimensions)) continue;
      wanted.index[axis] = at[axis] / std::uint32_t(mesh_.cells);
      cell = cell * std::size_t(mesh_.cells) + at[axis] % std::uint32_t(mesh_.cells);
    }
    const auto found = std::ranges::find(mesh_.leaves, wanted);
    if (found == mesh_.leaves.end()) return nullptr;
    return mesh_.field(std::size_t(found - mesh_.leaves.begin()), field) + cell;
  }

  const mesh_snapshot& mesh_;
};

setting central_blast(matter what, bool subcycle) {
  setting s;
  s.matter = what;
  s.options.step.subcycle = subcycle;
  s.options.mesh.max_level = what == matter::gas_2d ? 2 : 1;
  s.options.mesh.roots = {2, 2, what == matter::gas_3d ? 2u : 1u};
  s.options.mesh.lower = {-1, -1, -1};
  set_boundaries(s, boundary::outflow);
  s.initial = initial_kind::blast;
  s.variable = what == matter::gas_2d ? 3 : 4;  // the initial density is uniform
  s.width = 0.2;
  for (double& c : s.center) c = 0;
  return s;
}

}  // namespace

BOOST_DATA_TEST_CASE(a_central_blast_stays_symmetric_to_the_bit, data::make({false, true}),
                     subcycle) {
  setting s = central_blast(matter::gas_2d, subcycle);
  const auto run = start_run(s);
  run->advance(std::uint64_t(tests::cut_down(subcycle ? 20 : 60, 3)));
  const mesh_snapshot mesh = run->snapshot();
  BOOST_TEST(leaves_of_levels(mesh).size() == 3u);
  const mirror image(mesh);
  const auto flip = [](std::size_t axis) {
    return [axis](std::array<std::uint32_t, 3> at, std::uint32_t all) {
      at[axis] = all - 1 - at[axis];
      return at;
    };
  };
  const auto exchange = [](std::array<std::uint32_t, 3> at, std::uint32_t) {
    std::swap(at[0], at[1]);
    return at;
  };
  for (const std::size_t axis : {0u, 1u}) {
    BOOST_TEST(image.differences(0, 0, 1, flip(axis)) == 0u);
    BOOST_TEST(image.differences(1 + axis, 1 + axis, -1, flip(axis)) == 0u);
    BOOST_TEST(image.differences(2 - axis, 2 - axis, 1, flip(axis)) == 0u);
    BOOST_TEST(image.differences(3, 3, 1, flip(axis)) == 0u);
  }
  BOOST_TEST(image.differences(0, 0, 1, exchange) == 0u);
  BOOST_TEST(image.differences(1, 2, 1, exchange) == 0u);
  BOOST_TEST(image.differences(3, 3, 1, exchange) == 0u);
  // The negative control: the momentum along x is not even in x.
  BOOST_TEST(image.differences(1, 1, 1, flip(0)) > 0u);
}

BOOST_AUTO_TEST_CASE(a_central_blast_stays_symmetric_in_three_dimensions) {
  const auto run = start_run(central_blast(matter::gas_3d, false));
  run->advance(std::uint64_t(tests::cut_down(10, 1)));
  const mesh_snapshot mesh = run->snapshot();
  BOOST_TEST(leaves_of_levels(mesh).size() == 2u);
  const mirror image(mesh);
  for (const std::size_t axis : {0u, 1u, 2u}) {
    const auto flip = [axis](std::array<std::uint32_t, 3> at, std::uint32_t all) {
      at[axis] = all - 1 - at[axis];
      return at;
    };
    BOOST_TEST(image.differences(0, 0, 1, flip) == 0u);
    BOOST_TEST(image.differences(1 + axis, 1 + axis, -1, flip) == 0u);
    BOOST_TEST(image.differences(4, 4, 1, flip) == 0u);
  }
}

BOOST_AUTO_TEST_SUITE_END()
