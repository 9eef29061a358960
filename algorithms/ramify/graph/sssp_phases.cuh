// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The phases of delta-stepping over vertices (vertex_phases); sssp.cuh describes them.

#include <cstdint>
#include <ramify/graph/arguments.hpp>
#include <ramify/graph/buckets.cuh>
#include <ramify/graph/path_length.cuh>
#include <ramify/graph/rounds.cuh>
#include <type_traits>

namespace ramify::detail::graph::inline RAMIFY_BUILD {

/// Sets all distances to infinity, makes the first frontier, and samples the lengths of edges.
template <class T>
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
    far.clear(word);
    return ~0u;
  }
  __device__ void visit(bool has, unsigned v) {
    const bool is_source = has && v == source;
    const edge_count degree = has ? first.out.degree(v) : 0;
    if (has) {
      ends[v] = path_end<T>::of(is_source ? T{0} : infinite_length<T>(), path_end<T>::none);
      queued[v] = 0;
    }
    if (samples && degree > 0) {
      const T length = weights[first.out.first(v)];
      if (length < infinite_length<T>()) {
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

  const T* weights;
  path_end<T>* ends;
  unsigned* queued;
  far_vertices far;
  unsigned source;
  bool samples;
  frontier_writer first;
  sssp_state<T>* own;
  double sampled_length = 0;
  unsigned sampled_edges = 0;
};

/// Makes the frontier from the far vertices that are in the next bucket.
template <class T>
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
        own(&program.state->own) {}

  /// Returns the groups of 1,024 vertices that may have a far vertex, among 32.
  [[nodiscard]] __device__ unsigned groups_of(unsigned k) const requires(tuning::has_far_groups) {
    return load_relaxed(far.groups[k]);
  }
  [[nodiscard]] __device__ unsigned vertices_of(unsigned word) const { return far.words[word]; }
  __device__ void visit(bool has, unsigned v) {
    const T distance = has ? ends[v].distance() : 0;
    const bool is_near = has && distance >= bucket_begin && distance < bucket_end;
    const bool stays = has && distance >= bucket_end;
    if (stays) nearest = min(nearest, length_bits<T>::of(distance));
    const unsigned word = __ballot_sync(full_warp_mask, stays);
    if (threadIdx.x % 32 == 0) far.words[v / 32] = word;
    if constexpr (std::is_integral_v<T>) {
      if (is_near && distance > max_path_length) atomicMin(&own->found_too_far, v);
    }
    next.append(is_near, v);
  }
  /// Clears the bit of a group if none of its words has a bit. `word` is the word of each lane.
  __device__ void end_group(unsigned group, unsigned word) const {
    if (__any_sync(full_warp_mask, word != 0) != 0 || threadIdx.x % 32 != 0) return;
    atomicAnd(&far.groups[group / 32], ~(1u << group % 32));
  }
  __device__ void end() const {
    if (nearest < sssp_state<T>::infinity) atomicMin(&own->nearest_far_after, nearest);
  }

  const path_end<T>* ends;
  far_vertices far;
  T bucket_begin, bucket_end;
  frontier_writer next;
  sssp_state<T>* own;
  typename sssp_state<T>::bits nearest = sssp_state<T>::infinity;
};

/// Begins the search for parents: the source becomes the frontier.
template <class T>
struct list_source {
  static constexpr graph_phase phase = graph_phase::list_source;
  static __device__ const char* name() { return "list_source"; }

  template <class Program>
  __device__ explicit list_source(const Program& program)
      : parents(program.search.to.parents),
        source(program.search.source),
        next(program.writer_of(program.state->round + 1)) {}  // see next_bucket

  __device__ void visit(bool has, unsigned v) const {
    if (has) parents[v] = -1;
    next.append(has && v == source, v);
  }

  std::int32_t* parents;
  unsigned source;
  frontier_writer next;
};

/// Writes the outputs.
template <class T>
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
    const path_end<T> end = ends[v];
    if (end.distance() < infinite_length<T>()) ++reached;
    if (to.distances != nullptr) to.distances[v] = end.distance();
    if constexpr (path_end<T>::has_parent) {
      if (to.parents != nullptr) to.parents[v] = static_cast<std::int32_t>(end.parent());
    }
  }
  __device__ void end() const { add_by_warp(*all_reached, reached); }

  basic_sssp_arrays<T> to;
  const path_end<T>* ends;
  unsigned* all_reached;
  unsigned reached = 0;
};

}  // namespace ramify::detail::graph::inline RAMIFY_BUILD
