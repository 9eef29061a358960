// SPDX-License-Identifier: BSD-3-Clause
// Faults of a run name the place, or the field of the options or the environment.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <functional>
#include <limits>

#include "exceptions.hpp"
#include "mesh_checks.hpp"
#include "printing.hpp"

namespace data = boost::unit_test::data;
using ramify::amr_error;
using ramify::boundary;
using ramify::route;
using namespace tests;

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

BOOST_AUTO_TEST_SUITE(faults, *boost::unit_test::precondition(not_under_thread_sanitizer))

// The gas of these runs has no optional members.
BOOST_AUTO_TEST_CASE(a_prescribed_side_without_a_member_that_computes_it_is_rejected) {
  setting s;
  s.options.mesh.sides[1] = {boundary::outflow, boundary::prescribed};
  BOOST_CHECK_EXCEPTION((void)start_run(s), std::invalid_argument,
                        names("amr_options.mesh.sides[1] is prescribed; it must be another "
                              "condition: this physics has no member ghost_state()"));
}

BOOST_DATA_TEST_CASE(an_invalid_initial_state_is_reported_with_its_place, data::make(routes),
                     taken) {
  setting s;
  s.env.route = taken;
  s.options.mesh.max_level = 1;
  s.initial = initial_kind::poisoned;
  s.center[0] = 0.8125;  // the center of cell (6, 2) of a block of 8
  s.center[1] = 0.3125;
  s.width = 0.01;
  BOOST_CHECK_EXCEPTION((void)start_run(s), amr_error,
                        names("(0.812500, 0.312500), level 0, is invalid: density"));
  BOOST_TEST(launch_slots_in_use() == 0u);
}

// A gas of about 1e-24: floors for another unit would replace its density and its pressure.
BOOST_DATA_TEST_CASE(an_initial_state_below_a_floor_is_reported,
                     data::make(routes) * data::make(subcycling), taken, subcycle) {
  setting s;
  s.env.route = taken;
  s.options.step.subcycle = subcycle;
  s.options.mesh.max_level = 1;
  s.criterion = criterion_kind::corner;
  s.initial = initial_kind::pulses;
  s.unit = 0x1p-80;
  BOOST_CHECK_EXCEPTION((void)start_run(s), amr_error,
                        names("(0.031250, 0.031250), level 1, is below a floor of the physics: "));
  // The density is above its floor, and the pressure is not.
  s.initial = initial_kind::tearing;
  s.unit = 5e-12;
  BOOST_CHECK_EXCEPTION((void)start_run(s), amr_error,
                        names("density 5e-12 (density_floor 1e-12), pressure 5e-15"));
  BOOST_TEST(launch_slots_in_use() == 0u);
}

// Powers of two scale a flow without rounding.
BOOST_AUTO_TEST_CASE(a_gas_in_other_units_has_the_same_flow) {
  setting s;
  s.options.mesh.max_level = 2;
  s.criterion = criterion_kind::corner;
  s.initial = initial_kind::pulses;
  const auto run = start_run(s);
  run->advance(5);
  const auto expected = run->snapshot();
  s.unit = 0x1p-80;
  s.floor = 0x1p-120;
  const auto light = start_run(s);
  light->advance(5);
  const auto found = light->snapshot();
  BOOST_TEST(light->time() == run->time());
  BOOST_TEST(found.leaves.size() == 7u);
  BOOST_REQUIRE(found.values.size() == expected.values.size());
  std::size_t different = 0;
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    if (found.values[i] != expected.values[i] * s.unit) ++different;
  }
  BOOST_TEST(different == 0u);
}

// The square of the velocity overflows, or the pressure is lost in the kinetic energy.
BOOST_DATA_TEST_CASE(an_initial_state_that_overflows_is_reported, data::make(routes), taken) {
  setting s;
  s.env.route = taken;
  s.velocity[0] = 1e200;
  BOOST_CHECK_EXCEPTION(
      (void)start_run(s), amr_error,
      names("is invalid: density 1, momentum_x 1e+200, momentum_y 0, energy inf"));
  s.velocity[0] = 1e150;
  BOOST_CHECK_EXCEPTION((void)start_run(s), amr_error, names("energy 5e+299; step 0"));
  s.velocity[0] = 0;
  s.unit = 1e308;  // the energy
  BOOST_CHECK_EXCEPTION((void)start_run(s), amr_error, names("energy inf; step 0"));
}

// Two streams move apart so fast that they leave a vacuum: a step that is too long takes more out
// of a cell than there was.
BOOST_DATA_TEST_CASE(a_state_that_becomes_invalid_is_reported_with_its_place,
                     data::make(routes) * data::make({false, true}), taken, subcycle) {
  setting s;
  s.env.route = taken;
  s.options.step.subcycle = subcycle;
  s.options.step.cfl = 1;
  s.options.mesh.max_level = 1;
  s.options.mesh.roots = {2, 1, 1};
  s.options.mesh.upper = {2, 1, 1};
  set_boundaries(s, boundary::outflow);
  s.initial = initial_kind::tearing;
  s.center[0] = 0.96875;
  s.amplitude = 20;
  const auto run = start_run(s);
  std::string messages[2];
  for (std::string& text : messages) {  // the run stays at that step
    try {
      run->advance(200);
    } catch (const amr_error& e) {
      text = e.what();
    }
  }
  BOOST_TEST_MESSAGE(messages[0]);
  BOOST_TEST(messages[0].find("the state at (") == 0u);
  BOOST_TEST(messages[0].find("is invalid: density ") != std::string::npos);
  BOOST_TEST(messages[0].find("; step ") != std::string::npos);
  BOOST_TEST(messages[0] == messages[1]);
  BOOST_TEST(launch_slots_in_use() == 0u);
}

BOOST_AUTO_TEST_CASE(where_nothing_moves_there_is_no_time_step) {
  setting s;
  s.matter = matter::scalar_2d;
  const auto run = start_run(s);
  BOOST_CHECK_EXCEPTION(run->advance(1), amr_error, names("there is no time step at step 0"));
  run->advance_to(1);  // with a stop time it has one
  BOOST_TEST(run->time() == 1);
  BOOST_TEST(run->steps() == 1u);
  BOOST_CHECK_EXCEPTION(run->advance_to(no_number), std::invalid_argument,
                        names("stop_time is nan; it must be a number"));
  BOOST_TEST(run->steps() == 1u);
}

BOOST_AUTO_TEST_CASE(each_field_of_the_options_is_validated) {
  using change = std::function<void(ramify::amr_options&)>;
  const auto refuse = [](matter what, const std::string& reason, const change& spoil) {
    setting s;
    s.matter = what;
    spoil(s.options);
    BOOST_CHECK_EXCEPTION((void)start_run(s), std::invalid_argument, names(reason));
  };
  const auto refuse_2d = [&](const std::string& reason, const change& spoil) {
    refuse(matter::scalar_2d, reason, spoil);
  };
  using ramify::amr_options;
  refuse_2d("roots[0] is 0", [](amr_options& o) { o.mesh.roots[0] = 0; });
  refuse_2d("roots[1] is 4097", [](amr_options& o) { o.mesh.roots[1] = 4097; });
  refuse_2d("10^7 blocks", [](amr_options& o) { o.mesh.roots = {4096, 4096, 1}; });
  refuse(matter::scalar_3d, "roots[2] is 0", [](amr_options& o) { o.mesh.roots[2] = 0; });
  refuse_2d("lower[0] is nan", [](amr_options& o) { o.mesh.lower[0] = no_number; });
  refuse_2d("upper[1] is 0", [](amr_options& o) { o.mesh.upper[1] = 0; });
  refuse_2d("upper[1] is 1e+300; it must be in [-1e90, 1e90]",
            [](amr_options& o) { o.mesh.upper[1] = 1e300; });
  refuse_2d("upper[1] is inf", [](amr_options& o) { o.mesh.upper[1] = infinity; });
  refuse_2d("sides[0]", [](amr_options& o) { o.mesh.sides[0][0] = boundary::outflow; });
  refuse_2d("sides[1] is 7", [](amr_options& o) { o.mesh.sides[1][1] = boundary(7); });
  refuse_2d("balance is none of the enumerators",
            [](amr_options& o) { o.mesh.balance = ramify::balance(5); });
  refuse_2d("max_level is -1", [](amr_options& o) { o.mesh.max_level = -1; });
  refuse_2d("max_level is 19", [](amr_options& o) { o.mesh.max_level = 19; });
  refuse_2d("max_blocks is 3", [](amr_options& o) {
    o.mesh.roots = {2, 2, 1};
    o.mesh.max_blocks = 3;
  });
  refuse_2d("refine_above is -1", [](amr_options& o) { o.regrid.refine_above = -1; });
  refuse_2d("refine_above is nan", [](amr_options& o) { o.regrid.refine_above = no_number; });
  refuse_2d("coarsen_below is 2", [](amr_options& o) { o.regrid.coarsen_below = 2; });
  refuse_2d("coarsen_below is nan", [](amr_options& o) { o.regrid.coarsen_below = no_number; });
  refuse_2d("patience is 0", [](amr_options& o) { o.regrid.patience = 0; });
  refuse_2d("cfl is 0", [](amr_options& o) { o.step.cfl = 0; });
  refuse_2d("cfl is 1.5", [](amr_options& o) { o.step.cfl = 1.5; });
  refuse_2d("cfl is nan", [](amr_options& o) { o.step.cfl = no_number; });
  refuse_2d("limiter is none of the enumerators",
            [](amr_options& o) { o.step.limiter = ramify::limiter(9); });
  // In two dimensions the third axis is not read.
  setting s;
  s.matter = matter::scalar_2d;
  s.options.mesh.roots[2] = 0;
  s.options.mesh.upper[2] = no_number;
  BOOST_TEST(start_run(s)->report().leaves == 1u);
}

BOOST_AUTO_TEST_CASE(the_environment_is_validated) {
  const auto refuse = [](const std::string& reason, const ramify::environment& env) {
    setting s;
    s.matter = matter::scalar_2d;
    s.env = env;
    BOOST_CHECK_EXCEPTION((void)start_run(s), std::invalid_argument, names(reason));
  };
  refuse("environment.route is none of the enumerators", {.route = route(9)});
  refuse("environment.flat_loop is none of the enumerators",
         {.flat_loop = static_cast<ramify::flat_loop>(7)});
  std::byte memory[1]{};
  refuse("environment.memory must be empty", {.memory = {memory, sizeof memory}});
}

BOOST_AUTO_TEST_SUITE_END()
