// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// spatial_tree for CUDA code: a quadtree or octree with tight boxes over points in device memory.
///
///     ramify::spatial_tree tree(points, n);                  // point<float, 3>* in device memory
///     radius_count(tree.view(), queries, m, radius, counts);           // spatial_tree/queries.cuh
///     query(tree.view(), in_boxes(boxes, m), callback);      // spatial_tree/query.cuh
///     find_clusters(tree.view(), radius, labels);            // spatial_tree/clusters.cuh
///     kernel<<<...>>>(tree.view());                          // or a kernel of the caller
///     tree.refit(moved);                                     // the points have moved
///     std::cout << tree.report();
///
///     auto run = ramify::spatial_tree_async(points, n, {.stream = stream});   // does not wait
///     const auto tree = run.get();                                            // waits
///
/// nvcc compiles the build for the GPU: grids launch grids if -rdc=true is given, and flat grids
/// are launched otherwise. A C++ compiler compiles it for the CPU executor. For host memory, and
/// for code that is not compiled by nvcc, include the facade <ramify/spatial_tree.hpp>.
///
/// Points     n < 2^31 finite points of float or double, in two or three dimensions, in any unit
///            and order, and of any magnitude (queries.cuh, Range). The tree has its own copy; the
///            caller's array is only read.
/// n          a number, or a device_count: then the memory has the size of the upper bound, one
///            grid more reads the number, and Ramify's quicksort sorts as many codes as there are
///            points. No call waits for a sample of the codes.
/// Tree       the points sorted by Morton code (31 bits per axis in 2D, 21 in 3D); inner nodes with
///            2 to 4, or 8, children; leaves of at most options.leaf_size points. The depth is
///            bounded for any input (47 levels in 2D, 32 in 3D), also if all points are equal. The
///            nodes and the order of the points depend on the points and on leaf_size alone. The
///            index of a node may change from run to run.
/// Memory     of the tree, for 3D floats: 16 bytes per point and 52 per node. A uniform cloud has
///            between 1 / leaf_size and 8 / leaf_size nodes per point. During the build: 24 bytes
///            per point for the sort (CPU executor, and for a device_count: 26), and
///            384 / leaf_size for nodes. A cloud with more nodes is built again, with memory for
///            two nodes per point. A build of spatial_tree_async() without handed-in memory
///            reserves two nodes per point at once, because it cannot be repeated in the stream.
///            All memory comes from Ramify's stream-ordered pool, or from environment::memory: a
///            resource, or spatial_tree_scratch_bytes() bytes for the same n, at the beginning of
///            which the tree is.
/// Stream     environment::stream: earlier work in it is ordered before the build. The constructor
///            waits for it. spatial_tree_async() does not, except for the first automatic route on
///            a GPU, which measures launches (see choose_route()). Work that enters the stream
///            after the call sees the complete tree; spatial_tree_view_in() returns its view before
///            get(). What kernels could not launch, and further levels of the flat route, are
///            launched by a loop in a graph that is in the stream. Where the stream cannot complete
///            a build (environment::completion), the call waits. With completion::by_get, get()
///            completes the build. The tree's memory is freed in that stream, which must outlive
///            the tree, as must a resource that gave the memory.
/// Graphs     a graph can capture spatial_tree_async() on either route, if memory is handed in.
///            Each launch of the graph builds the complete tree over the points that the array then
///            has. The graph has a WHILE node, except with completion::by_get on the device route;
///            such a graph cannot be a child graph. A WHILE node requires a driver for CUDA 12.4.
///            The flat route cannot be captured with flat_loop::host.
/// Launches   device route: one grid per node of more than options.block_points points. Nodes that
///            get no launch slot run in flat grids, one per level. Flat route: one grid per level.
///            The host launches the levels of evenly distributed points at once, and reads the
///            sizes of further levels. With flat_loop::graph, and in a captured build, a WHILE node
///            launches grids of a fixed size, so that no stage waits for the host. It also follows
///            the levels that a call of spatial_tree_async() launches at once. In addition, on
///            both routes, six grids and those of the sort. On a GPU these are CUB's, which the
///            report does not count. With a device_count they are those of quicksort(), which it
///            counts, unless a graph has captured the build. On a GPU the constructor samples the
///            codes of 2^22 points or more, and waits for the result. If the points are in order
///            already, it does not sort them; if nearly all differ in the upper 32 bits of their
///            codes, it sorts by these.
/// Errors     std::invalid_argument for a bad argument, and for a NaN or an infinity (the message
///            names the first such point), which get() throws; std::length_error if the tree has
///            more nodes than fit in the caller's memory, or if a device_count exceeds its upper
///            bound; unavailable if the device route is
///            requested without -rdc=true, and for a capture that is not possible; cuda_error,
///            device_launch_error.
/// Complexity O(n) on a GPU, and O(n log n) for the sort on the CPU executor; the nodes take more
///            if many points share few cells.
/// Source     Morton, 1966; Warren and Salmon, 1993; boxes computed bottom-up: Karras, 2012.
/// Not for    a few hundred points, for which brute force is faster; more than three dimensions.

#include <ramify/runtime/detail/requirements.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <ramify/spatial_tree/build_run.cuh>
#include <ramify/spatial_tree/clusters.cuh>
#include <ramify/spatial_tree/config.hpp>
#include <ramify/spatial_tree/point_traits.cuh>
#include <ramify/spatial_tree/queries.cuh>
#include <ramify/spatial_tree/query.cuh>
#include <ramify/spatial_tree/query_lists.cuh>
#include <ramify/spatial_tree/reduce_bottom_up.cuh>
#include <ramify/spatial_tree/refit.cuh>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// The types of a number of points.
template <class Count>
concept number_of_points = std::integral<Count> || std::same_as<Count, device_count>;

/// std::size_t for a number of the host.
template <number_of_points Count>
using number_type = std::conditional_t<std::same_as<Count, device_count>, Count, std::size_t>;

/// The run of a build over a number of points of this type.
template <class Real, int dim, class Count = std::size_t>
using build_over = build_run<Real, dim, code_sort<dim, number_type<Count>>>;

/// The memory of such a build.
template <class Real, int dim, class Count = std::size_t>
using memory_over = build_memory<Real, dim, code_sort<dim, number_type<Count>>>;

/// Returns the sizes of a build over n points in memory of the caller.
template <class Count>
[[nodiscard]] build_sizes sizes_in_memory(const Count& n, const spatial_tree_options& options) {
  const runtime::element_count count(static_cast<number_type<Count>>(n));
  return {count.upper_bound, options, true};
}

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// A tree over points in device memory. Move-only; a moved-from tree is empty.
template <class Real, int dim>
class spatial_tree {
  using built_tree = detail::spatial_tree::built_tree<Real, dim>;

 public:
  /// Makes an empty tree, without any allocation.
  spatial_tree() = default;

  /// Builds the tree over n points: spatial_tree_async() and get(). Waits for the stream.
  /// \param points  n points in device, managed or pinned memory, which are only read
  /// \param n       a number, or a device_count
  /// \param env     its stream and its memory must outlive the tree; its memory:
  ///                spatial_tree_scratch_bytes()
  /// \throws std::invalid_argument, std::length_error, unavailable, cuda_error, device_launch_error
  template <detail::spatial_tree::number_of_points Count>
  spatial_tree(const point<Real, dim>* points, const Count& n, const spatial_tree_options& options,
               const environment& env = {});
  /// Builds with the default options.
  template <detail::spatial_tree::number_of_points Count>
  spatial_tree(const point<Real, dim>* points, const Count& n, const environment& env = {})
      : spatial_tree(points, n, spatial_tree_options{}, env) {}

  /// The other object may then only be destroyed or assigned.
  spatial_tree(spatial_tree&& other) noexcept : built_(std::exchange(other.built_, {})) {}
  /// Releases the own tree, and takes over the other one.
  spatial_tree& operator=(spatial_tree other) noexcept {
    std::swap(built_, other.built_);
    return *this;
  }

  /// Returns the argument for kernels and queries. It is valid as long as this object lives, or, if
  /// memory was handed in, as long as this memory exists.
  [[nodiscard]] spatial_tree_view<Real, dim> view() const { return built_.view; }

  /// Moves all points: the nodes keep their points, and get the boxes of the new positions. Queries
  /// have the results that a new tree has, except that "the tree's order" is that of the build. The
  /// more points have moved apart, the more boxes overlap, and the longer queries take: then build
  /// the tree again. Waits for the check of the positions; the other grids are ordered in the
  /// stream, as are later queries in it. Other streams must not use the tree at the same time.
  /// Views that view() has returned before may only be used by kernels of the caller.
  /// \param positions  a position for each point, in the caller's order, in device, managed or
  ///                   pinned memory; they must not overlap the tree
  /// \param env        its stream and its trace are used. Scratch: 4 bytes per node and at most
  ///                   64 KB, from the stream-ordered pool
  /// Complexity: O(points + nodes), without a sort.
  /// \throws std::invalid_argument, which names the first position that is not finite, before
  ///         anything is changed; unavailable while the stream is being captured; cuda_error
  void refit(const point<Real, dim>* positions, const environment& env = {});

  /// Returns the report of the build.
  [[nodiscard]] const spatial_tree_report& report() const { return built_.report; }

 private:
  template <class, int, class>
  friend class detail::spatial_tree::build_run;
  friend class detail::spatial_tree::empty_build<Real, dim>;
  explicit spatial_tree(built_tree built) : built_(std::move(built)) {}

  built_tree built_;
};

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// Checks the number of points of a build. \throws std::invalid_argument; cuda_error
template <int dim>
void check_number(const run_setup& setup, const runtime::element_count& n) {
  const std::size_t most = n.upper_bound;
  if (most > spatial_shape<dim>::max_points) {
    throw std::invalid_argument("spatial_tree: n is " + std::to_string(most) +
                                "; it must be less than 2^31");
  }
  setup.check_count(n);
  check_field(most > 0 || !n.on_device(), "spatial_tree: the upper bound of n", most, "1 or more");
}

/// Starts a build; see spatial_tree_async(). Count is std::size_t or device_count. If `may_wait`,
/// the call may wait for the stream.
template <class Real, int dim, class Count>
async_run<ramify::spatial_tree<Real, dim>> start_build(const point<Real, dim>* points,
                                                       const Count& number,
                                                       const spatial_tree_options& options,
                                                       const environment& env, bool may_wait) {
  validate(options);
  run_setup setup("spatial_tree", env);
  const runtime::element_count n(number);
  check_number<dim>(setup, n);
  const std::size_t most = n.upper_bound;
  if (most == 0) return std::make_unique<empty_build<Real, dim>>(setup);
  check_device_access(points, "spatial_tree: points");
  return build_over<Real, dim, Count>::start(setup,
                                             {points, static_cast<std::uint32_t>(most), options,
                                              may_wait && !setup.captured && !n.on_device(), n});
}

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

template <class Real, int dim>
template <detail::spatial_tree::number_of_points Count>
spatial_tree<Real, dim>::spatial_tree(const point<Real, dim>* points, const Count& n,
                                      const spatial_tree_options& options, const environment& env)
    : spatial_tree(detail::spatial_tree::start_build(points,
                                                     detail::spatial_tree::number_type<Count>(n),
                                                     options, detail::waiting(env), true)
                       .get()) {}

/// Builds the tree over n objects of the caller's type, with point_traits: copy_positions() and the
/// constructor of spatial_tree. Waits for the stream. Scratch: a point for each object more than
/// the constructor, from the stream-ordered pool.
/// \param objects  n objects in device, managed or pinned memory, which are only read
/// \param n        a number, or a device_count
/// \param env      as for the constructor
/// \throws std::invalid_argument, std::length_error, unavailable, cuda_error, device_launch_error
template <class T, detail::spatial_tree::number_of_points Count>
auto spatial_tree_of(const T* objects, const Count& n, const spatial_tree_options& options,
                     const environment& env = {}) {
  const detail::element_count count(static_cast<detail::spatial_tree::number_type<Count>>(n));
  validate(options);
  const detail::run_setup setup("spatial_tree", env);
  detail::spatial_tree::check_number<point_traits<T>::dim>(setup, count);
  if (count.upper_bound > 0) check_device_access(objects, "spatial_tree_of: objects");
  const device_buffer<position_of<T>> positions(count.upper_bound, setup.stream);
  copy_positions(objects, count, positions.data(), setup.stream);
  return spatial_tree(static_cast<const position_of<T>*>(positions.data()), n, options, env);
}
/// Overload with the default options.
template <class T, detail::spatial_tree::number_of_points Count>
auto spatial_tree_of(const T* objects, const Count& n, const environment& env = {}) {
  return spatial_tree_of(objects, n, spatial_tree_options{}, env);
}

template <class Real, int dim>
void spatial_tree<Real, dim>::refit(const point<Real, dim>* positions, const environment& env) {
  const detail::run_setup setup("refit", env);
  if (setup.captured) {
    throw unavailable(
        "refit: a graph cannot capture it, because the host reads the positions' box");
  }
  auto& view = built_.view;
  if (view.point_count == 0) return;
  check_device_access(positions, "refit: positions");
  detail::trace_recorder recorder(setup.trace, setup.stream);
  const auto found =
      detail::spatial_tree::refit_tree(view, positions, setup.stream, recorder.ticket());
  view.bounds = found.bounds;
  view.least_nonzero = found.least_nonzero;
  recorder.read();
}

/// Starts to build the tree over n points. Work that enters the stream after the call sees the
/// complete tree (see Stream above); get() waits and returns it. The points must exist until get()
/// has returned. get() throws std::invalid_argument naming the first point that is not finite, and
/// std::length_error if the tree has more nodes than fit in the caller's memory. If a graph has
/// captured the build, get() returns the tree of the last launch.
///
/// \param points  n points in device, managed or pinned memory, which are only read
/// \param n       a number, or a device_count
/// \param env     its stream and its memory must outlive the tree; its memory:
///                spatial_tree_scratch_bytes()
/// \throws std::invalid_argument; cuda_error; unavailable if the device route is requested without
///         -rdc=true, for flat_loop::graph if the driver has no loops in graphs, and if the stream
///         is being captured and the host would launch the levels of the flat route
template <class Real, int dim, detail::spatial_tree::number_of_points Count>
async_run<spatial_tree<Real, dim>> spatial_tree_async(const point<Real, dim>* points,
                                                      const Count& n,
                                                      const spatial_tree_options& options,
                                                      const environment& env = {}) {
  namespace internal = detail::spatial_tree;
  return internal::start_build(points, internal::number_type<Count>(n), options, env, false);
}
/// Overload with the default options.
template <class Real, int dim, detail::spatial_tree::number_of_points Count>
async_run<spatial_tree<Real, dim>> spatial_tree_async(const point<Real, dim>* points,
                                                      const Count& n, const environment& env = {}) {
  return spatial_tree_async(points, n, spatial_tree_options{}, env);
}

/// Returns the memory that a build over n points needs if it is handed in, in bytes. The tree is
/// in the first spatial_tree_bytes() bytes, which must exist as long as the tree is used; the
/// other bytes may be used again after get().
/// \param n  that of the build: a number, or a device_count, whose number is not read. On a GPU a
///           build over a device_count needs more memory than one over its upper bound.
/// \throws std::invalid_argument, cuda_error
template <class Real, int dim, detail::spatial_tree::number_of_points Count>
[[nodiscard]] std::size_t spatial_tree_scratch_bytes(const Count& n,
                                                     const spatial_tree_options& options = {}) {
  validate(options);
  const auto sizes = detail::spatial_tree::sizes_in_memory(n, options);
  if (sizes.n == 0) return 0;
  return detail::spatial_tree::build_over<Real, dim, Count>::scratch_bytes(sizes);
}

/// Returns the memory of a tree over n points with options.max_nodes nodes, in bytes.
/// \param n  a number, or a device_count, whose number is not read
/// \throws std::invalid_argument
template <class Real, int dim, detail::spatial_tree::number_of_points Count>
[[nodiscard]] std::size_t spatial_tree_bytes(const Count& n,
                                             const spatial_tree_options& options = {}) {
  validate(options);
  const auto sizes = detail::spatial_tree::sizes_in_memory(n, options);
  if (sizes.n == 0) return 0;
  return detail::spatial_tree::memory_over<Real, dim>::tree_bytes(sizes);
}

/// Returns the tree that spatial_tree_async() builds over n points in `memory`, which must be the
/// memory of its environment, with the same n and the same options. The view is for
/// reduce_bottom_up(), for queries (queries.cuh, Tree) and for kernels of the caller that are
/// launched into the stream before get(). These kernels must use view.nodes_built(), which returns
/// the number of nodes of the complete tree. It returns 0 if a point is not finite or the tree has
/// more nodes than options.max_nodes: then get() throws. With completion::by_get it also returns 0
/// if get() must complete the build. Then launch the kernels again with the view of the tree that
/// get() returns.
/// \param n  that of the build: a number, or a device_count, whose number is not read
/// \throws std::invalid_argument if `memory` is too small or a resource; cuda_error
template <class Real, int dim, detail::spatial_tree::number_of_points Count>
[[nodiscard]] spatial_tree_view<Real, dim> spatial_tree_view_in(
    const memory_ref& memory, const Count& n, const spatial_tree_options& options = {}) {
  const auto sizes = detail::spatial_tree::sizes_in_memory(n, options);
  if (sizes.n == 0) return {};
  if (memory.bytes() < spatial_tree_scratch_bytes<Real, dim>(n, options)) {
    throw std::invalid_argument("spatial_tree_view_in: memory has " +
                                std::to_string(memory.bytes()) +
                                " bytes, which is less than spatial_tree_scratch_bytes()");
  }
  memory_layout layout(memory.data());
  return detail::spatial_tree::memory_over<Real, dim, Count>(layout, sizes).view(sizes);
}

}  // namespace ramify::inline RAMIFY_BUILD
