// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The option --trace of all programs that can record their launches.

#include <CLI/CLI.hpp>
#include <ostream>
#include <ramify/runtime/launch_trace.hpp>
#include <stdexcept>
#include <string>

#include "file_options.hpp"
#include "output_file.hpp"
#include "text_file.hpp"

namespace common {

/// Adds the option --trace. It accepts the file extensions that check_trace_file() accepts.
inline void add_trace_option(CLI::App& app, file_options& files, std::string& file) {
  files
      .add_output(app, "--trace", file,
                  "Record all grids: as a page (.html), for Perfetto (.json), for Graphviz (.dot)")
      ->check([](const std::string& name) -> std::string {
        try {
          ramify::check_trace_file(name);
          return {};
        } catch (const std::invalid_argument& e) {
          return e.what();
        }
      });
}

/// Writes the trace, unless `file` is empty. \throws bad_output
inline void write_trace(const std::string& file, const ramify::launch_trace& trace) {
  if (file.empty()) return;
  write_file(file, [&](std::ostream& out) { ramify::write_trace(out, trace, file); });
}

/// The argument `whose` of print_trace() if only the first of several ranks records its grids.
inline constexpr const char* of_first_rank = " of rank 0";

/// Prints the number of recorded grids, unless `file` is empty.
inline void print_trace(std::ostream& out, const std::string& file,
                        const ramify::launch_trace& trace, const char* whose = "") {
  if (file.empty()) return;
  out << "trace: " << counted(trace.count(), "grid") << whose << " in " << file;
  if (trace.lost > 0) out << "; not recorded: " << trace.lost;
  out << '\n';
}

}  // namespace common
