// SPDX-License-Identifier: BSD-3-Clause
// Every CUDA built-in and call that the executor has. The table in device_runtime/README.md lists
// the names of this file; table_test.cmake compares them.
#include <boost/test/unit_test.hpp>
#include <ramify/cpu/cooperative_groups.hpp>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/launch.cuh>
#include <string>
#include <type_traits>
#include <vector>

using namespace ramify;
namespace cg = cooperative_groups;

// ---- a first CUDA program ----

namespace first_program {

__constant__ float factors[4];
__device__ int calls;
__managed__ int managed;

__device__ __forceinline__ float factor(int i) { return factors[i % 4]; }
__device__ __noinline__ float scaled(float value, int i) { return value * factor(i); }

__global__ void __maxnreg__(64) count_calls_from(int first) { calls = first; }

__global__ void __launch_bounds__(128)
    scale(const float* __restrict__ in, float* out, int n, const __grid_constant__ int offset) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x) + offset;
  if (i < n) out[i] = scaled(__ldg(&in[i]), i);
  if (threadIdx.x == 0) atomicAdd(&calls, 1);
}

}  // namespace first_program

// ---- kernels that use one group of built-ins each ----

namespace supported_kernels {

__global__ void atomics(unsigned* cells, double* sum, float* sum_of_floats) {
  atomicInc(&cells[0], 9u);
  atomicDec(&cells[1], 9u);
  atomicXor(&cells[2], 1u << threadIdx.x);
  atomicAdd(sum, 0.5);
  atomicAdd(sum_of_floats, 0.25f);
}

__global__ void reductions(int* out) {
  const int lane = int(threadIdx.x % 32);
  int* mine = out + threadIdx.x * 9;
  // The second warp has eight lanes.
  mine[0] = __reduce_add_sync(0xffffffffu, lane);
  mine[1] = __reduce_min_sync(0xffffffffu, lane - 5);
  mine[2] = __reduce_max_sync(0xffffffffu, lane);
  mine[3] = int(__reduce_and_sync(0xffffffffu, unsigned(lane) | 64u));
  mine[4] = int(__reduce_xor_sync(0xffffffffu, unsigned(lane)));
  int same = 0;
  mine[5] = int(__match_all_sync(0xffffffffu, 7, &same)) != 0 ? same : -1;
  mine[6] = int(__match_all_sync(0xffffffffu, lane, &same)) + same;
  mine[7] = int(__match_any_sync(0xffffffffu, 0));
  mine[8] = __activemask() >> lane & 1u;
}

__global__ void counting_barriers(int* out) {
  int* mine = out + threadIdx.x * 4;
  mine[0] = __syncthreads_count(threadIdx.x % 3 == 0);
  mine[1] = __syncthreads_and(threadIdx.x < 63) + 2 * __syncthreads_and(threadIdx.x < 64);
  mine[2] = __syncthreads_or(threadIdx.x > 63) + 2 * __syncthreads_or(threadIdx.x > 62);
  mine[3] = __syncthreads_count(1);
}

__global__ void tiles(int* out) {
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<8>(block);
  const int rank = int(tile.thread_rank());
  int* mine = out + block.thread_rank() * 12;
  mine[0] = tile.shfl(rank, 3);
  mine[1] = tile.shfl_up(rank, 1);
  mine[2] = tile.shfl_down(rank, 1);
  mine[3] = tile.shfl_xor(rank, 7);
  mine[4] = cg::reduce(tile, rank, cg::plus<int>());
  mine[5] =
      cg::reduce(tile, rank, cg::less<int>()) + 100 * cg::reduce(tile, rank, cg::greater<int>());
  mine[6] = int(tile.ballot(rank > 5));
  mine[7] = tile.any(rank == 7) + 2 * tile.all(rank < 7);
  mine[8] = int(tile.match_any(rank / 4));
  mine[9] = int(tile.meta_group_rank() * 100 + tile.meta_group_size());
  mine[10] = int(block.num_threads() * 1000 + tile.num_threads() * 10 + block.group_index().x);
  mine[11] = int(cg::this_grid().thread_rank() * 1000 + cg::this_grid().num_threads());
  tile.sync();
  block.sync();
}

__global__ void errors(cudaError_t* seen, const char** text) {
  float* memory = nullptr;
  seen[0] = cudaMalloc(&memory, ~std::size_t{0});
  seen[1] = cudaPeekAtLastError();
  *text = cudaGetErrorString(cudaGetLastError());
  seen[2] = cudaGetLastError();
  int devices = 0;
  seen[3] = cudaGetDeviceCount(&devices);
  seen[4] = cudaError_t(devices);
}

__global__ void times(long long* times) {
  times[0] = clock64();
  __nanosleep(1);
  times[1] = clock64();
  __threadfence();
  __threadfence_block();
  __threadfence_system();
}

__global__ void calls_the_host_function() { static_cast<void>(cudaDeviceSynchronize()); }
__global__ void resets_the_device() { static_cast<void>(cudaDeviceReset()); }
__global__ void copies_as_the_host(int* to, const int* from) {
  static_cast<void>(cudaMemcpy(to, from, sizeof *to, cudaMemcpyDefault));
}

}  // namespace supported_kernels

BOOST_AUTO_TEST_SUITE(supported)

BOOST_AUTO_TEST_CASE(a_first_program_runs) {
  using namespace first_program;
  constexpr int n = 1'000;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[std::size_t(i)] = float(i);
  const float chosen[4] = {1, 2, 3, 4};
  BOOST_TEST(cudaMemcpyToSymbol(factors, chosen, sizeof chosen) == cudaSuccess);

  float* in = nullptr;
  float* out = nullptr;
  BOOST_TEST(cudaMalloc(&in, n * sizeof(float)) == cudaSuccess);
  BOOST_TEST(cudaMallocManaged(&out, n * sizeof(float)) == cudaSuccess);
  BOOST_TEST(cudaMemset(out, 0, n * sizeof(float)) == cudaSuccess);
  BOOST_TEST(cudaMemcpy(in, host.data(), n * sizeof(float), cudaMemcpyHostToDevice) == cudaSuccess);
  cudaStream_t stream = nullptr;
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  BOOST_TEST(cudaStreamCreate(&stream) == cudaSuccess);
  BOOST_TEST(cudaEventCreate(&begin) == cudaSuccess);
  BOOST_TEST(cudaEventCreate(&end) == cudaSuccess);
  BOOST_TEST(cudaEventRecord(begin, stream) == cudaSuccess);
  BOOST_TEST(bool(launch(count_calls_from, {1, 1}, stream, 5)));
  BOOST_TEST(bool(launch(scale, {(n + 127) / 128, 128}, stream, in, out, n, 0)));
  BOOST_TEST(cudaEventRecord(end, stream) == cudaSuccess);
  BOOST_TEST(cudaEventSynchronize(end) == cudaSuccess);
  BOOST_TEST(cudaEventQuery(end) == cudaSuccess);
  BOOST_TEST(cudaStreamQuery(stream) == cudaSuccess);
  BOOST_TEST(cudaStreamSynchronize(stream) == cudaSuccess);
  BOOST_TEST(cudaDeviceSynchronize() == cudaSuccess);
  BOOST_TEST(cudaGetLastError() == cudaSuccess);
  float ms = -1;
  BOOST_TEST(cudaEventElapsedTime(&ms, begin, end) == cudaSuccess);
  BOOST_TEST(ms >= 0);
  BOOST_TEST(cudaMemcpy(host.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost) ==
             cudaSuccess);
  for (int i = 0; i < n; ++i) BOOST_REQUIRE(host[std::size_t(i)] == float(i) * float(i % 4 + 1));
  int counted = 0;
  BOOST_TEST(cudaMemcpyFromSymbol(&counted, calls, sizeof counted) == cudaSuccess);
  BOOST_TEST(counted == 5 + 8);
  managed = 3;
  BOOST_TEST(managed == 3);
  BOOST_TEST(cudaEventDestroy(begin) == cudaSuccess);
  BOOST_TEST(cudaEventDestroy(end) == cudaSuccess);
  BOOST_TEST(cudaStreamDestroy(stream) == cudaSuccess);
  BOOST_TEST(cudaFree(in) == cudaSuccess);
  BOOST_TEST(cudaFree(out) == cudaSuccess);
}

BOOST_AUTO_TEST_CASE(copies_to_a_symbol_stay_inside_it) {
  const float values[5] = {};
  using first_program::factors;
  BOOST_TEST(cudaMemcpyToSymbol(factors, values, 5 * sizeof(float)) == cudaErrorInvalidValue);
  BOOST_TEST(cudaMemcpyToSymbol(factors, values, 4, 16) == cudaErrorInvalidValue);
  const float last = 9;
  BOOST_TEST(cudaMemcpyToSymbol(factors, &last, 4, 12) == cudaSuccess);
  float read = 0;
  BOOST_TEST(cudaMemcpyFromSymbol(&read, factors, 4, 12) == cudaSuccess);
  BOOST_TEST(read == 9);
  BOOST_TEST(cudaMemcpyFromSymbol(&read, factors, 4, 13) == cudaErrorInvalidValue);
}

BOOST_AUTO_TEST_CASE(memory_of_all_kinds) {
  int* memory = nullptr;
  BOOST_TEST(cudaMallocHost(&memory, 40) == cudaSuccess);
  BOOST_TEST(cudaFreeHost(memory) == cudaSuccess);
  BOOST_TEST(cudaHostAlloc(&memory, 40, cudaHostAllocDefault) == cudaSuccess);
  BOOST_TEST(cudaFreeHost(memory) == cudaSuccess);
  BOOST_TEST(cudaMallocAsync(&memory, 40, nullptr) == cudaSuccess);
  BOOST_TEST(cudaMemsetAsync(memory, 0xff, 40) == cudaSuccess);
  int copy = 0;
  BOOST_TEST(cudaMemcpyAsync(&copy, memory, 4, cudaMemcpyDefault) == cudaSuccess);
  BOOST_TEST(copy == -1);
  BOOST_TEST(cudaFreeAsync(memory, nullptr) == cudaSuccess);
  void* untyped = nullptr;
  BOOST_TEST(cudaMalloc(&untyped, 40) == cudaSuccess);
  BOOST_TEST(cudaFree(untyped) == cudaSuccess);
  std::size_t free = 0;
  std::size_t total = 0;
  BOOST_TEST(cudaMemGetInfo(&free, &total) == cudaSuccess);
  BOOST_TEST(free > 0u);
  BOOST_TEST(total >= free);
}

BOOST_AUTO_TEST_CASE(there_is_one_device) {
  int value = -1;
  BOOST_TEST(cudaGetDeviceCount(&value) == cudaSuccess);
  BOOST_TEST(value == 1);
  BOOST_TEST(cudaGetDevice(&value) == cudaSuccess);
  BOOST_TEST(value == 0);
  BOOST_TEST(cudaSetDevice(0) == cudaSuccess);
  BOOST_TEST(cudaSetDevice(1) == cudaErrorInvalidDevice);
  cudaDeviceProp properties{};
  BOOST_TEST(cudaGetDeviceProperties(&properties, 1) == cudaErrorInvalidDevice);
  BOOST_TEST(cudaGetDeviceProperties(&properties, 0) == cudaSuccess);
  BOOST_TEST(std::string(properties.name) == "Ramify CPU executor");
  BOOST_TEST(properties.warpSize == 32);
  BOOST_TEST(properties.maxThreadsPerBlock == 1024);
  BOOST_TEST(properties.multiProcessorCount > 0);
  std::size_t limit = 0;
  BOOST_TEST(cudaDeviceGetLimit(&limit, cudaLimitStackSize) == cudaSuccess);
  BOOST_TEST(cudaDeviceSetLimit(cudaLimitStackSize, limit) == cudaSuccess);
  static_cast<void>(cudaGetLastError());
}

BOOST_AUTO_TEST_CASE(the_last_error_is_kept_until_it_is_read) {
  static_cast<void>(cudaGetLastError());
  float* memory = nullptr;
  BOOST_TEST(cudaMalloc(&memory, ~std::size_t{0}) == cudaErrorMemoryAllocation);
  BOOST_TEST(cudaPeekAtLastError() == cudaErrorMemoryAllocation);
  cudaError_t seen[5] = {};
  const char* text = nullptr;
  BOOST_TEST(bool(launch(supported_kernels::errors, {1, 1}, nullptr, seen, &text)));
  BOOST_TEST(seen[0] == cudaErrorMemoryAllocation);
  BOOST_TEST(seen[1] == cudaErrorMemoryAllocation);
  BOOST_TEST(std::string(text) == "out of memory");
  BOOST_TEST(seen[2] == cudaSuccess);
  BOOST_TEST(seen[3] == cudaSuccess);
  BOOST_TEST(int(seen[4]) == 1);
  // A thread of a grid has a last error of its own.
  BOOST_TEST(cudaGetLastError() == cudaErrorMemoryAllocation);
  BOOST_TEST(cudaGetLastError() == cudaSuccess);
  BOOST_TEST(std::string(cudaGetErrorName(cudaErrorInvalidDevice)) == "cudaErrorInvalidDevice");
}

BOOST_AUTO_TEST_CASE(a_kernel_must_not_make_calls_of_the_host) {
  const auto names = [](const char* call) {
    return [=](const cpu::rule_violation& v) {
      return v.broken() == cpu::rule::host_only_call &&
             std::string(v.what()).find(call) != std::string::npos;
    };
  };
  BOOST_CHECK_EXCEPTION(
      static_cast<void>(launch(supported_kernels::calls_the_host_function, {1, 1}, nullptr)),
      cpu::rule_violation, names("cudaDeviceSynchronize()"));
  BOOST_CHECK_EXCEPTION(
      static_cast<void>(launch(supported_kernels::resets_the_device, {1, 1}, nullptr)),
      cpu::rule_violation, names("cudaDeviceReset()"));
  int to = 1;
  const int from = 2;
  BOOST_CHECK_EXCEPTION(
      static_cast<void>(launch(supported_kernels::copies_as_the_host, {1, 1}, nullptr, &to, &from)),
      cpu::rule_violation, names("cudaMemcpy()"));
  BOOST_TEST(to == 1);
}

BOOST_AUTO_TEST_CASE(vector_types_have_the_sizes_of_cuda) {
  static_assert(sizeof(int2) == 8 && alignof(int2) == 8);
  static_assert(sizeof(float3) == 12 && alignof(float3) == 4);
  static_assert(sizeof(float4) == 16 && alignof(float4) == 16);
  static_assert(sizeof(double4) == 32 && alignof(double4) == 16);
  static_assert(sizeof(uchar4) == 4 && alignof(uchar4) == 4);
  static_assert(sizeof(longlong2) == 16 && alignof(ulonglong2) == 16);
  static_assert(std::is_same_v<decltype(char1::x), signed char>);
  const float4 v = make_float4(1, 2, 3, 4);
  BOOST_TEST(v.x + v.y * 10 + v.z * 100 + v.w * 1000 == 4321);
  const int2 pair = make_int2(-1, 2);
  BOOST_TEST(pair.x + pair.y == 1);
  BOOST_TEST(make_uint3(1, 2, 3).z == 3u);
  BOOST_TEST(make_double2(1, 2).y == 2);
  const dim3 shape = make_uint3(2, 3, 4);
  BOOST_TEST(shape.volume() == 24u);
  BOOST_TEST(uint3(shape).y == 3u);
  struct __align__(64) aligned {
    int value;
  };
  static_assert(alignof(aligned) == 64);
}

BOOST_AUTO_TEST_CASE(bits_are_those_of_a_gpu) {
  BOOST_TEST(__popcll(0xf0f00001'00000001ull) == 10);
  BOOST_TEST(__ffsll(1LL << 40) == 41);
  BOOST_TEST(__brev(0x80000001u) == 0x80000001u);
  BOOST_TEST(__brev(6u) == 0x60000000u);
  BOOST_TEST(__brevll(6ull) == 0x6000000000000000ull);
  BOOST_TEST(__funnelshift_r(0x80000001u, 0x12345678u, 4) == 0x88000000u);
  BOOST_TEST(__byte_perm(0x33221100u, 0x77665544u, 0x7520u) == 0x77552200u);
  BOOST_TEST(__byte_perm(0x000080ffu, 0u, 0xa981u) == 0x00ffff80u);
  BOOST_TEST(__umulhi(0xffffffffu, 16u) == 15u);
  BOOST_TEST(__mulhi(-1, 16) == -1);
  BOOST_TEST(__umul64hi(~0ull, 16ull) == 15ull);
  BOOST_TEST(__mul64hi(-1ll, 16ll) == -1ll);
  BOOST_TEST(__float_as_int(1.0f) == 0x3f800000);
  BOOST_TEST(__float_as_uint(-0.0f) == 0x80000000u);
  BOOST_TEST(__int_as_float(0x40000000) == 2.0f);
  BOOST_TEST(__uint_as_float(0xc0000000u) == -2.0f);
  BOOST_TEST(__double_as_longlong(1.0) == 0x3ff0000000000000ll);
  BOOST_TEST(__longlong_as_double(0x4000000000000000ll) == 2.0);
  BOOST_TEST(rsqrtf(4.0f) == 0.5f);
  BOOST_TEST(rsqrt(4.0) == 0.5);
  BOOST_TEST(__fdividef(1.0f, 4.0f) == 0.25f);
  BOOST_TEST(__saturatef(3.0f) + __saturatef(-3.0f) + __saturatef(0.5f) == 1.5f);
  BOOST_TEST(__expf(0.0f) + __logf(1.0f) + __sinf(0.0f) + __cosf(0.0f) + __tanf(0.0f) == 2.0f);
  BOOST_TEST(__log2f(8.0f) + __log10f(100.0f) + __powf(2.0f, 3.0f) == 13.0f);
}

BOOST_AUTO_TEST_CASE(more_atomics) {
  unsigned cells[3] = {8, 1, 0};
  double sum = 0;
  float sum_of_floats = 0;
  BOOST_TEST(
      bool(launch(supported_kernels::atomics, {1, 4}, nullptr, cells, &sum, &sum_of_floats)));
  BOOST_TEST(cells[0] == 2u);  // 9, 0, 1, 2
  BOOST_TEST(cells[1] == 7u);  // 0, 9, 8, 7
  BOOST_TEST(cells[2] == 15u);
  BOOST_TEST(sum == 2.0);
  BOOST_TEST(sum_of_floats == 1.0f);
}

BOOST_AUTO_TEST_CASE(warp_reductions_stop_at_the_end_of_the_block) {
  std::vector<int> out(40 * 9);
  BOOST_TEST(bool(launch(supported_kernels::reductions, {1, 40}, nullptr, out.data())));
  for (std::size_t t : {0u, 31u, 32u, 39u}) {
    const int* mine = &out[t * 9];
    const int lanes = t < 32 ? 32 : 8;
    BOOST_TEST_CONTEXT("thread " << t) {
      BOOST_TEST(mine[0] == lanes * (lanes - 1) / 2);
      BOOST_TEST(mine[1] == -5);
      BOOST_TEST(mine[2] == lanes - 1);
      BOOST_TEST(mine[3] == 64);
      BOOST_TEST(mine[4] == 0);
      BOOST_TEST(mine[5] == 1);
      BOOST_TEST(mine[6] == 0);
      BOOST_TEST(unsigned(mine[7]) == (t < 32 ? 0xffffffffu : 0xffu));
      BOOST_TEST(mine[8] == 1);
    }
  }
}

BOOST_AUTO_TEST_CASE(barriers_count) {
  std::vector<int> out(64 * 4);
  BOOST_TEST(bool(launch(supported_kernels::counting_barriers, {1, 64}, nullptr, out.data())));
  for (std::size_t t = 0; t < 64; ++t) {
    BOOST_TEST(out[t * 4] == 22);
    BOOST_TEST(out[t * 4 + 1] == 2);
    BOOST_TEST(out[t * 4 + 2] == 2);
    BOOST_TEST(out[t * 4 + 3] == 64);
  }
}

BOOST_AUTO_TEST_CASE(tiles_of_a_warp) {
  std::vector<int> out(32 * 12);
  BOOST_TEST(bool(launch(supported_kernels::tiles, {1, 32}, nullptr, out.data())));
  for (int t = 0; t < 32; ++t) {
    const int* mine = &out[std::size_t(t) * 12];
    const int rank = t % 8;
    BOOST_TEST_CONTEXT("thread " << t) {
      BOOST_TEST(mine[0] == 3);
      BOOST_TEST(mine[1] == (rank == 0 ? 0 : rank - 1));
      BOOST_TEST(mine[2] == (rank == 7 ? 7 : rank + 1));
      BOOST_TEST(mine[3] == 7 - rank);
      BOOST_TEST(mine[4] == 28);
      BOOST_TEST(mine[5] == 700);
      BOOST_TEST(mine[6] == 0xc0);
      BOOST_TEST(mine[7] == 1);
      BOOST_TEST(mine[8] == (rank < 4 ? 0x0f : 0xf0));
      BOOST_TEST(mine[9] == t / 8 * 100 + 4);
      BOOST_TEST(mine[10] == 32080);
      BOOST_TEST(mine[11] == t * 1000 + 32);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_clock_advances) {
  long long times[2] = {1, 0};
  BOOST_TEST(bool(launch(supported_kernels::times, {1, 1}, nullptr, times)));
  BOOST_TEST(times[1] >= times[0]);
}

BOOST_AUTO_TEST_SUITE_END()
