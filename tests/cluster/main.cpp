// SPDX-License-Identifier: BSD-3-Clause
// The main function of test programs of several processes: each rank runs all test cases. It fails
// if a test case fails on any rank.
#include <boost/test/unit_test.hpp>
#include <ramify/cluster/communicator.hpp>
#include <ramify/cluster/session.hpp>

int main(int argc, char** argv) {
  ramify::mpi_session session;
  session.set_failure_status(0);  // the test cases handle failures
  const int status = boost::unit_test::unit_test_main([] { return true; }, argc, argv);
  ramify::communicator all(ramify::cluster_options{.backend = ramify::backend::cpu});
  return all.all_reduce(status, ramify::reduction::max);
}
