// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Sorts on the backend under test, checked against std::sort.

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <ramify/cpu/executor.hpp>
#include <span>
#include <utility>
#include <vector>

#include "backend_under_test.hpp"
#include "cases.hpp"
#include "distributions.hpp"
#include "printing.hpp"
#include "sort_oracle.hpp"

namespace tests {

inline constexpr ramify::quicksort_strategy strategies[] = {ramify::quicksort_strategy::sample_sort,
                                                            ramify::quicksort_strategy::binary};
inline constexpr ramify::route routes[] = {ramify::route::device, ramify::route::flat};

[[nodiscard]] inline const quicksort_cases& cases() {
  return runs_on_cpu() ? *quicksort_cases_on_cpu() : *quicksort_cases_on_cuda();
}

[[nodiscard]] inline ramify::quicksort_options options_for(ramify::quicksort_strategy strategy,
                                                           ramify::route taken) {
  ramify::quicksort_options options;
  options.backend = backend_under_test();
  options.strategy = strategy;
  options.route = taken;
  return options;
}

/// How a key type is sorted: the facade for those that it has, else the header template.
template <class Key>
struct sorts {
  static ramify::quicksort_report keys(std::vector<Key>& k, const ramify::quicksort_options& o) {
    return ramify::quicksort(std::span(k), o);
  }
  static ramify::quicksort_report pairs(std::vector<Key>& k, std::vector<std::uint32_t>& v,
                                        const ramify::quicksort_options& o) {
    return ramify::quicksort_pairs(std::span(k), std::span(v), o);
  }
  static std::vector<std::size_t> interesting_sizes() {
    return sizeof(Key) == 4 ? cases().sizes_of_words : cases().sizes_of_double_words;
  }
};

template <class Key, custom_sorts<Key> quicksort_cases::*member>
struct custom {
  static ramify::quicksort_report keys(std::vector<Key>& k, const ramify::quicksort_options& o) {
    return (cases().*member).keys(k, o);
  }
  static ramify::quicksort_report pairs(std::vector<Key>& k, std::vector<std::uint32_t>& v,
                                        const ramify::quicksort_options& o) {
    return (cases().*member).pairs(k, v, o);
  }
  static std::vector<std::size_t> interesting_sizes() {
    return (cases().*member).interesting_sizes;
  }
};
template <>
struct sorts<particle> : custom<particle, &quicksort_cases::particles> {};
template <>
struct sorts<record> : custom<record, &quicksort_cases::records> {};

template <>
struct sorts<page> : custom<page, &quicksort_cases::pages> {};

template <class Key>
using oracle = sort_oracle<Key, typename order_of<Key>::type>;

template <class Key>
oracle<Key> make_input(common::distribution d, std::size_t n, std::uint64_t seed) {
  const auto ranks = common::make_ranks(d, n, seed);
  std::vector<Key> keys(n);
  for (std::size_t i = 0; i < n; ++i) keys[i] = make_key<Key>(ranks[i], i);
  return oracle<Key>(std::move(keys));
}

/// Sorts keys, and the same keys as pairs, and checks both.
template <class Key>
void expect_sorted(const oracle<Key>& input, const ramify::quicksort_options& options) {
  BOOST_TEST_CONTEXT(ramify::to_string(options.strategy) << ", " << ramify::to_string(options.route)
                                                         << ", n = " << input.input().size()) {
    std::vector<Key> keys = input.input();
    const std::uint64_t grids_before = ramify::cpu::grids_begun();
    const ramify::quicksort_report report = sorts<Key>::keys(keys, options);
    if (runs_on_cpu()) {
      const std::uint64_t grids = ramify::cpu::grids_begun() - grids_before;
      BOOST_TEST(report.host_grids + report.child_grids == grids);
    }
    BOOST_TEST(input.check(keys) == "");
    BOOST_TEST(report.keys == keys.size());
    BOOST_TEST(report.merge_sorted_segments == 0u);  // no input that is meant here is deep

    keys = input.input();
    auto values = count_up<std::uint32_t>(keys.size());
    (void)sorts<Key>::pairs(keys, values, options);
    BOOST_TEST(input.check(keys, values) == "");
    BOOST_TEST(cases().slots_in_use() == 0u);
  }
}

template <class Key>
void expect_sorted_every_way(const oracle<Key>& input) {
  for (const auto strategy : strategies) {
    for (const auto taken : routes) expect_sorted(input, options_for(strategy, taken));
  }
}

/// Words enough for two levels, or under a sanitizer for one.
inline const auto several_leaves = static_cast<std::size_t>(cut_down(300'000, 40'000));

}  // namespace tests
