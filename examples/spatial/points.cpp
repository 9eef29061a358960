// SPDX-License-Identifier: BSD-3-Clause
#include "points.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <numbers>
#include <ramify/runtime/report.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/sampler.hpp"
#include "common/text_file.hpp"

namespace common {
namespace {

using point = std::array<double, 3>;
constexpr std::array<std::string_view, 3> names{"x", "y", "z"};

/// Reads the lines of a file of points: a table, or the format .xyz.
class point_reader {
 public:
  explicit point_reader(column_list given) : given_(std::move(given)) {}

  void read(const text_line& line) {
    if (is_xyz_ && line.number == comment_line_) return read_comment(line);
    if (!line.has_data()) return;
    if (line.is_first && begin(line)) return;
    if (is_xyz_ && all_.points.empty()) begin_atoms(line);
    if (const std::size_t count = line.split(words_); count != words_.size()) {
      line.reject("has " + counted(count, "column") + "; the lines before it have " +
                  std::to_string(words_.size()));
    }
    if (is_xyz_) check_atom(line);
    point p{};
    for (std::size_t axis = 0; axis < columns_.size(); ++axis) {
      p[axis] = line.parse_finite(names[axis], words_[columns_[axis]]);
    }
    all_.points.push_back(p);
  }

  /// Returns the points, after the last line. \throws bad_input if some are missing
  point_set finish(const std::filesystem::path& path) {
    if (is_xyz_ && all_.points.size() < stated_) {
      throw bad_input(name_of_input(path) + ": the first line states " + counted(stated_, "point") +
                      ", but the file has " + std::to_string(all_.points.size()));
    }
    return std::move(all_);
  }

 private:
  /// Reads the first line with data. Returns true if it has no point.
  bool begin(const text_line& line) {
    words_ = line.words();
    is_xyz_ = words_.size() == 1 && parse_number(words_[0], stated_) == number_error::none;
    if (is_xyz_) {
      comment_line_ = line.number + 1;
      return true;
    }
    const bool is_header = line.is_header();
    choose_columns(line, is_header);
    return is_header;
  }

  /// The second line of the format .xyz is a comment, which may state the columns.
  void read_comment(const text_line& line) const {
    const std::size_t at = line.text.find("Properties=");
    if (at == line.text.npos || !given_.empty()) return;
    if (!line.text.substr(at).starts_with("Properties=species:S:1:pos:R:3")) {
      line.reject("states other columns than an element and x,y,z; --columns chooses columns");
    }
  }

  void begin_atoms(const text_line& line) {
    words_ = line.words();
    if (words_.size() < 4) {
      line.reject(
          "is not an element and three numbers x,y,z, as a line of the format .xyz, which "
          "a first line with one number begins");
    }
    if (given_.empty()) given_ = {"2", "3", "4"};
    choose_columns(line, false);
    all_.columns += " (.xyz)";
  }

  void check_atom(const text_line& line) const {
    if (all_.points.size() == stated_) {
      line.reject("follows the " + counted(stated_, "point") +
                  " that the first line states; a file must have one frame");
    }
    const char c = static_cast<char>(words_[0].front() | 0x20);
    unsigned atomic_number = 0;
    if ((c < 'a' || c > 'z') && parse_number(words_[0], atomic_number) != number_error::none) {
      line.reject("does not begin with an element");
    }
  }

  /// Chooses the columns of the coordinates in a table whose first line is `line`.
  void choose_columns(const text_line& line, bool is_header) {
    const std::size_t fields = words_.size();
    columns_.clear();
    if (!given_.empty()) {
      for (const std::string& column : given_) columns_.push_back(chosen(line, is_header, column));
    } else if (is_header) {
      for (const std::string_view name : names) {
        if (const auto column = line.column(name)) columns_.push_back(*column);
        if (columns_.empty()) break;
      }
      if (columns_.size() < 2 || columns_[1] != line.column("y")) {
        throw bad_input(
            line.message("is a header line without the columns x and y; --columns chooses others"));
      }
    } else if (fields != 2 && fields != 3) {
      line.reject(std::string("is neither two numbers x,y nor three numbers x,y,z") +
                  (fields > 3 ? "; --columns chooses columns" : ""));
    } else {
      for (std::size_t i = 0; i < fields; ++i) columns_.push_back(i);
    }
    all_.dimensions = static_cast<int>(columns_.size());
    for (const std::size_t column : columns_) {
      if (!all_.columns.empty()) all_.columns += ',';
      all_.columns += is_header ? escaped(words_[column]) : std::to_string(column + 1);
    }
  }

  /// Returns the index of a column that --columns names by its number or by its name in the header.
  std::size_t chosen(const text_line& line, bool is_header, const std::string& column) const {
    const auto fail = [&](const std::string& what) {
      throw bad_input(line.message(what + "; --columns names column " + in_quotes(column)));
    };
    std::size_t number = 0;
    if (parse_number(column, number) == number_error::none) {
      if (number > words_.size()) fail("has " + counted(words_.size(), "column"));
      return number - 1;
    }
    if (!is_header) fail("is no header line");
    const auto found = line.column(column);
    if (!found) fail("is a header line without that name");
    return found.value();
  }

  column_list given_;
  bool is_xyz_ = false;
  std::size_t stated_ = 0;               // the number of points of .xyz
  std::size_t comment_line_ = 0;         // of .xyz
  std::vector<std::string_view> words_;  // of the line that is read
  std::vector<std::size_t> columns_;     // of the coordinates
  point_set all_;
};

}  // namespace

std::string_view to_string(cloud_kind kind) {
  return ramify::choice_name(kind, {"uniform", "clusters", "curve"});
}

cloud_kind parse_cloud_kind(std::string_view text) {
  return ramify::parse_choice<cloud_kind>("kind", text);
}

point_set make_cloud(cloud_kind kind, std::size_t n, int dimensions, std::uint64_t seed) {
  point_set made{dimensions};
  if (n > made.points.max_size()) throw std::bad_alloc();
  made.points.reserve(n);
  const auto axes = static_cast<std::size_t>(dimensions);
  sampler random(seed);
  struct cluster {
    point center{};
    double radius = 0;
  };
  std::array<cluster, 32> clusters;
  for (cluster& c : clusters) {
    for (double& x : c.center) x = 0.1 + 0.8 * random.uniform();
    c.radius = 0.002 * std::pow(25, random.uniform());
  }
  for (std::size_t i = 0; i < n; ++i) {
    point p{};
    const cluster& around = clusters[i % clusters.size()];
    const double angle = 2 * std::numbers::pi * random.uniform();
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const auto order = static_cast<double>(axis);
      switch (kind) {
        case cloud_kind::uniform: p[axis] = random.uniform(); break;
        case cloud_kind::clusters:
          p[axis] = around.center[axis] + around.radius * random.normal();
          break;
        case cloud_kind::curve:
          p[axis] =
              0.5 + 0.45 * std::sin((3 + order) * angle + 1 - order) + 0.001 * random.normal();
          break;
      }
    }
    made.points.push_back(p);
  }
  return made;
}

column_list parse_columns(std::string_view text) {
  column_list columns;
  std::size_t numbers = 0;
  for (std::string_view rest = text;;) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    const std::string& column = columns.emplace_back(trimmed(rest.substr(0, end)));
    std::size_t number = 0;
    if (parse_number(column, number) == number_error::none && number > 0) ++numbers;
    const bool is_name = !column.empty() && column.front() != '-' && column.front() != '+' &&
                         (column.front() < '0' || column.front() > '9');
    if ((!is_name && numbers < columns.size()) || (is_name && numbers > 0)) columns.resize(9);
    if (end == rest.size()) break;
    rest.remove_prefix(end + 1);
  }
  if (columns.size() == 2 || columns.size() == 3) return columns;
  throw std::invalid_argument("--columns: " + in_quotes(text) +
                              " is neither two or three names of columns, such as x,y,z, nor their "
                              "numbers from 1 on, such as 3,4,5");
}

point_set read_points(const std::filesystem::path& path, const column_list& columns) {
  point_reader reader(columns);
  for_each_line(path, [&](const text_line& line) { reader.read(line); });
  return reader.finish(path);
}

}  // namespace common
