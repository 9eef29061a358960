// SPDX-License-Identifier: BSD-3-Clause
// Lesson 18a: a CUDA graph, with a kernel in it that launches kernels.
//
// You will see   a memset, a parent grid and a grid behind it, captured once and launched three times.
// The rule       A node is done when its grid is, and a grid is when its children are. So what is
//                behind a parent in the graph sees all that the children wrote.
// The catch      The graph keeps copies of the arguments as they were at the capture. What may change
//                from one launch to the next lies in device memory, or the host changes it in the
//                node (cudaGraphExecKernelNodeSetParams).
// Try            Move the line of step 3 in front of step 1. The graph then keeps 8, and there are
//                256 threads.
#include "lesson.hpp"

#if !RAMIFY_ON_CUDA
int main() { return lesson::skip("the CPU executor has no graphs"); }
#else

using namespace ramify;

struct counters {
  int threads;   // of children, in this launch of the graph
  int failures;  // of launches, in all
  int launches;  // of the graph so far
  int threads_seen[3];
};

__global__ void child(counters* counts) { atomicAdd(&counts->threads, 1); }

__global__ void parent(counters* counts, int children) {
  for (int i = 0; i < children; ++i) {
    if (!launch(child, {1, 32}, fire_and_forget(), counts)) ++counts->failures;
  }
}

__global__ void behind(counters* counts) {
  counts->threads_seen[counts->launches++] = counts->threads;
}

int main() {
  return lesson::run([] {
    const host_stream stream;  // the NULL stream cannot be captured
    const lesson::numbers<counters> memory(1, stream.get());
    counters* const counts = memory.data();
    int children = 4;

    // 1. Capture: what is put into the stream becomes nodes of a graph, and none of it runs.
    check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal), "beginning a capture");
    check(cudaMemsetAsync(&counts->threads, 0, sizeof(int), stream.get()), "capturing a memset");
    check(launch(parent, {1, 1}, stream.get(), counts, children).code(), "capturing the parent");
    check(launch(behind, {1, 1}, stream.get(), counts).code(), "capturing the grid behind it");
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(stream.get(), &graph), "ending the capture");
    std::size_t nodes = 0;
    check(cudaGraphGetNodes(graph, nullptr, &nodes), "counting nodes");

    // 2. The graph is a description. What can be launched is made of it, once.
    cudaGraphExec_t runnable = nullptr;
    check(cudaGraphInstantiate(&runnable, graph, 0), "making a graph that can be launched");
    check(cudaGraphDestroy(graph), "destroying the description");

    // 3. The parent's argument was copied, so this comes too late.
    children = 8;

    // 4. One call of the host for all nodes. Launches in one stream run one after another.
    for (int i = 0; i < 3; ++i) {
      check(cudaGraphLaunch(runnable, stream.get()), "launching the graph");
    }
    const counters seen = memory.read()[0];
    check(cudaGraphExecDestroy(runnable), "destroying the graph");

    std::cout << "nodes of the graph: " << nodes << '\n';
    for (const int threads : seen.threads_seen) {
      std::cout << "behind the parent:  " << threads << " threads of children have run\n";
    }
    std::cout << "launches that failed in the parent: " << seen.failures
              << " (the host's `children` is " << children << " now)\n";
  });
}
#endif
