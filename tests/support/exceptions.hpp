// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <boost/test/unit_test.hpp>
#include <exception>
#include <string>

namespace tests {

/// A predicate for BOOST_CHECK_EXCEPTION: the exception's message holds `what`, else it is shown.
[[nodiscard]] inline auto names(const std::string& what) {
  return [what](const std::exception& e) {
    const bool named = std::string(e.what()).find(what) != std::string::npos;
    if (!named) BOOST_TEST_MESSAGE("it says: " << e.what());
    return named;
  };
}

}  // namespace tests
