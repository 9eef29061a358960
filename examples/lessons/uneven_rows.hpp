// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The program of lessons 28a to 28e without its kernels: a sparse matrix whose rows have very
/// different lengths, how even the work of the threads is, and a check of the sums of the rows.

#include "lesson.hpp"

namespace lesson {

inline constexpr unsigned rows = 512;

/// Compressed sparse rows: row r has the elements first[r] to first[r + 1] - 1.
struct matrix {
  const unsigned* first;
  const int* values;
};

/// What the kernels compute. Initially zero.
struct row_sums {
  int sums[rows];
  unsigned threads;
  unsigned idle;     ///< threads that add no element
  unsigned busiest;  ///< most elements that one thread adds
  unsigned grids;    ///< launched by kernels
  unsigned failed;
};

/// Records how many elements a thread has added. Each thread calls it once.
__device__ inline void record(unsigned elements, row_sums* out) {
  atomicAdd(&out->threads, 1u);
  if (elements == 0) atomicAdd(&out->idle, 1u);
  atomicMax(&out->busiest, elements);
}

/// Makes a matrix in which one row in `interval` has hundreds of elements, and all others have up
/// to 15. Calls sum_rows(matrix, row_sums*), which launches the kernels. Checks and prints the
/// result.
template <class SumRows>
void show_row_sums(unsigned interval, SumRows sum_rows) {
  std::vector<unsigned> first(rows + 1);
  for (unsigned r = 0; r < rows; ++r) {
    first[r + 1] = first[r] + (r % interval == 5 ? 300 + r : r * 7 % 16);
  }
  std::vector<int> values(first[rows]);
  for (unsigned e = 0; e < first[rows]; ++e) values[e] = static_cast<int>(e % 10);
  const device_array<unsigned> device_first(first);
  const device_array<int> device_values(values);
  const device_array<row_sums> memory(1);
  sum_rows(matrix{device_first.data(), device_values.data()}, memory.data());
  const row_sums out = memory.read()[0];
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
}

}  // namespace lesson
