// SPDX-License-Identifier: BSD-3-Clause
// Flow on an adaptive mesh: standard problems.
//
//   amr                                                     # two streams with a shear instability
//   amr --problem sedov --max-level 5 --output-dir blast
//   amr --restart blast.ckpt --checkpoint blast.ckpt --t-end 2 --output-dir blast
//   mpirun -n 4 amr --dim 3 --problem sedov --max-level 3
//
// Exit status: 0 success; 1 the simulation failed; 2 a bad option; 3 the checkpoint cannot be read
// or is damaged; 4 this machine or build cannot run the backend or the route; 5 the output cannot
// be written.
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <iomanip>
#include <iostream>
#include <optional>
#include <ramify/amr.hpp>
#include <string>
#include <vector>

#include "common/amr_checkpoint.hpp"
#include "common/amr_command_line.hpp"
#include "common/amr_folder.hpp"
#include "common/amr_host.hpp"
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

#if RAMIFY_HAS_MPI
#include <ramify/cluster/session.hpp>

#include "common/cluster_program.hpp"
#endif

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

/// Writes all files of a run except checkpoints. On several ranks only the first one writes; the
/// functions are collective.
class recorder {
 public:
  recorder(const common::amr_settings& settings, const common::amr_checkpoint* from, bool writes)
      : settings_(settings), frames_(from == nullptr ? 0 : from->frames_written) {
    if (!writes) return;
    if (from == nullptr) {
      series_.emplace(common::series_path(settings));
      history_.emplace(common::history_path(settings), columns());
    } else {
      series_ = common::pvd_series::resume(common::series_path(settings), from->state.time);
      history_ =
          common::table_file::resume(common::history_path(settings), columns(), from->state.time);
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
    const std::string frame = common::frame_path(settings_, frames_).string();
    ++frames_;
    if (!series_) return;
    common::write_vtu(frame + ".vtu", mesh);
    common::write_png(frame + ".png", common::draw_mesh(mesh, settings_.field));
    series_->add(mesh.time, frame + ".vtu");
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
  std::optional<common::pvd_series> series_;
  std::optional<common::table_file> history_;
};

template <class Simulation>
void print_table_row(const Simulation& flow, bool header) {
  if (header) std::cout << "       time      step    leaves     blocks  finest level\n";
  const ramify::amr_report report = flow.report();
  std::cout << std::setw(11) << report.time << std::setw(10) << report.steps << std::setw(10)
            << report.leaves << std::setw(11) << report.blocks << std::setw(14)
            << report.finest_level << std::endl;
}

template <class Host>
auto start(const Host& host, const common::amr_settings& settings,
           const common::amr_command_line& o, const common::amr_checkpoint* from) {
  host.check(settings.flow);
  if (from == nullptr) return host.start(settings.flow);
  try {
    return host.start(settings.flow, from->state);
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
  std::vector<double> errors;       ///< empty where the exact solution is not known
  nlohmann::ordered_json division;  ///< of the blocks among ranks; null: one process
  std::optional<ramify::cluster_report> cluster;
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

/// Simulates, and writes the files of a run. `host` is one of amr_host.hpp. Collective.
template <class Host>
summary simulate(const common::amr_command_line& o, const common::stop_request& stop,
                 const Host& host) {
  using clock = std::chrono::steady_clock;
  std::optional<common::amr_checkpoint> from;
  if (!o.restart.empty()) from = host.read(o.restart);
  const common::amr_checkpoint* const kept = from ? &*from : nullptr;
  common::amr_checkpoint now;
  now.settings = from ? settings_of(o, *from) : settings_of(o);
  ramify::launch_trace trace;
  std::vector<std::filesystem::path> replaced;
  std::optional<common::run_folder> folder;
  if (host.is_first()) {
    if (!o.trace.empty()) now.settings.flow.trace = &trace;
    if (!from) replaced = common::old_frames(now.settings, o.files.force);
    folder.emplace(now.settings.output_dir);
    common::check_own_names(now.settings, o.files);
    common::check_output_file(common::history_path(now.settings));
    if (!o.plotfile.empty()) common::check_plotfile_folder(o.plotfile, now.settings, o.files);
  }
  auto flow = start(host, now.settings, o, kept);
  common::remove_files(replaced);
  recorder files(now.settings, kept, host.is_first());
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
    if (host.is_first()) common::write_amr_checkpoint(o.checkpoint, now);
    saved = flow.steps();
  };
  std::uint64_t steps_at_most = 1;  // of a call, so that a stop request is soon seen
  int signal = host.largest(stop.signal());
  while (flow.time() < end && signal == 0) {
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
      if (host.is_first()) common::write_trace(o.trace, trace);
      throw std::runtime_error(what);
    }
    const double seconds =
        host.of_first(std::chrono::duration<double>(clock::now() - before).count());
    all.seconds += seconds;
    steps_at_most = seconds < 0.25 ? 2 * steps : std::max<std::uint64_t>(steps / 2, 1);
    bar.show(std::uint64_t(ticks * (flow.time() - begin) / (end - begin)));
    const bool is_frame = flow.time() == target;
    if (is_frame || flow.steps() % now.settings.history_every == 0) files.add_row(flow);
    if (is_frame) {
      if (now.settings.frames > 0) files.add_frame(flow);
      print_row(false);
    }
    if (!o.checkpoint.empty() && flow.steps() % o.checkpoint_every == 0) save();
    signal = host.largest(stop.signal());
  }
  // At the end, after a signal, or without any step.
  if (!o.checkpoint.empty() && saved != flow.steps()) save();

  if (!o.plotfile.empty()) host.write_last(o.plotfile, flow);
  if (host.is_first()) common::write_trace(o.trace, trace);
  if (o.report != "json") common::print_trace(std::cout, o.trace, trace, Host::trace_of);
  all.settings = now.settings;
  all.settings.flow.trace = nullptr;  // the trace ends with this function
  const auto report = flow.report();
  all.report = report;
  if constexpr (requires { report.cluster; }) {
    all.division = {{"moved_blocks", report.moved_blocks},
                    {"halo_blocks", report.halo_blocks},
                    {"cost_imbalance", report.cost_imbalance}};
    all.cluster = report.cluster;
  }
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
  if (all.cluster) {
    json.update(all.division);
    json.update(common::to_json(*all.cluster));
  }
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
  if (!all.cluster) return;
  out << "moved blocks: " << all.division["moved_blocks"]
      << "\nhalo blocks: " << all.division["halo_blocks"]
      << "\nimbalance of costs: " << all.division["cost_imbalance"] << '\n'
      << *all.cluster;
}

/// Runs the program. If a signal has stopped it, returns the exception that ends it. Collective.
template <class Host>
std::optional<common::stopped> run(const common::amr_command_line& o, const Host& host) {
  std::optional<common::run_folder> folder;  // made first, because it may contain the checkpoint
  if (host.is_first()) {
    if (o.output_dir && !o.output_dir->empty()) folder.emplace(*o.output_dir);
    o.files.check();
  }
  const common::stop_request stop;
  const summary all = simulate(o, stop, host);
  if (host.is_first()) {
    common::write_report(
        o.report, std::cout, [&] { return to_json(all); },
        [&](std::ostream& out) { print(out, all); });
  }
  const int signal = host.largest(stop.signal());
  if (signal == 0) return std::nullopt;
  return common::stopped_by(
      signal, "step " + std::to_string(all.report.steps) + ", time " +
                  nlohmann::json(all.report.time).dump() +
                  (o.checkpoint.empty() ? ": no checkpoint was requested"
                                        : ": " + o.checkpoint + " has the checkpoint"));
}

int run_program(int argc, char** argv, common::amr_command_line& o,
                const std::function<void()>& body, bool is_rank = false) {
  return common::run_program(
      "amr", "Flow on an adaptive mesh.", argc, argv,
      [&](CLI::App& app) { common::declare(app, o); }, body, is_rank);
}

#if RAMIFY_HAS_MPI

// ---- under mpirun: each rank has a part of the blocks ----

int main_of_rank(int argc, char** argv, const std::function<int()>& alone) {
  common::amr_command_line o;
  std::optional<common::stopped> end;
  return common::main_of_rank(
      [&](const auto& run_on_ranks) {
        return run_program(
            argc, argv, o,
            [&] {
              run_on_ranks();
              // The others end after rank 0 has printed the message.
              if (end) throw *end;
            },
            true);
      },
      o.where.backend,
      [&](ramify::communicator& comm) {
        const auto stopped = run(o, common::amr_on_ranks{comm});
        if (comm.rank() == 0) end = stopped;
      },
      alone);
}

#endif

}  // namespace

int main(int argc, char** argv) {
  const auto alone = [&] {
    common::amr_command_line o;
    return run_program(argc, argv, o, [&] {
      if (const auto end = run(o, common::amr_in_one_process{})) throw *end;
    });
  };
#if RAMIFY_HAS_MPI
  if (ramify::mpi_session::is_launched()) return main_of_rank(argc, argv, alone);
#endif
  return alone();
}
