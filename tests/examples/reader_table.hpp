// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// All readers of text with numbers, in one form. A test that applies to each reader loops over
// text_readers().

#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <variant>
#include <vector>

#include "bezier_shapes.hpp"
#include "bodies.hpp"
#include "forest_file.hpp"
#include "number_file.hpp"
#include "points.hpp"

namespace reader_tests {

/// A file in the temporary folder, which the destructor removes.
struct scratch_file {
  std::filesystem::path path;

  explicit scratch_file(const std::string& name)
      : path(std::filesystem::temp_directory_path() / (name + "_" + std::to_string(::getpid()))) {}
  ~scratch_file() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;

  /// Makes a new file, because some file systems write a file that is truncated to the disk at once.
  void write(std::string_view content) const {
    std::filesystem::remove(path);
    std::ofstream(path, std::ios::binary) << content;
  }
};

/// Returns all digits of a whole number, and 17 significant digits of another number.
template <class Number>
std::string canonical(Number number) {
  if constexpr (std::is_integral_v<Number>) return std::to_string(number);
  if (std::isnan(number)) return "nan";
  if (number == 0) return "0";
  const auto real = static_cast<double>(number);
  std::array<char, 512> text;
  const bool is_whole = std::isinf(real) || real == std::floor(real);
  std::snprintf(text.data(), text.size(), is_whole ? "%.0f" : "%.17g", real);
  return text.data();
}

using table = std::vector<std::vector<std::string>>;  ///< words of lines
using texts = std::vector<std::string>;

/// A reader of lines of numbers.
struct text_reader {
  std::string name;
  bool is_real = true;     ///< reads finite real numbers; otherwise `name` decides
  double most = HUGE_VAL;  ///< maximum magnitude
  table words{};           ///< of the lines of a valid file, which has no header line
  /// Reads a file. Returns its numbers. \throws common::bad_input
  std::function<texts(const std::filesystem::path&)> read{};
};

template <class Rows>
texts all_numbers(const Rows& rows) {
  texts all;
  for (const auto& row : rows) {
    for (const auto number : row) all.push_back(canonical(number));
  }
  return all;
}

inline texts read_numbers(const std::filesystem::path& path, bool pairs) {
  const common::numbers numbers = common::read_text(path, pairs);
  texts all;
  std::visit(
      [&](const auto& keys) {
        for (std::size_t i = 0; i < keys.size(); ++i) {
          all.push_back(canonical(keys[i]));
          if (pairs) all.push_back(canonical(numbers.values[i]));
        }
      },
      numbers.keys);
  return all;
}

inline texts read_bodies(const std::filesystem::path& path) {
  const common::bodies bodies = common::read_bodies(path);
  std::vector<std::array<double, 7>> rows;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const auto& x = bodies.positions[i];
    const auto& v = bodies.velocities[i];
    rows.push_back({x[0], x[1], x[2], v[0], v[1], v[2], bodies.masses[i]});
  }
  return all_numbers(rows);
}

inline texts read_points(const std::filesystem::path& path) {
  const common::point_set set = common::read_points(path);
  texts all;
  for (const auto& p : set.points) {
    for (int axis = 0; axis < set.dimensions; ++axis) {
      all.push_back(canonical(p[static_cast<std::size_t>(axis)]));
    }
  }
  return all;
}

inline texts read_shapes(const std::filesystem::path& path) {
  const common::bezier_shapes shapes = common::read_shapes(path);
  texts all;
  for (const auto& curve : shapes.curves) {
    for (const auto& p : curve.points) {
      for (const double x : {p.x, p.y}) all.push_back(canonical(x));
    }
  }
  for (const auto& patch : shapes.patches) {
    for (const auto& row : patch.points) {
      for (const auto& p : row) {
        for (const double x : {p.x, p.y, p.z}) all.push_back(canonical(x));
      }
    }
  }
  return all;
}

inline texts read_forest(const std::filesystem::path& path, common::forest_format format) {
  texts all;
  for (const std::int32_t parent : common::read_forest(path, {.format = format})) {
    all.push_back(canonical(std::int64_t{parent}));
  }
  return all;
}

inline std::vector<text_reader> text_readers() {
  namespace fs = std::filesystem;
  texts patch;
  for (int i = 0; i < 48; ++i) patch.push_back(std::to_string(i) + ".5");
  const table two_patches{patch, patch};
  return {
      {"numbers",
       false,
       HUGE_VAL,
       {{"3"}, {"-1"}, {"20"}, {"0"}},
       [](const fs::path& path) { return read_numbers(path, false); }},
      {"real numbers",
       false,
       HUGE_VAL,
       {{"3e4"}, {"-0.1"}, {"1e-300"}, {"9007199254740992"}},
       [](const fs::path& path) { return read_numbers(path, false); }},
      {"pairs",
       false,
       HUGE_VAL,
       {{"5", "50"}, {"1", "10"}, {"7", "18446744073709551615"}},
       [](const fs::path& path) { return read_numbers(path, true); }},
      {"bodies",
       true,
       HUGE_VAL,
       {{"1", "2", "3", "4", "5", "6", "7"}, {"-1", "0.1", "1e-300", "0", "0", "0", "1e300"}},
       read_bodies},
      {"points", true, HUGE_VAL, {{"1", "2"}, {"-1.5", "1e-300"}, {"7", "8"}}, read_points},
      {"points in space", true, HUGE_VAL, {{"1", "2", "3"}, {"4", "0.1", "6e7"}}, read_points},
      {"curves",
       true,
       1e100,
       {{"0", "0", "1", "1", "2", "2", "3", "3"},
        {"0", "0.1", "1", "2", "2e1", "2", "-3", "1e-300"}},
       read_shapes},
      {"patches", true, 1e100, two_patches, read_shapes},
      {"parents",
       false,
       HUGE_VAL,
       {{"-1"}, {"-1"}, {"0"}, {"1"}, {"0"}, {"0"}},
       [](const fs::path& path) { return read_forest(path, common::forest_format::parents); }},
      {"edges",
       false,
       HUGE_VAL,
       {{"1", "3"}, {"0", "1"}, {"0", "2"}},
       [](const fs::path& path) { return read_forest(path, common::forest_format::edges); }},
  };
}

}  // namespace reader_tests
