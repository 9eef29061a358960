// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The sizes and the memory of a sample sort. The host computes those of a run, and a kernel those
/// of a sort that it calls.

#include <algorithm>
#include <ramify/quicksort/order.cuh>
#include <ramify/quicksort/sample_sort.cuh>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/device_context.cuh>
#include <ramify/runtime/recursion.cuh>
#include <ramify/runtime/residency.cuh>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

// The functions of the standard library are not available in kernels.
[[nodiscard]] __host__ __device__ constexpr position least(position a, position b) {
  return a < b ? a : b;
}
[[nodiscard]] __host__ __device__ constexpr position greatest(position a, position b) {
  return a < b ? b : a;
}

/// Returns whether the buckets of a root of n elements are to be leaves.
template <class Tuning>
[[nodiscard]] __host__ __device__ bool root_has_leaves(position n) {
  return n / Tuning::bucket_size < Tuning::leaf_bucket_limit;
}

/// Returns the target number of buckets of the root without equality buckets: a power of two.
template <class Tuning>
[[nodiscard]] __host__ __device__ unsigned root_buckets(position n) {
  constexpr position limit = Tuning::bucket_limit;
  if (root_has_leaves<Tuning>(n)) {
    const position wanted = n / Tuning::small_bucket_size + 1;
    unsigned buckets = 1;
    while (buckets < wanted && buckets < Tuning::leaf_bucket_limit) buckets *= 2;
    return buckets;
  }
  // Two levels of bucket_limit buckets suffice if their segments are shorter than most leaves.
  const bool needs_level = n / (limit * limit) > position{Tuning::leaf_size} * 9 / 10;
  const bool saves_level = n / (limit * Tuning::bucket_size) < Tuning::wide_root_limit;
  return static_cast<unsigned>(needs_level && saves_level ? Tuning::wide_root_limit
                                                          : Tuning::bucket_limit);
}

/// Returns the number of levels until all segments are leaves, if all splits are even. The root
/// must not be small.
template <class Tuning>
[[nodiscard]] __host__ __device__ unsigned expected_levels(position n) {
  unsigned levels = 0;
  for (position size = n; size > Tuning::leaf_size; ++levels) {
    size /= levels == 0 ? root_buckets<Tuning>(n) : target_buckets<Tuning>(size);
  }
  return levels;
}

/// Returns the capacity of a part of a root's sample: four times its expected size.
template <class Tuning>
[[nodiscard]] __host__ __device__ unsigned part_capacity(unsigned sample) {
  return 4 * (sample / Tuning::root_parts + 1);
}

/// Returns the sizes of a run of n elements on a device with the sizes `of_device`. The root must
/// not be small.
template <class Context>
[[nodiscard]] __host__ __device__ sample_sort_sizes
sizes_of_run(position n, const sample_sort_sizes& of_device) {
  using tuning = typename Context::tuning;
  static_assert(count_shared<Context>::bytes(max_ids) <= default_shared_bytes);
  sample_sort_sizes sizes = of_device;
  sizes.root_buckets = root_buckets<tuning>(n);
  sizes.root_buckets_if_repeated = root_has_leaves<tuning>(n) ? max_buckets(0, sizes) : byte_ids;
  // The sample of a small input takes a larger part of the time, so it is smaller: one key in
  // 2048, but at least eight for each bucket.
  const position sample = least(n / 2048, position{tuning::root_oversampling} * sizes.root_buckets);
  sizes.root_sample = static_cast<unsigned>(
      least(least(greatest(sample, position{8} * sizes.root_buckets), n), sizes.root_sample));
  sizes.root_part = part_capacity<tuning>(sizes.root_sample);
  sizes.root_sample_bytes =
      static_cast<unsigned>(root_part_memory<Context>::bytes(sizes.root_part));
  // The root has one piece per co-resident block or, if these would be large, several.
  constexpr position large = 32 * position{tuning::min_piece};
  const position rounds = n / (sizes.blocks * large) + 1;
  // Waiting blocks occupy resources of running ones: with several rounds, it cost f64 2 %.
  if (rounds > 1) sizes.serialization = stream_serialization::full;
  const position pieces = greatest(rounds * sizes.blocks, 2) - 1;  // one block has no piece
  const position piece = greatest(n / pieces + 1, tuning::min_piece);
  sizes.root_piece = static_cast<unsigned>(piece + piece % 2);
  // Later pieces may be a quarter longer, so that a segment of about this size is one piece. Both
  // sizes are even.
  sizes.piece = sizes.root_piece + sizes.root_piece / 8 * 2;
  return sizes;
}

/// Returns the depth limit of a run of n elements. `option` is quicksort_options::depth_limit; 0
/// selects four levels more than even splitting takes.
template <class Tuning>
[[nodiscard]] __host__ __device__ unsigned depth_limit_of(position n, unsigned option) {
  return option == 0 ? expected_levels<Tuning>(n) + 4 : option;
}

/// Returns the number of levels until all parts of a segment of n elements that is not the root are
/// leaves, if all splits are even.
template <class Tuning>
[[nodiscard]] __host__ __device__ unsigned levels_of_segment(position n) {
  unsigned levels = 0;
  for (position size = n; size > Tuning::leaf_size; ++levels) size /= target_buckets<Tuning>(size);
  return levels;
}

/// Returns the limit of levels of a run that begins with segments of n elements in all.
template <class Tuning>
[[nodiscard]] __host__ __device__ unsigned depth_limit_of_segments(position n) {
  return levels_of_segment<Tuning>(n) + 5;
}

/// Returns by how many bytes more than n elements fewer elements may need: the numbers of pieces
/// and of levels do not always rise with n.
[[nodiscard]] __host__ __device__ constexpr std::size_t scratch_of_fewer(position n) {
  return n / 16 + (std::size_t{64} << 10);
}

/// Returns the greatest of of_root(n) for roots of up to n elements, for a function that rises with
/// the number of buckets and, between two numbers of buckets, with n.
template <class Tuning, class OfRoot>
[[nodiscard]] std::size_t most_of_any_root(position n, const OfRoot& of_root) {
  std::size_t most = of_root(n);
  // Roots below these sizes have more buckets, with numbers of two bytes, than larger ones.
  constexpr position bucket = Tuning::bucket_size;
  for (const position size : {bucket * Tuning::leaf_bucket_limit,
                              bucket * Tuning::bucket_limit * Tuning::wide_root_limit}) {
    if (size <= n) most = std::max<std::size_t>(most, of_root(size - 1));
  }
  return most;
}

/// Returns the scratch memory that suffices for a sort of n elements or fewer, which begins with a
/// root. bytes_for(n) returns that of a sort of n elements.
template <class Tuning, class BytesFor>
[[nodiscard]] std::size_t scratch_for_any_root(position n, const BytesFor& bytes_for) {
  return most_of_any_root<Tuning>(n, bytes_for) + scratch_of_fewer(n);
}

/// Returns the number of levels that the flat route launches ahead: on large inputs one more than
/// expected, because repeated keys often need it.
template <class Context>
[[nodiscard]] unsigned levels_ahead_of(position n) {
  const unsigned expected = expected_levels<typename Context::tuning>(n);
  return expected < 2 || states_distinct_keys<typename Context::order> ? expected : expected + 1;
}

/// Returns the sizes of a run whose levels begin with segments of n elements in all, without a
/// root. Pieces are shorter than those of a root, so that segments of any length keep all blocks
/// busy, but not shorter than `shortest_piece`.
template <class Context>
[[nodiscard]] __host__ __device__ sample_sort_sizes
sizes_of_segments(position n, const sample_sort_sizes& of_device,
                  position shortest_piece = 8 * position{Context::tuning::min_piece}) {
  using tuning = typename Context::tuning;
  sample_sort_sizes sizes = sizes_of_run<Context>(n, of_device);
  const unsigned levels = levels_of_segment<tuning>(n);
  sizes.levels_ahead = levels < 2 ? levels : levels + 1;
  sizes.root_buckets = tuning::bucket_limit;
  const position piece =
      least(sizes.piece, greatest(n / (position{4} * sizes.blocks), shortest_piece));
  sizes.root_piece = sizes.piece = static_cast<unsigned>(piece + piece % 2);
  return sizes;
}

/// Makes the lists of a run refer to their counts in its state.
template <class Code>
__host__ __device__ void link_lists(sample_sort_memory<Code>& memory) {
  memory.even.count_and_blocks = &memory.state->segments[0];
  memory.odd.count_and_blocks = &memory.state->segments[1];
  memory.copies.count_and_blocks = &memory.state->found.copies;
}

/// Takes the arrays of a run, whose root, sizes, depth limit and state are set. The root must not
/// be small. If the base of `layout` is null, only measures them.
template <class Tuning, class Code>
__host__ __device__ void take_arrays(sample_sort_memory<Code>& memory, memory_layout& layout) {
  const sample_sort_sizes& sizes = memory.sizes;
  const position n = memory.root.size();
  const position leaves = n / Tuning::leaf_size + 1;
  const position units = n / Tuning::bucket_unit + 2;
  memory.plans = layout.take<sample_sort_plan>(leaves);
  memory.candidates = layout.take<Code>(units);
  memory.counts = layout.take<position>(units);
  const position later_offsets = (2 * n / sizes.root_piece + 2) * byte_ids;
  memory.offsets = layout.take<position>(
      greatest(later_offsets, (n / sizes.root_piece + 1) * max_buckets(0, sizes)));
  memory.ids = layout.take<std::uint8_t>(n * (sizes.wide_ids() ? 2 : 1));
  memory.leaves_taken = layout.take<unsigned>(max_levels + 1);
  // A segment in a level list is longer than a leaf, one in the copy list longer than half a leaf.
  const position halves = n / (Tuning::leaf_size / 2) + 1;
  memory.even = take_list<segment>(layout, leaves);
  memory.odd = take_list<segment>(layout, leaves);
  memory.copies = take_list<segment>(layout, halves);
  if (memory.state != nullptr) link_lists(memory);
  // On each level, at most two leaves begin in any half leaf, and one more may follow each longer
  // bucket.
  memory.leaf_capacity = halves * (2 + 2 * memory.depth_limit);
  memory.leaves = layout.take<segment>(memory.leaf_capacity);
  memory.long_leaves = layout.take<segment>(leaves);
}

// ---- sizes that depend on the device ------------------------------------------------------------

template <class Context>
void set_sample_sizes(sample_sort_sizes& sizes) {
  using tuning = typename Context::tuning;
  using merge_sort = sample_merge_sort<Context>;
  sizes.sample_bytes = static_cast<unsigned>(
      set_max_dynamic_shared(sample_sort_sample<Context>, merge_sort::bytes(merge_sort::capacity)));
  sizes.sample = static_cast<unsigned>((sizes.sample_bytes - merge_sort::bytes(0)) /
                                       sizeof(typename Context::key));
  using root_memory = root_part_memory<Context>;
  sizes.root_part =
      std::min<unsigned>(part_capacity<tuning>(tuning::root_oversampling * tuning::bucket_limit),
                         merge_sort::capacity);
  const std::size_t for_root =
      set_max_dynamic_shared(sample_sort_sample_root<Context>, root_memory::bytes(sizes.root_part));
  while (root_memory::bytes(sizes.root_part) > for_root) --sizes.root_part;
  sizes.root_sample = (sizes.root_part / 4 - 1) * tuning::root_parts;
}

template <class Context>
void set_tile_sizes(sample_sort_sizes& sizes) {
  using tuning = typename Context::tuning;
  const auto bytes = [](unsigned tile) {
    return scatter_shared<Context>::bytes(tile, sizeof(std::uint16_t));
  };
  sizes.tile = tuning::tile_threads * tuning::tile_items;
  const std::size_t for_tiles =
      set_max_dynamic_shared(sample_sort_scatter<true, Context>, bytes(sizes.tile));
  // An even number aligns the bucket numbers after the tile.
  while (bytes(sizes.tile) > for_tiles) sizes.tile = (sizes.tile - 1) / 2 * 2;
  sizes.tile_bytes = bytes(sizes.tile);
}

/// Returns how many elements `Sorter` sorts in `bytes` bytes of shared memory: a whole number of
/// threads with all their items. Longer segments are merged from such runs.
template <class Sorter>
unsigned run_within(std::size_t bytes) {
  unsigned run = Sorter::capacity;
  while (Sorter::bytes(run) > bytes) run -= Sorter::items_of_thread;
  return run;
}

template <class Context>
void set_leaf_sizes(sample_sort_sizes& sizes) {
  using storage = typename Context::leaf_sorter::storage;
  static_assert(sizeof(storage) <= default_shared_bytes);
  const std::size_t for_leaves = set_max_dynamic_shared(
      sample_sort_leaves<Context>, Context::tuning::max_teams * sizeof(storage));
  sizes.teams = static_cast<unsigned>(for_leaves / sizeof(storage));
  sizes.leaf_bytes = static_cast<unsigned>(sizes.teams * sizeof(storage));
  sizes.long_leaf = run_within<typename Context::long_leaf_sorter>(sizes.leaf_bytes);
}

/// Returns the sizes that depend only on the current device. They are computed once per context,
/// because a few dozen such driver calls take as long as sorting a million keys, and because the
/// kernels' limits of shared memory, which these calls raise, end with the context.
template <class Context>
const sample_sort_sizes& device_sizes() {
  return runtime::once_per_context([] {
    sample_sort_sizes sizes{};
    set_sample_sizes<Context>(sizes);
    set_tile_sizes<Context>(sizes);
    set_leaf_sizes<Context>(sizes);
    if (supports_programmatic_launch(sample_sort_count<Context>)) {
      sizes.serialization = stream_serialization::programmatic;
    }
    sizes.blocks = resident_blocks(sample_sort_scatter<true, Context>,
                                   Context::tuning::tile_threads, sizes.tile_bytes);
    return sizes;
  });
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
