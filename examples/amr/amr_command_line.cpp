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

/// Returns a callback for an option with one to `most` values between commas. `read(word)` returns
/// a value, or none if the word is not `what`.
template <class T, class Read>
CLI::callback_t list_of(const std::string& name, std::optional<std::vector<T>>& target,
                        const std::string& what, Read read, std::size_t most = 3) {
  return [=, &target](const CLI::results_t& words) {
    std::vector<T>& values = target.emplace();
    std::string_view rest = words.at(0);
    for (;;) {
      const auto end = std::min(rest.find(','), rest.size());
      const std::optional<T> value = read(trimmed(rest.substr(0, end)));
      if (!value || values.size() == most) {
        throw CLI::ValidationError(name, in_quotes(words.at(0)) + " is not one to " +
                                             (most == 3 ? "three" : "nine") + " of " + what +
                                             ", with commas");
      }
      values.push_back(*value);
      if (end == rest.size()) return true;
      rest.remove_prefix(end + 1);
    }
  };
}

/// Returns the derived field of that name, or none.
std::optional<ramify::derived_field> derived_named(std::string_view name) {
  for (int i = 0; i <= int(ramify::derived_field::magnetic_divergence); ++i) {
    if (to_string(ramify::derived_field(i)) == name) return ramify::derived_field(i);
  }
  return std::nullopt;
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
  app.add_option(
         "--problem", parsed_by(ramify::parse_amr_problem, o.problem),
         "kelvin-helmholtz (the default), sod, sedov, linear-wave, advect-gaussian, "
         "vortex-in-box, double-mach, noh, rayleigh-taylor, dam-break, brio-wu, orszag-tang, "
         "rotor, forward-step, or regions of --input")
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
  app.add_option("--buffer-cells", o.buffer_cells,
                 "Blocks within so many cells of a cell to refine are refined, too; default: 0")
      ->transform(whole_number(0, 16))
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
  app.add_flag("--keep-positive", o.keep_positive,
               "Density and pressure of a gas stay positive; the report counts the cells")
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
  app.add_flag("--htg", o.htg,
               "The meshes are hyper tree grids (.htg), which are smaller with --float32");
  app.add_option(
         "--derived",
         list_of("--derived", o.derived,
                 "speed, sound_speed, mach, temperature, entropy, vorticity, divergence, "
                 "magnetic_pressure or magnetic_divergence",
                 derived_named, 9),
         "Further fields of a gas in all files except the history: speed, sound_speed, "
         "mach, temperature, entropy, vorticity, divergence; of a plasma also magnetic_pressure, "
         "magnetic_divergence")
      ->type_name("F,F");
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

}  // namespace common
