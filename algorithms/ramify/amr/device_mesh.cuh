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
#include <ramify/amr/snapshot.hpp>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/error.hpp>
#include <ramify/runtime/residency.cuh>
#include <string>
#include <utility>
#include <vector>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// The device memory of a run: its state, the tree, and the values of all nodes.
template <class Physics, int n, class Criterion>
class device_mesh {
 public:
  static constexpr int dim = Physics::dimensions;
  static constexpr int variables = Physics::variables;
  using real = typename Physics::real;
  using view_type = run_view<Physics, n, Criterion>;
  using cells = block_cells<dim, n>;

  /// Allocates memory for a mesh that has no blocks yet.
  /// \throws unavailable if a block needs more shared memory than the device has; cuda_error
  device_mesh(const Physics& physics, const Criterion& criterion, const amr_config& config,
              cudaStream_t stream)
      : config_(config), stream_(stream) {
    view_.physics = physics;
    view_.criterion = criterion;
    view_.regrid = config_.regrid;
    view_.step = config_.step;
    describe_domain();
    state_ = device_buffer<run_state>(1, stream_);
    view_.state = state_.data();
    grow_to(std::max<std::size_t>(2 * view_.tree.root_count(), 1024));
    choose_teams();
  }

  /// The argument of the run's kernels.
  [[nodiscard]] view_type& view() { return view_; }
  [[nodiscard]] const view_type& view() const { return view_; }
  [[nodiscard]] std::size_t bytes() const { return memory_.size() + sizeof(run_state); }

  /// The edge of a cell of level 0.
  [[nodiscard]] double cell_edge(int axis) const {
    const auto a = static_cast<std::size_t>(axis);
    return (config_.mesh.upper[a] - config_.mesh.lower[a]) / (double(config_.mesh.roots[a]) * n);
  }

  /// The largest number of nodes that is allowed.
  [[nodiscard]] std::size_t max_nodes() const {
    return config_.mesh.max_blocks == 0 ? std::size_t{std::numeric_limits<int>::max()}
                                        : config_.mesh.max_blocks;
  }

  /// Allocates memory for `nodes` nodes, or for as many as are allowed, and moves the mesh into it.
  /// \throws amr_error if no more are allowed; cuda_error
  void grow_to(std::size_t nodes) {
    const std::size_t most = max_nodes();
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
      // for_each_array keeps the order of the arrays.
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

  /// Puts the root blocks into the list of nodes in Morton order.
  void order_roots() {
    std::vector<int> order(view_.tree.root_count());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](int root) { return morton_code(root); });
    copy_in(order, view_.lists.nodes);
  }

  /// Waits for the stream.
  [[nodiscard]] run_state read_state() const {
    run_state state;
    copy_out(state_.data(), &state, 1);
    return state;
  }
  /// Waits for the stream.
  void write_state(const run_state& state) {
    check(cudaMemcpyAsync(state_.data(), &state, sizeof state, cudaMemcpyHostToDevice, stream_),
          "writing the state of a run");
    check(cudaStreamSynchronize(stream_), "writing the state of a run");
  }
  /// Copies from the device. Waits for the stream.
  template <class T>
  void copy_out(const T* from, T* to, std::size_t count) const {
    check(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDeviceToHost, stream_),
          "reading from a run");
    check(cudaStreamSynchronize(stream_), "reading from a run");
  }

  /// Copies to the device. Waits for the stream.
  template <class T>
  void copy_in(const std::vector<T>& from, T* to) {
    check(
        cudaMemcpyAsync(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice, stream_),
        "writing to a run");
    check(cudaStreamSynchronize(stream_), "writing to a run");
  }

  /// Copies `leaves` leaves in Morton order from the device, beginning with `first_leaf`, and their
  /// values to `packed`, [leaf][variable][cell], unless it is null. Waits for the stream.
  [[nodiscard]] std::vector<leaf_record<dim>> gather(unsigned first_leaf, std::size_t leaves,
                                                     std::vector<real>* packed) const {
    constexpr std::size_t per_leaf = std::size_t{variables} * cells::count;
    const std::size_t piece = std::min<std::size_t>(leaves, 4096);  // bounds the device memory
    const device_buffer<leaf_record<dim>> records(piece, stream_);
    const device_buffer<real> values(packed == nullptr ? 0 : piece * per_leaf, stream_);
    std::vector<leaf_record<dim>> all(leaves);
    if (packed != nullptr) packed->resize(leaves * per_leaf);
    for (std::size_t first = 0; first < leaves; first += piece) {
      const std::size_t count = std::min(piece, leaves - first);
      check(
          launch(gather_leaves<view_type>, {static_cast<unsigned>(count), gather_threads}, stream_,
                 view_, first_leaf + static_cast<unsigned>(first), records.data(), values.data())
              .code(),
          "launching the gathering of leaves");
      copy_out(records.data(), all.data() + first, count);
      if (packed != nullptr) {
        copy_out(values.data(), packed->data() + first * per_leaf, count * per_leaf);
      }
    }
    return all;
  }

  /// The sums over the cells of the first `leaves` leaves, [leaf][variable]. Waits for the stream.
  [[nodiscard]] std::vector<double> sum_leaves(std::size_t leaves) const {
    const device_buffer<double> sums(leaves * variables, stream_);
    check(launch(amr::sum_leaves<view_type>, {static_cast<unsigned>(leaves), gather_threads},
                 stream_, view_, sums.data())
              .code(),
          "launching the sums over the leaves");
    std::vector<double> host(sums.size());
    copy_out(sums.data(), host.data(), host.size());
    return host;
  }

  /// Copies the values of leaves to their nodes. Waits for the stream.
  void scatter(const std::vector<int>& nodes, const std::vector<std::byte>& values_of_leaves) {
    constexpr std::size_t per_leaf = std::size_t{variables} * cells::count;
    const std::size_t piece = std::min<std::size_t>(nodes.size(), 4096);
    const device_buffer<int> numbers(piece, stream_);
    const device_buffer<real> packed(piece * per_leaf, stream_);
    for (std::size_t first = 0; first < nodes.size(); first += piece) {
      const std::size_t count = std::min(piece, nodes.size() - first);
      check(cudaMemcpyAsync(numbers.data(), nodes.data() + first, count * sizeof(int),
                            cudaMemcpyHostToDevice, stream_),
            "restoring a run");
      check(
          cudaMemcpyAsync(packed.data(), values_of_leaves.data() + first * per_leaf * sizeof(real),
                          count * per_leaf * sizeof(real), cudaMemcpyHostToDevice, stream_),
          "restoring a run");
      check(launch(scatter_leaves<view_type>, {static_cast<unsigned>(count), gather_threads},
                   stream_, view_, numbers.data(), packed.data())
                .code(),
            "launching the scattering of leaves");
    }
    check(cudaStreamSynchronize(stream_), "restoring a run");
  }

 private:
  void describe_domain() {
    mesh_tree<dim>& tree = view_.tree;
    for (std::size_t axis = 0; axis < dim; ++axis) {
      tree.roots[axis] = config_.mesh.roots[axis];
      for (std::size_t side = 0; side < 2; ++side) {
        tree.sides[axis][side] = config_.mesh.sides[axis][side];
        if (tree.sides[axis][side] == boundary::reflecting) {
          tree.reflecting |= 1u << face_of(static_cast<int>(axis), static_cast<int>(side));
        }
      }
      view_.lower[axis] = static_cast<real>(config_.mesh.lower[axis]);
      view_.root_spacing[axis] = static_cast<real>(cell_edge(static_cast<int>(axis)));
    }
    tree.max_level = config_.mesh.max_level;
    tree.balance_codimension = config_.mesh.balance == balance::face   ? 1
                               : config_.mesh.balance == balance::edge ? 2
                                                                       : dim;
  }

  /// Chooses the shape of the grids of advance_blocks for this device.
  void choose_teams() {
    using storage = advance_storage<Physics, n>;
    using tuning = advance_tuning<Physics, n>;
    const std::size_t granted =
        set_max_dynamic_shared(advance_blocks<view_type>, tuning::max_teams * sizeof(storage));
    if (granted < sizeof(storage)) {
      throw unavailable("amr: blocks of " + std::to_string(n) + " cells along an edge need " +
                        std::to_string(sizeof(storage)) +
                        " bytes of shared memory, more than this device has");
    }
    view_.max_teams = static_cast<unsigned>(granted / sizeof(storage));
    view_.resident_blocks =
        resident_blocks(advance_blocks<view_type>, view_.max_teams * tuning::threads,
                        view_.max_teams * sizeof(storage));
  }

  /// Calls `use(pointer, count)` for each array that has entries for nodes, always in this order.
  template <class Use>
  static void for_each_array(view_type& view, std::size_t nodes, Use use) {
    const std::size_t all = nodes * variables * cells::count;
    const std::size_t faces = nodes * mesh_tree<dim>::faces;
    use(view.u_new.data, all);
    use(view.u_stage.data, all);
    use(view.u_old.data, view.step.subcycle ? all : 0);
    use(view.flux_register, view.step.reflux ? faces * variables * cells::per_face : 0);
    use(view.tree.place, nodes);
    use(view.tree.parent, nodes);
    use(view.tree.first_child, nodes);
    use(view.tree.neighbor, faces);
    use(view.lists.leaves, nodes);
    use(view.lists.nodes, nodes);
    use(view.lists.interface_nodes, nodes);
    use(view.lists.tagged, nodes);
    use(view.lists.coarsened, nodes);
    use(view.lists.free_families, nodes);
    use(view.lists.is_tagged, nodes);
    use(view.lists.idle, nodes);
    use(view.lists.first_leaf, nodes);
    use(view.lists.leaf_counts, nodes);
  }

  /// The interleaved bits of a root block's coordinates, x lowest.
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
  device_buffer<run_state> state_;
  device_buffer<std::byte> memory_;
  view_type view_{};
};

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
