// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// How the kernels of query() call the callback: match_visitor and pair_visitor are the Visitors of
/// one query; match_pass and visit_regions() pass them to the traversals. spatial_match
/// and query_control are public.

#include <cstdint>
#include <ramify/runtime/detail/functor_types.hpp>
#include <ramify/runtime/grid_trace.cuh>
#include <ramify/spatial_tree/ball_passes.cuh>
#include <ramify/spatial_tree/metric_choice.cuh>
#include <ramify/spatial_tree/query_call.cuh>
#include <ramify/spatial_tree/radius.cuh>
#include <type_traits>
#include <utility>

namespace ramify::inline RAMIFY_BUILD {

/// A point that a query has found.
template <class Real>
struct spatial_match {
  std::uint32_t query;  ///< index of the query
  std::uint32_t point;  ///< the caller's index of the point
  Real distance2;       ///< squared, from the center, the segment or the ray; 0 in boxes
};

/// What a callback may return: whether its query goes on.
enum class query_control : unsigned { proceed, stop };

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// The state of a query for a callback without begin().
struct no_state {};

/// The type of the state of a query: what begin() returns. nvcc compiles no bodies of device
/// functions for the host, so each type here must be found without them.
template <class Callback>
struct kept_state {
  using type = no_state;
};
template <class Callback>
requires requires(const Callback& callback) { callback.begin(0u); }
struct kept_state<Callback> {
  using type = decltype(std::declval<const Callback&>().begin(0u));
};
template <class Callback>
using query_state_of = typename kept_state<Callback>::type;

/// Returns the state of a query.
template <class Callback>
[[nodiscard]] __device__ query_state_of<Callback> state_of(const Callback& callback,
                                                           std::uint32_t query) {
  if constexpr (std::is_same_v<query_state_of<Callback>, no_state>) {
    return {};
  } else {
    return callback.begin(query);
  }
}

/// Calls the callback. Returns what it returns.
template <class Callback, class State, class Real>
__device__ decltype(auto) call_with(const Callback& callback, State& state,
                                    const spatial_match<Real>& match) {
  if constexpr (std::is_same_v<State, no_state>) {
    return callback(match);
  } else {
    return callback(state, match);
  }
}

/// Whether a callback is a struct without begin(): its calls have no state.
template <class Callback>
concept is_stateless_struct =
    std::is_same_v<query_state_of<Callback>, no_state> && !is_device_lambda<Callback>;

/// The type that a callback returns. The host does not have that of an extended lambda: void.
template <class Real, class Callback>
struct callback_call
    : std::invoke_result<const Callback&, query_state_of<Callback>&, const spatial_match<Real>&> {};
template <class Real, class Callback>
requires is_stateless_struct<Callback>
struct callback_call<Real, Callback>
    : std::invoke_result<const Callback&, const spatial_match<Real>&> {
};
template <class Real, class Callback>
requires is_device_lambda<Callback>
struct callback_call<Real, Callback> {
  using type = decltype(call_with(std::declval<const Callback&>(), std::declval<no_state&>(),
                                  std::declval<const spatial_match<Real>&>()));
};
template <class Real, class Callback>
using callback_result = typename callback_call<Real, Callback>::type;

/// Which requirements a callback meets.
template <class Real, class Callback>
struct callback_types {
  static constexpr bool is_copied = is_kernel_argument<Callback>;
  static constexpr bool has_state = !std::is_void_v<query_state_of<Callback>>;
  static constexpr bool is_called = [] {
    if constexpr (has_state) {
      return requires { typename callback_result<Real, Callback>; };
    } else {
      return false;
    }
  }();
  static constexpr bool has_result = [] {
    if constexpr (is_called) {
      using result = callback_result<Real, Callback>;
      return std::is_void_v<result> || std::is_same_v<result, query_control>;
    } else {
      return true;
    }
  }();
  static constexpr bool are_valid = is_copied && has_state && is_called && has_result;
};

/// Reports each requirement that a callback does not meet by a sentence of the compiler.
template <class Real, class Callback>
struct checked_callback : callback_types<Real, Callback> {
  using types = callback_types<Real, Callback>;
  static_assert(types::is_copied, "query: the callback must be trivially copyable");
  static_assert(types::has_state,
                "query: the callback's begin() must name the type that it returns, which is not "
                "void");
  static_assert(types::is_called || !types::has_state,
                "query: the callback needs operator()(const spatial_match<Real>&) const, or, if it "
                "has begin(), operator()(State&, const spatial_match<Real>&) const");
  static_assert(types::has_result, "query: the callback must return nothing or a query_control");
};

/// The calls for the matches of one query.
template <class Real, class Callback>
class match_calls {
  using state_type = query_state_of<Callback>;
  using result = callback_result<Real, Callback>;
  static_assert(std::is_void_v<result> || std::is_same_v<result, query_control>,
                "query: the callback must return nothing or a query_control");

 public:
  static constexpr bool can_stop = std::is_same_v<result, query_control>;

  __device__ match_calls(const Callback& callback, std::uint32_t query)
      : callback_(callback), query_(query) {}

  __device__ void begin() { state_ = state_of(callback_, query_); }
  __device__ void found(std::uint32_t id, Real distance2) {
    const spatial_match<Real> match{query_, id, distance2};
    if constexpr (can_stop) {
      if (!stopped_) stopped_ = call_with(callback_, state_, match) == query_control::stop;
    } else {
      call_with(callback_, state_, match);
    }
  }
  [[nodiscard]] __device__ bool ends() const { return can_stop && stopped_; }
  __device__ void end() const {
    if constexpr (requires { callback_.end(query_, state_); }) callback_.end(query_, state_);
  }

 private:
  const Callback& callback_;
  std::uint32_t query_;
  state_type state_{};
  bool stopped_ = false;
};

/// Base of visitors that may need only some points.
struct part_of_ball {
  static constexpr bool takes_leaves = false;
};

/// The Visitor of a query. `Metric` is that of its distances. Warps visit balls by ball_packet,
/// unless the callback may end a query: see packet_of.
template <class Real, int dim, class Metric, class Callback>
class match_visitor
    : public std::conditional_t<match_calls<Real, Callback>::can_stop, part_of_ball, whole_ball> {
 public:
  static constexpr bool takes_ranges = false;

  __device__ match_visitor(const spatial_tree_view<Real, dim>& tree, const Metric& metric,
                           const Callback& callback, std::uint32_t query)
      : tree_(tree), calls_(callback, query) {
    if constexpr (!std::is_same_v<Metric, plain_metric>) unit_ = metric.unit();
  }
  [[nodiscard]] __device__ bool begins() {
    calls_.begin();
    return true;
  }
  template <class Node>
  [[nodiscard]] __device__ bool skips(const Node&) const {
    return calls_.ends();
  }
  template <class Node>
  [[nodiscard]] __device__ bool takes(const Node&) const {
    return false;
  }
  __device__ void found(std::uint32_t i, Real distance2) {
    if constexpr (!std::is_same_v<Metric, plain_metric>) distance2 = distance2 * unit_ * unit_;
    calls_.found(tree_.ids[i], distance2);
  }
  [[nodiscard]] __device__ bool ends() const { return calls_.ends(); }
  __device__ bool end() const {
    calls_.end();
    return false;
  }

 private:
  const spatial_tree_view<Real, dim>& tree_;
  match_calls<Real, Callback> calls_;
  Real unit_ = 1;
};

/// The Visitor of a point for pairs: calls the callback for the later points in its ball. The
/// earlier ones do the same for this point.
template <class Real, int dim, class Metric, class Callback>
class pair_visitor : public match_visitor<Real, dim, Metric, Callback> {
  using base = match_visitor<Real, dim, Metric, Callback>;

 public:
  __device__ pair_visitor(const spatial_tree_view<Real, dim>& tree, const Metric& metric,
                          const Callback& callback, std::uint32_t self)
      : base(tree, metric, callback, tree.ids[self]), self_(self) {}

  /// Returns true for a node without later points, too.
  template <class Node>
  [[nodiscard]] __device__ bool skips(const Node& node) const {
    return node.end <= self_ + 1 || base::skips(node);
  }
  __device__ void found(std::uint32_t i, Real distance2) {
    if (i > self_) base::found(i, distance2);
  }

 private:
  std::uint32_t self_;
};

/// The pass over balls that calls the callback. Visitor is match_visitor or, for the balls around
/// all points, pair_visitor.
template <template <class, int, class, class> class Visitor, class Real, int dim, class Metric,
          class Callback>
struct match_pass {
  spatial_tree_view<Real, dim> tree;
  query_metric<Real, Metric> of_call;
  Callback callback;

  [[nodiscard]] __device__ Visitor<Real, dim, Metric, Callback> visitor(
      unsigned long long i) const {
    return {tree, of_call.of_balls().metric, callback, static_cast<std::uint32_t>(i)};
  }
};

/// Returns a point near a region: its anchor, or some point.
template <class Region, class Real, int dim>
[[nodiscard]] __device__ point<Real, dim> anchor_of(const Region& region,
                                                    const box<Real, dim>& all) {
  if constexpr (requires { region.anchor(all); }) {
    return region.anchor(all);
  } else {
    return all.lower;
  }
}

/// Writes a point near each region. Launched with the shape of shape_over(n).
template <class Real, int dim, class Predicates>
__global__ void write_anchors(Predicates predicates, runtime::element_count n,
                              spatial_tree_view<Real, dim> tree, point<Real, dim>* anchors,
                              trace_ticket trace) {
  const traced here(trace, __func__);
  const box<Real, dim> all = tree.nodes_built() > 0 ? tree.bounds_built() : box<Real, dim>{};
  runtime::for_each_item(n.get(),
                         [&](auto i) { anchors[i] = anchor_of(predicates.region(i), all); });
}

/// Calls the callback for the points in each region. One thread visits the tree for a region.
template <class Real, int dim, class Predicates, class Callback>
__global__ void visit_regions(spatial_tree_view<Real, dim> tree, query_batch<Real, dim> batch,
                              const metric_decision* decided, Predicates predicates,
                              Callback callback, trace_ticket trace) {
  const traced here(trace, __func__);
  if (decided != nullptr && decided->kind == metric_kind::none) return;
  if (!batch.has_block(blockIdx.x)) return;
  const auto mine = batch.of_block(blockIdx.x);
  if (!mine.exists) return;
  match_visitor<Real, dim, plain_metric, Callback> visitor(tree, {}, callback,
                                                           static_cast<std::uint32_t>(mine.index));
  static_cast<void>(visitor.begins());
  visit_region(tree, predicates.region(mine.index), visitor);
  static_cast<void>(visitor.end());
}

/// The search of a query_run over regions.
template <class Real, int dim, class Predicates, class Callback>
struct region_search {
  Predicates predicates;
  Callback callback;

  void put_anchors(query_call<Real, dim>& call) const {
    const element_count n = predicates.n;
    call.run_each(write_anchors<Real, dim, Predicates>, n, predicates, n, call.tree(),
                  call.memory().anchors);
  }
  void operator()(query_call<Real, dim>& call) const {
    call.run_search(visit_regions<Real, dim, Predicates, Callback>, predicates, callback);
  }
};

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD
