// SPDX-License-Identifier: BSD-3-Clause
// The main function of test programs of several processes: each rank runs all test cases. It fails
// if a test case fails on any rank. With RAMIFY_TEST_BACKEND=cuda, but without a GPU for each rank,
// the program exits with 77, the status by which CTest detects skipped tests.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <iostream>
#include <ramify/cluster/communicator.hpp>
#include <ramify/cluster/session.hpp>
#include <ramify/runtime/error.hpp>
#include <string>

int main(int argc, char** argv) {
  ramify::mpi_session session;
  session.set_failure_status(0);  // the test cases handle failures
  const char* const backend = std::getenv("RAMIFY_TEST_BACKEND");
  if (backend != nullptr && backend == std::string("cuda")) {
    try {
      const ramify::communicator gpus(ramify::cluster_options{.backend = ramify::backend::cuda});
    } catch (const ramify::unavailable& e) {
      if (session.rank() == 0) std::cout << "SKIPPED: " << e.what() << '\n';
      return 77;
    }
  }
  const int status = boost::unit_test::unit_test_main([] { return true; }, argc, argv);
  ramify::communicator all(ramify::cluster_options{.backend = ramify::backend::cpu});
  return all.all_reduce(status, ramify::reduction::max);
}
