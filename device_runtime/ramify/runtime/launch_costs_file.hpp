// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Measured launch costs, kept on disk: a text file for each GPU, driver and CUDA runtime; plain C++.
///
///     ramify launch costs 1
///     gpu: NVIDIA H200
///     driver: 580.159.04
///     runtime: 13000
///     host_launch: 3.21
///     ...
///
/// A cache, not a database: what cannot be read, is malformed or is of another device is measured again
/// and replaced, and where nothing can be written nothing is kept. To measure again, delete the file.

#include <unistd.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <ramify/runtime/launch_costs.hpp>
#include <string>
#include <string_view>

namespace ramify {

/// What measured costs hold for.
struct launch_costs_origin {
  std::string gpu;     ///< its name
  std::string driver;  ///< its version
  int runtime = 0;     ///< CUDART_VERSION
};

/// The folder of the files: $RAMIFY_CACHE_DIR, or $XDG_CACHE_HOME/ramify, or ~/.cache/ramify; empty if
/// the environment has none of the three.
[[nodiscard]] inline std::filesystem::path launch_costs_folder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::filesystem::path(value == nullptr ? "" : value);
  };
  if (const auto own = variable("RAMIFY_CACHE_DIR"); !own.empty()) return own;
  // One that is not absolute is to be ignored, says the XDG Base Directory Specification.
  if (const auto xdg = variable("XDG_CACHE_HOME"); xdg.is_absolute()) return xdg / "ramify";
  if (const auto home = variable("HOME"); !home.empty()) return home / ".cache" / "ramify";
  return {};
}

[[nodiscard]] inline std::filesystem::path launch_costs_path(const std::filesystem::path& folder,
                                                             const launch_costs_origin& origin) {
  std::string name = "launch_costs_" + origin.gpu + "_" + origin.driver + "_cuda_" +
                     std::to_string(origin.runtime);
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return folder / (name + ".txt");
}

/// The lines of a file before the costs.
[[nodiscard]] inline std::string launch_costs_heading(const launch_costs_origin& origin) {
  return "ramify launch costs 1\ngpu: " + origin.gpu + "\ndriver: " + origin.driver +
         "\nruntime: " + std::to_string(origin.runtime) + '\n';
}

/// The costs in a file's text, unless that is malformed or of something else.
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
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!skip("\n")) return std::nullopt;
  }
  return text.empty() && are_plausible(costs) ? std::optional(costs) : std::nullopt;
}

/// The costs that are kept in `folder`, if there are any.
[[nodiscard]] inline std::optional<launch_costs> load_launch_costs(
    const std::filesystem::path& folder, const launch_costs_origin& origin) {
  if (folder.empty()) return std::nullopt;
  const auto path = launch_costs_path(folder, origin);
  std::error_code no_such_file;
  if (!std::filesystem::is_regular_file(path, no_such_file)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  std::array<char, 4096> text{};  // more than any such file has
  file.read(text.data(), text.size());
  return parse_launch_costs({text.data(), static_cast<std::size_t>(file.gcount())}, origin);
}

/// Keeps costs in `folder`, if it can: under another name first, so that nobody reads half a file.
inline void save_launch_costs(const std::filesystem::path& folder,
                              const launch_costs_origin& origin, const launch_costs& costs) {
  if (folder.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const auto path = launch_costs_path(folder, origin);
  std::string text = launch_costs_heading(origin);
  for (const launch_cost_field& field : launch_cost_fields) {
    std::array<char, 32> number{};  // the shortest that reads back as the same
    const auto end =
        std::to_chars(number.data(), number.data() + number.size(), costs.*field.value);
    text.append(field.name).append(": ").append(number.data(), end.ptr).append("\n");
  }
  const auto draft = path.string() + "." + std::to_string(::getpid());
  std::ofstream file(draft, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (file) std::filesystem::rename(draft, path, error);
  if (!file || error) std::filesystem::remove(draft, error);
}

/// The version in the text of /proc/driver/nvidia/version: its first word of digits and dots, "" if
/// there is none.
[[nodiscard]] inline std::string driver_version_in(std::string_view text) {
  constexpr std::string_view spaces = " \t\n";
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find_first_of(spaces));
    text.remove_prefix(word.size() < text.size() ? word.size() + 1 : word.size());
    if (word.find('.') != word.npos && word.find_first_not_of("0123456789.") == word.npos) {
      return std::string(word);
    }
  }
  return {};
}

}  // namespace ramify
