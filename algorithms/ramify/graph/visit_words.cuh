// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The loop of a phase over vertices. A word stands for 32 vertices, a group for 32 words.
/// vertex_phases in program.cuh describes the class of a phase.

#include <ramify/graph/frontier.cuh>
#include <ramify/graph/tuning.cuh>
#include <ramify/runtime/detail/round_team.cuh>

namespace ramify::detail::graph::inline RAMIFY_BUILD {

/// Adds the values of the lanes of a full warp to a sum in device memory.
template <class T>
__device__ void add_by_warp(T& sum, T value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(full_warp_mask, value, offset);
  }
  if (threadIdx.x % 32 == 0 && value != T{}) atomicAdd(&sum, value);
}

/// Calls phase.visit() for the vertices of up to 32 words from `first_word` on. Each lane has the
/// bits that are selected in one word. All lanes of a full warp must call it.
template <class Phase>
__device__ void visit_selected(Phase& phase, unsigned first_word, unsigned selected) {
  const unsigned lane = threadIdx.x % 32;
  __syncwarp();  // visit() may change what other lanes wrote in vertices_of()
  for (unsigned lanes = __ballot_sync(full_warp_mask, selected != 0); lanes != 0;
       lanes &= lanes - 1) {
    const int k = __ffs(static_cast<int>(lanes)) - 1;
    const unsigned visited = __shfl_sync(full_warp_mask, selected, k);
    phase.visit((visited >> lane & 1) != 0, (first_word + static_cast<unsigned>(k)) * 32 + lane);
  }
}

/// Returns the bits of a word that are vertices of a graph of n vertices.
[[nodiscard]] __device__ inline unsigned vertices_in(unsigned word, unsigned n) {
  const unsigned left = n - word * 32;
  return left < 32 ? (1u << left) - 1 : ~0u;
}

/// Calls phase.visit() for the vertices that phase.vertices_of() selects in the groups that
/// phase.groups_of() selects. The warps take turns of one group. All warps read all groups_of().
template <class Phase>
__device__ void visit_groups(Phase& phase, unsigned n, unsigned warp, unsigned warps) {
  const unsigned words = (n - 1) / 32 + 1;
  for (unsigned k = 0; k < (words - 1) / 1024 + 1; ++k) {
    for (unsigned groups = phase.groups_of(k); groups != 0; groups &= groups - 1) {
      const unsigned group = k * 32 + static_cast<unsigned>(__ffs(static_cast<int>(groups)) - 1);
      if (group % warps != warp) continue;
      const unsigned word = group * 32 + threadIdx.x % 32;
      const bool has = word < words;
      visit_selected(phase, group * 32, has ? phase.vertices_of(word) & vertices_in(word, n) : 0);
      __syncwarp();
      phase.end_group(group, has ? phase.vertices_of(word) : 0);
    }
  }
}

/// Returns the number of vertices of a phase: Phase::count(state), or all vertices of the graph.
template <class Phase, class State>
[[nodiscard]] __host__ __device__ unsigned items_of(const State& state) {
  if constexpr (requires { Phase::count(state); }) {
    return Phase::count(state);
  } else {
    return state.vertices;
  }
}

/// Calls Phase::visit() for the vertices that Phase::vertices_of() selects in a block's part.
template <class Phase, class Program>
__device__ void visit_words(const Program& program, const runtime::round_part& part) {
  const unsigned vertices = items_of<Phase>(*program.state);
  if constexpr (requires { Phase::count(*program.state); }) {
    if (vertices == 0) return;
  }
  const unsigned words = (vertices - 1) / 32 + 1;
  const unsigned warps = part.count * (tuning::threads / 32);
  const unsigned warp = (part.rank * tuning::threads + threadIdx.x) / 32;
  const unsigned at_once =
      min(max((words - 1) / warps + 1, tuning::min_words_of_warp), tuning::max_words_of_warp);
  const unsigned lane = threadIdx.x % 32;
  Phase phase(program);
  if constexpr (requires { phase.groups_of(0u); }) {
    visit_groups(phase, vertices, warp, warps);
  } else {
    for (edge_count first = edge_count{warp} * at_once; first < words;
         first += edge_count{warps} * at_once) {
      const auto word = static_cast<unsigned>(first + lane);
      unsigned selected = 0;
      if (lane < at_once && word < words) {
        selected = vertices_in(word, vertices);
        if constexpr (requires { phase.vertices_of(word); }) selected &= phase.vertices_of(word);
      }
      visit_selected(phase, static_cast<unsigned>(first), selected);
    }
  }
  if constexpr (requires { phase.end(); }) phase.end();
}

}  // namespace ramify::detail::graph::inline RAMIFY_BUILD
