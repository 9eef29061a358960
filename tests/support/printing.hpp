// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// How Boost.Test prints enumerators.

#include <ostream>
#include <ramify/quicksort/config.hpp>
#include <ramify/runtime/report.hpp>

#include "distributions.hpp"
#include "forests.hpp"

namespace ramify {

inline std::ostream& boost_test_print_type(std::ostream& out, route r) {
  return out << to_string(r);
}
inline std::ostream& boost_test_print_type(std::ostream& out, backend b) {
  return out << to_string(b);
}
inline std::ostream& boost_test_print_type(std::ostream& out, flat_loop l) {
  return out << to_string(l);
}
inline std::ostream& boost_test_print_type(std::ostream& out, granularity g) {
  return out << to_string(g);
}
inline std::ostream& boost_test_print_type(std::ostream& out, quicksort_strategy s) {
  return out << to_string(s);
}

}  // namespace ramify

namespace common {

inline std::ostream& boost_test_print_type(std::ostream& out, distribution d) {
  return out << to_string(d);
}
inline std::ostream& boost_test_print_type(std::ostream& out, forest_kind k) {
  return out << to_string(k);
}

}  // namespace common
