// SPDX-License-Identifier: BSD-3-Clause
// What the translator refuses. refused.txt has the lines and the messages.
// clang-format off
#include <cuda_fp16.h>
#include <iostream>
#include <vector>

#if 0
texture<float, 2> not_compiled;
#endif
texture<float, 2> image;

template <class T>
struct pair { T a, b; };
template <class T>
__global__ void templated(T* p) { p[0] = 1; }
__global__ void kernel(int* p, int n) { *p = n; }

#define LAUNCH_ONE(k, ...) k<<<1, 1>>>(__VA_ARGS__)

__device__ void wait_for_children() {
  cudaDeviceSynchronize();
}

__global__ void prints(int* p) {
  std::cout << "kernel";
  std::vector<int> v(3);
  kernel<<<1, 1>>>(p);
  int sum;
  asm("add.u32 %0, %1, %2;" : "=r"(sum) : "r"(1), "r"(2));
  cudaMemcpy(p, &sum, 4, cudaMemcpyDefault);
}

__host__ __device__ int twice(int n) { return 2 * n; }

int main() {
  int* p = nullptr;
  LAUNCH_ONE(kernel, p);
  templated<<<1, 1>>>(p, 3, 4);
  kernel<<<pair<pair<int>>{1, 2}.a, 1>>>(p, (1, 2), pair<int>{3, 4}.b);
  kernel<<<1>>>(p, 1);
  kernel<<<>>>(p, 1);
  kernel<<<1, 1, 0, 0, 0>>>(p, 1);
  kernel<<<1, 1>>>;
  kernel<<<1, 1(p, 1);
  <<<1, 1>>>(p, 1);
  cudaLaunchKernel((void*)kernel, 1, 1, nullptr, 0, nullptr);
  std::cout << twice(3) << std::endl;
}
