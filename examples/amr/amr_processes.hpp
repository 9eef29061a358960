// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The operations of the program amr that differ between one process and several ranks.

#include <unistd.h>

#include <ramify/amr.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/trace_option.hpp"
#include "output/amr_checkpoint.hpp"
#include "output/plotfile.hpp"

#if RAMIFY_HAS_MPI
#include <ramify/cluster/communicator.hpp>
#include <ramify/distributed_amr.hpp>

#include "common/cluster_program.hpp"
#endif

namespace common {

/// The simulation in one process.
struct amr_in_one_process {
  static constexpr const char* trace_of = "";

  [[nodiscard]] bool is_first() const { return true; }

  template <class... State>
  [[nodiscard]] ramify::amr_simulation start(const amr_settings& s, const State&... state) const {
    return ramify::amr_simulation(s.flow, state..., s.env);
  }
  void check(const amr_settings&) const {}
  [[nodiscard]] amr_checkpoint read(const std::string& path) const {
    return read_amr_checkpoint(path);
  }
  /// Writes a plotfile.
  void write_last(const std::string& folder, const amr_settings& s,
                  const ramify::amr_simulation& flow) const {
    common::write_plotfile(folder, part_of_plotfile(folder, ::getpid()), output_snapshot(s, flow));
  }
  /// Returns the value of the first rank.
  [[nodiscard]] double of_first(double value) const { return value; }
  /// Returns the largest value of all ranks.
  [[nodiscard]] int largest(int value) const { return value; }
};

#if RAMIFY_HAS_MPI

/// The simulation on all ranks. The functions are collective, except is_first() and check().
struct amr_on_ranks {
  static constexpr const char* trace_of = common::of_first_rank;

  ramify::communicator& comm;

  [[nodiscard]] bool is_first() const { return comm.rank() == 0; }

  template <class... State>
  [[nodiscard]] ramify::distributed_amr_simulation start(const amr_settings& s,
                                                         const State&... state) const {
    return {comm, s.flow, state..., s.env};
  }
  void check(const amr_settings& s) const {
    validate_for_ranks(s.flow, s.env);
    if (!s.derived.empty()) throw std::invalid_argument("--derived needs a single process");
  }

  /// Rank 0 reads the file. The others get all of it except the mesh.
  [[nodiscard]] amr_checkpoint read(const std::string& path) const {
    amr_checkpoint from;
    std::vector<char> settings;
    if (is_first()) {
      from = read_amr_checkpoint(path);
      // The name of the folder need not be UTF-8.
      const std::string text =
          to_json(from.settings).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
      settings.assign(text.begin(), text.end());
    }
    share_first(comm, settings);
    if (!is_first()) from.settings = settings_from_json(nlohmann::json::parse(settings));
    from.state.time = comm.broadcast(from.state.time, 0);
    from.frames_written = comm.broadcast(from.frames_written, 0);
    share_first(comm, from.first_totals);
    return from;
  }
  /// Writes a plotfile. Each rank writes its blocks.
  void write_last(const std::string& folder, const amr_settings&,
                  const ramify::distributed_amr_simulation& flow) const {
    using numbers = std::vector<std::vector<double>>;
    const ramify::mesh_part_snapshot mesh = flow.own_snapshot(ramify::amr_fields::primitive);
    mesh_ranks ranks;
    ranks.rank = comm.rank();
    ranks.size = comm.size();
    ranks.owners = mesh.owners;
    ranks.exchange = [&](const numbers& out, numbers& in) {
      std::vector<ramify::outgoing_message<double>> sent;
      std::vector<ramify::incoming_message<double>> received;
      for (int rank = 0; rank < comm.size(); ++rank) {
        const std::vector<double>& to = out[std::size_t(rank)];
        std::vector<double>& from = in[std::size_t(rank)];
        if (!to.empty()) sent.push_back({rank, to.data(), to.size()});
        if (!from.empty()) received.push_back({rank, from.data(), from.size()});
      }
      comm.begin_host_exchange<double>(sent, received).end();
    };
    ranks.barrier = [&] { comm.barrier(); };
    const int process = comm.broadcast(int(::getpid()), 0);
    common::write_plotfile(folder, part_of_plotfile(folder, process), mesh, ranks);
  }
  [[nodiscard]] double of_first(double value) const { return comm.broadcast(value, 0); }
  [[nodiscard]] int largest(int value) const {
    return comm.all_reduce(value, ramify::reduction::max);
  }
};

#endif

}  // namespace common
