// SPDX-License-Identifier: BSD-3-Clause
// A million spawned tasks against small pending-launch limits: the flood of the tests, timed. Prints
// a Markdown table.
#include <chrono>
#include <iostream>

#include "cases.cuh"
#include "measure.hpp"

int main() {
  using clock = std::chrono::steady_clock;
  constexpr unsigned tasks = 1'000'000;
  try {
    benchmark::print_header({"limit asked", "granted", "spawning blocks", "route", "ms",
                             "child grids", "spilled", "peak slots", "tasks that ran once"});
    for (const std::size_t limit : {std::size_t{32}, std::size_t{2048}, std::size_t{65'536}}) {
      for (const unsigned fan : {100u, 10'000u}) {
        for (const auto route : {ramify::route::device, ramify::route::flat}) {
          const tests::flood_request request{.tasks = tasks, .fan = fan, .route = route};
          const auto begin = clock::now();
          const tests::flood_result result = tests::run_flood(request, limit);
          const double ms = std::chrono::duration<double, std::milli>(clock::now() - begin).count();
          const auto once = std::ranges::count(result.runs, 1u);
          const ramify::run_report& r = result.report;
          benchmark::print_row({std::to_string(limit), std::to_string(r.pending_launch_limit),
                                std::to_string(fan), std::string(to_string(r.taken)),
                                benchmark::number(ms), std::to_string(r.child_grids),
                                std::to_string(r.spilled_tasks), std::to_string(r.peak_slots),
                                std::to_string(once)});
          if (once != tasks) return 1;
        }
      }
    }
  } catch (const std::exception& e) {
    std::cerr << "flood: " << e.what() << '\n';
    return 1;
  }
}
