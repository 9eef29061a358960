// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// chain_members: which optional members the program of a launch chain has. The host calls them:
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
///
/// chain_link.cuh describes the members that each program has.

#include <ramify/runtime/detail/round_launcher.cuh>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// The optional members of a program. The functions return what the host does without them, if the
/// program does not have them.
template <class Program>
struct chain_members {
  /// Whether a graph's loop can launch rounds of the program.
  static constexpr bool has_loop =
      requires(const Program& p, const typename Program::state_type& s, round_launcher& g) {
    p.launch_repeated(s, g);
  };
  /// Whether the host may launch rounds before a graph's loop. Otherwise a loop launches all
  /// rounds.
  static constexpr bool loop_follows = requires(const Program& p) { p.is_complete_ahead(); };
  /// Whether no loop follows a chain to complete it.
  static constexpr bool needs_no_completing_loop = requires {
    requires Program::needs_no_completing_loop;
  };
  /// Whether the host launches rounds ahead.
  static constexpr bool launches_ahead = requires(const Program& p, round_launcher& g) {
    p.launch_ahead(g);
  };
  /// Whether grids do the work of all rounds that kernels could not launch.
  static constexpr bool launches_rest = requires(const Program& p, round_launcher& g) {
    p.launch_rest(g);
  };

  /// Returns whether a graph must have a loop for the chain to be complete.
  [[nodiscard]] static bool needs_loop(const Program& program) {
    if constexpr (loop_follows) {
      return !program.is_complete_ahead();
    } else {
      return true;
    }
  }
  /// Returns whether the host need not read a state at the end.
  [[nodiscard]] static bool has_no_state([[maybe_unused]] const Program& program) {
    if constexpr (requires { program.has_no_state(); }) {
      return program.has_no_state();
    } else {
      return false;
    }
  }
  /// Lets the program check the state. \throws what check() of the program throws
  static void check([[maybe_unused]] const Program& program,
                    [[maybe_unused]] const typename Program::state_type& state) {
    if constexpr (requires { program.check(state); }) program.check(state);
  }
};

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
