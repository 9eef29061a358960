// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The base cases of quicksort: a leaf in shared memory, or a longer segment by merging leaves.

#include <ramify/quicksort/team_sort.cuh>
#include <ramify/runtime/shared.cuh>
#include <ramify/runtime/team.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// Copies elements from the scratch arrays to the caller's. Each of `copiers` threads calls this with its
/// number.
template <class Key, class Value>
__device__ void copy_home(const columns<Key, Value> (&buffers)[2], position begin, position end,
                          unsigned me, unsigned copiers) {
  for (position at = begin + me; at < end; at += copiers) buffers[0].take(at, buffers[1], at);
}

/// How a team of `threads` sorts segments, `items` elements a thread at a time.
template <class Key, class Value, int threads, int items>
struct leaf_sorter {
  using leaf_sort = team_sort<Key, Value, threads, items>;
  using storage = typename leaf_sort::storage;
  using team = block_team<threads>;
  static constexpr int leaf_size = leaf_sort::capacity;

  /// Sorts a segment into the caller's arrays, buffers[0]. One longer than a leaf is merge-sorted: the
  /// fallback with a bound, O(n log n) comparisons for any input, but one team, so slow. Uses the
  /// segment's part of both buffers. Every thread of the team. Whether it was longer than a leaf.
  template <class Compare>
  __device__ static bool sort(const team& self, storage& shared,
                              const columns<Key, Value> (&buffers)[2], const segment& s,
                              Compare compare) {
    // 1. Sort the leaf or, one after the other, runs of a leaf's size, where they are.
    const bool is_leaf = s.size() <= leaf_size;
    const columns<Key, Value> source = buffers[s.buffer];
    for (position at = s.begin; at < s.end; at += leaf_size) {
      const position left = s.end - at;
      const auto count = static_cast<unsigned>(left < leaf_size ? left : leaf_size);
      leaf_sort::sort(self, shared, source, is_leaf ? buffers[0] : source, at, count, compare);
    }
    if (is_leaf) return false;
    // 2. Merge pairs of runs into the other buffer, until one run is left.
    unsigned buffer = s.buffer;
    for (position run = leaf_size; run < s.size(); run *= 2) {
      merge_runs(self, buffers[buffer], buffers[1 - buffer], s, run, compare);
      buffer = 1 - buffer;
      self.sync();
    }
    // 3. Bring it home.
    if (buffer != 0) copy_home(buffers, s.begin, s.end, self.rank, threads);
    return true;
  }

 private:
  /// One pass of a bottom-up merge sort. Each thread writes `items` elements at a time; where in
  /// the two runs they begin, it finds on its diagonal of the merge path, as team_sort does.
  template <class Compare>
  __device__ static void merge_runs(const team& self, columns<Key, Value> from,
                                    columns<Key, Value> to, const segment& s, position run,
                                    Compare compare) {
    for (position out = s.begin + position{self.rank} * items; out < s.end;
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
