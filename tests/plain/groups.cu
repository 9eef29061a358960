// SPDX-License-Identifier: BSD-3-Clause
// Shared memory of all kinds, cooperative groups, inline PTX, and malloc() in a kernel.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <stdio.h>

namespace cg = cooperative_groups;

extern __shared__ float of_file[];
__device__ int counter = 3;
__constant__ int factors[2];

template <class T>
__global__ void reverse(T* p) {
  extern __shared__ __align__(16) unsigned char bytes[];
  T* const mine = reinterpret_cast<T*>(bytes);
  __shared__ int count;
  mine[threadIdx.x] = p[threadIdx.x];
  if (threadIdx.x == 0) count = blockDim.x;
  __syncthreads();
  p[threadIdx.x] = mine[count - 1 - threadIdx.x];
}

__global__ void use_array_of_file(float* out) {
  short* const shorts = (short*)of_file;
  shorts[2 * threadIdx.x] = 0;
  of_file[threadIdx.x] = threadIdx.x * factors[1];
  __syncthreads();
  if (threadIdx.x == 0) *out = of_file[blockDim.x - 1];
}

static __device__ unsigned highest_bit(unsigned word) {
  unsigned bit;
  asm volatile("bfind.u32 %0, %1;" : "=r"(bit) : "r"(word));
  return bit;
}

// The even lanes of each warp, but the first, form a group.
__global__ void use_groups(unsigned* out) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<4> tile = cg::tiled_partition<4>(cg::tiled_partition<16>(block));
  out[block.thread_rank()] = cg::reduce(tile, threadIdx.x, cg::plus<unsigned>());
  if (threadIdx.x % 2 != 0 || threadIdx.x % 32 == 0) return;
  const cg::coalesced_group group = cg::coalesced_threads();
  const unsigned votes = group.ballot(threadIdx.x % 32 < 8);
  unsigned before;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(before));
  out[block.thread_rank()] =
      group.size() * 1000 + group.shfl(threadIdx.x, 1) * 100 + votes * 10 + highest_bit(before);
  cg::sync(group);
}

struct node {
  node* next;
  int value;
};
__global__ void build(node** list) {
  node* const n = (node*)malloc(sizeof(node));
  n->value = atomicAdd(&counter, 1);
  n->next = *list;
  *list = n;
}
__global__ void sum_and_free(node** list, int* sum) {
  while (*list != NULL) {
    node* const n = *list;
    *sum += n->value;
    *list = n->next;
    free(n);
  }
}

int main() {
  double* d;
  float* f;
  unsigned* u;
  node** list;
  cudaMallocManaged(&d, 8 * sizeof(double));
  cudaMallocManaged(&f, sizeof(float));
  cudaMallocManaged(&u, 40 * sizeof(unsigned));
  cudaMallocManaged(&list, sizeof(node*));
  const int values[2] = {1, 2};
  cudaMemcpyToSymbol(factors, values, sizeof values);
  for (int i = 0; i < 8; ++i) d[i] = i;

  reverse<<<1, 8, 8 * sizeof(double)>>>(d);
  use_array_of_file<<<1, 6, 6 * sizeof(float)>>>(f);
  use_groups<<<1, 40>>>(u);
  *list = NULL;
  int* sum;
  cudaMallocManaged(&sum, sizeof(int));
  *sum = 0;
  for (int i = 0; i < 4; ++i) build<<<1, 1>>>(list);
  // The heap of kernels is not the host's.
  node copy;
  printf("%s\n", cudaGetErrorString(cudaMemcpy(&copy, *list, sizeof copy, cudaMemcpyDefault)));
  sum_and_free<<<1, 1>>>(list, sum);
  cudaDeviceSynchronize();
  printf("%g %g, %g, %d\n%u %u %u %u %u\n", d[0], d[7], *f, *sum, u[0], u[1], u[2], u[30], u[34]);
}
