// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The host side of the strategy work_sharing.

#include <algorithm>
#include <cstddef>
#include <ramify/runtime/residency.cuh>
#include <ramify/runtime/route_plan.hpp>
#include <ramify/traverse/traversal_run.cuh>
#include <ramify/traverse/work_sharing.cuh>
#include <stdexcept>
#include <string>

namespace ramify::detail::traverse::inline RAMIFY_BUILD {

/// Flat rounds that the host launches before it makes a graph for the remaining ones.
inline constexpr unsigned opening_rounds = 4;

/// Returns the launches of ten rounds on each route: a bushy tree of a few million nodes has as
/// many. After each round that the host begins it reads twice: the state of the rounds and the
/// status.
[[nodiscard]] inline route_plans work_sharing_plans(bool by_host) {
  constexpr double rounds = 10;
  constexpr double opening = opening_rounds;
  const route_plan device{.host_launches = 1, .nested_levels = rounds};
  const route_plan graph{
      .host_launches = opening, .graph_iterations = rounds - opening, .graph_loops = 1};
  if (by_host) return {{.host_round_trips = 2 * rounds}, device, route::device};
  return {graph, device, route::flat};
}

/// Returns the choice of the route. \throws unavailable, cuda_error
[[nodiscard]] inline route_choice work_sharing_route(const traversal_setup& setup) {
  if (setup.captured && setup.by_host()) {
    return setup.choose(route_choice{route::device, "captured without a graph's loop"});
  }
  return setup.choose(work_sharing_plans(setup.by_host()), setup.stream);
}

/// One run of work_sharing.
template <class Traversal>
class work_sharing_run : public traversal_run<Traversal> {
  using base = traversal_run<Traversal>;
  using typename base::Node;
  using context = work_sharing_context<Traversal>;
  using tuning = typename context::tuning;

 public:
  /// Starts a run; see traverse_async().
  work_sharing_run(const traversal_setup& setup, const Node& root, const Traversal& tree)
      : work_sharing_run(setup, root, tree, sizes_for(setup.config)) {}

  /// Returns the device memory that a run needs, in bytes.
  [[nodiscard]] static std::size_t scratch_bytes(const traverse_config& config) {
    return scratch_bytes(sizes_for(config));
  }

 private:
  struct pieces {
    pieces(memory_layout& memory, const work_sharing_sizes& sizes)
        : state(memory.take<round_state>(1)) {
      for (auto& list : lists) list = memory.take<frontier_node<Node>>(sizes.capacity);
    }
    round_state* state;
    frontier_node<Node>* lists[2];
  };

  work_sharing_run(const traversal_setup& setup, const Node& root, const Traversal& tree,
                   const work_sharing_sizes& sizes)
      : base(setup, tree, work_sharing_route(setup), scratch_bytes(sizes),
             sizes.blocks * tuning::threads),
        parts_(this->memory_, sizes),
        chain_(this->control_,
               {{},
                {parts_.lists[0], parts_.lists[1]},
                parts_.state,
                this->totals_,
                sizes,
                setup.by_host() ? 1 : opening_rounds,
                tree},
               setup.loop) {
    check(cudaMemsetAsync(parts_.state, 0, sizeof(round_state), setup.stream),
          "clearing the state of the rounds");
    this->control_.launched(
        launch(visit_root<context>, {1, 1}, setup.stream, root, chain_.program()),
        "launching visit_root");
    chain_.start();
  }

  void finish() override { chain_.finish(); }

  void complete(traverse_report& report) const override {
    const round_state& state = chain_.state();
    report.deepest_level = std::max(report.deepest_level, state.rounds);
    report.rounds = state.rounds;
    report.peak_frontier_nodes = state.peak;
  }

  static work_sharing_sizes sizes_for(const traverse_config& config) {
    constexpr auto flat_round = traverse_round_flat<context>;
    constexpr unsigned entry = tuning::warps * sizeof(frontier_node<Node>);
    constexpr std::size_t preferred = entry * std::size_t{tuning::preferred_stack};
    std::size_t bytes = set_max_dynamic_shared(flat_round, preferred);
    if constexpr (device_launch_available) {
      bytes = std::min(bytes, set_max_dynamic_shared(traverse_round<context>, preferred));
    }
    const auto stack = static_cast<unsigned>(bytes / entry);
    if (stack < tuning::min_stack) {
      throw unavailable("traverse: nodes of " + std::to_string(sizeof(Node)) +
                        " bytes are too large for this device's shared memory");
    }
    const unsigned blocks = resident_blocks(flat_round, tuning::threads, stack * entry);
    const unsigned least = 2 * blocks * tuning::warps * stack;
    if (config.capacity != 0 && config.capacity < least) {
      throw std::invalid_argument("traverse_config.capacity is " + std::to_string(config.capacity) +
                                  "; on this device it must be 0 (automatic) or at least " +
                                  std::to_string(least));
    }
    // On small devices it exceeds the minimum, so that steps keep their full width.
    constexpr unsigned default_capacity = 1u << 16;
    return {stack, blocks,
            config.capacity == 0 ? std::max(least, default_capacity)
                                 : static_cast<unsigned>(config.capacity)};
  }

  [[nodiscard]] static std::size_t scratch_bytes(const work_sharing_sizes& sizes) {
    memory_layout sizing = base::measured(sizes.blocks * tuning::threads);
    const pieces measured(sizing, sizes);
    return sizing.size();
  }

  pieces parts_;
  runtime::launch_chain<context> chain_;
};

}  // namespace ramify::detail::traverse::inline RAMIFY_BUILD
