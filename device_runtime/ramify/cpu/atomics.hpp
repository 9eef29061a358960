// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// CUDA's atomic functions on std::atomic_ref, which return the old value, fences, and atomic_ref.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ramify/cpu/sanitizers.hpp>
#include <ramify/version.hpp>
#include <type_traits>

namespace ramify::cpu::inline RAMIFY_ABI {

/// The dynamic shared memory of the block on this operating-system thread.
struct shared_memory {
  std::byte* begin;
  std::size_t bytes;
};
inline constinit thread_local shared_memory running_shared{nullptr, 0};

/// Returns whether only threads of the running block may access `address`. They share an
/// operating-system thread, so plain loads and stores suffice, which take a fifth of the time.
[[nodiscard]] inline bool is_private_to_block(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) -
             reinterpret_cast<std::uintptr_t>(running_shared.begin) <
         running_shared.bytes;
}

/// The type in which additions wrap around: unsigned for integers.
template <class T>
struct wrapping {
  using type = T;
};
template <class T>
requires(std::is_integral_v<T>) struct wrapping<T> {
  using type = std::make_unsigned_t<T>;
};

// ---- schedule::weak, under which the writes of a block reach other blocks late -----------------

/// Whether a run of schedule::weak is in progress.
inline constinit std::atomic<bool> memory_is_weak{false};
[[nodiscard]] inline bool is_memory_weak() {
  return memory_is_weak.load(std::memory_order_relaxed);
}

/// What atomic_begins() and atomic_ended() do under schedule::weak.
[[gnu::cold]] void begin_weak_atomic(const void* address, std::size_t bytes);
[[gnu::cold]] void end_weak_atomic(const void* address, std::size_t bytes);
/// Publishes the writes of the running block.
void publish_weak_writes();
/// Lets the running block see the published writes of other blocks.
void see_weak_writes();

/// Must be called before an atomic operation on global memory. It may switch to another block.
template <class T>
void atomic_begins(const T* address) {
  if (is_memory_weak()) [[unlikely]] {
    begin_weak_atomic(address, sizeof(T));
  }
}
/// Must be called after the operation. It may switch to another block.
template <class T>
void atomic_ended(const T* address) {
  if (is_memory_weak()) [[unlikely]] {
    end_weak_atomic(address, sizeof(T));
  }
}

/// As cuda::atomic_ref on a GPU: std::atomic_ref, whose operations schedule::weak observes.
template <class T>
class atomic_ref {
 public:
  explicit atomic_ref(T& value) : cell_(value), address_(&value) {}

  T load(std::memory_order order = std::memory_order_seq_cst) const {
    return run(std::memory_order_relaxed, order, [&] { return cell_.load(order); });
  }
  void store(T value, std::memory_order order = std::memory_order_seq_cst) const {
    run(order, std::memory_order_relaxed, [&] {
      cell_.store(value, order);
      return 0;
    });
  }
  T exchange(T value, std::memory_order order = std::memory_order_seq_cst) const {
    return run(order, order, [&] { return cell_.exchange(value, order); });
  }
  T fetch_add(T value, std::memory_order order = std::memory_order_seq_cst) const {
    return run(order, order, [&] { return cell_.fetch_add(value, order); });
  }
  T fetch_sub(T value, std::memory_order order = std::memory_order_seq_cst) const {
    return run(order, order, [&] { return cell_.fetch_sub(value, order); });
  }
  bool compare_exchange_weak(T& expected, T desired,
                             std::memory_order order = std::memory_order_seq_cst) const {
    return run(order, order, [&] { return cell_.compare_exchange_weak(expected, desired, order); });
  }
  bool compare_exchange_strong(T& expected, T desired,
                               std::memory_order order = std::memory_order_seq_cst) const {
    return run(order, order,
               [&] { return cell_.compare_exchange_strong(expected, desired, order); });
  }

 private:
  /// Calls an operation that writes with the order `release` and reads with the order `acquire`.
  template <class Operation>
  auto run(std::memory_order release, std::memory_order acquire, Operation operation) const {
    if (is_memory_weak() && release != std::memory_order_relaxed &&
        release != std::memory_order_acquire) {
      publish_weak_writes();
    }
    atomic_begins(address_);
    const auto result = operation();
    atomic_ended(address_);
    if (is_memory_weak() && acquire != std::memory_order_relaxed &&
        acquire != std::memory_order_release) {
      see_weak_writes();
    }
    return result;
  }

  std::atomic_ref<T> cell_;
  T* address_;
};

}  // namespace ramify::cpu::inline RAMIFY_ABI

namespace ramify::cpu::builtins::inline RAMIFY_ABI {

/// The part of a fence that schedule::weak sees.
inline void weak_fence() {
  if (!is_memory_weak()) [[likely]]
    return;
  publish_weak_writes();
  see_weak_writes();
}

#if RAMIFY_THREAD_SANITIZER
// ThreadSanitizer does not model fences. In its builds the atomics themselves carry the order that
// __threadfence() adds in CUDA.
inline constexpr std::memory_order atomic_order = std::memory_order_acq_rel;
inline constexpr std::memory_order atomic_load_order = std::memory_order_acquire;
inline void __threadfence() { weak_fence(); }
#else
inline constexpr std::memory_order atomic_order = std::memory_order_relaxed;
inline constexpr std::memory_order atomic_load_order = std::memory_order_relaxed;
inline void __threadfence() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  weak_fence();
}
#endif

/// Replaces the old value by next(old). Returns the old value.
template <class T, class Next>
T atomic_update(T* address, Next next) {
  if (is_private_to_block(address)) {
    const T old = *address;
    *address = next(old);
    return old;
  }
  atomic_begins(address);
  std::atomic_ref<T> cell(*address);
  T old = cell.load(atomic_load_order);
  while (!cell.compare_exchange_weak(old, next(old), atomic_order, atomic_load_order)) {
  }
  atomic_ended(address);
  return old;
}

#define RAMIFY_ATOMIC(name, member, plain)                                       \
  template <class T>                                                             \
  inline T name(T* address, std::type_identity_t<T> value) {                     \
    if (!is_private_to_block(address)) {                                         \
      atomic_begins(address);                                                    \
      const T before = std::atomic_ref<T>(*address).member(value, atomic_order); \
      atomic_ended(address);                                                     \
      return before;                                                             \
    }                                                                            \
    using wide [[maybe_unused]] = typename wrapping<T>::type;                    \
    const T old = *address;                                                      \
    *address = static_cast<T>(plain);                                            \
    return old;                                                                  \
  }
RAMIFY_ATOMIC(atomicAdd, fetch_add, static_cast<wide>(old) + static_cast<wide>(value))
RAMIFY_ATOMIC(atomicSub, fetch_sub, static_cast<wide>(old) - static_cast<wide>(value))
RAMIFY_ATOMIC(atomicOr, fetch_or, old | value)
RAMIFY_ATOMIC(atomicAnd, fetch_and, (old & value))
RAMIFY_ATOMIC(atomicXor, fetch_xor, old ^ value)
RAMIFY_ATOMIC(atomicExch, exchange, value)
#undef RAMIFY_ATOMIC

template <class T>
T atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> desired) {
  if (is_private_to_block(address)) {
    const T old = *address;
    if (std::memcmp(&old, &expected, sizeof(T)) == 0) *address = desired;
    return old;
  }
  atomic_begins(address);
  std::atomic_ref<T>(*address).compare_exchange_strong(expected, desired, atomic_order,
                                                       atomic_load_order);
  atomic_ended(address);
  return expected;
}

template <class T>
T atomicMax(T* address, std::type_identity_t<T> value) {
  return atomic_update(address, [=](T old) { return old < value ? value : old; });
}

template <class T>
T atomicMin(T* address, std::type_identity_t<T> value) {
  return atomic_update(address, [=](T old) { return value < old ? value : old; });
}

/// Adds 1; a value of `last` or more becomes 0.
inline unsigned atomicInc(unsigned* address, unsigned last) {
  return atomic_update(address, [=](unsigned old) { return old >= last ? 0 : old + 1; });
}

/// Subtracts 1; 0 and a value above `last` become `last`.
inline unsigned atomicDec(unsigned* address, unsigned last) {
  return atomic_update(address,
                       [=](unsigned old) { return old == 0 || old > last ? last : old - 1; });
}

}  // namespace ramify::cpu::builtins::inline RAMIFY_ABI
