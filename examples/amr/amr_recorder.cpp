// SPDX-License-Identifier: BSD-3-Clause
#include "amr_recorder.hpp"

#include <algorithm>
#include <cmath>

#include "output/htg_file.hpp"
#include "output/mesh_image.hpp"
#include "output/mesh_rows.hpp"
#include "output/vtu_file.hpp"

namespace common {
namespace {

/// Returns the time of a frame. The first frame has number 0.
double time_of_frame(const amr_settings& s, double number) {
  return s.frames == 0 ? INFINITY : s.framed_until * number / double(s.frames);
}

}  // namespace

std::vector<std::string> names_of_totals(const ramify::amr_setup& flow) {
  auto names = field_names(flow, ramify::amr_fields::conserved);
  if (names.front() == "density") names.front() = "mass";
  return names;
}

double cells_of_a_block(const ramify::amr_setup& flow) {
  return flow.dimensions == 2 ? 16 * 16 : 8 * 8 * 8;
}

double next_frame_time(const amr_settings& s, double now) {
  if (s.frames == 0) return s.flow.end_time;
  double number = std::floor(now / s.framed_until * double(s.frames));
  // Rounding may give a frame that is not after `now`. Beyond 2^53 there may be no next number.
  for (int i = 0; i < 2 && time_of_frame(s, number) <= now; ++i) ++number;
  const double next = time_of_frame(s, number);
  return next > now ? std::min(next, s.flow.end_time) : s.flow.end_time;
}

std::vector<std::string> columns_of_probes(const amr_settings& s) {
  std::vector<std::string> names{"time", "step"};
  for (std::size_t i = 1; i <= s.probes.size(); ++i) {
    for (const std::string& field : output_fields(s)) {
      names.push_back(field + '_' + std::to_string(i));
    }
  }
  return names;
}

std::vector<double> row_of_probes(const amr_settings& s, const ramify::mesh_snapshot& mesh) {
  std::vector<double> row{mesh.time, double(mesh.step)};
  for (const std::string& probe : s.probes) {
    const auto values = values_at(mesh, parse_point(probe, s.flow.dimensions));
    row.insert(row.end(), values.begin(), values.end());
  }
  return row;
}

void write_frame(const amr_settings& s, std::uint32_t number, const ramify::mesh_snapshot& mesh) {
  const std::string frame = frame_path(s, number).string();
  const auto write_mesh = s.htg ? write_htg : write_vtu;
  write_mesh(frame + mesh_extension(s), mesh,
             s.float32 ? vtu_numbers::float32 : vtu_numbers::float64);
  mesh_image_options options;
  if (s.range) options.least = (*s.range)[0], options.greatest = (*s.range)[1];
  write_png(frame + ".png", draw_labeled_mesh(mesh, s.field, options, s.units));
  const int dim = s.flow.dimensions;
  for (std::size_t i = 0; i < s.slices.size(); ++i) {
    write_rows(frame + ".slice" + std::to_string(i + 1) + ".csv",
               rows_of_slice(mesh, parse_slice(s.slices[i], dim)));
  }
  for (std::size_t i = 0; i < s.lines.size(); ++i) {
    write_rows(frame + ".line" + std::to_string(i + 1) + ".csv",
               rows_of_line(mesh, parse_line(s.lines[i], dim)));
  }
}

}  // namespace common
