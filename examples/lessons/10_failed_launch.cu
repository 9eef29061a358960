// SPDX-License-Identifier: BSD-3-Clause
// Lesson 10: a launch that fails without an error on the host.
//
// Read first     Lesson 1.
// You will see   two kernels that launch a child with more threads than a block can have. One
//                checks the status of the launch, the other does not.
// The rule       A launch that fails launches nothing, and its error stays in the kernel: no host
//                call returns it. The launching thread must check the status and store the error
//                where the host reads it.
// The pitfall    Only the thread that launched can read the error. In plain CUDA it calls
//                cudaGetLastError(), which returns the latest error of this thread only.
// Try            Write `threads = 1024`, the maximum for a block. Then the children of both kernels
//                run, and the missing check has no effect.
#include <stdexcept>

#include "lesson.hpp"

using namespace ramify;

constexpr unsigned threads = 2000;  // a block has 1024 at most

struct results {
  unsigned ran;     // threads of children that ran
  int first_error;  // first error of a launch; 0 is cudaSuccess
};

__global__ void child(results* seen) { atomicAdd(&seen->ran, 1u); }

// 1. Launch without a check. The cast suppresses the compiler's warning.
__global__ void unchecked(results* seen) {
  static_cast<void>(launch(child, {1, threads}, fire_and_forget(), seen));
}

// 2. Check the status and keep the first error: later errors are often its consequences. atomicCAS
//    stores the code only if none is stored yet. In plain CUDA:
//        child<<<1, threads, 0, cudaStreamFireAndForget>>>(seen);
//        const cudaError_t code = cudaGetLastError();
__global__ void checked(results* seen) {
  const auto launched = launch(child, {1, threads}, fire_and_forget(), seen);
  if (!launched) atomicCAS(&seen->first_error, 0, static_cast<int>(launched.code()));
}

// Prints everything that the host can find out about a kernel.
void show(const char* name, void (*kernel)(results*)) {
  const lesson::device_array<results> memory(1);
  try {
    check(launch(kernel, {1, 1}, nullptr, memory.data()).code(), "launching");
    const results seen = memory.read()[0];  // waits, and checks the result of the wait
    check_rules();                          // throws only if compiled with -DRAMIFY_CHECK=1
    const auto error = static_cast<cudaError_t>(seen.first_error);
    std::cout << name << ": the host's launch and its wait succeeded\n"
              << "  threads of the child that ran: " << seen.ran << '\n'
              << "  error that the kernel kept:    " << error << " (" << cudaGetErrorName(error)
              << ")\n";
  } catch (const std::logic_error& broken_rule) {
    // 3. On the CPU executor an unchecked failed launch ends the run with a rule_violation. A GPU
    //    does not do that: there the launch and the wait above succeed. Kernels that are compiled
    //    with -DRAMIFY_CHECK=1 count such launches, and check_rules() throws.
    std::cout << name << ": " << broken_rule.what() << '\n';
  }
}

int main() {
  return lesson::run([] {
    show("unchecked", unchecked);
    // 4. Ramify's kernels check every launch: run_status::record_error() keeps the first error with
    //    the kernel's name and depth, and the host throws it as a device_launch_error.
    show("checked", checked);
  });
}
