// SPDX-License-Identifier: BSD-3-Clause
// Shuffles, shared memory, copies and fills in kernels, and arguments of kernels.
#include <boost/test/unit_test.hpp>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/shared.cuh>
#include <ramify/runtime/stream.cuh>
#include <vector>

#include "device_vectors.cuh"

namespace tests::inline RAMIFY_BUILD {
namespace {

// Sums 64 numbers: in a warp by shuffles, across warps in dynamic shared memory.
__global__ void sum_numbers(int* out) {
  int* sums = &dynamic_shared<int>();
  int sum = static_cast<int>(threadIdx.x + blockIdx.x);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(full_warp_mask, sum, step);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = sums[0] + sums[1];
}

// It fills with zeros only: on an H200 (driver 580.159) a fill by a kernel ignores its value.
__global__ void copy_and_fill(int* memory) {
  const device_stream stream;
  bool good = cudaMemcpyAsync(memory + 2, memory, 2 * sizeof(int), cudaMemcpyDeviceToDevice,
                              stream.get()) == cudaSuccess;
  good = good && cudaMemcpyAsync(memory + 4, memory + 3, sizeof(int), cudaMemcpyDeviceToDevice,
                                 stream.get()) == cudaSuccess;
  good = good && cudaMemsetAsync(memory, 0, sizeof(int), stream.get()) == cudaSuccess;
  if (!good) memory[5] = 1;
}

struct narrow {
  int value;
};
/// It has members beyond those of its base, from which it can be converted.
struct wide : narrow {
  int more[8];
  __host__ __device__ wide(const narrow& from) : narrow(from), more{} { more[7] = from.value + 1; }
};
__global__ void read_converted(int* out, wide argument) { *out = argument.more[7]; }

}  // namespace

BOOST_AUTO_TEST_SUITE(runtime)

BOOST_AUTO_TEST_CASE(arguments_are_converted_to_the_types_of_parameters) {
  const auto out = zeros<int>(1);
  check(launch(read_converted, {1, 1}, nullptr, out.data(), narrow{3}).code(), "launching");
  BOOST_TEST(download(out)[0] == 4);
}

BOOST_AUTO_TEST_CASE(warps_and_dynamic_shared_memory) {
  const auto out = zeros<int>(5);
  check(launch(sum_numbers, {5, 64, 2 * sizeof(int)}, nullptr, out.data()).code(), "launching");
  const std::vector<int> expected{2016, 2080, 2144, 2208, 2272};
  BOOST_TEST(download(out) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(copies_and_fills_in_a_kernel) {
  const auto memory = upload(std::vector<int>{7, 8, 0, 0, 0, 0});
  check(launch(copy_and_fill, {1, 1}, nullptr, memory.data()).code(), "launching");
  const std::vector<int> expected{0, 8, 7, 8, 8, 0};
  BOOST_TEST(download(memory) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tests::inline RAMIFY_BUILD
