// SPDX-License-Identifier: BSD-3-Clause
// One line of a valid file is changed at random. A reader either refuses the file and names the
// line, or its numbers are those of a simple reading of the same text by strtod(). A file that the
// simple reading accepts must not be refused.
//
// Each reader is tested with a fixed number of changes. All readers together are then tested for
// the number of seconds in the environment variable RAMIFY_FUZZ_SECONDS.
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "effort.hpp"
#include "mutations.hpp"
#include "reader_table.hpp"
#include "text_file.hpp"

namespace {

using namespace reader_tests;

// ---- the simple reading ----

std::string without_ends(const std::string& text, const char* removed) {
  const std::size_t first = text.find_first_not_of(removed);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(removed) - first + 1);
}

/// Returns the words of a line, or none if commas and semicolons are misplaced.
std::optional<texts> simple_words(const std::string& line) {
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

std::size_t digits_at(const std::string& word, std::size_t at) {
  return std::min(word.find_first_not_of("0123456789", at), word.size()) - at;
}

bool is_whole(const std::string& word) {
  const std::size_t begin = word[0] == '+' || word[0] == '-' ? 1 : 0;
  return digits_at(word, begin) > 0 && begin + digits_at(word, begin) == word.size();
}

bool is_decimal(const std::string& word) {
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
std::string digits_of(const std::string& word) {
  const bool is_negative = word[0] == '-';
  const std::string digits = word.substr(std::min(word.find_first_not_of("+-0"), word.size()));
  if (digits.empty()) return "0";
  return (is_negative ? "-" : "") + digits;
}

/// Returns a real number, or none if it is none, has another range, or would be rounded although it
/// is whole.
std::optional<std::string> simple_real(const std::string& word, double most) {
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
std::optional<std::string> simple_key(const std::string& word) {
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
bool is_integer(const std::string& word, std::int64_t least, std::int64_t most,
                std::int64_t& number) {
  if (!is_whole(word)) return false;
  errno = 0;
  number = std::strtoll(word.c_str(), nullptr, 10);
  return errno == 0 && number >= least && number <= most;
}

bool is_u64(const std::string& word) {
  if (!is_whole(word) || word[0] == '-') return false;
  errno = 0;
  (void)std::strtoull(word.c_str(), nullptr, 10);
  return errno == 0;
}

std::optional<texts> simple_keys(const table& lines, std::size_t columns) {
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

std::optional<texts> simple_parents(const table& lines) {
  texts all;
  for (const texts& words : lines) {
    std::int64_t parent = 0;
    if (!is_integer(words[0], -1, std::int64_t(lines.size()) - 1, parent)) return {};
    if (parent == std::int64_t(all.size())) return {};
    all.push_back(std::to_string(parent));
  }
  return all;
}

std::optional<texts> simple_edges(const table& lines) {
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

/// Returns the numbers of a file, or none if a reader must refuse it.
std::optional<texts> simple_reading(const text_reader& reader, const texts& lines) {
  table rows;
  const std::size_t columns = reader.words[0].size();
  for (const std::string& line : lines) {
    const std::string text = without_ends(line, " \t\r");
    if (text.empty() || text[0] == '#' || text[0] == '%') continue;
    const auto words = simple_words(text);
    if (!words || words->size() != columns) return std::nullopt;
    rows.push_back(*words);
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

// ---- the comparison ----

/// Returns whether a message may name another line than the one that was changed: if the first line
/// decides about the form of the others, or if a later line contradicts the changed one.
bool may_name_another(const std::string& message, bool is_first_line) {
  const auto has = [&](const char* text) { return message.find(text) != message.npos; };
  return (is_first_line && (has("the lines before it have") || has(".xyz") || has("UTF-16") ||
                            has("the first line states"))) ||
         has("a second parent") || has("nodes, numbered from");
}

/// Changes one line. Returns whether the reader accepts the file.
bool change_a_line(const text_reader& reader, const scratch_file& file, std::uint64_t number) {
  std::mt19937_64 random(number);
  texts lines;
  for (const texts& words : reader.words) {
    std::string line;
    for (const std::string& word : words) (line += line.empty() ? "" : " ") += word;
    lines.push_back(line);
  }
  const std::size_t changed = random() % lines.size();
  std::string& line = lines[changed];
  line = mutated(line, random);
  for (char& c : line) c = c == '\n' ? ' ' : c;
  std::string content;
  for (const std::string& text : lines) content += text + '\n';
  file.write(content);
  if (changed == 0 && line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);

  // A first line of another length decides about points: the simple reading follows it.
  text_reader form = reader;
  const auto words = simple_words(without_ends(line, " \t\r"));
  const bool is_points = reader.name.starts_with("points");
  if (is_points && changed == 0 && words && (words->size() == 2 || words->size() == 3)) {
    form.words[0].resize(words->size());
  }
  const auto expected = simple_reading(form, lines);
  try {
    const texts read = reader.read(file.path);
    BOOST_TEST((expected && read == *expected), "other numbers are read");
    return true;
  } catch (const common::bad_input& e) {
    const std::string message = e.what();
    BOOST_TEST(!expected, "a valid file is refused: " << message);
    const std::string place = ", line " + std::to_string(changed + 1) + ": ";
    BOOST_TEST((message.find(place) != message.npos || may_name_another(message, changed == 0)),
               "line " << changed + 1 << " was changed: " << message);
    return false;
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mutated_lines)

BOOST_AUTO_TEST_CASE(all_readers) {
  const scratch_file file("ramify_mutated_line");
  const auto readers = text_readers();
  for (const text_reader& reader : readers) {
    std::uint64_t accepted = 0;
    std::uint64_t number = 0;
    const tests::random_cases cases(300, 1 / static_cast<double>(readers.size()));
    for (; cases.has(number); ++number) {
      BOOST_TEST_CONTEXT(reader.name << ", mutation " << number) {
        if (change_a_line(reader, file, number)) ++accepted;
      }
    }
    BOOST_TEST(accepted >= number / 50, reader.name << ": " << accepted << " are accepted");
    BOOST_TEST(number - accepted >= number / 4);
  }
}

BOOST_AUTO_TEST_SUITE_END()
