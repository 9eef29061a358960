// SPDX-License-Identifier: BSD-3-Clause
// Lesson 18e: two streams in one capture: a fork and a join.
//
// Read first     Lessons 17b and 18a.
// You will see   a graph in which two parents may run at the same time, between a memset and a grid
//                that adds up what their children counted; and the error of a capture without the
//                join.
// The rule       Events carry a capture to other streams. A stream that waits for an event of a
//                captured stream is captured from then on, into the same graph. Before the capture
//                ends, the first stream must wait for an event of each of them.
// The pitfall    A stream that is not joined makes cudaStreamEndCapture() fail with
//                cudaErrorStreamCaptureUnjoined, and there is no graph. During a capture, the host
//                must not wait for a captured stream or event, because nothing runs.
// Plain CUDA     child<<<4, 32, 0, cudaStreamFireAndForget>>>(&counts->left)
// Try            In step 2, record `fork` before the memset. The right parent then does not depend
//                on the memset: the graph has one edge less.
#include "lesson.hpp"

#if !RAMIFY_ON_CUDA
int main() { return lesson::skip("the CPU executor has no graphs"); }
#else

using namespace ramify;

struct counters {
  int left;   // threads of the left parent's children; the memset clears it
  int right;  // threads of the right parent's children; the parent clears it
  int sum;
  int failures;
};

__global__ void child(int* count) { atomicAdd(count, 1); }

__global__ void left_parent(counters* counts) {
  if (!launch(child, {4, 32}, fire_and_forget(), &counts->left)) counts->failures = 1;
}
__global__ void right_parent(counters* counts) {
  counts->right = 0;
  if (!launch(child, {2, 32}, fire_and_forget(), &counts->right)) counts->failures = 1;
}
__global__ void add_up(counters* counts) { counts->sum = counts->left + counts->right; }

std::size_t edges_of(cudaGraph_t graph) {
  std::size_t edges = 0;
#if CUDART_VERSION >= 13000
  check(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges), "counting edges");
#else
  check(cudaGraphGetEdges(graph, nullptr, nullptr, &edges), "counting edges");
#endif
  return edges;
}

int main() {
  return lesson::run([] {
    const host_stream main_stream, side_stream;
    auto fork = host_event::without_time();
    auto join = host_event::without_time();
    const lesson::device_array<counters> memory(1, main_stream.get());
    main_stream.synchronize();
    counters* const counts = memory.data();
    const auto begin_capture = [&] {
      check(cudaStreamBeginCapture(main_stream.get(), cudaStreamCaptureModeGlobal), "capturing");
    };

    // 1. Capture the main stream only; the other one joins the capture in step 2.
    begin_capture();
    // 2. Fork: the side stream waits for an event of the main stream.
    check(cudaMemsetAsync(&counts->left, 0, sizeof(int), main_stream.get()), "capturing a memset");
    fork.record(main_stream.get());
    fork.block(side_stream.get());
    // 3. The parents are in two streams, so nothing orders them.
    check(launch(left_parent, {1, 1}, main_stream.get(), counts).code(), "capturing a parent");
    check(launch(right_parent, {1, 1}, side_stream.get(), counts).code(), "capturing a parent");
    // 4. Join: the main stream waits for an event of the side stream.
    join.record(side_stream.get());
    join.block(main_stream.get());
    check(launch(add_up, {1, 1}, main_stream.get(), counts).code(), "capturing the last grid");
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(main_stream.get(), &graph), "ending the capture");

    std::size_t nodes = 0;
    check(cudaGraphGetNodes(graph, nullptr, &nodes), "counting nodes");
    std::cout << "nodes: " << nodes << ", edges: " << edges_of(graph) << '\n';
    cudaGraphExec_t executable = nullptr;
    check(cudaGraphInstantiate(&executable, graph, 0), "instantiating the graph");
    for (int i = 0; i < 2; ++i) {
      check(cudaGraphLaunch(executable, main_stream.get()), "launching the graph");
      const counters seen = memory.read()[0];
      std::cout << "threads of the children of both parents: " << seen.sum
                << ", launches that failed: " << seen.failures << '\n';
    }
    check(cudaGraphExecDestroy(executable), "destroying the executable graph");
    check(cudaGraphDestroy(graph), "destroying the graph");

    // 5. The same without the join. The failed capture is over.
    begin_capture();
    fork.record(main_stream.get());
    fork.block(side_stream.get());
    check(launch(right_parent, {1, 1}, side_stream.get(), counts).code(), "capturing a parent");
    const cudaError_t error = cudaStreamEndCapture(main_stream.get(), &graph);
    std::cout << "without the join: " << cudaGetErrorName(error) << '\n';
    static_cast<void>(cudaGetLastError());
  });
}
#endif
