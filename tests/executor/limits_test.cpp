// SPDX-License-Identifier: BSD-3-Clause
// Limits on the executor: the launch pool, the heap and the stack.
#include <sys/mman.h>
#include <unistd.h>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <new>
#include <ramify/cpu/executor.hpp>
#include <ramify/cpu/sanitizers.hpp>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/limits.cuh>
#include <ramify/runtime/shared.cuh>
#include <ramify/runtime/stream.cuh>
#include <vector>

#include "schedules.hpp"

using namespace ramify;
namespace data = boost::unit_test::data;

namespace limit_kernels {

__global__ void count_runs(int* runs) {
  atomicAdd(&runs[blockIdx.x * blockDim.x + threadIdx.x], 1);
}

__global__ void nothing() {}

// One thread launches `count` children and counts the results.
__global__ void flood(int count, int* launched, int* refused, int* other) {
  for (int i = 0; i < count; ++i) {
    const auto status = launch(nothing, {1, 1}, fire_and_forget());
    ++*(status ? launched : status.code() == cudaErrorLaunchPendingCountExceeded ? refused : other);
  }
}

__global__ void allocate(void** out, std::size_t bytes) { *out = device_malloc(bytes); }
__global__ void release(void* memory) { device_free(memory); }

// The functions of the CUDA runtime, which use the same heap.
__global__ void allocate_by_runtime(void** out, std::size_t bytes, cudaError_t* error) {
  *out = out;
  *error = cudaMalloc(out, bytes);
}
__global__ void release_by_runtime(void* memory, cudaError_t* error) { *error = cudaFree(memory); }

}  // namespace limit_kernels

BOOST_AUTO_TEST_SUITE(limits)

BOOST_AUTO_TEST_CASE(the_launch_pool_is_finite) {
  const launch_limits limits({.pending_launches = 100});
  int launched = 0;
  int refused = 0;
  int other = 0;
  const auto run = [&](const char* schedule) {
    launched = refused = other = 0;
    const cpu::scoped_executor_config config(cpu::parse_executor_config(schedule));
    BOOST_REQUIRE(bool(
        launch(limit_kernels::flood, {1, 1}, null_stream(), 300, &launched, &refused, &other)));
    BOOST_TEST(other == 0);
    BOOST_TEST(launched + refused == 300);
  };
  run("late");  // no child begins while its parent launches, so the pool becomes full
  BOOST_TEST(launched == 100);
  run("eager");  // each child is complete at once, so the pool never becomes full
  BOOST_TEST(launched == 300);
  run("late");  // all slots are free again
  BOOST_TEST(launched == 100);
  run("parallel:1");  // the only worker runs the parent
  BOOST_TEST(launched == 100);
}

BOOST_DATA_TEST_CASE(a_too_large_stack_is_an_exception, data::make(tests::main_schedules), s) {
  const cpu::scoped_executor_config config(cpu::parse_executor_config(s));
  std::vector<int> runs(8);
  const auto run = [&] {
    return bool(launch(limit_kernels::count_runs, {2, 4}, null_stream(), runs.data()));
  };
  {
    const launch_limits limits({.stack_bytes = std::size_t{1} << 50});
    BOOST_CHECK_THROW(static_cast<void>(run()), std::bad_alloc);
  }
  BOOST_TEST(run());
  BOOST_TEST(runs == std::vector<int>(8, 1), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_heap_is_finite) {
  const launch_limits limits({.malloc_heap_bytes = 1'000'000});
  const auto allocate = [](std::size_t bytes) {
    void* memory = nullptr;
    BOOST_REQUIRE(bool(launch(limit_kernels::allocate, {1, 1}, null_stream(), &memory, bytes)));
    return memory;
  };
  void* first = allocate(600'000);
  BOOST_TEST(first != nullptr);
  BOOST_TEST(allocate(600'000) == nullptr);
  BOOST_TEST(allocate(~std::size_t{0}) == nullptr);
  BOOST_REQUIRE(bool(launch(limit_kernels::release, {1, 1}, null_stream(), first)));
  void* second = allocate(600'000);
  BOOST_TEST(second != nullptr);
  BOOST_REQUIRE(bool(launch(limit_kernels::release, {1, 1}, null_stream(), second)));
}

BOOST_AUTO_TEST_CASE(the_runtime_allocates_from_the_heap_in_kernels) {
  const launch_limits limits({.malloc_heap_bytes = 1'000'000});
  cudaError_t error = cudaErrorUnknown;
  const auto allocate = [&](std::size_t bytes) {
    void* memory = nullptr;
    BOOST_REQUIRE(bool(
        launch(limit_kernels::allocate_by_runtime, {1, 1}, null_stream(), &memory, bytes, &error)));
    return memory;
  };
  const auto release = [&](void* memory) {
    BOOST_REQUIRE(
        bool(launch(limit_kernels::release_by_runtime, {1, 1}, null_stream(), memory, &error)));
    return error;
  };
  void* const first = allocate(600'000);
  BOOST_TEST(error == cudaSuccess);
  BOOST_TEST(allocate(0) == nullptr);
  BOOST_TEST(error == cudaSuccess);
  for (const std::size_t bytes : {std::size_t{600'000}, ~std::size_t{0}}) {
    static_cast<void>(allocate(bytes));
    BOOST_TEST(error == cudaErrorMemoryAllocation);
  }
  // The host can neither free nor copy it, and a kernel cannot free memory of the host.
  char byte = 0;
  BOOST_TEST(cudaFree(first) == cudaErrorInvalidValue);
  BOOST_TEST(cudaMemcpy(&byte, first, 1, cudaMemcpyDefault) == cudaErrorInvalidValue);
  void* of_host = nullptr;
  BOOST_REQUIRE(cudaMalloc(&of_host, 100) == cudaSuccess);
  BOOST_TEST(release(of_host) == cudaErrorInvalidValue);
  BOOST_TEST(cudaFree(of_host) == cudaSuccess);
  static_cast<void>(cudaGetLastError());

  BOOST_TEST(release(first) == cudaSuccess);
  BOOST_TEST(release(first) == cudaErrorInvalidValue);
  BOOST_TEST(release(nullptr) == cudaSuccess);
  void* const second = allocate(600'000);
  BOOST_TEST(error == cudaSuccess);
  // malloc() has the same heap.
  BOOST_REQUIRE(bool(launch(limit_kernels::release, {1, 1}, null_stream(), second)));
  BOOST_TEST(release(second) == cudaErrorInvalidValue);
}

#if !RAMIFY_ADDRESS_SANITIZER && !RAMIFY_THREAD_SANITIZER
// The heap cannot be opened if the process has as many mappings as the system allows.
BOOST_AUTO_TEST_CASE(a_launch_fails_if_the_mappings_run_out) {
  void* memory = nullptr;
  const auto allocate = [&] {
    return launch(limit_kernels::allocate, {1, 1}, null_stream(), &memory, std::size_t{100}).code();
  };
  BOOST_REQUIRE(allocate() == cudaSuccess);
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  constexpr std::size_t pages = std::size_t{1} << 22;  // more mappings than any usual limit
  void* const mapped =
      mmap(nullptr, pages * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  BOOST_REQUIRE(mapped != MAP_FAILED);
  std::size_t i = 1;
  while (i < pages && mprotect(static_cast<std::byte*>(mapped) + i * page, page, PROT_READ) == 0) {
    i += 2;
  }
  const cudaError_t refused = allocate();
  munmap(mapped, pages * page);
  BOOST_TEST(refused == cudaErrorMemoryAllocation);
  void* const first = memory;
  BOOST_REQUIRE(allocate() == cudaSuccess);
  for (void* const piece : {first, memory}) {
    BOOST_TEST(bool(launch(limit_kernels::release, {1, 1}, null_stream(), piece)));
  }
}
#endif

BOOST_AUTO_TEST_SUITE_END()
