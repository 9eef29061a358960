// SPDX-License-Identifier: BSD-3-Clause
// Launch chains on the backend under test: both joins, both routes, all loops, small launch quotas,
// failed launches, graphs, and chains that a kernel starts.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <optional>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/captured_graph.cuh>
#include <ramify/runtime/launch_chain.cuh>
#include <ramify/runtime/residency.cuh>
#include <vector>

#include "backend_under_test.hpp"
#include "device_vectors.cuh"
#include "printing.hpp"
#include "slot_checks.cuh"

namespace data = boost::unit_test::data;

namespace tests::inline RAMIFY_BUILD {
namespace chains {

using namespace ramify::detail::runtime;

constexpr unsigned steps = 12;
constexpr unsigned width = 5;

/// What a step leaves to the next one.
struct counts {
  unsigned done;   ///< steps that are complete
  unsigned lanes;  ///< of the due step: width + done % 3 blocks
};

/// Each step has a grid that visits its blocks, one in no order with the others, and one that
/// checks the first and ends the step.
template <chain_join how, bool bounded>
struct program : chain_link {
  using state_type = counts;
  static constexpr auto join = how;
  static constexpr bool releases_slots = bounded;

  counts* state;
  unsigned* visits;  ///< steps * 2 * width
  unsigned* aside;   ///< steps
  unsigned* errors;
  unsigned last;

  [[nodiscard]] __host__ __device__ bool finished(const counts& now) const {
    return now.done == last;
  }
  [[nodiscard]] __host__ __device__ bool repeats(const counts&) const { return true; }
  [[nodiscard]] __host__ __device__ unsigned slots_of(const counts&) const { return 3; }
  template <class Grids>
  __host__ __device__ void launch_step(const counts& now, Grids& grids) const;
  template <class Grids>
  void launch_repeated(const counts&, Grids& grids) const;
};

template <class Program>
__global__ void visit(Program program, unsigned blocks) {
  const traced here(program.trace, __func__);
  program.release_slot();
  const counts now = *program.state;
  const unsigned due = blocks == 0 ? now.lanes : blocks;
  if (threadIdx.x == 0 && blockIdx.x < due) {
    atomicAdd(&program.visits[now.done * 2 * width + blockIdx.x], 1u);
  }
}

template <class Program>
__global__ void visit_aside(Program program, unsigned step) {
  const traced here(program.trace, __func__);
  program.release_slot();
  if (threadIdx.x == 0) atomicAdd(&program.aside[step], 1u);
}

template <bool launches, class Program>
__global__ void check_and_end(Program program) {
  const traced here(program.trace, __func__);
  program.release_slot();
  const counts now = *program.state;
  // The grid before this one in the step is complete.
  if (threadIdx.x < now.lanes &&
      load_relaxed(program.visits[now.done * 2 * width + threadIdx.x]) == 0) {
    atomicAdd(program.errors, 1u);
  }
  if (!program.is_last_block(gridDim.x) || threadIdx.x != 0) return;
  if (!program.finished(now)) {
    *program.state = {now.done + 1, width + (now.done + 1) % 3};
  }
  if constexpr (launches) {
    end_step(program, __func__);
  } else {
    end_iteration(program);
  }
}

template <chain_join how, bool bounded>
template <class Grids>
__host__ __device__ void program<how, bounded>::launch_step(const counts& now, Grids& grids) const {
  grids.unordered(visit_aside<program>, {1, 32}, *this, now.done);
  grids(visit<program>, {now.lanes, 32}, *this, now.lanes);
  grids(check_and_end<true, program>, {2, 32}, *this);
}

template <chain_join how, bool bounded>
template <class Grids>
void program<how, bounded>::launch_repeated(const counts&, Grids& grids) const {
  grids(visit<program>, {2 * width, 32}, *this, 0u);
  grids(check_and_end<false, program>, {2, 32}, *this);
}

struct request {
  route taken = route::device;
  flat_loop loop = flat_loop::host;
  std::size_t limit = 2048;
  unsigned last = steps;
};

/// The memory of a chain, and what its steps have done.
template <class Program>
struct fixture {
  explicit fixture(const request& how)
      : control(status.data(), choose_route(how.taken, how.limit, 1, {route::flat, "automatic"}),
                how.limit, nullptr),
        chain(control,
              Program{{}, state.data(), visits.data(), aside.data(), errors.data(), how.last},
              choose_loop(how.loop, "flat_loop")) {}

  void start() {
    const counts first{0, width};
    chain.write_state(first);
    if (Program::releases_slots && control.on_device_route() && chain.program().last > 0) {
      chain.launch_first_step(first);
    }
    chain.start();
  }

  /// Whether each step ran `times` times, with all its blocks.
  [[nodiscard]] bool ran(unsigned times, bool has_aside, unsigned last = steps) const {
    const auto seen = download(visits);
    const auto beside = download(aside);
    bool right = download(errors)[0] == 0;
    for (unsigned step = 0; step < steps; ++step) {
      const unsigned wanted = step < last ? times : 0;
      right = right && (!has_aside || beside[step] == wanted);
      for (unsigned block = 0; block < 2 * width; ++block) {
        right = right && seen[step * 2 * width + block] == (block < width + step % 3 ? wanted : 0);
      }
    }
    return right;
  }

  device_buffer<std::byte> status{run_control::scratch_bytes, nullptr};
  device_buffer<counts> state = zeros<counts>(1);
  device_buffer<unsigned> visits = zeros<unsigned>(steps * 2 * width);
  device_buffer<unsigned> aside = zeros<unsigned>(steps);
  device_buffer<unsigned> errors = zeros<unsigned>(1);
  run_control control;
  launch_chain<Program> chain;
};

using by_last_block = program<chain_join::last_block, false>;
using by_bounded_chain = program<chain_join::last_block, true>;
using by_tail_launch = program<chain_join::tail_launch, false>;

/// Runs a chain once and returns its report.
template <class Program>
run_report run_once(const request& how) {
  const launch_limits limits({.pending_launches = how.limit});
  fixture<Program> memory(how);
  memory.start();
  memory.chain.finish();
  BOOST_TEST(memory.ran(1, how.taken == route::device || how.loop == flat_loop::host, how.last));
  BOOST_TEST(memory.chain.state().done == how.last);
  check(cudaStreamSynchronize(nullptr), "waiting");
  BOOST_TEST(slots_in_use() == 0u);
  return memory.control.report();
}

template <class Check>
void for_each_program(Check check) {
  BOOST_TEST_CONTEXT("last block") { check(static_cast<by_last_block*>(nullptr)); }
  BOOST_TEST_CONTEXT("bounded") { check(static_cast<by_bounded_chain*>(nullptr)); }
  BOOST_TEST_CONTEXT("tail launch") { check(static_cast<by_tail_launch*>(nullptr)); }
}

// ---- tasks: a recursion that a step contains ----------------------------------------------------

struct recursive_state {
  unsigned done;
};

struct recursive_program : chain_link {
  using state_type = recursive_state;
  static constexpr auto join = chain_join::tail_launch;
  recursive_state* state;
  unsigned* log;
  unsigned* logged;

  [[nodiscard]] __host__ __device__ bool finished(const recursive_state& s) const {
    return s.done == 2;
  }
  [[nodiscard]] __host__ __device__ bool repeats(const recursive_state&) const { return false; }
  [[nodiscard]] __host__ __device__ unsigned slots_of(const recursive_state&) const { return 24; }
  template <class Grids>
  __host__ __device__ void launch_step(const recursive_state&, Grids& grids) const;
};

__global__ void log_node(recursive_program program, unsigned node) {
  const traced here(program.trace, __func__);
  program.log[(*program.logged)++] = node;
}
__global__ void end_recursion(recursive_program program) {
  const traced here(program.trace, __func__);
  ++program.state->done;
  end_step(program, __func__);
}

/// Logs a node, then the nodes below it, then itself again.
struct log_subtree {
  unsigned node;
  template <class Grids>
  __host__ __device__ void operator()(const recursive_program& program, Grids& grids) const;
};
struct log_after {
  unsigned node;
  template <class Grids>
  __host__ __device__ void operator()(const recursive_program& program, Grids& grids) const {
    grids(log_node, {1, 1}, program, node + 100);
  }
};
struct end_of_step {
  template <class Grids>
  __host__ __device__ void operator()(const recursive_program& program, Grids& grids) const {
    grids(end_recursion, {1, 1}, program);
  }
};
template <class Grids>
__host__ __device__ void log_subtree::operator()(const recursive_program& program,
                                                 Grids& grids) const {
  grids(log_node, {1, 1}, program, node);
  if (node >= 4) return;
  grids.then(program, log_subtree{2 * node});
  grids.then(program, log_subtree{2 * node + 1});
  grids.then(program, log_after{node});
}
template <class Grids>
__host__ __device__ void recursive_program::launch_step(const recursive_state&,
                                                        Grids& grids) const {
  grids.then(*this, log_subtree{1});
  grids.then(*this, end_of_step{});
}

void expect_recursion(route taken, std::size_t limit) {
  const launch_limits limits({.pending_launches = limit});
  const device_buffer<std::byte> status(run_control::scratch_bytes, nullptr);
  const auto state = zeros<recursive_state>(1);
  const auto log = zeros<unsigned>(100);
  const auto logged = zeros<unsigned>(1);
  run_control control(status.data(), choose_route(taken, limit, 1, {route::flat, "automatic"}),
                      limit, nullptr);
  launch_chain<recursive_program> chain(
      control, recursive_program{{}, state.data(), log.data(), logged.data()},
      choose_loop(flat_loop::host, "flat_loop"));
  chain.start();
  chain.finish();
  auto seen = download(log);
  seen.resize(download(logged)[0]);
  const std::vector<unsigned> once{1, 2, 4, 5, 102, 3, 6, 7, 103, 101};
  std::vector<unsigned> twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  BOOST_TEST(seen == twice, boost::test_tools::per_element());
  check(cudaStreamSynchronize(nullptr), "waiting");
  BOOST_TEST(slots_in_use() == 0u);
}

// ---- a chain that a kernel starts ---------------------------------------------------------------

struct continuation {
  by_last_block of;
  unsigned* seen_done;
  unsigned* times;
  trace_ticket trace;
  __host__ __device__ static auto kernel();
};
__global__ void continue_after(continuation after) {
  const traced here(after.trace, __func__);
  *after.seen_done = after.of.state->done;
  ++*after.times;
}
__host__ __device__ auto continuation::kernel() { return continue_after; }

__global__ void start_from_kernel(by_last_block program, continuation after, unsigned* started) {
  const traced here(program.trace, __func__);
  *program.state = {0, width};
  *started = start_chain(program, after, __func__) ? 1 : 0;
}

}  // namespace chains
}  // namespace tests::inline RAMIFY_BUILD

using namespace tests;
using namespace tests::chains;

BOOST_AUTO_TEST_SUITE(launch_chain_of_grids)

BOOST_DATA_TEST_CASE(every_step_runs_once_at_any_limit,
                     data::make({1, 16, 32, 160, 2048}) *
                         data::make({ramify::route::device, ramify::route::flat}),
                     limit, taken) {
  for_each_program([&]<class Program>(Program*) {
    const auto report = run_once<Program>({.taken = taken, .limit = std::size_t(limit)});
    if (limit == 2048 && taken == ramify::route::device && ramify::device_launch_available) {
      BOOST_TEST(report.taken == ramify::route::device);
      BOOST_TEST(report.child_grids >= 3u * (steps - 1));
      BOOST_TEST(report.spilled_tasks == 0u);
    }
    if (report.taken == ramify::route::flat) BOOST_TEST(report.child_grids == 0u);
  });
}

BOOST_AUTO_TEST_CASE(a_chain_that_is_finished_launches_no_step) {
  for_each_program([&]<class Program>(Program*) {
    const auto report = run_once<Program>({.last = 0});
    BOOST_TEST(report.child_grids == 0u);
  });
}

BOOST_AUTO_TEST_CASE(the_host_continues_after_any_failed_launch,
                     *boost::unit_test::precondition(on_the_executor)) {
  for_each_program([&]<class Program>(Program*) {
    unsigned interrupted = 0;
    for (std::uint64_t failing = 1; failing <= 45; ++failing) {
      BOOST_TEST_CONTEXT("launch " << failing) {
        auto config = ramify::cpu::current_executor_config();
        config.failing_launch = failing;
        const ramify::cpu::scoped_executor_config scope(config);
        const auto report = run_once<Program>({});
        if (report.host_grids > 3) ++interrupted;
      }
    }
    // Negative control: the failures did end the launches of kernels.
    BOOST_TEST(interrupted >= 30u);
  });
}

BOOST_DATA_TEST_CASE(tasks_of_a_step_run_in_the_order_of_the_recursion,
                     data::make({1, 400, 2048}) *
                         data::make({ramify::route::device, ramify::route::flat}),
                     limit, taken) {
  expect_recursion(taken, std::size_t(limit));
}

BOOST_AUTO_TEST_CASE(the_host_continues_a_recursion_after_any_failed_launch,
                     *boost::unit_test::precondition(on_the_executor)) {
  for (std::uint64_t failing = 1; failing <= 50; ++failing) {
    BOOST_TEST_CONTEXT("launch " << failing) {
      auto config = ramify::cpu::current_executor_config();
      config.failing_launch = failing;
      const ramify::cpu::scoped_executor_config scope(config);
      expect_recursion(ramify::route::device, 2048);
    }
  }
}

BOOST_AUTO_TEST_CASE(every_schedule_gives_the_same_steps,
                     *boost::unit_test::precondition(on_the_executor)) {
  std::vector<ramify::cpu::executor_config> configs{{.order = ramify::cpu::schedule::eager},
                                                    {.order = ramify::cpu::schedule::late}};
  for (int seed = 0; seed < random_schedules(); ++seed) {
    configs.push_back({.order = ramify::cpu::schedule::random, .seed = std::uint64_t(seed)});
  }
  for (const auto& config : configs) {
    const ramify::cpu::scoped_executor_config scope(config);
    for_each_program([&]<class Program>(Program*) { run_once<Program>({}); });
    expect_recursion(ramify::route::device, 2048);
  }
}

BOOST_AUTO_TEST_CASE(slots_that_are_taken_leave_the_steps_to_the_host) {
  for_each_program([&]<class Program>(Program*) {
    fixture<Program> memory({});
    {
      const all_slots_taken taken(2048);
      memory.start();
      memory.chain.finish();
    }
    BOOST_TEST(memory.ran(1, true));
    BOOST_TEST(memory.control.report().host_grids > 3u);
  });
}

#if RAMIFY_DEVICE_LAUNCH
BOOST_AUTO_TEST_CASE(a_kernel_starts_a_chain_and_its_continuation_runs_after_it) {
  for (const std::size_t limit : {std::size_t{160}, std::size_t{2048}}) {
    const launch_limits limits({.pending_launches = limit});
    fixture<by_last_block> memory({.limit = limit});
    const auto seen = zeros<unsigned>(3);
    const by_last_block& program = memory.chain.program();
    const continuation after{program, seen.data(), seen.data() + 1, {}};
    check(launch(start_from_kernel, {1, 1}, nullptr, program, after, seen.data() + 2).code(),
          "launching");
    memory.chain.finish();
    BOOST_TEST(memory.ran(1, true));
    const auto values = download(seen);
    BOOST_TEST(values[2] == 1u);
    BOOST_TEST(values[1] == 1u);
    if (limit == 2048) BOOST_TEST(values[0] == steps);
    BOOST_TEST(slots_in_use() == 0u);
  }
}
#endif

BOOST_AUTO_TEST_CASE(a_graph_that_is_requested_and_not_available_is_refused,
                     *boost::unit_test::precondition(on_the_executor)) {
  BOOST_CHECK_THROW(
      static_cast<void>(choose_loop(ramify::flat_loop::graph, "some_config.flat_loop")),
      ramify::unavailable);
}

#if RAMIFY_ON_CUDA
BOOST_AUTO_TEST_CASE(a_graph_launches_all_steps) {
  for (const auto loop : {ramify::flat_loop::graph, ramify::flat_loop::automatic}) {
    const auto report = run_once<by_last_block>({.taken = ramify::route::flat, .loop = loop});
    BOOST_TEST(report.looped_by == ramify::flat_loop::graph);
    BOOST_TEST(report.graph_grids == 2u * steps);
    BOOST_TEST(report.host_grids == 1u);  // it writes the state
  }
}

BOOST_AUTO_TEST_CASE(a_captured_chain_runs_once_in_each_launch_of_its_graph) {
  for (const auto taken : {ramify::route::device, ramify::route::flat}) {
    for_each_program([&]<class Program>(Program*) {
      const launch_limits limits({.pending_launches = 2048});
      const host_stream stream;
      const bool by_graph = taken == ramify::route::flat;
      device_buffer<std::byte> status(run_control::scratch_bytes, nullptr);
      fixture<Program> memory({.taken = taken, .loop = flat_loop::automatic});
      std::optional<run_control> control;
      std::optional<launch_chain<Program>> chain;
      const counts first{0, width};
      check(cudaDeviceSynchronize(), "waiting");
      const captured_graph graph(
          stream.get(),
          [&] {
            control.emplace(status.data(), choose_route(taken, 2048, 1, {taken, ""}), 2048,
                            stream.get());
            chain.emplace(*control, memory.chain.program(),
                          choose_loop(flat_loop::automatic, "flat_loop"));
            chain->write_state(first);
            if (Program::releases_slots && !by_graph) chain->launch_first_step(first);
            chain->start();
            BOOST_CHECK_THROW(chain->finish(), std::logic_error);
          },
          cudaStreamCaptureModeRelaxed);
      for (unsigned launches = 1; launches <= 3; ++launches) {
        graph.launch(stream.get());
        chain->finish();
        BOOST_TEST(memory.ran(launches, !by_graph));
        BOOST_TEST(control->report().host_grids <= 5u);
      }
    });
  }
}
#endif

BOOST_AUTO_TEST_SUITE_END()
