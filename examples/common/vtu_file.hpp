// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Writes meshes as VTK XML files, for example for ParaView.

#include <filesystem>
#include <ramify/amr/snapshot.hpp>
#include <string>
#include <vector>

namespace common {

/// Writes an unstructured grid (.vtu) of all cells of all leaves, leaf after leaf, x fastest:
/// VTK_PIXEL in the plane z = 0, or VTK_VOXEL, in the units of the mesh. Blocks share no points,
/// but the coordinates of a corner have the same bits in all blocks.
///
/// Cell data: each field (Float64), "level" (UInt8) and "block", the number of the leaf (UInt32).
/// Field data: TimeValue (Float64) and step (UInt64). The data are raw little-endian and follow the
/// XML.
/// \throws std::invalid_argument for an inconsistent mesh, a field "level" or "block", or more than
///   2^32 leaves
/// \throws bad_output naming the file, which is then not created
void write_vtu(const std::filesystem::path&, const ramify::mesh_snapshot&);

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
