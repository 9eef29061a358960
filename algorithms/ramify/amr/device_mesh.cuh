// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// device_mesh: the device memory of a run, on the host side.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <ramify/amr/gather.cuh>
#include <ramify/amr/phases.cuh>
#include <ramify/amr/restore.cuh>
#include <ramify/amr/snapshot.hpp>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/error.hpp>
#include <ramify/runtime/phase_range.cuh>
#include <ramify/runtime/residency.cuh>
#include <string>
#include <utility>
#include <vector>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// The device memory of a run: its state, the tree, and the values of the nodes of this process.
template <class Physics, int n, class Criterion, class Part = whole_mesh>
class device_mesh {
 public:
  static constexpr int dim = Physics::dimensions;
  static constexpr int variables = Physics::variables;
  static constexpr int cells_along = n;
  using physics_type = Physics;
  using real = typename Physics::real;
  using view_type = run_view<Physics, n, Criterion, Part>;
  using cells = block_cells<dim, n>;

  /// Allocates memory for a mesh that has no blocks yet.
  /// \throws unavailable if a block needs more shared memory than the device has; cuda_error
  device_mesh(const Physics& physics, const Criterion& criterion, const amr_options& options,
              cudaStream_t stream)
      : options_(options), stream_(stream) {
    view_.physics = physics;
    view_.criterion = criterion;
    view_.regrid = options_.regrid;
    view_.step = options_.step;
    if (view_.step.subcycle) {
      view_.batch_limit = std::clamp(max_fine_steps >> options_.mesh.max_level, 1u, max_batch);
    }
    if (supports_programmatic_launch(advance_blocks<view_type>)) {
      view_.serialization = stream_serialization::programmatic;
    }
    describe_domain();
    grow_to(std::min(max_nodes(), std::max<std::size_t>(2 * view_.tree.root_count(), 1024)));
    allow_shared(advance_blocks<view_type>, sizeof(advance_storage<Physics, n>));
    allow_shared(tag_blocks<view_type>, sizeof(tag_storage<view_type>));
  }

  /// Sets the memory of the run's state. No kernel of the mesh may run before.
  void use_state(run_state* state) { view_.state = state; }

  /// Returns the argument of the run's kernels.
  [[nodiscard]] view_type& view() { return view_; }
  [[nodiscard]] const view_type& view() const { return view_; }
  [[nodiscard]] const amr_options::mesh_fields& options() const { return options_.mesh; }
  [[nodiscard]] std::size_t bytes() const { return memory_.size() + sizeof(run_state); }

  /// Returns the length of a cell along `axis`.
  [[nodiscard]] double cell_edge(int level, int axis) const {
    const amr_options::mesh_fields& mesh = options_.mesh;
    const auto a = static_cast<std::size_t>(axis);
    const double blocks = double(mesh.roots[a]) * double(1u << level);
    return (mesh.upper[a] - mesh.lower[a]) / (blocks * n);
  }

  /// Returns the largest number of nodes that is allowed.
  [[nodiscard]] std::size_t max_nodes() const {
    return options_.mesh.max_blocks == 0 ? std::size_t{std::numeric_limits<int>::max()}
                                         : options_.mesh.max_blocks;
  }

  /// Returns the number of nodes whose values have memory.
  [[nodiscard]] std::size_t slots() const { return Part::is_part ? slots_ : view_.tree.capacity; }

  /// Allocates memory for `nodes` nodes, and moves the mesh into it.
  /// \throws amr_error if `nodes` exceeds max_nodes(); cuda_error, and then the mesh is unchanged
  void grow_to(std::size_t nodes) { grow_to(nodes, Part::is_part ? slots_ : nodes); }

  /// Allocates memory for `nodes` nodes and for the values of `slots` of them.
  /// \throws as the other overload
  void grow_to(std::size_t nodes, std::size_t slots) {
    if (nodes > max_nodes()) {
      throw amr_error("the mesh needs more than amr_options.mesh.max_blocks, which is " +
                      std::to_string(max_nodes()));
    }
    view_type next = view_;
    const auto place_arrays = [&](memory_layout layout) {
      for_each_array(next, nodes, slots,
                     [&]<class T>(T*& array, std::size_t count) { array = layout.take<T>(count); });
      return layout.size();
    };
    device_buffer<std::byte> memory(place_arrays(memory_layout(nullptr)), stream_);
    place_arrays(memory_layout(memory.data()));
    // Both calls of for_each_array() visit the arrays in the same order.
    std::vector<const void*> old;
    for_each_array(view_, 0, 0, [&](auto*& array, std::size_t) { old.push_back(array); });
    auto from = old.begin();
    const auto move = [&]<class T>(T*& array, std::size_t count) {
      if (count > 0) {
        check(cudaMemcpyAsync(array, *from, count * sizeof(T), cudaMemcpyDeviceToDevice, stream_),
              "moving the mesh to more memory");
      }
      ++from;
    };
    for_each_array(next, view_.tree.capacity, this->slots(), move);
    if constexpr (Part::is_part) {
      for (auto* values : {&next.u_new, &next.u_stage, &next.u_old}) {
        values->slots = next.node_slots;
      }
      slots_ = slots;
    }
    view_ = next;
    view_.tree.capacity = static_cast<unsigned>(nodes);
    memory_ = std::move(memory);
  }

  /// Allocates more memory for a full mesh. Until the mesh has been moved, both the old and the new
  /// memory are allocated. If there is not enough for twice the blocks, it tries smaller numbers.
  /// \throws amr_error if no more blocks are allowed, or there is no memory; then the mesh is
  ///         unchanged; cuda_error
  void grow() {
    const phase_range range("amr: grow the mesh");
    const std::size_t blocks = view_.tree.capacity;
    for (const double factor : {2.0, 1.5, 1.2}) {
      try {
        const auto wanted = static_cast<std::size_t>(factor * double(blocks));
        grow_to(std::max(std::min(wanted, max_nodes()), blocks + 1));
        return;
      } catch (const cuda_error& e) {
        if (e.code() != cudaErrorMemoryAllocation) throw;
      }
    }
    throw amr_error("there is no device memory for a larger mesh: its " + std::to_string(blocks) +
                    " blocks have " + std::to_string(memory_.size()) +
                    " bytes, and moving it needs 2.2 times as many");
  }

  /// Returns the root blocks in Morton order.
  [[nodiscard]] std::vector<int> ordered_roots() const {
    std::vector<int> order(view_.tree.root_count());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](int root) { return morton_code(root); });
    return order;
  }
  /// Writes the root blocks to the list of nodes in Morton order.
  void order_roots() { copy_in(ordered_roots(), view_.lists.nodes); }

  /// Returns the state of the run. Waits for the stream.
  [[nodiscard]] run_state read_state() const {
    run_state state;
    copy_out(view_.state, &state, 1);
    return state;
  }
  /// Writes the state of the run to the device. Waits for the stream.
  void write_state(const run_state& state) {
    copy(view_.state, &state, sizeof state, cudaMemcpyHostToDevice);
  }
  /// Copies an array from the device. Waits for the stream.
  template <class T>
  void copy_out(const T* from, T* to, std::size_t count) const {
    copy(to, from, count * sizeof(T), cudaMemcpyDeviceToHost);
  }
  /// Copies an array to the device. Waits for the stream.
  template <class T>
  void copy_in(const std::vector<T>& from, T* to) {
    copy(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice);
  }

  /// Copies `leaves` leaves in Morton order from the device, beginning with `first_leaf`, and their
  /// values to `packed`, [leaf][variable][cell], unless it is null. Waits for the stream.
  [[nodiscard]] std::vector<leaf_record<dim>> gather(unsigned first_leaf, std::size_t leaves,
                                                     std::vector<real>* packed) const {
    const std::size_t piece = std::min<std::size_t>(leaves, 4096);  // bounds the device memory
    const device_buffer<leaf_record<dim>> records(piece, stream_);
    const device_buffer<real> values(packed == nullptr ? 0 : piece * values_per_leaf, stream_);
    std::vector<leaf_record<dim>> all(leaves);
    if (packed != nullptr) packed->resize(leaves * values_per_leaf);
    for (std::size_t first = 0; first < leaves; first += piece) {
      const std::size_t count = std::min(piece, leaves - first);
      launch_per_leaf(gather_leaves<view_type>, count, first_leaf + static_cast<unsigned>(first),
                      records.data(), values.data());
      copy_out(records.data(), all.data() + first, count);
      if (packed != nullptr) {
        copy_out(values.data(), packed->data() + first * values_per_leaf, count * values_per_leaf);
      }
    }
    return all;
  }

  /// Returns the sums over the cells of the first `leaves` leaves, [leaf][variable]. Waits for the
  /// stream.
  [[nodiscard]] std::vector<double> sum_leaves(std::size_t leaves) const {
    const device_buffer<double> sums(leaves * variables, stream_);
    launch_per_leaf(amr::sum_leaves<view_type>, leaves, sums.data());
    std::vector<double> host(sums.size());
    copy_out(sums.data(), host.data(), host.size());
    return host;
  }

  /// Copies the values of leaves to their nodes: the inverse of gather(). Waits for the stream.
  void scatter(const host_forest<dim>& forest, const std::byte* packed) {
    constexpr std::size_t bytes = values_per_leaf * sizeof(real);
    for (const int node : forest.nodes_of_leaves) {
      copy(view_.u_new.data + view_.u_new.offset(node, 0, 0), packed, bytes,
           cudaMemcpyHostToDevice);
      packed += bytes;
    }
  }

 protected:
  static constexpr std::size_t values_per_leaf = std::size_t{variables} * cells::count;

  void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) const {
    check(cudaMemcpyAsync(to, from, bytes, kind, stream_), "copying from or to a run");
    check(cudaStreamSynchronize(stream_), "copying from or to a run");
  }

  [[nodiscard]] cudaStream_t stream() const { return stream_; }

 private:
  /// Launches a kernel with one block per leaf.
  template <class... Parameters, class... Arguments>
  void launch_per_leaf(void (*kernel)(view_type, Parameters...), std::size_t leaves,
                       const Arguments&... arguments) const {
    const launch_shape shape(static_cast<unsigned>(leaves), gather_threads);
    check(launch(kernel, shape, stream_, view_, arguments...).code(),
          "launching the reading of leaves");
  }

  void describe_domain() {
    mesh_tree<dim>& tree = view_.tree;
    for (int axis = 0; axis < dim; ++axis) {
      const auto a = static_cast<std::size_t>(axis);
      tree.roots[axis] = options_.mesh.roots[a];
      for (int side = 0; side < 2; ++side) {
        tree.sides[axis][side] = options_.mesh.sides[a][static_cast<std::size_t>(side)];
        if (tree.sides[axis][side] == boundary::reflecting) {
          tree.reflecting |= 1u << face_of(axis, side);
        }
      }
      view_.lower[axis] = static_cast<real>(options_.mesh.lower[a]);
      view_.root_spacing[axis] = static_cast<real>(cell_edge(0, axis));
    }
    tree.max_level = options_.mesh.max_level;
    // The enumerators have the order of the codimensions.
    tree.balance_codimension = std::min(dim, 1 + static_cast<int>(options_.mesh.balance));
  }

  /// Allows launches of a kernel with `needed` bytes of dynamic shared memory. \throws unavailable
  /// if the device has less
  template <class... Parameters>
  static void allow_shared(void (*kernel)(Parameters...), std::size_t needed) {
    if (set_max_dynamic_shared(kernel, needed) < needed) {
      throw unavailable("amr: blocks of " + std::to_string(n) + " cells along an edge need " +
                        std::to_string(needed) +
                        " bytes of shared memory, more than this device has");
    }
  }

  /// Returns the Morton code of a root block: the interleaved bits of its coordinates, x lowest.
  [[nodiscard]] std::uint64_t morton_code(int root) const {
    std::uint64_t code = 0;
    const block_place<dim> place = view_.tree.place_of_root(static_cast<unsigned>(root));
    for (int axis = 0; axis < dim; ++axis) {
      const unsigned index = place.index[axis];
      for (int bit = 0; bit < 21; ++bit) {
        code |= std::uint64_t{index >> bit & 1} << (bit * dim + axis);
      }
    }
    return code;
  }

  amr_options options_;
  cudaStream_t stream_;
  device_buffer<std::byte> memory_;
  std::size_t slots_ = 0;  // of a part of a mesh
  view_type view_{};
};

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
