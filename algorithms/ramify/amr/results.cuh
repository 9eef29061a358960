// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The results that a run returns to the host: totals, snapshots, saved states, reports and fault
/// messages. The functions that read from the device wait for the run's stream.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ramify/amr/config.hpp>
#include <ramify/amr/device_mesh.cuh>
#include <ramify/amr/restore.cuh>
#include <ramify/amr/snapshot.hpp>
#include <ramify/runtime/run_control.cuh>
#include <sstream>
#include <string>
#include <vector>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// A sum of doubles with Neumaier's compensation.
class compensated_sum {
 public:
  void add(double term) {
    const double sum = sum_ + term;
    compensation_ += std::abs(sum_) >= std::abs(term) ? (sum_ - sum) + term : (term - sum) + sum_;
    sum_ = sum;
  }
  [[nodiscard]] double value() const { return sum_ + compensation_; }

 private:
  double sum_ = 0;
  double compensation_ = 0;
};

/// Returns the integrals of the conserved values over the domain, summed in Morton order.
template <class Mesh>
std::vector<double> totals_of(const Mesh& mesh, std::size_t leaves) {
  constexpr std::size_t variables = Mesh::variables;
  const std::vector<double> sums = mesh.sum_leaves(leaves);
  const auto records = mesh.gather(0, leaves, nullptr);
  std::vector<compensated_sum> totals(variables);
  for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
    double volume = 1;
    for (int axis = 0; axis < Mesh::dim; ++axis) {
      volume *= mesh.cell_edge(records[leaf].place.level, axis);
    }
    for (std::size_t v = 0; v < variables; ++v) {
      totals[v].add(sums[leaf * variables + v] * volume);
    }
  }
  std::vector<double> values;
  for (const compensated_sum& total : totals) values.push_back(total.value());
  return values;
}

/// Returns a snapshot of the leaves that has no fields yet.
template <class Mesh>
mesh_snapshot empty_snapshot_of(const Mesh& mesh, const amr_report& report) {
  mesh_snapshot snapshot;
  snapshot.dimensions = Mesh::dim;
  snapshot.cells = Mesh::cells_along;
  for (std::size_t axis = 0; axis < Mesh::dim; ++axis) {
    snapshot.roots[axis] = mesh.options().roots[axis];
    snapshot.lower[axis] = mesh.options().lower[axis];
    snapshot.upper[axis] = mesh.options().upper[axis];
  }
  snapshot.time = report.time;
  snapshot.step = report.steps;
  return snapshot;
}

/// Returns the leaves with their conserved values.
template <class Mesh>
mesh_snapshot snapshot_of(const Mesh& mesh, const amr_report& report) {
  mesh_snapshot snapshot = empty_snapshot_of(mesh, report);
  for (int v = 0; v < Mesh::variables; ++v) {
    snapshot.fields.emplace_back(Mesh::physics_type::field_name(v));
  }
  std::vector<typename Mesh::real> packed;
  for (const auto& record : mesh.gather(0, report.leaves, &packed)) {
    snapshot.leaves.push_back(position_of(record.place));
  }
  snapshot.values.assign(packed.begin(), packed.end());
  return snapshot;
}

/// Returns the leaves with derived fields. Waits for the stream.
template <class Mesh, class Leaves>
mesh_snapshot derived_snapshot_of(const Mesh& mesh, const amr_report& report, const Leaves& leaves,
                                  const std::vector<derived_field>& fields, cudaStream_t stream) {
  using real = typename Mesh::real;
  mesh_snapshot snapshot = empty_snapshot_of(mesh, report);
  for (const derived_field f : fields) snapshot.fields.emplace_back(to_string(f));
  for (const auto& record : mesh.gather(0, report.leaves, nullptr)) {
    snapshot.leaves.push_back(position_of(record.place));
  }
  constexpr std::size_t cells = Leaves::cells;
  const std::size_t piece = std::min<std::size_t>(leaves.count, 4096);  // bounds the device memory
  const device_buffer<real> values(piece * cells, stream);
  std::vector<real> packed(piece * cells);
  snapshot.values.resize(leaves.count * fields.size() * cells);
  for (std::size_t first = 0; first < leaves.count; first += piece) {
    const std::size_t count = std::min(piece, leaves.count - first);
    for (std::size_t f = 0; f < fields.size(); ++f) {
      const launch_shape shape(static_cast<unsigned>(count), gather_threads);
      check(launch(gather_derived<Leaves>, shape, stream, leaves, static_cast<unsigned>(first),
                   fields[f], values.data())
                .code(),
            "launching a derived field");
      mesh.copy_out(values.data(), packed.data(), count * cells);
      for (std::size_t leaf = 0; leaf < count; ++leaf) {
        std::copy_n(packed.data() + leaf * cells, cells,
                    snapshot.values.data() + ((first + leaf) * fields.size() + f) * cells);
      }
    }
  }
  return snapshot;
}

/// Returns the state that a run needs to continue. If a regrid lacked memory, the state is that
/// before the regrid: the continued run begins it again.
template <class Mesh>
amr_state saved_state_of(const Mesh& mesh) {
  const run_state state = mesh.read_state();
  amr_state saved;
  saved.dimensions = Mesh::dim;
  saved.cells = Mesh::cells_along;
  saved.variables = Mesh::variables;
  saved.real_bytes = sizeof(typename Mesh::real);
  for (std::size_t axis = 0; axis < Mesh::dim; ++axis)
    saved.roots[axis] = mesh.options().roots[axis];
  static_cast<amr_progress&>(saved) = state.clock;
  saved.next_regrid = state.clock.next_regrid;
  const bool repeats_regrid = state.fault.code == fault::mesh_full;
  if (repeats_regrid) {
    saved.next_regrid = saved.steps;
    --saved.regrids;
  }
  std::vector<typename Mesh::real> packed;
  for (const auto& record : mesh.gather(0, state.mesh.leaves, &packed)) {
    saved.leaves.push_back(position_of(record.place));
    saved.idle.push_back(record.idle - (repeats_regrid && record.idle > 0 ? 1 : 0));
  }
  saved.values.resize(packed.size() * sizeof(packed[0]));
  std::memcpy(saved.values.data(), packed.data(), saved.values.size());
  return saved;
}

/// Adds the report of one call to the report of the run, and updates the numbers that describe the
/// current mesh.
template <class Mesh>
void update_report(amr_report& report, run_report part, const run_state& state, const Mesh& mesh) {
  add_part(part, report);
  if (part.flat_loop_reason.empty()) {
    part.looped_by = report.looped_by;
    part.flat_loop_reason = report.flat_loop_reason;
  }
  static_cast<run_report&>(report) = part;
  static_cast<amr_progress&>(report) = state.clock;
  report.scratch_bytes = mesh.bytes() + run_control::scratch_bytes;
  report.leaves = state.mesh.leaves;
  report.blocks = state.mesh.level_begin[mesh.options().max_level + 1];
  report.peak_blocks = state.mesh.peak_blocks;
  report.max_blocks = mesh.options().max_blocks;
  report.fallback_cells = state.kept.by_fluxes;
  report.floored_cells = state.kept.by_floors;
  report.finest_level = finest_level(state.mesh, mesh.options().max_level);
}

/// Returns a text with the values of an invalid cell.
template <class Physics>
std::string describe_values(const Physics& physics, const typename Physics::values& u) {
  if constexpr (has_floors<Physics>) {
    if (physics.is_valid(u)) return "below a floor of the physics: " + physics.describe_floors(u);
  }
  std::ostringstream text;
  text << "invalid:";
  for (int v = 0; v < Physics::variables; ++v) {
    text << (v == 0 ? " " : ", ") << Physics::field_name(v) << ' ' << u[v];
  }
  return text.str();
}

/// Returns a text with the position and the values of an invalid cell.
template <class Mesh>
std::string describe_invalid_cell(const Mesh& mesh, unsigned long long which) {
  using cells = typename Mesh::cells;
  std::vector<typename Mesh::real> values;
  const auto place =
      mesh.gather(static_cast<unsigned>(which / cells::count), 1, &values).front().place;
  int at[Mesh::dim];
  const auto cell = static_cast<int>(which % cells::count);
  cells::coordinates(cell, at);
  typename Mesh::physics_type::values u;
  for (int v = 0; v < Mesh::variables; ++v) u[v] = values[std::size_t(v * cells::count + cell)];
  std::string text = "the state at (";
  for (int axis = 0; axis < Mesh::dim; ++axis) {
    const double cells_to_center = double(place.index[axis]) * Mesh::cells_along + at[axis] + 0.5;
    text += (axis == 0 ? "" : ", ") +
            std::to_string(mesh.options().lower[std::size_t(axis)] +
                           cells_to_center * mesh.cell_edge(place.level, axis));
  }
  text += "), level " + std::to_string(place.level) + ", is ";
  return text + describe_values(mesh.view().physics, u);
}

/// Throws for a fault that ends the run; a full mesh is not such a fault.
/// \throws amr_error for an invalid cell, or if there is no time step
template <class Mesh>
void throw_fault(const Mesh& mesh, const run_state& state) {
  const std::string when =
      std::to_string(state.clock.steps) + ", time " + std::to_string(state.clock.time);
  if (state.fault.code == fault::no_time_step) {
    throw amr_error("there is no time step at step " + when +
                    ": waves are too fast for it, or nothing moves and there is no stop time");
  }
  if (state.fault.code == fault::invalid_cell) {
    throw amr_error(describe_invalid_cell(mesh, state.fault.invalid_cell) + "; step " + when);
  }
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
