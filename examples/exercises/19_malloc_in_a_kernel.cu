// SPDX-License-Identifier: BSD-3-Clause
// Exercise 19: malloc in a kernel (lesson 12).
//
// Given      A parent with 8 blocks, launched three times. Each block has numbers for a child grid,
//            which needs them after the block has ended. The heap has place for 9 pieces of memory.
// Task       Let one thread allocate `piece_bytes` bytes with device_malloc(), which is malloc() on
//            a GPU, and check the result. All threads write the numbers of the block, number(i) for
//            i from 0 to 63. Then thread 0 launches `add_up`, {1, 1}, with the piece. It must be
//            freed, with device_free(), but where?
#include <ramify/runtime/limits.cuh>
#include <ramify/runtime/shared.cuh>

#include "exercise.hpp"

using namespace ramify;
using exercise::expect;

constexpr std::size_t piece_bytes = 64 * sizeof(unsigned);
constexpr unsigned blocks = 8;

struct results {
  unsigned wrong_numbers;  // that children have read
  unsigned children;
  unsigned failures;  // of allocations and launches
};

__device__ unsigned number(unsigned i) { return 100 * blockIdx.x + i; }

// HOLE: the child and its parent. The child must free the piece, or its parent.
__global__ void add_up(unsigned block, unsigned* piece, results* r) {
  for (unsigned i = 0; i < 64; ++i) r->wrong_numbers += piece[i] != 100 * block + i ? 1 : 0;
  atomicAdd(&r->children, 1u);
}

__global__ void parent(results* r) {}
// END OF HOLE

__global__ void free_all(void** pieces, unsigned count) {
  for (unsigned i = 0; i < count; ++i) device_free(pieces[i]);
}
// Allocates as many pieces as the heap has place for.
__global__ void allocate_all(void** pieces, unsigned* count) {
  while (*count < 10 && (pieces[*count] = device_malloc(piece_bytes)) != nullptr) ++*count;
}

unsigned free_pieces() {
  const exercise::device_array<void*> pieces(10);
  const exercise::device_array<unsigned> count(1);
  check(launch(allocate_all, {1, 1}, nullptr, pieces.data(), count.data()).code(), "counting");
  const unsigned found = count.read()[0];
  check(launch(free_all, {1, 1}, nullptr, pieces.data(), found).code(), "freeing");
  return found;
}

void test() {
#if !RAMIFY_ON_CUDA  // the heap of a GPU has a minimum size
  const launch_limits limits({.malloc_heap_bytes = 9 * (piece_bytes + 16)});
#endif
  const unsigned before = free_pieces();
  const exercise::device_array<results> memory(1);
  for (int i = 0; i < 3; ++i) {
    check(launch(parent, {blocks, 64}, nullptr, memory.data()).code(), "launching the parent");
  }
  const results r = memory.read()[0];
  const unsigned lost = before - free_pieces();
  expect(lost == 0, exercise::counted(lost, "piece") + " of memory never freed");
  expect(r.failures == 0,
         exercise::counted(r.failures, "allocation or launch", "allocations or launches") +
             " failed: each block needs one piece");
  expect(r.children == 3 * blocks,
         exercise::counted(r.children, "child", "children") + " ran, not 24");
  expect(
      r.wrong_numbers == 0,
      exercise::counted(r.wrong_numbers, "number") +
          " that a child read is wrong: not written yet, or the memory belongs to another block");
}

int main() { return exercise::run(test); }
