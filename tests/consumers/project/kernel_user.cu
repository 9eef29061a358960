// SPDX-License-Identifier: BSD-3-Clause
// Sorts a user's own type in a user's own order; compiled by nvcc, or by a C++ compiler for the CPU
// executor.
#include <iostream>
#include <ramify/quicksort.cuh>
#include <ramify/runtime/stream.cuh>
#include <vector>

struct star {
  float brightness;
  int catalogue_number;
};

struct brightest_first {
  __host__ __device__ bool operator()(const star& a, const star& b) const {
    return a.brightness > b.brightness;
  }
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
  constexpr int n = 100'000;
  std::vector<star> stars(n);
  for (int i = 0; i < n; ++i) stars[i] = {static_cast<float>(i * 7919 % n), i};

  const ramify::host_stream stream;
  const ramify::device_buffer<star> sky(n, stream.get());
  const auto copy = [&](void* to, const void* from) {
    ramify::check(cudaMemcpyAsync(to, from, n * sizeof(star), cudaMemcpyDefault, stream.get()),
                  "copying stars");
  };
  copy(sky.data(), stars.data());
  const ramify::quicksort_report report =
      ramify::quicksort(sky.data(), n, brightest_first{}, stream.get());
  copy(stars.data(), sky.data());
  stream.synchronize();

  std::cout << report;
  for (int i = 1; i < n; ++i) {
    if (brightest_first{}(stars[i], stars[i - 1])) return 1;
  }
  if (!ramify::device_launch_available && report.taken != ramify::route::flat) return 1;
#if defined(CONSUMER_BOTH)
  return use_facade();
#else
  return 0;
#endif
}
