// SPDX-License-Identifier: BSD-3-Clause
// Lesson 26: a child that accesses an invalid address.
//
// Read first     Lesson 10.
// You will see   a launch by a kernel that succeeds, a child that writes to an address without
//                memory, and the errors that the host gets on a GPU. The CPU executor names the
//                kernel and the thread and ends the process, so the lesson runs this part in
//                another process.
// The rule       A launch status of cudaSuccess means that the grid will run. It does not mean that
//                the grid runs without a fault. No kernel gets the error of a fault. The host gets
//                it from a later call, and then from all calls: the fault ends all work of the
//                process on the device, and its memory is lost. The process must end; another
//                process can use the device.
// The pitfall    The host's error names neither the kernel nor the thread, and the call that
//                returns it may be far from the launch. By its documentation, compute-sanitizer
//                reports each invalid access with its kernel, block and thread ("Invalid __global__
//                write of size 4 bytes"). On the CPU executor, AddressSanitizer reports the line,
//                and also an access just beyond an array, which may cause no fault.
// Plain CUDA     child<<<1, 1, 0, cudaStreamTailLaunch>>>(target)
// Try            In step 3, write `memory.data()` instead of `wrong`. Nothing faults.
#include "lesson.hpp"

#if !RAMIFY_ON_CUDA
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#endif

using namespace ramify;

__global__ void child(int* target) { *target = 1; }

// 1. The child is a tail launch, so it begins after the status is written. The status is in host
//    memory, because device memory cannot be read after a fault.
__global__ void parent(int* target, int* status) {
  const auto launched = launch(child, {1, 1}, tail_launch(), target);
  *status = static_cast<int>(launched.code());
}

constexpr int unknown = -1;

std::string name(int code) {
  return code == unknown ? "unknown" : cudaGetErrorName(static_cast<cudaError_t>(code));
}

// 2. Prints each status and error. Both launches succeed, also if the child faults.
void show(int* target) {
  pinned_buffer<int> status(1);
  status[0] = unknown;
  const auto launched = launch(parent, {1, 1}, nullptr, target, status.data());
  std::cout << "  launch by the host:   " << name(launched.code()) << '\n';
  std::cout << "  wait of the host:     " << name(cudaDeviceSynchronize()) << '\n';
  std::cout << "  launch by the parent: " << name(status[0]) << '\n';
  std::cout << "  another call:         " << name(cudaStreamQuery(nullptr)) << '\n';
}

void show_fault() {
  [[maybe_unused]] const lesson::device_array<int> memory(1);
  [[maybe_unused]] int* const wrong =
      reinterpret_cast<int*>(64);  // NOLINT: no memory has this address
  std::cout << "a pointer to no memory:\n" << std::flush;
  show(wrong);  // 3.
}

#if !RAMIFY_ON_CUDA
// Runs `show_it` in another process, and prints the report of the CPU executor. Returns whether a
// fault has ended that process.
bool faults(void (*show_it)()) {
  std::array<int, 2> errors{};
  if (pipe(errors.data()) != 0) throw std::runtime_error("pipe() failed");
  std::cout << std::flush;
  const pid_t process = fork();
  if (process < 0) throw std::runtime_error("fork() failed");
  if (process == 0) {
    dup2(errors[1], STDERR_FILENO);
    close(errors[0]);
    show_it();
    std::cout << std::flush;
    _exit(0);
  }
  close(errors[1]);
  std::string report;
  for (char c = 0; read(errors[0], &c, 1) == 1;) report += c;
  close(errors[0]);
  int status = 0;
  waitpid(process, &status, 0);
  const auto begin = report.find("ramify, CPU executor");  // a sanitizer writes other lines, too
  if (begin != std::string::npos) {
    std::cout << report.substr(begin, report.find('\n', begin) - begin) << '\n';
  }
  return status != 0;
}
#endif

void show_no_fault() {
  const lesson::device_array<int> memory(1);
  std::cout << "a pointer to memory:\n";
  show(memory.data());
}

int main() {
  return lesson::run([] {
#if RAMIFY_ON_CUDA
    show_no_fault();
    show_fault();
    // 4. After a fault, Ramify's functions throw cuda_error until the process ends.
    bool throws = false;
    try {
      const lesson::device_array<int> memory(1);
    } catch (const cuda_error&) {
      throws = true;
    }
    std::cout << "an allocation throws: " << lesson::yes_or_no(throws) << '\n';
#else
    const bool faulted = faults(show_fault);
    std::cout << "a fault has ended the process: " << lesson::yes_or_no(faulted) << '\n';
    show_no_fault();
#endif
  });
}
