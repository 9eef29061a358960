// SPDX-License-Identifier: BSD-3-Clause
// The header templates whose kernels are in the library: this source has RAMIFY_COMPILED_SORTS=1.
// The keys are random bits, so they include negative numbers, denormal ones, infinities and NaNs.
#include <bit>
#include <boost/test/unit_test.hpp>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <ramify/quicksort.cuh>
#include <ramify/runtime/stream.cuh>
#include <random>
#include <stdexcept>
#include <type_traits>

#include "backend_under_test.hpp"
#include "device_vectors.cuh"
#include "exceptions.hpp"
#include "key_types.hpp"
#include "sort_oracle.hpp"

using ramify::ascending;
using ramify::descending;
using ramify::no_value;
using ramify::quicksort_strategy;
using std::size_t;
using tests::download;
using tests::upload;

namespace {

/// Whether the library has the sort.
template <class Key, class Value = no_value, class Compare = ascending>
constexpr bool in_library = ramify::detail::quicksort::compiled_sort<Key, Value, Compare>::exists;

struct own_order {};
struct two_halves {  // a value of 4 bytes with the alignment of 2
  std::uint16_t low, high;
};
#if RAMIFY_COMPILED_SORTS  // 0 in a build whose kernels check the rules
static_assert(in_library<int> && in_library<double, long> && in_library<float, double, descending>);
#endif
static_assert(!in_library<short> && !in_library<bool> && !in_library<long double>);
static_assert(!in_library<int, two_halves> && !in_library<int, short> && !in_library<two_halves>);
static_assert(!in_library<int, no_value, own_order>);
static_assert(!in_library<double, no_value, descending>);  // its codes take longer

/// Sorts by Compare on the host, independent of the library's code.
template <class Compare>
struct on_host {
  template <class Key>
  bool operator()(const Key& a, const Key& b) const {
    return std::same_as<Compare, ascending> ? tests::host_ascending{}(a, b)
                                            : tests::host_ascending{}(b, a);
  }
};

template <class Key>
std::vector<Key> random_bits(size_t n) {
  using word = std::conditional_t<sizeof(Key) == 4, std::uint32_t, std::uint64_t>;
  std::mt19937_64 generator(n);
  std::vector<Key> keys(n);
  for (Key& key : keys) key = std::bit_cast<Key>(static_cast<word>(generator()));
  using limits = std::numeric_limits<Key>;
  const Key special[] = {limits::lowest(), limits::max(), limits::infinity(), limits::quiet_NaN(),
                         -Key{},           Key{1},        limits::lowest(),   limits::max()};
  std::copy_n(special, std::min(n, std::size(special)), keys.begin());
  return keys;
}

/// Sorts n keys alone and with values, by each form of the call, and checks the results.
template <class Key, class Value, class Compare>
void expect_sorted(size_t n) {
  const tests::sort_oracle<Key, on_host<Compare>> input(random_bits<Key>(n));
  std::vector<Key> keys = input.input();
  const auto device_keys = upload(keys);
  const auto report = ramify::quicksort(device_keys.data(), n, Compare{});
  BOOST_TEST(report.keys == n);
  download(device_keys, keys);
  BOOST_TEST(input.check(keys) == "");

  const ramify::quicksort_options options{.strategy = quicksort_strategy::binary};
  const auto again = upload(input.input());
  auto run = ramify::quicksort_async(again.data(), n, Compare{}, options);
  BOOST_TEST((run.get().strategy == quicksort_strategy::binary));
  download(again, keys);
  BOOST_TEST(input.check(keys) == "");

  std::vector<Value> values = tests::count_up<Value>(n);
  const auto pair_keys = upload(input.input());
  const auto device_values = upload(values);
  const size_t bytes = ramify::quicksort_scratch_bytes<Key, Value, Compare>(n);
  const ramify::device_buffer<std::byte> memory(bytes, nullptr);
  const auto pairs = ramify::quicksort_pairs(pair_keys.data(), device_values.data(), n, Compare{},
                                             {.memory = memory, .route = ramify::route::device});
  BOOST_TEST(pairs.scratch_bytes == (n < 2 ? 0 : bytes));
  download(pair_keys, keys);
  download(device_values, values);
  BOOST_TEST(input.check(keys, values) == "");
}

/// Number of keys for two levels.
constexpr size_t several_leaves = RAMIFY_ON_CUDA ? 300'000 : 40'000;

/// The same in the orders that the library has, for sizes around a warp, and for several leaves.
template <class Key, class Value>
void expect_orders() {
  for (const size_t n : {size_t{0}, size_t{1}, size_t{2}, size_t{33}, several_leaves}) {
    BOOST_TEST_CONTEXT("n = " << n) {
      expect_sorted<Key, Value, ascending>(n);
      if constexpr (in_library<Key, Value, descending>) expect_sorted<Key, Value, descending>(n);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(compiled_sorts)

BOOST_AUTO_TEST_CASE(numbers_of_32_bits) {
  expect_orders<std::uint32_t, std::int32_t>();
  expect_orders<std::int32_t, double>();
  expect_orders<float, std::uint64_t>();
}

BOOST_AUTO_TEST_CASE(numbers_of_64_bits) {
  expect_orders<unsigned long long, float>();
  expect_orders<long, std::int64_t>();
  expect_orders<double, std::uint32_t>();
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_refused) {
  const auto keys = upload(random_bits<int>(100));
  BOOST_CHECK_EXCEPTION(
      (void)ramify::quicksort(keys.data(), 100, ascending{}, {.depth_limit = 256}),
      std::invalid_argument, tests::names("quicksort_options.depth_limit"));
  BOOST_CHECK_EXCEPTION(
      (void)ramify::quicksort_pairs(keys.data(), keys.data() + 50, 100, descending{}),
      std::invalid_argument, tests::names("overlap"));
  const ramify::device_buffer<std::byte> memory(256, nullptr);
  BOOST_CHECK_EXCEPTION((void)ramify::quicksort(keys.data(), 100, ascending{}, {.memory = memory}),
                        std::invalid_argument,
                        tests::names("quicksort: environment.memory has 256 bytes"));
  BOOST_CHECK_EXCEPTION((void)ramify::quicksort_scratch_bytes<int>(100, {.depth_limit = 256}),
                        std::invalid_argument, tests::names("quicksort_options.depth_limit"));
}

BOOST_AUTO_TEST_SUITE_END()
