// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The command line of all example programs: options are checked when they are parsed, an error is
/// one line on stderr, and all programs use the same exit statuses.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <functional>
#include <ramify/runtime/report.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace common {

enum class exit_status {
  done = 0,
  failed = 1,
  bad_option = 2,
  bad_input = 3,   ///< the input cannot be read or is malformed
  cannot_run = 4,  ///< this machine or build cannot run the backend or the route
  bad_output = 5,  ///< the output cannot be written
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

/// Returns an empty text if `word` is a whole number of at least `least`, else an error message.
template <int least>
std::string whole_number(const std::string& word) {
  const bool digits =
      !word.empty() && std::ranges::all_of(word, [](unsigned char c) { return std::isdigit(c); });
  if (digits && (least == 0 || word.find_first_not_of('0') != std::string::npos)) return {};
  return "'" + word + "' is not a whole number of at least " + std::to_string(least);
}

/// Returns a check for numbers in [least, most]. The check returns an empty text or an error
/// message.
inline auto number_in(double least, double most) {
  return [=](const std::string& word) -> std::string {
    std::size_t end = 0;
    double value = NAN;
    try {
      value = std::stod(word, &end);
    } catch (const std::exception&) {  // not a number, or out of range
    }
    if (end == word.size() && value >= least && value <= most) return {};
    std::ostringstream text;
    text << "'" << word << "' is not a number in [" << least << ", " << most << "]";
    return text.str();
  };
}

/// Adds the options --backend, --route and --pending-launches. `Options` has the fields of
/// run_options.
template <class Options>
void add_launch_options(CLI::App& app, Options& options) {
  app.add_option("--backend", parsed_by(ramify::parse_backend, options.backend),
                 "automatic, cuda or cpu");
  app.add_option("--route", parsed_by(ramify::parse_route, options.route),
                 "automatic, device or flat");
  app.add_option("--pending-launches", options.pending_launches,
                 "Pending-launch limit of the device runtime")
      ->check(whole_number<1>);
}

/// Checks that an output file is not the input file. \throws std::invalid_argument if it is
inline void refuse_output_over_input(const std::filesystem::path& input,
                                     const std::filesystem::path& output,
                                     const std::string& option = "--output") {
  std::error_code no_such_file;
  if (!output.empty() && std::filesystem::equivalent(input, output, no_such_file)) {
    throw std::invalid_argument(option + " is the input file, which is never changed");
  }
}

/// The main function of a program: calls `declare` to declare the options, parses them, and calls
/// `body`. Prints an exception as one line on stderr. Returns the exit status. (Most of CLI11 is
/// compiled only in the source of this function.)
int run_program(const char* name, const char* about, int argc, char** argv,
                const std::function<void(CLI::App&)>& declare, const std::function<void()>& body);

}  // namespace common
