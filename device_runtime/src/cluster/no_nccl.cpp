// SPDX-License-Identifier: BSD-3-Clause
// In builds without CUDA or NCCL, no rank has a GPU.
#include <stdexcept>

#include "device_channel.hpp"

namespace ramify::detail::cluster::inline RAMIFY_ABI {

device_choice choose_device(int /*local_rank*/) {
#if RAMIFY_CLUSTER_HAS_CUDA
  return {-1, "built without NCCL, which moves data between GPUs", {}};
#else
  return {-1, "built without CUDA", {}};
#endif
}

connection_id new_connection() { throw std::logic_error("built without NCCL"); }

std::unique_ptr<device_channel> connect(const connection_id& /*id*/, int /*rank*/, int /*size*/,
                                        int /*device*/) {
  throw std::logic_error("built without NCCL");
}

}  // namespace ramify::detail::cluster::inline RAMIFY_ABI
