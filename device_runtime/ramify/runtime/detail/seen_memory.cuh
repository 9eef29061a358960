// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// seen_memory: the host's copy of the first bytes of a run's device memory: what kernels report.
///
/// On a GPU, a grid writes the copy into page-locked memory, and after it a number, which the host
/// polls. For a call that waits, the host then takes 5 to 6 us beyond the work of the device; with
/// a copy by the copy engine and a wait for the stream it takes 10 to 12 us (H100).

#include <cstddef>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/check.cuh>
#include <stdexcept>
#include <string>

#if RAMIFY_ON_CUDA
#include <atomic>
#include <ramify/runtime/detail/host_clock.hpp>
#include <ramify/runtime/launch.cuh>
#endif

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// Copies `words` words to page-locked memory, and then writes `number` to `flag`, which is in such
/// memory, too. Launched with one block.
template <class Word>
__global__ void copy_to_host_memory(Word* to, const Word* from, unsigned words, Word* flag,
                                    Word number) {
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) to[i] = from[i];
  // If the host sees the number, it sees the words of all threads, and what earlier grids wrote.
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence_system();
  *static_cast<volatile Word*>(flag) = number;
}

/// Page-locked memory for copies of at most max_bytes bytes. Movable. Runs use it one after
/// another. The copies of a run are in one stream.
class seen_memory {
  using word = unsigned;

 public:
  static constexpr std::size_t max_bytes = 1024;

  /// \throws cuda_error
  seen_memory() : memory_(max_bytes / sizeof(word) + 1) {
    memory_[flag_index] = last_;
#if RAMIFY_ON_CUDA
    may_poll_ = device_allows_polling();
#endif
  }

  /// Puts the copy of `bytes` bytes into `stream`: at most max_bytes, and a multiple of 4.
  /// Asynchronous. \throws std::logic_error for another size; cuda_error
  void copy(const void* from, std::size_t bytes, cudaStream_t stream) {
    if (bytes > max_bytes || bytes % sizeof(word) != 0) {
      throw std::logic_error("seen_memory: a copy of " + std::to_string(bytes) + " bytes");
    }
#if RAMIFY_ON_CUDA
    if (may_poll_) {
      const auto words = static_cast<unsigned>(bytes / sizeof(word));
      check(launch(copy_to_host_memory<word>, {1, words}, stream, memory_.data(),
                   static_cast<const word*>(from), words, &memory_[flag_index], ++last_)
                .code(),
            "reading the status of the run");
      return;
    }
#endif
    check(cudaMemcpyAsync(memory_.data(), from, bytes, cudaMemcpyDeviceToHost, stream),
          "reading the status of the run");
  }

  /// Waits for the last copy, which is in `stream`, and so for the grids before it. \throws
  /// cuda_error
  void wait(cudaStream_t stream) {
#if RAMIFY_ON_CUDA
    // After a longer wait, or if the device has failed, the driver waits.
    constexpr double longest_poll = 1e-3;  // seconds
    const double begin = host_seconds();
    while (may_poll_ && host_seconds() - begin < longest_poll) {
      for (int i = 0; i < 100; ++i) {
        if (std::atomic_ref(memory_[flag_index]).load(std::memory_order_acquire) == last_) return;
      }
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
  /// Returns true if the program has requested no other kind of waiting for the device, and if the
  /// host may access managed memory while a grid runs. \throws cuda_error
  static bool device_allows_polling() {
    unsigned flags = 0;
    check(cudaGetDeviceFlags(&flags), "reading the flags of the device");
    constexpr unsigned others = cudaDeviceScheduleYield | cudaDeviceScheduleBlockingSync;
    int concurrent = 0;
    check(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, current_device()),
          "querying the device");
    return (flags & others) == 0 && concurrent != 0;
  }

  bool may_poll_ = false;
#endif
  pinned_buffer<word> memory_;
  word last_ = 0;  // the number of the last copy by a grid
};

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
