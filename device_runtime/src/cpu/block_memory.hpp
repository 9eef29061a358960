// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The dynamic shared memory of the blocks that an operating-system thread runs.

#include <cstddef>
#include <ramify/version.hpp>

namespace ramify::cpu::inline RAMIFY_ABI {

/// Memory with a guard region after it: an access beyond the end is a fault. The end is aligned to
/// 128 bytes; `overrun()` finds writes to the bytes before it. With AddressSanitizer each block has
/// memory of its own, whose exact end AddressSanitizer checks.
class block_memory {
 public:
  block_memory() = default;
  ~block_memory();
  block_memory(const block_memory&) = delete;
  block_memory& operator=(const block_memory&) = delete;

  /// Begins a block. Fills its memory with a value that is not 0. \throws std::bad_alloc
  void begin(std::size_t bytes) {
    if (bytes == 0 && data_ != nullptr && bytes_ == 0) return;  // as the block before
    allocate(bytes);
  }
  /// Ends the block. Its memory may be used by the next one.
  void end() noexcept;
  [[nodiscard]] std::byte* data() const { return data_; }
  /// Returns whether the block has written after its memory.
  [[nodiscard]] bool overrun() const { return bytes_ % alignment != 0 && has_written_after(); }
  /// Returns whether `address` lies in the guard region. A signal handler calls it.
  [[nodiscard]] bool guards(const void* address) const;

 private:
  static constexpr std::size_t alignment = 128;
  void allocate(std::size_t bytes);
  [[nodiscard]] bool has_written_after() const;

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::byte* mapped_ = nullptr;
  std::size_t capacity_ = 0;  // bytes before the guard region
};

}  // namespace ramify::cpu::inline RAMIFY_ABI
