// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The output folder of amr: its files, their names, and the frames of earlier runs.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/file_options.hpp"
#include "output/amr_checkpoint.hpp"

namespace common {

/// Makes the folder of a run. The destructor removes the folders that it made and that are still
/// empty, so that a run that could not start leaves no folder.
class run_folder {
 public:
  /// \throws bad_output
  explicit run_folder(const std::filesystem::path& folder);
  ~run_folder() { remove_empty(); }
  run_folder(const run_folder&) = delete;
  run_folder& operator=(const run_folder&) = delete;

 private:
  void remove_empty() const;

  std::vector<std::filesystem::path> made_;  ///< the folder, the folder that contains it, ...
};

// The files of a run in its folder.
[[nodiscard]] std::filesystem::path history_path(const amr_settings&);
[[nodiscard]] std::filesystem::path probes_path(const amr_settings&);
[[nodiscard]] std::filesystem::path series_path(const amr_settings&);
/// Returns the path of frame `number`, without an extension.
[[nodiscard]] std::filesystem::path frame_path(const amr_settings&, std::uint32_t number);

/// Returns the extension of the meshes.
[[nodiscard]] std::string mesh_extension(const amr_settings& s);

/// Returns what follows the path of a frame in the names of its files: ".vtu", ".png", and
/// ".slice1.csv" and ".line1.csv" for the first slice and line.
[[nodiscard]] std::vector<std::string> frame_extensions(const amr_settings&);

/// Checks that no option names a file that the program writes itself. The folder must exist.
/// \throws std::invalid_argument naming the option
void check_own_names(const amr_settings&, const file_options&);

/// Checks that no option names one of the earlier checkpoints, which the program replaces, and that
/// the first of them can be written.
/// \throws std::invalid_argument naming the option; bad_output naming the file
void check_kept_names(const std::string& checkpoint, std::uint64_t keep, const file_options&);

/// Checks that the program can write its files in the folder, which must exist: the history, the
/// probes, the list of frames, and the frames from number `first` on, also those that exist.
/// \throws bad_output naming the file
void check_own_files(const amr_settings&, std::uint32_t first);

/// Checks that the folder of --plotfile can be written, and that the run writes and reads nothing
/// else in it. The folder of the run must exist.
/// \throws std::invalid_argument naming the option; bad_output naming the folder
void check_plotfile_folder(const std::string& plotfile, const amr_settings&, const file_options&);

/// Returns the frames of earlier runs in the folder of a new run, and the list of these frames.
/// \throws std::invalid_argument naming one of them unless `force`; bad_output naming one that the
///         program cannot replace
[[nodiscard]] std::vector<std::filesystem::path> old_frames(const amr_settings&, bool force);

/// \throws bad_output naming the first file that cannot be removed
void remove_files(const std::vector<std::filesystem::path>&);

}  // namespace common
