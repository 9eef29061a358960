// SPDX-License-Identifier: BSD-3-Clause
#include "table_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/output_file.hpp"
#include "common/text_file.hpp"

namespace common {
namespace {

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const auto comma = line.find(',');
    fields.push_back(trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

void check(const std::vector<std::string>& columns) {
  if (columns.empty()) throw std::invalid_argument("a table without columns");
  for (const std::string& name : columns) {
    if (name.empty() || name.find_first_of(",\"\n\r") != std::string::npos ||
        trimmed(name) != name) {
      throw std::invalid_argument("'" + name + "' cannot name a column of a table");
    }
  }
}

std::string header(const std::vector<std::string>& columns) {
  std::string line;
  for (const std::string& name : columns) line += (line.empty() ? "" : ",") + name;
  return line + '\n';
}

void check_header(const text_line& line, const std::vector<std::string>& columns) {
  const auto found = split(line.text);
  for (std::size_t i = 0; i < std::max(found.size(), columns.size()); ++i) {
    const std::string is = i < found.size() ? "'" + std::string(found[i]) + "'" : "missing";
    const std::string should = i < columns.size() ? "'" + columns[i] + "'" : "none";
    if (is == should) continue;
    std::string what = "has other columns than the table to continue: column ";
    what.append(std::to_string(i + 1)).append(" is ").append(is);
    line.reject(what.append(", and should be ").append(should));
  }
}

/// Returns the time of a row.
double check_row(const text_line& line, const std::vector<std::string>& columns) {
  const auto fields = split(line.text);
  if (fields.size() != columns.size()) {
    line.reject("is not a row of " + std::to_string(columns.size()) + " numbers");
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!parse<double>(fields[i])) {
      line.reject("has a " + columns[i] + " of '" + std::string(fields[i]) +
                  "', which is no number");
    }
  }
  const double time = *parse<double>(fields[0]);
  if (!std::isfinite(time)) line.reject("has a time that is not finite");
  return time;
}

/// Returns the rows of a table up to a time.
std::string rows_until(const std::filesystem::path& path, const std::vector<std::string>& columns,
                       double time) {
  const std::string content = read_whole_file(path);
  std::string rows;
  std::string_view rest = content;
  for (std::size_t number = 1;; ++number) {
    const auto end = rest.find('\n');
    if (end == std::string_view::npos) break;
    const text_line line{path, number, trimmed(rest.substr(0, end))};
    if (number == 1) {
      check_header(line, columns);
    } else if (check_row(line, columns) <= time) {
      rows += rest.substr(0, end + 1);
    }
    rest.remove_prefix(end + 1);
  }
  // The header is written as a whole, so this program did not write a file without a complete line.
  if (rest.size() == content.size()) throw bad_input(path.string() + " has no line of columns");
  return rows;
}

}  // namespace

table_file::table_file(std::filesystem::path path, std::vector<std::string> columns)
    : table_file(std::move(path), std::move(columns), std::string()) {}

table_file::table_file(std::filesystem::path path, std::vector<std::string> columns,
                       const std::string& kept_rows)
    : path_(std::move(path)), columns_(std::move(columns)) {
  check(columns_);
  write_file(path_, [&](std::ostream& out) { out << header(columns_) << kept_rows; });
  errno = 0;
  file_.open(path_, std::ios::binary | std::ios::app);
  if (!file_) {
    throw bad_output("cannot write " + path_.string() + ": " +
                     std::error_code(errno, std::generic_category()).message());
  }
}

table_file table_file::resume(std::filesystem::path path, std::vector<std::string> columns,
                              double time) {
  check(columns);
  if (std::isnan(time)) throw std::invalid_argument("a table that continues at a time that is NaN");
  std::string kept;
  std::error_code why;
  if (std::filesystem::status(path, why).type() != std::filesystem::file_type::not_found) {
    kept = rows_until(path, columns, time);
  }
  return {std::move(path), std::move(columns), kept};
}

void table_file::append(std::span<const double> row) {
  if (row.size() != columns_.size()) {
    throw std::invalid_argument("a row of " + counted(row.size(), "number") + " for a table of " +
                                std::to_string(columns_.size()));
  }
  std::string line;
  for (const double number : row) {
    if (!line.empty()) line += ',';
    append_number(line, number);
  }
  line += '\n';
  errno = 0;
  if (!file_.write(line.data(), static_cast<std::streamsize>(line.size())).flush()) {
    throw bad_output("cannot write " + path_.string() + ": " +
                     std::error_code(errno != 0 ? errno : EIO, std::generic_category()).message());
  }
}

}  // namespace common
