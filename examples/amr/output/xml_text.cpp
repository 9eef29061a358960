// SPDX-License-Identifier: BSD-3-Clause
#include "xml_text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace common {
namespace {

constexpr std::array<std::pair<char, std::string_view>, 8> escapes{{{'&', "&amp;"},
                                                                    {'<', "&lt;"},
                                                                    {'>', "&gt;"},
                                                                    {'"', "&quot;"},
                                                                    {'\'', "&apos;"},
                                                                    {'\n', "&#10;"},
                                                                    {'\r', "&#13;"},
                                                                    {'\t', "&#9;"}}};

}  // namespace

std::string xml_escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto* escape = std::ranges::find(escapes, c, &std::pair<char, std::string_view>::first);
    if (escape == escapes.end()) {
      result += c;
    } else {
      result += escape->second;
    }
  }
  return result;
}

std::optional<std::string> xml_unescaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    if (text.front() != '&') {
      result += text.front();
      text.remove_prefix(1);
      continue;
    }
    const auto* escape =
        std::ranges::find_if(escapes, [&](const auto& e) { return text.starts_with(e.second); });
    if (escape == escapes.end()) return std::nullopt;
    result += escape->first;
    text.remove_prefix(escape->second.size());
  }
  return result;
}

}  // namespace common
