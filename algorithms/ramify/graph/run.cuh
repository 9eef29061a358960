// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The host side of all graph algorithms: the choice of the route, the scratch memory, the launch
/// chain, the error messages for faulty graphs, and the report.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ramify/graph/arguments.hpp>
#include <ramify/graph/rounds.cuh>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/detail/started_run.cuh>
#include <ramify/runtime/residency.cuh>
#include <string>
#include <vector>

namespace ramify::detail::graph::inline RAMIFY_BUILD {

/// Returns whether a strategy launches child grids.
[[nodiscard]] inline bool has_child_grids(edge_strategy s) {
  return s == edge_strategy::child_grid || s == edge_strategy::aggregated;
}

/// Returns the launches of a run on each route: those of ten rounds with a grid for each or, if
/// grids run consecutive rounds, of two grids.
[[nodiscard]] inline route_plans plans_of_rounds(edge_strategy strategy, bool by_host) {
  const bool has_children = has_child_grids(strategy);
  const double grids = has_children ? 10 : 2;
  const route_plan by_kernels =
      has_children ? route_plan{.tail_launches = grids} : route_plan{.nested_levels = grids};
  if (by_host) return {{.host_round_trips = 2 * grids}, by_kernels, route::device};
  return {
      {.host_launches = 2, .graph_iterations = grids, .graph_loops = 1}, by_kernels, route::flat};
}

/// Returns "array[index] is element", and waits for the stream to read the element.
/// \throws cuda_error
template <class T>
std::string faulty_element(const char* array, const T* elements, edge_count index,
                           cudaStream_t stream) {
  return array + ("[" + std::to_string(index)) + "] is " +
         std::to_string(read_back(elements + index, stream, "reading a faulty element"));
}

/// Throws an exception for the first fault, if there is one. Then it waits for the stream, to read
/// the faulty element. \throws std::invalid_argument, cuda_error
template <class State>
void throw_fault(const State& state, const graph_view& graph, cudaStream_t stream) {
  const graph_faults& found = state.faults;
  const auto check_offset = [&](edge_count index, const auto& offsets, const char* array) {
    if (index == no_index) return;
    refuse(faulty_element(array, offsets.data(), index, stream) +
           "; offsets must begin with 0, never decrease, and end with the number of edges, " +
           std::to_string(state.edges));
  };
  const auto check_vertex = [&](edge_count index, const auto& vertices, const char* array) {
    if (index == no_index) return;
    refuse(faulty_element(array, vertices.data(), index, stream) + "; it must be in [0, " +
           std::to_string(state.vertices) + ")");
  };
  check_offset(found.offset, graph.offsets, "offsets");
  check_vertex(found.target, graph.targets, "targets");
  check_offset(found.in_offset, graph.in_offsets, "in_offsets");
  check_vertex(found.in_source, graph.in_sources, "in_sources");
}

/// The scratch memory of a run, in parts.
template <class Search>
struct graph_memory {
  __host__ __device__ graph_memory(memory_layout& memory, std::size_t n, edge_strategy strategy,
                                   const Search& of = {})
      : state(memory.take<typename Search::state>(1)),
        size(memory.take<graph_size>(1)),
        search(of) {
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
  graph_size* size;  ///< of a graph whose numbers only the device has
  frontier_list lists[2];
  frontier_list aggregated;
  Search search;
};

/// Returns the maximum number of blocks of a grid of a program. \throws cuda_error
template <class Program>
[[nodiscard]] unsigned max_blocks_of() {
  return Program::waves * resident_blocks(visit_rounds<true, Program>, tuning::threads, 0);
}

/// Returns the number of vertices of a graph, for kernels.
[[nodiscard]] inline runtime::element_count vertices_of(const graph_view& graph) {
  if (graph.vertices_on_device) return *graph.vertices_on_device;
  return graph.vertices();
}

/// The beginning of a run: checks that kernels can access the arrays of the call, and chooses the
/// route. \throws std::invalid_argument, unavailable, cuda_error
struct graph_setup : runtime::run_setup {
  graph_setup(const char* name, const std::vector<argument_array>& arrays, const graph_view& graph,
              const graph_options& options, const environment& env)
      : run_setup(name, env) {
    check_device_access("graph", arrays);
    check_count(vertices_of(graph));
    if (graph.vertices() == 0 && !graph.edges_on_device) return;
    constexpr unsigned slots_needed = 2;  // of the driver and of a phase
    choose_route(slots_needed, plans_of_rounds(options.strategy, by_host()));
  }
};

template <class Search>
using basic_search_run = runtime::device_run<typename Search::report_type, graph_memory<Search>>;

/// Returns the size of a run's scratch memory, in bytes. \throws std::invalid_argument
template <class Search>
[[nodiscard]] std::size_t scratch_bytes(const graph_view& graph, const graph_options& options) {
  check_count("vertices", graph.vertices(), max_graph_vertices);
  return basic_search_run<Search>::scratch_bytes(graph.vertices(), options.strategy);
}

/// Checks the numbers of vertices and of edges that a kernel has read, and the source.
/// \throws std::length_error, std::invalid_argument
template <class Search>
void check_size(const graph_size& size, const graph_view& graph, const Search& search) {
  vertices_of(graph).check("graph: vertices", size.vertices);
  const device_count edges(graph.offsets.data(), graph.edges());
  runtime::element_count(edges).check("graph: edges", size.edges);
  if constexpr (requires { search.source; }) {
    if (search.source >= size.vertices) refuse_source(search.source, size.vertices);
  }
}

/// Returns the report of a complete run. \throws std::invalid_argument if the graph is faulty;
/// cuda_error
template <class Search>
typename Search::report_type report_of(const run_report& launches, const graph_view& graph,
                                       const Search& search, const typename Search::state& state,
                                       cudaStream_t stream) {
  throw_fault(state, graph, stream);
  if constexpr (requires { search.weights; }) {
    if (const edge_count e = state.faults.weight; e != no_index) {
      refuse(faulty_element("weights", search.weights, e, stream) + "; it must be at least 0");
    }
  }
  typename Search::report_type report;
  static_cast<run_report&>(report) = launches;
  report.vertices = state.vertices;
  report.edges = state.edges;
  report.rounds = state.round;
  search.complete(report, state);
  return report;
}

/// A run of an algorithm on a graph of at least one vertex. `has_children` is whether the strategy
/// launches child grids.
template <class Search, bool has_children>
class search_run final : public basic_search_run<Search> {
  using program = graph_program<Search, has_children>;
  using report_type = typename Search::report_type;

 public:
  search_run(const graph_setup& setup, const graph_view& graph, const graph_options& options,
             const Search& search)
      : basic_search_run<Search>(setup, graph.vertices(), options.strategy, search),
        graph_(graph),
        chain_(this->control, program_of(options), setup.loop) {
    const auto first = first_state(options);
    chain_.write_state(first);
    if (graph_.edges_on_device) {
      this->control.launch_grid("reading the size of a graph", read_graph_size<program>, {1, 1},
                                chain_.program(), vertices_of(graph_),
                                std::uint64_t{graph_.edges()}, this->parts.size);
    }
    if (!this->control.on_device_route()) {
      chain_.launch_first_round(first);
    } else if (this->control.needs_completion() && options.check_graph) {
      // The loop that completes a chain has no grid that checks the graph.
      chain_.launch_flat_phase(first);
    }
    chain_.start(first);
    this->complete_in_stream(chain_.completes_in_stream());
  }

 private:
  report_type finish() override {
    chain_.finish();
    const graph_memory<Search>& taken = this->parts;
    if (graph_.edges_on_device) {
      check_size(read_back(taken.size, this->choices.stream, "reading the size of a graph"), graph_,
                 taken.search);
    }
    return report_of(this->end(), graph_, this->parts.search, chain_.state(), this->choices.stream);
  }

  /// Returns the state before the first phase, with the upper bounds of what only the device has.
  [[nodiscard]] typename Search::state first_state(const graph_options& options) const {
    typename Search::state first;
    if (!options.check_graph) first.last = graph_phase::check;
    first.vertices = static_cast<unsigned>(graph_.vertices());
    first.edges = graph_.edges();
    const Search& search = this->parts.search;
    if constexpr (requires { search.begin(first); }) search.begin(first);
    return first;
  }

  [[nodiscard]] program program_of(const graph_options& options) const {
    const graph_memory<Search>& taken = this->parts;
    program made;
    made.state = taken.state;
    made.out = {graph_.offsets.data(), graph_.targets.data()};
    if (graph_.has_in_edges()) made.in = {graph_.in_offsets.data(), graph_.in_sources.data()};
    std::copy(taken.lists, taken.lists + 2, made.lists);
    made.strategy = options.strategy;
    made.children.heavy_degree = options.heavy_degree;
    made.children.aggregated = taken.aggregated;
    made.children.max_blocks = max_blocks_of<program>();
    made.keeps_team = tuning::keeps_team;
    made.search = taken.search;
    return made;
  }

  graph_view graph_;
  runtime::launch_chain<program> chain_;
};

/// Starts a run. `arrays` are those of the call; `search` has the arguments of the algorithm.
template <class Search, class Options>
[[nodiscard]] async_run<typename Search::report_type> start_search(
    const char* name, const std::vector<argument_array>& arrays, const graph_view& graph,
    const Options& options, const Search& search, const environment& env) {
  const graph_setup setup(name, arrays, graph, options, env);
  if constexpr (!requires { search.source; }) {  // a source is a vertex
    if (graph.vertices() == 0 && !graph.edges_on_device) {
      return run_without_work(setup, typename Search::report_type{}, "there are no vertices");
    }
  }
  if constexpr (!is_default<Options>) {
    if (has_child_grids(options.strategy)) {
      return std::make_unique<search_run<Search, true>>(setup, graph, options, search);
    }
  }
  return std::make_unique<search_run<Search, false>>(setup, graph, options, search);
}

}  // namespace ramify::detail::graph::inline RAMIFY_BUILD
