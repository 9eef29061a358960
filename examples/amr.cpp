// SPDX-License-Identifier: BSD-3-Clause
// Flow on an adaptive mesh: standard problems.
//
//   amr                                                     # two streams with a shear instability
//   amr --problem sedov --max-level 5 --output-dir blast
//   amr --restart blast.ckpt --checkpoint blast.ckpt --t-end 2 --output-dir blast
//
// Exit status: 0 success; 1 the simulation failed; 2 a bad option; 3 the checkpoint cannot be read
// or is damaged; 4 this machine or build cannot run the backend or the route; 5 the output cannot
// be written.
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <optional>
#include <ramify/amr.hpp>
#include <string>
#include <vector>

#include "common/amr_checkpoint.hpp"
#include "common/amr_command_line.hpp"
#include "common/amr_folder.hpp"
#include "common/cli.hpp"
#include "common/mesh_image.hpp"
#include "common/output_file.hpp"
#include "common/progress_bar.hpp"
#include "common/report_json.hpp"
#include "common/stop_request.hpp"
#include "common/table_file.hpp"
#include "common/text_file.hpp"
#include "common/trace_option.hpp"
#include "common/vtu_file.hpp"

namespace {

/// The names of the integrals over the domain.
std::vector<std::string> names_of_totals(const ramify::amr_options& flow) {
  auto names = field_names(flow, ramify::amr_fields::conserved);
  if (names.front() == "density") names.front() = "mass";
  return names;
}

/// The time of a frame. The first frame has number 0.
double time_of_frame(const common::amr_settings& s, double number) {
  return s.frames == 0 ? INFINITY : s.framed_until * number / double(s.frames);
}

/// The time of the first frame after `now`, or the end.
double next_frame_time(const common::amr_settings& s, double now) {
  if (s.frames == 0) return s.flow.end_time;
  double number = std::floor(now / s.framed_until * double(s.frames));
  // Rounding may give a frame that is not after `now`. Beyond 2^53 there may be no next number.
  for (int i = 0; i < 2 && time_of_frame(s, number) <= now; ++i) ++number;
  const double next = time_of_frame(s, number);
  return next > now ? std::min(next, s.flow.end_time) : s.flow.end_time;
}

/// Writes all files of a run except checkpoints.
class recorder {
 public:
  recorder(const common::amr_settings& settings, const common::amr_checkpoint* from)
      : settings_(settings),
        frames_(from == nullptr ? 0 : from->frames_written),
        series_(from == nullptr
                    ? common::pvd_series(common::series_path(settings))
                    : common::pvd_series::resume(common::series_path(settings), from->state.time)),
        history_(from == nullptr ? common::table_file(common::history_path(settings), columns())
                                 : common::table_file::resume(common::history_path(settings),
                                                              columns(), from->state.time)) {}

  [[nodiscard]] std::uint32_t frames() const { return frames_; }

  void add_row(const ramify::amr_simulation& flow) {
    const ramify::amr_report report = flow.report();
    std::vector<double> row{report.time, double(report.steps), double(report.leaves),
                            double(report.leaves) * cells_of_a_block(settings_.flow)};
    for (const double total : flow.totals()) row.push_back(total);
    history_.append(row);
  }

  void add_frame(const ramify::amr_simulation& flow) {
    const ramify::mesh_snapshot mesh = flow.snapshot(ramify::amr_fields::primitive);
    const std::string frame = common::frame_path(settings_, frames_).string();
    common::write_vtu(frame + ".vtu", mesh);
    common::write_png(frame + ".png", common::draw_mesh(mesh, settings_.field));
    series_.add(mesh.time, frame + ".vtu");
    ++frames_;
  }

  [[nodiscard]] static double cells_of_a_block(const ramify::amr_options& flow) {
    return flow.dimensions == 2 ? 16 * 16 : 8 * 8 * 8;
  }

 private:
  [[nodiscard]] std::vector<std::string> columns() const {
    std::vector<std::string> names{"time", "step", "leaves", "cells"};
    for (const std::string& name : names_of_totals(settings_.flow)) names.push_back(name);
    return names;
  }

  common::amr_settings settings_;
  std::uint32_t frames_;
  common::pvd_series series_;
  common::table_file history_;
};

void print_table_row(const ramify::amr_simulation& flow, bool header) {
  if (header) std::cout << "       time      step    leaves     blocks  finest level\n";
  const ramify::amr_report report = flow.report();
  std::cout << std::setw(11) << report.time << std::setw(10) << report.steps << std::setw(10)
            << report.leaves << std::setw(11) << report.blocks << std::setw(14)
            << report.finest_level << std::endl;
}

ramify::amr_simulation start(const common::amr_settings& settings,
                             const common::amr_command_line& o,
                             const common::amr_checkpoint* from) {
  if (from == nullptr) return ramify::amr_simulation(settings.flow);
  try {
    return {settings.flow, from->state};
  } catch (const std::invalid_argument& e) {  // the options are valid, so the state is not
    throw common::bad_input(o.restart + " cannot be continued: " + e.what());
  }
}

/// The number of steps until the next multiple of `every`.
std::uint64_t steps_until_multiple(std::uint64_t step, std::uint64_t every) {
  return every - step % every;
}

/// The results at the end.
struct summary {
  common::amr_settings settings;
  ramify::amr_report report;
  std::uint64_t cell_updates = 0;  ///< of this program run alone
  double seconds = 0;              ///< time of its steps
  std::vector<std::uint64_t> leaves_of_level;
  std::vector<double> first_totals, last_totals;
  std::vector<double> errors;  ///< empty where the exact solution is not known
};

/// Which totals change only by rounding: all of a closed domain, except momenta toward walls.
std::vector<bool> conserved_totals(const ramify::amr_options& flow) {
  const auto has = [&](int axis, ramify::boundary side) {
    const auto& sides = flow.mesh.sides[std::size_t(axis)];
    return sides[0] == side || sides[1] == side;
  };
  bool closed = true;
  for (int axis = 0; axis < flow.dimensions; ++axis) {
    if (has(axis, ramify::boundary::outflow)) closed = false;
  }
  std::vector<bool> conserved(names_of_totals(flow).size(), closed);
  for (std::size_t v = 1; v + 1 < conserved.size(); ++v) {
    if (!has(int(v) - 1, ramify::boundary::periodic)) conserved[v] = false;
  }
  return conserved;
}

/// Whether the exact solution at this time is the initial state.
bool has_returned(const ramify::amr_options& flow, double time) {
  const double period = return_time(flow);
  if (period == 0 || time == 0) return false;
  const double periods = time / period;
  return std::abs(periods - std::round(periods)) < 1e-9 * periods;
}

summary simulate(const common::amr_command_line& o, const common::stop_request& stop) {
  using clock = std::chrono::steady_clock;
  std::optional<common::amr_checkpoint> from;
  if (!o.restart.empty()) from = common::read_amr_checkpoint(o.restart);
  const common::amr_checkpoint* const kept = from ? &*from : nullptr;
  common::amr_checkpoint now;
  now.settings = from ? settings_of(o, *from) : settings_of(o);
  ramify::launch_trace trace;
  if (!o.trace.empty()) now.settings.flow.trace = &trace;
  std::vector<std::filesystem::path> replaced;
  if (!from) replaced = common::old_frames(now.settings, o.files.force);
  const common::run_folder folder(now.settings.output_dir);
  common::check_own_names(now.settings, o.files);
  common::check_output_file(common::history_path(now.settings));
  ramify::amr_simulation flow = start(now.settings, o, kept);
  common::remove_files(replaced);
  recorder files(now.settings, kept);
  now.first_totals = from ? from->first_totals : flow.totals();

  const double begin = flow.time();
  const double end = now.settings.flow.end_time;
  constexpr double ticks = 10'000;
  common::progress_bar bar(std::uint64_t(ticks), nullptr, o.quiet);
  const auto print_row = [&](bool header) {
    if (o.quiet || o.report == "json") return;
    bar.clear();
    print_table_row(flow, header);
  };
  print_row(true);
  if (!from) {
    files.add_row(flow);
    if (now.settings.frames > 0) files.add_frame(flow);
  }

  summary all;
  const std::uint64_t first_updates = flow.report().cell_updates;
  std::optional<std::uint64_t> saved;  // the step of the checkpoint
  if (from && o.checkpoint == o.restart) saved = flow.steps();
  const auto save = [&] {
    now.state = flow.state();
    now.frames_written = files.frames();
    common::write_amr_checkpoint(o.checkpoint, now);
    saved = flow.steps();
  };
  std::uint64_t steps_at_most = 1;  // of a call, so that a stop request is soon seen
  while (flow.time() < end && !stop.made()) {
    const double target = next_frame_time(now.settings, flow.time());
    std::uint64_t steps =
        std::min(steps_at_most, steps_until_multiple(flow.steps(), now.settings.history_every));
    if (!o.checkpoint.empty()) {
      steps = std::min(steps, steps_until_multiple(flow.steps(), o.checkpoint_every));
    }
    const auto before = clock::now();
    try {
      flow.advance(steps, target);
    } catch (const ramify::amr_error& e) {
      std::string what = e.what();
      if (saved) what += "; " + o.checkpoint + " is of step " + std::to_string(*saved);
      common::write_trace(o.trace, trace);
      throw std::runtime_error(what);
    }
    const double seconds = std::chrono::duration<double>(clock::now() - before).count();
    all.seconds += seconds;
    steps_at_most = seconds < 0.25 ? 2 * steps : std::max<std::uint64_t>(steps / 2, 1);
    bar.show(std::uint64_t(ticks * (flow.time() - begin) / (end - begin)));
    const bool is_frame = flow.time() == target;
    if (is_frame || flow.steps() % now.settings.history_every == 0) files.add_row(flow);
    if (is_frame) {
      if (now.settings.frames > 0) files.add_frame(flow);
      print_row(false);
    }
    if (!o.checkpoint.empty() && (flow.steps() % o.checkpoint_every == 0 || flow.time() >= end)) {
      save();
    }
  }
  if (stop.made() && !o.checkpoint.empty() && saved != flow.steps()) save();

  common::write_trace(o.trace, trace);
  if (o.report != "json") common::print_trace(std::cout, o.trace, trace);
  all.settings = now.settings;
  all.settings.flow.trace = nullptr;  // the trace ends with this function
  all.report = flow.report();
  all.cell_updates = all.report.cell_updates - first_updates;
  all.first_totals = now.first_totals;
  all.last_totals = flow.totals();
  if (has_returned(now.settings.flow, flow.time())) all.errors = flow.change_since_start();
  all.leaves_of_level.resize(std::size_t(all.report.finest_level) + 1);
  for (const ramify::block_position& leaf : flow.snapshot().leaves) {
    ++all.leaves_of_level[std::size_t(leaf.level)];
  }
  return all;
}

nlohmann::ordered_json to_json(const summary& all) {
  auto json = common::new_report("amr");
  json["settings"] = common::to_json(all.settings);
  json.update(common::to_json(all.report));
  json["leaves_of_level"] = all.leaves_of_level;
  const auto names = names_of_totals(all.settings.flow);
  const auto conserved = conserved_totals(all.settings.flow);
  for (std::size_t v = 0; v < names.size(); ++v) {
    json["totals"].push_back({{"name", names[v]},
                              {"first", all.first_totals[v]},
                              {"last", all.last_totals[v]},
                              {"conserved", bool(conserved[v])}});
  }
  const auto fields = field_names(all.settings.flow, ramify::amr_fields::conserved);
  for (std::size_t v = 0; v < all.errors.size(); ++v) {
    json["l1_errors"][fields[v]] = all.errors[v];
  }
  json["seconds"] = all.seconds;
  json["cell_updates_per_second"] = all.seconds > 0 ? double(all.cell_updates) / all.seconds : 0;
  return json;
}

void print(std::ostream& out, const summary& all) {
  const ramify::amr_options& flow = all.settings.flow;
  out << static_cast<const ramify::run_report&>(all.report)
      << "problem: " << to_string(flow.problem) << " in " << flow.dimensions << "D, precision "
      << to_string(flow.precision) << "\ntime: " << all.report.time
      << "\nsteps: " << all.report.steps << "\nregrids: " << all.report.regrids << " ("
      << all.report.refined << " blocks refined, " << all.report.coarsened
      << " families coarsened)\nleaves:";
  for (std::size_t level = 0; level < all.leaves_of_level.size(); ++level) {
    out << (level == 0 ? " " : ", ") << all.leaves_of_level[level] << " of level " << level;
  }
  const double cells = double(all.report.leaves) * recorder::cells_of_a_block(flow);
  double uniform = recorder::cells_of_a_block(flow);
  for (int axis = 0; axis < flow.dimensions; ++axis) {
    uniform *= double(flow.mesh.roots[std::size_t(axis)]) * std::exp2(all.report.finest_level);
  }
  out << "\ncells: " << std::uint64_t(cells) << ", " << 100 * cells / uniform
      << " % of a uniform mesh of the finest level\n";
  const auto names = names_of_totals(flow);
  const auto conserved = conserved_totals(flow);
  for (std::size_t v = 0; v < names.size(); ++v) {
    if (!conserved[v]) continue;
    const double change = all.last_totals[v] - all.first_totals[v];
    // A momentum's first value may be 0.
    const bool relative = v == 0 || v + 1 == names.size();
    out << "drift of " << names[v] << ": " << (relative ? change / all.first_totals[v] : change)
        << (relative ? " (relative)\n" : " (absolute)\n");
  }
  const auto fields = field_names(flow, ramify::amr_fields::conserved);
  for (std::size_t v = 0; v < all.errors.size(); ++v) {
    out << "L1 error of " << fields[v] << ": " << all.errors[v] << '\n';
  }
  out << "seconds: " << all.seconds
      << "\ncell updates/s: " << (all.seconds > 0 ? double(all.cell_updates) / all.seconds : 0)
      << '\n';
  common::print_launch_costs(out, all.report);
}

void run(const common::amr_command_line& o) {
  std::optional<common::run_folder> folder;  // made first, because it may contain the checkpoint
  if (o.output_dir && !o.output_dir->empty()) folder.emplace(*o.output_dir);
  o.files.check();
  const common::stop_request stop;
  const summary all = simulate(o, stop);
  common::write_report(
      o.report, std::cout, [&] { return to_json(all); },
      [&](std::ostream& out) { print(out, all); });
  if (stop.made()) {
    stop.finish("step " + std::to_string(all.report.steps) + ", time " +
                nlohmann::json(all.report.time).dump() +
                (o.checkpoint.empty() ? ": no checkpoint was requested"
                                      : ": " + o.checkpoint + " has the checkpoint"));
  }
}

}  // namespace

int main(int argc, char** argv) {
  common::amr_command_line o;
  return common::run_program(
      "amr", "Flow on an adaptive mesh.", argc, argv,
      [&](CLI::App& app) { common::declare(app, o); }, [&] { run(o); });
}
