// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// spatial_tree for CUDA code: a quadtree or octree with tight boxes over points in device memory.
///
///     const ramify::spatial_tree tree(points, n, stream);    // point<float, 3>* in device memory
///     radius_count(tree.view(), queries, m, radius, counts, stream);   // spatial_tree/queries.cuh
///     kernel<<<...>>>(tree.view());                          // or a kernel of the caller
///     std::cout << tree.report();
///
/// nvcc compiles the build for the GPU: grids launch grids if -rdc=true is given, and flat grids
/// are launched otherwise. A C++ compiler compiles it for the CPU executor. For host memory, and
/// for code that is not compiled by nvcc, include the facade <ramify/spatial_tree.hpp>.
///
/// Points     n < 2^31 finite points of float or double, in two or three dimensions, in any unit
///            and order. The tree has its own copy; the caller's array is only read.
/// Tree       the points sorted by Morton code (31 bits per axis in 2D, 21 in 3D); inner nodes with
///            2 to 4, or 8, children; leaves of at most config.leaf_size points. The depth is
///            bounded for any input (47 levels in 2D, 32 in 3D), also if all points are equal. The
///            nodes and the order of the points depend on the points and on leaf_size alone. The
///            index of a node may change from run to run.
/// Memory     of the tree, for 3D floats: 16 bytes per point and 44 per node. A uniform cloud has
///            between 1 / leaf_size and 8 / leaf_size nodes per point. During the build: 32 bytes
///            per point for the sort, and 384 / leaf_size for nodes. A cloud with more nodes is
///            built again, with memory for two nodes per point. All memory comes from Ramify's
///            stream-ordered pool.
/// Stream     earlier work in the stream is ordered before the build. The constructor waits for the
///            stream. The tree's memory is freed in that stream, which must outlive the tree.
/// Launches   one grid per node of more than config.block_points points. Nodes that find no launch
///            slot run in flat grids, one per level. In addition the grids of the sort, and four
///            more.
/// Errors     std::invalid_argument for a bad argument, and for a NaN or an infinity (the message
///            names the first such point); unavailable if the device route is requested without
///            -rdc=true; cuda_error, device_launch_error.
/// Complexity O(n log n) for the sort; O(n) for the rest, unless many points share few cells.
/// Source     Morton, 1966; Warren and Salmon, 1993; boxes computed bottom-up: Karras, 2012.
/// Not for    a few hundred points, for which brute force is faster; more than three dimensions.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ramify/quicksort.cuh>
#include <ramify/runtime/recursion.cuh>
#include <ramify/spatial_tree/bounds.cuh>
#include <ramify/spatial_tree/build.cuh>
#include <ramify/spatial_tree/config.hpp>
#include <ramify/spatial_tree/queries.cuh>
#include <ramify/spatial_tree/reduce_bottom_up.cuh>
#include <stdexcept>
#include <string>
#include <utility>

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// The Fold for reduce_bottom_up() that computes the boxes of all nodes.
template <class Real, int dim>
struct box_fold {
  const point<Real, dim>* points;
  spatial_node<Real, dim>* nodes;

  __device__ box<Real, dim> of_point(std::uint32_t i) const {
    return box<Real, dim>::of(points[i]);
  }
  __device__ box<Real, dim> combine(const box<Real, dim>& a, const box<Real, dim>& b) const {
    return box<Real, dim>::enclosing(a, b);
  }
  __device__ box<Real, dim>& at(std::uint32_t node) const { return nodes[node].bounds; }
};

/// Scratch memory of a build.
template <class Real, int dim>
struct build_scratch {
  using grids = recursion<siblings, build_context<Real, dim>>;

  spatial_node<Real, dim>* nodes;
  std::uint32_t* parents;
  unsigned* arrived;
  unsigned long long* node_count;
  std::byte* lists;
  std::byte* control;

  build_scratch(memory_layout& memory, std::size_t capacity, std::size_t max_tasks)
      : nodes(memory.take<spatial_node<Real, dim>>(capacity)),
        parents(memory.take<std::uint32_t>(capacity)),
        arrived(memory.take<unsigned>(capacity)),
        node_count(memory.take<unsigned long long>(1)),
        lists(memory.take<std::byte>(grids::scratch_bytes(max_tasks))),
        control(memory.take<std::byte>(run_control::scratch_bytes)) {}

  /// Writes the root over `n` points, and clears the counters.
  void initialize(std::uint32_t n, std::size_t capacity, cudaStream_t stream) const {
    spatial_node<Real, dim> root{};
    root.end = n;
    const auto write = [&](auto* to, const auto& from) {
      check(cudaMemcpyAsync(to, &from, sizeof from, cudaMemcpyHostToDevice, stream),
            "writing the root");
    };
    const unsigned long long one = 1;
    write(nodes, root);
    write(node_count, one);
    write(parents, std::uint32_t{0});
    check(cudaMemsetAsync(arrived, 0, capacity * sizeof(unsigned), stream),
          "clearing the tasks' counters");
  }
};

/// Copies nodes, or properties of nodes. Asynchronous. \throws cuda_error
template <class T>
void copy_nodes(T* to, const T* from, std::size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  check(cudaMemcpyAsync(to, from, count * sizeof(T), kind, stream), "copying a tree's nodes");
}

/// The launches and waits of a build of `n` points on each route. Both exclude the root's grid,
/// which the host launches on either route.
inline route_plans plans_of_build(std::size_t n, int dim, const spatial_tree_config& config) {
  // Flat: the host reads the list and the status back for each level. Device: one grid per large
  // node, 0.27 us each, although many launches overlap: 10^7 points took 1.25 ms longer (H200).
  const double tasks = double(n) / config.block_points + 1;
  const double levels = std::log2(tasks) / dim;
  route_plan device = plan_of_levels(levels, config.streams);
  device.host_launches = 1;  // the drain
  device.extra_us = 0.27 * tasks;
  return {{.host_launches = levels, .host_round_trips = 2 * levels}, device, route::flat};
}

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// A tree over points in device memory. Move-only; a moved-from tree is empty.
template <class Real, int dim>
class spatial_tree {
  using node = spatial_node<Real, dim>;
  using context = detail::spatial_tree::build_context<Real, dim>;
  using morton_code = detail::spatial_tree::morton_code;
  using scratch_arrays = detail::spatial_tree::build_scratch<Real, dim>;

 public:
  /// Makes an empty tree, without any allocation.
  spatial_tree() = default;

  /// Builds the tree over n points.
  /// \param points  n points in device, managed or pinned memory, which are only read
  /// \param stream  the stream of the build, which must outlive the tree
  /// Waits for `stream`.
  /// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error
  spatial_tree(const point<Real, dim>* points, std::size_t n, cudaStream_t stream = nullptr,
               const spatial_tree_config& config = {}) {
    validate(config);
    if (n > spatial_shape<dim>::max_points) {
      throw std::invalid_argument("spatial_tree: n is " + std::to_string(n) +
                                  "; it must be less than 2^31");
    }
    static_cast<run_report&>(report_) = report_of_this_build();
    report_.points = n;
    const std::size_t limit = *current_launch_limits().pending_launches;
    const route_choice choice = choose_route(
        config.route, limit, 1, detail::spatial_tree::plans_of_build(n, dim, config), stream);
    report_.taken = choice.taken;
    report_.route_reason = choice.reason;
    report_.pending_launch_limit = limit;
    if (n == 0) return;
    check_device_access(points, "spatial_tree: points");

    // 1. Compute the bounds, and check that all points are finite.
    detail::runtime::trace_recorder recorder(config.trace, stream);
    const trace_ticket ticket = recorder.ticket();
    const auto bounds = checked_bounds(points, n, "spatial_tree: points", stream, ticket);
    ++report_.host_grids;
    // 2. Sort the points by Morton code.
    const device_buffer<morton_code> codes(n, stream);
    report_.scratch_bytes += codes.size() * sizeof(morton_code);
    sort_points(points, codes.data(), detail::spatial_tree::morton_encoder<dim>(bounds), stream,
                config, ticket);
    // 3. Build the nodes. If the array was too small, build them again. There are n points, at
    //    least one in each leaf, and every inner node has two or more children: less than 2n nodes.
    const std::size_t max_nodes = 2 * n;
    const std::size_t usual_nodes = std::min(max_nodes, 8 * n / config.leaf_size + 1024);
    if (!build_nodes(codes.data(), usual_nodes, choice, stream, config)) {
      build_nodes(codes.data(), max_nodes, choice, stream, config);
    }
    // 4. Compute the boxes of the nodes.
    report_.host_grids += reduce_bottom_up(
        view(), detail::spatial_tree::box_fold<Real, dim>{points_.data(), nodes_.data()}, stream,
        ticket);
    check(cudaStreamSynchronize(stream), "waiting for the tree");
    recorder.read();
  }

  spatial_tree(spatial_tree&& other) noexcept { swap(other); }
  spatial_tree& operator=(spatial_tree other) noexcept {
    swap(other);
    return *this;
  }

  /// Returns the argument for kernels and queries. It is valid as long as this object lives.
  [[nodiscard]] spatial_tree_view<Real, dim> view() const {
    return {nodes_.data(),
            points_.data(),
            ids_.data(),
            parents_.data(),
            static_cast<std::uint32_t>(nodes_.size()),
            static_cast<std::uint32_t>(points_.size())};
  }

  /// Returns the report of the build.
  [[nodiscard]] const spatial_tree_report& report() const { return report_; }

 private:
  void swap(spatial_tree& other) noexcept {
    std::swap(nodes_, other.nodes_);
    std::swap(points_, other.points_);
    std::swap(ids_, other.ids_);
    std::swap(parents_, other.parents_);
    std::swap(report_, other.report_);
  }

  /// Writes the sorted codes, and fills points_ and ids_.
  void sort_points(const point<Real, dim>* points, morton_code* codes,
                   const detail::spatial_tree::morton_encoder<dim>& encoder, cudaStream_t stream,
                   const spatial_tree_config& config, const trace_ticket& trace) {
    const auto n = static_cast<std::uint32_t>(report_.points);
    constexpr unsigned threads = 256;
    const unsigned blocks = (n - 1) / threads + 1;
    check(launch(detail::spatial_tree::encode_points<Real, dim>, {blocks, threads}, stream, points,
                 n, encoder, codes, trace)
              .code(),
          "computing the Morton codes");
    const run_report sort = quicksort(codes, n, typename morton_code::less{}, stream,
                                      {.route = config.route, .trace = config.trace});
    add_part(report_, sort, "the sort");
    report_.scratch_bytes += sort.scratch_bytes;
    points_ = device_buffer<point<Real, dim>>(n, stream);
    ids_ = device_buffer<std::uint32_t>(n, stream);
    check(launch(detail::spatial_tree::gather_points<Real, dim>, {blocks, threads}, stream, points,
                 n, codes, points_.data(), ids_.data(), trace)
              .code(),
          "ordering the points");
    report_.host_grids += 2;
  }

  /// Builds the nodes without their boxes. Returns false if there are more than `capacity`.
  bool build_nodes(const morton_code* codes, std::size_t capacity, const route_choice& choice,
                   cudaStream_t stream, const spatial_tree_config& config) {
    const auto n = static_cast<std::uint32_t>(report_.points);
    const unsigned block_points =
        std::min(config.block_points, context::queue_size * (config.leaf_size + 1));
    // Tasks that wait at the same time have different parents, of which none is an ancestor of
    // another. Each parent has more than block_points points.
    const std::size_t max_tasks = n / block_points + 1;
    memory_layout sizing(nullptr);
    static_cast<void>(scratch_arrays(sizing, capacity, max_tasks));
    const device_buffer<std::byte> scratch(sizing.size(), stream);
    memory_layout memory(scratch.data());
    const scratch_arrays arrays(memory, capacity, max_tasks);
    arrays.initialize(n, capacity, stream);

    run_control control(arrays.control, choice, report_.pending_launch_limit, stream, config.trace);
    typename scratch_arrays::grids run(
        arrays.lists, max_tasks, control, context::threads, 0,
        control.on_device_route() ? config.streams : child_streams::fire_and_forget,
        context{codes, arrays.nodes, arrays.parents, arrays.arrived, arrays.node_count, capacity,
                config.leaf_size, block_points});
    run.start({0, 1}, 1);
    run.finish();
    control.read_trace();
    add_part(report_, control.report());
    report_.scratch_bytes += scratch.size();
    return copy_tree(arrays, capacity, stream);
  }

  /// Allocates nodes_ and parents_ and copies the nodes. Returns false if there are more than
  /// `capacity`.
  bool copy_tree(const scratch_arrays& arrays, std::size_t capacity, cudaStream_t stream) {
    using detail::spatial_tree::copy_nodes;
    unsigned long long count = 0;
    copy_nodes(&count, arrays.node_count, 1, cudaMemcpyDeviceToHost, stream);
    check(cudaStreamSynchronize(stream), "waiting for the nodes");
    if (count > capacity) return false;
    report_.nodes = count;
    nodes_ = device_buffer<node>(count, stream);
    parents_ = device_buffer<std::uint32_t>(count, stream);
    copy_nodes(nodes_.data(), arrays.nodes, count, cudaMemcpyDeviceToDevice, stream);
    copy_nodes(parents_.data(), arrays.parents, count, cudaMemcpyDeviceToDevice, stream);
    return true;
  }

  device_buffer<node> nodes_;
  device_buffer<point<Real, dim>> points_;
  device_buffer<std::uint32_t> ids_;
  device_buffer<std::uint32_t> parents_;
  spatial_tree_report report_;
};

}  // namespace ramify::inline RAMIFY_BUILD
