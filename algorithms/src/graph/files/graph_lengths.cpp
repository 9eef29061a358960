// SPDX-License-Identifier: BSD-3-Clause
#include "graph_lengths.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ramify::detail::files::inline RAMIFY_ABI {
namespace {

/// Whole numbers up to this one are exact in float.
constexpr std::uint64_t most_in_float = std::uint64_t{1} << 24;

/// Returns whether a whole number is exact in double.
bool is_exact(std::uint64_t length) {
  // A double that is rounded up to 2^64 is no 64-bit integer.
  const auto rounded = static_cast<double>(length);
  return rounded < 0x1p64 && static_cast<std::uint64_t>(rounded) == length;
}

}  // namespace

void length_reader::add(const text_line& line, std::string_view word) {
  std::uint64_t whole = 0;
  const number_error error = parse_number(word, whole);
  if (error == number_error::none && whole <= max_path_length) {
    const bool may_be_real = type_ == length_type::automatic && not_exact_.empty();
    if (may_be_real && !is_exact(whole)) {
      not_exact_ = line.message(
          "has a length that double cannot hold, but another length has a "
          "fraction; graph_file_options.type double rounds it");
    }
    return add_whole(whole);
  }
  const bool is_large =
      !word.starts_with('-') && (error == number_error::none || error == number_error::overflow);
  if (is_large && (type_ == length_type::automatic || type_ == length_type::integer)) {
    line.reject_word("length", word,
                     "is more than 2^64 - 3; graph_file_options.type double rounds it");
  }
  const auto real = line.parse_word<double>("length", word);
  if (!(real >= 0)) line.reject("has a length that is not at least 0");
  if (type_ == length_type::automatic && rounds_whole_number<double>(word)) {
    line.reject_word("length", word,
                     "a double would round; graph_file_options.type double rounds it");
  }
  if (real < 0x1p53 && std::trunc(real) == real) return add_whole(static_cast<std::uint64_t>(real));
  add_real(line, real);
}

void length_reader::add_whole(std::uint64_t length) {
  if (is_whole_) {
    whole_.push_back(length);
  } else {
    if (!not_exact_.empty()) throw bad_input(not_exact_);
    real_.push_back(static_cast<double>(length));
    if (!is_exact(length)) ++rounded_;
  }
}

void length_reader::add_real(const text_line& line, double length) {
  if (type_ == length_type::integer) {
    line.reject(
        "has a length that is not a whole number, as graph_file_options.type integer demands");
  }
  if (is_whole_) {
    is_whole_ = false;
    real_.reserve(whole_.size() + 1);
    for (const std::uint64_t whole : whole_) add_whole(whole);
    whole_ = {};
  }
  real_.push_back(length);
}

bool length_reader::is_exact_in_float(std::size_t n) const {
  std::uint64_t largest = 0;
  std::uint64_t sum = 0;
  for (const std::uint64_t length : whole_) {
    largest = std::max(largest, length);
    sum = std::min(sum + std::min(length, most_in_float + 1), most_in_float + 1);
  }
  // A shortest path has fewer edges than the graph has vertices.
  return sum <= most_in_float || largest <= most_in_float / std::max<std::size_t>(n, 1);
}

std::vector<float> length_reader::in_float() {
  std::vector<float> lengths;
  lengths.reserve(whole_.size() + real_.size());
  const auto add = [&](auto length) {
    lengths.push_back(static_cast<float>(length));
    const double in_double = static_cast<double>(length);
    if (std::isfinite(in_double) && !std::isfinite(lengths.back())) {
      throw bad_input("a length of " + std::to_string(in_double) +
                      " is too large for float; use graph_file_options.type double");
    }
    if (static_cast<double>(lengths.back()) != in_double) ++rounded_;
  };
  for (const std::uint64_t length : whole_) add(length);
  for (const double length : real_) add(length);
  return lengths;
}

graph_lengths length_reader::finish(std::size_t n) {
  length_type type = type_;
  if (type == length_type::automatic) {
    type = !is_whole_             ? length_type::double_precision
           : is_exact_in_float(n) ? length_type::single_precision
                                  : length_type::integer;
  }
  if (type == length_type::integer) return std::move(whole_);
  if (type == length_type::single_precision) return in_float();
  for (const std::uint64_t length : whole_) {
    real_.push_back(static_cast<double>(length));
    if (!is_exact(length)) ++rounded_;
  }
  return std::move(real_);
}

}  // namespace ramify::detail::files::inline RAMIFY_ABI
