// SPDX-License-Identifier: BSD-3-Clause
// Tests sorts of u32 keys without a second array: every input, chains of slots, refusals.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <limits>
#include <numeric>
#include <ramify/quicksort_in_place.cuh>
#include <random>
#include <stdexcept>
#include <vector>

#include "effort.hpp"
#include "exceptions.hpp"
#include "in_place_checks.cuh"

namespace data = boost::unit_test::data;
namespace impl = ramify::detail::quicksort;
using common::distribution;
using ramify::no_value;
using ramify::quicksort_report;
using ramify::route;
using tests::expect_sorted_in_place;
using tests::make_input;
using tests::many;
using tests::memory_for;
using tests::names;

namespace {

using level = impl::in_place_level<std::uint32_t, no_value,
                                   impl::sort_order<std::uint32_t, ramify::ascending>>;

/// Moves slots by `source`, with memory for `max_saved` starts, and checks the result. Each element
/// states its slot.
void expect_moves(const std::vector<unsigned>& source, unsigned max_saved, unsigned reach) {
  constexpr unsigned slot = level::tuning::slot;
  const auto slots = static_cast<unsigned>(source.size());
  std::vector<std::uint32_t> elements(std::size_t{slots} * slot);
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = std::uint32_t(i);
  const auto array = tests::upload(elements);
  const ramify::device_buffer<std::uint32_t> outside(
      (level::tuning::extra_slots + max_saved) * std::size_t{slot}, nullptr);
  const auto sources = tests::upload(source);
  const auto saved_as = tests::upload(std::vector<unsigned>(slots, 0));
  const ramify::device_buffer<unsigned> starts(slots, nullptr);
  // All slots of the array are in use.
  level::state_type first{};
  first.slots_taken = slots + level::tuning::extra_slots;
  const auto state = tests::upload(std::vector{first});
  level moved{};
  moved.data.keys = array.data();
  moved.n = elements.size();
  moved.max_saved = max_saved;
  moved.outside.keys = outside.data();
  moved.source = sources.data();
  moved.saved_as = saved_as.data();
  moved.start_list = starts.data();
  moved.state = state.data();
  impl::in_place_grids grids{nullptr};
  (void)impl::move_slots(grids, moved, reach);
  std::vector<std::uint32_t> after(elements.size());
  tests::download(array, after);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (after[i] != source[i / slot] * slot + i % slot) ++wrong;
  }
  BOOST_TEST(wrong == 0u);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(in_place)

BOOST_AUTO_TEST_CASE(every_input) {
  for (const auto d : ramify::all_choices<distribution>()) {
    BOOST_TEST_CONTEXT(common::to_string(d)) {
      expect_sorted_in_place(make_input<std::uint32_t>(d, many<std::uint32_t>(), 1));
    }
  }
}

// The last slot and the last tile of the output may have any number of elements.
BOOST_AUTO_TEST_CASE(sizes_around_slots_and_tiles) {
  using tuning = impl::in_place_tuning<std::uint32_t, no_value>;
  const std::size_t tiles = many<std::uint32_t>() / tuning::tile;
  for (const std::size_t n :
       {tiles * tuning::tile, tiles * tuning::tile + 1, tiles * tuning::tile - 1,
        tiles * tuning::tile + tuning::slot, tiles * tuning::tile + tuning::slot - 1}) {
    expect_sorted_in_place(make_input<std::uint32_t>(distribution::uniform, n, n));
  }
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{100}}) {
    expect_sorted_in_place(make_input<std::uint32_t>(distribution::uniform, n, n));
  }
}

// Where a second array does not fit, the memory is a fiftieth of the keys and a constant.
BOOST_AUTO_TEST_CASE(the_scratch_memory_is_small) {
  using tuning = impl::in_place_tuning<std::uint32_t, no_value>;
  const std::size_t n = std::size_t{1} << 33;
  // The slots of the executor are so small that their tables take more.
  BOOST_TEST(memory_for<std::uint32_t>(n) <=
             n * sizeof(std::uint32_t) / (RAMIFY_ON_CUDA ? 50 : 8) + tuning::constant_memory);
  BOOST_TEST(memory_for<std::uint32_t>(many<std::uint32_t>()) <
             many<std::uint32_t>() * sizeof(std::uint32_t));
  BOOST_TEST(memory_for<std::uint32_t>(1000) <= tuning::constant_memory);
}

// Keys in order, or in the opposite order, are not moved to buckets. Two keys that are not in order
// are found wherever they are, also at the boundary of two tiles.
BOOST_AUTO_TEST_CASE(keys_in_order_are_detected) {
  constexpr std::size_t tile = impl::in_place_tuning<std::uint32_t, no_value>::tile;
  const auto n = many<std::uint32_t>();
  std::vector<std::uint32_t> rising(n);
  for (std::size_t i = 0; i < n; ++i) rising[i] = std::uint32_t(i / 3);
  const auto grids_for = [&](const tests::oracle<std::uint32_t>& input) {
    expect_sorted_in_place(input);
    const auto keys = tests::upload(input.input());
    return ramify::quicksort_in_place(keys.data(), n).host_grids;
  };
  const std::uint64_t in_order = grids_for(tests::oracle<std::uint32_t>(rising));
  auto falling = rising;
  std::reverse(falling.begin(), falling.end());
  BOOST_TEST(grids_for(tests::oracle<std::uint32_t>(falling)) == in_order + 1);
  BOOST_TEST(grids_for(tests::oracle<std::uint32_t>(std::vector<std::uint32_t>(n, 5))) == in_order);
  for (const std::size_t i : {std::size_t{2}, tile - 1, tile, tile + 1, 2 * tile - 1, n - 2}) {
    auto keys = rising;
    keys[i] = keys[i + 1] + 1;
    BOOST_TEST(grids_for(tests::oracle<std::uint32_t>(std::move(keys))) > in_order + 1);
  }
}

// A key that the sample has often is in a bucket of its own. Buckets that are longer than a part
// are partitioned again.
BOOST_AUTO_TEST_CASE(a_bucket_that_does_not_fit_is_partitioned_again) {
  using tuning = impl::in_place_tuning<std::uint32_t, no_value>;
  const auto n = many<std::uint32_t>();
  // The sampled keys are the smallest.
  auto keys = common::make_ranks(distribution::uniform, n, 6);
  for (auto& k : keys) k |= 1u << 31;
  for (unsigned sample = 60; sample <= 60u * tuning::max_buckets; sample *= 2) {
    for (unsigned i = 0; i < sample; ++i) {
      keys[impl::sample_position({0, n}, i, sample)] &= ~(1u << 31);
    }
  }
  expect_sorted_in_place(tests::oracle<std::uint32_t>(std::move(keys)));
}

// A ring adds its two grids to those of the level. Batches would be more. If there are few
// different keys, a level sorts them.
BOOST_AUTO_TEST_CASE(a_ring_sorts_all_parts_of_usual_arrays) {
  const auto grids_for = [](const std::vector<std::uint32_t>& input) {
    const auto keys = tests::upload(input);
    return ramify::quicksort_in_place(keys.data(), input.size()).host_grids;
  };
  auto few = common::make_ranks(distribution::uniform, many<std::uint32_t>(), 14);
  for (auto& key : few) key %= 4;
  const std::uint64_t of_level = grids_for(few);
  for (const auto d : {distribution::uniform, distribution::zipf, distribution::organ_pipe}) {
    BOOST_TEST(grids_for(make_input<std::uint32_t>(d, many<std::uint32_t>(), 14).input()) ==
               of_level + 2);
  }
}

BOOST_AUTO_TEST_CASE(chains_of_any_length) {
  constexpr unsigned slots = 3000;
  std::vector<unsigned> source(slots);
  std::iota(source.begin(), source.end(), 0);
  const auto expect = [&] {
    expect_moves(source, slots / 8, 16);
    expect_moves(source, 5, 16);  // the reach must become longer
    expect_moves(source, 0, 2);   // one block moves each cycle
  };
  expect();                                    // each slot stays
  std::reverse(source.begin(), source.end());  // cycles of two
  expect();
  for (unsigned s = 0; s < slots; ++s) source[s] = (s + 1) % slots;  // one cycle
  expect();
  std::mt19937 random(7);
  std::shuffle(source.begin(), source.end(), random);
  expect();
}

BOOST_AUTO_TEST_CASE(an_invalid_comparator_loses_no_key) {
  const auto input =
      make_input<std::uint32_t>(distribution::sorted, many<std::uint32_t>(), 8).input();
  BOOST_REQUIRE(std::ranges::is_sorted(input));
  for (const auto order : tests::invalid_orders) {
    const auto keys = tests::upload(input);
    (void)ramify::quicksort_in_place(keys.data(), input.size(), tests::invalid_comparator{order});
    std::vector<std::uint32_t> after(input.size());
    tests::download(keys, after);
    std::ranges::sort(after);  // is_permutation() takes quadratic time
    BOOST_TEST((after == input));
  }
}

// The sort uses the caller's stream and memory, and passes the route and the limit to its parts.
BOOST_DATA_TEST_CASE(parts_have_the_environment_of_the_call, data::make(tests::routes), taken) {
  const auto n = many<std::uint32_t>();
  const auto input = make_input<std::uint32_t>(distribution::uniform, n, 9);
  const ramify::host_stream stream;
  const std::size_t bytes = memory_for<std::uint32_t>(n);
  const ramify::device_buffer<std::byte> memory(bytes, stream.get());
  const auto keys = tests::upload(input.input(), stream.get());
  const quicksort_report report = ramify::quicksort_in_place(
      keys.data(), n, ramify::ascending{},
      {.stream = stream, .memory = memory, .route = taken, .pending_launches = 512});
  std::vector<std::uint32_t> sorted(n);
  tests::download(keys, sorted);
  BOOST_TEST(input.check(sorted) == "");
  BOOST_TEST(report.pending_launch_limit == 512u);
  if (taken == route::flat) BOOST_TEST(report.child_grids == 0u);
  BOOST_CHECK_EXCEPTION((void)ramify::quicksort_in_place(keys.data(), n, ramify::ascending{},
                                                         {.memory = {memory.data(), bytes - 1}}),
                        std::invalid_argument, names("quicksort_in_place: environment.memory has"));
}

#if !RAMIFY_ON_CUDA
BOOST_DATA_TEST_CASE(every_random_schedule, data::xrange(tests::random_schedules()), seed) {
  const ramify::cpu::scoped_executor_config config(
      {.order = ramify::cpu::schedule::random, .seed = std::uint64_t(seed)});
  expect_sorted_in_place(
      make_input<std::uint32_t>(seed % 2 == 0 ? distribution::uniform : distribution::few_distinct,
                                many<std::uint32_t>(), std::uint64_t(seed)));
}
#endif

BOOST_AUTO_TEST_CASE(bad_arguments_are_named) {
  const std::vector<std::uint32_t> before{3, 1, 2};
  const auto keys = tests::upload(before);
  std::uint32_t* const none = nullptr;
  BOOST_CHECK_EXCEPTION((void)ramify::quicksort_in_place(none, 3), std::invalid_argument,
                        names("keys"));
  BOOST_CHECK_EXCEPTION((void)ramify::quicksort_pairs_in_place(keys.data(), keys.data() + 1, 2),
                        std::invalid_argument, names("overlap"));
  BOOST_TEST(tests::download(keys) == before, boost::test_tools::per_element());
  BOOST_TEST(ramify::quicksort_in_place(none, 0).keys == 0u);
  BOOST_TEST(ramify::quicksort_in_place(keys.data(), 1).keys == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
