// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Spatial trees of many clouds, which the threads of a kernel build, and their check.

#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <ramify/runtime/call_arena.cuh>
#include <ramify/spatial_tree/calls.cuh>
#include <vector>

#include "../spatial_tree/spatial_tree_checks.cuh"
#include "called_sorts.cuh"

namespace tests::inline RAMIFY_BUILD {
namespace calls {

using octrees = spatial_tree_calls<float, 3>;
using quadtrees = spatial_tree_calls<double, 2>;
using build_plans = call_plans<octrees, quadtrees, sorts>;
using build_environment = kernel_environment<build_plans>;

inline constexpr unsigned small_leaf = 4;

/// One call: its points, and where it builds the tree.
template <class Real, int dim>
struct called_cloud {
  const point<Real, dim>* points;
  std::size_t n;
  called_tree<Real, dim> tree;
  unsigned leaf_size = small_leaf;
};

/// Checks a tree: the continuation of a call, with any number of threads. The points of each node
/// are in its box, and those of its children are its own.
template <class Real, int dim>
__global__ void check_nodes(spatial_tree_view<Real, dim> tree, std::size_t n, unsigned leaf_size,
                            call_log* log) {
  unsigned faults = tree.points_built() != n || (tree.nodes_built() == 0) != (n == 0) ? 1 : 0;
  for (std::uint32_t i = threadIdx.x; i < tree.nodes_built(); i += blockDim.x) {
    const auto& node = tree.nodes[i];
    for (std::uint32_t p = node.begin; p < node.end; ++p) {
      for (int axis = 0; axis < dim; ++axis) {
        const Real x = tree.points[p].x[axis];
        if (x < node.bounds.lower.x[axis] || x > node.bounds.upper.x[axis]) ++faults;
      }
    }
    if (node.is_leaf() ? node.size() > leaf_size
                       : tree.nodes[node.first_child].begin != node.begin) {
      ++faults;
    }
  }
  if (faults != 0) atomicAdd(&log->faults, faults);
  if (threadIdx.x == 0) atomicAdd(&log->runs, 1u);
}

template <class Real, int dim>
__global__ void call_builds(const called_cloud<Real, dim>* clouds, unsigned count, call_log* logs,
                            bool refuses, build_environment calls) {
  const traced here(calls.trace, __func__);
  const unsigned threads = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
    const called_cloud<Real, dim> cloud = clouds[i];
    const auto how = refuses ? calls.or_refuse() : calls;
    const call_status status =
        ramify::build_spatial_tree(cloud.points, cloud.n, cloud.tree,
                                   how.then(check_nodes<Real, dim>, {1, 64}, cloud.tree.view(),
                                            cloud.n, cloud.leaf_size, logs + i));
    logs[i].status = static_cast<unsigned>(status) + 1;
  }
}

/// Returns the tree that a view has, without its report.
template <class Real, int dim>
built_tree<Real, dim> download_called(spatial_tree_view<Real, dim> view) {
  const published_tree built = download_array(view.built, 1)[0];
  view.node_count = built.nodes;
  view.point_count = built.points;
  view.built = nullptr;
  return download_tree(view);
}

inline spatial_tree_options small_blocks() { return many_grids(small_leaf); }

/// The clouds of many calls, and their trees.
template <class Real, int dim>
class called_builds {
 public:
  called_builds(const std::vector<std::size_t>& sizes, std::uint64_t seed,
                const spatial_tree_options& options = small_blocks())
      : options_(options) {
    for (const std::size_t n : sizes) {
      const cloud kind = all_clouds[(hosts_.size() + seed) % std::size(all_clouds)];
      hosts_.push_back(make_cloud<Real, dim>(kind, n, seed));
      points_.push_back(upload_points<Real, dim>(hosts_.back()));
      const std::size_t bytes = called_tree<Real, dim>::bytes(n, 2 * n);
      const auto& memory = memory_.emplace_back(bytes, nullptr);
      clouds_.push_back({points_.back().data(), n, {memory.data(), n, 2 * n}, options.leaf_size});
    }
    device_clouds_ = upload(clouds_);
    logs_ = zeros<call_log>(clouds_.size());
  }

  [[nodiscard]] unsigned count() const { return static_cast<unsigned>(clouds_.size()); }
  [[nodiscard]] const called_cloud<Real, dim>* clouds() const { return device_clouds_.data(); }
  [[nodiscard]] call_log* logs() const { return logs_.data(); }

  void call(const build_environment& environment, bool refuses = false,
            cudaStream_t stream = nullptr) const {
    check(launch(call_builds<Real, dim>, {4, 32}, stream, clouds(), count(), logs(), refuses,
                 environment)
              .code(),
          "launching the kernel that calls");
  }

  /// Overwrites the trees, and what happened to the calls, in the order of the stream.
  void forget(cudaStream_t stream) const {
    const auto overwrite = [&](const auto& array, int byte) {
      check(cudaMemsetAsync(array.data(), byte, array.size() * sizeof *array.data(), stream),
            "overwriting an array");
    };
    for (const auto& memory : memory_) overwrite(memory, 0x7f);
    overwrite(logs_, 0);
  }

  /// Returns how many calls have each status, after a check that all others have built the trees
  /// that the host builds.
  std::vector<unsigned> check_all() const {
    const std::vector<call_log> log = download(logs_);
    std::vector<unsigned> statuses(3);
    for (unsigned i = 0; i < count(); ++i) {
      const bool refused = count_status(log[i], statuses);
      BOOST_TEST(log[i].runs == (refused ? 0u : 1u));
      BOOST_TEST(log[i].faults == 0u);
      if (refused) continue;
      BOOST_TEST_CONTEXT("call " << i << " of " << clouds_[i].n << " points") {
        const auto built = download_called(clouds_[i].tree.view());
        const auto expected = build_tree<Real, dim>(hosts_[i], options_);
        BOOST_TEST(same_tree(built, expected));
      }
    }
    return statuses;
  }

 private:
  spatial_tree_options options_;
  std::vector<point_list<Real, dim>> hosts_;
  std::vector<device_buffer<point<Real, dim>>> points_;
  std::vector<device_buffer<std::byte>> memory_;
  std::vector<called_cloud<Real, dim>> clouds_;
  device_buffer<called_cloud<Real, dim>> device_clouds_;
  device_buffer<call_log> logs_;
};

}  // namespace calls
}  // namespace tests::inline RAMIFY_BUILD
