// SPDX-License-Identifier: BSD-3-Clause
// Breadth-first searches from many sources on the backend of this build: every kind of graph,
// strategy and route against single searches by Boost.Graph.
#include <array>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "algorithm_calls.cuh"
#include "exceptions.hpp"

namespace data = boost::unit_test::data;
using namespace tests;

namespace {

/// Returns k sources, of which some are equal.
std::vector<std::int64_t> some_sources(std::size_t n, std::size_t k) {
  std::vector<std::int64_t> sources(k);
  for (std::size_t i = 0; i < k; ++i) sources[i] = std::int64_t(i * i * 7 % n);
  return sources;
}

struct searches_call {
  using settings_type = graph_settings;

  searches_call(const host_graph& g, const settings_type& c, std::vector<std::int64_t> from)
      : host(g),
        chosen(c),
        sources(std::move(from)),
        graph(g),
        levels(upload(std::vector<std::int32_t>(sources.size() * g.vertices(), -7))),
        scratch(ramify::searches_scratch_bytes(graph.view(), c), nullptr) {}
  searches_call(const host_graph& g, const settings_type& c)
      : searches_call(g, c, some_sources(g.vertices(), 64)) {}

  [[nodiscard]] auto start(cudaStream_t stream = nullptr) const {
    return ramify::breadth_first_searches_async(graph.view(), sources, levels.data(), chosen,
                                                chosen.with(stream, scratch));
  }
  [[nodiscard]] std::string fault(const ramify::searches_report* report = nullptr) const {
    const auto found = download(levels);
    std::vector<std::int32_t> expected;
    for (const std::int64_t source : sources) {
      const auto row = boost_levels(host.vertices(), host.list, std::int32_t(source));
      expected.insert(expected.end(), row.begin(), row.end());
    }
    if (report != nullptr && report->levels != std::uint64_t(*std::ranges::max_element(expected))) {
      return "the largest level";
    }
    return difference(found, expected);
  }

  host_graph host;
  settings_type chosen;
  std::vector<std::int64_t> sources;
  device_graph graph;
  ramify::device_buffer<std::int32_t> levels;
  ramify::device_buffer<std::byte> scratch;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(breadth_first_searches)

BOOST_AUTO_TEST_CASE(every_graph_strategy_and_route) {
  int piece = 0;
  for (const host_graph& graph : graphs_of_each_kind(200)) {
    check_all_calls<searches_call>(graph, piece, stride(3));
  }
  for (const host_graph& graph : graphs_of_each_kind(1025)) {
    check_all_calls<searches_call>(graph, piece, stride(17));
  }
}

BOOST_AUTO_TEST_CASE(every_number_of_sources) {
  const host_graph graph = kronecker(7, 4);
  for (const std::size_t k : {1, 2, 31, 32, 33, 63, 64}) {
    const auto chosen = settings_of(routes[k % 2], edge_strategy::balanced);
    const searches_call call(graph, chosen, some_sources(graph.vertices(), k));
    const auto report = call.start().get();
    BOOST_TEST(call.fault(&report) == "");
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(on_the_executor))
BOOST_DATA_TEST_CASE(every_schedule, data::make({"eager", "late", "random:3", "random:4"}), s) {
  const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config(s));
  int piece = 0;
  for (const host_graph& graph : graphs_of_each_kind(90)) {
    check_all_calls<searches_call>(graph, piece, stride(17), 32);
  }
}

// 64 searches take as many rounds as the longest of them, because they share the reads of edges.
BOOST_AUTO_TEST_CASE(searches_share_their_rounds) {
  const host_graph graph = star(500);
  const auto chosen = settings_of(route::flat, edge_strategy::balanced);
  const auto many = check_call<searches_call>(graph, chosen);
  const auto one = searches_call(graph, chosen, {1}).start().get();
  BOOST_TEST(many.rounds == one.rounds);
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_named) {
  const device_graph graph(random_graph(100, 300));
  const ramify::device_buffer<std::int32_t> levels(6500, nullptr);
  const auto expect = [&](const std::vector<std::int64_t>& sources, std::int32_t* to,
                          const std::string& what) {
    BOOST_CHECK_EXCEPTION((void)ramify::breadth_first_searches(graph.view(), sources, to),
                          std::invalid_argument, names(what));
  };
  expect({}, levels.data(), "sources has 0 elements; it must have 1 to 64");
  expect(some_sources(100, 65), levels.data(), "sources has 65 elements; it must have 1 to 64");
  expect({3, 99, 100}, levels.data(), "sources[2] is 100; it must be in [0, 100)");
  expect({-1}, levels.data(), "sources[0] is -1; it must be in [0, 100)");
  expect({3, 4}, graph.targets.data(), "targets and levels overlap");
  const std::array<std::int64_t, 2> sources{3, 99};
  BOOST_TEST(ramify::breadth_first_searches(graph.view(), sources, nullptr).levels > 2u);
  // Only the device has the number of vertices.
  const auto count = upload(std::vector<std::uint64_t>{50});
  const auto view = graph.view().with_vertices(ramify::device_count(count.data(), 100));
  const ramify::graph_options unchecked{.check_graph = false};
  BOOST_CHECK_EXCEPTION(
      (void)ramify::breadth_first_searches(view, sources, levels.data(), unchecked),
      std::invalid_argument, names("source is 99; it must be in [0, 50)"));
}

BOOST_AUTO_TEST_CASE(scratch_of_searches_is_as_documented) {
  const std::int64_t* const none = nullptr;
  const auto graph = ramify::graph_view::directed({none, 1'000'001}, {});
  BOOST_TEST(double(ramify::searches_scratch_bytes(graph)) < 52.01e6);
}

BOOST_AUTO_TEST_SUITE_END()
