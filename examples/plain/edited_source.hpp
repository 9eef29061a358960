// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A preprocessed source, searches in its tokens, and changes of its text.

#include <algorithm>
#include <cstddef>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "tokens.hpp"

namespace plain {

using std::size_t;
using std::string;
using std::string_view;
inline constexpr size_t npos = ~size_t{0};

class edited_source {
 public:
  explicit edited_source(string_view source)
      : source_(source), tokens_(tokenizer(source).run()), all_(tokens_.all) {}

  [[nodiscard]] bool is(size_t i, string_view text) const {
    return i < all_.size() && all_[i].text == text;
  }
  [[nodiscard]] bool is_name(size_t i) const {
    return i < all_.size() && all_[i].kind == token::type::name;
  }
  [[nodiscard]] bool in_system(size_t i) const { return tokens_.files[all_[i].file].is_system; }
  [[nodiscard]] size_t offset(size_t i) const {
    return static_cast<size_t>(all_[i].text.data() - source_.data());
  }
  [[nodiscard]] size_t end_offset(size_t i) const { return offset(i) + all_[i].text.size(); }
  [[nodiscard]] string_view text_between(size_t from, size_t to) const {
    return from < to ? source_.substr(offset(from), end_offset(to - 1) - offset(from))
                     : string_view{};
  }

  void print(size_t i, const char* kind, const string& what) const {
    std::cerr << tokens_.files[all_[i].file].name << ':' << all_[i].line << ": " << kind << ": "
              << what << '\n';
  }
  void error(size_t i, const string& what) {
    print(i, "error", what);
    ++errors_;
  }

  /// Replaces the tokens [from, to) and keeps the line feeds between them.
  void replace(size_t from, size_t to, string text) {
    const string_view old = text_between(from, to);
    text.append(static_cast<size_t>(std::count(old.begin(), old.end(), '\n')), '\n');
    edits_.insert_or_assign(std::pair(offset(from), 1), edit{old.size(), std::move(text)});
  }
  void insert_before(size_t i, const string& text) {
    edit& e = edits_[std::pair(offset(i), 0)];
    e.text = text + e.text;
  }

  [[nodiscard]] string with_edits() const {
    string out;
    size_t done = 0;
    for (const auto& [place, e] : edits_) {
      if (place.first < done) continue;  // within a replaced text
      out += source_.substr(done, place.first - done);
      out += e.text;
      done = place.first + e.erased;
    }
    out += source_.substr(done);
    return out;
  }

  /// Returns the index of the bracket that closes the one at `i`, or npos.
  [[nodiscard]] size_t closing(size_t i) const {
    string open;
    for (; i < all_.size(); ++i) {
      if (all_[i].kind != token::type::sign) continue;
      const char c = all_[i].text[0];
      if (c == '(' || c == '[' || c == '{') open += c;
      if (c != ')' && c != ']' && c != '}') continue;
      if (open.empty() || open.back() != (c == ')' ? '(' : c == ']' ? '[' : '{')) return npos;
      open.pop_back();
      if (open.empty()) return i;
    }
    return npos;
  }

  /// Returns the index of the bracket, or of the `<`, that opens the one at `i`, or npos.
  [[nodiscard]] size_t opening(size_t i) const {
    const string_view close = all_[i].text;
    const string_view open = close == ")" ? "(" : close == "]" ? "[" : "<";
    size_t depth = 0;
    for (;; --i) {
      if (i != npos && close == ">" && (is(i, ";") || is(i, "{") || is(i, "}"))) return npos;
      if (is(i, close)) ++depth;
      if (is(i, open) && --depth == 0) return i;
      if (close == ">" && is(i, ")")) i = opening(i);
      if (i == 0 || i == npos) return npos;
    }
  }

  /// Returns the number of arguments in [from, to), which angle and other brackets may nest.
  [[nodiscard]] int count_arguments(size_t from, size_t to) const {
    if (from >= to) return 0;
    int count = 1;
    int angles = 0;
    for (size_t i = from; i < to; ++i) {
      if (is(i, "(") || is(i, "[") || is(i, "{")) {
        i = closing(i);
        if (i == npos) return count;
      }
      if (is(i, "<") && i > from && is_name(i - 1)) ++angles;
      if (is(i, ">") && angles > 0) --angles;
      if (is(i, ",") && angles == 0) ++count;
    }
    return count;
  }

  struct edit {
    size_t erased = 0;
    string text;
  };

  string_view source_;
  source_tokens tokens_;
  const std::vector<token>& all_;
  std::map<std::pair<size_t, int>, edit> edits_;  // by place; an insertion before a replacement
  int errors_ = 0;
};

}  // namespace plain
