// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Segmented sorts on the backend that a test source is compiled for, checked against
/// std::stable_sort of each segment.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <ramify/segmented_sort.cuh>
#include <random>
#include <string>
#include <vector>

#include "device_vectors.cuh"
#include "key_types.hpp"
#include "run_checks.cuh"
#include "sort_oracle.hpp"

namespace tests {

/// Segments of an array of n elements.
struct segment_arrays {
  std::size_t n = 0;
  std::vector<std::uint32_t> begins{};
  std::vector<std::uint32_t> ends{};

  /// Appends a segment at the end of the array.
  void append(std::size_t length) {
    begins.push_back(static_cast<std::uint32_t>(n));
    n += length;
    ends.push_back(static_cast<std::uint32_t>(n));
  }
  [[nodiscard]] std::size_t size() const { return begins.size(); }
};

/// Mixtures of lengths.
enum class lengths { equal, uniform, zipf, one_giant, one_of_all, of_all_kinds };
inline constexpr lengths all_lengths[] = {lengths::equal,      lengths::uniform,
                                          lengths::zipf,       lengths::one_giant,
                                          lengths::one_of_all, lengths::of_all_kinds};

inline std::ostream& operator<<(std::ostream& out, lengths kind) {
  constexpr const char* names[] = {"equal",     "uniform",    "zipf",
                                   "one giant", "one of all", "of all kinds"};
  return out << names[static_cast<int>(kind)];
}

/// Returns segments with about n elements of Key in all.
template <class Key>
segment_arrays make_segments(lengths kind, std::size_t n, std::uint64_t seed) {
  using tuning = ramify::detail::segmented_sort::segmented_tuning<Key, std::uint32_t>;
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t limit) { return std::size_t(random() % (limit + 1)); };
  segment_arrays segments;
  const std::size_t equal = 1 + below(n / 8);
  switch (kind) {
    case lengths::equal:
      while (segments.n < n) segments.append(equal);
      break;
    case lengths::uniform:
      while (segments.n < n) segments.append(below(2 * equal));
      break;
    case lengths::zipf:
      while (segments.n < n) segments.append(std::min(n / 4, n / (1 + below(n))));
      break;
    case lengths::one_giant:
      while (segments.n < n / 8) segments.append(below(20));
      segments.append(n * 3 / 4);
      while (segments.n < n) segments.append(below(20));
      break;
    case lengths::one_of_all:
      for (int i = 0; i < 70; ++i) segments.append(i == 43 ? n : 0);
      break;
    case lengths::of_all_kinds:
      while (segments.n < n) {
        constexpr std::size_t borders[] = {1,
                                           2,
                                           32,
                                           tuning::small_size,
                                           tuning::small_tile,
                                           tuning::leaf_size / 2,
                                           tuning::leaf_size,
                                           2 * tuning::leaf_size,
                                           6 * tuning::leaf_size};
        const std::size_t border = borders[random() % std::size(borders)];
        segments.append(random() % 2 == 0 ? below(border) : border - 1 + below(2));
      }
      break;
  }
  return segments;
}

/// Moves segments apart, so that they leave gaps, and puts their offsets into a random order.
inline segment_arrays scattered(const segment_arrays& from, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  segment_arrays to;
  for (std::size_t i = 0; i < from.size(); ++i) {
    to.n += random() % 4 == 0 ? random() % 50 : 0;
    to.append(from.ends[i] - from.begins[i]);
  }
  to.n += random() % 3;
  std::vector<std::size_t> order(to.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  segment_arrays shuffled{to.n};
  for (const std::size_t i : order) {
    shuffled.begins.push_back(to.begins[i]);
    shuffled.ends.push_back(to.ends[i]);
  }
  return shuffled;
}

/// Returns keys, of which many are equal if `range` is small.
template <class Key>
std::vector<Key> make_keys(std::size_t n, std::uint64_t seed, std::uint32_t range = ~0u) {
  std::mt19937_64 random(seed);
  std::vector<Key> keys(n);
  for (std::size_t i = 0; i < n; ++i) {
    keys[i] = make_key<Key>(static_cast<std::uint32_t>(random()) % range, i);
  }
  return keys;
}

/// Returns an empty string if `keys` is `input` with each segment sorted, else the fault.
template <class Key, class Compare>
std::string check_sorted(const std::vector<Key>& input, const std::vector<Key>& keys,
                         const segment_arrays& segments, Compare before) {
  std::vector<Key> expected = input;
  for (std::size_t s = 0; s < segments.size(); ++s) {
    std::stable_sort(expected.begin() + segments.begins[s], expected.begin() + segments.ends[s],
                     before);
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (before(expected[i], keys[i]) || before(keys[i], expected[i])) {
      return "key " + std::to_string(i) + " is wrong";
    }
  }
  return {};
}

/// Checks that values, which were 0, 1, 2, ..., are with their keys, in their segment.
template <class Key>
std::string check_values(const std::vector<Key>& input, const std::vector<Key>& keys,
                         const std::vector<std::uint32_t>& values, const segment_arrays& segments) {
  std::vector<std::size_t> segment_of(input.size(), segments.size());
  for (std::size_t s = 0; s < segments.size(); ++s) {
    std::fill(segment_of.begin() + segments.begins[s], segment_of.begin() + segments.ends[s], s);
  }
  std::vector<bool> seen(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t from = values[i];
    const std::string name = "value " + std::to_string(i);
    if (from >= input.size() || seen[from]) return name + " was lost or added";
    seen[from] = true;
    if (std::memcmp(&keys[i], &input[from], sizeof(Key)) != 0) return name + " is not with its key";
    const bool is_outside = segment_of[i] == segments.size();
    if (is_outside ? from != i : segment_of[i] != segment_of[from]) {
      return name + " has left its segment";
    }
  }
  return {};
}

template <class Key>
using device_order =
    std::conditional_t<std::is_arithmetic_v<Key>, ramify::ascending, typename order_of<Key>::type>;

// header_sorts.cpp compiles these functions once for all test sources. Key is std::uint32_t, float,
// particle or page.

/// Sorts a copy of the keys in device memory, as pairs if there are values.
template <class Key>
ramify::segmented_sort_report sort_segments(std::vector<Key>& keys,
                                            std::vector<std::uint32_t>* values,
                                            const segment_arrays& segments,
                                            const ramify::environment& env);
/// Starts a sort of keys in device memory. Offset is std::uint32_t or std::int64_t.
template <class Offset>
ramify::async_run<ramify::segmented_sort_report> start_sort(
    std::uint32_t* keys, std::size_t n, const Offset* begins, const Offset* ends,
    const ramify::detail::element_count& segments, const ramify::environment& env);

/// Sorts keys, then the same keys as pairs, and checks both results.
template <class Key>
ramify::segmented_sort_report expect_sorted(const segment_arrays& segments,
                                            const std::vector<Key>& input,
                                            const ramify::environment& env) {
  using order = typename order_of<Key>::type;
  std::vector<Key> keys = input;
  const auto report =
      with_grids_counted([&] { return sort_segments(keys, nullptr, segments, env); });
  BOOST_TEST(check_sorted(input, keys, segments, order{}) == "");
  BOOST_TEST(report.keys == segments.n);
  BOOST_TEST(report.segments == segments.size());

  keys = input;
  auto values = count_up<std::uint32_t>(input.size());
  (void)with_grids_counted([&] { return sort_segments(keys, &values, segments, env); });
  BOOST_TEST(check_sorted(input, keys, segments, order{}) == "");
  BOOST_TEST(check_values(input, keys, values, segments) == "");
  return report;
}

/// The number of elements of a test.
inline const auto several_leaves = static_cast<std::size_t>(cut_down(60'000, 20'000));

}  // namespace tests
