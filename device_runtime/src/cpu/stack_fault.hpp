// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The message for a kernel whose thread uses more stack than it has.

namespace ramify::cpu {

/// The stack on which an operating-system thread handles signals, because its own one is full when
/// a kernel touches the guard region below it. The program then prints the kernel, the thread and
/// the stack size before it ends.
///
/// The first object of the process installs a handler of SIGSEGV, which passes all other faults to
/// the handler that was installed before. Must be destroyed by the thread that created it.
class signal_stack {
 public:
  signal_stack();
  ~signal_stack();
  signal_stack(const signal_stack&) = delete;
  signal_stack& operator=(const signal_stack&) = delete;

 private:
  void* memory_ = nullptr;  // null: the thread has another signal stack, or none
};

}  // namespace ramify::cpu
