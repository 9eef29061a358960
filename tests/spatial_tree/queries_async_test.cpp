// SPDX-License-Identifier: BSD-3-Clause
// Queries that are started and completed later: later work in the stream sees their results, which
// are those of the calls that wait.
#include <boost/test/unit_test.hpp>
#include <limits>
#include <optional>
#include <ramify/runtime/captured_graph.cuh>
#include <ramify/runtime/detail/launch_each.cuh>
#include <ramify/runtime/grid_trace.cuh>
#include <ramify/runtime/stream.cuh>
#include <stdexcept>
#include <tuple>

#include "backend_under_test.hpp"
#include "exceptions.hpp"
#include "query_runs.cuh"
#include "spatial_tree_checks.cuh"
#include "spatial_types.hpp"

namespace tests::queries {
namespace {

using ramify::completion;
using ramify::query_method;

/// Checks that the _async functions have the results of the functions that wait, and that these are
/// complete before get().
template <class Type>
void expect_same_results(const search<Type>& s) {
  const ramify::host_stream stream;
  const auto expected_arrays = s.arrays();
  const totals expected_totals = s.run_waiting(expected_arrays);
  const results expected(expected_arrays, nullptr);
  const auto arrays = s.arrays();
  runs<Type> started(s, arrays, {.stream = stream});
  BOOST_TEST((results(arrays, stream.get()) == expected));
  BOOST_TEST((started.get() == expected_totals));
  BOOST_TEST((results(arrays, stream.get()) == expected));

  const auto by_get = s.arrays();
  runs<Type> later(s, by_get, {.stream = stream, .completion = completion::by_get});
  BOOST_TEST((later.get() == expected_totals));
  BOOST_TEST((results(by_get, stream.get()) == expected));

  const auto expected_lists =
      radius_list(s.tree.view(), s.queries.data(), s.queries.size(), s.radius, s.options);
  const auto lists = s.lists({}).get();
  BOOST_TEST(tests::download(lists.offsets) == tests::download(expected_lists.offsets));
  BOOST_TEST(tests::download(lists.ids) == tests::download(expected_lists.ids));
}

/// Multiplies all coordinates.
template <class Type>
typename search<Type>::list scaled(typename search<Type>::list points, typename Type::real by) {
  for (auto& p : points) {
    for (auto& x : p) x *= by;
  }
  return points;
}

/// Copies points in one block, `nanoseconds` after its begin.
template <class Real, int dim>
__global__ void copy_late(const ramify::point<Real, dim>* from, unsigned n,
                          ramify::point<Real, dim>* to, unsigned long long nanoseconds) {
  const unsigned long long begin = ramify::detail::device_time();
  while (nanoseconds > 0 && ramify::detail::device_time() - begin < nanoseconds) {
  }
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) to[i] = from[i];
}

/// Copies the counts of a query to another array. One thread for each.
__global__ void read_counts(const std::uint32_t* counts, unsigned n, std::uint32_t* seen) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) seen[i] = counts[i];
}

/// The slow kernel takes longer than a call. On the CPU executor launches wait for it.
constexpr unsigned long long slow = RAMIFY_ON_CUDA ? 20'000'000 : 0;

/// A search whose queries a slow kernel writes.
class late_search {
 public:
  static constexpr std::size_t n = 500;

  late_search() : expected_(n, nullptr) {
    (void)radius_count(all_.tree.view(), late_.data(), n, all_.radius, expected_.data());
  }

  /// Puts the slow kernel into one stream, and into that of `env` the query, and a kernel that
  /// reads the counts before get(). Returns whether that kernel saw the counts of the late queries.
  [[nodiscard]] bool sees_result(cudaStream_t writer, const environment& env) const {
    const auto arrays = all_.arrays();
    const auto early = tests::upload_points<float, 3>(early_queries());
    const auto seen = tests::zeros<std::uint32_t>(n);
    ramify::check(cudaDeviceSynchronize(), "waiting for the uploads");
    const auto reader = env.stream.as<cudaStream_t>();
    const auto count = static_cast<unsigned>(n);
    ramify::check(ramify::launch(copy_late<float, 3>, {1, 256}, writer, late_.data(), count,
                                 early.data(), slow)
                      .code(),
                  "launching copy_late");
    auto run = radius_count_async(all_.tree.view(), early.data(), n, all_.radius,
                                  arrays.counts.data(), env);
    ramify::detail::runtime::launch_each(read_counts, n, reader, "launching read_counts",
                                         arrays.counts.data(), count, seen.data());
    (void)run.get();
    ramify::check(cudaDeviceSynchronize(), "waiting for the copies");
    return tests::download(seen) == tests::download(expected_);
  }

 private:
  [[nodiscard]] static tests::point_list<float, 3> early_queries() {
    return tests::make_cloud<float, 3>(cloud::filled_sphere, n, 2);
  }

  search<tests::f3> all_{
      tests::make_cloud<float, 3>(cloud::filled_box, 3'000, 1), early_queries(), 0.4f, {}};
  device_buffer<ramify::point<float, 3>> late_ =
      tests::upload_points<float, 3>(tests::make_cloud<float, 3>(cloud::filled_box, n, 3));
  device_buffer<std::uint32_t> expected_;
};

using types = std::tuple<tests::f3, tests::d2>;

}  // namespace

BOOST_AUTO_TEST_SUITE(asynchronous_spatial_queries)

BOOST_AUTO_TEST_CASE_TEMPLATE(results_are_complete_before_get, Type, types) {
  using real = typename Type::real;
  int piece = 0;
  for (const cloud c : tests::all_clouds) {
    for (const std::size_t n : {1, 300}) {
      if (tests::left_out(piece)) continue;
      const auto points = tests::make_cloud<real, Type::dim>(c, n, n);
      const auto queries = tests::queries_near(points, 100, 16);
      for (const spatial_query_options& options :
           {spatial_query_options{}, spatial_query_options{.ball_method = query_method::packets},
            spatial_query_options{.sort = false, .squared = false},
            spatial_query_options{.period = {1000, 0, 0}}}) {
        for (const real radius : {real{0.3}, std::numeric_limits<real>::infinity()}) {
          BOOST_TEST_CONTEXT(c << ", n = " << n << ", " << to_string(options.ball_method)
                               << ", period " << options.period[0] << ", radius " << radius) {
            expect_same_results(search<Type>(points, queries, radius, options));
          }
        }
      }
    }
  }
}

// Kernels decide about the metric as the host does.
BOOST_AUTO_TEST_CASE_TEMPLATE(any_magnitude, Type, types) {
  using real = typename Type::real;
  const auto points = tests::make_cloud<real, Type::dim>(cloud::filled_sphere, 60, 1);
  const auto queries = tests::queries_near(points, 40, 4);
  constexpr int greatest = std::numeric_limits<real>::max_exponent;
  for (const int exponent : {greatest - 12, greatest / 2 - 2, greatest / 2 - 3, 3 - greatest / 2,
                             -greatest / 2, -greatest}) {
    const real scale = std::ldexp(real{1}, exponent);
    for (const real radius : {real{0}, real{0.3} * scale, std::numeric_limits<real>::infinity()}) {
      for (const bool far : {false, true}) {
        BOOST_TEST_CONTEXT("2^" << exponent << ", radius " << radius << ", far " << far) {
          const auto asked = far ? scaled<Type>(queries, std::ldexp(real{1}, greatest - 12))
                                 : scaled<Type>(queries, scale);
          expect_same_results(search<Type>(scaled<Type>(points, scale), asked, radius,
                                           {.ball_method = query_method::packets}));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(get_names_the_first_query_that_is_not_finite) {
  for (const completion when : {completion::in_stream, completion::by_get}) {
    for (const auto method : {query_method::threads, query_method::packets}) {
      const auto points = tests::make_cloud<float, 3>(cloud::filled_box, 300, 1);
      auto queries = points;
      queries[42][2] = std::numeric_limits<float>::quiet_NaN();
      queries[43][0] = std::numeric_limits<float>::infinity();
      const search<tests::f3> s(points, queries, 0.3f, {.ball_method = method});
      const auto arrays = s.arrays();
      const results before(arrays, nullptr);
      const environment env{.completion = when};
      const auto expect = [](auto run) {
        for (int calls = 0; calls < 2; ++calls) {
          BOOST_CHECK_EXCEPTION((void)run.get(), std::invalid_argument,
                                names("queries[42] has a coordinate that is NaN or infinite"));
        }
      };
      expect(s.count(arrays, env));
      expect(s.rows(arrays, env));
      expect(s.neighbors(arrays, env));
      expect(s.lists(env));
      BOOST_TEST((results(arrays, nullptr) == before));
    }
  }
}

BOOST_AUTO_TEST_CASE(calls_without_queries_or_points) {
  const search<tests::f3> none({}, {}, 1, {});
  const auto arrays = none.arrays();
  BOOST_TEST((runs<tests::f3>(none, arrays, {}).get() == totals{}));
  const auto lists = none.lists({}).get();
  BOOST_TEST(tests::download(lists.offsets) == std::vector<std::uint64_t>{0});
  BOOST_TEST(lists.ids.size() == 0u);
  // Queries without points.
  const auto queries = tests::make_cloud<float, 3>(cloud::filled_box, 40, 1);
  const search<tests::f3> no_points({}, queries, 1, {});
  expect_same_results(no_points);
  // Points without queries.
  expect_same_results(search<tests::f3>(queries, {}, 1, {}));
}

BOOST_AUTO_TEST_CASE(runs_may_be_moved_and_destroyed) {
  const auto points = tests::make_cloud<float, 3>(cloud::filled_box, 200, 1);
  const search<tests::f3> s(points, points, 0.3f, {});
  const auto expected_arrays = s.arrays();
  (void)s.run_waiting(expected_arrays);
  const results expected(expected_arrays, nullptr);
  const auto arrays = s.arrays();
  { const runs<tests::f3> dropped(s, arrays, {}); }
  BOOST_TEST((results(arrays, nullptr) == expected));
  { const auto dropped = s.lists({}); }

  auto first = s.lists({});
  auto second = std::move(first);
  BOOST_TEST(second.get().ids.size() >= points.size());
  BOOST_CHECK_EXCEPTION((void)first.get(), std::logic_error, names("moved-from"));
  BOOST_CHECK_EXCEPTION((void)second.get(), std::logic_error, names("called before"));
}

// The scratch memory of a call that must be complete in stream order has that of a sort.
BOOST_AUTO_TEST_CASE(the_scratch_memory_has_the_stated_size) {
  const auto points = tests::make_cloud<float, 3>(cloud::filled_box, 1'000, 1);
  for (const bool sort : {true, false}) {
    const search<tests::f3> s(points, points, 0.1f,
                              {.sort = sort, .ball_method = query_method::packets});
    const auto arrays = s.arrays();
    const std::size_t stated = ramify::spatial_query_scratch_bytes<float, 3>(1'000, s.options);
    const std::size_t of_lists = ramify::radius_list_scratch_bytes<float, 3>(1'000, s.options);
    const device_buffer<std::byte> memory(of_lists, nullptr);
    for (const environment& env : {environment{}, environment{.memory = memory}}) {
      BOOST_TEST(s.count(arrays, env).get().scratch_bytes == stated);
      BOOST_TEST(s.rows(arrays, env).get().scratch_bytes == stated);
      BOOST_TEST(s.neighbors(arrays, env).get().scratch_bytes == stated);
      BOOST_TEST(s.lists(env).get().report.scratch_bytes == of_lists);
      BOOST_TEST(s.own_neighbors(arrays, env).get().scratch_bytes == 0u);
    }
    const std::size_t of_clusters = ramify::find_clusters_scratch_bytes(1'000);
    BOOST_TEST(s.clusters(arrays, {}).get().scratch_bytes == of_clusters);
  }
}

BOOST_AUTO_TEST_CASE(queries_are_ordered_in_their_stream) {
  const late_search late;
  const ramify::host_stream stream;
  BOOST_TEST(late.sees_result(stream.get(), {.stream = stream}));
  BOOST_TEST(late.sees_result(nullptr, {}));
  // The negative control: the kernel after the query runs before the search.
  BOOST_TEST(!late.sees_result(stream.get(), {.stream = stream, .completion = completion::by_get}));
}

#if RAMIFY_ON_CUDA

// A call in another stream than the slow kernel reads the queries before it. If the call waits for
// the whole device, as a first call may, its result is right: then it is repeated.
BOOST_AUTO_TEST_CASE(a_query_in_another_stream_is_not_ordered) {
  const late_search late;
  const ramify::host_stream writer;
  const ramify::host_stream other;
  bool was_wrong = false;
  for (int attempt = 0; attempt < 5 && !was_wrong; ++attempt) {
    was_wrong = !late.sees_result(writer.get(), {.stream = other});
  }
  BOOST_TEST(was_wrong);
}

BOOST_AUTO_TEST_CASE(a_graph_captures_queries) {
  const ramify::host_stream stream;
  const auto points = tests::make_cloud<float, 3>(cloud::filled_box, 2'000, 1);
  const search<tests::f3> s(points, points, 0.1f, {});
  const auto arrays = s.arrays();
  std::vector<device_buffer<std::byte>> memory;
  const std::size_t bytes = ramify::spatial_query_scratch_bytes<float, 3>(points.size()) +
                            ramify::find_clusters_scratch_bytes(points.size());
  for (int i = 0; i < 4; ++i) memory.emplace_back(bytes, nullptr);
  const auto in = [&](std::size_t i) { return environment{.stream = stream, .memory = memory[i]}; };
  std::optional<ramify::async_run<ramify::run_report>> count, neighbors, own_neighbors;
  std::optional<ramify::async_run<ramify::radius_rows_report>> rows;
  std::optional<ramify::async_run<ramify::spatial_cluster_report>> clusters;
  const ramify::captured_graph graph(stream.get(), [&] {
    count = s.count(arrays, in(0));
    neighbors = s.neighbors(arrays, in(1));
    rows = s.rows(arrays, in(2));
    clusters = s.clusters(arrays, in(3));
    own_neighbors = s.own_neighbors(arrays, {.stream = stream});
    BOOST_CHECK_THROW((void)own_neighbors->get(), std::logic_error);
    BOOST_CHECK_EXCEPTION((void)s.lists(in(0)), ramify::unavailable, names("cannot capture lists"));
    BOOST_CHECK_EXCEPTION((void)s.count(arrays, {.stream = stream}), std::invalid_argument,
                          names("environment.memory is empty"));
  });
  for (std::uint64_t launched = 0; launched < 3; ++launched) {
    auto queries = tests::make_cloud<float, 3>(cloud::filled_sphere, points.size(), launched);
    if (launched == 1) queries[7][1] = std::numeric_limits<float>::infinity();
    const auto upload = tests::upload_points<float, 3>(queries);
    ramify::check(cudaMemcpy(s.queries.data(), upload.data(), points.size() * sizeof *upload.data(),
                             cudaMemcpyDeviceToDevice),
                  "copying the queries");
    ramify::check(cudaDeviceSynchronize(), "waiting for the queries");
    graph.launch(stream.get());
    if (launched == 1) {
      BOOST_CHECK_EXCEPTION((void)count->get(), std::invalid_argument, names("queries[7]"));
      BOOST_CHECK_EXCEPTION((void)rows->get(), std::invalid_argument, names("queries[7]"));
      continue;
    }
    const results found(arrays, stream.get());
    const auto expected_arrays = s.arrays();
    const totals expected = s.run_waiting(expected_arrays);
    BOOST_TEST((found == results(expected_arrays, nullptr)));
    (void)count->get();
    (void)neighbors->get();
    (void)own_neighbors->get();
    BOOST_TEST(rows->get().truncated == expected.truncated);
    BOOST_TEST(clusters->get().clusters == expected.clusters);
  }
}

#endif

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tests::queries
