// SPDX-License-Identifier: BSD-3-Clause
// Integers of 8 and 16 bits, which sample_sort counts: types, orders, sizes, addresses, schedules.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <optional>
#include <ramify/quicksort/counting_sort.cuh>
#if RAMIFY_ON_CUDA
#include <ramify/runtime/captured_graph.cuh>
#endif
#include <random>

#include "quicksort_checks.cuh"
#if !RAMIFY_ON_CUDA
#include "schedules.hpp"
#endif

namespace data = boost::unit_test::data;
using ramify::quicksort_strategy;
using tests::call_for;
using tests::routes;

namespace tests {

/// An order that is not known to be that of numbers: odd keys come first.
struct odd_first {
  __host__ __device__ bool operator()(std::uint8_t a, std::uint8_t b) const {
    return a % 2 != b % 2 ? a % 2 == 1 : a < b;
  }
};

}  // namespace tests

namespace {

/// The number of keys of 16 bits from which they are counted.
constexpr std::size_t least_words =
    ramify::detail::quicksort::sample_sort_tuning<std::uint16_t,
                                                  ramify::no_value>::min_counted_words;

enum class keys_of { all_values, one_value, both_ends, three_values };

template <class Key>
std::vector<Key> make_keys(keys_of kind, std::size_t n) {
  using limits = std::numeric_limits<Key>;
  std::mt19937 random(static_cast<unsigned>(n));
  std::vector<Key> keys(n);
  for (Key& key : keys) {
    const auto number = static_cast<unsigned>(random());
    switch (kind) {
      case keys_of::all_values: key = static_cast<Key>(number); break;
      case keys_of::one_value: key = Key{7}; break;
      case keys_of::both_ends: key = number % 2 == 0 ? limits::min() : limits::max(); break;
      case keys_of::three_values: key = static_cast<Key>(number % 3 * 100); break;
    }
  }
  return keys;
}

/// Sorts the values that a key may have, and writes each as often as the keys have it: many keys of
/// 16 bits take std::sort too long.
template <class Key, class Compare>
void sort_on_host(Key* keys, std::size_t n, Compare compare) {
  using limits = std::numeric_limits<Key>;
  std::vector<std::size_t> counts(std::size_t{1} << (8 * sizeof(Key)));
  const auto number_of = [](Key key) { return std::size_t(int(key) - int(limits::min())); };
  for (std::size_t i = 0; i < n; ++i) ++counts[number_of(keys[i])];
  std::vector<Key> values;
  for (int value = limits::min(); value <= limits::max(); ++value) values.push_back(Key(value));
  std::sort(values.begin(), values.end(), compare);
  for (const Key value : values) keys = std::fill_n(keys, counts[number_of(value)], value);
}

/// Sorts keys that begin `apart` keys after an aligned address, with memory that is not zero, and
/// compares with sort_on_host(). The keys before and after them must stay. Returns the report.
template <class Key, class Compare>
ramify::quicksort_report expect_counted(std::vector<Key> keys, std::size_t apart, Compare compare,
                                        ramify::environment env = {}) {
  const std::size_t n = keys.size();
  std::vector<Key> around(n + apart + 16, Key{3});
  std::ranges::copy(keys, around.begin() + std::ptrdiff_t(apart));
  const auto on_device = tests::upload(around);
  const auto memory = tests::upload(std::vector<unsigned char>(
      ramify::quicksort_scratch_bytes<Key, ramify::no_value, Compare>(n), 0xff));
  env.memory = {memory.data(), memory.size()};
  const auto report = ramify::quicksort(on_device.data() + apart, n, compare, env);
  sort_on_host(around.data() + apart, n, compare);
  std::vector<Key> sorted(around.size());
  tests::download(on_device, sorted);
  BOOST_TEST_CONTEXT(sizeof(Key) << " bytes, n = " << n << ", apart " << apart) {
    BOOST_TEST((sorted == around));
    BOOST_TEST(report.keys == n);
    BOOST_TEST(report.merge_sorted_segments == 0u);
  }
  return report;
}

/// Sorts bytes: all that are more than a small root are counted.
template <class Key, class Compare>
void expect_counted_bytes(ramify::environment env) {
  using tuning = ramify::detail::quicksort::sample_sort_tuning<Key, ramify::no_value>;
  const std::size_t small = tuning::small_root_size;
  for (const keys_of kind :
       {keys_of::all_values, keys_of::one_value, keys_of::both_ends, keys_of::three_values}) {
    for (const std::size_t n : {small, small + 1, small + 4'099}) {
      for (const std::size_t apart : {0u, 1u, 15u}) {
        const auto report = expect_counted(make_keys<Key>(kind, n), apart, Compare{}, env);
        if (n > small) BOOST_TEST((report.host_grids == 2u && report.child_grids == 0u));
      }
    }
  }
}

/// Sorts keys of 16 bits on both sides of the number from which they are counted.
template <class Key, class Compare>
void expect_counted_words(ramify::environment env) {
  for (const keys_of kind : {keys_of::all_values, keys_of::both_ends}) {
    for (const std::size_t n : {least_words - 1, least_words, least_words + 4'099}) {
      const auto report = expect_counted(make_keys<Key>(kind, n), 1, Compare{}, env);
      BOOST_TEST((report.host_grids == 2u && report.child_grids == 0u) == (n >= least_words));
    }
  }
}

#if RAMIFY_ON_CUDA
/// Captures a sort of n keys, and launches the graph with keys of each kind.
template <class Key, class Compare>
void expect_captured_counts(std::size_t n, ramify::environment env) {
  // In a graph, the last grid of the device route releases the slots of the run.
  const std::uint64_t grids = env.route == ramify::route::device ? 3 : 2;
  const ramify::host_stream stream;
  const ramify::device_buffer<Key> keys(n, stream.get());
  const ramify::device_buffer<std::byte> scratch(
      ramify::quicksort_scratch_bytes<Key, ramify::no_value, Compare>(n), stream.get());
  stream.synchronize();
  env.stream = stream;
  env.memory = scratch;
  std::optional<ramify::async_run<ramify::quicksort_report>> run;
  const ramify::captured_graph graph(
      stream.get(), [&] { run = ramify::quicksort_async(keys.data(), n, Compare{}, env); });
  for (const keys_of kind :
       {keys_of::all_values, keys_of::one_value, keys_of::both_ends, keys_of::three_values}) {
    std::vector<Key> input = make_keys<Key>(kind, n);
    std::vector<Key> sorted(n);
    ramify::check(cudaMemcpyAsync(keys.data(), input.data(), n * sizeof(Key),
                                  cudaMemcpyHostToDevice, stream.get()),
                  "uploading");
    graph.launch(stream.get());
    tests::download(keys, sorted, stream.get());
    sort_on_host(input.data(), n, Compare{});
    BOOST_TEST((sorted == input));
    const auto report = run->get();
    BOOST_TEST(report.host_grids == grids);
    BOOST_TEST(report.child_grids == 0u);
  }
}
#endif

}  // namespace

BOOST_AUTO_TEST_SUITE(quicksort)

BOOST_DATA_TEST_CASE(short_keys_are_counted, data::make(routes), taken) {
  const auto env = call_for(quicksort_strategy::sample_sort, taken).env;
  expect_counted_bytes<std::uint8_t, ramify::ascending>(env);
  expect_counted_bytes<std::int8_t, ramify::descending>(env);
  expect_counted_words<std::uint16_t, ramify::descending>(env);
  expect_counted_words<std::int16_t, ramify::ascending>(env);
}

// A sort out of core sorts parts of several sizes with the memory of the longest one. The counts
// are in addition to what fewer keys need.
BOOST_AUTO_TEST_CASE(memory_for_counted_keys_suffices_for_fewer) {
  BOOST_TEST(ramify::quicksort_scratch_bytes<std::uint16_t>(least_words) >=
             ramify::quicksort_scratch_bytes<std::uint16_t>(least_words - 1) +
                 65'537 * sizeof(ramify::detail::quicksort::position));
}

// A block counts all values of 8 bits, but not all of 16 bits.
BOOST_AUTO_TEST_CASE(values_are_divided_into_windows) {
  using namespace ramify::detail::quicksort;
  const auto window = []<class Key>(Key) {
    using context = sample_sort_context<Key, ramify::no_value, sort_order<Key, ramify::ascending>>;
    return shape_of_counting<context>().window;
  };
  BOOST_TEST(window(std::uint8_t{}) == 256u);
  BOOST_TEST(window(std::uint16_t{}) < 65'536u);
  BOOST_TEST(65'536u % window(std::uint16_t{}) == 0u);
}

BOOST_AUTO_TEST_CASE(short_keys_in_another_order_are_compared) {
  using tuning = ramify::detail::quicksort::sample_sort_tuning<std::uint8_t, ramify::no_value>;
  const std::size_t n = tuning::small_root_size + 1;
  const auto env = call_for(quicksort_strategy::sample_sort, ramify::route::flat).env;
  const auto report =
      expect_counted(make_keys<std::uint8_t>(keys_of::all_values, n), 0, tests::odd_first{}, env);
  BOOST_TEST(report.host_grids > 2u);
}

#if RAMIFY_ON_CUDA
// The counts of a launch must not be added to those of the launch before.
BOOST_DATA_TEST_CASE(each_launch_of_a_graph_counts_its_keys, data::make(routes), taken) {
  const auto env = call_for(quicksort_strategy::sample_sort, taken).env;
  using bytes = ramify::detail::quicksort::sample_sort_tuning<std::uint8_t, ramify::no_value>;
  expect_captured_counts<std::uint8_t, ramify::descending>(bytes::small_root_size + 4'099, env);
  expect_captured_counts<std::int16_t, ramify::ascending>(least_words + 4'099, env);
}
#else
BOOST_AUTO_TEST_CASE(short_keys_under_other_schedules) {
  for (const auto& config : tests::reproducible_schedules()) {
    const ramify::cpu::scoped_executor_config scope(config);
    expect_counted(make_keys<std::uint8_t>(keys_of::all_values, 30'001), 3, ramify::ascending{});
    expect_counted(make_keys<std::int16_t>(keys_of::all_values, least_words), 3,
                   ramify::ascending{});
  }
}
#endif

BOOST_AUTO_TEST_SUITE_END()
