// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The scratch memory and the sizes of a work-sharing traversal, which the host or a kernel starts.

#include <algorithm>
#include <cstddef>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/error.hpp>
#include <ramify/runtime/residency.cuh>
#include <ramify/traverse/work_sharing.cuh>
#include <string>

namespace ramify::detail::traverse::inline RAMIFY_BUILD {

/// The scratch memory of the rounds.
template <class Context>
struct work_sharing_memory {
  using node_type = typename Context::node_type;
  using tuning = typename Context::tuning;

  /// Takes the state first: it must be among the bytes that run_control::wait() reads.
  __host__ __device__ work_sharing_memory(memory_layout& layout, const work_sharing_sizes& sizes)
      : state(layout.take<round_state>(1)),
        totals(layout.take<typename Context::value_type>(sizes.blocks * tuning::warps)) {
    using entry = frontier_node<node_type>;
    const unsigned thin_workers = sizes.thin_blocks * tuning::thin_warps;
    boxes.waiting = layout.take<unsigned>(tuning::lanes);
    boxes.delivered = layout.take<unsigned>(thin_workers * mailboxes<node_type>::stride);
    boxes.nodes = layout.take<entry>(std::size_t{thin_workers} * tuning::mailbox_nodes);
    for (auto& list : lists) list = layout.take<entry>(sizes.capacity);
  }

  round_state* state;
  typename Context::value_type* totals;
  mailboxes<node_type> boxes;
  frontier_node<node_type>* lists[2];
};

/// Raises the limit of shared memory of a kernel that runs rounds. Returns the entries of a warp's
/// stack. \throws unavailable, cuda_error
template <class Context, class... Parameters>
unsigned stack_size(void (*kernel)(Parameters...)) {
  using tuning = typename Context::tuning;
  using node_type = typename Context::node_type;
  constexpr unsigned entry = tuning::warps * sizeof(frontier_node<node_type>);
  const std::size_t bytes =
      set_max_dynamic_shared(kernel, entry * std::size_t{tuning::preferred_stack});
  const auto stack = static_cast<unsigned>(bytes / entry);
  if (stack >= tuning::min_stack) return stack;
  throw unavailable("traverse: nodes of " + std::to_string(sizeof(node_type)) +
                    " bytes and a Visit with " +
                    std::to_string(sizeof(typename Context::shared_memory)) +
                    " bytes of shared memory are too large for this device's shared memory");
}

/// Returns the blocks of a thin round, if wide rounds have up to `blocks` blocks.
template <class Context>
unsigned thin_blocks(unsigned blocks) {
  if constexpr (!Context::may_be_thin) return 0;
  constexpr unsigned most = thin_worker<Context>::max_workers / Context::tuning::thin_warps;
  return std::min(blocks, most);
}

/// Returns the minimum capacity of a list.
template <class Context>
unsigned least_capacity(const work_sharing_sizes& sizes) {
  return 2 * sizes.blocks * Context::tuning::warps * sizes.stack;
}

}  // namespace ramify::detail::traverse::inline RAMIFY_BUILD
