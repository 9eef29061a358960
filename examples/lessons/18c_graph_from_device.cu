// SPDX-License-Identifier: BSD-3-Clause
// Lesson 18c: a kernel launches a graph.
//
// You will see   a kernel that launches one graph to run at once and another to run when all else is
//                done, and a graph that launches itself again.
// The rule       A kernel can launch a graph that was made for that and uploaded, if the kernel is in a
//                graph itself. cudaStreamGraphFireAndForget: it may run at once.
//                cudaStreamGraphTailLaunch: it runs when the launching graph and all that it
//                launched is complete.
// The catch      Kernels of a graph that the device launches may not launch child grids, only graphs.
//                A graph that is under way cannot be launched again, but by itself as a tail launch.
//                A graph may make 120 fire-and-forget launches, and have 255 tail launches pending.
// Try            In `launcher`, launch `now` as a tail launch too. Tail launches run in the order in
//                which they were made, so `behind` comes first and sees 0.
#include "lesson.hpp"

#if !RAMIFY_ON_CUDA
int main() { return lesson::skip("the CPU executor has no graphs"); }
#else

using namespace ramify;

struct counters {
  int worked, seen_behind, rounds, failures;
};

__global__ void work(counters* counts) { atomicAdd(&counts->worked, 1); }
__global__ void look(counters* counts) { counts->seen_behind = counts->worked; }

// 1. A graph that launches itself again, five rounds in all.
__global__ void round_of(counters* counts) {
  if (++counts->rounds == 5) return;
  const cudaError_t status = cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
  if (status != cudaSuccess) ++counts->failures;
}

__global__ void launcher(cudaGraphExec_t now, cudaGraphExec_t behind, counters* counts) {
  if (cudaGraphLaunch(behind, cudaStreamGraphTailLaunch) != cudaSuccess) ++counts->failures;
  if (cudaGraphLaunch(now, cudaStreamGraphFireAndForget) != cudaSuccess) ++counts->failures;
}

// A graph of what `put` puts into the stream.
template <class Put>
cudaGraphExec_t graph_of(cudaStream_t stream, unsigned flags, Put put) {
  cudaGraph_t graph = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "beginning a capture");
  check(put(stream).code(), "capturing a launch");
  check(cudaStreamEndCapture(stream, &graph), "ending a capture");
  cudaGraphExec_t runnable = nullptr;
  check(cudaGraphInstantiate(&runnable, graph, flags), "making a graph that can be launched");
  check(cudaGraphDestroy(graph), "destroying a description");
  return runnable;
}

int main() {
  return lesson::run([] {
    const host_stream stream;
    const lesson::numbers<counters> memory(1, stream.get());
    counters* const counts = memory.data();

    // 2. Graphs for the device: made with a flag, and uploaded before a kernel launches them.
    constexpr unsigned for_device = cudaGraphInstantiateFlagDeviceLaunch;
    const auto working = graph_of(stream.get(), for_device, [=](cudaStream_t s) {
      return launch(work, {4, 32}, s, counts);
    });
    const auto looking = graph_of(stream.get(), for_device, [=](cudaStream_t s) {
      return launch(look, {1, 1}, s, counts);
    });
    const auto rounds = graph_of(stream.get(), for_device, [=](cudaStream_t s) {
      return launch(round_of, {1, 1}, s, counts);
    });
    for (const auto graph : {working, looking, rounds}) {
      check(cudaGraphUpload(graph, stream.get()), "uploading a graph");
    }

    // 3. The launcher is in a graph of the host's. It launches the tail first, which still comes last.
    const auto launching = graph_of(stream.get(), 0, [=](cudaStream_t s) {
      return launch(launcher, {1, 1}, s, working, looking, counts);
    });
    check(cudaGraphLaunch(launching, stream.get()), "launching the launcher's graph");
    // 4. The host can launch a graph for the device as well. A graph is complete when all graphs that
    //    it launched are, so who waits for the stream waits for all five rounds.
    check(cudaGraphLaunch(rounds, stream.get()), "launching the graph that launches itself");

    const counters seen = memory.read()[0];
    std::cout << "threads of the graph that was launched at once: " << seen.worked
              << "\nwhat the graph behind it saw of them:           " << seen.seen_behind
              << "\nrounds of the graph that launches itself:       " << seen.rounds
              << "\nlaunches that failed:                           " << seen.failures << '\n';
    for (const auto graph : {working, looking, rounds, launching}) {
      check(cudaGraphExecDestroy(graph), "destroying a graph");
    }
  });
}
#endif
