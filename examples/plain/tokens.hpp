// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The tokens of a preprocessed source, with the file and the line of each.

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace plain {

/// A file that a line marker names, and where it was included.
struct source_file {
  std::string_view name;
  bool is_system = false;       // a system header
  std::size_t includer = npos;  // index of the including file; npos: the first file
  std::size_t included_in = 0;  // line of the #include
  static constexpr std::size_t npos = ~std::size_t{0};
};

struct token {
  enum class type { name, number, text, sign };  // text: a string or a character
  type kind;
  std::string_view text;
  std::size_t file;  // index into source_tokens::files
  std::size_t line;
};

struct source_tokens {
  std::vector<source_file> files;
  std::vector<token> all;
};

/// Splits a preprocessed source into tokens. Each `<` and each `>` is a token of its own.
class tokenizer {
 public:
  explicit tokenizer(std::string_view source) : source_(source) { result_.files.push_back({}); }

  source_tokens run() {
    bool line_begins = true;
    while (at_ < source_.size()) {
      const char c = source_[at_];
      if (c == '\n') {
        ++line_;
        ++at_;
        line_begins = true;
      } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        ++at_;
      } else if (c == '#' && line_begins) {
        read_directive();
      } else {
        line_begins = false;
        read_token();
      }
    }
    return std::move(result_);
  }

 private:
  static bool is_letter(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || (c & 0x80);
  }

  /// Reads `# 12 "file.cu" 1 3`: the line and the file of the next source line. Flag 1: the file
  /// was included; 2: the text returns to the file; 3: a system header. Another directive, such as
  /// #pragma, has no tokens.
  void read_directive() {
    const std::size_t end = std::min(source_.find('\n', at_), source_.size());
    const std::string_view text = source_.substr(at_ + 1, end - at_ - 1);
    at_ = end;
    const std::size_t digits = text.find_first_not_of(" ");
    const std::size_t quote = text.find('"');
    const std::size_t last = text.rfind('"');
    if (digits == text.npos || quote == last) return;
    std::size_t number = 0;
    const char* const last_char = text.data() + text.size();
    if (std::from_chars(text.data() + digits, last_char, number).ec != std::errc{}) return;
    const std::string_view flags = text.substr(last + 1);
    enter(text.substr(quote + 1, last - quote - 1), flags);
    line_ = number - 1;  // the newline after the marker is counted
  }

  void enter(std::string_view name, std::string_view flags) {
    const bool included = flags.find('1') != flags.npos;
    if (flags.find('2') != flags.npos) {
      for (std::size_t f = file_; f != source_file::npos; f = result_.files[f].includer) {
        if (result_.files[f].name != name) continue;
        file_ = f;
        return;
      }
    }
    if (!included && result_.files[file_].name == name) return;
    const std::size_t parent = included ? file_ : result_.files[file_].includer;
    result_.files.push_back({name, flags.find('3') != flags.npos, parent, line_});
    file_ = result_.files.size() - 1;
  }

  void read_token() {
    const std::size_t begin = at_;
    auto kind = token::type::sign;
    const char c = source_[at_];
    const std::size_t first_line = line_;
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      kind = token::type::number;
      while (at_ < source_.size() && continues_number(begin)) ++at_;
    } else if (is_letter(c)) {
      kind = token::type::name;
      while (at_ < source_.size() && is_letter(source_[at_])) ++at_;
      if (at_ < source_.size() && (source_[at_] == '"' || source_[at_] == '\'')) {
        const std::string_view prefix = source_.substr(begin, at_ - begin);
        if (is_prefix(prefix)) {
          kind = token::type::text;
          read_text(prefix.back() == 'R' && source_[at_] == '"');
        }
      }
    } else if (c == '"' || c == '\'') {
      kind = token::type::text;
      read_text(false);
    } else {
      const std::string_view two = source_.substr(at_, 2);
      at_ += two == "::" || two == "->" ? 2 : 1;
    }
    result_.all.push_back({kind, source_.substr(begin, at_ - begin), file_, first_line});
  }

  static bool is_prefix(std::string_view name) {
    constexpr std::string_view all[] = {"L", "u", "U", "u8", "R", "LR", "uR", "UR", "u8R"};
    return std::ranges::find(all, name) != std::end(all);
  }

  /// Returns whether the next character belongs to the number that starts at `begin`: 1'000, 1e-3.
  [[nodiscard]] bool continues_number(std::size_t begin) const {
    const char c = source_[at_];
    if (is_letter(c) || c == '.') return true;
    if (c == '\'') return at_ + 1 < source_.size() && is_letter(source_[at_ + 1]);
    if ((c != '+' && c != '-') || at_ == begin) return false;
    const char e = source_[at_ - 1];
    const bool is_hexadecimal =
        source_.substr(begin, 2) == "0x" || source_.substr(begin, 2) == "0X";
    return is_hexadecimal ? e == 'p' || e == 'P' : e == 'e' || e == 'E';
  }

  /// Reads a string or a character, from its first quotation mark.
  void read_text(bool raw) {
    const char quote = source_[at_];
    if (raw) {
      const std::size_t open = std::min(source_.find('(', at_), source_.size());
      std::string end = ")";
      end += source_.substr(at_ + 1, open - at_ - 1);
      end += '"';
      const std::size_t close = source_.find(end, open);
      const std::size_t after = close == source_.npos ? source_.size() : close + end.size();
      line_ += static_cast<std::size_t>(std::count(source_.begin() + std::ptrdiff_t(at_),
                                                   source_.begin() + std::ptrdiff_t(after), '\n'));
      at_ = after;
      return;
    }
    for (++at_; at_ < source_.size() && source_[at_] != quote && source_[at_] != '\n'; ++at_) {
      if (source_[at_] == '\\' && at_ + 1 < source_.size()) ++at_;
    }
    if (at_ < source_.size() && source_[at_] == quote) ++at_;
  }

  std::string_view source_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t file_ = 0;
  source_tokens result_;
};

}  // namespace plain
