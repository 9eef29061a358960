// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The host side of a distributed traversal on one rank: rounds of work sharing, and transfers of
/// frontier nodes between ranks.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <ramify/cluster/communicator.hpp>
#include <ramify/distributed_traverse/config.hpp>
#include <ramify/distributed_traverse/plan.hpp>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/phase_range.cuh>
#include <ramify/runtime/run_setup.cuh>
#include <ramify/runtime/staging.cuh>
#include <ramify/runtime/trace_recorder.cuh>
#include <ramify/traverse/traversal_run.cuh>
#include <ramify/traverse/work_sharing_run.cuh>
#include <vector>

namespace ramify::detail::distributed_traverse::inline RAMIFY_BUILD {

/// What the host of a rank needs in addition to a traversal of one process.
struct rank_setting {
  communicator& comm;
  const exchange_options& exchange;
  distributed_traverse_report& report;  ///< counts comparisons, exchanges and moved nodes
  /// Called on all ranks when they compare, while no kernel of the traversal runs; or empty.
  const std::function<void()>& at_comparison;
};

/// Limit of steps of the first round. It doubles at each comparison up to exchange_options::steps.
/// So the ranks share the first nodes soon, also where the warps of a block run one after another.
inline constexpr unsigned first_steps = 64;

/// Maximum number of rounds between two comparisons while lists are long. A round then takes as
/// long as its steps.
inline constexpr unsigned long_rounds = 4;

/// Copies a list of nodes in another order: to[i] = from[i * stride modulo count]. With a stride
/// that has no common divisor with `count`, and is about 0.6 of it, each section of the new list
/// has nodes from all over the old one, at nearly equal distances.
template <class Node>
__global__ void spread_nodes(const Node* from, Node* to, unsigned count, unsigned stride,
                             trace_ticket trace) {
  const traced here(trace, __func__);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) to[i] = from[std::uint64_t{i} * stride % count];
}

/// Returns the limits of the first round.
[[nodiscard]] inline traverse::round_limits first_limits(const exchange_options& exchange) {
  return {1, std::min(first_steps, exchange.steps)};
}

/// The strategy of a traversal_run on one rank. The functions are collective.
///
/// 1 traverse some rounds, 2 compare the numbers of frontier nodes, 3 move nodes, and repeat
template <class Traversal>
class shared_rounds : public traverse::work_sharing_run<Traversal> {
  using base = traverse::work_sharing_run<Traversal>;
  using node_type = typename Traversal::node_type;
  using list_node = traverse::frontier_node<node_type>;

 public:
  using base::base;

  /// Rank 0 visits the root and starts the first round. The lists of the other ranks are empty.
  void start(run_control& control, const loop_choice& loop, const node_type& root,
             const Traversal& tree, const rank_setting& setting) {
    setting_ = &setting;
    control_ = &control;
    steps_ = tree.limits.steps;
    base::prepare(control, loop, tree);
    has_work_ = setting.comm.rank() == 0;
    base::launch_beginning(control, root, has_work_);
    if (has_work_) base::chain_->start();
    // A list that is at most half full leaves the next round capacity for its limit of steps.
    const unsigned capacity = setting.comm.all_reduce(base::sizes_.capacity, reduction::min);
    planner_ = {setting.comm.all_reduce(base::total_count, reduction::max), capacity / 2};
  }

  /// Traverses until all lists are empty. Returns true: grids may have changed the totals.
  bool finish() {
    unsigned interval = 1;
    for (;;) {
      // 1. Traverse. Join: finish() waits for the last round of this rank.
      if (has_work_) {
        base::chain_->finish();
        now_ = base::chain_->state();
      }
      // 2. Compare. Join: all ranks pass this point together.
      const phase_range range("distributed traverse: share");
      const std::vector<std::uint64_t> counts =
          setting_->comm.all_gather(std::uint64_t{now_.due()});
      ++setting_->report.comparisons;
      if (setting_->at_comparison) setting_->at_comparison();
      if (std::ranges::max(counts) == 0) return true;
      // 3. Move nodes, and continue. If lists are long, rounds take long, and a rank that has ended
      //    early waits for them, so there are few until the next comparison.
      const std::vector<node_transfer> plan = planner_.plan(counts);
      if (!plan.empty()) move_nodes(plan);
      const bool may_wait = counts.size() > 1 && planner_.are_long(counts);
      const unsigned most_rounds =
          may_wait ? std::min(long_rounds, setting_->exchange.rounds) : setting_->exchange.rounds;
      steps_ = std::min(2 * steps_, setting_->exchange.steps);
      interval = std::min(2 * interval, most_rounds);
      has_work_ = now_.due() > 0;
      if (has_work_) resume(interval);
    }
  }

 private:
  /// Sends a sample of the list, and appends the nodes that come.
  void move_nodes(const std::vector<node_transfer>& plan) {
    communicator& comm = setting_->comm;
    unsigned sent = 0;
    unsigned received = 0;
    for (const node_transfer& transfer : plan) {
      const auto n = static_cast<unsigned>(transfer.count);
      if (transfer.from == comm.rank()) sent += n;
      if (transfer.to == comm.rank()) received += n;
      setting_->report.moved_nodes += n;
    }
    ++setting_->report.exchanges;
    if (sent + received == 0) return;  // this rank takes no part
    // 1. Each section of a spread list is a sample of it. The last nodes leave.
    if (sent > 0) spread_list();
    const unsigned kept = now_.due() - sent;
    const list_node* const leaving = base::memory_.lists[now_.filled] + kept;
    // 2. Nodes that come must not replace nodes that leave, so the others move to the free list.
    if (sent > 0 && received > 0) copy_to_free_list(kept);
    // 3. Exchange. Join: end() waits for the messages of this rank.
    exchange(plan, leaving, base::memory_.lists[now_.filled] + kept);
    now_.count[now_.filled] = kept + received;
    now_.peak = std::max(now_.peak, now_.due());
    base::chain_->write_state(now_);
  }

  /// Sends the nodes from `leaving` on in the order of the plan, and receives nodes from `free` on.
  void exchange(const std::vector<node_transfer>& plan, const list_node* leaving, list_node* free) {
    std::vector<outgoing_message<list_node>> outgoing;
    std::vector<incoming_message<list_node>> incoming;
    for (const node_transfer& transfer : plan) {
      if (transfer.from == setting_->comm.rank()) {
        outgoing.push_back({transfer.to, leaving, transfer.count});
        leaving += transfer.count;
      } else if (transfer.to == setting_->comm.rank()) {
        incoming.push_back({transfer.from, free, transfer.count});
        free += transfer.count;
      }
    }
    setting_->comm.begin_exchange<list_node>(outgoing, incoming, control_->stream()).end();
  }

  /// Spreads the list; see spread_nodes(). Asynchronous.
  void spread_list() {
    constexpr unsigned threads = 256;
    const unsigned count = now_.due();
    unsigned stride = std::max(1u, static_cast<unsigned>(count * 0.6180339887498949));
    while (std::gcd(stride, count) != 1) ++stride;
    control_->launch_grid("launching spread_nodes", spread_nodes<list_node>,
                          {(count + threads - 1) / threads, threads},
                          base::memory_.lists[now_.filled], base::memory_.lists[1 - now_.filled],
                          count, stride, control_->ticket());
    swap_lists(count);
  }
  /// Copies the first nodes of the list to the free list. Asynchronous.
  void copy_to_free_list(unsigned count) {
    check(cudaMemcpyAsync(base::memory_.lists[1 - now_.filled], base::memory_.lists[now_.filled],
                          count * sizeof(list_node), cudaMemcpyDeviceToDevice, control_->stream()),
          "copying frontier nodes");
    swap_lists(count);
  }
  /// The next round reads the free list, which has `count` nodes.
  void swap_lists(unsigned count) {
    now_.count[now_.filled] = 0;
    now_.filled = 1 - now_.filled;
    now_.count[now_.filled] = count;
  }

  /// Starts the next `interval` rounds. Asynchronous.
  void resume(unsigned interval) {
    auto program = base::chain_->program();
    program.tree.limits = {now_.rounds + interval, steps_};
    program.rounds_ahead = interval;
    base::chain_->restart(program);
  }

  const rank_setting* setting_ = nullptr;
  run_control* control_ = nullptr;
  traverse::round_state now_{};  ///< the state that the next round reads
  bool has_work_ = false;
  unsigned steps_ = 0;  ///< limit of the next rounds
  transfer_planner planner_;
};

/// The run of a rank. Its construction and its get() are collective.
template <class Traversal>
using rank_run = traverse::traversal_run<Traversal, shared_rounds<Traversal>>;

/// Returns the reduction of the values of all ranks. It has the same bits on all ranks. Collective.
template <class Traversal>
[[nodiscard]] typename Traversal::value_type reduce_over_ranks(
    const typename Traversal::value_type& own, const Traversal& tree, const run_setup& setup,
    const rank_setting& setting) {
  using Value = typename Traversal::value_type;
  const cudaStream_t stream = setup.stream;
  const auto ranks = static_cast<unsigned>(setting.comm.size());
  // First the value of this rank, and at last the result; then the values of all ranks.
  const device_buffer<Value> values(ranks + 1, stream);
  Value* const all = values.data() + 1;
  copy_to_device(values.data(), &own, sizeof own, stream);
  setting.comm.all_gather(values.data(), 1, all, stream);
  trace_recorder recorder(setup.trace, stream);
  const launch_status launched = launch(
      traverse::reduce_totals<Value, typename Traversal::reduce_type>, {1, traverse::total_threads},
      stream, all, ranks, values.data(), tree.reduce, tree.identity, recorder.ticket());
  check(launched.code(), "launching the reduction of the ranks' values");
  ++setting.report.host_grids;
  Value total = tree.identity;
  copy_to_host(&total, values.data(), sizeof total, stream);
  check(cudaStreamSynchronize(stream), "waiting for the reduction of the ranks' values");
  recorder.read();
  return total;
}

/// Visits all nodes and returns the reduction; sets `setting.report`. Collective.
template <class Traversal>
[[nodiscard]] typename Traversal::value_type traverse_on_ranks(
    const typename Traversal::node_type& root, const Traversal& tree,
    const traverse_options& options, const environment& env, const rank_setting& setting) {
  constexpr const char* name = "distributed_traverse";
  require_not_captured(stream_of(env, name), name);
  run_setup setup(name, by_get(env));
  setup.prefer_host("the host communicates between rounds");
  shared_rounds<Traversal>::make_choices(setup);
  rank_run<Traversal> run(setup, options, root, tree, setting);
  const traverse_result<typename Traversal::value_type> own = run.get();
  static_cast<traverse_report&>(setting.report) = own.report;
  return reduce_over_ranks(own.value, tree, setup, setting);
}

}  // namespace ramify::detail::distributed_traverse::inline RAMIFY_BUILD
