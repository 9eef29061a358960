// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// --trace: what all programs that can record their launches do with it.

#include <CLI/CLI.hpp>
#include <ios>
#include <ostream>
#include <ramify/runtime/launch_trace.hpp>
#include <stdexcept>
#include <string>

#include "output_file.hpp"

namespace common {

/// A name whose extension no writer knows is refused.
inline void add_trace_option(CLI::App& app, std::string& file) {
  app.add_option("--trace", file,
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

/// Nothing where no file is asked for. \throws bad_output
inline void write_trace(const std::string& file, const ramify::launch_trace& trace) {
  if (file.empty()) return;
  try {
    ramify::write_trace_file(file, trace);
  } catch (const std::ios_base::failure& e) {
    throw bad_output(e.what());
  }
}

/// What was recorded, in a line.
inline void print_trace(std::ostream& out, const std::string& file,
                        const ramify::launch_trace& trace) {
  if (file.empty()) return;
  out << "trace: " << trace.count() << " grids in " << file;
  if (trace.lost > 0) out << ", and " << trace.lost << " that found no room";
  out << '\n';
}

}  // namespace common
