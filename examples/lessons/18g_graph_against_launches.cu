// SPDX-License-Identifier: BSD-3-Clause
// Lesson 18g: what a graph saves: the same small kernels as a graph and as single launches.
//
// Read first     Lessons 17b and 18a.
// You will see   the time of a chain of 200 kernels, each of which takes a few microseconds:
//                launched one by one by the host, and as one graph; and what it costs to
//                instantiate the graph.
// The rule       A launch by the host costs some microseconds of the host's time. If the kernels
//                take less, the GPU waits for the host. The host launches a graph once, and the GPU
//                then starts one node after another by itself.
// The pitfall    A graph that is launched once saves nothing: its instantiation costs more than it
//                saves. Long kernels hide the cost of their launches, and then a graph saves
//                nothing either. Measure the second launch of a graph, because the first one
//                uploads it.
// Plain CUDA     count<<<1, 1, 0, stream>>>(number)
// Try            Write `kernels = 2000`. The times per kernel change little.
#include <chrono>

#include "lesson.hpp"

#if !RAMIFY_ON_CUDA
int main() { return lesson::skip("the CPU executor has no graphs"); }
#else

using namespace ramify;

constexpr unsigned kernels = 200;
constexpr unsigned repeats = 20;

// 1. A kernel that does almost nothing.
__global__ void count(unsigned* number) { *number += 1; }

void launch_chain(cudaStream_t stream, unsigned* number) {
  for (unsigned i = 0; i < kernels; ++i) {
    check(launch(count, {1, 1}, stream, number).code(), "launching a kernel");
  }
}

// Returns the microseconds per kernel of the best of `repeats` runs. The first run is not counted.
template <class Run>
double time_of(cudaStream_t stream, Run run_once) {
  host_event begin, end;
  double best = 0;
  for (unsigned i = 0; i <= repeats; ++i) {
    begin.record(stream);
    run_once();
    end.record(stream);
    const double us = 1000 * end.milliseconds_since(begin) / kernels;
    if (i == 1 || us < best) best = us;
  }
  return best;
}

int main() {
  return lesson::run([] {
    const host_stream stream;
    const lesson::device_array<unsigned> number(1, stream.get());
    // 2. Single launches.
    const double single = time_of(stream.get(), [&] { launch_chain(stream.get(), number.data()); });
    const unsigned after_launches = number.read()[0];

    // 3. The same calls, captured, and instantiated once.
    check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal), "beginning a capture");
    launch_chain(stream.get(), number.data());
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(stream.get(), &graph), "ending the capture");
    const auto before = std::chrono::steady_clock::now();
    cudaGraphExec_t executable = nullptr;
    check(cudaGraphInstantiate(&executable, graph, 0), "instantiating the graph");
    const std::chrono::duration<double, std::micro> instantiation =
        std::chrono::steady_clock::now() - before;
    const double in_graph = time_of(stream.get(), [&] {
      check(cudaGraphLaunch(executable, stream.get()), "launching the graph");
    });
    const unsigned after_graphs = number.read()[0] - after_launches;

    std::cout << "kernels that ran:          " << after_launches << " and " << after_graphs
              << "\none launch after another:  " << single << " us per kernel"
              << "\none graph:                 " << in_graph << " us per kernel"
              << "\nthe graph takes less time: " << lesson::yes_or_no(in_graph < single)
              << "\ninstantiation:             " << instantiation.count() / kernels
              << " us per kernel\n";
    check(cudaGraphExecDestroy(executable), "destroying the executable graph");
    check(cudaGraphDestroy(graph), "destroying the graph");
  });
}
#endif
