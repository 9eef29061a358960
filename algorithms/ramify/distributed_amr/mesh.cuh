// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// distributed_mesh: a rank's part of a mesh (divided_mesh.cuh), and its phases.
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

#include <cstddef>
#include <ramify/distributed_amr/divided_mesh.cuh>
#include <ramify/runtime/stream.cuh>
#include <vector>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// The device memory of a rank, and its communication with the other ranks. Not movable.
template <class Physics, int n, class Criterion>
class distributed_mesh final : public divided_mesh<Physics, n, Criterion>,
                               public part_communication {
  using base = divided_mesh<Physics, n, Criterion>;
  using base::exchange_;
  using base::leaves_of_ranks_;
  using base::link_;
  using base::linked;
  using base::lists_;
  using base::own_view;
  using base::plan_;
  using base::ranks_;

 public:
  using base::dim;
  using base::variables;
  using typename base::blocks;
  using typename base::real;
  using typename base::view_type;
  using layers = face_layers<view_type>;
  using registers = face_register<view_type>;

  /// Allocates memory for a mesh that has no blocks yet. `ranks` must outlive the mesh.
  /// \throws what the constructor of device_mesh throws
  distributed_mesh(const Physics& physics, const Criterion& criterion, const amr_options& options,
                   cudaStream_t stream, communicator& ranks)
      : base(physics, criterion, options, stream, ranks), numbers_(combined_rates, stream) {
    this->view().host = this;
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
    const view_type view = linked(this->view());
    const bool buffers = buffer_cells_of(view.criterion) > 0;
    const unsigned most = buffers ? count : words;
    if (words_.size() < most) words_ = device_buffer<unsigned>(most, this->stream());
    grids(pack_tags<view_type>, {blocks_for(words), list_threads}, view, count, words_.data());
    ranks_->all_reduce_in_stream(words_.data(), words, reduction::sum, this->stream());
    grids(unpack_tags<view_type>, {blocks_for(count), list_threads}, view, count, words_.data());
    if constexpr (has_buffer<Criterion>) {
      if (!buffers) return;
      grids(pack_near_sides<view_type>, {blocks_for(count), list_threads}, view, count,
            words_.data());
      ranks_->all_reduce_in_stream(words_.data(), count, reduction::sum, this->stream());
      grids(unpack_near_sides<view_type>, {blocks_for(count), list_threads}, view, count,
            words_.data());
    }
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

  /// Returns the own leaves for kernels of the caller. Not collective.
  [[nodiscard]] auto leaves_for_kernels(double time) const {
    return own_view().leaves_of(time, unsigned(plan_.leaves.size()));
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
    ranks_->template all_gather_v<double>(sums.data(), counts, all.data(), this->stream());
    std::vector<double> by_rank(leaves * variables);
    this->copy_out(all.data(), by_rank.data(), by_rank.size());
    return in_order_of_leaves(by_rank, variables, plan_.leaf_owners, 0, leaves, ranks_->size());
  }

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

  void prepare(const run_state& now, grids_type& grids) {
    switch (now.next) {
      case phase::tag: {
        if (now.regrid.building) this->redistribute(now, grids);
        const view_type view = linked(this->view());
        exchange_.run(grids, view, layers{view.u_new}, lists_.halo);
        break;
      }
      case phase::change_mesh:
        if (now.regrid.refine_count > 0) this->place_children(now);
        this->sort_on_device(this->view().lists.coarsened, now.regrid.coarsen_count);
        break;
      case phase::average_down: this->redistribute(now, grids); break;
      default: break;
    }
  }

  run_state now_{};  // at the beginning of the phase
  const region_messages* in_stage_ = nullptr;
  layers stage_layers_{};

  // The border blocks of a stage, which begin before the remaining interior ones.
  host_stream border_ = host_stream::of_highest_priority();
  host_event end_of_border_ = host_event::without_time();
  bool has_border_ = false;

  host_stream marks_;
  host_event mark_ = host_event::without_time();

  device_buffer<unsigned long long> numbers_;
  device_buffer<unsigned> words_;
};

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
