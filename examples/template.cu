// SPDX-License-Identifier: BSD-3-Clause
// A first kernel of your own. Copy this file, change it, compile it and run it:
//
//     cp examples/template.cu my.cu
//     examples/try.sh my.cu
//
// The parent grid has two blocks. In each block one thread launches a child grid of four threads.
#include <exception>
#include <iostream>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/check.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/stream.cuh>

using namespace ramify;

struct results {
  int threads;   // threads of children that ran
  int failures;  // launches that failed
};

__global__ void child(results* r) { atomicAdd(&r->threads, 1); }

__global__ void parent(results* r) {
  if (threadIdx.x != 0) return;
  const auto launched = launch(child, {1, 4}, fire_and_forget(), r);
  if (!launched) atomicAdd(&r->failures, 1);
}

int main() {
  try {
    const device_buffer<results> memory(1, nullptr);
    check(cudaMemsetAsync(memory.data(), 0, sizeof(results)), "clearing the results");
    check(launch(parent, {2, 32}, nullptr, memory.data()).code(), "launching the parent");
    results r{};
    check(cudaMemcpyAsync(&r, memory.data(), sizeof r, cudaMemcpyDeviceToHost), "reading");
    check(cudaStreamSynchronize(nullptr), "waiting for the kernels");
    std::cout << r.threads << " threads of children ran, " << r.failures << " launches failed\n";
  } catch (const std::exception& e) {
    std::cerr << "error: " << e.what() << '\n';
    return 1;
  }
}
