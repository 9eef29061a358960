// SPDX-License-Identifier: BSD-3-Clause
// Between steps: the callback of a physics, and the leaves for kernels of the caller.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <ramify/amr.cuh>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/launch.cuh>

#include "device_vectors.cuh"
#include "functors.cuh"
#include "mesh_checks.hpp"
#include "printing.hpp"

namespace data = boost::unit_test::data;
using namespace ramify;
using namespace tests;

namespace {

/// What an observer has seen.
struct observations {
  unsigned long long calls;
  unsigned long long of_wrong_cells;
  double last_time;
};

/// Counts its calls. In a cell of the wrong size, or at a wrong time, it counts a fault.
struct observer {
  observations* seen;

  __device__ void operator()(const euler<double, 2>&, const state<double, 4>& u,
                             const double (&where)[2], const double (&edges)[2],
                             double time) const {
    atomicAdd(&seen->calls, 1ull);
    const double cells = where[0] / edges[0] - 0.5;  // between this cell and the side
    const bool is_right = std::fabs(cells - std::round(cells)) < 1e-9 && u[0] > 0 &&
                          time >= seen->last_time && 0 < where[1] && where[1] < 1;
    if (!is_right) atomicAdd(&seen->of_wrong_cells, 1ull);
    seen->last_time = time;  // the same for all threads of a step
  }
};

template <class Callback>
using called_back = with_callback<euler<double, 2>, Callback>;
template <class Callback>
using run_with = amr_run<called_back<Callback>, criterion_of<called_back<Callback>>, 8>;

template <class Callback>
run_with<Callback> start_with(const Callback& callback, const setting& s) {
  using physics = called_back<Callback>;
  return {physics{{}, callback}, criterion_of<physics>{s}, initial_state<physics>{s}, s.options,
          s.env};
}

static_assert(detail::amr::only_observes<called_back<observer>>);
static_assert(detail::amr::has_after_step<called_back<heater>>);
static_assert(!detail::amr::only_observes<called_back<heater>>);
static_assert(mesh_physics<called_back<heater>>);

/// Heats the cells of a saved state as heater does.
amr_state heated(amr_state saved, std::size_t cells) {
  std::vector<double> values(saved.values.size() / sizeof(double));
  std::memcpy(values.data(), saved.values.data(), saved.values.size());
  for (std::size_t leaf = 0; leaf < saved.leaves.size(); ++leaf) {
    double* u = &values[leaf * 4 * cells];
    for (std::size_t cell = 0; cell < cells; ++cell) u[3 * cells + cell] += 0.25 * u[cell];
  }
  std::memcpy(saved.values.data(), values.data(), saved.values.size());
  return saved;
}

// ---- kernels of a caller ----

/// Adds the mass of all leaves, and compares places with those that a snapshot has.
template <class Leaves>
__global__ void measure(Leaves leaves, double* mass, const double* first_centers,
                        unsigned long long* wrong) {
  const unsigned leaf = blockIdx.x;
  for (int cell = static_cast<int>(threadIdx.x); cell < Leaves::cells;
       cell += static_cast<int>(blockDim.x)) {
    atomicAdd(mass, leaves.conserved(leaf, cell)[0] * leaves.volume(leaf));
  }
  if (threadIdx.x != 0) return;
  double where[2];
  leaves.center(leaf, 0, where);
  const bool is_right = std::fabs(where[0] - first_centers[2 * leaf]) < 1e-14 &&
                        std::fabs(where[1] - first_centers[2 * leaf + 1]) < 1e-14;
  if (!is_right) atomicAdd(wrong, 1ull);
}

/// Counts the differences in the stencils that are not those of a linear field. Cells at the sides
/// of the domain are left out.
template <class Leaves>
__global__ void compare_slopes(Leaves leaves, double slope_x, double slope_y,
                               unsigned long long* wrong) {
  for (int cell = static_cast<int>(threadIdx.x); cell < Leaves::cells;
       cell += static_cast<int>(blockDim.x)) {
    double where[2];
    leaves.center(blockIdx.x, cell, where);
    const auto around = leaves.stencil(blockIdx.x, cell);
    const double slopes[2] = {slope_x, slope_y};
    const double margin = 2 * leaves.width(blockIdx.x, 0);
    for (int axis = 0; axis < 2; ++axis) {
      const double width = leaves.width(blockIdx.x, axis);
      if (where[0] < margin || where[0] > 1 - margin) continue;
      if (where[1] < margin || where[1] > 1 - margin) continue;
      // A ghost cell in a coarser leaf has the size of the cell.
      const double above = around.right[axis][0] - around.here[0];
      const double below = around.here[0] - around.left[axis][0];
      const double expected = slopes[axis] * width;
      if (std::fabs(above - expected) > 1e-12 || std::fabs(below - expected) > 1e-12) {
        atomicAdd(wrong, 1ull);
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(between_steps, *boost::unit_test::precondition(not_under_thread_sanitizer))

BOOST_DATA_TEST_CASE(an_observer_sees_each_cell_after_each_step,
                     data::make(routes) * data::make(subcycling), taken, subcycle) {
  setting s = lively(matter::gas_2d, subcycle);
  s.env.route = taken;
  s.options.regrid.every = 0;  // the number of cells stays
  s.options.mesh.upper[0] = 2;
  const auto seen = zeros<observations>(1);
  auto run = start_with(observer{seen.data()}, s);
  BOOST_TEST(download(seen)[0].calls == 0u);
  for (const std::uint64_t steps : {3, 0, 1}) run.advance(steps);
  const observations found = download(seen)[0];
  BOOST_TEST(found.calls == 4 * run.report().leaves * 64);
  BOOST_TEST(found.of_wrong_cells == 0u);
  BOOST_TEST(found.last_time == run.time());
  BOOST_TEST(run.report().finest_level > 0);

  // It changes nothing.
  s.env.route = route::flat;
  const auto plain = start_run(s);
  plain->advance(4);
  BOOST_TEST(same_bits(plain->snapshot(), run.snapshot()));
}

// The oracle heats saved states on the host, and continues from them. Coarse leaves read averages
// of finer ones, also those that the callback has changed.
BOOST_DATA_TEST_CASE(a_callback_changes_values_as_if_they_were_saved_and_restored,
                     data::make(subcycling), subcycle) {
  setting s = lively(matter::gas_2d, subcycle);
  s.options.regrid.every = 0;  // a call of advance() ends with the regrid that is due
  const std::uint64_t steps = effort() < 1 ? 2 : 4;
  std::unique_ptr<any_run> expected = start_run(s);
  for (std::uint64_t step = 0; step < steps; ++step) {
    expected->advance(1);
    expected = resume_run(s, heated(expected->save(), 64));
  }
  BOOST_TEST(expected->report().finest_level > 0);
  for (const route taken : routes) {
    setting again = s;
    again.env.route = taken;
    auto run = start_with(heater{}, again);
    run.advance(steps);
    BOOST_TEST((run.report().taken == taken));
    BOOST_TEST(same_bits(expected->snapshot(), run.snapshot()));
    BOOST_TEST(run.report().refined > 0u);
  }
}

/// Checks that the launch slots of a phase suffice if two tasks take a step of 6 levels, and its
/// callback has grids of its own, however late slots are free.
template <class Callback>
void expect_enough_slots(const Callback& callback, unsigned grids_of_callback) {
  setting s;
  s.initial = initial_kind::pulses;
  s.criterion = criterion_kind::point;
  s.options.step.subcycle = true;
  s.options.mesh.roots = {1, 1, 1};
  s.options.mesh.max_level = 5;
  s.options.regrid.every = 1;
  const auto take = [&](route taken, std::size_t pool, auto use) {
    s.env.route = taken;
    auto run = start_with(callback, s);
    const shrinking_pool shrinks(pool);
    run.advance(2);
    use(run);
  };
  mesh_snapshot expected;
  take(route::flat, 0, [&](const auto& run) { expected = run.snapshot(); });
  BOOST_TEST(leaves_of_levels(expected).size() == 6u);
  const ramify::cpu::scoped_executor_config late(ramify::cpu::parse_executor_config("late"));
  const auto with_pool = [&](std::size_t pool) {
    amr_report report;
    take(route::device, pool, [&](const auto& run) {
      BOOST_TEST(same_bits(expected, run.snapshot()));
      report = run.report();
    });
    return report;
  };
  const amr_report whole = with_pool(0);
  using program =
      detail::amr::run_view<called_back<Callback>, 8, criterion_of<called_back<Callback>>>;
  BOOST_TEST(detail::amr::callback_grids<program> == grids_of_callback);
  BOOST_TEST(whole.peak_slots == detail::amr::slots_of_phase<program>(5, true) + 1);  // the driver
  BOOST_TEST(with_pool(whole.peak_slots).host_grids == whole.host_grids);
  // Negative control: launches fail in a pool that is too small.
  BOOST_TEST(with_pool(whole.peak_slots / 3).host_grids > whole.host_grids);
}

BOOST_AUTO_TEST_CASE(launch_slots_suffice_for_the_grids_of_a_callback) {
  if (!runs_on_cpu()) return;
  const auto seen = zeros<observations>(1);
  expect_enough_slots(observer{seen.data()}, 1);
  if (effort() < 1) return;
  expect_enough_slots(heater{}, 2);
}

BOOST_AUTO_TEST_CASE(kernels_read_leaves) {
  setting s = lively(matter::gas_2d, false);
  auto run = start_with(heater{}, s);
  run.advance(3);
  const mesh_snapshot mesh = run.snapshot();
  std::vector<double> centers;
  for (std::size_t leaf = 0; leaf < mesh.leaves.size(); ++leaf) {
    const auto where = cell_center(mesh, leaf, 0);
    centers.insert(centers.end(), {where[0], where[1]});
  }
  const auto expected = upload(centers);
  const auto leaves = run.leaves();
  BOOST_TEST(leaves.count == mesh.leaves.size());
  const auto mass = zeros<double>(1);
  const auto wrong = zeros<unsigned long long>(1);
  check(launch(measure<decltype(run.leaves())>, {leaves.count, 32}, cudaStream_t{}, leaves,
               mass.data(), static_cast<const double*>(expected.data()), wrong.data())
            .code(),
        "measuring leaves");
  BOOST_TEST(std::abs(download(mass)[0] / run.totals()[0] - 1) < 1e-13);
  BOOST_TEST(download(wrong)[0] == 0u);
}

BOOST_AUTO_TEST_CASE(stencils_of_leaves_continue_across_levels) {
  using scalar = scalar_of<2>;
  setting s;
  s.options.mesh.max_level = 2;
  s.criterion = criterion_kind::corner;
  s.initial = initial_kind::linear;
  s.slope[0] = 0.5;
  s.slope[1] = -0.25;
  const auto wrong_slopes = [&](double slope) {
    const amr_run<scalar, criterion_of<scalar>, 4> run(
        physics_of(s, static_cast<const scalar*>(nullptr)), criterion_of<scalar>{s},
        initial_state<scalar>{s}, s.options);
    BOOST_TEST(run.report().finest_level == 2);
    const auto leaves = run.leaves();
    const auto wrong = zeros<unsigned long long>(1);
    check(launch(compare_slopes<decltype(run.leaves())>, {leaves.count, 32}, cudaStream_t{}, leaves,
                 slope, -0.25, wrong.data())
              .code(),
          "comparing slopes");
    return download(wrong)[0];
  };
  BOOST_TEST(wrong_slopes(0.5) == 0u);
  BOOST_TEST(wrong_slopes(0.5001) > 0u);
}

BOOST_AUTO_TEST_SUITE_END()
