// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Random changes of valid texts.

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <string_view>

namespace reader_tests {

/// Changes a text at one to four random places.
inline std::string mutated(std::string text, std::mt19937_64& random) {
  using namespace std::string_view_literals;
  constexpr std::array pieces{"\0"sv,         "\n"sv,
                              "\r\n"sv,       "\xef\xbb\xbf"sv,
                              "\xff\xfe"sv,   "\xc3"sv,
                              "-"sv,          "+"sv,
                              ","sv,          " "sv,
                              "\t"sv,         "."sv,
                              "e"sv,          "0x1p4"sv,
                              "nan"sv,        "-inf"sv,
                              ";"sv,          "#"sv,
                              "+1"sv,         "x"sv,
                              "\xc2\x9b"sv,   "9007199254740993"sv,
                              "1e400"sv,      "1e-400"sv,
                              "2147483646"sv, "2147483647"sv,
                              "-1"sv,         "4294967296"sv,
                              "1048577"sv,    "18446744073709551616"sv,
                              "\x1b[2J"sv,    ",,,,,,"sv};
  const auto place = [&] { return std::size_t(random() % (text.size() + 1)); };
  for (auto changes = 1 + random() % 4; changes > 0; --changes) {
    const std::size_t at = place();
    const std::size_t length = std::min<std::size_t>(random() % 20, text.size() - at);
    switch (random() % 6) {
      case 0: text.insert(at, pieces[random() % pieces.size()]); break;
      case 1: text.replace(at, length, pieces[random() % pieces.size()]); break;
      case 2: text.erase(at, length); break;
      case 3: text.insert(place(), text.substr(at, length)); break;
      case 4: text.insert(at, 1 + random() % 5000, char(random())); break;
      default:
        if (at < text.size()) text[at] = char(random());
    }
  }
  return text;
}

}  // namespace reader_tests
