// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Merge sort by a team of threads in shared memory.
///
///     8 threads, 3 elements each    each thread sorts its own in registers, then runs are merged:
///     runs of 3  ->  runs of 6  ->  runs of 12  ->  24
///
/// In a merge, each thread writes `items` elements of the result. It finds where they begin in the
/// two runs by binary search on its diagonal of the merge path (Odeh, Green et al., 2012). `items`
/// is odd, so that threads access shared memory without bank conflicts.
///
/// With a comparator that is no strict weak order, the range of one thread may end elsewhere than
/// the range of the next thread begins, and elements would be lost. Unless the order is known to be
/// strict weak, threads compare these ends. If they differ, the runs stay unmerged.

#include <cstdint>
#include <ramify/quicksort/segment.cuh>
#include <ramify/quicksort/sorting_network.cuh>
#include <ramify/runtime/detail/partition_point.cuh>
#include <ramify/runtime/shared.cuh>
#include <ramify/runtime/team.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// Returns how many of the first `diagonal` elements of the merge of two runs come from the left
/// run. right_first(r, l) returns whether element r of the right run precedes element l of the left
/// run.
template <class Index, class RightFirst>
__device__ Index merge_path(Index diagonal, Index left_size, Index right_size,
                            RightFirst right_first) {
  const Index low = diagonal > right_size ? diagonal - right_size : 0;
  const Index high = diagonal < left_size ? diagonal : left_size;
  return runtime::partition_point(
      low, high, [&](Index left) { return !right_first(diagonal - 1 - left, left); });
}

/// Two adjacent sorted runs, which meet at `middle`.
struct two_runs {
  unsigned begin;
  unsigned middle;
  unsigned end;
};

/// The default of team_merge_sort::sort_keys(): all elements are in one segment.
struct one_segment {
  static constexpr bool is_one = true;
  template <class Key, int items, bool with_indices>
  using elements = thread_items<Key, items, with_indices>;
};

/// The default of `complete` in team_merge_sort::sort_keys(). It changes nothing: `read` returns
/// complete codes.
struct complete_codes {
  template <class Code, int items>
  __device__ void operator()(Code (&)[items], int /*valid*/) const {}
};

/// The merge sort of a team of `threads` threads with `items` elements each. `Code` is the type
/// that keys are compared as, see sort_order.
template <class Code, class Value, int threads, int items>
struct team_merge_sort {
  static constexpr bool has_values = key_value_arrays<Code, Value>::has_values;
  static constexpr int threads_of_team = threads;
  static constexpr int items_of_thread = items;
  static constexpr int capacity = threads * items;
  using team = block_team<threads>;  ///< of a block with any number of teams
  static_assert(capacity <= 65'536, "indices have 16 bits");

  /// Arrays in shared memory. They are `items` + 1 elements longer than the input: the last thread
  /// reads past the end, but does not compare what it reads there.
  struct arrays {
    Code* keys;
    std::uint16_t* indices;  ///< unused without values
  };
  struct storage {
    uninitialized_array<Code, capacity + items + 1> keys;
    uninitialized_array<std::uint16_t, has_values ? capacity + items + 1 : 1> indices;
    __device__ arrays view() { return {keys.data(), indices.data()}; }
  };
  /// Returns the bytes of shared memory for up to `max` elements.
  [[nodiscard]] __host__ __device__ static constexpr std::size_t bytes(std::size_t max) {
    return key_bytes(max) + (has_values ? 2 * (max + items + 1) : 0);
  }
  /// Returns the arrays for up to `max` elements in memory of bytes(max).
  [[nodiscard]] __device__ static arrays lay_out(void* memory, unsigned max) {
    auto* begin = static_cast<unsigned char*>(memory);
    return {reinterpret_cast<Code*>(begin),
            reinterpret_cast<std::uint16_t*>(begin + key_bytes(max))};
  }

  /// Sorts `count` <= capacity elements of `from`, starting at `begin`, into the same positions of
  /// `to`, which may be `from`. With `keeps_codes` it stores the codes of the keys instead of the
  /// keys. Not stable. All threads of the team must call it.
  template <class Team, class Key, class Compare>
  __device__ static void sort(const Team& team, const arrays& shared,
                              key_value_arrays<Key, Value> from, key_value_arrays<Key, Value> to,
                              position begin, unsigned count, Compare compare,
                              bool keeps_codes = false) {
    const Key* keys = from.keys + begin;
    const auto read = [&](unsigned i) { return compare.begin_code(keys[i]); };
    const auto complete = [&](Code(&codes)[items], int valid) {
      compare.with_rest([&](const auto& completed) {
        for_valid_items(valid, [&](int i, bool) { codes[i] = completed(codes[i]); });
      });
    };
    sort_keys(team, shared, read, count, compare, one_segment{}, complete);
    if constexpr (has_values) {
      // All values are read before the first is written, because `to` may be `from`.
      Value values[items];
      RAMIFY_UNROLL
      for (int i = 0; i < items; ++i) {
        const unsigned at = unsigned(i) * threads + team.rank;
        if (at < count) values[i] = from.values[begin + shared.indices[at]];
      }
      team.sync();
      RAMIFY_UNROLL
      for (int i = 0; i < items; ++i) {
        const unsigned at = unsigned(i) * threads + team.rank;
        if (at < count) to.values[begin + at] = values[i];
      }
    }
    const auto write = [&](const auto& decoder) {
      for (unsigned i = team.rank; i < count; i += threads) {
        to.keys[begin + i] = decoder(shared.keys[i]);
      }
    };
    if (!Compare::keys_are_codes && keeps_codes) {
      write([](const Code& code) { return Compare::store(code); });
    } else {
      compare.with_decoder(write);
    }
    team.sync();
  }

  /// Sorts the `count` <= capacity codes read(0) to read(count - 1) into shared.keys, and the
  /// arguments of `read` into shared.indices. All threads of the team must call it. It ends with a
  /// barrier of the team.
  ///
  /// `segments` may divide the codes into consecutive segments, each of which is sorted, see
  /// split_segments. Then `read` may read shared.keys, because a thread stores only the codes that
  /// it has read. `complete` may change the codes that a thread has read, before it compares them.
  template <class Team, class Read, class Compare, class Segments = one_segment,
            class Complete = complete_codes>
  __device__ static void sort_keys(const Team& team, const arrays& shared, Read read,
                                   unsigned count, Compare compare, const Segments& segments = {},
                                   const Complete& complete = {}) {
    // 1. Each thread sorts its own elements. In one segment their order before the sort does not
    //    matter, so loads are striped. Only the last thread with any elements may have fewer than
    //    `items`.
    typename Segments::template elements<Code, items, has_values> mine;
    if constexpr (!Segments::is_one) mine.heads = segments.heads;
    const unsigned full = count / items;
    const unsigned first = team.rank * items;
    const unsigned left_over = team.rank == full ? count - first : 0;
    const int valid = team.rank < full ? items : static_cast<int>(left_over);
    for_valid_items(valid, [&](int i, bool all) {
      const unsigned index =
          Segments::is_one && all ? unsigned(i) * full + team.rank : first + unsigned(i);
      mine.keys[i] = read(index);
      if constexpr (has_values) mine.indices[i] = index;
    });
    complete(mine.keys, valid);
    sort_in_registers(mine, valid, compare);
    store(shared, mine, first, valid);
    team.sync();

    // 2. Merge pairs of runs until one run is left.
    for (unsigned run = 1; run * items < count; run *= 2) {
      const unsigned pair = (team.rank & ~(2 * run - 1)) * items;
      const unsigned middle = pair + run * items;
      bool merges = valid > 0 && middle < count;  // else its run has no partner
      merged_range range{};
      if (merges) {
        two_runs runs{pair, middle, min(middle + run * items, count)};
        if constexpr (!Segments::is_one) merges = segments.reduce(runs, first, items);
        if (merges) range = merge<Segments>(shared, mine, first - runs.begin, runs, compare);
      }
      if constexpr (Compare::known_strict_weak) {
        team.sync();
      } else {
        merges = !ranges_differ(team, range, run) && merges;
      }
      if (merges) store(shared, mine, first, valid);
      team.sync();
    }
  }

 private:
  [[nodiscard]] __host__ __device__ static constexpr std::size_t key_bytes(std::size_t max) {
    return ((max + items + 1) * sizeof(Code) + 1) / 2 * 2;
  }

  /// Whether a step of a merge loads the next key of both runs. On a CPU this takes less time than
  /// the branch that loads one of them, which is mispredicted in every second step.
  static constexpr bool loads_both_keys = !RAMIFY_ON_CUDA && sizeof(Code) <= 16;

  /// Whether a step of a merge on a GPU has no branches: it always compares both keys, and loads
  /// one key of the run that it has selected. For short keys the compiler does as much. An unknown
  /// comparator must not compare what was read past the end of a run.
  template <class Compare>
  static constexpr bool only_selects = RAMIFY_ON_CUDA &&
                                       sizeof(Code) > 8 && Compare::known_strict_weak;

  /// Calls visit(i, valid == items) for each of the first `valid` items. Threads with all items do
  /// not compare.
  template <class Visit>
  __device__ static void for_valid_items(int valid, Visit visit) {
    if (valid == items) {
      RAMIFY_UNROLL
      for (int i = 0; i < items; ++i) visit(i, true);
    } else {
      RAMIFY_UNROLL
      for (int i = 0; i < items; ++i) {
        if (i < valid) visit(i, false);
      }
    }
  }

  template <class Elements>
  __device__ static void store(const arrays& shared, const Elements& mine, unsigned first,
                               int valid) {
    for_valid_items(valid, [&](int i, bool) {
      const unsigned at = first + unsigned(i);
      shared.keys[at] = mine.keys[i];
      if constexpr (has_values) {
        shared.indices[at] = static_cast<std::uint16_t>(mine.indices[i]);
      }
    });
  }

  /// The range of the left run that a thread has merged, counted from 1. 0: the thread did not
  /// merge.
  struct merged_range {
    unsigned begin;
    unsigned end;
  };

  /// Returns, to all threads of the team, whether any thread's range ends elsewhere than the range
  /// of the next thread of the same pair of runs begins. All threads of the team must call it; it
  /// contains barriers of the team.
  template <class Team>
  __device__ static bool ranges_differ(const Team& team, const merged_range& range, unsigned run) {
    constexpr int max_teams = 1024 / threads;
    __shared__ unsigned begins[max_teams][threads];
    begins[team.index][team.rank] = range.begin;
    const bool ends_pair = (team.rank + 1) % (2 * run) == 0 || team.rank + 1 == threads;
    return any_of_team(team, [&] {
      const unsigned next = ends_pair ? 0 : begins[team.index][team.rank + 1];
      return range.begin != 0 && next != 0 && next != range.end;
    });
  }

  /// Loads the next key of the run from which a step of a merge has taken one.
  template <class Compare>
  __device__ static void load_next(const Code* keys, bool took_right, unsigned& left,
                                   unsigned& right, Code& left_key, Code& right_key) {
    if constexpr (loads_both_keys || only_selects<Compare>) {
      left += took_right ? 0 : 1;
      right += took_right ? 1 : 0;
    }
    if constexpr (loads_both_keys) {
      left_key = keys[left];
      right_key = keys[right];
    } else if constexpr (only_selects<Compare>) {
      const Code next = keys[took_right ? right : left];
      left_key = took_right ? left_key : next;
      right_key = took_right ? next : right_key;
    } else if (took_right) {
      right_key = keys[++right];
    } else {
      left_key = keys[++left];
    }
  }

  /// Merges elements [diagonal, diagonal + items) of the result of two runs. If the elements are
  /// divided into segments, `diagonal` may be negative, and elements before and after the runs stay
  /// in place.
  template <class Segments, class Elements, class Compare>
  __device__ static merged_range merge(const arrays& shared, Elements& merged, unsigned diagonal,
                                       const two_runs& runs, Compare compare) {
    // 1. Find how many of the first `diagonal` merged elements come from the left run.
    const Code* keys = shared.keys;
    const bool is_inside = Segments::is_one || static_cast<int>(diagonal) >= 0;
    const unsigned low =
        !is_inside ? diagonal
                   : merge_path(diagonal, runs.middle - runs.begin, runs.end - runs.middle,
                                [&](unsigned r, unsigned l) {
                                  return compare(keys[runs.middle + r], keys[runs.begin + l]);
                                });
    // 2. Merge from there.
    unsigned left = runs.begin + low;
    unsigned right = runs.middle + diagonal - low;
    Code left_key = keys[left];
    Code right_key = keys[right];
    RAMIFY_UNROLL
    for (int i = 0; i < items; ++i) {
      const bool known_first = only_selects<Compare> && compare(right_key, left_key);
      const auto comes_first = [&] {
        return only_selects<Compare> ? known_first : compare(right_key, left_key);
      };
      const bool take_right =
          Segments::is_one
              ? right < runs.end && (left >= runs.middle || comes_first())
              : left >= runs.middle || (left >= runs.begin && right < runs.end && comes_first());
      merged.keys[i] = take_right ? right_key : left_key;
      if constexpr (has_values) merged.indices[i] = shared.indices[take_right ? right : left];
      load_next<Compare>(keys, take_right, left, right, left_key, right_key);
    }
    return {runs.begin + low + 1, left + 1};
  }
};

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
