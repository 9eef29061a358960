// SPDX-License-Identifier: BSD-3-Clause
// Lesson 10: a launch that fails, and the error that nobody read.
//
// You will see   two kernels that launch a child with more threads than a block can have. One looks
//                at the launch's status, the other does not.
// The rule       A launch that fails launches nothing, and its error stays in the kernel: no host
//                call returns it. The launching thread must look, and put down what it saw where
//                the host reads it.
// The catch      Only the thread that launched can see the error: in plain CUDA by
//                cudaGetLastError(), and only until that thread makes its next mistake.
// Try            Write `threads = 1024`, the most that a block can have. Then both kernels'
//                children run, and the careless kernel gets away with it.
#include <stdexcept>

#include "lesson.hpp"

using namespace ramify;

constexpr unsigned threads = 2000;  // a block has 1024 at most

struct notes {
  unsigned ran;     // threads of children
  int first_error;  // of a launch; 0 is cudaSuccess
};

__global__ void child(notes* seen) { atomicAdd(&seen->ran, 1u); }

// 1. What many kernels do: launch and go on. The compiler would warn; the cast keeps it quiet.
__global__ void careless(notes* seen) {
  static_cast<void>(launch(child, {1, threads}, fire_and_forget(), seen));
}

// 2. Look, and keep the first error: the ones after it are often only its consequences. atomicCAS
//    writes where nobody wrote before. In plain CUDA:
//        child<<<1, threads, 0, cudaStreamFireAndForget>>>(seen);
//        const cudaError_t code = cudaGetLastError();
__global__ void careful(notes* seen) {
  const auto launched = launch(child, {1, threads}, fire_and_forget(), seen);
  if (!launched) atomicCAS(&seen->first_error, 0, static_cast<int>(launched.code()));
}

// What the host learns of a kernel when it looks at everything that it can look at.
void show(const char* name, void (*kernel)(notes*)) {
  const lesson::numbers<notes> memory(1);
  try {
    check(launch(kernel, {1, 1}, nullptr, memory.data()).code(), "launching");
    const notes seen = memory.read()[0];  // waits, and checks the wait's error
    const auto error = static_cast<cudaError_t>(seen.first_error);
    std::cout << name << ": the host's launch and its wait succeeded\n"
              << "  threads of the child that ran: " << seen.ran << '\n'
              << "  error that the kernel kept:    " << error << " (" << cudaGetErrorName(error)
              << ")\n";
  } catch (const std::logic_error& broken_rule) {
    // 3. On the CPU executor a failure that nobody looked at ends the run (a rule_violation). No
    //    GPU does that: there the line above says that all went well.
    std::cout << name << ": " << broken_rule.what() << '\n';
  }
}

int main() {
  return lesson::run([] {
    show("careless", careless);
    // 4. Ramify's kernels are of this kind: run_status::record_error() keeps the first error with
    //    the kernel's name and its depth, and the host throws it as a device_launch_error.
    show("careful", careful);
  });
}
