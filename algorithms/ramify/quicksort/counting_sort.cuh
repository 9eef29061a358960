// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Counting sort of integers of 8 or 16 bits without values: the first grid counts the keys of each
/// value, and the second writes each value as often as it was counted.
///
///     keys     2 0 3 2 2 0      counts of the values 0 to 3     2 0 3 1
///     begins   0 2 2 5 | 6      keys                            0 0 2 2 2 3
///
/// It writes the keys once, in place. A block counts in shared memory. If not all values fit there,
/// the values are divided into windows, and each block counts those of one window. So the keys are
/// read once for each window: once for 8 bits, twice for 16 bits on an H100.
///
/// Join: the grids run in the order of the stream. The last block of the first grid computes where
/// each value begins. No kernel launches a grid, or reports a status.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <ramify/quicksort/order.cuh>
#include <ramify/quicksort/sample_sort_context.cuh>
#include <ramify/runtime/detail/partition_point.cuh>
#include <ramify/runtime/device_context.cuh>
#include <ramify/runtime/residency.cuh>
#include <type_traits>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

template <class Key>
concept short_integer = std::is_integral_v<Key> && sizeof(Key) <= 2;

/// The number of values that a key may have, or 0 if its keys are not sorted by counting.
template <class Context>
inline constexpr unsigned countable_values = 0;
template <short_integer Key, class Direction>
requires orders_numbers<Direction>
inline constexpr unsigned
    countable_values<sample_sort_context<Key, no_value, sort_order<Key, Direction>>> =
        1u << (8 * sizeof(Key));

/// The smallest number of keys that are counted.
template <class Context>
inline constexpr position least_counted =
    countable_values<Context> <= 256 ? Context::tuning::small_root_size + 1
                                     : Context::tuning::min_counted_words;

/// The values of keys, numbered in their order.
template <class Key, class Direction>
struct value_codes {
  using word = std::conditional_t<sizeof(Key) == 1, std::uint8_t, std::uint16_t>;

  [[nodiscard]] __device__ static unsigned encode(Key key) {
    word bits = 0;
    memcpy(&bits, &key, sizeof bits);
    return codes().encode(bits);
  }
  [[nodiscard]] __device__ static Key decode(unsigned code) {
    const word bits = codes().decode(static_cast<word>(code));
    Key key{};
    memcpy(&key, &bits, sizeof key);
    return key;
  }

 private:
  [[nodiscard]] __device__ static constexpr number_codes<word> codes() {
    return number_codes<word>::template of<Key>(std::same_as<Direction, descending>);
  }
};

/// An array of keys as aligned vectors of 16 bytes. The first and the last one may be incomplete.
template <class Key>
struct key_vectors {
  static constexpr unsigned length = 16 / sizeof(Key);
  struct alignas(16) vector {
    Key keys[length];
  };

  Key* keys;
  position n;
  unsigned before;  ///< keys that the first vector lacks

  __device__ key_vectors(Key* of, position count)
      : keys(of),
        n(count),
        before(static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(of) % 16 / sizeof(Key))) {}

  /// Returns the number of vectors that cover n keys at any address.
  [[nodiscard]] __host__ __device__ static position most(position n) { return n / length + 2; }
  [[nodiscard]] __device__ position count() const { return (before + n + length - 1) / length; }
  /// Returns the index of the first key of a vector, and of the key after its last one.
  [[nodiscard]] __device__ position begin(position i) const {
    return i == 0 ? 0 : i * length - before;
  }
  [[nodiscard]] __device__ position end(position i) const {
    return min((i + 1) * length - before, n);
  }
  /// Returns a complete vector, or null if it is incomplete.
  [[nodiscard]] __device__ vector* complete(position i) const {
    return end(i) - begin(i) == length ? reinterpret_cast<vector*>(keys + begin(i)) : nullptr;
  }
};

/// Counts the keys of the values of a window. Blocks [p * windows, (p + 1) * windows) read the same
/// keys, each for its own window. The last block replaces the counts by the indices at which the
/// values begin.
template <class Context>
__global__ void __launch_bounds__(Context::tuning::count_threads) count_values(Context context) {
  const traced here(context.trace, __func__);
  constexpr unsigned threads = Context::tuning::count_threads;
  constexpr unsigned values = countable_values<Context>;
  using codes = value_codes<typename Context::key, decltype(context.compare.compare)>;
  __shared__ typename block_scan<position, threads>::TempStorage scan_storage;
  auto* const counts = &dynamic_shared<unsigned>();
  const unsigned window = context.sizes.value_window;
  const unsigned first = blockIdx.x % (values / window) * window;
  grid_dependency_synchronize();

  // 1. Count in shared memory.
  for (unsigned i = threadIdx.x; i < window; i += threads) counts[i] = 0;
  __syncthreads();
  const auto count = [&](typename Context::key key) {
    const unsigned at = codes::encode(key) - first;
    if (at < window) atomicAdd(&counts[at], 1u);
  };
  const key_vectors vectors(context.buffers.output.keys, context.root.size());
  const position stride = position{gridDim.x / (values / window)} * threads;
  for (position i = blockIdx.x / (values / window) * threads + threadIdx.x; i < vectors.count();
       i += stride) {
    if (const auto* const complete = vectors.complete(i)) {
      const auto loaded = *complete;
      RAMIFY_UNROLL
      for (const auto key : loaded.keys) count(key);
    } else {
      for (position k = vectors.begin(i); k < vectors.end(i); ++k) count(vectors.keys[k]);
    }
  }
  __syncthreads();

  // 2. Add the counts to those of the other blocks.
  for (unsigned i = threadIdx.x; i < window; i += threads) {
    if (counts[i] != 0) atomicAdd(&context.counts[first + i], position{counts[i]});
  }

  // 3. Join: the last block sums up.
  if (!last_to_arrive(reinterpret_cast<unsigned&>(context.counts[values]), gridDim.x)) return;
  const position n = scan_in_order<threads, position>(
      scan_storage, values, [&](unsigned v) { return context.counts[v]; },
      [&](unsigned v, position, position before) { context.counts[v] = before; });
  if (threadIdx.x == 0) context.counts[values] = n;
}

/// The vectors that a thread of fill_values writes.
inline constexpr unsigned filled_vectors = 8;

/// Writes the keys in order. A block writes a tile of vectors.
template <class Context>
__global__ void __launch_bounds__(Context::tuning::tile_threads) fill_values(Context context) {
  const traced here(context.trace, __func__);
  constexpr unsigned threads = Context::tuning::tile_threads;
  using codes = value_codes<typename Context::key, decltype(context.compare.compare)>;
  __shared__ unsigned ends[2];  // the values of the first and of the last key of the tile
  grid_dependency_synchronize();
  const position* const begins = context.counts;
  const key_vectors vectors(context.buffers.output.keys, context.root.size());
  const position first = position{blockIdx.x} * threads * filled_vectors;
  if (first >= vectors.count()) return;
  const position last = min(first + threads * filled_vectors, vectors.count()) - 1;
  // Returns the value of the key at `at`, which is in [low, high].
  const auto value_at = [&](position at, unsigned low, unsigned high) {
    return runtime::partition_point(low, high, [&](unsigned v) { return begins[v + 1] <= at; });
  };

  // 1. Find the values of the tile. Often there is only one.
  if (threadIdx.x < 2) {
    ends[threadIdx.x] = value_at(threadIdx.x == 0 ? vectors.begin(first) : vectors.end(last) - 1, 0,
                                 countable_values<Context> - 1);
  }
  __syncthreads();

  // 2. Write. A thread searches again where a value ends, so that missing values cost no time.
  for (position i = first + threadIdx.x; i <= last; i += threads) {
    position at = vectors.begin(i);
    unsigned value = value_at(at, ends[0], ends[1]);
    position end = value == ends[1] ? vectors.n : begins[value + 1];
    const auto next = [&] {
      if (at >= end) {
        value = value_at(at, value + 1, ends[1]);
        end = begins[value + 1];
      }
      ++at;
      return codes::decode(value);
    };
    if (auto* const complete = vectors.complete(i)) {
      typename decltype(vectors)::vector filled;
      RAMIFY_UNROLL
      for (auto& key : filled.keys) key = next();
      *complete = filled;
    } else {
      for (position k = at; k < vectors.end(i); ++k) vectors.keys[k] = next();
    }
  }
}

/// The values that a block counts, and the co-resident blocks of the grid that counts.
struct counting_shape {
  unsigned window;
  unsigned blocks;
};

/// Returns the shape on the current device: as many values as fit in the shared memory of a block.
template <class Context>
const counting_shape& shape_of_counting() {
  return runtime::once_per_context([] {
    constexpr std::size_t wanted = countable_values<Context> * sizeof(unsigned);
    const std::size_t bytes = std::bit_floor(set_max_dynamic_shared(count_values<Context>, wanted));
    const unsigned blocks =
        resident_blocks(count_values<Context>, Context::tuning::count_threads, bytes);
    return counting_shape{static_cast<unsigned>(bytes / sizeof(unsigned)), blocks};
  });
}

/// Launches the grids of a counting sort. The caller must have cleared context.counts.
template <class Context, class Grids>
void launch_counting_sort(const Context& context, Grids& grids) {
  using tuning = typename Context::tuning;
  const unsigned window = context.sizes.value_window;
  const unsigned windows = countable_values<Context> / window;
  const position vectors = key_vectors<typename Context::key>::most(context.root.size());
  const auto blocks_of = [&](position of_block) { return (vectors + of_block - 1) / of_block; };
  // A block counts at most 2^31 keys of the same value, so that no count overflows.
  const position most = std::max(position{context.sizes.blocks / windows},
                                 context.root.size() / (position{1} << 30) + 1);
  const position pieces = std::min(blocks_of(tuning::count_threads), most);
  grids(count_values<Context>,
        {static_cast<unsigned>(pieces * windows), tuning::count_threads,
         static_cast<unsigned>(window * sizeof(unsigned))},
        context);
  grids(fill_values<Context>,
        {static_cast<unsigned>(blocks_of(tuning::tile_threads * filled_vectors)),
         tuning::tile_threads},
        context);
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
