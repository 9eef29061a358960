// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A simple reading of the text files of reader_table.hpp, by strtod() and std::string, which shares
// no code with the readers.

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "reader_table.hpp"

namespace reader_tests {

inline std::string without_ends(const std::string& text, const char* removed) {
  const std::size_t first = text.find_first_not_of(removed);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(removed) - first + 1);
}

/// Returns the words of a line, or none if commas and semicolons are misplaced.
inline std::optional<texts> simple_words(const std::string& line) {
  const bool has_commas = line.find(',') != line.npos;
  if (has_commas && line.find(';') != line.npos) return std::nullopt;
  const char separator = has_commas ? ',' : ';';
  texts fields{""};
  for (const char c : line)
    c == separator ? void(fields.emplace_back()) : fields.back().push_back(c);
  texts words;
  for (std::string field : fields) {
    field = without_ends(field, " \t");
    if (field.empty()) return std::nullopt;
    for (std::size_t at = 0; at != field.npos;) {
      const std::size_t end = field.find_first_of(" \t", at);
      words.push_back(field.substr(at, end - at));
      at = field.find_first_not_of(" \t", end);
    }
  }
  return words;
}

inline std::size_t digits_at(const std::string& word, std::size_t at) {
  return std::min(word.find_first_not_of("0123456789", at), word.size()) - at;
}

inline bool is_whole(const std::string& word) {
  const std::size_t begin = word[0] == '+' || word[0] == '-' ? 1 : 0;
  return digits_at(word, begin) > 0 && begin + digits_at(word, begin) == word.size();
}

inline bool is_decimal(const std::string& word) {
  std::size_t at = word[0] == '+' || word[0] == '-' ? 1 : 0;
  std::size_t digits = digits_at(word, at);
  at += digits;
  if (word[at] == '.') {
    digits += digits_at(word, at + 1);
    at += 1 + digits_at(word, at + 1);
  }
  if (digits == 0) return false;
  if (at < word.size() && (word[at] == 'e' || word[at] == 'E')) {
    ++at;
    if (at < word.size() && (word[at] == '+' || word[at] == '-')) ++at;
    if (digits_at(word, at) == 0) return false;
    at += digits_at(word, at);
  }
  return at == word.size();
}

/// Returns a whole number without a plus sign and leading zeros.
inline std::string digits_of(const std::string& word) {
  const bool is_negative = word[0] == '-';
  const std::string digits = word.substr(std::min(word.find_first_not_of("+-0"), word.size()));
  if (digits.empty()) return "0";
  return (is_negative ? "-" : "") + digits;
}

/// Returns a real number, or none if it is none, has another range, or would be rounded although it
/// is whole.
inline std::optional<std::string> simple_real(const std::string& word, double most) {
  if (!is_decimal(word)) return std::nullopt;
  errno = 0;
  const double number = std::strtod(word.c_str(), nullptr);
  if (std::isinf(number) || std::fabs(number) > most || (errno == ERANGE && number == 0)) {
    return std::nullopt;
  }
  const std::string text = canonical(number);
  const std::size_t point = word.find('.');
  const bool ends_in_zeros =
      point != word.npos && word.find_first_not_of('0', point + 1) == word.npos;
  const std::string whole = ends_in_zeros ? word.substr(0, point) : word;
  if (is_whole(whole) && digits_of(whole) != text) return std::nullopt;
  return text;
}

/// Returns a number of a file of keys: any whole number, or a real one, which may be infinite or
/// NaN.
inline std::optional<std::string> simple_key(const std::string& word) {
  if (is_whole(word)) return digits_of(word);
  std::string lower = word.substr(word[0] == '+' || word[0] == '-' ? 1 : 0);
  for (char& c : lower) c = static_cast<char>(c | 0x20);
  if (lower == "inf" || lower == "infinity") return word[0] == '-' ? "-inf" : "inf";
  if (lower == "nan" || (lower.starts_with("nan(") && lower.ends_with(')'))) return "nan";
  if (!is_decimal(word)) return std::nullopt;
  errno = 0;
  const double number = std::strtod(word.c_str(), nullptr);
  if (std::isinf(number) || (errno == ERANGE && number == 0)) return std::nullopt;
  return canonical(number);
}

/// Returns whether a whole number is in [least, most], and the number.
inline bool is_integer(const std::string& word, std::int64_t least, std::int64_t most,
                       std::int64_t& number) {
  if (!is_whole(word)) return false;
  errno = 0;
  number = std::strtoll(word.c_str(), nullptr, 10);
  return errno == 0 && number >= least && number <= most;
}

inline bool is_u64(const std::string& word) {
  if (!is_whole(word) || word[0] == '-') return false;
  errno = 0;
  (void)std::strtoull(word.c_str(), nullptr, 10);
  return errno == 0;
}

inline std::optional<texts> simple_keys(const table& lines, std::size_t columns) {
  texts all;
  bool fits_i64 = true;
  bool fits_u64 = true;
  for (const texts& words : lines) {
    std::int64_t ignored = 0;
    fits_i64 = fits_i64 && is_integer(words[0], INT64_MIN, INT64_MAX, ignored);
    fits_u64 = fits_u64 && is_u64(words[0]);
  }
  for (const texts& words : lines) {
    const bool is_exact = fits_i64 || fits_u64;
    const auto key =
        is_exact || !is_whole(words[0]) ? simple_key(words[0]) : simple_real(words[0], HUGE_VAL);
    if (!key || (!is_exact && !simple_real(words[0], HUGE_VAL) && is_decimal(words[0]))) return {};
    all.push_back(*key);
    if (columns == 1) continue;
    if (!is_u64(words[1])) return {};
    all.push_back(digits_of(words[1]));
  }
  return all;
}

inline std::optional<texts> simple_parents(const table& lines) {
  texts all;
  for (const texts& words : lines) {
    std::int64_t parent = 0;
    if (!is_integer(words[0], -1, std::int64_t(lines.size()) - 1, parent)) return {};
    if (parent == std::int64_t(all.size())) return {};
    all.push_back(std::to_string(parent));
  }
  return all;
}

inline std::optional<texts> simple_edges(const table& lines) {
  texts all;
  for (const texts& words : lines) {
    std::int64_t parent = 0;
    std::int64_t child = 0;
    constexpr std::int64_t most = 1 << 20;
    if (!is_integer(words[0], 0, most, parent) || !is_integer(words[1], 0, most, child)) return {};
    if (parent == child) return {};
    const auto nodes = static_cast<std::size_t>(std::max(parent, child)) + 1;
    if (all.size() < nodes) all.resize(nodes, "-1");
    std::string& known = all[static_cast<std::size_t>(child)];
    if (known != "-1") return {};
    known = std::to_string(parent);
  }
  return all;
}

/// The lengths of the edges of a graph: whole numbers up to 2^64 - 3, or, if one has a fraction,
/// numbers of type double, which hold the whole ones.
struct simple_lengths {
  bool has_fraction = false;  ///< or a number that is infinite or not below 2^53
  bool has_inexact = false;   ///< a whole number that a double rounds

  /// Returns a length, or none if it must be refused.
  std::optional<std::string> add(const std::string& word) {
    if (is_whole(word) && word[0] != '-') {
      if (!is_u64(word) || std::strtoull(word.c_str(), nullptr, 10) > UINT64_MAX - 2) return {};
      const std::string digits = digits_of(word);
      if (digits != canonical(std::strtod(word.c_str(), nullptr))) has_inexact = true;
      return digits;
    }
    const bool is_infinite = !is_decimal(word) && simple_key(word) == "inf";
    const auto text = is_infinite ? std::optional("inf") : simple_real(word, HUGE_VAL);
    if (!text) return {};
    const double length = std::strtod(text->c_str(), nullptr);
    if (length < 0) return {};
    if (!(length < 0x1p53) || length != std::floor(length)) has_fraction = true;
    return text;
  }
  [[nodiscard]] bool have_a_type() const { return !has_fraction || !has_inexact; }
};

/// The words of a line in a list of edges.
struct simple_list {
  std::size_t least, most;  ///< words of a line
  std::size_t skipped = 0;  ///< words before the vertices
  std::int64_t first = 1;
  std::int64_t last = 9;  ///< the largest vertex
};

inline std::optional<texts> simple_graph(const text_reader& reader, const table& lines) {
  const bool states_edges = reader.name == "graph matrix_market" || reader.name == "graph dimacs";
  if (states_edges && lines.size() != reader.words.size()) return {};
  constexpr std::int64_t many = 1 << 20;
  const simple_list list = reader.name == "graph edges"    ? simple_list{2, 3, 0, 0, many - 1}
                           : reader.name == "graph konect" ? simple_list{2, 4, 0, 1, many}
                           : reader.name == "graph dimacs" ? simple_list{4, 4, 1}
                                                           : simple_list{3, 3};
  simple_lengths lengths;
  texts all;
  for (const texts& words : lines) {
    if (words.size() < list.least || words.size() > list.most) return {};
    if (list.skipped > 0 && words[0] != "a") return {};
    std::size_t at = list.skipped;
    for (int end = 0; end < 2; ++end, ++at) {
      std::int64_t v = 0;
      if (words[at][0] == '-' || !is_integer(words[at], list.first, list.last, v)) return {};
      all.push_back(std::to_string(v));
    }
    const auto length = lengths.add(at < words.size() ? words[at] : "1");
    if (!length || (at + 1 < words.size() && !simple_real(words[at + 1], HUGE_VAL))) return {};
    all.push_back(*length);
  }
  if (!lengths.have_a_type()) return {};
  return all;
}

/// Returns whether a path from the first time to the last one may be longer than 65535.
inline bool may_be_too_long(const std::vector<std::vector<std::int64_t>>& times) {
  std::int64_t sum = 0;
  std::int64_t limit = 0;
  std::vector<std::int64_t> of_jobs(times[0].size(), 0);
  for (const auto& machine : times) {
    std::int64_t longest = 0;
    for (std::size_t j = 0; j < machine.size(); ++j) {
      sum += machine[j];
      longest = std::max(longest, machine[j]);
      of_jobs[j] = std::max(of_jobs[j], machine[j]);
    }
    limit += longest;
  }
  for (const std::int64_t longest : of_jobs) limit += longest;
  return std::min(sum, limit) > 65'535;
}

/// Returns the numbers of an instance of branch and bound.
inline std::optional<texts> simple_instance(const text_reader& reader, const table& lines) {
  const bool is_shop = reader.name.starts_with("machines");
  const bool has_sizes = reader.name.ends_with("after sizes");
  texts all;
  std::vector<std::vector<std::int64_t>> rows;
  for (const texts& words : lines) {
    auto& row = rows.emplace_back();
    const bool is_size = has_sizes && rows.size() == 1;
    const std::int64_t most = is_size ? std::int64_t{1} << 62 : is_shop ? 65'535 : INT32_MAX;
    for (const std::string& word : words) {
      if (!is_integer(word, 0, most, row.emplace_back())) return {};
      all.push_back(std::to_string(row.back()));
    }
  }
  if (has_sizes) {
    const auto others = static_cast<std::int64_t>(rows.size()) - 1;
    if (rows[0][is_shop ? 1 : 0] != others) return {};
    if (is_shop && rows[0][0] != 2) return {};  // all lines have two words
    rows.erase(rows.begin());
  }
  if (is_shop && may_be_too_long(rows)) return {};
  return all;
}

/// Returns whether the rule or the format skips a line.
inline bool is_skipped(const text_reader& reader, const std::string& line) {
  if (line.empty() || line[0] == '#' || line[0] == '%') return true;
  return reader.name == "graph dimacs" && line.substr(0, line.find_first_of(" \t")) == "c";
}

/// Returns the numbers of a file, or none if a reader must refuse it.
inline std::optional<texts> simple_reading(const text_reader& reader, const texts& lines) {
  table rows;
  const std::size_t columns = reader.words[0].size();
  const bool is_graph = reader.name.starts_with("graph");
  for (const std::string& line : lines) {
    const std::string text = without_ends(line, " \t\r");
    if (is_skipped(reader, text)) continue;
    const auto words = simple_words(text);
    if (!words || (!is_graph && words->size() != columns)) return std::nullopt;
    rows.push_back(*words);
  }
  if (is_graph) return simple_graph(reader, rows);
  if (reader.name.starts_with("items") || reader.name.starts_with("machines")) {
    return simple_instance(reader, rows);
  }
  if (reader.name == "parents") return simple_parents(rows);
  if (reader.name == "edges") return simple_edges(rows);
  if (!reader.is_real) return simple_keys(rows, columns);
  texts all;
  for (const texts& words : rows) {
    for (const std::string& word : words) {
      const auto number = simple_real(word, reader.most);
      if (!number) return std::nullopt;
      all.push_back(*number);
    }
  }
  return all;
}

}  // namespace reader_tests
