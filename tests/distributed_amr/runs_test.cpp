// SPDX-License-Identifier: BSD-3-Clause
// Runs on several ranks have the same bits as a run in one process. mpirun starts 7 ranks; a test
// case uses communicators of the first ones.
#include <array>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <ramify/cluster/mpi.hpp>
#include <ramify/distributed_amr.cuh>
#include <string>

#include "compared_runs.cuh"
#include "exceptions.hpp"

namespace data = boost::unit_test::data;
using namespace tests;

BOOST_AUTO_TEST_SUITE(distributed_runs)

/// A criterion with buffer cells that the host sets.
struct buffered : criterion_of<gas> {
  int buffer_cells;
};

BOOST_AUTO_TEST_CASE(a_uniform_mesh_has_the_same_bits_on_any_number_of_ranks) {
  for (const bool subcycle : subcycling) {
    setting s = moving<gas>(subcycle);
    s.options.mesh.max_level = 0;
    compare<gas>(s, 3, {2, 7});
    s.options.mesh.roots = {2, 2, 1};  // three ranks have no block
    compare<gas>(s, 2, {7});
    s = moving<scalar>(subcycle);
    s.options.mesh.max_level = 0;
    compare<scalar>(s, 3, {3});
  }
}

BOOST_DATA_TEST_CASE(a_refined_mesh_that_never_changes, data::make(subcycling), subcycle) {
  setting s = moving<gas>(subcycle);
  s.options.regrid.every = 0;
  set_boundaries(s, ramify::boundary::reflecting);
  compare<gas>(s, 2, {3, 7});
}

BOOST_DATA_TEST_CASE(a_gas_in_2d_with_regrids, data::make(subcycling), subcycle) {
  compare<gas>(moving<gas>(subcycle), subcycle ? 5 : 12, {1, 2, 3, 4, 7});
}

BOOST_DATA_TEST_CASE(a_scalar_in_3d_with_regrids, data::make(subcycling), subcycle) {
  compare<scalar>(moving<scalar>(subcycle), subcycle ? 3 : 6, {subcycle ? 4 : 7});
}

BOOST_DATA_TEST_CASE(prescribed_sides_and_sources_on_ranks, data::make(subcycling), subcycle) {
  setting s = moving<scalar>(subcycle);
  set_boundaries(s, ramify::boundary::prescribed);
  s.slope[0] = 0.25;
  s.supply = 0.5;
  s.growth = 3;
  s.decay = 0.75;
  compare<scalar>(s, subcycle ? 3 : 6, {subcycle ? 3 : 7});
}

BOOST_AUTO_TEST_CASE(a_blast_smaller_than_a_cell_has_its_energy_on_any_number_of_ranks) {
  setting s;
  s.options.mesh.roots = {2, 1, 1};
  s.options.mesh.max_level = 3;
  for (auto& sides : s.options.mesh.sides) {
    sides = {ramify::boundary::outflow, ramify::boundary::outflow};
  }
  s.initial = initial_kind::blast;
  s.variable = 3;  // pressure
  s.width = 0.002;
  s.center[0] = 0.31;
  s.center[1] = 0.47;
  std::vector<double> expected;
  if (is_first()) {
    expected = start<gas>(s).totals();
    const double cold = 1e-5 / 0.4 * (1 - 3.14159265358979 * 4e-6);
    BOOST_TEST(std::abs(expected[3] / (0.311357 + cold) - 1) < 1e-13);
  }
  for (const int size : {2, 7}) {
    on_ranks(size, [&](communicator& ranks) {
      const auto totals = start<gas>(ranks, s).totals();
      if (ranks.rank() == 0) BOOST_TEST(totals == expected);
    });
  }
}

// Two streams that leave a vacuum: cells get fluxes of first order, and after each step a callback
// heats them.
BOOST_DATA_TEST_CASE(a_gas_with_fallbacks_and_a_callback, data::make(subcycling), subcycle) {
  using hot_gas = ramify::with_callback<ramify::with_positivity<gas>, heater>;
  setting s = moving<hot_gas>(subcycle);
  s.options.regrid.every = 0;
  s.options.step.cfl = 1;
  s.criterion = criterion_kind::corner;
  s.initial = initial_kind::tearing;
  s.center[0] = 0.2;
  s.amplitude = 20;
  s.velocity[1] = 0;
  if (is_first()) {
    auto run = start<hot_gas>(s);
    run.advance(1);
    BOOST_TEST(run.report().fallback_cells > 0u);
  }
  compare<hot_gas>(s, 6, {3, subcycle ? 4 : 7});
}

BOOST_DATA_TEST_CASE(buffer_cells_on_ranks, data::make(subcycling), subcycle) {
  using buffered = ramify::with_buffer<criterion_of<gas>, 2>;
  const setting s = moving<gas>(subcycle);
  const buffered criterion{criterion_of<gas>{s}};
  const std::uint64_t steps = subcycle ? 4 : 6;
  std::unique_ptr<result> expected;
  if (is_first()) {
    ramify::amr_run<gas, buffered, cells_along> run(gas{}, criterion, initial_state<gas>{s},
                                                    s.options);
    auto without = start<gas>(s);
    BOOST_TEST(run.report().leaves > without.report().leaves);
    run.advance(steps);
    expected = std::make_unique<result>(run);
  }
  on_ranks(subcycle ? 3 : 7, [&](communicator& ranks) {
    ramify::distributed_amr_run<gas, buffered, cells_along> run(ranks, gas{}, criterion,
                                                                initial_state<gas>{s}, s.options);
    run.advance(steps);
    const result found(run);
    if (ranks.rank() == 0) expect_same(*expected, found);
  });
}

// Parabolas read three layers of cells of other ranks.
BOOST_DATA_TEST_CASE(parabolas_on_ranks, data::make(subcycling), subcycle) {
  using parabolic = ramify::with_ppm<gas>;
  using criterion = criterion_of<parabolic>;
  constexpr int along = 8;
  const setting s = moving<gas>(subcycle);
  const initial_state<parabolic> initial{s};
  const std::uint64_t steps = subcycle ? 4 : 6;
  std::unique_ptr<result> expected;
  if (is_first()) {
    ramify::amr_run<parabolic, criterion, along> run(parabolic{}, criterion{s}, initial, s.options);
    run.advance(steps);
    BOOST_TEST(leaves_of_levels(run.snapshot()).size() > 1u);
    expected = std::make_unique<result>(run);
  }
  on_ranks(subcycle ? 3 : 7, [&](communicator& ranks) {
    ramify::distributed_amr_run<parabolic, criterion, along> run(ranks, parabolic{}, criterion{s},
                                                                 initial, s.options);
    run.advance(steps);
    const result found(run);
    if (ranks.rank() == 0) expect_same(*expected, found);
  });
}

// The negative control: other values have other bits.
BOOST_AUTO_TEST_CASE(another_time_step_changes_the_bits) {
  setting s = moving<gas>(false);
  on_ranks(2, [&](communicator& ranks) {
    auto a = start<gas>(ranks, s);
    s.options.step.cfl *= 1 + 1e-15;
    auto b = start<gas>(ranks, s);
    a.advance(4);
    b.advance(4);
    const auto mesh_of_a = a.snapshot();
    const auto mesh_of_b = b.snapshot();
    if (ranks.rank() == 0) BOOST_TEST(!same_bits(mesh_of_a, mesh_of_b));
  });
}

// ---- saved states ------------------------------------------------------------------------------

BOOST_DATA_TEST_CASE(a_state_continues_on_other_numbers_of_ranks, data::make(subcycling),
                     subcycle) {
  const setting s = moving<gas>(subcycle);
  std::unique_ptr<result> expected;
  amr_state of_one_process;
  amr_state of_four;
  amr_state of_three;
  if (is_first()) {
    auto run = start<gas>(s);
    run.advance(3);
    of_one_process = run.save();
    run.advance(5);
    expected = std::make_unique<result>(run);
  }
  const auto expect_state = [&](const amr_state& found) {
    BOOST_TEST((found.leaves == of_one_process.leaves));
    BOOST_TEST((found.idle == of_one_process.idle));
    BOOST_TEST((found.values == of_one_process.values));
    BOOST_TEST(found.next_regrid == of_one_process.next_regrid);
    BOOST_TEST(found.time == of_one_process.time);
  };
  on_ranks(4, [&](communicator& ranks) {
    auto run = start<gas>(ranks, s);
    run.advance(3);
    of_four = run.save();
    if (ranks.rank() != 0) return;
    expect_state(of_four);
  });
  // Four ranks to three, and one process to four ranks.
  for (const int size : {3, 4}) {
    on_ranks(size, [&](communicator& ranks) {
      auto run = resume<gas>(ranks, s, size == 3 ? of_four : of_one_process);
      BOOST_TEST(run.steps() == 3u);
      of_three = run.save();
      if (ranks.rank() == 0) expect_state(of_three);
      run.advance(5);
      const result found(run);
      if (ranks.rank() == 0) expect_same(*expected, found);
    });
  }
  if (!is_first()) return;
  auto run = resume<gas>(s, of_four);  // four ranks to one process
  run.advance(5);
  expect_same(*expected, result(run));
}

BOOST_AUTO_TEST_CASE(a_bad_state_is_refused_on_all_ranks) {
  const setting s = moving<gas>(false);
  on_ranks(3, [&](communicator& ranks) {
    auto run = start<gas>(ranks, s);
    const amr_state good = run.save();
    const auto expect = [&](const amr_state& state, const std::string& text) {
      BOOST_CHECK_EXCEPTION(resume<gas>(ranks, s, state), std::invalid_argument, names(text));
    };
    amr_state bad = good;
    if (ranks.rank() == 0) bad.values.pop_back();
    expect(bad, "amr_state.values.size()");
    bad = good;
    if (ranks.rank() == 0) std::swap(bad.leaves[0], bad.leaves[1]);
    if (ranks.rank() == 0) bad.leaves[1] = bad.leaves[0];
    expect(bad, "leaf 1 occurs twice");
    auto again = resume<gas>(ranks, s, good);  // the ranks still agree
    again.advance(1);
    BOOST_TEST(again.steps() == 1u);
  });
}

// ---- errors ------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(options_that_need_launches_by_kernels_are_refused) {
  on_ranks(2, [&](communicator& ranks) {
    const auto expect = [&](const std::function<void(setting&)>& change, const std::string& text) {
      setting s = moving<gas>(false);
      change(s);
      BOOST_CHECK_EXCEPTION(start<gas>(ranks, s), std::invalid_argument, names(text));
    };
    expect([](setting& s) { s.env.route = ramify::route::device; },
           "environment.route is device; it must be automatic or flat");
    expect([](setting& s) { s.env.flat_loop = ramify::flat_loop::graph; },
           "environment.flat_loop is graph; it must be automatic or host");
    expect([](setting& s) { s.options.step.cfl = 2; }, "amr_options.step.cfl");
    setting on_gpu = moving<gas>(false);
    on_gpu.env.backend = ramify::backend::cuda;
    BOOST_CHECK_EXCEPTION(start<gas>(ranks, on_gpu), ramify::unavailable,
                          names("compiled for cpu"));
    auto run = start<gas>(ranks, moving<gas>(false));
    BOOST_CHECK_EXCEPTION(run.advance(1, std::nan("")), std::invalid_argument, names("stop_time"));
    run.advance_to(0.001);
    BOOST_TEST(run.time() == 0.001);
  });
}

BOOST_AUTO_TEST_CASE(bad_buffer_cells_are_named_on_all_ranks) {
  on_ranks(3, [&](communicator& ranks) {
    const setting s = moving<gas>(false);
    const auto refuse = [&](int cells, const std::string& text) {
      using run_type = ramify::distributed_amr_run<gas, buffered, cells_along>;
      const buffered criterion{criterion_of<gas>{s}, cells};
      BOOST_CHECK_EXCEPTION(run_type(ranks, gas{}, criterion, initial_state<gas>{s}, s.options),
                            std::invalid_argument, names("criterion.buffer_cells is " + text));
    };
    refuse(cells_along + 1, std::to_string(cells_along + 1) + "; it must be in [0, ");
    refuse(-1, "-1; it must be in [0, ");
    refuse(ranks.rank() == 2 ? 0 : 2, "'2' on rank 0, but '0' on rank 2");
  });
}

BOOST_AUTO_TEST_CASE(a_setting_that_differs_is_named_on_all_ranks) {
  on_ranks(3, [&](communicator& ranks) {
    setting s = moving<gas>(false);
    if (ranks.rank() == 2) s.options.mesh.max_level += 1;
    BOOST_CHECK_EXCEPTION(start<gas>(ranks, s), std::invalid_argument,
                          names("amr_options.mesh.max_level is '"));
    auto run = start<gas>(ranks, moving<gas>(false));
    BOOST_CHECK_EXCEPTION(run.advance(ranks.rank() == 2 ? 1 : 2), std::invalid_argument,
                          names("distributed_amr_run: steps is '2' on rank 0, but '1' on rank 2"));
    run.advance(1);
    BOOST_TEST(run.steps() == 1u);
  });
}

// The other ranks are exchanging values when rank 1 throws.
BOOST_AUTO_TEST_CASE(an_exception_on_one_rank_ends_the_run_on_all) {
  std::string found;
  on_ranks(3, [&](communicator& all) {
    try {
      all.run([&] {
        auto run = start<gas>(all, moving<gas>(false));
        if (all.rank() == 1) throw std::runtime_error("no more patience");
        run.advance(1000);
      });
    } catch (const ramify::cluster_error& e) {
      found = e.what();
      BOOST_TEST(e.rank() == 1);
    }
    BOOST_TEST(found.find("no more patience") != std::string::npos);
  });
}

BOOST_AUTO_TEST_CASE(an_invalid_cell_is_named_on_all_ranks) {
  setting s = moving<gas>(false);
  s.initial = initial_kind::poisoned;
  s.center[0] = 0.3;
  s.center[1] = 0.8;
  s.width = 0.2;
  s.options.mesh.max_level = 0;
  const auto expect_same_fault = [&](const std::string& reason) {
    std::string expected;
    try {
      start<gas>(s);
    } catch (const amr_error& e) {
      expected = e.what();
    }
    BOOST_TEST(expected.find(reason) != std::string::npos);
    on_ranks(3, [&](communicator& ranks) {
      const auto same = [&](const amr_error& e) {
        // NaN may be printed with either sign.
        const std::string found = e.what();
        BOOST_TEST(found == expected);
        return found == expected;
      };
      BOOST_CHECK_EXCEPTION(start<gas>(ranks, s), amr_error, same);
    });
  };
  expect_same_fault("is invalid");
  s.initial = initial_kind::pulses;
  s.unit = 1e-12;  // some densities are below the floor, others are not
  expect_same_fault("below a floor of the physics");
}

BOOST_AUTO_TEST_CASE(a_full_mesh_ends_the_run_on_all_ranks_and_its_state_is_that_before) {
  setting s = moving<gas>(false);
  // The next regrids need more than three blocks in addition.
  std::unique_ptr<result> expected;
  amr_state state;
  std::size_t blocks = 0;
  if (is_first()) blocks = start<gas>(s).report().blocks;
  s.options.mesh.max_blocks = everyone().broadcast(blocks, 0) + 3;
  if (is_first()) {
    auto run = start<gas>(s);
    BOOST_CHECK_THROW(run.advance(100), amr_error);
    expected = std::make_unique<result>(run);
    state = run.save();
    BOOST_TEST(run.steps() > 0u);
  }
  on_ranks(3, [&](communicator& ranks) {
    auto run = start<gas>(ranks, s);
    BOOST_CHECK_EXCEPTION(run.advance(100), amr_error, names("amr_options.mesh.max_blocks"));
    const result found(run);
    const amr_state saved = run.save();
    if (ranks.rank() != 0) return;
    expect_same(*expected, found);
    BOOST_TEST((saved.values == state.values));
    BOOST_TEST((saved.idle == state.idle));
    BOOST_TEST(saved.next_regrid == state.next_regrid);
  });
}

BOOST_AUTO_TEST_SUITE_END()
