// SPDX-License-Identifier: BSD-3-Clause
// Runs of segmented sorts: limits, failing launches, schedules, streams, graphs, and numbers of
// segments that only the device has.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <optional>
#include <ramify/runtime/captured_graph.cuh>
#include <ramify/runtime/device_count.hpp>
#include <ramify/runtime/stream.cuh>

#include "counts_on_device.cuh"
#include "exceptions.hpp"
#include "failed_launches.hpp"
#include "segmented_sort_checks.cuh"

namespace data = boost::unit_test::data;
using ramify::device_buffer;
using ramify::route;
using tests::environment_on;
using tests::expect_sorted;
using tests::lengths;
using tests::make_keys;
using tests::make_segments;
using tests::page;
using tests::routes;
using tests::segment_arrays;

namespace tests {

/// Segments of one array in device memory, which the host changes.
struct changing_segments {
  static constexpr std::size_t n = 60'000;
  static constexpr std::size_t most = 3'000;

  device_buffer<std::uint32_t> keys{n, nullptr};
  device_buffer<std::uint32_t> begins{most, nullptr};
  device_buffer<std::uint32_t> ends{most, nullptr};
  device_buffer<std::int32_t> count{1, nullptr};
  std::vector<std::uint32_t> input;
  segment_arrays segments;

  /// Writes other segments and keys, and their number. Waits.
  void change(std::uint64_t seed) {
    segments =
        make_segments<std::uint32_t>(all_lengths[seed % std::size(all_lengths)], n / 4, seed);
    while (segments.size() > most) {
      segments.begins.pop_back();
      segments.ends.pop_back();
    }
    BOOST_REQUIRE(segments.n <= n);  // also with the longest segment
    input = make_keys<std::uint32_t>(n, seed);
    // Segments beyond the number that is in memory are never read.
    const std::vector<std::uint32_t> bad(most, ~0u);
    write(begins.data(), bad.data(), most);
    write(ends.data(), bad.data(), most);
    const auto size = static_cast<std::int32_t>(segments.size());
    write(keys.data(), input.data(), n);
    write(begins.data(), segments.begins.data(), segments.size());
    write(ends.data(), segments.ends.data(), segments.size());
    write(count.data(), &size, 1);
    ramify::check(cudaStreamSynchronize(nullptr), "writing an input");
  }
  /// Makes the first segment one that no sort accepts. Waits.
  void spoil() {
    segments.ends[0] = n + 1;
    write(ends.data(), segments.ends.data(), 1);
    write(keys.data(), input.data(), n);
    segments = {};  // no key changes
    ramify::check(cudaStreamSynchronize(nullptr), "writing an input");
  }
  [[nodiscard]] ramify::device_count size() const { return {count.data(), most}; }
  [[nodiscard]] auto start(const ramify::environment& env) const {
    return start_sort(keys.data(), n, begins.data(), ends.data(), size(), env);
  }
  [[nodiscard]] std::string check() const {
    return check_sorted(input, download(keys), segments, host_ascending{});
  }

 private:
  template <class T>
  static void write(T* to, const T* from, std::size_t size) {
    ramify::check(cudaMemcpyAsync(to, from, size * sizeof *from, cudaMemcpyHostToDevice, nullptr),
                  "writing an input");
  }
};

}  // namespace tests

using tests::changing_segments;

namespace {

using key = std::uint32_t;

/// Pages are large, so a small number of them takes several levels.
segment_arrays segments_of_pages() {
  segment_arrays segments = make_segments<page>(lengths::of_all_kinds, 400, 3);
  segments.append(1'500);
  return segments;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(segmented_sort)

BOOST_DATA_TEST_CASE(sorts_under_every_limit, data::make({1, 16, 32, 2048}) * data::make(routes),
                     limit, taken) {
  const auto segments = segments_of_pages();
  const auto report = expect_sorted(segments, make_keys<page>(segments.n, 1),
                                    environment_on(taken, static_cast<std::size_t>(limit)));
  const bool has_slots =
      ramify::launch_quota(static_cast<std::size_t>(limit)) >= 5;  // the grids of a round
  if (!RAMIFY_ON_CUDA) BOOST_TEST(report.taken == (has_slots ? taken : route::flat));
}

#if !RAMIFY_ON_CUDA
BOOST_AUTO_TEST_CASE(the_host_continues_after_any_failed_launch) {
  const auto segments = segments_of_pages();
  const auto input = make_keys<page>(segments.n, 1);
  const auto run = [&] {
    auto keys = input;
    const auto report =
        tests::sort_segments(keys, nullptr, segments, environment_on(route::device));
    BOOST_TEST(tests::check_sorted(input, keys, segments, tests::by_page_key{}) == "");
    BOOST_TEST(tests::slots_in_use() == 0u);
    return report;
  };
  const auto whole = run();
  BOOST_TEST(whole.child_grids >= 5u);
  const unsigned interrupted = tests::count_interrupted(
      std::uint64_t(tests::cut_down(16, 5)), ramify::cpu::current_executor_config(),
      [&](std::uint64_t) { return run().host_grids > whole.host_grids; });
  BOOST_TEST(interrupted >= 5u);
}

BOOST_AUTO_TEST_CASE(the_stream_completes_a_sort_after_any_failed_launch) {
  auto config = ramify::cpu::current_executor_config();
  changing_segments arrays;
  for (std::uint64_t failing = 0; failing < 8; ++failing) {
    config.failing_launch = failing;
    const ramify::cpu::scoped_executor_config scope(config);
    for (const route taken : routes) {
      arrays.change(6 * failing + 3);  // one giant
      auto run = arrays.start(environment_on(taken));
      BOOST_TEST(arrays.check() == "");  // before get()
      (void)run.get();
    }
  }
}

BOOST_AUTO_TEST_CASE(sorts_in_every_order_of_grids) {
  const auto segments = segments_of_pages();
  const auto input = make_keys<page>(segments.n, 2);
  auto config = ramify::cpu::current_executor_config();
  for (int seed = 0; seed < tests::random_schedules(); ++seed) {
    config.order = ramify::cpu::schedule::random;
    config.seed = static_cast<std::uint64_t>(seed);
    const ramify::cpu::scoped_executor_config scope(config);
    (void)expect_sorted(segments, input, environment_on(routes[seed % 2]));
  }
}
#endif

BOOST_DATA_TEST_CASE(a_started_sort_is_complete_in_the_stream, data::make(routes), taken) {
  const ramify::host_stream stream;
  auto env = environment_on(taken);
  env.stream = stream;
  changing_segments arrays;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    arrays.change(seed);
    auto run = arrays.start(env);
    std::vector<key> output(arrays.n);
    tests::download(arrays.keys, output, stream.get());
    BOOST_TEST(
        tests::check_sorted(arrays.input, output, arrays.segments, tests::host_ascending{}) == "");
    const auto report = run.get();
    BOOST_TEST(report.taken == taken);
    BOOST_TEST(report.segments == arrays.segments.size());
    BOOST_CHECK_THROW((void)run.get(), std::logic_error);
  }
}

#if RAMIFY_ON_CUDA
BOOST_DATA_TEST_CASE(a_graph_sorts_other_segments_in_each_launch, data::make(routes), taken) {
  const ramify::host_stream stream;
  changing_segments arrays;
  arrays.change(0);
  const std::size_t bytes = ramify::segmented_sort_scratch_bytes<key>(arrays.n, arrays.most);
  const device_buffer<std::byte> scratch(bytes, nullptr);
  auto env = environment_on(taken);
  env.stream = stream;
  env.memory = {scratch.data(), bytes};
  ramify::check(cudaDeviceSynchronize(), "waiting for the memory");
  std::optional<ramify::async_run<ramify::segmented_sort_report>> run;
  const ramify::captured_graph graph(stream.get(), [&] { run = arrays.start(env); });
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    arrays.change(seed);
    graph.launch(stream.get());
    ramify::check(cudaStreamSynchronize(stream.get()), "waiting for the graph");
    BOOST_TEST(arrays.check() == "");
    BOOST_TEST(run->get().segments == arrays.segments.size());
    if (seed % 3 != 0) continue;
    // A launch whose segments are refused, between two others.
    arrays.spoil();
    graph.launch(stream.get());
    ramify::check(cudaStreamSynchronize(stream.get()), "waiting for the graph");
    BOOST_CHECK_EXCEPTION((void)run->get(), std::invalid_argument,
                          tests::names("segment 0 is no range"));
    BOOST_TEST(arrays.check() == "");
  }
}
#endif

BOOST_DATA_TEST_CASE(a_number_of_segments_above_its_bound_is_refused, data::make(routes), taken) {
  changing_segments arrays;
  arrays.change(2);
  arrays.segments = {};  // no key changes
  tests::check_exceeding_counts(arrays.most, "segmented_sort", [&](const ramify::device_count& n) {
    auto run = tests::start_sort(arrays.keys.data(), arrays.n, arrays.begins.data(),
                                 arrays.ends.data(), n, environment_on(taken));
    (void)run.get();
  });
  BOOST_TEST(arrays.check() == "");
}

BOOST_AUTO_TEST_SUITE_END()
