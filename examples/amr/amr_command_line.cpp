// SPDX-License-Identifier: BSD-3-Clause
#include "amr_command_line.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "common/cli.hpp"
#include "common/text_file.hpp"
#include "common/trace_option.hpp"

namespace common {
namespace {

/// "4", "4x2" or "4x2x2".
bool parse_blocks(const std::string& word, std::vector<unsigned>& blocks) {
  std::string_view rest = word;
  for (;;) {
    const auto end = std::min(rest.find('x'), rest.size());
    const auto number = parse<unsigned>(rest.substr(0, end));
    if (!number || *number < 1 || *number > 4096 || blocks.size() == 3) return false;
    blocks.push_back(*number);
    if (end == rest.size()) return true;
    rest.remove_prefix(end + 1);
  }
}

void declare_problem(CLI::App& app, amr_command_line& o) {
  const char* const flow = "Problem";
  app.add_option("--problem", parsed_by(ramify::parse_amr_problem, o.problem),
                 "kelvin-helmholtz (the default), sod, sedov, linear-wave, advect-gaussian or "
                 "vortex-in-box")
      ->group(flow);
  app.add_option("--dim", o.dim, "Dimensions: 2 (the default) or 3")
      ->transform(whole_number(2, 3))
      ->group(flow);
  app.add_option("--t-end", o.t_end, "End time; default: the customary one of the problem")
      ->check(number_in(1e-30, 1e30))
      ->group(flow);
}

void declare_mesh(CLI::App& app, amr_command_line& o) {
  const char* const mesh = "Mesh; the defaults depend on the problem";
  app.add_option_function<std::string>(
         "--blocks",
         [&o](const std::string& word) {
           if (!parse_blocks(word, o.blocks.emplace())) {
             throw CLI::ValidationError("--blocks", "'" + word +
                                                        "' is not N, NxM or NxMxK of whole "
                                                        "numbers in [1, 4096]");
           }
         },
         "Root blocks along each axis: one number, or NxM, or NxMxK")
      ->group(mesh);
  app.add_option("--max-level", o.max_level, "Level of the finest blocks; the roots are level 0")
      ->transform(whole_number(0, 18))
      ->group(mesh);
  app.add_option("--max-blocks", o.max_blocks, "Limit for the number of blocks; 0: none")
      ->transform(whole_number(0))
      ->group(mesh);
  app.add_option("--balance", parsed_by(ramify::parse_balance, o.balance),
                 "Neighbors that differ by at most one level: face, edge or corner")
      ->group(mesh);
  app.add_option("--criterion", parsed_by(ramify::parse_amr_criterion, o.criterion),
                 "Where to refine: gradient or loehner")
      ->group(mesh);
  app.add_option("--refine-above", o.refine_above, "Refine where the criterion is larger")
      ->check(number_in(0, 1e30))
      ->group(mesh);
  app.add_option("--coarsen-below", o.coarsen_below,
                 "Coarsen where it is smaller; default: a quarter of --refine-above")
      ->check(number_in(0, 1e30))
      ->group(mesh);
  app.add_option("--regrid-every", o.regrid_every, "Steps between two regrids; 0: none")
      ->transform(whole_number(0, UINT32_MAX))
      ->group(mesh);
}

void declare_method(CLI::App& app, amr_command_line& o) {
  const char* const step = "Method";
  app.add_option("--cfl", o.cfl, "Share of the largest stable step")
      ->check(number_in(1e-30, 1))
      ->group(step);
  app.add_option("--limiter", parsed_by(ramify::parse_limiter, o.limiter),
                 "minmod, van-leer or monotonized-central")
      ->group(step);
  app.add_flag("--subcycle", o.subcycle,
               "Each level takes two steps for one of the next coarser level")
      ->group(step);
  app.add_flag("--no-reflux", o.no_reflux, "No flux correction between levels")->group(step);
  app.add_option("--precision", parsed_by(ramify::parse_amr_precision, o.precision),
                 "double or float")
      ->group(step);
  app.option_defaults()->group(step);
  add_launch_options(app, o.env);
  add_choice(app, "--flat-loop", ramify::parse_flat_loop, o.env.flat_loop,
             "What launches the steps of the flat route: automatic, graph or host");
}

void declare_output(CLI::App& app, amr_command_line& o) {
  const char* const output = "Output";
  app.add_option("--output-dir", o.output_dir,
                 "Folder for meshes, pictures and history.csv; default: amr_output, or that of the "
                 "checkpoint")
      ->group(output);
  app.add_option("--frames", o.frames,
                 "Meshes and pictures after the first one (10); 0: none at all")
      ->transform(whole_number(0, UINT32_MAX))
      ->group(output);
  app.add_option("--field", o.field, "Field in the pictures; default: density or concentration")
      ->group(output);
  app.add_option("--history-every", o.history_every, "Steps per row of history.csv (10)")
      ->transform(whole_number(1))
      ->group(output);
  app.option_defaults()->group(output);
  const auto file = [](const std::string& name) -> std::string {
    return name == "-" ? "a checkpoint must be a file; - is not supported" : "";
  };
  auto* checkpoint =
      o.files.add_output(app, "--checkpoint", o.checkpoint,
                         "File from which the simulation can be continued", "--restart");
  checkpoint->check(file);
  app.add_option("--checkpoint-every", o.checkpoint_every, "Steps between checkpoints")
      ->transform(whole_number(1))
      ->capture_default_str()
      ->needs(checkpoint)
      ->group(output);
  o.files.add_input(app, "--restart", o.restart, "Checkpoint to continue")->check(file);
  app.add_option("--plotfile", o.plotfile,
                 "Folder for the last state as a plotfile in the format of AMReX")
      ->type_name("DIR")
      ->check([](const std::string& name) -> std::string {
        return name.empty() ? "--plotfile is empty; it must name a folder" : "";
      })
      ->group(output);
  o.files.add_report(app, o.report);
  add_trace_option(app, o.files, o.trace);
  app.get_option("--force")->description(
      "Replace read-only files, frames of another run, and a plotfile");
  app.add_flag("--quiet", o.quiet, "No table and no progress bar")->group(output);
}

}  // namespace

void declare(CLI::App& app, amr_command_line& o) {
  declare_problem(app, o);
  declare_mesh(app, o);
  declare_method(app, o);
  declare_output(app, o);
}

namespace {

/// Copies an option's value if it is given.
template <class T, class U>
void apply(const std::optional<T>& given, U& value) {
  if (given) value = static_cast<U>(*given);
}

void apply(const amr_command_line& o, amr_settings& s) {
  ramify::amr_setup& flow = s.flow;
  auto& [mesh, regrid, step] = flow.options;
  if (o.blocks) {
    const std::vector<unsigned>& blocks = *o.blocks;
    if (blocks.size() != 1 && blocks.size() != std::size_t(flow.dimensions)) {
      throw std::invalid_argument("--blocks has " + std::to_string(blocks.size()) +
                                  " numbers for " + std::to_string(flow.dimensions) +
                                  " dimensions");
    }
    double all = 1;
    for (std::size_t axis = 0; axis < std::size_t(flow.dimensions); ++axis) {
      mesh.roots[axis] = blocks[blocks.size() == 1 ? 0 : axis];
      all *= mesh.roots[axis];
    }
    if (all > 1e7) throw std::invalid_argument("--blocks has more than 10^7 blocks in all");
  }
  apply(o.max_level, mesh.max_level);
  apply(o.max_blocks, mesh.max_blocks);
  apply(o.balance, mesh.balance);
  apply(o.refine_above, regrid.refine_above);
  if (o.refine_above) regrid.coarsen_below = *o.refine_above / 4;
  apply(o.coarsen_below, regrid.coarsen_below);
  apply(o.regrid_every, regrid.every);
  apply(o.cfl, step.cfl);
  apply(o.limiter, step.limiter);
  apply(o.precision, flow.precision);
  if (o.subcycle) step.subcycle = true;
  if (o.no_reflux) step.reflux = false;
  apply(o.t_end, flow.end_time);
  apply(o.frames, s.frames);
  apply(o.history_every, s.history_every);
  apply(o.field, s.field);
  s.env = o.env;
  apply(o.output_dir, s.output_dir);
  validate(s);
}

}  // namespace

amr_settings settings_of(const amr_command_line& o) {
  amr_settings s;
  const auto problem = o.problem.value_or(ramify::amr_problem::kelvin_helmholtz);
  s.flow = recommended_setup(problem, o.dim.value_or(2),
                             o.criterion.value_or(ramify::amr_criterion::gradient));
  s.field = field_names(s.flow, ramify::amr_fields::primitive).front();
  apply(o, s);
  s.framed_until = s.flow.end_time;
  return s;
}

amr_settings settings_of(const amr_command_line& o, const amr_checkpoint& from) {
  amr_settings s = from.settings;
  const auto kept = to_json(s);
  apply(o.problem, s.flow.problem);
  apply(o.dim, s.flow.dimensions);
  apply(o.criterion, s.flow.criterion);
  constexpr std::array<std::string_view, 6> may_change{"t-end",         "cfl",   "frames",
                                                       "history-every", "field", "output-dir"};
  const auto check = [&] {
    const auto asked = to_json(s);
    for (const auto& [name, value] : kept.items()) {
      if (std::ranges::find(may_change, name) != may_change.end()) continue;
      if (asked.at(name) == value) continue;
      throw std::invalid_argument("--" + name + " is " + asked.at(name).dump() + ", but " +
                                  o.restart + " has " + value.dump());
    }
  };
  check();  // before the options that depend on problem and dimensions
  apply(o, s);
  check();
  if (s.flow.end_time < from.state.time) {
    throw std::invalid_argument("--t-end is before the time of " + o.restart + ", which is " +
                                nlohmann::json(from.state.time).dump());
  }
  return s;
}

}  // namespace common
