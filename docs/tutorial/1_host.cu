// SPDX-License-Identifier: BSD-3-Clause
// Step 1 of the tutorial: the host launches one grid for each level of a sum.
#include <exception>
#include <iostream>
#include <numeric>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/check.cuh>
#include <ramify/runtime/launch.cuh>
#include <vector>

using namespace ramify;
using number = unsigned long long;

constexpr unsigned tile = 256;  // numbers that one thread adds

__global__ void sum_level(const number* from, number* to, unsigned count) {
  const unsigned begin = (blockIdx.x * blockDim.x + threadIdx.x) * tile;
  if (begin >= count) return;
  number sum = 0;
  for (unsigned i = begin; i < count && i < begin + tile; ++i) sum += from[i];
  to[begin / tile] = sum;
}

number sum(const number* numbers, unsigned n, number* (&buffers)[2]) {
  const number* from = numbers;
  unsigned count = n;
  for (unsigned level = 0; count > 1 || level == 0; ++level) {
    number* const to = buffers[level % 2];
    const unsigned sums = (count + tile - 1) / tile;
    check(launch(sum_level, {(sums + 31) / 32, 32}, nullptr, from, to, count).code(), "a level");
    from = to;
    count = sums;
  }
  number result = 0;
  check(cudaMemcpyAsync(&result, from, sizeof result, cudaMemcpyDeviceToHost), "reading");
  check(cudaStreamSynchronize(nullptr), "waiting");
  return result;
}

int main() {
  try {
    constexpr unsigned n = 100'000;
    std::vector<number> values(n);
    std::iota(values.begin(), values.end(), number{1});
    const device_buffer<number> numbers(n, nullptr);
    const device_buffer<number> even(n, nullptr);
    const device_buffer<number> odd(n, nullptr);
    check(
        cudaMemcpyAsync(numbers.data(), values.data(), n * sizeof(number), cudaMemcpyHostToDevice),
        "copying the numbers");
    number* buffers[2] = {even.data(), odd.data()};
    std::cout << "sum: " << sum(numbers.data(), n, buffers) << '\n';
  } catch (const std::exception& e) {
    std::cerr << "error: " << e.what() << '\n';
    return 1;
  }
}
