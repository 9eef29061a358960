// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// query(): calls a function of the caller for each point that its queries find. Public:
/// <ramify/spatial_tree.cuh> includes this header. predicates.cuh has the predicates.
///
///     // Adds the masses in boxes, without atomics.
///     struct add_mass {
///       const float* masses;
///       float* sums;
///       __device__ void operator()(const spatial_match<float>& m) const {
///         sums[m.query] += masses[m.point];
///       }
///     };
///     query(tree.view(), in_boxes(boxes, n), add_mass{masses, sums});
///
/// Callback   a struct of device functions, or a lambda, copied bit by bit to the kernel. It is
///            called once for each match. One thread makes all calls of a query, one after the
///            other, in the tree's order, so results of a query need no atomics. Different queries
///            are called for at the same time.
/// Early end  a callback that returns query_control::stop is not called again for this query.
///            With query_control::proceed, or if it returns nothing, the query goes on.
/// State      a callback may have a state for each query, which the thread keeps in registers:
///
///     struct mass_in_region {
///       const float* masses;
///       float* sums;
///       __device__ float begin(std::uint32_t) const { return 0; }
///       __device__ void operator()(float& sum, const spatial_match<float>& m) const {
///         sum += masses[m.point];
///       }
///       __device__ void end(std::uint32_t query, float sum) const { sums[query] = sum; }
///     };
///
///            begin() and end() are called once for each query, also for one without matches; end()
///            is optional. query_lists.cuh has count_matches, list_matches and query_list().
/// Options    those of other queries, except `squared`. Packets are for balls of one radius and for
///            pairs. Regions have no periods.
/// Stream     query_async() returns without waiting, and a graph can capture it, as radius_count()
///            (queries.cuh: Queries, Tree, Stream, Memory, Graphs, Async, Errors). With
///            query_scratch_bytes() bytes of environment::memory. nearest_to() with k > 8 needs
///            more scratch memory than nearest(): a row of k indices and distances for each query.
/// Errors     get() throws std::invalid_argument for a query with a NaN, or an infinity other than
///            that of a box; then the callback is not called.
/// Complexity O(log n + matches) per query for evenly distributed points and regions that are not
///            long; O(n) in the worst case.

#include <cstddef>
#include <memory>
#include <ramify/spatial_tree/config.hpp>
#include <ramify/spatial_tree/matches.cuh>
#include <ramify/spatial_tree/nearest_matches.cuh>
#include <ramify/spatial_tree/predicates.cuh>
#include <ramify/spatial_tree/query_run.cuh>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// Which requirements the predicates of a query meet.
template <class Real, int dim, class Predicates>
struct predicate_types {
  static constexpr bool are_predicates = requires(const Predicates& p) { element_count{p.n}; }
  || std::is_same_v<Predicates, pairs_within>;
  static constexpr bool suit_tree = [] {
    if constexpr (requires { typename Predicates::tree_type; }) {
      return std::is_same_v<typename Predicates::tree_type, spatial_tree_view<Real, dim>>;
    } else {
      return true;
    }
  }();
  static constexpr bool are_valid = are_predicates && suit_tree;
};

/// Reports each requirement of query() that is not met by a sentence of the compiler.
template <class Real, int dim, class Predicates, class Callback>
struct checked_query : checked_callback<Real, Callback> {
  using types = predicate_types<Real, dim, Predicates>;
  static_assert(types::are_predicates,
                "query: the second argument must be one of the predicates of predicates.cuh");
  static_assert(types::suit_tree,
                "query: the predicates must have the type of coordinates and the dimensions of the "
                "tree");
  static constexpr bool are_valid = types::are_valid && callback_types<Real, Callback>::are_valid;
};

template <class Real, int dim, class Predicates, class Callback>
using run_of_query = std::conditional_t<predicate_types<Real, dim, Predicates>::are_valid &&
                                            callback_types<Real, Callback>::are_valid,
                                        async_run<run_report>, no_run>;

/// Returns the number of queries.
template <class Real, int dim, class Predicates>
[[nodiscard]] element_count count_of(const Predicates& predicates,
                                     const spatial_tree_view<Real, dim>& tree) {
  if constexpr (std::is_same_v<Predicates, pairs_within>) {
    return query_setup<Real, dim>::points_of(tree);
  } else {
    return predicates.n;
  }
}

/// Returns the sizes of the memory of a query.
template <class Predicates>
[[nodiscard]] query_sizes sizes_of(const Predicates& predicates,
                                   const spatial_query_options& options) {
  query_sizes sizes = query_sizes::of_call(predicates.n.upper_bound, options);
  if constexpr (requires { predicates.k; }) {
    if (predicates.k > max_k_without_rows) sizes.row = predicates.k;
  }
  sizes.has_anchors = requires { &Predicates::region; };
  return sizes;
}

/// The scratch memory of a search for pairs.
struct pairs_memory {
  metric_decision* decision;

  explicit pairs_memory(memory_layout& memory) : decision(memory.take<metric_decision>(1)) {}
};

/// Writes the metric of a search among the points of a tree. Thread 0 of one block does so.
template <class Real, int dim>
__global__ void decide_own_metric(metric_choice<Real, dim> of_call,
                                  spatial_tree_view<Real, dim> tree, metric_decision* decision,
                                  trace_ticket trace) {
  const traced here(trace, __func__);
  if (threadIdx.x != 0) return;
  *decision = of_call.among(tree, [](const auto& choice) { return choice.of_points(); });
}

/// The search of a run over balls of one radius, or for pairs: see match_pass.
template <template <class, int, class, class> class Visitor, class Real, int dim, class Callback>
struct match_search {
  Callback callback;

  void operator()(query_call<Real, dim>& call) const {
    call.with_metric([&]<class Metric>(const query_metric<Real, Metric>& metric) {
      call.run_pass_in(
          metric, match_pass<Visitor, Real, dim, Metric, Callback>{call.tree(), metric, callback});
    });
  }
};

/// Returns the search of a query in balls.
template <class Real, int dim, class Callback>
[[nodiscard]] auto search_of(const in_balls<Real, dim>&, const spatial_tree_view<Real, dim>&,
                             const Callback& callback) {
  return match_search<match_visitor, Real, dim, Callback>{callback};
}
/// Returns the search of a query for pairs.
template <class Real, int dim, class Callback>
[[nodiscard]] auto search_of(const pairs_within&, const spatial_tree_view<Real, dim>&,
                             const Callback& callback) {
  return match_search<pair_visitor, Real, dim, Callback>{callback};
}
/// Returns the search of a query for neighbors.
template <class Real, int dim, class Filter, class Callback>
[[nodiscard]] auto search_of(const nearest_to<Real, dim, Filter>& neighbors,
                             const spatial_tree_view<Real, dim>&, const Callback& callback) {
  return neighbor_search<Real, dim, Filter, Callback>{static_cast<unsigned>(neighbors.k),
                                                      neighbors.filter, callback};
}
/// Returns the search of a query in regions.
template <class Real, int dim, class Predicates, class Callback>
[[nodiscard]] auto search_of(const Predicates& predicates, const spatial_tree_view<Real, dim>&,
                             const Callback& callback) {
  return region_search<Real, dim, Predicates, Callback>{predicates, callback};
}

/// A search for the pairs of points of a tree, of which there are some. `End`: see query_run.
template <class Result, class Real, int dim, class Callback, class End>
class pairs_run final : public memory_run<Result, pairs_memory> {
 public:
  pairs_run(const query_setup<Real, dim>& setup, const pairs_within& pairs,
            const Callback& callback, const End& end)
      : memory_run<Result, pairs_memory>(setup),
        call_(this->choices, setup,
              metric_choice(setup.tree, setup.options.period, static_cast<Real>(pairs.radius)),
              this->parts.decision),
        end_(end) {
    if (setup.tree.built != nullptr) {
      call_.run_each(
          decide_own_metric<Real, dim>, std::size_t{1},
          metric_choice(setup.tree, setup.options.period, static_cast<Real>(pairs.radius)),
          setup.tree, this->parts.decision);
    }
    search_of(pairs, setup.tree, callback)(call_);
    this->complete_in_stream();
  }

 private:
  Result finish() override {
    call_.require_memory();
    if (call_.tree().built != nullptr) {
      call_.check_tree(
          read_back(this->parts.decision, call_.stream(), "reading the decision about the metric"));
    }
    return call_.template finish_with<Result>(end_, this->memory.scratch.size());
  }

  query_call<Real, dim> call_;
  End end_;
};

/// Starts a query for pairs.
template <class Result, class Real, int dim, class Callback, class End>
async_run<Result> start_search(const query_setup<Real, dim>& setup, const pairs_within& pairs,
                               const Callback& callback, const End& end) {
  setup.check_radius(static_cast<Real>(pairs.radius));
  if constexpr (std::is_same_v<Result, run_report>) {  // lists have at least one query
    if (setup.n == 0) return run_without_work(setup, Result{}, without_queries);
  }
  return std::make_unique<pairs_run<Result, Real, dim, Callback, End>>(setup, pairs, callback, end);
}

/// Starts a query for what `predicates` select. `End`: see query_run.
template <class Result, class Real, int dim, class Predicates, class Callback, class End>
async_run<Result> start_search(const query_setup<Real, dim>& setup, const Predicates& predicates,
                               const Callback& callback, const End& end) {
  const point<Real, dim>* queries = nullptr;
  metric_choice choice(setup.tree, setup.options.period);
  if constexpr (requires { &Predicates::region; }) {
    predicates.check(setup);
    setup.refuse_periods("regions have no periods");
  } else if constexpr (requires { predicates.k; }) {
    queries = predicates.queries;
    setup.check_row("k", predicates.k);
    setup.check_array(queries, "queries");
  } else {
    queries = predicates.centers;
    setup.check_radius(predicates.radius);
    setup.check_array(queries, "queries");
    choice = metric_choice(setup.tree, setup.options.period, predicates.radius);
  }
  if constexpr (std::is_same_v<Result, run_report>) {  // lists have at least one query
    if (setup.n == 0) return run_without_work(setup, Result{}, without_queries);
  }
  return start_query_in<Result>(setup, sizes_of(predicates, setup.options), queries, choice,
                                search_of(predicates, setup.tree, callback), end);
}

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// Returns the memory that query() needs if it is handed in, in bytes. Of the tree and of the
/// predicates, only the types and the number of queries matter.
/// \throws std::invalid_argument, cuda_error
template <class Real, int dim, class Predicates>
[[nodiscard]] std::size_t query_scratch_bytes(const spatial_tree_view<Real, dim>&,
                                              const Predicates& predicates,
                                              const spatial_query_options& options = {}) {
  validate(options);
  namespace internal = detail::spatial_tree;
  if constexpr (std::is_same_v<Predicates, pairs_within>) {
    return layout_bytes<internal::pairs_memory>();
  } else {
    return internal::sizes_of(predicates, options).template bytes<Real, dim>();
  }
}

/// Starts to call `callback` once for each point of the tree that a query finds.
/// \param predicates  what the queries find: see predicates.cuh
/// \param callback    see Callback above
/// \param env         its memory: query_scratch_bytes()
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Real, int dim, class Predicates, class Callback>
detail::spatial_tree::run_of_query<Real, dim, Predicates, Callback> query_async(
    const spatial_tree_view<Real, dim>& tree, const Predicates& predicates,
    const Callback& callback, const spatial_query_options& options, const environment& env = {}) {
  namespace internal = detail::spatial_tree;
  using setup_type = internal::query_setup<Real, dim>;
  if constexpr (internal::checked_query<Real, dim, Predicates, Callback>::are_valid) {
    const setup_type setup("query", tree, internal::count_of(predicates, tree), options, env);
    return internal::start_search<run_report>(setup, predicates, callback, internal::no_end{});
  } else {
    return {};
  }
}
/// Overload with the default options.
template <class Real, int dim, class Predicates, class Callback>
auto query_async(const spatial_tree_view<Real, dim>& tree, const Predicates& predicates,
                 const Callback& callback, const environment& env = {}) {
  return query_async(tree, predicates, callback, spatial_query_options{}, env);
}

/// Calls `callback` once for each point of the tree that a query finds: query_async() and get().
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Real, int dim, class Predicates, class Callback>
auto query(const spatial_tree_view<Real, dim>& tree, const Predicates& predicates,
           const Callback& callback, const spatial_query_options& options,
           const environment& env = {}) {
  return query_async(tree, predicates, callback, options, detail::waiting(env)).get();
}
/// Overload with the default options.
template <class Real, int dim, class Predicates, class Callback>
auto query(const spatial_tree_view<Real, dim>& tree, const Predicates& predicates,
           const Callback& callback, const environment& env = {}) {
  return query(tree, predicates, callback, spatial_query_options{}, env);
}

}  // namespace ramify::inline RAMIFY_BUILD
