// SPDX-License-Identifier: BSD-3-Clause
// Pointers that the host passes to kernels: a warning for ordinary memory of the host alone.
#include <cstdio>
#include <cstdlib>

__device__ int counter;
__device__ int* allocated;

__global__ void add(int* sum, const int* values, int n) {
  for (int i = 0; i < n; ++i) *sum += values[i];
}
__global__ void add_range(int* sum, const int* from, const int* to) {
  for (; from != to; ++from) *sum += *from;
}
__global__ void allocate() {
  allocated = static_cast<int*>(malloc(sizeof(int)));
  *allocated = 5;
}
__global__ void call(int (*)(int), cudaStream_t, int*) {}
__global__ void parent(int* sum) {
  __shared__ int mine;  // the rule checker checks the launches by kernels
  mine = 0;
  add<<<1, 1>>>(sum, sum, 0);
}

int main() {
  constexpr int n = 100'000;
  int *device = nullptr, *managed = nullptr, *pinned = nullptr, *of_variable = nullptr;
  cudaMalloc(&device, n * sizeof(int));
  cudaMallocManaged(&managed, sizeof(int));
  cudaMallocHost(&pinned, sizeof(int));
  cudaMemset(device, 0, n * sizeof(int));
  *managed = *pinned = 1;
  cudaGetSymbolAddress(reinterpret_cast<void**>(&of_variable), counter);

  // No warning.
  add<<<1, 1>>>(device, managed, 1);
  add<<<1, 1>>>(device, pinned, 1);
  add<<<1, 1>>>(of_variable, device, 1);
  add_range<<<1, 1>>>(managed, device + 1, device + n);
  allocate<<<1, 1>>>();
  int* of_heap = nullptr;
  cudaMemcpyFromSymbol(&of_heap, allocated, sizeof of_heap);
  add<<<1, 1>>>(device, of_heap, 1);
  call<<<1, 1>>>(abs, nullptr, nullptr);
  parent<<<1, 1>>>(device);

  // A warning for each argument, once.
  int local = 1;
  int* const small = static_cast<int*>(calloc(1, sizeof(int)));
  int* const large = static_cast<int*>(calloc(n, sizeof(int)));
  for (int i = 0; i < 3; ++i) add<<<1, 1>>>(device, &local, 1);
  add<<<1, 1>>>(small, large, n);
  free(small);
  free(large);

  int sum = 0;
  cudaMemcpy(&sum, device, sizeof sum, cudaMemcpyDeviceToHost);
  printf("sum %d, %s\n", sum, cudaGetErrorString(cudaDeviceSynchronize()));
}
