// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What both strategies share on the host: the choices, the memory and the result of a run.

#include <cstddef>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/launch_chain.cuh>
#include <ramify/runtime/limits.cuh>
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

/// What is decided before any memory is allocated or any grid is launched. Requires a valid
/// configuration, and a relaxed_capture_scope while the stream is being captured.
struct traversal_setup {
  traverse_config config;
  cudaStream_t stream;
  scratch_memory given;
  bool captured = is_being_captured(stream);
  std::size_t limit = *current_launch_limits().pending_launches;
  runtime::loop_choice loop = runtime::choose_loop(config.flat_loop, "traverse_config.flat_loop");

  /// Returns whether the host launches the rounds or levels of the flat route one by one.
  [[nodiscard]] bool by_host() const { return loop.wanted == flat_loop::host; }

  /// Chooses the route by `preferred...`, the last arguments of choose_route().
  /// \throws unavailable if a graph cannot capture the route
  template <class... Preferred>
  [[nodiscard]] route_choice choose(const Preferred&... preferred) const {
    constexpr unsigned slots_needed = 2;
    const route_choice choice = choose_route(config.route, limit, slots_needed, preferred...);
    if (captured && choice.taken == route::flat) runtime::require_capturable(loop, true);
    return choice;
  }

  /// Returns scratch memory of `bytes` bytes. \throws std::invalid_argument, cuda_error
  [[nodiscard]] scratch_space take_scratch(std::size_t bytes) const {
    check_scratch(given, bytes, captured, "traverse");
    return {given, bytes, stream};
  }
};

/// One run. A strategy derives from it. It does not move, because chains refer to its control.
template <class Traversal>
class traversal_run {
 public:
  using Node = typename Traversal::node_type;
  using Value = typename Traversal::value_type;

  traversal_run(const traversal_run&) = delete;
  traversal_run& operator=(const traversal_run&) = delete;
  virtual ~traversal_run() = default;

  [[nodiscard]] bool captured() const { return captured_; }

  /// Waits for the run and returns its result; see traverse_run::get().
  traverse_result<Value> get() {
    finish();
    const phase_range range("traverse: reduce totals");
    control_.launched(launch(reduce_totals<Value, typename Traversal::reduce_type>,
                             {1, total_threads}, control_.stream(), totals_, total_count_,
                             tree_.reduce, tree_.identity, control_.ticket()),
                      "launching reduce_totals");
    traverse_result<Value> result{tree_.identity, {}};
    check(cudaMemcpyAsync(&result.value, totals_, sizeof(Value), cudaMemcpyDeviceToHost,
                          control_.stream()),
          "reading the result");
    control_.wait();
    control_.read_trace();
    static_cast<run_report&>(result.report) = control_.report();
    result.report.scratch_bytes = scratch_.size();
    complete(result.report);
    return result;
  }

 protected:
  /// Puts the clearing of `total_count` totals into the stream. `bytes` is the scratch memory of
  /// the run: what measured() returns, and what the strategy takes from memory_.
  traversal_run(const traversal_setup& setup, const Traversal& tree, const route_choice& choice,
                std::size_t bytes, unsigned total_count)
      : tree_(tree),
        scratch_(setup.take_scratch(bytes)),
        memory_(scratch_.data()),
        control_(memory_.take<std::byte>(run_control::scratch_bytes), choice, setup.limit,
                 setup.stream, setup.config.trace),
        totals_(memory_.take<Value>(total_count)),
        total_count_(total_count),
        captured_(setup.captured) {
    const unsigned blocks = (total_count + total_threads - 1) / total_threads;
    control_.launched(launch(clear_totals<Value>, {blocks, total_threads}, setup.stream, totals_,
                             total_count, tree.identity, control_.ticket()),
                      "launching clear_totals");
  }

  /// Measures the memory that this class takes.
  [[nodiscard]] static memory_layout measured(unsigned total_count) {
    memory_layout sizing(nullptr);
    sizing.take<std::byte>(run_control::scratch_bytes);
    sizing.take<Value>(total_count);
    return sizing;
  }

  /// Waits until all nodes are visited.
  virtual void finish() = 0;
  /// Writes the fields of the strategy into the report of the complete run.
  virtual void complete(traverse_report&) const {}

  Traversal tree_;
  scratch_space scratch_;
  memory_layout memory_;
  run_control control_;
  Value* totals_;
  unsigned total_count_;
  bool captured_;
};

}  // namespace ramify::detail::traverse::inline RAMIFY_BUILD
