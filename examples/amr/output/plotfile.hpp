// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Writes meshes as plotfiles in the format of AMReX,
/// which tests/amr/output/read_plotfile.py checks.

#include <filesystem>
#include <ramify/amr/snapshot.hpp>

#include "block_levels.hpp"

namespace common {

/// Checks that write_plotfile() can write a folder: it does not exist, or is empty, or is a
/// plotfile and `replace` is true; it can be renamed; and the folder that contains it is writable.
/// A link stands for the folder that it names.
/// \throws std::invalid_argument for a folder that is not replaced
/// \throws bad_output naming the folder
void check_plotfile(const std::filesystem::path& folder, bool replace);

/// Returns the name of the temporary folder of a write, for the process ID of rank 0.
/// \throws bad_output naming the folder
[[nodiscard]] std::filesystem::path part_of_plotfile(const std::filesystem::path& folder,
                                                     int process);

/// Writes a folder in AMReX's format HyperCLaw-V1.1: the files Header, Level_0/Cell_H,
/// Level_0/Cell_D_00000, and so on. Each rank writes one file Cell_D for each level in which it has
/// blocks, so all ranks need the same file system. AMReX wants a coarse block below each finer one:
/// the blocks that were refined are written, too, with the means of the finer cells. Velocities
/// have the names of AMReX's codes: x_velocity is velocity_x.
///
/// `mesh` has all leaves, in Morton order, and the values of the own ones. The folder is complete
/// when it gets its name; after a failure it is unchanged. Collective.
///
/// A process that is killed leaves the folder `part`. If it is killed while an old plotfile is
/// replaced, there may also be the old one, `part`.old, and no `folder`: `part` is complete then.
/// A later write with the same `part` removes both.
/// \param part  part_of_plotfile(), the same on all ranks
/// \throws std::invalid_argument for an inconsistent mesh, refined blocks with an odd number of
///         cells along an edge, more than 2^31 cells along an axis, or a field whose name has a
///         space or a line end; bad_output naming the folder
void write_plotfile(const std::filesystem::path& folder, const std::filesystem::path& part,
                    const ramify::mesh_snapshot& mesh, const mesh_ranks& ranks = {});

}  // namespace common
