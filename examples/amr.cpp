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
#include <algorithm>
#include <chrono>
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
#include "common/amr_processes.hpp"
#include "common/amr_recorder.hpp"
#include "common/amr_summary.hpp"
#include "common/cli.hpp"
#include "common/output_file.hpp"
#include "common/progress_bar.hpp"
#include "common/report_json.hpp"
#include "common/stop_request.hpp"
#include "common/text_file.hpp"
#include "common/trace_option.hpp"

#if RAMIFY_HAS_MPI
#include <ramify/cluster/session.hpp>

#include "common/cluster_program.hpp"
#endif

namespace {

template <class Simulation>
void print_table_row(const Simulation& flow, bool header) {
  if (header) std::cout << "       time      step    leaves     blocks  finest level\n";
  const ramify::amr_report report = flow.report();
  std::cout << std::setw(11) << report.time << std::setw(10) << report.steps << std::setw(10)
            << report.leaves << std::setw(11) << report.blocks << std::setw(14)
            << report.finest_level << std::endl;
}

template <class Processes>
auto start(const Processes& processes, const common::amr_settings& settings,
           const common::amr_command_line& o, const common::amr_checkpoint* from) {
  processes.check(settings.flow);
  if (from == nullptr) return processes.start(settings.flow);
  try {
    return processes.start(settings.flow, from->state);
  } catch (const std::invalid_argument& e) {  // the options are valid, so the state is not
    throw common::bad_input(o.restart + " cannot be continued: " + e.what());
  }
}

/// The number of steps until the next multiple of `every`.
std::uint64_t steps_until_multiple(std::uint64_t step, std::uint64_t every) {
  return every - step % every;
}

/// Advances a flow, and writes its files meanwhile. All functions are collective.
template <class Processes, class Simulation>
class stepper {
 public:
  /// `now` has all of a checkpoint except the state and the number of frames.
  stepper(const common::amr_command_line& o, const Processes& processes, Simulation& flow,
          common::amr_recorder& files, common::amr_checkpoint& now)
      : o_(o),
        processes_(processes),
        flow_(flow),
        files_(files),
        now_(now),
        bar_(std::uint64_t(ticks), nullptr, o.quiet),
        begin_(flow.time()) {}

  /// Writes the first row of the history and the first frame of a new run.
  void begin(bool is_new) {
    print_row(true);
    if (is_new) {
      files_.add_row(flow_);
      if (now_.settings.frames > 0) files_.add_frame(flow_);
    } else if (o_.checkpoint == o_.restart) {
      saved_ = flow_.steps();
    }
  }

  /// Advances until the end or a signal. Returns the seconds of the steps.
  double run(const common::stop_request& stop) {
    const double end = now_.settings.flow.end_time;
    double all_seconds = 0;
    std::uint64_t steps_at_most = 1;  // of a call, so that a stop request is soon seen
    int signal = processes_.largest(stop.signal());
    while (flow_.time() < end && signal == 0) {
      const double target = common::next_frame_time(now_.settings, flow_.time());
      const std::uint64_t steps = std::min(steps_at_most, steps_until_a_file());
      const double seconds = advance(steps, target);
      all_seconds += seconds;
      steps_at_most = seconds < 0.25 ? 2 * steps : std::max<std::uint64_t>(steps / 2, 1);
      bar_.show(std::uint64_t(ticks * (flow_.time() - begin_) / (end - begin_)));
      write_due(flow_.time() == target);
      signal = processes_.largest(stop.signal());
    }
    // At the end, after a signal, or without any step.
    if (!o_.checkpoint.empty() && saved_ != flow_.steps()) save();
    return all_seconds;
  }

 private:
  static constexpr double ticks = 10'000;

  /// Returns the number of steps until the next row of the history or checkpoint.
  [[nodiscard]] std::uint64_t steps_until_a_file() const {
    const std::uint64_t row = steps_until_multiple(flow_.steps(), now_.settings.history_every);
    if (o_.checkpoint.empty()) return row;
    return std::min(row, steps_until_multiple(flow_.steps(), o_.checkpoint_every));
  }

  /// Returns the seconds. \throws std::runtime_error that names the last checkpoint
  double advance(std::uint64_t steps, double target) {
    using clock = std::chrono::steady_clock;
    const auto before = clock::now();
    try {
      flow_.advance(steps, target);
    } catch (const ramify::amr_error& e) {
      std::string what = e.what();
      if (saved_) what += "; " + o_.checkpoint + " is of step " + std::to_string(*saved_);
      if (now_.settings.flow.trace) common::write_trace(o_.trace, *now_.settings.flow.trace);
      throw std::runtime_error(what);
    }
    return processes_.of_first(std::chrono::duration<double>(clock::now() - before).count());
  }

  void write_due(bool is_frame) {
    if (is_frame || flow_.steps() % now_.settings.history_every == 0) files_.add_row(flow_);
    if (is_frame) {
      if (now_.settings.frames > 0) files_.add_frame(flow_);
      print_row(false);
    }
    if (!o_.checkpoint.empty() && flow_.steps() % o_.checkpoint_every == 0) save();
  }

  void save() {
    now_.state = flow_.state();
    now_.frames_written = files_.frames();
    if (processes_.is_first()) common::write_amr_checkpoint(o_.checkpoint, now_);
    saved_ = flow_.steps();
  }

  void print_row(bool header) {
    if (o_.quiet || o_.report == "json") return;
    bar_.clear();
    print_table_row(flow_, header);
  }

  const common::amr_command_line& o_;
  const Processes& processes_;
  Simulation& flow_;
  common::amr_recorder& files_;
  common::amr_checkpoint& now_;
  common::progress_bar bar_;
  double begin_;
  std::optional<std::uint64_t> saved_;  // the step of the checkpoint
};

/// Adds the results of a flow at its end. Collective.
template <class Simulation>
void add_results(common::amr_summary& all, const Simulation& flow) {
  const auto report = flow.report();
  all.report = report;
  if constexpr (requires { report.cluster; }) {
    all.division = {{"moved_blocks", report.moved_blocks},
                    {"halo_blocks", report.halo_blocks},
                    {"cost_imbalance", report.cost_imbalance}};
    all.cluster = report.cluster;
  }
  all.last_totals = flow.totals();
  if (common::has_returned(all.settings.flow, flow.time())) all.errors = flow.change_since_start();
  all.leaves_of_level.resize(std::size_t(all.report.finest_level) + 1);
  for (const ramify::block_position& leaf : flow.snapshot().leaves) {
    ++all.leaves_of_level[std::size_t(leaf.level)];
  }
}

/// Simulates, and writes the files of a run. `processes` is one of amr_processes.hpp. Collective.
template <class Processes>
common::amr_summary simulate(const common::amr_command_line& o, const common::stop_request& stop,
                             const Processes& processes) {
  // 1. Read the settings, and check the output.
  std::optional<common::amr_checkpoint> from;
  if (!o.restart.empty()) from = processes.read(o.restart);
  const common::amr_checkpoint* const kept = from ? &*from : nullptr;
  common::amr_checkpoint now;
  now.settings = from ? settings_of(o, *from) : settings_of(o);
  ramify::launch_trace trace;
  std::vector<std::filesystem::path> replaced;
  std::optional<common::run_folder> folder;
  if (processes.is_first()) {
    if (!o.trace.empty()) now.settings.flow.trace = &trace;
    if (!from) replaced = common::old_frames(now.settings, o.files.force);
    folder.emplace(now.settings.output_dir);
    common::check_own_names(now.settings, o.files);
    common::check_output_file(common::history_path(now.settings));
    if (!o.plotfile.empty()) common::check_plotfile_folder(o.plotfile, now.settings, o.files);
  }
  // 2. Start.
  auto flow = start(processes, now.settings, o, kept);
  common::remove_files(replaced);
  common::amr_recorder files(now.settings, kept, processes.is_first());
  now.first_totals = from ? from->first_totals : flow.totals();
  common::amr_summary all;
  all.first_totals = now.first_totals;
  const std::uint64_t first_updates = flow.report().cell_updates;
  // 3. Advance.
  stepper steps(o, processes, flow, files, now);
  steps.begin(!from);
  all.seconds = steps.run(stop);
  // 4. Write the last files, and collect the results.
  if (!o.plotfile.empty()) processes.write_last(o.plotfile, flow);
  if (processes.is_first()) common::write_trace(o.trace, trace);
  if (o.report != "json") common::print_trace(std::cout, o.trace, trace, Processes::trace_of);
  all.settings = now.settings;
  all.settings.flow.trace = nullptr;  // the trace ends with this function
  add_results(all, flow);
  all.cell_updates = all.report.cell_updates - first_updates;
  return all;
}

/// Runs the program. If a signal has stopped it, returns the exception that ends it. Collective.
template <class Processes>
std::optional<common::stopped> run(const common::amr_command_line& o, const Processes& processes) {
  std::optional<common::run_folder> folder;  // made first, because it may contain the checkpoint
  if (processes.is_first()) {
    if (o.output_dir && !o.output_dir->empty()) folder.emplace(*o.output_dir);
    o.files.check();
  }
  const common::stop_request stop;
  const common::amr_summary all = simulate(o, stop, processes);
  if (processes.is_first()) {
    common::write_report(
        o.report, std::cout, [&] { return to_json(all); },
        [&](std::ostream& out) { print(out, all); });
  }
  const int signal = processes.largest(stop.signal());
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
