// SPDX-License-Identifier: BSD-3-Clause
// Sorts that kernels call: all lengths, many calls at small limits, continuations that call again,
// pipelines, refused calls, options, launches that fail, schedules, and graphs.
#include <bit>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "called_sorts.cuh"
#include "captured_calls.cuh"
#include "exceptions.hpp"
#include "interrupted_calls.cuh"
#include "printing.hpp"
#include "schedules.hpp"

namespace data = boost::unit_test::data;
using namespace tests;
using namespace tests::calls;

namespace {

constexpr std::size_t large = RAMIFY_ON_CUDA ? 1'000'000 : 60'000;

}  // namespace

BOOST_AUTO_TEST_SUITE(calls_of_sorts)

BOOST_DATA_TEST_CASE(all_lengths_are_sorted_and_each_continuation_runs_once,
                     data::make({1, 10, 1000}) * data::make({32, 128, 2048}) *
                         data::make({false, true}),
                     count, limit, continues) {
  static int piece = 0;
  if (left_out(piece, 3)) return;
  const launch_limits limits({.pending_launches = std::size_t(limit)});
  // With few slots one block sorts all elements of a call.
  const std::size_t longest = RAMIFY_ON_CUDA && limit < 2048 ? large / 10 : large;
  const auto lengths = mixed_lengths(unsigned(cut_down(count, std::min(count, 30))), longest, 3);
  const called_sorts calls(lengths, std::uint64_t(count));
  {
    call_arena arena(sorts(large), {.chunks = 3, .kept_calls = 4'000});
    const call_mode mode{.continues = continues};
    const std::uint64_t before = cpu::grids_begun();
    const call_report report = expect_called_sorts(calls, arena, mode);
    BOOST_TEST(report.refused == 0u);
    if (!RAMIFY_ON_CUDA) {
      constexpr unsigned not_reported = 2;  // the kernel that calls, and the one that clears
      BOOST_TEST(report.host_grids + report.child_grids + not_reported ==
                 cpu::grids_begun() - before);
    }
  }
  BOOST_TEST(slots_in_use() == 0u);
}

BOOST_DATA_TEST_CASE(a_flood_of_calls_loses_none, data::make({32, 128, 2048}), limit) {
  const launch_limits limits({.pending_launches = std::size_t(limit)});
  for (const bool continues : {true, false}) {
    // With one slot, each drain launches one continuation, which takes it 0.2 ms.
    const bool slow = limit == 32 && continues;
    const int full = RAMIFY_ON_CUDA ? (slow ? 10'000 : 200'000) : 20'000;
    const auto count = unsigned(cut_down(full, 2'000));
    std::vector<std::size_t> lengths(count);
    std::mt19937 random(5);
    for (std::size_t& n : lengths) n = random() % (random() % 1'000 == 0 ? 10'000 : 200);
    const called_sorts calls(lengths, 1);
    call_arena arena(sorts(large), {.chunks = 2, .kept_calls = 2 * count});
    const call_report report = expect_called_sorts(calls, arena, {.continues = continues}, 132);
    BOOST_TEST(report.refused == 0u);
    BOOST_TEST(report.kept > 0u);  // negative control: there were more calls than slots
    BOOST_TEST(report.peak_slots < launch_quota(std::size_t(limit)));
  }
}

// ---- continuations that call again --------------------------------------------------------------

namespace {

/// Sorts the piece of a row, and then the next one: a recursion over calls.
struct row {
  key* keys;
  std::size_t piece;
  unsigned pieces;
  unsigned* done;  ///< pieces that were sorted
};
__global__ void sort_next_piece(row of, unsigned number, unsigned* refused,
                                sort_environment calls) {
  const traced here(calls.trace, __func__);
  if (number > 0) {
    const key* const before = of.keys + (number - 1) * of.piece;
    bool right = true;
    for (std::size_t i = 1; i < of.piece; ++i) right = right && before[i - 1] <= before[i];
    if (right) atomicAdd(of.done, 1u);
  }
  if (number == of.pieces) return;
  const call_status status =
      ramify::quicksort(of.keys + number * of.piece, of.piece, ascending{},
                        calls.then(sort_next_piece, {1, 1}, of, number + 1, refused, calls));
  if (status == call_status::refused) atomicAdd(refused, 1u);
}
__global__ void sort_rows(key* keys, unsigned rows, std::size_t piece, unsigned pieces,
                          unsigned* done, unsigned* refused, sort_environment calls) {
  const traced here(calls.trace, __func__);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  const row mine{keys + i * piece * pieces, piece, pieces, done + i};
  const call_status status = ramify::quicksort(
      mine.keys, piece, ascending{}, calls.then(sort_next_piece, {1, 1}, mine, 1u, refused, calls));
  if (status == call_status::refused) atomicAdd(refused, 1u);
}

/// Returns the report, after a check that all pieces of all rows were sorted.
call_report expect_rows(std::size_t limit, unsigned rows, std::size_t piece, unsigned pieces,
                        const call_arena_options& options = {.chunks = 2, .kept_calls = 1'000}) {
  const launch_limits limits({.pending_launches = limit});
  std::vector<key> input(rows * piece * pieces);
  std::mt19937 random(9);
  for (key& k : input) k = static_cast<key>(random());
  const auto keys = upload(input);
  const auto done = zeros<unsigned>(rows);
  const auto refused = zeros<unsigned>(1);
  call_arena arena(sorts(piece), options);
  check(launch(sort_rows, {(rows + 31) / 32, 32}, nullptr, keys.data(), rows, piece, pieces,
               done.data(), refused.data(), arena.environment())
            .code(),
        "launching");
  arena.complete_async();
  BOOST_TEST(download(done) == std::vector<unsigned>(rows, pieces),
             boost::test_tools::per_element());
  BOOST_TEST(download(refused)[0] == 0u);
  return arena.get();
}

}  // namespace

BOOST_DATA_TEST_CASE(continuations_call_again, data::make({32, 128, 2048}), limit) {
  const auto rows = unsigned(cut_down(40, 5));
  const call_report small = expect_rows(std::size_t(limit), rows, 500, 10);
  BOOST_TEST(small.started + small.kept == rows * 10u);
  expect_rows(std::size_t(limit), 3, 20'000, 4);
  // A recursion that is deeper than the quota is kept, and goes on from the top.
  const call_report deep = expect_rows(std::size_t(limit), 1, 3, 2'000);
  BOOST_TEST(deep.kept_continuations + deep.kept > 0u);
}

BOOST_DATA_TEST_CASE(rings_of_continuations_wrap, data::make({1, 2, 12}), rows) {
  // Four records for each row: a call and its continuation, and those before them until the thread
  // that resumed them releases their records. With the chunks they fill half of a ring.
  const auto count = static_cast<unsigned>(rows);
  const unsigned records = std::bit_ceil(4 * count + 1);
  const call_arena_options tight{.chunks = records - 4 * count, .kept_calls = 4 * count};
  const call_report report = expect_rows(32, count, 20, 100, tight);
  BOOST_TEST(report.kept + report.kept_continuations > std::uint64_t{8} * records);
}

// ---- a pipeline of different sorts --------------------------------------------------------------

namespace {

using pair_sorts = quicksort_calls<double, unsigned, descending>;
using both = call_plans<sorts, pair_sorts>;

struct pipeline {
  key* keys;
  double* weights;
  unsigned* indices;
  std::size_t n;
  unsigned* faults;
};
__global__ void end_of_pipeline(pipeline p) {
  for (std::size_t i = 1 + threadIdx.x; i < p.n; i += blockDim.x) {
    const bool ordered = p.weights[i - 1] >= p.weights[i];
    const bool paired = p.weights[i] == 1.0 / (1.0 + p.keys[p.indices[i]]);
    if (!ordered || !paired) atomicAdd(p.faults, 1u);
  }
  if (threadIdx.x == 0) atomicAdd(p.faults + 1, 1u);
}
/// Sorts the sorted keys by another order, through pairs.
__global__ void sort_weights(pipeline p, kernel_environment<both> calls) {
  const traced here(calls.trace, __func__);
  for (std::size_t i = threadIdx.x; i < p.n; i += blockDim.x) {
    p.weights[i] = 1.0 / (1.0 + p.keys[i]);
    p.indices[i] = static_cast<unsigned>(i);
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  const call_status status = ramify::quicksort_pairs(p.weights, p.indices, p.n, descending{},
                                                     calls.then(end_of_pipeline, {1, 64}, p));
  if (status == call_status::refused) atomicAdd(p.faults, 1u);
}
__global__ void begin_pipelines(const pipeline* all, unsigned count,
                                kernel_environment<both> calls) {
  const traced here(calls.trace, __func__);
  if (threadIdx.x >= count) return;
  const pipeline p = all[threadIdx.x];
  const call_status status =
      ramify::quicksort(p.keys, p.n, ascending{}, calls.then(sort_weights, {1, 128}, p, calls));
  if (status == call_status::refused) atomicAdd(p.faults, 1u);
}

}  // namespace

BOOST_DATA_TEST_CASE(a_pipeline_of_different_sorts, data::make({32, 2048}), limit) {
  const launch_limits limits({.pending_launches = std::size_t(limit)});
  const std::vector<std::size_t> lengths{1, 100, 5'000, large, 0, 7'000, large / 2};
  const auto count = static_cast<unsigned>(lengths.size());
  std::size_t total = 0;
  for (const std::size_t n : lengths) total += n;
  std::vector<key> input(total);
  std::mt19937 random(11);
  for (key& k : input) k = static_cast<key>(random() % 100'000);
  const auto keys = upload(input);
  const device_buffer<double> weights(total, nullptr);
  const device_buffer<unsigned> indices(total, nullptr);
  const auto faults = zeros<unsigned>(2 * count);
  std::vector<pipeline> all;
  std::size_t begin = 0;
  for (unsigned i = 0; i < count; ++i) {
    all.push_back({keys.data() + begin, weights.data() + begin, indices.data() + begin, lengths[i],
                   faults.data() + 2 * i});
    begin += lengths[i];
  }
  const auto on_device = upload(all);
  call_arena arena(call_plans{sorts(large), pair_sorts(large)}, {.chunks = 2});
  check(launch(begin_pipelines, {1, 32}, nullptr, on_device.data(), count, arena.environment())
            .code(),
        "launching");
  arena.complete_async();
  const auto seen = download(faults);
  for (unsigned i = 0; i < count; ++i) {
    BOOST_TEST(seen[2 * i] == 0u);
    BOOST_TEST(seen[2 * i + 1] == 1u);
  }
  BOOST_TEST(arena.get().refused == 0u);
}

// ---- refused calls ------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_call_may_be_refused_instead_of_kept) {
  const launch_limits limits({.pending_launches = 128});
  const called_sorts calls(mixed_lengths(500, large, 1), 1);
  call_arena arena(sorts(large), {.chunks = 1, .kept_calls = 2'000});
  const call_mode refuses{.continues = true, .refuses = true};
  const call_report report = expect_called_sorts(calls, arena, refuses);
  BOOST_TEST(report.refused > 0u);
  BOOST_TEST(report.kept == 0u);
  BOOST_TEST(report.started > 0u);
}

BOOST_AUTO_TEST_CASE(a_call_is_refused_if_no_record_is_free) {
  const launch_limits limits({.pending_launches = 128});
  call_arena arena(sorts(large), {.chunks = 1, .kept_calls = 10});
  for (const bool continues : {true, false}) {
    const called_sorts calls(mixed_lengths(500, large, 2), 2);
    const call_report report = expect_called_sorts(calls, arena, {.continues = continues});
    BOOST_TEST(report.refused > 0u);
    BOOST_TEST(report.kept > 0u);
    BOOST_TEST(report.kept <= 10u);
  }
}

BOOST_AUTO_TEST_CASE(a_call_of_more_elements_than_planned_is_refused) {
  const called_sorts calls({100, 101, large}, 1);
  call_arena arena(sorts(100));
  const call_report report = expect_called_sorts(calls, arena);
  BOOST_TEST(report.refused == 2u);
  BOOST_TEST(report.started == 1u);
}

// ---- options ------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_plan_has_options) {
  for (const unsigned depth_limit : {1u, 255u}) {
    const called_sorts calls(mixed_lengths(20, large, 1), 1);
    call_arena arena(sorts(large, {.depth_limit = depth_limit}), {.chunks = 2});
    BOOST_TEST(expect_called_sorts(calls, arena).refused == 0u);
  }
  // The memory depends on the limit.
  const auto bytes = [](unsigned depth_limit) {
    return call_arena_bytes(sorts(large, {.depth_limit = depth_limit}));
  };
  BOOST_TEST(bytes(1) < bytes(0));
  BOOST_TEST(bytes(0) < bytes(255));
  const auto refused = [](const quicksort_options& options, const char* field) {
    BOOST_CHECK_EXCEPTION(sorts(10, options), std::invalid_argument, names(field));
  };
  refused({.depth_limit = 256}, "quicksort_options.depth_limit is 256");
  refused({.strategy = quicksort_strategy::binary},
          "quicksort_calls: quicksort_options.strategy is binary");
  refused({.device_memory = 1}, "quicksort_options.device_memory is 1");
}

// ---- failures, schedules, graphs ----------------------------------------------------------------

BOOST_AUTO_TEST_CASE(no_call_is_lost_after_any_failed_launch,
                     *boost::unit_test::precondition(on_the_executor)) {
  const auto lengths = mixed_lengths(20, 9'000, 6);
  constexpr std::size_t limits[] = {128, 2048};
  expect_no_call_lost(limits, 20, [&] {
    const called_sorts calls(lengths, 2);
    call_arena arena(sorts(20'000), {.chunks = 2, .kept_calls = 100});
    return expect_called_sorts(calls, arena);
  });
}

BOOST_AUTO_TEST_CASE(every_schedule_does_all_calls,
                     *boost::unit_test::precondition(on_the_executor)) {
  expect_all_done_under_schedules([](std::uint64_t seed) {
    const called_sorts calls(mixed_lengths(40, 10'000, seed), seed);
    call_arena arena(sorts(10'000), {.chunks = 2, .kept_calls = 100});
    return expect_called_sorts(calls, arena);
  });
  for (const auto& config : reproducible_schedules()) {
    const cpu::scoped_executor_config scope(config);
    expect_rows(128, 5, 300, 5);
  }
}

#if RAMIFY_ON_CUDA
BOOST_DATA_TEST_CASE(a_graph_of_calls_runs_with_other_keys, data::make({32, 2048}), limit) {
  const launch_limits limits({.pending_launches = std::size_t(limit)});
  const host_stream stream;
  called_sorts calls(mixed_lengths(300, large, 4), 4);
  call_arena arena(sorts(large), {.chunks = 3, .kept_calls = 1'000}, {.stream = stream.get()});
  expect_captured_calls(
      calls, arena, stream, 10, [&](unsigned seed) { calls.reset(seed, stream.get()); },
      [&] { calls.call(arena.environment(), {}, 4, stream.get()); });
}
#endif

BOOST_AUTO_TEST_SUITE_END()
