// SPDX-License-Identifier: BSD-3-Clause
// Lesson 18f: a graph that decides: IF and SWITCH nodes.
//
// Read first     Lesson 18b.
// You will see   one graph, launched for four sizes of a problem. Its first kernel reads the size
//                and chooses one of three bodies; another body runs only for odd sizes. The host
//                does not read the choice.
// The rule       The body of an IF node runs if its condition is not 0. A SWITCH node has several
//                bodies, and body n runs if its condition is n; for a larger number none runs. A
//                kernel that runs before the node sets the condition.
// The pitfall    IF needs CUDA 12.4 and SWITCH needs 12.8, in the toolkit and in the driver. Check
//                both, and replace a SWITCH by an IF for each body, as this lesson does. Kernels of
//                a body must not launch child grids.
// Try            In `choose`, write 1'000 instead of 10'000. The size 1001 then takes body 2.
#include "lesson.hpp"

#include <ramify/runtime/graph_loop.cuh>

#if !RAMIFY_ON_CUDA
int main() { return lesson::skip("the CPU executor has no graphs"); }
#else

using namespace ramify;

constexpr unsigned bodies = 3;

struct problem {
  unsigned size;
  int body;       // that ran; -1: none
  int odd_sizes;  // counted by the body of the IF node
};

// The condition of a SWITCH node, or those of the IF nodes that replace it.
struct choice {
  cudaGraphConditionalHandle conditions[bodies];
  bool is_switch;
};

// 1. Sets the conditions of all nodes that follow.
__global__ void choose(problem* p, choice by_size, cudaGraphConditionalHandle is_odd) {
  const unsigned n = p->size;
  const unsigned body = n < 100 ? 0 : n < 10'000 ? 1 : n < 1'000'000 ? 2 : bodies;
  p->body = -1;
  if (by_size.is_switch) {
    cudaGraphSetConditional(by_size.conditions[0], body);
  } else {
    for (unsigned i = 0; i < bodies; ++i) {
      cudaGraphSetConditional(by_size.conditions[i], i == body ? 1 : 0);
    }
  }
  cudaGraphSetConditional(is_odd, n % 2);
}

__global__ void note_body(problem* p, int body) { p->body = body; }
__global__ void note_odd(problem* p) { ++p->odd_sizes; }

cudaGraphConditionalHandle new_condition(cudaGraph_t graph) {
  cudaGraphConditionalHandle condition{};
  check(cudaGraphConditionalHandleCreate(&condition, graph, 0, cudaGraphCondAssignDefault),
        "creating a condition");
  return condition;
}

// Adds a node after `before`, with `count` empty bodies. Returns its bodies.
cudaGraph_t* add_conditional(cudaGraph_t graph, cudaGraphNode_t before,
                             cudaGraphConditionalHandle condition,
                             cudaGraphConditionalNodeType type, unsigned count) {
  cudaGraphNodeParams node{};
  node.type = cudaGraphNodeTypeConditional;
  node.conditional.handle = condition;
  node.conditional.type = type;
  node.conditional.size = count;
  cudaGraphNode_t added = nullptr;
#if CUDART_VERSION >= 13000
  check(cudaGraphAddNode(&added, graph, &before, nullptr, 1, &node), "adding a node");
#else
  check(cudaGraphAddNode(&added, graph, &before, 1, &node), "adding a node");
#endif
  return node.conditional.phGraph_out;
}

// Adds a node that runs one thread of a kernel. The graph copies the arguments.
template <class... Arguments>
cudaGraphNode_t add_kernel(cudaGraph_t graph, void (*kernel)(Arguments...), Arguments... values) {
  void* addresses[] = {&values...};
  cudaKernelNodeParams node{};
  node.func = reinterpret_cast<void*>(kernel);
  node.gridDim = dim3(1);
  node.blockDim = dim3(1);
  node.kernelParams = addresses;
  cudaGraphNode_t added = nullptr;
  check(cudaGraphAddKernelNode(&added, graph, nullptr, 0, &node), "adding a kernel");
  return added;
}

// 2. Whether this toolkit and this driver have SWITCH nodes.
bool has_switch() {
  int driver = 0;
  check(cudaDriverGetVersion(&driver), "querying the driver's version");
  return CUDART_VERSION >= 12080 && driver >= 12080;
}

// 3. The graph: `choose`, then the node or nodes that depend on it.
void build(cudaGraph_t graph, problem* p) {
  choice by_size{};
  by_size.is_switch = has_switch();
  const unsigned nodes = by_size.is_switch ? 1 : bodies;
  for (unsigned i = 0; i < nodes; ++i) by_size.conditions[i] = new_condition(graph);
  const cudaGraphConditionalHandle is_odd = new_condition(graph);
  const cudaGraphNode_t first = add_kernel(graph, choose, p, by_size, is_odd);
#if CUDART_VERSION >= 12080
  if (by_size.is_switch) {
    cudaGraph_t* const body =
        add_conditional(graph, first, by_size.conditions[0], cudaGraphCondTypeSwitch, bodies);
    for (unsigned i = 0; i < bodies; ++i) add_kernel(body[i], note_body, p, int(i));
  }
#endif
  for (unsigned i = 0; i < bodies && !by_size.is_switch; ++i) {
    cudaGraph_t* const body =
        add_conditional(graph, first, by_size.conditions[i], cudaGraphCondTypeIf, 1);
    add_kernel(body[0], note_body, p, int(i));
  }
  cudaGraph_t* const body = add_conditional(graph, first, is_odd, cudaGraphCondTypeIf, 1);
  add_kernel(body[0], note_odd, p);
}

int main() {
  // Conditional nodes of any kind need the same version as loops.
  const std::string obstacle = lesson::has_device() ? graph_loop_obstacle() : "";
  if (!obstacle.empty()) return lesson::skip(obstacle);
  return lesson::run([] {
    const host_stream stream;
    const lesson::device_array<problem> memory(1, stream.get());
    cudaGraph_t graph = nullptr;
    check(cudaGraphCreate(&graph, 0), "creating a graph");
    build(graph, memory.data());
    cudaGraphExec_t executable = nullptr;
    check(cudaGraphInstantiate(&executable, graph, 0), "instantiating the graph");

    // 4. The size is in device memory; the graph is the same for all of them.
    std::cout << "a SWITCH node: " << (has_switch() ? "yes" : "no, an IF node for each body")
              << '\n';
    for (const unsigned size : {10u, 1001u, 50'000u, 2'000'001u}) {
      check(cudaMemcpyAsync(&memory.data()->size, &size, sizeof size, cudaMemcpyDefault,
                            stream.get()),
            "setting the size");
      check(cudaGraphLaunch(executable, stream.get()), "launching the graph");
      const problem seen = memory.read()[0];
      std::cout << "size " << size << ": body " << seen.body << ", odd sizes so far "
                << seen.odd_sizes << '\n';
    }
    check(cudaGraphExecDestroy(executable), "destroying the executable graph");
    check(cudaGraphDestroy(graph), "destroying the graph");
  });
}
#endif
