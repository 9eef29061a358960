// SPDX-License-Identifier: BSD-3-Clause
// Traverses a tree that the user defines by functors. Compiled by nvcc, or by a C++ compiler for
// the CPU executor.
#include <iostream>
#include <ramify/traverse.cuh>

// A node is a number. Its children are its two halves.
struct halves {
  __host__ __device__ unsigned degree(unsigned n) const { return n < 2 ? 0 : 2; }
  __host__ __device__ unsigned child(unsigned n, unsigned i) const { return (n + i) / 2; }
};
struct one_each {
  __host__ __device__ unsigned operator()(unsigned, unsigned) const { return 1; }
};
struct sum {
  __host__ __device__ unsigned operator()(unsigned a, unsigned b) const { return a + b; }
};

#if defined(CONSUMER_BOTH)
int use_facade();
#endif

int main() {
#if RAMIFY_ON_CUDA
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::cout << "needs a GPU\n";
    return 77;
  }
#endif
  constexpr unsigned n = 100'000;
  const auto found = ramify::traverse(n, halves{}, one_each{}, sum{}, 0u);
  std::cout << found.report;
  if (found.value != 2 * n - 1) return 1;
  if (!ramify::device_launch_available && found.report.taken != ramify::route::flat) return 1;
#if defined(CONSUMER_BOTH)
  return use_facade();
#else
  return 0;
#endif
}
