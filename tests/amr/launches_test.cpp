// SPDX-License-Identifier: BSD-3-Clause
// Launches of the phases of a run: failed launches, asynchronous steps, a mesh that has no memory
// left, loops of graphs, captured steps.
#include <atomic>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <limits>
#include <new>
#include <ramify/runtime/error.hpp>
#include <stdexcept>
#include <string>

#include "exceptions.hpp"
#include "failed_launches.hpp"
#include "mesh_checks.hpp"
#include "printing.hpp"

#if !RAMIFY_ON_CUDA && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TEST_LIMITS_ALLOCATIONS 1
namespace {
std::atomic<std::size_t> largest_allocation = std::numeric_limits<std::size_t>::max();
}

// The executor allocates device memory with these operators.
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  if (bytes > largest_allocation) return nullptr;
  const auto unit = static_cast<std::size_t>(alignment);
  return std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
}
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
#endif

namespace data = boost::unit_test::data;
using ramify::amr_report;
using ramify::flat_loop;
using ramify::mesh_snapshot;
using ramify::route;
using namespace tests;

namespace {

setting small(route taken, bool subcycle, matter what = matter::scalar_2d) {
  setting s = lively(what, subcycle);
  s.env.route = taken;
  return s;
}

mesh_snapshot after(const setting& s, std::uint64_t steps) {
  const auto run = start_run(s);
  run->advance(steps);
  return run->snapshot();
}

/// Returns a setting whose mesh needs 1344 blocks after 4 steps, and initially has memory for 1024.
setting growing(route taken) {
  setting s;
  s.matter = matter::scalar_2d;
  s.env.route = taken;
  s.options.mesh.roots = {8, 8, 1};
  s.options.mesh.max_level = 2;
  s.options.mesh.lower = {-1, -1, 0};
  set_boundaries(s, ramify::boundary::outflow);
  s.options.regrid.every = 1;
  s.options.regrid.refine_above = 0.5;
  s.criterion = criterion_kind::value;  // everywhere, as soon as the scalar is large enough
  s.flow = flow_kind::expanding;
  s.rate = -1;
  s.level = 0.49;
  return s;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(launches_of_phases)

BOOST_DATA_TEST_CASE(the_host_continues_after_any_failed_launch, data::make(subcycling), subcycle) {
  if (!runs_on_cpu() || (effort() < 0.1 && !subcycle)) return;
  const setting s = small(route::device, subcycle);
  const std::uint64_t steps = subcycle ? 1 : 3;
  const auto complete = start_run(s);
  complete->advance(steps);
  const mesh_snapshot expected = complete->snapshot();
  const std::uint64_t launches = complete->report().child_grids;
  BOOST_TEST(launches > 50u);
  BOOST_TEST(complete->report().host_grids == 7u);
  const auto interrupts = [&](std::uint64_t) {
    const auto run = start_run(s);
    run->advance(steps);
    BOOST_TEST((run->report().taken == route::device));
    BOOST_TEST(same_bits(expected, run->snapshot()));
    BOOST_TEST(launch_slots_in_use() == 0u);
    return run->report().host_grids > 7;
  };
  const std::uint64_t stride = effort() < 1 ? 16 : 1;
  const auto executor = ramify::cpu::current_executor_config();
  const unsigned interrupted = count_interrupted(launches, executor, interrupts, stride);
  // Negative control: after each failed launch, the host launched more grids.
  BOOST_TEST(interrupted == (launches + stride - 1) / stride);
}

BOOST_DATA_TEST_CASE(steps_in_the_background_are_the_same,
                     data::make(routes) * data::make(subcycling), taken, subcycle) {
  const setting s = small(taken, subcycle);
  const mesh_snapshot expected = after(s, 5);
  const auto run = start_run(s);
  const auto under_way = names("call get() of the steps under way first");
  const amr_report report = run->advance_async(5, [&] {
    BOOST_TEST(run->steps() == 0u);
    BOOST_CHECK_EXCEPTION(run->advance(1), std::logic_error, under_way);
    BOOST_CHECK_EXCEPTION(static_cast<void>(run->snapshot()), std::logic_error, under_way);
    BOOST_CHECK_EXCEPTION(static_cast<void>(run->totals()), std::logic_error, under_way);
    BOOST_CHECK_EXCEPTION(static_cast<void>(run->save()), std::logic_error, under_way);
    BOOST_CHECK_EXCEPTION(run->reserve(1), std::logic_error, under_way);
  });
  BOOST_TEST(report.steps == 5u);
  BOOST_TEST(run->steps() == 5u);
  BOOST_TEST(same_bits(expected, run->snapshot()));
  run->advance(1);
  BOOST_TEST(same_bits(after(s, 6), run->snapshot()));
}

BOOST_DATA_TEST_CASE(a_mesh_without_memory_keeps_its_regrid, data::make(routes), taken) {
  if (effort() < 1) return;
  setting s = growing(taken);
  const mesh_snapshot expected = after(s, 4);
  BOOST_TEST(expected.leaves.size() == 1024u);
  // 1. Memory that is there already changes nothing.
  const auto reserved = start_run(s);
  const std::size_t before = reserved->report().scratch_bytes;
  reserved->reserve(2048);
  const std::size_t after_it = reserved->report().scratch_bytes;
  BOOST_TEST(after_it > 1.9 * double(before));
  reserved->advance(4);
  BOOST_TEST(reserved->report().scratch_bytes == after_it);
  BOOST_TEST(same_bits(expected, reserved->snapshot()));
  // 2. A limit stops the run, again and again, with the mesh of the last step.
  s.options.mesh.max_blocks = 1000;
  const auto limited = start_run(s);
  for (int again = 0; again < 3; ++again) {
    BOOST_CHECK_EXCEPTION(limited->advance(4), ramify::amr_error,
                          names("more than amr_options.mesh.max_blocks, which is 1000"));
    const mesh_snapshot mesh = limited->snapshot();
    BOOST_TEST(tiling_fault(mesh) == "");
    BOOST_TEST(mesh.leaves.size() == 256u);
    BOOST_TEST(launch_slots_in_use() == 0u);
  }
}

#if TEST_LIMITS_ALLOCATIONS
BOOST_DATA_TEST_CASE(a_mesh_grows_less_where_memory_is_short, data::make(routes), taken) {
  if (effort() < 1) return;
  const setting s = growing(taken);
  const auto whole = start_run(s);
  whole->advance(4);
  const mesh_snapshot expected = whole->snapshot();
  struct allocation_limit {
    explicit allocation_limit(std::size_t bytes) { largest_allocation = bytes; }
    ~allocation_limit() { largest_allocation = std::numeric_limits<std::size_t>::max(); }
  };
  const auto run = start_run(s);
  const std::size_t bytes = run->report().scratch_bytes;  // of 1024 blocks
  // 1. There is no memory for any larger mesh. The run can be saved, and keeps its regrid.
  {
    const allocation_limit limit(bytes);
    BOOST_CHECK_EXCEPTION(run->advance(4), ramify::amr_error,
                          names("there is no device memory for a larger mesh: its 1024 blocks"));
  }
  BOOST_TEST(launch_slots_in_use() == 0u);
  BOOST_TEST(run->snapshot().leaves.size() == 256u);
  const ramify::amr_state saved = run->save();
  BOOST_TEST(saved.steps == run->steps());
  const auto resumed = resume_run(s, saved);
  resumed->advance(4 - saved.steps);
  BOOST_TEST(same_bits(expected, resumed->snapshot()));
  BOOST_TEST(resumed->report().regrids == whole->report().regrids);
  // 2. There is memory for one and a half times the blocks.
  const allocation_limit limit(bytes * 8 / 5);
  run->advance(0);  // completes the four steps
  BOOST_TEST(run->steps() == 4u);
  BOOST_TEST(same_bits(expected, run->snapshot()));
  BOOST_TEST(run->report().scratch_bytes < 1.6 * double(bytes));
}
#endif

// ---- loops of graphs ----------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_graph_is_refused_where_there_is_none,
                     *boost::unit_test::precondition(on_the_executor)) {
  setting s = small(route::flat, false);
  s.env.flat_loop = flat_loop::graph;
  BOOST_CHECK_EXCEPTION((void)start_run(s), ramify::unavailable,
                        names("environment.flat_loop graph is not available"));
}

BOOST_AUTO_TEST_CASE(the_loop_of_the_host_is_reported) {
  setting s = small(route::flat, false);
  s.env.flat_loop = flat_loop::host;
  const auto run = start_run(s);
  run->advance(4);
  BOOST_TEST((run->report().looped_by == flat_loop::host));
  BOOST_TEST(run->report().flat_loop_reason == "requested");
  BOOST_TEST(run->report().graph_grids == 0u);
}

#if RAMIFY_ON_CUDA
BOOST_DATA_TEST_CASE(a_graph_takes_the_same_steps, data::make(subcycling), subcycle) {
  for (const matter what : {matter::scalar_2d, matter::gas_2d, matter::gas_3d}) {
    setting s = small(route::flat, subcycle, what);
    s.env.flat_loop = flat_loop::host;
    const mesh_snapshot expected = after(s, 11);
    s.env.flat_loop = flat_loop::graph;
    const auto run = start_run(s);
    run->advance(11);
    BOOST_TEST(same_bits(expected, run->snapshot()));
    BOOST_TEST((run->report().looped_by == flat_loop::graph));
    BOOST_TEST(run->report().graph_grids >= 11u * 4);  // four grids a step
    // Automatic: the host launches all steps.
    s.env.flat_loop = flat_loop::automatic;
    const auto automatic = start_run(s);
    automatic->advance(11);
    BOOST_TEST(same_bits(expected, automatic->snapshot()));
    BOOST_TEST((automatic->report().looped_by == flat_loop::host));
    BOOST_TEST(automatic->report().graph_grids == 0u);
  }
}

// ---- captured steps -----------------------------------------------------------------------------

/// Launches captured steps three times, with get() after each launch, or only after the last.
void expect_captured(setting s, std::uint64_t steps, bool get_each) {
  const mesh_snapshot expected = after(s, 3 * steps);
  s.own_stream = true;
  const auto run = start_run(s);
  {
    const auto captured = run->capture(steps);
    BOOST_TEST(run->steps() == 0u);
    for (std::uint64_t launches = 1; launches <= 3; ++launches) {
      captured->launch();
      if (!get_each && launches < 3) continue;
      const amr_report report = captured->get();
      BOOST_TEST(report.steps == launches * steps);
    }
    BOOST_TEST(same_bits(expected, run->snapshot()));
  }
  run->advance(steps);
  s.own_stream = false;
  BOOST_TEST(same_bits(after(s, 4 * steps), run->snapshot()));
  BOOST_TEST(launch_slots_in_use() == 0u);
}

BOOST_DATA_TEST_CASE(captured_steps_of_the_device_route,
                     data::make(subcycling) * data::make({false, true}), subcycle, get_each) {
  if (!ramify::device_launch_available) return;
  expect_captured(small(route::device, subcycle), 4, get_each);
  expect_captured(small(route::device, subcycle, matter::gas_2d), 3, get_each);
}

BOOST_DATA_TEST_CASE(captured_steps_of_the_flat_route,
                     data::make(subcycling) * data::make({false, true}), subcycle, get_each) {
  setting s = small(route::flat, subcycle);
  s.options.regrid.every = 0;
  expect_captured(s, 4, get_each);
  // A regrid is due in the second launch: get() completes the steps.
  s.options.regrid.every = 5;
  expect_captured(s, 4, get_each);
}

BOOST_AUTO_TEST_CASE(captured_steps_without_slots_are_completed) {
  if (!ramify::device_launch_available) return;
  setting s = small(route::device, false);
  const mesh_snapshot expected = after(s, 8);
  s.own_stream = true;
  const auto run = start_run(s);
  const auto captured = run->capture(4);
  without_slots([&] {
    captured->launch();
    captured->launch();
    static_cast<void>(captured->get());
  });
  BOOST_TEST(same_bits(expected, run->snapshot()));
}

BOOST_AUTO_TEST_CASE(steps_that_cannot_be_captured_are_refused) {
  setting s = small(route::flat, false);
  s.own_stream = true;
  const auto refuse = [&](std::uint64_t steps, const std::string& reason) {
    const auto run = start_run(s);
    BOOST_CHECK_EXCEPTION(static_cast<void>(run->capture(steps)), ramify::unavailable,
                          names(reason));
    run->advance(1);
    BOOST_TEST(run->steps() == 1u);
  };
  refuse(2, "regrids, one every 2 steps");
  s.options.regrid.every = 0;
  s.env.flat_loop = flat_loop::host;
  refuse(2, "one by one");
  s.env.pending_launches = 2048;
  refuse(2, "a change of the pending-launch limit");
}

BOOST_AUTO_TEST_CASE(a_captured_mesh_does_not_grow) {
  if (!ramify::device_launch_available) return;
  setting s = growing(route::device);
  const mesh_snapshot expected = after(s, 4);
  s.own_stream = true;
  const auto run = start_run(s);
  {
    const auto captured = run->capture(4);
    BOOST_CHECK_THROW(run->reserve(2048), std::logic_error);
    captured->launch();
    BOOST_CHECK_EXCEPTION(static_cast<void>(captured->get()), ramify::amr_error,
                          names("call reserve() before the capture"));
  }
  run->advance(0);  // completes the four steps
  BOOST_TEST(same_bits(expected, run->snapshot()));
}
#endif

BOOST_AUTO_TEST_SUITE_END()
