// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Programs that mpirun starts as several processes: one of them prints, and reads and writes files
/// that cannot be divided.

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <ramify/cluster/communicator.hpp>
#include <string_view>
#include <vector>

#include "cli.hpp"
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

/// Makes all ranks of a program go on or end together: a rank_agreement. Collective.
///
/// If one rank ends when it has read its command line, all do, with the status and the text of the
/// first rank with an error, else of the first rank with --help or --version. Else all end if two
/// have different options, other programs or versions; the text names the first such option. Only
/// --device, --threads and --quiet may differ. Each option with its value is compared, or its
/// default value if it is not given.
[[nodiscard]] std::optional<program_end> agree_on_command_line(
    const CLI::App& app, const std::optional<program_end>& own);

/// Runs a program as one rank of several, and returns its exit status.
///
/// `run_program(body, agree)` reads the command line, calls agree(), then body(), and returns the
/// status. body() calls `work` with a communicator of all processes on `backend`, which is read
/// after the command line.
///
/// If mpirun has started only this process, and `alone` is given, returns alone() instead: the
/// program of one process, which needs no communicator.
int main_of_rank(
    const std::function<int(const std::function<void()>&, const rank_agreement&)>& run_program,
    const ramify::backend& backend, const std::function<void(ramify::communicator&)>& work,
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

/// Reads this rank's part of a raw file, which all ranks must see with the same content. If the
/// input is no regular file, rank 0 reads all of it. Collective.
/// \throws bad_input, also if a rank sees another size, other bytes in the sample that raw_input
///         reads, or no regular file; or if the size changes before the part has been read
[[nodiscard]] numbers read_raw_part(ramify::communicator& comm, const std::filesystem::path& path,
                                    std::string_view type, bool pairs);

/// Calls use(part) on rank 0 for the numbers of each rank, in their order. Collective.
void use_in_turns(ramify::communicator& comm, const numbers& mine, bool pairs,
                  const std::function<void(const numbers&)>& use);

/// Gives all ranks the type of the keys of rank 0. Collective.
void agree_on_type(ramify::communicator& comm, numbers& mine);

}  // namespace common
