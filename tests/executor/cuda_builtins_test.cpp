// SPDX-License-Identifier: BSD-3-Clause
// CUDA built-ins on the executor: indices, shared memory, barriers, warps and atomics.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <numeric>
#include <ramify/cpu/cooperative_groups.hpp>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/shared.cuh>
#include <ramify/runtime/stream.cuh>
#include <set>
#include <string>
#include <vector>

#include "schedules.hpp"

using namespace ramify;
namespace data = boost::unit_test::data;

namespace builtin_kernels {

__global__ void mark_indices(int* hits) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  atomicAdd(&hits[block * blockDim.x * blockDim.y * blockDim.z + thread], 1);
}

__global__ void reverse_in_shared_memory(int* data) {
  __shared__ int copy[128];
  copy[threadIdx.x] = data[blockIdx.x * 128 + threadIdx.x];
  __syncthreads();
  data[blockIdx.x * 128 + threadIdx.x] = copy[127 - threadIdx.x];
}

// Without the barrier the result depends on which thread runs first.
__global__ void reverse_without_barrier(int* data) {
  int* copy = &dynamic_shared<int>();
  copy[threadIdx.x] = data[threadIdx.x];
  data[threadIdx.x] = copy[blockDim.x - 1 - threadIdx.x];
}

__global__ void count_zeros_in_shared_memory(int* zeros) {
  if (dynamic_shared<int>() == 0) atomicAdd(zeros, 1);
}

// The lanes of each warp but every fifth form two groups, which run different code.
__global__ void coalesced(unsigned* out) {
  const unsigned lane = threadIdx.x % 32;
  if (lane % 5 == 0) return;
  const bool is_even = lane % 2 == 0;
  const auto group =
      is_even ? cooperative_groups::coalesced_threads() : cooperative_groups::coalesced_threads();
  const unsigned last = group.shfl(lane, group.size() - 1);
  const unsigned before = group.shfl_up(lane, 1);
  group.sync();
  out[threadIdx.x] = group.size() + 100 * group.thread_rank() + 10000 * last + 1000000 * before;
}

__global__ void warp_functions(unsigned* out) {
  const unsigned lane = threadIdx.x % 32;
  unsigned* mine = out + threadIdx.x * 9;
  mine[0] = __ballot_sync(0xffffffffu, lane % 3 == 0);
  mine[1] =
      unsigned(__any_sync(0xffffffffu, lane == 31)) + 2u * unsigned(__all_sync(0xffffffffu, 1));
  mine[2] = __shfl_sync(0xffffffffu, threadIdx.x, 5);
  mine[3] = __shfl_up_sync(0xffffffffu, lane, 1);
  mine[4] = __shfl_down_sync(0xffffffffu, lane, 2, 8);
  mine[5] = __shfl_xor_sync(0xffffffffu, lane, 1);
  mine[6] = __match_any_sync(0xffffffffu, lane / 8);
  if (lane < 16) mine[7] = unsigned(__shfl_sync(0xffffu, double(lane), 3, 16));
  mine[8] = __reduce_or_sync(0xffffffffu, threadIdx.x % 3 == 0 ? threadIdx.x : 0);
  __syncwarp();
}

__global__ void atomics(unsigned* cells) {
  atomicAdd(&cells[0], 2u);
  atomicSub(&cells[1], 1u);
  atomicMax(&cells[2], threadIdx.x);
  atomicMin(&cells[3], threadIdx.x);
  atomicOr(&cells[4], 1u << threadIdx.x % 32);
  atomicAnd(&cells[8], ~(1u << threadIdx.x % 31));
  if (atomicExch(&cells[5], 1u) == 0) atomicAdd(&cells[6], 1u);
  unsigned seen = atomicAdd(&cells[7], 0u);
  while (true) {
    const unsigned before = atomicCAS(&cells[7], seen, seen + 1);
    if (before == seen) break;
    seen = before;
  }
}

// The same operations on dynamic shared memory, which only one operating-system thread accesses.
__global__ void atomics_in_shared_memory(unsigned* cells, int count) {
  unsigned* const copy = &dynamic_shared<unsigned>();
  if (threadIdx.x == 0) {
    for (int i = 0; i < count; ++i) copy[i] = cells[i];
  }
  __syncthreads();
  for (int repeat = 0; repeat < 50; ++repeat) atomics(copy);
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 0; i < count; ++i) cells[i] = copy[i];
}

struct wrapped_values {
  int returned;
  int added;
  int subtracted;
  unsigned incremented;
};
__global__ void atomics_that_wrap_around(wrapped_values* out) {
  wrapped_values& shared = dynamic_shared<wrapped_values>();
  shared = {0, 2'147'483'647, -2'147'483'647 - 1, 7};
  shared.returned = atomicAdd(&shared.added, 1);
  atomicSub(&shared.subtracted, 1);
  atomicInc(&shared.incremented, 7u);
  *out = shared;
}

// Notes the order of the threads at the start, after a barrier of the block and after one of the
// warp.
__global__ void note_order(unsigned* count, char* order) {
  const char name = static_cast<char>('a' + threadIdx.x);
  order[atomicAdd(count, 1u)] = name;
  __syncthreads();
  order[atomicAdd(count, 1u)] = name;
  __syncwarp();
  order[atomicAdd(count, 1u)] = name;
}

}  // namespace builtin_kernels

BOOST_AUTO_TEST_SUITE(builtins)

BOOST_DATA_TEST_CASE(every_thread_runs_once, data::make(tests::main_schedules), s) {
  const cpu::scoped_executor_config config(cpu::parse_executor_config(s));
  std::vector<int> hits(3 * 4 * 2 * 5 * 2 * 3);
  BOOST_REQUIRE(bool(launch(builtin_kernels::mark_indices, {dim3(3, 4, 2), dim3(5, 2, 3)},
                            null_stream(), hits.data())));
  BOOST_TEST(std::ranges::count(hits, 1) == std::ssize(hits));
}

BOOST_DATA_TEST_CASE(each_block_has_its_shared_memory, data::make(tests::main_schedules), s) {
  const cpu::scoped_executor_config config(cpu::parse_executor_config(s));
  std::vector<int> values(128 * 20);
  std::iota(values.begin(), values.end(), 0);
  BOOST_REQUIRE(bool(
      launch(builtin_kernels::reverse_in_shared_memory, {20, 128}, null_stream(), values.data())));
  for (int i = 0; i < 128 * 20; ++i) {
    BOOST_REQUIRE(values[std::size_t(i)] == i / 128 * 128 + 127 - i % 128);
  }
}

// Without the barrier the result is wrong under at least one schedule.
BOOST_AUTO_TEST_CASE(a_missing_barrier_is_visible) {
  bool wrong = false;
  for (int seed = 0; seed < 10 && !wrong; ++seed) {
    const cpu::scoped_executor_config config(
        {.order = cpu::schedule::random, .seed = std::uint64_t(seed)});
    std::vector<int> values(64);
    std::iota(values.begin(), values.end(), 0);
    BOOST_REQUIRE(bool(launch(builtin_kernels::reverse_without_barrier, {1, 64, 64 * sizeof(int)},
                              null_stream(), values.data())));
    wrong = values[0] != 63 || values[63] != 0;
  }
  BOOST_TEST(wrong);
}

BOOST_AUTO_TEST_CASE(shared_memory_is_not_cleared) {
  int zeros = 0;
  BOOST_REQUIRE(bool(launch(builtin_kernels::count_zeros_in_shared_memory, {4, 32, sizeof(int)},
                            null_stream(), &zeros)));
  BOOST_TEST(zeros == 0);
}

BOOST_DATA_TEST_CASE(warps_vote_and_shuffle, data::make(tests::main_schedules), s) {
  const cpu::scoped_executor_config config(cpu::parse_executor_config(s));
  std::vector<unsigned> out(64 * 9);
  BOOST_REQUIRE(bool(launch(builtin_kernels::warp_functions, {1, 64}, null_stream(), out.data())));
  for (unsigned t = 0; t < 64; ++t) {
    const unsigned lane = t % 32;
    const unsigned* mine = &out[t * 9];
    BOOST_TEST_CONTEXT("thread " << t) {
      BOOST_TEST(mine[0] == 0x49249249u);
      BOOST_TEST(mine[1] == 3u);
      BOOST_TEST(mine[2] == t / 32 * 32 + 5);
      BOOST_TEST(mine[3] == (lane == 0 ? 0 : lane - 1));
      BOOST_TEST(mine[4] == (lane % 8 < 6 ? lane + 2 : lane));
      BOOST_TEST(mine[5] == (lane ^ 1u));
      BOOST_TEST(mine[6] == 0xffu << lane / 8 * 8);
      if (lane < 16) BOOST_TEST(mine[7] == 3u);
      BOOST_TEST(mine[8] == (t < 32 ? 31u : 63u));  // 3 | ... | 30, and 33 | ... | 63
    }
  }
}

BOOST_AUTO_TEST_CASE(bits_are_counted_as_on_a_gpu) {
  BOOST_TEST(__popc(0xf0f00001u) == 9);
  BOOST_TEST(__ffs(0) == 0);
  BOOST_TEST(__ffs(0x50) == 5);
  BOOST_TEST(__clz(0) == 32);
  BOOST_TEST(__clz(1) == 31);
  BOOST_TEST(__clz(-1) == 0);
  BOOST_TEST(__clzll(0) == 64);
  BOOST_TEST(__clzll(1LL << 40) == 23);
  BOOST_TEST(__funnelshift_l(0x80000001u, 0x12345678u, 4) == 0x23456788u);
  BOOST_TEST(__funnelshift_l(1u, 2u, 0) == 2u);
  BOOST_TEST(min(3, -2) == -2);
  BOOST_TEST(max(3u, 7u) == 7u);
}

BOOST_DATA_TEST_CASE(atomics_do_not_lose_updates, data::make(tests::main_schedules), s) {
  const cpu::scoped_executor_config config(cpu::parse_executor_config(s));
  std::vector<unsigned> cells{0, 10'000, 0, 1'000, 0, 0, 0, 0, ~0u};
  BOOST_REQUIRE(bool(launch(builtin_kernels::atomics, {50, 64}, null_stream(), cells.data())));
  const std::vector<unsigned> expected{6'400, 6'800, 63, 0, ~0u, 1, 1, 3'200, 1u << 31};
  BOOST_TEST(cells == expected, boost::test_tools::per_element());
}

BOOST_DATA_TEST_CASE(atomics_in_shared_memory_have_the_same_results,
                     data::make(tests::main_schedules), s) {
  const cpu::scoped_executor_config config(cpu::parse_executor_config(s));
  std::vector<unsigned> cells{0, 10'000, 0, 1'000, 0, 0, 0, 0, ~0u};
  BOOST_REQUIRE(bool(launch(builtin_kernels::atomics_in_shared_memory,
                            {1, 64, cells.size() * sizeof(unsigned)}, null_stream(), cells.data(),
                            int(cells.size()))));
  const std::vector<unsigned> expected{6'400, 6'800, 63, 0, ~0u, 1, 1, 3'200, 1u << 31};
  BOOST_TEST(cells == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(atomics_in_shared_memory_wrap_around) {
  builtin_kernels::wrapped_values out{};
  BOOST_REQUIRE(bool(
      launch(builtin_kernels::atomics_that_wrap_around, {1, 1, sizeof out}, null_stream(), &out)));
  BOOST_TEST(out.returned == 2'147'483'647);
  BOOST_TEST(out.added == -2'147'483'647 - 1);
  BOOST_TEST(out.subtracted == 2'147'483'647);
  BOOST_TEST(out.incremented == 0u);
}

// Otherwise tests with random schedules would not find races between the threads of a block.
BOOST_AUTO_TEST_CASE(random_schedules_run_the_threads_in_every_order) {
  std::set<std::string> orders[3];
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const cpu::scoped_executor_config config({.order = cpu::schedule::random, .seed = seed});
    unsigned count = 0;
    char order[12];
    BOOST_REQUIRE(
        bool(launch(builtin_kernels::note_order, {1, 4}, null_stream(), &count, &order[0])));
    for (int part = 0; part < 3; ++part) orders[part].emplace(order + part * 4, 4);
  }
  for (const auto& of_part : orders) BOOST_TEST(of_part.size() == 24u);
}

BOOST_AUTO_TEST_CASE(the_type_of_memory_is_that_of_its_allocation) {
  const auto type_of = [](const void* pointer) {
    cudaPointerAttributes found{};
    BOOST_TEST(cudaPointerGetAttributes(&found, pointer) == cudaSuccess);
    return found.type;
  };
  char* device = nullptr;
  char* pinned = nullptr;
  char* managed = nullptr;
  const char host = 0;
  BOOST_TEST(cudaMalloc(&device, 100) == cudaSuccess);
  BOOST_TEST(cudaMallocHost(&pinned, 100) == cudaSuccess);
  BOOST_TEST(cudaMallocManaged(&managed, 100) == cudaSuccess);
  BOOST_TEST(type_of(device) == cudaMemoryTypeDevice);
  BOOST_TEST(type_of(device + 99) == cudaMemoryTypeDevice);
  BOOST_TEST(type_of(device + 100) == cudaMemoryTypeUnregistered);
  BOOST_TEST(type_of(pinned) == cudaMemoryTypeHost);
  BOOST_TEST(type_of(managed) == cudaMemoryTypeManaged);
  BOOST_TEST(type_of(&host) == cudaMemoryTypeUnregistered);
  BOOST_TEST(type_of(nullptr) == cudaMemoryTypeUnregistered);
  BOOST_TEST(cudaFree(device) == cudaSuccess);
  BOOST_TEST(cudaFreeHost(pinned) == cudaSuccess);
  BOOST_TEST(cudaFree(managed) == cudaSuccess);
  BOOST_TEST(type_of(device) == cudaMemoryTypeUnregistered);
}

BOOST_AUTO_TEST_CASE(classes_of_numbers_need_no_namespace) {
  BOOST_TEST((isfinite(1.0f) && !isfinite(INFINITY) && isinf(-INFINITY) && isnan(double(NAN))));
}

BOOST_DATA_TEST_CASE(coalesced_threads_are_the_lanes_that_can_arrive,
                     data::make(tests::main_schedules), order) {
  const cpu::scoped_executor_config with(cpu::parse_executor_config(order));
  std::vector<unsigned> out(50);
  check(launch(builtin_kernels::coalesced, {1, 50}, nullptr, out.data()).code(), "coalesced");
  for (unsigned t = 0; t < 50; ++t) {
    std::vector<unsigned> lanes;  // of the group of t
    unsigned rank = 0;
    for (unsigned other = t / 32 * 32; other < std::min(50u, t / 32 * 32 + 32); ++other) {
      const unsigned lane = other % 32;
      if (lane % 5 == 0 || lane % 2 != t % 32 % 2) continue;
      if (other == t) rank = unsigned(lanes.size());
      lanes.push_back(lane);
    }
    const unsigned expected = unsigned(lanes.size()) + 100 * rank + 10000 * lanes.back() +
                              1000000 * lanes[rank - (rank > 0)];
    BOOST_TEST(out[t] == (t % 32 % 5 == 0 ? 0 : expected));
  }
}

BOOST_AUTO_TEST_SUITE_END()
