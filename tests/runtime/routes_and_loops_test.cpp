// SPDX-License-Identifier: BSD-3-Clause
// The choice of a route, and the loops of flat runs.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <optional>
#include <ramify/runtime/detail/launch_chain.cuh>
#include <ramify/runtime/error.hpp>
#include <ramify/runtime/granularity.hpp>
#include <ramify/runtime/graph_loop.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/run_control.cuh>
#include <ramify/runtime/stream.cuh>
#include <stdexcept>
#include <string>

#include "device_vectors.cuh"
#include "exceptions.hpp"
#include "printing.hpp"

namespace tests::inline RAMIFY_BUILD {

namespace data = boost::unit_test::data;

namespace {

// ---- routes -------------------------------------------------------------------------------------

std::string route_reason(route wanted, std::size_t pending_launches) {
  const route_choice choice =
      choose_route(wanted, pending_launches, 3, {route::device, "preferred"});
  return std::string(to_string(choice.taken)) + ": " + choice.reason;
}

/// Returns the route and its reason for a run in which flat takes a thousand host round trips, and
/// device one level.
std::string planned_route(route wanted, std::size_t pending_launches,
                          [[maybe_unused]] bool captured) {
  const host_stream stream;
  const route_plans plans{{.host_round_trips = 1000}, {.nested_levels = 1}, route::flat};
#if RAMIFY_ON_CUDA
  if (captured) {
    check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal), "capturing");
  }
#endif
  const route_choice choice = choose_route(wanted, pending_launches, 3, plans, stream.get());
#if RAMIFY_ON_CUDA
  if (captured) {
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(stream.get(), &graph), "capturing");
    check(cudaGraphDestroy(graph), "destroying a graph");
  }
#endif
  return std::string(to_string(choice.taken)) + ": " + choice.reason;
}

// ---- loops --------------------------------------------------------------------------------------

/// A loop that counts to n. If n is 0, its body still runs once.
struct loop_request {
  bool in_graph = RAMIFY_ON_CUDA != 0;  ///< else the host launches each iteration
  unsigned n = 0;
  unsigned launches = 1;  ///< launches in sequence; each counts from 0
};

struct loop_counts {
  unsigned iterations;  ///< of all launches
  unsigned counted;     ///< by the last launch
};

__global__ void begin_iteration(loop_counts* counts) { ++counts->iterations; }

__global__ void count_one(loop_counts* counts, unsigned n, loop_condition loop) {
  if (counts->counted < n) ++counts->counted;
  loop.again(counts->counted < n);
}

loop_counts run_loop(const loop_request& request) {
  const host_stream stream;
  const auto counts = zeros<loop_counts>(1);
  check(cudaStreamSynchronize(nullptr), "clearing the counts");
  const auto body = [&](cudaStream_t into, loop_condition condition) {
    check(launch(begin_iteration, {1, 1}, into, counts.data()).code(), "launching");
    check(launch(count_one, {1, 1}, into, counts.data(), request.n, condition).code(), "launching");
  };
  const auto read_counts = [&] {
    return read_back(counts.data(), stream.get(), "reading the counts");
  };
#if RAMIFY_ON_CUDA
  std::optional<graph_loop> loop;
  if (request.in_graph) loop.emplace(body);
#endif
  for (unsigned i = 0; i < request.launches; ++i) {
    check(cudaMemsetAsync(&counts.data()->counted, 0, sizeof(unsigned), stream.get()), "clearing");
#if RAMIFY_ON_CUDA
    if (loop) {
      loop->launch(stream.get());
      continue;
    }
#endif
    do body(stream.get(), {});
    while (read_counts().counted < request.n);
  }
#if RAMIFY_ON_CUDA
  loop.reset();  // its last launch may still run
#endif
  return read_counts();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(runtime)

BOOST_AUTO_TEST_CASE(a_route_is_chosen_with_a_reason) {
  BOOST_TEST(route_reason(route::flat, 2048) == "flat: requested");
  BOOST_TEST(route_reason(route::device, 2048) == "device: requested");
  BOOST_TEST(route_reason(route::automatic, 2048) == "device: preferred");
  BOOST_TEST(route_reason(route::device, 48) == "device: requested");
  BOOST_TEST(route_reason(route::device, 47) ==
             "flat: the pending-launch limit of 47 gives 2 launch slots, and the device route "
             "needs 3");
}

BOOST_AUTO_TEST_CASE(plans_decide_an_automatic_route_only) {
  BOOST_TEST(planned_route(route::flat, 2048, false) == "flat: requested");
  BOOST_TEST(planned_route(route::device, 2048, false) == "device: requested");
  BOOST_TEST(planned_route(route::automatic, 47, false).find("flat: the pending") == 0u);
  const std::string chosen = planned_route(route::automatic, 2048, false);
#if RAMIFY_ON_CUDA
  // A thousand host round trips or one nested level.
  BOOST_TEST(chosen.find("device: flat: about ") == 0u);
  // The choice does not break a capture, and nothing is measured during it.
  BOOST_TEST(planned_route(route::automatic, 2048, true) == chosen);
#else
  BOOST_TEST(chosen == "device: as quick as flat on the CPU executor");
#endif
}

// The body sets the condition, so it runs at least once; then it runs as often as needed.
BOOST_DATA_TEST_CASE(a_loop_ends_as_its_body_decides,
                     data::make({false, RAMIFY_ON_CUDA != 0}) * data::make({0u, 1u, 2u, 1000u}),
                     in_graph, n) {
  for (const unsigned launches : {1u, 3u}) {
    const auto result = run_loop({.in_graph = in_graph, .n = n, .launches = launches});
    BOOST_TEST(result.counted == n);
    BOOST_TEST(result.iterations == launches * std::max(n, 1u));
  }
}

BOOST_AUTO_TEST_CASE(a_graph_loops_or_reports_why_not) {
#if RAMIFY_ON_CUDA
  BOOST_TEST(graph_loop_obstacle() == "");
  // An exception in the body is rethrown, and the next loop runs.
  const auto bad_body = [](cudaStream_t, loop_condition) {
    throw std::length_error("thrown by the body");
  };
  BOOST_CHECK_THROW(static_cast<void>(graph_loop(bad_body)), std::length_error);
  BOOST_TEST(run_loop({.n = 5}).iterations == 5u);
#else
  BOOST_CHECK_EXCEPTION(
      static_cast<void>(detail::choose_loop(flat_loop::graph, "environment.flat_loop")),
      unavailable,
      names("environment.flat_loop graph is not available: compiled by a C++ compiler"));
#endif
}

BOOST_AUTO_TEST_CASE(names_of_choices_are_parsed) {
  for (const auto b : {backend::automatic, backend::cuda, backend::cpu}) {
    BOOST_TEST((parse_backend(to_string(b)) == b));
  }
  for (const auto r : {route::automatic, route::device, route::flat}) {
    BOOST_TEST((parse_route(to_string(r)) == r));
  }
  for (const auto l : {flat_loop::automatic, flat_loop::graph, flat_loop::host}) {
    BOOST_TEST(parse_flat_loop(to_string(l)) == l);
  }
  for (const auto g : {granularity::per_task, granularity::per_block, granularity::per_grid}) {
    BOOST_TEST((parse_granularity(to_string(g)) == g));
  }
  BOOST_CHECK_THROW(static_cast<void>(parse_flat_loop("while")), std::invalid_argument);
  BOOST_CHECK_THROW(static_cast<void>(parse_granularity("warp")), std::invalid_argument);
  BOOST_CHECK_THROW(static_cast<void>(parse_backend("gpu")), std::invalid_argument);
  BOOST_CHECK_THROW(static_cast<void>(parse_route("")), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tests::inline RAMIFY_BUILD
