// SPDX-License-Identifier: BSD-3-Clause
#include "text_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>

namespace common {
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

std::string_view next_word(std::string_view& text) {
  constexpr std::string_view blank = " \t,";
  text.remove_prefix(std::min(text.find_first_not_of(blank), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(blank));
  text.remove_prefix(word.size());
  return word;
}

bool split_at_commas(std::string_view line, std::span<std::string_view> fields) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto comma = line.find(',');
    if ((comma == std::string_view::npos) != (i + 1 == fields.size())) return false;
    fields[i] = trimmed(line.substr(0, comma));
    if (comma != std::string_view::npos) line.remove_prefix(comma + 1);
  }
  return true;
}

std::string parse_finite(std::string_view name, std::string_view field, double& number) {
  const auto value = parse<double>(field);
  if (!value || !std::isfinite(*value)) {
    return "has a " + std::string(name) + " of " + in_quotes(field) +
           ", which is not a finite number";
  }
  number = *value;
  return {};
}

std::string escaped(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      result += c;
    } else if (c == '\n' || c == '\t' || c == '\r') {
      result.append(1, '\\').append(1, c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
    } else {
      result.append("\\x").append(1, digits[byte / 16]).append(1, digits[byte % 16]);
    }
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

}  // namespace common
