// SPDX-License-Identifier: BSD-3-Clause
// Lesson 28a: an irregular nested loop, one thread per row. The first of five versions of one
// program.
//
// Read first     Lesson 1.
// You will see   the sums of the rows of a sparse matrix, whose rows have very different lengths:
//                for each row, for each of its elements. The five versions compute the same sums
//                and differ in the threads that run the inner loop. Each prints how even the work
//                of its threads is. `diff` shows what each version changes:
//                  28a  one thread for each row
//                  28b  one warp for each row
//                  28c  one block for each row
//                  28d  one thread for each row; a long row gets a child grid
//                  28e  the same; the long rows of a block share a child grid
// The rule       The inner loops of a warp run in step, so a warp takes as long as its longest row.
//                A grid takes as long as its longest row, too.
// The pitfall    The mean length says little: here it is 41, but one thread adds 801 elements
//                while nearly all others wait for it. Also, neighboring threads read elements that
//                are far apart, so a warp's reads are not coalesced.
// Plain CUDA     sum_rows<<<rows / threads, threads>>>(m, out)
// Try            Write `interval = 512`. One long row is enough to make all others wait.
#include "uneven_rows.hpp"

using namespace ramify;
using namespace lesson;

constexpr unsigned threads = 64;   // of a block
constexpr unsigned interval = 16;  // one row in 16 is long

// Thread r adds the elements of row r.
__global__ void sum_rows(matrix m, row_sums* out) {
  const unsigned row = blockIdx.x * threads + threadIdx.x;
  const unsigned end = m.first[row + 1];
  int sum = 0;
  unsigned added = 0;
  for (unsigned e = m.first[row]; e < end; ++e, ++added) sum += m.values[e];
  out->sums[row] = sum;
  record(added, out);
}

int main() {
  return run([] {
    show_row_sums(interval, [](matrix m, row_sums* out) {
      check(launch(sum_rows, {rows / threads, threads}, nullptr, m, out).code(), "launching");
    });
  });
}
