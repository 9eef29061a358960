// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// device_mesh: the memory of a run on a mesh, as the host sees it.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <ramify/amr/drive.cuh>
#include <ramify/amr/gather.cuh>
#include <ramify/amr/snapshot.hpp>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/error.hpp>
#include <ramify/runtime/residency.cuh>
#include <string>
#include <utility>
#include <vector>

namespace ramify::inline RAMIFY_BUILD {

template <class Physics, int n, class Criterion>
class device_mesh {
 public:
  static constexpr int dim = Physics::dimensions;
  static constexpr int variables = Physics::variables;
  using real = typename Physics::real;
  using view_type = amr_view<Physics, n, Criterion>;
  using cells = block_cells<dim, n>;

  /// Memory without a mesh. \throws unavailable if blocks are too large for this device; cuda_error
  device_mesh(const Physics& physics, const Criterion& criterion, const amr_config& config,
              cudaStream_t stream)
      : config_(config), stream_(stream) {
    view_.physics = physics;
    view_.criterion = criterion;
    view_.regrid = config_.regrid;
    view_.step = config_.step;
    mesh_tree<dim>& tree = view_.tree;
    for (std::size_t axis = 0; axis < dim; ++axis) {
      tree.roots[axis] = config_.mesh.roots[axis];
      for (std::size_t side = 0; side < 2; ++side) {
        tree.sides[axis][side] = config_.mesh.sides[axis][side];
        if (tree.sides[axis][side] == boundary::reflecting) {
          tree.mirrors |= 1u << face_of(static_cast<int>(axis), static_cast<int>(side));
        }
      }
      view_.lower[axis] = static_cast<real>(config_.mesh.lower[axis]);
      view_.root_spacing[axis] = static_cast<real>(cell_edge(static_cast<int>(axis)));
    }
    tree.max_level = config_.mesh.max_level;
    tree.reach = config_.mesh.balance == balance::face   ? 1
                 : config_.mesh.balance == balance::edge ? 2
                                                         : dim;
    clock_ = device_buffer<amr_clock>(1, stream_);
    view_.clock = clock_.data();
    grow_to(std::max<std::size_t>(2 * tree.root_count(), 1024));

    using storage = stage_storage<Physics, n>;
    using tuning = stage_tuning<Physics, n>;
    const std::size_t granted =
        set_max_dynamic_shared(advance_blocks<view_type>, tuning::most_teams * sizeof(storage));
    if (granted < sizeof(storage)) {
      throw unavailable("amr: blocks of " + std::to_string(n) + " cells along an edge need " +
                        std::to_string(sizeof(storage)) +
                        " bytes of shared memory, more than this device gives");
    }
    view_.teams = static_cast<unsigned>(granted / sizeof(storage));
    view_.resident = resident_blocks(advance_blocks<view_type>, view_.teams * tuning::threads,
                                     view_.teams * sizeof(storage));
  }

  /// What kernels are given.
  [[nodiscard]] view_type& view() { return view_; }
  [[nodiscard]] const view_type& view() const { return view_; }
  [[nodiscard]] std::size_t bytes() const { return memory_.size() + sizeof(amr_clock); }

  /// Of level 0.
  [[nodiscard]] double cell_edge(int axis) const {
    const auto a = static_cast<std::size_t>(axis);
    return (config_.mesh.upper[a] - config_.mesh.lower[a]) / (double(config_.mesh.roots[a]) * n);
  }

  /// Gets memory for `nodes` nodes, or as many as there may be, and moves what there is into it.
  /// \throws amr_error if there may be no more; cuda_error
  void grow_to(std::size_t nodes) {
    const std::size_t most = config_.mesh.max_blocks == 0
                                 ? std::size_t{std::numeric_limits<int>::max()}
                                 : config_.mesh.max_blocks;
    nodes = std::min(nodes, most);
    if (nodes <= view_.tree.capacity && memory_.data() != nullptr) {
      throw amr_error("the mesh needs more than amr_mesh_config.max_blocks, which is " +
                      std::to_string(most));
    }
    view_type next = view_;
    memory_layout sizing(nullptr);
    for_each_array(next, nodes, [&]<class T>(T*& pointer, std::size_t count) {
      pointer = sizing.take<T>(count);
    });
    device_buffer<std::byte> memory(sizing.size(), stream_);
    memory_layout layout(memory.data());
    for_each_array(next, nodes, [&]<class T>(T*& pointer, std::size_t count) {
      pointer = layout.take<T>(count);
    });
    if (memory_.data() != nullptr) {
      // The arrays come in the same order.
      std::vector<std::pair<const void*, std::size_t>> old;
      for_each_array(view_, view_.tree.capacity, [&]<class T>(T*& pointer, std::size_t count) {
        old.emplace_back(pointer, count * sizeof(T));
      });
      auto from = old.begin();
      for_each_array(next, nodes, [&]<class T>(T*& pointer, std::size_t) {
        if (from->second > 0) {
          check(cudaMemcpyAsync(pointer, from->first, from->second, cudaMemcpyDeviceToDevice,
                                stream_),
                "moving the mesh to more memory");
        }
        ++from;
      });
    }
    view_ = next;
    view_.tree.capacity = static_cast<unsigned>(nodes);
    memory_ = std::move(memory);
  }

  /// Puts the root blocks into the list of nodes in Morton order, whatever their number along the
  /// axes.
  void order_roots() {
    std::vector<int> order(view_.tree.root_count());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](int root) { return morton_code(root); });
    copy_in(order, view_.lists.nodes);
  }

  [[nodiscard]] amr_clock read_clock() const {
    amr_clock clock;
    copy_out(clock_.data(), &clock, 1);
    return clock;
  }
  void write_clock(const amr_clock& clock) {
    check(cudaMemcpyAsync(clock_.data(), &clock, sizeof clock, cudaMemcpyHostToDevice, stream_),
          "writing the clock of a run");
    check(cudaStreamSynchronize(stream_), "writing the clock of a run");
  }
  template <class T>
  void copy_out(const T* from, T* to, std::size_t count) const {
    check(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDeviceToHost, stream_),
          "reading from a run");
    check(cudaStreamSynchronize(stream_), "reading from a run");
  }

  template <class T>
  void copy_in(const std::vector<T>& from, T* to) {
    check(
        cudaMemcpyAsync(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice, stream_),
        "writing to a run");
    check(cudaStreamSynchronize(stream_), "writing to a run");
  }

  /// Some leaves in Morton order; their values too, [leaf][variable][cell], where `packed` is there.
  [[nodiscard]] std::vector<leaf_record<dim>> gather(unsigned first_leaf, std::size_t leaves,
                                                     std::vector<real>* packed) const {
    constexpr std::size_t of_leaf = std::size_t{variables} * cells::count;
    const std::size_t piece = std::min<std::size_t>(leaves, 4096);  // spares device memory
    const device_buffer<leaf_record<dim>> records(piece, stream_);
    const device_buffer<real> values(packed == nullptr ? 0 : piece * of_leaf, stream_);
    std::vector<leaf_record<dim>> all(leaves);
    if (packed != nullptr) packed->resize(leaves * of_leaf);
    for (std::size_t first = 0; first < leaves; first += piece) {
      const std::size_t count = std::min(piece, leaves - first);
      check(launch(gather_leaves<view_type>, {static_cast<unsigned>(count), adapt_threads}, stream_,
                   view_, first_leaf + static_cast<unsigned>(first), records.data(), values.data())
                .code(),
            "launching the gathering of leaves");
      copy_out(records.data(), all.data() + first, count);
      if (packed != nullptr) {
        copy_out(values.data(), packed->data() + first * of_leaf, count * of_leaf);
      }
    }
    return all;
  }

  /// Copies the values of leaves to their nodes, in pieces.
  void scatter(const std::vector<int>& nodes, const std::vector<std::byte>& values_of_leaves) {
    constexpr std::size_t of_leaf = std::size_t{variables} * cells::count;
    const std::size_t piece = std::min<std::size_t>(nodes.size(), 4096);
    const device_buffer<int> numbers(piece, stream_);
    const device_buffer<real> packed(piece * of_leaf, stream_);
    for (std::size_t first = 0; first < nodes.size(); first += piece) {
      const std::size_t count = std::min(piece, nodes.size() - first);
      check(cudaMemcpyAsync(numbers.data(), nodes.data() + first, count * sizeof(int),
                            cudaMemcpyHostToDevice, stream_),
            "restoring a run");
      check(cudaMemcpyAsync(packed.data(), values_of_leaves.data() + first * of_leaf * sizeof(real),
                            count * of_leaf * sizeof(real), cudaMemcpyHostToDevice, stream_),
            "restoring a run");
      check(launch(scatter_leaves<view_type>, {static_cast<unsigned>(count), adapt_threads},
                   stream_, view_, numbers.data(), packed.data())
                .code(),
            "launching the scattering of leaves");
    }
    check(cudaStreamSynchronize(stream_), "restoring a run");
  }

 private:
  /// All that is kept for each node, in an order that stays: calls `use(pointer, count)`.
  template <class Use>
  static void for_each_array(view_type& view, std::size_t nodes, Use use) {
    const std::size_t all = nodes * variables * cells::count;
    const std::size_t faces = nodes * mesh_tree<dim>::faces;
    use(view.now.data, all);
    use(view.stage.data, all);
    use(view.before.data, view.step.subcycle ? all : 0);
    use(view.flows, view.step.reflux ? faces * variables * cells::of_a_face : 0);
    use(view.tree.place, nodes);
    use(view.tree.parent, nodes);
    use(view.tree.first_child, nodes);
    use(view.tree.neighbor, faces);
    use(view.lists.leaves, nodes);
    use(view.lists.nodes, nodes);
    use(view.lists.covered, nodes);
    use(view.lists.marked, nodes);
    use(view.lists.leaving, nodes);
    use(view.lists.free_families, nodes);
    use(view.lists.is_marked, nodes);
    use(view.lists.idle, nodes);
    use(view.lists.first_leaf, nodes);
    use(view.lists.leaves_below, nodes);
  }

  /// Interleaves the bits of a root block's coordinates, x lowest.
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

  amr_config config_;
  cudaStream_t stream_;
  device_buffer<amr_clock> clock_;
  device_buffer<std::byte> memory_;
  view_type view_{};
};

}  // namespace ramify::inline RAMIFY_BUILD
