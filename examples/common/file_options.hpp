// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The options that name files, and the check of all these files before the work begins.

#include <CLI/CLI.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace common {

/// Returns whether a file name ends in an extension such as ".png", in upper or lower case.
[[nodiscard]] bool has_extension(const std::string& file, const std::string& extension);

/// The files of a program. The options must not outlive the CLI::App.
class file_options {
 public:
  /// Adds an option for an input file.
  CLI::Option* add_input(CLI::App& app, const std::string& name, std::string& file,
                         const std::string& about);
  /// Adds an input file whose option exists.
  void add_input(const CLI::Option* option) { all_.push_back({option, false, {}}); }

  /// Adds an option for an output file. `may_replace` is the name of the option of an input that
  /// may be the same file. The first call adds the option --force, too.
  CLI::Option* add_output(CLI::App& app, const std::string& name, std::string& file,
                          const std::string& about, const std::string& may_replace = {});

  /// Adds the option --report: "text", "json", or the name of a file for the JSON.
  void add_report(CLI::App& app, std::string& report);

  /// A file that an option names.
  struct named_file {
    std::string option, file;
  };
  /// Returns the files of the options that are given.
  [[nodiscard]] std::vector<named_file> given() const;

  /// Checks the files of the options that are given: no name is empty; no output is an input or
  /// another output, also through links; standard output goes to none of them; and every output
  /// can be written.
  /// \throws std::invalid_argument naming the options; bad_output naming the file
  void check() const;

  bool force = false;  ///< the option --force: replace read-only files

 private:
  struct file_option {
    const CLI::Option* option;
    bool is_output;
    std::string may_replace;

    /// Returns the file, or none if the option is not given or is `--report text` or `json`.
    [[nodiscard]] std::optional<std::string> file() const;
  };
  std::vector<file_option> all_;
};

/// Returns the stream for the report of a run that writes `output`: standard error if the output
/// goes to standard output ("-"), else standard output.
[[nodiscard]] std::ostream& report_stream(const std::string& output);

}  // namespace common
