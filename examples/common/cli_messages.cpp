// SPDX-License-Identifier: BSD-3-Clause
#include "cli_messages.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "text_file.hpp"

namespace common {
namespace {

/// Returns the number of insertions, deletions and replacements of a character between two words
/// (Levenshtein).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = std::exchange(row[j + 1], std::min({replaced, row[j] + 1, row[j + 1] + 1}));
    }
  }
  return row.back();
}

/// Returns the option that an unknown argument may mean: one that begins with the argument, or the
/// most similar one. Returns an empty string if there is none.
std::string option_like(const CLI::App& app, const std::string& argument) {
  const std::string word = argument.substr(0, argument.find('='));
  const std::string letters = word.substr(std::min(word.find_first_not_of('-'), word.size()));
  if (letters.empty()) return {};
  std::string closest;
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      std::size_t distance = edit_distance(word, "--" + name);
      if (letters.size() > 1 && name.starts_with(letters)) distance = 0;
      // An argument without a dash is probably a value whose option is missing.
      if (!word.starts_with('-') && name != letters) continue;
      if (distance < least) {
        least = distance;
        closest = name;
      }
    }
  }
  return closest.empty() ? "" : "--" + closest;
}

}  // namespace

std::string unknown_argument(const CLI::App& app) {
  const std::string given = app.remaining().front();
  std::string meant = option_like(app, given);
  if (meant.empty() && app.get_option_no_throw("--input") != nullptr &&
      ::access(given.c_str(), F_OK) == 0) {
    meant = "--input " + in_quotes(given);
  }
  return "unknown argument " + in_quotes(given) +
         (meant.empty() ? "; --help lists the options" : "; did you mean " + meant + "?");
}

std::string in_terms_of_options(const CLI::App& app, std::string_view message) {
  const auto is_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; };
  std::string result;
  for (bool is_first = true; !message.empty(); is_first = false) {
    const auto end =
        static_cast<std::size_t>(std::ranges::find_if_not(message, is_name) - message.begin());
    std::string word(message.substr(0, end));
    message.remove_prefix(end);
    // A field of a struct, a name of several parts, or the subject of the message.
    const bool is_field = std::ranges::any_of(
        std::array{"environment.", "_options.", "_setup.", "_config.", "_field."},
        [&](const char* owner) { return word.find(owner) != word.npos; });
    const bool is_subject = is_first && message.starts_with(" is ");
    if (is_field || is_subject || (word.find('_') != word.npos && word.find('.') == word.npos)) {
      std::string name = word.substr(word.rfind('.') + 1);  // all of it if there is no point
      std::ranges::replace(name, '_', '-');
      if (app.get_option_no_throw("--" + name) != nullptr) word = "--" + name;
    }
    result += word;
    const auto next =
        static_cast<std::size_t>(std::ranges::find_if(message, is_name) - message.begin());
    result += message.substr(0, next);
    message.remove_prefix(next);
  }
  return result;
}

}  // namespace common
