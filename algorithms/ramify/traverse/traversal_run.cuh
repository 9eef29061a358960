// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What both strategies share on the host: the totals and the result of a run.

#include <cstddef>
#include <memory>
#include <ramify/runtime/detail/started_run.cuh>
#include <ramify/runtime/phase_range.cuh>
#include <ramify/traverse/config.hpp>
#include <ramify/traverse/roots.cuh>
#include <ramify/traverse/traversal.cuh>
#include <utility>

namespace ramify::inline RAMIFY_BUILD {

/// What a traversal returns.
template <class Value>
struct traverse_result {
  Value value;             ///< the reduction over all nodes
  traverse_report report;  ///< the report of the run
};

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::traverse::inline RAMIFY_BUILD {

/// The scratch memory of a traversal: the result, and the memory of the strategy.
template <class Traversal, class Strategy>
struct parts_of_traversal {
  template <class Sizes>
  parts_of_traversal(memory_layout& memory, const Sizes& sizes)
      : result(memory.take<typename Traversal::value_type>(1)),
        ended(memory.take<unsigned>(may_end<Traversal> ? 1 : 0)),
        of_strategy(memory, sizes) {}

  typename Traversal::value_type* result;
  unsigned* ended;  ///< the flag of an ending_traversal
  Strategy of_strategy;
};

/// One run of a strategy: of work_sharing_run or task_per_node_run, which takes its scratch memory
/// at its construction. Its members totals and total_count are the totals that its kernels add to;
/// start() clears them. Its finish() returns whether grids may have changed them since start().
///
/// The reduction of the totals follows start() in the stream. So if finish() has nothing to launch,
/// it reads the result with the state of the run, and the host waits only once.
template <class Traversal, class Strategy>
class traversal_run final : public device_run<traverse_result<typename Traversal::value_type>,
                                              parts_of_traversal<Traversal, Strategy>> {
  using Node = typename Traversal::node_type;
  using Value = typename Traversal::value_type;
  using result = traverse_result<Value>;
  using base = device_run<result, parts_of_traversal<Traversal, Strategy>>;

 public:
  /// Returns the device memory that a run needs, in bytes.
  [[nodiscard]] static std::size_t scratch_bytes(const traverse_options& options) {
    return base::scratch_bytes(Strategy::sizes_for(options));
  }

  /// Chooses the route, and starts the traversal. The run owns `roots`, the copy of an array of
  /// roots, or null.
  [[nodiscard]] static async_run<result> start(run_setup& setup, const traverse_options& options,
                                               const Node& root, const Traversal& tree,
                                               std::shared_ptr<const void>&& roots) {
    Strategy::make_choices(setup);
    const phase_range range("traverse: start");
    auto run = std::make_unique<traversal_run>(setup, options, root, tree);
    run->roots_ = std::move(roots);
    return async_run<result>(std::move(run));
  }

  /// Starts the traversal on the route of `setup`. `more` are further arguments of
  /// Strategy::start().
  template <class... More>
  traversal_run(const run_setup& setup, const traverse_options& options, const Node& root,
                const Traversal& tree, More&... more)
      : base(setup, Strategy::sizes_for(options)), tree_(tree) {
    if constexpr (may_end<Traversal>) {
      tree_.ended = this->parts.ended;
      clear_memory(tree_.ended, 1, this->control.stream(), "clearing the flag of an early end");
    }
    this->parts.of_strategy.start(this->control, setup.loop, root, tree_, more...);
    launch_reduction();
    this->complete_in_stream(this->parts.of_strategy.completes_in_stream());
  }

 private:
  result finish() override {
    Strategy& strategy = this->parts.of_strategy;
    const run_control& run = this->control;
    const Value* const value = this->parts.result;
    // If get() is called again because it has thrown, the result may still be an old one.
    is_stale_ = strategy.finish() || (is_stale_ && !this->captured());
    this->control.count_grids(1, 0);  // the reduction, which a captured start() cannot count
    if (is_stale_) {
      launch_reduction();
      this->control.count_grids(1, 0);
    }
    // The chain is complete, so its status has been read.
    result found{is_stale_ || !run.sees(value)
                     ? read_back(value, run.stream(), "reading the result")
                     : run.seen(value),
                 {}};
    if constexpr (may_end<Traversal>) {
      const unsigned* const ended = this->parts.ended;
      found.report.ended_early =
          (!is_stale_ && run.sees(ended)
               ? run.seen(ended)
               : read_back(ended, run.stream(), "reading the early end")) != 0;
    }
    if constexpr (has_roots<Traversal>) {
      static_cast<void>(
          read_number(this->choices.algorithm, tree_.expand.roots.count, run.stream()));
    }
    static_cast<run_report&>(found.report) = this->end();
    strategy.complete(found.report);
    return found;
  }

  void launch_reduction() {
    const phase_range range("traverse: reduce totals");
    const Strategy& strategy = this->parts.of_strategy;
    const launch_status launched =
        launch(reduce_totals<Value, typename Traversal::reduce_type>, {1, total_threads},
               this->control.stream(), strategy.totals, strategy.total_count, this->parts.result,
               tree_.reduce, tree_.identity, this->control.ticket());
    check(launched.code(), "launching reduce_totals");
  }

  Traversal tree_;
  std::shared_ptr<const void> roots_;
  bool is_stale_ = false;  // grids have changed the totals since the reduction in start()
};

}  // namespace ramify::detail::traverse::inline RAMIFY_BUILD
