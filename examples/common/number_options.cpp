// SPDX-License-Identifier: BSD-3-Clause
#include "number_options.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>
#include <string_view>

#include "text_file.hpp"

namespace common {
namespace {

enum class number_fault { none, malformed, too_large };

/// A whole number as it is written: digits * 10^power_of_10 * 2^power_of_2.
struct written_number {
  std::string digits;
  int power_of_10 = 0;
  unsigned power_of_2 = 0;
};

struct unit {
  std::string_view name;
  unsigned power_of_10, power_of_2;
};
constexpr std::array<unit, 9> units{{{"k", 3, 0},
                                     {"K", 3, 0},
                                     {"M", 6, 0},
                                     {"G", 9, 0},
                                     {"T", 12, 0},
                                     {"Ki", 0, 10},
                                     {"Mi", 0, 20},
                                     {"Gi", 0, 30},
                                     {"Ti", 0, 40}}};

/// Removes the digits at the beginning of a word, and returns them.
std::string take_digits(std::string_view& word) {
  const auto end = std::min(word.find_first_not_of("0123456789"), word.size());
  const std::string digits(word.substr(0, end));
  word.remove_prefix(end);
  return digits;
}

/// Splits a word such as "12", "1.5e3" or "2Mi". Returns nothing if it is malformed.
std::optional<written_number> split_number(std::string_view word) {
  // 1. The digits before and after the point.
  written_number number{take_digits(word)};
  if (number.digits.empty()) return std::nullopt;
  if (word.starts_with('.')) {
    word.remove_prefix(1);
    std::string fraction = take_digits(word);
    if (fraction.empty()) return std::nullopt;
    fraction.erase(fraction.find_last_not_of('0') + 1);
    number.digits += fraction;
    number.power_of_10 = -static_cast<int>(fraction.size());
  }
  // 2. The exponent or the unit.
  if (word.starts_with('e') || word.starts_with('E')) {
    word.remove_prefix(word.substr(1).starts_with('+') ? 2 : 1);
    const std::string exponent = take_digits(word);
    if (exponent.empty()) return std::nullopt;
    // Larger exponents count as 10,000, which makes every number but 0 too large.
    number.power_of_10 += std::min(parse<int>(exponent).value_or(10'000), 10'000);
  } else if (!word.empty()) {
    const auto* const found = std::ranges::find(units, word, &unit::name);
    if (found == units.end()) return std::nullopt;
    word = {};
    number.power_of_10 += static_cast<int>(found->power_of_10);
    number.power_of_2 = found->power_of_2;
  }
  if (!word.empty()) return std::nullopt;
  return number;
}

/// Parses a whole number: "12", "1.5e3", "2Mi".
number_fault parse_whole_number(std::string_view word, std::uint64_t& value) {
  auto written = split_number(word);
  if (!written) return number_fault::malformed;
  std::string& digits = written->digits;
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  const auto parsed = parse<std::uint64_t>(digits);
  if (!parsed) return number_fault::too_large;
  value = *parsed;
  if (__builtin_mul_overflow(value, std::uint64_t{1} << written->power_of_2, &value)) {
    return number_fault::too_large;
  }
  for (int power = written->power_of_10; power > 0 && value != 0; --power) {
    if (__builtin_mul_overflow(value, std::uint64_t{10}, &value)) return number_fault::too_large;
  }
  for (int power = written->power_of_10; power < 0; ++power) {
    if (value % 10 != 0) return number_fault::malformed;
    value /= 10;
  }
  return number_fault::none;
}

}  // namespace

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  const auto parse = [least, most](std::string& word) -> std::string {
    std::uint64_t value = 0;
    const number_fault fault = parse_whole_number(word, value);
    const bool limited = most != std::numeric_limits<std::uint64_t>::max();
    if (fault == number_fault::malformed || (fault == number_fault::none && value < least)) {
      return in_quotes(word) + " is not a whole number of at least " + std::to_string(least) +
             (limited ? " and at most " + std::to_string(most) : "");
    }
    if (fault == number_fault::too_large || value > most) {
      return in_quotes(word) + " is too large; the maximum is " + std::to_string(most);
    }
    word = std::to_string(value);
    return {};
  };
  return {parse, ""};
}

std::function<std::string(const std::string&)> number_in(double least, double most) {
  return [=](const std::string& word) -> std::string {
    double value = 0;
    const number_error error = parse_number(word, value);
    std::ostringstream text;
    text << in_quotes(word);
    if (error == number_error::none && value >= least && value <= most) {
      if (!rounds_whole_number<double>(word)) return {};
      text << " would be rounded to a double";
    } else if (error == number_error::underflow) {
      text << ' ' << describe<double>(error);
    } else {
      text << " is not a number in [" << least << ", " << most << "]";
    }
    return text.str();
  };
}

CLI::Option* add_number(CLI::App& app, const char* name, double& target, number_range range,
                        const char* about) {
  return app.add_option(name, target, about)
      ->check(number_in(range.least, range.most))
      ->capture_default_str();
}

}  // namespace common
