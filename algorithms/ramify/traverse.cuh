// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// traverse(): visits every node of an implicit tree, whose children are computed and never stored.
///
///     struct halves {  // a node is a number, its children are its halves
///       __device__ unsigned degree(unsigned n) const { return n < 2 ? 0 : 2; }
///       __device__ unsigned child(unsigned n, unsigned i) const { return (n + i) / 2; }
///     };
///     struct one { __device__ unsigned operator()(unsigned, unsigned) const { return 1; } };
///     struct sum { __device__ unsigned operator()(unsigned a, unsigned b) const { return a + b; } };
///     ramify::traverse(5u, halves{}, one{}, sum{}, 0u).value  // --> 9: 5, 2 3, 1 1 1 2, 1 1
///
/// Compiled by nvcc it runs on the GPU, with grids that launch grids if -rdc=true is given and flat
/// otherwise; compiled by a C++ compiler it runs on the CPU executor.
///
/// Node       trivially copyable, default-constructible, at most 760 bytes.
/// expand     degree(node): how many children, fewer than 2^32; child(node, i): the i-th of them,
///            0 <= i < degree. Called once each for a node, by any thread, in any order, so they
///            must be pure functions.
/// visit      visit(node, degree) -> Value, once for every node. It may write to memory of the
///            caller's; visits of different nodes run at the same time.
/// reduce     reduce(Value, Value) -> Value: associative and commutative, with `identity`. Value is
///            trivially copyable. Sums of floating-point numbers differ in round-off from run to run.
/// Scratch    two lists of open nodes, each of twice what all stacks of a full device hold, and a
///            Value a thread of it: nothing in proportion to the tree. From Ramify's stream-ordered
///            pool, or handed in.
/// Stream     work before in the stream is ordered with the traversal. traverse_async() returns at
///            once on the device route, and after the last round on the flat one. get() waits, and
///            launches what found no launch slot; so only what is put into the stream after get() is
///            sure to come after all visits.
/// Launches   a round when a quarter of the device is idle and there is work to share, not one a
///            level or a node: a path is one warp's walk in one round, a bushy tree takes some tens.
///            With config.strategy spawned: as config.launches says.
/// Errors     std::invalid_argument for a bad argument, before anything is launched;
///            std::length_error if config.capacity was too little for what was open at a time, which
///            takes trees deep and wide for every warp of the device; unavailable
///            if the device route is asked for without -rdc=true; cuda_error, device_launch_error.
/// Complexity every node is expanded once; O(depth) steps at least, one after another.
/// Not for    trees that are stored (see ramify/rooted_tree.cuh); graphs, where a node would be
///            visited once for each path to it.
/// Source     work sharing between rounds as in lock-step tree search on SIMD machines (Karypis and
///            Kumar, 1994); Unbalanced Tree Search (Olivier et al., LCPC 2006) is its benchmark.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/limits.cuh>
#include <ramify/runtime/run_control.cuh>
#include <ramify/traverse/config.hpp>
#include <ramify/traverse/spawned.cuh>
#include <ramify/traverse/walk.cuh>
#include <stdexcept>
#include <string>
#include <utility>

namespace ramify::inline RAMIFY_BUILD {

template <class Value>
struct traverse_result {
  Value value;  ///< the reduction over all nodes
  traverse_report report;
};

/// A traversal under way. Movable; moved-from it may only be destroyed. Destroying it before get()
/// neither waits nor checks.
template <class Node, class Expand, class Visit, class Reduce, class Value>
class [[nodiscard("call get(): it waits, checks and gives the result")]] traverse_run {
  using context = walk_context<Node, Expand, Visit, Reduce, Value>;
  using tuning = walk_tuning<Node>;
  using spawned = spawned_run<Node, Expand, Visit, Reduce, Value>;
  static constexpr auto round_kernel = walk<Node, Expand, Visit, Reduce, Value>;

 public:
  /// Starts a run; see traverse_async().
  traverse_run(const Node& root, const Expand& expand, const Visit& visit, const Reduce& reduce,
               const Value& identity, cudaStream_t stream, const traverse_config& config,
               scratch_memory scratch) {
    validate(config);
    if (config.strategy == traverse_strategy::spawned) {
      spawned_ =
          std::make_unique<spawned>(root, expand, visit, reduce, identity, stream, config, scratch);
      return;
    }
    const sizes all = sizes_for(config);
    const std::size_t bytes = scratch_bytes(all);
    check_scratch(scratch, bytes, "traverse");
    const std::size_t limit = *current_launch_limits().pending_launches;
    const route_choice choice = choose_route(config.route, limit, 2, preferred_route());
    state_ = std::make_unique<state>(bytes, scratch, all, choice, limit, stream);

    const pieces& parts = state_->parts;
    state_->shared.emplace(context{{parts.lists[0], parts.lists[1]},
                                   all.capacity,
                                   parts.walk,
                                   parts.totals,
                                   all.blocks,
                                   all.stack,
                                   expand,
                                   visit,
                                   reduce,
                                   identity,
                                   state_->control.slots(),
                                   state_->control.status()});
    start(root);
  }

  /// Waits for the traversal. Once.
  /// \throws cuda_error, device_launch_error, std::length_error
  traverse_result<Value> get() {
    if (spawned_ != nullptr) {
      traverse_report report;
      const Value value = spawned_->get(report);
      return {value, report};
    }
    const walk_state seen = run_rounds();
    run_control& control = state_->control;
    control.launched(launch(fold_totals<Node, Expand, Visit, Reduce, Value>, {1, tuning::threads},
                            control.stream(), *state_->shared),
                     "launching the fold of the totals");
    traverse_result<Value> result{state_->shared->identity, {}};
    check(cudaMemcpyAsync(&result.value, state_->parts.totals, sizeof(Value),
                          cudaMemcpyDeviceToHost, control.stream()),
          "reading the result");
    control.wait();
    static_cast<run_report&>(result.report) = control.report();
    result.report.scratch_bytes = state_->scratch.size();
    result.report.rounds = seen.rounds;
    result.report.peak_open_nodes = seen.peak;
    state_.reset();
    return result;
  }

  /// Device memory that a run takes, in bytes.
  [[nodiscard]] static std::size_t scratch_bytes(const traverse_config& config) {
    if (config.strategy == traverse_strategy::spawned) return spawned::scratch_bytes(config);
    return scratch_bytes(sizes_for(config));
  }

 private:
  struct sizes {
    unsigned stack;     // of a warp, in open nodes
    unsigned blocks;    // of a round, at most
    unsigned capacity;  // of a list
  };
  static sizes sizes_for(const traverse_config& config) {
    constexpr unsigned entry = tuning::warps * sizeof(open_node<Node>);
    const std::size_t bytes = grant_shared(round_kernel, entry * std::size_t{tuning::wanted_stack});
    const auto stack = static_cast<unsigned>(bytes / entry);
    if (stack < tuning::least_stack) {
      throw unavailable("traverse: nodes of " + std::to_string(sizeof(Node)) +
                        " bytes are too large for this device's shared memory");
    }
    const unsigned blocks = resident_blocks(round_kernel, tuning::threads, stack * entry);
    const unsigned least = 2 * blocks * tuning::warps * stack;
    if (config.capacity != 0 && config.capacity < least) {
      throw std::invalid_argument("traverse_config.capacity is " + std::to_string(config.capacity) +
                                  "; on this device it must be 0 (automatic) or at least " +
                                  std::to_string(least));
    }
    constexpr unsigned usual = 1u << 16;  // for few blocks, and that a walk need not get narrow
    return {stack, blocks,
            config.capacity == 0 ? std::max(least, usual) : static_cast<unsigned>(config.capacity)};
  }

  struct pieces {
    pieces(memory_layout& memory, const sizes& all) {
      control = memory.take<std::byte>(run_control::scratch_bytes);
      walk = memory.take<walk_state>(1);
      totals = memory.take<Value>(std::size_t{all.blocks} * tuning::threads);
      for (auto& list : lists) list = memory.take<open_node<Node>>(all.capacity);
    }
    void* control;
    walk_state* walk;
    Value* totals;
    open_node<Node>* lists[2];
  };

  struct state {
    state(std::size_t bytes, scratch_memory given, const sizes& all, const route_choice& choice,
          std::size_t limit, cudaStream_t stream)
        : scratch(given, bytes, stream),
          memory(scratch.data()),
          parts(memory, all),
          control(parts.control, choice, limit, stream) {}

    scratch_space scratch;
    memory_layout memory;
    pieces parts;
    run_control control;
    std::optional<context> shared;
  };

  [[nodiscard]] static std::size_t scratch_bytes(const sizes& all) {
    memory_layout sizing(nullptr);
    pieces measured(sizing, all);
    return sizing.size();
  }

  static route_choice preferred_route() {
    if (!RAMIFY_ON_CUDA) return {route::device, "as quick as flat on the CPU executor"};
    return {route::device, "nobody waits for the host between two rounds"};
  }

  void start(const Node& root) {
    run_control& control = state_->control;
    const context& shared = *state_->shared;
    check(cudaMemsetAsync(shared.state, 0, sizeof(walk_state), control.stream()),
          "clearing the state of the walk");
    control.launched(launch(clear_totals<Node, Expand, Visit, Reduce, Value>,
                            {shared.most_blocks, tuning::threads}, control.stream(), shared),
                     "launching the clearing of the totals");
    control.launched(
        launch(plant<Node, Expand, Visit, Reduce, Value>, {1, 1}, control.stream(), root, shared),
        "launching the root");
    if (!control.on_device_route()) {
      run_rounds();
    } else if constexpr (device_launch_available) {
      control.launched(launch(resume<context>, {1, 1}, control.stream(), shared),
                       "launching what resumes the walk");
    }
  }

  // Runs what is still in the lists, round by round, in grids that launch nothing.
  walk_state run_rounds() {
    run_control& control = state_->control;
    context flat = *state_->shared;
    flat.slots = {};
    for (;;) {
      walk_state seen{};
      check(
          cudaMemcpyAsync(&seen, flat.state, sizeof seen, cudaMemcpyDeviceToHost, control.stream()),
          "reading the state of the walk");
      control.wait();
      const unsigned count = seen.count[seen.filled];
      if (count == 0) return seen;
      if (count > flat.capacity) {
        throw std::length_error("traverse: " + std::to_string(count) +
                                " nodes were open at a time; raise traverse_config.capacity, " +
                                "which is " + std::to_string(flat.capacity));
      }
      const walk_round round =
          make_round<Node>(seen.filled, count, flat.most_blocks, flat.stack_size);
      control.launched(launch(round_kernel, {round.blocks, tuning::threads, flat.shared_bytes()},
                              control.stream(), round, flat),
                       "launching a round", seen.rounds + 1);
    }
  }

  std::unique_ptr<state> state_;
  std::unique_ptr<spawned> spawned_;  // instead, if that is the strategy
};

/// Starts visiting the tree below and including `root`, in `stream`.
template <class Node, class Expand, class Visit, class Reduce, class Value>
traverse_run<Node, Expand, Visit, Reduce, Value> traverse_async(
    const Node& root, const Expand& expand, const Visit& visit, const Reduce& reduce,
    const Value& identity, cudaStream_t stream = nullptr, const traverse_config& config = {},
    scratch_memory scratch = {}) {
  return {root, expand, visit, reduce, identity, stream, config, scratch};
}

/// Visits the tree below and including `root`, and waits for `stream`.
template <class Node, class Expand, class Visit, class Reduce, class Value>
traverse_result<Value> traverse(const Node& root, const Expand& expand, const Visit& visit,
                                const Reduce& reduce, const Value& identity,
                                cudaStream_t stream = nullptr, const traverse_config& config = {},
                                scratch_memory scratch = {}) {
  return traverse_async(root, expand, visit, reduce, identity, stream, config, scratch).get();
}

/// Device memory that a traversal with these types takes, in bytes.
template <class Node, class Expand, class Visit, class Reduce, class Value>
[[nodiscard]] std::size_t traverse_scratch_bytes(const traverse_config& config = {}) {
  validate(config);
  return traverse_run<Node, Expand, Visit, Reduce, Value>::scratch_bytes(config);
}

}  // namespace ramify::inline RAMIFY_BUILD
