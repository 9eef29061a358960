// SPDX-License-Identifier: BSD-3-Clause
// A parent, a child, and a grid after the child, by launches without Ramify's headers.
#include <stdio.h>

__global__ void child() { printf("Hello "); }

__global__ void after() { printf("World!\n"); }

__global__ void parent() {
  child<<<1, 1>>>();
  if (cudaSuccess != cudaGetLastError()) {
    return;
  }
  after<<<1, 1, 0, cudaStreamTailLaunch>>>();
}

int main() {
  parent<<<1, 1>>>();
  if (cudaSuccess != cudaGetLastError()) {
    return 1;
  }
  return cudaSuccess == cudaDeviceSynchronize() ? 0 : 2;
}
