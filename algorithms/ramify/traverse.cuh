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
///            once, but for the first automatic route on a GPU (see choose_route()). get() waits,
///            launches what found no launch slot, and on the flat route, unless config.flat_loop is
///            graph, all rounds but the first few; so only what is put into the stream after get()
///            is sure to come after all visits.
/// Graphs     a stream that is being captured takes a walk with scratch memory handed in, on the
///            device route, or on the flat one as a WHILE node. See traverse_async().
/// Launches   a round when a quarter of the device is idle and there is work to share, not one a
///            level or a node: a path is one warp's walk in one round, a bushy tree takes some tens.
///            With config.strategy spawned: as config.launches says.
/// Errors     std::invalid_argument for a bad argument, before anything is launched;
///            std::length_error if config.capacity was too little for what was open at a time, which
///            takes trees deep and wide for every warp of the device; unavailable
///            if the device route is asked for without -rdc=true, or a graph where there is none;
///            cuda_error, device_launch_error.
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
#include <ramify/runtime/graph_loop.cuh>
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
/// does not check, and waits only if a graph runs the rounds of its flat route.
template <class Node, class Expand, class Visit, class Reduce, class Value>
class [[nodiscard("call get(): it waits, checks and gives the result")]] traverse_run {
  using context = walk_context<Node, Expand, Visit, Reduce, Value>;
  using tuning = walk_tuning<Node>;
  using spawned = spawned_run<Node, Expand, Visit, Reduce, Value>;
  static constexpr auto flat_round = walk_flat<Node, Expand, Visit, Reduce, Value>;

 public:
  /// Starts a run; see traverse_async().
  traverse_run(const Node& root, const Expand& expand, const Visit& visit, const Reduce& reduce,
               const Value& identity, cudaStream_t stream, const traverse_config& config,
               scratch_memory scratch) {
    validate(config);
    const relaxed_capture_scope here;  // what is asked of the driver here concerns no stream
    const bool captured = is_being_captured(stream);
    if (config.strategy == traverse_strategy::spawned) {
      if (captured) throw unavailable("traverse: only the walk can be captured, not spawned");
      if (config.flat_loop == flat_loop::graph) {
        throw unavailable("traverse_config.flat_loop graph cannot be had: spawned has no rounds");
      }
      spawned_ =
          std::make_unique<spawned>(root, expand, visit, reduce, identity, stream, config, scratch);
      return;
    }
    if (captured && scratch.data == nullptr) {
      throw std::invalid_argument(
          "traverse: scratch.data is null; while its stream is being captured, a traversal needs "
          "scratch memory handed in, traverse_scratch_bytes() of it");
    }
    const sizes all = sizes_for(config);
    const std::size_t bytes = scratch_bytes(all);
    check_scratch(scratch, bytes, "traverse");
    const std::size_t limit = *current_launch_limits().pending_launches;
    const loop_choice loop = choose_loop(config.flat_loop);
    const bool by_host = loop.wanted == flat_loop::host;
    const route_choice choice =
        captured && by_host ? choose_route(config.route, limit, 2,
                                           {route::device, "captured without a graph's loop"})
                            : choose_route(config.route, limit, 2, plans_of_walk(by_host), stream);
    if (captured && by_host && choice.taken == route::flat) {
      throw unavailable("traverse: rounds begun by the host cannot be captured; flat because: " +
                        choice.reason + "; by the host because: " + loop.reason);
    }
    state_ = std::make_unique<state>(bytes, scratch, all, choice, loop, limit, stream, captured,
                                     config.trace);

    const pieces& parts = state_->parts;
    state_->shared.emplace(context{{parts.lists[0], parts.lists[1]},
                                   all.capacity,
                                   parts.walk,
                                   parts.totals,
                                   parts.result,
                                   all.blocks,
                                   all.stack,
                                   expand,
                                   visit,
                                   reduce,
                                   identity,
                                   state_->control.slots(),
                                   state_->control.status(),
                                   state_->control.ticket()});
    start(root);
    state_->started = state_->control.report();
  }

  /// Waits for the traversal. Once; but of a captured traversal after each launch of its graph, or
  /// after the last of several. The graph is launched into the same stream, or waited for before.
  /// \throws cuda_error, device_launch_error, std::length_error; std::logic_error while the stream
  ///         is being captured
  traverse_result<Value> get() {
    if (spawned_ != nullptr) {
      traverse_report report;
      const Value value = spawned_->get(report);
      return {value, report};
    }
    run_control& control = state_->control;
    if (is_being_captured(control.stream())) {
      throw std::logic_error(
          "traverse: get() while the stream is being captured; end the capture "
          "and launch the graph first");
    }
    control.report() = state_->started;
    const walk_state seen = run_rounds();
    control.launched(launch(fold_totals<Node, Expand, Visit, Reduce, Value>, {1, tuning::threads},
                            control.stream(), *state_->shared),
                     "launching the fold of the totals");
    traverse_result<Value> found{state_->shared->identity, {}};
    check(cudaMemcpyAsync(&found.value, state_->parts.result, sizeof(Value), cudaMemcpyDeviceToHost,
                          control.stream()),
          "reading the result");
    control.wait();
    control.read_trace();
    run_report& report = control.report();
    report.scratch_bytes = state_->scratch.size();
    report.deepest_level = std::max(report.deepest_level, seen.rounds);
    static_cast<run_report&>(found.report) = report;
    found.report.rounds = seen.rounds;
    found.report.peak_open_nodes = seen.peak;
    if (!state_->captured) state_.reset();
    return found;
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
    constexpr std::size_t wanted = entry * std::size_t{tuning::wanted_stack};
    std::size_t bytes = set_max_dynamic_shared(flat_round, wanted);
    if constexpr (device_launch_available) {
      bytes = std::min(bytes, set_max_dynamic_shared(walk<Node, Expand, Visit, Reduce, Value>, wanted));
    }
    const auto stack = static_cast<unsigned>(bytes / entry);
    if (stack < tuning::least_stack) {
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
    constexpr unsigned usual = 1u << 16;  // for few blocks, and that a walk need not get narrow
    return {stack, blocks,
            config.capacity == 0 ? std::max(least, usual) : static_cast<unsigned>(config.capacity)};
  }

  struct pieces {
    pieces(memory_layout& memory, const sizes& all) {
      control = memory.take<std::byte>(run_control::scratch_bytes);
      walk = memory.take<walk_state>(1);
      totals = memory.take<Value>(std::size_t{all.blocks} * tuning::threads);
      result = memory.take<Value>(1);
      for (auto& list : lists) list = memory.take<open_node<Node>>(all.capacity);
    }
    void* control;
    walk_state* walk;
    Value* totals;
    Value* result;
    open_node<Node>* lists[2];
  };

  // Who shall begin the flat rounds; automatic: the host a few, a graph the rest.
  struct loop_choice {
    flat_loop wanted;
    std::string reason;
  };

  struct state {
    state(std::size_t bytes, scratch_memory given, const sizes& all, const route_choice& choice,
          const loop_choice& loop, std::size_t limit, cudaStream_t stream, bool captured,
          launch_trace* trace)
        : scratch(given, bytes, stream),
          memory(scratch.data()),
          parts(memory, all),
          control(parts.control, choice, limit, stream, trace),
          loop(loop),
          captured(captured) {}

    scratch_space scratch;
    memory_layout memory;
    pieces parts;
    run_control control;
    loop_choice loop;
    bool captured;
    std::optional<context> shared;
    std::optional<graph_loop> graph;
    unsigned opening_rounds = 0;  // that the constructor launched
    run_report started;           // of all that it launched
  };

  [[nodiscard]] static std::size_t scratch_bytes(const sizes& all) {
    memory_layout sizing(nullptr);
    pieces measured(sizing, all);
    return sizing.size();
  }

  static loop_choice choose_loop(flat_loop wanted) {
    if (wanted == flat_loop::host) return {wanted, "asked for"};
    const std::string obstacle = graph_loop_obstacle();
    if (obstacle.empty()) return {wanted, wanted == flat_loop::graph ? "asked for" : ""};
    if (wanted == flat_loop::graph) {
      throw unavailable("traverse_config.flat_loop graph cannot be had: " + obstacle);
    }
    return {flat_loop::host, obstacle};
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
      if (state_->captured || state_->loop.wanted == flat_loop::graph) {
        put_loop();
      } else {
        state_->opening_rounds = put_rounds();
      }
    } else if constexpr (device_launch_available) {
      control.launched(launch(resume<context>, {1, 1}, control.stream(), shared),
                       "launching what resumes the walk");
    }
  }

  // Runs what is still in the lists, in grids that launch nothing.
  walk_state run_rounds() {
    run_control& control = state_->control;
    const context& shared = *state_->shared;
    for (unsigned put = state_->opening_rounds;;) {
      walk_state seen{};
      check(cudaMemcpyAsync(&seen, shared.state, sizeof seen, cudaMemcpyDeviceToHost,
                            control.stream()),
            "reading the state of the walk");
      control.wait();
      const unsigned count = seen.count[seen.filled];
      if (count == 0) {
        control.report().graph_grids = seen.grids - put;
        return seen;
      }
      if (count > shared.capacity) {
        throw std::length_error("traverse: " + std::to_string(count) +
                                " nodes were open at a time; raise traverse_config.capacity, " +
                                "which is " + std::to_string(shared.capacity));
      }
      if (state_->loop.wanted != flat_loop::graph) put += put_rounds();
      if (state_->loop.wanted != flat_loop::host) put_loop();
    }
  }

  [[nodiscard]] launch_status put_round(cudaStream_t stream, const loop_condition& loop) const {
    context flat = *state_->shared;
    flat.slots = {};
    return launch(flat_round, {flat.most_blocks, tuning::threads, flat.shared_bytes()}, stream,
                  flat, loop);
  }

  // Puts rounds into the stream, and tells how many: one if the host looks after each; else a few,
  // which may be all, or keep the device busy while a graph is made.
  unsigned put_rounds() {
    run_control& control = state_->control;
    const bool looks = state_->loop.wanted == flat_loop::host;
    const unsigned rounds = looks ? 1 : opening_rounds_of_walk;
    for (unsigned i = 0; i < rounds; ++i) {
      control.launched(put_round(control.stream(), {}), "launching a round");
    }
    control.report().looped_by = flat_loop::host;
    control.report().flat_loop_reason =
        looks ? state_->loop.reason : "too few rounds for a graph to pay";
    return rounds;
  }

  // Puts all rounds that are to come into the stream as a loop; if there can be none, the host goes
  // on.
  void put_loop() {
    run_control& control = state_->control;
    loop_choice& loop = state_->loop;
    const auto body = [this](cudaStream_t stream, const loop_condition& condition) {
      check(put_round(stream, condition).code(), "launching a round");
    };
    if (state_->captured && is_being_captured(control.stream())) {
      capture_loop(control.stream(), body);
      loop.reason = "the stream was being captured";
    } else {
      state_->graph = make_flat_loop(loop.wanted, control.stream(), body, loop.reason);
      if (!state_->graph) {
        loop.wanted = flat_loop::host;
        return;
      }
      state_->graph->launch(control.stream());
    }
    control.report().looped_by = flat_loop::graph;
    control.report().flat_loop_reason = loop.reason;
  }

  std::unique_ptr<state> state_;
  std::unique_ptr<spawned> spawned_;  // instead, if that is the strategy
};

/// Starts visiting the tree below and including `root`, in `stream`. Asynchronous.
///
/// A stream that is being captured takes it too, with scratch memory handed in: nothing is
/// allocated, copied from the host or waited for. Each launch of the graph then visits the whole
/// tree, and the run, which must live as long as the graph is launched, tells of the last launch.
/// One that found no launch slot is completed by get(), which also tells of a list that overflowed.
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
