// SPDX-License-Identifier: BSD-3-Clause
// Spatial trees on the GPU: builds on each route, queries with several leaf sizes, numbers of
// neighbors, lists, and clusters. The times are those of the calls, measured with the host's clock;
// each call waits for its result.
//   benchmark_spatial_tree_cuda [number of points, default 10^7]
//   benchmark_spatial_tree_cuda --part callbacks
#include <chrono>
#include <cmath>
#include <ramify/spatial_tree.cuh>
#include <random>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "measure_cuda.cuh"
#include "spatial_clusters.cuh"

namespace {

using namespace ramify;
using namespace ramify::detail::spatial_tree;
using benchmark::download;
using position = point<float, 3>;
using tree_type = ramify::spatial_tree<float, 3>;

constexpr int repeats = 7;
constexpr std::size_t k = 10;
constexpr std::size_t most_neighbors = 64;
constexpr std::size_t checked_queries = 100;
constexpr double expected_in_ball = 30;

/// Returns the median and the range of the times of several calls.
template <class Call>
benchmark::timing time_of(Call call) {
  return benchmark::host_time_of(repeats, call);
}

/// The callback that does the work of nearest().
struct rows_of_neighbors {
  std::size_t k;
  std::uint32_t* ids;
  float* distances2;

  __device__ std::size_t begin(std::uint32_t query) const { return query * k; }
  __device__ void operator()(std::size_t& at, const spatial_match<float>& m) const {
    ids[at] = m.point;
    distances2[at++] = m.distance2;
  }
};

/// The callback that does the work of radius_rows().
struct rows_of_matches {
  std::size_t width;
  std::uint32_t* ids;
  std::uint32_t* counts;

  __device__ std::uint32_t begin(std::uint32_t) const { return 0; }
  __device__ void operator()(std::uint32_t& count, const spatial_match<float>& m) const {
    if (count < width) ids[m.query * width + count] = m.point;
    ++count;
  }
  __device__ void end(std::uint32_t query, std::uint32_t count) const {
    counts[query] = count;
    for (std::size_t i = count; i < width; ++i) ids[query * width + i] = no_neighbor;
  }
};

/// Uniform points in the unit cube, and the calls that are measured.
class bench {
 public:
  explicit bench(std::size_t n)
      : points_(n),
        on_device_(n, nullptr),
        ids_(n * most_neighbors, nullptr),
        distances2_(n * most_neighbors, nullptr),
        counts_(n, nullptr) {
    std::mt19937_64 random(n);
    for (position& p : points_) {
      for (float& x : p.x) x = float(random() >> 40) * 0x1p-24f;
    }
    check(
        cudaMemcpy(on_device_.data(), points_.data(), n * sizeof(position), cudaMemcpyHostToDevice),
        "uploading");
    radius_ = float(std::cbrt(expected_in_ball * 3 / (4 * 3.14159265 * double(n))));
  }

  [[nodiscard]] std::size_t size() const { return points_.size(); }

  [[nodiscard]] tree_type build(const spatial_tree_options& options = {},
                                route taken = route::automatic) const {
    return {on_device_.data(), size(), options, {.route = taken}};
  }
  void run_nearest(const tree_type& tree, std::size_t neighbors = k) const {
    (void)all_nearest_neighbors(tree.view(), neighbors, true, ids_.data(), distances2_.data());
  }
  /// Finds the nearest points of all points: in the tree's order, or in the caller's random order.
  void run_nearest(const tree_type& tree, bool along_curve, const spatial_query_options& options,
                   std::size_t neighbors = k) const {
    (void)nearest(tree.view(), queries(tree, along_curve), size(), neighbors, ids_.data(),
                  distances2_.data(), options);
  }
  void run_radius_count(const tree_type& tree, bool along_curve,
                        const spatial_query_options& options) const {
    (void)radius_count(tree.view(), queries(tree, along_curve), size(), radius_, counts_.data(),
                       options);
  }
  /// Returns the results of the last calls, of which those for neighbors had `neighbors`.
  [[nodiscard]] auto results(std::size_t neighbors = k) const {
    return std::tuple(download(ids_.data(), size() * neighbors),
                      download(distances2_.data(), size() * neighbors),
                      download(counts_.data(), size()));
  }
  void run_radius_count(const tree_type& tree) const {
    // The points in the tree's order, so that the threads of a warp visit nearly the same nodes.
    (void)radius_count(tree.view(), tree.view().points, size(), radius_, counts_.data());
  }
  /// Lists the points in the balls: counts and lists in two passes, or rows in one.
  device_neighbor_lists run_radius_list(const tree_type& tree) const {
    return radius_list(tree.view(), tree.view().points, size(), radius_);
  }
  std::uint64_t run_radius_rows(const tree_type& tree) const {
    return radius_rows(tree.view(), tree.view().points, size(), radius_,
                       {most_neighbors, ids_.data(), counts_.data()})
        .truncated;
  }
  /// Finds the nearest points as run_nearest() does, by query() with a callback.
  void query_nearest(const tree_type& tree, bool along_curve, std::size_t neighbors) const {
    (void)query(tree.view(), nearest_to(queries(tree, along_curve), size(), neighbors),
                rows_of_neighbors{neighbors, ids_.data(), distances2_.data()});
  }
  /// Counts the points in the balls as run_radius_count() does, by query() with a callback.
  void query_count(const tree_type& tree, bool along_curve) const {
    (void)query(tree.view(), in_balls(queries(tree, along_curve), size(), radius_),
                count_matches{counts_.data()});
  }
  /// Lists the points in the balls as run_radius_list() does, by query_list().
  device_neighbor_lists query_lists(const tree_type& tree) const {
    return query_list(tree.view(), in_balls(tree.view().points, size(), radius_));
  }
  /// Writes rows as run_radius_rows() does, by query() with a callback.
  void query_rows(const tree_type& tree) const {
    (void)query(tree.view(), in_balls(tree.view().points, size(), radius_),
                rows_of_matches{most_neighbors, ids_.data(), counts_.data()});
  }
  /// Overwrites the results of the last calls.
  void clear() const {
    clear_memory(ids_.data(), ids_.size(), nullptr, "clearing ids");
    clear_memory(distances2_.data(), distances2_.size(), nullptr, "clearing distances");
    clear_memory(counts_.data(), counts_.size(), nullptr, "clearing counts");
  }
  /// Measures the encoding and the sort of the points by all bits, as a build runs them if its host
  /// does not wait for statistics of the codes.
  [[nodiscard]] benchmark::timing time_of_sort() const {
    const auto n = static_cast<std::uint32_t>(size());
    code_sort<3> sort;
    const ramify::detail::run_setup setup("benchmark", {});
    const run_memory<code_sort<3>::scratch> memory({}, nullptr, "benchmark", n);
    using bounds = point_bounds<float, 3>;
    const device_buffer<bounds> found(1, nullptr);
    const bounds unit_cube{{{{0, 0, 0}}, {{1, 1, 1}}}, bounds::none, 1};
    check(cudaMemcpy(found.data(), &unit_cube, sizeof unit_cube, cudaMemcpyHostToDevice),
          "writing the bounds");
    return time_of([&] {
      check(launch(encode_points<float, 3>, {(n + 255) / 256, 256}, nullptr, on_device_.data(), n,
                   static_cast<const bounds*>(found.data()), memory.parts.array(), trace_ticket())
                .code(),
            "computing the Morton codes");
      sort.start(memory.parts, n, setup);
    });
  }
  [[nodiscard]] benchmark::timing time_of_copy() const {
    const device_buffer<position> copy(size(), nullptr);
    return time_of([&] {
      check(cudaMemcpyAsync(copy.data(), on_device_.data(), size() * sizeof(position),
                            cudaMemcpyDeviceToDevice, nullptr),
            "copying");
      check(cudaStreamSynchronize(nullptr), "waiting for a copy");
    });
  }

  /// Compares the results of some queries with brute force. \throws std::runtime_error
  void check_results(const tree_type& tree) const {
    run_nearest(tree);
    run_radius_count(tree);
    const auto ids = download(ids_.data(), size() * k);
    const auto counts = download(counts_.data(), size());
    const auto order = download(tree.view().ids, size());
    for (std::size_t at = 0; at < size(); at += size() / checked_queries + 1) {
      const std::uint32_t q = order[at];
      std::vector<std::pair<float, std::uint32_t>> found;
      std::uint32_t within = 0;
      for (std::uint32_t i = 0; i < size(); ++i) {
        const float d = distance2(points_[q], points_[i]);
        if (d > 4 * radius_ * radius_) continue;  // more than k points are nearer
        within += d <= radius_ * radius_;
        if (i != q) found.emplace_back(d, i);
      }
      std::ranges::sort(found);
      bool right = counts[at] == within && found.size() >= k;
      for (std::size_t i = 0; right && i < k; ++i) right = ids[q * k + i] == found[i].second;
      if (!right) throw std::runtime_error("wrong result for point " + std::to_string(q));
    }
  }

 private:
  [[nodiscard]] const position* queries(const tree_type& tree, bool along_curve) const {
    return along_curve ? tree.view().points : on_device_.data();
  }

  std::vector<position> points_;
  device_buffer<position> on_device_;
  device_buffer<std::uint32_t> ids_;
  device_buffer<float> distances2_;
  device_buffer<std::uint32_t> counts_;
  float radius_;
};

double millions_per_second(std::size_t n, const benchmark::timing& t) {
  return double(n) / t.median_ms / 1e3;
}

void measure_builds(benchmark::recorder& out, const bench& b) {
  out.table("builds",
            {"build", "route", "ms", "Mpoints/s", "codes, sort by all bits, ms", "nodes",
             "host grids", "child grids", "spilled", "scratch, MB"},
            std::to_string(b.size()) + " uniform points in a cube, 3D float; medians of " +
                std::to_string(repeats) + " (least–most)");
  const auto copy = b.time_of_copy();
  out.row({"a copy of the points",
           {},
           copy,
           millions_per_second(b.size(), copy),
           {},
           {},
           {},
           {},
           {},
           {}});
  for (const auto taken : {route::device, route::flat, route::automatic}) {
    const tree_type tree = b.build({}, taken);
    b.check_results(tree);
    const auto t = time_of([&] { (void)b.build({}, taken); });
    const auto sort = b.time_of_sort();
    const auto& report = tree.report();
    out.row({"tree", to_string(taken), t, millions_per_second(b.size(), t), sort.median_ms,
             report.nodes, report.host_grids, report.child_grids, report.spilled_tasks,
             double(report.scratch_bytes) / 1e6});
  }
}

void measure_queries(benchmark::recorder& out, const bench& b) {
  out.table("queries",
            {"points of a leaf at most", "nodes", "build, ms", "10 nearest of all points, ms",
             "10 nearest, Mqueries/s", "about 30 in a ball, counted, ms", "ball, Mqueries/s"},
            "Queries of the same points, by the size of leaves");
  for (const unsigned leaf_size : {4, 8, 16, 32, 64}) {
    const spatial_tree_options options{.leaf_size = leaf_size};
    const tree_type tree = b.build(options);
    b.check_results(tree);
    const auto build = time_of([&] { (void)b.build(options); });
    const auto near = time_of([&] { b.run_nearest(tree); });
    const auto within = time_of([&] { b.run_radius_count(tree); });
    out.row({leaf_size, tree.report().nodes, build.median_ms, near,
             millions_per_second(b.size(), near), within, millions_per_second(b.size(), within)});
  }
}

void measure_orders(benchmark::recorder& out, const bench& b) {
  out.table("query_orders",
            {"method", "order of the queries", "sorted", "10 nearest, ms", "Mqueries/s",
             "about 30 in a ball, counted, ms", "ball, Mqueries/s"},
            "All points as queries, along the curve and in random order; leaves of at most 16 "
            "points. All methods have the same results. Neighbors are found by threads");
  const tree_type tree = b.build();
  for (const bool along_curve : {true, false}) {
    decltype(b.results()) expected;
    benchmark::timing near;
    for (const auto method : {query_method::threads, query_method::packets}) {
      for (const bool sort : {false, true}) {
        const spatial_query_options options{.sort = sort, .ball_method = method};
        const bool by_threads = method == query_method::threads;
        if (by_threads) near = time_of([&] { b.run_nearest(tree, along_curve, options); });
        const auto within = time_of([&] { b.run_radius_count(tree, along_curve, options); });
        auto found = b.results();
        if (std::get<0>(expected).empty()) expected = found;
        if (found != expected) throw std::runtime_error("the methods have different results");
        out.row({to_string(method), along_curve ? "along the curve" : "random", sort ? "yes" : "no",
                 near, millions_per_second(b.size(), near), within,
                 millions_per_second(b.size(), within)});
      }
    }
  }
}

void measure_lists(benchmark::recorder& out, const bench& b) {
  out.table(
      "lists", {"results", "ms", "Mqueries/s", "rows that are not complete"},
      "Results of all points as queries, along the curve; the balls have about 30 points, the "
      "rows " +
          std::to_string(most_neighbors) + " elements");
  const tree_type tree = b.build();
  for (const std::size_t neighbors : {1, 4, 10, 16, 32, 64}) {
    const auto t = time_of([&] { b.run_nearest(tree, neighbors); });
    out.row({std::to_string(neighbors) + " nearest", t, millions_per_second(b.size(), t), {}});
  }
  const auto counts = time_of([&] { b.run_radius_count(tree); });
  out.row({"counts in balls", counts, millions_per_second(b.size(), counts), {}});
  const auto lists = time_of([&] { (void)b.run_radius_list(tree); });
  out.row({"lists of balls", lists, millions_per_second(b.size(), lists), {}});
  std::uint64_t truncated = 0;
  const auto rows = time_of([&] { truncated = b.run_radius_rows(tree); });
  out.row({"rows of balls", rows, millions_per_second(b.size(), rows), truncated});
}

void measure_callbacks(benchmark::recorder& out, const bench& b) {
  out.table(
      "callbacks",
      {"work", "order of the queries", "call, ms", "query() with a callback, ms", "query() / call"},
      "The calls for neighbors and balls of about 30 points, and query() with a callback that "
      "does the same work; all points are queries");
  const tree_type tree = b.build();
  const auto row = [&](const std::string& work, bool along_curve, auto call, auto by_callback) {
    const auto result_of = [&](const auto& which) {
      b.clear();
      which();
      return b.results(most_neighbors);
    };
    if (result_of(call) != result_of(by_callback)) {
      throw std::runtime_error(work + " by query() differ");
    }
    const auto of_call = time_of(call);
    const auto of_query = time_of(by_callback);
    out.row({work, along_curve ? "along the curve" : "random", of_call, of_query,
             of_query.median_ms / of_call.median_ms});
  };
  for (const bool along_curve : {true, false}) {
    for (const std::size_t neighbors : {1, 4, 8, 10, 16, 24, 32}) {
      row(
          std::to_string(neighbors) + " nearest", along_curve,
          [&] { b.run_nearest(tree, along_curve, {}, neighbors); },
          [&] { b.query_nearest(tree, along_curve, neighbors); });
    }
    row(
        "counts in balls", along_curve, [&] { b.run_radius_count(tree, along_curve, {}); },
        [&] { b.query_count(tree, along_curve); });
  }
  row(
      "rows of balls", true, [&] { (void)b.run_radius_rows(tree); }, [&] { b.query_rows(tree); });
  const auto parts_of = [](const device_neighbor_lists& lists) {
    return std::pair(download(lists.offsets.data(), lists.offsets.size()),
                     download(lists.ids.data(), lists.ids.size()));
  };
  if (parts_of(b.run_radius_list(tree)) != parts_of(b.query_lists(tree))) {
    throw std::runtime_error("lists by query_list() differ");
  }
  row(
      "lists of balls", true, [&] { (void)b.run_radius_list(tree); },
      [&] { (void)b.query_lists(tree); });
}

}  // namespace

int main(int argc, char** argv) {
  return benchmark::run(
      {.name = "spatial_tree_cuda",
       .about = "Spatial trees on the GPU: builds by route, queries by leaf size.",
       .machine = benchmark::this_gpu,
       .parts = {"builds", "queries", "orders", "lists", "callbacks", "clusters"},
       .words = "the number of points, default 10^7"},
      argc, argv, [](benchmark::recorder& out, const benchmark::command_line& arguments) {
        const std::size_t n = arguments.number_or(10'000'000);
        {
          const bench b(n);
          if (arguments.has_part("builds")) measure_builds(out, b);
          if (arguments.has_part("queries")) measure_queries(out, b);
          if (arguments.has_part("orders")) measure_orders(out, b);
          if (arguments.has_part("lists")) measure_lists(out, b);
          if (arguments.has_part("callbacks")) measure_callbacks(out, b);
        }
        if (arguments.has_part("clusters")) benchmark::measure_clusters(out, n);
      });
}
