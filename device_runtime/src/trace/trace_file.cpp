// SPDX-License-Identifier: BSD-3-Clause
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <ramify/runtime/launch_trace.hpp>
#include <stdexcept>
#include <string>
#include <system_error>

namespace ramify::inline RAMIFY_ABI {
namespace {

struct trace_format {
  std::string_view extension;
  void (*write)(std::ostream& out, const launch_trace& trace, const std::filesystem::path& path);
};

constexpr std::array<trace_format, 3> formats{{
    {".json", [](auto& out, const auto& trace, const auto&) { write_chrome_trace(out, trace); }},
    {".dot", [](auto& out, const auto& trace, const auto&) { write_dot(out, trace); }},
    {".html", [](auto& out, const auto& trace,
                 const auto& path) { write_html(out, trace, path.stem().string()); }},
}};

const trace_format& format_of(const std::filesystem::path& path) {
  for (const trace_format& format : formats) {
    if (path.extension() == format.extension) return format;
  }
  throw std::invalid_argument("trace file '" + path.string() +
                              "' must end in .html (a page), .json (Perfetto) or .dot (Graphviz)");
}

}  // namespace

void check_trace_file(const std::string& path) { (void)format_of(path); }

void write_trace(std::ostream& out, const launch_trace& trace, const std::string& path) {
  format_of(path).write(out, trace, path);
}

void write_trace_file(const std::string& name, const launch_trace& trace) {
  const std::filesystem::path path(name);
  const trace_format& format = format_of(path);
  const auto fail = [&](std::error_code why) {
    throw std::ios_base::failure("cannot write " + path.string(), why);
  };
  const auto last_error = [] {
    return errno != 0 ? std::error_code(errno, std::generic_category())
                      : std::make_error_code(std::errc::io_error);
  };

  // Write a temporary file and rename it, so that an incomplete file never appears.
  std::filesystem::path draft = path;
  draft += ".part" + std::to_string(::getpid());
  errno = 0;
  std::ofstream out(draft, std::ios::binary);
  if (!out) fail(last_error());
  struct removed_at_end {
    const std::filesystem::path& file;
    ~removed_at_end() {
      std::error_code ignored;  // after the rename the file does not exist
      std::filesystem::remove(file, ignored);
    }
  } const cleanup{draft};

  errno = 0;
  try {
    format.write(out, trace, path);
    out.close();
  } catch (const std::ios_base::failure&) {
    fail(last_error());
  }
  if (!out) fail(last_error());
  std::error_code error;
  std::filesystem::rename(draft, path, error);
  if (error) fail(error);
}

}  // namespace ramify::inline RAMIFY_ABI
