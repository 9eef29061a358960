// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Block-wide and warp-wide algorithms of the CPU executor, with CUB's names and rules.
///
/// Every thread of the block must call them. A `__syncthreads()` must come before the temporary
/// storage is used again. One thread does the work with the standard library: in a scan or a sort
/// the last thread to arrive, so that the threads wait once.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <ramify/cpu/cuda_builtins.hpp>
#include <ramify/runtime/build.hpp>
#include <ramify/runtime/no_value.hpp>
#include <ramify/version.hpp>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::cpu::inline RAMIFY_ABI {

/// Returns the index of the calling thread in its block, x first.
[[nodiscard]] inline unsigned linear_thread() {
  using namespace builtins;
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

/// As __syncthreads(). The last thread to arrive calls `work` before any thread continues.
template <class Work>
void wait_then(Work work, builtins::site s = builtins::site::current()) {
  wait_then_call([](void* state) { (*static_cast<Work*>(state))(); }, &work, s);
}

/// The part of CUB's BlockScan that Ramify uses.
template <class T, int threads>
class block_scan {
 public:
  /// Shared memory of the block, as CUB's type of this name.
  struct TempStorage {
    T values[threads];  ///< of the threads
    T total;            ///< the sum of all values
  };

  /// Uses this storage. All threads of the block must pass the same one.
  explicit block_scan(TempStorage& storage) : storage_(storage) {}

  /// Computes the exclusive prefix sum over the threads, and the sum of all.
  ///
  ///     input <-- [1, 3, 0, 2]     output --> [0, 1, 4, 4]     total --> 6
  void ExclusiveSum(T input, T& output, T& total) {
    storage_.values[linear_thread()] = input;
    wait_then([this] {
      T* const end = storage_.values + threads;
      const T last = end[-1];
      std::exclusive_scan(storage_.values, end, storage_.values, T{});
      storage_.total = end[-1] + last;
    });
    output = storage_.values[linear_thread()];
    total = storage_.total;
  }

 private:
  TempStorage& storage_;
};

/// The part of CUB's BlockReduce that Ramify uses.
template <class T, int threads>
class block_reduce {
 public:
  /// Shared memory of the block, as CUB's type of this name.
  struct TempStorage {
    alignas(T) std::byte values[sizeof(T) * threads];  ///< of the threads
  };

  /// Uses this storage. All threads of the block must pass the same one.
  explicit block_reduce(TempStorage& storage) : values_(reinterpret_cast<T*>(storage.values)) {}

  /// Reduces the inputs of the first `valid` threads, in thread order. Only thread 0 gets the
  /// result.
  template <class Combine>
  T Reduce(T input, Combine combine, int valid = threads) {
    values_[linear_thread()] = input;
    builtins::__syncthreads();
    if (linear_thread() != 0) return input;
    T folded = values_[0];
    for (int i = 1; i < valid; ++i) folded = combine(folded, values_[i]);
    return folded;
  }

 private:
  T* values_;
};

/// The part of CUB's WarpScan that Ramify uses, over all 32 lanes.
template <class T>
class warp_scan {
 public:
  struct TempStorage {};

  /// Needs no storage.
  explicit warp_scan(TempStorage& /*storage*/) {}

  /// Computes the exclusive prefix sum over the lanes of the warp, and the sum of all.
  void ExclusiveSum(T input, T& output, T& total, builtins::site s = builtins::site::current()) {
    static_assert(sizeof(T) <= 8);
    const warp_values& all =
        warp_exchange(0xffffffffu, static_cast<std::uint64_t>(input), "warp_scan", s);
    T sum{};
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (lane == linear_thread() % 32) output = sum;
      sum += static_cast<T>(all.of_lane[lane]);
    }
    total = sum;
  }
};

/// CUB's BlockMergeSort: a stable sort of `threads * items` keys in blocked arrangement.
///
/// Thread t holds the keys t * items to (t + 1) * items - 1, before and after the sort.
template <class Key, int threads, int items, class Value = no_value>
class block_merge_sort {
  struct element {
    Key key;
    [[no_unique_address]] Value value;
  };

 public:
  /// Shared memory of the block, as CUB's type of this name.
  struct TempStorage {
    alignas(element) std::byte elements[sizeof(element) * threads * items];  ///< of the threads
  };

  /// Uses this storage. All threads of the block must pass the same one.
  explicit block_merge_sort(TempStorage& storage)
      : elements_(reinterpret_cast<element*>(storage.elements)) {}

  /// Sorts all keys of the block. Collective.
  template <class Compare>
  void Sort(Key (&keys)[items], Compare compare) {
    Sort(keys, compare, threads * items, keys[0]);
  }

  /// Sorts the first `valid` keys of the block. The keys after them are unspecified.
  template <class Compare>
  void Sort(Key (&keys)[items], Compare compare, int valid, const Key& out_of_bounds) {
    Value none[items]{};
    Sort(keys, none, compare, valid, out_of_bounds);
  }

  /// Sorts the first `valid` keys of the block, with their values. Collective.
  template <class Compare>
  void Sort(Key (&keys)[items], Value (&values)[items], Compare compare, int valid,
            const Key& /*out_of_bounds*/) {
    element* mine = elements_ + linear_thread() * items;
    for (int i = 0; i < items; ++i) mine[i] = {keys[i], values[i]};
    wait_then([&] {
      const auto by_key = [&](const element& a, const element& b) { return compare(a.key, b.key); };
      std::stable_sort(elements_, elements_ + valid, by_key);
    });
    for (int i = 0; i < items; ++i) {
      keys[i] = mine[i].key;
      values[i] = mine[i].value;
    }
  }

 private:
  element* elements_;
};

}  // namespace ramify::cpu::inline RAMIFY_ABI
RAMIFY_INT_ARRAY_BOUNDS_END
