// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// divided_mesh: the blocks of a rank. Each rank has the tree of all blocks, and makes the same
/// changes to it; the blocks have the same numbers on all ranks. It has the values of its own
/// blocks and of its halo (part_plan.cuh), in slots (value_slots.hpp).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ramify/amr/device_mesh.cuh>
#include <ramify/cluster/communicator.hpp>
#include <ramify/distributed_amr/leaf_exchange.cuh>
#include <ramify/distributed_amr/part_lists.cuh>
#include <ramify/distributed_amr/part_plan.cuh>
#include <ramify/distributed_amr/region_exchange.cuh>
#include <ramify/distributed_amr/value_slots.hpp>
#include <ramify/runtime/phase_range.cuh>
#include <string>
#include <utility>
#include <vector>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// The device memory of a rank, and the division of the blocks among the ranks.
template <class Physics, int n, class Criterion>
class divided_mesh : public device_mesh<Physics, n, Criterion, mesh_part> {
  using base = device_mesh<Physics, n, Criterion, mesh_part>;

 public:
  using base::dim;
  using typename base::view_type;
  using blocks = whole_block<view_type>;

  /// Allocates memory for a mesh that has no blocks yet. `ranks` must outlive the mesh.
  /// \throws what the constructor of device_mesh throws
  divided_mesh(const Physics& physics, const Criterion& criterion, const amr_options& options,
               cudaStream_t stream, communicator& ranks)
      : base(physics, criterion, options, stream),
        ranks_(&ranks),
        exchange_(ranks, stream),
        leaves_of_ranks_(ranks, stream) {
    roots_ = base::ordered_roots();
    this->view().rank = ranks.rank();
  }

  /// Writes the root blocks to the list of nodes, and divides them among the ranks.
  void order_roots() {
    base::order_roots();
    const mesh_tree<dim>& shape = this->view().tree;
    tree_copy<dim> tree(shape, roots_, shape.root_count());
    for (unsigned root = 0; root < shape.root_count(); ++root) {
      tree.places[root] = shape.place_of_root(root);
    }
    take_own(tree);
  }

  /// Divides the blocks of a saved state, and sends the values of its leaves from rank 0, where
  /// `packed` has them, to their ranks. Collective. \throws cluster_error, cuda_error
  void scatter(const host_forest<dim>& forest, const std::byte* packed) {
    tree_copy<dim> tree(this->view().tree, roots_, forest.places.size());
    std::ranges::copy(forest.places, tree.places.begin());
    std::ranges::copy(forest.parents, tree.parents.begin());
    std::ranges::copy(forest.first_children, tree.first_children.begin());
    take_own(tree);
    std::vector<int> leaf_owners;
    for (const int node : forest.nodes_of_leaves) {
      leaf_owners.push_back(owners_[std::size_t(node)]);
    }
    leaves_of_ranks_.scatter(this->view(), forest.nodes_of_leaves, leaf_owners, packed);
  }

  [[nodiscard]] std::size_t bytes() const { return base::bytes() + exchange_.bytes(); }
  [[nodiscard]] const part_plan& plan() const { return plan_; }
  /// Returns the largest cost of a rank over the mean, by the counts of divide().
  [[nodiscard]] double imbalance() const { return imbalance_; }
  /// Returns the number of blocks that this rank has sent to their new ranks after regrids.
  [[nodiscard]] std::uint64_t moved_blocks() const { return moved_blocks_; }

 protected:
  [[nodiscard]] view_type linked(view_type view) const {
    static_cast<runtime::chain_link&>(view) = link_;
    return view;
  }
  [[nodiscard]] view_type own_view() const { return lists_.own_blocks(linked(this->view())); }

  /// Sorts a list of nodes. Atomic operations append to it, in an order that differs between ranks.
  std::vector<int> sort_on_device(int* list, std::size_t count) {
    std::vector<int> nodes(count);
    this->copy_out(list, nodes.data(), count);
    std::ranges::sort(nodes);
    this->copy_in(nodes, list);
    return nodes;
  }

  /// Gives the new children of this rank's blocks their slots.
  void place_children(const run_state& now) {
    const mesh_tree<dim>& tree = this->view().tree;
    const unsigned count = now.regrid.refine_count;
    const unsigned free = now.mesh.free_families;
    const std::vector<int> parents =
        sort_on_device(this->view().lists.tagged + now.regrid.refine_begin, count);
    const auto nodes = std::size_t(tree.first_of_family(now.mesh.families + new_families(now)));
    if (nodes > tree.capacity) return;  // check_capacity() reports it, and the phase is repeated
    std::vector<unsigned> families(free);
    this->copy_out(this->view().lists.free_families, families.data(), free);
    owners_.resize(nodes, -1);
    slots_.resize(nodes);
    for (unsigned i = 0; i < count; ++i) {  // as first_child_for()
      const unsigned family = i < free ? families[free - 1 - i] : now.mesh.families + (i - free);
      const int owner = owners_[std::size_t(parents[i])];
      for (int child = 0; child < tree.siblings; ++child) {
        const int node = tree.first_of_family(family) + child;
        owners_[std::size_t(node)] = owner;
        if (owner == ranks_->rank()) slots_.give(node);
      }
    }
    write_slots();
  }

  /// Divides the blocks among the ranks, moves the values of blocks with a new rank, and plans the
  /// messages. Collective.
  void redistribute(const run_state& now, part_communication::grids_type& grids) {
    const phase_range range("amr: redistribute");
    const mesh_tree<dim>& shape = this->view().tree;
    tree_copy<dim> tree(shape, roots_, std::size_t(shape.first_of_family(now.mesh.families)));
    read_tree(tree);
    const int rank = ranks_->rank();
    const int ranks = ranks_->size();
    const bool subcycle = this->view().step.subcycle;
    division divided = divide(tree, ranks, subcycle);
    imbalance_ = divided.imbalance;
    region_collector moves(rank, ranks);
    for (std::size_t node = 0; node < divided.owners.size(); ++node) {
      if (divided.owners[node] >= 0) moves.add(owners_[node], divided.owners[node], {int(node), 0});
    }
    const region_messages moved(moves.lists(), this->stream());
    moved_blocks_ += moved.send.size();
    exchange_.begin(grids, linked(this->view()), blocks{}, moved);  // from the old slots

    plan_ = part_planner<dim>(tree, divided.owners, rank, ranks, subcycle).take();
    owners_ = std::move(divided.owners);
    slots_.resize(owners_.size());
    slots_.give_only_to(plan_.present);
    write_slots();
    this->view().finest = plan_.finest;
    this->view().has_interface = plan_.has_interface;
    exchange_.end(grids, linked(this->view()), blocks{}, moved, this->stream());
    ranks_->synchronize(this->stream());
    lists_ = part_lists(plan_, this->stream());
  }

  communicator* ranks_;
  region_exchange<view_type> exchange_;
  leaf_exchange<view_type> leaves_of_ranks_;
  part_plan plan_;
  part_lists lists_;
  runtime::chain_link link_;

 private:
  /// Takes the blocks that divide() assigns to this rank, before they have values.
  void take_own(const tree_copy<dim>& tree) {
    division divided = divide(tree, ranks_->size(), this->view().step.subcycle);
    owners_ = std::move(divided.owners);
    std::vector<int> own;
    for (std::size_t node = 0; node < owners_.size(); ++node) {
      if (owners_[node] == ranks_->rank()) own.push_back(int(node));
    }
    slots_.resize(owners_.size());
    slots_.give_only_to(own);
    write_slots();
  }

  /// Writes the slots and the owners of the nodes to the device, after it has allocated memory for
  /// the slots. \throws amr_error if there is no memory; cuda_error
  void write_slots() {
    if (slots_.needed() > this->slots()) {
      try {
        this->grow_to(this->view().tree.capacity,
                      std::max(slots_.needed(), this->slots() + this->slots() / 2));
      } catch (const cuda_error& e) {
        if (e.code() != cudaErrorMemoryAllocation) throw;
        throw amr_error("there is no device memory for the values of " +
                        std::to_string(slots_.needed()) + " blocks on rank " +
                        std::to_string(ranks_->rank()));
      }
    }
    this->copy_in(slots_.of_nodes(), this->view().node_slots);
    this->copy_in(owners_, this->view().owners);
  }

  /// Copies the tree from the device.
  void read_tree(tree_copy<dim>& copy) const {
    const mesh_tree<dim>& tree = this->view().tree;
    this->copy_out(tree.place, copy.places.data(), copy.places.size());
    this->copy_out(tree.parent, copy.parents.data(), copy.parents.size());
    this->copy_out(tree.first_child, copy.first_children.data(), copy.first_children.size());
    this->copy_out(tree.neighbor, copy.neighbors.data(), copy.neighbors.size());
  }

  std::vector<int> roots_;  // in Morton order
  value_slots slots_;
  std::vector<int> owners_;  // [node]
  double imbalance_ = 1;
  std::uint64_t moved_blocks_ = 0;
};

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
