// SPDX-License-Identifier: BSD-3-Clause
#include "weak_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <ramify/cpu/cuda_builtins.hpp>

#include "block.hpp"

namespace ramify::cpu::inline RAMIFY_ABI {

weak_memory::weak_memory(const std::vector<std::span<std::byte>>& parts) {
  for (const std::span<std::byte> memory : parts) {
    parts_.push_back({memory, published_.size()});
    published_.insert(published_.end(), memory.begin(), memory.end());
  }
  std::ranges::sort(parts_, std::less<>{}, [](const part& p) { return p.memory.data(); });
  clean_ = published_;
}

weak_memory::~weak_memory() { begin_block(); }

void weak_memory::begin_block() {
  for (const auto& [memory, offset] : parts_) {
    std::copy_n(published_.begin() + static_cast<std::ptrdiff_t>(offset), memory.size(),
                memory.data());
  }
  clean_ = published_;
}

void weak_memory::publish() {
  for (const auto& [memory, offset] : parts_) {
    for (std::size_t i = 0; i < memory.size(); ++i) {
      if (memory[i] != clean_[offset + i]) published_[offset + i] = clean_[offset + i] = memory[i];
    }
  }
}

void weak_memory::see() {
  for (const auto& [memory, offset] : parts_) {
    for (std::size_t i = 0; i < memory.size(); ++i) {
      if (memory[i] == clean_[offset + i]) memory[i] = clean_[offset + i] = published_[offset + i];
    }
  }
}

weak_memory::view weak_memory::suspend() const {
  view mine{{}, clean_};
  mine.values.resize(clean_.size());
  for (const auto& [memory, offset] : parts_) {
    std::ranges::copy(memory, mine.values.begin() + static_cast<std::ptrdiff_t>(offset));
  }
  return mine;
}

void weak_memory::resume(const view& mine) {
  for (const auto& [memory, offset] : parts_) {
    std::copy_n(mine.values.begin() + static_cast<std::ptrdiff_t>(offset), memory.size(),
                memory.data());
  }
  clean_ = mine.clean;
}

weak_memory::part weak_memory::find(const void* address, std::size_t bytes) const {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  const auto begin_of = [](const part& p) {
    return reinterpret_cast<std::uintptr_t>(p.memory.data());
  };
  const auto next = std::ranges::upper_bound(parts_, number, {}, begin_of);
  if (next == parts_.begin()) return {{}, 0};
  const auto& [memory, offset] = *std::prev(next);
  const std::size_t at = number - begin_of(*std::prev(next));
  if (at >= memory.size() || bytes > memory.size() - at) return {{}, 0};
  return {memory.subspan(at, bytes), offset + at};
}

void weak_memory::begin_atomic(const void* address, std::size_t bytes) {
  const auto [memory, offset] = find(address, bytes);
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const bool is_written = memory[i] != clean_[offset + i];
    if (!is_written) memory[i] = published_[offset + i];
  }
}

void weak_memory::end_atomic(const void* address, std::size_t bytes) {
  const auto [memory, offset] = find(address, bytes);
  std::ranges::copy(memory, published_.begin() + static_cast<std::ptrdiff_t>(offset));
  std::ranges::copy(memory, clean_.begin() + static_cast<std::ptrdiff_t>(offset));
}

// ---- what the functions of kernels call while schedule::weak runs ------------------------------

void begin_weak_atomic(const void* address, std::size_t bytes) {
  block* const here = block::current();
  if (here == nullptr || here->memory() == nullptr) return;
  here->atomic_scheduling_point();
  here->memory()->begin_atomic(address, bytes);
}

void end_weak_atomic(const void* address, std::size_t bytes) {
  block* const here = block::current();
  if (here == nullptr || here->memory() == nullptr) return;
  here->memory()->end_atomic(address, bytes);
  here->atomic_scheduling_point();
}

void publish_weak_writes() {
  block* const here = block::current();
  if (here != nullptr && here->memory() != nullptr) here->memory()->publish();
}

void see_weak_writes() {
  block* const here = block::current();
  if (here != nullptr && here->memory() != nullptr) here->memory()->see();
}

}  // namespace ramify::cpu::inline RAMIFY_ABI
