// SPDX-License-Identifier: BSD-3-Clause
// Operators of the caller on graphs, on the backend of this build: the examples against Boost.Graph
// and serial loops, and the rules of frontiers.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <ramify/cpu/executor.hpp>

#include "exceptions.hpp"
#include "operator_calls.cuh"

namespace data = boost::unit_test::data;
using namespace tests;

namespace {

using example_calls = boost::mpl::list<k_core_call, triangles_call, labels_call>;

/// Returns simple graphs of each kind, and for label propagation, which counts votes, any graphs.
template <class Call>
std::vector<host_graph> graphs_for(std::size_t n, std::uint64_t seed = 1) {
  std::vector<host_graph> graphs = graphs_of_each_kind(n, seed);
  if constexpr (!std::is_same_v<Call, labels_call>) {
    for (host_graph& graph : graphs) graph = simple(graph);
  }
  return graphs;
}

/// Runs an example with each strategy and route on graphs of each kind, or one in `of` of them.
template <class Call>
void check_example(std::size_t n, int& piece, int of, std::size_t pending_launches = 0) {
  for (const host_graph& graph : graphs_for<Call>(n, n)) {
    check_all_calls<Call>(graph, piece, stride(of), pending_launches);
  }
}

/// Checks what is in a frontier, by a fixed sequence of operators.
struct probe {
  struct state {
    unsigned vertices[6]{};
    unsigned long long edges[6]{};
    unsigned long long all = 0;
  };
  struct begin : ramify::all_vertices {};
  struct spread : ramify::frontier_edges {};
  struct count : ramify::frontier_vertices {};
  struct halve : ramify::frontier_vertices {};
  struct sum : ramify::all_edges {};
  using step = ramify::graph_step<begin, spread, count, halve, sum>;

  const std::int32_t* targets;
  int* visits;  // of each vertex: the visits of `count`

  __device__ bool operator()(begin, state&, int v) const {
    visits[v] = 0;
    return v % 3 == 0;
  }
  __device__ bool operator()(spread, state&, ramify::graph_edge) const { return true; }
  __device__ void operator()(count, state&, int v) const { atomicAdd(&visits[v], 1); }
  __device__ bool operator()(halve, state&, int v) const { return v % 2 == 0; }
  __device__ void operator()(sum, state& s, ramify::graph_edge e) const {
    if (targets[e.index] != e.target) atomicAdd(&s.all, 1ull << 40);
    atomicAdd(&s.all, static_cast<unsigned long long>(e.source) + 1);
  }
  __device__ step next(state& s, const ramify::graph_round<step>& after) const {
    s.vertices[after.rounds - 1] = after.frontier.vertices;
    s.edges[after.rounds - 1] = after.frontier.edges;
    if (after.last == begin{}) return spread{};
    if (after.last == spread{}) return count{};
    if (after.last == sum{}) return step::done();
    if (after.last == halve{}) return sum{};
    return halve{};
  }
};

/// Has one operator whose edges lead to distinct vertices, and one whose edges do not.
struct two_kinds {
  struct state {
    unsigned vertices[3]{};
  };
  struct begin : ramify::all_vertices {};
  struct spread : ramify::frontier_edges {};
  struct claim : ramify::frontier_edges, ramify::distinct_targets {};
  using step = ramify::graph_step<begin, spread, claim>;

  int* claimed;  // of each vertex, 0 before

  __device__ bool operator()(begin, state&, int v) const { return v % 3 == 0; }
  __device__ bool operator()(spread, state&, ramify::graph_edge) const { return true; }
  __device__ bool operator()(claim, state&, ramify::graph_edge e) const {
    return atomicExch(&claimed[e.target], 1) == 0;
  }
  __device__ step next(state& s, const ramify::graph_round<step>& after) const {
    s.vertices[after.rounds - 1] = after.frontier.vertices;
    if (after.last == begin{}) return spread{};
    return after.last == spread{} ? claim{} : step::done();
  }
};

/// Ends after two operators, the second of which has an empty frontier.
struct no_frontier {
  struct state {
    unsigned visits = 0;
  };
  struct find : ramify::frontier_vertices {};
  struct visit : ramify::frontier_edges {};
  using step = ramify::graph_step<find, visit>;

  __device__ bool operator()(find, state& s, int) const { return atomicAdd(&s.visits, 1) == 0; }
  __device__ void operator()(visit, state& s, ramify::graph_edge) const { atomicAdd(&s.visits, 1); }
  __device__ step next(state&, const ramify::graph_round<step>& after) const {
    return after.last == find{} ? visit{} : step::done();
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(graph_operators)

BOOST_AUTO_TEST_CASE_TEMPLATE(every_graph_strategy_and_route, Call, example_calls) {
  int piece = 0;
  check_example<Call>(200, piece, 1);
  for (const std::size_t n : {2, 31, 32, 33, 64, 65, 129, 1025}) check_example<Call>(n, piece, 29);
}

BOOST_AUTO_TEST_CASE(breadth_first_search_of_each_graph) {
  int piece = 0;
  for (const host_graph& graph : graphs_of_each_kind(300)) {
    check_all_calls<breadth_first_call>(graph, piece, stride(5));
  }
}

BOOST_AUTO_TEST_CASE(betweenness_of_each_graph) {
  int piece = 0;
  check_example<betweenness_call>(40, piece, 7);
  check_example<betweenness_call>(90, piece, 43);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(on_the_executor))
BOOST_DATA_TEST_CASE(every_random_schedule, data::xrange(random_schedules()), seed) {
  const ramify::cpu::scoped_executor_config config(
      {.order = ramify::cpu::schedule::random, .seed = std::uint64_t(seed)});
  int piece = seed;
  check_example<k_core_call>(std::size_t(70 + seed), piece, 43);
  check_example<labels_call>(std::size_t(70 + seed), piece, 43);
}

BOOST_DATA_TEST_CASE(no_work_is_lost_at_any_limit, data::make({1, 16, 32, 2048}), limit) {
  int piece = limit;
  check_example<k_core_call>(200, piece, 13, std::size_t(limit));
  check_example<labels_call>(200, piece, 13, std::size_t(limit));
}

#if !RAMIFY_ON_CUDA  // only the executor can be configured

BOOST_AUTO_TEST_CASE(the_host_continues_after_any_failed_launch) {
  check_failed_launches<k_core_call>(simple(kronecker(7, 4)), 12, 6);
}

#else

BOOST_AUTO_TEST_CASE_TEMPLATE(a_captured_run_is_right_in_each_launch_of_its_graph, Call,
                              example_calls) {
  check_captured_run<Call>(simple(kronecker(9, 8)));
}

#endif

// A vertex is in the frontier once, although several edges lead to it. An operator that returns
// nothing leaves the frontier as it is.
BOOST_AUTO_TEST_CASE(a_frontier_has_each_vertex_once) {
  for (const host_graph& graph : {loops_and_repeats(70), kronecker(7, 8), star(200), path(1)}) {
    const std::size_t n = graph.vertices();
    std::vector<int> expected(n);
    unsigned vertices = 0, even = 0;
    std::uint64_t all = 0;
    for (const auto& [u, v] : graph.list) {
      if (u % 3 == 0) expected[std::size_t(v)] = 1;
      all += std::uint64_t(u) + 1;
    }
    for (std::size_t v = 0; v < n; ++v) {
      vertices += unsigned(expected[v]);
      if (v % 2 == 0) even += unsigned(expected[v]);
    }
    const device_graph on_device(graph);
    const auto visits = upload(std::vector<int>(n, -7));
    const probe algorithm{on_device.targets.data(), visits.data()};
    for (const route taken : routes) {
      for (const edge_strategy strategy : ramify::all_choices<edge_strategy>()) {
        const auto chosen = settings_of(taken, strategy);
        const auto report = ramify::graph_rounds(on_device.view(), algorithm, chosen, chosen);
        BOOST_TEST(download(visits) == expected, boost::test_tools::per_element());
        BOOST_TEST(report.rounds == 5u);
        const auto& [counts, edges, sum] = report.state;
        BOOST_TEST(counts[0] == (n + 2) / 3);
        BOOST_TEST(counts[1] == vertices);
        BOOST_TEST(counts[2] == vertices);
        BOOST_TEST(edges[2] == edges[1]);
        BOOST_TEST(counts[3] == even);
        BOOST_TEST(counts[4] == even);
        BOOST_TEST(sum == all);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_first_frontier_is_empty) {
  const device_graph graph(kronecker(5, 4));
  for (const route taken : routes) {
    const auto report = ramify::graph_rounds(graph.view(), no_frontier{}, {.route = taken});
    BOOST_TEST(report.state.visits == 0u);
    BOOST_TEST(report.rounds == 2u);
  }
}

BOOST_AUTO_TEST_CASE(faulty_graphs_and_options_are_refused) {
  host_graph graph = simple(random_graph(200, 600));
  graph.targets[44] = 200;
  for (const route taken : routes) {
    const k_core_call call(graph, settings_of(taken, edge_strategy::balanced));
    BOOST_CHECK_EXCEPTION((void)call.start().get(), std::invalid_argument,
                          names("graph: targets[44] is 200; it must be in [0, 200)"));
    BOOST_TEST(call.is_unchanged());
  }
  const device_graph right(simple(kronecker(4, 4)));
  const examples::triangles algorithm{right.offsets.data(), right.targets.data()};
  BOOST_CHECK_EXCEPTION((void)ramify::graph_rounds(right.view(), algorithm, {.heavy_degree = 0}),
                        std::invalid_argument, names("graph_options.heavy_degree"));
  const auto report = ramify::graph_rounds(ramify::graph_view{}, algorithm);
  BOOST_TEST(report.route_reason == "there are no vertices");
  BOOST_TEST(report.state.count == 0u);
}

BOOST_AUTO_TEST_CASE(a_run_may_be_destroyed_and_repeated) {
  check_repeated_run<k_core_call>(simple(kronecker(6, 8)));
}

// Only the device has the numbers of vertices and edges: the graph of the first vertices.
BOOST_AUTO_TEST_CASE(sizes_may_be_on_the_device) {
  const host_graph part = simple(kronecker(6, 4));
  host_graph whole = part;
  for (const std::size_t more : {1, 2, 3}) whole.offsets.push_back(part.offsets.back() + int(more));
  whole.targets.insert(whole.targets.end(), {0, 1, 2});
  const device_graph graph(whole);
  const auto count = upload(std::vector<std::uint64_t>{part.vertices()});
  const auto view =
      graph.view(false).with_vertices(ramify::device_count(count.data(), whole.vertices()));
  for (const route taken : routes) {
    const examples::triangles algorithm{graph.offsets.data(), graph.targets.data()};
    const auto report = ramify::graph_rounds(view, algorithm, {.route = taken});
    BOOST_TEST(report.state.count == serial_triangles(part.vertices(), part.list));
    BOOST_TEST(report.vertices == part.vertices());
    // No vertices, and more than the arrays have.
    for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{whole.vertices() + 1}}) {
      const auto number = upload(std::vector<std::uint64_t>{n});
      const auto other =
          graph.view(false).with_vertices(ramify::device_count(number.data(), whole.vertices()));
      const k_core_call arrays(whole, {});
      const examples::k_core cores{graph.offsets.data(), arrays.degrees.data(),
                                   arrays.cores.data()};
      if (n == 0) {
        BOOST_TEST(ramify::graph_rounds(other, algorithm, {.route = taken}).state.count == 0u);
        BOOST_TEST(ramify::graph_rounds(other, cores, {.route = taken}).vertices == 0u);
      } else {
        BOOST_CHECK_THROW((void)ramify::graph_rounds(other, cores, {.route = taken}),
                          std::length_error);
      }
      BOOST_TEST(arrays.is_unchanged());
    }
  }
}

// The loop checks for repeated vertices where an operator does not exclude them.
BOOST_AUTO_TEST_CASE(operators_with_and_without_distinct_targets) {
  for (const host_graph& graph : {loops_and_repeats(70), kronecker(7, 8)}) {
    const std::size_t n = graph.vertices();
    std::vector<int> reached(n), next(n);
    for (const auto& [u, v] : graph.list) {
      if (u % 3 == 0) reached[std::size_t(v)] = 1;
    }
    for (const auto& [u, v] : graph.list) {
      if (reached[std::size_t(u)] != 0) next[std::size_t(v)] = 1;
    }
    const device_graph on_device(graph);
    for (const route taken : routes) {
      const auto claimed = upload(std::vector<int>(n, 0));
      const auto report =
          ramify::graph_rounds(on_device.view(), two_kinds{claimed.data()}, {.route = taken});
      BOOST_TEST(report.state.vertices[1] ==
                 unsigned(std::count(reached.begin(), reached.end(), 1)));
      BOOST_TEST(report.state.vertices[2] == unsigned(std::count(next.begin(), next.end(), 1)));
      BOOST_TEST(download(claimed) == next, boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_CASE(scratch_of_operators_is_as_documented) {
  const std::int64_t* const none = nullptr;
  const auto graph = ramify::graph_view::directed({none, 1'000'001}, {});
  BOOST_TEST(double(ramify::graph_rounds_scratch_bytes<examples::k_core>(graph)) < 24.01e6);
  // An operator that may return true for several edges to a vertex takes 4 bytes more.
  const auto of_probe = double(ramify::graph_rounds_scratch_bytes<probe>(graph));
  BOOST_TEST((27.99e6 < of_probe && of_probe < 28.01e6));
  BOOST_TEST(double(ramify::graph_rounds_scratch_bytes<no_frontier>(graph)) < 24.01e6);
  BOOST_TEST(ramify::graph_rounds_scratch_bytes<examples::triangles>(graph) < 5000u);
}

BOOST_AUTO_TEST_CASE(the_oracles_detect_wrong_results) {
  const host_graph graph = simple(kronecker(6, 4));
  const k_core_call call(graph, {});
  auto report = call.start().get();
  BOOST_TEST(call.fault(&report) == "");
  auto cores = download(call.cores);
  ++cores[3];
  BOOST_TEST(difference(cores, boost_cores(graph.vertices(), graph.list)) != "");
  const triangles_call closing(graph, {});
  auto closed = closing.start().get();
  BOOST_TEST(closed.state.count > 20u);
  ++closed.state.count;
  BOOST_TEST(closing.fault(&closed) != "");
}

BOOST_AUTO_TEST_SUITE_END()
