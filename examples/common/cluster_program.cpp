// SPDX-License-Identifier: BSD-3-Clause
#include "cluster_program.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <ramify/cluster/session.hpp>
#include <ramify/runtime/error.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "output_file.hpp"

namespace common {
namespace {

/// Sends `from` to rank 0 if this is rank `sender`, and receives it into `to` if this is rank 0.
template <class T>
void send_to_first(ramify::communicator& comm, int sender, const std::vector<T>& from,
                   std::vector<T>& to) {
  if (comm.rank() == sender) {
    const std::array<ramify::outgoing_message<T>, 1> out{{{0, from.data(), from.size()}}};
    comm.begin_host_exchange<T>(out, {}).end();
  } else if (comm.rank() == 0) {
    const std::array<ramify::incoming_message<T>, 1> in{{{sender, to.data(), to.size()}}};
    comm.begin_host_exchange<T>({}, in).end();
  }
}

/// Throws the exception that is nested in `e`, with the rank before its message.
[[noreturn]] void throw_own(const ramify::cluster_error& e) {
  try {
    std::rethrow_if_nested(e);
  } catch (const bad_input&) {
    throw bad_input(e.what());
  } catch (const bad_output&) {
    throw bad_output(e.what());
  } catch (const std::invalid_argument&) {
    throw std::invalid_argument(e.what());
  } catch (const ramify::unavailable&) {
    throw ramify::unavailable(e.what());
  } catch (const std::bad_alloc&) {
    throw std::runtime_error("rank " + std::to_string(e.rank()) + ": not enough memory");
  } catch (const std::exception&) {  // thrown below
  }
  throw std::runtime_error(e.what());
}

}  // namespace

rank_output::rank_output(int rank) : rank_(rank) {
  if (rank == 0) return;
  std::cout.flush();
  std::fflush(nullptr);
  standard_error_ = ::dup(STDERR_FILENO);
  const int silent = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ::dup2(silent, STDOUT_FILENO);
  ::dup2(silent, STDERR_FILENO);
  ::close(silent);
}

rank_output::~rank_output() {
  if (standard_error_ >= 0) ::close(standard_error_);
}

void rank_output::report_errors_of(int failed_rank) {
  if (rank_ == failed_rank) {
    if (standard_error_ >= 0) ::dup2(standard_error_, STDERR_FILENO);
  } else if (rank_ == 0) {
    const int silent = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(silent, STDERR_FILENO);
    ::close(silent);
  }
}

void run_on_ranks(ramify::communicator& comm, rank_output& output,
                  const std::function<void()>& body) {
  try {
    comm.run(body);
  } catch (const ramify::cluster_error& e) {
    output.report_errors_of(e.rank());
    if (comm.rank() != e.rank()) throw;
    throw_own(e);
  }
}

int main_of_rank(const std::function<int(const std::function<void()>&)>& run_program,
                 const ramify::backend& backend,
                 const std::function<void(ramify::communicator&)>& work,
                 const std::function<int()>& alone) {
  ramify::mpi_session session;
  if (alone && session.size() == 1) {
    const int status = alone();
    if (status != 0) session.fail(status);
    return status;
  }
  rank_output output(session.rank());
  const int status = run_program([&] {
    ramify::communicator comm(ramify::cluster_options{.backend = backend});
    run_on_ranks(comm, output, [&] { work(comm); });
  });
  if (status != 0) session.fail(status);
  return status;
}

void use_in_turns(ramify::communicator& comm, const numbers& mine, bool pairs,
                  const std::function<void(const numbers&)>& use) {
  std::visit(
      [&](const auto& keys) {
        using vector = std::decay_t<decltype(keys)>;
        const std::vector<std::uint64_t> sizes = comm.all_gather(std::uint64_t{keys.size()});
        if (comm.rank() == 0) use(mine);
        for (int sender = 1; sender < comm.size(); ++sender) {
          numbers part;
          auto& part_keys = part.keys.emplace<vector>();
          if (comm.rank() == 0) {
            part_keys.resize(sizes[static_cast<std::size_t>(sender)]);
            if (pairs) part.values.resize(part_keys.size());
          }
          send_to_first(comm, sender, keys, part_keys);
          if (pairs) send_to_first(comm, sender, mine.values, part.values);
          if (comm.rank() == 0) use(part);
        }
      },
      mine.keys);
}

void agree_on_type(ramify::communicator& comm, numbers& mine) {
  std::array<char, 8> name{};
  type_name(mine.keys).copy(name.data(), name.size() - 1);
  name = comm.broadcast(name, 0);
  if (comm.rank() != 0) mine.keys = keys_of_type(name.data());
}

}  // namespace common
