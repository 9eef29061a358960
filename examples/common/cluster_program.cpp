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

namespace {

/// Returns all options with their values that the ranks of a program must have in common.
ramify::shared_settings settings_of(const CLI::App& app) {
  constexpr std::array<std::string_view, 3> own{"--device", "--threads", "--quiet"};
  ramify::shared_settings settings("command line");
  settings.add("the program", app.get_name() + ' ' + program_version());
  for (const CLI::Option* const option : app.get_options()) {
    const std::string name = option->get_name();
    if (std::ranges::find(own, name) != own.end()) continue;
    const std::string value =
        option->count() > 0 ? CLI::detail::join(option->results(), " ") : option->get_default_str();
    settings.add(name, option->count() == 0 && value.empty() ? "(not given)" : value);
  }
  return settings;
}

/// Returns the rank whose end is that of all: the first with an error, else the first with an end,
/// or -1 if no rank ends. `statuses` has -1 for a rank that goes on.
int speaker_of(const std::vector<int>& statuses) {
  for (const bool is_error : {true, false}) {
    const auto found =
        std::ranges::find_if(statuses, [&](int s) { return is_error ? s > 0 : s == 0; });
    if (found != statuses.end()) return static_cast<int>(found - statuses.begin());
  }
  return -1;
}

}  // namespace

std::optional<program_end> agree_on_command_line(const CLI::App& app,
                                                 const std::optional<program_end>& own) {
  ramify::communicator comm(ramify::cluster_options{.backend = ramify::backend::cpu});
  // 1. Ends of ranks.
  const std::vector<int> statuses = comm.all_gather(own ? own->status : -1);
  if (const int speaker = speaker_of(statuses); speaker >= 0) {
    program_end all;
    if (comm.rank() == speaker) all = *own;
    all.status = statuses[static_cast<std::size_t>(speaker)];
    all.text.resize(comm.broadcast(std::uint64_t{all.text.size()}, speaker));
    comm.broadcast(all.text.data(), all.text.size(), speaker);
    const bool is_common = comm.all_reduce(own == all ? 1 : 0, ramify::reduction::min) == 1;
    if (!is_common && all.status != 0) all.text.insert(0, "rank " + std::to_string(speaker) + ": ");
    return all;
  }
  // 2. Options.
  try {
    comm.require_equal(settings_of(app));
  } catch (const std::invalid_argument& e) {
    return program_end{static_cast<int>(exit_status::bad_option), escaped(e.what())};
  }
  return std::nullopt;
}

int main_of_rank(
    const std::function<int(const std::function<void()>&, const rank_agreement&)>& run_program,
    const ramify::backend& backend, const std::function<void(ramify::communicator&)>& work,
    const std::function<int()>& alone) {
  ramify::mpi_session session;
  if (alone && session.size() == 1) {
    const int status = alone();
    if (status != 0) session.fail(status);
    return status;
  }
  rank_output output(session.rank());
  const int status = run_program(
      [&] {
        ramify::communicator comm(ramify::cluster_options{.backend = backend});
        run_on_ranks(comm, output, [&] { work(comm); });
      },
      agree_on_command_line);
  if (status != 0) session.fail(status);
  return status;
}

numbers read_raw_part(ramify::communicator& comm, const std::filesystem::path& path,
                      std::string_view type, bool pairs) {
  const raw_input input(path);
  const std::string name = name_of_input(path);
  ramify::shared_settings seen("reading " + name);
  seen.add("whether " + name + " is a regular file", input.is_regular());
  seen.add("the size of " + name + " in bytes", input.bytes());
  seen.add("the hash of the content of " + name, input.sample_hash());
  try {
    comm.require_equal(seen);
  } catch (const std::invalid_argument& e) {
    throw bad_input(e.what());
  }
  return input.read(type, pairs, static_cast<std::size_t>(comm.rank()),
                    static_cast<std::size_t>(comm.size()));
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
