// SPDX-License-Identifier: BSD-3-Clause
// A ladder: nine programs search a graph breadth-first, from one thread per vertex to the library.
//
//     ladder_graph --n 100000 --input grid                   # checks and times the rungs
//     ladder_graph --rung 4 --n 4096 --trace four.html       # draws the launches of one rung
#include "../ladder.hpp"

#include <bit>
#include <chrono>
#include <cmath>

#include "1_thread_per_vertex.cuh"
#include "2_warp_per_vertex.cuh"
#include "3_block_per_vertex.cuh"
#include "4_grid_per_heavy_vertex.cuh"
#include "5_grid_per_block.cuh"
#include "6_frontier.cuh"
#include "7_balanced.cuh"
#include "8_direction_optimizing.cuh"
#include "9_the_library.cuh"
#include "graph/graphs.hpp"

namespace {

using namespace ramify;

/// Returns a graph of about `n` vertices. A "kronecker" graph has few vertices with most of the
/// edges, and a handful of levels; in a "grid" with holes, vertices have up to 4 edges, and there
/// are thousands of levels, as in a road network.
common::stored_graph make_graph(std::size_t n, std::string_view input) {
  if (input == "grid") {
    const auto side = static_cast<std::size_t>(std::sqrt(static_cast<double>(n)));
    return common::stored_graph(common::make_grid(side, 20, 1));
  }
  const auto scale = static_cast<unsigned>(std::bit_width(n) - 1);
  return common::stored_graph(
      common::make_random_graph(common::graph_kind::kronecker, scale, 16, 1));
}

class searching {
 public:
  using rung_function = void (*)(ladder::ladder_run&);

  searching(std::size_t n, cudaStream_t stream, std::string_view input)
      : searching(make_graph(n, input), stream) {}
  searching(common::stored_graph graph, cudaStream_t stream)
      : graph_(std::move(graph)),
        source_(vertex_with_most_edges()),
        expected_(search_on_host()),
        seen_(size()),
        offsets_(graph_.offsets.size(), stream),
        targets_(std::max<std::size_t>(graph_.targets.size(), 1), stream),
        memory_(static_cast<unsigned>(size()), stream),
        stream_(stream) {
    copy(offsets_.data(), graph_.offsets.data(), graph_.offsets.size(), cudaMemcpyHostToDevice);
    copy(targets_.data(), graph_.targets.data(), graph_.targets.size(), cudaMemcpyHostToDevice);
  }

  [[nodiscard]] std::size_t size() const { return graph_.vertices(); }
  [[nodiscard]] const common::stored_graph& graph() const { return graph_; }
  /// Returns the levels of a sequential search.
  [[nodiscard]] const std::vector<std::int32_t>& levels() const { return expected_; }

  ladder::run_result run(rung_function search, cudaStream_t stream, launch_trace* trace) {
    const ladder::csr graph{offsets_.data(), targets_.data(), static_cast<unsigned>(size()),
                            graph_.targets.size()};
    ladder::ladder_run run(graph, source_, memory_, stream, trace);
    host_event begin;
    host_event end;
    begin.record(stream);
    search(run);
    end.record(stream);
    const ladder::run_result result{run.finish(), end.milliseconds_since(begin)};
    check_levels();
    return result;
  }

  double run_baseline() {
    const auto begin = std::chrono::steady_clock::now();
    seen_ = search_on_host();
    const std::chrono::duration<double, std::milli> passed =
        std::chrono::steady_clock::now() - begin;
    return passed.count();
  }

 private:
  [[nodiscard]] std::int32_t vertex_with_most_edges() const {
    std::size_t most = 0;
    for (std::size_t v = 1; v < size(); ++v) {
      if (graph_.degree(v) > graph_.degree(most)) most = v;
    }
    return static_cast<std::int32_t>(most);
  }

  /// Returns the levels of all vertices, by a search with a queue.
  [[nodiscard]] std::vector<std::int32_t> search_on_host() const {
    std::vector<std::int32_t> levels(size(), ladder::unreached);
    std::vector<std::int32_t> queue{source_};
    queue.reserve(size());
    levels[static_cast<std::size_t>(source_)] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const auto v = static_cast<std::size_t>(queue[i]);
      for (auto e = graph_.offsets[v]; e < graph_.offsets[v + 1]; ++e) {
        const std::int32_t target = graph_.targets[static_cast<std::size_t>(e)];
        std::int32_t& level = levels[static_cast<std::size_t>(target)];
        if (level != ladder::unreached) continue;
        level = levels[v] + 1;
        queue.push_back(target);
      }
    }
    return levels;
  }

  void check_levels() {
    copy(seen_.data(), memory_.levels.data(), size(), cudaMemcpyDeviceToHost);
    if (seen_ == expected_) return;
    const auto differ = std::ranges::mismatch(seen_, expected_);
    throw std::runtime_error("vertex " + std::to_string(differ.in1 - seen_.begin()) +
                             " has level " + std::to_string(*differ.in1) + " instead of " +
                             std::to_string(*differ.in2));
  }

  template <class T>
  void copy(T* to, const T* from, std::size_t count, cudaMemcpyKind kind) {
    if (count == 0) return;
    check(cudaMemcpyAsync(to, from, count * sizeof(T), kind, stream_), "copying a graph");
    check(cudaStreamSynchronize(stream_), "copying a graph");
  }

  common::stored_graph graph_;
  std::int32_t source_;
  std::vector<std::int32_t> expected_;
  std::vector<std::int32_t> seen_;
  device_buffer<std::int64_t> offsets_;
  device_buffer<std::int32_t> targets_;
  ladder::search_memory memory_;
  cudaStream_t stream_;
};

constexpr bool gpu = RAMIFY_ON_CUDA != 0;
constexpr std::size_t any = std::size_t{1} << 31;

const ladder::ladder_description<searching> searches{
    "graph",
    "vertices",
    "a loop with a queue, on one core of the host",
    {{"kronecker", gpu ? 1 << 16 : 1 << 12, gpu ? 1 << 21 : 1 << 16},
     {"grid", gpu ? 1 << 16 : 1 << 12, gpu ? 1 << 20 : 1 << 14}},
    1 << 16,  // a child grid for each of thousands of heavy vertices
    {
        {"1 thread per vertex", "one grid over all vertices for each level", any,
         ladder::rung_1::search},
        {"2 warp per vertex", "32 lanes read the edges of a vertex", any, ladder::rung_2::search},
        {"3 block per vertex", "all threads of a block do so", any, ladder::rung_3::search},
        {"4 grid per heavy vertex", "a thread for a vertex with few edges, a child grid for others",
         any, ladder::rung_4::search},
        {"5 grid per block", "one child grid for all heavy vertices of a block", any,
         ladder::rung_5::search},
        {"6 frontier", "the vertices of a level are listed, not searched for", any,
         ladder::rung_6::search},
        {"7 balanced", "each block takes as many edges; no child grids", any,
         ladder::rung_7::search},
        {"8 direction optimizing", "large levels are searched bottom-up", any,
         ladder::rung_8::search},
        {"9 the library", "no host round trips: `ramify::breadth_first_search`, device route", any,
         ladder::rung_9::search},
    }};

void expect(bool condition, int rung, const std::string& what) {
  if (!condition) throw std::logic_error("rung " + std::to_string(rung) + ": " + what);
}

/// Checks that the rungs launch what their head comments state, with enough slots.
void check_launches(cudaStream_t stream) {
  searching problem(gpu ? 1 << 14 : 1 << 10, stream, "kronecker");
  const auto levels = 1 + static_cast<std::size_t>(std::ranges::max(problem.levels()));
  std::size_t heavy = 0;
  for (std::size_t v = 0; v < problem.size(); ++v) {
    const bool reached = problem.levels()[v] != ladder::unreached;
    if (reached && problem.graph().degree(v) >= std::int64_t{ladder::heavy_degree}) ++heavy;
  }
  std::vector<run_report> of;
  std::vector<std::size_t> bottom_up_steps;
  for (const auto& r : searches.rungs) {
    launch_trace trace;
    of.push_back(ladder::run_once(problem, r, stream, &trace).report);
    bottom_up_steps.push_back(static_cast<std::size_t>(
        std::ranges::count(trace.grids, std::string("visit_open_vertices"), &traced_grid::kernel)));
    expect(of.back().spilled_tasks == 0, static_cast<int>(of.size()), "a vertex got no slot");
  }
  const auto children = [&](int rung) {
    return of[static_cast<std::size_t>(rung - 1)].child_grids;
  };
  for (int rung = 1; rung < 9; ++rung) {
    expect(of[static_cast<std::size_t>(rung - 1)].host_grids == levels, rung,
           "not one grid of the host for each level");
  }
  for (const int rung : {1, 2, 3, 7, 8}) expect(children(rung) == 0, rung, "a kernel launched");
  expect(heavy > 4 && children(4) == heavy, 4, "not one child grid for each heavy vertex");
  expect(children(5) > 0 && children(5) < heavy, 5, "not fewer child grids than heavy vertices");
  expect(children(6) > 0 && children(6) < children(5), 6, "not fewer child grids than in rung 5");
  expect(bottom_up_steps[7] > 0 && bottom_up_steps[7] < levels, 8, "not both directions were used");
  expect(of[8].host_grids <= 2 && children(9) > 0, 9, "not a chain of kernels");
  std::cout << "the launches for " << problem.size() << " vertices are as expected\n";
}

/// Returns graphs with extreme shapes.
std::vector<common::stored_graph> hard_graphs() {
  std::vector<common::stored_graph> graphs;
  const auto add = [&](std::size_t vertices, std::size_t edges, const auto& ends) {
    common::edge_list list{vertices, true, {}};
    for (std::size_t i = 0; i < edges; ++i) {
      const auto [from, to] = ends(i);
      list.edges.push_back({static_cast<std::int32_t>(from), static_cast<std::int32_t>(to)});
    }
    graphs.emplace_back(list);
  };
  using edge = std::pair<std::size_t, std::size_t>;
  add(1, 0, [](std::size_t) { return edge{0, 0}; });                          // no edge
  add(3, 1, [](std::size_t) { return edge{1, 2}; });                          // not connected
  add(2, 70, [](std::size_t i) { return edge{0, i % 2}; });                   // loops, repeats
  add(100, 99, [](std::size_t i) { return edge{i, i + 1}; });                 // a path
  add(5000, 4999, [](std::size_t i) { return edge{7, i < 7 ? i : i + 1}; });  // one hub
  add(4100, 8192, [](std::size_t i) { return edge{i % 4, 4 + i / 2}; });      // several hubs
  graphs.push_back(make_graph(1 << 10, "kronecker"));
  graphs.push_back(make_graph(900, "grid"));
  return graphs;
}

/// Checks all rungs on hard graphs, also with few launch slots or none.
void check_rungs() {
  const host_stream stream;
  check_launches(stream.get());
  std::vector<std::size_t> limits{2048, 32};
  if (!gpu) limits.push_back(1);  // a quota of 0; no GPU grants such a small limit
  const auto graphs = hard_graphs();
  for (std::size_t i = 0; i < searches.rungs.size(); ++i) {
    const auto& r = searches.rungs[i];
    std::uint64_t grids = 0;
    std::uint64_t spilled = 0;
    for (const std::size_t limit : limits) {
      const launch_limits scope({.pending_launches = limit});
      const std::uint64_t grids_before = grids;
      const std::uint64_t spilled_before = spilled;
      for (const auto& graph : graphs) {
        searching problem(graph, stream.get());
        const run_report report = ladder::run_once(problem, r, stream.get()).report;
        grids += report.child_grids;
        spilled += report.spilled_tasks;
      }
      // Without a slot nothing is launched, and the reports of rungs that launch state it. (The
      // library takes the flat route.)
      const int rung = static_cast<int>(i) + 1;
      const bool launches = rung >= 4 && rung <= 6;
      if (limit == 1) expect(grids == grids_before, rung, "a grid was launched without a slot");
      if (limit == 1 && launches)
        expect(spilled > spilled_before, rung, "the report counts no task without a slot");
    }
    std::cout << "rung " << r.name << ": " << graphs.size() << " graphs searched; kernels launched "
              << grids << " grids; tasks without a slot: " << spilled << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) { return ladder::run_program(argc, argv, searches, check_rungs); }
