// SPDX-License-Identifier: BSD-3-Clause
// Lesson 18b: a graph that repeats its kernels until one of them ends the loop.
//
// Read first     Lesson 18a.
// You will see   a WHILE node. Its body halves an even number, or triples an odd one and adds one,
//                until the number is 1. The host launches once; the number of iterations depends on
//                the data.
// The rule       A conditional node has a condition, a number that a kernel sets. The body of a
//                WHILE node repeats while the condition is not 0.
// The pitfall    A loop whose condition no kernel sets to 0 runs forever, and only the end of the
//                process stops it. So this lesson limits the iterations. Kernels of the body must
//                not launch child grids.
// Plain CUDA     iterate<<<1, 1, 0, stream.get()>>>(memory.data(), condition)
// Try            In step 1, write 0 as the initial value of the condition. A WHILE node also checks
//                the condition before the first iteration: there is none, and the number stays 27.
#include "lesson.hpp"

#include <ramify/runtime/graph_loop.cuh>

#if !RAMIFY_ON_CUDA
int main() { return lesson::skip("the CPU executor has no graphs"); }
#else

using namespace ramify;

struct state {
  unsigned long long number;
  int iterations;
};

__global__ void iterate(state* s, cudaGraphConditionalHandle condition) {
  s->number = s->number % 2 == 0 ? s->number / 2 : 3 * s->number + 1;
  s->iterations += 1;
  const bool again = s->number != 1 && s->iterations < 1000;
  cudaGraphSetConditional(condition, again ? 1 : 0);
}

int main() {
  const std::string obstacle = lesson::has_device() ? graph_loop_obstacle() : "";
  if (!obstacle.empty()) return lesson::skip(obstacle);
  return lesson::run([] {
    const host_stream stream;
    const lesson::device_array<state> memory(1, stream.get());
    const state first{27, 0};
    check(cudaMemcpyAsync(memory.data(), &first, sizeof first, cudaMemcpyDefault, stream.get()),
          "setting the number");

    // 1. Create a graph and a condition, which is set to 1 at each launch of the graph.
    cudaGraph_t graph = nullptr;
    check(cudaGraphCreate(&graph, 0), "creating a graph");
    cudaGraphConditionalHandle condition{};
    check(cudaGraphConditionalHandleCreate(&condition, graph, 1, cudaGraphCondAssignDefault),
          "creating a condition");

    // 2. Create a node with a body. The body is a graph of its own and still empty.
    cudaGraphNodeParams loop{};
    loop.type = cudaGraphNodeTypeConditional;
    loop.conditional.handle = condition;
    loop.conditional.type = cudaGraphCondTypeWhile;
    loop.conditional.size = 1;
    cudaGraphNode_t node = nullptr;
#if CUDART_VERSION >= 13000
    check(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &loop), "adding a loop");
#else
    check(cudaGraphAddNode(&node, graph, nullptr, 0, &loop), "adding a loop");
#endif
    cudaGraph_t body = loop.conditional.phGraph_out[0];

    // 3. Capture the kernel into the body.
    check(cudaStreamBeginCaptureToGraph(stream.get(), body, nullptr, nullptr, 0,
                                        cudaStreamCaptureModeRelaxed),
          "beginning to capture the body");
    check(launch(iterate, {1, 1}, stream.get(), memory.data(), condition).code(),
          "capturing the kernel");
    check(cudaStreamEndCapture(stream.get(), &body), "ending the capture");

    // 4. Launch once.
    cudaGraphExec_t executable = nullptr;
    check(cudaGraphInstantiate(&executable, graph, 0), "instantiating the graph");
    check(cudaGraphLaunch(executable, stream.get()), "launching the graph");
    const state last = memory.read()[0];
    std::cout << "the number was " << first.number << " and is " << last.number << " after "
              << last.iterations << " iterations of the loop\n";
    check(cudaGraphExecDestroy(executable), "destroying the executable graph");
    check(cudaGraphDestroy(graph), "destroying the graph");
  });
}
#endif
