// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// graph_program: the program of the launch chains of the graph algorithms. It decides from the
/// state which grid runs the phase that is due. rounds.cuh has the kernels.

#include <ramify/graph/for_edges.cuh>
#include <ramify/graph/state.cuh>
#include <ramify/graph/visit_words.cuh>
#include <ramify/runtime/detail/chain_link.cuh>
#include <type_traits>

namespace ramify::detail::graph::inline RAMIFY_BUILD {

/// The list of an algorithm's kernels over vertices. Each is a class with
///
///     static constexpr graph_phase phase;
///     static const char* name();            // __device__, for traces
///     explicit Phase(const Program&);       // __device__, as are the following; full warps call
///     void visit(bool has, unsigned v);     // all lanes have the same word and different vertices
///
/// and may have
///
///     unsigned vertices_of(unsigned word);  // returns the bits of the vertices to visit among the
///                                           // 32 of a word; each lane has another word. Without
///                                           // it, all vertices are visited
///     unsigned groups_of(unsigned k);       // returns the bits of the groups to visit among 32
///                                           // groups of 32 words; all lanes have the same k
///     void end_group(unsigned g, unsigned); // after the visits of a group; each lane passes
///                                           // vertices_of() of another word
///     void end();                           // after all visits of a warp
///     unsigned count(const State&);         // static, __host__ __device__: returns the number of
///                                           // items that are visited instead of all vertices
template <class... Phases>
struct vertex_phases {
  /// Calls call(static_cast<Phase*>(nullptr)) for the class of a phase, if there is one.
  template <class Call>
  static __host__ __device__ void with(graph_phase due, const Call& call) {
    ((due == Phases::phase ? call(static_cast<Phases*>(nullptr)) : void()), ...);
  }
};

/// The program of a launch chain. `Search` is the algorithm, with the members
///
///     using state = round_state<...>;     // with its part of the state
///     using phases = vertex_phases<...>;
///     graph_phase due(const state&) const;              // __host__ __device__
///     void end_round(state&) const;                     // __device__, one thread: after `edges`,
///                                                       // before the round is counted
///     void end_phase(state&, graph_phase) const;        // the same, after a phase over vertices
///     Visitor visitor(const Program&, const edge_frontier&) const;  // __device__, for for_edges()
///     void begin(state&) const;         // __host__ __device__, optional: writes what depends on
///                                       // the numbers of vertices and of edges
///     void complete_edges(state&, bool may_have_children) const;  // __device__, optional: instead
///                                       // of end_round(), completes a round itself
///     edge_frontier frontier(const Program&) const;  // __device__, optional: of the next round
///
/// and, for the host: report_type; has_lists, which is false if the frontier is the whole graph;
/// take(), which takes its scratch memory; complete(), which completes the report.
template <class Search_, bool has_children_>
struct graph_program : runtime::chain_link {
  using search_type = Search_;
  using state_type = typename Search_::state;
  using due_type = state_type;
  static constexpr bool has_children = has_children_;
  /// Whether rounds can be thin: the frontier is not always the whole graph.
  static constexpr bool has_thin_rounds = !has_children && Search_::has_lists;
  /// The maximum number of blocks of a grid for each co-resident block.
  static constexpr unsigned waves = has_children ? tuning::waves : tuning::waves_of_team;
  static constexpr auto join =
      has_children ? runtime::chain_join::tail_launch : runtime::chain_join::last_block;

  state_type* state = nullptr;
  csr out{};
  csr in{};  ///< null pointers: the graph has no edges by target
  frontier_list lists[2];
  edge_strategy strategy{};
  child_grids children{};
  bool keeps_team = false;  ///< a full team stays full in phases that need fewer blocks
  Search_ search{};

  __device__ auto visitor(const edge_frontier& from) const { return search.visitor(*this, from); }
  /// Returns the frontier of the next round.
  [[nodiscard]] __device__ edge_frontier frontier() const {
    if constexpr (requires { this->search.frontier(*this); }) return this->search.frontier(*this);
    const unsigned round = state->round;
    const frontier_size size = state->sizes[round % 2];
    const frontier_list& list = lists[round % 2];
    return {out.offsets,  list.vertices, list.first_edge, 0, size.vertices(), 0,
            size.edges(), round};
  }

  /// Returns the writer of the frontier that round number `round` visits.
  [[nodiscard]] __device__ frontier_writer writer_of(unsigned round) const {
    return {out, lists[round % 2], &state->sizes[round % 2]};
  }

  [[nodiscard]] __host__ __device__ bool finished(const state_type& s) const {
    return search.due(s) == graph_phase::done;
  }
  [[nodiscard]] __host__ __device__ bool repeats(const state_type& s) const {
    return search.due(s) != graph_phase::check;
  }
  [[nodiscard]] __host__ __device__ unsigned slots_of(const state_type&) const { return 1; }
  /// The phases; see runtime/detail/phases.cuh. The host launches the phase after `check`
  /// without a read of the state. A loop follows them.
  template <class Row>
  __host__ __device__ void phase_table(const state_type& s, Row& row) const;
  [[nodiscard]] static bool expects(const state_type&, const state_type&) { return true; }
  [[nodiscard]] bool is_complete_ahead() const { return false; }
  template <class Grids>
  void launch_repeated(const state_type&, Grids& grids) const;

  /// Returns the number of blocks that can share the phase that is due, or 0 if none is.
  [[nodiscard]] __host__ __device__ unsigned blocks_of(const state_type& s) const {
    const graph_phase due = search.due(s);
    if (due == graph_phase::edges) return blocks_for(strategy, s.frontier());
    unsigned blocks = 0;
    Search_::phases::with(due, [&](auto* phase) {
      const unsigned items = items_of<std::remove_pointer_t<decltype(phase)>>(s);
      constexpr unsigned per_block = tuning::threads * tuning::min_words_of_warp;
      blocks = items == 0 ? 1 : (items - 1) / per_block + 1;
    });
    return blocks;
  }
  /// Returns the number of blocks of a full team: those that can be resident at the same time.
  [[nodiscard]] __device__ unsigned full_team() const {
    return children.max_blocks / tuning::waves_of_team;
  }
  /// Returns the number of parts into which a team of `blocks` blocks divides the phase that is
  /// due, or 0 if none is.
  [[nodiscard]] __device__ unsigned parts_for(const state_type& s, unsigned blocks) const {
    const unsigned needed = blocks_of(s);
    const unsigned parts = needed / tuning::work_of_part;
    const bool has_several = blocks >= full_team() && parts >= tuning::min_parts_of_block * blocks;
    if (!has_several) return min(needed, blocks);
    return min(min(parts, tuning::max_parts_of_block * blocks), runtime::round_team::max_parts);
  }
  /// Returns whether the round that is due is thin: visit_thin_rounds() may run it.
  [[nodiscard]] __host__ __device__ bool is_thin(const state_type& s) const {
    if constexpr (has_thin_rounds) {
      return strategy == edge_strategy::balanced && search.due(s) == graph_phase::edges &&
             s.frontier().edges() <= tuning::thin_edges;
    } else {
      return false;
    }
  }
  /// Returns whether visit_thin_rounds() runs the round that is due, instead of a team. In a
  /// graph's loop, each iteration begins with visit_thin_rounds().
  [[nodiscard]] __host__ __device__ bool leaves_team(const state_type& s) const {
    return s.thin_rounds >= tuning::thin_rounds_of_team && is_thin(s);
  }
  /// Returns the shape of a grid for work that `blocks` blocks can share.
  [[nodiscard]] __host__ __device__ launch_shape shape_for(edge_count blocks) const {
    const unsigned most = children.max_blocks;
    return {blocks < 1 ? 1 : blocks < most ? static_cast<unsigned>(blocks) : most, tuning::threads};
  }
};

}  // namespace ramify::detail::graph::inline RAMIFY_BUILD
