// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Device memory of schedule::weak: the writes of a block reach other blocks late.

#include <cstddef>
#include <ramify/version.hpp>
#include <span>
#include <vector>

namespace ramify::cpu::inline RAMIFY_ABI {

/// Parts of the device's memory, as the running block sees them.
///
/// One block runs at a time. While it runs, the parts have the values that it sees: those of its
/// own writes, also of writes that no other block sees yet, and for other bytes those of the last
/// time when it saw the writes of others. A copy has the published values. A GPU may show a block
/// the same values, because every call of publish() and of see() is one that a GPU may make at any
/// time, and the calls that CUDA's memory model requires are made: at fences, atomic operations,
/// launches, and at the begin and the end of a block.
class weak_memory {
 public:
  /// \throws std::bad_alloc
  explicit weak_memory(const std::vector<std::span<std::byte>>& parts);
  weak_memory(const weak_memory&) = delete;
  weak_memory& operator=(const weak_memory&) = delete;
  /// Publishes no writes. The parts get the published values.
  ~weak_memory();

  /// What a suspended block sees.
  struct view {
    std::vector<std::byte> values;
    std::vector<std::byte> clean;
  };

  /// Begins a block, which sees all published values.
  void begin_block();
  /// Publishes the writes of the running block.
  void publish();
  /// Lets the running block see what other blocks have published.
  void see();
  /// Returns what the running block sees, for resume(). \throws std::bad_alloc
  [[nodiscard]] view suspend() const;
  void resume(const view&);
  /// Must be called before and after an atomic operation. It applies to the published values.
  void begin_atomic(const void* address, std::size_t bytes);
  void end_atomic(const void* address, std::size_t bytes);

 private:
  struct part {
    std::span<std::byte> memory;
    std::size_t offset;  // of its first byte in published_ and clean_
  };
  /// The bytes of an operand, and their offset; none if no part has it.
  [[nodiscard]] part find(const void* address, std::size_t bytes) const;

  std::vector<part> parts_;  // by address
  std::vector<std::byte> published_;
  std::vector<std::byte> clean_;  // what the running block saw last; other bytes are its writes
};

}  // namespace ramify::cpu::inline RAMIFY_ABI
