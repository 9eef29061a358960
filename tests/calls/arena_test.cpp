// SPDX-License-Identifier: BSD-3-Clause
// call_arena: its slots, its memory, its rings; what is kept is done in the stream; index_pool.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <sstream>
#include <stdexcept>

#include "called_sorts.cuh"
#include "exceptions.hpp"
#include "printing.hpp"

namespace data = boost::unit_test::data;
using namespace tests;
using namespace tests::calls;
using ramify::detail::runtime::index_pool;

namespace {

/// Each thread takes numbers and releases all but the last one. `owners` finds numbers that two
/// threads have at the same time.
__global__ void take_and_release(index_pool pool, unsigned* owners, unsigned* kept,
                                 unsigned* faults) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  constexpr unsigned rounds = 20;
  kept[thread] = index_pool::none;
  for (unsigned round = 0; round < rounds; ++round) {
    const unsigned number = pool.take();
    if (number == index_pool::none) continue;
    if (number >= pool.capacity || atomicExch(&owners[number], 1u) != 0) atomicAdd(faults, 1u);
    if (round + 1 == rounds) {
      kept[thread] = number;
    } else {
      atomicExch(&owners[number], 0u);
      pool.release(number);
    }
  }
}
__global__ void mark_end(index_pool pool) { pool.mark_end(); }

/// Writes which of some requests get numbers.
__global__ void take_all_and_some(index_pool pool, unsigned* taken) {
  *taken++ = pool.take_all() ? 1 : 0;
  *taken++ = pool.take() != index_pool::none ? 1 : 0;  // no
  *taken++ = pool.take_all() ? 1 : 0;                  // no
  pool.release_all();
  const unsigned first = pool.take(2);
  *taken++ = first != index_pool::none ? 1 : 0;
  *taken++ = pool.take(2) != index_pool::none ? 1 : 0;
  *taken++ = pool.take(2) != index_pool::none ? 1 : 0;  // no
  *taken++ = pool.take(3) != index_pool::none ? 1 : 0;
  pool.release(first);
  *taken++ = pool.take_all() ? 1 : 0;  // no
}

}  // namespace

BOOST_AUTO_TEST_SUITE(arenas)

BOOST_DATA_TEST_CASE(no_two_threads_have_the_same_number, data::make({1, 31, 32, 100, 1'000}),
                     capacity) {
  memory_layout sizing(nullptr);
  static_cast<void>(index_pool::place(sizing, unsigned(capacity)));
  const auto memory = zeros<std::byte>(sizing.size());
  memory_layout layout(memory.data());
  const index_pool pool = index_pool::place(layout, unsigned(capacity));
  constexpr unsigned threads = 8 * 32;
  const auto owners = zeros<unsigned>(std::size_t(capacity));
  const auto faults = zeros<unsigned>(1);
  const device_buffer<unsigned> kept(threads, nullptr);
  check(launch(mark_end, {1, 1}, nullptr, pool).code(), "launching");
  check(launch(take_and_release, {8, 32}, nullptr, pool, owners.data(), kept.data(), faults.data())
            .code(),
        "launching");
  BOOST_TEST(download(faults)[0] == 0u);
  const auto numbers = download(kept);
  const auto taken =
      std::ranges::count_if(numbers, [](unsigned n) { return n != index_pool::none; });
  BOOST_TEST(taken > 0);
  BOOST_TEST(download_array(pool.taken, 1)[0] == unsigned(taken));
}

BOOST_AUTO_TEST_CASE(all_numbers_are_taken_at_once_or_up_to_some) {
  memory_layout sizing(nullptr);
  static_cast<void>(index_pool::place(sizing, 40));
  const auto memory = zeros<std::byte>(sizing.size());
  memory_layout layout(memory.data());
  const index_pool pool = index_pool::place(layout, 40);
  const auto taken = zeros<unsigned>(8);
  check(launch(mark_end, {1, 1}, nullptr, pool).code(), "launching");
  check(launch(take_all_and_some, {1, 1}, nullptr, pool, taken.data()).code(), "launching");
  BOOST_TEST(download(taken) == (std::vector<unsigned>{1, 0, 0, 1, 1, 0, 1, 0}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(kept_calls_are_done_by_the_grids_that_complete) {
  const launch_limits limits({.pending_launches = 32});
  const called_sorts calls(std::vector<std::size_t>(200, 50), 1);
  call_arena arena(sorts(1'000));
  calls.call(arena.environment());
  const auto done = [&] {
    const auto log = download(calls.logs);
    return std::ranges::count_if(log, [](const call_log& l) { return l.runs == 1; });
  };
  BOOST_TEST(done() < 200);  // negative control: there is something to complete
  arena.complete_async();
  BOOST_TEST(done() == 200);
  BOOST_TEST(calls.check_all()[unsigned(call_status::kept)] > 0u);
}

BOOST_AUTO_TEST_CASE(get_completes_what_was_not_completed) {
  const launch_limits limits({.pending_launches = 32});
  const called_sorts calls(std::vector<std::size_t>(200, 50), 1);
  call_arena arena(sorts(1'000));
  calls.call(arena.environment());
  const call_report report = arena.get();
  BOOST_TEST(calls.check_all()[unsigned(call_status::kept)] == report.kept);
  BOOST_TEST(report.kept > 0u);
  // The counts begin again.
  const call_report empty = arena.get();
  BOOST_TEST(empty.started + empty.kept + empty.child_grids + empty.host_grids == 0u);
  std::ostringstream text;
  text << report;
  BOOST_TEST(text.str().find("calls kept: " + std::to_string(report.kept)) != std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_arena_keeps_its_slots_from_other_runs) {
  const launch_limits limits({.pending_launches = 2048});
  {
    const call_arena arena(sorts(1'000), {.launch_slots = 100});
    BOOST_TEST(slots_in_use() == 100u);
    const call_arena half(sorts(1'000));
    BOOST_TEST(slots_in_use() == 100u + launch_quota(2048) / 2);
    call_arena moved(call_arena(sorts(1'000), {.launch_slots = 2}));
    BOOST_TEST(slots_in_use() == 102u + launch_quota(2048) / 2);
  }
  BOOST_TEST(slots_in_use() == 0u);
  // All other slots are in use, by other runs: the calls make progress.
  const all_slots_taken others(2048, 2);
  const called_sorts calls(mixed_lengths(50, 10'000, 1), 1);
  {
    call_arena arena(sorts(10'000));
    BOOST_TEST(expect_called_sorts(calls, arena).peak_slots == 1u);
    BOOST_CHECK_EXCEPTION(call_arena(sorts(10)), unavailable,
                          names("needs at least 2 launch slots; the pending-launch limit of 2048 "
                                "gives 1024"));
  }
}

BOOST_AUTO_TEST_CASE(an_arena_uses_the_memory_that_is_handed_in) {
  const call_arena_options options{.chunks = 2, .kept_calls = 100};
  const std::size_t bytes = call_arena_bytes(sorts(20'000), options);
  const device_buffer<std::byte> memory(bytes, nullptr);
  call_arena arena(sorts(20'000), options, {.memory = memory});
  const called_sorts calls(mixed_lengths(20, 20'000, 1), 1);
  BOOST_TEST(expect_called_sorts(calls, arena).scratch_bytes == bytes);
  BOOST_CHECK_EXCEPTION(
      call_arena(sorts(20'000), options, {.memory = memory_ref(memory.data(), bytes - 1)}),
      std::invalid_argument, names("call_arena: environment.memory has"));
}

BOOST_AUTO_TEST_CASE(bad_options_are_refused) {
  const auto refused = [](const call_arena_options& options, const char* field) {
    BOOST_CHECK_EXCEPTION(call_arena(sorts(10), options), std::invalid_argument, names(field));
  };
  refused({.chunks = 0}, "call_arena_options.chunks is 0");
  refused({.chunks = 65'537}, "call_arena_options.chunks");
  refused({.kept_calls = 0}, "call_arena_options.kept_calls is 0");
  refused({.kept_calls = (1u << 24) + 1}, "call_arena_options.kept_calls");
  BOOST_CHECK_EXCEPTION(call_arena(sorts(10), {}, {.route = route::flat}), unavailable,
                        names("environment.route is flat"));
  if (!RAMIFY_ON_CUDA) {  // a GPU may allow more launches than requested
    BOOST_CHECK_EXCEPTION(call_arena(sorts(10), {}, {.pending_launches = 16}), unavailable,
                          names("gives 1"));
  }
  BOOST_CHECK_THROW(sorts(std::size_t{1} << 40), std::invalid_argument);
  BOOST_TEST(slots_in_use() == 0u);
}

BOOST_AUTO_TEST_CASE(scratch_memory_suffices_for_every_length) {
  using context = ramify::detail::quicksort::sort_call<key, no_value, ascending>::context;
  using wide = ramify::detail::quicksort::sort_call<double, unsigned, ascending>::context;
  std::mt19937_64 random(3);
  const auto expect_enough = [&]<class Context>(auto plan, const Context*) {
    plan.prepare();
    const std::size_t bytes = plan.scratch_bytes();
    for (int i = 0; i < 500; ++i) {
      // As many short lengths as long ones.
      const auto shift = random() % 12;
      const std::size_t n =
          std::max<std::size_t>(random() % plan.max_n() >> shift, plan.sizes().long_leaf + 1);
      if (n > plan.max_n()) continue;
      memory_layout layout(nullptr);
      layout.take<ramify::detail::runtime::chain_call_state>(1);
      static_cast<void>(
          ramify::detail::quicksort::sort_call_memory<Context>(layout, n, plan.sizes()));
      BOOST_TEST(layout.size() <= bytes);
    }
  };
  for (const std::size_t n : {std::size_t{31'000}, std::size_t{300'000}, std::size_t{5'000'000},
                              std::size_t{40'000'000}, std::size_t{600'000'000}}) {
    expect_enough(sorts(n), static_cast<const context*>(nullptr));
    expect_enough(quicksort_calls<double, unsigned>(n), static_cast<const wide*>(nullptr));
  }
}

#if RAMIFY_TRACE
BOOST_DATA_TEST_CASE(a_trace_has_the_grids_of_all_calls, data::make({32, 2048}), limit) {
  const launch_limits limits({.pending_launches = std::size_t(limit)});
  const called_sorts calls(mixed_lengths(30, 20'000, 1), 1);
  launch_trace trace;
  call_arena arena(sorts(20'000), {}, {.trace = &trace});
  const call_report report = expect_called_sorts(calls, arena, {.continues = false});
  constexpr std::uint64_t the_caller = 1;
  BOOST_TEST(trace.count() == report.host_grids + report.child_grids + the_caller);
  std::uint64_t by_caller = 0;
  for (const traced_grid& grid : trace.grids) {
    const bool by_kernel = grid.stream != launch_stream::host;
    BOOST_TEST(by_kernel == (grid.parent != traced_grid::no_grid));
    if (by_kernel && trace.grids[grid.parent].kernel == "call_sorts") ++by_caller;
  }
  // Each call that was started is a child of the caller, unless it had no elements to sort.
  BOOST_TEST(by_caller <= report.started);
  BOOST_TEST(by_caller > 0u);
  BOOST_TEST((limit == 32 || by_caller + 4 > report.started));
}
#endif

// ---- the rings of kept calls --------------------------------------------------------------------

BOOST_DATA_TEST_CASE(rings_of_kept_calls_are_filled_and_wrap,
                     data::make({1, 3, 7, 63}) * data::make({true, false}), kept, continues) {
  // As many records as half of a ring's entries, which is a power of two. All calls are kept,
  // because a level of a sort needs more slots than there are.
  const launch_limits limits({.pending_launches = 32});
  const auto records = static_cast<unsigned>(kept);
  using call = ramify::detail::quicksort::sort_call<key, no_value, ascending>;
  const std::size_t n = call::long_leaf_sorter::capacity + 1;
  call_arena arena(sorts(n), {.chunks = 1, .kept_calls = records});
  constexpr unsigned rounds = 6;  // a ring wraps at the second one at the latest
  constexpr unsigned too_many = 5;
  const unsigned done = continues ? records / 2 : records;  // a continuation has a record, too
  for (unsigned round = 0; round < rounds; ++round) {
    const called_sorts calls(std::vector<std::size_t>(done + too_many, n), round);
    const call_mode mode{.continues = continues};
    calls.call(arena.environment(), mode, 1);
    arena.complete_async();
    BOOST_TEST(calls.check_all(mode)[unsigned(call_status::kept)] == done);
  }
  const call_report report = arena.get();
  BOOST_TEST(report.kept == done * rounds);
  BOOST_TEST(report.refused == too_many * rounds);
}

BOOST_AUTO_TEST_SUITE_END()
