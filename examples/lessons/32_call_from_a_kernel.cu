// SPDX-License-Identifier: BSD-3-Clause
// Lesson 32: a kernel calls a whole algorithm, and continues after it.
//
// Read first     Lessons 8 and 11.
// You will see   the medians of the readings of four sensors. A kernel groups mixed readings by
//                sensor, calls a sort for each group, and another kernel takes the median of each
//                sorted group. The host reads no size and waits once.
// The rule       A kernel cannot wait, so a call does not wait either. What needs the results is
//                the continuation, a kernel that runs once when the call is complete, or work that
//                enters the stream after complete_async(). The host makes an arena beforehand: it
//                owns launch slots (lesson 11), scratch memory, and a list of calls without either.
//                The kernels that follow in the stream do the calls of the list.
// The pitfall    A call returns a status, and the caller must read it: started, kept, or refused.
//                After `refused` nothing will happen, and the continuation will not run.
// Plain CUDA     group_and_sort<<<1, 128>>>(all.data(), groups.data(), arena.environment())
// Try            Delete the line with complete_async(). This arena has one slot for calls, which
//                the sort of a group needs, so all continuations are kept: no median is written.
#include <ramify/quicksort.cuh>
#include <ramify/runtime/call_arena.cuh>

#include "lesson.hpp"

using namespace ramify;

constexpr unsigned sensors = 4;
constexpr unsigned readings = 4'000;

struct reading {
  unsigned sensor;
  int value;
};

struct group {
  int values[readings];  // the most that one sensor may have
  unsigned count;
  unsigned refused;
  int median;
};

// What the kernels call: sorts of up to so many integers.
using sorts = quicksort_calls<int>;
using call_environment = kernel_environment<sorts>;

__global__ void take_median(group* g) { g->median = g->values[g->count / 2]; }

__global__ void group_and_sort(const reading* all, group* groups, call_environment calls) {
  // 1. All threads of the block group the readings.
  for (unsigned i = threadIdx.x; i < readings; i += blockDim.x) {
    group& g = groups[all[i].sensor];
    g.values[atomicAdd(&g.count, 1u)] = all[i].value;
  }
  __syncthreads();
  // 2. One thread for each sensor calls a sort of its group, and names what follows it.
  if (threadIdx.x >= sensors) return;
  group& mine = groups[threadIdx.x];
  const call_status status =
      quicksort(mine.values, mine.count, ascending{}, calls.then(take_median, {1, 1}, &mine));
  if (status == call_status::refused) mine.refused = 1;
}

int main() {
  return lesson::run([] {
    std::vector<reading> mixed(readings);
    for (unsigned i = 0; i < readings; ++i) {
      const unsigned random = i * 2'654'435'761u >> 16;
      mixed[i] = {i % 10 < 7 ? i % 3 : 3, static_cast<int>(random % 1'000) + 1};
    }
    const lesson::device_array<reading> all(mixed);
    const lesson::device_array<group> groups(sensors);

    // One slot for the calls and one for the grids that do the list. Usually there are hundreds.
    call_arena arena(sorts(readings), {.launch_slots = 2});
    check(launch(group_and_sort, {1, 128}, nullptr, all.data(), groups.data(), arena.environment())
              .code(),
          "launching the kernel that calls");
    arena.complete_async();

    for (const group& g : groups.read()) {
      std::cout << g.count << " readings, median " << g.median
                << (g.refused != 0 ? ", refused\n" : "\n");
    }
    const call_report report = arena.get();
    std::cout << "calls: " << report.started + report.kept
              << ", continuations that were kept: " << report.kept_continuations << '\n';
  });
}
