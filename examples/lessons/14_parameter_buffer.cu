// SPDX-License-Identifier: BSD-3-Clause
// Lesson 14: how nvcc translates <<<>>> in a kernel.
//
// Read first     Lesson 23.
// You will see   one child launched three times: by <<<>>>, by the two runtime functions that it
//                stands for, and by the same calls in PTX. The results are the same.
// The rule       A launch is two calls: the device runtime returns a buffer for the kernel's
//                parameters, and then launches the kernel with its content. Each parameter is at
//                the next multiple of its alignment, as the members of a struct are. The CUDA
//                Programming Guide allows 4 KB for all parameters of such a launch; nvcc 13.0
//                compiles up to 32,764 bytes, as for a launch by the host.
//                nvcc calls cudaGetParameterBufferV2 and cudaLaunchDeviceV2, as this lesson does.
//                The CUDA Programming Guide documents the first version of both:
//                cudaGetParameterBuffer(alignment, size) returns a buffer of `size` bytes, and
//                cudaLaunchDevice() gets the kernel and its shape together with this buffer.
// The pitfall    A parameter buffer has no types. Code that fills it wrongly launches a child with
//                wrong arguments, without an error. A null buffer means that no launch is possible,
//                for example because the pending launch pool is exhausted.
// Try            In `struct parameters`, move `times` after `value`. The second and the third sum
//                are then 0, and still no launch fails.
#include "lesson.hpp"

#if !RAMIFY_ON_CUDA
int main() { return lesson::skip("the CPU executor has no parameter buffers"); }
#else

using namespace ramify;

__global__ void child(int* sum, int times, double value) {
  atomicAdd(sum, static_cast<int>(times * value));
}

// The child's parameters in the layout of the buffer: at offsets 0, 8 and 16.
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

// The same calls in PTX. cuda_device_runtime_api.h maps the functions of step 2 to these names with
// __cudaCDP2. Because step 2 calls them, this file's PTX declares them.
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
  const auto count = [=](bool launched) { *failures += launched ? 0 : 1; };
  // 1. CUDA C++ syntax. cudaGetLastError() returns the status of the launch.
  child<<<grid, block, 0, stream>>>(&sums[0], 4, 2.5);
  count(cudaGetLastError() == cudaSuccess);

  // 2. The two calls that nvcc generates. The buffer is for this kernel and this shape.
  void* buffer = cudaGetParameterBufferV2(kernel, grid, block, 0);
  count(fill(buffer, &sums[1]) && cudaLaunchDeviceV2(buffer, stream) == cudaSuccess);

  // 3. The two calls in PTX.
  buffer = buffer_by_ptx(child);
  count(fill(buffer, &sums[2]) && launch_by_ptx(buffer) == cudaSuccess);
}

int main() {
  return lesson::run([] {
    const lesson::device_array<int> counts(4);
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
