// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A CSV file that grows by a row at a time, while a program runs and when it goes on later.

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace common {

/// A table of numbers whose first column is the time. Its first line names the columns; numbers
/// read back as the same; a row is in the file when append() returns, and stays there if the
/// program stops.
class table_file {
 public:
  /// A new table, in place of what file there is.
  /// \throws std::invalid_argument no columns, or a name that is empty or holds a comma, a quote or
  ///   a line end, or has a blank at an end
  /// \throws bad_output naming the file
  table_file(std::filesystem::path path, std::vector<std::string> columns);

  /// A table that goes on at a time: rows later than that are dropped first, and so is a last line
  /// without its end, which a program was writing when it was stopped. The other rows stay as they
  /// are, character for character. Without such a file it is a new table.
  /// \throws std::invalid_argument as above, or a time that is NaN
  /// \throws bad_input if the file cannot be read, has other columns (which), or a line that is no
  ///   row
  /// \throws bad_output naming the file, which is then as it was
  [[nodiscard]] static table_file resume(std::filesystem::path path,
                                         std::vector<std::string> columns, double time);

  /// \throws std::invalid_argument not as many numbers as columns
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
