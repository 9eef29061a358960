// SPDX-License-Identifier: BSD-3-Clause
// Sorts of a number of elements that only the device has.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <ramify/runtime/device_count.hpp>
#include <vector>

#include "counts_on_device.cuh"
#include "quicksort_checks.cuh"

namespace data = boost::unit_test::data;
using common::distribution;
using ramify::device_buffer;
using ramify::route;
using tests::call_for;
using tests::particle;
using tests::routes;
using tests::several_leaves;

namespace {

using key = std::uint32_t;
constexpr auto strategy = ramify::quicksort_strategy::sample_sort;

/// Returns a part of an array.
template <class T>
std::vector<T> part_of(const std::vector<T>& all, std::size_t begin, std::size_t end) {
  return {all.begin() + std::ptrdiff_t(begin), all.begin() + std::ptrdiff_t(end)};
}

/// Sorts the first n of some keys, whose number is their upper bound, with values.
template <class Compare = tests::device_order<particle>>
ramify::quicksort_report expect_pairs_sorted(const std::vector<particle>& all, std::size_t n,
                                             const ramify::environment& env) {
  const auto keys = tests::upload(all);
  const auto values = tests::upload(tests::count_up<std::uint32_t>(all.size()));
  const tests::device_number<std::int32_t> number(static_cast<std::int32_t>(n));
  const auto report =
      ramify::quicksort_pairs(keys.data(), values.data(), number.up_to(all.size()), Compare{}, env);
  BOOST_TEST(report.keys == n);
  const tests::oracle<particle> oracle(part_of(all, 0, n));
  BOOST_TEST(oracle.check(part_of(tests::download(keys), 0, n),
                          part_of(tests::download(values), 0, n)) == "");
  return report;
}

/// An order which states that no two keys are equivalent.
struct order_of_distinct : tests::device_order<particle> {
  static constexpr bool keys_are_distinct = true;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(quicksort)

BOOST_DATA_TEST_CASE(a_sort_reads_the_number_of_keys_on_the_device, data::make(routes), taken) {
  const auto all = tests::make_input<key>(distribution::uniform, several_leaves, 1).input();
  const device_buffer<key> keys = tests::upload(all);
  const tests::device_number<std::uint64_t> number;
  const auto count = number.up_to(all.size());
  const device_buffer<std::byte> scratch(ramify::quicksort_scratch_bytes<key>(count), nullptr);
  ramify::check(cudaDeviceSynchronize(), "waiting for the memory");
  tests::replay(
      number, tests::ten_counts(all.size()),
      [&](std::size_t) {
        ramify::check(
            cudaMemcpy(keys.data(), all.data(), all.size() * sizeof(key), cudaMemcpyHostToDevice),
            "writing the keys");
      },
      [&](cudaStream_t stream) {
        auto env = call_for(strategy, taken).env;
        env.stream = stream;
        env.memory = {scratch.data(), scratch.size()};
        return ramify::quicksort_async(keys.data(), count, ramify::ascending{}, env);
      },
      [&](std::size_t n, auto& run) {
        const auto report = run.get();
        BOOST_TEST(report.keys == n);
        BOOST_TEST(report.taken == taken);
        const auto sorted = tests::download(keys);
        const tests::oracle<key> oracle(part_of(all, 0, n));
        BOOST_TEST(oracle.check(part_of(sorted, 0, n)) == "");
        BOOST_TEST((part_of(sorted, n, all.size()) == part_of(all, n, all.size())));
        BOOST_TEST(tests::slots_left_in_use() == 0u);
      });
}

BOOST_DATA_TEST_CASE(a_sort_of_pairs_reads_their_number_on_the_device, data::make(routes), taken) {
  using sizes = ramify::detail::quicksort::sample_sort_tuning<particle, std::uint32_t>;
  constexpr std::size_t small = sizes::small_root_size;
  constexpr std::size_t chunk = sizes::long_chunk.size();
  constexpr std::size_t most = std::max<std::size_t>(20'000, small + 3'000);
  const auto all = tests::make_input<particle>(distribution::zipf, most, 1).input();
  const auto env = call_for(strategy, taken).env;
  // A root that is not small, or a small one of several chunks or of one.
  for (const std::size_t n :
       {most, most - 1, small + 1, small, small - 1, chunk + 1, chunk, chunk - 1, std::size_t{30},
        std::size_t{2}, std::size_t{1}, std::size_t{0}}) {
    expect_pairs_sorted(all, n, env);
  }
}

// From some number of keys on, a root has fewer buckets, and their numbers have one byte each
// instead of two. Here the upper bound is that of few buckets.
BOOST_DATA_TEST_CASE(a_root_may_have_more_buckets_than_that_of_the_bound, data::make(routes),
                     taken) {
  namespace internal = ramify::detail::quicksort;
  using sizes = internal::sample_sort_tuning<particle, std::uint32_t>;
  constexpr std::size_t first = std::size_t{sizes::bucket_size} * sizes::leaf_bucket_limit;
  BOOST_TEST(internal::root_buckets<sizes>(first - 1) > internal::byte_ids);
  BOOST_TEST(internal::root_buckets<sizes>(first) <= internal::byte_ids);
  const auto all = tests::make_input<particle>(distribution::uniform, first + 1, 1).input();
  for (const std::size_t n : {first, first - 1}) {
    expect_pairs_sorted(all, n, call_for(strategy, taken).env);
  }
}

// The flat route has no extra level for distinct keys. Keys that repeat nevertheless are sorted.
BOOST_DATA_TEST_CASE(distinct_keys_have_no_extra_level,
                     data::make({distribution::uniform, distribution::zipf,
                                 distribution::all_equal}),
                     of) {
  namespace internal = ramify::detail::quicksort;
  using sizes = internal::sample_sort_tuning<particle, std::uint32_t>;
  using order = internal::sort_order<particle, order_of_distinct>;
  static_assert(order::keys_are_distinct && order_of_distinct::keys_are_distinct);
  constexpr std::size_t n = std::size_t{sizes::bucket_size} * sizes::leaf_bucket_limit;
  BOOST_TEST(internal::expected_levels<sizes>(n) == 2u);
  const auto all = tests::make_input<particle>(of, n, 1).input();
  const auto env = call_for(strategy, route::flat).env;
  const auto of_any = expect_pairs_sorted(all, n, env);
  const auto of_distinct = expect_pairs_sorted<order_of_distinct>(all, n, env);
  BOOST_TEST(of_distinct.host_grids < of_any.host_grids);
}

#if !RAMIFY_ON_CUDA
BOOST_DATA_TEST_CASE(random_schedules_of_a_sort_with_a_count,
                     data::xrange(tests::random_schedules()) * data::make(routes), seed, taken) {
  const ramify::cpu::scoped_executor_config scope(
      {.order = ramify::cpu::schedule::random, .seed = std::uint64_t(seed)});
  const auto all = tests::make_input<key>(distribution::uniform, 20'000, 1).input();
  const auto env = call_for(strategy, taken).env;
  for (const std::size_t n : {all.size() / 2, all.size() / 8}) {
    const device_buffer<key> keys = tests::upload(all);
    const tests::device_number<std::uint32_t> number(static_cast<std::uint32_t>(n));
    const auto report =
        ramify::quicksort(keys.data(), number.up_to(all.size()), ramify::ascending{}, env);
    BOOST_TEST(report.keys == n);
    const tests::oracle<key> oracle(part_of(all, 0, n));
    BOOST_TEST(oracle.check(part_of(tests::download(keys), 0, n)) == "");
  }
}
#endif

BOOST_DATA_TEST_CASE(a_number_of_keys_above_its_bound_is_refused, data::make(routes), taken) {
  const auto all = tests::make_input<key>(distribution::uniform, 1'000, 1).input();
  const auto keys = tests::upload(all);
  const auto env = call_for(strategy, taken).env;
  tests::check_exceeding_counts(all.size() - 1, "quicksort", [&](const ramify::device_count& n) {
    (void)ramify::quicksort(keys.data(), n, ramify::ascending{}, env);
  });
  BOOST_TEST((tests::download(keys) == all));
}

BOOST_DATA_TEST_CASE(a_bound_may_be_0, data::make(routes), taken) {
  const auto all = tests::make_input<key>(distribution::uniform, 1'000, 1).input();
  const auto keys = tests::upload(all);
  const tests::device_number<std::uint64_t> number;
  auto env = call_for(strategy, taken).env;
  const std::vector<std::byte> dirty(ramify::quicksort_scratch_bytes<key>(number.up_to(0)),
                                     std::byte{0xff});
  const auto scratch = tests::upload(dirty);
  env.memory = {scratch.data(), scratch.size()};
  number.write(0);
  BOOST_TEST(ramify::quicksort(keys.data(), number.up_to(0), ramify::ascending{}, env).keys == 0u);
  number.write(5);
  BOOST_CHECK_THROW((void)ramify::quicksort(keys.data(), number.up_to(0), ramify::ascending{}, env),
                    std::length_error);
  BOOST_TEST((tests::download(keys) == all));
}

BOOST_AUTO_TEST_SUITE_END()
