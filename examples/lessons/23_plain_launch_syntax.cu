// SPDX-License-Identifier: BSD-3-Clause
// Lesson 23: the plain syntax <<<>>> beside launch().
//
// Read first     Lesson 10.
// You will see   a child of four threads and one of 2000, which is too many, each launched by
//                launch() and, on a GPU, by <<<>>>. Both ways give the same threads and errors.
// The rule
//     child<<<grid, block, shared, stream>>>(a);   launch(child, {grid, block, shared}, stream, a)
//     cudaGetLastError() returns the status        launch() returns the status
//     the stream can be omitted: the NULL stream   the stream is always named
//     only nvcc compiles it                        a C++ compiler compiles it, too
// The pitfall    cudaGetLastError() returns the last error of the thread, also of an earlier launch
//                whose status was not read. So read the status after every <<<>>>. launch() clears
//                an earlier error first.
// Try            Write `too_many = 1024`, the maximum for a block. Then all children run.
#include "lesson.hpp"

using namespace ramify;

constexpr unsigned too_many = 2000;

struct result {
  unsigned threads;  // threads of the child that ran
  int error;         // of its launch
};

__global__ void child(result* r) { atomicAdd(&r->threads, 1u); }

// 1. With launch().
__global__ void by_function(result* r, unsigned threads) {
  const auto launched = launch(child, {1, threads}, fire_and_forget(), r);
  r->error = static_cast<int>(launched.code());
}

#if RAMIFY_ON_CUDA
// 2. In plain CUDA.
__global__ void by_syntax(result* r, unsigned threads) {
  child<<<1, threads, 0, cudaStreamFireAndForget>>>(r);
  r->error = static_cast<int>(cudaGetLastError());
}
#endif

void show(const char* name, void (*parent)(result*, unsigned)) {
  for (const unsigned threads : {4u, too_many}) {
    const lesson::device_array<result> memory(1);
    check(launch(parent, {1, 1}, nullptr, memory.data(), threads).code(), "launching the parent");
    const result r = memory.read()[0];
    std::cout << name << threads << " threads: " << r.threads << " ran, "
              << cudaGetErrorName(static_cast<cudaError_t>(r.error)) << '\n';
  }
}

int main() {
  return lesson::run([] {
    show("launch(), ", by_function);
#if RAMIFY_ON_CUDA
    show("<<<>>>,   ", by_syntax);
#endif
  });
}
