// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Text files, read line by line, and the words and numbers of their lines. The readers of graphs,
/// and those of the example programs, follow the rule that examples/README.md states.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <ramify/runtime/detail/counted.hpp>
#include <ramify/runtime/error.hpp>
#include <ramify/version.hpp>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

namespace ramify::detail::files::inline RAMIFY_ABI {

using runtime::counted;

/// Returns the content of a file, or of standard input if the path is "-".
/// \throws bad_input if it cannot be read, is a folder, or is a device other than a terminal
[[nodiscard]] std::string read_whole_file(const std::filesystem::path&);

/// Returns the name of an input in messages: the path, or "standard input" for "-".
[[nodiscard]] std::string name_of_input(const std::filesystem::path&);

/// Removes blanks, tabs and carriage returns at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// Writes control characters, characters that change the direction of text, and bytes that are not
/// UTF-8 as \n, \t, \r, \x1b or \u202e. They could damage a terminal or hide text.
[[nodiscard]] std::string escaped(std::string_view text);

/// Returns a text from a file for a message: in quotes, escaped, its first 60 bytes at most.
[[nodiscard]] std::string in_quotes(std::string_view text);

/// Parses all of `text` as a number, without a plus sign. Returns none if it is not a number or is
/// out of range.
template <class Number>
[[nodiscard]] std::optional<Number> parse(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The result of parse_number().
enum class number_error {
  none,
  not_a_number,
  overflow,   ///< its magnitude is too large for the type
  underflow,  ///< it is not 0, but the type has no positive number that is so small
};

/// Returns whether a decimal number without a sign, which no type can hold, is more than 1.
[[nodiscard]] bool is_more_than_one(std::string_view digits);

/// Parses all of `word` as a number in files and options: decimal, with or without a plus sign.
/// `number` is unchanged if there is an error.
template <class Number>
[[nodiscard]] number_error parse_number(std::string_view word, Number& number) {
  if (word.starts_with('+') && !word.starts_with("+-")) word.remove_prefix(1);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error == std::errc::invalid_argument || end != word.data() + word.size()) {
    // A negative number is out of the range of an unsigned type.
    std::int64_t negative = 0;
    const bool is_negative = std::is_unsigned_v<Number> && word.starts_with('-') &&
                             parse_number(word, negative) != number_error::not_a_number;
    return is_negative ? number_error::overflow : number_error::not_a_number;
  }
  if (error == std::errc{}) return number_error::none;
  if (std::is_integral_v<Number>) return number_error::overflow;
  const bool is_large = is_more_than_one(word.substr(word.starts_with('-') ? 1 : 0));
  return is_large ? number_error::overflow : number_error::underflow;
}

/// Returns the predicate of a message about a word that parse_number() refuses, such as "is not a
/// number" or "is too small for a double (underflow)".
template <class Number>
[[nodiscard]] std::string describe(number_error error) {
  if constexpr (std::is_integral_v<Number>) {
    if (error == number_error::not_a_number) return "is not a whole number";
    using limits = std::numeric_limits<Number>;
    return "is not in [" + std::to_string(limits::min()) + ", " + std::to_string(limits::max()) +
           ']';
  } else {
    const std::string type = std::is_same_v<Number, float> ? "float" : "double";
    if (error == number_error::not_a_number) return "is not a number";
    if (error == number_error::underflow) return "is too small for a " + type + " (underflow)";
    return "is too large for a " + type + " (overflow)";
  }
}

/// Returns whether a type of floating-point numbers rounds a number that is written as a whole
/// number: "16777217" or "16777217.0" for float. The number must be in the range of the type.
template <class Real>
[[nodiscard]] bool rounds_whole_number(std::string_view word) {
  if (word.size() <= std::numeric_limits<Real>::digits10) return false;
  if (word.starts_with('-') || word.starts_with('+')) word.remove_prefix(1);
  const std::size_t point = std::min(word.find('.'), word.size());
  if (point < word.size() && word.find_first_not_of('0', point + 1) == word.npos) {
    word = word.substr(0, point);
  }
  if (word.empty() || word.find_first_not_of("0123456789") != word.npos) return false;
  word.remove_prefix(std::min(word.find_first_not_of('0'), word.size() - 1));
  std::array<char, 512> digits;
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(),
                                     parse<Real>(word).value(), std::chars_format::fixed, 0);
  return word != std::string_view(digits.data(), written.ptr);
}

/// Appends a number in the shortest form that is parsed to the same number.
template <class Number>
void append_number(std::string& text, Number number) {
  std::array<char, 32> digits;
  text.append(digits.data(),
              std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

/// One line of a file.
struct text_line {
  const std::filesystem::path& path;
  std::size_t number;     ///< from 1 on
  std::string_view text;  ///< trimmed
  bool is_first = false;  ///< the first line that has data

  /// Returns whether the line is neither empty nor a comment, which begins with # or %.
  [[nodiscard]] bool has_data() const {
    return !text.empty() && text.front() != '#' && text.front() != '%';
  }

  /// The result of separate().
  struct separation {
    std::size_t count = 0;        ///< number of words
    const char* fault = nullptr;  ///< the end of a message about the line; null: no fault
  };
  /// Splits the line into words. One comma, one semicolon, or blanks and tabs separate two words.
  /// `words` gets the first ones. A field without a word, and a line with commas and semicolons,
  /// have a fault.
  [[nodiscard]] separation separate(std::span<std::string_view> words) const;

  /// Splits the line as separate() does. Returns the number of words. \throws bad_input for a fault
  std::size_t split(std::span<std::string_view> words) const;

  /// Returns all words of the line, as split() separates them. \throws bad_input
  [[nodiscard]] std::vector<std::string_view> words() const;

  /// Returns whether the line has words without a fault, all of them begin with a letter, _ or a
  /// quotation mark, and none is a number: it names the columns of a table.
  [[nodiscard]] bool is_header() const;

  /// Parses a word of the line. `name` is its meaning in the message. \throws bad_input
  template <class Number>
  [[nodiscard]] Number parse_word(std::string_view name, std::string_view word) const {
    Number value{};
    const number_error error = parse_number(word, value);
    if (error != number_error::none) reject_word(name, word, describe<Number>(error));
    return value;
  }
  /// Parses a word as a finite number.
  /// \throws bad_input also for a whole number that a double rounds
  [[nodiscard]] double parse_finite(std::string_view name, std::string_view word) const;

  /// Returns the index of the column that a header line calls `name`, in upper or lower case, or
  /// none. \throws bad_input if two columns have the name
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;

  /// Returns a message about this line: "file, line 3: 'text' what".
  [[nodiscard]] std::string message(std::string_view what) const;
  /// Throws a message about this line. The message mentions a header if the line is one and is the
  /// first with data. \throws bad_input
  [[noreturn]] void reject(std::string_view what) const;
  /// Throws the message "file, line 3: 'text' has a <name> of '<word>', which <what>".
  /// \throws bad_input
  [[noreturn]] void reject_word(std::string_view name, std::string_view word,
                                std::string_view what) const;
};

/// The lines of the elements of a file. The memory is proportional to the number of lines that are
/// skipped between two elements.
class line_numbers {
 public:
  /// Adds the line of the next element.
  void add(std::size_t line);
  [[nodiscard]] std::size_t operator[](std::size_t element) const;

 private:
  /// From this element on, the line of an element is its index plus `offset`.
  struct jump {
    std::size_t element, offset;
  };
  std::size_t size_ = 0;
  std::vector<jump> jumps_;
};

/// Removes the byte order mark of UTF-8 from the beginning of a text. \throws bad_input for UTF-16
[[nodiscard]] std::string_view without_byte_order_mark(const std::filesystem::path& path,
                                                       std::string_view text);

/// Calls `visit` for each line of the text `content` of a file. \throws bad_input
template <class Visit>
void for_each_line(const std::filesystem::path& path, std::string_view content, Visit visit) {
  std::string_view rest = without_byte_order_mark(path, content);
  bool is_first = true;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const auto end = std::min(rest.find('\n'), rest.size());
    text_line line{path, number, trimmed(rest.substr(0, end))};
    line.is_first = is_first && line.has_data();
    if (line.is_first) is_first = false;
    visit(std::as_const(line));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

/// Reads a text file, and calls `visit` for each line. \throws bad_input
template <class Visit>
void for_each_line(const std::filesystem::path& path, Visit visit) {
  for_each_line(path, read_whole_file(path), visit);
}

/// Reads a text file, and calls `visit` for each line that is neither empty nor a comment.
/// \throws bad_input
template <class Visit>
void for_each_data_line(const std::filesystem::path& path, Visit visit) {
  for_each_line(path, [&](const text_line& line) {
    if (line.has_data()) visit(line);
  });
}

}  // namespace ramify::detail::files::inline RAMIFY_ABI
