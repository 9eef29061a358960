// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Lists of files of a simulation with their times, for ParaView.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace common {

/// A ParaView collection (.pvd): a list of files with their times. Each add() replaces the file as
/// a whole, so it is valid at any time. File names are relative to its folder.
class pvd_series {
 public:
  struct entry {
    double time;
    std::string file;  ///< relative to the collection's folder, with slashes

    bool operator==(const entry&) const = default;
  };

  /// Creates a new series. The first add() replaces an existing file.
  explicit pvd_series(std::filesystem::path path) : path_(std::move(path)) {}

  /// Continues a series with the entries of the file up to and at `time`, or without entries if
  /// there is no file. The first add() changes the file.
  /// \throws std::invalid_argument if `time` is NaN
  /// \throws bad_input if the file cannot be read, or pvd_series did not write it
  [[nodiscard]] static pvd_series resume(std::filesystem::path path, double time);

  /// Adds a file, and removes entries of the same time or later.
  /// \throws std::invalid_argument if `time` is not finite
  /// \throws bad_output naming the collection; then the series is unchanged
  void add(double time, const std::filesystem::path& file);

  [[nodiscard]] const std::vector<entry>& entries() const { return entries_; }

 private:
  std::filesystem::path path_;
  std::vector<entry> entries_;  // in order of time
};

}  // namespace common
