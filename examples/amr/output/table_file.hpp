// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A CSV file to which a program appends rows, also when it continues later.

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace common {

/// A table of numbers whose first column is the time. The first line names the columns. Numbers are
/// written so that they are parsed to the same bits. When append() returns, the row is in the file,
/// and stays there if the program stops.
class table_file {
 public:
  /// Creates a new table, which replaces an existing file.
  /// \throws std::invalid_argument if there are no columns, or a name is empty, contains a comma, a
  ///   quote or a line end, or begins or ends with a blank
  /// \throws bad_output naming the file
  table_file(std::filesystem::path path, std::vector<std::string> columns);

  /// Continues a table: removes rows later than `time`, and a last line without its line end, which
  /// an interrupted program left. The other rows are not changed. If there is no file the table is
  /// new.
  /// \throws std::invalid_argument as the constructor, and if `time` is NaN
  /// \throws bad_input if the file cannot be read, has other columns (the message names the first),
  ///   or a line that is not a row
  /// \throws bad_output naming the file, which is then unchanged
  [[nodiscard]] static table_file resume(std::filesystem::path path,
                                         std::vector<std::string> columns, double time);

  /// Appends a row.
  /// \throws std::invalid_argument if the number of values is not the number of columns
  /// \throws bad_output naming the file
  void append(std::span<const double> row);
  void append(std::initializer_list<double> row) { append(std::span(row.begin(), row.size())); }

 private:
  table_file(std::filesystem::path path, std::vector<std::string> columns,
             const std::string& kept_rows);

  std::filesystem::path path_;
  std::vector<std::string> columns_;
  std::ofstream file_;
};

}  // namespace common
