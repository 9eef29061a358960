// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// DBSCAN by query(): the clusters of find_clusters(), by three queries with callbacks. It shows
/// how an algorithm is composed; find_clusters() does not visit pairs within dense regions, and is
/// faster.

#include <ramify/runtime/check.cuh>
#include <ramify/runtime/disjoint_sets.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/spatial_tree.cuh>

namespace examples::inline RAMIFY_BUILD {

using ramify::spatial_match;

/// Counts the points in each ball, up to `enough`, and ends the query there.
struct count_up_to {
  std::uint32_t* counts;
  std::uint32_t enough;

  __device__ std::uint32_t begin(std::uint32_t) const { return 0; }
  __device__ ramify::query_control operator()(std::uint32_t& count,
                                              const spatial_match<float>&) const {
    return ++count < enough ? ramify::query_control::proceed : ramify::query_control::stop;
  }
  __device__ void end(std::uint32_t q, std::uint32_t count) const { counts[q] = count; }
};

/// The data of a search for clusters. Points with `enough` points in their ball are core points.
struct dbscan_arrays {
  std::uint32_t* counts;
  std::uint32_t enough;
  ramify::disjoint_sets sets;  ///< of the points
  std::uint32_t* labels;

  [[nodiscard]] __device__ bool is_core(std::uint32_t i) const { return counts[i] >= enough; }
};

/// Unites two core points.
struct unite_cores : dbscan_arrays {
  __device__ void operator()(const spatial_match<float>& m) const {
    if (is_core(m.query) && is_core(m.point)) sets.unite(m.query, m.point);
  }
};

/// Gives a point that is not core the least label of the core points in its ball.
struct label_border : dbscan_arrays {
  __device__ void operator()(const spatial_match<float>& m) const {
    if (is_core(m.query) == is_core(m.point)) return;
    const std::uint32_t core = is_core(m.query) ? m.query : m.point;
    const std::uint32_t border = is_core(m.query) ? m.point : m.query;
    atomicMin(&labels[border], sets.root_of(core));
  }
};

/// Each point is a set, before the sets are united.
template <class Arrays>
__global__ void begin_sets(Arrays all, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) all.sets.parents[i] = i;
}
/// The label of a core point is the least index in its set. Other points have none yet.
template <class Arrays>
__global__ void label_cores(Arrays all, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) all.labels[i] = all.is_core(i) ? all.sets.root_of(i) : ramify::no_cluster;
}

/// Writes the label of each point: the least index of a core point of its cluster, or no_cluster.
template <int dim>
void dbscan(const ramify::point<float, dim>* points, unsigned n, float radius,
            std::uint32_t min_points, std::uint32_t* labels) {
  const ramify::spatial_tree tree(points, n);
  const ramify::device_buffer<std::uint32_t> counts(n, nullptr);
  const ramify::device_buffer<unsigned> parents(n, nullptr);
  const dbscan_arrays all{counts.data(), min_points, {parents.data()}, labels};
  const auto run_each = [&](auto kernel) {
    ramify::check(ramify::launch(kernel, {(n + 127) / 128, 128}, nullptr, all, n).code(), "dbscan");
  };
  query(tree.view(), ramify::in_balls(points, n, radius), count_up_to{counts.data(), min_points});
  run_each(begin_sets<dbscan_arrays>);
  query(tree.view(), ramify::pairs_within{radius}, unite_cores{all});
  run_each(label_cores<dbscan_arrays>);
  query(tree.view(), ramify::pairs_within{radius}, label_border{all});
}

}  // namespace examples::inline RAMIFY_BUILD
