// SPDX-License-Identifier: BSD-3-Clause
// Shortest paths, connected components and PageRank on the backend of this build: every kind of
// graph, strategy and route against Boost.Graph and serial loops.
#include <boost/test/unit_test.hpp>
#include <ramify/cpu/executor.hpp>

#include "algorithm_calls.cuh"
#include "exceptions.hpp"

using namespace tests;
using ramify::flat_loop;

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
    (void)check_call<Call>(graph, settings_of(taken, edge_strategy::balanced));
    (void)check_call<Call>(graph, settings_of(taken, edge_strategy::aggregated));
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
  check_failed_launches<Call>(grid_with_holes(8), 6, 3);
}

#endif

BOOST_AUTO_TEST_CASE_TEMPLATE(faulty_graphs_are_refused, Call, all_calls) {
  host_graph graph = random_graph(200, 600);
  const host_graph right = graph;
  const auto expect_refused = [&](const std::string& what) {
    for (const route taken : routes) {
      const Call call(graph, with_base<typename Call::settings_type>(
                                 settings_of(taken, edge_strategy::balanced)));
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
  check_repeated_run<Call>(kronecker(7, 8));
}

#if RAMIFY_ON_CUDA

BOOST_AUTO_TEST_CASE_TEMPLATE(a_captured_run_is_right_in_each_launch_of_its_graph, Call,
                              all_calls) {
  check_captured_run<Call>(kronecker(10, 8));
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
        auto chosen = with_base<sssp_settings>(settings_of(taken, edge_strategy::balanced));
        chosen.delta = delta;
        const paths_call call(graph, chosen, weights_of(graph, seed));
        const auto report = call.start().get();
        BOOST_TEST(call.fault(&report) == "");
        if (delta != 0) BOOST_TEST(report.delta == delta);
        if (delta == 1e30f) BOOST_TEST(report.buckets == 1u);
        if (delta == 0.01f && seed == 1) BOOST_TEST(report.buckets > 5u);
      }
    }
  }
}

// Few vertices have most of the edges. In wide buckets a GPU visits them many times, each time over
// a shorter path. The executor visits one edge after the other, so it gains less than a GPU.
BOOST_AUTO_TEST_CASE(frontiers_with_many_edges_make_buckets_narrow) {
  const host_graph graph = kronecker(RAMIFY_ON_CUDA ? 18 : 10, 16);
  auto chosen = with_base<sssp_settings>(settings_of(route::flat, edge_strategy::balanced));
  const paths_call adapted(graph, chosen, weights_of(graph, 1));
  const auto narrow = adapted.start().get();
  BOOST_TEST(adapted.fault(&narrow) == "");
  chosen.delta = narrow.delta;
  const auto wide = paths_call(graph, chosen, weights_of(graph, 1)).start().get();
  BOOST_TEST_MESSAGE(narrow.visited_edges << " instead of " << wide.visited_edges << " edges");
  BOOST_TEST(narrow.buckets > 2 * wide.buckets);
  if (RAMIFY_ON_CUDA) BOOST_TEST(narrow.visited_edges < wide.visited_edges);
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
          graph, with_base<sssp_settings>(settings_of(taken, edge_strategy::balanced)), weights);
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
      auto chosen = with_base<pagerank_settings>(settings_of(taken, strategy));
      chosen.tolerance = 1e-9;
      chosen.max_iterations = 200;
      const pagerank_call call(graph, chosen);
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
    return ramify::shortest_paths(view, lengths, source, {.distances = distances}, {{}, delta});
  };
  expect("weights has 299 elements; it must have as many as targets, 300",
         [&] { return paths(weights.first(299), 0, nullptr, 0); });
  expect("source is 100", [&] { return paths(weights, 100, nullptr, 0); });
  expect("weights and distances overlap", [&] { return paths(weights, 0, floats.data(), 0); });
  for (const float delta : {-1.0f, infinity, std::nanf("")}) {
    expect("sssp_options.delta", [&] { return paths(weights, 0, nullptr, delta); });
  }
  const auto rank = [&](double damping, double tolerance, unsigned iterations) {
    return ramify::pagerank(view, ranks.data(), {{}, damping, tolerance, iterations});
  };
  for (const double damping : {-0.1, 1.0, std::nan("")}) {
    expect("pagerank_options.damping", [&] { return rank(damping, 1e-6, 10); });
  }
  for (const double tolerance : {0.0, -1.0, std::nan("")}) {
    expect("pagerank_options.tolerance", [&] { return rank(0.85, tolerance, 10); });
  }
  expect("pagerank_options.max_iterations", [&] { return rank(0.85, 1e-6, 0); });
  expect("targets and components overlap",
         [&] { return ramify::connected_components(view, graph.targets.data()); });
  expect("graph_options.heavy_degree",
         [&] { return ramify::connected_components(view, nullptr, {.heavy_degree = 0}); });
}

BOOST_AUTO_TEST_CASE(a_graph_without_vertices_has_no_components_and_no_ranks) {
  const ramify::graph_view none;
  const auto components = ramify::connected_components(none, nullptr);
  BOOST_TEST(components.components == 0u);
  BOOST_TEST(components.route_reason == "there are no vertices");
  BOOST_TEST(ramify::pagerank(none, nullptr).iterations == 0u);
  BOOST_CHECK_EXCEPTION((void)ramify::shortest_paths(none, std::span<const float>(), 0, {}),
                        std::invalid_argument, names("source is 0; it must be in [0, 0)"));
}

// Without a type, empty lengths are of type float.
BOOST_AUTO_TEST_CASE(a_graph_without_edges_needs_no_lengths) {
  const device_graph graph(host_graph("three vertices", 3, {}, false));
  auto distances = upload(std::vector<float>(3, -1));
  auto wide = upload(std::vector<double>(3, -1));
  auto parents = upload(std::vector<std::int32_t>(3, 7));
  BOOST_TEST(ramify::shortest_paths(graph.view(), {}, 2, {}).reached == 1u);
  (void)ramify::shortest_paths(graph.view(), {}, 2, {.parents = parents.data()});
  (void)ramify::shortest_paths_async(graph.view(), {}, 2, {.distances = distances.data()}).get();
  (void)ramify::shortest_paths(graph.view(), std::span<double>(), 1, {.distances = wide.data()});
  constexpr double infinity = std::numeric_limits<double>::infinity();
  BOOST_TEST((download(distances) == std::vector<float>{INFINITY, INFINITY, 0}));
  BOOST_TEST((download(wide) == std::vector<double>{infinity, 0, infinity}));
  BOOST_TEST((download(parents) == std::vector<std::int32_t>{-1, -1, -1}));
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
