// SPDX-License-Identifier: BSD-3-Clause
#include "stack_fault.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstring>
#include <string_view>

#include "block.hpp"
#include "kernel_heap.hpp"

namespace ramify::cpu::inline RAMIFY_ABI {
namespace {

/// Text in a fixed buffer; what does not fit is left out. A signal handler can use it.
class fixed_text {
 public:
  void append(std::string_view text) {
    const std::size_t size = std::min(text.size(), buffer_.size() - size_);
    std::memcpy(buffer_.data() + size_, text.data(), size);
    size_ += size;
  }
  void append(std::size_t number) {
    std::array<char, 20> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    append(std::string_view(digits.data(), end));
  }
  void append(const builtins::uint3& index) {
    append_all("(", index.x, ",", index.y, ",", index.z, ")");
  }
  template <class... Parts>
  void append_all(const Parts&... parts) {
    (append(parts), ...);
  }
  void print() const {
    // A failure cannot be reported.
    [[maybe_unused]] const auto written = write(STDERR_FILENO, buffer_.data(), size_);
  }

 private:
  std::array<char, 4096> buffer_;
  std::size_t size_ = 0;
};

/// Prints `fault`, the kernel, block and thread that the calling thread runs, and `more`.
template <class... More>
void print_fault(const block& here, const char* fault, const More&... more) {
  fixed_text text;
  text.append_all("\nramify, CPU executor: ", fault, " in kernel ", *here.owner()->kernel_name,
                  ", block ", builtins::blockIdx, ", thread ", builtins::threadIdx, more..., "\n");
  text.print();
}

struct sigaction former_action;

void on_fault(int signal, siginfo_t* info, void* /*context*/) {
  const block* const here = block::current();
  if (here != nullptr && here->is_stack_overflow(info->si_addr)) {
    print_fault(*here, "stack overflow", ": the stack of a thread has ", here->stack_bytes(),
                " bytes. Use smaller local arrays or less recursion, or raise the limit with "
                "launch_limits.stack_bytes (cudaLimitStackSize).");
  } else if (here != nullptr && here->is_shared_overrun(info->si_addr)) {
    print_fault(*here, "access after the dynamic shared memory", ": the launch requested ",
                running_shared.bytes, " bytes, the third number of a launch.");
  } else if (here != nullptr && info->si_code > 0) {
    print_fault(*here, "access to an invalid address");
  } else if (here == nullptr && kernel_heap::holds(info->si_addr)) {
    fixed_text text;
    text.append(
        "\nramify, CPU executor: the host accesses memory that malloc() in a kernel returned. Only "
        "kernels can access it: a kernel must copy it to memory of cudaMalloc().\n");
    text.print();
  }
  // The instruction faults again after the return and reaches the former handler.
  sigaction(signal, &former_action, nullptr);
  if (info->si_code <= 0) static_cast<void>(raise(signal));  // sent by a process, not by a fault
}

void install_handler() {
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &former_action);
}

constexpr std::size_t signal_stack_bytes = std::size_t{64} << 10;

}  // namespace

signal_stack::signal_stack() {
  static const bool installed = (install_handler(), true);
  static_cast<void>(installed);
  stack_t present{};
  if (sigaltstack(nullptr, &present) != 0 || (present.ss_flags & SS_DISABLE) == 0) return;
  void* const memory =
      mmap(nullptr, signal_stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;  // a stack overflow then ends the program without a message
  stack_t own{};
  own.ss_sp = memory;
  own.ss_size = signal_stack_bytes;
  if (sigaltstack(&own, nullptr) == 0) {
    memory_ = memory;
  } else {
    munmap(memory, signal_stack_bytes);
  }
}

signal_stack::~signal_stack() {
  if (memory_ == nullptr) return;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
  munmap(memory_, signal_stack_bytes);
}

}  // namespace ramify::cpu::inline RAMIFY_ABI
