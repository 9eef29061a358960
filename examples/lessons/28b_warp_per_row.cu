// SPDX-License-Identifier: BSD-3-Clause
// Lesson 28b: an irregular nested loop, one warp per row. The second of five versions; see 28a.
//
// You will see   the sums of 28a. The longest loop is 30 times shorter, but two of three threads
//                add nothing. Changed from 28a: the 32 lanes of a warp add the elements of one row,
//                and then combine their sums by shuffles.
// The rule       Lane i begins at element i and steps by 32. The lanes of a warp read neighboring
//                elements, so the reads are coalesced.
// The pitfall    A row with 8 elements leaves 24 lanes idle, and all 32 take part in the shuffles.
//                This version is good where most rows have dozens to hundreds of elements.
// Try            Write `lanes = 8`. A warp then has four rows: fewer threads are idle, and the
//                longest loop is four times as long.
#include "lesson.hpp"

using namespace ramify;

constexpr unsigned rows = 512;
constexpr unsigned threads = 64;  // of a block
constexpr unsigned lanes = 32;    // of a row

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

// 3. The lanes add the elements of row r.
__global__ void sum_rows(matrix m, results* out) {
  const unsigned row = (blockIdx.x * threads + threadIdx.x) / lanes;
  const unsigned lane = threadIdx.x % lanes;
  const unsigned end = m.first[row + 1];
  int sum = 0;
  unsigned added = 0;
  for (unsigned e = m.first[row] + lane; e < end; e += lanes, ++added) sum += m.values[e];
  // 4. Combine: lane 0 gets the sum of all lanes, in log2(lanes) steps.
  for (unsigned step = lanes / 2; step > 0; step /= 2) {
    sum += __shfl_down_sync(0xffffffffu, sum, step, lanes);
  }
  if (lane == 0) out->sums[row] = sum;
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
    check(launch(sum_rows, {rows * lanes / threads, threads}, nullptr, m, memory.data()).code(),
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
