// SPDX-License-Identifier: BSD-3-Clause
// Measures a million spawned tasks with small pending-launch limits. The kernels are those of
// tests/runtime/flood.cuh.
#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>

#include "flood.cuh"
#include "measure_cuda.cuh"

namespace {

void measure(benchmark::recorder& out, const benchmark::command_line&) {
  using clock = std::chrono::steady_clock;
  constexpr unsigned tasks = 1'000'000;
  out.table("flood",
            {"limit requested", "granted", "spawning blocks", "route", "ms", "child grids",
             "spilled", "peak slots", "tasks that ran once"},
            "A million tasks, each run timed once");
  for (const std::size_t limit : {std::size_t{32}, std::size_t{2048}, std::size_t{65'536}}) {
    for (const unsigned fan : {100u, 10'000u}) {
      for (const auto route : {ramify::route::device, ramify::route::flat}) {
        const tests::flood_request request{.tasks = tasks, .children = fan, .route = route};
        const auto begin = clock::now();
        const tests::flood_result result = tests::run_flood(request, limit);
        const double ms = std::chrono::duration<double, std::milli>(clock::now() - begin).count();
        const auto once = std::ranges::count(result.runs, 1u);
        const ramify::run_report& r = result.report;
        if (once != tasks) {
          throw std::runtime_error(std::to_string(once) + " tasks ran once instead of " +
                                   std::to_string(tasks));
        }
        out.row({limit, r.pending_launch_limit, fan, to_string(r.taken), ms, r.child_grids,
                 r.spilled_tasks, r.peak_slots, once});
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return benchmark::run({.name = "flood_cuda",
                         .about = "A million spawned tasks against small pending-launch limits.",
                         .machine = benchmark::this_gpu},
                        argc, argv, measure);
}
