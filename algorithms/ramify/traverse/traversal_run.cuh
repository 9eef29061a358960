// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What both strategies share on the host: the totals and the result of a run.

#include <cstddef>
#include <ramify/runtime/phase_range.cuh>
#include <ramify/runtime/run_control.cuh>
#include <ramify/traverse/config.hpp>
#include <ramify/traverse/traversal.cuh>

namespace ramify::inline RAMIFY_BUILD {

template <class Value>
struct traverse_result {
  Value value;  ///< the reduction over all nodes
  traverse_report report;
};

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::traverse::inline RAMIFY_BUILD {

/// One run of a strategy: of work_sharing_run or task_per_node_run, which takes its scratch memory
/// at its construction. Its members totals and total_count are the totals that its kernels add to.
template <class Traversal, class Strategy>
class traversal_run : runtime::basic_run<Strategy> {
  using Value = typename Traversal::value_type;
  using base = runtime::basic_run<Strategy>;

 public:
  using base::captured;

  /// Returns the device memory that a run needs, in bytes.
  [[nodiscard]] static std::size_t scratch_bytes(const traverse_config& config) {
    return base::scratch_bytes(Strategy::sizes_for(config));
  }

  /// Starts a run; see traverse_async(). `more` are further arguments of Strategy::start().
  template <class... More>
  traversal_run(const runtime::run_setup& setup, const traverse_config& config,
                const typename Traversal::node_type& root, const Traversal& tree, More&... more)
      : base(setup, Strategy::sizes_for(config)), tree_(tree) {
    const Strategy& strategy = this->parts;
    const unsigned blocks = (strategy.total_count + total_threads - 1) / total_threads;
    this->control.launch_grid("launching clear_totals", clear_totals<Value>,
                              {blocks, total_threads}, strategy.totals, strategy.total_count,
                              tree.identity, this->control.ticket());
    this->parts.start(this->control, setup.loop, root, tree, more...);
  }

  /// Waits for the run and returns its result; see traverse_run::get().
  traverse_result<Value> get() {
    Strategy& strategy = this->parts;
    run_control& run = this->control;
    strategy.finish();
    const phase_range range("traverse: reduce totals");
    run.launch_grid("launching reduce_totals",
                    reduce_totals<Value, typename Traversal::reduce_type>, {1, total_threads},
                    strategy.totals, strategy.total_count, tree_.reduce, tree_.identity,
                    run.ticket());
    // The chain is complete, so its status has been read.
    traverse_result<Value> result{read_back(strategy.totals, run.stream(), "reading the result"),
                                  {}};
    static_cast<run_report&>(result.report) = this->end();
    strategy.complete(result.report);
    return result;
  }

 private:
  Traversal tree_;
};

}  // namespace ramify::detail::traverse::inline RAMIFY_BUILD
