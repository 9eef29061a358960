// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Many trees in one call of the host: spatial_trees. Public: <ramify/spatial_tree.cuh> does not
/// include this header, which includes the calls from kernels.
///
///     const ramify::spatial_trees trees(points, n, offsets, sets, largest);
///     search<<<sets, 128>>>(trees.views());                      // in the tree of each set
///     radius_count(trees.view(7), queries, m, radius, counts);   // in the tree of one set
///
/// Sets         set i has the points from points[offsets[i]] to points[offsets[i + 1] - 1]. Its
///              tree is that of spatial_tree over them; ids are indices in the set, and begin with
///              0.
/// Method       one thread for each set calls build_spatial_tree() (calls.cuh). One block builds
///              the tree of a small set. Almost all small sets are blocks of one grid.
/// Join         call_arena::get() waits for all trees.
/// Memory       for the points, their ids, two nodes a point, and a view a set. Scratch: 350 to 400
///              bytes a set, and if a set may be more than small, for 8 trees of `largest` points.
/// Not for      builds without -rdc=true.

#include <cstddef>
#include <cstdint>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/call_arena.cuh>
#include <ramify/runtime/detail/launch_each.cuh>
#include <ramify/runtime/phase_range.cuh>
#include <ramify/spatial_tree/calls.cuh>
#include <stdexcept>
#include <string>
#include <utility>

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// The sets of a batch, and the memory of their trees.
template <class Real, int dim>
struct tree_sets {
  const point<Real, dim>* points;
  std::size_t n;
  const std::uint64_t* offsets;
  std::size_t sets;
  tree_arrays<Real, dim> arrays;  ///< of all trees, one after the other
  published_tree* built;
  spatial_tree_view<Real, dim>* views;
  unsigned long long* first_fault;  ///< index of the first set with the fault that is looked for

  [[nodiscard]] __device__ std::size_t points_of(std::size_t i) const {
    return offsets[i + 1] - offsets[i];
  }
  /// Returns where the tree of set i is built.
  [[nodiscard]] __device__ called_tree<Real, dim> tree_of(std::size_t i) const {
    const std::size_t begin = offsets[i];
    called_tree<Real, dim> tree(nullptr, points_of(i), 2 * points_of(i));
    tree.arrays = {arrays.points + begin, arrays.ids + begin, arrays.nodes + 2 * begin,
                   arrays.parents + 2 * begin};
    tree.built = built + i;
    return tree;
  }
};

/// Finds the first set that is no range of the points or has more than `largest`: no tree may be
/// built then, because the trees of sets that overlap share memory. One thread for each set.
template <class Real, int dim>
__global__ void find_bad_set(tree_sets<Real, dim> all, std::size_t largest) {
  runtime::for_each_item(all.sets, [&](unsigned long long i) {
    const std::uint64_t begin = all.offsets[i];
    const std::uint64_t end = all.offsets[i + 1];
    const bool is_valid = begin <= end && end <= all.n && end - begin <= largest;
    if (!is_valid) atomicMin(all.first_fault, i);
  });
}

/// Writes the views of the trees, and calls their builds. One thread for each set.
template <class Real, int dim>
__global__ void build_sets(tree_sets<Real, dim> all,
                           kernel_environment<spatial_tree_calls<Real, dim>> calls) {
  const traced here(calls.trace, __func__);
  runtime::for_each_item(all.sets, [&](unsigned long long i) {
    const called_tree<Real, dim> tree = all.tree_of(i);
    all.views[i] = tree.view();
    // No call is refused: the arena has a record for each, and no set is too large.
    static_cast<void>(
        build_spatial_tree(all.points + all.offsets[i], all.points_of(i), tree, calls));
  });
}

/// Finds the first set whose tree is not complete. One thread for each set.
template <class Real, int dim>
__global__ void find_incomplete_set(tree_sets<Real, dim> all) {
  runtime::for_each_item(all.sets, [&](unsigned long long i) {
    if (all.built[i].is_complete == 0) atomicMin(all.first_fault, i);
  });
}

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// A tree for each of many sets of points in device memory. Move-only; a moved-from object may only
/// be assigned or destroyed.
template <class Real, int dim>
class spatial_trees {
 public:
  /// Builds the trees, and waits for them.
  /// \param points   n points in device memory, which are only read
  /// \param n        less than 2^32
  /// \param offsets  sets + 1 numbers in device memory, which do not decrease and are at most n
  /// \param sets     at most 2^24
  /// \param largest  maximum number of points of a set, less than 2^31
  /// \param options  as for spatial_tree_calls: max_nodes must be 0
  /// \param env      its stream must outlive the trees; its memory must be empty
  /// \throws std::invalid_argument for a bad argument, and naming the first set that is no range of
  ///         the points, is too large, or has a point that is not finite; unavailable as
  ///         call_arena, and while the stream is being captured; cuda_error; device_launch_error
  /// Complexity: O(n log n) work in all.
  spatial_trees(const point<Real, dim>* points, std::size_t n, const std::uint64_t* offsets,
                std::size_t sets, std::size_t largest, const spatial_tree_options& options = {},
                const environment& env = {});

  /// Returns the number of trees.
  [[nodiscard]] std::size_t size() const { return all_.sets; }
  /// Returns the views of all trees, an array in device memory, for kernels. A kernel reads
  /// nodes_built() of a view, because node_count is an upper bound.
  [[nodiscard]] const spatial_tree_view<Real, dim>* views() const { return all_.views; }
  /// Returns the view of a tree, for kernels and for queries of the host. Waits for the stream.
  /// \throws std::out_of_range; cuda_error
  [[nodiscard]] spatial_tree_view<Real, dim> view(std::size_t i) const;
  /// Returns what the calls of the builds did.
  [[nodiscard]] const call_report& report() const { return report_; }

 private:
  [[noreturn]] static void fail(const std::string& what) {
    throw std::invalid_argument("spatial_trees: " + what);
  }
  void build(spatial_tree_calls<Real, dim> plan, std::size_t largest, const environment& env);
  void check_offsets(std::size_t largest) const;
  void check_points() const;
  /// Launches a kernel that finds the first set with a fault. Returns its index, or size() or more.
  template <class... Parameters, class... Arguments>
  [[nodiscard]] unsigned long long find(void (*kernel)(Parameters...), const char* doing,
                                        const Arguments&... arguments) const;

  cudaStream_t stream_ = nullptr;
  detail::spatial_tree::tree_sets<Real, dim> all_{};
  device_buffer<std::byte> memory_;
  call_report report_;
};

template <class Real, int dim>
spatial_trees<Real, dim>::spatial_trees(const point<Real, dim>* points, std::size_t n,
                                        const std::uint64_t* offsets, std::size_t sets,
                                        std::size_t largest, const spatial_tree_options& options,
                                        const environment& env)
    : all_{points, n, offsets, sets, {}, nullptr, nullptr, nullptr} {
  const phase_range range("spatial_tree: build of sets");
  const detail::run_setup setup("spatial_trees", env);
  if (setup.captured) throw unavailable("spatial_trees: a graph cannot capture it");
  if (!env.memory.empty()) fail("environment.memory must be empty");
  if (n >> 32 != 0) fail("n must be less than 2^32");
  if (sets > 1u << 24) fail("sets is " + std::to_string(sets) + "; it must be at most 2^24");
  if (largest >> 31 != 0) fail("largest is " + std::to_string(largest) + "; it must be below 2^31");
  const spatial_tree_calls<Real, dim> plan(largest, options);
  stream_ = setup.stream;
  if (sets == 0) return;
  if (n > 0) check_device_access(points, "spatial_trees: points");
  check_device_access(offsets, "spatial_trees: offsets");
  const auto take = [&](void* base) {
    memory_layout layout(base);
    auto& arrays = all_.arrays;
    arrays.take_points(layout.take<std::byte>(arrays.take_points(nullptr, n)), n);
    arrays.take_nodes(layout.take<std::byte>(arrays.take_nodes(nullptr, 2 * n)), 2 * n);
    all_.built = layout.take<published_tree>(sets);
    all_.views = layout.take<spatial_tree_view<Real, dim>>(sets);
    all_.first_fault = layout.take<unsigned long long>(1);
    return layout.size();
  };
  memory_ = device_buffer<std::byte>(take(nullptr), stream_);
  take(memory_.data());
  check_offsets(largest);
  build(plan, largest, env);
  check_points();
}

template <class Real, int dim>
void spatial_trees<Real, dim>::build(spatial_tree_calls<Real, dim> plan, std::size_t largest,
                                     const environment& env) {
  call_arena_options sizes{.kept_calls = static_cast<unsigned>(all_.sets)};
  // Calls without a slot are kept. So few slots make the small trees blocks of one grid.
  if (largest <= plan.small_points()) sizes.launch_slots = 2;
  call_arena arena(plan, sizes, env);
  detail::launch_each(detail::spatial_tree::build_sets<Real, dim>, all_.sets, stream_,
                      "calling the builds of spatial trees", all_, arena.environment());
  arena.complete_async();
  report_ = arena.get();
}

template <class Real, int dim>
template <class... Parameters, class... Arguments>
unsigned long long spatial_trees<Real, dim>::find(void (*kernel)(Parameters...), const char* doing,
                                                  const Arguments&... arguments) const {
  check(cudaMemsetAsync(all_.first_fault, 0xff, sizeof *all_.first_fault, stream_), doing);
  detail::launch_each(kernel, all_.sets, stream_, doing, all_, arguments...);
  return read_back(all_.first_fault, stream_, doing);
}

template <class Real, int dim>
void spatial_trees<Real, dim>::check_offsets(std::size_t largest) const {
  const char* const doing = "checking the offsets of spatial trees";
  const auto i = find(detail::spatial_tree::find_bad_set<Real, dim>, doing, largest);
  if (i >= size()) return;
  fail("set " + std::to_string(i) + " has the offsets " +
       std::to_string(read_back(all_.offsets + i, stream_, doing)) + " and " +
       std::to_string(read_back(all_.offsets + i + 1, stream_, doing)) +
       "; they must be ascending, at most n, " + std::to_string(all_.n) +
       ", and differ by at most `largest`");
}

template <class Real, int dim>
void spatial_trees<Real, dim>::check_points() const {
  if (report_.faulty == 0) return;
  const auto i =
      find(detail::spatial_tree::find_incomplete_set<Real, dim>, "finding a faulty spatial tree");
  fail("a point of set " + std::to_string(i) + " is not finite");
}

template <class Real, int dim>
spatial_tree_view<Real, dim> spatial_trees<Real, dim>::view(std::size_t i) const {
  if (i >= size()) {
    throw std::out_of_range("spatial_trees: view " + std::to_string(i) + " of " +
                            std::to_string(size()));
  }
  const char* const doing = "reading the view of a spatial tree";
  auto view = read_back(all_.views + i, stream_, doing);
  const published_tree found = read_back(std::exchange(view.built, nullptr), stream_, doing);
  view.node_count = found.nodes;
  view.point_count = found.points;
  if (found.nodes > 0) {
    view.bounds = found.bounds<Real, dim>();
    view.least_nonzero = static_cast<Real>(found.least_nonzero);
  }
  return view;
}

}  // namespace ramify::inline RAMIFY_BUILD
