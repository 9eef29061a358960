// SPDX-License-Identifier: BSD-3-Clause
// Lesson 18c: a kernel launches a graph.
//
// Read first     Lessons 8 and 18a.
// You will see   a kernel that launches one graph to run at once and another to run after all other
//                work, and a graph that launches itself again.
// The rule       A kernel that is part of a graph can launch another graph, if that graph was
//                instantiated for device launch and uploaded. With cudaStreamGraphFireAndForget it
//                may run at once. With cudaStreamGraphTailLaunch it runs after the launching graph
//                and all graphs that it launched are complete.
// The pitfall    Kernels of a device-launched graph must not launch child grids, only graphs. A
//                graph that is running cannot be launched again, except by itself as a tail launch.
//                A graph may make 120 fire-and-forget launches, and have 255 tail launches pending.
// Plain CUDA     work<<<4, 32, 0, s>>>(counts)
// Try            In `launcher`, launch `now` as a tail launch too. Tail launches run in launch
//                order, so `after` runs first and sees 0.
#include "lesson.hpp"

#if !RAMIFY_ON_CUDA
int main() { return lesson::skip("the CPU executor has no graphs"); }
#else

using namespace ramify;

struct counters {
  int worked, seen_after, rounds, failures;
};

__global__ void work(counters* counts) { atomicAdd(&counts->worked, 1); }
__global__ void read_work(counters* counts) { counts->seen_after = counts->worked; }

// 1. A graph that launches itself again, five rounds in all.
__global__ void repeat(counters* counts) {
  if (++counts->rounds == 5) return;
  const cudaError_t status = cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
  if (status != cudaSuccess) ++counts->failures;
}

__global__ void launcher(cudaGraphExec_t now, cudaGraphExec_t after, counters* counts) {
  if (cudaGraphLaunch(after, cudaStreamGraphTailLaunch) != cudaSuccess) ++counts->failures;
  if (cudaGraphLaunch(now, cudaStreamGraphFireAndForget) != cudaSuccess) ++counts->failures;
}

// Captures the work that `work_in(stream)` submits. Returns an executable graph.
template <class Work>
cudaGraphExec_t graph_of(cudaStream_t stream, unsigned flags, Work work_in) {
  cudaGraph_t graph = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "beginning a capture");
  check(work_in(stream).code(), "capturing a launch");
  check(cudaStreamEndCapture(stream, &graph), "ending a capture");
  cudaGraphExec_t executable = nullptr;
  check(cudaGraphInstantiate(&executable, graph, flags), "instantiating a graph");
  check(cudaGraphDestroy(graph), "destroying a graph");
  return executable;
}

int main() {
  return lesson::run([] {
    const host_stream stream;
    const lesson::device_array<counters> memory(1, stream.get());
    counters* const counts = memory.data();

    // 2. Graphs for device launch are instantiated with a flag, and uploaded before the launch.
    constexpr unsigned for_device = cudaGraphInstantiateFlagDeviceLaunch;
    const auto working = graph_of(stream.get(), for_device, [=](cudaStream_t s) {
      return launch(work, {4, 32}, s, counts);
    });
    const auto reading = graph_of(stream.get(), for_device, [=](cudaStream_t s) {
      return launch(read_work, {1, 1}, s, counts);
    });
    const auto rounds = graph_of(stream.get(), for_device, [=](cudaStream_t s) {
      return launch(repeat, {1, 1}, s, counts);
    });
    for (const auto graph : {working, reading, rounds}) {
      check(cudaGraphUpload(graph, stream.get()), "uploading a graph");
    }

    // 3. The host launches a graph that contains the launcher. The launcher makes the tail launch
    //    first; that graph still runs last.
    const auto launching = graph_of(stream.get(), 0, [=](cudaStream_t s) {
      return launch(launcher, {1, 1}, s, working, reading, counts);
    });
    check(cudaGraphLaunch(launching, stream.get()), "launching the launcher's graph");
    // 4. The host can launch a graph for device launch as well. A graph is complete when all graphs
    //    that it launched are complete, so a wait for the stream covers all five rounds.
    check(cudaGraphLaunch(rounds, stream.get()), "launching the graph that launches itself");

    const counters seen = memory.read()[0];
    std::cout << "threads of the graph launched with fire-and-forget: " << seen.worked
              << "\nof these, seen by the graph of the tail launch:     " << seen.seen_after
              << "\nrounds of the graph that launches itself:           " << seen.rounds
              << "\nlaunches that failed:                               " << seen.failures << '\n';
    for (const auto graph : {working, reading, rounds, launching}) {
      check(cudaGraphExecDestroy(graph), "destroying an executable graph");
    }
  });
}
#endif
