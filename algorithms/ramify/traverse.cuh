// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// traverse(): visits every node of an implicit tree, whose children are computed and never stored.
///
///     struct halves {  // a node is a number, its children are its halves
///       __device__ unsigned degree(unsigned n) const { return n < 2 ? 0 : 2; }
///       __device__ unsigned child(unsigned n, unsigned i) const { return (n + i) / 2; }
///     };
///     struct one { __device__ unsigned operator()(unsigned, unsigned) const { return 1; } };
///     struct sum {
///       __device__ unsigned operator()(unsigned a, unsigned b) const { return a + b; }
///     };
///     ramify::traverse(5u, halves{}, one{}, sum{}, 0u).value  // --> 9: 5, 2 3, 1 1 1 2, 1 1
///
/// Compiled by nvcc, it runs on the GPU: with grids that launch grids if -rdc=true is given, else
/// on the flat route. Compiled by a C++ compiler, it runs on the CPU executor.
///
/// Root       a node, or tree_roots: the roots of several trees (traverse/roots.cuh). The result is
///            then the reduction over all nodes of all trees.
/// Node       trivially copyable, default-constructible, at most 760 bytes; 752 below
///            tree_roots.
/// expand     degree(node): the number of children, fewer than 2^32. child(node, i): child number
///            i, 0 <= i < degree. degree is called once for a node and child once for each i, by
///            any thread, in any order, so child must be a pure function. degree may read what
///            visits have written, to prune. If Expand has a static member donates_late that is
///            true, no warp shares its nodes before it has made 24 steps. This suits trees with
///            much work below each of the root's many children, and searches that prune. Other
///            trees need to share early, so that all warps begin sooner. If it has a static member
///            takes_neighbors that is true, a warp takes nodes that one warp shared, else a sample
///            of all shared nodes, whose subtrees are of similar size.
/// visit      visit(node, degree) -> Value, called once for every node. It may write to memory of
///            the caller. Visits of different nodes run concurrently. If Visit has a type
///            shared_memory, it is called as visit(node, degree, shared). `shared` is an object of
///            that type in shared memory, of at most 45 KB, which nothing initializes. All visits
///            of a block get the same object, also those that run concurrently.
/// Early end  If visit returns visited<Value>, a value and a flag, a visit whose flag is set ends
///            the traversal: nodes that have not been visited by then are dropped, and the report
///            states `ended_early`. The value is the reduction over the nodes that were visited,
///            which differ from run to run. The visit must be a functor, not a __device__ lambda.
/// reduce     reduce(Value, Value) -> Value: associative and commutative, with `identity`. Value is
///            the type of `identity`, trivially copyable. If it is a number type that cannot hold
///            the results of visit and reduce, a static_assert refuses the call. Floating-point
///            sums differ in round-off from run to run.
/// Scratch    two lists of frontier nodes, each with twice the stack entries of a full device, 32
///            frontier nodes for each quarter of a multiprocessor, and one Value for each warp of a
///            full device: independent of the size of the tree. It comes from Ramify's
///            stream-ordered pool, or from the caller. traverse_scratch_bytes() returns its size.
/// Stream     the traversal is ordered after earlier work in the stream. Work that enters
///            the stream after traverse_async() is ordered after all visits; see there.
/// Graphs     a stream that is being captured can record a traversal; see traverse_async().
/// Launches   work_sharing launches a round when a quarter of the device is idle and there is work
///            to share. While the frontier is small, warps hand nodes to each other instead. So a
///            small tree or a path takes one round, a deep and thin tree a few, and a bushy tree of
///            some million nodes 7 to 9, of 10^8 nodes some tens (H200). A warp without work waits
///            for at most about half a millisecond, and only for warps that run.
///            task_per_node launches as options.launches states.
/// Kernels    A thread of a kernel calls traverse(root, expand, visit, reduce, identity, result,
///            calls) with a kernel_environment; see traverse/calls.cuh and
///            <ramify/runtime/call_arena.cuh>.
/// Errors     std::invalid_argument for a bad argument, before anything is launched;
///            std::length_error if the frontier exceeded options.capacity, as only trees do that
///            are both deep and wide; unavailable if the device route is requested without
///            -rdc=true, or a graph where there is none; cuda_error, device_launch_error.
/// Complexity every node is expanded once; at least one sequential step for each level.
/// Compiling  a call without options compiles the strategy work_sharing alone.
/// Not for    stored trees (see ramify/rooted_tree.cuh); general graphs, where a node would be
///            visited once for each path to it.
/// Source     work sharing between rounds follows lock-step tree search on SIMD machines (Karypis
///            and Kumar, 1994), sharing within a round follows private deques (Acar, Charguéraud
///            and Rainey, 2013). The benchmark is Unbalanced Tree Search (Olivier et al., LCPC
///            2006; ramify/tree_search.cuh).

#include <ramify/runtime/detail/requirements.hpp>

#include <cstddef>
#include <memory>
#include <ramify/runtime/detail/started_run.cuh>
#include <ramify/traverse/argument_types.cuh>
#include <ramify/traverse/calls.cuh>
#include <ramify/traverse/config.hpp>
#include <ramify/traverse/roots.cuh>
#include <ramify/traverse/task_per_node_run.cuh>
#include <ramify/traverse/work_sharing_run.cuh>
#include <type_traits>
#include <utility>

namespace ramify::detail::traverse::inline RAMIFY_BUILD {

/// Calls `call` with the type of the traversal_run that the options select, by a null pointer to
/// it.
template <class Traversal, class Options, class Call>
auto with_strategy(const Options& options, const Call& call) {
  if constexpr (!is_default<Options>) {
    if (options.strategy == traverse_strategy::task_per_node) {
      return call(static_cast<traversal_run<Traversal, task_per_node_run<Traversal>>*>(nullptr));
    }
  }
  return call(static_cast<traversal_run<Traversal, work_sharing_run<Traversal>>*>(nullptr));
}

}  // namespace ramify::detail::traverse::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// Starts visiting all nodes of the tree with this root, or of several trees. The functors are
/// copied.
///
/// Returns without waiting. The one exception is the first call with work_sharing and the automatic
/// route on a GPU, which may measure launch costs (see choose_route()). Work that enters the stream
/// after the call is ordered after all visits: a loop in a graph follows the first grids in the
/// stream, and launches those that are left. get() waits, reports, and throws std::length_error if
/// a list overflowed. Where the stream cannot complete a traversal (environment::completion), the
/// call waits. With completion::by_get, get() launches what is left: on the device route the grids
/// that found no launch slot, on the flat route all but the first few, unless env.flat_loop is
/// graph.
///
/// A stream that is being captured records a traversal on either route; env.memory is then
/// required. Each launch of the graph visits the whole tree. The graph has a WHILE node, except
/// with completion::by_get on the device route; such a graph cannot be a child graph. The run must
/// live as long as the graph is launched; its get() reports on the last launch.
///
/// \param env  its memory: traverse_scratch_bytes()
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Root, class Expand, class Visit, class Reduce, class Value,
          class Options = traverse_options>
detail::run_if<typename detail::traverse::call_form<Root, Expand, Visit, Reduce, Value>::types,
               async_run<traverse_result<Value>>>
traverse_async(const Root& root, const Expand& expand, const Visit& visit, const Reduce& reduce,
               const Value& identity, const std::type_identity_t<Options>& options,
               const environment& env = {}) {
  using form = detail::traverse::call_form<Root, Expand, Visit, Reduce, Value>;
  if constexpr (form::checked::are_valid) {
    validate(options);
    detail::run_setup setup("traverse", env);
    std::shared_ptr<const void> copy;  // of roots in host memory, until the run ends
    const auto& given = detail::traverse::roots_on_device(setup, root, copy);
    return detail::traverse::with_strategy<typename form::traversal>(
        options, [&]<class Run>(const Run*) {
          return Run::start(setup, options, form::root(given),
                            form::tree(given, expand, visit, reduce, identity), std::move(copy));
        });
  }
}
/// Overload with the default options.
template <class Root, class Expand, class Visit, class Reduce, class Value>
auto traverse_async(const Root& root, const Expand& expand, const Visit& visit,
                    const Reduce& reduce, const Value& identity, const environment& env = {}) {
  return traverse_async<Root, Expand, Visit, Reduce, Value, detail::default_of<traverse_options>>(
      root, expand, visit, reduce, identity, {}, env);
}

/// Visits all nodes of the tree with this root, or of several trees, waits for the traversal, and
/// returns the reduction: traverse_async() and get(). O(nodes) work, at least one sequential step
/// for each level.
///
/// \param env  its memory: traverse_scratch_bytes()
/// \throws std::invalid_argument, std::length_error, unavailable, cuda_error, device_launch_error
template <class Root, class Expand, class Visit, class Reduce, class Value,
          class Options = traverse_options>
traverse_result<Value> traverse(const Root& root, const Expand& expand, const Visit& visit,
                                const Reduce& reduce, const Value& identity,
                                const std::type_identity_t<Options>& options,
                                const environment& env = {}) {
  using form = detail::traverse::call_form<Root, Expand, Visit, Reduce, Value>;
  if constexpr (form::checked::are_valid) {
    return traverse_async<Root, Expand, Visit, Reduce, Value, Options>(
               root, expand, visit, reduce, identity, options, detail::waiting(env))
        .get();
  }
}
/// Overload with the default options.
template <class Root, class Expand, class Visit, class Reduce, class Value>
traverse_result<Value> traverse(const Root& root, const Expand& expand, const Visit& visit,
                                const Reduce& reduce, const Value& identity,
                                const environment& env = {}) {
  return traverse<Root, Expand, Visit, Reduce, Value, detail::default_of<traverse_options>>(
      root, expand, visit, reduce, identity, {}, env);
}

/// Returns the device memory that a traversal with these types needs, in bytes.
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Root, class Expand, class Visit, class Reduce, class Value,
          class Options = traverse_options>
[[nodiscard]] std::size_t traverse_scratch_bytes(const std::type_identity_t<Options>& options) {
  using form = detail::traverse::call_form<Root, Expand, Visit, Reduce, Value>;
  validate(options);
  return detail::traverse::with_strategy<typename form::traversal>(
      options, [&]<class Run>(const Run*) { return Run::scratch_bytes(options); });
}
/// Overload for the default options.
template <class Root, class Expand, class Visit, class Reduce, class Value>
[[nodiscard]] std::size_t traverse_scratch_bytes() {
  return traverse_scratch_bytes<Root, Expand, Visit, Reduce, Value,
                                detail::default_of<traverse_options>>({});
}

}  // namespace ramify::inline RAMIFY_BUILD
