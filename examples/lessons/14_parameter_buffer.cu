// SPDX-License-Identifier: BSD-3-Clause
// Lesson 14: what nvcc makes of <<<>>> in a kernel.
//
// You will see   one child launched three times: by <<<>>>, by the two functions below it in C++, and
//                by calls in PTX. The results are the same.
// The rule       A launch is two calls: the device runtime hands out a buffer for the kernel's
//                parameters, and then launches what is in it. Each parameter lies at the next
//                multiple of its alignment, as the members of a struct do.
// The catch      A buffer knows no types. Whoever fills it wrongly gets a child with wrong arguments,
//                and no error. A null buffer means that there is nothing to launch with, such as
//                when the pending launch pool is used up.
// Try            In `struct parameters`, move `times` behind `value`. The second and the third sum
//                are then 0, and still no launch fails.
#include "lesson.hpp"

#if !RAMIFY_ON_CUDA
int main() { return lesson::skip("the CPU executor has no parameter buffers"); }
#else

using namespace ramify;

__global__ void child(int* sum, int times, double value) {
  atomicAdd(sum, static_cast<int>(times * value));
}

// The child's parameters, as they lie in a buffer: at 0, 8 and 16.
struct parameters {
  int* sum;
  int times;
  double value;
};

__device__ bool fill(void* buffer, int* sum) {
  if (buffer == nullptr) return false;
  auto* const p = static_cast<parameters*>(buffer);
  p->sum = sum;
  p->times = 4;
  p->value = 2.5;
  return true;
}

// The calls as PTX has them. The names with __cudaCDP2 are what stands behind those of step 2 in
// cuda_device_runtime_api.h; because step 2 calls them, they are declared in this file's PTX.
__device__ void* buffer_by_ptx(void (*kernel)(int*, int, double)) {
  void* buffer = nullptr;
  asm volatile(
      "{ .param .b64 kernel, buffer;\n"
      "  .param .align 4 .b8 grid[12], block[12];\n"
      "  .param .b32 shared;\n"
      "  st.param.b64 [kernel], %1;\n"
      "  st.param.b32 [grid], 2; st.param.b32 [grid+4], 1; st.param.b32 [grid+8], 1;\n"
      "  st.param.b32 [block], 4; st.param.b32 [block+4], 1; st.param.b32 [block+8], 1;\n"
      "  st.param.b32 [shared], 0;\n"
      "  call (buffer), __cudaCDP2GetParameterBufferV2, (kernel, grid, block, shared);\n"
      "  ld.param.b64 %0, [buffer]; }"
      : "=l"(buffer)
      : "l"(kernel)
      : "memory");
  return buffer;
}
__device__ cudaError_t launch_by_ptx(void* buffer) {
  int status = 0;
  asm volatile(
      "{ .param .b64 buffer, stream;\n"
      "  .param .b32 status;\n"
      "  st.param.b64 [buffer], %1;\n"
      "  st.param.b64 [stream], %2;\n"
      "  call (status), __cudaCDP2LaunchDeviceV2, (buffer, stream);\n"
      "  ld.param.b32 %0, [status]; }"
      : "=r"(status)
      : "l"(buffer), "l"(cudaStreamFireAndForget)
      : "memory");
  return static_cast<cudaError_t>(status);
}

__global__ void parent(int* sums, int* failures) {
  const dim3 grid(2), block(4);
  const auto kernel = reinterpret_cast<void*>(child);
  const auto stream = cudaStreamFireAndForget;
  const auto look_at = [=](bool launched) { *failures += launched ? 0 : 1; };
  // 1. As CUDA C++ spells it. The status is that of the last call.
  child<<<grid, block, 0, stream>>>(&sums[0], 4, 2.5);
  look_at(cudaGetLastError() == cudaSuccess);

  // 2. What nvcc makes of it. The buffer is for this kernel and this shape.
  void* buffer = cudaGetParameterBufferV2(kernel, grid, block, 0);
  look_at(fill(buffer, &sums[1]) && cudaLaunchDeviceV2(buffer, stream) == cudaSuccess);

  // 3. The calls of step 2 in PTX.
  buffer = buffer_by_ptx(child);
  look_at(fill(buffer, &sums[2]) && launch_by_ptx(buffer) == cudaSuccess);
}

int main() {
  return lesson::run([] {
    const lesson::numbers<int> counts(4);
    check(launch(parent, {1, 1}, nullptr, counts.data(), counts.data() + 3).code(),
          "launching the parent");
    const auto seen = counts.read();
    std::cout << "the child's sum, launched by <<<>>>: " << seen[0]
              << "\nby calls in C++:                     " << seen[1]
              << "\nby calls in PTX:                     " << seen[2]
              << "\nlaunches that failed:                " << seen[3] << '\n';
  });
}
#endif
