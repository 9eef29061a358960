// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Flags in pinned memory, by which the host and a running kernel give each other data. Each flag
/// has one writer. Lessons 38 and 41 use them.

#include "atomic_ref.hpp"

namespace lesson {

/// Returns the flag. What its writer wrote before it is then visible to this thread.
__host__ __device__ inline unsigned read_flag(unsigned& flag) {
  return system_atomic<unsigned>(flag).load(order::memory_order_acquire);
}

/// Sets the flag, after everything that this thread has written before.
__host__ __device__ inline void write_flag(unsigned& flag, unsigned value) {
  system_atomic<unsigned>(flag).store(value, order::memory_order_release);
}

}  // namespace lesson
