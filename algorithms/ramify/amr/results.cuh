// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What a run returns to the host: totals, snapshots, saved states, reports and fault messages. The
/// functions that read from the device wait for the run's stream.

#include <cmath>
#include <cstring>
#include <ramify/amr/config.hpp>
#include <ramify/amr/device_mesh.cuh>
#include <ramify/amr/restore.cuh>
#include <ramify/amr/snapshot.hpp>
#include <ramify/runtime/run_control.cuh>
#include <string>
#include <vector>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// A sum of doubles with Neumaier's compensation.
class compensated_sum {
 public:
  void add(double term) {
    const double sum = sum_ + term;
    lost_ += std::abs(sum_) >= std::abs(term) ? (sum_ - sum) + term : (term - sum) + sum_;
    sum_ = sum;
  }
  [[nodiscard]] double value() const { return sum_ + lost_; }

 private:
  double sum_ = 0;
  double lost_ = 0;
};

/// The integrals of the conserved values over the domain. They are summed in Morton order.
template <class Physics, int n, class Criterion>
std::vector<double> totals_of(const device_mesh<Physics, n, Criterion>& mesh, std::size_t leaves) {
  constexpr int dim = Physics::dimensions;
  constexpr std::size_t variables = Physics::variables;
  const std::vector<double> sums = mesh.sum_leaves(leaves);
  const auto records = mesh.gather(0, leaves, nullptr);
  std::vector<compensated_sum> totals(variables);
  for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
    double volume = 1;
    for (int axis = 0; axis < dim; ++axis) {
      volume *= mesh.cell_edge(axis) / double(1u << records[leaf].place.level);
    }
    for (std::size_t v = 0; v < variables; ++v) {
      totals[v].add(sums[leaf * variables + v] * volume);
    }
  }
  std::vector<double> values;
  for (const compensated_sum& total : totals) values.push_back(total.value());
  return values;
}

/// The leaves with their conserved values.
template <class Physics, int n, class Criterion>
mesh_snapshot snapshot_of(const device_mesh<Physics, n, Criterion>& mesh,
                          const amr_mesh_config& config, const amr_report& report) {
  constexpr int dim = Physics::dimensions;
  mesh_snapshot snapshot;
  snapshot.dimensions = dim;
  snapshot.cells = n;
  snapshot.roots = config.roots;
  snapshot.lower = config.lower;
  snapshot.upper = config.upper;
  if (dim == 2) {
    snapshot.roots[2] = 1;
    snapshot.lower[2] = 0;
    snapshot.upper[2] = 1;
  }
  snapshot.time = report.time;
  snapshot.step = report.steps;
  for (int v = 0; v < Physics::variables; ++v) {
    snapshot.fields.emplace_back(Physics::field_name(v));
  }
  std::vector<typename Physics::real> packed;
  for (const leaf_record<dim>& record : mesh.gather(0, report.leaves, &packed)) {
    snapshot.leaves.push_back(position_of<dim>(record.place));
  }
  snapshot.values.assign(packed.begin(), packed.end());
  return snapshot;
}

/// Everything that a run needs to continue.
template <class Physics, int n, class Criterion>
amr_state saved_state_of(const device_mesh<Physics, n, Criterion>& mesh,
                         const amr_mesh_config& config, std::size_t leaves) {
  using real = typename Physics::real;
  constexpr int dim = Physics::dimensions;
  const run_state state = mesh.read_state();
  amr_state saved;
  saved.dimensions = dim;
  saved.cells = n;
  saved.variables = Physics::variables;
  saved.real_bytes = sizeof(real);
  for (std::size_t axis = 0; axis < dim; ++axis) saved.roots[axis] = config.roots[axis];
  saved.time = state.time.now;
  saved.steps = state.time.steps;
  saved.next_regrid = state.time.next_regrid;
  saved.cell_updates = state.time.cell_updates;
  saved.regrids = state.mesh.regrids;
  saved.refined = state.mesh.refined;
  saved.coarsened = state.mesh.coarsened;
  std::vector<real> packed;
  for (const leaf_record<dim>& record : mesh.gather(0, leaves, &packed)) {
    saved.leaves.push_back(position_of<dim>(record.place));
    saved.idle.push_back(record.idle);
  }
  saved.values.resize(packed.size() * sizeof(real));
  std::memcpy(saved.values.data(), packed.data(), saved.values.size());
  return saved;
}

/// Adds the report of one call to the report of the run, and brings it up to date.
template <class Physics, int n, class Criterion>
void update_report(amr_report& report, const run_report& part, const run_state& state,
                   const device_mesh<Physics, n, Criterion>& mesh) {
  add_part(report, part);
  report.ran_on = part.ran_on;
  report.backend_reason = part.backend_reason;
  report.taken = part.taken;
  report.route_reason = part.route_reason;
  if (!part.flat_loop_reason.empty()) {
    report.looped_by = part.looped_by;
    report.flat_loop_reason = part.flat_loop_reason;
  }
  report.pending_launch_limit = part.pending_launch_limit;
  report.scratch_bytes = mesh.bytes() + run_control::scratch_bytes;
  report.time = state.time.now;
  report.steps = state.time.steps;
  report.cell_updates = state.time.cell_updates;
  report.regrids = state.mesh.regrids;
  report.refined = state.mesh.refined;
  report.coarsened = state.mesh.coarsened;
  report.leaves = state.mesh.leaves;
  report.blocks = state.mesh.level_begin[mesh.view().tree.max_level + 1];
  report.peak_blocks = state.mesh.peak_blocks;
  report.finest_level = finest_level(state.mesh, mesh.view().tree.max_level);
}

/// Names the place of an invalid cell and its values.
template <class Physics, int n, class Criterion>
std::string describe_invalid_cell(const device_mesh<Physics, n, Criterion>& mesh,
                                  const amr_mesh_config& config, unsigned long long which) {
  constexpr int dim = Physics::dimensions;
  using cells = block_cells<dim, n>;
  std::vector<typename Physics::real> values;
  const leaf_record<dim> leaf =
      mesh.gather(static_cast<unsigned>(which / cells::count), 1, &values).front();
  int at[dim];
  const auto cell = static_cast<int>(which % cells::count);
  cells::position(cell, at);
  std::string text = "the state at (";
  for (std::size_t axis = 0; axis < dim; ++axis) {
    const double edge = mesh.cell_edge(int(axis)) / double(1u << leaf.place.level);
    const double x =
        config.lower[axis] + (double(leaf.place.index[axis]) * n + at[axis] + 0.5) * edge;
    text += (axis == 0 ? "" : ", ") + std::to_string(x);
  }
  text += "), level " + std::to_string(leaf.place.level) + ", is invalid:";
  for (int v = 0; v < Physics::variables; ++v) {
    text += std::string(v == 0 ? " " : ", ") + Physics::field_name(v) + " " +
            std::to_string(values[std::size_t(v) * cells::count + std::size_t(cell)]);
  }
  return text;
}

/// \throws amr_error if the run cannot continue
template <class Physics, int n, class Criterion>
void throw_fault(const device_mesh<Physics, n, Criterion>& mesh, const amr_mesh_config& config,
                 const run_state& state) {
  const std::string when =
      std::to_string(state.time.steps) + ", time " + std::to_string(state.time.now);
  if (state.fault.code == fault::no_time_step) {
    throw amr_error("there is no time step at step " + when +
                    ": waves are too fast for it, or nothing moves and there is no stop time");
  }
  if (state.fault.code == fault::invalid_cell) {
    throw amr_error(describe_invalid_cell(mesh, config, state.fault.invalid_cell) + "; step " +
                    when);
  }
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
