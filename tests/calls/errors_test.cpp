// SPDX-License-Identifier: BSD-3-Clause
// Errors of calls from kernels: they name the algorithm and the kernel; a pending-launch pool that
// stays full; arguments that no grid may have.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <ramify/runtime/detail/chain_call.cuh>

#include "called_sorts.cuh"
#include "exceptions.hpp"
#include "printing.hpp"

namespace data = boost::unit_test::data;
using namespace tests;
using namespace tests::calls;
namespace runtime = ramify::detail::runtime;

BOOST_AUTO_TEST_SUITE(errors_of_calls)

// ---- a family whose launches fail ---------------------------------------------------------------

namespace {

constexpr unsigned too_many_threads = 2'000;

struct failing_program : runtime::chain_link {
  using state_type = unsigned;  ///< rounds that are left
  static constexpr auto join = runtime::chain_join::last_block;
  unsigned* state;

  [[nodiscard]] __host__ __device__ bool finished(unsigned left) const { return left == 0; }
  [[nodiscard]] __host__ __device__ unsigned slots_of(unsigned) const { return 1; }
  template <class Grids>
  __host__ __device__ void launch_round(unsigned left, Grids& grids) const;
};

/// A round: the first one has one thread, the next one has too many.
__global__ void one_round(failing_program program) {
  const traced here(program.trace, __func__);
  --*program.state;
  end_round(program, __func__);
}
template <class Grids>
__host__ __device__ void failing_program::launch_round(unsigned left, Grids& grids) const {
  grids.unordered(one_round, {1, left == 1 ? too_many_threads : 1}, *this);
}

struct failing_calls;
struct failing_call : runtime::chain_call<failing_call> {
  using plan = failing_calls;
  static constexpr unsigned nested_grids = 2;

  unsigned good_rounds;
  bool starts;  ///< false: the first grid cannot be launched

  [[nodiscard]] __device__ bool fits(const plan&) const { return true; }
  [[nodiscard]] __device__ bool is_empty() const { return false; }
  [[nodiscard]] __device__ bool start(const plan& p, const runtime::call_ticket& ticket) const {
    if (starts) return chain_call::start(p, ticket);
    const auto launched =
        launch(one_round, {1, too_many_threads}, fire_and_forget(), failing_program{});
    return ticket.conclude(launched, "one_round");
  }
  __device__ void write_state(const plan& p, const runtime::call_ticket& ticket) const {
    clear_state(ticket);
    *program(p, ticket).state = good_rounds + 1;
  }
  [[nodiscard]] __device__ failing_program program(const plan&,
                                                   const runtime::call_ticket& ticket) const {
    memory_layout layout(ticket.scratch());
    layout.take<runtime::chain_call_state>(1);
    failing_program made{{}, layout.take<unsigned>(1)};
    link_to_call(made, ticket);
    return made;
  }
};
struct failing_calls {
  using call = failing_call;
  static constexpr const char* name = "failing";
  static constexpr unsigned batches = 0;
  void prepare() {}
  [[nodiscard]] static std::size_t scratch_bytes() { return 1'000; }
};

// Two plans: the name must be that of the call.
using plans = call_plans<sorts, failing_calls>;

__global__ void call_failing(unsigned good_rounds, bool starts, unsigned* status,
                             kernel_environment<plans> calls) {
  const failing_call call{{}, good_rounds, starts};
  *status = static_cast<unsigned>(runtime::start_call(call, calls));
}

/// Makes a call, and checks that get() throws an error with `what` in its message.
void expect_error(unsigned good_rounds, bool starts, const char* what, const char* kernel) {
  call_arena arena(plans{sorts(1'000), {}});
  const auto status = zeros<unsigned>(1);
  check(
      launch(call_failing, {1, 1}, nullptr, good_rounds, starts, status.data(), arena.environment())
          .code(),
      "launching");
  arena.complete_async();
  const auto is_expected = [&](const device_launch_error& e) {
    return names(what)(e) && e.kernel() == kernel;
  };
  BOOST_CHECK_EXCEPTION(arena.get(), device_launch_error, is_expected);
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_error_names_the_algorithm_and_the_kernel) {
  expect_error(0, false, "call of failing: could not launch one_round: ", "one_round");
  expect_error(0, true,
               "call of failing: a launch in kernel drive_call at depth 0 failed: ", "drive_call");
  expect_error(1, true,
               "call of failing: a launch in kernel one_round at depth 1 failed: ", "one_round");
  {
    // A drain launches the round.
    const launch_limits limits({.pending_launches = 32});
    expect_error(0, true, "call of failing: a launch in kernel drain_calls at depth 0 failed: ",
                 "drain_calls");
  }
}

// ---- continuations, a full pool, rules ----------------------------------------------------------

namespace {

__global__ void call_with_shape(key* keys, call_log* log, unsigned threads,
                                sort_environment calls) {
  log->status = 1 + static_cast<unsigned>(ramify::quicksort(
                        keys, 10, ascending{},
                        calls.then(check_range<key>, {1, threads}, keys, std::size_t{10}, log)));
}
#if !RAMIFY_ON_CUDA
__global__ void call_with_local_argument(key* keys, sort_environment calls) {
  call_log log{};
  static_cast<void>(ramify::quicksort(
      keys, 10, ascending{}, calls.then(check_range<key>, {1, 1}, keys, std::size_t{10}, &log)));
}
__global__ void call_with_shared_keys(sort_environment calls) {
  static_cast<void>(ramify::quicksort(&dynamic_shared<key>(), 10, ascending{}, calls));
}
#endif

}  // namespace

BOOST_DATA_TEST_CASE(a_continuation_with_an_impossible_shape_is_reported, data::make({32, 2048}),
                     limit) {
  const launch_limits limits({.pending_launches = std::size_t(limit)});  // 32: it is kept
  call_arena arena(sorts(1'000));
  const called_sorts calls({10}, 1);
  const auto call = [&](unsigned threads) {
    check(launch(call_with_shape, {1, 1}, nullptr, calls.keys.data(), calls.logs.data(), threads,
                 arena.environment())
              .code(),
          "launching");
    arena.complete_async();
  };
  call(2'000);
  BOOST_CHECK_EXCEPTION(arena.get(), device_launch_error,
                        names("call of quicksort: could not launch the continuation: "));
  call(32);  // the arena is empty again
  BOOST_TEST(arena.get().started == 1u);
  calls.check_all();
}

BOOST_AUTO_TEST_CASE(get_ends_if_the_pool_stays_full,
                     *boost::unit_test::precondition(on_the_executor)) {
  const called_sorts calls({10}, 1);
  call_arena arena(sorts(1'000));
  // From the first launch on, which is the sort's, or from the second one, the continuation's.
  for (const unsigned first : {1u, 2u}) {
    auto config = cpu::current_executor_config();
    config.failing_launch = first;
    config.pool_stays_full = true;
    const cpu::scoped_executor_config scope(config);
    calls.call(arena.environment());
    BOOST_CHECK_EXCEPTION(arena.get(), device_launch_error,
                          names("1 calls and continuations are incomplete"));
  }
  // The arena is empty again, and works.
  const called_sorts others(std::vector<std::size_t>(20, 50), 1);
  BOOST_TEST(expect_called_sorts(others, arena).refused == 0u);
}

namespace {

/// A sort whose continuation sorts again, until `left` is 0.
__global__ void sort_again(key* keys, unsigned* runs, unsigned left,
                           kernel_environment<sorts> calls) {
  const traced here(calls.trace, __func__);
  ++*runs;
  if (left == 0) return;
  const auto next = calls.then(sort_again, {1, 1}, keys, runs, left - 1, calls);
  if (ramify::quicksort(keys, left == 2 ? 1 : 3, ascending{}, next) == call_status::refused) {
    *runs = 100;
  }
}

}  // namespace

// Of the grids of the third drain, the pool has a place for the first continuation and for the sort
// that it calls, but neither for the continuation of that sort nor for the next drain.
BOOST_AUTO_TEST_CASE(get_does_what_the_last_drain_has_kept,
                     *boost::unit_test::precondition(on_the_executor)) {
  const auto keys = upload(std::vector<key>{3, 2, 1});
  const auto runs = zeros<unsigned>(1);
  call_arena arena(sorts(1'000));
  const auto calls = arena.environment();
  const auto launch_with = [&](unsigned failing_launch, const auto& launch_grids) {
    auto config = cpu::current_executor_config();
    config.order = cpu::schedule::eager;
    config.failing_launch = failing_launch;
    config.pool_stays_full = true;
    const cpu::scoped_executor_config scope(config);
    launch_grids();
  };
  const auto drain = [&] {
    check(launch(ramify::detail::drain_calls<sorts>, {1, 1}, nullptr, calls.calls, calls.plans,
                 calls.trace, false)
              .code(),
          "launching a drain");
  };
  launch_with(1, [&] {
    check(launch(sort_again, {1, 1}, nullptr, keys.data(), runs.data(), 2u, calls).code(),
          "launching");
    drain();
    drain();
  });
  launch_with(3, drain);
  static_cast<void>(arena.get());
  BOOST_TEST(download(runs)[0] == 3u);
}

#if !RAMIFY_ON_CUDA
BOOST_AUTO_TEST_CASE(arguments_in_memory_of_the_caller_break_a_rule) {
  // Also if the call is kept, when no launch by the calling kernel would check them.
  for (const std::size_t limit : {std::size_t{32}, std::size_t{2048}}) {
    const launch_limits limits({.pending_launches = limit});
    call_arena arena(sorts(1'000));
    const called_sorts calls({10}, 1);
    const auto broken = [](cpu::rule rule) {
      return [rule](const cpu::rule_violation& e) { return e.broken() == rule; };
    };
    BOOST_CHECK_EXCEPTION(static_cast<void>(launch(call_with_local_argument, {1, 1}, nullptr,
                                                   calls.keys.data(), arena.environment())),
                          cpu::rule_violation, broken(cpu::rule::local_pointer));
    BOOST_CHECK_EXCEPTION(
        static_cast<void>(launch(call_with_shared_keys, {1, 1, 100}, nullptr, arena.environment())),
        cpu::rule_violation, broken(cpu::rule::shared_pointer));
  }
}
#endif

BOOST_AUTO_TEST_SUITE_END()
