// SPDX-License-Identifier: BSD-3-Clause
#include "quicksort_command_line.hpp"

#include <stdexcept>

#include "common/cli.hpp"
#include "common/number_file.hpp"
#include "common/trace_option.hpp"
#include "distributions.hpp"

namespace common {

void declare(CLI::App& app, quicksort_command_line& o) {
  auto* input = o.files.add_input(
      app, "--input", o.input, "File of numbers: text, one number a line; raw binary with --type");
  auto* generate =
      app.add_option("--generate", o.distribution,
                     "Sort generated numbers: uniform, sorted, reversed, organ-pipe, all-equal, "
                     "few-distinct, zipf, almost-sorted, median-of-three-killer")
          ->type_name("NAME");
  input->excludes(generate);
  o.files.add_output(app, "--output", o.output,
                     "File for the sorted numbers, in the format of the input");
  app.add_option("--type", o.type,
                 "i32, u32, i64, u64, f32 or f64: of a raw input, or of generated numbers (u32)")
      ->type_name("NAME");
  auto* n = add_whole_number(app, "--n", o.n, "Number of generated numbers");
  n->default_str("");
  auto* seed = add_whole_number(app, "--seed", o.seed, "Seed of the generator");
  n->needs(generate);
  seed->needs(generate);
  generate->needs(n);
  app.add_flag("--pairs", o.pairs, "Sort pairs: a number and an unsigned 64-bit value");
  app.add_flag_callback(
      "--descending", [&o] { o.order = ramify::sort_order::descending; }, "Largest first");
  add_launch_options(app, o.env);
  add_choice(app, "--strategy", ramify::parse_quicksort_strategy, o.sort.strategy,
             "sample_sort or binary");
  add_whole_number(app, "--device-memory", o.sort.device_memory,
                   "Maximum device memory in bytes, such as 16Gi; more numbers are sorted in "
                   "parts; 0: no maximum");
  app.add_flag("--verify", o.verify, "Compare with std::sort");
  add_trace_option(app, o.files, o.trace);
  app.add_flag("--quiet", o.quiet, "No progress display");
  o.files.add_report(app, o.report);
}

void check(const quicksort_command_line& o) {
  o.files.check();
  if (o.input.empty() && o.distribution.empty())
    throw std::invalid_argument("give --input or --generate");
  if (!o.type.empty()) (void)keys_of_type(o.type);
  if (!o.distribution.empty()) (void)parse_distribution(o.distribution);
}

}  // namespace common
