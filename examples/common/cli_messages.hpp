// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Error messages about the command line, in terms of its options.

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace common {

/// Returns the message about an argument that is no option, with a suggestion.
[[nodiscard]] std::string unknown_argument(const CLI::App& app);

/// Replaces the names of C++ fields in a message of the library by the names of the options:
/// "nbody_options.theta is 3", "max_blocks is 2" and "capacity is 5" become "--theta is 3", ...
[[nodiscard]] std::string in_terms_of_options(const CLI::App& app, std::string_view message);

}  // namespace common
