// SPDX-License-Identifier: BSD-3-Clause
// Lesson 28c: an irregular nested loop, one block per row. The third of five versions; see 28a.
//
// Read first     Lesson 28b.
// You will see   the sums of 28a. The longest loop is half as long as in 28b, and four of five
//                threads add nothing. Changed from 28b: all threads of a block add the elements of
//                one row, and combine their sums by a reduction of the block.
// The rule       The more threads a row has, the shorter is the loop of the longest row, and the
//                more threads of the other rows are idle. No fixed number of threads fits all rows.
// The pitfall    The reduction has barriers, so a block with 8 elements costs nearly as much as a
//                block with 64. This version is good where all rows have thousands of elements.
// Plain CUDA     sum_rows<<<rows, threads>>>(m, out)
// Try            Write `threads = 128`. Even more threads are idle.
#include <ramify/runtime/collectives.cuh>

#include "uneven_rows.hpp"

using namespace ramify;
using namespace lesson;

constexpr unsigned threads = 64;  // of a block

struct add {
  __device__ int operator()(int a, int b) const { return a + b; }
};

// 1. The threads of block r add the elements of row r.
__global__ void sum_rows(matrix m, row_sums* out) {
  using reduction = block_reduce<int, threads>;
  __shared__ typename reduction::TempStorage memory;
  const unsigned row = blockIdx.x;
  const unsigned end = m.first[row + 1];
  int sum = 0;
  unsigned added = 0;
  for (unsigned e = m.first[row] + threadIdx.x; e < end; e += threads, ++added) sum += m.values[e];
  // 2. Combine: thread 0 gets the sum of all threads.
  sum = reduction(memory).Reduce(sum, add{});
  if (threadIdx.x == 0) out->sums[row] = sum;
  record(added, out);
}

int main() {
  return run([] {
    show_row_sums(16, [](matrix m, row_sums* out) {
      check(launch(sum_rows, {rows, threads}, nullptr, m, out).code(), "launching");
    });
  });
}
