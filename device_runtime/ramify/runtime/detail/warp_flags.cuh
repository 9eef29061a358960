// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// warp_flags: at most one lane of a warp launches at a time.
///
/// If lanes of one warp launch different kernels at the same time, the GPU hangs (H100, CUDA 13.0).
/// Four lanes in three branches hung it in every run. Four lanes in one branch, or in four blocks,
/// never did. So lanes that are together launch one after another. A lane launches nothing if
/// another lane of its warp is in a launch elsewhere. No lane waits for a flag.

#include <ramify/runtime/buffer.cuh>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// A flag for each warp that runs on the device, or for a few: then calls are kept without need.
/// The flags are those of one arena, so lanes of a warp must not call by two arenas at the same
/// time.
struct warp_flags {
  static constexpr unsigned warps_of_multiprocessor = 64;  ///< a multiple of 32
  static constexpr unsigned multiprocessors = 256;         ///< a larger number shares flags
  static constexpr unsigned count = multiprocessors * warps_of_multiprocessor / 32;

  unsigned* words;  ///< in device memory, zeros at first

  [[nodiscard]] static warp_flags place(memory_layout& layout) {
    return {layout.take<unsigned>(count)};
  }

  /// Calls launch() in each lane that is active, in one lane after another, and returns its result.
  /// Returns false, without a call, if another lane of the warp is in such a call elsewhere.
  template <class Launch>
  __device__ __forceinline__ bool one_by_one(const Launch& launch) const {
#if RAMIFY_ON_CUDA && defined(__CUDA_ARCH__)
    bool launched = false;
    unsigned lane = 0;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    const unsigned active = __activemask();
    for (unsigned left = active; left != 0; left &= left - 1) {
      if (lane + 1 == static_cast<unsigned>(__ffs(static_cast<int>(left)))) {
        unsigned* word = nullptr;
        const unsigned flag = flag_of_warp(word);
        if ((atomicOr(word, flag) & flag) == 0) {
          launched = launch();
          atomicAnd(word, ~flag);
        }
      }
      __syncwarp(active);
    }
    return launched;
#else
    return launch();  // each thread of the CPU executor is a fiber
#endif
  }

 private:
#if RAMIFY_ON_CUDA && defined(__CUDA_ARCH__)
  /// Returns the bit of the warp, and sets `word` to its place.
  [[nodiscard]] __device__ unsigned flag_of_warp(unsigned*& word) const {
    unsigned multiprocessor = 0;
    unsigned warp = 0;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    const unsigned index =
        multiprocessor % multiprocessors * warps_of_multiprocessor + warp % warps_of_multiprocessor;
    word = words + index / 32;
    return 1u << index % 32;
  }
#endif
};

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
