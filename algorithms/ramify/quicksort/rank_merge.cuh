// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Merges several sorted runs at once: a thread finds the place of an element by binary searches in
/// the other runs.
///
///     3 runs, sorted   [2 5 8] [1 5 9] [3 4]
///     an element       the 5 of the second run has 1 element before it in its own run, 2 in the
///                      first run and 2 in the third: its place is 5
///     result           [1 2 3 4 5 5 8 9]
///
/// The searches do not depend on each other, so their latencies overlap. Equal elements of
/// different runs are ordered by their run, so all places are different, if the comparator is a
/// strict weak order. O(n ways log n) comparisons.

#include <ramify/runtime/cuda.hpp>
#include <type_traits>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// The shape of a pass: which runs it merges.
struct merge_pass {
  unsigned n;     ///< elements of the root
  unsigned run;   ///< elements of a run, apart from the last run
  unsigned ways;  ///< runs that are merged into one

  /// Returns the first step of a binary search in a run: the greatest power of two in its length.
  [[nodiscard]] __device__ unsigned longest_step() const {
    return 1u << (31 - __clz(static_cast<int>(run)));
  }
};

/// The position of an element: its group of runs, which are merged into one, and its own run.
struct merged_element {
  unsigned begin;     ///< index of the first element of the group
  unsigned own_run;   ///< number of its own run in the group
  unsigned others;    ///< how many other runs the group has
  unsigned own_rank;  ///< number of elements before it in its own run

  __device__ merged_element(const merge_pass& pass, unsigned index) {
    const unsigned run = index / pass.run;
    own_run = run % pass.ways;
    begin = (run - own_run) * pass.run;
    others = min(pass.ways, (pass.n - begin + pass.run - 1) / pass.run) - 1;
    own_rank = index - run * pass.run;
  }
};

/// The type of a variable for a code that is compared: a copy, so that the loads of several
/// searches overlap, or a reference if the code is large.
template <class Code>
using probe_of = std::conditional_t<sizeof(Code) <= 16, const Code, const Code&>;

/// Returns how many elements of `count` other runs precede the element at `index`. The other runs
/// of its group are numbered without its own run; these are those from number `first` on. All are
/// searched at the same time. A missing run counts as empty, and its search reads the element
/// itself, because conditional loads would not overlap.
template <int count, class Code, class Key, class Compare>
__device__ unsigned count_before(const Key* keys, const merge_pass& pass,
                                 const merged_element& element, unsigned index, const Code& code,
                                 unsigned first, Compare compare) {
  unsigned begin[count];
  unsigned size[count];
  unsigned before[count];
  RAMIFY_UNROLL
  for (int r = 0; r < count; ++r) {
    const unsigned other = first + unsigned(r);
    const bool exists = other < element.others;
    const unsigned run = other < element.own_run ? other : other + 1;
    begin[r] = exists ? element.begin + run * pass.run : index;
    size[r] = exists ? min(pass.run, pass.n - begin[r]) : 0;
    before[r] = 0;
  }
  for (unsigned step = pass.longest_step(); step > 0; step /= 2) {
    RAMIFY_UNROLL
    for (int r = 0; r < count; ++r) {
      const bool inside = before[r] + step <= size[r];
      probe_of<Code> probe = compare.load(keys[begin[r] + (inside ? before[r] + step - 1 : 0)]);
      // Of equal elements, those of the left run come first.
      const bool is_left = first + unsigned(r) < element.own_run;
      const bool precedes = is_left ? !compare(code, probe) : compare(probe, code);
      before[r] += inside && precedes ? step : 0;
    }
  }
  unsigned sum = 0;
  RAMIFY_UNROLL
  for (int r = 0; r < count; ++r) sum += before[r];
  return sum;
}

/// Returns how many elements precede the element at `index` in the other runs that belong to one of
/// `searchers` searchers. Each other run belongs to one searcher.
template <int at_once, class Code, class Key, class Compare>
__device__ unsigned count_before_in_runs(const Key* keys, const merge_pass& pass,
                                         const merged_element& element, unsigned index,
                                         const Code& code, unsigned searcher, unsigned searchers,
                                         Compare compare) {
  unsigned before = 0;
  for (unsigned first = searcher * at_once; first < element.others; first += searchers * at_once) {
    before += count_before<at_once>(keys, pass, element, index, code, first, compare);
  }
  return before;
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
