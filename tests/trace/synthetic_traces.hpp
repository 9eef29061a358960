// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Synthetic traces, with plausible times of a device that runs a few grids at a time.

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <queue>
#include <ramify/runtime/launch_trace.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tests {

using ramify::launch_stream;
using ramify::launch_trace;
using ramify::traced_grid;

/// Returns a grid with default values for all other fields.
inline traced_grid synthetic_grid(std::string kernel, std::size_t parent, launch_stream stream,
                                  std::uint64_t begin, std::uint64_t end) {
  traced_grid g;
  g.kernel = std::move(kernel);
  g.parent = parent;
  g.stream = stream;
  g.blocks = {1, 1, 1};
  g.threads = {128, 1, 1};
  g.launched = g.begin = begin;
  g.end = g.complete = end;
  return g;
}

/// Returns the trace with the depths and the completion times of its grids.
inline launch_trace finished(launch_trace trace) {
  auto& grids = trace.grids;
  for (traced_grid& g : grids) {
    if (g.parent != traced_grid::no_grid) g.depth = grids[g.parent].depth + 1;
    g.complete = g.end;
  }
  for (std::size_t i = grids.size(); i-- > 0;) {
    if (grids[i].parent == traced_grid::no_grid) continue;
    auto& complete = grids[grids[i].parent].complete;
    complete = std::max(complete, grids[i].complete);
  }
  return trace;
}

/// A quicksort of `keys` keys: each grid partitions a segment and launches two grids, until a
/// segment has at most `leaf` keys. The two parts differ in size. At most `max_running` grids run
/// at a time.
inline launch_trace sort_like(std::uint64_t keys, std::uint64_t leaf,
                              std::size_t max_running = 24) {
  struct task {
    std::uint64_t ready;
    std::uint64_t keys;
    std::size_t parent;
    std::uint64_t launched;
    bool left;
    bool operator>(const task& other) const { return ready > other.ready; }
  };
  launch_trace trace;
  trace.ran_on = ramify::backend::cuda;
  trace.taken = ramify::route::device;
  std::mt19937 random(7);
  std::priority_queue<task, std::vector<task>, std::greater<>> waiting;
  std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> free;
  for (std::size_t i = 0; i < max_running; ++i) free.push(0);
  waiting.push({0, keys, traced_grid::no_grid, 0, true});
  while (!waiting.empty()) {
    const task t = waiting.top();
    waiting.pop();
    const std::uint64_t begin = std::max(t.ready, free.top());
    free.pop();
    const bool is_leaf = t.keys <= leaf;
    const std::uint64_t end = begin + 1'500 + t.keys * (is_leaf ? 5 : 1) + random() % 400;
    const std::size_t i = trace.grids.size();
    auto g = synthetic_grid(is_leaf ? "sort_leaf" : "partition_segment", t.parent,
                            i == 0   ? launch_stream::host
                            : t.left ? launch_stream::fire_and_forget
                                     : launch_stream::named,
                            begin, end);
    g.blocks = {is_leaf ? 1u : std::uint32_t(1 + t.keys / 4096), 1, 1};
    g.threads = {is_leaf ? 128u : 256u, 1, 1};
    g.dynamic_shared = is_leaf ? 4096 : 0;
    g.launched = i == 0 ? begin : t.launched;
    trace.grids.push_back(std::move(g));
    free.push(end);
    if (is_leaf) continue;
    const std::uint64_t left = t.keys * (30 + random() % 41) / 100;
    const std::uint64_t asked = end - 700;
    waiting.push({asked + 2'000, left, i, asked, true});
    waiting.push({asked + 2'300, t.keys - left, i, asked + 100, false});
  }
  return finished(std::move(trace));
}

/// A simulation on a mesh: each step launches the next one as a tail launch, and one
/// fire-and-forget grid for each part of the mesh. The number of parts varies.
inline launch_trace mesh_like(std::size_t steps, std::size_t most_parts = 12) {
  launch_trace trace;
  trace.ran_on = ramify::backend::cuda;
  trace.taken = ramify::route::device;
  std::mt19937 random(11);
  std::uint64_t now = 0;
  std::size_t before = traced_grid::no_grid;
  for (std::size_t s = 0; s < steps; ++s) {
    const std::size_t step = trace.grids.size();
    auto g = synthetic_grid(s % 4 == 3 ? "refine_mesh" : "begin_step", before,
                            s == 0 ? launch_stream::host : launch_stream::tail, now, now + 3'000);
    g.launched = s == 0 ? now : trace.grids[before].end - 500;
    trace.grids.push_back(std::move(g));
    std::uint64_t over = now + 3'000;
    const std::size_t parts = 1 + random() % most_parts;
    for (std::size_t p = 0; p < parts; ++p) {
      const std::uint64_t begin = now + 2'500 + 300 * p;
      const std::uint64_t end = begin + 5'000 + random() % 9'000;
      auto part = synthetic_grid(p % 3 == 2 ? "exchange_borders" : "advance_blocks", step,
                                 launch_stream::fire_and_forget, begin, end);
      part.blocks = {std::uint32_t(8 * (1 + random() % 8)), 1, 1};
      part.threads = {8, 8, 4};
      part.launched = now + 1'000 + 100 * p;
      part.parent_block = 0;
      trace.grids.push_back(std::move(part));
      over = std::max(over, end);
    }
    before = step;
    now = over + 4'000;
  }
  return finished(std::move(trace));
}

/// Five grids, one for each kind of stream.
inline launch_trace one_of_each() {
  launch_trace trace;
  trace.ran_on = ramify::backend::cuda;
  trace.taken = ramify::route::device;
  auto& grids = trace.grids;
  grids.push_back(synthetic_grid("root", traced_grid::no_grid, launch_stream::host, 0, 10'000));
  grids.push_back(synthetic_grid("left", 0, launch_stream::null, 12'000, 30'000));
  grids.push_back(synthetic_grid("right", 0, launch_stream::named, 13'000, 24'000));
  grids.push_back(synthetic_grid("helper", 2, launch_stream::fire_and_forget, 26'000, 41'500));
  grids.push_back(synthetic_grid("next", 0, launch_stream::tail, 45'000, 60'000));
  grids[1].launched = 6'000;
  grids[2].launched = 7'000;
  grids[3].launched = 20'000;
  grids[4].launched = 8'000;
  grids[1].blocks = grids[2].blocks = {16, 1, 1};
  grids[3].threads = {16, 16, 1};
  grids[4].dynamic_shared = 2048;
  return finished(std::move(trace));
}

}  // namespace tests
