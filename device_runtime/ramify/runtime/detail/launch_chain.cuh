// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// launch_chain: runs a program of dependent rounds on either route. chain_link.cuh describes
/// programs.
///
/// | route  | the rounds are launched by |
/// |--------|--------------------------|
/// | device | the last block of the previous round, or the driver kernel |
/// | flat   | the host, some ahead (launch_ahead()), the others one by one: it reads the state   |
/// |        | after each; or a graph with a WHILE node, for rounds that repeat                    |
///
/// If kernels cannot launch a round, because they find no launch slots or because a launch fails,
/// the host launches it in finish(). If the run must be complete in the order of the stream
/// (run_control::needs_completion()), grids that follow the chain in the stream launch it: a loop
/// in a graph, whose first grid decides whether the loop runs, or the grids of launch_rest().
///
/// Before start(), the caller writes the state, or launches grids that write it. These grids take
/// program() as an argument.
///
/// Optional members of a program, called on the host:
///
///     template <class Grids> void launch_ahead(Grids&) const   flat route: rounds whose grids do
///                                                      not need the state, in sizes that
///                                                      always suffice.
///                                                      It may return the level of the last
///                                                      round, for the report
///     template <class Grids> void launch_repeated(const state_type&, Grids&) const
///                                                      one iteration of a graph loop, in
///                                                      kernels that launch nothing and end with
///                                                      end_iteration(). Without it there are
///                                                      no graph loops
///     bool is_complete_ahead() const                   whether the grids of launch_first_round()
///                                                      and, on the flat route, launch_ahead() do
///                                                      the work of all rounds: then a graph needs
///                                                      no loop. If not, a loop follows the rounds
///                                                      that they launch
///     template <class Grids> void launch_rest(Grids&) const   device route: grids that do the work
///                                                      of all rounds that kernels could not
///                                                      launch, and end at once if there are none.
///                                                      They follow the chain in the stream. If
///                                                      is_complete_ahead(), no loop follows them
///     static constexpr bool needs_no_completing_loop   true: each run that needs completion is
///                                                      complete ahead, or a loop of its own
///                                                      launches its rounds. So no loop is compiled
///                                                      that follows a chain to complete it
///     bool has_no_state() const                        whether the grids that the host launches
///                                                      before finish() are the whole chain, and
///                                                      report nothing: then finish() only waits
///     void check(const state_type&) const              throws if the chain cannot continue

#include <algorithm>
#include <concepts>
#include <ramify/runtime/detail/chain_link.cuh>
#include <ramify/runtime/detail/chain_loops.cuh>
#include <ramify/runtime/phase_range.cuh>
#include <ramify/runtime/run_control.cuh>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// One run of a program in the stream of a run_control, which must outlive it.
template <class Program>
class launch_chain {
 public:
  using state_type = typename Program::state_type;

  /// Whether a graph's loop can launch rounds of the program.
  static constexpr bool has_loop =
      requires(const Program& p, const state_type& s, round_launcher& g) {
    p.launch_repeated(s, g);
  };

  /// Launches nothing. The caller sets the members of `program` except those of its base
  /// chain_link, which the constructor sets.
  launch_chain(run_control& control, const Program& program, loop_choice loop)
      : control_(&control), program_(program), loop_(std::move(loop)) {
    static_cast<chain_link&>(program_) = control.link();
  }

  /// Returns the program with its chain_link.
  [[nodiscard]] const Program& program() const { return program_; }

  /// Writes the state in the order of the stream. Asynchronous; a graph may capture it.
  /// \throws cuda_error
  void write_state(const state_type& state) {
    control_->launch_grid("launching the writing of a chain's state", write_chain_state<state_type>,
                          {1, 1}, program_.state, state, program_.trace);
  }

  /// Launches the round that is due in `state` from the host, and on the flat route the expected
  /// phases after it. On the device route its kernels launch the next round. A program with
  /// `releases_slots` requires this call before start().
  /// \throws cuda_error
  void launch_first_round(const state_type& state) {
    control_->may_hold_slots();
    from_host("launching the first round",
              [&](auto& grids) { launch_round(program_, state, grids); });
  }

  /// Launches the phase that is due in `state` from the host. Its kernel launches nothing. Call it
  /// before start(). \throws cuda_error
  void launch_flat_phase(const state_type& state) requires lists_phases<Program> {
    from_host("launching a phase",
              [&](auto& grids) { launch_phase(without_slots(), due_in(program_, state), grids); });
  }

  /// Puts the chain into the stream. Asynchronous. On the flat route it puts only the rounds there
  /// that the host launches ahead, and, if a graph is requested or captures the stream, a graph's
  /// loop that launches the others. If a graph is requested and the round of `known` does not
  /// repeat, finish() makes the loop. If the control needs completion, grids follow that launch
  /// what is left, usually nothing: a loop, or those of launch_rest(). `known` is the host's copy
  /// of the state, from which the sizes of a loop's grids are computed.
  /// \throws unavailable if a loop is necessary and not available; cuda_error
  void start(const state_type& known = {}) {
    const phase_range range("launch chain: start");
    captured_ = is_being_captured(control_->stream());
    control_->may_hold_slots();
    if (has_no_state()) control_->reports_nothing();
    if (!control_->on_device_route()) {
      // If a loop is likely to launch most rounds, it enters the stream now, without a wait. If the
      // known round does not repeat, finish() makes the loop.
      const bool prefers_graph = (loop_follows && loop_.wanted != flat_loop::host) ||
                                 (loop_.wanted == flat_loop::graph && program_.repeats(known));
      const bool by_graph = captured_ || (has_loop && prefers_graph);
      const bool loops = by_graph && needs_loop();
      if constexpr (requires(round_launcher & grids) { program_.launch_ahead(grids); }) {
        if (!loops || loop_follows) launch_ahead();
      }
      completes_ = !needs_loop() || (loops ? put_loop(known) : put_completion(known));
    } else {
      if constexpr (device_launch_available && !releases_slots<Program>) {
        control_->launch_grid("launching the driver of a chain", drive_chain<Program>, {1, 1},
                              program_);
      }
      completes_ = put_completion(known);
      if (captured_ && !completes_) launch_release();
    }
    grids_of_captured_loop_ = grids_of_loop_;
    if (captured_) started_ = control_->report();
  }

  /// Returns whether the grids that start() has put into the stream complete the chain, for every
  /// state. An exception, if they are a loop: a kernel that launches only some grids of a round,
  /// because the pending-launch pool is exhausted although the chain has slots, leaves the others
  /// to finish().
  [[nodiscard]] bool completes_in_stream() const { return completes_; }

  /// Waits until the chain is complete. Launches the rounds that kernels or graphs did not launch,
  /// and returns whether there were any.
  /// After a capture, call it once after the last launch of the graph, or after each launch.
  /// \throws cuda_error, device_launch_error, std::length_error; std::logic_error while the stream
  ///         is being captured, and after cudaDeviceReset(); what Program::check() throws
  bool finish() {
    const phase_range range("launch chain: finish");
    control_->require_context();
    require_not_captured(control_->stream());
    if (captured_) {
      control_->report() = started_;
      iterations_seen_ = 0;
      grids_of_loop_ = grids_of_captured_loop_;
    }
    level_ = 0;
    if (has_no_state()) {
      control_->wait_for_stream();
      return false;
    }
    for (bool has_launched = false;; has_launched = true) {
      read_state();
      if (progress_.held != 0) launch_release();
      if constexpr (requires { program_.check(state_); }) program_.check(state_);
      if (program_.finished(state_)) return has_launched;
      launch_due_round();
    }
  }

  /// Starts a complete chain again, with another program whose state has the same address. The
  /// caller must have written the state in the order of the stream. Asynchronous. \throws
  /// cuda_error
  void restart(const Program& program) {
    restart([&](Program& own) { own = program; });
  }

  /// Starts a complete chain again, as above, after `change` has changed its program. A program
  /// that cannot be assigned needs this form.
  template <class Change>
  requires std::invocable<Change, Program&>
  void restart(Change change) {
    const chain_link link = program_;
    change(program_);
    static_cast<chain_link&>(program_) = link;
    clear_memory(&program_.progress->stopped, 1, control_->stream(), "starting a chain again");
    start();
  }

  /// Returns the state of the complete chain, after finish().
  [[nodiscard]] const state_type& state() const { return state_; }

 private:
  /// Calls `put` with a launcher into the stream and counts its grids. \throws cuda_error
  template <class Put>
  void from_host(const char* doing, Put put, unsigned skipped = 0) {
    round_launcher grids(control_->stream(), skipped);
    put(grids);
    check(grids.error(), doing);
    control_->count_grids(grids.launched(), level_);
  }

  /// Whether the host may launch rounds before a graph's loop. Otherwise a loop launches all
  /// rounds.
  static constexpr bool loop_follows = requires(const Program& p) { p.is_complete_ahead(); };

  /// Whether no loop follows a chain to complete it.
  static constexpr bool needs_no_completing_loop = requires {
    requires Program::needs_no_completing_loop;
  };

  /// Returns whether the host need not read a state at the end.
  [[nodiscard]] bool has_no_state() const {
    if constexpr (requires { program_.has_no_state(); }) {
      return program_.has_no_state();
    } else {
      return false;
    }
  }

  /// Returns whether a graph must have a loop for the chain to be complete.
  [[nodiscard]] bool needs_loop() const {
    if constexpr (loop_follows) {
      return !program_.is_complete_ahead();
    } else {
      return true;
    }
  }

  void launch_ahead() {
    from_host("launching rounds ahead", [&](auto& grids) {
      if constexpr (std::is_void_v<decltype(program_.launch_ahead(grids))>) {
        program_.launch_ahead(grids);
      } else {
        level_ = program_.launch_ahead(grids);
      }
    });
    const bool by_choice = loop_.wanted != flat_loop::host;
    set_looped_by(flat_loop::host, by_choice ? "too few rounds for a graph to pay" : loop_.reason);
  }

  /// Waits for the grids in the stream, and reads the state and the progress.
  void read_state() {
    if (control_->sees(program_.state)) {  // one copy reads both
      progress_ = control_->wait();
      state_ = control_->seen(program_.state);
    } else {
      check(cudaMemcpyAsync(&state_, program_.state, sizeof state_, cudaMemcpyDeviceToHost,
                            control_->stream()),
            "reading the state of a chain");
      control_->read_ahead();  // the next wait is for a copy after this one
      progress_ = control_->wait();
    }
#if RAMIFY_ON_CUDA
    loops_.are_complete();  // the host has waited for the grids in the stream
#endif
    const unsigned iterations = progress_.iterations - iterations_seen_;
    iterations_seen_ = progress_.iterations;
    control_->report().graph_grids += iterations * grids_of_loop_;
    if (iterations > 0 && control_->report().looped_by != flat_loop::graph) {
      set_looped_by(flat_loop::graph, "a loop in the stream launched rounds that were left");
    }
  }

  /// Returns the program for grids that the host launches, which need no slots.
  [[nodiscard]] Program without_slots() const {
    Program flat = program_;
    flat.slots = {};
    return flat;
  }

  /// Launches the due round, or all rounds that repeat it as a graph.
  void launch_due_round() {
    const unsigned skipped = progress_.launched;
    const Program flat = without_slots();
    if (has_loop && skipped == 0 && loop_.wanted != flat_loop::host && program_.repeats(state_) &&
        put_loop(state_)) {
      return;
    }
    if (skipped != 0) {
      // A kernel launched the first grids of the round.
      clear_memory(&program_.progress->launched, 1, control_->stream(),
                   "clearing the count of launched grids");
    }
    level_ = std::max(level_, progress_.rounds) + 1;
    from_host(
        "launching a round", [&](auto& grids) { launch_round(flat, state_, grids); }, skipped);
    if (!control_->on_device_route() && (!has_loop || program_.repeats(state_))) {
      set_looped_by(flat_loop::host, loop_.reason);
    }
  }

  /// Puts a loop into the stream that launches rounds until one of them finishes the chain or does
  /// not repeat. Returns whether there can be one; if not, it makes the host launch them.
  /// \throws unavailable; cuda_error
  bool put_loop([[maybe_unused]] const state_type& state) {
#if RAMIFY_ON_CUDA
    const bool captured = is_being_captured(control_->stream());
    if (captured) require_capturable(loop_, has_loop);
    if constexpr (has_loop) {
      if (captured) {
        loops_.capture(control_->stream(), body_of_loop(state));
        set_looped_by(flat_loop::graph, "the stream was being captured");
        return true;
      }
      const bool requested = loop_.wanted == flat_loop::graph;
      try {
        loops_.launch(control_->stream(), program_.trace.is_on(), body_of_loop(state));
        set_looped_by(flat_loop::graph,
                      requested ? loop_.reason : "iterations need no round trips of the host");
        return true;
      } catch (const unavailable& e) {
        if (requested) throw;
        loop_ = {flat_loop::host, e.what()};
      }
    }
#else
    loop_ = choose_loop(loop_.wanted, "flat_loop");
#endif
    return false;
  }

  /// Puts grids into the stream that continue the chain if those before them have not finished it.
  /// Returns whether they finish it from every state. \throws cuda_error
  [[nodiscard]] bool put_completion([[maybe_unused]] const state_type& known) {
    if (!control_->needs_completion()) return false;
    if constexpr (requires(round_launcher & grids) { program_.launch_rest(grids); }) {
      if (control_->on_device_route()) {
        from_host("launching rounds that kernels may leave",
                  [&](auto& grids) { without_slots().launch_rest(grids); });
      }
    }
    if (!needs_loop()) {
      if (captured_ && control_->on_device_route()) launch_release();
      return true;
    }
#if RAMIFY_ON_CUDA
    if constexpr (has_loop && !needs_no_completing_loop) {
      const auto decide = [&](const loop_condition& condition, auto& grids) {
        Program deciding = program_;
        deciding.loop = condition;
        grids(begin_completion<Program>, launch_shape{1, 1}, deciding);
      };
      if (captured_) {
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

#if RAMIFY_ON_CUDA
  /// Returns the body of a loop, which launches the grids of any round without slots.
  [[nodiscard]] auto body_of_loop(const state_type& state) {
    return [&](const loop_condition& condition, auto& grids) {
      Program flat = without_slots();
      flat.loop = condition;
      flat.launch_repeated(state, grids);
      grids_of_loop_ = grids.launched();
    };
  }
#endif

  void set_looped_by(flat_loop loop, const std::string& reason) {
    control_->report().looped_by = loop;
    control_->report().flat_loop_reason = reason;
  }

  /// Releases the slots that the chain holds when all its grids are complete. A graph needs it as
  /// the last node: it does not wait for the child grids of its last kernel (H100, CUDA 13.0).
  void launch_release() {
    control_->launch_grid("launching the release of slots", release_slots<chain_link>, {1, 1},
                          static_cast<const chain_link&>(program_));
    control_->holds_no_slots();
  }

  run_control* control_;
  Program program_;
  loop_choice loop_;
#if RAMIFY_ON_CUDA
  std::conditional_t<has_loop, chain_loops<Program>, no_loops> loops_;
#endif
  bool completes_ = false;  // see completes_in_stream()
  unsigned grids_of_loop_ = 0;
  unsigned grids_of_captured_loop_ = 0;
  unsigned iterations_seen_ = 0;  // of graph loops, whose grids are in the report
  bool captured_ = false;         // start() was called while the stream was being captured
  unsigned level_ = 0;            // of the last round that the host launched
  state_type state_{};
  chain_progress progress_{};
  run_report started_;  // of what start() launched
};

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
