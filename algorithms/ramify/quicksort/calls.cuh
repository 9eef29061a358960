// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Sorts that kernels call: quicksort_calls, which is their plan in a call_arena, and their
/// kernels.
///
/// A call of few elements is one block, which sorts them in shared memory. There are two kinds of
/// such blocks: one of the size of a leaf, and one of the size of a long leaf. Calls of a kind that
/// were kept are sorted by one grid. A call of more elements is a sample_sort, the only one that
/// needs scratch memory. Its levels are the rounds of a chain_call. Such calls that were kept are
/// sorted together (sort_batch.cuh), because each grid that a kernel launches takes microseconds.
///
/// Options      those of the plan, which hold for all its calls. The strategy `binary`, with its
///              fields `streams` and `launches`, and sorts in parts are for the host.

#include <cstring>
#include <ramify/quicksort/argument_types.cuh>
#include <ramify/quicksort/config.hpp>
#include <ramify/quicksort/order.cuh>
#include <ramify/quicksort/sort_batch.cuh>
#include <ramify/runtime/detail/chain_call.cuh>
#include <ramify/runtime/kernel_calls.cuh>
#include <type_traits>

namespace ramify::inline RAMIFY_BUILD {

template <class Key, class Value = no_value, class Compare = ascending>
class quicksort_calls;

}  // namespace ramify::inline RAMIFY_BUILD

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

template <class Sorter, class Call>
__global__ void sort_in_block(Call call, call_ticket ticket, call_batch batch, unsigned max);

/// Writes the state of a sort before the first round.
template <class Context>
__device__ void write_first_state(const Context& sort) {
  memset(static_cast<void*>(sort.state), 0, sizeof *sort.state);
  sort.even.push(sort.root, block_count(sort.root, sort.sizes));
}

/// A sort that a kernel has called. start_call.cuh describes its members.
template <class Key, class Value, class Compare>
struct sort_call : chain_call<sort_call<Key, Value, Compare>> {
  using plan = quicksort_calls<Key, Value, Compare>;
  using order = sort_order<Key, Compare>;
  using context = sample_sort_context<Key, Value, order>;
  using tuning = typename context::tuning;
  using leaf_sorter = typename context::leaf_sorter;
  using long_leaf_sorter = typename context::long_leaf_sorter;
  static_assert(sizeof(typename order::code) == sizeof(Key), "tuning depends on the size of keys");

  /// The kinds of calls.
  enum : unsigned { leaf, long_leaf, levels };
  /// The number of kinds that are in batches. The calls of a batch with levels share a comparator.
  static constexpr unsigned batches = std::is_empty_v<Compare> ? 3 : 2;

  key_value_arrays<Key, Value> data;
  position n;
  Compare compare;
  unsigned rows = 0;  ///< the maximum number of calls, if this is a batch of calls with levels

  [[nodiscard]] __device__ bool fits(const plan& p) const { return n <= p.max_n(); }

  [[nodiscard]] __device__ __forceinline__ call_needs needs(const plan& p) const {
    if (n < 2) return {0, 0, false, call_needs::no_batch};
    const unsigned kind = kind_of(p);
    if (kind != levels) return {1, 1, false, kind};
    // The last round has only copies and leaves. One level more than expected may be necessary.
    const unsigned of_levels = (expected_levels<tuning>(n) + 1) * sample_sort_level_grids;
    return {drivers_of_call + of_levels, drivers_of_call + sample_sort_level_grids, true,
            kind < batches ? kind : call_needs::no_batch};
  }

  [[nodiscard]] __device__ __forceinline__ bool start(const plan& p,
                                                      const call_ticket& ticket) const {
    const unsigned kind = kind_of(p);
    if (kind == levels) return chain_call<sort_call>::start(p, ticket);
    return launch_blocks(p, kind, 1, static_cast<unsigned>(n), ticket, {});
  }

  /// Launches blocks of a kind, each of which sorts up to `max` elements.
  [[nodiscard]] __device__ __forceinline__ bool launch_blocks(const plan&, unsigned kind,
                                                              unsigned blocks, unsigned max,
                                                              const call_ticket& ticket,
                                                              const call_batch& batch) const {
    const auto launch_kind = [&]<class Sorter>(const Sorter*) {
      const launch_shape shape(blocks, Sorter::threads_of_team, Sorter::bytes(max));
      return ticket.conclude(ramify::launch(sort_in_block<Sorter, sort_call>, shape,
                                            fire_and_forget(), *this, ticket, batch, max),
                             "sort_in_block");
    };
    return kind == leaf ? launch_kind(static_cast<const leaf_sorter*>(nullptr))
                        : launch_kind(static_cast<const long_leaf_sorter*>(nullptr));
  }

  /// Returns the most elements that a block of a kind sorts.
  [[nodiscard]] __device__ static unsigned capacity(const plan& p, unsigned kind) {
    return kind == leaf ? unsigned{leaf_sorter::capacity} : p.sizes().long_leaf;
  }

  // ---- a sample_sort ----------------------------------------------------------------------------

  __device__ void write_state(const plan& p, const call_ticket& ticket) const {
    clear_state(ticket);
    write_first_state(program(p, ticket));
  }
  [[nodiscard]] __device__ bool is_complete(const plan& p, const call_ticket& ticket) const {
    if (rows != 0) return state_of(ticket).step == batch_is_complete;
    return chain_call<sort_call>::is_complete(p, ticket);
  }
  __device__ void end(const plan&, const call_ticket& ticket) const {
    call_ticket mine = ticket;
    if (rows != 0) {
      ticket.calls->chunks.release_all();
      mine.chunk = call_state::none;
    }
    mine.end();
  }
  __device__ void launch_due(const plan& p, const call_ticket& ticket, const char* kernel) const {
    const context sort = program(p, ticket);
    if (rows == 0 || is_sorting(sort, state_of(ticket).step)) {
      launch_round_of_call(sort, kernel);
    } else {
      launch_step_of_batch(*this, sort, ticket);
    }
  }

  /// Returns the program of the sort, after the state is written that decides its sizes.
  [[nodiscard]] __device__ context program(const plan& p, const call_ticket& ticket) const {
    if (rows != 0) {
      const auto batch = sort_batch(ticket).memory<context>(p);
      return batch.sort.program(batch.gathered, {compare}, ticket);
    }
    memory_layout layout(ticket.scratch());
    layout.take<chain_call_state>(1);
    const sort_call_memory<context> memory(layout, n, p.sizes(), p.depth_limit());
    return memory.program(data, {compare}, ticket);
  }

 private:
  [[nodiscard]] __device__ unsigned kind_of(const plan& p) const {
    return n <= capacity(p, leaf) ? leaf : n <= capacity(p, long_leaf) ? long_leaf : levels;
  }
};

/// Sorts the elements of a call with one block, and ends the call. In a batch each block has its
/// own call, and `call` is any of them. There is shared memory for `max` elements.
template <class Sorter, class Call>
__global__ void __maxnreg__(max_registers(Sorter::threads_of_team,
                                          Call::tuning::leaf_threads / Sorter::threads_of_team))
    sort_in_block(Call call, call_ticket ticket, call_batch batch, unsigned max) {
  const traced here(ticket.trace, __func__);
  const bool of_batch = batch.calls != nullptr;
  const Call& mine = of_batch ? batch.template call<Call>(blockIdx.x) : call;
  const auto data = mine.data;
  const auto count = static_cast<unsigned>(mine.n);
  const typename Call::order order{mine.compare};
  auto* const shared = &dynamic_shared<typename Sorter::storage>();

  // 1. Sort. It ends with a barrier.
  Sorter::sort(block_team<Sorter::threads_of_team, 1>(), Sorter::lay_out(shared, max), data, data,
               0, count, order);

  // 2. End the call.
  if (threadIdx.x != 0) return;
  __threadfence();
  if (of_batch) {
    const call_ticket own = batch.ticket(blockIdx.x, ticket.trace);
    batch.release(blockIdx.x);
    own.end();
  } else {
    ticket.end();
  }
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// The plan of a call_arena for calls of quicksort() and quicksort_pairs() by kernels, with keys,
/// values and comparators of these types.
template <class Key, class Value, class Compare>
class quicksort_calls {
 public:
  using call = detail::quicksort::sort_call<Key, Value, Compare>;  ///< the call, for the runtime
  /// The name of the call in messages.
  static constexpr const char* name =
      std::is_same_v<Value, no_value> ? "quicksort" : "quicksort_pairs";

  /// The kinds of calls of which the same grids do many.
  static constexpr unsigned batches = call::batches;

  /// Plans calls of up to `max_n` elements. Calls of more are refused.
  /// \throws std::invalid_argument if max_n is 2^40 or more, for bad options, and for options that
  ///         only the host has: the strategy `binary`, a maximum of device memory
  explicit quicksort_calls(std::size_t max_n, const quicksort_options& options = {})
      : max_n_(max_n), depth_limit_(options.depth_limit) {
    detail::check_field(max_n >> 40 == 0, "quicksort_calls: max_n", max_n, "less than 2^40");
    detail::quicksort::validate_in_place(options);
    detail::check_field(options.strategy == quicksort_strategy::sample_sort,
                        "quicksort_calls: quicksort_options.strategy", to_string(options.strategy),
                        "sample_sort");
  }

  /// Queries the current device for the sizes of kernels. The constructor of a call_arena calls it.
  /// \throws cuda_error
  void prepare() {
    sizes_ = detail::quicksort::device_sizes<context>();
    // The variables in shared memory and the dynamic memory may be more than 48 KB together.
    using leaf = typename call::leaf_sorter;
    using long_leaf = typename call::long_leaf_sorter;
    static_cast<void>(set_max_dynamic_shared(detail::quicksort::sort_in_block<leaf, call>,
                                             leaf::bytes(leaf::capacity)));
    sizes_.long_leaf = detail::quicksort::run_within<long_leaf>(set_max_dynamic_shared(
        detail::quicksort::sort_in_block<long_leaf, call>, long_leaf::bytes(sizes_.long_leaf)));
  }

  /// Returns the scratch memory of any call, in bytes, after prepare(); 0 if one block sorts it.
  [[nodiscard]] std::size_t scratch_bytes() const {
    if (max_n_ <= sizes_.long_leaf) return 0;
    return detail::quicksort::scratch_for_any_root<tuning>(max_n_, [&](std::size_t n) {
      memory_layout layout(nullptr);
      layout.take<detail::runtime::chain_call_state>(1);
      static_cast<void>(
          detail::quicksort::sort_call_memory<context>(layout, n, sizes_, depth_limit_));
      return layout.size();
    });
  }

  /// Returns the maximum number of keys of a call.
  [[nodiscard]] __host__ __device__ std::size_t max_n() const { return max_n_; }
  /// Returns the depth limit of all calls.
  [[nodiscard]] __device__ unsigned depth_limit() const { return depth_limit_; }
  /// Returns the sizes of kernels on the device, after prepare().
  [[nodiscard]] __host__ __device__ const detail::quicksort::sample_sort_sizes& sizes() const {
    return sizes_;
  }

  /// Launches the first grid of `count` calls that were kept.
  [[nodiscard]] __device__ bool launch_batch(unsigned kind, unsigned count,
                                             const detail::call_ticket& ticket,
                                             const detail::call_batch& batch) const {
    if constexpr (batches > call::levels) {
      if (kind == call::levels) {
        return detail::quicksort::start_batch<call>(*this, count, ticket, batch);
      }
    }
    if (!ticket.calls->acquire(1)) return false;
    const bool launched = batch.template call<call>(0).launch_blocks(
        *this, kind, count, call::capacity(*this, kind), ticket, batch);
    launched ? ticket.calls->hold(1) : ticket.calls->release(1);
    return launched;
  }

 private:
  using context = typename call::context;
  using tuning = typename context::tuning;

  std::size_t max_n_;
  unsigned depth_limit_;
  detail::quicksort::sample_sort_sizes sizes_{};
};

/// Sorts n keys in place: quicksort() for a thread of a kernel. It returns without waiting; when
/// the call is complete, the continuation of `calls` runs.
///
/// \param keys     an array of n elements in device memory
/// \param compare  returns whether its first argument must come before its second
/// \param calls    a kernel_environment. The plan quicksort_calls<Key, no_value, Compare> is among
///                 those of its arena.
template <class Key, class Compare, class Calls>
requires detail::is_kernel_environment<Calls> __device__ __forceinline__ call_status
quicksort(Key* keys, std::size_t n, Compare compare, const Calls& calls) {
  if constexpr (detail::quicksort::checked_types<Key, no_value, Compare>::are_valid) {
    return detail::start_call(
        detail::quicksort::sort_call<Key, no_value, Compare>{{}, {keys}, n, compare}, calls);
  }
}

/// Sorts n keys in place, and moves each value with its key: quicksort_pairs() for a thread of a
/// kernel. What quicksort() states holds here, too.
///
/// \param calls    a kernel_environment. The plan quicksort_calls<Key, Value, Compare> is among
///                 those of its arena.
template <class Key, class Value, class Compare, class Calls>
requires detail::is_kernel_environment<Calls> __device__ __forceinline__ call_status
quicksort_pairs(Key* keys, Value* values, std::size_t n, Compare compare, const Calls& calls) {
  if constexpr (detail::quicksort::checked_types<Key, Value, Compare>::are_valid) {
    return detail::start_call(
        detail::quicksort::sort_call<Key, Value, Compare>{{}, {keys, values}, n, compare}, calls);
  }
}

}  // namespace ramify::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
