// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Code that all lessons share: main() runs a lesson on a GPU or on the CPU executor, or skips it.
/// Several lessons also use an array in device memory, a log of letters, repeated runs in other
/// orders, and the text of a rule violation.

#include <algorithm>
#include <exception>
#include <iostream>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/check.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/stream.cuh>
#include <string>
#include <string_view>
#include <vector>

#if !RAMIFY_ON_CUDA
#include <ramify/cpu/executor.hpp>
#endif

namespace lesson {

/// The exit status of a lesson that cannot run on this machine. CTest reports it as "skipped".
inline constexpr int skipped = 77;

/// Returns true if kernels of this build can run on this machine.
inline bool has_device() {
#if RAMIFY_ON_CUDA
  int devices = 0;
  return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
#else
  return true;
#endif
}

/// Returns "yes" or "no".
inline const char* yes_or_no(bool yes) { return yes ? "yes" : "no"; }

/// Prints the reason why the lesson does not run. Returns the exit status for main().
inline int skip(std::string_view reason) {
  std::cout << "skipped: " << reason << '\n';
  return skipped;
}

/// Runs the lesson `show`. Returns 0, or `skipped` if there is no device. Prints an exception and
/// then returns 1.
template <class Lesson>
int run(Lesson show) {
  if (!has_device()) return skip("there is no CUDA device");
  try {
    show();
    return 0;
  } catch (const std::exception& e) {
    std::cerr << "error: " << e.what() << '\n';
    return 1;
  }
}

/// Calls `run_once` `count` times.
///
/// On the CPU executor each call has another order of grids and threads, within the rules of
/// dynamic parallelism. So an order that the rules allow is also seen. The schedules alternate:
/// random, one block at a time; weak, in which the writes of a block also reach other blocks late,
/// so that a missing fence is seen; and parallel, in which ThreadSanitizer sees data races. Other
/// programs get this from the environment variable RAMIFY_CPU_SCHEDULE, as in random:SEED.
template <class Run>
void repeat(unsigned count, Run run_once) {
  for (unsigned i = 0; i < count; ++i) {
#if !RAMIFY_ON_CUDA
    using ramify::cpu::schedule;
    const schedule orders[] = {schedule::random, schedule::weak, schedule::parallel};
    const ramify::cpu::scoped_executor_config order({.order = orders[i % 3], .seed = i});
#endif
    run_once();
  }
}

/// An array in device memory: `count` elements, set to zero in stream order, or a copy of a vector.
template <class T>
class device_array {
 public:
  explicit device_array(std::size_t count, cudaStream_t stream = nullptr)
      : memory_(count, stream), stream_(stream) {
    ramify::check(cudaMemsetAsync(memory_.data(), 0, count * sizeof(T), stream),
                  "clearing an array");
  }
  explicit device_array(const std::vector<T>& values, cudaStream_t stream = nullptr)
      : memory_(values.size(), stream), stream_(stream) {
    ramify::check(cudaMemcpyAsync(memory_.data(), values.data(), values.size() * sizeof(T),
                                  cudaMemcpyHostToDevice, stream),
                  "writing an array");
  }
  [[nodiscard]] T* data() const { return memory_.data(); }
  /// Copies the array to the host. Waits for all work in the stream.
  [[nodiscard]] std::vector<T> read() const {
    std::vector<T> all(memory_.size());
    ramify::check(cudaMemcpyAsync(all.data(), memory_.data(), all.size() * sizeof(T),
                                  cudaMemcpyDeviceToHost, stream_),
                  "reading an array");
    ramify::check(cudaStreamSynchronize(stream_), "waiting for kernels");
    return all;
  }

 private:
  ramify::device_buffer<T> memory_;
  cudaStream_t stream_;
};

/// A log to which grids append letters. A zeroed log is empty.
struct letter_log {
  unsigned length;
  char letters[60];
};

/// Appends a letter to the log. Kernels call it.
__device__ inline void write(letter_log* log, char letter) {
  const unsigned position = atomicAdd(&log->length, 1u);
  if (position < sizeof log->letters) log->letters[position] = letter;
}

/// Returns the letters of a log. The host calls it after the grids are complete.
inline std::string text(const letter_log& log) {
  return {log.letters, std::min<std::size_t>(log.length, sizeof log.letters)};
}

#if !RAMIFY_ON_CUDA
/// Calls `show`, which launches grids, and returns the message of the rule violation that the CPU
/// executor reports. Returns "no violation" if it reports none.
template <class Show>
std::string violation(Show show) {
  try {
    show();
    return "no violation";
  } catch (const ramify::cpu::rule_violation& reported) {
    return reported.what();
  }
}
#endif

#if !RAMIFY_ON_CUDA || RAMIFY_CHECK
/// Calls `show`, whose grids break a rule, and prints the report of the CPU executor or of a GPU
/// whose kernels check the rules.
template <class Show>
void show_violation(Show show) {
#if RAMIFY_ON_CUDA
  std::cout << "the GPU reports: ";
  try {
    show();
    ramify::check_rules();
    std::cout << "no violation\n";
  } catch (const std::logic_error& broken_rule) {
    std::cout << broken_rule.what() << '\n';
  }
#else
  std::cout << "the CPU executor reports: " << violation(show) << '\n';
#endif
}
#endif

}  // namespace lesson
