// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The base cases of quicksort: a leaf in shared memory, or a longer segment by merging sorted
/// runs.

#include <ramify/quicksort/team_merge_sort.cuh>
#include <ramify/runtime/shared.cuh>
#include <ramify/runtime/team.cuh>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// Copies elements from the scratch arrays to the output arrays. Each of `threads` threads must
/// call it with its own `rank`.
template <class Key, class Value>
__device__ void copy_to_output(const double_buffer<Key, Value>& buffers, position begin,
                               position end, unsigned rank, unsigned threads) {
  for (position at = begin + rank; at < end; at += threads)
    buffers.output.copy_element(at, buffers.scratch, at);
}

/// Runs one pass of a bottom-up merge sort. Each thread writes `items` elements at a time, and
/// finds their begin in the two runs on its diagonal of the merge path. Unless the order is known
/// to be strict weak, the thread also finds where the next elements begin, and returns false if its
/// own do not end there.
template <class Sorter, class Team, class Key, class Value, class Compare>
__device__ bool merge_runs(const Team& self, key_value_arrays<Key, Value> from,
                           key_value_arrays<Key, Value> to, const segment& s, position run,
                           Compare compare) {
  constexpr int items = Sorter::items_of_thread;
  bool complete = true;
  for (position out = s.begin + position{self.rank} * items; out < s.end; out += Sorter::capacity) {
    const position pair = s.begin + (out - s.begin) / (2 * run) * (2 * run);
    const position middle = min(pair + run, s.end);
    const position end = min(pair + 2 * run, s.end);
    const auto before = [&](position a, position b) {
      return compare(compare.encode(from.keys[a]), compare.encode(from.keys[b]));
    };
    const auto count_left = [&](position diagonal) {
      return merge_path(diagonal, middle - pair, end - middle,
                        [&](position r, position l) { return before(middle + r, pair + l); });
    };
    const position diagonal = out - pair;
    const position low = count_left(diagonal);
    position left = pair + low;
    position right = middle + diagonal - low;
    for (int i = 0; i < items && out + position(i) < end; ++i) {
      const bool take_right = left == middle || (right < end && before(right, left));
      to.copy_element(out + position(i), from, take_right ? right++ : left++);
    }
    if constexpr (!Compare::known_strict_weak) {
      const bool is_last = out + items >= end;
      complete = complete && (is_last || left == pair + count_left(diagonal + items));
    }
  }
  return complete;
}

/// Sorts a segment of any length into the output arrays. A leaf is sorted by a team_merge_sort. A
/// longer segment is divided into sorted runs, which the team merges. This takes O(n log n)
/// comparisons for any input. Overwrites the segment in both buffers. `shared` must have space for
/// `max` elements. All threads of the team must call it.
template <class Sorter, class Team = typename Sorter::team, class Key, class Value, class Compare>
__device__ void sort_segment(const Team& self, const typename Sorter::arrays& shared,
                             const double_buffer<Key, Value>& buffers, const segment& s,
                             Compare compare, unsigned max = Sorter::capacity) {
  // 1. Sort the leaf into the output or, for a longer segment, runs of `max` elements in place.
  const bool is_leaf = s.size() <= max;
  const key_value_arrays<Key, Value> source = buffers[s.buffer];
  for (position at = s.begin; at < s.end; at += max) {
    const auto count = static_cast<unsigned>(min(s.end - at, position{max}));
    Sorter::sort(self, shared, source, is_leaf ? buffers.output : source, at, count, compare);
  }
  if (is_leaf) return;
  // 2. Merge pairs of runs into the other buffer until one run is left. If the comparator is no
  //    strict weak order and a merge would lose elements, the runs stay as they are.
  unsigned buffer = s.buffer;
  for (position run = max; run < s.size(); run *= 2) {
    const bool complete =
        merge_runs<Sorter>(self, buffers[buffer], buffers[1 - buffer], s, run, compare);
    if constexpr (!Compare::known_strict_weak) {
      if (any_of_team(self, [&] { return !complete; })) break;
    }
    buffer = 1 - buffer;
    self.sync();
  }
  // 3. Copy the result to the output, unless it is there.
  if (buffer != 0) copy_to_output(buffers, s.begin, s.end, self.rank, Sorter::threads_of_team);
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
