// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Writes meshes as VTK XML files, for example for ParaView.

#include <filesystem>
#include <ramify/amr/snapshot.hpp>

namespace common {

/// The numbers of the fields in a file.
enum class vtu_numbers {
  float64,
  float32  ///< half the size; values beyond 3e38 become infinite
};

/// Writes an unstructured grid (.vtu) of all cells of all leaves, leaf after leaf, x fastest:
/// VTK_PIXEL in the plane z = 0, or VTK_VOXEL, in the units of the mesh. Blocks share no points,
/// but the coordinates of a corner have the same bits in all blocks.
///
/// Cell data: each field (Float64 or Float32), "level" (UInt8) and "block", the number of the leaf
/// (UInt32). Field data: TimeValue (Float64) and step (UInt64). The data follow the XML, compressed
/// by zlib; all compressed arrays are in memory before the file is written.
/// \throws std::invalid_argument for an inconsistent mesh, a field "level" or "block", or more than
///   2^32 leaves
/// \throws bad_output naming the file, which is then not created
void write_vtu(const std::filesystem::path&, const ramify::mesh_snapshot&,
               vtu_numbers numbers = vtu_numbers::float64);

}  // namespace common
