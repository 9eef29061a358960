// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Graph algorithms of the caller: graph_rounds() runs a loop of operators over edges and vertices.
///
///     struct reachable {                       // marks the vertices that edges lead to
///       struct state {                         // one object in device memory
///         unsigned marked = 0;
///       };
///       struct begin : ramify::all_vertices {};
///       struct follow : ramify::frontier_edges {};
///       using step = ramify::graph_step<begin, follow>;
///
///       int source;
///       int* marks;  // device array of n elements
///
///       __device__ bool operator()(begin, state&, int v) const {
///         marks[v] = v == source;
///         return v == source;                  // true: the next frontier contains v
///       }
///       __device__ bool operator()(follow, state&, ramify::graph_edge e) const {
///         return atomicExch(&marks[e.target], 1) == 0;
///       }
///       __device__ step next(state& s, const ramify::graph_round<step>& after) const {
///         s.marked += after.frontier.vertices;
///         return after.frontier.vertices > 0 ? follow{} : step::done();
///       }
///     };
///     const auto report = ramify::graph_rounds(graph, reachable{source, marks});
///     report.state.marked
///
/// Operator   a member function operator(), which many threads call. Its tag, the first parameter,
///            derives from one of four types, which select the edges or the vertices:
///
///     | base              | the function is called with                        |
///     |-------------------|----------------------------------------------------|
///     | frontier_edges    | each edge of the vertices of the frontier          |
///     | all_edges         | each edge of the graph                             |
///     | frontier_vertices | each vertex of the frontier                        |
///     | all_vertices      | each vertex of the graph                           |
///
/// Result     bool or void. The vertices for which an operator returns true are the next frontier;
///            of an edge it is the target. A vertex is in a frontier once, even if the operator
///            returns true for several edges to it. The order of a frontier differs between runs.
///            An operator that returns void leaves the frontier as it is.
/// Distinct   follow() above returns true for at most one edge to a vertex, because one
///            atomicExch() returns 0. If its tag also derives from distinct_targets, the loop omits
///            its own check for repeated vertices, two accesses to memory for each vertex of a
///            frontier: `struct follow : frontier_edges, distinct_targets {};`
/// State      One object for the whole loop. Threads that change it at the same time use atomic
///            functions. It begins as a default-constructed object.
/// next()     One thread calls it when an operator is complete, on the device. It returns the tag
///            of the operator that is due, or done(). The first operator of graph_step is due
///            first. The frontier is empty then. A loop whose next() never returns done() does not
///            end.
/// Memory     The algorithm is an argument of kernels: it refers to arrays in device memory. An
///            operator sees all writes of the operators before it. The arrays of a graph, and the
///            weights, are members of the algorithm, too; graph_edge::index is an index of both
///            targets and weights.
/// Join       An operator starts when the one before it is complete. Several operators may run in
///            one grid, so an operator must not use read-only loads, such as __ldg() or textures,
///            for what another operator writes. With strategies that launch child grids, an
///            operator is a tree of grids; see rounds.cuh.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ramify/graph/config.hpp>
#include <ramify/runtime/cuda.hpp>
#include <ramify/runtime/detail/functor_types.hpp>
#include <type_traits>
#include <utility>

namespace ramify::inline RAMIFY_BUILD {

/// An edge, as operators get it.
struct graph_edge {
  std::int32_t source;  ///< the vertex at which the edge begins
  std::int32_t target;  ///< the vertex at which the edge ends
  std::int64_t index;   ///< of the edge in graph_view::targets, and in an array of weights
};

/// The base of the tag of an operator over the edges of the frontier.
struct frontier_edges {};
/// The base of the tag of an operator over all edges of the graph.
struct all_edges {};
/// A second base of the tag of an operator over edges that returns true for at most one edge to
/// each vertex. If it returns true for several, the frontier contains the vertex several times, and
/// may exceed its memory: the behavior is undefined.
struct distinct_targets {};
/// The base of the tag of an operator over the vertices of the frontier.
struct frontier_vertices {};
/// The base of the tag of an operator over all vertices of the graph.
struct all_vertices {};

/// An operator of an algorithm, or the end of its loop. `Operators` are the tags of all operators
/// of the algorithm; the first one is due first.
template <class... Operators>
class graph_step {
 public:
  /// Selects no operator, as done() does.
  graph_step() = default;
  /// Selects the operator with this tag.
  template <class Operator>
  requires(std::same_as<Operator, Operators> || ...) __host__ __device__
      constexpr graph_step(Operator)  // NOLINT(google-explicit-constructor): return follow{};
      : index_(index_of<Operator>()) {}
  /// Returns the end of the loop.
  [[nodiscard]] static __host__ __device__ constexpr graph_step done() { return at(count); }

  /// Compares the operators.
  [[nodiscard]] friend __host__ __device__ constexpr bool operator==(graph_step a, graph_step b) {
    return a.index_ == b.index_;
  }

  // What follows is for the kernels.

  static constexpr unsigned count = sizeof...(Operators);  ///< number of operators
  /// Returns the step of operator number `index`.
  [[nodiscard]] static __host__ __device__ constexpr graph_step at(unsigned index) {
    graph_step made;
    made.index_ = index;
    return made;
  }
  /// Returns the number of the operator.
  [[nodiscard]] __host__ __device__ constexpr unsigned index() const { return index_; }
  /// Returns the number of an operator in the list.
  template <class Operator>
  [[nodiscard]] static __host__ __device__ constexpr unsigned index_of() {
    unsigned before = 0;
    bool is_found = false;
    ((is_found = is_found || std::is_same_v<Operator, Operators>, before += is_found ? 0 : 1), ...);
    return before;
  }

 private:
  unsigned index_ = count;
};

/// Numbers of vertices and of edges.
struct graph_counts {
  std::uint32_t vertices;  ///< number of vertices
  std::uint64_t edges;     ///< number of edges
};

/// What next() gets when an operator is complete.
template <class Step>
struct graph_round {
  Step last;              ///< the operator
  graph_counts frontier;  ///< of the frontier now; edges: those of its vertices
  graph_counts graph;     ///< sizes of the graph
  std::uint32_t rounds;   ///< operators that are complete
};

/// The report of graph_rounds(), with the state of the algorithm after the last operator. `rounds`
/// is the number of operators that ran.
template <class State>
struct graph_rounds_report : graph_report {
  State state{};  ///< the caller's state at the end
};

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::graph::inline RAMIFY_BUILD {

/// Whether Tag derives from one of the types in `Bases`.
template <class Tag, class... Bases>
inline constexpr bool is_over = (std::is_base_of_v<Bases, Tag> || ...);
template <class Tag>
inline constexpr bool is_over_edges = is_over<Tag, frontier_edges, all_edges>;
template <class Tag>
inline constexpr bool is_over_frontier = is_over<Tag, frontier_edges, frontier_vertices>;

/// The second argument of an operator.
template <class Tag>
using item_of = std::conditional_t<is_over_edges<Tag>, graph_edge, std::int32_t>;

/// Whether an operator can be called with its arguments and returns Result.
template <class Result, class Algorithm, class Tag>
inline constexpr bool returns = requires(const Algorithm& a, typename Algorithm::state& s,
                                         item_of<Tag> item) {
  { a(Tag{}, s, item) } -> std::same_as<Result>;
};

/// The properties of a list of operators.
template <class Algorithm, class Step>
struct operator_list {
  static constexpr bool are_tags = false;
  static constexpr bool are_distinct = false;
  static constexpr bool are_callable = false;
};
template <class Algorithm, class... Tags>
struct operator_list<Algorithm, graph_step<Tags...>> {
  static constexpr bool are_tags =
      sizeof...(Tags) > 0 &&
      ((int{is_over<Tags, frontier_edges>} + int{is_over<Tags, all_edges>} +
            int{is_over<Tags, frontier_vertices>} + int{is_over<Tags, all_vertices>} ==
        1) &&
       ...);
  static constexpr bool are_callable =
      ((returns<void, Algorithm, Tags> || returns<bool, Algorithm, Tags>)&&...);
  static constexpr bool are_distinct =
      ((!is_over<Tags, distinct_targets> ||
        (is_over_edges<Tags> && !returns<void, Algorithm, Tags>)) &&
       ...);
  /// Whether an operator over edges, or over vertices, makes a frontier.
  static constexpr bool edges_append =
      ((is_over_edges<Tags> && returns<bool, Algorithm, Tags>) || ...);
  /// Whether an operator over edges may return true for several edges to a vertex.
  static constexpr bool edges_repeat = ((is_over_edges<Tags> && returns<bool, Algorithm, Tags> &&
                                         !is_over<Tags, distinct_targets>) ||
                                        ...);
  static constexpr bool vertices_append =
      ((!is_over_edges<Tags> && returns<bool, Algorithm, Tags>) || ...);
  static constexpr bool has_frontier =
      edges_append || vertices_append || (is_over_frontier<Tags> || ...);

  /// Returns whether the operator with this index is one of those for which `Is` is true.
  [[nodiscard]] static __host__ __device__ bool is_over_edges_at(unsigned index) {
    return is_one_of<is_over_edges<Tags>...>(index);
  }
  [[nodiscard]] static __host__ __device__ bool is_over_frontier_at(unsigned index) {
    return is_one_of<is_over_frontier<Tags>...>(index);
  }
  [[nodiscard]] static __host__ __device__ bool appends_at(unsigned index) {
    return is_one_of<returns<bool, Algorithm, Tags>...>(index);
  }
  [[nodiscard]] static __host__ __device__ bool is_distinct_at(unsigned index) {
    return is_one_of<is_over<Tags, distinct_targets>...>(index);
  }

  /// Calls the operator with this index, over edges or over vertices as Item says. Returns whether
  /// it returned true.
  template <class Item>
  [[nodiscard]] static __device__ bool call(const Algorithm& algorithm, unsigned index,
                                            typename Algorithm::state& state, const Item& item) {
    bool appends = false;
    (call_if<Tags>(algorithm, index, state, item, appends), ...);
    return appends;
  }

 private:
  template <bool... are>
  [[nodiscard]] static __host__ __device__ bool is_one_of(unsigned index) {
    unsigned i = 0;
    bool is_found = false;
    ((is_found = is_found || (are && i == index), ++i), ...);
    return is_found;
  }

  template <class Tag, class Item>
  static __device__ void call_if(const Algorithm& algorithm, unsigned index,
                                 typename Algorithm::state& state, const Item& item,
                                 bool& appends) {
    if constexpr (std::is_same_v<item_of<Tag>, Item>) {
      if (index != graph_step<Tags...>::template index_of<Tag>()) return;
      if constexpr (returns<bool, Algorithm, Tag>) {
        appends = algorithm(Tag{}, state, item);
      } else {
        algorithm(Tag{}, state, item);
      }
    }
  }
};

template <class Algorithm>
struct parts_of {
  using state = no_run;
  using step = no_run;
};
template <class Algorithm>
requires requires {
  typename Algorithm::state;
  typename Algorithm::step;
}
struct parts_of<Algorithm> {
  using state = typename Algorithm::state;
  using step = typename Algorithm::step;
};

/// The report of an algorithm's loop.
template <class Algorithm>
using rounds_report = graph_rounds_report<typename parts_of<Algorithm>::state>;

/// Maximum size of an algorithm and of its state, in bytes: both are arguments of kernels.
inline constexpr std::size_t max_algorithm_bytes = 1024;

/// States which requirements an algorithm meets.
template <class Algorithm>
struct argument_types {
  using state = typename parts_of<Algorithm>::state;
  using step = typename parts_of<Algorithm>::step;
  using operators = operator_list<Algorithm, step>;
  static constexpr bool has_parts = !std::is_same_v<state, no_run>;
  static constexpr bool fits = is_plain<Algorithm> && sizeof(Algorithm) <= max_algorithm_bytes;
  static constexpr bool has_plain_state = is_plain<state> && sizeof(state) <= max_algorithm_bytes;
  static constexpr bool has_tags = !has_parts || operators::are_tags;
  static constexpr bool has_operators = !has_parts || !has_tags || operators::are_callable;
  static constexpr bool are_distinct = !has_parts || !has_tags || operators::are_distinct;
  static constexpr bool has_next =
      !has_parts || requires(const Algorithm& a, state& s, const graph_round<step>& after) {
    { a.next(s, after) } -> std::same_as<step>;
  };
  static constexpr bool are_valid =
      fits && has_parts && has_plain_state && has_tags && are_distinct && has_operators && has_next;
};

/// Reports each requirement that an algorithm does not meet by a sentence of the compiler.
template <class Algorithm>
struct checked_types : argument_types<Algorithm> {
  using types = argument_types<Algorithm>;
  static_assert(types::fits,
                "graph_rounds: the algorithm must be trivially copyable and default-constructible, "
                "and have at most 1024 bytes, because it is an argument of kernels");
  static_assert(types::has_parts,
                "graph_rounds: the algorithm needs the types state and step, a graph_step of the "
                "tags of its operators");
  static_assert(types::has_plain_state,
                "graph_rounds: state must be trivially copyable and default-constructible, and "
                "have at most 1024 bytes");
  static_assert(types::has_tags,
                "graph_rounds: step must be a graph_step of tags, each of which derives from one "
                "of frontier_edges, all_edges, frontier_vertices and all_vertices");
  static_assert(types::are_distinct,
                "graph_rounds: distinct_targets is for tags of operators over edges that return "
                "bool");
  static_assert(types::has_operators,
                "graph_rounds: each operator needs bool or void operator()(tag, state&, graph_edge "
                "or std::int32_t) const");
  static_assert(types::has_next,
                "graph_rounds: the algorithm needs step next(state&, const graph_round<step>&) "
                "const");
};

}  // namespace ramify::detail::graph::inline RAMIFY_BUILD
