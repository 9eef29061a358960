// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// All readers of text with numbers, in one form. A test that applies to each reader loops over
// text_readers().

#include <unistd.h>

#include <algorithm>
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

#include "common/number_file.hpp"
#include "graph/graph_file.hpp"
#include "nbody/bodies.hpp"
#include "rooted_tree/forest_file.hpp"
#include "search/search_file.hpp"
#include "spatial/points.hpp"
#include "tessellate/bezier_shapes.hpp"

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

  /// Writes a new file, because some file systems write the data of a truncated file to the disk.
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
  std::string lead{};  ///< lines before those of `words`

  /// Returns the content of a file with the lines `lead`. A byte order mark of `text` is before
  /// them.
  [[nodiscard]] std::string content(const std::string& text) const {
    const std::size_t mark = text.starts_with("\xef\xbb\xbf") ? 3 : 0;
    return text.substr(0, mark) + lead + text.substr(mark);
  }
  [[nodiscard]] std::size_t lines_of_lead() const {
    return static_cast<std::size_t>(std::ranges::count(lead, '\n'));
  }
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

/// Returns the vertices and the length of each edge, and the vertices as they are numbered in the
/// file.
inline texts read_graph(const std::filesystem::path& path, common::graph_format format) {
  const auto made = common::read_graph(path, {.format = format, .has_lengths = true});
  texts all;
  for (std::size_t e = 0; e < made.list.edges.size(); ++e) {
    for (const std::int32_t v : {made.list.edges[e].from, made.list.edges[e].to}) {
      all.push_back(canonical(static_cast<std::size_t>(v) + made.first_vertex));
    }
    std::visit([&](const auto& lengths) { all.push_back(canonical(lengths[e])); },
               made.list.lengths);
  }
  return all;
}

inline texts read_items(const std::filesystem::path& path, common::number_format format) {
  const auto instance = common::read_knapsack(path, format).instance;
  const bool has_sizes = format == common::number_format::sizes;
  texts all;
  if (has_sizes) all = {canonical(instance.items.size()), canonical(instance.capacity)};
  for (const auto& [weight, profit] : instance.items) {
    for (const auto number : {has_sizes ? profit : weight, has_sizes ? weight : profit}) {
      all.push_back(canonical(number));
    }
  }
  return all;
}

inline texts read_machines(const std::filesystem::path& path, common::number_format format) {
  const auto shop = common::read_flow_shop(path, format).instance;
  texts all;
  if (format == common::number_format::sizes) {
    all = {canonical(shop.jobs), canonical(shop.machines)};
  }
  for (const std::int64_t time : shop.times) all.push_back(canonical(time));
  return all;
}

/// The readers of lists of edges. The names of the formats in which they are read follow "graph ".
inline std::vector<text_reader> graph_readers() {
  using common::graph_format;
  const auto read = [](graph_format format) {
    return [format](const std::filesystem::path& path) { return read_graph(path, format); };
  };
  return {
      {"graph edges",
       false,
       HUGE_VAL,
       {{"0", "1", "0.5"}, {"1", "2", "3"}, {"5", "5", "1e3"}},
       read(graph_format::edges)},
      {"graph matrix_market",
       false,
       HUGE_VAL,
       {{"1", "2", "0.5"}, {"9", "2", "3"}, {"5", "5", "1e3"}},
       read(graph_format::matrix_market),
       "%%MatrixMarket matrix coordinate real general\n9 9 3\n"},
      {"graph dimacs",
       false,
       HUGE_VAL,
       {{"a", "1", "2", "5"}, {"a", "9", "3", "0.5"}},
       read(graph_format::dimacs),
       "c roads\np sp 9 2\n"},
      {"graph konect",
       false,
       HUGE_VAL,
       {{"1", "2", "0.5", "1.5"}, {"9", "2", "3", "1e9"}},
       read(graph_format::konect),
       "% asym weighted\n"},
  };
}

/// The readers of the instances of branch and bound.
inline std::vector<text_reader> instance_readers() {
  namespace fs = std::filesystem;
  using common::number_format;
  return {
      {"items",
       false,
       HUGE_VAL,
       {{"3", "4"}, {"2147483647", "0"}, {"2", "3"}},
       [](const fs::path& path) { return read_items(path, number_format::plain); }},
      {"items after sizes",
       false,
       HUGE_VAL,
       {{"2", "269"}, {"55", "95"}, {"10", "4"}},
       [](const fs::path& path) { return read_items(path, number_format::sizes); }},
      {"machines",
       false,
       HUGE_VAL,
       {{"1", "4", "3"}, {"1", "1", "2"}, {"7", "0", "65000"}},
       [](const fs::path& path) { return read_machines(path, number_format::plain); }},
      {"machines after sizes",
       false,
       HUGE_VAL,
       {{"2", "3"}, {"1", "4"}, {"1", "1"}, {"5", "6"}},
       [](const fs::path& path) { return read_machines(path, number_format::sizes); }},
  };
}

inline std::vector<text_reader> text_readers() {
  namespace fs = std::filesystem;
  texts patch;
  for (int i = 0; i < 48; ++i) patch.push_back(std::to_string(i) + ".5");
  const table two_patches{patch, patch};
  std::vector<text_reader> all{
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
      {"points in space",
       true,
       HUGE_VAL,
       {{"1", "2", "3"}, {"4", "0.1", "6e7"}, {"7", "8", "9"}},
       read_points},
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
  for (const auto& more : {graph_readers(), instance_readers()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace reader_tests
