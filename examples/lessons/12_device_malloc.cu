// SPDX-License-Identifier: BSD-3-Clause
// Lesson 12: malloc in a kernel.
//
// You will see   four blocks that get 1 MiB each, fill it and leave it to a child grid, which adds
//                the numbers up and frees them. Then a thread takes such pieces until none is left.
// The rule       malloc() in a kernel gives global memory, from a heap of fixed size
//                (cudaLimitMallocHeapSize, 8 MiB unless set). Any later grid may use it, and any
//                may free it. It stays until it is freed, whatever becomes of the grid that got it.
// The catch      A heap that is used up gives null; nothing else happens, so look. The limit must
//                be set before the first kernel that uses malloc(), or CUDA refuses. And the host
//                can neither cudaFree such memory nor copy from it: a kernel must do both.
// Try            Comment out the line of step 3. Four pieces are never freed, so there are fewer to
//                take in the end.
#include <ramify/runtime/shared.cuh>

#include "lesson.hpp"

using namespace ramify;

constexpr std::size_t heap_bytes = std::size_t{16} << 20;
constexpr std::size_t piece_bytes = std::size_t{1} << 20;
constexpr unsigned piece_length = piece_bytes / sizeof(unsigned);
constexpr unsigned wanted_pieces = 100;  // far more than the heap has

struct notes {
  unsigned ones;    // in the pieces that children saw
  unsigned pieces;  // before the heap was used up
  int again;        // 1: there was a piece when they were free again
  unsigned failed;  // launches, and pieces for children
};

__global__ void add_up(unsigned* piece, notes* seen);

// 1. device_malloc() is malloc() on a GPU, and the executor's heap on a CPU. One thread of the
//    block asks: each thread that asks gets memory of its own.
__global__ void parent(notes* seen) {
  __shared__ unsigned* piece;  // the block shares the pointer; what it points to is global
  if (threadIdx.x == 0) piece = static_cast<unsigned*>(device_malloc(piece_bytes));
  __syncthreads();
  if (piece == nullptr) {
    if (threadIdx.x == 0) atomicAdd(&seen->failed, 1u);
    return;
  }
  for (unsigned i = threadIdx.x; i < piece_length; i += blockDim.x) piece[i] = 1;
  __syncthreads();  // what all threads wrote before it, the elected one's child sees
  if (threadIdx.x == 0) {
    const auto launched = launch(add_up, {1, 64}, fire_and_forget(), piece, seen);
    if (!launched) {
      atomicAdd(&seen->failed, 1u);
      device_free(piece);  // no child will
    }
  }
}

// 2. The child grid: its parent's memory is memory like any other.
__global__ void add_up(unsigned* piece, notes* seen) {
  unsigned ones = 0;
  for (unsigned i = threadIdx.x; i < piece_length; i += blockDim.x) ones += piece[i];
  atomicAdd(&seen->ones, ones);
  __syncthreads();  // all have read it
  // 3. Freed by a grid that did not allocate it.
  if (threadIdx.x == 0) device_free(piece);
}

// 4. One piece after another until malloc says null. Their first words make a list of them.
__global__ void use_up(notes* seen) {
  struct link {
    link* next;
  };
  link* taken = nullptr;
  while (seen->pieces < wanted_pieces) {
    auto* piece = static_cast<link*>(device_malloc(piece_bytes));
    if (piece == nullptr) break;
    piece->next = taken;
    taken = piece;
    ++seen->pieces;
  }
  while (taken != nullptr) {
    link* const next = taken->next;
    device_free(taken);
    taken = next;
  }
  void* const piece = device_malloc(piece_bytes);
  seen->again = piece != nullptr ? 1 : 0;
  device_free(piece);
}

int main() {
  return lesson::run([] {
    // 5. In time: before any kernel.
    check(cudaDeviceSetLimit(cudaLimitMallocHeapSize, heap_bytes), "setting the heap's limit");
    const lesson::numbers<notes> memory(1);
    check(launch(parent, {4, 64}, nullptr, memory.data()).code(), "launching");
    check(launch(use_up, {1, 1}, nullptr, memory.data()).code(), "launching");
    const notes seen = memory.read()[0];
    std::cout << "ones that four children found:   " << seen.ones << " (4 x " << piece_length
              << ")\nwhat failed:                     " << seen.failed
              << "\npieces of 1 MiB from 16 MiB:     " << seen.pieces
              << "\nthen malloc gave null:           "
              << (seen.pieces < wanted_pieces ? "yes" : "no")
              << "\nand once those were free, again: " << (seen.again == 1 ? "yes" : "no") << '\n';
  });
}
