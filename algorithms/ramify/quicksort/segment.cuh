// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The value types of the quicksort kernels: segments, arrays of elements, shares of work.

#include <ramify/quicksort/tuning.cuh>
#include <ramify/runtime/detail/hash.cuh>
#include <ramify/runtime/prefix_sum.cuh>
#include <type_traits>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// An index into the whole input.
using position = unsigned long long;

/// A range of elements that is in its final place relative to its neighbors. Only the elements
/// inside are still to be sorted.
struct segment {
  position begin = 0;
  position end = 0;
  unsigned depth = 0;         ///< number of partitions that led to this segment
  unsigned short buffer = 0;  ///< index into a double_buffer: 0 output, 1 scratch
  /// Not 0 if all keys are equal. Then the segment is only copied to the output.
  unsigned short sorted = 0;

  [[nodiscard]] __host__ __device__ position size() const { return end - begin; }
};

/// Returns the number of tiles of `tile_size` elements that cover a segment.
__host__ __device__ inline unsigned tile_count(const segment& s, unsigned tile_size) {
  return static_cast<unsigned>((s.size() + tile_size - 1) / tile_size);
}

/// An array of keys and, unless Value is no_value, an array of values of the same length.
template <class Key, class Value>
struct key_value_arrays {
  static_assert(std::is_trivially_copyable_v<Key> && std::is_trivially_copyable_v<Value>,
                "elements are copied bit by bit");
  static_assert(std::is_default_constructible_v<Key> && std::is_default_constructible_v<Value>,
                "kernels hold elements in arrays");
  static constexpr bool has_values = !std::is_same_v<Value, no_value>;

  Key* keys = nullptr;
  Value* values = nullptr;

  /// Copies element `from` of `source` to index `to`.
  __device__ void copy_element(position to, const key_value_arrays& source, position from) const {
    keys[to] = source.keys[from];
    if constexpr (has_values) values[to] = source.values[from];
  }
};

/// The caller's arrays, which receive the output, and the scratch arrays.
template <class Key, class Value>
struct double_buffer {
  key_value_arrays<Key, Value> output;
  key_value_arrays<Key, Value> scratch;

  /// Returns the output arrays for 0 and the scratch arrays for 1. The comparison is deliberate: an
  /// index known only at run time would put kernel arguments into local memory, and would hide from
  /// the compiler that these arrays are in global memory.
  __device__ key_value_arrays<Key, Value> operator[](unsigned buffer) const {
    return {buffer == 0 ? output.keys : scratch.keys, buffer == 0 ? output.values : scratch.values};
  }
};

/// The elements of a tile that this thread loads. Their order before the sort does not matter, so
/// the loads are striped, which coalesces them. The collectives require a blocked arrangement, so
/// thread t counts as the owner of elements [t * items, (t + 1) * items).
///
///     7 elements, 2 items, threads 0 to 3  -->  [0 3] [1 4] [2 5] [6 -]
template <int items>
struct thread_share {
  unsigned before;  ///< number of elements that lower-numbered threads own
  int count;        ///< number of elements of this thread

  __device__ thread_share(unsigned rank, unsigned tile) : before(min(rank * items, tile)) {
    const unsigned full = tile / items;  // threads with all their items
    count = rank < full ? items : static_cast<int>(tile - before);
    first_ = rank < full ? rank : before;
    stride_ = rank < full ? full : 1;
  }
  /// Returns the index in the tile of this thread's element `item`.
  [[nodiscard]] __device__ unsigned at(int item) const { return first_ + unsigned(item) * stride_; }

 private:
  unsigned first_;
  unsigned stride_;
};

/// Calls visit(i, here, before) for each i < count, where `here` is value(i), and `before` is the
/// sum of value(0) to value(i - 1). Returns the sum of all values. Each thread of the block has a
/// contiguous range of indices (CUB's blocked arrangement), so the scan over the threads follows
/// the order of the indices. All threads must call it. It ends with a barrier.
///
///     5 values, 4 threads  -->  [0 1] [2 3] [4] []
template <int threads, class Sum, class Value, class Visit>
__device__ Sum scan_in_order(typename block_scan<Sum, threads>::TempStorage& storage,
                             unsigned count, Value value, Visit visit) {
  const unsigned each = (count + threads - 1) / threads;
  const unsigned begin = min(threadIdx.x * each, count);
  const unsigned end = min(begin + each, count);
  Sum mine = 0;
  for (unsigned i = begin; i < end; ++i) mine += value(i);
  Sum before = 0;
  Sum total = 0;
  block_scan<Sum, threads>(storage).ExclusiveSum(mine, before, total);
  for (unsigned i = begin; i < end; ++i) {
    const Sum here = value(i);
    visit(i, here, before);
    before += here;
  }
  __syncthreads();
  return total;
}

/// Returns the position of element `i` of a stratified sample of `count` elements of `s`: `s` is
/// divided into `count` strata of equal size, and one random element of each is in the sample. All
/// blocks get the same sample.
__host__ __device__ inline position sample_position(const segment& s, unsigned i, unsigned count) {
  const position min_size = s.size() / count;
  // The first `longer` strata have one element more.
  const position longer = s.size() % count;
  const position first = i * min_size + (i < longer ? i : longer);
  const position size = min_size + (i < longer ? 1 : 0);
  const unsigned long long random =
      runtime::splitmix64_finalize(s.begin ^ (s.end << 20) ^ (position{i} << 44)) >> 40;
  return s.begin + first + (random * size >> 24);  // a modulo operation takes much longer
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
