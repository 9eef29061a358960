// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Programs that mpirun starts as several processes: one of them prints, and reads and writes files
/// that cannot be divided.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ramify/cluster/communicator.hpp>
#include <vector>

#include "number_file.hpp"

namespace common {

/// Sends standard output and standard error of this process to /dev/null, unless it is rank 0.
class rank_output {
 public:
  explicit rank_output(int rank);
  ~rank_output();
  rank_output(const rank_output&) = delete;
  rank_output& operator=(const rank_output&) = delete;

  /// Moves standard error to this rank, which reports the error of the program.
  void report_errors_of(int failed_rank);

 private:
  int rank_;
  int standard_error_ = -1;  ///< a copy of the file, if it is silent
};

/// Calls body() in comm.run(). If a rank throws, its exception is thrown on that rank, with
/// "rank 3: " before its message, and only that rank can print. The others throw cluster_error.
void run_on_ranks(ramify::communicator& comm, rank_output& output,
                  const std::function<void()>& body);

/// Runs a program as one rank of several, and returns its exit status.
///
/// `run_program(body)` reads the command line, calls body(), and returns the status. body() calls
/// `work` with a communicator of all processes on `backend`, which is read after the command line.
///
/// If mpirun has started only this process, and `alone` is given, returns alone() instead: the
/// program of one process, which needs no communicator.
int main_of_rank(const std::function<int(const std::function<void()>&)>& run_program,
                 const ramify::backend& backend,
                 const std::function<void(ramify::communicator&)>& work,
                 const std::function<int()>& alone = {});

/// Gives all ranks the elements of rank 0. Collective.
template <class T>
void share_first(ramify::communicator& comm, std::vector<T>& elements) {
  elements.resize(comm.broadcast(std::uint64_t{elements.size()}, 0));
  if (comm.rank() != 0) {
    const std::array<ramify::incoming_message<T>, 1> in{{{0, elements.data(), elements.size()}}};
    comm.begin_host_exchange<T>({}, in).end();
    return;
  }
  std::vector<ramify::outgoing_message<T>> out;
  for (int rank = 1; rank < comm.size(); ++rank) {
    out.push_back({rank, elements.data(), elements.size()});
  }
  comm.begin_host_exchange<T>(out, {}).end();
}

/// Calls use(part) on rank 0 for the numbers of each rank, in their order. Collective.
void use_in_turns(ramify::communicator& comm, const numbers& mine, bool pairs,
                  const std::function<void(const numbers&)>& use);

/// Gives all ranks the type of the keys of rank 0. Collective.
void agree_on_type(ramify::communicator& comm, numbers& mine);

}  // namespace common
