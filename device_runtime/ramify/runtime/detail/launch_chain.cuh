// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// launch_chain: runs a program of dependent rounds on either route. chain_link.cuh describes
/// programs, chain_members.cuh their optional members.
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

#include <concepts>
#include <ramify/runtime/detail/chain_launcher.cuh>
#include <ramify/runtime/phase_range.cuh>
#include <stdexcept>
#include <utility>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// One run of a program in the stream of a run_control, which must outlive it.
template <class Program>
class launch_chain {
  using members = chain_members<Program>;

 public:
  using state_type = typename Program::state_type;

  /// Whether a graph's loop can launch rounds of the program.
  static constexpr bool has_loop = members::has_loop;

  /// Launches nothing. The caller sets the members of `program` except those of its base
  /// chain_link, which the constructor sets.
  launch_chain(run_control& control, const Program& program, loop_choice loop)
      : control_(&control), host_(control, program, std::move(loop)) {}

  /// Returns the program with its chain_link.
  [[nodiscard]] const Program& program() const { return host_.program; }

  /// Writes the state in the order of the stream. Asynchronous; a graph may capture it.
  /// \throws cuda_error
  void write_state(const state_type& state) {
    control_->launch_grid("launching the writing of a chain's state", write_chain_state<state_type>,
                          {1, 1}, program().state, state, program().trace);
  }

  /// Launches the round that is due in `state` from the host, and on the flat route the expected
  /// phases after it. On the device route its kernels launch the next round. A program with
  /// `releases_slots` requires this call before start().
  /// \throws cuda_error
  void launch_first_round(const state_type& state) {
    control_->may_hold_slots();
    host_.launch("launching the first round",
                 [&](auto& grids) { launch_round(program(), state, grids); });
  }

  /// Launches the phase that is due in `state` from the host. Its kernel launches nothing. Call it
  /// before start(). \throws cuda_error
  void launch_flat_phase(const state_type& state) requires lists_phases<Program> {
    host_.launch_flat_phase(state);
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
    if (members::has_no_state(program())) control_->reports_nothing();
    if (!control_->on_device_route()) {
      // If a loop is likely to launch most rounds, it enters the stream now, without a wait. If the
      // known round does not repeat, finish() makes the loop.
      const flat_loop wanted = host_.loop.wanted;
      const bool prefers_graph = (members::loop_follows && wanted != flat_loop::host) ||
                                 (wanted == flat_loop::graph && program().repeats(known));
      const bool by_graph = captured_ || (has_loop && prefers_graph);
      const bool needs_loop = members::needs_loop(program());
      const bool loops = by_graph && needs_loop;
      if constexpr (members::launches_ahead) {
        if (!loops || members::loop_follows) host_.launch_ahead();
      }
      completes_ =
          !needs_loop || (loops ? host_.put_loop(known) : host_.put_completion(known, captured_));
    } else {
      if constexpr (device_launch_available && !releases_slots<Program>) {
        control_->launch_grid("launching the driver of a chain", drive_chain<Program>, {1, 1},
                              program());
      }
      completes_ = host_.put_completion(known, captured_);
      if (captured_ && !completes_) host_.launch_release();
    }
    grids_of_captured_loop_ = host_.grids_of_loop;
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
      host_.grids_of_loop = grids_of_captured_loop_;
    }
    host_.restart_levels();
    if (members::has_no_state(program())) {
      control_->wait_for_stream();
      return false;
    }
    for (bool has_launched = false;; has_launched = true) {
      read_state();
      if (progress_.held != 0) host_.launch_release();
      members::check(program(), state_);
      if (program().finished(state_)) return has_launched;
      host_.launch_due_round(state_, progress_);
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
    const chain_link link = program();
    change(host_.program);
    static_cast<chain_link&>(host_.program) = link;
    clear_memory(&program().progress->stopped, 1, control_->stream(), "starting a chain again");
    start();
  }

  /// Returns the state of the complete chain, after finish().
  [[nodiscard]] const state_type& state() const { return state_; }

 private:
  /// Waits for the grids in the stream, and reads the state and the progress.
  void read_state() {
    if (control_->sees(program().state)) {  // one copy reads both
      progress_ = control_->wait();
      state_ = control_->seen(program().state);
    } else {
      check(cudaMemcpyAsync(&state_, program().state, sizeof state_, cudaMemcpyDeviceToHost,
                            control_->stream()),
            "reading the state of a chain");
      control_->read_ahead();  // the next wait is for a copy after this one
      progress_ = control_->wait();
    }
    host_.count_iterations(progress_.iterations - iterations_seen_);
    iterations_seen_ = progress_.iterations;
  }

  run_control* control_;
  chain_launcher<Program> host_;
  bool completes_ = false;  // see completes_in_stream()
  unsigned grids_of_captured_loop_ = 0;
  unsigned iterations_seen_ = 0;  // of graph loops, whose grids are in the report
  bool captured_ = false;         // start() was called while the stream was being captured
  state_type state_{};
  chain_progress progress_{};
  run_report started_;  // of what start() launched
};

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
