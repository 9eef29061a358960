// SPDX-License-Identifier: BSD-3-Clause
#include "weak_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <memory>
#include <ramify/cpu/cuda_builtins.hpp>

#include "block.hpp"
#include "device.hpp"

namespace ramify::cpu::inline RAMIFY_ABI {

namespace {

std::mutex mutex;                // guards `running`, and the published values
weak_memory* running = nullptr;  // of the run in progress: only one run at a time is weak

}  // namespace

weak_memory::weak_memory() {
  const std::lock_guard lock(mutex);
  parts_ = device::instance().weak_parts();
  for (part& p : parts_) {
    p.offset = published_.size();
    published_.insert(published_.end(), p.memory.begin(), p.memory.end());
    unit_.resize(published_.size(), static_cast<unsigned char>(p.element));
  }
  std::ranges::sort(parts_, std::less<>{}, [](const part& p) { return p.memory.data(); });
  clean_ = published_;
  freed_.reserve(parts_.size());
  running = this;
}

weak_memory::~weak_memory() {
  const std::lock_guard lock(mutex);
  restore();
  running = nullptr;
  for (void* const memory : freed_) device::give_back(memory);
}

void weak_memory::restore() {
  for (const part& p : parts_) {
    std::memcpy(p.memory.data(), &published_[p.offset], p.memory.size());
  }
}

void weak_memory::begin_block() {
  const std::lock_guard lock(mutex);
  restore();
  clean_ = published_;
}

template <class Visit>
void weak_memory::visit(const part& p, Visit visit) {
  constexpr std::size_t line = 64;  // a block has written to few of them
  const auto is_written = [&](std::size_t at, std::size_t bytes) {
    return std::memcmp(&p.memory[at], &clean_[p.offset + at], bytes) != 0;
  };
  for (std::size_t begin = 0; begin < p.memory.size(); begin += line) {
    const std::size_t end = std::min(begin + line, p.memory.size());
    const bool any = is_written(begin, end - begin);
    for (std::size_t at = begin, bytes = 0; at < end; at += bytes) {
      bytes = std::min(any ? unit_[p.offset + at] : line, end - at);
      visit(&p.memory[at], p.offset + at, bytes, any && is_written(at, bytes));
    }
  }
}

void weak_memory::publish() {
  const std::lock_guard lock(mutex);
  for (const part& p : parts_) {
    visit(p, [&](const std::byte* memory, std::size_t offset, std::size_t bytes, bool is_written) {
      if (!is_written) return;
      std::memcpy(&published_[offset], memory, bytes);
      std::memcpy(&clean_[offset], memory, bytes);
    });
  }
}

void weak_memory::see(const part& p) {
  visit(p, [&](std::byte* memory, std::size_t offset, std::size_t bytes, bool is_written) {
    if (is_written) return;
    std::memcpy(memory, &published_[offset], bytes);
    std::memcpy(&clean_[offset], &published_[offset], bytes);
  });
}

void weak_memory::see() {
  const std::lock_guard lock(mutex);
  for (const part& p : parts_) see(p);
}

void weak_memory::prepare(view& mine) const {
  mine.values.resize(clean_.size());
  mine.clean.resize(clean_.size());
}

void weak_memory::suspend(view& mine) const noexcept {
  std::ranges::copy(clean_, mine.clean.begin());
  for (const part& p : parts_) {
    std::memcpy(&mine.values[p.offset], p.memory.data(), p.memory.size());
  }
}

void weak_memory::resume(const view& mine) {
  for (const part& p : parts_) {
    std::memcpy(p.memory.data(), &mine.values[p.offset], p.memory.size());
  }
  std::ranges::copy(mine.clean, clean_.begin());
}

const weak_memory::part* weak_memory::holder(const void* address, std::size_t bytes) const {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  const auto begin_of = [](const part& p) {
    return reinterpret_cast<std::uintptr_t>(p.memory.data());
  };
  const auto next = std::ranges::upper_bound(parts_, number, {}, begin_of);
  if (next == parts_.begin()) return nullptr;
  const part& found = *std::prev(next);
  const std::size_t at = number - begin_of(found);
  return at < found.memory.size() && bytes <= found.memory.size() - at ? &found : nullptr;
}

weak_memory::part weak_memory::find(const void* address, std::size_t bytes) const {
  const part* const found = holder(address, bytes);
  if (found == nullptr) return {{}, 1};
  const auto at = static_cast<const std::byte*>(address) - found->memory.data();
  const auto begin = static_cast<std::size_t>(at);
  return {found->memory.subspan(begin, bytes), found->element, found->offset + begin};
}

void weak_memory::divide(const void* address, std::size_t bytes) {
  const part* const found = holder(address, bytes);
  if (found == nullptr) return;
  const auto at = static_cast<const std::byte*>(address) - found->memory.data();
  const std::size_t begin = static_cast<std::size_t>(at) / found->element * found->element;
  const std::size_t end = std::min(begin + found->element, found->memory.size());
  for (std::size_t i = found->offset + begin; i < found->offset + end; ++i) {
    unit_[i] = static_cast<unsigned char>(std::min<std::size_t>(unit_[i], bytes));
  }
}

weak_memory::host_access::host_access() {
  if (device::instance().order() == schedule::weak) lock_ = std::unique_lock(mutex);
}

void* weak_memory::host_access::published(const void* address, std::size_t bytes) {
  const part* const found = running == nullptr ? nullptr : running->holder(address, bytes);
  if (found == nullptr) return const_cast<void*>(address);
  const auto at = static_cast<const std::byte*>(address) - found->memory.data();
  return &running->published_[found->offset + static_cast<std::size_t>(at)];
}

bool weak_memory::host_access::keep_until_end(void* memory) const noexcept {
  if (running == nullptr || running->holder(memory, 1) == nullptr) return false;
  running->freed_.push_back(memory);  // there is capacity for all parts
  return true;
}

void weak_memory::begin_atomic(const void* address, std::size_t bytes) {
  const std::lock_guard lock(mutex);
  divide(address, bytes);
  see(find(address, bytes));
}

void weak_memory::end_atomic(const void* address, std::size_t bytes) {
  const std::lock_guard lock(mutex);
  const part operand = find(address, bytes);
  if (operand.memory.empty()) return;
  std::memcpy(&published_[operand.offset], operand.memory.data(), operand.memory.size());
  std::memcpy(&clean_[operand.offset], operand.memory.data(), operand.memory.size());
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
