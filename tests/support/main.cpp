// SPDX-License-Identifier: BSD-3-Clause
// The main function of all test programs. RAMIFY_TEST_BACKEND (cpu or cuda) selects the backend. If
// that backend cannot run, the program exits with 77, the status by which CTest detects skipped
// tests.
#include <boost/test/unit_test.hpp>
#include <iostream>

#include "backend_under_test.hpp"

int main(int argc, char** argv) {
  if (const std::string obstacle = tests::why_backend_cannot_run(); !obstacle.empty()) {
    std::cout << "SKIPPED: needs a GPU (" << obstacle << ")\n";
    return 77;
  }
  return boost::unit_test::unit_test_main([] { return true; }, argc, argv);
}
