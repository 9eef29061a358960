// SPDX-License-Identifier: BSD-3-Clause
// The search for pointers that a child must not get: in the arguments of a launch, and in the
// global variables of the program.
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <ramify/cpu/sanitizers.hpp>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "block.hpp"
#include "device.hpp"
#include "kernel_heap.hpp"

namespace ramify::cpu::inline RAMIFY_ABI {
namespace {

using byte_range = std::span<const std::byte>;

bool holds(byte_range range, const void* address) {
  const auto* a = static_cast<const std::byte*>(address);
  return a >= range.data() && a < range.data() + range.size();
}

// The memory of the modules of the process (the program and its shared libraries).
struct module_memory {
  const void* kernel;                 // null: no variables are wanted
  std::vector<byte_range> shared;     // `__shared__` variables: thread-local, of the calling thread
  std::vector<byte_range> variables;  // of the module that has the kernel
};

module_memory find_memory(const void* kernel) {
  module_memory found{kernel, {}, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        auto& all = *static_cast<module_memory*>(to);
        std::vector<byte_range> writable;
        bool has_kernel = false;
        for (const auto& header : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
          if (header.p_type == PT_TLS && info->dlpi_tls_data != nullptr) {
            all.shared.emplace_back(static_cast<const std::byte*>(info->dlpi_tls_data),
                                    header.p_memsz);
          }
          if (header.p_type != PT_LOAD || all.kernel == nullptr) continue;
          // NOLINTNEXTLINE(performance-no-int-to-ptr)
          const byte_range loaded(
              reinterpret_cast<const std::byte*>(info->dlpi_addr + header.p_vaddr), header.p_memsz);
          has_kernel = has_kernel || holds(loaded, all.kernel);
          if ((header.p_flags & PF_W) != 0) writable.push_back(loaded);
        }
        if (has_kernel) all.variables = std::move(writable);
        return 0;
      },
      &found);
  return found;
}

}  // namespace

// Returns whether `address` lies on the stack of a thread of the block that has not ended.
bool block::is_local(const void* address) const {
  return fibers_.may_hold(address) && std::ranges::any_of(threads_, [&](const thread& t) {
           return t.on != nullptr && t.on->holds(address);
         });
}

#if RAMIFY_ADDRESS_SANITIZER || RAMIFY_THREAD_SANITIZER
// The variables of these sanitizers' runtimes have the addresses of stacks.
void block::check_variables(std::span<const std::span<const std::byte>>) const {}
#else
// Returns "the variable 'name'" if the program's symbol table has the variable at `address`.
static std::string variable_name(const void* address) {
  Dl_info info{};
  void* entry = nullptr;
  if (dladdr1(address, &info, &entry, RTLD_DL_SYMENT) != 0 && info.dli_saddr != nullptr) {
    const auto* const symbol = static_cast<const ElfW(Sym)*>(entry);
    const byte_range variable(static_cast<const std::byte*>(info.dli_saddr), symbol->st_size);
    if (holds(variable, address)) return "the variable '" + demangled(info.dli_sname) + '\'';
  }
  return "a global variable";
}

void block::check_variables(std::span<const std::span<const std::byte>> variables) const {
  for (const byte_range range : variables) {
    const std::size_t first = -reinterpret_cast<std::uintptr_t>(range.data()) % sizeof(void*);
    for (std::size_t at = first; at + sizeof(void*) <= range.size(); at += sizeof(void*)) {
      const auto* const variable = reinterpret_cast<const void* const*>(range.data() + at);
      const void* const value = __atomic_load_n(variable, __ATOMIC_RELAXED);
      if (fibers_.may_hold(value) && is_local(value)) [[unlikely]] {  // may_hold() is inlined
        violate(rule::local_pointer,
                "passes its child a pointer to local memory in " + variable_name(variable));
      }
    }
  }
}
#endif

void block::check_arguments(launch_arguments arguments) const {
  const bool is_searched = run_->may_search_variables();
  auto [kernel, shared, variables] = find_memory(is_searched ? grid_->request.kernel : nullptr);
  shared.emplace_back(shared_.data(), grid_->request.dynamic_shared);
  const argument_copies copies(arguments);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    void* const copy = copies.addresses()[i];
    if (arguments[i].clear != nullptr && !arguments[i].clear(copy)) continue;
    const byte_range bytes(static_cast<const std::byte*>(copy), arguments[i].size);
    for (std::size_t at = 0; at + sizeof(void*) <= bytes.size(); at += sizeof(void*)) {
      const void* address = nullptr;
      std::memcpy(&address, bytes.data() + at, sizeof address);
      if (address == nullptr) continue;
      const auto report = [&](rule broken, const char* memory) {
        violate(broken, std::string("passes its child a pointer to ") + memory +
                            " memory in argument " + std::to_string(i + 1));
      };
      if (std::ranges::any_of(shared, [&](byte_range r) { return holds(r, address); })) {
        report(rule::shared_pointer, "shared");
      }
      if (is_local(address)) report(rule::local_pointer, "local");
    }
  }
  if (is_searched) check_variables(variables);
}

void warn_of_host_memory(const launch_request& launch, int number, const void* address) {
  const auto is_known = [](const void* at) {
    Dl_info info{};  // a variable of the program, or of a library
    return device::instance().type_of(at) != builtins::cudaMemoryTypeUnregistered ||
           kernel_heap::holds(at) || dladdr(at, &info) != 0;
  };
  if (address == nullptr || block::current() != nullptr) return;
  // An address after an array is that of its last byte plus one.
  if (is_known(address) || is_known(static_cast<const std::byte*>(address) - 1)) return;
  static std::mutex mutex;
  static std::set<std::tuple<const void*, unsigned, int>> printed;
  const std::lock_guard lock(mutex);
  if (!printed.emplace(launch.kernel, launch.site.line(), number).second) return;
  std::fprintf(
      stderr,
      "ramify, CPU executor: warning: argument %d of kernel %s, launched at line %u, is the "
      "address of memory that no cudaMalloc...() returned: most GPUs cannot access it; use "
      "cudaMalloc(), cudaMallocManaged() or cudaMallocHost()\n",
      number, kernel_name(launch.kernel).c_str(), unsigned(launch.site.line()));
}

}  // namespace ramify::cpu::inline RAMIFY_ABI
