// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Copies a saved state, without its values, from rank 0 to all ranks.

#include <cstdint>
#include <ramify/amr/restore.cuh>
#include <ramify/amr/snapshot.hpp>
#include <ramify/cluster/communicator.hpp>
#include <ramify/distributed_amr/region_exchange.cuh>
#include <stdexcept>
#include <string>
#include <vector>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// Copies a vector of rank 0 to all ranks. Collective. \throws cluster_error, cuda_error
template <class T>
void broadcast_vector(communicator& ranks, std::vector<T>& values, cudaStream_t stream) {
  values.resize(ranks.broadcast(std::uint64_t{values.size()}, 0));
  if (values.empty()) return;
  const device_buffer<T> copy = to_device(values, stream);
  ranks.broadcast(copy.data(), copy.size(), 0, stream);
  check(cudaMemcpyAsync(values.data(), copy.data(), values.size() * sizeof(T),
                        cudaMemcpyDeviceToHost, stream),
        "reading values of rank 0");
  check(cudaStreamSynchronize(stream), "reading values of rank 0");
}

/// Checks the state that rank 0 has, and returns it on all ranks without its values. Collective.
/// \throws std::invalid_argument, on all ranks, as check_kind(); cluster_error, cuda_error
template <class Physics, int n>
[[nodiscard]] amr_state broadcast_state(communicator& ranks, const amr_state& state,
                                        const amr_options::mesh_fields& mesh, cudaStream_t stream) {
  std::vector<char> fault;
  if (ranks.rank() == 0) {
    try {
      check_kind<Physics, n>(state, mesh);
    } catch (const std::invalid_argument& e) {
      const std::string text = e.what();
      fault.assign(text.begin(), text.end());
    }
  }
  broadcast_vector(ranks, fault, stream);
  if (!fault.empty()) throw std::invalid_argument(std::string(fault.begin(), fault.end()));

  amr_state copy;
  static_cast<amr_progress&>(copy) = ranks.broadcast(static_cast<const amr_progress&>(state), 0);
  copy.next_regrid = ranks.broadcast(state.next_regrid, 0);
  if (ranks.rank() == 0) {
    copy.leaves = state.leaves;
    copy.idle = state.idle;
  }
  broadcast_vector(ranks, copy.leaves, stream);
  broadcast_vector(ranks, copy.idle, stream);
  return copy;
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
