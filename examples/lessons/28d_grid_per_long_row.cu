// SPDX-License-Identifier: BSD-3-Clause
// Lesson 28d: an irregular nested loop, a child grid per long row. The fourth of five versions; see
// 28a.
//
// Read first     Lessons 11 and 28a.
// You will see   the sums of 28a. No thread adds more than 15 elements, and few threads are idle.
//                Changed from 28a: a thread that finds a long row launches a child grid with one
//                thread for each of its elements.
// The rule       The number of threads fits each row. A row below the threshold stays in its
//                thread, because a launch costs more than such a loop (6.1 us on an H200). No
//                kernel waits for the children: the host waits for the grid, which is complete
//                when they are.
// The pitfall    Each long row costs a launch, and the threads of a warp launch one after another.
//                Each launch also needs a place in the pool of pending launches (lesson 11). If a
//                launch fails, the thread adds the elements itself.
// Plain CUDA     sum_row<<<blocks, threads, 0, cudaStreamFireAndForget>>>(row, m, out)
// Try            Write `long_row = 8`. Half of all rows then launch a grid, for a few elements
//                each.
#include "uneven_rows.hpp"

using namespace ramify;
using namespace lesson;

constexpr unsigned threads = 64;   // of a block
constexpr unsigned long_row = 64;  // a row with at least so many elements gets a grid

// 1. A child grid: one thread for each element of a row. The threads combine by atomic additions.
__global__ void sum_row(unsigned row, matrix m, row_sums* out) {
  const unsigned e = m.first[row] + blockIdx.x * threads + threadIdx.x;
  const bool has_element = e < m.first[row + 1];
  if (has_element) atomicAdd(&out->sums[row], m.values[e]);
  record(has_element ? 1 : 0, out);
}

__device__ bool launch_grid_for(unsigned row, unsigned length, matrix m, row_sums* out) {
  const unsigned blocks = (length + threads - 1) / threads;
  const auto launched = launch(sum_row, {blocks, threads}, fire_and_forget(), row, m, out);
  atomicAdd(launched ? &out->grids : &out->failed, 1u);
  return bool(launched);
}

// 2. Thread r launches a grid for row r, or adds its elements.
__global__ void sum_rows(matrix m, row_sums* out) {
  const unsigned row = blockIdx.x * threads + threadIdx.x;
  const unsigned end = m.first[row + 1];
  const unsigned length = end - m.first[row];
  int sum = 0;
  unsigned added = 0;
  if (length < long_row || !launch_grid_for(row, length, m, out)) {
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
