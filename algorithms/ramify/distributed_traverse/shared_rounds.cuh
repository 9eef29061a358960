// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The host side of a distributed traversal on one rank: rounds of work sharing, and transfers of
/// frontier nodes between ranks.

#include <algorithm>
#include <cstdint>
#include <functional>
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
  const distributed_traverse_config& config;
  distributed_traverse_report& report;  ///< counts comparisons, exchanges and moved nodes
  /// Called on all ranks when they compare, while no kernel of the traversal runs; or empty.
  const std::function<void()>& at_comparison;
};

/// Limit of steps of the first round. It doubles at each comparison up to config.steps. So the
/// ranks share the first nodes soon, also where the warps of a block run one after another.
inline constexpr unsigned first_steps = 32;

/// Returns the limits of the first round.
[[nodiscard]] inline traverse::round_limits first_limits(
    const distributed_traverse_config& config) {
  return {1, std::min(first_steps, config.steps)};
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
  void start(run_control& control, const runtime::loop_choice& loop, const node_type& root,
             const Traversal& tree, const rank_setting& setting) {
    setting_ = &setting;
    control_ = &control;
    steps_ = tree.limits.steps;
    base::prepare(control, loop, tree);
    has_work_ = setting.comm.rank() == 0;
    base::launch_beginning(control, root, has_work_);
    if (has_work_) base::chain_->start();
    // A list that is at most half full leaves the next round capacity for its limit of steps.
    most_ = setting.comm.all_reduce(base::sizes_.capacity, reduction::min) / 2;
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
      // 3. Move nodes, and continue. After a transfer the ranks compare again soon.
      const std::vector<node_transfer> plan = plan_transfers(counts, most_);
      if (!plan.empty()) move_nodes(plan);
      steps_ = std::min(2 * steps_, setting_->config.steps);
      interval = plan.empty() ? std::min(2 * interval, setting_->config.rounds) : 1;
      has_work_ = now_.due() > 0;
      if (has_work_) resume(interval);
    }
  }

 private:
  /// Sends the last nodes of the list, and appends those that come.
  void move_nodes(const std::vector<node_transfer>& plan) {
    communicator& comm = setting_->comm;
    list_node* const list = base::lists_[now_.filled];
    unsigned& count = now_.count[now_.filled];
    const unsigned before = count;
    std::vector<outgoing_message<list_node>> outgoing;
    std::vector<incoming_message<list_node>> incoming;
    for (const node_transfer& transfer : plan) {
      const auto n = static_cast<unsigned>(transfer.count);
      if (transfer.from == comm.rank()) {
        count -= n;
        outgoing.push_back({transfer.to, list + count, n});
      } else if (transfer.to == comm.rank()) {
        incoming.push_back({transfer.from, list + count, n});
        count += n;
      }
      setting_->report.moved_nodes += n;
    }
    ++setting_->report.exchanges;
    if (count == before) return;  // this rank takes no part
    comm.begin_exchange<list_node>(outgoing, incoming, control_->stream()).end();
    now_.peak = std::max(now_.peak, count);
    base::chain_->write_state(now_);
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
  unsigned most_ = 0;   ///< nodes that a rank may have after a transfer
};

/// Returns the reduction of the values of all ranks. It has the same bits on all ranks. Collective.
template <class Traversal>
[[nodiscard]] typename Traversal::value_type reduce_over_ranks(
    const typename Traversal::value_type& own, const Traversal& tree, cudaStream_t stream,
    const rank_setting& setting) {
  using Value = typename Traversal::value_type;
  const auto ranks = static_cast<unsigned>(setting.comm.size());
  // First the value of this rank, and at last the result; then the values of all ranks.
  const device_buffer<Value> values(ranks + 1, stream);
  Value* const all = values.data() + 1;
  copy_to_device(values.data(), &own, sizeof own, stream);
  setting.comm.all_gather(values.data(), 1, all, stream);
  trace_recorder recorder(setting.config.trace, stream);
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
    const typename Traversal::node_type& root, const Traversal& tree, cudaStream_t stream,
    const rank_setting& setting) {
  using strategy = shared_rounds<Traversal>;
  const distributed_traverse_config& config = setting.config;
  require_not_captured(stream);
  run_setup setup("distributed_traverse", config, "distributed_traverse_config.flat_loop", stream,
                  {});
  setup.prefer_host("the host communicates between rounds");
  strategy::choose_route(setup);
  traverse::traversal_run<Traversal, strategy> run(setup, config, root, tree, setting);
  const traverse_result<typename Traversal::value_type> own = run.get();
  static_cast<traverse_report&>(setting.report) = own.report;
  return reduce_over_ranks(own.value, tree, stream, setting);
}

}  // namespace ramify::detail::distributed_traverse::inline RAMIFY_BUILD
