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

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
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
    if (comm.rank() == 0) std::cout << "complete\n";
    return 0;
  } catch (const ramify::cluster_error& e) {
    if (comm.rank() == e.rank()) std::cerr << "ending: " << e.what() << '\n';
    return 3;
  }
}
