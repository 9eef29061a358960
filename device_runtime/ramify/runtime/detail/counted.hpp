// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Numbers of things in messages. Plain C++.

#include <cstddef>
#include <ramify/version.hpp>
#include <string>

namespace ramify::detail::runtime::inline RAMIFY_ABI {

/// Returns "1 grid", "2 grids", ...; `more` is the plural if it is not the noun with an s.
[[nodiscard]] inline std::string counted(std::size_t n, const std::string& noun,
                                         const std::string& more = {}) {
  return std::to_string(n) + ' ' + (n == 1 ? noun : more.empty() ? noun + 's' : more);
}

}  // namespace ramify::detail::runtime::inline RAMIFY_ABI
