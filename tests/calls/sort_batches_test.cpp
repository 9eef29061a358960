// SPDX-License-Identifier: BSD-3-Clause
// Batches of sorts that kernels call, and that are too long for one block: those that were kept are
// sorted together.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <type_traits>
#include <utility>

#include "called_sorts.cuh"
#include "captured_calls.cuh"
#include "interrupted_calls.cuh"
#include "printing.hpp"

namespace data = boost::unit_test::data;
using namespace tests;
using namespace tests::calls;

namespace {

/// Returns lengths of calls with levels.
std::vector<std::size_t> large_lengths(unsigned count, std::uint64_t seed) {
  constexpr std::size_t least = RAMIFY_ON_CUDA ? 32'000 : 4'500;
  std::mt19937_64 random(seed);
  std::vector<std::size_t> lengths(count);
  for (std::size_t& n : lengths) n = least + random() % (random() % 5 == 0 ? 3 * least : 1'000);
  return lengths;
}
constexpr std::size_t longest_of_large = RAMIFY_ON_CUDA ? 128'000 : 18'000;

/// The other order of some calls: calls with different comparators are in no batch.
struct flipped_order {
  unsigned mask;
  __host__ __device__ bool operator()(key a, key b) const { return (a ^ mask) < (b ^ mask); }
};
template <class Compare>
__host__ __device__ Compare order_of_row(unsigned row) {
  if constexpr (std::is_empty_v<Compare>) {
    return {};
  } else {
    return {row % 3 == 0 ? 0u : ~0u};
  }
}
template <class Compare>
using pair_calls = quicksort_calls<key, unsigned, Compare>;

template <class Compare>
__global__ void sort_pairs_of_rows(key* keys, unsigned* values, const std::size_t* begins,
                                   unsigned rows, unsigned* refused,
                                   kernel_environment<pair_calls<Compare>> calls) {
  const unsigned i = threadIdx.x;
  if (i >= rows) return;
  const call_status status =
      ramify::quicksort_pairs(keys + begins[i], values + begins[i], begins[i + 1] - begins[i],
                              order_of_row<Compare>(i), calls);
  if (status == call_status::refused) atomicAdd(refused, 1u);
}

/// Sorts pairs of rows, whose values are the indices of the keys. Returns the report.
template <class Compare>
call_report expect_pairs(unsigned rows) {
  const auto lengths = large_lengths(rows, 3);
  std::vector<std::size_t> begins{0};
  for (const std::size_t n : lengths) begins.push_back(begins.back() + n);
  std::vector<key> input(begins.back());
  std::vector<unsigned> indices(input.size());
  std::mt19937 random(4);
  for (std::size_t i = 0; i < input.size(); ++i) {
    input[i] = static_cast<key>(random() % 5'000);
    indices[i] = static_cast<unsigned>(i);
  }
  const auto keys = upload(input);
  const auto values = upload(indices);
  const auto device_begins = upload(begins);
  const auto refused = zeros<unsigned>(1);
  call_arena arena(pair_calls<Compare>(longest_of_large), {.chunks = 12});
  check(launch(sort_pairs_of_rows<Compare>, {1, 64}, nullptr, keys.data(), values.data(),
               static_cast<const std::size_t*>(device_begins.data()), rows, refused.data(),
               arena.environment())
            .code(),
        "launching");
  arena.complete_async();
  const auto sorted = download(keys);
  const auto moved = download(values);
  unsigned wrong = download(refused)[0];
  for (unsigned row = 0; row < rows; ++row) {
    const auto order = order_of_row<Compare>(row);
    for (std::size_t i = begins[row]; i < begins[row + 1]; ++i) {
      if (i > begins[row] && order(sorted[i], sorted[i - 1])) ++wrong;
      if (moved[i] < begins[row] || moved[i] >= begins[row + 1]) {
        ++wrong;
      } else if (input[moved[i]] != sorted[i] || std::exchange(indices[moved[i]], ~0u) == ~0u) {
        ++wrong;  // the second condition: the value is there twice
      }
    }
  }
  BOOST_TEST(wrong == 0u);
  return arena.get();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(batches_of_sorts)

BOOST_AUTO_TEST_CASE(large_calls_that_were_kept_take_few_grids) {
  // With slots for one large call at a time, which needs all of them, and few chunks.
  const launch_limits limits({.pending_launches = 128});
  const auto count = unsigned(cut_down(300, 30));
  const std::size_t n = RAMIFY_ON_CUDA ? 40'000 : 5'000;
  const called_sorts calls(std::vector<std::size_t>(count, n), 1);
  call_arena arena(sorts(n), {.chunks = 2});
  const call_report report = expect_called_sorts(calls, arena);
  BOOST_TEST(report.refused == 0u);
  BOOST_TEST(report.child_grids < 20 * count);
}

BOOST_DATA_TEST_CASE(large_calls_that_were_kept_are_sorted_together,
                     data::make({128, 2048}) * data::make({1, 2, 12, 64}), limit, chunks) {
  const launch_limits limits({.pending_launches = std::size_t(limit)});
  constexpr unsigned count = 60;
  for (const bool continues : {false, true}) {
    const called_sorts calls(large_lengths(count, 2), 1);
    call_arena arena(sorts(longest_of_large), {.chunks = unsigned(chunks)});
    const call_report report = expect_called_sorts(calls, arena, {.continues = continues});
    BOOST_TEST(report.refused == 0u);
    BOOST_TEST(report.kept > 1u);
    // A call alone takes six grids or more, and its continuation.
    if (chunks == 64 && !continues) {
      BOOST_TEST(report.child_grids < 10 * report.started + 2 * report.kept);
    }
  }
}

BOOST_DATA_TEST_CASE(a_depth_limit_holds_for_batches, data::make({1, 2, 255}), depth_limit) {
  const called_sorts calls(large_lengths(40, 5), 1);
  const quicksort_options options{.depth_limit = unsigned(depth_limit)};
  call_arena arena(sorts(longest_of_large, options), {.chunks = 12});
  BOOST_TEST(expect_called_sorts(calls, arena).refused == 0u);
}

BOOST_AUTO_TEST_CASE(pairs_of_large_calls_stay_together) {
  constexpr unsigned rows = 50;
  const call_report in_batches = expect_pairs<ascending>(rows);
  const call_report alone = expect_pairs<flipped_order>(rows);
  BOOST_TEST(in_batches.child_grids < alone.child_grids);
}

BOOST_AUTO_TEST_CASE(no_call_of_a_batch_is_lost_after_any_failed_launch,
                     *boost::unit_test::precondition(on_the_executor)) {
  const auto lengths = large_lengths(9, 6);
  constexpr std::size_t limits[] = {128, 2048};
  for (const unsigned chunks : {2u, 9u}) {
    expect_no_call_lost(limits, 5, [&] {
      const called_sorts calls(lengths, 2);
      call_arena arena(sorts(longest_of_large), {.chunks = chunks, .kept_calls = 100});
      return expect_called_sorts(calls, arena);
    });
  }
}

BOOST_AUTO_TEST_CASE(every_schedule_does_all_calls_of_batches,
                     *boost::unit_test::precondition(on_the_executor)) {
  expect_all_done_under_schedules([](std::uint64_t seed) {
    const called_sorts calls(large_lengths(15, seed), seed);
    call_arena arena(sorts(longest_of_large), {.chunks = 4, .kept_calls = 100});
    return expect_called_sorts(calls, arena);
  });
}

#if RAMIFY_ON_CUDA
BOOST_DATA_TEST_CASE(a_graph_of_batches_runs_with_other_keys, data::make({128, 2048}), limit) {
  const launch_limits limits({.pending_launches = std::size_t(limit)});
  const host_stream stream;
  called_sorts calls(large_lengths(100, 4), 4);
  call_arena arena(sorts(longest_of_large), {.chunks = 20}, {.stream = stream.get()});
  expect_captured_calls(
      calls, arena, stream, 10, [&](unsigned seed) { calls.reset(seed, stream.get()); },
      [&] { calls.call(arena.environment(), {}, 4, stream.get()); });
}
#endif

BOOST_AUTO_TEST_SUITE_END()
