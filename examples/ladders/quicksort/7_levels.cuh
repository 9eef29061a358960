// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The levels of rung 7: the lists of segments and leaves, and the code that launches them.

#include "6_many_blocks.cuh"

namespace ladder::rung_7 {

using rung_4::items;
using rung_4::threads;
using rung_4::tile;
using rung_5::leaf_size;

constexpr unsigned ways = threads;  // thread t > 0 of a block selects pivot t - 1
// Part 2 i holds the keys between pivots i - 1 and i. Part 2 i + 1 holds the keys equal to pivot i.
constexpr unsigned parts = 2 * ways - 1;
constexpr unsigned max_levels = 8;  // after these, one block sorts a part that is not a leaf
constexpr unsigned max_blocks = RAMIFY_ON_CUDA ? 1024 : 8;  // of the grids of a level

// The data that the blocks of a row share. Zero between levels, except the pivots.
struct split {
  std::uint32_t pivots[ways - 1];
  unsigned counts[parts];
  unsigned taken[parts];  // positions that tiles have reserved
  unsigned arrived;       // blocks of the row that are done
};

// The lengths of the lists, and the level that waits for the host.
struct lists {
  unsigned segments[2];      // segments of even levels, and of odd levels
  unsigned leaves;           // leaves so far
  unsigned leaves_launched;  // leaves for which a grid was launched
  unsigned arrived;          // blocks of scatter that are done
  unsigned waiting;          // the level that got no slot, or 0
};

struct job {
  double_buffer keys;
  segment* segments[2];
  segment* leaves;
  split* splits;  // one for each segment of the level
  lists* all;
  unsigned blocks;  // minimum number of blocks of a level's grids

  // Returns the grid shape: one row of blocks for each segment.
  [[nodiscard]] __host__ __device__ dim3 rows(unsigned count) const {
    return dim3(count, (blocks + count - 1) / count);
  }
};

// 1. Appends the parts of a segment to the lists. One thread calls it, after all keys of the
//    segment have been moved.
__device__ inline void emit_children(const job& j, const segment& s, unsigned level,
                                     const unsigned* begins) {
  const unsigned buffer = 1 - s.buffer;
  const auto add_leaf = [&](unsigned begin, unsigned end) {
    if (begin < end) j.leaves[atomicAdd(&j.all->leaves, 1u)] = {begin, end, buffer};
  };
  unsigned begin = s.begin;  // begin of the parts that are merged into one leaf
  for (unsigned p = 0; p < parts; ++p) {
    const unsigned end = begins[p + 1];
    if (end - begin <= leaf_size) continue;
    add_leaf(begin, begins[p]);
    begin = begins[p];
    if (end - begin <= leaf_size) continue;
    // A large part. If all its keys are equal, they are only copied to the output.
    if (p % 2 != 0 || level + 1 == max_levels) {
      if (p % 2 == 0 || buffer != 0) add_leaf(begin, end);
    } else {
      const unsigned next = (level + 1) % 2;
      j.segments[next][atomicAdd(&j.all->segments[next], 1u)] = {begin, end, buffer};
    }
    begin = end;
  }
  add_leaf(begin, s.end);
}

__global__ void __launch_bounds__(threads) sort_leaves(job j, unsigned first, nested_grid self) {
  const traced here(self.trace, __func__);
  // Longer segments contain equal keys, or were split eight times.
  rung_5::sort_by_block(j.keys, j.leaves[first + blockIdx.x], [](const segment&) { return false; });
  if (threadIdx.x == 0) self.block_ends();
}

__global__ void count(job j, unsigned level, nested_grid self);
__global__ void scatter(job j, unsigned level, nested_grid self);

// 2. Launches the segments and leaves that the previous level produced. Without a slot they wait
//    for the host. One thread calls it.
__device__ inline void launch_level(const job& j, unsigned level, const nested_grid& self) {
  const unsigned segments = j.all->segments[level % 2];
  const unsigned first = j.all->leaves_launched;
  const unsigned leaves = j.all->leaves - first;
  const device_stream in_order(segments > 0 ? child_streams::named
                                            : child_streams::fire_and_forget);
  const auto launch_one = [&](auto kernel, dim3 blocks, cudaStream_t stream, unsigned argument,
                              const char* name) {
    nested_grid child;
    if (!self.acquire_slot(child, blocks.x * blocks.y)) return false;
    const auto launched = launch(kernel, {blocks, threads}, stream, j, argument, child);
    return child.check_launch(launched, name);
  };
  bool done = true;
  if (leaves > 0) {
    done = launch_one(sort_leaves, dim3(leaves), fire_and_forget(), first, "sort_leaves");
    if (done) j.all->leaves_launched = first + leaves;
  }
  if (done && segments > 0) {
    done = launch_one(count, j.rows(segments), in_order.get(), level, "count") &&
           launch_one(scatter, j.rows(segments), in_order.get(), level, "scatter");
  }
  if (!done) j.all->waiting = level;
}

// 3. Launches the first level, and the levels that got no slot. Waits for the sort.
inline void run_levels(std::uint32_t* keys, std::size_t n, ladder_run& run) {
  const cudaStream_t stream = run.stream();
  // A level has at most n / leaf_size segments, because each is longer than a leaf. Two neighboring
  // leaves together are longer than a leaf, except at a segment's end and beside a large part:
  // three more leaves for each segment.
  const std::size_t most = n / leaf_size + 1;
  const device_buffer<std::uint32_t> other(n, stream);
  const device_buffer<segment> segments(2 * most, stream);
  const device_buffer<segment> leaves((3 + 3 * max_levels) * most, stream);
  const device_buffer<split> splits(most, stream);
  const device_buffer<lists> all(1, stream);
  const auto tiles = static_cast<unsigned>((n + tile - 1) / tile);
  const job j{{keys, other.data()}, {segments.data(), segments.data() + most},
              leaves.data(),        splits.data(),
              all.data(),           tiles < max_blocks ? tiles : max_blocks};
  const segment root{0, static_cast<unsigned>(n), 0};
  lists seen{{1, 0}, 0, 0, 0, 0};
  check(cudaMemcpyAsync(segments.data(), &root, sizeof root, cudaMemcpyHostToDevice, stream),
        "writing the root");
  check(cudaMemcpyAsync(all.data(), &seen, sizeof seen, cudaMemcpyHostToDevice, stream),
        "writing the lengths of the lists");
  // Launch the first level, then each level that waits.
  do {
    const unsigned level = seen.waiting;
    const unsigned count_of_level = seen.segments[level % 2];
    check(cudaMemsetAsync(splits.data(), 0, splits.size() * sizeof(split), stream),
          "clearing the counts");
    check(cudaMemsetAsync(&all.data()->waiting, 0, sizeof(unsigned), stream),
          "clearing the waiting level");
    if (seen.leaves > seen.leaves_launched) {
      const unsigned first = seen.leaves_launched;
      check(cudaMemcpyAsync(&all.data()->leaves_launched, &seen.leaves, sizeof(unsigned),
                            cudaMemcpyHostToDevice, stream),
            "writing the number of launched leaves");
      run.launched(
          launch(sort_leaves, {seen.leaves - first, threads}, stream, j, first, run.root()), level);
    }
    if (count_of_level > 0) {
      const launch_shape shape(j.rows(count_of_level), threads);
      run.launched(launch(count, shape, stream, j, level, run.root()), level);
      run.launched(launch(scatter, shape, stream, j, level, run.root()), level);
    }
    check(cudaMemcpyAsync(&seen, all.data(), sizeof seen, cudaMemcpyDeviceToHost, stream),
          "reading the waiting level");
    check(cudaStreamSynchronize(stream), "waiting for a level");
  } while (seen.waiting != 0);
}

}  // namespace ladder::rung_7
