// SPDX-License-Identifier: BSD-3-Clause
// Lesson 28a: an irregular nested loop, one thread per row. The first of five versions of one
// program.
//
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
// Try            In step 1, write `row % 512 == 5`. One long row is enough to make all others wait.
#include "lesson.hpp"

using namespace ramify;

constexpr unsigned rows = 512;
constexpr unsigned threads = 64;  // of a block

// 1. Compressed sparse rows: row r has the elements first[r] to first[r + 1] - 1. Most rows have up
//    to 15 elements, and one in 16 has hundreds.
unsigned length_of(unsigned row) { return row % 16 == 5 ? 300 + row : row * 7 % 16; }

struct matrix {
  const unsigned* first;
  const int* values;
};

struct results {
  int sums[rows];
  unsigned threads;
  unsigned idle;     // threads that add no element
  unsigned busiest;  // most elements that one thread adds
  unsigned grids;    // launched by kernels
  unsigned failed;
};

// 2. Each thread records how many elements it has added.
__device__ void record(unsigned elements, results* out) {
  atomicAdd(&out->threads, 1u);
  if (elements == 0) atomicAdd(&out->idle, 1u);
  atomicMax(&out->busiest, elements);
}

// 3. Thread r adds the elements of row r.
__global__ void sum_rows(matrix m, results* out) {
  const unsigned row = blockIdx.x * threads + threadIdx.x;
  const unsigned end = m.first[row + 1];
  int sum = 0;
  unsigned added = 0;
  for (unsigned e = m.first[row]; e < end; ++e, ++added) sum += m.values[e];
  out->sums[row] = sum;
  record(added, out);
}

int main() {
  return lesson::run([] {
    std::vector<unsigned> first(rows + 1);
    for (unsigned r = 0; r < rows; ++r) first[r + 1] = first[r] + length_of(r);
    std::vector<int> values(first[rows]);
    for (unsigned e = 0; e < first[rows]; ++e) values[e] = static_cast<int>(e % 10);
    const lesson::device_array<unsigned> device_first(first);
    const lesson::device_array<int> device_values(values);
    const lesson::device_array<results> memory(1);
    const matrix m{device_first.data(), device_values.data()};
    check(launch(sum_rows, {rows / threads, threads}, nullptr, m, memory.data()).code(),
          "launching");
    const results out = memory.read()[0];
    unsigned right = 0;
    for (unsigned r = 0; r < rows; ++r) {
      int sum = 0;
      for (unsigned e = first[r]; e < first[r + 1]; ++e) sum += values[e];
      right += out.sums[r] == sum ? 1 : 0;
    }
    std::cout << "rows with the right sum:   " << right << " of " << rows << '\n'
              << "threads:                   " << out.threads << ", of which " << out.idle
              << " add nothing\n"
              << "most elements of a thread: " << out.busiest << '\n'
              << "launched by kernels:       " << out.grids << " grids; failed: " << out.failed
              << '\n';
  });
}
