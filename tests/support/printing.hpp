// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Printing of enumerators in Boost.Test.

#include <ostream>
#include <ramify/quicksort/config.hpp>
#include <ramify/runtime/report.hpp>

#include "quicksort/distributions.hpp"
#include "rooted_tree/forests.hpp"

namespace ramify {

template <class Choice>
requires requires(const Choice& choice) { to_string(choice); }
std::ostream& boost_test_print_type(std::ostream& out, const Choice& choice) {
  return out << to_string(choice);
}

}  // namespace ramify

namespace common {

template <class Choice>
requires requires(const Choice& choice) { to_string(choice); }
std::ostream& boost_test_print_type(std::ostream& out, const Choice& choice) {
  return out << to_string(choice);
}

}  // namespace common
