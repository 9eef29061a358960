// SPDX-License-Identifier: BSD-3-Clause
// Graphs whose numbers of vertices and of edges only the device has.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <optional>
#include <ramify/cpu/executor.hpp>
#include <ramify/graph.hpp>
#include <stdexcept>

#include "algorithm_calls.cuh"
#include "counts_on_device.cuh"
#include "failed_launches.hpp"

namespace data = boost::unit_test::data;
using namespace tests;
using ramify::bfs_direction;
using ramify::graph_view;

namespace tests {

/// Arrays on the device for graphs of up to `most` vertices and 4 edges for each, and outputs.
class counted_graph {
 public:
  explicit counted_graph(std::size_t most)
      : most(most),
        offsets_(most + 1, nullptr),
        in_offsets_(most + 1, nullptr),
        targets_(4 * most, nullptr),
        in_sources_(4 * most, nullptr),
        weights_(4 * most, nullptr),
        numbers_(2 * most, nullptr),
        values_(most, nullptr) {}

  /// Copies a graph of n vertices to the device. What is beyond it is no graph.
  void copy(const host_graph& graph) {
    host.emplace(graph);
    put(graph.offsets, offsets_, std::int64_t{-1});
    put(graph.in_offsets, in_offsets_, std::int64_t{-1});
    put(graph.targets, targets_, -5);
    put(graph.in_sources, in_sources_, -5);
    put(weights_of(graph), weights_, -1.0f);
    put({}, numbers_, -7);
    put({}, values_, -7.0);
    number.write(static_cast<std::int32_t>(graph.vertices()));
  }
  /// Copies a random graph of n vertices.
  void prepare(std::size_t n) {
    copy(n == 0 ? host_graph("empty", 0, {}, false) : random_graph(n, 3 * n, n));
  }
  /// Returns the graph with `up_to` as its number of vertices, or all vertices.
  [[nodiscard]] graph_view all() const {
    return graph_view::directed({offsets_.data(), most + 1}, {targets_.data(), 4 * most},
                                {in_offsets_.data(), most + 1}, {in_sources_.data(), 4 * most});
  }
  [[nodiscard]] graph_view view() const { return all().with_vertices(number.up_to(most)); }
  [[nodiscard]] std::span<const float> weights() const {
    return {weights_.data(), weights_.size()};
  }

  // The outputs.
  [[nodiscard]] ramify::bfs_arrays levels() const {
    return {numbers_.data(), numbers_.data() + most};
  }
  [[nodiscard]] std::int32_t* components() const { return numbers_.data(); }
  [[nodiscard]] double* ranks() const { return values_.data(); }

  [[nodiscard]] std::string level_fault() const {
    const auto found = download(numbers_);
    const auto middle = found.begin() + std::ptrdiff_t(most);
    const bfs_results results{{found.begin(), middle}, {middle, found.end()}};
    return changes(results.levels, most) + changes(results.parents, most) +
           bfs_fault(*host, 0, results);
  }
  [[nodiscard]] std::string component_fault() const {
    const auto found = download(numbers_);
    return changes(found, 2 * most) +
           difference(found, boost_components(host->vertices(), host->list));
  }
  [[nodiscard]] bool is_unchanged() const {
    return download(numbers_) == std::vector<std::int32_t>(2 * most, -7) &&
           download(values_) == std::vector<double>(most, -7);
  }
  /// Returns a message if an output has changed beyond the last vertex.
  template <class T>
  [[nodiscard]] std::string changes(const std::vector<T>& found, std::size_t end) const {
    for (std::size_t v = host->vertices(); v < end; ++v) {
      if (found[v] != T{-7}) return "an element beyond the last vertex has changed";
    }
    return {};
  }

  const std::size_t most;
  const device_number<> number;
  std::optional<host_graph> host;

 private:
  template <class T>
  static void put(std::vector<T> array, const ramify::device_buffer<T>& to, T beyond) {
    array.resize(to.size(), beyond);
    ramify::check(cudaMemcpyAsync(to.data(), array.data(), array.size() * sizeof(T),
                                  cudaMemcpyHostToDevice, nullptr),
                  "copying a graph");
    ramify::check(cudaStreamSynchronize(nullptr), "copying a graph");
  }

  ramify::device_buffer<std::int64_t> offsets_, in_offsets_;
  ramify::device_buffer<std::int32_t> targets_, in_sources_;
  ramify::device_buffer<float> weights_;
  ramify::device_buffer<std::int32_t> numbers_;
  ramify::device_buffer<double> values_;
};

/// Checks a search without vertices: there is no source.
template <class Run>
void check_search_without_vertices(const counted_graph& graph, Run& run) {
  BOOST_CHECK_EXCEPTION((void)run.get(), std::invalid_argument,
                        names("source is 0; it must be in [0, 0)"));
  BOOST_TEST(graph.is_unchanged());
}

}  // namespace tests

BOOST_AUTO_TEST_SUITE(graph_counts)

BOOST_DATA_TEST_CASE(each_number_of_vertices_searched,
                     data::make(routes) * ramify::all_choices<bfs_direction>(), taken, direction) {
  counted_graph graph(RAMIFY_ON_CUDA ? 100'000 : 1'000);
  ramify::bfs_options options;
  options.direction = direction;
  const ramify::device_buffer<std::byte> scratch(ramify::bfs_scratch_bytes(graph.view(), options),
                                                 nullptr);
  replay(
      graph.number, ten_counts(graph.most), [&](std::size_t n) { graph.prepare(n); },
      [&](cudaStream_t stream) {
        return ramify::breadth_first_search_async(
            graph.view(), 0, graph.levels(), options,
            {.stream = stream, .memory = scratch, .route = taken});
      },
      [&](std::size_t n, auto& run) {
        if (n == 0) return check_search_without_vertices(graph, run);
        const auto report = run.get();
        BOOST_TEST(report.vertices == n);
        BOOST_TEST(report.edges == 3 * n);
        BOOST_TEST(graph.level_fault() == "");
        // Negative control: the check finds the levels of another graph, and writes beyond it.
        if (n != graph.most / 2) return;
        graph.host.emplace(random_graph(n + 1, 3 * n, n + 7));
        BOOST_TEST(graph.level_fault() != "");
        graph.host.emplace(random_graph(n / 2, 0, 1));
        BOOST_TEST(graph.level_fault() != "");
      });
}

BOOST_DATA_TEST_CASE(each_number_of_vertices_of_paths, data::make(routes), taken) {
  counted_graph graph(RAMIFY_ON_CUDA ? 100'000 : 700);
  const ramify::device_buffer<float> distances(graph.most, nullptr);
  const ramify::device_buffer<std::byte> scratch(ramify::sssp_scratch_bytes(graph.view()), nullptr);
  replay(
      graph.number, ten_counts(graph.most), [&](std::size_t n) { graph.prepare(n); },
      [&](cudaStream_t stream) {
        return ramify::shortest_paths_async(graph.view(), graph.weights(), 0,
                                            {.distances = distances.data()}, ramify::sssp_options{},
                                            {.stream = stream, .memory = scratch, .route = taken});
      },
      [&](std::size_t n, auto& run) {
        if (n == 0) return check_search_without_vertices(graph, run);
        const auto report = run.get();
        BOOST_TEST(report.vertices == n);
        const auto weights = weights_of(*graph.host);
        BOOST_TEST(difference(download(distances),
                              boost_distances(n, graph.host->list, weights, 0)) == "");
        // The width of buckets depends on the number of vertices.
        const basic_paths_call<float> of_host(*graph.host, {}, weights);
        BOOST_TEST(of_host.start().get().delta == report.delta, boost::test_tools::tolerance(1e-5));
      });
}

BOOST_DATA_TEST_CASE(each_number_of_vertices_of_components,
                     data::make(routes) * ramify::all_choices<edge_strategy>(), taken, strategy) {
  counted_graph graph(RAMIFY_ON_CUDA ? 50'000 : 500);
  const ramify::graph_options options{.strategy = strategy, .heavy_degree = 3};
  const ramify::device_buffer<std::byte> scratch(
      ramify::components_scratch_bytes(graph.view(), options), nullptr);
  replay(
      graph.number, ten_counts(graph.most), [&](std::size_t n) { graph.prepare(n); },
      [&](cudaStream_t stream) {
        return ramify::connected_components_async(
            graph.view(), graph.components(), options,
            {.stream = stream, .memory = scratch, .route = taken});
      },
      [&](std::size_t n, auto& run) {
        BOOST_TEST(run.get().vertices == n);
        BOOST_TEST(graph.component_fault() == "");
      });
}

BOOST_DATA_TEST_CASE(each_number_of_vertices_of_ranks, data::make(routes), taken) {
  counted_graph graph(RAMIFY_ON_CUDA ? 20'000 : 500);
  ramify::pagerank_options options;
  options.max_iterations = 4;
  options.tolerance = 1e-30;
  const ramify::device_buffer<std::byte> scratch(
      ramify::pagerank_scratch_bytes(graph.view(), options), nullptr);
  replay(
      graph.number, ten_counts(graph.most), [&](std::size_t n) { graph.prepare(n); },
      [&](cudaStream_t stream) {
        return ramify::pagerank_async(graph.view(), graph.ranks(), options,
                                      {.stream = stream, .memory = scratch, .route = taken});
      },
      [&](std::size_t n, auto& run) {
        BOOST_TEST(run.get().vertices == n);
        std::vector<double> found(graph.most);
        download_to(found, static_cast<const double*>(graph.ranks()));
        BOOST_TEST(graph.changes(found, graph.most) == "");
        if (n == 0) return;
        const auto expected =
            serial_ranks(n, graph.host->list, options.damping, options.max_iterations);
        BOOST_TEST(difference(found, expected, 1e-13) == "");
      });
}

BOOST_DATA_TEST_CASE(each_number_of_edges, data::make(routes), taken) {
  constexpr std::size_t n = 400;
  counted_graph graph(n);
  const graph_view view = graph.all().with_edges_on_device();
  const ramify::device_buffer<std::byte> scratch(ramify::bfs_scratch_bytes(view), nullptr);
  replay(
      graph.number, {0, 1'600, 1, 900, 1'200},
      [&](std::size_t m) { graph.copy(random_graph(n, m, m)); },
      [&](cudaStream_t stream) {
        return ramify::breadth_first_search_async(
            view, 0, graph.levels(), {.stream = stream, .memory = scratch, .route = taken});
      },
      [&](std::size_t m, auto& run) {
        const auto report = run.get();
        BOOST_TEST(report.vertices == n);
        BOOST_TEST(report.edges == m);
        BOOST_TEST(graph.level_fault() == "");
      });
}

BOOST_DATA_TEST_CASE(numbers_above_their_upper_bounds,
                     data::make(routes) * data::make({false, true}), taken, checks_graph) {
  counted_graph graph(100);
  ramify::bfs_options options;
  options.check_graph = checks_graph;
  const auto search = [&](const graph_view& view) {
    auto run =
        ramify::breadth_first_search_async(view, 0, graph.levels(), options, {.route = taken});
    BOOST_TEST(graph.is_unchanged());
    (void)run.get();
  };
  graph.prepare(100);
  check_exceeding_counts(100, "graph: vertices", [&](const ramify::device_count& vertices) {
    search(graph.all().with_vertices(vertices));
  });
  graph_view few_targets = graph.view();
  few_targets.targets = few_targets.targets.first(299);
  few_targets.in_sources = few_targets.in_sources.first(299);
  BOOST_CHECK_EXCEPTION(search(few_targets), std::length_error,
                        names("graph: edges: the number of elements in device memory is 300; its "
                              "upper bound is 299"));
  // An offset that is no number of edges.
  graph.number.write(0);
  graph.prepare(50);
  graph.number.write(51);
  BOOST_CHECK_EXCEPTION(search(graph.view()), std::length_error, names("memory is -1; its"));
  graph.number.write(0);
  BOOST_CHECK_EXCEPTION(search(graph.view()), std::invalid_argument, names("source is 0"));
}

BOOST_AUTO_TEST_CASE(upper_bounds_of_zero) {
  counted_graph graph(10);
  graph.prepare(0);
  const graph_view none = graph.all().with_vertices(graph.number.up_to(0));
  const graph_view empty =
      graph_view::directed(none.offsets, {}).with_vertices(*none.vertices_on_device);
  BOOST_TEST(ramify::connected_components(empty, nullptr).vertices == 0u);
  graph.number.write(1);
  BOOST_CHECK_THROW((void)ramify::connected_components(empty, nullptr), std::length_error);
}

BOOST_AUTO_TEST_CASE(faults_name_the_numbers_of_the_device) {
  counted_graph graph(100);
  graph.prepare(50);
  // The graph of 50 vertices has edges to vertices that the first 20 do not have.
  graph.number.write(20);
  BOOST_CHECK_EXCEPTION((void)ramify::connected_components(graph.view(), graph.components()),
                        std::invalid_argument, names("it must be in [0, 20)"));
  BOOST_TEST(graph.is_unchanged());
  BOOST_CHECK_EXCEPTION((void)ramify::breadth_first_search(graph.view(), 20, graph.levels()),
                        std::invalid_argument, names("source is 20; it must be in [0, 20)"));
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(on_the_executor))
BOOST_AUTO_TEST_CASE(each_launch_fails_once) {
  counted_graph graph(500);
  check_failed_launches(10, 3, [&] {
    graph.prepare(200);
    const auto report =
        ramify::breadth_first_search(graph.view(), 0, graph.levels(), {.route = route::device});
    BOOST_TEST(graph.level_fault() == "");
    return report;
  });
}

BOOST_DATA_TEST_CASE(without_launch_slots, data::make(routes), taken) {
  counted_graph graph(1'000);
  graph.prepare(700);
  const all_slots_taken none_left(*ramify::current_launch_limits().pending_launches);
  auto run = ramify::breadth_first_search_async(graph.view(), 0, graph.levels(), {.route = taken});
  BOOST_TEST(graph.level_fault() == "");  // before get()
  BOOST_TEST(run.get().vertices == 700u);
}

BOOST_AUTO_TEST_CASE(sizes_and_arguments) {
  const counted_graph graph(100);
  BOOST_TEST(ramify::bfs_scratch_bytes(graph.view()) == ramify::bfs_scratch_bytes(graph.all()));
  BOOST_TEST(graph.all().with_vertices(graph.number.up_to(10)).vertices() == 10u);
  BOOST_CHECK_EXCEPTION((void)graph.all().with_vertices(graph.number.up_to(101)),
                        std::invalid_argument, names("100 vertices"));
  const ramify::device_count null(static_cast<const std::int32_t*>(nullptr), 100);
  BOOST_CHECK_EXCEPTION(
      (void)ramify::connected_components(graph.all().with_vertices(null), graph.components()),
      std::invalid_argument, names("the address of device_count is null"));
}

BOOST_AUTO_TEST_CASE(the_facade_takes_a_number) {
  const device_number<> number(3);
  const std::vector<std::int64_t> offsets = {0, 1, 3, 4, -9};
  const std::vector<std::int32_t> targets = {1, 0, 2, 1, 77, 77};
  std::vector<std::int32_t> components(4, -7);
  const auto view = graph_view::symmetric(offsets, targets).with_vertices(number.up_to(4));
  BOOST_TEST(ramify::connected_components(view, components).components == 1u);
  BOOST_TEST(components == std::vector<std::int32_t>({0, 0, 0, -7}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
