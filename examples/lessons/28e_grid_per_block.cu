// SPDX-License-Identifier: BSD-3-Clause
// Lesson 28e: an irregular nested loop, aggregated child grids. The last of five versions; see 28a.
//
// Read first     Lessons 16d and 28d.
// You will see   the sums and the even work of 28d with a quarter of its grids. Changed from 28d: a
//                block gathers the long rows of its threads and launches one child grid for the
//                elements of all of them.
// The rule       A scan over the block numbers the elements of its long rows. One thread launches.
//                A thread of the child finds the row of its number by binary search (as in lesson
//                16d). The numbers are passed to the child by value.
// The pitfall    Each block runs a scan, also without a long row, and each element takes a search.
//                If a block has at most one long row, nothing is gained.
// Plain CUDA     sum_long_rows<<<blocks, threads, 0, cudaStreamFireAndForget>>>(group, m, out)
// Try            Write `threads = 128`. Larger blocks launch fewer grids.
#include <ramify/runtime/collectives.cuh>

#include "uneven_rows.hpp"

using namespace ramify;
using namespace lesson;

constexpr unsigned threads = 64;   // of a block
constexpr unsigned long_row = 64;  // rows with at least so many elements share a grid

// The long rows of a block: the number of each thread's first element. A thread without a long row
// has the same number as the next one.
struct long_rows {
  unsigned first[threads];
  unsigned elements;  // of all of them
  unsigned begin;     // the row of thread 0
};

// 1. A child grid: one thread for each element of the long rows of a block.
__global__ void sum_long_rows(long_rows group, matrix m, row_sums* out) {
  const unsigned i = blockIdx.x * threads + threadIdx.x;
  if (i < group.elements) {
    unsigned owner = 0;  // the last thread whose first number is at most i
    for (unsigned step = threads / 2; step > 0; step /= 2) {
      if (group.first[owner + step] <= i) owner += step;
    }
    const unsigned row = group.begin + owner;
    atomicAdd(&out->sums[row], m.values[m.first[row] + (i - group.first[owner])]);
  }
  record(i < group.elements ? 1 : 0, out);
}

__device__ bool launch_grid_for(const long_rows& group, matrix m, row_sums* out) {
  const unsigned blocks = (group.elements + threads - 1) / threads;
  const auto launched = launch(sum_long_rows, {blocks, threads}, fire_and_forget(), group, m, out);
  atomicAdd(launched ? &out->grids : &out->failed, 1u);
  return bool(launched);
}

// 2. The block launches a grid for its long rows. Thread r adds the elements of row r if it is
//    short.
__global__ void sum_rows(matrix m, row_sums* out) {
  using scan = block_scan<unsigned, threads>;
  __shared__ typename scan::TempStorage scan_memory;
  __shared__ long_rows group;
  const unsigned row = blockIdx.x * threads + threadIdx.x;
  const unsigned end = m.first[row + 1];
  const unsigned length = end - m.first[row];
  unsigned all = 0;
  scan(scan_memory).ExclusiveSum(length < long_row ? 0 : length, group.first[threadIdx.x], all);
  __syncthreads();  // makes the numbers visible to thread 0
  bool is_launched = false;
  if (threadIdx.x == 0 && all > 0) {
    group.elements = all;
    group.begin = row;
    is_launched = launch_grid_for(group, m, out);
  }
  is_launched = __syncthreads_or(is_launched) != 0;
  int sum = 0;
  unsigned added = 0;
  if (length < long_row || !is_launched) {
    for (unsigned e = m.first[row]; e < end; ++e, ++added) sum += m.values[e];
    out->sums[row] = sum;
  }
  record(added, out);
}

int main() {
  return run([] {
    show_row_sums(16, [](matrix m, row_sums* out) {
      check(launch(sum_rows, {rows / threads, threads}, nullptr, m, out).code(), "launching");
    });
  });
}
