// SPDX-License-Identifier: BSD-3-Clause
// Shortest paths, connected components and PageRank on the backend of this build: every kind of
// graph, strategy and route against Boost.Graph and serial loops.
#include <boost/mpl/list.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <optional>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/captured_graph.cuh>
#include <ramify/runtime/stream.cuh>

#include "exceptions.hpp"
#include "graph_checks.cuh"

using namespace tests;
using ramify::edge_strategy;
using ramify::flat_loop;
using ramify::graph_config;
using ramify::route;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// Returns random lengths of the edges. The seed modulo 3 selects their kind: 0: half of them are
/// zero; 1: real numbers; 2: whole numbers and infinity.
std::vector<float> weights_of(const host_graph& graph, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<float> weights(graph.targets.size());
  for (float& w : weights) {
    w = static_cast<float>(random() % 1'000'000) * 1e-6f;
    if (seed % 3 == 0) w = random() % 2 == 0 ? 0.0f : w;
    if (seed % 3 == 2) w = random() % 9 == 0 ? infinity : static_cast<float>(random() % 20);
  }
  return weights;
}

graph_config config_of(route taken, edge_strategy strategy) {
  return bfs_config_of(taken, strategy);
}

/// Returns a configuration of type Config with the fields of graph_config.
template <class Config>
Config with_base(const graph_config& base) {
  Config config;
  static_cast<graph_config&>(config) = base;
  return config;
}

/// Returns a message about the first value that is not as expected, or an empty string.
template <class T>
std::string difference(const std::vector<T>& results, const std::vector<T>& expected,
                       double tolerance = 0) {
  for (std::size_t v = 0; v < expected.size(); ++v) {
    if (results[v] == expected[v]) continue;
    if (std::abs(double(results[v]) - double(expected[v])) <= tolerance) continue;
    return "vertex " + std::to_string(v) + ": " + std::to_string(results[v]) + " instead of " +
           std::to_string(expected[v]);
  }
  return {};
}

// ---- an algorithm: its arrays on the device, how to start it, and the check of its results ----

struct paths_call {
  using config_type = ramify::sssp_config;
  using run_type = ramify::sssp_run;

  paths_call(const host_graph& g, const config_type& c, std::vector<float> w = {})
      : host(g),
        config(c),
        weights(w.empty() ? weights_of(g, g.vertices()) : std::move(w)),
        graph(g),
        device_weights(upload(weights)),
        distances(upload(std::vector<float>(g.vertices(), -7))),
        parents(upload(std::vector<std::int32_t>(g.vertices(), -7))),
        scratch(ramify::sssp_scratch_bytes(graph.view(), c), nullptr) {}

  [[nodiscard]] run_type start(cudaStream_t stream = nullptr) const {
    return ramify::shortest_paths_async(graph.view(),
                                        {device_weights.data(), device_weights.size()}, 0,
                                        {.distances = distances.data(), .parents = parents.data()},
                                        stream, config, {scratch.data(), scratch.size()});
  }
  [[nodiscard]] std::string fault(const ramify::sssp_report* report = nullptr) const {
    const auto found = download(distances);
    const auto expected = boost_distances(host.vertices(), host.list, weights, 0);
    if (const auto wrong = difference(found, expected); !wrong.empty()) return wrong;
    const auto reached = std::ranges::count_if(expected, [](float d) { return d < infinity; });
    if (report != nullptr && report->reached != std::uint64_t(reached)) return "reached";
    return parent_fault(found, download(parents));
  }
  [[nodiscard]] bool is_unchanged() const {
    return download(distances) == std::vector<float>(host.vertices(), -7) &&
           download(parents) == std::vector<std::int32_t>(host.vertices(), -7);
  }

  /// Returns the first vertex whose parent is wrong. There must be an edge of the right length, and
  /// parents must lead to the source.
  [[nodiscard]] std::string parent_fault(const std::vector<float>& d,
                                         const std::vector<std::int32_t>& p) const {
    std::vector<bool> has_edge(host.vertices());
    for (std::size_t e = 0; e < weights.size(); ++e) {
      const auto [u, v] = host.list[e];
      const auto from = std::size_t(u), to = std::size_t(v);
      if (p[to] == u && d[from] + weights[e] == d[to]) has_edge[to] = true;
    }
    for (std::size_t v = 0; v < host.vertices(); ++v) {
      const bool has_parent = v != 0 && d[v] < infinity;
      bool is_right = has_parent ? has_edge[v] : p[v] == -1;
      std::size_t at = v;
      for (std::size_t steps = 0; is_right && p[at] != -1; ++steps) {
        at = std::size_t(p[at]);
        is_right = steps < host.vertices();
      }
      if (!is_right) return "the parent of vertex " + std::to_string(v);
    }
    return {};
  }

  host_graph host;
  config_type config;
  std::vector<float> weights;
  device_graph graph;
  ramify::device_buffer<float> device_weights, distances;
  ramify::device_buffer<std::int32_t> parents;
  ramify::device_buffer<std::byte> scratch;
};

struct components_call {
  using config_type = graph_config;
  using run_type = ramify::components_run;

  components_call(const host_graph& g, const config_type& c)
      : host(g),
        config(c),
        graph(g),
        components(upload(std::vector<std::int32_t>(g.vertices(), -7))),
        scratch(ramify::components_scratch_bytes(graph.view(), c), nullptr) {}

  [[nodiscard]] run_type start(cudaStream_t stream = nullptr) const {
    return ramify::connected_components_async(graph.view(), components.data(), stream, config,
                                              {scratch.data(), scratch.size()});
  }
  [[nodiscard]] std::string fault(const ramify::components_report* report = nullptr) const {
    const auto expected = boost_components(host.vertices(), host.list);
    std::size_t count = 0;
    for (std::size_t v = 0; v < expected.size(); ++v) count += std::size_t(expected[v]) == v;
    if (report != nullptr && report->components != count) return "the number of components";
    return difference(download(components), expected);
  }
  [[nodiscard]] bool is_unchanged() const {
    return download(components) == std::vector<std::int32_t>(host.vertices(), -7);
  }

  host_graph host;
  config_type config;
  device_graph graph;
  ramify::device_buffer<std::int32_t> components;
  ramify::device_buffer<std::byte> scratch;
};

struct pagerank_call {
  using config_type = ramify::pagerank_config;
  using run_type = ramify::pagerank_run;

  pagerank_call(const host_graph& g, config_type c)
      : host(g),
        config(few_iterations(c)),
        graph(g),
        ranks(upload(std::vector<double>(g.vertices(), -7))),
        scratch(ramify::pagerank_scratch_bytes(graph.view(), c), nullptr) {}

  [[nodiscard]] run_type start(cudaStream_t stream = nullptr) const {
    return ramify::pagerank_async(graph.view(), ranks.data(), stream, config,
                                  {scratch.data(), scratch.size()});
  }
  [[nodiscard]] std::string fault(const ramify::pagerank_report* report = nullptr) const {
    const unsigned iterations =
        report == nullptr ? config.max_iterations : unsigned(report->iterations);
    const auto found = download(ranks);
    double sum = 0;
    for (const double r : found) sum += r;
    if (std::abs(sum - 1) > 1e-12) return "the sum is " + std::to_string(sum);
    return difference(found, serial_ranks(host.vertices(), host.list, config.damping, iterations),
                      1e-13);
  }
  [[nodiscard]] bool is_unchanged() const {
    return download(ranks) == std::vector<double>(host.vertices(), -7);
  }

  /// Returns a configuration of four iterations, unless `c` has limits of its own: most tests need
  /// no converged ranks.
  static config_type few_iterations(config_type c) {
    if (c.max_iterations == 100) c.max_iterations = 4;
    if (c.tolerance == 1e-6) c.tolerance = 1e-30;
    return c;
  }

  host_graph host;
  config_type config;
  device_graph graph;
  ramify::device_buffer<double> ranks;
  ramify::device_buffer<std::byte> scratch;
};

using all_calls = boost::mpl::list<paths_call, components_call, pagerank_call>;

/// Runs an algorithm, and checks its results, its report and the launch slots.
template <class Call>
auto check_call(const host_graph& graph, const graph_config& config,
                std::size_t pending_launches = 0) {
  static const slot_leaks_are_noticed leaks;
  const auto limits = scoped_limit(pending_launches);
  const Call call(graph, with_base<typename Call::config_type>(config));
  const auto report = with_grids_counted([&] { return call.start().get(); });
  BOOST_TEST(call.fault(&report) == "");
  BOOST_TEST(report.vertices == graph.vertices());
  BOOST_TEST(report.edges == graph.targets.size());
  BOOST_TEST(report.scratch_bytes == call.scratch.size());
  return report;
}

/// Runs an algorithm with each strategy and route, or with one in `of` of them.
template <class Call>
void check_all_calls(const host_graph& graph, int& piece, int of = 1,
                     std::size_t pending_launches = 0) {
  for (const route taken : routes) {
    for (const edge_strategy strategy : ramify::all_choices<edge_strategy>()) {
      if (piece++ % of != 0) continue;
      BOOST_TEST_CONTEXT(graph.name << ", " << graph.vertices() << " vertices, "
                                    << to_string(strategy) << ", " << to_string(taken)) {
        (void)check_call<Call>(graph, config_of(taken, strategy), pending_launches);
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(graph_algorithms)

BOOST_AUTO_TEST_CASE_TEMPLATE(every_graph_strategy_and_route, Call, all_calls) {
  int piece = 0;
  for (const host_graph& graph : graphs_of_each_kind(300)) {
    check_all_calls<Call>(graph, piece, stride(1));
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(every_size, Call, all_calls) {
  int piece = 0;
  for (const std::size_t n : {2, 31, 32, 33, 64, 65, 129, 1025}) {
    for (const host_graph& graph : graphs_of_each_kind(n, n)) {
      check_all_calls<Call>(graph, piece, stride(17));
    }
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_large_kronecker_graph, Call, all_calls) {
  const host_graph graph = kronecker(RAMIFY_ON_CUDA ? 16 : effort() < 1 ? 8 : 11, 16);
  for (const route taken : routes) {
    (void)check_call<Call>(graph, config_of(taken, edge_strategy::balanced));
    (void)check_call<Call>(graph, config_of(taken, edge_strategy::aggregated));
  }
}

#if !RAMIFY_ON_CUDA  // only the executor can be configured

BOOST_AUTO_TEST_CASE_TEMPLATE(every_random_schedule, Call, all_calls) {
  for (int seed = 0; seed < random_schedules(); ++seed) {
    const ramify::cpu::scoped_executor_config config(
        {.order = ramify::cpu::schedule::random, .seed = std::uint64_t(seed)});
    int piece = seed;
    for (const host_graph& graph : graphs_of_each_kind(std::size_t(70 + seed), 1)) {
      check_all_calls<Call>(graph, piece, stride(43));
    }
  }
}

#endif

BOOST_AUTO_TEST_CASE_TEMPLATE(no_work_is_lost_at_any_limit, Call, all_calls) {
  int piece = 0;
  for (const std::size_t limit : {1, 16, 32, 2048}) {
    for (const host_graph& graph : graphs_of_each_kind(300)) {
      check_all_calls<Call>(graph, piece, stride(7), limit);
    }
  }
}

#if !RAMIFY_ON_CUDA  // only the executor can be configured

BOOST_AUTO_TEST_CASE_TEMPLATE(the_host_continues_after_any_failed_launch, Call, all_calls) {
  const host_graph graph = grid_with_holes(8);
  for (const edge_strategy strategy : {edge_strategy::warp, edge_strategy::aggregated}) {
    std::uint64_t least_grids = 0;
    unsigned interrupted = 0;
    for (std::uint64_t failing = 0; failing <= 6; ++failing) {
      auto executor = ramify::cpu::current_executor_config();
      executor.failing_launch = failing;  // 0: none
      const ramify::cpu::scoped_executor_config scope(executor);
      const auto report = check_call<Call>(graph, config_of(route::device, strategy));
      if (failing == 0) least_grids = report.host_grids;
      if (report.host_grids > least_grids || report.spilled_tasks > 0) ++interrupted;
    }
    BOOST_TEST(interrupted >= 3u);  // negative control: the failures did end launches
  }
}

#endif

BOOST_AUTO_TEST_CASE_TEMPLATE(faulty_graphs_are_refused, Call, all_calls) {
  host_graph graph = random_graph(200, 600);
  const host_graph right = graph;
  const auto expect_refused = [&](const std::string& what) {
    for (const route taken : routes) {
      const Call call(
          graph, with_base<typename Call::config_type>(config_of(taken, edge_strategy::balanced)));
      BOOST_CHECK_EXCEPTION((void)call.start().get(), std::invalid_argument, names(what));
      BOOST_TEST(call.is_unchanged());
      BOOST_TEST(slots_in_use() == 0u);
    }
    graph = right;
  };
  graph.targets[44] = 200;
  expect_refused("graph: targets[44] is 200; it must be in [0, 200)");
  graph.offsets[7] = 1'000;
  expect_refused("offsets[7] is 1000; offsets must begin with 0, never decrease");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_run_may_be_destroyed_and_repeated, Call, all_calls) {
  const host_graph graph = kronecker(7, 8);
  for (const route taken : routes) {
    const Call call(
        graph, with_base<typename Call::config_type>(config_of(taken, edge_strategy::balanced)));
    const ramify::host_stream stream;
    ramify::check(cudaStreamSynchronize(nullptr), "waiting for the input");
    { const auto run = call.start(stream.get()); }
    auto run = call.start(stream.get());
    const auto report = run.get();
    BOOST_TEST(call.fault(&report) == "");
    BOOST_CHECK_THROW((void)run.get(), std::logic_error);
  }
}

#if RAMIFY_ON_CUDA

BOOST_AUTO_TEST_CASE_TEMPLATE(a_captured_run_is_right_in_each_launch_of_its_graph, Call,
                              all_calls) {
  const host_graph graph = kronecker(10, 8);
  for (const route taken : routes) {
    for (const edge_strategy strategy : {edge_strategy::balanced, edge_strategy::aggregated}) {
      const Call call(graph, with_base<typename Call::config_type>(config_of(taken, strategy)));
      const ramify::host_stream stream;
      ramify::check(cudaDeviceSynchronize(), "waiting for the input");
      std::optional<typename Call::run_type> run;
      const ramify::captured_graph captured(stream.get(), [&] { run = call.start(stream.get()); });
      for (int i = 0; i < 3; ++i) {
        captured.launch(stream.get());
        const auto report = run->get();
        BOOST_TEST(call.fault(&report) == "");
      }
    }
  }
}

#endif

// ---- shortest paths ----

BOOST_AUTO_TEST_CASE(distances_do_not_depend_on_delta) {
  int piece = 0;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const host_graph graph = kronecker(7, 6, seed);
    for (const float delta : {0.0f, 1e-30f, 0.01f, 0.3f, 7.0f, 1e30f}) {
      for (const route taken : routes) {
        if (left_out(piece)) continue;
        auto config = with_base<ramify::sssp_config>(config_of(taken, edge_strategy::balanced));
        config.delta = delta;
        const paths_call call(graph, config, weights_of(graph, seed));
        const auto report = call.start().get();
        BOOST_TEST(call.fault(&report) == "");
        if (delta != 0) BOOST_TEST(report.delta == delta);
        if (delta == 1e30f) BOOST_TEST(report.buckets == 1u);
        if (delta == 0.01f && seed == 1) BOOST_TEST(report.buckets > 5u);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(lengths_of_zero_and_infinity) {
  const host_graph graph = loops_and_repeats(40);
  for (const float length : {0.0f, -0.0f, infinity, 3e38f, 1e-45f}) {
    const paths_call call(graph, {}, std::vector<float>(graph.targets.size(), length));
    const auto report = call.start().get();
    BOOST_TEST(call.fault(&report) == "");
  }
}

BOOST_AUTO_TEST_CASE(bad_lengths_are_refused) {
  const host_graph graph = random_graph(200, 600);
  for (const float bad : {-1.0f, -infinity, std::nanf(""), -1e-45f}) {
    for (const route taken : routes) {
      auto weights = weights_of(graph);
      weights[300] = weights[77] = bad;
      const paths_call call(
          graph, with_base<ramify::sssp_config>(config_of(taken, edge_strategy::balanced)),
          weights);
      BOOST_CHECK_EXCEPTION((void)call.start().get(), std::invalid_argument,
                            names("graph: weights[77] is " + std::to_string(bad)));
      BOOST_TEST(call.is_unchanged());
    }
  }
}

// ---- PageRank ----

BOOST_AUTO_TEST_CASE(ranks_converge_and_are_the_same_in_every_run) {
  const host_graph graph = kronecker(8, 6);
  std::vector<double> first;
  int piece = 0;
  for (const route taken : routes) {
    for (const edge_strategy strategy : ramify::all_choices<edge_strategy>()) {
      if (left_out(piece)) continue;
      auto config = with_base<ramify::pagerank_config>(config_of(taken, strategy));
      config.tolerance = 1e-9;
      config.max_iterations = 200;
      const pagerank_call call(graph, config);
      const auto report = call.start().get();
      BOOST_TEST(report.converged);
      BOOST_TEST(report.change <= 1e-9);
      BOOST_TEST(report.iterations > 10u);
      BOOST_TEST(report.iterations < 200u);
      const auto ranks = download(call.ranks);
      if (first.empty()) first = ranks;
      BOOST_TEST((ranks == first));
    }
  }
  BOOST_TEST(difference(first, serial_ranks(graph.vertices(), graph.list, 0.85, 300), 1e-8) == "");
}

// ---- arguments ----

BOOST_AUTO_TEST_CASE(bad_arguments_of_the_algorithms_are_named) {
  const device_graph graph(random_graph(100, 300));
  const auto view = graph.view();
  const ramify::device_buffer<float> floats(300, nullptr);
  const ramify::device_buffer<double> ranks(100, nullptr);
  const std::span<const float> weights(floats.data(), 300);
  const auto expect = [](const std::string& what, auto call) {
    BOOST_CHECK_EXCEPTION((void)call(), std::invalid_argument, names(what));
  };
  const auto paths = [&](std::span<const float> lengths, std::int64_t source, float* distances,
                         float delta) {
    ramify::sssp_config config;
    config.delta = delta;
    return ramify::shortest_paths(view, lengths, source, {.distances = distances}, nullptr, config);
  };
  expect("weights has 299 elements; it must have as many as targets, 300",
         [&] { return paths(weights.first(299), 0, nullptr, 0); });
  expect("source is 100", [&] { return paths(weights, 100, nullptr, 0); });
  expect("weights and distances overlap", [&] { return paths(weights, 0, floats.data(), 0); });
  for (const float delta : {-1.0f, infinity, std::nanf("")}) {
    expect("sssp_config.delta", [&] { return paths(weights, 0, nullptr, delta); });
  }
  const auto rank = [&](double damping, double tolerance, unsigned iterations) {
    ramify::pagerank_config config;
    config.damping = damping;
    config.tolerance = tolerance;
    config.max_iterations = iterations;
    return ramify::pagerank(view, ranks.data(), nullptr, config);
  };
  for (const double damping : {-0.1, 1.0, std::nan("")}) {
    expect("pagerank_config.damping", [&] { return rank(damping, 1e-6, 10); });
  }
  for (const double tolerance : {0.0, -1.0, std::nan("")}) {
    expect("pagerank_config.tolerance", [&] { return rank(0.85, tolerance, 10); });
  }
  expect("pagerank_config.max_iterations", [&] { return rank(0.85, 1e-6, 0); });
  expect("targets and components overlap",
         [&] { return ramify::connected_components(view, graph.targets.data()); });
  graph_config config;
  config.heavy_degree = 0;
  expect("graph_config.heavy_degree",
         [&] { return ramify::connected_components(view, nullptr, nullptr, config); });
}

BOOST_AUTO_TEST_CASE(a_graph_without_vertices_has_no_components_and_no_ranks) {
  const ramify::graph_view none;
  const auto components = ramify::connected_components(none, nullptr);
  BOOST_TEST(components.components == 0u);
  BOOST_TEST(components.route_reason == "there are no vertices");
  BOOST_TEST(ramify::pagerank(none, nullptr).iterations == 0u);
  BOOST_CHECK_EXCEPTION((void)ramify::shortest_paths(none, {}, 0, {}), std::invalid_argument,
                        names("source is 0; it must be in [0, 0)"));
}

BOOST_AUTO_TEST_CASE(outputs_may_be_omitted) {
  const host_graph graph = kronecker(7, 8);
  const device_graph on_device(graph);
  const auto expected = boost_components(graph.vertices(), graph.list);
  std::size_t count = 0;
  for (std::size_t v = 0; v < expected.size(); ++v) count += std::size_t(expected[v]) == v;
  BOOST_TEST(ramify::connected_components(on_device.view(), nullptr).components == count);
  BOOST_TEST(ramify::pagerank(on_device.view(), nullptr).converged);
  const auto weights = upload(weights_of(graph));
  const auto paths =
      ramify::shortest_paths(on_device.view(), {weights.data(), weights.size()}, 0, {});
  BOOST_TEST(paths.reached > 10u);
}

BOOST_AUTO_TEST_CASE(scratch_of_the_algorithms_is_as_documented) {
  const std::int64_t* const none = nullptr;
  const auto graph = ramify::graph_view::directed({none, 1'000'001}, {});
  BOOST_TEST(double(ramify::sssp_scratch_bytes(graph)) < 36.14e6);
  BOOST_TEST(double(ramify::components_scratch_bytes(graph)) < 4.01e6);
  BOOST_TEST(double(ramify::pagerank_scratch_bytes(graph)) < 24.01e6);
}

BOOST_AUTO_TEST_SUITE_END()
