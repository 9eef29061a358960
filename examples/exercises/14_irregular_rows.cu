// SPDX-License-Identifier: BSD-3-Clause
// Exercise 14: an irregular loop (lessons 28a to 28d).
//
// Given      A matrix of 16 rows with very different numbers of elements. Thread r is responsible
//            for row r. The kernel `add_row` adds the elements of one row, one thread for each.
// Task       A row of `long_row` elements or more gets a grid of `add_row`, with blocks of 32
//            threads and as few blocks as suffice. If the launch fails, and for shorter rows,
//            thread r adds the elements itself, by add_in_place().
#include "exercise.hpp"

using namespace ramify;
using exercise::expect;

constexpr unsigned rows = 16;
constexpr unsigned long_row = 32;

struct results {
  unsigned first[rows + 1];  // the elements of row r are first[r] to first[r + 1] - 1
  unsigned sums[rows];       // all elements are 1, so a sum is the length
};

__global__ void add_row(unsigned row, results* m) {
  const unsigned element = m->first[row] + blockIdx.x * blockDim.x + threadIdx.x;
  if (element < m->first[row + 1]) atomicAdd(&m->sums[row], 1u);
}

__device__ void add_in_place(unsigned row, results* m) {
  for (unsigned e = m->first[row]; e < m->first[row + 1]; ++e) atomicAdd(&m->sums[row], 1u);
}

__global__ void add_rows(results* m) {
  const unsigned row = threadIdx.x;
  const unsigned length = m->first[row + 1] - m->first[row];
  // HOLE: if the row is long, launch(add_row, {blocks, 32}, fire_and_forget(), row, m)
  // END OF HOLE
}

void run_rows(unsigned grids) {
  // Most rows are short. Row 2 is the longest, and row 9 has exactly `long_row` elements.
  const unsigned lengths[rows] = {3, 0, 1000, 7, 31, 2, 33, 1, 0, 32, 5, 30, 4, 100, 6, 2};
  std::vector<results> input(1);
  for (unsigned r = 0; r < rows; ++r) input[0].first[r + 1] = input[0].first[r] + lengths[r];
  const exercise::device_array<results> memory(input);
  check(launch(add_rows, {1, rows}, nullptr, memory.data()).code(), "launching");
  const results m = memory.read()[0];
  for (unsigned r = 0; r < rows; ++r) {
    const std::string name = "row " + std::to_string(r);
    expect(m.sums[r] != 2 * lengths[r] || lengths[r] == 0,
           name + " was added twice: by a grid and in place");
    expect(m.sums[r] == lengths[r], std::to_string(m.sums[r]) + " of the " +
                                        std::to_string(lengths[r]) + " elements of " + name +
                                        " were added");
  }
  exercise::with_grids([&](const auto& seen) {
    const auto children = seen.of("add_row");
    expect(children.size() == grids, exercise::counted(children.size(), "grid") +
                                         " of add_row ran, but 4 rows have 32 " +
                                         "elements or more");
    for (const auto& g : children) {
      expect(g.blocks[0] <= 32, "a grid has " + std::to_string(g.blocks[0]) + " blocks, but 32 " +
                                    "blocks of 32 threads suffice for 1000 elements");
    }
  });
}

void test() {
  run_rows(4);
  exercise::with_full_pool(1, [] { run_rows(4); });  // no more grids than before
}

int main() { return exercise::run(test); }
