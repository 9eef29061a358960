// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// chain_launcher: what the host puts into the stream of a launch chain: rounds, one by one or
/// ahead, the loops of graphs, and grids that complete a chain. launch_chain.cuh decides when.

#include <algorithm>
#include <ramify/runtime/detail/chain_link.cuh>
#include <ramify/runtime/detail/chain_loops.cuh>
#include <ramify/runtime/detail/chain_members.cuh>
#include <ramify/runtime/run_control.cuh>
#include <string>
#include <type_traits>
#include <utility>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// Launches the grids of one chain from the host, and counts them in the report of its run_control,
/// which must outlive it. All functions are asynchronous, and throw cuda_error.
template <class Program>
class chain_launcher {
 public:
  using state_type = typename Program::state_type;
  using members = chain_members<Program>;

  /// Launches nothing, and sets the base chain_link of the program.
  chain_launcher(run_control& control, const Program& from, loop_choice wanted)
      : program(from), loop(std::move(wanted)), control_(&control) {
    static_cast<chain_link&>(program) = control.link();
  }

  Program program;
  loop_choice loop;  ///< a loop that the driver refuses changes it
  /// The number of grids in an iteration of the loop that was made last.
  unsigned grids_of_loop = 0;

  /// Calls `put` with a launcher into the stream, which leaves out the first `skipped` grids.
  template <class Put>
  void launch(const char* doing, Put put, unsigned skipped = 0) {
    round_launcher grids(control_->stream(), skipped);
    put(grids);
    check(grids.error(), doing);
    control_->count_grids(grids.launched(), level_);
  }

  /// Launches the phase that is due in `state`. Its kernel launches nothing.
  void launch_flat_phase(const state_type& state) {
    launch("launching a phase",
           [&](auto& grids) { launch_phase(without_slots(), due_in(program, state), grids); });
  }

  /// Launches the rounds that do not need the state.
  void launch_ahead() requires members::launches_ahead {
    launch("launching rounds ahead", [&](auto& grids) {
      if constexpr (std::is_void_v<decltype(program.launch_ahead(grids))>) {
        program.launch_ahead(grids);
      } else {
        level_ = program.launch_ahead(grids);
      }
    });
    const bool by_choice = loop.wanted != flat_loop::host;
    set_looped_by(flat_loop::host, by_choice ? "too few rounds for a graph to pay" : loop.reason);
  }

  /// Launches the due round of `state`, or all rounds that repeat it as a graph.
  void launch_due_round(const state_type& state, const chain_progress& progress) {
    const unsigned skipped = progress.launched;
    const Program flat = without_slots();
    if (members::has_loop && skipped == 0 && loop.wanted != flat_loop::host &&
        program.repeats(state) && put_loop(state)) {
      return;
    }
    if (skipped != 0) {
      // A kernel launched the first grids of the round.
      clear_memory(&program.progress->launched, 1, control_->stream(),
                   "clearing the count of launched grids");
    }
    level_ = std::max(level_, progress.rounds) + 1;
    launch(
        "launching a round", [&](auto& grids) { launch_round(flat, state, grids); }, skipped);
    if (!control_->on_device_route() && (!members::has_loop || program.repeats(state))) {
      set_looped_by(flat_loop::host, loop.reason);
    }
  }

  /// Puts a loop into the stream that launches rounds until one of them finishes the chain or does
  /// not repeat. Returns whether there can be one; if not, it makes the host launch them.
  /// \throws unavailable; cuda_error
  bool put_loop([[maybe_unused]] const state_type& state) {
#if RAMIFY_ON_CUDA
    const bool captured = is_being_captured(control_->stream());
    if (captured) require_capturable(loop, members::has_loop);
    if constexpr (members::has_loop) {
      if (captured) {
        loops_.capture(control_->stream(), body_of_loop(state));
        set_looped_by(flat_loop::graph, "the stream was being captured");
        return true;
      }
      const bool requested = loop.wanted == flat_loop::graph;
      try {
        loops_.launch(control_->stream(), program.trace.is_on(), body_of_loop(state));
        set_looped_by(flat_loop::graph,
                      requested ? loop.reason : "iterations need no round trips of the host");
        return true;
      } catch (const unavailable& e) {
        if (requested) throw;
        loop = {flat_loop::host, e.what()};
      }
    }
#else
    loop = choose_loop(loop.wanted, "flat_loop");
#endif
    return false;
  }

  /// Puts grids into the stream that continue the chain if those before them have not finished it.
  /// `is_captured` is whether a graph captures the stream. Returns whether they finish it from
  /// every state.
  [[nodiscard]] bool put_completion([[maybe_unused]] const state_type& known, bool is_captured) {
    if (!control_->needs_completion()) return false;
    if constexpr (members::launches_rest) {
      if (control_->on_device_route()) {
        launch("launching rounds that kernels may leave",
               [&](auto& grids) { without_slots().launch_rest(grids); });
      }
    }
    if (!members::needs_loop(program)) {
      if (is_captured && control_->on_device_route()) launch_release();
      return true;
    }
#if RAMIFY_ON_CUDA
    if constexpr (members::has_loop && !members::needs_no_completing_loop) {
      const auto decide = [&](const loop_condition& condition, auto& grids) {
        Program deciding = program;
        deciding.loop = condition;
        grids(begin_completion<Program>, launch_shape{1, 1}, deciding);
      };
      if (is_captured) {
        loops_.capture_if_due(control_->stream(), body_of_loop(known), decide);
        control_->holds_no_slots();
        control_->count_grids(1, 0);
        return true;
      }
      try {
        loops_.launch_if_due(control_->stream(), body_of_loop(known), decide);
        control_->count_grids(1, 0);
        return true;
      } catch (const unavailable&) {  // the driver refuses this loop: the host continues
      }
    }
#endif
    return false;
  }

  /// Releases the slots that the chain holds when all its grids are complete. A graph needs it as
  /// the last node: it does not wait for the child grids of its last kernel (H100, CUDA 13.0).
  void launch_release() {
    control_->launch_grid("launching the release of slots", release_slots<chain_link>, {1, 1},
                          static_cast<const chain_link&>(program));
    control_->holds_no_slots();
  }

  /// Counts the next rounds as the first ones.
  void restart_levels() { level_ = 0; }

  /// States that the host has waited for the grids in the stream, in which a loop has had
  /// `iterations` since the last call.
  void count_iterations(unsigned iterations) {
#if RAMIFY_ON_CUDA
    loops_.are_complete();
#endif
    control_->report().graph_grids += iterations * grids_of_loop;
    if (iterations > 0 && control_->report().looped_by != flat_loop::graph) {
      set_looped_by(flat_loop::graph, "a loop in the stream launched rounds that were left");
    }
  }

 private:
  /// Returns the program for grids that the host launches, which need no slots.
  [[nodiscard]] Program without_slots() const {
    Program flat = program;
    flat.slots = {};
    return flat;
  }

#if RAMIFY_ON_CUDA
  /// Returns the body of a loop, which launches the grids of any round without slots.
  [[nodiscard]] auto body_of_loop(const state_type& state) {
    return [&](const loop_condition& condition, auto& grids) {
      Program flat = without_slots();
      flat.loop = condition;
      flat.launch_repeated(state, grids);
      grids_of_loop = grids.launched();
    };
  }
#endif

  void set_looped_by(flat_loop by, const std::string& reason) {
    control_->report().looped_by = by;
    control_->report().flat_loop_reason = reason;
  }

  run_control* control_;
#if RAMIFY_ON_CUDA
  std::conditional_t<members::has_loop, chain_loops<Program>, no_loops> loops_;
#endif
  unsigned level_ = 0;  // of the last round that the host launched
};

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
