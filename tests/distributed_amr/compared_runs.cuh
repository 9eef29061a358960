// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Runs of one setting on several ranks and in one process, and their comparison.

#include <boost/test/unit_test.hpp>
#include <functional>
#include <ramify/cluster/mpi.hpp>
#include <ramify/distributed_amr.cuh>
#include <vector>

#include "functors.cuh"
#include "mesh_checks.hpp"

namespace tests {

/// What must be equal: of a run in one process, or of one on several ranks.
struct result {
  ramify::mesh_snapshot mesh;
  std::vector<double> totals;
  ramify::amr_report report;

  template <class Run>
  explicit result(const Run& run)
      : mesh(run.snapshot()), totals(run.totals()), report(run.report()) {}
};

using ramify::amr_error;
using ramify::amr_state;
using ramify::communicator;

constexpr int max_ranks = 7;
constexpr int cells_along = 4;
using gas = ramify::euler<double, 2>;
using scalar = scalar_of<3>;

template <class Physics>
using run_here = ramify::amr_run<Physics, criterion_of<Physics>, cells_along>;
template <class Physics>
using run_on_ranks = ramify::distributed_amr_run<Physics, criterion_of<Physics>, cells_along>;

template <class Physics>
run_here<Physics> start(const setting& s) {
  return {physics_of(s, static_cast<const Physics*>(nullptr)), criterion_of<Physics>{s},
          initial_state<Physics>{s}, s.options, s.env};
}
template <class Physics>
run_here<Physics> resume(const setting& s, const amr_state& state) {
  return {physics_of(s, static_cast<const Physics*>(nullptr)), criterion_of<Physics>{s}, state,
          s.options, s.env};
}
template <class Physics>
run_on_ranks<Physics> start(communicator& ranks, const setting& s) {
  return {ranks,
          physics_of(s, static_cast<const Physics*>(nullptr)),
          criterion_of<Physics>{s},
          initial_state<Physics>{s},
          s.options,
          s.env};
}
template <class Physics>
run_on_ranks<Physics> resume(communicator& ranks, const setting& s, const amr_state& state) {
  return {ranks,
          physics_of(s, static_cast<const Physics*>(nullptr)),
          criterion_of<Physics>{s},
          state,
          s.options,
          s.env};
}

/// All ranks. Waiting in it takes no processor time.
inline communicator& everyone() {
  static communicator all({.backend = ramify::backend::cpu});
  return all;
}
inline bool is_first() { return everyone().rank() == 0; }

/// Calls work(ranks) on the first `size` ranks; the others wait.
inline void on_ranks(int size, const std::function<void(communicator&)>& work) {
  everyone().barrier();
  const bool takes_part = everyone().rank() < size;
  MPI_Comm some = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, takes_part ? 0 : MPI_UNDEFINED, 0, &some);
  if (takes_part) {
    try {
      communicator ranks = ramify::communicator_of(some, {.backend = ramify::backend::cpu});
      work(ranks);
    } catch (const std::exception& e) {  // the other ranks wait below
      BOOST_ERROR(e.what());
    }
    MPI_Comm_free(&some);
  }
  everyone().barrier();
}

/// Blocks are refined and coarsened where the gas or the scalar moves, and no part of the domain is
/// uniform: a value that a rank fails to send changes the result.
template <class Physics>
setting moving(bool subcycle) {
  constexpr bool is_gas = Physics::variables > 1;
  setting s;
  s.options.step.subcycle = subcycle;
  s.options.mesh.roots = {4, is_gas ? 4u : 2u, 1};
  if (!is_gas) s.options.mesh.upper = {1, 0.5, 0.25};
  s.options.mesh.max_level = 2;
  s.options.regrid = {.refine_above = 0.5, .coarsen_below = 0.49, .patience = 1, .every = 2};
  if (subcycle) s.options.regrid.every = 1;
  s.criterion = criterion_kind::value;
  s.scale = 10;
  s.initial = is_gas ? initial_kind::pulses : initial_kind::gaussian;
  s.level = is_gas ? 1 : 0;
  s.offset = is_gas ? 1.25 : 0.75;
  s.width = 0.12;
  for (const int axis : {0, 1, 2}) {
    s.center[axis] = std::array{0.32, 0.2, 0.1}[std::size_t(axis)];
    s.velocity[axis] = std::array{10.0, 1.0, 0.5}[std::size_t(axis)];
  }
  return s;
}

inline void expect_same(const result& here, const result& on_ranks) {
  BOOST_TEST(here.totals == on_ranks.totals);
  BOOST_TEST(same_bits(here.mesh, on_ranks.mesh));
  BOOST_TEST(here.report.time == on_ranks.report.time);
  BOOST_TEST(here.report.steps == on_ranks.report.steps);
  BOOST_TEST(here.report.cell_updates == on_ranks.report.cell_updates);
  BOOST_TEST(here.report.fallback_cells == on_ranks.report.fallback_cells);
  BOOST_TEST(here.report.floored_cells == on_ranks.report.floored_cells);
  BOOST_TEST(here.report.regrids == on_ranks.report.regrids);
  BOOST_TEST(here.report.refined == on_ranks.report.refined);
  BOOST_TEST(here.report.coarsened == on_ranks.report.coarsened);
  BOOST_TEST(here.report.leaves == on_ranks.report.leaves);
  BOOST_TEST(here.report.blocks == on_ranks.report.blocks);
  BOOST_TEST(here.report.finest_level == on_ranks.report.finest_level);
}

/// Compares runs on `sizes` ranks with a run in one process.
template <class Physics>
void compare(const setting& s, std::uint64_t steps, const std::vector<int>& sizes) {
  const bool regrids = s.options.mesh.max_level > 0 && s.options.regrid.every > 0;
  std::unique_ptr<result> expected;
  if (is_first()) {
    auto run = start<Physics>(s);
    run.advance(steps);
    expected = std::make_unique<result>(run);
    BOOST_TEST((expected->report.refined > 0) == (s.options.mesh.max_level > 0));
    BOOST_TEST((expected->report.coarsened > 0 || !regrids || Physics::dimensions == 3));
  }
  for (const int size : sizes) {
    on_ranks(size, [&](communicator& ranks) {
      BOOST_TEST_CONTEXT(size << " ranks") {
        auto run = start<Physics>(ranks, s);
        run.advance(steps - 1);
        run.advance(1);
        const result found(run);
        const auto report = run.report();
        if (ranks.rank() == 0) expect_same(*expected, found);
        BOOST_TEST((found.mesh.values.empty() == (ranks.rank() != 0)));
        BOOST_TEST((report.taken == ramify::route::flat));
        BOOST_TEST(report.route_reason == "the host communicates between grids");
        BOOST_TEST(report.cluster.ranks == size);
        BOOST_TEST((report.cluster.bytes_sent > 0) == (size > 1));
        BOOST_TEST(report.cost_imbalance >= 1.0);
        BOOST_TEST(report.cost_imbalance < 2.0);
        BOOST_TEST((report.halo_blocks > 0) == (size > 1));
        if (regrids) BOOST_TEST((report.moved_blocks > 0) == (size > 1));
      }
    });
  }
}

}  // namespace tests
