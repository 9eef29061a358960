// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// index_pool: the numbers of equal objects that kernels take and release, without locks.

#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/residency.cuh>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// The numbers below `capacity`, of which each is free or taken. Any thread may take and release
/// numbers at any time; no thread waits for another one.
struct index_pool {
  static constexpr unsigned none = ~0u;

  unsigned capacity;
  unsigned* taken;  ///< in device memory: at least as many as there are bits set
  unsigned* words;  ///< a bit for each number: whether it is taken

  /// Returns the number of words. Bits beyond the capacity are never free.
  [[nodiscard]] __host__ __device__ static unsigned word_count(unsigned capacity) {
    return (capacity + 31) / 32;
  }

  /// Returns the pool of `capacity` numbers in memory of `layout`, which must be zeros. mark_end()
  /// must follow.
  [[nodiscard]] static index_pool place(memory_layout& layout, unsigned capacity) {
    return {capacity, layout.take<unsigned>(1), layout.take<unsigned>(word_count(capacity))};
  }

  /// Makes the bits beyond the capacity those of taken numbers. One thread calls it before the
  /// first take().
  __device__ void mark_end() const {
    if (capacity % 32 != 0) words[capacity / 32] = ~0u << capacity % 32;
  }

  /// Returns a number that was free, or none if `most` numbers are taken. While other threads fail,
  /// it may return none although a number is free.
  [[nodiscard]] __device__ unsigned take(unsigned most) const {
    if (load_relaxed(*taken) >= most) return none;
    const unsigned before = atomicAdd(taken, 1u);
    if (before >= most) {
      atomicSub(taken, 1u);
      return none;
    }
    // Each thread that is here was counted before it sets a bit, and release() clears a bit before
    // it counts. So fewer than `capacity` bits are set, and the search ends. If a thread loses a
    // bit, another one has taken it.
    const unsigned words_here = word_count(capacity);
    for (unsigned w = before / 32;; w = w + 1 == words_here ? 0 : w + 1) {
      unsigned bits = load_relaxed(words[w]);
      while (bits != ~0u) {
        const auto free_bit = static_cast<unsigned>(__ffs(static_cast<int>(~bits)) - 1);
        bits = atomicOr(&words[w], 1u << free_bit);
        if ((bits >> free_bit & 1u) == 0) {
          __threadfence();  // the other half of the fence of release()
          return 32 * w + free_bit;
        }
      }
    }
  }

  [[nodiscard]] __device__ unsigned take() const { return take(capacity); }

  /// Takes all numbers and returns true, or returns false if any is taken.
  [[nodiscard]] __device__ bool take_all() const {
    if (atomicCAS(taken, 0u, capacity) != 0) return false;
    __threadfence();  // the other half of the fence of release()
    return true;
  }
  /// Releases the numbers of take_all().
  __device__ void release_all() const {
    __threadfence();
    atomicSub(taken, capacity);
  }

  /// Releases a number. What the thread has written to its object before, and what it has read, is
  /// complete for the next thread that takes the number.
  __device__ void release(unsigned number) const {
    __threadfence();
    atomicAnd(&words[number / 32], ~(1u << number % 32));
    atomicSub(taken, 1u);
  }
};

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
