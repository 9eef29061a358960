// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The base cases of quicksort: a leaf in shared memory, or a longer segment by merging leaves.

#include <ramify/quicksort/team_merge_sort.cuh>
#include <ramify/runtime/shared.cuh>
#include <ramify/runtime/team.cuh>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// Copies elements from the scratch arrays to the caller's. Each of `copiers` threads calls this with its
/// number.
template <class Key, class Value>
__device__ void copy_to_output(const double_buffer<Key, Value>& buffers, position begin, position end,
                          unsigned me, unsigned copiers) {
  for (position at = begin + me; at < end; at += copiers)
    buffers.output.take(at, buffers.scratch, at);
}

/// How a team of `threads` sorts segments, `items` elements a thread at a time.
template <class Code, class Value, int threads, int items>
struct leaf_sorter {
  using leaf_sort = team_merge_sort<Code, Value, threads, items>;
  using storage = typename leaf_sort::storage;
  using arrays = typename leaf_sort::arrays;
  using team = block_team<threads>;
  static constexpr int leaf_size = leaf_sort::capacity;

  /// Sorts a segment of up to leaf_size elements into the caller's arrays, buffers[0]. Every thread of
  /// the team.
  template <class Key, class Compare>
  __device__ static void sort_leaf(const team& self, const arrays& shared,
                                   const double_buffer<Key, Value>& buffers, const segment& s,
                                   Compare compare) {
    leaf_sort::sort(self, shared, buffers[s.buffer], buffers.output, s.begin,
                    static_cast<unsigned>(s.size()), compare);
  }

  /// Sorts a segment of any length into the caller's arrays: a long one by merging runs, which takes
  /// O(n log n) comparisons for any input, but there is only one team for it. Uses the segment's part of
  /// both buffers. `shared` has room for `most` elements. Every thread of the team.
  template <class Key, class Compare>
  __device__ static void sort(const team& self, const arrays& shared,
                              const double_buffer<Key, Value>& buffers, const segment& s,
                              Compare compare, unsigned most = leaf_size) {
    // 1. Sort the leaf or, one after the other, runs of `most`, where they are.
    const bool is_leaf = s.size() <= most;
    const key_value_arrays<Key, Value> source = buffers[s.buffer];
    for (position at = s.begin; at < s.end; at += most) {
      const position left = s.end - at;
      const auto count = static_cast<unsigned>(left < most ? left : most);
      leaf_sort::sort(self, shared, source, is_leaf ? buffers.output : source, at, count, compare);
    }
    if (is_leaf) return;
    // 2. Merge pairs of runs into the other buffer, until one run is left, or a comparator that is no order
    //    has torn a merge, as in team_merge_sort: then the runs stay as they are.
    unsigned buffer = s.buffer;
    for (position run = most; run < s.size(); run *= 2) {
      const bool whole = merge_runs(self, buffers[buffer], buffers[1 - buffer], s, run, compare);
      if constexpr (!Compare::known_strict_weak) {
        if (any_of_team(self, [&] { return !whole; })) break;
      }
      buffer = 1 - buffer;
      self.sync();
    }
    // 3. Bring it output.
    if (buffer != 0) copy_to_output(buffers, s.begin, s.end, self.rank, threads);
  }

 private:
  /// One pass of a bottom-up merge sort. Each thread writes `items` elements at a time; where in
  /// the two runs they begin, it finds on its diagonal of the merge path, as team_merge_sort does. Of an order that
  /// is not known_strict_weak, it finds where the next ones begin too: false if they do not where these end.
  template <class Key, class Compare>
  __device__ static bool merge_runs(const team& self, key_value_arrays<Key, Value> from,
                                    key_value_arrays<Key, Value> to, const segment& s, position run,
                                    Compare compare) {
    bool whole = true;
    for (position out = s.begin + position{self.rank} * items; out < s.end;
         out += position{threads} * items) {
      const position pair = s.begin + (out - s.begin) / (2 * run) * (2 * run);
      const position middle = pair + run < s.end ? pair + run : s.end;
      const position end = pair + 2 * run < s.end ? pair + 2 * run : s.end;
      const auto before = [&](position a, position b) {
        return compare(compare.encode(from.keys[a]), compare.encode(from.keys[b]));
      };
      const auto left_of = [&](position diagonal) {
        return merge_path(diagonal, middle - pair, end - middle, [&](position r, position l) {
          return before(middle + r, pair + l);
        });
      };
      const position diagonal = out - pair;
      const position low = left_of(diagonal);
      position left = pair + low;
      position right = middle + diagonal - low;
      for (int i = 0; i < items && out + i < end; ++i) {
        const bool take_right = left == middle || (right < end && before(right, left));
        to.take(out + i, from, take_right ? right++ : left++);
      }
      if constexpr (!Compare::known_strict_weak) {
        const bool is_last = out + items >= end;
        whole = whole && (is_last || left == pair + left_of(diagonal + items));
      }
    }
    return whole;
  }
};

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
