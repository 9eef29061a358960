// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The command line of all example programs: options are checked when they are parsed, an error is
/// one line on stderr, and all programs use the same exit statuses.

#include <CLI/CLI.hpp>
#include <cstddef>
#include <functional>
#include <optional>
#include <ramify/runtime/environment.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

#include "number_options.hpp"

namespace common {

/// A program that a signal ended has the usual status: 128 plus the number of the signal.
enum class exit_status {
  done = 0,
  failed = 1,
  bad_option = 2,
  bad_input = 3,   ///< the input cannot be read or is malformed
  cannot_run = 4,  ///< this machine or build cannot run the backend or the route
  bad_output = 5,  ///< the output, or standard output, cannot be written
};

/// How a program ends.
struct program_end {
  int status = 0;    ///< an exit_status
  std::string text;  ///< a line for standard error, or, with status 0, for standard output
  int signal = 0;    ///< the signal by which the program ends, or 0

  friend bool operator==(const program_end&, const program_end&) = default;
};

/// Called by each of several ranks when it has read its command line, with its end, or none if it
/// goes on. Returns the common end of all ranks, or none if all go on.
using rank_agreement =
    std::function<std::optional<program_end>(const CLI::App&, const std::optional<program_end>&)>;

/// Returns a CLI11 callback that parses an enumerator. The parse function's message names the
/// choices.
template <class T>
CLI::callback_t parsed_by(T (*parse)(std::string_view), T& target) {
  return [parse, &target](const CLI::results_t& words) {
    try {
      target = parse(words.at(0));
    } catch (const std::invalid_argument& e) {
      throw CLI::ValidationError(e.what());
    }
    return true;
  };
}

/// Returns the same for an option without a default.
template <class T>
CLI::callback_t parsed_by(T (*parse)(std::string_view), std::optional<T>& target) {
  return [parse, &target](const CLI::results_t& words) {
    return parsed_by(parse, target.emplace())(words);
  };
}

/// Adds an option whose value is an enumerator. The help shows the default, the value of `target`.
template <class T>
CLI::Option* add_choice(CLI::App& app, const std::string& name, T (*parse)(std::string_view),
                        T& target, const std::string& about) {
  return app.add_option(name, parsed_by(parse, target), about)
      ->type_name("NAME")
      ->default_str(std::string(to_string(target)));
}

/// Declares --backend, --route, --pending-launches, --threads and --device.
void add_launch_options(CLI::App& app, ramify::environment& env);

/// Returns the version of Ramify, such as "1.2.3".
[[nodiscard]] std::string program_version();

/// The main function of a program: calls `declare` to declare the options, parses them, and calls
/// `body`. Prints an exception as one line on stderr. Returns the exit status. (Most of CLI11 is
/// compiled only in the source of this function.)
///
/// `agree` is not empty if the program is a rank of several. Other programs refuse to run if mpirun
/// has started several processes, which would all write the same files.
int run_program(const char* name, const char* about, int argc, char** argv,
                const std::function<void(CLI::App&)>& declare, const std::function<void()>& body,
                const rank_agreement& agree = {});

}  // namespace common
