// SPDX-License-Identifier: BSD-3-Clause
#include "plotfile.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <fstream>
#include <iomanip>
#include <optional>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "common/output_file.hpp"
#include "mesh_check.hpp"
#include "plotfile_folder.hpp"

namespace common {
namespace {

namespace fs = std::filesystem;
using ramify::block_position;
using ramify::mesh_snapshot;

static_assert(std::endian::native == std::endian::little, "the files are declared as such");

constexpr std::string_view format = "HyperCLaw-V1.1";

/// Writes the tuple of f(axis) for each axis: "(1,2)".
template <class Of>
std::string tuple(const mesh_snapshot& mesh, Of of) {
  std::string text;
  for (std::size_t axis = 0; axis < std::size_t(mesh.dimensions); ++axis) {
    text += (axis == 0 ? "(" : ",") + std::to_string(of(axis));
  }
  return text + ')';
}

/// A box of cells from the index 0 on, or of a block: "((0,0) (15,15) (0,0))".
template <class First, class Last>
std::string box(const mesh_snapshot& mesh, First first, Last last) {
  return '(' + tuple(mesh, first) + ' ' + tuple(mesh, last) + ' ' +
         tuple(mesh, [](std::size_t) { return 0; }) + ')';
}
std::string box_of(const mesh_snapshot& mesh, const block_position& place) {
  const auto n = std::uint64_t(mesh.cells);
  return box(
      mesh, [&](std::size_t axis) { return place.index[axis] * n; },
      [&](std::size_t axis) { return (place.index[axis] + 1) * n - 1; });
}

/// The line before the values of a block: the format of a number, the box, the number of fields.
std::string fab_header(const mesh_snapshot& mesh, const block_position& place) {
  return "FAB ((8, (64 11 52 0 1 12 0 1023)),(8, (8 7 6 5 4 3 2 1)))" + box_of(mesh, place) + ' ' +
         std::to_string(mesh.fields.size()) + '\n';
}

std::string data_name(int rank) {
  std::ostringstream name;
  name << "Cell_D_" << std::setfill('0') << std::setw(5) << rank;
  return name.str();
}

std::string level_name(std::size_t level) { return "Level_" + std::to_string(level); }

/// Returns the name that AMReX's codes and their readers give a field: x_velocity for velocity_x.
std::string amrex_name(const std::string& field) {
  constexpr std::string_view velocity = "velocity_";
  if (!field.starts_with(velocity)) return field;
  return field.substr(velocity.size()) + "_velocity";
}

void write_header(std::ostream& out, const mesh_snapshot& mesh, const block_levels& blocks) {
  const auto& levels = blocks.levels();
  const auto for_axes = [&](auto of, const char* end = " ") {
    for (int axis = 0; axis < mesh.dimensions; ++axis) out << of(axis) << end;
  };
  out << std::setprecision(17) << format << '\n' << mesh.fields.size() << '\n';
  for (const std::string& name : mesh.fields) out << amrex_name(name) << '\n';
  out << mesh.dimensions << '\n' << mesh.time << '\n' << levels.size() - 1 << '\n';
  for_axes([&](int axis) { return mesh.lower[std::size_t(axis)]; });
  out << '\n';
  for_axes([&](int axis) { return mesh.upper[std::size_t(axis)]; });
  out << '\n';
  for (std::size_t level = 1; level < levels.size(); ++level) out << "2 ";  // refinement ratios
  out << '\n';
  for (std::size_t level = 0; level < levels.size(); ++level) {
    out << box(
               mesh, [](std::size_t) { return 0; },
               [&](std::size_t axis) {
                 return blocks_along(mesh, int(level), axis) * std::uint64_t(mesh.cells) - 1;
               })
        << ' ';
  }
  out << '\n';
  for (std::size_t level = 0; level < levels.size(); ++level) out << mesh.step << ' ';
  out << '\n';
  for (std::size_t level = 0; level < levels.size(); ++level) {
    for_axes([&](int axis) { return mesh.spacing(int(level), axis); });
    out << '\n';
  }
  out << "0\n0\n";  // Cartesian coordinates, no boundary data
  for (std::size_t level = 0; level < levels.size(); ++level) {
    out << level << ' ' << levels[level].size() << ' ' << mesh.time << '\n' << mesh.step << '\n';
    for (const mesh_block& block : levels[level]) {
      for (int axis = 0; axis < mesh.dimensions; ++axis) {
        const double edge = mesh.spacing(int(level), axis) * mesh.cells;
        const auto a = std::size_t(axis);
        out << mesh.lower[a] + block.place.index[a] * edge << ' '
            << mesh.lower[a] + (block.place.index[a] + 1) * edge << '\n';
      }
    }
    out << level_name(level) << "/Cell\n";
  }
}

/// Writes the own blocks of a level.
void write_data(std::ostream& out, const mesh_snapshot& mesh, const block_levels& blocks,
                std::size_t level, int rank) {
  const std::size_t size = mesh.fields.size() * mesh.cells_of_a_block();
  for (const mesh_block& block : blocks.levels()[level]) {
    if (block.owner != rank) continue;
    out << fab_header(mesh, block.place);
    out.write(reinterpret_cast<const char*>(blocks.values(block)),
              std::streamsize(size * sizeof(double)));
  }
}

/// Returns the least and the largest value of each field, for each block of a level, on rank 0.
/// Collective.
std::vector<std::vector<double>> extremes_of(const mesh_snapshot& mesh, const block_levels& blocks,
                                             std::size_t level, const mesh_ranks& ranks) {
  const std::size_t cells = mesh.cells_of_a_block();
  const std::size_t count = 2 * mesh.fields.size();
  const auto& of_level = blocks.levels()[level];
  const auto extremes = [&](std::size_t i) {
    std::vector<double> of_block;
    for (std::size_t field = 0; field < mesh.fields.size(); ++field) {
      const double* const values = blocks.values(of_level[i]) + field * cells;
      const auto [least, most] = std::minmax_element(values, values + cells);
      of_block.insert(of_block.end(), {*least, *most});
    }
    return of_block;
  };
  std::vector<std::vector<double>> all(of_level.size());
  send_from_owners(
      of_level, ranks, count, [](std::size_t) { return 0; }, extremes,
      [&](std::size_t i, const double* numbers) { all[i].assign(numbers, numbers + count); });
  return all;
}

/// Writes where the blocks of a level are, and their extreme values.
void write_level_header(std::ostream& out, const mesh_snapshot& mesh,
                        const std::vector<mesh_block>& blocks,
                        const std::vector<std::vector<double>>& extremes, int ranks) {
  const std::size_t size = mesh.fields.size() * mesh.cells_of_a_block() * sizeof(double);
  // Version 1 of the header, several files, and no ghost cells.
  out << "1\n1\n" << mesh.fields.size() << "\n0\n(" << blocks.size() << " 0\n";
  for (const mesh_block& block : blocks) out << box_of(mesh, block.place) << '\n';
  out << ")\n" << blocks.size() << '\n';
  std::vector<std::size_t> written(std::size_t(ranks), 0);
  for (const mesh_block& block : blocks) {
    std::size_t& offset = written[std::size_t(block.owner)];
    out << "FabOnDisk: " << data_name(block.owner) << ' ' << offset << '\n';
    offset += fab_header(mesh, block.place).size() + size;
  }
  out << '\n' << std::scientific << std::setprecision(16);
  for (const std::size_t which : {0, 1}) {
    out << blocks.size() << ',' << mesh.fields.size() << '\n';
    for (const auto& of_block : extremes) {
      for (std::size_t i = which; i < of_block.size(); i += 2) out << of_block[i] << ',';
      out << '\n';
    }
    out << '\n';
  }
}

bool is_plotfile(const fs::path& folder) {
  std::ifstream header(folder / "Header");
  std::string line;
  return std::getline(header, line) && line == format;
}

/// Checks that the indices of all cells fit into the 32 bits of AMReX.
void check_indices(const mesh_snapshot& mesh) {
  int finest = 0;
  for (const block_position& leaf : mesh.leaves) finest = std::max(finest, leaf.level);
  const std::uint64_t most = (std::uint64_t{1} << 31) / std::uint64_t(mesh.cells);
  for (std::size_t axis = 0; axis < std::size_t(mesh.dimensions); ++axis) {
    if (blocks_along(mesh, finest, axis) <= most) continue;
    throw std::invalid_argument("mesh_snapshot: level " + std::to_string(finest) +
                                " has more than 2^31 cells along axis " + std::to_string(axis));
  }
}

void check_plot(const mesh_snapshot& mesh, const mesh_ranks& ranks) {
  if (ranks.owners.empty()) check_mesh(mesh);
  for (std::size_t field = 0; field < mesh.fields.size(); ++field) {
    if (mesh.fields[field].find_first_of(" \t\v\f\n\r") == std::string::npos) continue;
    throw std::invalid_argument("mesh_snapshot: the name of field " + std::to_string(field) +
                                " has a space or a line end");
  }
  const bool refined =
      std::ranges::any_of(mesh.leaves, [](const block_position& leaf) { return leaf.level > 0; });
  if (refined && mesh.cells % 2 != 0) {
    throw std::invalid_argument("mesh_snapshot: refined blocks of " + std::to_string(mesh.cells) +
                                " cells along an edge, which is odd");
  }
  if (mesh.leaves.empty()) throw std::invalid_argument("mesh_snapshot: no leaves");
  check_indices(mesh);
}

}  // namespace

void check_plotfile(const fs::path& folder, bool replace) {
  std::error_code why;
  const fs::path whole = resolved_folder(folder);
  const fs::file_status found = fs::status(whole, why);
  const bool exists = fs::exists(found);
  if (exists) {
    if (!fs::is_directory(found)) fail_to_write(folder, "it is not a folder");
    if (fs::equivalent(whole, fs::current_path(why), why))
      fail_to_write(folder, "it is the working folder");
    const bool is_empty = fs::is_empty(whole, why);
    if (why) fail_to_write(folder, why.message());
    if (!is_empty && !is_plotfile(whole)) fail_to_write(folder, "it has files, and is no plotfile");
    if (!is_empty && !replace) {
      throw std::invalid_argument(
          folder.string() + " is a plotfile; choose another name, or replace it with --force");
    }
  }
  const plotfile_folder trial(part_of_plotfile(folder, ::getpid()));
  const std::string deepest = level_name(ramify::detail::amr::max_levels - 1);
  trial.create({deepest});
  try {
    check_output_file(trial.path() / deepest / data_name(0));
  } catch (const bad_output& e) {
    fail_to_write(folder, std::string("its files: ") + e.what());
  }
  if (exists) trial.try_to_replace(whole);
}

fs::path part_of_plotfile(const fs::path& folder, int process) {
  return resolved_folder(folder).string() + ".part" + std::to_string(process);
}

void write_plotfile(const fs::path& folder, const fs::path& part, const mesh_snapshot& mesh,
                    const mesh_ranks& ranks) {
  check_plot(mesh, ranks);
  const block_levels blocks(mesh, ranks);
  const std::size_t levels = blocks.levels().size();
  // 1. Rank 0 makes the folders.
  std::optional<plotfile_folder> made;
  fs::path whole;
  if (ranks.rank == 0) {
    whole = resolved_folder(folder);
    std::vector<std::string> names;
    for (std::size_t level = 0; level < levels; ++level) names.push_back(level_name(level));
    made.emplace(part).create(names);
  }
  if (ranks.size > 1) ranks.barrier();
  // 2. Each rank writes its blocks, and rank 0 the rest.
  for (std::size_t level = 0; level < levels; ++level) {
    const auto& all = blocks.levels()[level];
    const fs::path path = part / level_name(level);
    if (std::ranges::count(all, ranks.rank, &mesh_block::owner) > 0) {
      write_file(path / data_name(ranks.rank),
                 [&](std::ostream& out) { write_data(out, mesh, blocks, level, ranks.rank); });
    }
    const auto extremes = extremes_of(mesh, blocks, level, ranks);
    if (ranks.rank != 0) continue;
    write_file(path / "Cell_H", [&](std::ostream& out) {
      write_level_header(out, mesh, all, extremes, ranks.size);
    });
  }
  if (made)
    write_file(part / "Header", [&](std::ostream& out) { write_header(out, mesh, blocks); });
  // 3. The folder gets its name when all ranks have written.
  if (ranks.size > 1) ranks.barrier();
  if (made) made->rename_to(whole);
}

}  // namespace common
