// SPDX-License-Identifier: BSD-3-Clause
// Lesson 25: how to read a launch trace.
//
// Read first     Lessons 8 and 9.
// You will see   a root that launches two leaves and a tail launch, the records of these four
//                grids, and three answers that are read from their times.
// The rule       A record has four times: when the grid was launched, when its first block began,
//                when its last warp ended, and when the grid was complete with all its descendants.
//                From launch to begin a grid waits: for its stream, for other children (a tail
//                launch), or for a place on the device. From end to complete it waits for
//                descendants.
// The pitfall    A trace is recorded by the kernels themselves: a kernel without `traced` is
//                missing, and its children seem to have no parent. On a GPU the kernels must be
//                compiled with RAMIFY_TRACE=1. The records take time, so do not measure speed with
//                a trace.
// Plain CUDA     leaf<<<1, 32, 0, cudaStreamFireAndForget>>>(ticket)
// Try            In step 2, write `i < 3`. There is one record more.
//
// Ramify's algorithms record their grids if the option `trace` is set, and the programs if `--trace
// FILE` is given. Open the .html file in a browser, the .json file at ui.perfetto.dev.
#define RAMIFY_TRACE 1  // before all headers of Ramify
#include <ramify/runtime/trace_recorder.cuh>

#include "lesson.hpp"

using namespace ramify;

// 1. A traced kernel has a ticket among its arguments, and this first line. launch() gives each
//    child a ticket of its own.
__global__ void leaf(trace_ticket ticket) { const traced here(ticket, __func__); }
__global__ void join(trace_ticket ticket) { const traced here(ticket, __func__); }

__global__ void root(trace_ticket ticket, int* failures) {
  const traced here(ticket, __func__);
  for (int i = 0; i < 2; ++i) {  // 2.
    if (!launch(leaf, {1, 32}, fire_and_forget(), ticket)) ++*failures;
  }
  if (!launch(join, {1, 32}, tail_launch(), ticket)) ++*failures;
}

int main() {
  return lesson::run([] {
    const lesson::device_array<int> failures(1);
    // 3. The recorder allocates the records and makes the root's ticket. read() waits, and appends
    //    the records to the trace in the order in which the grids began.
    launch_trace trace;
    detail::trace_recorder recorder(&trace, nullptr);
    check(launch(root, {1, 1}, nullptr, recorder.ticket(), failures.data()).code(), "launching");
    recorder.read();

    // 4. For each grid: the grid that launched it, and the kind of stream.
    for (std::size_t i = 0; i < trace.grids.size(); ++i) {
      const traced_grid& g = trace.grids[i];
      const bool by_host = g.parent == traced_grid::no_grid;
      std::cout << i << ": " << g.kernel << ", depth " << g.depth << ", launched by "
                << (by_host ? "the host" : "grid " + std::to_string(g.parent)) << ", stream "
                << to_string(g.stream) << '\n';
    }
    // 5. What waited for what.
    const traced_grid& first = trace.grids.front();
    const traced_grid& last = trace.grids.back();
    std::uint64_t leaves_end = 0;
    std::uint64_t longest = 0;
    for (const traced_grid& g : trace.grids) {
      if (g.kernel == "leaf") leaves_end = std::max(leaves_end, g.end);
      longest = std::max(longest, g.begin - g.launched);
    }
    std::cout << "the join began after the leaves had ended:        "
              << lesson::yes_or_no(last.kernel == "join" && last.begin >= leaves_end)
              << "\nthe root ended before the join began:             "
              << lesson::yes_or_no(first.end <= last.begin)
              << "\nthe root is complete when the join has ended:     "
              << lesson::yes_or_no(first.complete == last.end)
              << "\nlongest time from launch to begin:                " << longest
              << (trace.counts_steps ? " steps of the schedule" : " ns")
              << "\nlaunches that failed:                             " << failures.read()[0]
              << '\n';
  });
}
