// SPDX-License-Identifier: BSD-3-Clause
// cudaDeviceReset(): Ramify makes again what it keeps for a device. A run that began before the
// reset throws, and objects from before it destroy nothing of the new context. After a fault, runs
// throw or, if the driver allows it, work again after a reset.
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/limits.cuh>
#include <ramify/runtime/shared.cuh>
#include <ramify/runtime/staging.cuh>
#include <ramify/tree_search.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "backend_under_test.hpp"
#include "chain_fixture.cuh"
#include "slot_checks.cuh"

namespace tests::inline RAMIFY_BUILD {

namespace {

using ramify::detail::runtime::current_context;

/// Resets the device. The first cudaDeviceReset() may return the error of an earlier fault.
void reset_device() {
  static_cast<void>(cudaDeviceReset());
  check(cudaDeviceReset(), "resetting the device");
}

#if RAMIFY_ON_CUDA
/// Returns whether the driver allows the process to use the device. After a fault, the driver of an
/// H200 (580) refuses all calls of the process but cudaDeviceReset().
bool device_is_available() { return cudaFree(nullptr) == cudaSuccess; }
#endif

/// Runs all kinds of chains on both routes, a staged copy, and a tree search. Returns what is
/// wrong, or an empty string.
std::string run_all() {
  bool right = true;
  chains::for_each_program([&]<class Program>(Program*) {
    for (const route taken : {route::device, route::flat})
      right &= chains::run_chain<Program>(taken);
  });
  if (!right) return "a chain did not run";
  if (slots_in_use() != 0) return "slots are in use";

  std::vector<std::uint32_t> keys(3'000'000);  // more than min_staged_bytes
  std::iota(keys.rbegin(), keys.rend(), 0u);
  std::vector<std::uint32_t> copy(keys.size());
  const device_buffer<std::uint32_t> memory(keys.size(), nullptr);
  const std::size_t bytes = keys.size() * sizeof keys[0];
  copy_to_device(memory.data(), keys.data(), bytes, nullptr);
  copy_to_host(copy.data(), memory.data(), bytes, nullptr);
  check(cudaStreamSynchronize(nullptr), "copying");
  if (copy != keys) return "a copy is wrong";

  const uts_named_tree& tree = uts_trees().front();  // of some 1,000 nodes
  const tree_search_result found =
      tree_search(tree.parameters, {.backend = backend_under_test(), .route = route::device});
  return found.counts == tree.counts ? "" : "a tree search is wrong";
}

__global__ void take_from_heap(void** taken, std::size_t bytes) { *taken = device_malloc(bytes); }

/// Returns whether a kernel can allocate `bytes` bytes from the heap. The kernel does not free
/// them.
bool heap_has(std::size_t bytes) {
  const auto taken = zeros<void*>(1);
  check(launch(take_from_heap, {1, 1}, nullptr, taken.data(), bytes).code(), "launching");
  return download(taken)[0] != nullptr;
}

#if RAMIFY_ON_CUDA
/// Stops the device by a fault. On the executor, executor_config.device_stays_failed does.
__global__ void stop_device() { __trap(); }
#endif

bool names_the_reset(const std::logic_error& e) {
  return std::string(e.what()).find("cudaDeviceReset()") != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(reset)

BOOST_AUTO_TEST_CASE(runs_work_after_a_reset) {
  BOOST_TEST(run_all() == "");
  const auto before = current_context();
  reset_device();
  BOOST_TEST(current_context() != before);
  BOOST_TEST(!ramify::detail::runtime::context_exists(before));
#if !RAMIFY_ON_CUDA
  BOOST_TEST(cpu::live_objects() == 0u);
#endif
  BOOST_TEST(run_all() == "");
  const auto after = current_context();
  BOOST_TEST(current_context() == after);
}

BOOST_AUTO_TEST_CASE(a_run_from_before_a_reset_throws) {
  chains::for_each_program([]<class Program>(Program*) {
    for (const route taken : {route::device, route::flat}) {
      std::optional<chains::fixture<Program>> old(std::in_place, chains::request{.taken = taken});
      old->start();
      reset_device();
      BOOST_CHECK_EXCEPTION(old->chain.finish(), std::logic_error, names_the_reset);
      BOOST_CHECK_EXCEPTION(old->control.wait(), std::logic_error, names_the_reset);
      // New memory may have the addresses of the old one, whose owners must not free it.
      const chains::fixture<Program> other({.taken = taken});
      const slot_lease lease(2048);
#if !RAMIFY_ON_CUDA
      const std::uint64_t objects = cpu::live_objects();
      old.reset();
      BOOST_TEST(cpu::live_objects() == objects);
#else
      old.reset();
#endif
      BOOST_TEST(slots_in_use() == 0u);
      BOOST_TEST(chains::run_chain<Program>(taken));
    }
  });
}

BOOST_AUTO_TEST_CASE(owners_from_before_a_reset_destroy_nothing) {
  const std::size_t defaults = *current_launch_limits().pending_launches;
  std::optional<host_stream> stream(std::in_place);
  std::optional<host_event> event(std::in_place);
  std::optional<device_buffer<int>> memory(std::in_place, 10, stream->get());
  std::optional<pinned_buffer<int>> pinned(std::in_place, 10);
  std::optional<staging> chunks(std::in_place, staging_shape{.chunk_bytes = 16, .threads = 1});
  chunks->upload(memory->data(), pinned->data(), 10 * sizeof(int), stream->get());
  std::optional<slot_lease> lease(std::in_place, 2048);
  std::optional<launch_limits> limits(std::in_place, launch_limit_values{.pending_launches = 100});
  reset_device();
  BOOST_TEST(*current_launch_limits().pending_launches == defaults);

  const host_stream other_stream;
  const device_buffer<int> other(10, other_stream.get());
  const pinned_buffer<int> other_pinned(10);
  const slot_lease other_lease(2048);
  const launch_limits other_limits({.pending_launches = 300});
  BOOST_CHECK_EXCEPTION(chunks->upload(other.data(), other_pinned.data(), 4, other_stream.get()),
                        std::logic_error, names_the_reset);
#if !RAMIFY_ON_CUDA
  const std::uint64_t objects = cpu::live_objects();
#endif
  limits.reset();
  lease.reset();
  chunks.reset();
  pinned.reset();
  memory.reset();
  event.reset();
  stream.reset();
#if !RAMIFY_ON_CUDA
  BOOST_TEST(cpu::live_objects() == objects);
#endif
  BOOST_TEST(*current_launch_limits().pending_launches == 300u);
  other_stream.synchronize();
}

BOOST_AUTO_TEST_CASE(a_reset_frees_the_heap_of_kernels) {
  reset_device();
  const std::size_t most = *current_launch_limits().malloc_heap_bytes / 4 * 3;
  BOOST_TEST(heap_has(most));
  BOOST_TEST(!heap_has(most));
  reset_device();
  BOOST_TEST(heap_has(most));
  reset_device();
}

#if !RAMIFY_ON_CUDA
BOOST_AUTO_TEST_CASE(a_reset_destroys_what_the_executor_has) {
  int* memory = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  check(cudaMalloc(&memory, 40), "allocating");
  check(cudaStreamCreate(&stream), "creating a stream");
  check(cudaEventCreate(&event), "creating an event");
  reset_device();
  BOOST_TEST(cpu::live_objects() == 0u);
  BOOST_TEST(cudaFree(memory) == cudaErrorInvalidValue);
  BOOST_TEST(cudaStreamSynchronize(stream) == cudaErrorInvalidResourceHandle);
  BOOST_TEST(cudaEventSynchronize(event) == cudaErrorInvalidResourceHandle);
  BOOST_TEST(cudaGetLastError() == cudaErrorInvalidResourceHandle);
}
#endif

// On the executor, the device fails at each CUDA call of a run in turn. The last case: on a GPU,
// later cases of the process may find no device.
BOOST_AUTO_TEST_CASE(a_reset_ends_the_failure_of_a_device) {
#if RAMIFY_ON_CUDA
  for (const route taken : {route::device, route::flat}) {
    {
      chains::fixture<chains::by_tail_launch> memory({.taken = taken});
      memory.start();
      check(launch(stop_device, {1, 1}, memory.control.stream()).code(), "launching");
      BOOST_CHECK_THROW(memory.chain.finish(), cuda_error);
    }
    BOOST_CHECK_THROW(chains::run_chain<chains::by_tail_launch>(taken), cuda_error);
    reset_device();
    if (device_is_available()) {
      BOOST_TEST(run_all() == "");
    } else {
      BOOST_CHECK_THROW(run_all(), cuda_error);
      break;
    }
  }
#else
  for (const route taken : {route::device, route::flat}) {
    std::uint64_t failing = 1;
    for (bool failed = true; failed; ++failing) {
      auto config = cpu::current_executor_config();
      config.failing_call = failing;
      config.device_stays_failed = true;
      const cpu::scoped_executor_config scope(config);
      failed = false;
      try {
        BOOST_TEST(chains::run_chain<chains::by_tail_launch>(taken));
      } catch (const cuda_error&) {
        failed = true;
      }
      if (!failed) continue;
      BOOST_CHECK_THROW(chains::run_chain<chains::by_tail_launch>(taken), cuda_error);
      reset_device();
      BOOST_TEST(chains::run_chain<chains::by_tail_launch>(taken));
      BOOST_TEST(slots_in_use() == 0u);
    }
    BOOST_TEST(failing > 10u);
  }
#endif
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tests::inline RAMIFY_BUILD
