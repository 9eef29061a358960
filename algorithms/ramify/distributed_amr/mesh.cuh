// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// distributed_mesh: a rank's part of a mesh. Each rank has the tree of all blocks, and makes the
/// same changes to it; the blocks have the same numbers on all ranks. It has the values of its own
/// blocks and of its halo (part_plan.cuh), in slots (value_slots.hpp).
///
/// The phases of a run are those of phases.cuh, launched by the host, which communicates between
/// grids. What the host does before a phase:
///
///   tag            the values that the criterion and the interpolation read are exchanged; while
///                  the first mesh is built, its blocks are divided again, too
///   change_mesh    the list of tagged blocks is sorted, so that all ranks give their children the
///                  same numbers; own children get slots; the list of families to coarsen is
///                  sorted, so that all ranks free them in the same order
///   average_down   the lists are complete: the blocks are divided, moved to their new ranks, and
///                  the messages are planned

#include <algorithm>
#include <cstddef>
#include <memory>
#include <ramify/amr/device_mesh.cuh>
#include <ramify/cluster/communicator.hpp>
#include <ramify/distributed_amr/leaf_exchange.cuh>
#include <ramify/distributed_amr/part_lists.cuh>
#include <ramify/distributed_amr/part_plan.cuh>
#include <ramify/distributed_amr/region_exchange.cuh>
#include <ramify/distributed_amr/value_slots.hpp>
#include <ramify/runtime/phase_range.cuh>
#include <ramify/runtime/stream.cuh>
#include <string>
#include <vector>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// The device memory of a rank, and its communication with the other ranks. Not movable.
template <class Physics, int n, class Criterion>
class distributed_mesh final : public device_mesh<Physics, n, Criterion, mesh_part>,
                               public part_communication {
  using base = device_mesh<Physics, n, Criterion, mesh_part>;

 public:
  using base::dim;
  using base::variables;
  using typename base::cells;
  using typename base::real;
  using typename base::view_type;
  using layers = face_layers<view_type>;
  using registers = face_register<view_type>;
  using blocks = whole_block<view_type>;

  /// Allocates memory for a mesh that has no blocks yet. `ranks` must outlive the mesh.
  /// \throws what the constructor of device_mesh throws
  distributed_mesh(const Physics& physics, const Criterion& criterion, const amr_options& options,
                   cudaStream_t stream, communicator& ranks)
      : base(physics, criterion, options, stream),
        ranks_(&ranks),
        exchange_(ranks, stream),
        leaves_of_ranks_(ranks, stream),
        numbers_(combined_rates, stream) {
    roots_ = base::ordered_roots();
    this->view().host = this;
    this->view().rank = ranks.rank();
  }

  // ---- the beginning of a run ------------------------------------------------------------------

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

  // ---- phases ----------------------------------------------------------------------------------

  /// Launches the phase that is due in `now`, and communicates in the order of the stream.
  /// Launches the phases after it that need no state of the device, too, and waits for all.
  template <class Fill>
  void launch_phases(const run_state& now, const runtime::chain_link& link, const Fill& fill,
                     grids_type& grids) {
    link_ = link;
    launch_phase(now, fill, grids);
    mark_end_of_phase();
    const bool is_step = now.next == phase::step;
    if (is_step || (now.next == phase::average_down && !now.regrid.building)) {
      for_each_following(this->view(), now, now.clock.steps + (is_step ? now.clock.batch : 0),
                         [&](const run_state& next) {
                           launch_phase(next, fill, grids);
                           ranks_->synchronize(marks_.get());
                           mark_end_of_phase();
                         });
    }
    ranks_->synchronize(this->stream());
  }

  void combine_rates(grids_type& grids) override {
    if (ranks_->size() == 1) return;
    const view_type view = own_view();
    grids(pack_rates<view_type>, {1, 1}, view, lists_.leaf_numbers.data(), numbers_.data());
    ranks_->all_reduce_in_stream(numbers_.data(), numbers_.size(), reduction::max, this->stream());
    grids(unpack_rates<view_type>, {1, 1}, view, numbers_.data());
  }

  [[nodiscard]] stage_blocks begin_stage(grids_type& grids, int stage, int level) override {
    const bool all = level == all_levels;
    in_stage_ = all ? &lists_.halo : &lists_.same_level[std::size_t(level)];
    const view_type view = linked(this->view());
    stage_layers_ = {stage == 0 ? view.u_new : view.u_stage};
    exchange_.begin(grids, view, stage_layers_, *in_stage_);
    const stage_range& range = plan_.stages[all ? 0 : std::size_t(level)];
    return {lists_.stage_nodes.data() + range.begin, range.interior, range.count};
  }
  void begin_border(grids_type& grids) override {
    has_border_ = exchange_.is_under_way();
    if (!has_border_) return;
    // The exchange began after the earlier work in the stream of the mesh.
    static_cast<void>(grids.continue_in(border_.get()));
    exchange_.end(grids, linked(this->view()), stage_layers_, *in_stage_, border_.get());
  }
  void end_stage(grids_type& grids) override {
    if (!has_border_) return;
    static_cast<void>(grids.continue_in(this->stream()));
    end_of_border_.record(border_.get());
    end_of_border_.block(this->stream());
  }

  void share_level(grids_type& grids, int level) override {
    const view_type view = linked(this->view());
    exchange_.run(grids, view, layers{view.u_new, view.u_old, 2}, lists_.finer[std::size_t(level)]);
  }
  void share_flux_registers(grids_type& grids, int level) override {
    exchange_.run(grids, linked(this->view()), registers{},
                  lists_.registers[level == all_levels ? 0 : std::size_t(level)]);
  }
  void share_children(grids_type& grids, int level) override {
    exchange_.run(grids, linked(this->view()), blocks{}, lists_.children[std::size_t(level)]);
  }

  void combine_tags(grids_type& grids) override {
    if (ranks_->size() == 1) return;
    const regrid_state& regrid = now_.regrid;
    const unsigned count = regrid.refine_count == 0
                               ? now_.mesh.leaves
                               : regrid.refine_count * mesh_tree<dim>::siblings;
    const unsigned words = (count + tags_per_word - 1) / tags_per_word;
    if (words_.size() < words) words_ = device_buffer<unsigned>(words, this->stream());
    const view_type view = linked(this->view());
    grids(pack_tags<view_type>, {blocks_for(words), list_threads}, view, count, words_.data());
    ranks_->all_reduce_in_stream(words_.data(), words, reduction::sum, this->stream());
    grids(unpack_tags<view_type>, {blocks_for(count), list_threads}, view, count, words_.data());
  }

  // ---- results ---------------------------------------------------------------------------------

  /// Returns the leaves, as device_mesh::gather() does, and their values on all ranks. Collective.
  [[nodiscard]] std::vector<leaf_record<dim>> gather(unsigned first_leaf, std::size_t leaves,
                                                     std::vector<real>* packed) const {
    auto records = base::gather(first_leaf, leaves, nullptr);
    if (packed == nullptr) return records;
    *packed = leaves_of_ranks_.collect(this->view(), plan_, first_leaf, leaves);
    packed->resize(leaves * base::values_per_leaf);
    device_buffer<real> values = to_device(*packed, this->stream());
    ranks_->broadcast(values.data(), values.size(), 0, this->stream());
    this->copy_out(values.data(), packed->data(), packed->size());
    return records;
  }

  /// Returns the leaves, and their values on rank 0; on the others `packed` is empty. Collective.
  [[nodiscard]] std::vector<leaf_record<dim>> gather_to_first_rank(
      unsigned first_leaf, std::size_t leaves, std::vector<real>* packed) const {
    *packed = leaves_of_ranks_.collect(this->view(), plan_, first_leaf, leaves);
    return base::gather(first_leaf, leaves, nullptr);
  }

  /// Returns the leaves, and the values of the own ones. Not collective.
  [[nodiscard]] std::vector<leaf_record<dim>> gather_own(unsigned first_leaf, std::size_t leaves,
                                                         std::vector<real>* packed) const {
    *packed = leaves_of_ranks_.own_values(this->view(), plan_);
    return base::gather(first_leaf, leaves, nullptr);
  }

  /// Returns the sums over the cells of the first `leaves` leaves, [leaf][variable], on all ranks.
  /// Collective.
  [[nodiscard]] std::vector<double> sum_leaves(std::size_t leaves) const {
    const std::size_t own = plan_.leaves.size();
    const device_buffer<double> sums(own * variables, this->stream());
    const device_buffer<double> all(leaves * variables, this->stream());
    grids_type grids(this->stream());
    grids(amr::sum_leaves<view_type>, {unsigned(own), gather_threads}, own_view(), sums.data());
    check(grids.error(), "launching the sums of leaves");
    std::vector<std::uint64_t> counts(std::size_t(ranks_->size()), 0);
    for (const int owner : plan_.leaf_owners) counts[std::size_t(owner)] += variables;
    ranks_->all_gather_v<double>(sums.data(), counts, all.data(), this->stream());
    std::vector<double> by_rank(leaves * variables);
    this->copy_out(all.data(), by_rank.data(), by_rank.size());
    return in_order_of_leaves(by_rank, variables, plan_.leaf_owners, 0, leaves, ranks_->size());
  }

  [[nodiscard]] std::size_t bytes() const { return base::bytes() + exchange_.bytes(); }
  [[nodiscard]] const part_plan& plan() const { return plan_; }
  /// Returns the largest cost of a rank over the mean, by the counts of divide().
  [[nodiscard]] double imbalance() const { return imbalance_; }
  /// Returns the number of blocks that this rank has sent to their new ranks after regrids.
  [[nodiscard]] std::uint64_t moved_blocks() const { return moved_blocks_; }

 private:
  /// Lets ranks_->synchronize(marks_.get()) wait for the phase that was launched last, and not for
  /// later ones. So at most two phases are in the stream. If it were full, a launch would wait in
  /// the driver, which does not poll for errors of other ranks.
  void mark_end_of_phase() {
    mark_.record(this->stream());
    mark_.block(marks_.get());
  }

  /// Launches a phase after what the host does before it.
  template <class Fill>
  void launch_phase(const run_state& now, const Fill& fill, grids_type& grids) {
    now_ = now;
    prepare(now, grids);
    const bool by_own_lists = now.next == phase::step || now.next == phase::average_down;
    run_state due = now;
    if (by_own_lists) due.mesh = own_blocks(now.mesh, plan_);
    const view_type view = by_own_lists ? own_view() : linked(this->view());
    if (now.next == phase::step) {
      launch_steps<false>(view, due.mesh, due.clock.batch, grids);
    } else {
      launch_regrid_phase(view, due, fill, grids);
    }
  }

  [[nodiscard]] view_type linked(view_type view) const {
    static_cast<runtime::chain_link&>(view) = link_;
    return view;
  }
  [[nodiscard]] view_type own_view() const { return lists_.own_blocks(linked(this->view())); }

  void prepare(const run_state& now, grids_type& grids) {
    switch (now.next) {
      case phase::tag: {
        if (now.regrid.building) redistribute(now, grids);
        const view_type view = linked(this->view());
        exchange_.run(grids, view, layers{view.u_new}, lists_.halo);
        break;
      }
      case phase::change_mesh:
        if (now.regrid.refine_count > 0) place_children(now);
        sort_on_device(this->view().lists.coarsened, now.regrid.coarsen_count);
        break;
      case phase::average_down: redistribute(now, grids); break;
      default: break;
    }
  }

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

  /// Divides the blocks among the ranks, moves the values of blocks with a new rank, and plans the
  /// messages. Collective.
  void redistribute(const run_state& now, grids_type& grids) {
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
  std::vector<int> roots_;  // in Morton order
  value_slots slots_;
  std::vector<int> owners_;  // [node]
  part_plan plan_;
  double imbalance_ = 1;
  std::uint64_t moved_blocks_ = 0;

  run_state now_{};  // at the beginning of the phase
  runtime::chain_link link_;
  const region_messages* in_stage_ = nullptr;
  layers stage_layers_{};

  // The border blocks of a stage, which begin before the remaining interior ones.
  host_stream border_ = host_stream::of_highest_priority();
  host_event end_of_border_ = host_event::without_time();
  bool has_border_ = false;

  host_stream marks_;
  host_event mark_ = host_event::without_time();

  part_lists lists_;
  device_buffer<unsigned long long> numbers_;
  device_buffer<unsigned> words_;
};

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
