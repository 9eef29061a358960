// SPDX-License-Identifier: BSD-3-Clause
#include "kernel_heap.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <new>
#include <ramify/cpu/sanitizers.hpp>

#if RAMIFY_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace ramify::cpu::inline RAMIFY_ABI {
namespace {

// Each piece also takes this many bytes. AddressSanitizer finds accesses to them.
constexpr std::size_t overhead = alignof(std::max_align_t);

// The address range is reserved once. Only the parts that kernels use take memory.
constexpr std::size_t range_bytes = std::size_t{1} << 36;
constexpr std::size_t min_range_bytes = std::size_t{1} << 24;  // if the process may map less
constexpr std::size_t protected_unit = std::size_t{1} << 20;   // a multiple of the page size
std::atomic<std::byte*> range{nullptr};
std::atomic<std::size_t> range_size{0};

std::size_t to_multiple(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

/// Returns the begin of the address range, which the first call reserves; null if it cannot.
std::byte* reserve_range() {
  for (std::size_t bytes = range_bytes; range == nullptr && bytes >= min_range_bytes; bytes /= 2) {
    void* const memory =
        mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) continue;
    range_size = bytes;
    range = static_cast<std::byte*>(memory);
  }
  return range;
}

void set_accessible([[maybe_unused]] void* piece, [[maybe_unused]] std::size_t bytes) {
#if RAMIFY_ADDRESS_SANITIZER
  ASAN_UNPOISON_MEMORY_REGION(piece, bytes);
#endif
}
void set_inaccessible([[maybe_unused]] void* piece, [[maybe_unused]] std::size_t bytes) {
#if RAMIFY_ADDRESS_SANITIZER
  ASAN_POISON_MEMORY_REGION(piece, bytes);
#endif
}

std::size_t with_overhead(std::size_t bytes) { return to_multiple(bytes, overhead) + overhead; }

}  // namespace

bool kernel_heap::holds(const void* address) {
  const auto begin = reinterpret_cast<std::uintptr_t>(range.load());
  return begin != 0 && reinterpret_cast<std::uintptr_t>(address) - begin < range_size;
}

bool kernel_heap::protect(int protection) const {
  const std::size_t bytes = to_multiple(top_, protected_unit);
  return bytes == 0 || mprotect(range, bytes, protection) == 0;
}

bool kernel_heap::open() {
  if (runs_ == 0 && !protect(PROT_READ | PROT_WRITE)) return false;
  ++runs_;
  return true;
}

void kernel_heap::close() {
  if (--runs_ == 0) static_cast<void>(protect(PROT_NONE));
}

std::byte* kernel_heap::take(std::size_t bytes) {
  const auto fits = [bytes](const auto& part) { return part.second >= bytes; };
  if (const auto part = std::ranges::find_if(free_, fits); part != free_.end()) {
    const auto [begin, size] = *part;
    if (size > bytes) free_[begin + bytes] = size - bytes;
    free_.erase(begin);
    return begin;
  }
  std::byte* const begin = reserve_range();
  if (begin == nullptr || bytes > range_size - top_) return nullptr;
  const std::size_t accessible = to_multiple(top_, protected_unit);
  const std::size_t needed = to_multiple(top_ + bytes, protected_unit);
  if (needed > accessible &&
      mprotect(begin + accessible, needed - accessible, PROT_READ | PROT_WRITE) != 0) {
    return nullptr;
  }
  top_ += bytes;
  return begin + top_ - bytes;
}

void* kernel_heap::allocate(std::size_t bytes, std::size_t limit) noexcept {
  const std::size_t available = limit - std::min(used_, limit);
  if (available < overhead || bytes > available - overhead) return nullptr;
  std::byte* piece = nullptr;
  try {
    piece = take(with_overhead(bytes));
    if (piece == nullptr) return nullptr;
    pieces_[piece] = bytes;
  } catch (const std::bad_alloc&) {
    return nullptr;  // clear() makes the part that take() may have returned available again
  }
  used_ += bytes + overhead;
  set_accessible(piece, bytes);
  set_inaccessible(piece + bytes, with_overhead(bytes) - bytes);
  return piece;
}

bool kernel_heap::free(void* memory) noexcept {
  const auto piece = pieces_.extract(memory);
  if (piece.empty()) return false;
  const std::size_t bytes = piece.mapped();
  used_ -= bytes + overhead;
  set_inaccessible(memory, bytes);
  // Joins the part with the free parts before and after it.
  auto part = free_.end();
  try {
    part = free_.emplace(static_cast<std::byte*>(memory), with_overhead(bytes)).first;
  } catch (const std::bad_alloc&) {
    return true;  // clear() makes the part available again
  }
  const auto next = std::next(part);
  if (next != free_.end() && part->first + part->second == next->first) {
    part->second += next->second;
    free_.erase(next);
  }
  if (part == free_.begin()) return true;
  const auto before = std::prev(part);
  if (before->first + before->second == part->first) {
    before->second += part->second;
    free_.erase(part);
  }
  return true;
}

void kernel_heap::clear() {
  const std::size_t bytes = to_multiple(top_, protected_unit);
  if (bytes != 0) {
    set_accessible(range, bytes);
    static_cast<void>(madvise(range, bytes, MADV_DONTNEED));
    static_cast<void>(protect(PROT_NONE));  // also while a run holds the heap open
  }
  pieces_.clear();
  free_.clear();
  used_ = top_ = 0;
}

}  // namespace ramify::cpu::inline RAMIFY_ABI
