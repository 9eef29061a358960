// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Sorting by one block: a leaf in shared memory, or a longer segment by merging leaves.

#include <ramify/quicksort/segment.cuh>
#include <ramify/runtime/shared.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// How one block sorts, for elements of a type.
template <class Key, class Value>
struct block_sorter {
  using tuning = quicksort_tuning<Key, Value>;
  static constexpr int threads = tuning::threads;
  static constexpr int items = tuning::leaf_items;
  static constexpr bool has_values = tuning::has_values;
  using merge_sort = block_merge_sort<Key, threads, items, Value>;

  union storage {
    typename merge_sort::TempStorage sort;
    uninitialized_array<Key, tuning::leaf_size> keys;
    uninitialized_array<Value, has_values ? tuning::leaf_size : 1> values;
  };

  /// Sorts `count` <= leaf_size elements of `from`, beginning at `begin`, into the same positions
  /// of `to`, which may be `from`. Every thread of the block calls this.
  template <class Compare>
  __device__ static void sort_leaf(storage& shared, columns<Key, Value> from,
                                   columns<Key, Value> to, position begin, unsigned count,
                                   Compare compare) {
    // 1. Load. What lies beyond the end needs a value, any value.
    const thread_share<items> share(count);
    Key keys[items];
    Value values[items];
    for (int i = 0; i < items; ++i) {
      const position at = begin + (i < share.count() ? share.at(i) : 0);
      keys[i] = from.keys[at];
      if constexpr (has_values) values[i] = from.values[at];
    }

    // 2. Sort. CUB asks for a key that no other follows, to fill the rest of a thread's items with,
    //    and nobody knows one of a type of the user's. The thread's own first key does: CUB fills
    //    with the largest of it and the thread's valid keys, and merges valid keys only (read in
    //    the sources of CUB 2.0 and 3.0).
    if constexpr (has_values) {
      merge_sort(shared.sort).Sort(keys, values, compare, static_cast<int>(count), keys[0]);
    } else {
      merge_sort(shared.sort).Sort(keys, compare, static_cast<int>(count), keys[0]);
    }

    // 3. Store, by way of shared memory so that neighbours write neighbours.
    store(shared.keys, keys, to.keys + begin, count);
    if constexpr (has_values) store(shared.values, values, to.values + begin, count);
    __syncthreads();
  }

  /// Sorts a segment of any length into the caller's arrays, buffers[0]: the fallback with a bound.
  /// O(n log n) comparisons for any input; one block, so slow. Uses the segment's part of both
  /// buffers. Every thread of the block calls this.
  template <class Compare>
  __device__ static void sort_long(storage& shared, const columns<Key, Value> (&buffers)[2],
                                   const segment& s, Compare compare) {
    // 1. Sort runs of a leaf's size where they are.
    const columns<Key, Value> source = buffers[s.buffer];
    for (position at = s.begin; at < s.end; at += tuning::leaf_size) {
      const position left = s.end - at;
      const auto count = static_cast<unsigned>(left < tuning::leaf_size ? left : tuning::leaf_size);
      sort_leaf(shared, source, source, at, count, compare);
    }
    // 2. Merge pairs of runs into the other buffer, until one run is left.
    unsigned buffer = s.buffer;
    for (position run = tuning::leaf_size; run < s.size(); run *= 2) {
      merge_runs(buffers[buffer], buffers[1 - buffer], s, run, compare);
      buffer = 1 - buffer;
      __syncthreads();
    }
    // 3. Bring it home.
    if (buffer != 0) copy_home(buffers, s.begin, s.end);
  }

  /// Copies elements from the scratch arrays to the caller's. Every thread of the block calls this.
  __device__ static void copy_home(const columns<Key, Value> (&buffers)[2], position begin,
                                   position end) {
    for (position at = begin + threadIdx.x; at < end; at += threads) {
      buffers[0].take(at, buffers[1], at);
    }
  }

 private:
  template <class T, class Array>
  __device__ static void store(Array& staged, const T (&mine)[items], T* to, unsigned count) {
    __syncthreads();
    for (int i = 0; i < items; ++i) staged[threadIdx.x * items + i] = mine[i];
    __syncthreads();
    for (unsigned i = threadIdx.x; i < count; i += threads) to[i] = staged[i];
  }

  /// One pass of a bottom-up merge sort. Each thread writes `items` elements at a time; where in
  /// the two runs they begin, it finds on its diagonal of the merge path (Green, McColl and Bader,
  /// 2012).
  template <class Compare>
  __device__ static void merge_runs(columns<Key, Value> from, columns<Key, Value> to,
                                    const segment& s, position run, Compare compare) {
    for (position out = s.begin + position{threadIdx.x} * items; out < s.end;
         out += position{threads} * items) {
      const position pair = s.begin + (out - s.begin) / (2 * run) * (2 * run);
      const position middle = pair + run < s.end ? pair + run : s.end;
      const position end = pair + 2 * run < s.end ? pair + 2 * run : s.end;
      // How many of the first `out - pair` merged elements come from the left run?
      const position diagonal = out - pair;
      position low = diagonal > end - middle ? diagonal - (end - middle) : 0;
      position high = diagonal < middle - pair ? diagonal : middle - pair;
      while (low < high) {
        const position left = low + (high - low) / 2;
        if (compare(from.keys[middle + diagonal - 1 - left], from.keys[pair + left])) {
          high = left;
        } else {
          low = left + 1;
        }
      }
      position left = pair + low;
      position right = middle + diagonal - low;
      for (int i = 0; i < items && out + i < end; ++i) {
        const bool take_right =
            left == middle || (right < end && compare(from.keys[right], from.keys[left]));
        to.take(out + i, from, take_right ? right++ : left++);
      }
    }
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
