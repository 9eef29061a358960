// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The meshes, the pictures and the history that `amr` writes.

#include <cstdint>
#include <optional>
#include <ramify/amr.hpp>
#include <string>
#include <vector>

#include "amr_folder.hpp"
#include "output/amr_checkpoint.hpp"
#include "output/mesh_image.hpp"
#include "output/pvd_series.hpp"
#include "output/table_file.hpp"
#include "output/vtu_file.hpp"

namespace common {

/// Returns the names of the integrals over the domain.
[[nodiscard]] std::vector<std::string> names_of_totals(const ramify::amr_setup& flow);

/// Returns the number of cells of a block.
[[nodiscard]] double cells_of_a_block(const ramify::amr_setup& flow);

/// Returns the time of the first frame after `now`, or the end.
[[nodiscard]] double next_frame_time(const amr_settings& s, double now);

/// Writes the meshes, the pictures and the history of a run. On several ranks only the first one
/// writes; the functions are collective.
class amr_recorder {
 public:
  amr_recorder(const amr_settings& settings, const amr_checkpoint* from, bool writes)
      : settings_(settings), frames_(from == nullptr ? 0 : from->frames_written) {
    if (!writes) return;
    if (from == nullptr) {
      series_.emplace(series_path(settings));
      history_.emplace(history_path(settings), columns());
    } else {
      series_ = pvd_series::resume(series_path(settings), from->state.time);
      history_ = table_file::resume(history_path(settings), columns(), from->state.time);
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
  }

  template <class Simulation>
  void add_frame(const Simulation& flow) {
    const ramify::mesh_snapshot mesh = flow.snapshot(ramify::amr_fields::primitive);
    const std::string frame = frame_path(settings_, frames_).string();
    ++frames_;
    if (!series_) return;
    write_vtu(frame + ".vtu", mesh);
    write_png(frame + ".png", draw_mesh(mesh, settings_.field));
    series_->add(mesh.time, frame + ".vtu");
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
  std::optional<table_file> history_;
};

}  // namespace common
