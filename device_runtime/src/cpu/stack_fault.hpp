// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Reports a stack overflow, or an access to an invalid address, in a kernel.

#include <ramify/version.hpp>

namespace ramify::cpu::inline RAMIFY_ABI {

/// The signal stack of an operating-system thread. When a kernel touches the guard region below its
/// stack, that stack is full, so the handler of SIGSEGV runs on this one. The handler prints the
/// kernel, the thread and the stack size before the program ends. If a kernel accesses another
/// invalid address, the handler prints the kernel and the thread.
///
/// The first object of the process installs the handler. The handler passes all faults on to the
/// handler that was installed before. The thread that creates an object must destroy it.
class signal_stack {
 public:
  signal_stack();
  ~signal_stack();
  signal_stack(const signal_stack&) = delete;
  signal_stack& operator=(const signal_stack&) = delete;

 private:
  void* memory_ = nullptr;  // null: the thread has another signal stack, or none
};

}  // namespace ramify::cpu::inline RAMIFY_ABI
