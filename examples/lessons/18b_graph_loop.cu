// SPDX-License-Identifier: BSD-3-Clause
// Lesson 18b: a graph that repeats its kernels until one of them says stop.
//
// You will see   a WHILE node whose body halves a number or triples it and adds one, until it is 1.
//                The host launches once, and does not know how often the body runs.
// The rule       A conditional node has a condition, a number that a kernel sets. The body of a WHILE
//                node runs as long as it is not 0.
// The catch      A loop whose condition nobody sets to 0 runs for ever, and nothing ends it but the
//                end of the process. So this one counts its turns. Kernels of the body may not launch.
// Try            In step 1, write 0 as the condition's first value. A WHILE node asks before the first
//                turn too: there is none, and the number stays 27.
#include "lesson.hpp"

#include <ramify/runtime/graph_loop.cuh>

#if !RAMIFY_ON_CUDA
int main() { return lesson::skip("the CPU executor has no graphs"); }
#else

using namespace ramify;

struct state {
  unsigned long long number;
  int turns;
};

__global__ void turn(state* s, cudaGraphConditionalHandle condition) {
  s->number = s->number % 2 == 0 ? s->number / 2 : 3 * s->number + 1;
  s->turns += 1;
  const bool again = s->number != 1 && s->turns < 1000;
  cudaGraphSetConditional(condition, again ? 1 : 0);
}

int main() {
  const std::string obstacle = lesson::has_device() ? graph_loop_obstacle() : "";
  if (!obstacle.empty()) return lesson::skip(obstacle);
  return lesson::run([] {
    const host_stream stream;
    const lesson::numbers<state> memory(1, stream.get());
    const state first{27, 0};
    check(cudaMemcpyAsync(memory.data(), &first, sizeof first, cudaMemcpyDefault, stream.get()),
          "setting the number");

    // 1. A graph, and in it a condition, which is 1 whenever the graph is launched.
    cudaGraph_t graph = nullptr;
    check(cudaGraphCreate(&graph, 0), "making a graph");
    cudaGraphConditionalHandle condition{};
    check(cudaGraphConditionalHandleCreate(&condition, graph, 1, cudaGraphCondAssignDefault),
          "making a condition");

    // 2. A node with a body, which is a graph of its own and still empty.
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

    // 3. What is captured now goes into the body.
    check(cudaStreamBeginCaptureToGraph(stream.get(), body, nullptr, nullptr, 0,
                                        cudaStreamCaptureModeRelaxed),
          "beginning to capture the body");
    check(launch(turn, {1, 1}, stream.get(), memory.data(), condition).code(), "capturing a turn");
    check(cudaStreamEndCapture(stream.get(), &body), "ending the capture");

    // 4. One launch.
    cudaGraphExec_t runnable = nullptr;
    check(cudaGraphInstantiate(&runnable, graph, 0), "making a graph that can be launched");
    check(cudaGraphLaunch(runnable, stream.get()), "launching the graph");
    const state last = memory.read()[0];
    std::cout << "the number was " << first.number << " and is " << last.number << " after "
              << last.turns << " turns of the loop\n";
    check(cudaGraphExecDestroy(runnable), "destroying the graph");
    check(cudaGraphDestroy(graph), "destroying its description");
  });
}
#endif
