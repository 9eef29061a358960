// SPDX-License-Identifier: BSD-3-Clause
// The header templates with invalid comparators, several streams, no launch slots, each kind of
// memory, and bad arguments.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <ramify/runtime/stream.cuh>
#include <stdexcept>

#include "exceptions.hpp"
#include "quicksort_checks.cuh"
#include "times_check.hpp"

namespace data = boost::unit_test::data;
using common::distribution;
using ramify::ascending;
using ramify::device_buffer;
using ramify::quicksort_options;
using ramify::quicksort_strategy;
using ramify::route;
using tests::call_for;
using tests::make_input;
using tests::names;
using tests::routes;
using tests::several_leaves;
using tests::strategies;

namespace {

using key = std::uint32_t;
using tests::invalid_comparator;

// The number of keys. On a GPU, copies of so many keys from pageable memory are staged.
constexpr int memory_keys = RAMIFY_ON_CUDA ? 3'000'000 : 20'000;

void fill(std::span<key> keys) {
  for (int i = 0; i < memory_keys; ++i) {
    keys[std::size_t(i)] = key(i * std::int64_t{7919} % memory_keys);
  }
}

bool is_sorted(std::span<const key> keys) {
  for (int i = 0; i < memory_keys; ++i) {
    if (keys[std::size_t(i)] != key(i)) return false;
  }
  return true;
}

/// Sorts with the facade.
ramify::quicksort_report sort_memory(std::span<key> keys) {
  return ramify::quicksort(keys, ramify::sort_order::ascending,
                           {.backend = tests::backend_under_test()});
}

constexpr tests::copied both_copies{RAMIFY_ON_CUDA != 0, RAMIFY_ON_CUDA != 0};

}  // namespace

BOOST_AUTO_TEST_SUITE(quicksort)

BOOST_DATA_TEST_CASE(an_invalid_comparator_loses_no_key,
                     data::make(strategies) * data::make(routes), strategy, taken) {
  static int piece = 0;
  for (const auto order : tests::invalid_orders) {
    if (tests::left_out_by_tsan(piece, 3)) continue;
    const auto expect_all_there = [&](std::size_t n, std::uint64_t seed) {
      const auto input = make_input<key>(distribution::uniform, n, seed);
      auto keys = input.input();
      const auto device_keys = tests::upload(keys);
      (void)ramify::quicksort(device_keys.data(), keys.size(), invalid_comparator{order},
                              {.strategy = strategy}, {.route = taken});
      tests::download(device_keys, keys);
      std::ranges::sort(keys);
      BOOST_TEST(input.check(keys) == "");
    };
    // With an inconsistent order, merges of about one input in six would lose elements.
    const auto inputs = static_cast<std::size_t>(tests::cut_down(25, 6));
    for (std::size_t i = 0; i < inputs; ++i) expect_all_there(6'000 + 300 * i, i);
    expect_all_there(std::size_t(tests::cut_down(60'000, 20'000)), 4);
  }
}

// Both sorts run at the same time, on streams of their own, with scratch memory of the caller.
BOOST_DATA_TEST_CASE(two_sorts_at_once, data::make(strategies) * data::make(routes), strategy,
                     taken) {
  const tests::oracle<key> inputs[2] = {
      make_input<key>(distribution::uniform, several_leaves, 1),
      make_input<key>(distribution::organ_pipe, several_leaves, 2)};
  const quicksort_options options{.strategy = strategy};
  std::vector<key> keys[2] = {inputs[0].input(), inputs[1].input()};
  const ramify::host_stream streams[2];
  const std::size_t bytes[2] = {tests::scratch_bytes(keys[0].size(), options),
                                tests::scratch_bytes(keys[1].size(), options)};
  const device_buffer<key> device_keys[2] = {tests::upload(keys[0], streams[0].get()),
                                             tests::upload(keys[1], streams[1].get())};
  const device_buffer<std::byte> scratch[2] = {{bytes[0], streams[0].get()},
                                               {bytes[1], streams[1].get()}};
  const auto start = [&](int i) {
    return ramify::quicksort_async(device_keys[i].data(), keys[i].size(), ascending{}, options,
                                   {.stream = streams[i], .memory = scratch[i], .route = taken});
  };
  auto first_run = start(0);
  auto second_run = start(1);
  (void)second_run.get();
  (void)first_run.get();
  for (int i = 0; i < 2; ++i) {
    tests::download(device_keys[i], keys[i], streams[i].get());
    BOOST_TEST(inputs[i].check(keys[i]) == "");
  }
}

BOOST_DATA_TEST_CASE(without_launch_slots_the_host_launches,
                     data::make(strategies) *
                         data::make({distribution::uniform, distribution::zipf}),
                     strategy, d) {
  const auto input = make_input<key>(d, several_leaves, 6);
  auto keys = input.input();
  BOOST_TEST(tests::slots_left_in_use() == 0u);
  const tests::all_slots_taken by_others(*ramify::current_launch_limits().pending_launches);
  const auto report = tests::sort_by_header(keys, call_for(strategy, route::device));
  BOOST_TEST(input.check(keys) == "");
  BOOST_TEST(report.taken == route::device);
  BOOST_TEST(report.child_grids == 0u);
  BOOST_TEST(report.host_grids > 3u);
}

BOOST_AUTO_TEST_CASE(pinned_memory) {
  ramify::pinned_buffer<key> pinned(memory_keys);
  const std::span<key> keys(pinned.data(), memory_keys);
  fill(keys);
  (void)ramify::quicksort(pinned.data(), memory_keys);
  BOOST_TEST(is_sorted(keys));
  fill(keys);
  BOOST_TEST(tests::check_times(sort_memory(keys), both_copies) == "");
  BOOST_TEST(is_sorted(keys));
}

BOOST_AUTO_TEST_CASE(ordinary_memory) {
  std::vector<key> keys(memory_keys);
  fill(keys);
  const auto report = sort_memory(keys);
  BOOST_TEST(tests::check_times(report, both_copies) == "");
  BOOST_TEST(is_sorted(keys));
}

BOOST_AUTO_TEST_CASE(device_memory) {
  std::vector<key> keys(memory_keys);
  fill(keys);
  const device_buffer<key> device = tests::upload(keys);
  const auto report = sort_memory(std::span<key>(device.data(), memory_keys));
  BOOST_TEST(tests::check_times(report, {}) == "");
  tests::download(device, keys);
  BOOST_TEST(is_sorted(keys));
}

#if RAMIFY_ON_CUDA
BOOST_AUTO_TEST_CASE(managed_memory) {
  key* managed = nullptr;
  ramify::check(cudaMallocManaged(&managed, memory_keys * sizeof(key)),
                "allocating managed memory");
  const std::span<key> keys(managed, memory_keys);
  fill(keys);
  (void)ramify::quicksort(managed, memory_keys);
  BOOST_TEST(is_sorted(keys));
  fill(keys);
  (void)sort_memory(keys);
  BOOST_TEST(is_sorted(keys));
  ramify::check(cudaFree(managed), "freeing managed memory");
}
#endif

BOOST_AUTO_TEST_CASE(recommended_limits_depend_on_the_strategy) {
  const auto recommended = [](std::size_t n, const quicksort_options& options) {
    return *ramify::quicksort_recommended_limits<key>(n, options).pending_launches;
  };
  const quicksort_options sample_sort;
  const quicksort_options binary{.strategy = quicksort_strategy::binary};
  BOOST_TEST(recommended(1'000'000'000, sample_sort) == 2048u);
  BOOST_TEST(recommended(1'000, binary) == 2048u);
  BOOST_TEST(recommended(100'000'000, binary) > 2048u);
  BOOST_TEST(recommended(100'000'000'000, binary) == 65'536u);
}

BOOST_AUTO_TEST_CASE(bad_arguments_of_the_header_templates_are_named) {
  const device_buffer<key> keys(100, nullptr);
  const auto expect = [](auto call, const char* what) {
    BOOST_CHECK_EXCEPTION(call(), std::invalid_argument, names(what));
  };
  expect([] { (void)ramify::quicksort<key>(nullptr, 5); }, "keys is null");
#if RAMIFY_ON_CUDA
  std::vector<key> on_host(100);
  expect([&] { (void)ramify::quicksort(on_host.data(), on_host.size()); },
         "keys is ordinary host memory");
#endif

  const device_buffer<tests::particle> particles(100, nullptr);
  const auto expect_values = [&](key* values, std::size_t n, const char* what) {
    expect([&] { (void)tests::sort_device_pairs(particles.data(), values, n); }, what);
  };
  expect_values(nullptr, 5, "values is null");
  expect_values(reinterpret_cast<key*>(particles.data() + 49), 50, "keys and values overlap");

  const auto expect_options = [&](const quicksort_options& options, const char* what) {
    expect([&] { (void)ramify::quicksort(keys.data(), 100, ascending{}, options); }, what);
  };
  expect_options({.depth_limit = 256}, "quicksort_options.depth_limit is 256");
  expect_options({.device_memory = 5}, "quicksort_options.device_memory is 5");
  expect_options({.temporary = reinterpret_cast<void*>(256)}, "quicksort_options.temporary");
}

BOOST_AUTO_TEST_SUITE_END()
