// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Many calls of a function with a result, which the threads of a kernel make, and their check.

#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/call_arena.cuh>
#include <vector>

#include "backend_under_test.hpp"
#include "call_statuses.cuh"
#include "device_vectors.cuh"
#include "effort.hpp"
#include "interrupted_calls.cuh"
#include "schedules.hpp"
#include "slot_checks.cuh"

namespace tests::inline RAMIFY_BUILD {
namespace calls {

/// How the threads call.
struct value_mode {
  bool continues = true;
  bool refuses = false;
};

/// What happened to a call, in device memory.
template <class Result>
struct value_log {
  unsigned status;  ///< call_status + 1
  unsigned runs;    ///< of the continuation
  Result result;
  Result seen;  ///< by the continuation
};

/// The continuation of a call.
template <class Result>
__global__ void see_result(value_log<Result>* log) {
  atomicAdd(&log->runs, 1u);
  log->seen = log->result;
}

/// Makes each call once; a thread makes every so many.
template <class Work, class Environment>
__global__ void make_value_calls(const Work* works, unsigned count,
                                 value_log<typename Work::result_type>* logs, value_mode mode,
                                 Environment calls) {
  const ramify::traced here(calls.trace, __func__);
  const unsigned threads = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
    auto* const log = &logs[i];
    const auto how = mode.refuses ? calls.or_refuse() : calls;
    const ramify::call_status status =
        mode.continues
            ? works[i].call(&log->result,
                            how.then(see_result<typename Work::result_type>, {1, 1}, log))
            : works[i].call(&log->result, how);
    log->status = static_cast<unsigned>(status) + 1;
  }
}

/// Makes all calls, completes and checks them: those that were not refused have their expected
/// results, and their continuations have seen these. Returns the report.
template <class Arena, class Work>
call_report expect_values(Arena& arena, const std::vector<Work>& works, const value_mode& mode = {},
                          unsigned blocks = 4) {
  using result_type = typename Work::result_type;
  const auto on_device = upload(works);
  const auto logs = zeros<value_log<result_type>>(works.size());
  const auto environment = arena.environment();
  check(launch(make_value_calls<Work, std::remove_const_t<decltype(environment)>>, {blocks, 32},
               nullptr, static_cast<const Work*>(on_device.data()),
               static_cast<unsigned>(works.size()), logs.data(), mode, environment)
            .code(),
        "launching the kernel that calls");
  arena.complete_async();
  const auto seen = download(logs);
  unsigned wrong = 0;
  std::vector<unsigned> statuses(3);
  for (std::size_t i = 0; i < works.size(); ++i) {
    const bool refused = count_status(seen[i], statuses);
    const bool continued = mode.continues && !refused;
    bool right = seen[i].runs == (continued ? 1u : 0u);
    if (!refused) right = right && works[i].expects(seen[i].result);
    if (continued) right = right && works[i].expects(seen[i].seen);
    if (!right) ++wrong;
  }
  BOOST_TEST(wrong == 0u);
  return expect_report(arena, statuses);
}

/// Runs calls in which one launch fails, for each launch, and checks that none is lost.
/// `make_arena` makes the arena for a run.
template <class Work, class MakeArena>
void expect_no_call_lost(const std::vector<Work>& works, const MakeArena& make_arena) {
  constexpr std::size_t limits[] = {32, 128, 2048};
  expect_no_call_lost(limits, 5, [&] {
    auto arena = make_arena();
    return expect_values(arena, works);
  });
}

/// Makes the calls under the executor's schedules, at three limits.
template <class Work, class MakeArena>
void expect_in_every_schedule(const std::vector<Work>& works, const MakeArena& make_arena) {
  expect_all_done_under_schedules([&](std::uint64_t) {
    auto arena = make_arena();
    return expect_values(arena, works);
  });
}

}  // namespace calls
}  // namespace tests::inline RAMIFY_BUILD
