// SPDX-License-Identifier: BSD-3-Clause
#include "text_file.hpp"

#include <array>
#include <cerrno>
#include <fstream>

namespace common {

std::string read_whole_file(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw bad_input(path.string() + " is a directory");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw bad_input("cannot read " + path.string() + ": " +
                    std::error_code(errno, std::generic_category()).message());
  }
  std::string content;
  std::array<char, 65536> piece;
  while (file.read(piece.data(), piece.size()), file.gcount() > 0) {
    content.append(piece.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) throw bad_input("reading " + path.string() + " failed");
  return content;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  const auto first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

}  // namespace common
