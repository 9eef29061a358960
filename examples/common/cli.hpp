// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The command line of all example programs: options are checked when they are parsed, an error is
/// one line on stderr, and all programs use the same exit statuses.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <ramify/runtime/report.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

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

/// Adds an option whose value is an enumerator. The help shows the default, the value of `target`.
template <class T>
CLI::Option* add_choice(CLI::App& app, const std::string& name, T (*parse)(std::string_view),
                        T& target, const std::string& about) {
  return app.add_option(name, parsed_by(parse, target), about)
      ->type_name("NAME")
      ->default_str(std::string(to_string(target)));
}

/// Returns a transformation for the option of a whole number in [least, most]. The number is
/// decimal, also with leading zeros. "1e6", "1M" (10^6) and "1Mi" (2^20) are accepted.
[[nodiscard]] CLI::Validator whole_number(
    std::uint64_t least, std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

/// Adds an option for a whole number of at least `least` that the type of `target` can hold. The
/// help shows the default, the value of `target`.
template <class T>
CLI::Option* add_whole_number(CLI::App& app, const std::string& name, T& target,
                              const std::string& about, std::uint64_t least = 0) {
  return app.add_option(name, target, about)
      ->transform(whole_number(least, std::uint64_t{std::numeric_limits<T>::max()}))
      ->capture_default_str();
}

/// Returns a check for decimal numbers in [least, most].
[[nodiscard]] std::function<std::string(const std::string&)> number_in(double least, double most);

/// Declares --backend, --route, --pending-launches, --threads and --device.
void add_launch_options(CLI::App& app, ramify::backend& backend, ramify::route& route,
                        std::size_t& pending_launches);

/// Declares the same options for an object that has the fields of run_options.
template <class Options>
void add_launch_options(CLI::App& app, Options& options) {
  add_launch_options(app, options.backend, options.route, options.pending_launches);
}

/// Returns the version of Ramify, such as "1.2.3".
[[nodiscard]] std::string program_version();

/// The main function of a program: calls `declare` to declare the options, parses them, and calls
/// `body`. Prints an exception as one line on stderr. Returns the exit status. (Most of CLI11 is
/// compiled only in the source of this function.)
///
/// `is_rank` states that the program is a rank of several. Other programs refuse to run if mpirun
/// has started several processes, which would all write the same files.
int run_program(const char* name, const char* about, int argc, char** argv,
                const std::function<void(CLI::App&)>& declare, const std::function<void()>& body,
                bool is_rank = false);

}  // namespace common
