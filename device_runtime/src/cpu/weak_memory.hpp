// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Device memory of schedule::weak: the writes of a block reach other blocks late.

#include <cstddef>
#include <mutex>
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
///
/// The stores of a block are found by comparison, so their sizes are unknown. Each element of a
/// part is one unit: if two blocks write it without an order, one of the two values is published
/// last, as on a GPU. The first atomic operation on a part of an element divides the element into
/// units of that size. Without one, plain stores of two blocks to two parts of an element are
/// stores to the same unit. In a part whose elements have one byte, an object of several bytes that
/// two blocks write may get bytes of both.
class weak_memory {
 public:
  struct part {
    std::span<std::byte> memory;
    std::size_t element;     // bytes of an element: a power of 2, at most 16
    std::size_t offset = 0;  // of the first byte in published_ and clean_
  };
  /// Begins a run, with the parts that the device has now. \throws std::bad_alloc
  weak_memory();
  weak_memory(const weak_memory&) = delete;
  weak_memory& operator=(const weak_memory&) = delete;
  /// Ends the run. Publishes no writes. The parts get the published values; those that the host has
  /// freed meanwhile are given back.
  ~weak_memory();

  /// Access by a call of the host, also while a run of another host thread is in progress: it
  /// applies to the published values. No block publishes or sees writes while the object exists.
  class host_access {
   public:
    host_access();
    /// Returns where the call accesses these bytes.
    template <class T>
    [[nodiscard]] T* at(T* address, std::size_t bytes) const {
      return static_cast<T*>(published(address, bytes));
    }
    /// Must be called when the device has forgotten an allocation. Returns true if the memory is a
    /// part of the run in progress, which gives it back at its end.
    [[nodiscard]] bool keep_until_end(void* memory) const noexcept;

   private:
    [[nodiscard]] static void* published(const void* address, std::size_t bytes);
    std::unique_lock<std::mutex> lock_;  // of nothing, if the schedule is another one
  };

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
  /// Makes memory for what a block sees. \throws std::bad_alloc
  void prepare(view&) const;
  /// Keeps what the running block sees, for resume(). The view must be prepared.
  void suspend(view&) const noexcept;
  void resume(const view&);
  /// Must be called before and after an atomic operation. It applies to the published values.
  void begin_atomic(const void* address, std::size_t bytes);
  void end_atomic(const void* address, std::size_t bytes);

 private:
  /// Returns the part that has all these bytes, or null.
  [[nodiscard]] const part* holder(const void* address, std::size_t bytes) const;
  /// Returns the bytes of an operand as a part; an empty one if no part has all of them.
  [[nodiscard]] part find(const void* address, std::size_t bytes) const;
  /// Divides the element that has this operand, if it is smaller than its units.
  void divide(const void* address, std::size_t bytes);
  /// Calls visit(memory, offset, bytes, whether the running block wrote them) for all units of a
  /// part. One call may stand for several units that it did not write.
  template <class Visit>
  void visit(const part&, Visit visit);
  void see(const part&);
  /// Sets the parts to the published values.
  void restore();

  std::vector<part> parts_;           // by address
  std::vector<std::byte> published_;  // also accessed by other threads, which hold a lock
  std::vector<std::byte> clean_;      // what the running block saw last; other bytes are its writes
  std::vector<unsigned char> unit_;   // for each byte: bytes of the unit that has it
  std::vector<void*> freed_;          // by the host during the run
};

}  // namespace ramify::cpu::inline RAMIFY_ABI
