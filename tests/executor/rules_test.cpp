// SPDX-License-Identifier: BSD-3-Clause
// Every rule that the executor checks, in kernels that follow it and in kernels that break it.
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/shared.cuh>
#include <ramify/runtime/stream.cuh>
#include <ramify/runtime/team.cuh>
#include <string>
#include <vector>

using namespace ramify;
using cpu::rule;
using cpu::rule_violation;

namespace rule_kernels {

struct wrapped_pointer {
  long tag;
  int* target;
};
struct alignas(16) padded {
  long tag;
};

__global__ void write_through(int* target) { *target = 1; }
__global__ void write_through_wrapped(wrapped_pointer w) { *w.target = 1; }
__global__ void take_padded(padded) {}
__global__ void nothing() {}

__global__ void passes_global(int* target) {
  if (auto s = launch(write_through, {1, 1}, fire_and_forget(), target); !s) *target = -1;
}
__global__ void passes_local() {
  int mine = 0;
  if (auto s = launch(write_through, {1, 1}, fire_and_forget(), &mine); !s) mine = -1;
}
__global__ void passes_local_in_struct() {
  int mine = 0;
  const wrapped_pointer w{7, &mine};
  if (auto s = launch(write_through_wrapped, {1, 1}, fire_and_forget(), w); !s) mine = -1;
}
__global__ void passes_local_in_padding() {
  int mine = 0;
  const int* const pointers[2] = {&mine, &mine};
  padded p;
  std::memcpy(&p, pointers, sizeof p);
  p.tag = 7;
  if (auto s = launch(take_padded, {1, 1}, fire_and_forget(), p); !s) mine = -1;
}
__global__ void passes_shared() {
  __shared__ int mine;
  if (threadIdx.x == 3) {
    if (auto s = launch(write_through, {1, 1}, fire_and_forget(), &mine); !s) mine = -1;
  }
}
__global__ void passes_dynamic_shared() {
  int& mine = dynamic_shared<int>();
  if (auto s = launch(write_through, {1, 1}, fire_and_forget(), &mine); !s) mine = -1;
}

__global__ void fills_local() {
  int mine = 0;
  if (cudaMemsetAsync(&mine, 0, sizeof mine) != cudaSuccess) mine = -1;
}
__global__ void copies_from_local(int* target) {
  const int mine = 0;
  const auto error =
      cudaMemcpyAsync(target, &mine, sizeof mine, cudaMemcpyDeviceToDevice, fire_and_forget());
  if (error != cudaSuccess) *target = -1;
}
// Only the last thread of the last block breaks the rule.
__global__ void passes_local_in_one_thread() {
  int mine = 0;
  if (blockIdx.x != gridDim.x - 1 || threadIdx.x != blockDim.x - 1) return;
  if (auto s = launch(write_through, {1, 1}, fire_and_forget(), &mine); !s) mine = -1;
}
__global__ void passes_local_after_launches(int* target) {
  int mine = 0;
  bool good = bool(launch(write_through, {1, 1}, tail_launch(), target));
  good = good && launch(write_through, {1, 1}, null_stream(), target);
  good = good && launch(write_through, {1, 1}, null_stream(), target);
  if (!good || !launch(write_through, {1, 1}, fire_and_forget(), &mine)) mine = -1;
}

__global__ void launches_into(cudaStream_t stream) {
  if (auto s = launch(nothing, {1, 1}, stream); !s) return;
}
__global__ void passes_its_stream() {
  const device_stream mine;
  if (auto s = launch(launches_into, {1, 1}, fire_and_forget(), mine.get()); !s) return;
}
__global__ void shares_stream_within_grid(cudaStream_t* slot) {
  if (threadIdx.x == 0) static_cast<void>(cudaStreamCreateWithFlags(slot, cudaStreamNonBlocking));
  __syncthreads();
  if (threadIdx.x == 1) {
    if (auto s = launch(nothing, {1, 1}, *slot); !s) *slot = nullptr;
  }
}
__global__ void uses_destroyed_stream() {
  cudaStream_t stream = nullptr;
  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) return;
  if (cudaStreamDestroy(stream) != cudaSuccess) return;
  if (auto s = launch(nothing, {1, 1}, stream); !s) return;
}
__global__ void waits_for_event_of(cudaEvent_t event) {
  const device_stream mine;
  static_cast<void>(mine.wait(event));
}
__global__ void passes_its_event_to_a_waiter() {
  const device_event mine;
  if (auto s = launch(waits_for_event_of, {1, 1}, fire_and_forget(), mine.get()); !s) return;
}
__global__ void records_event_of(cudaEvent_t event) {
  static_cast<void>(cudaEventRecord(event, nullptr));
}
__global__ void passes_its_event() {
  const device_event mine;
  if (auto s = launch(records_event_of, {1, 1}, fire_and_forget(), mine.get()); !s) return;
}

__global__ void barrier_for_all(int* sum) {
  atomicAdd(sum, 1);
  __syncthreads();
  atomicAdd(sum, 1);
}
__global__ void barrier_after_return() {
  if (threadIdx.x >= 20) return;
  __syncthreads();
}
__global__ void barrier_in_one_branch() {
  if (threadIdx.x < 20) {
    __syncthreads();
  } else {
    __syncwarp(threadIdx.x / 32 == 0 ? 0xfff00000u : 0xffffffffu);
    __syncthreads();
  }
}
__global__ void two_barriers_at_once() {
  if (threadIdx.x % 2 == 0) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}
__global__ void shuffle_with_absent_lane(int* out) {
  if (threadIdx.x == 5) return;
  out[threadIdx.x] = __shfl_sync(0xffffffffu, int(threadIdx.x), 0);
}
__global__ void shuffle_in_all_lanes(int* out) {
  if (threadIdx.x % 2 == 0) __syncwarp(0x55555555u);
  out[threadIdx.x] = __shfl_sync(0xffffffffu, int(threadIdx.x), 7);
}
__global__ void team_with_absent_thread() {
  const block_team<16> team;
  if (threadIdx.x != 5) team.sync();
}
__global__ void team_of_all(int* out) {
  const block_team<16> team;
  team.sync();
  out[threadIdx.x] = 1;
}
__global__ void vote_outside_its_mask() { static_cast<void>(__any_sync(0xfffffffeu, 1)); }

__global__ void reads_failure(int* code) {
  const auto s = launch(nothing, {1, 2000}, fire_and_forget());
  *code = s.code();
}
__global__ void too_much_shared_memory(int* code) {
  *code = launch(nothing, {1, 1, 48 * 1024 + 1}, fire_and_forget()).code();
}
__global__ void ignores_failure() {
  static_cast<void>(launch(nothing, {1, 2000}, fire_and_forget()));
}
__global__ void launches_itself(unsigned* grids, bool as_tail) {
  ++*grids;
  if (!launch(launches_itself, {1, 1}, as_tail ? tail_launch() : fire_and_forget(), grids, as_tail))
    *grids = 0;
}
__global__ void ignores_success() { static_cast<void>(launch(nothing, {1, 1}, fire_and_forget())); }

}  // namespace rule_kernels

namespace {

// Runs a kernel that breaks a rule, and checks the exception.
template <class... Arguments>
void expect_violation(rule broken, const std::string& kernel, const std::string& where,
                      void (*entry)(Arguments...), unsigned threads,
                      std::type_identity_t<Arguments>... arguments) {
  for (const char* schedule : {"parallel", "eager", "late", "random:3"}) {
    BOOST_TEST_CONTEXT(kernel << " under schedule " << schedule) {
      const cpu::scoped_executor_config config(cpu::parse_executor_config(schedule));
      try {
        const auto status = launch(entry, {1, threads, 64}, null_stream(), arguments...);
        BOOST_ERROR("nothing was reported; the launch gave " << status.code());
      } catch (const rule_violation& v) {
        BOOST_TEST(cpu::to_string(v.broken()) == cpu::to_string(broken));
        BOOST_TEST(v.kernel().find(kernel) != std::string::npos, v.kernel());
        BOOST_TEST(v.where().find(where) != std::string::npos, v.where());
        BOOST_TEST_MESSAGE(v.what());
      }
    }
  }
}

template <class... Arguments>
void expect_no_violation(void (*entry)(Arguments...), unsigned threads,
                         std::type_identity_t<Arguments>... arguments) {
  for (const char* schedule : {"parallel", "eager", "late", "random:3"}) {
    const cpu::scoped_executor_config config(cpu::parse_executor_config(schedule));
    BOOST_TEST(bool(launch(entry, {1, threads, 64}, null_stream(), arguments...)));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rules)

BOOST_AUTO_TEST_CASE(a_child_may_get_global_memory) {
  int target = 0;
  expect_no_violation(rule_kernels::passes_global, 1, &target);
  BOOST_TEST(target == 1);
}

BOOST_AUTO_TEST_CASE(a_child_must_not_get_local_memory) {
  expect_violation(rule::local_pointer, "passes_local", "thread (0,0,0)",
                   rule_kernels::passes_local, 1);
  expect_violation(rule::local_pointer, "passes_local_in_struct", "block (0,0,0)",
                   rule_kernels::passes_local_in_struct, 1);
  expect_no_violation(rule_kernels::passes_local_in_padding, 1);
  expect_violation(rule::local_pointer, "fills_local", "thread (0,0,0)", rule_kernels::fills_local,
                   1);
  int target = 0;
  expect_violation(rule::local_pointer, "copies_from_local", "thread (0,0,0)",
                   rule_kernels::copies_from_local, 1, &target);
}

BOOST_AUTO_TEST_CASE(a_report_names_block_and_thread) {
  // Several threads break the rule. Under this schedule, the first one is always the same.
  const cpu::scoped_executor_config config({.order = cpu::schedule::eager});
  BOOST_CHECK_EXCEPTION(static_cast<void>(launch(rule_kernels::passes_local_in_one_thread,
                                                 {{2, 3}, {4, 2}}, null_stream())),
                        rule_violation, [](const rule_violation& v) {
                          return v.where() == "block (1,0,0), thread (3,0,0)";
                        });
}

BOOST_AUTO_TEST_CASE(a_broken_rule_leaks_no_slots) {
  int target = 0;
  for (int i = 0; i < 2000; ++i) {  // leaked slots would exhaust the pool
    BOOST_CHECK_THROW(static_cast<void>(launch(rule_kernels::passes_local_after_launches, {1, 1},
                                               null_stream(), &target)),
                      rule_violation);
  }
  expect_no_violation(rule_kernels::passes_global, 1, &target);
}

BOOST_AUTO_TEST_CASE(a_child_must_not_get_shared_memory) {
  expect_violation(rule::shared_pointer, "passes_shared", "thread (3,0,0)",
                   rule_kernels::passes_shared, 32);
  expect_violation(rule::shared_pointer, "passes_dynamic_shared", "thread (0,0,0)",
                   rule_kernels::passes_dynamic_shared, 1);
}

BOOST_AUTO_TEST_CASE(a_stream_belongs_to_its_grid) {
  cudaStream_t slot = nullptr;
  expect_no_violation(rule_kernels::shares_stream_within_grid, 2, &slot);
  BOOST_TEST(slot != nullptr);
  expect_violation(rule::foreign_stream, "launches_into", "thread (0,0,0)",
                   rule_kernels::passes_its_stream, 1);
  expect_violation(rule::foreign_stream, "launches_into", "thread (0,0,0)",
                   rule_kernels::launches_into, 1, slot);  // a stream of a complete grid
  BOOST_TEST(launch(rule_kernels::nothing, {1, 1}, slot).code() == cudaErrorInvalidResourceHandle);
  expect_violation(rule::foreign_stream, "uses_destroyed_stream", "thread (0,0,0)",
                   rule_kernels::uses_destroyed_stream, 1);
  const host_stream of_host;
  expect_violation(rule::foreign_stream, "launches_into", "thread (0,0,0)",
                   rule_kernels::launches_into, 1, of_host.get());
}

BOOST_AUTO_TEST_CASE(an_event_belongs_to_its_grid) {
  expect_violation(rule::foreign_stream, "records_event_of", "thread (0,0,0)",
                   rule_kernels::passes_its_event, 1);
  expect_violation(rule::foreign_stream, "waits_for_event_of", "thread (0,0,0)",
                   rule_kernels::passes_its_event_to_a_waiter, 1);
}

BOOST_AUTO_TEST_CASE(a_barrier_is_for_the_whole_block) {
  int sum = 0;
  expect_no_violation(rule_kernels::barrier_for_all, 64, &sum);
  BOOST_TEST(sum == 4 * 128);
  expect_violation(rule::divergent_barrier, "barrier_after_return", "thread",
                   rule_kernels::barrier_after_return, 64);
  expect_violation(rule::divergent_barrier, "barrier_in_one_branch", "thread",
                   rule_kernels::barrier_in_one_branch, 64);
  expect_violation(rule::divergent_barrier, "two_barriers_at_once", "thread",
                   rule_kernels::two_barriers_at_once, 64);
}

BOOST_AUTO_TEST_CASE(a_warp_operation_is_for_its_mask) {
  std::vector<int> out(32);
  expect_violation(rule::divergent_barrier, "shuffle_with_absent_lane", "thread",
                   rule_kernels::shuffle_with_absent_lane, 32, out.data());
  expect_violation(rule::divergent_barrier, "vote_outside_its_mask", "thread (0,0,0)",
                   rule_kernels::vote_outside_its_mask, 32);
}

// The executor reuses the state of a block, which a failed block leaves with waiting threads.
BOOST_AUTO_TEST_CASE(a_failed_block_does_not_affect_the_next_one) {
  std::vector<int> out(32);
  expect_violation(rule::divergent_barrier, "shuffle_with_absent_lane", "thread",
                   rule_kernels::shuffle_with_absent_lane, 32, out.data());
  expect_no_violation(rule_kernels::shuffle_in_all_lanes, 32, out.data());
  BOOST_TEST(out == std::vector<int>(32, 7), boost::test_tools::per_element());
  expect_violation(rule::divergent_barrier, "team_with_absent_thread", "thread",
                   rule_kernels::team_with_absent_thread, 32);
  expect_no_violation(rule_kernels::team_of_all, 32, out.data());
  expect_violation(rule::divergent_barrier, "barrier_after_return", "thread",
                   rule_kernels::barrier_after_return, 64);
  int sum = 0;
  expect_no_violation(rule_kernels::barrier_for_all, 64, &sum);
  BOOST_TEST(sum == 4 * 128);
}

BOOST_AUTO_TEST_CASE(the_status_of_a_failed_launch_must_be_read) {
  int code = 0;
  expect_no_violation(rule_kernels::reads_failure, 1, &code);
  BOOST_TEST(code == cudaErrorInvalidConfiguration);
  code = 0;
  expect_no_violation(rule_kernels::too_much_shared_memory, 1, &code);
  BOOST_TEST(code == cudaErrorInvalidConfiguration);
  expect_no_violation(rule_kernels::ignores_success, 1);
  expect_violation(rule::ignored_launch_failure, "ignores_failure", "thread (0,0,0)",
                   rule_kernels::ignores_failure, 1);
}

BOOST_AUTO_TEST_CASE(the_status_of_a_failed_host_launch_must_be_read) {
  BOOST_CHECK_EXCEPTION(static_cast<void>(launch(rule_kernels::nothing, {1, 2000}, null_stream())),
                        rule_violation, [](const rule_violation& v) {
                          return v.broken() == rule::ignored_launch_failure && v.where() == "host";
                        });
}

BOOST_AUTO_TEST_CASE(endless_recursion_is_named_at_the_configured_depth) {
  for (const char* schedule : {"parallel", "eager", "late", "random:3"}) {
    for (const bool as_tail : {false, true}) {
      auto config = cpu::parse_executor_config(schedule);
      config.max_depth = 1'000;
      const cpu::scoped_executor_config in_force(config);
      unsigned grids = 0;
      BOOST_CHECK_EXCEPTION(static_cast<void>(launch(rule_kernels::launches_itself, {1, 1},
                                                     null_stream(), &grids, as_tail)),
                            rule_violation, [](const rule_violation& v) {
                              const std::string what = v.what();
                              return v.broken() == rule::endless_recursion &&
                                     v.kernel().find("launches_itself") != std::string::npos &&
                                     what.find("depth 1001") != std::string::npos;
                            });
      BOOST_TEST(grids == 1'001u);  // depths 0 to 1000
    }
  }
}

BOOST_AUTO_TEST_CASE(the_executor_works_after_a_broken_rule) {
  expect_violation(rule::divergent_barrier, "barrier_after_return", "thread",
                   rule_kernels::barrier_after_return, 64);
  int target = 0;
  expect_no_violation(rule_kernels::passes_global, 1, &target);
  BOOST_TEST(target == 1);
}

BOOST_AUTO_TEST_SUITE_END()
