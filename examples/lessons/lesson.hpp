// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What every lesson's main() has in common: on a GPU, or on the CPU executor, or skipped. And what
/// several lessons look with: numbers, diaries, the rule checker's words.

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

/// The exit status of a lesson that this machine cannot show; CTest calls it "skipped".
inline constexpr int skipped = 77;

/// Whether there is something that kernels of this build can run on.
inline bool has_device() {
#if RAMIFY_ON_CUDA
  int devices = 0;
  return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
#else
  return true;
#endif
}

/// Says why there is nothing to see here. For main() to return.
inline int skip(std::string_view why) {
  std::cout << "skipped: " << why << '\n';
  return skipped;
}

/// Runs the lesson. What goes wrong is printed, and makes the exit status 1.
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

/// `count` zeroed numbers for kernels, and a way to look at them: waits for all that is in the stream.
template <class T>
class numbers {
 public:
  explicit numbers(std::size_t count, cudaStream_t stream = nullptr)
      : memory_(count, stream), stream_(stream) {
    ramify::check(cudaMemsetAsync(memory_.data(), 0, count * sizeof(T), stream),
                  "clearing numbers");
  }
  [[nodiscard]] T* data() const { return memory_.data(); }
  [[nodiscard]] std::vector<T> read() const {
    std::vector<T> all(memory_.size());
    ramify::check(cudaMemcpyAsync(all.data(), memory_.data(), all.size() * sizeof(T),
                                  cudaMemcpyDeviceToHost, stream_),
                  "reading numbers");
    ramify::check(cudaStreamSynchronize(stream_), "waiting for kernels");
    return all;
  }

 private:
  ramify::device_buffer<T> memory_;
  cudaStream_t stream_;
};

/// Letters that grids write down, in the order in which they come to it. All zero: nothing yet.
struct diary {
  unsigned length;
  char letters[60];
};

/// For kernels.
__device__ inline void write(diary* into, char letter) {
  const unsigned place = atomicAdd(&into->length, 1u);
  if (place < sizeof into->letters) into->letters[place] = letter;
}

/// For the host, when the grids are complete.
inline std::string text(const diary& d) {
  return {d.letters, std::min<std::size_t>(d.length, sizeof d.letters)};
}

#if !RAMIFY_ON_CUDA
/// What the CPU executor's rule checker says of the grids that `show` launches.
template <class Show>
std::string complaint(Show show) {
  try {
    show();
    return "nothing";
  } catch (const ramify::cpu::rule_violation& broken) {
    return broken.what();
  }
}
#endif

}  // namespace lesson
