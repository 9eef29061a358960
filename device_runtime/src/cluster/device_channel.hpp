// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The interface by which data moves between GPUs. nccl_channel.cu implements it; no_nccl.cpp is
/// linked instead in builds without CUDA or NCCL.

#include <array>
#include <cstddef>
#include <memory>
#include <ramify/cluster/communicator.hpp>
#include <ramify/version.hpp>
#include <span>
#include <string>

namespace ramify::detail::cluster::inline RAMIFY_ABI {

/// An operation in the stream of a device_channel.
class device_operation {
 public:
  device_operation() = default;
  device_operation(const device_operation&) = delete;
  device_operation& operator=(const device_operation&) = delete;
  virtual ~device_operation() = default;

  /// Returns whether the operation is in the stream, so that the next one may begin.
  /// \throws std::runtime_error if NCCL or the device has failed
  [[nodiscard]] virtual bool is_started() = 0;
  /// Returns whether the operation is complete; requires is_started().
  /// \throws std::runtime_error if NCCL or the device has failed
  [[nodiscard]] virtual bool is_done() = 0;
  /// Makes later work in `stream` (a cudaStream_t) wait for the operation; requires is_started().
  /// \throws std::runtime_error if the device has failed
  virtual void block(void* stream) = 0;
};

/// Moves data between the GPUs of all ranks. No function waits for another rank. Each operation
/// begins after the work that is in `stream` (a cudaStream_t).
class device_channel {
 public:
  device_channel() = default;
  device_channel(const device_channel&) = delete;
  device_channel& operator=(const device_channel&) = delete;
  virtual ~device_channel() = default;

  using operation = std::unique_ptr<device_operation>;
  [[nodiscard]] virtual operation connection() = 0;  ///< is started when all ranks are connected
  [[nodiscard]] virtual operation messages(std::span<const raw_outgoing>,
                                           std::span<const raw_incoming>, void* stream) = 0;
  [[nodiscard]] virtual operation broadcast(void* data, std::size_t bytes, int root,
                                            void* stream) = 0;
  [[nodiscard]] virtual operation all_reduce(void* data, std::size_t count, number_type, reduction,
                                             void* stream) = 0;
  [[nodiscard]] virtual operation all_gather(const void* mine, std::size_t bytes, void* all,
                                             void* stream) = 0;

  /// Returns whether `stream` is empty. \throws std::runtime_error if the device has failed
  [[nodiscard]] virtual bool is_idle(void* stream) = 0;
  /// Checks that the GPU can access the memory.
  /// \throws std::invalid_argument; `call` begins the message
  virtual void check_access(const void* data, const char* call) = 0;
  /// Ends all operations, also those that wait for other ranks. No function may be called after it.
  virtual void abort() noexcept = 0;
};

using connection_id = std::array<char, 128>;
using device_identity = std::array<char, 16>;  ///< a UUID

/// The GPU of a rank.
struct device_choice {
  int number = -1;     ///< -1: the rank has none
  std::string reason;  ///< the name of the GPU, or why there is none
  device_identity id{};
};

/// Chooses the GPU of a rank: the GPU whose number is the local rank, modulo the number of GPUs
/// that are visible to the process.
[[nodiscard]] device_choice choose_device(int local_rank);

/// Returns the identifier with which all ranks connect; one rank calls this and sends it to all.
/// \throws std::runtime_error
[[nodiscard]] connection_id new_connection();

/// Begins to connect this rank, and makes its device current. \throws std::runtime_error
[[nodiscard]] std::unique_ptr<device_channel> connect(const connection_id&, int rank, int size,
                                                      int device);

}  // namespace ramify::detail::cluster::inline RAMIFY_ABI
