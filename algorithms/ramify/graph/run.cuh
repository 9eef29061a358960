// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Host side of all graph algorithms: the choice of route and loop, the scratch memory, the launch
/// chain, the error messages for faulty graphs, and the report.

#include <cstddef>
#include <memory>
#include <ramify/graph/arguments.hpp>
#include <ramify/graph/rounds.cuh>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/phase_range.cuh>
#include <ramify/runtime/residency.cuh>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ramify::detail::graph::inline RAMIFY_BUILD {

/// Returns whether a strategy launches child grids.
[[nodiscard]] inline bool has_child_grids(edge_strategy s) {
  return s == edge_strategy::child_grid || s == edge_strategy::aggregated;
}

/// Returns the maximum number of edges of a thin round. It is 0 for all strategies but balanced,
/// because one block alone always visits edges as balanced does.
[[nodiscard]] inline unsigned thin_edges_of(const graph_config& config) {
  return config.strategy == edge_strategy::balanced ? tuning::thin_edges : 0;
}

/// The arguments of a run, and the choices that precede allocations and launches. Requires a
/// relaxed_capture_scope while the stream is being captured.
struct run_setup {
  graph_view graph;
  graph_config config;
  cudaStream_t stream;
  scratch_memory given;
  const char* name;  ///< of the algorithm, in messages
  bool captured = is_being_captured(stream);
  std::size_t limit = *current_launch_limits().pending_launches;
  runtime::loop_choice loop = runtime::choose_loop(config.flat_loop, "graph_config.flat_loop");

  /// Returns the route. The automatic choice is the cheaper one for ten rounds.
  /// \throws unavailable, cuda_error
  [[nodiscard]] route_choice choose() const {
    constexpr double rounds = 10;
    const bool by_host = loop.wanted == flat_loop::host;
    const route_plan by_rounds_of_host{.host_round_trips = 2 * rounds};
    const route_plan by_loop{.host_launches = 2, .graph_iterations = rounds, .graph_loops = 1};
    const route_plan by_kernels = has_child_grids(config.strategy)
                                      ? route_plan{.tail_launches = rounds}
                                      : route_plan{.nested_levels = rounds};
    constexpr unsigned slots_needed = 2;  // of the driver and of a step
    const route_choice choice =
        captured && by_host
            ? choose_route(config.route, limit, slots_needed,
                           route_choice{route::device, "captured without a graph's loop"})
            : choose_route(config.route, limit, slots_needed,
                           {by_host ? by_rounds_of_host : by_loop, by_kernels,
                            by_host ? route::device : route::flat},
                           stream);
    if (captured && choice.taken == route::flat) runtime::require_capturable(loop, true);
    return choice;
  }
};

/// Throws std::invalid_argument for the first fault, if there is one. Waits for the stream if it
/// reads a faulty element.
/// \throws std::invalid_argument, cuda_error
inline void throw_fault(const graph_faults& found, const run_setup& setup,
                        std::span<const float> weights) {
  const auto entry = [&](const auto& array, edge_count index) {
    return std::to_string(read_back(&array[index], setup.stream, "reading a faulty element"));
  };
  const auto name = [](const char* array, edge_count index) {
    return array + ("[" + std::to_string(index)) + "] is ";
  };
  const auto check_offset = [&](edge_count index, const auto& offsets, const char* array) {
    if (index == no_index) return;
    refuse(name(array, index) + entry(offsets, index) +
           "; offsets must begin with 0, never decrease, and end with the number of edges, " +
           std::to_string(setup.graph.edges()));
  };
  const auto check_vertex = [&](edge_count index, const auto& vertices, const char* array) {
    if (index == no_index) return;
    refuse(name(array, index) + entry(vertices, index) + "; it must be in [0, " +
           std::to_string(setup.graph.vertices()) + ")");
  };
  check_offset(found.offset, setup.graph.offsets, "offsets");
  check_vertex(found.target, setup.graph.targets, "targets");
  check_offset(found.in_offset, setup.graph.in_offsets, "in_offsets");
  check_vertex(found.in_source, setup.graph.in_sources, "in_sources");
  if (found.weight == no_index) return;
  refuse(name("weights", found.weight) + entry(weights, found.weight) + "; it must be at least 0");
}

/// A run of an algorithm on a graph of at least one vertex. It does not move, because the chain
/// refers to the control.
template <class Search>
class search_run {
 public:
  using state = typename Search::state;

  search_run(const search_run&) = delete;
  search_run& operator=(const search_run&) = delete;
  virtual ~search_run() = default;

  [[nodiscard]] bool captured() const { return setup_.captured; }

  /// Waits for the run and returns the report. Throws if the graph is faulty.
  typename Search::report_type get() {
    runtime::require_not_captured(setup_.stream, std::string(setup_.name) + ": ");
    const state& s = finish();
    control_.read_trace();
    throw_fault(s.faults, setup_, weights());
    typename Search::report_type report;
    static_cast<run_report&>(report) = control_.report();
    report.vertices = setup_.graph.vertices();
    report.edges = setup_.graph.edges();
    report.rounds = s.round;
    report.scratch_bytes = scratch_.size();
    complete(report, s);
    return report;
  }

 protected:
  search_run(const run_setup& setup, const route_choice& choice, std::size_t bytes)
      : setup_(setup),
        scratch_(setup.given, bytes, setup.stream),
        memory_(scratch_.data()),
        control_(memory_.take<std::byte>(run_control::scratch_bytes), choice, setup.limit,
                 setup.stream, setup.config.trace) {}

  /// Completes the chain and returns its state.
  virtual const state& finish() = 0;
  virtual void complete(typename Search::report_type& report, const state& s) const = 0;
  /// Returns the lengths of the edges, if the algorithm has them.
  [[nodiscard]] virtual std::span<const float> weights() const = 0;

  run_setup setup_;
  scratch_space scratch_;
  memory_layout memory_;
  run_control control_;
};

/// Lays out the scratch memory of a program after that of its run_control.
template <class Program>
void lay_out(memory_layout& memory, Program& program, edge_strategy strategy) {
  const std::size_t n = program.vertices;
  const auto take_list = [&](frontier_list& list) {
    list = {memory.take<std::int32_t>(n), memory.take<edge_count>(n)};
  };
  program.state = memory.take<typename Program::state_type>(1);
  if constexpr (Program::search_type::has_lists) {
    for (frontier_list& list : program.lists) take_list(list);
  }
  if (strategy == edge_strategy::aggregated) take_list(program.children.aggregated);
  program.search.take(memory, n);
}

/// A run of a program that has child grids, or of one that has none.
template <class Search, bool has_children>
class search_run_of : public search_run<Search> {
  using program = graph_program<Search, has_children>;

 public:
  search_run_of(const run_setup& setup, const Search& search, const route_choice& choice,
                std::size_t bytes)
      : search_run<Search>(setup, choice, bytes),
        chain_(this->control_, make_program(search), setup.loop) {
    auto first = chain_.program().search.first_state(setup.graph);
    if (!setup.config.check_graph) first.last = graph_phase::check;
    chain_.write_state(first);
    chain_.start(first);
  }

 private:
  const typename Search::state& finish() override {
    chain_.finish();
    return chain_.state();
  }
  void complete(typename Search::report_type& report,
                const typename Search::state& s) const override {
    chain_.program().search.complete(report, s);
  }

  [[nodiscard]] std::span<const float> weights() const override {
    if constexpr (requires { chain_.program().search.weights; }) {
      return {chain_.program().search.weights, this->setup_.graph.edges()};
    } else {
      return {};
    }
  }

  [[nodiscard]] program make_program(const Search& search) {
    const run_setup& setup = this->setup_;
    const graph_view& graph = setup.graph;
    program made;
    made.out = {graph.offsets.data(), graph.targets.data()};
    if (graph.has_in_edges()) made.in = {graph.in_offsets.data(), graph.in_sources.data()};
    made.vertices = static_cast<unsigned>(graph.vertices());
    made.edges = graph.edges();
    made.strategy = setup.config.strategy;
    made.children.heavy_degree = setup.config.heavy_degree;
    made.children.max_blocks =
        tuning::waves * resident_blocks(visit_edges<program>, tuning::threads, 0);
    made.checks_graph = setup.config.check_graph;
    made.search = search;
    lay_out(this->memory_, made, setup.config.strategy);
    return made;
  }

  runtime::launch_chain<program> chain_;
};

/// Returns the size of a run's scratch memory, in bytes. \throws std::invalid_argument
template <class Search>
[[nodiscard]] std::size_t scratch_bytes(std::size_t vertices, edge_strategy strategy) {
  check_count("vertices", vertices, max_graph_vertices);
  memory_layout sizing(nullptr);
  sizing.take<std::byte>(run_control::scratch_bytes);
  graph_program<Search, false> measured;
  measured.vertices = static_cast<unsigned>(vertices);
  lay_out(sizing, measured, strategy);
  return sizing.size();
}

/// Checks the memory of the arguments, and starts a run. Returns null if the graph has no vertices.
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Search>
[[nodiscard]] std::unique_ptr<search_run<Search>> start(const std::vector<argument_array>& arrays,
                                                        const run_setup& setup,
                                                        const Search& search) {
  for (const auto& array : arrays) {
    check_device_access(array.data, (std::string("graph: ") + array.name).c_str());
  }
  if (setup.graph.vertices() == 0) return nullptr;
  const std::size_t bytes = scratch_bytes<Search>(setup.graph.vertices(), setup.config.strategy);
  check_scratch(setup.given, bytes, setup.captured, setup.name);
  if (setup.captured && setup.config.trace != nullptr) {
    throw unavailable(std::string(setup.name) +
                      ": a graph cannot capture the recording of a trace");
  }
  const route_choice choice = setup.choose();
  if (has_child_grids(setup.config.strategy)) {
    return std::make_unique<search_run_of<Search, true>>(setup, search, choice, bytes);
  }
  return std::make_unique<search_run_of<Search, false>>(setup, search, choice, bytes);
}

}  // namespace ramify::detail::graph::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// A run of a graph algorithm. Movable; a moved-from run may only be assigned or destroyed. If it
/// is destroyed before get(), it does not wait, and faults of the graph are not reported.
template <class Search>
class [[nodiscard("call get(): it waits, checks and reports")]] graph_run {
 public:
  /// Takes a started run. Null stands for a run on a graph without vertices.
  explicit graph_run(std::unique_ptr<detail::graph::search_run<Search>> run)
      : is_empty_(run == nullptr), run_(std::move(run)) {}

  /// Waits for the run, launches the grids that kernels could not launch, and returns the report.
  /// Throws if the graph is faulty. Call it once. If a CUDA graph has captured the run, call it
  /// after each launch of the CUDA graph, or after the last one.
  /// \throws std::invalid_argument, cuda_error, device_launch_error; see Errors of graph.cuh;
  ///         std::logic_error while the stream is being captured, and after a call that has
  ///         returned
  typename Search::report_type get() {
    const phase_range range("graph: get");
    if (is_empty_) {
      is_empty_ = false;
      typename Search::report_type report;
      static_cast<run_report&>(report) = report_of_this_build();
      report.taken = route::flat;
      report.route_reason = "there are no vertices";
      return report;
    }
    if (run_ == nullptr) throw std::logic_error("graph: get() was called before");
    auto report = run_->get();
    if (!run_->captured()) run_.reset();
    return report;
  }

 private:
  bool is_empty_;
  std::unique_ptr<detail::graph::search_run<Search>> run_;
};

}  // namespace ramify::inline RAMIFY_BUILD
