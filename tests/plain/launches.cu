// SPDX-License-Identifier: BSD-3-Clause
// Launches in all forms: by templates, overloads, pointers, members, macros and lambdas, by the
// host and by kernels, with two to four numbers.
// clang-format off
#include <cuda_runtime.h>
#include <device_launch_parameters.h>

#include <cstdio>
#include <iostream>

#define LAUNCH(kernel, threads, ...)     \
  kernel<<<(threads + 31) / 32,          \
           32>>>(__VA_ARGS__)
#define CHECK(call)                                                     \
  do {                                                                  \
    const cudaError_t error = (call);                                   \
    if (error != cudaSuccess) {                                         \
      printf("line %d: %s\n", __LINE__, cudaGetErrorString(error));     \
    }                                                                   \
  } while (0)

template <class T>
struct size_of {
  static constexpr int value = sizeof(T);
};
template <class T>
struct wrap {
  T wrapped;
};

// None of these is a launch.
const char* const text = R"x(k<<<1, 1>>>(p); // " )x" "'<<<'";
const char sign = '<'; /* k<<<1, 1>>>(p); */  // k<<<1, 1
struct list {
  template <class T>
  list& operator<<(T) { return *this; }
  void call() { this->operator<<<int>(1); }
  int size = 1'000;
};

__global__ void add(int* p, int by);  // a declaration whose definition has other names

template <class T>
__global__ void fill(T* p, T value, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = value;
}

template <int count, class T>
__global__ void __launch_bounds__(256) scale(T* p, T by) {
  if (threadIdx.x < count) p[threadIdx.x] *= by;
}

__global__ void add(int* target, int b) { atomicAdd(target, b); }

namespace outer {
namespace inner {
static __global__ void add_two(int* p, int by = 2) { atomicAdd(p, by); }
__global__ void overloaded(int* p) { atomicAdd(p, 20); }
__global__ void overloaded(int* p, int by) { atomicAdd(p, by); }
}  // namespace inner
}  // namespace outer

struct kernels {
  void (*add)(int*, int);
};

__global__ void parent(int* p, unsigned n) {
  if (threadIdx.x != 0) return;
  if (n > 0)
    outer::inner::add_two<<<1, 1>>>(p);
  else
    outer::inner::add_two<<<1, 1>>>(p, 7);
  for (int i = 0; i < 2; ++i)
    ::outer::inner::add_two<<<dim3(1, 1, 1), n < 3 ? 1 : 2, 0, cudaStreamFireAndForget>>>(p, 1);
  outer::inner::overloaded<<<1, 1>>>(p);
  outer::inner::overloaded<<<1, 1>>>(p, 200);
  fill<<<size_of<wrap<wrap<int>>>::value / 4, 1>>>(p + 1, 3, 1);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  add<<<1, 1, 0, stream>>>(p, 2000);
  cudaStreamDestroy(stream);
}

template <class F>
__global__ void call(F f) {
  f(threadIdx.x);
}

__global__ void use_null(int* p, const int* other) { *p += other == nullptr ? 20000 : 0; }

int main() {
  int* p;
  float* f;
  cudaMalloc((void**)&p, 100 * sizeof(int));
  cudaMallocManaged(&f, 100 * sizeof(float));
  cudaMemset(p, 0, 100 * sizeof(int));

  LAUNCH(fill<int>, 40, p, 5, 40);
  fill<<<1, 32>>>(f, 2.0f, 32);
  scale<4><<<1, 4>>>(f, 3.0f);
  scale<4, float> <<< 1, 4, 0, 0 >>> (f, 2.0f);
  const kernels one{add};
  const kernels several[2] = {one, one};
  one.add<<<1, 1>>>(p, 10);
  several[1].add<<<1, 1>>>(p, 100);
  (*several[0].add)<<<1, 1>>>(p, 1000);
  use_null<<<1, 1>>>(p, 0);
  parent<<<1, 32>>>(p, 5);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());

  int host[2];
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  // 5 + 10 + 100 + 1000 + 20000, and of the parent 2 + 4 + 20 + 200 + 2000
  printf("%d %d %g %g\n%s%c\n", host[0], host[1], f[3], f[4], text, sign);

  int base = 7;
  call<<<1, 1>>>([=] __device__(int i) { printf("lambda %d\n", base + i); });
  auto on_both = [base] __host__ __device__(int i) { printf("lambda %d\n", base + i + 1); };
  call<<<1, 1>>>(on_both);
  std::cout << "line " << __LINE__ << std::endl;
  fill<<<1, 5000>>>(f, 2.0f, 32);
  CHECK(cudaGetLastError());
  fill<<<1, 5>>>(f, 2.0f, 32);
  CHECK(cudaGetLastError());
}
