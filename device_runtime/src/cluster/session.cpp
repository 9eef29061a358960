// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <ramify/cluster/session.hpp>
#include <stdexcept>
#include <thread>

#include "state.hpp"

namespace ramify::inline RAMIFY_ABI {

mpi_session::mpi_session() : exceptions_(std::uncaught_exceptions()) {
  int is_finalized = 0;
  MPI_Finalized(&is_finalized);
  if (is_finalized != 0) {
    throw std::logic_error("mpi_session: MPI was finalized, and cannot be initialized again");
  }
  int is_initialized = 0;
  MPI_Initialized(&is_initialized);
  if (is_initialized == 0) {
    int granted = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &granted);
    owns_ = true;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

mpi_session::~mpi_session() {
  if (!owns_) return;
  const detail::cluster::process_failure failure = detail::cluster::failure_of_process();
  const bool has_exception = std::uncaught_exceptions() > exceptions_;
  const bool is_handled = failure.happened && failure_status_ == 0;
  if (!has_exception && !failed_ && (!failure.happened || is_handled)) {
    MPI_Finalize();
    return;
  }
  std::cout.flush();
  std::fflush(nullptr);
  using namespace std::chrono_literals;
  const auto deadline = std::chrono::steady_clock::now() + 2s;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  int all_are_here = 0;
  while (all_are_here == 0 && std::chrono::steady_clock::now() < deadline) {
    MPI_Test(&request, &all_are_here, MPI_STATUS_IGNORE);
    std::this_thread::sleep_for(1ms);
  }
  if (all_are_here != 0 && !failure.happened) {
    MPI_Finalize();  // no process waits for another one
    return;
  }
  // Only the rank that has failed has the status. The others let it abort first.
  if (failure.happened && !failure.is_own) std::this_thread::sleep_for(1s);
  MPI_Abort(MPI_COMM_WORLD, std::max(failure_status_, 1));
}

bool mpi_session::is_launched() {
  // Open MPI and other users of PMIx; MPICH, Intel MPI and others; MVAPICH.
  constexpr std::array names{"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "MPI_LOCALRANKID",
                             "MV2_COMM_WORLD_RANK"};
  return std::ranges::any_of(names, [](const char* name) { return std::getenv(name) != nullptr; });
}

}  // namespace ramify::inline RAMIFY_ABI
