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
///     write_paths   writes the outputs
///
/// The distance and the parent of a vertex share one 64-bit integer. A compare-and-swap replaces it
/// only by a smaller distance. Therefore parents form a tree even if lengths are zero.
///
/// Join: see rounds.cuh. Sources: Meyer, Sanders, "Delta-stepping: a parallelizable shortest path
/// algorithm", J. Algorithms 49, 2003; Davidson, Baxter, Garland, Owens, "Work-efficient parallel
/// GPU methods for single-source shortest paths", IPDPS 2014 (near and far vertices).

#include <ramify/graph/rounds.cuh>
#include <ramify/runtime/residency.cuh>

namespace ramify::detail::graph::inline RAMIFY_BUILD {

/// The end of a path: its length in the upper half, and the previous vertex in the lower half.
/// Distances are not negative, so they are ordered as their bits are.
struct path_end {
  unsigned long long bits;

  static constexpr unsigned none = 0xffffffffu;
  static constexpr unsigned infinity = 0x7f800000u;  ///< bits of an infinite distance

  [[nodiscard]] static __device__ path_end of(float distance, unsigned parent) {
    return {static_cast<unsigned long long>(__float_as_uint(distance)) << 32 | parent};
  }
  [[nodiscard]] __device__ float distance() const {
    return __uint_as_float(static_cast<unsigned>(bits >> 32));
  }
  [[nodiscard]] __device__ unsigned parent() const { return static_cast<unsigned>(bits); }

  /// Returns the value of a path end that other threads replace: a relaxed atomic load.
  [[nodiscard]] static __device__ path_end load(path_end& from) {
    return {load_relaxed(from.bits)};
  }
};

/// The part of shortest paths in the state of the chain.
struct sssp_state {
  float delta = 0;                            ///< maximum width of a bucket
  float bucket_begin = 0;                     ///< distances below are settled
  float bucket_end = 0;                       ///< distances below are in the bucket, or settled
  unsigned nearest_far = path_end::infinity;  ///< bits of a lower bound of far distances
  unsigned nearest_far_after = path_end::infinity;  ///< the same, for the vertices that stay far
  unsigned buckets = 0;
  unsigned reached = 0;
  edge_count bucket_edges = 0;  ///< visited in this bucket
  edge_count visited_edges = 0;
  double sampled_length = 0;   ///< sum of the finite lengths of first edges
  unsigned sampled_edges = 0;  ///< number of these first edges
};

/// Sets all distances to infinity, makes the first frontier, and samples the lengths of edges.
struct initialize_sssp {
  static constexpr graph_phase phase = graph_phase::initialize;
  static __device__ const char* name() { return "initialize_sssp"; }

  template <class Program>
  __device__ explicit initialize_sssp(const Program& program)
      : weights(program.search.weights),
        ends(program.search.ends),
        queued(program.search.queued),
        far(program.search.far),
        source(program.search.source),
        samples(program.search.delta == 0),
        first(program.writer_of(0)),
        own(&program.state->own) {}

  [[nodiscard]] __device__ unsigned vertices_of(unsigned word) const {
    far[word] = 0;
    return ~0u;
  }
  __device__ void visit(bool has, unsigned v) {
    const bool is_source = has && v == source;
    const edge_count degree = has ? first.out.degree(v) : 0;
    if (has) {
      ends[v] =
          path_end::of(is_source ? 0.0f : __uint_as_float(path_end::infinity), path_end::none);
      queued[v] = 0;
    }
    if (samples && degree > 0) {
      const float length = weights[first.out.first(v)];
      if (length < __uint_as_float(path_end::infinity)) {
        sampled_length += static_cast<double>(length);
        ++sampled_edges;
      }
    }
    first.append(is_source, v);
  }
  __device__ void end() const {
    if (!samples) return;
    add_by_warp(own->sampled_length, sampled_length);
    add_by_warp(own->sampled_edges, sampled_edges);
  }

  const float* weights;
  path_end* ends;
  unsigned* queued;
  unsigned* far;
  unsigned source;
  bool samples;
  frontier_writer first;
  sssp_state* own;
  double sampled_length = 0;
  unsigned sampled_edges = 0;
};

/// Returns the end of the next bucket, which contains the nearest far vertex. If `adapts`, a bucket
/// that had few edges is followed by one of four times its width. Otherwise the ends of buckets are
/// multiples of delta.
__device__ inline float next_bucket_end(const sssp_state& own, bool adapts) {
  const float nearest = __uint_as_float(own.nearest_far);
  float end = 0;
  if (adapts) {
    const float width = own.bucket_end - own.bucket_begin;
    const bool had_few = own.bucket_edges < tuning::bucket_edges / 2;
    end = nearest + (had_few ? fminf(4 * width, own.delta) : width);
  } else {
    const double delta = own.delta;
    end = static_cast<float>((floor(static_cast<double>(nearest) / delta) + 1) * delta);
  }
  // If the width is tiny, rounding may put the end at or below the nearest distance.
  if (!(end > nearest)) end = __uint_as_float(own.nearest_far + 1);
  return end;
}

/// Returns the end of the bucket if the next frontier has `edges` edges: a smaller one if it has
/// too many, but above the begin.
__device__ inline float narrowed_end(const sssp_state& own, edge_count edges) {
  if (edges <= 2 * tuning::bucket_edges) return own.bucket_end;
  const float part = fmaxf(float{tuning::bucket_edges} / static_cast<float>(edges), 0.125f);
  const float end = own.bucket_begin + (own.bucket_end - own.bucket_begin) * part;
  return end > own.bucket_begin ? end : own.bucket_end;
}

/// Makes the frontier from the far vertices that are in the next bucket.
struct next_bucket {
  static constexpr graph_phase phase = graph_phase::next_bucket;
  static __device__ const char* name() { return "next_bucket"; }

  template <class Program>
  __device__ explicit next_bucket(const Program& program)
      : ends(program.search.ends),
        far(program.search.far),
        bucket_begin(program.state->own.bucket_end),
        bucket_end(next_bucket_end(program.state->own, program.search.adapts)),
        // Do not append to the current list: its size decides what is due, and a block that begins
        // late must still find this phase.
        next(program.writer_of(program.state->round + 1)),
        nearest_after(&program.state->own.nearest_far_after) {}

  [[nodiscard]] __device__ unsigned vertices_of(unsigned word) const { return far[word]; }
  __device__ void visit(bool has, unsigned v) {
    const float distance = has ? ends[v].distance() : 0;
    const bool is_near = has && distance >= bucket_begin && distance < bucket_end;
    const bool stays = has && distance >= bucket_end;
    if (stays) nearest = min(nearest, __float_as_uint(distance));
    const unsigned word = __ballot_sync(full_warp_mask, stays);
    if (threadIdx.x % 32 == 0) far[v / 32] = word;
    next.append(is_near, v);
  }
  __device__ void end() const {
    if (nearest < path_end::infinity) atomicMin(nearest_after, nearest);
  }

  const path_end* ends;
  unsigned* far;
  float bucket_begin, bucket_end;
  frontier_writer next;
  unsigned* nearest_after;
  unsigned nearest = path_end::infinity;
};

/// Writes the outputs.
struct write_paths {
  static constexpr graph_phase phase = graph_phase::write_paths;
  static __device__ const char* name() { return "write_paths"; }

  template <class Program>
  __device__ explicit write_paths(const Program& program)
      : to(program.search.to),
        ends(program.search.ends),
        all_reached(&program.state->own.reached) {}

  __device__ void visit(bool has, unsigned v) {
    if (!has) return;
    const path_end end = ends[v];
    if (end.distance() < __uint_as_float(path_end::infinity)) ++reached;
    if (to.distances != nullptr) to.distances[v] = end.distance();
    if (to.parents != nullptr) to.parents[v] = static_cast<std::int32_t>(end.parent());
  }
  __device__ void end() const { add_by_warp(*all_reached, reached); }

  sssp_arrays to;
  const path_end* ends;
  unsigned* all_reached;
  unsigned reached = 0;
};

/// Visits an edge of the frontier: stores the path over the edge if it is shorter. If the bucket
/// became narrower and the frontier's vertex is beyond its end, the vertex is marked as far
/// instead.
struct relax {
  const float* weights;
  path_end* ends;
  unsigned* queued;
  unsigned* far;
  float bucket_end;
  unsigned* nearest_far;
  frontier_writer next;
  edge_frontier from;

  __device__ void operator()(bool has, unsigned i, edge_count e) const {
    unsigned v = 0;
    float distance = __uint_as_float(path_end::infinity);
    bool is_far = false;
    bool is_shorter = false;
    if (has) {
      const unsigned u = from.vertex(i);
      distance = path_end::load(ends[u]).distance();
      is_far = distance >= bucket_end;
      v = is_far ? u : next.out.target(e);
      if (!is_far) {
        distance += weights[e];
        is_shorter = shorten(v, path_end::of(distance, u));
        is_far = is_shorter && distance >= bucket_end;
      }
    }
    const unsigned bit = 1u << v % 32;
    if (is_far && (load_relaxed(far[v / 32]) & bit) == 0) atomicOr(&far[v / 32], bit);
    const unsigned nearest =
        __reduce_min_sync(full_warp_mask, is_far ? __float_as_uint(distance) : path_end::infinity);
    // Without far vertices, the warps do not read the same word, which costs time.
    if (threadIdx.x % 32 == 0 && nearest < path_end::infinity &&
        nearest < load_relaxed(*nearest_far)) {
      atomicMin(nearest_far, nearest);
    }
    // A vertex is appended at most once in a round, so no list overflows.
    const unsigned round = from.round + 1;
    const bool is_near = is_shorter && !is_far && atomicExch(&queued[v], round) != round;
    next.append(is_near, v);
  }

  /// Stores the path to v if it is shorter than the stored one. Returns whether it was stored.
  [[nodiscard]] __device__ bool shorten(unsigned v, path_end path) const {
    path_end old = path_end::load(ends[v]);
    while (path.distance() < old.distance()) {
      const path_end seen = {atomicCAS(&ends[v].bits, old.bits, path.bits)};
      if (seen.bits == old.bits) return true;
      old = seen;
    }
    return false;
  }
};

/// Delta-stepping, the Search of graph_program.
struct delta_stepping {
  using state = round_state<sssp_state>;
  using phases = vertex_phases<initialize_sssp, next_bucket, write_paths>;

  sssp_arrays to;
  const float* weights;
  path_end* ends;
  unsigned* queued;  ///< of each vertex: the last round whose frontier `relax` appended it to
  unsigned* far;     ///< bitmap
  unsigned source;
  float delta;  ///< 0: from a sample
  /// Whether buckets change their width. It is false if child grids may still append to the next
  /// frontier at the end of a round.
  bool adapts;
  double mean_degree;
  unsigned thin_edges;  ///< maximum number of edges of a thin round

  [[nodiscard]] __host__ __device__ graph_phase due(const state& s) const {
    if (const graph_phase first = due_first(s); first != graph_phase::nothing) return first;
    if (s.last == graph_phase::write_paths) return graph_phase::done;
    const edge_count edges = s.frontier().edges();
    if (edges > 0) return edges <= thin_edges ? graph_phase::thin : graph_phase::edges;
    return s.own.nearest_far < path_end::infinity ? graph_phase::next_bucket
                                                  : graph_phase::write_paths;
  }

  __device__ void end_round(state& s) const {
    const edge_count edges = s.frontier().edges();
    s.own.visited_edges += edges;
    s.own.bucket_edges += edges;
    if (adapts) s.own.bucket_end = narrowed_end(s.own, s.sizes[(s.round + 1) % 2].edges());
  }
  __device__ void end_phase(state& s, graph_phase phase) const {
    if (phase == graph_phase::initialize) {
      s.own.delta = delta == 0 ? delta_of_sample(s.own) : delta;
      s.own.bucket_end = s.own.delta;
      s.own.buckets = 1;
    }
    if (phase != graph_phase::next_bucket) return;
    s.own.bucket_end = next_bucket_end(s.own, adapts);
    s.own.bucket_begin = __uint_as_float(s.own.nearest_far);
    s.own.bucket_edges = 0;
    s.own.nearest_far = s.own.nearest_far_after;
    s.own.nearest_far_after = path_end::infinity;
    s.sizes[s.round % 2] = {};
    ++s.round;
    if (s.frontier().vertices() > 0) ++s.own.buckets;
  }

  /// Returns 32 (the width of a warp) times the mean length of the sampled edges, divided by the
  /// mean degree, as Davidson et al. propose.
  [[nodiscard]] __device__ float delta_of_sample(const sssp_state& own) const {
    if (!(own.sampled_length > 0)) return 1;
    const double mean = own.sampled_length / own.sampled_edges;
    const double width = mean * 32 / (mean_degree > 1 ? mean_degree : 1);
    constexpr double largest = 1e37;
    constexpr double smallest = 1e-37;
    return static_cast<float>(width < smallest ? smallest : width < largest ? width : largest);
  }

  template <class Program>
  [[nodiscard]] __device__ relax visitor(const Program& program, const edge_frontier& from) const {
    sssp_state& own = program.state->own;
    return {weights,
            ends,
            queued,
            far,
            own.bucket_end,
            &own.nearest_far,
            program.writer_of(from.round + 1),
            from};
  }

  // ---- on the host ----

  using report_type = sssp_report;
  static constexpr bool has_lists = true;

  void take(memory_layout& memory, std::size_t n) {
    ends = memory.take<path_end>(n);
    queued = memory.take<unsigned>(n);
    far = memory.take<unsigned>((n + 31) / 32);
  }
  [[nodiscard]] state first_state(const graph_view&) const { return {}; }
  void complete(report_type& report, const state& s) const {
    report.reached = s.own.reached;
    report.buckets = s.own.buckets;
    report.visited_edges = s.own.visited_edges;
    report.delta = s.own.delta;
  }
};

}  // namespace ramify::detail::graph::inline RAMIFY_BUILD
