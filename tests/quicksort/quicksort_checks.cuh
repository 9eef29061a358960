// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Sorts on the backend that a test source is compiled for, checked against std::sort.

#include <bit>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <ramify/quicksort.cuh>
#include <ramify/quicksort.hpp>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "backend_under_test.hpp"
#include "device_vectors.cuh"
#include "key_types.hpp"
#include "printing.hpp"
#include "quicksort/distributions.hpp"
#include "slot_checks.cuh"
#include "sort_oracle.hpp"

#if !RAMIFY_ON_CUDA
#include <ramify/cpu/executor.hpp>
#endif

namespace tests {

inline constexpr ramify::quicksort_strategy strategies[] = {ramify::quicksort_strategy::sample_sort,
                                                            ramify::quicksort_strategy::binary};
inline constexpr ramify::route routes[] = {ramify::route::device, ramify::route::flat};

/// The last two arguments of a sort.
struct sort_call {
  ramify::quicksort_options options{};
  ramify::environment env{.backend = backend_under_test()};
};

[[nodiscard]] inline sort_call call_for(ramify::quicksort_strategy strategy, ramify::route taken) {
  return {{.strategy = strategy}, {.backend = backend_under_test(), .route = taken}};
}

template <class Key>
using device_order =
    std::conditional_t<std::is_arithmetic_v<Key>, ramify::ascending, typename order_of<Key>::type>;

// header_sorts.cpp compiles these functions once for all test sources.

/// Sorts with the header template. Key is std::uint32_t, particle, record or page.
template <class Key>
ramify::quicksort_report sort_by_header(std::vector<Key>& keys, const sort_call& call);
/// Sorts pairs with the header template. Key is particle, record or page.
template <class Key>
ramify::quicksort_report sort_pairs_by_header(std::vector<Key>& keys,
                                              std::vector<std::uint32_t>& values,
                                              const sort_call& call);
/// Sorts n pairs in device memory.
ramify::quicksort_report sort_device_pairs(particle* keys, std::uint32_t* values, std::size_t n);
/// Starts a sort of n keys in device memory. Key is std::uint32_t or page.
template <class Key>
ramify::async_run<ramify::quicksort_report> start_sort(Key* keys, std::size_t n,
                                                       const sort_call& call);
/// Returns the scratch memory of that sort.
template <class Key>
[[nodiscard]] std::size_t scratch_bytes_of(std::size_t n, const ramify::quicksort_options& options);
/// Returns the scratch memory of a sort of std::uint32_t.
[[nodiscard]] std::size_t scratch_bytes(std::size_t n, const ramify::quicksort_options& options);

/// Sorts with the facade if it has this key type, else with the header template.
template <class Key>
ramify::quicksort_report sort_keys(
    std::vector<Key>& keys, const sort_call& call,
    [[maybe_unused]] ramify::sort_order order = ramify::sort_order::ascending) {
  if constexpr (ramify::quicksort_facade_key<Key>) {
    return ramify::quicksort(keys, order, call.options, call.env);
  } else {
    return sort_by_header(keys, call);
  }
}
template <class Key>
ramify::quicksort_report sort_pairs(std::vector<Key>& keys, std::vector<std::uint32_t>& values,
                                    const sort_call& call) {
  if constexpr (ramify::quicksort_facade_key<Key>) {
    return ramify::quicksort_pairs(keys, values, ramify::sort_order::ascending, call.options,
                                   call.env);
  } else {
    return sort_pairs_by_header(keys, values, call);
  }
}

/// Returns sizes around a warp, and around a block, a tile and a leaf of either strategy.
template <class Key>
std::vector<std::size_t> interesting_sizes() {
  // Numbers of the same size have the same tuning.
  using key =
      std::conditional_t<!std::is_arithmetic_v<Key>, Key,
                         std::conditional_t<sizeof(Key) == 4, std::uint32_t, std::uint64_t>>;
  using binary = ramify::detail::quicksort::quicksort_tuning<key, std::uint32_t>;
  using sample_sort = ramify::detail::quicksort::sample_sort_tuning<key, std::uint32_t>;
  std::vector<std::size_t> sizes;
  for (const std::size_t size :
       {std::size_t{32}, std::size_t{binary::threads}, std::size_t{binary::tile_size},
        std::size_t{binary::leaf_size}, std::size_t{2 * binary::leaf_size},
        std::size_t{sample_sort::leaf_items}, std::size_t{sample_sort::leaf_size},
        std::size_t{2 * sample_sort::leaf_size}, std::size_t{sample_sort::min_piece}}) {
    for (const std::size_t near : {size - 1, size, size + 1}) sizes.push_back(near);
  }
  return sizes;
}

/// Returns the number of launch slots in use. The lease exists until the program ends; without a
/// lease the executor would clear this number.
inline unsigned slots_left_in_use() {
  static const ramify::slot_lease lease(2048);
  return slots_in_use();
}

template <class Key>
using oracle = sort_oracle<Key, typename order_of<Key>::type>;

template <class Key>
oracle<Key> make_input(common::distribution d, std::size_t n, std::uint64_t seed) {
  const auto ranks = common::make_ranks(d, n, seed);
  std::vector<Key> keys(n);
  for (std::size_t i = 0; i < n; ++i) keys[i] = make_key<Key>(ranks[i], i);
  return oracle<Key>(std::move(keys));
}

/// Sorts keys, then the same keys as pairs, and checks both results.
template <class Key>
void expect_sorted(const oracle<Key>& input, const sort_call& call) {
  BOOST_TEST_CONTEXT(ramify::to_string(call.options.strategy)
                     << ", " << ramify::to_string(call.env.route)
                     << ", n = " << input.input().size()) {
    std::vector<Key> keys = input.input();
#if !RAMIFY_ON_CUDA
    const std::uint64_t grids_before = ramify::cpu::grids_begun();
#endif
    const ramify::quicksort_report report = sort_keys(keys, call);
#if !RAMIFY_ON_CUDA
    const std::uint64_t grids = ramify::cpu::grids_begun() - grids_before;
    BOOST_TEST(report.host_grids + report.child_grids == grids);
#endif
    BOOST_TEST(input.check(keys) == "");
    BOOST_TEST(report.keys == keys.size());
    BOOST_TEST(report.merge_sorted_segments == 0u);  // these inputs do not reach the depth limit

    keys = input.input();
    auto values = count_up<std::uint32_t>(keys.size());
    (void)sort_pairs(keys, values, call);
    BOOST_TEST(input.check(keys, values) == "");
    BOOST_TEST(slots_left_in_use() == 0u);
  }
}

/// Comparators that are no strict weak order.
enum class invalid_order { less_or_equal, always_true, always_false, not_transitive };
inline constexpr invalid_order invalid_orders[] = {
    invalid_order::less_or_equal, invalid_order::always_true, invalid_order::always_false,
    invalid_order::not_transitive};

/// Neither default-constructible nor assignable: a comparator need only be copyable.
struct invalid_comparator {
  const invalid_order order;
  explicit invalid_comparator(invalid_order o) : order(o) {}
  __host__ __device__ bool operator()(unsigned a, unsigned b) const {
    switch (order) {
      case invalid_order::less_or_equal: return a <= b;
      case invalid_order::always_true: return true;
      case invalid_order::always_false: return false;
      case invalid_order::not_transitive: return (a - b) % 3 == 1;
    }
    return false;
  }
};

/// Returns keys for which the host expects one level, but which need more. The sampled keys are the
/// smallest, so nearly all others are in one bucket.
inline oracle<std::uint32_t> hidden_from_the_sample(std::uint64_t seed) {
  using tuning = ramify::detail::quicksort::sample_sort_tuning<std::uint32_t, ramify::no_value>;
  constexpr unsigned n = 250'000;  // more than a small root on a GPU
  static_assert(n > tuning::small_root_size);
  constexpr unsigned sample = 8 * std::bit_ceil(n / tuning::small_bucket_size + 1);
  auto keys = common::make_ranks(common::distribution::uniform, n, seed);
  for (auto& k : keys) k |= 1u << 31;
  for (unsigned i = 0; i < sample; ++i) {
    keys[ramify::detail::quicksort::sample_position({0, n}, i, sample)] &= ~(1u << 31);
  }
  return oracle<std::uint32_t>(std::move(keys));
}

template <class Key>
void expect_sorted_every_way(const oracle<Key>& input) {
  for (const auto strategy : strategies) {
    for (const auto taken : routes) expect_sorted(input, call_for(strategy, taken));
  }
}

/// Number of 4-byte keys for two levels, or under a sanitizer for one.
inline const auto several_leaves = static_cast<std::size_t>(cut_down(300'000, 40'000));

}  // namespace tests
