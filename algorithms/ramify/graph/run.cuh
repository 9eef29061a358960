// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The host side of all graph algorithms: the choice of the route, the scratch memory, the launch
/// chain, the error messages for faulty graphs, and the report.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <ramify/graph/arguments.hpp>
#include <ramify/graph/rounds.cuh>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/phase_range.cuh>
#include <ramify/runtime/residency.cuh>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace ramify::detail::graph::inline RAMIFY_BUILD {

/// Returns whether a strategy launches child grids.
[[nodiscard]] inline bool has_child_grids(edge_strategy s) {
  return s == edge_strategy::child_grid || s == edge_strategy::aggregated;
}

/// Returns the maximum number of edges of a thin round, which one block runs. Only balanced has
/// thin rounds, because one block alone visits edges as balanced does.
[[nodiscard]] inline unsigned thin_edges_of(const graph_config& config) {
  return config.strategy == edge_strategy::balanced ? tuning::thin_edges : 0;
}

/// Returns the launches of ten rounds on each route.
[[nodiscard]] inline route_plans plans_of_rounds(edge_strategy strategy, bool by_host) {
  constexpr double rounds = 10;
  const route_plan by_kernels = has_child_grids(strategy) ? route_plan{.tail_launches = rounds}
                                                          : route_plan{.nested_levels = rounds};
  if (by_host) return {{.host_round_trips = 2 * rounds}, by_kernels, route::device};
  return {
      {.host_launches = 2, .graph_iterations = rounds, .graph_loops = 1}, by_kernels, route::flat};
}

/// Throws an exception for the first fault, if there is one. Then it waits for the stream, to read
/// the faulty element.
/// \throws std::invalid_argument, cuda_error
template <class Weights>
void throw_fault(const graph_faults& found, const graph_view& graph, const Weights& weights,
                 cudaStream_t stream) {
  const auto entry = [&](const auto& array, edge_count index) {
    return std::to_string(read_back(&array[index], stream, "reading a faulty element"));
  };
  const auto name = [](const char* array, edge_count index) {
    return array + ("[" + std::to_string(index)) + "] is ";
  };
  const auto check_offset = [&](edge_count index, const auto& offsets, const char* array) {
    if (index == no_index) return;
    refuse(name(array, index) + entry(offsets, index) +
           "; offsets must begin with 0, never decrease, and end with the number of edges, " +
           std::to_string(graph.edges()));
  };
  const auto check_vertex = [&](edge_count index, const auto& vertices, const char* array) {
    if (index == no_index) return;
    refuse(name(array, index) + entry(vertices, index) + "; it must be in [0, " +
           std::to_string(graph.vertices()) + ")");
  };
  check_offset(found.offset, graph.offsets, "offsets");
  check_vertex(found.target, graph.targets, "targets");
  check_offset(found.in_offset, graph.in_offsets, "in_offsets");
  check_vertex(found.in_source, graph.in_sources, "in_sources");
  if constexpr (std::is_pointer_v<Weights>) {
    if (found.weight == no_index) return;
    refuse(name("weights", found.weight) + entry(weights, found.weight) +
           "; it must be at least 0");
  }
}

/// The scratch memory of a run, in parts.
template <class Search>
struct graph_memory {
  graph_memory(memory_layout& memory, std::size_t n, edge_strategy strategy, const Search& of = {})
      : state(memory.take<typename Search::state>(1)), search(of) {
    const auto take_list = [&](frontier_list& list) {
      list = {memory.take<std::int32_t>(n), memory.take<edge_count>(n)};
    };
    if constexpr (Search::has_lists) {
      for (frontier_list& list : lists) take_list(list);
    }
    if (strategy == edge_strategy::aggregated) take_list(aggregated);
    search.take(memory, n);
  }

  typename Search::state* state;
  frontier_list lists[2];
  frontier_list aggregated;
  Search search;
};

/// Returns the size of a run's scratch memory, in bytes. \throws std::invalid_argument
template <class Search>
[[nodiscard]] std::size_t scratch_bytes(const graph_view& graph, const graph_config& config) {
  check_count("vertices", graph.vertices(), max_graph_vertices);
  return runtime::basic_run<graph_memory<Search>>::scratch_bytes(graph.vertices(), config.strategy);
}

/// A run of an algorithm on a graph of at least one vertex.
template <class Search>
class search_run : public runtime::basic_run<graph_memory<Search>> {
  template <bool has_children>
  using chain_of = runtime::launch_chain<graph_program<Search, has_children>>;
  using chains = std::variant<chain_of<false>, chain_of<true>>;

 public:
  search_run(const runtime::run_setup& setup, const graph_view& graph, const graph_config& config,
             const Search& search)
      : runtime::basic_run<graph_memory<Search>>(setup, graph.vertices(), config.strategy, search),
        name_(setup.algorithm),
        graph_(graph),
        chain_(has_child_grids(config.strategy) ? make_chain<true>(config, setup.loop)
                                                : make_chain<false>(config, setup.loop)) {
    auto first = this->parts.search.first_state(graph);
    if (!config.check_graph) first.last = graph_phase::check;
    const auto start = [&](auto& chain) {
      chain.write_state(first);
      chain.start(first);
    };
    std::visit(start, chain_);
  }

  /// Waits for the run and returns the report. Throws if the graph is faulty.
  typename Search::report_type get() {
    const cudaStream_t stream = this->control.stream();
    runtime::require_not_captured(stream, name_);
    const auto finish = [](auto& chain) {
      chain.finish();
      return chain.state();
    };
    const auto state = std::visit(finish, chain_);
    typename Search::report_type report;
    static_cast<run_report&>(report) = this->end();
    const Search& search = this->parts.search;
    if constexpr (requires { search.weights; }) {
      throw_fault(state.faults, graph_, search.weights, stream);
    } else {
      throw_fault(state.faults, graph_, nullptr, stream);
    }
    report.vertices = graph_.vertices();
    report.edges = graph_.edges();
    report.rounds = state.round;
    search.complete(report, state);
    return report;
  }

 private:
  template <bool has_children>
  [[nodiscard]] chains make_chain(const graph_config& config, const runtime::loop_choice& loop) {
    using program = graph_program<Search, has_children>;
    const graph_memory<Search>& taken = this->parts;
    program made;
    made.state = taken.state;
    made.out = {graph_.offsets.data(), graph_.targets.data()};
    if (graph_.has_in_edges()) made.in = {graph_.in_offsets.data(), graph_.in_sources.data()};
    made.vertices = static_cast<unsigned>(graph_.vertices());
    made.edges = graph_.edges();
    std::copy(taken.lists, taken.lists + 2, made.lists);
    made.strategy = config.strategy;
    made.children.heavy_degree = config.heavy_degree;
    made.children.aggregated = taken.aggregated;
    made.children.max_blocks =
        tuning::waves * resident_blocks(visit_edges<program>, tuning::threads, 0);
    made.checks_graph = config.check_graph;
    made.search = taken.search;
    return chains(std::in_place_type<chain_of<has_children>>, this->control, made, loop);
  }

  const char* name_;
  graph_view graph_;
  chains chain_;
};

}  // namespace ramify::detail::graph::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// A run of a graph algorithm. Movable; get() of a moved-from run throws std::logic_error. If the
/// run is destroyed before get(), it does not wait, and faults of the graph are not reported.
template <class Search>
class [[nodiscard("call get(): it waits, checks and reports")]] graph_run {
 public:
  /// Starts a run; see breadth_first_search_async(). `arrays` are those of the call. `search` has
  /// the arguments of the algorithm.
  graph_run(const char* name, const auto& arrays, const graph_view& graph,
            const graph_config& config, const Search& search, cudaStream_t stream,
            const scratch_memory& scratch)
      : is_empty_(graph.vertices() == 0), result_(name) {
    const relaxed_capture_scope relaxed;  // driver queries do not affect a captured stream
    detail::run_setup setup(name, config, "graph_config.flat_loop", stream, scratch);
    result_ = detail::result_state(name, setup.captured);
    check_device_access("graph", arrays);
    if (is_empty_) return;
    if (setup.captured && config.trace != nullptr) {
      throw unavailable(std::string(name) + ": a graph cannot capture the recording of a trace");
    }
    constexpr unsigned slots_needed = 2;  // of the driver and of a step
    setup.choose_route(slots_needed,
                       detail::graph::plans_of_rounds(config.strategy, setup.by_host()));
    run_ = std::make_unique<detail::graph::search_run<Search>>(setup, graph, config, search);
  }

  /// Waits for the run, launches the grids that kernels could not launch, and returns the report.
  /// Throws if the graph is faulty. Call it once. If a CUDA graph has captured the run, call it
  /// after each launch of the CUDA graph, or after the last one.
  /// \throws std::invalid_argument, cuda_error, device_launch_error; see Errors of graph.cuh;
  ///         std::logic_error while the stream is being captured, for a further call, and for a
  ///         moved-from run
  typename Search::report_type get() {
    const auto call = result_.begin_get();
    const phase_range range("graph: get");
    if (is_empty_) {
      typename Search::report_type report;
      static_cast<run_report&>(report) =
          report_of_this_build({route::flat, "there are no vertices"});
      return report;
    }
    auto report = run_->get();
    if (!run_->captured) run_.reset();
    return report;
  }

 private:
  bool is_empty_;
  detail::result_state result_;
  std::unique_ptr<detail::graph::search_run<Search>> run_;
};

}  // namespace ramify::inline RAMIFY_BUILD
