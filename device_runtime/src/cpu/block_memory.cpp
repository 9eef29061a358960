// SPDX-License-Identifier: BSD-3-Clause
#include "block_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <ramify/cpu/sanitizers.hpp>

namespace ramify::cpu::inline RAMIFY_ABI {
namespace {

// CUDA does not define the initial contents of shared memory, so this value fills it instead of 0.
constexpr int shared_fill = 0xA5;

constexpr std::size_t guard_bytes = std::size_t{1} << 20;

}  // namespace

block_memory::~block_memory() {
  end();
  if (mapped_ != nullptr) munmap(mapped_, capacity_ + guard_bytes);
}

#if RAMIFY_ADDRESS_SANITIZER

void block_memory::allocate(std::size_t bytes) {
  // Not aligned_alloc: it requires a multiple of the alignment, which would hide short overruns.
  void* memory = nullptr;
  if (bytes != 0 && posix_memalign(&memory, alignment, bytes) != 0) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(memory);
  bytes_ = bytes;
  if (bytes != 0) std::memset(data_, shared_fill, bytes);
}

void block_memory::end() noexcept {
  std::free(data_);
  data_ = nullptr;
  bytes_ = 0;
}

bool block_memory::has_written_after() const { return false; }
bool block_memory::guards(const void*) const { return false; }

#else

namespace {

constexpr std::size_t first_capacity = std::size_t{256} << 10;

std::size_t rounded_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

/// Returns a guard region that all blocks without dynamic shared memory use; null if there is no
/// address space. It is never unmapped.
std::byte* empty_memory() {
  static std::byte* const region = [] {
    void* const memory =
        mmap(nullptr, guard_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
  }();
  return region;
}

}  // namespace

void block_memory::allocate(std::size_t bytes) {
  if (bytes == 0) {
    data_ = empty_memory();
    bytes_ = 0;
    return;
  }
  const std::size_t used = rounded_up(bytes, alignment);
  if (mapped_ == nullptr || used > capacity_) {
    const std::size_t capacity = std::max(first_capacity, rounded_up(used, first_capacity));
    void* const memory = mmap(nullptr, capacity + guard_bytes, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    const bool is_mapped = memory != MAP_FAILED;
    if (!is_mapped || mprotect(memory, capacity, PROT_READ | PROT_WRITE) != 0) {
      if (is_mapped) munmap(memory, capacity + guard_bytes);
      data_ = nullptr;
      bytes_ = 0;
      throw std::bad_alloc();
    }
    if (mapped_ != nullptr) munmap(mapped_, capacity_ + guard_bytes);
    mapped_ = static_cast<std::byte*>(memory);
    capacity_ = capacity;
  }
  data_ = mapped_ + capacity_ - used;
  bytes_ = bytes;
  std::memset(data_, shared_fill, used);
}

void block_memory::end() noexcept {}

bool block_memory::has_written_after() const {
  if (data_ == nullptr) return false;
  return std::any_of(data_ + bytes_, mapped_ + capacity_,
                     [](std::byte b) { return b != std::byte{shared_fill}; });
}

bool block_memory::guards(const void* address) const {
  const auto* const a = static_cast<const std::byte*>(address);
  if (data_ == nullptr) return false;
  const std::byte* const guard = bytes_ == 0 ? data_ : mapped_ + capacity_;
  return a >= guard && a < guard + guard_bytes;
}

#endif

}  // namespace ramify::cpu::inline RAMIFY_ABI
