// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Numbers of JSON files in their ranges.

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>

namespace common {

/// Returns a whole number in [least, most]. \throws std::invalid_argument naming it
template <class T>
T whole_number(const std::string& name, const nlohmann::json& value, T least = 0,
               T most = std::numeric_limits<T>::max()) {
  // get() would convert -1, 1.5 and 2^40 to other numbers.
  if (value.is_number_unsigned() || (value.is_number_integer() && value.get<std::int64_t>() >= 0)) {
    const auto number = value.get<std::uint64_t>();
    if (number >= std::uint64_t(least) && number <= std::uint64_t(most)) return T(number);
  }
  throw std::invalid_argument(name + " is " + value.dump() + "; it must be a whole number in [" +
                              std::to_string(least) + ", " + std::to_string(most) + "]");
}

/// Returns a number in [least, most]. \throws std::invalid_argument naming it
inline double number(const std::string& name, const nlohmann::json& value, double least,
                     double most) {
  if (value.is_number() && value.get<double>() >= least && value.get<double>() <= most) {
    return value.get<double>();
  }
  std::ostringstream text;
  text << name << " is " << value << "; it must be a number in [" << least << ", " << most << "]";
  throw std::invalid_argument(text.str());
}

}  // namespace common
