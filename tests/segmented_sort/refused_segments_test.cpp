// SPDX-License-Identifier: BSD-3-Clause
// Arguments that segmented sorts refuse, and comparators that are no strict weak order.
#include <boost/test/unit_test.hpp>
#include <ramify/segmented_sort.hpp>
#include <stdexcept>

#include "exceptions.hpp"
#include "segmented_sort_checks.cuh"

using ramify::route;
using tests::environment_on;
using tests::make_keys;
using tests::names;
using tests::routes;
using tests::segment_arrays;

namespace {

using key = std::uint32_t;

/// Checks that a sort throws with this message, and changes no key.
void expect_refused(const segment_arrays& segments, const std::string& message) {
  const auto input = make_keys<key>(segments.n, 1);
  for (const route taken : routes) {
    BOOST_TEST_CONTEXT(message << ", " << ramify::to_string(taken)) {
      const auto keys = tests::upload(input);
      const auto begins = tests::upload(segments.begins);
      const auto ends = tests::upload(segments.ends);
      auto run = tests::start_sort(keys.data(), segments.n, begins.data(), ends.data(),
                                   segments.size(), environment_on(taken));
      BOOST_CHECK_EXCEPTION((void)run.get(), std::invalid_argument, names(message));
      BOOST_TEST((tests::download(keys) == input));
    }
  }
}

/// Returns segments of all kinds, of which the last fifty are small.
segment_arrays good_segments() {
  auto segments = tests::make_segments<key>(tests::lengths::of_all_kinds, 20'000, 3);
  for (std::size_t i = 0; i < 50; ++i) segments.append(i);
  return segments;
}

/// Comparators that are no strict weak order.
struct invalid_comparator {
  int kind;
  __host__ __device__ bool operator()(unsigned a, unsigned b) const {
    switch (kind) {
      case 0: return a <= b;
      case 1: return true;
      case 2: return false;
      default: return (a - b) % 3 == 1;
    }
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(segmented_sort)

BOOST_AUTO_TEST_CASE(a_segment_that_is_no_range_is_refused) {
  auto segments = good_segments();
  const std::string array = "of an array of " + std::to_string(segments.n) + " elements";
  const std::string no_range = " is no range " + array;
  const auto expect_named = [&](std::size_t segment) {
    expect_refused(segments, "segmented_sort: segment " + std::to_string(segment) + no_range);
  };
  const auto last = segments.size() - 1;
  segments.ends[last] = segments.begins[last] - 1;
  expect_named(last);
  segments.ends[last - 2] = static_cast<key>(segments.n + 1);  // the smallest index is named
  expect_named(last - 2);
  segments.begins[0] = ~0u;
  segments.ends[0] = ~0u;
  expect_named(0);
}

BOOST_AUTO_TEST_CASE(overlapping_segments_are_refused) {
  auto segments = good_segments();
  const auto last = segments.size() - 1;
  segments.begins[last] = 0;
  segments.ends[last] = 1;
  segments.begins[last - 1] = 0;
  segments.ends[last - 1] = 2;
  expect_refused(segments, "segment " + std::to_string(last - 1) + " overlaps segment " +
                               std::to_string(last));
  segment_arrays neighbors{4'000, {0, 999, 2'000}, {1'000, 2'000, 4'000}};
  expect_refused(neighbors, "segment 0 overlaps segment 1");
  neighbors = {4'000, {2'000, 1'000, 0}, {4'000, 2'001, 1'000}};
  expect_refused(neighbors, "segment 0 overlaps segment 1");
  // The same segment many times, and an empty one between each two.
  for (const unsigned length : {10u, 900u, 3'000u, 100'000u}) {
    segment_arrays repeated{length};
    for (int i = 0; i < 2'000; ++i) {
      repeated.begins.push_back(0);
      repeated.ends.push_back(i % 2 == 0 ? length : 0);
    }
    expect_refused(repeated, "segments overlap, because they have " +
                                 std::to_string(1'000 * length) + " elements");
  }
}

BOOST_AUTO_TEST_CASE(negative_offsets_are_refused) {
  const std::vector<key> input{3, 2, 1};
  const auto keys = tests::upload(input);
  const auto begins = tests::upload(std::vector<std::int64_t>{-1, 1});
  const auto ends = tests::upload(std::vector<std::int64_t>{1, 3});
  auto run = tests::start_sort(keys.data(), 3, begins.data(), ends.data(), std::size_t{2},
                               environment_on());
  BOOST_CHECK_EXCEPTION((void)run.get(), std::invalid_argument,
                        names("segment 0 is no range of an array of 3 elements"));
  BOOST_TEST((tests::download(keys) == input));
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_refused) {
  const auto keys = tests::upload(std::vector<key>{3, 2, 1});
  const auto offsets = tests::upload(std::vector<key>{0, 3});
  const auto start = [&](key* data, const key* begins, std::size_t n, std::size_t segments) {
    (void)tests::start_sort(data, n, begins, begins + 1, segments, environment_on());
  };
  BOOST_CHECK_EXCEPTION(start(nullptr, offsets.data(), 3, 1), std::invalid_argument,
                        names("segmented_sort: keys is null"));
  BOOST_CHECK_EXCEPTION(start(keys.data(), keys.data(), 3, 1), std::invalid_argument,
                        names("segmented_sort: keys and begins overlap"));
  BOOST_CHECK_EXCEPTION(start(keys.data(), offsets.data(), std::size_t{1} << 40, 1),
                        std::invalid_argument, names("n must be less than 2^40"));
  BOOST_CHECK_EXCEPTION(start(keys.data(), offsets.data(), 3, std::size_t{1} << 40),
                        std::invalid_argument, names("less than 2^40 segments"));
}

BOOST_AUTO_TEST_CASE(the_facade_refuses_bad_arguments) {
  std::vector<key> keys{3, 2, 1};
  std::vector<key> values{0, 1};
  const auto env = environment_on();
  const auto order = ramify::sort_order::ascending;
  const std::vector<key> offsets{0, 2, 1};
  BOOST_CHECK_EXCEPTION(ramify::segmented_sort(keys, offsets, order, env), std::invalid_argument,
                        names("segment 1 is no range of an array of 3 elements"));
  BOOST_TEST((keys == std::vector<key>{3, 2, 1}));
  BOOST_CHECK_EXCEPTION(ramify::segmented_sort(keys, std::vector<key>{}, order, env),
                        std::invalid_argument, names("one offset more than segments"));
  BOOST_CHECK_EXCEPTION(ramify::segmented_sort_pairs(keys, values, offsets, order, env),
                        std::invalid_argument, names("3 keys, but 2 values"));
}

BOOST_AUTO_TEST_CASE(an_invalid_comparator_permutes_each_segment) {
  const auto segments = good_segments();
  const auto input = make_keys<key>(segments.n, 4);
  for (int kind = 0; kind < 4; ++kind) {
    for (const route taken : routes) {
      BOOST_TEST_CONTEXT("comparator " << kind << ", " << ramify::to_string(taken)) {
        const auto keys = tests::upload(input);
        const auto begins = tests::upload(segments.begins);
        const auto ends = tests::upload(segments.ends);
        ramify::segmented_sort(keys.data(), segments.n, begins.data(), ends.data(), segments.size(),
                               invalid_comparator{kind}, environment_on(taken));
        auto output = tests::download(keys);
        auto expected = input;
        for (std::size_t s = 0; s < segments.size(); ++s) {
          for (auto* all : {&output, &expected}) {
            std::sort(all->begin() + segments.begins[s], all->begin() + segments.ends[s]);
          }
        }
        BOOST_TEST((output == expected));
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
