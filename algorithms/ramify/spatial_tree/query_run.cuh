// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The runs of calls over many queries.
///
///     query_setup setup("radius_count", tree, n, options, env);
///     setup.check_radius(radius);
///     ...
///     return start_query<run_report>(setup, queries, metric_choice(tree, options.period, radius),
///                                    [=](auto& call) { call.run_pass(count_pass{counts}); });
///
/// If the results must be complete in stream order, the queries are always sorted, a kernel decides
/// the metric, and the kernels of both metrics are launched. Otherwise get() reads the bounds and
/// the order of the queries, and launches only what is needed.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ramify/runtime/detail/started_run.cuh>
#include <ramify/runtime/phase_range.cuh>
#include <ramify/spatial_tree/query_call.cuh>

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// The reason for the route of a call without queries.
inline constexpr const char* without_queries = "there are no queries";

/// The End of a query whose result is its report.
struct no_end {
  void operator()(auto&, auto&) const {}
};

/// A run over queries of the caller. `Put` launches the search with a query_call. If the queries
/// are regions, `queries` is null, and Put::put_anchors() writes a point near each. `End` takes the
/// query_call and the result, whose members it sets. If it launches grids, `in_stream` must be
/// false: then get() launches all grids after the checks.
template <class Result, class Real, int dim, class Put, class End>
class query_run final : public memory_run<Result, query_memory<Real, dim>> {
  using base = memory_run<Result, query_memory<Real, dim>>;

 public:
  query_run(const query_setup<Real, dim>& setup, const query_sizes& sizes, bool in_stream,
            const metric_choice<Real, dim>& choice, const point<Real, dim>* queries, const Put& put,
            const End& end)
      : base(setup, sizes),
        call_(this->choices, setup, choice, queries != nullptr ? queries : this->parts.anchors,
              this->parts),
        put_(put),
        end_(end),
        is_put_(sizes.n == 0) {
    if (is_put_) return;
    if constexpr (requires { put.put_anchors(call_); }) put.put_anchors(call_);
    call_.put_checks();
    if (!in_stream) return;
    call_.decide_on_device();
    put_search();
    this->complete_in_stream();
  }

 private:
  void put_search() {
    put_(call_);
    is_put_ = true;
  }

  /// \throws std::invalid_argument naming the first query that is not finite; cuda_error
  Result finish() override {
    call_.require_memory();
    if (!is_put_) {
      call_.decide_on_host();
      put_search();
    } else if (call_.is_decided_on_device()) {
      static_cast<void>(call_.read_counts());  // checks the queries
    }
    return call_.template finish_with<Result>(end_, this->memory.scratch.size());
  }

  query_call<Real, dim> call_;
  Put put_;
  End end_;
  bool is_put_;  // whether the search was launched
};

/// Starts a run over n > 0 queries of the caller with memory of these sizes, or for lists also over
/// none. \throws std::invalid_argument; cuda_error
template <class Result, class Real, int dim, class Put, class End = no_end>
async_run<Result> start_query_in(const query_setup<Real, dim>& setup, query_sizes sizes,
                                 const point<Real, dim>* queries,
                                 const metric_choice<Real, dim>& choice, const Put& put,
                                 const End& end = {}) {
  const phase_range range("spatial_tree: start query");
  const bool in_stream = setup.is_in_stream() && !sizes.has_list_lengths;
  // Queries that get() finds in order need no memory of a sort.
  sizes.has_sort = in_stream || setup.given.data() != nullptr;
  return std::make_unique<query_run<Result, Real, dim, Put, End>>(setup, sizes, in_stream, choice,
                                                                  queries, put, end);
}

/// Starts a run over points of the caller. \throws std::invalid_argument; cuda_error
template <class Result, class Real, int dim, class Put, class End = no_end>
async_run<Result> start_query(const query_setup<Real, dim>& setup, const point<Real, dim>* queries,
                              const metric_choice<Real, dim>& choice, const Put& put,
                              const End& end = {}) {
  setup.check_array(queries, "queries");
  query_sizes sizes = query_sizes::of_call(setup.n, setup.options);
  sizes.has_list_lengths = requires(Result & result) { result.offsets; };
  if constexpr (!requires(Result & result) { result.offsets; }) {
    if (setup.n == 0) return run_without_work(setup, Result{}, without_queries);
  }
  return start_query_in<Result>(setup, sizes, queries, choice, put, end);
}

/// A search for the nearest neighbors of the points of the tree, of which there are some.
template <class Real, int dim>
class own_neighbors_run final : public started_run<run_report> {
 public:
  own_neighbors_run(const query_setup<Real, dim>& setup, unsigned k, bool exclude_self,
                    std::uint32_t* ids, Real* distances2)
      : started_run<run_report>(setup),
        call_(this->choices, setup, metric_choice(setup.tree, setup.options.period)) {
    call_.run_nearest(k, exclude_self, ids, distances2);
    this->complete_in_stream();
  }

 private:
  run_report finish() override { return call_.finish(0); }

  query_call<Real, dim> call_;
};

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD
