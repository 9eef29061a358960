// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The values that the kernels of quicksort calculate with.

#include <cstddef>
#include <cstdint>
#include <ramify/quicksort/tuning.cuh>
#include <type_traits>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// Positions count from the first element of the whole input.
using position = unsigned long long;

/// Elements that belong between their neighbours already, and wait to be sorted among themselves.
struct segment {
  position begin = 0;
  position end = 0;
  unsigned depth = 0;             ///< partitions behind it
  unsigned short buffer = 0;      ///< where it is: 0 the caller's arrays, 1 the scratch arrays
  unsigned short sorted = false;  ///< all equal: it only has to get to the caller's arrays

  [[nodiscard]] __host__ __device__ position size() const { return end - begin; }
};

/// How many tiles of `tile_size` elements cover a segment.
__host__ __device__ inline unsigned tile_count(const segment& s, int tile_size) {
  return static_cast<unsigned>((s.size() + tile_size - 1) / tile_size);
}

/// An array of keys, and one of values beside it unless Value is no_value.
template <class Key, class Value>
struct key_value_arrays {
  static_assert(std::is_trivially_copyable_v<Key> && std::is_trivially_copyable_v<Value>,
                "elements are moved bit by bit");
  static_assert(std::is_default_constructible_v<Key> && std::is_default_constructible_v<Value>,
                "kernels hold elements in arrays");
  static constexpr bool has_values = !std::is_same_v<Value, no_value>;

  Key* keys = nullptr;
  Value* values = nullptr;

  /// Puts element `from` of `source` to `to`.
  __device__ void take(position to, const key_value_arrays& source, position from) const {
    keys[to] = source.keys[from];
    if constexpr (has_values) values[to] = source.values[from];
  }
};

/// The caller's arrays, and the scratch arrays. Which of them is meant is chosen by a comparison, for an
/// index that is only known at run time would put kernel arguments into local memory, and hide from
/// the compiler that these are arrays in device memory.
template <class Key, class Value>
struct double_buffer {
  key_value_arrays<Key, Value> output;
  key_value_arrays<Key, Value> scratch;

  __device__ key_value_arrays<Key, Value> operator[](unsigned buffer) const {
    return {buffer == 0 ? output.keys : scratch.keys, buffer == 0 ? output.values : scratch.values};
  }
};

/// Which elements of a block's piece a thread loads. The order of elements to be sorted means
/// nothing, so neighbours read neighbours. And still a thread's elements are a run in the
/// arrangement that collectives expect: thread t counts as holding [t * items, (t + 1) * items).
///
///     7 elements, 2 items, threads 0 to 3  -->  [0 3] [1 4] [2 5] [6 -]
template <int items>
struct thread_share {
  unsigned full;   ///< threads with all their items
  unsigned valid;  ///< elements of the piece

  __device__ explicit thread_share(unsigned valid) : full(valid / items), valid(valid) {}

  /// Elements that this thread holds.
  __device__ int count() const {
    if (threadIdx.x < full) return items;
    return threadIdx.x == full ? static_cast<int>(valid - full * items) : 0;
  }
  /// Where in the piece its element `item` is.
  __device__ unsigned at(int item) const {
    return threadIdx.x < full ? item * full + threadIdx.x : full * items + item;
  }
  /// Elements that the threads before this one hold.
  __device__ unsigned before() const {
    return threadIdx.x < full ? threadIdx.x * items : threadIdx.x == full ? full * items : valid;
  }
};

/// A thread's run of `count` things that a block of `threads` shares out: neighbours, so that a scan
/// over the threads keeps the things in order.
///
///     5 things, 4 threads  -->  [0 1] [2 3] [4] []
template <int threads>
struct thread_range {
  unsigned begin;
  unsigned end;

  __device__ explicit thread_range(unsigned count) {
    const unsigned each = (count + threads - 1) / threads;
    begin = min(threadIdx.x * each, count);
    end = min(begin + each, count);
  }
};

/// A well-mixed number: the last steps of splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
__host__ __device__ inline unsigned long long mix(unsigned long long x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// Element `i` of a sample of `count` from `s`: one at random from each of `count` equal stretches.
/// The same for every block that asks.
__device__ inline position sample_position(const segment& s, unsigned i, unsigned count) {
  const position least = s.size() / count;
  const position longer = s.size() % count;  // the first stretches have one element more
  const position first = i * least + (i < longer ? i : longer);
  const position stretch = least + (i < longer ? 1 : 0);
  const unsigned long long random = mix(s.begin ^ (s.end << 20) ^ (position{i} << 44)) >> 40;
  return s.begin + first + (random * stretch >> 24);  // a division takes much longer
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
