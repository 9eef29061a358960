// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Meshes as files for ParaView and whatever else reads VTK's XML formats.

#include <filesystem>
#include <ramify/amr/snapshot.hpp>
#include <string>
#include <vector>

namespace common {

/// An unstructured grid (.vtu) of all cells of all leaves, leaf after leaf, x fastest: VTK_PIXEL in
/// the plane z = 0, or VTK_VOXEL, in the mesh's own units of length. Blocks share no points with
/// one another, but a corner has the same coordinates, to the last bit, in all of them.
///
/// Of each cell: every field (Float64), "level" (UInt8) and "block", the leaf's number (UInt32). Of
/// the file: TimeValue (Float64) and step (UInt64). Raw little-endian binary data, behind the XML.
/// \throws std::invalid_argument a mesh that contradicts itself, a field "level" or "block", or
///   more than 2^32 leaves
/// \throws bad_output naming the file, which appears whole or not at all
void write_vtu(const std::filesystem::path&, const ramify::mesh_snapshot&);

/// A ParaView collection (.pvd): which file shows the mesh at which time. The file is replaced as
/// a whole by each add(), so it is valid at any time; it names files relative to its own folder.
class pvd_series {
 public:
  struct entry {
    double time;
    std::string file;  ///< relative to the collection's folder, with slashes

    bool operator==(const entry&) const = default;
  };

  /// A new series. The first add() replaces what file there is.
  explicit pvd_series(std::filesystem::path path) : path_(std::move(path)) {}

  /// A series that goes on at a time: with what its file holds up to then and at that time, or
  /// nothing if there is no such file, which is as it was until the first add().
  /// \throws std::invalid_argument a time that is NaN
  /// \throws bad_input if the file cannot be read, or pvd_series did not write it
  [[nodiscard]] static pvd_series resume(std::filesystem::path path, double time);

  /// Adds a file, in place of those at the same time or later.
  /// \throws std::invalid_argument a time that is not finite
  /// \throws bad_output naming the collection; then the series is as it was
  void add(double time, const std::filesystem::path& file);

  [[nodiscard]] const std::vector<entry>& entries() const { return entries_; }

 private:
  std::filesystem::path path_;
  std::vector<entry> entries_;  // in the order of time
};

}  // namespace common
