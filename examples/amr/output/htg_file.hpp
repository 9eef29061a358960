// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Writes meshes as hyper tree grids of VTK, for example for ParaView.

#include <filesystem>
#include <ramify/amr/snapshot.hpp>

#include "vtu_file.hpp"

namespace common {

/// Writes a hyper tree grid (.htg, version 2.0, which VTK 9.1 and later read): a tree for each root
/// block, with branch factor 2, whose leaves are the cells. A file has no coordinates of cells: it
/// has a bit for the structure and, with the vertices above the cells, 4/3 (in three dimensions
/// 8/7) values for each cell and field. Vertices above the cells have the means of the cells below
/// them.
///
/// Cell data: each field (Float64 or Float32), and "level" (UInt8), that of the block of a cell.
/// The data follow the XML, compressed by zlib; all compressed arrays are in memory before the file
/// is written. There is no time in it, because VTK reads no field data of hyper tree grids.
/// \throws std::invalid_argument for an inconsistent mesh, leaves that do not cover the domain in
///   Morton order, more than 20 levels, blocks whose number of cells along an edge is no power of
///   two, or a field "level"
/// \throws bad_output naming the file, which is then not created
void write_htg(const std::filesystem::path&, const ramify::mesh_snapshot&,
               vtu_numbers numbers = vtu_numbers::float64);

}  // namespace common
