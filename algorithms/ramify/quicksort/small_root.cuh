// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A small root is not partitioned. Its blocks sort chunks, and each pass merges several sorted
/// runs into one (rank_merge.cuh), until one run is left.
///
/// A small input cannot keep the GPU busy, so the time depends on the number of grids, not on the
/// number of comparisons. A partition takes three grids, and the sort of its leaves a fourth.
///
/// Between the passes the arrays hold codes (sort_order), so that searches read them as they are.
///
/// Unless the order is known to be strict weak, each element claims its place in a pass. If two
/// elements claim the same one, the last block of the pass copies all runs instead. The result is
/// then not sorted, but no element is lost.
///
/// Join: the grids run in the order of the stream. No kernel launches a grid, or reports a status,
/// so the host reads nothing at the end.

#include <ramify/quicksort/rank_merge.cuh>
#include <ramify/quicksort/sample_sort_context.cuh>
#include <ramify/runtime/residency.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// The claims of a pass: a bit for each place, whether two elements have claimed the same one, and
/// the number of blocks that have arrived.
struct place_claims {
  unsigned* bits;
  unsigned* collided;  ///< not 0 if two elements have claimed the same place
  unsigned* arrived;   ///< blocks that have ended the pass

  /// Returns the number of unsigned integers that a pass of n elements needs.
  [[nodiscard]] __host__ __device__ static unsigned words(position n) {
    return static_cast<unsigned>((n + 31) / 32) + 2;
  }
  __device__ place_claims(unsigned* memory, position n, unsigned pass)
      : bits(memory + pass * words(n)), collided(bits + words(n) - 2), arrived(collided + 1) {}

  /// Claims a place. If it is taken already, records the collision.
  __device__ void claim(unsigned place) const {
    const unsigned bit = 1u << place % 32;
    if ((atomicOr(&bits[place / 32], bit) & bit) != 0) atomicOr(collided, 1u);
  }
};

/// Sorts the chunk of this block, if there is one, and prepares the passes. All threads of the
/// block must call it.
template <class Sorter, class Context>
__device__ void sort_chunk(const Context& context, typename Sorter::storage& shared) {
  const small_root_plan& plan = context.sizes.small;
  const position n = context.root.size();
  const position begin = position{blockIdx.x} * Sorter::capacity;
  // 1. Prepare what later grids use.
  if constexpr (!Context::order::known_strict_weak) {
    const unsigned words = place_claims::words(n) * plan.passes;
    for (unsigned w = blockIdx.x * blockDim.x + threadIdx.x; w < words;
         w += gridDim.x * blockDim.x) {
      context.claims[w] = 0;
    }
  }
  // 2. Sort.
  if (begin >= n) return;
  const auto count = static_cast<unsigned>(min(n - begin, position{Sorter::capacity}));
  Sorter::sort(block_team<Sorter::threads_of_team, 1>(), shared.view(), context.buffers.output,
               context.buffers[plan.passes % 2], begin, count, context.compare, plan.passes > 0);
}

/// Sorts the chunks of a small root; each block sorts one. If there is only one chunk, the run is
/// complete.
template <class Sorter, class Context>
__global__ void __launch_bounds__(Sorter::threads_of_team) sample_sort_chunks(Context context) {
  const traced here(context.trace, __func__);
  __shared__ typename Sorter::storage shared;
  // There is nothing to wait for, but the call also allows the next grid to be scheduled.
  grid_dependency_synchronize();
  sort_chunk<Sorter>(context, shared);
}

/// Merges the runs of a small root in one pass. A block has a tile of elements, and several threads
/// for each element share the searches for its place.
template <class Context>
__global__ void __launch_bounds__(Context::tuning::merge_threads)
    sample_sort_merge(Context context, unsigned number) {
  const traced here(context.trace, __func__);
  using tuning = typename Context::tuning;
  __shared__ unsigned counts[tuning::max_searchers][tuning::merge_tile];
  if constexpr (Context::is_counted) {
    grid_dependency_synchronize();
    context.read_root();
    if (number >= context.sizes.small.passes) return;
  }
  const small_root_plan& plan = context.sizes.small;
  merge_pass pass{static_cast<unsigned>(context.root.size()), plan.chunk, plan.ways};
  for (unsigned earlier = 0; earlier < number; ++earlier) pass.run *= pass.ways;
  const unsigned lane = threadIdx.x % tuning::merge_tile;
  const unsigned searcher = threadIdx.x / tuning::merge_tile;
  const unsigned index = blockIdx.x * tuning::merge_tile + lane;
  const bool exists = index < pass.n;
  // A block may have fewer threads, or more, than the plan has searchers.
  const unsigned searchers = min(plan.searchers, blockDim.x / tuning::merge_tile);
  if constexpr (!Context::is_counted) grid_dependency_synchronize();
  const unsigned left = plan.passes - number;  // passes; the last one writes into the output
  const auto from = context.buffers[left % 2];
  const auto to = context.buffers[1 - left % 2];

  // 1. Count the elements that precede the thread's element in its share of the other runs.
  const merged_element element(pass, exists ? index : 0);
  unsigned before = 0;
  if (exists && searcher < searchers) {
    probe_of<typename Context::code> code = context.compare.load(from.keys[index]);
    before = count_before_in_runs<tuning::searches_at_once>(from.keys, pass, element, index, code,
                                                            searcher, searchers, context.compare);
  }
  counts[searcher][lane] = before;
  __syncthreads();

  // 2. The first thread of each element moves it to its place.
  if (exists && searcher == 0) {
    unsigned place = element.begin + element.own_rank;
    for (unsigned s = 0; s < searchers; ++s) place += counts[s][lane];
    to.copy_element(place, from, index);
    if constexpr (!Context::order::keys_are_codes) {
      if (left == 1) {
        to.keys[place] = context.compare.decode(context.compare.load(from.keys[index]));
      }
    }
    if constexpr (!Context::order::known_strict_weak) {
      place_claims(context.claims, pass.n, number).claim(place);
    }
  }

  // 3. If two elements have claimed the same place, one of them is lost: the last block copies all
  //    runs unmerged.
  if constexpr (!Context::order::known_strict_weak) {
    const place_claims claims(context.claims, pass.n, number);
    if (last_to_arrive(*claims.arrived, gridDim.x) && load_relaxed(*claims.collided) != 0) {
      for (unsigned i = threadIdx.x; i < pass.n; i += blockDim.x) to.copy_element(i, from, i);
    }
  }
}

/// Returns the maximum number of searchers of an element in a pass over n elements.
///
/// Up to some size a pass is bound by latency, so more threads share the searches. Time on an H200
/// with up to 8 searchers, and with up to 4: 5,000 u32 keys 10.2 and 11.5 us, 14,000 keys 12.7 and
/// 14.3, 20,000 f64 keys 16.0 and 16.6, 20,000 pairs of f64 and u32 19.3 and 17.7. From 28,000 to
/// 80,000 elements, a pass has so few ways that the limit changes nothing.
template <class Tuning>
[[nodiscard]] __host__ __device__ unsigned most_searchers(position n) {
  constexpr position latency_bound = 20'000;
  return n <= latency_bound ? Tuning::max_searchers : (Tuning::max_searchers + 1) / 2;
}

/// Returns the plan of a root of n elements; `chunk` is 0 if the root is not small.
/// \param has_short_chunks  whether a chunk may be short
template <class Tuning>
__host__ __device__ small_root_plan plan_small_root(position n, bool has_short_chunks = true) {
  constexpr unsigned max_ways_of_one_pass = 16;
  constexpr unsigned max_ways_of_two_passes = 10;
  if (n > Tuning::small_root_size) return {};
  constexpr unsigned short_size = Tuning::short_chunk.threads * Tuning::short_chunk.items;
  constexpr unsigned long_size = Tuning::long_chunk.threads * Tuning::long_chunk.items;
  const unsigned chunk = has_short_chunks && long_size < n && n <= max_ways_of_one_pass * short_size
                             ? short_size
                             : long_size;
  const auto chunks = static_cast<unsigned>((n + chunk - 1) / chunk);
  small_root_plan plan{.chunk = chunk, .passes = 0, .ways = chunks, .searchers = 1};
  if (chunks == 1) return plan;
  // The searches in a pass take time for each of its ways, and each pass takes a few microseconds.
  plan.passes = chunks <= max_ways_of_one_pass                              ? 1
                : chunks <= max_ways_of_two_passes * max_ways_of_two_passes ? 2
                                                                            : 3;
  const auto reach = [&](unsigned ways) {
    return plan.passes == 1 ? ways : plan.passes == 2 ? ways * ways : ways * ways * ways;
  };
  for (plan.ways = 2; reach(plan.ways) < chunks;) ++plan.ways;
  constexpr unsigned at_once = Tuning::searches_at_once;
  const unsigned most = most_searchers<Tuning>(n);
  const unsigned wanted = (plan.ways - 1 + at_once - 1) / at_once;
  plan.searchers = wanted < most ? wanted : most;
  return plan;
}

/// Launches the grid that sorts the chunks.
template <class Sorter, class Context, class Grids>
void launch_chunks(const Context& context, Grids& grids) {
  const auto chunks = (context.root.size() + Sorter::capacity - 1) / Sorter::capacity;
  grids(sample_sort_chunks<Sorter, Context>,
        {static_cast<unsigned>(chunks), Sorter::threads_of_team}, context);
}

/// Launches all grids of a run with a small root.
template <class Context, class Grids>
void launch_small_root(const Context& context, Grids& grids) {
  constexpr unsigned tile = Context::tuning::merge_tile;
  const small_root_plan& plan = context.sizes.small;
  if (plan.chunk == Context::short_chunk_sorter::capacity) {
    launch_chunks<typename Context::short_chunk_sorter>(context, grids);
  } else {
    launch_chunks<typename Context::long_chunk_sorter>(context, grids);
  }
  const auto tiles = static_cast<unsigned>((context.root.size() + tile - 1) / tile);
  for (unsigned pass = 0; pass < plan.passes; ++pass) {
    grids(sample_sort_merge<Context>, context.sizes.shape(tiles, tile * plan.searchers, 0), context,
          pass);
  }
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
