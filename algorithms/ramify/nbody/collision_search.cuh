// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The kernels of a search for collisions; collisions.cuh states their order.
///
/// The body with the larger radius finds a pair; if they are equal, the first in the tree's order
/// does. So a body searches within twice its own radius, and each pair is found once: a large body
/// does not enlarge the searches of the small ones.

#include <cstdint>
#include <ramify/nbody/checks.cuh>
#include <ramify/nbody/config.hpp>
#include <ramify/runtime/grid_trace.cuh>
#include <ramify/spatial_tree/radius.cuh>

namespace ramify::detail::nbody::inline RAMIFY_BUILD {

/// The radius of each body.
template <class Real>
struct body_radii {
  const Real* each;  ///< in the caller's order; null: all bodies have the radius `all`
  Real all;

  [[nodiscard]] __device__ Real at(std::uint32_t body) const {
    return each == nullptr ? all : each[body];
  }
};

/// The progress of a search. Its kernels write it; later kernels and the host read it.
struct collision_progress {
  unsigned long long collisions;
  std::uint32_t complete;       ///< 1 once the tree was complete
  std::uint32_t first_invalid;  ///< the first invalid body, or no_invalid_body
};

/// The arguments of the kernels of a search.
template <class Real>
struct collision_search {
  const point<Real, 3>* positions;
  body_radii<Real> radii;
  std::uint32_t n;
  body_pair* pairs;
  std::uint64_t capacity;
  std::uint64_t* count;    ///< of the caller, or null
  std::uint32_t* counts;   ///< pairs that each body finds, in the tree's order
  std::uint64_t* offsets;  ///< the place of its first pair
  collision_progress* progress;
  trace_ticket trace;
};

/// Lowers progress->first_invalid to the first body with a coordinate outside [-largest, largest],
/// or with a radius that is neither 0 nor in [least, largest]. One thread for each body.
template <class Real>
__global__ void find_invalid_radius(collision_search<Real> search, Real least, Real largest) {
  const traced here(search.trace, __func__);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= search.n) return;
  const Real radius = search.radii.at(i);
  const bool has_radius = radius == 0 || (radius >= least && radius <= largest);
  if (has_radius && is_valid_body(search.positions[i], Real{0}, largest)) return;
  atomicMin(&search.progress->first_invalid, i);
}

/// Calls found(j) for each pair that body i finds. Both are indices in the tree's order.
template <class Real, class Found>
__device__ void for_each_collision(const spatial_tree_view<Real, 3>& tree,
                                   const body_radii<Real>& radii, std::uint32_t i, Found found) {
  const point<Real, 3> x = tree.points[i];
  const Real radius = radii.at(tree.ids[i]);
  if (radius == 0) return;
  for_each_within(tree, x, (radius + radius) * (radius + radius),
                  [&](std::uint32_t begin, std::uint32_t end) {
                    if (radii.each == nullptr && begin <= i) begin = i + 1;
                    for (std::uint32_t j = begin; j < end; ++j) {
                      const Real other = radii.at(tree.ids[j]);
                      const bool finds = radius > other || (radius == other && i < j);
                      const Real reach = radius + other;
                      if (finds && distance2(x, tree.points[j]) < reach * reach) found(j);
                    }
                  });
}

/// Counts the pairs that each body finds. One thread for each body, in the tree's order.
template <class Real>
__global__ void count_collisions(spatial_tree_view<Real, 3> tree, collision_search<Real> search) {
  const traced here(search.trace, __func__);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= search.n) return;
  const bool complete = tree.nodes_built() > 0;
  std::uint32_t count = 0;
  if (complete && search.progress->first_invalid == no_invalid_body) {
    for_each_collision(tree, search.radii, i, [&](std::uint32_t) { ++count; });
  }
  search.counts[i] = count;
  if (i == 0) search.progress->complete = complete ? 1 : 0;
}

/// Writes the pairs that fit, and their true number. One thread for each body, in the tree's order.
template <class Real>
__global__ void write_collisions(spatial_tree_view<Real, 3> tree, collision_search<Real> search) {
  const traced here(search.trace, __func__);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= search.n || search.progress->complete == 0) return;
  if (search.progress->first_invalid != no_invalid_body) return;
  std::uint64_t at = search.offsets[i];
  if (i == search.n - 1) {
    const std::uint64_t collisions = at + search.counts[i];
    search.progress->collisions = collisions;
    if (search.count != nullptr) *search.count = collisions;
  }
  if (search.counts[i] == 0 || at >= search.capacity) return;
  const std::uint32_t id = tree.ids[i];
  for_each_collision(tree, search.radii, i, [&](std::uint32_t j) {
    const std::uint32_t other = tree.ids[j];
    if (at < search.capacity) {
      search.pairs[at] = id < other ? body_pair{id, other} : body_pair{other, id};
    }
    ++at;
  });
}

}  // namespace ramify::detail::nbody::inline RAMIFY_BUILD
