// SPDX-License-Identifier: BSD-3-Clause
// Lesson 12: malloc in a kernel.
//
// Read first     Lesson 3.
// You will see   four blocks that allocate 1 MiB each, fill it and pass it to a child grid, which
//                adds up the numbers and frees the memory. One thread counts how many such pieces
//                the heap holds, before and after.
// The rule       malloc() in a kernel returns global memory, from a heap of fixed size
//                (cudaLimitMallocHeapSize, 8 MiB unless set). Any later grid may use it, and any
//                may free it. It stays allocated until it is freed, even after its grid has ended.
// The pitfall    If the heap is exhausted, malloc() returns null and there is no other error, so
//                check. The limit must be set before the first kernel that uses malloc(), or CUDA
//                refuses. The host can neither cudaFree such memory nor copy from it: a kernel must
//                do both.
// Plain CUDA     add_up<<<1, 64, 0, cudaStreamFireAndForget>>>(piece, seen)
// Try            Comment out the line of step 3. Four pieces are never freed, so four fewer are
//                available afterwards.
#include <ramify/runtime/shared.cuh>

#include "lesson.hpp"

using namespace ramify;

constexpr std::size_t heap_bytes = std::size_t{16} << 20;
constexpr std::size_t piece_bytes = std::size_t{1} << 20;
constexpr unsigned piece_length = piece_bytes / sizeof(unsigned);
constexpr unsigned wanted_pieces = 100;  // far more than fit into the heap

struct results {
  unsigned ones;    // sum over the pieces that children read
  unsigned before;  // pieces that the heap held before the parent ran
  unsigned after;   // pieces that it held afterwards
  unsigned failed;  // launches and allocations that failed
};

__global__ void add_up(unsigned* piece, results* seen);

// 1. device_malloc() is malloc() on a GPU, and uses the executor's heap on a CPU. One thread of the
//    block calls it: each call allocates.
__global__ void parent(results* seen) {
  __shared__ unsigned* piece;  // the pointer is shared; the memory that it points to is global
  if (threadIdx.x == 0) piece = static_cast<unsigned*>(device_malloc(piece_bytes));
  __syncthreads();
  if (piece == nullptr) {
    if (threadIdx.x == 0) atomicAdd(&seen->failed, 1u);
    return;
  }
  for (unsigned i = threadIdx.x; i < piece_length; i += blockDim.x) piece[i] = 1;
  __syncthreads();  // makes the writes of all threads visible to the child
  if (threadIdx.x == 0) {
    const auto launched = launch(add_up, {1, 64}, fire_and_forget(), piece, seen);
    if (!launched) {
      atomicAdd(&seen->failed, 1u);
      device_free(piece);  // no child frees it
    }
  }
}

// 2. The child grid uses its parent's allocation like any other global memory.
__global__ void add_up(unsigned* piece, results* seen) {
  unsigned ones = 0;
  for (unsigned i = threadIdx.x; i < piece_length; i += blockDim.x) ones += piece[i];
  atomicAdd(&seen->ones, ones);
  __syncthreads();  // all threads have read the piece
  // 3. Another grid than the one that allocated the piece frees it.
  if (threadIdx.x == 0) device_free(piece);
}

// 4. Counts the pieces that malloc returns before it returns null, and frees them. The first word
//    of each piece links it to a list.
__global__ void count_pieces(unsigned* pieces) {
  struct link {
    link* next;
  };
  link* taken = nullptr;
  while (*pieces < wanted_pieces) {
    auto* piece = static_cast<link*>(device_malloc(piece_bytes));
    if (piece == nullptr) break;
    piece->next = taken;
    taken = piece;
    ++*pieces;
  }
  while (taken != nullptr) {
    link* const next = taken->next;
    device_free(taken);
    taken = next;
  }
}

int main() {
  return lesson::run([] {
    // 5. Set the limit before the first kernel.
    check(cudaDeviceSetLimit(cudaLimitMallocHeapSize, heap_bytes), "setting the heap's limit");
    const lesson::device_array<results> memory(1);
    results* const r = memory.data();
    check(launch(count_pieces, {1, 1}, nullptr, &r->before).code(), "launching");
    check(launch(parent, {4, 64}, nullptr, r).code(), "launching");
    check(launch(count_pieces, {1, 1}, nullptr, &r->after).code(), "launching");
    const results seen = memory.read()[0];
    std::cout << "sum of four children:            " << seen.ones << " (4 x " << piece_length
              << ")\nfailures:                        " << seen.failed
              << "\npieces of 1 MiB from 16 MiB:     " << seen.before
              << "\nthen malloc returned null:       "
              << (seen.before < wanted_pieces ? "yes" : "no")
              << "\npieces that were never freed:    " << int(seen.before) - int(seen.after)
              << '\n';
  });
}
