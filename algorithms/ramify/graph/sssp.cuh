// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Shortest paths by delta-stepping. A bucket holds the vertices whose distances are in an interval
/// of length delta, or of a smaller one.
///
///     edges         for every edge of the frontier: stores a shorter path to the target. Then the
///                   target is appended to the next frontier if its distance is in the bucket, else
///                   it is marked as far
///     next_bucket   runs if no vertex is left in the bucket: the vertices that are marked as far
///                   and are in the next bucket become the frontier
///     list_source   not for float: the source becomes the frontier of a search for parents
///     edges         not for float: an edge whose length is the difference of the distances of its
///                   ends makes its source the parent of its target, which is appended to the next
///                   frontier, if the target has no parent yet
///     write_paths   writes the outputs
///
/// float: the distance and the parent of a vertex share one 64-bit integer. A compare-and-swap
/// replaces it only by a smaller distance. Therefore parents form a tree even if lengths are zero.
/// Distances of 64 bits leave no space for a parent, so parents are found when all distances are
/// final: each vertex gets its parent after its parent got one, so these parents form a tree, too.
///
/// Sums of integers that exceed max_path_length are max_path_length + 1. No bucket but the last one
/// contains this distance. If a vertex has it in the end, the run ends without results.
///
/// Join: see rounds.cuh. Sources: Meyer, Sanders, "Delta-stepping: a parallelizable shortest path
/// algorithm", J. Algorithms 49, 2003; Davidson, Baxter, Garland, Owens, "Work-efficient parallel
/// GPU methods for single-source shortest paths", IPDPS 2014 (near and far vertices).

#include <ramify/graph/sssp_phases.cuh>
#include <ramify/runtime/residency.cuh>
#include <string>
#include <type_traits>

namespace ramify::detail::graph::inline RAMIFY_BUILD {

/// Visits an edge of the frontier: stores the path over the edge if it is shorter. If the bucket
/// became narrower and the frontier's vertex is beyond its end, the vertex is marked as far
/// instead. In the search for parents, the edge may become the last one of a shortest path.
template <class T>
struct relax {
  const T* weights;
  path_end<T>* ends;
  unsigned* queued;
  far_vertices far;
  T bucket_end;
  typename length_bits<T>::type* nearest_far;
  frontier_writer next;
  edge_frontier from;
  std::int32_t* parents;  ///< these three: unused if path ends have parents
  unsigned source;
  bool finds_parents;

  __device__ void operator()(bool has, unsigned i, edge_count e) const {
    if constexpr (!path_end<T>::has_parent) {
      if (finds_parents) return find_parent(has, i, e);
    }
    constexpr auto infinity = length_bits<T>::infinity;
    unsigned v = 0;
    T distance = infinite_length<T>();
    bool is_far = false;
    bool is_shorter = false;
    if (has) {
      const unsigned u = from.vertex(i);
      distance = path_end<T>::load(ends[u]).distance();
      is_far = distance >= bucket_end;
      v = is_far ? u : next.out.target(e);
      if (!is_far) {
        distance = sum_of_lengths(distance, weights[e]);
        is_shorter = path_end<T>::shorten(ends[v], path_end<T>::of(distance, u));
        is_far = is_shorter && distance >= bucket_end;
      }
    }
    if (is_far) far.mark(v);
    const auto nearest = min_of_warp(is_far ? length_bits<T>::of(distance) : infinity, infinity);
    // Without far vertices, the warps do not read the same word, which costs time.
    if (threadIdx.x % 32 == 0 && nearest < infinity && nearest < load_relaxed(*nearest_far)) {
      atomicMin(nearest_far, nearest);
    }
    // A vertex is appended at most once in a round, so no list overflows.
    const unsigned round = from.round + 1;
    const bool is_near = is_shorter && !is_far && atomicExch(&queued[v], round) != round;
    next.append(is_near, v);
  }

  /// Makes the edge's source the parent of its target if the edge is the last one of a shortest
  /// path and the target has no parent.
  __device__ void find_parent(bool has, unsigned i, edge_count e) const {
    unsigned v = 0;
    bool is_found = false;
    if (has) {
      const unsigned u = from.vertex(i);
      v = next.out.target(e);
      const T distance = sum_of_lengths(ends[u].distance(), weights[e]);
      is_found = v != source && distance < infinite_length<T>() && distance == ends[v].distance() &&
                 load_relaxed(parents[v]) == -1 &&
                 atomicCAS(&parents[v], -1, static_cast<std::int32_t>(u)) == -1;
    }
    next.append(is_found, v);
  }
};

/// Delta-stepping, the Search of graph_program.
template <class T>
struct delta_stepping {
  using state = round_state<sssp_state<T>>;
  using phases = std::conditional_t<
      path_end<T>::has_parent, vertex_phases<initialize_sssp<T>, next_bucket<T>, write_paths<T>>,
      vertex_phases<initialize_sssp<T>, next_bucket<T>, list_source<T>, write_paths<T>>>;

  basic_sssp_arrays<T> to;
  const T* weights;
  path_end<T>* ends;
  unsigned* queued;  ///< of each vertex: the last round whose frontier `relax` appended it to
  far_vertices far;
  unsigned source;
  T delta;  ///< 0: from a sample
  /// Whether buckets change their width. It is false if child grids may still append to the next
  /// frontier at the end of a round.
  bool adapts;

  [[nodiscard]] __host__ __device__ graph_phase due(const state& s) const {
    if (const graph_phase first = due_first(s); first != graph_phase::nothing) return first;
    if (s.last == graph_phase::write_paths) return graph_phase::done;
    if constexpr (std::is_integral_v<T>) {
      if (s.own.too_far != path_end<T>::none) return graph_phase::done;
    }
    if (s.frontier().edges() > 0) return graph_phase::edges;
    if (s.own.nearest_far < length_bits<T>::infinity) return graph_phase::next_bucket;
    if constexpr (!path_end<T>::has_parent) {
      if (to.parents != nullptr && !s.own.finds_parents) return graph_phase::list_source;
    }
    return graph_phase::write_paths;
  }

  __device__ void end_round(state& s) const {
    if constexpr (!path_end<T>::has_parent) {
      if (s.own.finds_parents) return;
    }
    const edge_count edges = s.frontier().edges();
    s.own.visited_edges += edges;
    s.own.bucket_edges += edges;
    if (adapts) s.own.bucket_end = narrowed_end(s.own, s.sizes[(s.round + 1) % 2].edges());
  }
  __device__ void end_phase(state& s, graph_phase phase) const {
    if (phase == graph_phase::initialize) {
      s.own.delta = delta == 0 ? delta_of_sample(s) : delta;
      s.own.bucket_end = s.own.delta;
      s.own.buckets = 1;
    }
    if (phase == graph_phase::list_source) s.own.finds_parents = true;
    if (phase == graph_phase::next_bucket) {
      s.own.bucket_end = next_bucket_end(s.own, adapts);
      s.own.bucket_begin = length_bits<T>::length(s.own.nearest_far);
      s.own.bucket_edges = 0;
      s.own.nearest_far = s.own.nearest_far_after;
      s.own.nearest_far_after = length_bits<T>::infinity;
      s.own.too_far = s.own.found_too_far;
    }
    if (phase != graph_phase::next_bucket && phase != graph_phase::list_source) return;
    s.sizes[s.round % 2] = {};
    ++s.round;
    if (phase == graph_phase::next_bucket && s.frontier().vertices() > 0) ++s.own.buckets;
  }

  /// Returns 32 (the width of a warp) times the mean length of the sampled edges, divided by the
  /// mean degree, as Davidson et al. propose.
  [[nodiscard]] __device__ static T delta_of_sample(const state& s) {
    if (!(s.own.sampled_length > 0)) return 1;
    const double mean = s.own.sampled_length / s.own.sampled_edges;
    const double mean_degree = static_cast<double>(s.edges) / s.vertices;
    return delta_of<T>(mean * 32 / (mean_degree > 1 ? mean_degree : 1));
  }

  template <class Program>
  [[nodiscard]] __device__ relax<T> visitor(const Program& program,
                                            const edge_frontier& from) const {
    sssp_state<T>& own = program.state->own;
    return {weights,
            ends,
            queued,
            far,
            own.bucket_end,
            &own.nearest_far,
            program.writer_of(from.round + 1),
            from,
            to.parents,
            source,
            own.finds_parents};
  }

  // ---- on the host ----

  using report_type = sssp_report;
  static constexpr bool has_lists = true;

  __host__ __device__ void take(memory_layout& memory, std::size_t n) {
    ends = memory.take<path_end<T>>(n);
    queued = memory.take<unsigned>(n);
    far.words = memory.take<unsigned>((n + 31) / 32);
    if (tuning::has_far_groups) far.groups = memory.take<unsigned>((n + 32767) / 32768);
  }
  void complete(report_type& report, const state& s) const {
    if (s.own.too_far != path_end<T>::none) {
      refuse("the distance of vertex " + std::to_string(s.own.too_far) +
             " is too large for a 64-bit integer; use lengths of type double");
    }
    report.reached = s.own.reached;
    report.buckets = s.own.buckets;
    report.visited_edges = s.own.visited_edges;
    report.delta = static_cast<double>(s.own.delta);
  }
};

}  // namespace ramify::detail::graph::inline RAMIFY_BUILD
