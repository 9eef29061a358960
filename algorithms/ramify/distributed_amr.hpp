// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The simulations of <ramify/amr.hpp> with all ranks of a communicator, for plain C++.
///
///     ramify::mpi_session session;
///     ramify::communicator ranks;
///     ranks.run([&] {
///       const auto setup = ramify::recommended_setup(ramify::amr_problem::sedov, 3);
///       ramify::distributed_amr_simulation blast(ranks, setup);
///       blast.advance_to(setup.end_time);
///       const auto mesh = blast.snapshot();  // the values are on rank 0
///     });
///
/// For other physics, criteria and initial states use <ramify/distributed_amr.cuh>, which also
/// states the method, its memory and its cost.
///
/// Results   have the bits of amr_simulation on the same backend, for each number of ranks.
/// Route     flat; the host launches each step.
/// Values    are of type double; <ramify/distributed_amr.cuh> takes float, too.
/// Backend   that of the communicator.
/// Calls     functions are collective unless their description states otherwise. Call them in
///           communicator::run(), so that an error of one rank ends the others, too.
/// Errors    std::invalid_argument, on all ranks, for a bad field or state, and if a rank has
///           another setup or environment than rank 0; amr_error if a run cannot continue;
///           cluster_error; cuda_error.
/// Link      ramify::facade_distributed_amr

#include <ramify/runtime/detail/requirements.hpp>

#include <cstdint>
#include <limits>
#include <memory>
#include <ramify/amr.hpp>
#include <ramify/cluster/communicator.hpp>
#include <ramify/distributed_amr/config.hpp>
#include <ramify/version.hpp>
#include <vector>

namespace ramify::detail::facade::inline RAMIFY_ABI {
class distributed_amr_on_backend;
}

namespace ramify::inline RAMIFY_ABI {

/// Checks that ranks can run a valid setup: the precision is double, and the host launches all
/// grids. \throws std::invalid_argument naming the field
void validate_for_ranks(const amr_setup& setup, const environment& env);

/// A simulation of a problem on all ranks. Move-only; a moved-from simulation may only be assigned
/// or destroyed. The communicator must outlive it. All calls have the environment of the
/// constructor, as of amr_simulation.
class distributed_amr_simulation {
 public:
  /// Builds the mesh for the initial state of the problem. The arguments must be the same on all
  /// ranks, except for the stream and the trace.
  /// \param env  its memory must be empty
  /// \throws std::invalid_argument also as validate_for_ranks(), and for another backend than that
  ///         of `ranks`; amr_error; cluster_error; cuda_error
  distributed_amr_simulation(communicator& ranks, const amr_setup& setup,
                             const environment& env = {});

  /// Continues from a state that state(), or amr_simulation::state(), returned, with any number of
  /// ranks. Only rank 0 reads `state`.
  /// \param env  its memory must be empty
  /// \throws the exceptions of the first constructor
  distributed_amr_simulation(communicator& ranks, const amr_setup& setup, const amr_state& state,
                             const environment& env = {});

  ~distributed_amr_simulation();
  /// The other object may then only be destroyed or assigned.
  distributed_amr_simulation(distributed_amr_simulation&&) noexcept;
  /// The other object may then only be destroyed or assigned.
  distributed_amr_simulation& operator=(distributed_amr_simulation&&) noexcept;

  /// Takes steps as amr_simulation::advance() does. \throws amr_error, cluster_error, cuda_error
  void advance(std::uint64_t steps, double stop_time = std::numeric_limits<double>::infinity());
  /// Takes steps until the time is `stop_time`, as advance() does.
  void advance_to(double stop_time);

  /// Returns the time of the simulation. Not collective.
  [[nodiscard]] double time() const;
  /// Returns the number of steps since the initial state. Not collective.
  [[nodiscard]] std::uint64_t steps() const;

  /// Returns the integrals over the domain of the conserved fields, as amr_simulation does.
  [[nodiscard]] std::vector<double> totals() const;

  /// Returns the leaves and the values of their cells. The values are on rank 0; on the others
  /// mesh_snapshot::values is empty.
  [[nodiscard]] mesh_snapshot snapshot(amr_fields kind = amr_fields::conserved) const;

  /// Returns the leaves, and the values of those of this rank. Not collective.
  [[nodiscard]] mesh_part_snapshot own_snapshot(amr_fields kind = amr_fields::conserved) const;

  /// Returns what amr_simulation::change_since_start() returns, on all ranks.
  [[nodiscard]] std::vector<double> change_since_start() const;

  /// Returns everything that is needed to continue the simulation. The values are on rank 0; on
  /// the others amr_state::values is empty.
  [[nodiscard]] amr_state state() const;

  /// Returns the report of the simulation until now.
  [[nodiscard]] distributed_amr_report report() const;

 private:
  distributed_amr_simulation(communicator& ranks, const amr_setup& setup, const amr_state* state,
                             const environment& env);

  communicator* ranks_;
  amr_setup setup_;
  std::unique_ptr<detail::facade::distributed_amr_on_backend> run_;
};

}  // namespace ramify::inline RAMIFY_ABI
