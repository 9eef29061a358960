// SPDX-License-Identifier: BSD-3-Clause
// CUDA built-ins on the executor: indices, shared memory, barriers, warps, atomics, collectives,
// the launch pool and the heap.
#include <algorithm>
#include <array>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cfenv>
#include <new>
#include <numeric>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/collectives.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/limits.cuh>
#include <ramify/runtime/shared.cuh>
#include <ramify/runtime/stream.cuh>
#include <set>
#include <string>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

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

// The frame of a thread that waits must not be used by another thread.
__global__ void note_frame(const void** frames, bool waits) {
  frames[threadIdx.x] = __builtin_frame_address(0);
  if (waits) __syncthreads();
}

#if defined(__x86_64__)
// Quotients that the default modes round up.
struct tenths {
  double sse;
  long double x87;
  bool operator==(const tenths&) const = default;
};
tenths divide_by_ten() {
  volatile double one = 1;  // the compiler must not compute or move the divisions
  volatile long double wide_one = 1;
  return {one / 10, wide_one / 10};
}

void round_down() { std::fesetround(FE_DOWNWARD); }
void round_sse_down() { _MM_SET_ROUNDING_MODE(_MM_ROUND_DOWN); }
void round_x87_down() {
  const unsigned short word = 0x77f;
  asm volatile("fldcw %0" ::"m"(word));
}

// The threads with an even index change their modes.
__global__ void note_modes(tenths* at_start, tenths* after_barrier, void (*change_modes)()) {
  at_start[threadIdx.x] = divide_by_ten();
  if (threadIdx.x % 2 == 0) change_modes();
  if (after_barrier == nullptr) return;
  __syncthreads();
  after_barrier[threadIdx.x] = divide_by_ten();
}
#endif

struct sort_failed {};
__global__ void sort_with_failing_comparison() {
  using sort = block_merge_sort<int, 32, 1>;
  __shared__ sort::TempStorage storage;
  int key[1] = {static_cast<int>(threadIdx.x)};
  sort(storage).Sort(key, [](int, int) -> bool { throw sort_failed(); });
}

__global__ void scan_block(unsigned* data, unsigned* total) {
  using scan = block_scan<unsigned, 96>;
  __shared__ scan::TempStorage storage;
  unsigned before = 0;
  unsigned sum = 0;
  scan(storage).ExclusiveSum(data[threadIdx.x], before, sum);
  data[threadIdx.x] = before;
  if (threadIdx.x == 0) *total = sum;
}

__global__ void scan_warps(unsigned* data, unsigned* totals) {
  using scan = warp_scan<unsigned>;
  __shared__ scan::TempStorage storage[2];
  unsigned before = 0;
  unsigned sum = 0;
  scan(storage[threadIdx.x / 32]).ExclusiveSum(data[threadIdx.x], before, sum);
  data[threadIdx.x] = before;
  totals[threadIdx.x] = sum;
}

// Appends the digits to a decimal number. The operator is not commutative, so the result shows the
// order of the threads.
__global__ void reduce_block(const unsigned* digits, unsigned long long* number, int valid) {
  using reduce = block_reduce<unsigned long long, 32>;
  __shared__ reduce::TempStorage storage;
  const auto join = [](unsigned long long a, unsigned long long b) { return a * 10 + b; };
  const unsigned long long joined = reduce(storage).Reduce(digits[threadIdx.x], join, valid);
  if (threadIdx.x == 0) *number = joined;
}

__global__ void sort_block(int* keys, char* values, int valid) {
  using sort = block_merge_sort<int, 32, 4, char>;
  __shared__ sort::TempStorage storage;
  int k[4];
  char v[4];
  for (int i = 0; i < 4; ++i) {
    k[i] = keys[threadIdx.x * 4 + i];
    v[i] = values[threadIdx.x * 4 + i];
  }
  sort(storage).Sort(
      k, v, [](int a, int b) { return a < b; }, valid, k[0]);
  for (int i = 0; i < 4; ++i) {
    keys[threadIdx.x * 4 + i] = k[i];
    values[threadIdx.x * 4 + i] = v[i];
  }
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

}  // namespace builtin_kernels

namespace {

const char* const builtin_schedules[] = {"parallel", "eager", "late", "random:1", "random:2"};

}  // namespace

BOOST_AUTO_TEST_SUITE(builtins)

BOOST_DATA_TEST_CASE(every_thread_runs_once, data::make(builtin_schedules), s) {
  const cpu::scoped_executor_config config(cpu::parse_executor_config(s));
  std::vector<int> hits(3 * 4 * 2 * 5 * 2 * 3);
  BOOST_REQUIRE(bool(launch(builtin_kernels::mark_indices, {dim3(3, 4, 2), dim3(5, 2, 3)},
                            null_stream(), hits.data())));
  BOOST_TEST(std::ranges::count(hits, 1) == std::ssize(hits));
}

BOOST_DATA_TEST_CASE(each_block_has_its_shared_memory, data::make(builtin_schedules), s) {
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

BOOST_DATA_TEST_CASE(warps_vote_and_shuffle, data::make(builtin_schedules), s) {
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

BOOST_AUTO_TEST_CASE(a_warp_scan_sums_its_own_lanes) {
  std::vector<unsigned> data(64);
  std::vector<unsigned> totals(64);
  std::iota(data.begin(), data.end(), 1u);
  BOOST_REQUIRE(bool(
      launch(builtin_kernels::scan_warps, {1, 64}, null_stream(), data.data(), totals.data())));
  for (unsigned i = 0; i < 64; ++i) {
    const unsigned lane = i % 32;
    const unsigned first = i - lane + 1;
    BOOST_TEST(data[i] == lane * first + lane * (lane - 1) / 2);
    BOOST_TEST(totals[i] == 32 * first + 31 * 16);
  }
}

BOOST_AUTO_TEST_CASE(a_block_reduction_keeps_the_order_of_the_threads) {
  std::vector<unsigned> digits(32);
  for (unsigned i = 0; i < 32; ++i) digits[i] = (i + 1) % 10;
  unsigned long long number = 0;
  BOOST_REQUIRE(bool(
      launch(builtin_kernels::reduce_block, {1, 32}, null_stream(), digits.data(), &number, 12)));
  BOOST_TEST(number == 123456789012ull);
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

BOOST_DATA_TEST_CASE(atomics_do_not_lose_updates, data::make(builtin_schedules), s) {
  const cpu::scoped_executor_config config(cpu::parse_executor_config(s));
  std::vector<unsigned> cells{0, 10'000, 0, 1'000, 0, 0, 0, 0, ~0u};
  BOOST_REQUIRE(bool(launch(builtin_kernels::atomics, {50, 64}, null_stream(), cells.data())));
  const std::vector<unsigned> expected{6'400, 6'800, 63, 0, ~0u, 1, 1, 3'200, 1u << 31};
  BOOST_TEST(cells == expected, boost::test_tools::per_element());
}

BOOST_DATA_TEST_CASE(atomics_in_shared_memory_have_the_same_results, data::make(builtin_schedules),
                     s) {
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

BOOST_AUTO_TEST_CASE(threads_that_do_not_wait_share_a_stack) {
  const void* frames[64];
  const auto different = [&](bool waits) {
    BOOST_REQUIRE(
        bool(launch(builtin_kernels::note_frame, {1, 64}, null_stream(), &frames[0], waits)));
    return std::set<const void*>(std::begin(frames), std::end(frames)).size();
  };
  BOOST_TEST(different(false) == 1u);
  BOOST_TEST(different(true) == 64u);
}

BOOST_DATA_TEST_CASE(an_exception_in_a_collective_reaches_the_host, data::make(builtin_schedules),
                     s) {
  const cpu::scoped_executor_config config(cpu::parse_executor_config(s));
  BOOST_CHECK_THROW(static_cast<void>(launch(builtin_kernels::sort_with_failing_comparison, {1, 32},
                                             null_stream())),
                    builtin_kernels::sort_failed);
}

BOOST_AUTO_TEST_CASE(a_block_scans) {
  std::vector<unsigned> values(96);
  std::iota(values.begin(), values.end(), 1u);
  unsigned total = 0;
  BOOST_REQUIRE(
      bool(launch(builtin_kernels::scan_block, {1, 96}, null_stream(), values.data(), &total)));
  BOOST_TEST(total == 96u * 97 / 2);
  for (unsigned i = 0; i < 96; ++i) BOOST_TEST(values[i] == i * (i + 1) / 2);
}

BOOST_AUTO_TEST_CASE(a_block_sorts_stably) {
  std::vector<int> keys(128);
  std::vector<char> values(128);
  for (int i = 0; i < 128; ++i) {
    keys[std::size_t(i)] = i * 37 % 10;
    values[std::size_t(i)] = char(i);
  }
  BOOST_REQUIRE(bool(launch(builtin_kernels::sort_block, {1, 32}, null_stream(), keys.data(),
                            values.data(), 101)));
  for (std::size_t i = 1; i < 101; ++i) {
    BOOST_TEST(keys[i - 1] <= keys[i]);
    if (keys[i - 1] == keys[i]) BOOST_TEST(values[i - 1] < values[i]);
    BOOST_TEST(keys[i] == int(values[i]) * 37 % 10);
  }
}

BOOST_AUTO_TEST_CASE(the_launch_pool_is_finite) {
  const launch_limits limits({.pending_launches = 100});
  int launched = 0;
  int refused = 0;
  int other = 0;
  const auto run = [&](const char* schedule) {
    launched = refused = other = 0;
    const cpu::scoped_executor_config config(cpu::parse_executor_config(schedule));
    BOOST_REQUIRE(bool(
        launch(builtin_kernels::flood, {1, 1}, null_stream(), 300, &launched, &refused, &other)));
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

BOOST_DATA_TEST_CASE(a_too_large_stack_is_an_exception, data::make(builtin_schedules), s) {
  const cpu::scoped_executor_config config(cpu::parse_executor_config(s));
  std::vector<int> runs(8);
  const auto run = [&] {
    return bool(launch(builtin_kernels::mark_indices, {2, 4}, null_stream(), runs.data()));
  };
  {
    const launch_limits limits({.stack_bytes = std::size_t{1} << 50});
    BOOST_CHECK_THROW(static_cast<void>(run()), std::bad_alloc);
  }
  BOOST_TEST(run());
  BOOST_TEST(runs == std::vector<int>(8, 1), boost::test_tools::per_element());
}

#if defined(__x86_64__)
// The host and half of the threads change their modes. No other thread may run with those.
BOOST_DATA_TEST_CASE(threads_start_with_the_default_floating_point_modes,
                     data::make(builtin_schedules), s) {
  using namespace builtin_kernels;
  const cpu::scoped_executor_config config(cpu::parse_executor_config(s));
  constexpr unsigned threads = 40;
  constexpr tenths rounded_up{0.1, 0.1L};
  for (const auto change_modes : {round_down, round_sse_down, round_x87_down}) {
    std::array<tenths, threads> at_start{};
    std::array<tenths, threads> at_second_start{};
    std::array<tenths, threads> after_barrier{};
    tenths of_host{};
    tenths of_host_at_end{};
    bool launched = false;
    std::thread([&] {  // a new thread creates its fibers, with its modes
      change_modes();
      of_host = divide_by_ten();
      launched = launch(note_modes, {1, threads}, null_stream(), at_start.data(),
                        after_barrier.data(), change_modes) &&
                 launch(note_modes, {1, threads}, null_stream(), at_second_start.data(),
                        static_cast<tenths*>(nullptr), change_modes);
      of_host_at_end = divide_by_ten();
    })
        .join();
    BOOST_TEST(launched);
    BOOST_TEST((of_host != rounded_up));
    BOOST_TEST((of_host_at_end == of_host));
    for (unsigned t = 0; t < threads; ++t) {
      BOOST_TEST_CONTEXT("thread " << t) {
        BOOST_TEST((at_start[t] == rounded_up));
        BOOST_TEST((at_second_start[t] == rounded_up));
        BOOST_TEST((after_barrier[t] == (t % 2 == 0 ? of_host : rounded_up)));
      }
    }
  }
}
#endif

BOOST_AUTO_TEST_CASE(the_heap_is_finite) {
  const launch_limits limits({.malloc_heap_bytes = 1'000'000});
  const auto allocate = [](std::size_t bytes) {
    void* memory = nullptr;
    BOOST_REQUIRE(bool(launch(builtin_kernels::allocate, {1, 1}, null_stream(), &memory, bytes)));
    return memory;
  };
  void* first = allocate(600'000);
  BOOST_TEST(first != nullptr);
  BOOST_TEST(allocate(600'000) == nullptr);
  BOOST_TEST(allocate(~std::size_t{0}) == nullptr);
  BOOST_REQUIRE(bool(launch(builtin_kernels::release, {1, 1}, null_stream(), first)));
  void* second = allocate(600'000);
  BOOST_TEST(second != nullptr);
  BOOST_REQUIRE(bool(launch(builtin_kernels::release, {1, 1}, null_stream(), second)));
}

BOOST_AUTO_TEST_SUITE_END()
