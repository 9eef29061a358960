// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The sort of a tile: several segments, one after another in shared memory, which a team of
/// threads merge-sorts at the same time.
///
///     segments                          [5 2] [9 1 4] [3]     begins in the tile: 0, 2, 5
///     2 items a thread                  [5 2] [9 1] [4 3]     the last thread has two segments
///     a thread sorts within segments    [2 5] [1 9] [4 3]
///     the segment that crosses the
///     middle of two runs is merged      [2 5] [1 4 9] [3]
///
/// An element never moves to another segment: a comparator of the network exchanges elements of the
/// same segment only, and a merge takes the elements before the crossing segment from the left run,
/// and those after it from the right run. So the time depends on the number of elements, not on the
/// number of segments, and no thread waits for a long segment. (The idea is that of the segmented
/// sort of moderngpu by S. Baxter, 2013.)

#include <cstdint>
#include <ramify/quicksort/team_merge_sort.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::segmented_sort::inline RAMIFY_BUILD {

using quicksort::position;

/// A warp as a team of threads.
struct warp_team {
  unsigned index;  ///< of the warp in its block
  unsigned rank;   ///< of the thread in its warp

  __device__ warp_team() : index(threadIdx.x / 32), rank(threadIdx.x % 32) {}
  __device__ void sync() const { __syncwarp(); }
};

/// Returns, to all threads of the warp, whether test() is true in any of them; see the overload for
/// a block_team.
template <class Test>
__device__ bool any_of_team(const warp_team& team, Test test) {
  team.sync();
  return __any_sync(full_warp_mask, test() ? 1 : 0) != 0;
}

/// The elements of one thread, which may be in several segments.
template <class Key, int items, bool with_indices>
struct split_items : quicksort::thread_items<Key, items, with_indices> {
  static_assert(items <= 64, "a mask has a bit for each item");
  using mask = std::conditional_t<(items > 32), unsigned long long, unsigned>;
  mask heads;  ///< bit i: element i is the first one of a segment

  /// Swaps elements i and j, i < j, if they are out of order and in the same segment.
  template <class Compare>
  __device__ void compare_exchange(int i, int j, Compare compare) {
    const mask between = ((mask{1} << (j - i)) - 1) << (i + 1);
    const bool same_segment = (heads & between) == 0;
    this->exchange_if(same_segment && compare(this->keys[j], this->keys[i]), i, j);
  }
};

/// How a tile is divided into segments, for one thread of the team that sorts it.
template <class Mask>
struct split_segments {
  static constexpr bool is_one = false;
  template <class Key, int items, bool with_indices>
  using elements = split_items<Key, items, with_indices>;

  Mask heads;  ///< of this thread's elements
  /// For each thread, the segment of its first element: begin | end << 16.
  const std::uint32_t* first_segments;

  /// Reduces two runs, which meet at the first element of a thread, to the segment that is in both
  /// of them. Returns whether there is one, with some of the elements [first, first + count).
  [[nodiscard]] __device__ bool reduce(quicksort::two_runs& runs, unsigned first,
                                       unsigned count) const {
    const std::uint32_t crossing = first_segments[runs.middle / count];
    runs.begin = max(runs.begin, crossing & 0xffff);
    runs.end = min(runs.end, crossing >> 16);
    return runs.begin < runs.middle && runs.begin < first + count && first < runs.end;
  }
};

/// The sort of tiles of at most `max_segments` segments by teams of `threads` threads with `items`
/// elements each.
template <class Code, class Value, int threads, int items, int max_segments>
struct tile_sort {
  using sorter = quicksort::team_merge_sort<Code, Value, threads, items>;
  static constexpr bool has_values = sorter::has_values;
  static constexpr unsigned capacity = sorter::capacity;
  static_assert(capacity < 65'536, "indices have 16 bits");

  /// The shared memory of a team.
  struct storage {
    typename sorter::storage elements;
    position shifts[max_segments];  ///< the index of an element in the array minus that in the tile
    std::uint32_t first_segments[threads];   ///< see split_segments
    std::uint16_t begins[max_segments + 1];  ///< of segments in the tile, and the end of the last
    std::uint16_t is_scattered;  ///< not 0 if the segments are not consecutive in the array
  };

  /// The number of segments and of elements of a tile. All threads of the team have the same.
  struct tile_size {
    unsigned segments;
    unsigned elements;
  };

  /// Puts a segment into the tile; one thread calls it. `begin` is its begin in the array.
  __device__ static void put(storage& shared, unsigned index, unsigned begin_in_tile,
                             position begin) {
    shared.begins[index] = static_cast<std::uint16_t>(begin_in_tile);
    shared.shifts[index] = begin - begin_in_tile;
  }

  /// Sorts the elements of the segments of a tile in place. No segment may be empty. All threads of
  /// the team must call it, after put() for each segment. It ends with a barrier of the team.
  template <class Team, class Key, class Compare>
  __device__ static void sort(const Team& team, storage& shared, const tile_size& size,
                              const quicksort::key_value_arrays<Key, Value>& data,
                              Compare compare) {
    if (team.rank == 0) {
      shared.begins[size.segments] = static_cast<std::uint16_t>(size.elements);
      shared.is_scattered = 0;
    }
    team.sync();
    // 1. Find this thread's segments, and whether all segments are consecutive in the array.
    const auto segments = split(team, shared, size);
    for (unsigned k = team.rank; k < size.segments; k += threads) {
      if (shared.shifts[k] != shared.shifts[0]) shared.is_scattered = 1;
    }
    team.sync();
    // 2. Load, sort and store. The order of a segment's elements does not matter before the sort,
    // but a thread sorts those at its own places.
    const arrays elements = shared.elements.view();
    with_places(shared, size, [&](const auto& place_of) {
      load(team, elements.keys, size, data.keys, place_of, compare);
    });
    team.sync();
    const auto read = [&](unsigned index) { return elements.keys[index]; };
    sorter::sort_keys(team, elements, read, size.elements, compare, segments);
    with_places(shared, size, [&](const auto& place_of) {
      store(team, elements, size, data, place_of, compare);
    });
    team.sync();
  }

 private:
  using arrays = typename sorter::arrays;
  using mask = typename split_items<Code, items, has_values>::mask;

  /// Returns the number of the first segment that begins after element `i` of the tile.
  [[nodiscard]] __device__ static unsigned first_after(const storage& shared, const tile_size& size,
                                                       unsigned i) {
    return runtime::partition_point(0u, size.segments,
                                    [&](unsigned k) { return shared.begins[k] <= i; });
  }

  /// Finds the segments of this thread's elements.
  template <class Team>
  [[nodiscard]] __device__ static split_segments<mask> split(const Team& team, storage& shared,
                                                             const tile_size& size) {
    const unsigned first = team.rank * items;
    mask heads = 0;
    if (first < size.elements) {
      unsigned k = first_after(shared, size, first);
      shared.first_segments[team.rank] =
          std::uint32_t{shared.begins[k]} << 16 | shared.begins[k - 1];
      for (; k < size.segments && shared.begins[k] < first + items; ++k) {
        heads |= mask{1} << (shared.begins[k] - first);
      }
    }
    return {heads, shared.first_segments};
  }

  /// The index in the arrays of each element of the tile, if the segments are consecutive.
  struct consecutive_places {
    static constexpr bool are_consecutive = true;
    position shift;
    [[nodiscard]] __device__ position operator()(unsigned i) const { return shift + i; }
  };
  /// The same for other segments.
  struct scattered_places {
    static constexpr bool are_consecutive = false;
    const storage& shared;
    const tile_size& size;
    [[nodiscard]] __device__ position operator()(unsigned i) const {
      return shared.shifts[first_after(shared, size, i) - 1] + i;
    }
  };
  template <class Work>
  __device__ static void with_places(const storage& shared, const tile_size& size, Work work) {
    if (shared.is_scattered == 0) {
      work(consecutive_places{shared.shifts[0]});
    } else {
      work(scattered_places{shared, size});
    }
  }

  /// Calls visit(i, index) for the elements of the tile that this thread loads and stores.
  template <class Team, class Visit>
  __device__ static void for_each_striped(const Team& team, const tile_size& size, Visit visit) {
    RAMIFY_UNROLL
    for (int i = 0; i < items; ++i) {
      const unsigned index = unsigned(i) * threads + team.rank;
      if (index < size.elements) visit(i, index);
    }
  }

  /// Loads this thread's keys of the tile. If the segments are consecutive, all loads begin before
  /// the first one is complete.
  template <class Team, class Key, class Places, class Compare>
  __device__ static void load(const Team& team, Code* codes, const tile_size& size, const Key* keys,
                              const Places& place_of, Compare compare) {
    if constexpr (Places::are_consecutive) {
      Code loaded[items];
      for_each_striped(team, size, [&](int i, unsigned index) {
        loaded[i] = compare.encode(keys[place_of(index)]);
      });
      for_each_striped(team, size, [&](int i, unsigned index) { codes[index] = loaded[i]; });
    } else {
      for (unsigned index = team.rank; index < size.elements; index += threads) {
        codes[index] = compare.encode(keys[place_of(index)]);
      }
    }
  }

  /// Stores this thread's keys of the tile, and moves its values. All values are read before the
  /// first is written.
  template <class Team, class Key, class Places, class Compare>
  __device__ static void store(const Team& team, const arrays& elements, const tile_size& size,
                               const quicksort::key_value_arrays<Key, Value>& data,
                               const Places& place_of, Compare compare) {
    if constexpr (has_values) {
      Value values[items];
      for_each_striped(team, size, [&](int i, unsigned index) {
        values[i] = data.values[place_of(elements.indices[index])];
      });
      team.sync();
      for_each_striped(team, size,
                       [&](int i, unsigned index) { data.values[place_of(index)] = values[i]; });
    }
    for (unsigned index = team.rank; index < size.elements; index += threads) {
      data.keys[place_of(index)] = compare.decode(elements.keys[index]);
    }
  }
};

}  // namespace ramify::detail::segmented_sort::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
