// SPDX-License-Identifier: BSD-3-Clause
// Lesson 28c: an irregular nested loop, one block per row. The third of five versions; see 28a.
//
// You will see   the sums of 28a. The longest loop is half as long as in 28b, and four of five
//                threads add nothing. Changed from 28b: all threads of a block add the elements of
//                one row, and combine their sums by a reduction of the block.
// The rule       The more threads a row has, the shorter is the loop of the longest row, and the
//                more threads of the other rows are idle. No fixed number of threads fits all rows.
// The pitfall    The reduction has barriers, so a block with 8 elements costs nearly as much as a
//                block with 64. This version is good where all rows have thousands of elements.
// Try            Write `threads = 128`. Even more threads are idle.
#include <ramify/runtime/collectives.cuh>

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

struct add {
  __device__ int operator()(int a, int b) const { return a + b; }
};

// 3. The threads of block r add the elements of row r.
__global__ void sum_rows(matrix m, results* out) {
  using reduction = block_reduce<int, threads>;
  __shared__ typename reduction::TempStorage memory;
  const unsigned row = blockIdx.x;
  const unsigned end = m.first[row + 1];
  int sum = 0;
  unsigned added = 0;
  for (unsigned e = m.first[row] + threadIdx.x; e < end; e += threads, ++added) sum += m.values[e];
  // 4. Combine: thread 0 gets the sum of all threads.
  sum = reduction(memory).Reduce(sum, add{});
  if (threadIdx.x == 0) out->sums[row] = sum;
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
    check(launch(sum_rows, {rows, threads}, nullptr, m, memory.data()).code(), "launching");
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
