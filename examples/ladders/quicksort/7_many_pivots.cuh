// SPDX-License-Identifier: BSD-3-Clause
// Rung 7: many pivots at once.
//
// Changed    A level splits each of its segments not in two but in 256 parts and, for keys that equal a pivot, 255
//            more. Where a part begins is known when all keys have been counted, so a level is two grids over all of
//            its segments, a row of blocks for each:
//
//                count     a sample of 2048 keys, sorted by a block; every 8th is a pivot. Each block finds
//                          the part of each of its keys by binary search, and counts.
//                scatter   the counts' sums say where parts begin. Each block moves its keys there.
//
//            The last block of each row of scatter hands the parts on: large ones to the next level, small ones,
//            some neighbours together, to a list of leaves. The last block of all launches.
// Tree       A chain, with three grids a level: count and scatter, in order in one named stream, and a grid for the
//            leaves that were found. No longer a tree that follows the keys.
// Join       As in rung 6, twice: last block of a row, last block of the grid. Scatter begins when count is
//            complete, for both are in one stream. If the quota has no slot, the level waits, and the host
//            launches it when all else is complete.
// Cost       log256(n / 2048) levels, so two for 2^24 keys, each with two reads and one write of the keys; and leaves.
//            What is left to do: keys are written one by one, wherever they go (the library lays a tile out in
//            shared memory first), and all equal keys are brought home by one block.
#pragma once

#include "6_many_blocks.cuh"

namespace rung_7 {

using namespace ladder;
using rung_4::items;
using rung_4::threads;
using rung_4::tile;
using rung_5::leaf_size;

constexpr unsigned ways = threads;  // thread t > 0 of the sample's block has pivot t - 1
constexpr unsigned parts =
    2 * ways - 1;  // part 2 i: keys before pivot i; part 2 i + 1: those that equal it
constexpr unsigned most_levels = 8;  // what is not a leaf then, one block sorts
constexpr unsigned most_blocks = RAMIFY_ON_CUDA ? 1024 : 8;  // of a level's grids

// What the blocks of a row share. Zeros between levels, but for the pivots.
struct split {
  std::uint32_t pivots[ways - 1];
  unsigned counts[parts];
  unsigned taken[parts];  // places that tiles have reserved
  unsigned arrived;       // blocks of the row that are done
};

// How long the lists are, and who waits.
struct lists {
  unsigned segments[2];      // in the list of each other level
  unsigned leaves;           // in all
  unsigned leaves_launched;  // of these
  unsigned arrived;          // blocks of scatter that are done
  unsigned waiting;          // the level that found no slot, or 0
};

struct job {
  two_arrays keys;
  segment* segments[2];
  segment* leaves;
  split* splits;  // by place in the level's list
  lists* all;
  unsigned blocks;  // of a level's grids, if they are not more because of their rows

  // A row for each segment.
  [[nodiscard]] __host__ __device__ dim3 rows(unsigned count) const {
    return dim3(count, (blocks + count - 1) / count);
  }
};

// 1. Pivots: the first key of every thread, when the block has sorted a sample. Every thread of the block.
__device__ inline void choose_pivots(std::uint32_t* pivots, const std::uint32_t* keys,
                                     const segment& s) {
  __shared__ typename rung_5::block_sort::TempStorage storage;
  std::uint32_t mine[items];
  for (unsigned i = 0; i < items; ++i) {
    mine[i] = keys[s.begin + scramble(s.end ^ scramble(threadIdx.x * items + i)) % s.size()];
  }
  rung_5::block_sort(storage).Sort(mine, rung_5::comes_before());
  if (threadIdx.x > 0) pivots[threadIdx.x - 1] = mine[0];
  __syncthreads();
}

__device__ inline unsigned part_of(const std::uint32_t* pivots, std::uint32_t key) {
  unsigned smaller = 0;  // pivots before the key
  for (unsigned step = ways / 2; step > 0; step /= 2) {
    if (pivots[smaller + step - 1] < key) smaller += step;
  }
  return 2 * smaller + (smaller < ways - 1 && pivots[smaller] == key ? 1 : 0);
}

__global__ void __launch_bounds__(threads) count(job j, unsigned level, nested_grid me) {
  const traced here(me.trace, __func__);
  __shared__ std::uint32_t pivots[ways - 1];
  __shared__ unsigned counts[parts];
  const segment s = j.segments[level % 2][blockIdx.x];
  split& row = j.splits[blockIdx.x];
  const std::uint32_t* from = j.keys[s.buffer];
  // All blocks of a row find the same pivots. One of them writes them down.
  choose_pivots(pivots, from, s);
  for (unsigned p = threadIdx.x; p < parts; p += threads) counts[p] = 0;
  __syncthreads();
  for (unsigned i = s.begin + blockIdx.y * threads + threadIdx.x; i < s.end;
       i += gridDim.y * threads) {
    atomicAdd(&counts[part_of(pivots, from[i])], 1u);
  }
  __syncthreads();
  for (unsigned p = threadIdx.x; p < parts; p += threads) {
    if (counts[p] > 0) atomicAdd(&row.counts[p], counts[p]);
    if (blockIdx.y == 0 && p < ways - 1) row.pivots[p] = pivots[p];
  }
  if (threadIdx.x == 0) me.block_ends();
}

__global__ void __launch_bounds__(threads) sort_leaves(job j, unsigned first, nested_grid me) {
  const traced here(me.trace, __func__);
  // Longer ones are equal keys, or were split eight times.
  rung_5::sort_by_block(j.keys, j.leaves[first + blockIdx.x], [](const segment&) { return false; });
  if (threadIdx.x == 0) me.block_ends();
}

// 2. Moves the keys of a tile to their parts, which begin at `begins`. Every thread of the block.
__device__ inline void scatter_tile(const job& j, const segment& s, split& row,
                                    const std::uint32_t* pivots, const unsigned* begins,
                                    unsigned first) {
  __shared__ unsigned places[parts];  // keys of each part, then where they go
  std::uint32_t mine[items];
  unsigned part[items];
  unsigned rank[items];
  for (unsigned p = threadIdx.x; p < parts; p += threads) places[p] = 0;
  __syncthreads();
  for (unsigned i = 0; i < items; ++i) {
    const unsigned at = first + i * threads + threadIdx.x;
    if (at >= s.end) continue;
    mine[i] = j.keys[s.buffer][at];
    part[i] = part_of(pivots, mine[i]);
    rank[i] = atomicAdd(&places[part[i]], 1u);
  }
  __syncthreads();
  for (unsigned p = threadIdx.x; p < parts; p += threads) {
    if (places[p] > 0) places[p] = begins[p] + atomicAdd(&row.taken[p], places[p]);
  }
  __syncthreads();
  for (unsigned i = 0; i < items; ++i) {
    if (first + i * threads + threadIdx.x >= s.end) continue;
    j.keys[1 - s.buffer][places[part[i]] + rank[i]] = mine[i];
  }
  __syncthreads();
}

// 3. Hands the parts of a segment on. One thread, when the segment's keys have been moved.
__device__ inline void hand_on(const job& j, const segment& s, unsigned level,
                               const unsigned* begins) {
  const unsigned buffer = 1 - s.buffer;
  const auto add_leaf = [&](unsigned begin, unsigned end) {
    if (begin < end) j.leaves[atomicAdd(&j.all->leaves, 1u)] = {begin, end, buffer};
  };
  unsigned begin = s.begin;  // of the parts that become a leaf together
  for (unsigned p = 0; p < parts; ++p) {
    const unsigned end = begins[p + 1];
    if (end - begin <= leaf_size) continue;
    add_leaf(begin, begins[p]);
    begin = begins[p];
    if (end - begin <= leaf_size) continue;
    // A large part. If all its keys are equal, they need only come home.
    if (p % 2 != 0 || level + 1 == most_levels) {
      if (p % 2 == 0 || buffer != 0) add_leaf(begin, end);
    } else {
      const unsigned next = (level + 1) % 2;
      j.segments[next][atomicAdd(&j.all->segments[next], 1u)] = {begin, end, buffer};
    }
    begin = end;
  }
  add_leaf(begin, s.end);
}

__global__ void scatter(job j, unsigned level, nested_grid me);

// 4. Launches what the level before has left; what finds no slot waits for the host. One thread.
__device__ inline void launch_level(const job& j, unsigned level, const nested_grid& me) {
  const unsigned segments = j.all->segments[level % 2];
  const unsigned first = j.all->leaves_launched;
  const unsigned leaves = j.all->leaves - first;
  const device_stream in_order(segments > 0 ? child_streams::named
                                            : child_streams::fire_and_forget);
  const auto launch_one = [&](auto kernel, dim3 blocks, cudaStream_t stream, unsigned argument,
                              const char* name) {
    nested_grid child;
    if (!me.find_room(child, blocks.x * blocks.y)) return false;
    const auto launched = launch(kernel, {blocks, threads}, stream, j, argument, child);
    return child.is_launched(launched, name);
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

__global__ void __launch_bounds__(threads) scatter(job j, unsigned level, nested_grid me) {
  const traced here(me.trace, __func__);
  using scan = block_scan<unsigned, threads>;
  __shared__ typename scan::TempStorage storage;
  __shared__ std::uint32_t pivots[ways - 1];
  __shared__ unsigned begins[parts + 1];
  const segment s = j.segments[level % 2][blockIdx.x];
  split& row = j.splits[blockIdx.x];
  // Where parts begin: each thread has two of them, the last one only one.
  const unsigned t = threadIdx.x;
  const unsigned even = row.counts[2 * t];
  const unsigned odd = t < ways - 1 ? row.counts[2 * t + 1] : 0;
  unsigned before = 0;
  unsigned all = 0;
  scan(storage).ExclusiveSum(even + odd, before, all);
  begins[2 * t] = s.begin + before;
  begins[2 * t + 1] = s.begin + before + even;
  if (t < ways - 1) pivots[t] = row.pivots[t];
  __syncthreads();
  for (unsigned first = s.begin + blockIdx.y * tile; first < s.end; first += gridDim.y * tile) {
    scatter_tile(j, s, row, pivots, begins, first);
  }
  if (last_to_arrive(row.arrived, gridDim.y)) {
    if (t == 0) hand_on(j, s, level, begins);
    for (unsigned p = t; p < parts; p += threads) row.counts[p] = row.taken[p] = 0;
  }
  if (last_to_arrive(j.all->arrived, gridDim.x * gridDim.y) && t == 0) {
    j.all->segments[level % 2] = 0;  // the list after the next one
    launch_level(j, level + 1, me);
  }
  if (t == 0) me.block_ends();
}

inline void sort(std::uint32_t* keys, std::size_t n, ladder_run& run) {
  if (n < 2) return;
  const cudaStream_t stream = run.stream();
  // 5. Memory. A level has n / leaf_size segments at most, for each is longer than a leaf. And two neighbouring leaves
  //    together are longer than one, but at a segment's end and beside a large part.
  const std::size_t most = n / leaf_size + 1;
  const device_buffer<std::uint32_t> other(n, stream);
  const device_buffer<segment> segments(2 * most, stream);
  const device_buffer<segment> leaves((3 + 3 * most_levels) * most, stream);
  const device_buffer<split> splits(most, stream);
  const device_buffer<lists> all(1, stream);
  const auto tiles = static_cast<unsigned>((n + tile - 1) / tile);
  const job j{{keys, other.data()}, {segments.data(), segments.data() + most},
              leaves.data(),        splits.data(),
              all.data(),           tiles < most_blocks ? tiles : most_blocks};
  const segment root{0, static_cast<unsigned>(n), 0};
  lists seen{{1, 0}, 0, 0, 0, 0};
  check(cudaMemcpyAsync(segments.data(), &root, sizeof root, cudaMemcpyHostToDevice, stream),
        "writing the root");
  check(cudaMemcpyAsync(all.data(), &seen, sizeof seen, cudaMemcpyHostToDevice, stream),
        "writing the lists' sizes");
  // 6. The host launches the first level, and those that waited.
  do {
    const unsigned level = seen.waiting;
    const unsigned count_of_level = seen.segments[level % 2];
    check(cudaMemsetAsync(splits.data(), 0, splits.size() * sizeof(split), stream),
          "clearing the counts");
    check(cudaMemsetAsync(&all.data()->waiting, 0, sizeof(unsigned), stream), "clearing a mark");
    if (seen.leaves > seen.leaves_launched) {
      const unsigned first = seen.leaves_launched;
      check(cudaMemcpyAsync(&all.data()->leaves_launched, &seen.leaves, sizeof(unsigned),
                            cudaMemcpyHostToDevice, stream),
            "writing how many leaves are launched");
      run.launched(
          launch(sort_leaves, {seen.leaves - first, threads}, stream, j, first, run.root()), level);
    }
    if (count_of_level > 0) {
      const launch_shape shape(j.rows(count_of_level), threads);
      run.launched(launch(count, shape, stream, j, level, run.root()), level);
      run.launched(launch(scatter, shape, stream, j, level, run.root()), level);
    }
    check(cudaMemcpyAsync(&seen, all.data(), sizeof seen, cudaMemcpyDeviceToHost, stream),
          "reading who waits");
    check(cudaStreamSynchronize(stream), "waiting for a level");
  } while (seen.waiting != 0);
}

}  // namespace rung_7
