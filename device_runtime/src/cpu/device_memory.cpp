// SPDX-License-Identifier: BSD-3-Clause
// The limits of the executor's device, its memory, and the heap of its kernels.
#include <algorithm>
#include <functional>
#include <iterator>
#include <new>
#include <ramify/cpu/sanitizers.hpp>
#include <utility>

#include "device.hpp"

namespace ramify::cpu::inline RAMIFY_ABI {

using namespace builtins;

namespace {

// The driver clamps the pending-launch limit to this value silently (read back on an H200).
constexpr std::size_t max_pending_launches = 599'186;

#if RAMIFY_ADDRESS_SANITIZER || RAMIFY_THREAD_SANITIZER
constexpr std::size_t min_fiber_stack = std::size_t{512} << 10;
#else
constexpr std::size_t min_fiber_stack = std::size_t{128} << 10;
#endif

}  // namespace

cudaError_t device::limit(cudaLimit which, std::size_t& value) const {
  const std::lock_guard lock(mutex_);
  switch (which) {
    case cudaLimitStackSize: value = stack_limit_; return cudaSuccess;
    case cudaLimitMallocHeapSize: value = heap_limit_; return cudaSuccess;
    case cudaLimitDevRuntimePendingLaunchCount: value = pending_limit_; return cudaSuccess;
    case cudaLimitDevRuntimeSyncDepth: break;
  }
  return cudaErrorUnsupportedLimit;
}

cudaError_t device::set_limit(cudaLimit which, std::size_t value) {
  const std::lock_guard lock(mutex_);
  switch (which) {
    case cudaLimitStackSize: stack_limit_ = value; return cudaSuccess;
    case cudaLimitMallocHeapSize: heap_limit_ = value; return cudaSuccess;
    case cudaLimitDevRuntimePendingLaunchCount:
      pending_limit_ = std::clamp<std::size_t>(value, 1, max_pending_launches);
      return cudaSuccess;
    case cudaLimitDevRuntimeSyncDepth: break;
  }
  return cudaErrorUnsupportedLimit;
}

std::size_t device::fiber_stack_bytes() const {
  return std::max(min_fiber_stack, stack_limit_.load(std::memory_order_relaxed));
}

constexpr std::align_val_t device_alignment{256};
constexpr std::size_t max_weak_bytes = std::size_t{1} << 20;  // each switch of blocks copies them

void* device::allocate(std::size_t bytes, cudaMemoryType type, std::size_t element) {
  void* const allocated = ::operator new(bytes, device_alignment, std::nothrow);
  if (allocated == nullptr) return nullptr;
  const std::lock_guard lock(mutex_);
  try {
    allocations_[reinterpret_cast<std::uintptr_t>(allocated)] = {bytes, type, element,
                                                                 ++allocated_};
  } catch (const std::bad_alloc&) {
    ::operator delete(allocated, device_alignment);
    return nullptr;
  }
  return allocated;
}

std::vector<weak_memory::part> device::weak_parts() const {
  const std::lock_guard lock(mutex_);
  std::vector<decltype(allocations_)::const_iterator> smallest;
  for (auto a = allocations_.begin(); a != allocations_.end(); ++a) {
    if (a->second.type == cudaMemoryTypeDevice) smallest.push_back(a);
  }
  std::ranges::sort(smallest, std::less<>{},
                    [](const auto& a) { return std::pair(a->second.bytes, a->second.number); });
  std::vector<weak_memory::part> parts;
  std::size_t left = max_weak_bytes;
  for (const auto& a : smallest) {
    if (a->second.bytes > left) break;
    left -= a->second.bytes;
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    auto* const begin = reinterpret_cast<std::byte*>(a->first);
    parts.push_back({{begin, a->second.bytes}, a->second.element});
  }
  return parts;
}

bool device::release(void* memory) {
  const weak_memory::host_access access;
  {
    const std::lock_guard lock(mutex_);
    if (allocations_.erase(reinterpret_cast<std::uintptr_t>(memory)) == 0) return false;
  }
  if (!access.keep_until_end(memory)) give_back(memory);
  return true;
}

void device::give_back(void* memory) { ::operator delete(memory, device_alignment); }

cudaMemoryType device::type_of(const void* address) const {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  const std::lock_guard lock(mutex_);
  const auto next = allocations_.upper_bound(number);
  if (next == allocations_.begin()) return cudaMemoryTypeUnregistered;
  const auto& [begin, found] = *std::prev(next);
  return number - begin < found.bytes ? found.type : cudaMemoryTypeUnregistered;
}

void device::reset() {
  const std::lock_guard lock(mutex_);
  for (const auto& [address, allocated] : allocations_) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    give_back(reinterpret_cast<void*>(address));
  }
  allocations_.clear();
  heap_.clear();
  streams_.clear();
  events_.clear();
  shared_of_.clear();
  pending_limit_ = default_pending_limit;
  heap_limit_ = default_heap_limit;
  stack_limit_ = default_stack_limit;
  if (config_.device_stays_failed && host_calls_ >= config_.failing_call) config_.failing_call = 0;
  ++resets_;
}

void* device::heap_allocate(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  return heap_.allocate(bytes, heap_limit_);
}

bool device::heap_free(void* memory) {
  const std::lock_guard lock(mutex_);
  return heap_.free(memory);
}

}  // namespace ramify::cpu::inline RAMIFY_ABI
