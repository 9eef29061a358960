// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// spatial_tree for CUDA code: a quadtree or octree with tight boxes over points in device memory.
///
///     const ramify::spatial_tree tree(points, n, stream);        // point<float, 3>* in device memory
///     kernel<<<...>>>(tree.view());                              // or ramify/spatial_queries.cuh
///     std::cout << tree.report();
///
/// Compiled by nvcc it is built on the GPU, by grids that launch grids if -rdc=true is given and by
/// flat ones otherwise; compiled by a C++ compiler, on the CPU executor. For host memory, or for code
/// that never sees nvcc, there is the facade <ramify/spatial_tree.hpp>.
///
/// Points     n < 2^31 finite ones, of float or double, in two or three dimensions, in any unit and
///            order. The tree has its own copy; the caller's array is only read.
/// Tree       the points along the Z curve (31 bits an axis in 2D, 21 in 3D); nodes with 2 to 4, or
///            8, children, and leaves of at most config.leaf_size points. Any input gives a tree of
///            bounded depth (47 in 2D, 32 in 3D), also points that are all equal. What the nodes
///            are, and the order of the points, depends on the points and on leaf_size alone; which
///            index a node has may change from run to run.
/// Memory     of the tree, of 3D floats: 16 bytes a point and 44 a node; a uniform cloud has between
///            1 / leaf_size and 8 / leaf_size nodes a point. While it is built: 32 bytes a point for
///            the sort and 384 / leaf_size for nodes; clouds with more nodes than that are built
///            again, with room for two nodes a point. From Ramify's stream-ordered pool.
/// Stream     work before in the stream is ordered with the build. The constructor waits. The tree's
///            memory is freed in that stream, which must live as long as the tree.
/// Launches   a grid for each node of more than config.block_points points; those that find no
///            launch slot run in flat grids, one a level. And the sort's, and four more.
/// Errors     std::invalid_argument for a bad argument, and for a NaN or an infinity, naming the
///            first point that has one; unavailable if the device route is asked for without
///            -rdc=true; cuda_error, device_launch_error.
/// Complexity O(n log n) for the sort, O(n) for the rest unless points huddle in few cells.
/// Source     Morton, 1966; Warren and Salmon, 1993; boxes from the leaves up: Karras, 2012.
/// Not for    a few hundred points, where brute force is quicker; more than three dimensions.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ramify/quicksort.cuh>
#include <ramify/runtime/recursion.cuh>
#include <ramify/spatial_tree/build.cuh>
#include <ramify/spatial_tree/config.hpp>
#include <ramify/spatial_tree/extent.cuh>
#include <ramify/spatial_tree/summarize.cuh>
#include <stdexcept>
#include <string>
#include <utility>

namespace ramify::inline RAMIFY_BUILD {

/// The boxes of all nodes, as a fold for summarize().
template <class Real, int dim>
struct box_fold {
  const point<Real, dim>* points;
  spatial_node<Real, dim>* nodes;

  __device__ box<Real, dim> of_point(std::uint32_t i) const {
    return box<Real, dim>::of(points[i]);
  }
  __device__ box<Real, dim> combine(const box<Real, dim>& a, const box<Real, dim>& b) const {
    return box<Real, dim>::around(a, b);
  }
  __device__ box<Real, dim>& at(std::uint32_t node) const { return nodes[node].bounds; }
};

/// Move-only; moved-from it is empty.
template <class Real, int dim>
class spatial_tree {
  using node = spatial_node<Real, dim>;
  using context = build_context<Real, dim>;
  using grids = recursion<siblings, context>;

 public:
  /// A tree over nothing.
  spatial_tree() = default;

  /// Builds the tree over n points, and waits for `stream`.
  spatial_tree(const point<Real, dim>* points, std::size_t n, cudaStream_t stream = nullptr,
               const spatial_tree_config& config = {}) {
    validate(config);
    if (n > spatial_shape<dim>::most_points) {
      throw std::invalid_argument("spatial_tree: n is " + std::to_string(n) +
                                  "; it must be less than 2^31");
    }
    static_cast<run_report&>(report_) = report_of_this_build();
    report_.points = n;
    const std::size_t limit = *current_launch_limits().pending_launches;
    const route_choice choice = choose_route(config.route, limit, 1, plans_for(n, config), stream);
    report_.taken = choice.taken;
    report_.route_reason = choice.reason;
    report_.pending_launch_limit = limit;
    if (n == 0) return;
    check_device_access(points, "spatial_tree: points");

    // 1. The extent, which tells bad points as well.
    trace_recorder recorder(config.trace, stream);
    const trace_ticket ticket = recorder.ticket();
    const auto extent = checked_extent(points, n, "spatial_tree: points", stream, ticket);
    ++report_.host_grids;
    // 2. The order along the Z curve.
    const device_buffer<z_place> places(n, stream);
    sort_points(points, places.data(), z_curve<dim>(extent.bounds), stream, config, ticket);
    // 3. The nodes. A cloud whose nodes did not find room is built again: of n points, each in a
    //    leaf, and with two children or more for every inner node, come less than 2n nodes.
    report_.scratch_bytes += places.size() * sizeof(z_place);
    const std::size_t most_nodes = 2 * n;
    const std::size_t usual_nodes = std::min(most_nodes, 8 * n / config.leaf_size + 1024);
    if (!build_nodes(places.data(), usual_nodes, choice, stream, config)) {
      build_nodes(places.data(), most_nodes, choice, stream, config);
    }
    // 4. Their boxes.
    report_.host_grids +=
        summarize(view(), box_fold<Real, dim>{points_.data(), nodes_.data()}, stream, ticket);
    check(cudaStreamSynchronize(stream), "waiting for the tree");
    recorder.read();
  }

  spatial_tree(spatial_tree&& other) noexcept { swap(other); }
  spatial_tree& operator=(spatial_tree other) noexcept {
    swap(other);
    return *this;
  }

  /// For kernels, as long as the tree lives.
  [[nodiscard]] spatial_tree_view<Real, dim> view() const {
    return {nodes_.data(),
            points_.data(),
            ids_.data(),
            parents_.data(),
            static_cast<std::uint32_t>(nodes_.size()),
            static_cast<std::uint32_t>(points_.size())};
  }

  [[nodiscard]] const spatial_tree_report& report() const { return report_; }

 private:
  void swap(spatial_tree& other) noexcept {
    std::swap(nodes_, other.nodes_);
    std::swap(points_, other.points_);
    std::swap(ids_, other.ids_);
    std::swap(parents_, other.parents_);
    std::swap(report_, other.report_);
  }

  static route_plans plans_for(std::size_t n, const spatial_tree_config& config) {
    const double tasks = double(n) / config.block_points + 1;
    // Below the root's grid, which the host launches on either route. Flat: it reads the list and the
    // status back for each level. Device: a grid for each large node, 0.27 us each though many are
    // launched at a time: 10^7 points took 1.25 ms longer (H200).
    const double levels = std::log2(tasks) / dim;
    route_plan device = plan_of_levels(levels, config.streams);
    device.host_launches = 1;  // the drain
    device.extra_us = 0.27 * tasks;
    return {{.host_launches = levels, .host_round_trips = 2 * levels}, device, route::flat};
  }

  void sort_points(const point<Real, dim>* points, z_place* places, const z_curve<dim>& curve,
                   cudaStream_t stream, const spatial_tree_config& config,
                   const trace_ticket& trace) {
    const auto n = static_cast<std::uint32_t>(report_.points);
    constexpr unsigned threads = 256;
    const unsigned blocks = (n - 1) / threads + 1;
    check(launch(find_places<Real, dim>, {blocks, threads}, stream, points, n, curve, places, trace)
              .code(),
          "finding the points' places");
    const run_report sort = quicksort(places, n, z_place::before{}, stream,
                                      {.route = config.route, .trace = config.trace});
    add_part(report_, sort, "the sort");
    report_.scratch_bytes += sort.scratch_bytes;
    points_ = device_buffer<point<Real, dim>>(n, stream);
    ids_ = device_buffer<std::uint32_t>(n, stream);
    check(launch(gather_points<Real, dim>, {blocks, threads}, stream, points, n, places,
                 points_.data(), ids_.data(), trace)
              .code(),
          "ordering the points");
    report_.host_grids += 2;
  }

  /// Builds the nodes without their boxes; false if there are more than `capacity`.
  bool build_nodes(const z_place* places, std::size_t capacity, const route_choice& choice,
                   cudaStream_t stream, const spatial_tree_config& config) {
    const auto n = static_cast<std::uint32_t>(report_.points);
    const unsigned block_points =
        std::min(config.block_points, context::queue_size * (config.leaf_size + 1));
    // Tasks of which none descends from another have parents of more than block_points points each.
    const std::size_t most_tasks = n / block_points + 1;
    memory_layout sizing(nullptr);
    lay_out(sizing, capacity, most_tasks);
    const device_buffer<std::byte> scratch(sizing.size(), stream);
    memory_layout memory(scratch.data());
    const parts made = lay_out(memory, capacity, most_tasks);

    node root{};
    root.end = n;
    const unsigned long long one = 1;
    const auto write = [&](auto* to, const auto& from) {
      check(cudaMemcpyAsync(to, &from, sizeof from, cudaMemcpyHostToDevice, stream),
            "writing the root");
    };
    write(made.nodes, root);
    write(made.node_count, one);
    write(made.parents, std::uint32_t{0});
    check(cudaMemsetAsync(made.arrived, 0, capacity * sizeof(unsigned), stream),
          "clearing the tasks' counters");

    run_control control(made.control, choice, report_.pending_launch_limit, stream, config.trace);
    grids run(made.lists, most_tasks, control, context::threads, 0,
              control.on_device_route() ? config.streams : child_streams::fire_and_forget,
              context{places, made.nodes, made.parents, made.arrived, made.node_count, capacity,
                      config.leaf_size, block_points});
    run.start({0, 1}, 1);
    run.finish();
    control.read_trace();
    add_part(report_, control.report());
    report_.scratch_bytes += scratch.size();

    unsigned long long count = 0;
    copy(&count, made.node_count, 1, cudaMemcpyDeviceToHost, stream);
    check(cudaStreamSynchronize(stream), "waiting for the nodes");
    if (count > capacity) return false;
    report_.nodes = count;
    nodes_ = device_buffer<node>(count, stream);
    parents_ = device_buffer<std::uint32_t>(count, stream);
    copy(nodes_.data(), made.nodes, count, cudaMemcpyDeviceToDevice, stream);
    copy(parents_.data(), made.parents, count, cudaMemcpyDeviceToDevice, stream);
    return true;
  }

  struct parts {
    node* nodes;
    std::uint32_t* parents;
    unsigned* arrived;
    unsigned long long* node_count;
    std::byte* lists;
    std::byte* control;
  };

  static parts lay_out(memory_layout& memory, std::size_t capacity, std::size_t most_tasks) {
    parts p;
    p.nodes = memory.take<node>(capacity);
    p.parents = memory.take<std::uint32_t>(capacity);
    p.arrived = memory.take<unsigned>(capacity);
    p.node_count = memory.take<unsigned long long>(1);
    p.lists = memory.take<std::byte>(grids::scratch_bytes(most_tasks));
    p.control = memory.take<std::byte>(run_control::scratch_bytes);
    return p;
  }

  template <class T>
  static void copy(T* to, const T* from, std::size_t count, cudaMemcpyKind kind,
                   cudaStream_t stream) {
    check(cudaMemcpyAsync(to, from, count * sizeof(T), kind, stream), "copying a tree's nodes");
  }

  device_buffer<node> nodes_;
  device_buffer<point<Real, dim>> points_;
  device_buffer<std::uint32_t> ids_;
  device_buffer<std::uint32_t> parents_;
  spatial_tree_report report_;
};

}  // namespace ramify::inline RAMIFY_BUILD
