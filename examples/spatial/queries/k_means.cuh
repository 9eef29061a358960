// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// k-means by query() (Lloyd's algorithm): in each iteration a tree is built over the means, and
/// each point finds the nearest one.

#include <ramify/runtime/check.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/spatial_tree.cuh>

namespace examples::inline RAMIFY_BUILD {

/// The points of a mean.
template <int dim>
struct mean_sums {
  double sum[dim];
  unsigned count;
};

/// Adds each point to the sums of its mean, and writes the index of the mean.
template <int dim>
struct add_to_mean {
  const ramify::point<float, dim>* points;
  mean_sums<dim>* sums;
  std::uint32_t* mean_of;

  __device__ void operator()(const ramify::spatial_match<float>& m) const {
    mean_of[m.query] = m.point;
    for (int axis = 0; axis < dim; ++axis) {
      atomicAdd(&sums[m.point].sum[axis], double(points[m.query].x[axis]));
    }
    atomicAdd(&sums[m.point].count, 1u);
  }
};

/// Moves each mean to the center of its points. A mean without points stays.
template <int dim>
__global__ void move_means(ramify::point<float, dim>* means, const mean_sums<dim>* sums,
                           unsigned k) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= k || sums[i].count == 0) return;
  for (int axis = 0; axis < dim; ++axis) {
    means[i].x[axis] = static_cast<float>(sums[i].sum[axis] / sums[i].count);
  }
}

/// Improves k means of n points by some iterations, and writes for each point the index of its mean
/// in the last one.
template <int dim>
void k_means(const ramify::point<float, dim>* points, unsigned n, ramify::point<float, dim>* means,
             unsigned k, unsigned iterations, std::uint32_t* mean_of) {
  const ramify::device_buffer<mean_sums<dim>> sums(k, nullptr);
  for (unsigned i = 0; i < iterations; ++i) {
    ramify::clear_memory(sums.data(), k, nullptr, "clearing the sums");
    const ramify::spatial_tree tree(means, k);
    query(tree.view(), ramify::nearest_to(points, n, 1),
          add_to_mean<dim>{points, sums.data(), mean_of});
    ramify::check(
        ramify::launch(move_means<dim>, {(k + 127) / 128, 128}, nullptr, means, sums.data(), k)
            .code(),
        "k_means");
  }
}

}  // namespace examples::inline RAMIFY_BUILD
