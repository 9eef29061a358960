// SPDX-License-Identifier: BSD-3-Clause
// Launch chains whose rounds contain a recursion of tasks.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <ramify/cpu/executor.hpp>
#include <vector>

#include "backend_under_test.hpp"
#include "chain_fixture.cuh"
#include "failed_launches.hpp"
#include "printing.hpp"
#include "slot_checks.cuh"

namespace data = boost::unit_test::data;

namespace tests::inline RAMIFY_BUILD {
namespace chains {

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
  __host__ __device__ void launch_round(const recursive_state&, Grids& grids) const;
};

__global__ void log_node(recursive_program program, unsigned node) {
  const traced here(program.trace, __func__);
  program.log[(*program.logged)++] = node;
}
__global__ void end_recursion(recursive_program program) {
  const traced here(program.trace, __func__);
  ++program.state->done;
  end_round(program, __func__);
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
struct end_of_round {
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
__host__ __device__ void recursive_program::launch_round(const recursive_state&,
                                                         Grids& grids) const {
  grids.then(*this, log_subtree{1});
  grids.then(*this, end_of_round{});
}

/// Runs the program, and checks the order of its grids. Returns the report.
run_report expect_recursion(route taken, std::size_t limit) {
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
  return control.report();
}

}  // namespace chains
}  // namespace tests::inline RAMIFY_BUILD

using namespace tests;
using namespace tests::chains;

BOOST_AUTO_TEST_SUITE(nested_chains)

BOOST_DATA_TEST_CASE(tasks_of_a_step_run_in_the_order_of_the_recursion,
                     data::make({1, 400, 2048}) *
                         data::make({ramify::route::device, ramify::route::flat}),
                     limit, taken) {
  expect_recursion(taken, std::size_t(limit));
}

BOOST_AUTO_TEST_CASE(the_host_continues_a_recursion_after_any_failed_launch,
                     *boost::unit_test::precondition(on_the_executor)) {
  const auto whole = expect_recursion(ramify::route::device, 2048);
  const auto executor = ramify::cpu::current_executor_config();
  const unsigned interrupted = count_interrupted(50, executor, [&](std::uint64_t) {
    return expect_recursion(ramify::route::device, 2048).host_grids > whole.host_grids;
  });
  BOOST_TEST(interrupted >= 30u);  // negative control: the failures did end launches
}

BOOST_AUTO_TEST_CASE(every_schedule_gives_the_same_order,
                     *boost::unit_test::precondition(on_the_executor)) {
  for (const auto& config : reproducible_schedules()) {
    const ramify::cpu::scoped_executor_config scope(config);
    expect_recursion(ramify::route::device, 2048);
  }
}

BOOST_AUTO_TEST_SUITE_END()
