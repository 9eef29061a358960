// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// seen_memory: the host's copy of the first bytes of a run's device memory: what kernels report.
///
/// On a GPU, a grid writes the copy into page-locked memory, and behind it a number, which the host
/// polls. The host then has the copy about 3 us after the last grid of the run. With a copy by the
/// copy engine and a wait for the stream, that takes 6 to 10 us (H200).

#include <cstddef>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/check.cuh>

#if RAMIFY_ON_CUDA
#include <atomic>
#include <ramify/runtime/launch.cuh>
#endif

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// Copies `words` words to page-locked memory, and then writes `number` to `flag`, which is in such
/// memory, too. Launched with one block.
template <class Word>
__global__ void show_to_host(Word* to, const Word* from, unsigned words, Word* flag, Word number) {
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) to[i] = from[i];
  // If the host sees the number, it sees the words of all threads, and what earlier grids wrote.
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence_system();
  *static_cast<volatile Word*>(flag) = number;
}

/// Page-locked memory for copies of at most max_bytes bytes. Movable. Runs use it one after
/// another; a copy must be complete before the next one begins.
class seen_memory {
  using word = unsigned;

 public:
  static constexpr std::size_t max_bytes = 1024;

  /// \throws cuda_error
  seen_memory() : memory_(max_bytes / sizeof(word) + 1) {
    memory_[flag_index] = last_;
#if RAMIFY_ON_CUDA
    polls_ = may_poll();
#endif
  }

  /// Puts the copy of `bytes` bytes, a multiple of 4, into `stream`. Asynchronous. \throws
  /// cuda_error
  void copy(const void* from, std::size_t bytes, cudaStream_t stream) {
    ++last_;
#if RAMIFY_ON_CUDA
    const unsigned words = static_cast<unsigned>(bytes / sizeof(word));
    check(launch(show_to_host<word>, {1, words}, stream, memory_.data(),
                 static_cast<const word*>(from), words, &memory_[flag_index], last_)
              .code(),
          "reading the status of the run");
#else
    check(cudaMemcpyAsync(memory_.data(), from, bytes, cudaMemcpyDeviceToHost, stream),
          "reading the status of the run");
#endif
  }

  /// Waits for the last copy, which is in `stream`, and so for the grids before it. \throws
  /// cuda_error
  void wait(cudaStream_t stream) {
#if RAMIFY_ON_CUDA
    constexpr int max_polls = 1 << 20;  // about half a millisecond
    for (int i = 0; polls_ && i < max_polls; ++i) {
      if (std::atomic_ref(memory_[flag_index]).load(std::memory_order_acquire) == last_) return;
    }
#endif
    check(cudaStreamSynchronize(stream), "waiting for the run");
  }

  [[nodiscard]] const std::byte* data() const {
    return reinterpret_cast<const std::byte*>(memory_.data());
  }

 private:
  static constexpr std::size_t flag_index = max_bytes / sizeof(word);

#if RAMIFY_ON_CUDA
  /// Returns whether the host polls: if the program has not requested another kind of waiting, and
  /// if the host may access managed memory while the end of the last grid runs. \throws cuda_error
  static bool may_poll() {
    unsigned flags = 0;
    check(cudaGetDeviceFlags(&flags), "reading the flags of the device");
    constexpr unsigned others = cudaDeviceScheduleYield | cudaDeviceScheduleBlockingSync;
    int concurrent = 0;
    check(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, current_device()),
          "querying the device");
    return (flags & others) == 0 && concurrent != 0;
  }

  bool polls_ = false;
#endif
  pinned_buffer<word> memory_;
  word last_ = 0;  // the number of the last copy
};

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
