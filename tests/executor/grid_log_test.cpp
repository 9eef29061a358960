// SPDX-License-Identifier: BSD-3-Clause
// The log of all grids.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <ramify/cpu/executor.hpp>
#include <ramify/cpu/grid_log.hpp>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/stream.cuh>
#include <sstream>
#include <vector>

#include "schedules.hpp"

using namespace ramify;
namespace data = boost::unit_test::data;

namespace log_kernels {

__global__ void leaf() {}
__global__ void joins() {}
__global__ void inner(unsigned* failures) {
  if (!launch(leaf, {3, {2, 4}}, fire_and_forget())) atomicAdd(failures, 1u);
}

// Block 1 launches one grid into each kind of stream.
__global__ void root(unsigned* failures) {
  if (blockIdx.x != 1) return;
  const device_stream own;
  if (!launch(joins, {1, 1}, tail_launch())) atomicAdd(failures, 1u);
  if (!launch(inner, {1, 1}, null_stream(), failures)) atomicAdd(failures, 1u);
  if (!launch(leaf, {1, 1}, own.get())) atomicAdd(failures, 1u);
  if (!launch(leaf, {1, 1, 64}, fire_and_forget())) atomicAdd(failures, 1u);
}

__global__ void passes_local_pointer() {
  unsigned mine = 0;
  if (!launch(inner, {1, 1}, fire_and_forget(), &mine)) mine = 1;
}

}  // namespace log_kernels

BOOST_AUTO_TEST_SUITE(log_of_grids)

BOOST_DATA_TEST_CASE(has_every_grid_and_its_order, data::make(tests::main_schedules), schedule) {
  const cpu::scoped_executor_config order(cpu::parse_executor_config(schedule));
  unsigned failures = 0;
  const cpu::grid_log log;
  for (int i = 0; i < 2; ++i) {
    BOOST_REQUIRE(launch(log_kernels::root, {2, 1}, nullptr, &failures).code() == cudaSuccess);
  }
  BOOST_TEST(failures == 0u);
  const launch_trace trace = log.trace();
  const std::vector<traced_grid>& grids = trace.grids;
  BOOST_TEST_REQUIRE(grids.size() == 12);
  BOOST_TEST(trace.counts_steps);

  unsigned of_kind[5] = {};
  for (std::size_t i = 0; i < grids.size(); ++i) {
    const traced_grid& g = grids[i];
    ++of_kind[std::size_t(g.stream)];
    BOOST_TEST(g.launched < g.begin);
    BOOST_TEST(g.begin < g.end);
    BOOST_TEST(g.end < g.complete);
    if (i > 0) BOOST_TEST(grids[i - 1].begin < g.begin);
    if (g.stream == launch_stream::host) {
      BOOST_TEST((g.kernel == "root" && g.depth == 0 && g.parent == traced_grid::no_grid));
      continue;
    }
    BOOST_TEST_REQUIRE(g.parent < i);
    const traced_grid& parent = grids[g.parent];
    BOOST_TEST(g.depth == parent.depth + 1);
    BOOST_TEST(parent.begin < g.launched);
    BOOST_TEST(g.launched < parent.end);
    BOOST_TEST(g.complete < parent.complete);
    BOOST_TEST(g.parent_block == (parent.kernel == "root" ? 1u : 0u));
    const bool by_inner = parent.kernel == "inner";
    BOOST_TEST((g.blocks[0] == 3) == by_inner);
    BOOST_TEST((g.threads[1] == 4) == by_inner);
    BOOST_TEST((g.dynamic_shared == 64) ==
               (g.stream == launch_stream::fire_and_forget && !by_inner));
    for (const traced_grid& other : grids) {  // a tail launch waits for its siblings
      if (g.stream == launch_stream::tail && other.parent == g.parent && &other != &g) {
        BOOST_TEST(other.complete < g.begin);
      }
    }
  }
  // By the host, into NULL streams, named ones, fire-and-forget, and tail launches.
  BOOST_TEST((of_kind[0] == 2 && of_kind[1] == 2 && of_kind[2] == 2 && of_kind[3] == 4 &&
              of_kind[4] == 2));
  std::ostringstream picture;  // the writers accept it
  write_dot(picture, trace);
  BOOST_TEST(picture.str().find("inner") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_broken_rule_leaves_grids_that_are_not_complete) {
  const cpu::grid_log log;
  BOOST_CHECK_THROW(static_cast<void>(launch(log_kernels::passes_local_pointer, {1, 1}, nullptr)),
                    cpu::rule_violation);
  const launch_trace trace = log.trace();
  BOOST_TEST_REQUIRE(trace.grids.size() == 1);
  BOOST_TEST(trace.grids[0].complete == 0);
}

BOOST_AUTO_TEST_CASE(there_is_one_log_at_a_time) {
  {
    const cpu::grid_log log;
    BOOST_CHECK_THROW(cpu::grid_log(), std::logic_error);
  }
  const cpu::grid_log next;
  BOOST_TEST(next.trace().grids.empty());
}

BOOST_AUTO_TEST_SUITE_END()
