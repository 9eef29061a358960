// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Options for numbers. A bad number is an error when it is parsed.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>

namespace common {

/// Returns a transformation for the option of a whole number in [least, most]. The number is
/// decimal, also with leading zeros. "1e6", "1M" (10^6) and "1Mi" (2^20) are accepted.
[[nodiscard]] CLI::Validator whole_number(
    std::uint64_t least, std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

/// Adds an option for a whole number of at least `least` that the type of `target` can hold. The
/// help shows the default, the value of `target`.
template <class T>
CLI::Option* add_whole_number(CLI::App& app, const std::string& name, T& target,
                              const std::string& about, std::uint64_t least = 0) {
  return app.add_option(name, target, about)
      ->transform(whole_number(least, std::uint64_t{std::numeric_limits<T>::max()}))
      ->capture_default_str();
}

/// Returns a check for decimal numbers in [least, most].
[[nodiscard]] std::function<std::string(const std::string&)> number_in(double least, double most);

/// The numbers in [least, most].
struct number_range {
  double least, most;
};

/// Adds an option for a decimal number in a range. The help shows the default, the value of
/// `target`.
CLI::Option* add_number(CLI::App& app, const char* name, double& target, number_range range,
                        const char* about);

}  // namespace common
