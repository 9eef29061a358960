// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The meshes, the pictures, the tables and the history that `amr` writes.

#include <cstdint>
#include <optional>
#include <ramify/amr.hpp>
#include <string>
#include <vector>

#include "amr_folder.hpp"
#include "output/amr_checkpoint.hpp"
#include "output/pvd_series.hpp"
#include "output/table_file.hpp"

namespace common {

/// Returns the names of the integrals over the domain.
[[nodiscard]] std::vector<std::string> names_of_totals(const ramify::amr_setup& flow);

/// Returns the number of cells of a block.
[[nodiscard]] double cells_of_a_block(const ramify::amr_setup& flow);

/// Returns the time of the first frame after `now`, or the end.
[[nodiscard]] double next_frame_time(const amr_settings& s, double now);

/// Returns the names of the columns of probes.csv: "density_1" is the density at the first probe.
[[nodiscard]] std::vector<std::string> columns_of_probes(const amr_settings& s);

/// Returns a row of probes.csv.
[[nodiscard]] std::vector<double> row_of_probes(const amr_settings& s,
                                                const ramify::mesh_snapshot& mesh);

/// Writes the files of a frame.
void write_frame(const amr_settings& s, std::uint32_t number, const ramify::mesh_snapshot& mesh);

/// Writes the meshes, the pictures, the tables and the history of a run. On several ranks only the
/// first one writes; the functions are collective.
class amr_recorder {
 public:
  amr_recorder(const amr_settings& settings, const amr_checkpoint* from, bool writes)
      : settings_(settings), frames_(from == nullptr ? 0 : from->frames_written) {
    if (!writes) return;
    const auto probes =
        settings.probes.empty() ? std::vector<std::string>{} : columns_of_probes(settings);
    if (from == nullptr) {
      series_.emplace(series_path(settings));
      history_.emplace(history_path(settings), columns());
      if (!probes.empty()) probes_.emplace(probes_path(settings), probes);
    } else {
      series_ = pvd_series::resume(series_path(settings), from->state.time);
      history_ = table_file::resume(history_path(settings), columns(), from->state.time);
      if (!probes.empty()) {
        probes_ = table_file::resume(probes_path(settings), probes, from->state.time);
      }
    }
  }

  [[nodiscard]] std::uint32_t frames() const { return frames_; }

  template <class Simulation>
  void add_row(const Simulation& flow) {
    const ramify::amr_report report = flow.report();
    std::vector<double> row{report.time, double(report.steps), double(report.leaves),
                            double(report.leaves) * cells_of_a_block(settings_.flow)};
    for (const double total : flow.totals()) row.push_back(total);
    if (history_) history_->append(row);
    if (settings_.probes.empty()) return;
    const ramify::mesh_snapshot mesh = output_snapshot(settings_, flow);
    if (probes_) probes_->append(row_of_probes(settings_, mesh));
  }

  template <class Simulation>
  void add_frame(const Simulation& flow) {
    const ramify::mesh_snapshot mesh = output_snapshot(settings_, flow);
    const std::uint32_t number = frames_++;
    if (!series_) return;
    write_frame(settings_, number, mesh);
    series_->add(mesh.time, frame_path(settings_, number).string() + mesh_extension(settings_));
  }

 private:
  [[nodiscard]] std::vector<std::string> columns() const {
    std::vector<std::string> names{"time", "step", "leaves", "cells"};
    for (const std::string& name : names_of_totals(settings_.flow)) names.push_back(name);
    return names;
  }

  amr_settings settings_;
  std::uint32_t frames_;
  std::optional<pvd_series> series_;
  std::optional<table_file> history_, probes_;
};

}  // namespace common
