// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The buckets of shortest paths: the state of the search, its far vertices, and the ends of
/// buckets.
///
/// The executor sets a bit for each group of 1,024 vertices that may have a far vertex, so that a
/// bucket costs no time for each vertex of the graph. A GPU reads the bits of all vertices faster.

#include <ramify/graph/path_length.cuh>
#include <ramify/graph/rounds.cuh>
#include <ramify/runtime/residency.cuh>
#include <type_traits>

namespace ramify::detail::graph::inline RAMIFY_BUILD {

/// The part of shortest paths in the state of the chain.
template <class T>
struct sssp_state {
  using bits = typename length_bits<T>::type;
  static constexpr bits infinity = length_bits<T>::infinity;

  T delta = 0;                        ///< maximum width of a bucket
  T bucket_begin = 0;                 ///< distances below are settled
  T bucket_end = 0;                   ///< distances below are in the bucket, or settled
  bits nearest_far = infinity;        ///< lower bound of far distances
  bits nearest_far_after = infinity;  ///< the same, for the vertices that stay far
  unsigned buckets = 0;
  unsigned reached = 0;
  bool finds_parents = false;                  ///< all distances are final
  unsigned too_far = path_end<T>::none;        ///< a vertex whose distance is too large
  unsigned found_too_far = path_end<T>::none;  ///< the same, in the running phase
  edge_count bucket_edges = 0;                 ///< visited in this bucket
  edge_count visited_edges = 0;
  double sampled_length = 0;   ///< sum of the finite lengths of first edges
  unsigned sampled_edges = 0;  ///< number of these first edges
};

/// The far vertices: a bitmap and, on the executor, a bitmap of the groups of 32 words that may
/// have a bit.
struct far_vertices {
  unsigned* words;
  unsigned* groups;  ///< unused unless tuning::has_far_groups

  /// Clears a word. One thread calls it for each word.
  __device__ void clear(unsigned word) const {
    words[word] = 0;
    if (tuning::has_far_groups && word % 1024 == 0) groups[word / 1024] = 0;
  }
  /// Marks a vertex.
  __device__ void mark(unsigned v) const {
    const unsigned bit = 1u << v % 32;
    if ((load_relaxed(words[v / 32]) & bit) != 0) return;
    atomicOr(&words[v / 32], bit);
    if (tuning::has_far_groups) atomicOr(&groups[v / 32768], 1u << v / 1024 % 32);
  }
};

/// Returns the end of the next bucket, which contains the nearest far vertex. If `adapts`, a bucket
/// that had few edges is followed by one of four times its width. Otherwise the ends of buckets are
/// multiples of delta, as far as they can be represented.
template <class T>
__device__ T next_bucket_end(const sssp_state<T>& own, bool adapts) {
  const T nearest = length_bits<T>::length(own.nearest_far);
  T end = 0;
  if (adapts) {
    const T width = own.bucket_end - own.bucket_begin;
    const bool had_few = own.bucket_edges < tuning::bucket_edges / 2;
    // A product of integers may be too large; one of floating-point numbers may be infinite.
    const bool is_small = !std::is_integral_v<T> || width <= own.delta / 4;
    const T wider = is_small && 4 * width < own.delta ? 4 * width : own.delta;
    end = sum_of_lengths(nearest, had_few ? wider : width);
  } else if constexpr (std::is_integral_v<T>) {
    end = sum_of_lengths(nearest, own.delta - nearest % own.delta);
  } else {
    const double delta = own.delta;
    end = static_cast<T>((floor(static_cast<double>(nearest) / delta) + 1) * delta);
  }
  // If the width is tiny, rounding may put the end at or below the nearest distance.
  if (!(end > nearest)) end = length_bits<T>::length(own.nearest_far + 1);
  return end;
}

/// Returns the end of the bucket if the next frontier has `edges` edges: a smaller one if it has
/// too many, but above the begin.
template <class T>
__device__ T narrowed_end(const sssp_state<T>& own, edge_count edges) {
  if (edges <= 2 * tuning::bucket_edges) return own.bucket_end;
  using factor = std::conditional_t<sizeof(T) == sizeof(float), float, double>;
  const float part = fmaxf(float{tuning::bucket_edges} / static_cast<float>(edges), 0.125f);
  const auto width = static_cast<factor>(own.bucket_end - own.bucket_begin);
  const T end = own.bucket_begin + static_cast<T>(width * static_cast<factor>(part));
  return end > own.bucket_begin ? end : own.bucket_end;
}

}  // namespace ramify::detail::graph::inline RAMIFY_BUILD
