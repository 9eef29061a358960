// SPDX-License-Identifier: BSD-3-Clause
// Lesson 28b: an irregular nested loop, one warp per row. The second of five versions; see 28a.
//
// Read first     Lesson 28a.
// You will see   the sums of 28a. The longest loop is 30 times shorter, but two of three threads
//                add nothing. Changed from 28a: the 32 lanes of a warp add the elements of one row,
//                and then combine their sums by shuffles.
// The rule       Lane i begins at element i and steps by 32. The lanes of a warp read neighboring
//                elements, so the reads are coalesced.
// The pitfall    A row with 8 elements leaves 24 lanes idle, and all 32 take part in the shuffles.
//                This version is good where most rows have dozens to hundreds of elements.
// Plain CUDA     sum_rows<<<rows * lanes / threads, threads>>>(m, out)
// Try            Write `lanes = 8`. A warp then has four rows: fewer threads are idle, and the
//                longest loop is four times as long.
#include "uneven_rows.hpp"

using namespace ramify;
using namespace lesson;

constexpr unsigned threads = 64;  // of a block
constexpr unsigned lanes = 32;    // of a row

// 1. The lanes add the elements of row r.
__global__ void sum_rows(matrix m, row_sums* out) {
  const unsigned row = (blockIdx.x * threads + threadIdx.x) / lanes;
  const unsigned lane = threadIdx.x % lanes;
  const unsigned end = m.first[row + 1];
  int sum = 0;
  unsigned added = 0;
  for (unsigned e = m.first[row] + lane; e < end; e += lanes, ++added) sum += m.values[e];
  // 2. Combine: lane 0 gets the sum of all lanes, in log2(lanes) steps.
  for (unsigned step = lanes / 2; step > 0; step /= 2) {
    sum += __shfl_down_sync(0xffffffffu, sum, step, lanes);
  }
  if (lane == 0) out->sums[row] = sum;
  record(added, out);
}

int main() {
  return run([] {
    show_row_sums(16, [](matrix m, row_sums* out) {
      check(launch(sum_rows, {rows * lanes / threads, threads}, nullptr, m, out).code(),
            "launching");
    });
  });
}
