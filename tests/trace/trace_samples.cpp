// SPDX-License-Identifier: BSD-3-Clause
// trace_samples <folder>: writes synthetic traces as pages for a browser, and small ones for
// Graphviz too. It prints the name and the number of grids of each trace.
#include <filesystem>
#include <iostream>

#include "synthetic_traces.hpp"

namespace {

using ramify::launch_stream;
using ramify::launch_trace;
using ramify::traced_grid;

launch_trace odd() {
  launch_trace trace = tests::one_of_each();
  trace.grids[0].kernel = "</script><script>document.title = 'broken'</script><!--";
  trace.grids[1].kernel = "\"quoted\" \\ and\na second line";
  trace.grids[2].kernel = "\xff is no UTF-8";
  trace.grids[3].parent = traced_grid::no_grid;  // the parent was lost
  trace.lost = 3;
  trace.counts_steps = true;
  trace.ran_on = ramify::backend::cpu;
  return trace;
}

/// A chain: each grid launches the next one, and no grid is complete before the last one.
launch_trace deep() {
  launch_trace trace;
  for (std::size_t i = 0; i < 600; ++i) {
    const std::size_t parent = i == 0 ? traced_grid::no_grid : i - 1;
    const auto stream = i == 0 ? launch_stream::host : launch_stream::fire_and_forget;
    trace.grids.push_back(
        tests::synthetic_grid("next_one", parent, stream, 5'000 * i, 5'000 * i + 4'000));
  }
  return tests::finished(std::move(trace));
}

/// A run on the flat route: one grid for each level.
launch_trace flat() {
  launch_trace trace;
  trace.taken = ramify::route::flat;
  trace.ran_on = ramify::backend::cuda;
  for (std::size_t i = 0; i < 60; ++i) {
    trace.grids.push_back(tests::synthetic_grid(i % 2 == 0 ? "sort_level" : "count_level",
                                                traced_grid::no_grid, launch_stream::host,
                                                10'000 * i, 10'000 * i + 7'500));
  }
  return tests::finished(std::move(trace));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path folder = argv[1];
  const auto write = [&](const char* name, const launch_trace& trace) {
    ramify::write_trace_file(folder / (std::string(name) + ".html"), trace);
    if (trace.grids.size() <= 1'000) {
      ramify::write_trace_file(folder / (std::string(name) + ".dot"), trace);
    }
    std::cout << name << ' ' << trace.grids.size() << '\n';
  };
  write("none", {});
  write("one_of_each", tests::one_of_each());
  write("sort", tests::sort_like(60'000, 3'000));
  write("steps", tests::mesh_like(8));
  write("odd", odd());
  write("deep", deep());
  write("flat", flat());
  write("many_steps", tests::mesh_like(1'500, 14));
  write("large_sort", tests::sort_like(4'000'000, 600, 100));
  write("larger_sort", tests::sort_like(10'000'000, 600, 128));
}
