// SPDX-License-Identifier: BSD-3-Clause
// Step 2 of the tutorial: the last block of each level launches the next level.
#include <exception>
#include <iostream>
#include <numeric>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/check.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/stream.cuh>
#include <vector>

using namespace ramify;
using number = unsigned long long;

constexpr unsigned tile = 256;  // numbers that one thread adds
constexpr unsigned threads = 32;

struct sum_state {
  number* buffers[2];
  unsigned levels;    // levels that are complete
  unsigned arrived;   // blocks of the level that have written their sums
  unsigned failures;  // launches that failed
};

__global__ void sum_level(const number* from, unsigned count, sum_state* state) {
  // 1. Sum the tile of this thread.
  number* const to = state->buffers[state->levels % 2];
  const unsigned begin = (blockIdx.x * threads + threadIdx.x) * tile;
  number sum = 0;
  for (unsigned i = begin; i < count && i < begin + tile; ++i) sum += from[i];
  if (begin < count) to[begin / tile] = sum;
  // 2. Join: all blocks arrive. The last one sees the sums of all blocks.
  __threadfence();
  __syncthreads();
  if (threadIdx.x != 0 || atomicAdd(&state->arrived, 1u) != gridDim.x - 1) return;
  __threadfence();
  // 3. Base case: one sum is left.
  state->arrived = 0;
  state->levels += 1;
  const unsigned sums = (count + tile - 1) / tile;
  if (sums == 1) return;
  // 4. Recurse: one thread of the grid launches the grid over the sums.
  const unsigned blocks = (sums + tile * threads - 1) / (tile * threads);
  if (!launch(sum_level, {blocks, threads}, tail_launch(), to, sums, state)) state->failures += 1;
}

int main() {
  try {
    constexpr unsigned n = 100'000;
    std::vector<number> values(n);
    std::iota(values.begin(), values.end(), number{1});
    const device_buffer<number> numbers(n, nullptr);
    const device_buffer<number> even(n, nullptr);
    const device_buffer<number> odd(n, nullptr);
    const device_buffer<sum_state> state(1, nullptr);
    const sum_state initial{{even.data(), odd.data()}, 0, 0, 0};
    check(
        cudaMemcpyAsync(numbers.data(), values.data(), n * sizeof(number), cudaMemcpyHostToDevice),
        "copying the numbers");
    check(cudaMemcpyAsync(state.data(), &initial, sizeof initial, cudaMemcpyHostToDevice),
          "copying the state");
    // The host launches the first level, and waits for it and for all grids after it.
    const unsigned blocks = (n + tile * threads - 1) / (tile * threads);
    check(launch(sum_level, {blocks, threads}, nullptr, numbers.data(), n, state.data()).code(),
          "launching the first level");
    sum_state last{};
    check(cudaMemcpyAsync(&last, state.data(), sizeof last, cudaMemcpyDeviceToHost), "reading");
    check(cudaStreamSynchronize(nullptr), "waiting");
    number sum = 0;
    check(cudaMemcpyAsync(&sum, last.buffers[(last.levels - 1) % 2], sizeof sum,
                          cudaMemcpyDeviceToHost),
          "reading the sum");
    check(cudaStreamSynchronize(nullptr), "waiting for the sum");
    std::cout << "sum: " << sum << ", levels: " << last.levels
              << ", failed launches: " << last.failures << '\n';
  } catch (const std::exception& e) {
    std::cerr << "error: " << e.what() << '\n';
    return 1;
  }
}
