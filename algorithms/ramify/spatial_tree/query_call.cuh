// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// query_call: the host's launches of a call over many queries. query_run.cuh has the runs that
/// calls return.

#include <cstddef>
#include <cstdint>
#include <ramify/runtime/detail/launch_each.cuh>
#include <ramify/runtime/run_control.cuh>
#include <ramify/runtime/trace_recorder.cuh>
#include <ramify/spatial_tree/ball_passes.cuh>
#include <ramify/spatial_tree/nearest.cuh>
#include <ramify/spatial_tree/query_checks.cuh>
#include <ramify/spatial_tree/query_setup.cuh>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// The launches of one call over n > 0 queries, and its report. It must not be moved.
template <class Real, int dim>
class query_call {
  using choice_type = metric_choice<Real, dim>;
  using batch_type = query_batch<Real, dim>;

 public:
  /// A call over the points of the tree, whose bounds the host has. Threads of the CPU executor do
  /// not need the order of the points. `choices` must outlive this object.
  query_call(const run_choices& choices, const query_setup<Real, dim>& setup,
             const choice_type& choice)
      : query_call(choices, setup, choice, {setup.tree.points, nullptr, setup.count}, nullptr,
                   RAMIFY_ON_CUDA) {
    decision_ = choice.of_queries(setup.tree.bounds, setup.tree.least_nonzero);
  }
  /// A call over the points of a tree that the host may not have read. If it has not, the first
  /// grid of the caller writes `decision`.
  query_call(const run_choices& choices, const query_setup<Real, dim>& setup,
             const choice_type& choice, metric_decision* decision)
      : query_call(choices, setup, choice) {
    if (tree_.built != nullptr) decided_ = decision;
  }
  /// A call over `queries`. `choices` and `memory` must outlive this object.
  query_call(const run_choices& choices, const query_setup<Real, dim>& setup,
             const choice_type& choice, const point<Real, dim>* queries,
             const query_memory<Real, dim>& memory)
      : query_call(choices, setup, choice, {queries, nullptr, count_in(memory, setup.count)},
                   &memory, query_sizes::may_sort(setup.options)) {
    count_ = setup.count;
  }

  [[nodiscard]] cudaStream_t stream() const { return choices_->stream; }
  /// Returns the number of queries, or its upper bound.
  [[nodiscard]] std::size_t n() const { return batch_.n.upper_bound; }
  [[nodiscard]] const spatial_tree_view<Real, dim>& tree() const { return tree_; }
  /// Returns the number of nodes of the tree.
  [[nodiscard]] runtime::element_count nodes() const {
    if (tree_.built == nullptr) return std::size_t{tree_.node_count};
    return device_count(&tree_.built->nodes, tree_.node_count);
  }
  /// Returns the scratch memory of a call over other queries than the points of the tree.
  [[nodiscard]] const query_memory<Real, dim>& memory() const { return *memory_; }

  /// Launches the checks of the queries, and the computation of their codes. Asynchronous.
  /// \throws cuda_error
  void put_checks() {
    query_state<Real, dim>* state = memory_->state;
    clear_memory(&state->counts, 1, stream(), "clearing the counts of a query");
    if (count_.on_device()) {
      put(runtime::read_count<runtime::element_count>, {1, 1}, count_, &state->counts.queries);
    }
    put(find_bounds<Real, dim>, {bounds_blocks(n()), unsigned{bounds_threads}}, batch_.queries,
        batch_.n, &state->found, &state->counts.arrived);
    if (!is_along_curve_) return;
    put(encode_queries<Real, dim>, runtime::shape_over(batch_.n, encoding_threads), batch_.queries,
        batch_.n, state, memory_->codes, memory_->order);
  }

  /// Lets a kernel decide the metric, and sorts the queries. Asynchronous, except on the CPU
  /// executor. \throws cuda_error
  void decide_on_device() {
    query_state<Real, dim>* state = memory_->state;
    put(decide_metric<Real, dim>, {1, 1}, choice_, tree_, state);
    decided_ = &state->counts.decision;
    if (is_along_curve_) sort();
  }

  /// Waits for the checks, and decides the metric. Sorts the queries, unless the warps' ranges of
  /// codes are short: after a sort their sum is at most 2^32. Twice as much is short, and one warp
  /// in 32 may have any queries.
  /// \throws std::invalid_argument naming the first query that is not finite; cuda_error
  void decide_on_host() {
    const query_state<Real, dim> seen = read_state();
    decision_ = choice_.of_queries(seen.found.bounds, seen.found.least_nonzero);
    constexpr unsigned long long longest = 1ULL << 32;
    constexpr std::size_t queries_of_32_warps = 1024;
    const unsigned long long short_ranges = (2 + n() / queries_of_32_warps) * longest;
    if (is_along_curve_ && seen.counts.code_ranges > short_ranges) sort();
  }

  /// Launches `kernel` over the queries, in whole blocks: see shape_over(). Visits differ in
  /// length, so there are many blocks. If `loops` is false, there is a thread for each query.
  /// \throws cuda_error
  template <bool loops, class... Parameters, class... Arguments>
  void run(void (*kernel)(Parameters...), const Arguments&... arguments) {
    constexpr std::size_t most_blocks = 8 * runtime::blocks_that_loop;
    const runtime::element_count queries = loops ? batch_.n : runtime::element_count(n());
    put(kernel, runtime::shape_over(queries, packet_threads, most_blocks), arguments...);
  }
  /// Launches `kernel` over m > 0 items, in whole blocks: see shape_over(). \throws cuda_error
  template <class... Parameters, class... Arguments>
  void run_each(void (*kernel)(Parameters...), const runtime::element_count& m,
                const Arguments&... arguments) {
    put(kernel, runtime::shape_over(m, 256), arguments...);
  }

  /// Calls use(metric) with the query_metric that the host has decided, or with each one that a
  /// kernel may have decided.
  template <class Use>
  void with_metric(const Use& use) const {
    if (decided_ != nullptr) {
      choice_.with_each(decided_, use);
    } else {
      choice_.with(decision_, use);
    }
  }

  /// Runs a pass over the balls around the queries. \throws cuda_error
  template <class Pass>
  void run_pass(const Pass& pass) {
    with_metric([&](const auto& metric) { run_pass_in(metric, pass); });
  }
  /// Runs a pass over the balls in a query_metric of with_metric(). \throws cuda_error
  template <class Metric, class Pass>
  void run_pass_in(const query_metric<Real, Metric>& metric, const Pass& pass) {
    if constexpr (!query_metric<Real, Metric>::is_plain) {
      if (!batch_.n.on_device()) return run_visits<false>(metric, pass);
    }
    run_visits<true>(metric, pass);
  }

  /// Launches a kernel that compares points with regions, in the plain metric. It ends at once if
  /// a kernel has decided that no result may be written. \throws cuda_error
  template <class... Parameters, class... Arguments>
  void run_search(void (*kernel)(Parameters...), const Arguments&... arguments) {
    run<false>(kernel, tree_, batch_, decided_, arguments...);
  }

  /// Runs a search for the k nearest neighbors. \throws cuda_error
  /// \param exclude_self  only for the points of the tree
  void run_nearest(unsigned k, bool exclude_self, std::uint32_t* ids, Real* distances2) {
    nearest_queries<Real, dim> queries{batch_, k, exclude_self, options_.squared};
    if (memory_ == nullptr) queries.queries = nullptr;  // the points of the tree
    with_metric([&]<class Metric>(const query_metric<Real, Metric>& metric) {
      constexpr bool loops = query_metric<Real, Metric>::is_plain;
      run<loops>(kernel_of_nearest<Real, dim, Metric>(k), tree_, queries, metric, ids, distances2);
      if constexpr (std::is_same_v<Metric, plain_metric>) {
        if (!options_.squared) {
          runtime::element_count distances = batch_.n;
          distances.upper_bound *= k;  // for the size of the grid
          run_each(take_roots<Real>, distances, distances2, batch_.n, k, metric);
        }
      }
    });
  }

  /// Launches a kernel that finds the k nearest neighbors of the caller's queries, squared, in a
  /// query_metric of with_metric(). \throws cuda_error
  template <class... Parameters, class Metric, class... Arguments>
  void run_neighbors(void (*kernel)(Parameters...), unsigned k,
                     const query_metric<Real, Metric>& metric, const Arguments&... arguments) {
    run<false>(kernel, tree_, nearest_queries<Real, dim>{batch_, k, false, true}, metric,
               arguments...);
  }

  /// Returns whether a kernel has decided the metric, so that the queries must still be checked.
  [[nodiscard]] bool is_decided_on_device() const { return decided_ != nullptr; }
  /// Waits for the stream, and returns what the kernels have counted.
  /// \throws std::invalid_argument naming the first query that is not finite; cuda_error
  [[nodiscard]] query_counts read_counts() const { return read_state().counts; }

  /// Checks that the build of the tree was complete when a kernel decided the metric.
  /// \throws std::logic_error
  void check_tree(const metric_decision& decision) const {
    if (tree_.built == nullptr || decision.kind != metric_kind::none) return;
    throw std::logic_error(std::string(choices_->algorithm) +
                           ": the build of the tree was not complete: call its get() first");
  }

  /// Checks that no cudaDeviceReset() has destroyed the memory of the call. \throws
  /// std::logic_error
  void require_memory() const { require_context(context_, choices_->algorithm); }

  /// Calls end(*this, result), waits, and returns the result with the report of the call.
  /// \throws std::logic_error after a cudaDeviceReset(); cuda_error
  template <class Result, class End>
  [[nodiscard]] Result finish_with(const End& end, std::size_t scratch_bytes) {
    Result result{};
    end(*this, result);
    if constexpr (requires { result.report; }) {
      result.report = finish(scratch_bytes);
    } else {
      static_cast<run_report&>(result) = finish(scratch_bytes);
    }
    return result;
  }
  /// Waits for the stream and returns the report. \throws std::logic_error after a
  /// cudaDeviceReset(); cuda_error
  [[nodiscard]] const run_report& finish(std::size_t scratch_bytes) {
    require_memory();
    check(cudaStreamSynchronize(stream()), doing);
    recorder_.read();
    report_.scratch_bytes = scratch_bytes + bytes_of_sort_;
    return report_;
  }

 private:
  static constexpr const char* doing = "querying a spatial tree";

  template <bool loops, class Metric, class Pass>
  void run_visits(const query_metric<Real, Metric>& metric, const Pass& pass) {
    run<loops>(uses_packets() ? visit_balls<true, loops, Real, dim, Metric, Pass>
                              : visit_balls<false, loops, Real, dim, Metric, Pass>,
               tree_, batch_, metric, pass);
  }

  query_call(const run_choices& choices, const query_setup<Real, dim>& setup,
             const choice_type& choice, const batch_type& batch,
             const query_memory<Real, dim>* memory, bool is_along_curve)
      : choices_(&choices),
        tree_(setup.tree),
        options_(setup.options),
        choice_(choice),
        batch_(batch),
        memory_(memory),
        is_along_curve_(is_along_curve),
        recorder_(choices.trace, choices.stream) {
    report_.pending_launch_limit = choices.limit;
  }

  /// Returns the number of queries for the kernels after read_count().
  [[nodiscard]] static runtime::element_count count_in(const query_memory<Real, dim>& memory,
                                                       const runtime::element_count& given) {
    return given.on_device()
               ? runtime::element_count(&memory.state->counts.queries, given.upper_bound)
               : given;
  }

  /// Returns whether warps visit the tree for the balls. Few queries of a large tree are too far
  /// apart: a packet would visit several times as many nodes as its queries.
  [[nodiscard]] bool uses_packets() const {
    if (options_.ball_method != query_method::automatic) {
      return options_.ball_method == query_method::packets;
    }
    return is_along_curve_ && n() >= tree_.point_count / 4;
  }

  /// Launches a kernel whose last parameter is the ticket of the trace.
  template <class... Parameters, class... Arguments>
  void put(void (*kernel)(Parameters...), const launch_shape& shape,
           const Arguments&... arguments) {
    check(launch(kernel, shape, stream(), arguments..., recorder_.ticket()).code(), doing);
    ++report_.host_grids;
  }

  void sort() {
    const memory_ref& memory = memory_->sort.empty() ? choices_->given : memory_->sort;
    sort_queries(memory_->codes, memory_->order, n(), *choices_, memory, report_);
    if (memory_->sort.empty()) bytes_of_sort_ = sort_queries_bytes(n());
    batch_.order = memory_->order;
  }

  [[nodiscard]] query_state<Real, dim> read_state() const {
    const auto seen = read_back(memory_->state, stream(), "reading the bounds of the queries");
    if (count_.on_device()) count_.check(choices_->algorithm, seen.counts.queries.raw);
    check_finite(seen.found, std::string(choices_->algorithm) + ": queries");
    check_tree(seen.counts.decision);
    return seen;
  }

  const run_choices* choices_;
  spatial_tree_view<Real, dim> tree_;
  spatial_query_options options_;
  choice_type choice_;
  batch_type batch_;
  runtime::element_count count_;              // of the caller's queries
  const query_memory<Real, dim>* memory_;     // null if the queries are the points of the tree
  bool is_along_curve_;                       // threads process the queries in this order
  metric_decision decision_{};                // of the host
  const metric_decision* decided_ = nullptr;  // of a kernel, in device memory
  std::size_t bytes_of_sort_ = 0;             // allocated by the sort
  trace_recorder recorder_;
  context_id context_ = current_context();
  run_report report_ = report_of_this_build({route::flat, "queries launch no child grids"});
};

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD
