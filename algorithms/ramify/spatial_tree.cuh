// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// spatial_tree for CUDA code: a quadtree or octree with tight boxes over points in device memory.
///
///     const ramify::spatial_tree tree(points, n, stream);    // point<float, 3>* in device memory
///     radius_count(tree.view(), queries, m, radius, counts, stream);   // spatial_tree/queries.cuh
///     find_clusters(tree.view(), radius, labels, stream);    // spatial_tree/clusters.cuh
///     kernel<<<...>>>(tree.view());                          // or a kernel of the caller
///     std::cout << tree.report();
///
///     auto run = ramify::spatial_tree_async(points, n, stream);        // does not wait
///     const auto tree = run.get();                                     // waits
///
/// nvcc compiles the build for the GPU: grids launch grids if -rdc=true is given, and flat grids
/// are launched otherwise. A C++ compiler compiles it for the CPU executor. For host memory, and
/// for code that is not compiled by nvcc, include the facade <ramify/spatial_tree.hpp>.
///
/// Points     n < 2^31 finite points of float or double, in two or three dimensions, in any unit
///            and order, and of any magnitude (queries.cuh, Range). The tree has its own copy; the
///            caller's array is only read.
/// Tree       the points sorted by Morton code (31 bits per axis in 2D, 21 in 3D); inner nodes with
///            2 to 4, or 8, children; leaves of at most config.leaf_size points. The depth is
///            bounded for any input (47 levels in 2D, 32 in 3D), also if all points are equal. The
///            nodes and the order of the points depend on the points and on leaf_size alone. The
///            index of a node may change from run to run.
/// Memory     of the tree, for 3D floats: 16 bytes per point and 52 per node. A uniform cloud has
///            between 1 / leaf_size and 8 / leaf_size nodes per point. During the build: 24 bytes
///            per point for the sort (CPU executor: 34), and 384 / leaf_size for nodes. A cloud
///            with more nodes is built again, with memory for two nodes per point. All memory comes
///            from Ramify's stream-ordered pool, or from the caller: spatial_tree_scratch_bytes()
///            and spatial_tree_bytes() return the sizes.
/// Stream     earlier work in the stream is ordered before the build. The constructor waits for the
///            stream. spatial_tree_async() does not, except for the first automatic route on a GPU,
///            which measures launches (see choose_route()). The tree's memory is freed in that
///            stream, which must outlive the tree.
/// Graphs     spatial_tree_async() can be captured into a CUDA graph on either route, if all memory
///            is passed and no trace is recorded. Each launch of the graph builds the tree over the
///            points that the array then has. The flat route becomes a WHILE node, which requires a
///            driver for CUDA 12.4, and not flat_loop::host.
/// Launches   device route: one grid per node of more than config.block_points points. Nodes that
///            get no launch slot run in flat grids, one per level. Flat route: one grid per level;
///            config.flat_loop states what launches it. The host launches the levels of evenly
///            distributed points at once, and reads the sizes of further levels. In addition, on
///            both routes, six grids and those of the sort: on a GPU they are CUB's, which the
///            report does not count. On a GPU the constructor samples the codes of 2^22 points or
///            more, and waits for the result. If the points are in order already, it does not sort
///            them; if nearly all differ in the upper 32 bits of their codes, it sorts by these.
/// Errors     std::invalid_argument for a bad argument, and for a NaN or an infinity (the message
///            names the first such point), which get() throws; std::length_error if the tree has
///            more nodes than fit in the caller's memory; unavailable if the device route is
///            requested without -rdc=true, and for a capture that is not possible; cuda_error,
///            device_launch_error.
/// Complexity O(n) on a GPU, and O(n log n) for the sort on the CPU executor; the nodes take more
///            if many points share few cells.
/// Source     Morton, 1966; Warren and Salmon, 1993; boxes computed bottom-up: Karras, 2012.
/// Not for    a few hundred points, for which brute force is faster; more than three dimensions.

#include <ramify/runtime/requirements.hpp>

#include <cstddef>
#include <memory>
#include <ramify/spatial_tree/build_run.cuh>
#include <ramify/spatial_tree/clusters.cuh>
#include <ramify/spatial_tree/config.hpp>
#include <ramify/spatial_tree/queries.cuh>
#include <ramify/spatial_tree/reduce_bottom_up.cuh>
#include <stdexcept>
#include <string>
#include <utility>

namespace ramify::inline RAMIFY_BUILD {

template <class Real, int dim>
class spatial_tree_run;

/// A tree over points in device memory. Move-only; a moved-from tree is empty.
template <class Real, int dim>
class spatial_tree {
  using built_tree = detail::spatial_tree::built_tree<Real, dim>;

 public:
  /// Makes an empty tree, without any allocation.
  spatial_tree() = default;

  /// Builds the tree over n points: spatial_tree_async() and get(). Waits for `stream`.
  /// \param points  n points in device, managed or pinned memory, which are only read
  /// \param stream  the stream of the build, which must outlive the tree
  /// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error
  spatial_tree(const point<Real, dim>* points, std::size_t n, cudaStream_t stream = nullptr,
               const spatial_tree_config& config = {})
      : spatial_tree(spatial_tree_run<Real, dim>(points, n, stream, config, {}, {}, true).get()) {}

  spatial_tree(spatial_tree&& other) noexcept : built_(std::exchange(other.built_, {})) {}
  spatial_tree& operator=(spatial_tree other) noexcept {
    std::swap(built_, other.built_);
    return *this;
  }

  /// Returns the argument for kernels and queries. It is valid as long as this object lives, or as
  /// long as the memory that the caller passed for the tree.
  [[nodiscard]] spatial_tree_view<Real, dim> view() const { return built_.view; }

  /// Returns the report of the build.
  [[nodiscard]] const spatial_tree_report& report() const { return built_.report; }

 private:
  friend class spatial_tree_run<Real, dim>;
  explicit spatial_tree(built_tree built) : built_(std::move(built)) {}

  built_tree built_;
};

/// A build that spatial_tree_async() started. Movable; get() of a moved-from run throws
/// std::logic_error. The destructor neither waits for the build nor checks it.
template <class Real, int dim>
class [[nodiscard(
    "call get(): it waits for the build, checks it and returns the tree")]] spatial_tree_run {
 public:
  /// Starts a build; see spatial_tree_async(). If `may_wait`, the call may wait for the stream.
  spatial_tree_run(const point<Real, dim>* points, std::size_t n, cudaStream_t stream,
                   const spatial_tree_config& config, const scratch_memory& scratch,
                   const scratch_memory& tree_memory, bool may_wait = false) {
    validate(config);
    const relaxed_capture_scope relaxed;  // driver queries do not affect a captured stream
    if (n > spatial_shape<dim>::max_points) {
      throw std::invalid_argument("spatial_tree: n is " + std::to_string(n) +
                                  "; it must be less than 2^31");
    }
    if (n > 0) {
      check_device_access(points, "spatial_tree: points");
      check_scratch(tree_memory, build::tree_bytes(n, config), stream, "spatial_tree",
                    "tree_memory");
    }
    detail::run_setup setup("spatial_tree", config, "spatial_tree_config.flat_loop", stream,
                            scratch);
    result_ = detail::result_state(setup.algorithm, setup.captured);
    const route_choice preferred{route::device, "the stream was being captured"};
    const route_plans plans = detail::spatial_tree::plans_of_build(n, dim, config);
    setup.choice = setup.captured ? choose_route(config.route, setup.limit, 1, preferred)
                                  : choose_route(config.route, setup.limit, 1, plans, stream);
    if (n == 0) {
      static_cast<run_report&>(empty_.report) = report_of_this_build(setup.choice);
      empty_.report.pending_launch_limit = setup.limit;
      return;
    }
    if (setup.captured && setup.choice.taken == route::flat) {
      detail::runtime::require_capturable(setup.loop, true);
    }
    setup.prefer_host("the host launches grids in the size of each level");
    run_ = std::make_unique<build>(
        detail::spatial_tree::build_input<Real, dim>{points, static_cast<std::uint32_t>(n), config,
                                                     setup, may_wait && !setup.captured},
        tree_memory);
  }

  /// Waits for the build, completes it if necessary, and returns the tree. Call it once; or, if a
  /// graph captured the build, after each of its launches, or once after several. The tree then
  /// uses the memory that the caller passed.
  /// \throws std::invalid_argument naming the first point that is not finite; std::length_error if
  ///         the tree has more nodes than fit in memory that the caller passed; std::logic_error
  ///         while the stream is being captured, for a further call, and for a moved-from run;
  ///         cuda_error, device_launch_error
  [[nodiscard]] spatial_tree<Real, dim> get() {
    const auto call = result_.begin_get();
    return spatial_tree<Real, dim>(run_ != nullptr ? run_->finish() : std::move(empty_));
  }

  /// Returns the tree for reduce_bottom_up() and for kernels of the caller that are launched into
  /// the stream before get(). They must use view.nodes_built(). It returns 0 if the build needs the
  /// host, or if a point is not finite: then launch these kernels again with the view of get()'s
  /// tree. Unless the caller passed memory for the tree, get() makes this view invalid.
  [[nodiscard]] spatial_tree_view<Real, dim> view() const {
    return run_ == nullptr ? spatial_tree_view<Real, dim>{} : run_->view();
  }

 private:
  using build = detail::spatial_tree::build_run<Real, dim>;

  std::unique_ptr<build> run_;
  detail::spatial_tree::built_tree<Real, dim> empty_;  // over no points
  detail::result_state result_{"spatial_tree"};
};

/// Starts to build the tree over n points, in `stream`. The points and the memory that is passed
/// must exist until get() has returned, and the tree's memory as long as the tree is used.
///
/// \param points       n points in device, managed or pinned memory, which are only read
/// \param stream       the stream of the build, which must outlive the tree
/// \param scratch      memory of spatial_tree_scratch_bytes(); empty: from Ramify's stream-ordered
///                     pool
/// \param tree_memory  memory of spatial_tree_bytes() for the tree; empty: from the pool
/// \throws std::invalid_argument; cuda_error; unavailable if the device route is requested without
///         -rdc=true, for flat_loop::graph if the driver has no loops in graphs, and if the stream
///         is being captured and the host would launch the levels of the flat route
template <class Real, int dim>
spatial_tree_run<Real, dim> spatial_tree_async(const point<Real, dim>* points, std::size_t n,
                                               cudaStream_t stream = nullptr,
                                               const spatial_tree_config& config = {},
                                               scratch_memory scratch = {},
                                               scratch_memory tree_memory = {}) {
  return {points, n, stream, config, scratch, tree_memory};
}

/// Returns the scratch memory that a build over n points needs, in bytes. It depends on the fields
/// `leaf_size`, `block_points` and `max_nodes`. \throws std::invalid_argument, cuda_error
template <class Real, int dim>
[[nodiscard]] std::size_t spatial_tree_scratch_bytes(std::size_t n,
                                                     const spatial_tree_config& config = {}) {
  validate(config);
  return n == 0 ? 0 : detail::spatial_tree::build_run<Real, dim>::scratch_bytes(n, config);
}

/// Returns the memory that a tree over n points with config.max_nodes nodes needs, in bytes.
/// \throws std::invalid_argument
template <class Real, int dim>
[[nodiscard]] std::size_t spatial_tree_bytes(std::size_t n,
                                             const spatial_tree_config& config = {}) {
  validate(config);
  return n == 0 ? 0 : detail::spatial_tree::build_run<Real, dim>::tree_bytes(n, config);
}

}  // namespace ramify::inline RAMIFY_BUILD
