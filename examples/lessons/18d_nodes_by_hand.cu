// SPDX-License-Identifier: BSD-3-Clause
// Lesson 18d: a graph whose nodes are added one by one, and the update of a node.
//
// Read first     Lesson 18a.
// You will see   the graph of lesson 18a without a capture: three nodes and two dependencies. Then
//                the parent gets another argument, in the executable graph.
// The rule       A node states on which nodes it depends; nodes without a path between them may run
//                at the same time. cudaGraphExecKernelNodeSetParams() changes a node of an
//                executable graph: from its next launch on, and without a new instantiation.
// The pitfall    The graph and the executable graph are two objects. A change of a node of the
//                graph has no effect on what was instantiated from it before. An update can change
//                the arguments, the shape and the kernel of a node. It cannot change its
//                dependencies, nor replace a kernel that launches nothing by one that launches.
// Plain CUDA     child<<<1, 32, 0, cudaStreamFireAndForget>>>(counts)
// Try            In step 4, change the node of `graph`: cudaGraphKernelNodeSetParams(parent_node,
//                &run_parent). The executable graph still has 4 children.
#include "lesson.hpp"

#if !RAMIFY_ON_CUDA
int main() { return lesson::skip("the CPU executor has no graphs"); }
#else

using namespace ramify;

struct counters {
  int threads;   // threads of children in this launch of the graph
  int failures;  // launches by kernels that failed
  int launches;  // launches of the graph so far
  int threads_seen[2];
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

// The parameters of a node that runs one thread of a kernel. `arguments` has their addresses.
cudaKernelNodeParams one_thread(void* kernel, void** arguments) {
  cudaKernelNodeParams node{};
  node.func = kernel;
  node.gridDim = dim3(1);
  node.blockDim = dim3(1);
  node.kernelParams = arguments;
  return node;
}

int main() {
  return lesson::run([] {
    const host_stream stream;
    const lesson::device_array<counters> memory(1, stream.get());
    counters* counts = memory.data();
    int children = 4;
    void* arguments[] = {&counts, &children};

    // 1. A node that clears the counter. It depends on nothing.
    cudaGraph_t graph = nullptr;
    check(cudaGraphCreate(&graph, 0), "creating a graph");
    cudaMemsetParams clear{};
    clear.dst = &counts->threads;
    clear.elementSize = sizeof(int);
    clear.width = 1;
    clear.height = 1;
    cudaGraphNode_t clear_node = nullptr;
    check(cudaGraphAddMemsetNode(&clear_node, graph, nullptr, 0, &clear), "adding a memset");

    // 2. The parent depends on it, and the last node on the parent. The graph copies the arguments.
    auto run_parent = one_thread(reinterpret_cast<void*>(&parent), arguments);
    cudaGraphNode_t parent_node = nullptr;
    check(cudaGraphAddKernelNode(&parent_node, graph, &clear_node, 1, &run_parent),
          "adding a node");
    const auto run_last = one_thread(reinterpret_cast<void*>(&after_parent), arguments);
    cudaGraphNode_t last_node = nullptr;
    check(cudaGraphAddKernelNode(&last_node, graph, &parent_node, 1, &run_last), "adding a node");
    std::size_t nodes = 0;
    check(cudaGraphGetNodes(graph, nullptr, &nodes), "counting nodes");

    // 3. Instantiate and launch.
    cudaGraphExec_t executable = nullptr;
    check(cudaGraphInstantiate(&executable, graph, 0), "instantiating the graph");
    check(cudaGraphLaunch(executable, stream.get()), "launching the graph");

    // 4. The parent gets another argument. The launch before is not affected, even if it has not
    //    begun.
    children = 8;
    check(cudaGraphExecKernelNodeSetParams(executable, parent_node, &run_parent),
          "updating a node");
    check(cudaGraphLaunch(executable, stream.get()), "launching the graph");

    const counters seen = memory.read()[0];
    std::cout << "nodes of the graph: " << nodes << '\n';
    for (const int threads : seen.threads_seen) {
      std::cout << "after the parent:  " << threads << " threads of children have run\n";
    }
    std::cout << "launches that failed in the parent: " << seen.failures << '\n';
    check(cudaGraphExecDestroy(executable), "destroying the executable graph");
    check(cudaGraphDestroy(graph), "destroying the graph");
  });
}
#endif
