// SPDX-License-Identifier: BSD-3-Clause
// Tests sorts of host arrays in parts: every input, budgets, order, refusals.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <ramify/quicksort_out_of_core.cuh>
#include <ramify/runtime/stream.cuh>
#include <stdexcept>
#include <string>
#include <vector>

#include "effort.hpp"
#include "exceptions.hpp"
#include "quicksort_checks.cuh"

namespace data = boost::unit_test::data;
using common::distribution;
using ramify::quicksort_report;
using ramify::quicksort_strategy;
using ramify::route;
using tests::make_input;
using tests::names;

namespace {

/// Returns the device memory of a sort of few keys.
std::size_t least_scratch() {
  return 2 * std::max(tests::scratch_bytes(1'000, {}),
                      tests::scratch_bytes(1'000, {.strategy = quicksort_strategy::binary}));
}

/// Returns a budget in which n elements of `bytes` bytes are several runs.
std::size_t budget_of_runs(std::size_t n, std::size_t bytes) { return n * bytes + least_scratch(); }

const auto elements = static_cast<std::size_t>(tests::cut_down(60'000, 12'000));

}  // namespace

BOOST_AUTO_TEST_SUITE(out_of_core)

BOOST_AUTO_TEST_CASE(every_input) {
  int number = 0;
  for (const auto d : ramify::all_choices<distribution>()) {
    // Both strategies and both routes, in turns.
    auto call = tests::call_for(tests::strategies[number % 2], tests::routes[number / 2 % 2]);
    if (tests::effort() < 0.1 && number++ % 4 != 0) continue;
    ++number;
    BOOST_TEST_CONTEXT(common::to_string(d)) {
      call.options.device_memory = budget_of_runs(elements, sizeof(std::uint32_t));
      tests::expect_sorted(make_input<std::uint32_t>(d, elements, 1), call);
      call.options.device_memory = budget_of_runs(elements, sizeof(double));
      tests::expect_sorted(make_input<double>(d, elements, 2), call);
    }
  }
}

// The memory is at most the budget. With a smaller one there are more parts.
BOOST_AUTO_TEST_CASE(the_budget_decides_the_number_of_runs) {
  const auto input = make_input<std::uint64_t>(distribution::uniform, elements, 3);
  std::uint64_t fewest = 1;
  for (const double part : {6.0, 1.5, 1.0, 0.7}) {
    auto call = tests::call_for(quicksort_strategy::sample_sort, route::flat);
    call.options.device_memory =
        least_scratch() + static_cast<std::size_t>(part * 8 * double(elements));
    std::vector<std::uint64_t> keys = input.input();
    const quicksort_report report = tests::sort_keys(keys, call);
    BOOST_TEST_CONTEXT(part << " of the keys") {
      BOOST_TEST(input.check(keys) == "");
      BOOST_TEST(report.scratch_bytes <= call.options.device_memory);
      if (part == 6.0) {  // all keys fit at once
        BOOST_TEST(report.runs == 0u);
        continue;
      }
      BOOST_TEST(report.runs > fewest);
      BOOST_TEST(report.buckets >= report.runs);  // a part of a slot is for elements that are kept
      fewest = report.runs;
    }
  }
}

// Any type, any order, and temporary memory of the caller. The smallest budget has the most runs.
BOOST_AUTO_TEST_CASE(the_smallest_budget_suffices_for_any_order) {
  using tests::particle;
  const std::size_t n = elements / 4;
  const auto input = make_input<particle>(distribution::zipf, n, 4);
  const typename tests::order_of<particle>::type order;
  ramify::quicksort_options options{.device_memory = 1};
  std::string message;
  std::vector<particle> keys = input.input();
  auto values = tests::count_up<std::uint32_t>(n);
  const auto sort = [&] {
    return ramify::quicksort_pairs_out_of_core(keys.data(), values.data(), n, order, options);
  };
  try {
    (void)sort();
  } catch (const std::invalid_argument& e) {
    message = e.what();
  }
  const std::string begin = "quicksort_options.device_memory is 1 bytes; a sort of " +
                            std::to_string(n) + " elements needs at least ";
  BOOST_REQUIRE(message.starts_with(begin));
  BOOST_TEST(std::memcmp(keys.data(), input.input().data(), n * sizeof(particle)) == 0);
  const std::size_t least = std::stoull(message.substr(begin.size()));
  options.device_memory = least - 1;
  BOOST_CHECK_THROW((void)sort(), std::invalid_argument);
  options.device_memory = least;
  std::vector<std::byte> memory(
      256 + ramify::quicksort_out_of_core_temporary_bytes<particle, std::uint32_t>(n));
  const auto past = reinterpret_cast<std::uintptr_t>(memory.data()) % 256;
  options.temporary = memory.data() + (256 - past);
  const quicksort_report report = sort();
  BOOST_TEST(input.check(keys, values) == "");
  BOOST_TEST(report.runs > 3u);
  BOOST_TEST(report.scratch_bytes <= least);
}

// The shortest runs would have too many samples for this budget.
BOOST_AUTO_TEST_CASE(a_budget_of_a_quarter_of_the_keys_suffices) {
  const auto n = static_cast<std::size_t>(tests::cut_down(400'000, 200'000));
  const auto input = make_input<std::uint32_t>(distribution::uniform, n, 6);
  auto call = tests::call_for(quicksort_strategy::sample_sort, route::flat);
  call.options.device_memory = n + (RAMIFY_ON_CUDA ? least_scratch() : 0);
  std::vector<std::uint32_t> keys = input.input();
  BOOST_TEST(tests::sort_keys(keys, call).runs > 10u);
  BOOST_TEST(input.check(keys) == "");
}

BOOST_AUTO_TEST_CASE(nan_is_after_all_numbers) {
  std::vector<float> keys(elements);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = i % 3 == 0 ? std::numeric_limits<float>::quiet_NaN() : float(i * 7919 % 1000);
  }
  auto call = tests::call_for(quicksort_strategy::sample_sort, route::automatic);
  call.options.device_memory = budget_of_runs(keys.size(), sizeof(float));
  BOOST_TEST(tests::sort_keys(keys, call).runs > 1u);
  const auto first_nan =
      std::ranges::find_if(keys, [](float key) { return std::isnan(key); }) - keys.begin();
  BOOST_TEST(std::size_t(keys.end() - keys.begin() - first_nan) == (keys.size() + 2) / 3);
  BOOST_TEST(std::is_sorted(keys.begin(), keys.begin() + first_nan));
  (void)tests::sort_keys(keys, call, ramify::sort_order::descending);
  BOOST_TEST(std::isnan(keys[(keys.size() + 2) / 3 - 1]));
  BOOST_TEST(std::is_sorted(keys.begin() + std::ptrdiff_t((keys.size() + 2) / 3), keys.end(),
                            std::greater<>()));
}

BOOST_AUTO_TEST_CASE(an_invalid_comparator_loses_no_key) {
  const auto input = make_input<std::uint32_t>(distribution::sorted, 9'000, 5).input();
  for (const auto order : tests::invalid_orders) {
    std::vector<std::uint32_t> keys = input;
    (void)ramify::quicksort_out_of_core(
        keys.data(), keys.size(), tests::invalid_comparator{order},
        {.device_memory = budget_of_runs(keys.size(), sizeof(std::uint32_t))});
    BOOST_TEST(std::ranges::is_permutation(keys, input));
  }
}

#if !RAMIFY_ON_CUDA
BOOST_DATA_TEST_CASE(every_random_schedule, data::xrange(tests::random_schedules()), seed) {
  const ramify::cpu::scoped_executor_config config(
      {.order = ramify::cpu::schedule::random, .seed = std::uint64_t(seed)});
  auto call = tests::call_for(tests::strategies[seed % 2], tests::routes[seed / 2 % 2]);
  const auto input =
      make_input<std::uint32_t>(distribution::few_distinct, 20'000, std::uint64_t(seed));
  call.options.device_memory = budget_of_runs(input.input().size(), sizeof(std::uint32_t));
  std::vector<std::uint32_t> keys = input.input();
  auto values = tests::count_up<std::uint32_t>(keys.size());
  BOOST_TEST(tests::sort_pairs(keys, values, call).runs > 1u);
  BOOST_TEST(input.check(keys, values) == "");
}
#endif

BOOST_AUTO_TEST_CASE(bad_arguments_are_named) {
  std::vector<std::uint32_t> keys{3, 1, 2};
  auto call = tests::call_for(quicksort_strategy::sample_sort, route::automatic);
  call.options.device_memory = 5;
  BOOST_CHECK_EXCEPTION((void)tests::sort_keys(keys, call), std::invalid_argument,
                        names("quicksort_options.device_memory is 5 bytes; a sort of 3 elements"));
  const auto expect = [](std::uint32_t* array, std::size_t n,
                         const ramify::quicksort_options& options, const char* what,
                         const ramify::environment& env = {}) {
    BOOST_CHECK_EXCEPTION(
        (void)ramify::quicksort_out_of_core(array, n, ramify::ascending{}, options, env),
        std::invalid_argument, names(what));
  };
  constexpr std::size_t bytes = 1 << 20;
  expect(keys.data(), 3, {}, "quicksort_options.device_memory is 0 bytes");
  expect(keys.data(), 3, {.device_memory = bytes, .temporary = reinterpret_cast<void*>(8)},
         "quicksort_options.temporary must be aligned to 256 bytes");
  alignas(256) std::uint32_t both[64] = {2, 1};
  expect(both, 2, {.device_memory = bytes, .temporary = both},
         "keys and quicksort_options.temporary overlap");
  expect(keys.data(), 3, {.device_memory = bytes},
         "quicksort_out_of_core: environment.memory has 64 bytes",
         {.memory = {reinterpret_cast<void*>(256), 64}});
  BOOST_TEST(both[0] == 2u);
  BOOST_TEST(keys == (std::vector<std::uint32_t>{3, 1, 2}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(few_keys_need_no_memory) {
  std::uint32_t key = 7;
  BOOST_TEST(ramify::quicksort_out_of_core(&key, 1, ramify::ascending{}, {}).runs == 0u);
  std::uint32_t* const none = nullptr;
  BOOST_TEST(ramify::quicksort_out_of_core(none, 0, ramify::ascending{}, {}).keys == 0u);
}

// The sort uses the caller's stream and memory, and passes the route and the trace to its parts.
BOOST_DATA_TEST_CASE(parts_have_the_environment_of_the_call, data::make(tests::routes), taken) {
  const auto input = make_input<std::uint32_t>(distribution::uniform, elements, 7);
  const std::size_t budget = budget_of_runs(elements, sizeof(std::uint32_t));
  const ramify::host_stream stream;
  const ramify::device_buffer<std::byte> memory(budget, stream.get());
  // The keys arrive by earlier work in the stream.
  const auto on_device = tests::upload(input.input(), stream.get());
  ramify::pinned_buffer<std::uint32_t> keys(elements);
  ramify::check(cudaMemcpyAsync(keys.data(), on_device.data(), elements * sizeof keys[0],
                                cudaMemcpyDeviceToHost, stream.get()),
                "downloading keys");
  const quicksort_report report = ramify::quicksort_out_of_core(
      keys.data(), elements, ramify::ascending{}, {.device_memory = budget},
      {.stream = stream, .memory = memory, .route = taken, .pending_launches = 512});
  BOOST_TEST(input.check({keys.data(), keys.data() + elements}) == "");
  BOOST_TEST(report.runs > 1u);
  BOOST_TEST(report.taken == taken);
  BOOST_TEST(report.pending_launch_limit == 512u);
  BOOST_TEST(report.scratch_bytes <= budget);
}

BOOST_AUTO_TEST_SUITE_END()
