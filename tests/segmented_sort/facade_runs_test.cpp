// SPDX-License-Identifier: BSD-3-Clause
// Sorts of the compiled interface that do not wait, segmented or not, also captured by a graph.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <numeric>
#include <optional>
#include <ramify/quicksort.hpp>
#include <ramify/runtime/captured_graph.cuh>
#include <ramify/runtime/stream.cuh>
#include <ramify/segmented_sort.hpp>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "backend_under_test.hpp"
#include "device_vectors.cuh"
#include "exceptions.hpp"
#include "run_checks.cuh"

namespace data = boost::unit_test::data;
using ramify::async_run;
using ramify::quicksort_report;
using ramify::segmented_sort_report;
using ramify::sort_order;
using tests::names;
using tests::routes;

namespace {

/// Arrays on the device, and what the sorts must make of them.
template <class Key>
struct sort_case {
  static constexpr std::size_t n = 50'000;

  std::vector<Key> keys = std::vector<Key>(n);
  std::vector<std::int32_t> offsets{7, 7, 100, 40'000, 49'990};
  ramify::host_stream stream;
  ramify::device_buffer<Key> device_keys{n, stream.get()};
  ramify::device_buffer<std::uint32_t> device_values{n, stream.get()};
  ramify::device_buffer<std::int32_t> device_offsets{offsets.size(), stream.get()};

  explicit sort_case(unsigned seed) { change(seed); }

  /// Writes other keys, and their indices as values.
  void change(unsigned seed) {
    std::mt19937 random(seed);
    for (Key& key : keys) key = static_cast<Key>(static_cast<std::int32_t>(random() % 90'000));
    std::vector<std::uint32_t> indices(n);
    std::iota(indices.begin(), indices.end(), 0u);
    copy(device_keys.data(), keys);
    copy(device_values.data(), indices);
    copy(device_offsets.data(), offsets);
    ramify::check(cudaStreamSynchronize(stream.get()), "waiting for the input");
  }

  [[nodiscard]] auto on_device() const { return std::span(device_keys.data(), n); }
  [[nodiscard]] auto values_on_device() const { return std::span(device_values.data(), n); }
  [[nodiscard]] auto offsets_on_device() const {
    return std::span<const std::int32_t>(device_offsets.data(), offsets.size());
  }
  [[nodiscard]] ramify::environment environment_on(ramify::route taken) const {
    return {.backend = tests::backend_under_test(), .stream = stream, .route = taken};
  }

  /// Returns a text that is empty if the keys between any two neighbors of `bounds` are in order,
  /// all other keys are unchanged, and each value is the index of its key in the input.
  [[nodiscard]] std::string check(const std::vector<std::int32_t>& bounds, bool descending,
                                  bool has_values) const {
    std::vector<Key> expected = keys;
    for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
      const auto first = expected.begin() + bounds[i];
      const auto last = expected.begin() + bounds[i + 1];
      std::sort(first, last);
      if (descending) std::reverse(first, last);
    }
    std::vector<Key> found(n);
    tests::download(device_keys, found, stream.get());
    if (found != expected) return "wrong keys";
    if (!has_values) return "";
    std::vector<std::uint32_t> moved(n);
    tests::download(device_values, moved, stream.get());
    for (std::size_t i = 0; i < n; ++i) {
      if (moved[i] >= n || keys[moved[i]] != found[i]) return "wrong value " + std::to_string(i);
    }
    std::sort(moved.begin(), moved.end());
    return std::adjacent_find(moved.begin(), moved.end()) == moved.end() ? "" : "a value is lost";
  }
  [[nodiscard]] static std::vector<std::int32_t> all() { return {0, std::int32_t{n}}; }

 private:
  template <class T>
  void copy(T* to, const std::vector<T>& from) const {
    ramify::check(cudaMemcpyAsync(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice,
                                  stream.get()),
                  "uploading");
  }
};

/// Calls get() once, and checks that a second call is refused.
template <class Report>
Report report_of(async_run<Report>& run) {
  Report report = run.get();
  BOOST_CHECK_THROW((void)run.get(), std::logic_error);
  return report;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(facade_runs)

BOOST_DATA_TEST_CASE(a_started_sort_reports_as_a_sort_that_waits,
                     data::make(routes) * data::make({false, true}), taken, descending) {
  const auto order = descending ? sort_order::descending : sort_order::ascending;
  sort_case<double> given(1);
  const auto env = given.environment_on(taken);
  { const auto dropped = ramify::quicksort_async(given.on_device(), order, env); }
  auto run = ramify::quicksort_async(given.on_device(), order, env);
  const quicksort_report report = report_of(run);
  BOOST_TEST(given.check(given.all(), descending, false) == "");
  given.change(2);
  const auto waited = ramify::quicksort(given.on_device(), order, env);
  BOOST_TEST(report.keys == given.n);
  BOOST_TEST(report.taken == taken);
  BOOST_TEST(report.ran_on == tests::backend_under_test());
  BOOST_TEST(report.backend_reason == waited.backend_reason);
  BOOST_TEST(report.backend_reason.starts_with("requested"));

  given.change(3);
  auto pairs = ramify::quicksort_pairs_async(given.on_device(), given.values_on_device(), order,
                                             {.strategy = ramify::quicksort_strategy::binary}, env);
  BOOST_TEST((report_of(pairs).strategy == ramify::quicksort_strategy::binary));
  BOOST_TEST(given.check(given.all(), descending, true) == "");
}

BOOST_DATA_TEST_CASE(started_sorts_of_segments, data::make(routes), taken) {
  sort_case<std::int64_t> given(4);
  const auto env = given.environment_on(taken);
  auto run = ramify::segmented_sort_async(given.on_device(), given.offsets_on_device(),
                                          sort_order::descending, env);
  const segmented_sort_report report = report_of(run);
  BOOST_TEST(report.segments == given.offsets.size() - 1);
  BOOST_TEST(given.check(given.offsets, true, false) == "");
  given.change(5);
  auto pairs =
      ramify::segmented_sort_pairs_async(given.on_device(), given.values_on_device(),
                                         given.offsets_on_device(), sort_order::ascending, env);
  BOOST_TEST(report_of(pairs).keys == given.n);
  BOOST_TEST(given.check(given.offsets, false, true) == "");
}

BOOST_AUTO_TEST_CASE(get_states_bad_offsets) {
  sort_case<std::uint32_t> given(6);
  given.offsets = {0, 60'000};
  given.device_offsets = tests::upload(given.offsets, given.stream.get());
  auto run = ramify::segmented_sort_async(given.on_device(), given.offsets_on_device(),
                                          sort_order::ascending,
                                          given.environment_on(ramify::route::automatic));
  BOOST_CHECK_EXCEPTION((void)run.get(), std::invalid_argument, names("segment 0 is no range"));
  BOOST_TEST(given.check({}, false, false) == "");
}

BOOST_AUTO_TEST_CASE(bad_arguments_of_started_sorts) {
  const ramify::environment env{.backend = tests::backend_under_test()};
  std::vector<float> keys{3, 1, 2};
  std::vector<std::uint32_t> values{0, 1};
  BOOST_CHECK_EXCEPTION((void)ramify::quicksort_pairs_async(keys, values, {}, env),
                        std::invalid_argument, names("quicksort_pairs_async: "));
  BOOST_CHECK_EXCEPTION((void)ramify::quicksort_async(keys, static_cast<sort_order>(7), env),
                        std::invalid_argument, names("quicksort: order"));
  BOOST_CHECK_EXCEPTION((void)ramify::quicksort_async(keys, {}, {.device_memory = 1}, env),
                        std::invalid_argument, names("device_memory"));
  BOOST_CHECK_EXCEPTION(
      (void)ramify::segmented_sort_async(keys, std::vector<std::uint32_t>{}, {}, env),
      std::invalid_argument, names("one offset more than segments"));
  if (tests::runs_on_cpu()) {
    ramify::environment bad = env;
    bad.stream = reinterpret_cast<CUstream_st*>(std::uintptr_t{2});  // cudaStreamPerThread
    BOOST_CHECK_EXCEPTION((void)ramify::quicksort_async(keys, {}, bad), std::invalid_argument,
                          names("environment.stream is a stream of another backend"));
  } else {
    BOOST_CHECK_EXCEPTION((void)ramify::quicksort_async(keys, {}, env), std::invalid_argument,
                          names("keys is ordinary host memory"));
  }
  BOOST_TEST((keys == std::vector<float>{3, 1, 2}));
}

#if RAMIFY_ON_CUDA
BOOST_DATA_TEST_CASE(a_captured_sort_has_memory_of_its_own, data::make(routes), taken) {
  sort_case<float> given(7);
  const auto env = given.environment_on(taken);
  (void)ramify::quicksort(given.on_device(), sort_order::ascending, env);  // measures launches
  std::optional<async_run<segmented_sort_report>> segments;
  std::optional<async_run<quicksort_report>> pairs;
  const ramify::captured_graph sort_of_segments(given.stream.get(), [&] {
    segments = ramify::segmented_sort_async(given.on_device(), given.offsets_on_device(),
                                            sort_order::ascending, env);
    BOOST_CHECK_THROW((void)segments->get(), std::logic_error);
  });
  const ramify::captured_graph sort_of_pairs(given.stream.get(), [&] {
    pairs = ramify::quicksort_pairs_async(given.on_device(), given.values_on_device(),
                                          sort_order::descending, env);
  });
  BOOST_TEST(segments->captured());
  for (unsigned seed = 0; seed < 3; ++seed) {
    given.change(seed);
    sort_of_segments.launch(given.stream.get());
    BOOST_TEST(given.check(given.offsets, false, false) == "");
    BOOST_TEST(segments->get().taken == taken);
    given.change(seed + 10);
    sort_of_pairs.launch(given.stream.get());
    BOOST_TEST(given.check(given.all(), true, true) == "");
    BOOST_TEST(pairs->get().keys == given.n);
  }
}
#endif

BOOST_AUTO_TEST_SUITE_END()
