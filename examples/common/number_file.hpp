// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Files of numbers: text with one number a line, or raw binary.

#include <cstddef>
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

/// Returns an empty vector of the type that "i32", "u32", "i64", "u64", "f32" or "f64" names.
/// \throws std::invalid_argument
[[nodiscard]] keys_of_any_type keys_of_type(std::string_view name);
/// Returns the name of the type, as keys_of_type() reads it.
[[nodiscard]] std::string_view type_name(const keys_of_any_type&);

/// The content of a file.
struct numbers {
  keys_of_any_type keys;
  std::vector<std::uint64_t> values;  ///< one for each key, or empty
};

/// Reads one number a line, or with `pairs` a number and an unsigned value.
/// The keys are int64 if all are integers in its range, else uint64 if all are integers in its
/// range, else double. \throws bad_input with the number of the first line that is malformed, or
/// whose whole number a double cannot hold exactly
[[nodiscard]] numbers read_text(const std::filesystem::path&, bool pairs);

/// Reads keys of a type in the machine's byte order, with `pairs` each followed by a uint64 value.
/// \throws bad_input if the size of the file is no multiple of the size of an element
[[nodiscard]] numbers read_raw(const std::filesystem::path&, std::string_view type, bool pairs);

/// Such a file, from which several processes read parts. Move-only.
class raw_input {
 public:
  /// Opens a regular file. \throws bad_input if it cannot be read
  explicit raw_input(const std::filesystem::path& path);
  ~raw_input();
  raw_input(const raw_input&) = delete;
  raw_input& operator=(const raw_input&) = delete;

  /// Returns whether the input is a regular file. Others, such as pipes, cannot be divided.
  [[nodiscard]] bool is_regular() const { return file_ >= 0; }
  /// Returns the size of the regular file when it was opened, or 0.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// Returns a hash of the content of a regular file, or 0. Of a file of more than 16 MiB it is a
  /// hash of 256 pieces of 64 KiB at equal distances, the first and the last included.
  /// \throws bad_input
  [[nodiscard]] std::uint64_t sample_hash() const;
  /// Reads part `part` of `parts` equal parts. If the input is no regular file, part 0 has all
  /// elements. \throws bad_input as read_raw(), and if the size of the file has changed
  [[nodiscard]] numbers read(std::string_view type, bool pairs, std::size_t part,
                             std::size_t parts) const;

 private:
  /// Reads exactly `bytes` bytes. \throws bad_input
  [[nodiscard]] std::string read_bytes(std::uint64_t begin, std::size_t bytes) const;

  std::filesystem::path path_;
  int file_ = -1;
  std::uint64_t bytes_ = 0;
};

/// Writes the format of read_text(): each number in the shortest form that reads back as the same
/// number.
void write_text(std::ostream&, const numbers&);
/// Writes the format of read_raw().
void write_raw(std::ostream&, const numbers&);

}  // namespace common
