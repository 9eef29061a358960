// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A traversal by tasks: each open node is spawned.
///
///     open node, 3 children    lanes 0 1 2 visit them    those with children are the next tasks
///
/// The plain recursion, as one would write it on a CPU. A tree that is thin or unbalanced gives many
/// small tasks, and what becomes of them (grids of their own, or one grid for all of a block's or of
/// a grid's) is the caller's choice. The walk, which shares work out only when somebody is idle, is
/// the faster one.

#include <memory>
#include <optional>
#include <ramify/runtime/collectives.cuh>
#include <ramify/runtime/limits.cuh>
#include <ramify/runtime/recursion.cuh>
#include <ramify/traverse/config.hpp>
#include <ramify/traverse/open_nodes.cuh>
#include <stdexcept>
#include <string>

namespace ramify::inline RAMIFY_BUILD {

/// Totals that blocks of many grids add to, each at its end: cells of which a block takes one that
/// nobody else has at that moment. There are far more cells than blocks that run at a time, or that
/// hold one.
template <class Value>
struct total_cells {
  static constexpr unsigned count = 4096;

  Value* values;
  unsigned* taken;   ///< zeros at first
  unsigned* visits;  ///< spreads the blocks over the cells

  /// One thread.
  template <class Reduce>
  __device__ void add(const Value& value, const Reduce& reduce) const {
    unsigned i = atomicAdd(visits, 1u) % count;
    while (atomicExch(&taken[i], 1u) != 0) i = (i + 1) % count;
    __threadfence();
    values[i] = reduce(values[i], value);
    __threadfence();
    atomicExch(&taken[i], 0u);
  }
};

template <class Node, class Expand, class Visit, class Reduce, class Value>
struct spawned_context;

template <class Node, class Expand, class Visit, class Reduce, class Value>
__global__ void visit_children(task_source<open_node<Node>> source, spawner<open_node<Node>> spawn,
                               spawned_context<Node, Expand, Visit, Reduce, Value> context);

/// What all grids share.
template <class Node, class Expand, class Visit, class Reduce, class Value>
struct spawned_context {
  __host__ __device__ static auto kernel() {
    return visit_children<Node, Expand, Visit, Reduce, Value>;
  }
  static constexpr unsigned threads = 32;  ///< a block: a lane for each child
  static constexpr unsigned max_children = threads;
  static constexpr bool may_be_thin = true;
  /// Nodes that a lane may have open in place.
  static constexpr unsigned most_open = 4;

  total_cells<Value> totals;
  Expand expand;
  Visit visit;
  Reduce reduce;
  Value identity;
};

/// The task for a root that nobody has visited: no range of children.
template <class Node>
[[nodiscard]] __host__ __device__ open_node<Node> unvisited(const Node& root) {
  return {root, 1, 0};
}

/// Visits a range of at most 32 children, and in place what is below those that have few. The others
/// with children are spawned. All lanes.
template <class Node, class Expand, class Visit, class Reduce, class Value>
__device__ void visit_range(const open_node<Node>& range, Value& total,
                            spawner<open_node<Node>>& spawn,
                            const spawned_context<Node, Expand, Visit, Reduce, Value>& context) {
  constexpr unsigned most_open = spawned_context<Node, Expand, Visit, Reduce, Value>::most_open;
  open_node<Node> stack[most_open];
  unsigned size = 0;
  if (threadIdx.x < range.remaining()) {
    const unsigned mine = range.next + threadIdx.x;
    stack[size++] = {range.node, mine, mine + 1};
  }
  while (__ballot_sync(full_warp_mask, size > 0) != 0) {
    Node child{};
    unsigned degree = 0;
    if (size > 0) {
      open_node<Node>& top = stack[size - 1];
      child = context.expand.child(top.node, top.next++);
      if (top.next == top.end) --size;
      degree = context.expand.degree(child);
      total = context.reduce(total, context.visit(child, degree));
    }
    const bool in_place = degree > 0 && spawn.too_small(degree) && size < most_open;
    if (in_place) stack[size++] = {child, 0, degree};
    const bool spawns = degree > 0 && !in_place;
    if (__ballot_sync(full_warp_mask, spawns) != 0) {
      spawn.by_block(context.kernel(), spawns, {child, 0, degree}, context, "visit_children");
    }
  }
}

template <class Node, class Expand, class Visit, class Reduce, class Value>
__global__ void __launch_bounds__(spawned_context<Node, Expand, Visit, Reduce, Value>::threads)
    visit_children(task_source<open_node<Node>> source, spawner<open_node<Node>> spawn,
                   spawned_context<Node, Expand, Visit, Reduce, Value> context) {
  const traced here(spawn.trace, __func__);
  constexpr auto kernel = visit_children<Node, Expand, Visit, Reduce, Value>;
  constexpr unsigned threads = spawned_context<Node, Expand, Visit, Reduce, Value>::threads;
  const unsigned lane = threadIdx.x;
  Value total = context.identity;
  for (const auto& [open, rank] : source.members()) {
    if (open.next > open.end) {
      // 1. The root has to be visited itself.
      unsigned degree = 0;
      if (lane == 0) {
        degree = context.expand.degree(open.node);
        total = context.reduce(total, context.visit(open.node, degree));
      }
      spawn.by_block(kernel, degree > 0, {open.node, 0, degree}, context, __func__);
    } else if (open.remaining() > threads) {
      // 2. Split the work: a wide node is cut into pieces, a task each.
      const unsigned long long wide = open.remaining();
      const auto cut = [&](unsigned i) {
        return open.next + static_cast<unsigned>(wide * i / threads);
      };
      spawn.by_block(kernel, true, {open.node, cut(lane), cut(lane + 1)}, context, __func__);
    } else {
      // 3. Recurse into the children. Join: nobody needs one; the caller's stream waits for all.
      visit_range(open, total, spawn, context);
    }
    if (lane == 0) spawn.task_ends();
  }
  // 4. One total a block.
  using fold = block_reduce<Value, threads>;
  __shared__ typename fold::TempStorage storage;
  total = fold(storage).Reduce(total, context.reduce);
  if (lane == 0) {
    context.totals.add(total, context.reduce);
    spawn.block_ends(kernel, source, context, __func__);
  }
}

/// Sets all cells, a thread each.
template <class Value>
__global__ void clear_cells(total_cells<Value> totals, Value identity, trace_ticket trace) {
  const traced here(trace, __func__);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= totals.count) return;
  totals.values[i] = identity;
  totals.taken[i] = 0;
  if (i == 0) *totals.visits = 0;
}

inline constexpr unsigned cell_threads = 128;

/// Folds all cells into the first one. One block.
template <class Value, class Reduce>
__global__ void fold_cells(total_cells<Value> totals, Reduce reduce, trace_ticket trace) {
  const traced here(trace, __func__);
  using fold = block_reduce<Value, cell_threads>;
  __shared__ typename fold::TempStorage storage;
  Value total = totals.values[threadIdx.x];
  for (unsigned i = threadIdx.x + cell_threads; i < totals.count; i += cell_threads) {
    total = reduce(total, totals.values[i]);
  }
  total = fold(storage).Reduce(total, reduce);
  if (threadIdx.x == 0) totals.values[0] = total;
}

/// One run, on the host's side. It stays where it is: the recursion has the control's address.
template <class Node, class Expand, class Visit, class Reduce, class Value>
class spawned_run {
  using context = spawned_context<Node, Expand, Visit, Reduce, Value>;
  using tree = recursion<open_node<Node>, context>;

 public:
  /// Starts a run; see traverse_async(). The configuration has been validated.
  spawned_run(const Node& root, const Expand& expand, const Visit& visit, const Reduce& reduce,
              const Value& identity, cudaStream_t stream, const traverse_config& config,
              scratch_memory given)
      : capacity_(capacity_of(config)),
        limit_(*current_launch_limits().pending_launches),
        choice_(
            choose_route(config.route, limit_, 2, {route::device, "no level waits for the host"})),
        scratch_(checked(given, config), scratch_bytes(config), stream),
        memory_(scratch_.data()),
        parts_(memory_, config),
        control_(parts_.control, choice_, limit_, stream, config.trace),
        shared_{parts_.totals, expand, visit, reduce, identity},
        tree_(parts_.tree, capacity_, control_, context::threads, 0, child_streams::fire_and_forget,
              shared_, config.launches) {
    control_.launched(launch(clear_cells<Value>, {parts_.totals.count / cell_threads, cell_threads},
                             stream, parts_.totals, identity, control_.ticket()),
                      "launching the clearing of the totals");
    told([&] { tree_.start(unvisited(root), 1); });
  }
  spawned_run(const spawned_run&) = delete;
  spawned_run& operator=(const spawned_run&) = delete;

  /// Waits for the run: the reduction over all nodes. Once.
  /// \throws cuda_error, device_launch_error, std::length_error
  Value get(traverse_report& report) {
    told([&] { tree_.finish(); });
    control_.launched(launch(fold_cells<Value, Reduce>, {1, cell_threads}, control_.stream(),
                             parts_.totals, shared_.reduce, control_.ticket()),
                      "launching the fold of the totals");
    Value value = shared_.identity;
    check(cudaMemcpyAsync(&value, parts_.totals.values, sizeof value, cudaMemcpyDeviceToHost,
                          control_.stream()),
          "reading the result");
    control_.wait();
    control_.read_trace();
    static_cast<run_report&>(report) = control_.report();
    report.scratch_bytes = scratch_.size();
    return value;
  }

  /// Device memory that a run takes, in bytes.
  [[nodiscard]] static std::size_t scratch_bytes(const traverse_config& config) {
    memory_layout sizing(nullptr);
    pieces measured(sizing, config);
    return sizing.size();
  }

 private:
  struct pieces {
    pieces(memory_layout& memory, const traverse_config& config) {
      control = memory.take<std::byte>(run_control::scratch_bytes);
      totals.values = memory.take<Value>(totals.count);
      totals.taken = memory.take<unsigned>(totals.count);
      totals.visits = memory.take<unsigned>(1);
      tree = memory.take<std::byte>(
          recursion<open_node<Node>, context>::scratch_bytes(capacity_of(config), config.launches));
    }
    void* control;
    total_cells<Value> totals;
    std::byte* tree;
  };

  static std::size_t capacity_of(const traverse_config& config) {
    constexpr std::size_t usual = std::size_t{1} << 20;
    return config.capacity == 0 ? usual : config.capacity;
  }

  static scratch_memory checked(scratch_memory given, const traverse_config& config) {
    check_scratch(given, scratch_bytes(config), "traverse");
    return given;
  }

  // Does something, and says which field is too small if that is found.
  template <class Call>
  void told(Call call) {
    try {
      call();
    } catch (const std::length_error& e) {
      throw std::length_error(std::string("traverse: ") + e.what() +
                              "; raise traverse_config.capacity, which is " +
                              std::to_string(capacity_));
    }
  }

  std::size_t capacity_;
  std::size_t limit_;
  route_choice choice_;
  scratch_space scratch_;
  memory_layout memory_;
  pieces parts_;
  run_control control_;
  context shared_;
  tree tree_;
};

}  // namespace ramify::inline RAMIFY_BUILD
