// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <boost/test/unit_test.hpp>
#include <exception>
#include <string>

/// \file
/// Checks of the messages of exceptions.

namespace tests {

/// Returns a predicate for BOOST_CHECK_EXCEPTION that checks whether the message contains `what`.
/// If it does not, the predicate prints the message.
[[nodiscard]] inline auto names(const std::string& what) {
  return [what](const std::exception& e) {
    const bool named = std::string(e.what()).find(what) != std::string::npos;
    if (!named) BOOST_TEST_MESSAGE("the message is: " << e.what());
    return named;
  };
}

}  // namespace tests
