// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The memory that malloc() in a kernel returns. Only kernels can access it, as on a GPU.

#include <cstddef>
#include <map>
#include <ramify/version.hpp>
#include <unordered_map>

namespace ramify::cpu::inline RAMIFY_ABI {

/// The heap of kernels. No two threads may call its members at the same time.
///
/// It uses an address range of its own. An access while no run holds the heap open is a fault.
class kernel_heap {
 public:
  kernel_heap() = default;
  kernel_heap(const kernel_heap&) = delete;  // `device`, which owns it, is never destroyed
  kernel_heap& operator=(const kernel_heap&) = delete;

  /// Allocates memory, if all pieces take at most `limit` bytes with it. Returns null if they would
  /// take more, or if there is no memory.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t limit) noexcept;
  /// Frees a piece. Another address, such as null, has no effect and returns false.
  bool free(void*) noexcept;
  /// Frees all pieces. Their memory is then a fault for kernels, too.
  void clear();

  /// Must be called when a run begins. Kernels of any run may access the heap. Returns false if the
  /// system refuses the access, because the process has too many mappings; the heap is not open
  /// then.
  [[nodiscard]] bool open();
  /// Must be called when a run ends whose open() returned true. If the system refuses to protect
  /// the heap, the host can access it until another run ends.
  void close();

  /// Returns whether `address` lies in the address range of the heap. A signal handler calls it.
  [[nodiscard]] static bool holds(const void* address);

 private:
  /// Returns memory of `bytes` bytes, which nothing uses; null if there is no address space.
  /// \throws std::bad_alloc
  [[nodiscard]] std::byte* take(std::size_t bytes);
  /// Returns whether the used part of the range now has the access `protection`.
  [[nodiscard]] bool protect(int protection) const;

  std::map<std::byte*, std::size_t> free_;         // bytes of each free part before top_
  std::unordered_map<void*, std::size_t> pieces_;  // requested bytes
  std::size_t used_ = 0;                           // bytes of all pieces, with their overhead
  std::size_t top_ = 0;                            // bytes of the range that were ever used
  unsigned runs_ = 0;                              // that hold the heap open
};

}  // namespace ramify::cpu::inline RAMIFY_ABI
