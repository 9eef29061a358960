// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The sort of tiny segments: each thread of a warp sorts one in registers, without any merge.
///
///     32 segments, one after another in global memory    coalesced loads
///     a place between each `items` elements              in shared memory, without bank conflicts
///     thread t has segment t                             a sorting network in registers
///
/// The sorted segments return to global memory in the same way.

#include <ramify/segmented_sort/tile_sort.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::segmented_sort::inline RAMIFY_BUILD {

/// The segment of one lane of a warp.
struct lane_segment {
  position begin;   ///< in the array
  unsigned before;  ///< elements of the segments of the lanes before this one
  unsigned length;
};

/// An order whose result the compiler cannot combine with the exchange of two keys. For integers of
/// 64 bits nvcc would make minima and maxima of them, which no GPU has, and which need so many
/// registers that the network of a lane spills 1,300 bytes.
template <class Compare>
struct opaque_order {
  Compare compare;

  template <class Code>
  __device__ bool operator()(const Code& a, const Code& b) const {
#if RAMIFY_ON_CUDA && defined(__CUDA_ARCH__)
    if constexpr (sizeof(Code) == 8) {
      unsigned is_before = compare(a, b) ? 1 : 0;
      asm("" : "+r"(is_before));
      return is_before != 0;
    }
#endif
    return compare(a, b);
  }
};

/// The sort of segments of at most `items` elements by the lanes of a warp.
template <class Code, class Value, int items>
struct lane_sort {
  static constexpr bool has_values = quicksort::key_value_arrays<Code, Value>::has_values;
  using elements = quicksort::thread_items<Code, items, has_values>;
  /// The length of the arrays in shared memory that a warp needs.
  static constexpr unsigned size = 32 * (items + 1) - 1;

  /// Sorts the segments of 32 lanes in place, which have `count` elements together. All lanes of
  /// the warp must call it. `shared` are arrays of `size` elements. It ends with a barrier of the
  /// warp.
  template <class Arrays, class Key, class Compare>
  __device__ static void sort(const warp_team& self, const Arrays& shared, const lane_segment& mine,
                              unsigned count, const quicksort::key_value_arrays<Key, Value>& data,
                              Compare compare) {
    const unsigned lanes = __ballot_sync(full_warp_mask, mine.length > 0);
    const position shift =
        __shfl_sync(full_warp_mask, mine.begin - mine.before, __ffs(static_cast<int>(lanes)) - 1);
    const bool is_in_line = mine.length == 0 || mine.begin - mine.before == shift;
    const bool are_consecutive = __all_sync(full_warp_mask, is_in_line ? 1 : 0) != 0;
    elements sorted;
    if (are_consecutive) {
      load(self, shared, sorted, mine, data.keys + shift, count, compare);
    } else {  // each lane loads and stores its own elements
      for_each(mine.length, [&](int i) {
        sorted.keys[i] = compare.encode(data.keys[mine.begin + unsigned(i)]);
        if constexpr (has_values) sorted.indices[i] = unsigned(i);
      });
    }
    quicksort::sort_in_registers(sorted, static_cast<int>(mine.length),
                                 opaque_order<Compare>{compare});
    if (are_consecutive) {
      store(self, shared, sorted, mine, at(data, shift), count, compare);
    } else {
      store_own(sorted, mine.length, at(data, mine.begin), compare);
    }
    self.sync();
  }

 private:
  /// Returns the place of an element in shared memory. One place after each `items` elements is
  /// unused.
  [[nodiscard]] __host__ __device__ static constexpr unsigned place_of(unsigned element) {
    return element + element / items;
  }

  /// Returns the arrays from `begin` on.
  template <class Key>
  [[nodiscard]] __device__ static quicksort::key_value_arrays<Key, Value> at(
      const quicksort::key_value_arrays<Key, Value>& data, position begin) {
    if constexpr (has_values) return {data.keys + begin, data.values + begin};
    return {data.keys + begin, nullptr};
  }

  /// Calls visit(i) for this lane's elements.
  template <class Visit>
  __device__ static void for_each(unsigned length, Visit visit) {
    RAMIFY_UNROLL
    for (int i = 0; i < items; ++i) {
      if (unsigned(i) < length) visit(i);
    }
  }
  /// Calls visit(i, index) for the elements of the warp that this lane loads and stores.
  template <class Visit>
  __device__ static void for_each_striped(const warp_team& self, unsigned count, Visit visit) {
    RAMIFY_UNROLL
    for (int i = 0; i < items; ++i) {
      const unsigned index = unsigned(i) * 32 + self.rank;
      if (index < count) visit(i, index);
    }
  }

  /// Loads consecutive segments, and gives each lane its own. The segment of the first lane is at
  /// the begin of `from`.
  template <class Arrays, class Key, class Compare>
  __device__ static void load(const warp_team& self, const Arrays& shared, elements& sorted,
                              const lane_segment& mine, const Key* from, unsigned count,
                              Compare compare) {
    Code loaded[items];
    for_each_striped(self, count,
                     [&](int i, unsigned index) { loaded[i] = compare.encode(from[index]); });
    for_each_striped(self, count,
                     [&](int i, unsigned index) { shared.keys[place_of(index)] = loaded[i]; });
    self.sync();
    for_each(mine.length, [&](int i) {
      const unsigned index = mine.before + unsigned(i);
      sorted.keys[i] = shared.keys[place_of(index)];
      if constexpr (has_values) sorted.indices[i] = index;
    });
  }

  /// Stores consecutive segments. All values are read before the first is written.
  template <class Arrays, class Key, class Compare>
  __device__ static void store(const warp_team& self, const Arrays& shared, const elements& sorted,
                               const lane_segment& mine,
                               const quicksort::key_value_arrays<Key, Value>& to, unsigned count,
                               Compare compare) {
    for_each(mine.length, [&](int i) {
      const unsigned place = place_of(mine.before + unsigned(i));
      shared.keys[place] = sorted.keys[i];
      if constexpr (has_values) {
        shared.indices[place] = static_cast<std::uint16_t>(sorted.indices[i]);
      }
    });
    self.sync();
    if constexpr (has_values) {
      Value values[items];
      for_each_striped(self, count, [&](int i, unsigned index) {
        values[i] = to.values[shared.indices[place_of(index)]];
      });
      self.sync();
      for_each_striped(self, count, [&](int i, unsigned index) { to.values[index] = values[i]; });
    }
    for_each_striped(self, count, [&](int, unsigned index) {
      to.keys[index] = compare.decode(shared.keys[place_of(index)]);
    });
  }

  /// Stores the segment of this lane.
  template <class Key, class Compare>
  __device__ static void store_own(const elements& sorted, unsigned length,
                                   const quicksort::key_value_arrays<Key, Value>& to,
                                   Compare compare) {
    if constexpr (has_values) {
      Value values[items];
      for_each(length, [&](int i) { values[i] = to.values[sorted.indices[i]]; });
      for_each(length, [&](int i) { to.values[i] = values[i]; });
    }
    for_each(length, [&](int i) { to.keys[i] = compare.decode(sorted.keys[i]); });
  }
};

}  // namespace ramify::detail::segmented_sort::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
