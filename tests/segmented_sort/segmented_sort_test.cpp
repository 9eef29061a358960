// SPDX-License-Identifier: BSD-3-Clause
// The results of segmented sorts: lengths, places and types, both routes, and the facade.
#include <boost/test/unit_test.hpp>
#include <limits>
#include <ramify/segmented_sort.hpp>
#include <sstream>

#include "segmented_sort_checks.cuh"

using ramify::route;
using tests::all_lengths;
using tests::environment_on;
using tests::expect_sorted;
using tests::lengths;
using tests::make_keys;
using tests::make_segments;
using tests::page;
using tests::particle;
using tests::routes;
using tests::scattered;
using tests::segment_arrays;
using tests::several_leaves;

namespace {

using key = std::uint32_t;
const tests::slot_leaks_are_noticed noticed;

/// Returns the number of elements that a test of this type sorts.
template <class Key>
std::size_t elements_of() {
  return sizeof(Key) > 64 ? 500 : sizeof(Key) > 8 ? several_leaves / 4 : several_leaves;
}

/// Sorts segments of each mixture of lengths, one after another in the array and scattered.
template <class Key>
void expect_all_lengths_sorted() {
  for (const lengths kind : all_lengths) {
    for (const route taken : routes) {
      BOOST_TEST_CONTEXT(kind << ", " << ramify::to_string(taken)) {
        const auto segments = make_segments<Key>(kind, elements_of<Key>(), 7);
        (void)expect_sorted(segments, make_keys<Key>(segments.n, 1), environment_on(taken));
        const auto apart = scattered(segments, 2);
        (void)expect_sorted(apart, make_keys<Key>(apart.n, 3, 100), environment_on(taken));
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(segmented_sort)

BOOST_AUTO_TEST_CASE(sorts_numbers) { expect_all_lengths_sorted<key>(); }
BOOST_AUTO_TEST_CASE(sorts_particles) { expect_all_lengths_sorted<particle>(); }
BOOST_AUTO_TEST_CASE(sorts_pages) { expect_all_lengths_sorted<page>(); }

BOOST_AUTO_TEST_CASE(sorts_every_short_length) {
  using tuning = ramify::detail::segmented_sort::segmented_tuning<key, ramify::no_value>;
  segment_arrays segments;
  for (std::size_t length = 0; length <= tuning::small_tile + 2; ++length) segments.append(length);
  (void)expect_sorted(segments, make_keys<key>(segments.n, 4), environment_on());
  for (const std::size_t length : {2, 3, 16, 17, 31, 32, 33, 64, 100}) {
    segment_arrays equal;
    for (int i = 0; i < 500; ++i) equal.append(length);
    (void)expect_sorted(equal, make_keys<key>(equal.n, length), environment_on());
  }
}

BOOST_AUTO_TEST_CASE(random_segments) {
  const int cases = tests::sampled(200, 25, 5);
  for (int seed = 0; seed < cases; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      std::mt19937_64 random(static_cast<std::uint64_t>(seed));
      const std::size_t n = random() % (seed % 5 == 0 ? several_leaves : 3'000);
      auto segments =
          make_segments<key>(all_lengths[random() % std::size(all_lengths)], n + 1, random());
      if (random() % 2 == 0) segments = scattered(segments, random());
      (void)expect_sorted(segments, make_keys<key>(segments.n, random(), random() % 2 ? ~0u : 10),
                          environment_on(routes[random() % 2]));
    }
  }
}

BOOST_AUTO_TEST_CASE(nan_follows_the_numbers_of_its_segment) {
  const auto segments = make_segments<float>(lengths::of_all_kinds, several_leaves, 5);
  auto keys = make_keys<float>(segments.n, 6);
  for (std::size_t i = 0; i < keys.size(); i += 7) {
    keys[i] = std::numeric_limits<float>::quiet_NaN();
  }
  for (const route taken : routes) (void)expect_sorted(segments, keys, environment_on(taken));
}

BOOST_AUTO_TEST_CASE(nothing_to_sort) {
  for (const route taken : routes) {
    const auto env = environment_on(taken);
    (void)expect_sorted<key>({}, {}, env);                         // no segments
    (void)expect_sorted<key>({100}, make_keys<key>(100, 1), env);  // elements, but no segments
    (void)expect_sorted<key>({0, {0, 0}, {0, 0}}, {}, env);        // segments, but no elements
    (void)expect_sorted<key>({3, {3, 0, 1}, {3, 1, 1}}, {3, 2, 1}, env);
  }
}

BOOST_AUTO_TEST_CASE(long_segments_launch_child_grids_and_others_do_not) {
  using tuning = ramify::detail::segmented_sort::segmented_tuning<key, ramify::no_value>;
  const auto report_of = [](std::size_t length) {
    segment_arrays segments;
    while (segments.n < 4 * std::size_t{tuning::leaf_size}) segments.append(length);
    return expect_sorted(segments, make_keys<key>(segments.n, 8), environment_on(route::device));
  };
  BOOST_TEST(report_of(tuning::leaf_size).child_grids == 0u);
  BOOST_TEST(report_of(20).host_grids == 4u);
  BOOST_TEST(report_of(tuning::leaf_size + 1).child_grids == 1u);  // long leaves
  segment_arrays one;
  one.append(200'000);
  const auto report = expect_sorted(one, make_keys<key>(one.n, 9), environment_on(route::device));
  BOOST_TEST(report.child_grids >= 4u);
  BOOST_TEST(report.merge_sorted_segments == 0u);
  std::ostringstream text;
  text << report;
  BOOST_TEST(text.str().find("segments: 1\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_facade_sorts_host_memory) {
  const std::vector<std::int64_t> offsets{2, 5, 5, 9};
  std::vector<double> keys{9, 8, 7, 6, 5, -1, std::numeric_limits<double>::quiet_NaN(), -3, 0, -9};
  std::vector<std::uint64_t> values{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  const auto env = environment_on();
  const auto report =
      ramify::segmented_sort_pairs(keys, values, offsets, ramify::sort_order::ascending, env);
  BOOST_TEST(report.segments == 3u);
  BOOST_TEST((values == std::vector<std::uint64_t>{0, 1, 4, 3, 2, 7, 5, 8, 6, 9}));
  BOOST_TEST((std::vector<double>(keys.begin(), keys.begin() + 8) ==
              std::vector<double>{9, 8, 5, 6, 7, -3, -1, 0}));
  std::vector<std::int32_t> numbers{1, -2, 3, 4, -5, 6};
  ramify::segmented_sort(numbers, std::vector<std::uint32_t>{0, 3, 6},
                         ramify::sort_order::descending, env);
  BOOST_TEST((numbers == std::vector<std::int32_t>{3, 1, -2, 6, 4, -5}));
  std::vector<float> floats{2, 1, 4, 3};
  std::vector<std::uint32_t> tags{0, 1, 2, 3};
  ramify::segmented_sort_pairs(floats, tags, std::vector<std::int32_t>{0, 2, 4},
                               ramify::sort_order::ascending, env);
  BOOST_TEST((tags == std::vector<std::uint32_t>{1, 0, 3, 2}));
}

// As a user writes it: 5,000 small sorts in one call.
BOOST_AUTO_TEST_CASE(five_thousand_segments_are_one_call) {
  std::mt19937 random(2);
  std::vector<std::int64_t> offsets{0};
  for (int i = 0; i < 5'000; ++i) offsets.push_back(offsets.back() + random() % 12);
  std::vector<float> keys(std::size_t(offsets.back()));
  for (float& number : keys) number = float(random() % 100) - 50;
  std::vector<float> expected = keys;
  ramify::segmented_sort(keys, offsets, ramify::sort_order::ascending, environment_on());

  for (std::size_t i = 0; i < 5'000; ++i) {
    std::sort(expected.begin() + offsets[i], expected.begin() + offsets[i + 1]);
  }
  BOOST_TEST((keys == expected));
}

BOOST_AUTO_TEST_SUITE_END()
