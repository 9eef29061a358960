// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Notices: sentences that announce a long wait. A program may receive and print them; Ramify
/// prints nothing itself.
///
///     ramify::set_notice_handler([](std::string_view notice) { std::cerr << notice << '\n'; });

#include <atomic>
#include <ramify/version.hpp>
#include <string>
#include <string_view>

namespace ramify::inline RAMIFY_ABI {

/// A function that receives a notice. Ramify may call it from any thread.
using notice_handler = void (*)(std::string_view notice);

}  // namespace ramify::inline RAMIFY_ABI

namespace ramify::detail::runtime::inline RAMIFY_ABI {

inline std::atomic<notice_handler> current_notice_handler = nullptr;

/// Passes a notice to the program's handler, if it has set one.
inline void notify(std::string_view notice) {
  if (const notice_handler handler = current_notice_handler.load()) handler(notice);
}

/// Returns whether a program that was compiled for the given architectures has machine code for a
/// device of compute capability `major`.`minor`. `architectures` is a list such as "75,86,90a".
/// Machine code runs on devices with the same major number and an equal or larger minor number;
/// machine code with an a, such as "90a", runs only on compute capability 9.0.
constexpr bool has_machine_code(std::string_view architectures, int major, int minor) {
  while (!architectures.empty()) {
    const std::string_view item = architectures.substr(0, architectures.find(','));
    architectures.remove_prefix(item.size() < architectures.size() ? item.size() + 1 : item.size());
    int number = 0;
    std::size_t digits = 0;
    for (; digits < item.size() && item[digits] >= '0' && item[digits] <= '9'; ++digits) {
      number = 10 * number + (item[digits] - '0');
    }
    const bool exact = item.ends_with('a');
    const bool suits = exact ? number % 10 == minor : number % 10 <= minor;
    if (number / 10 == major && suits) return true;
  }
  return false;
}

/// Returns whether the driver compiles the kernels of a program for a device of compute capability
/// `major`.`minor`. `machine_code` is the list for has_machine_code(), or "unknown", and
/// `oldest_ptx` is the oldest architecture with PTX, such as 75, or 0. Returns false also if the
/// program has no code for the device, or if that is unknown.
constexpr bool is_compiled_by_driver(std::string_view machine_code, int oldest_ptx, int major,
                                     int minor) {
  if (machine_code == "unknown" || has_machine_code(machine_code, major, minor)) return false;
  return oldest_ptx != 0 && oldest_ptx <= 10 * major + minor;
}

/// Returns the notice that the driver compiles all kernels for a device. `device` is its name.
inline std::string compilation_notice(std::string_view device, int major, int minor) {
  const std::string capability = std::to_string(major) + '.' + std::to_string(minor);
  const std::string number = std::to_string(10 * major + minor);
  return "this program has no machine code for the " + std::string(device) +
         " (compute capability " + capability +
         "), so the driver compiles its kernels, which can take minutes; it keeps the result for "
         "the next run. A build with CMAKE_CUDA_ARCHITECTURES=" +
         number + "-real avoids this.";
}

}  // namespace ramify::detail::runtime::inline RAMIFY_ABI

namespace ramify::inline RAMIFY_ABI {

/// Sets the function that receives notices. A null pointer, which is the default, discards them.
/// Returns the previous function. Thread-safe.
inline notice_handler set_notice_handler(notice_handler handler) {
  return detail::runtime::current_notice_handler.exchange(handler);
}

}  // namespace ramify::inline RAMIFY_ABI
