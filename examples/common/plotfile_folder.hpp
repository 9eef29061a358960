// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The folder of a plotfile, which gets its name when it is complete.

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace common {

/// Reports that a folder cannot be written. \throws bad_output naming the folder and the reason
[[noreturn]] void fail_to_write(const std::filesystem::path& folder, const std::string& why);

/// Returns the folder without links and without a slash at the end, so that the target of a link is
/// replaced. The folder that contains it exists. \throws bad_output
[[nodiscard]] std::filesystem::path resolved_folder(const std::filesystem::path& folder);

/// The folder during a write. The destructor removes it with its content, unless it was renamed.
/// The functions throw bad_output.
class plotfile_folder {
 public:
  explicit plotfile_folder(std::filesystem::path path);
  ~plotfile_folder();
  plotfile_folder(const plotfile_folder&) = delete;
  plotfile_folder& operator=(const plotfile_folder&) = delete;

  /// Makes the folder and folders in it. A folder that a killed process has left is removed.
  void create(const std::vector<std::string>& subfolders) const;

  /// Gives the folder its name, which is a resolved_folder(). An old plotfile is removed.
  void rename_to(const std::filesystem::path& folder) const;

  /// Checks that rename_to() can replace a folder that exists: renames it, and renames it back.
  void try_to_replace(const std::filesystem::path& folder) const;

 private:
  [[nodiscard]] std::filesystem::path old() const;

  std::filesystem::path path_;
};

}  // namespace common
