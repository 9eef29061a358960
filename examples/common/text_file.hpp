// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Text files, read line by line, and numbers in their lines.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace common {

/// Thrown if a file cannot be read or is malformed. The message names the position.
class bad_input : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns the content of a file, or of standard input if the path is "-".
/// \throws bad_input if it cannot be read, is a folder, or is a device other than a terminal
[[nodiscard]] std::string read_whole_file(const std::filesystem::path&);

/// Returns the name of an input in messages: the path, or "standard input" for "-".
[[nodiscard]] std::string name_of_input(const std::filesystem::path&);

/// Removes blanks, tabs and carriage returns at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// Writes control characters, which could damage a terminal or hide text, as \n, \t, \r or \x1b.
[[nodiscard]] std::string escaped(std::string_view text);

/// Returns a text from a file for a message: in quotes, escaped, its first 60 bytes at most.
[[nodiscard]] std::string in_quotes(std::string_view text);

/// Parses all of `text` as a number. Returns none if it is not a number or is out of range.
template <class Number>
[[nodiscard]] std::optional<Number> parse(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Appends a number in the shortest form that is parsed to the same number.
template <class Number>
void append_number(std::string& text, Number number) {
  std::array<char, 32> digits;
  text.append(digits.data(),
              std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

/// Splits a line at its commas. The fields are trimmed. Returns false if the line does not have
/// exactly as many fields as `fields` has elements.
[[nodiscard]] bool split_at_commas(std::string_view line, std::span<std::string_view> fields);

/// Returns the next word of a text and removes it. Words are separated by blanks, tabs and commas.
/// Returns an empty word at the end.
[[nodiscard]] std::string_view next_word(std::string_view& text);

/// Parses the field `name` as a finite number. Returns a fault for text_line::reject(), or an empty
/// string.
[[nodiscard]] std::string parse_finite(std::string_view name, std::string_view field,
                                       double& number);

/// One line of a file.
struct text_line {
  const std::filesystem::path& path;
  std::size_t number;     ///< from 1 on
  std::string_view text;  ///< trimmed

  /// Returns a message about this line: "file, line 3: 'text' what".
  [[nodiscard]] std::string message(const std::string& what) const {
    return name_of_input(path) + ", line " + std::to_string(number) + ": " + in_quotes(text) + ' ' +
           escaped(what);
  }
  /// Throws a message about this line. \throws bad_input
  [[noreturn]] void reject(const std::string& what) const { throw bad_input(message(what)); }
};

/// Removes the byte order mark of UTF-8 from the beginning of a text. \throws bad_input for UTF-16
[[nodiscard]] std::string_view without_byte_order_mark(const std::filesystem::path& path,
                                                       std::string_view text);

/// Calls `visit` for each line of the text `content` of a file. \throws bad_input
template <class Visit>
void for_each_line(const std::filesystem::path& path, std::string_view content, Visit visit) {
  std::string_view rest = without_byte_order_mark(path, content);
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const auto end = std::min(rest.find('\n'), rest.size());
    visit(text_line{path, number, trimmed(rest.substr(0, end))});
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

/// Reads a text file, and calls `visit` for each line. \throws bad_input
template <class Visit>
void for_each_line(const std::filesystem::path& path, Visit visit) {
  for_each_line(path, read_whole_file(path), visit);
}

}  // namespace common
