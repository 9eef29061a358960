// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Measured launch costs on disk: one text file for each GPU, driver and CUDA runtime. Plain C++.
///
///     ramify launch costs 1
///     gpu: NVIDIA H200
///     driver: 580.159.04
///     runtime: 13000
///     host_launch: 3.21
///     ...
///
/// Files and folders are accessed by the C library, because the headers of files of C++ take nvcc
/// longer to compile than all other headers of the runtime.
///
/// The files are a cache. If a file is unreadable, malformed or of another device, the costs are
/// measured again and the file is replaced. If the folder is not writable, nothing is saved. Delete
/// the file to measure again.

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <ramify/runtime/launch_costs.hpp>
#include <ramify/version.hpp>
#include <string>
#include <string_view>

namespace ramify::detail::runtime::inline RAMIFY_ABI {

/// The GPU, driver and CUDA runtime that measured costs hold for.
struct launch_costs_origin {
  std::string gpu;     ///< the name of the GPU
  std::string driver;  ///< the version of the driver
  int runtime = 0;     ///< CUDART_VERSION
};

/// Returns the folder of the files: $RAMIFY_CACHE_DIR, else $XDG_CACHE_HOME/ramify, else
/// ~/.cache/ramify. Returns an empty path if the environment sets none of the three variables.
[[nodiscard]] inline std::string launch_costs_folder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (const auto own = variable("RAMIFY_CACHE_DIR"); !own.empty()) return own;
  // The XDG Base Directory Specification requires that a relative path is ignored.
  if (const auto xdg = variable("XDG_CACHE_HOME"); xdg.starts_with('/')) return xdg + "/ramify";
  if (const auto home = variable("HOME"); !home.empty()) return home + "/.cache/ramify";
  return {};
}

/// Returns the path of the file of `origin` in `folder`.
[[nodiscard]] inline std::string launch_costs_path(const std::string& folder,
                                                   const launch_costs_origin& origin) {
  std::string name = "launch_costs_" + origin.gpu + "_" + origin.driver + "_cuda_" +
                     std::to_string(origin.runtime);
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return folder + '/' + name + ".txt";
}

/// Returns the lines of a file before the costs.
[[nodiscard]] inline std::string launch_costs_heading(const launch_costs_origin& origin) {
  return "ramify launch costs 1\ngpu: " + origin.gpu + "\ndriver: " + origin.driver +
         "\nruntime: " + std::to_string(origin.runtime) + '\n';
}

/// Returns whether every cost is positive and less than a second. A cost that can be missing may be
/// 0.
[[nodiscard]] inline bool are_plausible(const launch_costs& costs) {
  constexpr double most = 1e6;
  for (const launch_cost_field& field : launch_cost_fields) {
    const double value = costs.*field.value;
    const bool missing = field.can_be_missing && value == 0;
    if (!missing && !(value > 0 && value < most)) return false;
  }
  return true;
}

/// Parses the text of a file. Returns nothing if it is malformed or of another origin.
[[nodiscard]] inline std::optional<launch_costs> parse_launch_costs(
    std::string_view text, const launch_costs_origin& origin) {
  const auto skip = [&](std::string_view expected) {
    if (!text.starts_with(expected)) return false;
    text.remove_prefix(expected.size());
    return true;
  };
  if (!skip(launch_costs_heading(origin))) return std::nullopt;
  launch_costs costs;
  for (const launch_cost_field& field : launch_cost_fields) {
    if (!skip(field.name) || !skip(": ")) return std::nullopt;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), costs.*field.value);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (error != std::errc() || !skip("\n")) return std::nullopt;
  }
  return text.empty() && are_plausible(costs) ? std::optional(costs) : std::nullopt;
}

/// Returns the first bytes of a regular file, at most 4096, which is more than any valid file has.
/// Returns an empty text if the file cannot be read, or is a pipe, say, whose reader would wait.
[[nodiscard]] inline std::string beginning_of_file(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  std::string text(4096, '\0');
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  text.resize(file == nullptr ? 0 : std::fread(text.data(), 1, text.size(), file));
  if (file != nullptr) std::fclose(file);
  return text;
}

/// Returns the costs of `origin` that are saved in `folder`, if there are valid ones.
[[nodiscard]] inline std::optional<launch_costs> load_launch_costs(
    const std::string& folder, const launch_costs_origin& origin) {
  if (folder.empty()) return std::nullopt;
  return parse_launch_costs(beginning_of_file(launch_costs_path(folder, origin)), origin);
}

/// Saves costs in `folder`, or does nothing if that fails. It writes a temporary file and renames
/// it, so that no process reads an incomplete file.
inline void save_launch_costs(const std::string& folder, const launch_costs_origin& origin,
                              const launch_costs& costs) {
  if (folder.empty()) return;
  for (std::size_t end = 0; end != folder.npos;) {  // create the folder and those above it
    end = folder.find('/', end + 1);
    static_cast<void>(::mkdir(folder.substr(0, end).c_str(), 0777));
  }
  const std::string path = launch_costs_path(folder, origin);
  std::string text = launch_costs_heading(origin);
  for (const launch_cost_field& field : launch_cost_fields) {
    std::array<char, 32> number{};  // the shortest text that is parsed as the same value
    const auto end =
        std::to_chars(number.data(), number.data() + number.size(), costs.*field.value);
    text.append(field.name).append(": ").append(number.data(), end.ptr).append("\n");
  }
  const std::string draft = path + "." + std::to_string(::getpid());
  std::FILE* const file = std::fopen(draft.c_str(), "wb");
  if (file == nullptr) return;
  bool saved = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  saved = std::fclose(file) == 0 && saved && std::rename(draft.c_str(), path.c_str()) == 0;
  if (!saved) static_cast<void>(std::remove(draft.c_str()));
}

/// Returns the version in the text of /proc/driver/nvidia/version: its first word of digits and
/// dots, or "" if there is none.
[[nodiscard]] inline std::string driver_version_in(std::string_view text) {
  constexpr std::string_view spaces = " \t\r\n";
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(spaces), text.size()));
    const std::string_view word = text.substr(0, text.find_first_of(spaces));
    if (word.empty()) return {};
    const bool has_dot = word.find('.') != word.npos;
    if (has_dot && word.find_first_not_of("0123456789.") == word.npos) return std::string(word);
    text.remove_prefix(word.size());
  }
}

}  // namespace ramify::detail::runtime::inline RAMIFY_ABI
