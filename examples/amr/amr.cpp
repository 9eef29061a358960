// SPDX-License-Identifier: BSD-3-Clause
// Flow on an adaptive mesh: standard problems.
//
//   amr                                                     # two streams with a shear instability
//   amr --problem sedov --max-level 5 --output-dir blast
//   amr --restart blast.ckpt --checkpoint blast.ckpt --t-end 2 --output-dir blast
//   mpirun -n 4 amr --dim 3 --problem sedov --max-level 3
//
// Option --help prints the exit statuses.
#include <filesystem>
#include <functional>
#include <iostream>
#include <optional>
#include <ramify/amr.hpp>
#include <string>
#include <vector>

#include "amr_command_line.hpp"
#include "amr_folder.hpp"
#include "amr_processes.hpp"
#include "amr_recorder.hpp"
#include "amr_stepper.hpp"
#include "amr_summary.hpp"
#include "common/cli.hpp"
#include "common/report_json.hpp"
#include "common/stop_request.hpp"
#include "common/text_file.hpp"
#include "common/trace_option.hpp"
#include "output/amr_checkpoint.hpp"

#if RAMIFY_HAS_MPI
#include <ramify/cluster/session.hpp>

#include "common/cluster_program.hpp"
#endif

namespace {

template <class Processes>
auto start(const Processes& processes, const common::amr_settings& settings,
           const common::amr_command_line& o, const common::amr_checkpoint* from) {
  processes.check(settings);
  if (from == nullptr) return processes.start(settings);
  try {
    return processes.start(settings, from->state);
  } catch (const std::invalid_argument& e) {  // the options are valid, so the state is not
    throw common::bad_input(o.restart + " cannot be continued: " + e.what());
  }
}

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
    if (!o.trace.empty()) now.settings.env.trace = &trace;
    if (!from) replaced = common::old_frames(now.settings, o.files.force);
    folder.emplace(now.settings.output_dir);
    common::check_own_names(now.settings, o.files);
    common::check_own_files(now.settings, from ? from->frames_written : 0);
    if (!o.checkpoint.empty()) common::check_for_checkpoint(now.settings);
    common::check_kept_names(o.checkpoint, o.keep, o.files);
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
  common::amr_stepper steps(o, processes, flow, files, now);
  steps.begin(!from);
  all.seconds = steps.run(stop);
  // 4. Write the last files, and collect the results.
  if (!o.plotfile.empty()) processes.write_last(o.plotfile, now.settings, flow);
  if (processes.is_first()) common::write_trace(o.trace, trace);
  if (o.report != "json") common::print_trace(std::cout, o.trace, trace, Processes::trace_of);
  all.settings = now.settings;
  all.settings.env.trace = nullptr;  // the trace ends with this function
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
                const std::function<void()>& body, const common::rank_agreement& agree = {}) {
  return common::run_program(
      "amr", "Flow on an adaptive mesh.", argc, argv,
      [&](CLI::App& app) { common::declare(app, o); }, body, agree);
}

#if RAMIFY_HAS_MPI

// ---- under mpirun: each rank has a part of the blocks ----

int main_of_rank(int argc, char** argv, const std::function<int()>& alone) {
  common::amr_command_line o;
  std::optional<common::stopped> end;
  return common::main_of_rank(
      [&](const auto& run_on_ranks, const auto& agree) {
        return run_program(
            argc, argv, o,
            [&] {
              run_on_ranks();
              // The others end after rank 0 has printed the message.
              if (end) throw *end;
            },
            agree);
      },
      o.env.backend,
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
