// SPDX-License-Identifier: BSD-3-Clause
// Lesson 18a: a CUDA graph that contains a kernel that launches kernels.
//
// Read first     Lessons 9 and 17a.
// You will see   a memset, a parent grid and a grid after it, captured once and launched three
//                times.
// The rule       A kernel node is complete when its grid is complete, and a grid is complete when
//                its children are complete. So a node after the parent sees all writes of the
//                children.
// The pitfall    The graph keeps copies of the arguments from the time of the capture. Data that
//                changes between launches of the graph must be in device memory, or the host
//                changes the node (cudaGraphExecKernelNodeSetParams).
// Plain CUDA     child<<<1, 32, 0, cudaStreamFireAndForget>>>(counts)
// Try            Move the line of step 3 before step 1. The graph then keeps 8, and there are 256
//                threads.
#include "lesson.hpp"

#if !RAMIFY_ON_CUDA
int main() { return lesson::skip("the CPU executor has no graphs"); }
#else

using namespace ramify;

struct counters {
  int threads;   // threads of children in this launch of the graph
  int failures;  // launches by kernels that failed
  int launches;  // launches of the graph so far
  int threads_seen[3];
};

__global__ void child(counters* counts) { atomicAdd(&counts->threads, 1); }

__global__ void parent(counters* counts, int children) {
  for (int i = 0; i < children; ++i) {
    if (!launch(child, {1, 32}, fire_and_forget(), counts)) ++counts->failures;
  }
}

__global__ void after_parent(counters* counts) {
  counts->threads_seen[counts->launches++] = counts->threads;
}

int main() {
  return lesson::run([] {
    const host_stream stream;  // the NULL stream cannot be captured
    const lesson::device_array<counters> memory(1, stream.get());
    counters* const counts = memory.data();
    int children = 4;

    // 1. Capture: operations in the stream become nodes of a graph, and none of them runs.
    check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal), "beginning a capture");
    check(cudaMemsetAsync(&counts->threads, 0, sizeof(int), stream.get()), "capturing a memset");
    check(launch(parent, {1, 1}, stream.get(), counts, children).code(), "capturing the parent");
    check(launch(after_parent, {1, 1}, stream.get(), counts).code(), "capturing the grid after it");
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(stream.get(), &graph), "ending the capture");
    std::size_t nodes = 0;
    check(cudaGraphGetNodes(graph, nullptr, &nodes), "counting nodes");

    // 2. The graph is a description. Instantiate it once to get an executable graph.
    cudaGraphExec_t executable = nullptr;
    check(cudaGraphInstantiate(&executable, graph, 0), "instantiating the graph");
    check(cudaGraphDestroy(graph), "destroying the graph");

    // 3. The capture copied the parent's argument, so this change has no effect.
    children = 8;

    // 4. One host call launches all nodes. Graph launches in one stream run one after another.
    for (int i = 0; i < 3; ++i) {
      check(cudaGraphLaunch(executable, stream.get()), "launching the graph");
    }
    const counters seen = memory.read()[0];
    check(cudaGraphExecDestroy(executable), "destroying the executable graph");

    std::cout << "nodes of the graph: " << nodes << '\n';
    for (const int threads : seen.threads_seen) {
      std::cout << "after the parent:  " << threads << " threads of children have run\n";
    }
    std::cout << "launches that failed in the parent: " << seen.failures
              << " (the host's `children` is " << children << " now)\n";
  });
}
#endif
