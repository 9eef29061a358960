// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The folder of a plotfile. It is written under a temporary name, and renamed when it is complete.

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace common {

/// Reports that a folder cannot be written. \throws bad_output naming the folder and the reason
[[noreturn]] void fail_to_write(const std::filesystem::path& folder, const std::string& why);

/// Returns the path of the folder without links and without a slash at the end. So the target of a
/// link is replaced, and not the link. \throws bad_output if the folder that contains it is missing
[[nodiscard]] std::filesystem::path resolved_folder(const std::filesystem::path& folder);

/// A plotfile's folder under its temporary name. The destructor removes it with its content, unless
/// it was renamed. The functions throw bad_output.
class plotfile_folder {
 public:
  explicit plotfile_folder(std::filesystem::path path);
  ~plotfile_folder();
  plotfile_folder(const plotfile_folder&) = delete;
  plotfile_folder& operator=(const plotfile_folder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Makes the folder and folders in it. A folder that a killed process has left is removed.
  void create(const std::vector<std::string>& subfolders) const;

  /// Renames the folder to `folder`, a resolved_folder(), and removes an old plotfile of that name.
  /// If that fails, the old plotfile keeps its name, or the message states its new one.
  void rename_to(const std::filesystem::path& folder) const;

  /// Checks that rename_to() can replace a folder that exists: renames it, and renames it back.
  void try_to_replace(const std::filesystem::path& folder) const;

 private:
  /// Returns the temporary name of the old plotfile.
  [[nodiscard]] std::filesystem::path old() const;

  std::filesystem::path path_;
};

}  // namespace common
