// SPDX-License-Identifier: BSD-3-Clause
// Tests the ring that sorts the parts of a sort in place: lengths of parts, long leaves, full
// tables, parts that it leaves.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <ramify/quicksort_in_place.cuh>
#include <random>
#include <vector>

#include "effort.hpp"
#include "quicksort_checks.cuh"

namespace data = boost::unit_test::data;
namespace impl = ramify::detail::quicksort;
using common::distribution;
using tests::make_input;

namespace {

using ring_sizes = impl::ring_tuning<std::uint32_t, std::uint32_t>;

/// Bytes of scratch memory of a ring for parts of up to ring_sizes::max_part elements.
constexpr std::size_t ring_bytes = RAMIFY_ON_CUDA ? std::size_t{48} << 20 : std::size_t{160} << 10;

/// What a ring has done to an array.
struct ring_result {
  std::vector<std::uint32_t> keys;
  std::vector<std::uint32_t> values;  ///< the index of each key before
  std::vector<impl::in_place_range> left;
  std::uint64_t grids = 0;
};

/// Sorts ranges of an array with a ring, each key with its index.
ring_result sort_with_ring(std::vector<std::uint32_t> keys,
                           const std::vector<impl::in_place_range>& ranges) {
  ring_result result;
  result.keys = std::move(keys);
  result.values = tests::count_up<std::uint32_t>(result.keys.size());
  const auto on_device = tests::upload(result.keys);
  const auto values = tests::upload(result.values);
  const ramify::device_buffer<std::byte> memory(ring_bytes, nullptr);
  impl::ring_sorter<std::uint32_t, std::uint32_t, ramify::ascending> sorter(
      nullptr, {on_device.data(), values.data()}, {}, memory.data(), ring_bytes);
  sorter.run(ranges, result.left);
  result.grids = sorter.grids();
  tests::download(on_device, result.keys);
  tests::download(values, result.values);
  return result;
}

/// Returns ranges of the given sizes. A key is between each two.
std::vector<impl::in_place_range> ranges_of(const std::vector<std::size_t>& sizes) {
  std::vector<impl::in_place_range> ranges;
  std::size_t begin = 1;
  for (const std::size_t size : sizes) {
    ranges.push_back({begin, begin + size});
    begin += size + 1;
  }
  return ranges;
}

/// Expects that a ring sorts all ranges, and changes no other element.
void expect_ring_sorts(const std::vector<std::uint32_t>& keys,
                       const std::vector<impl::in_place_range>& ranges) {
  const ring_result result = sort_with_ring(keys, ranges);
  for (const auto& r : result.left) BOOST_ERROR("left [" << r.begin << ", " << r.end << ")");
  auto expected = keys;
  for (const auto& r : ranges) {
    std::sort(expected.begin() + std::ptrdiff_t(r.begin), expected.begin() + std::ptrdiff_t(r.end));
  }
  BOOST_TEST((result.keys == expected));
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[result.values[i]] != result.keys[i]) ++wrong;
  }
  BOOST_TEST(wrong == 0u);
  auto values = result.values;
  std::ranges::sort(values);
  BOOST_TEST((values == tests::count_up<std::uint32_t>(keys.size())));
}

using ring_limits = impl::ring_limits<std::uint32_t, std::uint32_t>;

/// Parts of the sizes around those of a bucket, a leaf and a tile, and of the usual length.
std::vector<impl::in_place_range> parts_of_a_ring() {
  std::vector<std::size_t> sizes;
  for (const std::size_t about : {3, ring_sizes::bucket_size, ring_sizes::leaf_size,
                                  ring_sizes::tile, 2 * ring_sizes::bucket_size}) {
    for (const std::size_t size : {about - 1, about, about + 1}) sizes.push_back(size);
  }
  sizes.resize(sizes.size() + 4, ring_limits(ring_bytes).usual);
  return ranges_of(sizes);
}

using ring_of_keys = impl::ring_sort<std::uint32_t, ramify::no_value,
                                     impl::sort_order<std::uint32_t, ramify::ascending>>;
using key_sizes = ring_of_keys::tuning;

/// The array and the extents of a ring with one part.
struct part_result {
  std::vector<std::uint32_t> keys;
  std::vector<unsigned> extents;
};

/// Distributes the keys of one part, and runs its first `leaf_tickets` leaf tickets.
part_result run_part(const std::vector<std::uint32_t>& keys, unsigned leaf_tickets) {
  impl::ring_part part{};
  part.size = unsigned(keys.size());
  part.buckets = key_sizes::max_buckets;
  part.region_size = unsigned(impl::ring_region_size(part.size, part.buckets));
  const unsigned tiles = (part.size + key_sizes::tile - 1) / key_sizes::tile;
  const auto array = tests::upload(keys);
  const ramify::device_buffer<std::uint32_t> region(part.region_size, nullptr);
  const auto parts = tests::upload(std::vector{part});
  const auto steps = tests::upload(
      std::vector<impl::ring_step>{{0, 0, 0}, {tiles, 0, 1}, {tiles + part.leaves(), 0, 0}});
  const ramify::device_buffer<impl::ring_part_state> state(1, nullptr);
  const ramify::device_buffer<std::uint32_t> tree(part.leaves(), nullptr);
  const ramify::device_buffer<unsigned> extents(2 * part.leaves(), nullptr);
  const ramify::device_buffer<unsigned> filled(2 * part.leaves(), nullptr);
  const ramify::device_buffer<unsigned> tickets_taken(1, nullptr);
  const ring_of_keys ring{{},
                          {array.data(), nullptr},
                          {region.data(), nullptr},
                          1,
                          tiles + leaf_tickets,
                          parts.data(),
                          steps.data(),
                          state.data(),
                          tree.data(),
                          extents.data(),
                          filled.data(),
                          tickets_taken.data()};
  using sample = impl::ring_sample<ring_of_keys>;
  const std::size_t of_sample =
      ramify::set_max_dynamic_shared(impl::in_place_ring_sample<ring_of_keys>,
                                     sample::merge_sort::bytes(sample::merge_sort::capacity));
  ramify::check(ramify::launch(impl::in_place_ring_sample<ring_of_keys>,
                               {1, unsigned{sample::tuning::sample_threads}, of_sample}, nullptr,
                               ring, unsigned{sample::merge_sort::capacity})
                    .code(),
                "sampling a part");
  constexpr std::size_t shared = impl::ring_shared_bytes<ring_of_keys>();
  ramify::set_max_dynamic_shared(impl::in_place_ring_sort<ring_of_keys>, shared);
  ramify::check(ramify::launch(impl::in_place_ring_sort<ring_of_keys>,
                               {1, unsigned{key_sizes::threads}, shared}, nullptr, ring)
                    .code(),
                "sorting a part");
  return {tests::download(array), tests::download(extents)};
}

/// Returns the i-th key of a sorted part. The keys of its middle half are equal.
std::uint32_t key_of_half_equal_part(std::size_t i) {
  const std::size_t n = key_sizes::max_part;
  return std::uint32_t(i < n / 4 || i >= n / 4 * 3 ? i : n / 2);
}

/// Returns such a part in another order: no key is in its place.
std::vector<std::uint32_t> half_equal_part() {
  const std::size_t n = key_sizes::max_part;
  std::vector<std::uint32_t> keys(n);
  for (std::size_t i = 0; i < n; ++i) keys[i] = key_of_half_equal_part((i + n / 2) % n);
  return keys;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(in_place_ring)

BOOST_AUTO_TEST_CASE(it_sorts_parts_of_any_length) {
  const auto ranges = parts_of_a_ring();
  for (const auto d : {distribution::uniform, distribution::zipf, distribution::all_equal}) {
    BOOST_TEST_CONTEXT(common::to_string(d)) {
      expect_ring_sorts(make_input<std::uint32_t>(d, ranges.back().end + 1, 10).input(), ranges);
    }
  }
}

BOOST_AUTO_TEST_CASE(it_sorts_the_longest_part) {
  const auto ranges = ranges_of({ring_limits(ring_bytes).longest});
  expect_ring_sorts(
      make_input<std::uint32_t>(distribution::uniform, ranges.back().end + 1, 10).input(), ranges);
}

// A bucket of two keys, neither of which has a bucket of its own, is longer than a leaf.
BOOST_AUTO_TEST_CASE(it_sorts_buckets_that_are_longer_than_a_leaf) {
  constexpr std::size_t copies = ring_sizes::bucket_size * 4 / 5;
  static_assert(2 * copies > ring_sizes::leaf_size);
  std::vector<std::uint32_t> keys(20 * ring_sizes::bucket_size + 2);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = std::uint32_t(i / copies);
  std::mt19937 random(11);
  std::shuffle(keys.begin(), keys.end(), random);
  expect_ring_sorts(keys, ranges_of({keys.size() - 2}));
}

// The tables of the parts are in the scratch memory. When it is full, two more grids sort the rest.
BOOST_AUTO_TEST_CASE(it_sorts_more_parts_than_have_space_in_its_tables) {
  const auto ranges = ranges_of(std::vector<std::size_t>(ring_bytes / 400, 2));
  const auto keys =
      make_input<std::uint32_t>(distribution::uniform, ranges.back().end + 1, 12).input();
  expect_ring_sorts(keys, ranges);
  BOOST_TEST(sort_with_ring(keys, ranges).grids >= 4u);
  BOOST_TEST(sort_with_ring(keys, ranges_of({2, 2, 2})).grids == 2u);
}

// If a sample is so bad that a bucket is longer than its extent, the part stays as it is.
BOOST_AUTO_TEST_CASE(it_leaves_a_part_that_a_sample_does_not_show) {
  const std::size_t size = std::size_t{20} * ring_sizes::bucket_size;
  const auto ranges = ranges_of({size, size, size});
  auto keys = make_input<std::uint32_t>(distribution::uniform, ranges.back().end + 1, 13).input();
  const auto& bad = ranges[1];
  for (std::size_t i = bad.begin; i < bad.end; ++i) keys[i] |= 1u << 31;
  // The sampled keys are the smallest.
  constexpr unsigned sampled = 20 * ring_sizes::oversampling;
  for (unsigned k = 0; k < sampled; ++k) {
    keys[impl::sample_position({bad.begin, bad.end}, k, sampled)] &= ~(1u << 31);
  }
  const ring_result result = sort_with_ring(keys, ranges);
  BOOST_REQUIRE(result.left.size() == 1u);
  BOOST_TEST(result.left[0].begin == bad.begin);
  BOOST_TEST(result.left[0].end == bad.end);
  auto expected = keys;
  for (const auto& r : {ranges[0], ranges[2]}) {
    std::sort(expected.begin() + std::ptrdiff_t(r.begin), expected.begin() + std::ptrdiff_t(r.end));
  }
  BOOST_TEST((result.keys == expected));
}

// Each leaf ticket copies as many of the equal keys as the others, because a block that copies half
// of a part takes longer than all others together.
BOOST_AUTO_TEST_CASE(leaf_tickets_share_the_copies_of_equal_keys) {
  const auto keys = half_equal_part();
  const auto leaves = unsigned{key_sizes::max_buckets};
  std::size_t moved_before = 0;
  for (unsigned tickets = 0; tickets <= leaves; ++tickets) {
    const auto after = run_part(keys, tickets).keys;
    std::size_t moved = 0;
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (after[i] == keys[i]) continue;
      ++moved;
      if (after[i] != key_of_half_equal_part(i)) ++wrong;
    }
    BOOST_TEST(wrong == 0u);
    BOOST_TEST(moved - moved_before <= key_sizes::leaf_size + keys.size() / leaves + 1);
    moved_before = moved;
  }
  BOOST_TEST(moved_before == keys.size());
}

// Half of the splitters are equal. A region has no space for the buckets between them.
BOOST_AUTO_TEST_CASE(buckets_between_equal_splitters_have_no_extents) {
  const auto extents = run_part(half_equal_part(), 0).extents;
  int empty = 0;
  for (std::size_t b = 1; b < extents.size(); ++b) empty += extents[b] == extents[b - 1] ? 1 : 0;
  BOOST_TEST(empty >= key_sizes::max_buckets - 6);
}

#if !RAMIFY_ON_CUDA
BOOST_DATA_TEST_CASE(every_random_schedule, data::xrange(tests::random_schedules()), seed) {
  const ramify::cpu::scoped_executor_config config(
      {.order = ramify::cpu::schedule::random, .seed = std::uint64_t(seed)});
  const auto ranges = parts_of_a_ring();
  expect_ring_sorts(
      make_input<std::uint32_t>(distribution::uniform, ranges.back().end + 1, std::uint64_t(seed))
          .input(),
      ranges);
}
#endif

BOOST_AUTO_TEST_SUITE_END()
