// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The host side of the strategy work_sharing.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <ramify/runtime/detail/launch_chain.cuh>
#include <ramify/runtime/device_context.cuh>
#include <ramify/runtime/residency.cuh>
#include <ramify/runtime/route_plan.hpp>
#include <ramify/traverse/traversal_run.cuh>
#include <ramify/traverse/work_sharing_memory.cuh>
#include <stdexcept>
#include <string>

namespace ramify::detail::traverse::inline RAMIFY_BUILD {

/// Returns the launches of eight rounds on each route: a bushy tree of a few million nodes has as
/// many. On the flat route the host launches the first `ahead` rounds and reads the state; a
/// graph's loop launches the others. A round that the host begins counts as two round trips,
/// because T1 takes longer with such rounds than on the device route (0.90 and 0.74 ms on an H200).
[[nodiscard]] inline route_plans work_sharing_plans(bool by_host, unsigned ahead) {
  constexpr double rounds = 8;
  const route_plan device{.host_launches = 1, .nested_levels = rounds};
  const route_plan graph{.host_launches = double(ahead),
                         .host_round_trips = 1,
                         .graph_iterations = rounds - ahead,
                         .graph_loops = 1};
  if (by_host) return {{.host_round_trips = 2 * rounds}, device, route::device};
  return {graph, device, route::flat};
}

/// The part of a traversal_run that depends on the strategy.
template <class Traversal>
class work_sharing_run {
  using Node = typename Traversal::node_type;
  using Value = typename Traversal::value_type;
  using context = work_sharing_context<Traversal>;
  using tuning = typename context::tuning;

 public:
  /// \throws std::invalid_argument if options.capacity is too small; unavailable, cuda_error
  static work_sharing_sizes sizes_for(const traverse_options& options) {
    work_sharing_sizes sizes = device_sizes();
    const unsigned least = least_capacity<context>(sizes);
    if (options.capacity != 0 && options.capacity < least) {
      throw std::invalid_argument(
          "traverse_options.capacity is " + std::to_string(options.capacity) +
          "; on this device it must be 0 (automatic) or at least " + std::to_string(least));
    }
    // On small devices it exceeds the minimum, so that steps keep their full width.
    constexpr unsigned default_capacity = 1u << 16;
    // Rounds that end by a limit leave longer lists than those that end for want of work.
    constexpr unsigned factor = context::is_limited ? 2 : 1;
    sizes.capacity = options.capacity == 0 ? std::max(factor * least, default_capacity)
                                           : static_cast<unsigned>(options.capacity);
    return sizes;
  }

  /// Chooses the route. \throws unavailable, cuda_error
  static void make_choices(run_setup& setup) {
    setup.choose_route(2, work_sharing_plans(setup.by_host(), rounds_ahead(setup.loop)));
    setup.first_grid_clears = setup.choice.taken == route::flat;
  }

  work_sharing_run(memory_layout& layout, const work_sharing_sizes& sizes)
      : total_count(sizes.blocks * tuning::warps), sizes_(sizes), memory_(layout, sizes) {
    totals = memory_.totals;
  }

  void start(run_control& control, const loop_choice& loop, const Node& root,
             const Traversal& tree) {
    prepare(control, loop, tree);
    launch_beginning(control, root, true);
    chain_->start();
  }

  bool finish() { return chain_->finish(); }

  /// Returns whether the grids of start() complete the traversal.
  [[nodiscard]] bool completes_in_stream() const { return chain_->completes_in_stream(); }

  /// Writes the fields of the strategy into the report of the complete run.
  void complete(traverse_report& report) const {
    const round_state& state = chain_->state();
    report.deepest_level = std::max(report.deepest_level, state.rounds);
    report.rounds = state.rounds;
    report.peak_frontier_nodes = state.peak;
  }

  Value* totals;
  unsigned total_count;

 protected:
  /// Makes the chain.
  void prepare(run_control& control, const loop_choice& loop, const Traversal& tree) {
    const context program{{},
                          {memory_.lists[0], memory_.lists[1]},
                          memory_.state,
                          totals,
                          sizes_,
                          memory_.boxes,
                          rounds_ahead(loop),
                          control.first_grid_clears(),
                          tree};
    chain_.emplace(control, program, loop);
  }

  /// Clears the memory of the rounds. If `visits`, visits the root and, on the device route, starts
  /// the first round.
  void launch_beginning(run_control& control, const Node& root, bool visits) {
    control.launch_grid("launching begin_rounds", begin_rounds<context>, {1, total_threads}, root,
                        visits, chain_->program());
  }

  work_sharing_sizes sizes_;
  work_sharing_memory<context> memory_;
  std::optional<runtime::launch_chain<context>> chain_;

 private:
  /// Returns the flat rounds that the host launches before it first reads the state. A thin round
  /// may visit the whole tree, and rounds without work take time.
  static unsigned rounds_ahead(const loop_choice& loop) {
    const bool one_by_one = loop.wanted == flat_loop::host || context::may_be_thin;
    return one_by_one ? 1 : opening_rounds;
  }

  /// Returns the sizes that depend only on the current device; `capacity` is 0. They are computed
  /// once per context: a dozen calls of the driver take as long as a traversal of some 1,000 nodes,
  /// and the limits of shared memory that they raise end with the context.
  /// \throws unavailable, cuda_error
  static const work_sharing_sizes& device_sizes() {
    return runtime::once_per_context([] { return compute_device_sizes(); });
  }

  static work_sharing_sizes compute_device_sizes() {
    constexpr auto flat_round = traverse_round_flat<context>;
    unsigned stack = stack_size<context>(flat_round);
    if constexpr (device_launch_available) {
      stack = std::min(stack, stack_size<context>(traverse_round<context>));
    }
    const unsigned bytes = tuning::warps * stack * unsigned{sizeof(frontier_node<Node>)};
    const unsigned blocks = resident_blocks(flat_round, tuning::threads, bytes);
    return {stack, blocks, 0, std::min(thin_blocks<context>(blocks), multiprocessor_count())};
  }
};

}  // namespace ramify::detail::traverse::inline RAMIFY_BUILD
