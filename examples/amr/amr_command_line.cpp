// SPDX-License-Identifier: BSD-3-Clause
#include "amr_command_line.hpp"

#include <algorithm>
#include <array>
#include <cmath>
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

/// Returns a callback for an option with one to three values between commas. `read(word)` returns
/// a value, or none if the word is not `what`.
template <class T, class Read>
CLI::callback_t list_of(const std::string& name, std::optional<std::vector<T>>& target,
                        const std::string& what, Read read) {
  return [=, &target](const CLI::results_t& words) {
    std::vector<T>& values = target.emplace();
    std::string_view rest = words.at(0);
    for (;;) {
      const auto end = std::min(rest.find(','), rest.size());
      const std::optional<T> value = read(trimmed(rest.substr(0, end)));
      if (!value || values.size() == 3) {
        throw CLI::ValidationError(
            name, in_quotes(words.at(0)) + " is not one to three of " + what + ", with commas");
      }
      values.push_back(*value);
      if (end == rest.size()) return true;
      rest.remove_prefix(end + 1);
    }
  };
}

/// Adds an option with a number for each axis.
CLI::Option* add_numbers(CLI::App& app, const std::string& name,
                         std::optional<std::vector<double>>& target, const std::string& about) {
  return app
      .add_option(name,
                  list_of(name, target, "numbers within 1e90",
                          [](std::string_view word) -> std::optional<double> {
                            double value = 0;
                            const bool is_good = parse_number(word, value) == number_error::none &&
                                                 std::abs(value) <= 1e90;
                            return is_good ? std::optional(value) : std::nullopt;
                          }),
                  about)
      ->type_name("X,Y");
}

/// Adds an option with the condition of a side for each axis.
void add_sides(CLI::App& app, const std::string& name,
               std::optional<std::vector<ramify::boundary>>& target, const std::string& about) {
  app.add_option(name, list_of(name, target, "periodic, outflow, reflecting or inflow", parse_side),
                 about)
      ->type_name("S,S");
}

void declare_problem(CLI::App& app, amr_command_line& o) {
  const char* const flow = "Problem";
  app.add_option("--problem", parsed_by(ramify::parse_amr_problem, o.problem),
                 "kelvin-helmholtz (the default), sod, sedov, linear-wave, advect-gaussian, "
                 "vortex-in-box, double-mach, noh, rayleigh-taylor, dam-break, or regions of "
                 "--input")
      ->group(flow);
  app.add_option("--dim", o.dim, "Dimensions: 2 (the default) or 3")
      ->transform(whole_number(2, 3))
      ->group(flow);
  app.add_option("--t-end", o.t_end, "End time; default: the customary one of the problem")
      ->check(number_in(1e-30, 1e30))
      ->group(flow);
  app.option_defaults()->group(flow);
  add_numbers(app, "--prob-lo", o.prob_lo, "The lower corner of the domain");
  add_numbers(app, "--prob-hi", o.prob_hi, "The upper corner of the domain");
  add_sides(app, "--lo-bc", o.lo_bc,
            "The lower sides: periodic, outflow, reflecting, or inflow: the state of the problem");
  add_sides(app, "--hi-bc", o.hi_bc, "The upper sides");
  app.add_option("--gamma", o.gamma, "Ratio of the specific heats of the gas")
      ->check(number_in(1, 1e6))
      ->group(flow);
  add_numbers(app, "--gravity", o.gravity, "Gravity on the gas along each axis");
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
  add_numbers(app, "--range", o.range,
              "The least and the greatest value of the colors; default: those of each picture")
      ->type_name("LO,HI");
  app.add_option("--units",
                 list_of<std::string>(
                     "--units", o.units, "texts",
                     [](std::string_view word) { return std::optional(std::string(word)); }),
                 "The units of the field and of the time in the pictures, such as g/cm^3,s")
      ->type_name("U,U");
  app.add_flag("--float32", o.float32, "The fields of the meshes are floats, not doubles");
  const auto add_tables = [&](const char* name, std::optional<std::vector<std::string>>& to,
                              const char* type, const char* about) {
    const auto take = [&to](const CLI::results_t& texts) {
      to = texts;
      return true;
    };
    app.add_option(name, CLI::callback_t(take), about)
        ->type_name(type)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  add_tables("--slice", o.slices, "x=P",
             "With each mesh, the cells in a plane as CSV. Can be given several times");
  add_tables("--line", o.lines, "X,Y:X,Y",
             "With each mesh, the cells along a line as CSV. Can be given several times");
  add_tables("--probe", o.probes, "X,Y",
             "With each row of the history, the values at a point, to probes.csv. Can be given "
             "several times");
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
  app.add_option("--keep", o.keep,
                 "Number of checkpoints: the earlier ones are FILE.1, FILE.2, ...")
      ->transform(whole_number(1, 1000))
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
  o.parameters = parameter_file::add(app, o.files);
}

namespace {

/// Copies an option's value if it is given.
template <class T, class U>
void apply(const std::optional<T>& given, U& value) {
  if (given) value = U(*given);
}

/// Calls `set(axis, value)` for each axis if values are given: one for all axes, or one for each.
template <class T, class Set>
void apply(const std::optional<std::vector<T>>& given, const std::string& name, int dimensions,
           Set set) {
  if (!given) return;
  const std::vector<T>& values = *given;
  if (values.size() != 1 && values.size() != std::size_t(dimensions)) {
    throw std::invalid_argument(name + " has " + std::to_string(values.size()) + " values for " +
                                std::to_string(dimensions) + " dimensions");
  }
  for (std::size_t axis = 0; axis < std::size_t(dimensions); ++axis) {
    set(axis, values[values.size() == 1 ? 0 : axis]);
  }
}

void apply(const amr_command_line& o, amr_settings& s) {
  ramify::amr_setup& flow = s.flow;
  auto& [mesh, regrid, step] = flow.options;
  apply(o.blocks, "--blocks", flow.dimensions,
        [&](std::size_t axis, unsigned value) { mesh.roots[axis] = value; });
  apply(o.prob_lo, "--prob-lo", flow.dimensions,
        [&](std::size_t axis, double value) { mesh.lower[axis] = value; });
  apply(o.prob_hi, "--prob-hi", flow.dimensions,
        [&](std::size_t axis, double value) { mesh.upper[axis] = value; });
  apply(o.lo_bc, "--lo-bc", flow.dimensions,
        [&](std::size_t axis, ramify::boundary value) { mesh.sides[axis][0] = value; });
  apply(o.hi_bc, "--hi-bc", flow.dimensions,
        [&](std::size_t axis, ramify::boundary value) { mesh.sides[axis][1] = value; });
  apply(o.gravity, "--gravity", flow.dimensions,
        [&](std::size_t axis, double value) { flow.gravity[axis] = value; });
  apply(o.gamma, flow.gamma);
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
  apply(o.slices, s.slices);
  apply(o.lines, s.lines);
  apply(o.probes, s.probes);
  if (o.float32) s.float32 = true;
  if (o.range && o.range->size() != 2) throw std::invalid_argument("--range needs two numbers");
  if (o.units && o.units->size() != 2) {
    throw std::invalid_argument("--units needs two units, of the field and of the time");
  }
  if (o.units) s.units = {o.units->front(), o.units->back()};
  if (o.range) s.range = {o.range->front(), o.range->back()};
  validate(s);
}

/// Implements settings_of() for a new run.
amr_settings new_settings(const amr_command_line& o) {
  amr_settings s;
  const int dimensions = o.dim.value_or(2);
  const std::vector<ramify::amr_region> regions = o.parameters->regions(dimensions);
  const auto problem = o.problem.value_or(regions.empty() ? ramify::amr_problem::kelvin_helmholtz
                                                          : ramify::amr_problem::regions);
  s.flow =
      recommended_setup(problem, dimensions, o.criterion.value_or(ramify::amr_criterion::gradient));
  s.field = field_names(s.flow, ramify::amr_fields::primitive).front();
  if (problem == ramify::amr_problem::regions && regions.empty()) {
    throw std::invalid_argument("--problem regions needs a parameter file (--input) with regions");
  }
  s.flow.regions = regions;
  apply(o, s);
  s.framed_until = s.flow.end_time;
  return s;
}

/// Implements settings_of() for a continued run.
amr_settings continued_settings(const amr_command_line& o, const amr_checkpoint& from) {
  amr_settings s = from.settings;
  const auto kept = to_json(s);
  apply(o.problem, s.flow.problem);
  apply(o.dim, s.flow.dimensions);
  apply(o.criterion, s.flow.criterion);
  constexpr std::array<std::string_view, 12> may_change{
      "t-end",   "cfl",   "frames", "history-every", "field", "output-dir",
      "float32", "range", "units",  "slice",         "line",  "probe"};
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
  const std::vector<ramify::amr_region> regions = o.parameters->regions(s.flow.dimensions);
  if (!regions.empty() && regions != s.flow.regions) {
    throw std::invalid_argument("--input has other regions than " + o.restart);
  }
  apply(o, s);
  check();
  if (s.flow.end_time < from.state.time) {
    throw std::invalid_argument("--t-end is before the time of " + o.restart + ", which is " +
                                nlohmann::json(from.state.time).dump());
  }
  return s;
}

}  // namespace

amr_settings settings_of(const amr_command_line& o) {
  try {
    return new_settings(o);
  } catch (const std::invalid_argument& e) {
    o.parameters->reject(e);
  }
}

amr_settings settings_of(const amr_command_line& o, const amr_checkpoint& from) {
  try {
    return continued_settings(o, from);
  } catch (const std::invalid_argument& e) {
    o.parameters->reject(e);
  }
}

}  // namespace common
