// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// CUDA's atomic functions on std::atomic_ref. Each returns the old value.

#include <atomic>
#include <ramify/cpu/sanitizers.hpp>
#include <type_traits>

namespace ramify::cpu::builtins {

#if RAMIFY_THREAD_SANITIZER
// ThreadSanitizer does not model fences. In its builds the atomics themselves carry the order that
// __threadfence() adds in CUDA.
inline constexpr std::memory_order atomic_order = std::memory_order_acq_rel;
inline constexpr std::memory_order atomic_load_order = std::memory_order_acquire;
inline void __threadfence() {}
#else
inline constexpr std::memory_order atomic_order = std::memory_order_relaxed;
inline constexpr std::memory_order atomic_load_order = std::memory_order_relaxed;
inline void __threadfence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
#endif

#define RAMIFY_ATOMIC(name, member)                                  \
  template <class T>                                                 \
  T name(T* address, std::type_identity_t<T> value) {                \
    return std::atomic_ref<T>(*address).member(value, atomic_order); \
  }
RAMIFY_ATOMIC(atomicAdd, fetch_add)
RAMIFY_ATOMIC(atomicSub, fetch_sub)
RAMIFY_ATOMIC(atomicOr, fetch_or)
RAMIFY_ATOMIC(atomicAnd, fetch_and)
RAMIFY_ATOMIC(atomicXor, fetch_xor)
RAMIFY_ATOMIC(atomicExch, exchange)
#undef RAMIFY_ATOMIC

template <class T>
T atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> desired) {
  std::atomic_ref<T>(*address).compare_exchange_strong(expected, desired, atomic_order,
                                                       atomic_load_order);
  return expected;
}

/// Replaces the old value by next(old). Returns the old value.
template <class T, class Next>
T atomic_update(T* address, Next next) {
  std::atomic_ref<T> cell(*address);
  T old = cell.load(atomic_load_order);
  while (!cell.compare_exchange_weak(old, next(old), atomic_order, atomic_load_order)) {
  }
  return old;
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

}  // namespace ramify::cpu::builtins
