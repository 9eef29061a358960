// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Files of numbers: text with one a line, or raw binary.

#include <cstdint>
#include <filesystem>
#include <ostream>
#include <string_view>
#include <variant>
#include <vector>

#include "text_file.hpp"

namespace common {

using keys_of_any_type =
    std::variant<std::vector<std::int32_t>, std::vector<std::uint32_t>, std::vector<std::int64_t>,
                 std::vector<std::uint64_t>, std::vector<float>, std::vector<double>>;

/// No keys yet, of the type that "i32", "u32", "i64", "u64", "f32" or "f64" names.
/// \throws std::invalid_argument
[[nodiscard]] keys_of_any_type keys_of_type(std::string_view name);
[[nodiscard]] std::string_view type_name(const keys_of_any_type&);

struct numbers {
  keys_of_any_type keys;
  std::vector<std::uint64_t> values;  ///< one a key, or none at all
};

/// Reads one number a line, or with `pairs` a number and, after a space or tab, an unsigned value.
/// The keys become int64 if all are integers in its range, else uint64 if they are in that one's,
/// else double. \throws bad_input with the number of the first line that is malformed, or that holds
/// a whole number which becoming a double would round
[[nodiscard]] numbers read_text(const std::filesystem::path&, bool pairs);

/// Reads keys of a type in the machine's byte order, with `pairs` each followed by a uint64 value.
/// \throws bad_input if the size of the file is no multiple
[[nodiscard]] numbers read_raw(const std::filesystem::path&, std::string_view type, bool pairs);

/// Writes what read_text() reads: each number in the shortest form that reads back as the same.
void write_text(std::ostream&, const numbers&);
/// Writes what read_raw() reads.
void write_raw(std::ostream&, const numbers&);

}  // namespace common
