// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Work-sharing traversals that kernels call: what calls of traverse() and of fork_join() share.
///
/// The first grid of a call is one block. It clears the memory of the rounds, and visits the root.
/// The rounds follow as in a traversal that the host starts (work_sharing.cuh), with the blocks of
/// the plan instead of those of the device.

#include <ramify/runtime/detail/arguments.hpp>
#include <ramify/runtime/detail/chain_call.cuh>
#include <ramify/runtime/kernel_calls.cuh>
#include <ramify/traverse/work_sharing_memory.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// What traverse() and fork_join() write for a kernel that has called them.
template <class Value>
struct called_value {
  Value value;       ///< valid if `is_complete`
  bool is_complete;  ///< false: the tree exceeded the memory of the plan
};

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::traverse::inline RAMIFY_BUILD {

/// The scratch memory of a call that traverses a tree.
template <class Context>
struct tree_call_memory {
  using context = Context;

  __host__ __device__ tree_call_memory(memory_layout& layout, const work_sharing_sizes& sizes)
      : chain(layout.take<runtime::chain_call_state>(1)), rounds(layout, sizes) {}

  runtime::chain_call_state* chain;
  work_sharing_memory<Context> rounds;
};

/// The base of plans for calls that traverse a tree.
template <class Context>
class tree_plan {
  static constexpr unsigned max_blocks = 1024;

 public:
  static constexpr unsigned batches = 0;

  /// \throws std::invalid_argument if `blocks` is not in [1, 1024]
  tree_plan(const char* name, unsigned blocks) {
    check_field(blocks >= 1 && blocks <= max_blocks, name, blocks, "in [1, 1024]");
    sizes_.blocks = blocks;
    sizes_.thin_blocks = thin_blocks<Context>(blocks);
  }

  /// Queries the current device for the sizes of kernels. The constructor of a call_arena calls it.
  /// \throws unavailable if a node is too large for the device; cuda_error
  void prepare() {
    if constexpr (device_launch_available) {
      sizes_.stack = stack_size<Context>(traverse_round<Context>);
    }
    sizes_.capacity = least_capacity<Context>(sizes_);
  }

  /// Returns the sizes of the rounds, after prepare().
  [[nodiscard]] __host__ __device__ const work_sharing_sizes& sizes() const { return sizes_; }

 private:
  work_sharing_sizes sizes_{};
};

template <class Call>
__global__ void begin_tree_call(Call call, call_ticket ticket, const typename Call::plan* plan);

/// The base of calls that traverse a tree. A call has these members, beside those that
/// chain_call.cuh describes:
///
///     using plan = ...;                      // derived from tree_plan
///     using memory = ...;                    // a tree_call_memory, or derived from it
///     memory memory_in(const plan&, const call_ticket&) const;
///     traversal tree(const memory&) const;
///     void clear(const memory&) const;       // optional: one thread calls it before all visits
///     node_type root() const;
template <class Call>
struct tree_call : chain_call<Call> {
  template <class Plan>
  [[nodiscard]] __device__ __forceinline__ bool fits(const Plan&) const {
    return true;
  }
  /// The default of a call with nothing to clear.
  template <class Memory>
  __device__ void clear(const Memory&) const {}
  template <class Plan>
  [[nodiscard]] __device__ __forceinline__ call_needs needs(const Plan&) const {
    return {1, 1, true, call_needs::no_batch};
  }
  template <class Plan>
  [[nodiscard]] __device__ __forceinline__ bool start(const Plan& p,
                                                      const call_ticket& ticket) const {
    return ticket.conclude(ramify::launch(begin_tree_call<Call>, {1, total_threads},
                                          fire_and_forget(), of_call(), ticket, &p),
                           "begin_tree_call");
  }
  template <class Plan>
  __device__ auto program(const Plan& p, const call_ticket& ticket) const {
    const auto memory = of_call().memory_in(p, ticket);
    const auto& rounds = memory.rounds;
    using context = typename std::remove_cvref_t<decltype(memory)>::context;
    context made{{},
                 {rounds.lists[0], rounds.lists[1]},
                 rounds.state,
                 rounds.totals,
                 p.sizes(),
                 rounds.boxes,
                 0,
                 false,
                 of_call().tree(memory)};
    link_to_call(made, ticket);
    return made;
  }

 protected:
  /// Returns whether no list of a complete traversal has overflowed.
  template <class Context>
  [[nodiscard]] __device__ static bool has_all_nodes(const Context& done) {
    return done.state->due() <= done.sizes.capacity;
  }

 private:
  [[nodiscard]] __device__ __forceinline__ const Call& of_call() const {
    return static_cast<const Call&>(*this);
  }
};

/// Begins a call. Launched with one block of total_threads threads.
template <class Call>
__global__ void __launch_bounds__(total_threads)
    begin_tree_call(Call call, call_ticket ticket, const typename Call::plan* plan) {
  const traced here(ticket.trace, __func__);
  using context = typename Call::memory::context;
  __shared__ typename context::shared_memory shared;
  const context program = call.program(*plan, ticket);
  clear_rounds(program);
  if (threadIdx.x == 0) call.clear(call.memory_in(*plan, ticket));
  // The fence and the barrier put the writes of all threads before what thread 0 launches.
  __threadfence();
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (visit_root(program, call.root(), shared))
    return continue_in_rounds(call, *plan, ticket, __func__);
  call.end(*plan, ticket);
}

}  // namespace ramify::detail::traverse::inline RAMIFY_BUILD
