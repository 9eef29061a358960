// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The grid that counts the keys of each bucket of a level's segments. A block counts one piece of
/// a segment at a time.

#include <ramify/quicksort/splitter_tree.cuh>
#include <type_traits>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// The shared memory of a block: this struct, the counts, and the tree. Below the root the counts
/// and the tree are small (3 KiB for u32 keys), because shared memory limits the resident blocks of
/// a grid that a kernel launched: see max_registers() in <ramify/runtime/residency.cuh>.
template <class Context>
struct alignas(128) count_shared {
  using code = typename Context::code;
  unsigned order;  ///< of the piece's keys so far

  /// Returns the bytes for a number of buckets. A tree has fewer nodes than buckets, and one unused
  /// entry, because the root is node 1. It has at most leaf_bucket_limit entries.
  [[nodiscard]] __host__ __device__ static constexpr unsigned bytes(unsigned buckets) {
    constexpr unsigned max = Context::tuning::leaf_bucket_limit;
    const std::size_t nodes = buckets < max ? buckets : max;
    return static_cast<unsigned>(sizeof(count_shared) + buckets * sizeof(unsigned) +
                                 nodes * sizeof(code));
  }
  [[nodiscard]] __device__ unsigned* counts() { return reinterpret_cast<unsigned*>(this + 1); }
  [[nodiscard]] __device__ code* tree(unsigned max_buckets) {
    return reinterpret_cast<code*>(counts() + max_buckets);
  }
};

/// Clears the flags in `order` that `count` keys contradict. A warp detects most unordered inputs
/// with the first pair of keys of each lane. All threads of the block must call it.
template <unsigned threads, int items, class Key, class Compare>
__device__ void check_order(unsigned& order, const Key* keys, unsigned count, Compare compare) {
  bool falls = false;
  bool rises = false;
  const auto check_pair = [&](unsigned at) {
    if (at + 1 >= count) return;
    const auto& here = compare.encode(keys[at]);
    const auto& next = compare.encode(keys[at + 1]);
    falls = falls || compare(next, here);
    rises = rises || compare(here, next);
  };
  const auto order_of_warp = [&] {
    return (__any_sync(full_warp_mask, falls) ? unordered : nondecreasing) |
           (__any_sync(full_warp_mask, rises) ? unordered : nonincreasing);
  };
  check_pair(threadIdx.x);
  unsigned found = order_of_warp();
  if (found != unordered) {
    RAMIFY_UNROLL
    for (int i = 1; i < items; ++i) check_pair(unsigned(i) * threads + threadIdx.x);
    found = order_of_warp();
  }
  if (threadIdx.x % 32 == 0) atomicAnd(&order, found);
}

/// Counts the keys of a piece whose bucket numbers have the type Id. All threads of the block must
/// make the same calls.
template <class Context, class Id>
struct piece_counter {
  using code = typename Context::code;
  using tuning = typename Context::tuning;
  static constexpr int items = tuning::count_items;
  static constexpr unsigned threads = tuning::count_threads;
  static constexpr unsigned tile = items * threads;

  const Context& context;
  const sample_sort_piece& piece;
  count_shared<Context>& shared;
  const code* tree;
  const splitter_tree& shape;

  /// Counts the keys tile by tile, and checks the order of the keys of a piece of the root. The
  /// counts are complete after the next barrier.
  __device__ void count_all() const {
    bool in_order = piece.of.depth == 0;
    // If a bucket has fewer keys than two tiles, few tiles are in one bucket.
    const bool long_buckets = piece.of.size() / shape.buckets() > 2 * tile;
    for (position at = piece.begin; at < piece.end; at += tile) {
      if (in_order) {
        // The first key of the next tile is included.
        check_order<threads, items>(
            shared.order, keys_from(at),
            static_cast<unsigned>(min(piece.of.end - at, position{tile + 1})), context.compare);
        __syncthreads();
        in_order = shared.order != unordered;
        __syncthreads();
      }
      const auto count = static_cast<unsigned>(min(piece.end - at, position{tile}));
      if (in_order && long_buckets && count_if_in_one_bucket(at, count)) continue;
      if (count == tile) {
        count_tile<true>(at, count);
      } else {
        count_tile<false>(at, count);
      }
    }
  }

 private:
  [[nodiscard]] __device__ const typename Context::key* keys_from(position begin) const {
    return context.buffers[piece.of.buffer].keys + begin;
  }

  [[nodiscard]] __device__ Id* ids_from(position begin) const {
    return static_cast<Id*>(context.ids) + begin;
  }

  /// If the first and the last key of a tile are in the same bucket, counts all its keys there,
  /// stores the bucket of each, and returns true. The keys must be in order. 4 * 10^8 sorted u32
  /// keys, H200: 2.5 instead of 2.8 ms.
  [[nodiscard]] __device__ bool count_if_in_one_bucket(position begin, unsigned count) const {
    const auto* keys = keys_from(begin);
    const code ends[] = {context.compare.encode(keys[0]), context.compare.encode(keys[count - 1])};
    unsigned ids[2];
    find_buckets(ids, ends, tree, shape.levels, shape.equality != 0, context.compare);
    if (ids[0] != ids[1]) return false;
    for (unsigned k = threadIdx.x; k < count; k += threads) {
      ids_from(begin)[k] = static_cast<Id>(ids[0]);
    }
    if (threadIdx.x == 0) atomicAdd(&shared.counts()[ids[0]], count);
    return true;
  }

  /// Counts the keys of a tile, and stores the bucket of each key. A `full` tile has a key for each
  /// item of each thread, any other has `count` keys.
  template <bool full>
  __device__ void count_tile(position begin, unsigned count) const {
    const auto* keys = keys_from(begin);
    Id* const all_ids = ids_from(begin);
    unsigned* const counts = shared.counts();
    // Missing keys are replaced by the tile's first key, which is not counted again.
    code mine[items];
    unsigned ids[items];
    const auto at = [](int i) { return unsigned(i) * threads + threadIdx.x; };
    RAMIFY_UNROLL_EVERYWHERE
    for (int i = 0; i < items; ++i) {
      mine[i] = context.compare.begin_code(keys[full || at(i) < count ? at(i) : 0]);
    }
    context.compare.with_rest([&](const auto& completed) {
      RAMIFY_UNROLL_EVERYWHERE
      for (int i = 0; i < items; ++i) mine[i] = completed(mine[i]);
    });
    find_buckets(ids, mine, tree, shape.levels, shape.equality != 0, context.compare);
    RAMIFY_UNROLL_EVERYWHERE
    for (int i = 0; i < items; ++i) {
      if (full || at(i) < count) all_ids[at(i)] = static_cast<Id>(ids[i]);
    }
    // No thread uses the old count, so the compiler emits an instruction (ATOMS.POPC.INC) that
    // counts the lanes of each bucket. Votes of the warp would take longer.
    RAMIFY_UNROLL_EVERYWHERE
    for (int i = 0; i < items; ++i) {
      if (full || at(i) < count) atomicAdd(&counts[ids[i]], 1u);
    }
  }
};

/// Counts the keys of each bucket of a level's segments, and stores the bucket of each key.
template <class Context>
__global__ void __launch_bounds__(Context::tuning::count_threads)
    sample_sort_count(Context context, unsigned level) {
  const traced here(context.trace, __func__);
  constexpr unsigned threads = Context::tuning::count_threads;
  auto& shared = dynamic_shared<count_shared<Context>>();
  grid_dependency_synchronize();
  context.read_root();
  context.release_slot();
  level = context.level_of_grid(level);

  const task_list<segment> list = context.list(level);
  const unsigned blocks = list.blocks();
  unsigned* counts = shared.counts();
  auto* tree = shared.tree(max_buckets(level, context.sizes));

  for (unsigned number = blockIdx.x; number < blocks; number += gridDim.x) {
    const sample_sort_piece piece(list, number, context.sizes);
    if (piece.begin == piece.end) continue;
    sample_sort_plan& plan = context.plan_of(piece.of);
    const bool is_root = piece.of.depth == 0;
    const unsigned target = is_root ? context.sizes.root_buckets
                                    : target_buckets<typename Context::tuning>(piece.of.size());
    const unsigned max_if_repeated = is_root ? context.sizes.root_buckets_if_repeated : byte_ids;

    // 1. Build the splitter tree: the same one in all blocks of a segment.
    const splitter_tree shape = build_splitter_tree<threads>(
        tree, context.candidates_of(piece.of), target - 1, max_if_repeated, context.compare);
    if (piece.begin == piece.of.begin && threadIdx.x == 0) plan.tree = shape;
    const unsigned buckets = shape.buckets();

    // 2. Count in shared memory.
    for (unsigned b = threadIdx.x; b < buckets; b += threads) counts[b] = 0;
    if (threadIdx.x == 0) shared.order = nondecreasing | nonincreasing;
    __syncthreads();
    with_id_type(shape, [&](auto* type) {
      using id = std::remove_pointer_t<decltype(type)>;
      piece_counter<Context, id>{context, piece, shared, tree, shape}.count_all();
    });
    __syncthreads();
    if (is_root && threadIdx.x == 0) atomicAnd(&plan.order, shared.order);

    // 3. Add the counts to those of the segment. The old sum is the offset in the bucket at which
    //    this piece's keys begin.
    position* all_counts = context.counts_of(piece.of);
    for (unsigned b = threadIdx.x; b < buckets; b += threads) {
      const position count = counts[b];
      const position before = count == 0 ? 0 : atomicAdd(&all_counts[b], count);
      if (piece.pieces > 1) context.offsets[piece.offsets + b] = before;
    }
    __syncthreads();
  }
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
