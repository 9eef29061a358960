// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Starts MPI in a process, and ends it so that no process waits for another one.
///
///     int main() {
///       ramify::mpi_session session;
///       ramify::communicator all;
///       all.run([&] { ... });
///     }

#include <ramify/version.hpp>

namespace ramify::inline RAMIFY_ABI {

/// MPI, from construction to destruction.
///
/// The destructor calls MPI_Finalize(). After a failure it first waits, for at most two seconds,
/// until the destructors of all processes have been called, so that all can print their messages
/// and remove their files. A failure is one of a communicator, fail(), or an exception that leaves
/// the scope. The destructor calls MPI_Abort() instead of MPI_Finalize() if a communicator has
/// failed, because MPI_Finalize() could wait for its messages, or if another destructor has not
/// been called in that time.
class mpi_session {
 public:
  /// Calls MPI_Init_thread() with MPI_THREAD_FUNNELED, unless the program has initialized MPI. In
  /// that case the destructor does nothing. \throws std::logic_error if MPI was finalized before
  mpi_session();
  ~mpi_session();
  mpi_session(const mpi_session&) = delete;
  mpi_session& operator=(const mpi_session&) = delete;

  /// Sets the exit status of all processes after a failure. The default is 1. With 0 the program
  /// has handled the failure, and the destructor calls MPI_Finalize() in spite of it.
  void set_failure_status(int status) { failure_status_ = status; }

  /// States that this process has failed, although no communicator has. The other processes may
  /// wait for this one. `status` must not be 0.
  void fail(int status) {
    failed_ = true;
    failure_status_ = status;
  }

  /// Returns the rank of this process among all.
  [[nodiscard]] int rank() const { return rank_; }

  /// Returns the number of all processes.
  [[nodiscard]] int size() const { return size_; }

  /// Returns whether mpirun, mpiexec or srun has started this process. Does not initialize MPI.
  [[nodiscard]] static bool is_launched();

 private:
  bool owns_ = false;
  bool failed_ = false;
  int rank_ = 0;
  int size_ = 1;
  int failure_status_ = 1;
  int exceptions_;  ///< std::uncaught_exceptions() at construction
};

}  // namespace ramify::inline RAMIFY_ABI
