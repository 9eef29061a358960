// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A level of quicksort_in_place(): what its kernels share, and its first grids. A level partitions
/// an array without a second array.
///
/// The array is divided into slots of some thousand bytes. A few slots more are outside the array.
///
///   1. Sample      splitters are chosen from a sorted sample, as in sample_sort.
///   2. Count       the number of elements of each bucket determines where it begins and ends. An
///                  array in order stays where it is, and one in the opposite order is reversed.
///   3. Distribute  a block reads a tile, a run of slots, into shared memory, so these slots become
///                  free, and writes each element to where its bucket continues. The slot of the
///                  output to which an element belongs may hold elements that no block has read.
///                  Therefore the elements of a slot of the output are collected in a free slot.
///                  source[s] is the slot that collects the elements of slot s of the output.
///   4. Permute     moves the collected slots to their places.
///
/// Grid 2 is in in_place_count.cuh, grid 3 in in_place_partition.cuh, and grid 4 in
/// in_place_permutation.cuh.
///
///     array, slots of 2   [7 1] [4 8] [2 6] [5 3]              buckets: less than 5, others
///     distribute          [2 3] [6 5] [. .] [. .]   x [1 4]  y [7 8]   two slots outside
///     source                x     0     y     1
///     permute             [1 4] [2 3] [7 8] [6 5]
///
/// Slots become free in the order of tiles, and are used in this order: first those outside the
/// array, then those of tile 0, and so on. A slot of the output that is not complete is at the
/// begin or at the end of what a bucket has so far. So with two slots outside the array for each
/// bucket, the slots of tiles that were read always suffice.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <ramify/quicksort/sample_sort_count.cuh>
#include <ramify/quicksort/sample_sort_scatter.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// Sizes of the partition of an array in place.
template <class Key, class Value>
struct in_place_tuning {
  using of_sort = sample_sort_tuning<Key, Value>;
  static constexpr bool has_values = of_sort::has_values;
  static constexpr int element_bytes =
      static_cast<int>(sizeof(Key) + (has_values ? sizeof(Value) : 0));
  /// Bytes in shared memory of an element of a tile, with the number of its bucket.
  static constexpr int staged_bytes = element_bytes + static_cast<int>(sizeof(std::uint16_t));
#if RAMIFY_ON_CUDA
  static constexpr int tile_bytes = 48 * 1024;
  static constexpr int slot = std::bit_floor(4096u / of_sort::staged_bytes);
  static constexpr int threads =
      std::clamp<int>(std::bit_floor(static_cast<unsigned>(tile_bytes / staged_bytes)), 32, 512);
  /// Blocks of a multiprocessor. With 1, whose threads have twice the registers, 2^28 u32 keys take
  /// 12.1 instead of 11.2 ms.
  static constexpr int blocks = 2;
  /// Maximum number of buckets, equality buckets apart; a power of two.
  static constexpr int max_buckets = of_sort::wide_root_limit;
  /// Threads that move a slot.
  static constexpr int move_threads = std::clamp(slot, 32, 256);
  /// Bytes of scratch memory, in addition to a fiftieth of the array.
  static constexpr std::size_t constant_memory = std::size_t{16} << 20;
#else
  static constexpr int tile_bytes = 2 * 1024;
  static constexpr int slot = std::max<int>(std::bit_floor(128u / of_sort::staged_bytes), 1);
  static constexpr int threads = 16;
  static constexpr int blocks = 1;
  static constexpr int max_buckets = std::min(32, of_sort::wide_root_limit);
  static constexpr int move_threads = 8;
  static constexpr std::size_t constant_memory = std::size_t{128} << 10;
#endif
  /// Maximum number of buckets, with equality buckets.
  static constexpr int max_ids = 2 * max_buckets;
  /// Elements of a thread in a tile; a thread of a tile of large elements may have none.
  static constexpr int items = std::clamp(tile_bytes / (threads * staged_bytes), 1, 24);
  /// Elements of a tile: whole slots.
  static constexpr int tile =
      std::max(std::min(threads * items, tile_bytes / staged_bytes) / slot, 1) * slot;
  static_assert(tile <= threads * items);
  /// Slots outside the array: two for each bucket, and one.
  static constexpr unsigned extra_slots = 2 * max_ids + 1;
  /// Elements of a slot that a thread moves, at most.
  static constexpr int move_items = (slot + move_threads - 1) / move_threads;
  /// Slots that a thread reads before it writes them.
  static constexpr int moves_ahead = std::clamp(128 / (move_items * of_sort::staged_bytes), 1, 8);
};

/// What the kernels of a level compute. The host reads it after the level.
template <int max_ids>
struct in_place_state {
  splitter_tree tree;
  unsigned order;  ///< of the array, as far as it is known
  unsigned tiles_taken;
  unsigned slots_taken;
  unsigned starts;           ///< of chains, see in_place_permutation.cuh
  unsigned starts_taken;     ///< by blocks that move slots
  unsigned saved;            ///< starts whose elements must be saved
  position counts[max_ids];  ///< elements of each bucket
  position next[max_ids];    ///< where each bucket continues; after the level, its end
};

/// The arrays of a level in place.
template <class Key, class Value, class Code>
struct in_place_arrays {
  using tuning = in_place_tuning<Key, Value>;
  using arrays = key_value_arrays<Key, Value>;
  using state_type = in_place_state<tuning::max_ids>;

  arrays data;  ///< the array
  position n;
  unsigned buckets;      ///< target, equality buckets apart
  unsigned max_saved;    ///< slots for starts of chains
  arrays outside;        ///< tuning::extra_slots slots, then max_saved slots
  Code* candidates;      ///< for splitters, sorted: buckets - 1
  unsigned* source;      ///< for each slot of the output, the slot that collects its elements
  unsigned* saved_as;    ///< for each slot of the array, the slot to which it is saved, or 0
  unsigned* start_list;  ///< starts of chains
  unsigned* was_read;    ///< for each tile, whether its slots are free
  state_type* state;

  /// In `source`: no block has claimed a slot for these elements; a block is about to store it.
  static constexpr unsigned unclaimed = ~0u;
  static constexpr unsigned claimed = ~0u - 1;

  /// Returns the number of whole slots of the array.
  [[nodiscard]] __host__ __device__ unsigned slots() const {
    return static_cast<unsigned>(n / tuning::slot);
  }
  /// Returns the number of slots of the output: the last may be shorter than the others.
  [[nodiscard]] __host__ __device__ unsigned output_slots() const {
    return static_cast<unsigned>((n - 1) / tuning::slot + 1);
  }
  [[nodiscard]] __host__ __device__ unsigned tiles() const {
    return static_cast<unsigned>((n - 1) / tuning::tile + 1);
  }
  /// Returns the first element of a slot of the array, or of slot `s` - slots() outside it.
  [[nodiscard]] __device__ arrays slot(unsigned s) const {
    const bool inside = s < slots();
    const position at = position{inside ? s : s - slots()} * tuning::slot;
    Key* const keys = (inside ? data.keys : outside.keys) + at;
    if constexpr (tuning::has_values) return {keys, (inside ? data.values : outside.values) + at};
    return {keys, nullptr};
  }
  /// Returns the first element of a slot of the output.
  [[nodiscard]] __device__ arrays output_slot(unsigned s) const {
    const position at = position{s} * tuning::slot;
    if constexpr (tuning::has_values) return {data.keys + at, data.values + at};
    return {data.keys + at, nullptr};
  }
};

/// A level in place, and the parameter of its kernels.
template <class Key, class Value, class Compare>
struct in_place_level : in_place_arrays<Key, Value, typename Compare::code> {
  using key = Key;
  using value = Value;
  using code = typename Compare::code;

  Compare compare;
};

/// Copies the sampled keys. A thread has one.
template <class Level>
__global__ void in_place_sample(Level level, typename Level::key* sample, unsigned count) {
  const unsigned k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < count) sample[k] = level.data.keys[sample_position({0, level.n}, k, count)];
}

/// Takes the candidates from the sorted sample, and initializes the level. The threads of the grid
/// share the work.
template <class Level>
__global__ void in_place_begin(Level level, const typename Level::key* sample, unsigned count) {
  const unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned all = gridDim.x * blockDim.x;
  for (unsigned c = first; c < level.buckets - 1; c += all) {
    const position rank = position{c + 1} * count / level.buckets;
    level.candidates[c] = level.compare.encode(sample[rank]);
  }
  for (unsigned s = first; s < level.output_slots(); s += all) {
    level.source[s] = Level::unclaimed;
    level.saved_as[s] = 0;
  }
  for (unsigned t = first; t < level.tiles(); t += all) level.was_read[t] = 0;
  for (unsigned b = first; b < Level::tuning::max_ids; b += all) level.state->counts[b] = 0;
  if (first == 0) {
    level.state->order = nondecreasing | nonincreasing;
    level.state->tiles_taken = level.state->slots_taken = 0;
    level.state->starts = level.state->starts_taken = level.state->saved = 0;
  }
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
