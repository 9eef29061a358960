// SPDX-License-Identifier: BSD-3-Clause
// Lesson 42: cudaMalloc and new in kernels.
//
// Read first     Lessons 9 and 12.
// You will see   a binary tree of 15 nodes that a recursion builds: each grid allocates its node
//                and links it to that of its parent. A second recursion adds up the nodes and frees
//                them.
// The rule       In a kernel, cudaMalloc(), malloc() and new allocate from the heap of lesson 12,
//                for any later grid. cudaMalloc() returns an error if the heap is exhausted;
//                malloc() and new return null. Free memory by the function that belongs to the one
//                that allocated it: cudaFree(), free() or delete, in any kernel.
// The pitfall    cudaFree() of the host refuses what a kernel has allocated, and cudaFree() of a
//                kernel refuses what the host has allocated. An allocation in a kernel takes much
//                longer than an atomic addition: for many small objects, take an index from a
//                counter into an array that the host has allocated.
// Plain CUDA     grow<<<1, 1, 0, cudaStreamFireAndForget>>>(&made->children[child],
//                2 * value + child, levels_left - 1, out)
// Try            Write `levels = 5`. One level more: 31 nodes.
#include "lesson.hpp"

using namespace ramify;

constexpr unsigned levels = 4;

struct node {
  node* children[2];
  unsigned value;
};

struct object {
  unsigned number;
};

struct results {
  unsigned nodes, sum, freed, failed;
  node* root;
  object* made;
  int error;  // of an allocation that does not fit
};

// 1. Each grid makes one node. Its children write their addresses into it.
__global__ void grow(node** place, unsigned value, unsigned levels_left, results* out) {
  node* made = nullptr;
  if (cudaMalloc(&made, sizeof(node)) != cudaSuccess) {
    atomicAdd(&out->failed, 1u);
    return;
  }
  *made = {{nullptr, nullptr}, value};
  *place = made;
  atomicAdd(&out->nodes, 1u);
  for (unsigned child = 0; levels_left > 1 && child < 2; ++child) {
    const auto launched = launch(grow, {1, 1}, fire_and_forget(), &made->children[child],
                                 2 * value + child, levels_left - 1, out);
    if (!launched) atomicAdd(&out->failed, 1u);
  }
}

// 2. Reads a node, frees it, and launches a grid for each child. The arguments are copies, so no
//    grid needs the node that is freed.
__global__ void harvest(node* here, results* out) {
  const node copy = *here;
  atomicAdd(&out->sum, copy.value);
  if (cudaFree(here) == cudaSuccess) atomicAdd(&out->freed, 1u);
  for (node* const child : copy.children) {
    if (child == nullptr) continue;
    if (!launch(harvest, {1, 1}, fire_and_forget(), child, out)) atomicAdd(&out->failed, 1u);
  }
}

// 3. new also calls a constructor. It returns null if the heap is exhausted, because a GPU has
//    no exceptions. (The CPU executor takes the memory for new from the host.)
__global__ void make_object(results* out) { out->made = new object{7}; }
__global__ void use_object(results* out) {
  out->sum += out->made->number;
  delete out->made;
}

// 4. More than the heap has.
__global__ void ask_for_too_much(results* out, std::size_t bytes) {
  void* memory = nullptr;
  out->error = cudaMalloc(&memory, bytes);
}

int main() {
  return lesson::run([] {
    const lesson::device_array<results> memory(1);
    results* const r = memory.data();
    check(launch(grow, {1, 1}, nullptr, &r->root, 1u, levels, r).code(), "launching");
    node* const root = memory.read()[0].root;
    // 5. The host has its own cudaFree().
    const cudaError_t of_host = cudaFree(root);
    static_cast<void>(cudaGetLastError());
    check(launch(harvest, {1, 1}, nullptr, root, r).code(), "launching");
    check(launch(make_object, {1, 1}, nullptr, r).code(), "launching");
    check(launch(use_object, {1, 1}, nullptr, r).code(), "launching");
    std::size_t heap = 0;
    check(cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize), "reading the heap's limit");
    check(launch(ask_for_too_much, {1, 1}, nullptr, r, heap).code(), "launching");
    const results seen = memory.read()[0];
    std::cout << "nodes: " << seen.nodes << ", freed: " << seen.freed
              << ", failures: " << seen.failed
              << "\nsum of their numbers and of the object: " << seen.sum
              << "\ncudaFree() of the host:  " << cudaGetErrorName(of_host)
              << "\nmore than the heap has:  " << cudaGetErrorName(cudaError_t(seen.error)) << '\n';
  });
}
