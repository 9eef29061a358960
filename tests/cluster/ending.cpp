// SPDX-License-Identifier: BSD-3-Clause
// A program that ends in the way its argument names: on rank 1, while the others wait.
#include <chrono>
#include <csignal>
#include <iostream>
#include <ramify/cluster/communicator.hpp>
#include <ramify/cluster/session.hpp>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

int run(const std::string& how) {
  ramify::mpi_session session;
  session.set_failure_status(3);
  ramify::communicator comm(ramify::cluster_options{.backend = ramify::backend::cpu});
  try {
    comm.run([&] {
      comm.barrier();
      if (how == "throw" && comm.rank() == 1) throw std::runtime_error("cannot read input.csv");
      if (how == "kill" && comm.rank() == 1) std::raise(SIGKILL);
      if (how == "stuck" && comm.rank() == 1) throw std::runtime_error("a rank is stuck");
      // This rank does not communicate, so it does not see the error.
      if (how == "stuck" && comm.rank() == 0) std::this_thread::sleep_for(std::chrono::minutes(2));
      comm.barrier();
    });
    if (how == "leave" && comm.rank() == 1) throw std::logic_error("rank 1 leaves");
    comm.barrier();
    if (comm.rank() == 0) std::cout << "complete\n";
    return 0;
  } catch (const ramify::cluster_error& e) {
    if (comm.rank() == (how == "leave" ? 0 : e.rank())) std::cerr << "ending: " << e.what() << '\n';
    return 3;
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? argv[1] : "");
  } catch (const std::logic_error& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
}
