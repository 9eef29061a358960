// SPDX-License-Identifier: BSD-3-Clause
#include "text_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdint>

namespace ramify::detail::files::inline RAMIFY_ABI {
namespace {

/// An open file; the destructor closes it, unless it is standard input.
class input_file {
 public:
  explicit input_file(const std::filesystem::path& path)
      : file_(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~input_file() {
    if (file_ > STDIN_FILENO) ::close(file_);
  }
  input_file(const input_file&) = delete;
  input_file& operator=(const input_file&) = delete;

  [[nodiscard]] int number() const { return file_; }

 private:
  int file_;
};

/// Returns whether a file is a device without an end, such as /dev/zero.
bool is_endless(int file, const struct stat& attributes) {
  struct stat null {};
  if (!S_ISCHR(attributes.st_mode) || ::isatty(file) == 1) return false;
  return ::stat("/dev/null", &null) != 0 || attributes.st_rdev != null.st_rdev;
}

constexpr auto separators = [] {
  std::array<bool, 256> table{};
  for (const char c : {' ', '\t', ',', ';'}) table[static_cast<unsigned char>(c)] = true;
  return table;
}();
constexpr bool is_separator(char c) { return separators[static_cast<unsigned char>(c)]; }

/// A character of UTF-8, and the number of its bytes. A byte that begins none has no code.
struct character {
  std::optional<char32_t> code;
  std::size_t bytes = 1;
};

/// Returns the first character of a text that is not empty.
character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return {byte(0)};
  const std::size_t bytes = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < bytes) return {};
  char32_t code = byte(0) & (0xffu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  // Neither a longer form than necessary, nor half of a pair of UTF-16, nor out of range.
  constexpr std::array<char32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  if (code < least[bytes] || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff) return {};
  return {code, bytes};
}

/// Returns whether a character could damage a terminal or hide text: a control character (C0, DEL,
/// C1), one that ends a line, or one that changes the direction of text. All are below 2^16.
constexpr bool is_harmful(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

}  // namespace

std::string name_of_input(const std::filesystem::path& path) {
  return path == "-" ? "standard input" : path.string();
}

std::string read_whole_file(const std::filesystem::path& path) {
  const std::string name = name_of_input(path);
  const auto fail = [&] {
    throw bad_input("cannot read " + name + ": " +
                    std::error_code(errno, std::generic_category()).message());
  };
  const input_file file(path);
  struct stat attributes {};
  if (file.number() < 0 || ::fstat(file.number(), &attributes) != 0) fail();
  if (S_ISDIR(attributes.st_mode)) throw bad_input(name + " is a directory");
  if (is_endless(file.number(), attributes)) throw bad_input(name + " is a device, not a file");

  std::string content;
  std::array<char, 65536> piece;
  for (;;) {
    const ssize_t bytes = ::read(file.number(), piece.data(), piece.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) fail();
    if (bytes == 0) return content;
    content.append(piece.data(), static_cast<std::size_t>(bytes));
  }
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  const auto first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

bool is_more_than_one(std::string_view digits) {
  // The number is 0.d1 d2 ... * 10^power with a first digit d1 that is not 0.
  const std::size_t e = std::min(digits.find_first_of("eE"), digits.size());
  const std::string_view mantissa = digits.substr(0, e);
  const auto point = static_cast<std::int64_t>(std::min(mantissa.find('.'), e));
  const auto first = static_cast<std::int64_t>(mantissa.find_first_not_of("0."));
  const std::int64_t power = first < point ? point - first : point - first + 1;
  if (e == digits.size()) return power > 0;
  std::int64_t exponent = 0;
  if (parse_number(digits.substr(e + 1), exponent) == number_error::overflow) {
    return digits[e + 1] != '-';
  }
  return exponent > -power;
}

text_line::separation text_line::separate(std::span<std::string_view> words) const {
  constexpr const char* empty_field = "has an empty field";
  std::size_t count = 0;
  char separator = 0;    // the comma or the semicolon of this line
  bool is_empty = true;  // no word since the last separator
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (!is_separator(c)) {
      const std::size_t begin = i;
      while (i < text.size() && !is_separator(text[i])) ++i;
      if (count < words.size()) words[count] = text.substr(begin, i - begin);
      ++count;
      is_empty = false;
      continue;
    }
    ++i;
    if (c == ' ' || c == '\t') continue;
    if (is_empty) return {count, empty_field};
    if (separator != 0 && separator != c) {
      return {count,
              "has commas and semicolons; only one of them may separate words, and a point begins "
              "decimals"};
    }
    separator = c;
    is_empty = true;
  }
  if (separator != 0 && is_empty) return {count, empty_field};
  return {count};
}

std::size_t text_line::split(std::span<std::string_view> words) const {
  const auto [count, fault] = separate(words);
  if (fault != nullptr) reject(fault);
  return count;
}

std::vector<std::string_view> text_line::words() const {
  std::vector<std::string_view> all(split({}));
  split(all);
  return all;
}

bool text_line::is_header() const {
  if (separate({}).fault != nullptr) return false;
  const auto is_name = [](std::string_view word) {
    const auto c = static_cast<unsigned char>(word.front());
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c > 0x7f;
    double value = 0;
    return (is_letter || c == '_' || c == '"' || c == '\'') &&
           parse_number(word, value) == number_error::not_a_number;
  };
  const auto all = words();
  return !all.empty() && std::ranges::all_of(all, is_name);
}

double text_line::parse_finite(std::string_view name, std::string_view word) const {
  double value = 0;
  const number_error error = parse_number(word, value);
  if (error == number_error::overflow || error == number_error::underflow) {
    reject_word(name, word, describe<double>(error));
  }
  if (error != number_error::none || !std::isfinite(value)) {
    reject_word(name, word, "is not a finite number");
  }
  if (rounds_whole_number<double>(word)) reject_word(name, word, "a double would round");
  return value;
}

std::optional<std::size_t> text_line::column(std::string_view name) const {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; };
  std::optional<std::size_t> found;
  const auto names = words();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!std::ranges::equal(names[i], name, {}, lower, lower)) continue;
    if (found) {
      throw bad_input(message("is a header line with two columns " + in_quotes(name)));
    }
    found = i;
  }
  return found;
}

std::string text_line::message(std::string_view what) const {
  return name_of_input(path) + ", line " + std::to_string(number) + ": " + in_quotes(text) + ' ' +
         escaped(what);
}

void text_line::reject(std::string_view what) const {
  throw bad_input(message(what) +
                  (is_first && is_header() ? "; a header line must be removed" : ""));
}

void text_line::reject_word(std::string_view name, std::string_view word,
                            std::string_view what) const {
  reject("has a " + std::string(name) + " of " + in_quotes(word) + ", which " + std::string(what));
}

void line_numbers::add(std::size_t line) {
  if (jumps_.empty() || size_ + jumps_.back().offset != line)
    jumps_.push_back({size_, line - size_});
  ++size_;
}

std::size_t line_numbers::operator[](std::size_t element) const {
  const auto after = std::ranges::upper_bound(jumps_, element, {}, &jump::element);
  return element + (after - 1)->offset;
}

std::string escaped(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string result;
  while (!text.empty()) {
    const auto [code, bytes] = first_character(text);
    const char c = text.front();
    if (code && !is_harmful(*code)) {
      result += text.substr(0, bytes);
    } else if (c == '\n' || c == '\t' || c == '\r') {
      result.append(1, '\\').append(1, c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
    } else {
      const char32_t number = code.value_or(static_cast<unsigned char>(c));
      result += bytes == 1 ? "\\x" : "\\u";
      for (int shift = bytes == 1 ? 4 : 12; shift >= 0; shift -= 4) {
        result += digits[(number >> shift) % 16];
      }
    }
    text.remove_prefix(bytes);
  }
  return result;
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t most = 60;
  if (text.size() <= most) return "'" + escaped(text) + "'";
  std::size_t end = most;  // not within a character of UTF-8, whose later bytes are 10xxxxxx
  while (end > most - 4 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return "'" + escaped(text.substr(0, end)) + "...'";
}

std::string_view without_byte_order_mark(const std::filesystem::path& path, std::string_view text) {
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    throw bad_input(name_of_input(path) + " is text in UTF-16; convert it to UTF-8");
  }
  constexpr std::string_view mark = "\xef\xbb\xbf";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

}  // namespace ramify::detail::files::inline RAMIFY_ABI
